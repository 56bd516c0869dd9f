//! What a record comes to: one case per kind of evidence.

use analysis::assess::Standing;
use record::{
    CurveRecord, Figures, LoadLineRecord, NeedRecord, Note, NoteSeverity, Record,
    SuiteFigureRecord, SuiteRecord, SuiteRowRecord,
};

#[track_caller]
fn check(record: &Record, expected: Standing) {
    assert_eq!(Standing::of(record), expected);
}

fn noted(severity: NoteSeverity) -> Record {
    let note = Note { severity, code: String::new(), message: String::new() };
    Record { notes: vec![note], ..Record::default() }
}

fn curve(end: &str, load: Option<f64>) -> Record {
    let line = LoadLineRecord { end: end.to_owned(), load, ..LoadLineRecord::default() };
    Record { curve: Some(CurveRecord { line, ..CurveRecord::default() }), ..Record::default() }
}

/// A suite of one row, and of one need, which is a published target where it has a source.
fn suite(row: &str, need: &str, source: &str) -> Record {
    let figure = || SuiteFigureRecord { median: 1.0, interval: None };
    let row = SuiteRowRecord {
        label: "a".to_owned(),
        preparation: false,
        steps: vec![0],
        figures: Figures::each(|_| Some(figure())),
        sync: Figures::default(),
        measured_ns: 1,
        verdict: row.to_owned(),
        reason: String::new(),
    };
    let need =
        NeedRecord { verdict: need.to_owned(), source: source.to_owned(), ..NeedRecord::default() };
    let needs = if need.verdict.is_empty() { Vec::new() } else { vec![need] };
    let suite = SuiteRecord { rows: vec![row], needs, ..SuiteRecord::default() };
    Record { suite: Some(suite), ..Record::default() }
}

#[test]
fn notes_weigh() {
    check(&Record::default(), Standing::Sound);
    check(&noted(NoteSeverity::Info), Standing::Sound);
    check(&noted(NoteSeverity::Warning), Standing::Caution);
    check(&noted(NoteSeverity::Error), Standing::Invalid);
}

#[test]
fn a_curve_is_its_line() {
    check(&curve("bracketed", Some(5_000.0)), Standing::Sound);
    check(&curve("nothing_failed", Some(5_000.0)), Standing::Sound);
    check(&curve("nothing_passed", None), Standing::Sound);
    check(&curve("cannot_tell", None), Standing::CannotTell);
    check(&curve("unfinished", None), Standing::CannotTell);
}

#[test]
fn a_suite_is_its_worst_row_or_its_answers() {
    check(&suite("valid", "", ""), Standing::Sound);
    check(&suite("not assessed", "", ""), Standing::Sound);
    check(&suite("depth missed", "", ""), Standing::Caution);
    check(&suite("client-bound", "", ""), Standing::Invalid);
    check(&suite("errors", "", ""), Standing::Invalid);
    // What a need offers may be more than is carried.
    check(&suite("rate missed", "not met", ""), Standing::NotMet);
    check(&suite("client-bound", "cannot tell", ""), Standing::CannotTell);
    check(&suite("valid", "met", ""), Standing::Sound);
    check(&suite("valid", "not met", "a document"), Standing::NotMet);
    check(&suite("client-bound", "met", "a document"), Standing::Invalid);
}
