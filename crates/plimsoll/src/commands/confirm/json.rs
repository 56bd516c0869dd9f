//! The result for each promise, for programs (`plimsoll.confirmation/1`).

use ::provision::confirm::{Answer, Confirmation, Measured};
use export::Run;
use serde_json::{Value, json as object};

use super::called;

/// Returns the JSON, with a final newline.
pub(super) fn json(design: &str, runs: &[Run], found: &Confirmation) -> String {
    let named: Vec<String> = runs.iter().map(called).collect();
    let value = object!({
        "schema": "plimsoll.confirmation/1",
        "design": design,
        "runs": named,
        "verdict": found.verdict().words(),
        "notes": found.notes,
        "promises": found.answers.iter().map(|it| of_promise(it, &named)).collect::<Vec<_>>(),
    });
    let mut text = serde_json::to_string_pretty(&value)
        .expect("every map key is text, and writing to memory does not fail");
    text.push('\n');
    text
}

fn of_promise(answer: &Answer, runs: &[String]) -> Value {
    let promised = &answer.promised;
    object!({
        "volume": promised.volume,
        "phase": promised.phase,
        "verdict": answer.verdict.words(),
        "reason": answer.reason,
        "cap": answer.cap,
        "explanations": answer.explanations,
        "n_measured": answer.n_measured,
        "ratio": answer.ratio(),
        "promised": {
            "iops": promised.iops,
            "bytes_per_s": promised.bytes_per_s(),
            "io_size_bytes": promised.io_size_bytes,
            "read_share": promised.read_share,
            "random_share": promised.random_share,
            "latency_ns": promised.latency_ns,
            "lasts_s": promised.lasts_ns.map(|ns| ns as f64 / 1e9),
        },
        "measured": answer.measured.as_ref().map(|it| measured(it, runs)),
    })
}

fn measured(measured: &Measured, runs: &[String]) -> Value {
    object!({
        "run": runs.get(measured.record_idx),
        "step_idx": measured.step_idx,
        "jobs": measured.jobs,
        "iops": measured.iops,
        "bytes_per_s": measured.bytes_per_s,
        "io_size_bytes": measured.io_size_bytes(),
        "read_share": measured.read_share,
        "random_share": measured.random_share,
        "latency_ns": measured.latency_ns,
        "offered_iops": measured.offered_iops,
        "ceiling_iops": measured.ceiling_iops,
        "queue_depth": measured.queue_depth,
        "iops_interval": measured.interval.map(|it| [it.low, it.high]),
    })
}
