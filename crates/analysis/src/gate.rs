//! A check of a measurement, and what it said.

use std::fmt;

/// What came of one check of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Which check.
    pub name: GateName,
    /// What it said.
    pub verdict: GateVerdict,
    /// One sentence with the figures that decided.
    pub reason: String,
    /// The figures, for programs.
    pub figures: Vec<Figure>,
    /// What to do about it, where that depends on more than the check and its verdict.
    pub advice: Option<&'static str>,
}

/// What a check can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateVerdict {
    /// The measurement keeps the condition.
    Passed,
    /// It does not: its numbers do not mean what they seem to.
    Failed,
    /// Something to judge it by is missing. Never a silent pass.
    Unknown,
}

impl GateVerdict {
    /// Returns how much it matters where several are reported as one: more for what is worse.
    pub(crate) fn rank(self) -> u8 {
        match self {
            GateVerdict::Passed => 0,
            GateVerdict::Unknown => 1,
            GateVerdict::Failed => 2,
        }
    }
}

/// A figure of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Name with its unit last, such as `achieved_share`.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

/// The checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GateName {
    /// Rates and latencies had settled and kept their level.
    Steady,
    /// The level was not borrowed from burst credits.
    Credits,
    /// The level was not that of a write-back cache that fills.
    WriteCache,
    /// Little's law holds between what was in flight, the rate and the service time.
    Little,
    /// The depth asked for was kept.
    QueueDepth,
    /// The rate asked for was achieved.
    Offered,
    /// The load generator itself was not the limit.
    Generator,
    /// Others did not use the disks.
    SharedDisk,
    /// More was touched than caches hold.
    Footprint,
    /// The host's own page cache did not answer.
    PageCache,
    /// Operations did not fail.
    Errors,
    /// Socket buffers hold what a network path carries.
    SocketBuffers,
    /// No mount option makes writes look durable that are not.
    MountOptions,
}

impl GateName {
    /// All checks, in the order in which a summary lists them.
    pub const ALL: [GateName; 13] = units::all_of!(
        GateName:
        Errors, Steady, Credits, WriteCache, Offered, QueueDepth, Generator, SharedDisk, Little,
        Footprint, PageCache, SocketBuffers, MountOptions,
    );

    /// Returns the stable short name for scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            GateName::Steady => "steady",
            GateName::Credits => "credits",
            GateName::WriteCache => "write-cache",
            GateName::SharedDisk => "shared-disk",
            GateName::Little => "littles-law",
            GateName::QueueDepth => "queue-depth",
            GateName::Offered => "offered",
            GateName::Generator => "generator",
            GateName::Footprint => "footprint",
            GateName::PageCache => "page-cache",
            GateName::Errors => "errors",
            GateName::SocketBuffers => "socket-buffers",
            GateName::MountOptions => "mount-options",
        }
    }

    /// Returns what a row of a suite says where this is what spoils it; none of a check that is
    /// shown with the run.
    pub fn row_verdict(self) -> Option<&'static str> {
        match self {
            GateName::Errors => Some("errors"),
            GateName::Generator => Some("client-bound"),
            GateName::SharedDisk => Some("disk shared"),
            GateName::Little => Some("Little's law"),
            GateName::PageCache => Some("page cache"),
            GateName::QueueDepth => Some("depth missed"),
            GateName::Offered => Some("rate missed"),
            GateName::Credits => Some("credits?"),
            GateName::WriteCache => Some("cache fills"),
            GateName::Steady => Some("not steady"),
            GateName::Footprint | GateName::SocketBuffers | GateName::MountOptions => None,
        }
    }

    /// Says of the name of a check what [`GateName::invalidates`] says; unknown ones do not.
    pub fn invalidates_by_name(name: &str) -> bool {
        GateName::named(name).is_some_and(GateName::invalidates)
    }

    /// Returns whether a run that fails the check did not measure what was asked for. The others
    /// limit what follows from its figures.
    pub fn invalidates(self) -> bool {
        match self {
            GateName::Errors
            | GateName::Offered
            | GateName::Generator
            | GateName::SharedDisk
            | GateName::Little => true,
            GateName::Steady
            | GateName::Credits
            | GateName::WriteCache
            | GateName::QueueDepth
            | GateName::Footprint
            | GateName::PageCache
            | GateName::SocketBuffers
            | GateName::MountOptions => false,
        }
    }

    /// Returns whether what fails the check can only have made the storage look slower: it was the
    /// host, or others. A load that was carried nevertheless is carried.
    pub fn only_slows(self) -> bool {
        match self {
            GateName::Generator | GateName::SharedDisk => true,
            GateName::Errors
            | GateName::Steady
            | GateName::Credits
            | GateName::WriteCache
            | GateName::Offered
            | GateName::QueueDepth
            | GateName::Little
            | GateName::Footprint
            | GateName::PageCache
            | GateName::SocketBuffers
            | GateName::MountOptions => false,
        }
    }

    /// Says of the name of a check what [`GateName::only_slows`] says; unknown ones do not.
    pub fn only_slows_by_name(name: &str) -> bool {
        GateName::named(name).is_some_and(GateName::only_slows)
    }

    /// Returns whether what fails the check made the figures, and not the storage: the host, its
    /// clocks, others, or its page cache.
    pub fn hides_storage(self) -> bool {
        match self {
            GateName::Generator | GateName::SharedDisk | GateName::Little | GateName::PageCache => {
                true
            }
            GateName::Errors
            | GateName::Steady
            | GateName::Credits
            | GateName::WriteCache
            | GateName::Offered
            | GateName::QueueDepth
            | GateName::Footprint
            | GateName::SocketBuffers
            | GateName::MountOptions => false,
        }
    }

    /// Returns the check of a short name; `None` of an unknown one.
    pub fn named(name: &str) -> Option<GateName> {
        GateName::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

impl fmt::Display for GateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Gate {
    pub(crate) fn passed(name: GateName, reason: impl Into<String>) -> Self {
        Self::new(name, GateVerdict::Passed, reason)
    }

    pub(crate) fn failed(name: GateName, reason: impl Into<String>) -> Self {
        Self::new(name, GateVerdict::Failed, reason)
    }

    pub(crate) fn unknown(name: GateName, reason: impl Into<String>) -> Self {
        Self::new(name, GateVerdict::Unknown, reason)
    }

    /// Passed or failed.
    pub(crate) fn judged(name: GateName, is_kept: bool, reason: impl Into<String>) -> Self {
        let verdict = if is_kept { GateVerdict::Passed } else { GateVerdict::Failed };
        Self::new(name, verdict, reason)
    }

    pub(crate) fn new(name: GateName, verdict: GateVerdict, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        assert!(!reason.is_empty(), "the check `{name}` is {verdict:?} without a reason");
        Gate { name, verdict, reason, figures: Vec::new(), advice: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn advised(self, advice: &'static str) -> Self {
        Gate { advice: Some(advice), ..self }
    }

    /// Adds figures; those that are not finite are left out.
    #[must_use]
    pub(crate) fn with(mut self, figures: &[(&'static str, f64)]) -> Self {
        for &(name, value) in figures.iter().filter(|(_, value)| value.is_finite()) {
            assert!(
                self.figure(name).is_none(),
                "the check `{}` has two figures `{name}`",
                self.name
            );
            self.figures.push(Figure { name, value });
        }
        self
    }

    /// Returns a figure by its name.
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }
}
