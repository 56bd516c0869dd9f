//! Small job files of our own, each with the plan that it comes to, or with what is wrong with it.
//!
//! They need no corpus. What is expected was worked out from fio's manual; the lines at the top of
//! a file say the rule. `NAME.expected` has the findings, one per line, and then the plan as one of
//! our own files.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dialects::LowerOptions;
use dialects::fio::parse_file;
use dialects::native;
use support::{FolderHost, MapHost, all_shown};

/// Variables of the environment that the files use.
const VARIABLES: &[(&str, &str)] = &[("SIZE", "8")];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fio-micro")
}

/// Returns the job files, in order.
fn files() -> Vec<String> {
    let mut names = testing::names_in(&folder());
    names.retain(|name| Path::new(name).extension().is_some_and(|it| it == "fio"));
    assert!(names.len() >= 39, "{names:?}");
    names
}

/// Returns what a file comes to, and whether it can run.
fn read(file: &str) -> (String, bool) {
    let host = FolderHost { path: folder(), host: MapHost::with(&[], VARIABLES) };
    let parsed = parse_file(file, &LowerOptions::default(), &host);
    let found = [&parsed.diagnostics, &parsed.refusals].map(|it| all_shown(it));
    let mut text: String =
        found.iter().filter(|it| !it.is_empty()).map(|it| format!("{it}\n")).collect();
    let is_plan = !parsed.has_errors() && parsed.refusals.is_empty();
    if is_plan {
        text.push_str(&native::write(&parsed.plan).text);
    }
    (text, is_plan)
}

#[test]
fn each_file_comes_to_what_is_expected() {
    let mut differences = Vec::new();
    for file in files() {
        let (text, is_plan) = read(&file);
        if is_plan == file.starts_with("mistake_") {
            differences.push(format!("{file} is taken: {is_plan}\n{text}"));
            continue;
        }
        let expected = folder().join(file.replace(".fio", ".expected"));
        if std::fs::read_to_string(&expected).ok().as_ref() != Some(&text) {
            differences.push(format!("{}:\n{text}", expected.display()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Mistakes that fio finds when it runs the jobs, not when it reads the file.
const FOUND_LATER: &[&str] = &["mistake_empty.fio", "mistake_engine.fio"];

#[test]
fn the_installed_fio_takes_and_refuses_the_same() {
    if !Path::new("/usr/bin/fio").exists() {
        return testing::skipped!("no /usr/bin/fio");
    }
    let mut differences = Vec::new();
    for file in files() {
        let mut command = Command::new("/usr/bin/fio");
        command.current_dir(folder()).envs(VARIABLES.iter().copied());
        let command = command.args(["--parse-only", &file]).stdin(Stdio::null());
        let output = command.output().expect("it runs");
        let is_taken = output.status.success();
        let said = String::from_utf8_lossy(&output.stderr);
        let is_fine = read(&file).1 || FOUND_LATER.contains(&&*file);
        if is_taken != is_fine {
            differences.push(format!("{file} is taken by fio: {is_taken}\n{said}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
