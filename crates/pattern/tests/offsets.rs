//! Where I/O goes: fio's order for the walks that have one, each block once, never outside.

mod common;

use common::{KIB, MIX, layout, offsets_kib, region, workload};
use pattern::rng::{Stream, derive};
use pattern::{Extent, Offsets, PatternError, Region};
use plan::workload::{
    Access, BlockSize, Distribution, HitArea, RandomGenerator, Sequencer, Strided, Workload,
};
use plan::{Direction, PerDir};
use proptest::prelude::*;

use Direction::{Read, Trim, Write};

/// Asserts the first offsets, in KiB, of reads over a region of `region_kib`.
#[track_caller]
fn check_reads(workload: &Workload, region_kib: u64, expected_kib: &[u64]) {
    let mut offsets = Offsets::new(workload, region(region_kib), 1, 0).unwrap();
    let extents: Vec<Extent> = (0..expected_kib.len()).map_while(|_| offsets.next(Read)).collect();
    assert_eq!(offsets_kib(&extents), expected_kib);
}

fn sequential(step_kib: i64) -> Workload {
    Workload { sequential_step_bytes: step_kib * KIB as i64, ..workload("read") }
}

#[test]
fn sequential_ends_at_the_last_whole_block() {
    check_reads(&sequential(0), 66, &[0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60]);
    let mut offsets = Offsets::new(&sequential(0), region(18), 1, 0).unwrap();
    let n = std::iter::from_fn(|| offsets.next(Read)).count();
    assert_eq!(n, 4);
    assert_eq!(offsets.next(Read), None);
    offsets.restart(Read);
    assert_eq!(offsets.next(Read).unwrap().offset, 0);
}

// The three below were read off fio 3.33's log with `log_offset=1`.
#[test]
fn steps_leave_gaps() {
    check_reads(&sequential(8), 64, &[0, 12, 24, 36, 48, 60]);
}

#[test]
fn a_step_over_the_end_wraps() {
    check_reads(&sequential(16), 60, &[0, 20, 40, 0, 20, 40]);
}

#[test]
fn a_step_to_where_no_block_fits_ends_the_pass() {
    let mut offsets = Offsets::new(&sequential(2), region(32), 1, 0).unwrap();
    let extents: Vec<Extent> = std::iter::from_fn(|| offsets.next(Read)).collect();
    assert_eq!(offsets_kib(&extents), [0, 6, 12, 18, 24]);
}

#[test]
fn negative_steps_walk_backwards() {
    check_reads(
        &sequential(-8),
        64,
        &[0, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0, 56],
    );
}

#[test]
fn steps_stay_in_a_region_with_an_offset() {
    let region = Region { start_bytes: 100 * KIB, len_bytes: 32 * KIB };
    let mut offsets = Offsets::new(&sequential(-8), region, 1, 0).unwrap();
    let extents: Vec<Extent> = (0..4).filter_map(|_| offsets.next(Read)).collect();
    assert_eq!(offsets_kib(&extents), [100, 124, 120, 116]);
}

#[test]
fn each_direction_has_its_own_sequential_position() {
    let mut offsets = Offsets::new(&workload("rw"), region(64), 1, 0).unwrap();
    let got = [Read, Read, Write, Read, Write].map(|dir| offsets.next(dir).unwrap().offset / KIB);
    assert_eq!(got, [0, 4, 0, 8, 4]);
    offsets.restart(Read);
    assert_eq!(offsets.next(Read).unwrap().offset, 0);
    assert_eq!(offsets.next(Write).unwrap().offset, 8 * KIB);
}

#[test]
fn draws_go_on_sequentially_or_stay() {
    for (sequencer, stride) in [(Sequencer::Sequential, 4), (Sequencer::Identical, 0)] {
        let workload = Workload { ios_per_draw: 4, sequencer, ..workload("randread") };
        let mut offsets = Offsets::new(&workload, region(1024), 1, 0).unwrap();
        let extents: Vec<Extent> = (0..400).map_while(|_| offsets.next(Read)).collect();
        assert_eq!(extents.len(), 400);
        for four in offsets_kib(&extents).chunks(4) {
            // A draw near the end has no room to go on, and draws again.
            if four[0] + 4 * stride <= 1024 {
                assert_eq!(four, [0, 1, 2, 3].map(|i| four[0] + i * stride));
            }
        }
    }
}

#[test]
fn a_share_of_random_io() {
    let workload =
        Workload { random_pct: PerDir::all(30.0), no_repeats: false, ..workload("randread") };
    let mut offsets = Offsets::new(&workload, region(1 << 30), 1, 0).unwrap();
    let extents: Vec<Extent> = (0..20_000).map_while(|_| offsets.next(Read)).collect();
    let n_sequential = extents.windows(2).filter(|pair| pair[1].offset == pair[0].end()).count();
    let share = n_sequential as f64 / extents.len() as f64;
    assert!((share - 0.7).abs() < 0.02, "{share}");
}

#[test]
fn the_orders_of_fios_tests_20_and_21_are_random() {
    let seed = derive(plan::workload::DEFAULT_SEED, Stream::Worker, 0);
    let lfsr =
        Workload { no_repeats: false, generator: RandomGenerator::Lfsr, ..workload("randread") };
    for workload in [workload("randread"), lfsr] {
        let mut offsets = Offsets::new(&workload, region(1024), seed, 0).unwrap();
        let blocks: Vec<u64> =
            std::iter::from_fn(|| offsets.next(Read)).map(|e| e.offset / 4096).collect();
        let deviation = common::runs_deviation(&blocks);
        assert!(deviation.abs() < 1.5, "{deviation}");
        let mut sorted = blocks;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..256).collect::<Vec<u64>>());
    }
}

#[test]
fn repeats_hit_some_blocks_twice() {
    let workload = Workload { no_repeats: false, ..workload("randread") };
    let mut offsets = Offsets::new(&workload, region(1024), 1, 0).unwrap();
    let blocks: std::collections::HashSet<u64> =
        (0..256).filter_map(|_| offsets.next(Read)).map(|e| e.offset).collect();
    // 256 draws of 256 blocks hit 162 on average.
    assert!((130..195).contains(&blocks.len()), "{}", blocks.len());
}

#[test]
fn passes_have_different_orders_of_the_same_blocks() {
    let mut offsets = Offsets::new(&workload("randread"), region(400), 1, 0).unwrap();
    let first = layout(&mut offsets, Read);
    offsets.restart(Read);
    let second = layout(&mut offsets, Read);
    assert_eq!((first.len(), second.len(), offsets.pass()), (100, 100, 1));
    let n_same = first.iter().zip(&second).filter(|(a, b)| a == b).count();
    assert!(n_same < 10, "{n_same} of 100 in the same place");
}

#[test]
fn writes_follow_their_trims() {
    for rw in ["trimwrite", "randtrimwrite"] {
        let split = BlockSize::Split(vec![(4096, 50), (8192, 50)]);
        let workload = Workload { block_size: PerDir::all(split), ..workload(rw) };
        let mut offsets = Offsets::new(&workload, region(256), 1, 0).unwrap();
        let mut n = 0;
        while let Some(trim) = offsets.next(Trim) {
            assert_eq!(offsets.next(Write), Some(trim));
            n += 1;
        }
        assert!((32..64).contains(&n), "{rw}: {n}");
    }
}

#[test]
fn sizes_by_pattern() {
    let block_size = PerDir {
        read: BlockSize::Fixed(16_384),
        write: BlockSize::Fixed(4096),
        trim: BlockSize::Fixed(1),
    };
    let workload = Workload {
        block_size,
        block_size_by_pattern: true,
        random_pct: PerDir::all(50.0),
        ..workload("randread")
    };
    let mut offsets = Offsets::new(&workload, region(1 << 20), 1, 0).unwrap();
    let mut end = 0;
    for _ in 0..1000 {
        let extent = offsets.next(Read).unwrap();
        let expected = if extent.offset == end { 16_384 } else { 4096 };
        // The first I/O lies at 0 whether it is random or not.
        assert!(extent.len == expected || end == 0, "{extent:?}");
        end = extent.end();
    }
}

/// What fio's strided test asserts: an I/O lies in its zone, blocks do not repeat in it, and a zone
/// that is done more than once over is covered each time.
#[track_caller]
fn check_strided(size_kib: u64, range_kib: u64, skip_kib: u64, random: bool) {
    let strided = Strided {
        zone_size_bytes: size_kib * KIB,
        zone_range_bytes: range_kib * KIB,
        zone_skip_bytes: skip_kib * KIB,
    };
    let rw = if random { "randread" } else { "read" };
    let workload = Workload { strided: Some(strided), ..workload(rw) };
    let region = Region { start_bytes: 32 * KIB, len_bytes: 256 * KIB };
    let mut offsets = Offsets::new(&workload, region, 1, 0).unwrap();
    let mut zone_start = region.start_bytes;
    for _ in 0..20 {
        let mut seen = Vec::new();
        for _ in 0..size_kib / 4 {
            let extent = offsets.next(Read).unwrap();
            let zone = zone_start..zone_start + range_kib * KIB;
            assert!(zone.contains(&extent.offset) && extent.end() <= zone.end);
            assert!(!seen.contains(&extent.offset), "{extent:?} twice");
            seen.push(extent.offset);
            if seen.len() as u64 == range_kib / 4 {
                seen.clear();
            }
        }
        zone_start += (range_kib + skip_kib) * KIB;
        if zone_start >= region.end_bytes() {
            zone_start = region.start_bytes;
        }
    }
}

#[test]
fn strided_zones() {
    for random in [false, true] {
        check_strided(4, 4, 0, random);
        check_strided(16, 4, 0, random);
        check_strided(4, 8, 0, random);
        check_strided(32, 32, 32, random);
        check_strided(64, 16, 16, random);
        check_strided(16, 64, 64, random);
    }
}

#[test]
fn mixed_sizes_without_repeats_use_little_memory() {
    let sizes = BlockSize::Range { min: 4096, max: 65_536 };
    let workload = Workload { block_size: PerDir::all(sizes), ..workload("randread") };
    let offsets = Offsets::new(&workload, region(64 << 20), 1, 0).unwrap();
    // 64 GiB in blocks of 4 KiB: 2 MiB of bits and 1.6 % for the levels above.
    assert!((2 << 20..2_140_000).contains(&offsets.map_bytes()), "{}", offsets.map_bytes());
}

#[test]
fn other_settings_do_not_move_the_draws() {
    let starts = |workload: &Workload, dir| -> Vec<u64> {
        let mut offsets = Offsets::new(workload, region(1024), 5, 0).unwrap();
        (0..200).map_while(|_| offsets.next(dir)).map(|extent| extent.offset).collect()
    };
    let repeats = Workload { no_repeats: false, ..workload("randread") };
    let sizes = PerDir::all(BlockSize::Range { min: 4096, max: 65_536 });
    let ranged = Workload { block_size: sizes, ..repeats.clone() };
    assert_eq!(starts(&repeats, Read), starts(&ranged, Read));
    let mixed = Workload { no_repeats: false, ..workload("randrw") };
    assert_eq!(starts(&repeats, Read), starts(&mixed, Write));
    assert_eq!(starts(&workload("randtrim"), Trim), starts(&workload("randtrimwrite"), Trim));
}

#[test]
fn mistakes_are_typed() {
    #[track_caller]
    fn check(workload: &Workload, region: Region, expected: &PatternError) {
        assert_eq!(&Offsets::new(workload, region, 1, 0).unwrap_err(), expected);
    }
    let too_small = PatternError::RegionTooSmall { region_bytes: 1024, block_bytes: 4096 };
    check(&workload("randread"), region(1), &too_small);
    check(&workload("read"), region(1), &too_small);
    let start_bytes = u64::MAX - 1;
    let too_large = PatternError::RegionTooLarge { start_bytes, len_bytes: 4096 };
    check(&workload("read"), Region { start_bytes, len_bytes: 4096 }, &too_large);
    let zero = Workload { block_size: PerDir::all(BlockSize::Fixed(0)), ..workload("read") };
    check(&zero, region(64), &PatternError::BlockSize { min_bytes: 0, max_bytes: 0 });
    let sequence = Distribution::Sequence(vec![0, 16]);
    let beyond = Workload { distribution: PerDir::all(sequence), ..workload("randread") };
    check(&beyond, region(64), &PatternError::SequenceBlock { block: 16, n_blocks: 16 });
}

prop_compose! {
    fn block_sizes()(kind in 0..4, min_units in 1_u32..9, extra_units in 0_u32..16) -> BlockSize {
        let (min, max) = (min_units * 512, (min_units + extra_units) * 512);
        match kind {
            0 => BlockSize::Fixed(min),
            1 => BlockSize::Range { min, max },
            2 => BlockSize::Split(vec![(min, 60), (max, 40)]),
            _ => BlockSize::Split(vec![(max, 1), (min, 99)]),
        }
    }
}

prop_compose! {
    fn distributions()(
        kind in 0..8,
        skew in 0.1_f64..2.5,
        centre in proptest::option::of(0.0..=1.0),
    ) -> Distribution {
        match kind {
            0 => Distribution::Uniform,
            1 => Distribution::Zipf { theta: skew, centre },
            2 => Distribution::Pareto { h: skew / 2.6, centre },
            3 => Distribution::Normal { deviation_pct: skew * 40.0, centre },
            4 => Distribution::Zoned(vec![(50, 10), (30, 40), (20, 50)]),
            5 => Distribution::Exponential { mean: skew },
            6 => Distribution::Power { exponent: 1.0 + skew },
            _ => Distribution::ZonedAbs(vec![(50, 4096), (50, 1 << 30)]),
        }
    }
}

prop_compose! {
    fn workloads()(
        rw in prop::sample::select(vec!["read", "rw", "randread", "randrw", "randtrimwrite"]),
        (read, write, trim) in (block_sizes(), block_sizes(), block_sizes()),
        no_repeats: bool,
        distribution in distributions(),
        ios_per_draw in 1_u32..4,
        random_pct in prop::sample::select(vec![100.0, 100.0, 50.0, 0.5, 0.0]),
        step in -20_i64..20,
        strided in proptest::option::of((1_u64..64, 64_u64..96, 0_u64..40)),
        (identical, unaligned, by_pattern) in any::<(bool, bool, bool)>(),
        (one_cursor, aligned_to_length, starts_anywhere) in any::<(bool, bool, bool)>(),
        skip in proptest::option::of((0_u64..30, 0_u64..60)),
        hit_kib in proptest::option::of(14_u64..20),
        n_streams in 0_u32..3,
    ) -> Workload {
        let in_units = |(size, range, skip)| Strided {
            zone_size_bytes: size * 512,
            zone_range_bytes: range * 512,
            zone_skip_bytes: skip * 512,
        };
        Workload {
            block_size: PerDir { read, write, trim },
            block_unaligned: unaligned,
            block_size_by_pattern: by_pattern,
            no_repeats,
            distribution: PerDir::all(distribution),
            ios_per_draw,
            sequencer: if identical { Sequencer::Identical } else { Sequencer::Sequential },
            random_pct: PerDir::all(random_pct),
            sequential_step_bytes: step * 512,
            strided: strided.map(in_units),
            one_cursor,
            aligned_to_length,
            starts_anywhere,
            skip_bytes: skip.map(|(min, more)| (min * 512, (min + more) * 512)),
            hit_area: hit_kib.map(|kib| HitArea {
                len_bytes: kib * KIB,
                read_pct: 30.0,
                write_pct: 70.0,
            }),
            n_streams,
            ..workload(rw)
        }
    }
}

fn directions(workload: &Workload) -> Vec<Direction> {
    match workload.access {
        Access { trim_then_write: true, .. } => vec![Trim, Write],
        Access { write: true, .. } => vec![Read, Write],
        _ => vec![Read],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_extent_lies_in_the_region(
        workload in workloads(),
        start in 0_u64..100,
        len_kib in 48_u64..300,
        seed: u64,
    ) {
        let region = Region { start_bytes: start * 512, len_bytes: len_kib * KIB };
        let mut offsets = Offsets::new(&workload, region, seed, 0).unwrap();
        let dirs = directions(&workload);
        for k in 0..1000 {
            let dir = dirs[MIX[k % MIX.len()] % dirs.len()];
            let Some(extent) = offsets.next(dir) else {
                offsets.restart(dir);
                continue;
            };
            prop_assert!(extent.len > 0);
            prop_assert!(extent.offset >= region.start_bytes, "{:?}", extent);
            prop_assert!(extent.end() <= region.end_bytes(), "{:?}", extent);
            if !workload.block_unaligned {
                prop_assert_eq!((extent.offset - region.start_bytes) % 512, 0);
                prop_assert_eq!(extent.len % 512, 0);
            }
        }
    }

    #[test]
    fn batches_and_seeds_do_not_change_the_sequence(
        workload in workloads(),
        seed: u64,
        batches in prop::collection::vec(1_usize..40, 1..20),
    ) {
        let build = |seed| Offsets::new(&workload, region(200), seed, 3).unwrap();
        let (mut single, mut batched) = (build(seed), build(seed));
        let dir = if workload.access.trim_then_write { Trim } else { Read };
        let mut out = [Extent::default(); 40];
        for n in batches {
            let n_filled = batched.fill(dir, &mut out[..n]);
            for extent in &out[..n_filled] {
                prop_assert_eq!(Some(*extent), single.next(dir));
            }
            if n_filled < n {
                prop_assert_eq!(single.next(dir), None);
                single.restart(dir);
                batched.restart(dir);
            }
        }
    }

    #[test]
    fn without_repeats_every_smallest_block_is_done_once(
        (read, write) in (block_sizes(), block_sizes()),
        len_units in 24_u64..2000,
        seed: u64,
        n_passes in 1..3,
    ) {
        let trim = BlockSize::Fixed(512);
        let workload =
            Workload { block_size: PerDir { read, write, trim }, ..workload("randrw") };
        let unit = u64::from(workload.block_size.read.min().min(workload.block_size.write.min()));
        let region = Region { start_bytes: 4096, len_bytes: len_units * 512 };
        let mut offsets = Offsets::new(&workload, region, seed, 0).unwrap();
        for _ in 0..n_passes {
            let mut n_by_unit = vec![0_u32; (region.len_bytes / unit) as usize];
            for k in 0.. {
                let dir = [Read, Write][MIX[k % MIX.len()] % 2];
                let Some(extent) = offsets.next(dir) else { break };
                let first = (extent.offset - region.start_bytes) / unit;
                let end = first + u64::from(extent.len).div_ceil(unit);
                for count in n_by_unit.get_mut(first as usize..end as usize).into_iter().flatten() {
                    *count += 1;
                }
            }
            prop_assert!(n_by_unit.iter().all(|&n| n == 1), "{:?}", n_by_unit);
            offsets.next_pass();
        }
    }

    #[test]
    fn files_and_seeds_differ(seed: u64) {
        let sequence = |seed, file| {
            let workload = workload("randread");
            let mut offsets = Offsets::new(&workload, region(4000), seed, file).unwrap();
            layout(&mut offsets, Read)
        };
        prop_assert_ne!(sequence(seed, 0), sequence(seed, 1));
        prop_assert_ne!(sequence(seed, 0), sequence(seed.wrapping_add(1), 0));
    }
}
