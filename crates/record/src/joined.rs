//! The latencies of several directions together, and the figures of directions and steps.

use hist::Histogram;

use crate::{DirRecord, Figure, Figures, JobRecord, Latency, ListedLatency};

/// From when latencies count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyKind {
    /// From the intended start of an operation.
    Response,
    /// From its choice.
    Total,
    /// From its submission.
    Service,
}

impl LatencyKind {
    /// Returns what it is called.
    pub fn word(self) -> &'static str {
        match self {
            LatencyKind::Response => "response time",
            LatencyKind::Total => "latency",
            LatencyKind::Service => "service time",
        }
    }
}

/// Latencies of several directions, which all count from the same moment: response times where all
/// parts have them, else total latencies, else service times.
#[derive(Clone, Debug)]
pub struct JoinedLatency<'a> {
    /// From when they count.
    pub kind: LatencyKind,
    /// All of them; empty where they were not measured, or a part of them is of another kind: no
    /// percentile of a part is one of all.
    pub measured: Histogram,
    /// What another program listed of the only direction.
    listed: Option<&'a ListedLatency>,
}

impl<'a> JoinedLatency<'a> {
    /// Joins those of directions that had operations.
    pub fn of(dirs: &[&'a DirRecord]) -> Self {
        let response = |dir: &&'a DirRecord| dir.response.as_ref().filter(|it| !it.is_empty());
        let responses: Option<Vec<&Histogram>> = dirs.iter().map(response).collect();
        if let Some(responses) = responses.filter(|it| !it.is_empty()) {
            let parts = responses.into_iter().map(Latency::Measured);
            return JoinedLatency::merged(LatencyKind::Response, parts);
        }
        let shown: Vec<(bool, Latency<'a>)> = dirs.iter().map(|dir| dir.shown_latency()).collect();
        let is_total = shown.first().is_none_or(|(is_total, _)| *is_total);
        let kind = if is_total { LatencyKind::Total } else { LatencyKind::Service };
        let is_one_kind = shown.iter().all(|(other, _)| *other == is_total);
        let parts = shown.into_iter().filter(|_| is_one_kind).map(|(_, latency)| latency);
        JoinedLatency::merged(kind, parts)
    }

    fn merged(kind: LatencyKind, parts: impl Iterator<Item = Latency<'a>>) -> Self {
        let mut joined = JoinedLatency { kind, measured: Histogram::new(), listed: None };
        let parts: Vec<Latency<'a>> = parts.filter(|latency| !latency.is_empty()).collect();
        if let [Latency::Listed(only)] = parts.as_slice() {
            joined.listed = Some(only);
        } else if parts.iter().all(|part| matches!(part, Latency::Measured(_))) {
            for part in &parts {
                if let Latency::Measured(hist) = part {
                    joined.measured.merge(hist);
                }
            }
        }
        joined
    }

    /// Returns them as far as they are known.
    pub fn latency(&self) -> Latency<'_> {
        self.listed.map_or(Latency::Measured(&self.measured), Latency::Listed)
    }
}

impl Figures {
    /// Adds the rates of a direction.
    #[must_use]
    pub fn with_rates(self, dir: &DirRecord) -> Self {
        self.with(Figure::Iops, dir.rate_iops()).with(Figure::BytesPerS, dir.rate_bytes())
    }

    /// Returns the figures of the jobs of a step: rates of all jobs and directions added up, and
    /// latencies of all together, counted as [`JoinedLatency`] does. Jobs of several steps have no
    /// figures together: neither rates nor percentiles of steps have a mean.
    pub fn of_step(jobs: &[&JobRecord]) -> Self {
        let dirs = || jobs.iter().flat_map(|job| job.dirs.iter()).map(|(_, dir)| dir);
        let is_measured = dirs().any(|dir| dir.runtime_ns > 0);
        let sum = |rate: fn(&DirRecord) -> f64| is_measured.then(|| dirs().map(rate).sum::<f64>());
        let busy: Vec<&DirRecord> = dirs().filter(|dir| dir.n_ios > 0).collect();
        Figures::of(&JoinedLatency::of(&busy).latency())
            .with(Figure::Iops, sum(DirRecord::rate_iops))
            .with(Figure::BytesPerS, sum(DirRecord::rate_bytes))
    }
}
