//! Keeps what readers give, within a limit, and makes one series per volume of it.

use std::collections::BTreeSet;
use std::fmt;

use crate::context::printable;
use crate::facts::TraceFacts;
use crate::live::is_partition;
use crate::sample::{
    Capacity, ClockKind, Event, Flow, HostSample, NS_PER_S, Note, NoteKind, Sample, WHOLE_HOST,
};
use crate::time;

/// Samples that are kept, of all devices together: twelve days of one a second. Beyond them
/// neighbours are joined, so that a capture of any length takes about 250 MiB.
pub const SAMPLES_MAX: usize = 1 << 20;

/// Spans that a device may miss at either end before that is noted.
const MISSING_SPANS: u64 = 3;

/// Where samples came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// A file as it was named, or `live`.
    pub name: String,
    /// What form it has.
    pub form: &'static str,
    /// Which clock its moments are of.
    pub clock: ClockKind,
}

/// A note and what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceNote {
    /// A file as it was named; empty where it is about all.
    pub source: String,
    /// What is to be known.
    pub note: Note,
}

impl fmt::Display for SourceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.source.as_str(), self.note.line) {
            ("", _) => {}
            (source, Some(line)) => write!(f, "{source}:{line}: ")?,
            (source, None) => write!(f, "{source}: ")?,
        }
        match self.note.kind {
            NoteKind::Remark => {}
            NoteKind::Unreadable => f.write_str("not read: ")?,
        }
        f.write_str(&self.note.text)
    }
}

/// Everything that was captured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Captured {
    /// Where it came from.
    pub sources: Vec<Source>,
    /// One series per volume, in the order of their names.
    pub volumes: Vec<CapturedVolume>,
    /// The host, in the order of time.
    pub host: Vec<HostSample>,
    /// Processors of the host, where a source tells.
    pub n_cpus: Option<u32>,
    /// What is to be known.
    pub notes: Vec<SourceNote>,
    /// Devices that were there, whether or not they are volumes here.
    pub all_names: BTreeSet<String>,
}

/// What was captured of one volume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapturedVolume {
    /// As its source calls it.
    pub name: String,
    /// In the order of time. Every one has a span.
    pub samples: Vec<Sample>,
    /// What a trace reported.
    pub trace: Option<TraceFacts>,
    /// How much it holds.
    pub capacity: Option<Capacity>,
    /// Places in `Captured::sources` that samples are from.
    pub sources: Vec<usize>,
    /// Place of the source that the trace is from.
    pub trace_source: Option<usize>,
    /// Moments are times of day.
    pub has_times_of_day: bool,
    /// The kind of I/Os that alone was counted, where one was: all I/Os are those.
    pub alone: Option<CountedKind>,
}

/// A kind of I/Os that a source counts without the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedKind {
    /// Nothing is known of writes.
    Reads,
    /// Nothing is known of reads.
    Writes,
}

impl CountedKind {
    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            CountedKind::Reads => "reads",
            CountedKind::Writes => "writes",
        }
    }

    /// Returns the kind that samples know alone; none where they know both, or all together.
    fn of(samples: &[Sample]) -> Option<CountedKind> {
        let knows = |of: fn(&Sample) -> &Flow| {
            samples.iter().map(of).any(|flow| flow.n_ios.is_some() || flow.bytes.is_some())
        };
        match (knows(|it| &it.read), knows(|it| &it.write), knows(|it| &it.all)) {
            (true, false, false) => Some(CountedKind::Reads),
            (false, true, false) => Some(CountedKind::Writes),
            (_, _, true) | (true, true, false) | (false, false, false) => None,
        }
    }
}

/// Takes events of one source after the other.
#[derive(Debug, Default)]
pub struct Collector {
    captured: Captured,
    series: Vec<Series>,
    hosts: Vec<HostSeries>,
    traces: Vec<(String, usize, TraceFacts)>,
    capacities: Vec<(String, Capacity)>,
    n_samples: usize,
    n_joined: u32,
}

/// The samples of one device of one source.
#[derive(Debug)]
struct Series {
    name: String,
    source_idx: usize,
    samples: Vec<Sample>,
    /// Those at the beginning that hold neighbours already.
    n_joined: usize,
    alone: Option<CountedKind>,
    /// The samples do not count: the device is no volume for them.
    is_unknown: bool,
}

/// The samples of the host of one source.
#[derive(Debug)]
struct HostSeries {
    source_idx: usize,
    samples: Vec<HostSample>,
    /// Those at the beginning that hold neighbours already.
    n_joined: usize,
}

impl Collector {
    /// Begins with nothing.
    pub fn new() -> Self {
        Collector::default()
    }

    /// Begins a source: what follows is from it.
    pub fn begin(&mut self, name: &str, form: &'static str) {
        let clock = ClockKind::Absent;
        self.captured.sources.push(Source { name: name.to_owned(), form, clock });
    }

    /// Takes an event of the source that was begun last.
    ///
    /// # Panics
    /// Where none was begun.
    pub fn take(&mut self, event: Event<'_>) {
        let source_idx = self.captured.sources.len().checked_sub(1).expect("a source was begun");
        match event {
            Event::Device { name, sample } => {
                let name = &*printable(name);
                let of =
                    |series: &&mut Series| series.source_idx == source_idx && series.name == name;
                if let Some(series) = self.series.iter_mut().rev().find(of) {
                    series.samples.push(sample);
                } else {
                    let (name, samples) = (name.to_owned(), vec![sample]);
                    self.series.push(Series {
                        name,
                        source_idx,
                        samples,
                        n_joined: 0,
                        alone: None,
                        is_unknown: false,
                    });
                }
                self.n_samples += 1;
            }
            Event::Unknown { name } => {
                let name = &*printable(name);
                for series in &mut self.series {
                    series.is_unknown |= series.source_idx == source_idx && series.name == name;
                }
            }
            Event::Host(sample) => {
                let of = |series: &&mut HostSeries| series.source_idx == source_idx;
                if let Some(series) = self.hosts.last_mut().filter(of) {
                    series.samples.push(sample);
                } else {
                    let samples = vec![sample];
                    self.hosts.push(HostSeries { source_idx, samples, n_joined: 0 });
                }
                self.n_samples += 1;
            }
            Event::Trace { name, facts } => {
                self.traces.push((printable(name).into_owned(), source_idx, *facts));
            }
            Event::Capacity { name, capacity } => {
                let name = printable(name);
                match self.capacities.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => *known = known.larger(capacity),
                    None => self.capacities.push((name.into_owned(), capacity)),
                }
            }
            Event::Machine { n_cpus } => {
                self.captured.n_cpus.get_or_insert(n_cpus);
            }
            Event::Clock(clock) => self.captured.sources[source_idx].clock = clock,
            Event::Length(length_ns) => self.stretch(source_idx, length_ns),
            Event::Note(note) => {
                let source = self.captured.sources[source_idx].name.clone();
                // A live capture says the same again and again.
                let note = SourceNote { source, note };
                if self.captured.notes.len() < NOTES_MAX && !self.captured.notes.contains(&note) {
                    self.captured.notes.push(note);
                }
            }
        }
        if self.n_samples > SAMPLES_MAX {
            self.join_neighbours();
        }
    }

    /// Joins neighbours, so that every sample holds twice as many as after the time before.
    fn join_neighbours(&mut self) {
        self.n_joined += 1;
        let n_fresh = 1_usize << self.n_joined;
        for series in &mut self.series {
            let (joined, fresh) = series.samples.split_at(series.n_joined);
            let joined = joined.chunks(2).map(join);
            series.samples = joined.chain(fresh.chunks(n_fresh).map(join)).collect();
            series.n_joined = series.samples.len();
        }
        for series in &mut self.hosts {
            let (joined, fresh) = series.samples.split_at(series.n_joined);
            let joined = joined.chunks(2).map(join_host);
            series.samples = joined.chain(fresh.chunks(n_fresh).map(join_host)).collect();
            series.n_joined = series.samples.len();
        }
        let n_of_devices: usize = self.series.iter().map(|series| series.samples.len()).sum();
        let n_of_hosts: usize = self.hosts.iter().map(|series| series.samples.len()).sum();
        self.n_samples = n_of_devices + n_of_hosts;
    }

    /// Gives the samples of a source their length. Where they have numbers for moments, those
    /// become times since its beginning.
    fn stretch(&mut self, source_idx: usize, length_ns: u64) {
        let source = &mut self.captured.sources[source_idx];
        let factor = length_ns as f64 / NS_PER_S as f64;
        let is_numbered = source.clock == ClockKind::Absent;
        if is_numbered {
            source.clock = ClockKind::Relative;
        }
        let moment_ns =
            |end_ns: i64| if is_numbered { (end_ns as f64 * factor) as i64 } else { end_ns };
        for series in self.series.iter_mut().filter(|series| series.source_idx == source_idx) {
            for sample in &mut series.samples {
                sample.end_ns = moment_ns(sample.end_ns);
                sample.stretch_to(length_ns);
            }
        }
        for series in self.hosts.iter_mut().filter(|series| series.source_idx == source_idx) {
            for sample in &mut series.samples {
                sample.end_ns = moment_ns(sample.end_ns);
                sample.stretch_to(length_ns);
            }
        }
    }

    /// Says something about all sources.
    fn remark(&mut self, text: String) {
        let note = Note { kind: NoteKind::Remark, line: None, text };
        self.captured.notes.push(SourceNote { source: String::new(), note });
    }

    /// Makes volumes of what was taken: of the named ones, or of all that did any I/O and are no
    /// part of another one.
    pub fn finish(mut self, wanted: &[String]) -> Captured {
        if self.n_joined > 0 {
            let n_neighbours = 1_u64 << self.n_joined;
            let text = format!(
                "more than {SAMPLES_MAX} samples: {n_neighbours} neighbours were joined into one, \
                 and shorter peaks are levelled"
            );
            self.remark(text);
        }
        let mut series = std::mem::take(&mut self.series);
        let usual_ns: Vec<Option<u64>> = (0..self.captured.sources.len())
            .map(|source_idx| {
                let of = series.iter().filter(|series| series.source_idx == source_idx);
                usual_span(of.flat_map(|series| &series.samples).map(|sample| sample.span_ns))
            })
            .collect();
        for series in &mut series {
            self.straighten(series, usual_ns[series.source_idx]);
            self.complete(series);
        }
        self.note_changes(&series);
        self.captured.all_names = series.iter().map(|series| series.name.clone()).collect();
        let traced = self.traces.iter().map(|(name, ..)| name.clone());
        self.captured.all_names.extend(traced);
        series.retain(|series| !series.is_unknown);
        for name in self.volume_names(wanted, &series) {
            let volume = self.volume(&name, &series);
            self.captured.volumes.push(volume);
        }
        let hosts = std::mem::take(&mut self.hosts);
        self.captured.host = hosts.into_iter().flat_map(|series| series.samples).collect();
        self.captured.host.sort_by_key(|sample| sample.end_ns);
        let spans = self.captured.host.iter().map(|sample| sample.span_ns);
        let usual_ns = usual_span(spans).unwrap_or(NS_PER_S);
        for sample in self.captured.host.iter_mut().filter(|sample| sample.span_ns == 0) {
            sample.span_ns = usual_ns;
        }
        self.captured
    }

    /// Gives samples their spans and their order, and leaves duplicates out. Where nothing else
    /// tells a span, it is the usual one of the source.
    fn straighten(&mut self, series: &mut Series, of_source_ns: Option<u64>) {
        let source = self.captured.sources[series.source_idx].name.clone();
        let is_in_order = series.samples.is_sorted_by_key(|sample| sample.end_ns);
        series.samples.sort_by_key(|sample| sample.end_ns);
        let usual_ns = usual_of(&series.samples).or(of_source_ns);
        // Joined neighbours are longer than what comes from the source.
        let unjoined_ns = usual_ns.filter(|_| series.n_joined == 0).unwrap_or(NS_PER_S);
        for sample in series.samples.iter_mut().filter(|sample| sample.span_ns == 0) {
            sample.stretch_to(unjoined_ns);
        }
        if !is_in_order && series.n_joined == 0 {
            shorten(&mut series.samples, unjoined_ns);
            self.note_gaps(&series.samples, &source);
        }
        join_last(&mut series.samples, usual_ns);
        let n_before = series.samples.len();
        // The same moment and the same figures to the last digit: a report that stands twice.
        series.samples.dedup_by(|later, sample| later == sample && !sample.is_idle());
        let n_twice = n_before - series.samples.len();
        if n_twice > 0 {
            let verbs = if n_twice == 1 { "appears twice and is" } else { "appear twice and are" };
            let n_twice = units::plural(n_twice as u64, "sample");
            let text = format!("{n_twice} of {} {verbs} counted once", series.name);
            let note = Note { kind: NoteKind::Remark, line: None, text };
            self.captured.notes.push(SourceNote { source, note });
        }
    }

    /// Says where no samples are, in those that were put in order: their reader saw another one.
    fn note_gaps(&mut self, samples: &[Sample], source: &str) {
        let is_gap = |pair: &&[Sample]| {
            let since_ns = pair[1].end_ns.abs_diff(pair[0].end_ns);
            since_ns > pair[1].span_ns.saturating_add(NS_PER_S)
        };
        for pair in samples.windows(2).filter(is_gap).take(GAPS_NOTED) {
            let (from, to) = (time::iso(pair[0].end_ns), time::iso(pair[1].end_ns));
            let text = format!("no samples from {from} to {to}: that time is left out");
            let is_it = |noted: &SourceNote| noted.source == source && noted.note.text == text;
            if !self.captured.notes.iter().any(is_it) {
                let note = Note { kind: NoteKind::Remark, line: None, text };
                self.captured.notes.push(SourceNote { source: source.to_owned(), note });
            }
        }
    }

    /// Takes the kind of I/Os that alone was counted for all of them, and says so.
    fn complete(&mut self, series: &mut Series) {
        series.alone = CountedKind::of(&series.samples);
        let Some(alone) = series.alone else { return };
        for sample in &mut series.samples {
            sample.all = match alone {
                CountedKind::Reads => sample.read,
                CountedKind::Writes => sample.write,
            };
        }
        if series.samples.iter().all(Sample::is_idle) {
            return;
        }
        let (name, kind) = (&series.name, alone.word());
        let text =
            format!("{name}: {kind} alone are counted in it: IOPS and bytes are at least those");
        let source = self.captured.sources[series.source_idx].name.clone();
        let note = Note { kind: NoteKind::Remark, line: None, text };
        self.captured.notes.push(SourceNote { source, note });
    }

    /// Notes which devices appeared and disappeared within a source.
    fn note_changes(&mut self, all: &[Series]) {
        let mut texts = Vec::new();
        for (source_idx, source) in self.captured.sources.iter().enumerate() {
            let of: Vec<&Series> =
                all.iter().filter(|series| series.source_idx == source_idx).collect();
            let first = |series: &Series| series.samples.first().map(|sample| sample.end_ns);
            let last = |series: &Series| series.samples.last().map(|sample| sample.end_ns);
            let begin_ns = of.iter().filter_map(|series| first(series)).min().unwrap_or(0);
            let end_ns = of.iter().filter_map(|series| last(series)).max().unwrap_or(0);
            let is_apart = |one_ns: i64, other_ns: i64, series: &Series| {
                let usual = usual_span(series.samples.iter().map(|sample| sample.span_ns));
                one_ns.abs_diff(other_ns) > usual.unwrap_or(NS_PER_S).saturating_mul(MISSING_SPANS)
            };
            // A trace begins and ends with each device's own I/O.
            if self.traces.iter().any(|(_, of_idx, _)| *of_idx == source_idx) {
                continue;
            }
            let moment = |at_ns: i64| match source.clock {
                ClockKind::Local | ClockKind::Utc => time::iso(at_ns),
                ClockKind::Relative | ClockKind::Absent => {
                    format!("{} s", needs::number(at_ns as f64 / NS_PER_S as f64))
                }
            };
            let mut went = Vec::new();
            for series in &of {
                let Some(at_ns) = last(series).filter(|at| is_apart(*at, end_ns, series)) else {
                    continue;
                };
                let at = moment(at_ns);
                texts.push((source_idx, format!("{} has no samples after {at}", series.name)));
                went.push((series.name.as_str(), at_ns));
            }
            for series in &of {
                let Some(at_ns) = first(series).filter(|at| is_apart(*at, begin_ns, series)) else {
                    continue;
                };
                let at = moment(at_ns);
                let before = went.iter().find(|(_, went_ns)| !is_apart(*went_ns, at_ns, series));
                let guess = before.map_or(String::new(), |(name, _)| {
                    format!(": it may be {name} under another name")
                });
                texts.push((
                    source_idx,
                    format!("{} has no samples before {at}{guess}", series.name),
                ));
            }
        }
        for (source_idx, text) in texts {
            let source = self.captured.sources[source_idx].name.clone();
            let note = Note { kind: NoteKind::Remark, line: None, text };
            self.captured.notes.push(SourceNote { source, note });
        }
    }

    /// Chooses which devices are volumes.
    fn volume_names(&mut self, wanted: &[String], all: &[Series]) -> BTreeSet<String> {
        let known = all.iter().map(|series| &series.name);
        let traced = self.traces.iter().map(|(name, ..)| name);
        let names: BTreeSet<String> = known.chain(traced).cloned().collect();
        if !wanted.is_empty() {
            return names.into_iter().filter(|name| wanted.contains(name)).collect();
        }
        let is_traced = |name: &str| self.traces.iter().any(|(of, ..)| of == name);
        let is_busy = |name: &str| {
            let mut samples =
                all.iter().filter(|series| series.name == name).flat_map(|series| &series.samples);
            is_traced(name) || samples.any(|sample| !sample.is_idle())
        };
        let mut volumes = BTreeSet::new();
        let (mut idle, mut parts, mut stacked) = (Vec::new(), Vec::new(), Vec::new());
        for name in &names {
            if !is_busy(name) {
                idle.push(name.as_str());
            } else if is_partition(name, names.iter().map(String::as_str)) {
                parts.push(name.as_str());
            } else if crate::live::repeats_others(name) {
                stacked.push(name.as_str());
            } else {
                volumes.insert(name.clone());
            }
        }
        // Where there is nothing below them, they are what there is.
        if volumes.iter().all(|name| name == WHOLE_HOST) {
            volumes.extend(stacked.drain(..).map(str::to_owned));
        }
        let has_disks = volumes.len() > 1;
        let dropped = has_disks && volumes.remove(WHOLE_HOST);
        let mut texts = Vec::new();
        let mut tell = |names: &[&str], why: &str| {
            if !names.is_empty() {
                texts.push(format!("{} left out: {why}", names.join(", ")));
            }
        };
        tell(&idle, "no I/O");
        tell(&parts, "partitions, which their disks count as well");
        tell(&stacked, "their members count the same I/O; `--device` takes them instead");
        if dropped {
            tell(&[WHOLE_HOST], "other sources have them by device");
        }
        for text in texts {
            self.remark(text);
        }
        volumes
    }

    /// Joins what several sources have of a volume.
    fn volume(&mut self, name: &str, all: &[Series]) -> CapturedVolume {
        let mut of: Vec<&Series> = all.iter().filter(|series| series.name == name).collect();
        of.sort_by_key(|series| std::cmp::Reverse(detail(series)));
        let mut volume = CapturedVolume { name: name.to_owned(), ..CapturedVolume::default() };
        for series in of {
            let source = &self.captured.sources[series.source_idx];
            let is_of_day = matches!(source.clock, ClockKind::Local | ClockKind::Utc);
            let overlaps = |sample: &Sample| {
                let (first, last) = (series.samples.first(), series.samples.last());
                first.zip(last).is_some_and(|(first, last)| {
                    sample.end_ns >= first.end_ns && sample.end_ns <= last.end_ns
                })
            };
            let is_other_clock = !volume.sources.is_empty() && is_of_day != volume.has_times_of_day;
            if is_other_clock || volume.samples.iter().any(overlaps) {
                let text = format!(
                    "the samples of {name} in {} left out: another source has them in more detail",
                    source.name
                );
                self.remark(text);
                continue;
            }
            volume.has_times_of_day = is_of_day;
            volume.alone = volume.alone.or(series.alone);
            volume.sources.push(series.source_idx);
            volume.samples.extend(&series.samples);
        }
        volume.samples.sort_by_key(|sample| sample.end_ns);
        volume.capacity = self.capacities.iter().find(|(of, _)| of == name).map(|of| of.1);
        if let Some(idx) = self.traces.iter().position(|(of, ..)| of == name) {
            let (_, source_idx, facts) = self.traces.swap_remove(idx);
            (volume.trace, volume.trace_source) = (Some(facts), Some(source_idx));
        }
        volume
    }
}

/// Gaps of a device that are noted, where its samples had to be put in order.
const GAPS_NOTED: usize = 3;

/// Notes that are kept: a log of nothing but gaps says so often enough.
const NOTES_MAX: usize = 200;

/// Returns how much a series tells: reads apart from writes, latencies, times of day.
fn detail(series: &Series) -> usize {
    let Some(sample) = series.samples.last() else { return 0 };
    let tells = [
        sample.read.n_ios.is_some(),
        sample.wait_ns().is_some(),
        sample.bytes().is_some(),
        sample.in_flight_ns.is_some(),
    ];
    tells.into_iter().filter(|tells| *tells).count() * 2
        + usize::from(sample.end_ns > 1_000_000_000)
}

/// Joins a last span that was cut short with the one before: its rates would be chance.
fn join_last(samples: &mut Vec<Sample>, usual_ns: Option<u64>) {
    let [.., before, last] = &mut samples[..] else { return };
    if last.span_ns < usual_ns.unwrap_or(0) / 2 {
        let last = *last;
        before.add(&last);
        samples.pop();
    }
}

/// Returns how long samples, in their order, usually last. Where the order of the source shows it
/// of fewer than half of them, it is the time between two that stands in the middle.
fn usual_of(samples: &[Sample]) -> Option<u64> {
    let n_known = samples.iter().filter(|sample| sample.span_ns > 0).count();
    let of_source = usual_span(samples.iter().map(|sample| sample.span_ns));
    let between =
        || usual_span(samples.windows(2).map(|pair| pair[1].end_ns.abs_diff(pair[0].end_ns)));
    of_source.filter(|_| 2 * n_known >= samples.len()).or_else(between).or(of_source)
}

/// Shortens samples that begin before the end of the one before. Where reports are not in order,
/// one seems to have lasted since the one that stands before it, and another holds a part of that
/// time.
fn shorten(samples: &mut [Sample], usual_ns: u64) {
    let ends: Vec<i64> = samples.iter().map(|sample| sample.end_ns).collect();
    for (sample, before_ns) in samples[1..].iter_mut().zip(ends) {
        let since_ns = sample.end_ns.abs_diff(before_ns).max(usual_ns);
        if sample.span_ns > since_ns {
            sample.shorten_to(since_ns);
        }
    }
}

fn join(samples: &[Sample]) -> Sample {
    let with_span = |sample: &Sample| {
        // Where the span is not known, the figures are those of one second.
        let span_ns = if sample.span_ns == 0 { NS_PER_S } else { sample.span_ns };
        Sample { span_ns, ..*sample }
    };
    let mut joined = with_span(&samples[0]);
    samples[1..].iter().for_each(|later| joined.add(&with_span(later)));
    joined
}

fn join_host(samples: &[HostSample]) -> HostSample {
    let mut joined = samples[0];
    for later in &samples[1..] {
        let weights = (joined.span_ns.max(1) as f64, later.span_ns.max(1) as f64);
        let mean = |one: Option<f64>, other: Option<f64>| {
            let sum = one.zip(other).map(|(one, other)| one * weights.0 + other * weights.1);
            sum.map(|sum| sum / (weights.0 + weights.1))
        };
        joined = HostSample {
            end_ns: joined.end_ns.max(later.end_ns),
            span_ns: joined.span_ns + later.span_ns,
            cpu_share: mean(joined.cpu_share, later.cpu_share),
            memory_bytes: mean(joined.memory_bytes, later.memory_bytes),
            memory_share: mean(joined.memory_share, later.memory_share),
        };
    }
    joined
}

/// Returns the span in the middle of those that are known.
pub(crate) fn usual_span(spans: impl Iterator<Item = u64>) -> Option<u64> {
    let mut known: Vec<u64> = spans.filter(|span_ns| *span_ns > 0).collect();
    known.sort_unstable();
    known.get(known.len() / 2).copied()
}
