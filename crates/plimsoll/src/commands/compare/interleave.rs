//! `plimsoll compare --interleave N -- A B`: measures both in turn, pair by pair.
//!
//! Each run is a `plimsoll run` of its own process, so that nothing of one is left for the next
//! and each is kept as any other run. Which of a pair comes first is left to chance: what goes on
//! beside then hits both alike, and the comparison holds whatever that is (`analysis::compare`).

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use export::Run;
use record::{Figure, Outcome};
use runner::{Control, Stop};
use store::Filter;

use super::Args;
use super::words::split;
use crate::clock::{self, Stopwatch};
use crate::commands::keep::failure;
use crate::commands::{run, several};
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::stream;

/// Most pairs: a month of runs of a minute.
pub(super) const PAIRS_MAX: i64 = 20_000;

/// What was measured.
pub(super) struct Pairs {
    pub(super) baseline: Vec<Run>,
    pub(super) candidate: Vec<Run>,
    /// What the runs of each side are called in the store.
    pub(super) names: [String; 2],
    /// A signal ended it early.
    pub(super) is_interrupted: bool,
}

/// One of the two that are compared.
struct Side {
    word: &'static str,
    /// What runs it, behind `plimsoll run`.
    args: Vec<String>,
    /// In virtual time one seed gives one run, however often: each pair has one of its own, unless
    /// the side says which.
    takes_seeds: bool,
    /// What its runs are called in the store.
    name: String,
}

/// The words of a side, as `plimsoll run` takes them.
#[derive(Debug, Parser)]
#[command(name = "plimsoll run", no_binary_name = true)]
struct SideArguments {
    #[command(flatten)]
    run: run::Args,
}

/// Measures `n_pairs` of both sides.
pub(super) fn measure(args: &Args, n_pairs: u32) -> Result<Pairs, Failure> {
    let stem = args.name.clone().unwrap_or_else(|| format!("pairs-{}", clock::file_stamp()));
    let sides = [
        Side::new("baseline", &args.baseline, &stem)?,
        Side::new("candidate", &args.candidate, &stem)?,
    ];
    // A store that cannot be written to would cost all runs.
    drop(args.store.open_or_make()?);
    let control = Arc::new(Control::new());
    let _signals = Signals::listen(&control)?;
    let turns = InterleavedRuns {
        args,
        sides: &sides,
        n_pairs,
        control: &control,
        clock: Stopwatch::start(),
    };
    stream::remark(
        "",
        &format!(
            "{n_pairs} pairs of runs, stored as `{}` and `{}`; Ctrl-C compares what is measured",
            sides[0].name, sides[1].name
        ),
    );
    let ended = turns.all();
    let is_interrupted = control.stop() != Stop::No;
    if let Err(failed) = ended {
        return Err(match turns.how_to_go_on() {
            Some(how) => failed.hint(how),
            None => failed,
        });
    }
    let mut sets = sides.iter().map(|side| complete(args, side));
    let mut baseline = sets.next().unwrap_or_else(|| Ok(Vec::new()))?;
    let mut candidate = sets.next().unwrap_or_else(|| Ok(Vec::new()))?;
    // A run whose other half was interrupted is no pair.
    let n_whole = baseline.len().min(candidate.len());
    baseline.truncate(n_whole);
    candidate.truncate(n_whole);
    if n_whole == 0 {
        let failed = Failure::wrong_use("interrupted before one pair was measured");
        return Err(failed.with(Exit::Interrupted));
    }
    let names = sides.map(|side| side.name);
    Ok(Pairs { baseline, candidate, names, is_interrupted })
}

/// Returns the runs of a side that went to their end.
fn complete(args: &Args, side: &Side) -> Result<Vec<Run>, Failure> {
    let store = args.store.open()?;
    let filter = Filter { text: side.name.clone(), ..Filter::default() };
    let is_there = store.runs(&filter).map_err(failure)?.iter().any(|row| row.name == side.name);
    if !is_there {
        return Ok(Vec::new());
    }
    let runs = several::find(&side.name, &args.store)?;
    Ok(runs.into_iter().filter(|run| run.record.outcome == Outcome::Complete).collect())
}

impl Side {
    fn new(word: &'static str, text: &str, stem: &str) -> Result<Self, Failure> {
        let wrong = |why: String| {
            Failure::wrong_use(format!("the {word} `{text}`: {why}")).hint(
                "each side is what `plimsoll run` takes, in quotes where it has options: \
                 'job.fio --set iodepth=8'",
            )
        };
        let words = split(text).map_err(&wrong)?;
        if words.iter().any(|word| word == "-") {
            let why = "each of its runs would need the standard input again: write it to a file";
            return Err(wrong(why.to_owned()));
        }
        let kept = ["--store", "--no-store", "--name", "--json", "--fio-json"];
        let is_kept = |word: &&String| {
            kept.iter().any(|option| {
                let rest = word.strip_prefix(option);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            })
        };
        if let Some(option) = words.iter().find(is_kept) {
            return Err(wrong(format!(
                "`{option}` cannot be given for one side: the runs of both are stored together"
            )));
        }
        let parsed = match SideArguments::try_parse_from(&words) {
            Ok(parsed) => parsed,
            Err(error) => {
                let _ = error.print();
                return Err(wrong("`plimsoll run` does not accept it".to_owned()));
            }
        };
        run::check(&parsed.run)?;
        let is_virtual = words.iter().any(|word| word == "--virtual");
        let takes_seeds = is_virtual && !parsed.run.has_seed();
        Ok(Side { word, args: words, takes_seeds, name: format!("{stem}-{word}") })
    }
}

/// All runs, one after the other.
struct InterleavedRuns<'a> {
    args: &'a Args,
    sides: &'a [Side; 2],
    n_pairs: u32,
    control: &'a Control,
    clock: Stopwatch,
}

impl InterleavedRuns<'_> {
    fn all(&self) -> Result<(), Failure> {
        let chance = RandomState::new();
        for pair_idx in 0..self.n_pairs {
            let mut coin = chance.build_hasher();
            coin.write_u32(pair_idx);
            let first = (coin.finish() & 1) as usize;
            for (turn, side_idx) in [first, 1 - first].into_iter().enumerate() {
                self.one(pair_idx, &self.sides[side_idx], pair_idx * 2 + turn as u32)?;
                if self.control.stop() != Stop::No {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Measures one run of a side.
    fn one(&self, pair_idx: u32, side: &Side, n_done: u32) -> Result<(), Failure> {
        let place = format!("pair {} of {}, {}", pair_idx + 1, self.n_pairs, side.word);
        let program = std::env::current_exe().map_err(failure)?;
        let mut command = Command::new(program);
        command.arg("run").args(&side.args);
        if side.takes_seeds {
            command.arg("--seed").arg((1 + u64::from(pair_idx)).to_string());
        }
        command.args(["--no-progress", "--name", &side.name]);
        if let Some(store) = self.args.store.file() {
            command.arg("--store").arg(store);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // A signal is ours to pass on, once.
        command.process_group(0);
        let child = command.spawn().map_err(failure)?;
        let output = self.wait(child, &place, n_done)?;
        let is_stopped = self.control.stop() != Stop::No;
        match output.status.code() {
            // Doubts about a run are shown with the comparison.
            Some(0 | 3) => self.print_result(&place, side),
            _ if is_stopped => Ok(()),
            code => {
                stream::print_message(&String::from_utf8_lossy(&output.stderr));
                let exit = if code == Some(2) { Exit::WrongUse } else { Exit::RunFailed };
                Err(Failure::wrong_use(format!("{place}: the run failed")).with(exit))
            }
        }
    }

    /// Waits for the end of a run, shows how far it is, and passes signals on.
    fn wait(&self, child: Child, place: &str, n_done: u32) -> Result<Output, Failure> {
        let pid = rustix::process::Pid::from_child(&child);
        let (own, is_shown) = (Stopwatch::start(), stream::stderr_columns().is_some());
        let reader = std::thread::spawn(move || child.wait_with_output());
        let mut passed_on = Stop::No;
        while !reader.is_finished() {
            std::thread::sleep(Duration::from_millis(50));
            let stop = self.control.stop();
            if stop != passed_on {
                passed_on = stop;
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
            }
            if is_shown {
                let line = format!("\r{place}: {} s{}", own.elapsed().as_secs(), self.left(n_done));
                stream::print_message(&format!("{line:<60}"));
            }
        }
        if is_shown {
            stream::print_message(&format!("\r{:<60}\r", ""));
        }
        let output = reader.join().map_err(|_| Failure::wrong_use("a run was lost"))?;
        output.map_err(failure)
    }

    /// Returns how long the runs still take, by those that are done.
    fn left(&self, n_done: u32) -> String {
        if n_done == 0 {
            return String::new();
        }
        let left = left_after(self.clock.elapsed(), n_done, 2 * self.n_pairs);
        let left = units::format_duration(Duration::from_secs(left.as_secs().max(1)));
        format!(", about {left} left")
    }

    fn print_result(&self, place: &str, side: &Side) -> Result<(), Failure> {
        let filter = Filter { text: side.name.clone(), n_max: 1, ..Filter::default() };
        let rows = self.args.store.open()?.runs(&filter).map_err(failure)?;
        let rate = rows.first().and_then(|row| row.totals.figures.shown(Figure::Iops));
        let rate = rate.map_or(String::new(), |iops| format!(": {iops} IOPS"));
        stream::print_message(&format!("{place}{rate}\n"));
        Ok(())
    }

    /// Returns how to compare what was measured, if there is something of both.
    fn how_to_go_on(&self) -> Option<String> {
        let [baseline, candidate] = self.sides;
        let is_there = |side| complete(self.args, side).is_ok_and(|runs| !runs.is_empty());
        (is_there(baseline) && is_there(candidate)).then(|| {
            format!(
                "runs that were measured are stored: `plimsoll compare {} {}`, with `--anyway` \
                 where the sides do different I/O",
                baseline.name, candidate.name
            )
        })
    }
}

/// Returns how long the rest of `n_runs` takes where the first `n_done` took so long.
fn left_after(took: Duration, n_done: u32, n_runs: u32) -> Duration {
    assert!((1..n_runs).contains(&n_done), "run {n_done} of {n_runs} is done and another goes on");
    took / n_done * (n_runs - n_done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_what_is_done() {
        let took = Duration::from_secs(30);
        assert_eq!(left_after(took, 3, 20), Duration::from_secs(170));
        testing::check_wrong_calls(&[
            ("none", "run 0 of 20 is done", &|| _ = left_after(took, 0, 20)),
            ("all", "run 20 of 20 is done", &|| _ = left_after(took, 20, 20)),
        ]);
    }
}
