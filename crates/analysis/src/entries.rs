//! The jobs of a run as they are compared: by step and name, with all workers of a name as one.

use std::collections::HashMap;

use record::{JobRecord, Record};

/// All entries of a run with the same step and name.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Step, from 0.
    pub step_idx: u32,
    /// The step's name, or its number from 1; empty where the run has one step.
    pub step: String,
    /// The job's name.
    pub job: String,
    /// Its workers or groups.
    pub parts: Vec<&'a JobRecord>,
}

/// The jobs of a run, in its order, found by their names.
///
/// Records of tens of thousands of jobs exist: everything here takes time in proportion to them.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    list: Vec<Entry<'a>>,
    /// Where in `list` a job of a step is.
    places: HashMap<(String, String), usize>,
    /// Where in `list` the jobs of a step are.
    steps: HashMap<String, Vec<usize>>,
}

impl<'a> Entries<'a> {
    /// Gathers the jobs of a run.
    pub fn of(record: &'a Record) -> Self {
        let mut list: Vec<Entry<'a>> = Vec::new();
        let mut known: HashMap<(u32, &str), usize> = HashMap::new();
        for job in &record.jobs {
            let at = *known.entry((job.step_idx, &job.name)).or_insert_with(|| {
                list.push(Entry {
                    step_idx: job.step_idx,
                    step: String::new(),
                    job: job.name.clone(),
                    parts: Vec::new(),
                });
                list.len() - 1
            });
            list[at].parts.push(job);
        }
        name_steps(&mut list, record);
        let (mut places, mut steps) = (HashMap::new(), HashMap::<String, Vec<usize>>::new());
        for (idx, entry) in list.iter().enumerate() {
            places.entry((entry.step.clone(), entry.job.clone())).or_insert(idx);
            steps.entry(entry.step.clone()).or_default().push(idx);
        }
        Entries { list, places, steps }
    }

    /// Returns all jobs, in the order of the record.
    pub fn list(&self) -> &[Entry<'a>] {
        &self.list
    }

    /// Returns the jobs of a step.
    pub fn of_step(&self, step: &str) -> impl Iterator<Item = &Entry<'a>> {
        self.steps.get(step).into_iter().flatten().map(|idx| &self.list[*idx])
    }

    /// Returns whether the run has one job.
    pub fn is_one(&self) -> bool {
        self.list.len() == 1
    }

    /// Returns the job that corresponds to another run's: of the same step and name, or the only
    /// one where each run has one.
    pub fn counterpart(&self, entry: &Entry<'_>, is_only: bool) -> Option<&Entry<'a>> {
        if let ([only], true) = (self.list.as_slice(), is_only) {
            return Some(only);
        }
        let key = (entry.step.clone(), entry.job.clone());
        self.places.get(&key).map(|idx| &self.list[*idx])
    }
}

/// Gives the jobs of a run of several steps the names of these.
fn name_steps(list: &mut [Entry<'_>], record: &Record) {
    let first = list.first().map(|entry| entry.step_idx);
    if list.iter().all(|entry| Some(entry.step_idx) == first) {
        return;
    }
    let names: HashMap<u32, &str> =
        record.steps.iter().rev().map(|step| (step.step_idx, step.name.as_str())).collect();
    for entry in list {
        entry.step = match names.get(&entry.step_idx) {
            Some(name) if !name.is_empty() => (*name).to_owned(),
            _ => (u64::from(entry.step_idx) + 1).to_string(),
        };
    }
}
