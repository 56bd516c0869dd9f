//! A run in the terminal: `--tui`.
//!
//! A thread of its own draws on standard error, once for each second and key, and only what has
//! changed. The terminal is as it was before at every end: what it was is kept where a handler of
//! signals and a panic find it.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::screen::{Screen, State};
use crate::view::Shared;

/// What the terminal was before.
static BEFORE: OnceLock<Termios> = OnceLock::new();

/// The terminal is ours.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// Longest time between a change and its picture.
const LOOK: Duration = Duration::from_millis(200);

/// To a screen of its own, without cursor and without breaking lines; and back.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Columns and rows of a terminal that does not say.
const SIZE: (usize, usize) = (80, 24);

/// Makes the terminal what it was. May be called at any time, from a handler of signals, too: it
/// does system calls only.
pub fn restore() {
    if IS_OURS.swap(false, SeqCst) {
        let _gone = rustix::io::write(io::stderr(), LEAVE);
        if let Some(before) = BEFORE.get() {
            let _gone = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// The terminal, until it is dropped.
#[derive(Debug)]
pub struct Tui {
    thread: Option<JoinHandle<()>>,
}

impl Tui {
    /// Takes the terminal. `stop` is called when the user asks for the end.
    ///
    /// # Errors
    /// Where standard input and standard error are no terminal.
    pub fn start(shared: &Shared, stop: Box<dyn Fn() + Send>) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        tcgetwinsize(io::stderr())?;
        let mut raw = BEFORE.get_or_init(|| before).clone();
        raw.make_raw();
        IS_OURS.store(true, SeqCst);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            hook(panic);
        }));
        let taken = tcsetattr(io::stdin(), OptionalActions::Now, &raw);
        let shared = shared.clone();
        let spawned = taken.map_err(io::Error::from).and_then(|()| {
            rustix::io::write(io::stderr(), ENTER)?;
            let thread = std::thread::Builder::new().name("tui".to_owned());
            thread.spawn(move || {
                // A terminal that is gone shows nothing.
                let _gone = show(&shared, &stop);
            })
        });
        match spawned {
            Ok(thread) => Ok(Tui { thread: Some(thread) }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }
}

impl Drop for Tui {
    fn drop(&mut self) {
        restore();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn show(shared: &Shared, stop: &dyn Fn()) -> io::Result<()> {
    let mut state = State::default();
    let mut screen: Option<Screen> = None;
    let mut n_seen = None;
    let mut drawn: Vec<String> = Vec::new();
    let mut size_drawn = (0, 0);
    while IS_OURS.load(SeqCst) {
        let n_updates = shared.lock().n_updates();
        if n_seen != Some(n_updates) && !(state.is_paused && screen.is_some()) {
            screen = Some(Screen::of(&shared.lock()));
            n_seen = Some(n_updates);
        }
        let size = size();
        if size != size_drawn {
            size_drawn = size;
            drawn.clear();
        }
        if let Some(screen) = &screen {
            let lines = screen.lines(size.0, size.1, state);
            write_all(&changes(&drawn, &lines))?;
            drawn = lines;
        }
        if key()?.is_some_and(|key| state.take(key)) {
            stop();
        }
    }
    Ok(())
}

/// Returns what makes a screen that shows some lines show others.
fn changes(before: &[String], after: &[String]) -> String {
    let mut text = String::new();
    if before.is_empty() {
        text.push_str("\x1b[2J");
    }
    for (row, line) in after.iter().enumerate() {
        if before.get(row) != Some(line) {
            text.push_str(&format!("\x1b[{};1H{line}\x1b[0m\x1b[K", row + 1));
        }
    }
    text
}

fn write_all(text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() && IS_OURS.load(SeqCst) {
        let n = rustix::io::write(io::stderr(), rest)?;
        rest = &rest[n..];
    }
    Ok(())
}

/// Returns the columns and rows of the terminal.
fn size() -> (usize, usize) {
    let Ok(size) = tcgetwinsize(io::stderr()) else { return SIZE };
    if size.ws_col == 0 || size.ws_row == 0 {
        return SIZE;
    }
    (usize::from(size.ws_col), usize::from(size.ws_row))
}

/// Waits a little for a key. Of keys that send several bytes all are taken, and none counts.
fn key() -> io::Result<Option<u8>> {
    let stdin = io::stdin();
    let fd = stdin.as_fd();
    let patience = Timespec::try_from(LOOK).map_err(io::Error::other)?;
    let mut events = [PollFd::new(&fd, PollFlags::IN)];
    match poll(&mut events, Some(&patience)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let mut bytes = [0; 64];
    match rustix::io::read(fd, &mut bytes)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        n if bytes[0] == 0x1b && n > 1 => Ok(None),
        _ => Ok(Some(bytes[0])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_changed_is_written() {
        let lines = |all: [&str; 3]| all.map(str::to_owned).to_vec();
        let (one, two) = (lines(["a", "b", "c"]), lines(["a", "x", "c"]));
        assert_eq!(changes(&one, &one), "");
        assert_eq!(changes(&one, &two), "\x1b[2;1Hx\x1b[0m\x1b[K");
        assert!(changes(&[], &one).starts_with("\x1b[2J\x1b[1;1Ha"));
    }
}
