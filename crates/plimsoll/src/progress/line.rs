//! The text of the status line. Pure.

use std::path::Path;

use runner::{DoneOf, FormatStatus, Status};

/// Returns the status line. What matters least is left out until it fits the width.
pub(super) fn status(status: &Status, width: usize) -> String {
    if let Some(format) = &status.format {
        return formatting(status, format, width);
    }
    let step =
        (status.n_steps > 1).then(|| format!("step {}/{}", status.step_idx + 1, status.n_steps));
    let left = match status.left_ns {
        Some(left_ns) => format!("{} left", clock(left_ns.div_ceil(NS_PER_S))),
        None => clock(status.elapsed_ns / NS_PER_S),
    };
    let mut parts = [
        step,
        Some(format!("{} running", status.n_running)),
        status.ramp.then(|| "ramp".to_owned()),
        Some(rates(status)),
        latency(status),
        Some(left),
    ];
    fit(&mut parts, &[1, 0, 4, 2, 5], width)
}

/// Returns the line shown while trees are made or removed: how many of their folders and files are
/// done, and how much of their contents.
fn formatting(status: &Status, format: &FormatStatus, width: usize) -> String {
    let step =
        (status.n_steps > 1).then(|| format!("step {}/{}", status.step_idx + 1, status.n_steps));
    let of =
        |what: &str, (done, total): DoneOf| (total > 0).then(|| format!("{what} {done}/{total}"));
    let is_removing = format.removed.0 < format.removed.1;
    let time = match status.left_ns {
        Some(left_ns) => format!("{} left", clock(left_ns.div_ceil(NS_PER_S))),
        None => clock(status.elapsed_ns / NS_PER_S),
    };
    let (done_bytes, total_bytes) = format.bytes;
    let bytes = (total_bytes > 0 && !is_removing).then(|| {
        format!("{} of {}", units::format_bytes(done_bytes), units::format_bytes(total_bytes))
    });
    let is_writing = status.bytes_per_s[1] > 0.0;
    let mut parts = [
        step,
        Some(if is_removing { "removing" } else { "formatting" }.to_owned()),
        if is_removing { of("entries", format.removed) } else { of("dirs", format.folders) },
        if is_removing { None } else { of("files", format.files) },
        bytes,
        is_writing.then(|| units::format_rate_mib_s(status.bytes_per_s[1])),
        Some(time),
    ];
    fit(&mut parts, &[5, 0, 1, 4, 2, 6], width)
}

/// Joins the parts of a line, without as many of the least important as it takes to fit.
fn fit(parts: &mut [Option<String>], least: &[usize], width: usize) -> String {
    for idx in std::iter::once(None).chain(least.iter().map(|idx| Some(*idx))) {
        if let Some(idx) = idx {
            parts[idx] = None;
        }
        let line = join(parts);
        if line.chars().count() <= width {
            return line;
        }
    }
    cut(&join(parts), width)
}

/// Returns the line shown while a file is laid out.
pub(super) fn layout(
    path: &Path,
    done: u64,
    total: u64,
    left_s: Option<u64>,
    width: usize,
) -> String {
    let percent = if total == 0 { 100 } else { u128::from(done) * 100 / u128::from(total) };
    let left = left_s.map_or(String::new(), |left_s| format!("  {} left", clock(left_s)));
    let size = units::format_bytes(total);
    cut(&format!("laying out {percent:3} % of {size}{left}  {}", path.display()), width)
}

const NS_PER_S: u64 = 1_000_000_000;

fn join(parts: &[Option<String>]) -> String {
    parts.iter().flatten().map(String::as_str).collect::<Vec<_>>().join("  ")
}

/// Returns bandwidth and IOPS of the directions that move: `read+write 133+57 MiB/s 17k+7k IOPS`.
fn rates(status: &Status) -> String {
    let active: Vec<usize> = (0..3).filter(|&dir| status.iops[dir] > 0.0).collect();
    if active.is_empty() {
        return "no I/O".to_owned();
    }
    let sum = |text: &dyn Fn(usize) -> String| {
        active.iter().map(|&dir| text(dir)).collect::<Vec<_>>().join("+")
    };
    let names = sum(&|dir| record::DIRECTIONS[dir].to_owned());
    let bandwidth = sum(&|dir| {
        let text = units::format_rate_mib_s(status.bytes_per_s[dir]);
        text.trim_end_matches(" MiB/s").to_owned()
    });
    let iops = sum(&|dir| units::format_iops(status.iops[dir]).replace(' ', ""));
    format!("{names} {bandwidth} MiB/s {iops} IOPS")
}

fn latency(status: &Status) -> Option<String> {
    let text = |ns| units::format_latency_ns(ns).replace(' ', "");
    let (p50, p99) = (status.latency_ns_p50?, status.latency_ns_p99?);
    Some(format!("p50 {} p99 {}", text(p50), text(p99)))
}

/// Returns a duration as `0:07`, `12:34` or `1:02:03`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed() -> Status {
        Status {
            step_idx: 1,
            n_steps: 4,
            n_running: 12,
            n_workers: 16,
            ramp: false,
            elapsed_ns: 5 * NS_PER_S,
            left_ns: Some(83 * NS_PER_S + 1),
            format: None,
            iops: [104_000.0, 44_600.0, 0.0],
            bytes_per_s: [851_968_000.0, 365_363_200.0, 0.0],
            latency_ns_p50: Some(98_000),
            latency_ns_p99: Some(1_250_000),
        }
    }

    #[track_caller]
    fn check(width: usize, expected: &str) {
        assert_eq!(status(&mixed(), width), expected);
    }

    #[test]
    fn leaves_out_what_matters_least() {
        let rates = "read+write 813+348 MiB/s 104k+44.6k IOPS";
        let latency = "p50 98.0µs p99 1.25ms";
        check(200, &format!("step 2/4  12 running  {rates}  {latency}  1:24 left"));
        check(90, &format!("step 2/4  {rates}  {latency}  1:24 left"));
        check(77, &format!("{rates}  {latency}  1:24 left"));
        check(60, &format!("{rates}  1:24 left"));
        check(45, rates);
        check(24, "read+write 813+348 MiB/s");
    }

    /// Checks a line of a format of 1,365 folders and 100,000 files of 9.5 GiB.
    #[track_caller]
    fn check_format(change: impl Fn(&mut FormatStatus), width: usize, expected: &str) {
        let mut format = FormatStatus {
            removed: (0, 0),
            folders: (1365, 1365),
            files: (12_345, 100_000),
            bytes: (1_288_490_188, 10_200_547_328),
            entries: (113_710, 201_365),
        };
        change(&mut format);
        let all =
            Status { format: Some(format), bytes_per_s: [0.0, 851_968_000.0, 0.0], ..mixed() };
        assert_eq!(status(&all, width), expected);
    }

    #[test]
    fn a_format_says_what_is_done_of_how_much() {
        let done = "dirs 1365/1365  files 12345/100000  1.20 GiB of 9.50 GiB";
        check_format(|_| {}, 200, &format!("step 2/4  formatting  {done}  813 MiB/s  1:24 left"));
        check_format(|_| {}, 80, &format!("formatting  {done}  1:24 left"));
        check_format(|_| {}, 60, "dirs 1365/1365  files 12345/100000  1:24 left");
        check_format(|_| {}, 40, "files 12345/100000  1:24 left");
        let folders = |format: &mut FormatStatus| (format.files, format.bytes) = ((0, 0), (0, 0));
        check_format(folders, 50, "step 2/4  formatting  dirs 1365/1365  1:24 left");
        let removes = |format: &mut FormatStatus| format.removed = (1000, 101_365);
        check_format(removes, 60, "step 2/4  removing  entries 1000/101365  1:24 left");
    }

    #[test]
    fn says_how_long_it_runs_when_the_end_is_not_known() {
        let endless = Status { left_ns: None, n_steps: 1, ..Status::default() };
        assert_eq!(status(&endless, 80), "0 running  no I/O  0:00");
    }

    #[test]
    fn layout_says_share_and_time_left() {
        let line = layout(Path::new("/mnt/a"), 1 << 30, 4 << 30, Some(3723), 80);
        assert_eq!(line, "laying out  25 % of 4.00 GiB  1:02:03 left  /mnt/a");
        assert_eq!(layout(Path::new("a"), 0, 0, None, 80), "laying out 100 % of 0 B  a");
    }
}
