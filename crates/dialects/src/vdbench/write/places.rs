//! Where I/Os go and how they divide into reads and writes, in Vdbench's words.

use plan::job::PartRegion;
use plan::load::Rate;
use plan::workload::{Distribution, Sequencer, Workload};
use plan::{Direction, Job};

use super::super::lower_raw::HOT_BAND_EXPONENT;
use super::Writer;
use super::words::rounded;

impl Writer {
    /// Returns the share of reads of a job, percent. Rates of reads and writes go before a mix: in
    /// Vdbench one rate is for both.
    pub(super) fn read_pct(&mut self, job: &Job) -> f64 {
        let workload = &job.workload;
        if !workload.access.is_mixed() || job.load.rate_total_iops.is_some() {
            return workload.read_pct;
        }
        match (rate_of(job, Direction::Read), rate_of(job, Direction::Write)) {
            (Some(read), Some(write)) if read + write > 0.0 => {
                (1e4 * read / (read + write)).round() / 100.0
            }
            (None, None) => workload.read_pct,
            _ => {
                self.to.lose("a rate of reads or of writes alone: Vdbench has one for both");
                workload.read_pct
            }
        }
    }

    /// Returns what stands behind `seekpct=`.
    pub(super) fn seek_words(&mut self, workload: &Workload, dir: Direction) -> String {
        if workload.starts_anywhere {
            return "seqnz".to_owned();
        }
        if workload.ends_with_region {
            return "eof".to_owned();
        }
        if !workload.access.random {
            if workload.sequential_step_bytes != 0 {
                self.to.lose("a distance between sequential I/Os: Vdbench leaves none");
            }
            return "0".to_owned();
        }
        let n_per_draw = f64::from(workload.ios_per_draw.max(1));
        if n_per_draw > 1.0 && workload.sequencer == Sequencer::Identical {
            self.to.lose("several I/Os at the same random place: Vdbench goes on from it");
        }
        let is_alike = |other: Direction| {
            workload.random_pct[other].total_cmp(&workload.random_pct[dir]).is_eq()
                && workload.distribution[other] == workload.distribution[dir]
                && workload.block_align[other] == workload.block_align[dir]
        };
        if workload.access.is_mixed() && !is_alike(Direction::Write) {
            self.to.lose("places that differ between reads and writes: those of reads are taken");
        }
        let pct = workload.random_pct[dir] / n_per_draw;
        match &workload.distribution[dir] {
            Distribution::Uniform => rounded(pct),
            _ if is_hot_band(workload) => rounded(pct),
            Distribution::Exponential { mean } if n_per_draw <= 1.0 => {
                format!("(poisson,{})", rounded(1.0 / mean))
            }
            _ => {
                self.to.lose("how random places are spread: Vdbench knows even and poisson");
                rounded(pct)
            }
        }
    }
}

/// Returns the part of the target that a workload uses, behind a comma; a hot band's says how its
/// places are spread, too.
pub(super) fn region_words(workload: &Workload, region: PartRegion) -> String {
    let key = if is_hot_band(workload) { "hotband" } else { "range" };
    match region {
        PartRegion::Whole if key == "hotband" => ",hotband=(0,100)".to_owned(),
        PartRegion::Whole => String::new(),
        PartRegion::Pct(from, to) => format!(",{key}=({from},{to})"),
        PartRegion::Bytes(from, to) => format!(",{key}=({from},{to})"),
    }
}

fn is_hot_band(workload: &Workload) -> bool {
    let is_hot = |it: &Distribution| *it == Distribution::Power { exponent: HOT_BAND_EXPONENT };
    let access = workload.access;
    let dir = if access.read { Direction::Read } else { Direction::Write };
    access.random && is_hot(&workload.distribution[dir])
}

/// Returns the rate that a job has for a direction, I/Os per second of one worker.
pub(super) fn rate_of(job: &Job, dir: Direction) -> Option<f64> {
    match job.load.rate[dir]? {
        Rate::Iops(rate) => Some(rate as f64),
        Rate::Bytes(rate) => {
            let size = &job.workload.block_size[dir];
            let mean = f64::midpoint(f64::from(size.min()), f64::from(size.max()));
            Some(rate as f64 / mean.max(1.0))
        }
    }
}
