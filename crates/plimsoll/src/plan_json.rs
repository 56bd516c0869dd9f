//! Plan and findings as JSON, for `check --json`.
//!
//! The plan's types are no file format, on purpose: this page names what it shows.

use dialects::Parsed;
use plan::files::Size;
use plan::job::{Part, PartRegion, Source};
use plan::load::{Rate, RatePeriod, RatePeriods};
use plan::workload::{BlockSize, Workload};
use plan::{Diagnostic, Direction, Job, Severity};
use serde_json::{Map, Value, json};

use crate::plan_text;

/// Name and version of the page.
const SCHEMA: &str = "plimsoll.check/1";

/// Returns the page: pretty JSON with a final newline.
pub(crate) fn page(parsed: &Parsed) -> String {
    let sources = &parsed.plan.sources;
    let findings = parsed.diagnostics.iter().chain(&parsed.refusals);
    let findings: Vec<Value> = findings.map(|finding| finding_json(finding, sources)).collect();
    let steps = parsed.plan.steps.iter();
    let steps: Vec<Value> = steps
        .map(|step| {
            let jobs: Vec<Value> = step.jobs.iter().map(job_json).collect();
            match step.name.as_str() {
                "" => json!({ "jobs": jobs }),
                name => json!({ "name": name, "jobs": jobs }),
            }
        })
        .collect();
    let page = json!({
        "schema": SCHEMA,
        "files": sources.iter().map(|source| &source.name).collect::<Vec<_>>(),
        "findings": findings,
        "steps": steps,
    });
    format!("{page:#}\n")
}

fn finding_json(finding: &Diagnostic, sources: &[Source]) -> Value {
    let severity = match finding.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let mut entry = Map::new();
    entry.insert("severity".to_owned(), json!(severity));
    entry.insert("code".to_owned(), json!(finding.code));
    entry.insert("message".to_owned(), json!(finding.message));
    entry.insert("help".to_owned(), json!(finding.help));
    if let Some(span) = finding.span.as_ref().filter(|span| span.line > 0) {
        let source = span.source_idx.and_then(|idx| sources.get(idx as usize));
        entry.insert("file".to_owned(), json!(source.map(|source| &source.name)));
        entry.insert("line".to_owned(), json!(span.line));
        entry.insert("column".to_owned(), json!(span.column));
    }
    Value::Object(entry)
}

fn job_json(job: &Job) -> Value {
    let directions: Vec<&str> = job.issued_directions().map(Direction::name).collect();
    let block_sizes = job
        .issued_directions()
        .map(|dir| (dir.name().to_owned(), block_size_json(&job.workload.block_size[dir])));
    let rates = job
        .issued_directions()
        .filter_map(|dir| Some((dir.name().to_owned(), rate_json(job.load.rate[dir]?))));
    json!({
        "name": job.name,
        "n_workers": job.n_workers,
        "group_id": job.group_id,
        "engine": job.engine.name,
        "direct": job.files.direct,
        "targets": plan_text::targets(job),
        "n_files_generated": plan_text::n_generated(job),
        "directions": directions,
        "random": job.workload.access.random,
        "read_pct": read_pct(&job.workload),
        "block_size_bytes": block_sizes.collect::<Map<_, _>>(),
        "size": size_json(job.files.size),
        "io_size": size_json(job.files.io_size),
        "queue_depth": job.load.queue_depth,
        "rate": rates.collect::<Map<_, _>>(),
        "rate_total_iops": job.load.rate_total_iops,
        "rate_periods": job.load.rate_periods.as_ref().map(periods_json),
        "parts": job.parts.iter().map(part_json).collect::<Vec<_>>(),
        "runtime_ns": job.limits.runtime_ns,
        "ramp_ns": job.limits.ramp_ns,
        "time_based": job.limits.time_based,
        "loops": job.limits.loops,
        "verify": job.verify.method.is_some(),
        "options": job.options,
    })
}

/// Describes how a job's rate changes: rates are in proportion, the largest is the job's.
fn periods_json(periods: &RatePeriods) -> Value {
    let period = |it: &RatePeriod| json!({ "rate": it.rate, "duration_ns": it.duration_ns });
    json!({
        "in_spikes": periods.in_spikes,
        "periods": periods.periods.iter().map(period).collect::<Vec<_>>(),
    })
}

/// Returns the share of reads in a mix: a whole number where it is one.
fn read_pct(workload: &Workload) -> Value {
    match workload.read_pct {
        _ if !workload.access.is_mixed() => Value::Null,
        pct if pct.fract() == 0.0 => json!(pct as u64),
        pct => json!(pct),
    }
}

/// Describes one of several workloads that a job mixes.
fn part_json(part: &Part) -> Value {
    let workload = &part.workload;
    let directions: Vec<&str> = workload.access.issued().map(Direction::name).collect();
    let sizes = workload
        .access
        .issued()
        .map(|dir| (dir.name().to_owned(), block_size_json(&workload.block_size[dir])));
    let region = match part.region {
        PartRegion::Whole => Value::Null,
        PartRegion::Pct(from, to) => json!({ "from_pct": from, "to_pct": to }),
        PartRegion::Bytes(from, to) => json!({ "from_bytes": from, "to_bytes": to }),
    };
    json!({
        "name": part.name,
        "weight": part.rate_iops.is_none().then_some(part.weight),
        "rate_iops": part.rate_iops,
        "directions": directions,
        "random": workload.access.random,
        "read_pct": read_pct(workload),
        "block_size_bytes": sizes.collect::<Map<_, _>>(),
        "region": region,
    })
}

fn block_size_json(size: &BlockSize) -> Value {
    match size {
        BlockSize::Fixed(bytes) => json!(bytes),
        BlockSize::Range { min, max } => json!({ "min": min, "max": max }),
        BlockSize::Split(parts) => {
            let part = |(bytes, pct): &(u32, u8)| json!({ "bytes": bytes, "pct": pct });
            json!(parts.iter().map(part).collect::<Vec<_>>())
        }
        BlockSize::Weighted(parts) => {
            let part = |(bytes, weight): &(u32, u32)| json!({ "bytes": bytes, "weight": weight });
            json!(parts.iter().map(part).collect::<Vec<_>>())
        }
        BlockSize::Stepped { min, max, step } => json!({ "min": min, "max": max, "step": step }),
    }
}

fn size_json(size: Option<Size>) -> Value {
    match size {
        None => Value::Null,
        Some(Size::Bytes(bytes)) => json!({ "bytes": bytes }),
        Some(Size::Percent(pct)) => json!({ "pct": pct }),
        Some(Size::Zones(zones)) => json!({ "zones": zones }),
    }
}

fn rate_json(rate: Rate) -> Value {
    match rate {
        Rate::Bytes(bytes) => json!({ "bytes_per_s": bytes }),
        Rate::Iops(iops) => json!({ "iops": iops }),
    }
}
