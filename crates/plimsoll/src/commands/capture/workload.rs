//! `plimsoll capture --as workload`: a composite workload from an application's own trace.

use std::path::Path;

use ::capture::{CallTrace, Component, MountCounts, Scope, Workload};
use serde_json::json;
use units::{format_count, format_short};

use super::{Args, files, stem};
use crate::commands::catalog::table;
use crate::exit::{Exit, Failure};
use crate::sink::Sink;
use crate::stream;

/// Operations of a mix that the table shows.
const SHOWN_OPS: usize = 4;

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    refuse_options_of_needs(args)?;
    let mut output = open(args)?;
    let below = folders(args);
    let mut trace = CallTrace::new(Scope { below: below.clone() });
    let mut mounts = MountCounts::default();
    let is_stopped = files::read_calls(args, &mut trace, &mut mounts)?;
    let source = args.from.join(", ");
    let workload = match (mounts.is_empty(), trace.is_empty()) {
        (true, _) => trace.finish(),
        (false, true) => mounts.finish(&below),
        (false, false) => Err("calls and counters of NFS are two workloads: capture one of them, \
                               then the other"
            .to_owned()),
    };
    let workload = workload.map_err(|why| Failure::wrong_use(format!("`{source}`: {why}")))?;
    let name = unit_name(args.output.as_deref().map_or("workload", stem));
    let plan = workload.to_toml(&name, &source);
    let text = if args.json { json_of(&workload) } else { plan.clone() };
    if output.is_stdout() {
        Exit::Fine.once(output.write(&text))?;
    } else {
        output.write(&plan)?;
        let shown = if args.json { text } else { table_of(&workload) };
        Exit::Fine.once(stream::print(&shown))?;
        for note in &workload.notes {
            stream::remark("note: ", note);
        }
        let path = args.output.as_deref().unwrap_or_default();
        let next = format!("plimsoll run {path} --remap /mnt/vol=DIR");
        stream::remark("next: ", &next);
    }
    Ok(match (is_stopped, workload.n_unclear > 0) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Invalid,
        (false, false) => Exit::Fine,
    })
}

/// Refuses what says nothing of a workload.
fn refuse_options_of_needs(args: &Args) -> Result<(), Failure> {
    let given = [
        ("--phase", !args.phase.is_empty()),
        ("--device", !args.device.is_empty()),
        ("--every", args.every.is_some()),
        ("--keep-first", args.keep_first),
        ("--dates", args.dates.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            let text = format!("`{option}` is about needs, and says nothing of a workload");
            Err(Failure::wrong_use(text).hint("leave it out"))
        }
        None => Ok(()),
    }
}

/// Opens the file of the plan, which is none of the inputs.
fn open(args: &Args) -> Result<Sink, Failure> {
    let Some(output) = &args.output else { return Ok(Sink::Stdout) };
    let place = std::fs::canonicalize(output).ok();
    let is_input = |from: &String| std::fs::canonicalize(from).ok() == place;
    if place.is_some() && args.from.iter().any(is_input) {
        let text = format!("`{output}` is an input: the workload would replace it");
        return Err(Failure::wrong_use(text).hint("name another file with `--output`"));
    }
    Sink::open(Some(output))
}

/// Returns the folders that count, as they are named and as the kernel shows them.
fn folders(args: &Args) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let both = |path: &std::path::PathBuf| {
        let named = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| named.clone());
        [text(&named), text(&real)]
    };
    args.below.iter().flat_map(both).collect()
}

/// Returns a name that a folder may have.
fn unit_name(stem: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name: String = stem.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    if name.is_empty() { "workload".to_owned() } else { name }
}

const COLUMNS: [&str; 6] =
    ["component", "processes", "op/s of each", "operations", "files of each", "mix"];
const IS_NUMBER: [bool; 6] = [false, true, true, true, true, false];

/// Prints a row for each component.
fn table_of(workload: &Workload) -> String {
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    rows.extend(workload.components.iter().map(|it| {
        let mut mix: Vec<String> = it.mix.iter().take(SHOWN_OPS).map(share).collect();
        if it.mix.len() > SHOWN_OPS {
            mix.push("...".to_owned());
        }
        vec![
            it.name.clone(),
            it.instances.to_string(),
            format_short(it.rate),
            format_count(it.n_ops),
            format_count(it.n_folders * it.files_per_folder),
            mix.join(" "),
        ]
    }));
    let lines = table(&rows, &IS_NUMBER);
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

fn share((op, part): &(dialects::MixOp, u64)) -> String {
    format!("{} {}%", op.name(), (part + 50) / 100)
}

/// Prints it as JSON.
fn json_of(workload: &Workload) -> String {
    let Workload { components, span_ns, n_calls, n_unclear, labels, notes } = workload;
    let value = json!({
        "schema": "plimsoll.workload/1",
        "span_ns": span_ns,
        "n_calls": n_calls,
        "n_unclear_lines": n_unclear,
        "labels": labels,
        "notes": notes,
        "components": components.iter().map(component_json).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn component_json(component: &Component) -> serde_json::Value {
    let Component {
        name,
        n_processes,
        instances,
        rate,
        n_ops,
        counted,
        mix,
        read_sizes,
        write_sizes,
        direct,
        dsync,
        fsync_on_close,
        n_folders,
        files_per_folder,
        spare_pct,
        file_sizes,
        notes,
    } = component;
    let sizes = |sizes: &[(u64, u64)]| -> Vec<_> {
        sizes.iter().map(|(bytes, n)| json!({ "bytes": bytes, "n": n })).collect()
    };
    let pct = |part: u64| part as f64 / 100.0;
    let mix: serde_json::Map<_, _> =
        mix.iter().map(|(op, part)| (op.name().to_owned(), json!(pct(*part)))).collect();
    let counted: serde_json::Map<_, _> =
        counted.iter().map(|(op, n)| (op.name().to_owned(), json!(n))).collect();
    let of_files = |(bytes, part): &(u64, u64)| json!({ "bytes": bytes, "pct": pct(*part) });
    json!({
        "name": name,
        "n_processes": n_processes,
        "instances": instances,
        "rate_ops": rate,
        "n_ops": n_ops,
        "counted": counted,
        "mix_pct": mix,
        "read_sizes": sizes(read_sizes),
        "write_sizes": sizes(write_sizes),
        "direct": direct,
        "dsync": dsync,
        "fsync_on_close": fsync_on_close,
        "n_folders": n_folders,
        "files_per_folder": files_per_folder,
        "spare_pct": spare_pct,
        "file_sizes": file_sizes.iter().map(of_files).collect::<Vec<_>>(),
        "notes": notes,
    })
}
