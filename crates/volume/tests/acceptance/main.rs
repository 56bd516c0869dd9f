//! Every figure of the source documents, row by row from `data/acceptance.csv`: through the
//! catalogue, through designs as a user writes them under `volume::limits`, and through runs of the
//! same designs. Rows that no design stands behind are worked out from their own input, here and
//! not in the product. docs/acceptance.md is what came out, and says of each row which it was.

mod answer;
mod kinds;
mod limits;
mod page;
mod rig;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::sync::OnceLock;

use answer::Outcome;
use table::Case;

/// Set to write the pages instead of comparing them; `cargo xtask acceptance` does.
const WRITE: &str = "PLIMSOLL_ACCEPTANCE_WRITE";

/// Where the pages lie.
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// Every row with its outcome; runs take a while and are made once.
fn answered() -> &'static [(Outcome, Case)] {
    static ANSWERED: OnceLock<Vec<(Outcome, Case)>> = OnceLock::new();
    ANSWERED.get_or_init(|| {
        table::read().into_iter().map(|case| (kinds::answer(&case), case)).collect()
    })
}

/// Returns the contradiction that a row is about.
fn erratum_of(id: &str) -> Option<&'static volume::errata::Erratum> {
    volume::errata::ERRATA.iter().find(|erratum| erratum.cases.contains(&id))
}

#[test]
fn every_row_is_answered_as_it_must_be() {
    let mut faults = Vec::new();
    for (outcome, case) in answered() {
        let of_case = answer::faults(case, outcome);
        faults.extend(of_case.into_iter().map(|fault| format!("{}: {fault}", case.id)));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_wrong_answer_is_found() {
    let case = table::read().into_iter().find(|case| case.id == "P-30").expect("a row");
    let right = answer::Answer::new().with("achieved_iops", 3200.0);
    let right = right.binds(volume::limits::Bound::Cap(volume::CapKind::VmUncachedIops));
    let said = |answer: &answer::Answer| answer::Outcome::said(answer.clone());
    assert!(answer::faults(&case, &said(&right)).is_empty());
    let off = right.clone().with("achieved_iops", 3201.0);
    assert_eq!(answer::faults(&case, &said(&off)).len(), 1);
    let silent = answer::Answer { binds: right.binds.clone(), ..answer::Answer::new() };
    assert_eq!(answer::faults(&case, &said(&silent)).len(), 1);
    let other = answer::Answer { binds: vec!["disk_iops"], ..right.clone() };
    assert_eq!(answer::faults(&case, &said(&other)).len(), 1);
    // What follows from the case's own input cannot say what binds.
    assert_eq!(answer::faults(&case, &answer::Outcome::Arithmetic(right)).len(), 1);
}

#[test]
fn every_erratum_of_the_table_is_reported() {
    let cases = table::read();
    for case in cases.iter().filter(|case| case.check == "erratum") {
        assert!(erratum_of(&case.id).is_some(), "{}: no erratum says why", case.id);
    }
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    for erratum in volume::errata::ERRATA {
        for id in erratum.cases {
            assert!(ids.contains(id), "`{}` names {id}, which is no row", erratum.place);
        }
    }
}

#[test]
fn the_pages_are_what_came_out() {
    check_page("acceptance.md", &page::page(answered()));
    check_page("errata.md", &page::errata());
}

#[expect(clippy::disallowed_methods, reason = "a switch of the test itself, set by the toolbox")]
fn is_writing() -> bool {
    std::env::var_os(WRITE).is_some()
}

/// Compares a page with the committed one, or writes it.
fn check_page(name: &str, page: &str) {
    let path = format!("{DOCS}/{name}");
    if is_writing() {
        fs::write(&path, page).expect("the page can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().zip(committed.lines()).find(|(fresh, old)| fresh != old);
    assert!(
        page == committed,
        "docs/{name} is not what came out: run `cargo xtask acceptance`; {differs:?}"
    );
}
