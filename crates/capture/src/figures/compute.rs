//! From samples and traces to figures, each with the rule that it was worked out by.

use hist::Histogram;
use needs::{
    Amount, Figure, Label, NeedLoad, NeedPhase, NeedSource, NeedVolume, Needs, PhaseRule,
    check_amount, check_figure,
};

use super::phase::{Phases, with_hours};
use super::weighted::{Weighted, spread};
use crate::collect::{Captured, CapturedVolume, usual_span};
use crate::facts::{Bursts, DirectionFacts, TraceFacts};
use crate::sample::{ClockKind, Sample};
use crate::sizes::SizeCounts;
use crate::time;

const KIB: f64 = 1024.0;
const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const MB: f64 = 1e6;

/// Mean size from which on requests of counters count as sequential: disks take 512 to 1,280 KiB
/// at a time, and only neighbours are merged to that.
const SEQUENTIAL_BYTES: f64 = 512.0 * KIB;
/// Share of requests that were merged from which on they count as sequential.
const SEQUENTIAL_MERGED: f64 = 0.5;

/// Why there are no needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no I/O was captured")]
pub struct NoIo;

/// Why a phase that was asked for has no figures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("phase {}: nothing was captured in it: {covered}", with_hours(rule))]
pub struct EmptyPhase {
    /// The phase.
    pub rule: PhaseRule,
    /// What was captured instead: a sentence without a full stop.
    pub covered: String,
}

/// Makes sure that something was captured in each phase with hours of its own, from which needs
/// were worked out.
///
/// # Errors
/// The first one without, and what times there are.
pub fn check_phases(captured: &Captured, needs: &Needs, phases: &Phases) -> Result<(), EmptyPhase> {
    let has_figures = |rule: &PhaseRule| needs.phases.iter().any(|it| it.name == rule.name);
    let mut with_hours = phases.rules().iter().filter(|rule| !rule.windows.is_empty());
    let Some(rule) = with_hours.find(|rule| !has_figures(rule)) else { return Ok(()) };
    let volumes = captured.volumes.iter().filter(|volume| volume.has_times_of_day);
    let samples = volumes.flat_map(|volume| &volume.samples);
    let spans = samples.map(|it| (it.end_ns.saturating_sub_unsigned(it.span_ns), it.end_ns));
    let covered = spans.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    let covered = match covered {
        Some((begin, end)) => {
            format!("the samples are from {} to {}", time::iso(begin), time::iso(end))
        }
        None => "the source has no times of day".to_owned(),
    };
    Err(EmptyPhase { rule: rule.clone(), covered })
}

/// Works out needs.
///
/// # Errors
/// Where no volume was captured.
pub fn needs_of(captured: &Captured, name: &str, phases: &Phases) -> Result<Needs, NoIo> {
    let mut notes: Vec<String> = captured.notes.iter().map(ToString::to_string).collect();
    if captured.volumes.is_empty() {
        return Err(NoIo);
    }
    let without: Vec<&str> = captured
        .volumes
        .iter()
        .filter(|volume| !volume.has_times_of_day)
        .map(|volume| volume.name.as_str())
        .collect();
    if phases.are_given() && !without.is_empty() {
        let names = without.join(", ");
        notes.push(format!("{names}: the source has no times of day, so no phase applies"));
    }
    let mut found = Vec::new();
    for (idx, rule) in phases.rules().iter().enumerate() {
        let phase = phase(captured, phases, idx, rule, &mut notes);
        if !phase.volumes.is_empty() {
            found.push(phase);
        } else if !rule.windows.is_empty() {
            notes.push(format!("phase {}: nothing was captured in it", rule.name));
        }
    }
    for volume in &captured.volumes {
        check_flushes(volume, &mut notes);
        check_little(volume, &mut notes);
        check_plateau(volume, &mut notes);
    }
    let volumes = captured.volumes.iter().map(|it| volume(it, &mut notes)).collect();
    Ok(Needs {
        name: name.to_owned(),
        cpus: captured.n_cpus,
        sources: captured.sources.iter().map(source).collect(),
        volumes,
        phases: found,
        notes,
        ..Needs::default()
    })
}

/// Leaves a figure out that cannot be, and says so.
fn sound(of: &str, key: &str, figure: Option<Figure>, notes: &mut Vec<String>) -> Option<Figure> {
    let figure = figure?;
    let why = match check_figure(key, &figure) {
        Ok(()) => return Some(figure),
        Err(why) => why,
    };
    notes.push(format!("{of}: left out: {why}"));
    None
}

fn source(source: &crate::collect::Source) -> NeedSource {
    let clock = match source.clock {
        ClockKind::Local => "local",
        ClockKind::Utc => "utc",
        ClockKind::Relative => "relative",
        ClockKind::Absent => "none",
    };
    NeedSource { name: source.name.clone(), form: source.form.to_owned(), clock: clock.to_owned() }
}

fn volume(volume: &CapturedVolume, notes: &mut Vec<String>) -> NeedVolume {
    let capacity = volume.capacity.unwrap_or_default();
    let mut amount = |key: &str, bytes: Option<f64>, label: Label, source: &str| {
        let amount = Amount { value: bytes? / GIB, label, source: source.to_owned() };
        let why = match check_amount(key, &amount) {
            Ok(()) => return Some(amount),
            Err(why) => why,
        };
        notes.push(format!("{}: left out: {why}", volume.name));
        None
    };
    let size = "size of the device or file system; less may be needed";
    let size = amount("capacity_gib", capacity.size_bytes, Label::Estimated, size);
    let used = amount("used_gib", capacity.used_bytes, Label::Measured, "space in use");
    // Logs that give both can contradict themselves: what is in use was counted.
    let is_more = |size: &Amount| {
        !needs::is_printed_as_0(size.value)
            && used.as_ref().is_none_or(|used| used.value <= size.value)
    };
    NeedVolume {
        name: volume.name.clone(),
        capacity_gib: size.filter(is_more),
        used_gib: used,
        ..NeedVolume::default()
    }
}

/// Works out one phase.
fn phase(
    captured: &Captured,
    phases: &Phases,
    idx: usize,
    rule: &PhaseRule,
    notes: &mut Vec<String>,
) -> NeedPhase {
    let mut phase = NeedPhase {
        name: rule.name,
        hours: rule.windows.iter().map(ToString::to_string).collect(),
        ..NeedPhase::default()
    };
    let mut longest_s: f64 = 0.0;
    for volume in &captured.volumes {
        let is_in = |sample: &&Sample| {
            phases.of(sample.end_ns, sample.span_ns, volume.has_times_of_day) == Some(idx)
        };
        let samples: Vec<Sample> = volume.samples.iter().filter(is_in).copied().collect();
        // A trace has no phases: its facts go with the rest of the day, or with what there is.
        let has_trace =
            volume.trace.is_some() && (volume.samples.is_empty() || !samples.is_empty());
        if samples.is_empty() && !has_trace {
            continue;
        }
        longest_s = longest_s.max(samples.iter().map(Sample::span_s).sum());
        let load = Load { captured, volume, samples: &samples };
        phase.volumes.push(load.need(notes));
    }
    phase.captured_s = (longest_s > 0.0).then_some(longest_s);
    let has_times = captured
        .sources
        .iter()
        .any(|source| matches!(source.clock, ClockKind::Local | ClockKind::Utc));
    let (mut cpu, mut memory, mut share) =
        (Weighted::default(), Weighted::default(), Weighted::default());
    for sample in &captured.host {
        if phases.of(sample.end_ns, sample.span_ns, has_times) == Some(idx) {
            let weight = sample.span_ns as f64;
            cpu.put_known(sample.cpu_share.map(|share| share * 100.0), weight);
            memory.put_known(sample.memory_bytes.map(|bytes| bytes / GIB), weight);
            share.put_known(sample.memory_share.map(|share| share * 100.0), weight);
        }
    }
    let mut figure = |key: &str, values: Weighted| {
        let figure = values.figure(Label::Measured, "samples of the host".to_owned());
        sound("host", key, figure, notes)
    };
    phase.cpu_percent = figure("cpu_percent", cpu);
    phase.memory_gib = figure("memory_gib", memory);
    phase.memory_percent = figure("memory_percent", share);
    phase
}

/// What was captured of a volume in a phase.
struct Load<'a> {
    captured: &'a Captured,
    volume: &'a CapturedVolume,
    samples: &'a [Sample],
}

impl Load<'_> {
    fn need(&self, notes: &mut Vec<String>) -> NeedLoad {
        let name = &self.volume.name;
        let mut figure = |key: &str, figure: Option<Figure>| sound(name, key, figure, notes);
        let need = NeedLoad {
            name: name.clone(),
            iops: figure("iops", self.rate(Sample::n_ios, 1.0)),
            throughput_mb_s: figure("throughput_mb_s", self.rate(Sample::bytes, MB)),
            io_size_kib: figure("io_size_kib", self.io_size()),
            read_percent: figure("read_percent", self.read_share()),
            random_percent: figure("random_percent", self.random_share()),
            latency_ms: figure("latency_ms", self.latency()),
            queue_depth: figure("queue_depth", self.queue_depth()),
            burst_peak_to_mean: self.burst(|bursts| bursts.peak_to_mean),
            burst_dispersion: self.burst(|bursts| bursts.dispersion),
        };
        if need.io_size_kib.is_none() {
            let text = format!(
                "{}: the size of I/Os is not known: write `io_size_kib = ..` into its phases",
                self.volume.name
            );
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
        need
    }

    /// Returns where samples come from, with a rule behind it.
    fn source(&self, rule: &str) -> String {
        let mut names: Vec<&str> = Vec::new();
        for idx in &self.volume.sources {
            names.push(&self.captured.sources[*idx].name);
        }
        let joined = names.join(", ");
        if rule.is_empty() { joined } else { format!("{joined}: {rule}") }
    }

    fn trace(&self) -> Option<(&TraceFacts, &str)> {
        let source_idx = self.volume.trace_source?;
        Some((self.volume.trace.as_ref()?, self.captured.sources[source_idx].name.as_str()))
    }

    /// Returns a rate per second, weighed by time.
    fn rate(&self, of: impl Fn(&Sample) -> Option<f64>, unit: f64) -> Option<Figure> {
        let mut values = Weighted::default();
        for sample in self.samples {
            let span_s = sample.span_s();
            values.put_known(of(sample).map(|count| count / span_s / unit), span_s);
        }
        let spans = self.samples.iter().map(|sample| sample.span_ns);
        let usual_s = usual_span(spans).unwrap_or(0) as f64 / 1e9;
        // A timer is late by a fraction of a millisecond.
        let usual_s = if usual_s >= 0.1 { (usual_s * 100.0).round() / 100.0 } else { usual_s };
        let mut rule = format!("samples of {} s", needs::number(usual_s));
        let mut label = Label::Measured;
        if let Some(alone) = self.volume.alone {
            rule = format!("{rule}, {} alone", alone.word());
            label = Label::Estimated;
        }
        values.figure(label, self.source(&rule))
    }

    fn io_size(&self) -> Option<Figure> {
        if let Some((facts, name)) = self.trace() {
            let mut sizes = facts.read.sizes.clone();
            sizes.merge(&facts.write.sizes);
            return of_sizes(&sizes, name);
        }
        let mut values = Weighted::default();
        for sample in self.samples {
            let n_ios = sample.n_ios().unwrap_or(0.0);
            values.put_known(sample.bytes().map(|bytes| bytes / n_ios / KIB), n_ios);
        }
        // A percentile of means is none of I/Os: the mean and its range is all that is known.
        let rule = "means of samples, so without percentiles";
        let figure = values.figure(Label::Estimated, self.source(rule))?;
        Some(Figure { p50: None, p90: None, p99: None, ..figure })
    }

    fn read_share(&self) -> Option<Figure> {
        let by_ios = |sample: &Sample| sample.read.n_ios.zip(sample.write.n_ios);
        let by_bytes = |sample: &Sample| sample.read.bytes.zip(sample.write.bytes);
        if self.samples.is_empty() {
            let (facts, name) = self.trace()?;
            let n_reads = facts.read.sizes.count() as f64;
            let mut values = Weighted::default();
            let total = n_reads + facts.write.sizes.count() as f64;
            values.put(n_reads / total * 100.0, total);
            return values.figure(Label::Measured, name.to_owned());
        }
        let of = |parts: &dyn Fn(&Sample) -> Option<(f64, f64)>| {
            let mut values = Weighted::default();
            for (read, write) in self.samples.iter().filter_map(parts) {
                values.put(read / (read + write) * 100.0, read + write);
            }
            values
        };
        let measured = of(&by_ios).share(Label::Measured, self.source(""));
        measured.or_else(|| {
            let rule = "by bytes, because reads and writes are not counted separately";
            of(&by_bytes).share(Label::Estimated, self.source(rule))
        })
    }

    fn random_share(&self) -> Option<Figure> {
        if let Some((facts, name)) = self.trace() {
            let count = |of: &dyn Fn(&DirectionFacts) -> u64| {
                of(&facts.read) as f64 + of(&facts.write) as f64
            };
            let n_ios = count(&|facts| facts.sizes.count());
            let n_sequential = count(&|facts| facts.n_sequential);
            let bytes = count(&|facts| u64::try_from(facts.sizes.bytes()).unwrap_or(u64::MAX));
            let in_bytes = 1.0 - count(&|facts| facts.sequential_bytes) / bytes;
            let n_streams = units::plural(facts.n_streams, "stream");
            let percent = units::format_percent(in_bytes);
            let source = format!("{name}: {n_streams}; {percent} of the bytes");
            let mean = (1.0 - n_sequential / n_ios) * 100.0;
            return mean.is_finite().then(|| only_mean(mean, Label::Measured, source));
        }
        let sum = |of: &dyn Fn(&Sample) -> Option<f64>| -> f64 {
            self.samples.iter().filter_map(of).sum()
        };
        let n_ios = sum(&Sample::n_ios);
        let n_merged = sum(&|sample| sample.read.n_merged) + sum(&|sample| sample.write.n_merged);
        let mean_bytes = sum(&Sample::bytes) / n_ios;
        if n_ios <= 0.0 {
            return None;
        }
        if mean_bytes >= SEQUENTIAL_BYTES || n_merged / (n_merged + n_ios) >= SEQUENTIAL_MERGED {
            let rule = "large or merged requests, so assumed sequential; a trace would show it";
            return Some(only_mean(0.0, Label::Estimated, self.source(rule)));
        }
        let rule = "counters do not show it; random is the safer assumption; a trace would show it";
        Some(only_mean(100.0, Label::Assumed, self.source(rule)))
    }

    fn latency(&self) -> Option<Figure> {
        if let Some((facts, name)) = self.trace() {
            let mut latency = facts.read.latency.clone();
            latency.merge(&facts.write.latency);
            if let Some(figure) = of_latency(&latency, name) {
                return Some(figure);
            }
        }
        let mut values = Weighted::default();
        for sample in self.samples {
            let n_ios = sample.n_ios().unwrap_or(0.0);
            values.put_known(sample.wait_ns().map(|ns| ns / n_ios / 1e6), n_ios);
        }
        let rule = "means of samples: single I/Os spread more";
        values.figure(Label::Estimated, self.source(rule))
    }

    fn queue_depth(&self) -> Option<Figure> {
        let of = |in_flight: &dyn Fn(&Sample) -> Option<f64>| {
            let mut values = Weighted::default();
            for sample in self.samples {
                let span_ns = sample.span_ns as f64;
                values.put_known(in_flight(sample).map(|ns| ns / span_ns), span_ns);
            }
            values
        };
        let measured = of(&|sample| sample.in_flight_ns).figure(Label::Measured, self.source(""));
        if measured.is_some() {
            return measured;
        }
        // A second without I/Os has no queue, whatever the source knows of the others.
        let has_ios = |it: &&Sample| it.n_ios().is_some_and(|n| n > 0.0);
        let mut busy = self.samples.iter().filter(has_ios).peekable();
        if busy.peek().is_some() && busy.all(|it| it.wait_ns().is_none()) {
            return None;
        }
        of(&Sample::wait_ns).figure(Label::Estimated, self.source("IOPS x latency"))
    }

    fn burst(&self, of: impl Fn(&Bursts) -> f64) -> Option<Amount> {
        let (facts, name) = self.trace()?;
        let value = of(facts.bursts.as_ref()?);
        let source = format!("{name}: slots of 0.1 s");
        let amount = Amount { value, label: Label::Measured, source };
        check_amount("burst", &amount).is_ok().then_some(amount)
    }
}

fn only_mean(mean: f64, label: Label, source: String) -> Figure {
    Figure { mean: Some(mean), label, source, ..Figure::default() }
}

fn of_sizes(sizes: &SizeCounts, name: &str) -> Option<Figure> {
    let at = |q: f64| sizes.quantile(q).map(|bytes| bytes as f64 / KIB);
    let mean = sizes.bytes() as f64 / sizes.count() as f64 / KIB;
    let source = format!("{name}: {}", units::plural(sizes.count(), "I/O"));
    Some(spread(mean, (at(0.0)?, at(1.0)?), at, Label::Measured, source))
}

fn of_latency(latency: &Histogram, name: &str) -> Option<Figure> {
    let ms = |ns: u64| ns as f64 / 1e6;
    let (min, max) = (ms(latency.min_ns()?), ms(latency.max_ns()?));
    let source = format!("{name}: {}", units::plural(latency.count(), "I/O"));
    let at = |q: f64| latency.quantile(q).map(ms);
    Some(spread(latency.mean_ns()? / 1e6, (min, max), at, Label::Measured, source))
}

/// Queue, latency and IOPS that do not fit each other by more than this say that one of them is
/// not what it seems.
const LITTLE_MAX: f64 = 0.10;

/// Little's law: what waits is rate times latency.
fn check_little(volume: &CapturedVolume, notes: &mut Vec<String>) {
    let (mut in_flight_ns, mut wait_ns) = (0.0, 0.0);
    for sample in &volume.samples {
        if let Some((queue, wait)) = sample.in_flight_ns.zip(sample.wait_ns()) {
            in_flight_ns += queue;
            wait_ns += wait;
        }
    }
    // Figures that are printed with two decimals say nothing of queues near nothing.
    let span_ns: f64 = volume.samples.iter().map(|sample| sample.span_ns as f64).sum();
    let is_idle = in_flight_ns.max(wait_ns) <= 0.1 * span_ns;
    if is_idle || (in_flight_ns / wait_ns - 1.0).abs() <= LITTLE_MAX {
        return;
    }
    let (queue, product) = (in_flight_ns / span_ns, wait_ns / span_ns);
    notes.push(format!(
        "{}: the mean queue is {queue:.2}, IOPS x latency gives {product:.2}: one of the three \
        counts something else (discards and flushes wait too)",
        volume.name
    ));
}

/// Share of flushes among writes from which on they change the figures of writes.
const FLUSHES_MAX: f64 = 0.05;

/// Linux counts a flush that comes by itself as a write without bytes.
fn check_flushes(volume: &CapturedVolume, notes: &mut Vec<String>) {
    let sum =
        |of: fn(&Sample) -> Option<f64>| -> f64 { volume.samples.iter().filter_map(of).sum() };
    let (n_flushes, n_writes) = (sum(|it| it.n_flushes), sum(|it| it.write.n_ios));
    if n_flushes > n_writes * FLUSHES_MAX {
        notes.push(format!(
            "{}: {n_flushes:.0} flushes beside {n_writes:.0} writes: those that come by themselves \
             are counted as writes without bytes, so that writes may be fewer and larger",
            volume.name
        ));
    }
}

/// Samples from which on a plateau can be recognised.
const PLATEAU_SAMPLES_MIN: usize = 20;
/// Share of samples that lie within 1 % of the largest.
const PLATEAU_SHARE: f64 = 0.2;
const PLATEAU_WIDTH: f64 = 0.01;

/// Something that is counted in a sample.
type Count = fn(&Sample) -> Option<f64>;

/// A load that stays at its largest value may be held there.
fn check_plateau(volume: &CapturedVolume, notes: &mut Vec<String>) {
    let figures: [(&str, Count); 2] = [("I/Os", Sample::n_ios), ("bytes", Sample::bytes)];
    for (what, of) in figures {
        let rates: Vec<f64> = volume
            .samples
            .iter()
            .filter_map(|sample| of(sample).map(|count| count / sample.span_s()))
            .filter(|rate| *rate > 0.0)
            .collect();
        let max = rates.iter().copied().fold(0.0, f64::max);
        let n_at = rates.iter().filter(|rate| **rate >= max * (1.0 - PLATEAU_WIDTH)).count();
        let share = n_at as f64 / rates.len().max(1) as f64;
        if rates.len() >= PLATEAU_SAMPLES_MIN && share >= PLATEAU_SHARE {
            let percent = units::format_percent(share);
            notes.push(format!(
                "{}: {what} per second stay within 1 % of their largest value {percent} of the \
                 time: if the volume is capped there, the need is larger than what was captured",
                volume.name
            ));
            return;
        }
    }
}
