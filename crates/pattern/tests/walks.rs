//! Walks that seek now and then, skip, start anywhere, keep to streams or go to a hit area.

mod common;

use std::collections::BTreeMap;

use common::{KIB, MIX, offsets_kib, region, workload};
use pattern::{Extent, Offsets, Region};
use plan::workload::{BlockSize, Distribution, HitArea, Workload};
use plan::{Direction, PerDir};

use Direction::{Read, Write};

const N_IOS: usize = 100_000;

/// A walk of which so many percent of the I/Os seek, over any mix of directions.
fn seeking(random_pct: f64) -> Workload {
    Workload {
        random_pct: PerDir::all(random_pct),
        no_repeats: false,
        one_cursor: true,
        aligned_to_length: true,
        ..workload("randrw")
    }
}

/// Issues I/Os over uneven directions and returns them.
fn issue(workload: &Workload, region: Region, n_ios: usize) -> Vec<(Direction, Extent)> {
    let mut offsets = Offsets::new(workload, region, 1, 0).unwrap();
    let mut dirs = (0..).map(|k| [Read, Write][MIX[k % MIX.len()]]);
    let mut next = || {
        let dir = dirs.next()?;
        let extent = offsets.next(dir).or_else(|| {
            offsets.restart(dir);
            offsets.next(dir)
        });
        Some((dir, extent?))
    };
    let ios: Vec<(Direction, Extent)> = (0..n_ios).map_while(|_| next()).collect();
    assert_eq!(ios.len(), n_ios);
    ios
}

/// Returns the share of the I/Os, in percent, that do not go on where the one before ended.
fn seek_pct(ios: &[(Direction, Extent)], region: Region) -> f64 {
    let is_seek = |pair: &&[(Direction, Extent)]| {
        let (before, after) = (pair[0].1, pair[1].1);
        let wraps = after.offset == region.start_bytes && before.end() >= region.end_bytes();
        after.offset != before.end() && !wraps
    };
    ios.windows(2).filter(is_seek).count() as f64 / (ios.len() - 1) as f64 * 100.0
}

#[test]
fn so_many_percent_seek_and_the_rest_go_on_whatever_the_direction() {
    let region = Region { start_bytes: 8192, len_bytes: 1 << 30 };
    for pct in [0.0, 5.0, 12.5, 50.0, 95.0, 100.0] {
        let got_pct = seek_pct(&issue(&seeking(pct), region, N_IOS), region);
        // A draw hits the next block by chance once in 262,144 times.
        assert!((got_pct - pct).abs() < 0.6, "{got_pct} % for {pct} %");
    }
}

#[test]
fn one_cursor_is_shared_and_several_are_not() {
    let sequence = |one_cursor| {
        let workload = Workload { one_cursor, ..workload("rw") };
        let extents: Vec<Extent> =
            issue(&workload, region(64), 8).into_iter().map(|(_, extent)| extent).collect();
        offsets_kib(&extents)
    };
    assert_eq!(sequence(true), [0, 4, 8, 12, 16, 20, 24, 28]);
    // Read, read, write, read, write, write, write, read.
    assert_eq!(sequence(false), [0, 4, 0, 8, 4, 8, 12, 12]);
}

#[test]
fn a_shared_cursor_starts_over_for_all() {
    let workload = Workload { one_cursor: true, ..workload("rw") };
    let extents: Vec<Extent> =
        issue(&workload, region(12), 7).into_iter().map(|(_, extent)| extent).collect();
    assert_eq!(offsets_kib(&extents), [0, 4, 8, 0, 4, 8, 0]);
}

#[test]
fn a_walk_that_never_seeks_starts_over_at_the_end() {
    let extents: Vec<Extent> =
        issue(&seeking(0.0), region(12), 6).into_iter().map(|(_, extent)| extent).collect();
    assert_eq!(offsets_kib(&extents), [0, 4, 8, 0, 4, 8]);
}

#[test]
fn random_places_are_multiples_of_the_length() {
    let sizes = BlockSize::Weighted(vec![(4096, 1), (65_536, 1), (12_288, 1)]);
    let workload = Workload { block_size: PerDir::all(sizes), ..seeking(100.0) };
    let region = Region { start_bytes: 4096, len_bytes: 10 << 20 };
    let mut n_by_len = BTreeMap::new();
    for (_, extent) in issue(&workload, region, N_IOS) {
        assert_eq!((extent.offset - 4096) % u64::from(extent.len), 0);
        assert!(extent.end() <= region.end_bytes());
        *n_by_len.entry(extent.len).or_insert(0_u32) += 1;
    }
    assert!(n_by_len.values().all(|n| n.abs_diff(33_333) < 700), "{n_by_len:?}");
}

#[test]
fn an_alignment_goes_before_the_length() {
    let workload = Workload {
        block_size: PerDir::all(BlockSize::Fixed(65_536)),
        block_align: PerDir::all(Some(4096)),
        ..seeking(100.0)
    };
    let ios = issue(&workload, region(1024), N_IOS);
    assert!(ios.iter().all(|(_, extent)| extent.offset.is_multiple_of(4096)));
    let n_aligned = ios.iter().filter(|(_, e)| e.offset.is_multiple_of(65_536)).count();
    // 16 of the 241 places.
    assert!(n_aligned.abs_diff(N_IOS * 16 / 241) < 500, "{n_aligned}");
}

#[test]
fn spreads_place_larger_blocks_where_they_are_dense() {
    let sizes = BlockSize::Weighted(vec![(4096, 1), (65_536, 1)]);
    let workload = Workload {
        block_size: PerDir::all(sizes),
        distribution: PerDir::all(Distribution::Power { exponent: 3.0 }),
        ..seeking(100.0)
    };
    let region = Region { start_bytes: 0, len_bytes: 1 << 30 };
    for len in [4096, 65_536] {
        let of_len: Vec<u64> = issue(&workload, region, N_IOS)
            .into_iter()
            .filter(|(_, extent)| extent.len == len)
            .map(|(_, extent)| extent.offset)
            .collect();
        assert!(of_len.iter().all(|offset| offset.is_multiple_of(len.into())));
        let n_front = of_len.iter().filter(|offset| **offset < region.len_bytes / 10).count();
        let share = n_front as f64 / of_len.len() as f64;
        assert!((share - 0.464).abs() < 0.01, "{share}");
    }
}

#[track_caller]
fn check_skips(min_kib: u64, max_kib: u64, gaps_kib: &[u64]) {
    let workload = Workload { skip_bytes: Some((min_kib * KIB, max_kib * KIB)), ..seeking(100.0) };
    let region = Region { start_bytes: 4096, len_bytes: 1 << 30 };
    let ios = issue(&workload, region, 10_000);
    assert_eq!(ios[0].1.offset, 4096);
    let mut n_by_gap = BTreeMap::new();
    for pair in ios.windows(2) {
        let (before, after) = (pair[0].1, pair[1].1);
        if after.offset == region.start_bytes {
            assert!(before.end() + (max_kib + 4) * KIB > region.end_bytes());
            continue;
        }
        *n_by_gap.entry((after.offset - before.end()) / KIB).or_insert(0_usize) += 1;
    }
    assert!(n_by_gap.keys().eq(gaps_kib), "{n_by_gap:?}");
    let expected = ios.len() / gaps_kib.len();
    assert!(n_by_gap.values().all(|n| n.abs_diff(expected) < expected / 8), "{n_by_gap:?}");
}

#[test]
fn skips_go_forward_by_whole_ios_between_two_distances() {
    check_skips(0, 0, &[0]);
    check_skips(1024, 1024, &[1024]);
    check_skips(8, 24, &[8, 12, 16, 20, 24]);
    check_skips(10, 13, &[10]);
    check_skips(10, 15, &[10, 14]);
}

#[test]
fn a_walk_may_start_anywhere_and_still_visits_everything() {
    let workload = Workload { starts_anywhere: true, ..workload("read") };
    let mut starts = BTreeMap::new();
    for seed in 0..200 {
        let mut offsets = Offsets::new(&workload, region(64), seed, 0).unwrap();
        let to_end: Vec<Extent> = std::iter::from_fn(|| offsets.next(Read)).collect();
        let start_kib = to_end[0].offset / KIB;
        assert!(offsets_kib(&to_end).into_iter().eq((start_kib..64).step_by(4)));
        *starts.entry(start_kib).or_insert(0) += 1;
        offsets.restart(Read);
        assert_eq!(offsets.next(Read).unwrap().offset, 0, "after the end it goes on at the start");
        offsets.next_pass();
        assert_eq!(offsets.next(Read).unwrap().offset / KIB, start_kib, "a pass begins as before");
    }
    assert!(!starts.contains_key(&0));
    assert_eq!(starts.len(), 15, "{starts:?}");
    let mut only = Offsets::new(&workload, region(4), 1, 0).unwrap();
    assert_eq!(only.next(Read).unwrap().offset, 0);
}

#[test]
fn streams_take_turns_in_equal_parts() {
    let workload = Workload { n_streams: 3, one_cursor: true, ..workload("rw") };
    let region = Region { start_bytes: 4096, len_bytes: 40 * KIB };
    let extents: Vec<Extent> =
        issue(&workload, region, 12).into_iter().map(|(_, extent)| extent).collect();
    // Parts of 12 KiB; the last 4 KiB belong to none.
    assert_eq!(offsets_kib(&extents), [4, 16, 28, 8, 20, 32, 12, 24, 36, 4, 16, 28]);
}

#[test]
fn streams_that_end_do_so_once_all_have() {
    let workload = Workload { n_streams: 2, ends_with_region: true, ..workload("read") };
    let mut offsets = Offsets::new(&workload, region(24), 1, 0).unwrap();
    let extents: Vec<Extent> = std::iter::from_fn(|| offsets.next(Read)).collect();
    assert_eq!(offsets_kib(&extents), [0, 12, 4, 16, 8, 20]);
    assert_eq!(offsets.next(Read), None);
    offsets.restart(Read);
    assert_eq!(offsets.next(Read).unwrap().offset, 0);
}

/// Checks the shares of reads and writes that go to the hit area, and that each side goes on by
/// itself.
#[track_caller]
fn check_hits(workload: &Workload, read_pct: f64, write_pct: f64) {
    let area = HitArea { len_bytes: 1 << 20, read_pct, write_pct };
    let workload = Workload { hit_area: Some(area), ..workload.clone() };
    let region = Region { start_bytes: 8192, len_bytes: 1 << 30 };
    let ios = issue(&workload, region, N_IOS);
    for (dir, expected_pct) in [(Read, read_pct), (Write, write_pct)] {
        let of_dir: Vec<Extent> = ios.iter().filter(|io| io.0 == dir).map(|io| io.1).collect();
        let n_hits = of_dir.iter().filter(|it| it.end() <= 8192 + (1 << 20)).count();
        let n_misses = of_dir.iter().filter(|it| it.offset >= 8192 + (1 << 20)).count();
        assert_eq!(n_hits + n_misses, of_dir.len(), "none crosses the border");
        let got_pct = n_hits as f64 / of_dir.len() as f64 * 100.0;
        assert!((got_pct - expected_pct).abs() < 0.8, "{dir:?}: {got_pct} %, not {expected_pct} %");
    }
}

#[test]
fn hits_go_to_the_start_and_misses_behind_it() {
    check_hits(&seeking(100.0), 0.0, 0.0);
    check_hits(&seeking(100.0), 100.0, 0.0);
    check_hits(&seeking(100.0), 20.0, 75.5);
    check_hits(&seeking(0.0), 33.3, 50.0);
    let sizes = BlockSize::Weighted(vec![(4096, 1), (65_536, 1)]);
    check_hits(&Workload { block_size: PerDir::all(sizes), ..seeking(30.0) }, 50.0, 10.0);
}

#[test]
fn hits_and_misses_are_two_walks() {
    let area = HitArea { len_bytes: 16 * KIB, read_pct: 50.0, write_pct: 50.0 };
    let workload = Workload { hit_area: Some(area), ..seeking(0.0) };
    let ios = issue(&workload, region(1 << 20), 200);
    let (hits, misses): (Vec<Extent>, Vec<Extent>) =
        ios.into_iter().map(|io| io.1).partition(|extent| extent.offset < 16 * KIB);
    assert!(offsets_kib(&hits).into_iter().eq((0..hits.len() as u64).map(|k| k % 4 * 4)));
    assert!(offsets_kib(&misses).into_iter().eq((0..misses.len() as u64).map(|k| 16 + k * 4)));
}

#[test]
fn a_hit_area_that_leaves_no_room_is_refused() {
    for len_bytes in [0, 4095, 60 * KIB, 1 << 40] {
        let area = HitArea { len_bytes, read_pct: 50.0, write_pct: 50.0 };
        let workload = Workload { hit_area: Some(area), ..seeking(100.0) };
        let is_built = Offsets::new(&workload, region(62), 1, 0).is_ok();
        assert!(!is_built, "{len_bytes}");
    }
}
