//! `iostat` as text: columns by their names, whatever their order and version.
//!
//! With `-h` and `--pretty` the name of a device stands last, and its figures are spread over
//! several tables of one report. Sizes of `-h` have units of their own, and are rounded.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::context::{Context, Spans, quote};
use crate::lines::{Lines, ReadError};
use crate::number::decimal;
use crate::read::sysstat_names::{DeviceFigure, busy_share, is_busy_cpu, is_size, put, what};
use crate::sample::{ClockKind, Event, HostSample, NS_PER_S, Rates};
use crate::time::{Stamp, Stamps, western};

/// Returns whether words head a table of devices.
pub(super) fn is_header(words: &[&str]) -> bool {
    words.len() > 3
        && words.iter().filter(|word| what(word).is_some()).count() >= 3
        && words.iter().any(|word| matches!(*word, "tps" | "r/s"))
}

/// Returns whether words head a further table of the same report: of writes, discards, flushes.
fn is_further_header(words: &[&str]) -> bool {
    let is_last = |word: &&str| word.trim_end_matches(':') == "Device";
    words.len() > 2 && words.last().is_some_and(is_last) && what(words[0]).is_some()
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
    /// What the tables of this report say, by device, where there may be several.
    parts: BTreeMap<String, Rates>,
    /// Largest part of a figure that is rounded off.
    rounding: f64,
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
    /// Moment of the report, where it has one.
    stamp: Option<Stamp>,
    span_ns: u64,
    /// Figures of a device stood above every heading and moment.
    begins_with_figures: bool,
    /// The last line with words was a heading of devices.
    is_below_heading: bool,
    /// Moments stand below the figures that they are of.
    is_reversed: bool,
}

/// Why a log that was turned upside down gives no needs.
const REVERSED: &str = "its lines are in reverse order: the moment of a report stands below its \
                        figures. Turn it round first, as with `tac`";

/// Reads `iostat`.
pub(super) fn read(
    input: &mut dyn BufRead,
    leaves_out_first: bool,
    stamps: Stamps,
    context: &mut Context<'_>,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut state = State { stamps, leaves_out_first, ..State::default() };
    while let Some(line) = lines.next()? {
        let line = String::from_utf8_lossy(line).into_owned();
        let is_read = state.line(&line, lines.number(), context);
        if let Err(message) = is_read {
            context.bad_line(&lines, message);
        }
        if state.is_reversed {
            return Err(ReadError::whole(REVERSED));
        }
        context.check_dates(state.stamps.doubt(), Some(lines.number()))?;
        // The next lines may show why there are no moments.
        if !state.begins_with_figures {
            context.check_length()?;
        }
    }
    context.check_end(&lines);
    state.put_parts(context);
    if state.rounding > 0.0 {
        let text = format!(
            "`-h` rounds sizes: bytes per second are up to {} off; iostat without it prints \
             exact ones",
            units::format_percent(state.rounding)
        );
        context.remark(None, text);
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
            self.host(&words, line, context);
            return Ok(());
        }
        if words[0] == "avg-cpu:" {
            self.begin_if(self.has_cpu || self.has_devices, context);
            self.has_cpu = true;
            self.is_cpu = true;
            self.cpu_columns = words[1..].iter().map(|name| is_busy_cpu(name)).collect();
            return Ok(());
        }
        if self.is_cpu {
            self.is_cpu = false;
            self.is_reversed |= self.moment(line).is_some();
            return self.processors(&words, context);
        }
        let is_header = is_header(&words);
        if is_header || is_further_header(&words) {
            if is_header {
                self.begin_if(self.has_devices, context);
            }
            self.has_devices = true;
            // The name stands first, with `-h` last.
            self.name_idx = if what(words[0]).is_none() { 0 } else { words.len() - 1 };
            self.columns = words.iter().map(|word| what(word)).collect();
            self.is_below_heading = true;
            return Ok(());
        }
        let is_below_heading = std::mem::take(&mut self.is_below_heading);
        if let Some(stamp) = self.moment(line) {
            self.is_reversed |= self.begins_with_figures && is_below_heading;
            self.begins_with_figures = false;
            self.begin(context);
            self.stamp = Some(stamp);
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
    fn moment(&mut self, line: &str) -> Option<Stamp> {
        if let Some(time) = line.trim().strip_prefix("Time:") {
            return self.stamps.time_only(time);
        }
        self.stamps.stamp(line)
    }

    /// Reads `Linux 6.1 (host) 11/21/26 _x86_64_ (2 CPU)`: a new run of iostat begins.
    fn host(&mut self, words: &[&str], line: &str, context: &mut Context<'_>) {
        let of_cpus =
            words.iter().position(|word| *word == "CPU)").and_then(|idx| idx.checked_sub(1));
        let n_cpus = of_cpus.and_then(|idx| words[idx].trim_start_matches('(').parse().ok());
        if let Some(n_cpus) = n_cpus {
            context.put(Event::Machine { n_cpus });
        }
        // The date follows the host's name; a kernel's version may look like one.
        let after_name = line.split_once(") ").or_else(|| line.split_once(")\t"));
        let date = western(after_name.map_or("", |(_, rest)| rest));
        for word in date.split_whitespace() {
            self.stamps.set_day(word);
        }
        self.put_parts(context);
        self.n_reports = 0;
        self.has_cpu = false;
        self.has_devices = false;
        self.stamp = None;
        self.spans.restart();
    }

    /// Begins a report where a table stands a second time.
    fn begin_if(&mut self, is_new: bool, context: &mut Context<'_>) {
        if is_new || self.n_reports == 0 {
            self.begin(context);
        }
    }

    fn begin(&mut self, context: &mut Context<'_>) {
        self.put_parts(context);
        self.n_reports += 1;
        self.n_all += 1;
        self.has_cpu = false;
        self.has_devices = false;
        if self.is_since_boot() {
            context.left_out_first();
        }
    }

    /// Returns when the report ended: the number of the report where there is no moment.
    fn moment_ns(&self) -> i64 {
        self.stamp.map_or(self.n_all * NS_PER_S as i64, |stamp| stamp.unix_ns)
    }

    fn clock(&self) -> ClockKind {
        self.stamp.map_or(ClockKind::Absent, |stamp| stamp.clock)
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
            context.clock(self.clock())?;
            context.put(Event::Host(HostSample {
                end_ns: self.moment_ns(),
                span_ns: self.span_ns,
                cpu_share: Some(busy_share(n_busy, busy)),
                ..HostSample::default()
            }));
        }
        Ok(())
    }

    fn device(
        &mut self,
        words: &[&str],
        line: &str,
        context: &mut Context<'_>,
    ) -> Result<(), String> {
        if self.columns.is_empty() {
            let are_figures = words.len() > 3 && words[1..].iter().all(|it| number(it).is_ok());
            self.begins_with_figures |= are_figures && self.n_all == 0;
            return Err(format!("{} is not a line of iostat", quote(line)));
        }
        self.begins_with_figures = false;
        if words.len() != self.columns.len() {
            let (n_found, n_due) = (words.len(), self.columns.len());
            return Err(format!("{n_found} columns where the table has {n_due}: {}", quote(line)));
        }
        if !self.is_since_boot() {
            context.clock(self.clock())?;
        }
        let name = words[self.name_idx];
        let is_spread = self.name_idx > 0;
        let mut rates = self.parts.get(name).filter(|_| is_spread).copied().unwrap_or_default();
        for (word, column) in words.iter().zip(&self.columns) {
            if let Some((what, unit)) = column {
                let figure = figure(word, *what, *unit)?;
                if !self.is_since_boot() {
                    self.rounding = self.rounding.max(figure.rounding);
                }
                put(&mut rates, *what, figure.value);
            }
        }
        if !self.is_since_boot() {
            context.see_totals(&rates);
        }
        if is_spread {
            self.parts.insert(name.to_owned(), rates);
        } else {
            self.put_device(name, &rates, context);
        }
        Ok(())
    }

    fn put_device(&self, name: &str, rates: &Rates, context: &mut Context<'_>) {
        if !self.is_since_boot() {
            let sample = rates.over(self.moment_ns(), self.span_ns);
            context.put(Event::Device { name, sample });
        }
    }

    /// Hands over what the tables of the report that ends said.
    fn put_parts(&mut self, context: &mut Context<'_>) {
        for (name, rates) in std::mem::take(&mut self.parts) {
            self.put_device(&name, &rates, context);
        }
    }
}

/// A figure, and which part of it may be rounded off.
struct Figure {
    value: f64,
    rounding: f64,
}

/// Reads a figure of a column: in its unit or, where it is a size, with a unit of its own.
fn figure(word: &str, what: DeviceFigure, unit: f64) -> Result<Figure, String> {
    const UNITS: [char; 5] = ['k', 'M', 'G', 'T', 'P'];
    let last = word.chars().next_back();
    let Some(power) = UNITS.iter().position(|unit| Some(*unit) == last).filter(|_| is_size(what))
    else {
        return Ok(Figure { value: number(word)? * unit, rounding: 0.0 });
    };
    let digits = &word[..word.len() - 1];
    let of_unit = number(digits).map_err(|_| format!("{} is no size", quote(word)))?;
    let n_decimals = digits.split_once(['.', ',']).map_or(0, |(_, part)| part.len());
    let step = 0.1_f64.powi(i32::try_from(n_decimals).unwrap_or(i32::MAX));
    let rounding = if of_unit > 0.0 { step / 2.0 / of_unit } else { 0.0 };
    let value = of_unit * 1024_f64.powi(power as i32 + 1);
    Ok(Figure { value, rounding })
}

fn number(word: &str) -> Result<f64, String> {
    let number = decimal(word.trim_end_matches('%')).filter(|number| *number >= 0.0);
    number.ok_or_else(|| format!("{} is not a number", quote(word)))
}
