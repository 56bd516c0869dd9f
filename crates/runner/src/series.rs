//! What the jobs of a step do from period to period, by part and kind of operation.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use record::{IntervalSeries, SeriesRecord};
use worker::{Meters, SeriesMeters};

/// Takes differences of the workers' counters. There is one of them: it takes the maxima away.
#[derive(Debug)]
pub(crate) struct SeriesSampler {
    rows: Vec<Row>,
}

/// What the jobs of a step did in the measured time until a period ended, by part and kind of
/// operation.
#[derive(Debug)]
pub struct SeriesSoFar<'a> {
    rows: &'a [Row],
}

impl SeriesSoFar<'_> {
    /// Returns the name of a job and what it did, for each job, part and kind.
    ///
    /// Copies every histogram: not for every period of a long run. What completes at this very
    /// moment may be counted in some of the figures.
    pub fn records(&self) -> Vec<(String, SeriesRecord)> {
        self.rows.iter().map(|row| (row.job.clone(), row.so_far())).collect()
    }
}

/// One job's operations of one part and kind.
#[derive(Debug)]
struct Row {
    job: String,
    part: String,
    op: String,
    /// Its workers, with the position of the series in each.
    members: Vec<(Arc<Meters>, usize)>,
    seen: Totals,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    n_ios: u64,
    bytes: u64,
    latency_ns_sum: u64,
    latency_ns2_sum: f64,
}

impl SeriesSampler {
    /// Begins the first period of workers that have done nothing yet, each with the name of its job
    /// and its counters.
    pub(crate) fn new<'a>(workers: impl Iterator<Item = (&'a str, &'a Arc<Meters>)>) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        // Workers of a job have the same series, one after the other.
        let mut first_of_job = std::collections::HashMap::new();
        for (job, meters) in workers {
            let Some(series) = meters.series() else { continue };
            let first_idx = *first_of_job.entry(job).or_insert(rows.len());
            for (idx, (name, _)) in series.iter().enumerate() {
                let member = (Arc::clone(meters), idx);
                let is_same = |row: &&mut Row| {
                    row.part == name.part && row.op == name.op.name() && row.job == job
                };
                match rows[first_idx..].iter_mut().find(is_same) {
                    Some(row) => row.members.push(member),
                    None => rows.push(Row {
                        job: job.to_owned(),
                        part: name.part.clone(),
                        op: name.op.name().to_owned(),
                        members: vec![member],
                        seen: Totals::default(),
                    }),
                }
            }
        }
        SeriesSampler { rows }
    }

    /// Ends a period: one entry for each job, part and kind, also where nothing was done.
    pub(crate) fn sample(&mut self) -> Vec<IntervalSeries> {
        self.rows.iter_mut().map(Row::sample).collect()
    }

    /// Returns what was done until now.
    pub(crate) fn so_far(&self) -> SeriesSoFar<'_> {
        SeriesSoFar { rows: &self.rows }
    }
}

impl Row {
    fn so_far(&self) -> SeriesRecord {
        let (part, op) = (self.part.clone(), self.op.clone());
        let mut record = SeriesRecord { part, op, ..SeriesRecord::default() };
        for (meters, idx) in &self.members {
            if let Some((_, of)) = meters.series().and_then(|series| series.iter().nth(*idx)) {
                record.n_ios += of.n_ios.load(Relaxed);
                record.n_failed += of.n_failed.load(Relaxed);
                record.io_bytes += of.bytes.load(Relaxed);
                record.lat.merge(&of.lat.snapshot());
            }
        }
        record
    }

    fn sample(&mut self) -> IntervalSeries {
        let mut now = Totals::default();
        let mut latency_ns_max = 0;
        for (meters, idx) in &self.members {
            if let Some((_, of)) = meters.series().and_then(|series| series.iter().nth(*idx)) {
                now.add(of);
                latency_ns_max = latency_ns_max.max(of.take_latency_ns_max());
            }
        }
        let before = std::mem::replace(&mut self.seen, now);
        let is_more = now.n_ios >= before.n_ios && now.bytes >= before.bytes;
        assert!(is_more, "a job had done {before:?}, and now {now:?}");
        IntervalSeries {
            job: self.job.clone(),
            part: self.part.clone(),
            op: self.op.clone(),
            n_ios: now.n_ios - before.n_ios,
            io_bytes: now.bytes - before.bytes,
            latency_ns_sum: now.latency_ns_sum.wrapping_sub(before.latency_ns_sum),
            latency_ns2_sum: (now.latency_ns2_sum - before.latency_ns2_sum).max(0.0),
            latency_ns_max,
        }
    }
}

impl Totals {
    fn add(&mut self, of: &SeriesMeters) {
        self.n_ios += of.n_ios_live.load(Relaxed);
        self.bytes += of.bytes_live.load(Relaxed);
        self.latency_ns_sum =
            self.latency_ns_sum.wrapping_add(of.latency_ns_sum_live.load(Relaxed));
        self.latency_ns2_sum += of.latency_ns2_sum_live();
    }
}
