//! Cost of each generator: `cargo bench -p pattern`. Nanoseconds per call, best of several rounds.
//!
//! Wall clock only informs; nothing is asserted. Other load on the machine shows as noise.
#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]
#![expect(clippy::disallowed_methods, reason = "measures real time, never a simulated run")]

use std::hint::black_box;
use std::time::Instant;

use pattern::{
    Arrivals, Contents, ContentsSpec, Extent, FilePicker, Mix, Offsets, Permutation, Region, Rng,
};
use plan::files::FileService;
use plan::load::{Arrivals as Spacing, Rate};
use plan::verify::{Buffers, DedupeSets, FlipFlop, SetCount};
use plan::workload::{Access, BlockSize, Distribution, HitArea, Strided, Workload};
use plan::{Direction, PerDir};

/// Calls per round: long enough for the clock, short enough to fall between interruptions.
const N_CALLS: u64 = 1 << 16;
const N_ROUNDS: u32 = 30;

/// Prints the cost of one call.
fn measure(name: &str, mut call: impl FnMut(u64)) {
    let mut best_ns = f64::MAX;
    for _ in 0..N_ROUNDS {
        let start = Instant::now();
        for i in 0..N_CALLS {
            call(i);
        }
        best_ns = best_ns.min(start.elapsed().as_nanos() as f64 / N_CALLS as f64);
    }
    println!("{name:48} {best_ns:8.2} ns");
}

fn measure_offsets(name: &str, workload: &Workload, len_bytes: u64) {
    let region = Region { start_bytes: 0, len_bytes };
    let mut offsets = Offsets::new(workload, region, 1, 0).expect("a valid workload");
    measure(name, |_| {
        if black_box(offsets.next(Direction::Read)).is_none() {
            offsets.restart(Direction::Read);
        }
    });
}

fn main() {
    let mut rng = Rng::new(1);
    measure("rng: 64 bits", |_| {
        black_box(rng.next_u64());
    });
    measure("rng: bounded", |_| {
        black_box(rng.bounded(1_000_003));
    });
    for (name, n) in [("2^28", 1 << 28), ("3 * 10^8", 300_000_000), ("2^28 + 1", (1 << 28) + 1)] {
        let order = Permutation::new(n, 1);
        measure(&format!("permutation of {name}"), |i| {
            black_box(order.get(i));
        });
    }

    let random =
        Workload { access: Access { random: true, ..Access::READ }, ..Workload::default() };
    let repeats = Workload { no_repeats: false, ..random.clone() };
    let (tib, odd) = (1 << 40, (1 << 40) - 4096 * 1_234_567);
    measure_offsets("offsets: random, no repeats, 1 TiB", &random, tib);
    measure_offsets("offsets: random, no repeats, odd size", &random, odd);
    measure_offsets("offsets: random, repeats", &repeats, tib);
    measure_offsets("offsets: sequential", &Workload::default(), tib);
    let ranges = PerDir::all(BlockSize::Range { min: 4096, max: 65_536 });
    let mixed = Workload { block_size: ranges, ..random.clone() };
    measure_offsets("offsets: random, 4k-64k, map of 64 GiB", &mixed, 1 << 36);
    measure_offsets("offsets: random, 4k-64k, map of 64 MiB, full", &mixed, 1 << 26);
    let zone = 1 << 20;
    let strided = Strided { zone_size_bytes: zone, zone_range_bytes: zone, zone_skip_bytes: zone };
    measure_offsets(
        "offsets: random, strided",
        &Workload { strided: Some(strided), ..random.clone() },
        tib,
    );
    measure_spreads(&repeats, tib);
    measure_shared_walks(&repeats, tib);
    for (name, workload) in [("no repeats", &random), ("repeats", &repeats)] {
        let region = Region { start_bytes: 0, len_bytes: tib };
        let mut offsets = Offsets::new(workload, region, 1, 0).expect("a valid workload");
        let mut out = [Extent::default(); 32];
        measure(&format!("offsets: batch of 32, {name} (per batch)"), |_| {
            black_box(offsets.fill(Direction::Read, &mut out));
            black_box(&out);
        });
    }

    let mut mix = Mix::new(Access { write: true, ..Access::READ }, 70.0, 1);
    measure("mix: 70 % reads", |_| {
        black_box(mix.next());
    });
    let mut files = FilePicker::new(FileService::RoundRobin, 1, 16, 1).expect("16 files");
    measure("files: round robin", |_| {
        black_box(files.next());
    });
    for (name, spacing) in [("linear", Spacing::Linear), ("poisson", Spacing::Poisson)] {
        let mut arrivals = Arrivals::new(spacing, Rate::Iops(123_457), 1, 0).expect("a rate");
        measure(&format!("arrivals: {name}"), |_| {
            arrivals.advance(4096);
            black_box(arrivals.due_ns());
        });
    }
    measure_contents();
}

fn measure_spreads(repeats: &Workload, len_bytes: u64) {
    for (name, distribution) in [
        ("zipf", Distribution::Zipf { theta: 1.1, centre: None }),
        ("pareto", Distribution::Pareto { h: 0.2, centre: None }),
        ("normal", Distribution::Normal { deviation_pct: 10.0, centre: None }),
        ("exponential", Distribution::Exponential { mean: 1.0 / 3.0 }),
        ("power", Distribution::Power { exponent: 3.0 }),
        ("zoned", Distribution::Zoned(vec![(80, 20), (20, 80)])),
    ] {
        let workload = Workload { distribution: PerDir::all(distribution), ..repeats.clone() };
        measure_offsets(&format!("offsets: {name}"), &workload, len_bytes);
    }
}

/// Walks that share a cursor, hit, or skip.
fn measure_shared_walks(repeats: &Workload, len_bytes: u64) {
    let seeking = Workload {
        random_pct: PerDir::all(50.0),
        one_cursor: true,
        aligned_to_length: true,
        ..repeats.clone()
    };
    measure_offsets("offsets: half of the I/Os seek, one cursor", &seeking, len_bytes);
    let area = HitArea { len_bytes: 1 << 20, read_pct: 50.0, write_pct: 50.0 };
    let hits = Workload { hit_area: Some(area), ..repeats.clone() };
    measure_offsets("offsets: random, half of the I/Os hit", &hits, len_bytes);
    let skips = Workload { skip_bytes: Some((1 << 20, 2 << 20)), ..seeking };
    measure_offsets("offsets: half of the I/Os skip", &skips, len_bytes);
}

fn measure_contents() {
    let spec = ContentsSpec {
        block_bytes: 4096,
        region_bytes: 1 << 30,
        worker_seed: 1,
        job_seed: 1,
        is_direct: false,
    };
    let mut buf = vec![0; 4096];
    let random = Buffers::default();
    let halved = Buffers { compress_pct: Some(50), ..Buffers::default() };
    let deduped = Buffers { dedupe_pct: 50, ..Buffers::default() };
    let ratio = Buffers { compress_ratio: Some(2.0), ..Buffers::default() };
    let sets = DedupeSets {
        ratio: 2.0,
        unit_bytes: 4096,
        sets: SetCount::Pct(5.0),
        flip_flop: FlipFlop::None,
        hot_sets: Vec::new(),
    };
    let by_place = Buffers { dedupe_sets: Some(sets), ..Buffers::default() };
    for (name, buffers) in [
        ("random", random),
        ("50 % compressible", halved),
        ("dedupe", deduped),
        ("compressible 2:1", ratio),
        ("dedupe by place", by_place),
    ] {
        let contents = Contents::from_buffers(&buffers, spec);
        measure(&format!("contents: 4 KiB {name}"), |i| {
            contents.fill(&mut buf, i, i);
            black_box(&buf);
        });
    }
    let contents = Contents::from_buffers(&Buffers::default(), spec);
    measure("contents: 4 KiB scrambled", |i| {
        contents.scramble(&mut buf, i, i);
        black_box(&buf);
    });
}
