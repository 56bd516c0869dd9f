//! The workload: directions and their mix, block sizes, addressing, seeds, strided zones.

use super::entry::{AccessValue, Choice, Param, Support, Value, ValueKind};
use super::error::ValueError;
use super::fields::{
    BASE, COUNT, Codec, FinePct, FixedSize, InBytes, NUMBER, Opposite, PERCENT, Plain, REGION,
    WholePct, Word, choice, choices, dirs, field, get_dirs, given, idle_word, meaning_of, mismatch,
    narrow, part, put_given, word, word_for, words,
};
use crate::workload::{
    Access, BlockSize, DEFAULT_SEED, Distribution, RandomGenerator, Sequencer, Strided,
};
use crate::{Job, PerDir, job_field};

/// Which bytes of the files.
pub(super) static PLACES: &[Param] = &[
    Param {
        name: "block_unaligned",
        fio: &["bs_unaligned", "blocksize_unaligned"],
        kind: ValueKind::Flag,
        short: "sizes of a range need not be multiples of its start",
        long: "Lets `block_size_range` draw any number of bytes. Direct I/O usually refuses such \
               sizes.",
        ..field!(workload.block_unaligned)
    },
    Param {
        name: "zone_mode",
        fio: &["zonemode"],
        kind: ValueKind::Enum(ZONE_MODES),
        default: "none",
        short: "work the target zone by zone",
        long: "`strided` works `zone_size_bytes` of each zone, skips `zone_skip_bytes`, and goes \
               on; it is meant where `zone_size_bytes` is set without a mode. It uses one open \
               file. `zbd`, for zoned devices, is not supported yet.",
        lower: lower_zone_mode,
        get: |job| {
            let is_strided = job.workload.strided.is_some();
            Some(Value::Choice(if is_strided { "strided" } else { "none" }))
        },
        field: Some(job_field!(workload.strided)),
        ..BASE
    },
    Param {
        name: "zone_size_bytes",
        fio: &["zonesize"],
        kind: NUMBER,
        default: "0",
        short: "bytes worked in a zone before going on",
        long: "With `zone_mode=strided`, or without a mode: how much is transferred in each \
               zone. 0 is no zones.",
        ..part!(workload.strided, strided, zone_size_bytes)
    },
    Param {
        name: "zone_range_bytes",
        fio: &["zonerange"],
        kind: NUMBER,
        default: "0",
        short: "bytes from one zone to the gap behind it",
        long: "Extent of a strided zone. When it is larger than `zone_size_bytes`, random I/O \
               spreads over all of it and only the size is transferred. 0 is the zone size.",
        ..part!(workload.strided, strided, zone_range_bytes)
    },
    Param {
        name: "zone_skip_bytes",
        fio: &["zoneskip"],
        kind: REGION,
        default: "0",
        short: "bytes left out after each zone",
        long: "Gap behind each strided zone; the next zone starts after it. Counts of zones \
               (`2z`) belong to zoned devices.",
        ..part!(workload.strided, strided, zone_skip_bytes, InBytes)
    },
    Param {
        name: "precondition",
        fio: &["sprandom"],
        kind: ValueKind::Bool,
        default: "0",
        short: "write so that a flash device is in steady state after one pass",
        long: "Orders a random write pass by device regions so that over-provisioned flash ends \
               up as worn in as after several passes.",
        support: Support::Later("precondition with two passes of random writes (loops=2)"),
        ..BASE
    },
    Param {
        name: "precondition_regions",
        fio: &["spr_num_regions"],
        kind: COUNT,
        default: "100",
        short: "regions of a preconditioning pass",
        long: "Number of parts into which `precondition` divides the device.",
        support: Support::Hint("belongs to sprandom, which is not supported yet"),
        ..BASE
    },
    Param {
        name: "precondition_spare",
        fio: &["spr_op"],
        kind: ValueKind::Float { min: 0.0, max: 1.0 },
        default: "0.15",
        short: "over-provisioned share of the device",
        long: "Spare space that `precondition` assumes, as a fraction of the capacity.",
        support: Support::Hint("belongs to sprandom, which is not supported yet"),
        ..BASE
    },
];

/// In which order, how large and how often, within these bytes.
pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "access",
        fio: &["rw", "readwrite"],
        diskspd: &["-s", "-si", "StrideSize", "InterlockedSequential"],
        iometer: &["access specification"],
        kind: ValueKind::Access,
        default: "read",
        short: "directions, and sequential or random",
        long: "What is issued and in which order: read, write, trim or both ways (rw), plain for \
               sequential and with `rand` in front for random. `trimwrite` trims a block and then \
               writes it. A number behind a colon means two things: for random (`randread:8`) go \
               on sequentially for that many I/Os between draws; for sequential (`read:4k`) skip \
               that many bytes after each I/O, backwards if negative.",
        lower: lower_access,
        get: get_access,
        field: Some(job_field!(workload.access)),
        ..BASE
    },
    Param {
        name: "read_pct",
        fio: &["rwmixread"],
        vdbench: "wd.rdpct",
        diskspd: &["-w", "WriteRatio"],
        iometer: &["Percent Read/Write Distribution", "% reads"],
        kind: PERCENT,
        default: "50",
        short: "share of reads in a mix, percent",
        long: "Share of reads when both reads and writes are issued; writes get the rest. The \
               later of `read_pct` and `write_pct` wins. It counts I/Os, so with different block \
               sizes the shares of bytes differ.",
        ..field!(workload.read_pct, WholePct)
    },
    Param {
        name: "write_pct",
        fio: &["rwmixwrite"],
        kind: PERCENT,
        default: "50",
        short: "share of writes in a mix, percent",
        long: "The other side of `read_pct`: reads get the rest, and the later of the two wins.",
        // `read_pct` says it.
        lower: |job, v| {
            let write_pct: u8 = v.int()?;
            job.workload.read_pct = f64::from(100_u8.saturating_sub(write_pct));
            Ok(())
        },
        field: Some(job_field!(workload.read_pct)),
        ..BASE
    },
    Param {
        name: "read_share_pct",
        kind: ValueKind::Float { min: 0.0, max: 100.0 },
        short: "share of reads in a mix, in fractions of a percent",
        long: "The same as `read_pct`, but finer than whole percents.",
        ..field!(workload.read_pct, FinePct)
    },
    Param {
        name: "block_size_bytes",
        fio: &["bs", "blocksize"],
        vdbench: "wd.xfersize",
        diskspd: &["-b", "BlockSize"],
        iometer: &["Transfer Request Size"],
        kind: BLOCK,
        default: "4096",
        short: "bytes per I/O, per direction",
        long: "One value counts for all directions; with commas they stand for reads, writes and \
               trims (`4k,64k`), where two values give trims the second and an empty place keeps \
               the default. `block_size_range` and `block_size_split` take precedence, wherever \
                   they are written.",
        ..dirs!(workload.block_size, FixedSize)
    },
    Param {
        name: "block_size_range",
        fio: &["bsrange", "blocksize_range"],
        kind: ValueKind::BlockRange,
        short: "smallest and largest bytes per I/O",
        long: "Draws each size from `min-max`, equally likely, as a multiple of the smallest \
               unless `block_unaligned` is set. Further ranges behind a comma or slash are for \
               writes and trims.",
        lower: lower_block_sizes,
        get: |job| {
            block_sizes(job, |size| match size {
                BlockSize::Range { min, max } | BlockSize::Stepped { min, max, .. } => {
                    Some(BlockSize::Range { min: *min, max: *max })
                }
                BlockSize::Fixed(_) | BlockSize::Split(_) | BlockSize::Weighted(_) => None,
            })
        },
        field: Some(job_field!(workload.block_size)),
        ..BASE
    },
    Param {
        name: "block_size_split",
        fio: &["bssplit"],
        iometer: &["% of size"],
        kind: ValueKind::BlockSplit,
        short: "sizes with their shares",
        long: "Mixes sizes in given shares: `4k/10:64k/50:32k/40`. Sizes without a percentage \
               divide what is left equally; the shares must not exceed 100. Further splits \
               after a comma are for writes and trims. At most 64 sizes per direction.",
        lower: lower_block_sizes,
        get: |job| {
            block_sizes(job, |size| matches!(size, BlockSize::Split(_)).then(|| size.clone()))
        },
        field: Some(job_field!(workload.block_size)),
        ..BASE
    },
    Param {
        name: "block_align_bytes",
        fio: &["ba", "blockalign"],
        diskspd: &["-r", "Random"],
        iometer: &["Align I/Os on"],
        kind: BLOCK,
        short: "alignment of random offsets, in bytes",
        long: "Random offsets are multiples of this instead of the smallest block size. A value \
               other than the block size lets blocks overlap, so that a pass no longer visits \
               each block once.",
        ..dirs!(workload.block_align, Plain)
    },
    Param {
        name: "block_size_by_pattern",
        fio: &["bs_is_seq_rand"],
        kind: ValueKind::Bool,
        default: "0",
        short: "sizes are for sequential and random, not read and write",
        long: "The first block size is then used for sequential and the second for random I/O, \
               whatever the direction. Only sensible with `random_pct` between 0 and 100.",
        ..field!(workload.block_size_by_pattern)
    },
    Param {
        name: "random_pct",
        fio: &["percentage_random"],
        vdbench: "wd.seekpct",
        diskspd: &["-rs", "RandomRatio"],
        iometer: &["Percent Random/Sequential Distribution", "% random"],
        kind: ValueKind::IntPerDir { min: 0, max: 100 },
        default: "100",
        short: "share of random I/O, percent, per direction",
        long: "For random walks: the rest of the I/O goes on sequentially from where the last \
               one ended. Sequential walks are not affected.",
        // All whole, or `random_share_pct` says all of them.
        get: |job| {
            let pcts = &job.workload.random_pct;
            let is_whole = pcts.iter().all(|(_, pct)| pct.fract() == 0.0);
            get_dirs::<WholePct, _>(pcts).filter(|_| is_whole)
        },
        ..dirs!(workload.random_pct, WholePct)
    },
    Param {
        name: "random_share_pct",
        kind: ValueKind::Float { min: 0.0, max: 100.0 },
        short: "share of random I/O, in fractions of a percent",
        long: "The same as `random_pct` for all directions, but finer than whole percents.",
        lower: |job, v| {
            job.workload.random_pct = PerDir::all(v.float()?);
            Ok(())
        },
        get: |job| {
            let pcts = &job.workload.random_pct;
            let is_fine = pcts.iter().any(|(_, pct)| pct.fract() != 0.0);
            is_fine.then_some(Value::Float(pcts.read))
        },
        field: Some(job_field!(workload.random_pct)),
        ..BASE
    },
    Param {
        name: "sequential_pct",
        fio: &["percentage_sequential"],
        kind: PERCENT,
        short: "share of sequential I/O",
        long: "fio itself refuses this option, which was once the other side of the random \
               share.",
        support: Support::Removed("write percentage_random with 100 minus the value"),
        ..BASE
    },
    Param {
        name: "mix_cycle",
        fio: &["rwmixcycle"],
        kind: COUNT,
        short: "length of a cycle of the mix",
        long: "fio itself refuses this option; the mix is drawn for each I/O and has no cycle.",
        support: Support::Removed("leave it out"),
        ..BASE
    },
    Param {
        name: "sequencer",
        fio: &["rw_sequencer"],
        default: "sequential",
        short: "what happens between random draws",
        long: "With a number on `access` (`randread:8`) the I/Os between two draws either go on \
               sequentially or stay at the same offset.",
        ..choice!(workload.sequencer, SEQUENCERS)
    },
    Param {
        name: "repeats_allowed",
        fio: &["norandommap"],
        kind: ValueKind::Flag,
        short: "random offsets may repeat and leave gaps",
        long: "Draws every offset independently. Without it a random pass visits every block \
               exactly once, which for one block size costs no memory here whatever the size of \
               the target.",
        ..field!(workload.no_repeats, Opposite)
    },
    Param {
        name: "soft_random_map",
        fio: &["softrandommap"],
        kind: ValueKind::Bool,
        default: "0",
        short: "go on without a map if memory is short",
        long: "In fio, whose map of visited blocks grows with the target, it says what happens \
               when there is no memory for the map.",
        support: Support::NoEffect("blocks are visited once without a map, or with a small one"),
        ..BASE
    },
    Param {
        name: "random_generator",
        fio: &["random_generator"],
        default: "tausworthe",
        short: "generator of random offsets",
        long: "`lfsr` visits every block once in a fixed scrambled order and allows one block \
               size only. The other two names mean the standard generator, which covers targets \
               of any size.",
        ..choice!(workload.generator, GENERATORS)
    },
    Param {
        name: "distribution",
        fio: &["random_distribution"],
        diskspd: &["-rd", "Distribution"],
        kind: ValueKind::Distribution,
        default: "random",
        short: "how random offsets are spread",
        long: "`random` is even; `zipf:theta`, `pareto:h` and `normal:deviation` (percent) \
               concentrate on a hot spot whose place a further `:0..1` fixes; \
               `zoned:60/10:30/20:10/70` gives shares of accesses to shares of the region and \
               `zoned_abs` to sizes; `sequence:2,0,1` repeats block numbers. Commas give zones \
               per direction. Anything but `random` allows repeats.",
        lower: |job, v| {
            let Value::Distribution(spreads) = v else {
                return Err(mismatch("a distribution", v));
            };
            job.workload.distribution.clone_from(spreads);
            Ok(())
        },
        get: |job| {
            let spreads = &job.workload.distribution;
            let is_of_others = |spread: &Distribution| {
                matches!(spread, Distribution::Exponential { .. } | Distribution::Power { .. })
            };
            let is_own = !spreads.iter().any(|(_, spread)| is_of_others(spread));
            is_own.then(|| Value::Distribution(spreads.clone()))
        },
        field: Some(job_field!(workload.distribution)),
        ..BASE
    },
    Param {
        name: "random_stride",
        fio: &["random_sequence_stride"],
        kind: ValueKind::Bool,
        default: "0",
        short: "a sequence of blocks moves on",
        long: "With `distribution=sequence`, the block numbers count within a group of as many \
               blocks as the sequence lists, and each cycle works the next group. Without, the \
               sequence repeats in place.",
        ..field!(workload.sequence_advances)
    },
    Param {
        name: "seed_repeats",
        fio: &["randrepeat", "allrandrepeat"],
        kind: ValueKind::Bool,
        default: "1",
        short: "every run draws the same random numbers",
        long: "With 0 each run takes a new seed, which the record stores so that the run can be \
               repeated. A `seed` that is given wins wherever it stands.",
        lower: |job, v| {
            job.workload.seed_varies = !v.bool()? && job.workload.seed == DEFAULT_SEED;
            Ok(())
        },
        get: |job| Some(Value::Bool(!job.workload.seed_varies)),
        field: Some(job_field!(workload.seed_varies)),
        ..BASE
    },
    Param {
        name: "seed",
        is_load: false,
        fio: &["randseed"],
        diskspd: &["-z", "RandSeed"],
        iometer: &["Fixed seed"],
        kind: NUMBER,
        default: "0x89",
        short: "seed of all random numbers of the job",
        long: "Same plan, same seed: same sequence of operations, however many workers and hosts \
               share it. Each worker and each purpose derives its own stream. Switches \
               `seed_repeats=0` off.",
        lower: |job, v| {
            job.workload.seed = v.int()?;
            job.workload.seed_varies = false;
            Ok(())
        },
        get: |job| Plain::get(&job.workload.seed),
        field: Some(job_field!(workload.seed)),
        ..BASE
    },
    Param {
        name: "trim_pct",
        fio: &["trim_percentage"],
        kind: PERCENT,
        default: "0",
        short: "share of verified blocks that are trimmed, percent",
        long: "Trims this share of the written blocks and then expects zeros there. Only active \
               together with `verify` and `trim_backlog`.",
        ..field!(workload.trim_pct)
    },
    Param {
        name: "trim_backlog",
        fio: &["trim_backlog"],
        kind: COUNT,
        default: "0",
        short: "trim after this many blocks were written",
        long: "With `trim_pct`: blocks written before trimming starts. 0 is off.",
        ..field!(workload.trim_backlog)
    },
    Param {
        name: "trim_backlog_batch",
        fio: &["trim_backlog_batch"],
        kind: COUNT,
        default: "0",
        short: "blocks trimmed in one go",
        long: "With `trim_backlog`: how many blocks are trimmed before writing goes on. 0 is the \
               whole backlog.",
        ..field!(workload.trim_backlog_batch)
    },
    Param {
        name: "trim_ranges",
        fio: &["num_range"],
        kind: ValueKind::Int { min: 1, max: 256 },
        default: "1",
        short: "ranges per trim command",
        long: "Number of separate ranges that one discard names. Only NVMe pass-through can \
               issue more than one.",
        support: Support::Later("one range per trim is issued; leave it out or write 1"),
        ..BASE
    },
    Param {
        name: "precondition_cache_bytes",
        fio: &["spr_cs"],
        kind: NUMBER,
        default: "0",
        short: "size of the cache a preconditioning pass allows for",
        long: "Bytes of fast cells that the device fills first, which `precondition` takes into \
               account.",
        support: Support::Hint("belongs to sprandom, which is not supported yet"),
        ..BASE
    },
];

const BLOCK: ValueKind = ValueKind::IntPerDir { min: 1, max: u32::MAX as i64 };

const SEQUENCERS: [Word<Sequencer>; 2] = words!(Sequencer {
    Sequential => ("sequential", &[], "go on behind the last I/O"),
    Identical => ("identical", &[], "stay at the same offset"),
});

const GENERATORS: [Word<RandomGenerator>; 3] = [
    word("tausworthe", &[], "the standard generator", RandomGenerator::Standard),
    word("lfsr", &[], "every block once, one block size only", RandomGenerator::Lfsr),
    word("tausworthe64", &[], "the standard generator", RandomGenerator::Standard),
];

const ZONE_MODES: &[Choice] = &[
    idle_word("none", "no zones"),
    idle_word("strided", "zones with gaps"),
    idle_word("zbd", "zoned block device (not supported yet)"),
];

const READ: Access = Access::READ;
const WRITE: Access = Access { read: false, write: true, ..READ };
const TRIM: Access = Access { read: false, trim: true, ..READ };
const MIXED: Access = Access { write: true, ..READ };
const TRIM_WRITE: Access = Access { trim_then_write: true, trim: true, ..WRITE };

const fn random(access: Access) -> Access {
    Access { random: true, ..access }
}

/// The words of `access`, without what stands behind their colon.
const ACCESSES: [Word<Access>; 10] = [
    word("read", &[], "sequential reads", READ),
    word("write", &[], "sequential writes", WRITE),
    word("trim", &[], "sequential trims", TRIM),
    word("randread", &[], "random reads", random(READ)),
    word("randwrite", &[], "random writes", random(WRITE)),
    word("randtrim", &[], "random trims", random(TRIM)),
    word("rw", &["readwrite"], "sequential reads and writes", MIXED),
    word("randrw", &[], "random reads and writes", random(MIXED)),
    word("trimwrite", &[], "each block is trimmed, then written, in sequence", TRIM_WRITE),
    word(
        "randtrimwrite",
        &[],
        "each block is trimmed, then written, at random",
        random(TRIM_WRITE),
    ),
];

/// The words of `access`, for texts.
pub const ACCESS_WORDS: &[Choice] = &choices(&ACCESSES);

/// Finds the directions and the walk that a word of `access` stands for; case counts.
pub fn find_access(word: &str) -> Option<Access> {
    meaning_of(&ACCESSES, word).ok()
}

/// Returns the word for directions and a walk; `None` where there is none.
pub(super) fn access_word(access: Access) -> Option<&'static str> {
    word_for(&ACCESSES, &access)?.choice().ok()
}

fn lower_access(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let AccessValue { access, postfix } = value.access()?;
    let workload = &mut job.workload;
    workload.access = access;
    workload.ios_per_draw = 1;
    workload.sequential_step_bytes = 0;
    match postfix {
        Some(n_ios) if access.random => {
            workload.ios_per_draw = narrow(n_ios)?;
            if workload.ios_per_draw == 0 {
                return Err(ValueError::unfit(&0, "the I/Os between two draws", "1 or more"));
            }
        }
        Some(step_bytes) => workload.sequential_step_bytes = step_bytes,
        None => {}
    }
    Ok(())
}

fn get_access(job: &Job) -> Option<Value> {
    let workload = &job.workload;
    let access = workload.access;
    let postfix = match (access.random, workload.ios_per_draw, workload.sequential_step_bytes) {
        (true, n_ios, _) => (n_ios != 1).then_some(n_ios.into()),
        (false, _, step_bytes) => (step_bytes != 0).then_some(step_bytes),
    };
    access_word(access)?;
    Some(Value::Access(AccessValue { access, postfix }))
}

fn lower_block_sizes(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let Value::BlockSizes(given) = value else {
        return Err(mismatch("block sizes", value));
    };
    put_given(&mut job.workload.block_size, given);
    Ok(())
}

/// Returns the sizes of directions that are given in one of the ways.
fn block_sizes(job: &Job, of: fn(&BlockSize) -> Option<BlockSize>) -> Option<Value> {
    given(|dir| of(&job.workload.block_size[dir])).map(Value::BlockSizes)
}

fn lower_zone_mode(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    match value.choice()? {
        "strided" => {
            strided(job);
            Ok(())
        }
        "zbd" => Err(ValueError::NotSupported {
            what: "zoned devices",
            instead: "zonemode=strided works zone by zone on others",
        }),
        _ => {
            job.workload.strided = None;
            Ok(())
        }
    }
}

/// Returns the job's strided zones, made if there were none; `finish` removes them if no size came.
fn strided(job: &mut Job) -> &mut Strided {
    job.workload.strided.get_or_insert(Strided {
        zone_size_bytes: 0,
        zone_range_bytes: 0,
        zone_skip_bytes: 0,
    })
}
