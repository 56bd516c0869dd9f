//! What of a design is built: disks with names and places, network volumes, the machine.

use std::collections::BTreeSet;

use catalog::{Cloud, Disk as Sku, Edition};
use volume::Design;
use volume::design::service::{self, Service};
use volume::design::{Backing, BoughtFileServer, Disk, Interface, NetworkVolume, Stripe, Volume};

use crate::form::{Form, Refusal};

const GIB: u64 = 1 << 30;

const TIB: u64 = 1 << 40;

/// Edition that names of products are looked up in where a design's own has none.
const EDITION_CURRENT: &str = "current";

/// A design, taken apart.
pub(crate) struct Parts<'d> {
    pub(crate) design: &'d Design,
    /// The cloud that it says, or that its machine or a disk is of.
    pub(crate) cloud: Option<Cloud>,
    pub(crate) volumes: Vec<DiskVolume<'d>>,
    pub(crate) networks: Vec<Network<'d>>,
}

/// A volume of disks.
pub(crate) struct DiskVolume<'d> {
    pub(crate) volume: &'d Volume,
    pub(crate) stripe: &'d Stripe,
    /// What it is called in names of resources: small letters, digits and hyphens.
    pub(crate) slug: String,
    /// Place of its first disk at the machine; the others follow.
    pub(crate) first_lun: usize,
    sku: Option<&'d Sku>,
}

/// A volume of a network file service.
pub(crate) struct Network<'d> {
    pub(crate) volume: &'d Volume,
    pub(crate) backing: &'d NetworkVolume,
    pub(crate) slug: String,
}

/// Equal machines that reach the network volumes.
pub(crate) struct ClientPart<'d> {
    pub(crate) slug: String,
    /// Size, as the catalogue has it.
    pub(crate) size: &'d str,
    pub(crate) count: usize,
}

/// A capacity pool of the network file service.
pub(crate) struct PoolPart {
    pub(crate) slug: String,
    /// Service level, such as `Premium`.
    pub(crate) level: String,
    pub(crate) size_bytes: u64,
    /// What a file system is bought with, where the pool is one.
    pub(crate) file_server: Option<BoughtFileServer>,
    pub(crate) is_manual: bool,
    /// What a pool has whose throughput is bought apart from its size, MiB/s.
    pub(crate) throughput_mib_s: Option<u64>,
    /// The design has no such pool: it is made as large as its volumes.
    pub(crate) is_made_up: bool,
}

/// What is bought of one disk.
pub(crate) struct Bought<'d> {
    /// The product's name in the cloud's own interface, such as `Premium_LRS` or `gp3`.
    pub(crate) product: &'d str,
    pub(crate) size_gib: u64,
    /// I/Os per second, where they are chosen.
    pub(crate) iops: Option<u64>,
    /// Bytes per second, where they are chosen.
    pub(crate) bytes_per_s: Option<u64>,
    /// Bursting on demand is switched on.
    pub(crate) bursts_on_demand: bool,
    pub(crate) has_performance_plus: bool,
    /// The newer types of Azure, which need a zone and have sectors of 4 KiB by default.
    pub(crate) is_v2: bool,
    pub(crate) is_ultra: bool,
}

impl<'d> Parts<'d> {
    pub(crate) fn new(design: &'d Design) -> Self {
        let mut slugs = BTreeSet::new();
        let (mut volumes, mut networks, mut first_lun) = (Vec::new(), Vec::new(), 0);
        for volume in &design.volumes {
            let slug = unique(&slug_of(volume), &mut slugs);
            match &volume.backing {
                Backing::Disks(stripe) => {
                    let sku = stripe.disks.first().and_then(|disk| sku(design, &disk.sku));
                    volumes.push(DiskVolume { volume, stripe, slug, first_lun, sku });
                    first_lun += if stripe.is_local { 0 } else { stripe.disks.len() };
                }
                Backing::Network(network) => {
                    networks.push(Network { volume, backing: network, slug });
                }
            }
        }
        let mut parts = Parts { design, cloud: None, volumes, networks };
        parts.cloud = design.cloud.or_else(|| parts.cloud_of_parts());
        parts
    }

    fn cloud_of_parts(&self) -> Option<Cloud> {
        let of_machine = || self.size().and_then(Cloud::of_machine);
        let of_disks = || self.volumes.iter().find_map(|volume| volume.sku?.cloud());
        of_machine().or_else(of_disks).or_else(|| Some(self.service()?.cloud()))
    }

    /// Returns the file service that its network volumes are of, where it has some.
    pub(crate) fn service(&self) -> Option<Service> {
        let edition = self.design.rows()?;
        let level = service::level_of(edition, &self.networks.first()?.backing.level)?;
        Some(Service::of_level(level))
    }

    /// Returns the name that a pool's level has within its service: `multi-az-gen1`, `premium`.
    pub(crate) fn own_level(&self, pool: &PoolPart) -> &'d str {
        let level = self.design.rows().and_then(|it| service::level_of(it, &pool.level));
        level.map_or("", service::own_name)
    }

    /// Returns the machine's size, where it is one that can be bought.
    pub(crate) fn size(&self) -> Option<&'d str> {
        let vm = self.design.vm.as_ref()?;
        let known = |edition: &'d Edition| edition.vm(&vm.size).is_some();
        let is_known = self.design.rows().is_some_and(known);
        is_known.then_some(vm.size.as_str())
    }

    /// Returns the clients whose machines the design names: those without a size are machines that
    /// are there already.
    pub(crate) fn clients(&self) -> Vec<ClientPart<'d>> {
        let mut slugs = BTreeSet::new();
        let mut clients = Vec::new();
        let mut rest = self.design.clients.as_slice();
        while let Some(first) = rest.first() {
            let count = (1 + usize::from(first.n_following)).min(rest.len());
            if !first.size.is_empty() {
                // Names of equal clients differ in a number at their end.
                let name = match count {
                    1 => first.name.as_str(),
                    _ => first.name.trim_end_matches("-1"),
                };
                let slug = unique(&slug(name), &mut slugs);
                clients.push(ClientPart { slug, size: &first.size, count });
            }
            rest = &rest[count..];
        }
        clients
    }

    /// Returns whether the text makes disks, or a machine that has them.
    pub(crate) fn has_disks_or_machine(&self) -> bool {
        self.has_machine() || self.n_attached() > 0
    }

    /// Returns whether the text makes a machine: the design's own, or those that reach its volumes.
    pub(crate) fn makes_machines(&self) -> bool {
        self.has_machine() || !self.clients().is_empty()
    }

    /// Returns whether the design has a machine, of whatever figures.
    pub(crate) fn has_machine(&self) -> bool {
        self.design.vm.is_some()
    }

    /// Returns what the text is of, for its head.
    pub(crate) fn title(&self, form: Form) -> String {
        format!("{}: {}", self.design.name, form.about())
    }

    /// Returns the volumes whose disks are attached to the machine.
    pub(crate) fn attached(&self) -> impl Iterator<Item = &DiskVolume<'d>> {
        self.volumes.iter().filter(|volume| !volume.stripe.is_local)
    }

    pub(crate) fn n_attached(&self) -> usize {
        self.attached().map(|volume| volume.stripe.disks.len()).sum()
    }

    /// Returns the mounts of disks that are in the machine itself.
    pub(crate) fn local(&self) -> Vec<&'d str> {
        let local = self.volumes.iter().filter(|volume| volume.stripe.is_local);
        local.map(|volume| volume.volume.mount.as_str()).collect()
    }

    /// Returns whether a machine reaches its disks as NVMe devices: as the design says, else where
    /// the catalogue knows its size with nothing else.
    pub(crate) fn is_nvme(&self) -> bool {
        let Some(vm) = &self.design.vm else { return false };
        let size = || self.design.rows().and_then(|edition| edition.vm(&vm.size));
        match vm.interface {
            Some(interface) => interface == Interface::Nvme,
            None => size().and_then(|it| it.word("interface")) == Some(Interface::Nvme.as_str()),
        }
    }

    /// Returns whether a machine of AWS can have a path of its own to its volumes: sizes without
    /// one, such as those of T2, are refused with the option. The catalogue has limits of that path
    /// of each size that has it; of a size that the design does not name nothing is known.
    pub(crate) fn is_ebs_optimized(&self) -> bool {
        let size = self.size().and_then(|name| self.design.rows()?.vm(name));
        size.is_none_or(|size| size.uncached_iops().is_some())
    }

    /// Returns whether a zone must be named: disks of the newer types are of one.
    pub(crate) fn needs_zone(&self) -> Result<bool, Refusal> {
        for volume in self.attached() {
            let bought = volume.bought()?;
            if bought.is_v2 || bought.is_ultra {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn has_ultra(&self) -> Result<bool, Refusal> {
        for volume in self.attached() {
            if volume.bought()?.is_ultra {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<'d> DiskVolume<'d> {
    /// Returns the disk that all of the stripe are equal to.
    pub(crate) fn disk(&self) -> &'d Disk {
        &self.stripe.disks[0]
    }

    pub(crate) fn n_disks(&self) -> usize {
        self.stripe.disks.len()
    }

    pub(crate) fn chunk_kib(&self) -> u64 {
        self.stripe.chunk_bytes >> 10
    }

    /// Returns the disks' names, after the volume's, with their places at the machine.
    pub(crate) fn names(&self) -> impl Iterator<Item = (String, usize)> {
        let of = |idx: usize| (format!("{}-{}", self.slug, idx + 1), self.first_lun + idx);
        (0..self.n_disks()).map(of)
    }

    /// Returns what is bought of each disk.
    pub(crate) fn bought(&self) -> Result<Bought<'d>, Refusal> {
        let disk = self.disk();
        let Some(sku) = self.sku else {
            let mount = self.volume.mount.clone();
            return Err(Refusal::OwnDisk { mount, sku: format!("`{}`", disk.sku) });
        };
        let product = match sku.word("skus") {
            Some(skus) => skus.split(' ').next().unwrap_or(&sku.name),
            None => &sku.name,
        };
        let limits = sku.word("limits").unwrap_or("");
        let per_s = |limit: &Option<volume::Limit>| limit.as_ref().map(|limit| limit.per_s);
        let is_chosen = |what: &str| limits == "chosen" || limits == what;
        let limit = [&disk.cap.iops, &disk.cap.bytes];
        let bursts = |limit: &&Option<volume::Limit>| {
            limit.as_ref().and_then(|limit| limit.burst).is_some_and(|it| it.bucket.is_none())
        };
        Ok(Bought {
            product,
            size_gib: disk.size_bytes.div_ceil(GIB),
            iops: per_s(&disk.cap.iops).filter(|_| is_chosen("iops")),
            bytes_per_s: per_s(&disk.cap.bytes).filter(|_| is_chosen("throughput")),
            bursts_on_demand: limit.iter().any(bursts),
            has_performance_plus: self.volume.build.has_performance_plus,
            is_v2: sku.family() == "Premium SSD v2",
            is_ultra: sku.family() == "Ultra Disk",
        })
    }
}

impl Parts<'_> {
    /// Returns the pools, and for each network volume the position of its own. Volumes that the
    /// design has in no pool share one by level, as large as they are and no smaller than there is.
    pub(crate) fn pools(&self) -> (Vec<PoolPart>, Vec<usize>) {
        let mut slugs = BTreeSet::new();
        let of_design = self.design.pools.iter().map(|pool| {
            let is_flexible = pool.build.level == "Flexible";
            PoolPart {
                slug: unique(&slug(&pool.name), &mut slugs),
                level: pool.build.level.clone(),
                size_bytes: pool.build.size_bytes,
                file_server: pool.build.file_server,
                is_manual: pool.build.is_manual,
                throughput_mib_s: is_flexible.then_some(pool.throughput.per_s >> 20),
                is_made_up: false,
            }
        });
        let mut pools: Vec<PoolPart> = of_design.collect();
        let mut places = Vec::new();
        let mut bytes: Vec<u64> = vec![0; pools.len()];
        for network in &self.networks {
            let level = &network.backing.level;
            let made_up = pools.iter().position(|pool| pool.is_made_up && pool.level == *level);
            let place = network.backing.pool.map(usize::from).or(made_up).unwrap_or_else(|| {
                pools.push(PoolPart {
                    slug: unique(&slug(level), &mut slugs),
                    level: level.clone(),
                    size_bytes: 0,
                    file_server: None,
                    is_manual: false,
                    throughput_mib_s: None,
                    is_made_up: true,
                });
                bytes.push(0);
                pools.len() - 1
            });
            bytes[place] = bytes[place].saturating_add(network.volume.capacity_bytes);
            places.push(place);
        }
        let sizes = |service| {
            let edition = self.design.rows()?;
            Some(service::sizes(edition, service, service::Sized::Pool))
        };
        let least = self.service().and_then(sizes).map_or(TIB, |sizes| *sizes.start());
        for (pool, bytes) in pools.iter_mut().zip(bytes).filter(|(pool, _)| pool.is_made_up) {
            pool.size_bytes = bytes.max(least);
        }
        (pools, places)
    }
}

impl PoolPart {
    pub(crate) fn size_tib(&self) -> u64 {
        self.size_bytes.div_ceil(TIB)
    }

    pub(crate) fn size_gib(&self) -> u64 {
        self.size_bytes.div_ceil(GIB)
    }
}

impl Network<'_> {
    pub(crate) fn quota_gib(&self) -> u64 {
        self.volume.capacity_bytes.div_ceil(GIB)
    }

    /// Returns what is assigned by hand, MiB/s, in a pool that wants it.
    pub(crate) fn assigned_mib_s(&self, pool: &PoolPart) -> Option<u64> {
        let quota = self.backing.quota.as_ref().filter(|_| pool.is_manual)?;
        Some(quota.per_s.div_ceil(1 << 20))
    }
}

/// Finds a disk's product: of the design's edition, or, where that has no names of products, of the
/// current one.
fn sku<'d>(design: &'d Design, name: &str) -> Option<&'d Sku> {
    let own = design.rows().and_then(|edition| edition.disk(name))?;
    let current = || design.catalog.edition(EDITION_CURRENT)?.disk(name);
    if own.word("skus").is_some() || own.cloud() != Some(Cloud::Azure) {
        return Some(own);
    }
    current().or(Some(own))
}

/// Longest part of a resource's name that is made of a volume's.
const SLUG_LEN_MAX: usize = 40;

/// Returns a volume's name in small letters, digits and hyphens, beginning with a letter.
fn slug_of(volume: &Volume) -> String {
    let name = match volume.build.name.as_str() {
        "" => volume.mount.rsplit('/').next().unwrap_or(""),
        name => name,
    };
    slug(name)
}

/// Returns a name in small letters, digits and hyphens, beginning with a letter.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars() {
        match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_lowercase() || letter.is_ascii_digit() => slug.push(letter),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.truncate(SLUG_LEN_MAX);
    let slug = slug.trim_end_matches('-');
    if slug.starts_with(|c: char| c.is_ascii_lowercase()) {
        slug.to_owned()
    } else {
        format!("volume-{slug}").trim_end_matches('-').to_owned()
    }
}

fn unique(slug: &str, known: &mut BTreeSet<String>) -> String {
    let mut name = slug.to_owned();
    let mut number = 1;
    while !known.insert(name.clone()) {
        number += 1;
        name = format!("{slug}-{number}");
    }
    name
}
