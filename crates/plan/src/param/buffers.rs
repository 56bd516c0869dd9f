//! Buffers: what written data holds, and which memory it comes from.

use super::entry::{Param, Support, Value, ValueKind};
use super::error::ValueError;
use super::fields::{
    BASE, COUNT, Codec, NUMBER, PERCENT, Plain, Word, choices, field, meaning, unknown_word, word,
    word_for,
};
use crate::verify::{DedupeMode, Memory};
use crate::{Job, job_field};

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "refill",
        fio: &["refill_buffers"],
        diskspd: &["-Zr", "RandomWriteData"],
        kind: ValueKind::Flag,
        short: "new contents for each write",
        long: "Fills the buffer anew before every write. Without it buffers are filled once and \
               only scrambled. Verification, compressible contents and duplicates need it and \
               switch it on unless it is given.",
        ..field!(buffers.refill)
    },
    Param {
        name: "zero",
        fio: &["zero_buffers"],
        kind: ValueKind::Flag,
        short: "write zeros only",
        long: "All written data is zero. Many devices and file systems store zeros without \
               writing them, so results say little about real data.",
        ..field!(buffers.zero)
    },
    Param {
        name: "scramble",
        fio: &["scramble_buffers"],
        kind: ValueKind::Bool,
        default: "1",
        short: "change a few bytes so that no two blocks are equal",
        long: "Marks each block before it is written, at little cost, so that a target that \
               removes duplicates does not find any. `refill` makes it superfluous.",
        ..field!(buffers.scramble)
    },
    Param {
        name: "pattern",
        fio: &["buffer_pattern"],
        diskspd: &["-Z", "WriteBufferContent"],
        iometer: &["Data pattern"],
        kind: ValueKind::Pattern { offset: false },
        short: "bytes to write over and over",
        long: "Fills buffers with the bytes given as text in double quotes, hexadecimal \
               (`0xdeadbeef`), decimal numbers, the contents of a file in single quotes, or any \
               of these one after another.",
        ..field!(buffers.pattern)
    },
    Param {
        name: "pattern_source_bytes",
        diskspd: &["RandomDataSource"],
        kind: NUMBER,
        default: "0",
        short: "bytes of the pattern of which each write takes a part",
        long: "`pattern`, over and over, fills so many bytes, and each write takes a part of them \
               that begins at a random place; with `direct` that is a multiple of 512 bytes. 0: \
               each write begins where the pattern does. It changes nothing of compressible data \
               and duplicates.",
        ..field!(buffers.pattern_source_bytes)
    },
    Param {
        name: "compress_pct",
        fio: &["buffer_compress_percentage"],
        vdbench: "compratio",
        kind: PERCENT,
        short: "share of the data that compresses away, percent",
        long: "Mixes random and constant bytes so that this share can be compressed away; 100 \
               writes zeros. Other values refill the buffer for every write. How closely a target \
               gets there depends on its compressor.",
        ..field!(buffers.compress_pct)
    },
    Param {
        name: "compress_chunk_bytes",
        fio: &["buffer_compress_chunk"],
        kind: COUNT,
        default: "512",
        short: "granularity of compressible data, in bytes",
        long: "Random and constant parts alternate within every chunk of this size. Set it to \
               the block size of the target's compression.",
        ..field!(buffers.compress_chunk_bytes)
    },
    Param {
        name: "dedupe_pct",
        fio: &["dedupe_percentage"],
        vdbench: "dedupratio",
        kind: PERCENT,
        short: "share of duplicate blocks, percent",
        long: "This share of the written blocks repeats earlier contents. `dedupe_mode` says \
               which. Together with `compress_pct` it must not exceed 100.",
        ..field!(buffers.dedupe_pct)
    },
    Param {
        name: "dedupe_mode",
        fio: &["dedupe_mode"],
        kind: ValueKind::Enum(const { &choices(&DEDUPE_MODES) }),
        default: "repeat",
        short: "which earlier contents are repeated",
        long: "`repeat` writes the block before once more. `working_set` draws from a set of \
               contents as large as `dedupe_working_set_pct` of the size.",
        lower: |job, v| {
            job.buffers.dedupe_mode = meaning(&DEDUPE_MODES, v)?;
            Ok(())
        },
        get: |job| {
            // What a set is made of is said by others.
            let mode = match job.buffers.dedupe_mode {
                DedupeMode::Repeat => DedupeMode::Repeat,
                DedupeMode::WorkingSet { .. } => WORKING_SET,
            };
            word_for(&DEDUPE_MODES, &mode)
        },
        field: Some(job_field!(buffers.dedupe_mode)),
        ..BASE
    },
    Param {
        name: "dedupe_working_set_pct",
        fio: &["dedupe_working_set_percentage"],
        kind: PERCENT,
        default: "5",
        short: "size of the set of duplicates, percent of the size",
        long: "With `dedupe_mode=working_set`: how many different contents there are to draw \
               from.",
        lower: |job, v| {
            let share = v.int()?;
            if let DedupeMode::WorkingSet { pct, .. } = &mut job.buffers.dedupe_mode {
                *pct = share;
            }
            Ok(())
        },
        get: |job| match job.buffers.dedupe_mode {
            DedupeMode::WorkingSet { pct, .. } => Plain::get(&pct),
            DedupeMode::Repeat => None,
        },
        field: Some(job_field!(buffers.dedupe_mode)),
        ..BASE
    },
    Param {
        name: "dedupe_global",
        fio: &["dedupe_global"],
        kind: ValueKind::Bool,
        default: "0",
        short: "one set of duplicates for all jobs",
        long: "With `dedupe_mode=working_set`: jobs draw from a common set instead of one of \
               their own.",
        lower: |job, v| {
            let shared = v.bool()?;
            if let DedupeMode::WorkingSet { global, .. } = &mut job.buffers.dedupe_mode {
                *global = shared;
            }
            Ok(())
        },
        get: |job| match job.buffers.dedupe_mode {
            DedupeMode::WorkingSet { global, .. } => Plain::get(&global),
            DedupeMode::Repeat => None,
        },
        field: Some(job_field!(buffers.dedupe_mode)),
        ..BASE
    },
    Param {
        name: "memory",
        fio: &["mem", "iomem"],
        diskspd: &["-l", "UseLargePages"],
        kind: ValueKind::Words,
        default: "malloc",
        short: "memory that buffers are made of",
        long: "`malloc` is ordinary memory; `shm` and `mmap` are shared or mapped memory, with \
               `huge` behind them of huge pages, which must be reserved beforehand; `mmapshared` \
               is visible to other processes. `mmap:FILE` maps a file, for instance of persistent \
               memory.",
        lower: lower_memory,
        get: get_memory,
        field: Some(job_field!(buffers.memory)),
        ..BASE
    },
    Param {
        name: "memory_align_bytes",
        fio: &["iomem_align", "mem_align"],
        kind: COUNT,
        default: "0",
        short: "alignment of buffers, in bytes",
        long: "Aligns each buffer to this, beyond what direct I/O needs. 0 is the page size.",
        ..field!(buffers.align_bytes)
    },
    Param {
        name: "huge_page_bytes",
        fio: &["hugepage-size"],
        kind: NUMBER,
        default: "2097152",
        short: "size of huge pages, in bytes",
        long: "Which of the system's huge page sizes to use for `mem=mmaphuge` and \
               `mem=shmhuge`.",
        support: Support::Hint("huge pages have the size that the system uses by default"),
        ..BASE
    },
    Param {
        name: "lock_memory_bytes",
        fio: &["lockmem"],
        kind: NUMBER,
        default: "0",
        short: "memory to pin, in bytes",
        long: "Pins this much memory per worker, so that less is left for the page cache: a way \
               to test as if the machine were smaller.",
        ..field!(buffers.lock_memory_bytes)
    },
    Param {
        name: "gpu",
        fio: &["gpu_dev_id"],
        kind: COUNT,
        default: "0",
        short: "GPU that holds the buffers",
        long: "Number of the GPU whose memory `mem=cudamalloc` takes.",
        support: Support::Later("buffers are in main memory"),
        ..BASE
    },
];

/// A set as it is made first.
const WORKING_SET: DedupeMode = DedupeMode::WorkingSet { pct: 5, global: false };

const DEDUPE_MODES: [Word<DedupeMode>; 2] = [
    word("repeat", &[], "the block before", DedupeMode::Repeat),
    word("working_set", &[], "any of a set of contents", WORKING_SET),
];

/// Kinds of memory, without the file of a mapping.
const MEMORY: [(&str, Memory); 6] = [
    ("malloc", Memory::Malloc),
    ("shm", Memory::Shm { huge: false }),
    ("shmhuge", Memory::Shm { huge: true }),
    ("mmap", Memory::Mmap { huge: false, shared: false, file: None }),
    ("mmaphuge", Memory::Mmap { huge: true, shared: false, file: None }),
    ("mmapshared", Memory::Mmap { huge: false, shared: true, file: None }),
];

fn get_memory(job: &Job) -> Option<Value> {
    let mut memory = job.buffers.memory.clone();
    let file = match &mut memory {
        Memory::Mmap { file, .. } => file.take(),
        Memory::Malloc | Memory::Shm { .. } => None,
    };
    let (word, _) = MEMORY.iter().find(|(_, kind)| *kind == memory)?;
    Some(Value::of_word(word, file))
}

fn lower_memory(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let (word, argument) = value.one_word()?;
    if word == "cudamalloc" {
        return Err(ValueError::NotSupported {
            what: "memory of a GPU",
            instead: "use mem=malloc",
        });
    }
    let known = MEMORY.iter().find(|(name, _)| *name == word);
    let unknown = || unknown_word(word, MEMORY.iter().map(|(name, _)| *name));
    let (_, mut memory) = known.ok_or_else(unknown)?.clone();
    if let Memory::Mmap { file, .. } = &mut memory {
        *file = argument.map(str::to_owned);
    }
    job.buffers.memory = memory;
    Ok(())
}
