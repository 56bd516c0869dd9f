//! The columns that tables may have: which property a column gives, in which unit.

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
    /// 2^40 bytes.
    Tib,
    /// Seconds.
    Seconds,
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

const UNITS: [(Unit, &str, u64); 23] = [
    (Unit::Iops, "IOPS", 1),
    (Unit::MbPerS, "MB/s", 1_000_000),
    (Unit::MibPerS, "MiB/s", 1 << 20),
    (Unit::MibPerSRoundedDown, "MiB/s (rounded down)", 1 << 20),
    (Unit::BytesPerS, "B/s", 1),
    (Unit::MbitPerS, "Mb/s", 125_000),
    (Unit::Bytes, "B", 1),
    (Unit::Kib, "KiB", 1 << 10),
    (Unit::Mib, "MiB", 1 << 20),
    (Unit::Gib, "GiB", 1 << 30),
    (Unit::Gb, "GB", 1 << 30),
    (Unit::Tib, "TiB", 1 << 40),
    (Unit::Seconds, "s", 1),
    (Unit::IopsPerGib, "IOPS per GiB", 1),
    (Unit::IopsPerMibPerS, "IOPS per MiB/s", 1),
    (Unit::MibPerSPerTib, "MiB/s per TiB", 1 << 20),
    (Unit::MibPerSPerGib, "MiB/s per GiB", 1 << 20),
    (Unit::MibPerSPerIops, "MiB/s per IOPS", 1 << 20),
    (Unit::MibPerSPer1000Iops, "MiB/s per 1,000 IOPS", 1 << 20),
    (Unit::MbPerSPerIops, "MB/s per IOPS", 1_000_000),
    (Unit::Credits, "credits", 1),
    (Unit::TibPerTib, "TiB per TiB", 1 << 40),
    (Unit::Count, "", 1),
];

impl Unit {
    /// Returns how it is printed; a plain number has nothing.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// Finds a unit by how it is printed.
    pub fn from_text(text: &str) -> Option<Self> {
        UNITS.iter().find(|(_, printed, _)| *printed == text).map(|row| row.0)
    }

    /// Returns what one of it is in operations, bytes or seconds.
    pub(crate) fn scale(self) -> u64 {
        self.row().2
    }

    fn row(self) -> &'static (Unit, &'static str, u64) {
        UNITS.iter().find(|row| row.0 == self).expect("every unit is in the table")
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
}

const fn column(name: &'static str, property: &'static str, unit: Unit) -> Column {
    Column { name, property, unit }
}

/// Columns of figures that a table of disks or machines may have.
pub(crate) const COLUMNS: &[Column] = &[
    // Disks of fixed size.
    column("size_gib", "size", Unit::Gib),
    column("size_gb", "size", Unit::Gb),
    column("iops", "iops", Unit::Iops),
    column("mb_s", "throughput", Unit::MbPerS),
    column("mib_s", "throughput", Unit::MibPerS),
    column("burst_iops", "burst_iops", Unit::Iops),
    column("burst_mb_s", "burst_throughput", Unit::MbPerS),
    column("burst_s", "burst_time", Unit::Seconds),
    column("ondemand_iops", "ondemand_iops", Unit::Iops),
    column("ondemand_mb_s", "ondemand_throughput", Unit::MbPerS),
    column("plus_iops", "plus_iops", Unit::Iops),
    column("plus_mb_s", "plus_throughput", Unit::MbPerS),
    column("io_unit_kib", "io_unit", Unit::Kib),
    column("max_shares", "max_shares", Unit::Count),
    // Disks whose size and limits are chosen.
    column("size_min_gib", "size_min", Unit::Gib),
    column("size_max_gib", "size_max", Unit::Gib),
    column("iops_base", "iops_base", Unit::Iops),
    column("iops_per_gib", "iops_per_gib", Unit::IopsPerGib),
    column("read_iops_per_gib", "read_iops_per_gib", Unit::IopsPerGib),
    column("write_iops_per_gib", "write_iops_per_gib", Unit::IopsPerGib),
    column("iops_per_gib_above_gib", "iops_per_gib_above", Unit::Gib),
    column("iops_min", "iops_min", Unit::Iops),
    column("iops_max", "iops_max", Unit::Iops),
    column("iops_per_mib_s", "iops_per_throughput", Unit::IopsPerMibPerS),
    column("mb_s_base", "throughput_base", Unit::MbPerS),
    column("mb_s_min", "throughput_min", Unit::MbPerS),
    column("mb_s_max", "throughput_max", Unit::MbPerS),
    column("mb_s_per_iops", "throughput_per_iops", Unit::MbPerSPerIops),
    column("mib_s_base", "throughput_base", Unit::MibPerS),
    column("mib_s_base_up_to_gib", "throughput_base_up_to", Unit::Gib),
    column("mib_s_max", "throughput_max", Unit::MibPerS),
    column("mib_s_per_iops", "throughput_per_iops", Unit::MibPerSPerIops),
    column("mib_s_per_1000_iops", "throughput_per_1000_iops", Unit::MibPerSPer1000Iops),
    column("mib_s_per_gib", "throughput_per_gib", Unit::MibPerSPerGib),
    column("mib_s_per_tib", "throughput_per_tib", Unit::MibPerSPerTib),
    column("burst_mib_s_per_tib", "burst_throughput_per_tib", Unit::MibPerSPerTib),
    column("burst_credits_io", "burst_credits_io", Unit::Credits),
    column("burst_credits_tib_per_tib", "burst_credits_per_tib", Unit::TibPerTib),
    // Machines.
    column("vcpus", "vcpus", Unit::Count),
    column("memory_gib", "memory", Unit::Gib),
    column("memory_gb", "memory", Unit::Gb),
    column("memory_mib", "memory", Unit::Mib),
    column("local_ssd_gb", "local_ssd", Unit::Gb),
    column("os_disk_gb", "os_disk", Unit::Gb),
    column("max_data_disks", "max_data_disks", Unit::Count),
    column("uncached_iops", "uncached_iops", Unit::Iops),
    column("uncached_mb_s", "uncached_throughput", Unit::MbPerS),
    column("uncached_mib_s_floor", "uncached_throughput", Unit::MibPerSRoundedDown),
    column("uncached_bytes_s", "uncached_throughput", Unit::BytesPerS),
    column("uncached_burst_iops", "uncached_burst_iops", Unit::Iops),
    column("uncached_burst_mb_s", "uncached_burst_throughput", Unit::MbPerS),
    column("v2_iops", "v2_iops", Unit::Iops),
    column("v2_mb_s", "v2_throughput", Unit::MbPerS),
    column("v2_burst_iops", "v2_burst_iops", Unit::Iops),
    column("v2_burst_mb_s", "v2_burst_throughput", Unit::MbPerS),
    column("cached_iops", "cached_iops", Unit::Iops),
    column("cached_mb_s", "cached_throughput", Unit::MbPerS),
    column("cached_bytes_s", "cached_throughput", Unit::BytesPerS),
    column("cached_write_bytes_s", "cached_write_throughput", Unit::BytesPerS),
    column("cached_burst_iops", "cached_burst_iops", Unit::Iops),
    column("cached_burst_mb_s", "cached_burst_throughput", Unit::MbPerS),
    column("cached_iops_per_core", "cached_iops_per_core", Unit::Iops),
    column("cached_mb_s_per_core", "cached_throughput_per_core", Unit::MbPerS),
    column("cache_gib", "cache", Unit::Gib),
    column("cache_gb", "cache", Unit::Gb),
    column("cache_bytes", "cache", Unit::Bytes),
    column("egress_mbit_s", "egress", Unit::MbitPerS),
    column("local_read_iops", "local_read_iops", Unit::Iops),
    column("local_read_bytes_s", "local_read_throughput", Unit::BytesPerS),
    column("local_write_iops", "local_write_iops", Unit::Iops),
    column("local_write_bytes_s", "local_write_throughput", Unit::BytesPerS),
];

/// Columns of words.
pub(crate) const WORDS: &[&str] =
    &["cloud", "family", "skus", "aliases", "cache", "premium", "merges", "limits"];

/// Finds a column of figures by its name.
pub(crate) fn find(name: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|column| column.name == name)
}
