//! Zoned devices and placement of data; none of it is supported yet.

use super::entry::{Choice, Param, Support, ValueKind};
use super::fields::{BASE, NUMBER, idle_word};

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "zone_capacity_bytes",
        fio: &["zonecapacity"],
        kind: NUMBER,
        default: "0",
        short: "bytes of a zone that can be written",
        long: "Capacity of each zone of a zoned device where it is smaller than the zone.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "zone_read_anywhere",
        fio: &["read_beyond_wp"],
        kind: ValueKind::Bool,
        default: "0",
        short: "reads behind the write pointer are allowed",
        long: "Reads also the part of a zone that was not written, which returns zeros or fails, \
               depending on the device.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "n_zones_open_max",
        fio: &["max_open_zones"],
        kind: ValueKind::Int { min: 0, max: 4096 },
        default: "0",
        short: "zones open for writing at the same time",
        long: "Limit over all jobs that write to one zoned device; 0 is the limit of the device.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "n_zones_open_max_worker",
        fio: &["job_max_open_zones"],
        kind: ValueKind::Int { min: 0, max: 4096 },
        default: "0",
        short: "zones a worker has open for writing",
        long: "The limit of open zones for a single worker; 0 is no further limit.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "zone_limits_ignored",
        fio: &["ignore_zone_limits"],
        kind: ValueKind::Bool,
        default: "0",
        short: "pass over the limits the device announces",
        long: "Opens more zones than the device says it can hold open.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "zone_reset_threshold",
        fio: &["zone_reset_threshold"],
        kind: ValueKind::Float { min: 0.0, max: 1.0 },
        short: "share of valid data above which zones are reset",
        long: "Starts to reset zones when the share of blocks that hold data exceeds this \
               fraction.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "zone_reset_rate",
        fio: &["zone_reset_frequency"],
        kind: ValueKind::Float { min: 0.0, max: 1.0 },
        short: "share of writes that come with a zone reset",
        long: "How often a write resets its zone, once the threshold is exceeded.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "zone_write_recovery",
        fio: &["recover_zbd_write_error"],
        kind: ValueKind::Bool,
        default: "0",
        short: "go on after a failed write to a zone",
        long: "Moves to where the device says its write pointer is, and goes on.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "zone_write_remainder",
        fio: &["write_zone_remainder"],
        kind: ValueKind::Bool,
        default: "0",
        short: "fill the rest of a zone with a smaller block",
        long: "Writes what is left at the end of a zone even if it is less than a block.",
        support: NO_ZONES,
        ..BASE
    },
    Param {
        name: "placement_fdp",
        fio: &["fdp"],
        kind: ValueKind::Bool,
        default: "0",
        short: "NVMe flexible data placement",
        long: "Sends placement identifiers with writes. Older name of `placement`.",
        support: NO_PLACEMENT,
        ..BASE
    },
    Param {
        name: "placement",
        fio: &["dataplacement", "data_placement"],
        kind: ValueKind::Enum(PLACEMENTS),
        default: "none",
        short: "how data is placed on the device",
        long: "Tags writes for NVMe flexible data placement or for streams.",
        support: NO_PLACEMENT,
        ..BASE
    },
    Param {
        name: "placement_select",
        fio: &["plid_select", "fdp_pli_select"],
        kind: ValueKind::Enum(SELECTS),
        default: "roundrobin",
        short: "how a placement identifier is chosen",
        long: "In turn, at random, or from a table by offset.",
        support: NO_PLACEMENT,
        ..BASE
    },
    Param {
        name: "placement_ids",
        fio: &["plids", "fdp_pli"],
        kind: ValueKind::Str,
        short: "placement identifiers to use",
        long: "Indices of the identifiers that the device offers, separated by commas.",
        support: NO_PLACEMENT,
        ..BASE
    },
    Param {
        name: "placement_scheme",
        fio: &["dp_scheme"],
        kind: ValueKind::Str,
        short: "file with placement by offset",
        long: "Lines of first offset, last offset and identifier.",
        support: NO_PLACEMENT,
        ..BASE
    },
];

const PLACEMENTS: &[Choice] = &[
    idle_word("none", "no tags"),
    idle_word("fdp", "flexible data placement"),
    idle_word("streams", "streams"),
];

const SELECTS: &[Choice] = &[
    idle_word("roundrobin", "in turn"),
    idle_word("random", "at random"),
    idle_word("scheme", "from a table"),
];

const NO_ZONES: Support =
    Support::Later("zoned devices are not supported yet; use zonemode=strided on other devices");

const NO_PLACEMENT: Support =
    Support::Later("placement of data is not supported yet; leave it out to let the device place");
