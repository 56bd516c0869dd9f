//! A design as it is bought.

use catalog::cost::{Machine, Purchase, Storage};
use catalog::{Cloud, Edition, Vm};
use volume::Design;
use volume::design::service::{self, Service};
use volume::design::{Backing, Disk, Limit, NetworkVolume};

/// Why a design cannot be bought as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BillError {
    /// It has no edition, and so no prices.
    #[error("the design has no edition")]
    NoEdition,
    /// What was chosen beyond the usual limits has no price.
    #[error("{what} of `{name}` has no price in the catalogue")]
    NotSold {
        /// What was chosen.
        what: &'static str,
        /// Of what.
        name: String,
    },
}

/// Returns what a design is made of, on demand and for all of a month; `operations` are those of
/// each disk in the month.
pub fn order(
    design: &Design,
    region: Option<&str>,
    operations: f64,
) -> Result<Purchase, BillError> {
    let edition = design.rows().ok_or(BillError::NoEdition)?;
    let mut order = Purchase::new(cloud(design, edition), region);
    if let Some(vm) = &design.vm {
        order.machines.push(machine(&vm.size));
    }
    // Clients of one size are bought together.
    for client in design.clients.iter().filter(|client| !client.size.is_empty()) {
        match order.machines.iter_mut().find(|bought| bought.name == client.size) {
            Some(bought) => bought.count += 1,
            None => order.machines.push(machine(&client.size)),
        }
    }
    let mut pools_seen: Vec<u16> = Vec::new();
    for volume in &design.volumes {
        match &volume.backing {
            // The machine's price has them.
            Backing::Disks(stripe) if stripe.is_local => {}
            Backing::Disks(stripe) => {
                let Some(disk) = stripe.disks.first() else { continue };
                let storage = disks(disk, design.mb_bytes, edition)?;
                let count = stripe.disks.len() as u32;
                order.storage.push(Storage { count, operations, ..storage });
            }
            Backing::Network(network) => {
                if network.pool.is_none_or(|pool| !pools_seen.contains(&pool)) {
                    pools_seen.extend(network.pool);
                    let quota_bytes = volume.capacity_bytes;
                    order.storage.push(pool(network, quota_bytes, design, edition));
                }
            }
        }
    }
    Ok(order)
}

/// Returns one machine as it is bought.
pub(crate) fn machine(size: &str) -> Machine {
    Machine { name: size.to_owned(), count: 1, allows_ultra: false }
}

/// Returns whose the machine is, or the first disk or network volume.
pub fn cloud(design: &Design, edition: &Edition) -> Cloud {
    let of_vm = design.vm.as_ref().and_then(|vm| edition.vm(&vm.size)).and_then(Vm::cloud);
    let mut stripes = design.volumes.iter().filter_map(|volume| match &volume.backing {
        Backing::Disks(stripe) => stripe.disks.first(),
        Backing::Network(_) => None,
    });
    let of_disk = || stripes.find_map(|disk| edition.disk(&disk.sku)?.cloud());
    let of_network = || {
        let mut levels = design.volumes.iter().filter_map(|volume| match &volume.backing {
            Backing::Disks(_) => None,
            Backing::Network(network) => service::level_of(edition, &network.level),
        });
        levels.next().map(|level| Service::of_level(level).cloud())
    };
    of_vm.or_else(of_disk).or_else(of_network).unwrap_or(Cloud::Azure)
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// Returns one disk as it is bought, in a design with so many bytes to a published MB. What was
/// chosen beyond its usual limits is refused where it has no price.
pub(crate) fn disks(disk: &Disk, mb_bytes: u64, edition: &Edition) -> Result<Storage, BillError> {
    let sku = edition.disk(&disk.sku);
    let refused = |what| Err(BillError::NotSold { what, name: disk.sku.clone() });
    let limits = [&disk.cap.iops, &disk.cap.bytes];
    let is_paid_burst = |limit: &&Limit| limit.burst.is_some_and(|burst| burst.bucket.is_none());
    if limits.into_iter().flatten().any(|limit| is_paid_burst(&limit)) {
        return refused("on-demand bursting");
    }
    let per_s = |limit: &Option<Limit>| limit.as_ref().map_or(0.0, |limit| limit.per_s as f64);
    let usual = sku.and_then(|sku| sku.iops()).map(|figure| figure.per_s as f64);
    if usual.is_some_and(|usual| per_s(&disk.cap.iops) > usual) {
        return refused("performance plus");
    }
    // What comes with the disk is read in the design's own megabytes, and free all the same.
    let base = sku.and_then(|sku| sku.throughput_base());
    let in_mb = |per_s: f64| per_s / mb_bytes as f64 * 1e6;
    let bytes = per_s(&disk.cap.bytes);
    let is_base = base.is_some_and(|base| (in_mb(bytes) - base.per_s as f64).abs() < 1.0);
    Ok(Storage {
        name: disk.sku.clone(),
        count: 1,
        capacity_gib: gib(disk.size_bytes),
        iops: per_s(&disk.cap.iops),
        throughput_bytes: if is_base { in_mb(bytes) } else { bytes },
        ..Storage::default()
    })
}

/// Returns the pool that a network volume is in as it is bought, in whole steps of its service; one
/// without a pool is alone in the least that it fits in.
fn pool(network: &NetworkVolume, quota_bytes: u64, design: &Design, edition: &Edition) -> Storage {
    let level = service::level_of(edition, &network.level).unwrap_or(&network.level);
    let pool = network.pool.and_then(|pool| design.pools.get(usize::from(pool)));
    let bytes = pool.map_or(quota_bytes, |pool| pool.build.size_bytes);
    // What is larger than any pool is sold nowhere, and keeps the size that it was given.
    let bytes = service::least_pool(edition, level, bytes, 0).unwrap_or(bytes);
    let name = service::price_name(level);
    let storage = Storage { name, count: 1, capacity_gib: gib(bytes), ..Storage::default() };
    let Some(pool) = pool else { return storage };
    if let Some(bought) = pool.build.file_server {
        return Storage {
            throughput_bytes: bought.throughput_mb_s as f64 * 1e6,
            iops: bought.iops as f64,
            ..storage
        };
    }
    if level == service::FLEXIBLE {
        return Storage { throughput_bytes: pool.throughput.per_s as f64, ..storage };
    }
    storage
}
