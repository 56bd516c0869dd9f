//! Machines that reach network volumes: how many of a size it takes.

use volume::design::service::connections_max;

use super::ask::Ask;
use crate::group::{MachineSize, SizeStanding};
use crate::market::Market;
use crate::need::Need;
use crate::price::Price;
use crate::uses::{ROUNDING, times};

/// Connections that are usually best, by the service's page on mount options: others are taken
/// where more are needed.
const CONNECTIONS_USUAL: u32 = 8;

/// Most connections, where no source says.
const CONNECTIONS_MAX: u32 = 16;

/// How many machines reach the volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// So many.
    Exactly(u32),
    /// As few as carry the need, and no more than this.
    AtMost(u32),
}

impl Machines {
    /// Returns the numbers to try, fewest first.
    fn numbers(self) -> std::ops::RangeInclusive<u32> {
        match self {
            Machines::Exactly(number) => number.max(1)..=number.max(1),
            Machines::AtMost(most) => 1..=most.max(1),
        }
    }
}

/// Machines of one size, as few as carry the need.
#[derive(Clone, Debug)]
pub(super) struct Fleet<'m> {
    pub(super) size: &'m MachineSize,
    pub(super) n_machines: u32,
    /// Of all of them.
    pub(super) price: Price,
    /// How often their cards hold what is sent.
    pub(super) times: f64,
}

/// What all volumes ask of the machines.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    /// Bytes per second that are sent, the most of any phase.
    sent: f64,
    /// Calls in flight, the most of any phase.
    slots: f64,
    slots_per_connection: f64,
    connections_max: u32,
}

impl Traffic {
    /// Adds up what the volumes ask for.
    pub(super) fn of(market: &Market<'_>, asks: &[&Ask]) -> Self {
        let most = |of: fn(&Ask) -> &Vec<f64>| {
            let n_phases = asks.first().map_or(0, |ask| of(ask).len());
            let sum = |phase: usize| asks.iter().map(|ask| of(ask)[phase]).sum::<f64>();
            (0..n_phases).map(sum).fold(0.0, f64::max)
        };
        let known = connections_max(market.edition).map(|most| most as u32);
        let slots_per_connection = asks.iter().map(|ask| ask.slots_per_connection);
        Traffic {
            sent: most(|ask| &ask.sent),
            slots: most(|ask| &ask.slots),
            slots_per_connection: slots_per_connection.fold(f64::INFINITY, f64::min),
            connections_max: known.unwrap_or(CONNECTIONS_MAX),
        }
    }

    /// Returns how often the calls that so many machines and connections keep in flight are enough.
    fn slots_times(&self, n_machines: u32, connections: u32) -> f64 {
        let n_connections = f64::from(n_machines) * f64::from(connections);
        times(n_connections * self.slots_per_connection, self.slots)
    }

    /// Returns the connections of each machine that leave so much headroom, or as much as there can
    /// be, with the headroom that it comes to: the usual number, or more where that is better.
    pub(super) fn connections(&self, n_machines: u32, at_most: f64) -> (u32, f64) {
        let usual = CONNECTIONS_USUAL.min(self.connections_max);
        let of = |connections: u32| self.slots_times(n_machines, connections).min(at_most);
        let connections = (usual..=self.connections_max).find(|it| of(*it) >= at_most);
        let connections = connections.unwrap_or(self.connections_max);
        (connections, of(connections))
    }
}

/// Returns the machines of every size that carry the traffic.
pub(super) fn fleets<'m>(
    market: &'m Market<'_>,
    need: &Need,
    traffic: &Traffic,
    machines: Machines,
) -> Vec<Fleet<'m>> {
    let sizes = market.groups.iter().flat_map(|group| &group.machines);
    sizes.filter_map(|size| fleet(market, need, traffic, machines, size)).collect()
}

fn fleet<'m>(
    market: &Market<'_>,
    need: &Need,
    traffic: &Traffic,
    machines: Machines,
    size: &'m MachineSize,
) -> Option<Fleet<'m>> {
    let mut one = price_of(need, size)?;
    let egress = market.edition.vm(&size.name)?.egress().map(|figure| figure.per_s as f64);
    one.is_open |= egress.is_none();
    let card_times = |n_machines: u32| {
        let all = egress.map_or(f64::INFINITY, |egress| egress * f64::from(n_machines));
        times(all, traffic.sent)
    };
    let is_enough = |n_machines: &u32| {
        let slots = traffic.slots_times(*n_machines, traffic.connections_max);
        card_times(*n_machines).min(slots) >= 1.0 - ROUNDING
    };
    let n_machines = machines.numbers().find(is_enough)?;
    let price = (0..n_machines).fold(Price::default(), |sum, _| sum + one);
    Some(Fleet { size, n_machines, price, times: card_times(n_machines) })
}

/// Returns what a machine costs, with what is not known of it; `None` where it is too small.
fn price_of(need: &Need, machine: &MachineSize) -> Option<Price> {
    match machine.standing(need) {
        SizeStanding::TooSmall => None,
        SizeStanding::Enough => Some(machine.price),
        SizeStanding::Unknown => Some(Price { is_open: true, ..machine.price }),
    }
}
