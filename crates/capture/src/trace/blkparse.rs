//! `blkparse` as text, in its default form.
//!
//! An I/O is what is issued to the device (`D`), as a volume's limits count it. Devices that only
//! pass bios on (device mapper) have no `D`: their I/Os are what arrives (`Q`).

use std::io::BufRead;

use crate::context::{Context, quote};
use crate::lines::{Lines, ReadError};
use crate::number::{decimal_ns, whole, words};
use crate::sample::{ClockKind, Event};
use crate::trace::Direction;
use crate::trace::meter::{Arrival, Has, Meter};
use crate::trace::table::Table;

/// I/Os that are in flight at a time. More were lost by the trace.
const IN_FLIGHT_MAX: usize = 1 << 16;
const SECTOR_BYTES: u64 = 512;

/// An I/O between arrival and completion.
#[derive(Clone, Copy, Debug)]
struct Pending {
    queued_ns: Option<u64>,
    issued_ns: Option<u64>,
    process: u64,
    size_bytes: u64,
    is_counted: bool,
}

/// A device, a direction and a first sector.
type RequestKey = (usize, Direction, u64);

/// One event of the trace.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    device: &'a [u8],
    at_ns: u64,
    process: u64,
    action: Action,
    direction: Direction,
    sector: u64,
    size_bytes: u64,
}

/// What happens to an I/O. The other actions are steps between these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Queued,
    Issued,
    Completed,
}

struct State {
    meter: Meter,
    pending: Table<RequestKey, Pending>,
    /// Whether a device issues, by its place in the meter.
    issues: Vec<bool>,
    /// Whether its I/Os are what arrives.
    is_by_queue: Vec<bool>,
    n_lost: u64,
}

/// Reads `blkparse`.
pub(crate) fn read(input: &mut dyn BufRead, context: &mut Context<'_>) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut state = State {
        meter: Meter::new(Has::Completions),
        pending: Table::default(),
        issues: Vec::new(),
        is_by_queue: Vec::new(),
        n_lost: 0,
    };
    context.put(Event::Clock(ClockKind::Relative));
    let mut is_summary = false;
    while let Some(line) = lines.next()? {
        let first = words(line).next();
        let Some(first) = first else { continue };
        if !is_device(first) {
            // After the events stands a summary, which holds nothing that they do not.
            is_summary |= first.starts_with(b"CPU") || first == b"Total";
            if !is_summary {
                let text = bad(line);
                context.unreadable(Some(lines.number()), text);
            }
            continue;
        }
        let message = match event(line) {
            Ok(Some(event)) => {
                state.take(&event, context)?;
                continue;
            }
            Ok(None) => continue,
            Err(message) => message,
        };
        context.bad_line(&lines, message);
    }
    context.check_end(&lines);
    state.finish(context)
}

fn bad(line: &[u8]) -> String {
    format!("{} is not a line of blkparse", quote(&String::from_utf8_lossy(line)))
}

/// Returns whether a line is an event in the default form.
pub(crate) fn is_line(line: &[u8]) -> bool {
    let mut words = words(line);
    let is_event = words.next().is_some_and(is_device)
        && words.next().is_some_and(|cpu| whole(cpu).is_some())
        && words.next().is_some_and(|sequence| whole(sequence).is_some())
        && words.next().is_some_and(|time| decimal_ns(time, 9).is_some())
        && words.next().is_some_and(|pid| whole(pid).is_some());
    is_event && words.next().is_some_and(|action| action.len() <= 2)
}

/// Returns whether a word is a device as `8,16`.
fn is_device(word: &[u8]) -> bool {
    let comma = word.iter().position(|byte| *byte == b',');
    comma.is_some_and(|at| whole(&word[..at]).is_some() && whole(&word[at + 1..]).is_some())
}

/// Reads `8,16 2 1 0.000961904 3321 Q R 150278752 + 16 [postgres]`; none for other actions.
fn event(line: &[u8]) -> Result<Option<Line<'_>>, String> {
    let bad = || bad(line);
    let mut words = words(line);
    let device = words.next().ok_or_else(bad)?;
    words.nth(1).ok_or_else(bad)?;
    let (time, pid) = (words.next().ok_or_else(bad)?, words.next().ok_or_else(bad)?);
    let action = match words.next().ok_or_else(bad)? {
        b"Q" => Action::Queued,
        b"D" => Action::Issued,
        b"C" => Action::Completed,
        _ => return Ok(None),
    };
    let Some(direction) = Direction::of_letters(words.next().ok_or_else(bad)?) else {
        return Ok(None);
    };
    let Some(sector) = words.next() else { return Err(bad()) };
    // A command that is no I/O has bytes in brackets, a flush has nothing.
    let is_io = words.next() == Some(b"+");
    if !is_io {
        return if whole(sector).is_some() || sector.starts_with(b"[") || sector == b"(" {
            Ok(None)
        } else {
            Err(bad())
        };
    }
    let n_sectors = words.next().and_then(whole).ok_or_else(bad)?;
    Ok(Some(Line {
        device,
        at_ns: decimal_ns(time, 9).ok_or_else(bad)?,
        process: whole(pid).ok_or_else(bad)?,
        action,
        direction,
        sector: whole(sector).ok_or_else(bad)?,
        size_bytes: n_sectors.saturating_mul(SECTOR_BYTES),
    }))
}

impl State {
    fn take(&mut self, line: &Line<'_>, context: &mut Context<'_>) -> Result<(), ReadError> {
        let device = self.meter.device(line.device).map_err(ReadError::whole)?;
        self.meter.line_at(line.at_ns);
        if self.issues.len() <= device {
            self.issues.resize(device + 1, false);
            self.is_by_queue.resize(device + 1, false);
        }
        if line.size_bytes == 0 {
            return Ok(());
        }
        if self.pending.len() >= IN_FLIGHT_MAX {
            self.n_lost += self.pending.len() as u64;
            self.pending.clear();
        }
        let place = (device, line.direction, line.sector);
        match line.action {
            Action::Queued => {
                let mut pending = Pending {
                    queued_ns: Some(line.at_ns),
                    issued_ns: None,
                    process: line.process,
                    size_bytes: line.size_bytes,
                    is_counted: false,
                };
                if self.is_by_queue[device] {
                    self.count(place, &mut pending, line.at_ns, context);
                }
                self.pending.insert(place, pending);
            }
            Action::Issued => {
                self.issues[device] = true;
                let mut pending = self.pending.get(&place).copied().unwrap_or(Pending {
                    queued_ns: None,
                    issued_ns: None,
                    process: line.process,
                    size_bytes: line.size_bytes,
                    is_counted: false,
                });
                pending.issued_ns = Some(line.at_ns);
                pending.size_bytes = line.size_bytes;
                if !pending.is_counted {
                    self.count(place, &mut pending, line.at_ns, context);
                }
                self.pending.insert(place, pending);
            }
            Action::Completed => self.complete(place, line.at_ns, context),
        }
        Ok(())
    }

    fn count(
        &mut self,
        (device, direction, sector): RequestKey,
        pending: &mut Pending,
        at_ns: u64,
        context: &mut Context<'_>,
    ) {
        pending.is_counted = true;
        let arrival = Arrival {
            device,
            direction,
            at_ns: Some(at_ns),
            process: pending.process,
            offset_bytes: sector.saturating_mul(SECTOR_BYTES),
            size_bytes: pending.size_bytes,
        };
        self.meter.arrival(&arrival, context);
    }

    fn complete(&mut self, place: RequestKey, at_ns: u64, context: &mut Context<'_>) {
        let (device, direction, _) = place;
        let Some(mut pending) = self.pending.remove(&place) else {
            self.n_lost += 1;
            return;
        };
        if !pending.is_counted {
            if self.issues[device] {
                // It was merged into another: that one is counted.
                return;
            }
            self.is_by_queue[device] = true;
            let queued_ns = pending.queued_ns.unwrap_or(at_ns);
            self.count(place, &mut pending, queued_ns, context);
        }
        let since = |from_ns: u64| at_ns.saturating_sub(from_ns);
        let response_ns = pending.queued_ns.map(since);
        let latency_ns = pending.issued_ns.map(since).or(response_ns);
        if let Some(latency_ns) = latency_ns {
            self.meter.completion(device, direction, at_ns, latency_ns, response_ns);
        }
    }

    fn finish(mut self, context: &mut Context<'_>) -> Result<(), ReadError> {
        // What a device that does not issue had in flight at the end.
        let left: Vec<RequestKey> = self.pending.keys().copied().collect();
        for place in left {
            if self.is_by_queue[place.0]
                && let Some(mut pending) = self.pending.remove(&place)
                && !pending.is_counted
            {
                let queued_ns = pending.queued_ns.unwrap_or(0);
                self.count(place, &mut pending, queued_ns, context);
            }
        }
        if self.n_lost > 0 {
            let n_lost = units::plural(self.n_lost, "event");
            let text = format!(
                "{n_lost} without the other end of the I/O: their latency is \
            unknown"
            );
            context.remark(None, text);
        }
        self.meter.finish(context)
    }
}
