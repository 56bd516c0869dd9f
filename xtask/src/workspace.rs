//! The workspace as cargo sees it: its root, its packages and what they depend on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process::{self, root};

/// A package of this workspace, from its manifest alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    /// The name in its manifest.
    pub(crate) name: String,
    /// The folder of its manifest, relative to the workspace root.
    pub(crate) dir: PathBuf,
    /// What it depends on, in any way: for the build, for tests, for a build script.
    pub(crate) dependencies: Vec<String>,
}

/// The whole graph of one lock file.
pub(crate) struct Graph(Value);

/// A package that others publish.
pub(crate) struct External {
    /// Name and version, as `name 1.2.3`.
    pub(crate) id: String,
    /// The licence expression of its manifest, empty when it has none.
    pub(crate) licence: String,
}

/// A dependency as the code of one of our packages names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Import {
    /// The name that `use` needs, which may differ from the package's.
    pub(crate) crate_name: String,
    /// Whether only tests may use it.
    pub(crate) dev_only: bool,
}

/// Reads the packages of this workspace, in the order of their names.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let metadata = metadata(&["--no-deps"])?;
    let mut packages = Vec::new();
    for package in array(&metadata, "packages") {
        let manifest = Path::new(text(package, "manifest_path"));
        let dir = manifest.parent().context("a manifest lies in a folder")?;
        packages.push(Package {
            name: text(package, "name").to_owned(),
            dir: dir.strip_prefix(root()).context("a member lies in the workspace")?.to_owned(),
            dependencies: array(package, "dependencies")
                .iter()
                .filter(|dependency| !is_for_tests(dependency))
                .map(|dependency| text(dependency, "name").to_owned())
                .collect(),
        });
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

/// Returns whether only tests use it: they may look at the product from above.
fn is_for_tests(dependency: &Value) -> bool {
    dependency["kind"] == "dev"
}

/// Returns the version of the product.
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the folder cargo builds into.
pub(crate) fn target_dir() -> Result<PathBuf> {
    Ok(PathBuf::from(text(&metadata(&["--no-deps"])?, "target_directory")))
}

/// A small test: what is built together with one has what tests need.
const SMALL_TEST: &str = "bucket";

/// Returns where cargo leaves the program, unoptimised.
pub(crate) fn program() -> Result<PathBuf> {
    Ok(target_dir()?.join("debug/plimsoll"))
}

/// Builds that program.
///
/// Cargo gives a shared dependency the features that all packages of a command ask for, those of
/// tests among them. Built alone the program would have fewer, and every crate would be compiled
/// twice: once for the program and once for the tests.
pub(crate) fn build_program() -> Result<()> {
    let targets = ["--workspace", "--bin", "plimsoll", "--test", SMALL_TEST];
    process::run(process::cargo(&["build", "--locked"]).args(targets))
}

impl Graph {
    /// Reads the graph that Cargo.lock describes, for all platforms.
    pub(crate) fn read() -> Result<Self> {
        Ok(Self(metadata(&["--locked"])?))
    }

    /// Returns the packages that do not belong to this workspace.
    pub(crate) fn externals(&self) -> Vec<External> {
        array(&self.0, "packages")
            .iter()
            .filter(|package| !package["source"].is_null())
            .map(|package| External {
                id: format!("{} {}", text(package, "name"), text(package, "version")),
                licence: text(package, "license").to_owned(),
            })
            .collect()
    }

    /// Returns what a package of this workspace may import.
    pub(crate) fn imports(&self, package: &str) -> Vec<Import> {
        let packages = array(&self.0, "packages");
        let Some(id) = packages.iter().find(|p| text(p, "name") == package) else {
            return Vec::new();
        };
        array(&self.0["resolve"], "nodes")
            .iter()
            .filter(|node| node["id"] == id["id"])
            .flat_map(|node| array(node, "deps"))
            .map(|dep| Import {
                crate_name: text(dep, "name").to_owned(),
                dev_only: array(dep, "dep_kinds").iter().all(|kind| kind["kind"] == "dev"),
            })
            .collect()
    }
}

/// Returns what `cargo metadata` says.
pub(crate) fn metadata(args: &[&str]) -> Result<Value> {
    let mut command = process::cargo(&["metadata", "--format-version", "1"]);
    let json = process::output(command.args(args))?;
    serde_json::from_str(&json).context("cargo metadata prints JSON")
}

/// Returns a text of an object, empty if there is none.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Returns a list of an object, empty if there is none.
pub(crate) fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}
