//! Many needs at once: a design for each, what all of them come to, and which stand out.

use std::collections::BTreeMap;

use crate::filled::{Filled, filled};
use crate::judge::judge;
use crate::make::parse;
use crate::market::Market;
use crate::nearest::{Nearest, nearest};
use crate::need::{Need, NeedError};
use crate::price::Price;
use crate::reject::Why;
use crate::search::{Options, Ranked, search};

/// What one cloud has for a need.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// The best design.
    Carried {
        /// The design.
        design: Box<Ranked>,
        /// What the need fills most of it.
        filled: Option<Filled>,
        /// What rejects it where a published MB is read as so many bytes instead.
        other_readings: Vec<(u64, Why)>,
    },
    /// Nothing carries it.
    Missed {
        /// What comes nearest.
        nearest: Box<Nearest>,
        /// What rejects the nearest design.
        why: Option<Why>,
    },
}

impl Place {
    /// Returns the design, where one carries the need.
    pub fn design(&self) -> Option<&Ranked> {
        match self {
            Place::Carried { design, .. } => Some(design),
            Place::Missed { .. } => None,
        }
    }

    /// Returns the design, where one carries the need whose limits and prices are all known.
    pub fn known(&self) -> Option<&Ranked> {
        self.design().filter(|design| !design.price.is_unpriced && !design.price.is_open)
    }
}

/// Finds the design of one need. `others` are the same market with other readings of a published
/// MB.
///
/// # Errors
/// If the need is none.
pub fn place(
    market: &Market<'_>,
    others: &[Market<'_>],
    need: &Need,
    options: &Options,
) -> Result<Place, NeedError> {
    let one = Options { n_kept: 1, ..*options };
    let asked = need.times(1.0 + options.headroom);
    let Some(design) = search(market, need, &one)?.designs.into_iter().next() else {
        let nearest = nearest(market, need, &one)?;
        let why = match &nearest {
            Nearest::Part { design, .. } => why_not(market, &asked, design),
            Nearest::Machine { .. } | Nearest::Nothing => None,
        };
        return Ok(Place::Missed { nearest: Box::new(nearest), why });
    };
    let judged = parse(market, need, &design).map(|it| judge(&it, need));
    let filled = judged.and_then(|judged| filled(market, need, &design, &judged));
    let other_readings = others
        .iter()
        .filter_map(|other| Some((other.terms.mb_bytes, why_not(other, &asked, &design)?)));
    let other_readings = other_readings.collect();
    Ok(Place::Carried { design: Box::new(design), filled, other_readings })
}

fn why_not(market: &Market<'_>, asked: &Need, design: &Ranked) -> Option<Why> {
    match parse(market, asked, design) {
        None => Some(Why::Disks),
        Some(parsed) => judge(&parsed, asked).why_not(asked),
    }
}

/// Disks of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskTotal {
    /// How many.
    pub n_disks: u64,
    /// What they hold together.
    pub capacity_bytes: u64,
}

/// What designs come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Designs.
    pub n_designs: usize,
    /// Designs of which a part has no price; what they cost besides is in `price`.
    pub n_unpriced: usize,
    /// Designs of which a limit, or processors or memory that are asked for, is not known.
    pub n_open: usize,
    /// What all of it costs in a month.
    pub price: Price,
    /// What the machines cost in a month.
    pub machine_price: Price,
    /// How many machines, by size.
    pub machines: BTreeMap<String, u64>,
    /// Disks by type.
    pub disks: BTreeMap<String, DiskTotal>,
}

impl Totals {
    /// Adds designs up.
    pub fn of<'a>(designs: impl IntoIterator<Item = &'a Ranked>) -> Self {
        let mut totals = Totals::default();
        for design in designs {
            totals.n_designs += 1;
            totals.n_unpriced += usize::from(design.price.is_unpriced);
            totals.n_open += usize::from(design.price.is_open);
            totals.price = totals.price + design.price;
            totals.machine_price = totals.machine_price + design.machine_price;
            *totals.machines.entry(design.machine.clone()).or_default() += 1;
            for chosen in &design.volumes {
                let disks = totals.disks.entry(chosen.disk.clone()).or_default();
                disks.n_disks += u64::from(chosen.n_disks);
                disks.capacity_bytes += chosen.capacity_bytes();
            }
        }
        totals
    }

    /// Returns how many disks there are.
    pub fn n_disks(&self) -> u64 {
        self.disks.values().map(|disks| disks.n_disks).sum()
    }

    /// Returns what all disks hold.
    pub fn capacity_bytes(&self) -> u64 {
        self.disks.values().map(|disks| disks.capacity_bytes).sum()
    }
}

/// Share of a design up to which it is far above its need: twice the need would fit.
pub const SHARE_FAR_ABOVE: f64 = 0.5;

/// Which of many stand out, by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outliers {
    /// Those that cost most, the dearest first.
    pub dearest: Vec<usize>,
    /// Those that no cloud carries.
    pub missed: Vec<usize>,
    /// Those whose design has a limit, or processors or memory that are asked for, that is not
    /// known.
    pub open: Vec<usize>,
    /// Those whose design would carry twice of it all, the dearest first.
    pub far_above: Vec<usize>,
}

/// Returns the cheapest of several places, by position; `None` where none carries the need.
pub fn cheapest(places: &[Place]) -> Option<usize> {
    let of = |(idx, place): (usize, &Place)| Some((place.design()?.price, idx));
    places.iter().enumerate().filter_map(of).min().map(|(_, idx)| idx)
}

/// Finds those that stand out among needs, each with a place by cloud; of each the cheapest place
/// counts. At most `n_dearest` are the dearest.
pub fn outliers(all: &[Vec<Place>], n_dearest: usize) -> Outliers {
    let best = |idx: usize| cheapest(&all[idx]).map(|place| &all[idx][place]);
    let mut by_price: Vec<(Price, usize)> =
        (0..all.len()).filter_map(|idx| Some((best(idx)?.design()?.price, idx))).collect();
    by_price.sort_by_key(|(price, idx)| (std::cmp::Reverse(price.micro_usd), *idx));
    let dearest = by_price.iter().filter(|(price, _)| price.micro_usd > 0);
    let is_far_above = |idx: &usize| match best(*idx) {
        Some(Place::Carried { filled: Some(filled), .. }) => filled.share <= SHARE_FAR_ABOVE,
        _ => false,
    };
    Outliers {
        dearest: dearest.map(|(_, idx)| *idx).take(n_dearest).collect(),
        missed: (0..all.len()).filter(|idx| best(*idx).is_none()).collect(),
        open: by_price.iter().filter(|(price, _)| price.is_open).map(|(_, idx)| *idx).collect(),
        far_above: by_price.iter().map(|(_, idx)| *idx).filter(is_far_above).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filled::Part;
    use crate::search::Chosen;

    fn usd(usd: u64) -> Price {
        Price { micro_usd: usd * 1_000_000, ..Price::default() }
    }

    fn design(machine: &str, machine_usd: u64, disk: &str, n_disks: u32, disk_usd: u64) -> Ranked {
        let price = usd(disk_usd * u64::from(n_disks));
        let chosen = Chosen {
            disk: disk.to_owned(),
            n_disks,
            cache: volume::CacheMode::None,
            chunk_bytes: 64 << 10,
            size_bytes: 512 << 30,
            is_sized: false,
            iops: None,
            throughput: None,
            price,
        };
        Ranked {
            machine: machine.to_owned(),
            machine_price: usd(machine_usd),
            volumes: vec![chosen],
            price: usd(machine_usd) + price,
            headroom: 0.0,
            n_parts: 1 + n_disks,
        }
    }

    fn carried(design: Ranked, share: f64) -> Place {
        let filled = Some(Filled { part: Part::Vcpus, share });
        Place::Carried { design: Box::new(design), filled, other_readings: Vec::new() }
    }

    fn missed() -> Place {
        Place::Missed { nearest: Box::new(Nearest::Nothing), why: None }
    }

    #[test]
    fn totals_add_machines_and_disks_by_type() {
        let mut unpriced = design("B", 10, "P20", 1, 7);
        unpriced.price = Price { is_unpriced: true, is_open: true, ..unpriced.price };
        let all = [design("A", 100, "P20", 3, 7), design("A", 100, "P10", 2, 4), unpriced];
        let totals = Totals::of(&all);
        assert_eq!(totals.price.micro_usd, (121 + 108 + 17) * 1_000_000);
        assert_eq!(totals.machine_price.micro_usd, 210 * 1_000_000);
        assert_eq!((totals.n_designs, totals.n_unpriced, totals.n_open), (3, 1, 1));
        assert_eq!(totals.machines, BTreeMap::from([("A".to_owned(), 2), ("B".to_owned(), 1)]));
        let disks = |name: &str| (totals.disks[name].n_disks, totals.disks[name].capacity_bytes);
        assert_eq!(disks("P20"), (4, 2 << 40));
        assert_eq!(disks("P10"), (2, 1 << 40));
        assert_eq!((totals.n_disks(), totals.capacity_bytes()), (6, 3 << 40));
    }

    #[test]
    fn the_cheapest_cloud_is_one_whose_price_is_whole() {
        let mut unpriced = design("B", 10, "P20", 1, 7);
        unpriced.price.is_unpriced = true;
        let dear = carried(design("A", 100, "P20", 3, 7), 1.0);
        assert_eq!(cheapest(&[missed(), carried(unpriced, 1.0), dear]), Some(2));
        assert_eq!(cheapest(&[missed(), missed()]), None);
    }

    #[test]
    fn those_stand_out_that_are_dear_missed_or_far_above_their_need() {
        let of = |usd, share| carried(design("A", usd, "P20", 1, 0), share);
        let mut open = design("A", 5, "P20", 1, 0);
        open.price.is_open = true;
        let all = [
            vec![of(50, 0.9), of(40, 0.5)],
            vec![of(900, 0.51), missed()],
            vec![missed(), missed()],
            vec![of(60, 0.2), of(61, 1.0)],
            vec![carried(open, 1.0)],
        ];
        let found = outliers(&all, 2);
        assert_eq!(found.dearest, [1, 3]);
        assert_eq!(found.missed, [2]);
        assert_eq!(found.open, [4]);
        assert_eq!(found.far_above, [3, 0]);
    }
}
