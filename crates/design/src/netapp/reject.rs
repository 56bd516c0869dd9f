//! Why not a cheaper one: what comes next to a design at a lower price, and what rejects it.

use std::cmp::Reverse;

use super::machines::Machines;
use super::make::parse;
use super::rank::Ranked;
use super::search::Options;
use crate::judge::judge;
use crate::market::Market;
use crate::need::Need;
use crate::price::Price;
use crate::reject::{Rejected, why};

/// Most machine sizes that are returned.
const N_MACHINES: usize = 3;

/// Returns the cheaper designs that differ in one thing: a TiB less of a pool, a machine less, a
/// cheaper machine (the dearest of these), with what rejects each.
pub fn rejected(
    market: &Market<'_>,
    need: &Need,
    ranked: &Ranked,
    options: &Options,
) -> Vec<Rejected> {
    let asked = need.times(1.0 + options.headroom);
    let mut all = Vec::new();
    for idx in 0..ranked.pools.len() {
        all.extend(smaller(market, &asked, ranked, idx));
    }
    if options.machines != Machines::Exactly(ranked.n_machines) && ranked.n_machines > 1 {
        let n_machines = ranked.n_machines - 1;
        let one = Price {
            micro_usd: ranked.machine_price.micro_usd / u64::from(ranked.n_machines),
            ..ranked.machine_price
        };
        let price = less(ranked.price, one.micro_usd);
        let design = Ranked { n_machines, ..ranked.clone() };
        let change = format!("{n_machines} x {}", ranked.machine);
        all.extend(reject(market, &asked, &design, change, price));
    }
    all.extend(machines(market, &asked, ranked));
    all
}

/// Looks at a pool with a TiB less, whose volumes have as much less of it.
fn smaller(market: &Market<'_>, asked: &Need, ranked: &Ranked, idx: usize) -> Option<Rejected> {
    let pool = &ranked.pools[idx];
    let size_tib = pool.size_tib.checked_sub(1).filter(|tib| *tib > 0)?;
    let mut design = ranked.clone();
    design.pools[idx].size_tib = size_tib;
    let part = |value: u64| (value as u128 * size_tib as u128 / pool.size_tib as u128) as u64;
    for volume in design.volumes.iter_mut().filter(|volume| volume.pool == idx) {
        volume.quota_gib = part(volume.quota_gib);
        volume.throughput_mib_s = volume.throughput_mib_s.map(part);
    }
    let change = format!("a {} pool of {size_tib} TiB", pool.title());
    let price = less(ranked.price, pool.price.micro_usd / pool.size_tib);
    reject(market, asked, &design, change, price)
}

/// Looks at as many machines of cheaper sizes, the dearest first.
fn machines(market: &Market<'_>, asked: &Need, ranked: &Ranked) -> Vec<Rejected> {
    let n_machines = ranked.n_machines.max(1);
    let own = ranked.machine_price.micro_usd / u64::from(n_machines);
    let sizes = market.groups.iter().flat_map(|group| &group.machines);
    let is_known = |name: &str| market.edition.vm(name).is_some_and(|vm| vm.egress().is_some());
    let mut cheaper: Vec<_> = sizes
        .filter(|size| !size.price.is_unpriced && size.price.micro_usd < own)
        .filter(|size| is_known(&size.name))
        .collect();
    cheaper.sort_by_key(|size| Reverse(size.price));
    let of = |size: &&crate::group::MachineSize| {
        let design = Ranked { machine: size.name.clone(), ..ranked.clone() };
        let saved = (own - size.price.micro_usd) * u64::from(n_machines);
        let change = format!("{n_machines} x {}", size.name);
        reject(market, asked, &design, change, less(ranked.price, saved))
    };
    cheaper.iter().filter_map(of).take(N_MACHINES).collect()
}

fn less(price: Price, micro_usd: u64) -> Price {
    Price { micro_usd: price.micro_usd.saturating_sub(micro_usd), ..price }
}

/// Returns a design with what rejects it; `None` where nothing of its caps does.
fn reject(
    market: &Market<'_>,
    asked: &Need,
    design: &Ranked,
    change: String,
    price: Price,
) -> Option<Rejected> {
    let judged = judge(&parse(market, asked, design)?, asked);
    Some(Rejected { change, price, why: why(&judged, asked)? })
}
