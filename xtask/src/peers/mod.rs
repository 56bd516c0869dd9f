//! Side by side with others: the same job files by our tool, by fio, and by loops that do nothing
//! else; and Vdbench's files beside job files, both by our tool. `docs/performance.md` holds the
//! table and how to repeat it.
//!
//! Both sides run pinned to one core, in turn, so that what disturbs one disturbs the other; what
//! counts is the median of the ratios of pairs.

mod device;
mod options;
mod plot;
mod rows;
mod table;
mod tool;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{process, workspace};
use device::State;
use options::Options;
use rows::{Measure, Peer, ROWS, Row};
use table::Line;
use tool::Bench;

/// Seconds of a run that is judged by its memory, and with `--long`.
const MEMORY_SECONDS: [u32; 2] = [10, 60];

/// Runs the command with its options.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    if args == ["--help"] {
        print!("{}", options::USAGE);
        return Ok(());
    }
    let options = Options::parse(args)?;
    for needed in ["fio", "taskset"] {
        ensure!(process::on_path(needed), "`{needed}` is not on PATH");
    }
    let folder = workspace::target_dir()?.join("peers");
    fs::create_dir_all(&folder)?;
    let target = match &options.target {
        Some(target) => target.clone(),
        None => device::default_target(&folder)?,
    };
    let bench = Bench {
        plimsoll: built(&["-p", "plimsoll"], "plimsoll")?,
        bare_loop: built(&["-p", "engine", "--example", "bare_loop"], "examples/bare_loop")?,
        target,
        seconds: options.seconds,
        core: options.core,
        files: options.files.clone().unwrap_or_else(|| folder.clone()),
        folder,
        mdtest: options.mdtest.clone(),
        n_files: 0,
    };
    if options.plot {
        return plot::run(&bench);
    }
    let mut lines = Vec::new();
    println!("{}", table::heading());
    for state in device::states(&bench.target, options.zram_bytes) {
        device::prepare(&bench.target, state, options.zram_bytes)?;
        for row in &ROWS {
            let is_asked = options.rows.is_empty() || options.rows.iter().any(|r| r == row.name);
            // What reads no device needs no second round.
            let is_new_to_it = row.uses_device || state != State::Filled;
            // A target that was named is read only, unless it is set up for us.
            let may_write = options.target.is_none() || options.zram_bytes.is_some();
            if !(is_asked && is_new_to_it) {
                continue;
            }
            if matches!(row.peer, Peer::Mdtest(_)) && options.mdtest.is_none() {
                println!("{}: left out; `--mdtest PROGRAM` names it", row.name);
                continue;
            }
            if row.writes && !may_write {
                println!("{}: left out, as it writes; `--setup-zram SIZE` allows it", row.name);
                continue;
            }
            measure(&bench, row, state, &options, &mut lines)
                .with_context(|| format!("row `{}`", row.name))?;
        }
    }
    if options.write {
        table::write(&lines, &bench, &options)?;
    }
    let n_missed = lines.iter().filter(|line| !line.is_met()).count();
    println!("{} of {} targets met", lines.len() - n_missed, lines.len());
    Ok(())
}

/// Runs the pairs of a row, prints its line and keeps it.
fn measure(
    bench: &Bench,
    row: &'static Row,
    state: State,
    options: &Options,
    lines: &mut Vec<Line>,
) -> Result<()> {
    let is_memory = matches!(row.measure, Measure::PeakBytesAbove(_));
    let rounds = match (is_memory, options.long) {
        (false, _) => vec![options.seconds],
        (true, false) => vec![MEMORY_SECONDS[0]],
        (true, true) => MEMORY_SECONDS.to_vec(),
    };
    for seconds in rounds {
        let bench = bench.of_row(row, seconds);
        let n_pairs = if is_memory { 1 } else { options.n_pairs };
        let mut pairs = Vec::with_capacity(n_pairs);
        for _ in 0..n_pairs {
            let peer = bench.run_peer(row)?.value(row.measure);
            let ours = bench.run_ours(row)?.value(row.measure);
            pairs.push((ours, peer));
        }
        let line = Line { row, state, seconds, pairs };
        println!("{}", line.text());
        lines.push(line);
    }
    Ok(())
}

/// Builds a program for release and returns its path.
fn built(args: &[&str], name: &str) -> Result<PathBuf> {
    process::run(process::cargo(&["build", "--release", "--quiet"]).args(args))?;
    Ok(workspace::target_dir()?.join("release").join(name))
}

/// Returns the first line that a program prints, such as its version.
fn first_line(program: &str, args: &[&str]) -> Result<String> {
    let text = process::output(Command::new(program).args(args))?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}
