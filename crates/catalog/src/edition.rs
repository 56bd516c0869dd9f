//! One edition: all tables of one time, looked up by name.

use std::collections::HashMap;

use crate::built_in::EditionInfo;
use crate::error::CatalogError;
use crate::figure::Figure;
use crate::item::Item;
use crate::kinds::{Disk, Vm};
use crate::machine_name::{CLOUDS, cloud_of_machine};
use crate::near;
use crate::network::{self, Fact, Surface, VolumeKind};
use crate::price::{self, Price};
use crate::table::{self, Sources, TableFile};

/// All that one edition says.
#[derive(Debug)]
pub struct Edition {
    /// Its name and what it is.
    pub info: &'static EditionInfo,
    disks: Vec<Disk>,
    vms: Vec<Vm>,
    facts: Vec<Fact>,
    prices: Vec<Price>,
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
    pub fn network_volumes(&self) -> &[Fact] {
        &self.facts
    }

    /// Returns the prices.
    pub fn prices(&self) -> &[Price] {
        &self.prices
    }

    /// Finds a disk by tier, type, or a SKU or family that only one has; case does not count.
    pub fn disk(&self, name: &str) -> Option<&Disk> {
        self.disk_idx.get(&near::key(name)).map(|idx| &self.disks[*idx])
    }

    /// Finds a machine size, with or without `Standard_`; case does not count.
    pub fn vm(&self, name: &str) -> Option<&Vm> {
        self.vm_idx.get(&near::key(name)).map(|idx| &self.vms[*idx])
    }

    /// Says that no machines are known of the cloud whose sizes are named so: `the catalogue has no
    /// machines of Google Cloud`. `None` where there are some, or the name is of no known form.
    pub fn lacks_machines_like(&self, name: &str) -> Option<String> {
        let cloud = cloud_of_machine(name)?;
        self.lacks_machines_of(cloud)
    }

    /// Says that no machines of a cloud are known, by what people call it: `gcp`, `Google`.
    pub fn lacks_machines_of(&self, cloud: &str) -> Option<String> {
        let (word, title) = CLOUDS.into_iter().find(|(word, title)| {
            let is_same = |known: &str| known.eq_ignore_ascii_case(cloud);
            is_same(word) || title.split(' ').any(is_same)
        })?;
        let is_known = self.vms.iter().any(|vm| vm.cloud() == word);
        (!is_known).then(|| format!("the catalogue has no machines of {title}"))
    }

    /// Returns the prices of one thing, those of the best-ranking source first.
    pub fn prices_of(&self, name: &str) -> impl Iterator<Item = &Price> {
        let key = near::key(name);
        self.prices.iter().filter(move |price| near::key(&price.name) == key)
    }

    /// Finds a fact about network volumes.
    pub fn fact(&self, scope: &str, parameter: &str) -> Option<&Figure> {
        let is_it = |fact: &&Fact| fact.scope == scope && fact.parameter == parameter;
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
        files: &[TableFile<'_>],
        sources: &Sources,
        errors: &mut Vec<CatalogError>,
    ) -> Self {
        let mut read = Tables::default();
        read.read(info.name, files, sources, errors);
        if let Some(base) = info.based_on {
            // A document's own surfaces stand alone: mixed with others they would belong to no
            // document.
            let has_surfaces = read.facts.iter().any(|fact| fact.scope.starts_with("surface."));
            let n_facts = read.facts.len();
            read.read(base, files, sources, errors);
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
        Edition { info, disks, vms, facts: read.facts, prices: read.prices, disk_idx, vm_idx }
    }
}

#[derive(Default)]
struct Tables {
    disks: Vec<Item>,
    vms: Vec<Item>,
    facts: Vec<Fact>,
    prices: Vec<Price>,
}

impl Tables {
    fn read(
        &mut self,
        edition: &str,
        files: &[TableFile<'_>],
        sources: &Sources,
        errors: &mut Vec<CatalogError>,
    ) {
        for file in files {
            let Some((folder, name)) = file.path.split_once('/') else { continue };
            if folder != edition {
                continue;
            }
            match name.split('-').next() {
                Some("disks") => self.disks.extend(table::items(*file, sources, errors)),
                Some("vms") => self.vms.extend(table::items(*file, sources, errors)),
                Some("network") => self.facts.extend(network::facts(*file, sources, errors)),
                Some("prices") => self.prices.extend(price::prices(*file, sources, errors)),
                Some("hourly") => self.prices.extend(price::hourly(*file, sources, errors)),
                _ => errors.push(crate::CatalogError::new(
                    file.path,
                    1,
                    "a table is named disks-, vms-, network-, prices- or hourly-SOMETHING.csv",
                )),
            }
        }
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
