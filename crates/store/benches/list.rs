//! How long it takes to list 10,000 runs: the bound is 0.2 s, with an open store and without.
//!
//! `cargo bench -p store`. Each run has a plan of 2 KiB, a record of four jobs, and two minutes of
//! intervals, so that a list that read them would show.
#![expect(clippy::print_stdout, reason = "figures for people")]

use std::time::{Duration, Instant};

use record::{Interval, IntervalLatency, JobRecord, PerDirRecord, Record};
use store::{Begin, Filter, RunsSelector, Store};

const N_RUNS: usize = 10_000;
const N_ROUNDS: usize = 9;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.db");
    fill(&path);
    let size_bytes = path.metadata().expect("it was written").len();
    println!("{N_RUNS} runs, {} MiB", size_bytes >> 20);
    best("open and list all", || Store::open(&path).expect("opens").runs(&Filter::default()));
    let store = Store::open(&path).expect("opens");
    best("list all", || store.runs(&Filter::default()));
    best("list 20", || store.runs(&Filter { n_max: 20, ..Filter::default() }));
    let tagged = Filter { tags: vec!["nightly".to_owned()], ..Filter::default() };
    best("list by tag", || store.runs(&tagged));
    let Ok(named) = "run-99*".parse::<RunsSelector>();
    best("find by pattern", || store.find_several(&named));
    let Ok(one) = "run-77".parse::<RunsSelector>();
    best("find by name", || store.find_several(&one));
}

/// Prints the best of several rounds.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn best<T, E: std::fmt::Debug>(what: &str, act: impl Fn() -> Result<Vec<T>, E>) {
    let mut best = Duration::MAX;
    let mut n_found = 0;
    for _ in 0..N_ROUNDS {
        let start = Instant::now();
        n_found = act().expect("the store is sound").len();
        best = best.min(start.elapsed());
    }
    println!("{what:<20} {n_found:>6} runs {:>8.1} ms", best.as_secs_f64() * 1e3);
}

fn fill(path: &std::path::Path) {
    let mut store = Store::open(path).expect("a new store");
    let record = record();
    for idx in 0..N_RUNS {
        let begin = Begin {
            name: format!("run-{idx}"),
            about: String::new(),
            tags: if idx % 10 == 0 { vec!["nightly".to_owned()] } else { Vec::new() },
            command: vec!["plimsoll".to_owned(), "run".to_owned(), "oltp.fio".to_owned()],
            plan: "[[job]]\nblock_size = \"8KiB\"\n".repeat(64),
            started_unix_ms: 1_700_000_000_000 + idx as u64 * 1_000,
        };
        store.add(&begin, &record).expect("the disk takes it");
    }
}

fn record() -> Record {
    let mut job = JobRecord { name: "oltp".to_owned(), ..JobRecord::default() };
    let read = &mut job.dirs.read;
    (read.n_ios, read.io_bytes, read.runtime_ns) = (100_000, 819_200_000, 120_000_000_000);
    // A distribution with a few hundred buckets, as real ones have.
    for step in 1..600_u64 {
        read.lat.record_n(50_000 + step * step * 37, 700 - step);
    }
    read.clat = read.lat.clone();
    Record {
        plimsoll_version: "0".to_owned(),
        elapsed_ns: 120_000_000_000,
        jobs: vec![job; 4],
        intervals: (1..=120).map(interval).collect(),
        ..Record::default()
    }
}

fn interval(second: u64) -> Interval {
    let mut dirs: PerDirRecord<record::IntervalDir> = PerDirRecord::default();
    dirs.read.n_ios = 800 + second % 17;
    dirs.read.latency = IntervalLatency::each(|_| Some(900_000 + second * 1_000));
    Interval {
        step_idx: 0,
        end_ms: second * 1_000,
        length_ms: 1_000,
        ramp: false,
        dirs,
        ..Interval::default()
    }
}
