//! Engines: their names in job files, and the switches of those that are built in. Switches of the
//! others are in `foreign.rs`.

use super::entry::{Param, Support, Value, ValueKind};
use super::error::ValueError;
use super::fields::{
    Above0, BASE, COUNT, Codec, PERCENT, Plain, Word, choice, dirs, field, given, mismatch,
    put_given, some, unknown_word, words,
};
use crate::job::StatCall;
use crate::{EngineKind, Job, NameOp, SpaceCall, job_field};

/// An engine as a job file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineName {
    /// The name.
    pub name: &'static str,
    /// Which of ours carries it out; `None` is not built in.
    pub kind: Option<EngineKind>,
    /// One line: what it does.
    pub doc: &'static str,
    /// For one that is not built in, what to use instead; for an alias, how ours differs.
    pub note: &'static str,
    /// fio has it only where it is built for it, and not as distributions build it.
    pub is_rare: bool,
}

const fn ours(name: &'static str, kind: EngineKind, doc: &'static str) -> EngineName {
    EngineName { name, kind: Some(kind), doc, note: "", is_rare: false }
}

const fn absent(name: &'static str, doc: &'static str, note: &'static str) -> EngineName {
    EngineName { name, kind: None, doc, note, is_rare: false }
}

const fn rare(name: &'static str, doc: &'static str, note: &'static str) -> EngineName {
    EngineName { is_rare: true, ..absent(name, doc, note) }
}

/// What to use where a cloud or cluster has a client library and a kernel driver.
const VIA_MOUNT: &str = "mount or map it with the kernel's client and use `io_uring`";
const VIA_DEVICE: &str = "use `io_uring` on the block device";
const NO_NETWORK: &str = "sockets are not measured; `null` shows the generator's own limit";

/// Every engine that a job file may name: ours first, then those that are not built in.
pub static ENGINES: &[EngineName] = &[
    ours("io_uring", EngineKind::Uring, "asynchronous I/O through a submission ring"),
    ours(
        "libaio",
        EngineKind::Aio,
        "Linux native asynchronous I/O; without direct=1 its calls wait for each I/O",
    ),
    ours("sync", EngineKind::Sync, "one read or write at a time, by pread and pwrite"),
    ours("psync", EngineKind::Sync, "one read or write at a time, by pread and pwrite"),
    ours("vsync", EngineKind::VectoredSync, "one preadv or pwritev at a time"),
    ours("pvsync", EngineKind::VectoredSync, "one preadv or pwritev at a time"),
    ours("pvsync2", EngineKind::VectoredSync2, "one preadv2 or pwritev2 at a time, with flags"),
    ours("mmap", EngineKind::Mmap, "copies to and from a mapping of the file"),
    ours("nfs", EngineKind::Nfs, "files of an NFSv3 server, without a mount; see nfs_url"),
    ours("null", EngineKind::Null, "completes at once and moves no data"),
    ours(
        "falloc",
        EngineKind::Space(SpaceCall::Fallocate),
        "reserves space on write, punches holes on trim",
    ),
    ours("ftruncate", EngineKind::Space(SpaceCall::Ftruncate), "sets the file's size on write"),
    ours("filecreate", EngineKind::Names(NameOp::FileCreate), "creates one file per operation"),
    ours(
        "filestat",
        EngineKind::Names(NameOp::FileStat),
        "reads the metadata of one file per operation",
    ),
    ours("filedelete", EngineKind::Names(NameOp::FileDelete), "removes one file per operation"),
    ours("dircreate", EngineKind::Names(NameOp::DirCreate), "creates one directory per operation"),
    ours(
        "dirstat",
        EngineKind::Names(NameOp::DirStat),
        "reads the metadata of one directory per operation",
    ),
    ours("dirdelete", EngineKind::Names(NameOp::DirDelete), "removes one directory per operation"),
    EngineName {
        name: "posixaio",
        kind: Some(EngineKind::Aio),
        doc: "POSIX asynchronous I/O, carried out by Linux native AIO",
        note: "`posixaio` is carried out by `libaio`: threads of the C library, which POSIX AIO \
               would use, are not started",
        is_rare: false,
    },
    absent("cpuio", "burns CPU time", "load the CPU with another program during the run"),
    absent("dev-dax", "persistent memory device", "use `mmap` on a file of a DAX file system"),
    rare("dfs", "DAOS file system", VIA_MOUNT),
    absent("e4defrag", "ext4 extent exchange", "use `falloc` to exercise allocation"),
    absent("exec", "runs a program", "use exec_prerun, or start the program by hand"),
    rare("external", "engine from a shared object", "name one of the built-in engines"),
    absent("gfapi", "GlusterFS by its library", VIA_MOUNT),
    absent("gfapi_async", "GlusterFS by its library, asynchronous", VIA_MOUNT),
    rare("http", "WebDAV, S3 and Swift objects", "mount the bucket and use `psync`"),
    rare("ime_aio", "DDN IME, asynchronous", VIA_MOUNT),
    rare("ime_psync", "DDN IME", VIA_MOUNT),
    rare("ime_psyncv", "DDN IME, vectored", VIA_MOUNT),
    absent("io_uring_cmd", "NVMe pass-through on character devices", VIA_DEVICE),
    rare("libblkio", "block devices by libblkio", VIA_DEVICE),
    rare("libcufile", "GPUDirect storage", "use `io_uring` with buffers in main memory"),
    rare("libhdfs", "Hadoop file system", VIA_MOUNT),
    rare("libhipfile", "storage to AMD GPUs", "use `io_uring` with buffers in main memory"),
    rare("libiscsi", "iSCSI by its library", "log in with the kernel's initiator, use `io_uring`"),
    absent("libpmem", "persistent memory by PMDK", "use `mmap` on a file of a DAX file system"),
    rare("libzbc", "zoned devices by libzbc", VIA_DEVICE),
    absent("mtd", "raw flash", "use `psync` on its block device"),
    absent("nbd", "network block device", "attach it with nbd-client and use `io_uring`"),
    absent("net", "sockets", NO_NETWORK),
    absent("netsplice", "sockets by splice", NO_NETWORK),
    rare("page_fault", "page faults on anonymous memory", "use `mmap`"),
    absent("pmemblk", "persistent memory blocks by PMDK", "use `mmap` on a DAX file system"),
    absent("rados", "Ceph objects", VIA_MOUNT),
    absent("rbd", "Ceph block device by its library", VIA_MOUNT),
    absent("rdma", "RDMA transfers", NO_NETWORK),
    absent("sg", "SCSI generic commands", VIA_DEVICE),
    rare("solarisaio", "asynchronous I/O of Solaris", "use `io_uring` or `libaio`"),
    rare("spdk", "NVMe drivers of SPDK in user space", VIA_DEVICE),
    rare("spdk_bdev", "SPDK block devices in user space", VIA_DEVICE),
    absent("splice", "splice through a pipe", "use `psync` with direct=0"),
    rare("windowsaio", "overlapped I/O of Windows", "use `io_uring` or `libaio`"),
    rare("xnvme", "NVMe by xNVMe", VIA_DEVICE),
];

/// Finds an engine by name; `external:PATH` is `external`.
pub fn find_engine(name: &str) -> Option<&'static EngineName> {
    let name = name.split_once(':').map_or(name, |(engine, _)| engine);
    ENGINES.iter().find(|engine| engine.name == name)
}

/// Returns what a user should know about a name that another engine of ours carries out.
pub fn engine_note(name: &str) -> Option<&'static str> {
    let engine = find_engine(name)?;
    Some(engine.note).filter(|note| engine.kind.is_some() && !note.is_empty())
}

/// Sets the job's engine, or returns what is built in instead.
fn lower_engine(job: &mut Job, name: &str) -> Result<(), ValueError> {
    let Some(engine) = find_engine(name) else {
        return Err(unknown_word(name, built_in()));
    };
    let Some(kind) = engine.kind else {
        return Err(ValueError::NotSupported { what: engine.name, instead: engine.note });
    };
    job.engine.kind = kind;
    engine.name.clone_into(&mut job.engine.name);
    Ok(())
}

fn lower_priority_split(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let Value::PrioritySplit(given) = value else {
        return Err(mismatch("sizes with shares and priorities", value));
    };
    put_given(&mut job.engine.priority_split, given);
    Ok(())
}

fn built_in() -> Vec<&'static str> {
    ENGINES.iter().filter(|engine| engine.kind.is_some()).map(|engine| engine.name).collect()
}

// Engines of fio that know the same switches.
const PRIORITY: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
pub(super) const URING: &[&str] = &["io_uring", "io_uring_cmd"];

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "engine",
        fio: &["ioengine"],
        kind: ValueKind::Str,
        default: "psync",
        short: "how I/O is issued",
        long: "`io_uring` and `libaio` keep many I/Os in flight, `psync` and its relatives one \
               per worker, `mmap` copies to a mapping, `null` measures the generator itself. \
               Engine switches may stand before or after it in a file. A name that is not built \
               in is an error that says what to use instead; `plimsoll fio --enghelp` lists all.",
        lower: |job, v| lower_engine(job, &v.text()?),
        get: |job| Plain::get(&job.engine.name),
        field: Some(job_field!(engine.name)),
        ..BASE
    },
    Param {
        name: "poll",
        fio: &["hipri"],
        engines: &["pvsync2", "io_uring", "io_uring_cmd", "sg"],
        kind: ValueKind::Flag,
        short: "poll the device for completions",
        long: "io_uring and pvsync2: the kernel spins on the device's queue instead of waiting \
               for an interrupt. It needs direct=1 and a device with poll queues, and uses a full \
               CPU.",
        ..field!(engine.poll)
    },
    Param {
        name: "poll_pct",
        fio: &["hipri_percentage"],
        engines: &["pvsync2"],
        kind: PERCENT,
        default: "100",
        short: "share of I/Os that are polled, percent",
        long: "pvsync2 with `poll`: polls only this share, drawn at random.",
        ..field!(engine.poll_pct)
    },
    Param {
        name: "uncached",
        fio: &["uncached"],
        engines: &["pvsync2", "io_uring", "io_uring_cmd"],
        kind: ValueKind::Bool,
        default: "0",
        short: "buffered I/O that leaves nothing in the cache",
        long: "io_uring and pvsync2: RWF_DONTCACHE. Goes through the page cache but drops the \
               pages as soon as they are done. Needs a recent kernel.",
        ..field!(engine.uncached)
    },
    Param {
        name: "nowait",
        fio: &["nowait"],
        engines: &["pvsync2", "io_uring", "io_uring_cmd", "libaio"],
        kind: ValueKind::Bool,
        default: "0",
        short: "fail rather than wait (RWF_NOWAIT)",
        long: "io_uring, libaio and pvsync2: an I/O that would have to wait for a lock or a free \
               request ends with EAGAIN instead. Such errors count like any other, see \
               `ignore_errors`.",
        ..field!(engine.nowait)
    },
    Param {
        name: "engine_gives_way",
        kind: ValueKind::Bool,
        default: "0",
        short: "libaio in place of io_uring where that is faster",
        long: "io_uring with direct I/O: uses libaio where a target cannot take an I/O without \
               waiting (zram, tmpfs, some stacked devices and network file systems). io_uring \
               hands each I/O to a thread of the kernel there, which costs more than the I/O \
               itself. Storage definitions of Vdbench and what `bench` and `curve` measure \
               without a job file have it.",
        ..field!(engine.gives_way)
    },
    Param {
        name: "fixed_buffers",
        fio: &["fixedbufs"],
        engines: URING,
        kind: ValueKind::Flag,
        short: "register the buffers with the ring",
        long: "io_uring: registers buffers once, which saves pinning pages at each direct I/O. \
               Left out, the engine does so where the limit of locked memory allows.",
        ..field!(engine.fixed_buffers)
    },
    Param {
        name: "registered_files",
        fio: &["registerfiles"],
        engines: URING,
        kind: ValueKind::Flag,
        short: "register the files with the ring",
        long: "io_uring: registers descriptors once, which saves a look-up at each I/O. Left \
               out, the engine does so.",
        ..field!(engine.registered_files)
    },
    Param {
        name: "sq_poll",
        fio: &["sqthread_poll"],
        engines: URING,
        kind: ValueKind::Flag,
        short: "a kernel thread takes submissions",
        long: "io_uring: a thread of the kernel polls the submission queue, so that submitting \
               needs no system call. The thread uses a CPU of its own, which the worker's CPU \
               time does not show. Submission latency is not measured then.",
        ..field!(engine.sq_poll)
    },
    Param {
        name: "sq_poll_cpu",
        fio: &["sqthread_poll_cpu"],
        engines: URING,
        kind: COUNT,
        short: "CPU of the polling kernel thread",
        long: "io_uring with `sq_poll`: pins the kernel's thread to this CPU.",
        ..field!(engine.sq_poll_cpu)
    },
    Param {
        name: "force_async",
        fio: &["force_async"],
        engines: URING,
        kind: COUNT,
        default: "0",
        short: "every this many I/Os go to a kernel worker",
        long: "io_uring: marks every Nth I/O to be carried out by a worker thread of the kernel \
               straight away; 0 never. It shows the cost of that path.",
        ..field!(engine.force_async)
    },
    Param {
        name: "nonvectored",
        fio: &["nonvectored"],
        engines: URING,
        kind: ValueKind::Int { min: -1, max: 1 },
        default: "-1",
        short: "plain instead of vectored operations",
        long: "io_uring in fio: chooses between operations with one buffer and with a vector of \
               one.",
        support: Support::NoEffect("an I/O has one buffer and is never issued as a vector"),
        ..BASE
    },
    Param {
        name: "aio_vectored",
        fio: &["libaio_vectored"],
        engines: &["libaio"],
        kind: ValueKind::Bool,
        default: "0",
        short: "vectored operations",
        long: "libaio in fio: issues vectors of one buffer in place of plain operations.",
        support: Support::NoEffect("an I/O has one buffer and is never issued as a vector"),
        ..BASE
    },
    Param {
        name: "userspace_reap",
        fio: &["userspace_reap"],
        engines: &["libaio"],
        kind: ValueKind::Flag,
        short: "take completions without a system call",
        long: "libaio: reads completions straight from the ring that the kernel shares. Only \
               sensible with `complete_min=0`.",
        ..field!(engine.userspace_reap)
    },
    Param {
        name: "huge_pages",
        fio: &["thp"],
        engines: &["mmap"],
        kind: ValueKind::Bool,
        default: "0",
        short: "map the file with huge pages",
        long: "mmap: asks for transparent huge pages on the mapping. The file system must \
               support it.",
        ..field!(engine.huge_pages)
    },
    Param {
        name: "stat_call",
        fio: &["stat_type"],
        engines: &["filestat"],
        default: "stat",
        short: "system call that reads metadata",
        long: "filestat and dirstat: `stat` follows links, `lstat` does not, `statx` asks for \
               what `stat` returns by the newer call.",
        ..choice!(engine.stat_call, STAT_CALLS)
    },
    Param {
        name: "priority_pct",
        fio: &["cmdprio_percentage"],
        engines: PRIORITY,
        kind: ValueKind::IntPerDir { min: 0, max: 100 },
        default: "0",
        short: "share of I/Os with raised priority, percent",
        long: "io_uring and libaio: this share of the reads, and of the writes, carries \
               `priority_class`, `priority_level` and `priority_hint`; the others have the \
               job's own, `io_priority`. Which I/Os they are follows from the seed. Results \
               then show latency for each priority: of completion, or in total with \
               `lat_percentiles`. Needs an I/O scheduler or device that uses priorities.",
        ..dirs!(engine.priority_pct, Plain)
    },
    Param {
        name: "priority_class",
        fio: &["cmdprio_class"],
        engines: PRIORITY,
        kind: ValueKind::IntPerDir { min: 1, max: 3 },
        default: "1",
        short: "class of the I/Os with raised priority",
        long: "1 is real time, which needs privileges, 2 best effort, 3 idle. Counts for the \
               share that `priority_pct` sets, and where `priority_split` names none.",
        ..dirs!(engine.priority_class, Above0)
    },
    Param {
        name: "priority_level",
        fio: &["cmdprio"],
        engines: PRIORITY,
        kind: ValueKind::IntPerDir { min: 0, max: 7 },
        default: "0",
        short: "level of the I/Os with raised priority",
        long: "Level within `priority_class`; 0 is the highest. Counts for the share that \
               `priority_pct` sets, and where `priority_split` names none.",
        ..dirs!(engine.priority_level, Plain)
    },
    Param {
        name: "priority_hint",
        fio: &["cmdprio_hint"],
        engines: PRIORITY,
        kind: ValueKind::IntPerDir { min: 0, max: 1023 },
        default: "0",
        short: "hint sent with the I/Os of raised priority",
        long: "Further bits of the priority, such as command duration limits, for the share that \
               `priority_pct` sets, and where `priority_split` names none. Needs Linux 6.5.",
        ..dirs!(engine.priority_hint, Plain)
    },
    Param {
        name: "priority_split",
        fio: &["cmdprio_bssplit"],
        engines: PRIORITY,
        kind: ValueKind::PrioritySplit,
        short: "raised priority by block size",
        long: "Shares of raised priority for each block size, in place of `priority_pct`: \
               `SIZE/PERCENT`, or with a priority of its own `SIZE/PERCENT/CLASS/LEVEL/HINT`, of \
               which the hint may be left out. Entries are separated by colons, several may name \
               one size, and a list for writes follows behind a comma. I/Os of other sizes have \
               the job's priority. At most 64 entries per direction.",
        lower: lower_priority_split,
        get: |job| given(|dir| some(&job.engine.priority_split[dir])).map(Value::PrioritySplit),
        field: Some(job_field!(engine.priority_split)),
        ..BASE
    },
];

const STAT_CALLS: [Word<StatCall>; 3] = words!(StatCall {
    Stat => ("stat", &[], "follows links"),
    Lstat => ("lstat", &[], "does not follow links"),
    Statx => ("statx", &[], "the extended call"),
});
