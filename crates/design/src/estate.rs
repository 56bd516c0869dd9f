//! Many needs at once: a design for each, what all of them come to, and which stand out.

use std::collections::BTreeMap;

use volume::Design;
use volume::design::LOCAL_DISK;

use crate::filled::{Filled, filled, filled_network};
use crate::judge::judge;
use crate::make::{parse, unknowns};
use crate::market::Market;
use crate::nearest::{Nearest, nearest};
use crate::need::{Need, NeedError};
use crate::netapp::{self, NetworkError};
use crate::price::Price;
use crate::rank::{ChosenDisks as Disks, Ranked};
use crate::reject::Rejection;
use crate::search::{Options, search};

/// A design of an estate.
#[derive(Clone, Debug, PartialEq)]
pub enum ChosenDesign {
    /// One machine with disks.
    Disks(Ranked),
    /// Machines with network volumes.
    Network(netapp::Ranked),
}

/// Storage of a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Type of disk, or service level with what it is: `Premium pool`.
    pub name: String,
    /// How many disks, or pools.
    pub count: u64,
    /// What each holds.
    pub size_bytes: u64,
    /// Its size is chosen, and not part of its name.
    pub is_sized: bool,
    /// It is a capacity pool.
    pub is_pool: bool,
}

impl ChosenDesign {
    /// Returns what all of it costs. A pool is bought once, however many volumes and machines it
    /// has.
    pub fn price(&self) -> Price {
        match self {
            ChosenDesign::Disks(it) => it.price,
            ChosenDesign::Network(it) => it.price,
        }
    }

    /// Returns what its machines cost.
    pub fn machine_price(&self) -> Price {
        match self {
            ChosenDesign::Disks(it) => it.machine_price,
            ChosenDesign::Network(it) => it.machine_price,
        }
    }

    /// Returns the size of its machines, and how many there are.
    pub fn machines(&self) -> (&str, u64) {
        match self {
            ChosenDesign::Disks(it) => (&it.machine, 1),
            ChosenDesign::Network(it) => (&it.machine, it.n_machines.into()),
        }
    }

    /// Returns by how much its tightest cap is larger than what is asked.
    pub fn headroom(&self) -> f64 {
        match self {
            ChosenDesign::Disks(it) => it.headroom,
            ChosenDesign::Network(it) => it.headroom,
        }
    }

    /// Returns its disks by volume, or its pools.
    pub fn storage(&self) -> Vec<Stored> {
        let disks = |it: &Disks| Stored {
            name: if it.is_local() { LOCAL_DISK.to_owned() } else { it.disk.clone() },
            count: it.n_disks.into(),
            size_bytes: it.size_bytes,
            is_sized: it.is_sized,
            is_pool: false,
        };
        let pool = |it: &netapp::ChosenPool| Stored {
            name: format!("{} pool", it.title()),
            count: 1,
            size_bytes: it.size_gib << 30,
            is_sized: true,
            is_pool: true,
        };
        match self {
            ChosenDesign::Disks(it) => it.volumes.iter().map(disks).collect(),
            ChosenDesign::Network(it) => it.pools.iter().map(pool).collect(),
        }
    }
}

/// What comes nearest to a need that nothing carries.
#[derive(Clone, Debug, PartialEq)]
pub enum NearestDesign {
    /// With disks.
    Disks(Nearest),
    /// With network volumes: the part of its I/Os and the design; `None` where not even a trickle
    /// is carried.
    Network(Option<(f64, netapp::Ranked)>),
}

/// What one cloud has for a need.
#[derive(Clone, Debug, PartialEq)]
pub enum CloudResult {
    /// The best design.
    Carried {
        /// The design.
        design: Box<ChosenDesign>,
        /// What the need fills most of it.
        filled: Option<Filled>,
        /// What rejects it where a published MB is read as so many bytes instead.
        other_readings: Vec<(u64, Rejection)>,
        /// What the catalogue does not know of it, as sentences.
        unknown: Vec<String>,
    },
    /// Nothing carries it.
    Missed {
        /// What comes nearest.
        nearest: Box<NearestDesign>,
        /// What rejects the nearest design.
        why: Option<Rejection>,
    },
}

impl CloudResult {
    /// Returns the design, where one carries the need.
    pub fn design(&self) -> Option<&ChosenDesign> {
        match self {
            CloudResult::Carried { design, .. } => Some(design),
            CloudResult::Missed { .. } => None,
        }
    }

    /// Returns the design, where one carries the need of which all is known, prices included.
    pub fn known(&self) -> Option<&ChosenDesign> {
        self.design().filter(|design| !design.price().is_unpriced && !self.is_open())
    }

    /// Returns whether something that decides on the design is not known, prices aside.
    pub fn is_open(&self) -> bool {
        match self {
            CloudResult::Carried { design, unknown, .. } => {
                design.price().is_open || !unknown.is_empty()
            }
            CloudResult::Missed { .. } => false,
        }
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
) -> Result<CloudResult, NeedError> {
    let one = Options { n_kept: 1, ..*options };
    let asked = need.times(1.0 + options.headroom);
    let Some(design) = search(market, need, &one)?.designs.into_iter().next() else {
        let nearest = nearest(market, need, &one)?;
        let why = match &nearest {
            Nearest::Part { design, .. } => why_not(&asked, parse(market, &asked, design)),
            Nearest::Machine { .. } | Nearest::Refused | Nearest::Nothing { .. } => None,
        };
        return Ok(CloudResult::Missed { nearest: Box::new(NearestDesign::Disks(nearest)), why });
    };
    let judged = parse(market, need, &design).map(|it| judge(&it, need));
    let filled = judged.and_then(|judged| filled(market, need, &design, &judged));
    let other_readings = others.iter().filter_map(|other| {
        Some((other.terms.mb_bytes, why_not(&asked, parse(other, &asked, &design))?))
    });
    let other_readings = other_readings.collect();
    let unknown = unknowns(market, need, &design);
    let design = Box::new(ChosenDesign::Disks(design));
    Ok(CloudResult::Carried { design, filled, other_readings, unknown })
}

/// Finds the design of one need, all of whose volumes are network volumes. `others` are as for
/// [`place`].
///
/// # Errors
/// If the need is none, has too many volumes, or the edition has no such volumes.
pub fn place_network(
    market: &Market<'_>,
    others: &[Market<'_>],
    need: &Need,
    options: &netapp::Options,
) -> Result<CloudResult, NetworkError> {
    let one = netapp::Options { n_kept: 1, ..*options };
    let asked = need.times(1.0 + options.headroom);
    let found = netapp::search(market, need, &one)?;
    let why = |market: &Market<'_>, design: &netapp::Ranked| {
        why_not(&asked, netapp::parse(market, &asked, design))
    };
    let Some(design) = found.designs.into_iter().next() else {
        let nearest = netapp::nearest(market, need, &one)?;
        let why = nearest.as_ref().and_then(|(_, design)| why(market, design));
        return Ok(CloudResult::Missed { nearest: Box::new(NearestDesign::Network(nearest)), why });
    };
    let judged = netapp::parse(market, need, &design).map(|it| judge(&it, need));
    let filled = judged.and_then(|judged| filled_network(market, need, &design, &judged));
    let reading = |other: &Market<'_>| Some((other.terms.mb_bytes, why(other, &design)?));
    let other_readings = others.iter().filter_map(reading).collect();
    Ok(CloudResult::Carried {
        design: Box::new(ChosenDesign::Network(design)),
        filled,
        other_readings,
        unknown: Vec::new(),
    })
}

/// Returns what rejects a design; one that cannot be read is none of disks that are sold.
fn why_not(asked: &Need, parsed: Option<Design>) -> Option<Rejection> {
    match parsed {
        None => Some(Rejection::Disks),
        Some(parsed) => judge(&parsed, asked).why_not(asked),
    }
}

/// Disks of one type, or pools of one level.
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
    /// Capacity pools of network volumes by service level.
    pub pools: BTreeMap<String, DiskTotal>,
}

impl Totals {
    /// Adds designs up.
    pub fn of<'a>(designs: impl IntoIterator<Item = &'a ChosenDesign>) -> Self {
        let mut totals = Totals::default();
        for design in designs {
            let (price, (machine, n_machines)) = (design.price(), design.machines());
            totals.n_designs += 1;
            totals.n_unpriced += usize::from(price.is_unpriced);
            totals.n_open += usize::from(price.is_open);
            totals.price = totals.price + price;
            totals.machine_price = totals.machine_price + design.machine_price();
            *totals.machines.entry(machine.to_owned()).or_default() += n_machines;
            for stored in design.storage() {
                let kinds = if stored.is_pool { &mut totals.pools } else { &mut totals.disks };
                let total = kinds.entry(stored.name).or_default();
                total.n_disks += stored.count;
                total.capacity_bytes += stored.count * stored.size_bytes;
            }
        }
        totals
    }

    /// Returns how many disks there are.
    pub fn n_disks(&self) -> u64 {
        self.disks.values().map(|disks| disks.n_disks).sum()
    }

    /// Returns how many capacity pools there are.
    pub fn n_pools(&self) -> u64 {
        self.pools.values().map(|pools| pools.n_disks).sum()
    }

    /// Returns what all disks and pools hold.
    pub fn capacity_bytes(&self) -> u64 {
        let all = self.disks.values().chain(self.pools.values());
        all.map(|disks| disks.capacity_bytes).sum()
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
    /// Those of whose design something is not known, such as a limit, or processors or memory that
    /// are asked for.
    pub open: Vec<usize>,
    /// Those whose design would carry twice of it all, the dearest first.
    pub far_above: Vec<usize>,
}

/// Returns the cheapest of several places, by position; `None` where none carries the need.
pub fn cheapest(places: &[CloudResult]) -> Option<usize> {
    let of = |(idx, place): (usize, &CloudResult)| Some((place.design()?.price(), idx));
    places.iter().enumerate().filter_map(of).min().map(|(_, idx)| idx)
}

/// Finds those that stand out among needs, each with a place by cloud; of each the cheapest place
/// counts. At most `n_dearest` are the dearest.
pub fn outliers(all: &[Vec<CloudResult>], n_dearest: usize) -> Outliers {
    let best = |idx: usize| cheapest(&all[idx]).map(|place| &all[idx][place]);
    let mut by_price: Vec<(Price, usize)> =
        (0..all.len()).filter_map(|idx| Some((best(idx)?.design()?.price(), idx))).collect();
    by_price.sort_by_key(|(price, idx)| (std::cmp::Reverse(price.micro_usd), *idx));
    let dearest = by_price.iter().filter(|(price, _)| price.micro_usd > 0);
    let is_open = |idx: &usize| best(*idx).is_some_and(CloudResult::is_open);
    let is_far_above = |idx: &usize| match best(*idx) {
        Some(CloudResult::Carried { filled: Some(filled), .. }) => filled.share <= SHARE_FAR_ABOVE,
        _ => false,
    };
    Outliers {
        dearest: dearest.map(|(_, idx)| *idx).take(n_dearest).collect(),
        missed: (0..all.len()).filter(|idx| best(*idx).is_none()).collect(),
        open: by_price.iter().map(|(_, idx)| *idx).filter(is_open).collect(),
        far_above: by_price.iter().map(|(_, idx)| *idx).filter(is_far_above).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filled::Part;
    fn usd(usd: u64) -> Price {
        Price { micro_usd: usd * 1_000_000, ..Price::default() }
    }

    fn design(machine: &str, machine_usd: u64, disk: &str, n_disks: u32, disk_usd: u64) -> Ranked {
        let price = usd(disk_usd * u64::from(n_disks));
        let chosen = Disks {
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
            interface: None,
            machine_price: usd(machine_usd),
            volumes: vec![chosen],
            price: usd(machine_usd) + price,
            headroom: 0.0,
            n_parts: 1 + n_disks,
        }
    }

    fn carried(design: Ranked, share: f64) -> CloudResult {
        let filled = Some(Filled { part: Part::Vcpus, share });
        let design = Box::new(ChosenDesign::Disks(design));
        let (other_readings, unknown) = (Vec::new(), Vec::new());
        CloudResult::Carried { design, filled, other_readings, unknown }
    }

    fn missed() -> CloudResult {
        CloudResult::Missed { nearest: Box::new(NearestDesign::Disks(Nearest::Refused)), why: None }
    }

    /// Whether the machine takes the disks stands in no table: the price says nothing of it.
    #[test]
    fn a_design_of_which_something_is_not_known_is_open() {
        let known = carried(design("A", 100, "P20", 1, 7), 0.9);
        assert!(!known.is_open() && known.known().is_some());
        let mut open = known.clone();
        let CloudResult::Carried { unknown, .. } = &mut open else { panic!("{open:?}") };
        unknown.push("no source says whether A takes P20".to_owned());
        assert!(open.is_open() && open.known().is_none());
        assert_eq!(outliers(&[vec![known], vec![open], vec![missed()]], 3).open, [1]);
    }

    #[test]
    fn totals_add_machines_and_disks_by_type() {
        let mut unpriced = design("B", 10, "P20", 1, 7);
        unpriced.price = Price { is_unpriced: true, is_open: true, ..unpriced.price };
        let all = [design("A", 100, "P20", 3, 7), design("A", 100, "P10", 2, 4), unpriced];
        let all = all.map(ChosenDesign::Disks);
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

    /// Three machines on one pool with two volumes: machines count three times, the pool once.
    #[test]
    fn a_pool_counts_once_and_its_machines_each() {
        let volume = |quota_gib| netapp::ChosenVolume {
            pool: 0,
            quota_gib,
            is_large: false,
            throughput_mib_s: None,
        };
        let pool = netapp::ChosenPool {
            level: "premium".to_owned(),
            qos: netapp::Qos::Auto,
            size_gib: 4096,
            throughput_mib_s: None,
            file_server: None,
            price: usd(1000),
        };
        let shared = netapp::Ranked {
            machine: "B".to_owned(),
            n_machines: 3,
            connections: 8,
            machine_price: usd(300),
            pools: vec![pool],
            volumes: vec![volume(1024), volume(3072)],
            price: usd(1300),
            headroom: 0.0,
            n_parts: 6,
        };
        let all =
            [ChosenDesign::Network(shared), ChosenDesign::Disks(design("B", 100, "P20", 3, 7))];
        let totals = Totals::of(&all);
        let usd = |usd: u64| usd * 1_000_000;
        assert_eq!((totals.price.micro_usd, totals.machine_price.micro_usd), (usd(1421), usd(400)));
        assert_eq!(totals.machines, BTreeMap::from([("B".to_owned(), 4)]));
        assert_eq!((totals.n_disks(), totals.n_pools()), (3, 1));
        let pool = DiskTotal { n_disks: 1, capacity_bytes: 4 << 40 };
        assert_eq!(totals.pools, BTreeMap::from([("Premium pool".to_owned(), pool)]));
        assert_eq!(totals.capacity_bytes(), (4 << 40) + 3 * (512 << 30));
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
