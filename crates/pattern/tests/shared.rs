//! Workers that do one walk together: each place goes to one of them.

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use common::{MIX, region, workload};
use pattern::{Cursor, Division, Extent, Offsets, Region};
use plan::workload::{BlockSize, HitArea, Strided, Workload};
use plan::{Direction, PerDir};
use proptest::prelude::*;

use Direction::{Read, Write};

/// Makes the workers of one walk, each with a seed of its own.
fn workers(workload: &Workload, region: Region, n_workers: u64) -> Vec<Offsets> {
    let mut cursors: Vec<Arc<Cursor>> = Vec::new();
    let worker = |seed| {
        let mut offsets = Offsets::new(workload, region, seed, 0).unwrap();
        let mut known = cursors.clone().into_iter();
        assert!(offsets.share(&mut |first_bytes| {
            known.next().unwrap_or_else(|| {
                cursors.push(Cursor::new(first_bytes));
                Arc::clone(&cursors[cursors.len() - 1])
            })
        }));
        offsets
    };
    (1..=n_workers).map(worker).collect()
}

/// Lets workers claim in this order: who, and how many places at once. Returns the claims.
fn claim(workers: &mut [Offsets], turns: &[(usize, usize)]) -> Vec<Vec<Extent>> {
    let claim = |&(who, n_places): &(usize, usize)| {
        let mut places = vec![Extent::default(); n_places];
        let n_workers = workers.len();
        let n_claimed = workers[who % n_workers].fill(Read, &mut places);
        places.truncate(n_claimed);
        places
    };
    turns.iter().map(claim).collect()
}

/// A walk that ends at the region's end, of blocks of these sizes.
fn once(block_size: BlockSize) -> Workload {
    Workload { block_size: PerDir::all(block_size), ends_with_region: true, ..workload("read") }
}

fn any_size() -> impl Strategy<Value = BlockSize> {
    prop_oneof![
        (1_u32..9).prop_map(|n| BlockSize::Fixed(n * 512)),
        Just(BlockSize::Split(vec![(512, 50), (4096, 30), (16_384, 20)])),
        Just(BlockSize::Range { min: 512, max: 8192 }),
        Just(BlockSize::Stepped { min: 1024, max: 9216, step: 2048 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Each byte of a region goes to one worker, once: each claim begins where the one before it
    /// ended, and the last ends where one worker alone would end.
    #[test]
    fn one_pass_is_every_block_once(
        size in any_size(),
        start in 0_u64..5,
        len in 40_u64..400,
        n_workers in 1_u64..6,
        turns in prop::collection::vec((0_usize..6, 1_usize..9), 1..20),
    ) {
        let region = Region { start_bytes: start * 4096, len_bytes: len * 512 };
        let min_bytes = size.min();
        let mut workers = workers(&once(size), region, n_workers);
        let mut at = region.start_bytes;
        // A claim takes a block at least.
        for _ in 0..len {
            for claimed in claim(&mut workers, &turns) {
                for extent in claimed {
                    prop_assert_eq!(extent.offset, at);
                    prop_assert!(extent.len >= min_bytes);
                    at = extent.end();
                }
            }
        }
        prop_assert!(at <= region.end_bytes());
        prop_assert!(region.end_bytes() - at < u64::from(min_bytes));
        prop_assert!(workers.iter_mut().all(|it| it.next(Read).is_none()));
    }

    /// Where all blocks are alike, the claims one after another are what one worker alone does,
    /// round after round.
    #[test]
    fn together_they_do_what_one_does(
        len in 3_u64..100,
        step_blocks in -2_i64..3,
        starts_anywhere in any::<bool>(),
        n_workers in 1_u64..6,
        turns in prop::collection::vec((0_usize..6, 1_usize..9), 1..100),
    ) {
        let workload = Workload {
            starts_anywhere,
            sequential_step_bytes: step_blocks * 4096,
            ..workload("read")
        };
        let region = Region { start_bytes: 1 << 20, len_bytes: len * 4096 };
        let mut alone = Offsets::new(&workload, region, 1, 0).unwrap();
        let mut next = || alone.next(Read).or_else(|| {
            alone.restart(Read);
            alone.next(Read)
        });
        let mut workers = workers(&workload, region, n_workers);
        for (claimed, (_, n_asked)) in claim(&mut workers, &turns).into_iter().zip(&turns) {
            prop_assert_eq!(claimed.len(), *n_asked);
            for extent in claimed {
                prop_assert_eq!(Some(extent), next());
            }
        }
    }
}

/// Each thread claims until the walk ends. Returns what each has claimed, in order.
fn claim_in_threads(workers: Vec<Offsets>) -> Vec<Vec<Extent>> {
    let go = Arc::new(AtomicBool::new(false));
    let threads = workers.into_iter().enumerate().map(|(idx, mut offsets)| {
        let go = Arc::clone(&go);
        std::thread::spawn(move || {
            while !go.load(Relaxed) {
                std::hint::spin_loop();
            }
            let mut all = Vec::new();
            let mut places = [Extent::default(); 8];
            for turn in idx.. {
                let asked = &mut places[..=turn % 8];
                let n_asked = asked.len();
                let n_claimed = offsets.fill(Read, asked);
                all.extend_from_slice(&places[..n_claimed]);
                if n_claimed < n_asked {
                    break;
                }
            }
            all
        })
    });
    let threads: Vec<_> = threads.collect();
    go.store(true, Relaxed);
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

#[test]
fn threads_at_the_same_time_do_every_block_once() {
    #[track_caller]
    fn check(size: BlockSize) {
        let (region, min_bytes) = (region(400_000), u64::from(size.min()));
        let claims = claim_in_threads(workers(&once(size), region, 4));
        for own in &claims {
            assert!(own.windows(2).all(|pair| pair[0].end() <= pair[1].offset), "out of order");
        }
        let mut all = claims.concat();
        all.sort_unstable_by_key(|extent| extent.offset);
        let at = all.iter().fold(0, |at, extent| {
            assert_eq!(extent.offset, at);
            extent.end()
        });
        assert!(region.end_bytes() - at < min_bytes, "ends at {at}");
    }
    check(BlockSize::Fixed(4096));
    check(BlockSize::Split(vec![(1024, 50), (4096, 50)]));
}

/// A walk that seeks now and then goes on where the last I/O of any worker ended.
#[test]
fn seeks_keep_their_share() {
    for pct in [5.0, 50.0, 95.0] {
        let seeking = Workload {
            random_pct: PerDir::all(pct),
            no_repeats: false,
            one_cursor: true,
            ..workload("randrw")
        };
        let region = region(1 << 20);
        let mut workers = workers(&seeking, region, 3);
        let n_ios = 60_000_usize;
        let ios: Vec<Extent> = (0..n_ios)
            .map(|k| workers[k % 3].next([Read, Write][MIX[k % MIX.len()]]).unwrap())
            .collect();
        let n_seeks = ios.windows(2).filter(|pair| pair[0].end() != pair[1].offset).count();
        let got_pct = n_seeks as f64 / n_ios as f64 * 100.0;
        assert!((got_pct - pct).abs() < 0.8, "{got_pct} % for {pct} %");
    }
}

/// I/Os that go forward by a stride do so from wherever the last of any worker ended.
#[test]
fn strides_follow_each_other() {
    let striding = Workload {
        skip_bytes: Some((8192, 8192)),
        no_repeats: false,
        one_cursor: true,
        ..workload("randread")
    };
    let mut workers = workers(&striding, region(1024), 3);
    let offsets: Vec<u64> = (0..200).map(|k| workers[k % 3].next(Read).unwrap().offset).collect();
    // 4 KiB each, and 8 KiB left out: 86 times in 1 MiB, whose last block has no room left behind.
    assert!(offsets.iter().enumerate().all(|(k, at)| *at == (k as u64 % 86) * 12_288));
}

/// Each stream is one walk, as is what is behind a hit area.
#[test]
fn every_part_of_a_walk_is_shared() {
    let streams = Workload { n_streams: 4, ..once(BlockSize::Fixed(4096)) };
    let mut claims = claim_in_threads(workers(&streams, region(4096), 3)).concat();
    claims.sort_unstable_by_key(|extent| extent.offset);
    assert!(claims.iter().map(|it| it.offset).eq((0..1024).map(|k| k * 4096)));

    let hit_area = HitArea { len_bytes: 64 << 10, read_pct: 50.0, write_pct: 0.0 };
    let hits = Workload { hit_area: Some(hit_area), ..once(BlockSize::Fixed(4096)) };
    let claims = claim_in_threads(workers(&hits, region(4096), 3)).concat();
    let (hot, mut rest): (Vec<u64>, Vec<u64>) =
        claims.iter().map(|it| it.offset).partition(|at| *at < hit_area.len_bytes);
    rest.sort_unstable();
    assert!(rest.into_iter().eq((16..1024).map(|k| k * 4096)));
    // It goes round, all its blocks alike often.
    let of_block = |k: u64| hot.iter().filter(|at| **at == k * 4096).count();
    let counts: Vec<usize> = (0..16).map(of_block).collect();
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*least > 30 && most - least <= 1, "{counts:?}");
}

#[test]
fn what_can_be_divided_and_how() {
    use Division::{Apart, Together};
    /// The walk itself agrees: it asks for a cursor where the workers share one.
    #[track_caller]
    fn check(change: impl FnOnce(&mut Workload), expected: Option<Division>) {
        let mut workload = Workload { no_repeats: false, ..workload("read") };
        change(&mut workload);
        assert_eq!(Division::of(&workload), expected);
        let mut offsets = Offsets::new(&workload, region(1 << 20), 1, 0).unwrap();
        assert_eq!(offsets.share(&mut Cursor::new), expected == Some(Together));
    }
    let random = |it: &mut Workload| it.access.random = true;
    check(|_| {}, Some(Together));
    check(|it| it.access.write = true, None);
    check(|it| (it.access.write, it.one_cursor) = (true, true), Some(Together));
    check(|it| it.ends_with_region = true, Some(Together));
    check(|it| it.n_streams = 3, Some(Together));
    check(|it| it.sequential_step_bytes = 8192, Some(Together));
    check(random, Some(Apart));
    check(|it| (it.access.random, it.no_repeats) = (true, true), Some(Apart));
    check(|it| (it.access.random, it.access.write) = (true, true), Some(Apart));
    check(|it| (it.access.random, it.random_pct.read) = (true, 30.0), Some(Together));
    check(|it| (it.access.random, it.skip_bytes) = (true, Some((4096, 4096))), Some(Together));
    let once_and_on = |it: &mut Workload| {
        (it.access.random, it.no_repeats, it.random_pct.read) = (true, true, 30.0);
    };
    check(once_and_on, None);
    check(|it| (it.access.random, it.ios_per_draw) = (true, 8), None);
    let zones = Strided { zone_size_bytes: 8192, zone_range_bytes: 0, zone_skip_bytes: 8192 };
    check(|it| it.strided = Some(zones), None);
    check(|it| (it.access.trim, it.trim_pct) = (true, 10), None);
    check(|it| (it.access.trim, it.access.trim_then_write) = (true, true), None);
}
