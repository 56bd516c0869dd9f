//! The catalogue: every edition of the tables that the program carries, and a user's own on top.

use std::sync::{Arc, OnceLock};

use crate::edition::Edition;
use crate::error::CatalogError;
use crate::packed::{EDITIONS, OwnTables, SOURCES, sources};
use crate::table::{self, Sources, TableFile, TableSchema};
use crate::{network, price};

/// Returns an edition of the built-in catalogue; `None` for a name that is none.
pub fn edition(name: &str) -> Option<&'static Edition> {
    Catalog::built_in().edition(name)
}

/// The built-in tables, and perhaps a user's own, which count before them.
#[derive(Debug, Default)]
pub struct Catalog {
    user: OwnTables,
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
        let catalog = Catalog { user: tables.into(), ..Catalog::default() };
        let mut errors = Vec::new();
        let sources = sources(&catalog.user, &mut errors);
        for (path, text) in catalog.user.iter().filter(|(path, _)| path != SOURCES.path) {
            let (folder, name) = path.split_once('/').unwrap_or(("", path));
            let is_known = EDITIONS.iter().any(|info| info.name == folder);
            match TableSchema::of(name).filter(|_| is_known) {
                Some(kind) => check(kind, TableFile { path, text }, &sources, &mut errors),
                None if is_known => errors.push(CatalogError::new(path, 1, TableSchema::EXPECTED)),
                None => {
                    let what = "a table lies in the folder of an edition";
                    errors.push(CatalogError::new(path, 1, what));
                }
            }
        }
        errors.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
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
            let edition = Edition::read(&EDITIONS[idx], &self.user, &mut errors);
            assert!(errors.is_empty(), "tables that were checked have mistakes: {errors:?}");
            edition
        });
        Some(edition)
    }
}

/// Reads a table for its mistakes.
fn check(
    kind: TableSchema,
    file: TableFile<'_>,
    sources: &Sources,
    errors: &mut Vec<CatalogError>,
) {
    match kind {
        TableSchema::Disks | TableSchema::Vms => drop(table::items(file, sources, errors)),
        TableSchema::Network => drop(network::facts(file, sources, errors)),
        TableSchema::Prices => drop(price::listed(file, sources, errors)),
        TableSchema::ByRegion => drop(price::by_region(file, sources, errors)),
        TableSchema::Sustained => drop(price::sustained(file, sources, errors)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::FILES;

    #[test]
    fn all_built_in_tables_read_without_a_mistake() {
        let mut errors = Vec::new();
        let sources = sources(&OwnTables::default(), &mut errors);
        for packed in FILES {
            let name = packed.path.split_once('/').map_or("", |(_, name)| name);
            let kind = TableSchema::of(name).expect("a known kind");
            let file = TableFile { path: packed.path, text: &packed.text() };
            check(kind, file, &sources, &mut errors);
        }
        assert!(errors.is_empty(), "{errors:#?}");
    }

    /// Tables come in through [`Catalog::with`], which finds their mistakes.
    #[test]
    fn unchecked_tables_are_not_read() {
        let unchecked = |path: &str| {
            let user = vec![(path.to_owned(), "name\n\"open\n".to_owned())];
            assert!(Catalog::with(user.clone()).is_err(), "{path}");
            Catalog { user: user.into(), ..Catalog::default() }
        };
        let read = |catalog: &Catalog| catalog.edition("current").map(|it| it.prices().len());
        let expected = "tables that were checked have mistakes";
        testing::check_wrong_calls(&[
            ("disks", expected, &|| _ = read(&unchecked("current/disks-mine.csv"))),
            ("prices", expected, &|| _ = read(&unchecked("current/prices-mine.csv"))),
        ]);
        assert!(read(&Catalog::default()).is_some_and(|n_prices| n_prices > 0));
    }
}
