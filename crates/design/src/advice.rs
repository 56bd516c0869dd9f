//! Rules of thumb that apply to a design, each with its reason and where it stands.

use volume::design::{Backing, CacheMode, Disk, Merging, Stripe};
use volume::limits::Bound;
use volume::limits::path::latency_s;
use volume::limits::stripe::DIALOG_COLUMNS_MAX;
use volume::{CapKind, Design};

use crate::judge::Judged;
use crate::need::{Need, PhaseNeed, VolumeNeed, VolumeUse};

/// One rule that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to do.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Who says so.
    pub source: &'static str,
}

const GUIDE: &str = "Azure Premium Storage: design for high performance, 2018";
const LITTLE: &str = "Little's law: in flight = rate x latency";

/// Share of reads from which a volume counts as read-mostly.
const READ_MOSTLY: f64 = 0.7;

/// I/Os in flight on each disk that the guide advises for its full throughput.
const IN_FLIGHT: (u32, u32) = (8, 16);

/// Returns the rules that apply to a design under a need.
///
/// # Panics
/// If it has not as many volumes.
pub fn advice(design: &Design, need: &Need, judged: &Judged) -> Vec<Advice> {
    assert_eq!(design.volumes.len(), need.volumes.len(), "a need of other volumes");
    let mut list = List(Vec::new());
    for (idx, (volume, asked)) in design.volumes.iter().zip(&need.volumes).enumerate() {
        let Backing::Disks(stripe) = &volume.backing else { continue };
        let Some(disk) = stripe.disks.first() else { continue };
        let look = Look { design, judged, idx, stripe, disk, asked };
        look.cache(&mut list);
        look.stripe(&mut list);
        look.depth(&mut list);
        look.size(&mut list);
        look.application(&mut list);
    }
    let is_cached = |volume: &volume::design::Volume| match &volume.backing {
        Backing::Disks(stripe) => stripe.disks.iter().any(|disk| disk.cache != CacheMode::None),
        Backing::Network(_) => false,
    };
    if design.volumes.iter().any(is_cached) {
        list.put(
            "stop what uses a disk before its cache mode is changed",
            "a change detaches and attaches the disk; of the system's disk it restarts the machine",
            GUIDE,
        );
    }
    list.0
}

struct List(Vec<Advice>);

impl List {
    fn put(&mut self, rule: impl Into<String>, reason: impl Into<String>, source: &'static str) {
        let (rule, reason) = (rule.into(), reason.into());
        self.0.push(Advice { rule, reason, source });
    }
}

struct Look<'a> {
    design: &'a Design,
    judged: &'a Judged,
    idx: usize,
    stripe: &'a Stripe,
    disk: &'a Disk,
    asked: &'a VolumeNeed,
}

impl Look<'_> {
    /// Returns the phase with most I/Os.
    fn busiest(&self) -> Option<&PhaseNeed> {
        self.asked.phases.iter().max_by(|a, b| a.iops.total_cmp(&b.iops))
    }

    fn may_cache(&self) -> bool {
        let sku = self.design.rows().and_then(|edition| edition.disk(&self.disk.sku));
        sku.is_some_and(|sku| sku.cacheable() != catalog::Cacheable::No)
    }

    fn cache(&self, list: &mut List) {
        let mount = &self.asked.mount;
        let Some(busiest) = self.busiest() else { return };
        let is_cached = self.disk.cache != CacheMode::None;
        if self.asked.usage == VolumeUse::Log {
            let reason = "a log is only written, so that no read could hit";
            list.put(format!("{mount}: leave the host cache off (None)"), reason, GUIDE);
        } else if is_cached {
            let hits = self.judged.hit_ratios.get(self.idx).copied().unwrap_or(0.0);
            list.put(
                format!(
                    "{mount}: warm the cache before it counts, after every start of the machine"
                ),
                format!(
                    "it starts cold; the design counts on {:.0} % of reads at random places \
                     hitting it",
                    hits * 100.0
                ),
                GUIDE,
            );
            if self.disk.cache == CacheMode::ReadWrite {
                let reason = "what was written and not flushed is lost in a crash";
                list.put(
                    format!("{mount}: ReadWrite only if the application flushes"),
                    reason,
                    GUIDE,
                );
            } else {
                let reason = "under None and ReadOnly every write goes to the disk";
                list.put(format!("{mount}: file system barriers may be off"), reason, GUIDE);
            }
        } else if busiest.read_share >= READ_MOSTLY && self.may_cache() && !self.asked.may_cache() {
            list.put(
                format!("{mount}: say how much is read at random places (`working_set_gib`)"),
                format!(
                    "{:.0} % are reads, which a ReadOnly host cache may serve; without the working \
                     set none is counted on",
                    busiest.read_share * 100.0
                ),
                GUIDE,
            );
        }
    }

    fn stripe(&self, list: &mut List) {
        let n_disks = self.stripe.disks.len() as u32;
        if n_disks < 2 {
            return;
        }
        let mount = &self.asked.mount;
        let kib = self.stripe.chunk_bytes >> 10;
        list.put(
            format!("{mount}: {n_disks} columns with a stripe unit of {kib} KiB"),
            "64 KiB for transactions, 256 KiB for large I/Os, which smaller ones would cut; with \
             fewer columns than disks a stream has fewer disks",
            GUIDE,
        );
        if n_disks > DIALOG_COLUMNS_MAX {
            list.put(
                format!("{mount}: on Windows make the {n_disks} columns with PowerShell"),
                format!("the dialog of Server Manager makes {DIALOG_COLUMNS_MAX} at most"),
                GUIDE,
            );
        }
    }

    fn depth(&self, list: &mut List) {
        let Some(busiest) = self.busiest().filter(|busiest| busiest.iops > 0.0) else { return };
        let mount = &self.asked.mount;
        let flows = busiest.flows(self.idx as u16, 0.0);
        let Some(flow) = flows.first() else { return };
        let seconds = latency_s(self.design, self.idx as u16, &flow.load);
        let in_flight = (busiest.iops * seconds).ceil().max(1.0);
        let counted = busiest.queue_depth.filter(|counted| counted.ceil() < in_flight);
        let counted = counted.map_or(String::new(), |counted| {
            format!("; {counted:.1} were counted, on a system with another latency")
        });
        list.put(
            format!("{mount}: keep at least {in_flight} in flight in phase {}", busiest.phase),
            format!("{:.0} IOPS at {:.1} ms without load{counted}", busiest.iops, seconds * 1e3),
            LITTLE,
        );
        let n_disks = self.stripe.disks.len();
        if n_disks > 1 {
            let (least, most) = IN_FLIGHT;
            list.put(
                format!("{mount}: {least} to {most} in flight on each disk for all they carry"),
                format!(
                    "{} to {} over {n_disks} disks",
                    least as usize * n_disks,
                    most as usize * n_disks
                ),
                GUIDE,
            );
        }
    }

    /// Says what another size of I/Os would do where one of the volume's own caps is the tightest.
    fn size(&self, list: &mut List) {
        let Some((phase, tightest)) = self.judged.tightest() else { return };
        let is_own = phase.flows.iter().any(|flow| usize::from(flow.volume) == self.idx);
        let mount = &self.asked.mount;
        match tightest.cap.bound {
            Bound::Cap(CapKind::DiskIops | CapKind::VmUncachedIops) if is_own => {
                let reason = "operations are the tightest; larger ones move more bytes for each";
                list.put(format!("{mount}: larger I/Os, where the application can"), reason, GUIDE);
            }
            Bound::Cap(CapKind::DiskBytes | CapKind::VmUncachedBytes) if is_own => {
                let reason = "bytes are the tightest; smaller I/Os leave more operations";
                list.put(
                    format!("{mount}: smaller I/Os, where the application can"),
                    reason,
                    GUIDE,
                );
            }
            _ => {}
        }
        if self.disk.merging != Merging::None {
            let reason =
                "I/Os that follow one another are counted together, up to 256 KiB or 1 MiB";
            list.put(
                format!("{mount}: write and read in order, where the application can"),
                reason,
                "Amazon EC2 user guide, EBS volumes",
            );
        }
    }

    fn application(&self, list: &mut List) {
        if self.asked.usage != VolumeUse::Data {
            return;
        }
        let Some(busiest) = self.busiest() else { return };
        let mount = &self.asked.mount;
        if busiest.size_bytes >= 256 << 10 {
            list.put(
                format!(
                    "{mount}: of a data warehouse, DB_BLOCK_SIZE and MAXDOP as large as they go"
                ),
                "both make I/Os larger or more of them at once; a query takes at most MAXDOP cores",
                GUIDE,
            );
        } else if busiest.size_bytes <= 16 << 10 {
            list.put(
                format!("{mount}: of transactions, keep DB_BLOCK_SIZE near 8 KiB and MAXDOP low"),
                "small I/Os are what counts here; a query over many cores takes them from others",
                GUIDE,
            );
        }
    }
}
