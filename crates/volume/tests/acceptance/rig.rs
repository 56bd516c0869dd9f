//! Loads that run against a design in virtual time, and what they see.

use volume::design::{
    Backing, CacheMode, Cap, Ceiling, Design, Disk, Latency, Limit, Merging, NetworkVolume, Stripe,
    Vm, Volume, WriteCosts,
};
use volume::limits::Bound;
use volume::{CapKind, Done, Io, IoKind, Start, System, SystemOptions};

pub(crate) const S: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

/// Most I/Os of one stream that wait; one that offers more than is carried falls behind by that.
const BACKLOG_MAX: usize = 4096;

/// One stream of I/Os on a volume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    pub(crate) volume: u16,
    /// In flight at most.
    pub(crate) queue_depth: usize,
    /// Started per second at most.
    pub(crate) rate: Option<f64>,
    pub(crate) size_bytes: u64,
    pub(crate) align_bytes: u64,
    pub(crate) read_share: f64,
    /// Share of I/Os that go to the first [`Stream::warm_bytes`]; the others never come twice to
    /// one place.
    pub(crate) warm_share: f64,
    pub(crate) warm_bytes: u64,
}

impl Stream {
    /// Aligned reads at random places, as many as `queue_depth` in flight.
    pub(crate) fn new(queue_depth: usize, size_bytes: u64) -> Self {
        Stream {
            volume: 0,
            queue_depth,
            rate: None,
            size_bytes,
            align_bytes: size_bytes,
            read_share: 1.0,
            warm_share: 1.0,
            warm_bytes: 100 << 30,
        }
    }

    /// I/Os at a rate.
    pub(crate) fn at_rate(rate: f64, size_bytes: u64) -> Self {
        Stream { rate: Some(rate), ..Stream::new(BACKLOG_MAX, size_bytes) }
    }

    pub(crate) fn on(self, volume: usize) -> Self {
        Stream { volume: volume as u16, ..self }
    }

    pub(crate) fn io(&self, id: u64, n_issued: u64) -> Io {
        let random = mix64(n_issued << 12 ^ u64::from(self.volume));
        let fraction = |bits: u64| (bits & 0xFFFF_FFFF) as f64 / f64::from(u32::MAX);
        let n_places = (self.warm_bytes / self.align_bytes).max(1);
        let offset_bytes = if fraction(mix64(random)) < self.warm_share {
            random % n_places * self.align_bytes
        } else {
            self.warm_bytes + n_issued * self.align_bytes
        };
        let is_read = fraction(random >> 32) < self.read_share;
        let kind = if is_read { IoKind::Read } else { IoKind::Write };
        let len_bytes = self.size_bytes as u32;
        Io { id, kind, volume: self.volume, client: 0, offset_bytes, len_bytes }
    }
}

pub(crate) fn mix64(value: u64) -> u64 {
    let z = value.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// What a stream saw between ramp and end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) iops: f64,
    pub(crate) bytes_per_s: f64,
    pub(crate) mean_latency_s: f64,
}

/// A system with streams under way.
pub(crate) struct Rig {
    pub(crate) system: System,
    streams: Vec<Stream>,
    now_ns: u64,
    n_issued: Vec<u64>,
    /// When the I/O of each place was submitted.
    places: Vec<Vec<u64>>,
    free: Vec<Vec<usize>>,
    done: Vec<Done>,
    n_done: Vec<u64>,
    latency_ns: Vec<u128>,
    /// Used of each cap, and the time, at the last reset.
    used: Vec<u64>,
    since_ns: u64,
}

impl Rig {
    pub(crate) fn new(design: &Design, streams: Vec<Stream>) -> Self {
        let n_waiting_max = streams.iter().map(|stream| stream.queue_depth).sum();
        let options = SystemOptions { n_waiting_max, start: Start::Cold, seed: 7 };
        let places: Vec<Vec<u64>> =
            streams.iter().map(|stream| vec![0; stream.queue_depth]).collect();
        Rig {
            system: System::new(design, &options),
            now_ns: 0,
            n_issued: vec![0; streams.len()],
            free: places.iter().map(|places| (0..places.len()).rev().collect()).collect(),
            places,
            done: Vec::new(),
            n_done: vec![0; streams.len()],
            latency_ns: vec![0; streams.len()],
            used: Vec::new(),
            since_ns: 0,
            streams,
        }
    }

    /// Runs for a while.
    pub(crate) fn run(&mut self, time_ns: u64) -> &mut Self {
        let end_ns = self.now_ns + time_ns;
        loop {
            let due_ns = self.submit(end_ns);
            let next_ns = self.system.next_event_ns().unwrap_or(u64::MAX).min(due_ns);
            if next_ns >= end_ns {
                break;
            }
            self.now_ns = next_ns.max(self.now_ns);
            self.poll();
        }
        self.now_ns = end_ns;
        self.poll();
        self
    }

    /// Forgets what was seen.
    pub(crate) fn reset(&mut self) {
        self.n_done.fill(0);
        self.latency_ns.fill(0);
        self.used = self.system.usage(self.now_ns).iter().map(|usage| usage.used).collect();
        self.since_ns = self.now_ns;
    }

    /// Submits what is due, and returns when the next I/O is.
    fn submit(&mut self, end_ns: u64) -> u64 {
        let mut next_ns = u64::MAX;
        for (idx, stream) in self.streams.iter().enumerate() {
            while let Some(&place) = self.free[idx].last() {
                let due = |rate: f64| (self.n_issued[idx] as f64 / rate * S as f64) as u64;
                let due_ns = stream.rate.map_or(0, due);
                if due_ns > self.now_ns {
                    next_ns = next_ns.min(due_ns);
                    break;
                }
                if self.now_ns >= end_ns {
                    break;
                }
                self.free[idx].pop();
                self.places[idx][place] = self.now_ns;
                let id = (idx as u64) << 32 | place as u64;
                self.system.submit(self.now_ns, stream.io(id, self.n_issued[idx]));
                self.n_issued[idx] += 1;
            }
        }
        next_ns
    }

    fn poll(&mut self) {
        self.system.poll(self.now_ns, &mut self.done);
        for done in self.done.drain(..) {
            let (idx, place) = ((done.id >> 32) as usize, (done.id & 0xFFFF_FFFF) as usize);
            self.n_done[idx] += 1;
            self.latency_ns[idx] += u128::from(done.at_ns - self.places[idx][place]);
            self.free[idx].push(place);
        }
    }

    /// Returns what was completed since the last reset, of all streams.
    pub(crate) fn n_done(&self) -> u64 {
        self.n_done.iter().sum()
    }

    pub(crate) fn seen(&self, idx: usize) -> Seen {
        let seconds = (self.now_ns - self.since_ns) as f64 / S as f64;
        let n_done = self.n_done[idx];
        let iops = n_done as f64 / seconds;
        Seen {
            iops,
            bytes_per_s: iops * self.streams[idx].size_bytes as f64,
            mean_latency_s: self.latency_ns[idx] as f64 / n_done.max(1) as f64 / S as f64,
        }
    }

    /// Returns used of the caps of a kind over what they carry, of the one used most.
    pub(crate) fn used(&self, kind: CapKind) -> f64 {
        let seconds = (self.now_ns - self.since_ns) as f64 / S as f64;
        let usage = self.system.usage(self.now_ns);
        let shares = self.system.caps().iter().enumerate().filter(|(_, cap)| cap.kind == kind);
        let share = |(idx, cap): (usize, &volume::CapInfo)| {
            (usage[idx].used - self.used[idx]) as f64 / seconds / cap.per_s as f64
        };
        shares.map(share).fold(0.0, f64::max)
    }

    /// Returns the kind of cap that is used up; of several the one used most, of equals the one
    /// that stands first among bounds.
    pub(crate) fn binds(&self) -> Option<Bound> {
        let kinds = self.system.caps().iter().map(|cap| cap.kind);
        let mut used: Vec<(Bound, f64)> =
            kinds.map(|kind| (Bound::Cap(kind), self.used(kind))).collect();
        used.retain(|(_, share)| *share > 0.985);
        let most = used.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        used.retain(|(_, share)| *share > most - 0.005);
        used.into_iter().map(|(bound, _)| bound).min()
    }
}

/// Runs streams for two seconds and then for ten that count.
pub(crate) fn steady(design: &Design, streams: Vec<Stream>) -> Rig {
    let mut rig = Rig::new(design, streams);
    rig.run(2 * S).reset();
    rig.run(10 * S);
    rig
}

/// Runs streams on network volumes, which do hundreds of thousands of I/Os a second, for less time.
pub(crate) fn brief(design: &Design, streams: Vec<Stream>) -> Rig {
    let mut rig = Rig::new(design, streams);
    rig.run(S / 2).reset();
    rig.run(S);
    rig
}

/// A limit without bursting.
pub(crate) fn limit(per_s: f64) -> Option<Limit> {
    (per_s > 0.0).then(|| Limit { per_s: per_s as u64, burst: None, origin: "case".to_owned() })
}

/// A pair of caps; 0 is without one.
pub(crate) fn cap(iops: f64, bytes_per_s: f64) -> Cap {
    Cap { iops: limit(iops), bytes: limit(bytes_per_s) }
}

/// Equal disks side by side that answer in a millisecond, hits in a tenth of it.
pub(crate) fn disks(n_disks: u32, cap: Cap, cache: CacheMode) -> Volume {
    let disk = Disk {
        sku: "case".to_owned(),
        cap,
        io_unit_bytes: Some(256 << 10),
        write_iops: None,
        write_costs: WriteCosts::default(),
        merging: Merging::None,
        size_bytes: 32 << 40,
        cache,
    };
    Volume {
        mount: "/case".to_owned(),
        capacity_bytes: u64::from(n_disks) * disk.size_bytes,
        backing: Backing::Disks(Stripe {
            disks: vec![disk; n_disks as usize],
            chunk_bytes: 64 << 10,
            columns: n_disks,
            is_local: false,
            has_machine_base: false,
        }),
        latency: Latency { mean_ns: MS, spread: 0.0 },
        cache_latency: Latency { mean_ns: MS / 10, spread: 0.0 },
        build: volume::design::VolumeBuild::default(),
    }
}

/// A network volume that answers in a millisecond.
pub(crate) fn network(quota_bytes_per_s: f64, ceiling: Ceiling, pool: Option<u16>) -> Volume {
    Volume {
        backing: Backing::Network(NetworkVolume {
            level: "case".to_owned(),
            quota: limit(quota_bytes_per_s),
            ceiling,
            pool,
            transfer_bytes: 256 << 10,
        }),
        ..disks(1, Cap::default(), CacheMode::None)
    }
}

/// A machine with a large cache.
#[expect(clippy::unnecessary_wraps, reason = "as a design holds it")]
pub(crate) fn vm(uncached: Cap, cached: Cap) -> Option<Vm> {
    let size = "case".to_owned();
    Some(Vm { size, uncached, cached, cache_bytes: Some(4 << 40), ..Vm::default() })
}

/// A design of a machine and volumes.
pub(crate) fn design(vm: Option<Vm>, mut volumes: Vec<Volume>) -> Design {
    for (idx, volume) in volumes.iter_mut().enumerate() {
        volume.mount = format!("/case/{idx}");
    }
    Design {
        name: "case".to_owned(),
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
