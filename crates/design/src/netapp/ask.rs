//! What one volume of a need asks of a network volume and of the machines that reach it.

use catalog::VolumeKind;
use volume::design::service::{
    FLEXIBLE, Service, Sized, assignable, file_servers, flexible_throughput, least_pool,
    provisioned_iops, sizes,
};
use volume::design::{Backing, BoughtFileServer, parse_with};
use volume::limits::Bound;
use volume::{CapKind, Design};

use super::make::{self, MachineText, PoolText, VolumeText};
use super::rank::Qos;
use crate::judge::judge;
use crate::market::Market;
use crate::need::Need;
use crate::uses::times;

const GIB: u64 = 1 << 30;

/// What a volume asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Ask {
    /// Bytes per second, reads and writes together, the most of any phase.
    pub(super) throughput: f64,
    /// How often what one such volume carries at most holds what is asked: at least 1, or it is no
    /// way to carry it.
    pub(super) times: f64,
    /// Bytes per second that machines send, by phase of the need.
    pub(super) sent: Vec<f64>,
    /// Calls in flight, by phase of the need.
    pub(super) slots: Vec<f64>,
    /// Calls in flight that one connection takes.
    pub(super) slots_per_connection: f64,
    /// Bytes and operations per second of a file system, by phase of the need.
    pub(super) shared: Vec<(f64, f64)>,
    /// What one such volume carries at most is not known.
    pub(super) is_open: bool,
}

/// Asks the limits about one volume of a need, as a volume of a level and kind. `None` where its
/// latency is too long.
pub(super) fn ask(
    market: &Market<'_>,
    need: &Need,
    volume: usize,
    level: &str,
    kind: VolumeKind,
) -> Option<Ask> {
    let asked = Need { volumes: vec![need.volumes[volume].clone()], ..Need::default() };
    let design = probe(market, &asked, level, kind)?;
    let judged = judge(&design, &asked);
    if !judged.too_slow.is_empty() {
        return None;
    }
    let phases = need.phases();
    let mut ask = Ask {
        times: f64::INFINITY,
        sent: vec![0.0; phases.len()],
        slots: vec![0.0; phases.len()],
        slots_per_connection: f64::INFINITY,
        shared: vec![(0.0, 0.0); phases.len()],
        is_open: is_open(&design, Service::of_level(level)),
        ..Ask::default()
    };
    for phase in &judged.phases {
        let at = phases.iter().position(|name| *name == phase.phase)?;
        for cap in &phase.caps {
            match cap.cap.bound {
                Bound::Cap(CapKind::VolumeQuota) => ask.throughput = ask.throughput.max(cap.used),
                Bound::Cap(CapKind::VmEgress) => ask.sent[at] = cap.used,
                Bound::Cap(CapKind::NfsSlots) => {
                    ask.slots[at] = cap.used;
                    ask.slots_per_connection = cap.cap.per_s;
                }
                // In a pool that gives throughput to its volumes, their own is as large.
                Bound::Cap(CapKind::Pool) => ask.shared[at].0 = cap.used,
                Bound::Cap(CapKind::PoolIops) => ask.shared[at].1 = cap.used,
                Bound::Cap(
                    CapKind::DiskIops
                    | CapKind::DiskBytes
                    | CapKind::VmCachedIops
                    | CapKind::VmCachedBytes
                    | CapKind::VmUncachedIops
                    | CapKind::VmUncachedBytes
                    | CapKind::VolumeIops
                    | CapKind::VolumeCeiling,
                )
                | Bound::Nothing
                | Bound::QueueDepth => {
                    ask.times = ask.times.min(times(cap.cap.per_s, cap.used));
                }
            }
        }
    }
    Some(ask)
}

/// Says whether what a volume carries at most is not known. One of a file system carries what that
/// does; of Azure NetApp Files a design says what holds where no source does.
fn is_open(design: &Design, service: Service) -> bool {
    service == Service::GoogleVolumes
        && design.volumes.iter().any(|volume| match &volume.backing {
            Backing::Disks(_) => false,
            Backing::Network(network) => {
                network.ceiling.read_iops.is_none() || network.ceiling.write_iops.is_none()
            }
        })
}

/// Returns a design of one volume, one machine with a card and one connection, whose throughput and
/// size are the least that there is: only what does not follow from them is asked of it.
fn probe(market: &Market<'_>, asked: &Need, level: &str, kind: VolumeKind) -> Option<Design> {
    let edition = market.edition;
    let service = Service::of_level(level);
    let least = (*sizes(edition, service, Sized::Volume(kind)).start()).max(GIB);
    let pool = least.max(*sizes(edition, service, Sized::Pool).start());
    let throughput = flexible_throughput(edition, pool).map(|range| *range.start() >> 20);
    let size_gib = least_pool(edition, level, pool, 0)? / GIB;
    let pool = PoolText {
        level,
        qos: if service.has_manual() { Qos::Manual } else { Qos::Auto },
        size_gib,
        throughput_mib_s: throughput.filter(|_| level == FLEXIBLE),
        file_server: file_servers(edition, level).last().and_then(|server| {
            let iops = *provisioned_iops(edition, size_gib)?.end();
            Some(BoughtFileServer { throughput_mb_s: server.throughput_mb_s, iops })
        }),
    };
    let by_hand = Some((*assignable(edition).start() >> 20).max(1));
    let volume = VolumeText {
        pool: 0,
        quota_gib: least.div_ceil(GIB),
        is_large: kind == VolumeKind::Large,
        throughput_mib_s: by_hand.filter(|_| service.has_manual()),
    };
    let machine = MachineText { size: None, count: 1, connections: 1 };
    let text = make::text(&market.terms, asked, "probe", (&[pool], &[volume], &machine));
    parse_with(&text, &market.catalog).0
}
