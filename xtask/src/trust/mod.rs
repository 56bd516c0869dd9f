//! `cargo xtask trust`: is the answer on a real host right, or does it say that it cannot tell?
//!
//! Runs the release build as users would, on the device and in the folder that the caller names,
//! with and without disturbances made on purpose, and prints what it saw beside what must hold.
//! docs/accuracy.md says how. Nothing here is a test of CI: it needs a machine that has nothing
//! else to do.

mod device;
mod everyday;
mod folder;
mod options;
mod program;
mod spoiled;
mod stopped;
mod stops;

use std::time::Instant;

use anyhow::{Result, bail};

use options::{Options, USAGE};
use program::Program;

/// What a group of checks saw.
pub(crate) struct Row {
    /// What was done.
    what: String,
    /// What came out.
    saw: String,
    /// What must.
    must: String,
    is_kept: bool,
}

impl Row {
    fn new(what: impl Into<String>, saw: impl Into<String>, must: &str, is_kept: bool) -> Row {
        Row { what: what.into(), saw: saw.into(), must: must.to_owned(), is_kept }
    }
}

/// A group of checks: its name, what it needs to run, and itself.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    run: fn(&Program, &Options) -> Result<Vec<Row>>,
}

/// All groups, in the order in which they run.
pub(crate) const GROUPS: [Group; 6] = [
    Group { name: "stopped", about: "the null engine, stopped at random", run: stopped::run },
    Group { name: "device", about: "five load lines of a device, and a run", run: device::run },
    Group { name: "beside", about: "`bench` in memory beside busy programs", run: folder::beside },
    Group { name: "folder", about: "`bench` of a folder, five times", run: folder::repeated },
    Group { name: "everyday", about: "60 everyday runs: false alarms", run: everyday::run },
    Group { name: "spoiled", about: "40 runs spoiled on purpose: those found", run: spoiled::run },
];

/// Runs the groups that are asked for.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    if args.iter().any(|arg| matches!(*arg, "--help" | "-h")) {
        print!("{USAGE}");
        for group in &GROUPS {
            println!("  {:<18} {}", group.name, group.about);
        }
        return Ok(());
    }
    let options = Options::parse(args)?;
    let program = Program::new(&options)?;
    let mut n_broken = 0;
    for group in GROUPS.iter().filter(|group| options.takes(group.name)) {
        let started = Instant::now();
        println!("{}: {}", group.name, group.about);
        match (group.run)(&program, &options) {
            Ok(rows) => {
                for row in &rows {
                    let word = if row.is_kept { "holds" } else { "BROKEN" };
                    println!("  {word:<6}  {}: {}   must: {}", row.what, row.saw, row.must);
                    n_broken += usize::from(!row.is_kept);
                }
            }
            Err(error) => {
                println!("  cannot run: {error:#}");
                n_broken += 1;
            }
        }
        println!("  took {:.0} s\n", started.elapsed().as_secs_f64());
    }
    if n_broken > 0 {
        bail!("{n_broken} of what must hold did not");
    }
    Ok(())
}
