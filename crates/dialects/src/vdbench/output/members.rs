//! What has its own rows and histograms: the whole run, hosts, slaves, storage, workloads.

use std::collections::BTreeMap;

use hist::Histogram;
use plan::Direction;
use plan::op::OpClass;
use record::{Interval, JobRecord, SeriesRecord};

use super::counters::Counters;
use super::jobs::{MemberKind, Share, Storage, is_files, shares};
use super::setup::Setup;
use super::stats::{OpStats, RowStats, Totals, operation_of};
use crate::vdbench::parsed::ReportFiles;
use crate::vdbench::run::{FileOperation, Run, Work};

/// One that has rows of its own.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) kind: MemberKind,
    /// Its name, which is that of its page.
    pub(super) name: String,
    /// Of a slave its host, of a part its host or slave: position among all.
    pub(super) of: Option<usize>,
    /// Of a part, what it works on.
    pub(super) storage: Option<Storage>,
    /// It has a part in the run that is going on.
    pub(super) is_active: bool,
    pub(super) row: RowStats,
    pub(super) totals: Totals,
    pub(super) latencies: Latencies,
    /// Of them those of an interval that counts in no average.
    left_out: Latencies,
}

/// Distributions of what a member did.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    pub(super) reads: Histogram,
    pub(super) writes: Histogram,
    pub(super) requested: Histogram,
}

impl Latencies {
    fn add(&mut self, operation: FileOperation, is_asked: bool, lat: &Histogram) {
        match operation.kind().class() {
            OpClass::Bytes(Direction::Read) => self.reads.merge(lat),
            OpClass::Bytes(Direction::Write) => self.writes.merge(lat),
            OpClass::Bytes(Direction::Trim) | OpClass::Sync(_) | OpClass::File => {}
        }
        if is_asked {
            self.requested.merge(lat);
        }
    }

    fn without(&self, earlier: &Latencies) -> Latencies {
        Latencies {
            reads: self.reads.delta_since(&earlier.reads),
            writes: self.writes.delta_since(&earlier.writes),
            requested: self.requested.delta_since(&earlier.requested),
        }
    }
}

/// All members of all runs.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) all: Vec<Member>,
    /// What was done in the run that is going on, warmup included.
    pub(super) counters: Counters,
    by_name: BTreeMap<(MemberKind, String), usize>,
    /// Slaves of each host, by its label.
    n_slaves: BTreeMap<String, u32>,
    first_host: String,
    detail: ReportFiles,
    /// Members of a job of the run that is going on, by its name.
    of_job: BTreeMap<String, Vec<usize>>,
    /// Operations that the user asked for, by job. Raw jobs have none.
    asked: BTreeMap<String, Vec<FileOperation>>,
    is_files: bool,
}

impl Members {
    /// Finds them in the runs, in order.
    pub(super) fn of(runs: &[Run], setup: &Setup) -> Self {
        let Setup { hosts, detail, file_names, .. } = setup;
        let first_host = hosts.first().map_or("localhost", |host| &host.label).to_owned();
        let mut members = Members {
            all: Vec::new(),
            counters: Counters::default(),
            by_name: BTreeMap::new(),
            n_slaves: hosts.iter().map(|host| (host.label.clone(), host.n_slaves.max(1))).collect(),
            first_host,
            detail: *detail,
            of_job: BTreeMap::new(),
            asked: BTreeMap::new(),
            is_files: runs.iter().any(is_files),
        };
        members.member(MemberKind::Total, "");
        for host in hosts {
            members.host(&host.label);
        }
        // In the order of definition, whichever of them had to be written first.
        let (formats, others): (Vec<&Run>, Vec<&Run>) =
            runs.iter().partition(|run| matches!(run.work, Work::SdFormat(_)));
        for run in others.into_iter().chain(formats) {
            members.links(run);
        }
        if members.is_files {
            file_names.fsds.iter().for_each(|name| _ = members.member(MemberKind::Fsd, name));
            file_names.fwds.iter().for_each(|name| _ = members.member(MemberKind::Fwd, name));
        }
        members
    }

    /// Returns the position of a member, which is made where it is new.
    fn member(&mut self, kind: MemberKind, name: &str) -> usize {
        let next = self.all.len();
        let idx = *self.by_name.entry((kind, name.to_owned())).or_insert(next);
        if idx == next {
            self.all.push(Member {
                kind,
                name: name.to_owned(),
                of: None,
                storage: None,
                is_active: false,
                row: RowStats::default(),
                totals: Totals::default(),
                latencies: Latencies::default(),
                left_out: Latencies::default(),
            });
        }
        idx
    }

    /// Returns the position of a host, which is made with its slaves where it is new.
    fn host(&mut self, label: &str) -> usize {
        let idx = self.member(MemberKind::Host, label);
        for number in 0..self.n_slaves_of(label) {
            let slave = self.member(MemberKind::Slave, &slave_name(label, number));
            self.all[slave].of = Some(idx);
        }
        idx
    }

    fn n_slaves_of(&self, host: &str) -> u32 {
        self.n_slaves.get(host).copied().unwrap_or(1)
    }

    pub(super) fn names(&self, kind: MemberKind) -> Vec<String> {
        self.of_kind(kind).map(|(_, member)| member.name.clone()).collect()
    }

    /// Returns the members of a kind, with their positions.
    pub(super) fn of_kind(&self, kind: MemberKind) -> impl Iterator<Item = (usize, &Member)> {
        self.all.iter().enumerate().filter(move |(_, member)| member.kind == kind)
    }

    /// Returns the slaves of a host, or the parts of a host or slave.
    pub(super) fn below(&self, kind: MemberKind, of: usize) -> impl Iterator<Item = &Member> {
        self.of_kind(kind).map(|(_, member)| member).filter(move |member| member.of == Some(of))
    }

    /// Returns those that have rows in the run that is going on. Of files all structures and
    /// workloads do.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Member> {
        let is_always = |member: &Member| {
            self.is_files && matches!(member.kind, MemberKind::Fsd | MemberKind::Fwd)
        };
        self.all.iter().filter(move |member| member.is_active || is_always(member))
    }

    /// Returns the label of the host that a part belongs to.
    pub(super) fn host_of(&self, part: &Member) -> &str {
        let owner = part.of.map(|of| &self.all[of]);
        let host = owner.and_then(|owner| owner.of.map(|of| &self.all[of])).or(owner);
        host.map_or("", |host| &host.name)
    }

    pub(super) fn active_of(&self, kind: MemberKind) -> Vec<&Member> {
        self.all.iter().filter(|member| member.is_active && member.kind == kind).collect()
    }

    /// Begins a run.
    pub(super) fn start(&mut self, run: &Run) {
        self.of_job.clear();
        self.asked.clear();
        self.counters = Counters::default();
        let links = self.links(run);
        for member in &mut self.all {
            member.is_active = false;
            member.totals = Totals::new(run.warmup_ns > 0);
            member.latencies = Latencies::default();
            member.left_out = Latencies::default();
        }
        let wds: Vec<usize> = match &run.work {
            Work::Raw(raw) => {
                raw.wds.iter().map(|wd| self.member(MemberKind::Wd, &wd.name)).collect()
            }
            Work::Files(_) | Work::SdFormat(_) | Work::Format(_) => Vec::new(),
        };
        for idx in links.iter().flat_map(|(_, of)| of).copied().chain(wds).chain([0]) {
            self.all[idx].is_active = true;
        }
        for (share, of) in links {
            let known = self.of_job.entry(share.job.clone()).or_insert_with(|| vec![0]);
            for idx in of {
                if !known.contains(&idx) {
                    known.push(idx);
                }
            }
            self.asked.entry(share.job).or_default().extend(share.asked);
        }
    }

    /// Returns the members of each job of a run. Those that are new are made.
    fn links(&mut self, run: &Run) -> Vec<(Share, Vec<usize>)> {
        let mut links = Vec::new();
        for share in shares(run) {
            let host = share.host.clone().unwrap_or_else(|| self.first_host.clone());
            let slave = slave_name(&host, share.slave % self.n_slaves_of(&host));
            let host = self.host(&host);
            let slave = self.member(MemberKind::Slave, &slave);
            let mut of = vec![host, slave];
            if let Some(storage) = &share.storage {
                of.push(self.member(storage.kind.member(), &storage.name));
                let detail = self.detail;
                for (owner, is_wanted) in [(host, detail.host_detail), (slave, detail.slave_detail)]
                {
                    if is_wanted {
                        of.push(self.part(owner, storage));
                    }
                }
            }
            if let Some(fwd) = &share.fwd {
                of.push(self.member(MemberKind::Fwd, fwd));
            }
            links.push((share, of));
        }
        if let Work::Raw(raw) = &run.work {
            for wd in &raw.wds {
                self.member(MemberKind::Wd, &wd.name);
            }
        }
        links
    }

    fn part(&mut self, owner: usize, storage: &Storage) -> usize {
        let name = format!("{}.{}", self.all[owner].name, storage.name);
        let idx = self.member(MemberKind::Part, &name);
        let member = &mut self.all[idx];
        (member.of, member.storage) = (Some(owner), Some(storage.clone()));
        idx
    }

    /// Takes in an interval.
    pub(super) fn take(&mut self, interval: &Interval) {
        // What was done in less than a millisecond was not done in no time.
        let n_done: u64 = interval.series.iter().map(|series| series.n_ios).sum();
        let length_ms = interval.length_ms.max(n_done.min(1));
        let length_ns = length_ms.saturating_mul(1_000_000);
        for member in &mut self.all {
            member.row = RowStats::new(length_ns, interval.cpu);
        }
        self.counters.pass(length_ns);
        for series in &interval.series {
            let Some(operation) = operation_of(&series.op) else { continue };
            let asked = self.asked.get(&series.job).map_or(&[][..], Vec::as_slice);
            let is_asked = asked.contains(&operation);
            let writes = asked.contains(&FileOperation::Write);
            self.counters.add(operation, series.n_ios, writes);
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
                let latencies = &mut self.all[idx].latencies;
                latencies.reads.merge(&job.dirs.read.lat);
                latencies.writes.merge(&job.dirs.write.lat);
            }
        }
        for series in &job.series {
            self.spread(&job.name, series, |member| &mut member.latencies);
        }
    }

    /// Takes what was done until the end of the first interval out of the distributions.
    pub(super) fn leave_out(&mut self, first: &[(String, SeriesRecord)]) {
        for (job, series) in first {
            self.spread(job, series, |member| &mut member.left_out);
        }
        for member in &mut self.all {
            member.latencies = member.latencies.without(&member.left_out);
        }
    }

    /// Adds a distribution to those of all who have a part in it.
    fn spread(
        &mut self,
        job: &str,
        series: &SeriesRecord,
        to: impl Fn(&mut Member) -> &mut Latencies,
    ) {
        let Some(operation) = operation_of(&series.op) else { return };
        let is_asked = self.asked.get(job).is_some_and(|asked| asked.contains(&operation));
        for idx in self.involved(job, &series.part) {
            to(&mut self.all[idx]).add(operation, is_asked, &series.lat);
        }
    }

    /// Returns the members that have a part in what a job did. One that is not known counts for
    /// the whole alone.
    fn involved(&self, job: &str, part: &str) -> Vec<usize> {
        let mut of = self.of_job.get(job).cloned().unwrap_or_else(|| vec![0]);
        if !self.is_files && !part.is_empty() {
            of.extend(self.by_name.get(&(MemberKind::Wd, part.to_owned())));
        }
        of
    }
}

fn slave_name(host: &str, number: u32) -> String {
    format!("{host}-{number}")
}
