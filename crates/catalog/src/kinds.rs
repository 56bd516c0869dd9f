//! Disks and machines: an item's figures by their names.

use std::ops::Deref;

use crate::figure::Figure;
use crate::item::Item;

/// Whether the host cache may serve a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cacheable {
    /// It may.
    Yes,
    /// It may not.
    No,
    /// No source of this edition says.
    Unknown,
}

/// A disk tier of fixed size, or a type whose size and limits are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Disk(pub(crate) Item);

/// A virtual machine size.
#[derive(Clone, Debug, PartialEq)]
pub struct Vm(pub(crate) Item);

impl Deref for Disk {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.0
    }
}

impl Deref for Vm {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.0
    }
}

/// Writes a getter per property.
macro_rules! figures {
    ($(#[$doc:meta] $name:ident)*) => {
        $(#[$doc] pub fn $name(&self) -> Option<&Figure> {
            self.figure(stringify!($name))
        })*
    };
}

impl Disk {
    figures! {
        /// Size of a tier; `None` for a type whose size is chosen.
        size
        /// Operations per second of a tier.
        iops
        /// Bytes per second of a tier.
        throughput
        /// Operations per second while credits last.
        burst_iops
        /// Bytes per second while credits last.
        burst_throughput
        /// Seconds that a full bucket lasts at the burst rate.
        burst_time
        /// Operations per second with on-demand bursting.
        ondemand_iops
        /// Bytes per second with on-demand bursting.
        ondemand_throughput
        /// Operations per second with performance plus.
        plus_iops
        /// Bytes per second with performance plus.
        plus_throughput
        /// An operation counts once for each begun piece of this size.
        io_unit
        /// Smallest size of a type whose size is chosen.
        size_min
        /// Largest size of a type whose size is chosen.
        size_max
        /// Operations per second without paying for more.
        iops_base
        /// Operations per second that each GiB allows.
        iops_per_gib
        /// Fewest operations per second that can be chosen.
        iops_min
        /// Most operations per second that can be chosen.
        iops_max
        /// Bytes per second without paying for more.
        throughput_base
        /// Least throughput that can be chosen.
        throughput_min
        /// Most throughput that can be chosen.
        throughput_max
        /// Throughput that each operation per second allows.
        throughput_per_iops
    }

    /// Returns whose it is.
    pub fn cloud(&self) -> &str {
        self.word("cloud").unwrap_or("")
    }

    /// Returns what kind of disk it is, such as `Premium SSD`.
    pub fn family(&self) -> &str {
        self.word("family").unwrap_or("")
    }

    /// Returns whether its size and limits are chosen.
    pub fn is_free(&self) -> bool {
        self.size().is_none()
    }

    /// Returns whether the host cache may serve it.
    pub fn cacheable(&self) -> Cacheable {
        match self.word("cache") {
            Some("yes") => Cacheable::Yes,
            Some("no") => Cacheable::No,
            _ => Cacheable::Unknown,
        }
    }
}

impl Vm {
    figures! {
        /// Processors.
        vcpus
        /// Memory.
        memory
        /// Disks it takes.
        max_data_disks
        /// Operations per second to remote disks, past the host cache.
        uncached_iops
        /// Bytes per second to remote disks, past the host cache.
        uncached_throughput
        /// Operations per second to remote disks while credits last.
        uncached_burst_iops
        /// Bytes per second to remote disks while credits last.
        uncached_burst_throughput
        /// Operations per second to Premium SSD v2 and Ultra Disk, where that is a cap of its own.
        v2_iops
        /// Bytes per second to Premium SSD v2 and Ultra Disk, where that is a cap of its own.
        v2_throughput
        /// Operations per second of disks with host cache.
        cached_iops
        /// Bytes per second of disks with host cache; where writes differ, of reads.
        cached_throughput
        /// Bytes per second of writes to disks with host cache, where they differ from reads.
        cached_write_throughput
        /// Operations per second of disks with host cache while credits last.
        cached_burst_iops
        /// Bytes per second of disks with host cache while credits last.
        cached_burst_throughput
        /// Size of the host cache.
        cache
        /// What the network card sends at most.
        egress
    }

    /// Returns whose it is.
    pub fn cloud(&self) -> &str {
        self.word("cloud").unwrap_or("")
    }

    /// Returns whether it takes premium disks; `None` where no source says.
    pub fn takes_premium(&self) -> Option<bool> {
        self.word("premium").map(|word| word == "yes")
    }
}
