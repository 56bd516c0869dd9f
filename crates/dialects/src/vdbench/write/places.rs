//! Where I/Os go and how they divide into reads and writes, in Vdbench's words.

use plan::files::Size;
use plan::job::PartRegion;
use plan::load::Rate;
use plan::param::Field;
use plan::workload::{Distribution, Sequencer, Workload};
use plan::{Direction, Job, job_fields};

use super::super::lower_raw::HOT_BAND_EXPONENT;
use super::words::rounded;
use super::writer::Writer;

/// What `seekpct=` says.
const WALK: &[Field] = job_fields![workload.access, workload.random_pct];

/// What `lun=` says.
pub(super) const NAMES: &[Field] = job_fields![files.names, files.directories, files.n_files];

/// What `size=`, `range=` and `offset=` of a storage definition say.
pub(super) const REGION: &[Field] = job_fields![files.offset, files.size, files.file_size_bytes];

/// How random places are spread.
const SPREAD: &[Field] = job_fields![workload.distribution];

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
                self.lose(
                    job_fields![load.rate, workload.read_pct],
                    "a rate of reads or of writes alone: Vdbench has one for both",
                );
                workload.read_pct
            }
        }
    }

    /// Says where each I/O goes.
    pub(super) fn seek(&mut self, workload: &Workload, dir: Direction, line: &mut String) {
        let (words, mut said) = self.seek_words(workload, dir);
        said.extend(job_fields![workload.starts_anywhere]);
        if !workload.starts_anywhere {
            said.extend(job_fields![workload.ends_with_region]);
        }
        self.say(line, &said, format_args!(",seekpct={words}"));
    }

    /// Returns what stands behind `seekpct=`, and what it says.
    fn seek_words(&mut self, workload: &Workload, dir: Direction) -> (String, Vec<Field>) {
        // Reads and writes go on from the same place in Vdbench.
        let goes_on = !workload.access.random || workload.random_pct[dir] < 100.0;
        let has_two_places = workload.access.is_mixed() && !workload.one_cursor && goes_on;
        if has_two_places {
            self.lose(
                job_fields![workload.one_cursor],
                "a place of its own that each of reads and writes goes on from",
            );
        }
        self.is_the_same(job_fields![workload.one_cursor]);
        let dirs: Vec<Direction> = workload.drawn().issued().collect();
        let n_per_draw = f64::from(workload.ios_per_draw.max(1));
        let pct = workload.random_pct[dir] / n_per_draw;
        let mut said = Vec::new();
        if !workload.access.random || pct <= 0.0 {
            said.extend(SPREAD);
        }
        if workload.starts_anywhere || workload.ends_with_region {
            if !workload.access.random && workload.sequential_step_bytes == 0 {
                said.extend(WALK);
            }
            let word = if workload.starts_anywhere { "seqnz" } else { "eof" };
            return (word.to_owned(), said);
        }
        if !workload.access.random {
            if workload.sequential_step_bytes != 0 {
                self.lose(
                    job_fields![workload.access],
                    "a distance between sequential I/Os: Vdbench leaves none",
                );
            }
            said.extend(WALK);
            return ("0".to_owned(), said);
        }
        if n_per_draw > 1.0 && workload.sequencer == Sequencer::Identical {
            self.lose(
                job_fields![workload.access],
                "several I/Os at the same random place: Vdbench goes on from it",
            );
        }
        let is_alike = |other: &Direction| {
            workload.random_pct[*other].total_cmp(&workload.random_pct[dir]).is_eq()
                && workload.distribution[*other] == workload.distribution[dir]
                && workload.block_align[*other] == workload.block_align[dir]
        };
        if !dirs.iter().all(is_alike) {
            self.lose(
                &[WALK, SPREAD, job_fields![workload.block_align]].concat(),
                "places that differ between reads and writes: those of reads are taken",
            );
        }
        said.extend(WALK);
        let (words, spread) = self.spread_words(workload, dir, pct);
        said.extend(spread);
        (words, said)
    }

    /// Returns how random places are drawn, `pct` of them anew, and whether it is so that they are
    /// spread.
    fn spread_words(
        &mut self,
        workload: &Workload,
        dir: Direction,
        pct: f64,
    ) -> (String, &'static [Field]) {
        let words = rounded(pct);
        match &workload.distribution[dir] {
            Distribution::Uniform => (words, SPREAD),
            _ if is_hot_band(workload) => (words, SPREAD),
            Distribution::Exponential { mean } if pct >= 100.0 => {
                let midpoint = rounded(1.0 / mean);
                let is_read =
                    midpoint.parse().is_ok_and(|read: f64| (1.0 / read).total_cmp(mean).is_eq());
                (format!("(poisson,{midpoint})"), if is_read { SPREAD } else { &[] })
            }
            Distribution::Zipf { .. }
            | Distribution::Pareto { .. }
            | Distribution::Normal { .. }
            | Distribution::Zoned(_)
            | Distribution::ZonedAbs(_)
            | Distribution::Sequence(_)
            | Distribution::Exponential { .. }
            | Distribution::Power { .. } => {
                self.lose(SPREAD, "how random places are spread: Vdbench knows even and poisson");
                (words, &[])
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

pub(super) fn is_hot_band(workload: &Workload) -> bool {
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
    let from = match job.files.offset {
        Size::Percent(pct) => pct,
        Size::Bytes(0) => 0,
        Size::Bytes(_) | Size::Zones(_) => return None,
    };
    match job.files.size {
        Some(Size::Percent(pct)) => Some((from, from.saturating_add(pct).min(100))),
        // All of it is no part.
        None => (job.files.offset != Size::Bytes(0)).then_some((from, 100)),
        Some(Size::Bytes(_) | Size::Zones(_)) => None,
    }
}

/// Returns whether storage definitions tell which files a job works on.
pub(super) fn are_names_said(job: &Job) -> bool {
    job.files.directories.len() <= 1
}

/// Returns whether a storage definition tells where a job works in each of its files.
pub(super) fn is_region_said(job: &Job) -> bool {
    let files = &job.files;
    let is_one_size =
        files.file_size_bytes.is_none_or(|(min, max)| min == max && files.size.is_none());
    let is_one_walk = files.concatenate && files.names.len().max(files.n_files as usize) > 1;
    is_one_size
        && match (files.offset, files.size) {
            (Size::Bytes(_), None) => true,
            (Size::Bytes(_), Some(Size::Bytes(_))) => !is_one_walk,
            // A band of its own, and the region of a part, take the place of that of the storage.
            (Size::Bytes(_), Some(Size::Percent(_) | Size::Zones(_)))
            | (Size::Percent(_) | Size::Zones(_), _) => {
                range_pct(job).is_some() && job.parts.is_empty() && !is_hot_band(&job.workload)
            }
        }
}

/// Returns the size of the part that hits go to, of the first workload that has one.
pub(super) fn hit_area_bytes(job: &Job) -> Option<u64> {
    let of_parts = job.parts.iter().map(|part| &part.workload);
    let mut workloads = of_parts.chain([&job.workload]);
    workloads.find_map(|workload| Some(workload.hit_area?.len_bytes))
}
