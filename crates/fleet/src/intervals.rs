//! The seconds of several hosts as seconds of all.
//!
//! Each host cuts its intervals by its own clock. They are joined by the time since the host began
//! the step, which all began at one moment. One that spans several of the others' (its host stood
//! still) makes one interval of all that it overlaps: at which moment of it an operation was
//! done is not known, so none is counted in a second to which it does not belong.

use record::{CpuShares, Interval, IntervalLatency, LatencyCounts};

/// A moment of a run: the step, and milliseconds since it began.
pub type StepTime = (u32, u64);

/// An interval of one host in the time of its step.
#[derive(Debug)]
struct Span {
    host_idx: usize,
    /// When the host began the step, milliseconds after the start of its run.
    began_ms: u64,
    from_ms: u64,
    to_ms: u64,
    interval: Interval,
}

/// Intervals of several hosts that are of the same time.
#[derive(Debug)]
struct Row {
    step_idx: u32,
    from_ms: u64,
    to_ms: u64,
    spans: Vec<Span>,
}

/// Joins the intervals of hosts as they come.
#[derive(Debug)]
pub struct Joiner {
    /// When each host began the step that it is in: the step, and milliseconds after the start of
    /// its run.
    began: Vec<Option<StepTime>>,
    /// What each host has done until now.
    reached: Vec<StepTime>,
    /// Intervals that were not returned yet.
    pending: Vec<Span>,
    /// A host that held back what was pending then, and how far it had come.
    held_by: Option<(usize, StepTime)>,
    /// End of what was returned.
    returned: StepTime,
}

/// Joins all intervals of several hosts.
pub fn join(hosts: &[&[Interval]]) -> Vec<Interval> {
    let mut joiner = Joiner::new(hosts.len());
    for (host_idx, intervals) in hosts.iter().enumerate() {
        intervals.iter().for_each(|interval| joiner.push(host_idx, interval));
    }
    joiner.take(|_| false)
}

impl Joiner {
    /// Begins for so many hosts.
    pub fn new(n_hosts: usize) -> Self {
        Joiner {
            began: vec![None; n_hosts],
            reached: vec![(0, 0); n_hosts],
            pending: Vec::new(),
            held_by: None,
            returned: (0, 0),
        }
    }

    /// Takes the next interval of a host.
    pub fn push(&mut self, host_idx: usize, interval: &Interval) {
        let step_idx = interval.step_idx;
        let from_ms = interval.end_ms.saturating_sub(interval.length_ms);
        let began_ms = match self.began[host_idx] {
            Some((known, began_ms)) if known == step_idx => began_ms,
            // The first interval of a step begins with it.
            Some(_) | None => from_ms,
        };
        self.began[host_idx] = Some((step_idx, began_ms));
        let to_ms = interval.end_ms.saturating_sub(began_ms);
        self.reached[host_idx] = (step_idx, to_ms);
        let from_ms = from_ms.saturating_sub(began_ms);
        self.pending.push(Span { host_idx, began_ms, from_ms, to_ms, interval: interval.clone() });
    }

    /// Returns the intervals that are complete: those up to which every host that is awaited has
    /// come.
    pub fn take(&mut self, is_awaited: impl Fn(usize) -> bool) -> Vec<Interval> {
        if let Some((idx, at)) = self.held_by
            && self.reached[idx] == at
            && is_awaited(idx)
        {
            return Vec::new();
        }
        let awaited = (0..self.reached.len()).filter(|idx| is_awaited(*idx));
        // Of those that hold it back any: the first one would often be the next to come.
        let last = awaited.min_by_key(|idx| (self.reached[*idx], units::mix64(*idx as u64)));
        self.held_by = last.map(|idx| (idx, self.reached[idx]));
        let reached = self.held_by.map_or((u32::MAX, u64::MAX), |(_, at)| at);
        let mut sums = Vec::new();
        for row in Row::group(std::mem::take(&mut self.pending)) {
            // Half of it: ends of the same second lie milliseconds apart.
            let wanted = (row.step_idx, row.from_ms.midpoint(row.to_ms));
            if wanted > reached {
                self.pending.extend(row.spans);
                continue;
            }
            let since_ms = if self.returned.0 == row.step_idx { self.returned.1 } else { 0 };
            self.returned = (row.step_idx, row.to_ms.max(since_ms));
            sums.push(row.sum(since_ms));
        }
        sums
    }
}

impl Row {
    /// Groups spans by time.
    fn group(mut spans: Vec<Span>) -> Vec<Self> {
        spans.sort_by_key(|span| (span.interval.step_idx, span.from_ms, span.host_idx));
        let mut rows: Vec<Row> = Vec::new();
        for span in spans {
            match rows.last_mut() {
                Some(row) if row.overlaps(&span) => {
                    row.to_ms = row.to_ms.max(span.to_ms);
                    row.spans.push(span);
                }
                Some(_) | None => rows.push(Row {
                    step_idx: span.interval.step_idx,
                    from_ms: span.from_ms,
                    to_ms: span.to_ms,
                    spans: vec![span],
                }),
            }
        }
        rows
    }

    /// Returns whether a span that begins later is of the same time: more than half of the shorter
    /// one lies in both.
    fn overlaps(&self, span: &Span) -> bool {
        let shorter_ms = (self.to_ms - self.from_ms).min(span.to_ms - span.from_ms);
        span.interval.step_idx == self.step_idx
            && self.to_ms.saturating_sub(span.from_ms) > shorter_ms / 2
    }

    /// Adds it up. It begins where the one before ended, at `since_ms`, so that lengths add up.
    fn sum(self, since_ms: u64) -> Interval {
        let mut hosts: Vec<usize> = self.spans.iter().map(|span| span.host_idx).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let began_ms = self.spans.iter().map(|span| span.began_ms).max().unwrap_or(0);
        let mut sum = Interval { step_idx: self.step_idx, ..Interval::default() };
        for span in &self.spans {
            add(&mut sum, &span.interval);
        }
        sum.cpu = mean_cpu(self.spans.iter().filter_map(|span| span.interval.cpu));
        sum.n_hosts = Some(hosts.len() as u32);
        sum.end_ms = began_ms.saturating_add(self.to_ms);
        sum.length_ms = self.to_ms.saturating_sub(self.from_ms.max(since_ms));
        sum
    }
}

/// Returns what the processors of several hosts did, a host's share as much as another's.
fn mean_cpu(hosts: impl Iterator<Item = CpuShares>) -> Option<CpuShares> {
    let mut n_hosts = 0.0;
    let sum = hosts.fold(CpuShares::default(), |sum, it| {
        n_hosts += 1.0;
        CpuShares {
            user_pct: sum.user_pct + it.user_pct,
            system_pct: sum.system_pct + it.system_pct,
            wait_pct: sum.wait_pct + it.wait_pct,
            idle_pct: sum.idle_pct + it.idle_pct,
        }
    });
    (n_hosts > 0.0).then(|| CpuShares {
        user_pct: sum.user_pct / n_hosts,
        system_pct: sum.system_pct / n_hosts,
        wait_pct: sum.wait_pct / n_hosts,
        idle_pct: sum.idle_pct / n_hosts,
    })
}

fn add(sum: &mut Interval, other: &Interval) {
    sum.ramp |= other.ramp;
    sum.add_dirs(other, add_latency);
    for theirs in &other.series {
        let is_same = |it: &&mut record::IntervalSeries| {
            it.job == theirs.job && it.part == theirs.part && it.op == theirs.op
        };
        match sum.series.iter_mut().find(is_same) {
            Some(mine) => {
                mine.n_ios = mine.n_ios.saturating_add(theirs.n_ios);
                mine.io_bytes = mine.io_bytes.saturating_add(theirs.io_bytes);
                mine.latency_ns_sum = mine.latency_ns_sum.saturating_add(theirs.latency_ns_sum);
                mine.latency_ns2_sum += theirs.latency_ns2_sum;
                mine.latency_ns_max = mine.latency_ns_max.max(theirs.latency_ns_max);
            }
            None => sum.series.push(theirs.clone()),
        }
    }
}

fn add_latency(
    (mine, counts): (&mut IntervalLatency, &mut LatencyCounts),
    (theirs, other): (&IntervalLatency, &LatencyCounts),
) {
    if other.is_empty() {
        mine.keep_larger(theirs);
        return;
    }
    if counts.is_empty() {
        *counts = other.clone();
        mine.keep_larger(theirs);
        return;
    }
    counts.add(other);
    let largest = *mine;
    *mine = IntervalLatency::of(&counts.to_histogram());
    mine.keep_largest(&largest, theirs);
}
