//! What is around the workers of a step: whether it runs at all and at which rate, its pause and
//! its commands.

use std::process::{Command, Stdio};
use std::sync::Arc;

use plan::job::RateOf;
use plan::{Diagnostic, Plan, Step};
use record::{JobRecord, StepRecord};

use crate::bind::BoundStep;

/// Longest output of a command that is kept.
const OUTPUT_MAX: usize = 64 << 10;

/// Says that the plan runs commands, unless that is allowed.
pub(crate) fn check_commands(plan: &Plan, allowed: bool, is_virtual: bool) -> Option<Diagnostic> {
    let has_commands = |step: &&Step| !(step.exec_before.is_empty() && step.exec_after.is_empty());
    let step = plan.steps.iter().find(has_commands)?;
    let command = step.exec_before.iter().chain(&step.exec_after).next()?;
    let name = &step.name;
    if is_virtual {
        let text = format!(
            "step `{name}` runs a command of this host (`{command}`), which virtual time cannot \
             hold"
        );
        return Some(Diagnostic::error("virtual-command", text).help("run without `--virtual`"));
    }
    if allowed {
        return None;
    }
    let text = format!("step `{name}` runs a command: `{command}`");
    let finding = Diagnostic::error("commands-not-allowed", text);
    Some(finding.help("if you trust the file, add `--allow-commands`"))
}

/// Runs a command by the shell. Returns what it wrote, and why it failed, if it did.
pub(crate) fn run_command(command: &str) -> (String, Option<String>) {
    let started = Command::new("sh").args(["-c", command]).stdin(Stdio::null()).output();
    let output = match started {
        Ok(output) => output,
        Err(error) => return (String::new(), Some(error.to_string())),
    };
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    if text.len() > OUTPUT_MAX {
        text.truncate(text.floor_char_boundary(OUTPUT_MAX));
        text.push_str("...\n");
    }
    let failed = (!output.status.success()).then(|| format!("it ended with {}", output.status));
    (text, failed)
}

/// What earlier steps say about a step whose rate depends on one of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Point {
    /// It runs at this rate, I/Os per second over all its jobs.
    At(u64),
    /// It is left out.
    Skipped(String),
}

/// Decides on a step that refers to another one. `steps` are the plan's, `done` those that have
/// ended or were left out, and `jobs` their results.
pub(crate) fn point(
    rate_of: &RateOf,
    steps: &[Step],
    done: &[StepRecord],
    jobs: &[JobRecord],
) -> Point {
    let of_step = |step_idx: u32| jobs.iter().filter(move |job| job.step_idx == step_idx);
    let name = |step_idx: u32| steps.get(step_idx as usize).map_or("", |it| it.name.as_str());
    let is_of_same = |record: &&StepRecord| {
        let other = steps.get(record.step_idx as usize).and_then(|step| step.rate_of);
        other.is_some_and(|other| other.step_idx == rate_of.step_idx)
    };
    for record in done.iter().filter(is_of_same) {
        if record.skipped.is_some() {
            return Point::Skipped(format!("as `{}` before it", record.name));
        }
        let latency_ns = mean_latency_ns(of_step(record.step_idx));
        if let (Some(limit_ns), Some(latency_ns)) = (rate_of.stop_above_ns, latency_ns)
            && latency_ns > limit_ns as f64
        {
            let (was_ms, limit_ms) = (latency_ns / 1e6, limit_ns as f64 / 1e6);
            let name = &record.name;
            return Point::Skipped(format!(
                "the mean latency of `{name}` was {was_ms:.3} ms, above {limit_ms} ms"
            ));
        }
    }
    let achieved = achieved_iops(of_step(rate_of.step_idx));
    let rate_iops = rounded(achieved, rate_of);
    if rate_iops == 0 || rate_iops < rate_of.rate_min_iops {
        let (pct, of) = (rate_of.pct, name(rate_of.step_idx));
        return Point::Skipped(format!(
            "{pct} % of the {achieved:.0} I/Os per second of `{of}` are below {}",
            rate_of.rate_min_iops.max(1)
        ));
    }
    Point::At(rate_iops)
}

/// Returns a share of a rate, rounded as asked for. Fractions of both are cut before, as Vdbench
/// does.
fn rounded(achieved_iops: f64, rate_of: &RateOf) -> u64 {
    let share = (achieved_iops.max(0.0).trunc() * rate_of.pct.max(0.0) / 100.0) as u64;
    let (from, above, below) = rate_of.round_up;
    share.next_multiple_of(if share > from { above.max(1) } else { below.max(1) })
}

/// Returns operations per second of measured time over all jobs of a step.
fn achieved_iops<'a>(jobs: impl Iterator<Item = &'a JobRecord>) -> f64 {
    let (mut n_ios, mut longest_ns) = (0, 0);
    for job in jobs {
        n_ios += job.dirs.iter().map(|(_, dir)| dir.n_ios).sum::<u64>();
        longest_ns = longest_ns.max(job.runtime_ns / u64::from(job.n_workers.max(1)));
    }
    if longest_ns == 0 { 0.0 } else { n_ios as f64 * 1e9 / longest_ns as f64 }
}

/// Returns the mean time from choice to completion over all operations of a step.
fn mean_latency_ns<'a>(jobs: impl Iterator<Item = &'a JobRecord>) -> Option<f64> {
    let (mut n_ios, mut sum_ns) = (0, 0.0);
    for (_, dir) in jobs.flat_map(|job| job.dirs.iter()) {
        n_ios += dir.lat.count();
        sum_ns += dir.lat.sum_ns() as f64;
    }
    (n_ios > 0).then(|| sum_ns / n_ios as f64)
}

/// Returns a step at another rate: its jobs keep their shares of it, equal ones where they have no
/// rates.
pub(crate) fn at_rate(step: &BoundStep, rate_iops: f64) -> BoundStep {
    let share = |job: &plan::Job| job.load.rate_total_iops.unwrap_or(1.0);
    let is_first = |worker: &&crate::bind::BoundWorker| worker.worker_idx == 0;
    let total: f64 = step.workers.iter().filter(is_first).map(|worker| share(&worker.job)).sum();
    let mut step = step.clone();
    for worker in &mut step.workers {
        let job = Arc::make_mut(&mut worker.job);
        job.load.rate_total_iops = Some(rate_iops * share(job) / total);
    }
    step
}

#[cfg(test)]
mod tests {
    use hist::Histogram;
    use record::{DirRecord, PerDirRecord};

    use super::*;

    fn rate_of(pct: f64) -> RateOf {
        RateOf {
            step_idx: 0,
            pct,
            round_up: (1000, 100, 10),
            rate_min_iops: 10,
            stop_above_ns: Some(2_000_000),
        }
    }

    /// Vdbench's own output: maximum 828, then 420 for 50 % and 580 for 70 %.
    #[test]
    fn rates_are_rounded_as_vdbench_rounds_them() {
        #[track_caller]
        fn check(achieved: f64, pct: f64, expected: u64) {
            assert_eq!(rounded(achieved, &rate_of(pct)), expected);
        }
        check(828.65, 50.0, 420);
        check(828.65, 70.0, 580);
        check(828.65, 100.0, 830);
        check(2000.0, 50.0, 1000);
        check(2002.0, 50.0, 1100);
        check(250_049.9, 90.0, 225_100);
        check(9.9, 10.0, 0);
        check(f64::NAN, 10.0, 0);
    }

    fn result(step_idx: u32, n_ios: u64, latency_ns: u64) -> JobRecord {
        let mut lat = Histogram::new();
        lat.record_n(latency_ns, n_ios);
        let read = DirRecord { n_ios, lat, ..DirRecord::default() };
        let dirs = PerDirRecord { read, ..PerDirRecord::default() };
        JobRecord {
            step_idx,
            n_workers: 1,
            runtime_ns: 2_000_000_000,
            dirs,
            ..JobRecord::default()
        }
    }

    fn record(step_idx: u32, name: &str, skipped: Option<&str>) -> StepRecord {
        let skipped = skipped.map(str::to_owned);
        StepRecord { step_idx, name: name.to_owned(), skipped, ..StepRecord::default() }
    }

    #[test]
    fn a_curve_ends_where_its_rates_or_latencies_say_so() {
        let step = |name: &str, rate_of| Step { name: name.to_owned(), rate_of, ..Step::default() };
        let steps = [
            step("max", None),
            step("p50", Some(rate_of(50.0))),
            step("p70", Some(rate_of(70.0))),
            step("p0", Some(rate_of(0.5))),
        ];
        let decide = |idx: usize, done: &[StepRecord], jobs: &[JobRecord]| {
            point(&steps[idx].rate_of.expect("a point"), &steps, done, jobs)
        };
        let max = [result(0, 3000, 1_000_000), result(0, 1000, 1_000_000)];
        let done = [record(0, "max", None)];
        assert_eq!(decide(1, &done, &max), Point::At(1000));
        let below = "0.5 % of the 2000 I/Os per second of `max` are below 11";
        let mut least = rate_of(0.5);
        least.rate_min_iops = 11;
        assert_eq!(point(&least, &steps, &done, &max), Point::Skipped(below.to_owned()));
        // One point was too slow: the rest is left out.
        let done = [record(0, "max", None), record(1, "p50", None)];
        let jobs = [&max[..], &[result(1, 100, 2_500_000)]].concat();
        let slow = "the mean latency of `p50` was 2.500 ms, above 2 ms";
        assert_eq!(decide(2, &done, &jobs), Point::Skipped(slow.to_owned()));
        let done = [record(0, "max", None), record(2, "p70", Some("whatever"))];
        assert_eq!(decide(3, &done, &max), Point::Skipped("as `p70` before it".to_owned()));
        // Without a maximum there is no curve.
        assert!(matches!(decide(1, &[], &[]), Point::Skipped(_)));
    }

    #[test]
    fn commands_need_permission() {
        let step = |exec_before: &[&str], exec_after: &[&str]| {
            let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
            let (exec_before, exec_after) = (owned(exec_before), owned(exec_after));
            let name = "rd1".to_owned();
            Plan {
                steps: vec![Step { name, exec_before, exec_after, ..Step::default() }],
                ..Plan::default()
            }
        };
        let said = |plan: &Plan, allowed| {
            check_commands(plan, allowed, false).map(|it| (it.message, it.help))
        };
        assert_eq!(said(&step(&[], &[]), false), None);
        assert_eq!(said(&step(&["sync"], &[]), true), None);
        let text = "step `rd1` runs a command: `rm -rf x`".to_owned();
        let help = vec!["if you trust the file, add `--allow-commands`".to_owned()];
        assert_eq!(said(&step(&[], &["rm -rf x"]), false), Some((text, help)));
        let in_virtual_time = check_commands(&step(&["sync"], &[]), true, true);
        assert_eq!(in_virtual_time.map(|it| it.code), Some("virtual-command"));
    }

    #[test]
    fn the_output_of_a_command_is_kept_with_how_it_ended() {
        assert_eq!(run_command("echo out; echo err >&2"), ("out\nerr\n".to_owned(), None));
        let (text, failed) = run_command("echo it; exit 3");
        assert_eq!((text.as_str(), failed.is_some_and(|it| it.contains('3'))), ("it\n", true));
        let (text, _) = run_command("head -c 100000 /dev/zero | tr '\\0' x");
        assert_eq!(text.len(), OUTPUT_MAX + 4);
    }
}
