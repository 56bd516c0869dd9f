//! Which caps of emulated volumes held a job.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Share of the I/O time from which on a cap counts as the one that binds. Below, queue depth and
/// latency limit the rate; a percent comes from single I/Os that met a full bucket.
pub const BINDING_SHARE_MIN: f64 = 0.01;

/// Which caps of emulated volumes held the I/Os of a job in its measured time.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CapsRecord {
    /// Sum of the latencies of the job's I/Os on the volumes, nanoseconds.
    pub io_time_ns: u64,
    /// Name of the cap that held them longest; `None` if none did for 1 % of the time. Where that
    /// is slots, filled by calls that wait for a cap behind them which is used up: that cap.
    pub binding: Option<String>,
    /// Names of further caps that are at their limit, as that one is: to lift one of them alone
    /// would bring nothing. A limit of the job's own volume comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub binding_too: Vec<String>,
    /// Names of further caps that bound in a part of the measured time that counts: those of the
    /// whole time had room then, as where a cache warms or credits end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub binding_at_times: Vec<String>,
    /// Name of the most used of the other caps.
    pub next: Option<String>,
    /// Share of the next cap's capacity that was left, 0 to 1, of its burst rate while it bursts:
    /// the distance to it.
    pub next_away_share: Option<f64>,
    /// What came into a write-back cache faster than it went on to the disks; `None` where nothing
    /// did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filling: Option<FillingRecord>,
    /// A write-back cache stands before caps, and has no room for a fifth more than came in while
    /// the job was measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_full_cache: bool,
    /// Every cap that an I/O of the job met: the one that binds, those that bind as well, those
    /// that bound at times, then by the time that they held I/Os, then by use.
    pub caps: Vec<CapRecord>,
}

/// A write-back cache that takes more than goes on to the disks: the rates hold only until half of
/// it is dirty.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct FillingRecord {
    /// By how much more comes in than goes on, bytes per second, of all that use the cache.
    pub bytes_per_s: f64,
    /// For how long after the measured time writes would not have waited for the disks, seconds; at
    /// least, as what is written again while it is dirty takes no more room.
    pub lasts_s: f64,
    /// Name of the cap that holds what goes on.
    pub held_by: String,
    /// All that the job's plan writes to fits into what may be dirty: writes never wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_fills: bool,
    /// Bytes of writes of this size that the simulation can follow while they are dirty, where half
    /// of the cache is more: writes wait from there on, and would not on the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed_bytes: Option<u64>,
}

/// Why rates of small writes fall before half of a large cache is dirty.
const FOLLOWED: &str = "as many small writes as the simulation follows (the machine goes on until \
                        half of its cache is dirty)";

/// Longest time that is printed, seconds: a century.
const LASTS_S_MAX: f64 = 3.2e9;

impl FillingRecord {
    /// Says for how long the rates hold; `None` where all that is written to fits into the cache.
    pub fn words(&self) -> Option<String> {
        if self.never_fills {
            return None;
        }
        let (more, held_by) = (units::format_rate_mib_s(self.bytes_per_s), &self.held_by);
        let followed = self.followed_bytes.map(units::format_bytes);
        if self.lasts_s < 1.0 {
            let full = match followed {
                Some(bytes) => format!("{bytes} are dirty now, {FOLLOWED}"),
                None => "half of it is dirty now".to_owned(),
            };
            return Some(format!(
                "no longer: {more} more came into the host cache than went to the disks, held by \
                 {held_by}, and {full}"
            ));
        }
        let full = match followed {
            Some(bytes) => format!("{bytes} of the host cache are dirty, {FOLLOWED}"),
            None => "half of the host cache is dirty".to_owned(),
        };
        let lasts = Duration::from_secs(self.lasts_s.min(LASTS_S_MAX).round() as u64);
        Some(format!(
            "for another {} at this rate, until {full}: {more} more come in than go to the disks, \
             held by {held_by}",
            units::format_duration(lasts)
        ))
    }
}

/// Share of a cap's capacity from which on it counts as used up. It leaves room for the start and
/// the end of the measured time.
pub const USED_UP_SHARE_MIN: f64 = 0.98;

/// Share of a cap's capacity from which on it is at its limit as well as another one that binds:
/// with that lifted, a hundredth more comes through at most.
const AT_LIMIT_SHARE_MIN: f64 = 0.99;

/// Share of a cap's capacity from which on a job that has its part of another one cannot have more
/// of that, though its I/Os wait there.
const EXHAUSTED_SHARE_MIN: f64 = 0.995;

/// Share of the capacity of a cap that I/Os waited for long from which on it is at its limit. Reads
/// and writes that wait for different caps leave some of each.
const WAITED_FOR_USED_MIN: f64 = 0.9;

/// Share of the I/O time from which on I/Os waited for a cap because it gave all it has, and not
/// because several came at once. Picked: single bursts make a few percent.
const WAITED_FOR_SHARE_MIN: f64 = 0.1;

/// What a cap counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapCountRecord {
    /// Operations.
    Operations,
    /// Bytes.
    Bytes,
    /// Calls at once: they are not used up but taken for a time.
    Slots,
}

/// On the way to what an operation meets a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapStationRecord {
    /// The machine's host cache.
    Cache,
    /// Disks.
    Disks,
    /// Network volumes.
    Network,
}

/// Whose operations or bytes a cap counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapDirectionRecord {
    /// Those of reads and writes.
    Both,
    /// Those of reads.
    Reads,
    /// Those of writes.
    Writes,
}

/// What a kind of caps is to those who read a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapTraitsRecord {
    /// What it counts.
    pub counts: CapCountRecord,
    /// Where it is met.
    pub station: CapStationRecord,
}

impl CapTraitsRecord {
    /// Returns what the name of a kind says, for records that do not say it themselves. They know
    /// no other kinds than those that [`CapRecord::kind`] lists.
    fn of_name(kind: &str) -> CapTraitsRecord {
        let counts = match kind {
            "nfs_slots" => CapCountRecord::Slots,
            kind if kind.ends_with("_iops") => CapCountRecord::Operations,
            _ => CapCountRecord::Bytes,
        };
        let station = match kind {
            kind if kind.starts_with("vm_cached_") => CapStationRecord::Cache,
            kind if kind.starts_with("disk_") || kind.starts_with("vm_uncached_") => {
                CapStationRecord::Disks
            }
            _ => CapStationRecord::Network,
        };
        CapTraitsRecord { counts, station }
    }
}

/// What held a job in a part of its measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct CapPeriod {
    /// How long that was, nanoseconds.
    pub length_ns: u64,
    /// I/Os that ended in it.
    pub n_ios: u64,
    /// What held them.
    pub caps: CapsRecord,
}

/// One cap as a job met it. Equal caps of the disks of one volume count as one.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct CapRecord {
    /// Unique in the design: kind and, unless it is the machine's, place. `disk_iops /mnt/a`.
    pub name: String,
    /// What it limits: `disk_iops`, `disk_bytes`, `vm_cached_iops`, `vm_cached_bytes`,
    /// `vm_uncached_iops`, `vm_uncached_bytes`, `volume_quota`, `volume_iops`, `volume_ceiling`,
    /// `pool`, `pool_iops`, `vm_egress` or `nfs_slots`.
    pub kind: String,
    /// What the kind is to those who read a record. `None` in records that do not say it: see
    /// [`CapRecord::traits`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traits: Option<CapTraitsRecord>,
    /// Whose operations or bytes it counts. `None` in records that do not say it: see
    /// [`CapRecord::direction`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<CapDirectionRecord>,
    /// Mount path of its volume; `None` where several volumes share it.
    pub mount: Option<String>,
    /// Operations or bytes per second, of all disks that were reached together; slots for
    /// `nfs_slots`. Sustained; where reads and writes cost differently (`volume_iops`), of the mix
    /// that it carried.
    pub per_s: u64,
    /// The same while it bursts; 0 without bursts, and in records of earlier versions.
    #[serde(default)]
    pub burst_per_s: u64,
    /// Operations or bytes beyond the sustained rate that full accounts of all disks that were
    /// reached hold together; 0 without credits, and in records of earlier versions.
    #[serde(default)]
    pub credit: u64,
    /// Whether bytes were published, or written in the design, in MB/s of 10^6; they are printed
    /// in MiB/s otherwise.
    #[serde(default)]
    pub is_in_mb: bool,
    /// Disks whose caps count as one here: those of the volume that I/Os reached while the job was
    /// measured. 1 for what is not a disk's; 0 in records of earlier versions.
    #[serde(default)]
    pub n_disks: u32,
    /// Time that I/Os waited for it, nanoseconds. An I/O counts for the cap it waited for longest.
    pub held_ns: u64,
    /// `held_ns` over the I/O time, 0 to 1.
    pub held_share: f64,
    /// Share of its capacity that was used, by all jobs, while this job was measured; 0 to 1, more
    /// while credits last. The mean of its disks.
    pub used_share: f64,
    /// The same of the busiest of its disks, which a job on few of many columns meets first.
    #[serde(default)]
    pub busiest_used_share: f64,
    /// What the job had of it per disk, over the mean of all workers and disks of the step that met
    /// it: 1 where all had as much, and in records of earlier versions.
    #[serde(default = "one")]
    pub part: f64,
    /// Share of the measured time in which it bound, by periods of a thirtieth at least, or of the
    /// I/Os that ended then, where that is more: 0 to 1; 0 in records of earlier versions.
    #[serde(default)]
    pub bound_share: f64,
    /// The same of those periods alone in which the caps that bind over the whole time had room.
    #[serde(default)]
    pub apart_share: f64,
    /// A write-back cache is in front of it: what the cache took goes there after the job's I/Os
    /// are done, and holds none of them as long as there is room for what is dirty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_behind_cache: bool,
}

fn one() -> f64 {
    1.0
}

/// Share of the measured time or of its I/Os from which on a cap that bound in it is named, though
/// others bind over the whole time: a fifth more of it would change the result by some percent.
const AT_TIMES_SHARE_MIN: f64 = 0.1;

/// Share of the time in which a cap binds from which on another one that does as well binds with
/// it.
const WITH_SHARE_MIN: f64 = 0.9;

/// Share of its capacity up to which a cap has room in a part of the measured time.
const ROOM_SHARE_MAX: f64 = 0.9;

/// Part of the mean from which on a job counts among those whose calls wait for a cap. One that has
/// less does not get to it: others fill the slots.
const PART_MIN: f64 = 0.5;

/// Part of the mean from which on a job that finds a common cap used up cannot have more of it: one
/// that has less would get a larger part, at the cost of the others.
const PART_FULL_MIN: f64 = 0.95;

/// How much larger a job's part of one common cap is than of another where the first holds it.
const LARGER_PART_MIN: f64 = 1.1;

impl CapRecord {
    /// Returns whether both are one cap. Names alone do not tell: they end with a mount, whose name
    /// users choose.
    fn is_of(&self, other: &CapRecord) -> bool {
        self.name == other.name && self.mount == other.mount
    }

    /// Returns how full the cap was where it was fullest, 0 to 1, more while credits last.
    pub fn fullest_share(&self) -> f64 {
        self.used_share.max(self.busiest_used_share)
    }

    /// Returns the same of what it gives now: of its burst rate while it bursts.
    fn filled_share(&self) -> f64 {
        let fullest = self.fullest_share();
        self.of_burst(fullest).unwrap_or(fullest)
    }

    /// Returns whether it gives more than it sustains while credits last.
    fn may_burst(&self) -> bool {
        self.burst_per_s > self.per_s
    }

    /// Returns which share of its burst rate a share of what it sustains is; `None` where that is
    /// no burst.
    fn of_burst(&self, share: f64) -> Option<f64> {
        let is_burst = share > 1.0 && self.may_burst();
        is_burst.then(|| share * self.per_s as f64 / self.burst_per_s as f64)
    }

    /// Returns in words how much of it was used, with shares written so: `98 %`; of one that
    /// carried more than it sustains, of what it carries in bursts.
    pub fn used_words(&self, percent: fn(f64) -> String) -> String {
        match self.of_burst(self.used_share) {
            Some(of_burst) => format!("{} of its burst rate", percent(of_burst)),
            None => percent(self.used_share),
        }
    }

    /// Returns whether the job can have no more of it: because I/Os waited for it long, or because
    /// a hundredth of it is left at most. Of the latter kind is none that may
    /// burst, none of which others have more than the job, and none that holds only what a cache
    /// wrote behind the job's back.
    fn is_at_limit(&self) -> bool {
        let is_waited_for = self.held_share >= WAITED_FOR_SHARE_MIN;
        !self.is_slots()
            && (self.is_used_up() || (is_waited_for && self.fullest_share() >= WAITED_FOR_USED_MIN))
    }

    /// Returns whether its credits ended in the measured time: it is what binds. What held the job
    /// before made them last longer, and no more.
    fn ran_dry(&self) -> bool {
        self.may_burst() && self.used_share > 1.0 && self.bound_share > 0.0
    }

    /// Returns whether nothing is left of it that the job could have.
    fn is_used_up(&self) -> bool {
        let is_own = self.mount.is_some() || self.part >= PART_FULL_MIN;
        let may_have_more = self.may_burst() || self.is_behind_cache || !is_own;
        !self.is_slots() && self.fullest_share() >= AT_LIMIT_SHARE_MIN && !may_have_more
    }

    /// Returns what it counts, and where it is met.
    pub fn traits(&self) -> CapTraitsRecord {
        self.traits.unwrap_or_else(|| CapTraitsRecord::of_name(&self.kind))
    }

    /// Returns whose operations or bytes it counts. Records that do not say it have it in the name,
    /// and know no other kind of one direction than `vm_egress`.
    pub fn direction(&self) -> CapDirectionRecord {
        self.direction.unwrap_or_else(|| match &*self.name {
            name if name.ends_with(" reads") => CapDirectionRecord::Reads,
            name if name.ends_with(" writes") || self.kind == "vm_egress" => {
                CapDirectionRecord::Writes
            }
            _ => CapDirectionRecord::Both,
        })
    }

    /// Returns whether it counts calls at once.
    fn is_slots(&self) -> bool {
        self.traits().counts == CapCountRecord::Slots
    }

    /// Returns whether it is one of what goes to the disks of a machine.
    fn is_at_disks(&self) -> bool {
        self.traits().station == CapStationRecord::Disks
    }

    /// Returns whether calls that wait for the cap keep the slots full.
    fn fills_slots(&self) -> bool {
        let is_among = self.part >= PART_MIN;
        !self.is_slots() && is_among && self.fullest_share() >= USED_UP_SHARE_MIN
    }
}

/// Returns the share of the time that some of these periods have, or that of their I/Os where it is
/// more.
fn share_of(periods: &[CapPeriod], counts: impl Fn(&CapsRecord) -> bool) -> f64 {
    let share = |amount: fn(&CapPeriod) -> u64| {
        let all: u64 = periods.iter().map(amount).sum();
        let counted: u64 = periods.iter().filter(|period| counts(&period.caps)).map(amount).sum();
        counted as f64 / all.max(1) as f64
    };
    share(|period| period.length_ns).max(share(|period| period.n_ios))
}

impl CapsRecord {
    /// Returns the mounts of the volumes whose caps the job met, as one text.
    pub(crate) fn mounts(&self) -> String {
        let mut mounts: Vec<&str> =
            self.caps.iter().filter_map(|cap| cap.mount.as_deref()).collect();
        mounts.sort_unstable();
        mounts.dedup();
        mounts.join("\n")
    }

    /// Returns how many disks, or network volumes, the job's I/Os reached.
    pub(crate) fn n_lanes(&self) -> f64 {
        let n_disks = |mount: &str| {
            let of_mount = self.caps.iter().filter(|cap| cap.mount.as_deref() == Some(mount));
            of_mount.map(|cap| cap.n_disks).max().unwrap_or(0).max(1)
        };
        let n_lanes: u32 = self.mounts().split('\n').map(n_disks).sum();
        f64::from(n_lanes)
    }

    /// Returns what went to the disks of the job's volumes per second, in what a cap counts; `None`
    /// for caps that are not of what goes to disks, and where no cap of the disks counts it.
    pub(crate) fn at_disks(&self, cap: &CapRecord) -> Option<f64> {
        if cap.mount.is_some() || !cap.is_at_disks() {
            return None;
        }
        let counts = cap.traits().counts;
        let is_of_volume = |other: &&CapRecord| {
            other.mount.is_some() && other.is_at_disks() && other.traits().counts == counts
        };
        let amounts = self
            .caps
            .iter()
            .filter(is_of_volume)
            .map(|other| other.used_share * other.per_s as f64);
        amounts.reduce(|sum, amount| sum + amount)
    }

    /// Makes the entry of a job from its caps; shares and order follow from them.
    ///
    /// # Panics
    /// If a cap is there twice, its use or the job's part of it is no share, or a cache fills for
    /// no time that can be said, or by no rate.
    pub fn new(io_time_ns: u64, caps: Vec<CapRecord>, filling: Option<FillingRecord>) -> Self {
        for (idx, cap) in caps.iter().enumerate() {
            let CapRecord { name, kind, used_share, busiest_used_share, part, .. } = cap;
            let is_twice = caps[..idx].iter().any(|other| other.is_of(cap));
            assert!(!is_twice, "two caps are called `{name}`");
            assert!(name.starts_with(kind), "`{name}` is a cap of the kind `{kind}`");
            let is_share = |share: f64| share.is_finite() && share >= 0.0;
            assert!(is_share(*used_share), "`{name}` is used to {used_share}");
            let busiest = *busiest_used_share;
            assert!(is_share(busiest), "`{name}` is used to {busiest} where it is busiest");
            assert!(is_share(*part), "the part of `{name}` is {part}");
        }
        if let Some(FillingRecord { lasts_s, bytes_per_s, .. }) = filling {
            assert!(lasts_s.is_finite() && lasts_s >= 0.0, "a cache fills for {lasts_s} s");
            assert!(bytes_per_s >= 0.0, "a cache fills by {bytes_per_s} B/s");
        }
        let mut record = CapsRecord { io_time_ns, filling, caps, ..CapsRecord::default() };
        record.settle();
        record
    }

    /// Returns whether a write-back cache has no room for a fifth more than was written.
    #[must_use]
    pub fn with_full_cache(mut self, has_full_cache: bool) -> Self {
        self.has_full_cache = has_full_cache;
        self.settle();
        self
    }

    /// Adds what held the job in each period of its measured time: caps that bound in some of it
    /// only are named as well.
    #[must_use]
    pub fn with_periods(mut self, periods: &[CapPeriod]) -> Self {
        let bound: Vec<f64> =
            self.caps.iter().map(|cap| share_of(periods, |period| period.names(cap))).collect();
        self.caps.iter_mut().zip(bound).for_each(|(cap, share)| cap.bound_share = share);
        self.settle();
        let named = self.named();
        let have_room = |period: &CapsRecord| {
            let has_room = |cap: &CapRecord| {
                let now = period.caps.iter().find(|other| other.is_of(cap));
                !period.names(cap) && now.is_none_or(|now| period.leaves_room(now))
            };
            !named.is_empty() && named.iter().all(has_room)
        };
        let apart: Vec<f64> = self
            .caps
            .iter()
            .map(|cap| share_of(periods, |period| period.names(cap) && have_room(period)))
            .collect();
        self.caps.iter_mut().zip(apart).for_each(|(cap, share)| cap.apart_share = share);
        self.settle();
        self
    }

    /// Returns whether a cap is named and at its limit.
    fn names(&self, cap: &CapRecord) -> bool {
        self.named().iter().any(|other| other.is_of(cap) && self.is_at_limit(other))
    }

    /// Returns the caps that bind over the whole time: they stand first.
    fn named(&self) -> &[CapRecord] {
        let n_first = usize::from(self.binding_cap().is_some());
        &self.caps[..n_first + self.binding_too().len()]
    }

    /// Returns the cap that binds: the one that held the I/Os longest, if any held them for long.
    pub fn binding_cap(&self) -> Option<&CapRecord> {
        let binds =
            |cap: &&CapRecord| cap.ran_dry() || self.binding_held_share() >= BINDING_SHARE_MIN;
        self.caps.first().filter(binds)
    }

    /// Returns the caps that bind as well: at their limit, as the one that binds is.
    pub fn binding_too(&self) -> &[CapRecord] {
        let n_too = match self.binding_cap() {
            Some(first) if self.is_at_limit(first) && !first.ran_dry() => {
                self.caps[1..].iter().take_while(|cap| self.is_at_limit(cap)).count()
            }
            _ => 0,
        };
        self.caps.get(1..=n_too).unwrap_or_default()
    }

    /// Returns the caps that do not bind over the whole time, but in a part of it that counts, by
    /// the time that they held I/Os.
    pub fn binding_at_times(&self) -> &[CapRecord] {
        let others = &self.caps[self.named().len()..];
        let n_at_times = others.iter().take_while(|cap| self.binds_at_times(cap)).count();
        &others[..n_at_times]
    }

    /// Returns whether a cap binds in a part of the measured time that counts: where others bind
    /// at other times, or whenever the one that binds does in a part of it only.
    fn binds_at_times(&self, cap: &CapRecord) -> bool {
        let Some(first) = self.binding_cap() else { return false };
        let is_at_times = self.caps.iter().any(|cap| cap.apart_share >= AT_TIMES_SHARE_MIN);
        let is_with_first = first.fullest_share() < USED_UP_SHARE_MIN
            && cap.bound_share >= first.bound_share * WITH_SHARE_MIN;
        cap.bound_share >= AT_TIMES_SHARE_MIN && (is_at_times || is_with_first)
    }

    /// Returns the share of the I/O time that the caps that bind held I/Os, 0 to 1: while they
    /// waited for them, for slots that these kept full, or for a turn at a common cap of which the
    /// job would have more, did not these give all they have.
    pub fn binding_held_share(&self) -> f64 {
        let Some(first) = self.caps.first() else { return 0.0 };
        let is_with_it = |cap: &&CapRecord| {
            (cap.is_slots() && first.fills_slots())
                || (self.is_at_limit(first) && self.is_at_limit(cap))
                || (self.gives_all(first) && (self.is_passed_in_turn(cap) || self.gives_way(cap)))
        };
        let others = self.caps[1..].iter().filter(is_with_it);
        first.held_share + others.map(|cap| cap.held_share).sum::<f64>()
    }

    /// Returns whether that share has time in it that I/Os waited for slots which the cap that
    /// binds keeps full.
    pub fn counts_slots(&self) -> bool {
        let Some(first) = self.binding_cap() else { return false };
        let held_share = |cap: &CapRecord| if cap.is_slots() { cap.held_share } else { 0.0 };
        first.fills_slots()
            && self.caps[1..].iter().map(held_share).sum::<f64>() >= BINDING_SHARE_MIN
    }

    /// Returns the fullest of the caps that do not bind. Slots are full behind any cap that binds
    /// and say nothing about what comes next, unless they bind themselves; nor do caps that only
    /// hold the writes of a cache that fills.
    pub fn next_cap(&self) -> Option<&CapRecord> {
        let others = &self.caps[self.named().len() + self.binding_at_times().len()..];
        let holds_cache = |cap: &CapRecord| self.filling.is_some() && cap.is_behind_cache;
        let others = others
            .iter()
            .filter(|cap| (self.binding_cap().is_none() || !cap.is_slots()) && !holds_cache(cap));
        others.max_by(|a, b| a.filled_share().total_cmp(&b.filled_share()))
    }

    /// Adds another worker of the same group. What was used is averaged by I/O time.
    pub fn merge(&mut self, other: &CapsRecord) {
        let (mine, theirs) = (self.io_time_ns as f64, other.io_time_ns as f64);
        let total = mine + theirs;
        for cap in &other.caps {
            let Some(known) = self.caps.iter_mut().find(|known| known.is_of(cap)) else {
                self.caps.push(cap.clone());
                continue;
            };
            known.held_ns = known.held_ns.saturating_add(cap.held_ns);
            known.per_s = known.per_s.max(cap.per_s);
            known.burst_per_s = known.burst_per_s.max(cap.burst_per_s);
            known.n_disks = known.n_disks.max(cap.n_disks);
            known.credit = known.credit.max(cap.credit);
            if total > 0.0 {
                let mean = |own: f64, other: f64| (own * mine + other * theirs) / total;
                known.used_share = mean(known.used_share, cap.used_share);
                known.busiest_used_share = mean(known.busiest_used_share, cap.busiest_used_share);
                known.part = mean(known.part, cap.part);
                known.bound_share = mean(known.bound_share, cap.bound_share);
                known.apart_share = mean(known.apart_share, cap.apart_share);
            }
        }
        self.io_time_ns = self.io_time_ns.saturating_add(other.io_time_ns);
        if self.filling.is_none() {
            self.filling.clone_from(&other.filling);
        }
        self.has_full_cache |= other.has_full_cache;
        self.settle();
    }

    /// Derives what follows from the sums.
    pub(crate) fn settle(&mut self) {
        for cap in &mut self.caps {
            cap.held_share = match self.io_time_ns {
                0 => 0.0,
                total_ns => cap.held_ns as f64 / total_ns as f64,
            };
        }
        self.caps.sort_by(|a, b| {
            let by_use = b.used_share.total_cmp(&a.used_share);
            b.held_ns.cmp(&a.held_ns).then(by_use).then_with(|| a.name.cmp(&b.name))
        });
        self.put_what_fills_the_slots_first();
        self.put_own_limit_first();
        self.caps.sort_by_key(|cap| !cap.ran_dry());
        self.put_those_at_times_next();
        self.binding = self.binding_cap().map(|cap| cap.name.clone());
        let names = |caps: &[CapRecord]| caps.iter().map(|cap| cap.name.clone()).collect();
        self.binding_too = names(self.binding_too());
        self.binding_at_times = names(self.binding_at_times());
        let next = self.next_cap().map(|cap| (cap.name.clone(), cap.filled_share()));
        self.next_away_share = next.as_ref().map(|(_, filled)| (1.0 - filled).max(0.0));
        self.next = next.map(|(name, _)| name);
    }

    /// What binds at times stands behind what always does. All keep their order.
    fn put_those_at_times_next(&mut self) {
        let n_binding = self.named().len();
        let (at_times, others): (Vec<CapRecord>, Vec<CapRecord>) =
            self.caps[n_binding..].iter().cloned().partition(|cap| self.binds_at_times(cap));
        self.caps.truncate(n_binding);
        self.caps.extend(at_times);
        self.caps.extend(others);
    }

    /// Where several caps are at their limit, the time that each held I/Os is chance: they wait for
    /// the one or the other in turn. What the job has most of stands first, and of that what limits
    /// the volume whatever others do.
    fn put_own_limit_first(&mut self) {
        let Some(first) = self.caps.first() else { return };
        if self.is_at_limit(first) || self.is_passed_in_turn(first) || self.gives_way(first) {
            // The others keep their order.
            let rank = |cap: &CapRecord| match (self.is_at_limit(cap), self.is_passed_in_turn(cap))
            {
                (true, _) => u8::from(cap.mount.is_none()),
                (false, false) if self.gives_all(cap) => 2,
                (false, _) => 3,
            };
            let mut ranked: Vec<(u8, CapRecord)> =
                self.caps.iter().map(|cap| (rank(cap), cap.clone())).collect();
            ranked.sort_by_key(|(rank, _)| *rank);
            self.caps = ranked.into_iter().map(|(_, cap)| cap).collect();
        }
    }

    /// Returns whether the job can have no more of a cap, of which it has its part.
    fn is_at_limit(&self, cap: &CapRecord) -> bool {
        let is_at_limit = cap.is_at_limit() || self.holds_the_cache(cap) || self.holds_reads(cap);
        is_at_limit && !self.gives_way(cap) && !self.is_passed_in_turn(cap)
    }

    /// Returns whether reads that wait behind a write-back cache find nothing left of a cap there,
    /// though most of their time counts for another: each waits for the last of several.
    fn holds_reads(&self, cap: &CapRecord) -> bool {
        let is_own = cap.mount.is_some() || cap.part >= PART_FULL_MIN;
        let longest = self.caps.iter().max_by_key(|cap| cap.held_ns);
        let is_behind = |cap: &CapRecord| {
            cap.is_behind_cache && cap.held_share >= BINDING_SHARE_MIN && !cap.is_slots()
        };
        is_own
            && !cap.may_burst()
            && cap.is_behind_cache
            && cap.fullest_share() >= AT_LIMIT_SHARE_MIN
            && longest.is_some_and(is_behind)
    }

    /// Returns whether reads wait for a cap behind a write-back cache that fills, and a cap in
    /// front of the cache is at its limit: with that lifted more reads wait behind the cache, and
    /// what it writes gives way to them.
    fn gives_way(&self, cap: &CapRecord) -> bool {
        let is_in_front = |other: &CapRecord| {
            other.traits().station == CapStationRecord::Cache && other.is_at_limit()
        };
        self.filling.is_some() && cap.is_behind_cache && self.caps.iter().any(is_in_front)
    }

    /// Returns whether a cap holds what a write-back cache sends to the disks, and the cache can
    /// take no more than that: what is written waits for it in the end.
    fn holds_the_cache(&self, cap: &CapRecord) -> bool {
        let is_own = cap.mount.is_some() || cap.part >= PART_FULL_MIN;
        cap.is_behind_cache
            && self.has_full_cache
            && is_own
            && self.gives_all(cap)
            && cap.fullest_share() >= AT_LIMIT_SHARE_MIN
    }

    /// Returns whether I/Os only wait for their turn at a cap that would give the job more, did not
    /// another one give all it has: one of its own volume, or a common one of which it has a larger
    /// part. Of common caps a job is held by that of which it has most (bottleneck max fairness, as
    /// `limits` shares them).
    fn is_passed_in_turn(&self, cap: &CapRecord) -> bool {
        let is_common = cap.mount.is_none() && !cap.is_slots();
        let has_more = cap.fullest_share() < USED_UP_SHARE_MIN;
        let may_be = has_more || (is_common && cap.part < PART_FULL_MIN);
        may_be
            && !cap.is_slots()
            && self.caps.iter().any(|other| {
                let is_own = other.mount.is_some() || has_more && other.part >= PART_FULL_MIN;
                // A part that is not full binds only if more is waited for it.
                let has_part = other.part >= PART_FULL_MIN || other.held_share >= cap.held_share;
                let is_larger = is_own || (has_part && other.part > cap.part * LARGER_PART_MIN);
                let is_exhausted = other.fullest_share() >= EXHAUSTED_SHARE_MIN;
                let is_fuller = is_exhausted || other.held_share >= WAITED_FOR_SHARE_MIN;
                // What writes pass by holds reads, beside them.
                let is_before = cap.is_behind_cache || !self.is_passed_by_writes(other);
                let is_other = other.name != cap.name && is_before;
                is_other && self.gives_all(other) && is_larger && is_fuller
            })
    }

    /// Returns whether a cache takes what is written, so that only reads wait for the cap.
    fn is_passed_by_writes(&self, cap: &CapRecord) -> bool {
        cap.is_behind_cache && (self.filling.is_some() || !self.has_full_cache)
    }

    /// Returns whether a cap gives all that it has, to any job. One that holds only what a cache
    /// wrote behind the job's back does not count while the cache takes more than that.
    fn gives_all(&self, cap: &CapRecord) -> bool {
        let is_full = cap.fullest_share() >= USED_UP_SHARE_MIN;
        !cap.is_slots() && is_full && !cap.may_burst() && !self.holds_writes_alone(cap)
    }

    /// Returns whether a cap holds only what a cache wrote behind the job's back, while the cache
    /// takes more than that.
    fn holds_writes_alone(&self, cap: &CapRecord) -> bool {
        self.is_passed_by_writes(cap)
            && cap.held_share < WAITED_FOR_SHARE_MIN
            && !self.holds_reads(cap)
    }

    /// Returns whether the job could have more of a cap. One that bursts has no more to give: its
    /// credits only end sooner.
    fn leaves_room(&self, cap: &CapRecord) -> bool {
        let is_free = cap.fullest_share() < ROOM_SHARE_MAX;
        cap.is_slots() || is_free || self.holds_writes_alone(cap)
    }

    /// Calls keep their slots while they wait for a cap behind them, and others then wait for a
    /// slot: as long as a cap behind is used up, more slots would only move the queue. That of the
    /// jobs whose calls wait there; to others, more slots would bring their part of the cap.
    fn put_what_fills_the_slots_first(&mut self) {
        if !self.caps.first().is_some_and(CapRecord::is_slots) {
            return;
        }
        if let Some(at) = self.caps.iter().position(CapRecord::fills_slots) {
            self.caps[..=at].rotate_right(1);
        }
    }
}
