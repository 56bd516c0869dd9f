//! A parameter file on its way, and the values that it does not say yet.
//!
//! A value is answered for in four ways: by words ([`Writer::say`]), by what Vdbench works out from
//! the whole ([`Writer::works_out`]), by I/O that is the same without it
//! ([`Writer::is_the_same`]), and by a loss ([`Writer::lose`]). What has no answer is lost.

mod errors;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::ops::Range;

use plan::Plan;
use plan::param::Field;
use plan::tree::TreeSpec;

use super::super::fwd;
use super::common_values::CommonValues;
use crate::translation::{Translation, Values};
use errors::DataErrors;

/// The sections of the file so far.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) usual: CommonValues,
    /// Values without an answer of all jobs of the step: one set for each workload of a job.
    pub(super) values: Vec<Values>,
    /// The sets that answers are for.
    pub(super) at: Range<usize>,
    pub(super) to: Translation,
    pub(super) general: String,
    pub(super) targets: String,
    pub(super) workloads: String,
    pub(super) runs: String,
    pub(super) n_runs: usize,
    /// Names that are taken.
    pub(super) names: HashSet<String>,
    /// Definitions by what stands behind their names: one that is said again has the same name.
    pub(super) known: HashMap<String, String>,
    /// A format that the next run is to say, and its structures by the names of their definitions.
    pub(super) format: Option<(&'static str, BTreeMap<String, TreeSpec>)>,
    /// Most processes that a storage definition is divided among.
    pub(super) n_processes: usize,
    /// What all formats are done with.
    pub(super) format_workload: Option<String>,
    /// How many times all written data compresses, once a job says so.
    pub(super) compress_ratio: Option<f64>,
    /// Some job writes data that compresses in no such way.
    pub(super) writes_plainly: bool,
    data_errors: DataErrors,
}

impl Writer {
    pub(super) fn new(plan: &Plan) -> Self {
        Writer {
            usual: CommonValues::new(),
            values: Vec::new(),
            at: 0..0,
            to: Translation::default(),
            general: String::new(),
            targets: String::new(),
            workloads: String::new(),
            runs: String::new(),
            n_runs: 0,
            names: HashSet::new(),
            known: HashMap::new(),
            format: None,
            n_processes: 0,
            format_workload: None,
            compress_ratio: None,
            writes_plainly: false,
            data_errors: DataErrors::of(plan),
        }
    }

    /// Adds words to a line, which say these fields of the jobs at hand. What has no words says
    /// nothing.
    pub(super) fn say(&mut self, line: &mut String, fields: &[Field], words: impl Display) {
        let words = words.to_string();
        if !words.is_empty() {
            line.push_str(&words);
            self.answered(fields);
        }
    }

    /// Answers for fields that Vdbench works out from more than their own words, where that comes
    /// to what the jobs at hand have.
    pub(super) fn works_out(&mut self, fields: &[Field], is_theirs: bool) {
        if is_theirs {
            self.answered(fields);
        }
    }

    fn answered(&mut self, fields: &[Field]) {
        for values in &mut self.values[self.at.clone()] {
            values.answered(fields);
        }
    }

    /// Notes that the I/O is the same without these fields, or with what Vdbench has there.
    pub(super) fn is_the_same(&mut self, fields: &[Field]) {
        self.answered(fields);
        self.to.do_without(fields);
    }

    /// Notes a loss, which stands for all that becomes otherwise of these fields.
    pub(super) fn lose(&mut self, fields: &[Field], loss: impl Into<String>) {
        self.answered(fields);
        self.to.lose_fields(fields, loss);
    }

    /// Lists the values that nothing answered for.
    pub(super) fn close(&mut self) {
        for values in std::mem::take(&mut self.values) {
            for it in values.open() {
                let key = it.param.fio_name();
                let loss = format!("{} (`{key}={}`)", it.param.short, it.text);
                self.to.lose_value(it.param, loss);
            }
            values.lose_others("Vdbench", &mut self.to);
        }
    }

    /// Returns the name of a definition, which is the wanted one if it can be, and whether it must
    /// be written.
    pub(super) fn named(&mut self, kind: &str, wanted: &str, body: &str) -> (String, bool) {
        let key = format!("{kind}={wanted},{body}");
        if let Some(name) = self.known.get(&key) {
            return (name.clone(), false);
        }
        let is_word = wanted.starts_with(|c: char| c.is_ascii_alphabetic())
            && wanted.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !matches!(wanted, "default" | "format" | "concat" | "single" | "range")
            && fwd::operation(wanted).is_none();
        let plain = is_word.then(|| wanted.to_owned());
        let taken = |name: &String| self.names.contains(&format!("{kind}={name}").to_lowercase());
        let name = plain.filter(|name| !taken(name)).or_else(|| {
            (1..=u32::MAX).map(|number| format!("{kind}{number}")).find(|name| !taken(name))
        });
        let name = name.expect("a file has fewer definitions than there are numbers");
        self.names.insert(format!("{kind}={name}").to_lowercase());
        self.known.insert(key, name.clone());
        (name, true)
    }
}
