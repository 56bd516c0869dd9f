//! `bench` of a folder: beside programs that keep the host busy, and five times in a row.

use std::path::Path;

use anyhow::{Result, ensure};

use super::Row;
use super::device::{SPREAD_MAX, range};
use super::options::Options;
use super::program::{Answer, Program, path_text};
use super::stops::Busy;

const N_TIMES: usize = 5;

/// Runs the suite that is run unless another is named, on small files and in short steps.
fn bench(program: &Program, folder: &Path) -> Result<Answer> {
    let sizes = "size=64m,time=1s";
    let args = ["bench", path_text(folder)?, "--set", sizes, "--scale", "0.3"];
    program.answer(&args)
}

/// Beside busy programs, in memory.
pub(crate) fn beside(program: &Program, options: &Options) -> Result<Vec<Row>> {
    let memory = &options.memory;
    ensure!(memory.is_dir(), "`--memory`: `{}` is not a folder", memory.display());
    let quiet = bench(program, memory)?;
    let busy = Busy::start()?;
    let beside = bench(program, memory)?;
    drop(busy);
    let is_near = beside.line().zip(quiet.line()).is_some_and(|(it, quiet)| it >= quiet / 2.0);
    Ok(vec![Row::new(
        "a line in memory beside two busy programs per processor",
        format!("{} for {} without", beside.line_text(), quiet.line_text()),
        "at least half of the line without, or exit 3",
        beside.cannot_tell() || is_near,
    )])
}

/// Five times in a row.
pub(crate) fn repeated(program: &Program, options: &Options) -> Result<Vec<Row>> {
    let folder = options.folder()?;
    let mut answers = Vec::new();
    for _ in 0..N_TIMES {
        answers.push(bench(program, folder)?);
    }
    let n_open = answers.iter().filter(|answer| answer.cannot_tell()).count();
    let lines: Vec<f64> =
        answers.iter().filter(|it| !it.cannot_tell()).filter_map(Answer::line).collect();
    let (low, high) = range(&lines);
    let all: Vec<String> = answers.iter().map(Answer::line_text).collect();
    let has_all = lines.len() + n_open == N_TIMES;
    Ok(vec![Row::new(
        "five lines of the folder",
        all.join(", "),
        "answers within 30 % of each other; the others say that they cannot tell",
        has_all && high <= low * SPREAD_MAX,
    )])
}
