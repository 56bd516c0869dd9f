//! Random small catalogues of network volumes with a need, and every design of them.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use catalog::Catalog;
use catalog::cost;
use design::netapp::{
    self, ChosenPool, ChosenVolume, MACHINES_MAX, Machines, Options, Qos, Ranked,
};
use design::{Market, Need, PhaseNeed, Price, Terms, VolumeNeed, bill, judge};
use volume::Design;
use volume::design::service::Service;
use volume::design::{Backing, BoughtFileServer};

use super::common::dice::Dice;

const MIB: f64 = 1_048_576.0;

/// Bytes of an MB of file servers, as the terms read it: what volumes ask for stands in MiB/s.
const MB_BYTES: u64 = 1 << 20;

/// Sizes of file servers, MB/s.
const SERVERS_MB_S: [u64; 3] = [2, 5, 10];

/// Smallest file system, GiB.
const SSD_GIB_MIN: u64 = 4;

/// Operations beyond those of the capacity that are tried, in such steps.
const IOPS_STEP: u64 = 8;

/// Steps of quotas that are tried, GiB.
const QUOTA_STEP_GIB: u64 = 256;

/// Levels with throughput by size.
const LEVELS: [&str; 2] = ["standard", "premium"];

/// Most connections of a machine, beyond what is usual.
const CONNECTIONS_MAX: u32 = 10;

/// Numbers of connections that are tried.
const CONNECTIONS: [u32; 5] = [1, 4, 8, 9, CONNECTIONS_MAX];

/// A catalogue and a need.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) service: Service,
    /// Shown where a case fails.
    tables: Vec<(String, String)>,
    catalog: Arc<Catalog>,
    machines: Vec<String>,
    levels: Vec<String>,
    pub(crate) need: Need,
    headroom: f64,
    n_machines: Machines,
    /// Largest pool, TiB.
    pool_tib_max: u64,
    mib_s_max: u64,
    /// Operations that come with each GiB of a file system.
    iops_per_gib: u64,
}

const NETWORK_HEAD: &str = "scope,parameter,value,unit,source,note\n";
const MACHINE_HEAD: &str =
    "name,cloud,vcpus,max_data_disks,uncached_iops,egress_mbit_s,premium,source\n";
const PRICE_HEAD: &str = "name,cloud,part,above,usd,per,currency,source\n";

impl Shared {
    pub(crate) fn new(dice: &mut Dice) -> Shared {
        let service = dice.one_of(&[
            Service::AzureFiles,
            Service::AzureFiles,
            Service::GoogleVolumes,
            Service::FsxOntap,
        ]);
        let n_volumes = dice.one_of(&[1, 1, 2]);
        let mut prices = PRICE_HEAD.to_owned();
        let mut facts = NETWORK_HEAD.to_owned();
        let iops_per_gib = dice.one_of(&[4, 8, 16]);
        let levels = match service {
            Service::AzureFiles => {
                levels((dice, n_volumes), ("", "Azure"), &mut facts, &mut prices)
            }
            Service::GoogleVolumes => {
                levels((dice, n_volumes), ("volumes-", "GCP"), &mut facts, &mut prices)
            }
            Service::FsxOntap => {
                file_systems((dice, n_volumes), iops_per_gib, &mut facts, &mut prices)
            }
        };
        let pool_tib_max = if n_volumes == 1 { dice.whole(3, 5) } else { 3 };
        let mib_s_max = if n_volumes == 1 { dice.whole(6, 12) } else { dice.whole(4, 6) };
        match service {
            Service::AzureFiles => sizes(dice, "", pool_tib_max, mib_s_max, &mut facts),
            Service::GoogleVolumes => sizes(dice, "volumes.", pool_tib_max, mib_s_max, &mut facts),
            Service::FsxOntap => {}
        }
        fact(&mut facts, "server", "slots_per_connection", dice.one_of(&[1, 1, 2]), "");
        fact(&mut facts, "client", "nconnect_max", CONNECTIONS_MAX.into(), "");
        let mut machine_rows = MACHINE_HEAD.to_owned();
        let cloud = service.cloud().as_str();
        let machines = machines(dice, cloud, &mut machine_rows, &mut prices);
        let tables = vec![
            ("2018/network-test.csv".to_owned(), facts),
            ("2018/vms-test.csv".to_owned(), machine_rows),
            ("2018/prices-test.csv".to_owned(), prices),
        ];
        let catalog = Catalog::with(tables.clone()).unwrap_or_else(|errors| panic!("{errors:?}"));
        Shared {
            service,
            tables,
            catalog: Arc::new(catalog),
            machines,
            levels,
            need: need(dice, n_volumes, service),
            headroom: if dice.happens(30) { 0.25 } else { 0.0 },
            n_machines: dice.one_of(&[
                Machines::Exactly(1),
                Machines::Exactly(2),
                Machines::AtMost(3),
            ]),
            pool_tib_max,
            mib_s_max,
            iops_per_gib,
        }
    }

    /// Returns a case without what no run shows: the latency that is wanted, and reserve.
    pub(crate) fn of_runs(dice: &mut Dice) -> Shared {
        let mut case = Shared::new(dice);
        case.headroom = 0.0;
        for volume in &mut case.need.volumes {
            volume.latency_ms_max = None;
        }
        case
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    pub(crate) fn terms(&self) -> Terms {
        Terms {
            edition: "2018".to_owned(),
            machines: self.machines.clone(),
            mb_bytes: MB_BYTES,
            ..Terms::new(self.service.cloud(), None)
        }
    }

    pub(crate) fn search(&self) -> Option<Ranked> {
        let market = Market::new(&self.catalog, self.terms()).expect("a market");
        let options = Options { headroom: self.headroom, n_kept: 1, machines: self.n_machines };
        let found = netapp::search(&market, &self.need, &options).expect("a need");
        found.designs.into_iter().next()
    }

    /// Returns the operations that come with a file system of so many GiB.
    pub(crate) fn included_iops(&self, gib: u64) -> u64 {
        gib * self.iops_per_gib
    }

    /// Numbers of machines that may be.
    fn numbers(&self) -> Vec<u32> {
        match self.n_machines {
            Machines::Exactly(number) => vec![number],
            Machines::AtMost(most) => (1..=most.min(MACHINES_MAX)).collect(),
        }
    }
}

fn fact(facts: &mut String, scope: &str, parameter: &str, value: u64, unit: &str) {
    facts.push_str(&format!("{scope},{parameter},{value},{unit},guide-2018,\n"));
}

/// Writes the levels with their prices, and returns their names.
fn levels(
    (dice, n_volumes): (&mut Dice, u64),
    (prefix, cloud): (&str, &str),
    facts: &mut String,
    prices: &mut String,
) -> Vec<String> {
    let mut levels = Vec::new();
    // Two volumes of two levels have too many designs to try each.
    let n_levels = if n_volumes == 1 || dice.happens(15) { dice.whole(1, 2) } else { 1 };
    for level in LEVELS.iter().take(n_levels as usize) {
        let level = format!("{prefix}{level}");
        let scope = format!("level.{level}");
        fact(facts, &scope, "throughput_per_tib", dice.whole(1, 6), "MiB/s per TiB");
        if dice.happens(85) {
            // As much for each TiB.
            let usd = dice.whole(1, 6) as f64 / 1024.0;
            prices.push_str(&format!("netapp-{level},{cloud},,,{usd},GiB-month,USD,guide-2018\n"));
        }
        levels.push(level);
    }
    if prefix.is_empty() && n_volumes == 1 && dice.happens(60) {
        fact(facts, "level.flexible", "throughput_min", dice.whole(1, 4), "MiB/s");
        fact(facts, "level.flexible", "throughput_max_per_tib", dice.whole(2, 8), "MiB/s per TiB");
        let usd = dice.whole(1, 6) as f64 / 1024.0;
        prices.push_str(&format!("netapp-flexible,Azure,,,{usd},GiB-month,USD,guide-2018\n"));
        let per_mib_s = if dice.happens(50) { "1" } else { "" };
        prices.push_str(&format!(
            "netapp-flexible,Azure,throughput,2,{per_mib_s},MiB/s-month,USD,guide-2018\n"
        ));
        levels.push("flexible".to_owned());
    }
    levels
}

/// Writes file servers and disks with their prices, and returns the levels.
fn file_systems(
    (dice, n_volumes): (&mut Dice, u64),
    iops_per_gib: u64,
    facts: &mut String,
    prices: &mut String,
) -> Vec<String> {
    for mb_s in SERVERS_MB_S {
        let scope = format!("fsx-ontap-gen1.throughput.{mb_s}");
        let network = if dice.happens(20) { mb_s - 1 } else { mb_s + 1 };
        fact(facts, &scope, "network_throughput", network, "MB/s");
        fact(facts, &scope, "disk_throughput", mb_s, "MB/s");
        fact(facts, &scope, "disk_iops", mb_s * dice.one_of(&[8, 16, 24]), "IOPS");
    }
    fact(facts, "fsx-ontap.ssd", "size_min", SSD_GIB_MIN, "GiB");
    fact(facts, "fsx-ontap.ssd", "size_max", 64, "GiB");
    fact(facts, "fsx-ontap.ssd", "iops_per_gib", iops_per_gib, "IOPS per GiB");
    fact(facts, "fsx-ontap.ssd", "iops_max", dice.one_of(&[128, 256]), "IOPS");
    let zones: &[&str] =
        if n_volumes == 1 && dice.happens(40) { &["single", "multi"] } else { &["single"] };
    let mut levels = Vec::new();
    for zone in zones {
        let level = format!("fsx-ontap-{zone}-az-gen1");
        fact(facts, &format!("level.{level}"), "zones", 1, "");
        let mut price = |part: &str, above: &str, usd: String, per: &str| {
            prices.push_str(&format!("{level},AWS,{part},{above},{usd},{per},USD,guide-2018\n"));
        };
        if dice.happens(85) {
            price("", "", dice.whole(1, 6).to_string(), "GiB-month");
        }
        price("throughput", "", dice.whole(1, 4).to_string(), "MB/s-month");
        let of_iops = dice.one_of(&["0.125", "0.25", "0.5", "1", ""]);
        price("iops", &format!("{iops_per_gib} per GiB"), of_iops.to_owned(), "IOPS-month");
        levels.push(level);
    }
    levels
}

/// Writes what volumes and pools may be, and of Azure what a volume was measured to carry.
fn sizes(dice: &mut Dice, prefix: &str, pool_tib_max: u64, mib_s_max: u64, facts: &mut String) {
    let regular = format!("{prefix}volume.regular");
    fact(facts, &regular, "size_min", dice.one_of(&[256, 512]), "GiB");
    fact(facts, &regular, "size_max", dice.one_of(&[1024, 2048]), "GiB");
    fact(facts, &regular, "throughput_max", mib_s_max, "MiB/s");
    let large = format!("{prefix}volume.large");
    if prefix.is_empty() || dice.happens(50) {
        fact(facts, &large, "size_min", dice.one_of(&[1024, 2048]), "GiB");
        fact(facts, &large, "size_max", 4096, "GiB");
        fact(facts, &large, "throughput_max", mib_s_max * 2, "MiB/s");
    }
    let pool = format!("{prefix}pool");
    fact(facts, &pool, "size_min", 1, "TiB");
    fact(facts, &pool, "size_max", pool_tib_max, "TiB");
    if !prefix.is_empty() {
        return;
    }
    fact(facts, &regular, "manual_qos_min", 1, "MiB/s");
    for (kind, more) in [("regular", 1), ("large", 2)] {
        let scope = format!("surface.{kind}.random");
        fact(facts, &scope, "read_iops", dice.whole(8, 30) * 1000 * more, "IOPS");
        fact(facts, &scope, "write_iops", dice.whole(4, 20) * 1000 * more, "IOPS");
        if dice.happens(50) {
            fact(facts, &scope, "read_mib_s", dice.whole(4, 10) * more, "MiB/s");
        }
    }
}

/// Writes the machines with their prices, and returns their names.
fn machines(dice: &mut Dice, cloud: &str, rows: &mut String, prices: &mut String) -> Vec<String> {
    let mut machines = Vec::new();
    for idx in 0..dice.whole(1, 2) {
        let name = format!("Standard_X{idx}q");
        let egress = if dice.happens(85) { dice.whole(8, 80).to_string() } else { String::new() };
        rows.push_str(&format!("{name},{cloud},{},4,100,{egress},yes,guide-2018\n", idx + 1));
        if dice.happens(85) {
            let usd = dice.whole(1, 8);
            prices.push_str(&format!("{name},{cloud},,,{usd},month,USD,guide-2018\n"));
        }
        machines.push(name);
    }
    machines
}

/// Returns a need: what two volumes ask for stands in quarters.
fn need(dice: &mut Dice, n_volumes: u64, service: Service) -> Need {
    let of_files = service == Service::FsxOntap;
    // Operations are counted of file systems alone: few, and now and then two calls each.
    let io_sizes: [u64; 4] =
        if of_files { [65_536, 65_536, 131_072, 524_288] } else { [512, 4096, 65_536, 65_536] };
    let step_gib = if of_files { 1 } else { QUOTA_STEP_GIB };
    let units: &[f64] = if n_volumes == 1 { &[0.25, 0.5, 1.0, 1.5] } else { &[0.5, 1.0, 2.0] };
    let unit_mib_s = dice.one_of(units);
    let first = if n_volumes == 1 { dice.whole(1, 8) } else { dice.whole(1, 3) };
    let shares = if n_volumes == 1 { vec![first] } else { vec![first, 4 - first] };
    let n_phases = dice.whole(1, 2);
    let volumes = shares.iter().enumerate().map(|(idx, share)| {
        let phase = |dice: &mut Dice, phase: u64| {
            let size_bytes = dice.one_of(&io_sizes);
            let part = if phase == 0 { 1.0 } else { 0.5 };
            PhaseNeed {
                phase: format!("phase {phase}"),
                iops: *share as f64 * unit_mib_s * part * MIB / size_bytes as f64,
                size_bytes,
                step_bytes: None,
                read_share: dice.one_of(&[0.0, 0.5, 0.75, 1.0]),
                random_share: dice.one_of(&[1.0, 1.0, 0.5, 0.0]),
                queue_depth: None,
            }
        };
        VolumeNeed {
            mount: format!("/mnt/v{idx}"),
            capacity_gib: (dice.whole(0, 6) * step_gib) as f64,
            latency_ms_max: dice.happens(10).then(|| dice.one_of(&[0.5, 1.0])),
            phases: (0..n_phases).map(|number| phase(dice, number)).collect(),
            ..VolumeNeed::default()
        }
    });
    Need { volumes: volumes.collect(), ..Need::default() }
}

/// One volume as it is tried.
#[derive(Clone, Copy, Debug)]
struct TriedVolume<'a> {
    level: &'a str,
    qos: Qos,
    is_large: bool,
    quota_gib: u64,
    mib_s: u64,
    /// Which of the file systems of its level it is on.
    number: usize,
}

/// Every design of a catalogue.
pub(crate) struct EveryDesign<'a> {
    case: &'a Shared,
    /// Prices by what is bought.
    prices: RefCell<HashMap<String, Option<PriceFacts>>>,
}

/// Whether something is not known, whether something has no price, and what is priced, millionths
/// of a US dollar.
type PriceFacts = (bool, bool, u64);

/// A price without what is not priced, which only the search puts into an order.
fn plain(price: Price) -> PriceFacts {
    (price.is_open, price.is_unpriced, price.micro_usd)
}

/// What a design is: its price, headroom and parts, and whether it carries the need.
#[derive(Clone, Debug)]
pub(crate) struct DesignFacts {
    price: PriceFacts,
    headroom: f64,
    n_parts: u32,
    pub(crate) is_carried: bool,
}

/// Returns whether a design has at least as much of everything as another one of its kind.
fn has_all_of(design: &Ranked, other: &Ranked) -> bool {
    let mut volumes = design.volumes.iter().zip(&other.volumes);
    design.connections >= other.connections
        && volumes.all(|(own, other)| {
            own.quota_gib >= other.quota_gib && own.throughput_mib_s >= other.throughput_mib_s
        })
}

impl<'a> EveryDesign<'a> {
    pub(crate) fn of(case: &'a Shared) -> Self {
        EveryDesign { case, prices: RefCell::default() }
    }

    /// Returns a design that is better than what was found; none is, if that is right. What was
    /// found must itself be what it says.
    pub(crate) fn better_than(&self, found: Option<&Ranked>) -> Result<Option<String>, String> {
        let limit = found.map(|it| (plain(it.price), it.headroom, it.n_parts));
        if let Some(best) = found {
            let text = netapp::toml(&self.case.terms(), &self.case.need, best, "found");
            let looked = self.look(&text).ok_or_else(|| format!("no design:\n{text}"))?;
            let is_near = (looked.headroom - best.headroom).abs() < 1e-6
                || (looked.headroom.is_infinite() && best.headroom.is_infinite());
            let is_it = looked.is_carried && looked.price == plain(best.price) && is_near;
            if !is_it || looked.n_parts != best.n_parts {
                return Err(format!("{looked:?} is not what was found: {best:?}\n{text}"));
            }
        }
        let mut better = None;
        self.each(&mut Vec::new(), &mut |ranked, price| {
            if better.is_some() || limit.as_ref().is_some_and(|(least, ..)| price > *least) {
                return;
            }
            let text = netapp::toml(&self.case.terms(), &self.case.need, ranked, "tried");
            let Some(looked) = self.look(&text) else { return };
            let is_better = limit.as_ref().is_none_or(|(price, headroom, n_parts)| {
                let more = looked.headroom > headroom + 1e-6;
                let same = (looked.headroom - headroom).abs() <= 1e-6
                    || (looked.headroom.is_infinite() && headroom.is_infinite());
                // Among designs without a price only those of one price are in an order.
                let is_ordered = !price.1;
                looked.price < *price
                    && (is_ordered || looked.price.0 != price.0 || looked.price.1 != price.1)
                    || is_ordered
                        && looked.price == *price
                        && (more || same && looked.n_parts < *n_parts)
            });
            if looked.is_carried && is_better {
                better = Some(format!("{looked:?}\n{text}"));
            }
        });
        Ok(better)
    }

    /// Returns the files of designs that are cheaper than one that was found. Of those with the
    /// same machines, pools and kinds of volumes are left out which have at most as much of
    /// everything as another one.
    pub(crate) fn cheaper_than(&self, found: &Ranked) -> Vec<String> {
        let limit = plain(found.price);
        let mut kinds: BTreeMap<String, Vec<Ranked>> = BTreeMap::new();
        self.each(&mut Vec::new(), &mut |ranked, price| {
            // Among designs without a price only those of one price are in an order.
            if price.1 || price >= limit {
                return;
            }
            let volumes: Vec<(usize, bool)> =
                ranked.volumes.iter().map(|it| (it.pool, it.is_large)).collect();
            let (machine, n_machines) = (&ranked.machine, ranked.n_machines);
            let key = format!("{machine} {n_machines} {:?} {volumes:?}", ranked.pools);
            let all = kinds.entry(key).or_default();
            if all.iter().any(|other| has_all_of(other, ranked)) {
                return;
            }
            let text = netapp::toml(&self.case.terms(), &self.case.need, ranked, "tried");
            if volume::design::parse_with(&text, &self.case.catalog).0.is_some() {
                all.retain(|other| !has_all_of(ranked, other));
                all.push(ranked.clone());
            }
        });
        let text = |it: &Ranked| netapp::toml(&self.case.terms(), &self.case.need, it, "cheaper");
        kinds.values().flatten().map(text).collect()
    }

    /// Judges one design as a user would have written it; `None` where it is none.
    pub(crate) fn look(&self, text: &str) -> Option<DesignFacts> {
        let case = self.case;
        let (design, _) = volume::design::parse_with(text, &case.catalog);
        let design = design?;
        let judged = judge(&design, &case.need);
        let has_reserve = judged.headroom() >= case.headroom - 1e-9;
        let n_parts = design.clients.len() + design.pools.len() + design.volumes.len();
        Some(DesignFacts {
            price: self.price(&design),
            headroom: judged.headroom(),
            n_parts: n_parts as u32,
            is_carried: judged.is_met() && has_reserve,
        })
    }

    fn price(&self, design: &Design) -> PriceFacts {
        let edition = self.case.catalog.edition("2018").expect("an edition");
        let order = bill::order(design, None, 0.0).expect("an order");
        let is_without_ceiling = |volume: &volume::design::Volume| match &volume.backing {
            Backing::Disks(_) => false,
            Backing::Network(network) => network.ceiling.read_iops.is_none(),
        };
        let is_google = self.case.service == Service::GoogleVolumes;
        let is_open = design.clients.iter().any(|client| client.egress.is_none())
            || is_google && design.volumes.iter().any(is_without_ceiling);
        let mut sum = (is_open, false, 0);
        let none = cost::Purchase { machines: Vec::new(), storage: Vec::new(), ..order.clone() };
        let machines = order.machines.iter();
        let machines =
            machines.map(|it| cost::Purchase { machines: vec![it.clone()], ..none.clone() });
        let storage = order.storage.iter();
        let storage =
            storage.map(|it| cost::Purchase { storage: vec![it.clone()], ..none.clone() });
        for part in machines.chain(storage) {
            match cost::cost(edition, &part) {
                Ok(cost) => sum.2 += (cost.usd() * 1e6).round() as u64,
                Err(_) => sum.1 = true,
            }
        }
        sum
    }

    /// Goes through every design; those with machines that differ in their number and connections
    /// only are written one after the other.
    fn each(&self, taken: &mut Vec<TriedVolume<'a>>, put: &mut dyn FnMut(&Ranked, PriceFacts)) {
        let case = self.case;
        if taken.len() == case.need.volumes.len() {
            self.pools(taken, put);
            return;
        }
        let asked = case.need.volumes[taken.len()].capacity_gib as u64;
        for level in &case.levels {
            for qos in Qos::ALL {
                for is_large in [false, true] {
                    let number = 0;
                    let tried =
                        TriedVolume { level, qos, is_large, quota_gib: 0, mib_s: 0, number };
                    match qos {
                        Qos::Auto | Qos::Manual if case.service == Service::FsxOntap => {}
                        Qos::Shared if case.service != Service::FsxOntap || is_large => {}
                        Qos::Manual if case.service == Service::GoogleVolumes => {}
                        Qos::Shared => {
                            for number in 0..=taken.len() {
                                let quota_gib = asked.max(1);
                                taken.push(TriedVolume { quota_gib, number, ..tried });
                                self.each(taken, put);
                                taken.pop();
                            }
                        }
                        Qos::Auto if level == "flexible" => {}
                        Qos::Auto => {
                            let most = case.pool_tib_max * 1024 / QUOTA_STEP_GIB;
                            for step in 1..=most {
                                let quota_gib = step * QUOTA_STEP_GIB;
                                if quota_gib < asked {
                                    continue;
                                }
                                taken.push(TriedVolume { quota_gib, ..tried });
                                self.each(taken, put);
                                taken.pop();
                            }
                        }
                        Qos::Manual => {
                            // The quota gives nothing: the least that is allowed.
                            let all: &[u64] =
                                if is_large { &[1024, 2048, asked] } else { &[256, 512, asked] };
                            for &quota_gib in all {
                                if quota_gib < asked.max(all[0]) {
                                    continue;
                                }
                                for mib_s in 1..=case.mib_s_max {
                                    taken.push(TriedVolume { quota_gib, mib_s, ..tried });
                                    self.each(taken, put);
                                    taken.pop();
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Goes through the pools and machines of volumes.
    fn pools(&self, taken: &[TriedVolume<'a>], put: &mut dyn FnMut(&Ranked, PriceFacts)) {
        let case = self.case;
        let mut kinds: Vec<(&str, Qos, usize)> = Vec::new();
        let kind = |tried: &TriedVolume<'a>| (tried.level, tried.qos, tried.number);
        for tried in taken {
            if !kinds.contains(&kind(tried)) {
                kinds.push(kind(tried));
            }
        }
        let volumes: Vec<ChosenVolume> = taken
            .iter()
            .map(|tried| ChosenVolume {
                pool: kinds.iter().position(|it| *it == kind(tried)).expect("a pool"),
                quota_gib: tried.quota_gib,
                is_large: tried.is_large,
                throughput_mib_s: (tried.qos == Qos::Manual).then_some(tried.mib_s),
            })
            .collect();
        // Of each pool every size from what its quotas take on.
        let mut sets: Vec<Vec<ChosenPool>> = vec![Vec::new()];
        for (idx, (level, qos, _)) in kinds.iter().enumerate() {
            if *qos == Qos::Shared {
                let quotas = volumes.iter().filter(|volume| volume.pool == idx);
                let least_gib = quotas.map(|volume| volume.quota_gib).sum::<u64>();
                let all = self.file_systems(level, least_gib, taken.len());
                sets = sets
                    .iter()
                    .flat_map(|set| {
                        all.iter().map(|it| [set.as_slice(), std::slice::from_ref(it)].concat())
                    })
                    .collect();
                continue;
            }
            let of_pool = || volumes.iter().filter(|volume| volume.pool == idx);
            let least = of_pool().map(|volume| volume.quota_gib).sum::<u64>().div_ceil(1024).max(1);
            let given: u64 = of_pool().filter_map(|volume| volume.throughput_mib_s).sum();
            // By quota, a larger pool than the quotas take is a dearer one and nothing else.
            let most = if *qos == Qos::Auto { least } else { case.pool_tib_max };
            let mut next = Vec::new();
            for set in &sets {
                for size_tib in least..=most.min(case.pool_tib_max) {
                    let bought: Vec<Option<u64>> = if *level == "flexible" {
                        (given..=given + 3).map(Some).collect()
                    } else {
                        vec![None]
                    };
                    for throughput_mib_s in bought {
                        let level = (*level).to_owned();
                        let (qos, size_gib) = (*qos, size_tib * 1024);
                        let (price, file_server) = (Price::default(), None);
                        let pool = ChosenPool {
                            level,
                            qos,
                            size_gib,
                            throughput_mib_s,
                            file_server,
                            price,
                        };
                        next.push([set.as_slice(), &[pool]].concat());
                    }
                }
            }
            sets = next;
        }
        for pools in sets {
            self.machines(&pools, &volumes, put);
        }
    }

    /// Returns file systems from a size on: every size of servers, some more GiB, some more
    /// operations than come with them.
    fn file_systems(&self, level: &str, least_gib: u64, n_volumes: usize) -> Vec<ChosenPool> {
        let (n_gib, n_steps, n_servers) = if n_volumes == 1 { (6, 12, 3) } else { (2, 3, 2) };
        let mut all = Vec::new();
        let least_gib = least_gib.max(SSD_GIB_MIN);
        for size_gib in least_gib..least_gib + n_gib {
            for step in 0..n_steps {
                let iops = size_gib * self.case.iops_per_gib + step * IOPS_STEP;
                for throughput_mb_s in SERVERS_MB_S.into_iter().take(n_servers) {
                    all.push(ChosenPool {
                        level: level.to_owned(),
                        qos: Qos::Shared,
                        size_gib,
                        throughput_mib_s: None,
                        file_server: Some(BoughtFileServer { throughput_mb_s, iops }),
                        price: Price::default(),
                    });
                }
            }
        }
        all
    }

    fn machines(
        &self,
        pools: &[ChosenPool],
        volumes: &[ChosenVolume],
        put: &mut dyn FnMut(&Ranked, PriceFacts),
    ) {
        let case = self.case;
        for machine in &case.machines {
            for n_machines in case.numbers() {
                let mut ranked = Ranked {
                    machine: machine.clone(),
                    n_machines,
                    connections: 1,
                    machine_price: Price::default(),
                    pools: pools.to_vec(),
                    volumes: volumes.to_vec(),
                    price: Price::default(),
                    headroom: 0.0,
                    n_parts: 0,
                };
                let key = format!("{machine} {n_machines} {pools:?}");
                let price = *self.prices.borrow_mut().entry(key).or_insert_with(|| {
                    let text = netapp::toml(&case.terms(), &case.need, &ranked, "tried");
                    let (design, _) = volume::design::parse_with(&text, &case.catalog);
                    design.map(|design| self.price(&design))
                });
                let Some(price) = price else { continue };
                let few = [8, CONNECTIONS_MAX];
                let all: &[u32] = if volumes.len() > 1 { &few } else { &CONNECTIONS };
                for &connections in all {
                    ranked.connections = connections;
                    put(&ranked, price);
                }
            }
        }
    }
}
