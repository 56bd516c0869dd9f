//! A design under a load: every cap on the way of an I/O, what it carries, and which one binds.
//!
//! Each cap has so much per second and each I/O of the load costs so much of it; the quotient is
//! the rate that this cap allows. The smallest binds. Volumes at work at once share the caps of
//! their machine, pool and clients: each gets what it needs or its turns at what is left.

use super::bound::Bound;
use super::flow::{CapUse, Done, Scope};
use super::path;
use super::queue;
use crate::cap::CapKind;
use crate::design::Design;
use crate::load::{Flow, Load};

/// Returns what one volume does while the others rest.
///
/// # Panics
/// If there is no such volume, or the load is none: see [`Load`].
pub fn alone(design: &Design, volume: u16, load: &Load) -> Done {
    let flow = Flow { volume, load: *load, demand: None };
    together(design, &[flow]).pop().expect("one flow gives one answer")
}

/// Returns what the volumes do at once.
///
/// # Panics
/// If a flow names a volume that is not there, or its load or its rate is none.
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
    volume: u16,
    caps: Vec<CapUse>,
    /// Equal shares that it has of the caps in common with others, beside theirs.
    weight: f64,
    /// Latency without load, seconds.
    latency_s: f64,
    demand: Option<f64>,
}

impl Path {
    fn new(design: &Design, flow: &Flow) -> Self {
        flow.check(design);
        let latency_s = path::latency_s(design, flow.volume, &flow.load);
        let mut caps = path::caps(design, flow.volume, &flow.load);
        if let Some(queue_depth) = flow.load.queue_depth {
            caps.push(CapUse {
                bound: Bound::QueueDepth,
                scope: Scope::Volume(flow.volume),
                name: format!("{queue_depth} in flight"),
                side: None,
                per_s: queue::rate(f64::from(queue_depth), latency_s),
                per_io: 1.0,
                origin: "Little's law".to_owned(),
                credits: None,
            });
        }
        let weight = path::weight(design, flow.volume);
        Path { volume: flow.volume, caps, weight, latency_s, demand: flow.demand }
    }

    /// Returns what an I/O of this flow costs of another flow's cap.
    fn cost(&self, of: &CapUse) -> f64 {
        self.caps.iter().find(|cap| cap.is_same(of)).map_or(0.0, |cap| cap.per_io)
    }
}

/// Shares the caps, and returns each rate with the position of the cap in its path that holds it.
///
/// Of a cap that cannot carry what all need of it, everybody gets what it needs or its part,
/// whichever is less; what some do not need of their parts, because they ask for less or another
/// cap holds them, is left to the others. So each flow has what it asks for, or there is a cap of
/// which all is used and none with a larger part than it: bottleneck max fairness (Bonald and
/// Roberts, "Multi-resource fairness", SIGMETRICS 2015), which is what a run settles at.
///
/// What a flow needs of one cap hangs on its parts of the others, so the caps are filled in turn
/// until nothing changes.
fn fill(paths: &[Path]) -> (Vec<f64>, Vec<Option<usize>>) {
    let caps = Common::all(paths);
    let mut bounds: Vec<Vec<f64>> =
        paths.iter().map(|path| vec![f64::INFINITY; path.caps.len()]).collect();
    let mut rates: Vec<f64> = Vec::new();
    for sweep_idx in 0..SWEEPS_MAX {
        for cap in &caps {
            let needs: Vec<f64> = cap.users.iter().map(|user| need(paths, &bounds, user)).collect();
            for (user, bound) in cap.users.iter().zip(cap.share(&needs)) {
                let known = &mut bounds[user.flow][user.cap];
                // Steps half as long, where whole ones go to and fro.
                let is_slow = sweep_idx >= SWEEPS_WHOLE && known.is_finite() && bound.is_finite();
                *known = if is_slow { f64::midpoint(*known, bound) } else { bound };
            }
        }
        let before = std::mem::replace(&mut rates, rates_of(paths, &bounds));
        let is_still = |(a, b): (&f64, &f64)| (a - b).abs() <= STILL * b.abs();
        if before.len() == rates.len() && rates.iter().zip(&before).all(is_still) {
            break;
        }
    }
    let held = |(idx, path): (usize, &Path)| {
        let least = (0..path.caps.len()).min_by(|a, b| bounds[idx][*a].total_cmp(&bounds[idx][*b]));
        least.filter(|cap| bounds[idx][*cap] < path.demand.unwrap_or(f64::INFINITY))
    };
    let held = paths.iter().enumerate().map(held).collect();
    (rates, held)
}

/// Most rounds over all caps. Two or three are usual.
const SWEEPS_MAX: usize = 1000;

/// Rounds after which each goes half as far as it would.
const SWEEPS_WHOLE: usize = 50;

/// Change of a rate that is rounding, as a share of it.
const STILL: f64 = 1e-12;

/// Returns what each flow has: what it asks for, or the least that a cap leaves to it.
fn rates_of(paths: &[Path], bounds: &[Vec<f64>]) -> Vec<f64> {
    let rate = |(path, bounds): (&Path, &Vec<f64>)| {
        bounds.iter().copied().fold(path.demand.unwrap_or(f64::INFINITY), f64::min)
    };
    paths.iter().zip(bounds).map(rate).collect()
}

/// Returns the most that a flow can use of a cap: what it asks for, as far as its other caps carry
/// that.
fn need(paths: &[Path], bounds: &[Vec<f64>], user: &User) -> f64 {
    let others = bounds[user.flow].iter().enumerate().filter(|(idx, _)| *idx != user.cap);
    let asked = paths[user.flow].demand.unwrap_or(f64::INFINITY);
    others.map(|(_, bound)| *bound).fold(asked, f64::min)
}

/// A cap with the flows that meet it.
struct Common {
    per_s: f64,
    users: Vec<User>,
    /// The users by volume, each with its weight.
    lines: Vec<(f64, Vec<usize>)>,
}

/// One flow at a cap.
struct User {
    flow: usize,
    /// Position of the cap in the flow's path.
    cap: usize,
    per_io: f64,
}

impl Common {
    /// Returns every cap once. What goes to one volume stands in one line there, first come, first
    /// served: flows on it have a share of a shared cap together. Its own caps, and the slots of
    /// clients, have but one line.
    fn all(paths: &[Path]) -> Vec<Common> {
        let mut seen: Vec<(&CapUse, Common)> = Vec::new();
        for (flow, path) in paths.iter().enumerate() {
            for (cap_idx, cap) in path.caps.iter().enumerate() {
                let user = User { flow, cap: cap_idx, per_io: cap.per_io };
                if let Some((_, common)) = seen.iter_mut().find(|(known, _)| known.is_same(cap)) {
                    common.users.push(user);
                    continue;
                }
                let (per_s, users, lines) = (cap.per_s, vec![user], Vec::new());
                seen.push((cap, Common { per_s, users, lines }));
            }
        }
        for (cap, common) in &mut seen {
            let are_slots = cap.bound == Bound::Cap(CapKind::NfsSlots);
            let mut volumes: Vec<u16> = Vec::new();
            for (idx, user) in common.users.iter().enumerate() {
                let path = &paths[user.flow];
                let volume = if are_slots { u16::MAX } else { path.volume };
                if let Some(at) = volumes.iter().position(|known| *known == volume) {
                    common.lines[at].1.push(idx);
                    continue;
                }
                volumes.push(volume);
                common.lines.push((path.weight, vec![idx]));
            }
        }
        seen.into_iter().map(|(_, common)| common).collect()
    }

    /// Returns what each user may have at most; infinite where all have what they need.
    fn share(&self, needs: &[f64]) -> Vec<f64> {
        let (n_needs, n_users) = (needs.len(), self.users.len());
        assert_eq!(n_needs, n_users, "{n_needs} needs of {n_users} users of a cap");
        let of_line = |(_, users): &(f64, Vec<usize>)| {
            users.iter().map(|idx| needs[*idx] * self.users[*idx].per_io).sum::<f64>()
        };
        let wanted: Vec<f64> = self.lines.iter().map(of_line).collect();
        let mut bounds = vec![f64::INFINITY; needs.len()];
        if wanted.iter().sum::<f64>() < self.per_s * (1.0 - STILL) {
            return bounds;
        }
        let weights = || self.lines.iter().map(|(weight, _)| *weight);
        let level = level(self.per_s, &wanted.iter().copied().zip(weights()).collect::<Vec<_>>());
        for (weight, users) in &self.lines {
            let of = |idx: &usize| {
                let per_io = self.users[*idx].per_io;
                (needs[*idx] * per_io, per_io)
            };
            let in_line: Vec<(f64, f64)> = users.iter().map(of).collect();
            // In a line each gets as many I/Os as the others.
            let rate = self::level(level * weight, &in_line);
            for idx in users {
                bounds[*idx] = rate;
            }
        }
        bounds
    }
}

/// Returns how high a cap fills, per weight, users with a need and a weight each: up to their needs
/// where these are lower. Where all needs fit, as high as it takes if one grew.
fn level(per_s: f64, users: &[(f64, f64)]) -> f64 {
    let mut order: Vec<&(f64, f64)> = users.iter().collect();
    let height = |(need, weight): &(f64, f64)| need / weight;
    order.sort_by(|a, b| height(a).total_cmp(&height(b)));
    let (mut left, mut weights) = (per_s, users.iter().map(|(_, weight)| weight).sum::<f64>());
    for (served_idx, user) in order.iter().enumerate() {
        let is_last = served_idx + 1 == order.len();
        if is_last || height(user) * weights >= left {
            break;
        }
        left -= user.0;
        weights -= user.1;
    }
    (left / weights).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_of_a_cap_has_a_need() {
        let user = User { flow: 0, cap: 0, per_io: 1.0 };
        let common = Common { per_s: 100.0, users: vec![user], lines: vec![(1.0, vec![0])] };
        assert_eq!(common.share(&[200.0]), [100.0]);
        testing::check_wrong_calls(&[("two of one", "2 needs of 1 users of a cap", &|| {
            _ = common.share(&[200.0, 50.0]);
        })]);
    }
}
