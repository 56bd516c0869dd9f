//! Histograms of response times.

use std::fmt::Write as _;

use hist::Histogram;

use super::number::{fixed, thousands};

/// Limits of the buckets unless `histogram=` says otherwise, microseconds.
pub const HISTOGRAM_LIMITS_US: [u64; 26] = [
    20, 40, 60, 80, 100, 200, 400, 600, 800, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 20_000,
    40_000, 60_000, 80_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000, 2_000_000,
];

const HEADING: &str =
    "  min(ms) <     max(ms)         count       %%    cum%%  '+': Individual%; '+-': Cumulative%";
/// Columns of the bar for 100 %.
const BAR_COLUMNS: f64 = 50.0;

/// Returns the blocks of raw I/O: both directions together, then each; of one direction alone only
/// that.
pub fn raw_histograms(reads: &Histogram, writes: &Histogram, limits_us: &[u64]) -> String {
    match (reads.count(), writes.count()) {
        (0, 0) => NOTHING.to_owned(),
        (_, 0) => block("Only reads done for this workload:", reads, limits_us),
        (0, _) => block("Only writes done for this workload:", writes, limits_us),
        _ => {
            let mut both = reads.clone();
            both.merge(writes);
            let blocks = [("Reads and writes:", &both), ("Reads:", reads), ("Writes:", writes)];
            blocks.map(|(title, histogram)| block(title, histogram, limits_us)).concat()
        }
    }
}

const NOTHING: &str = "No statistics generated for this run.\n";

/// Returns the block of the operations that a file system workload asked for.
pub fn file_histogram(requested: &Histogram, limits_us: &[u64]) -> String {
    block("Total of all requested operations since warmup: ", requested, limits_us)
}

/// Returns one block with an empty line below; nothing without operations.
///
/// # Panics
/// If limits do not rise.
pub fn block(title: &str, histogram: &Histogram, limits_us: &[u64]) -> String {
    let rises = limits_us.is_sorted_by(|a, b| a < b);
    assert!(rises, "limits of a histogram do not rise: {limits_us:?}");
    let total = histogram.count();
    if total == 0 {
        return String::new();
    }
    let mut text = format!("{title}\n{HEADING}\n\n");
    let (mut below, mut from_us) = (0, 0);
    let until = limits_us.iter().map(|&us| (Some(us), histogram.count_below(us * 1000)));
    for (to_us, n_below) in until.chain([(None, total)]) {
        let n_below = n_below.max(below);
        let share = |n: u64| n as f64 * 100.0 / total as f64;
        let (here, all) = (share(n_below - below), share(n_below));
        let max = to_us.map_or_else(|| "max".to_owned(), ms);
        let _ = writeln!(
            text,
            "{:>9} <{max:>12}{:>14}{:>9}{:>9}  {}",
            ms(from_us),
            thousands(n_below - below),
            fixed(here, 4),
            fixed(all, 4),
            bar(here, all)
        );
        below = n_below;
        from_us = to_us.unwrap_or(from_us);
    }
    text.push('\n');
    text
}

fn ms(us: u64) -> String {
    format!("{}.{:03}", us / 1000, us % 1000)
}

/// Returns `+` for the share of a bucket, then `-` for that of all buckets before it.
fn bar(here_pct: f64, all_pct: f64) -> String {
    let columns = |pct: f64| (pct * BAR_COLUMNS / 100.0).floor() as usize;
    let (n_here, n_before) = (columns(here_pct), columns(all_pct - here_pct));
    format!("{}{}", "+".repeat(n_here), "-".repeat(n_before))
}
