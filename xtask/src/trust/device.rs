//! Load lines of a fast device: they must agree, and with what a run carries at that latency.

use anyhow::{Context, Result, ensure};

use super::Row;
use super::options::Options;
use super::program::{Program, path_text};

const N_TIMES: usize = 5;

/// Largest ratio of two lines.
pub(crate) const SPREAD_MAX: f64 = 1.3;

/// Ratio of plain runs from which on the device is what is unsteady, and no line may be expected.
const UNSTEADY: f64 = 1.1;

pub(crate) fn run(program: &Program, options: &Options) -> Result<Vec<Row>> {
    let device = options.device.as_ref().context("`--device DEV` names a device to read")?;
    ensure!(device.exists(), "there is no `{}`", device.display());
    let device = path_text(device)?;
    let args = [
        "curve",
        device,
        "--limit",
        "p50 < 300us",
        "--time",
        "1s",
        "--ramp",
        "200ms",
        "--points",
        "0",
    ];
    let mut lines = Vec::new();
    let mut said = Vec::new();
    // What plain runs carry before, between and after them says how steady the device is.
    let mut carried = vec![carried_by_runs(program, device)?];
    for _ in 0..N_TIMES {
        let answer = program.answer(&args)?;
        said.push(answer.line_text());
        lines.extend(answer.line().filter(|_| !answer.cannot_tell()));
        carried.push(carried_by_runs(program, device)?);
    }
    let (low, high) = range(&lines);
    let (least, most) = range(&carried);
    let has_all = lines.len() == N_TIMES || most >= least * UNSTEADY;
    let of_runs = format!("runs between them carry {least:.0} to {most:.0}");
    Ok(vec![
        Row::new(
            "five load lines at p50 < 300us",
            format!("{}; {of_runs}", said.join(", ")),
            "within 30 % of each other; \"cannot tell\" only where runs differ by a tenth",
            has_all && high <= low * SPREAD_MAX,
        ),
        Row::new(
            "beside `run`",
            format!("{low:.0} at least; {of_runs} at p50 < 300us"),
            "at least half of it",
            lines.is_empty() || low >= most / 2.0,
        ),
    ])
}

/// Returns the most that runs of several depths carry within the limit.
fn carried_by_runs(program: &Program, device: &str) -> Result<f64> {
    let mut carried = 0.0_f64;
    for depth in [4, 16, 64] {
        let job = format!(
            "[d]\nfilename={device}\nioengine=io_uring\ndirect=1\nrw=randread\nbs=4k\n\
             iodepth={depth}\ntime_based\nruntime=2\n"
        );
        let answer = program.run_job(&job, &[])?;
        let read = &answer.record["jobs"][0]["dirs"]["read"];
        let n_ios = read["n_ios"].as_f64().context("no reads")?;
        let p50_ns = read["lat"]["p50_ns"].as_f64().context("no latency")?;
        let runtime_s = answer.record["jobs"][0]["runtime_ns"].as_f64().context("a time")? / 1e9;
        if p50_ns < 300e3 {
            carried = carried.max(n_ios / runtime_s);
        }
    }
    Ok(carried)
}

/// Returns the smallest and the largest; 0 where there is none.
pub(crate) fn range(lines: &[f64]) -> (f64, f64) {
    let low = lines.iter().copied().fold(f64::INFINITY, f64::min);
    (if low.is_finite() { low } else { 0.0 }, lines.iter().copied().fold(0.0, f64::max))
}
