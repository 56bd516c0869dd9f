//! Plan, step and job.

use crate::engine::EngineKind;
use crate::files::{Durability, Fileset};
use crate::load::{Limits, Load};
use crate::nfs::NfsSpec;
use crate::priority::{IoPriority, PriorityShare};
use crate::report::{Logs, Reporting};
use crate::tree::TreeWork;
use crate::verify::{Buffers, Verify};
use crate::workload::{Access, Workload};
use crate::{Direction, PerDir};

/// All that a run will do: steps, one after another.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Plan {
    /// The texts it was read from, for diagnostics: name and contents.
    pub sources: Vec<Source>,
    /// Steps in order; each starts when the one before has ended.
    pub steps: Vec<Step>,
    /// Options given for all jobs, as written (`global options` in fio's output).
    pub global_options: Vec<(String, String)>,
}

/// One input text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// File name as the user gave it, or `<command line>`.
    pub name: String,
    /// The text.
    pub text: String,
}

/// One measured period: the jobs between two barriers (`stonewall` in fio, a run in Vdbench).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Step {
    /// Name in reports; empty where the dialect has none.
    pub name: String,
    /// Jobs that run together.
    pub jobs: Vec<Job>,
    /// Nothing happens for so long before the step.
    pub pause_ns: u64,
    /// Shell commands before the jobs start.
    pub exec_before: Vec<String>,
    /// Shell commands after the jobs have ended.
    pub exec_after: Vec<String>,
    /// The rate depends on what another step achieved.
    pub rate_of: Option<RateOf>,
    /// Ends when all jobs together have moved so much.
    pub amount_max: AmountMax,
}

/// A rate that is a share of what an earlier step achieved (a point of a curve).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateOf {
    /// That step, from 0. The jobs of this step keep the shares that their `rate_total_iops` have
    /// of the sum, equal ones where there are none.
    pub step_idx: u32,
    /// Percent of its I/Os per second, above 0.
    pub pct: f64,
    /// How the rate is rounded: up to a multiple of the second where it is above the first, else
    /// up to a multiple of the third. Vdbench: 1000, 100, 10.
    pub round_up: (u64, u64, u64),
    /// The step is left out, with all that refer to the same one, when the rate is below this.
    pub rate_min_iops: u64,
    /// The same when a step before it that refers to the same one had a mean latency above this.
    pub stop_above_ns: Option<u64>,
    /// So much of the start of measured time is left out of what that step, and those before this
    /// one, achieved; all of it counts where little more than that was measured. Vdbench without
    /// a warmup leaves out the first interval.
    pub after_ns: u64,
}

/// What all jobs of a step move together at most in the measured time, bytes; 0 is no limit. It is
/// exceeded by what is moved within a millisecond or so, and what is in flight then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AmountMax {
    /// Read and written.
    pub total_bytes: u64,
    /// Read.
    pub read_bytes: u64,
    /// Written.
    pub write_bytes: u64,
}

/// One of several workloads that a job's workers mix, operation by operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name in reports.
    pub name: String,
    /// Share of the job's operations, in proportion to the other parts' weights, above 0. Without
    /// effect in parts with a rate of their own; the others share what those leave of the job's.
    pub weight: f64,
    /// A rate of its own, I/Os per second, before what the others get; shared equally by its
    /// workers.
    pub rate_iops: Option<f64>,
    /// Order in which operations go when the queue has room for one and several are due: the
    /// smallest first.
    pub priority: u32,
    /// What its I/O looks like.
    pub workload: Workload,
    /// Part of each file that it works on.
    pub region: PartRegion,
}

impl Default for Part {
    fn default() -> Self {
        Part {
            name: String::new(),
            weight: 1.0,
            rate_iops: None,
            priority: 0,
            workload: Workload::default(),
            region: PartRegion::Whole,
        }
    }
}

/// A part of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PartRegion {
    /// All of the job's region.
    #[default]
    Whole,
    /// From here to there in percent of the job's region; the end may be above 100, up to 200, and
    /// goes on at the start of the region then.
    Pct(f64, f64),
    /// From this byte of the job's region up to that one, which does not belong to it.
    Bytes(u64, u64),
}

/// System call of the file-stat engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatCall {
    /// `stat`.
    Stat,
    /// `lstat`.
    Lstat,
    /// `statx`.
    Statx,
}

/// An engine and its switches. Switches of other engines are without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSpec {
    /// Which.
    pub kind: EngineKind,
    /// The name the user wrote (`libaio`, `psync`), for reports.
    pub name: String,
    /// Uring, `preadv2`: poll for completions.
    pub poll: bool,
    /// `preadv2`: share of I/Os polled, percent.
    pub poll_pct: u8,
    /// Uring: native AIO takes its place where the kernel would hand each I/O to threads of its
    /// own. For jobs that name no engine themselves.
    pub gives_way: bool,
    /// Uring: registered buffers; `None` lets the engine choose.
    pub fixed_buffers: Option<bool>,
    /// Uring: registered files; `None` lets the engine choose.
    pub registered_files: Option<bool>,
    /// Uring: the kernel polls the submission queue.
    pub sq_poll: bool,
    /// Uring: CPU of that kernel thread.
    pub sq_poll_cpu: Option<u32>,
    /// Uring: every this many I/Os are forced asynchronous; 0 is off.
    pub force_async: u32,
    /// Uring, `preadv2`: `RWF_DONTCACHE`.
    pub uncached: bool,
    /// Uring, aio, `preadv2`: `RWF_NOWAIT`.
    pub nowait: bool,
    /// Aio: reap from the ring in user space.
    pub userspace_reap: bool,
    /// Mmap: transparent huge pages.
    pub huge_pages: bool,
    /// File-stat: the call.
    pub stat_call: StatCall,
    /// Nfs: the export.
    pub nfs: NfsSpec,
    /// Share of I/Os with raised priority per direction, percent.
    pub priority_pct: PerDir<u8>,
    /// Class of those I/Os, 0..=3; 0 is real time.
    pub priority_class: PerDir<u8>,
    /// Level of those I/Os, 0..=7.
    pub priority_level: PerDir<u8>,
    /// Hint of those I/Os, 0..=1023.
    pub priority_hint: PerDir<u16>,
    /// Shares by block size, in place of one share for all; see [`Job::priority_shares`].
    pub priority_split: PerDir<Vec<PriorityShare>>,
}

impl Default for EngineSpec {
    fn default() -> Self {
        EngineSpec {
            kind: EngineKind::Sync,
            name: "psync".to_owned(),
            poll: false,
            poll_pct: 100,
            gives_way: false,
            fixed_buffers: None,
            registered_files: None,
            sq_poll: false,
            sq_poll_cpu: None,
            force_async: 0,
            uncached: false,
            nowait: false,
            userspace_reap: false,
            huge_pages: false,
            stat_call: StatCall::Stat,
            nfs: NfsSpec::default(),
            priority_pct: PerDir::all(0),
            priority_class: PerDir::all(0),
            priority_level: PerDir::all(0),
            priority_hint: PerDir::all(0),
            priority_split: PerDir::all(Vec::new()),
        }
    }
}

/// When several CPUs are given, who gets which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuPolicy {
    /// All workers share all CPUs.
    Shared,
    /// One CPU per worker, in turn.
    Split,
}

/// Surroundings of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Threads were asked for instead of processes. Workers are threads in any case.
    pub thread: bool,
    /// CPUs to run on; empty is any.
    pub cpus: Vec<u32>,
    /// Who gets which.
    pub cpu_policy: CpuPolicy,
    /// NUMA nodes to run on; empty is any.
    pub numa_cpu_nodes: Vec<u32>,
    /// NUMA memory policy as written (`bind:0`, `interleave:0-1`).
    pub numa_mem_policy: Option<String>,
    /// Nice value, -20..=19.
    pub nice: i8,
    /// I/O priority class, 0..=3.
    pub io_priority_class: u8,
    /// I/O priority level, 0..=7.
    pub io_priority: u8,
    /// Hint beside the I/O priority, 0..=1023.
    pub io_priority_hint: u16,
    /// Class, level or hint was given, perhaps as 0.
    pub sets_io_priority: bool,
    /// Shell command before the job.
    pub exec_before: Option<String>,
    /// Shell command after the job.
    pub exec_after: Option<String>,
    /// User id to change to.
    pub uid: Option<u32>,
    /// Group id to change to.
    pub gid: Option<u32>,
    /// I/O scheduler to set on the devices.
    pub io_scheduler: Option<String>,
}

impl Default for Process {
    fn default() -> Self {
        Process {
            thread: false,
            cpus: Vec::new(),
            cpu_policy: CpuPolicy::Shared,
            numa_cpu_nodes: Vec::new(),
            numa_mem_policy: None,
            nice: 0,
            io_priority_class: 0,
            io_priority: 0,
            io_priority_hint: 0,
            sets_io_priority: false,
            exec_before: None,
            exec_after: None,
            uid: None,
            gid: None,
            io_scheduler: None,
        }
    }
}

impl Process {
    /// Returns the priority of all I/O that has none of its own; [`IoPriority::NONE`] unless one
    /// was given.
    pub fn priority(&self) -> IoPriority {
        let (class, level, hint) =
            (self.io_priority_class, self.io_priority, self.io_priority_hint);
        if self.sets_io_priority || class > 0 || level > 0 || hint > 0 {
            IoPriority::new(class, level, hint)
        } else {
            IoPriority::NONE
        }
    }
}

/// Which errors do not end a job (`continue_on_error`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ErrorPolicy {
    /// Reads that fail with EIO or EILSEQ are counted and the job goes on.
    pub continue_read: bool,
    /// The same for writes (and trims).
    pub continue_write: bool,
    /// The same for blocks that fail verification.
    pub continue_verify: bool,
    /// Error numbers that do not count as errors, per read, write and verify.
    pub ignored_errno: [Vec<i32>; 3],
    /// Errors are counted over all workers of the step, whatever their number, and go on; with
    /// this many of them, at least 1, the worker fails. `None` is no limit. In a tree of files
    /// reads, writes, copies and closes are survived so; whatever else fails there ends its worker.
    pub n_errors_max: Option<u64>,
    /// With `n_errors_max`: a step with errors that were survived has failed when it ends, and
    /// nothing follows it.
    pub fails_in_the_end: bool,
    /// With `n_errors_max`: everything ends when the last error is so long ago.
    pub quiet_ns: Option<u64>,
    /// Print each error that does not end the job.
    pub dump: bool,
    /// The first failing job ends all.
    pub exit_all_on_error: bool,
    /// The first finished job ends these.
    pub exit_all: ExitAll,
}

/// What the end of one job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExitAll {
    /// Only itself.
    #[default]
    Itself,
    /// Its group.
    Group,
    /// Its step.
    Step,
    /// Everything.
    All,
}

/// Permissions to do harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Safety {
    /// Write to a device that is mounted.
    pub allow_mounted: bool,
    /// Write to a device that holds a partition table or a file system.
    pub overwrite_filesystem: bool,
}

/// One workload bound to targets and workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Name; several jobs may share one.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Workers, each a clone with its own files and seed; at least 1.
    pub n_workers: u32,
    /// Reporting group, counted over the whole plan from 0.
    pub group_id: u32,
    /// Starts when all workers of the job with this name have ended.
    pub wait_for: Option<String>,
    /// Files.
    pub files: Fileset,
    /// Engine.
    pub engine: EngineSpec,
    /// Mix, sizes, addressing.
    pub workload: Workload,
    /// Several workloads in place of the one; results are kept for each. Empty: `workload` alone.
    /// With parts, `workload` is without effect but for its seed.
    pub parts: Vec<Part>,
    /// Work on a tree of files, in place of `files`, `workload` and `parts`.
    pub tree: Option<TreeWork>,
    /// Depth and rates.
    pub load: Load,
    /// Start and stop.
    pub limits: Limits,
    /// Durability during the run.
    pub durability: Durability,
    /// Buffers' contents.
    pub buffers: Buffers,
    /// Verification.
    pub verify: Verify,
    /// Results.
    pub reporting: Reporting,
    /// Log files.
    pub logs: Logs,
    /// Surroundings.
    pub process: Process,
    /// Errors.
    pub errors: ErrorPolicy,
    /// Permissions.
    pub safety: Safety,
    /// Options as written for this job, canonical names, after substitution.
    pub options: Vec<(String, String)>,
}

impl Default for Job {
    fn default() -> Self {
        Job {
            name: String::new(),
            description: None,
            n_workers: 1,
            group_id: 0,
            wait_for: None,
            files: Fileset::default(),
            engine: EngineSpec::default(),
            workload: Workload::default(),
            parts: Vec::new(),
            tree: None,
            load: Load::default(),
            limits: Limits::default(),
            durability: Durability::default(),
            buffers: Buffers::default(),
            verify: Verify::default(),
            reporting: Reporting::default(),
            logs: Logs::default(),
            process: Process::default(),
            errors: ErrorPolicy::default(),
            safety: Safety::default(),
            options: Vec::new(),
        }
    }
}

impl Job {
    /// Returns whether one I/O ends before the next is issued, whatever the queue depth.
    pub fn issues_one_at_a_time(&self) -> bool {
        self.tree.is_some() || (self.engine.kind.is_synchronous() && !self.load.offload)
    }

    /// Iterates over the workloads that the job's workers mix: those of its parts, or its one.
    pub fn workloads(&self) -> impl Iterator<Item = &Workload> {
        let own = self.parts.is_empty().then_some(&self.workload);
        own.into_iter().chain(self.parts.iter().map(|part| &part.workload))
    }

    /// Returns what the job may issue, over all its workloads: `random` says that any of them is.
    /// [`Job::issued_directions`] leaves out those to which a mix gives no share.
    pub fn access(&self) -> Access {
        self.access_of(|workload| workload.access)
    }

    fn access_of(&self, of: impl Fn(&Workload) -> Access) -> Access {
        let none = Access { read: false, ..Access::READ };
        self.workloads().map(of).fold(none, |all, access| Access {
            read: all.read | access.read,
            write: all.write | access.write,
            trim: all.trim | access.trim,
            random: all.random | access.random,
            trim_then_write: all.trim_then_write | access.trim_then_write,
        })
    }

    /// Returns the smallest block size in bytes over the directions that the job issues.
    pub fn block_size_min(&self) -> u32 {
        self.workloads().map(Workload::block_size_min).min().unwrap_or(0)
    }

    /// Returns the largest block size in bytes over the directions that the job issues.
    pub fn block_size_max(&self) -> u32 {
        self.workloads().map(Workload::block_size_max).max().unwrap_or(0)
    }

    /// Iterates over the directions that the job issues. A mix of reads alone or of writes alone
    /// issues no other.
    pub fn issued_directions(&self) -> impl Iterator<Item = Direction> + use<> {
        self.access_of(Workload::drawn).issued()
    }

    /// Returns which I/Os of a direction carry a priority of their own: at most one of the shares
    /// takes an I/O, and what no share takes has the job's.
    ///
    /// Empty for trims, for directions that the job does not issue, and for engines whose I/Os
    /// cannot carry one; so in fio.
    pub fn priority_shares(&self, dir: Direction) -> Vec<PriorityShare> {
        let engine = &self.engine;
        let is_issued = dir != Direction::Trim && self.issued_directions().any(|it| it == dir);
        if !is_issued || !engine.kind.has_priorities() {
            return Vec::new();
        }
        let class = match engine.priority_class[dir] {
            0 => IoPriority::REAL_TIME,
            class => class,
        };
        let usual = IoPriority::new(class, engine.priority_level[dir], engine.priority_hint[dir]);
        let of_all =
            PriorityShare { block_bytes: None, pct: engine.priority_pct[dir], priority: usual };
        let mut shares = engine.priority_split[dir].clone();
        shares.push(of_all);
        shares.retain(|share| share.pct > 0);
        for share in shares.iter_mut().filter(|share| share.priority == IoPriority::NONE) {
            share.priority = usual;
        }
        shares
    }

    /// Returns whether submission is a step of its own, with a latency: not where one call submits
    /// and completes, as at the null engine with one I/O in flight, too.
    pub fn has_submission_latency(&self) -> bool {
        let kind = self.engine.kind;
        !(kind.is_synchronous() || (kind.is_idle() && self.load.queue_depth <= 1))
    }

    /// Returns whether the job starts over until its time is over.
    pub fn repeats_for_a_time(&self) -> bool {
        self.limits.time_based && self.limits.runtime_ns.is_some()
    }

    /// Returns whether a job that verifies what it writes never comes to it: as in fio, one that
    /// issues one I/O at a time writes until its time is over. With a queue each pass is read back
    /// before the next one, and `verify_backlog` does so in between.
    pub fn never_reads_back(&self) -> bool {
        let verify = &self.verify;
        let wants = verify.method.is_some() && verify.do_verify && !verify.verify_only;
        wants
            && self.workload.access.write
            && verify.backlog == 0
            && self.repeats_for_a_time()
            && self.issues_one_at_a_time()
    }

    /// Returns whether bytes of its I/Os are read or written by anyone: those that an idle engine
    /// is asked to read are not, unless they are verified.
    pub fn uses_buffers(&self) -> bool {
        !self.engine.kind.is_idle() || self.modifies() || self.verify.method.is_some()
    }

    /// Returns whether the job changes its targets.
    pub fn modifies(&self) -> bool {
        if let Some(work) = &self.tree {
            return work.modifies();
        }
        self.workloads().any(|workload| workload.access.write || workload.access.trim)
    }
}

impl Plan {
    /// Iterates over all jobs in order.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.steps.iter().flat_map(|step| step.jobs.iter())
    }

    /// Iterates over all jobs in order, to change them.
    pub fn jobs_mut(&mut self) -> impl Iterator<Item = &mut Job> {
        self.steps.iter_mut().flat_map(|step| step.jobs.iter_mut())
    }

    /// Leaves the choice between io_uring and native AIO to the host, where the user named none.
    pub fn engines_give_way(&mut self) {
        self.jobs_mut().for_each(|job| job.engine.gives_way = true);
    }
}
