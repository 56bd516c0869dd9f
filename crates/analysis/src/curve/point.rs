//! One point of a curve.

use hist::Histogram;
use record::{DirRecord, Figure, Figures, JobRecord, Latency, Record};

use crate::limit::{LatencyFigure, Measured};

/// What was measured at one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Operations per second asked for; none in a closed loop.
    pub offered_iops: Option<f64>,
    /// I/Os kept in flight over all workers; none under an open load.
    pub queue_depth: Option<u32>,
    /// Operations completed per second.
    pub achieved_iops: f64,
    /// Bytes moved per second.
    pub bytes_per_s: f64,
    /// Response time under an open load, else service time.
    pub latency: Histogram,
}

impl Point {
    /// Takes the point of an open load out of a step of a record. Rates of workers and directions
    /// add up, histograms are merged.
    ///
    /// None where a direction with operations has no response times, or nothing was done.
    pub fn of_open(record: &Record, step_idx: u32, offered_iops: f64) -> Option<Self> {
        let response = |dir: &DirRecord| dir.response.clone();
        let point = Self::of(record, step_idx, response)?;
        Some(Point { offered_iops: Some(offered_iops), ..point })
    }

    /// Takes the point of a closed load out of a step of a record. The depth is that of all
    /// workers together. None where nothing was done.
    pub fn of_closed(record: &Record, step_idx: u32) -> Option<Self> {
        let service = |dir: &DirRecord| {
            // Where completion latency was not measured, the total is nearly the same.
            Some(if dir.clat.is_empty() { dir.lat.clone() } else { dir.clat.clone() })
        };
        let point = Self::of(record, step_idx, service)?;
        let depths =
            jobs(record, step_idx).map(|job| job.queue_depth.saturating_mul(job.n_workers));
        let queue_depth = Some(depths.fold(0, u32::saturating_add));
        Some(Point { queue_depth, ..point })
    }

    /// Takes the point of a step as its load was: of response times where all of it was offered at
    /// rates, else of service times. None where nothing was done.
    pub fn of_step(record: &Record, step_idx: u32) -> Option<Self> {
        let offered = |job: &JobRecord| job.arrivals.as_ref().map(|it| it.offered_iops);
        let offered_iops: Option<f64> = jobs(record, step_idx).map(offered).sum();
        let open = offered_iops.and_then(|iops| Self::of_open(record, step_idx, iops));
        open.or_else(|| Self::of_closed(record, step_idx))
    }

    fn of(
        record: &Record,
        step_idx: u32,
        latency_of: impl Fn(&DirRecord) -> Option<Histogram>,
    ) -> Option<Self> {
        let mut point = Point {
            offered_iops: None,
            queue_depth: None,
            achieved_iops: 0.0,
            bytes_per_s: 0.0,
            latency: Histogram::new(),
        };
        for job in jobs(record, step_idx) {
            for (_, dir) in job.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
                point.achieved_iops += dir.rate_iops();
                point.bytes_per_s += dir.rate_bytes();
                point.latency.merge(&latency_of(dir)?);
            }
        }
        (!point.latency.is_empty()).then_some(point)
    }

    /// Returns its figures.
    pub fn figures(&self) -> Figures {
        Figures::of(&Latency::Measured(&self.latency))
            .with(Figure::Iops, self.achieved_iops)
            .with(Figure::BytesPerS, self.bytes_per_s)
    }

    /// Returns what limits are judged by.
    pub fn measured(&self) -> Measured<'_> {
        Measured {
            latency: &self.latency,
            achieved_iops: self.achieved_iops,
            offered_iops: self.offered_iops,
        }
    }

    /// Returns the achieved rate and a figure of the latency, for the functions of this module.
    pub fn by_rate(&self, figure: LatencyFigure) -> Option<(f64, f64)> {
        figure.of(&self.latency).map(|latency_ns| (self.achieved_iops, latency_ns))
    }
}

fn jobs(record: &Record, step_idx: u32) -> impl Iterator<Item = &JobRecord> {
    record.jobs.iter().filter(move |job| job.step_idx == step_idx)
}
