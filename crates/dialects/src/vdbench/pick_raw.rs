//! Which storage definitions and workloads a run definition has.

use super::expansion::{Expansion, SKEW_SLACK_PCT};
use super::findings::SourceRange;
use super::known::fits;
use super::rd::RdEntry;
use super::run::{OpenFlags, Sd, Seek};
use super::section::Definition as _;
use super::wd::WdEntry;

/// A run definition with its workloads, before loops.
pub(super) struct Picked {
    pub(super) rd: RdEntry,
    /// In order of definition, once for each host.
    pub(super) sds: Vec<Sd>,
    /// Threads of the storage definition, and which of its hosts this is, of how many.
    pub(super) threads: Vec<(i64, usize, usize)>,
    pub(super) wds: Vec<PickedWd>,
    pub(super) is_controlled: bool,
    pub(super) all_bytes: u64,
}

/// A workload of a run definition.
pub(super) struct PickedWd {
    pub(super) entry: WdEntry,
    /// Positions in `Picked::sds`.
    pub(super) sds: Vec<usize>,
    pub(super) skew_pct: f64,
}

impl Expansion<'_> {
    /// Finds what a run definition names, and spreads the shares.
    pub(super) fn pick(&mut self, rd: &RdEntry) -> Option<Picked> {
        let mut entries = self.wds_of(rd)?;
        if let Some(sds) = &rd.sds {
            for entry in &mut entries {
                entry.sds.clone_from(sds);
                entry.sds_place = rd.head.place;
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
        let luns = &self.sections.sds[sd].luns;
        luns.iter().find(|(idx, _)| *idx == host).map(|(_, lun)| lun.as_str())
    }

    /// Returns storage definitions at hosts, with what is needed to spread threads over them.
    fn sds_at(&self, keys: &[(usize, usize)]) -> (Vec<Sd>, Vec<(i64, usize, usize)>) {
        let mut threads = Vec::new();
        let sds = keys.iter().enumerate().map(|(idx, (sd, host))| {
            let entry = &self.sections.sds[*sd];
            let first = keys.partition_point(|key| key.0 < *sd);
            let behind = keys.partition_point(|key| key.0 <= *sd);
            let lun = self.lun_of((*sd, *host));
            let lun = lun.expect("a storage definition is used only on hosts that have it");
            let host = &self.known().hosts[*host];
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
                let message = format!("no 'wd=' parameter specified for rd={}", rd.head.name);
                let help = "write `wd=` or `sd=`";
                self.findings.error_help(rd.head.place, "missing-wd", message, help);
                return None;
            }
            return Some(vec![self.sections.wds.default.renamed(&rd.head.name)]);
        }
        let mut found: Vec<WdEntry> = Vec::new();
        for name in &rd.wds {
            let before = found.len();
            found.extend(
                self.sections.wds.all.iter().filter(|wd| fits(name, &wd.head.name)).cloned(),
            );
            if found.len() == before {
                self.unknown_wd(rd, name);
                self.check_sd_names();
                return None;
            }
        }
        if found[0].streams > 0 && found.len() > 1 {
            let message =
                format!("rd={}: only one workload definition allowed with streams", rd.head.name);
            let help = "name one workload definition in `wd=`";
            self.findings.error_help(rd.wds_place, "streams", message, help);
        }
        self.check_priorities(rd, &found);
        Some(found)
    }

    fn check_priorities(&mut self, rd: &RdEntry, wds: &[WdEntry]) {
        let mut priorities: Vec<i64> = wds.iter().filter_map(|wd| wd.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let has_any = !priorities.is_empty() || wds.iter().any(|wd| wd.iorate != 0.0);
        let lowest_free =
            wds.iter().filter(|wd| wd.iorate == 0.0).filter_map(|wd| wd.priority).min();
        let is_late = |wd: &&WdEntry| {
            wd.iorate != 0.0 && lowest_free.is_some_and(|free| wd.priority >= Some(free))
        };
        let message = if wds.iter().any(|wd| wd.iorate != 0.0 && wd.priority.is_none()) {
            "a workload with iorate= also must have priority= specified"
        } else if has_any && priorities.len() != wds.len() {
            "when one workload has a priority= or iorate=, all need a different priority="
        } else if wds.iter().find(is_late).is_some() {
            "workloads with iorate= need a higher priority than those without"
        } else {
            return;
        };
        let message = format!("rd={}: {message}", rd.head.name);
        let help = "priorities are 1, 2, 3 and so on; 1 is the highest";
        self.findings.error_help(rd.head.place, "wrong-priority", message, help);
    }

    /// Looks for the storage definitions of all workloads, where a run definition names none of
    /// them: all mistakes are reported at once.
    pub(super) fn check_sd_names(&mut self) {
        for wd in self.sections.wds.all.clone() {
            for name in &wd.sds {
                if !self.sections.sds.iter().any(|sd| fits(name, &sd.head.name)) {
                    self.unknown_sd(&wd, name, 0);
                }
            }
        }
    }

    pub(super) fn unknown_wd(&mut self, rd: &RdEntry, name: &str) {
        let message = format!("could not find WD={name} for RD={}", rd.head.name);
        let help = "define it with `wd=`, before the run definitions";
        self.findings.error_help(rd.wds_place, "unknown-name", message, help);
    }

    fn unknown_sd(&mut self, wd: &WdEntry, name: &str, host: usize) {
        if self.is_first_report(format!("unknown sd {name} of {}", wd.head.name)) {
            let host = self.known().hosts.get(host).map_or("", |entry| entry.host.label.as_str());
            let message = format!("could not find sd={name} for wd={},host={host}", wd.head.name);
            let help = "define it with `sd=`, before the workload definitions";
            self.findings.error_help(wd.sds_place, "unknown-name", message, help);
        }
    }

    /// Returns which storage definitions a workload uses on which hosts.
    fn sds_of(&mut self, rd: &RdEntry, wd: &WdEntry) -> Option<Vec<(usize, usize)>> {
        if wd.sds.is_empty() {
            let message = format!("no sd= for wd={} of rd={}", wd.head.name, rd.head.name);
            let help = "write `sd=` into the workload or the run definition";
            self.findings.error_help(rd.head.place, "missing-sd", message, help);
            return None;
        }
        let hosts = self.hosts_of(rd, wd)?;
        // Sequential work on one storage definition stays on one host.
        let is_single = wd.streams == 0
            && (self.settings().validate
                || self.known().is_replay
                || matches!(wd.seek, Seek::Seq | Seek::SeqNz | Seek::Eof));
        let mut uses: Vec<(usize, usize)> = Vec::new();
        let mut is_used = vec![false; self.sections.sds.len()];
        for host in hosts {
            let mut is_seen = vec![false; self.sections.sds.len()];
            for name in &wd.sds {
                let mut is_found = false;
                for (idx, sd) in self.sections.sds.iter().enumerate() {
                    if !fits(name, &sd.head.name) {
                        continue;
                    }
                    is_found = true;
                    if sd.luns.iter().all(|(other, _)| *other != host) {
                        continue;
                    }
                    if std::mem::replace(&mut is_seen[idx], true) {
                        let message = format!(
                            "SD={} is requested more than once in wd={}",
                            sd.head.name, wd.head.name
                        );
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
            let message = format!(
                "rd={},wd={} not used: none of its hosts has its sd",
                rd.head.name, wd.head.name
            );
            self.findings.error(wd.sds_place, "unused-wd", message);
            return None;
        }
        Some(uses)
    }

    fn hosts_of(&mut self, rd: &RdEntry, wd: &WdEntry) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for name in &wd.hosts {
            let before = found.len();
            let hosts = self.known().hosts.iter().enumerate();
            found.extend(hosts.filter(|(_, h)| fits(name, &h.host.label)).map(|(idx, _)| idx));
            if found.len() == before {
                let place =
                    if wd.head.place == SourceRange::NONE { rd.head.place } else { wd.head.place };
                let message = format!("could not find host={name} for wd={}", wd.head.name);
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
            let message =
                format!("rd={}: total skew must add up to 100: {total:.2}", picked.rd.head.name);
            let help = "change the `skew=` of its workloads; one without gets what is left";
            self.findings.error_help(picked.rd.head.place, "wrong-skew", message, help);
        }
        picked.is_controlled = self.known().is_replay
            || picked.wds.iter().any(|wd| {
                wd.entry.skew != 0.0
                    || wd.entry.iorate != 0.0
                    || wd.entry.priority.is_some()
                    || wd.entry.has_user
            });
    }
}

impl Picked {
    /// Returns how each workload that uses a storage definition wants it opened.
    pub(super) fn open_flags(&self, sd_idx: usize) -> impl Iterator<Item = (&PickedWd, OpenFlags)> {
        let users = self.wds.iter().filter(move |wd| wd.sds.contains(&sd_idx));
        users.map(move |wd| (wd, wd.entry.open.unwrap_or(self.sds[sd_idx].open)))
    }
}
