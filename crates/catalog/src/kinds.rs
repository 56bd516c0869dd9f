//! Disks and machines: an item's figures by their names.

use std::ops::Deref;

use crate::cloud::Cloud;
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

/// What a machine's processors run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arch {
    /// Programs for 64-bit processors of Intel and AMD.
    X86,
    /// Programs for 64-bit Arm.
    Arm,
}

impl Arch {
    /// Returns its word in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Arch::X86 => "x86_64",
            Arch::Arm => "arm64",
        }
    }

    /// Reads it from the name of a size where the cloud's names say it: a `p` among the features of
    /// Azure (`D16plds_v5`), a `g` among those of AWS (`c7gn.16xlarge`), where all of `a1` and
    /// newer Macs are Arm, too.
    fn of_name(cloud: Cloud, name: &str) -> Option<Self> {
        let is_arm = match cloud {
            Cloud::Azure => {
                let name = name.strip_prefix("Standard_").unwrap_or(name);
                let rest = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                rest.split('_').next()?.contains('p')
            }
            Cloud::Aws => {
                let family = name.split('.').next()?;
                let rest = family.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                let is_mac = family.starts_with("mac2") || family.starts_with("mac-");
                is_mac || family == "a1" || rest.split('-').next()?.contains('g')
            }
            Cloud::Gcp => return None,
        };
        Some(if is_arm { Arch::Arm } else { Arch::X86 })
    }
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
        /// The same on machines of AWS that are not built on Nitro, where that is less.
        iops_max_without_nitro
        /// Bytes per second without paying for more.
        throughput_base
        /// Least throughput that can be chosen.
        throughput_min
        /// Most throughput that can be chosen.
        throughput_max
        /// Throughput that each operation per second allows.
        throughput_per_iops
    }

    /// Returns the cloud that has it; `None` where its table does not say.
    pub fn cloud(&self) -> Option<Cloud> {
        self.word("cloud").and_then(Cloud::of_word)
    }

    /// Returns what kind of disk it is, such as `Premium SSD`.
    pub fn family(&self) -> &str {
        self.word("family").unwrap_or("")
    }

    /// Returns the name of the class of disks for which a machine may have limits of its own, or
    /// which it may not take: on Google Cloud the type, elsewhere the family.
    pub fn class(&self) -> &str {
        if self.cloud() == Some(Cloud::Gcp) { &self.name } else { self.family() }
    }

    /// Returns the operations and the throughput that a machine has once for all its disks of the
    /// type, beside what these have by themselves.
    pub fn machine_base(&self) -> [Option<&Figure>; 2] {
        ["iops_base_per_machine", "throughput_base_per_machine"].map(|what| self.figure(what))
    }

    /// Returns whether a machine has something once for all its disks of the type.
    pub fn has_machine_base(&self) -> bool {
        self.machine_base().iter().any(Option::is_some)
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
        /// Operations per second to remote disks over NVMe, where SCSI has less.
        nvme_iops
        /// Bytes per second to remote disks over NVMe, where SCSI has less.
        nvme_throughput
        /// Operations per second to Premium SSD v2 and Ultra Disk over NVMe.
        nvme_v2_iops
        /// Bytes per second to Premium SSD v2 and Ultra Disk over NVMe.
        nvme_v2_throughput
        /// What the network card sends at most.
        egress
        /// What the network card sends while credits last.
        egress_burst
        /// Disks in the machine itself.
        local_disks
        /// Size of each of them.
        local_disk_size
        /// Size of all of them.
        local_size
    }

    /// Returns the cloud that has it; `None` where its table does not say.
    pub fn cloud(&self) -> Option<Cloud> {
        self.word("cloud").and_then(Cloud::of_word)
    }

    /// Returns what its processors run; `None` where no source says.
    pub fn arch(&self) -> Option<Arch> {
        match self.word("arch") {
            Some("arm64") => Some(Arch::Arm),
            Some("x86_64") => Some(Arch::X86),
            _ => Arch::of_name(self.cloud()?, &self.name),
        }
    }

    /// Returns what all its disks of one type do together, where the cloud limits them by type:
    /// `side` is `read_iops`, `write_iops`, `read_throughput` or `write_throughput`.
    pub fn limit_of(&self, disk: &str, side: &str) -> Option<&Figure> {
        self.figure(&format!("{}_{side}", disk.replace('-', "_")))
    }

    /// Returns whether disks of a class, as [`Disk::class`] has it, can be attached to it; `None`
    /// where no source says.
    pub fn attaches(&self, class: &str) -> Option<bool> {
        let has = |column: &str| {
            self.word(column).is_some_and(|list| list.split(';').any(|word| word.trim() == class))
        };
        if has("refuses") { Some(false) } else { has("attaches").then_some(true) }
    }

    /// Returns whether a machine of AWS is built on Nitro; `None` where no source says.
    pub fn is_nitro(&self) -> Option<bool> {
        self.word("nitro").map(|word| word == "yes")
    }

    /// Returns the most operations per second that a disk may have on it, where that is less than
    /// the disk may have elsewhere.
    pub fn iops_max_of(&self, disk: &Disk) -> Option<u64> {
        let is_without = self.is_nitro() == Some(false);
        disk.iops_max_without_nitro().filter(|_| is_without).map(|figure| figure.per_s)
    }

    /// Returns whether it takes premium disks; `None` where no source says.
    pub fn takes_premium(&self) -> Option<bool> {
        self.word("premium").map(|word| word == "yes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_architecture() {
        use Arch::{Arm, X86};
        for (cloud, name, arch) in [
            (Cloud::Azure, "Standard_D16plds_v5", Some(Arm)),
            (Cloud::Azure, "Standard_D8s_v3", Some(X86)),
            (Cloud::Azure, "Standard_NP10s", Some(X86)),
            (Cloud::Azure, "Standard_DS14-4_v2", Some(X86)),
            (Cloud::Azure, "Standard_NC6_Promo", Some(X86)),
            (Cloud::Aws, "m6gd.large", Some(Arm)),
            (Cloud::Aws, "c7gn.16xlarge", Some(Arm)),
            (Cloud::Aws, "g4dn.xlarge", Some(X86)),
            (Cloud::Aws, "a1.large", Some(Arm)),
            (Cloud::Gcp, "n2-standard-8", None),
        ] {
            assert_eq!(Arch::of_name(cloud, name), arch, "{name}");
        }
    }
}
