//! A parameter file on its way, and what it says of which job.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use plan::Job;

use super::super::fwd;
use super::trees::WrittenFormat;
use crate::translation::Translation;

/// Position of a step in the plan and of a job in it.
pub(super) type JobPosition = (usize, usize);

/// Jobs that are left out, and why.
pub(super) type LeftOut = BTreeMap<JobPosition, String>;

/// A job that was written, and where.
#[derive(Debug)]
pub(super) struct WrittenJob {
    /// Positions of its step, and of the job among those that were joined there.
    pub(super) position: JobPosition,
    /// The job, with those that are processes of the same.
    pub(super) job: Job,
    /// Names of its storage definitions.
    pub(super) storage: Vec<String>,
    /// Names of its workload definitions, one for each of its parts or tasks.
    pub(super) workloads: Vec<String>,
    /// Parameters of which a loss was noted already.
    pub(super) noted: BTreeSet<&'static str>,
}

/// The sections of the file so far.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    pub(super) left_out: &'a LeftOut,
    /// Jobs that were written.
    pub(super) written: Vec<WrittenJob>,
    /// Run definitions by the position of their step.
    pub(super) run_names: BTreeMap<usize, String>,
    pub(super) formats: Vec<WrittenFormat>,
    /// Parameters of which a loss was noted since the last job began.
    pub(super) noted: BTreeSet<&'static str>,
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
    /// A format that the next run is to say, and its structures.
    pub(super) format: Option<(&'static str, Vec<String>)>,
    /// Most processes that a storage definition is divided among.
    pub(super) n_processes: usize,
    /// What all formats are done with.
    pub(super) format_workload: Option<String>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(left_out: &'a LeftOut) -> Self {
        Writer {
            left_out,
            written: Vec::new(),
            run_names: BTreeMap::new(),
            formats: Vec::new(),
            noted: BTreeSet::new(),
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
        }
    }

    /// Notes a loss, which stands for all that becomes otherwise of these parameters.
    pub(super) fn note(&mut self, names: &[&'static str], loss: impl Into<String>) {
        self.noted.extend(names);
        self.to.lose_values(names, loss);
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

    /// Returns a job with what was noted of it.
    pub(super) fn written_job(
        &mut self,
        position: JobPosition,
        job: &Job,
        storage: Vec<String>,
    ) -> WrittenJob {
        let noted = std::mem::take(&mut self.noted);
        WrittenJob { position, job: job.clone(), storage, workloads: Vec::new(), noted }
    }
}
