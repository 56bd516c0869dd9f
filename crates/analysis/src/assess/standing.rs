//! The verdict on a whole record, in one word: the exit code and the list of runs use it.

use record::{Lever, LineVerdict, NeedVerdict, NoteSeverity, Record, SuiteRowRecord, Verdict};

use super::{has_valid_line, is_valid};
use crate::gate::GateName;

/// The verdict on a record, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// No check gives a reason to doubt its figures.
    Sound,
    /// Its figures are correct, but mean less than they seem to.
    Caution,
    /// A need, or a published target, is not met.
    NotMet,
    /// It has no answer.
    CannotTell,
    /// It did not measure what was asked for.
    Invalid,
}

impl Standing {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Sound => "sound",
            Standing::Caution => "caution",
            Standing::NotMet => "not met",
            Standing::CannotTell => "cannot tell",
            Standing::Invalid => "invalid",
        }
    }

    /// Returns the verdict on a complete record.
    pub fn of(record: &Record) -> Standing {
        let needs = || record.suite.iter().flat_map(|suite| &suite.needs);
        let has = |verdict: NeedVerdict| needs().any(|need| need.verdict == verdict);
        // A need may offer more than the volume carries: only its answer counts.
        let asks_needs = needs().any(|need| need.source.is_empty());
        match of_measurements(record) {
            Some(standing) if !asks_needs => standing,
            _ if has(NeedVerdict::NotMet) => Standing::NotMet,
            _ if has(NeedVerdict::CannotTell) => Standing::CannotTell,
            _ if !asks_needs && rows(record).any(is_invalid_row) => Standing::Invalid,
            _ if has_caution(record) => Standing::Caution,
            _ => Standing::Sound,
        }
    }
}

/// Returns what is wrong with the measurements or the load line, if something is. The rows of a
/// suite have verdicts of their own.
fn of_measurements(record: &Record) -> Option<Standing> {
    if record.notes.iter().any(|note| note.severity == NoteSeverity::Error) {
        return Some(Standing::Invalid);
    }
    let verdict = record.curve.as_ref().map(|curve| curve.line.verdict());
    if let Some(LineVerdict::CannotTell(_) | LineVerdict::Unfinished) = verdict {
        return Some(Standing::CannotTell);
    }
    let is_of_units = record.curve.as_ref().is_some_and(|curve| curve.lever == Lever::Units);
    if verdict == Some(LineVerdict::Below) && is_of_units {
        // The loads were asked for, not searched: not even the least of them is carried.
        return Some(Standing::NotMet);
    }
    let is_valid = if record.suite.is_some() { has_valid_line(record) } else { is_valid(record) };
    (!is_valid).then_some(Standing::Invalid)
}

/// Returns the rows of a suite that are results.
fn rows(record: &Record) -> impl Iterator<Item = &SuiteRowRecord> {
    let rows = record.suite.iter().flat_map(|suite| &suite.rows);
    rows.filter(|row| !row.preparation)
}

/// Returns whether a row of a suite did not measure what was asked for.
pub fn is_invalid_row(row: &SuiteRowRecord) -> bool {
    let mut gates = GateName::ALL.into_iter().filter(|name| name.invalidates());
    gates.any(|name| name.row_verdict() == Some(&row.verdict))
}

fn has_caution(record: &Record) -> bool {
    let has_warning = record.notes.iter().any(|note| note.severity == NoteSeverity::Warning);
    let is_weak = |row: &SuiteRowRecord| {
        GateName::ALL.iter().any(|name| name.row_verdict() == Some(&row.verdict))
    };
    let at_line = record.line_validity();
    has_warning
        || at_line.is_some_and(|step| step.with(Verdict::Failed).next().is_some())
        || match (&record.suite, &record.curve) {
            (Some(_), _) => rows(record).any(is_weak),
            (None, Some(_)) => false,
            (None, None) => {
                record.validity.iter().any(|step| step.with(Verdict::Failed).next().is_some())
            }
        }
}
