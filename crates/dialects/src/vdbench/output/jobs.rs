//! The jobs that a run becomes, and to what each of them counts.

use std::collections::BTreeMap;

use super::stats::operation_name;
use crate::vdbench::run::{FileOperation, FileWork, FormatWork, Fsd, Fwd, RawWork, Run, Sd, Work};
use crate::vdbench::slaves::{self, Seat};

/// Name of the workload of formats.
pub(super) const FORMAT: &str = "format";

/// What a member stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemberKind {
    /// Everything.
    Total,
    Host,
    /// A process of Vdbench's: here the jobs that would be its.
    Slave,
    /// What one host or slave does on one storage or structure (`report=`).
    Part,
    Sd,
    Wd,
    Fsd,
    Fwd,
}

/// A job, and to what it counts besides the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) job: String,
    /// Label of its host; `None` is the first.
    pub(super) host: Option<String>,
    /// Number of its slave among those of the host.
    pub(super) slave: u32,
    /// Storage or structure that it alone works on.
    pub(super) storage: Option<Storage>,
    /// Workload of files.
    pub(super) fwd: Option<String>,
    /// Operations that the user asked for, as opposed to those that come with them. Raw jobs have
    /// none.
    pub(super) asked: Vec<FileOperation>,
}

/// Which of the two a [`Storage`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StorageKind {
    Sd,
    Fsd,
}

impl StorageKind {
    /// Returns the kind of member that counts what is done on it.
    pub(super) fn member(self) -> MemberKind {
        match self {
            StorageKind::Sd => MemberKind::Sd,
            StorageKind::Fsd => MemberKind::Fsd,
        }
    }
}

/// Storage or structure of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Storage {
    pub(super) kind: StorageKind,
    pub(super) name: String,
    /// The file, device or anchor.
    pub(super) path: String,
}

/// Returns names for the jobs of a run, in order: one per storage definition and slave that works
/// on it (of `concatenatesds`, per workload and slave), workload of files or structure to be
/// formatted. Jobs that would share a name get what tells them apart.
pub fn job_names(run: &Run) -> Vec<String> {
    match &run.work {
        Work::Raw(raw) => raw_job_names(raw, &slaves::seats(raw)),
        Work::SdFormat(format) => distinct_names(
            format.sds.iter().map(|sd| (sd.name.as_str(), sd.host.as_str(), 0)).collect(),
        ),
        Work::Format(format) => match format.fsds.as_slice() {
            [_] => vec![FORMAT.to_owned()],
            fsds => fsds.iter().map(|fsd| format!("{FORMAT}/{}", fsd.name)).collect(),
        },
        Work::Files(files) => file_job_names(files),
    }
}

fn raw_job_names(raw: &RawWork, seats: &[Seat]) -> Vec<String> {
    let is_of_volumes = slaves::is_of_volumes(raw);
    let named = |seat: &Seat| {
        let sd = raw.sds.get(seat.sd);
        let wd = seat.wds.first().and_then(|idx| raw.wds.get(*idx));
        let name = if is_of_volumes { wd.map(|wd| &wd.name) } else { sd.map(|sd| &sd.name) };
        (name.map_or("", String::as_str), sd.map_or("", |sd| &sd.host), seat.slave)
    };
    distinct_names(seats.iter().map(named).collect())
}

/// Returns names of jobs by what they work on. Those that would share one have their hosts in it,
/// and where that is not enough their slaves.
fn distinct_names(jobs: Vec<(&str, &str, u32)>) -> Vec<String> {
    let mut n_slaves: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    for (name, host, _) in &jobs {
        *n_slaves.entry(name).or_default().entry(host).or_default() += 1;
    }
    let name = |(name, host, slave): (&str, &str, u32)| {
        let hosts = &n_slaves[name];
        if hosts.values().any(|n| *n > 1) {
            format!("{name}/{host}-{slave}")
        } else if hosts.len() > 1 {
            format!("{name}/{host}")
        } else {
            name.to_owned()
        }
    };
    jobs.into_iter().map(name).collect()
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
    let names = job_names(run);
    match &run.work {
        Work::Raw(raw) => {
            let is_of_volumes = slaves::is_of_volumes(raw);
            let of_seat = |(job, seat): (String, Seat)| {
                let sd = raw.sds.get(seat.sd);
                let mut share = Share::new(job, sd.map(|sd| sd.host.clone()), seat.slave);
                share.storage = sd.filter(|_| !is_of_volumes).map(of_sd);
                share
            };
            names.into_iter().zip(slaves::seats(raw)).map(of_seat).collect()
        }
        Work::SdFormat(format) => {
            let of_sd = |((job, sd), slave): ((String, &Sd), u32)| {
                let storage = Some(of_sd(sd));
                Share { storage, ..Share::new(job, Some(sd.host.clone()), slave) }
            };
            let jobs = names.into_iter().zip(&format.sds);
            jobs.zip(slaves::format_slaves(format)).map(of_sd).collect()
        }
        Work::Files(files) => {
            let of_fwd = |((job, fwd), slave): ((String, &Fwd), u32)| Share {
                storage: files.fsds.get(fwd.fsd).map(|fsd| of_fsd(&fsd.name, &fsd.anchor)),
                fwd: Some(fwd.name.clone()),
                asked: asked_for(fwd),
                ..Share::new(job, Some(fwd.host.clone()), slave)
            };
            let jobs = names.into_iter().zip(&files.fwds);
            jobs.zip(slaves::file_slaves(files)).map(of_fwd).collect()
        }
        Work::Format(format) => {
            let of_fsd = |((job, fsd), idx): ((String, &Fsd), u32)| Share {
                storage: Some(of_fsd(&fsd.name, &fsd.anchor)),
                fwd: Some(FORMAT.to_owned()),
                asked: vec![FileOperation::Write],
                ..Share::new(job, host_at(format, idx), idx % format.n_slaves.max(1))
            };
            names.into_iter().zip(&format.fsds).zip(0..).map(of_fsd).collect()
        }
    }
}

fn host_at(format: &FormatWork, idx: u32) -> Option<String> {
    format.hosts.get(idx as usize).cloned()
}

/// Returns the labels of the hosts of the jobs of a run, in the order of [`job_names`].
pub fn host_labels(run: &Run) -> Vec<String> {
    shares(run).into_iter().map(|share| share.host.unwrap_or_default()).collect()
}

/// Returns the paths that the jobs of a run work on, each with the label of its job's host: files,
/// devices and anchors. Jobs of joined volumes have none.
pub fn host_paths(run: &Run) -> Vec<(String, String)> {
    let path = |share: Share| Some((share.host?, share.storage?.path));
    shares(run).into_iter().filter_map(path).collect()
}

impl Share {
    fn new(job: String, host: Option<String>, slave: u32) -> Self {
        Share { job, host, slave, storage: None, fwd: None, asked: Vec::new() }
    }
}

fn of_sd(sd: &Sd) -> Storage {
    Storage { kind: StorageKind::Sd, name: sd.name.clone(), path: sd.lun.clone() }
}

fn of_fsd(name: &str, anchor: &str) -> Storage {
    Storage { kind: StorageKind::Fsd, name: name.to_owned(), path: anchor.to_owned() }
}

/// Returns whether a run works on files.
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
        Work::Raw(_) | Work::SdFormat(_) | Work::Format(_) => Vec::new(),
    }
}
