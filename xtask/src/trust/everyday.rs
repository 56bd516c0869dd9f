//! Sixty runs as people make them every day, of which none is spoiled: an alarm is a false one,
//! unless the hypervisor took the processor meanwhile.

use std::fs;

use anyhow::{Context, Result};

use super::Row;
use super::options::Options;
use super::program::{Program, path_text};

/// False alarms that may be.
const N_ALARMS_MAX: usize = 3;

/// Runs that must have had the host for themselves, or nothing can be said of them.
const N_UNDISTURBED_MIN: usize = 30;

/// Share of the processors' time from which on the hypervisor disturbed a run.
const STOLEN_SHARE_MIN: f64 = 0.01;

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
    let (mut n_false, mut n_true, mut n_undisturbed) = (0, 0, 0);
    for (name, shape) in SHAPES {
        for load in LOADS {
            for runtime_ms in [1000, 1500] {
                let job = format!(
                    "[e]\nfilename={}\nsize=256m\nioengine=io_uring\ndirect=1\ntime_based\n\
                     runtime={runtime_ms}ms\n{shape}\n{load}\n",
                    path_text(&file)?
                );
                let before = Ticks::now()?;
                let answer = program.run_job(&job, &[])?;
                let stolen_share = Ticks::now()?.stolen_since(&before);
                let is_disturbed = stolen_share >= STOLEN_SHARE_MIN;
                n_undisturbed += usize::from(!is_disturbed);
                let found = answer.alarms();
                if !found.is_empty() {
                    *(if is_disturbed { &mut n_true } else { &mut n_false }) += 1;
                    let load = load.replace('\n', " ");
                    let stolen_pct = stolen_share * 100.0;
                    println!(
                        "  alarm: {name} {load} ({stolen_pct:.1} % stolen): {}",
                        found.join("; ")
                    );
                }
            }
        }
    }
    fs::remove_file(&file)?;
    Ok(vec![Row::new(
        format!("{n_undisturbed} everyday runs on a host of their own"),
        format!("{n_false} with an alarm; {n_true} more while the processor was stolen"),
        "at most 3, of 30 at least",
        n_false <= N_ALARMS_MAX && n_undisturbed >= N_UNDISTURBED_MIN,
    )])
}

/// Time of all processors since the start, by the kernel's own count in /proc/stat.
struct Ticks {
    total: u64,
    /// What the hypervisor gave to others.
    stolen: u64,
}

impl Ticks {
    fn now() -> Result<Ticks> {
        let text = fs::read_to_string("/proc/stat")?;
        let line = text.lines().next().context("/proc/stat is empty")?;
        let fields = line.split_whitespace().skip(1).map(str::parse);
        // Time of guests, behind the first eight, is in that of users.
        let fields: Vec<u64> = fields.take(8).collect::<Result<_, _>>()?;
        let stolen = *fields.get(7).context("/proc/stat does not say what is stolen")?;
        Ok(Ticks { total: fields.iter().sum(), stolen })
    }

    fn stolen_since(&self, before: &Ticks) -> f64 {
        (self.stolen - before.stolen) as f64 / (self.total - before.total).max(1) as f64
    }
}
