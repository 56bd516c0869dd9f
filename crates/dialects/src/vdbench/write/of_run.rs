//! Values of jobs that a run says as a whole: threads, rates, and shares of progress.

use plan::job::RateOf;
use plan::load::Flow;
use plan::{Step, job_fields};

use super::super::{lower_files, lower_raw};
use super::run_words::{RunWords, WrittenJob};
use super::shares::{flow_weight, is_near, rate_iops, rate_periods};
use super::writer::Writer;

impl Writer {
    /// Answers for the values of a run's jobs that its definitions say together.
    pub(super) fn of_run(&mut self, step: &Step, words: &RunWords<'_>, points: &[RateOf]) {
        let total_iops = words.rate_iops.filter(|rate| *rate > 0.0 && points.is_empty());
        for written in &words.written {
            self.at = written.at.clone();
            let is_own = |sd: &String| {
                words.written.iter().filter(|other| other.storage.contains(sd)).count() == 1
            };
            // Jobs on the same storage definition share its threads.
            let has_own_threads = !words.is_tree && written.storage.iter().all(is_own);
            self.works_out(job_fields![load.queue_depth, n_workers], has_own_threads);
            self.of_rate(written, words, total_iops);
            let periods = &written.job.load.rate_periods;
            let is_of_run = total_iops.is_some() && periods.as_ref() == rate_periods(step);
            self.works_out(job_fields![load.rate_periods], is_of_run);
            match written.job.load.flow {
                Some(flow) => self.of_flow(flow, written, words, total_iops),
                None => self.of_no_flow(written, words, total_iops),
            }
        }
    }

    fn of_rate(&mut self, written: &WrittenJob<'_>, words: &RunWords<'_>, total_iops: Option<f64>) {
        let job = written.job;
        for (part, idx) in job.parts.iter().zip(&written.workloads) {
            if part.rate_iops.is_some() && words.workloads[*idx].targets.len() > 1 {
                self.to.lose(format!("the rate of `{}` alone", part.name));
            }
        }
        let said_iops = if words.is_rate_of_some {
            Some(words.sum_of(written, &words.shares))
        } else {
            total_iops.map(|total| total * words.sum_of(written, &words.pcts) / 100.0)
        };
        // A rate of what the job does not issue is none.
        let is_said = |was: f64| said_iops.is_some_and(|is| is_near(was, is));
        let is_its_rate = rate_iops(job).is_none_or(is_said);
        self.works_out(job_fields![load.rate, load.rate_total_iops], is_its_rate);
    }

    /// Answers for the share of progress of a job that is kept in step with others.
    fn of_flow(
        &mut self,
        flow: Flow,
        written: &WrittenJob<'_>,
        words: &RunWords<'_>,
        total_iops: Option<f64>,
    ) {
        let jobs = || words.written.iter().map(|it| it.job);
        let is_one_flow = jobs().all(|job| job.load.flow.is_some_and(|it| it.id == flow.id));
        let is_kept = keeps_in_step(words, total_iops)
            && is_one_flow
            && !words.is_rate_of_some
            && flow.sleep_ns == 0;
        if !is_kept {
            return;
        }
        let total: f64 = jobs().filter_map(flow_weight).sum();
        let was_pct = flow_weight(written.job).map(|weight| 100.0 * weight / total);
        let is_pct = words.sum_of(written, &words.pcts);
        let is_its_share = was_pct.is_some_and(|was| is_near(was, is_pct));
        self.works_out(job_fields![load.flow?.id, load.flow?.weight], is_its_share);
        let slack_ios = if words.is_tree { lower_files::SLACK_IOS } else { lower_raw::SLACK_IOS };
        self.works_out(job_fields![load.flow?.slack_ios], flow.slack_ios == slack_ios);
        if flow.slack_ios != slack_ios {
            let loss = "how far a job may be ahead of its share: Vdbench lets it be";
            self.lose(job_fields![load.flow?.slack_ios], format!("{loss} {slack_ios} I/Os"));
        }
    }

    /// Notes that a job goes at a pace of its own, where Vdbench lets it wait for the others.
    fn of_no_flow(
        &mut self,
        written: &WrittenJob<'_>,
        words: &RunWords<'_>,
        total_iops: Option<f64>,
    ) {
        let flow = job_fields![load.flow];
        let has_rate = rate_iops(written.job).is_some();
        if (words.is_rate_of_some && has_rate) || !keeps_in_step(words, total_iops) {
            return;
        }
        match (has_rate, words.written.len()) {
            // One schedule is for all of its files in either tool.
            (true, 1) => self.is_the_same(flow),
            (true, _) => self.lose(
                flow,
                "jobs that keep their rates when another falls behind its own: Vdbench keeps them \
                 in step",
            ),
            (false, _) => {
                self.lose(flow, "a pace of its own that each job has: Vdbench keeps them in step");
            }
        }
    }
}

/// Returns whether Vdbench keeps the definitions of a run in step.
fn keeps_in_step(words: &RunWords<'_>, total_iops: Option<f64>) -> bool {
    if words.is_tree {
        return total_iops.is_none() && words.workloads.len() > 1;
    }
    // With rates of some jobs, only the others share what is left.
    let members =
        words.written.iter().filter(|it| !words.is_rate_of_some || rate_iops(it.job).is_none());
    let mut storage: Vec<&String> = members.flat_map(|it| &it.storage).collect();
    storage.sort();
    storage.dedup();
    (words.is_controlled || total_iops.is_some()) && storage.len() * words.n_processes > 1
}
