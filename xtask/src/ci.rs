//! Every check of CI, in the order of their cost. Stops at the first that fails.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use crate::{deny, e2e, process, reference, tidy, unused, workspace};

/// A platform that is not Linux. The pure crates must build there.
const OTHER_PLATFORM: &str = "x86_64-pc-windows-gnu";

/// One check.
struct Stage {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<Verdict>,
}

/// What came out of a stage that did not fail.
enum Verdict {
    Passed,
    /// What the reader of the table should know beside it.
    PassedBut(String),
    /// This machine lacks something that is not ours to install.
    Skipped(&'static str),
}

const STAGES: [Stage; 10] = [
    Stage { name: "fmt", about: "the layout of the sources", run: fmt },
    Stage { name: "tidy", about: "the house rules", run: || passed(tidy::run()) },
    Stage { name: "deny", about: "what we may build from", run: licences },
    Stage { name: "unused", about: "dependencies in use", run: || passed(unused::check()) },
    Stage { name: "pure", about: "the pure crates build for Windows", run: pure },
    Stage { name: "clippy", about: "lints, none left", run: clippy },
    Stage { name: "reference", about: "pages made from code", run: || passed(reference::check()) },
    Stage { name: "fuzz", about: "the fuzz targets compile", run: fuzz },
    Stage { name: "test", about: "all tests", run: test },
    Stage { name: "e2e", about: "reports in a browser", run: browser },
];

/// Runs the named stages, or all. Prints each one's time, and ends with a table.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    if args == ["--list"] {
        for stage in &STAGES {
            println!("{:10} {}", stage.name, stage.about);
        }
        return Ok(());
    }
    if let Some(unknown) = args.iter().find(|arg| STAGES.iter().all(|stage| stage.name != **arg)) {
        bail!("no such stage: `{unknown}`; `cargo xtask ci --list` names them");
    }
    let mut rows = Vec::new();
    let mut failure = None;
    for stage in STAGES.iter().filter(|stage| args.is_empty() || args.contains(&stage.name)) {
        println!("\n=== {}: {}", stage.name, stage.about);
        let start = Instant::now();
        let outcome = (stage.run)();
        let elapsed = start.elapsed();
        let result = match &outcome {
            Ok(Verdict::Passed) => "passed".to_owned(),
            Ok(Verdict::PassedBut(what)) => format!("passed; {what}"),
            Ok(Verdict::Skipped(why)) => format!("skipped: {why}"),
            Err(_) => "FAILED".to_owned(),
        };
        println!("=== {}: {result} ({:.1} s)", stage.name, elapsed.as_secs_f64());
        rows.push((stage.name, elapsed, result));
        if let Err(error) = outcome {
            failure = Some(anyhow!("{error:#}\nrepeat with `cargo xtask ci {}`", stage.name));
            break;
        }
    }
    print_table(&rows);
    failure.map_or(Ok(()), Err)
}

fn print_table(rows: &[(&str, Duration, String)]) {
    println!("\n{:10} {:>8}  result", "stage", "time");
    for (name, elapsed, result) in rows {
        println!("{name:10} {:>6.1} s  {result}", elapsed.as_secs_f64());
    }
}

fn passed(result: Result<()>) -> Result<Verdict> {
    result.map(|()| Verdict::Passed)
}

fn licences() -> Result<Verdict> {
    Ok(deny::check()?.map_or(Verdict::Passed, |missing| Verdict::PassedBut(missing.to_owned())))
}

fn fmt() -> Result<Verdict> {
    process::run(&mut process::cargo(&["fmt", "--all", "--check"]))?;
    let fuzz = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"];
    passed(process::run(&mut process::cargo(&fuzz)))
}

fn clippy() -> Result<Verdict> {
    let args = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    passed(process::run(&mut process::cargo(&args)))
}

/// Runs all tests, and counts those that lacked something.
fn test() -> Result<Verdict> {
    let list = workspace::target_dir()?.join("skipped.txt");
    std::fs::create_dir_all(list.parent().expect("a file in the target folder"))?;
    std::fs::write(&list, "").with_context(|| list.display().to_string())?;
    let mut tests = process::cargo(&["test", "--workspace", "--locked", "--no-fail-fast"]);
    process::run(tests.env(testing::SKIPPED_LIST, &list))?;
    let skipped = std::fs::read_to_string(&list)?;
    print!("\n{skipped}");
    Ok(match skipped.lines().count() {
        0 => Verdict::Passed,
        n => Verdict::PassedBut(format!("{n} skipped for want of what is listed above")),
    })
}

/// Opens reports in a browser, where there is one.
fn browser() -> Result<Verdict> {
    match e2e::missing() {
        Some(what) => Ok(Verdict::Skipped(what)),
        None => passed(e2e::run()),
    }
}

/// Compiles the fuzz targets without libFuzzer itself, which would need a C++ compiler.
fn fuzz() -> Result<Verdict> {
    let args = ["check", "--manifest-path", "fuzz/Cargo.toml", "--no-default-features", "--locked"];
    let target_dir = workspace::target_dir()?.join("fuzz");
    passed(process::run(process::cargo(&args).env("CARGO_TARGET_DIR", target_dir)))
}

/// Builds the pure crates for a platform that is not Linux, without linking.
fn pure() -> Result<Verdict> {
    if !process::on_path("rustup") {
        return Ok(Verdict::Skipped("no rustup, which brings other platforms' libraries"));
    }
    let mut list = Command::new("rustup");
    let installed = process::output(list.args(["target", "list", "--installed"]))?;
    if !installed.lines().any(|target| target == OTHER_PLATFORM) {
        process::run(Command::new("rustup").args(["target", "add", OTHER_PLATFORM]))
            .context("the pure crates are checked for a platform that is not Linux")?;
    }
    let mut check = process::cargo(&["check", "--locked", "--target", OTHER_PLATFORM]);
    for name in tidy::pure_crates() {
        check.args(["-p", name]);
    }
    passed(process::run(&mut check))
}
