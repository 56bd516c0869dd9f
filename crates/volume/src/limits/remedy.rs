//! What lifts the cap that binds: changes to a design, each tried before it is told.
//!
//! Prices are not looked at. Settings stand before what is provisioned anew, and more of the same
//! before another kind of it.

use super::bound::Bound;
use super::compose::{Done, Load, alone};
use super::path;
use crate::cap::CapKind;
use crate::design::{Backing, CacheMode, Design, Disk, Limit, NetworkVolume, Stripe, Vm, Volume};

/// Most of a rate by which a change must lift it to be told: less is rounding.
const GAIN_MIN: f64 = 0.001;

/// Most connections and disks that are tried.
const CONNECTIONS_MAX: u16 = super::network::CONNECTIONS_MAX as u16;

/// Largest chunk that is tried, bytes.
const CHUNK_BYTES_MAX: u64 = 1 << 20;

/// A change that lifts a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// What to change: `one more P30`.
    pub change: String,
    /// What the volume does then.
    pub after: Done,
}

/// Returns the changes that lift what binds a load on a volume, the cheapest in kind first. None if
/// nothing binds, or no change is known.
///
/// Panics if there is no such volume.
pub fn remedies(design: &Design, volume: u16, load: &Load) -> Vec<Remedy> {
    let before = alone(design, volume, load);
    let tries = Tries { design, volume, load, before: &before, found: Vec::new() };
    tries.all()
}

struct Tries<'a> {
    design: &'a Design,
    volume: u16,
    load: &'a Load,
    before: &'a Done,
    found: Vec<Remedy>,
}

impl Tries<'_> {
    fn all(mut self) -> Vec<Remedy> {
        match self.before.binds {
            Bound::Nothing | Bound::Credits => {}
            Bound::QueueDepth => self.queue_depth(),
            Bound::Cap(kind) => self.lift(kind),
        }
        self.found
    }

    fn lift(&mut self, kind: CapKind) {
        match kind {
            CapKind::DiskIops | CapKind::DiskBytes => {
                self.cache(CacheMode::ReadOnly);
                self.chunk();
                self.disks();
            }
            CapKind::VmUncachedIops | CapKind::VmUncachedBytes => {
                self.cache(CacheMode::ReadOnly);
                self.machine();
            }
            CapKind::VmCachedIops | CapKind::VmCachedBytes => {
                self.cache(CacheMode::None);
                self.machine();
            }
            CapKind::VolumeQuota | CapKind::Pool => self.quota(),
            CapKind::VolumeIops | CapKind::VolumeCeiling => self.second_volume(),
            CapKind::VmEgress => self.egress(),
            CapKind::NfsSlots => self.slots(),
        }
    }

    /// Keeps a change if it lifts the rate. Returns whether it does.
    fn keep(&mut self, change: impl Into<String>, design: &Design, load: &Load) -> bool {
        let after = alone(design, self.volume, load);
        let lifts = after.iops > self.before.iops * (1.0 + GAIN_MIN);
        if lifts {
            self.found.push(Remedy { change: change.into(), after });
        }
        lifts
    }

    /// Tries the design with its volume changed.
    fn with_volume(&mut self, change: String, edit: impl FnOnce(&mut Volume)) -> bool {
        let mut design = self.design.clone();
        edit(&mut design.volumes[usize::from(self.volume)]);
        self.keep(change, &design, self.load)
    }

    /// Tries the design with its machine changed.
    fn with_machine(&mut self, vm: Vm) -> bool {
        let change = format!("a larger machine: {}", vm.size);
        let mut design = self.design.clone();
        design.vm = Some(vm);
        self.keep(change, &design, self.load)
    }

    fn stripe(&self) -> Option<Stripe> {
        match &self.design.volumes[usize::from(self.volume)].backing {
            Backing::Disks(stripe) => Some(stripe.clone()),
            Backing::Network(_) => None,
        }
    }

    fn network(&self) -> Option<NetworkVolume> {
        match &self.design.volumes[usize::from(self.volume)].backing {
            Backing::Disks(_) => None,
            Backing::Network(network) => Some(network.clone()),
        }
    }

    fn queue_depth(&mut self) {
        let Some((_, margin)) = self.before.next() else { return };
        let depth = f64::from(self.load.queue_depth.unwrap_or(1));
        let enough = (depth * (1.0 + margin) - 1e-9).ceil().clamp(1.0, f64::from(u32::MAX)) as u32;
        let load = Load { queue_depth: Some(enough), ..*self.load };
        let design = self.design;
        self.keep(format!("{enough} in flight"), design, &load);
    }

    fn cache(&mut self, mode: CacheMode) {
        let Some(stripe) = self.stripe() else { return };
        if path::mode(&stripe) == mode || (mode != CacheMode::None && !self.may_cache(&stripe)) {
            return;
        }
        let change = match mode {
            CacheMode::None => "no host cache".to_owned(),
            CacheMode::ReadOnly => "a ReadOnly host cache".to_owned(),
            CacheMode::ReadWrite => "a ReadWrite host cache".to_owned(),
        };
        self.with_volume(change, |volume| {
            set_stripe(volume, |stripe| {
                stripe.disks.iter_mut().for_each(|disk| disk.cache = mode);
            });
        });
    }

    /// Says whether the machine has a cache with a known cap, and the disks may use it.
    fn may_cache(&self, stripe: &Stripe) -> bool {
        let has_cache = self.design.vm.as_ref().is_some_and(|vm| {
            vm.cache_bytes.is_some() && (vm.cached.iops.is_some() || vm.cached.bytes.is_some())
        });
        let edition = catalog::edition(&self.design.edition);
        has_cache
            && stripe.disks.iter().all(|disk| {
                let known = edition.and_then(|edition| edition.disk(&disk.sku));
                known.is_some_and(|known| known.cacheable() != catalog::Cacheable::No)
            })
    }

    /// Tries larger chunks, which split fewer I/Os.
    fn chunk(&mut self) {
        let Some(stripe) = self.stripe() else { return };
        let mut chunk_bytes = stripe.chunk_bytes * 2;
        while chunk_bytes <= CHUNK_BYTES_MAX {
            let change = format!("chunks of {}", units::format_bytes(chunk_bytes));
            let edit = |stripe: &mut Stripe| stripe.chunk_bytes = chunk_bytes;
            if self.with_volume(change, |volume| set_stripe(volume, edit)) {
                return;
            }
            chunk_bytes *= 2;
        }
    }

    /// Tries one more disk, then the next tier.
    fn disks(&mut self) {
        let Some(stripe) = self.stripe() else { return };
        let Some(disk) = stripe.disks.first().cloned() else { return };
        let disks = self.design.volumes.iter().map(|volume| match &volume.backing {
            Backing::Disks(stripe) => stripe.disks.len(),
            Backing::Network(_) => 0,
        });
        let most = self.design.vm.as_ref().and_then(|vm| vm.max_data_disks);
        let has_room = most.is_none_or(|most| disks.sum::<usize>() < most as usize);
        if has_room {
            let change = format!("one more {}", disk.sku);
            self.with_volume(change, |volume| {
                set_stripe(volume, |stripe| {
                    stripe.disks.push(disk.clone());
                    stripe.columns += 1;
                });
            });
        }
        for tier in larger_tiers(self.design, &disk) {
            let change = match stripe.disks.len() {
                1 => tier.sku.clone(),
                n_disks => format!("{n_disks} x {}", tier.sku),
            };
            let edit = |stripe: &mut Stripe| stripe.disks.fill(tier.clone());
            if self.with_volume(change, |volume| set_stripe(volume, edit)) {
                break;
            }
        }
    }

    /// Tries larger machines of the catalogue: of the same series, then of any with the same maker.
    fn machine(&mut self) {
        let Some(vm) = self.design.vm.clone() else { return };
        for larger in larger_machines(self.design, &vm) {
            if self.with_machine(larger) {
                return;
            }
        }
    }

    /// Tries so much more throughput that the next cap is reached.
    fn quota(&mut self) {
        let Some(network) = self.network() else { return };
        let factor = 1.0 + self.before.next().map_or(1.0, |(_, margin)| margin.max(0.01));
        let more = |limit: &mut Limit| limit.per_s = (limit.per_s as f64 * factor).ceil() as u64;
        if self.before.binds == Bound::Cap(CapKind::Pool) {
            let Some(idx) = network.pool else { return };
            let mut design = self.design.clone();
            let Some(pool) = design.pools.get_mut(usize::from(idx)) else { return };
            more(&mut pool.throughput);
            let change =
                format!("a pool of {}", units::format_rate_mib_s(pool.throughput.per_s as f64));
            self.keep(change, &design, self.load);
            return;
        }
        if network.pool.is_some() {
            let mut quota = network.quota.clone();
            more(&mut quota);
            let throughput = units::format_rate_mib_s(quota.per_s as f64);
            let change = format!("{throughput} assigned to the volume");
            self.with_volume(change, |volume| set_network(volume, |network| network.quota = quota));
            return;
        }
        let bytes = self.design.volumes[usize::from(self.volume)].capacity_bytes as f64 * factor;
        let change = format!("a quota of {}", units::format_bytes(bytes.ceil() as u64));
        self.with_volume(change, |volume| set_network(volume, |network| more(&mut network.quota)));
        if let Some((level, ratio)) = next_level(self.design, &network.level) {
            let edit = |network: &mut NetworkVolume| {
                network.quota.per_s = (network.quota.per_s as f64 * ratio) as u64;
            };
            self.with_volume(format!("level {level}"), |volume| set_network(volume, edit));
        }
    }

    /// What one volume was measured to carry is lifted by a second one, which shares pool and
    /// clients only.
    fn second_volume(&mut self) {
        let edit = |network: &mut NetworkVolume| {
            let twice = |value: &mut Option<u64>| *value = value.map(|value| value * 2);
            network.quota.per_s *= 2;
            twice(&mut network.ceiling.read_iops);
            twice(&mut network.ceiling.write_iops);
            twice(&mut network.ceiling.read_bytes_per_s);
            twice(&mut network.ceiling.write_bytes_per_s);
            twice(&mut network.ceiling.total_bytes_per_s);
        };
        let change = "a second volume with the same quota".to_owned();
        self.with_volume(change, |volume| set_network(volume, edit));
    }

    fn egress(&mut self) {
        if self.design.clients.is_empty() {
            return self.machine();
        }
        self.another_client();
    }

    fn slots(&mut self) {
        let mut design = self.design.clone();
        for client in &mut design.clients {
            client.connections = (client.connections * 2).min(CONNECTIONS_MAX);
        }
        let most = design.clients.iter().map(|client| client.connections).max();
        if let Some(most) = most {
            self.keep(format!("nconnect={most}"), &design, self.load);
        }
        self.another_client();
    }

    fn another_client(&mut self) {
        let mut design = self.design.clone();
        let Some(client) = design.clients.last().cloned() else { return };
        design.clients.push(client);
        self.keep("one more client", &design, self.load);
    }
}

fn set_stripe(volume: &mut Volume, edit: impl FnOnce(&mut Stripe)) {
    if let Backing::Disks(stripe) = &mut volume.backing {
        edit(stripe);
    }
}

fn set_network(volume: &mut Volume, edit: impl FnOnce(&mut NetworkVolume)) {
    if let Backing::Network(network) = &mut volume.backing {
        edit(network);
    }
}

/// Returns the larger tiers of a disk's family, smallest first, as disks with the same cache mode.
fn larger_tiers(design: &Design, disk: &Disk) -> Vec<Disk> {
    let Some(edition) = catalog::edition(&design.edition) else { return Vec::new() };
    let Some(own) = edition.disk(&disk.sku) else { return Vec::new() };
    let mut tiers: Vec<Disk> = Vec::new();
    for tier in edition.disks() {
        let is_kin = tier.family() == own.family() && tier.cloud() == own.cloud();
        let may_cache = disk.cache == CacheMode::None || tier.cacheable() != catalog::Cacheable::No;
        let (Some(size), Some(iops), Some(bytes)) = (tier.size(), tier.iops(), tier.throughput())
        else {
            continue;
        };
        if !is_kin || !may_cache || size.per_s <= disk.size_bytes {
            continue;
        }
        let mut larger = Disk { sku: tier.name.clone(), size_bytes: size.per_s, ..disk.clone() };
        larger.cap.iops = Some(limit(iops));
        larger.cap.bytes = Some(limit(bytes));
        tiers.push(larger);
    }
    tiers.sort_by_key(|tier| tier.size_bytes);
    tiers
}

fn limit(figure: &catalog::Figure) -> Limit {
    let origin = format!("{figure}: {} ({})", figure.source.title, figure.date());
    Limit { per_s: figure.per_s.max(1), burst: None, origin }
}

/// Returns the catalogue's machines with more of something: those of the same series first, then by
/// cores.
fn larger_machines(design: &Design, vm: &Vm) -> Vec<Vm> {
    let Some(edition) = catalog::edition(&design.edition) else { return Vec::new() };
    let Some(own) = edition.vm(&vm.size) else { return Vec::new() };
    let n_disks = design.volumes.iter().map(|volume| match &volume.backing {
        Backing::Disks(stripe) => stripe.disks.len() as u64,
        Backing::Network(_) => 0,
    });
    let n_disks: u64 = n_disks.sum();
    let cores = |vm: &catalog::Vm| vm.vcpus().map_or(u64::MAX, |figure| figure.per_s);
    let mut larger: Vec<&catalog::Vm> = edition
        .vms()
        .iter()
        .filter(|other| other.cloud() == own.cloud() && other.name != own.name)
        .filter(|other| own.takes_premium() != Some(true) || other.takes_premium() == Some(true))
        .filter(|other| other.max_data_disks().is_none_or(|most| most.per_s >= n_disks))
        .collect();
    let is_kin = |other: &catalog::Vm| series(&other.name) == series(&own.name);
    larger.sort_by_key(|other| (!is_kin(other), cores(other), other.name.clone()));
    larger.into_iter().map(|other| machine(vm, other)).collect()
}

/// Returns the machine with what the catalogue says of another size.
fn machine(vm: &Vm, other: &catalog::Vm) -> Vm {
    let mut larger = Vm { size: other.name.clone(), ..vm.clone() };
    let with = |figure: Option<&catalog::Figure>, old: &Option<Limit>| match (figure, old) {
        (Some(figure), _) => Some(limit(figure)),
        // What the catalogue does not say does not lift anything.
        (None, old) => old.clone(),
    };
    larger.uncached.iops = with(other.uncached_iops(), &vm.uncached.iops);
    larger.uncached.bytes = with(other.uncached_throughput(), &vm.uncached.bytes);
    larger.cached.iops = with(other.cached_iops(), &vm.cached.iops);
    larger.cached.bytes = with(other.cached_throughput(), &vm.cached.bytes);
    larger.egress = with(other.egress(), &vm.egress);
    larger.cached_write = None;
    larger
}

/// Returns the letters of a size without its numbers of cores: `D_s_v3` of `Standard_D8s_v3`.
fn series(name: &str) -> String {
    let name = name.strip_prefix("Standard_").unwrap_or(name);
    let (base, version) = name.split_once('_').unwrap_or((name, ""));
    let letters: String = base.chars().filter(|c| !c.is_ascii_digit()).collect();
    format!("{letters}_{version}")
}

/// Returns the next service level and how much more it gives.
fn next_level(design: &Design, level: &str) -> Option<(String, f64)> {
    let edition = catalog::edition(&design.edition)?;
    let of = |name: &str| {
        let found = edition.levels().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, figure)| figure.value)
    };
    let own = of(level)?;
    let higher = edition.levels().filter(|(_, figure)| figure.value > own);
    let (name, figure) = higher.min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    let mut title = name.to_owned();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Some((title, figure.value / own))
}
