//! Trees: numbers, names, sizes, and which files are worked on.

use std::collections::{BTreeMap, BTreeSet};

use pattern::tree::{InUse, Selector, Tree};
use plan::tree::{FileSizes, Locality, SelectOrder, TreeSpec};
use proptest::prelude::*;

fn spec(depth: u32, width: u32, files: u64, bottom_only: bool) -> TreeSpec {
    TreeSpec { name: "fsd1".into(), depth, width, files, bottom_only, ..TreeSpec::default() }
}

fn folder_path(tree: &Tree, folder: u32) -> String {
    let mut path = Vec::new();
    tree.push_folder_path(folder, &mut path);
    String::from_utf8(path).unwrap()
}

fn file_path(tree: &Tree, file: u32) -> String {
    let mut path = Vec::new();
    tree.push_file_path(file, &mut path);
    String::from_utf8(path).unwrap()
}

/// As Vdbench 5.04.07 counted for the same definition: "dirs: 6; files: 32".
#[test]
fn a_tree_has_the_folders_and_files_of_vdbench() {
    let tree = Tree::new(&spec(2, 2, 8, true)).unwrap();
    assert_eq!((tree.n_folders(), tree.n_files()), (6, 32));
    let folders: Vec<String> = (0..6).map(|folder| folder_path(&tree, folder)).collect();
    let expected = [
        "vdb.1_1.dir",
        "vdb.1_2.dir",
        "vdb.1_1.dir/vdb.2_1.dir",
        "vdb.1_2.dir/vdb.2_1.dir",
        "vdb.1_1.dir/vdb.2_2.dir",
        "vdb.1_2.dir/vdb.2_2.dir",
    ];
    assert_eq!(folders, expected);
    assert_eq!(file_path(&tree, 0), "vdb.1_1.dir/vdb.2_1.dir/vdb_f0000.file");
    assert_eq!(file_path(&tree, 31), "vdb.1_2.dir/vdb.2_2.dir/vdb_f0031.file");
}

/// Checks the digits of folders, each of one file, against a tree that Vdbench 5.04.07 made.
#[track_caller]
fn check_folders(spec: &TreeSpec, expected: &[&str]) {
    let tree = Tree::new(spec).unwrap();
    let seen: Vec<String> = (0..tree.n_files() as usize / spec.files as usize)
        .map(|nth| {
            let file = nth as u32 * spec.files as u32;
            let path = file_path(&tree, file);
            assert!(path.ends_with(&format!("vdb_f{file:04}.file")), "{path}");
            let folders = path.split('/').filter_map(|name| name.strip_suffix(".dir"));
            let last = |name: &str| name.rsplit('_').next().unwrap().to_owned();
            folders.map(last).collect::<String>()
        })
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn files_have_the_folders_that_they_have_in_vdbench() {
    check_folders(&spec(2, 3, 2, true), &["11", "21", "31", "12", "22", "32", "13", "23", "33"]);
    check_folders(&spec(2, 2, 2, false), &["1", "2", "11", "21", "12", "22"]);
    check_folders(&spec(3, 2, 1, true), &["111", "121", "211", "221", "112", "122", "212", "222"]);
}

/// Sizes of files that Vdbench 5.04.07 made, in KiB.
#[track_caller]
fn check_sizes(sizes: FileSizes, expected_kib: &[u64]) {
    let n_files = expected_kib.len() as u64;
    let tree = Tree::new(&TreeSpec { sizes, ..spec(1, 1, n_files, true) }).unwrap();
    let seen: Vec<u64> = (0..n_files as u32).map(|file| tree.size_bytes(file) / 1024).collect();
    assert_eq!(seen, expected_kib);
    let total_kib: u64 = expected_kib.iter().sum();
    assert_eq!(tree.total_bytes(), total_kib * 1024);
}

#[test]
fn sizes_are_those_of_vdbench() {
    let split = FileSizes::Split(vec![(1024, 40.0), (2048, 25.0), (4096, 35.0)]);
    check_sizes(split, &[2, 2, 1, 2, 1, 2, 4, 2]);
    check_sizes(FileSizes::Average(200 << 10), &AVERAGE_200K);
    check_sizes(
        FileSizes::Average(3 << 20),
        &[1600, 3400, 2200, 4400, 2000, 4500, 3900, 4200, 4400, 3200, 3000],
    );
}

/// Longer than the distance between two kept states of the generator.
const AVERAGE_200K: [u64; 80] = [
    250, 160, 140, 300, 260, 230, 250, 280, 240, 300, 110, 210, 100, 130, 260, 220, 280, 110, 240,
    150, 120, 170, 220, 200, 150, 160, 230, 210, 300, 250, 180, 290, 230, 230, 130, 290, 200, 200,
    140, 180, 200, 230, 100, 150, 280, 290, 230, 150, 300, 160, 180, 180, 270, 160, 140, 110, 190,
    210, 290, 150, 120, 260, 190, 250, 230, 290, 250, 120, 190, 240, 110, 180, 240, 290, 190, 250,
    150, 130, 100, 220,
];

/// The 15 files of 4 KiB that Vdbench 5.04.07 took of 40 for `totalsize=60k`.
#[test]
fn a_total_is_held_by_the_files_that_vdbench_takes() {
    let sizes = FileSizes::Fixed(4096);
    let spec = TreeSpec { sizes, total_bytes: 60 << 10, ..spec(2, 2, 10, true) };
    let tree = Tree::new(&spec).unwrap();
    let in_use = InUse::new(&tree, &spec).unwrap();
    let files: Vec<u32> = (0..in_use.len()).map(|position| in_use.file(position)).collect();
    assert_eq!(files, [0, 5, 9, 10, 13, 15, 21, 22, 23, 25, 29, 35, 37, 38, 39]);
}

#[test]
fn masks_say_how_names_look() {
    let masked = TreeSpec {
        file_mask: "vdb-%6d-%.file".into(),
        folder_mask: "vdb_%02d_%d.dir".into(),
        ..spec(1, 1, 1, true)
    };
    assert!(Tree::new(&masked).unwrap_err().to_string().contains("must hold 1 of `%d`"));
    let masked = TreeSpec { file_mask: "vdb-%06d.file".into(), ..masked };
    let tree = Tree::new(&masked).unwrap();
    assert_eq!(file_path(&tree, 0), "vdb_01_1.dir/vdb-000000.file");
}

#[track_caller]
fn check_mask(file_mask: &str, expected: &str) {
    let masked = TreeSpec { file_mask: file_mask.into(), ..spec(1, 1, 1, true) };
    assert_eq!(Tree::new(&masked).unwrap_err().to_string(), format!("tree `fsd1`: {expected}"));
}

#[test]
fn masks_that_make_no_names_are_mistakes() {
    let numbers = |mask| format!("the name mask `{mask}` must hold 1 of `%d` or `%04d`");
    check_mask("vdb.file", &numbers("vdb.file"));
    check_mask("vdb%d%d.file", &numbers("vdb%d%d.file"));
    check_mask("vdb%s.file", &numbers("vdb%s.file"));
    check_mask("vdb%99999d.file", &numbers("vdb%99999d.file"));
    check_mask("x%d.file", "the name mask `x%d.file` must start with `vdb` and end in `.file`");
    check_mask("vdb/../%d.file", "the name mask `vdb/../%d.file` may not hold `/` or NUL");
}

#[test]
fn what_cannot_be_numbered_is_refused() {
    let huge = Tree::new(&spec(40, 40, 1, true)).unwrap_err().to_string();
    assert!(huge.starts_with("tree `fsd1` would have more than 2147483647"), "{huge}");
    assert!(Tree::new(&spec(1, 1, u64::MAX, true)).is_err());
    assert!(Tree::new(&spec(1, 1, 2_147_483_647, true)).is_ok());
}

#[test]
fn sizes_keep_their_shares() {
    let sizes = FileSizes::Split(vec![(32_768, 50.0), (65_536, 30.0), (0, 20.0)]);
    let tree = Tree::new(&TreeSpec { sizes, ..spec(1, 1, 100_000, true) }).unwrap();
    let mut counts = BTreeMap::new();
    for file in 0..tree.n_files() {
        *counts.entry(tree.size_bytes(file)).or_insert(0_u32) += 1;
    }
    let pct: Vec<f64> = counts.values().map(|n| f64::from(*n) / 1000.0).collect();
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [0, 32_768, 65_536]);
    for (seen, asked) in pct.iter().zip([20.0, 50.0, 30.0]) {
        assert!((seen - asked).abs() < 0.5, "{pct:?}");
    }
}

#[test]
fn average_sizes_are_rounded_and_have_their_mean() {
    let sizes = FileSizes::Average(3 << 20);
    let tree = Tree::new(&TreeSpec { sizes, ..spec(1, 1, 100_000, true) }).unwrap();
    let mean = tree.total_bytes() as f64 / 100_000.0;
    assert!((mean / f64::from(3 << 20) - 1.0).abs() < 0.01, "{mean}");
    let all = (0..tree.n_files()).map(|file| tree.size_bytes(file));
    let (least, most) = ((3 << 19) - (50 << 10), (9 << 19) + (50 << 10));
    assert!(all.clone().min() >= Some(least) && all.max() <= Some(most), "half as much, rounded");
    for file in 0..1000 {
        let bytes = tree.size_bytes(file);
        let unit = if bytes > 1 << 20 { 102_400 } else { 1024 };
        assert!(bytes > 0 && bytes.is_multiple_of(unit), "{bytes}");
    }
}

#[test]
fn a_total_takes_a_part_of_the_files_and_a_working_set_a_part_of_those() {
    let sizes = FileSizes::Fixed(1000);
    let limited = TreeSpec { sizes, total_bytes: 49_001, ..spec(1, 1, 100, true) };
    let tree = Tree::new(&limited).unwrap();
    let in_use = InUse::new(&tree, &limited).unwrap();
    let of_total: BTreeSet<u32> = (0..in_use.len()).map(|idx| in_use.file(idx)).collect();
    assert_eq!((in_use.len(), of_total.len()), (50, 50));
    assert!(of_total.iter().all(|file| *file < 100) && of_total.iter().any(|file| *file >= 50));
    let part = TreeSpec { working_set_bytes: 10_000, ..limited.clone() };
    let in_use = InUse::new(&tree, &part).unwrap();
    let files: BTreeSet<u32> = (0..in_use.len()).map(|idx| in_use.file(idx)).collect();
    assert_eq!((in_use.len(), files.len()), (10, 10));
    assert!(files.is_subset(&of_total));
    let shared = TreeSpec { share: (1, 3), total_bytes: 0, ..limited.clone() };
    let in_use = InUse::new(&tree, &shared).unwrap();
    assert_eq!((in_use.len(), in_use.file(0), in_use.file(32)), (33, 1, 97));
    let too_much = TreeSpec { total_bytes: 100_001, ..limited };
    let message = InUse::new(&tree, &too_much).unwrap_err().to_string();
    assert!(message.contains("totalsize=100001 is greater than the 100000 B"), "{message}");
}

#[test]
fn poisson_and_skewed_draw_what_they_say() {
    let mut poisson = Selector::new(SelectOrder::Poisson(3.0), false, 1200, 1, 2);
    let mut skewed = Selector::new(SelectOrder::Skewed(10.0), false, 1000, 1, 2);
    let (mut around, mut front) = (0, 0);
    for _ in 0..100_000 {
        // Slices of a hundred: a Poisson draw with mean 3 is 1 to 5 in 86.6 % of all cases.
        around += u32::from((100..600).contains(&poisson.draw()));
        front += u32::from(skewed.draw() < 100);
    }
    assert!((f64::from(around) / 1000.0 - 86.6).abs() < 1.0, "{around}");
    assert!((f64::from(front) / 1000.0 - 50.0).abs() < 1.0, "{front}");
}

/// 90 % of the draws are among the first 10 %, whatever of those is of no use; all are drawn.
#[test]
fn a_share_of_draws_goes_to_a_share_of_positions() {
    let hot = SelectOrder::Hot(Locality { ops_pct: 90.0, of_pct: 10.0 });
    let mut selector = Selector::new(hot, false, 1000, 1, 2);
    let mut counts = vec![0_u32; 1000];
    for _ in 0..100_000 {
        let mut position = selector.draw();
        // Of the first hundred, ten fit.
        while position < 100 && !position.is_multiple_of(10) {
            position = selector.draw_again();
            assert!(position < 100, "{position}");
        }
        counts[position as usize] += 1;
    }
    let front: u32 = counts[..100].iter().sum();
    assert!((89_500..90_500).contains(&front), "{front}");
    let of_hot = counts[..100].iter().filter(|n| **n > 0);
    assert!(of_hot.clone().count() == 10 && of_hot.clone().all(|n| (8_500..9_500).contains(n)));
    assert!(counts[100..].iter().all(|n| *n > 0), "the others are as likely as each other");
    // One is hot at least, and all of them where that is said.
    let of = |of_pct, n| {
        let order = SelectOrder::Hot(Locality { ops_pct: 50.0, of_pct });
        let mut selector = Selector::new(order, false, n, 1, 2);
        (0..1000).filter(|_| selector.draw() == 0).count()
    };
    assert!((450..=550).contains(&of(0.01, 1000)), "{}", of(0.01, 1000));
    assert!((200..=300).contains(&of(100.0, 4)), "{}", of(100.0, 4));
    assert_eq!(of(10.0, 1), 1000);
}

#[test]
fn once_takes_every_position_once() {
    for order in [SelectOrder::Random, SelectOrder::Seq, SelectOrder::SeqNz] {
        let selector = Selector::new(order, true, 77, 9, 1);
        assert!(selector.takes_turns());
        let seen: BTreeSet<u32> = (0..77).map(|turn| selector.at_turn(turn)).collect();
        assert_eq!(seen.len(), 77, "{order:?}");
    }
}

proptest! {
    /// The folder above, the folder of a file and the files of a folder agree with the paths.
    #[test]
    fn numbers_and_paths_agree(depth in 1_u32..5, width in 1_u32..5, files in 0_u64..5, all: bool) {
        let spec = spec(depth, width, files, !all);
        let tree = Tree::new(&spec).unwrap();
        prop_assert_eq!(Some(u64::from(tree.n_folders())), spec.n_folders());
        let mut paths = BTreeSet::new();
        let mut n_files = 0;
        for folder in 0..tree.n_folders() {
            let path = folder_path(&tree, folder);
            let mut name = Vec::new();
            tree.push_folder_name(folder, &mut name);
            let name = String::from_utf8(name).unwrap();
            let above = tree.parent(folder).map(|above| folder_path(&tree, above) + "/");
            prop_assert!(tree.level(tree.level_of(folder)).contains(&folder));
            prop_assert_eq!(&path, &(above.unwrap_or_default() + &name));
            prop_assert!(paths.insert(path.clone()));
            for file in tree.files_in(folder) {
                prop_assert_eq!(tree.folder_of(file), folder);
                prop_assert!(file_path(&tree, file).starts_with(&(path.clone() + "/vdb_f")));
                prop_assert_eq!(file, n_files);
                n_files += 1;
            }
        }
        prop_assert_eq!(tree.n_files(), n_files);
    }
}
