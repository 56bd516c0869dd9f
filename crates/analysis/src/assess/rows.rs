//! The verdict on all rows of a suite together: the headline of the terminal, of a page and of
//! Markdown.

use record::{SuiteRecord, SuiteRowRecord};

use super::is_invalid_row;
use crate::gates::culprit;

/// The verdict on all rows of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowsWorth {
    /// No row measured what was asked for; why, in a few words.
    Nothing(String),
    /// Some rows did not measure what was asked for.
    InPart {
        /// So many.
        n_invalid: usize,
        /// Of so many.
        n_rows: usize,
        /// Why the first of them did not, in a few words.
        why: String,
    },
    /// All did, as far as their checks could tell.
    All,
}

impl RowsWorth {
    /// Returns the verdict on all rows of a suite. Rows of needs are never invalid here: a need may
    /// offer more than the volume carries, and each need has its own answer.
    pub fn of(suite: &SuiteRecord) -> Self {
        let asks_needs = suite.needs.iter().any(|need| need.source.is_empty());
        let rows: Vec<&SuiteRowRecord> = suite.rows.iter().filter(|row| !row.preparation).collect();
        let mut invalid = rows.iter().filter(|row| is_invalid_row(row)).peekable();
        let why = invalid.peek().map(|row| culprit(&row.reason));
        match (why, invalid.count(), rows.len()) {
            (None, ..) => RowsWorth::All,
            (Some(_), ..) if asks_needs => RowsWorth::All,
            (Some(why), n, n_rows) if n == n_rows => RowsWorth::Nothing(why),
            (Some(why), n_invalid, n_rows) => RowsWorth::InPart { n_invalid, n_rows, why },
        }
    }

    /// Returns the verdict on a suite's rows in a sentence without its full stop; none where there
    /// is nothing to say.
    pub fn verdict(&self, is_indicative: bool) -> Option<String> {
        match self {
            RowsWorth::Nothing(why) => {
                Some(format!("cannot tell; no row measured what was asked for: {why}"))
            }
            RowsWorth::InPart { n_invalid, n_rows, why } => {
                let rest = if is_indicative { "; the others give a first look" } else { "" };
                Some(format!("{n_invalid} of {n_rows} rows are invalid: {why}{rest}"))
            }
            RowsWorth::All if is_indicative => {
                Some("indicative; short runs give a first look".to_owned())
            }
            RowsWorth::All => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use record::Figures;

    use super::*;

    /// Checks the verdict on rows, each given by its own verdict.
    #[track_caller]
    fn check(rows: &[&str], is_indicative: bool, expected: Option<&str>) {
        let row = |verdict: &&str| SuiteRowRecord {
            label: "a".to_owned(),
            preparation: *verdict == "done",
            steps: vec![0],
            figures: Figures::default(),
            sync: Figures::default(),
            measured_ns: 1,
            verdict: (*verdict).to_owned(),
            reason: "client-bound: workers waited; other programs used 85 %".to_owned(),
        };
        let rows = rows.iter().map(row).collect();
        let suite = SuiteRecord { rows, ..SuiteRecord::default() };
        assert_eq!(RowsWorth::of(&suite).verdict(is_indicative).as_deref(), expected);
    }

    #[test]
    fn rows_that_say_nothing_are_no_first_look() {
        let void = "cannot tell; no row measured what was asked for: other programs used 85 %";
        check(&["done", "client-bound", "errors"], true, Some(void));
        let part = "1 of 2 rows are invalid: other programs used 85 %";
        check(&["valid", "client-bound"], false, Some(part));
        let part = format!("{part}; the others give a first look");
        check(&["not steady", "client-bound"], true, Some(&part));
        check(&["valid", "page cache"], true, Some("indicative; short runs give a first look"));
        check(&["valid", "not steady"], false, None);
    }
}
