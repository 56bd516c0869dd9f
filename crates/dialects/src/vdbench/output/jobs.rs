//! The jobs that a run becomes, and to what each of them counts.

use std::collections::BTreeSet;

use super::members::Kind;
use super::stats::operation_name;
use crate::vdbench::run::{FileOperation, FileWork, Fwd, Run, Sd, Work};

/// Name of the workload of formats.
pub(super) const FORMAT: &str = "format";

/// A job, and to what it counts besides the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) job: String,
    /// Label of its host; `None` is the first.
    pub(super) host: Option<String>,
    /// Storage or structure that it alone works on.
    pub(super) storage: Option<Storage>,
    /// Workload of files.
    pub(super) fwd: Option<String>,
    /// Operations that the user asked for, as opposed to those that come with them. Raw jobs have
    /// none.
    pub(super) asked: Vec<FileOperation>,
}

/// Storage or structure of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// The file, device or anchor.
    pub(super) path: String,
}

/// Returns names for the jobs of a run, one per storage definition (of `concatenatesds`, per
/// workload), workload of files or structure to be formatted, in order. Jobs that would share a
/// name get what tells them apart.
pub fn job_names(run: &Run) -> Vec<String> {
    match &run.work {
        Work::Raw(raw) if raw.wds.iter().any(|wd| wd.concatenate) => {
            raw.wds.iter().map(|wd| wd.name.clone()).collect()
        }
        Work::Raw(raw) => sd_job_names(&raw.sds),
        Work::SdFormat(format) => sd_job_names(&format.sds),
        Work::Format(format) => match format.fsds.as_slice() {
            [_] => vec![FORMAT.to_owned()],
            fsds => fsds.iter().map(|fsd| format!("{FORMAT}/{}", fsd.name)).collect(),
        },
        Work::Files(files) => file_job_names(files),
    }
}

/// Names a storage definition of several hosts with its host.
fn sd_job_names(sds: &[Sd]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut repeated = BTreeSet::new();
    for sd in sds {
        if !known.insert(sd.name.as_str()) {
            repeated.insert(sd.name.as_str());
        }
    }
    let name = |sd: &Sd| {
        let is_repeated = repeated.contains(sd.name.as_str());
        if is_repeated { format!("{}/{}", sd.name, sd.host) } else { sd.name.clone() }
    };
    sds.iter().map(name).collect()
}

fn file_job_names(files: &FileWork) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(files.fwds.len());
    for fwd in &files.fwds {
        let alike = files.fwds.iter().filter(|other| other.name == fwd.name);
        let (n_alike, n_here) = alike
            .fold((0, 0), |(all, here), other| (all + 1, here + u32::from(other.fsd == fwd.fsd)));
        let mut name = fwd.name.clone();
        if n_alike > n_here {
            name = format!("{name}/{}", files.fsds.get(fwd.fsd).map_or("", |fsd| &fsd.name));
        }
        if n_here > 1 {
            name = format!("{name}/{}", operation_name(fwd.operation));
        }
        let stem = name.clone();
        let mut number = 1;
        while names.contains(&name) {
            number += 1;
            name = format!("{stem}/{number}");
        }
        names.push(name);
    }
    names
}

/// Returns the jobs of a run, in the order of [`job_names`].
pub(super) fn shares(run: &Run) -> Vec<Share> {
    let names = job_names(run).into_iter();
    match &run.work {
        Work::Raw(raw) if raw.wds.iter().any(|wd| wd.concatenate) => names
            .zip(&raw.wds)
            .map(|(job, wd)| {
                let first = wd.sds.first().and_then(|idx| raw.sds.get(*idx));
                let host = first.map(|sd| sd.host.clone());
                Share { job, host, storage: None, fwd: None, asked: Vec::new() }
            })
            .collect(),
        Work::Raw(raw) => names.zip(&raw.sds).map(of_sd).collect(),
        Work::SdFormat(format) => names.zip(&format.sds).map(of_sd).collect(),
        Work::Files(files) => names
            .zip(&files.fwds)
            .map(|(job, fwd)| Share {
                job,
                host: Some(fwd.host.clone()),
                storage: files.fsds.get(fwd.fsd).map(|fsd| of_fsd(&fsd.name, &fsd.anchor)),
                fwd: Some(fwd.name.clone()),
                asked: asked_for(fwd),
            })
            .collect(),
        Work::Format(format) => names
            .zip(&format.fsds)
            .map(|(job, fsd)| Share {
                job,
                host: None,
                storage: Some(of_fsd(&fsd.name, &fsd.anchor)),
                fwd: Some(FORMAT.to_owned()),
                asked: vec![FileOperation::Write],
            })
            .collect(),
    }
}

fn of_sd((job, sd): (String, &Sd)) -> Share {
    let storage = Storage { kind: Kind::Sd, name: sd.name.clone(), path: sd.lun.clone() };
    let host = Some(sd.host.clone());
    Share { job, host, storage: Some(storage), fwd: None, asked: Vec::new() }
}

fn of_fsd(name: &str, anchor: &str) -> Storage {
    Storage { kind: Kind::Fsd, name: name.to_owned(), path: anchor.to_owned() }
}

/// Says whether a run works on files.
pub(super) fn is_files(run: &Run) -> bool {
    matches!(run.work, Work::Files(_) | Work::Format(_))
}

/// Returns the operations that a workload was defined for.
fn asked_for(fwd: &Fwd) -> Vec<FileOperation> {
    match fwd.rdpct {
        Some(_) => vec![FileOperation::Read, FileOperation::Write],
        None => vec![fwd.operation],
    }
}

/// Returns the operations that occur in a run, as far as its definition says.
pub(super) fn operations(run: &Run) -> Vec<FileOperation> {
    match &run.work {
        Work::Files(files) => files.fwds.iter().flat_map(asked_for).collect(),
        _ => Vec::new(),
    }
}
