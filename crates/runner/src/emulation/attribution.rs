//! Which cap held a job: from the caps of a system and a worker's tally to the record.

use std::collections::BTreeSet;

use engine::volume::{DirtyGrowth, Tally, UsageMark, VolumeRange, WaitMark};
use record::{
    CapCountRecord, CapDirectionRecord, CapPeriod, CapRecord, CapStationRecord, CapTraitsRecord,
    CapsRecord, FillingRecord,
};
use volume::design::{Backing, is_in_mb};
use volume::{
    CacheMode, CapCount, CapDirection, CapId, CapInfo, CapKind, CapStation, CapTraits, Design,
    System,
};

use super::placement::Placement;

/// The caps of a design as a record lists them: equal ones of a volume's disks together.
#[derive(Clone, Debug)]
pub(crate) struct CapTable {
    n_caps: usize,
    groups: Vec<Group>,
    paths: Vec<Path>,
}

/// Seconds of writes that are dirty at the start of a load, however fast the disks are: data stay
/// one second in the cache, and this is half as much again.
const DIRTY_S_MIN: f64 = 1.5;

/// Share of its capacity from which on a cap holds what a cache writes.
const USED_UP: f64 = 0.995;

/// Growth that is no chance, as a share of what comes in.
const GROWTH_MIN: f64 = 0.005;

/// How much more has to fit into a cache for it to take more than its disks, as a share of what
/// was written to it while the job was measured.
const MORE_SHARE: f64 = 0.2;

/// Caps that count as one.
#[derive(Clone, Debug)]
struct Group {
    name: String,
    kind: CapKind,
    volume: Option<u16>,
    /// What it counts, where that is reads or writes alone.
    direction: Option<CapDirection>,
    mount: Option<String>,
    /// What the system calls it, or the first of them.
    cap: String,
    /// Whether its figure is in MB/s where it comes from.
    is_in_mb: bool,
    /// The only client, by position in the design, whose I/Os meet it.
    client: Option<u16>,
    members: Vec<Member>,
}

/// One of the caps of a group.
#[derive(Clone, Copy, Debug)]
struct Member {
    id: CapId,
    /// What it gives per second, sustained. A burst that no account ends, on demand, is.
    per_s: u64,
    /// The same while it bursts; 0 without bursts.
    burst_per_s: u64,
    /// What a full account of credits holds; 0 without one.
    credit: u64,
    /// What the system calls sustained, over `per_s`.
    base_share: f64,
}

impl Member {
    fn new(id: CapId, cap: &CapInfo, credit: u64) -> Self {
        let burst_per_s = cap.burst_per_s.unwrap_or(0);
        match credit {
            0 if burst_per_s > cap.per_s => Member {
                id,
                per_s: burst_per_s,
                burst_per_s: 0,
                credit,
                base_share: cap.per_s as f64 / burst_per_s as f64,
            },
            _ => Member { id, per_s: cap.per_s, burst_per_s, credit, base_share: 1.0 },
        }
    }
}

/// Which shared caps the I/Os of a volume meet.
#[derive(Clone, Debug)]
struct Path {
    is_cached: bool,
    writes_behind: bool,
    is_network: bool,
    is_local: bool,
    /// What the system calls the pool's cap.
    pool: Option<String>,
}

impl CapTable {
    /// Makes the table of a system.
    pub(crate) fn new(system: &System, design: &Design) -> Self {
        let (caps, usage) = (system.caps(), system.usage(0));
        let mut groups: Vec<Group> = Vec::new();
        for (cap_idx, cap) in caps.iter().enumerate() {
            let credit = usage[cap_idx].credits.map_or(0, |credits| credits.full);
            let member = Member::new(CapId(cap_idx as u16), cap, credit);
            let same = |group: &&mut Group| {
                cap.kind.traits().is_of_disk
                    && (group.kind, group.volume) == (cap.kind, cap.volume)
                    && group.direction == cap.direction
            };
            if let Some(group) = groups.iter_mut().find(same) {
                group.members.push(member);
                continue;
            }
            let mount = cap.volume.and_then(|idx| design.volumes.get(usize::from(idx)));
            let mount = mount.map(|volume| volume.mount.clone());
            groups.push(Group {
                name: name(cap, mount.as_deref(), caps),
                kind: cap.kind,
                volume: cap.volume,
                direction: cap.direction,
                mount,
                cap: cap.name.clone(),
                is_in_mb: is_in_mb(&cap.origin),
                client: cap.client,
                members: vec![member],
            });
        }
        let paths = design.volumes.iter().map(|volume| path(&volume.backing, design)).collect();
        CapTable { n_caps: caps.len(), groups, paths }
    }

    /// Returns the number of caps of the system.
    pub(crate) fn n_caps(&self) -> usize {
        self.n_caps
    }

    /// Makes the record of a worker whose files are at `places` of all, from its account: how that
    /// stood when it began, after each period, and in the end.
    ///
    /// # Panics
    /// If there are less than two marks.
    pub(crate) fn record(
        &self,
        marks: &[WaitMark],
        placement: &Placement,
        places: &[VolumeRange],
    ) -> CapsRecord {
        let between = |from: &WaitMark, to: &WaitMark| {
            let tally = to.tally.since(&from.tally);
            self.record_between(&tally, &from.usage, &to.usage, placement, places)
        };
        let [first, .., last] = marks else { panic!("{} marks of an account", marks.len()) };
        let period = |from: &WaitMark, to: &WaitMark| CapPeriod {
            length_ns: to.usage.passed_ns(&from.usage),
            n_ios: to.tally.n_ios() - from.tally.n_ios(),
            caps: between(from, to),
        };
        let periods: Vec<CapPeriod> =
            marks.windows(2).map(|pair| period(&pair[0], &pair[1])).collect();
        between(first, last).with_periods(&periods)
    }

    /// Makes the record of a worker from what it counted and what the caps that its I/Os met gave
    /// between two moments.
    fn record_between(
        &self,
        tally: &Tally,
        from: &UsageMark,
        to: &UsageMark,
        placement: &Placement,
        places: &[VolumeRange],
    ) -> CapsRecord {
        let volumes: BTreeSet<u16> = places.iter().map(|place| place.volume).collect();
        let runs_on = |client| places.iter().any(|place| place.client == client);
        let used: Vec<(f64, f64)> = to.since(from).into_iter().zip(to.rates_since(from)).collect();
        // What others load must not count as near: a job whose reads were all in the cache has
        // not come to the disks.
        let is_met = |group: &&Group| {
            let is_own = group.client.is_none_or(runs_on);
            is_own && tally.met(group.kind) && self.is_met(group, &volumes)
        };
        let groups = self.groups.iter().filter(is_met);
        let record = |group: &Group| CapRecord {
            is_behind_cache: self.is_behind_cache(group, &volumes),
            ..group.record(tally, &used)
        };
        let caps: Vec<CapRecord> = groups.map(record).collect();
        let growth = to.dirty_since(from);
        let writes_behind = |volume: u16| self.paths[usize::from(volume)].writes_behind;
        // Files that fit into what may be dirty never fill it.
        let is_larger = placement.bytes_on(writes_behind) > growth.full_bytes;
        let filling = Self::filling(&caps, &growth);
        let filling = filling.map(|filling| FillingRecord { never_fills: !is_larger, ..filling });
        let has_full_cache = growth.left_bytes < growth.written_bytes * MORE_SHARE;
        CapsRecord::new(tally.io_time_ns(), caps, filling).with_full_cache(has_full_cache)
    }

    /// Returns whether what these volumes write to a write-back cache goes to a cap later.
    fn is_behind_cache(&self, group: &Group, volumes: &BTreeSet<u16>) -> bool {
        let is_at_disks = group.kind.traits().station == CapStation::Disks;
        let mut paths = volumes
            .iter()
            .filter(|idx| group.volume.is_none_or(|own| own == **idx))
            .filter_map(|idx| self.paths.get(usize::from(*idx)));
        is_at_disks && paths.any(|path| path.writes_behind)
    }

    /// Returns whether more comes into the cache than goes on to the disks behind it.
    fn filling(caps: &[CapRecord], growth: &DirtyGrowth) -> Option<FillingRecord> {
        let behind = caps.iter().filter(|cap| cap.is_behind_cache);
        let fullest = behind.max_by(|a, b| a.used_share.total_cmp(&b.used_share))?;
        let in_per_s = growth.written_bytes / growth.passed_s;
        // What is written stays dirty for a second whatever the disks take.
        let is_more = growth.bytes > in_per_s * DIRTY_S_MIN;
        let is_held = fullest.used_share >= USED_UP && growth.bytes_per_s > in_per_s * GROWTH_MIN;
        (growth.lasts_s.is_finite() && (is_more || is_held)).then(|| FillingRecord {
            bytes_per_s: growth.bytes_per_s,
            lasts_s: growth.lasts_s,
            held_by: fullest.name.clone(),
            never_fills: false,
            followed_bytes: growth.is_by_ranges.then_some(growth.full_bytes as u64),
        })
    }

    /// Returns whether I/Os on these volumes meet a cap.
    fn is_met(&self, group: &Group, volumes: &BTreeSet<u16>) -> bool {
        if let Some(volume) = group.volume {
            return volumes.contains(&volume);
        }
        let mut paths = volumes.iter().filter_map(|idx| self.paths.get(usize::from(*idx)));
        match group.kind.traits().station {
            CapStation::Cache => paths.any(|path| path.is_cached),
            CapStation::Disks => paths.any(|path| !path.is_network && !path.is_local),
            CapStation::Network if group.kind == CapKind::Pool => {
                paths.any(|path| path.pool.as_ref() == Some(&group.cap))
            }
            CapStation::Network if group.kind == CapKind::PoolIops => {
                let own = group.cap.strip_suffix(" iops").unwrap_or_default();
                paths.any(|path| path.pool.as_deref() == Some(own))
            }
            CapStation::Network => paths.any(|path| path.is_network),
        }
    }
}

impl Group {
    /// Makes the entry of a job from its tally and, of each cap, the share that was used and what
    /// that was per second.
    fn record(&self, tally: &Tally, used: &[(f64, f64)]) -> CapRecord {
        let of = |member: &Member| {
            let used = used.get(usize::from(member.id.0)).copied().unwrap_or_default();
            (used.0 * member.base_share, used.1)
        };
        let share = |member: &Member| of(member).0;
        // A file on few of many columns leaves the other disks alone: they hold nothing, and lend
        // nothing.
        let is_reached = |member: &&Member| share(member) > 0.0;
        let mut reached: Vec<_> = self.members.iter().filter(is_reached).collect();
        if reached.is_empty() {
            reached = self.members.iter().collect();
        }
        let shares = || reached.iter().map(|member| share(member));
        // Writes take more of a measured surface than reads: its limit is that of the mix.
        let per_s = |member: &Member| match of(member) {
            (share, rate) if self.kind == CapKind::VolumeIops && share > 0.0 => {
                (rate / share).round() as u64
            }
            _ => member.per_s,
        };
        let sum = |per_s: &dyn Fn(&Member) -> u64| {
            reached.iter().fold(0, |sum: u64, member| sum.saturating_add(per_s(member)))
        };
        let is_bursting = reached.iter().any(|member| member.burst_per_s > 0);
        let burst_per_s = sum(&|member| member.burst_per_s.max(member.per_s));
        CapRecord {
            name: self.name.clone(),
            kind: self.kind.name().to_owned(),
            traits: Some(traits(self.kind)),
            direction: Some(match self.direction {
                None => CapDirectionRecord::Both,
                Some(CapDirection::Reads) => CapDirectionRecord::Reads,
                Some(CapDirection::Writes) => CapDirectionRecord::Writes,
            }),
            mount: self.mount.clone(),
            per_s: sum(&per_s),
            burst_per_s: if is_bursting { burst_per_s } else { 0 },
            credit: sum(&|member| member.credit),
            is_in_mb: self.is_in_mb,
            n_disks: reached.len() as u32,
            held_ns: self.members.iter().map(|member| tally.held_ns(member.id)).sum(),
            held_share: 0.0,
            used_share: shares().sum::<f64>() / reached.len() as f64,
            busiest_used_share: shares().fold(0.0, f64::max),
            part: 1.0,
            bound_share: 0.0,
            apart_share: 0.0,
            is_behind_cache: false,
        }
    }
}

/// Returns what a kind of caps is to those who read a record.
fn traits(kind: CapKind) -> CapTraitsRecord {
    let CapTraits { counts, station, .. } = kind.traits();
    CapTraitsRecord {
        counts: match counts {
            CapCount::Units | CapCount::Weighed => CapCountRecord::Operations,
            CapCount::Bytes => CapCountRecord::Bytes,
            CapCount::Slots => CapCountRecord::Slots,
        },
        station: match station {
            CapStation::Cache => CapStationRecord::Cache,
            CapStation::Disks => CapStationRecord::Disks,
            CapStation::Network => CapStationRecord::Network,
        },
    }
}

/// Returns a name that is unique in the design: the kind, and the place unless there is one only,
/// and what it is for if a volume has several that are not its disks'.
fn name(cap: &CapInfo, mount: Option<&str>, caps: &[CapInfo]) -> String {
    let kind = cap.kind.name();
    let rivals = caps.iter().filter(|other| other.kind == cap.kind && other.volume == cap.volume);
    let is_only =
        if cap.kind.traits().is_of_disk { cap.direction.is_none() } else { rivals.count() == 1 };
    match mount {
        Some(mount) if is_only => format!("{kind} {mount}"),
        Some(mount) => match cap.direction {
            Some(CapDirection::Reads) => format!("{kind} {mount} reads"),
            Some(CapDirection::Writes) => format!("{kind} {mount} writes"),
            None => format!("{kind} {mount} both"),
        },
        None if is_only => kind.to_owned(),
        None => format!("{kind} {}", cap.name),
    }
}

/// Returns whether the machine has a cache that disks can use.
fn has_cache(design: &Design) -> bool {
    design.vm.as_ref().is_some_and(|vm| vm.cache_bytes.unwrap_or(0) > 0)
}

fn path(backing: &Backing, design: &Design) -> Path {
    match backing {
        Backing::Disks(stripe) => Path {
            is_cached: stripe.disks.iter().any(|disk| disk.cache != CacheMode::None),
            writes_behind: has_cache(design)
                && stripe.disks.iter().any(|disk| disk.cache == CacheMode::ReadWrite),
            is_network: false,
            is_local: stripe.is_local,
            pool: None,
        },
        Backing::Network(network) => Path {
            is_cached: false,
            writes_behind: false,
            is_network: true,
            is_local: false,
            pool: network
                .pool
                .and_then(|idx| design.pools.get(usize::from(idx)))
                .map(|pool| format!("pool {}", pool.name)),
        },
    }
}
