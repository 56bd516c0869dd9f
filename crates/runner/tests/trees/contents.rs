//! What is written into the files of a tree.

use std::collections::HashSet;
use std::path::Path;

use plan::op::OpKind;
use plan::tree::{Activity, FileSizes, TreeSpec};
use plan::verify::{Buffers, DedupeSets, FlipFlop, PatternPart, SetCount};

use crate::bench::{Bench, FORMAT, fine, sequential};

/// Appends the bytes of all files below a folder.
fn read_all(folder: &Path, all: &mut Vec<u8>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_all(&path, all);
        } else if path.file_name().is_some_and(|name| name != "vdb_control.file") {
            all.extend(std::fs::read(&path).unwrap());
        }
    }
}

/// Formats a tree of 32 files of 400 KiB with such contents. Returns its bytes, also after all
/// files were written once more.
fn written(buffers: &Buffers) -> [Vec<u8>; 2] {
    let bench = Bench::new();
    let spec = TreeSpec { sizes: FileSizes::Fixed(400 << 10), ..bench.spec.clone() };
    let bench = Bench { spec, ..bench };
    let all = || {
        let mut bytes = Vec::new();
        read_all(&bench.anchor(), &mut bytes);
        bytes
    };
    let mut format = bench.job("format", 2, Activity::Format(FORMAT));
    format.buffers = buffers.clone();
    fine(&bench.run(vec![format]));
    let first = all();
    let mut task = sequential(OpKind::Write);
    task.select.once = true;
    let mut again = bench.task(task, 1 << 40);
    again.n_workers = 1;
    again.limits.n_ios_max = None;
    again.buffers = buffers.clone();
    fine(&bench.run(vec![again]));
    [first, all()]
}

fn n_different(bytes: &[u8]) -> usize {
    bytes.chunks(4096).collect::<HashSet<_>>().len()
}

#[test]
fn as_many_blocks_are_equal_as_the_ratio_says() {
    let sets = DedupeSets {
        ratio: 2.0,
        unit_bytes: 4096,
        sets: SetCount::Pct(5.0),
        flip_flop: FlipFlop::None,
        hot_sets: Vec::new(),
    };
    let buffers = Buffers { dedupe_sets: Some(sets.clone()), ..Buffers::default() };
    let [first, second] = written(&buffers);
    for bytes in [&first, &second] {
        let ratio = (bytes.len() / 4096) as f64 / n_different(bytes) as f64;
        assert!((ratio / 2.0 - 1.0).abs() < 0.06, "{ratio}");
    }
    let n_same =
        |a: &[u8], b: &[u8]| a.chunks(4096).zip(b.chunks(4096)).filter(|(a, b)| a == b).count();
    // 55 % are duplicates, which stay what they are.
    assert!(n_same(&first, &second).abs_diff(1760) < 120, "{}", n_same(&first, &second));
    let flips = DedupeSets { flip_flop: FlipFlop::All, ..sets };
    let flipped = written(&Buffers { dedupe_sets: Some(flips), ..Buffers::default() });
    let ratio = (flipped[1].len() / 4096) as f64 / n_different(&flipped[1]) as f64;
    assert!((ratio / 2.0 - 1.0).abs() < 0.06, "{ratio}");
}

#[test]
fn a_pattern_is_in_every_block_and_compressible_data_compress() {
    let pattern = vec![PatternPart::Bytes(b"plimsoll".to_vec())];
    let buffers = Buffers { pattern, refill: Some(true), ..Buffers::default() };
    for bytes in written(&buffers) {
        assert!(bytes.chunks(4096).all(|block| block == b"plimsoll".repeat(512)));
    }
    let [first, _] = written(&Buffers { compress_ratio: Some(4.0), ..Buffers::default() });
    let n_zero: usize = first.iter().map(|byte| usize::from(*byte == 0)).sum();
    let share = n_zero as f64 / first.len() as f64;
    assert!((0.74..0.78).contains(&share), "{share}");
    assert_eq!(n_different(&first), first.len() / 4096, "no two blocks are equal");
}
