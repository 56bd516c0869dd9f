//! Takes single I/Os, and makes samples of a second and the facts of a trace of them.

use crate::context::Context;
use crate::facts::{Bursts, TraceFacts};
use crate::lines::ReadError;
use crate::sample::{Event, Flow, NS_PER_S, Sample};
use crate::trace::Direction;
use crate::trace::table::Table;

/// Forward gap that still counts as sequential: a page or two that were in memory already.
const GAP_BYTES: u64 = 8 << 10;
/// Streams that are distinguished at a time. A host has fewer processes that do I/O.
const STREAMS_MAX: usize = 1 << 16;
/// Devices of a trace.
const DEVICES_MAX: usize = 1 << 12;
/// Length of the slots in which bursts are counted.
const SLOT_NS: u64 = 100_000_000;
/// Of so many lines one may go back in time: processors that write one trace are not quite in
/// step. Of lines in any order every second one does.
const LINES_PER_STEP_BACK: u64 = 3;
/// Steps back that say nothing of a short trace.
const STEPS_BACK_MIN: u64 = 10;
/// Seconds without I/O that are kept one by one; longer pauses are one sample.
const IDLE_SAMPLES_MAX: u64 = 600;

/// One I/O.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) device: usize,
    pub(super) direction: Direction,
    /// Counted from the beginning of the trace; none where the trace has no moments.
    pub(super) at_ns: Option<u64>,
    /// What tells processes apart.
    pub(super) process: u64,
    pub(super) offset_bytes: u64,
    pub(super) size_bytes: u64,
}

/// Takes the I/Os of a trace.
pub(super) struct Meter {
    has: Has,
    devices: Vec<Device>,
    by_name: Table<u64, usize>,
    streams: Table<(u64, usize, Direction), u64>,
    is_streams_cut: bool,
    /// Moment of the first I/O, and the last moment of all.
    first_ns: Option<u64>,
    last_ns: u64,
    n_late: u64,
    order: Order,
}

/// Whether the lines of a trace are in the order of time.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    n_lines: u64,
    n_steps_back: u64,
    line_ns: u64,
}

struct Device {
    name: String,
    has: Has,
    facts: TraceFacts,
    /// The second that is being counted, from `Meter::first_ns` on.
    second: u64,
    open: Sample,
    /// The second before, which takes in a last one that is cut short.
    held: Option<Sample>,
    slot: u64,
    n_in_slot: u64,
    slots: Slots,
}

/// I/Os per slot, added up.
#[derive(Clone, Copy, Debug, Default)]
struct Slots {
    n_full: u64,
    sum: f64,
    sum_squares: f64,
    max: u64,
}

impl Slots {
    fn put(&mut self, n_ios: u64, n_slots: u64) {
        self.n_full += n_slots;
        self.sum += n_ios as f64 * n_slots as f64;
        self.sum_squares += (n_ios as f64).powi(2) * n_slots as f64;
        self.max = self.max.max(n_ios);
    }

    fn bursts(&self) -> Option<Bursts> {
        let n = self.n_full as f64;
        let mean = self.sum / n;
        // One slot has no variance.
        if self.n_full < 2 || mean <= 0.0 {
            return None;
        }
        let variance = (self.sum_squares - self.sum * mean) / (n - 1.0);
        let dispersion = variance.max(0.0) / mean;
        Some(Bursts { peak_to_mean: self.max as f64 / mean, dispersion })
    }
}

/// Which events of an I/O a trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Has {
    /// Its arrival and its completion.
    Completions,
    /// Its arrival alone: there is no latency and no queue.
    ArrivalsOnly,
}

impl Has {
    /// Returns an empty second, in which nothing happened.
    fn nothing(self) -> Sample {
        let waited_ns = match self {
            Has::Completions => Some(0.0),
            Has::ArrivalsOnly => None,
        };
        let flow = Flow { n_ios: Some(0.0), bytes: Some(0.0), wait_ns: waited_ns, n_merged: None };
        let in_flight_ns = waited_ns;
        Sample { read: flow, write: flow, discard: flow, in_flight_ns, ..Sample::default() }
    }
}

impl Meter {
    pub(super) fn new(has: Has) -> Self {
        Meter {
            has,
            devices: Vec::new(),
            by_name: Table::default(),
            streams: Table::default(),
            is_streams_cut: false,
            first_ns: None,
            last_ns: 0,
            n_late: 0,
            order: Order::default(),
        }
    }

    /// Takes the moment that a line of the trace has, in the order of the lines.
    pub(super) fn line_at(&mut self, at_ns: u64) {
        self.order.n_lines += 1;
        self.order.n_steps_back += u64::from(at_ns < self.order.line_ns);
        self.order.line_ns = at_ns;
    }

    /// Returns the place of a device, or why there is none.
    pub(super) fn device(&mut self, name: &[u8]) -> Result<usize, String> {
        let key = units::fnv1a(name.iter().copied());
        if let Some(idx) = self.by_name.get(&key) {
            return Ok(*idx);
        }
        if self.devices.len() >= DEVICES_MAX {
            return Err(format!("more than {DEVICES_MAX} devices: choose one when you trace"));
        }
        self.by_name.insert(key, self.devices.len());
        self.devices.push(Device {
            name: String::from_utf8_lossy(name).into_owned(),
            has: self.has,
            facts: TraceFacts::default(),
            second: 0,
            open: self.has.nothing(),
            held: None,
            slot: 0,
            n_in_slot: 0,
            slots: Slots::default(),
        });
        Ok(self.devices.len() - 1)
    }

    /// Counts an I/O when it arrives.
    pub(super) fn arrival(&mut self, io: &Arrival, context: &mut Context<'_>) {
        let is_sequential = self.follows(io);
        if let Some(at_ns) = io.at_ns {
            let first_ns = *self.first_ns.get_or_insert(at_ns);
            self.last_ns = self.last_ns.max(at_ns);
            let since_ns = at_ns.saturating_sub(first_ns);
            self.n_late += u64::from(self.devices[io.device].reach(since_ns, first_ns, context));
        }
        let device = &mut self.devices[io.device];
        let flow = match io.direction {
            Direction::Read => &mut device.open.read,
            Direction::Write => &mut device.open.write,
            Direction::Discard => &mut device.open.discard,
        };
        if let (Some(n_ios), Some(bytes)) = (&mut flow.n_ios, &mut flow.bytes) {
            *n_ios += 1.0;
            *bytes += io.size_bytes as f64;
        }
        let facts = match io.direction {
            Direction::Read => &mut device.facts.read,
            Direction::Write => &mut device.facts.write,
            Direction::Discard => return,
        };
        device.n_in_slot += 1;
        facts.sizes.record(io.size_bytes);
        if is_sequential {
            facts.n_sequential += 1;
            // A damaged trace may have I/Os of any size.
            facts.sequential_bytes = facts.sequential_bytes.saturating_add(io.size_bytes);
        }
    }

    /// Returns whether an I/O begins where the one before of its stream ended.
    fn follows(&mut self, io: &Arrival) -> bool {
        if self.streams.len() >= STREAMS_MAX {
            self.streams.clear();
            self.is_streams_cut = true;
        }
        let end_bytes = io.offset_bytes.saturating_add(io.size_bytes);
        let key = (io.process, io.device, io.direction);
        let Some(last_bytes) = self.streams.insert(key, end_bytes) else {
            self.devices[io.device].facts.n_streams += 1;
            return false;
        };
        io.offset_bytes >= last_bytes && io.offset_bytes - last_bytes <= GAP_BYTES
    }

    /// Counts the latency of an I/O when it completes: from issue, and from arrival where that is
    /// known as well.
    pub(super) fn completion(
        &mut self,
        device: usize,
        direction: Direction,
        at_ns: u64,
        latency_ns: u64,
        response_ns: Option<u64>,
    ) {
        self.last_ns = self.last_ns.max(at_ns);
        let device = &mut self.devices[device];
        let (flow, facts) = match direction {
            Direction::Read => (&mut device.open.read, &mut device.facts.read),
            Direction::Write => (&mut device.open.write, &mut device.facts.write),
            Direction::Discard => return,
        };
        facts.latency.record(latency_ns);
        if let Some(response_ns) = response_ns {
            facts.response.record(response_ns);
        }
        if let (Some(wait_ns), Some(in_flight_ns)) =
            (&mut flow.wait_ns, &mut device.open.in_flight_ns)
        {
            *wait_ns += latency_ns as f64;
            *in_flight_ns += latency_ns as f64;
        }
    }

    /// Hands over what is left, and the facts.
    ///
    /// # Errors
    /// Where the lines are in no order: seconds, bursts and latencies would be made up.
    pub(super) fn finish(mut self, context: &mut Context<'_>) -> Result<(), ReadError> {
        let Order { n_lines, n_steps_back, .. } = self.order;
        if n_steps_back >= STEPS_BACK_MIN && n_steps_back > n_lines / LINES_PER_STEP_BACK {
            return Err(ReadError::whole(format!(
                "{n_steps_back} of {n_lines} lines go back in time: sort them by their time, and \
                 read it again"
            )));
        }
        if self.n_late > 0 {
            let n_late = units::plural(self.n_late, "I/O");
            let text = format!("{n_late} out of order: counted in the second that was open");
            context.remark(None, text);
        }
        if self.is_streams_cut {
            let text = format!(
                "more than {STREAMS_MAX} streams: the first I/O of some counts as random again"
            );
            context.remark(None, text);
        }
        let since_ns = self.last_ns - self.first_ns.unwrap_or(self.last_ns);
        for device in &mut self.devices {
            if let Some(first_ns) = self.first_ns {
                device.close(since_ns, first_ns, context);
            }
            let facts = Box::new(std::mem::take(&mut device.facts));
            context.put(Event::Trace { name: &device.name, facts });
        }
        Ok(())
    }
}

impl Device {
    /// Goes on to the second and the slot of a moment. Returns whether that lies behind.
    fn reach(&mut self, since_ns: u64, first_ns: u64, context: &mut Context<'_>) -> bool {
        let slot = since_ns / SLOT_NS;
        if slot > self.slot {
            self.slots.put(self.n_in_slot, 1);
            self.slots.put(0, slot - self.slot - 1);
            (self.slot, self.n_in_slot) = (slot, 0);
        }
        let second = since_ns / NS_PER_S;
        if second <= self.second {
            return second < self.second;
        }
        let mut done = std::mem::replace(&mut self.open, self.has.nothing());
        self.emit(&mut done, self.second + 1, 1, first_ns, context);
        let n_idle = second - self.second - 1;
        if n_idle > IDLE_SAMPLES_MAX {
            self.emit(&mut self.has.nothing(), second, n_idle, first_ns, context);
        } else {
            for idx in 0..n_idle {
                self.emit(&mut self.has.nothing(), self.second + 2 + idx, 1, first_ns, context);
            }
        }
        self.second = second;
        false
    }

    /// Holds a sample back until the next one is there.
    fn emit(
        &mut self,
        sample: &mut Sample,
        end_s: u64,
        n_seconds: u64,
        first_ns: u64,
        context: &mut Context<'_>,
    ) {
        let end_ns = first_ns.saturating_add(end_s.saturating_mul(NS_PER_S));
        sample.end_ns = i64::try_from(end_ns).unwrap_or(i64::MAX);
        sample.span_ns = n_seconds.saturating_mul(NS_PER_S);
        if let Some(held) = self.held.replace(*sample) {
            context.put(Event::Device { name: &self.name, sample: held });
        }
    }

    /// Hands over the last second, which is as long as the trace goes.
    fn close(&mut self, since_ns: u64, first_ns: u64, context: &mut Context<'_>) {
        self.reach(since_ns, first_ns, context);
        let span_ns = since_ns.saturating_sub(self.second * NS_PER_S);
        // A slot that the end cuts short says little: it is left out of the bursts.
        self.facts.bursts = self.slots.bursts();
        let mut last = std::mem::replace(&mut self.open, self.has.nothing());
        last.end_ns = i64::try_from(first_ns.saturating_add(since_ns)).unwrap_or(i64::MAX);
        last.span_ns = span_ns;
        // Of a second that is cut short rates would be wrong: it joins the second before.
        match self.held.take() {
            Some(mut held) if span_ns < NS_PER_S / 2 => {
                held.add(&last);
                last = held;
            }
            Some(held) => context.put(Event::Device { name: &self.name, sample: held }),
            None => {}
        }
        last.span_ns = last.span_ns.max(1);
        context.put(Event::Device { name: &self.name, sample: last });
    }
}
