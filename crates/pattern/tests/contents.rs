//! What write buffers hold: shares of compressible bytes and duplicates, patterns, refresh.

use std::collections::HashMap;

use pattern::{Contents, ContentsSpec, Refresh};
use plan::verify::{Buffers, DedupeMode, DedupeSets, FlipFlop, PatternPart, SetCount};

const SPEC: ContentsSpec = ContentsSpec {
    block_bytes: 4096,
    region_bytes: 1 << 30,
    worker_seed: 3,
    job_seed: 9,
    is_direct: false,
};

/// Returns what the first `n` writes hold.
fn writes(buffers: &Buffers, spec: ContentsSpec, n: u64, len: usize) -> Vec<Vec<u8>> {
    let contents = Contents::from_buffers(buffers, spec);
    let fill = |generation| {
        let mut buf = vec![0xEE; len];
        contents.fill(&mut buf, generation * len as u64, generation);
        buf
    };
    (0..n).map(fill).collect()
}

/// Returns the share of blocks whose contents another one before it has.
fn duplicates_share(blocks: &[Vec<u8>]) -> f64 {
    let n_unique = blocks.iter().collect::<std::collections::HashSet<_>>().len();
    1.0 - n_unique as f64 / blocks.len() as f64
}

#[track_caller]
fn check_refresh(buffers: &Buffers, expected: Refresh) {
    assert_eq!(Contents::from_buffers(buffers, SPEC).refresh(), expected);
}

#[test]
fn what_a_write_needs() {
    let base = Buffers::default();
    check_refresh(&base, Refresh::Scramble);
    check_refresh(&Buffers { scramble: false, ..base.clone() }, Refresh::Never);
    check_refresh(&Buffers { zero: true, ..base.clone() }, Refresh::Never);
    check_refresh(&Buffers { zero: true, refill: Some(true), ..base.clone() }, Refresh::Never);
    check_refresh(&Buffers { refill: Some(true), ..base.clone() }, Refresh::Fill);
    check_refresh(&Buffers { compress_pct: Some(100), ..base.clone() }, Refresh::Never);
    check_refresh(&Buffers { compress_pct: Some(50), ..base.clone() }, Refresh::Fill);
    check_refresh(&Buffers { dedupe_pct: 10, ..base.clone() }, Refresh::Fill);
    let explicit = Buffers { dedupe_pct: 10, refill: Some(false), ..base.clone() };
    check_refresh(&explicit, Refresh::Scramble);
    let bytes = vec![PatternPart::Bytes(b"ab".to_vec())];
    check_refresh(&Buffers { pattern: bytes, ..base.clone() }, Refresh::Never);
    let offset = vec![PatternPart::Offset];
    check_refresh(&Buffers { pattern: offset, ..base }, Refresh::Fill);
}

#[test]
fn random_bytes_are_even_and_never_the_same() {
    let blocks = writes(&Buffers::default(), SPEC, 64, 4096);
    assert!(duplicates_share(&blocks) < 0.001);
    let mut n_by_byte = [0_u32; 256];
    for &byte in blocks.iter().flatten() {
        n_by_byte[usize::from(byte)] += 1;
    }
    assert!(n_by_byte.iter().all(|n| (850..1200).contains(n)), "{n_by_byte:?}");
    // A word that comes up twice would be something to compress.
    let words: std::collections::HashSet<&[u8]> =
        blocks.iter().flat_map(|block| block.chunks(4)).collect();
    assert!(words.len() > 65_500, "{}", words.len());
}

#[test]
fn contents_depend_on_seed_offset_and_generation_alone() {
    let fill = |worker_seed, offset, generation| {
        let spec = ContentsSpec { worker_seed, ..SPEC };
        let mut buf = vec![0; 100];
        Contents::from_buffers(&Buffers::default(), spec).fill(&mut buf, offset, generation);
        buf
    };
    assert_eq!(fill(1, 2, 3), fill(1, 2, 3));
    assert_ne!(fill(1, 2, 3), fill(0, 2, 3));
    assert_ne!(fill(1, 2, 3), fill(1, 3, 3));
    assert_ne!(fill(1, 2, 3), fill(1, 2, 4));
}

#[test]
fn zeros() {
    let zero = Buffers { zero: true, ..Buffers::default() };
    let compressed = Buffers { compress_pct: Some(100), ..Buffers::default() };
    for buffers in [zero, compressed] {
        assert!(writes(&buffers, SPEC, 2, 1000).iter().flatten().all(|&byte| byte == 0));
    }
}

#[test]
fn patterns_repeat_from_the_start_of_the_buffer() {
    let parts = vec![PatternPart::Bytes(b"abc".to_vec()), PatternPart::Bytes(vec![0xDE, 0xAD])];
    let buffers = Buffers { pattern: parts, ..Buffers::default() };
    let block = &writes(&buffers, SPEC, 1, 10_001)[0];
    let expected: Vec<u8> = b"abc\xDE\xAD".iter().copied().cycle().take(10_001).collect();
    assert_eq!(*block, expected);

    let parts = vec![PatternPart::Offset, PatternPart::Bytes(b"xy".to_vec())];
    let buffers = Buffers { pattern: parts, ..Buffers::default() };
    let block = &writes(&buffers, SPEC, 3, 20)[2];
    let expected = [&40_u64.to_le_bytes()[..], b"xy"].concat();
    assert_eq!(*block, expected.repeat(2));
}

#[test]
fn share_and_place_of_compressible_bytes() {
    for (pct, chunk) in [(0, 512), (30, 512), (50, 4096), (80, 0)] {
        let buffers =
            Buffers { compress_pct: Some(pct), compress_chunk_bytes: chunk, ..Buffers::default() };
        let blocks = writes(&buffers, SPEC, 16, 8192);
        let n_zero = blocks.iter().flatten().filter(|&&byte| byte == 0).count();
        // Among random bytes, one in 256 is zero.
        let expected = f64::from(pct) / 100.0 + (1.0 - f64::from(pct) / 100.0) / 256.0;
        let got = n_zero as f64 / (16.0 * 8192.0);
        assert!((got - expected).abs() < 0.004, "{pct} %: {got}");
        let chunk_bytes = if chunk == 0 { 8192 } else { chunk as usize };
        let n_random = chunk_bytes * usize::from(100 - pct) / 100;
        for chunk in blocks[3].chunks(chunk_bytes) {
            assert!(chunk[n_random..].iter().all(|&byte| byte == 0));
        }
        assert!(duplicates_share(&blocks) < 0.001);
    }
}

#[test]
fn compressible_bytes_may_be_a_pattern() {
    let buffers = Buffers {
        compress_pct: Some(50),
        pattern: vec![PatternPart::Bytes(vec![7])],
        ..Buffers::default()
    };
    let block = &writes(&buffers, SPEC, 1, 1024)[0];
    assert!(block[256..512].iter().chain(&block[768..]).all(|&byte| byte == 7));
    assert!(block[..256].iter().any(|&byte| byte != 7));
}

#[test]
fn share_of_duplicates() {
    for pct in [10, 50, 90] {
        let buffers = Buffers { dedupe_pct: pct, ..Buffers::default() };
        // A write is one block, or holds four of them.
        for len in [64, 256] {
            let spec = ContentsSpec { block_bytes: 64, ..SPEC };
            let bytes = writes(&buffers, spec, 8000 * 64 / len as u64, len).concat();
            let blocks: Vec<Vec<u8>> = bytes.chunks(64).map(<[u8]>::to_vec).collect();
            let share = duplicates_share(&blocks);
            assert!((share - f64::from(pct) / 100.0).abs() < 0.02, "{pct} %: {share}");
        }
    }
    let all = Buffers { dedupe_pct: 100, ..Buffers::default() };
    let blocks = writes(&all, SPEC, 50, 64);
    assert!(blocks.iter().all(|block| *block == blocks[0]));
}

#[test]
fn duplicates_repeat_the_block_before() {
    let buffers = Buffers { dedupe_pct: 50, ..Buffers::default() };
    let blocks = writes(&buffers, SPEC, 1000, 64);
    let mut last_seen: HashMap<&Vec<u8>, usize> = HashMap::new();
    for (k, block) in blocks.iter().enumerate() {
        if let Some(before) = last_seen.insert(block, k) {
            assert_eq!(before, k - 1);
        }
    }
}

#[test]
fn working_sets() {
    let mode = |global| DedupeMode::WorkingSet { pct: 1, global };
    let spec = ContentsSpec { region_bytes: 4096 * 1000, ..SPEC };
    let set_of = |global, worker_seed| -> std::collections::HashSet<Vec<u8>> {
        let buffers = Buffers { dedupe_pct: 60, dedupe_mode: mode(global), ..Buffers::default() };
        let blocks = writes(&buffers, ContentsSpec { worker_seed, ..spec }, 5000, 64);
        let mut n_by_block: HashMap<Vec<u8>, u32> = HashMap::new();
        for block in blocks {
            *n_by_block.entry(block).or_default() += 1;
        }
        n_by_block.into_iter().filter(|&(_, n)| n > 1).map(|(block, _)| block).collect()
    };
    // 1 % of 1000 blocks.
    assert_eq!(set_of(false, 1).len(), 10);
    assert!(set_of(false, 1).is_disjoint(&set_of(false, 2)));
    assert_eq!(set_of(true, 1), set_of(true, 2));
}

#[test]
fn scrambling_changes_a_few_bytes_of_each_512() {
    let contents = Contents::from_buffers(&Buffers::default(), SPEC);
    for len in [1, 7, 512, 4096, 5000] {
        let clean = vec![0_u8; len];
        let (mut first, mut second) = (clean.clone(), clean.clone());
        contents.scramble(&mut first, 8192, 1);
        contents.scramble(&mut second, 8192, 2);
        for (chunk, other) in first.chunks(512).zip(second.chunks(512)) {
            let n_changed = chunk.iter().filter(|&&byte| byte != 0).count();
            assert!((1..=8).contains(&n_changed), "{n_changed} of {len}");
            assert_ne!(chunk, other);
        }
        let mut again = clean;
        contents.scramble(&mut again, 8192, 1);
        assert_eq!(again, first);
    }
}

const UNIT: usize = 4096;

fn sets(ratio: f64, count: SetCount) -> DedupeSets {
    let hot_sets = Vec::new();
    DedupeSets { ratio, unit_bytes: 4096, sets: count, flip_flop: FlipFlop::None, hot_sets }
}

fn contents_of(sets: &DedupeSets, n_blocks: usize) -> Contents {
    let buffers = Buffers { dedupe_sets: Some(sets.clone()), ..Buffers::default() };
    let region_bytes = (n_blocks * UNIT) as u64;
    Contents::from_buffers(&buffers, ContentsSpec { region_bytes, ..SPEC })
}

fn image(sets: &DedupeSets, n_blocks: usize, first_generation: u64) -> Vec<u64> {
    written(&contents_of(sets, n_blocks), n_blocks, first_generation)
}

/// Writes an image of so many blocks, 16 at a time in a mixed order, and returns its blocks.
fn written(contents: &Contents, n_blocks: usize, first_generation: u64) -> Vec<u64> {
    assert_eq!(contents.refresh(), Refresh::Fill);
    let n_writes = n_blocks / 16;
    let mut hashes = vec![0; n_blocks];
    let mut buf = vec![0; 16 * UNIT];
    for k in 0..n_writes {
        // 7919 is a prime and divides no number of writes used here.
        let write = k * 7919 % n_writes;
        contents.fill(&mut buf, (write * 16 * UNIT) as u64, first_generation + k as u64);
        for (hash, block) in hashes[write * 16..].iter_mut().zip(buf.chunks(UNIT)) {
            let mut hasher = std::hash::DefaultHasher::new();
            std::hash::Hasher::write(&mut hasher, block);
            *hash = std::hash::Hasher::finish(&hasher);
        }
    }
    hashes
}

fn n_different(blocks: &[u64]) -> usize {
    blocks.iter().collect::<std::collections::HashSet<_>>().len()
}

#[track_caller]
fn check_ratio(ratio: f64, count: SetCount, n_sets: usize) {
    let n_blocks = 16_000;
    let blocks = image(&sets(ratio, count), n_blocks, 0);
    let got = n_blocks as f64 / n_different(&blocks) as f64;
    assert!((got / ratio - 1.0).abs() < 0.03, "{got}:1, not {ratio}:1");
    let mut n_by_hash: HashMap<u64, u32> = HashMap::new();
    for hash in blocks {
        *n_by_hash.entry(hash).or_default() += 1;
    }
    let n_shared = n_by_hash.values().filter(|&&n| n > 1).count();
    assert!(n_shared.abs_diff(n_sets) * 50 <= n_sets, "{n_shared} sets, not {n_sets}");
}

#[test]
fn images_deduplicate_as_often_as_asked() {
    check_ratio(1.0, SetCount::Pct(5.0), 0);
    check_ratio(1.5, SetCount::Pct(5.0), 800);
    check_ratio(2.0, SetCount::Pct(5.0), 800);
    check_ratio(4.0, SetCount::Pct(5.0), 800);
    check_ratio(4.0, SetCount::Count(100), 100);
    check_ratio(10.0, SetCount::Pct(1.0), 160);
    check_ratio(20.0, SetCount::Pct(5.0), 800);
}

#[test]
fn writing_again_changes_what_is_unique_and_keeps_the_ratio() {
    let of = |flip_flop| {
        let sets = DedupeSets { flip_flop, ..sets(2.0, SetCount::Pct(5.0)) };
        let contents = contents_of(&sets, 16_000);
        [1, 2, 3].map(|pass| written(&contents, 16_000, pass * 1_000_000))
    };
    let n_same = |a: &[u64], b: &[u64]| a.iter().zip(b).filter(|(a, b)| a == b).count();
    let still = of(FlipFlop::None);
    // 55 % are duplicates, and stay what they were.
    let n_still = n_same(&still[0], &still[1]);
    assert!(n_still.abs_diff(8800) < 250, "{n_still}");
    assert_eq!(n_different(&still[0]), n_different(&still[1]));
    // Each set has two versions, and each write has the other one.
    let flipped = of(FlipFlop::All);
    assert_eq!(n_same(&flipped[0], &flipped[1]), 0);
    assert_eq!(n_same(&flipped[0], &flipped[2]), n_still);
    assert_eq!(n_different(&flipped[1]), n_different(&still[1]));
    // There is no hot set.
    let hot = of(FlipFlop::Hot);
    assert_eq!(n_same(&hot[0], &hot[1]), n_still);
}

#[test]
fn blocks_of_a_set_that_are_written_in_turn_are_of_two_versions() {
    let all = DedupeSets { flip_flop: FlipFlop::All, ..sets(2.0, SetCount::Pct(5.0)) };
    let contents = contents_of(&all, 16_000);
    let first = written(&contents, 16_000, 1);
    // The first half is written once more.
    let second = written(&contents, 8000, 9999);
    let on_disk: Vec<u64> = second.iter().chain(&first[8000..]).copied().collect();
    let n_sets = n_different(&on_disk) - n_different(&first);
    assert!(n_sets.abs_diff(800) < 50, "{n_sets} sets have another version");
}

#[test]
fn hot_sets_lie_at_the_start_with_their_blocks() {
    let sets = DedupeSets {
        hot_sets: vec![(2, 100), (1, 300)],
        flip_flop: FlipFlop::Hot,
        ..sets(2.0, SetCount::Pct(5.0))
    };
    let count = |blocks: &[u64]| {
        let mut n_by_hash: HashMap<u64, u32> = HashMap::new();
        for hash in &blocks[..500] {
            *n_by_hash.entry(*hash).or_default() += 1;
        }
        let mut sizes: Vec<u32> = n_by_hash.into_values().collect();
        sizes.sort_unstable();
        sizes
    };
    let plain = DedupeSets { flip_flop: FlipFlop::None, ..sets.clone() };
    assert_eq!(count(&image(&plain, 16_000, 0)), [100, 100, 300]);
    let contents = contents_of(&sets, 16_000);
    let twice = [7, 99_999].map(|generation| written(&contents, 16_000, generation));
    assert_eq!(twice.each_ref().map(|blocks| count(blocks)), [[100, 100, 300]; 2]);
    assert!((0..500).all(|block| twice[0][block] != twice[1][block]));
}

#[test]
fn workers_share_sets_and_nothing_else() {
    let buffers =
        Buffers { dedupe_sets: Some(sets(2.0, SetCount::Pct(5.0))), ..Buffers::default() };
    let of_worker = |worker_seed, generation| {
        let contents = Contents::from_buffers(&buffers, ContentsSpec { worker_seed, ..SPEC });
        let mut buf = vec![0; 1000 * UNIT];
        contents.fill(&mut buf, 0, generation);
        buf.chunks(UNIT).map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (one, other, again) = (of_worker(1, 0), of_worker(2, 0), of_worker(1, 9));
    let n_same = |a: &[Vec<u8>], b: &[Vec<u8>]| a.iter().zip(b).filter(|(a, b)| a == b).count();
    assert!(n_same(&one, &other).abs_diff(550) < 50);
    assert_eq!(n_same(&one, &other), n_same(&one, &again));
}

#[test]
fn pieces_of_blocks_are_equal_at_equal_places() {
    let all = sets(1e9, SetCount::Count(1));
    let buffers = Buffers { dedupe_sets: Some(all), ..Buffers::default() };
    let contents = Contents::from_buffers(&buffers, SPEC);
    let piece = |offset: u64| {
        let mut buf = vec![0; 1024];
        contents.fill(&mut buf, offset, 5);
        buf
    };
    assert_eq!(piece(1024), piece(4096 + 1024));
    assert_ne!(piece(1024), piece(2048));
}

/// Returns how many times a program compresses these bytes in blocks of `block_bytes`, as a file
/// system would; `None` if it cannot be started.
fn compressed_ratio(program: &str, args: &[&str], bytes: &[u8]) -> Option<f64> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(bytes));
        child.wait_with_output()
    });
    Some(bytes.len() as f64 / output.ok()?.stdout.len() as f64)
}

#[test]
fn data_compresses_as_often_as_asked() {
    let programs = [("gzip", ["-c", "-6"]), ("zstd", ["-c", "-3"]), ("lz4", ["-c", "-1"])];
    for ratio in [1.0, 1.3, 2.0, 4.0, 8.0, 16.0, 25.0] {
        let buffers = Buffers { compress_ratio: Some(ratio), ..Buffers::default() };
        let bytes = writes(&buffers, SPEC, 64, 65_536).concat();
        for (program, args) in &programs {
            let Some(got) = compressed_ratio(program, args, &bytes) else {
                testing::skipped!("{program} cannot be started");
                continue;
            };
            let tolerance = if ratio <= 4.0 { 0.03 } else { 0.15 };
            assert!((got / ratio - 1.0).abs() < tolerance, "{program}: {got}:1, not {ratio}:1");
        }
    }
}

/// Parts of `abc`, over and over up to 1,200 bytes: from any byte through the page cache, and from
/// multiples of 512 bytes past it, as diskspd 2.2 has them.
#[test]
fn writes_take_parts_of_a_source() {
    let buffers = Buffers {
        pattern: vec![PatternPart::Bytes(b"abc".to_vec())],
        pattern_source_bytes: 1200,
        ..Buffers::default()
    };
    check_refresh(&buffers, Refresh::Fill);
    let starts = |is_direct, len: usize| {
        let blocks = writes(&buffers, ContentsSpec { is_direct, ..SPEC }, 500, len);
        let mut counts = HashMap::new();
        for block in blocks {
            let next = |byte: u8| if byte == b'c' { b'a' } else { byte + 1 };
            assert!(block.windows(2).all(|pair| pair[1] == next(pair[0])), "{block:?}");
            *counts.entry(char::from(block[0])).or_insert(0) += 1;
        }
        counts
    };
    let cached = starts(false, 100);
    assert!(cached.len() == 3 && cached.values().all(|n| (130..=205).contains(n)), "{cached:?}");
    // 0, 512 and 1,024 of 1,101 places, of which the last has the fewest: a, c, b.
    let direct = starts(true, 100);
    assert!(direct.len() == 3 && (15..=60).contains(&direct[&'b']), "{direct:?}");
    // It fits once, or not at all.
    assert_eq!(starts(false, 1200), HashMap::from([('a', 500)]));
    assert_eq!(starts(true, 9000), HashMap::from([('a', 500)]));
}

/// A pattern longer than its source is cut off there.
#[test]
fn a_source_ends_where_it_is_said_to() {
    let bytes: Vec<u8> = (0..10_000_u32).map(|idx| (idx / 100) as u8).collect();
    let buffers = Buffers {
        pattern: vec![PatternPart::Bytes(bytes.clone())],
        pattern_source_bytes: 5000,
        ..Buffers::default()
    };
    let blocks = writes(&buffers, SPEC, 400, 1000);
    assert!(blocks.iter().all(|block| block.iter().all(|byte| *byte < 50)));
    assert!(blocks.iter().any(|block| block[999] == 49) && blocks.iter().any(|it| it[0] == 0));
    // Each is a piece of it.
    let is_piece = |block: &Vec<u8>| bytes.windows(1000).any(|piece| piece == &block[..]);
    assert!(blocks.iter().take(20).all(is_piece));
}
