//! What lifts the cap that binds: changes to a design, each tried before it is proposed.
//!
//! Each is applied to the design and asked again beside the other needs; what lifts nothing is left
//! out. Prices are not looked at. Settings stand before what is provisioned anew, and more of the
//! same before another kind of it. Of a known need, the smallest change that meets it is proposed.
//!
//! Where no change alone is enough, pairs are tried: each kind's smallest change that takes the
//! first cap out of the way, for the first [`FIRSTS_MAX`] kinds, with what lifts the cap that binds
//! then. Of each the first pair that is enough is proposed.

mod choice;
mod machine;
mod provisioned;
mod quota;

use super::bound::Bound;
use super::compose::together;
use super::flow::Done;
use super::path;
use crate::cap::CapKind;
use crate::design::{
    Backing, CacheMode, Design, Disk, Limit, Local, NetworkVolume, OWN_DISK, Provisioned, Stripe,
    Volume, per_s,
};
use crate::load::{Flow, Load};

/// Most of a rate by which a change must lift it to be proposed: less is rounding.
const GAIN_MIN: f64 = 0.001;

/// Most of a need that may be missing for it to be met: rounding.
const SHORT_MAX: f64 = 1e-9;

/// Most connections that are tried.
const CONNECTIONS_MAX: u16 = super::network::CONNECTIONS_MAX as u16;

/// Most disks that are tried where neither a machine nor the catalogue says how many there can be.
const DISKS_MAX: u64 = 128;

/// Most clients that are tried beside those of the design.
const CLIENTS_MAX: u64 = 64;

/// Most I/Os in flight that are tried.
const DEPTH_MAX: u64 = 1_000_000;

/// Largest chunk that is tried, bytes.
const CHUNK_BYTES_MAX: u64 = 1 << 20;

/// Most changes that are tried as the first of a pair: few caps have more kinds of change, and a
/// second one may go through all machines of a catalogue.
const FIRSTS_MAX: usize = 4;

/// A change that lifts a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// What to change: `one more P30`, `both one more P30 and a larger machine: Standard_GS5`.
    pub change: String,
    /// I/Os per second that the volume carries then, beside the load of the others.
    pub iops: f64,
    /// Whether that meets the need; `None` without one.
    pub is_enough: Option<bool>,
    /// What the volume does then.
    pub after: Done,
    /// The design with the change.
    pub design: Design,
}

/// What a design costs, in any one unit; `None` where that is not known.
pub type PriceOf<'a> = &'a dyn Fn(&Design) -> Option<f64>;

/// Returns the changes that lift what binds a load on a volume while the others rest, the cheapest
/// in kind first. None if nothing binds, or no change is known.
///
/// # Panics
/// If there is no such volume.
pub fn remedies(design: &Design, volume: u16, load: &Load) -> Vec<Remedy> {
    remedies_among(design, &[Flow { volume, load: *load, demand: None }], 0)
}

/// Returns the changes that lift what one of several loads can have beside the others. None of them
/// takes from another what it was asked for.
///
/// # Panics
/// If there is no such flow, or a flow names a volume that is not there.
pub fn remedies_among(design: &Design, flows: &[Flow], flow_idx: usize) -> Vec<Remedy> {
    remedies_by(design, flows, flow_idx, None)
}

/// Returns the same with the cheapest larger machine, where prices are known, beside the nearest.
///
/// # Panics
/// As [`remedies_among`].
pub fn remedies_by(
    design: &Design,
    flows: &[Flow],
    flow_idx: usize,
    price: Option<PriceOf<'_>>,
) -> Vec<Remedy> {
    assert!(flow_idx < flows.len(), "flow {flow_idx} of {}", flows.len());
    let singles = singles(design, flows, flow_idx, price);
    let is_enough = |remedy: &Remedy| !singles.has_goal || remedy.is_enough == Some(true);
    let mut found = singles.found;
    if found.iter().any(is_enough) {
        return found;
    }
    let mut pairs = Vec::new();
    for first in singles.cleared.into_iter().take(FIRSTS_MAX) {
        let seconds = self::singles(&first.design, &first.flows, flow_idx, price).found;
        let enough = seconds.iter().filter(|second| is_enough(second));
        // Without prices the first is as good as any; with them there may be a cheaper one.
        let n_kept = if price.is_some() { seconds.len() } else { 1 };
        let mut best: Vec<&Remedy> = enough.take(n_kept).collect();
        if best.is_empty() {
            best.extend(seconds.first());
        }
        pairs.extend(best.into_iter().map(|second| Remedy {
            change: format!("both {} and {}", first.change, second.change),
            ..second.clone()
        }));
    }
    let has_enough = pairs.iter().any(is_enough);
    // What is not enough is of use only where nothing else is known.
    if has_enough || found.is_empty() {
        found.extend(pairs.into_iter().filter(|pair| !has_enough || is_enough(pair)));
    }
    found
}

/// What came of trying the changes one at a time.
struct SingleChanges {
    found: Vec<Remedy>,
    cleared: Vec<Cleared>,
    /// A need is not met.
    has_goal: bool,
}

/// A change after which the cap that had bound would carry what is wanted: another one binds.
struct Cleared {
    change: String,
    design: Design,
    flows: Vec<Flow>,
}

fn singles(
    design: &Design,
    flows: &[Flow],
    flow_idx: usize,
    price: Option<PriceOf<'_>>,
) -> SingleChanges {
    let before = together(design, flows);
    let rate = carried(&before[flow_idx]);
    let flow = &flows[flow_idx];
    // A need that is met is no goal: what is proposed then is what it could be beyond.
    let goal = flow.demand.filter(|demand| rate < demand * (1.0 - SHORT_MAX));
    let tries = Tries {
        design,
        flows,
        flow_idx,
        before: &before,
        rate,
        goal,
        price,
        found: Vec::new(),
        cleared: Vec::new(),
    };
    tries.all()
}

/// Returns what the caps leave to a flow, which may be more than it asks for.
fn carried(done: &Done) -> f64 {
    done.caps.first().map_or(done.iops, |(_, left)| *left)
}

struct Tries<'a> {
    design: &'a Design,
    flows: &'a [Flow],
    flow_idx: usize,
    before: &'a [Done],
    /// What the caps leave to the flow as it is.
    rate: f64,
    /// The need, where it is not met.
    goal: Option<f64>,
    /// What a design costs, where that matters.
    price: Option<PriceOf<'a>>,
    found: Vec<Remedy>,
    cleared: Vec<Cleared>,
}

/// A change, not tried yet.
type Change = (String, Design);

/// A change of the design, of what is asked, or of both.
type Step = (String, Design, Vec<Flow>);

/// What a change brings.
struct TriedChange {
    /// The change, if it lifts the rate and leaves to the others what they have.
    remedy: Option<Remedy>,
    /// It takes nothing from the others, nor from the flow.
    is_harmless: bool,
    /// What the cap that had bound leaves to the flow then; infinite where it is not met.
    left: f64,
    /// The same of the disks' caps.
    disks_left: f64,
    /// Whether that cap would carry what is wanted, at the cost of no other.
    clears: bool,
}

impl TriedChange {
    /// Returns what the cap that had bound leaves then; 0 where something is taken for it.
    fn harmless_left(&self) -> f64 {
        if self.is_harmless { self.left } else { 0.0 }
    }

    /// Returns the rate that the change lifts to; 0 where it lifts none.
    fn rate(&self) -> f64 {
        self.remedy.as_ref().map_or(0.0, |remedy| remedy.iops)
    }
}

impl Tries<'_> {
    fn all(mut self) -> SingleChanges {
        match self.done().first().map(|cap| cap.bound) {
            None | Some(Bound::Nothing) => {}
            Some(Bound::QueueDepth) => self.queue_depth(),
            Some(Bound::Cap(kind)) => self.lift(kind),
        }
        SingleChanges { found: self.found, cleared: self.cleared, has_goal: self.goal.is_some() }
    }

    fn lift(&mut self, kind: CapKind) {
        match kind {
            CapKind::DiskIops | CapKind::DiskBytes => {
                // For a need, how many disks and of which limits is one choice.
                let is_one_choice = self.goal.is_some() && self.is_chosen();
                if is_one_choice {
                    self.choice(self.n_free());
                } else {
                    self.provisioned(kind);
                }
                self.cache(CacheMode::ReadOnly);
                self.chunk();
                if !is_one_choice {
                    self.disks();
                }
            }
            CapKind::VmUncachedIops | CapKind::VmUncachedBytes => {
                self.cache(CacheMode::ReadOnly);
                self.machine(kind);
            }
            CapKind::VmCachedIops | CapKind::VmCachedBytes => {
                self.cache(CacheMode::None);
                self.machine(kind);
            }
            CapKind::VolumeQuota => self.quota(),
            CapKind::Pool | CapKind::PoolIops => self.pool(),
            CapKind::VolumeIops | CapKind::VolumeCeiling => self.second_volume(),
            CapKind::VmEgress => self.egress(),
            CapKind::NfsSlots => self.slots(),
        }
    }

    fn done(&self) -> &Done {
        &self.before[self.flow_idx]
    }

    fn flow(&self) -> &Flow {
        &self.flows[self.flow_idx]
    }

    /// Returns the position of the volume that the load is on.
    fn volume_idx(&self) -> usize {
        usize::from(self.flow().volume)
    }

    fn volume(&self) -> &Volume {
        &self.design.volumes[self.volume_idx()]
    }

    /// Returns the rate that is wanted: the need, or else that at which the next cap binds. Where
    /// there is none, twice as much.
    fn wanted(&self) -> f64 {
        let mut left = self.done().caps.iter().map(|(_, left)| *left);
        let next = || left.find(|left| *left > self.rate * (1.0 + GAIN_MIN));
        self.goal.or_else(next).unwrap_or(self.rate * 2.0)
    }

    /// Applies a change and computes again.
    fn tried(&self, change: &str, design: &Design, flows: &[Flow]) -> TriedChange {
        let all = together(design, flows);
        let after = &all[self.flow_idx];
        let iops = carried(after);
        let is_worse = |(after, before): (&Done, &Done)| after.iops < before.iops * (1.0 - 1e-6);
        let others = |(idx, pair)| (idx != self.flow_idx).then_some(pair);
        let takes = all.iter().zip(self.before).enumerate().filter_map(others).any(is_worse);
        let lifts = iops > self.rate * (1.0 + GAIN_MIN);
        let is_enough = self.flow().demand.map(|demand| iops >= demand * (1.0 - SHORT_MAX));
        let remedy = || Remedy {
            change: change.to_owned(),
            iops,
            is_enough,
            after: after.clone(),
            design: design.clone(),
        };
        let least = self.goal.map_or(self.rate * (1.0 + GAIN_MIN), |goal| goal * (1.0 - SHORT_MAX));
        let bound = self.done().first().map(|cap| cap.bound);
        let left_by = |is_it: &dyn Fn(Bound) -> bool| {
            let those = after.caps.iter().filter(|(cap, _)| is_it(cap.bound));
            those.map(|(_, left)| *left).fold(f64::INFINITY, f64::min)
        };
        let left = left_by(&|other| Some(other) == bound);
        let disks = [CapKind::DiskIops, CapKind::DiskBytes].map(Bound::Cap);
        let is_harmless = !takes && iops >= self.rate * (1.0 - 1e-6);
        TriedChange {
            remedy: (lifts && !takes).then(remedy),
            is_harmless,
            left,
            disks_left: left_by(&|other| disks.contains(&other)),
            clears: is_harmless && left >= least,
        }
    }

    /// Keeps, of changes by a number up to `most`, the smallest that brings what is wanted, or else
    /// as much as `most` does. Beside it, the smallest that takes the first cap as far out of the
    /// way. Returns whether the rate is lifted.
    fn keep_least_number(
        &mut self,
        (below, most): (u64, u64),
        wanted: f64,
        change: impl Fn(&Self, u64) -> Option<Step>,
    ) -> bool {
        let Some(at_most) = self.tried_number(most, &change).filter(|_| most > below) else {
            return false;
        };
        if at_most.clears {
            let wanted = wanted.min(at_most.left);
            let number =
                self.least_number((below, most), wanted, &change, TriedChange::harmless_left);
            let cleared = change(self, number);
            let cleared = cleared.map(|(change, design, flows)| Cleared { change, design, flows });
            self.cleared.extend(cleared);
        }
        if at_most.remedy.is_none() {
            return false;
        }
        let wanted = at_most.rate().min(wanted);
        let number = self.least_number((below, most), wanted, &change, TriedChange::rate);
        let found = self.tried_number(number, &change).and_then(|tried| tried.remedy);
        self.found.extend(found.or(at_most.remedy));
        true
    }

    /// Returns the smallest number above `below`, and `most` at most, that brings what is wanted:
    /// to a need of the cap that binds, whatever the others do; else to the rate. `None` if none
    /// does.
    fn wanted_number(
        &self,
        (below, most): (u64, u64),
        change: &impl Fn(&Self, u64) -> Option<Step>,
    ) -> Option<u64> {
        let at_most = self.tried_number(most, change).filter(|_| most > below)?;
        let wanted = self.wanted();
        let lifts = at_most.remedy.is_some();
        if at_most.clears && (self.goal.is_some() || !lifts) {
            let wanted = wanted.min(at_most.left);
            return Some(self.least_number(
                (below, most),
                wanted,
                change,
                TriedChange::harmless_left,
            ));
        }
        let wanted = wanted.min(at_most.rate());
        lifts.then(|| self.least_number((below, most), wanted, change, TriedChange::rate))
    }

    fn tried_number(
        &self,
        number: u64,
        change: &impl Fn(&Self, u64) -> Option<Step>,
    ) -> Option<TriedChange> {
        let (text, design, flows) = change(self, number)?;
        Some(self.tried(&text, &design, &flows))
    }

    /// Returns the smallest number above `below` whose change brings so much of something; of
    /// `most` it is known.
    fn least_number(
        &self,
        (mut below, mut most): (u64, u64),
        wanted: f64,
        change: &impl Fn(&Self, u64) -> Option<Step>,
        of: impl Fn(&TriedChange) -> f64,
    ) -> u64 {
        while most - below > 1 {
            let middle = below.midpoint(most);
            let tried = self.tried_number(middle, change);
            let is_enough = tried.is_some_and(|tried| of(&tried) >= wanted * (1.0 - SHORT_MAX));
            *(if is_enough { &mut most } else { &mut below }) = middle;
        }
        most
    }

    /// Keeps a change if it lifts the rate.
    fn keep(&mut self, change: impl Into<String>, design: Design) {
        self.keep_with(change.into(), design, self.flows.to_vec());
    }

    /// Keeps a change of the design, of what is asked, or of both, if it lifts the rate.
    fn keep_with(&mut self, change: String, design: Design, flows: Vec<Flow>) {
        let tried = self.tried(&change, &design, &flows);
        self.found.extend(tried.remedy);
        if tried.clears {
            self.cleared.push(Cleared { change, design, flows });
        }
    }

    /// Keeps the first of several changes, smallest first, that meets the need; else the first that
    /// lifts the rate. Returns whether there is one.
    fn keep_least(&mut self, changes: impl IntoIterator<Item = Change>) -> bool {
        let mut first: Option<Remedy> = None;
        let mut has_cleared = false;
        for (change, design) in changes {
            let TriedChange { remedy, clears, .. } = self.tried(&change, &design, self.flows);
            if clears && !has_cleared {
                has_cleared = true;
                self.cleared.push(Cleared { change, design, flows: self.flows.to_vec() });
            }
            let Some(remedy) = remedy else { continue };
            let is_done = self.goal.is_none() || remedy.is_enough == Some(true);
            if is_done {
                self.found.push(remedy);
                return true;
            }
            first.get_or_insert(remedy);
        }
        let is_found = first.is_some();
        self.found.extend(first);
        is_found
    }

    /// Returns the design with its volume changed.
    fn with_volume(&self, edit: impl FnOnce(&mut Volume)) -> Design {
        let mut design = self.design.clone();
        edit(&mut design.volumes[self.volume_idx()]);
        design
    }

    fn with_stripe(&self, edit: impl FnOnce(&mut Stripe)) -> Design {
        self.with_volume(|volume| {
            if let Backing::Disks(stripe) = &mut volume.backing {
                edit(stripe);
            }
        })
    }

    fn with_network(&self, edit: impl FnOnce(&mut NetworkVolume)) -> Design {
        self.with_volume(|volume| {
            if let Backing::Network(network) = &mut volume.backing {
                edit(network);
            }
        })
    }

    fn stripe(&self) -> Option<Stripe> {
        match &self.volume().backing {
            Backing::Disks(stripe) => Some(stripe.clone()),
            Backing::Network(_) => None,
        }
    }

    fn network(&self) -> Option<NetworkVolume> {
        match &self.volume().backing {
            Backing::Disks(_) => None,
            Backing::Network(network) => Some(network.clone()),
        }
    }

    fn queue_depth(&mut self) {
        let depth = u64::from(self.flow().load.queue_depth.unwrap_or(1));
        self.keep_least_number((depth, DEPTH_MAX), self.wanted(), |tries, depth| {
            let mut flows = tries.flows.to_vec();
            flows[tries.flow_idx].load.queue_depth = Some(depth as u32);
            Some((format!("{depth} in flight"), tries.design.clone(), flows))
        });
    }

    fn cache(&mut self, mode: CacheMode) {
        let Some(stripe) = self.stripe() else { return };
        if path::mode(&stripe) == mode || (mode != CacheMode::None && !self.may_cache(&stripe)) {
            return;
        }
        let change = match mode {
            CacheMode::None => "no host cache",
            CacheMode::ReadOnly => "a ReadOnly host cache",
            CacheMode::ReadWrite => "a ReadWrite host cache",
        };
        let set = |stripe: &mut Stripe| stripe.disks.iter_mut().for_each(|disk| disk.cache = mode);
        self.keep(change, self.with_stripe(set));
    }

    /// Returns whether the machine has a cache with a known cap, and the disks may use it.
    fn may_cache(&self, stripe: &Stripe) -> bool {
        let has_cache = self.design.vm.as_ref().is_some_and(|vm| {
            vm.cache_bytes.is_some() && (vm.cached.iops.is_some() || vm.cached.bytes.is_some())
        });
        let edition = self.design.rows();
        has_cache
            && stripe.disks.iter().all(|disk| {
                let known = edition.and_then(|edition| edition.disk(&disk.sku));
                known.is_some_and(|known| known.cacheable() != catalog::Cacheable::No)
            })
    }

    /// Tries larger chunks, which split fewer I/Os.
    fn chunk(&mut self) {
        let Some(stripe) = self.stripe() else { return };
        let mut changes = Vec::new();
        let mut chunk_bytes = stripe.chunk_bytes * 2;
        while chunk_bytes <= CHUNK_BYTES_MAX {
            let change = format!("chunks of {}", units::format_bytes(chunk_bytes));
            changes.push((change, self.with_stripe(|stripe| stripe.chunk_bytes = chunk_bytes)));
            chunk_bytes *= 2;
        }
        self.keep_least(changes);
    }

    /// Tries more disks of the kind, then the next tiers.
    fn disks(&mut self) {
        let Some(stripe) = self.stripe() else { return };
        let Some(disk) = stripe.disks.first().cloned() else { return };
        let n_disks = stripe.disks.len();
        let n_free = if stripe.is_named_local() { self.n_free_local() } else { self.n_free() };
        // Columns that do not go over all disks stay, and take as many disks more.
        let columns = stripe.columns as usize;
        let step = if columns < n_disks { columns } else { 1 };
        // Without a need one more is the smallest step; with one, as many as it takes.
        let n_tried = if self.goal.is_some() { n_free } else { n_free.min(step) };
        let changes: Vec<Change> = (step..=n_tried)
            .step_by(step)
            .map(|n_more| {
                let change = match n_more {
                    1 if disk.sku == OWN_DISK => "one more disk of that kind".to_owned(),
                    1 => format!("one more {}", disk.sku),
                    _ => format!("{} x {}", n_disks + n_more, disk.sku),
                };
                let disk = self.one_of(&stripe, n_disks + n_more).unwrap_or(disk.clone());
                let design = self.with_stripe(|stripe| {
                    stripe.disks = vec![disk; n_disks + n_more];
                    if step == 1 {
                        stripe.columns += n_more as u32;
                    }
                });
                (change, design)
            })
            .collect();
        self.keep_least(changes);
        self.tiers(&disk, n_disks);
    }

    /// Returns a disk of a stripe that has the machine's base of its type as one of so many: each
    /// has less of it. `None` where there is no base.
    fn one_of(&self, stripe: &Stripe, n_disks: usize) -> Option<Disk> {
        let kit = Provisioned::new(self.design, stripe).filter(|_| stripe.has_machine_base)?;
        let disk = stripe.disks.first()?;
        let cap = kit.of_disks(n_disks).cap(disk.size_bytes, None, None)?;
        Some(Disk { cap, ..disk.clone() })
    }

    /// Tries larger tiers: the smallest that is enough, and where prices order them those that
    /// carry as much as it does.
    fn tiers(&mut self, disk: &Disk, n_disks: usize) {
        let tiers = larger_tiers(self.design, disk);
        let change = |tier: &Disk| -> Change {
            let change = match n_disks {
                1 => tier.sku.clone(),
                _ => format!("{n_disks} x {}", tier.sku),
            };
            (change, self.with_stripe(|stripe| stripe.disks.fill(tier.clone())))
        };
        let changes: Vec<Change> = tiers.iter().map(change).collect();
        if !self.keep_least(changes.clone()) || self.price.is_none() {
            return;
        }
        let is_kept = |(text, _): &Change| self.found.last().is_some_and(|it| it.change == *text);
        let Some(kept) = changes.iter().position(is_kept) else { return };
        let caps = |tier: &Disk| {
            [&tier.cap.iops, &tier.cap.bytes].map(|limit| limit.as_ref().map(|limit| limit.per_s))
        };
        for (tier, (text, design)) in tiers.iter().zip(&changes).skip(kept + 1) {
            if caps(tier) == caps(&tiers[kept]) {
                let alike = self.tried(text, design, self.flows).remedy;
                self.found.extend(alike);
            }
        }
    }

    /// Returns how many more disks can be attached: as many as the machine takes, or else as the
    /// machine of the disks' cloud that takes the most.
    fn n_free(&self) -> usize {
        let own = self.design.vm.as_ref().and_then(|vm| vm.max_data_disks).map(u64::from);
        let of_cloud = || {
            let edition = self.design.rows()?;
            let stripe = self.stripe()?;
            let cloud = edition.disk(&stripe.disks.first()?.sku)?.cloud();
            let machines = edition.vms().iter().filter(|machine| machine.cloud() == cloud);
            machines.filter_map(|machine| Some(machine.max_data_disks()?.per_s)).max()
        };
        let most = own.or_else(of_cloud).unwrap_or(DISKS_MAX);
        (most as usize).saturating_sub(n_all_disks(self.design))
    }

    /// Returns how many disks of the machine itself no volume has.
    fn n_free_local(&self) -> usize {
        let of_machine = || {
            let edition = self.design.rows()?;
            let size = edition.vm(&self.design.vm.as_ref()?.size)?;
            Local::of(edition, self.design.mb_bytes, size)
        };
        let n_disks = of_machine().map_or(0, |local| local.n_disks as usize);
        let taken = self.design.volumes.iter().map(|volume| match &volume.backing {
            Backing::Disks(stripe) if stripe.is_named_local() => stripe.disks.len(),
            Backing::Disks(_) | Backing::Network(_) => 0,
        });
        n_disks.saturating_sub(taken.sum())
    }

    /// What one volume was measured to carry is lifted by a second one, which shares pool and
    /// clients only.
    fn second_volume(&mut self) {
        let Some(network) = self.network() else { return };
        let own = network.quota.as_ref().map_or(0, |quota| quota.per_s);
        let is_without_room = |idx| self.pool_free(idx) < own;
        if network.pool.is_some_and(is_without_room) {
            return;
        }
        let mut design = self.with_network(|network| {
            let twice = |value: &mut Option<u64>| *value = value.map(|value| value * 2);
            if let Some(quota) = &mut network.quota {
                quota.per_s *= 2;
            }
            twice(&mut network.ceiling.read_iops);
            twice(&mut network.ceiling.write_iops);
            twice(&mut network.ceiling.read_bytes_per_s);
            twice(&mut network.ceiling.write_bytes_per_s);
            twice(&mut network.ceiling.total_bytes_per_s);
        });
        design.volumes[self.volume_idx()].capacity_bytes *= 2;
        self.keep("a second volume with the same quota", design);
    }

    fn egress(&mut self) {
        if self.design.clients.is_empty() {
            return self.machine(CapKind::VmEgress);
        }
        self.another_client();
    }

    /// Tries more connections of the clients with the fewest: twice as many where no need says.
    fn slots(&mut self) {
        let connections = self.design.clients.iter().map(|client| client.connections);
        let fewest = u64::from(connections.min().unwrap_or(CONNECTIONS_MAX));
        let limit = u64::from(CONNECTIONS_MAX);
        let most = if self.goal.is_some() { limit } else { limit.min(fewest * 2) };
        let wanted = self.goal.unwrap_or(f64::INFINITY);
        self.keep_least_number((fewest, most), wanted, |tries, connections| {
            let mut design = tries.design.clone();
            for client in &mut design.clients {
                client.connections = client.connections.max(connections as u16);
            }
            Some((format!("nconnect={connections}"), design, tries.flows.to_vec()))
        });
        self.another_client();
    }

    /// Tries more clients like the last: one where no need says.
    fn another_client(&mut self) {
        let Some(client) = self.design.clients.last().cloned() else { return };
        let most = if self.goal.is_some() { CLIENTS_MAX } else { 1 };
        let wanted = self.goal.unwrap_or(f64::INFINITY);
        self.keep_least_number((0, most), wanted, |tries, n_more| {
            let change = match n_more {
                1 => "one more client".to_owned(),
                _ => format!("{n_more} more clients"),
            };
            let mut design = tries.design.clone();
            design.clients.resize(design.clients.len() + n_more as usize, client.clone());
            Some((change, design, tries.flows.to_vec()))
        });
    }
}

/// Returns how many disks all volumes have.
fn n_all_disks(design: &Design) -> usize {
    let disks = design.volumes.iter().map(|volume| match &volume.backing {
        Backing::Disks(stripe) if !stripe.is_local => stripe.disks.len(),
        Backing::Disks(_) | Backing::Network(_) => 0,
    });
    disks.sum()
}

/// Returns the larger tiers of a disk's family, smallest first, as disks with the same cache mode.
fn larger_tiers(design: &Design, disk: &Disk) -> Vec<Disk> {
    let Some(edition) = design.rows() else { return Vec::new() };
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
        larger.cap.iops = Some(limit(iops, design.mb_bytes));
        larger.cap.bytes = Some(limit(bytes, design.mb_bytes));
        tiers.push(larger);
    }
    tiers.sort_by_key(|tier| tier.size_bytes);
    tiers
}

fn limit(figure: &catalog::Figure, mb_bytes: u64) -> Limit {
    let origin = format!("{figure}: {} ({})", figure.source.title, figure.date());
    Limit { per_s: per_s(figure, mb_bytes), burst: None, origin }
}
