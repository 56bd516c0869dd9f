//! How a parameter file is to be read, and what a command line changes in it.

/// How strictly files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What was plainly meant is read as meant, with a warning where Vdbench reads it otherwise;
    /// what would fail only during the run is found now.
    #[default]
    Kind,
    /// Accepts, rejects and expands as Vdbench 5.04.07.
    Compat,
}

/// What `-c` does to the formats that run definitions ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatOverride {
    /// `-co`: only formats.
    Only,
    /// `-cy`: formats before every run.
    Yes,
    /// `-cn`: no format at all.
    No,
}

/// How a parameter file is to be read, and what changes in it without editing it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// How strictly.
    pub mode: Mode,
    /// `name=value`: what `$name` and `!name` stand for.
    pub substitutions: Vec<(String, String)>,
    /// The text after `+`: added to every run definition of one line.
    pub rd_additions: String,
    /// `-e`: elapsed time of every run, seconds.
    pub elapsed_s: Option<u64>,
    /// `-i`: interval of every run, seconds.
    pub interval_s: Option<u64>,
    /// `-w`: warmup of every run, seconds.
    pub warmup_s: Option<u64>,
    /// `-co`, `-cy`, `-cn`.
    pub format: Option<FormatOverride>,
    /// `-c`: what is left of earlier runs is removed first.
    pub clean_first: bool,
    /// `-m`: processes on every host.
    pub jvms: Option<u32>,
    /// `-r`: the first run definition; those before it are left out.
    pub restart_rd: Option<String>,
    /// `-v`: data validation, with its letters (`r`, `w`, `t`, `2`).
    pub validate: Option<String>,
    /// `-j`: journaling, with its letters (`r`, `o`, `n`, `m`, `i`, `s`, `2`, `t`).
    pub journal: Option<String>,
    /// `--remap A=B`: path prefixes and what replaces them in `lun=` and `anchor=`.
    pub remap: Vec<(String, String)>,
    /// `--set KEY=VALUE`: as if written last in every definition that has the key.
    pub set: Vec<(String, String)>,
    /// `--all-hosts-local`: whatever its `system=`, every host is this one.
    pub all_hosts_local: bool,
}

impl Options {
    /// Returns options for reading as Vdbench does.
    pub fn compat() -> Self {
        Options { mode: Mode::Compat, ..Options::default() }
    }

    /// Returns whether what was plainly meant is read so.
    pub fn is_kind(&self) -> bool {
        self.mode == Mode::Kind
    }
}
