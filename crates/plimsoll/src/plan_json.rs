//! Plan and findings as JSON, for `check --json`.
//!
//! What a job says follows from the registry: the parameters whose values are not as usual, by our
//! names. The usual values stand once, beside the steps. What no parameter says is taken from the
//! plan's own fields, all of which are named here, so that a new one does not compile until it is
//! decided. The plan's types are no file format.

mod tree;

use dialects::Parsed;
use plan::files::Size;
use plan::job::{AmountMax, Part, PartRegion, RateOf, Source};
use plan::param::{self, Category, Param};
use plan::workload::BlockSize;
use plan::{Diagnostic, Direction, Job, PerDir, Plan, Severity, Step};
use serde_json::{Map, Value, json};

use crate::plan_text;

/// Name and version of the page.
const SCHEMA: &str = "plimsoll.check/1";

/// Returns the page: pretty JSON with a final newline.
pub(crate) fn page(parsed: &Parsed) -> String {
    let Plan { sources, steps, global_options } = &parsed.plan;
    let findings = parsed.diagnostics.iter().chain(&parsed.refusals);
    let findings: Vec<Value> = findings.map(|finding| finding_json(finding, sources)).collect();
    let page = json!({
        "schema": SCHEMA,
        "files": sources.iter().map(|source| &source.name).collect::<Vec<_>>(),
        "findings": findings,
        "defaults": defaults(),
        "global_options": global_options,
        "steps": steps.iter().map(step_json).collect::<Vec<_>>(),
    });
    format!("{page:#}\n")
}

/// Describes a step: its jobs, and what else it says that is not as usual.
fn step_json(step: &Step) -> Value {
    let Step { name, jobs, pause_ns, exec_before, exec_after, rate_of, amount_max } = step;
    let AmountMax { total_bytes, read_bytes, write_bytes } = *amount_max;
    let amounts = json!({
        "total_bytes": total_bytes,
        "read_bytes": read_bytes,
        "write_bytes": write_bytes,
    });
    let said = [
        ("name", !name.is_empty(), json!(name)),
        ("pause_ns", *pause_ns > 0, json!(pause_ns)),
        ("exec_before", !exec_before.is_empty(), json!(exec_before)),
        ("exec_after", !exec_after.is_empty(), json!(exec_after)),
        ("rate_of", rate_of.is_some(), rate_of.map_or(Value::Null, rate_of_json)),
        ("amount_max", *amount_max != AmountMax::default(), amounts),
        ("jobs", true, json!(jobs.iter().map(job_json).collect::<Vec<_>>())),
    ];
    let said = said.into_iter().filter(|(_, is_said, _)| *is_said);
    Value::Object(said.map(|(key, _, value)| (key.to_owned(), value)).collect())
}

fn rate_of_json(rate_of: RateOf) -> Value {
    let RateOf { step_idx, pct, round_up, rate_min_iops, stop_above_ns, after_ns } = rate_of;
    json!({
        "step_idx": step_idx,
        "pct": pct,
        "round_up": round_up,
        "rate_min_iops": rate_min_iops,
        "stop_above_ns": stop_above_ns,
        "after_ns": after_ns,
    })
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
    let Job {
        name,
        group_id,
        parts,
        tree,
        options,
        // What the registry's parameters say.
        description: _,
        n_workers: _,
        wait_for: _,
        files: _,
        engine: _,
        workload: _,
        load: _,
        limits: _,
        durability: _,
        buffers: _,
        verify: _,
        reporting: _,
        logs: _,
        process: _,
        errors: _,
        safety: _,
    } = job;
    json!({
        "name": name,
        "group_id": group_id,
        "targets": plan_text::targets(job),
        "n_files_generated": plan_text::n_generated(job),
        "directions": job.issued_directions().map(Direction::name).collect::<Vec<_>>(),
        "parameters": parameters(job, |_| true),
        "parts": parts.iter().map(|part| part_json(job, part)).collect::<Vec<_>>(),
        "tree": tree.as_ref().map(tree::work),
        "options": options,
    })
}

/// Describes one of several workloads that a job mixes.
fn part_json(job: &Job, part: &Part) -> Value {
    let Part { name, weight, rate_iops, priority, workload, region } = part;
    let region = match *region {
        PartRegion::Whole => Value::Null,
        PartRegion::Pct(from, to) => json!({ "from_pct": from, "to_pct": to }),
        PartRegion::Bytes(from, to) => json!({ "from_bytes": from, "to_bytes": to }),
    };
    let own = Job { workload: workload.clone(), parts: Vec::new(), ..job.clone() };
    json!({
        "name": name,
        "weight": rate_iops.is_none().then_some(weight),
        "rate_iops": rate_iops,
        "priority": priority,
        "directions": workload.access.issued().map(Direction::name).collect::<Vec<_>>(),
        "parameters": parameters(&own, |param| param.category() == Category::Workload),
        "region": region,
    })
}

/// Returns the values that a job has where nothing is written.
fn defaults() -> Map<String, Value> {
    let job = Job::default();
    let value = |param: &'static Param| {
        let value = (param.get)(&job)?;
        let text = param.text(&value, job.reporting.kb_base);
        Some((param.name.to_owned(), value_json(&value, &text)))
    };
    param::all().filter_map(value).collect()
}

/// Returns the values of a job that are not as usual, by our names of their parameters.
fn parameters(job: &Job, is_wanted: fn(&Param) -> bool) -> Map<String, Value> {
    let wanted = param::settings(job).into_iter().filter(|it| is_wanted(it.param));
    wanted.map(|it| (it.param.name.to_owned(), value_json(&it.value, &it.text))).collect()
}

/// Writes a value as its kind has it: numbers with their unit where the parameter's name has none.
/// What is a language of its own is `text`, as one would write it in a job file.
fn value_json(value: &param::Value, text: &str) -> Value {
    match value {
        param::Value::Bool(on) => json!(on),
        param::Value::Int(number) => json!(number),
        param::Value::IntPerDir(dirs) => per_dir(dirs, |number| json!(number)),
        param::Value::Size(size) => size_json(*size),
        param::Value::SizeRange(min, max) => json!({ "min_bytes": min, "max_bytes": max }),
        param::Value::TimeNs(ns) => json!({ "ns": ns }),
        param::Value::TimeRangeNs(min, max) => json!({ "min_ns": min, "max_ns": max }),
        param::Value::TimePerDirNs(dirs) => per_dir(dirs, |ns| json!({ "ns": ns })),
        param::Value::Float(number) => json!(number),
        param::Value::Floats(numbers) => json!(numbers),
        param::Value::Choice(word) => json!(word),
        param::Value::Str(text) => json!(text),
        param::Value::Absent => json!(""),
        param::Value::Paths(paths) => json!(paths),
        param::Value::Numbers(numbers) => json!(numbers),
        param::Value::BlockSizes(dirs) => per_dir(dirs, block_size_json),
        param::Value::Access(_)
        | param::Value::PrioritySplit(_)
        | param::Value::Distribution(_)
        | param::Value::Pattern(_)
        | param::Value::Words(_) => json!(text),
    }
}

/// Names the directions that have a value.
fn per_dir<T>(dirs: &PerDir<Option<T>>, json: impl Fn(&T) -> Value) -> Value {
    let of = |(dir, it): (Direction, &Option<T>)| Some((dir.name().to_owned(), json(it.as_ref()?)));
    Value::Object(dirs.iter().filter_map(of).collect())
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

fn size_json(size: Size) -> Value {
    match size {
        Size::Bytes(bytes) => json!({ "bytes": bytes }),
        Size::Percent(pct) => json!({ "pct": pct }),
        Size::Zones(zones) => json!({ "zones": zones }),
    }
}
