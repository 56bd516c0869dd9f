//! What is around the workers of a step: whether it runs at all and at which rate, its pause and
//! its commands.

use std::io::{self, Read};
use std::process::Stdio;
use std::sync::Arc;
use std::thread::JoinHandle;

use plan::job::RateOf;
use plan::tree::Activity;
use plan::{Diagnostic, Job, Plan, Step};
use record::{Interval, IntervalSeries, JobRecord, Record, StepRecord};
use units::system_text;

use crate::bind::BoundStep;
use crate::shell::{self, Ended};

/// Longest output of a command that is kept.
const OUTPUT_MAX: usize = 64 << 10;

/// Reports that the plan runs commands, unless that is allowed: those around steps, and those
/// around the jobs of a step.
pub(crate) fn check_commands(plan: &Plan, allowed: bool, is_virtual: bool) -> Option<Diagnostic> {
    let of_step = |step: &Step| step.exec_before.iter().chain(&step.exec_after).next().cloned();
    if is_virtual {
        // Those of jobs are refused with what else virtual time cannot hold.
        let mut steps = plan.steps.iter().enumerate();
        let (step, command) = steps.find_map(|it| Some((named(it), of_step(it.1)?)))?;
        let text = format!(
            "{step} runs a command of this host (`{command}`), which virtual time cannot hold"
        );
        return Some(Diagnostic::error("virtual-command", text).help("run without `--virtual`"));
    }
    if allowed {
        return None;
    }
    let of_job = |job: &Job| {
        let process = &job.process;
        let command = process.exec_before.as_ref().or(process.exec_after.as_ref())?;
        Some(format!("job `{}` runs a command: `{command}`", job.name))
    };
    let first = |it: (usize, &Step)| match of_step(it.1) {
        Some(command) => Some(format!("{} runs a command: `{command}`", named(it))),
        None => it.1.jobs.iter().find_map(of_job),
    };
    let text = plan.steps.iter().enumerate().find_map(first)?;
    let finding = Diagnostic::error("commands-not-allowed", text);
    Some(finding.help("if you trust the file, add `--allow-commands`"))
}

/// Returns what a step is known by: its name, or else its number.
fn named((idx, step): (usize, &Step)) -> String {
    if step.name.is_empty() { format!("step {}", idx + 1) } else { format!("step `{}`", step.name) }
}

/// Runs a command by the shell, until `stops` says that the run is to end. Returns what it wrote,
/// and why it failed, if it did.
pub(crate) fn run_command(command: &str, stops: &dyn Fn() -> bool) -> (String, Option<String>) {
    match outputs_of(command, stops) {
        Ok(([stdout, stderr], ended)) => {
            let mut text = String::from_utf8_lossy(&stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&stderr));
            if text.len() > OUTPUT_MAX {
                text.truncate(text.floor_char_boundary(OUTPUT_MAX));
                text.push_str("...\n");
            }
            let failed = match ended {
                Ended::Itself(status) if status.success() => None,
                Ended::Itself(status) => Some(format!("it ended with {status}")),
                Ended::Stopped => Some("it was ended, as the run was".to_owned()),
            };
            (text, failed)
        }
        Err(error) => (String::new(), Some(system_text(error))),
    }
}

/// Runs a command and collects what it writes to its two outputs.
fn outputs_of(command: &str, stops: &dyn Fn() -> bool) -> io::Result<([Vec<u8>; 2], Ended)> {
    let mut child = shell::start(command, Stdio::piped(), Stdio::piped())?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let readers =
        [std::thread::spawn(|| read_all(stdout)), std::thread::spawn(|| read_all(stderr))];
    let is_closed = || readers.iter().all(JoinHandle::is_finished);
    let ended = shell::wait(&mut child, &is_closed, stops)?;
    // What still reads waits for a program that was not ended with the command.
    let kept = readers.map(|reader| reader.is_finished().then(|| reader.join()));
    Ok((kept.map(|output| output.and_then(Result::ok).unwrap_or_default()), ended))
}

/// Reads an output to its end, and keeps as much as is shown.
fn read_all(output: Option<impl Read>) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut output) = output else { return kept };
    // What cannot be read is not shown.
    let _ = output.by_ref().take(OUTPUT_MAX as u64 + 1).read_to_end(&mut kept);
    let _ = io::copy(&mut output, &mut io::sink());
    kept
}

/// What earlier steps say about a step whose rate depends on one of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Point {
    /// It runs at this rate, I/Os per second over all its jobs.
    At(u64),
    /// It is left out.
    Skipped(String),
}

/// What has been done so far.
#[derive(Clone, Copy)]
pub(crate) struct JobsDone<'a> {
    /// Steps that have ended or were left out.
    pub(crate) steps: &'a [StepRecord],
    /// Their results.
    pub(crate) jobs: &'a [JobRecord],
    /// What they did from period to period.
    pub(crate) intervals: &'a [Interval],
}

/// Decides on a step that refers to another one. `steps` are the plan's.
pub(crate) fn point(rate_of: &RateOf, steps: &[Step], done: JobsDone<'_>) -> Point {
    let name = |step_idx: u32| steps.get(step_idx as usize).map_or("", |it| it.name.as_str());
    let is_of_same = |record: &&StepRecord| {
        let other = steps.get(record.step_idx as usize).and_then(|step| step.rate_of);
        other.is_some_and(|other| other.step_idx == rate_of.step_idx)
    };
    for record in done.steps.iter().filter(is_of_same) {
        if record.skipped.is_some() {
            return Point::Skipped(format!("as `{}` before it", record.name));
        }
        let latency_ns = done.achieved(steps, record.step_idx, rate_of.after_ns).latency_ns_mean;
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
    let achieved = done.achieved(steps, rate_of.step_idx, rate_of.after_ns).rate_iops;
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

/// Returns the rate of a step whose rate follows from an earlier one, I/Os per second over all its
/// jobs, after what a record says was done; `None` of any other step, and of one that is left out.
pub fn rate_of_point(plan: &Plan, step_idx: u32, record: &Record) -> Option<u64> {
    let rate_of = plan.steps.get(step_idx as usize)?.rate_of?;
    let Record { steps, jobs, intervals, .. } = record;
    match point(&rate_of, &plan.steps, JobsDone { steps, jobs, intervals }) {
        Point::At(rate_iops) => Some(rate_iops),
        Point::Skipped(_) => None,
    }
}

/// Returns a share of a rate, rounded as asked for. Fractions of both are cut before, as Vdbench
/// does.
fn rounded(achieved_iops: f64, rate_of: &RateOf) -> u64 {
    let share = (achieved_iops.max(0.0).trunc() * rate_of.pct.max(0.0) / 100.0) as u64;
    let (from, above, below) = rate_of.round_up;
    share.next_multiple_of(if share > from { above.max(1) } else { below.max(1) })
}

/// What a step achieved in the time that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Achieved {
    /// Operations per second over all jobs.
    rate_iops: f64,
    /// Mean time from choice to completion; `None` without operations.
    latency_ns_mean: Option<f64>,
}

impl JobsDone<'_> {
    /// Returns what a step achieved, without the first `after_ns` of its measured time, if more
    /// was measured.
    fn achieved(&self, steps: &[Step], step_idx: u32, after_ns: u64) -> Achieved {
        let jobs = self.jobs.iter().filter(|job| job.step_idx == step_idx);
        let whole = of_jobs(jobs);
        let step = steps.get(step_idx as usize);
        let later = if after_ns > 0 { self.later(step, step_idx, after_ns) } else { None };
        later.map_or(whole, |later| Achieved {
            latency_ns_mean: later.latency_ns_mean.or(whole.latency_ns_mean),
            ..later
        })
    }

    /// Returns what a step achieved from `after_ns` on; `None` where less than a quarter of that
    /// was measured behind it. A period belongs where its middle is, as none is exactly as long as
    /// asked for.
    ///
    /// Latencies are known where periods are counted by kind of operation. In trees only the kinds
    /// that were asked for count: the opening and closing of files stands beside them.
    fn later(&self, step: Option<&Step>, step_idx: u32, after_ns: u64) -> Option<Achieved> {
        let jobs = step.map_or(&[][..], |step| &step.jobs);
        let has_tree = jobs.iter().any(|job| job.tree.is_some());
        let (mut passed_ms, mut length_ms) = (0, 0);
        let (mut n_ios, mut n_timed, mut latency_ns_sum) = (0, 0, 0.0);
        let of_step = |interval: &&Interval| interval.step_idx == step_idx && !interval.ramp;
        for interval in self.intervals.iter().filter(of_step) {
            let middle_ns = (passed_ms + interval.length_ms / 2).saturating_mul(NS_PER_MS);
            passed_ms += interval.length_ms;
            if middle_ns < after_ns {
                continue;
            }
            length_ms += interval.length_ms;
            let mut n_of_series = 0;
            for series in interval.series.iter().filter(|series| is_asked(jobs, series)) {
                n_of_series += series.n_ios;
                latency_ns_sum += series.latency_ns_sum as f64;
            }
            n_timed += n_of_series;
            n_ios += if has_tree && !interval.series.is_empty() {
                n_of_series
            } else {
                interval.dirs.iter().map(|(_, dir)| dir.n_ios).sum()
            };
        }
        if length_ms == 0 || length_ms.saturating_mul(NS_PER_MS) < after_ns / 4 {
            return None;
        }
        let rate_iops = n_ios as f64 * 1e3 / length_ms as f64;
        let is_timed = n_timed > 0 && n_timed == n_ios;
        let latency_ns_mean = is_timed.then(|| latency_ns_sum / n_timed as f64);
        Some(Achieved { rate_iops, latency_ns_mean })
    }
}

const NS_PER_MS: u64 = 1_000_000;

/// Returns whether the operations of a series are of a kind that its job was asked for.
fn is_asked(jobs: &[plan::Job], series: &IntervalSeries) -> bool {
    let of_tree = jobs.iter().find(|job| job.name == series.job).and_then(|job| job.tree.as_ref());
    match of_tree.map(|work| &work.activity) {
        Some(Activity::Operations(tasks)) => {
            tasks.iter().any(|task| task.operation.name() == series.op)
        }
        Some(Activity::Format(_)) | None => true,
    }
}

/// Returns what jobs of one step achieved in all of their measured time.
fn of_jobs<'a>(jobs: impl Iterator<Item = &'a JobRecord>) -> Achieved {
    let (mut n_ios, mut longest_ns) = (0, 0);
    let (mut n_timed, mut latency_ns_sum) = (0, 0.0);
    for job in jobs {
        longest_ns = longest_ns.max(job.runtime_ns / u64::from(job.n_workers.max(1)));
        for (_, dir) in job.dirs.iter() {
            n_ios += dir.n_ios;
            n_timed += dir.lat.count();
            latency_ns_sum += dir.lat.sum_ns() as f64;
        }
    }
    let rate_iops = if longest_ns == 0 { 0.0 } else { n_ios as f64 * 1e9 / longest_ns as f64 };
    let latency_ns_mean = (n_timed > 0).then(|| latency_ns_sum / n_timed as f64);
    Achieved { rate_iops, latency_ns_mean }
}

/// Returns a step at another rate: its jobs keep their shares of it, equal ones where they have no
/// rates. What has a rate of its own gets that, as far as the step's goes.
pub(crate) fn at_rate(step: &BoundStep, rate_iops: f64) -> BoundStep {
    let is_first = |worker: &&crate::bind::BoundWorker| worker.worker_idx == 0;
    let firsts = step.workers.iter().filter(is_first);
    let mut jobs: Vec<plan::Job> = firsts.map(|worker| (*worker.job).clone()).collect();
    if jobs.iter().flat_map(|job| &job.parts).any(|part| part.rate_iops.is_some()) {
        plan::rates::divide(&mut jobs, rate_iops);
    } else {
        let share = |job: &plan::Job| job.load.rate_total_iops.unwrap_or(1.0);
        let total: f64 = jobs.iter().map(share).sum();
        for job in &mut jobs {
            job.load.rate_total_iops = Some(rate_iops * share(job) / total);
        }
    }
    let mut step = step.clone();
    let mut n_begun = 0;
    for worker in &mut step.workers {
        n_begun += usize::from(worker.worker_idx == 0);
        let Some(at_rate) = jobs.get(n_begun.saturating_sub(1)) else { continue };
        let job = Arc::make_mut(&mut worker.job);
        job.load.rate_total_iops = at_rate.load.rate_total_iops;
        job.parts.clone_from(&at_rate.parts);
    }
    step
}

#[cfg(test)]
mod tests {
    use hist::Histogram;
    use plan::Job;
    use plan::op::OpKind;
    use plan::tree::{Mixing, TreeOpen, TreeSpec, TreeTask, TreeWork};
    use record::{DirRecord, IntervalDir, PerDirRecord};

    use super::*;

    fn rate_of(pct: f64) -> RateOf {
        RateOf {
            step_idx: 0,
            pct,
            round_up: (1000, 100, 10),
            rate_min_iops: 10,
            stop_above_ns: Some(2_000_000),
            after_ns: 0,
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
            let done = JobsDone { steps: done, jobs, intervals: &[] };
            point(&steps[idx].rate_of.expect("a point"), &steps, done)
        };
        let max = [result(0, 3000, 1_000_000), result(0, 1000, 1_000_000)];
        let done = [record(0, "max", None)];
        assert_eq!(decide(1, &done, &max), Point::At(1000));
        let below = "0.5 % of the 2000 I/Os per second of `max` are below 11";
        let mut least = rate_of(0.5);
        least.rate_min_iops = 11;
        let so_far = JobsDone { steps: &done, jobs: &max, intervals: &[] };
        assert_eq!(point(&least, &steps, so_far), Point::Skipped(below.to_owned()));
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

    fn interval(length_ms: u64, n_ios: u64, latency_ns: u64, ramp: bool) -> Interval {
        let read = IntervalDir { n_ios, ..IntervalDir::default() };
        let latency_ns_sum = n_ios * latency_ns;
        let series = IntervalSeries { n_ios, latency_ns_sum, ..IntervalSeries::default() };
        Interval {
            step_idx: 0,
            end_ms: 0,
            length_ms,
            ramp,
            n_hosts: None,
            dirs: PerDirRecord { read, ..PerDirRecord::default() },
            series: vec![series],
            cpu: None,
            host: None,
        }
    }

    #[test]
    fn a_start_that_is_left_out_counts_neither_in_rates_nor_in_latencies() {
        let jobs = [result(0, 4000, 1_000_000)];
        let achieved = |intervals: &[Interval]| {
            let done = JobsDone { steps: &[], jobs: &jobs, intervals };
            let got = done.achieved(&[], 0, 1_000_000_000);
            (got.rate_iops, got.latency_ns_mean)
        };
        let first = interval(1004, 3000, 5000, false);
        let ramp = interval(1000, 9, 9, true);
        let second = interval(1000, 1000, 2000, false);
        let third = interval(1000, 500, 5000, false);
        assert_eq!(
            achieved(&[ramp, first.clone(), second, third]),
            (750.0, Some(3000.0)),
            "1,500 I/Os in two seconds"
        );
        let whole = (2000.0, Some(1_000_000.0));
        assert_eq!(achieved(&[first.clone(), interval(90, 9, 9, false)]), whole, "too short");
        assert_eq!(achieved(&[first]), whole, "nothing is left");
        assert_eq!(achieved(&[]), whole, "nothing is known");
        // Beside the operations asked for there are others: their times are not kept apart.
        let mut mixed = interval(2000, 100, 1000, false);
        mixed.series.push(IntervalSeries { n_ios: 100, ..IntervalSeries::default() });
        let first = interval(1000, 3000, 5000, false);
        assert_eq!(achieved(&[first, mixed]), (50.0, Some(1_000_000.0)));
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
        let mut around_job = step(&[], &[]);
        let mut job = Job { name: "j".to_owned(), ..Job::default() };
        job.process.exec_after = Some("rm x".to_owned());
        around_job.steps[0].jobs = vec![job];
        assert_eq!(said(&around_job, true), None);
        let text = "job `j` runs a command: `rm x`";
        assert_eq!(said(&around_job, false).map(|it| it.0), Some(text.to_owned()));
        let in_virtual_time = check_commands(&step(&["sync"], &[]), true, true);
        assert_eq!(in_virtual_time.map(|it| it.code), Some("virtual-command"));
    }

    #[test]
    fn the_output_of_a_command_is_kept_with_how_it_ended() {
        assert_eq!(
            run_command("echo out; echo err >&2", &|| false),
            ("out\nerr\n".to_owned(), None)
        );
        let (text, failed) = run_command("echo it; exit 3", &|| false);
        assert_eq!((text.as_str(), failed.is_some_and(|it| it.contains('3'))), ("it\n", true));
        let (text, _) = run_command("head -c 100000 /dev/zero | tr '\\0' x", &|| false);
        assert_eq!(text.len(), OUTPUT_MAX + 4);
    }

    #[test]
    fn in_trees_only_what_was_asked_for_counts() {
        let task = TreeTask { operation: OpKind::Stat, ..TreeTask::default() };
        let activity = Activity::Operations(vec![task]);
        let (tree, open) = (TreeSpec::default(), TreeOpen::default());
        let mixing = Mixing::default();
        let tree = Some(TreeWork { tree, target: None, open, activity, mixing });
        let job = Job { name: "fwd1".to_owned(), tree, ..Job::default() };
        let steps = [Step { jobs: vec![job], ..Step::default() }];
        let series = |op: OpKind, n_ios, latency_ns| IntervalSeries {
            job: "fwd1".to_owned(),
            op: op.name().to_owned(),
            n_ios,
            latency_ns_sum: n_ios * latency_ns,
            ..IntervalSeries::default()
        };
        let second = |n_ios, latency_ns| Interval {
            series: vec![series(OpKind::Stat, n_ios, latency_ns), series(OpKind::Open, 900, 77)],
            ..interval(1000, n_ios, 0, false)
        };
        let intervals = [second(4000, 9000), second(100, 2000), second(300, 6000)];
        let jobs = [result(0, 4400, 8000)];
        let done = JobsDone { steps: &[], jobs: &jobs, intervals: &intervals };
        let got = done.achieved(&steps, 0, 1_000_000_000);
        assert_eq!((got.rate_iops, got.latency_ns_mean), (200.0, Some(5000.0)));
        let whole = done.achieved(&steps, 0, 0);
        assert_eq!(whole.latency_ns_mean, Some(8000.0), "with a warmup all of it counts");
    }

    /// The shell has ended long before; what it left keeps its outputs open.
    #[test]
    fn what_a_command_leaves_running_ends_with_the_run() {
        let n_asked = std::cell::Cell::new(0);
        let stops = || n_asked.replace(n_asked.get() + 1) >= 3;
        let (output, failed) = run_command("sleep 1000 & echo $!", &stops);
        assert_eq!(failed.as_deref(), Some("it was ended, as the run was"));
        // All of the output is there, so nothing holds it any more.
        assert!(output.trim().parse::<u32>().is_ok(), "{output}");
    }
}
