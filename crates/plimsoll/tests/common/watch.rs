//! Waits for what happens to a file, and not for time to pass.
#![allow(dead_code, reason = "each test binary uses the part that it needs")]

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// Events of a file, or of what is in a folder.
pub(crate) struct Watch(OwnedFd);

impl Watch {
    /// Begins to watch what is there.
    pub(crate) fn new(path: &Path, events: WatchFlags) -> Self {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let queue = inotify::init(flags).expect("a queue of events");
        inotify::add_watch(&queue, path, events).expect("it is there");
        Watch(queue)
    }

    /// Waits for an event since the watch began or was asked last. Returns false when none comes.
    pub(crate) fn wait(&self, patience: Duration) -> bool {
        let give_up = Timespec::try_from(patience).expect("some minutes");
        let mut events = [PollFd::new(&self.0, PollFlags::IN)];
        let has_some = poll(&mut events, Some(&give_up)).expect("a queue of events") > 0;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut known = inotify::Reader::new(&self.0, &mut buffer);
        while known.next().is_ok() {}
        has_some
    }

    /// Waits until this holds, which is asked after each event. Returns false when it never does.
    #[expect(clippy::disallowed_methods, reason = "patience is real time")]
    pub(crate) fn wait_until(&self, patience: Duration, holds: impl Fn() -> bool) -> bool {
        let began = Instant::now();
        while !holds() {
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() || !self.wait(left) {
                return false;
            }
        }
        true
    }
}
