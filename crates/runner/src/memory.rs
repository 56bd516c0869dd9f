//! How much memory a plan needs, computed before any of it is allocated.
//!
//! Numbers of a plan (`numjobs`, `nrfiles`, `iodepth`, `bs`) can be written of any size, and the
//! kernel grants memory that it does not have: a process that uses it is killed, or aborts. So the
//! needs are added up here and compared with every limit of this process.
//!
//! What a worker, a file and a place in a queue cost was measured, and is rounded up; buffers are
//! exact. Not included: maps of visited blocks ([`pattern::map`]), which are asked for where they
//! are made, and what is replayed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pattern::Offsets;
use plan::tree::TreeSpec;
use plan::verify::Memory;
use plan::{Diagnostic, Job, Plan};
use rustix::process::{Resource, getrlimit};
use units::format_bytes;

/// Code of the finding.
pub const NO_MEMORY: &str = "not-enough-memory";

/// What a worker touches: its thread's stack, its counters, its engine.
const WORKER_BYTES: u64 = 104 << 10;

/// Addresses that a worker takes: its stack ([`crate::seat`]), and counters of which most pages
/// are never touched.
const WORKER_MAPPED_BYTES: u64 = 1300 << 10;

/// A file of a worker: its name and region. Where its next I/O goes comes on top.
const FILE_BYTES: u64 = 208;

/// What is kept besides of a file that exists: its name for the kernel, its descriptor, facts.
const REAL_FILE_BYTES: u64 = 256;

/// A file of a tree, and a folder of one: [`worker::tree::TreeState`] has so many bits of each.
const TREE_FILE_BYTES: u64 = 2;
const TREE_FOLDER_BYTES: u64 = 5;

/// A place in a queue without its buffer.
const SLOT_BYTES: u64 = 256;

/// Left for all else that the process does, beside a plan that takes much.
const SPARED_BYTES: u64 = 64 << 20;

/// Addresses left for all else beside a plan that takes little: without them no thread starts.
const SPARED_MAPPED_BYTES: u64 = 4 << 20;

/// A need for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    /// What takes it, in words, and what would take less.
    what: MemoryUse,
    /// Pages that are touched, bytes.
    used_bytes: u64,
    /// Addresses that are taken, bytes: what `ulimit -v` counts.
    mapped_bytes: u64,
}

/// What of a job takes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryUse {
    Workers,
    Files,
    Trees,
    Queues,
    Buffers,
}

impl MemoryUse {
    /// Returns whether it is kept from the first step to the last.
    fn lasts(self) -> bool {
        match self {
            MemoryUse::Files | MemoryUse::Trees => true,
            MemoryUse::Workers | MemoryUse::Queues | MemoryUse::Buffers => false,
        }
    }

    /// Returns what would take less.
    fn remedy(self) -> &'static str {
        match self {
            MemoryUse::Workers => "lower `numjobs`",
            MemoryUse::Files => "lower `nrfiles` or `numjobs`",
            MemoryUse::Trees => "ask for fewer files and folders, or for fewer trees",
            MemoryUse::Queues => "lower `iodepth` or `numjobs`",
            MemoryUse::Buffers => "lower `iodepth`, `bs` or `numjobs`",
        }
    }
}

/// A limit of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Limit {
    /// Bytes that it leaves.
    left_bytes: u64,
    /// It counts addresses, not pages.
    is_of_addresses: bool,
    /// Where it comes from, and how it is raised.
    name: String,
}

/// Reports that the plan takes more memory than this process can have. To be asked before anything
/// is made for its workers and files. In virtual time no worker has a thread, an engine or buffers.
pub(crate) fn too_little(plan: &Plan, is_virtual: bool) -> Option<Diagnostic> {
    check(plan, is_virtual, &limits())
}

fn check(plan: &Plan, is_virtual: bool, limits: &[Limit]) -> Option<Diagnostic> {
    // Files of all steps are bound at once; workers of one step run together.
    let mut known = BTreeSet::new();
    let mut of_job = |job| {
        let trees = trees(job, &mut known);
        needs(job, is_virtual).into_iter().chain([trees]).map(move |need| (job, need))
    };
    let of_steps: Vec<Vec<(&Job, Need)>> =
        plan.steps.iter().map(|step| step.jobs.iter().flat_map(&mut of_job).collect()).collect();
    limits.iter().find_map(|limit| {
        let bytes = |(_, need): &(&Job, Need)| {
            if limit.is_of_addresses { need.mapped_bytes } else { need.used_bytes }
        };
        let lasts = |it: &&(&Job, Need)| it.1.what.lasts();
        let sum = |needs: &mut dyn Iterator<Item = &(&Job, Need)>| {
            needs.map(bytes).fold(0, u64::saturating_add)
        };
        let bound_bytes = sum(&mut of_steps.iter().flatten().filter(lasts));
        let running_bytes = of_steps
            .iter()
            .map(|needs| sum(&mut needs.iter().filter(|it| !lasts(it))))
            .max()
            .unwrap_or(0);
        let plan_bytes = bound_bytes.saturating_add(running_bytes);
        let spared_bytes = match (plan_bytes > SPARED_BYTES, limit.is_of_addresses) {
            (true, _) => SPARED_BYTES,
            (false, true) => SPARED_MAPPED_BYTES,
            // What takes so few pages fits nowhere: other things will say so.
            (false, false) => return None,
        };
        let all_bytes = plan_bytes.saturating_add(spared_bytes);
        if all_bytes <= limit.left_bytes {
            return None;
        }
        let largest = of_steps.iter().flatten().max_by_key(|it| bytes(it))?;
        Some(finding(largest, bytes(largest), all_bytes, limit))
    })
}

fn finding((job, need): &(&Job, Need), bytes: u64, all_bytes: u64, limit: &Limit) -> Diagnostic {
    let n_workers = u64::from(job.n_workers);
    let n_files = u64::from(job.files.n_files.max(1)) * n_workers;
    let n_slots = u64::from(job.load.queue_depth.max(1)) * n_workers;
    let what = match need.what {
        MemoryUse::Workers => format!("{n_workers} workers"),
        MemoryUse::Files => format!("{n_files} files"),
        MemoryUse::Trees => "the state of trees".to_owned(),
        MemoryUse::Queues => format!("queues for {n_slots} I/Os"),
        MemoryUse::Buffers => format!("{n_slots} buffers of {} B", job.block_size_max()),
    };
    let message = format!(
        "the plan takes about {} of memory, {} of them for {what} of job `{}`, but this process \
         can have {} ({})",
        format_bytes(all_bytes),
        format_bytes(bytes),
        job.name,
        format_bytes(limit.left_bytes),
        limit.name
    );
    Diagnostic::error(NO_MEMORY, message).help(need.what.remedy())
}

/// Returns what a job takes, by what takes it.
fn needs(job: &Job, is_virtual: bool) -> [Need; 4] {
    let n_workers = u64::from(job.n_workers);
    let need = |what, each_bytes: u64, n_of_worker: u64| {
        let bytes = each_bytes.saturating_mul(n_of_worker).saturating_mul(n_workers);
        Need { what, used_bytes: bytes, mapped_bytes: bytes }
    };
    let generates = job.files.names.is_empty() && job.tree.is_none();
    let n_files = u64::from(job.files.n_files.max(1)) * u64::from(generates);
    let is_idle = is_virtual || job.engine.kind.is_idle();
    let real_bytes = if is_idle { 0 } else { REAL_FILE_BYTES };
    let file_bytes = FILE_BYTES + real_bytes + Offsets::about_bytes(&job.workload);
    let n_slots = u64::from(job.load.queue_depth.max(1));
    // Huge pages are set aside for such buffers, and what a file backs goes back into it.
    let is_set_aside = match &job.buffers.memory {
        Memory::Malloc => false,
        Memory::Shm { huge } => *huge,
        Memory::Mmap { huge, shared: _, file } => *huge || file.is_some(),
    };
    let runs = !job.files.create_only;
    let has_buffers = runs && !is_virtual && !is_set_aside && !job.engine.kind.is_of_names();
    let n_threads = if runs && !is_virtual { n_workers } else { 0 };
    let buffer_bytes = if has_buffers { u64::from(job.block_size_max()) } else { 0 };
    let buffers = need(MemoryUse::Buffers, buffer_bytes, n_slots);
    let touched_bytes = if job.uses_buffers() { buffers.used_bytes } else { 0 };
    [
        Need {
            what: MemoryUse::Workers,
            used_bytes: WORKER_BYTES.saturating_mul(n_threads),
            mapped_bytes: WORKER_MAPPED_BYTES.saturating_mul(n_threads),
        },
        need(MemoryUse::Files, file_bytes, n_files),
        need(MemoryUse::Queues, SLOT_BYTES, n_slots),
        Need { used_bytes: touched_bytes, ..buffers },
    ]
}

/// A tree, or the trees that workers have of their own: its folder, and their component.
type TreeKey<'a> = (&'a str, Option<&'a str>);

/// Returns what the trees of a job take that no job before it has: each is kept once.
fn trees<'a>(job: &'a Job, known: &mut BTreeSet<TreeKey<'a>>) -> Need {
    let all = job.tree.iter().flat_map(|work| [&work.tree].into_iter().chain(&work.target));
    let bytes_of = |tree: &TreeSpec| {
        // One that has too many is refused for that.
        let (n_files, n_folders) = (tree.n_files().unwrap_or(0), tree.n_folders().unwrap_or(0));
        let n_trees = if tree.own.is_some() { u64::from(job.n_workers) } else { 1 };
        let bytes = n_files * TREE_FILE_BYTES + n_folders * TREE_FOLDER_BYTES;
        bytes.saturating_mul(n_trees)
    };
    let key = |tree: &'a TreeSpec| (&*tree.anchor, tree.own.as_ref().map(|own| &*own.component));
    let own = all.filter(|tree| known.insert(key(tree)));
    let bytes = own.map(bytes_of).fold(0, u64::saturating_add);
    Need { what: MemoryUse::Trees, used_bytes: bytes, mapped_bytes: bytes }
}

/// Returns the limits of this process, as far as they are known.
fn limits() -> Vec<Limit> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let of_resource = |resource, name: &str, is_of_addresses, option: &str| {
        let left_bytes = getrlimit(resource).current?.saturating_sub(kib(&status, name)?);
        Some(Limit { left_bytes, is_of_addresses, name: format!("raise `ulimit {option}`") })
    };
    let swap_bytes = kib(&meminfo, "SwapFree:").unwrap_or(0);
    let of_host = kib(&meminfo, "MemAvailable:").map(|bytes| Limit {
        left_bytes: bytes.saturating_add(swap_bytes),
        is_of_addresses: false,
        name: "what this host has free".to_owned(),
    });
    [
        of_resource(Resource::As, "VmSize:", true, "-v"),
        of_resource(Resource::Data, "VmData:", true, "-d"),
        of_cgroup().map(|left_bytes| Limit {
            left_bytes,
            is_of_addresses: false,
            name: "raise the memory limit of its control group or container".to_owned(),
        }),
        of_host,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a number of KiB from a table of the kernel, in bytes.
fn kib(table: &str, name: &str) -> Option<u64> {
    let rest = table.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns what the control groups of this process leave, by the strictest of them: the unified
/// hierarchy, or that of memory (cgroups(7)).
fn of_cgroup() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let of_group = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, files) = if controllers.is_empty() {
            ("/sys/fs/cgroup", ["memory.max", "memory.current"])
        } else if controllers.split(',').any(|name| name == "memory") {
            let files = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
            ("/sys/fs/cgroup/memory", files)
        } else {
            return None;
        };
        let path = Path::new(root).join(path.trim_start_matches('/'));
        path.ancestors()
            .take_while(|at| at.starts_with(root))
            .filter_map(|at| left(at, files))
            .min()
    };
    groups.lines().filter_map(of_group).min()
}

/// Returns what one group leaves; what its page cache holds can be given back.
fn left(group: &Path, [max, current]: [&str; 2]) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    let (max, current) = (number(max)?, number(current)?);
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let of_stat = |name: &str| {
        stat.lines().find_map(|line| line.strip_prefix(name))?.trim().parse::<u64>().ok()
    };
    // The first hierarchy counts a group alone, and with the groups below it as a total.
    let cached =
        [("total_active_file ", "active_file "), ("total_inactive_file ", "inactive_file ")];
    let cached = cached.iter().filter_map(|(total, own)| of_stat(total).or_else(|| of_stat(own)));
    Some(max.saturating_sub(current.saturating_sub(cached.sum())))
}

#[cfg(test)]
mod tests {
    use plan::tree::{Activity, Mixing, TreeOpen, TreeWork};
    use plan::workload::BlockSize;
    use plan::{EngineKind, PerDir, Step};

    use super::*;

    fn limit(left_bytes: u64, is_of_addresses: bool) -> Limit {
        Limit { left_bytes, is_of_addresses, name: "a limit".to_owned() }
    }

    /// Returns what is said of steps of one job each under a limit.
    #[track_caller]
    fn said(jobs: &[Job], limit: Limit) -> Option<(String, Vec<String>)> {
        let step = |job: &Job| Step { jobs: vec![job.clone()], ..Step::default() };
        let plan = Plan { steps: jobs.iter().map(step).collect(), ..Plan::default() };
        check(&plan, false, &[limit]).map(|it| (it.message, it.help))
    }

    fn null(set: impl FnOnce(&mut Job)) -> Job {
        let mut job = Job { name: "a".to_owned(), n_workers: 1, ..Job::default() };
        job.engine.kind = EngineKind::Null;
        set(&mut job);
        job
    }

    #[test]
    fn what_takes_most_is_named_with_its_remedy() {
        let gib = 1_u64 << 30;
        let of = |job: Job, expected: &str, remedy: &str| {
            let (message, help) = said(&[job], limit(gib, true)).expect("too much");
            assert!(message.contains(expected), "{message}");
            assert_eq!(help, [remedy]);
        };
        of(
            null(|job| job.n_workers = 20_000),
            "24.8 GiB of them for 20000 workers of job `a`, but this process can have 1.00 GiB",
            "lower `numjobs`",
        );
        of(
            null(|job| job.files.n_files = 16_000_000),
            "for 16000000 files of job `a`",
            "lower `nrfiles` or `numjobs`",
        );
        of(
            null(|job| {
                job.load.queue_depth = 64;
                job.workload.block_size = PerDir::all(BlockSize::Fixed(512 << 20));
            }),
            "32.0 GiB of them for 64 buffers of 536870912 B of job `a`",
            "lower `iodepth`, `bs` or `numjobs`",
        );
        of(
            null(|job| {
                job.load.queue_depth = 1 << 24;
                job.workload.block_size = PerDir::all(BlockSize::Fixed(1));
            }),
            "for queues for 16777216 I/Os of job `a`",
            "lower `iodepth` or `numjobs`",
        );
    }

    #[test]
    fn trees_are_counted_once_each() {
        let of_folder = |anchor: &str| {
            let tree = TreeSpec {
                anchor: anchor.to_owned(),
                depth: 1,
                width: 1000,
                files: 100_000,
                ..TreeSpec::default()
            };
            let work = TreeWork {
                tree,
                target: None,
                open: TreeOpen::default(),
                activity: Activity::Operations(Vec::new()),
                mixing: Mixing::default(),
            };
            null(|job| job.tree = Some(work.clone()))
        };
        // 200 MB each, kept from the first step to the last.
        let room = limit(256 << 20, false);
        assert_eq!(said(&[of_folder("/a"), of_folder("/a")], room.clone()), None);
        let (message, help) = said(&[of_folder("/a"), of_folder("/b")], room).expect("too much");
        assert!(message.contains("191 MiB of them for the state of trees"), "{message}");
        assert_eq!(help, ["ask for fewer files and folders, or for fewer trees"]);
    }

    #[test]
    fn what_fits_is_let_through() {
        let crowd = |n| null(|job| (job.n_workers, job.workload.access.write) = (n, true));
        let file_bytes = FILE_BYTES + Offsets::about_bytes(&Job::default().workload);
        let used_bytes = 1000 * (WORKER_BYTES + file_bytes + SLOT_BYTES) + SPARED_BYTES;
        let buffers_bytes = 1000 * u64::from(Job::default().block_size_max());
        let enough = limit(used_bytes + buffers_bytes, false);
        assert_eq!(said(&[crowd(1000)], enough.clone()), None);
        // Steps run one after another.
        let room = limit(enough.left_bytes + 2000 * file_bytes, false);
        assert_eq!(said(&[crowd(1000), crowd(1000), crowd(1000)], room), None);
        let less = limit(enough.left_bytes - 1, false);
        assert!(said(&[crowd(1000)], less).is_some());
        // What the null engine is asked to read touches no buffer.
        let readers = || null(|job| job.n_workers = 1000);
        assert_eq!(said(&[readers()], limit(used_bytes, false)), None);
        assert!(said(&[readers()], limit(used_bytes - 1, false)).is_some());
        // Where nothing is left, a job of one worker is not to blame; without addresses it cannot
        // start.
        assert_eq!(said(&[crowd(1)], limit(0, false)), None);
        let left = |n_mib: u64| limit(n_mib << 20, true);
        assert!(said(&[crowd(1)], left(5)).is_some());
        assert_eq!(said(&[crowd(1)], left(6)), None);
        let numbers = null(|job| (job.n_workers, job.files.n_files) = (u32::MAX, u32::MAX));
        assert!(said(&[numbers], limit(u64::MAX - 1, true)).is_some());
    }

    #[test]
    fn what_a_job_does_not_take_is_not_counted() {
        let job = null(|job| {
            (job.n_workers, job.load.queue_depth) = (1000, 64);
            job.workload.access.write = true;
            job.workload.block_size = PerDir::all(BlockSize::Fixed(1 << 20));
        });
        let room = limit(1 << 30, true);
        assert!(said(std::slice::from_ref(&job), room.clone()).is_some());
        let step = Step { jobs: vec![job.clone()], ..Step::default() };
        let plan = Plan { steps: vec![step], ..Plan::default() };
        assert_eq!(check(&plan, true, &[room]), None);
        // Without threads' stacks: what the pages of its buffers take.
        let room = limit(1 << 30, false);
        let huge = Memory::Mmap { huge: true, shared: false, file: None };
        for memory in [huge, Memory::Shm { huge: true }] {
            let mut job = job.clone();
            job.buffers.memory = memory;
            assert_eq!(said(&[job], room.clone()), None);
        }
        let mut job = job;
        job.files.create_only = true;
        assert_eq!(said(&[job], room), None);
    }

    #[test]
    fn tables_of_the_kernel_are_read() {
        let table = "VmPeak:\t  12 kB\nVmSize:\t     1024 kB\nVmData: x\n";
        assert_eq!(kib(table, "VmSize:"), Some(1 << 20));
        assert_eq!((kib(table, "VmData:"), kib(table, "VmRSS:")), (None, None));
        let dir = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            fs::write(dir.path().join(name), text).expect("a file");
        };
        let left = || left(dir.path(), ["memory.max", "memory.current"]);
        write("memory.max", "max\n");
        write("memory.current", "700\n");
        assert_eq!(left(), None);
        write("memory.max", "1000\n");
        assert_eq!(left(), Some(300));
        write("memory.stat", "anon 400\nactive_file 100\ninactive_file 200\n");
        assert_eq!(left(), Some(600));
    }
}
