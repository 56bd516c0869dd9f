//! Targets: which files and devices, how large, how they are made, opened and removed.

use super::entry::{Choice, Param, Support, Value, ValueKind};
use super::error::ValueError;
use super::fields::{
    Above0, BASE, COUNT, FILES, NUMBER, Opposite, REGION, Word, choice, field, idle_word, number,
    unknown_word, words,
};
use crate::files::{Fadvise, Fallocate, FileService, FileType, LockFile, SyncMode};
use crate::workload::{fio_normal_deviation_pct, fio_normal_parameter_pct};
use crate::{Job, job_field};

/// Which files and devices, and which bytes of them.
pub(super) static PLACES: &[Param] = &[
    Param {
        name: "file_names",
        is_load: false,
        fio: &["filename"],
        vdbench: "sd.lun",
        diskspd: &["Path"],
        iometer: &["Target"],
        kind: ValueKind::PathList,
        short: "files or devices to work on, separated by colons",
        long: "Names the files or devices instead of having names generated; all workers of the \
               job share them. Separate several by colons and write `\\:` for a colon in a name. \
               Relative names lie under the directory. The number of names replaces the file \
               count. A regular file that is missing is created, with its folders.",
        ..field!(files.names)
    },
    Param {
        name: "directories",
        is_load: false,
        fio: &["directory"],
        vdbench: "fsd.anchor",
        kind: ValueKind::PathList,
        short: "folders for generated and relative names",
        long: "Prefix of names that are generated or relative. With several folders, separated \
               by colons, workers take them in turn. The folders must exist; folders within a \
               file name are created.",
        ..field!(files.directories)
    },
    Param {
        name: "file_name_format",
        is_load: false,
        fio: &["filename_format"],
        kind: ValueKind::Str,
        default: "$jobname.$jobnum.$filenum",
        short: "how generated file names are built",
        long: "Pattern of generated names. `$jobname`, `$jobnum` (the worker's number), \
               `$filenum` and `$clientuid` are replaced, whatever their case; slashes make \
               folders. Leave out `$jobnum` to let workers share files.",
        ..field!(files.name_format)
    },
    Param {
        name: "unique_file_names",
        is_load: false,
        fio: &["unique_filename"],
        kind: ValueKind::Bool,
        default: "1",
        short: "on a server, generated names begin with the client's address",
        long: "Where `plimsoll fio --server` runs the job, names that are generated in a \
               `directory` begin with the address of the client, as in `10.0.0.5.job.0.0`: \
               clients of one server do not overwrite each other's files. Without effect \
               elsewhere; hosts of `--hosts` and `--agents` that share a folder work on the same \
               files.",
        ..field!(files.unique_per_host)
    },
    Param {
        name: "open_directory",
        fio: &["opendir"],
        kind: ValueKind::Str,
        short: "use all files found under this folder",
        long: "Works on every regular file found under the folder and its subfolders, in place \
               of named or generated files. The files keep their sizes.",
        ..field!(files.open_dir)
    },
    Param {
        name: "file_type",
        fio: &["filetype"],
        default: "none",
        short: "kind of file that is expected",
        long: "Fails early when a name turns out to be something else, such as a regular file \
               where a device was meant. That happens easily when a device is missing and its \
               name would be created as a file.",
        ..choice!(files.file_type, FILE_TYPES)
    },
    Param {
        name: "n_files",
        fio: &["nrfiles", "nr_files"],
        vdbench: "fsd.files",
        kind: FILES,
        default: "1",
        short: "files generated per worker",
        long: "Each worker gets this many files of its own and spreads `size` evenly over them. \
               Named files replace the count. `file_service` chooses the next file.",
        ..field!(files.n_files)
    },
    Param {
        name: "size",
        fio: &["size"],
        vdbench: "sd.size",
        diskspd: &["-c", "-f", "FileSize", "MaxFileSize"],
        iometer: &["Maximum Disk Size", "Disk maximum size"],
        kind: REGION,
        short: "region of the targets that each worker covers",
        long: "Bytes each worker addresses, spread evenly over its files, and also how much it \
               transfers per pass unless `io_size` says otherwise. A percentage (`50%`) is of the \
               existing file or device; `4z` is a count of zones. Needed where files do not exist \
               yet. It is rounded down to whole blocks per file and must hold at least one block.",
        ..field!(files.size)
    },
    Param {
        name: "file_size_bytes",
        fio: &["filesize"],
        vdbench: "fsd.sizes",
        kind: ValueKind::SizeRange,
        short: "size of each file",
        long: "Gives every file this size, or one drawn from the range, in place of an even \
               share of `size`; `size` then only limits how much is transferred. Applies to files \
               that are created as well as to the part used of existing ones.",
        ..field!(files.file_size_bytes)
    },
    Param {
        name: "offset",
        fio: &["offset", "fileoffset"],
        vdbench: "sd.offset",
        diskspd: &["-B", "BaseFileOffset"],
        iometer: &["Starting Disk Sector", "Starting sector"],
        kind: REGION,
        default: "0",
        short: "where the region starts in each file",
        long: "First byte of the region. A percentage is of the file or device and is rounded \
               down to the smallest block size or to `offset_align`. The region ends at offset \
               plus size, but never behind the end of the file.",
        ..field!(files.offset)
    },
    Param {
        name: "offset_increment",
        fio: &["offset_increment"],
        kind: REGION,
        default: "0",
        short: "added to the offset for each further worker",
        long: "Worker number n starts at offset plus n times this, which gives workers that \
               share a file separate regions. Usually set to the same value as `size`.",
        ..field!(files.offset_increment)
    },
    Param {
        name: "offset_align_bytes",
        fio: &["offset_align"],
        vdbench: "sd.align",
        kind: NUMBER,
        default: "0",
        short: "rounding of an offset given in percent, in bytes",
        long: "Rounds a start that was given in percent down to a multiple of this. With 0 the \
               smallest block size is used. Offsets given in bytes are left as they are.",
        ..field!(files.offset_align_bytes)
    },
    Param {
        name: "create_only",
        fio: &["create_only"],
        kind: ValueKind::Bool,
        default: "0",
        short: "lay files out and stop",
        long: "Makes the files and ends with success without any measured I/O. Later runs of the \
               same job then start at once.",
        ..field!(files.create_only)
    },
    Param {
        name: "append",
        fio: &["file_append"],
        kind: ValueKind::Bool,
        default: "0",
        short: "start writing at the end of the file",
        long: "The region starts where the file ends. Without effect on devices.",
        ..field!(files.append)
    },
    Param {
        name: "fill_device",
        fio: &["fill_device", "fill_fs"],
        kind: ValueKind::Bool,
        default: "0",
        short: "write until the space is used up",
        long: "Writes sequentially until the file system or device is full, which ends the job \
               without error. `size` is then not needed.",
        ..field!(files.fill_device)
    },
];

/// How they are made, opened and removed.
pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "n_open_files",
        fio: &["openfiles"],
        kind: COUNT,
        short: "files that are open at the same time",
        long: "Keeps at most this many of the job's files open and closes one before opening the \
               next. Without it, and with 0, all are open. Lower it to exercise open and close, \
               or when the limit of open files is small.",
        ..field!(files.n_open, Above0)
    },
    Param {
        name: "file_service",
        fio: &["file_service_type"],
        kind: ValueKind::Words,
        default: "roundrobin",
        short: "how the next file is picked",
        long: "One of random, roundrobin, sequential, zipf, pareto, normal (or gauss). Behind a \
               colon stands, for the first three, how many I/Os go to a file before the next is \
               picked (`roundrobin:8`); for the others the parameter of the distribution \
               (`zipf:1.2`). Sequential stays with a file until it is done.",
        lower: lower_file_service,
        get: |job| Some(get_file_service(job)),
        field: Some(job_field!(files.service)),
        ..BASE
    },
    Param {
        name: "io_size",
        fio: &["io_size", "io_limit"],
        kind: REGION,
        short: "amount to transfer per pass when not the region",
        long: "Ends a pass after this much I/O, whatever the size of the region: less stops \
               early, more goes over the region again. With `time_based` the amount counts per \
               pass. A percentage is of `size`.",
        ..field!(files.io_size)
    },
    Param {
        name: "direct",
        fio: &["direct"],
        diskspd: &["-S", "-Su", "DisableOSCache"],
        kind: ValueKind::Bool,
        default: "0",
        short: "bypass the page cache (O_DIRECT)",
        long: "Opens the targets with O_DIRECT, so that the device is measured and not memory. \
               Offsets, sizes and buffers must then be multiples of the device's block. It is the \
               opposite of `buffered`, and the later of the two wins. A file system that cannot \
               do it, such as tmpfs, makes the job fail. With `libaio` and direct=0 the kernel \
               works synchronously.",
        ..field!(files.direct)
    },
    Param {
        name: "buffered",
        fio: &["buffered"],
        kind: ValueKind::Bool,
        default: "1",
        short: "go through the page cache",
        long: "The opposite of `direct`; the later of the two wins. Reads may then come from \
               memory, and writes end in memory unless they are synced.",
        ..field!(files.direct, Opposite)
    },
    Param {
        name: "atomic",
        fio: &["atomic"],
        kind: ValueKind::Bool,
        default: "0",
        short: "writes are all or nothing (RWF_ATOMIC)",
        long: "Asks the kernel that a write is never torn by a crash. Implies `direct`. The \
               engine, the file system and the device must support it, and each write must fit \
               the unit they announce.",
        ..field!(files.atomic)
    },
    Param {
        name: "sync",
        fio: &["sync"],
        diskspd: &["-Sw", "WriteThrough"],
        default: "none",
        short: "durability of each write, by a flag at open",
        long: "`sync` opens with O_SYNC and makes each write wait for data and metadata, `dsync` \
               opens with O_DSYNC and waits for the data and what is needed to read it back. The \
               wait counts in the write's latency, unlike that of `fsync`.",
        ..choice!(files.sync, SYNC_MODES)
    },
    Param {
        name: "invalidate",
        fio: &["invalidate"],
        kind: ValueKind::Bool,
        default: "1",
        short: "drop cached pages of the file before the run",
        long: "Takes the file's clean pages out of the page cache before I/O starts, so that \
               buffered reads do not begin in memory. `pre_read` switches it off. It has no \
               effect on pages that other programs hold dirty or mapped.",
        ..field!(files.invalidate)
    },
    Param {
        name: "fadvise",
        fio: &["fadvise_hint"],
        diskspd: &["-fr", "-fs", "RandomAccess", "SequentialScan"],
        default: "1",
        short: "advice to the kernel about buffered access",
        long: "`1` tells the kernel what the job does, sequential or random; `random`, \
               `sequential` and `noreuse` tell it that whatever the job does; `0` is silent. It \
               changes read-ahead, and so what buffered reads cost.",
        ..choice!(files.fadvise, FADVISE)
    },
    Param {
        name: "allow_create",
        fio: &["allow_file_create"],
        kind: ValueKind::Bool,
        default: "1",
        short: "missing files may be created",
        long: "With 0 a missing file is an error. Use it where a job must only ever touch what \
               exists, such as a device whose name might be mistyped.",
        ..field!(files.allow_create)
    },
    Param {
        name: "create_on_open",
        fio: &["create_on_open"],
        kind: ValueKind::Bool,
        default: "0",
        short: "create files when they are opened, not before",
        long: "Leaves out the phase that lays files out; a file comes into being when it is \
               first opened. Reads of what was never written return nothing, so it suits write \
               jobs.",
        ..field!(files.create_on_open)
    },
    Param {
        name: "create_serialize",
        fio: &["create_serialize"],
        kind: ValueKind::Bool,
        default: "1",
        short: "workers lay out files one after another",
        long: "Laid out one after another, each file gets long extents. With 0 all are laid out at \
               the same time: faster, but their blocks may be interleaved on the device.",
        ..field!(files.create_serialize)
    },
    Param {
        name: "create_fsync",
        fio: &["create_fsync"],
        kind: ValueKind::Bool,
        default: "1",
        short: "make files durable after laying them out",
        long: "Writes laid out data back before the measured time, so that the write-back does \
               not disturb it.",
        ..field!(files.create_fsync)
    },
    Param {
        name: "fallocate",
        fio: &["fallocate"],
        default: "native",
        short: "how space is reserved when a file is laid out",
        long: "`native` asks the file system and goes on silently where it cannot, `posix` has \
               the C library write zeros in that case, `keep` reserves without changing the size, \
               `truncate` only sets the size, `none` does nothing. Reserved space that was never \
               written reads as zeros without touching the device, which flatters reads.",
        ..choice!(files.fallocate, FALLOCATE)
    },
    Param {
        name: "overwrite",
        fio: &["overwrite"],
        kind: ValueKind::Bool,
        default: "0",
        short: "fill files before a write job starts",
        long: "Writes missing files in full first, so that the measured writes replace existing \
               blocks instead of allocating new ones. Jobs that read always do so.",
        ..field!(files.overwrite)
    },
    Param {
        name: "pre_read",
        fio: &["pre_read"],
        kind: ValueKind::Bool,
        default: "0",
        short: "read files into the cache first",
        long: "Reads every file once before the run, so that buffered reads are measured warm. \
               Switches `invalidate` off.",
        ..field!(files.pre_read)
    },
    Param {
        name: "unlink",
        fio: &["unlink"],
        kind: ValueKind::Bool,
        default: "0",
        short: "remove the files when the job has ended",
        long: "Removes the job's files, but never devices, at the end. A later run has to lay \
               them out again.",
        ..field!(files.unlink)
    },
    Param {
        name: "unlink_each_loop",
        fio: &["unlink_each_loop"],
        kind: ValueKind::Bool,
        default: "0",
        short: "remove the files between two passes",
        long: "Removes the files before each further pass of `loops`, which creates them again. \
               Those of the last pass are kept.",
        ..field!(files.unlink_each_loop)
    },
    Param {
        name: "fsync_on_close",
        fio: &["fsync_on_close"],
        kind: ValueKind::Bool,
        default: "0",
        short: "make a file durable each time it is closed",
        long: "Calls fsync before every close, also when files are closed and opened during the \
               run because of `n_open_files`.",
        ..field!(files.fsync_on_close)
    },
    Param {
        name: "lock_file",
        fio: &["lockfile"],
        default: "none",
        short: "locks between workers that share a file",
        long: "`exclusive` lets one worker at a time issue I/O to a file, `readwrite` many \
               readers or one writer. The locks are between workers of the run and do not keep \
               other programs out.",
        ..choice!(files.lock, LOCKS)
    },
    Param {
        name: "fsync_every",
        fio: &["fsync"],
        kind: COUNT,
        default: "0",
        short: "fsync after every this many writes",
        long: "Makes the file durable after every N writes; 0 never. The sync has its own \
               latency in the results and does not count in the writes'.",
        ..field!(durability.fsync_every)
    },
    Param {
        name: "fdatasync_every",
        fio: &["fdatasync"],
        kind: COUNT,
        default: "0",
        short: "fdatasync after every this many writes",
        long: "As `fsync_every`, but leaves out metadata that is not needed to read the data \
               back.",
        ..field!(durability.fdatasync_every)
    },
    Param {
        name: "sync_file_range",
        fio: &["sync_file_range"],
        kind: ValueKind::Words,
        short: "start or await write-back every so many writes",
        long: "Calls sync_file_range over what was written since the last call. Give one or more \
               of wait_before, write and wait_after, joined by commas, and behind a colon the \
               number of writes: `wait_before,write:8`. It makes nothing durable, because the \
               device's cache is not flushed.",
        lower: lower_sync_file_range,
        get: get_sync_file_range,
        field: Some(job_field!(durability.sync_file_range_flags)),
        ..BASE
    },
    Param {
        name: "barrier_every",
        fio: &["write_barrier"],
        kind: COUNT,
        default: "0",
        short: "a barrier before every this many writes",
        long: "Waits for all earlier writes to be durable before every Nth write goes out; 0 \
               never. Nothing else is in flight meanwhile.",
        ..field!(durability.barrier_every)
    },
    Param {
        name: "end_fsync",
        fio: &["end_fsync"],
        kind: ValueKind::Bool,
        default: "0",
        short: "make each file durable when writing has ended",
        long: "Calls fsync on each file at the end of the job. It takes time, but does not count \
               in any latency; without it a buffered write job may end with its data still in \
               memory.",
        ..field!(durability.end_fsync)
    },
    Param {
        name: "end_syncfs",
        fio: &["end_syncfs"],
        kind: ValueKind::Bool,
        default: "0",
        short: "write back the whole file system at the end",
        long: "Calls syncfs on the file system of each file at the end of the job. It also waits \
               for what other programs wrote there.",
        ..field!(durability.end_syncfs)
    },
    Param {
        name: "write_life",
        fio: &["write_hint"],
        kind: ValueKind::Enum(WRITE_LIVES),
        default: "none",
        short: "how long the device should expect data to live",
        long: "Marks the files' data as short, medium, long or extreme lived, so that a device \
               can keep data of like age together.",
        support: Support::Hint(
            "data life hints are not passed on yet; leave it out or write \
                                  none",
        ),
        ..BASE
    },
];

const FILE_TYPES: [Word<FileType>; 4] = words!(FileType {
    Any => ("none", &[], "anything; a regular file is created where nothing is"),
    Regular => ("file", &[], "regular file"),
    Block => ("block", &[], "block device"),
    Character => ("char", &[], "character device"),
});

const SYNC_MODES: [Word<SyncMode>; 3] = words!(SyncMode {
    None => ("none", &["0"], "writes may stay in caches"),
    Sync => ("sync", &["1"], "O_SYNC: data and metadata"),
    Dsync => ("dsync", &[], "O_DSYNC: data and what is needed to read it"),
});

const FADVISE: [Word<Fadvise>; 5] = words!(Fadvise {
    None => ("0", &[], "no advice"),
    ByAccess => ("1", &[], "random or sequential, as the job is"),
    Random => ("random", &[], "random"),
    Sequential => ("sequential", &[], "sequential"),
    NoReuse => ("noreuse", &[], "data is used once"),
});

const FALLOCATE: [Word<Fallocate>; 5] = words!(Fallocate {
    None => ("none", &["0"], "no reservation"),
    Native => ("native", &[], "by the file system, or not at all"),
    Posix => ("posix", &["1"], "by the C library, which may write zeros"),
    KeepSize => ("keep", &[], "by the file system, without changing the size"),
    Truncate => ("truncate", &[], "set the size only"),
});

const LOCKS: [Word<LockFile>; 3] = words!(LockFile {
    None => ("none", &[], "no lock"),
    Exclusive => ("exclusive", &[], "one worker at a time"),
    ReadWrite => ("readwrite", &[], "many readers or one writer"),
});

const WRITE_LIVES: &[Choice] = &[
    idle_word("none", "no hint"),
    idle_word("short", "replaced soon"),
    idle_word("medium", "between short and long"),
    idle_word("long", "replaced late"),
    idle_word("extreme", "never replaced"),
];

/// Returns how the next file is picked, with a parameter or where it has none.
type ServiceOf = fn(Option<f64>) -> FileService;

/// The words that pick the next file, and what each of them means.
const FILE_SERVICES: [(&str, ServiceOf); 7] = [
    ("random", |_| FileService::Random),
    ("roundrobin", |_| FileService::RoundRobin),
    ("sequential", |_| FileService::Sequential),
    ("zipf", |theta| FileService::Zipf(theta.unwrap_or(1.1))),
    ("pareto", |h| FileService::Pareto(h.unwrap_or(0.2))),
    ("normal", of_normal),
    ("gauss", of_normal),
];

fn of_normal(deviation: Option<f64>) -> FileService {
    FileService::Normal(fio_normal_deviation_pct(deviation.unwrap_or(0.0)))
}

fn lower_file_service(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let (word, argument) = value.one_word()?;
    let Some((_, of)) = FILE_SERVICES.iter().find(|(name, _)| *name == word) else {
        return Err(unknown_word(word, FILE_SERVICES.iter().map(|(name, _)| *name)));
    };
    let usual = of(None);
    (job.files.service, job.files.ios_per_file) = match usual {
        FileService::Random | FileService::RoundRobin | FileService::Sequential => {
            (usual, argument.map_or(Ok(1), number::<u32>)?.max(1))
        }
        FileService::Zipf(_) | FileService::Pareto(_) | FileService::Normal(_) => {
            (of(spread(argument)?), 1)
        }
    };
    Ok(())
}

/// Reads the parameter of a distribution over files.
fn spread(argument: Option<&str>) -> Result<Option<f64>, ValueError> {
    let Some(argument) = argument else {
        return Ok(None);
    };
    let parameter: f64 = number(argument)?;
    if parameter.is_finite() && parameter >= 0.0 {
        Ok(Some(parameter))
    } else {
        Err(ValueError::unfit(&argument, "the parameter of the distribution", "0 or more"))
    }
}

fn get_file_service(job: &Job) -> Value {
    let ios_per_file = job.files.ios_per_file;
    let counted = (ios_per_file != 1).then(|| ios_per_file.to_string());
    match job.files.service {
        FileService::Random => Value::of_word("random", counted),
        FileService::RoundRobin => Value::of_word("roundrobin", counted),
        FileService::Sequential => Value::of_word("sequential", counted),
        FileService::Zipf(theta) => Value::of_word("zipf", Some(theta.to_string())),
        FileService::Pareto(h) => Value::of_word("pareto", Some(h.to_string())),
        FileService::Normal(pct) => {
            Value::of_word("normal", Some(fio_normal_parameter_pct(pct).to_string()))
        }
    }
}

/// Flags of sync_file_range(2), by fio's names.
const SYNC_FILE_RANGE_FLAGS: &[(&str, u32)] =
    &[("wait_before", 1), ("write", 2), ("wait_after", 4)];

fn lower_sync_file_range(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let (mut flags, mut every) = (0, 1);
    for (word, argument) in value.words()? {
        let known = SYNC_FILE_RANGE_FLAGS.iter().find(|(name, _)| name == word);
        let Some((_, flag)) = known else {
            return Err(unknown_word(word, SYNC_FILE_RANGE_FLAGS.iter().map(|(name, _)| *name)));
        };
        flags |= flag;
        if let Some(argument) = argument {
            every = number(argument)?;
        }
    }
    job.durability.sync_file_range_every = every;
    job.durability.sync_file_range_flags = flags;
    Ok(())
}

fn get_sync_file_range(job: &Job) -> Option<Value> {
    let durability = &job.durability;
    let every = durability.sync_file_range_every;
    let flags = SYNC_FILE_RANGE_FLAGS.iter();
    let flags = flags.filter(|(_, flag)| durability.sync_file_range_flags & flag != 0);
    let mut words: Vec<_> = flags.map(|(name, _)| ((*name).to_owned(), None)).collect();
    words.last_mut()?.1 = Some(every.to_string());
    (every > 0).then_some(Value::Words(words))
}
