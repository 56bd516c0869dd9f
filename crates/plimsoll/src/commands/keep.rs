//! Runs on their way into the run store, and where the store is.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use record::{Interval, Record};
use runner::{Emulation, RunEvent, RunOptions};
use store::{Begin, Live, Store, StoreError};
use units::system_text;

use crate::exit::Failure;
use crate::{clock, env, result_file, stream};

/// Where the run store is.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct StoreArgs {
    /// The run store; $PLIMSOLL_STORE, or plimsoll/runs.db in the folder for user data unless
    /// given.
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// How a run is kept.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct KeepArgs {
    #[command(flatten)]
    store: StoreArgs,

    /// Do not store the run.
    #[arg(long, conflicts_with_all = ["store", "name", "tag"])]
    no_store: bool,

    /// Name of the run: `plimsoll show NAME` shows it.
    #[arg(long, value_name = "NAME", value_parser = label)]
    name: Option<String>,

    /// A word to find the run by; may be repeated.
    #[arg(long, value_name = "TAG", value_parser = label)]
    tag: Vec<String>,
}

/// Time between two records of a run under way, milliseconds: what a kill may take.
const REPORT_INTERVAL_MS: u64 = 1000;

impl StoreArgs {
    /// Returns the store's file; `None` if the environment switches it off, or names no folder of
    /// the user.
    fn path(&self) -> Option<PathBuf> {
        if let Some(path) = &self.store {
            return Some(path.clone());
        }
        if let Some(path) = env::STORE.get() {
            return (!path.is_empty()).then(|| path.into());
        }
        let data = env::XDG_DATA_HOME.get().filter(|path| path.starts_with('/'));
        let home = || Some(PathBuf::from(env::HOME.get()?).join(".local/share"));
        Some(data.map(PathBuf::from).or_else(home)?.join(store::FILE))
    }

    /// Returns the store that was named, if one was.
    pub(super) fn file(&self) -> Option<&Path> {
        self.store.as_deref()
    }

    /// Opens the store to add to it; makes it where there is none.
    pub(super) fn open_or_make(&self) -> Result<Store, Failure> {
        let Some(path) = self.path() else { return Err(no_store()) };
        open(&path).map_err(failure)
    }

    /// Opens the store to look into it.
    pub(super) fn open(&self) -> Result<Store, Failure> {
        let Some(path) = self.path() else { return Err(no_store()) };
        let store = Store::open_existing(&path).map_err(failure)?;
        store.ok_or_else(|| {
            Failure::wrong_use(format!("there is no run store at {}", path.display()))
                .hint("`plimsoll run FILE` makes one and stores the run")
        })
    }
}

impl KeepArgs {
    /// Takes an option of a command line that accepts more than one dialect. Returns false if it is
    /// none of these; `value` returns the argument that follows it.
    pub(super) fn take(
        &mut self,
        option: &str,
        value: &mut dyn FnMut() -> Result<String, Failure>,
    ) -> Result<bool, Failure> {
        match option {
            "--store" => self.store.store = Some(value()?.into()),
            "--no-store" => self.no_store = true,
            "--name" => self.name = Some(label(&value()?).map_err(Failure::wrong_use)?),
            "--tag" => self.tag.push(label(&value()?).map_err(Failure::wrong_use)?),
            _ => return Ok(false),
        }
        let names_store = self.store.store.is_some() || self.name.is_some() || !self.tag.is_empty();
        if self.no_store && names_store {
            let message = "`--no-store` cannot be used with `--store`, `--name` or `--tag`";
            return Err(Failure::wrong_use(message));
        }
        Ok(true)
    }

    /// Returns the store that the run is kept in; `None` where it is not.
    fn path(&self) -> Option<PathBuf> {
        if self.no_store { None } else { self.store.path() }
    }

    /// Returns the time between two records of the run; `None` where none is kept. A run in virtual
    /// time is too fast to follow, and quick to repeat.
    pub(super) fn report_interval_ms(&self, emulation: Option<&Emulation>) -> Option<u64> {
        let is_virtual = emulation.is_some_and(Emulation::is_virtual);
        (!is_virtual && self.path().is_some()).then_some(REPORT_INTERVAL_MS)
    }
}

/// Opens a store to add to it; makes it where there is none.
fn open(path: &Path) -> Result<Store, StoreError> {
    result_file::refuse_among_devices(path)
        .map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
    Store::open(path)
}

/// Reads a name or a tag of a run, by which commands are to find it again.
pub(super) fn label(text: &str) -> Result<String, String> {
    if store::is_name(text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` cannot name a run: in commands `last`, numbers, `1..6`, `tag:` and `*` stand \
         for other runs; begin the name with a letter, such as `before-{}`",
        text.trim_matches(|c: char| !c.is_ascii_alphanumeric())
    ))
}

fn no_store() -> Failure {
    Failure::wrong_use("there is no run store")
        .hint("name one: --store FILE, or set PLIMSOLL_STORE to its path")
}

/// Reports what is wrong with a store.
pub(super) fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::wrong_use(error.to_string())
}

/// A run that is being kept, as far as that works: a run goes on where its store fails.
///
/// What is kept is written by a thread of its own: a disk that takes seconds to write must not keep
/// the caller, which watches the run, from ending or reporting it. Where it is slow, a newer record
/// replaces one that was not written yet.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    writer: Option<Writer>,
    /// The command line names the store, or the run in it: its absence is a failure then, and a
    /// warning where the usual store has no room.
    is_asked: bool,
}

/// What became of a record that was to be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    /// Its number in the store; `None` if it is not there.
    pub(super) number: Option<i64>,
    /// It is there, or the command line does not ask for it.
    pub(super) is_as_asked: bool,
}

/// The thread that writes, and what it has to write.
#[derive(Debug)]
struct Writer {
    mail: Arc<Mail>,
    thread: JoinHandle<Written>,
}

#[derive(Debug, Default)]
struct Mail {
    letters: Mutex<Letters>,
    has_come: Condvar,
}

#[derive(Debug, Default)]
struct Letters {
    intervals: Vec<Interval>,
    record: Option<Box<Record>>,
    is_last: bool,
}

/// What a writer leaves.
#[derive(Debug)]
struct Written {
    live: Live,
    /// Something could not be kept. The final record has it all, so that is tried once more.
    is_failing: bool,
}

impl Mail {
    /// Changes what is to be written. The lock is held for moments only, never while writing.
    fn post(&self, change: impl FnOnce(&mut Letters)) {
        change(&mut self.letters.lock().unwrap_or_else(PoisonError::into_inner));
        self.has_come.notify_one();
    }

    /// Waits for a record or the end, and takes what has come.
    fn take(&self) -> Letters {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        while letters.record.is_none() && !letters.is_last {
            letters = self.has_come.wait(letters).unwrap_or_else(PoisonError::into_inner);
        }
        let is_last = letters.is_last;
        Letters { is_last, ..std::mem::take(&mut *letters) }
    }
}

/// Writes what comes until the last has come.
fn write(mut live: Live, mail: &Mail) -> Written {
    let mut is_failing = false;
    loop {
        let Letters { intervals, record, is_last } = mail.take();
        if !is_failing {
            let kept = intervals.iter().try_for_each(|interval| live.interval(interval));
            let kept = kept.and_then(|()| match record {
                // The final record is about to come.
                _ if is_last => Ok(()),
                Some(record) => live.report(&record),
                None => Ok(()),
            });
            if let Err(error) = kept {
                is_failing = true;
                stream::print_message(&format!(
                    "warning: the run goes on and is not stored for now: {error}\n\
                     hint: it is tried again when the run ends\n"
                ));
            }
        }
        if is_last {
            return Written { live, is_failing };
        }
    }
}

impl Keeper {
    /// Begins to keep a run. `about` says what it measures where the command does not.
    pub(super) fn begin(
        args: &KeepArgs,
        options: &RunOptions,
        plan: &plan::Plan,
        about: &str,
    ) -> Keeper {
        let Some(path) = args.path() else { return Keeper::default() };
        let begin = Begin {
            name: args.name.clone().unwrap_or_default(),
            about: about.to_owned(),
            tags: args.tag.clone(),
            command: options.command.clone(),
            plan: dialects::native::write(plan).text,
            started_unix_ms: clock::report_time().unix_ms,
        };
        let live = open(&path).and_then(|store| store.begin(&begin));
        let is_asked = args.store.store.is_some() || args.name.is_some() || !args.tag.is_empty();
        let Some(live) = Self::or_warn(live) else { return Keeper { writer: None, is_asked } };
        let mail = Arc::new(Mail::default());
        let to_write = Arc::clone(&mail);
        let thread = std::thread::Builder::new().name("keep".to_owned());
        match thread.spawn(move || write(live, &to_write)) {
            Ok(thread) => Keeper { writer: Some(Writer { mail, thread }), is_asked },
            Err(error) => {
                stream::print_message(&format!(
                    "warning: the run is not stored: no thread: {}\n",
                    system_text(&error)
                ));
                Keeper { writer: None, is_asked }
            }
        }
    }

    /// Keeps what an event brings, of runs that are followed.
    pub(super) fn follow(&mut self, is_followed: bool, event: &RunEvent<'_>) {
        if is_followed {
            self.event(event);
        }
    }

    /// Keeps what an event brings.
    pub(super) fn event(&mut self, event: &RunEvent<'_>) {
        let Some(writer) = &self.writer else { return };
        match event {
            RunEvent::Interval(interval) => {
                writer.mail.post(|letters| letters.intervals.push((*interval).clone()));
            }
            RunEvent::Report(record) => {
                let record = Box::new((*record).clone());
                writer.mail.post(|letters| letters.record = Some(record));
            }
            RunEvent::Note(_)
            | RunEvent::Layout { .. }
            | RunEvent::Paused { .. }
            | RunEvent::CommandEnded { .. }
            | RunEvent::StepSkipped { .. }
            | RunEvent::IoError(_)
            | RunEvent::StepStarted { .. }
            | RunEvent::StepReady { .. }
            | RunEvent::Tree { .. }
            | RunEvent::TreeMade { .. }
            | RunEvent::OtherTree { .. }
            | RunEvent::Status(_)
            | RunEvent::JobsSoFar(_)
            | RunEvent::SeriesSoFar(_)
            | RunEvent::StatusAsked(_)
            | RunEvent::StepEnded { .. } => {}
        }
    }

    /// Puts the final record in place.
    pub(super) fn finish(mut self, record: &Record) -> Stored {
        let number = self.put(record);
        Stored { number, is_as_asked: number.is_some() || !self.is_asked }
    }

    fn put(&mut self, record: &Record) -> Option<i64> {
        let Written { live, is_failing } = self.writer.take()?.end()?;
        let id = Self::or_warn(live.finish(record))?;
        if is_failing {
            stream::print_message(&format!("the run is stored now, as run {id}\n"));
        }
        Some(id)
    }

    /// Takes the run back: it was refused.
    pub(super) fn forget(mut self) {
        if let Some(written) = self.writer.take().and_then(Writer::end) {
            Self::or_warn(written.live.forget());
        }
    }

    fn or_warn<T>(outcome: Result<T, StoreError>) -> Option<T> {
        let tell = |error| {
            stream::print_message(&format!(
                "warning: the run is not stored: {error}\n\
                 hint: --store FILE stores it elsewhere, --no-store turns this off\n"
            ));
        };
        outcome.map_err(tell).ok()
    }
}

impl Writer {
    /// Ends the thread when it has written what it is at.
    fn end(self) -> Option<Written> {
        self.mail.post(|letters| letters.is_last = true);
        self.thread.join().ok()
    }
}

impl Drop for Keeper {
    /// What was not finished stays as far as it came: as interrupted.
    fn drop(&mut self) {
        let _written = self.writer.take().and_then(Writer::end);
    }
}
