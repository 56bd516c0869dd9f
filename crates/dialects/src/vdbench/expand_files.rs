//! Runs on file system definitions, and the formats before them.

use std::collections::HashMap;

use plan::op::OpClass;

use super::announce::files_text;
use super::expansion::{Expansion, SKEW_SLACK_PCT, add_curve, rate_of};
use super::fwd::{FwdEntry, OPERATIONS, operation_name};
use super::hosts;
use super::known::fits;
use super::loops::{LoopKind, Point, n_points, points, short_size};
use super::rd::RdEntry;
use super::run::{
    FileIo, FileOperation, FileSizes, FileWork, FormatWork, Fsd, Fwd, Run, StopAfter, Work,
    Xfersize,
};
use super::section::Definition as _;
use super::structures;
use super::values::CURVE_RATE;

/// Most files below one anchor.
const FILES_MAX: f64 = 128.0 * 1024.0 * 1024.0;

/// One entry of a run: a workload on one structure of one host with one operation.
#[derive(Clone, Copy)]
struct Cell {
    /// Position in the workloads of the run definition.
    fwd: usize,
    fsd: usize,
    host: usize,
    operation: FileOperation,
    /// Entries that the workload's threads and share are divided by.
    n_fsds: usize,
    n_hosts: usize,
}

/// A run definition with its workloads, before loops.
struct Picked {
    rd: RdEntry,
    fwds: Vec<FwdEntry>,
    cells: Vec<Cell>,
    /// A format was made for an earlier point (`format=once`).
    is_formatted: bool,
}

impl Expansion<'_> {
    /// Returns all runs of one run definition.
    pub(super) fn file_runs(&mut self, rd: &RdEntry, runs: &mut Vec<Run>) {
        let Some(fwds) = self.fwds_of(rd) else { return };
        let Some(cells) = self.cells_of(rd, &fwds) else { return };
        let n_each = cells.len().saturating_mul(2);
        if !self.has_room(rd.head.place, n_points(&rd.loops), n_each) {
            return;
        }
        let mut picked = Picked { rd: rd.clone(), fwds, cells, is_formatted: false };
        self.check_cells(&picked);
        let most = rd.largest_of(LoopKind::Threads).map(|threads| threads as i64);
        let asked = |cell: &Cell| most.unwrap_or(picked.fwds[cell.fwd].threads);
        self.check_threads(rd, picked.cells.iter().map(|cell| threads_of(cell, asked(cell), rd)));
        for point in points(&rd.loops, true) {
            if self.findings.n_errors > 0 {
                return;
            }
            self.file_run(&mut picked, &point, runs);
        }
    }

    /// Returns the workload definitions of a run definition, with the structures it names.
    fn fwds_of(&mut self, rd: &RdEntry) -> Option<Vec<FwdEntry>> {
        if rd.fwds.is_empty() && rd.fsds.is_empty() {
            let message = format!("no 'fwd=' or 'fsd=' specified for rd={}", rd.head.name);
            let help = "write `fwd=` with names or a wildcard";
            self.findings.error_help(rd.head.place, "missing-fwd", message, help);
            return None;
        }
        let mut found: Vec<FwdEntry> = Vec::new();
        if rd.fwds.is_empty() {
            found.push(self.sections.fwds.default.renamed(&rd.head.name));
        }
        for name in &rd.fwds {
            let before = found.len();
            found.extend(
                self.sections.fwds.all.iter().filter(|fwd| fits(name, &fwd.head.name)).cloned(),
            );
            if found.len() == before {
                let message = format!("could not find fwd={name} for RD={}", rd.head.name);
                let help = "define it with `fwd=`, before the run definitions";
                self.findings.error_help(rd.head.place, "unknown-name", message, help);
                return None;
            }
        }
        let has_skew = found.iter().any(|fwd| fwd.skew != 0.0);
        if has_skew && found.iter().any(|fwd| fwd.hosts != found[0].hosts) {
            let message =
                format!("rd={}: with skew all workloads must name the same hosts", rd.head.name);
            let help = "write the same `host=` into each, or leave `skew=` out";
            self.findings.error_help(rd.head.place, "skew-with-hosts", message, help);
            return None;
        }
        for fwd in found.iter_mut().filter(|_| !rd.fsds.is_empty()) {
            fwd.fsds.clone_from(&rd.fsds);
        }
        Some(found)
    }

    fn cells_of(&mut self, rd: &RdEntry, fwds: &[FwdEntry]) -> Option<Vec<Cell>> {
        let mut cells = Vec::new();
        for (idx, fwd) in fwds.iter().enumerate() {
            let fsds = self.fsds_of(fwd)?;
            let mut hosts = hosts::select(&fwd.hosts, fwd.head.place, self.known(), self.findings);
            if self.options.all_hosts_local
                && fsds.iter().any(|fsd| !self.sections.fsds[*fsd].is_shared)
            {
                hosts.truncate(1);
            }
            let is_shared = |fsd: &usize| self.sections.fsds[*fsd].is_shared;
            if hosts.len() > 1 && !fsds.iter().all(is_shared) {
                let message = format!(
                    "multiple hosts may only be requested for an FSD when 'shared=yes' is \
                     specified. rd={}",
                    rd.head.name
                );
                let help =
                    "write `host=` into the workload definition, or `shared=yes` into the fsd";
                self.findings.error_help(rd.head.place, "not-shared", message, help);
                return None;
            }
            let operations =
                if rd.operations.is_empty() { vec![fwd.operation] } else { rd.operations.clone() };
            self.check_rdpct(rd, fwd)?;
            let n_cells = hosts.len().saturating_mul(fsds.len()).saturating_mul(operations.len());
            if !self.has_room(rd.head.place, 1, n_cells) {
                return None;
            }
            for host in &hosts {
                for fsd in &fsds {
                    cells.extend(operations.iter().map(|operation| Cell {
                        fwd: idx,
                        fsd: *fsd,
                        host: *host,
                        operation: *operation,
                        n_fsds: fsds.len(),
                        n_hosts: hosts.len(),
                    }));
                }
            }
        }
        Some(cells)
    }

    fn fsds_of(&mut self, fwd: &FwdEntry) -> Option<Vec<usize>> {
        let mut found: Vec<usize> = Vec::new();
        for name in &fwd.fsds {
            let fitting: Vec<usize> = (self.sections.fsds.iter().enumerate())
                .filter(|(_, fsd)| fits(name, &fsd.head.name))
                .map(|(idx, _)| idx)
                .collect();
            if fitting.is_empty() {
                let message = format!("could not find fsd={name} for FWD={}", fwd.head.name);
                let help = "define it with `fsd=`, before the workload definitions";
                self.findings.error_help(fwd.head.place, "unknown-name", message, help);
                return None;
            }
            found.extend(fitting);
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    fn check_rdpct(&mut self, rd: &RdEntry, fwd: &FwdEntry) -> Option<()> {
        if fwd.is_sequential && fwd.rdpct.is_some() {
            let message = format!(
                "fwd={}: 'fileio=sequential' and 'rdpct=' are mutually exclusive",
                fwd.head.name
            );
            let help = "write `fileio=random`, or `operation=read` without rdpct; \
                 without `fileio=` it is sequential";
            self.findings.error_help(fwd.head.place, "sequential-rdpct", message, help);
            return None;
        }
        let is_plain = |operation| matches!(operation, FileOperation::Read | FileOperation::Write);
        let is_looped_fine = rd.loop_of(LoopKind::Operation).is_none_or(|looped| {
            let operations = looped.values.iter().filter_map(|idx| OPERATIONS.get(*idx as usize));
            operations.map(|(_, operation)| *operation).all(is_plain)
        });
        let is_fine = rd.operations.len() <= 1
            && rd.operations.iter().copied().all(is_plain)
            && (is_looped_fine || !self.is_kind());
        if self.is_kind() && fwd.rdpct.is_some() && !is_plain(fwd.operation) {
            let message = format!(
                "fwd={}: with 'rdpct=' files are read and written, and 'operation={}' does not \
                 count",
                fwd.head.name,
                operation_name(fwd.operation)
            );
            let help = "leave one of the two out";
            self.findings.warning(fwd.head.place, "exclusive-parameters", message, help);
        }
        if fwd.rdpct.is_some() && !is_fine {
            let message = format!(
                "rd={}: with 'rdpct=' of fwd={} only operation=read or write is allowed, and only \
                 one of them",
                rd.head.name, fwd.head.name
            );
            let help = "leave `operations=` or `foroperations=` of the run definition out";
            self.findings.error_help(rd.head.place, "exclusive-parameters", message, help);
            return None;
        }
        Some(())
    }

    /// Checks targets, threads and formats of shared structures.
    fn check_cells(&mut self, picked: &Picked) {
        let rd = &picked.rd;
        for cell in &picked.cells {
            self.check_target(&picked.fwds[cell.fwd], cell.fsd);
        }
        if self.is_kind() {
            self.check_structures(picked);
        }
        let format = rd.format;
        let is_shared = picked.cells.iter().any(|cell| self.sections.fsds[cell.fsd].is_shared);
        if is_shared && format.is_requested && !format.is_clean && !format.is_restart {
            let message =
                format!("'format=yes' not allowed for shared FSDs used in rd={}", rd.head.name);
            let help = "split it: one run with `format=(clean,only)`, then one with \
                 `format=(restart,only)`";
            self.findings.error_help(rd.head.place, "shared-format", message, help);
        }
        for (idx, fwd) in picked.fwds.iter().enumerate() {
            let asked = fwd.threads;
            let cells = picked.cells.iter().filter(|cell| cell.fwd == idx);
            let got: i64 = cells.map(|cell| threads_of(cell, asked, rd)).sum();
            if got == asked || rd.loop_of(LoopKind::Threads).is_some() {
                continue;
            }
            let message = format!(
                "rd={},fwd={}: threads={asked} over its structures, hosts and operations come to \
                 {got}",
                rd.head.name, fwd.head.name
            );
            let help = "write a multiple of their number";
            if self.known().general.no_thread_adjust {
                self.findings.error_help(rd.head.place, "uneven-threads", message, help);
            } else {
                self.findings.warning(rd.head.place, "uneven-threads", message, help);
            }
        }
    }

    /// One anchor holds one structure at a time.
    fn check_structures(&mut self, picked: &Picked) {
        let mut known: HashMap<(&str, usize), usize> = HashMap::new();
        let shape = |idx: usize| {
            let fsd = &self.sections.fsds[idx];
            (fsd.depth, fsd.width, fsd.files, &fsd.sizes, fsd.bottom_only, &fsd.mask)
        };
        let mut others = picked.cells.iter().filter_map(|cell| {
            let anchor = self.sections.fsds[cell.fsd].anchor.as_str();
            let first = *known.entry((anchor, cell.host)).or_insert(cell.fsd);
            (shape(first) != shape(cell.fsd)).then_some((first, cell.fsd))
        });
        let Some((first, other)) = others.next() else { return };
        let (first, other) = (&self.sections.fsds[first], &self.sections.fsds[other]);
        let message = format!(
            "rd={}: fsd={} and fsd={} are different structures in one anchor, `{}`",
            picked.rd.head.name, first.head.name, other.head.name, first.anchor
        );
        let help = "give each an anchor of its own, or a run definition of its own with format=yes";
        self.findings.error_help(picked.rd.head.place, "different-structures", message, help);
    }

    /// A target needs the structure of its source.
    fn check_target(&mut self, fwd: &FwdEntry, fsd: usize) {
        let Some(target) = &fwd.target else { return };
        let source = &self.sections.fsds[fsd];
        let message = match self.sections.fsds.iter().find(|other| other.head.name == *target) {
            None => format!("'target={target}' of fwd={}: FSD not found", fwd.head.name),
            Some(other)
                if other.depth != source.depth
                    || other.width != source.width
                    || other.files != source.files
                    || other.sizes != source.sizes =>
            {
                format!(
                    "FSD structure must be identical for fsd={} and 'target={target}'",
                    source.head.name
                )
            }
            Some(_) => return,
        };
        self.findings.error(fwd.head.place, "wrong-target", message);
    }

    fn file_run(&mut self, picked: &mut Picked, point: &Point, runs: &mut Vec<Run>) {
        let rd = picked.rd.clone();
        let mut fsd_idxs: Vec<usize> = Vec::new();
        for cell in &picked.cells {
            if !fsd_idxs.contains(&cell.fsd) {
                fsd_idxs.push(cell.fsd);
            }
        }
        let n_worked_on = fsd_idxs.len();
        self.add_targets(picked, &mut fsd_idxs);
        let mut fsds = Vec::new();
        for idx in &fsd_idxs {
            let n_hosts =
                picked.cells.iter().find(|cell| cell.fsd == *idx).map_or(1, |cell| cell.n_hosts);
            let Some(fsd) = self.fsd_at(&rd, *idx, n_hosts, point) else { return };
            fsds.push(fsd);
        }
        let format = rd.format;
        if format.is_requested && !(format.is_once && picked.is_formatted) {
            picked.is_formatted = true;
            let run = self.format_run(picked, &fsds, n_worked_on, point);
            if !self.may_be_there(&rd, &run.work) {
                return;
            }
            runs.push(run);
        }
        if format.is_only {
            return;
        }
        let Some(fwds) = self.fwds_at(picked, &fsd_idxs, point) else { return };
        let rate = point.get(LoopKind::Rate).unwrap_or(rd.fwdrate);
        let work = Work::Files(FileWork { fsds, fwds });
        if !self.may_be_there(&rd, &work) {
            return;
        }
        let mut run = self.bare_run(&rd, point, work);
        run.announced = files_text(&rd.head.name, rate, &rd, &point.shown);
        run.simulated.clone_from(&run.announced);
        run.controlled = true;
        run.rate = rate_of(rate);
        runs.push(run);
        if rd.fwdrate == CURVE_RATE {
            // Vdbench lists the points as curves too, without their rate.
            let text = |name: &str, rate| files_text(name, rate, &rd, &point.shown);
            add_curve(&rd, runs, |name, iops, _| (text(name, iops), text(name, CURVE_RATE)));
        }
    }

    /// Returns whether the structures of a run may lie there, after all formats before it; reports
    /// it if not. Vdbench finds it when it gets there.
    fn may_be_there(&mut self, rd: &RdEntry, work: &Work) -> bool {
        if !self.is_kind() || self.known().hosts.iter().any(|entry| !entry.host.is_local) {
            return true;
        }
        let mistake = match work {
            Work::Format(work) => self.structures.format(&rd.head.name, work),
            Work::Files(work) => self.structures.work(&rd.head.name, &work.fsds),
            Work::Raw(_) | Work::SdFormat(_) => None,
        };
        let Some(message) = mistake else { return true };
        let help = "write format=yes, which removes what is there first, or give each structure an \
                    anchor of its own";
        self.findings.error_help(rd.head.place, "different-structures", message, help);
        false
    }

    /// Returns a structure with what a run changes; reports one that cannot be.
    fn fsd_at(&mut self, rd: &RdEntry, idx: usize, n_hosts: usize, point: &Point) -> Option<Fsd> {
        let entry = &self.sections.fsds[idx];
        let int = |kind, written: i64| point.get(kind).map_or(written, |value| value as i64).max(1);
        let depth = int(LoopKind::Depth, entry.depth);
        let width = int(LoopKind::Width, entry.width);
        let files = int(LoopKind::Files, entry.files);
        let looped = point.get(LoopKind::Sizes).map(|size| vec![size]);
        let sizes = file_sizes(looped.as_ref().unwrap_or(&entry.sizes));
        let n_hosts = n_hosts.max(1) as i64;
        let mut total = entry.total_bytes.map(|total| total / n_hosts);
        if let Some(looped) = point.get(LoopKind::TotalSize) {
            total = match (looped, entry.total_bytes) {
                (looped, Some(all)) if looped < 0.0 => Some((all as f64 * -looped / 100.0) as i64),
                (looped, None) if looped < 0.0 => {
                    let message = format!(
                        "rd={}: a percentage of totalsize= needs a totalsize= of fsd={}",
                        rd.head.name, entry.head.name
                    );
                    self.findings.error(rd.head.place, "missing-totalsize", message);
                    return None;
                }
                (0.0, all) => all,
                (looped, _) => Some(looped as i64),
            };
        }
        let working_set = point
            .get(LoopKind::WorkingSet)
            .map_or(entry.working_set_bytes / n_hosts, |looped| looped as i64);
        let fsd = Fsd {
            name: entry.head.name.clone(),
            anchor: entry.anchor.clone(),
            create_parents: self.settings().create_anchors,
            depth: depth.min(i64::from(u32::MAX)) as u32,
            width: width.min(i64::from(u32::MAX)) as u32,
            files: files as u64,
            bottom_only: entry.bottom_only,
            sizes,
            total_bytes: total.unwrap_or(0).max(0) as u64,
            working_set_bytes: working_set.max(0) as u64,
            shared: entry.is_shared,
            mask: entry.mask.clone(),
            open: entry.open,
        };
        let place = entry.head.place;
        match structure_mistake(&fsd) {
            None => Some(fsd),
            Some(message) => {
                // What no loop changes is the same for all run definitions, and reported once.
                let is_looped = rd.loops.iter().any(|looped| looped.kind.is_of_structures());
                let rd = if is_looped { format!("rd={},", rd.head.name) } else { String::new() };
                let message = format!("{rd}fsd={}: {message}", fsd.name);
                let help =
                    "change depth=, width=, files= and sizes=, or the size that is asked for";
                self.findings.error_help(place, "wrong-structure", message, help);
                None
            }
        }
    }

    /// Adds the structures that files are copied or moved to, and nothing else is done in.
    fn add_targets(&self, picked: &Picked, fsd_idxs: &mut Vec<usize>) {
        for cell in &picked.cells {
            let Some(target) = &picked.fwds[cell.fwd].target else { continue };
            let found = self.sections.fsds.iter().position(|fsd| fsd.head.name == *target);
            if let Some(idx) = found.filter(|idx| !fsd_idxs.contains(idx)) {
                fsd_idxs.push(idx);
            }
        }
    }

    /// Formats structures. Those from `n_worked_on` on are only copied or moved to.
    fn format_run(&self, picked: &Picked, fsds: &[Fsd], n_worked_on: usize, point: &Point) -> Run {
        let rd = &picked.rd;
        let format = rd.format;
        let asked = self.sections.fwds.format.open.or(rd.open);
        let first = fsds.first().map(|fsd| fsd.open);
        let (fsds, n_targets) = structures::once_each(fsds, fsds.len() - n_worked_on);
        let work = FormatWork {
            hosts: fsds.iter().map(|fsd| self.host_of(picked, fsd)).collect(),
            fsds,
            n_targets,
            clean: !format.is_restart || format.is_clean,
            create: !format.is_clean || format.is_restart,
            restart: format.is_restart,
            directories_only: format.is_folders,
            limited: format.is_limited,
            threads: self.sections.fwds.format.threads.clamp(1, i64::from(u32::MAX)) as u32,
            n_slaves: self.known().hosts.first().map_or(1, |entry| entry.host.jvms),
            xfersize_bytes: self.sections.fwds.format.xfersize as u32,
            open: asked.or(first).unwrap_or_default(),
        };
        let mut run = self.bare_run(rd, point, Work::Format(work));
        run.name = format!("format_for_{}", rd.head.name);
        run.announced = format!("RD={}", run.name);
        run.simulated.clone_from(&run.announced);
        run.controlled = true;
        run.loops.clear();
        run.warmup_ns = 0;
        run.pause_ns = 0;
        if !format.is_limited {
            run.elapsed_ns = None;
        }
        run
    }

    /// Returns the label of the first host that works on a structure, or copies or moves files to
    /// it.
    fn host_of(&self, picked: &Picked, fsd: &Fsd) -> String {
        let is_worked_on = |cell: &&Cell| self.sections.fsds[cell.fsd].head.name == fsd.name;
        let is_target = |cell: &&Cell| picked.fwds[cell.fwd].target.as_ref() == Some(&fsd.name);
        let cells = || picked.cells.iter();
        let cell = cells().find(is_worked_on).or_else(|| cells().find(is_target));
        let host = cell.and_then(|cell| self.known().hosts.get(cell.host));
        host.map_or_else(String::new, |entry| entry.host.label.clone())
    }

    /// Returns the entries of a run.
    fn fwds_at(&mut self, picked: &Picked, fsds: &[usize], point: &Point) -> Option<Vec<Fwd>> {
        let rd = &picked.rd;
        let mut fwds = Vec::with_capacity(picked.cells.len());
        for cell in &picked.cells {
            let entry = &picked.fwds[cell.fwd];
            let operation = point
                .get(LoopKind::Operation)
                .and_then(|idx| OPERATIONS.get(idx as usize))
                .map_or(cell.operation, |(_, operation)| *operation);
            let asked = point.get(LoopKind::Threads).map_or(entry.threads, |n| n as i64);
            let position = |name: &String| {
                fsds.iter().position(|idx| self.sections.fsds[*idx].head.name == *name)
            };
            let name = if rd.fwds.is_empty() && !rd.operations.is_empty() {
                format!("{}_{}", entry.head.name, operation_name(operation))
            } else {
                entry.head.name.clone()
            };
            let rdpct = point.get(LoopKind::Rdpct).or(entry.rdpct);
            fwds.push(Fwd {
                name,
                fsd: (fsds.iter().position(|idx| *idx == cell.fsd))
                    .expect("a run has the structures of all its workloads"),
                host: self.known().hosts[cell.host].host.label.clone(),
                n_slaves: self.known().hosts[cell.host].host.jvms,
                target: entry.target.as_ref().and_then(position),
                operation: mixed(operation, rdpct),
                rdpct,
                fileio: if entry.is_sequential {
                    FileIo::Sequential { nonzero: entry.is_nonzero, delete: entry.is_delete }
                } else {
                    FileIo::Random { shared: entry.is_shared }
                },
                fileselect: entry.select,
                xfersize: match point.get(LoopKind::Xfersize) {
                    Some(size) => Xfersize::Fixed(size as u32),
                    None => Xfersize::of(&entry.xfersizes),
                },
                threads: threads_of(cell, asked, rd).clamp(1, i64::from(u32::MAX)) as u32,
                stopafter: entry.stopafter.map(|after| {
                    if after < 0.0 { StopAfter::Pct(-after) } else { StopAfter::Ios(after as u64) }
                }),
                skew_pct: 0.0,
                open: rd.open.or(entry.open).unwrap_or_default(),
            });
        }
        self.share_files(picked, &mut fwds)?;
        Some(fwds)
    }

    /// Spreads 100 percent over the entries of each host.
    fn share_files(&mut self, picked: &Picked, fwds: &mut [Fwd]) -> Option<()> {
        let share = |cell: &Cell| picked.fwds[cell.fwd].skew / cell.n_fsds as f64;
        let mut hosts: Vec<usize> = picked.cells.iter().map(|cell| cell.host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        for host in &hosts {
            let cells = || picked.cells.iter().enumerate().filter(|(_, cell)| cell.host == *host);
            let mut total: f64 = cells().map(|(_, cell)| share(cell)).sum();
            let n_open = cells().filter(|(_, cell)| share(cell) == 0.0).count();
            let rest = (100.0 - total) / n_open.max(1) as f64;
            if n_open > 0 && rest.abs() <= SKEW_SLACK_PCT && self.is_kind() {
                self.lacks_share(picked, *host);
                return None;
            }
            for (idx, cell) in cells() {
                let own = if share(cell) == 0.0 { rest } else { share(cell) };
                fwds[idx].skew_pct = own / hosts.len() as f64;
            }
            if n_open > 0 {
                total = total.max(100.0);
            }
            if (total - 100.0).abs() <= SKEW_SLACK_PCT {
                continue;
            }
            let message =
                format!("rd={}: total skew must add up to 100: {total:.1}", picked.rd.head.name);
            if self.is_kind() {
                let help = "change the `skew=` of its workloads: Vdbench finds this only \
                            during the run";
                self.findings.error_help(picked.rd.head.place, "wrong-skew", message, help);
                return None;
            }
            self.findings.refuse(picked.rd.head.place, "wrong-skew", message);
        }
        Some(())
    }
}

impl Expansion<'_> {
    /// Reports a workload for which the shares of the others leave nothing.
    fn lacks_share(&mut self, picked: &Picked, host: usize) {
        let is_open = |cell: &&Cell| cell.host == host && picked.fwds[cell.fwd].skew == 0.0;
        let Some(cell) = picked.cells.iter().find(is_open) else { return };
        let message = format!(
            "rd={}: the shares of the others add up to 100, and leave nothing for fwd={}",
            picked.rd.head.name, picked.fwds[cell.fwd].head.name
        );
        let help = "write `skew=` for it too, or leave it out of the run";
        self.findings.error_help(picked.rd.head.place, "wrong-skew", message, help);
    }
}

/// Returns the threads of one entry: at least one, so that they may come to more than asked for.
fn threads_of(cell: &Cell, asked: i64, rd: &RdEntry) -> i64 {
    let n_operations = rd.operations.len().max(1) as i64;
    (asked / n_operations / cell.n_fsds as i64 / cell.n_hosts as i64).max(1)
}

/// Returns what a workload does: with `rdpct=` Vdbench reads and writes, whatever `operation=` is.
fn mixed(operation: FileOperation, rdpct: Option<f64>) -> FileOperation {
    match operation.kind().class() {
        OpClass::File if rdpct.is_some() => FileOperation::Read,
        OpClass::File | OpClass::Bytes(_) | OpClass::Sync(_) => operation,
    }
}

/// Reads the sizes of files.
fn file_sizes(sizes: &[f64]) -> FileSizes {
    match sizes {
        [] => FileSizes::Fixed(4096),
        [size] => FileSizes::Fixed(size.max(0.0) as u64),
        [size, pct] if *pct == 0.0 => FileSizes::Average(size.max(0.0) as u64),
        pairs => FileSizes::Split(
            pairs.chunks_exact(2).map(|pair| (pair[0].max(0.0) as u64, pair[1].max(0.0))).collect(),
        ),
    }
}

/// Returns why a structure cannot be.
fn structure_mistake(fsd: &Fsd) -> Option<String> {
    let (depth, width) = (f64::from(fsd.depth), f64::from(fsd.width));
    let n_bottom = width.powf(depth);
    let n_folders = if fsd.width == 1 { depth } else { (width * (n_bottom - 1.0)) / (width - 1.0) };
    let n_files = fsd.files as f64 * if fsd.bottom_only { n_bottom } else { n_folders };
    if n_files > FILES_MAX {
        return Some(format!("too many files: {n_files:.0}, at most {FILES_MAX:.0}"));
    }
    let mean = match &fsd.sizes {
        FileSizes::Fixed(size) | FileSizes::Average(size) => *size as f64,
        FileSizes::Split(pairs) => {
            pairs.iter().map(|(size, pct)| *size as f64 * pct).sum::<f64>() / 100.0
        }
    };
    let all = n_files * mean;
    let (total, working_set) = (fsd.total_bytes as f64, fsd.working_set_bytes as f64);
    let (asked, bytes, limit) = if total > all {
        ("totalsize", total, format!("total anchor size of {}", short_size(all)))
    } else if working_set > all {
        ("workingset", working_set, format!("total anchor size of {}", short_size(all)))
    } else if total > 0.0 && working_set > total {
        ("workingset", working_set, format!("totalsize={}", short_size(total)))
    } else {
        return None;
    };
    let bytes = short_size(bytes);
    Some(format!("the requested {asked}={bytes} is greater than the estimated {limit}"))
}
