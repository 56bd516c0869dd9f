//! Rules about NFS that apply to a design, each with its reason and where it stands.

use volume::design::Backing;
use volume::limits::Bound;
use volume::{CapKind, Design};

use crate::advice::Advice;
use crate::judge::Judged;
use crate::need::{Need, VolumeNeed};

const MOUNT: &str = "Azure NetApp Files: Linux NFS mount options";
const SLOTS: &str = "Azure NetApp Files: concurrency of NFS sessions";
const LEVELS: &str = "Azure NetApp Files: service levels";
const LIMITS: &str = "Azure NetApp Files: resource limits";
const EDA: &str = "training module on EDA work with Azure NetApp Files, about 2023";

/// Bytes of an I/O from which the size of transfers matters.
const LARGE_IO_BYTES: u64 = 64 << 10;

/// Calls in flight in one set-up from which the service's page advises fewer.
const SLOTS_MANY: f64 = 3000.0;

/// Share of reads of a volume that is not written, as far as a capture shows it.
const READ_ONLY: f64 = 0.995;

/// Returns the rules that apply to a design with network volumes under a need.
pub fn advice(design: &Design, need: &Need, judged: &Judged) -> Vec<Advice> {
    let mut all = Vec::new();
    let mut put = |rule: String, reason: String, source: &'static str| {
        all.push(Advice { rule, reason, source });
    };
    of_connections(design, judged, &mut put);
    for (volume, asked) in design.volumes.iter().zip(&need.volumes) {
        let Backing::Network(network) = &volume.backing else { continue };
        of_transfers(asked, network.transfer_bytes, &mut put);
        of_attributes(asked, design.clients.len(), &mut put);
        let pool = network.pool.and_then(|idx| design.pools.get(usize::from(idx)));
        let is_manual = pool.is_some_and(|pool| pool.build.is_manual);
        let quota_gib = volume.capacity_bytes as f64 / f64::from(1 << 30);
        let mount = &asked.mount;
        if is_manual {
            put(
                format!("{mount}: set its throughput again when the load moves between volumes"),
                "in a pool with manual QoS the throughput is set apart from the quota; what one \
                 volume gets is taken from the others of the pool"
                    .to_owned(),
                LEVELS,
            );
        } else if network.quota.is_some()
            && asked.capacity_gib > 0.0
            && quota_gib > asked.capacity_gib * 2.0
        {
            put(
                format!("{mount}: keep its quota, although less is stored"),
                format!(
                    "its throughput follows from the quota of {quota_gib:.0} GiB; {:.0} GiB are \
                     needed for the data",
                    asked.capacity_gib
                ),
                LEVELS,
            );
        }
        if volume.build.is_large {
            put(
                format!("{mount}: one large volume, and not several regular ones"),
                "one regular volume ends at 100 TiB and 4,500 MiB/s; several would have to be \
                 mounted and filled one by one"
                    .to_owned(),
                LIMITS,
            );
        }
    }
    all
}

/// Connections, and calls in flight on each.
fn of_connections(
    design: &Design,
    judged: &Judged,
    put: &mut dyn FnMut(String, String, &'static str),
) {
    let Some(client) = design.clients.first() else { return };
    if client.connections > 1 {
        put(
            format!("mount with nconnect={}", client.connections),
            "one connection is a single path with 128 calls in flight; the first mount of an \
             address decides for all others of it, and it needs RHEL 8.3, SLES 12 SP4, Ubuntu \
             18.04 or newer"
                .to_owned(),
            MOUNT,
        );
    }
    let slots = judged.phases.iter().flat_map(|phase| &phase.caps);
    let slots = slots.filter(|cap| cap.cap.bound == Bound::Cap(CapKind::NfsSlots));
    let asked = slots.map(|cap| cap.used).fold(0.0, f64::max);
    let per_connection = f64::from(client.slots_per_connection);
    let n_connections = design.clients.len() as f64 * f64::from(client.connections);
    // What fits on one connection of each machine waits nowhere.
    if asked > per_connection * design.clients.len() as f64 / 2.0 {
        put(
            format!(
                "set sunrpc.tcp_max_slot_table_entries and sunrpc.tcp_slot_table_entries to \
                 {per_connection:.0}"
            ),
            format!(
                "{asked:.0} calls are in flight at once; Linux would send up to 65,536 on a \
                 connection, and the service takes {per_connection:.0}: the rest waits where no \
                 counter shows it"
            ),
            SLOTS,
        );
    }
    if n_connections * per_connection > SLOTS_MANY && asked < SLOTS_MANY {
        put(
            format!(
                "keep all machines together at {SLOTS_MANY:.0} calls in flight: {:.0} on each of \
                 {n_connections:.0} connections",
                (SLOTS_MANY / n_connections).floor().max(2.0)
            ),
            format!(
                "{n_connections:.0} connections of {per_connection:.0} calls may send more than \
                 the {SLOTS_MANY:.0} that are advised for one set-up, and {asked:.0} are asked for"
            ),
            SLOTS,
        );
    }
}

/// Transfer sizes, which matter to large I/Os only.
fn of_transfers(
    asked: &VolumeNeed,
    transfer_bytes: u32,
    put: &mut dyn FnMut(String, String, &'static str),
) {
    let largest = asked.phases.iter().filter(|phase| phase.iops > 0.0);
    let largest = largest.map(|phase| phase.size_bytes).max().unwrap_or(0);
    if largest < LARGE_IO_BYTES {
        return;
    }
    let calls = largest.div_ceil(u64::from(transfer_bytes.max(1)));
    put(
        format!("{}: mount with rsize={transfer_bytes},wsize={transfer_bytes}", asked.mount),
        format!(
            "an I/O of {} becomes {}; smaller transfers make it more of them, and the \
             service takes no larger ones",
            units::format_bytes(largest),
            units::plural(calls, "call")
        ),
        MOUNT,
    );
}

/// Caching of attributes: of what is only read, and never of what several machines write.
fn of_attributes(
    asked: &VolumeNeed,
    n_machines: usize,
    put: &mut dyn FnMut(String, String, &'static str),
) {
    let mut at_work = asked.phases.iter().filter(|phase| phase.iops > 0.0).peekable();
    if at_work.peek().is_none() {
        return;
    }
    let mount = &asked.mount;
    if at_work.all(|phase| phase.read_share >= READ_ONLY) {
        put(
            format!("{mount}: mount with nocto,actimeo=600, if the files do not change meanwhile"),
            "it is only read: attributes are asked for once in 10 minutes and not at every open, \
             which saves two thirds of the calls that ask for them"
                .to_owned(),
            EDA,
        );
    } else if n_machines > 1 {
        put(
            format!("{mount}: leave nocto and long actimeo out"),
            format!(
                "{n_machines} machines may write it: with cached attributes one would not see what \
                 another has written"
            ),
            MOUNT,
        );
    }
}
