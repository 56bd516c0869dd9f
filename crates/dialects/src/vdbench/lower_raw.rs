//! The jobs of runs on storage definitions.
//!
//! What each of Vdbench's processes does on a storage definition ([`slaves`]) becomes a job that
//! keeps as many I/Os in flight as it has threads there, by one worker or, where that is faster, by
//! one per processor; the workload definitions it has become the job's parts. With
//! `concatenatesds` that is so for the volumes of workload definitions, each over its files.
//!
//! What differs from Vdbench, beside the figures: places and mixes are seeded, so that a run can
//! be repeated; `poisson`, `hotband` and the contents of duplicates follow our own formulas, which
//! [`plan::workload::Distribution`] and [`plan::verify::DedupeSets`] state; the sets of duplicates
//! are those of one storage definition, not of all; a share of the I/Os is kept within a few
//! operations, where Vdbench draws. Priorities decide only once the queue is full.

mod part;
mod target;

use plan::files::Fallocate;
use plan::load::{Flow, Limits, Load};
use plan::workload::{Access, BlockSize, Workload};
use plan::{Diagnostic, EngineKind, EngineSpec, Job, PerDir, rates};

pub(super) use part::HOT_BAND_EXPONENT;
pub(super) use target::seed_of;

use super::context::Context;
use super::run::{Arrivals, Rate, RawWork, Run, SdFormat, Wd, Work};
use super::{slaves, written};
use target::Target;

/// I/Os that a storage definition may be ahead of the slowest of the same run: the length of
/// Vdbench's queue before each.
pub(super) const SLACK_IOS: u32 = 2000;

/// Makes the jobs of a run on storage definitions, or of their formatting, without groups; none for
/// any other run.
pub(super) fn jobs(run: &Run, context: Context<'_>, findings: &mut Vec<Diagnostic>) -> Vec<Job> {
    let lowering = Lowering { run, context };
    match &run.work {
        Work::Raw(work) => lowering.raw_jobs(work, findings),
        Work::SdFormat(work) => lowering.format_jobs(work, findings),
        Work::Files(_) | Work::Format(_) => Vec::new(),
    }
}

/// What the jobs of one run share.
struct Lowering<'a> {
    run: &'a Run,
    context: Context<'a>,
}

/// One workload definition on one target.
struct WorkloadOnTarget<'a> {
    wd: &'a Wd,
    /// Share of the run's I/Os, of 1.
    share: f64,
    /// Its own rate on this target, I/Os per second.
    rate_iops: Option<f64>,
}

/// How much of a run a job does.
#[derive(Clone, Copy)]
struct JobShare {
    /// I/Os per second, or what is in proportion to them; `None` is as fast as it goes.
    rate_iops: Option<f64>,
    /// Weight in the flow that keeps jobs in step; `None` lets each go by itself.
    flow_weight: Option<u32>,
}

impl Lowering<'_> {
    fn raw_jobs(&self, work: &RawWork, findings: &mut Vec<Diagnostic>) -> Vec<Job> {
        let sources = self.context.sources;
        let seats = slaves::seats(work);
        let mut n_seats = vec![0; work.wds.len()];
        seats.iter().flat_map(|seat| &seat.wds).for_each(|wd| n_seats[*wd] += 1);
        let mut groups: Vec<(Target, Vec<WorkloadOnTarget<'_>>)> = Vec::new();
        for seat in &seats {
            let wds = || seat.wds.iter().filter_map(|idx| work.wds.get(*idx));
            let volume = wds().find(|wd| wd.concatenate);
            let target = match volume {
                Some(wd) => {
                    let sds = wd.sds.iter().filter_map(|idx| work.sds.get(*idx));
                    Target::of_volume(wd, sds, sources, findings)
                }
                None => work.sds.get(seat.sd).map(|sd| Target::of_sd(sd, sources, findings)),
            };
            let Some(target) = target else { continue };
            let uses = seat.wds.iter().zip(wds());
            let uses = uses.map(|(idx, wd)| self.use_of(wd, &work.wds, n_seats[*idx])).collect();
            groups.push((Target { threads: seat.threads, ..target }, uses));
        }
        let shares: Vec<f64> =
            groups.iter().map(|(_, uses)| uses.iter().map(|it| it.share).sum()).collect();
        let job_shares = self.job_shares(&shares, &work.wds);
        let jobs = groups.iter().zip(job_shares);
        let mut jobs: Vec<Job> = jobs
            .map(|((target, uses), share)| {
                let mut job = self.job(target, share, findings);
                job.parts = uses.iter().map(|it| part::part(it, target, findings)).collect();
                job.workload = summary(&job, target);
                job.options = target.options(uses.iter().map(|it| it.wd));
                job
            })
            .collect();
        if let Rate::Iops(rate) = self.run.rate
            && work.wds.iter().any(|wd| wd.iorate_iops.is_some())
        {
            rates::divide(&mut jobs, rate);
        }
        jobs
    }

    /// Returns what a workload definition does on each of `n_targets`.
    fn use_of<'a>(&self, wd: &'a Wd, wds: &[Wd], n_targets: usize) -> WorkloadOnTarget<'a> {
        let n_targets = n_targets.max(1) as f64;
        let share = share_of(self.run.rate, wd, wds);
        WorkloadOnTarget {
            wd,
            share: share / n_targets,
            rate_iops: wd.iorate_iops.map(|rate| rate / n_targets),
        }
    }

    /// Divides the run's rate, or its progress, among its jobs.
    fn job_shares(&self, shares: &[f64], wds: &[Wd]) -> Vec<JobShare> {
        let own: f64 = wds.iter().filter_map(|wd| wd.iorate_iops).sum();
        let is_all_rated = !wds.is_empty() && wds.iter().all(|wd| wd.iorate_iops.is_some());
        let total = match self.run.rate {
            Rate::Iops(rate) => Some(rate),
            // In proportion; what they come to is known when the maximum is.
            Rate::CurvePoint { .. } => Some(100.0),
            Rate::Max | Rate::CurveMax => is_all_rated.then_some(own),
        };
        let largest = shares.iter().copied().fold(0.0, f64::max);
        let is_flow = self.run.controlled && shares.len() > 1 && largest > 0.0;
        let of_share = |share: &f64| JobShare {
            rate_iops: total.map(|rate| rate * share),
            // Thousandths of the largest: exact enough, and small enough for the flow's counters.
            // A job with rates of its own and no share does not wait for others, nor they for it.
            flow_weight: (is_flow && *share > 0.0)
                .then(|| (share / largest * 1000.0).round().max(1.0) as u32),
        };
        shares.iter().map(of_share).collect()
    }

    /// Makes the job of a target, without its workloads.
    fn job(&self, target: &Target, share: JobShare, findings: &mut Vec<Diagnostic>) -> Job {
        let run = self.run;
        let flow = |weight| Flow { id: 1, weight, sleep_ns: 0, slack_ios: SLACK_IOS };
        Job {
            name: target.name.clone(),
            files: target.files.clone(),
            engine: EngineSpec {
                kind: EngineKind::Uring,
                name: "io_uring".to_owned(),
                gives_way: true,
                ..EngineSpec::default()
            },
            load: Load {
                queue_depth: target.threads,
                // Vdbench's threads run on all processors.
                spreads: true,
                rate_total_iops: share.rate_iops.filter(|rate| *rate > 0.0),
                rate_periods: run.rate_periods.clone().filter(|_| share.rate_iops.is_some()),
                // What starts together has no gaps to draw.
                arrivals: match &run.rate_periods {
                    Some(periods) if periods.in_spikes => Arrivals::Linear,
                    _ => run.arrivals,
                },
                flow: share.flow_weight.map(flow),
                ..Load::default()
            },
            limits: Limits {
                runtime_ns: run.elapsed_ns,
                time_based: run.elapsed_ns.is_some(),
                ramp_ns: run.warmup_ns,
                ..Limits::default()
            },
            buffers: written::buffers(run, target.dedup.as_ref(), self.context.loader, findings),
            errors: written::errors(run),
            ..Job::default()
        }
    }

    /// Writes each file from its start to its end, once.
    fn format_jobs(&self, work: &SdFormat, findings: &mut Vec<Diagnostic>) -> Vec<Job> {
        let jobs = work.sds.iter().map(|sd| {
            let mut target = Target::of_sd(sd, self.context.sources, findings);
            target.files.allow_create = true;
            // It grows as it is written: an interrupted format is known by the file's size.
            target.files.fallocate = Fallocate::KeepSize;
            let alone = JobShare { rate_iops: None, flow_weight: None };
            let mut job = self.job(&target, alone, findings);
            // Not even one that was killed between its last two blocks looks whole.
            job.load.last_io_waits = true;
            job.limits.time_based = false;
            job.workload = Workload {
                access: Access { read: false, write: true, ..Access::READ },
                block_size: PerDir::all(BlockSize::Fixed(work.xfersize_bytes.max(512))),
                seed: target.seed,
                ..Workload::default()
            };
            job.options = target.options(std::iter::empty());
            job
        });
        jobs.collect()
    }
}

/// Returns the share of a workload definition in the I/Os of a run with this rate, of 1. Those with
/// a rate of their own have it, as far as the run's goes, the most urgent first; the others share
/// what is left.
pub(super) fn share_of(rate: Rate, wd: &Wd, wds: &[Wd]) -> f64 {
    let own = |of: &dyn Fn(&Wd) -> bool| -> f64 {
        wds.iter().filter(|wd| of(wd)).filter_map(|wd| wd.iorate_iops).sum()
    };
    let all = own(&|_| true);
    match (rate, wd.iorate_iops) {
        (Rate::Iops(total), Some(own_iops)) if total > 0.0 => {
            let before = own(&|other| other.priority < wd.priority);
            own_iops.min((total - before).max(0.0)) / total
        }
        (Rate::Iops(total), None) if total > 0.0 => {
            (total - all).max(0.0) / total * wd.skew_pct / 100.0
        }
        (_, Some(own_iops)) if wds.iter().all(|wd| wd.iorate_iops.is_some()) => own_iops / all,
        _ => wd.skew_pct / 100.0,
    }
}

/// Returns what holds for a job with parts as a whole: what it issues, and its seed.
fn summary(job: &Job, target: &Target) -> Workload {
    let access = job.access();
    let first = job.parts.first().map(|part| part.workload.clone()).unwrap_or_default();
    Workload { access, seed: target.seed, ..first }
}
