//! Designs to test with, and the loads that run against them.

use volume::design::{
    Backing, Burst, CacheMode, Cap, Design, Disk, Latency, Limit, Merging, Stripe, Vm, Volume,
    WriteCosts,
};
use volume::{CapId, Done, Io, IoKind, Start, System, SystemOptions};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1_000_000_000;
pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;

pub(crate) fn limit(per_s: u64) -> Limit {
    Limit { per_s, burst: None, origin: "test".to_owned() }
}

pub(crate) fn bursting(per_s: u64, burst_per_s: u64, bucket: Option<u64>) -> Limit {
    let burst = Some(Burst { per_s: burst_per_s, bucket });
    Limit { per_s, burst, origin: "test".to_owned() }
}

pub(crate) fn cap(iops: u64, bytes: u64) -> Cap {
    Cap { iops: Some(limit(iops)), bytes: Some(limit(bytes)) }
}

pub(crate) fn disk(cap: Cap, cache: CacheMode) -> Disk {
    let (sku, io_unit_bytes) = ("test".to_owned(), Some(256 * KIB));
    Disk {
        sku,
        cap,
        write_iops: None,
        write_costs: WriteCosts::default(),
        io_unit_bytes,
        merging: Merging::None,
        size_bytes: 1 << 40,
        cache,
    }
}

/// 5,000 operations and 200 MB a second.
pub(crate) fn p30(cache: CacheMode) -> Disk {
    Disk { sku: "P30".to_owned(), ..disk(cap(5_000, 200_000_000), cache) }
}

/// A volume of equal disks, each answering in one millisecond.
pub(crate) fn volume(mount: &str, disks: Vec<Disk>) -> Volume {
    Volume {
        mount: mount.to_owned(),
        capacity_bytes: disks.iter().map(|disk| disk.size_bytes).sum(),
        latency: Latency { mean_ns: MS, spread: 0.0 },
        cache_latency: Latency { mean_ns: MS / 10, spread: 0.0 },
        build: volume::design::VolumeBuild::default(),
        backing: Backing::Disks(Stripe {
            columns: disks.len() as u32,
            is_local: false,
            has_machine_base: false,
            disks,
            chunk_bytes: 64 * KIB,
        }),
    }
}

pub(crate) fn vm(uncached: Cap, cached: Cap, cache_bytes: u64) -> Vm {
    Vm {
        size: "test".to_owned(),
        uncached,
        cached,
        cache_bytes: Some(cache_bytes),
        ..Vm::default()
    }
}

pub(crate) fn design(vm: Option<Vm>, volumes: Vec<Volume>) -> Design {
    Design {
        name: "test".to_owned(),
        edition: "2018".to_owned(),
        catalog: volume::design::Catalog::built_in().clone(),
        cloud: None,
        region: None,
        vm,
        volumes,
        clients: Vec::new(),
        pools: Vec::new(),
        promises: Vec::new(),
        seed: 1,
        mb_bytes: volume::design::MB_BYTES_DEFAULT,
        bucket_window_ns: volume::design::BUCKET_WINDOW_NS_DEFAULT,
    }
}

/// One P30 without a machine.
pub(crate) fn one_p30() -> Design {
    design(None, vec![volume("/data", vec![p30(CacheMode::None)])])
}

pub(crate) fn system(design: &Design) -> System {
    System::new(design, &SystemOptions { n_waiting_max: 1024, start: Start::Cold, seed: 7 })
}

/// Mixes 64 bits: random numbers for loads.
pub(crate) fn mix64(value: u64) -> u64 {
    let z = value.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A load that keeps `queue_depth` operations under way, or starts them at a rate.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) volume: u16,
    pub(crate) client: u16,
    pub(crate) queue_depth: u64,
    /// Operations a second at most; 0 is without limit.
    pub(crate) rate: u64,
    pub(crate) len_bytes: u32,
    /// Addresses are multiples of this.
    pub(crate) align_bytes: u64,
    /// Bytes addressed.
    pub(crate) span_bytes: u64,
    /// Each operation follows the one before it.
    pub(crate) is_sequential: bool,
    /// Percent of reads.
    pub(crate) read_pct: u64,
    pub(crate) write_kind: IoKind,
}

impl Load {
    pub(crate) fn reads(queue_depth: u64, len_bytes: u64) -> Load {
        Load {
            volume: 0,
            client: 0,
            queue_depth,
            rate: 0,
            len_bytes: len_bytes as u32,
            align_bytes: len_bytes,
            span_bytes: 100 * GIB,
            is_sequential: false,
            read_pct: 100,
            write_kind: IoKind::Write,
        }
    }

    pub(crate) fn writes(queue_depth: u64, len_bytes: u64) -> Load {
        Load { read_pct: 0, ..Load::reads(queue_depth, len_bytes) }
    }

    /// The `idx`-th operation.
    pub(crate) fn io(&self, id: u64, idx: u64) -> Io {
        let random = mix64(idx << 8 ^ u64::from(self.volume));
        let n_places = (self.span_bytes - u64::from(self.len_bytes)) / self.align_bytes + 1;
        let place = if self.is_sequential { idx } else { random >> 8 };
        let is_read = random % 100 < self.read_pct;
        Io {
            id,
            kind: if is_read { IoKind::Read } else { self.write_kind },
            volume: self.volume,
            client: self.client,
            offset_bytes: place % n_places * self.align_bytes,
            len_bytes: self.len_bytes,
        }
    }
}

/// What one load saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) n: u64,
    pub(crate) n_reads: u64,
    pub(crate) n_writes: u64,
    pub(crate) iops: f64,
    pub(crate) bytes_per_s: f64,
    pub(crate) latency_ms: f64,
    /// Completions by what held them; the last one counts those that nothing held.
    pub(crate) held: Vec<u64>,
}

impl Outcome {
    /// The cap that held most completions.
    pub(crate) fn binding(&self) -> Option<usize> {
        let (idx, n) = self.held.iter().enumerate().max_by_key(|(_, n)| **n)?;
        (*n > 0 && idx + 1 < self.held.len()).then_some(idx)
    }
}

/// One load at work.
struct Side {
    load: Load,
    /// Name of the load and of the run, in the upper half of its operations' names.
    name: u64,
    /// Per place: when its operation was submitted, and whether it reads.
    places: Vec<(u64, bool)>,
    free: Vec<u64>,
    n_issued: u64,
    latency_ns: u128,
    outcome: Outcome,
}

impl Side {
    fn new(load: Load, name: u64, n_caps: usize) -> Side {
        Side {
            load,
            name,
            places: vec![(0, false); load.queue_depth as usize],
            free: (0..load.queue_depth).rev().collect(),
            n_issued: 0,
            latency_ns: 0,
            outcome: Outcome { held: vec![0; n_caps + 1], ..Outcome::default() },
        }
    }

    /// Submits what may go now; returns when the next one is due, if only its time is missing.
    fn issue(&mut self, system: &mut System, from_ns: u64, now_ns: u64) -> u64 {
        while !self.free.is_empty() {
            if self.load.rate > 0 {
                let due = u128::from(self.n_issued) * u128::from(S) / u128::from(self.load.rate);
                let due_ns = from_ns + due as u64;
                if due_ns > now_ns {
                    return due_ns;
                }
            }
            let place = self.free.pop().expect("not empty");
            let io = self.load.io(self.name << 32 | place, from_ns + self.n_issued);
            self.n_issued += 1;
            self.places[place as usize] = (now_ns, io.kind == IoKind::Read);
            system.submit(now_ns, io);
        }
        u64::MAX
    }

    fn complete(&mut self, done: &Done, counts: bool) {
        let place = done.id & 0xFFFF_FFFF;
        let (submitted_ns, is_read) = self.places[place as usize];
        self.free.push(place);
        if !counts {
            return;
        }
        let outcome = &mut self.outcome;
        outcome.n += 1;
        *(if is_read { &mut outcome.n_reads } else { &mut outcome.n_writes }) += 1;
        self.latency_ns += u128::from(done.at_ns - submitted_ns);
        let last = outcome.held.len() - 1;
        outcome.held[if done.held_by == CapId::NONE { last } else { done.held_by.0.into() }] += 1;
    }

    fn outcome(mut self, time_ns: u64) -> Outcome {
        let outcome = &mut self.outcome;
        outcome.iops = outcome.n as f64 / (time_ns as f64 / S as f64);
        outcome.bytes_per_s = outcome.iops * f64::from(self.load.len_bytes);
        outcome.latency_ms = self.latency_ns as f64 / outcome.n.max(1) as f64 / MS as f64;
        self.outcome
    }
}

/// Runs loads side by side from `from_ns` for `ramp_ns`, and then measures for `time_ns`.
pub(crate) fn run_from(
    system: &mut System,
    loads: &[Load],
    from_ns: u64,
    ramp_ns: u64,
    time_ns: u64,
) -> Vec<Outcome> {
    let n_caps = system.caps().len();
    // What an earlier run left under way is not ours.
    let run = mix64(from_ns) << 16 & 0xFFFF_0000;
    let names = (0_u64..).map(|which| run | which);
    let mut sides: Vec<Side> =
        loads.iter().zip(names).map(|(load, name)| Side::new(*load, name, n_caps)).collect();
    let end_ns = from_ns + ramp_ns + time_ns;
    let mut now_ns = from_ns;
    let mut done: Vec<Done> = Vec::new();
    loop {
        let due_ns = sides.iter_mut().map(|side| side.issue(system, from_ns, now_ns)).min();
        now_ns = due_ns.unwrap_or(u64::MAX).min(system.next_event_ns().unwrap_or(u64::MAX));
        if now_ns > end_ns {
            break;
        }
        done.clear();
        system.poll(now_ns, &mut done);
        for done in &done {
            if let Some(side) = sides.iter_mut().find(|side| side.name == done.id >> 32) {
                side.complete(done, done.at_ns >= from_ns + ramp_ns);
            }
        }
    }
    sides.into_iter().map(|side| side.outcome(time_ns)).collect()
}

/// Runs one load on a fresh system for ten seconds, after one of ramp.
pub(crate) fn run_one(design: &Design, load: Load) -> Outcome {
    run_from(&mut system(design), &[load], 0, S, 10 * S).remove(0)
}

/// Asserts that a figure is within `percent` of what is expected.
#[track_caller]
pub(crate) fn near(found: f64, expected: f64, percent: f64) {
    let difference = (found - expected).abs();
    assert!(difference <= expected.abs() * percent / 100.0, "{found} is not near {expected}");
}
