//! `iostat` as text: columns by their names, whatever their order and version.

use std::io::BufRead;

use crate::context::{Context, Spans, quote};
use crate::lines::{Lines, ReadError};
use crate::number::decimal;
use crate::read::sysstat_names::{DeviceFigure, busy_share, is_busy_cpu, put, what};
use crate::sample::{ClockKind, Event, HostSample, NS_PER_S, Rates};
use crate::time::Stamps;

/// Returns whether words head a table of devices.
pub(crate) fn is_header(words: &[&str]) -> bool {
    words.len() > 3
        && words.iter().filter(|word| what(word).is_some()).count() >= 3
        && words.iter().any(|word| matches!(*word, "tps" | "r/s"))
}

/// What the lines before one said.
#[derive(Default)]
struct State {
    stamps: Stamps,
    spans: Spans,
    leaves_out_first: bool,
    /// Meaning of the columns of the table of devices, and which one names them.
    columns: Vec<Option<(DeviceFigure, f64)>>,
    name_idx: usize,
    /// Which columns of the table of processors are time in use.
    cpu_columns: Vec<bool>,
    /// The next line holds figures of processors.
    is_cpu: bool,
    /// This report had processors, or devices.
    has_cpu: bool,
    has_devices: bool,
    /// Reports since the last header; the first is since the host started.
    n_reports: u64,
    /// Reports of the whole source: they stand for moments where it has none.
    n_all: i64,
    end_ns: Option<i64>,
    span_ns: u64,
    is_clock_told: bool,
}

/// Reads `iostat`.
pub(super) fn read(
    input: &mut dyn BufRead,
    leaves_out_first: bool,
    context: &mut Context<'_>,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut state = State { leaves_out_first, ..State::default() };
    while let Some(line) = lines.next()? {
        let line = String::from_utf8_lossy(line).into_owned();
        let is_read = state.line(&line, lines.number(), context);
        if let Err(message) = is_read {
            if lines.is_cut() {
                context.remark(Some(lines.number()), "the last line is cut off and left out");
            } else {
                context.unreadable(Some(lines.number()), message);
            }
        }
    }
    if state.end_ns.is_none() && context.n_samples() > 0 {
        context.put(Event::Clock(ClockKind::Absent));
    }
    Ok(())
}

impl State {
    fn line(&mut self, line: &str, number: u64, context: &mut Context<'_>) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            // A blank line between the names and the figures of processors is none of iostat's.
            return Ok(());
        }
        if line.contains(" CPU)") && line.contains('(') {
            self.host(&words, context);
            return Ok(());
        }
        if words[0] == "avg-cpu:" {
            self.begin_if(self.has_cpu || self.has_devices);
            self.has_cpu = true;
            self.is_cpu = true;
            self.cpu_columns = words[1..].iter().map(|name| is_busy_cpu(name)).collect();
            return Ok(());
        }
        if self.is_cpu {
            self.is_cpu = false;
            return self.processors(&words, context);
        }
        if is_header(&words) {
            self.begin_if(self.has_devices);
            self.has_devices = true;
            // The name stands first, with `-h` last.
            self.name_idx = if what(words[0]).is_none() { 0 } else { words.len() - 1 };
            self.columns = words.iter().map(|word| what(word)).collect();
            return Ok(());
        }
        if let Some(stamp) = self.moment(line) {
            self.begin();
            if !self.is_clock_told {
                self.is_clock_told = true;
                context.put(Event::Clock(stamp.clock));
            }
            self.end_ns = Some(stamp.unix_ns);
            let (span_ns, note) = self.spans.next(stamp.unix_ns, None);
            self.span_ns = span_ns;
            if let Some(note) = note {
                context.remark(Some(number), note);
            }
            return Ok(());
        }
        self.device(&words, line, context)
    }

    /// Reads a moment that stands alone on its line.
    fn moment(&mut self, line: &str) -> Option<crate::time::Stamp> {
        if let Some(time) = line.trim().strip_prefix("Time:") {
            return self.stamps.time_only(time);
        }
        self.stamps.stamp(line)
    }

    /// Reads `Linux 6.1 (host) 11/21/26 _x86_64_ (2 CPU)`: a new run of iostat begins.
    fn host(&mut self, words: &[&str], context: &mut Context<'_>) {
        let of_cpus =
            words.iter().position(|word| *word == "CPU)").and_then(|idx| idx.checked_sub(1));
        let n_cpus = of_cpus.and_then(|idx| words[idx].trim_start_matches('(').parse().ok());
        if let Some(n_cpus) = n_cpus {
            context.put(Event::Machine { n_cpus });
        }
        for word in words {
            self.stamps.set_day(word);
        }
        self.n_reports = 0;
        self.has_cpu = false;
        self.has_devices = false;
        self.end_ns = None;
        self.spans.restart();
    }

    /// Begins a report where a table stands a second time.
    fn begin_if(&mut self, is_new: bool) {
        if is_new || self.n_reports == 0 {
            self.begin();
        }
    }

    fn begin(&mut self) {
        self.n_reports += 1;
        self.n_all += 1;
        self.has_cpu = false;
        self.has_devices = false;
    }

    /// Returns when the report ended: the number of the report where there is no moment.
    fn moment_ns(&self) -> i64 {
        self.end_ns.unwrap_or(self.n_all * NS_PER_S as i64)
    }

    /// Returns whether the report is the average since the host started.
    fn is_since_boot(&self) -> bool {
        self.n_reports <= 1 && self.leaves_out_first
    }

    fn processors(&self, words: &[&str], context: &mut Context<'_>) -> Result<(), String> {
        if words.len() != self.cpu_columns.len() {
            let (n_found, n_due) = (words.len(), self.cpu_columns.len());
            return Err(format!("{n_found} figures of processors where the table has {n_due}"));
        }
        let (mut n_busy, mut busy) = (0, 0.0);
        for (word, is_busy) in words.iter().zip(&self.cpu_columns) {
            let percent = number(word)?;
            if *is_busy {
                n_busy += 1;
                busy += percent;
            }
        }
        if !self.is_since_boot() {
            context.put(Event::Host(HostSample {
                end_ns: self.moment_ns(),
                span_ns: self.span_ns,
                cpu_share: Some(busy_share(n_busy, busy)),
                ..HostSample::default()
            }));
        }
        Ok(())
    }

    fn device(&self, words: &[&str], line: &str, context: &mut Context<'_>) -> Result<(), String> {
        if self.columns.is_empty() {
            return Err(format!("{} is not a line of iostat", quote(line)));
        }
        if words.len() != self.columns.len() {
            let (n_found, n_due) = (words.len(), self.columns.len());
            return Err(format!("{n_found} columns where the table has {n_due}: {}", quote(line)));
        }
        let mut rates = Rates::default();
        for (word, column) in words.iter().zip(&self.columns) {
            if let Some((what, unit)) = column {
                put(&mut rates, *what, number(word)? * unit);
            }
        }
        if !self.is_since_boot() {
            let sample = rates.over(self.moment_ns(), self.span_ns);
            context.put(Event::Device { name: words[self.name_idx], sample });
        }
        Ok(())
    }
}

fn number(word: &str) -> Result<f64, String> {
    if let Some(number) = decimal(word.trim_end_matches('%')).filter(|number| *number >= 0.0) {
        return Ok(number);
    }
    if word.ends_with(['k', 'M', 'G']) {
        return Err(format!("{} is rounded: run iostat without `-h`", quote(word)));
    }
    Err(format!("{} is no figure", quote(word)))
}
