//! Whether the run means what it seems to: checks that failed with their reasons, the others short.

use std::collections::BTreeMap;

use analysis::GateName;
use record::{GateRecord, Record, Verdict};

use super::{COLUMNS, step_title, wrap};

/// What the steps' checks of one name said.
#[derive(Default)]
struct CheckResults<'a> {
    /// Those that failed, with their steps.
    failed: Vec<(u32, &'a GateRecord)>,
    is_passed: bool,
    is_open: bool,
    /// One that did not fail and has something to say.
    remark: Option<&'a GateRecord>,
}

/// Puts what the checks said. The points of a curve are meant to fail, and a suite gives verdicts
/// of its own: both say themselves what broke.
pub(super) fn put_checks(text: &mut String, record: &Record) {
    let has_own = record.curve.is_some() || record.suite.is_some();
    if record.validity.is_empty() || has_own {
        return;
    }
    let all = said(record);
    let n_steps = record.validity.len();
    // What makes the run worthless comes before what is doubtful for it, or because of it.
    let weighs = |name: &GateName| {
        let failed = all.get(name.as_str()).is_some_and(|said| !said.failed.is_empty());
        failed && name.invalidates()
    };
    let (first, others): (Vec<GateName>, Vec<GateName>) =
        GateName::ALL.into_iter().partition(weighs);
    for name in first.into_iter().chain(others) {
        let Some(said) = all.get(name.as_str()) else { continue };
        if let Some((step_idx, gate)) = said.failed.first() {
            let weight = if name.invalidates() { "invalid" } else { "caution" };
            let place = place(record, *step_idx, said.failed.len(), n_steps);
            let line = format!("{weight}: {}{place}: {}", gate.name, gate.reason);
            text.push_str(&wrap(&line, 2, COLUMNS));
            if let Some(next_step) = &gate.next_step {
                text.push_str(&wrap(&format!("  next: {next_step}"), 4, COLUMNS));
            }
        } else if let Some(gate) = said.remark {
            let word = if gate.verdict == Verdict::Passed { "note" } else { "caution" };
            text.push_str(&wrap(&format!("{word}: {}: {}", gate.name, gate.reason), 2, COLUMNS));
        }
    }
    put_until_steady(text, record);
    text.push_str(&wrap(&short(&all), 2, COLUMNS));
    text.push('\n');
}

fn said(record: &Record) -> BTreeMap<&str, CheckResults<'_>> {
    let mut all: BTreeMap<&str, CheckResults<'_>> = BTreeMap::new();
    for step in &record.validity {
        for gate in &step.gates {
            let said = all.entry(gate.name.as_str()).or_default();
            match gate.verdict {
                Verdict::Failed => said.failed.push((step.step_idx, gate)),
                Verdict::NotAssessed => said.is_open = true,
                Verdict::Passed => said.is_passed = true,
            }
            let is_remark = gate.figure("n_remarks").is_some_and(|n| n > 0.0);
            // A level above what is known to last is worth a line, however short the run.
            // Of a cache that fills the job's own lines say it.
            let is_borrowed = gate.is_borrowed() && gate.name != GateName::WriteCache.as_str();
            if gate.verdict == Verdict::Passed && is_remark || is_borrowed {
                said.remark.get_or_insert(gate);
            }
        }
    }
    all
}

/// Returns which steps it was, where there are several.
fn place(record: &Record, step_idx: u32, n_failed: usize, n_steps: usize) -> String {
    if n_steps < 2 {
        return String::new();
    }
    let known = record.steps.iter().find(|step| step.step_idx == step_idx);
    let title = step_title(u64::from(step_idx) + 1, known.map_or("", |step| step.name.as_str()));
    match n_failed {
        1 => format!(" ({title})"),
        n => format!(" ({title} and {} more)", n - 1),
    }
}

fn put_until_steady(text: &mut String, record: &Record) {
    for it in record.conditions.iter().filter_map(|conditions| conditions.until_steady) {
        let line = match it.attained_ms {
            Some(ms) => format!("steady after {:.0} s", ms as f64 / 1000.0),
            None => {
                format!("invalid: it did not become steady in {:.0} s", it.limit_ms as f64 / 1e3)
            }
        };
        text.push_str(&wrap(&line, 2, COLUMNS));
    }
}

/// Returns one line of names.
fn short(all: &BTreeMap<&str, CheckResults<'_>>) -> String {
    let names = |which: fn(&CheckResults<'_>) -> bool| {
        let names = GateName::ALL.iter().map(|name| name.as_str());
        let names = names.filter(|name| all.get(name).is_some_and(which));
        names.collect::<Vec<_>>().join(", ")
    };
    let passed = names(|said| said.failed.is_empty() && !said.is_open && said.is_passed);
    let open = names(|said| said.failed.is_empty() && said.is_open);
    match (passed.is_empty(), open.is_empty()) {
        (false, false) => format!("checks passed: {passed}; not assessed: {open}"),
        (false, true) => format!("checks passed: {passed}"),
        (true, _) => format!("checks not assessed: {open}"),
    }
}
