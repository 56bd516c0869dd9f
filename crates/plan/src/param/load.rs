//! The load: queue depth, batches, rates, think time, latency targets.

use super::entry::{Param, Support, TimeUnit, Value, ValueKind};
use super::fields::{
    Above0, BASE, BytesPerS, COUNT, COUNT_FROM_1, DEPTH, IosPerS, MICROSECONDS, NUMBER,
    NUMBER_PER_DIR, Ns, SECONDS, UnitsOf, Word, choice, dirs, field, given, mismatch, part,
    put_given, word, words,
};
use crate::load::{Arrivals, Flow, LatencyTarget, ThinkCount};
use crate::{Job, job_field};

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "queue_depth",
        fio: &["iodepth"],
        vdbench: "sd.threads",
        diskspd: &["-o", "-O", "RequestCount"],
        iometer: &["# of Outstanding I/Os", "Number of outstanding IOs"],
        kind: DEPTH,
        default: "1",
        short: "I/Os in flight per worker",
        long: "Keeps this many I/Os in flight per worker, whatever the number of files. \
               Synchronous engines hold one at a time and ignore it; use more workers there. The \
               load on the target is the depth times the workers.",
        ..field!(load.queue_depth)
    },
    Param {
        name: "spread_workers",
        kind: ValueKind::Bool,
        default: "0",
        short: "let several workers share the queue",
        long: "Divides `queue_depth` over workers on several processors where the host has them, \
               so that one processor is not the limit. What is in flight stays the same. Work that \
               goes on where the I/O before it ended stays one walk, which the workers do \
               together. Verification, logs and amounts stay with one worker. Threads of \
               Vdbench's storage definitions have it.",
        ..field!(load.spreads)
    },
    Param {
        name: "spread_workers_max",
        kind: COUNT_FROM_1,
        short: "most workers that share the queue",
        long: "With `spread_workers`: divides the queue over at most so many workers. Left out, \
               over one per processor.",
        ..field!(load.spread_workers_max)
    },
    Param {
        name: "submit_batch",
        fio: &["iodepth_batch", "iodepth_batch_submit"],
        kind: COUNT,
        default: "1",
        short: "I/Os handed over per submission",
        long: "Hands over this many I/Os in one system call; 0 is as many as the depth allows. \
               Left out, all that there is room for goes over in one call, so that the depth asked \
               for is kept also where the call is slow.",
        ..field!(load.submit_batch)
    },
    Param {
        name: "complete_min",
        fio: &["iodepth_batch_complete_min", "iodepth_batch_complete"],
        kind: COUNT,
        default: "1",
        short: "completions to wait for at least",
        long: "Waits until this many I/Os have completed before issuing more; 0 polls without \
               waiting, which uses a full CPU. Large values make I/O arrive in bursts. A fio job \
               that gives it takes no more at a time either, unless `iodepth_batch_complete_max` \
               is larger.",
        ..field!(load.complete_min)
    },
    Param {
        name: "complete_max",
        fio: &["iodepth_batch_complete_max"],
        kind: COUNT,
        short: "completions taken at most in one go",
        long: "Upper limit of completions handled before issuing again; without it, all that are \
               there. Completions beyond it wait, and their latency includes that. Together with \
               `complete_min` it fixes the size of bursts.",
        ..field!(load.complete_max)
    },
    Param {
        name: "queue_depth_low",
        fio: &["iodepth_low"],
        kind: COUNT,
        short: "refill the queue only when it fell to this",
        long: "Lets the queue drain to this depth and then fills it up again. Without it, and \
               with 0, the queue is refilled at once.",
        ..field!(load.queue_depth_low, Above0)
    },
    Param {
        name: "serialize_overlap",
        fio: &["serialize_overlap"],
        kind: ValueKind::Bool,
        default: "0",
        short: "hold back I/O that overlaps one in flight",
        long: "Waits before issuing an I/O whose bytes overlap an I/O of the same worker in \
               flight, so that their order is certain. Needed to verify workloads that repeat \
               blocks at a depth over 1. With `submit_mode=offload` it also waits for I/O of \
               other workers that have both set.",
        ..field!(load.serialize_overlap)
    },
    Param {
        name: "submit_mode",
        fio: &["io_submit_mode"],
        default: "inline",
        short: "which thread issues I/O",
        long: "`inline`: the worker's own, so that an I/O whose submission blocks (synchronous \
               engines, a full queue) delays all that follow. `offload`: a pool of threads, one \
               per `queue_depth`, each with one I/O in flight. The worker only generates I/O, and \
               with a rate it does so at the intended times whatever has completed, up to the \
               depth: with `arrivals=poisson` an open loop. A hand-over costs some microseconds, \
               which are part of the latency.",
        ..choice!(load.offload, SUBMIT_MODES)
    },
    Param {
        name: "rate",
        fio: &["rate"],
        kind: NUMBER_PER_DIR,
        short: "cap in bytes per second, per direction",
        long: "Spreads I/O so that each direction of each worker keeps to this many bytes per \
               second. One value counts for every direction; `,500k` caps writes and trims only. \
               Give either this or `rate_iops`. From a rate follow intended starts, and with them \
               the response time, so that a stall of the target cannot hide.",
        ..dirs!(load.rate, BytesPerS)
    },
    Param {
        name: "rate_iops",
        fio: &["rate_iops"],
        vdbench: "rd.iorate",
        kind: NUMBER_PER_DIR,
        short: "cap in I/Os per second, per direction",
        long: "As `rate`, counted in operations. It is per worker: four workers at 1000 offer \
               4000.",
        ..dirs!(load.rate, IosPerS)
    },
    Param {
        name: "rate_min",
        fio: &["rate_min", "ratemin"],
        kind: NUMBER_PER_DIR,
        short: "fail below this many bytes per second",
        long: "Ends the job with an error when a direction falls below this over one \
               `rate_window_ms`. It must not be above the cap.",
        ..dirs!(load.rate_min, BytesPerS)
    },
    Param {
        name: "rate_iops_min",
        fio: &["rate_iops_min"],
        kind: NUMBER_PER_DIR,
        short: "fail below this many I/Os per second",
        long: "As `rate_min`, counted in operations.",
        ..dirs!(load.rate_min, IosPerS)
    },
    Param {
        name: "arrivals",
        fio: &["rate_process"],
        vdbench: "rd.distribution",
        default: "linear",
        short: "how intended starts are spaced under a rate",
        long: "`linear` is even. `poisson` draws exponential gaps with the same mean, as many \
               independent clients would produce, which shows queueing that even spacing hides.",
        ..choice!(load.arrivals, ARRIVALS)
    },
    Param {
        name: "rate_window_ms",
        fio: &["rate_cycle", "ratecycle"],
        kind: COUNT_FROM_1,
        default: "1000",
        short: "window over which a minimum rate is checked, in ms",
        long: "`rate_min` and `rate_iops_min` look at the mean of this many milliseconds.",
        ..field!(load.rate_cycle_ns, UnitsOf<1_000_000>)
    },
    Param {
        name: "rate_ignores_think_time",
        fio: &["rate_ignore_thinktime"],
        kind: ValueKind::Bool,
        short: "do not catch up on think time",
        long: "By default the rate catches up after a pause, so the mean holds. With this the \
               schedule is moved by every pause.",
        ..field!(load.rate_ignores_think_time)
    },
    Param {
        name: "think_time",
        fio: &["thinktime"],
        diskspd: &["-j", "ThinkTime"],
        iometer: &["Transfer Delay"],
        kind: MICROSECONDS,
        default: "0",
        short: "pause between bursts of I/O",
        long: "Stops issuing for this long after every `think_every_ios`; what is in flight \
               completes first. A bare number counts microseconds.",
        ..field!(load.think.pause_ns, Ns)
    },
    Param {
        name: "think_spin",
        fio: &["thinktime_spin"],
        kind: MICROSECONDS,
        default: "0",
        short: "part of the pause spent spinning",
        long: "Burns CPU for this long, as an application that computes would, and sleeps for \
               the rest of `think_time`, which is also its limit. A bare number counts \
               microseconds.",
        ..field!(load.think.spin_ns, Ns)
    },
    Param {
        name: "think_cycles",
        fio: &["thinkcycles"],
        kind: NUMBER,
        default: "0",
        short: "loop iterations to burn at each pause",
        long: "Spins for a count of loop iterations, whose length depends on the CPU.",
        support: Support::Later("use thinktime_spin, which is a time and the same on every CPU"),
        ..BASE
    },
    Param {
        name: "think_every_ios",
        fio: &["thinktime_blocks"],
        diskspd: &["-i", "BurstSize"],
        iometer: &["Burst Length"],
        kind: COUNT_FROM_1,
        default: "1",
        short: "I/Os between two pauses",
        long: "Pauses after every this many I/Os. `think_count` says whether issued or completed \
               ones count.",
        ..field!(load.think.every_ios)
    },
    Param {
        name: "think_count",
        fio: &["thinktime_blocks_type"],
        default: "complete",
        short: "which I/Os count towards a pause",
        long: "`complete` counts I/Os that have ended, `issue` those that have been started. At \
               depth 1 they are the same.",
        ..choice!(load.think.count, THINK_COUNTS)
    },
    Param {
        name: "think_every_time",
        fio: &["thinktime_iotime"],
        kind: SECONDS,
        default: "0",
        short: "time with I/O between two pauses",
        long: "Pauses after this much time of I/O, in place of a count. A bare number counts \
               seconds, unlike the pause itself.",
        ..field!(load.think.every_io_time_ns, Ns)
    },
    Param {
        name: "latency_target",
        fio: &["latency_target"],
        kind: MICROSECONDS,
        short: "latency that the search for a depth keeps",
        long: "Searches the greatest queue depth at which `latency_target_pct` of the I/Os \
               complete within this time, trying each for `latency_window`. `queue_depth` is the \
               upper end. Where depth 1 misses it the job goes on with that, and fails if all I/Os \
               are to meet it. A bare number counts microseconds.",
        ..part!(load.latency_target, latency_target, target_ns, Ns)
    },
    Param {
        name: "latency_window",
        fio: &["latency_window"],
        kind: MICROSECONDS,
        short: "length of one trial of the latency search",
        long: "How long each depth is tried before the search judges it. Too short and a few \
               slow I/Os decide. A bare number counts microseconds.",
        ..part!(load.latency_target, latency_target, window_ns, Ns)
    },
    Param {
        name: "latency_target_pct",
        fio: &["latency_percentile"],
        kind: ValueKind::Float { min: 0.0, max: 100.0 },
        default: "100",
        short: "share of I/Os that must meet the latency, percent",
        long: "With `latency_target`: 99 allows one I/O in a hundred to take longer. 100 lets a \
               single slow I/O fail a trial.",
        ..part!(load.latency_target, latency_target, percentile)
    },
    Param {
        name: "latency_keep_running",
        fio: &["latency_run"],
        kind: ValueKind::Bool,
        default: "0",
        short: "go on adjusting when the depth is found",
        long: "Runs to the end of the job and follows changes, instead of ending once the search \
               has settled.",
        ..part!(load.latency_target, latency_target, keep_running)
    },
    Param {
        name: "latency_max",
        fio: &["max_latency"],
        kind: ValueKind::TimePerDir(TimeUnit::Microseconds),
        short: "end the job when an I/O takes longer",
        long: "An I/O over this ends the job with ETIMEDOUT. May be given per direction; a bare \
               number counts microseconds.",
        lower: |job, v| {
            let Value::TimePerDirNs(limits) = v else {
                return Err(mismatch("durations", v));
            };
            put_given(&mut job.load.latency_max_ns, &limits.map(|limit| limit.map(Some)));
            Ok(())
        },
        get: |job| given(|dir| job.load.latency_max_ns[dir]).map(Value::TimePerDirNs),
        field: Some(job_field!(load.latency_max_ns)),
        ..BASE
    },
    Param {
        name: "flow_id",
        fio: &["flow_id"],
        kind: COUNT,
        default: "0",
        short: "jobs with the same id progress in proportion",
        long: "Names the group of jobs whose progress is kept in the proportion of their \
               `flow_weight`.",
        ..part!(load.flow, flow, id)
    },
    Param {
        name: "flow_weight",
        fio: &["flow"],
        // Shares of a hundredth of a percent, where fio ends at 1000.
        kind: ValueKind::Int { min: 0, max: 1_000_000 },
        default: "0",
        short: "share of the progress among jobs with the same flow id",
        long: "A job with weight 2 issues twice as many I/Os as one with weight 1; the one that \
               is ahead waits. 0 is off.",
        ..part!(load.flow, flow, weight)
    },
    Param {
        name: "flow_watermark",
        fio: &["flow_watermark"],
        kind: COUNT,
        short: "how far a job may get ahead",
        long: "Older releases of fio used it to bound the lead; newer ones accept it and do \
               nothing.",
        support: Support::NoEffect("fio itself ignores it; the lead is always kept small"),
        ..BASE
    },
    Param {
        name: "flow_sleep_us",
        fio: &["flow_sleep"],
        kind: COUNT,
        default: "0",
        short: "pause of a job that is ahead of its flow, in microseconds",
        long: "A job that is ahead of the others sleeps this long before it looks again; 0 looks \
               again at once, which uses more CPU.",
        ..part!(load.flow, flow, sleep_ns, UnitsOf<1000>)
    },
];

const SUBMIT_MODES: [Word<bool>; 2] = [
    word("inline", &[], "the worker's own thread", false),
    word("offload", &[], "a pool of threads, one per I/O in flight", true),
];

const ARRIVALS: [Word<Arrivals>; 2] = words!(Arrivals {
    Linear => ("linear", &[], "evenly spaced"),
    Poisson => ("poisson", &[], "exponential gaps with the same mean"),
    ; Uniform
});

const THINK_COUNTS: [Word<ThinkCount>; 2] = words!(ThinkCount {
    Complete => ("complete", &[], "I/Os that have ended"),
    Issue => ("issue", &[], "I/Os that were started"),
});

/// Returns the job's latency search, made if there was none; `finish` removes it without a target.
fn latency_target(job: &mut Job) -> &mut LatencyTarget {
    job.load.latency_target.get_or_insert(LatencyTarget {
        target_ns: 0,
        window_ns: 0,
        percentile: 100.0,
        keep_running: false,
    })
}

/// Returns the job's flow, made if there was none; `finish` removes it without a weight.
pub(super) fn flow(job: &mut Job) -> &mut Flow {
    job.load.flow.get_or_insert(Flow { id: 0, weight: 0, sleep_ns: 0, slack_ios: 1 })
}
