//! Where I/Os go and how they divide into reads and writes, in Vdbench's words.

use std::collections::HashSet;

use plan::files::Size;
use plan::job::PartRegion;
use plan::load::Rate;
use plan::workload::{Distribution, Sequencer, Workload};
use plan::{Direction, Job};

use super::super::lower_raw::HOT_BAND_EXPONENT;
use super::words::rounded;
use super::writer::Writer;

/// Parameters that each direction may have otherwise.
const PLACES_BY_DIRECTION: [&str; 7] = [
    "access",
    "random_pct",
    "random_share_pct",
    "distribution",
    "exponential_mean",
    "power_exponent",
    "block_align_bytes",
];

impl Writer<'_> {
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
                self.note(
                    &["rate", "rate_iops", "read_pct", "read_share_pct"],
                    "a rate of reads or of writes alone: Vdbench has one for both",
                );
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
        let goes_on = !workload.access.random || workload.random_pct[dir] < 100.0;
        if workload.access.is_mixed() && !workload.one_cursor && goes_on {
            self.to.lose_values(
                &["one_cursor"],
                "a place of its own that each of reads and writes goes on from",
            );
        }
        if !workload.access.random {
            if workload.sequential_step_bytes != 0 {
                self.note(&["access"], "a distance between sequential I/Os: Vdbench leaves none");
            }
            return "0".to_owned();
        }
        let n_per_draw = f64::from(workload.ios_per_draw.max(1));
        if n_per_draw > 1.0 && workload.sequencer == Sequencer::Identical {
            self.note(
                &["access"],
                "several I/Os at the same random place: Vdbench goes on from it",
            );
        }
        let is_alike = |other: Direction| {
            workload.random_pct[other].total_cmp(&workload.random_pct[dir]).is_eq()
                && workload.distribution[other] == workload.distribution[dir]
                && workload.block_align[other] == workload.block_align[dir]
        };
        if workload.access.is_mixed() && !is_alike(Direction::Write) {
            self.note(
                &PLACES_BY_DIRECTION,
                "places that differ between reads and writes: those of reads are taken",
            );
        }
        let pct = workload.random_pct[dir] / n_per_draw;
        match &workload.distribution[dir] {
            Distribution::Uniform => rounded(pct),
            _ if is_hot_band(workload) => rounded(pct),
            Distribution::Exponential { mean } if n_per_draw <= 1.0 => {
                format!("(poisson,{})", rounded(1.0 / mean))
            }
            Distribution::Zipf { .. }
            | Distribution::Pareto { .. }
            | Distribution::Normal { .. }
            | Distribution::Zoned(_)
            | Distribution::ZonedAbs(_)
            | Distribution::Sequence(_)
            | Distribution::Exponential { .. }
            | Distribution::Power { .. } => {
                self.note(
                    &["distribution", "exponential_mean", "power_exponent"],
                    "how random places are spread: Vdbench knows even and poisson",
                );
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

/// Returns the part of its file that a job's storage definition is limited to, percent.
pub(super) fn range_pct(job: &Job) -> Option<(u8, u8)> {
    let pct_of = |size: Option<Size>| match size {
        Some(Size::Percent(pct)) => Some(pct),
        _ => None,
    };
    let from = pct_of(Some(job.files.offset));
    match (from, job.files.size) {
        (Some(from), None) => Some((from, 100)),
        (Some(from), Some(Size::Percent(pct))) => Some((from, from.saturating_add(pct).min(100))),
        (None, Some(Size::Percent(pct))) if job.files.offset == Size::Bytes(0) => Some((0, pct)),
        _ => None,
    }
}

/// Counts the files of a job.
pub(super) fn n_luns(job: &Job) -> u64 {
    match job.files.names.len() {
        0 => u64::from(job.n_workers.max(1)) * u64::from(job.files.n_files.max(1)),
        n_names => n_names as u64,
    }
}

/// Returns the files of a job, as named or as generated for each worker, each once.
pub(super) fn luns(job: &Job) -> Vec<String> {
    let folder = job.files.directories.first().map(|folder| folder.trim_end_matches('/'));
    let below = |name: &str| match folder {
        Some(folder) if !name.starts_with('/') => format!("{folder}/{name}"),
        _ => name.to_owned(),
    };
    if !job.files.names.is_empty() {
        let mut seen = HashSet::new();
        let names = job.files.names.iter().map(|name| below(name));
        return names.filter(|name| seen.insert(name.clone())).collect();
    }
    // A name within a folder, as the runner makes it.
    let job_name = job.name.replace('/', "_");
    let workers = 0..job.n_workers.max(1);
    let files = 0..job.files.n_files.max(1);
    let names = workers.flat_map(|worker| files.clone().map(move |file| (worker, file)));
    names.map(|(worker, file)| below(&format!("{job_name}.{worker}.{file}"))).collect()
}

/// Returns the size of each of a job's files, where the job says it in bytes.
pub(super) fn lun_bytes(job: &Job) -> Option<u64> {
    if let Some((_, max)) = job.files.file_size_bytes {
        return Some(max);
    }
    let Some(Size::Bytes(bytes)) = job.files.size else { return None };
    let n_files = match job.files.names.len() {
        0 => u64::from(job.files.n_files),
        n_names => n_names as u64,
    };
    Some(bytes / n_files.max(1))
}

/// Returns the size of the part that hits go to, of the first workload that has one.
pub(super) fn hit_area_bytes(job: &Job) -> Option<u64> {
    let of_parts = job.parts.iter().map(|part| &part.workload);
    let mut workloads = of_parts.chain([&job.workload]);
    workloads.find_map(|workload| Some(workload.hit_area?.len_bytes))
}
