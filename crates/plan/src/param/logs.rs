//! Log files in fio's formats, and recording and replay of I/O.

use super::entry::{Param, Support, Value, ValueKind};
use super::error::ValueError;
use super::fields::{
    BASE, COUNT, COUNT_FROM_1, TextOrNone, Word, choice, field, unknown_word, words,
};
use crate::report::LogValue;
use crate::{Job, job_field};

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "bandwidth_log",
        is_load: false,
        fio: &["write_bw_log"],
        kind: ValueKind::OptionalStr,
        short: "write a log of the bandwidth",
        long: "Writes `PREFIX_bw.N.log`, one line per `log_window_ms` and direction or, without \
               a window, per I/O. In a job file the value may be left out and is then the job's \
               name.",
        ..field!(logs.bandwidth, TextOrNone)
    },
    Param {
        name: "iops_log",
        is_load: false,
        fio: &["write_iops_log"],
        kind: ValueKind::OptionalStr,
        short: "write a log of the I/O rate",
        long: "Writes `PREFIX_iops.N.log`, one line per `log_window_ms` and direction. In a job \
               file the value may be left out and is then the job's name.",
        ..field!(logs.iops, TextOrNone)
    },
    Param {
        name: "latency_log",
        is_load: false,
        fio: &["write_lat_log"],
        kind: ValueKind::OptionalStr,
        short: "write logs of the three latencies",
        long: "Writes `PREFIX_lat.N.log`, `PREFIX_slat.N.log` and `PREFIX_clat.N.log` in \
               nanoseconds, one line per I/O or per `log_window_ms`. In a job file the value may \
               be left out and is then the job's name.",
        ..field!(logs.latency, TextOrNone)
    },
    Param {
        name: "histogram_log",
        is_load: false,
        fio: &["write_hist_log"],
        kind: ValueKind::OptionalStr,
        short: "write a log of latency histograms",
        long: "Writes `PREFIX_clat_hist.N.log`: the whole histogram of completion latency once \
               per `histogram_window_ms`, without which it stays empty.",
        ..field!(logs.histogram, TextOrNone)
    },
    Param {
        name: "log_window_ms",
        is_load: false,
        fio: &["log_avg_msec"],
        kind: COUNT,
        default: "0",
        short: "window of a log line, in ms",
        long: "One line for each window instead of each I/O; 0 logs every I/O, which takes \
               memory and time at high rates.",
        ..field!(logs.window_ms)
    },
    Param {
        name: "log_value",
        is_load: false,
        fio: &["log_window_value", "log_max_value"],
        default: "avg",
        short: "what a latency log line holds",
        long: "With `log_window_ms`: the mean of the window, its largest value, or both. Means \
               hide what the maximum shows.",
        ..choice!(logs.value, LOG_VALUES)
    },
    Param {
        name: "histogram_window_ms",
        is_load: false,
        fio: &["log_hist_msec"],
        kind: COUNT,
        default: "0",
        short: "interval of the histogram log, in ms",
        long: "Logs and resets the histogram of completion latency at this interval; 0 is off.",
        ..field!(logs.histogram_window_ms)
    },
    Param {
        name: "histogram_coarseness",
        is_load: false,
        fio: &["log_hist_coarseness"],
        kind: ValueKind::Int { min: 0, max: 6 },
        default: "0",
        short: "merge columns of the histogram log",
        long: "Each step halves the number of columns, and with it the resolution and the size \
               of the log.",
        ..field!(logs.histogram_coarseness)
    },
    Param {
        name: "log_offset",
        is_load: false,
        fio: &["log_offset"],
        kind: ValueKind::Bool,
        default: "0",
        short: "a column with the offset of each I/O",
        long: "Adds the offset to the lines of logs without a window.",
        ..field!(logs.offset)
    },
    Param {
        name: "log_priority",
        is_load: false,
        fio: &["log_prio"],
        kind: ValueKind::Bool,
        default: "0",
        short: "a column with the priority of each I/O",
        long: "Shows class and level in hexadecimal instead of only whether the priority was \
               raised.",
        ..field!(logs.priority)
    },
    Param {
        name: "log_issue_time",
        is_load: false,
        fio: &["log_issue_time"],
        kind: ValueKind::Bool,
        default: "0",
        short: "a column with the issue time of each I/O",
        long: "Adds when the I/O was issued, as the last column; the first is when it completed.",
        ..field!(logs.issue_time)
    },
    Param {
        name: "log_unix_epoch",
        is_load: false,
        fio: &["log_alternate_epoch", "log_unix_epoch"],
        kind: ValueKind::Bool,
        short: "times in logs count from the Unix epoch",
        long: "Gives absolute times instead of times since the start of the run, so that logs of \
               several machines can be put together.",
        ..field!(logs.unix_epoch)
    },
    Param {
        name: "log_clock",
        is_load: false,
        fio: &["log_alternate_epoch_clock_id"],
        kind: COUNT,
        default: "0",
        short: "clock of absolute times in logs",
        long: "In fio, names the clock that absolute times are taken from.",
        support: Support::NoEffect("absolute times are always those of the wall clock"),
        ..BASE
    },
    Param {
        name: "log_per_worker",
        is_load: false,
        fio: &["per_job_logs"],
        kind: ValueKind::Bool,
        default: "1",
        short: "workers have log files of their own",
        long: "Puts the worker's number into the name. With 0 workers append to one file.",
        ..field!(logs.per_worker)
    },
    Param {
        name: "log_entries",
        is_load: false,
        fio: &["log_entries"],
        kind: ValueKind::Int { min: 1024, max: 1_048_576 },
        default: "1024",
        short: "log entries to make room for",
        long: "In fio, the first size of the memory for log lines, which grows during the run \
               and may disturb it.",
        support: Support::NoEffect("room is made before the run"),
        ..BASE
    },
    Param {
        name: "log_compression",
        is_load: false,
        fio: &["log_compression"],
        kind: ValueKind::Int { min: 1024, max: 536_870_912 },
        short: "compress log entries in memory",
        long: "In fio, compresses log lines kept in memory in chunks of this size.",
        support: Support::NoEffect(
            "it changes the memory fio needs and not the log that is \
                                     written",
        ),
        ..BASE
    },
    Param {
        name: "log_compression_cpus",
        is_load: false,
        fio: &["log_compression_cpus"],
        kind: ValueKind::NumberList,
        short: "CPUs that compress log entries",
        long: "In fio, CPUs for the threads that compress.",
        support: Support::NoEffect("log entries are not compressed in memory"),
        ..BASE
    },
    Param {
        name: "log_compressed",
        is_load: false,
        fio: &["log_store_compressed"],
        kind: ValueKind::Bool,
        short: "write compressed log files",
        long: "Writes log files in the zlib format with the ending `.fz`, which `fio \
               --inflate-log` unpacks into lines.",
        ..field!(logs.compressed)
    },
];

pub(super) static REPLAY: &[Param] = &[
    Param {
        name: "write_replay",
        is_load: false,
        fio: &["write_iolog"],
        kind: ValueKind::Str,
        short: "record the I/O to a file",
        long: "Adds every operation with its time to a file that `read_iolog` replays, in fio's \
               format (version 3). Give each job a file of its own.",
        ..field!(logs.write_replay)
    },
    Param {
        name: "read_replay",
        fio: &["read_iolog"],
        kind: ValueKind::PathList,
        short: "replay the I/O of a file",
        long: "Issues recorded operations instead of generated ones, as far apart as they were. \
               Takes fio's own records (version 2 and 3). Several files, joined by colons, are \
               spread over the workers.",
        ..field!(logs.read_replay)
    },
    Param {
        name: "read_replay_chunked",
        fio: &["read_iolog_chunked"],
        kind: ValueKind::Bool,
        default: "0",
        short: "read the record piece by piece",
        long: "In fio, keeps only a part of the record in memory.",
        support: Support::NoEffect("a record takes 32 B per operation and is read at once"),
        ..BASE
    },
    Param {
        name: "replay_no_stall",
        fio: &["replay_no_stall"],
        kind: ValueKind::Bool,
        default: "0",
        short: "replay without the recorded waits",
        long: "Issues as fast as the queue depth allows.",
        ..field!(logs.replay.no_stall)
    },
    Param {
        name: "replay_time_scale_pct",
        fio: &["replay_time_scale"],
        kind: COUNT_FROM_1,
        default: "100",
        short: "speed of the replay, percent",
        long: "At 50 the waits are twice as long as they were and the load is half, at 200 the \
               other way round.",
        ..field!(logs.replay.time_scale_pct)
    },
    Param {
        name: "replay_redirect",
        fio: &["replay_redirect"],
        kind: ValueKind::Str,
        short: "target of all replayed I/O",
        long: "Sends everything to one device in place of the recorded ones.",
        ..field!(logs.replay.redirect)
    },
    Param {
        name: "replay_align_bytes",
        fio: &["replay_align"],
        kind: COUNT,
        short: "alignment of replayed offsets, in bytes",
        long: "Rounds recorded offsets down to a multiple of this, a power of two; 0 leaves them.",
        lower: |job, v| {
            let align_bytes: u32 = v.int()?;
            if align_bytes > 0 && !align_bytes.is_power_of_two() {
                return Err(ValueError::unfit(&align_bytes, "the alignment", "a power of two"));
            }
            job.logs.replay.align_bytes = align_bytes;
            Ok(())
        },
        ..field!(logs.replay.align_bytes)
    },
    Param {
        name: "replay_scale",
        fio: &["replay_scale"],
        kind: COUNT,
        default: "1",
        short: "divisor of replayed offsets",
        long: "Divides recorded offsets, to fit a large record onto a small device.",
        ..field!(logs.replay.scale)
    },
    Param {
        name: "replay_skip",
        fio: &["replay_skip"],
        kind: ValueKind::Str,
        short: "kinds of I/O left out of the replay",
        long: "Some of read, write, trim and sync, joined by commas.",
        lower: lower_replay_skip,
        get: get_replay_skip,
        field: Some(job_field!(logs.replay.skip)),
        ..BASE
    },
    Param {
        name: "merge_trace",
        fio: &["merge_blktrace_file"],
        kind: ValueKind::Str,
        short: "merge block traces into this file",
        long: "Puts the traces that `read_replay` names together into one, ordered by time.",
        support: NO_MERGE,
        ..BASE
    },
    Param {
        name: "merge_trace_scale_pct",
        fio: &["merge_blktrace_scalars"],
        kind: ValueKind::FloatList { n_max: 20, min: 0.0, max: 1e9 },
        short: "time scale of each merged trace, percent",
        long: "One value per trace, separated by colons.",
        support: NO_MERGE,
        ..BASE
    },
    Param {
        name: "merge_trace_repeats",
        fio: &["merge_blktrace_iters"],
        kind: ValueKind::FloatList { n_max: 20, min: 0.0, max: 1e9 },
        short: "repeats of each merged trace",
        long: "One value per trace, separated by colons.",
        support: NO_MERGE,
        ..BASE
    },
];

const LOG_VALUES: [Word<LogValue>; 3] = words!(LogValue {
    Average => ("avg", &["0"], "mean of the window"),
    Max => ("max", &["1"], "largest of the window"),
    Both => ("both", &[], "both"),
});

const NO_MERGE: Support =
    Support::Later("block traces cannot be read yet; replay records of fio (`write_iolog`)");

/// Kinds of I/O that a replay may leave out.
const SKIPPED: [&str; 4] = ["read", "write", "trim", "sync"];

fn get_replay_skip(job: &Job) -> Option<Value> {
    let kinds = SKIPPED.iter().zip(job.logs.replay.skip).filter(|(_, is_skipped)| *is_skipped);
    let kinds: Vec<&str> = kinds.map(|(kind, _)| *kind).collect();
    (!kinds.is_empty()).then(|| Value::Str(kinds.join(",")))
}

fn lower_replay_skip(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let text = value.text()?;
    let mut skip = [false; 4];
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let Some(idx) = SKIPPED.iter().position(|kind| *kind == word) else {
            return Err(unknown_word(word, SKIPPED));
        };
        skip[idx] = true;
    }
    job.logs.replay.skip = skip;
    Ok(())
}
