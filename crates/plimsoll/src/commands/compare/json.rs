//! A comparison as JSON.

use analysis::alike::DifferenceKind;
use analysis::compare::{BetterWhen, Verdict};
use analysis::sets::{Basis, Row};
use export::Run;
use serde_json::{Value, json};

use super::{Judged, Undecided};

/// Returns the comparison with a final newline.
pub(super) fn json(judged: &Judged) -> String {
    let differences = judged.found.differences.iter().map(|found| {
        json!({
            "kind": match found.kind {
                DifferenceKind::Workload => "workload",
                DifferenceKind::Surroundings => "surroundings",
            },
            "what": found.what,
            "baseline": found.baseline,
            "candidate": found.candidate,
        })
    });
    let value = json!({
        "schema": "plimsoll.comparison/1",
        "baseline": runs(&judged.baseline),
        "candidate": runs(&judged.candidate),
        "differences": differences.collect::<Vec<_>>(),
        "remarks": judged.found.remarks,
        "coverage": judged.options.coverage,
        "effect_min": judged.options.effect_min,
        "rows": judged.found.rows.iter().map(row).collect::<Vec<_>>(),
        "fail_if_worse": judged.limit,
        "fails": judged.limit.map(|_| !judged.failing().is_empty()),
        "is_decided": judged.is_decided(),
        "cannot_tell": judged.limit.map(|_| match judged.undecided {
            Undecided::Pass => "pass",
            Undecided::Fail => "fail",
        }),
    });
    format!("{value:#}\n")
}

fn runs(runs: &[Run]) -> Vec<Value> {
    let run = |run: &Run| {
        json!({
            "id": run.id,
            "name": run.name,
            "started_unix_ms": run.record.started_unix_ms,
            "outcome": run.record.outcome,
            "constant_latency": constant(run),
        })
    };
    runs.iter().map(run).collect()
}

/// Says whose latencies are assumed constant; null where none are.
fn constant(run: &Run) -> Option<String> {
    run.record.emulation.as_ref()?.constant_latency()
}

fn row(row: &Row) -> Value {
    let found = &row.comparison;
    json!({
        "step": row.step,
        "job": row.job,
        "dir": row.dir,
        "figure": row.figure.name(),
        "better": match row.figure.better() {
            BetterWhen::Higher => "higher",
            BetterWhen::Lower => "lower",
        },
        "basis": match row.basis {
            Basis::Runs => "runs",
            Basis::Seconds => "seconds",
        },
        "n_baseline": found.n_baseline,
        "n_candidate": found.n_candidate,
        "baseline": found.baseline_median,
        "candidate": found.candidate_median,
        "ratio": found.ratio,
        "ratio_low": found.interval.map(|interval| interval.low),
        "ratio_high": found.interval.map(|interval| interval.high),
        "coverage": found.interval.map(|interval| interval.coverage),
        "widening": found.widening,
        "detectable": found.detectable,
        "verdict": match found.verdict {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifferenceShown => "no_difference_shown",
            Verdict::CannotTell => "cannot_tell",
        },
        "n_runs_needed": found.n_runs_needed,
        "reason": found.reason,
    })
}
