//! What is compared: the rows of the table.

/// A row: our tool against a peer on one job file.
pub(crate) struct Row {
    /// What `--rows` selects it by.
    pub(crate) name: &'static str,
    /// What the table says it is.
    pub(crate) about: &'static str,
    /// The text of the file that our tool runs: fio's job file, or Vdbench's parameter file where
    /// the peer is a job file of ours. fio runs the same one where it is the peer.
    pub(crate) job: &'static str,
    pub(crate) peer: Peer,
    pub(crate) measure: Measure,
    pub(crate) target: Target,
    /// Whether it reads the device or file, so that it is run once per state of it.
    pub(crate) uses_device: bool,
    /// Whether it writes to it: left out on what the user named to be read.
    pub(crate) writes: bool,
}

/// What our tool is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Fio,
    /// The bare loop of this name and depth (`crates/engine/examples/bare_loop.rs`).
    Bare(&'static str, u32),
    /// Our own tool on this job file, which asks for the same as the row's parameter file.
    JobFile(&'static str),
    /// mdtest, on as many files in one folder.
    Mdtest(Phase),
}

/// What mdtest does to files, each phase by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Create,
    Stat,
    Read,
    Remove,
}

/// What a run is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// I/Os per second.
    Iops,
    /// I/Os per second of user and system time of the whole process: what a core to itself carries,
    /// also on a machine that is busy with other things.
    IosPerCpuSecond,
    /// User and system time of the whole process per I/O, in nanoseconds.
    CpuNsPerIo,
    /// Peak resident memory above so many bytes of I/O buffers.
    PeakBytesAbove(u64),
}

/// What must come out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// Ours divided by the peer's is at least this.
    RatioAtLeast(f64),
    /// Ours divided by the peer's is at most this.
    RatioAtMost(f64),
    /// Ours alone is at most this; the peer's is for information.
    AtMost(f64),
}

const IO_URING: &str = include_str!("jobs/io_uring.fio");
const IO_URING_TUNED: &str = include_str!("jobs/io_uring_tuned.fio");
const LIBAIO: &str = include_str!("jobs/libaio.fio");
const NULL: &str = include_str!("jobs/null.fio");
const RATE_IO_URING: &str = include_str!("jobs/rate_io_uring.fio");
const RATE_PSYNC: &str = include_str!("jobs/rate_psync.fio");
const MEMORY: &str = include_str!("jobs/memory.fio");
const FILE_CREATE: &str = include_str!("jobs/filecreate.fio");
const FILE_STAT: &str = include_str!("jobs/filestat.fio");
const FILE_READ: &str = include_str!("jobs/fileread.fio");
const FILE_DELETE: &str = include_str!("jobs/filedelete.fio");
const VERIFY: &str = include_str!("jobs/verify.fio");

/// Parameter files of Vdbench, and job files that ask for the same.
const READ_PARAMETERS: &str = include_str!("jobs/vdbench_read.parm");
const READ_JOB: &str = include_str!("jobs/vdbench_read.fio");
const MIXED_PARAMETERS: &str = include_str!("jobs/vdbench_mixed.parm");
const MIXED_JOB: &str = include_str!("jobs/vdbench_mixed.fio");
const SIZES_PARAMETERS: &str = include_str!("jobs/vdbench_sizes.parm");
const SIZES_JOB: &str = include_str!("jobs/vdbench_sizes.fio");
const SHARES_PARAMETERS: &str = include_str!("jobs/vdbench_shares.parm");
const SHARES_JOB: &str = include_str!("jobs/vdbench_shares.fio");
const SEQUENTIAL_PARAMETERS: &str = include_str!("jobs/vdbench_sequential.parm");
const SEQUENTIAL_JOB: &str = include_str!("jobs/vdbench_sequential.fio");
const RATE_PARAMETERS: &str = include_str!("jobs/vdbench_rate.parm");
const RATE_JOB: &str = include_str!("jobs/vdbench_rate.fio");

/// A row of Vdbench's parameters beside a job file that asks for the same.
const fn vdbench(
    name: &'static str,
    about: &'static str,
    parameters: &'static str,
    job: &'static str,
) -> Row {
    Row {
        name,
        about,
        job: parameters,
        peer: Peer::JobFile(job),
        measure: Measure::IosPerCpuSecond,
        target: Target::RatioAtLeast(0.95),
        uses_device: true,
        writes: false,
    }
}

/// A row of work on files of its own, judged by what the whole process takes per I/O.
const fn of_files(name: &'static str, about: &'static str, job: &'static str) -> Row {
    Row {
        name,
        about,
        job,
        peer: Peer::Fio,
        measure: Measure::CpuNsPerIo,
        target: Target::RatioAtMost(1.0),
        uses_device: false,
        writes: false,
    }
}

/// A row of the same beside mdtest, judged by files per second while they are worked on.
const fn mdtest(name: &'static str, about: &'static str, job: &'static str, phase: Phase) -> Row {
    Row {
        peer: Peer::Mdtest(phase),
        measure: Measure::Iops,
        target: Target::RatioAtLeast(1.0),
        ..of_files(name, about, job)
    }
}

/// Buffers of the job `memory`: 16 jobs, 64 deep, 4 KiB each.
const MEMORY_BUFFERS_BYTES: u64 = 16 * 64 * 4096;

/// Every row, in the order of the table.
pub(crate) const ROWS: [Row; 24] = [
    Row {
        name: "io_uring",
        about: "io_uring, iodepth=128, direct",
        job: IO_URING,
        peer: Peer::Fio,
        measure: Measure::Iops,
        target: Target::RatioAtLeast(1.7),
        uses_device: true,
        writes: false,
    },
    Row {
        name: "io_uring-tuned",
        about: "the same with fio's own tuning",
        job: IO_URING_TUNED,
        peer: Peer::Fio,
        measure: Measure::Iops,
        target: Target::RatioAtLeast(1.1),
        uses_device: true,
        writes: false,
    },
    Row {
        name: "io_uring-bare",
        about: "the same, against a bare loop",
        job: IO_URING_TUNED,
        peer: Peer::Bare("io_uring", 128),
        measure: Measure::Iops,
        target: Target::RatioAtLeast(0.95),
        uses_device: true,
        writes: false,
    },
    Row {
        name: "libaio",
        about: "libaio, iodepth=64",
        job: LIBAIO,
        peer: Peer::Fio,
        measure: Measure::Iops,
        target: Target::RatioAtLeast(1.2),
        uses_device: true,
        writes: false,
    },
    Row {
        name: "libaio-bare",
        about: "the same, against a bare loop",
        job: LIBAIO,
        peer: Peer::Bare("libaio", 64),
        measure: Measure::Iops,
        target: Target::RatioAtLeast(0.95),
        uses_device: true,
        writes: false,
    },
    Row {
        name: "null",
        about: "null, iodepth=64, all latencies",
        job: NULL,
        peer: Peer::Fio,
        measure: Measure::Iops,
        target: Target::RatioAtLeast(8.0),
        uses_device: false,
        writes: false,
    },
    Row {
        name: "rate-io_uring",
        about: "50,000 IOPS, io_uring, iodepth=16",
        job: RATE_IO_URING,
        peer: Peer::Fio,
        measure: Measure::CpuNsPerIo,
        target: Target::RatioAtMost(0.6),
        uses_device: true,
        writes: false,
    },
    Row {
        name: "rate-psync",
        about: "50,000 IOPS, psync",
        job: RATE_PSYNC,
        peer: Peer::Fio,
        measure: Measure::CpuNsPerIo,
        target: Target::RatioAtMost(0.6),
        uses_device: true,
        writes: false,
    },
    Row {
        name: "memory",
        about: "16 jobs, 64 deep, above the buffers",
        job: MEMORY,
        peer: Peer::Fio,
        measure: Measure::PeakBytesAbove(MEMORY_BUFFERS_BYTES),
        target: Target::AtMost(64.0 * 1024.0 * 1024.0),
        uses_device: true,
        writes: false,
    },
    of_files("filecreate", "5,000 files made, with their set-up", FILE_CREATE),
    of_files("filestat", "5,000 files looked at, with their set-up", FILE_STAT),
    of_files("fileread", "5,000 files of 4 KiB read, with their set-up", FILE_READ),
    of_files("filedelete", "5,000 files removed, with their set-up", FILE_DELETE),
    mdtest("mdtest-create", "20,000 files made", FILE_CREATE, Phase::Create),
    mdtest("mdtest-stat", "20,000 files looked at", FILE_STAT, Phase::Stat),
    mdtest("mdtest-read", "20,000 files of 4 KiB opened and read", FILE_READ, Phase::Read),
    mdtest("mdtest-remove", "20,000 files removed", FILE_DELETE, Phase::Remove),
    of_files("verify", "256 MiB of random writes, verify=crc32c", VERIFY),
    vdbench("vdbench-read", "Vdbench: 4k reads, threads=128", READ_PARAMETERS, READ_JOB),
    vdbench("vdbench-sizes", "Vdbench: xfersize=(4k,60,8k,30,64k,10)", SIZES_PARAMETERS, SIZES_JOB),
    vdbench("vdbench-shares", "Vdbench: two WDs, skew=70 and 30", SHARES_PARAMETERS, SHARES_JOB),
    vdbench("vdbench-seq", "Vdbench: 64k, sequential", SEQUENTIAL_PARAMETERS, SEQUENTIAL_JOB),
    vdbench("vdbench-rate", "Vdbench: iorate=50000", RATE_PARAMETERS, RATE_JOB),
    // The last one: it leaves nothing as it was.
    Row {
        writes: true,
        ..vdbench("vdbench-mixed", "Vdbench: 8k, rdpct=70", MIXED_PARAMETERS, MIXED_JOB)
    },
];
