//! How runs are announced, and the list that a simulation prints.

use std::fmt::{Arguments, Write as _};

use super::parsed::Parsed;
use super::rd::{NO_ELAPSED_S, RdEntry};
use super::run::{Rate, Run, Work};
use super::values::{CURVE_RATE, MAX_RATE, NS_PER_S};

/// Room for what is said of a run: most fit, and 100,000 of them grow no string.
const TEXT_BYTES: usize = 128;

/// What Vdbench says of a run of storage definitions.
pub(super) fn raw_text(
    name: &str,
    rate: f64,
    is_controlled: bool,
    rd: &RdEntry,
    loops: &[(String, String)],
) -> String {
    let control = if is_controlled { "Controlled" } else { "Uncontrolled" };
    let mut text = String::with_capacity(TEXT_BYTES);
    text.extend(["RD=", name, "; I/O rate: "]);
    if rate == MAX_RATE {
        text.extend([control, " MAX"]);
    } else if rate == CURVE_RATE {
        text.extend([control, " curve"]);
    } else if rd.is_variable {
        text.push_str("Variable");
    } else {
        add(&mut text, format_args!("{}", rate as i32));
    }
    text.push_str("; ");
    add_elapsed(&mut text, rd);
    text.push_str("; ");
    add_loops(&mut text, loops);
    text
}

/// What Vdbench says of a run of file system definitions.
pub(super) fn files_text(
    name: &str,
    rate: f64,
    rd: &RdEntry,
    loops: &[(String, String)],
) -> String {
    let mut text = String::with_capacity(TEXT_BYTES);
    text.extend(["RD=", name, "; "]);
    add_elapsed(&mut text, rd);
    text.push_str("; fwdrate=");
    if rate == MAX_RATE {
        text.push_str("max.");
    } else if rate == CURVE_RATE {
        text.push_str("curve.");
    } else {
        add(&mut text, format_args!("{};", rate as i32));
    }
    text.push(' ');
    add_loops(&mut text, loops);
    text
}

fn add(text: &mut String, words: Arguments<'_>) {
    text.write_fmt(words).expect("a string takes every write");
}

fn add_elapsed(text: &mut String, rd: &RdEntry) {
    match (rd.elapsed_s, rd.warmup_s) {
        (NO_ELAPSED_S, _) => text.push_str("elapsed=(none)"),
        (elapsed_s, warmup_s) if warmup_s > 0 => {
            add(text, format_args!("elapsed={elapsed_s} warmup={warmup_s}"));
        }
        (elapsed_s, _) => add(text, format_args!("elapsed={elapsed_s}")),
    }
}

fn add_loops(text: &mut String, loops: &[(String, String)]) {
    text.push_str(if loops.is_empty() { "For loops: None" } else { "For loops:" });
    for (name, value) in loops {
        text.extend([" ", name, "=", value]);
    }
}

/// Returns a run's announcement with the rate that a curve's point came to; other runs keep theirs.
pub fn announced_with_rate(run: &Run, rate_iops: u64) -> String {
    let Rate::CurvePoint { .. } = run.rate else { return run.announced.clone() };
    for mark in ["; I/O rate: ", "; fwdrate="] {
        if let Some(at) = run.announced.find(mark).map(|at| at + mark.len()) {
            let (before, rest) = run.announced.split_at(at);
            let end = rest.find(['.', ';']).unwrap_or(rest.len());
            let behind = rest[end..].trim_start_matches(['.', ';']);
            return format!("{before}{rate_iops};{behind}");
        }
    }
    run.announced.clone()
}

/// Returns the list that `-s` prints: a line per run, and one for all.
pub fn simulation(parsed: &Parsed) -> String {
    let n_bytes = parsed.runs.iter().map(|run| "Simulating \n".len() + run.simulated.len()).sum();
    let mut text = String::with_capacity(n_bytes);
    let mut total_ns = 0_u64;
    for run in &parsed.runs {
        text.extend(["Simulating ", &run.simulated, "\n"]);
        if !matches!(run.work, Work::Format(_)) {
            let elapsed_ns = run.elapsed_ns.unwrap_or_default();
            total_ns = total_ns.saturating_add(elapsed_ns).saturating_add(run.warmup_ns);
        }
    }
    let total_s = total_ns / NS_PER_S;
    text.push_str(&format!(
        "Total amount of Run Definitions: {}; total elapsed time {total_s} seconds, or {:.4} \
         hours, plus a format if requested.\n",
        parsed.runs.len(),
        total_s as f64 / 3600.0,
    ));
    text
}
