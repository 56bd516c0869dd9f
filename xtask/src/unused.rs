//! Dependencies that a manifest names and no code uses.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::{self, Graph};

/// Folders and files of a package in which code lies.
const CODE_PLACES: [&str; 5] = ["src", "tests", "benches", "examples", "build.rs"];

/// Checks every package of the workspace.
///
/// A dependency counts as used when a path in the package's sources starts with its name. This
/// misses one that only a comment names.
pub(crate) fn check() -> Result<()> {
    let graph = Graph::read()?;
    let mut n_unused = 0;
    for package in workspace::packages()? {
        let mut code = String::new();
        for place in CODE_PLACES {
            read_code(&process::root().join(&package.dir).join(place), &mut code)?;
        }
        for import in graph.imports(&package.name) {
            if !names(&code, &import.crate_name) {
                let section = if import.dev_only { "dev-dependencies" } else { "dependencies" };
                let manifest = package.dir.join("Cargo.toml");
                let manifest = manifest.display();
                println!("{manifest}: `{}` in [{section}] is not used", import.crate_name);
                n_unused += 1;
            }
        }
    }
    if n_unused > 0 {
        bail!("{n_unused} unused dependencies: remove them");
    }
    println!("every dependency is used");
    Ok(())
}

/// Returns whether code names a crate: as the first part of a path, or in a plain `use`.
fn names(code: &str, crate_name: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    code.match_indices(crate_name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + crate_name.len()..]);
        // A path may begin with `::`, where a module has the name of a crate.
        let before =
            before.strip_suffix("::").filter(|it| !it.ends_with(is_word)).unwrap_or(before);
        let starts_path = !before.ends_with(|c: char| is_word(c) || c == ':');
        let is_imported = before.ends_with("use ") && after.starts_with([';', ' ']);
        starts_path && (after.starts_with("::") || is_imported)
    })
}

fn read_code(path: &Path, code: &mut String) -> Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            read_code(&entry?.path(), code)?;
        }
    } else if path.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        code.push_str(&text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expected: bool) {
        assert_eq!(names(code, "plan"), expected, "{code}");
    }

    #[test]
    fn a_crate_is_used_by_path_or_import() {
        check("use plan::Job;", true);
        check("fn f(job: &plan::Job) {}", true);
        check("use plan as nouns;", true);
        check("let of = ::plan::Job::default();", true);
    }

    #[test]
    fn longer_words_and_inner_modules_are_something_else() {
        check("let plan = replan(plane); // the plan", false);
        check("replan::f(); plane::f()", false);
        check("use crate::plan;", false);
        check("let of = crate::plan::f();", false);
        check("", false);
    }
}
