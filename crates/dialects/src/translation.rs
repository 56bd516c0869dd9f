//! A plan in the words of a tool, and what became of each of its values.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use plan::Job;
use plan::files::Size;
use plan::param::{Field, Param, Setting, settings};

/// The text, and what it cannot say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// The file in the tool's language.
    pub text: String,
    /// What the text leaves out or says otherwise than the plan, one sentence each, no two equal.
    pub losses: Vec<String>,
    /// Our names of the parameters whose values do not come back: those that the losses are about,
    /// and those without which the I/O is the same.
    pub lost: BTreeSet<&'static str>,
}

impl Translation {
    /// Returns whether nothing could be said: the text has comments at most.
    pub fn is_empty(&self) -> bool {
        self.text.lines().all(|line| line.is_empty() || line.starts_with(['#', '*']))
    }

    /// Notes what cannot be said, once.
    pub(crate) fn lose(&mut self, loss: impl Into<String>) {
        let loss = loss.into();
        assert!(!loss.is_empty(), "a loss beside {:?} is not said", self.losses);
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// Notes what cannot be said of these fields, once.
    pub(crate) fn lose_fields(&mut self, fields: &[Field], loss: impl Into<String>) {
        self.do_without(fields);
        self.lose(loss);
    }

    /// Notes that these fields do not come back, and that the I/O is the same without them.
    pub(crate) fn do_without(&mut self, fields: &[Field]) {
        self.lost.extend(names(fields));
    }

    /// Notes that the value of a parameter cannot be said, once.
    pub(crate) fn lose_value(&mut self, param: &Param, loss: impl Into<String>) {
        self.lost.insert(param.name);
        self.lose(loss);
    }
}

/// The values of a job, each of which a writer answers for: it is said, or lost and why. What has
/// no answer is lost.
#[derive(Debug, Default)]
pub(crate) struct Values {
    open: BTreeMap<&'static str, Setting>,
    /// What the other tool has, of parameters that the job leaves as usual here.
    others: BTreeMap<&'static str, Setting>,
}

impl Values {
    /// Returns all values of a job that are not as usual, none of them answered for.
    pub(crate) fn of(job: &Job) -> Self {
        let open = settings(job).into_iter().map(|it| (it.param.name, it)).collect();
        Values { open, others: BTreeMap::new() }
    }

    /// Adds the values that all jobs have in the other tool, written or not. A value of the job
    /// that is the same is settled; where the job has none, that of the other tool is open.
    pub(crate) fn beside(&mut self, usual: &[Setting]) {
        for it in usual {
            if self.open.contains_key(it.param.name) {
                self.written(it);
            } else {
                self.others.insert(it.param.name, it.clone());
            }
        }
    }

    /// Notes that the text says this, which answers for a value that is the same.
    pub(crate) fn written(&mut self, setting: &Setting) {
        let name = setting.param.name;
        if self.open.get(name).is_some_and(|it| it.value == setting.value) {
            self.open.remove(name);
        }
    }

    /// Returns whether a field has no answer yet.
    pub(crate) fn is_open(&self, field: Field) -> bool {
        names(&[field]).any(|name| self.open.contains_key(name))
    }

    /// Notes that these fields need no further answer, whichever parameters say them: the text says
    /// the same, or a loss names them.
    pub(crate) fn answered(&mut self, fields: &[Field]) {
        for name in names(fields) {
            self.open.remove(name);
            self.others.remove(name);
        }
    }

    /// Iterates over the values without an answer.
    pub(crate) fn open(&self) -> impl Iterator<Item = &Setting> {
        self.open.values()
    }

    /// Settles a field of the other tool that changes nothing. Returns whether it was open.
    pub(crate) fn accept_other(&mut self, field: Field) -> bool {
        names(&[field]).filter_map(|name| self.others.remove(name)).count() > 0
    }

    /// Iterates over the values of the other tool without an answer.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Setting> {
        self.others.values()
    }

    /// Asks for no answer for the values of other parameters than these.
    pub(crate) fn retain(&mut self, is_asked: impl Fn(&Param) -> bool) {
        self.open.retain(|_, it| is_asked(it.param));
        self.others.retain(|_, it| is_asked(it.param));
    }

    /// Lists the values of the other tool without an answer, each with what it has.
    pub(crate) fn lose_others(&self, tool: &str, to: &mut Translation) {
        for it in self.others() {
            let (key, short) = (it.param.fio_name(), it.param.short);
            to.lose_value(it.param, format!("no `{key}`, {short}: {tool} has {}", it.text));
        }
    }

    /// Lists the values without an answer, each with a reason.
    pub(crate) fn close(self, why: &str, to: &mut Translation) {
        for (name, it) in self.open {
            let loss = format!("{} (`{name}={}`): {why}", it.param.short, it.text);
            to.lose_value(it.param, loss);
        }
    }
}

/// Iterates over our names of the parameters that say these fields. There are some: a field that
/// none says would be neither written nor lost.
fn names(fields: &[Field]) -> impl Iterator<Item = &'static str> {
    fields.iter().flat_map(|field| {
        let mut params = field.params().peekable();
        assert!(params.peek().is_some(), "no parameter says `{}`", field.path);
        params.map(|param| param.name)
    })
}

/// Counts the files of a job.
pub(crate) fn n_luns(job: &Job) -> u64 {
    match job.files.names.len() {
        0 => u64::from(job.n_workers.max(1)) * u64::from(job.files.n_files.max(1)),
        n_names => n_names as u64,
    }
}

/// Returns the files of a job, as named or as generated for each worker, each once.
pub(crate) fn luns(job: &Job) -> Vec<String> {
    let folder = job.files.directories.first().map(|folder| folder.trim_end_matches('/'));
    let below = |name: &str| match folder {
        Some(folder) if !name.starts_with('/') => format!("{folder}/{name}"),
        _ => name.to_owned(),
    };
    if !job.files.names.is_empty() {
        let mut seen = HashSet::new();
        let names = job.files.names.iter().map(|name| below(name));
        return names.filter(|name| seen.insert(name.clone())).collect();
    }
    // A name within a folder, as the runner makes it.
    let job_name = job.name.replace('/', "_");
    let workers = 0..job.n_workers.max(1);
    let files = 0..job.files.n_files.max(1);
    let names = workers.flat_map(|worker| files.clone().map(move |file| (worker, file)));
    names.map(|(worker, file)| below(&format!("{job_name}.{worker}.{file}"))).collect()
}

/// Returns the size of each of a job's files, where the job says it in bytes.
pub(crate) fn lun_bytes(job: &Job) -> Option<u64> {
    if let Some((_, max)) = job.files.file_size_bytes {
        return Some(max);
    }
    let Some(Size::Bytes(bytes)) = job.files.size else { return None };
    let n_files = match job.files.names.len() {
        0 => u64::from(job.files.n_files),
        n_names => n_names as u64,
    };
    Some(bytes / n_files.max(1))
}
