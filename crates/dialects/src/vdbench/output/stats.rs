//! What was counted in an interval, and in a run: the sums that every row is made of.

use record::{CpuShares, IntervalSeries};

use crate::vdbench::run::FileOperation;

/// Every kind of operation, in the order of the columns of a file system's flatfile.
pub const OPERATIONS: [FileOperation; N_OPERATIONS] = units::all_of!(
    FileOperation:
    Read, Write, Mkdir, Rmdir, Create, Open, Close, Delete, Getattr, Setattr, Access, Copy, Move,
);
const N_OPERATIONS: usize = 13;

pub use crate::vdbench::fwd::operation_name;

/// Returns the operation of this name.
pub fn operation_of(name: &str) -> Option<FileOperation> {
    OPERATIONS.into_iter().find(|operation| operation_name(*operation) == name)
}

fn position(operation: FileOperation) -> usize {
    OPERATIONS.iter().position(|known| *known == operation).expect("the list has them all")
}

/// What operations of one kind did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpStats {
    /// Operations completed.
    pub n: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of their response times, nanoseconds.
    pub latency_ns_sum: f64,
    /// Sum of the squares of their response times.
    pub latency_ns2_sum: f64,
    /// Largest response time, nanoseconds.
    pub latency_ns_max: u64,
}

impl OpStats {
    /// Adds others.
    pub fn add(&mut self, other: &OpStats) {
        self.n = self.n.saturating_add(other.n);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.latency_ns_sum += other.latency_ns_sum;
        self.latency_ns2_sum += other.latency_ns2_sum;
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
    }

    /// Returns the mean response time, milliseconds; 0 without operations.
    pub fn response_ms(&self) -> f64 {
        if self.n == 0 { 0.0 } else { self.latency_ns_sum / self.n as f64 / NS_PER_MS }
    }

    /// Returns the largest response time, milliseconds.
    pub fn response_ms_max(&self) -> f64 {
        self.latency_ns_max as f64 / NS_PER_MS
    }

    /// Returns the standard deviation of the response times (with n - 1), milliseconds; 0 for
    /// fewer than two operations.
    pub fn response_ms_std(&self) -> f64 {
        if self.n < 2 {
            return 0.0;
        }
        let n = self.n as f64;
        let squares = self.latency_ns2_sum - self.latency_ns_sum * self.latency_ns_sum / n;
        (squares.max(0.0) / (n - 1.0)).sqrt() / NS_PER_MS
    }
}

impl From<&IntervalSeries> for OpStats {
    fn from(series: &IntervalSeries) -> Self {
        OpStats {
            n: series.n_ios,
            bytes: series.io_bytes,
            latency_ns_sum: series.latency_ns_sum as f64,
            latency_ns2_sum: series.latency_ns2_sum,
            latency_ns_max: series.latency_ns_max,
        }
    }
}

const NS_PER_MS: f64 = 1e6;

/// What a row shows, before it is divided by anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowStats {
    /// Length of the time, nanoseconds.
    pub length_ns: u64,
    /// Processors; `None` where it is unknown.
    pub cpu: Option<CpuShares>,
    /// What the user asked for, as opposed to the opens and closes that come with it. File systems
    /// only.
    pub requested: OpStats,
    ops: [OpStats; N_OPERATIONS],
}

impl RowStats {
    /// Makes the row of a time in which nothing happened yet.
    pub fn new(length_ns: u64, cpu: Option<CpuShares>) -> Self {
        RowStats { length_ns, cpu, ..RowStats::default() }
    }

    /// Returns what operations of one kind did.
    pub fn op(&self, operation: FileOperation) -> &OpStats {
        &self.ops[position(operation)]
    }

    /// Adds operations of one kind.
    pub fn add(&mut self, operation: FileOperation, stats: &OpStats) {
        self.ops[position(operation)].add(stats);
    }

    /// Adds the results of a later time: lengths add up, processors are weighted by time.
    pub fn append(&mut self, later: &RowStats) {
        self.cpu = match (self.cpu, later.cpu) {
            (Some(mine), Some(theirs)) => {
                Some(weighted(mine, self.length_ns as f64, theirs, later.length_ns as f64))
            }
            (mine, theirs) => mine.or(theirs),
        };
        self.length_ns = self.length_ns.saturating_add(later.length_ns);
        self.requested.add(&later.requested);
        for (mine, theirs) in self.ops.iter_mut().zip(&later.ops) {
            mine.add(theirs);
        }
    }

    /// Returns all operations as one.
    pub fn all(&self) -> OpStats {
        let mut all = OpStats::default();
        self.ops.iter().for_each(|stats| all.add(stats));
        all
    }

    /// Returns reads and writes as one.
    pub fn data(&self) -> OpStats {
        let mut data = *self.op(FileOperation::Read);
        data.add(self.op(FileOperation::Write));
        data
    }

    /// Returns so many of something per second; 0 for no time at all.
    pub fn per_s(&self, amount: f64) -> f64 {
        if self.length_ns == 0 { 0.0 } else { amount * 1e9 / self.length_ns as f64 }
    }

    /// Returns the share of reads in reads and writes, percent; 0 without either.
    pub fn read_pct(&self) -> f64 {
        let n = self.data().n;
        if n == 0 { 0.0 } else { self.op(FileOperation::Read).n as f64 * 100.0 / n as f64 }
    }
}

/// Returns the mean of two times, by their lengths.
pub(super) fn weighted(a: CpuShares, a_weight: f64, b: CpuShares, b_weight: f64) -> CpuShares {
    let total = a_weight + b_weight;
    let mean = |a: f64, b: f64| if total > 0.0 { (a * a_weight + b * b_weight) / total } else { a };
    CpuShares {
        user_pct: mean(a.user_pct, b.user_pct),
        system_pct: mean(a.system_pct, b.system_pct),
        wait_pct: mean(a.wait_pct, b.wait_pct),
        idle_pct: mean(a.idle_pct, b.idle_pct),
    }
}

/// The counted part of a run: its sums, and how the rates of its intervals spread.
///
/// Without warmup Vdbench leaves out the first interval. A run of a single interval would have
/// nothing left then (Vdbench prints `avg_2-1` and `NaN`), so that interval counts here.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    has_warmup: bool,
    n_intervals: u32,
    /// Number of the first interval that counts, from 1; 0 if none did yet.
    first: u32,
    /// The first interval of a run without warmup.
    left_out: Option<RowStats>,
    sums: RowStats,
    spread: [RateSpread; N_OPERATIONS],
}

/// How the rates of intervals spread, operations per second.
#[derive(Clone, Copy, Debug, Default)]
struct RateSpread {
    n: u32,
    sum: f64,
    sum_of_squares: f64,
    max: f64,
}

impl Totals {
    /// Makes the totals of a run that begins.
    pub fn new(has_warmup: bool) -> Self {
        Totals { has_warmup, ..Totals::default() }
    }

    /// Adds the next interval.
    pub fn add(&mut self, row: &RowStats, is_warmup: bool) {
        self.n_intervals += 1;
        if is_warmup {
            return;
        }
        if self.n_intervals == 1 && !self.has_warmup {
            self.left_out = Some(row.clone());
            return;
        }
        self.count(row, self.n_intervals);
    }

    /// Adds what came after the last whole interval, too short for a row of its own.
    ///
    /// # Panics
    /// If there was no interval.
    pub fn add_rest(&mut self, row: &RowStats) {
        let (n, length_ns) = (self.n_intervals, row.length_ns);
        assert!(n > 0, "{length_ns} ns are what is left after {n} intervals");
        match &mut self.left_out {
            Some(first) if self.first == 0 => first.append(row),
            _ if self.first > 0 => self.sums.append(row),
            _ => {}
        }
    }

    fn count(&mut self, row: &RowStats, number: u32) {
        if self.first == 0 {
            self.first = number;
        }
        self.sums.append(row);
        for (spread, stats) in self.spread.iter_mut().zip(&row.ops) {
            let rate = row.per_s(stats.n as f64);
            spread.n += 1;
            spread.sum += rate;
            spread.sum_of_squares += rate * rate;
            spread.max = spread.max.max(rate);
        }
    }

    /// Ends the run: a single interval counts after all.
    pub fn finish(&mut self) {
        if self.first == 0
            && let Some(row) = self.left_out.take()
        {
            self.count(&row, 1);
        }
    }

    /// Returns the label of the averages, `2-5`: the first and the last interval that count.
    /// `None` if none did.
    pub fn label(&self) -> Option<String> {
        (self.first > 0).then(|| format!("{}-{}", self.first, self.n_intervals))
    }

    /// Returns whether the first interval counts in no average, though it was no warmup.
    pub fn leaves_first_out(&self) -> bool {
        !self.has_warmup && self.first > 1
    }

    /// Returns the sums.
    pub fn sums(&self) -> &RowStats {
        &self.sums
    }

    /// Returns the number of intervals so far.
    pub fn n_intervals(&self) -> u32 {
        self.n_intervals
    }

    /// Returns the standard deviation (with n - 1) of the rates of one operation over the
    /// intervals, per second.
    pub fn rate_std(&self, operation: FileOperation) -> f64 {
        let spread = &self.spread[position(operation)];
        if spread.n < 2 {
            return 0.0;
        }
        let n = f64::from(spread.n);
        let squares = spread.sum_of_squares - spread.sum * spread.sum / n;
        (squares.max(0.0) / (n - 1.0)).sqrt()
    }

    /// Returns the largest rate of one operation in an interval, per second.
    pub fn rate_max(&self, operation: FileOperation) -> f64 {
        self.spread[position(operation)].max
    }
}
