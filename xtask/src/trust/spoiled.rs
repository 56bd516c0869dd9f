//! Forty runs that do not measure what they seem to, spoiled on purpose: each must be found.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Row;
use super::options::Options;
use super::program::{Answer, Program, path_text};
use super::stops::{Busy, stopped_once};

/// Runs that must be found.
const N_REPORTED_MIN: usize = 36;

const CLOSED: &str = "rw=randread\nbs=4k\niodepth=4";
const OPEN: &str = "rw=randread\nbs=4k\niodepth=16\nrate_iops=500";

/// What was seen so far.
#[derive(Default)]
struct RunCounts {
    n_runs: usize,
    n_reported: usize,
}

impl RunCounts {
    fn take(&mut self, what: &str, answer: &Answer) {
        self.n_runs += 1;
        if answer.alarms().is_empty() {
            println!("  not found: {what}");
        } else {
            self.n_reported += 1;
        }
    }
}

pub(crate) fn run(program: &Program, options: &Options) -> Result<Vec<Row>> {
    let folder = options.folder()?;
    let mut seen = RunCounts::default();
    let file = folder.join("plimsoll-trust.data");
    let data = path_text(&file)?;
    // Laid out before anything is disturbed.
    program.run_job(&job(data, "rw=randread\nbs=4k"), &[])?;
    busy_host(program, data, &mut seen)?;
    stopped(program, data, &mut seen)?;
    caches(program, folder, data, options, &mut seen)?;
    overload(program, data, &mut seen)?;
    std::fs::remove_file(&file)?;
    virtual_volumes(program, &mut seen)?;
    let RunCounts { n_runs, n_reported } = seen;
    Ok(vec![Row::new(
        format!("{n_runs} spoiled runs"),
        format!("{n_reported} found"),
        "at least 36 of 40",
        n_reported >= N_REPORTED_MIN,
    )])
}

fn job(file: &str, more: &str) -> String {
    format!(
        "[s]\nfilename={file}\nsize=256m\nioengine=io_uring\ndirect=1\ntime_based\n\
         runtime=1500ms\n{more}\n"
    )
}

/// Eight runs beside programs that keep all processors busy.
fn busy_host(program: &Program, data: &str, seen: &mut RunCounts) -> Result<()> {
    let busy = Busy::start()?;
    for more in ["", "ioengine=libaio", "ioengine=psync\niodepth=1", "numjobs=2"] {
        for load in [CLOSED, OPEN] {
            let answer = program.run_job(&job(data, &format!("{load}\n{more}")), &[])?;
            seen.take("a busy host", &answer);
        }
    }
    drop(busy);
    Ok(())
}

/// Eight runs that were stopped once.
fn stopped(program: &Program, data: &str, seen: &mut RunCounts) -> Result<()> {
    for load in [CLOSED, OPEN] {
        let path = program.file("stopped.fio", &job(data, load))?;
        for (after_ms, length_ms) in [(500, 100), (700, 200), (400, 400), (900, 300)] {
            let child = program.start(&["run", path_text(&path)?])?;
            let (after, length) =
                (Duration::from_millis(after_ms), Duration::from_millis(length_ms));
            let answer = stopped_once(child, after, length)?;
            seen.take(&format!("stopped for {length_ms} ms"), &answer);
        }
    }
    Ok(())
}

/// Four in the page cache, four on sparse files, two in memory.
fn caches(
    program: &Program,
    folder: &Path,
    data: &str,
    options: &Options,
    seen: &mut RunCounts,
) -> Result<()> {
    for more in ["iodepth=1", "iodepth=8", "ioengine=psync", "rw=randwrite"] {
        let text = job(data, &format!("rw=randread\nbs=4k\n{more}\ndirect=0"));
        seen.take("the page cache", &program.run_job(&text, &[])?);
    }
    let sparse = folder.join("plimsoll-trust.sparse");
    let holes = std::fs::File::create(&sparse).context("cannot make a sparse file")?;
    holes.set_len(256 << 20)?;
    for more in ["iodepth=1", "iodepth=8", "ioengine=psync", "rw=read\nbs=64k"] {
        let text = job(path_text(&sparse)?, &format!("rw=randread\nbs=4k\n{more}"));
        seen.take("a sparse file", &program.run_job(&text, &[])?);
    }
    std::fs::remove_file(&sparse)?;
    let memory = options.memory.join("plimsoll-trust.data");
    for load in [CLOSED, OPEN] {
        let text = job(path_text(&memory)?, load).replace("size=256m", "size=64m");
        seen.take("a file in memory", &program.run_job(&text, &[])?);
    }
    std::fs::remove_file(&memory)?;
    Ok(())
}

/// Four that are offered more than is carried.
fn overload(program: &Program, data: &str, seen: &mut RunCounts) -> Result<()> {
    for (rate, depth) in [("2000000", 4), ("3000000", 16), ("1000000", 1), ("5000000", 32)] {
        let text = format!("rw=randread\nbs=4k\niodepth={depth}\nrate_iops={rate}\nruntime=3\n");
        seen.take("overload", &program.run_job(&job(data, &text), &[])?);
    }
    Ok(())
}

/// Eight emulated volumes that change in mid-run, and two whose cache answers.
fn virtual_volumes(program: &Program, seen: &mut RunCounts) -> Result<()> {
    let design = |disk: &str, cache: &str| {
        format!("[[volume]]\nmount = \"/v\"\ndisk = \"{disk}\"\ncache = \"{cache}\"\n")
    };
    let fast = program.file("p30.toml", &design("P30", "None"))?;
    let slow = program.file("p20.toml", &design("P20", "None"))?;
    let text = |load: &str| {
        let load = format!("rw=randread\nbs=4k\n{load}");
        format!("[v]\nfilename=/v/f\nsize=64g\ntime_based\nruntime=80\n{load}\n")
    };
    for load in
        ["iodepth=32", "iodepth=64\nbs=64k", "iodepth=64\nrate_iops=4000", "rw=randrw\niodepth=32"]
    {
        for at_s in [30, 50] {
            let then = format!("{at_s}s={}", path_text(&slow)?);
            let more = ["--on", path_text(&fast)?, "--virtual", "--then", &then];
            let answer = program.run_job(&text(load), &more)?;
            seen.take("a volume that changes", &answer);
        }
    }
    let cached = "[vm]\nuncached = { iops = 25600, throughput = \"600MB/s\" }\n\
                  cached = { iops = 77000, throughput = \"600MB/s\" }\n\
                  cache = \"400GiB\"\n";
    let cached = format!("{cached}\n{}", design("P30", "ReadOnly"));
    let cached = program.file("cached.toml", &cached)?;
    for size in ["1g", "8g"] {
        let text = text("iodepth=16").replace("size=64g", &format!("size={size}"));
        let more = ["--on", path_text(&cached)?, "--virtual"];
        seen.take("a cache that answers", &program.run_job(&text, &more)?);
    }
    Ok(())
}
