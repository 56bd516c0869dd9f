//! How runs are announced, and the list that a simulation prints.

use super::parsed::Parsed;
use super::rd::{CURVE_RATE, NO_ELAPSED_S, RdEntry};
use super::run::{Rate, Run, Work};
use super::values::MAX_RATE;

/// Nanoseconds of a second.
pub(super) const NS_PER_S: u64 = 1_000_000_000;

/// What Vdbench says of a run of storage definitions.
pub(super) fn raw_text(
    name: &str,
    rate: f64,
    is_controlled: bool,
    rd: &RdEntry,
    loops: &[(String, String)],
) -> String {
    let control = if is_controlled { "Controlled" } else { "Uncontrolled" };
    let rate = if rate == MAX_RATE {
        format!("{control} MAX")
    } else if rate == CURVE_RATE {
        format!("{control} curve")
    } else if rd.is_variable {
        "Variable".to_owned()
    } else {
        (rate as i32).to_string()
    };
    format!("RD={name}; I/O rate: {rate}; {}; {}", elapsed(rd), loops_text(loops))
}

/// What Vdbench says of a run of file system definitions.
pub(super) fn files_text(
    name: &str,
    rate: f64,
    rd: &RdEntry,
    loops: &[(String, String)],
) -> String {
    let rate = if rate == MAX_RATE {
        "max.".to_owned()
    } else if rate == CURVE_RATE {
        "curve.".to_owned()
    } else {
        format!("{};", rate as i32)
    };
    format!("RD={name}; {}; fwdrate={rate} {}", elapsed(rd), loops_text(loops))
}

fn elapsed(rd: &RdEntry) -> String {
    match (rd.elapsed_s, rd.warmup_s) {
        (NO_ELAPSED_S, _) => "elapsed=(none)".to_owned(),
        (elapsed_s, warmup_s) if warmup_s > 0 => format!("elapsed={elapsed_s} warmup={warmup_s}"),
        (elapsed_s, _) => format!("elapsed={elapsed_s}"),
    }
}

fn loops_text(loops: &[(String, String)]) -> String {
    if loops.is_empty() {
        return "For loops: None".to_owned();
    }
    let texts: Vec<String> = loops.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("For loops: {}", texts.join(" "))
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
    let mut text = String::new();
    let mut total_ns = 0_u64;
    for run in &parsed.runs {
        text.push_str(&format!("Simulating {}\n", run.simulated));
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
