//! `biosnoop` of bcc: one line per I/O, at its completion.

use std::io::BufRead;

use crate::context::{Context, quote};
use crate::lines::{Lines, ReadError};
use crate::number::{decimal_ns, whole, words};
use crate::sample::{ClockKind, Event};
use crate::trace::Direction;
use crate::trace::meter::{Arrival, Has, Meter};

/// Words of a line, counted from its end: names of processes have blanks in them.
#[derive(Clone, Copy, Debug)]
struct Columns {
    n_after_name: usize,
    has_queue: bool,
}

/// Most words behind the name of the process: `PID DISK T SECTOR BYTES QUE(ms) LAT(ms)`.
const WORDS_MAX: usize = 7;

/// Reads `biosnoop`.
pub(crate) fn read(input: &mut dyn BufRead, context: &mut Context<'_>) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut meter = Meter::new(Has::Completions);
    let mut columns: Option<Columns> = None;
    context.put(Event::Clock(ClockKind::Relative));
    while let Some(line) = lines.next()? {
        if line.is_empty() {
            continue;
        }
        if line.starts_with(b"TIME(s)") {
            columns = Some(header(line));
            continue;
        }
        if columns.is_none() {
            columns = headless(line);
        }
        let Some(columns) = columns else { continue };
        if let Err(message) = io(line, columns, &mut meter, context) {
            context.bad_line(&lines, message);
        }
    }
    context.check_end(&lines);
    meter.finish(context)
}

fn header(line: &[u8]) -> Columns {
    let names: Vec<&[u8]> = words(line).collect();
    let n_after_name = names.iter().rev().take_while(|name| **name != b"COMM").count();
    Columns { n_after_name, has_queue: names.contains(&&b"QUE(ms)"[..]) }
}

/// Returns whether it is an I/O, as a trace without its header has them alone.
pub(crate) fn is_line(line: &str) -> bool {
    headless(line.as_bytes()).is_some()
}

/// Returns the columns of an I/O that no header stands above, as in a part of a trace.
fn headless(line: &[u8]) -> Option<Columns> {
    let words: Vec<&[u8]> = words(line).collect();
    let fits = |n_after_name: usize| {
        let (head, last) = words.split_at_checked(words.len().checked_sub(n_after_name)?)?;
        let [pid, _, letters, sector, bytes, times @ ..] = last else { return None };
        let is_io = head.len() >= 2
            && decimal_ns(head[0], 9).is_some()
            && [pid, sector, bytes].into_iter().all(|word| whole(word).is_some())
            && letters.iter().all(u8::is_ascii_uppercase)
            && Direction::of_letters(letters).is_some()
            && times.iter().all(|word| decimal_ns(word, 6).is_some());
        is_io.then_some(Columns { n_after_name, has_queue: times.len() == 2 })
    };
    (6..=WORDS_MAX).find_map(fits)
}

fn io(
    line: &[u8],
    columns: Columns,
    meter: &mut Meter,
    context: &mut Context<'_>,
) -> Result<(), String> {
    let bad = || format!("{} is not a line of biosnoop", quote(&String::from_utf8_lossy(line)));
    let time = words(line).next().ok_or_else(bad)?;
    let mut last: [&[u8]; WORDS_MAX] = [b""; WORDS_MAX];
    let n_words = columns.n_after_name;
    if !(6..=WORDS_MAX).contains(&n_words) {
        return Err("a header with columns that are not known".to_owned());
    }
    let mut from_end =
        line.rsplit(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty());
    for place in last[..n_words].iter_mut().rev() {
        *place = from_end.next().ok_or_else(bad)?;
    }
    let [pid, disk, letters, sector, bytes, ..] = last;
    let end_ns = decimal_ns(time, 9).ok_or_else(bad)?;
    let process = whole(pid).ok_or_else(bad)?;
    let (sector, size_bytes) = (whole(sector).ok_or_else(bad)?, whole(bytes).ok_or_else(bad)?);
    let latency_ns = decimal_ns(last[n_words - 1], 6).ok_or_else(bad)?;
    let queue_ns = if columns.has_queue {
        Some(decimal_ns(last[n_words - 2], 6).ok_or_else(bad)?)
    } else {
        None
    };
    let Some(direction) = Direction::of_letters(letters).filter(|_| size_bytes > 0) else {
        return Ok(());
    };
    let device = meter.device(disk)?;
    meter.line_at(end_ns);
    let arrival = Arrival {
        device,
        direction,
        // Moments are those of completions, counted from the first one.
        at_ns: Some(end_ns.saturating_sub(latency_ns)),
        process,
        offset_bytes: sector.saturating_mul(512),
        size_bytes,
    };
    meter.arrival(&arrival, context);
    let response_ns = queue_ns.map(|queue_ns| latency_ns.saturating_add(queue_ns));
    meter.completion(device, direction, end_ns, latency_ns, response_ns);
    Ok(())
}
