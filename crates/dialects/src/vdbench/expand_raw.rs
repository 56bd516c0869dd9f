//! Runs on storage definitions.

use super::announce::raw_text;
use super::findings::Place;
use super::input::{Input, fits};
use super::loops::{LoopKind, Point, n_points, points};
use super::rd::{CURVE_PCTS, NO_ELAPSED_S, RdEntry};
use super::run::{
    Contents, OpenFlags, Rate, RawWork, Run, Sd, Seek, Wd, Work, Xfersize, curve_rate_iops, joined,
};
use super::sd::span;
use super::values::{CURVE_RATE, MAX_RATE, NS_PER_S};
use super::wd::{WdEntry, seek_of};

/// The maximum that a simulation takes for a curve.
const SIMULATED_MAX_IOPS: f64 = 10_000.0;

/// How far shares may be off 100 percent.
const SKEW_SLACK_PCT: f64 = 0.0001;

/// Nanoseconds of a millisecond.
const NS_PER_MS: f64 = 1e6;

/// A run definition with its workloads, before loops.
pub(super) struct Picked {
    pub(super) rd: RdEntry,
    /// In order of definition, once for each host.
    pub(super) sds: Vec<Sd>,
    /// Threads of the storage definition, and which of its hosts this is, of how many.
    pub(super) threads: Vec<(i64, usize, usize)>,
    pub(super) wds: Vec<PickedWd>,
    is_controlled: bool,
    all_bytes: u64,
}

/// A workload of a run definition.
pub(super) struct PickedWd {
    pub(super) entry: WdEntry,
    /// Positions in `Picked::sds`.
    pub(super) sds: Vec<usize>,
    skew_pct: f64,
}

impl Input<'_> {
    /// Returns all runs of one run definition.
    pub(super) fn raw_runs(&mut self, rd: &RdEntry, runs: &mut Vec<Run>) {
        let Some(picked) = self.pick(rd) else { return };
        self.check_raw(&picked);
        if self.findings.n_errors > 0 {
            return;
        }
        let n_each = (picked.sds.len() + picked.wds.iter().map(|wd| wd.sds.len()).sum::<usize>())
            .saturating_mul(rd.n_per_point());
        if !self.has_room(rd.place, n_points(&rd.loops), n_each) {
            return;
        }
        for mut point in points(&rd.loops, false) {
            self.raw_run(&picked, &mut point, runs);
        }
    }

    fn pick(&mut self, rd: &RdEntry) -> Option<Picked> {
        let mut entries = self.wds_of(rd)?;
        if let Some(sds) = &rd.sds {
            for entry in &mut entries {
                entry.sds.clone_from(sds);
                entry.sds_place = rd.place;
            }
        }
        let mut uses: Vec<Vec<(usize, usize)>> = Vec::new();
        for entry in &entries {
            uses.push(self.sds_of(rd, entry)?);
        }
        let mut keys: Vec<(usize, usize)> = uses.iter().flatten().copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let wds = entries
            .into_iter()
            .zip(&uses)
            .map(|(entry, uses)| {
                let position = |key: &(usize, usize)| keys.binary_search(key).ok();
                let mut sds: Vec<usize> = uses.iter().filter_map(position).collect();
                sds.sort_unstable();
                sds.dedup();
                PickedWd { entry, sds, skew_pct: 0.0 }
            })
            .collect();
        let (sds, threads) = self.sds_at(&keys);
        let all_bytes = sds.iter().filter_map(|sd| sd.size_bytes).sum();
        let is_controlled = false;
        let mut picked = Picked { rd: rd.clone(), sds, threads, wds, is_controlled, all_bytes };
        self.share(&mut picked);
        Some(picked)
    }

    fn lun_of(&self, (sd, host): (usize, usize)) -> Option<&str> {
        let luns = &self.sds[sd].luns;
        luns.iter().find(|(idx, _)| *idx == host).map(|(_, lun)| lun.as_str())
    }

    /// Returns storage definitions at hosts, with what is needed to spread threads over them.
    fn sds_at(&self, keys: &[(usize, usize)]) -> (Vec<Sd>, Vec<(i64, usize, usize)>) {
        let mut threads = Vec::new();
        let sds = keys.iter().enumerate().map(|(idx, (sd, host))| {
            let entry = &self.sds[*sd];
            let first = keys.partition_point(|key| key.0 < *sd);
            let behind = keys.partition_point(|key| key.0 <= *sd);
            let lun = self.lun_of((*sd, *host)).unwrap_or_default();
            let host = &self.hosts[*host];
            threads.push((entry.threads, idx - first, behind - first));
            Sd { is_shared: host.has_jvms, ..entry.on_host(&host.host, lun) }
        });
        let sds = sds.collect();
        (sds, threads)
    }

    /// Returns the workload definitions of a run definition.
    fn wds_of(&mut self, rd: &RdEntry) -> Option<Vec<WdEntry>> {
        if rd.wds.is_empty() {
            if rd.sds.is_none() {
                self.findings.error_help(
                    rd.place,
                    "missing-wd",
                    format!("no 'wd=' parameter specified for rd={}", rd.name),
                    "write `wd=` or `sd=`",
                );
                return None;
            }
            return Some(vec![self.wd_default.renamed(&rd.name)]);
        }
        let mut found: Vec<WdEntry> = Vec::new();
        for name in &rd.wds {
            let before = found.len();
            found.extend(self.wds.iter().filter(|wd| fits(name, &wd.name)).cloned());
            if found.len() == before {
                self.unknown_wd(rd, name);
                self.check_sd_names();
                return None;
            }
        }
        if found[0].streams > 0 && found.len() > 1 {
            let message =
                format!("rd={}: only one workload definition allowed with streams", rd.name);
            let help = "name one workload definition in `wd=`";
            self.findings.error_help(rd.wds_place, "streams", message, help);
        }
        self.check_priorities(rd, &found);
        Some(found)
    }

    /// Looks for the storage definitions of all workloads, where a run definition names none of
    /// them: all mistakes are told at once.
    pub(super) fn check_sd_names(&mut self) {
        for wd in self.wds.clone() {
            for name in &wd.sds {
                if !self.sds.iter().any(|sd| fits(name, &sd.name)) {
                    self.unknown_sd(&wd, name, 0);
                }
            }
        }
    }

    pub(super) fn unknown_wd(&mut self, rd: &RdEntry, name: &str) {
        let message = format!("could not find WD={name} for RD={}", rd.name);
        let help = "define it with `wd=`, before the run definitions";
        self.findings.error_help(rd.wds_place, "unknown-name", message, help);
    }

    fn unknown_sd(&mut self, wd: &WdEntry, name: &str, host: usize) {
        if self.is_new("unknown sd", &format!("{name} of {}", wd.name)) {
            let host = self.hosts.get(host).map_or("", |entry| entry.host.label.as_str());
            let message = format!("could not find sd={name} for wd={},host={host}", wd.name);
            let help = "define it with `sd=`, before the workload definitions";
            self.findings.error_help(wd.sds_place, "unknown-name", message, help);
        }
    }

    /// Returns which storage definitions a workload uses on which hosts.
    fn sds_of(&mut self, rd: &RdEntry, wd: &WdEntry) -> Option<Vec<(usize, usize)>> {
        if wd.sds.is_empty() {
            let message = format!("no sd= for wd={} of rd={}", wd.name, rd.name);
            let help = "write `sd=` into the workload or the run definition";
            self.findings.error_help(rd.place, "missing-sd", message, help);
            return None;
        }
        let hosts = self.hosts_of(rd, wd)?;
        // Sequential work on one storage definition stays on one host.
        let is_single = wd.streams == 0
            && (self.settings.validate
                || self.flags.is_replay
                || matches!(wd.seek, Seek::Seq | Seek::SeqNz | Seek::Eof));
        let mut uses: Vec<(usize, usize)> = Vec::new();
        let mut is_used = vec![false; self.sds.len()];
        for host in hosts {
            let mut is_seen = vec![false; self.sds.len()];
            for name in &wd.sds {
                let mut is_found = false;
                for (idx, sd) in self.sds.iter().enumerate() {
                    if !fits(name, &sd.name) {
                        continue;
                    }
                    is_found = true;
                    if sd.luns.iter().all(|(other, _)| *other != host) {
                        continue;
                    }
                    if std::mem::replace(&mut is_seen[idx], true) {
                        let message =
                            format!("SD={} is requested more than once in wd={}", sd.name, wd.name);
                        self.findings.error(wd.sds_place, "duplicate-name", message);
                        return None;
                    }
                    if !(std::mem::replace(&mut is_used[idx], true) && is_single) {
                        uses.push((idx, host));
                    }
                }
                if !is_found {
                    self.unknown_sd(wd, name, host);
                    return None;
                }
            }
        }
        if uses.is_empty() {
            let message =
                format!("rd={},wd={} not used: none of its hosts has its sd", rd.name, wd.name);
            self.findings.error(wd.sds_place, "unused-wd", message);
            return None;
        }
        Some(uses)
    }

    fn hosts_of(&mut self, rd: &RdEntry, wd: &WdEntry) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for name in &wd.hosts {
            let before = found.len();
            let hosts = self.hosts.iter().enumerate();
            found.extend(hosts.filter(|(_, h)| fits(name, &h.host.label)).map(|(idx, _)| idx));
            if found.len() == before {
                let place = if wd.place == Place::NONE { rd.place } else { wd.place };
                let message = format!("could not find host={name} for wd={}", wd.name);
                let help = "define it with `hd=`, before the storage definitions";
                self.findings.error_help(place, "unknown-name", message, help);
                return None;
            }
        }
        Some(found)
    }

    /// Spreads what is left of 100 percent over workloads without a share.
    fn share(&mut self, picked: &mut Picked) {
        let free = |wd: &PickedWd| wd.entry.iorate == 0.0;
        let asked: f64 = picked.wds.iter().filter(|wd| free(wd)).map(|wd| wd.entry.skew).sum();
        let n_open = picked.wds.iter().filter(|wd| free(wd) && wd.entry.skew == 0.0).count();
        let mut total = asked;
        for wd in picked.wds.iter_mut().filter(|wd| wd.entry.iorate == 0.0) {
            wd.skew_pct = wd.entry.skew;
            if wd.entry.skew == 0.0 {
                wd.skew_pct = (100.0 - asked) / n_open as f64;
                total += wd.skew_pct;
            }
        }
        let has_free = picked.wds.iter().any(free);
        if has_free && (total - 100.0).abs() > SKEW_SLACK_PCT {
            self.findings.error_help(
                picked.rd.place,
                "wrong-skew",
                format!("rd={}: total skew must add up to 100: {total:.2}", picked.rd.name),
                "change the `skew=` of its workloads; one without gets what is left",
            );
        }
        picked.is_controlled = self.flags.is_replay
            || picked.wds.iter().any(|wd| {
                wd.entry.skew != 0.0
                    || wd.entry.iorate != 0.0
                    || wd.entry.priority.is_some()
                    || wd.entry.has_user
            });
    }

    /// Makes the run of one point, and those of its curve.
    fn raw_run(&mut self, picked: &Picked, point: &mut Point, runs: &mut Vec<Run>) {
        let rd = &picked.rd;
        let written = point.get(LoopKind::Rate).unwrap_or(rd.iorate);
        let rate = match written {
            MAX_RATE => Rate::Max,
            CURVE_RATE => Rate::CurveMax,
            other => Rate::Iops(other.max(0.0)),
        };
        let run = self.one_run(picked, point, (rd.name.clone(), rate, written, rd.iorate));
        if rd.iorate != CURVE_RATE {
            runs.push(run);
            return;
        }
        let first = runs.len();
        runs.push(run);
        for pct in rd.curve_pcts.as_deref().unwrap_or(&CURVE_PCTS) {
            let iops = curve_rate_iops(SIMULATED_MAX_IOPS, pct.trunc()) as f64;
            let mut run = runs[first].clone();
            run.name = format!("{}_({}%)", rd.name, *pct as i32);
            run.announced = raw_text(&run.name, iops, true, rd, &run.loops);
            run.simulated.clone_from(&run.announced);
            run.rate = Rate::CurvePoint {
                pct: pct.trunc(),
                stop_above_ns: rd.stopcurve_ms.map(|ms| (ms * NS_PER_MS) as u64),
            };
            run.controlled = true;
            runs.push(run);
        }
    }

    fn one_run(
        &self,
        picked: &Picked,
        point: &mut Point,
        (name, rate, written, listed): (String, Rate, f64, f64),
    ) -> Run {
        let rd = &picked.rd;
        let control = |rate: f64| picked.is_controlled || (rate != MAX_RATE && rate != CURVE_RATE);
        let announced = raw_text(&name, written, control(written), rd, &point.shown);
        let simulated = if written.to_bits() == listed.to_bits() {
            announced.clone()
        } else {
            raw_text(&name, listed, control(listed), rd, &point.shown)
        };
        let work = Work::Raw(RawWork {
            sds: run_sds(picked, point),
            wds: picked.wds.iter().map(|wd| self.run_wd(wd, point)).collect(),
        });
        // Nobody else shows them: moved, which counts where there are 100,000 runs.
        let loops = std::mem::take(&mut point.shown);
        let mut run = self.bare_run(rd, point, work);
        run.loops = loops;
        run.name = name;
        run.announced = announced;
        run.simulated = simulated;
        run.rate = rate;
        run.controlled = control(written);
        run.maxdata = rd.max_data(picked.all_bytes);
        run
    }

    /// Returns a run with what all kinds of work share.
    pub(super) fn bare_run(&self, rd: &RdEntry, point: &Point, work: Work) -> Run {
        let ns = |seconds: i64| (seconds.max(0) as u64).saturating_mul(NS_PER_S);
        let settings = &self.settings;
        let compratio = point.get(LoopKind::Compratio).unwrap_or(settings.contents.compratio);
        Run {
            name: rd.name.clone(),
            rd: rd.rd.clone(),
            announced: String::new(),
            simulated: String::new(),
            loops: point.shown.clone(),
            rate: Rate::Max,
            controlled: false,
            elapsed_ns: (rd.elapsed_s != NO_ELAPSED_S).then(|| ns(rd.elapsed_s)),
            warmup_ns: ns(rd.warmup_s),
            interval_ns: ns(rd.interval_s).max(NS_PER_S),
            pause_ns: ns(rd.pause_s),
            maxdata: rd.max_data(0),
            arrivals: rd.arrivals,
            rate_periods: rd.rate_periods(),
            commands: rd.commands.clone(),
            contents: Contents { compratio, ..settings.contents.clone() },
            data_errors: settings.data_errors,
            work,
        }
    }

    fn run_wd(&self, wd: &PickedWd, point: &Point) -> Wd {
        let entry = &wd.entry;
        let xfersize = match point.get(LoopKind::Xfersize) {
            Some(size) => Xfersize::Fixed(size as u32),
            None => xfersize(&entry.xfersizes),
        };
        let stride = entry.stride.map(|(min, max)| (min.max(0) as u64, max.max(0) as u64));
        Wd {
            name: entry.name.clone(),
            sds: wd.sds.clone(),
            rdpct: point.get(LoopKind::Rdpct).unwrap_or(entry.rdpct).clamp(0.0, 100.0),
            xfersize,
            seek: point.get(LoopKind::Seekpct).map_or(entry.seek, seek_of),
            rhpct: point.get(LoopKind::Rhpct).unwrap_or(entry.rhpct),
            whpct: point.get(LoopKind::Whpct).unwrap_or(entry.whpct),
            range: entry.range.filter(|_| !entry.is_hotband).map(span),
            hotband_pct: entry.range.filter(|_| entry.is_hotband),
            stride_bytes: stride,
            skew_pct: wd.skew_pct,
            iorate_iops: (entry.iorate != 0.0).then_some(entry.iorate),
            priority: entry.priority.map(|priority| priority.max(1) as u32),
            streams: (entry.streams > 0).then_some(entry.streams as u32),
            threads: (entry.threads > 0).then_some(entry.threads as u32),
            concatenate: self.settings.concatenate_sds,
        }
    }
}

impl Picked {
    /// Returns how each workload that uses a storage definition wants it opened.
    pub(super) fn open_flags(&self, sd_idx: usize) -> impl Iterator<Item = (&PickedWd, OpenFlags)> {
        let users = self.wds.iter().filter(move |wd| wd.sds.contains(&sd_idx));
        users.map(move |wd| (wd, wd.entry.open.unwrap_or(self.sds[sd_idx].open)))
    }
}

/// Returns the storage definitions of a run, with their part of the threads.
fn run_sds(picked: &Picked, point: &Point) -> Vec<Sd> {
    let has_own = picked.wds.iter().any(|wd| wd.entry.open.is_some());
    let sds = picked.sds.iter().zip(&picked.threads).enumerate();
    let sds = sds.map(|(sd_idx, (sd, (threads, idx, n_hosts)))| {
        let asked = point.get(LoopKind::Threads).map_or(*threads, |threads| threads as i64).max(1);
        let (each, rest) = (asked / *n_hosts as i64, asked % *n_hosts as i64);
        let threads = each + i64::from((*idx as i64) < rest);
        let mut sd = sd.clone();
        sd.threads = threads.clamp(0, i64::from(u32::MAX)) as u32;
        if let Some(hitarea) = point.get(LoopKind::Hitarea) {
            sd.hitarea_bytes = hitarea.max(0.0) as u64;
        }
        sd.open = match picked.rd.open {
            Some(open) => open,
            None if has_own => {
                let flags = picked.open_flags(sd_idx).map(|(_, flags)| flags);
                flags.reduce(joined).unwrap_or(sd.open)
            }
            None => sd.open,
        };
        sd
    });
    sds.collect()
}

/// Reads transfer sizes: one, a distribution, or a range with its alignment.
pub(super) fn xfersize(sizes: &[f64]) -> Xfersize {
    match sizes {
        [min, max, align] => {
            Xfersize::Range { min: *min as u32, max: *max as u32, align: *align as u32 }
        }
        [] => Xfersize::Fixed(4096),
        // Of a single pair nothing is left to choose.
        [size] | [size, _] => Xfersize::Fixed(*size as u32),
        pairs => {
            Xfersize::Split(pairs.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1])).collect())
        }
    }
}
