//! A plan as one of our own files.

use std::fmt::Write;

use plan::job::{Part, PartRegion};
use plan::keys::quoted;
use plan::param::{self, Category, Setting, Value};
use plan::{Job, Plan, job_field};

use super::{SCHEMA, steps, tree_write};
use crate::translation::Translation;

/// Writes a plan in TOML. Reading it gives the same plan; nothing is lost.
pub fn write(plan: &Plan) -> Translation {
    let mut text = format!("schema = \"{SCHEMA}\"\n");
    let mut group_id = 0;
    for (step_idx, step) in plan.steps.iter().enumerate() {
        text.push_str("\n[[step]]\n");
        steps::write(step, &mut text);
        for (job_idx, job) in step.jobs.iter().enumerate() {
            text.push_str("\n[[step.job]]\n");
            // A step begins a group of its own.
            group_id += u32::from(job_idx == 0 && step_idx > 0);
            let is_new_group = job.group_id > group_id;
            group_id = group_id.max(job.group_id);
            write_job(job, is_new_group, &mut text);
        }
    }
    Translation { text, ..Translation::default() }
}

fn write_job(job: &Job, is_new_group: bool, text: &mut String) {
    let _ = writeln!(text, "name = {}", quoted(&job.name));
    if is_new_group {
        text.push_str("new_group = true\n");
    }
    for setting in param::settings(job) {
        // Trees have one engine, which follows from them.
        if job.tree.is_none() || !setting.param.says(&job_field!(engine.name)) {
            option(&setting, text);
        }
    }
    for part in &job.parts {
        write_part(job, part, text);
    }
    if let Some(work) = &job.tree {
        tree_write::work(work, text);
    }
}

fn write_part(job: &Job, part: &Part, text: &mut String) {
    // All fields are named here, so that none is forgotten.
    let Part { name, weight, rate_iops, priority, workload, region } = part;
    text.push_str("\n[[step.job.part]]\n");
    let _ = writeln!(text, "name = {}\nweight = {weight:?}", quoted(name));
    if let Some(rate) = rate_iops {
        let _ = writeln!(text, "rate_iops = {rate:?}");
    }
    if *priority > 0 {
        let _ = writeln!(text, "priority = {priority}");
    }
    match region {
        PartRegion::Whole => {}
        PartRegion::Pct(from, to) => {
            let _ = writeln!(text, "region_pct = [{from:?}, {to:?}]");
        }
        PartRegion::Bytes(from, to) => {
            let _ = writeln!(text, "region_bytes = [{from}, {to}]");
        }
    }
    let own = Job { workload: workload.clone(), parts: Vec::new(), ..job.clone() };
    for setting in param::settings(&own) {
        if setting.param.category() == Category::Workload {
            option(&setting, text);
        }
    }
}

/// Writes a value with its TOML type: yes and no, whole numbers, else text.
fn option(setting: &Setting, text: &mut String) {
    let value = match &setting.value {
        Value::Bool(on) => on.to_string(),
        Value::Int(number) => number.to_string(),
        _ => quoted(&setting.text),
    };
    let _ = writeln!(text, "{} = {value}", setting.param.name);
}
