//! What came to a controller, in a file: one that was killed is brought back to where it stood.
//!
//! A controller is a state machine that reads no clock: the same events at the same times lead to
//! the same state. So each is written here before what follows from it is done, and what was
//! acknowledged to an agent is in the file. An event that is there in part, because the controller
//! was killed in the midst of it, was not acknowledged: its agent sends it again.
//!
//! It outlives the process, not the host: times are of the host's clock since it started.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use prost::Message as _;
use rustix::fs::{FlockOperation, flock};
use units::system_text;

use crate::controller::{Controller, Event, LossPolicy};
use crate::wire::{Assignment, FromAgent, Hello};

/// What such a file begins with.
const MAGIC: &[u8] = b"plimsoll-ledger 1\n";

/// How a run began.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Head {
    /// Which start of the host it was in.
    #[prost(string, tag = "1")]
    pub boot: String,
    /// When it began.
    #[prost(uint64, tag = "2")]
    pub begun_ns: u64,
    /// How long agents might take to come.
    #[prost(uint64, tag = "3")]
    pub join_ns: u64,
    /// What all do.
    #[prost(message, optional, tag = "4")]
    pub assignment: Option<Assignment>,
    /// The agents' names.
    #[prost(string, repeated, tag = "5")]
    pub names: Vec<String>,
    /// How they greet that came, in the same order.
    #[prost(message, repeated, tag = "6")]
    pub greetings: Vec<Hello>,
    /// The run ends with the first that is lost.
    #[prost(bool, tag = "7")]
    pub(crate) aborts: bool,
    /// Else how many must be left, where that matters.
    #[prost(uint32, optional, tag = "8")]
    pub(crate) n_left_min: Option<u32>,
    /// The program that wrote it: another one may be led elsewhere by the same events.
    #[prost(string, tag = "9")]
    pub program: String,
}

impl Head {
    /// Makes that of a run that begins now, on this host.
    pub fn new(begun_ns: u64, join_ns: u64, assignment: &Assignment, names: Vec<String>) -> Self {
        let (boot, assignment) = (boot(), Some(assignment.clone()));
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Head { boot, begun_ns, join_ns, assignment, names, program, ..Head::default() }
    }

    /// Notes what is done when an agent is lost.
    #[must_use]
    pub fn with_policy(mut self, policy: LossPolicy) -> Self {
        (self.aborts, self.n_left_min) = match policy {
            LossPolicy::Abort => (true, None),
            LossPolicy::Continue => (false, None),
            LossPolicy::AtLeast(n) => (false, Some(n)),
        };
        self
    }

    /// Makes the controller of the run as it was at its beginning.
    pub fn controller(&self) -> Controller {
        let policy = match self.n_left_min {
            Some(n) => LossPolicy::AtLeast(n),
            None if self.aborts => LossPolicy::Abort,
            None => LossPolicy::Continue,
        };
        let assignment = self.assignment.clone().unwrap_or_default();
        Controller::new(self.names.len(), assignment, policy, self.begun_ns, self.join_ns)
    }
}

/// An event. Without any of what follows time has passed.
#[derive(Clone, PartialEq, prost::Message)]
struct Entry {
    #[prost(uint64, tag = "1")]
    at_ns: u64,
    #[prost(uint64, tag = "2")]
    idx: u64,
    #[prost(message, optional, tag = "3")]
    message: Option<FromAgent>,
    #[prost(string, optional, tag = "4")]
    gone: Option<String>,
    #[prost(bool, tag = "5")]
    is_stop: bool,
    #[prost(message, optional, tag = "6")]
    sent: Option<Sent>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Sent {
    #[prost(uint64, tag = "1")]
    done: u64,
    #[prost(uint64, tag = "2")]
    total: u64,
}

impl Entry {
    fn of(event: &Event, at_ns: u64) -> Self {
        let entry = Entry { at_ns, ..Entry::default() };
        match event {
            Event::Message(idx, kind) => {
                let message = Some(FromAgent { kind: Some(kind.clone()) });
                Entry { idx: *idx as u64, message, ..entry }
            }
            Event::Gone(idx, reason) => {
                Entry { idx: *idx as u64, gone: Some(reason.clone()), ..entry }
            }
            Event::Sent(idx, done, total) => {
                let sent = Some(Sent { done: *done, total: *total });
                Entry { idx: *idx as u64, sent, ..entry }
            }
            Event::Stop => Entry { is_stop: true, ..entry },
            Event::Due => entry,
        }
    }

    fn event(self) -> Event {
        let idx = self.idx as usize;
        match self {
            Entry { message: Some(FromAgent { kind: Some(kind) }), .. } => {
                Event::Message(idx, kind)
            }
            Entry { gone: Some(reason), .. } => Event::Gone(idx, reason),
            Entry { sent: Some(Sent { done, total }), .. } => Event::Sent(idx, done, total),
            Entry { is_stop: true, .. } => Event::Stop,
            Entry { .. } => Event::Due,
        }
    }
}

/// What a file says of a run.
#[derive(Debug)]
pub struct Past {
    /// How it began.
    pub head: Head,
    /// What came since, and when.
    pub events: Vec<(u64, Event)>,
}

/// Why there is no ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The system does not let it.
    #[error("cannot keep what comes from agents in `{path}`: {}", system_text(.error))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Another controller has it.
    #[error("`{0}` is in use by another controller: name another file")]
    InUse(PathBuf),
    /// It is something else.
    #[error("`{0}` holds something else than a run of agents: name another file")]
    NoLedger(PathBuf),
    /// It has another run.
    #[error(
        "`{path}` has the run of another command, `{command}`: type that, or name another file"
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// What was typed.
        command: String,
    },
    /// Its run was on another start of the host, or of another program.
    #[error("`{path}` has a run that cannot be resumed, {why}: remove the file")]
    Stale {
        /// The file.
        path: PathBuf,
        /// Why.
        why: &'static str,
    },
}

/// The file of a run.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
}

impl Ledger {
    /// Opens the file, makes it where there is none, and returns the run that is in it, if any.
    ///
    /// # Errors
    /// Where it cannot be had, or has something else in it.
    pub fn open(path: &Path) -> Result<(Self, Option<Past>), LedgerError> {
        let failed = |error| LedgerError::File { path: path.to_owned(), error };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| LedgerError::InUse(path.to_owned()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let ledger = Ledger { path: path.to_owned(), file };
        if bytes.is_empty() {
            return Ok((ledger, None));
        }
        let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
            return Err(LedgerError::NoLedger(path.to_owned()));
        };
        let Ok(head) = Head::decode_length_delimited(&mut rest) else { return Ok((ledger, None)) };
        let mut events = Vec::new();
        let mut n_whole = bytes.len() - rest.len();
        while let Ok(entry) = Entry::decode_length_delimited(&mut rest) {
            events.push((entry.at_ns, entry.event()));
            n_whole = bytes.len() - rest.len();
        }
        // What was written in part is overwritten.
        let mut ledger = ledger;
        ledger.file.set_len(n_whole as u64).map_err(failed)?;
        ledger.file.seek(io::SeekFrom::End(0)).map_err(failed)?;
        Ok((ledger, Some(Past { head, events })))
    }

    /// Begins a run.
    ///
    /// # Errors
    /// Where the system does not let it.
    pub fn begin(&mut self, head: &Head) -> Result<(), LedgerError> {
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            let mut bytes = MAGIC.to_vec();
            bytes.extend(head.encode_length_delimited_to_vec());
            file.write_all(&bytes)
        };
        write(&mut self.file).map_err(|error| self.failed(error))
    }

    /// Writes an event, before anything follows from it.
    ///
    /// # Errors
    /// Where the system does not let it.
    pub fn note(&mut self, event: &Event, at_ns: u64) -> Result<(), LedgerError> {
        let bytes = Entry::of(event, at_ns).encode_length_delimited_to_vec();
        self.file.write_all(&bytes).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> LedgerError {
        LedgerError::File { path: self.path.clone(), error }
    }
}

/// Checks that the run of a file is the one that is asked for, and can go on.
///
/// # Errors
/// Where it is another one, or can not.
pub(crate) fn check(path: &Path, head: &Head, asked: &Assignment) -> Result<(), LedgerError> {
    let stale = |why: &'static str| LedgerError::Stale { path: path.to_owned(), why };
    if head.boot != boot() {
        return Err(stale("since the host was started anew"));
    }
    if head.program != env!("CARGO_PKG_VERSION") {
        return Err(stale("since it is of another version of the program"));
    }
    let command = head.assignment.as_ref().map(|it| &it.command);
    if command != Some(&asked.command) {
        let command = command.map(|words| words.join(" ")).unwrap_or_default();
        return Err(LedgerError::Other { path: path.to_owned(), command });
    }
    Ok(())
}

/// Returns which start of this host it is.
fn boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    text.map(|text| text.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::from_agent::Kind as From;
    use crate::wire::{Frame, Pong};

    fn head() -> Head {
        let names = vec!["a".to_owned(), "b".to_owned()];
        Head { begun_ns: 5, join_ns: 9, names, ..Head::default() }
    }

    fn events() -> Vec<(u64, Event)> {
        let frame = Frame { seq: 3, facts_json: b"{}".to_vec(), ..Frame::default() };
        vec![
            (10, Event::Message(1, From::Frame(frame))),
            (11, Event::Message(0, From::Pong(Pong { id: 7, received_ns: 1, sent_ns: 2 }))),
            (12, Event::Gone(1, "its connection was closed".to_owned())),
            (13, Event::Sent(1, 2, 3)),
            (14, Event::Due),
            (15, Event::Stop),
        ]
    }

    fn written(path: &Path) {
        let (mut ledger, past) = Ledger::open(path).expect("the folder is ours");
        assert!(past.is_none());
        ledger.begin(&head().with_policy(LossPolicy::AtLeast(2))).expect("it is written");
        for (at_ns, event) in events() {
            ledger.note(&event, at_ns).expect("it is written");
        }
    }

    /// What a run reads back, as text.
    fn read(path: &Path) -> Vec<String> {
        let (_, past) = Ledger::open(path).expect("it was written");
        let past = past.expect("there is a run");
        assert_eq!((past.head.begun_ns, past.head.names.len()), (5, 2));
        past.events.iter().map(|event| format!("{event:?}")).collect()
    }

    #[test]
    fn a_run_is_read_back_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("l");
        written(&path);
        let expected: Vec<String> = events().iter().map(|event| format!("{event:?}")).collect();
        assert_eq!(read(&path), expected);
    }

    #[test]
    fn what_was_written_in_part_is_left_out_wherever_it_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("l");
        written(&path);
        let bytes = std::fs::read(&path).expect("it was written");
        let expected: Vec<String> = events().iter().map(|event| format!("{event:?}")).collect();
        let (mut n_before, mut had_none) = (events().len(), false);
        for n in (0..bytes.len()).rev() {
            std::fs::write(&path, &bytes[..n]).expect("the folder is ours");
            if n < MAGIC.len() {
                continue;
            }
            let (mut ledger, past) = Ledger::open(&path).expect("it begins as one");
            let Some(past) = past else {
                had_none = true;
                continue;
            };
            assert!(past.events.len() == n_before || past.events.len() + 1 == n_before);
            n_before = past.events.len();
            // What comes next stands behind what is whole.
            ledger.note(&Event::Stop, 99).expect("it is written");
            drop(ledger);
            let mut wanted = expected[..n_before].to_vec();
            wanted.push(format!("{:?}", (99, Event::Stop)));
            assert_eq!(read(&path), wanted);
        }
        assert!(n_before == 0 && had_none);
    }

    #[test]
    fn other_files_and_those_of_others_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("l");
        let (held, _) = Ledger::open(&path).expect("the folder is ours");
        let second = Ledger::open(&path).expect_err("it is in use");
        assert!(matches!(second, LedgerError::InUse(_)), "{second}");
        drop(held);
        std::fs::write(&path, "my thesis").expect("the folder is ours");
        let error = Ledger::open(&path).expect_err("it is no ledger");
        assert!(matches!(error, LedgerError::NoLedger(_)), "{error}");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"my thesis");
    }
}
