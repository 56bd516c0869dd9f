//! What readers give: samples of devices and of the host, in the events that they come in.

use crate::facts::TraceFacts;

/// Nanoseconds of a second.
pub const NS_PER_S: u64 = 1_000_000_000;

/// The device that is all of the host's together: what `vmstat` and `sar -b` count.
pub(crate) const WHOLE_HOST: &str = "whole host";

/// What a reader found, one at a time.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "handed over at once, never kept: a box costs more")]
pub enum Event<'a> {
    /// A span of one device.
    Device {
        /// As the source calls the device.
        name: &'a str,
        /// What it did.
        sample: Sample,
    },
    /// What the samples of a device hold is not what was asked about, as shows once they are all
    /// there: nothing is known of it.
    Unknown {
        /// As the source calls the device.
        name: &'a str,
    },
    /// A span of the whole host.
    Host(HostSample),
    /// How much a volume holds at a moment: of several, the largest counts.
    Capacity {
        /// As the source calls the device.
        name: &'a str,
        /// Its size and use.
        capacity: Capacity,
    },
    /// The number of processors.
    Machine {
        /// As the operating system counts them.
        n_cpus: u32,
    },
    /// What a trace reported about a device, once at its end.
    Trace {
        /// As the source calls the device.
        name: &'a str,
        /// Sizes, places, latencies.
        facts: Box<TraceFacts>,
    },
    /// Which clock the moments of this source are read from.
    Clock(ClockKind),
    /// How long each sample of this source lasts, nanoseconds, where none says it. Comes after
    /// them.
    Length(u64),
    /// Something that the reader of the figures must know.
    Note(Note),
}

/// Which clock the moments of a source are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// The host's own time of day.
    Local,
    /// Coordinated universal time.
    Utc,
    /// Seconds since the source began.
    Relative,
    /// None: numbers of reports, a second each, stand for moments until an [`Event::Length`] comes.
    Absent,
}

/// What became of a part of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Something was left out, assumed, or is to be known. The figures stand.
    Remark,
    /// A part could not be read: the figures are partial.
    Unreadable,
}

/// Something that the reader of the figures must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What kind it is.
    pub kind: NoteKind,
    /// From 1; none where it is about no line.
    pub line: Option<u64>,
    /// A sentence without a full stop, lower case.
    pub text: String,
}

/// What one kind of operation did in a span. What a source does not tell is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Operations that completed.
    pub n_ios: Option<f64>,
    /// What they moved.
    pub bytes: Option<f64>,
    /// Their latencies, added up, nanoseconds.
    pub wait_ns: Option<f64>,
    /// Requests that were merged into others before they were sent.
    pub n_merged: Option<f64>,
}

/// What a device did in a span of time. Every figure but the moment adds up over spans.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// End of the span, nanoseconds since 1970 as the source's clock reads.
    pub end_ns: i64,
    /// Length of the span; 0 where the source does not tell: the figures are those of one second.
    pub span_ns: u64,
    /// Reads.
    pub read: Flow,
    /// Writes.
    pub write: Flow,
    /// All kinds together, for sources that do not tell them apart.
    pub all: Flow,
    /// Discards.
    pub discard: Flow,
    /// Flushes of the device's cache.
    pub n_flushes: Option<f64>,
    /// I/Os in flight, integrated over time: a mean queue of 2 for 3 s is 6 s.
    pub in_flight_ns: Option<f64>,
    /// Time during which at least one I/O was in flight.
    pub busy_ns: Option<f64>,
}

/// What the host did in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostSample {
    /// End of the span, as for [`Sample`].
    pub end_ns: i64,
    /// Length of the span; 0 where the source does not tell.
    pub span_ns: u64,
    /// Processor time in use, 0 to 1 of all processors. Waiting for I/O is not use.
    pub cpu_share: Option<f64>,
    /// Memory that programs hold; caches that the kernel can drop are not counted.
    pub memory_bytes: Option<f64>,
    /// The same as a share of what there is, 0 to 1.
    pub memory_share: Option<f64>,
}

/// How much a volume holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Capacity {
    /// Size of the device or file system.
    pub size_bytes: Option<f64>,
    /// What files take of it.
    pub used_bytes: Option<f64>,
}

impl Capacity {
    /// Returns the larger of each of both: what was in use at one moment is needed again.
    #[must_use]
    pub fn larger(self, other: Capacity) -> Capacity {
        let larger = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (one, None) | (None, one) => one,
        };
        Capacity {
            size_bytes: larger(self.size_bytes, other.size_bytes),
            used_bytes: larger(self.used_bytes, other.used_bytes),
        }
    }
}

impl Flow {
    fn add(&mut self, other: &Flow) {
        add(&mut self.n_ios, other.n_ios);
        add(&mut self.bytes, other.bytes);
        add(&mut self.wait_ns, other.wait_ns);
        add(&mut self.n_merged, other.n_merged);
    }

    fn scale(&mut self, factor: f64) {
        for figure in [&mut self.n_ios, &mut self.bytes, &mut self.wait_ns, &mut self.n_merged] {
            *figure = figure.map(|value| value * factor);
        }
    }

    fn is_idle(&self) -> bool {
        self.n_ios.unwrap_or(0.0) == 0.0 && self.bytes.unwrap_or(0.0) == 0.0
    }
}

/// Returns the length of a span of seconds, 0 being one, when each of them is `span_ns` long.
fn stretched_ns(seconds_ns: u64, span_ns: u64) -> u64 {
    (seconds_ns / NS_PER_S).max(1).saturating_mul(span_ns)
}

/// Adds what both know. What one of them does not know, the sum does not either.
fn add(sum: &mut Option<f64>, other: Option<f64>) {
    *sum = sum.zip(other).map(|(one, other)| one + other);
}

impl Sample {
    /// Adds a span that follows this one.
    pub fn add(&mut self, later: &Sample) {
        self.end_ns = self.end_ns.max(later.end_ns);
        self.span_ns = self.span_ns.saturating_add(later.span_ns);
        self.read.add(&later.read);
        self.write.add(&later.write);
        self.all.add(&later.all);
        self.discard.add(&later.discard);
        add(&mut self.n_flushes, later.n_flushes);
        add(&mut self.in_flight_ns, later.in_flight_ns);
        add(&mut self.busy_ns, later.busy_ns);
    }

    /// Gives a span to figures of one second, and as many spans to those of several that were
    /// joined.
    pub(crate) fn stretch_to(&mut self, span_ns: u64) {
        self.scale(span_ns as f64 / NS_PER_S as f64);
        self.span_ns = stretched_ns(self.span_ns, span_ns);
    }

    /// Shortens the span at its beginning. The rates stay what they are.
    pub(crate) fn shorten_to(&mut self, span_ns: u64) {
        self.scale(span_ns as f64 / self.span_ns as f64);
        self.span_ns = span_ns;
    }

    fn scale(&mut self, factor: f64) {
        for flow in [&mut self.read, &mut self.write, &mut self.all, &mut self.discard] {
            flow.scale(factor);
        }
        for figure in [&mut self.n_flushes, &mut self.in_flight_ns, &mut self.busy_ns] {
            *figure = figure.map(|value| value * factor);
        }
    }

    /// Returns reads and writes together, or all operations where they are counted together.
    pub fn n_ios(&self) -> Option<f64> {
        self.read.n_ios.zip(self.write.n_ios).map(|(read, write)| read + write).or(self.all.n_ios)
    }

    /// Returns what reads and writes moved.
    pub fn bytes(&self) -> Option<f64> {
        self.read.bytes.zip(self.write.bytes).map(|(read, write)| read + write).or(self.all.bytes)
    }

    /// Returns the latencies of reads and writes, added up.
    pub fn wait_ns(&self) -> Option<f64> {
        // A source may tell the latency of reads only where there are only reads.
        let of = |flow: &Flow| flow.wait_ns.or((flow.n_ios == Some(0.0)).then_some(0.0));
        let apart = of(&self.read).zip(of(&self.write)).map(|(read, write)| read + write);
        apart.or(self.all.wait_ns)
    }

    /// Returns whether nothing was done.
    pub fn is_idle(&self) -> bool {
        [&self.read, &self.write, &self.all].into_iter().all(Flow::is_idle)
    }

    /// Returns the length of the span in seconds.
    pub fn span_s(&self) -> f64 {
        self.span_ns as f64 / NS_PER_S as f64
    }
}

impl HostSample {
    /// Gives a span to figures of one second, as [`Sample::stretch_to`] does.
    pub(crate) fn stretch_to(&mut self, span_ns: u64) {
        self.span_ns = stretched_ns(self.span_ns, span_ns);
    }
}

/// Rates per second, as most sources print them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    pub(crate) read: FlowRates,
    pub(crate) write: FlowRates,
    pub(crate) all: FlowRates,
    pub(crate) discard: FlowRates,
    pub(crate) flushes: Option<f64>,
    pub(crate) queue: Option<f64>,
    pub(crate) busy_share: Option<f64>,
}

/// Rates of one kind of operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowRates {
    pub(crate) iops: Option<f64>,
    pub(crate) bytes: Option<f64>,
    /// Bytes of the whole report, where it prints them too.
    pub(crate) total_bytes: Option<f64>,
    pub(crate) merged: Option<f64>,
    /// Mean of one operation.
    pub(crate) latency_ms: Option<f64>,
}

impl Rates {
    /// Returns the amounts over a span; see [`Sample::span_ns`] for 0.
    pub(crate) fn over(&self, end_ns: i64, span_ns: u64) -> Sample {
        let nominal_ns = if span_ns == 0 { NS_PER_S } else { span_ns };
        let seconds = nominal_ns as f64 / NS_PER_S as f64;
        let times = |rate: Option<f64>| rate.map(|rate| rate * seconds);
        let flow = |rates: &FlowRates| Flow {
            n_ios: times(rates.iops),
            bytes: times(rates.bytes),
            n_merged: times(rates.merged),
            wait_ns: rates.iops.zip(rates.latency_ms).map(|(iops, ms)| iops * seconds * ms * 1e6),
        };
        // One latency of both kinds stands beside the rates of each in older reports.
        let apart = self.read.iops.zip(self.write.iops).map(|(read, write)| read + write);
        let mut all = flow(&self.all);
        if let (None, Some(iops), Some(ms)) = (self.all.iops, apart, self.all.latency_ms) {
            all.wait_ns = Some(iops * seconds * ms * 1e6);
        }
        Sample {
            end_ns,
            span_ns,
            read: flow(&self.read),
            write: flow(&self.write),
            all,
            discard: flow(&self.discard),
            n_flushes: times(self.flushes),
            in_flight_ns: self.queue.map(|queue| queue * nominal_ns as f64),
            busy_ns: self.busy_share.map(|share| share * nominal_ns as f64),
        }
    }
}
