//! What the parts of a design are read with: the catalogue, and where findings go.

use std::ops::Range;

use catalog::{Cloud, Edition, Exactness, Figure};
use plan::Diagnostic;
use plan::keys::{Findings, Keys};

use super::service::Service;
use super::{Burst, Latency, Limit, Volume};

/// Code of the note that no host cache is stated.
pub(super) const CACHE_DEFAULT: &str = "cache-default";

/// Bytes of a published MB where the source does not state how many, unless the design does.
pub const MB_BYTES_DEFAULT: u64 = 1_000_000;

/// Bytes that a published MB has been found to have: 10^6, 1,000 KiB, 2^20.
pub const MB_READINGS: [u64; 3] = [MB_BYTES_DEFAULT, 1_024_000, 1_048_576];

/// Longest latency that makes sense, nanoseconds: 10 s.
const LATENCY_NS_MAX: u64 = 10_000_000_000;

/// Most volumes, clients or pools of one design: operations name them by 16 bits.
pub(super) const PARTS_MAX: usize = 1000;

/// What the parts of a design are read with.
pub(super) struct Parser<'p, 'a> {
    pub(super) edition: &'p Edition,
    /// The machine that the design names.
    pub(super) machine: Option<&'p catalog::Vm>,
    /// Types of disk whose base per machine a volume has; `None` without a machine, which gives
    /// none.
    pub(super) bases_taken: Option<Vec<String>>,
    /// Bytes of a published MB whose size the source does not state.
    mb_bytes: u64,
    /// Whether it was reported that a host cache is not stated.
    pub(super) has_noted_cache: bool,
    /// Limits get their origin for people.
    has_origins: bool,
    pub(super) findings: &'p mut Findings<'a>,
}

impl<'p, 'a> Parser<'p, 'a> {
    /// Makes one for a design that is being read.
    pub(super) fn new(edition: &'p Edition, mb_bytes: u64, findings: &'p mut Findings<'a>) -> Self {
        Parser {
            edition,
            machine: None,
            bases_taken: None,
            mb_bytes,
            has_noted_cache: false,
            has_origins: true,
            findings,
        }
    }

    /// Makes one that looks figures up for a design that was read before.
    pub(super) fn again(
        edition: &'p Edition,
        mb_bytes: u64,
        findings: &'p mut Findings<'a>,
    ) -> Self {
        Parser { has_noted_cache: true, ..Parser::new(edition, mb_bytes, findings) }
    }

    /// Makes one whose limits have no origin: writing these takes far longer than the figures.
    pub(super) fn figures_alone(
        edition: &'p Edition,
        mb_bytes: u64,
        findings: &'p mut Findings<'a>,
    ) -> Self {
        Parser { has_origins: false, ..Parser::again(edition, mb_bytes, findings) }
    }

    /// Gives a volume what the machine has once for all disks of a type, if it has some, and no
    /// volume before has it.
    ///
    /// Which of several volumes uses how much of it changes with their loads. The first has all of
    /// it, so that no design is promised more than its machine has at any time.
    pub(super) fn take_base(&mut self, sku: &catalog::Disk) -> Option<()> {
        let taken = self.bases_taken.as_mut()?;
        let is_free = sku.has_machine_base() && !taken.contains(&sku.name);
        is_free.then(|| taken.push(sku.name.clone()))
    }

    /// Returns the bytes of a published MB whose size the source does not state.
    pub(super) fn mb_bytes(&self) -> u64 {
        self.mb_bytes
    }

    /// Returns what a figure is in operations or bytes per second.
    pub(super) fn per_s(&self, figure: &Figure) -> u64 {
        per_s(figure, self.mb_bytes)
    }

    /// Makes a limit of a figure, with its origin for people.
    pub(super) fn limit(&self, whose: &str, figure: &Figure, burst: Option<Burst>) -> Limit {
        Limit { per_s: self.per_s(figure), burst, origin: self.origin(whose, figure) }
    }

    /// Returns a figure's origin for people.
    pub(super) fn origin(&self, whose: &str, figure: &Figure) -> String {
        self.origin_of(|| {
            let remark = match figure.exactness {
                Exactness::Exact | Exactness::About | Exactness::AtLeast => String::new(),
                Exactness::UnitUnclear => {
                    format!(", with MB taken as {} bytes", units::format_count(self.mb_bytes))
                }
                Exactness::RoundedDown => ", rounded down".to_owned(),
                Exactness::Derived => ", derived".to_owned(),
            };
            format!("{whose}: {figure}{remark} ({}, {})", figure.source.title, figure.date())
        })
    }

    /// Writes an origin, where limits get one.
    pub(super) fn origin_of(&self, write: impl FnOnce() -> String) -> String {
        if self.has_origins { write() } else { String::new() }
    }

    /// Reads `latency = "1ms"` or `latency = { mean = "1ms", spread = 0.3 }`.
    pub(super) fn latency(
        &mut self,
        keys: &mut Keys<'_>,
        name: &'static str,
        default: Latency,
    ) -> Latency {
        let is_table = keys.get(name).is_some_and(|value| value.get_ref().is_table());
        let (mean, spread) = if is_table {
            let Some(mut inner) = keys.table(name, self.findings) else { return default };
            let mean = inner.duration("mean", self.findings);
            if mean.is_none() && inner.get("mean").is_none() {
                self.findings.error("missing-key", &inner.at, format!("`{name}` needs `mean`"));
            }
            let spread = inner.number("spread", self.findings);
            inner.finish(self.findings);
            (mean, spread)
        } else {
            (keys.duration(name, self.findings), None)
        };
        let Some((mean, at)) = mean else { return default };
        let mean_ns = units::nanoseconds(mean);
        if mean_ns > LATENCY_NS_MAX {
            self.findings.error("out-of-range", &at, format!("`{name}` is longer than 10 s"));
        }
        let spread = match spread {
            Some((spread, at)) if !(0.0..=10.0).contains(&spread) => {
                self.findings.error("out-of-range", &at, "`spread` is from 0 to 10");
                0.0
            }
            Some((spread, _)) => spread,
            None => 0.0,
        };
        Latency { mean_ns, spread }
    }

    /// Reports of a name that the catalogue does not have, with those that look like it.
    pub(super) fn unknown<'n>(
        &mut self,
        what: &str,
        name: &str,
        at: &Range<usize>,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let edition = self.edition.info.name;
        let text = format!("unknown {what} `{name}` in edition {edition}");
        let near: Vec<String> = catalog::nearest(name, known)
            .iter()
            .map(|near| format!("`{}`", near.strip_prefix("Standard_").unwrap_or(near)))
            .collect();
        let help = match near.as_slice() {
            _ if what == "machine size" && self.edition.lacks_machines_like(name).is_some() => {
                let lack = self.edition.lacks_machines_like(name).unwrap_or_default();
                format!(
                    "{lack}: instead of `size` give the figures that are published for it, such as \
                     `uncached = {{ iops = 15000, throughput = \"240MB/s\" }}`"
                )
            }
            [] => {
                let kind = if what == "disk" { "disks" } else { "vms" };
                format!("`plimsoll catalog list {kind}` shows what there is")
            }
            _ => format!("did you mean {}?", near.join(" or ")),
        };
        self.findings.add(Diagnostic::error("unknown-sku", text).help(help), at);
    }
}

/// A volume, and what is checked across volumes.
pub(super) struct ParsedVolume {
    pub(super) volume: Volume,
    /// Where its mount stands.
    pub(super) mount_at: Range<usize>,
    /// What it takes of a machine.
    pub(super) disks: Option<DiskUse>,
    /// The file service that it is of.
    pub(super) service: Option<Service>,
    /// What it takes of its pool: position, quota in bytes, throughput assigned by hand.
    pub(super) pool: Option<(u16, u64, Option<u64>)>,
    /// Where the volume's table stands.
    pub(super) at: Range<usize>,
}

/// The disks of one volume, as the machine sees them.
pub(super) struct DiskUse {
    /// In the machine itself.
    pub(super) is_local: bool,
    pub(super) n_disks: u32,
    /// Of the disks that the machine's size has.
    pub(super) n_local: u32,
    pub(super) name: String,
    pub(super) cloud: Option<Cloud>,
    pub(super) family: String,
    /// I/Os per second of each, where they are limited.
    pub(super) iops: Option<u64>,
    /// Where a host cache is asked for that the disk can have.
    pub(super) cache_at: Option<Range<usize>>,
    pub(super) at: Range<usize>,
}

/// Returns what a figure is in operations or bytes per second, with so many bytes to an MB whose
/// size the source does not state. At least 1.
pub(crate) fn per_s(figure: &Figure, mb_bytes: u64) -> u64 {
    let per_s = match figure.exactness {
        Exactness::UnitUnclear => (figure.value * mb_bytes as f64).round() as u64,
        Exactness::Exact
        | Exactness::RoundedDown
        | Exactness::About
        | Exactness::AtLeast
        | Exactness::Derived => figure.per_s,
    };
    per_s.max(1)
}
