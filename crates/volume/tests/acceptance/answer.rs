//! What the product answers to a case, and whether that is what it must.

use serde_json::{Map, Value};
use volume::limits::Bound;

use crate::table::Case;

/// Deviation that a simulated run may have, in percent.
const SIMULATED_PCT: f64 = 2.0;

/// Values by the names of the table, and what binds them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) values: Map<String, Value>,
    pub(crate) binds: Vec<&'static str>,
}

impl Answer {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a value.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.values.insert(key.to_owned(), value.into());
        self
    }

    /// Adds what binds the next of several answers.
    pub(crate) fn binds(self, bound: Bound) -> Self {
        self.named(bound.name())
    }

    /// Adds what holds the next of several answers, by its name in the table.
    pub(crate) fn named(mut self, name: &'static str) -> Self {
        self.binds.push(name);
        self
    }
}

/// What a case yields.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The product says it: the catalogue, or a design under `limits`; and a run of the same, where
    /// there is something to run.
    Product(Answer, Option<Answer>),
    /// It follows from the case's own input.
    Arithmetic(Answer),
    /// Nothing yet.
    Waits(&'static str),
}

impl Outcome {
    /// What the product says.
    pub(crate) fn said(answer: Answer) -> Self {
        Outcome::Product(answer, None)
    }

    /// What the product says, and what a run showed.
    pub(crate) fn both(said: Answer, seen: Answer) -> Self {
        Outcome::Product(said, Some(seen))
    }
}

/// Cases of which a source says what binds and the product does not: what one client was measured
/// to reach is a fact of the catalogue, and no cap.
const BOUND_UNSAID: [&str; 1] = ["M-25"];

/// Returns what is wrong with an outcome; nothing if it is as it must be.
pub(crate) fn faults(case: &Case, outcome: &Outcome) -> Vec<String> {
    match outcome {
        Outcome::Waits(_) => Vec::new(),
        Outcome::Arithmetic(answer) => {
            let mut faults = judge(case, answer, 0.0);
            if !answer.binds.is_empty() {
                faults.push("arithmetic says what binds".to_owned());
            }
            faults
        }
        Outcome::Product(said, seen) => {
            let mut faults = judge(case, said, 0.0);
            let binds = said.binds.join(";");
            let is_unsaid = binds.is_empty() && BOUND_UNSAID.contains(&case.id.as_str());
            if !case.binds.is_empty() && binds != case.binds && !is_unsaid {
                faults.push(format!("`{}` must bind, not `{binds}`", case.binds));
            }
            let of_run = seen.iter().flat_map(|seen| {
                let mut faults = judge(case, seen, SIMULATED_PCT);
                let binds = seen.binds.join(";");
                // Not every run can tell.
                if !binds.is_empty() && !case.binds.is_empty() && binds != case.binds {
                    faults.push(format!("`{}` must bind, not `{binds}`", case.binds));
                }
                faults
            });
            faults.extend(of_run.map(|fault| format!("simulated: {fault}")));
            faults
        }
    }
}

fn judge(case: &Case, answer: &Answer, least_pct: f64) -> Vec<String> {
    let tolerance_pct = case.tolerance_pct.unwrap_or(0.0).max(least_pct);
    let expect = case.expect.as_object().expect("an object");
    let mut faults = Vec::new();
    for (key, wanted) in expect {
        let bound = ["_min", "_max", "_gt", "_lt"].into_iter().find(|end| key.ends_with(end));
        let base = bound.and_then(|end| answer.values.get(key.trim_end_matches(end)));
        let fits = match (answer.values.get(key), base, bound) {
            (Some(ours), _, _) => is_near(wanted, ours, tolerance_pct),
            (None, Some(ours), Some(bound)) => is_within(wanted, ours, bound),
            // A simulated run shows what it shows: rates and latencies.
            (None, _, _) => least_pct > 0.0,
        };
        if !fits {
            faults.push(format!("`{key}` must be {wanted}, not {:?}", answer.values.get(key)));
        }
    }
    faults
}

fn is_within(wanted: &Value, ours: &Value, bound: &str) -> bool {
    let (Some(wanted), Some(ours)) = (wanted.as_f64(), ours.as_f64()) else { return false };
    match bound {
        "_min" => ours >= wanted,
        "_max" => ours <= wanted,
        "_gt" => ours > wanted,
        _ => ours < wanted,
    }
}

fn is_near(wanted: &Value, ours: &Value, tolerance_pct: f64) -> bool {
    match (wanted, ours) {
        (Value::Number(number), Value::Number(_)) => {
            let (wanted, ours) = (wanted.as_f64().expect("finite"), ours.as_f64().expect("finite"));
            let off = in_digits_of(ours, &number.to_string()) - wanted;
            off.abs() <= f64::EPSILON * wanted.abs()
                || (ours - wanted).abs() <= wanted.abs() * tolerance_pct / 100.0
        }
        (Value::Array(wanted), Value::Array(ours)) => {
            let mut pairs = wanted.iter().zip(ours);
            wanted.len() == ours.len() && pairs.all(|(a, b)| is_near(a, b, tolerance_pct))
        }
        (Value::Object(wanted), Value::Object(ours)) => {
            let near = |(key, wanted): (&String, &Value)| {
                ours.get(key).is_some_and(|ours| is_near(wanted, ours, tolerance_pct))
            };
            wanted.iter().all(near)
        }
        (wanted, ours) => wanted == ours,
    }
}

/// Rounds a number to as many digits as a text has.
fn in_digits_of(value: f64, text: &str) -> f64 {
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let rounded = match text.split_once('e') {
        Some((mantissa, _)) => format!("{value:.*e}", decimals(mantissa)),
        None => format!("{value:.*}", decimals(text)),
    };
    rounded.parse().expect("a number")
}

/// Returns the largest deviation of numbers from what is printed, in percent; `None` without any.
pub(crate) fn deviation_pct(printed: &Value, answer: &Answer) -> Option<f64> {
    let printed = printed.as_object()?;
    let mut all = Vec::new();
    for (key, printed) in printed {
        if let Some(ours) = answer.values.get(key) {
            collect(printed, ours, &mut all);
        }
    }
    all.into_iter().max_by(|a: &f64, b: &f64| a.abs().total_cmp(&b.abs()))
}

fn collect(printed: &Value, ours: &Value, into: &mut Vec<f64>) {
    match (printed, ours) {
        (Value::Number(printed), Value::Number(ours)) => {
            let (printed, ours) =
                (printed.as_f64().expect("finite"), ours.as_f64().expect("finite"));
            let is_zero = printed.abs() < f64::MIN_POSITIVE;
            into.push(if is_zero { ours * 100.0 } else { (ours / printed - 1.0) * 100.0 });
        }
        (Value::Array(printed), Value::Array(ours)) => {
            printed.iter().zip(ours).for_each(|(printed, ours)| collect(printed, ours, into));
        }
        (Value::Object(printed), Value::Object(ours)) => {
            for (key, printed) in printed {
                ours.get(key).into_iter().for_each(|ours| collect(printed, ours, into));
            }
        }
        _ => {}
    }
}
