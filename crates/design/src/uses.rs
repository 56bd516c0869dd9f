//! What a load takes of every cap, as numbers that add up.
//!
//! The rules are those of [`volume::limits::path`]: it is called with a design of one volume whose
//! limits all have different numbers, by which the limits are recognised in the answer.

use volume::design::{Backing, Cap, Disk, Limit, Stripe, Vm, Volume};
use volume::limits::{Flow, Scope, path};
use volume::{CacheMode, Design};

/// A volume's own caps: operations (of reads, where writes have a limit of their own), writes,
/// bytes.
pub(crate) const N_OWN: usize = 3;

/// A machine's caps: pairs of operations and bytes, uncached, cached, cached where writes have caps
/// of their own, and these writes.
pub(crate) const N_MACHINE: usize = 8;

/// What is taken of every cap per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CapUses {
    pub(crate) own: [f64; N_OWN],
    pub(crate) machine: [f64; N_MACHINE],
}

/// A machine's caps per second; infinite where there is none or it is not known.
pub(crate) type MachineCaps = [f64; N_MACHINE];

/// Numbers of the limits of a design that is asked about, apart by more than it has disks.
const MARK: u64 = 1000;

fn marked(number: u64) -> Limit {
    Limit { per_s: number * MARK, burst: None, origin: String::new() }
}

fn pair(number: u64) -> Cap {
    Cap { iops: Some(marked(number)), bytes: Some(marked(number + 1)) }
}

/// Says whether the disks of a design that is asked about are those of the machine itself.
fn disk_is_local(frame: &Design) -> bool {
    matches!(&frame.volumes[0].backing, Backing::Disks(stripe) if stripe.is_local)
}

/// What is asked about: one volume of disks behind a machine.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    design: Design,
    n_disks: usize,
}

impl Probe {
    /// Makes one of a kind of disk: alone, or one of several in a stripe.
    pub(crate) fn new(
        frame: &Design,
        disk: &Disk,
        is_striped: bool,
        chunk_bytes: u64,
        cache: CacheMode,
    ) -> Self {
        let n_disks = if is_striped { 2 } else { 1 };
        let known = |limit: &Option<Limit>, number| limit.as_ref().map(|_| marked(number));
        let cap = Cap { iops: known(&disk.cap.iops, 1), bytes: known(&disk.cap.bytes, 3) };
        let write_iops = known(&disk.write_iops, 2);
        let disk = Disk { cap, write_iops, cache, ..disk.clone() };
        let disks = vec![disk; n_disks];
        let is_local = disk_is_local(frame);
        let columns = n_disks as u32;
        let stripe = Stripe { disks, chunk_bytes, columns, is_local, has_machine_base: false };
        let mut design = frame.clone();
        let first = &frame.volumes[0];
        design.volumes = vec![Volume { backing: Backing::Disks(stripe), ..first.clone() }];
        design.vm = Some(Vm { uncached: pair(4), cache_bytes: Some(1), ..Vm::default() });
        Probe { design, n_disks }
    }

    /// Returns the mean latency without load, seconds.
    pub(crate) fn latency_s(&self, flow: &Flow) -> f64 {
        path::latency_s(&self.design, 0, &flow.load)
    }

    /// Returns what a load takes of every cap.
    pub(crate) fn uses(&mut self, flow: &Flow) -> CapUses {
        let mut uses = CapUses::default();
        // Reads and writes with one cap of the cached path, and each with its own.
        for (first, writes) in [(6, None), (8, Some(pair(10)))] {
            let vm = self.design.vm.as_mut().expect("a probe has a machine");
            vm.cached = pair(first);
            vm.cached_write = writes;
            self.add(flow, &mut uses);
        }
        uses
    }

    /// Puts in what one way to count the cached path gives; the others are the same in both.
    fn add(&self, flow: &Flow, uses: &mut CapUses) {
        let rate = flow.demand.unwrap_or(0.0);
        for cap in path::caps(&self.design, 0, &flow.load) {
            let of_each = if cap.scope == Scope::Machine { 1 } else { self.n_disks as u64 };
            let number = (cap.per_s as u64 / of_each / MARK) as usize;
            let slot = match number {
                1..=N_OWN => &mut uses.own[number - 1],
                _ => &mut uses.machine[number - 1 - N_OWN],
            };
            *slot = rate * cap.per_io;
        }
    }
}

impl CapUses {
    /// Adds another load's.
    pub(crate) fn add(&mut self, other: &CapUses) {
        self.own.iter_mut().zip(other.own).for_each(|(sum, other)| *sum += other);
        self.machine.iter_mut().zip(other.machine).for_each(|(sum, other)| *sum += other);
    }
}

/// Most of a cap by which a need may exceed it: rounding, as `limits` has it.
pub(crate) const ROUNDING: f64 = 1e-9;

/// Returns how often a cap holds what is used of it: 1.25 is a quarter more; infinite where nothing
/// is used.
pub(crate) fn times(cap: f64, used: f64) -> f64 {
    if used > 0.0 { cap / used } else { f64::INFINITY }
}
