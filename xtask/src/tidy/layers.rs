//! The layers: which crate may depend on which, and which crates are pure.

use crate::workspace::Package;

use super::Violation;

/// A crate's place in the layout.
pub(super) struct Layer {
    row: u8,
    name: &'static str,
    /// No I/O, no clock, no environment, on any platform.
    is_pure: bool,
}

/// The layout of ARCHITECTURE.md. A crate may depend only on crates of rows above its own, that
/// is, of smaller rows.
const LAYERS: [Layer; 26] = [
    Layer { row: 0, name: "units", is_pure: true },
    Layer { row: 0, name: "hist", is_pure: true },
    Layer { row: 0, name: "testing", is_pure: false },
    Layer { row: 1, name: "plan", is_pure: true },
    Layer { row: 1, name: "record", is_pure: true },
    Layer { row: 1, name: "catalog", is_pure: true },
    Layer { row: 2, name: "needs", is_pure: true },
    Layer { row: 2, name: "pattern", is_pure: true },
    Layer { row: 2, name: "volume", is_pure: true },
    Layer { row: 2, name: "analysis", is_pure: true },
    Layer { row: 2, name: "export", is_pure: true },
    Layer { row: 3, name: "dialects", is_pure: true },
    Layer { row: 3, name: "bench", is_pure: true },
    Layer { row: 3, name: "design", is_pure: true },
    Layer { row: 3, name: "provision", is_pure: true },
    Layer { row: 3, name: "worker", is_pure: true },
    Layer { row: 3, name: "engine", is_pure: false },
    Layer { row: 3, name: "store", is_pure: false },
    Layer { row: 4, name: "capture", is_pure: true },
    Layer { row: 4, name: "runner", is_pure: false },
    Layer { row: 4, name: "serve", is_pure: false },
    Layer { row: 5, name: "fleet", is_pure: false },
    Layer { row: 5, name: "report", is_pure: true },
    Layer { row: 6, name: "live", is_pure: false },
    Layer { row: 7, name: "plimsoll", is_pure: false },
    Layer { row: 9, name: "xtask", is_pure: false },
];

/// Libraries that pure crates take: none of them does I/O or reads a clock or the environment as
/// these crates use it.
const PURE_LIBRARIES: [&str; 16] = [
    "askama",
    "crc",
    "crc32c",
    "csv",
    "md-5",
    "miniz_oxide",
    "roxmltree",
    "serde",
    "serde_json",
    "sha1",
    "sha2",
    "sha3",
    "strsim",
    "thiserror",
    "toml",
    "xxhash-rust",
];

/// Returns the names of the pure crates, in the order of their rows.
pub(crate) fn pure_crates() -> impl Iterator<Item = &'static str> {
    LAYERS.iter().filter(|layer| layer.is_pure).map(|layer| layer.name)
}

/// Returns every crate with its row.
pub(super) fn rows() -> impl Iterator<Item = (u8, &'static str)> {
    LAYERS.iter().map(|layer| (layer.row, layer.name))
}

/// Returns whether a crate is pure.
pub(super) fn is_pure(package: &str) -> bool {
    pure_crates().any(|name| name == package)
}

/// Checks every dependency between crates of the workspace.
pub(super) fn check(packages: &[Package]) -> Vec<Violation> {
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Violation> {
    let name = &package.name;
    let violation =
        |message: String| Violation { path: package.dir.join("Cargo.toml"), line: 1, message };
    let Some(layer) = layer(name) else {
        return vec![violation(format!(
            "crate `{name}` has no row: add it to LAYERS in xtask/src/tidy/layers.rs and to the \
             code map in ARCHITECTURE.md"
        ))];
    };
    let mut violations = Vec::new();
    for dependency in &package.dependencies {
        if let Some(below) = self::layer(dependency).filter(|below| below.row >= layer.row) {
            violations.push(violation(format!(
                "`{name}` (row {}) depends on `{dependency}` (row {}): a crate imports only from \
                 rows above its own; move the shared part up",
                layer.row, below.row
            )));
        }
        let is_ours = self::layer(dependency).is_some();
        if layer.is_pure && !is_ours && !PURE_LIBRARIES.contains(&dependency.as_str()) {
            violations.push(violation(format!(
                "`{name}` is pure, and nothing says that `{dependency}` is: where it reaches the \
                 outside world, let the caller do that and pass the result in; else add it to \
                 PURE_LIBRARIES in xtask/src/tidy/layers.rs"
            )));
        }
    }
    violations
}

fn layer(name: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, dependencies: &[&str], expected: &[&str]) {
        let package = Package {
            name: name.to_owned(),
            dir: format!("crates/{name}").into(),
            dependencies: dependencies.iter().map(|&dependency| dependency.to_owned()).collect(),
        };
        let found = check_package(&package);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (violation, part) in found.iter().zip(expected) {
            assert!(violation.message.contains(part), "{violation}");
        }
    }

    #[test]
    fn a_crate_imports_from_rows_above() {
        check("worker", &["hist", "plan", "pattern"], &[]);
        check("plimsoll", &["runner", "units", "libc"], &[]);
    }

    #[test]
    fn the_same_row_and_rows_below_are_refused() {
        check("worker", &["engine"], &["`worker` (row 3) depends on `engine` (row 3)"]);
        check("hist", &["units"], &["depends on `units` (row 0)"]);
        check("plan", &["units", "runner", "dialects"], &["`runner`", "`dialects`"]);
    }

    #[test]
    fn nothing_depends_on_the_toolbox() {
        check("plimsoll", &["xtask"], &["depends on `xtask` (row 9)"]);
    }

    #[test]
    fn a_pure_crate_takes_libraries_that_were_decided_on() {
        check("pattern", &["plan", "crc", "thiserror"], &[]);
        check(
            "pattern",
            &["plan", "libc"],
            &["`pattern` is pure, and nothing says that `libc` is"],
        );
        check("report", &["tokio", "not-yet-written"], &["`tokio`", "`not-yet-written`"]);
        check("engine", &["plan", "libc"], &[]);
    }

    /// A library that no pure crate takes any more is decided on anew when one does.
    #[test]
    fn every_pure_library_is_taken() {
        let packages = crate::workspace::packages().expect("cargo knows its workspace");
        let pure = || packages.iter().filter(|package| is_pure(&package.name));
        for library in PURE_LIBRARIES {
            let is_taken = pure().any(|it| it.dependencies.iter().any(|name| name == library));
            assert!(is_taken, "no pure crate takes `{library}`");
        }
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        check("elsewhere", &[], &["crate `elsewhere` has no row"]);
    }
}
