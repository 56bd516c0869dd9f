//! Everything that parameter files come to, besides how they were written.

use plan::job::Source;
use plan::{Diagnostic, Severity};

use super::findings::SourceRange;
use super::run::{Command, Contents, Run, Sd};

/// Parameter files, parsed in full.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The texts read, in the order of reading.
    pub sources: Vec<Source>,
    /// Runs in the order in which they run; empty when a mistake was found.
    pub runs: Vec<Run>,
    /// Every storage definition, used or not, once per host that has it.
    pub sds: Vec<Sd>,
    /// Names of every file system definition and of every workload on them, used or not.
    pub file_names: FileNames,
    /// Where the journal of data validation lies; `None` is the current folder.
    pub journal_folder: Option<String>,
    /// General parameters.
    pub settings: Settings,
    /// Hosts in the order of definition; without any, one named `localhost`.
    pub hosts: Vec<Host>,
    /// What `parmscan.html` lists behind the time: `line: `, `keyw: ` and `parm: ` lines.
    pub scanned: Vec<String>,
    /// What `parmfile.html` lists: the files as read, with substitutions.
    pub copied: Vec<String>,
    /// The files in plain form: a definition per line, keywords in full, nothing included,
    /// substituted, remapped or set. It comes to the same runs.
    pub plain: String,
    /// Mistakes and warnings, in the order of the files; those without a place come first.
    pub diagnostics: Vec<Diagnostic>,
    /// What is understood and cannot run yet; it is no mistake.
    pub refusals: Vec<Diagnostic>,
}

impl Parsed {
    /// Returns whether a mistake was found.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Returns the hosts that are not this one.
    pub fn remote_hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(|host| !host.is_local)
    }
}

/// Lists names, of many the first three.
pub(super) fn few(names: &[&str]) -> String {
    let quoted = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    match names {
        [first, second, third, rest @ ..] if rest.len() > 1 => {
            format!("{} and {} more", quoted(&[first, second, third]), rest.len())
        }
        names => quoted(names),
    }
}

/// Names of definitions that have pages, whether a run uses them or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileNames {
    /// File system definitions.
    pub fsds: Vec<String>,
    /// Workloads on them.
    pub fwds: Vec<String>,
}

with_defaults! {
    /// A host definition; of none this machine.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Host {
        /// Label by which definitions name it.
        pub label: String = "localhost".to_owned(),
        /// Name or address; the label where none was given.
        pub system: String = "localhost".to_owned(),
        /// `rsh`, `ssh` or `vdbench`.
        pub shell: String = "rsh".to_owned(),
        /// User for the shell.
        pub user: Option<String> = None,
        /// Where the tool is installed there.
        pub folder: Option<String> = None,
        /// Processes.
        pub jvms: u32 = 1,
        /// They are more than one because of the largest rate, not because the user asked for them:
        /// how many storage definitions the host has.
        pub jvms_raised_for: Option<usize> = None,
        /// Address of this host as seen from there (`master=`).
        pub master: Option<String> = None,
        /// Mount commands.
        pub mounts: Vec<String> = Vec::new(),
        /// This host: `localhost`, or made so by `--all-hosts-local`.
        pub is_local: bool = true,
        /// Where it is defined.
        pub place: SourceRange = SourceRange::NONE,
    }
}

with_defaults! {
    /// General parameters.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Settings {
        /// After how many failed I/Os everything ends, and after how many seconds (`data_errors`).
        pub data_errors: Option<(u64, Option<u64>)> = None,
        /// Command for a failed I/O, or `remove_device` (`data_errors`).
        pub data_errors_command: Option<String> = None,
        /// Missing folders above anchors are made.
        pub create_anchors: bool = false,
        /// Contents of written data where a run says nothing else.
        pub contents: Contents = Contents::default(),
        /// Upper limits of the histogram's buckets, nanoseconds; empty is the default list.
        pub histogram_ns: Vec<u64> = Vec::new(),
        /// Which report files are written.
        pub report: ReportFiles = ReportFiles::default(),
        /// File that is watched for `end_rd` and `end_vdbench`.
        pub monitor: Option<String> = None,
        /// `messagescan=` as written.
        pub messagescan: Vec<String> = Vec::new(),
        /// `timeout=` as written.
        pub timeout: Vec<String> = Vec::new(),
        /// Commands around everything (`startcmd`, `endcmd`).
        pub commands: Vec<Command> = Vec::new(),
        /// How often all runs are repeated (`loop=`, `-l`).
        pub repeat: Repeat = Repeat::Once,
        /// The storage definitions of a workload form one volume.
        pub concatenate_sds: bool = false,
        /// `formatsds=yes` writes all files first, `no` writes none; `None` those missing or short.
        pub format_sds: Option<bool> = None,
        /// Transfer size of that writing, bytes.
        pub format_xfersize_bytes: Option<u32> = None,
        /// Ends everything when shares differ by more than so many percent.
        pub abort_failed_skew_pct: Option<f64> = None,
        /// I/Os per second and process above which a warning is due.
        pub ios_per_jvm: u64 = 100_000,
        /// Port for the hosts to report to.
        pub port: u16 = 5570,
        /// Data validation was asked for, by file or command line.
        pub validate: bool = false,
        /// Journaling was asked for, by file or command line.
        pub journal: bool = false,
        /// How it is done.
        pub journaling: Journaling = Journaling::default(),
    }
}

/// What the words of `journal=` and the letters of `-j` ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Journaling {
    /// Earlier journals are gone on with (`recover`, `r`).
    pub recovers: bool,
    /// And nothing runs after that (`only`, `o`).
    pub only_recovers: bool,
    /// Journals are not flushed before writes (`noflush`, `n`; `maponly`, `m`).
    pub is_unflushed: bool,
    /// What was written is not read first (`skip_read_all`, `s`).
    pub skips_reading: bool,
}

impl Journaling {
    /// Takes over the letters behind `-j`.
    pub(super) fn of_letters(letters: &str) -> Self {
        let has = |letter| letters.contains(letter);
        Journaling {
            recovers: has('r'),
            only_recovers: has('o'),
            is_unflushed: has('n') || has('m'),
            skips_reading: has('s'),
        }
    }

    /// Takes over a word of `journal=`.
    pub(super) fn take(&mut self, word: &str) {
        self.recovers |= "recover".starts_with(word);
        self.only_recovers |= word == "only";
        self.is_unflushed |= "noflush".starts_with(word) || word == "maponly";
        self.skips_reading |= "skip_read_all".starts_with(word);
    }
}

with_defaults! {
    /// Which report files are written (`report=`).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ReportFiles {
        /// One per host and storage definition.
        pub host_detail: bool = false,
        /// One per process and storage definition.
        pub slave_detail: bool = false,
        /// One per storage definition.
        pub sd_detail: bool = true,
        /// One per file system definition.
        pub fsd_detail: bool = true,
        /// `totals_optional.html` (`report_run_totals`).
        pub run_totals: bool = false,
    }
}

/// How often all runs are repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// Not at all.
    #[default]
    Once,
    /// So many times in all.
    Times(u64),
    /// As often as they begin within this time.
    For(
        /// Nanoseconds.
        u64,
    ),
    /// Until stopped.
    Forever,
}
