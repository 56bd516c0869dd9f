//! Runs on storage definitions.

use super::announce::raw_text;
use super::expansion::{Expansion, add_curve, rate_of};
use super::loops::{LoopKind, Point, n_points, points};
use super::pick_raw::{Picked, PickedWd};
use super::rd::RdEntry;
use super::run::{RawWork, Run, Sd, Wd, Work, Xfersize, joined};
use super::sd::span;
use super::values::{CURVE_RATE, MAX_RATE};
use super::wd::seek_of;

impl Expansion<'_> {
    /// Returns all runs of one run definition.
    pub(super) fn raw_runs(&mut self, rd: &RdEntry, runs: &mut Vec<Run>) {
        let Some(picked) = self.pick(rd) else { return };
        self.check_raw(&picked);
        if self.findings.n_errors > 0 {
            return;
        }
        let n_each = (picked.sds.len() + picked.wds.iter().map(|wd| wd.sds.len()).sum::<usize>())
            .saturating_mul(rd.n_per_point());
        if !self.has_room(rd.head.place, n_points(&rd.loops), n_each) {
            return;
        }
        for mut point in points(&rd.loops, false) {
            self.raw_run(&picked, &mut point, runs);
        }
    }

    /// Makes the run of one point, and those of its curve.
    fn raw_run(&mut self, picked: &Picked, point: &mut Point, runs: &mut Vec<Run>) {
        let rd = &picked.rd;
        let written = point.get(LoopKind::Rate).unwrap_or(rd.iorate);
        runs.push(self.one_run(picked, point, written));
        if rd.iorate == CURVE_RATE {
            add_curve(rd, runs, |name, iops, maximum| {
                let text = raw_text(name, iops, true, rd, &maximum.loops);
                (text.clone(), text)
            });
        }
    }

    fn one_run(&self, picked: &Picked, point: &mut Point, written: f64) -> Run {
        let rd = &picked.rd;
        let (name, listed) = (&rd.head.name, rd.iorate);
        let control = |rate: f64| picked.is_controlled || (rate != MAX_RATE && rate != CURVE_RATE);
        let announced = raw_text(name, written, control(written), rd, &point.shown);
        let simulated = if written.to_bits() == listed.to_bits() {
            announced.clone()
        } else {
            raw_text(name, listed, control(listed), rd, &point.shown)
        };
        let work = Work::Raw(RawWork {
            sds: run_sds(picked, point),
            wds: picked.wds.iter().map(|wd| self.run_wd(wd, point)).collect(),
        });
        // Only this run shows them: moved, which counts where there are 100,000 runs.
        let loops = std::mem::take(&mut point.shown);
        let mut run = self.bare_run(rd, point, work);
        run.loops = loops;
        (run.announced, run.simulated) = (announced, simulated);
        (run.rate, run.controlled) = (rate_of(written), control(written));
        run.maxdata = rd.max_data(picked.all_bytes);
        run
    }

    fn run_wd(&self, wd: &PickedWd, point: &Point) -> Wd {
        let entry = &wd.entry;
        let xfersize = match point.get(LoopKind::Xfersize) {
            Some(size) => Xfersize::Fixed(size as u32),
            None => entry.xfersize(),
        };
        let stride = entry.stride.map(|(min, max)| (min.max(0) as u64, max.max(0) as u64));
        Wd {
            name: entry.head.name.clone(),
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
            concatenate: self.settings().concatenate_sds,
        }
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
