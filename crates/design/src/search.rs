//! The search: every machine, every way to carry each volume, with bounds.
//!
//! Machines of equal limits are one group. For each group, each set of volumes that its host cache
//! serves, and each set of classes of disks that it has limits for, the volumes are gone through
//! one after the other. A combination is left out where the least that the rest costs, with the
//! places for disks that are left, makes it dearer than the worst design that is kept; where the
//! least that the rest takes is more than the machine has; and where enough other combinations are
//! cheaper and take no more of anything that the rest may need.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use volume::CacheMode;
use volume::design::{BUCKET_WINDOW_NS_DEFAULT, LOCAL};

use crate::candidate::{Candidate, Month, VolumeContext};
use crate::group::{Caps, Classes, Group, MachineSize, SizeStanding};
use crate::market::Market;
use crate::need::{Need, NeedError, VolumeUse, hit_ratio};
use crate::on_local;
use crate::on_machine::OnMachine;
use crate::price::Price;
use crate::rank::{ChosenDisks, HEADROOM_STEP, Ranked, TopDesigns, Wanted};
use crate::uses::{N_MACHINE, ROUNDING, times};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// So much more than is asked must every cap carry: 0.2 is a fifth.
    pub headroom: f64,
    /// How many designs to keep, at least 1.
    pub n_kept: usize,
    /// Let the host cache hold what was written, which a crash loses unless it was flushed.
    pub allows_write_back: bool,
    /// Leave out designs of which a limit, memory or processors are not known.
    pub is_known_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { headroom: 0.0, n_kept: 10, allows_write_back: false, is_known_only: false }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// The best designs, each the best of its machine and types of disk, in order.
    pub designs: Vec<Ranked>,
    /// Machines that were looked at.
    pub n_machines: usize,
    /// A volume may be on local disks, and no source gives those of any machine there.
    pub lacks_local: bool,
}

/// Searches the best designs for a need.
pub fn search(
    market: &Market<'_>,
    need: &Need,
    options: &Options,
) -> Result<SearchResult, NeedError> {
    search_watched(market, need, options, &mut |_, _| {})
}

/// The same as [`search()`], and calls `on_group` after each group of machines, with how many were
/// gone through and how many there are.
pub fn search_watched(
    market: &Market<'_>,
    need: &Need,
    options: &Options,
    on_group: &mut dyn FnMut(usize, usize),
) -> Result<SearchResult, NeedError> {
    let wanted = if options.is_known_only { Wanted::Known } else { Wanted::All };
    search_wanted(market, need, (options, wanted), on_group)
}

/// The same as [`search_watched()`], of the designs that are wanted.
pub(crate) fn search_wanted(
    market: &Market<'_>,
    need: &Need,
    (options, wanted): (&Options, Wanted<'_>),
    on_group: &mut dyn FnMut(usize, usize),
) -> Result<SearchResult, NeedError> {
    need.check()?;
    let asked = need.times(1.0 + options.headroom);
    let months = need.volumes.iter().map(|volume| Month::of(volume, market.terms.month_hours));
    let mut search = Search {
        market,
        need: &asked,
        options,
        wanted,
        months: months.collect(),
        known: HashMap::new(),
        on_local: HashMap::new(),
        top: TopDesigns::new(options.n_kept.max(1), wanted),
    };
    let mut n_machines = 0;
    for (idx, group) in market.groups.iter().enumerate() {
        n_machines += search.group(group);
        on_group(idx + 1, market.groups.len());
    }
    let mut designs = search.top.take();
    for design in &mut designs {
        let headroom = (design.headroom + 1.0) * (1.0 + options.headroom) - 1.0;
        // A cap that is asked for all of what it carries leaves nothing, and not a trifle less.
        design.headroom = if headroom.abs() < HEADROOM_STEP { 0.0 } else { headroom };
    }
    let has_temp = need.volumes.iter().any(|volume| volume.usage == VolumeUse::Temp);
    let lacks_local = has_temp && market.terms.allows_local() && market.locals.is_empty();
    Ok(SearchResult { designs, n_machines, lacks_local })
}

type List = Rc<Vec<Candidate>>;

struct Search<'a, 'e> {
    market: &'a Market<'e>,
    need: &'a Need,
    options: &'a Options,
    wanted: Wanted<'a>,
    months: Vec<Month>,
    /// Candidates by volume, cache mode and hit ratio.
    known: HashMap<(usize, CacheMode, u64), List>,
    /// Local disks by volume and their position.
    on_local: HashMap<(usize, usize), Vec<Candidate>>,
    top: TopDesigns,
}

impl<'e> Search<'_, 'e> {
    /// Searches a group; returns how many of its machines could be taken.
    fn group(&mut self, group: &'e Group) -> usize {
        let machines: Vec<(&MachineSize, Price)> =
            group.machines.iter().filter_map(|it| Some((it, self.price_of(it)?))).collect();
        let n_machines = machines.len();
        if machines.is_empty() {
            return 0;
        }
        for (local, machines) in self.by_local(machines) {
            self.machines(group, local, &machines);
        }
        n_machines
    }

    /// Returns the machines by their local disks; together where no volume may be put on these.
    #[expect(clippy::type_complexity, reason = "machines by the position of their disks")]
    fn by_local(
        &self,
        machines: Vec<(&'e MachineSize, Price)>,
    ) -> Vec<(Option<usize>, Vec<(&'e MachineSize, Price)>)> {
        if !self.need.volumes.iter().any(|volume| volume.usage == VolumeUse::Temp) {
            return vec![(None, machines)];
        }
        let mut by_local: BTreeMap<Option<usize>, Vec<(&MachineSize, Price)>> = BTreeMap::new();
        for (machine, price) in machines {
            by_local.entry(machine.local).or_default().push((machine, price));
        }
        by_local.into_iter().collect()
    }

    /// Searches machines of equal limits and equal local disks.
    fn machines(
        &mut self,
        group: &Group,
        local: Option<usize>,
        machines: &[(&MachineSize, Price)],
    ) {
        let sizes = Sizes::new(machines);
        for caps in &group.limits.caps {
            if caps.sets == [0] && local.is_none() {
                continue;
            }
            let is_open = caps.is_open || group.limits.n_disks_max.is_none();
            for served in self.sets_served(caps) {
                let Some(lists) = self.lists(group, caps, served, local) else { continue };
                let floor = sizes.cheapest + lists.iter().map(floor).fold_prices();
                if self.top.is_beyond(Price { is_open: floor.is_open || is_open, ..floor }) {
                    continue;
                }
                let start = Partial::new(self.need.phases().len(), is_open);
                let mut walk = Walk::new(self, group, caps, sizes, &lists);
                // Good designs to begin with leave few others to be looked at.
                if lists.len() > N_VOLUMES_FEW {
                    walk.run(&start, WIDTH_FIRST);
                }
                walk.run(&start, usize::MAX);
            }
        }
    }

    /// Returns what a machine costs, with what is not known of it; `None` where it is too small.
    fn price_of(&self, machine: &MachineSize) -> Option<Price> {
        match (machine.standing(self.need), self.wanted) {
            (SizeStanding::TooSmall, _) | (SizeStanding::Enough, Wanted::SizeUnknown { .. }) => {
                None
            }
            (SizeStanding::Enough, Wanted::All | Wanted::Known) => Some(machine.price),
            (SizeStanding::Unknown, Wanted::SizeUnknown { series, vcpus, .. }) => {
                let is_it = machine.series() == series && machine.has_vcpus(vcpus);
                Some(machine.price).filter(|_| is_it)
            }
            (SizeStanding::Unknown, Wanted::All | Wanted::Known) => {
                Some(Price { is_open: true, ..machine.price })
            }
        }
    }

    /// Returns every set of volumes that the host cache could serve, a bit for each: those with a
    /// known working set that are no logs.
    fn sets_served(&self, caps: &Caps) -> Vec<u32> {
        if caps.cache_bytes.is_none() {
            return vec![0];
        }
        let volumes = self.need.volumes.iter().enumerate();
        let may = volumes.filter(|(_, volume)| volume.may_cache());
        let all = may.fold(0_u32, |all, (idx, _)| all | 1 << idx);
        // Every set of bits of `all`.
        let next = |set: &u32| (*set != all).then(|| (set.wrapping_sub(all)) & all);
        std::iter::successors(Some(0), next).collect()
    }

    /// Returns the candidates of each volume; `None` where one has none.
    fn lists(
        &mut self,
        group: &Group,
        caps: &Caps,
        served: u32,
        local: Option<usize>,
    ) -> Option<Vec<List>> {
        let volumes = self.need.volumes.iter().enumerate();
        let served_volumes = volumes.filter(|(idx, _)| served & 1 << idx != 0);
        let total: f64 = served_volumes.map(|(_, volume)| volume.cached_gib()).sum();
        let shared = hit_ratio(caps.cache_bytes, total);
        let mut lists = Vec::new();
        for volume in 0..self.need.volumes.len() {
            let is_served = served & 1 << volume != 0;
            let modes: &[CacheMode] = match (is_served, self.options.allows_write_back) {
                (false, _) => &[CacheMode::None],
                (true, false) => &[CacheMode::ReadOnly],
                (true, true) => &[CacheMode::ReadOnly, CacheMode::ReadWrite],
            };
            let hit_ratio = self.need.volumes[volume].hit_share.unwrap_or(shared);
            let of = |mode: &CacheMode| self.list(volume, *mode, hit_ratio);
            let of: Vec<List> = modes.iter().map(of).collect();
            let list = joined(&of);
            let is_class = |it: &&Candidate| {
                let Some(kind) = it.kind.map(|idx| &self.market.kinds[idx]) else { return true };
                let is_of_sets = caps.sets.iter().any(|set| set & 1 << kind.class != 0);
                is_of_sets
                    && (group.limits.takes_premium || !kind.needs_premium)
                    && (group.limits.is_nitro || kind.fits_without_nitro(it.iops))
            };
            let all_fit = list.iter().all(|it| is_class(&it));
            let mut list = if all_fit {
                list
            } else {
                Rc::new(list.iter().filter(is_class).cloned().collect())
            };
            if let Some(local) = local.filter(|_| !is_served) {
                let on_local = self.on_local(volume, local, caps);
                if !on_local.is_empty() {
                    // They cost nothing.
                    list = Rc::new([&on_local, list.as_slice()].concat());
                }
            }
            if list.is_empty() {
                return None;
            }
            lists.push(list);
        }
        Some(lists)
    }

    /// Returns the local disks that carry a volume whose contents may be lost.
    fn on_local(&mut self, volume: usize, idx: usize, caps: &Caps) -> Vec<Candidate> {
        if self.need.volumes[volume].usage != VolumeUse::Temp {
            return Vec::new();
        }
        let (market, local) = (self.market, self.market.locals.get(idx));
        let found = self.on_local.entry((volume, idx)).or_insert_with(|| {
            let (cache, month) = (CacheMode::None, self.months[volume]);
            let context = VolumeContext { need: self.need, volume, cache, hit_ratio: 0.0, month };
            on_local::candidates(&context, local, market)
        });
        let is_open = on_local::is_open(local, caps);
        let open =
            |it: &Candidate| Candidate { price: Price { is_open, ..it.price }, ..it.clone() };
        found.iter().map(open).collect()
    }

    fn list(&mut self, volume: usize, cache: CacheMode, hit_ratio: f64) -> List {
        let hit_ratio = if cache == CacheMode::None { 0.0 } else { hit_ratio };
        let key = (volume, cache, hit_ratio.to_bits());
        if let Some(known) = self.known.get(&key) {
            return Rc::clone(known);
        }
        let month = self.months[volume];
        let context = VolumeContext { need: self.need, volume, cache, hit_ratio, month };
        let list = Rc::new(context.candidates(self.market, self.market.n_disks_max));
        self.known.insert(key, Rc::clone(&list));
        list
    }
}

fn joined(lists: &[List]) -> List {
    if lists.len() == 1 {
        return Rc::clone(&lists[0]);
    }
    let mut all: Vec<Candidate> = lists.iter().flat_map(|list| list.iter().cloned()).collect();
    all.sort_by_key(|it| it.price);
    Rc::new(all)
}

/// Returns the least that any of a list costs, part by part.
fn floor(list: &List) -> Price {
    let least = list.iter().map(|it| it.price).reduce(Price::floor);
    least.expect("a volume without candidates has no list")
}

trait FoldPrices: Iterator<Item = Price> + Sized {
    fn fold_prices(self) -> Price {
        self.fold(Price::default(), |sum, price| sum + price)
    }
}

impl<I: Iterator<Item = Price>> FoldPrices for I {}

/// Disks of the first volumes.
#[derive(Clone, Debug)]
struct Partial {
    price: Price,
    /// No design made of it costs less, without the machine.
    floor: Price,
    n_disks: u32,
    n_local: u32,
    classes: Classes,
    times: f64,
    uses: Vec<[f64; N_MACHINE]>,
    /// What an I/O of the captured series takes of the machine, by volume.
    per_io: Vec<[f64; N_MACHINE]>,
    /// Positions in the lists.
    taken: Vec<usize>,
    /// Types of the disks; `None` for those of the machine itself.
    kinds: Vec<Option<usize>>,
    /// Types whose base per machine a volume has.
    bases: BTreeSet<usize>,
}

impl Partial {
    fn new(n_phases: usize, is_open: bool) -> Self {
        Partial {
            price: Price { is_open, ..Price::default() },
            floor: Price::default(),
            n_disks: 0,
            n_local: 0,
            classes: 0,
            times: f64::INFINITY,
            uses: vec![[0.0; N_MACHINE]; n_phases],
            per_io: Vec::new(),
            taken: Vec::new(),
            kinds: Vec::new(),
            bases: BTreeSet::new(),
        }
    }

    /// Returns whether each design made of the other one has a cheaper one made of this, with the
    /// same disks for the volumes to come.
    fn is_cheaper_for_all(&self, other: &Partial) -> bool {
        let unknown = |it: &Partial| (it.price.is_open, it.price.is_unpriced);
        // What is added to both leaves the order of such prices as it is.
        let is_cheaper = unknown(self) == unknown(other) && self.price < other.price;
        let least = |it: &[[f64; N_MACHINE]], of: &[[f64; N_MACHINE]]| {
            it.as_flattened().iter().zip(of.as_flattened()).all(|(it, of)| it <= of)
        };
        is_cheaper
            && self.n_disks <= other.n_disks
            && self.n_local <= other.n_local
            && self.classes == other.classes
            && self.bases == other.bases
            && least(&self.uses, &other.uses)
            && least(&self.per_io, &other.per_io)
    }
}

/// Returns the least that a volume and those behind it cost by the places that are left, from what
/// those behind it cost.
fn least_usd(list: &List, behind: &[u64]) -> Vec<u64> {
    let of = |n_left: usize| {
        let costs = list.iter().filter_map(|it| {
            let behind = behind[n_left.checked_sub(it.n_disks as usize)?];
            Some(behind.saturating_add(it.price.micro_usd))
        });
        costs.min().unwrap_or(u64::MAX)
    };
    (0..behind.len()).map(of).collect()
}

/// Volumes of which all combinations are few.
const N_VOLUMES_FEW: usize = 3;

/// Combinations that are followed for a first set of designs.
const WIDTH_FIRST: usize = 24;

/// Leaves out what cannot be part of the best `n_kept` designs: so many of other types of disks are
/// cheaper, or one of the same types is, whatever comes for the other volumes. Of a machine and
/// types of disks one design is among the best.
fn best_of(mut all: Vec<Partial>, n_kept: usize, width: usize) -> Vec<Partial> {
    // What is cheaper for all has the lower floor, too.
    all.sort_by_key(|it| it.floor);
    let mut best: Vec<Partial> = Vec::new();
    for partial in all {
        if best.len() == width {
            break;
        }
        let mut others: Vec<&[Option<usize>]> = Vec::new();
        let is_left_out = best.iter().any(|known| {
            if !known.is_cheaper_for_all(&partial) {
                return false;
            }
            if !others.contains(&&*known.kinds) {
                others.push(&known.kinds);
            }
            known.kinds == partial.kinds || others.len() >= n_kept
        });
        if !is_left_out {
            best.push(partial);
        }
    }
    best
}

/// The least that the volumes from one on take.
#[derive(Clone, Debug)]
struct RemainingLeast {
    price: Price,
    /// The least of what is priced, millionths of a US dollar, by the places for disks that are
    /// left; `u64::MAX` where these are too few.
    micro_usd: Vec<u64>,
    uses: Vec<[f64; N_MACHINE]>,
}

/// Machines that may be taken, at least one, with their prices.
#[derive(Clone, Copy)]
struct Sizes<'a> {
    all: &'a [(&'a MachineSize, Price)],
    cheapest: Price,
}

impl<'a> Sizes<'a> {
    fn new(all: &'a [(&'a MachineSize, Price)]) -> Self {
        let cheapest = all.iter().map(|(_, price)| *price).min();
        Sizes { all, cheapest: cheapest.expect("machines of a group that has some") }
    }
}

/// Goes through the candidates of one group with one set of caps.
struct Walk<'a, 'e> {
    market: &'a Market<'e>,
    caps: &'a Caps,
    sizes: Sizes<'a>,
    n_disks_max: u32,
    n_local_max: u32,
    lists: &'a [List],
    rest: Vec<RemainingLeast>,
    /// What was captured, beside the machine.
    series: Option<OnMachine<'a>>,
    top: &'a mut TopDesigns,
}

impl<'a, 'e> Walk<'a, 'e> {
    fn new(
        search: &'a mut Search<'_, 'e>,
        group: &Group,
        caps: &'a Caps,
        sizes: Sizes<'a>,
        lists: &'a [List],
    ) -> Self
    where
        'e: 'a,
    {
        let n_phases = search.need.phases().len();
        let n_disks_max = group.limits.n_disks_max.unwrap_or(search.market.n_disks_max);
        let none = RemainingLeast {
            price: Price::default(),
            micro_usd: vec![0; n_disks_max as usize + 1],
            uses: vec![[0.0; N_MACHINE]; n_phases],
        };
        let mut rest = vec![none];
        for list in lists.iter().rev() {
            let mut next = rest[0].clone();
            next.price = next.price + floor(list);
            next.micro_usd = least_usd(list, &rest[0].micro_usd);
            for (phase, sums) in next.uses.iter_mut().enumerate() {
                for (cap, sum) in sums.iter_mut().enumerate() {
                    let least = list.iter().map(|it| it.uses[phase][cap]);
                    *sum += least.fold(f64::INFINITY, f64::min);
                }
            }
            rest.insert(0, next);
        }
        let (market, top) = (search.market, &mut search.top);
        let local = sizes.all[0].0.local;
        let n_local_max = local.map_or(0, |idx| market.locals.get(idx).n_disks);
        let window_s = BUCKET_WINDOW_NS_DEFAULT as f64 / 1e9;
        let series = OnMachine::of(search.need, caps, window_s);
        Walk { market, caps, sizes, n_disks_max, n_local_max, lists, rest, series, top }
    }

    /// Goes through the volumes, one after the other, and offers what carries all of them. After
    /// each volume the cheapest are followed, at most `width`.
    fn run(&mut self, start: &Partial, width: usize) {
        let lists = self.lists;
        let mut partials = vec![start.clone()];
        for (volume, list) in lists.iter().enumerate() {
            let mut next = Vec::new();
            for partial in &partials {
                next.extend(list.iter().enumerate().filter_map(|(idx, candidate)| {
                    self.with_next(volume, partial, (idx, candidate))
                }));
            }
            partials = best_of(next, self.top.n_kept(), width);
            // More volumes take more of it.
            if let Some(series) = &self.series {
                partials.retain(|it| series.is_carried(&it.uses, &it.per_io));
            }
        }
        for partial in &partials {
            self.offer(partial);
        }
    }

    /// Adds a candidate for a volume; `None` where no design among the best can come of it.
    fn with_next(
        &self,
        volume: usize,
        partial: &Partial,
        (idx, candidate): (usize, &Candidate),
    ) -> Option<Partial> {
        // The first volume with disks of a type has what the machine has once for all of them.
        let of_kind = candidate.kind.filter(|_| candidate.has_base.is_some());
        let is_first = of_kind.map(|kind| !partial.bases.contains(&kind));
        if candidate.has_base != is_first {
            return None;
        }
        let rest = &self.rest[volume + 1];
        let price = partial.price + candidate.price;
        let n_disks = partial.n_disks + candidate.n_disks;
        let n_local = partial.n_local + candidate.n_local;
        let class = candidate.kind.map_or(0, |idx| 1 << self.market.kinds[idx].class);
        let classes = partial.classes | class;
        let n_left = self.n_disks_max.checked_sub(n_disks)?;
        let micro_usd = rest.micro_usd[n_left as usize];
        let floor = price + Price { micro_usd, ..rest.price };
        if micro_usd == u64::MAX
            || self.top.is_beyond(floor + self.sizes.cheapest)
            || n_local > self.n_local_max
            || !self.caps.sets.iter().any(|set| classes & !set == 0)
        {
            return None;
        }
        let mut uses = partial.uses.clone();
        if !self.add(&mut uses, candidate, volume + 1) {
            return None;
        }
        Some(Partial {
            price,
            floor,
            n_disks,
            n_local,
            classes,
            times: partial.times.min(candidate.times),
            uses,
            per_io: [&partial.per_io[..], &[candidate.per_io]].concat(),
            taken: [&partial.taken[..], &[idx]].concat(),
            kinds: [&partial.kinds[..], &[candidate.kind]].concat(),
            bases: partial.bases.iter().copied().chain(of_kind).collect(),
        })
    }

    /// Adds what a candidate takes of the machine; says whether the machine carries it with the
    /// least that the rest takes.
    fn add(&self, uses: &mut [[f64; N_MACHINE]], candidate: &Candidate, rest: usize) -> bool {
        let rest = &self.rest[rest];
        for (phase, sums) in uses.iter_mut().enumerate() {
            for (cap, sum) in sums.iter_mut().enumerate() {
                *sum += candidate.uses[phase][cap];
                let least = *sum + rest.uses[phase][cap];
                if times(self.most(cap), least) < 1.0 - ROUNDING {
                    return false;
                }
            }
        }
        true
    }

    /// Returns the most that a cap of the machine carries: its burst, where credits may count.
    fn most(&self, cap: usize) -> f64 {
        let credits = self.caps.credits[cap].filter(|_| self.series.is_some());
        credits.map_or(self.caps.per_s[cap], |credits| credits.burst)
    }

    /// Offers what was put together, on every machine of the group.
    fn offer(&mut self, partial: &Partial) {
        if !self.caps.sets.contains(&partial.classes) {
            return;
        }
        let of_phase = |uses: &[f64; N_MACHINE]| {
            let pairs = self.caps.per_s.iter().zip(uses);
            pairs.map(|(cap, used)| times(*cap, *used)).fold(f64::INFINITY, f64::min)
        };
        let of_machine = match &self.series {
            Some(series) => series.times(&partial.uses, &partial.per_io),
            None => partial.uses.iter().map(of_phase).fold(f64::INFINITY, f64::min),
        };
        let headroom = partial.times.min(of_machine) - 1.0;
        for (machine, machine_price) in self.sizes.all {
            let price = partial.price + *machine_price;
            if self.top.is_beyond(price) {
                continue;
            }
            let chosen = partial.taken.iter().zip(self.lists);
            let chosen = chosen.map(|(idx, list)| chosen_of(self.market, &list[*idx]));
            self.top.offer(Ranked {
                machine: machine.name.clone(),
                interface: machine.interface,
                machine_price: *machine_price,
                volumes: chosen.collect(),
                price,
                headroom,
                n_parts: 1 + partial.n_disks,
            });
        }
    }
}

/// Returns the disks of a candidate.
pub(crate) fn chosen_of(market: &Market<'_>, candidate: &Candidate) -> ChosenDisks {
    let sku = candidate.kind.map(|idx| market.kinds[idx].sku);
    ChosenDisks {
        disk: sku.map_or(LOCAL.to_owned(), |sku| sku.name.clone()),
        n_disks: candidate.n_disks + candidate.n_local,
        cache: candidate.cache,
        chunk_bytes: candidate.chunk_bytes,
        size_bytes: candidate.size_bytes,
        is_sized: sku.is_some_and(catalog::Disk::is_free),
        iops: candidate.iops,
        throughput: candidate.throughput,
        price: candidate.price,
    }
}
