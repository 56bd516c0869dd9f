//! Cost of one operation, in and out: `cargo bench -p volume`. Nanoseconds, best of several rounds.
//!
//! A closed loop does nothing but submit again what completed, so this is what is left of the time
//! of a simulation for the volume. Wall clock only informs; nothing is asserted.
#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]
#![expect(clippy::disallowed_methods, reason = "measures real time, never a simulated run")]

use std::time::Instant;

use volume::design::{
    Backing, CacheMode, Cap, Ceiling, Client, Design, Disk, Latency, Limit, Merging, NetworkVolume,
    Stripe, Vm, Volume, VolumeBuild, WriteCosts,
};
use volume::{Done, Io, IoKind, Start, System, SystemOptions};

const N_ROUNDS: u32 = 400;
/// Operations per round: long enough for the clock, short enough to fall between interruptions.
const N_OPERATIONS: u64 = 1 << 13;

fn limit(per_s: u64) -> Limit {
    Limit { per_s, burst: None, origin: "bench".to_owned() }
}

fn cap(iops: u64, bytes: u64) -> Cap {
    Cap { iops: Some(limit(iops)), bytes: Some(limit(bytes)) }
}

fn design(vm: Option<Vm>, backing: Backing) -> Design {
    let volume = Volume {
        mount: "/data".to_owned(),
        capacity_bytes: 1 << 40,
        backing,
        latency: Latency { mean_ns: 1_000_000, spread: 0.3 },
        cache_latency: Latency { mean_ns: 100_000, spread: 0.3 },
        build: VolumeBuild::default(),
    };
    Design {
        name: "bench".to_owned(),
        edition: "2018".to_owned(),
        catalog: volume::design::Catalog::built_in().clone(),
        cloud: None,
        region: None,
        vm,
        volumes: vec![volume],
        clients: Vec::new(),
        pools: Vec::new(),
        promises: Vec::new(),
        seed: 1,
        mb_bytes: volume::design::MB_BYTES_DEFAULT,
        bucket_window_ns: volume::design::BUCKET_WINDOW_NS_DEFAULT,
    }
}

fn p30s(n: usize, cache: CacheMode) -> Backing {
    let disk = Disk {
        sku: "P30".to_owned(),
        cap: cap(5_000, 200_000_000),
        io_unit_bytes: Some(256 << 10),
        write_iops: None,
        write_costs: WriteCosts::default(),
        merging: Merging::None,
        size_bytes: 1 << 40,
        cache,
    };
    Backing::Disks(Stripe {
        disks: vec![disk; n],
        chunk_bytes: 64 << 10,
        columns: n as u32,
        is_local: false,
        has_machine_base: false,
    })
}

fn ds14() -> Vm {
    Vm {
        size: "DS14".to_owned(),
        uncached: cap(51_200, 524_288_000),
        cached: cap(64_000, 524_288_000),
        cache_bytes: Some(576 << 30),
        ..Vm::default()
    }
}

/// A network volume of 4,500 MiB/s, behind one client with 1,024 slots.
fn network() -> Design {
    let backing = Backing::Network(NetworkVolume {
        level: "Ultra".to_owned(),
        quota: Some(limit(4_500 << 20)),
        ceiling: Ceiling {
            read_iops: Some(460_000),
            write_iops: Some(130_000),
            total_bytes_per_s: Some(4_500 << 20),
            ..Ceiling::default()
        },
        pool: None,
        transfer_bytes: 256 << 10,
    });
    let client = Client {
        name: "near".to_owned(),
        round_trip_ns: 300_000,
        connections: 8,
        slots_per_connection: 128,
        egress: Some(limit(2_000_000_000)),
        ..Client::default()
    };
    Design { clients: vec![client], ..design(None, backing) }
}

/// A closed loop of random operations.
struct Loop {
    system: System,
    io: Io,
    /// Addresses are below this.
    span_bytes: u64,
    n_issued: u64,
    now_ns: u64,
    done: Vec<Done>,
}

impl Loop {
    fn new(design: &Design, depth: u64, len_bytes: u32, span_bytes: u64) -> Loop {
        let options = SystemOptions { n_waiting_max: depth as usize, start: Start::Cold, seed: 1 };
        let io = Io { id: 0, kind: IoKind::Read, volume: 0, client: 0, offset_bytes: 0, len_bytes };
        let system = System::new(design, &options);
        let done = Vec::with_capacity(depth as usize);
        let mut this = Loop { system, io, span_bytes, n_issued: 0, now_ns: 0, done };
        (0..depth).for_each(|id| this.issue(id));
        this
    }

    fn issue(&mut self, id: u64) {
        self.n_issued += 1;
        let n_places = self.span_bytes / u64::from(self.io.len_bytes);
        let place = (u128::from(units::mix64(self.n_issued)) * u128::from(n_places)) >> 64;
        let offset_bytes = place as u64 * u64::from(self.io.len_bytes);
        self.system.submit(self.now_ns, Io { id, offset_bytes, ..self.io });
    }

    /// Runs until the next completion, and submits again what completed.
    fn step(&mut self) -> u64 {
        self.now_ns = self.system.next_event_ns().expect("a closed loop never runs dry");
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        self.system.poll(self.now_ns, &mut done);
        for done in &done {
            self.issue(done.id);
        }
        let n_done = done.len() as u64;
        self.done = done;
        n_done
    }

    /// Prints the cost of one operation.
    fn measure(mut self, name: &str) {
        let mut best_ns = f64::MAX;
        for _ in 0..N_ROUNDS {
            let start = Instant::now();
            let mut n = 0;
            while n < N_OPERATIONS {
                n += self.step();
            }
            best_ns = best_ns.min(start.elapsed().as_nanos() as f64 / n as f64);
        }
        println!("{name:56} {best_ns:8.1} ns");
    }
}

fn main() {
    let gib = 1_u64 << 30;
    let one = design(None, p30s(1, CacheMode::None));
    Loop::new(&one, 1, 8192, 100 * gib).measure("P30, 8 KiB, depth 1");
    Loop::new(&one, 128, 8192, 100 * gib).measure("P30, 8 KiB, depth 128");
    Loop::new(&one, 1024, 8192, 100 * gib).measure("P30, 8 KiB, depth 1,024");
    let striped = design(Some(ds14()), p30s(10, CacheMode::None));
    let name = "10 x P30 behind DS14, uncached, depth 1,024";
    Loop::new(&striped, 1024, 8192, 100 * gib).measure(name);
    let cached = design(Some(ds14()), p30s(10, CacheMode::ReadOnly));
    let mut half = Loop::new(&cached, 1024, 8192, 200 * gib);
    half.system.warm(0, 0, 100 * gib);
    half.measure("the same, ReadOnly, 50 % warm");
    let mut warm = Loop::new(&cached, 1024, 8192, 200 * gib);
    warm.system.warm(0, 0, 200 * gib);
    warm.measure("the same, warm");
    Loop::new(&network(), 1024, 8192, 100 * gib).measure("network volume, depth 1,024");
    warm_up();
}

/// The source document's warm-up: 200 GB in random reads of 1 MiB, for two hours.
fn warm_up() {
    let design = design(Some(ds14()), p30s(1, CacheMode::ReadOnly));
    let start = Instant::now();
    let mut load = Loop::new(&design, 32, 1 << 20, 200_000_000_000);
    while load.now_ns < 7_200_000_000_000 {
        load.step();
    }
    let took_s = start.elapsed().as_secs_f64();
    println!("warm-up of 200 GB, two hours, {} operations {took_s:16.2} s", load.n_issued);
}
