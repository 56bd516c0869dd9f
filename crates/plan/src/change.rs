//! What a job changes: on its targets, around them, and on this host.
//!
//! One description, that of [`changes`], serves all callers: a run that may change nothing
//! (`--readonly`), and the guard of devices. It takes a job apart field by field, without a rest,
//! so that a new field, engine or operation does not compile before it is decided here.
//!
//! What depends on what is there, a missing file that is made or a short one that is extended, is
//! decided where that is known: when the plan is bound to a host.

use crate::engine::{EngineWork, NameOp, SpaceCall};
use crate::files::{Durability, Fileset};
use crate::job::{Job, Process};
use crate::op::OpKind;
use crate::report::Logs;
use crate::tree::{Activity, TreeWork};
use crate::verify::{Buffers, Memory, Verify};

/// Bit of `open(2)` that makes a file.
const O_CREAT: u32 = 0o100;

/// Bit of `open(2)` that empties a file.
const O_TRUNC: u32 = 0o1000;

/// What a change is made to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The job's files and devices.
    Targets,
    /// The tree of files below its anchor.
    Tree,
    /// Something else on this host: what a command does, a setting of a device.
    Host,
}

/// One thing that a job changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it is made to.
    pub scope: Scope,
    /// What is done, to be followed by the target or command: `writes to`, `removes`, `runs`.
    pub verb: &'static str,
    /// For the host: what is run or set. For targets: the option it follows from, empty for plain
    /// I/O. For trees: the operation.
    pub by: String,
}

impl Change {
    #[expect(clippy::unnecessary_wraps, reason = "callers list what may be none")]
    fn of(scope: Scope, verb: &'static str, by: impl Into<String>) -> Option<Change> {
        Some(Change { scope, verb, by: by.into() })
    }
}

/// Returns everything that the job changes, whatever is there before it; nothing for a job that
/// only reads and syncs.
pub fn changes(job: &Job) -> Vec<Change> {
    let Job {
        files,
        engine,
        // What of them changes something comes with the accesses of all workloads, or the tree.
        workload: _,
        parts: _,
        tree,
        durability,
        buffers,
        process,
        // What they write is no change: see `outputs`.
        verify: _,
        logs: _,
        name: _,
        description: _,
        n_workers: _,
        group_id: _,
        wait_for: _,
        load: _,
        limits: _,
        reporting: _,
        errors: _,
        safety: _,
        options: _,
    } = job;
    let Durability {
        // Syncs write back what others have written, and change nothing by themselves.
        fsync_every: _,
        fdatasync_every: _,
        sync_file_range_every: _,
        sync_file_range_flags: _,
        barrier_every: _,
        end_fsync: _,
        end_syncfs: _,
    } = durability;
    let of_io = match tree {
        Some(work) => [of_tree(work), Vec::new()],
        // No file is touched.
        None if engine.kind.is_idle() => [Vec::new(), Vec::new()],
        None => [of_engine(job), of_files(files)],
    };
    let around = [of_process(process), of_buffers(buffers)];
    of_io.into_iter().chain(around).flatten().flatten().collect()
}

/// Returns whether the job changes its files, devices or trees, whatever is there before it.
pub fn changes_targets(job: &Job) -> bool {
    changes(job).iter().any(|change| change.scope != Scope::Host)
}

/// Returns what operations of the engine do, as the job's accesses ask for them.
fn of_engine(job: &Job) -> Vec<Option<Change>> {
    let access = job.access();
    let of = |verb| Change::of(Scope::Targets, verb, format!("ioengine={}", job.engine.name));
    let is_wanted =
        |wanted: bool, verb| wanted.then(|| Change::of(Scope::Targets, verb, "")).flatten();
    match job.engine.kind.traits().work {
        EngineWork::Bytes | EngineWork::MappedBytes | EngineWork::ServerBytes => {
            vec![is_wanted(access.write, "writes to"), is_wanted(access.trim, "trims")]
        }
        // A read reserves space, too.
        EngineWork::Space(SpaceCall::Fallocate) => vec![of("reserves or frees space of")],
        EngineWork::Space(SpaceCall::Ftruncate) => vec![of("sets the size of")],
        EngineWork::Names(op) => match op {
            NameOp::FileCreate | NameOp::DirCreate => vec![of("creates")],
            NameOp::FileDelete | NameOp::DirDelete => vec![of("removes")],
            NameOp::FileStat | NameOp::DirStat => Vec::new(),
        },
        EngineWork::Nothing => Vec::new(),
    }
}

/// Returns what is done with the files around the I/O.
fn of_files(files: &Fileset) -> Vec<Option<Change>> {
    let Fileset {
        unlink,
        unlink_each_loop,
        open_flag_bits,
        // These only matter to files that are missing or too short, and are laid out then.
        size: _,
        file_size_bytes: _,
        allow_create: _,
        create_on_open: _,
        create_only: _,
        create_serialize: _,
        create_fsync: _,
        fallocate: _,
        overwrite: _,
        // These only matter to jobs that write.
        append: _,
        fill_device: _,
        sync: _,
        atomic: _,
        fsync_on_close: _,
        // Which files, how they are opened and in which order they are used.
        names: _,
        directories: _,
        name_format: _,
        n_files: _,
        n_open: _,
        io_size: _,
        offset: _,
        offset_increment: _,
        offset_align_bytes: _,
        service: _,
        ios_per_file: _,
        file_type: _,
        direct: _,
        invalidate: _,
        fadvise: _,
        pre_read: _,
        lock: _,
        open_dir: _,
        concatenate: _,
        spares_first_block: _,
        unique_per_host: _,
    } = files;
    let removes = |wanted: &bool, by: &str| {
        wanted.then(|| Change::of(Scope::Targets, "removes", by)).flatten()
    };
    vec![
        removes(unlink, "unlink=1"),
        removes(unlink_each_loop, "unlink_each_loop=1"),
        of_open_bits(Scope::Targets, *open_flag_bits),
    ]
}

fn of_open_bits(scope: Scope, bits: u32) -> Option<Change> {
    if bits & O_TRUNC != 0 {
        return Change::of(scope, "empties", "O_TRUNC");
    }
    (bits & O_CREAT != 0).then(|| Change::of(scope, "creates", "O_CREAT")).flatten()
}

/// Returns what is changed first in a tree of files.
fn of_tree(work: &TreeWork) -> Vec<Option<Change>> {
    let TreeWork { tree: _, target: _, open, activity, mixing: _ } = work;
    let of_activity = match activity {
        Activity::Format(_) => Change::of(Scope::Tree, "does", "format"),
        Activity::Operations(tasks) => tasks.iter().find(|task| task.modifies()).and_then(|task| {
            let is_mixed = !task.operation.modifies();
            let operation = if is_mixed { OpKind::Write } else { task.operation };
            Change::of(Scope::Tree, "does", operation.name())
        }),
    };
    vec![of_activity, of_open_bits(Scope::Tree, open.raw_bits)]
}

/// Returns what is done to this host around the job.
fn of_process(process: &Process) -> Vec<Option<Change>> {
    let Process {
        exec_before,
        exec_after,
        io_scheduler,
        // What concerns the worker's own thread.
        thread: _,
        cpus: _,
        cpu_policy: _,
        numa_cpu_nodes: _,
        numa_mem_policy: _,
        nice: _,
        io_priority_class: _,
        io_priority: _,
        io_priority_hint: _,
        sets_io_priority: _,
        uid: _,
        gid: _,
    } = process;
    let runs = |command: &Option<String>| {
        command.as_ref().and_then(|command| Change::of(Scope::Host, "runs", command.as_str()))
    };
    let sets = io_scheduler
        .as_ref()
        .and_then(|name| Change::of(Scope::Host, "sets", format!("ioscheduler={name}")));
    vec![runs(exec_before), runs(exec_after), sets]
}

/// Returns what memory for buffers changes.
fn of_buffers(buffers: &Buffers) -> Vec<Option<Change>> {
    let Buffers {
        memory,
        refill: _,
        zero: _,
        scramble: _,
        pattern: _,
        pattern_source_bytes: _,
        compress_pct: _,
        compress_chunk_bytes: _,
        compress_ratio: _,
        dedupe_sets: _,
        dedupe_pct: _,
        dedupe_mode: _,
        align_bytes: _,
        lock_memory_bytes: _,
    } = buffers;
    vec![match memory {
        Memory::Malloc | Memory::Shm { huge: _ } => None,
        Memory::Mmap { huge: _, shared: _, file } => file
            .as_ref()
            .and_then(|file| Change::of(Scope::Host, "uses as memory", format!("the file {file}"))),
    }]
}

/// A file other than the targets that a job writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// The option that asks for it.
    pub option: &'static str,
    /// Its path; empty is a name of our own in the folder for such files.
    pub path: String,
}

/// Returns the files that the job writes in addition to its targets: records and dumps. They are
/// what the user asks for and no change, as long as they do not lie in a target. Log files are
/// named by who writes them, since each worker has some.
pub fn outputs(job: &Job) -> Vec<OutputFile> {
    let mut outputs = outputs_of_logs(&job.logs);
    outputs.extend(outputs_of_verify(&job.verify));
    outputs
}

fn outputs_of_logs(logs: &Logs) -> Vec<OutputFile> {
    let Logs {
        bandwidth: _,
        iops: _,
        latency: _,
        histogram: _,
        write_replay,
        window_ms: _,
        value: _,
        histogram_window_ms: _,
        histogram_coarseness: _,
        offset: _,
        priority: _,
        issue_time: _,
        unix_epoch: _,
        per_worker: _,
        compressed: _,
        read_replay: _,
        replay: _,
    } = logs;
    let of_path = |path: &String| OutputFile { option: "write_iolog", path: path.clone() };
    write_replay.iter().map(of_path).collect()
}

fn outputs_of_verify(verify: &Verify) -> Vec<OutputFile> {
    let Verify {
        method,
        dump,
        state_save: _,
        do_verify: _,
        verify_only: _,
        interval_bytes: _,
        header_offset_bytes: _,
        pattern: _,
        pattern_interval_bytes: _,
        backlog: _,
        backlog_batch: _,
        n_threads: _,
        thread_cpus: _,
        fatal: _,
        state_load: _,
        policy: _,
        check_header_seed: _,
        check_write_sequence: _,
        regenerate: _,
        trimmed_is_zero: _,
    } = verify;
    // A state is saved of what was written, so by jobs only that write.
    let dumps = *dump && method.is_some();
    dumps.then(|| OutputFile { option: "verify_dump", path: String::new() }).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineKind;
    use crate::files::{Size, SyncMode};
    use crate::workload::Access;

    fn job(kind: EngineKind, access: Access) -> Job {
        let mut job = Job::default();
        job.engine.kind = kind;
        job.engine.name = "e".to_owned();
        job.workload.access = access;
        job
    }

    const WRITE: Access = Access { read: false, write: true, ..Access::READ };
    const TRIM: Access = Access { read: false, trim: true, ..Access::READ };

    /// Returns what the job changes, one in a line.
    fn said(job: &Job) -> Vec<String> {
        let of = |change: Change| format!("{:?} {} {}", change.scope, change.verb, change.by);
        changes(job).into_iter().map(of).collect()
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Job), expected: &[&str]) {
        let mut job = job(EngineKind::Sync, Access::READ);
        change(&mut job);
        assert_eq!(said(&job), expected);
    }

    #[test]
    fn every_engine_changes_what_its_operations_do() {
        use EngineKind as E;
        let nothing: [&str; 0] = [];
        for kind in [E::Uring, E::Aio, E::Sync, E::VectoredSync, E::VectoredSync2, E::Mmap, E::Nfs]
        {
            assert_eq!(said(&job(kind, Access::READ)), nothing);
            assert_eq!(said(&job(kind, WRITE)), ["Targets writes to "]);
            assert_eq!(said(&job(kind, TRIM)), ["Targets trims "]);
        }
        for access in [Access::READ, WRITE, TRIM] {
            for kind in [E::Null, E::Names(NameOp::FileStat), E::Names(NameOp::DirStat)] {
                assert_eq!(said(&job(kind, access)), nothing);
            }
            let of = |kind| said(&job(kind, access));
            assert_eq!(
                of(E::Space(SpaceCall::Fallocate)),
                ["Targets reserves or frees space of ioengine=e"]
            );
            assert_eq!(of(E::Space(SpaceCall::Ftruncate)), ["Targets sets the size of ioengine=e"]);
            assert_eq!(of(E::Names(NameOp::FileCreate)), ["Targets creates ioengine=e"]);
            assert_eq!(of(E::Names(NameOp::DirCreate)), ["Targets creates ioengine=e"]);
            assert_eq!(of(E::Names(NameOp::FileDelete)), ["Targets removes ioengine=e"]);
            assert_eq!(of(E::Names(NameOp::DirDelete)), ["Targets removes ioengine=e"]);
        }
    }

    #[test]
    fn what_is_done_around_the_io_counts() {
        check(|job| job.files.unlink = true, &["Targets removes unlink=1"]);
        check(|job| job.files.unlink_each_loop = true, &["Targets removes unlink_each_loop=1"]);
        check(|job| job.files.open_flag_bits = O_TRUNC, &["Targets empties O_TRUNC"]);
        check(|job| job.files.open_flag_bits = O_CREAT, &["Targets creates O_CREAT"]);
        check(|job| job.process.exec_before = Some("a".to_owned()), &["Host runs a"]);
        check(|job| job.process.exec_after = Some("b".to_owned()), &["Host runs b"]);
        check(
            |job| job.process.io_scheduler = Some("none".to_owned()),
            &["Host sets ioscheduler=none"],
        );
        let file = || Memory::Mmap { huge: false, shared: true, file: Some("/m".to_owned()) };
        check(|job| job.buffers.memory = file(), &["Host uses as memory the file /m"]);
    }

    #[test]
    fn a_job_of_no_files_runs_commands_all_the_same() {
        let mut job = job(EngineKind::Null, WRITE);
        job.files.unlink = true;
        job.process.exec_before = Some("a".to_owned());
        assert_eq!(said(&job), ["Host runs a"]);
    }

    #[test]
    fn what_only_matters_to_missing_files_or_writers_is_no_change() {
        check(
            |job| {
                job.files.size = Some(Size::Bytes(1 << 20));
                job.files.create_on_open = true;
                job.files.create_only = true;
                job.files.overwrite = true;
                job.files.sync = SyncMode::Sync;
                job.durability.end_fsync = true;
                job.durability.fsync_every = 1;
            },
            &[],
        );
    }

    #[test]
    fn outputs_are_named_by_their_options() {
        let mut job = Job::default();
        job.logs.write_replay = Some("io.log".to_owned());
        let names: Vec<_> = outputs(&job).into_iter().map(|it| (it.option, it.path)).collect();
        assert_eq!(names, [("write_iolog", "io.log".to_owned())]);
    }
}
