//! Looking entries up: by our name, by a dialect's name, by likeness.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::entry::{Category, Field, Param};
use super::{buffers, engines, foreign, load, logs, native, nfs, process, report};
use super::{target, time, verify, workload, zones};

/// Parameters that belong together.
struct Table {
    /// The chapter of all of them.
    category: Category,
    /// They say which files, which bytes of them, or whether a job works on them at all, so that
    /// one that is left out has the job write elsewhere. Else they say how.
    says_where: bool,
    params: &'static [Param],
}

const fn places(category: Category, params: &'static [Param]) -> Table {
    Table { category, says_where: true, params }
}

const fn manners(category: Category, params: &'static [Param]) -> Table {
    Table { category, says_where: false, params }
}

/// The tables, in the order of the reference.
static TABLES: [Table; 26] = [
    manners(Category::General, time::GENERAL),
    places(Category::Target, target::PLACES),
    places(Category::Target, native::TARGET_PLACES),
    manners(Category::Target, target::PARAMS),
    manners(Category::Target, native::TARGET),
    places(Category::Workload, workload::PLACES),
    places(Category::Workload, native::WORKLOAD_PLACES),
    manners(Category::Workload, workload::PARAMS),
    manners(Category::Workload, native::WORKLOAD),
    manners(Category::Engine, engines::PARAMS),
    manners(Category::Engine, nfs::PARAMS),
    manners(Category::Engine, foreign::PARAMS),
    manners(Category::Load, load::PARAMS),
    manners(Category::Load, native::LOAD),
    manners(Category::Time, time::PARAMS),
    manners(Category::Buffers, buffers::PARAMS),
    manners(Category::Buffers, native::BUFFERS),
    places(Category::Verify, verify::PLACES),
    manners(Category::Verify, verify::PARAMS),
    manners(Category::Process, process::PARAMS),
    manners(Category::Errors, process::ERRORS),
    manners(Category::Errors, native::ERRORS),
    manners(Category::Report, report::PARAMS),
    manners(Category::Logs, logs::PARAMS),
    places(Category::Replay, logs::REPLAY),
    places(Category::Zones, zones::PARAMS),
];

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
    TABLES.iter().flat_map(|table| table.params)
}

impl Param {
    /// Returns the chapter that it stands in.
    pub fn category(&self) -> Category {
        self.table().category
    }

    /// Returns fio's name of it, by which most people know it; ours where fio has none.
    pub fn fio_name(&self) -> &'static str {
        self.fio.first().copied().unwrap_or(self.name)
    }

    /// Returns whether its value tells which files or bytes a job touches, or whether it does:
    /// without it, a job would work elsewhere.
    pub fn says_where(&self) -> bool {
        self.table().says_where
    }

    /// Returns whether its value is that of this field, or of a part of it.
    pub fn says(&self, field: &Field) -> bool {
        self.field.is_some_and(|own| field.covers(&own))
    }

    fn table(&self) -> &'static Table {
        static INDEX: OnceLock<HashMap<&'static str, &'static Table>> = OnceLock::new();
        let of_table = |table: &'static Table| table.params.iter().map(move |it| (it.name, table));
        let index = INDEX.get_or_init(|| TABLES.iter().flat_map(of_table).collect());
        index.get(self.name).copied().expect("every entry stands in a table")
    }
}

impl Field {
    /// Iterates over the parameters that say it, or a part of it.
    pub fn params(self) -> impl Iterator<Item = &'static Param> {
        static INDEX: OnceLock<HashMap<&'static str, Vec<&'static Param>>> = OnceLock::new();
        let index = INDEX.get_or_init(|| {
            let mut index: HashMap<_, Vec<_>> = HashMap::new();
            for param in all() {
                if let Some(field) = param.field {
                    index.entry(field.path).or_default().push(param);
                }
            }
            index
        });
        let of_path = index.get(self.path).into_iter().flatten().copied();
        of_path.filter(move |param| param.says(&self))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that no entry has any more would be lowered with the rest, in silence.
    #[test]
    fn what_is_lowered_early_is_a_parameter_and_named_once() {
        let names: Vec<&str> = EARLY.iter().flat_map(|names| names.iter().copied()).collect();
        for (idx, name) in names.iter().enumerate() {
            assert!(find(name).is_some(), "`{name}` is no parameter");
            assert!(!names[..idx].contains(name), "`{name}` has two ranks");
        }
    }
}
