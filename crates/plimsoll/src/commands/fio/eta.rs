//! fio's line with the time left, on standard output.

use std::io::{self, IsTerminal};

use dialects::fio::output::{EtaStatus, JobState, eta_line};
use dialects::fio::{self, Switches};
use plan::load::Rate;
use plan::{Job, PerDir, Plan};
use runner::Status;

use crate::clock::Stopwatch;
use crate::stream;

const NS_PER_S: u64 = 1_000_000_000;

/// The line, from one showing to the next.
pub(super) struct Eta<'a> {
    plan: &'a Plan,
    newline_ms: u64,
    newline_since: Stopwatch,
    last_length: usize,
    /// Time of the steps that have ended, and of the current one so far.
    past_ns: u64,
    step_ns: u64,
}

impl<'a> Eta<'a> {
    /// Returns whether the line is shown: on a terminal or where it is wanted, and never where it
    /// would stand in data (`is_safe` is false).
    pub(super) fn wanted(switches: &Switches, is_safe: bool) -> bool {
        let shown = match switches.eta {
            fio::Eta::Always => true,
            fio::Eta::Never => false,
            fio::Eta::Auto => io::stdout().is_terminal(),
        };
        shown && is_safe
    }

    pub(super) fn new(switches: &Switches, plan: &'a Plan) -> Self {
        Eta {
            plan,
            newline_ms: switches.eta_newline_ms,
            newline_since: Stopwatch::start(),
            last_length: 0,
            past_ns: 0,
            step_ns: 0,
        }
    }

    /// Shows the line.
    pub(super) fn show(&mut self, status: &Status) {
        self.step_ns = status.elapsed_ns;
        let mut line = stream::fit_stdout(&self.line(status));
        self.last_length = line.trim_end().len() + 1;
        let since_ms = self.newline_since.elapsed().as_millis();
        if self.newline_ms > 0 && since_ms >= u128::from(self.newline_ms) {
            self.newline_since = Stopwatch::start();
            self.last_length = 0;
            line.push('\n');
        }
        // A reader that has gone is noticed when the report is written.
        let _ = stream::print(&line);
    }

    /// Takes note that a step has ended.
    pub(super) fn step_ended(&mut self) {
        self.past_ns += std::mem::take(&mut self.step_ns);
    }

    /// Leaves the line, if one was shown.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.last_length) > 0 {
            let _ = stream::print("\n");
        }
    }

    fn line(&self, status: &Status) -> String {
        let left_ns = status.left_ns.and_then(|left_ns| {
            let later = self.plan.steps.iter().skip(status.step_idx as usize + 1);
            later.map(|step| step_ns(&step.jobs)).try_fold(left_ns, |sum, step| Some(sum + step?))
        });
        let done_ns = self.past_ns + status.elapsed_ns;
        let done_pct = left_ns.filter(|_| !status.ramp).map(|left_ns| {
            done_ns as f64 * 100.0 / (done_ns.saturating_add(left_ns)).max(1) as f64
        });
        let reporting = self.plan.jobs().next().map(|job| &job.reporting);
        let per_dir = |values: [f64; 3]| PerDir {
            read: values[0] as u64,
            write: values[1] as u64,
            trim: values[2] as u64,
        };
        eta_line(&EtaStatus {
            n_running: status.n_running,
            n_files_open: self.n_files_open(status),
            states: &self.states(status),
            rate_limits_bytes: self.limits(status, |rate| match rate {
                Rate::Bytes(bytes) => Some(bytes),
                Rate::Iops(_) => None,
            }),
            rate_limits_iops: self.limits(status, |rate| match rate {
                Rate::Iops(iops) => Some(iops),
                Rate::Bytes(_) => None,
            }),
            done_pct,
            rate_bytes: per_dir(status.bytes_per_s),
            rate_iops: per_dir(status.iops),
            left_s: left_ns.map(|left_ns| left_ns.div_ceil(NS_PER_S)),
            kb_base: reporting.map_or(1024, |reporting| reporting.kb_base),
            unit_base: reporting.map_or(0, |reporting| reporting.unit_base),
            last_length: self.last_length,
            columns: stream::stdout_columns(),
        })
    }

    /// Returns a state per worker of the plan. Of the current step it is known how many run, not
    /// which: the first ones are taken.
    fn states(&self, status: &Status) -> Vec<JobState> {
        let mut states = Vec::new();
        for (step_idx, step) in self.plan.steps.iter().enumerate() {
            let mut n_running = status.n_running;
            for job in &step.jobs {
                for _ in 0..job.n_workers {
                    states.push(match step_idx.cmp(&(status.step_idx as usize)) {
                        std::cmp::Ordering::Less => JobState::Done,
                        std::cmp::Ordering::Greater => JobState::NotCreated,
                        std::cmp::Ordering::Equal if n_running == 0 => JobState::Done,
                        std::cmp::Ordering::Equal if status.ramp => JobState::Ramp,
                        std::cmp::Ordering::Equal => JobState::Running(job.workload.access),
                    });
                    n_running = n_running.saturating_sub(1);
                }
            }
        }
        states
    }

    fn jobs(&self, status: &Status) -> &[Job] {
        self.plan.steps.get(status.step_idx as usize).map_or(&[], |step| &step.jobs)
    }

    fn n_files_open(&self, status: &Status) -> u32 {
        let files = |job: &Job| match job.files.names.len() {
            0 => job.files.n_files,
            n_names => n_names as u32,
        };
        let most = self.jobs(status).iter().map(files).max().unwrap_or(1);
        status.n_running.saturating_mul(most)
    }

    /// Sums lower and upper limits of the step's jobs; `None` where no job has one.
    fn limits(&self, status: &Status, pick: fn(Rate) -> Option<u64>) -> Option<(u64, u64)> {
        let sum = |rates: &PerDir<Option<Rate>>, job: &Job| -> u64 {
            let picked = job.access().issued().filter_map(|dir| pick(rates[dir]?));
            picked.sum::<u64>().saturating_mul(u64::from(job.n_workers))
        };
        let jobs = self.jobs(status);
        let min = jobs.iter().map(|job| sum(&job.load.rate_min, job)).sum::<u64>();
        let max = jobs.iter().map(|job| sum(&job.load.rate, job)).sum::<u64>();
        (min > 0 || max > 0).then_some((min, max))
    }
}

/// Returns how long a step runs, as far as its jobs say.
pub(super) fn step_ns(jobs: &[Job]) -> Option<u64> {
    let times = jobs.iter().map(|job| {
        let limits = &job.limits;
        Some(limits.start_delay_ns.1 + limits.ramp_ns + limits.runtime_ns?)
    });
    times.collect::<Option<Vec<u64>>>().map(|times| times.into_iter().max().unwrap_or(0))
}
