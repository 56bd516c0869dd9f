//! `sadf -d` (columns set apart by `;`) and `sadf -p` (one figure a line).

use std::io::BufRead;

use crate::context::{Context, Spans, quote};
use crate::lines::{Lines, ReadError};
use crate::number::decimal;
use crate::read::sysstat_names::{DeviceFigure, busy_share, is_busy_cpu, put, what};
use crate::sample::{Event, HostSample, NS_PER_S, Rates, WHOLE_HOST};
use crate::time::Stamps;

/// What a figure of a line is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    /// Of a device: what, and how much a unit is.
    Device(DeviceFigure, f64),
    Busy,
    MemoryKib,
    MemoryPercent,
    Other,
}

fn meaning(name: &str) -> Meaning {
    match name {
        "kbmemused" => Meaning::MemoryKib,
        "%memused" => Meaning::MemoryPercent,
        _ if name.starts_with('%') && is_busy_cpu(name) => Meaning::Busy,
        _ => what(name).map_or(Meaning::Other, |(what, unit)| Meaning::Device(what, unit)),
    }
}

/// When reports end, of both forms.
#[derive(Default)]
struct Moments {
    stamps: Stamps,
    spans: Spans,
    /// The text of the last moment, and what it came to.
    last: Option<(String, i64, u64)>,
}

impl Moments {
    /// Returns the end and the span of the report that a line is of.
    fn of(
        &mut self,
        interval_s: &str,
        text: &str,
        line: u64,
        context: &mut Context<'_>,
    ) -> Result<(i64, u64), String> {
        if let Some((last, end_ns, span_ns)) = &self.last
            && last == text
        {
            return Ok((*end_ns, *span_ns));
        }
        let stamp =
            self.stamps.stamp(text).ok_or_else(|| format!("{} is not a time", quote(text)))?;
        let seconds: Option<u64> = interval_s.parse().ok().filter(|seconds| *seconds > 0);
        let stated_ns = seconds.and_then(|seconds| seconds.checked_mul(NS_PER_S));
        let (span_ns, note) = self.spans.next(stamp.unix_ns, stated_ns);
        if let Some(note) = note {
            context.remark(Some(line), note);
        }
        context.clock(stamp.clock)?;
        self.last = Some((text.to_owned(), stamp.unix_ns, span_ns));
        Ok((stamp.unix_ns, span_ns))
    }
}

/// Reads `sadf -d`. A file may hold several tables, each with its header.
pub(super) fn read_table(
    input: &mut dyn BufRead,
    context: &mut Context<'_>,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut moments = Moments::default();
    let mut columns: Vec<String> = Vec::new();
    while let Some(line) = lines.next()? {
        let line = String::from_utf8_lossy(line).into_owned();
        let number = lines.number();
        if let Some(header) = line.strip_prefix("# ") {
            columns = header.split(';').map(|name| name.trim().to_owned()).collect();
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let row: Vec<&str> = line.split(';').collect();
        if row.iter().any(|part| part.starts_with("LINUX-RESTART") || *part == "COMMENT") {
            context.remark(Some(number), "the host was started again here");
            continue;
        }
        if let Err(message) = table_row(&columns, &row, number, &mut moments, context) {
            context.bad_line(&lines, message);
        }
    }
    context.check_end(&lines);
    Ok(())
}

fn table_row(
    columns: &[String],
    row: &[&str],
    number: u64,
    moments: &mut Moments,
    context: &mut Context<'_>,
) -> Result<(), String> {
    if row.len() != columns.len() || row.len() < 4 {
        let (n_found, n_due) = (row.len(), columns.len());
        return Err(format!("{n_found} columns where the table has {n_due}"));
    }
    let (end_ns, span_ns) = moments.of(row[1], row[2], number, context)?;
    let mut figures = Figures::default();
    for (name, text) in columns[3..].iter().zip(&row[3..]) {
        figures.put(name, text)?;
    }
    let is_all_cpus = columns[3] != "CPU" || matches!(row[3], "-1" | "all");
    let device = match columns[3].as_str() {
        "DEV" => Some(row[3]),
        "tps" => Some(WHOLE_HOST),
        _ => None,
    };
    if let Some(name) = device {
        context.put(Event::Device { name, sample: figures.rates.over(end_ns, span_ns) });
    } else if figures.has_host && is_all_cpus {
        context.put(Event::Host(figures.host(end_ns, span_ns)));
    }
    Ok(())
}

/// Reads `sadf -p`.
pub(super) fn read_pairs(
    input: &mut dyn BufRead,
    context: &mut Context<'_>,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut moments = Moments::default();
    // Lines of one device of one report follow each other.
    let mut open: Option<(String, i64, u64, Figures)> = None;
    while let Some(line) = lines.next()? {
        let line = String::from_utf8_lossy(line).into_owned();
        let number = lines.number();
        let row: Vec<&str> = line.split('\t').collect();
        if line.trim().is_empty() {
            continue;
        }
        if line.contains("LINUX-RESTART") {
            context.remark(Some(number), "the host was started again here");
            continue;
        }
        let read = match row[..] {
            [_, interval, moment, name, what, value] => {
                pair(&mut open, [name, what, value], context, |context| {
                    moments.of(interval, moment, number, context)
                })
            }
            _ => Err(format!("{} fields where a line has 6", row.len())),
        };
        if let Err(message) = read {
            context.bad_line(&lines, message);
        }
    }
    context.check_end(&lines);
    close(open, context);
    Ok(())
}

type Open = Option<(String, i64, u64, Figures)>;

fn pair<'c>(
    open: &mut Open,
    [name, what, value]: [&str; 3],
    context: &mut Context<'c>,
    moment: impl FnOnce(&mut Context<'c>) -> Result<(i64, u64), String>,
) -> Result<(), String> {
    let (end_ns, span_ns) = moment(context)?;
    let is_same = open.as_ref().is_some_and(|(of, at_ns, ..)| of == name && *at_ns == end_ns);
    if !is_same {
        close(open.take(), context);
        *open = Some((name.to_owned(), end_ns, span_ns, Figures::default()));
    }
    match open {
        Some((_, _, _, figures)) => figures.put(what, value),
        None => Ok(()),
    }
}

fn close(open: Open, context: &mut Context<'_>) {
    let Some((name, end_ns, span_ns, figures)) = open else { return };
    if figures.has_host && matches!(name.as_str(), "-" | "all" | "-1") {
        context.put(Event::Host(figures.host(end_ns, span_ns)));
    }
    if figures.has_device {
        let name = if name == "-" { WHOLE_HOST } else { &name };
        context.put(Event::Device { name, sample: figures.rates.over(end_ns, span_ns) });
    }
}

/// The figures of one device, or of the host, in one report.
#[derive(Default)]
struct Figures {
    rates: Rates,
    /// Of how many figures, and their sum.
    busy_percent: Option<(usize, f64)>,
    memory_kib: Option<f64>,
    memory_percent: Option<f64>,
    has_host: bool,
    has_device: bool,
}

impl Figures {
    fn put(&mut self, name: &str, text: &str) -> Result<(), String> {
        let meaning = meaning(name);
        if meaning == Meaning::Other {
            return Ok(());
        }
        let value = decimal(text).filter(|value| *value >= 0.0);
        let value = value.ok_or_else(|| format!("{} is no figure of `{name}`", quote(text)))?;
        match meaning {
            Meaning::Device(what, unit) => put(&mut self.rates, what, value * unit),
            Meaning::Busy => {
                let (n_figures, sum) = self.busy_percent.unwrap_or_default();
                self.busy_percent = Some((n_figures + 1, sum + value));
            }
            Meaning::MemoryKib => self.memory_kib = Some(value),
            Meaning::MemoryPercent => self.memory_percent = Some(value),
            Meaning::Other => {}
        }
        self.has_device |= matches!(meaning, Meaning::Device(..));
        self.has_host |= !matches!(meaning, Meaning::Device(..));
        Ok(())
    }

    fn host(&self, end_ns: i64, span_ns: u64) -> HostSample {
        HostSample {
            end_ns,
            span_ns,
            cpu_share: self.busy_percent.map(|(n_figures, sum)| busy_share(n_figures, sum)),
            memory_bytes: self.memory_kib.map(|kib| kib * 1024.0),
            memory_share: self.memory_percent.map(|percent| percent / 100.0),
        }
    }
}
