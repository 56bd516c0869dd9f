//! A user's own tables: a folder with the layout of the built-in ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::catalog::{Catalog, EDITIONS};
use units::system_text;

use crate::exit::Failure;
use crate::limited::{self, TABLE_BYTES_MAX};

/// Most mistakes that are shown.
const MISTAKES_MAX: usize = 20;

/// What makes a folder of tables.
const MAKE: &str = "`plimsoll catalog import FILE --write DIR` makes such a folder";

/// Tables of the user's own: the argument of every command that looks something up.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct CatalogArgs {
    /// Folder with tables of your own, which take precedence over the built-in ones.
    #[arg(long, value_name = "DIR")]
    pub(super) catalog: Option<PathBuf>,
}

impl CatalogArgs {
    /// Reads the catalogue: the built-in one, with the tables of the folder on top if one is named.
    pub(super) fn load(&self) -> Result<Arc<Catalog>, Failure> {
        let built_in = || Ok(Catalog::built_in().clone());
        self.catalog.as_deref().map_or_else(built_in, |dir| with_tables(dir).map(Arc::new))
    }
}

/// Returns the built-in catalogue with the tables of a folder on top.
fn with_tables(dir: &Path) -> Result<Catalog, Failure> {
    if !dir.is_dir() {
        let what = if dir.exists() { "no folder" } else { "not there" };
        let failure = Failure::wrong_use(format!("the catalog `{}` is {what}", dir.display()));
        return Err(failure.hint(MAKE));
    }
    let mut tables = Vec::new();
    put_table(dir, "sources.csv", &mut tables)?;
    for info in EDITIONS {
        let Ok(entries) = fs::read_dir(dir.join(info.name)) else { continue };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| Path::new(name).extension().is_some_and(|ext| ext == "csv"))
            .collect();
        names.sort();
        for name in names {
            put_table(dir, &format!("{}/{name}", info.name), &mut tables)?;
        }
    }
    if tables.is_empty() {
        let failure = Failure::wrong_use(format!("no tables in `{}`", dir.display()));
        return Err(failure.hint(MAKE));
    }
    Catalog::with(tables).map_err(|mistakes| {
        let text = format!("the tables of `{}` cannot be used", dir.display());
        let shown = mistakes.iter().take(MISTAKES_MAX);
        shown.fold(Failure::wrong_use(text), |failure, mistake| failure.hint(mistake.to_string()))
    })
}

fn put_table(dir: &Path, path: &str, tables: &mut Vec<(String, String)>) -> Result<(), Failure> {
    let full = dir.join(path);
    if path == "sources.csv" && !full.exists() {
        return Ok(());
    }
    let text = limited::read_text(&full, TABLE_BYTES_MAX).map_err(|error| {
        Failure::wrong_use(format!("cannot read `{}`: {}", full.display(), system_text(&error)))
    })?;
    tables.push((path.to_owned(), text));
    Ok(())
}
