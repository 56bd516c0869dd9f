//! The columns that tables may have: which property a column gives, in which unit.

use crate::cloud::Cloud;
use crate::exactness::Exactness;

/// A unit as published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Operations per second.
    Iops,
    /// "MB/s" or "MBps": 10^6 bytes unless the cell says otherwise.
    MbPerS,
    /// 2^20 bytes per second.
    MibPerS,
    /// Whole 2^20 bytes per second, the rest cut off.
    MibPerSRoundedDown,
    /// Bytes per second.
    BytesPerS,
    /// 10^6 bits per second.
    MbitPerS,
    /// Bytes.
    Bytes,
    /// 2^10 bytes.
    Kib,
    /// 2^20 bytes.
    Mib,
    /// 2^30 bytes.
    Gib,
    /// "GB" of a disk's or machine's size, which are 2^30 bytes.
    Gb,
    /// "GB" of a local disk's size where these are 10^9 bytes.
    GbDecimal,
    /// 2^40 bytes.
    Tib,
    /// Seconds.
    Seconds,
    /// Milliseconds of latency.
    Ms,
    /// Operations per second for each GiB.
    IopsPerGib,
    /// Operations per second for each MiB/s.
    IopsPerMibPerS,
    /// 2^20 bytes per second for each TiB.
    MibPerSPerTib,
    /// 2^20 bytes per second for each GiB.
    MibPerSPerGib,
    /// 2^20 bytes per second for each operation per second.
    MibPerSPerIops,
    /// 2^20 bytes per second for each thousand operations per second.
    MibPerSPer1000Iops,
    /// 10^6 bytes per second for each operation per second.
    MbPerSPerIops,
    /// Credits, one per operation.
    Credits,
    /// 2^40 bytes of credit for each TiB.
    TibPerTib,
    /// A plain number.
    Count,
}

/// What a unit is. A new one says it here, once.
struct UnitTraits {
    /// How it is printed; a plain number has nothing.
    text: &'static str,
    /// What one of it is in operations, bytes, seconds, or nanoseconds of latency.
    scale: u64,
    /// How exactly a number in it says an amount.
    exactness: Exactness,
}

const fn unit(text: &'static str, scale: u64, exactness: Exactness) -> UnitTraits {
    UnitTraits { text, scale, exactness }
}

const fn exact(text: &'static str, scale: u64) -> UnitTraits {
    unit(text, scale, Exactness::Exact)
}

impl Unit {
    /// All of them.
    const ALL: [Unit; 25] = units::all_of!(
        Unit:
        Iops, MbPerS, MibPerS, MibPerSRoundedDown, BytesPerS, MbitPerS, Bytes, Kib, Mib,
        Gib, Gb, GbDecimal, Tib, Seconds, Ms, IopsPerGib, IopsPerMibPerS, MibPerSPerTib,
        MibPerSPerGib, MibPerSPerIops, MibPerSPer1000Iops, MbPerSPerIops, Credits,
        TibPerTib, Count,
    );

    const fn traits(self) -> UnitTraits {
        match self {
            Unit::Iops => exact("IOPS", 1),
            Unit::MbPerS => unit("MB/s", 1_000_000, Exactness::UnitUnclear),
            Unit::MibPerS => exact("MiB/s", 1 << 20),
            Unit::MibPerSRoundedDown => {
                unit("MiB/s (rounded down)", 1 << 20, Exactness::RoundedDown)
            }
            Unit::BytesPerS => exact("B/s", 1),
            Unit::MbitPerS => exact("Mb/s", 125_000),
            Unit::Bytes => exact("B", 1),
            Unit::Kib => exact("KiB", 1 << 10),
            Unit::Mib => exact("MiB", 1 << 20),
            Unit::Gib => exact("GiB", 1 << 30),
            Unit::Gb => exact("GB", 1 << 30),
            Unit::GbDecimal => exact("GB (10^9 B)", 1_000_000_000),
            Unit::Tib => exact("TiB", 1 << 40),
            Unit::Seconds => exact("s", 1),
            Unit::Ms => exact("ms", 1_000_000),
            Unit::IopsPerGib => exact("IOPS per GiB", 1),
            Unit::IopsPerMibPerS => exact("IOPS per MiB/s", 1),
            Unit::MibPerSPerTib => exact("MiB/s per TiB", 1 << 20),
            Unit::MibPerSPerGib => exact("MiB/s per GiB", 1 << 20),
            Unit::MibPerSPerIops => exact("MiB/s per IOPS", 1 << 20),
            Unit::MibPerSPer1000Iops => exact("MiB/s per 1,000 IOPS", 1 << 20),
            Unit::MbPerSPerIops => exact("MB/s per IOPS", 1_000_000),
            Unit::Credits => exact("credits", 1),
            Unit::TibPerTib => exact("TiB per TiB", 1 << 40),
            Unit::Count => exact("", 1),
        }
    }

    /// Returns how it is printed; a plain number has nothing.
    pub fn as_str(self) -> &'static str {
        self.traits().text
    }

    /// Finds a unit by how it is printed.
    pub fn from_text(text: &str) -> Option<Self> {
        Unit::ALL.into_iter().find(|unit| unit.as_str() == text)
    }

    /// Returns what one of it is in operations, bytes, seconds, or nanoseconds of latency.
    pub(crate) fn scale(self) -> u64 {
        self.traits().scale
    }

    /// Returns how exactly a number in it says an amount, where its cell says no more.
    pub(crate) fn exactness(self) -> Exactness {
        self.traits().exactness
    }
}

impl serde::Serialize for Unit {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.as_str())
    }
}

/// One column of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// As in a table's first line.
    pub name: &'static str,
    /// What it is a figure of. Several columns may give one property in different units.
    pub property: &'static str,
    /// The unit of its cells.
    pub unit: Unit,
    /// What has such a figure.
    pub of: Owner,
}

impl Column {
    /// Returns the cloud whose machines have the figure, where only one cloud's do: elsewhere
    /// nothing would use it.
    pub(crate) fn cloud_of_machines(&self) -> Option<Cloud> {
        let begins = |words: &[&str]| words.iter().any(|word| self.property.starts_with(word));
        match self.of {
            Owner::Machine if begins(&["cache", "v2_", "nvme_"]) => Some(Cloud::Azure),
            Owner::Machine if begins(&["pd_", "hyperdisk_"]) => Some(Cloud::Gcp),
            Owner::Disk | Owner::Machine => None,
        }
    }
}

/// What a figure is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A tier or type of disk.
    Disk,
    /// A machine size.
    Machine,
}

const fn disk(name: &'static str, property: &'static str, unit: Unit) -> Column {
    Column { name, property, unit, of: Owner::Disk }
}

const fn machine(name: &'static str, property: &'static str, unit: Unit) -> Column {
    Column { name, property, unit, of: Owner::Machine }
}

/// Columns of figures that a table of disks or machines may have.
pub(crate) const COLUMNS: &[Column] = &[
    // Disks of fixed size.
    disk("size_gib", "size", Unit::Gib),
    disk("size_gb", "size", Unit::Gb),
    disk("iops", "iops", Unit::Iops),
    disk("mb_s", "throughput", Unit::MbPerS),
    disk("mib_s", "throughput", Unit::MibPerS),
    disk("burst_iops", "burst_iops", Unit::Iops),
    disk("burst_mb_s", "burst_throughput", Unit::MbPerS),
    disk("burst_s", "burst_time", Unit::Seconds),
    disk("ondemand_iops", "ondemand_iops", Unit::Iops),
    disk("ondemand_mb_s", "ondemand_throughput", Unit::MbPerS),
    disk("plus_iops", "plus_iops", Unit::Iops),
    disk("plus_mb_s", "plus_throughput", Unit::MbPerS),
    disk("io_unit_kib", "io_unit", Unit::Kib),
    disk("max_shares", "max_shares", Unit::Count),
    // Disks whose size and limits are chosen.
    disk("size_min_gib", "size_min", Unit::Gib),
    disk("size_max_gib", "size_max", Unit::Gib),
    disk("iops_base", "iops_base", Unit::Iops),
    disk("iops_per_gib", "iops_per_gib", Unit::IopsPerGib),
    disk("read_iops_per_gib", "read_iops_per_gib", Unit::IopsPerGib),
    disk("write_iops_per_gib", "write_iops_per_gib", Unit::IopsPerGib),
    disk("iops_per_gib_above_gib", "iops_per_gib_above", Unit::Gib),
    disk("iops_min", "iops_min", Unit::Iops),
    disk("iops_max", "iops_max", Unit::Iops),
    disk("iops_max_without_nitro", "iops_max_without_nitro", Unit::Iops),
    disk("iops_per_mib_s", "iops_per_throughput", Unit::IopsPerMibPerS),
    disk("mb_s_base", "throughput_base", Unit::MbPerS),
    disk("mb_s_min", "throughput_min", Unit::MbPerS),
    disk("mb_s_max", "throughput_max", Unit::MbPerS),
    disk("mb_s_per_iops", "throughput_per_iops", Unit::MbPerSPerIops),
    disk("mib_s_base", "throughput_base", Unit::MibPerS),
    disk("mib_s_base_up_to_gib", "throughput_base_up_to", Unit::Gib),
    disk("mib_s_max", "throughput_max", Unit::MibPerS),
    disk("mib_s_per_iops", "throughput_per_iops", Unit::MibPerSPerIops),
    disk("mib_s_per_1000_iops", "throughput_per_1000_iops", Unit::MibPerSPer1000Iops),
    disk("mib_s_per_gib", "throughput_per_gib", Unit::MibPerSPerGib),
    disk("mib_s_per_tib", "throughput_per_tib", Unit::MibPerSPerTib),
    disk("burst_mib_s_per_tib", "burst_throughput_per_tib", Unit::MibPerSPerTib),
    disk("burst_credits_io", "burst_credits_io", Unit::Credits),
    disk("burst_credits_tib_per_tib", "burst_credits_per_tib", Unit::TibPerTib),
    // Once per machine, for all of its disks of the type together.
    disk("machine_iops_base", "iops_base_per_machine", Unit::Iops),
    disk("machine_mib_s_base", "throughput_base_per_machine", Unit::MibPerS),
    // Machines.
    machine("vcpus", "vcpus", Unit::Count),
    machine("memory_gib", "memory", Unit::Gib),
    machine("memory_gb", "memory", Unit::Gb),
    machine("memory_mib", "memory", Unit::Mib),
    machine("local_ssd_gb", "local_ssd", Unit::Gb),
    machine("os_disk_gb", "os_disk", Unit::Gb),
    machine("max_data_disks", "max_data_disks", Unit::Count),
    machine("uncached_iops", "uncached_iops", Unit::Iops),
    machine("uncached_mb_s", "uncached_throughput", Unit::MbPerS),
    machine("uncached_mib_s_floor", "uncached_throughput", Unit::MibPerSRoundedDown),
    machine("uncached_bytes_s", "uncached_throughput", Unit::BytesPerS),
    machine("uncached_burst_iops", "uncached_burst_iops", Unit::Iops),
    machine("uncached_burst_mb_s", "uncached_burst_throughput", Unit::MbPerS),
    machine("v2_iops", "v2_iops", Unit::Iops),
    machine("v2_mb_s", "v2_throughput", Unit::MbPerS),
    machine("v2_burst_iops", "v2_burst_iops", Unit::Iops),
    machine("v2_burst_mb_s", "v2_burst_throughput", Unit::MbPerS),
    machine("cached_iops", "cached_iops", Unit::Iops),
    machine("cached_mb_s", "cached_throughput", Unit::MbPerS),
    machine("cached_bytes_s", "cached_throughput", Unit::BytesPerS),
    machine("cached_write_bytes_s", "cached_write_throughput", Unit::BytesPerS),
    machine("cached_burst_iops", "cached_burst_iops", Unit::Iops),
    machine("cached_burst_mb_s", "cached_burst_throughput", Unit::MbPerS),
    machine("cached_iops_per_core", "cached_iops_per_core", Unit::Iops),
    machine("cached_mb_s_per_core", "cached_throughput_per_core", Unit::MbPerS),
    machine("cache_gib", "cache", Unit::Gib),
    machine("cache_gb", "cache", Unit::Gb),
    machine("cache_bytes", "cache", Unit::Bytes),
    // Of machines that take disks over SCSI or over NVMe: what they do over NVMe.
    machine("nvme_iops", "nvme_iops", Unit::Iops),
    machine("nvme_mb_s", "nvme_throughput", Unit::MbPerS),
    machine("nvme_burst_iops", "nvme_burst_iops", Unit::Iops),
    machine("nvme_burst_mb_s", "nvme_burst_throughput", Unit::MbPerS),
    machine("nvme_v2_iops", "nvme_v2_iops", Unit::Iops),
    machine("nvme_v2_mb_s", "nvme_v2_throughput", Unit::MbPerS),
    machine("nvme_v2_burst_iops", "nvme_v2_burst_iops", Unit::Iops),
    machine("nvme_v2_burst_mb_s", "nvme_v2_burst_throughput", Unit::MbPerS),
    machine("egress_mbit_s", "egress", Unit::MbitPerS),
    machine("egress_burst_mbit_s", "egress_burst", Unit::MbitPerS),
    machine("local_disks", "local_disks", Unit::Count),
    machine("local_disk_gb_decimal", "local_disk_size", Unit::GbDecimal),
    machine("local_gb_decimal", "local_size", Unit::GbDecimal),
    machine("local_gib", "local_size", Unit::Gib),
    machine("local_iops", "local_iops", Unit::Iops),
    machine("local_mb_s", "local_throughput", Unit::MbPerS),
    machine("local_read_latency_ms", "local_read_latency", Unit::Ms),
    machine("local_read_latency_ms_high", "local_read_latency_high", Unit::Ms),
    machine("local_read_iops", "local_read_iops", Unit::Iops),
    machine("local_read_bytes_s", "local_read_throughput", Unit::BytesPerS),
    machine("local_write_iops", "local_write_iops", Unit::Iops),
    machine("local_write_bytes_s", "local_write_throughput", Unit::BytesPerS),
    // Machines of Google Cloud: what all of their disks of one type do together.
    machine("pd_standard_read_iops", "pd_standard_read_iops", Unit::Iops),
    machine("pd_standard_write_iops", "pd_standard_write_iops", Unit::Iops),
    machine("pd_standard_read_mib_s", "pd_standard_read_throughput", Unit::MibPerS),
    machine("pd_standard_write_mib_s", "pd_standard_write_throughput", Unit::MibPerS),
    machine("pd_balanced_read_iops", "pd_balanced_read_iops", Unit::Iops),
    machine("pd_balanced_write_iops", "pd_balanced_write_iops", Unit::Iops),
    machine("pd_balanced_read_mib_s", "pd_balanced_read_throughput", Unit::MibPerS),
    machine("pd_balanced_write_mib_s", "pd_balanced_write_throughput", Unit::MibPerS),
    machine("pd_ssd_read_iops", "pd_ssd_read_iops", Unit::Iops),
    machine("pd_ssd_write_iops", "pd_ssd_write_iops", Unit::Iops),
    machine("pd_ssd_read_mib_s", "pd_ssd_read_throughput", Unit::MibPerS),
    machine("pd_ssd_write_mib_s", "pd_ssd_write_throughput", Unit::MibPerS),
    machine("pd_extreme_read_iops", "pd_extreme_read_iops", Unit::Iops),
    machine("pd_extreme_write_iops", "pd_extreme_write_iops", Unit::Iops),
    machine("pd_extreme_read_mib_s", "pd_extreme_read_throughput", Unit::MibPerS),
    machine("pd_extreme_write_mib_s", "pd_extreme_write_throughput", Unit::MibPerS),
    machine("hyperdisk_balanced_ha_read_iops", "hyperdisk_balanced_ha_read_iops", Unit::Iops),
    machine("hyperdisk_balanced_ha_write_iops", "hyperdisk_balanced_ha_write_iops", Unit::Iops),
    machine(
        "hyperdisk_balanced_ha_read_mib_s",
        "hyperdisk_balanced_ha_read_throughput",
        Unit::MibPerS,
    ),
    machine(
        "hyperdisk_balanced_ha_write_mib_s",
        "hyperdisk_balanced_ha_write_throughput",
        Unit::MibPerS,
    ),
];

/// Columns of words.
pub(crate) const WORDS: &[&str] = &[
    "cloud",
    "family",
    "skus",
    "aliases",
    "cache",
    "premium",
    "attaches",
    "refuses",
    "nitro",
    "merges",
    "limits",
    "arch",
    "interface",
    "status",
    "local_type",
    "local_ssd_included",
    "shared_cpu",
    "accelerator",
];

/// Finds a column of figures by its name.
pub(crate) fn find(name: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|column| column.name == name)
}
