//! A step of a record as the page shows it: its figures over all jobs and directions.

use std::collections::BTreeMap;

use record::{DirRecord, Figures, JobRecord, JoinedLatency, Record, StepPurpose, SuiteStepRecord};

/// One step.
#[derive(Clone, Debug)]
pub(crate) struct Step<'a> {
    pub(crate) idx: u32,
    /// Its name, or that of its only job, or its number.
    pub(crate) name: String,
    pub(crate) jobs: Vec<&'a JobRecord>,
    /// Options that hold for all jobs unless they say otherwise.
    globals: &'a [(String, String)],
}

/// Returns the steps in which something was done.
pub(crate) fn steps(record: &Record) -> Vec<Step<'_>> {
    let mut by_idx: BTreeMap<u32, Vec<&JobRecord>> = BTreeMap::new();
    for job in &record.jobs {
        by_idx.entry(job.step_idx).or_default().push(job);
    }
    let step = |(idx, jobs): (u32, Vec<_>)| {
        let name = name(record, idx, &jobs);
        Step { idx, name, jobs, globals: &record.global_options }
    };
    by_idx.into_iter().map(step).collect()
}

/// Returns the steps that are results: those of [`steps`] that [`preparations`] does not name.
pub(crate) fn results(record: &Record) -> Vec<Step<'_>> {
    let left_out = preparations(record);
    let mut results = steps(record);
    results.retain(|step| !left_out.contains(&step.idx));
    results
}

/// Returns the steps that are no results: what made ready for others, and measurements of a suite
/// that no row counts.
pub(crate) fn preparations(record: &Record) -> Vec<u32> {
    if let Some(suite) = &record.suite {
        let rows = || suite.rows.iter().filter(|row| !row.preparation);
        let is_result = |step: &&SuiteStepRecord| {
            step.purpose == StepPurpose::Curve
                || rows().any(|row| row.steps.contains(&step.step_idx))
        };
        let left_out = suite.steps.iter().filter(|step| !is_result(step));
        return left_out.map(|step| step.step_idx).collect();
    }
    let (formats, others): (Vec<Step<'_>>, Vec<Step<'_>>) =
        steps(record).into_iter().partition(Step::is_format);
    if others.is_empty() { Vec::new() } else { formats.iter().map(|step| step.idx).collect() }
}

/// Returns what a step is called.
pub(crate) fn step_name(record: &Record, idx: u32) -> String {
    let jobs: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.step_idx == idx).collect();
    name(record, idx, &jobs)
}

fn name(record: &Record, idx: u32, jobs: &[&JobRecord]) -> String {
    let known = record.steps.iter().find(|step| step.step_idx == idx);
    if let Some(step) = known.filter(|step| !step.name.is_empty()) {
        return step.name.clone();
    }
    match jobs.first() {
        Some(first) if jobs.iter().all(|job| job.name == first.name) => first.name.clone(),
        _ => format!("step {}", u64::from(idx) + 1),
    }
}

impl<'a> Step<'a> {
    /// Returns whether it only made the files that the others work on.
    fn is_format(&self) -> bool {
        self.name.starts_with("format_for_") && self.jobs.iter().all(|job| job.name == "format")
    }

    pub(crate) fn dirs(&self) -> impl Iterator<Item = (&'static str, &'a DirRecord)> {
        self.jobs.iter().flat_map(|job| job.dirs.iter()).filter(|(_, dir)| dir.n_ios > 0)
    }

    /// Returns whether operations were due at times of their own.
    pub(crate) fn is_open(&self) -> bool {
        self.dirs().next().is_some() && self.dirs().all(|(_, dir)| dir.response.is_some())
    }

    /// Returns the latencies of all jobs and directions together.
    pub(crate) fn latencies(&self) -> JoinedLatency<'a> {
        JoinedLatency::of(&self.dirs().map(|(_, dir)| dir).collect::<Vec<_>>())
    }

    /// Returns what all jobs and directions came to together.
    pub(crate) fn figures(&self) -> Figures {
        Figures::of_step(&self.jobs)
    }

    /// Returns the size of all I/Os, bytes; none where they differ.
    pub(crate) fn block_size(&self) -> Option<u64> {
        let mut sizes = self.dirs().filter(|(_, dir)| dir.io_bytes > 0).map(|(_, dir)| {
            let bytes = dir.io_bytes / dir.n_ios;
            (bytes * dir.n_ios == dir.io_bytes).then_some(bytes)
        });
        let first = sizes.next()??;
        sizes.all(|size| size == Some(first)).then_some(first)
    }

    /// Returns the option of a job that counts: its own, else that of all jobs.
    fn option(&self, job: &'a JobRecord, names: &[&str]) -> Option<&'a str> {
        let mut options = job.options.iter().rev().chain(self.globals.iter().rev());
        let found = options.find(|(key, _)| names.contains(&key.as_str()));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the share of reads that was asked for, percent; none where jobs differ or say none.
    fn read_pct_asked(&self) -> Option<u32> {
        let of_job = |job: &&'a JobRecord| {
            let rw = self.option(job, &["rw", "readwrite"])?;
            match rw.split(':').next().unwrap_or(rw) {
                "read" | "randread" => Some(100),
                "write" | "randwrite" => Some(0),
                "rw" | "readwrite" | "randrw" => {
                    let reads = self.option(job, &["rwmixread"]).map(str::parse);
                    let writes = self.option(job, &["rwmixwrite"]).map(str::parse::<u32>);
                    match (reads, writes) {
                        (Some(reads), _) => reads.ok(),
                        (None, Some(writes)) => 100_u32.checked_sub(writes.ok()?),
                        (None, None) => Some(50),
                    }
                }
                _ => None,
            }
        };
        let first = self.jobs.first().and_then(of_job)?;
        self.jobs.iter().all(|job| of_job(job) == Some(first)).then_some(first)
    }

    /// Returns whether the page cache was left out; none where jobs differ or do not say.
    pub(crate) fn is_direct(&self) -> Option<bool> {
        let first = self.jobs.first()?.is_direct?;
        self.jobs.iter().all(|job| job.is_direct == Some(first)).then_some(first)
    }

    /// Returns the share of reads in percent: what was asked for, else what came out,
    /// or the multiple of five that it is near.
    pub(crate) fn read_pct(&self) -> Option<u32> {
        if let Some(asked) = self.read_pct_asked() {
            return Some(asked);
        }
        let count = |wanted: &str| -> u64 {
            self.dirs().filter(|(name, _)| *name == wanted).map(|(_, dir)| dir.n_ios).sum()
        };
        let (reads, writes) = (count("read"), count("write"));
        let total = reads.checked_add(writes).filter(|total| *total > 0)?;
        let pct = reads as f64 * 100.0 / total as f64;
        let round = (pct / 5.0).round() * 5.0;
        let is_pure = reads == 0 || writes == 0;
        let is_near = (pct - round).abs() < 1.0 && (is_pure || (5.0..=95.0).contains(&round));
        Some(if is_near { round } else { pct.round() } as u32)
    }

    /// Returns whether addresses follow each other; none where jobs differ or do not say.
    pub(crate) fn is_random(&self) -> Option<bool> {
        let mut found = self
            .jobs
            .iter()
            .map(|job| self.option(job, &["rw", "readwrite"]).map(|rw| rw.contains("rand")));
        let first = found.next()??;
        found.all(|is_random| is_random == Some(first)).then_some(first)
    }

    /// Returns I/Os kept in flight by each worker; none under an open load, or where jobs differ.
    pub(crate) fn depth(&self) -> Option<u32> {
        let first = self.jobs.first()?.queue_depth;
        let is_same = self.jobs.iter().all(|job| job.queue_depth == first);
        (!self.is_open() && is_same && first > 0).then_some(first)
    }

    pub(crate) fn n_workers(&self) -> u32 {
        self.jobs.iter().map(|job| job.n_workers).fold(0, u32::saturating_add)
    }
}
