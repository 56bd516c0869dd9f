//! A user's own tables: a folder with the layout of the built-in ones.

use std::fs;
use std::path::Path;

use ::catalog::{Catalog, EDITIONS};

use crate::exit::Failure;

/// Most mistakes that are shown.
const MISTAKES_MAX: usize = 20;

/// Returns the built-in catalogue, with the tables of a folder on top if one is given.
pub(crate) fn load(dir: Option<&Path>) -> Result<Catalog, Failure> {
    let Some(dir) = dir else { return Ok(Catalog::default()) };
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
        return Err(failure.hint("`plimsoll catalog import FILE --write DIR` makes such a folder"));
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
    let text = fs::read_to_string(&full).map_err(|error| {
        Failure::wrong_use(format!("cannot read `{}`: {error}", full.display()))
    })?;
    tables.push((path.to_owned(), text));
    Ok(())
}
