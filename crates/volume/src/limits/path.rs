//! The caps on the way of an I/O, and what it costs of each.
//!
//! | request | machine, cached | disk | machine, uncached |
//! |---|---|---|---|
//! | any, no cache | - | counts | counts |
//! | read hit | counts | - | - |
//! | read miss, write | counts | counts | counts |
//! | any, local disk without limits of its own | counts | - | - |
//! | any, other local disk | - | counts | - |
//!
//! A write under ReadWrite reaches the disk later, but what is sustained is what the disk takes.
//! Disks count units (256 KiB) of what a stripe splits an I/O into; the cached path counts I/Os.

use super::bound::Bound;
use super::credit::Credits;
use super::flow::{CapUse, Scope, Side};
use super::network;
use super::queue;
use super::stripe::{self, Split};
use crate::cap::CapKind;
use crate::design::{
    Backing, CacheMode, Cap, Client, Design, Latency, Limit, Merging, NetworkVolume, Stripe, Vm,
    Volume, WriteCost,
};
use crate::load::Load;

const NS_PER_S: f64 = 1e9;

/// Where ceilings of a network volume come from.
const MEASURED: &str = "measured";

/// Returns every cap on the way, with what an I/O of the load costs of it; a cap that costs nothing
/// is left out.
///
/// # Panics
/// If there is no such volume.
pub fn caps(design: &Design, volume_idx: u16, load: &Load) -> Vec<CapUse> {
    let volume = &design.volumes[usize::from(volume_idx)];
    let mut list = List { caps: Vec::new(), with_credits: load.with_credits };
    match &volume.backing {
        Backing::Disks(stripe) => of_disks(&mut list, design, volume_idx, stripe, load),
        Backing::Network(network) => of_network(&mut list, design, volume_idx, network, load),
    }
    list.caps
}

/// Returns the mean latency without load, seconds: that of the cache for hits, else the medium's
/// and the way there.
///
/// # Panics
/// If there is no such volume.
pub fn latency_s(design: &Design, volume_idx: u16, load: &Load) -> f64 {
    let volume = &design.volumes[usize::from(volume_idx)];
    let mean_s = |latency: Latency| latency.mean_ns as f64 / NS_PER_S;
    match &volume.backing {
        Backing::Disks(stripe) => {
            let mode = mode_at_work(design, stripe);
            let hits = if mode == CacheMode::None { 0.0 } else { load.read_share * load.hit_ratio };
            let writes = if mode == CacheMode::ReadWrite { 1.0 - load.read_share } else { 0.0 };
            let cached = hits + writes;
            cached * mean_s(volume.cache_latency) + (1.0 - cached) * mean_s(volume.latency)
        }
        Backing::Network(_) => mean_s(volume.latency) + mean_round_trip_s(&design.clients),
    }
}

/// Returns how much of a common cap a volume takes beside others: each disk has its share.
pub(super) fn weight(design: &Design, volume_idx: u16) -> f64 {
    match &design.volumes[usize::from(volume_idx)].backing {
        Backing::Disks(stripe) => stripe.disks.len().max(1) as f64,
        Backing::Network(_) => 1.0,
    }
}

/// Returns what a volume is made of, for people.
pub fn describe(volume: &Volume) -> String {
    match &volume.backing {
        Backing::Disks(stripe) => {
            let cache = match mode(stripe) {
                CacheMode::None => "no host cache",
                CacheMode::ReadOnly => "ReadOnly host cache",
                CacheMode::ReadWrite => "ReadWrite host cache",
            };
            let is_clear = stripe.is_named_local() || !stripe.is_local;
            let local = if is_clear { "" } else { ", local" };
            format!("{}{local}, {cache}", disks_name(stripe))
        }
        Backing::Network(network) => {
            format!("{} volume of {}", network.level, units::format_bytes(volume.capacity_bytes))
        }
    }
}

/// Returns the cache mode of a stripe, which all its disks share.
pub(super) fn mode(stripe: &Stripe) -> CacheMode {
    stripe.disks.first().map_or(CacheMode::None, |disk| disk.cache)
}

/// Returns the mode that a stripe works in: without a cache in the machine there is none.
pub(super) fn mode_at_work(design: &Design, stripe: &Stripe) -> CacheMode {
    let has_cache = design.vm.as_ref().is_some_and(|vm| vm.cache_bytes.unwrap_or(0) > 0);
    if has_cache { mode(stripe) } else { CacheMode::None }
}

fn disks_name(stripe: &Stripe) -> String {
    let sku = stripe.disks.first().map_or("disk", |disk| disk.sku.as_str());
    match stripe.disks.len() {
        1 => sku.to_owned(),
        n_disks => format!("{n_disks} x {sku}"),
    }
}

fn split(stripe: &Stripe, load: &Load) -> Split {
    let disk = stripe.disks.first();
    let unit_bytes = disk.and_then(|disk| disk.io_unit_bytes);
    let merges = load.is_sequential && disk.is_some_and(|disk| disk.merging != Merging::None);
    if let Some(unit_bytes) = unit_bytes.filter(|_| merges) {
        let counted = Load { is_sequential: false, ..*load };
        let units = load.size_bytes as f64 / unit_bytes as f64;
        return Split { units, ..split(stripe, &counted) };
    }
    // One disk is cut nowhere: all its chunks lie side by side.
    let chunk_bytes = if stripe.disks.len() < 2 { u64::MAX >> 1 } else { stripe.chunk_bytes };
    stripe::split_load(load, chunk_bytes, unit_bytes)
}

/// Caps as they are found.
struct List {
    caps: Vec<CapUse>,
    with_credits: bool,
}

impl List {
    fn put(
        &mut self,
        use_of: (CapKind, Scope),
        name: &str,
        n: f64,
        limit: Option<&Limit>,
        per_io: f64,
    ) {
        let Some(limit) = limit.filter(|_| per_io > 0.0) else { return };
        self.caps.push(CapUse {
            bound: Bound::Cap(use_of.0),
            scope: use_of.1,
            name: name.to_owned(),
            side: None,
            per_s: n * per_s(limit, self.with_credits),
            per_io,
            origin: limit.origin.clone(),
            credits: credits(n, limit),
        });
    }

    /// Lets what `put` puts count reads alone, or writes alone.
    fn of_side(&mut self, side: Side, put: impl FnOnce(&mut List)) {
        let first = self.caps.len();
        put(self);
        self.caps[first..].iter_mut().for_each(|cap| cap.side = Some(side));
    }

    fn put_pair(
        &mut self,
        scope: Scope,
        name: &str,
        cap: &Cap,
        kinds: (CapKind, CapKind),
        per_io: (f64, f64),
    ) {
        self.put((kinds.0, scope), name, 1.0, cap.iops.as_ref(), per_io.0);
        self.put((kinds.1, scope), name, 1.0, cap.bytes.as_ref(), per_io.1);
    }
}

/// Returns the credits of so many equal limits together; `None` where there are none, or they never
/// end.
pub fn credits(n: f64, limit: &Limit) -> Option<Credits> {
    let burst = limit.burst.filter(|burst| burst.per_s > limit.per_s)?;
    let bucket = n * burst.bucket? as f64;
    Some(Credits { base: n * limit.per_s as f64, burst: n * burst.per_s as f64, bucket })
}

/// Returns what a limit carries: its burst if that lasts for ever, or if credits are to count.
fn per_s(limit: &Limit, with_credits: bool) -> f64 {
    let burst = limit.burst.filter(|burst| with_credits || burst.bucket.is_none());
    burst.map_or(limit.per_s, |burst| burst.per_s.max(limit.per_s)) as f64
}

fn of_disks(list: &mut List, design: &Design, volume_idx: u16, stripe: &Stripe, load: &Load) {
    let split = split(stripe, load);
    let mode = mode_at_work(design, stripe);
    let size = load.size_bytes as f64;
    let share = disk_share(load.read_share, load.hit_ratio, mode);
    let name = disks_name(stripe);
    let n_disks = stripe.disks.len() as f64;
    let scope = Scope::Volume(volume_idx);
    // In the order of the way there: of equal caps the first binds. Equal disks: n times one.
    let machine = design.vm.as_ref();
    let is_on_cached_path = mode != CacheMode::None || stripe.shares_cached_path();
    if let Some(vm) = machine.filter(|_| is_on_cached_path) {
        of_cache(list, vm, load, split.sub_ios);
    }
    if let Some(disk) = stripe.disks.first() {
        let writes = 1.0 - load.read_share;
        let weighed = |cost: WriteCost| share + writes * (cost.factor() - 1.0);
        let (iops, bytes) = (disk.cap.iops.as_ref(), disk.cap.bytes.as_ref());
        if let Some(limit) = &disk.write_iops {
            for (side, what, limit, per_io) in [
                (Side::Reads, "reads", iops, share - writes),
                (Side::Writes, "writes", Some(limit), writes),
            ] {
                let name = format!("{name} {what}");
                let kind = (CapKind::DiskIops, scope);
                let per_io = per_io.max(0.0) * split.units;
                list.of_side(side, |list| list.put(kind, &name, n_disks, limit, per_io));
            }
        } else {
            let per_io = weighed(disk.write_costs.op) * split.units;
            list.put((CapKind::DiskIops, scope), &name, n_disks, iops, per_io);
        }
        let counted = match (disk.merging, disk.io_unit_bytes) {
            (Merging::Units, Some(unit_bytes)) => split.units * unit_bytes as f64,
            (Merging::Units, None) | (Merging::None | Merging::Operations, _) => size,
        };
        let per_io = weighed(disk.write_costs.byte) * counted;
        list.put((CapKind::DiskBytes, scope), &name, n_disks, bytes, per_io);
    }
    if let Some(vm) = machine.filter(|_| !stripe.is_local) {
        let kinds = (CapKind::VmUncachedIops, CapKind::VmUncachedBytes);
        let per_io = (share * split.units, share * size);
        list.put_pair(Scope::Machine, &vm.size, &vm.uncached, kinds, per_io);
    }
}

/// Adds the caps of the machine's cached path, on which each part of an I/O counts once.
fn of_cache(list: &mut List, vm: &Vm, load: &Load, sub_ios: f64) {
    let size = load.size_bytes as f64;
    let kinds = (CapKind::VmCachedIops, CapKind::VmCachedBytes);
    let put = |list: &mut List, name: &str, cap: &Cap, share: f64| {
        list.put_pair(Scope::Machine, name, cap, kinds, (share * sub_ios, share * size));
    };
    let Some(of_writes) = &vm.cached_write else { return put(list, &vm.size, &vm.cached, 1.0) };
    // Where writes have a cap of their own, reads and writes do not share.
    let (reads, writes) = (load.read_share, 1.0 - load.read_share);
    list.of_side(Side::Reads, |list| put(list, &vm.size, &vm.cached, reads));
    let name = format!("{} cached writes", vm.size);
    list.of_side(Side::Writes, |list| put(list, &name, of_writes, writes));
}

fn of_network(
    list: &mut List,
    design: &Design,
    volume_idx: u16,
    network: &NetworkVolume,
    load: &Load,
) {
    let size = load.size_bytes as f64;
    let reads = load.read_share;
    let writes = 1.0 - reads;
    let calls = network::calls(load.size_bytes, u64::from(network.transfer_bytes)) as f64;
    let scope = Scope::Volume(volume_idx);
    list.put((CapKind::VolumeQuota, scope), &network.level, 1.0, network.quota.as_ref(), size);
    if let Some(idx) = network.pool
        && let Some(pool) = design.pools.get(usize::from(idx))
    {
        let scope = Scope::Pool(idx);
        list.put((CapKind::Pool, scope), &pool.name, 1.0, Some(&pool.throughput), size);
        list.put((CapKind::PoolIops, scope), &pool.name, 1.0, pool.iops.as_ref(), calls);
    }
    let ceiling = &network.ceiling;
    let mut measured =
        |of: (CapKind, Option<Side>), name: &str, origin: &str, limit: (f64, f64)| {
            let (per_s, per_io) = limit;
            if per_io > 0.0 {
                let (name, origin) = (name.to_owned(), origin.to_owned());
                let (bound, side, credits) = (Bound::Cap(of.0), of.1, None);
                list.caps.push(CapUse { bound, scope, name, side, per_s, per_io, origin, credits });
            }
        };
    let whole = |value: Option<u64>| value.map(|value| value as f64);
    let of_operations = match (ceiling.read_iops, ceiling.write_iops) {
        // Counted in reads: a write takes as much as R / W of them, so that a mix carries
        // 1 / (r/R + w/W), and loads of unlike mixes share one cap.
        (Some(read), Some(write)) => {
            let weighed = reads + writes * WriteCost::between(read, write).factor();
            Some(("measured I/Os", MEASURED, read as f64, calls * weighed))
        }
        // What a mix carries falls towards writes, wherever both were measured.
        (Some(read), None) => {
            let origin = "measured for reads; of writes it is unknown, taken as no more";
            Some(("measured reads", origin, read as f64, calls))
        }
        (None, Some(write)) => Some(("measured writes", MEASURED, write as f64, writes * calls)),
        (None, None) => None,
    };
    if let Some((name, origin, per_s, per_io)) = of_operations {
        measured((CapKind::VolumeIops, None), name, origin, (per_s, per_io));
    }
    let parts = [
        ("measured reads", Some(Side::Reads), ceiling.read_bytes_per_s, reads * size),
        ("measured writes", Some(Side::Writes), ceiling.write_bytes_per_s, writes * size),
        ("measured total", None, ceiling.total_bytes_per_s, size),
    ];
    for (name, side, per_s, per_io) in parts {
        if let Some(per_s) = whole(per_s) {
            measured((CapKind::VolumeCeiling, side), name, MEASURED, (per_s, per_io));
        }
    }
    // What is read comes in, which no card meters; the calls for it go out.
    let sent = writes * size + calls * network::CALL_BYTES;
    of_clients(list, design, volume_idx, (sent, calls, load));
}

/// Adds what the clients have: what their cards send, and calls in flight.
fn of_clients(list: &mut List, design: &Design, volume_idx: u16, cost: (f64, f64, &Load)) {
    let (sent, calls, load) = cost;
    let scope = (CapKind::VmEgress, Scope::Clients);
    let cards: Vec<&Limit> =
        design.clients.iter().filter_map(|client| client.egress.as_ref()).collect();
    if design.clients.is_empty() {
        let egress = design.vm.as_ref().and_then(|vm| vm.egress.as_ref());
        let name = design.vm.as_ref().map_or("", |vm| vm.size.as_str());
        list.put(scope, name, 1.0, egress, sent);
    } else if cards.len() == design.clients.len() {
        let total: f64 = cards.iter().map(|limit| per_s(limit, list.with_credits)).sum();
        let name = units::plural(cards.len() as u64, "client");
        let mean = total / cards.len() as f64;
        let mut limit = cards[0].clone();
        (limit.per_s, limit.burst) = (mean as u64, None);
        list.put(scope, &name, cards.len() as f64, Some(&limit), sent);
    }
    let medium_s = latency_s(design, volume_idx, load) - mean_round_trip_s(&design.clients);
    let slots = |client: &Client| {
        let slots =
            network::slots(1, client.connections.into(), client.slots_per_connection.into());
        let latency_s = medium_s + client.round_trip_ns as f64 / NS_PER_S;
        (slots, queue::rate(slots as f64, latency_s))
    };
    let all: Vec<(u64, f64)> = design.clients.iter().map(slots).collect();
    if all.is_empty() {
        return;
    }
    let n_slots = all.iter().map(|(slots, _)| slots).sum::<u64>();
    let rate: f64 = all.iter().map(|(_, rate)| rate).sum();
    // A slot is taken for as long as a call lasts, whichever volume it goes to.
    list.caps.push(CapUse {
        bound: Bound::Cap(CapKind::NfsSlots),
        scope: Scope::Clients,
        name: format!("{n_slots} slots"),
        side: None,
        per_s: n_slots as f64,
        per_io: calls * n_slots as f64 / rate,
        origin: "connections x slots / latency".to_owned(),
        credits: None,
    });
}

fn mean_round_trip_s(clients: &[Client]) -> f64 {
    let sum: f64 = clients.iter().map(|client| client.round_trip_ns as f64 / NS_PER_S).sum();
    sum / clients.len().max(1) as f64
}

/// Returns the share of I/Os on a cached disk that reach the disk: misses and writes.
///
/// Under ReadWrite writes come later: at the rate of the flush, which is at most theirs; with every
/// block written once it is theirs, and that is returned.
fn disk_share(read_share: f64, hit_ratio: f64, mode: CacheMode) -> f64 {
    let hit_ratio = if mode == CacheMode::None { 0.0 } else { hit_ratio };
    read_share * (1.0 - hit_ratio) + (1.0 - read_share)
}
