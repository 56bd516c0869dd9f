//! What must hold of runs on storage definitions.

use std::fmt::Write as _;

use super::expansion::Expansion;
use super::head::Head;
use super::loops::{Loop, LoopKind};
use super::pick_raw::{Picked, PickedWd};
use super::rd::{CURVE_PCTS, RdEntry};
use super::run::{Sd, Xfersize};
use super::values::{CURVE_RATE, MAX_RATE, NS_PER_S};

impl Expansion<'_> {
    /// Checks what holds for all runs of a run definition.
    pub(super) fn check_raw(&mut self, picked: &Picked) {
        let rd = &picked.rd;
        // Below 0 it is a share of an earlier run's rate, of which there is none.
        if rd.iorate <= 0.0 && !rd.is_variable && !self.known().is_replay {
            let mut message = format!("rd={}: iorate= parameter is missing", rd.head.name);
            if rd.has_iorate() {
                let _ = write!(message, ", as Vdbench says: `{}` is not a rate above 0", rd.iorate);
            }
            let help = "write `iorate=max`, `iorate=curve` or I/Os per second";
            self.findings.error_help(rd.head.place, "missing-rate", message, help);
        }
        if self.is_kind() && rd.is_variable {
            self.check_periods(rd);
        }
        match rd.loop_of(LoopKind::Xfersize) {
            Some(sizes) => {
                let bad = sizes.values.iter().find(|size| **size as i32 % 512 != 0);
                if let Some(size) = bad {
                    let message = format!(
                        "data transfer size not multiple of 512 bytes: {:?}",
                        f64::from(*size as i32)
                    );
                    let help = "in a run definition a list is several sizes, one run each: \
                                write a distribution into the workload definition";
                    self.findings.error_help(sizes.place, "wrong-xfersize", message, help);
                }
            }
            None => self.check_alignment(picked),
        }
        self.check_streams(picked);
        self.warn_of_open_flags(picked);
        let most = rd.largest_of(LoopKind::Threads).map(|threads| threads as i64);
        // Each storage definition counts once, at the first of its hosts.
        let asked = picked.threads.iter().filter(|(_, host_idx, _)| *host_idx == 0);
        self.check_threads(rd, asked.map(|(threads, _, _)| most.unwrap_or(*threads)));
        if self.is_kind() {
            self.check_ranges(picked);
            self.check_sizes(picked);
            self.check_hit_areas(picked);
            self.warn_of_own_rates(picked);
        }
        let lacks_threads =
            self.settings().concatenate_sds && rd.loop_of(LoopKind::Threads).is_none();
        if let Some(wd) = self.sections.wds.all.iter().find(|wd| lacks_threads && wd.threads == 0) {
            let message = format!(
                "wd={}: for SD concatenation each workload needs threads=, unless the run \
                 definition has it",
                wd.head.name
            );
            self.findings.error(wd.head.place, "missing-threads", message);
        }
        if rd.loop_of(LoopKind::Compratio).is_some() && self.settings().validate {
            let message = "the 'forcompratio=' parameter may not be used during data validation";
            self.findings.error(rd.head.place, "exclusive-parameters", message);
        }
        let is_relative = |looped: &Loop| looped.values.iter().any(|rate| *rate <= 0.0);
        if rd.loop_of(LoopKind::Rate).is_some_and(is_relative) {
            let message = "shares of an earlier run's rate, and rates of 0, do not run";
            self.findings.refuse(rd.head.place, "no-relative-rate", message);
        }
        let pcts = rd.curve_pcts.as_deref().unwrap_or(&CURVE_PCTS);
        if rd.iorate == CURVE_RATE && pcts.iter().any(|pct| *pct < 1.0) {
            let message = format!("rd={}: percentages of curve= must be at least 1", rd.head.name);
            self.findings.error(rd.head.place, "wrong-curve", message);
        }
    }

    /// Rates of workloads hold as far as the run's goes.
    fn warn_of_own_rates(&mut self, picked: &Picked) {
        let rd = &picked.rd;
        let own: f64 = picked.wds.iter().map(|wd| wd.entry.iorate).sum();
        let looped = rd.loop_of(LoopKind::Rate);
        let rates = looped.map_or(std::slice::from_ref(&rd.iorate), |looped| &looped.values);
        let is_below = |rate: &&f64| **rate > 0.0 && **rate < own && **rate != CURVE_RATE;
        let Some(rate) = rates.iter().filter(is_below).copied().reduce(f64::min) else { return };
        let message = format!(
            "rd={}: iorate={rate}, but the `iorate=` of its workloads come to {own}: those with \
             the highest priority get theirs, up to the run's rate, and nothing is left for others",
            rd.head.name
        );
        let help = "raise the rate of the run, or lower the `iorate=` of the workloads";
        self.findings.warning(rd.head.place, "rates-above-run", message, help);
    }

    /// The periods of a variable rate: Vdbench finds most of it when the run begins, or cuts off.
    fn check_periods(&mut self, rd: &RdEntry) {
        let mut seconds = rd.rates.iter().skip(1).step_by(2);
        let periods = rd.rate_periods().unwrap_or_default();
        let cycle_s = periods.cycle_ns() / NS_PER_S;
        let message = if seconds.any(|it| *it == 0.0 || (*it > 0.0 && it.fract() != 0.0)) {
            "rates hold for whole seconds, 1 or more".to_owned()
        } else if periods.periods.iter().any(|period| period.duration_ns == 0) {
            "a share of the elapsed time comes to less than a second".to_owned()
        } else if periods.rate_max() <= 0.0 {
            "there is no rate above 0".to_owned()
        } else if cycle_s > rd.elapsed_s.max(0) as u64 {
            format!("its rates last {cycle_s} s, and the run itself {} s", rd.elapsed_s)
        } else {
            return;
        };
        let message = format!("rd={}: {message}", rd.head.name);
        let help = "write rates and seconds in turn: `iorate=(100,5,500,1)`";
        self.findings.error_help(rd.head.place, "wrong-rates", message, help);
    }

    /// Transfer sizes between two need the same alignment at their storage definitions. The kind
    /// mode does what is plainly meant.
    fn check_alignment(&mut self, picked: &Picked) {
        for wd in &picked.wds {
            let [_, _, align] = wd.entry.xfersizes.as_slice() else { continue };
            let mut sds = wd.sds.iter().map(|idx| &picked.sds[*idx]);
            let Some(sd) = sds.find(|sd| sd.align_bytes != *align as u64) else { continue };
            let (Head { name, place, .. }, sd) = (&wd.entry.head, &sd.name);
            let help = format!("write `align={align}` into the storage definition");
            if !self.is_kind() {
                let message = format!(
                    "sd={sd}: align= must be that of 'xfersize=(min,max,align)' of wd={name}: \
                     {align}"
                );
                self.findings.error_help(*place, "wrong-alignment", message, help);
            } else if self.is_first_report(format!("alignment {name} {sd}")) {
                let message = format!(
                    "Vdbench wants align={align} at sd={sd} for 'xfersize=(min,max,align)' of \
                     wd={name}; places are multiples of it all the same"
                );
                self.findings.warning(*place, "missing-alignment", message, help);
            }
        }
    }

    /// A storage definition is opened once for all workloads of a run.
    fn warn_of_open_flags(&mut self, picked: &Picked) {
        let has_own = picked.wds.iter().any(|wd| wd.entry.open.is_some());
        if picked.rd.open.is_some() || !has_own {
            return;
        }
        for (idx, sd) in picked.sds.iter().enumerate() {
            let mut users = picked.open_flags(idx);
            let Some((first, flags)) = users.next() else { continue };
            let Some((other, _)) = users.find(|(_, theirs)| *theirs != flags) else { continue };
            let (one, two) = (&first.entry.head.name, &other.entry.head.name);
            let message = format!(
                "wd={one} and wd={two} want sd={} opened in two ways: it is opened once, with the \
                 openflags of both",
                sd.name
            );
            if self.is_first_report(format!("openflags {one} {two} {}", sd.name)) {
                let help = "write the same openflags= into all workload definitions that use it";
                self.findings.warning(other.entry.head.place, "mixed-openflags", message, help);
            }
        }
    }

    fn check_streams(&mut self, picked: &Picked) {
        let Some(streams) = picked.wds.first().map(|wd| wd.entry.streams) else { return };
        let looped = picked.rd.loop_of(LoopKind::Threads);
        let fewest = match looped {
            Some(looped) => looped.values.iter().map(|threads| *threads as i64).min(),
            None => picked.threads.iter().map(|(threads, _, _)| *threads).min(),
        };
        let rates = picked.rd.loop_of(LoopKind::Rate).map_or(&[][..], |looped| &looped.values);
        let is_limited = rates.iter().chain([&picked.rd.iorate]).any(|rate| *rate != MAX_RATE);
        if streams > 0 && is_limited {
            self.report_stream_rate(&picked.rd);
        }
        if streams > 0 && fewest.is_some_and(|fewest| fewest.max(1) < streams) {
            let message =
                format!("rd={}: fewer threads than streams={streams}", picked.rd.head.name);
            let help = "write a `threads=` that is a multiple of `streams=`";
            self.findings.error_help(picked.rd.head.place, "streams", message, help);
        }
    }

    /// Vdbench finds it when the run begins.
    fn report_stream_rate(&mut self, rd: &RdEntry) {
        let Head { name, place, .. } = &rd.head;
        let message = format!("rd={name}: streams= runs with iorate=max alone");
        if self.is_kind() {
            let message = format!("{message} in Vdbench, which would end here");
            let help = "here each stream gets its part of the rate";
            self.findings.warning(*place, "streams-with-rate", message, help);
        } else {
            self.findings.refuse(*place, "streams-with-rate", message);
        }
    }

    /// One I/O must fit into each storage definition whose size is written.
    fn check_sizes(&mut self, picked: &Picked) {
        for wd in &picked.wds {
            let looped = picked.rd.largest_of(LoopKind::Xfersize);
            let largest = looped.unwrap_or_else(|| largest_bytes(&wd.entry.xfersize()) as f64);
            let Some((sd, size_bytes)) = first_below(picked, wd, |_| largest) else { continue };
            let message = format!(
                "sd={}: size={size_bytes} is less than one transfer of wd={}: {largest}",
                sd.name, wd.entry.head.name
            );
            let place = sd.place;
            let help = "write a larger `size=`, or a smaller `xfersize=`";
            self.findings.error_help(place, "size-below-xfersize", message, help);
            return;
        }
    }

    /// What is to be hit must lie within each storage definition whose size is written.
    fn check_hit_areas(&mut self, picked: &Picked) {
        let rd = &picked.rd;
        let hit_pct = |written: f64, kind: LoopKind| rd.largest_of(kind).unwrap_or(written);
        let looped = rd.largest_of(LoopKind::Hitarea);
        let hitarea = |sd: &Sd| looped.unwrap_or(sd.hitarea_bytes as f64);
        for wd in &picked.wds {
            if hit_pct(wd.entry.rhpct, LoopKind::Rhpct) <= 0.0
                && hit_pct(wd.entry.whpct, LoopKind::Whpct) <= 0.0
            {
                continue;
            }
            let Some((sd, size_bytes)) = first_below(picked, wd, hitarea) else { continue };
            let (name, hitarea, place) = (&sd.name, hitarea(sd), sd.place);
            let message = format!(
                "sd={name}: hitarea={hitarea} is more than size={size_bytes}, and wd={} asks for \
                 hits",
                wd.entry.head.name
            );
            let help = "write a smaller `hitarea=` (1m where none is written), or a larger `size=`";
            self.findings.error_help(place, "hitarea-above-size", message, help);
            return;
        }
    }

    /// Vdbench looks at ranges only when it runs.
    fn check_ranges(&mut self, picked: &Picked) {
        let entries = &self.sections.sds;
        let sds = picked.sds.iter().filter_map(|sd| {
            let entry = entries.iter().find(|entry| entry.head.name == sd.name)?;
            Some((entry.head.place, "range", entry.range?, sd.size_bytes))
        });
        let wds = picked.wds.iter().filter_map(|wd| {
            let key = if wd.entry.is_hotband { "hotband" } else { "range" };
            Some((wd.entry.head.place, key, wd.entry.range?, None))
        });
        for (place, key, (low, high), size_bytes) in sds.chain(wds) {
            let message = if low < 0.0 {
                format!("{key}=({low},{high}): the first value must be 0 or more")
            } else if low >= high {
                format!("{key}=({low},{high}): the second value must be higher than the first")
            } else if low < 100.0 && high > 100.0 && high < 200.0 && high - low >= 100.0 {
                format!("{key}=({low},{high}) may not cover 100 percent or more")
            } else if high > 200.0 && size_bytes.is_some_and(|size| high > size as f64) {
                format!("{key}=({low},{high}) ends behind the end of the storage definition")
            } else {
                continue;
            };
            let help = "up to 200 the values are percentages, above they are bytes";
            self.findings.error_help(place, "wrong-range", message, help);
        }
    }
}

/// Returns the first storage definition of a workload that is smaller than what it needs, with its
/// size.
fn first_below<'a>(
    picked: &'a Picked,
    wd: &PickedWd,
    needed: impl Fn(&Sd) -> f64,
) -> Option<(&'a Sd, u64)> {
    let mut sds = wd.sds.iter().map(|idx| &picked.sds[*idx]);
    sds.find_map(|sd| Some((sd, sd.size_bytes.filter(|size| needed(sd) > *size as f64)?)))
}

/// Returns the bytes of the largest transfer.
pub(super) fn largest_bytes(size: &Xfersize) -> u64 {
    match size {
        Xfersize::Fixed(bytes) | Xfersize::Range { max: bytes, .. } => u64::from(*bytes),
        Xfersize::Split(parts) => {
            parts.iter().map(|(bytes, _)| u64::from(*bytes)).max().unwrap_or(0)
        }
    }
}
