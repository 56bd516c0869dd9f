//! Looking entries up: by our name, by a dialect's name, by likeness.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::entry::Param;
use super::{buffers, engines, foreign, load, logs, native, nfs, process, report};
use super::{target, time, verify, workload, zones};

/// The tables, in the order of the reference.
static TABLES: &[&[Param]] = &[
    time::GENERAL,
    target::PARAMS,
    workload::PARAMS,
    engines::PARAMS,
    nfs::PARAMS,
    foreign::PARAMS,
    load::PARAMS,
    time::PARAMS,
    buffers::PARAMS,
    verify::PARAMS,
    process::PARAMS,
    process::ERRORS,
    report::PARAMS,
    logs::PARAMS,
    logs::REPLAY,
    zones::PARAMS,
    native::PARAMS,
];

/// Our names of the parameters that shape the plan rather than one job: the dialect applies them,
/// and their `lower` changes nothing.
pub const STRUCTURAL: &[&str] = &["barrier", "include", "name", "new_group"];

/// What must be lowered before the rest, first to last, in groups of equal rank: units before
/// sizes, the engine before its switches, a family's main switch before its details, and of the
/// three ways to give block sizes the most detailed one last, because it wins whatever the order.
const EARLY: &[&[&str]] = &[
    &["kb_base", "unit_base"],
    &["engine"],
    &["access", "block_size_bytes", "zone_mode", "dedupe_mode", "verify", "exit_all"],
    &["block_size_range"],
    &["block_size_split"],
];

/// Iterates over all parameters, by chapter.
pub fn all() -> impl Iterator<Item = &'static Param> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// Finds a parameter by our name.
pub fn find(name: &str) -> Option<&'static Param> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Param>> = OnceLock::new();
    INDEX.get_or_init(|| all().map(|param| (param.name, param)).collect()).get(name).copied()
}

/// Finds a parameter by fio's name or alias; case counts, as in fio.
pub fn find_fio(name: &str) -> Option<&'static Param> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Param>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        all().flat_map(|param| param.fio.iter().map(move |&name| (name, param))).collect()
    });
    index.get(name).copied()
}

/// Returns when a parameter is lowered: smaller ranks first. Equal ranks keep the written order, so
/// the later one wins.
pub fn apply_rank(param: &Param) -> u32 {
    let early = EARLY.iter().position(|names| names.contains(&param.name));
    early.unwrap_or(EARLY.len()) as u32
}

/// Whose names a reader accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Ours, as in plans of our own.
    Ours,
    /// fio's, with their aliases.
    Fio,
    /// Both, as `explain` takes them.
    Both,
}

impl Names {
    /// Returns the names of a parameter that are among these, fio's first: those are typed most.
    pub(super) fn of(self, param: &'static Param) -> impl Iterator<Item = &'static str> {
        let (has_ours, has_fio) = (self != Names::Fio, self != Names::Ours);
        let ours =
            Some(param.name).filter(|name| has_ours && !(has_fio && param.fio.contains(name)));
        let fio = if has_fio { param.fio } else { &[] };
        fio.iter().copied().chain(ours)
    }
}

/// Returns the names, among those that the reader at hand accepts, that look most like `name`,
/// nearest first; none when nothing is near. Names that differ in case, dashes and underscores only
/// are nearest, and `name` itself is not among them.
pub fn suggest(name: &str, accepted: Names) -> Vec<&'static str> {
    /// A name, what counts of it, and whose it is.
    type KnownName = (&'static str, String, Names);
    static NAMES: OnceLock<Vec<KnownName>> = OnceLock::new();
    let of = |whose: Names| {
        let names = all().flat_map(move |param| whose.of(param));
        names.map(move |name| (name, units::letters(name), whose))
    };
    let known = NAMES.get_or_init(|| of(Names::Fio).chain(of(Names::Ours)).collect());
    let fits = |whose: Names| accepted == Names::Both || accepted == whose;
    let fitting = known.iter().filter(|(known, _, whose)| fits(*whose) && *known != name);
    units::nearest_of(&units::letters(name), fitting.map(|(name, letters, _)| (*name, letters)))
}
