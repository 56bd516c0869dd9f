//! Parts and the curve of a suite, out of TOML.

use std::ops::{Range, RangeInclusive};

use analysis::Limits;
use plan::keys::{Findings, Keys};
use toml::de::DeValue;

use super::condition::Condition;
use super::{
    Access, Bound, CurvePart, Durable, End, Part, PartLoad, Published, PublishedFigure, Target,
};
use crate::lever::{IN_FLIGHT_MAX, Time};

/// What a part has unless it says otherwise.
#[derive(Clone, Debug)]
pub(super) struct Defaults {
    block_bytes: Vec<u64>,
    read_pct: Vec<f64>,
    depths: Vec<u32>,
    workers: Vec<u32>,
    connections: Vec<u32>,
    is_direct: bool,
    durable: Durable,
    place: String,
    rate_iops: Option<u64>,
    size_bytes: Option<u64>,
    ramp_ns: u64,
    time_ns: u64,
}

impl Default for Defaults {
    fn default() -> Self {
        Defaults {
            block_bytes: vec![8192],
            read_pct: vec![50.0],
            depths: vec![32],
            workers: vec![1],
            connections: Vec::new(),
            is_direct: true,
            durable: Durable::Whenever,
            place: String::new(),
            rate_iops: None,
            size_bytes: None,
            ramp_ns: 5_000_000_000,
            time_ns: 60_000_000_000,
        }
    }
}

/// Shortest and longest time of a step.
const TIME_NS: RangeInclusive<u64> = 10_000_000..=30 * 86_400_000_000_000;

impl Defaults {
    /// Reads the rules of a table.
    pub(super) fn read(&self, keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Self {
        let counts = |keys: &mut Keys<'_>, name, max, usual: &[u32], f: &mut Findings<'_>| {
            counts(keys, name, 1..=max, f)
                .map_or(usual.to_vec(), |list| list.into_iter().map(|value| value as u32).collect())
        };
        let time = |keys: &mut Keys<'_>, name, least, usual, f: &mut Findings<'_>| {
            let found = keys.duration(name, f).map(|(time, at)| (units::nanoseconds(time), at));
            found.map_or(usual, |(ns, at)| {
                let range = least..=*TIME_NS.end();
                if !range.contains(&ns) {
                    let text = format!("`{name}` is out of range, expected 10 ms to 30 days");
                    f.error("out-of-range", &at, text);
                }
                ns
            })
        };
        Defaults {
            block_bytes: blocks(keys, findings).unwrap_or_else(|| self.block_bytes.clone()),
            read_pct: percents(keys, findings).unwrap_or_else(|| self.read_pct.clone()),
            depths: counts(keys, "iodepth", u64::from(IN_FLIGHT_MAX), &self.depths, findings),
            workers: counts(keys, "jobs", 1024, &self.workers, findings),
            connections: counts(keys, "connections", 64, &self.connections, findings),
            is_direct: cache(keys, findings).unwrap_or(self.is_direct),
            durable: durable(keys, findings).unwrap_or(self.durable),
            place: keys
                .text("place", findings)
                .map_or(self.place.clone(), |(name, _)| name.to_owned()),
            rate_iops: keys.count("rate_iops", findings).map(|(n, _)| n).or(self.rate_iops),
            size_bytes: size(keys, findings).or(self.size_bytes),
            ramp_ns: time(keys, "ramp", 0, self.ramp_ns, findings),
            time_ns: time(keys, "time", *TIME_NS.start(), self.time_ns, findings),
        }
    }
}

/// Reads a part.
pub(super) fn part(mut keys: Keys<'_>, defaults: &Defaults, findings: &mut Findings<'_>) -> Part {
    let name = required(&mut keys, "name", findings);
    let own = defaults.read(&mut keys, findings);
    let is_preparation = keys.flag("preparation", findings);
    let end = end(&mut keys, findings);
    let loads = keys.tables("load", findings);
    let access = match access(&mut keys, findings) {
        Some(access) => access,
        None if loads.is_empty() && keys.get("rw").is_none() => {
            findings.error("missing-key", &keys.at.clone(), "`rw` is missing");
            Access::RandRead
        }
        None => Access::RandRead,
    };
    let loads = loads.into_iter().map(|keys| load(keys, access, &own, findings)).collect();
    let published = keys.tables("published", findings);
    let published = published.into_iter().map(|keys| self::published(keys, findings)).collect();
    let targets = keys.tables("target", findings);
    let targets = targets.into_iter().map(|keys| target(keys, findings)).collect();
    keys.finish(findings);
    let Defaults { block_bytes, read_pct, depths, workers, connections, .. } = own;
    Part {
        name,
        is_preparation,
        access,
        block_bytes,
        read_pct: if access.is_mixed() { read_pct } else { vec![50.0] },
        depths,
        workers,
        connections,
        is_direct: own.is_direct,
        durable: own.durable,
        place: own.place,
        rate_iops: own.rate_iops,
        size_bytes: own.size_bytes,
        loads,
        ramp_ns: own.ramp_ns,
        time_ns: own.time_ns,
        end,
        published,
        targets,
    }
}

fn load(
    mut keys: Keys<'_>,
    access: Access,
    part: &Defaults,
    findings: &mut Findings<'_>,
) -> PartLoad {
    let name = required(&mut keys, "name", findings);
    let kind = self::access(&mut keys, findings).unwrap_or(access);
    let own = part.read(&mut keys, findings);
    keys.finish(findings);
    PartLoad {
        name,
        access: kind,
        block_bytes: own.block_bytes[0],
        depth: own.depths[0],
        workers: own.workers[0],
        durable: own.durable,
        place: own.place,
        rate_iops: own.rate_iops,
        size_bytes: own.size_bytes,
    }
}

/// Reads how many bytes at the beginning of its place are worked on.
fn size(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<u64> {
    let (bytes, at) = keys.bytes("size", findings)?;
    Some(within(bytes, 4096..=1 << 60, "size", "4 KiB to 1 EiB", &at, findings))
}

/// Reads `fsync`, `fdatasync` and `sync`, of which there is one.
fn durable(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<Durable> {
    let mut found = Vec::new();
    let durables: [fn(u32) -> Durable; 2] = [Durable::Fsync, Durable::Fdatasync];
    for (name, durable) in ["fsync", "fdatasync"].into_iter().zip(durables) {
        if let Some((n, at)) = keys.count(name, findings) {
            let expected = "0 (never) to 1000000 writes";
            let n = within(n, 0..=1_000_000, name, expected, &at, findings) as u32;
            found.push((if n == 0 { Durable::Whenever } else { durable(n) }, at));
        }
    }
    if let Some((mode, at)) = keys.text("sync", findings) {
        let durable = match mode {
            "none" => Durable::Whenever,
            "sync" => Durable::EachWhole,
            "dsync" => Durable::Each,
            other => {
                let text = format!("`sync` is `{other}`, expected `none`, `sync` or `dsync`");
                findings.error("bad-value", &at, text);
                Durable::Whenever
            }
        };
        found.push((durable, at));
    }
    if let [_, (_, at), ..] = found.as_slice() {
        let text = "one of `fsync`, `fdatasync` and `sync` says when writes are made durable";
        findings.error("exclusive-keys", at, text);
    }
    found.first().map(|(durable, _)| *durable)
}

fn target(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Target {
    let mut conditions = Vec::new();
    match keys.text("limit", findings) {
        Some((text, at)) => match Condition::parse_all(text) {
            Ok(all) => conditions = all,
            Err(mistake) => findings.error("bad-value", &at, format!("`limit`: {mistake}")),
        },
        None => findings.error("missing-key", &keys.at.clone(), "`limit` is missing"),
    }
    let target = Target { conditions, source: required(&mut keys, "source", findings) };
    keys.finish(findings);
    target
}

fn end(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> End {
    let window = keys.duration("steady_window", findings);
    let excursion = keys.number("steady_pct", findings);
    let Some((until, at)) = keys.text("until", findings) else { return End::Time };
    match until {
        "time" => End::Time,
        "pass" => End::Pass,
        "steady" => End::Steady {
            window_ns: window.map_or(60_000_000_000, |(time, _)| units::nanoseconds(time).max(1)),
            excursion_pct: excursion.map_or(10.0, |(pct, _)| pct.max(0.001)),
        },
        other => {
            let text = format!("`until` is `{other}`, expected `time`, `pass` or `steady`");
            findings.error("bad-value", &at, text);
            End::Time
        }
    }
}

fn access(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<Access> {
    let (name, at) = keys.text("rw", findings)?;
    let known = Access::ALL.iter().find(|(known, _)| *known == name).map(|(_, access)| *access);
    if known.is_none() {
        let names: Vec<&str> = Access::ALL.iter().map(|(name, _)| *name).collect();
        let text = format!("`rw` is `{name}`, expected one of {}", names.join(", "));
        findings.error("bad-value", &at, text);
    }
    known
}

fn cache(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<bool> {
    let (mode, at) = keys.text("cache", findings)?;
    match mode {
        "direct" => Some(true),
        "buffered" => Some(false),
        other => {
            let text = format!("`cache` is `{other}`, expected `direct` or `buffered`");
            findings.error("bad-value", &at, text);
            None
        }
    }
}

fn blocks(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<Vec<u64>> {
    keys.get("bs")?;
    let mut blocks = Vec::new();
    for (text, at) in keys.texts("bs", findings) {
        match units::parse_bytes(text) {
            Ok(bytes) => {
                let expected = "512 bytes to 1 GiB";
                blocks.push(within(bytes, 512..=1 << 30, "bs", expected, &at, findings));
            }
            Err(error) => findings.error("bad-value", &at, format!("`bs`: {error}")),
        }
    }
    (!blocks.is_empty()).then_some(blocks)
}

fn percents(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<Vec<f64>> {
    let value = keys.get("read_pct")?;
    let at = value.span();
    let list = match value.get_ref() {
        DeValue::Array(_) => keys.numbers("read_pct", findings)?,
        _ => vec![keys.number("read_pct", findings)?.0],
    };
    if list.is_empty() || list.iter().any(|pct| !(0.0..=100.0).contains(pct)) {
        findings.error("out-of-range", &at, "`read_pct` is 0 to 100, one or a list of them");
        return None;
    }
    Some(list)
}

/// Reads one whole number, or a list of them.
fn counts(
    keys: &mut Keys<'_>,
    name: &'static str,
    range: RangeInclusive<u64>,
    findings: &mut Findings<'_>,
) -> Option<Vec<u64>> {
    let value = keys.get(name)?;
    let at = value.span();
    let list: Vec<f64> = match value.get_ref() {
        DeValue::Array(_) => keys.numbers(name, findings)?,
        _ => vec![keys.count(name, findings)?.0 as f64],
    };
    let is_fine = |n: &f64| n.fract() == 0.0 && *n >= 0.0 && range.contains(&(*n as u64));
    if list.is_empty() || !list.iter().all(is_fine) {
        let (least, most) = (range.start(), range.end());
        let text = format!("`{name}` is a whole number from {least} to {most}, or a list of them");
        findings.error("out-of-range", &at, text);
        return None;
    }
    Some(list.into_iter().map(|n| n as u64).collect())
}

fn published(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Published {
    let mut figures = Vec::new();
    for (key, figure) in PublishedFigure::ALL {
        if let Some((value, _)) = keys.number(key, findings) {
            figures.push((figure, value));
        }
    }
    if figures.len() != 1 {
        let text = "a published figure is one of `iops`, `mib_per_s`, `mb_per_s`";
        findings.error("missing-key", &keys.at.clone(), text);
    }
    let (figure, value) = figures.first().copied().unwrap_or((PublishedFigure::Iops, 0.0));
    let published = Published {
        block_bytes: keys.bytes("bs", findings).map(|(bytes, _)| bytes),
        read_pct: keys.number("read_pct", findings).map(|(pct, _)| pct),
        depth: keys.count("iodepth", findings).map(|(n, _)| n.min(u64::from(u32::MAX)) as u32),
        connections: keys
            .count("connections", findings)
            .map(|(n, _)| n.min(u64::from(u32::MAX)) as u32),
        figure,
        value,
        bound: if keys.flag("above", findings) { Bound::Above } else { Bound::About },
        on: text(&mut keys, "on", findings),
        source: required(&mut keys, "source", findings),
    };
    keys.finish(findings);
    published
}

/// Reads the curve.
pub(super) fn curve(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> CurvePart {
    let own = Defaults { time_ns: 5_000_000_000, ramp_ns: 1_000_000_000, ..Defaults::default() };
    let own = own.read(&mut keys, findings);
    let access = access(&mut keys, findings).unwrap_or(Access::RandRead);
    let (limit, at) = match keys.text("limit", findings) {
        Some((limit, at)) => (limit.to_owned(), at),
        None => ("p99 < 10ms".to_owned(), keys.at.clone()),
    };
    let limits = limit.parse::<Limits>().unwrap_or_else(|errors| {
        for error in errors {
            findings.error("bad-value", &at, format!("`limit`: {error}"));
        }
        Limits::default()
    });
    let count = |keys: &mut Keys<'_>, name, range: RangeInclusive<u64>, usual, f: &mut _| {
        counts(keys, name, range, f).map_or(usual, |list| list[0])
    };
    let tolerance_pct = keys.number("tolerance_pct", findings).map_or(1.0, |(pct, _)| pct);
    let curve = CurvePart {
        name: keys.text("name", findings).map_or("load line".to_owned(), |(n, _)| n.to_owned()),
        access,
        block_bytes: own.block_bytes[0],
        read_pct: own.read_pct[0],
        workers: own.workers[0],
        place: own.place,
        limits,
        start_iops: count(&mut keys, "start", 1..=1_000_000_000, 1000, findings),
        in_flight_max: own_in_flight(&mut keys, findings),
        time: Time { measured_ns: own.time_ns, ramp_ns: own.ramp_ns },
        n_points: count(&mut keys, "points", 0..=1000, 10, findings) as u32,
        n_repeats: count(&mut keys, "repeat", 1..=100, 3, findings) as u32,
        tolerance: tolerance_pct.clamp(0.01, 50.0) / 100.0,
        n_probes_max: count(&mut keys, "probes_max", 1..=10_000, 60, findings) as u32,
    };
    keys.finish(findings);
    curve
}

fn own_in_flight(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> u32 {
    let list = counts(keys, "in_flight", 1..=u64::from(IN_FLIGHT_MAX), findings);
    list.map_or(256, |list| list[0] as u32)
}

pub(super) fn required(
    keys: &mut Keys<'_>,
    name: &'static str,
    findings: &mut Findings<'_>,
) -> String {
    let found = keys.text(name, findings).map(|(text, _)| text.trim().to_owned());
    if keys.get(name).is_none() || found.as_ref().is_some_and(String::is_empty) {
        findings.error("missing-key", &keys.at.clone(), format!("`{name}` is missing"));
    }
    found.unwrap_or_default()
}

pub(super) fn text(keys: &mut Keys<'_>, name: &'static str, findings: &mut Findings<'_>) -> String {
    keys.text(name, findings).map_or(String::new(), |(text, _)| text.to_owned())
}

/// Returns a value that lies in its range; else tells, and returns the nearest end.
pub(super) fn within(
    value: u64,
    range: RangeInclusive<u64>,
    name: &str,
    expected: &str,
    at: &Range<usize>,
    findings: &mut Findings<'_>,
) -> u64 {
    if !range.contains(&value) {
        let text = format!("`{name}` is {value}, expected {expected}");
        findings.error("out-of-range", at, text);
    }
    value.clamp(*range.start(), *range.end())
}
