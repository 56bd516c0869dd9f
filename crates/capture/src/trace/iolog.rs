//! A log of I/Os by fio (`write_iolog`), version 2 and 3.

use std::io::BufRead;

use dialects::fio::iolog::{Action, IologError, Version, parse_line};
use plan::Direction as Dir;

use crate::context::{Context, quote};
use crate::lines::{Lines, ReadError};
use crate::sample::{ClockKind, Event};
use crate::trace::Direction;
use crate::trace::meter::{Arrival, Has, Meter};

/// Reads a log.
pub(crate) fn read(input: &mut dyn BufRead, context: &mut Context<'_>) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let first = Version::of_line(lines.next()?.unwrap_or_default());
    let version = first
        .map_err(|error: IologError| ReadError::Line { line: 1, message: error.to_string() })?;
    let clock = match version {
        Version::Two => ClockKind::Absent,
        Version::Three => ClockKind::Relative,
    };
    context.put(Event::Clock(clock));
    let mut meter = Meter::new(Has::ArrivalsOnly);
    while let Some(line) = lines.next()? {
        if let Err(message) = io(version, line, &mut meter, context) {
            context.bad_line(&lines, message);
        }
    }
    context.check_end(&lines);
    if version == Version::Two {
        let text = "version 2 has no times: sizes and offsets are known, rates are not";
        context.remark(None, text);
    }
    meter.finish(context)
}

fn io(
    version: Version,
    bytes: &[u8],
    meter: &mut Meter,
    context: &mut Context<'_>,
) -> Result<(), String> {
    let bad = |reason: &str| format!("{} {reason}", quote(&String::from_utf8_lossy(bytes)));
    let Some(line) = parse_line(version, bytes).map_err(bad)? else { return Ok(()) };
    let (kind, offset_bytes, size_bytes) = match line.action {
        Action::File(_) | Action::Wait { .. } => return Ok(()),
        Action::Io { kind, offset, len } => (kind, offset, len),
    };
    let direction = match kind.direction() {
        Some(Dir::Read) => Direction::Read,
        Some(Dir::Write) => Direction::Write,
        Some(Dir::Trim) => Direction::Discard,
        // A sync moves nothing.
        None => return Ok(()),
    };
    let ns = |us: u64| us.checked_mul(1000).ok_or_else(|| bad("starts with no time"));
    let at_ns = line.at_us.map(ns).transpose()?;
    let device = meter.device(line.file)?;
    if let Some(at_ns) = at_ns {
        meter.line_at(at_ns);
    }
    // The log of one job is of one process.
    let arrival = Arrival { device, direction, at_ns, process: 0, offset_bytes, size_bytes };
    meter.arrival(&arrival, context);
    Ok(())
}
