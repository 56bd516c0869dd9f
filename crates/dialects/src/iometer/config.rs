//! What a configuration says, in its own words.

use std::borrow::Cow;

use plan::Span;

/// A test configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// How, and how long, the test runs.
    pub test: TestSetup,
    /// Access specifications, in the order of the file. Two are known without being written, see
    /// [`AccessSpec::built_in`].
    pub specs: Vec<AccessSpec>,
    /// Managers: the hosts that have workers.
    pub managers: Vec<Manager>,
}

impl Config {
    /// Finds the access specification that workers have by this name.
    pub fn spec(&self, name: &str) -> Option<Cow<'_, AccessSpec>> {
        let written = self.specs.iter().find(|spec| spec.name == name).map(Cow::Borrowed);
        written.or_else(|| AccessSpec::built_in(name).map(Cow::Owned))
    }
}

/// How, and how long, the test runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestSetup {
    /// Free text.
    pub description: String,
    /// Measured time of each run, seconds; 0 is until somebody stops it.
    pub run_time_s: u64,
    /// Time before it that is not measured, seconds.
    pub ramp_up_s: u64,
    /// Which rows results have.
    pub rows: Rows,
    /// What is turned up from run to run.
    pub test_type: TestType,
    /// Numbers of workers, with the test types that turn them up.
    pub workers: Steps,
    /// Numbers of targets, likewise.
    pub targets: Steps,
    /// Outstanding I/Os per target and worker, likewise.
    pub queue_depths: Steps,
}

/// Which rows results have, from the sum of all down to single targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rows {
    /// That of all managers.
    OfAll,
    /// Also those of managers, with their processors.
    OfManagers,
    /// Also those of workers.
    OfWorkers,
    /// Also those of targets.
    #[default]
    OfTargets,
}

impl Rows {
    /// All of them with their words, in the order of their numbers. Where a file of results is
    /// named, as it always is here, NONE has all, as in the tool.
    pub const WORDS: [(&'static str, Rows); 5] = [
        ("ALL", Rows::OfTargets),
        ("NO_TARGETS", Rows::OfWorkers),
        ("NO_WORKERS", Rows::OfManagers),
        ("NO_MANAGERS", Rows::OfAll),
        ("NONE", Rows::OfTargets),
    ];
}

/// What is turned up from run to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestType {
    /// Nothing: every worker has all of its targets, and the outstanding I/Os of its own.
    #[default]
    Normal,
    /// Targets, of each worker.
    CycleTargets,
    /// Workers, of each manager.
    CycleWorkers,
    /// Targets, of each manager, worker by worker.
    IncrementTargetsParallel,
    /// Targets, of one manager after another, worker by worker.
    IncrementTargetsSerial,
    /// Targets of each worker, for each number of workers.
    CycleWorkersAndTargets,
    /// Outstanding I/Os.
    CycleQueueDepths,
    /// Outstanding I/Os, for each number of targets of each worker.
    CycleQueueDepthsAndTargets,
}

impl TestType {
    /// All of them with their words, in the order of the numbers that results, and old files, have
    /// for them.
    pub const WORDS: [(&'static str, TestType); 8] = units::all_of!(
        TestType:
        "NORMAL" => Normal,
        "CYCLE_TARGETS" => CycleTargets,
        "CYCLE_WORKERS" => CycleWorkers,
        "INCREMENT_TARGETS_PARALLEL" => IncrementTargetsParallel,
        "INCREMENT_TARGETS_SERIAL" => IncrementTargetsSerial,
        "CYCLE_WORKERS_AND_TARGETS" => CycleWorkersAndTargets,
        "CYCLE_OUTSTANDING_IOS" => CycleQueueDepths,
        "CYCLE_OUTSTANDING_IOS_AND_TARGETS" => CycleQueueDepthsAndTargets,
    );
}

/// Numbers that are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The first, 1 or more.
    pub start: u32,
    /// The last is not above this; without effect for workers and targets, of which there are only
    /// so many.
    pub end: u32,
    /// How much is added, or by what is multiplied; 1 or more.
    pub step: u32,
    /// Which of the two.
    pub growth: Growth,
}

impl Default for Steps {
    fn default() -> Self {
        Steps { start: 1, end: 1, step: 1, growth: Growth::Linear }
    }
}

impl Steps {
    /// Returns the number behind `number`; none where it does not grow.
    pub fn after(self, number: u32) -> Option<u32> {
        let next = match self.growth {
            Growth::Linear => number.checked_add(self.step),
            Growth::Exponential => number.checked_mul(self.step),
        };
        next.filter(|next| *next > number)
    }
}

/// How numbers grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// By adding the step.
    Linear,
    /// By multiplying with it.
    Exponential,
}

impl Growth {
    /// Both of them with their words.
    pub const WORDS: [(&'static str, Growth); 2] = units::all_of!(
        Growth:
        "LINEAR" => Linear,
        "EXPONENTIAL" => Exponential,
    );
}

/// Returns the first word for a choice.
pub(super) fn word_of<T: PartialEq>(words: &[(&'static str, T)], choice: &T) -> &'static str {
    let found = words.iter().find(|(_, it)| it == choice);
    found.expect("a table of words has each choice").0
}

/// Returns the number for a choice: its place among the words.
pub(super) fn number_of<T: PartialEq>(words: &[(&'static str, T)], choice: &T) -> usize {
    let found = words.iter().position(|(_, it)| it == choice);
    found.expect("a table of words has each choice")
}

/// What stands above the name of a specification, for people.
pub(super) const SPEC_HEAD: &str = "'Access specification name,default assignment\n";

/// Which new workers have a specification by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// None.
    None,
    /// All.
    All,
    /// Those of disks.
    OfDisks,
    /// Those of the network.
    OfNetwork,
}

impl Assigned {
    /// All of them with their words, in the order of the numbers that results have for them.
    pub const WORDS: [(&'static str, Assigned); 4] = units::all_of!(
        Assigned:
        "NONE" => None,
        "ALL" => All,
        "DISK" => OfDisks,
        "NET" => OfNetwork,
    );
}

/// What I/O there is, in shares.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessSpec {
    /// Its name, by which workers have it.
    pub name: String,
    /// Which new workers have it by themselves.
    pub assigned: Assigned,
    /// Its shares, which add up to 100 %. Empty: the workers idle.
    pub lines: Vec<AccessLine>,
}

/// A share of the I/O of a specification.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessLine {
    /// Bytes per I/O, 1 or more.
    pub size_bytes: u32,
    /// Share of the specification's I/Os, percent, 0 to 100.
    pub share_pct: u8,
    /// Reads among them, percent, 0 to 100.
    pub read_pct: u8,
    /// Share that begins at a random place, percent, 0 to 100; the others go on where the last I/O
    /// ended.
    pub random_pct: u8,
    /// Pause before each burst, milliseconds.
    pub delay_ms: u32,
    /// I/Os of a burst, 1 or more; without effect where there is no pause.
    pub burst: u32,
    /// What random places are multiples of, bytes; 0 is a sector.
    pub align_bytes: u32,
    /// Where it is written.
    pub span: Span,
}

impl AccessSpec {
    /// Returns a specification that the tool knows by itself: `Default`, which is
    /// `2 KiB random 67% reads` in later versions, and `Idle`.
    pub fn built_in(name: &str) -> Option<AccessSpec> {
        let (name, lines) = match name {
            "Default" | "2 KiB random 67% reads" => (name, vec![AccessLine::DEFAULT]),
            "Idle" => (name, Vec::new()),
            _ => return None,
        };
        Some(AccessSpec { name: name.to_owned(), assigned: Assigned::All, lines })
    }
}

impl AccessLine {
    /// What the columns of a line are, for people.
    pub(super) const HEAD: &'static str =
        "'size,% of size,% reads,% random,delay,burst,align,reply\n";

    /// Returns the columns of a line. There is no reply: that is of the network.
    pub(super) fn columns(&self) -> String {
        let AccessLine { size_bytes, share_pct, read_pct, random_pct, .. } = self;
        let AccessLine { delay_ms, burst, align_bytes, .. } = self;
        format!(
            "{size_bytes},{share_pct},{read_pct},{random_pct},{delay_ms},{burst},{align_bytes},0"
        )
    }

    /// The I/O of the built-in specification.
    const DEFAULT: AccessLine = AccessLine {
        size_bytes: 2048,
        share_pct: 100,
        read_pct: 67,
        random_pct: 100,
        delay_ms: 0,
        burst: 1,
        align_bytes: 2048,
        span: Span { source_idx: None, line: 0, column: 0, bytes: 0..0 },
    };
}

/// A host with workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Manager {
    /// Its name.
    pub name: String,
    /// Its address; empty where none is written.
    pub address: String,
    /// Where it is written.
    pub span: Span,
    /// Its workers.
    pub workers: Vec<Worker>,
}

impl Manager {
    /// Returns whether it is this host, as far as its address says.
    pub fn is_local(&self) -> bool {
        let address = self.address.to_ascii_lowercase();
        address.is_empty()
            || address == "localhost"
            || address == "::1"
            || address.starts_with("127.")
    }
}

/// A thread that issues I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    /// Its name; several may have one.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// It sends over the network between two managers, in place of I/O to disks.
    pub is_of_network: bool,
    /// Outstanding I/Os per target, 1 or more.
    pub queue_depth: u32,
    /// Seed of its random numbers, where it is fixed.
    pub seed: Option<u64>,
    /// The targets are opened anew after so many I/Os; 0 is never.
    pub ios_per_open: u32,
    /// Length of the targets that is used, sectors; 0 is all.
    pub size_sectors: u64,
    /// Where that begins, sectors.
    pub start_sector: u64,
    /// What is written.
    pub data: DataPattern,
    /// Names of its access specifications, in order.
    pub specs: Vec<(String, Span)>,
    /// Its targets, in order.
    pub targets: Vec<Target>,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataPattern {
    /// One byte, over and over.
    Repeating,
    /// Random bytes, made once.
    PseudoRandom,
    /// Random bytes, made anew for each I/O.
    FullRandom,
}

impl DataPattern {
    /// All of them with their numbers.
    pub const WORDS: [(&'static str, DataPattern); 3] = units::all_of!(
        DataPattern:
        "0" => Repeating,
        "1" => PseudoRandom,
        "2" => FullRandom,
    );
}

/// A disk, or a logical drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// As written: `sdb`, `C:`, `8: "PHYSICALDRIVE"`, `/mnt/data [ext4]`.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// Bytes of a sector.
pub(super) const SECTOR_BYTES: u64 = 512;

impl Target {
    /// Returns the path that it stands for. On a logical drive that is a file, `iobw.tst`.
    pub fn path(&self) -> String {
        let name = self.name.as_str();
        if let Some(mount) = name.strip_prefix('/') {
            let mount = mount.split_once(" [").map_or(mount, |(mount, _)| mount);
            return format!("/{}/{DRIVE_FILE}", mount.trim_end_matches('/')).replace("//", "/");
        }
        let drive = name.get(..2).filter(|drive| crate::windows::has_drive(drive));
        match drive {
            // A label may stand behind the letter: `D: "data"`.
            Some(drive) => format!("{drive}/{DRIVE_FILE}"),
            None if self.is_named() => format!("/dev/{name}"),
            None => name.to_owned(),
        }
    }

    /// Returns whether it is the name of a device of Linux.
    fn is_named(&self) -> bool {
        let name = &self.name;
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '/' || c == '_' || c == '-')
    }

    /// Returns whether its path means nothing on this host unless it is mapped.
    pub fn is_of_windows(&self) -> bool {
        !self.name.starts_with('/') && !self.is_named()
    }
}

/// The file on a logical drive.
const DRIVE_FILE: &str = "iobw.tst";

#[cfg(test)]
mod tests {
    use super::*;
    use units::all_of;

    #[test]
    fn every_choice_has_a_word() {
        for growth in all_of!(Growth: Linear, Exponential) {
            assert_ne!(word_of(&Growth::WORDS, &growth), "");
        }
        for (number, assigned) in
            all_of!(Assigned: None, All, OfDisks, OfNetwork).iter().enumerate()
        {
            assert_eq!(number_of(&Assigned::WORDS, assigned), number);
        }
        for data in all_of!(DataPattern: Repeating, PseudoRandom, FullRandom) {
            assert_ne!(word_of(&DataPattern::WORDS, &data), "");
        }
        for rows in all_of!(Rows: OfAll, OfManagers, OfWorkers, OfTargets) {
            assert_ne!(word_of(&Rows::WORDS, &rows), "");
        }
    }
}
