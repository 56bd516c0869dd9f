//! What a region of a cloud sells, ready to be searched.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::cost::{self, CostError, MONTH_HOURS, Purchase, Storage};
use catalog::{Arch, Catalog, Cloud, Edition, Term, Vm as Size};
use volume::design::{Interface, LOCAL};

use crate::bill;
use crate::group::{Group, Limits, MachineSize};
use crate::kind::DiskKind;
use crate::local::Locals;
use crate::price::Price;

/// Where and on which terms things are bought, and which of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The cloud.
    pub cloud: Cloud,
    /// The region; `None` takes prices that state none.
    pub region: Option<String>,
    /// Edition of the catalogue.
    pub edition: String,
    /// For how long machines are reserved.
    pub term: Term,
    /// Hours of the month.
    pub month_hours: f64,
    /// Hours of it in which the machines run.
    pub machine_hours: f64,
    /// Take the discount of Google Cloud for machines that run all month.
    pub is_full_month: bool,
    /// Bytes of a published MB whose size the source does not state.
    pub mb_bytes: u64,
    /// Only these machine sizes; empty takes all.
    pub machines: Vec<String>,
    /// Only these types of disk, [`LOCAL`] for those of the machine itself; empty takes all.
    pub disks: Vec<String>,
    /// Take machines with Arm processors, on which the application must run, too.
    pub allows_arm: bool,
    /// The interface that machines reach their disks by, of those that have limits for several;
    /// `None` takes each machine's usual one.
    pub interface: Option<Interface>,
}

impl Terms {
    /// Makes terms of a cloud: on demand, all machines but those with Arm, all disks.
    pub fn new(cloud: Cloud, region: Option<&str>) -> Self {
        Terms {
            cloud,
            region: region.map(ToOwned::to_owned),
            edition: "current".to_owned(),
            term: Term::OnDemand,
            month_hours: MONTH_HOURS,
            machine_hours: MONTH_HOURS,
            is_full_month: false,
            mb_bytes: volume::design::MB_BYTES_DEFAULT,
            machines: Vec::new(),
            disks: Vec::new(),
            allows_arm: false,
            interface: None,
        }
    }

    /// Returns what the cloud and its region are called: Azure westeurope.
    pub fn place(&self) -> String {
        match &self.region {
            Some(region) => format!("{} {region}", self.cloud.as_str()),
            None => self.cloud.as_str().to_owned(),
        }
    }

    /// Returns the interface of a size, where it is not its usual one.
    pub(crate) fn interface_of(&self, size: &Size) -> Option<Interface> {
        self.interface.filter(|interface| interface.is_of(size))
    }

    /// Says whether disks of the machine itself may be taken.
    pub(crate) fn allows_local(&self) -> bool {
        self.disks.is_empty() || self.disks.iter().any(|name| name == LOCAL)
    }

    /// Returns an order of nothing on these terms.
    pub(crate) fn order(&self) -> Purchase {
        Purchase {
            term: self.term,
            month_hours: self.month_hours,
            machine_hours: self.machine_hours,
            is_full_month: self.is_full_month,
            ..Purchase::new(self.cloud, self.region.as_deref())
        }
    }
}

/// Why there is nothing to search.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MarketError {
    /// No such edition.
    #[error("unknown edition `{edition}`")]
    UnknownEdition {
        /// As asked.
        edition: String,
    },
    /// A region must be named.
    #[error("prices of {} are by region: name one", cloud.title())]
    NoRegion {
        /// The cloud.
        cloud: Cloud,
        /// Its regions.
        known: Vec<String>,
    },
    /// The terms have no prices at all.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// A machine that is asked for is not there.
    #[error("unknown machine size `{name}` of {} in edition {edition}", cloud.title())]
    UnknownMachine {
        /// As asked.
        name: String,
        /// The cloud.
        cloud: Cloud,
        /// The edition.
        edition: String,
        /// Names that look like it.
        near: Vec<String>,
    },
    /// A type of disk that is asked for is not there.
    #[error("unknown disk `{name}` of {} in edition {edition}", cloud.title())]
    UnknownDisk {
        /// As asked.
        name: String,
        /// The cloud.
        cloud: Cloud,
        /// The edition.
        edition: String,
        /// Names that look like it.
        near: Vec<String>,
    },
}

/// What a region sells.
pub struct Market<'e> {
    /// On which terms.
    pub terms: Terms,
    pub(crate) edition: &'e Edition,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) kinds: Vec<DiskKind<'e>>,
    pub(crate) groups: Vec<Group>,
    /// What machines have of disks in themselves.
    pub(crate) locals: Locals,
    /// Most disks that any machine is known to take.
    pub(crate) n_disks_max: u32,
    /// Machines without a price there.
    pub n_unpriced_machines: usize,
}

impl<'e> Market<'e> {
    /// Looks up what there is.
    pub fn new(catalog: &'e Arc<Catalog>, terms: Terms) -> Result<Self, MarketError> {
        let edition = catalog.edition(&terms.edition);
        let edition = edition
            .ok_or_else(|| MarketError::UnknownEdition { edition: terms.edition.clone() })?;
        let known = edition.regions(terms.cloud);
        if terms.region.is_none() && !known.is_empty() {
            let known = known.into_iter().map(ToOwned::to_owned).collect();
            return Err(MarketError::NoRegion { cloud: terms.cloud, known });
        }
        // Wrong hours and an unknown region are no missing prices.
        cost::cost(edition, &terms.order())?;
        let kinds = kinds(edition, catalog, &terms)?;
        let mut locals = Locals::default();
        let (groups, n_unpriced_machines) = groups(edition, &kinds, &mut locals, &terms)?;
        let n_disks_max = groups.iter().filter_map(|group| group.limits.n_disks_max).max();
        Ok(Market {
            edition,
            catalog: Arc::clone(catalog),
            kinds,
            groups,
            locals,
            n_disks_max: n_disks_max.unwrap_or(N_DISKS_UNKNOWN),
            n_unpriced_machines,
            terms,
        })
    }

    /// Returns how many machines there are.
    pub fn n_machines(&self) -> usize {
        self.groups.iter().map(|group| group.machines.len()).sum()
    }

    /// Returns a machine size by its name.
    pub(crate) fn machine(&self, name: &str) -> Option<&MachineSize> {
        self.groups.iter().flat_map(|group| &group.machines).find(|size| size.name == name)
    }

    /// Returns the types of disk that there are.
    pub fn disks(&self) -> impl Iterator<Item = &'e catalog::Disk> {
        self.kinds.iter().map(|kind| kind.sku)
    }

    /// Returns the names of those that have no price there.
    pub fn unpriced_disks(&self) -> Vec<&str> {
        let one = |kind: &&DiskKind<'_>| {
            let storage = bill::disks(&kind.disk, self.terms.mb_bytes, self.edition);
            let is_priced = |storage: Storage| !self.price(storage).is_unpriced;
            let storage = storage.map(|one| Storage { operations: 1e6, ..one });
            !storage.is_ok_and(is_priced)
        };
        self.kinds.iter().filter(one).map(|kind| kind.sku.name.as_str()).collect()
    }

    /// Returns the price of equal disks.
    pub(crate) fn price(&self, storage: Storage) -> Price {
        let unpriced_gib = (f64::from(storage.count) * storage.capacity_gib).ceil() as u64;
        let mut order = self.terms.order();
        order.storage.push(storage);
        match cost::cost(self.edition, &order) {
            Ok(cost) => Price::of_usd(cost.usd()),
            Err(_) => Price { is_unpriced: true, unpriced_gib, ..Price::default() },
        }
    }
}

/// Most disks that are tried where no machine says how many it takes.
const N_DISKS_UNKNOWN: u32 = 64;

fn kinds<'e>(
    edition: &'e Edition,
    catalog: &Arc<Catalog>,
    terms: &Terms,
) -> Result<Vec<DiskKind<'e>>, MarketError> {
    let is_here = |sku: &&catalog::Disk| sku.cloud() == Some(terms.cloud);
    let mut wanted: Vec<&catalog::Disk> = edition.disks().iter().filter(is_here).collect();
    if !terms.disks.is_empty() {
        let all = std::mem::take(&mut wanted);
        for name in terms.disks.iter().filter(|name| *name != LOCAL) {
            let found = edition.disk(name).filter(is_here);
            wanted.push(found.ok_or_else(|| {
                let near = catalog::nearest(name, all.iter().map(|sku| sku.name.as_str()));
                let near = near.into_iter().map(ToOwned::to_owned).collect();
                let (name, edition) = (name.clone(), terms.edition.clone());
                MarketError::UnknownDisk { name, cloud: terms.cloud, edition, near }
            })?);
        }
    }
    let mut classes: Vec<&str> = Vec::new();
    let mut kinds = Vec::new();
    for sku in wanted {
        let class = sku.class();
        let idx = classes.iter().position(|known| *known == class).unwrap_or(classes.len());
        if let Some(kind) = DiskKind::new((edition, catalog), terms.mb_bytes, sku, idx) {
            kinds.push(kind);
            if idx == classes.len() {
                classes.push(class);
            }
        }
    }
    Ok(kinds)
}

/// Returns the machines in groups, and how many of them have no price.
fn groups(
    edition: &Edition,
    kinds: &[DiskKind<'_>],
    locals: &mut Locals,
    terms: &Terms,
) -> Result<(Vec<Group>, usize), MarketError> {
    let mut types: BTreeMap<usize, &str> = BTreeMap::new();
    for kind in kinds {
        types.entry(kind.class).or_insert(&kind.sku.name);
    }
    let types: Vec<&str> = types.into_values().collect();
    let mut groups: Vec<Group> = Vec::new();
    let mut by_limits: BTreeMap<String, usize> = BTreeMap::new();
    let mut n_unpriced = 0;
    for size in sizes(edition, terms)? {
        let read_as = (terms.mb_bytes, terms.interface_of(size));
        let limits = Limits::of(edition, read_as, size, &types);
        let mut machine = machine(edition, terms, size);
        if terms.allows_local() {
            machine.local = locals.of(edition, terms.mb_bytes, size);
        }
        n_unpriced += usize::from(machine.price.is_unpriced);
        let key = format!("{limits:?}");
        let idx = *by_limits.entry(key).or_insert(groups.len());
        match groups.get_mut(idx) {
            Some(group) => group.machines.push(machine),
            None => groups.push(Group { limits, machines: vec![machine] }),
        }
    }
    for group in &mut groups {
        group.machines.sort_by(|a, b| (a.price, &a.name).cmp(&(b.price, &b.name)));
    }
    groups.sort_by_key(|group| group.machines[0].price);
    Ok((groups, n_unpriced))
}

fn sizes<'e>(edition: &'e Edition, terms: &Terms) -> Result<Vec<&'e Size>, MarketError> {
    let is_here = |size: &&Size| size.cloud() == Some(terms.cloud);
    let is_runnable = |size: &&Size| terms.allows_arm || size.arch() != Some(Arch::Arm);
    if terms.machines.is_empty() {
        return Ok(edition.vms().iter().filter(is_here).filter(is_runnable).collect());
    }
    let of = |name: &String| {
        edition.vm(name).filter(is_here).ok_or_else(|| {
            let all = edition.vms().iter().filter(is_here).map(|size| size.name.as_str());
            let near = catalog::nearest(name, all).into_iter().map(ToOwned::to_owned).collect();
            let (name, edition) = (name.clone(), terms.edition.clone());
            MarketError::UnknownMachine { name, cloud: terms.cloud, edition, near }
        })
    };
    terms.machines.iter().map(of).collect()
}

fn machine(edition: &Edition, terms: &Terms, size: &Size) -> MachineSize {
    let mut order = terms.order();
    order.machines.push(bill::machine(&size.name));
    let vcpus = size.vcpus().map(|figure| figure.value);
    let price = match cost::cost(edition, &order) {
        Ok(cost) => Price::of_usd(cost.usd()),
        Err(_) => Price {
            is_unpriced: true,
            unpriced_vcpus: vcpus.unwrap_or(0.0) as u64,
            ..Price::default()
        },
    };
    let memory_gib = size.memory().map(|figure| figure.per_s as f64 / f64::from(1 << 30));
    let interface = terms.interface_of(size);
    MachineSize { name: size.name.clone(), price, vcpus, memory_gib, interface, local: None }
}
