//! Switches of engines that are not built in, so that a file naming them gets an answer that names
//! the engine. Those of network storage are in `remote.rs`.

use super::lower::{BASE, COUNT_FROM_1, NUMBER, PERCENT, word};
use super::{Category, Choice, Kind, Param, Support};

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "cpu_load_pct",
        fio: &["cpuload"],
        category: Category::Engine,
        kind: PERCENT,
        short: "CPU time to burn, percent of one CPU",
        long: "Share of the time that each worker computes; it sleeps for the rest. Only used by \
               the engine `cpuio`.",
        support: Support::NeedsEngine("cpuio"),
        ..BASE
    },
    Param {
        name: "cpu_mode",
        fio: &["cpumode"],
        category: Category::Engine,
        kind: Kind::Enum(CPU_MODES),
        default: "noop",
        short: "what the CPU is burnt with",
        long: "An empty loop, or sorting, which also uses the caches. Only used by the engine \
               `cpuio`.",
        support: Support::NeedsEngine("cpuio"),
        ..BASE
    },
    Param {
        name: "cpu_chunk_us",
        fio: &["cpuchunks"],
        category: Category::Engine,
        kind: NUMBER,
        default: "50000",
        short: "length of a stretch of computing, in microseconds",
        long: "Time computed at once before the worker sleeps. Only used by the engine `cpuio`.",
        support: Support::NeedsEngine("cpuio"),
        ..BASE
    },
    Param {
        name: "cpu_exit_with_io",
        fio: &["exit_on_io_done"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "0",
        short: "end when all other jobs have ended",
        long: "The job does no I/O and would otherwise go on. Only used by the engine `cpuio`.",
        support: Support::NeedsEngine("cpuio"),
        ..BASE
    },
    Param {
        name: "defrag_donor",
        fio: &["donorname"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "file whose extents are exchanged",
        long: "The donor of the extent exchange. Only used by the engine `e4defrag`.",
        support: Support::NeedsEngine("e4defrag"),
        ..BASE
    },
    Param {
        name: "defrag_in_place",
        fio: &["inplace"],
        category: Category::Engine,
        kind: Kind::Int { min: 0, max: 1 },
        short: "how the donor gets its blocks",
        long: "Allocates the donor anew for each operation, or keeps it. Only used by the engine \
               `e4defrag`.",
        support: Support::NeedsEngine("e4defrag"),
        ..BASE
    },
    Param {
        name: "exec_program",
        fio: &["program"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "program to run",
        long: "Path of the program that stands in for I/O. Only used by the engine `exec`.",
        support: Support::NeedsEngine("exec"),
        ..BASE
    },
    Param {
        name: "exec_arguments",
        fio: &["arguments"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "arguments of the program",
        long: "`%r` is the duration and `%n` the name of the job. Only used by the engine \
               `exec`.",
        support: Support::NeedsEngine("exec"),
        ..BASE
    },
    Param {
        name: "exec_grace_s",
        fio: &["grace_time"],
        category: Category::Engine,
        kind: NUMBER,
        default: "1",
        short: "seconds between asking and forcing the program to end",
        long: "Time between the two signals at the end of the job. Only used by the engine \
               `exec`.",
        support: Support::NeedsEngine("exec"),
        ..BASE
    },
    Param {
        name: "exec_redirect",
        fio: &["std_redirect"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "1",
        short: "write the output of the program to files",
        long: "Files named after the job take standard output and errors. Only used by the \
               engine `exec`.",
        support: Support::NeedsEngine("exec"),
        ..BASE
    },
    Param {
        name: "flash_skip_bad",
        fio: &["skip_bad"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "0",
        short: "pass over bad flash blocks",
        long: "Without it a bad erase block is an error. Only used by the engine `mtd`.",
        support: Support::NeedsEngine("mtd"),
        ..BASE
    },
    Param {
        name: "command_type",
        fio: &["cmd_type"],
        category: Category::Engine,
        kind: Kind::Enum(COMMAND_TYPES),
        default: "nvme",
        short: "kind of pass-through command",
        long: "NVMe commands, or SCSI commands through bsg. Only used by the engine \
               `io_uring_cmd`.",
        support: Support::NeedsEngine("io_uring_cmd"),
        ..BASE
    },
    Param {
        name: "command_write_mode",
        fio: &["write_mode"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "write",
        short: "command that a write issues",
        long: "An NVMe write, or write uncorrectable, write zeroes, verify or zone append, each \
               with a share behind a slash. Only used by the engine `io_uring_cmd`.",
        support: Support::NeedsEngine("io_uring_cmd"),
        ..BASE
    },
    Param {
        name: "command_read_mode",
        fio: &["read_mode"],
        category: Category::Engine,
        kind: Kind::Enum(READ_MODES),
        default: "read",
        short: "command that a read issues",
        long: "A read, or a prefetch into the cache of the device. Only used by the engine \
               `io_uring_cmd`.",
        support: Support::NeedsEngine("io_uring_cmd"),
        ..BASE
    },
    Param {
        name: "command_verify_mode",
        fio: &["verify_mode"],
        category: Category::Engine,
        kind: Kind::Enum(VERIFY_MODES),
        default: "read",
        short: "command that verifies",
        long: "Reads the block back, or has the device compare it. Only used by the engine \
               `io_uring_cmd`.",
        support: Support::NeedsEngine("io_uring_cmd"),
        ..BASE
    },
    Param {
        name: "command_verify_check",
        fio: &["verify_bytchk"],
        category: Category::Engine,
        kind: Kind::Enum(BYTE_CHECKS),
        default: "0",
        short: "what a SCSI verify compares",
        long: "Nothing, the whole block, or one block with all. Only used by the engine \
               `io_uring_cmd`.",
        support: Support::NeedsEngine("io_uring_cmd"),
        ..BASE
    },
    Param {
        name: "command_length_bytes",
        fio: &["cdb_len"],
        category: Category::Engine,
        kind: Kind::Enum(COMMAND_LENGTHS),
        default: "0",
        short: "length of SCSI commands, in bytes",
        long: "0 takes the shortest that fits. Only used by the engine `io_uring_cmd`.",
        support: Support::NeedsEngine("io_uring_cmd"),
        ..BASE
    },
    Param {
        name: "command_deallocate",
        fio: &["deac"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "0",
        short: "write zeroes also deallocates",
        long: "Sets the deallocate bit of write zeroes commands. Only used by the engine \
               `io_uring_cmd`.",
        support: Support::NeedsEngine("io_uring_cmd"),
        ..BASE
    },
    Param {
        name: "read_fua",
        fio: &["readfua"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "0",
        short: "reads bypass the cache of the device",
        long: "Sets force unit access on reads. Only used by the engine `io_uring_cmd` or `sg`.",
        support: Support::NeedsEngine("io_uring_cmd or sg"),
        ..BASE
    },
    Param {
        name: "write_fua",
        fio: &["writefua"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "0",
        short: "writes bypass the cache of the device",
        long: "Sets force unit access on writes, so that they are durable when they complete. \
               Only used by the engine `io_uring_cmd` or `sg`.",
        support: Support::NeedsEngine("io_uring_cmd or sg"),
        ..BASE
    },
    Param {
        name: "metadata_per_io_bytes",
        fio: &["md_per_io_size"],
        category: Category::Engine,
        kind: NUMBER,
        default: "0",
        short: "separate metadata per I/O, in bytes",
        long: "Size of the buffer for metadata that the device keeps beside the data. Only used \
               by the engine `io_uring_cmd` or `xnvme`.",
        support: Support::NeedsEngine("io_uring_cmd or xnvme"),
        ..BASE
    },
    Param {
        name: "protection_action",
        fio: &["pi_act"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "1",
        short: "the device adds and removes protection",
        long: "With 1 the device generates protection information and strips it; with 0 it is \
               passed through. Only used by the engine `io_uring_cmd` or `xnvme`.",
        support: Support::NeedsEngine("io_uring_cmd or xnvme"),
        ..BASE
    },
    Param {
        name: "protection_check",
        fio: &["pi_chk"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "protection that is checked",
        long: "Any of GUARD, REFTAG and APPTAG, joined by commas. Only used by the engine \
               `io_uring_cmd` or `xnvme`.",
        support: Support::NeedsEngine("io_uring_cmd or xnvme"),
        ..BASE
    },
    Param {
        name: "protection_tag",
        fio: &["apptag"],
        category: Category::Engine,
        kind: NUMBER,
        default: "0x1234",
        short: "application tag",
        long: "Tag that protection information carries. Only used by the engine `io_uring_cmd` \
               or `xnvme`.",
        support: Support::NeedsEngine("io_uring_cmd or xnvme"),
        ..BASE
    },
    Param {
        name: "protection_tag_mask",
        fio: &["apptag_mask"],
        category: Category::Engine,
        kind: NUMBER,
        default: "0xffff",
        short: "bits of the tag that are checked",
        long: "Bits of the application tag that the device compares. Only used by the engine \
               `io_uring_cmd` or `xnvme`.",
        support: Support::NeedsEngine("io_uring_cmd or xnvme"),
        ..BASE
    },
    Param {
        name: "scsi_write_mode",
        fio: &["sg_write_mode"],
        category: Category::Engine,
        kind: Kind::Enum(SCSI_WRITES),
        default: "write",
        short: "SCSI command that a write issues",
        long: "A write, a write with verification, a verification, or write same in two forms. \
               Only used by the engine `sg`.",
        support: Support::NeedsEngine("sg"),
        ..BASE
    },
    Param {
        name: "scsi_stream",
        fio: &["stream_id"],
        category: Category::Engine,
        kind: NUMBER,
        default: "0",
        short: "stream of stream writes",
        long: "Identifier used by writes to a stream. Only used by the engine `sg`.",
        support: Support::NeedsEngine("sg"),
        ..BASE
    },
    Param {
        name: "blkio_driver",
        fio: &["libblkio_driver"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "driver to use",
        long: "Name of the driver of the library. Only used by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_path",
        fio: &["libblkio_path"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "path given to the driver",
        long: "Device, socket or file that the driver connects to. Only used by the engine \
               `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_connect_properties",
        fio: &["libblkio_pre_connect_props"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "properties set before connecting",
        long: "Pairs of name and value, joined by colons. Only used by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_start_properties",
        fio: &["libblkio_pre_start_props"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "properties set before starting",
        long: "Pairs of name and value, joined by colons. Only used by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_n_entries",
        fio: &["libblkio_num_entries"],
        category: Category::Engine,
        kind: COUNT_FROM_1,
        short: "entries of each queue",
        long: "Value of the property of that name. Only used by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_queue_entries",
        fio: &["libblkio_queue_size"],
        category: Category::Engine,
        kind: COUNT_FROM_1,
        short: "size of each queue",
        long: "Value of the property of that name. Only used by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_vectored",
        fio: &["libblkio_vectored"],
        category: Category::Engine,
        kind: Kind::Flag,
        short: "vectored operations",
        long: "Issues vectors of one buffer. Only used by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_trim_writes_zeros",
        fio: &["libblkio_write_zeroes_on_trim"],
        category: Category::Engine,
        kind: Kind::Flag,
        short: "trims write zeros",
        long: "Uses write zeroes in place of discard. Only used by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_wait",
        fio: &["libblkio_wait_mode"],
        category: Category::Engine,
        kind: Kind::Enum(WAITS),
        default: "block",
        short: "how completions are awaited",
        long: "In the library, by an event descriptor, or by looking again and again. Only used \
               by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "blkio_force_event",
        fio: &["libblkio_force_enable_completion_eventfd"],
        category: Category::Engine,
        kind: Kind::Flag,
        short: "have the event descriptor signalled in any case",
        long: "Measures what signalling costs. Only used by the engine `libblkio`.",
        support: Support::NeedsEngine("libblkio"),
        ..BASE
    },
    Param {
        name: "xnvme_backend",
        fio: &["xnvme_be"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "back end",
        long: "Which implementation the library uses. Only used by the engine `xnvme`.",
        support: Support::NeedsEngine("xnvme"),
        ..BASE
    },
    Param {
        name: "xnvme_memory",
        fio: &["xnvme_mem"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "memory of buffers",
        long: "Which allocator the library uses. Only used by the engine `xnvme`.",
        support: Support::NeedsEngine("xnvme"),
        ..BASE
    },
    Param {
        name: "xnvme_async",
        fio: &["xnvme_async"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "asynchronous interface",
        long: "How the library issues commands asynchronously. Only used by the engine `xnvme`.",
        support: Support::NeedsEngine("xnvme"),
        ..BASE
    },
    Param {
        name: "xnvme_sync",
        fio: &["xnvme_sync"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "synchronous interface",
        long: "How the library issues commands synchronously. Only used by the engine `xnvme`.",
        support: Support::NeedsEngine("xnvme"),
        ..BASE
    },
    Param {
        name: "xnvme_admin",
        fio: &["xnvme_admin"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "interface of admin commands",
        long: "How the library issues administrative commands. Only used by the engine `xnvme`.",
        support: Support::NeedsEngine("xnvme"),
        ..BASE
    },
    Param {
        name: "xnvme_namespace",
        fio: &["xnvme_dev_nsid"],
        category: Category::Engine,
        kind: NUMBER,
        short: "namespace",
        long: "Number of the NVMe namespace. Only used by the engine `xnvme`.",
        support: Support::NeedsEngine("xnvme"),
        ..BASE
    },
    Param {
        name: "xnvme_subsystem",
        fio: &["xnvme_dev_subnqn"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "subsystem",
        long: "Qualified name of the NVMe subsystem. Only used by the engine `xnvme`.",
        support: Support::NeedsEngine("xnvme"),
        ..BASE
    },
    Param {
        name: "xnvme_vectored",
        fio: &["xnvme_iovec"],
        category: Category::Engine,
        kind: Kind::Flag,
        short: "vectored commands",
        long: "Passes vectors to the library. Only used by the engine `xnvme`.",
        support: Support::NeedsEngine("xnvme"),
        ..BASE
    },
    Param {
        name: "gpus",
        fio: &["gpu_dev_ids"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "GPUs to use",
        long: "Numbers of the GPUs, joined by colons; workers take them in turn. Only used by \
               the engine `libcufile` or `libhipfile`.",
        support: Support::NeedsEngine("libcufile or libhipfile"),
        ..BASE
    },
    Param {
        name: "cuda_io",
        fio: &["cuda_io"],
        category: Category::Engine,
        kind: Kind::Enum(CUDA_IO),
        default: "cufile",
        short: "how data reaches the GPU",
        long: "Directly, or through main memory. Only used by the engine `libcufile`.",
        support: Support::NeedsEngine("libcufile"),
        ..BASE
    },
    Param {
        name: "rocm_io",
        fio: &["rocm_io"],
        category: Category::Engine,
        kind: Kind::Enum(ROCM_IO),
        default: "hipfile",
        short: "how data reaches the GPU",
        long: "Directly, or through main memory. Only used by the engine `libhipfile`.",
        support: Support::NeedsEngine("libhipfile"),
        ..BASE
    },
    Param {
        name: "no_completion_thread",
        fio: &["no_completion_thread"],
        category: Category::Engine,
        kind: Kind::Flag,
        short: "no thread that collects completions",
        long: "Collects completions in the worker. Only used by the engine `windowsaio`.",
        support: Support::NeedsEngine("windowsaio"),
        ..BASE
    },
    Param {
        name: "spdk_config_json",
        fio: &["spdk_json_conf"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "configuration in JSON",
        long: "File that describes the block devices. Only used by the engine `spdk_bdev` or \
               `spdk (external)`.",
        support: Support::NeedsEngine("spdk_bdev or spdk (external)"),
        ..BASE
    },
    Param {
        name: "spdk_config",
        fio: &["spdk_conf"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "configuration",
        long: "File that describes the block devices, in the older form. Only used by the engine \
               `spdk_bdev` or `spdk (external)`.",
        support: Support::NeedsEngine("spdk_bdev or spdk (external)"),
        ..BASE
    },
    Param {
        name: "spdk_memory_mib",
        fio: &["spdk_mem"],
        category: Category::Engine,
        kind: NUMBER,
        short: "memory to reserve, in MiB",
        long: "Memory that the user space drivers reserve. Only used by the engine `spdk_bdev` \
               or `spdk (external)`.",
        support: Support::NeedsEngine("spdk_bdev or spdk (external)"),
        ..BASE
    },
    Param {
        name: "spdk_single_segment",
        fio: &["spdk_single_seg"],
        category: Category::Engine,
        kind: Kind::Bool,
        short: "one memory segment",
        long: "Reserves memory in a single file of huge pages. Only used by the engine \
               `spdk_bdev` or `spdk (external)`.",
        support: Support::NeedsEngine("spdk_bdev or spdk (external)"),
        ..BASE
    },
    Param {
        name: "spdk_gather",
        fio: &["enable_sgl"],
        category: Category::Engine,
        kind: NUMBER,
        short: "scatter and gather lists",
        long: "Describes buffers by lists. Only used by the engine `spdk_bdev` or `spdk \
               (external)`.",
        support: Support::NeedsEngine("spdk_bdev or spdk (external)"),
        ..BASE
    },
    Param {
        name: "spdk_vmd",
        fio: &["enable_vmd"],
        category: Category::Engine,
        kind: NUMBER,
        short: "volume management device",
        long: "Looks for devices behind a volume management device. Only used by the engine \
               `spdk_bdev` or `spdk (external)`.",
        support: Support::NeedsEngine("spdk_bdev or spdk (external)"),
        ..BASE
    },
    Param {
        name: "spdk_zone_reset",
        fio: &["initial_zone_reset"],
        category: Category::Engine,
        kind: NUMBER,
        short: "reset all zones at the start",
        long: "Resets the zones of a zoned device before the run. Only used by the engine \
               `spdk_bdev` or `spdk (external)`.",
        support: Support::NeedsEngine("spdk_bdev or spdk (external)"),
        ..BASE
    },
    Param {
        name: "spdk_zone_append",
        fio: &["zone_append"],
        category: Category::Engine,
        kind: NUMBER,
        short: "append to zones",
        long: "Writes to zones by the append command. Only used by the engine `spdk_bdev` or \
               `spdk (external)`.",
        support: Support::NeedsEngine("spdk_bdev or spdk (external)"),
        ..BASE
    },
];

const CPU_MODES: &[Choice] = &[word("noop", &[], "empty loop"), word("qsort", &[], "sorting")];

const COMMAND_TYPES: &[Choice] = &[word("nvme", &[], "NVMe"), word("bsg", &[], "SCSI")];

const READ_MODES: &[Choice] = &[word("read", &[], "read"), word("prefetch", &[], "fill the cache")];

const VERIFY_MODES: &[Choice] =
    &[word("read", &[], "read back"), word("compare", &[], "compare in the device")];

const BYTE_CHECKS: &[Choice] = &[
    word("0", &[], "nothing"),
    word("1", &[], "the whole block"),
    word("3", &[], "one block with all"),
];

const COMMAND_LENGTHS: &[Choice] = &[
    word("0", &[], "the shortest"),
    word("10", &[], "10"),
    word("16", &[], "16"),
    word("32", &[], "32"),
];

const SCSI_WRITES: &[Choice] = &[
    word("write", &[], "write"),
    word("write_and_verify", &[], "write and verify"),
    word("verify", &[], "verify without data"),
    word("write_same", &[], "write one block to all"),
    word("same", &[], "older name of write_same"),
    word("write_same_ndob", &[], "write zeros to all"),
    word("verify_bytchk_00", &[], "verify without data"),
    word("verify_bytchk_01", &[], "verify the whole block"),
    word("verify_bytchk_11", &[], "verify one block with all"),
    word("write_stream", &[], "write to a stream"),
];

const WAITS: &[Choice] = &[
    word("block", &[], "in the library"),
    word("eventfd", &[], "by an event descriptor"),
    word("loop", &[], "by looking again and again"),
];

const CUDA_IO: &[Choice] =
    &[word("cufile", &[], "directly"), word("posix", &[], "through main memory")];

const ROCM_IO: &[Choice] =
    &[word("hipfile", &[], "directly"), word("posix", &[], "through main memory")];
