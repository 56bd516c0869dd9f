//! One cap: a rate, its credits, what an operation costs, and what it has carried.

use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::design::Limit;

/// One cap of a design: position in the list that `System::caps` returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct CapId(pub u16);

impl CapId {
    /// No cap: only the volume's own latency.
    pub const NONE: CapId = CapId(u16::MAX);
}

/// What a cap limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapKind {
    /// Operations of one disk, in its units.
    DiskIops,
    /// Bytes of one disk.
    DiskBytes,
    /// Operations of all cached disks of the machine.
    VmCachedIops,
    /// Bytes of all cached disks of the machine.
    VmCachedBytes,
    /// Operations that reach the machine's disks.
    VmUncachedIops,
    /// Bytes that reach the machine's disks.
    VmUncachedBytes,
    /// Throughput that a network volume's level and quota, or its owner, assign to it.
    VolumeQuota,
    /// Small random operations that one network volume carries, as measured.
    VolumeIops,
    /// Bytes that one network volume carries, as measured.
    VolumeCeiling,
    /// Throughput that the volumes of a capacity pool share.
    Pool,
    /// Operations that the volumes of a file system share.
    PoolIops,
    /// What a client's network card sends.
    VmEgress,
    /// Calls that a client has in flight.
    NfsSlots,
}

/// What a cap counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapCount {
    /// Operations, in the units of what they go to.
    Units,
    /// Operations, of which some take more of the cap than others.
    Weighed,
    /// Bytes.
    Bytes,
    /// Calls at once: they are not used up but taken for a time.
    Slots,
}

/// On the way to what an operation meets a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapStation {
    /// The machine's host cache.
    Cache,
    /// Disks.
    Disks,
    /// Network volumes.
    Network,
}

/// What a kind of caps is to the rest of the program. A new kind says it here, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapTraits {
    /// The name in records and reports, such as `disk_iops`.
    pub name: &'static str,
    /// What it counts.
    pub counts: CapCount,
    /// Where it is met.
    pub station: CapStation,
    /// It is one of a disk, of which a volume may have many.
    pub is_of_disk: bool,
}

impl CapKind {
    /// Returns what the kind is to the rest of the program.
    pub const fn traits(self) -> CapTraits {
        use CapCount::{Bytes, Slots, Units, Weighed};
        use CapStation::{Cache, Disks, Network};
        let (name, counts, station, is_of_disk) = match self {
            CapKind::DiskIops => ("disk_iops", Units, Disks, true),
            CapKind::DiskBytes => ("disk_bytes", Bytes, Disks, true),
            CapKind::VmCachedIops => ("vm_cached_iops", Units, Cache, false),
            CapKind::VmCachedBytes => ("vm_cached_bytes", Bytes, Cache, false),
            CapKind::VmUncachedIops => ("vm_uncached_iops", Units, Disks, false),
            CapKind::VmUncachedBytes => ("vm_uncached_bytes", Bytes, Disks, false),
            CapKind::VolumeQuota => ("volume_quota", Bytes, Network, false),
            CapKind::VolumeIops => ("volume_iops", Weighed, Network, false),
            CapKind::VolumeCeiling => ("volume_ceiling", Bytes, Network, false),
            CapKind::Pool => ("pool", Bytes, Network, false),
            CapKind::PoolIops => ("pool_iops", Units, Network, false),
            CapKind::VmEgress => ("vm_egress", Bytes, Network, false),
            CapKind::NfsSlots => ("nfs_slots", Slots, Network, false),
        };
        CapTraits { name, counts, station, is_of_disk }
    }

    /// Returns the name in records and reports, such as `disk_iops`.
    pub fn name(self) -> &'static str {
        self.traits().name
    }

    /// Returns whether it counts operations or calls; the others count bytes.
    pub fn counts_operations(self) -> bool {
        match self.traits().counts {
            CapCount::Units | CapCount::Weighed | CapCount::Slots => true,
            CapCount::Bytes => false,
        }
    }
}

/// One cap of a system, as it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapInfo {
    /// Short and unique: `disk /data[0] P30 iops`.
    pub name: String,
    /// What it limits.
    pub kind: CapKind,
    /// Position of the volume that it belongs to; `None` where several share it.
    pub volume: Option<u16>,
    /// Position in the design of the client that it belongs to; `None` where it is of no client.
    #[serde(skip)]
    pub client: Option<u16>,
    /// What it counts, where that is reads or writes alone.
    pub direction: Option<CapDirection>,
    /// Operations or bytes per second, sustained; for slots, calls at once.
    pub per_s: u64,
    /// The same while it bursts; `None` without bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_per_s: Option<u64>,
    /// Where the figure comes from.
    pub origin: String,
}

/// What a cap counts that is of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapDirection {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

/// A bucket of burst credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Credits {
    /// Operations or bytes above the sustained rate that are left.
    pub left: u64,
    /// The same, when full.
    pub full: u64,
}

/// What one cap has carried since the start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CapUsage {
    /// Operations (in units) or bytes; for slots, calls.
    pub used: u64,
    /// What was used, over what the sustained rate would have carried. Above 1 under a burst.
    pub capacity_share: f64,
    /// Share of the time in which it held at least one operation back, 0 to 1.
    pub held_share: f64,
    /// Its credits, if it has a bucket of them.
    pub credits: Option<Credits>,
}

/// What one operation takes of a cap: so much per operation, per unit and per byte. The pairs are
/// reads and writes. What takes nothing is not held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measure {
    pub(crate) op: [u64; 2],
    pub(crate) unit: [u64; 2],
    pub(crate) byte: [u64; 2],
}

impl Measure {
    pub(crate) const OPS: Measure = Measure { op: [1; 2], unit: [0; 2], byte: [0; 2] };
    pub(crate) const UNITS: Measure = Measure { op: [0; 2], unit: [1; 2], byte: [0; 2] };
    pub(crate) const BYTES: Measure = Measure { op: [0; 2], unit: [0; 2], byte: [1; 2] };

    /// Every unit with all its bytes.
    pub(crate) fn whole_units(unit_bytes: u64) -> Measure {
        Measure { op: [0; 2], unit: [unit_bytes; 2], byte: [0; 2] }
    }

    /// The same for one direction only: 0 reads, 1 writes.
    pub(crate) fn only(mut self, direction: usize) -> Measure {
        self.op[1 - direction] = 0;
        self.unit[1 - direction] = 0;
        self.byte[1 - direction] = 0;
        self
    }

    /// The same where reads and writes take parts of unlike size.
    pub(crate) fn weighed(self, parts: [u64; 2]) -> Measure {
        let times = |pair: [u64; 2]| [pair[0] * parts[0], pair[1] * parts[1]];
        Measure { op: times(self.op), unit: times(self.unit), byte: times(self.byte) }
    }

    /// Returns the direction that alone counts, if one does. What a call takes besides bytes is not
    /// what bytes are counted for.
    pub(crate) fn direction(&self) -> Option<CapDirection> {
        let counts = if self.byte == [0; 2] {
            [self.op[0] + self.unit[0], self.op[1] + self.unit[1]]
        } else {
            self.byte
        };
        match counts.map(|count| count > 0) {
            [true, false] => Some(CapDirection::Reads),
            [false, true] => Some(CapDirection::Writes),
            [false, false] | [true, true] => None,
        }
    }
}

/// What one operation asks of the caps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    pub(crate) bytes: u32,
    pub(crate) units: u32,
    /// Writes rather than reads.
    pub(crate) writes: bool,
}

/// A cap at work.
#[derive(Clone, Debug)]
pub(crate) struct Cap {
    /// Its position in the design.
    pub(crate) id: CapId,
    /// How fast operations may follow each other: the sustained rate, or that of the burst.
    pace: Bucket,
    /// The sustained rate with its credits, where there are any.
    credits: Option<Bucket>,
    /// When the next operation may leave; it changes only as one does.
    ready_ns: u64,
    measure: Measure,
    /// Tokens per second, sustained.
    per_s: u64,
    n_ops: u64,
    n_tokens: u64,
    /// Since when `per_s` holds, and what earlier rates would have carried until then.
    since_ns: u64,
    capacity_before: f64,
    held_ns: u64,
    held_until_ns: u64,
}

impl Cap {
    pub(crate) fn new(limit: &Limit, measure: Measure, window_ns: u64, now_ns: u64) -> Cap {
        let pace_per_s = limit.burst.map_or(limit.per_s, |burst| burst.per_s.max(limit.per_s));
        let credits = limit.burst.and_then(|burst| burst.bucket);
        Cap {
            id: CapId::NONE,
            pace: Bucket::paced(pace_per_s, window_ns, now_ns),
            credits: credits.map(|tokens| Bucket::of_credits(limit.per_s, tokens, now_ns)),
            ready_ns: now_ns,
            measure,
            per_s: limit.per_s,
            n_ops: 0,
            n_tokens: 0,
            since_ns: now_ns,
            capacity_before: 0.0,
            held_ns: 0,
            held_until_ns: now_ns,
        }
    }

    /// Returns what an operation takes.
    #[inline]
    pub(crate) fn cost(&self, demand: Demand) -> u64 {
        let (measure, direction) = (&self.measure, usize::from(demand.writes));
        measure.op[direction]
            + measure.unit[direction] * u64::from(demand.units)
            + measure.byte[direction] * u64::from(demand.bytes)
    }

    /// Returns how long the cap takes for an operation, sustained.
    pub(crate) fn time_ns(&self, demand: Demand) -> u64 {
        let cost = u128::from(self.cost(demand)) * 1_000_000_000;
        u64::try_from(cost / u128::from(self.per_s.max(1))).unwrap_or(u64::MAX)
    }

    /// Returns when the next operation may leave.
    #[inline]
    pub(crate) fn ready_ns(&self) -> u64 {
        self.ready_ns
    }

    /// Lets an operation of this cost leave.
    #[inline]
    pub(crate) fn take(&mut self, cost: u64, now_ns: u64) {
        self.n_ops += 1;
        self.n_tokens += cost;
        self.ready_ns = self.pace.take(cost, now_ns);
        if self.credits.is_some() {
            self.take_credits(cost, now_ns);
        }
    }

    #[inline(never)]
    fn take_credits(&mut self, cost: u64, now_ns: u64) {
        if let Some(credits) = &mut self.credits {
            self.ready_ns = self.ready_ns.max(credits.take(cost, now_ns));
        }
    }

    /// Notes when the next operation may leave.
    fn look_ahead(&mut self) {
        self.ready_ns = self.pace.ready_ns();
        if let Some(credits) = &self.credits {
            self.ready_ns = self.ready_ns.max(credits.ready_ns());
        }
    }

    /// Counts a period in which it held something back; overlapping periods count once.
    #[inline]
    pub(crate) fn held(&mut self, from_ns: u64, until_ns: u64) {
        let from_ns = from_ns.max(self.held_until_ns);
        if until_ns > from_ns {
            self.held_ns += until_ns - from_ns;
            self.held_until_ns = until_ns;
        }
    }

    /// Counts an operation that a bucket does not hold.
    pub(crate) fn count(&mut self) {
        self.n_ops += 1;
        self.n_tokens += 1;
    }

    /// Counts time from `now_ns` on. Nothing has gone before.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        assert!(self.n_ops == 0, "time begins after {} operations", self.n_ops);
        self.pace.begin(now_ns);
        if let Some(credits) = &mut self.credits {
            credits.begin(now_ns);
        }
        self.look_ahead();
        self.since_ns = now_ns;
        self.held_until_ns = now_ns;
    }

    /// Takes another limit from now on. Credits stay as they are, as far as they fit; a bucket that
    /// was not there before begins full.
    pub(crate) fn become_like(&mut self, other: Cap, now_ns: u64) {
        self.pace.become_like(&other.pace, now_ns);
        self.credits = match (self.credits.take(), other.credits) {
            (Some(mut old), Some(new)) => {
                old.become_like(&new, now_ns);
                Some(old)
            }
            (_, new) => new,
        };
        self.look_ahead();
        self.measure = other.measure;
        self.capacity_before = self.capacity(now_ns);
        self.since_ns = now_ns;
        self.per_s = other.per_s;
    }

    /// Returns the tokens that the sustained rate would have carried since the start.
    pub(crate) fn capacity(&self, now_ns: u64) -> f64 {
        let since_ns = self.since_ns;
        assert!(now_ns >= since_ns, "a cap of {since_ns} ns is asked what it gave by {now_ns} ns");
        let seconds = (now_ns - since_ns) as f64 / 1e9;
        self.capacity_before + self.per_s as f64 * seconds
    }

    pub(crate) fn credits(&self, now_ns: u64) -> Option<Credits> {
        let bucket = self.credits.as_ref()?;
        Some(Credits { left: bucket.tokens(now_ns), full: bucket.tokens_full() })
    }

    pub(crate) fn n_ops(&self) -> u64 {
        self.n_ops
    }

    pub(crate) fn n_tokens(&self) -> u64 {
        self.n_tokens
    }

    pub(crate) fn held_ns(&self) -> u64 {
        self.held_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_begins_once_and_does_not_go_back() {
        let limit = Limit { per_s: 100, burst: None, origin: "test".to_owned() };
        let mut cap = Cap::new(&limit, Measure::OPS, 1_000, 0);
        cap.begin(7_000);
        let idle = cap.clone();
        cap.take(1, 8_000);
        testing::check_wrong_calls(&[
            ("a start after operations", "time begins after 1 operations", &|| {
                cap.clone().begin(9_000);
            }),
            ("a look before the start", "a cap of 7000 ns is asked what it gave by 6999", &|| {
                _ = idle.capacity(6_999);
            }),
        ]);
    }
}
