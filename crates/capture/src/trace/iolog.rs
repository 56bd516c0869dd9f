//! A log of I/Os by fio (`write_iolog`), version 2 and 3.

use std::io::BufRead;

use crate::context::{Context, quote};
use crate::lines::{Lines, ReadError};
use crate::number::{whole, words};
use crate::sample::{ClockKind, Event};
use crate::trace::Direction;
use crate::trace::meter::{Arrival, Meter};

/// Reads a log.
pub(crate) fn read(input: &mut dyn BufRead, context: &mut Context<'_>) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let first = lines.next()?.map(|line| String::from_utf8_lossy(line).trim().to_owned());
    let has_moments = match first.as_deref() {
        Some("fio version 2 iolog") => false,
        Some("fio version 3 iolog") => true,
        first => {
            let message = format!(
                "{} is no log that is known: expected `fio version 2 iolog` or 3",
                quote(first.unwrap_or_default())
            );
            return Err(ReadError::Line { line: 1, message });
        }
    };
    context.put(Event::Clock(if has_moments { ClockKind::Relative } else { ClockKind::Absent }));
    let mut meter = Meter::new();
    while let Some(line) = lines.next()? {
        if line.is_empty() {
            continue;
        }
        if let Err(message) = io(line, has_moments, &mut meter, context) {
            if lines.is_cut() {
                context.remark(Some(lines.number()), "the last line is cut off and left out");
            } else {
                context.unreadable(Some(lines.number()), message);
            }
        }
    }
    if !has_moments {
        let text = "version 2 has no moments: sizes and places are known, rates are not";
        context.remark(None, text);
    }
    meter.finish(context);
    Ok(())
}

fn io(
    line: &[u8],
    has_moments: bool,
    meter: &mut Meter,
    context: &mut Context<'_>,
) -> Result<(), String> {
    let bad = || format!("{} is no line of an I/O log", quote(&String::from_utf8_lossy(line)));
    let mut words = words(line);
    let at_ns = if has_moments {
        let at_us = words.next().and_then(whole).ok_or_else(bad)?;
        Some(at_us.checked_mul(1000).ok_or_else(bad)?)
    } else {
        None
    };
    let (file, action) = (words.next().ok_or_else(bad)?, words.next().ok_or_else(bad)?);
    let direction = match action {
        b"read" => Direction::Read,
        b"write" => Direction::Write,
        b"trim" => Direction::Discard,
        b"add" | b"open" | b"close" | b"wait" | b"sync" | b"datasync" => return Ok(()),
        _ => return Err(bad()),
    };
    let offset_bytes = words.next().and_then(whole).ok_or_else(bad)?;
    let size_bytes = words.next().and_then(whole).ok_or_else(bad)?;
    let device = meter.device(file)?;
    // The log of one job is of one process.
    let arrival = Arrival { device, direction, at_ns, process: 0, offset_bytes, size_bytes };
    meter.arrival(&arrival, context);
    Ok(())
}
