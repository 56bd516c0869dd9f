//! Why not a cheaper one: what comes next to a design at a lower price, and what rejects it.

use std::cmp::Reverse;

use units::format_count;
use volume::design::BoughtFileServer;
use volume::design::service::{self, Service};

use super::machines::Machines;
use super::make::parse;
use super::pools::price_of;
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
fn smaller(market: &Market<'_>, asked: &Need, ranked: &Ranked, idx: usize) -> Vec<Rejected> {
    let pool = &ranked.pools[idx];
    if let Some(bought) = pool.file_server {
        return smaller_file_system(market, asked, ranked, (idx, bought));
    }
    let step_gib = Service::of_level(&pool.level).size_step() >> 30;
    let size_gib = pool.size_gib.saturating_sub(step_gib);
    if size_gib == 0 {
        return Vec::new();
    }
    let mut design = ranked.clone();
    design.pools[idx].size_gib = size_gib;
    let part = |value: u64| (value as u128 * size_gib as u128 / pool.size_gib as u128) as u64;
    for volume in design.volumes.iter_mut().filter(|volume| volume.pool == idx) {
        volume.quota_gib = part(volume.quota_gib);
        volume.throughput_mib_s = volume.throughput_mib_s.map(part);
    }
    let change = format!("a pool of {} ({})", design.pools[idx].size(), pool.title());
    let saved = pool.price.micro_usd / (pool.size_gib / step_gib);
    reject(market, asked, &design, change, less(ranked.price, saved)).into_iter().collect()
}

/// Looks at a file system with the next smaller file servers, and at one with no more operations
/// than come with its capacity.
fn smaller_file_system(
    market: &Market<'_>,
    asked: &Need,
    ranked: &Ranked,
    (idx, bought): (usize, BoughtFileServer),
) -> Vec<Rejected> {
    let pool = &ranked.pools[idx];
    let servers = service::file_servers(market.edition, &pool.level);
    let smaller = servers.iter().rev().find(|it| it.throughput_mb_s < bought.throughput_mb_s);
    let of_server = smaller.map(|server| {
        let throughput_mb_s = server.throughput_mb_s;
        let change = format!("file servers of {throughput_mb_s} MB/s");
        (change, BoughtFileServer { throughput_mb_s, ..bought })
    });
    let included = service::provisioned_iops(market.edition, pool.size_gib);
    let included = included.map(|range| *range.start()).filter(|iops| *iops < bought.iops);
    let of_iops = included.map(|iops| {
        let change = format!("no more than the {} IOPS of its capacity", format_count(iops));
        (change, BoughtFileServer { iops, ..bought })
    });
    let look = |(change, file_server): (String, BoughtFileServer)| {
        let mut design = ranked.clone();
        design.pools[idx].file_server = Some(file_server);
        let saved =
            pool.price.micro_usd.checked_sub(price_of(market, &design.pools[idx]).micro_usd)?;
        reject(market, asked, &design, change, less(ranked.price, saved))
    };
    of_server.into_iter().chain(of_iops).filter_map(look).collect()
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
