//! Why a load gets the rate it gets: what holds it, what it does at each queue depth, and what
//! lifts it at which price.

use catalog::cost::{self, CostError, Purchase};
use volume::Design;
use volume::design::{Backing, Limit};
use volume::limits::path::latency_s;
use volume::limits::{AtDepth, Done, Flow, Remedy, by_depth, remedies_by, together};

use crate::bill::{self, BillError};
use crate::judge::judge;
use crate::lift::{Lift, cheapest_lift, more};
use crate::make;
use crate::market::{Market, Terms};
use crate::need::Need;
use crate::rank::Ranked;
use crate::search::Options;

/// Why one of several loads gets the rate it gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// What it gets beside the others: what binds, and every cap with what it leaves.
    pub done: Done,
    /// Latency without load, seconds.
    pub latency_s: f64,
    /// Rate and latency with 1, 2, 4 and so on in flight, were as much asked as is carried.
    pub by_depth: Vec<AtDepth>,
}

/// A change with its price.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The change, and what it brings.
    pub remedy: Remedy,
    /// What it costs more in a month, US dollars; 0 for a setting, and below 0 where it saves.
    pub usd_more: Result<f64, NoPrice>,
}

/// Why the price of a change is not known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoPrice {
    /// The design cannot be bought as it is.
    #[error(transparent)]
    Bill(#[from] BillError),
    /// A part has no price.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// Figures of a machine of the design's own are no product.
    #[error("a machine with figures of your own has no price")]
    OwnMachine,
    /// What clients cost is no part of a design.
    #[error("clients are not priced")]
    Clients,
}

impl NoPrice {
    /// Returns what to do about it, where something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            NoPrice::Cost(CostError::NoPrice { region: None, known_in, .. })
                if !known_in.is_empty() =>
            {
                Some("prices are by region: name one".to_owned())
            }
            NoPrice::Cost(CostError::NoPrice { known_terms, .. }) if !known_terms.is_empty() => {
                let terms: Vec<&str> = known_terms.iter().map(|term| term.as_str()).collect();
                Some(format!("it has one there for the term {}", terms.join(" or ")))
            }
            NoPrice::Cost(CostError::NoPrice { known_in, .. }) if !known_in.is_empty() => {
                Some(format!("it has one in {}", known_in[0]))
            }
            NoPrice::Bill(_) | NoPrice::Cost(_) | NoPrice::OwnMachine | NoPrice::Clients => None,
        }
    }
}

/// Explains one of several loads on a design.
///
/// # Panics
/// If there is no such flow, or a flow names a volume that is not there.
pub fn explain(design: &Design, flows: &[Flow], flow_idx: usize) -> Explained {
    let done = together(design, flows).swap_remove(flow_idx);
    let flow = &flows[flow_idx];
    let latency_s = latency_s(design, flow.volume, &flow.load);
    let by_depth = by_depth(design, flows, flow_idx);
    Explained { done, latency_s, by_depth }
}

/// Returns the terms on which a design is priced where nothing else is said: those of its own
/// region, or of another one, on demand.
pub fn terms_of(design: &Design, region: Option<&str>) -> Terms {
    let cloud = design.rows().map(|edition| bill::cloud(design, edition));
    let cloud = cloud.or(design.cloud).unwrap_or(catalog::Cloud::Azure);
    let region = region.or(design.region.as_deref());
    Terms { edition: design.edition.clone(), ..Terms::new(cloud, region) }
}

/// Returns the changes that lift what one of several loads can have: what is enough before what is
/// not, the cheapest first, and what has no known price after the others.
///
/// # Panics
/// As [`explain`].
pub fn changes(design: &Design, flows: &[Flow], flow_idx: usize, terms: &Terms) -> Vec<Change> {
    let price = |other: &Design| usd_more(design, other, terms).ok();
    let found = remedies_by(design, flows, flow_idx, Some(&price));
    let priced = |remedy: Remedy| {
        let usd_more = usd_more(design, &remedy.design, terms);
        Change { remedy, usd_more }
    };
    let mut changes: Vec<Change> = found.into_iter().map(priced).collect();
    sort(&mut changes);
    changes
}

/// Puts what is enough before what is not, and the cheapest first. Of the same price a setting
/// stands before what is bought.
fn sort(changes: &mut [Change]) {
    changes.sort_by(|a, b| {
        let usd = |change: &Change| change.usd_more.as_ref().map_or(f64::INFINITY, |usd| *usd);
        let is_short = |change: &Change| change.remedy.is_enough == Some(false);
        is_short(a).cmp(&is_short(b)).then(usd(a).total_cmp(&usd(b)))
    });
}

/// Returns the changes that lift the tightest cap of a design that was found, which holds one of
/// several loads, the cheapest first: the cheapest single one of all that were searched, in the
/// given words, and those of [`changes`] after which the design carries more as well. These go
/// beyond the machines and disks that were searched.
///
/// # Panics
/// As [`explain`].
pub fn changes_of_found(
    (market, need, options): (&Market<'_>, &Need, &Options),
    ranked: &Ranked,
    (flows, flow_idx): (&[Flow], usize),
    words: impl Fn(&Lift) -> String,
) -> Vec<Change> {
    let Some(design) = make::parse(market, need, ranked) else { return Vec::new() };
    let terms = &market.terms;
    let mut all = changes(&design, flows, flow_idx, terms);
    let lift = cheapest_lift(market, need, ranked, options);
    let lifted = lift.and_then(|lift| Some((make::parse(market, need, &lift.ranked)?, lift)));
    let Some((lifted, lift)) = lifted else { return all };
    let asked = more(need, &judge(&design, need));
    let is_other = |change: &Change| !is_same_build(&change.remedy.design, &lifted);
    all.retain(|change| is_other(change) && judge(&change.remedy.design, &asked).is_met());
    let after = together(&lifted, flows).swap_remove(flow_idx);
    let iops = after.caps.first().map_or(after.iops, |(_, left)| *left);
    let is_enough = flows[flow_idx].demand.map(|demand| iops >= demand);
    let (before, now) = (ranked.price, lift.ranked.price);
    let usd_more = if before.is_unpriced || now.is_unpriced {
        usd_more(&design, &lifted, terms)
    } else {
        Ok(now.usd() - before.usd())
    };
    let change = words(&lift);
    let remedy = Remedy { change, iops, is_enough, after, design: lifted };
    all.insert(0, Change { remedy, usd_more });
    sort(&mut all);
    all
}

/// Returns whether two designs are made of the same machine and disks, with the same settings.
fn is_same_build(a: &Design, b: &Design) -> bool {
    let machine = |design: &Design| design.vm.as_ref().map(|vm| vm.size.clone());
    let per_s = |limit: &Option<Limit>| limit.as_ref().map(|limit| limit.per_s);
    let disks = |design: &Design| -> Vec<_> {
        let of_volume = |volume: &volume::design::Volume| match &volume.backing {
            Backing::Disks(stripe) => stripe.disks.first().map(|disk| {
                let caps = (per_s(&disk.cap.iops), per_s(&disk.cap.bytes), disk.cache);
                let chunk_bytes = if stripe.disks.len() > 1 { stripe.chunk_bytes } else { 0 };
                (disk.sku.clone(), stripe.disks.len(), disk.size_bytes, caps, chunk_bytes)
            }),
            Backing::Network(_) => None,
        };
        design.volumes.iter().map(of_volume).collect()
    };
    machine(a) == machine(b) && disks(a) == disks(b)
}

/// Returns by how much a month of a changed design costs more, US dollars. Parts that both have
/// need no price.
pub fn usd_more(before: &Design, after: &Design, terms: &Terms) -> Result<f64, NoPrice> {
    if before.clients != after.clients && before.clients.len() != after.clients.len() {
        return Err(NoPrice::Clients);
    }
    let size = |design: &Design| design.vm.as_ref().map(|vm| vm.size.clone());
    if before.vm != after.vm && size(before) == size(after) {
        return Err(NoPrice::OwnMachine);
    }
    let region = terms.region.as_deref();
    let (mut old, mut new) = (bill::order(before, region, 0.0)?, bill::order(after, region, 0.0)?);
    drop_common(&mut old.machines, &mut new.machines);
    drop_common(&mut old.storage, &mut new.storage);
    let edition = before.rows().ok_or(BillError::NoEdition)?;
    let usd = |order: Purchase| -> Result<f64, NoPrice> {
        if order.machines.is_empty() && order.storage.is_empty() {
            return Ok(0.0);
        }
        let Purchase { machines, storage, .. } = order;
        Ok(cost::cost(edition, &Purchase { machines, storage, ..terms.order() })?.usd())
    };
    Ok(usd(new)? - usd(old)?)
}

/// Takes out what both lists have.
fn drop_common<T: PartialEq>(old: &mut Vec<T>, new: &mut Vec<T>) {
    old.retain(|part| match new.iter().position(|other| other == part) {
        Some(idx) => {
            new.remove(idx);
            false
        }
        None => true,
    });
}
