//! What no option of fio says: parameters of plans of our own, which runs of other tools come to.

use super::entry::{Param, Value, ValueKind};
use super::error::ValueError;
use super::fields::{
    BASE, COUNT, COUNT_FROM_1, Codec, NUMBER, Plain, UnitsOf, Word, choices, field, meaning,
    number, part, word_for, words,
};
use super::load::flow;
use crate::load::{Arrivals, RatePeriod};
use crate::rates::{RATE_IOPS_MAX, RATE_IOPS_MIN};
use crate::verify::{DedupeSets, FlipFlop, SetCount};
use crate::workload::{BlockSize, Distribution, HitArea};
use crate::{Job, PerDir, job_field};

const PERCENT_FLOAT: ValueKind = ValueKind::Float { min: 0.0, max: 100.0 };

pub(super) const TARGET_PLACES: &[Param] = &[Param {
    name: "concatenate_files",
    kind: ValueKind::Bool,
    default: "0",
    short: "the job's files form one volume",
    long: "The files are walked as one region, in their order, instead of each by itself.",
    ..field!(files.concatenate)
}];

pub(super) const TARGET: &[Param] = &[
    Param {
        name: "spare_first_block",
        kind: ValueKind::Bool,
        default: "0",
        short: "the first block of a device is left alone",
        long: "The region of a block device starts behind its first block, which may hold a \
               label.",
        ..field!(files.spares_first_block)
    },
    Param {
        name: "open_flag_bits",
        kind: COUNT,
        default: "0",
        short: "further bits for open(2)",
        long: "Added to the flags that files are opened with, as the kernel knows them.",
        ..field!(files.open_flag_bits)
    },
];

pub(super) const WORKLOAD_PLACES: &[Param] = &[
    Param {
        name: "aligned_to_length",
        kind: ValueKind::Bool,
        default: "0",
        short: "random places are multiples of the I/O's own length",
        long: "With several block sizes and `repeats_allowed`: each I/O starts at a multiple of \
               its own length, counted from the start of the region. Otherwise the smallest \
               block size counts.",
        ..field!(workload.aligned_to_length)
    },
    Param {
        name: "skip_bytes",
        kind: ValueKind::SizeRange,
        short: "random distance to the next I/O",
        long: "Random I/O goes forward: from the end of the I/O before by a distance drawn \
               between the two, and starts over behind the end of the region (Vdbench's stride).",
        ..field!(workload.skip_bytes)
    },
    Param {
        name: "starts_anywhere",
        kind: ValueKind::Bool,
        default: "0",
        short: "a sequential walk starts at a seeded place",
        long: "Sequential I/O starts somewhere in the region, and goes on at the region's start \
               after its end (Vdbench's seqnz).",
        ..field!(workload.starts_anywhere)
    },
    Param {
        name: "ends_with_region",
        kind: ValueKind::Bool,
        default: "0",
        short: "a sequential walk is done at the end of its region",
        long: "Sequential I/O ends at the end of the region, however long the job may run \
               (Vdbench's eof).",
        ..field!(workload.ends_with_region)
    },
];

pub(super) const WORKLOAD: &[Param] = &[
    Param {
        name: "one_cursor",
        kind: ValueKind::Bool,
        default: "0",
        short: "reads and writes go on from the same place",
        long: "Sequential I/O of all directions shares one place to go on from, as in Vdbench; \
               otherwise each direction has its own, as in fio.",
        ..field!(workload.one_cursor)
    },
    Param {
        name: "n_streams",
        kind: COUNT,
        default: "0",
        short: "sequential walks at once",
        long: "So many sequential walks in equal parts of the region, served in turn by one \
               queue; 0 and 1 are one.",
        ..field!(workload.n_streams)
    },
    Param {
        name: "hit_area_bytes",
        kind: NUMBER,
        default: "0",
        short: "start of the region that cache hits go to",
        long: "So many bytes at the start of the region take the shares of I/O that \
               `hit_area_read_pct` and `hit_area_write_pct` say; all other I/O goes behind them.",
        ..part!(workload.hit_area, hit_area, len_bytes)
    },
    Param {
        name: "hit_area_read_pct",
        kind: PERCENT_FLOAT,
        default: "0",
        short: "share of the reads that go to the hit area, percent",
        long: "With `hit_area_bytes`: how much of the reads a cache of that size would answer.",
        ..part!(workload.hit_area, hit_area, read_pct)
    },
    Param {
        name: "hit_area_write_pct",
        kind: PERCENT_FLOAT,
        default: "0",
        short: "share of the writes that go to the hit area, percent",
        long: "With `hit_area_bytes`: how much of the writes a cache of that size would take.",
        ..part!(workload.hit_area, hit_area, write_pct)
    },
    Param {
        name: "block_size_weights",
        kind: ValueKind::Words,
        short: "block sizes with relative weights",
        long: "Sizes in bytes and their weights, such as `4096:125,65536:875`: shares finer than \
               the whole percents of `block_size_split`. For all directions.",
        lower: lower_weights,
        get: |job| match &job.workload.block_size.read {
            BlockSize::Weighted(parts) => Value::of_pairs(parts.iter().copied()),
            BlockSize::Fixed(_)
            | BlockSize::Range { .. }
            | BlockSize::Split(_)
            | BlockSize::Stepped { .. } => None,
        },
        field: Some(job_field!(workload.block_size)),
        ..BASE
    },
    Param {
        name: "block_size_step_bytes",
        kind: COUNT,
        default: "0",
        short: "distance between the sizes of a range",
        long: "With `block_size_range`: sizes are its smallest and every so many bytes more, \
               where a range alone takes multiples of its smallest. 0 is that.",
        lower: |job, v| {
            let step = v.int::<u32>()?;
            for size in job.workload.block_size.iter_mut() {
                if let (BlockSize::Range { min, max }, true) = (&*size, step > 0) {
                    *size = BlockSize::Stepped { min: *min, max: *max, step };
                }
            }
            Ok(())
        },
        get: |job| match &job.workload.block_size.read {
            BlockSize::Stepped { step, .. } => Plain::get(step),
            BlockSize::Fixed(_)
            | BlockSize::Range { .. }
            | BlockSize::Split(_)
            | BlockSize::Weighted(_) => None,
        },
        field: Some(job_field!(workload.block_size)),
        ..BASE
    },
    Param {
        name: "exponential_mean",
        kind: ValueKind::Float { min: 0.0001, max: 1.0 },
        short: "random places are denser towards the start, exponentially",
        long: "Mean distance of a random place from the start, as a share of the region. \
               Vdbench's poisson with midpoint n is 1/n. Overrides `distribution`.",
        lower: |job, v| {
            let spread = Distribution::Exponential { mean: v.float()? };
            job.workload.distribution = PerDir::all(spread);
            Ok(())
        },
        get: |job| match &job.workload.distribution.read {
            Distribution::Exponential { mean } => Plain::get(mean),
            Distribution::Uniform
            | Distribution::Zipf { .. }
            | Distribution::Pareto { .. }
            | Distribution::Normal { .. }
            | Distribution::Zoned(_)
            | Distribution::ZonedAbs(_)
            | Distribution::Sequence(_)
            | Distribution::Power { .. } => None,
        },
        field: Some(job_field!(workload.distribution)),
        ..BASE
    },
    Param {
        name: "power_exponent",
        kind: ValueKind::Float { min: 1.0, max: 100.0 },
        short: "random places are denser towards the start, by a power",
        long: "The first share x of the region gets the share x^(1/exponent) of the I/Os; 1 is \
               even. Vdbench's hotband is such a spread. Overrides `distribution`.",
        lower: |job, v| {
            let spread = Distribution::Power { exponent: v.float()? };
            job.workload.distribution = PerDir::all(spread);
            Ok(())
        },
        get: |job| match &job.workload.distribution.read {
            Distribution::Power { exponent } => Plain::get(exponent),
            Distribution::Uniform
            | Distribution::Zipf { .. }
            | Distribution::Pareto { .. }
            | Distribution::Normal { .. }
            | Distribution::Zoned(_)
            | Distribution::ZonedAbs(_)
            | Distribution::Sequence(_)
            | Distribution::Exponential { .. } => None,
        },
        field: Some(job_field!(workload.distribution)),
        ..BASE
    },
];

pub(super) const LOAD: &[Param] = &[
    Param {
        name: "even_gaps",
        kind: ValueKind::Bool,
        default: "0",
        short: "gaps under a rate are drawn evenly",
        long: "Under a rate, gaps between I/Os are spread evenly between none and twice their \
               mean (Vdbench's distribution=uniform). Overrides `arrivals`.",
        lower: |job, v| {
            if v.bool()? {
                job.load.arrivals = Arrivals::Uniform;
            }
            Ok(())
        },
        get: |job| (job.load.arrivals == Arrivals::Uniform).then_some(Value::Bool(true)),
        field: Some(job_field!(load.arrivals)),
        ..BASE
    },
    Param {
        name: "rate_total_iops",
        diskspd: &["-g", "Throughput"],
        kind: ValueKind::Float { min: RATE_IOPS_MIN, max: RATE_IOPS_MAX },
        short: "rate over all directions together, I/Os per second",
        long: "One schedule for reads, writes and trims of all the job's workers together, which \
               share it equally; the mix decides what each I/O is. It excludes `rate` and \
               `rate_iops`.",
        ..field!(load.rate_total_iops)
    },
    Param {
        name: "rate_closed",
        kind: ValueKind::Bool,
        default: "0",
        short: "what is late is not made up",
        long: "With `rate_total_iops`: an I/O that could not begin when it was due, because those \
               before it took long, is due when it begins, and the next one a gap later. So a \
               target that is slow is asked for less, as by most older tools, and response times \
               do not contain the wait for it.",
        ..field!(load.rate_closed)
    },
    Param {
        name: "rate_periods",
        kind: ValueKind::Words,
        short: "rates and seconds of a rate that changes",
        long: "Rates and how many seconds each holds, such as `100:10,1000:5,0:2`; then it starts \
               over, until the job ends. The largest is `rate_total_iops`: where that is given \
               too, the others follow in proportion. `arrivals` says how I/Os are spaced, and \
               when each is due follows from the rates alone.",
        lower: lower_rate_periods,
        get: |job| {
            let periods = &job.load.rate_periods.as_ref()?.periods;
            Value::of_pairs(periods.iter().map(|it| (it.rate, it.duration_ns as f64 / 1e9)))
        },
        field: Some(job_field!(load.rate_periods?.periods)),
        ..BASE
    },
    Param {
        name: "rate_spikes",
        kind: ValueKind::Bool,
        default: "0",
        short: "what is due within a second is due when it begins",
        long: "With `rate_periods`: all I/Os of a second go together at its start, as far as the \
               queue depth lets them; response times count from there.",
        lower: |job, v| {
            let is_on = v.bool()?;
            if is_on || job.load.rate_periods.is_some() {
                job.load.rate_periods.get_or_insert_default().in_spikes = is_on;
            }
            Ok(())
        },
        get: |job| Plain::get(&job.load.rate_periods.as_ref()?.in_spikes),
        field: Some(job_field!(load.rate_periods?.in_spikes)),
        ..BASE
    },
    Param {
        name: "last_io_waits",
        kind: ValueKind::Bool,
        default: "0",
        short: "the last I/O of a pass goes when all others have completed",
        long: "For a file that grows as it is written from start to end: its size then says \
               whether it was written to the end, also after the run was killed.",
        ..field!(load.last_io_waits)
    },
    Param {
        name: "flow_slack_ios",
        kind: COUNT,
        default: "1",
        short: "I/Os that a job may be ahead in its flow",
        long: "With `flow_weight`: how far a job may be ahead of the slowest one before it \
               waits, in I/Os of that one's share.",
        ..part!(load.flow, flow, slack_ios)
    },
];

pub(super) const BUFFERS: &[Param] = &[
    Param {
        name: "compress_ratio",
        kind: ValueKind::Float { min: 1.0, max: 1000.0 },
        short: "how many times smaller common programs make the data",
        long: "Written data compresses by this ratio, 1 is not at all (Vdbench's compratio). \
               Overrides `compress_pct` and `pattern`.",
        ..field!(buffers.compress_ratio)
    },
    Param {
        name: "dedupe_ratio",
        kind: ValueKind::Float { min: 1.0, max: 1e6 },
        short: "blocks over different blocks once everything is written",
        long: "Written blocks of `dedupe_unit_bytes` repeat so that their number is this many \
               times that of the different ones (Vdbench's dedupratio). Overrides \
               `dedupe_pct` and `pattern`.",
        ..part!(buffers.dedupe_sets, dedupe_sets, ratio)
    },
    Param {
        name: "dedupe_unit_bytes",
        kind: COUNT_FROM_1,
        default: "4096",
        short: "bytes of a block that repeats",
        long: "With `dedupe_ratio`: size of the blocks, which lie at multiples of it.",
        ..part!(buffers.dedupe_sets, dedupe_sets, unit_bytes)
    },
    Param {
        name: "dedupe_set_count",
        kind: NUMBER,
        short: "sets of equal blocks",
        long: "With `dedupe_ratio`: how many different contents the duplicates have. It goes \
               before `dedupe_set_pct`.",
        lower: |job, v| {
            dedupe_sets(job).sets = SetCount::Count(v.int()?);
            Ok(())
        },
        get: |job| match job.buffers.dedupe_sets.as_ref()?.sets {
            SetCount::Count(n_sets) => Plain::get(&n_sets),
            SetCount::Pct(_) => None,
        },
        field: Some(job_field!(buffers.dedupe_sets?.sets)),
        ..BASE
    },
    Param {
        name: "dedupe_set_pct",
        kind: PERCENT_FLOAT,
        default: "5",
        short: "sets of equal blocks, percent of all blocks",
        long: "With `dedupe_ratio`: how many different contents the duplicates have, as a share \
               of the target's blocks.",
        lower: |job, v| {
            dedupe_sets(job).sets = SetCount::Pct(v.float()?);
            Ok(())
        },
        get: |job| match job.buffers.dedupe_sets.as_ref()?.sets {
            SetCount::Count(_) => None,
            SetCount::Pct(pct) => Plain::get(&pct),
        },
        field: Some(job_field!(buffers.dedupe_sets?.sets)),
        ..BASE
    },
    Param {
        name: "dedupe_flip_flop",
        kind: ValueKind::Enum(const { &choices(&FLIP_FLOPS) }),
        default: "no",
        short: "duplicates change when they are written again",
        long: "With `dedupe_ratio`: each write of a duplicate has one of two versions of its \
               set's contents.",
        lower: |job, v| {
            dedupe_sets(job).flip_flop = meaning(&FLIP_FLOPS, v)?;
            Ok(())
        },
        get: |job| word_for(&FLIP_FLOPS, &job.buffers.dedupe_sets.as_ref()?.flip_flop),
        field: Some(job_field!(buffers.dedupe_sets?.flip_flop)),
        ..BASE
    },
    Param {
        name: "dedupe_hot_sets",
        kind: ValueKind::Words,
        short: "sets of known size at the start of the target",
        long: "With `dedupe_ratio`: how many sets have how many blocks each, such as \
               `12:100,8:200`.",
        lower: lower_hot_sets,
        get: |job| Value::of_pairs(job.buffers.dedupe_sets.as_ref()?.hot_sets.iter().copied()),
        field: Some(job_field!(buffers.dedupe_sets?.hot_sets)),
        ..BASE
    },
];

pub(super) const ERRORS: &[Param] = &[
    Param {
        name: "n_errors_max",
        kind: NUMBER,
        short: "errors after which a worker fails",
        long: "With `continue_on_error`: a worker that has met so many errors fails.",
        ..field!(errors.n_errors_max)
    },
    Param {
        name: "errors_fail",
        kind: ValueKind::Bool,
        default: "0",
        short: "errors that were survived fail the step in its end",
        long: "With `n_errors_max`: a step with errors that did not end it has failed when it \
               ends, and nothing follows it.",
        ..field!(errors.fails_in_the_end)
    },
    Param {
        name: "errors_quiet_s",
        kind: NUMBER,
        short: "seconds after the last error when everything ends",
        long: "With `n_errors_max`: everything ends when this many seconds have passed since the \
            last failed operation.",
        ..field!(errors.quiet_ns, UnitsOf<1_000_000_000>)
    },
];

fn hit_area(job: &mut Job) -> &mut HitArea {
    let none = HitArea { len_bytes: 0, read_pct: 0.0, write_pct: 0.0 };
    job.workload.hit_area.get_or_insert(none)
}

const FLIP_FLOPS: [Word<FlipFlop>; 3] = words!(FlipFlop {
    None => ("no", &[], "they stay as they are"),
    All => ("yes", &[], "all of them"),
    Hot => ("hot", &[], "those of the hot sets"),
});

fn dedupe_sets(job: &mut Job) -> &mut DedupeSets {
    job.buffers.dedupe_sets.get_or_insert_with(|| DedupeSets {
        ratio: 1.0,
        unit_bytes: 4096,
        sets: SetCount::Pct(5.0),
        flip_flop: FlipFlop::None,
        hot_sets: Vec::new(),
    })
}

fn lower_hot_sets(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let mut sets = Vec::new();
    for (n_sets, n_blocks) in value.words()? {
        let missing = ValueError::Lacks { part: "a number of blocks", example: "12:100" };
        let n_blocks = n_blocks.as_deref().ok_or(missing)?;
        let (n_sets, n_blocks): (u32, u32) = (number(n_sets)?, number(n_blocks)?);
        if n_sets == 0 {
            return Err(ValueError::unfit(&n_sets, "a number of sets", "1 or more"));
        }
        sets.push((n_sets, n_blocks));
    }
    dedupe_sets(job).hot_sets = sets;
    Ok(())
}

fn lower_weights(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let mut weights = Vec::new();
    for (size, weight) in value.words()? {
        let missing = ValueError::Lacks { part: "the weight of a size", example: "4096:3" };
        let weight = weight.as_deref().ok_or(missing)?;
        weights.push((number(size)?, number(weight)?));
    }
    if weights.iter().any(|(size, _)| *size == 0) {
        return Err(ValueError::unfit(&0, "a block size", "1 or more"));
    }
    if weights.iter().all(|(_, weight)| *weight == 0) {
        return Err(ValueError::unfit(&0, "every weight", "one above 0"));
    }
    job.workload.block_size = PerDir::all(BlockSize::Weighted(weights));
    Ok(())
}

/// Most periods: an hour of seconds. A plan must not grow without limit by them.
const RATE_PERIODS_MAX: usize = 3600;

fn lower_rate_periods(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| (0.0..=1e9).contains(n));
    let period = |(rate, seconds): &(String, Option<String>)| {
        let wrong = || ValueError::unfit(&format!("`{rate}`"), "a rate", "0 to 1000000000");
        let missing = ValueError::Lacks { part: "the seconds of a rate", example: "100:10" };
        let rate = number(rate).ok_or_else(wrong)?;
        let seconds = seconds.as_deref().and_then(number).ok_or(missing)?;
        Ok(RatePeriod { rate, duration_ns: (seconds * 1e9).round() as u64 })
    };
    let periods = value.words()?.iter().map(period).collect::<Result<Vec<_>, ValueError>>()?;
    if periods.len() > RATE_PERIODS_MAX {
        return Err(ValueError::TooMany { parts: "periods", n_max: RATE_PERIODS_MAX });
    }
    if periods.iter().any(|period| period.duration_ns == 0) {
        return Err(ValueError::unfit(&0, "the length of a period", "seconds above 0"));
    }
    if periods.iter().all(|period| period.rate == 0.0) {
        return Err(ValueError::unfit(&0, "every rate", "one above 0"));
    }
    job.load.rate_periods.get_or_insert_default().periods = periods;
    Ok(())
}
