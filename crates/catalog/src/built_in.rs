//! The tables that the program carries, and a user's own on top of them.

use std::sync::{Arc, OnceLock};

use crate::edition::Edition;
use crate::error::CatalogError;
use crate::table::{self, Sources, TableFile};

/// An edition's name and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditionInfo {
    /// Its name.
    pub name: &'static str,
    /// Another name for it.
    pub alias: Option<&'static str>,
    /// The edition that answers what this one does not say.
    pub based_on: Option<&'static str>,
    /// What it is.
    pub title: &'static str,
}

const fn info(
    name: &'static str,
    alias: Option<&'static str>,
    based_on: Option<&'static str>,
    title: &'static str,
) -> EditionInfo {
    EditionInfo { name, alias, based_on, title }
}

/// All editions.
pub const EDITIONS: [EditionInfo; 5] = [
    info("current", Some("today"), None, "the newest figure of every source"),
    info("2018", None, None, "what the Premium Storage design guide prints, errata marked"),
    info("2019", None, Some("current"), "Azure NetApp Files as benchmarked in 2019"),
    info("2023", Some("eda-module"), Some("current"), "Azure NetApp Files in the EDA module"),
    info("2024", Some("benchmarks-linux"), Some("current"), "Azure NetApp Files on Linux, 2024"),
];

impl EditionInfo {
    /// Says whether this is its name, or the other name for it.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

macro_rules! tables {
    ($($path:literal)*) => {
        [$(TableFile { path: $path, text: include_str!(concat!("../data/", $path)) }),*]
    };
}

const SOURCES: TableFile<'_> =
    TableFile { path: "sources.csv", text: include_str!("../data/sources.csv") };

/// The tables, those whose figures count first coming first: an interface's own answers, then
/// published pages, then maps made from them.
const FILES: [TableFile<'_>; 26] = tables!(
    "current/disks-azure.csv"
    "current/disks-azure-types.csv"
    "current/disks-azure-burst.csv"
    "current/disks-azure-free.csv"
    "current/disks-aws.csv"
    "current/disks-gcp.csv"
    "current/disks-gcp-machine.csv"
    "current/vms-azure-sku.csv"
    "current/vms-azure-series.csv"
    "current/vms-azure-memory.csv"
    "current/vms-azure-map.csv"
    "current/vms-azure-map-vcpus.csv"
    "current/vms-aws.csv"
    "current/network-azure-netapp.csv"
    "current/prices-storage.csv"
    "current/hourly-azure.csv"
    "2018/disks-azure.csv"
    "2018/disks-azure-unit.csv"
    "2018/vms-azure.csv"
    "2018/vms-azure-cached.csv"
    "2018/prices-guide.csv"
    "2019/network-azure-netapp.csv"
    "2023/network-azure-netapp.csv"
    "2023/disks-aws.csv"
    "2024/network-azure-netapp.csv"
    "2024/disks-aws.csv"
);

/// Returns an edition of the built-in catalogue; `None` for a name that is none.
pub fn edition(name: &str) -> Option<&'static Edition> {
    Catalog::built_in().edition(name)
}

/// The built-in tables, and perhaps a user's own, which count before them.
#[derive(Debug, Default)]
pub struct Catalog {
    user: Vec<(String, String)>,
    editions: [OnceLock<Edition>; EDITIONS.len()],
}

/// Two are the same if a user put the same tables on top.
impl PartialEq for Catalog {
    fn eq(&self, other: &Self) -> bool {
        self.user == other.user
    }
}

impl Catalog {
    /// Returns the catalogue that the program carries.
    pub fn built_in() -> &'static Arc<Catalog> {
        static BUILT_IN: OnceLock<Arc<Catalog>> = OnceLock::new();
        BUILT_IN.get_or_init(Arc::default)
    }

    /// Makes a catalogue with a user's tables on top: pairs of path (`sources.csv`,
    /// `current/vms-mine.csv`) and text. Their figures count before the built-in ones, which stay
    /// visible behind them. Returns all mistakes if there are any.
    pub fn with(tables: Vec<(String, String)>) -> Result<Catalog, Vec<CatalogError>> {
        let catalog = Catalog { user: tables, ..Catalog::default() };
        let mut errors = Vec::new();
        for (path, _) in &catalog.user {
            let folder = path.split_once('/').map(|(folder, _)| folder);
            let is_known = match folder {
                Some(folder) => EDITIONS.iter().any(|info| info.name == folder),
                None => path == SOURCES.path,
            };
            if !is_known {
                let what = "a table lies in the folder of an edition";
                errors.push(CatalogError::new(path, 1, what));
            }
        }
        for (idx, info) in EDITIONS.iter().enumerate() {
            let edition = catalog.read(info, &mut errors);
            let _ = catalog.editions[idx].set(edition);
        }
        errors.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        errors.dedup();
        if errors.is_empty() { Ok(catalog) } else { Err(errors) }
    }

    /// Returns the tables that a user put on top, as [`Catalog::with`] took them.
    pub fn own_tables(&self) -> &[(String, String)] {
        &self.user
    }

    /// Returns what tells a user's tables from others: FNV-1a (64 bit, hexadecimal) of their paths
    /// and texts. `None` where there are none.
    pub fn own_hash(&self) -> Option<String> {
        let parts = self.user.iter().flat_map(|(path, text)| [path, text]);
        // A byte that no text has ends each part.
        let bytes = parts.flat_map(|part| part.bytes().chain([u8::MAX]));
        (!self.user.is_empty()).then(|| format!("{:016x}", units::fnv1a(bytes)))
    }

    /// Returns an edition; `None` for a name that is none.
    pub fn edition(&self, name: &str) -> Option<&Edition> {
        let name = name.trim().to_lowercase();
        let idx = EDITIONS.iter().position(|info| info.is_called(&name))?;
        let edition = self.editions[idx].get_or_init(|| {
            let mut errors = Vec::new();
            let edition = self.read(&EDITIONS[idx], &mut errors);
            debug_assert!(errors.is_empty(), "{errors:?}");
            edition
        });
        Some(edition)
    }

    fn read(&self, info: &'static EditionInfo, errors: &mut Vec<CatalogError>) -> Edition {
        let user = self.user.iter().map(|(path, text)| TableFile { path, text });
        let mut sources: Sources = table::sources(SOURCES, errors);
        for file in user.clone().filter(|file| file.path == SOURCES.path) {
            sources.extend(table::sources(file, errors));
        }
        let user_tables = user.filter(|file| file.path.contains('/'));
        let files: Vec<TableFile<'_>> = user_tables.chain(FILES).collect();
        Edition::read(info, &files, &sources, errors)
    }
}
