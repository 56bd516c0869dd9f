//! The jobs of runs on file systems: one per workload and structure.

use plan::load::Flow;
use plan::op::{OpClass, OpKind};
use plan::tree::{self, Activity, Before, Format, Mixing, TreeSpec, TreeTask, TreeWork};
use plan::workload::{Access, BlockSize};
use plan::{Diagnostic, Direction, EngineKind, Job, PerDir};

use super::context::Context;
use super::run::{FileWork, FormatWork, Fsd, Fwd, Rate, Run, Work, Xfersize, joined};
use super::written;

/// Operations that a workload may be ahead of the slowest one's share where shares are kept
/// without a rate: few, so that the shares hold in short runs as well.
pub(super) const SLACK_IOS: u32 = 16;

/// Scale of the weights that keep shares: skew is given to a hundredth of a percent, and divided
/// by threads.
const WEIGHT_SCALE: f64 = 10_000.0;

/// Scale of the shares of transfer sizes: they are given to a hundredth of a percent.
const SHARE_SCALE: f64 = 100.0;

/// Makes the jobs of a run on files, or of a format, without names and groups; none for any other
/// run.
///
/// As in Vdbench, failed reads, writes, copies and closes are survived as `data_errors=` says; any
/// other failed operation ends everything.
pub(super) fn jobs(run: &Run, context: Context<'_>, findings: &mut Vec<Diagnostic>) -> Vec<Job> {
    let mut jobs = match &run.work {
        Work::Files(work) => of_files(run, work),
        Work::Format(work) => of_format(run, work),
        Work::Raw(_) | Work::SdFormat(_) => Vec::new(),
    };
    if !jobs.is_empty() {
        let buffers = written::buffers(run, None, context.loader, findings);
        for job in &mut jobs {
            job.buffers = buffers.clone();
        }
    }
    jobs
}

/// Returns the jobs of workloads on files.
fn of_files(run: &Run, work: &FileWork) -> Vec<Job> {
    // Of a point of a curve in proportion; what they come to is known when the maximum is.
    let total_iops = match run.rate {
        Rate::Iops(iops) => Some(iops),
        Rate::CurvePoint { .. } => Some(100.0),
        Rate::Max | Rate::CurveMax => None,
    };
    let keeps_shares = total_iops.is_none() && work.fwds.len() > 1;
    let of_fwd = |fwd: &Fwd| {
        let fsd = work.fsds.get(fwd.fsd)?;
        let task = task(fwd);
        let target = fwd.target.and_then(|idx| work.fsds.get(idx));
        let mut job = job(run, fwd.threads);
        set_access(&mut job, &task.block_size, accesses(&task));
        job.tree = Some(TreeWork {
            tree: TreeSpec { share: share(work, fwd, fsd), ..tree_spec(fsd) },
            target: target.map(tree_spec),
            open: joined(fsd.open, fwd.open),
            activity: Activity::Operations(vec![task]),
            mixing: Mixing::Drawn,
        });
        job.load.rate_total_iops = total_iops.map(|iops| iops * fwd.skew_pct / 100.0);
        if keeps_shares {
            let weight = fwd.skew_pct * WEIGHT_SCALE / f64::from(fwd.threads.max(1));
            let weight = (weight.round() as u32).max(1);
            job.load.flow = Some(Flow { id: 1, weight, sleep_ns: 0, slack_ios: SLACK_IOS });
        }
        Some(job)
    };
    work.fwds.iter().filter_map(of_fwd).collect()
}

/// Returns the jobs of a format: one per structure.
fn of_format(run: &Run, work: &FormatWork) -> Vec<Job> {
    let first_target = work.fsds.len() - work.n_targets.min(work.fsds.len());
    let of_fsd = |(idx, fsd): (usize, &Fsd)| {
        let mut job = job(run, work.threads);
        if !work.limited {
            job.limits.runtime_ns = None;
        }
        job.limits.ramp_ns = 0;
        let block_bytes = work.xfersize_bytes.max(1);
        set_access(&mut job, &BlockSize::Fixed(block_bytes), (false, true));
        job.tree = Some(TreeWork {
            // A part in use is all that is needed later, but whole structures are made.
            tree: TreeSpec { working_set_bytes: 0, ..tree_spec(fsd) },
            target: None,
            open: joined(fsd.open, work.open),
            activity: Activity::Format(Format {
                clean: work.clean,
                create: work.create,
                folders_only: work.directories_only || idx >= first_target,
                block_bytes,
            }),
            mixing: Mixing::Drawn,
        });
        job
    };
    work.fsds.iter().enumerate().map(of_fsd).collect()
}

/// Makes a job with what all have in common, without a name.
fn job(run: &Run, threads: u32) -> Job {
    let mut job = Job { n_workers: threads.max(1), ..Job::default() };
    job.engine.kind = EngineKind::Sync;
    plan::tree::ENGINE_NAME.clone_into(&mut job.engine.name);
    job.limits.runtime_ns = run.elapsed_ns;
    job.limits.ramp_ns = run.warmup_ns;
    job.load.arrivals = run.arrivals;
    job.errors = written::errors(run);
    job.reporting.group_reporting = true;
    job
}

/// Reports which directions a job issues and how large its I/Os are, for all that is not the
/// tree's.
fn set_access(job: &mut Job, sizes: &BlockSize, (read, write): (bool, bool)) {
    job.workload.access = Access { read, write, trim: false, random: true, trim_then_write: false };
    job.workload.block_size = PerDir::all(sizes.clone());
}

fn accesses(task: &TreeTask) -> (bool, bool) {
    let pct = task.read_pct;
    match task.operation.class() {
        OpClass::Bytes(Direction::Read) => (true, pct.is_some_and(|pct| pct < 100.0)),
        OpClass::Bytes(Direction::Write) => (pct.is_some_and(|pct| pct > 0.0), true),
        OpClass::Bytes(Direction::Trim) | OpClass::Sync(_) | OpClass::File => (true, false),
    }
}

fn task(fwd: &Fwd) -> TreeTask {
    let operation = fwd.operation.kind();
    let moves_bytes = matches!(operation, OpKind::Read | OpKind::Write);
    TreeTask {
        name: String::new(),
        weight: 1.0,
        operation,
        read_pct: fwd.rdpct.filter(|_| moves_bytes).map(|pct| pct.clamp(0.0, 100.0)),
        io: fwd.fileio,
        select: fwd.fileselect,
        hot_places: None,
        block_size: block_size(&fwd.xfersize),
        stop_after: fwd.stopafter,
        before: Before::Nothing,
        recycles: false,
    }
}

fn block_size(xfersize: &Xfersize) -> BlockSize {
    match xfersize {
        Xfersize::Fixed(bytes) => BlockSize::Fixed((*bytes).max(1)),
        Xfersize::Split(parts) => {
            let weight = |share: f64| (share * SHARE_SCALE).round() as u32;
            let parts = parts.iter().map(|(bytes, share)| ((*bytes).max(1), weight(*share)));
            BlockSize::Weighted(parts.filter(|part| part.1 > 0).collect())
        }
        Xfersize::Range { min, max, align } => {
            let step = (*align).max(1);
            BlockSize::Stepped { min: (*min).max(1), max: (*max).max(1), step }
        }
    }
}

/// Returns a structure as a tree.
pub(super) fn tree_spec(fsd: &Fsd) -> TreeSpec {
    let (file_mask, folder_mask) = match &fsd.mask {
        Some((file_mask, folder_mask)) => (file_mask.clone(), folder_mask.clone()),
        None => (tree::DEFAULT_MASKS.0.to_owned(), tree::DEFAULT_MASKS.1.to_owned()),
    };
    TreeSpec {
        name: fsd.name.clone(),
        anchor: fsd.anchor.clone(),
        create_parents: fsd.create_parents,
        // 5.04.07 takes 0 as well.
        depth: fsd.depth.max(1),
        width: fsd.width.max(1),
        files: fsd.files,
        bottom_only: fsd.bottom_only,
        bare_folders: 0,
        sizes: fsd.sizes.clone(),
        file_mask,
        folder_mask,
        used_files: 0,
        total_bytes: fsd.total_bytes,
        working_set_bytes: fsd.working_set_bytes,
        share: (0, 1),
        seed: tree::DEFAULT_SEED,
        own: None,
    }
}

/// Returns which of the files of a shared structure a host uses: every n-th.
fn share(work: &FileWork, fwd: &Fwd, fsd: &Fsd) -> (u32, u32) {
    if !fsd.shared {
        return (0, 1);
    }
    let mut hosts: Vec<&str> = Vec::new();
    for other in work.fwds.iter().filter(|other| other.fsd == fwd.fsd) {
        if !hosts.contains(&other.host.as_str()) {
            hosts.push(&other.host);
        }
    }
    let position = hosts.iter().position(|host| *host == fwd.host);
    let position = position.expect("a workload is one of its run's, whose hosts these are");
    (position as u32, hosts.len() as u32)
}
