//! Block devices: /proc/diskstats, and what a control group did of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::Context;
use crate::live::counter::{Grown, deltas, wrapped};
use crate::live::{Cgroup, Span, Table, Texts};
use crate::sample::{Event, Flow, Sample};
use crate::time;

const SECTOR_BYTES: f64 = 512.0;
const NS_PER_MS: f64 = 1e6;

/// Figures of a line behind its name. Kernels before 4.18 have 11, before 5.5 have 15.
const N_FIELDS: usize = 17;
/// In flight: the one that is no counter.
const GAUGE_IDX: usize = 8;

/// Major and minor number.
type Number = (u32, u32);

/// A line.
#[derive(Clone, Debug)]
struct Line {
    name: String,
    counters: [u64; N_FIELDS],
    n_fields: usize,
}

/// Reads, writes, bytes read and written of a control group.
type GroupCounters = [u64; 4];

/// The block devices.
#[derive(Debug)]
pub(super) struct Disks {
    wanted: Vec<String>,
    last: BTreeMap<Number, Line>,
    last_own: Table<Number, 4>,
    /// What the control group and all processes did, I/Os, by device.
    shares: BTreeMap<String, (f64, f64)>,
    has_cgroup: bool,
    /// It is of version 1.
    is_first_version: bool,
    /// Devices that are not there now, and devices that were left out.
    gone: BTreeSet<Number>,
    left_out: BTreeSet<String>,
    /// Names that devices had first: samples stay under them.
    names: BTreeMap<Number, String>,
}

impl Disks {
    pub(super) fn new(wanted: Vec<String>) -> Self {
        Disks {
            wanted,
            last: BTreeMap::new(),
            last_own: Table::new(),
            shares: BTreeMap::new(),
            has_cgroup: false,
            is_first_version: false,
            gone: BTreeSet::new(),
            left_out: BTreeSet::new(),
            names: BTreeMap::new(),
        }
    }

    pub(super) fn take(
        &mut self,
        span: Option<Span>,
        end_ns: i64,
        texts: &Texts<'_>,
        context: &mut Context<'_>,
    ) {
        let lines = parse(texts.diskstats, context);
        let own = texts.cgroup.map(of_cgroup);
        self.has_cgroup |= own.is_some();
        self.is_first_version |= matches!(texts.cgroup, Some(Cgroup::V1(..)));
        let is_first = self.names.is_empty();
        let all: BTreeSet<&str> = lines.values().map(|line| line.name.as_str()).collect();
        for (number, line) in &lines {
            if !self.is_wanted(*number, &line.name, &all) {
                continue;
            }
            self.note_name(*number, &line.name, is_first, context);
            let (Some(span), Some(last)) = (span, self.last.get(number)) else { continue };
            let Some(Grown { by: grown, has_wrapped }) = grown(last, line) else {
                let text =
                    format!("the counters of {} restarted: one sample is left out", line.name);
                context.remark(None, text);
                continue;
            };
            if has_wrapped {
                context.remark(None, wrapped(&line.name));
            }
            let mut sample = sample(&grown, line.n_fields, end_ns, span.length_ns);
            if let Some(own) = &own {
                let none = GroupCounters::default();
                let before = self.last_own.get(number).unwrap_or(&none);
                let Some(own) = deltas(before, own.get(number).unwrap_or(&none)) else { continue };
                let n_all = sample.n_ios().unwrap_or(0.0);
                narrow(&mut sample, &own.by);
                let name = self.names[number].clone();
                let (n_own, total) = self.shares.entry(name).or_default();
                *n_own += sample.n_ios().unwrap_or(0.0);
                *total += n_all;
            }
            let name = &self.names[number];
            context.put(Event::Device { name, sample });
        }
        self.note_gone(&lines, end_ns, context);
        self.last = lines;
        self.last_own = own.unwrap_or_default();
    }

    /// Says which devices went since the last time, and which came back.
    fn note_gone(
        &mut self,
        lines: &BTreeMap<Number, Line>,
        end_ns: i64,
        context: &mut Context<'_>,
    ) {
        let at = time::iso(end_ns);
        for (number, name) in &self.names {
            let text = if lines.contains_key(number) {
                self.gone.remove(number).then(|| {
                    format!("{name} is there again at {at}: the time without it is left out")
                })
            } else {
                self.gone.insert(*number).then(|| format!("{name} is no longer there at {at}"))
            };
            if let Some(text) = text {
                context.remark(None, text);
            }
        }
    }

    /// Returns whether a device is to be captured.
    fn is_wanted(&mut self, number: Number, name: &str, all: &BTreeSet<&str>) -> bool {
        if self.names.contains_key(&number) {
            return true;
        }
        if !self.wanted.is_empty() {
            return self.wanted.iter().any(|wanted| wanted == name);
        }
        if is_partition(name, all.iter().copied()) {
            return false;
        }
        if repeats_others(name) {
            self.left_out.insert(name.to_owned());
            return false;
        }
        true
    }

    /// Keeps the name that a device had first, and tells when it has another.
    fn note_name(&mut self, number: Number, name: &str, is_first: bool, context: &mut Context<'_>) {
        if let Some(first) = self.names.get(&number) {
            let was = self.last.get(&number).map(|line| line.name.as_str());
            if was.is_some_and(|was| was != name) {
                let (major, minor) = number;
                let text = format!(
                    "{first} ({major}:{minor}) is called {name} now: its samples stay with {first}"
                );
                context.remark(None, text);
            }
            return;
        }
        if !is_first {
            context.remark(None, format!("{name} was not there at the start"));
        }
        self.names.insert(number, name.to_owned());
    }

    pub(super) fn finish(&self, context: &mut Context<'_>) {
        if !self.left_out.is_empty() {
            let names: Vec<&str> = self.left_out.iter().map(String::as_str).collect();
            let text = format!(
                "{} left out: their members count the same I/O; name them to count them instead",
                names.join(", ")
            );
            context.remark(None, text);
        }
        if self.has_cgroup {
            let counts_none = |(n_own, n_all): &(f64, f64)| {
                self.is_first_version && *n_own == 0.0 && *n_all > 0.0
            };
            for (name, share) in &self.shares {
                if counts_none(share) {
                    let text = format!(
                        "the group counted no I/O of {name}, which did some: whether any was the \
                         group's is not known. Newer kernels count for a group of version 1 only \
                         where it has a limit: give it a large one for the device in \
                         blkio.throttle.read_bps_device, and capture again"
                    );
                    context.unreadable(None, text);
                    context.put(Event::Unknown { name });
                    continue;
                }
                let (n_own, n_all) = share;
                let others = (1.0 - n_own / n_all).max(0.0);
                if *n_all > 0.0 {
                    let percent = units::format_percent(others);
                    let text = format!(
                        "{percent} of the I/Os of {name} came from other processes and are not in \
                        its figures; latency and queue are those of the whole device"
                    );
                    context.remark(None, text);
                }
            }
            if self.is_first_version {
                let text = "control groups of version 1 do not own what they write through the \
                            page cache: of writes, only direct ones are in the figures";
                context.remark(None, text);
            }
        } else if !self.names.is_empty() {
            let text = "the figures include the I/O of other processes; `--cgroup` leaves it out";
            context.remark(None, text);
        }
    }
}

/// Returns whether a name is that of a part of another one of these: `sda1`, `nvme0n1p2`.
pub fn is_partition<'a>(name: &str, mut all: impl Iterator<Item = &'a str>) -> bool {
    let whole = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if whole.len() == name.len() {
        return false;
    }
    // A disk whose name ends in a digit sets its parts apart with a `p`.
    let of_digit =
        whole.strip_suffix('p').filter(|disk| disk.ends_with(|c: char| c.is_ascii_digit()));
    let disk = of_digit.unwrap_or(whole);
    !disk.is_empty() && all.any(|other| other == disk)
}

/// Returns whether a device hands its I/O on to others, which count it as well.
pub(crate) fn repeats_others(name: &str) -> bool {
    let is_numbered = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    ["dm-", "md"].iter().any(|prefix| name.strip_prefix(prefix).is_some_and(is_numbered))
}

/// Reads /proc/diskstats.
fn parse(text: &str, context: &mut Context<'_>) -> BTreeMap<Number, Line> {
    let mut lines = BTreeMap::new();
    for (idx, line) in text.lines().enumerate() {
        match parse_line(line) {
            Some((number, line)) => {
                lines.insert(number, line);
            }
            None => context.unreadable(
                Some(idx as u64 + 1),
                format!("{} is not a line of diskstats", crate::context::quote(line)),
            ),
        }
    }
    lines
}

fn parse_line(text: &str) -> Option<(Number, Line)> {
    let mut words = text.split_ascii_whitespace();
    let number = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let name = words.next()?.to_owned();
    let mut counters = [0; N_FIELDS];
    let mut n_fields = 0;
    // Kernels to come may have more.
    for (place, word) in counters.iter_mut().zip(words) {
        *place = word.parse().ok()?;
        n_fields += 1;
    }
    (n_fields >= 11).then_some((number, Line { name, counters, n_fields }))
}

/// Returns by how much the counters grew.
fn grown(last: &Line, now: &Line) -> Option<Grown<N_FIELDS>> {
    let (mut before, mut after) = (last.counters, now.counters);
    (before[GAUGE_IDX], after[GAUGE_IDX]) = (0, 0);
    deltas(&before, &after)
}

fn sample(grown: &[u64; N_FIELDS], n_fields: usize, end_ns: i64, span_ns: u64) -> Sample {
    let count = |idx: usize| (idx < n_fields).then(|| grown[idx] as f64);
    let flow = |first: usize| Flow {
        n_ios: count(first),
        n_merged: count(first + 1),
        bytes: count(first + 2).map(|sectors| sectors * SECTOR_BYTES),
        wait_ns: count(first + 3).map(|ms| ms * NS_PER_MS),
    };
    Sample {
        end_ns,
        span_ns,
        read: flow(0),
        write: flow(4),
        all: Flow::default(),
        discard: flow(11),
        n_flushes: count(15),
        in_flight_ns: count(10).map(|ms| ms * NS_PER_MS),
        busy_ns: count(9).map(|ms| ms * NS_PER_MS),
    }
}

/// Reads what a control group did.
fn of_cgroup(cgroup: Cgroup<'_>) -> Table<Number, 4> {
    let mut table = Table::new();
    let mut put = |number: &str, idx: usize, value: &str| {
        let number = number.split_once(':');
        let number = number.and_then(|(one, two)| Some((one.parse().ok()?, two.parse().ok()?)));
        if let (Some(number), Ok(value)) = (number, value.parse()) {
            table.entry(number).or_insert(GroupCounters::default())[idx] = value;
        }
    };
    match cgroup {
        // `8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0`
        Cgroup::V2(text) => {
            for line in text.lines() {
                let Some((number, figures)) = line.split_once(' ') else { continue };
                for figure in figures.split_ascii_whitespace() {
                    match figure.split_once('=') {
                        Some(("rios", value)) => put(number, 0, value),
                        Some(("wios", value)) => put(number, 1, value),
                        Some(("rbytes", value)) => put(number, 2, value),
                        Some(("wbytes", value)) => put(number, 3, value),
                        _ => {}
                    }
                }
            }
        }
        // `8:16 Read 1459200`
        Cgroup::V1(bytes, ios) => {
            for (text, first) in [(ios, 0), (bytes, 2)] {
                for line in text.lines() {
                    let words: Vec<&str> = line.split_ascii_whitespace().collect();
                    match words[..] {
                        [number, "Read", value] => put(number, first, value),
                        [number, "Write", value] => put(number, first + 1, value),
                        _ => {}
                    }
                }
            }
        }
    }
    table
}

/// Leaves of a sample what the control group did. Waiting and queue are shared out by I/Os.
fn narrow(sample: &mut Sample, own: &GroupCounters) {
    let [n_reads, n_writes, read_bytes, write_bytes] = own.map(|count| count as f64);
    let n_all = sample.n_ios().unwrap_or(0.0);
    for (flow, n_ios, bytes) in
        [(&mut sample.read, n_reads, read_bytes), (&mut sample.write, n_writes, write_bytes)]
    {
        let of_device = flow.n_ios.unwrap_or(0.0);
        let share = if of_device > 0.0 { n_ios / of_device } else { 0.0 };
        *flow = Flow {
            n_ios: Some(n_ios),
            bytes: Some(bytes),
            wait_ns: flow.wait_ns.map(|wait_ns| wait_ns * share),
            n_merged: None,
        };
    }
    let share = if n_all > 0.0 { ((n_reads + n_writes) / n_all).min(1.0) } else { 0.0 };
    sample.in_flight_ns = sample.in_flight_ns.map(|ns| ns * share);
    sample.discard = Flow::default();
    sample.n_flushes = None;
}
