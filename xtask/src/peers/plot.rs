//! Proves by fio-plot that our JSON and logs are what its users' tools read.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::tool::{self, Bench};
use crate::process;

const JOB: &str = include_str!("jobs/plot.fio");

/// The depths that are run: a bar each.
const DEPTHS: [u32; 3] = [1, 4, 16];

/// What fio-plot is asked to draw: the name of the picture and the options that make it. One
/// picture over time has room for three axes.
const PICTURES: [(&str, &[&str]); 6] = [
    ("bars by depth", &["-l", "-n", "1", "-d", "1", "4", "16"]),
    ("bars by jobs", &["-N", "-d", "4", "-n", "1"]),
    ("histogram", &["-H", "-d", "4", "-n", "1"]),
    ("iops over time", &["-g", "-t", "iops", "-d", "1", "4", "16", "-n", "1"]),
    ("rates over time", &["-g", "-t", "bw", "iops", "lat", "-d", "4", "-n", "1"]),
    ("latencies over time", &["-g", "-t", "slat", "clat", "-d", "4", "-n", "1"]),
];

/// Runs a few depths as bench-fio does, and lets fio-plot draw each kind of picture.
pub(crate) fn run(bench: &Bench) -> Result<()> {
    ensure!(process::on_path("fio-plot"), "no fio-plot on PATH: `pip install fio-plot`");
    let input = bench.folder.join("plot").join("4k");
    if input.exists() {
        fs::remove_dir_all(&input)?;
    }
    fs::create_dir_all(&input)?;
    let job_path = input.join("plot.job");
    fs::write(&job_path, JOB)?;
    for depth in DEPTHS {
        record(bench, &input, &job_path, depth)?;
    }
    for (name, args) in PICTURES {
        let picture = input.join(format!("{}.png", name.replace(' ', "-")));
        let mut plot = Command::new("fio-plot");
        plot.arg("-i").arg(&input).args(["-T", "plimsoll", "-r", "randread"]).args(args);
        let text = process::output(plot.arg("-o").arg(&picture))?;
        let n_bytes = fs::metadata(&picture).map_or(0, |found| found.len());
        ensure!(n_bytes > 0, "fio-plot drew no {name}:\n{text}");
        println!("{name}: {} ({n_bytes} B)", picture.display());
    }
    Ok(())
}

/// Leaves the JSON and the logs of one depth under the names that fio-plot looks for.
fn record(bench: &Bench, input: &Path, job_path: &Path, depth: u32) -> Result<()> {
    let prefix = format!("randread-iodepth-{depth}-numjobs-1");
    let mut command = Command::new(&bench.plimsoll);
    command.args(["fio", "--output-format=json"]).arg(job_path);
    command.env("PEERS_PREFIX", input.join(&prefix)).env("PEERS_DEPTH", depth.to_string());
    let (text, _) = bench.run(&command).with_context(|| format!("depth {depth}"))?;
    fs::write(input.join(format!("{prefix}.json")), tool::parse_json(&text)?.to_string())?;
    Ok(())
}
