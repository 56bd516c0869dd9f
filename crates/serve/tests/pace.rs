//! When requests are answered: at their modelled time, as whoever waits for them sees it.

mod common;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::mpsc::channel;
use std::time::Duration;

use common::{Mounted, design, disk};
use serve::backing::Backing;
use serve::clock::now_ns;
use serve::extent::Extent;
use serve::machine::{Machine, MachineOptions};
use serve::pacer::{Outcome, Request, WAITING_MAX};
use volume::{CacheMode, IoKind};

/// The way between a caller and the server is made up for by at most this much.
const WAY_MAX: Duration = Duration::from_micros(250);

const LATENCY: Duration = Duration::from_millis(5);

/// How late an answer may be is a matter of how busy the machine is; early it is never, but for
/// what makes up for late ones. All together never take less than the model says.
#[test]
fn no_request_is_answered_early() {
    let mut volume = disk(1_000_000, 4 << 30, 64 << 20, CacheMode::None);
    volume.latency.mean_ns = LATENCY.as_nanos() as u64;
    let Some(mounted) = Mounted::new(design(vec![volume])) else { return };
    fs::write(mounted.join("f"), vec![1; 1 << 20]).unwrap();
    let file = File::options().read(true).write(true).open(mounted.join("f")).unwrap();
    let mut page = [0; 4096];
    let early_max = WAY_MAX + LATENCY / 8;
    let begin_ns = now_ns();
    for idx in 0..40 {
        let start_ns = now_ns();
        match idx % 2 {
            0 => file.read_exact_at(&mut page, idx * 4096).unwrap(),
            _ => file.write_all_at(&page, idx * 4096).unwrap(),
        }
        let took = Duration::from_nanos(now_ns() - start_ns);
        assert!(took >= LATENCY.checked_sub(early_max).unwrap(), "{idx}: {took:?}");
    }
    let took = Duration::from_nanos(now_ns() - begin_ns);
    // Those before may have been late, which the first of these makes up for.
    assert!(took >= (40 * LATENCY).checked_sub(early_max).unwrap(), "{took:?}");
}

/// Requests that the model has no room for come in as others end.
#[test]
fn requests_beyond_the_room_of_the_model_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let backing = Backing::open(&folder.path().join("backing")).unwrap();
    let design = design(vec![disk(4000, 1 << 30, 64 << 20, CacheMode::None)]);
    let options =
        MachineOptions { design_text: String::new(), design, only: None, is_cache_warm: false };
    let machine = Machine::start(options, backing).unwrap();
    let n_requests = WAITING_MAX + 100;
    let (send, receive) = channel();
    // On a thread of its own, so that a pacer that hangs fails the test.
    let submitting = std::thread::spawn(move || {
        for idx in 0..n_requests {
            let extent = Extent { address: idx as u64 % 1024 * 4096, len_bytes: 4096 };
            let request = Request::new(IoKind::Read, 0, extent, now_ns());
            let send = send.clone();
            let reply = move |outcome| send.send(outcome).unwrap();
            machine.pacer().submit(request, Box::new(reply));
        }
        machine
    });
    for idx in 0..n_requests {
        let answer = receive.recv_timeout(Duration::from_mins(1));
        assert_eq!(answer, Ok(Outcome::Done), "{idx}");
    }
    drop(submitting.join().unwrap());
}
