//! The status line that fio keeps on a terminal.

use std::fmt::Write as _;

use plan::workload::Access;
use plan::{Direction, PerDir};
use units::fio::Unit;

use super::text::{rate_unit, shorten};

/// What a worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waits for its turn.
    NotCreated,
    /// Exists, does nothing yet.
    Created,
    /// Opens and lays out its files.
    SettingUp,
    /// Reads its files before the run.
    PreReading,
    /// Runs, not yet measured.
    Ramp,
    /// Runs.
    Running(Access),
    /// Verifies what it wrote.
    Verifying,
    /// Makes its data durable.
    Syncing,
    /// Has ended I/O and collects results.
    Finishing,
    /// Has ended, and is not yet taken note of.
    Exited,
    /// Has ended well.
    Done,
    /// Has ended with an error.
    Failed,
    /// Was stopped by a signal.
    Killed,
}

impl JobState {
    /// Returns fio's letter. A mix of 100 % reads or writes has the letter of a mix.
    pub fn letter(self) -> char {
        match self {
            JobState::NotCreated => 'P',
            JobState::Created => 'C',
            JobState::SettingUp => 'I',
            JobState::PreReading => 'p',
            JobState::Ramp => '/',
            JobState::Running(access) => {
                let letter = match (access.read, access.write) {
                    (true, true) => 'm',
                    (true, false) => 'r',
                    (false, true) => 'w',
                    (false, false) => 'd',
                };
                if access.random { letter } else { letter.to_ascii_uppercase() }
            }
            JobState::Verifying => 'V',
            JobState::Syncing => 'F',
            JobState::Finishing => 'f',
            JobState::Exited => 'E',
            JobState::Done => '_',
            JobState::Failed => 'X',
            JobState::Killed => 'K',
        }
    }
}

/// What the status line shows.
#[derive(Clone, Debug, PartialEq)]
pub struct EtaStatus<'a> {
    /// Workers that run.
    pub n_running: u32,
    /// Files they hold open.
    pub n_files_open: u32,
    /// One state per worker, in order.
    pub states: &'a [JobState],
    /// Lower and upper limits of bandwidth that jobs set, bytes per second, summed.
    pub rate_limits_bytes: Option<(u64, u64)>,
    /// The same for IOPS; shown without limits of bandwidth only.
    pub rate_limits_iops: Option<(u64, u64)>,
    /// Share of the run that is done, percent; none while unknown or all workers ramp.
    pub done_pct: Option<f64>,
    /// Bytes per second since the last line.
    pub rate_bytes: PerDir<u64>,
    /// Operations per second since the last line.
    pub rate_iops: PerDir<u64>,
    /// Seconds left; none while unknown.
    pub left_s: Option<u64>,
    /// 1024 or 1000.
    pub kb_base: u32,
    /// 0 or 8 for bytes, 1 for bits.
    pub unit_base: u8,
    /// Length of the line before, which a shorter one must cover with blanks.
    pub last_length: usize,
    /// Columns of the terminal that shows the line; `None` elsewhere. A line that does not fit
    /// leaves out limits, states and files, in this order, so that the time left stays in sight.
    pub columns: Option<usize>,
}

/// Returns the line, ending in a carriage return.
///
/// # Panics
/// If `k` counts in nothing that fio has.
pub fn eta_line(status: &EtaStatus<'_>) -> String {
    assert!(matches!(status.kb_base, 1000 | 1024), "a k of {}", status.kb_base);
    let fits = |line: &String| status.columns.is_none_or(|columns| line.len() < columns);
    let mut line = text(status, 0);
    let mut n_left_out = 0;
    while !fits(&line) && n_left_out < N_DISPENSABLE {
        n_left_out += 1;
        line = text(status, n_left_out);
    }
    while line.len() < status.last_length {
        line.push(' ');
    }
    line.push('\r');
    line
}

/// Parts that a narrow terminal does without.
const N_DISPENSABLE: u32 = 3;

/// Returns the line without the first so many dispensable parts.
fn text(status: &EtaStatus<'_>, n_left_out: u32) -> String {
    let mut line = format!("Jobs: {}", status.n_running);
    if n_left_out < 3 {
        let _ = write!(line, " (f={})", status.n_files_open);
    }
    let binary = status.kb_base.is_power_of_two();
    if n_left_out > 0 {
        // Limits are in the job file.
    } else if let Some((min, max)) = status.rate_limits_bytes {
        let rate = |bytes| shorten(bytes, 4, binary, Unit::BytePerSecond);
        let _ = write!(line, ", {}-{}", rate(min), rate(max));
    } else if let Some((min, max)) = status.rate_limits_iops {
        let _ = write!(line, ", {min}-{max} IOPS");
    }
    if status.n_running > 0 {
        let done = match status.done_pct.filter(|done| done.is_finite()) {
            Some(done) => format!("{done:.1}%"),
            None => "-.-%".to_owned(),
        };
        line.push_str(": ");
        if n_left_out < 2 {
            let _ = write!(line, "[{}]", run_lengths(status.states));
        }
        let _ = write!(line, "[{done}]");
        put_rates(&mut line, status, binary);
        let _ = write!(line, "[eta {}]", duration(status.left_s));
    }
    line
}

fn put_rates(line: &mut String, status: &EtaStatus<'_>, binary: bool) {
    let active: Vec<_> = Direction::ALL
        .into_iter()
        .filter(|dir| status.rate_bytes[*dir] > 0 || status.rate_iops[*dir] > 0)
        .collect();
    if active.is_empty() {
        return;
    }
    let unit = rate_unit(status.unit_base);
    let join = |value: &dyn Fn(Direction) -> String| {
        let parts = active.iter().map(|dir| format!("{}={}", &dir.name()[..1], value(*dir)));
        parts.collect::<Vec<_>>().join(",")
    };
    let bytes = join(&|dir| shorten(status.rate_bytes[dir], 4, binary, unit));
    let iops = join(&|dir| shorten(status.rate_iops[dir], 4, false, Unit::None));
    let _ = write!(line, "[{bytes}][{iops} IOPS]");
}

/// Returns the letters of all workers, runs of one letter counted: `_(1),M(2)`.
fn run_lengths(states: &[JobState]) -> String {
    let letters: Vec<char> = states.iter().map(|state| state.letter()).collect();
    let runs = letters.chunk_by(|a, b| a == b);
    let runs: Vec<_> = runs.map(|run| format!("{}({})", run[0], run.len())).collect();
    runs.join(",")
}

/// Returns a duration such as `01h:02m:03s`; minutes and seconds always.
fn duration(left_s: Option<u64>) -> String {
    let Some(left_s) = left_s else { return "--".to_owned() };
    let (days, hours) = (left_s / 86_400, left_s / 3_600 % 24);
    let (minutes, seconds) = (left_s / 60 % 60, left_s % 60);
    let mut text = String::new();
    if days > 0 {
        let _ = write!(text, "{days:02}d:");
    }
    if days > 0 || hours > 0 {
        let _ = write!(text, "{hours:02}h:");
    }
    let _ = write!(text, "{minutes:02}m:{seconds:02}s");
    text
}
