//! Documents that must keep up with the code: crate headers, the code map, invariants, the lock
//! file.

use std::path::Path;

use crate::process;
use crate::workspace::Package;

use super::{File, Violation, layers, words};

/// Checks documents against the tree.
pub(super) fn check(packages: &[Package], files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for package in packages {
        violations.extend(check_header(package, files));
    }
    match files.iter().find(|file| file.path == Path::new("ARCHITECTURE.md")) {
        Some(file) => {
            violations.extend(check_code_map(file));
            violations.extend(check_invariants(file, files));
        }
        None => violations.push(Violation {
            path: "ARCHITECTURE.md".into(),
            line: 1,
            message: "missing: it holds the code map and the invariants".to_owned(),
        }),
    }
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let text = std::fs::read_to_string(process::root().join(lock)).unwrap_or_default();
        violations.extend(words::check_lock(lock, &text));
    }
    violations
}

/// A crate's root file starts with what the crate owns and never does.
fn check_header(package: &Package, files: &[File]) -> Option<Violation> {
    let roots = ["src/lib.rs", "src/main.rs"].map(|name| package.dir.join(name));
    let root = files.iter().find(|file| roots.contains(&file.path))?;
    (!root.text.starts_with("//! ")).then(|| {
        root.violation(1, "no header: say in `//!` what the crate owns, never does, and its tests")
    })
}

/// Every crate has its row in the table of the code map, and a paragraph with its invariant.
fn check_code_map(file: &File) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (row, name) in layers::rows() {
        let line = format!("| {row} | `{name}` |");
        if !file.text.lines().any(|it| it.starts_with(&line)) {
            let message = format!("crate `{name}`: no line `{line} ...` in the code map");
            violations.push(file.violation(1, message));
        }
        let head = format!("**`{name}`**");
        let paragraph = file.text.split("\n\n").find(|it| it.starts_with(&head));
        if !paragraph.is_some_and(|it| it.contains("*Invariant:*")) {
            let message = format!("crate `{name}`: no paragraph `{head} ... *Invariant:* ...`");
            violations.push(file.violation(1, message));
        }
    }
    violations
}

/// An invariant in ARCHITECTURE.md.
#[derive(Debug, PartialEq, Eq)]
struct Invariant {
    line: usize,
    /// Tests that guard it, as `crate::path::name`.
    tests: Vec<String>,
}

/// Every invariant names tests, and these exist.
fn check_invariants(file: &File, files: &[File]) -> Vec<Violation> {
    let invariants = invariants(&file.text);
    if invariants.is_empty() {
        let message = "no numbered list under the heading `Invariants`";
        return vec![file.violation(1, message)];
    }
    let mut violations = Vec::new();
    for invariant in invariants {
        if invariant.tests.is_empty() {
            let message = "an invariant that names no test: add \"Test: `crate::path::name`\"";
            violations.push(file.violation(invariant.line, message));
        }
        for test in &invariant.tests {
            if !test_exists(test, files) {
                let message = format!("test `{test}` does not exist");
                violations.push(file.violation(invariant.line, message));
            }
        }
    }
    violations
}

/// Reads the numbered list under the heading `Invariants`.
fn invariants(text: &str) -> Vec<Invariant> {
    let mut invariants: Vec<Invariant> = Vec::new();
    let mut in_section = false;
    let mut in_tests = false;
    for (line_idx, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            in_section = line.trim_start_matches('#').trim() == "Invariants";
            continue;
        }
        if !in_section {
            continue;
        }
        if line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok()) {
            invariants.push(Invariant { line: line_idx + 1, tests: Vec::new() });
            in_tests = false;
        }
        let Some(invariant) = invariants.last_mut() else { continue };
        let tests = if in_tests {
            line
        } else {
            let Some((_, rest)) = line.split_once("Test: ").or(line.split_once("Tests: ")) else {
                continue;
            };
            in_tests = true;
            rest
        };
        let quoted = tests.split('`').skip(1).step_by(2);
        invariant.tests.extend(quoted.filter(|name| name.contains("::")).map(str::to_owned));
    }
    invariants
}

/// Returns whether a test has this path: its crate, the modules of its file or the last of them,
/// and its name. Modules that only say that they hold tests do not count.
fn test_exists(path: &str, files: &[File]) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    let [package, modules @ .., name] = &parts[..] else { return false };
    let modules: Vec<&str> = modules.iter().copied().filter(|it| *it != "tests").collect();
    let in_modules = |file: &&File| file.package == *package && of_file(file).ends_with(&modules);
    files.iter().filter(in_modules).any(|file| {
        file.source.as_ref().is_some_and(|source| {
            source
                .functions()
                .iter()
                .any(|f| f.name == *name && (file.is_test || source.line_in_test(f.line)))
        })
    })
}

/// Returns the modules of a file by its path: `fleet/src/net/door.rs` has `net` and `door`.
fn of_file(file: &File) -> Vec<&str> {
    let path = file.path.with_extension("");
    let n_before = path.iter().take_while(|part| *part != "src" && *part != "tests").count();
    let parts = file.path.iter().skip(n_before + 1).filter_map(|part| part.to_str());
    let names = parts.map(|part| part.strip_suffix(".rs").unwrap_or(part));
    names.filter(|name| !matches!(*name, "mod" | "lib" | "main" | "tests" | "all")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invariants_are_a_numbered_list_with_tests() {
        let text = "\
# Map
1. Not an invariant.
## Invariants
1. One. Test: `hist::codec::round_trip`.
2. Two, on
   two lines. Tests: `worker::tests::a`,
   `worker::tests::b` (see `plan`).
3. Three has none, `hist::x` is only mentioned.
## After
4. Not an invariant either.
";
        let names = |line, tests: &[&str]| Invariant {
            line,
            tests: tests.iter().map(|&test| test.to_owned()).collect(),
        };
        let expected = [
            names(4, &["hist::codec::round_trip"]),
            names(5, &["worker::tests::a", "worker::tests::b"]),
            names(8, &[]),
        ];
        assert_eq!(invariants(text), expected);
    }

    #[test]
    fn every_crate_has_a_row_and_a_paragraph_with_an_invariant() {
        let map = |skipped: &str| -> String {
            let lines = layers::rows().map(|(row, name)| {
                let (row, word) = if name == skipped { (99, "..") } else { (row, "*Invariant:*") };
                format!("| {row} | `{name}` | .. |\n\n**`{name}`** is {word}\n\n")
            });
            lines.collect()
        };
        let check = |text: String| {
            let found = check_code_map(&File::new(Path::new("ARCHITECTURE.md"), text, &[]));
            found.into_iter().map(|it| it.message).collect::<Vec<_>>()
        };
        assert!(check(map("")).is_empty());
        assert_eq!(
            check(map("store")),
            [
                "crate `store`: no line `| 3 | `store` | ...` in the code map",
                "crate `store`: no paragraph `**`store`** ... *Invariant:* ...`"
            ]
        );
    }

    #[test]
    fn a_test_is_found_by_crate_modules_and_name() {
        let packages = [Package {
            name: "hist".to_owned(),
            dir: "crates/hist".into(),
            dependencies: Vec::new(),
        }];
        let text = "fn code() {}\n#[test]\nfn holds() {}\n".to_owned();
        let files = [File::new(Path::new("crates/hist/src/live.rs"), text, &packages)];
        let exists = |path| test_exists(path, &files);
        assert!(exists("hist::live::holds"));
        assert!(exists("hist::live::tests::holds"));
        assert!(exists("hist::holds"));
        for path in
            ["hist::live::code", "hist::live::gone", "hist::fio::holds", "plan::live::holds"]
        {
            assert!(!exists(path), "{path}");
        }
    }
}
