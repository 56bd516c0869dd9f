//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use std::cell::RefCell;

use pattern::distribution::Spread;
use pattern::permutation::{DOMAIN_MAX, Permutation};
use pattern::tree::{InUse, Selector, Tree};
use pattern::verify::{VerifyState, WriteLog, WriteProgress, WriteRecord};
use pattern::{Chance, Contents, ContentsSpec, Cursor, FilePicker, Offsets, Region};
use plan::files::FileService;
use plan::op::FileIdx;
use plan::tree::{FileSizes, SelectOrder, TreeSpec};
use plan::verify::{Buffers, DedupeMode, DedupeSets, FlipFlop, SetCount};
use plan::workload::{Distribution, Workload};

fn tree(spec: &TreeSpec) -> Tree {
    Tree::new(spec).expect("a small tree")
}

fn offsets() -> Offsets {
    let region = Region { start_bytes: 0, len_bytes: 1 << 20 };
    Offsets::new(&Workload::default(), region, 1, 0).expect("room for blocks")
}

fn spread(distribution: &Distribution, n_blocks: u64, block_bytes: u64) {
    _ = Spread::new(distribution, n_blocks, block_bytes, 1, 0).is_ok();
}

#[test]
fn a_wrong_order_panics() {
    let picker = || FilePicker::new(FileService::RoundRobin, 1, 3, 1).expect("three files");
    let zipf = |centre| Distribution::Zipf { theta: 1.1, centre: Some(centre) };
    let normal = |centre| Distribution::Normal { deviation_pct: 10.0, centre: Some(centre) };
    let uniform = Distribution::Uniform;
    testing::check_wrong_calls(&[
        ("a chance below 0", "a chance of -1 %", &|| _ = Chance::from_pct(-1.0)),
        ("a chance above all", "a chance of 100.5 %", &|| _ = Chance::from_pct(100.5)),
        ("a chance that is no number", "a chance of NaN %", &|| _ = Chance::from_pct(f64::NAN)),
        ("no block", "a spread over 0 blocks", &|| spread(&uniform, 0, 4096)),
        ("blocks of nothing", "a spread over blocks of 0 B", &|| spread(&uniform, 9, 0)),
        ("hot spots behind the end", "a centre at 1.5 of", &|| spread(&zipf(1.5), 9, 1)),
        ("a mean before the start", "a centre at -0.5 of", &|| spread(&normal(-0.5), 9, 1)),
        ("an order of nothing", "an order of 0 blocks", &|| _ = Permutation::new(0, 1)),
        ("an order of too many", "an order of 9223372036854775809 blocks", &|| {
            _ = Permutation::new(DOMAIN_MAX + 1, 1);
        }),
        ("no I/O in a row", "0 I/Os in a row for a file", &|| {
            _ = FilePicker::new(FileService::RoundRobin, 0, 3, 1).is_ok();
        }),
        ("a file of others", "file 3 of 3 is done", &|| picker().finish(3)),
        ("a walk that went on alone", "a walk is shared in pass 1", &|| {
            let mut offsets = offsets();
            offsets.next_pass();
            offsets.share(&mut Cursor::new);
        }),
    ]);
}

#[test]
fn a_wrong_tree_panics() {
    let spec = TreeSpec { depth: 2, width: 2, files: 3, ..TreeSpec::default() };
    let sizes = |parts: &[(u64, f64)]| {
        tree(&TreeSpec { sizes: FileSizes::Split(parts.to_vec()), ..spec.clone() });
    };
    let in_use = |share| {
        _ = InUse::new(&tree(&spec), &TreeSpec { share, ..spec.clone() }).is_ok();
    };
    let select = |order| _ = Selector::new(order, false, 9, 1, 2);
    testing::check_wrong_calls(&[
        ("a level below the lowest", "level 2 of 2", &|| _ = tree(&spec).level(2)),
        ("a folder behind the last", "folder 6 of 6", &|| _ = tree(&spec).files_in(6)),
        ("above one behind the last", "the folder above 6 of 6", &|| _ = tree(&spec).parent(6)),
        ("a host too many", "host 2 of 2 that share a tree", &|| in_use((2, 2))),
        ("no host", "host 0 of 0 that share a tree", &|| in_use((0, 0))),
        ("files of no size", "files of 0 sizes", &|| sizes(&[])),
        ("a share below 0", "-1 % of the files hold 4096 B", &|| sizes(&[(4096, -1.0)])),
        ("no midpoint", "a midpoint of NaN", &|| select(SelectOrder::Poisson(f64::NAN))),
        ("a midpoint too far", "a midpoint of inf", &|| select(SelectOrder::Skewed(f64::INFINITY))),
    ]);
    in_use((1, 2));
}

#[test]
fn wrong_contents_panic() {
    let spec = ContentsSpec {
        block_bytes: 4096,
        region_bytes: 1 << 20,
        worker_seed: 1,
        job_seed: 2,
        is_direct: false,
    };
    let usual = Buffers::default();
    let contents = |buffers: Buffers| _ = Contents::from_buffers(&buffers, spec);
    let ratio = |compress_ratio| {
        contents(Buffers { compress_ratio: Some(compress_ratio), ..usual.clone() });
    };
    let working_set = |dedupe_pct, pct| {
        let dedupe_mode = DedupeMode::WorkingSet { pct, global: false };
        contents(Buffers { dedupe_pct, dedupe_mode, ..usual.clone() });
    };
    let sets = DedupeSets {
        ratio: 2.0,
        unit_bytes: 4096,
        sets: SetCount::Pct(5.0),
        flip_flop: FlipFlop::None,
        hot_sets: Vec::new(),
    };
    let sets_of =
        |dedupe_sets| contents(Buffers { dedupe_sets: Some(dedupe_sets), ..usual.clone() });
    testing::check_wrong_calls(&[
        ("more than all compresses", "101 % of the bytes compress away", &|| {
            contents(Buffers { compress_pct: Some(101), ..usual.clone() });
        }),
        ("data that grow", "data that compress to 1/0.5", &|| ratio(0.5)),
        ("a ratio that is no number", "data that compress to 1/NaN", &|| ratio(f64::NAN)),
        ("more duplicates than blocks", "101 % of the blocks are", &|| working_set(101, 5)),
        ("a set larger than all", "101 % of the target are", &|| working_set(50, 101)),
        ("duplicates of nothing", "duplicates of blocks of 0 B", &|| {
            let buffers = Buffers { dedupe_pct: 50, ..usual.clone() };
            _ = Contents::from_buffers(&buffers, ContentsSpec { block_bytes: 0, ..spec });
        }),
        ("units of nothing", "blocks that repeat have 0 B", &|| {
            sets_of(DedupeSets { unit_bytes: 0, ..sets.clone() });
        }),
        ("fewer blocks than unlike ones", "0.5 blocks for each different one", &|| {
            sets_of(DedupeSets { ratio: 0.5, ..sets.clone() });
        }),
        ("more sets than blocks", "101 % of the blocks are sets", &|| {
            sets_of(DedupeSets { sets: SetCount::Pct(101.0), ..sets.clone() });
        }),
        ("hot blocks of no set", "0 sets of 100 blocks each", &|| {
            sets_of(DedupeSets { hot_sets: vec![(0, 100)], ..sets.clone() });
        }),
    ]);
    working_set(50, 100);
    sets_of(sets.clone());
}

#[test]
fn wrong_notes_of_writes_panic() {
    let log = RefCell::new(WriteLog::new(false));
    let write = |number_io| {
        let file = FileIdx(0);
        WriteRecord { offset: number_io * 4096, number_io, len: 4096, file, trimmed: false }
    };
    log.borrow_mut().record(write(5));
    let state = |n_issued, n_covered, unfinished: &[u64]| {
        let unfinished = unfinished.to_vec();
        let (job_name, worker_idx, seed) = ("v".to_owned(), 0, 1);
        _ = VerifyState { job_name, worker_idx, seed, n_issued, n_covered, unfinished }.encode();
    };
    testing::check_wrong_calls(&[
        ("a write before an earlier one", "in the order of their numbers", &|| {
            log.borrow_mut().record(write(4));
        }),
        ("no room in the queue", "0 writes in flight at most", &|| _ = WriteProgress::new(0)),
        ("more covered than issued", "6 writes are covered, and 5 were issued", &|| {
            state(5, 6, &[]);
        }),
        ("numbers out of order", "unfinished writes are not in order: [2, 1]", &|| {
            state(5, 5, &[2, 1]);
        }),
        ("a number twice", "unfinished writes are not in order: [1, 1]", &|| state(5, 5, &[1, 1])),
        ("one that is not covered", "write Some(4) is unfinished, and 4 are", &|| {
            state(5, 4, &[4]);
        }),
    ]);
    state(5, 4, &[0, 3]);
}
