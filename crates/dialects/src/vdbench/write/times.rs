//! A run definition: its rate, its times, and the commands around it.

use std::fmt::Write;

use plan::job::{AmountMax, RateOf};
use plan::load::{RatePeriod, RatePeriods};
use plan::param::Field;
use plan::{Job, Step, job_field, job_fields};

use super::super::values::NS_PER_S;
use super::run_words::RunWords;
use super::shares::rate_periods;
use super::words::{comment, curve_words, distribution_words, is_sayable, rate_words};
use super::writer::Writer;

/// Elapsed time of a step that ends by amount, seconds: Vdbench always needs one.
const ELAPSED_S: u64 = 3600;

/// Smallest amount of data that is bytes, and no multiple of what a run works on.
const MAXDATA_BYTES_MIN: u64 = 100;

impl Writer {
    /// Writes the definition of a run.
    pub(super) fn run(&mut self, step: &Step, words: &RunWords<'_>, points: &[RateOf]) {
        let format = self.format_of(words);
        self.n_runs += 1;
        let title = step.name.split(' ').next().unwrap_or_default();
        let (name, _) = self.named("rd", title, &format!("{}", self.n_runs));
        if !step.name.is_empty() && step.name != name {
            let _ = writeln!(self.runs, "* {}", comment(&step.name));
        }
        let (kind, rate_key) = if words.is_tree { ("fwd", "fwdrate") } else { ("wd", "iorate") };
        let rate = match words.rate_iops {
            _ if !points.is_empty() => curve_words(points),
            Some(rate) if rate > 0.0 => match rate_periods(step) {
                Some(periods) => self.period_words(periods, rate),
                None => rate_words(rate),
            },
            _ => "max".to_owned(),
        };
        let list: Vec<&str> = words.workloads.iter().map(|wd| wd.name.as_str()).collect();
        let list = list.join(",");
        let mut line = format!("rd={name},{kind}=({list}),{rate_key}={rate}");
        self.times(step, &mut line);
        if let Some(job) = step.jobs.first() {
            let mut parts = step.jobs.iter().flat_map(|job| &job.parts);
            let has_rate = words.rate_iops.is_some_and(|rate| rate > 0.0)
                || words.is_rate_of_some
                || parts.any(|part| part.rate_iops.is_some());
            let distribution = distribution_words(job.load.arrivals, has_rate, rate_periods(step));
            self.say(&mut line, job_fields![load.arrivals], distribution);
            // Vdbench's own have no word, and without a rate there are none.
            self.works_out(job_fields![load.arrivals], distribution.is_empty());
        }
        if let Some(format) = format {
            let _ = write!(line, ",format={format}");
        }
        self.amounts(step.amount_max, &mut line);
        let _ = writeln!(self.runs, "{line}");
    }

    /// Says after how many bytes a run ends.
    fn amounts(&mut self, most: AmountMax, line: &mut String) {
        let limits = [
            ("maxdata", most.total_bytes),
            ("maxdataread", most.read_bytes),
            ("maxdatawritten", most.write_bytes),
        ];
        for (key, bytes) in limits.into_iter().filter(|(_, bytes)| *bytes > 0) {
            if bytes < MAXDATA_BYTES_MIN {
                self.to.lose(format!("an amount of {bytes} bytes after which all jobs end"));
            } else {
                let _ = write!(line, ",{key}={bytes}");
            }
        }
    }

    /// Returns the rates and seconds of a rate that changes, `rate_iops` at most.
    fn period_words(&mut self, periods: &RatePeriods, rate_iops: f64) -> String {
        if periods.periods.iter().any(|it| !it.duration_ns.is_multiple_of(NS_PER_S)) {
            self.lose(
                job_fields![load.rate_periods?.periods],
                "periods of a rate that are not whole seconds: rounded up",
            );
        }
        let largest = periods.rate_max();
        let is_near = |it: &RatePeriod| {
            let rate = it.rate / largest * rate_iops;
            rate_words(rate).parse().is_ok_and(|is: f64| (is - rate).abs() < 2e-3 * rate_iops)
        };
        if !periods.periods.iter().all(is_near) {
            self.lose(
                job_fields![load.rate_periods?.periods],
                "periods whose rates differ by less than two decimals say",
            );
        }
        let pair = |it: &RatePeriod| {
            let rate = rate_words(it.rate / largest * rate_iops);
            format!("{rate},{}", it.duration_ns.div_ceil(NS_PER_S))
        };
        format!("({})", periods.periods.iter().map(pair).collect::<Vec<_>>().join(","))
    }

    fn times(&mut self, step: &Step, line: &mut String) {
        let seconds = |ns: u64| ns.div_ceil(1_000_000_000);
        let elapsed = step.jobs.iter().filter_map(|job| job.limits.runtime_ns).max().map(seconds);
        // Operations on files go on until something ends them.
        let ends = |job: &Job| {
            job.limits.runtime_ns.is_none() || (!job.limits.time_based && job.tree.is_none())
        };
        if step.jobs.iter().any(ends) {
            self.lose(
                job_fields![limits.runtime_ns, limits.time_based],
                "an end by amount: Vdbench runs for its elapsed time, over and over; seekpct=eof \
                 ends a sequential workload at the end of its lun",
            );
        }
        // They do so with `time_based` and without it.
        if step.jobs.iter().any(|job| job.tree.is_some() && job.limits.time_based) {
            self.to.do_without(job_fields![limits.time_based]);
        }
        self.times_that_differ(step);
        // At least two intervals, and a whole number of them.
        let elapsed = elapsed.unwrap_or(ELAPSED_S).max(2);
        let warmup = step.jobs.iter().map(|job| job.limits.ramp_ns).max().map_or(0, seconds);
        let warmup = if warmup > 0 { format!(",warmup={warmup}") } else { String::new() };
        self.say(
            line,
            job_fields![limits.runtime_ns, limits.time_based, limits.ramp_ns],
            format_args!(",elapsed={elapsed},interval=1{warmup}"),
        );
        if !step.pause_ns.is_multiple_of(NS_PER_S) {
            self.to.lose("a pause that is not whole seconds: rounded up");
        }
        if step.pause_ns > 0 {
            let _ = write!(line, ",pause={}", seconds(step.pause_ns));
        }
        let of_jobs = |pick: fn(&Job) -> &Option<String>| step.jobs.iter().flat_map(pick).cloned();
        let before = step.exec_before.iter().cloned();
        let before = before.chain(of_jobs(|job| &job.process.exec_before));
        let after = of_jobs(|job| &job.process.exec_after).chain(step.exec_after.iter().cloned());
        self.command(
            "startcmd",
            job_field!(process.exec_before),
            &before.collect::<Vec<_>>(),
            line,
        );
        self.command("endcmd", job_field!(process.exec_after), &after.collect::<Vec<_>>(), line);
    }

    /// Reports what is run before or after a run.
    fn command(&mut self, key: &str, field: Field, commands: &[String], line: &mut String) {
        let command = commands.join("; ");
        if !is_sayable(&command) {
            self.lose(&[field], format!("`{key}={command}`: quotes or line ends within a command"));
        } else if !command.is_empty() {
            self.say(line, &[field], format_args!(",{key}=\"{command}\""));
        }
    }

    /// Notes times of jobs that the one elapsed time and the one warm-up of a run do not say.
    fn times_that_differ(&mut self, step: &Step) {
        let runtimes = || step.jobs.iter().filter_map(|job| job.limits.runtime_ns);
        let ramps = || step.jobs.iter().map(|job| job.limits.ramp_ns);
        let is_uneven = runtimes().any(|it| Some(it) != runtimes().next())
            || ramps().any(|it| Some(it) != ramps().next());
        if is_uneven {
            self.lose(
                job_fields![limits.runtime_ns, limits.ramp_ns],
                "times that differ between jobs: the longest is that of the run",
            );
        }
        let is_whole = |ns: u64| ns.is_multiple_of(NS_PER_S);
        if !runtimes().all(|ns| is_whole(ns) && ns >= 2 * NS_PER_S) || !ramps().all(is_whole) {
            self.lose(
                job_fields![limits.runtime_ns, limits.ramp_ns],
                "times that are not whole seconds, or below two: rounded up",
            );
        }
        let arrivals = || step.jobs.iter().map(|job| job.load.arrivals);
        if arrivals().any(|it| Some(it) != arrivals().next()) {
            self.lose(
                job_fields![load.arrivals],
                "arrivals that differ between jobs: those of the first are taken",
            );
        }
    }
}
