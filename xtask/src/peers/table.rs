//! The table: a line per row and state, on the screen and in `docs/performance.md`.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};

use super::device::State;
use super::options::Options;
use super::rows::{Measure, Peer, Row, Target};
use super::tool::Bench;
use crate::process;

/// The document, relative to the workspace root. The table stands between the two marks.
const DOCUMENT: &str = "docs/performance.md";
const BEGIN: &str = "<!-- peers: begin -->\n";
const END: &str = "<!-- peers: end -->\n";

/// What came out of a row.
pub(crate) struct Line {
    pub(crate) row: &'static Row,
    pub(crate) state: State,
    pub(crate) seconds: u32,
    /// Ours and the peer's, pair by pair.
    pub(crate) pairs: Vec<(f64, f64)>,
}

impl Line {
    fn ours(&self) -> f64 {
        median(self.pairs.iter().map(|pair| pair.0).collect())
    }

    fn peer(&self) -> f64 {
        median(self.pairs.iter().map(|pair| pair.1).collect())
    }

    fn ratios(&self) -> Vec<f64> {
        self.pairs.iter().map(|pair| pair.0 / pair.1).collect()
    }

    /// Returns whether the row's target is met.
    pub(crate) fn is_met(&self) -> bool {
        let ratio = median(self.ratios());
        match self.row.target {
            Target::RatioAtLeast(limit) => ratio >= limit,
            Target::RatioAtMost(limit) => ratio <= limit,
            Target::AtMost(limit) => self.ours() <= limit,
        }
    }

    fn cells(&self) -> [String; 7] {
        let show = |value: f64| match self.row.measure {
            Measure::Iops => format!("{:.0} k", value / 1e3),
            Measure::IosPerCpuSecond => format!("{:.0} k/CPU s", value / 1e3),
            Measure::CpuNsPerIo => format!("{value:.0} ns/IO"),
            Measure::PeakBytesAbove(_) => format!("{:.1} MiB", value / 1024.0 / 1024.0),
        };
        let ratios = self.ratios();
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(0.0, f64::max);
        let target = match self.row.target {
            Target::RatioAtLeast(limit) => format!("≥ {limit}"),
            Target::RatioAtMost(limit) => format!("≤ {limit}"),
            Target::AtMost(limit) => format!("≤ {}", show(limit)),
        };
        let about = match self.row.measure {
            Measure::PeakBytesAbove(_) => format!("{}, {} s", self.row.about, self.seconds),
            Measure::Iops | Measure::IosPerCpuSecond | Measure::CpuNsPerIo => {
                self.row.about.to_owned()
            }
        };
        let peer = match self.row.peer {
            Peer::Fio => "fio",
            Peer::Bare(..) => "bare loop",
            Peer::JobFile(_) => "a job file",
            Peer::Mdtest(_) => "mdtest",
        };
        let state = if self.row.uses_device { self.state.name() } else { "-" };
        [
            about,
            state.to_owned(),
            show(self.ours()),
            format!("{} ({peer})", show(self.peer())),
            format!("{:.2} ({low:.2} to {high:.2})", median(ratios)),
            target,
            if self.is_met() { "yes" } else { "**no**" }.to_owned(),
        ]
    }

    /// Returns the line as a terminal shows it.
    pub(crate) fn text(&self) -> String {
        aligned(&self.cells().each_ref().map(String::as_str))
    }
}

const COLUMNS: [&str; 7] = ["job", "device", "plimsoll", "peer", "ratio (range)", "target", "met"];

/// Returns the first line of the table as a terminal shows it.
pub(crate) fn heading() -> String {
    aligned(&COLUMNS)
}

fn aligned(cells: &[&str; 7]) -> String {
    let [job, device, ours, peer, ratio, target, met] = cells;
    format!("{job:42} {device:8} {ours:>12} {peer:>20} {ratio:>22} {target:>12} {met}")
}

/// Puts the table and the facts of the machine into the document.
pub(crate) fn write(lines: &[Line], bench: &Bench, options: &Options) -> Result<()> {
    let path = process::root().join(DOCUMENT);
    let document = fs::read_to_string(&path).with_context(|| format!("cannot read {DOCUMENT}"))?;
    let (before, rest) = document.split_once(BEGIN).context("no begin mark in the document")?;
    let (_, after) = rest.split_once(END).context("no end mark in the document")?;
    let mut text = facts(bench, options)?;
    write!(text, "\n| {} |\n|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len()))?;
    for line in lines {
        writeln!(text, "| {} |", line.cells().join(" | "))?;
    }
    fs::write(&path, format!("{before}{BEGIN}{text}{END}{after}"))?;
    println!("wrote {DOCUMENT}");
    Ok(())
}

/// Returns what the figures depend on.
fn facts(bench: &Bench, options: &Options) -> Result<String> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo")?;
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown", |pair| pair.1);
    let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let fio = super::first_line("fio", &["--version"])?;
    Ok(format!(
        "- CPU: {model}, {n_cores} cores; everything pinned to core {}\n- Kernel: Linux {}\n\
         - Peer: {fio}, as Debian ships it\n- Target: {}\n- Runs: {} pairs of {} s, in turn\n\
         - Repeat: `cargo xtask peers {} --write`\n",
        bench.core,
        release.trim(),
        bench.target.display(),
        options.n_pairs,
        options.seconds,
        options.line,
    ))
}

/// Returns the middle value, of an even number the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;

    #[track_caller]
    fn check_met(name: &str, pairs: &[(f64, f64)], expected: bool) {
        let row = ROWS.iter().find(|row| row.name == name).expect("a row");
        let line = Line { row, state: State::New, seconds: 5, pairs: pairs.to_vec() };
        assert_eq!(line.is_met(), expected, "{}", line.text());
    }

    #[test]
    fn targets_are_of_the_median_of_ratios() {
        check_met("io_uring", &[(2.0, 1.0), (1.7, 1.0), (1.0, 1.0)], true);
        check_met("io_uring", &[(2.0, 1.0), (1.6, 1.0), (1.0, 1.0)], false);
        check_met("rate-psync", &[(0.6, 1.0)], true);
        check_met("rate-psync", &[(0.7, 1.0)], false);
        check_met("memory", &[(64.0 * 1_048_576.0, 1.0)], true);
        check_met("memory", &[(65.0 * 1_048_576.0, 1e12)], false);
    }

    #[test]
    fn even_numbers_of_pairs_have_a_middle() {
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
    }

    #[test]
    fn the_document_has_room_for_the_table() {
        let text = fs::read_to_string(process::root().join(DOCUMENT)).expect("the document");
        assert!(text.contains(BEGIN) && text.contains(END));
    }
}
