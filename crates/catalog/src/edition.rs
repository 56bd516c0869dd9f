//! One edition: all tables of one time, looked up by name.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::cloud::Cloud;
use crate::error::CatalogError;
use crate::figure::Figure;
use crate::item::Item;
use crate::kinds::{Disk, Vm};
use crate::near;
use crate::network::{self, NetworkFact, Surface, VolumeKind};
use crate::packed::{self, EditionInfo, OwnTables};
use crate::price::{Price, Prices};
use crate::table::{self, Sources, TableSchema};

/// All that one edition says.
#[derive(Debug)]
pub struct Edition {
    /// Its name and what it is.
    pub info: &'static EditionInfo,
    disks: Vec<Disk>,
    vms: Vec<Vm>,
    facts: Vec<NetworkFact>,
    /// A user's own tables, for the prices in them.
    own: OwnTables,
    /// Read when they are first asked for: most commands need none.
    prices: OnceLock<Prices>,
    disk_idx: HashMap<String, usize>,
    vm_idx: HashMap<String, usize>,
}

impl Edition {
    /// Returns the disks, in the order of the tables.
    pub fn disks(&self) -> &[Disk] {
        &self.disks
    }

    /// Returns the machine sizes, in the order of the tables.
    pub fn vms(&self) -> &[Vm] {
        &self.vms
    }

    /// Returns the facts about network volumes: levels, limits, measured ceilings.
    pub fn network_volumes(&self) -> &[NetworkFact] {
        &self.facts
    }

    /// Returns the prices.
    pub fn prices(&self) -> &[Price] {
        self.price_list().all()
    }

    pub(crate) fn price_list(&self) -> &Prices {
        self.prices.get_or_init(|| {
            let mut errors = Vec::new();
            let prices = Prices::read(self.info, &self.own, &mut errors);
            assert!(errors.is_empty(), "tables that were checked have mistakes: {errors:?}");
            prices
        })
    }

    /// Returns the regions of a cloud that any price is known of, by name.
    pub fn regions(&self, cloud: Cloud) -> Vec<&str> {
        self.price_list().regions(cloud).collect()
    }

    /// Finds a disk by tier, type, or a SKU or family that only one has; case does not count.
    pub fn disk(&self, name: &str) -> Option<&Disk> {
        self.disk_idx.get(&near::key(name)).map(|idx| &self.disks[*idx])
    }

    /// Finds a machine size, with or without `Standard_`; case does not count.
    pub fn vm(&self, name: &str) -> Option<&Vm> {
        self.vm_idx.get(&near::key(name)).map(|idx| &self.vms[*idx])
    }

    /// Reports that no machines are known of the cloud whose sizes are named so: `the catalogue has
    /// no machines of Google Cloud`. `None` where there are some, or the name is of no known form.
    pub fn lacks_machines_like(&self, name: &str) -> Option<String> {
        self.lacks_machines_of(Cloud::of_machine(name)?.as_str())
    }

    /// Reports that no machines of a cloud are known, by what people call it: `gcp`, `Google`.
    pub fn lacks_machines_of(&self, cloud: &str) -> Option<String> {
        let cloud = Cloud::from_text(cloud)?;
        let is_known = self.vms.iter().any(|vm| vm.cloud() == Some(cloud));
        (!is_known).then(|| {
            let edition = self.info.name;
            format!("edition {edition} has no machines of {}", cloud.title())
        })
    }

    /// Returns the prices of one thing, those of the best-ranking source first.
    pub fn prices_of(&self, name: &str) -> impl Iterator<Item = &Price> {
        self.price_list().of(name)
    }

    /// Finds a fact about network volumes.
    pub fn fact(&self, scope: &str, parameter: &str) -> Option<&Figure> {
        let is_it = |fact: &&NetworkFact| fact.scope == scope && fact.parameter == parameter;
        self.facts.iter().find(is_it).map(|fact| &fact.figure)
    }

    /// Returns the service levels that give throughput by quota, with it: (`premium`, 64 MiB/s per
    /// TiB).
    pub fn levels(&self) -> impl Iterator<Item = (&str, &Figure)> {
        self.facts
            .iter()
            .filter(|fact| fact.parameter == "throughput_per_tib")
            .filter_map(|fact| fact.scope.strip_prefix("level.").map(|level| (level, &fact.figure)))
    }

    /// Returns what volumes of one kind were measured to carry.
    pub fn surfaces(&self, kind: VolumeKind) -> Vec<Surface<'_>> {
        network::surfaces(&self.facts, kind)
    }

    /// Reads the tables of an edition and of the one it is based on. A figure of an earlier table
    /// counts before that of a later one.
    pub(crate) fn read(
        info: &'static EditionInfo,
        own: &OwnTables,
        errors: &mut Vec<CatalogError>,
    ) -> Self {
        let sources = packed::sources(own, errors);
        let mut read = Tables::default();
        read.read(info.name, own, &sources, errors);
        if let Some(base) = info.based_on {
            // A document's own surfaces stand alone: mixed with others they would belong to no
            // document.
            let has_surfaces = read.facts.iter().any(|fact| fact.scope.starts_with("surface."));
            let n_facts = read.facts.len();
            read.read(base, own, &sources, errors);
            let mut position = 0;
            read.facts.retain(|fact| {
                position += 1;
                let is_own = position <= n_facts;
                is_own || !(has_surfaces && fact.scope.starts_with("surface."))
            });
        }
        let disks: Vec<Disk> = merge(read.disks).into_iter().map(Disk).collect();
        let vms: Vec<Vm> = merge(read.vms).into_iter().map(Vm).collect();
        let vm_idx = vms.iter().enumerate().map(|(idx, vm)| (near::key(&vm.name), idx)).collect();
        let disk_idx = disk_keys(&disks);
        let (own, prices, facts) = (Arc::clone(own), OnceLock::new(), read.facts);
        Edition { info, disks, vms, facts, own, prices, disk_idx, vm_idx }
    }
}

#[derive(Default)]
struct Tables {
    disks: Vec<Item>,
    vms: Vec<Item>,
    facts: Vec<NetworkFact>,
}

impl Tables {
    fn read(
        &mut self,
        edition: &str,
        own: &OwnTables,
        sources: &Sources,
        errors: &mut Vec<CatalogError>,
    ) {
        let is_wanted = |kind: TableSchema| !kind.is_of_prices();
        packed::each_table(own, edition, is_wanted, |kind, file| match kind {
            TableSchema::Disks => self.disks.extend(table::items(file, sources, errors)),
            TableSchema::Vms => self.vms.extend(table::items(file, sources, errors)),
            TableSchema::Network => self.facts.extend(network::facts(file, sources, errors)),
            TableSchema::Prices | TableSchema::ByRegion | TableSchema::Sustained => {}
        });
    }
}

/// Merges lines of one name, in the order in which names first appear.
fn merge(rows: Vec<Item>) -> Vec<Item> {
    let mut idx_of: HashMap<String, usize> = HashMap::new();
    let mut items: Vec<Item> = Vec::new();
    for row in rows {
        let idx = *idx_of.entry(near::key(&row.name)).or_insert(items.len());
        if let Some(item) = items.get_mut(idx) {
            item.add(row);
        } else {
            items.push(row);
        }
    }
    items
}

/// Names under which disks are found.
fn disk_keys(disks: &[Disk]) -> HashMap<String, usize> {
    let mut keys: HashMap<String, usize> = HashMap::new();
    let mut shared: HashMap<String, Option<usize>> = HashMap::new();
    for (idx, disk) in disks.iter().enumerate() {
        keys.insert(near::key(&disk.name), idx);
        let skus = disk.word("skus").unwrap_or("").split(' ').filter(|sku| !sku.is_empty());
        let aliases = disk.word("aliases").unwrap_or("").split(';').map(str::trim);
        let aliases = aliases.filter(|alias| !alias.is_empty());
        for alias in skus.chain(aliases).chain([disk.family()]) {
            shared.entry(near::key(alias)).and_modify(|only| *only = None).or_insert(Some(idx));
        }
    }
    for (alias, only) in shared {
        if let Some(idx) = only {
            keys.entry(alias).or_insert(idx);
        }
    }
    keys
}
