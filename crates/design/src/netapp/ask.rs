//! What one volume of a need asks of a network volume and of the machines that reach it.

use catalog::VolumeKind;
use volume::design::parse_with;
use volume::design::service::{FLEXIBLE, Sized, assignable, flexible_throughput, sizes};
use volume::limits::Bound;
use volume::{CapKind, Design};

use super::make::{self, MachineText, PoolText, VolumeText};
use super::rank::Qos;
use crate::judge::judge;
use crate::market::Market;
use crate::need::Need;
use crate::uses::times;

const TIB: u64 = 1 << 40;

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
    let judged = judge(&probe(market, &asked, level, kind)?, &asked);
    if !judged.too_slow.is_empty() {
        return None;
    }
    let phases = need.phases();
    let mut ask = Ask {
        times: f64::INFINITY,
        sent: vec![0.0; phases.len()],
        slots: vec![0.0; phases.len()],
        slots_per_connection: f64::INFINITY,
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
                // What is shared out below.
                Bound::Cap(CapKind::Pool) => {}
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

/// Returns a design of one volume, one machine with a card and one connection, whose throughput and
/// size are the least that there is: only what does not follow from them is asked of it.
fn probe(market: &Market<'_>, asked: &Need, level: &str, kind: VolumeKind) -> Option<Design> {
    let edition = market.edition;
    let least = *sizes(edition, Sized::Volume(kind)).start();
    let pool = least.max(*sizes(edition, Sized::Pool).start());
    let throughput = flexible_throughput(edition, pool).map(|range| *range.start() >> 20);
    let pool = PoolText {
        level,
        qos: Qos::Manual,
        size_tib: pool.div_ceil(TIB),
        throughput_mib_s: throughput.filter(|_| level == FLEXIBLE),
    };
    let volume = VolumeText {
        pool: 0,
        quota_gib: least >> 30,
        is_large: kind == VolumeKind::Large,
        throughput_mib_s: Some((*assignable(edition).start() >> 20).max(1)),
    };
    let machine = MachineText { size: None, count: 1, connections: 1 };
    let text = make::text(&market.terms, asked, "probe", (&[pool], &[volume], &machine));
    parse_with(&text, &market.catalog).0
}
