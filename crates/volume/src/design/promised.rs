//! What a design is to carry: `[[promise]]`.

use std::fmt;
use std::time::Duration;

use plan::Diagnostic;
use plan::keys::{Keys, Located, quoted};

use super::check;
use super::parser::{ParsedVolume, Parser};
use crate::load::{Flow, Load};

/// A load that a volume of a design is to carry. Those of one phase hold at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Promised {
    /// Mount of the volume.
    pub volume: String,
    /// Time of day or state of the application that it is of; empty where there is but one.
    pub phase: String,
    /// I/Os per second, above 0.
    pub iops: f64,
    /// Mean bytes of an I/O, above 0.
    pub io_size_bytes: f64,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
    /// Share of I/Os at random places, 0 to 1.
    pub random_share: f64,
    /// Share of reads that the host cache answers, 0 to 1.
    pub hit_share: f64,
    /// Mean response time that is kept, nanoseconds.
    pub latency_ns: Option<u64>,
    /// For how long at a time it is kept, from full burst credits, nanoseconds; `None` for ever.
    pub lasts_ns: Option<u64>,
}

/// Most promises of one design: a few phases of as many volumes as a machine takes.
pub(super) const PROMISES_MAX: usize = 1000;

/// By how much IOPS times size and throughput may differ: what rounding to a tenth makes of small
/// figures.
const DIFFERENCE_MAX: f64 = 0.02;

/// Bytes of an MB, which `throughput_mb_s` counts in.
const MB: f64 = 1e6;

/// Bytes of a KiB, which `io_size_kib` counts in.
const KIB: f64 = 1024.0;

const NS_PER_MS: f64 = 1e6;

/// Largest I/O, KiB: 1 GiB.
const SIZE_KIB_MAX: f64 = 1_048_576.0;

/// Longest latency that makes sense, milliseconds.
const LATENCY_MS_MAX: f64 = 100_000.0;

impl Promised {
    /// Returns how many bytes per second it is.
    pub fn bytes_per_s(&self) -> f64 {
        self.iops * self.io_size_bytes
    }

    /// Returns it as a flow on the volume at a position of the design, for [`crate::limits`]. What
    /// is at random places for its larger part counts as such. What is promised for a time only may
    /// use burst credits.
    pub fn flow(&self, volume: u16) -> Flow {
        let load = Load {
            is_sequential: self.random_share < 0.5,
            hit_ratio: self.hit_share,
            with_credits: self.lasts_ns.is_some(),
            ..Load::new(self.io_size_bytes.round() as u64, self.read_share)
        };
        Flow { volume, load, demand: Some(self.iops) }
    }
}

impl fmt::Display for Promised {
    /// Prints it as a table of a design file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[[promise]]")?;
        writeln!(f, "volume = {}", quoted(&self.volume))?;
        if !self.phase.is_empty() {
            writeln!(f, "phase = {}", quoted(&self.phase))?;
        }
        writeln!(f, "iops = {}", number(self.iops))?;
        writeln!(f, "io_size_kib = {}", number(self.io_size_bytes / KIB))?;
        writeln!(f, "read_percent = {}", number(self.read_share * 100.0))?;
        writeln!(f, "random_percent = {}", number(self.random_share * 100.0))?;
        if self.hit_share > 0.0 {
            writeln!(f, "hit_percent = {}", number(self.hit_share * 100.0))?;
        }
        writeln!(f, "throughput_mb_s = {}", number(self.bytes_per_s() / MB))?;
        if let Some(ns) = self.latency_ns {
            writeln!(f, "latency_ms = {}", number(ns as f64 / NS_PER_MS))?;
        }
        if let Some(ns) = self.lasts_ns {
            writeln!(f, "lasts = \"{}\"", units::format_duration(Duration::from_nanos(ns)))?;
        }
        Ok(())
    }
}

/// Prints a number so that it reads back to a millionth of itself.
fn number(value: f64) -> String {
    let digits = (6 - value.abs().max(1e-6).log10().ceil() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Shortest time for which something is promised: what a run can tell.
const LASTS_MIN: Duration = Duration::from_secs(1);

/// Longest such time: longer runs are not done.
const LASTS_MAX: Duration = Duration::from_hours(30 * 24);

/// Reads all of `[[promise]]`.
pub(super) fn promises(
    list: Vec<Keys<'_>>,
    volumes: &[ParsedVolume],
    parser: &mut Parser<'_, '_>,
) -> Vec<Promised> {
    list.into_iter().filter_map(|keys| promise(keys, volumes, parser)).collect()
}

fn promise(
    mut keys: Keys<'_>,
    volumes: &[ParsedVolume],
    parser: &mut Parser<'_, '_>,
) -> Option<Promised> {
    let at = keys.at.clone();
    let volume = volume(&mut keys, volumes, parser);
    let phase = keys.text("phase", parser.findings).map_or("", |(phase, _)| phase).to_owned();
    let iops = within(&mut keys, "iops", (0.0, 1e9), parser);
    let mb_s = within(&mut keys, "throughput_mb_s", (0.0, 1e9), parser);
    let size_kib = within(&mut keys, "io_size_kib", (0.0, SIZE_KIB_MAX), parser);
    let latency_ms = within(&mut keys, "latency_ms", (0.0, LATENCY_MS_MAX), parser);
    let read = percent(&mut keys, "read_percent", parser);
    let random = percent(&mut keys, "random_percent", parser);
    let hit = percent(&mut keys, "hit_percent", parser);
    let lasts_ns = lasts_ns(&mut keys, parser);
    for (key, what) in [
        ("io_size_kib", "bytes of an I/O in KiB, such as 8"),
        ("read_percent", "share of reads, 0 to 100"),
    ] {
        if keys.get(key).is_none() {
            let text = format!("a promise needs `{key}`: the {what}");
            parser.findings.error("missing-key", &at, text);
        }
    }
    if keys.get("iops").is_none() && keys.get("throughput_mb_s").is_none() {
        let text = "a promise needs `iops` or `throughput_mb_s`: how much is carried";
        parser.findings.error("missing-key", &at, text);
    }
    keys.finish(parser.findings);
    let io_size_bytes = size_kib?.0 * KIB;
    let of_throughput = mb_s.as_ref().map(|(mb_s, _)| mb_s * MB / io_size_bytes);
    if let (Some((iops, _)), Some(other), Some((mb_s, at))) = (&iops, of_throughput, &mb_s)
        && (iops / other - 1.0).abs() > DIFFERENCE_MAX
    {
        let product = number(iops * io_size_bytes / MB);
        let text = format!(
            "`throughput_mb_s` is {mb_s}, and {iops} IOPS of {} KiB are {product} MB/s",
            io_size_bytes / KIB
        );
        let finding = Diagnostic::error("contradiction", text);
        parser.findings.add(finding.help("write one of the two, or correct the size"), at);
    }
    Some(Promised {
        volume: volume?,
        phase,
        iops: iops.map(|(iops, _)| iops).or(of_throughput)?,
        io_size_bytes,
        read_share: read?,
        random_share: random.unwrap_or(1.0),
        hit_share: hit.unwrap_or(0.0),
        latency_ns: latency_ms.map(|(ms, _)| (ms * NS_PER_MS).round() as u64),
        lasts_ns,
    })
}

/// Reads for how long at a time it is kept.
fn lasts_ns(keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> Option<u64> {
    let (lasts, at) = keys.duration("lasts", parser.findings)?;
    if (LASTS_MIN..=LASTS_MAX).contains(&lasts) {
        return u64::try_from(lasts.as_nanos()).ok();
    }
    let bounds = [LASTS_MIN, LASTS_MAX].map(units::format_duration);
    let text = format!(
        "`lasts` is {}, expected {} to {}",
        units::format_duration(lasts),
        bounds[0],
        bounds[1]
    );
    parser.findings.error("out-of-range", &at, text);
    None
}

/// Reads which volume it is of.
fn volume(
    keys: &mut Keys<'_>,
    volumes: &[ParsedVolume],
    parser: &mut Parser<'_, '_>,
) -> Option<String> {
    let Some((text, at)) = keys.text("volume", parser.findings) else {
        if keys.get("volume").is_none() {
            let text = "a promise needs `volume`: the mount of the volume that keeps it";
            parser.findings.error("missing-key", &keys.at, text);
        }
        return None;
    };
    let (mount, _) = check::mount((text, at.clone()), parser)?;
    let known = || volumes.iter().map(|parsed| parsed.volume.mount.as_str());
    if known().any(|known| known == mount) {
        return Some(mount);
    }
    let mut finding = Diagnostic::error("unknown-volume", format!("no volume is at `{mount}`"));
    let all: Vec<String> = known().map(|known| format!("`{known}`")).collect();
    if !all.is_empty() {
        finding = finding.help(format!("the design has {}", all.join(", ")));
    }
    parser.findings.add(finding, &at);
    None
}

/// Reads a number above the first bound and up to the second.
fn within(
    keys: &mut Keys<'_>,
    name: &'static str,
    (above, most): (f64, f64),
    parser: &mut Parser<'_, '_>,
) -> Option<Located<f64>> {
    let (value, at) = keys.number(name, parser.findings)?;
    if value > above && value <= most {
        return Some((value, at));
    }
    let text = format!("`{name}` is {value}, expected more than {above} and up to {most}");
    parser.findings.error("out-of-range", &at, text);
    None
}

/// Reads a share in percent.
fn percent(keys: &mut Keys<'_>, name: &'static str, parser: &mut Parser<'_, '_>) -> Option<f64> {
    let (value, at) = keys.number(name, parser.findings)?;
    if (0.0..=100.0).contains(&value) {
        return Some(value / 100.0);
    }
    parser.findings.error("out-of-range", &at, format!("`{name}` is {value}, expected 0 to 100"));
    None
}
