//! Rules about volumes of disks: cache, stripe, depth, size of I/Os, settings of databases.

use catalog::{Cacheable, Cloud};
use units::{format_latency_ns, format_percent_whole};
use volume::design::{CacheMode, Disk, Merging, Stripe};
use volume::limits::Bound;
use volume::limits::path::latency_s;
use volume::limits::size::OLTP_IO_BYTES;
use volume::limits::stripe::DIALOG_COLUMNS_MAX;
use volume::{CapKind, Design};

use super::list::{EBS, GUIDE, GUIDE_2021, LITTLE, LOCAL, List};
use crate::judge::Judged;
use crate::kind::chunk_bytes;
use crate::need::{PhaseNeed, VolumeNeed, VolumeUse};

/// Share of reads from which a volume counts as read-mostly; as much of writes is write-mostly.
const MOSTLY: f64 = 0.7;

/// I/Os in flight on each disk that the guide advises for its full throughput.
const IN_FLIGHT: (usize, usize) = (8, 16);

/// Size of I/Os from which on they are those of a data warehouse: what a stripe unit of 256 KiB is
/// for.
const WAREHOUSE_BYTES: u64 = 256 << 10;

/// Largest I/Os of transactions: twice the 8 KiB that the guide names, as some databases have.
const TRANSACTION_BYTES: u64 = 2 * OLTP_IO_BYTES;

/// A volume of disks with its load.
pub(super) struct DiskAdvisor<'a> {
    pub(super) design: &'a Design,
    pub(super) judged: &'a Judged,
    /// Position of the volume.
    pub(super) idx: usize,
    pub(super) stripe: &'a Stripe,
    pub(super) disk: &'a Disk,
    pub(super) asked: &'a VolumeNeed,
}

impl DiskAdvisor<'_> {
    /// Adds all rules that apply.
    pub(super) fn all(&self, list: &mut List) {
        self.local(list);
        let Some(busiest) = self.busiest() else { return };
        self.cache(busiest, list);
        self.stripe(list);
        self.depth(busiest, list);
        self.size(busiest, list);
        self.application(busiest, list);
    }

    /// Returns the phase with most I/Os, if any are asked.
    fn busiest(&self) -> Option<&PhaseNeed> {
        let busiest = self.asked.phases.iter().max_by(|a, b| a.iops.total_cmp(&b.iops));
        busiest.filter(|busiest| busiest.iops > 0.0)
    }

    fn is_cached(&self) -> bool {
        self.disk.cache != CacheMode::None
    }

    /// Returns whether the disks can have a host cache, and the machine is not known to have none.
    fn may_cache(&self) -> bool {
        let sku = self.design.rows().and_then(|edition| edition.disk(&self.disk.sku));
        let may_have = self.design.vm.as_ref().is_some_and(|vm| vm.cache_bytes != Some(0));
        may_have && sku.is_some_and(|sku| sku.cacheable() != Cacheable::No)
    }

    /// Returns whether the machine's cache is known, so that hits can be counted on.
    fn has_known_cache(&self) -> bool {
        self.design.vm.as_ref().is_some_and(|vm| vm.cache_bytes.unwrap_or(0) > 0)
    }

    fn local(&self, list: &mut List) {
        if !self.stripe.is_local {
            return;
        }
        let mount = &self.asked.mount;
        list.put(
            format!("{mount}: make its file system anew at every start of the machine"),
            "disks of the machine itself are empty after it was stopped, moved or has failed: only \
             what may be lost is kept there",
            LOCAL,
        );
    }

    fn cache(&self, busiest: &PhaseNeed, list: &mut List) {
        let mount = &self.asked.mount;
        if !self.is_cached() && !self.may_cache() {
            return;
        }
        let off =
            if self.is_cached() { "set the host cache to None" } else { "no host cache (None)" };
        if self.asked.usage == VolumeUse::Log {
            let reason = "a log is only written, so no read could hit the cache";
            return list.put(format!("{mount}: {off}"), reason, GUIDE);
        }
        let (reads, writes) = (busiest.read_share, 1.0 - busiest.read_share);
        if writes >= MOSTLY {
            let reason = format!(
                "{} are writes, which ReadOnly sends to the disk all the same",
                format_percent_whole(writes)
            );
            list.put(format!("{mount}: {off}"), reason, GUIDE);
        } else if !self.is_cached()
            && self.has_known_cache()
            && reads >= MOSTLY
            && !self.asked.may_cache()
        {
            list.put(
                format!("{mount}: say how much is read at random places (`working_set_gib`)"),
                format!(
                    "{} are reads, which a ReadOnly host cache may serve; without the \
                     working set no hits are assumed",
                    format_percent_whole(reads)
                ),
                GUIDE,
            );
        }
        self.at_work(list);
    }

    /// Reports what a cache that is on takes.
    fn at_work(&self, list: &mut List) {
        let mount = &self.asked.mount;
        let hits = self.judged.hit_ratios.get(self.idx).copied().unwrap_or(0.0);
        if self.is_cached() && hits > 0.0 {
            list.put(
                format!(
                    "{mount}: warm the cache before it counts, after every start of the machine"
                ),
                format!(
                    "it starts cold; the design assumes that {} of reads at random places \
                     hit it",
                    format_percent_whole(hits)
                ),
                GUIDE,
            );
        }
        match self.disk.cache {
            CacheMode::None => {}
            CacheMode::ReadOnly => list.put(
                format!("{mount}: file system barriers may be off"),
                "under None and ReadOnly every write goes to the disk",
                GUIDE_2021,
            ),
            CacheMode::ReadWrite => list.put(
                format!("{mount}: ReadWrite only if the application flushes"),
                "what was written and not flushed is lost in a crash",
                GUIDE,
            ),
        }
    }

    fn stripe(&self, list: &mut List) {
        let n_disks = self.stripe.disks.len() as u32;
        if n_disks < 2 {
            return;
        }
        let mount = &self.asked.mount;
        let (now_kib, kib) = (self.stripe.chunk_bytes >> 10, chunk_bytes(self.asked) >> 10);
        let other =
            if now_kib == kib { String::new() } else { format!(", in place of {now_kib} KiB") };
        list.put(
            format!("{mount}: a stripe unit of {kib} KiB{other}"),
            "64 KiB for transactions, 256 KiB for I/Os that smaller units would cut",
            GUIDE,
        );
        let columns = self.stripe.columns;
        if columns < n_disks {
            list.put(
                format!("{mount}: {n_disks} columns, in place of {columns}"),
                format!("one for each disk: else a stream has the share of {columns} disks"),
                GUIDE,
            );
        }
        let sku = self.design.rows().and_then(|edition| edition.disk(&self.disk.sku));
        if n_disks > DIALOG_COLUMNS_MAX && sku.is_some_and(|sku| sku.cloud() == Some(Cloud::Azure))
        {
            list.put(
                format!("{mount}: on Windows make the {n_disks} columns with PowerShell"),
                format!("the dialog of Server Manager makes {DIALOG_COLUMNS_MAX} at most"),
                GUIDE,
            );
        }
    }

    /// Returns how many are in flight in a phase without waiting, and the latency, seconds.
    fn in_flight(&self, phase: &PhaseNeed) -> (f64, f64) {
        let hits = self.judged.hit_ratios.get(self.idx).copied().unwrap_or(0.0);
        let flows = phase.flows(self.idx as u16, hits);
        let of = |flow: &volume::limits::Flow| {
            flow.demand.unwrap_or(0.0) * latency_s(self.design, flow.volume, &flow.load)
        };
        let in_flight: f64 = flows.iter().map(of).sum();
        (in_flight, in_flight / phase.iops)
    }

    /// Returns whether the load of the volume in a phase is carried.
    fn is_met(&self, asked: &PhaseNeed) -> bool {
        let phase = self.judged.phases.iter().find(|phase| phase.phase == asked.phase);
        phase.is_some_and(|phase| {
            let own = phase.done.iter().filter(|done| usize::from(done.volume) == self.idx);
            own.map(|done| done.iops).sum::<f64>() >= asked.iops * (1.0 - 1e-6)
        })
    }

    fn depth(&self, busiest: &PhaseNeed, list: &mut List) {
        let mount = &self.asked.mount;
        let (in_flight, seconds) = self.in_flight(busiest);
        // What is not carried waits, and takes more than that.
        if self.is_met(busiest) {
            let counted = busiest.queue_depth.filter(|counted| counted.ceil() < in_flight);
            let counted = counted.map_or(String::new(), |counted| {
                format!("; {counted:.1} were counted, on a system with another latency")
            });
            let phase = match busiest.phase.as_str() {
                "" => String::new(),
                name => format!(" in phase {name}"),
            };
            let latency = format_latency_ns((seconds * 1e9).round() as u64);
            list.put(
                format!("{mount}: keep at least {:.0} in flight{phase}", in_flight.ceil().max(1.0)),
                format!("{:.0} IOPS at {latency} without load{counted}", busiest.iops),
                LITTLE,
            );
        }
        let n_disks = self.stripe.disks.len();
        let (least, most) = (IN_FLIGHT.0 * n_disks, IN_FLIGHT.1 * n_disks);
        let all = match n_disks {
            1 => "fewer leave the disk idle, many more only wait".to_owned(),
            _ => format!("{least} to {most} over {n_disks} disks; with fewer some are idle"),
        };
        let (least, most) = IN_FLIGHT;
        let rule = format!("{mount}: {least} to {most} in flight on each disk for all they carry");
        list.put(rule, all, GUIDE);
    }

    /// Reports what another size of I/Os would do where one of the volume's own caps is the
    /// tightest.
    fn size(&self, busiest: &PhaseNeed, list: &mut List) {
        let mount = &self.asked.mount;
        if self.disk.merging != Merging::None && busiest.random_share > 0.0 {
            let reason =
                "I/Os that follow one another are counted together, up to 256 KiB or 1 MiB";
            let rule = format!("{mount}: write and read in order, where the application can");
            list.put(rule, reason, EBS);
        }
        let Some((phase, tightest)) = self.judged.tightest() else { return };
        if !phase.flows.iter().any(|flow| usize::from(flow.volume) == self.idx) {
            return;
        }
        // From a unit on, larger I/Os count as more of them.
        let is_small = busiest.size_bytes < self.disk.io_unit_bytes.unwrap_or(WAREHOUSE_BYTES);
        match tightest.cap.bound {
            Bound::Cap(CapKind::DiskIops | CapKind::VmUncachedIops) if is_small => {
                let reason = "IOPS are the tightest limit; larger I/Os move more bytes each";
                list.put(format!("{mount}: larger I/Os, where the application can"), reason, GUIDE);
            }
            Bound::Cap(CapKind::DiskBytes | CapKind::VmUncachedBytes)
                if busiest.size_bytes > OLTP_IO_BYTES =>
            {
                let reason = "throughput is the tightest limit; smaller I/Os allow more of them";
                let rule = format!("{mount}: smaller I/Os, where the application can");
                list.put(rule, reason, GUIDE);
            }
            _ => {}
        }
    }

    /// Reports what databases have settings for.
    fn application(&self, busiest: &PhaseNeed, list: &mut List) {
        if self.asked.usage != VolumeUse::Data {
            return;
        }
        let mount = &self.asked.mount;
        if busiest.size_bytes >= WAREHOUSE_BYTES {
            let rule = format!("{mount}: Oracle: DB_BLOCK_SIZE as large as it goes");
            let reason = "it sets the size of the database's I/Os; 1,024 KiB are for a data \
                          warehouse, and give the most throughput";
            list.put(rule, reason, GUIDE);
        } else if busiest.size_bytes <= TRANSACTION_BYTES {
            let rule = format!("{mount}: Oracle: DB_BLOCK_SIZE near 8 KiB");
            let reason = "it sets the size of the database's I/Os; small ones are for \
                          transactions, and give the most operations";
            list.put(rule, reason, GUIDE);
        }
        let (in_flight, _) = self.in_flight(busiest);
        if in_flight > 1.0 {
            list.put(
                format!(
                    "{mount}: SQL Server: a MAXDOP of at least {:.0} for a query that is to do all \
                     of it",
                    (in_flight * (1.0 - 1e-9)).ceil()
                ),
                "a query takes at most MAXDOP cores, which read at once; one thread alone keeps \
                 one in flight, unless it reads ahead",
                GUIDE,
            );
        }
    }
}
