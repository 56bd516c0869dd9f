//! Sixty runs as people make them every day, of which none is spoiled: an alarm is a false one.

use anyhow::Result;

use super::Row;
use super::options::Options;
use super::program::{Program, path_text};

/// Alarms that may be.
const N_ALARMS_MAX: usize = 3;

/// What is run: name, and what makes it so.
const SHAPES: [(&str, &str); 10] = [
    ("random reads", "rw=randread\nbs=4k\niodepth=1"),
    ("random reads, depth 4", "rw=randread\nbs=4k\niodepth=4"),
    ("random reads, depth 16", "rw=randread\nbs=8k\niodepth=16"),
    ("random reads, two workers", "rw=randread\nbs=4k\niodepth=8\nnumjobs=2"),
    ("random writes", "rw=randwrite\nbs=4k\niodepth=4"),
    ("a mix", "rw=randrw\nrwmixread=70\nbs=8k\niodepth=8"),
    ("large reads", "rw=read\nbs=256k\niodepth=4"),
    ("large writes", "rw=write\nbs=128k\niodepth=2"),
    ("synchronous reads", "ioengine=psync\nrw=randread\nbs=4k\nnumjobs=2"),
    ("native AIO", "ioengine=libaio\nrw=randread\nbs=4k\niodepth=8"),
];

/// How much of it: closed, and open at rates that any disk carries.
const LOADS: [&str; 3] = ["", "rate_iops=100", "rate_iops=200\nrate_process=poisson"];

pub(crate) fn run(program: &Program, options: &Options) -> Result<Vec<Row>> {
    let file = options.folder()?.join("plimsoll-trust.data");
    let mut alarms = Vec::new();
    let mut n_runs = 0;
    for (name, shape) in SHAPES {
        for load in LOADS {
            for runtime_ms in [1000, 1500] {
                let job = format!(
                    "[e]\nfilename={}\nsize=256m\nioengine=io_uring\ndirect=1\ntime_based\n\
                     runtime={runtime_ms}ms\n{shape}\n{load}\n",
                    path_text(&file)?
                );
                let answer = program.run_job(&job, &[])?;
                n_runs += 1;
                let found = answer.alarms();
                if !found.is_empty() {
                    let load = load.replace('\n', " ");
                    println!("  alarm: {name} {load}: {}", found.join("; "));
                    alarms.push(name);
                }
            }
        }
    }
    std::fs::remove_file(&file)?;
    Ok(vec![Row::new(
        format!("{n_runs} everyday runs"),
        format!("{} with an alarm", alarms.len()),
        "at most 3",
        alarms.len() <= N_ALARMS_MAX,
    )])
}
