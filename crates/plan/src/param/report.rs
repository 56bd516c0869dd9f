//! Results: what is measured, how it is put together, how it is printed.

use super::entry::{Param, Support, Value, ValueKind};
use super::error::ValueError;
use super::fields::{BASE, COUNT, Codec, Plain, Word, choice, field, some, word, words};
use crate::report::{PERCENTILES_MAX, Unified};
use crate::{Job, job_field};

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "group_reporting",
        is_load: false,
        fio: &["group_reporting"],
        kind: ValueKind::Flag,
        short: "one result per group instead of per worker",
        long: "Merges the results of all workers of a group: the clones of a job, and jobs that \
               no barrier or `new_group` separates. Counts are added and histograms merged, so \
               percentiles are those of all I/Os together.",
        ..field!(reporting.group_reporting)
    },
    Param {
        name: "stats",
        is_load: false,
        fio: &["stats"],
        kind: ValueKind::Bool,
        default: "1",
        short: "the job appears in the results",
        long: "With 0 the job runs but is left out of the results: for background load.",
        ..field!(reporting.stats)
    },
    Param {
        name: "percentiles",
        is_load: false,
        fio: &["percentile_list"],
        kind: ValueKind::FloatList { n_max: PERCENTILES_MAX, min: 0.0, max: 100.0 },
        default: "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99",
        short: "percentiles to print",
        long: "Up to 20 percentiles separated by colons; they are sorted. The most digits behind \
               the point decide how all are printed. The histogram keeps every percentile \
               whatever is printed.",
        lower: lower_percentiles,
        get: |job| some(&job.reporting.percentiles).map(Value::Floats),
        field: Some(job_field!(reporting.percentiles)),
        ..BASE
    },
    Param {
        name: "reduce_clock",
        is_load: false,
        fio: &["gtod_reduce"],
        kind: ValueKind::Bool,
        default: "0",
        short: "read the clock as rarely as possible",
        long: "Switches all latencies, percentiles and samples off at once; only amounts and the \
               run time remain. 0 has no effect. Latencies cost far less here than in \
               fio, so it is rarely worth it.",
        lower: |job, v| {
            if v.bool()? {
                let reporting = &mut job.reporting;
                reporting.reduce_clock = true;
                reporting.disable_lat = true;
                reporting.disable_clat = true;
                reporting.disable_slat = true;
                reporting.disable_bandwidth = true;
                reporting.clat_percentiles = false;
                reporting.lat_percentiles = false;
                reporting.slat_percentiles = false;
            }
            Ok(())
        },
        get: |job| Plain::get(&job.reporting.reduce_clock),
        field: Some(job_field!(reporting.reduce_clock)),
        ..BASE
    },
    Param {
        name: "clat_percentiles",
        is_load: false,
        fio: &["clat_percentiles"],
        kind: ValueKind::Bool,
        default: "1",
        short: "percentiles of completion latency",
        long: "From the end of the submission to the completion.",
        ..field!(reporting.clat_percentiles)
    },
    Param {
        name: "lat_percentiles",
        is_load: false,
        fio: &["lat_percentiles"],
        kind: ValueKind::Bool,
        default: "0",
        short: "percentiles of total latency",
        long: "From the start of the submission to the completion. In fio's output they replace \
               those of completion latency where only one kind is shown.",
        ..field!(reporting.lat_percentiles)
    },
    Param {
        name: "slat_percentiles",
        is_load: false,
        fio: &["slat_percentiles"],
        kind: ValueKind::Bool,
        default: "0",
        short: "percentiles of submission latency",
        long: "The time that handing the I/O over took.",
        ..field!(reporting.slat_percentiles)
    },
    Param {
        name: "disable_lat",
        is_load: false,
        fio: &["disable_lat"],
        kind: ValueKind::Bool,
        default: "0",
        short: "do not measure total latency",
        long: "Leaves out the measurement and its percentiles.",
        ..field!(reporting.disable_lat)
    },
    Param {
        name: "disable_clat",
        is_load: false,
        fio: &["disable_clat"],
        kind: ValueKind::Bool,
        default: "0",
        short: "do not measure completion latency",
        long: "Leaves out the measurement and its percentiles.",
        ..field!(reporting.disable_clat)
    },
    Param {
        name: "disable_slat",
        is_load: false,
        fio: &["disable_slat"],
        kind: ValueKind::Bool,
        default: "0",
        short: "do not measure submission latency",
        long: "Leaves out the measurement and its percentiles.",
        ..field!(reporting.disable_slat)
    },
    Param {
        name: "disable_bandwidth",
        is_load: false,
        fio: &["disable_bw_measurement", "disable_bw"],
        kind: ValueKind::Bool,
        default: "0",
        short: "do not sample bandwidth and I/O rate",
        long: "Leaves out minimum, maximum and deviation over time; the means over the whole run \
               remain.",
        ..field!(reporting.disable_bandwidth)
    },
    Param {
        name: "bandwidth_sample_ms",
        is_load: false,
        fio: &["bwavgtime"],
        kind: COUNT,
        default: "500",
        short: "interval of bandwidth samples, in ms",
        long: "Minimum, maximum and deviation of bandwidth are over samples of this length. Where \
               it is not set and a bandwidth log is written, `log_window_ms` counts.",
        ..field!(reporting.bandwidth_sample_ms)
    },
    Param {
        name: "iops_sample_ms",
        is_load: false,
        fio: &["iopsavgtime"],
        diskspd: &["-D", "IoBucketDuration"],
        kind: COUNT,
        default: "500",
        short: "interval of I/O rate samples, in ms",
        long: "Minimum, maximum and deviation of the I/O rate are over samples of this length. \
               Where it is not set and an I/O rate log is written, `log_window_ms` counts.",
        ..field!(reporting.iops_sample_ms)
    },
    Param {
        name: "unified",
        is_load: false,
        fio: &["unified_rw_reporting"],
        default: "none",
        short: "directions together or apart",
        long: "`mixed` reports one entry for all directions in place of one each, `both` adds it \
               to them.",
        ..choice!(reporting.unified, UNIFIED)
    },
    Param {
        name: "significant_figures",
        is_load: false,
        fio: &["significant_figures"],
        kind: ValueKind::Int { min: 1, max: 10 },
        default: "4",
        short: "digits of printed values",
        long: "Digits in fio's readable output. Values in JSON are not rounded.",
        ..field!(reporting.significant_figures)
    },
    Param {
        name: "kb_base",
        fio: &["kb_base"],
        default: "1024",
        short: "what k stands for in sizes",
        long: "With 1024, `4k` is 4096 bytes and, oddly but as fio has it, `4kib` is 4000. With \
               1000, `4k` is 4000 and `4kib` 4096. It counts for all sizes of the job, wherever \
               it stands, and for the output.",
        ..choice!(reporting.kb_base, KB_BASES)
    },
    Param {
        name: "unit_base",
        is_load: false,
        fio: &["unit_base"],
        default: "0",
        short: "bytes or bits in the output",
        long: "0 chooses by the engine, which is bytes for storage; 8 is bytes, 1 is bits.",
        ..choice!(reporting.unit_base, UNIT_BASES)
    },
    Param {
        name: "disk_util",
        is_load: false,
        fio: &["disk_util"],
        kind: ValueKind::Bool,
        default: "1",
        short: "statistics of the block devices below",
        long: "Reads the kernel's counters of the devices that hold the targets, before and \
               after the job.",
        ..field!(reporting.disk_util)
    },
    Param {
        name: "block_error_percentiles",
        is_load: false,
        fio: &["block_error_percentiles"],
        kind: ValueKind::Bool,
        default: "0",
        short: "percentiles of failing blocks",
        long: "For trim workloads on one file: how often blocks were written and trimmed until \
               they failed.",
        support: Support::Later("failed blocks are counted by error number, not by their age"),
        ..field!(reporting.block_error_percentiles)
    },
];

const UNIFIED: [Word<Unified>; 3] = words!(Unified {
    Separate => ("none", &["0"], "one entry per direction"),
    Mixed => ("mixed", &["1"], "one entry for all"),
    Both => ("both", &["2"], "both"),
});

const KB_BASES: [Word<u32>; 2] =
    [word("1024", &[], "k is 1024", 1024), word("1000", &[], "k is 1000", 1000)];

const UNIT_BASES: [Word<u8>; 3] = [
    word("0", &[], "chosen by the engine", 0),
    word("8", &[], "bytes", 8),
    word("1", &[], "bits", 1),
];

fn lower_percentiles(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let mut percentiles = value.floats()?;
    if let Some(wrong) = percentiles.iter().find(|p| !(**p > 0.0 && **p <= 100.0)) {
        return Err(ValueError::unfit(wrong, "a percentile", "numbers above 0, 100 at most"));
    }
    percentiles.sort_by(f64::total_cmp);
    job.reporting.percentiles = percentiles;
    Ok(())
}
