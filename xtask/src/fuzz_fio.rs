//! Random job files beside the real fio: fresh ones, where the test suite has fixed seeds.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::process;

/// Jobs when none are asked for: some two minutes.
const N_JOBS: u64 = 200;

/// Runs random jobs in both programs, and shows what differs.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // Small numbers are easier to tell others; the first ones are those of the suite.
    let (mut seed, mut n_jobs) = (1000 + now % 1_000_000 * 1000, N_JOBS);
    for pair in args.chunks(2) {
        match pair {
            ["--seed", number] => seed = number.parse().context("`--seed` takes a number")?,
            ["--jobs", number] => n_jobs = number.parse().context("`--jobs` takes a number")?,
            _ => bail!("usage: cargo xtask fuzz-fio [--seed N] [--jobs N]"),
        }
    }
    println!("{n_jobs} jobs from seed {seed} on");
    let mut test = Command::new("cargo");
    test.args(["test", "-q", "-p", "plimsoll", "--test", "fuzz_fio", "--", "--nocapture"]);
    test.current_dir(process::root());
    test.env("PLIMSOLL_FUZZ_SEED", seed.to_string());
    test.env("PLIMSOLL_FUZZ_JOBS", n_jobs.to_string());
    process::run(&mut test).context("--seed N --jobs 1 repeats one of them")
}
