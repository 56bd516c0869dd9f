//! What a design costs in a month: machines, disks and file services at list prices.
//!
//! Which parts of a thing are billed, and above which free quantity, stands in the tables
//! ([`crate::Part`], [`crate::QuantityBand`]): here they are multiplied and added up. A price that
//! is not
//! known is an error that names it. Nothing is ever free because its price is missing.
//!
//! Prices are of one day each, in US dollars, without tax, traffic and discounts of contracts. A
//! price per hour counts each hour of the month; one per month or year counts a month or a twelfth,
//! however many hours the month has. Only machines stop: disks are paid for all of the month.

use std::sync::Arc;

use crate::cloud::Cloud;
use crate::edition::Edition;
use crate::kinds::Vm;
use crate::near;
use crate::price::{Price, QuantityBand, Term};
use crate::price_per::{Measure, Part, PricePer};

/// Hours of a month as the calculators of all three clouds count them: a twelfth of a year.
pub const MONTH_HOURS: f64 = 730.0;

/// Hours of the longest month.
const MONTH_HOURS_MAX: f64 = 744.0;

/// What is bought, where, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Purchase {
    /// The cloud.
    pub cloud: Cloud,
    /// The region; `None` takes prices that state none.
    pub region: Option<String>,
    /// For how long the machines are reserved. Disks have no such prices.
    pub term: Term,
    /// Hours of the month, 1 to 744.
    pub month_hours: f64,
    /// Hours of it in which the machines run. One that is reserved is paid for anyway.
    pub machine_hours: f64,
    /// Take the discount that Google Cloud gives to machines which run all of the month.
    pub is_full_month: bool,
    /// The machines.
    pub machines: Vec<Machine>,
    /// Disks, file services and pools.
    pub storage: Vec<Storage>,
}

impl Purchase {
    /// Makes an order of nothing yet: on demand, running for 730 of 730 hours.
    pub fn new(cloud: Cloud, region: Option<&str>) -> Self {
        Purchase {
            cloud,
            region: region.map(ToOwned::to_owned),
            term: Term::OnDemand,
            month_hours: MONTH_HOURS,
            machine_hours: MONTH_HOURS,
            is_full_month: false,
            machines: Vec::new(),
            storage: Vec::new(),
        }
    }
}

/// Machines of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The size.
    pub name: String,
    /// How many.
    pub count: u32,
    /// It was started so that it may have Ultra Disk. Azure bills its processors while it has none.
    pub allows_ultra: bool,
}

/// Equal disks, volumes or pools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Storage {
    /// Tier, type or level: `P30`, `gp3`, `netapp-premium`.
    pub name: String,
    /// How many. What is free is so for each.
    pub count: u32,
    /// Capacity of each, GiB; of a tier its own counts.
    pub capacity_gib: f64,
    /// Operations per second of each, as provisioned.
    pub iops: f64,
    /// Throughput of each, as provisioned, bytes per second.
    pub throughput_bytes: f64,
    /// Operations in the month of each, in the pieces that are billed.
    pub operations: f64,
    /// Capacity of a file service's slower tier, GiB.
    pub pool_gib: f64,
    /// Reads from it in the month.
    pub pool_reads: f64,
    /// Writes to it in the month.
    pub pool_writes: f64,
}

/// A month's price.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// One line for each part that is billed.
    pub lines: Vec<Line>,
    /// Hours of the month that it counts.
    pub month_hours: f64,
}

impl Cost {
    /// Returns the sum of all lines, US dollars, not rounded.
    pub fn usd(&self) -> f64 {
        self.lines.iter().map(|line| line.usd).sum()
    }
}

/// One part of a month's price.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// How many such things.
    pub count: u32,
    /// What is billed of each, in the unit of the price.
    pub quantity: f64,
    /// Hours, where the price is per hour; else the part of the price that a month takes.
    pub times: f64,
    /// Share that is left by a discount for running all month; 1 without.
    pub factor: f64,
    /// Product of all, US dollars.
    pub usd: f64,
    /// The price, with its source and date.
    pub price: Price,
}

/// Why an order has no price.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CostError {
    /// No price is known of the region.
    #[error("no prices of region `{region}` of {}", cloud.title())]
    UnknownRegion {
        /// The cloud.
        cloud: Cloud,
        /// The region.
        region: String,
        /// Regions that look like it.
        near: Vec<String>,
        /// All regions of the cloud that have prices.
        known: Vec<String>,
    },
    /// A part has no price there, or not for this term.
    #[error("no price of {what} {}{}", place(region.as_deref()), for_term(*term))]
    NoPrice {
        /// The thing, and the part of it.
        what: String,
        /// Where it is looked for.
        region: Option<String>,
        /// For which term.
        term: Term,
        /// Regions that have it; empty where no source gives any.
        known_in: Vec<String>,
        /// Other terms for which it has a price where it is looked for.
        known_terms: Vec<Term>,
    },
    /// The price of a thing is per something that no quantity of the order is.
    #[error("the price of `{name}` is per `{per}`, which cannot be counted")]
    UnknownPer {
        /// The thing.
        name: String,
        /// What its price is per.
        per: String,
    },
    /// Processors are billed and nothing says how many there are.
    #[error("the number of vCPUs of `{name}` is unknown, and each is billed")]
    UnknownVcpus {
        /// The machine.
        name: String,
    },
    /// Hours that a month does not have.
    #[error("{hours} hours: a month has 1 to {most}")]
    Hours {
        /// As asked.
        hours: f64,
        /// At most.
        most: f64,
    },
    /// A full month's discount and fewer hours.
    #[error("the discount for a full month needs all {month_hours} hours, not {machine_hours}")]
    NotFullMonth {
        /// Hours of the month.
        month_hours: f64,
        /// Hours in which the machines run.
        machine_hours: f64,
    },
}

fn place(region: Option<&str>) -> String {
    region.map_or_else(|| "without a region".to_owned(), |region| format!("in {region}"))
}

fn for_term(term: Term) -> String {
    match term {
        Term::OnDemand => String::new(),
        Term::OneYear => ", reserved for 1 year".to_owned(),
        Term::ThreeYears => ", reserved for 3 years".to_owned(),
    }
}

/// Returns what an order costs in a month.
pub fn cost(edition: &Edition, order: &Purchase) -> Result<Cost, CostError> {
    check_hours(order)?;
    let region = match &order.region {
        Some(region) => Some(find_region(edition, order.cloud, region)?),
        None => None,
    };
    let sum = Sum { edition, order, region };
    let mut lines = Vec::new();
    for machine in &order.machines {
        sum.machine(machine, &mut lines)?;
    }
    for storage in &order.storage {
        sum.storage(storage, &mut lines)?;
    }
    Ok(Cost { lines, month_hours: order.month_hours })
}

/// Finds a region as the tables spell it: case and blanks do not count.
pub fn find_region<'e>(
    edition: &'e Edition,
    cloud: Cloud,
    region: &str,
) -> Result<&'e str, CostError> {
    if let Some(found) = edition.price_list().region(cloud, region) {
        return Ok(found);
    }
    let known = edition.regions(cloud);
    let plain: String = region.to_lowercase().split_whitespace().collect();
    if let Some(found) = known.iter().find(|known| known.to_lowercase() == plain) {
        return Ok(found);
    }
    let near = near::nearest(&plain, known.iter().copied());
    let owned = |names: Vec<&str>| names.into_iter().map(ToOwned::to_owned).collect();
    let (near, known) = (owned(near), owned(known));
    Err(CostError::UnknownRegion { cloud, region: region.to_owned(), near, known })
}

fn check_hours(order: &Purchase) -> Result<(), CostError> {
    let Purchase { month_hours, machine_hours, .. } = *order;
    if !(1.0..=MONTH_HOURS_MAX).contains(&month_hours) {
        return Err(CostError::Hours { hours: month_hours, most: MONTH_HOURS_MAX });
    }
    if !(0.0..=month_hours).contains(&machine_hours) {
        return Err(CostError::Hours { hours: machine_hours, most: month_hours });
    }
    if order.is_full_month && machine_hours < month_hours {
        return Err(CostError::NotFullMonth { month_hours, machine_hours });
    }
    Ok(())
}

/// What all lines of one order share.
struct Sum<'a> {
    edition: &'a Edition,
    order: &'a Purchase,
    region: Option<&'a str>,
}

impl Sum<'_> {
    fn machine(&self, machine: &Machine, lines: &mut Vec<Line>) -> Result<(), CostError> {
        let size = self.edition.vm(&machine.name);
        let name = size.map_or(machine.name.as_str(), |size| &size.name);
        let price = self.find(name, Part::Whole, QuantityBand::ALL, self.order.term)?;
        let mut line = Self::line(machine.count, 1.0, price, self.order.machine_hours)?;
        let family = size.and_then(|size| size.word("family")).unwrap_or_default();
        let prices = self.edition.price_list();
        let discount = prices.sustained(self.order.cloud, family);
        let is_discounted = self.order.is_full_month && self.order.term == Term::OnDemand;
        if let Some(discount) = discount.filter(|_| is_discounted) {
            line.factor = discount.factor;
            line.usd *= discount.factor;
        }
        lines.push(line);
        let is_ultra = |storage: &Storage| {
            self.edition.disk(&storage.name).is_some_and(|disk| disk.name == ULTRA)
        };
        if machine.allows_ultra && !self.order.storage.iter().any(is_ultra) {
            let vcpus = size.and_then(Vm::vcpus);
            let vcpus = vcpus.ok_or_else(|| CostError::UnknownVcpus { name: name.to_owned() })?;
            let price = self.find(ULTRA, Part::Vcpus, QuantityBand::ALL, Term::OnDemand)?;
            lines.push(Self::line(machine.count, vcpus.value, price, self.order.machine_hours)?);
        }
        Ok(())
    }

    fn storage(&self, storage: &Storage, lines: &mut Vec<Line>) -> Result<(), CostError> {
        let disk = self.edition.disk(&storage.name);
        let name = disk.map_or(storage.name.as_str(), |disk| &disk.name);
        let meters = self.meters(name, disk.map_or("", |disk| disk.family()));
        if !meters.iter().any(|meter| meter.part == Part::Whole) {
            return Err(self.no_price(name, Part::Whole, QuantityBand::ALL, Term::OnDemand));
        }
        for meter in meters {
            let billed = |per: &str| {
                let per = per_of(&meter.name, per)?;
                let quantity = quantity(storage, meter.part, per.measure);
                Ok(meter.band.of(quantity, storage.capacity_gib))
            };
            // What is within the free part needs no price.
            if billed(&meter.per)? > 0.0 {
                let price = self.find(&meter.name, meter.part, meter.band, Term::OnDemand)?;
                let billed = billed(&price.per)?;
                lines.push(Self::line(storage.count, billed, price, self.order.month_hours)?);
            }
        }
        Ok(())
    }

    /// Returns what is billed of a thing: every meter that any region has.
    fn meters(&self, name: &str, family: &str) -> Vec<BilledPart> {
        let prices = self.edition.price_list();
        let mut meters: Vec<BilledPart> = Vec::new();
        let mut add = |meter: BilledPart| {
            let is_known =
                |known: &BilledPart| (known.part, known.band) == (meter.part, meter.band);
            if meter.part != Part::Vcpus && !meters.iter().any(is_known) {
                meters.push(meter);
            }
        };
        let of_family = prices.of(family).filter(|price| price.part == Part::Operations);
        for price in prices.of(name).chain(of_family) {
            let (name, per) = (Arc::clone(&price.name), Arc::clone(&price.per));
            add(BilledPart { name, part: price.part, band: price.band, per });
        }
        for unpriced in prices.unpriced(name) {
            let (name, per) = (Arc::clone(&unpriced.name), Arc::clone(&unpriced.per));
            add(BilledPart { name, part: unpriced.part, band: unpriced.band, per });
        }
        meters
    }

    /// Finds a price in the region. One that states no region counts where no price of the thing
    /// states one.
    fn find(
        &self,
        name: &str,
        part: Part,
        band: QuantityBand,
        term: Term,
    ) -> Result<&Price, CostError> {
        let found = self.find_only(name, part, band, term);
        found.ok_or_else(|| self.no_price(name, part, band, term))
    }

    fn find_only(&self, name: &str, part: Part, band: QuantityBand, term: Term) -> Option<&Price> {
        let is_it = |price: &&Price| (price.part, price.band, price.term) == (part, band, term);
        let all = || self.edition.prices_of(name).filter(is_it).filter(|it| it.is_currency_stated);
        let here =
            all().find(|price| self.region.is_some() && price.region.as_deref() == self.region);
        let is_stated = all().any(|price| price.region.is_some());
        let anywhere = || all().next().filter(|_| !is_stated);
        here.or_else(anywhere)
    }

    fn no_price(&self, name: &str, part: Part, band: QuantityBand, term: Term) -> CostError {
        let is_it = |price: &&Price| (price.part, price.band, price.term) == (part, band, term);
        let prices = self.edition.prices_of(name).filter(is_it);
        let mut known_in: Vec<String> =
            prices.filter_map(|price| price.region.as_deref()).map(ToOwned::to_owned).collect();
        known_in.sort();
        known_in.dedup();
        let what = match part {
            Part::Whole => format!("`{name}`"),
            Part::Iops
            | Part::Throughput
            | Part::Operations
            | Part::Vcpus
            | Part::Pool
            | Part::PoolReads
            | Part::PoolWrites => format!("`{name}` ({}{band})", part.as_str()),
        };
        let region = self.region.map(ToOwned::to_owned);
        let has_term =
            |other: &Term| *other != term && self.find_only(name, part, band, *other).is_some();
        let known_terms = Term::ALL.into_iter().filter(has_term).collect();
        CostError::NoPrice { what, region, term, known_in, known_terms }
    }

    fn line(count: u32, quantity: f64, price: &Price, hours: f64) -> Result<Line, CostError> {
        let per = per_of(&price.name, &price.per)?;
        let (quantity, times) = (quantity / per.of, per.time.in_month(hours));
        let usd = f64::from(count) * quantity * price.usd * times;
        Ok(Line { count, quantity, times, factor: 1.0, usd, price: price.clone() })
    }
}

/// Reads what a thing's price is per.
fn per_of(name: &str, per: &str) -> Result<PricePer, CostError> {
    let unknown = || CostError::UnknownPer { name: name.to_owned(), per: per.to_owned() };
    PricePer::read(per).ok_or_else(unknown)
}

/// The type whose machines have processors billed.
const ULTRA: &str = "Ultra";

/// A part of a thing that is billed.
struct BilledPart {
    name: Arc<str>,
    part: Part,
    band: QuantityBand,
    per: Arc<str>,
}

/// Returns how much of a part is bought, in the measure of its price.
fn quantity(storage: &Storage, part: Part, measure: Measure) -> f64 {
    match part {
        Part::Whole if measure == Measure::One => 1.0,
        Part::Whole => storage.capacity_gib,
        Part::Iops => storage.iops,
        Part::Throughput if measure == Measure::MbPerS => storage.throughput_bytes / 1e6,
        Part::Throughput => storage.throughput_bytes / f64::from(1 << 20),
        Part::Operations => storage.operations,
        Part::Pool => storage.pool_gib,
        Part::PoolReads => storage.pool_reads,
        Part::PoolWrites => storage.pool_writes,
        // A machine's.
        Part::Vcpus => 0.0,
    }
}
