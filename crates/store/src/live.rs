//! A run on its way into the store.

use record::{Interval, Outcome, Record};
use rusqlite::{TransactionBehavior, params};

use crate::runs::{Source, State, Totals};
use crate::series::{Tail, pack};
use crate::{Store, StoreError, can_be_found, is_name, owner};

/// What a run is known by from its start on.
#[derive(Clone, Debug, Default)]
pub struct Begin {
    /// What the user calls it; may be empty.
    pub name: String,
    /// What it measures, in a line: a device or folder, and the kind of I/O. Empty where the
    /// command says it.
    pub about: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The command and its arguments, as typed.
    pub command: Vec<String>,
    /// The plan, in the native language.
    pub plan: String,
    /// Start of the run, milliseconds since the Unix epoch.
    pub started_unix_ms: u64,
}

/// What came of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It is there now, under this number.
    Added(i64),
    /// It was there before: the run of this number came from the same file.
    Known(i64),
}

/// A run that is being written. Dropped before [`Live::finish`] it stays as interrupted.
#[derive(Debug)]
pub struct Live {
    store: Store,
    id: i64,
    tail: Tail,
    is_finished: bool,
}

impl Store {
    /// Begins a run. From here on it is found by others, as running.
    ///
    /// # Panics
    /// If no command finds it by its name or a tag ([`crate::can_be_found`], [`crate::is_name`]).
    pub fn begin(mut self, begin: &Begin) -> Result<Live, StoreError> {
        let id =
            self.insert(begin, State::Running, None, None).map_err(|error| error.at(&self.path))?;
        Ok(Live { store: self, id, tail: Tail::default(), is_finished: false })
    }

    /// Adds a run that has ended, and returns its number.
    ///
    /// # Panics
    /// If no command finds it by its name or a tag ([`crate::can_be_found`], [`crate::is_name`]).
    pub fn add(&mut self, begin: &Begin, record: &Record) -> Result<i64, StoreError> {
        let added = self.insert(begin, State::of(record.outcome), Some(record), None);
        added.map_err(|error| error.at(&self.path))
    }

    /// Adds a run that was read from a file. A file is known by its hash: what is there already is
    /// not added again.
    ///
    /// # Panics
    /// If no command finds it by its name or a tag ([`crate::can_be_found`], [`crate::is_name`]),
    /// or its file has no path, or no hash as [`Source`] has it.
    pub fn import(
        &mut self,
        begin: &Begin,
        record: &Record,
        source: &Source,
    ) -> Result<Imported, StoreError> {
        let Source { path, sha256, .. } = source;
        let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        let is_hash = sha256.len() == 64 && sha256.chars().all(is_digit);
        assert!(is_hash, "the file `{path}` has the hash `{sha256}`");
        assert!(!path.is_empty(), "the file `{path}` of the hash {sha256}");
        let added = self.insert(begin, State::of(record.outcome), Some(record), Some(source));
        match added {
            Ok(id) => Ok(Imported::Added(id)),
            // The first one has it; the index tells also where two import at once.
            Err(error) => match self.of_source(&source.sha256)? {
                Some(run) => Ok(Imported::Known(run.id)),
                None => Err(error.at(&self.path)),
            },
        }
    }

    fn insert(
        &mut self,
        begin: &Begin,
        state: State,
        record: Option<&Record>,
        source: Option<&Source>,
    ) -> Result<i64, StoreError> {
        must_be_name(&begin.name);
        begin.tags.iter().for_each(|tag| must_be_tag(tag));
        let step = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        step.execute(
            "INSERT INTO runs (name, about, started_unix_ms, elapsed_ns, state, owner, command,
                n_jobs, n_warnings, source_path, source_sha256, source_tool)
             VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, 0, 0, ?7, ?8, ?9)",
            params![
                begin.name,
                begin.about,
                i64::try_from(begin.started_unix_ms).unwrap_or(i64::MAX),
                state.word(),
                owner::this(),
                serde_json::to_string(&begin.command).unwrap_or_default(),
                source.map(|source| &source.path),
                source.map(|source| &source.sha256),
                source.map(|source| &source.tool),
            ],
        )?;
        let id = step.last_insert_rowid();
        let put = "INSERT INTO records (run_id, plan, record) VALUES (?1, ?2, x'')";
        step.execute(put, params![id, begin.plan])?;
        for tag in &begin.tags {
            step.execute(
                "INSERT OR IGNORE INTO tags (run_id, tag) VALUES (?1, ?2)",
                params![id, tag],
            )?;
        }
        step.commit()?;
        if let Some(record) = record {
            self.put_record(id, record, state, None)?;
        }
        Ok(id)
    }

    /// Puts a run's record in place, with the figures that a list shows. Of one that goes on, the
    /// intervals in `tail` come with it or not at all: its figures and its intervals must be of the
    /// same time, whenever it is killed.
    pub(crate) fn put_record(
        &mut self,
        id: i64,
        record: &Record,
        state: State,
        tail: Option<&Tail>,
    ) -> Result<(), StoreError> {
        let goes_on = state == State::Running;
        assert!(
            goes_on == tail.is_some(),
            "run {id} is {}, and its intervals are not",
            state.word()
        );
        let totals = Totals::of(record);
        // Intervals lie in chunks of their own.
        let packed = pack(&Record { intervals: Vec::new(), ..record.clone() });
        let step = self.db.unchecked_transaction()?;
        step.execute(
            "UPDATE runs SET elapsed_ns = ?2, state = ?3, n_jobs = ?4, figures = ?5,
                n_warnings = ?6, n_steps = ?7, steps = ?8, standing = ?9
             WHERE id = ?1",
            params![
                id,
                i64::try_from(record.elapsed_ns).unwrap_or(i64::MAX),
                state.word(),
                totals.n_jobs,
                figures_text(&totals),
                totals.n_warnings,
                totals.n_steps,
                steps_text(&totals),
                totals.standing,
            ],
        )?;
        step.execute("UPDATE records SET record = ?2 WHERE run_id = ?1", params![id, packed])?;
        match tail {
            Some(tail) => tail.write(self, id)?,
            None => self.replace_intervals(id, record)?,
        }
        step.commit()?;
        Ok(())
    }
}

/// Checks that a run can be found by what it is called, if it is called anything.
pub(crate) fn must_be_name(name: &str) {
    assert!(name.is_empty() || can_be_found(name), "no command finds a run called `{name}`");
}

/// Checks that runs can be found by a tag.
pub(crate) fn must_be_tag(tag: &str) {
    assert!(is_name(tag), "no command finds a run with the tag `{tag}`");
}

/// Returns the figures of a run as a row holds them.
pub(crate) fn figures_text(totals: &Totals) -> String {
    serde_json::to_string(&totals.figures).unwrap_or_default()
}

/// Returns the figures of several steps as a row holds them; empty where there is one.
pub(crate) fn steps_text(totals: &Totals) -> String {
    if totals.steps.is_empty() {
        return String::new();
    }
    serde_json::to_string(&totals.steps).unwrap_or_default()
}

impl Live {
    /// Returns the run's number.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Appends an interval. It is written with the next record, or when there are many.
    ///
    /// # Panics
    /// If it begins before the run, or ends before the interval that came last.
    pub fn interval(&mut self, interval: &Interval) -> Result<(), StoreError> {
        let kept = self.tail.push(&self.store, self.id, interval);
        kept.map_err(|error| error.at(&self.store.path))
    }

    /// Keeps the record as it stands, for the case that nothing comes after.
    pub fn report(&mut self, record: &Record) -> Result<(), StoreError> {
        let tail = Some(&self.tail);
        let kept = self.store.put_record(self.id, record, State::Running, tail);
        kept.map_err(|error| error.at(&self.store.path))
    }

    /// Puts the final record in place. It has all that came before, so a run of which parts could
    /// not be kept is whole then.
    pub fn finish(mut self, record: &Record) -> Result<i64, StoreError> {
        let kept = self.store.put_record(self.id, record, State::of(record.outcome), None);
        kept.map_err(|error| error.at(&self.store.path))?;
        self.is_finished = true;
        Ok(self.id)
    }

    /// Takes a run back that was refused before it began.
    pub fn forget(mut self) -> Result<(), StoreError> {
        self.is_finished = true;
        self.store.delete(self.id)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if !self.is_finished {
            // The next program that looks finds out by itself if this fails.
            let _ = self.tail.write(&self.store, self.id);
            let update = "UPDATE runs SET state = 'interrupted' WHERE id = ?1";
            let _ = self.store.db.execute(update, [self.id]);
        }
    }
}

impl State {
    /// Returns what became of a run, by its record.
    pub fn of(outcome: Outcome) -> State {
        match outcome {
            Outcome::Complete => State::Complete,
            Outcome::Interrupted => State::Interrupted,
            Outcome::Failed => State::Failed,
            Outcome::Partial => State::Partial,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that is full cannot be had in a test; a file that may not grow says the same.
    #[test]
    fn a_full_disk_is_named_and_takes_nothing_of_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.db");
        let mut store = Store::open(&path).unwrap();
        let named = |name: &str| Begin { name: name.to_owned(), ..Begin::default() };
        let kept = store.add(&named("before"), &Record::default()).unwrap();
        let grows = |store: &Store, n_pages: u32| {
            store.db.pragma_update(None, "max_page_count", n_pages).unwrap();
        };
        let mut live = store.begin(&named("live")).unwrap();
        // A limit below the file as it is means that.
        grows(&live.store, 1);
        let command = (0..20_000_u64).map(|n| format!("{:x}", n * n * n)).collect();
        let long = Record { command, ..Record::default() };
        let expected = format!("the disk of the run store {} is full", path.display());
        let failed = live.report(&long).unwrap_err();
        assert!(failed.to_string().starts_with(&expected), "{failed}");

        let reader = Store::open_existing(&path).unwrap().unwrap();
        assert!(reader.record(kept).unwrap().is_some());
        // With room again, the end brings what was missed.
        grows(&live.store, 1_000_000);
        let id = live.finish(&long).unwrap();
        assert_eq!(reader.record(id).unwrap().unwrap().command, long.command);
    }
}
