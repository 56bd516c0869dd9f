//! Disks of the machine itself: what a size of the catalogue has of them.

use catalog::{Edition, Figure, Vm as Size};
use plan::keys::Findings;

use super::parser::Parser;
use super::{
    Backing, CacheMode, Cap, Design, Disk, Latency, Limit, Merging, Vm, WriteCost, WriteCosts,
    medium_latency,
};

/// Name by which a design takes the disks of its machine: `disk = "local"`.
pub const LOCAL: &str = "local";

/// Name of such a disk for people.
pub const LOCAL_DISK: &str = "local disk";

/// What a size has of disks in the machine itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// How many.
    pub n_disks: u32,
    /// One of them. Of figures that are published for all of them together it has its part. Without
    /// a limit of its own it shares the machine's cached path, where that has one.
    pub disk: Disk,
    /// Latency without load.
    pub latency: Latency,
}

/// Bytes of the I/Os with which operations of local disks are published.
const IO_BYTES: u64 = 4096;

impl Local {
    /// Looks up what a size has; `None` where no source says how large its local disks are.
    pub fn of(edition: &Edition, mb_bytes: u64, size: &Size) -> Option<Self> {
        let mut findings = Findings::new("");
        let parser = Parser::again(edition, mb_bytes, &mut findings);
        Self::with(size, &parser)
    }

    pub(super) fn with(size: &Size, parser: &Parser<'_, '_>) -> Option<Self> {
        let figure = |name: &str| size.figure(name);
        let n_disks = size.local_disks().map_or(1, |figure| figure.per_s).max(1);
        let size_bytes = match size.local_disk_size() {
            Some(each) => each.per_s,
            None => figure("local_size").or_else(|| figure("local_ssd"))?.per_s / n_disks,
        };
        let short = size.name.trim_start_matches("Standard_");
        let part = |figure: &Figure| {
            let limit = parser.limit(short, figure, None);
            let origin = match n_disks {
                1 => limit.origin,
                _ => format!("1/{n_disks} of {}", limit.origin),
            };
            Limit { per_s: (limit.per_s / n_disks).max(1), burst: None, origin }
        };
        let first = |names: [&str; 2]| names.into_iter().find_map(figure).map(part);
        let reads = first(["local_read_iops", "local_iops"]);
        let writes = figure("local_write_iops").map(part);
        // Where bytes are not published, they are at least those of what is.
        let of = |published: Option<Limit>, iops: &Option<Limit>| {
            published.or_else(|| writes.is_some().then(|| iops.as_ref().map(bytes_of))?)
        };
        let read_bytes = of(first(["local_read_throughput", "local_throughput"]), &reads);
        let write_bytes = of(first(["local_write_throughput", "local_throughput"]), &writes);
        let (iops, op) = shared(reads, writes);
        let (bytes, byte) = shared(read_bytes, write_bytes);
        let latency =
            figure("local_read_latency").map_or(medium_latency(LOCAL_DISK).latency, |it| Latency {
                mean_ns: it.per_s,
                spread: 0.0,
            });
        let disk = Disk {
            sku: LOCAL_DISK.to_owned(),
            cap: Cap { iops, bytes },
            write_iops: None,
            write_costs: WriteCosts { op, byte },
            io_unit_bytes: None,
            merging: Merging::None,
            size_bytes,
            cache: CacheMode::None,
        };
        Some(Local { n_disks: n_disks as u32, disk, latency })
    }

    /// Says whether limits of it are known: its own, or those of the machine's cached path.
    pub fn is_known(&self, machine: &Vm) -> bool {
        let is_pair = |cap: &Cap| cap.iops.is_some() && cap.bytes.is_some();
        is_pair(&self.disk.cap) || (self.disk.has_no_limit() && is_pair(&machine.cached))
    }
}

/// Returns the throughput that so many I/Os are, where none is published: it is no less.
fn bytes_of(iops: &Limit) -> Limit {
    Limit {
        per_s: iops.per_s.saturating_mul(IO_BYTES),
        burst: None,
        origin: format!("at least 4 KiB x IOPS, {}", iops.origin),
    }
}

/// Makes one limit, counted in reads, of what is published of reads alone and of writes alone: no
/// mix is promised both at once. Where one of them is unknown it is taken as the other.
fn shared(reads: Option<Limit>, writes: Option<Limit>) -> (Option<Limit>, WriteCost) {
    match (reads, writes) {
        (Some(reads), Some(writes)) if reads.per_s != writes.per_s => {
            let origin = format!("of reads: {}; of writes: {}", reads.origin, writes.origin);
            let cost = WriteCost::between(reads.per_s, writes.per_s);
            (Some(Limit { origin, ..reads }), cost)
        }
        (reads, writes) => (reads.or(writes), WriteCost::default()),
    }
}

/// Gives the volumes on local disks those of another size; `false` where it has fewer, or smaller
/// ones.
pub(crate) fn replace(design: &mut Design, size: &Size) -> bool {
    let Some(edition) = design.rows() else { return true };
    let local = Local::of(edition, design.mb_bytes, size);
    let mut n_free = local.as_ref().map_or(0, |local| local.n_disks as usize);
    for volume in &mut design.volumes {
        let Backing::Disks(stripe) = &mut volume.backing else { continue };
        if !stripe.is_named_local() {
            continue;
        }
        let n_disks = stripe.disks.len();
        let Some(local) = local.as_ref().filter(|_| n_disks <= n_free) else { return false };
        let capacity_bytes = local.disk.size_bytes.saturating_mul(n_disks as u64);
        if capacity_bytes < volume.capacity_bytes {
            return false;
        }
        n_free -= n_disks;
        stripe.disks.fill(local.disk.clone());
        volume.capacity_bytes = capacity_bytes;
        volume.latency = local.latency;
    }
    true
}
