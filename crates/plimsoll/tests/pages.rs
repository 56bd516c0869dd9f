//! Every command line of the pages for tasks and of README.md, as it stands there: in virtual time
//! or on a small file. What cannot be run says why, in the page, and is counted.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use testing::pages::{Block, PAGES, Place, blocks};

/// Runs the commands of a page, and returns those that did not end as they should, with how many
/// were run, and how many were not.
fn faults(page: &Path) -> (String, usize, usize) {
    let text = std::fs::read_to_string(page).expect("a page");
    let name = page.file_name().unwrap_or_default().to_string_lossy();
    let found = blocks(&text).unwrap_or_else(|mistake| panic!("{name}: {mistake}"));
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let place = Place::new(dir.path(), Path::new(env!("CARGO_BIN_EXE_plimsoll"))).expect("it is");
    let mut wrong = String::new();
    let (mut n_run, mut n_left) = (0, 0);
    for block in &found {
        let ran = place.go_through(block).expect("a folder of the test");
        n_run += ran.len();
        n_left += block.commands().len() - ran.len();
        for fault in ran.iter().filter_map(|ran| block.fault(ran)) {
            let _ = writeln!(wrong, "{name}:{}: {fault}", block.line);
        }
        for picture in shown_pages(block) {
            if !place.folder().join(picture).is_file() {
                let _ = writeln!(wrong, "{name}:{}: no `{picture}` was made", block.line);
            }
        }
    }
    (wrong, n_run, n_left)
}

/// Returns the pages that the book shows below a block.
fn shown_pages(block: &Block) -> impl Iterator<Item = &String> {
    block.pictures.iter().filter(|picture| *picture != "terminal")
}

#[test]
fn every_command_of_the_pages_ends_as_it_should() {
    let entries = std::fs::read_dir(PAGES).expect("the pages for tasks");
    let paths = entries.map(|entry| entry.expect("one of them").path());
    let mut pages: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    pages.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"));
    pages.sort();
    assert!(pages.len() >= 9, "{pages:?}");
    let (mut wrong, mut n_run, mut n_left) = (String::new(), 0, 0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = pages.iter().map(|page| scope.spawn(|| faults(page))).collect();
        for thread in threads {
            let (faults, run, left) = thread.join().expect("a page's thread");
            wrong.push_str(&faults);
            n_run += run;
            n_left += left;
        }
    });
    let line = format!("pages: {n_run} commands run, {n_left} not: each says why in its page\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_run > 60, "only {n_run} commands are run");
}
