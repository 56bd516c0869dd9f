//! Who has rows and histograms of their own: the whole run, hosts, storage, workloads.

use std::collections::BTreeMap;

use hist::Histogram;
use record::{Interval, JobRecord};

use super::stats::{OpStats, RowStats, Totals, operation_name, operation_of};
use crate::vdbench::run::{FileOperation, FileWork, Fwd, Run, Sd, Work};

/// Name of the workload of formats.
pub(super) const FORMAT: &str = "format";

/// What a member stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Everything.
    Total,
    Host,
    Sd,
    Wd,
    Fsd,
    Fwd,
}

/// One that has rows and a histogram of its own.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// It has a part in the run that is going on.
    pub(super) is_active: bool,
    pub(super) row: RowStats,
    pub(super) totals: Totals,
    pub(super) reads: Histogram,
    pub(super) writes: Histogram,
    pub(super) requested: Histogram,
}

/// All members of all runs.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) all: Vec<Member>,
    by_name: BTreeMap<(Kind, String), usize>,
    /// Members of a job of the run that is going on, by its name.
    of_job: BTreeMap<String, Vec<usize>>,
    /// Operations that the user asked for, by job. Raw jobs have none.
    requested: BTreeMap<String, Vec<FileOperation>>,
    is_files: bool,
}

impl Members {
    /// Finds them in the runs, in order.
    pub(super) fn of(runs: &[Run], hosts: &[String]) -> Self {
        let mut members = Members {
            all: Vec::new(),
            by_name: BTreeMap::new(),
            of_job: BTreeMap::new(),
            requested: BTreeMap::new(),
            is_files: runs.iter().any(is_files),
        };
        members.member(Kind::Total, "");
        for host in hosts {
            members.member(Kind::Host, host);
        }
        for run in runs {
            match &run.work {
                Work::Raw(raw) => {
                    members.add_sds(&raw.sds);
                    for wd in &raw.wds {
                        members.member(Kind::Wd, &wd.name);
                    }
                }
                Work::SdFormat(format) => members.add_sds(&format.sds),
                Work::Files(files) => members.add_files(files),
                Work::Format(format) => {
                    for fsd in &format.fsds {
                        members.member(Kind::Fsd, &fsd.name);
                    }
                    members.member(Kind::Fwd, FORMAT);
                }
            }
        }
        members
    }

    fn add_sds(&mut self, sds: &[Sd]) {
        for sd in sds {
            self.member(Kind::Sd, &sd.name);
            self.member(Kind::Host, &sd.host);
        }
    }

    fn add_files(&mut self, files: &FileWork) {
        for fsd in &files.fsds {
            self.member(Kind::Fsd, &fsd.name);
        }
        for fwd in &files.fwds {
            self.member(Kind::Fwd, &fwd.name);
            self.member(Kind::Host, &fwd.host);
        }
    }

    /// Returns the position of a member, which is made where it is new.
    fn member(&mut self, kind: Kind, name: &str) -> usize {
        let next = self.all.len();
        let idx = *self.by_name.entry((kind, name.to_owned())).or_insert(next);
        if idx == next {
            self.all.push(Member {
                kind,
                name: name.to_owned(),
                is_active: false,
                row: RowStats::default(),
                totals: Totals::default(),
                reads: Histogram::new(),
                writes: Histogram::new(),
                requested: Histogram::new(),
            });
        }
        idx
    }

    pub(super) fn names(&self, kind: Kind) -> Vec<String> {
        let of_kind = self.all.iter().filter(|member| member.kind == kind);
        of_kind.map(|member| member.name.clone()).collect()
    }

    pub(super) fn active(&self) -> impl Iterator<Item = &Member> {
        self.all.iter().filter(|member| member.is_active)
    }

    pub(super) fn active_of(&self, kind: Kind) -> Vec<&Member> {
        self.active().filter(|member| member.kind == kind).collect()
    }

    /// Begins a run.
    pub(super) fn start(&mut self, run: &Run) {
        self.of_job.clear();
        self.requested.clear();
        let links = self.links(run);
        let wds = match &run.work {
            Work::Raw(raw) => raw.wds.iter().map(|wd| self.member(Kind::Wd, &wd.name)).collect(),
            _ => Vec::new(),
        };
        for member in &mut self.all {
            member.is_active = false;
            member.totals = Totals::new(run.warmup_ns > 0);
            member.reads = Histogram::new();
            member.writes = Histogram::new();
            member.requested = Histogram::new();
        }
        let of_jobs = links.iter().flat_map(|(_, of)| of).copied();
        for idx in of_jobs.chain(wds).chain([0]) {
            self.all[idx].is_active = true;
        }
        for (job, of) in links {
            let known = self.of_job.entry(job).or_insert_with(|| vec![0]);
            for idx in of {
                if !known.contains(&idx) {
                    known.push(idx);
                }
            }
        }
    }

    /// Returns the members of each job, and notes which of its operations were asked for.
    fn links(&mut self, run: &Run) -> Vec<(String, Vec<usize>)> {
        let first_host = self.all.iter().position(|member| member.kind == Kind::Host);
        let mut links: Vec<(String, Vec<usize>)> = Vec::new();
        let sds: &[Sd] = match &run.work {
            Work::Raw(raw) => &raw.sds,
            Work::SdFormat(format) => &format.sds,
            Work::Files(_) | Work::Format(_) => &[],
        };
        for sd in sds {
            let of = vec![self.member(Kind::Sd, &sd.name), self.member(Kind::Host, &sd.host)];
            links.push((sd.name.clone(), of));
        }
        match &run.work {
            Work::Raw(raw) => {
                for wd in raw.wds.iter().filter(|wd| wd.concatenate) {
                    let sds = wd.sds.iter().filter_map(|idx| raw.sds.get(*idx));
                    let hosts = sds.take(1).map(|sd| self.member(Kind::Host, &sd.host)).collect();
                    links.push((wd.name.clone(), hosts));
                }
            }
            Work::SdFormat(_) => {}
            Work::Files(files) => {
                for (job, fwd) in job_names(run).into_iter().zip(&files.fwds) {
                    let fsd = files.fsds.get(fwd.fsd).map_or("", |fsd| fsd.name.as_str());
                    let of = vec![
                        self.member(Kind::Fwd, &fwd.name),
                        self.member(Kind::Host, &fwd.host),
                        self.member(Kind::Fsd, fsd),
                    ];
                    links.push((job.clone(), of));
                    self.requested.entry(job).or_default().extend(asked_for(fwd));
                }
            }
            Work::Format(format) => {
                for (job, fsd) in job_names(run).into_iter().zip(&format.fsds) {
                    let mut of =
                        vec![self.member(Kind::Fwd, FORMAT), self.member(Kind::Fsd, &fsd.name)];
                    of.extend(first_host);
                    links.push((job.clone(), of));
                    self.requested.insert(job, vec![FileOperation::Write]);
                }
            }
        }
        links
    }

    /// Takes in an interval.
    pub(super) fn take(&mut self, interval: &Interval) {
        for member in &mut self.all {
            member.row = RowStats::new(interval.length_ms.saturating_mul(1_000_000), interval.cpu);
        }
        for series in &interval.series {
            let Some(operation) = operation_of(&series.op) else { continue };
            let is_asked = self.is_asked(&series.job, operation);
            let stats = OpStats::from(series);
            for idx in self.involved(&series.job, &series.part) {
                let row = &mut self.all[idx].row;
                row.add(operation, &stats);
                if is_asked {
                    row.requested.add(&stats);
                }
            }
        }
    }

    /// Takes in the distributions of a job that has ended.
    pub(super) fn take_job(&mut self, job: &JobRecord) {
        if job.series.is_empty() {
            for idx in self.involved(&job.name, "") {
                let member = &mut self.all[idx];
                member.reads.merge(&job.dirs.read.lat);
                member.writes.merge(&job.dirs.write.lat);
            }
        }
        for series in &job.series {
            let Some(operation) = operation_of(&series.op) else { continue };
            let is_asked = self.is_asked(&job.name, operation);
            for idx in self.involved(&job.name, &series.part) {
                let member = &mut self.all[idx];
                match operation {
                    FileOperation::Read => member.reads.merge(&series.lat),
                    FileOperation::Write => member.writes.merge(&series.lat),
                    _ => {}
                }
                if is_asked {
                    member.requested.merge(&series.lat);
                }
            }
        }
    }

    /// Returns the members that have a part in what a job did. One that is not known counts for
    /// the whole alone.
    fn involved(&self, job: &str, part: &str) -> Vec<usize> {
        let mut of = self.of_job.get(job).cloned().unwrap_or_else(|| vec![0]);
        if !self.is_files && !part.is_empty() {
            of.extend(self.by_name.get(&(Kind::Wd, part.to_owned())));
        }
        of
    }

    fn is_asked(&self, job: &str, operation: FileOperation) -> bool {
        self.requested.get(job).is_some_and(|asked| asked.contains(&operation))
    }
}

/// Returns names for the jobs of a run, one per storage definition, workload of files or structure
/// to be formatted, in order. Workloads of files that share a name get what tells them apart.
pub fn job_names(run: &Run) -> Vec<String> {
    match &run.work {
        Work::Raw(raw) => raw.sds.iter().map(|sd| sd.name.clone()).collect(),
        Work::SdFormat(format) => format.sds.iter().map(|sd| sd.name.clone()).collect(),
        Work::Format(format) => match format.fsds.as_slice() {
            [_] => vec![FORMAT.to_owned()],
            fsds => fsds.iter().map(|fsd| format!("{FORMAT}/{}", fsd.name)).collect(),
        },
        Work::Files(files) => file_job_names(files),
    }
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
