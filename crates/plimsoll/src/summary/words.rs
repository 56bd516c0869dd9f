//! Words and numbers of the summary's lines.

use plan::Errno;
use record::{DirRecord, JobRecord};

use crate::fill::fill_below;

/// Returns the title of a step: its number, and its name if it has one.
pub(crate) fn step_title(number: u64, name: &str) -> String {
    if name.is_empty() { format!("step {number}") } else { format!("step {number}: {name}") }
}

/// Returns a count, in full up to four digits: `9999`, `1.25 M`.
pub(super) fn count(count: u64) -> String {
    if count < 10_000 { count.to_string() } else { units::format_iops(count as f64) }
}

/// Returns a count of things, of any size: `1 read`, `2.80 M reads`.
pub(super) fn count_of(n: u64, noun: &str) -> String {
    format!("{} {}", count(n), units::things(n, noun))
}

/// Returns the sizes of I/Os as they were measured: one, or one per direction.
pub(super) fn block_size(job: &JobRecord) -> String {
    let size = |dir: &DirRecord| dir.io_bytes.checked_div(dir.n_ios).filter(|size| *size > 0);
    let mut sizes: Vec<String> = Vec::new();
    for (_, dir) in job.dirs.iter() {
        let Some(mean_bytes) = size(dir) else { continue };
        let is_mean = mean_bytes.saturating_mul(dir.n_ios) != dir.io_bytes;
        let size = if is_mean || !mean_bytes.is_multiple_of(512) {
            format!("mean {}", units::format_bytes(mean_bytes))
        } else {
            whole_bytes(mean_bytes)
        };
        if sizes.last() != Some(&size) {
            sizes.push(size);
        }
    }
    sizes.join(" / ")
}

/// Returns a size without decimals, in the largest unit that allows it.
fn whole_bytes(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let fits = |(_, unit): &(&str, u64)| bytes.is_multiple_of(*unit);
    match units.into_iter().find(fits) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} B"),
    }
}

/// Returns the mean number of I/Os in flight: as the run counted them, else by Little's law from
/// time spent in I/Os over runtime.
///
/// None if neither is known.
pub(super) fn in_flight(job: &JobRecord, runtime_ns: u64) -> Option<String> {
    let mean = match job.in_flight_mean {
        Some(mean) => mean,
        None => by_law(job, runtime_ns)?,
    };
    Some(match mean {
        ..9.995 => format!("{mean:.2}"),
        ..99.95 => format!("{mean:.1}"),
        _ => format!("{mean:.0}"),
    })
}

/// Returns time spent in I/Os over runtime; none if the completion latency of any direction was not
/// measured.
fn by_law(job: &JobRecord, runtime_ns: u64) -> Option<f64> {
    let mut spent_ns = 0_u128;
    for (_, dir) in job.dirs.iter() {
        if dir.clat.is_empty() && dir.n_ios > 0 {
            return None;
        }
        spent_ns = spent_ns.saturating_add(dir.clat.sum_ns());
    }
    Some(spent_ns as f64 / runtime_ns as f64)
}

/// Returns a text cut to a number of columns.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(3)).collect();
    format!("{kept}...")
}

/// A blank at which [`wrap`] does not break.
const FIXED_BLANK: &str = "\u{a0}";

/// Returns a text that [`wrap`] leaves on one line: a number and its unit.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(' ', FIXED_BLANK)
}

/// Breaks a text at blanks; lines after the first are indented. Ends in a newline.
///
/// A word longer than a line stays whole: it is a path to copy.
pub(crate) fn wrap(text: &str, indent: usize, columns: usize) -> String {
    let body = text.trim_start();
    let lead = &text[..text.len() - body.len()];
    fill_below(lead, indent, body, columns).replace(FIXED_BLANK, " ")
}

/// Returns the name of an error number of Linux with its meaning, for those that storage raises.
pub(super) fn error_words(errno: i32) -> String {
    match Errno::of_number(errno) {
        Some(Errno { name, meaning, .. }) => format!("{name} ({meaning})"),
        None => format!("error {errno}"),
    }
}
