//! What a record comes to: one case per kind of evidence.

use analysis::assess::Standing;
use record::{
    CurveRecord, Figures, LoadLineRecord, NeedRecord, NeedVerdict, Note, NoteSeverity, Record,
    SearchEnd, SuiteFigureRecord, SuiteRecord, SuiteRowRecord,
};

#[track_caller]
fn check(record: &Record, expected: Standing) {
    assert_eq!(Standing::of(record), expected);
}

fn noted(severity: NoteSeverity) -> Record {
    let note = Note { severity, code: String::new(), message: String::new() };
    Record { notes: vec![note], ..Record::default() }
}

fn curve(end: SearchEnd, load: Option<f64>) -> Record {
    let line = LoadLineRecord { end, load, ..LoadLineRecord::default() };
    Record { curve: Some(CurveRecord { line, ..CurveRecord::default() }), ..Record::default() }
}

/// A suite of one row, and of one need at most, which is a published target where it has a source.
fn suite(row: &str, verdict: Option<NeedVerdict>, source: &str) -> Record {
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
    let need = |verdict| NeedRecord { verdict, source: source.to_owned(), ..NeedRecord::default() };
    let needs = verdict.into_iter().map(need).collect();
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
    check(&curve(SearchEnd::Bracketed, Some(5_000.0)), Standing::Sound);
    check(&curve(SearchEnd::NothingFailed, Some(5_000.0)), Standing::Sound);
    check(&curve(SearchEnd::NothingPassed, None), Standing::Sound);
    check(&curve(SearchEnd::CannotTell, None), Standing::CannotTell);
    check(&curve(SearchEnd::Unfinished, None), Standing::CannotTell);
}

#[test]
fn a_suite_is_its_worst_row_or_its_answers() {
    check(&suite("valid", None, ""), Standing::Sound);
    check(&suite("not assessed", None, ""), Standing::Sound);
    check(&suite("depth missed", None, ""), Standing::Caution);
    check(&suite("client-bound", None, ""), Standing::Invalid);
    check(&suite("errors", None, ""), Standing::Invalid);
    // What a need offers may be more than is carried.
    check(&suite("rate missed", Some(NeedVerdict::NotMet), ""), Standing::NotMet);
    check(&suite("client-bound", Some(NeedVerdict::CannotTell), ""), Standing::CannotTell);
    check(&suite("valid", Some(NeedVerdict::Met), ""), Standing::Sound);
    check(&suite("valid", Some(NeedVerdict::NotMet), "a document"), Standing::NotMet);
    check(&suite("client-bound", Some(NeedVerdict::Met), "a document"), Standing::Invalid);
}
