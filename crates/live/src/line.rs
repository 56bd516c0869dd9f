//! A run for programs: one JSON object per line, [`SCHEMA`].
//!
//! The first line, `begin`, has the plan and the conditions; then comes a line `step` where a step
//! begins, a line `second` for each second, and at last a line `end` with the outcome. What the
//! seconds of a step say was done adds up to what the record has of it: the rest of a step that
//! ends between two seconds has a line of its own, with `is_rest`. docs/live.md has all fields.

use record::{Figures, Outcome, Record};
use serde_json::{Map, Value, json};

use crate::counts::Counts;
use crate::model::{HostNow, JobNow, Live, LoadNow};

/// Name and version of the form. The number rises when a field changes its meaning.
pub const SCHEMA: &str = "plimsoll.stream/1";

/// Returns the first line.
pub fn begin(live: &Live) -> String {
    let about = live.about();
    line(&json!({
        "kind": "begin",
        "schema": SCHEMA,
        "plimsoll_version": about.version,
        "started_unix_ms": about.started_unix_ms,
        "command": about.command,
        "machine": about.machine,
        "hosts": about.hosts,
        "plan": about.plan,
    }))
}

/// Returns the line of a step that begins.
pub fn step(live: &Live) -> String {
    let step = live.step();
    line(&json!({
        "kind": "step",
        "run_idx": step.run_idx,
        "step_idx": step.step_idx,
        "n_steps": step.n_steps,
        "name": step.name,
        "n_workers": step.n_workers,
    }))
}

/// Returns the line of a second that has ended; with `is_rest` that of what a step did since its
/// last one.
pub fn second(live: &Live, is_rest: bool) -> String {
    let step = live.step();
    let mut second = json!({
        "kind": "second",
        "run_idx": step.run_idx,
        "step_idx": step.step_idx,
    });
    if live.has_hosts() {
        second["hosts"] = live.hosts().iter().map(host).collect();
    }
    if is_rest {
        second["is_rest"] = true.into();
    } else if let Some(last) = live.last() {
        second["step_idx"] = last.step_idx.into();
        second["end_ms"] = last.end_ms.into();
        second["length_ms"] = last.length_ms.into();
        second["is_ramp"] = last.ramp.into();
        if let Some(n_hosts) = last.n_hosts {
            second["n_hosts"] = n_hosts.into();
        }
        let mut dirs = Map::new();
        for (name, dir) in last.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
            let of = json!({
                "n_ios": dir.n_ios,
                "io_bytes": dir.io_bytes,
                "total": dir.latency,
                "response": dir.response.as_ref().map(|it| it.latency),
            });
            dirs.insert(name.to_owned(), of);
        }
        second["dirs"] = dirs.into();
    }
    line(&second)
}

/// Returns whether a step has done something since its last second.
pub fn has_rest(live: &Live) -> bool {
    live.has_hosts() && live.hosts().iter().any(|host| host.last().n_ios > 0)
}

/// Returns the last line. `n_lines_lost` are those that a slow reader did not get.
pub fn end(record: &Record, n_lines_lost: u64) -> String {
    let jobs = record.jobs.iter().map(|job| {
        let ops = Counts::of_job(job).into_iter().map(|(name, counts)| {
            let mut op = Map::new();
            op.insert("op".to_owned(), name.op.into());
            if !name.part.is_empty() {
                op.insert("part".to_owned(), name.part.into());
            }
            fill(&mut op, &counts);
            Value::from(op)
        });
        json!({
            "step_idx": job.step_idx,
            "job": job.name,
            "n_workers": job.n_workers,
            "n_errors": job.n_errors,
            "error": (job.error_errno != 0).then_some(&job.error_message),
            "ops": ops.collect::<Vec<_>>(),
        })
    });
    let lost: Vec<Value> = record
        .hosts
        .iter()
        .filter_map(|host| Some(json!({"host": host.name, "lost": host.lost.as_ref()?})))
        .collect();
    line(&json!({
        "kind": "end",
        "outcome": outcome(record.outcome),
        "elapsed_ns": record.elapsed_ns,
        "jobs": jobs.collect::<Vec<_>>(),
        "hosts_lost": lost,
        "notes": record.notes,
        "validity": record.validity,
        "n_lines_lost": n_lines_lost,
    }))
}

/// Returns the word for an outcome, as records have it.
pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Complete => "complete",
        Outcome::Interrupted => "interrupted",
        Outcome::Failed => "failed",
        Outcome::Partial => "partial",
    }
}

fn line(value: &Value) -> String {
    let mut text = value.to_string();
    text.push('\n');
    text
}

fn host(host: &HostNow) -> Value {
    let jobs: Vec<Value> = host.jobs.iter().map(|(name, job)| job_of(name, job)).collect();
    let mut value = json!({ "jobs": jobs });
    if !host.name.is_empty() {
        value["host"] = host.name.clone().into();
    }
    if let Some(LoadNow { busy_share, own_share, steal_share }) = host.load {
        value["cpu"] = json!({
            "busy_share": busy_share, "own_share": own_share, "steal_share": steal_share,
        });
    }
    if let Some(why) = &host.lost {
        value["lost"] = why.clone().into();
    }
    value
}

fn job_of(name: &str, job: &JobNow) -> Value {
    let ops = job.ops.iter().map(|(name, now)| {
        let mut op = Map::new();
        op.insert("op".to_owned(), name.op.clone().into());
        if !name.part.is_empty() {
            op.insert("part".to_owned(), name.part.clone().into());
        }
        fill(&mut op, &now.last);
        let mut so_far = Map::new();
        fill(&mut so_far, &now.so_far);
        op.insert("so_far".to_owned(), so_far.into());
        Value::from(op)
    });
    json!({
        "job": name,
        "n_workers": job.n_workers,
        "n_errors": job.n_errors,
        "n_in_flight": job.n_in_flight,
        "ops": ops.collect::<Vec<_>>(),
    })
}

/// Adds counts, rates and latencies.
fn fill(to: &mut Map<String, Value>, counts: &Counts) {
    to.insert("n_ios".to_owned(), counts.n_ios.into());
    to.insert("io_bytes".to_owned(), counts.io_bytes.into());
    let written = serde_json::to_value(counts.figures());
    if let Ok(Value::Object(figures)) = written {
        to.extend(figures);
    }
    if !counts.response.is_empty() {
        let response = Figures::of(&record::Latency::Measured(&counts.response));
        let written = serde_json::to_value(response);
        to.extend(written.ok().map(|figures| ("response".to_owned(), figures)));
    }
    if let Some(delay_ns) = counts.start_delay_ns_mean() {
        to.insert("start_delay_ns_mean".to_owned(), delay_ns.into());
    }
}
