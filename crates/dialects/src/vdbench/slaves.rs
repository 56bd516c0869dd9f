//! Vdbench's processes, "slaves": which of them works on what, with how many threads.
//!
//! A slave's part of a storage definition is a job here. As in 5.04.07 every slave of a host works
//! on every storage definition of that host and their threads are dealt out in turn, from the first
//! slave on; one that gets no thread does nothing there. Sequential work stays on one slave, that
//! with the fewest workloads until then, since two would read the same blocks.
//!
//! What is done in a structure of files on one host is done by one slave: only one may change it.
//!
//! Processes that were not asked for, which Vdbench starts by itself for large rates, are for its
//! own sake: there a storage definition stays whole, since what is in flight in one place costs
//! less than the same in several, and they get storage definitions in turn.
//!
//! What differs besides: a slave that alone has a sequential workload gets a thread before the
//! others do, where Vdbench may drop the workload for want of threads; and streams stay together.

use std::collections::BTreeMap;

use super::run::{FileWork, RawWork, Sd, SdFormat, Seek, Wd};

/// A slave's part of a storage definition, or of the volume of a workload definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// Position in [`RawWork::sds`]; of a volume that of its first member.
    pub(super) sd: usize,
    /// Number of the slave among those of its host.
    pub(super) slave: u32,
    /// I/Os at a time, at least 1.
    pub(super) threads: u32,
    /// Positions in [`RawWork::wds`], at least one.
    pub(super) wds: Vec<usize>,
}

/// How many workloads each slave has, by host and number.
type SlaveCounts<'a> = BTreeMap<(&'a str, u32), u32>;

/// Returns who does what in a run: by storage definition, or with `concatenatesds` by workload, and
/// then by slave.
pub(super) fn seats(work: &RawWork) -> Vec<Seat> {
    let mut given = SlaveCounts::new();
    if is_of_volumes(work) {
        let of_volume = |(idx, wd): (usize, &Wd)| volume_seats(work, idx, wd, &mut given);
        return work.wds.iter().enumerate().flat_map(of_volume).collect();
    }
    let n_slaves = |sd: usize| work.sds.get(sd).map_or(1, |sd| sd.n_slaves.max(1));
    let mut shares: Vec<Vec<Vec<usize>>> =
        (0..work.sds.len()).map(|sd| vec![Vec::new(); n_slaves(sd) as usize]).collect();
    // Slaves of each storage definition that have something that no other may do.
    let mut alone: Vec<Vec<u32>> = vec![Vec::new(); work.sds.len()];
    let whole = whole_slaves(&work.sds);
    for (idx, wd) in work.wds.iter().enumerate() {
        for &sd in &wd.sds {
            let Some(of_sd) = work.sds.get(sd) else { continue };
            let slaves = if let Some(slave) = whole[sd] {
                slave..slave + 1
            } else if stays_together(wd) {
                let is_full = alone[sd].len() >= of_sd.threads.max(1) as usize;
                let known = std::mem::take(&mut alone[sd]);
                let all: Vec<u32> = (0..n_slaves(sd)).collect();
                let slave = least_busy(&given, &of_sd.host, if is_full { &known } else { &all });
                alone[sd] = known;
                if !alone[sd].contains(&slave) {
                    alone[sd].push(slave);
                }
                slave..slave + 1
            } else {
                0..n_slaves(sd)
            };
            for slave in slaves {
                shares[sd][slave as usize].push(idx);
                *given.entry((&of_sd.host, slave)).or_default() += 1;
            }
        }
    }
    let mut seats = Vec::new();
    for (sd, of_slaves) in shares.into_iter().enumerate() {
        let users = (0..n_slaves(sd)).filter(|slave| !of_slaves[*slave as usize].is_empty());
        let mut users: Vec<u32> = users.collect();
        users.sort_by_key(|slave| !alone[sd].contains(slave));
        let mut dealt = deal(work.sds[sd].threads, &users);
        dealt.sort_unstable();
        for (slave, threads) in dealt {
            seats.push(Seat { sd, slave, threads, wds: of_slaves[slave as usize].clone() });
        }
    }
    seats
}

/// Returns the slaves of storage definitions that stay whole: in turn, on each host.
fn whole_slaves(sds: &[Sd]) -> Vec<Option<u32>> {
    let mut n_before: BTreeMap<&str, u32> = BTreeMap::new();
    let mut slaves = Vec::with_capacity(sds.len());
    for sd in sds {
        let n = n_before.entry(&sd.host).or_default();
        slaves.push((!sd.is_shared).then_some(*n % sd.n_slaves.max(1)));
        *n += 1;
    }
    slaves
}

/// Returns who works on the volume of a workload definition.
fn volume_seats<'a>(
    work: &'a RawWork,
    idx: usize,
    wd: &Wd,
    given: &mut SlaveCounts<'a>,
) -> Vec<Seat> {
    let members = || wd.sds.iter().filter_map(|idx| work.sds.get(*idx));
    let Some(first) = members().next() else { return Vec::new() };
    let sum = members().fold(0, |sum: u32, sd| sum.saturating_add(sd.threads));
    let all: Vec<u32> = (0..first.n_slaves.max(1)).collect();
    let is_whole = !first.is_shared || stays_together(wd);
    let users = if is_whole { vec![least_busy(given, &first.host, &all)] } else { all };
    let dealt = deal(wd.threads.unwrap_or(sum).max(1), &users);
    let seat = |(slave, threads)| {
        *given.entry((&first.host, slave)).or_default() += 1;
        Seat { sd: wd.sds.first().copied().unwrap_or(0), slave, threads, wds: vec![idx] }
    };
    dealt.into_iter().map(seat).collect()
}

/// Returns the slave of each storage definition that is formatted, which is sequential work.
pub(super) fn format_slaves<'a>(work: &'a SdFormat) -> Vec<u32> {
    let mut given = SlaveCounts::new();
    let of_sd = |sd: &'a Sd| {
        let all: Vec<u32> = (0..sd.n_slaves.max(1)).collect();
        let slave = least_busy(&given, &sd.host, &all);
        *given.entry((&sd.host, slave)).or_default() += 1;
        slave
    };
    work.sds.iter().map(of_sd).collect()
}

/// Returns the slave of each workload on files: of what is done in a structure, the one with the
/// fewest workloads.
pub(super) fn file_slaves(work: &FileWork) -> Vec<u32> {
    let mut given = SlaveCounts::new();
    let mut slaves = vec![0; work.fwds.len()];
    for fsd in 0..work.fsds.len() {
        let users = || work.fwds.iter().enumerate().filter(|(_, fwd)| fwd.fsd == fsd);
        let mut hosts: Vec<&str> = Vec::new();
        for (_, fwd) in users() {
            if hosts.contains(&fwd.host.as_str()) {
                continue;
            }
            hosts.push(&fwd.host);
            let all: Vec<u32> = (0..fwd.n_slaves.max(1)).collect();
            let slave = least_busy(&given, &fwd.host, &all);
            for (idx, _) in users().filter(|(_, other)| other.host == fwd.host) {
                slaves[idx] = slave;
                *given.entry((&fwd.host, slave)).or_default() += 1;
            }
        }
    }
    slaves
}

/// Returns whether storage definitions form volumes (`concatenatesds`).
pub(super) fn is_of_volumes(work: &RawWork) -> bool {
    work.wds.iter().any(|wd| wd.concatenate)
}

/// Returns whether a workload must not run on two slaves.
fn stays_together(wd: &Wd) -> bool {
    wd.streams.is_some() || matches!(wd.seek, Seek::Seq | Seek::SeqNz | Seek::Eof)
}

/// Returns the slave with the fewest workloads, the first of several.
fn least_busy(given: &SlaveCounts<'_>, host: &str, among: &[u32]) -> u32 {
    let n_given = |slave: &&u32| given.get(&(host, **slave)).copied().unwrap_or(0);
    among.iter().min_by_key(n_given).copied().unwrap_or(0)
}

/// Deals threads out in turn. Those that get none are left out.
fn deal(threads: u32, users: &[u32]) -> Vec<(u32, u32)> {
    let n_users = (users.len() as u32).max(1);
    let part = |idx: u32| threads / n_users + u32::from(idx < threads % n_users);
    let dealt = users.iter().zip(0..).map(|(slave, idx)| (*slave, part(idx)));
    dealt.filter(|(_, threads)| *threads > 0).collect()
}
