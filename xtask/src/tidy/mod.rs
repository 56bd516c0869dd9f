//! The house rules that neither the compiler nor clippy knows.
//!
//! Each rule is a function from the tree to violations, and each violation says what to do
//! instead. The rules read files and cargo's metadata; they build nothing, so that all of them
//! together take well under a second. They also run as the test `the_tree_is_tidy`.

mod calls;
mod circles;
mod documents;
mod layers;
mod links;
mod messages;
mod scanner;
mod sizes;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Package};
use crate::{process, proto};
pub(crate) use layers::pure_crates;
pub(crate) use messages::messages;
use scanner::Source;

/// Folders that hold nothing of ours: build outputs, scratch files, version control.
const SKIPPED_DIRS: [&str; 6] = [".git", "target", "dist", "scratch", "corpus", "artifacts"];

/// Files in which words are checked, besides Rust sources.
const TEXT_EXTENSIONS: [&str; 5] = ["md", "toml", "sh", "yml", "yaml"];

/// A breach of one rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    /// Relative to the workspace root.
    path: PathBuf,
    /// From 1.
    line: usize,
    /// What is wrong, and what to do instead.
    message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

/// A text file of the tree.
struct File {
    /// Relative to the workspace root.
    path: PathBuf,
    text: String,
    /// The package it belongs to, by name. Empty outside of every package.
    package: String,
    /// Present for Rust sources.
    source: Option<Source>,
    /// Whether all of it exists only in tests.
    is_test: bool,
}

impl File {
    fn new(path: &Path, text: String, packages: &[Package]) -> Self {
        let package = packages.iter().find(|package| path.starts_with(&package.dir));
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let in_test_dir =
            path.iter().any(|part| part == "tests" || part == "benches" || part == "examples");
        let package = package.map_or_else(String::new, |package| package.name.clone());
        Self {
            path: path.to_owned(),
            source: is_rust.then(|| Source::new(&text)),
            is_test: in_test_dir
                || package == "testing"
                || path.file_stem().is_some_and(|stem| stem == "tests"),
            package,
            text,
        }
    }

    fn violation(&self, line: usize, message: impl Into<String>) -> Violation {
        Violation { path: self.path.clone(), line, message: message.into() }
    }

    /// Returns whether the code at an offset exists only in tests.
    fn in_test(&self, offset: usize) -> bool {
        self.is_test || self.source.as_ref().is_some_and(|source| source.in_test(offset))
    }
}

/// Checks the tree and prints what it found. Fails when there is anything.
pub(crate) fn run() -> Result<()> {
    let violations = violations()?;
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        1 => bail!("tidy: 1 violation"),
        n => bail!("tidy: {n} violations"),
    }
}

/// Checks every rule over the whole tree and returns what it found, in the order of the paths.
fn violations() -> Result<Vec<Violation>> {
    let packages = workspace::packages()?;
    let files = read_tree(&packages)?;
    let mut violations = layers::check(&packages);
    for file in &files {
        violations.extend(sizes::check(file));
        violations.extend(words::check(file));
        violations.extend(calls::check(file));
    }
    violations.extend(circles::check(&files));
    violations.extend(documents::check(&packages, &files));
    violations.extend(links::check(&files));
    let path = PathBuf::from(proto::MADE);
    let made = proto::check_tree()?.map(|message| Violation { path, line: 1, message });
    violations.extend(made);
    violations.sort();
    Ok(violations)
}

/// Reads every text file of the tree, in the order of their paths.
fn read_tree(packages: &[Package]) -> Result<Vec<File>> {
    let mut paths = Vec::new();
    collect(process::root(), &mut paths)?;
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let relative = path.strip_prefix(process::root()).context("a path below the root")?;
        files.push(File::new(relative, text, packages));
    }
    mark_test_modules(&mut files);
    Ok(files)
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        std::fs::read_dir(dir).with_context(|| format!("cannot list `{}`", dir.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !SKIPPED_DIRS.contains(&name.as_ref()) {
                collect(&path, paths)?;
            }
        } else if is_text(&path) && !path.ends_with(proto::MADE) {
            paths.push(path);
        }
    }
    Ok(())
}

fn is_text(path: &Path) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) => extension == "rs" || TEXT_EXTENSIONS.contains(&extension),
        None => path.ends_with(".ci/run"),
    }
}

/// Marks files that a `#[cfg(test)] mod name;` elsewhere brings in.
fn mark_test_modules(files: &mut [File]) {
    let mut test_paths = Vec::new();
    for file in &*files {
        let Some(source) = &file.source else { continue };
        let dir = match file.path.file_name().and_then(|name| name.to_str()) {
            Some("lib.rs" | "main.rs" | "mod.rs") => file.path.with_file_name(""),
            _ => file.path.with_extension(""),
        };
        for module in source.test_modules() {
            test_paths.push(dir.join(format!("{module}.rs")));
            test_paths.push(dir.join(module).join("mod.rs"));
        }
    }
    for file in files {
        file.is_test |= test_paths.contains(&file.path);
    }
}
