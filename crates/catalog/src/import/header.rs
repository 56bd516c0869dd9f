//! What a published column means.

use super::cell;

/// Where a column's cells go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnTarget {
    /// The name of the size or tier.
    Name,
    /// One column of the catalogue.
    One(&'static str),
    /// `IOPS/MBps`, perhaps with `(cache size)`: columns of the three parts.
    Pair(&'static str, &'static str, &'static str),
    /// The part behind the slash, as in `NICs / bandwidth`.
    Second(&'static str),
    /// Nothing that the catalogue keeps.
    Nothing,
}

/// Columns of CSV files that other programs write, and what the catalogue calls them.
const ALIASES: [(&str, &str); 19] = [
    ("cached_read_bytes_per_s", "cached_bytes_s"),
    ("cached_write_bytes_per_s", "cached_write_bytes_s"),
    ("uncached_bytes_per_s", "uncached_bytes_s"),
    ("ondemand_burst_iops", "ondemand_iops"),
    ("ondemand_burst_mb_s", "ondemand_mb_s"),
    ("perf_plus_iops", "plus_iops"),
    ("perf_plus_mb_s", "plus_mb_s"),
    ("base_iops", "uncached_iops"),
    ("base_throughput_mb_s", "uncached_mb_s"),
    ("max_iops", "uncached_burst_iops"),
    ("max_throughput_mb_s", "uncached_burst_mb_s"),
    ("max_ebs_attachments", "max_data_disks"),
    ("throughput_base_mib_s", "mib_s_base"),
    ("throughput_max_mib_s", "mib_s_max"),
    ("throughput_per_gib_mib_s", "mib_s_per_gib"),
    ("throughput_per_iops_mib_s", "mib_s_per_iops"),
    ("throughput_per_1000_iops_mib_s", "mib_s_per_1000_iops"),
    ("throughput_base_per_tib_mib_s", "mib_s_per_tib"),
    ("throughput_burst_per_tib_mib_s", "burst_mib_s_per_tib"),
];

/// What CSV files call the column of names.
pub(super) const NAMES: [&str; 4] = ["name", "tier", "type", "instance_type"];

/// Returns what a column of a CSV file means.
pub(super) fn of_csv(name: &str) -> ColumnTarget {
    if NAMES.contains(&name) {
        return ColumnTarget::Name;
    }
    let alias = ALIASES.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours);
    let column = super::column(alias.unwrap_or(name));
    column.map_or(ColumnTarget::Nothing, |column| ColumnTarget::One(column.name))
}

/// Returns what a column of a series page means. Pages vary: the words are looked for, not the
/// text.
pub(super) fn of_page(name: &str) -> ColumnTarget {
    let plain = cell::without_tags(name).to_lowercase();
    let has = |word: &str| plain.contains(word);
    let is_pair = has("iops/mbps") || has("iops / mbps");
    if has("uncached") {
        return remote(&plain, is_pair);
    }
    if has("cached") || has("disk cache size") {
        return cached(&plain, is_pair);
    }
    if has("bandwidth") {
        let column = "egress_mbit_s";
        return if has("nics") { ColumnTarget::Second(column) } else { ColumnTarget::One(column) };
    }
    if has("data disks") || has("remote storage disks") || has("remote disks") {
        return ColumnTarget::One("max_data_disks");
    }
    if has("vcpu") {
        return ColumnTarget::One("vcpus");
    }
    if has("memory") && has("gib") && !has("gpu") {
        return ColumnTarget::One("memory_gib");
    }
    if plain.trim() == "size" || has("size name") || plain.trim() == "vm size" {
        return ColumnTarget::Name;
    }
    ColumnTarget::Nothing
}

fn remote(plain: &str, is_pair: bool) -> ColumnTarget {
    let has = |word: &str| plain.contains(word);
    let is_burst = has("burst");
    let is_v2 = has("ultra") || has("special") || has("ssd v2");
    let [iops, bytes] = match (is_v2, is_burst) {
        (false, false) => ["uncached_iops", "uncached_mb_s"],
        (false, true) => ["uncached_burst_iops", "uncached_burst_mb_s"],
        (true, false) => ["v2_iops", "v2_mb_s"],
        (true, true) => ["v2_burst_iops", "v2_burst_mb_s"],
    };
    if is_pair {
        return ColumnTarget::Pair(iops, bytes, "");
    }
    ColumnTarget::One(if has("speed") || has("throughput") { bytes } else { iops })
}

fn cached(plain: &str, is_pair: bool) -> ColumnTarget {
    let has = |word: &str| plain.contains(word);
    let [iops, bytes] = if has("burst") {
        ["cached_burst_iops", "cached_burst_mb_s"]
    } else {
        ["cached_iops", "cached_mb_s"]
    };
    if is_pair {
        return ColumnTarget::Pair(iops, bytes, "cache_gib");
    }
    if has("cache size") {
        return ColumnTarget::One("cache_gib");
    }
    // Random writes have columns of their own, which the catalogue keeps in bytes per second only.
    if has("write") || has("rw") {
        return ColumnTarget::Nothing;
    }
    ColumnTarget::One(if has("speed") || has("throughput") { bytes } else { iops })
}
