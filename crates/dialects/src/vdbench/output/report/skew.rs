//! skew.html: who did how much, and whether shares were kept.

use super::super::files::{FileFigures, file_skew_header, file_skew_row};
use super::super::jobs::{FORMAT, MemberKind};
use super::super::members::Member;
use super::super::number::{fixed, thousands};
use super::super::page::boxed;
use super::super::raw::{RawFigures, Skew, TOTAL, raw_skew_header, raw_skew_row};
use super::{Current, LOG, Output, Report, SKEW};
use crate::vdbench::lower_raw::share_of;
use crate::vdbench::output::Moment;
use crate::vdbench::run::{Rate, Run, Wd, Work};

/// Processors in use above this are warned of, percent.
const CPU_PCT_MAX: f64 = 80.0;
/// Shares of workloads that are off by more are warned of, percent.
const SKEW_PCT_MAX: f64 = 1.0;
/// Blanks between the longest name and its figures.
const LABEL_GAP: usize = 2;

/// A table of skew.html.
struct Table<'a> {
    /// Its heading, such as `SD:`.
    what: &'static str,
    members: Vec<&'a Member>,
    /// What the last line shows; without it there is none.
    total: Option<&'a Member>,
    has_cpu: bool,
}

impl Report {
    /// Adds the tables of who did how much.
    pub(super) fn end_skew(
        &mut self,
        now: &Moment,
        run: &Run,
        current: &Current,
        output: &mut Output,
    ) {
        if self.members.all[0].totals.label().is_none() {
            return;
        }
        let mut lines = Vec::new();
        if !self.is_files && !self.has_skew_note {
            self.has_skew_note = true;
            lines.extend([
                String::new(),
                "Counts reported below are for non-warmup intervals.".into(),
            ]);
        }
        let shares = self.shares(run, current);
        for table in self.skew_tables() {
            lines.push(String::new());
            if self.is_files {
                self.file_table(&table, current, &mut lines);
            } else {
                self.raw_table(&table, None, &mut lines);
            }
        }
        if shares.len() > 1 {
            lines.push(String::new());
            if self.is_files {
                lines.extend(file_shares(&shares));
            } else {
                self.raw_shares(run, &shares, &mut lines);
            }
        }
        let clock = now.clock();
        let text: String = lines.iter().map(|line| format!("{clock} {line}\n")).collect();
        output.page(SKEW, &text);
    }

    /// Returns the tables of a run but that of workloads with shares asked for.
    fn skew_tables(&self) -> Vec<Table<'_>> {
        let members = &self.members;
        let total = &members.all[0];
        let mut tables = Vec::new();
        let n_hosts = members.of_kind(MemberKind::Host).count();
        if members.of_kind(MemberKind::Slave).count() > 1 {
            for (idx, host) in members.of_kind(MemberKind::Host).filter(|(_, host)| host.is_active)
            {
                let slaves: Vec<&Member> = members.below(MemberKind::Slave, idx).collect();
                let total = (!self.is_files || slaves.len() > 1).then_some(host);
                tables.push(Table { what: "Slave:", members: slaves, total, has_cpu: false });
            }
        }
        let mut add = |what, kind, is_always: bool, has_cpu| {
            let of_kind = members.active_of(kind);
            if of_kind.is_empty() || !is_always && of_kind.len() < 2 {
                return;
            }
            // Structures count that are defined, used or not.
            let n =
                if kind == MemberKind::Fsd { members.of_kind(kind).count() } else { of_kind.len() };
            let total = (n > 1 || !self.is_files).then_some(total);
            tables.push(Table { what, members: of_kind, total, has_cpu });
        };
        if self.is_files || n_hosts > 1 {
            add("Host:", MemberKind::Host, true, !self.is_files);
        }
        if self.is_files {
            add("FSD:", MemberKind::Fsd, true, false);
            if !members.active_of(MemberKind::Fwd).iter().any(|fwd| fwd.name == FORMAT) {
                add("FWD:", MemberKind::Fwd, true, false);
            }
        } else if self.setup.detail.sd_detail {
            add("SD:", MemberKind::Sd, true, false);
        }
        tables
    }

    fn file_table(&self, table: &Table<'_>, current: &Current, lines: &mut Vec<String>) {
        lines.extend(file_skew_header(table.what, &current.columns));
        let named = table.members.iter().map(|member| (member.name.as_str(), *member));
        for (name, member) in named.chain(table.total.map(|total| (TOTAL, total))) {
            let figures = FileFigures::of(member.totals.sums(), self.setup.megabyte);
            lines.push(file_skew_row(name, &figures, &current.columns));
        }
    }

    /// Adds a table of raw I/O; with `shares`, of what was asked for and what was done.
    fn raw_table(&self, table: &Table<'_>, shares: Option<&[Share]>, lines: &mut Vec<String>) {
        let width = self.label_columns();
        let megabyte = self.setup.megabyte;
        let [mut first, mut second] =
            raw_skew_header(table.what, width, megabyte, shares.is_some());
        if table.has_cpu {
            first.push_str("  cpu");
            second.push_str("sys+u");
        }
        lines.extend([first, second]);
        let named = table.members.iter().map(|member| (member.name.as_str(), *member));
        for (name, member) in named.chain(table.total.map(|total| (TOTAL, total))) {
            let skew = shares.map(|shares| {
                let known = shares.iter().find(|share| share.name == name);
                let all = Skew { requested_pct: 100.0, observed_pct: 100.0 };
                known.map_or(all, |share| share.skew)
            });
            let figures = RawFigures::of(member.totals.sums(), megabyte);
            let mut row = raw_skew_row(name, width, &figures, skew);
            if table.has_cpu {
                let cpu = figures.cpu.unwrap_or_default();
                row.push_str(&format!("{:>5}", fixed(cpu.user_pct + cpu.system_pct, 1)));
            }
            lines.push(row);
        }
    }

    fn raw_shares(&self, run: &Run, shares: &[Share], lines: &mut Vec<String>) {
        lines.push(
            "Calculated versus requested workload skew. (Delta only shown if > 0.10% absolute)"
                .to_owned(),
        );
        lines.push("Note that for an Uncontrolled MAX run workload skew is irrelevant.".to_owned());
        if !is_shared(run) {
            lines.push("This was an Uncontrolled MAX run.".to_owned());
        }
        lines.push(String::new());
        let table = Table {
            what: "WD:",
            members: self.members.active_of(MemberKind::Wd),
            total: Some(&self.members.all[0]),
            has_cpu: false,
        };
        self.raw_table(&table, Some(shares), lines);
    }

    /// Returns the columns of names in tables of raw I/O.
    fn label_columns(&self) -> usize {
        let has_slaves = self.members.of_kind(MemberKind::Slave).count() > 1;
        let is_named = |member: &&Member| match member.kind {
            MemberKind::Host | MemberKind::Sd | MemberKind::Wd => true,
            MemberKind::Slave => has_slaves,
            MemberKind::Total | MemberKind::Part | MemberKind::Fsd | MemberKind::Fwd => false,
        };
        let named = self.members.all.iter().filter(is_named);
        let longest = named.map(|member| member.name.chars().count()).max().unwrap_or(0);
        longest.max(TOTAL.len()) + LABEL_GAP
    }

    /// Returns the shares of workloads.
    fn shares(&self, run: &Run, current: &Current) -> Vec<Share> {
        let rate = match run.rate {
            Rate::CurvePoint { .. } => Rate::Iops(current.asked.reqrate),
            rate => rate,
        };
        let asked: Vec<(&str, f64)> = match &run.work {
            Work::Raw(raw) => {
                let pct = |wd: &Wd| 100.0 * share_of(rate, wd, &raw.wds);
                raw.wds.iter().map(|wd| (wd.name.as_str(), pct(wd))).collect()
            }
            Work::Files(files) => {
                files.fwds.iter().map(|fwd| (fwd.name.as_str(), fwd.skew_pct)).collect()
            }
            Work::SdFormat(_) | Work::Format(_) => return Vec::new(),
        };
        let kind = if self.is_files { MemberKind::Fwd } else { MemberKind::Wd };
        let done = |member: &Member| {
            let sums = member.totals.sums();
            if self.is_files { sums.requested.n as f64 } else { sums.all().n as f64 }
        };
        let members = self.members.active_of(kind);
        let total: f64 = members.iter().map(|member| done(member)).sum();
        if total == 0.0 {
            return Vec::new();
        }
        let share = |member: &&Member| {
            let of_member = asked.iter().filter(|(name, _)| *name == member.name);
            let requested_pct = of_member.map(|(_, pct)| pct).sum();
            let observed_pct = done(member) * 100.0 / total;
            let rate = member.totals.sums().per_s(done(member));
            let skew = Skew { requested_pct, observed_pct };
            Share { name: member.name.clone(), skew, rate }
        };
        members.iter().map(share).collect()
    }

    /// Warns of shares that were not kept, of processors without rest, and of slaves that would be
    /// too few for Vdbench. Returns why everything ends, if it does.
    pub(super) fn warn(
        &self,
        now: &Moment,
        run: &Run,
        current: &Current,
        output: &mut Output,
    ) -> Option<String> {
        let shares = self.shares(run, current);
        let worst = shares
            .iter()
            .filter(|_| shares.len() > 1 && is_shared(run))
            .max_by(|a, b| a.skew.delta_pct().abs().total_cmp(&b.skew.delta_pct().abs()));
        let delta_pct = worst.map_or(0.0, |share| share.skew.delta_pct().abs());
        let clock = now.clock();
        let print = |lines: &[String]| -> String {
            boxed(lines).iter().map(|line| format!("{clock} {line}\n")).collect()
        };
        if let Some(share) = worst.filter(|_| delta_pct > SKEW_PCT_MAX) {
            let kind = if self.is_files { "fwd" } else { "wd" };
            output.summary(&print(&[format!(
                "Observed Workload skew for {kind}={} delta greater than 1% ({}). See skew.html \
                 for details",
                share.name,
                fixed(delta_pct, 2)
            )]));
            output.page(LOG, &print(&SKEW_REASONS.map(str::to_owned)));
        }
        for warning in self.host_warnings(run) {
            output.summary(&print(&warning));
        }
        let limit_pct = self.setup.abort_skew_pct.filter(|limit_pct| delta_pct > *limit_pct)?;
        Some(format!(
            "'abort_failed_skew={limit_pct}' is exceeded: the skew of {} is off by {}%. See \
             skew.html",
            worst.map_or("", |share| &share.name),
            fixed(delta_pct, 2)
        ))
    }

    fn host_warnings(&self, run: &Run) -> Vec<Vec<String>> {
        let mut warnings = Vec::new();
        let sums = self.members.all[0].totals.sums();
        let cpu = sums.cpu.unwrap_or_default();
        let used_pct = cpu.user_pct + cpu.system_pct;
        if used_pct > CPU_PCT_MAX {
            let host = self.members.names(MemberKind::Host).into_iter().next().unwrap_or_default();
            let used = fixed(used_pct, 1);
            warnings.push(vec![
                format!("Warning for host={host}: average processor utilization {used}%"),
                "Above 80% this host may be what limits the rate.".to_owned(),
            ]);
        }
        let n_slaves = self.members.active_of(MemberKind::Slave).len().max(1);
        let per_slave = (sums.per_s(sums.all().n as f64) / n_slaves as f64).round() as u64;
        let limit = self.setup.ios_per_slave_max;
        if limit.is_some_and(|limit| per_slave > limit) {
            let (rate, limit) = (thousands(per_slave), thousands(limit.unwrap_or_default()));
            warnings.push(vec![
                format!(
                    "Warning: total amount of i/o per second per slave ({rate}) greater than \
                     {limit}."
                ),
                format!("rd={} actively used {n_slaves} slaves.", run.name),
            ]);
        }
        warnings
    }
}

/// The share of a workload.
struct Share {
    name: String,
    skew: Skew,
    /// Operations per second.
    rate: f64,
}

/// Returns whether the shares of a run are kept.
fn is_shared(run: &Run) -> bool {
    if let (Work::Raw(raw), Rate::Max | Rate::CurveMax) = (&run.work, run.rate) {
        let n_rated = raw.wds.iter().filter(|wd| wd.iorate_iops.is_some()).count();
        if (1..raw.wds.len()).contains(&n_rated) {
            // What the others come to beside a fixed rate was not asked for.
            return false;
        }
    }
    run.controlled || matches!(run.rate, Rate::Iops(_)) || matches!(run.work, Work::Files(_))
}

fn file_shares(shares: &[Share]) -> Vec<String> {
    let mut lines = vec![
        "FWD skew requested vs. actual (Use 'abort_failed_skew=n.n' to abort when delta > n.n)"
            .to_owned(),
        format!(
            "{:<12} {:>7} {:>10} {:>7} {:>7}",
            "FWD", "ops/sec", "requested", "actual", "delta"
        ),
    ];
    for Share { name, skew, rate } in shares {
        let delta = fixed(-skew.delta_pct(), 2);
        let delta = if delta.starts_with('-') { delta } else { format!("+{delta}") };
        lines.push(format!(
            "{name:<12} {:>7} {:>9}% {:>6}% {delta:>6}%",
            fixed(*rate, 0),
            fixed(skew.requested_pct, 2),
            fixed(skew.observed_pct, 2),
        ));
    }
    lines
}

const SKEW_REASONS: [&str; 4] = [
    "Why shares may be off:",
    "- The run is too short: each workload needs some 2000 operations. A warmup helps.",
    "- There are too few threads for all workloads to keep up with the slowest.",
    "'abort_failed_skew=nn' ends everything after a run that is off by more than nn percent.",
];
