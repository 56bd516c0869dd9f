//! The null engine carries millions of I/Os per second: a load line below what was tried is the
//! generator's. Stopped at random, it must be right or say that it cannot tell.

use anyhow::{Context, Result};

use super::Row;
use super::options::Options;
use super::program::{Program, path_text};
use super::stops::stopping;

/// Highest rate that is tried.
const RATE_MAX: &str = "20000";

pub(crate) fn run(program: &Program, options: &Options) -> Result<Vec<Row>> {
    let job = program.file("null.fio", "[n]\nioengine=null\nsize=1g\nrw=randread\nbs=4k\n")?;
    let args = [
        "curve",
        path_text(&job)?,
        "--limit",
        "p90 < 50ms",
        "--rate-max",
        RATE_MAX,
        "--time",
        "1s",
        "--ramp",
        "100ms",
        "--points",
        "2",
    ];
    let quiet = program.answer(&args)?;
    let line = quiet.line().context("no load line without stops")?;
    let mut rows = Vec::new();
    for (idx, per_s) in [0.3, 0.7].into_iter().enumerate() {
        let seed = options.seed.wrapping_add(idx as u64);
        let answer = stopping(program.start(&args)?, per_s, seed)?;
        let near = answer.line().is_some_and(|it| (it / line - 1.0).abs() <= 0.2);
        rows.push(Row::new(
            format!("stopped for 0.4 s, {per_s} times a second"),
            format!("{} for {line:.0} without", answer.line_text()),
            "within 20 % of the run without, or exit 3",
            answer.cannot_tell() || near,
        ));
    }
    Ok(rows)
}
