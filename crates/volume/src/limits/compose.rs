//! A design under a load: every cap on the way of an I/O, what it carries, and which one binds.
//!
//! Each cap has so much per second and each I/O of the load costs so much of it; the quotient is
//! the rate that this cap allows. The smallest binds. Volumes at work at once share the caps of
//! their machine, pool and clients: each gets what it needs or its turns at what is left.

use super::bound::Bound;
use super::path;
use super::queue;
use crate::design::Design;

/// What is asked of a volume: I/Os of one size and mix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Bytes per I/O, at least 1.
    pub size_bytes: u64,
    /// Offsets are multiples of this; the I/O's own size unless told.
    pub align_bytes: Option<u64>,
    /// Each follows the one before, and disks that merge such I/Os do; otherwise at random places.
    pub is_sequential: bool,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
    /// Share of reads that hit the host cache, 0 to 1; counts where there is a cache.
    pub hit_ratio: f64,
    /// I/Os in flight; `None` are as many as it takes.
    pub queue_depth: Option<u32>,
    /// Take burst rates, as they hold while credits last.
    pub with_credits: bool,
}

impl Load {
    /// Makes a load of aligned I/Os, without hits, without a limit on what is in flight, sustained.
    pub fn new(size_bytes: u64, read_share: f64) -> Self {
        let size_bytes = size_bytes.max(1);
        Load {
            size_bytes,
            align_bytes: None,
            is_sequential: false,
            read_share,
            hit_ratio: 0.0,
            queue_depth: None,
            with_credits: false,
        }
    }
}

/// Who shares a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One volume alone, by its position.
    Volume(u16),
    /// All volumes of the machine.
    Machine,
    /// The volumes of a pool, by its position.
    Pool(u16),
    /// All network volumes, which the same clients reach.
    Clients,
}

/// One cap on the way of an I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct CapUse {
    /// What it is.
    pub bound: Bound,
    /// Who shares it.
    pub scope: Scope,
    /// What it is, for people: `10 x P30`, `Standard_DS14`.
    pub name: String,
    /// What it carries, I/Os or bytes per second.
    pub per_s: f64,
    /// What one I/O of the load costs of it, more than 0.
    pub per_io: f64,
    /// Where its figure comes from.
    pub origin: String,
}

impl CapUse {
    /// Returns the rate that this cap alone would allow.
    pub fn rate(&self) -> f64 {
        self.per_s / self.per_io
    }

    /// Says whether it is the same cap, seen by another flow.
    fn is_same(&self, other: &CapUse) -> bool {
        (self.bound, self.scope, &self.name) == (other.bound, other.scope, &other.name)
    }
}

/// A load on one of the volumes of a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Position of the volume.
    pub volume: u16,
    /// What is asked.
    pub load: Load,
    /// How many I/Os per second are asked; `None` are all there are.
    pub demand: Option<f64>,
}

/// What a volume does under its load.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Position of the volume.
    pub volume: u16,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency where the number in flight is given, seconds.
    pub latency_s: Option<f64>,
    /// What binds; [`Bound::Nothing`] if the demand is met.
    pub binds: Bound,
    /// Every cap on the way, with the rate it leaves to this volume beside the others, the smallest
    /// first.
    pub caps: Vec<(CapUse, f64)>,
}

impl Done {
    /// Returns the cap that stands first.
    pub fn first(&self) -> Option<&CapUse> {
        self.caps.first().map(|(cap, _)| cap)
    }

    /// Returns the next cap and how far it lies above the first: 0.25 is a quarter more.
    pub fn next(&self) -> Option<(&CapUse, f64)> {
        let (first, next) = (self.caps.first()?, self.caps.get(1)?);
        Some((&next.0, super::bound::headroom(next.1, first.1)))
    }
}

/// Returns what one volume does while the others rest.
///
/// Panics if there is no such volume.
pub fn alone(design: &Design, volume: u16, load: &Load) -> Done {
    let flow = Flow { volume, load: *load, demand: None };
    together(design, &[flow]).pop().expect("one flow gives one answer")
}

/// Returns what the volumes do at once.
///
/// Panics if a flow names a volume that is not there.
pub fn together(design: &Design, flows: &[Flow]) -> Vec<Done> {
    let all: Vec<Path> = flows.iter().map(|flow| Path::new(design, flow)).collect();
    let (rates, held) = fill(&all);
    let answer = |(idx, flow): (usize, &Flow)| {
        let path = &all[idx];
        let mut caps: Vec<(CapUse, f64)> = Vec::new();
        for cap in &path.caps {
            let others = (0..all.len()).filter(|other| *other != idx);
            let used: f64 = others.map(|other| all[other].cost(cap) * rates[other]).sum();
            // At least an equal share is left, which is what it has.
            let left = ((cap.per_s - used) / cap.per_io).max(rates[idx]);
            caps.push((cap.clone(), left));
        }
        caps.sort_by(|a, b| a.1.total_cmp(&b.1));
        let binds = held[idx].map_or(Bound::Nothing, |cap_idx| path.caps[cap_idx].bound);
        put_first(&mut caps, held[idx].map(|cap_idx| &path.caps[cap_idx]));
        let iops = rates[idx];
        let load = &flow.load;
        let in_flight = load.queue_depth.filter(|_| iops > 0.0);
        Done {
            volume: flow.volume,
            iops,
            bytes_per_s: iops * load.size_bytes as f64,
            latency_s: in_flight
                .map(|depth| queue::latency_s(f64::from(depth), iops).max(path.latency_s)),
            binds,
            caps,
        }
    };
    flows.iter().enumerate().map(answer).collect()
}

/// Of caps that leave the same, the one that was found to bind stands first.
fn put_first(caps: &mut [(CapUse, f64)], binding: Option<&CapUse>) {
    let is_it = |(cap, _): &(CapUse, f64)| binding.is_some_and(|binding| cap.is_same(binding));
    if let Some(idx) = caps.iter().position(is_it) {
        caps[..=idx].rotate_right(1);
    }
}

/// The caps on the way of a flow.
struct Path {
    caps: Vec<CapUse>,
    /// Equal shares that it has of the caps in common with others, beside theirs.
    weight: f64,
    /// Latency without load, seconds.
    latency_s: f64,
    demand: Option<f64>,
}

impl Path {
    fn new(design: &Design, flow: &Flow) -> Self {
        let latency_s = path::latency_s(design, flow.volume, &flow.load);
        let mut caps = path::caps(design, flow.volume, &flow.load);
        if let Some(queue_depth) = flow.load.queue_depth {
            caps.push(CapUse {
                bound: Bound::QueueDepth,
                scope: Scope::Volume(flow.volume),
                name: format!("{queue_depth} in flight"),
                per_s: queue::rate(f64::from(queue_depth), latency_s),
                per_io: 1.0,
                origin: "Little's law".to_owned(),
            });
        }
        let weight = path::weight(design, flow.volume);
        Path { caps, weight, latency_s, demand: flow.demand }
    }

    /// Returns what an I/O of this flow costs of another flow's cap.
    fn cost(&self, of: &CapUse) -> f64 {
        self.caps.iter().find(|cap| cap.is_same(of)).map_or(0.0, |cap| cap.per_io)
    }
}

/// Shares the caps: of each one the flows have parts in the proportion of their weights, and what a
/// flow cannot use of its part is left to the others. Returns each rate with the position of the
/// cap in its path that holds it.
fn fill(paths: &[Path]) -> (Vec<f64>, Vec<Option<usize>>) {
    let mut rates = vec![0.0; paths.len()];
    let mut held = vec![None; paths.len()];
    let mut is_open = vec![true; paths.len()];
    while is_open.contains(&true) {
        let open = || (0..paths.len()).filter(|idx| is_open[*idx]);
        let least: Vec<(f64, Option<usize>)> =
            (0..paths.len()).map(|idx| least(paths, &rates, &is_open, idx)).collect();
        // Nobody who still shares a cap may leave more of it to a flow that is settled by it.
        let is_settled = |idx: &usize| {
            let Some(cap_idx) = least[*idx].1 else { return true };
            let cap = &paths[*idx].caps[cap_idx];
            let is_held = |other: usize| {
                let its = least[other].1.map(|cap_idx| &paths[other].caps[cap_idx]);
                its.is_some_and(|its| its.is_same(cap))
            };
            open().filter(|other| paths[*other].cost(cap) > 0.0).all(is_held)
        };
        let mut settled: Vec<usize> = open().filter(is_settled).collect();
        if settled.is_empty() {
            // Caps that hold as much as one another: the lowest goes first.
            let height = |idx: &usize| least[*idx].0 / paths[*idx].weight;
            settled.extend(open().min_by(|a, b| height(a).total_cmp(&height(b))));
        }
        for idx in settled {
            (rates[idx], held[idx]) = least[idx];
            is_open[idx] = false;
        }
    }
    (rates, held)
}

/// Returns the least of what a flow asks for and what its part of each of its caps carries, beside
/// the flows that are settled.
fn least(paths: &[Path], rates: &[f64], is_open: &[bool], idx: usize) -> (f64, Option<usize>) {
    let path = &paths[idx];
    let mut least = (path.demand.unwrap_or(f64::INFINITY), None);
    for (cap_idx, cap) in path.caps.iter().enumerate() {
        let (mut used, mut shares) = (0.0, 0.0);
        for (other_idx, other) in paths.iter().enumerate() {
            let cost = other.cost(cap);
            if cost <= 0.0 {
                continue;
            }
            if is_open[other_idx] {
                shares += other.weight;
            } else {
                used += cost * rates[other_idx];
            }
        }
        let share = ((cap.per_s - used) / shares).max(0.0);
        let rate = share * path.weight / cap.per_io;
        if rate < least.0 {
            least = (rate, Some(cap_idx));
        }
    }
    least
}
