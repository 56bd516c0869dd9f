//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use std::cell::RefCell;

use record::{Interval, Record};

use crate::runs::State;
use crate::series::Tail;
use crate::{Begin, Live, Source, Store};

/// A store in a folder of its own, which lasts as long as this.
struct TempStore {
    folder: tempfile::TempDir,
}

impl TempStore {
    fn new() -> Self {
        TempStore { folder: tempfile::tempdir().expect("a folder") }
    }

    fn store(&self) -> Store {
        Store::open(&self.folder.path().join("runs.db")).expect("a store")
    }

    fn import(&self, path: &str, sha256: &str) {
        let (path, sha256) = (path.to_owned(), sha256.to_owned());
        let source = Source { path, sha256, tool: "fio-3.33".to_owned() };
        _ = self.store().import(&Begin::default(), &Record::default(), &source).is_ok();
    }
}

fn called(name: &str, tag: &str) -> Begin {
    let tags = if tag.is_empty() { Vec::new() } else { vec![tag.to_owned()] };
    Begin { name: name.to_owned(), tags, ..Begin::default() }
}

#[test]
fn a_run_that_no_command_would_find_is_not_kept() {
    let kept = TempStore::new();
    let hash = "0123456789abcdef".repeat(4);
    testing::check_wrong_calls(&[
        ("a name that is a number", "no command finds a run called `12`", &|| {
            _ = kept.store().begin(&called("12", "")).is_ok();
        }),
        ("a name that is a range", "no command finds a run called `1..6`", &|| {
            _ = kept.store().add(&called("1..6", ""), &Record::default()).is_ok();
        }),
        ("a tag that is a pattern", "no command finds a run with the tag `a*`", &|| {
            _ = kept.store().begin(&called("a", "a*")).is_ok();
        }),
        ("a new name that means another", "a run called `last`", &|| {
            _ = kept.store().rename(1, "last").is_ok();
        }),
        ("a tag without words", "a run with the tag ``", &|| _ = kept.store().tag(1, "").is_ok()),
        ("a hash that is cut off", "`out.json` has the hash `0123`", &|| {
            kept.import("out.json", "0123");
        }),
        ("a hash in capitals", "has the hash `ABCDEF", &|| {
            kept.import("out.json", &"ABCDEF0123456789".repeat(4));
        }),
        ("a file without a path", "the file `` of the hash 0123", &|| kept.import("", &hash)),
    ]);
    kept.import("out.json", &hash);
    assert_eq!(kept.store().runs(&crate::Filter::default()).expect("rows").len(), 1);
}

#[test]
fn intervals_are_of_a_run_that_goes_on_and_follow_each_other() {
    let kept = TempStore::new();
    let live: RefCell<Live> = RefCell::new(kept.store().begin(&called("a", "")).expect("a run"));
    let interval = |end_ms, length_ms| {
        let interval = Interval { end_ms, length_ms, ..Interval::default() };
        _ = live.borrow_mut().interval(&interval).is_ok();
    };
    interval(2000, 1000);
    let record = Record::default();
    let put = |state, tail: Option<&Tail>| {
        _ = kept.store().put_record(1, &record, state, tail).is_ok();
    };
    testing::check_wrong_calls(&[
        ("longer than the run", "of 3000 ms ends after 2999 ms", &|| interval(2999, 3000)),
        ("one of before", "ends at 1999 ms, and the last at 2000 ms", &|| interval(1999, 999)),
        ("a run without its intervals", "run 1 is running, and its intervals are not", &|| {
            put(State::Running, None);
        }),
        ("an end with a few intervals", "run 1 is complete, and its intervals are", &|| {
            put(State::Complete, Some(&Tail::default()));
        }),
    ]);
    interval(2000, 0);
    put(State::Complete, None);
}
