//! Blocks at multiples of their own lengths: the same draws whichever walk makes them, so that a
//! stored seed gives the same run in every version.

mod common;

use common::{KIB, region, workload};
use pattern::rng::{Stream, derive};
use pattern::{Offsets, Region, Rng, Sizes};
use plan::workload::{BlockSize, Workload};
use plan::{Direction, PerDir};

/// Asserts that a length is drawn first, and then one of its places, in the reads and writes of a
/// mix that takes turns.
#[track_caller]
fn check(size: &BlockSize, region: Region) {
    let workload = Workload {
        block_size: PerDir::all(size.clone()),
        aligned_to_length: true,
        no_repeats: false,
        ..workload("randrw")
    };
    let mut offsets = Offsets::new(&workload, region, 7, 3).unwrap();
    let seed = derive(7, Stream::Target, 3);
    let mut rng = Rng::for_stream(seed, Stream::Offset, 0);
    let mut sizes = [Direction::Read, Direction::Write]
        .map(|dir| (dir, Sizes::new(size, false, seed, dir as u64).unwrap()));
    for op_idx in 0..5_000 {
        let (dir, sizes) = &mut sizes[op_idx % 2];
        let len = sizes.next(region.len_bytes);
        let n_places = region.len_bytes / u64::from(len);
        let offset = region.start_bytes + rng.bounded(n_places) * u64::from(len);
        let extent = offsets.next(*dir).unwrap();
        assert_eq!((extent.offset, extent.len), (offset, len), "{size:?}, I/O {op_idx}");
        if op_idx == 2_500 {
            offsets.next_pass();
        }
    }
}

#[test]
fn a_length_is_drawn_and_then_its_place() {
    let split = BlockSize::Split(vec![(4096, 60), (8192, 30), (65_536, 10)]);
    let regions = [region(64), region(1000), Region { start_bytes: 12_345, len_bytes: 1 << 40 }];
    for region in regions {
        check(&split, region);
        check(&BlockSize::Weighted(vec![(4096, 605), (12_288, 395)]), region);
        check(&BlockSize::Stepped { min: 512, max: 20_000, step: 1_024 }, region);
        check(&BlockSize::Stepped { min: 512, max: 40_000, step: 1 }, region);
        check(&BlockSize::Range { min: 4096, max: 16_384 }, region);
    }
    // Smaller than the largest length: those that fit keep their shares.
    check(&split, region(40));
    check(&BlockSize::Split(vec![(4096, 100)]), region(40));
    assert_eq!(region(40).len_bytes, 40 * KIB);
}
