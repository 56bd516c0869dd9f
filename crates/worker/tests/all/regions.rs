//! Ranges of files that parts of a job work on: nothing of them is lost, and nothing lies outside.

use std::sync::Arc;

use plan::PerDir;
use plan::job::{Part, PartRegion};
use plan::op::OpKind;
use plan::workload::BlockSize;
use proptest::prelude::*;
use worker::{FileRegion, Meters, NoData, Worker, WorkerSpec};

use crate::common::{Sim, job};

/// Sizes of blocks, and how many bytes of a block lie behind the last whole one.
fn block() -> impl Strategy<Value = u32> {
    prop_oneof![Just(512_u32), Just(4096), Just(8192), Just(65_536), Just(1000)]
}

fn file(n_blocks: u64, rest: u64, block_bytes: u32) -> FileRegion {
    let block_bytes = u64::from(block_bytes);
    FileRegion { offset_bytes: 3 * block_bytes, len_bytes: n_blocks * block_bytes + rest }
}

/// Returns the exact byte of a percentage.
fn exact(file: FileRegion, pct: f64) -> f64 {
    file.offset_bytes as f64 + file.len_bytes as f64 * pct / 100.0
}

/// Issues random operations on a range and returns them as first byte and length.
fn issued(file: FileRegion, region: PartRegion, sizes: BlockSize, n_ios: u64) -> Vec<(u64, u64)> {
    let mut workload = job(OpKind::Read, true, 1).workload;
    workload.block_size = PerDir::all(sizes);
    workload.no_repeats = false;
    let mut job = job(OpKind::Read, true, 4);
    job.parts = vec![Part { workload, region, ..Part::default() }];
    job.limits.n_ios_max = Some(n_ios);
    let meters = Meters::of(&job);
    let spec = WorkerSpec {
        job: Arc::new(job),
        worker_idx: 0,
        seed: 7,
        files: vec![file],
        amount_bytes: u64::MAX,
        batch_max: 32,
    };
    let mut worker = Worker::new(&spec, meters).expect("the part fits");
    let mut sim = Sim::new(1000);
    sim.run(&mut worker, &mut NoData);
    sim.seen.iter().map(|seen| (seen.op.offset, u64::from(seen.op.len))).collect()
}

proptest! {
    #[test]
    fn an_end_is_less_than_a_block_before_what_was_asked_for(
        n_blocks in 1..100_000_u64,
        rest in 0..512_u64,
        block_bytes in block(),
        from in 0.0..100.0_f64,
        len in 0.0..100.0_f64,
    ) {
        let to = (from + len).min(100.0);
        let file = file(n_blocks, rest, block_bytes);
        let part = file.of_part(PartRegion::Pct(from, to), block_bytes);
        let (first, end) = (part.offset_bytes, part.offset_bytes + part.len_bytes);
        // To a millionth of a percent, which is what is kept of a percentage.
        let slack = 1.0 + file.len_bytes as f64 * 1e-8;
        for (byte, pct) in [(first, from), (end, to)] {
            let late = exact(file, pct) - byte as f64;
            prop_assert!((-slack..f64::from(block_bytes) + slack).contains(&late), "{late}");
        }
        prop_assert!(first >= file.offset_bytes && end <= file.offset_bytes + file.len_bytes);
        prop_assert_eq!((first - file.offset_bytes) % u64::from(block_bytes), 0);
        prop_assert_eq!(part.len_bytes % u64::from(block_bytes), 0);
    }

    #[test]
    fn parts_that_adjoin_share_no_block_and_leave_none_out(
        n_blocks in 1..100_000_u64,
        rest in 0..512_u64,
        block_bytes in block(),
        mut cuts in prop::collection::vec(0.0..100.0_f64, 0..6),
        in_bytes in any::<bool>(),
    ) {
        let file = file(n_blocks, rest, block_bytes);
        cuts.extend([0.0, 100.0]);
        cuts.sort_by(f64::total_cmp);
        let mut next = file.offset_bytes;
        for pair in cuts.windows(2) {
            let byte = |pct: f64| (file.len_bytes as f64 * pct / 100.0) as u64;
            let region = if in_bytes {
                PartRegion::Bytes(byte(pair[0]), byte(pair[1]))
            } else {
                PartRegion::Pct(pair[0], pair[1])
            };
            let part = file.of_part(region, block_bytes);
            prop_assert_eq!(part.offset_bytes, next);
            next += part.len_bytes;
        }
        let whole = file.in_whole_blocks(block_bytes);
        prop_assert_eq!(next, whole.offset_bytes + whole.len_bytes);
    }

    #[test]
    fn every_operation_lies_within_its_range_and_reaches_all_of_it(
        n_blocks in 4..40_u64,
        rest in 0..512_u64,
        from in 0.0..150.0_f64,
        len in 20.0..100.0_f64,
        mixes in any::<bool>(),
    ) {
        let block_bytes = 4096_u32;
        let to = (from + len).min(200.0);
        let file = file(n_blocks, rest, block_bytes);
        let region = PartRegion::Pct(from, to);
        let part = file.of_part(region, block_bytes);
        prop_assume!(part.len_bytes >= 4 * u64::from(block_bytes));
        let sizes = if mixes {
            BlockSize::Split(vec![(block_bytes, 90), (2 * block_bytes, 10)])
        } else {
            BlockSize::Fixed(block_bytes)
        };
        // Every block of the range: those behind the end of the file lie at its start.
        let whole = file.in_whole_blocks(block_bytes);
        let block_bytes = u64::from(block_bytes);
        let n_of_file = whole.len_bytes / block_bytes;
        let first = (part.offset_bytes - file.offset_bytes) / block_bytes;
        let n_of_part = part.len_bytes / block_bytes;
        let mut in_range: Vec<u64> = (first..first + n_of_part).map(|it| it % n_of_file).collect();
        in_range.sort_unstable();
        in_range.dedup();
        let mut reached = Vec::new();
        for (offset, len) in issued(file, region, sizes, 60 * n_blocks) {
            prop_assert!(offset >= whole.offset_bytes);
            prop_assert!(offset + len <= whole.offset_bytes + whole.len_bytes);
            prop_assert_eq!((offset - whole.offset_bytes) % block_bytes, 0);
            let at = (offset - whole.offset_bytes) / block_bytes;
            reached.extend(at..at + len / block_bytes);
        }
        reached.sort_unstable();
        reached.dedup();
        if mixes && to > 100.0 {
            // One across the end of the file is moved before it, which may be before the range.
            prop_assert!(in_range.iter().all(|block| reached.contains(block)));
        } else {
            prop_assert_eq!(reached, in_range);
        }
    }
}
