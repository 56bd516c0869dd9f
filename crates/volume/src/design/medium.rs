//! What media take without load, where a design does not say.

use super::Latency;

/// A medium's latency and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediumLatency {
    /// Family of disks as the catalogue names it, or `network`, `host cache` or `local disk`.
    pub medium: &'static str,
    /// Taken where a design gives none; always constant.
    pub latency: Latency,
    /// Who says so, and whether it was derived.
    pub origin: &'static str,
}

const fn medium(medium: &'static str, mean_us: u64, origin: &'static str) -> MediumLatency {
    let latency = Latency { mean_ns: mean_us * 1000, spread: 0.0 };
    MediumLatency { medium, latency, origin }
}

/// Latency by medium. Only two are published as one number; the others are derived, that is, chosen
/// within what is published, and a design that depends on them should state its own.
pub const MEDIA: [MediumLatency; 11] = [
    medium("Premium SSD", 1_000, "the 1 ms that the 2018 design guide reckons with"),
    medium("Premium SSD v2", 1_000, "derived: published as single-digit milliseconds or better"),
    medium("Ultra Disk", 1_000, "derived: published as single-digit milliseconds or better"),
    medium("Standard SSD", 5_000, "derived: published as single-digit milliseconds"),
    medium("Standard HDD", 10_000, "derived: published as below 10 ms writing, 20 ms reading"),
    medium("EBS SSD", 1_000, "derived: published as single-digit milliseconds"),
    medium("EBS HDD", 10_000, "derived: no figure published; as other disks of this kind"),
    medium("network", 1_000, "the 1 ms measured at 300,000 reads per second in 2019"),
    medium("host cache", 100, "derived: no figure published; a local solid-state disk"),
    medium("local disk", 100, "derived: no figure published for most; as the host cache"),
    medium("disk", 2_000, "derived: 2 ms follows from a published table of depth and IOPS"),
];

/// Returns a medium's latency; what is not in [`MEDIA`] counts as `disk`.
pub fn medium_latency(medium: &str) -> MediumLatency {
    let known = MEDIA.iter().find(|known| known.medium == medium);
    *known.unwrap_or(&MEDIA[MEDIA.len() - 1])
}
