//! What the store keeps, finds, and makes of files that are none.

use std::path::PathBuf;
use std::time::Duration;

use record::{Figure, Figures, Interval, JobRecord, Outcome, PerDirRecord, Record};
use store::{
    Begin, Filter, FindError, Imported, RunSelector, RunsSelector, Source, State, Store,
    StoreError, Totals, is_name,
};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("share").join(store::FILE);
    (folder, path)
}

/// A record of one job with 1,000 reads of 4 KiB in a second, `ms` milliseconds each.
fn record(ms: u64) -> Record {
    let mut job = JobRecord { name: "job".to_owned(), ..JobRecord::default() };
    job.dirs.read.n_ios = 1_000;
    job.dirs.read.io_bytes = 4_096_000;
    job.dirs.read.runtime_ns = 1_000_000_000;
    job.dirs.read.lat.record_n(ms * 1_000_000, 1_000);
    Record {
        plimsoll_version: "0".to_owned(),
        started_unix_ms: 1_700_000_000_000,
        elapsed_ns: 1_000_000_000,
        command: vec!["plimsoll".to_owned()],
        jobs: vec![job],
        intervals: (1..=150).map(interval).collect(),
        ..Record::default()
    }
}

fn interval(second: u64) -> Interval {
    Interval {
        step_idx: 0,
        end_ms: second * 1_000,
        length_ms: 1_000,
        ramp: false,
        dirs: PerDirRecord::default(),
        ..Interval::default()
    }
}

fn begin(name: &str, tags: &[&str]) -> Begin {
    Begin {
        name: name.to_owned(),
        about: String::new(),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        command: vec!["plimsoll".to_owned(), "run".to_owned(), format!("{name}.fio")],
        plan: "[[job]]\n".to_owned(),
        started_unix_ms: 1_700_000_000_000,
    }
}

#[test]
fn a_run_comes_back_as_it_was() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let id = store.add(&begin("nightly", &["db", "a b"]), &record(2)).unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.record(id).unwrap(), Some(record(2)));
    assert_eq!(store.plan(id).unwrap(), "[[job]]\n");
    let row = store.run(id).unwrap().unwrap();
    assert_eq!((row.name.as_str(), row.state), ("nightly", State::Complete));
    assert_eq!(row.tags, ["a b", "db"]);
    assert_eq!(row.totals, Totals::of(&record(2)));
    assert_eq!(
        (row.totals.figures.get(Figure::Iops), row.totals.figures.get(Figure::BytesPerS)),
        (Some(1e3), Some(4.096e6))
    );
    let p99_ms = row.totals.figures.ns(Figure::P99).unwrap() as f64 / 1e6;
    assert!((p99_ms - 2.0).abs() < 0.02, "{p99_ms}");
}

#[test]
fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder();
    drop(Store::open(&path).unwrap());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o077, 0);
}

#[test]
fn a_run_is_found_from_its_start_on_and_kept_when_it_is_cut_off() {
    let (_folder, path) = folder();
    let mut live = Store::open(&path).unwrap().begin(&begin("long", &[])).unwrap();
    let other = Store::open(&path).unwrap();
    let state = |id| other.run(id).unwrap().unwrap().state;
    let id = live.id();
    assert_eq!(state(id), State::Running);
    assert_eq!(other.record(id).unwrap(), None, "nothing is known of it yet");
    for second in 1..=125 {
        live.interval(&interval(second)).unwrap();
    }
    live.report(&record(1)).unwrap();
    assert_eq!(state(id), State::Running);
    drop(live);
    assert_eq!(state(id), State::Interrupted);
    let kept = other.record(id).unwrap().unwrap();
    assert_eq!(kept.outcome, Outcome::Interrupted);
    assert_eq!(kept.jobs, record(1).jobs);
    assert!(kept.intervals.iter().map(|it| it.end_ms / 1_000).eq(1..=125));
}

#[test]
fn two_write_at_once() {
    let (_folder, path) = folder();
    let write = |name: &'static str| {
        let path = path.clone();
        std::thread::spawn(move || {
            for _ in 0..20 {
                let mut live = Store::open(&path).unwrap().begin(&begin(name, &[])).unwrap();
                live.interval(&interval(1)).unwrap();
                live.finish(&record(1)).unwrap();
            }
        })
    };
    let writers = [write("a"), write("b"), write("c")];
    for writer in writers {
        writer.join().unwrap();
    }
    let runs = Store::open(&path).unwrap().runs(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 60);
    assert!(runs.iter().all(|run| run.state == State::Complete));
    assert!(runs.windows(2).all(|pair| pair[0].id > pair[1].id), "the newest first");
}

#[test]
fn runs_are_found_by_name_number_and_place() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let find = |store: &Store, which: &str| store.find(&which.parse().unwrap());
    assert!(matches!(find(&store, "last"), Err(FindError::Empty { .. })));
    for (name, tags) in [("one", &["x", "y"][..]), ("two", &["x"]), ("one", &[]), ("", &[])] {
        store.add(&begin(name, tags), &record(1)).unwrap();
    }
    for (which, id) in [("last", 4), ("last~0", 4), ("last~3", 1), ("2", 2), ("one", 3)] {
        assert_eq!(find(&store, which).unwrap().id, id, "{which}");
    }
    let reported = |which| find(&store, which).unwrap_err().to_string();
    assert!(reported("last~4").starts_with("the store holds 4 runs"), "{}", reported("last~4"));
    assert!(reported("17").starts_with("no run has the number 17"));
    assert!(reported("onee").starts_with("no run is called `onee`, but there is `one`"));
    assert_eq!("last~x".parse(), Ok(RunSelector::Name("last~x".to_owned())));
    let listed = |filter: Filter| -> Vec<i64> {
        store.runs(&filter).unwrap().iter().map(|run| run.id).collect()
    };
    let tags = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect();
    assert_eq!(listed(Filter { tags: tags(&["x"]), ..Filter::default() }), [2, 1]);
    assert_eq!(listed(Filter { tags: tags(&["y", "x"]), ..Filter::default() }), [1]);
    assert_eq!(listed(Filter { text: "two.fio".to_owned(), ..Filter::default() }), [2]);
    assert_eq!(listed(Filter { n_max: 2, ..Filter::default() }), [4, 3]);
}

#[test]
fn names_notes_and_tags_change_and_runs_go() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let id = store.add(&begin("a", &["t"]), &record(1)).unwrap();
    store.rename(id, "b").unwrap();
    store.note(id, "after the firmware").unwrap();
    store.tag(id, "u").unwrap();
    store.tag(id, "u").unwrap();
    assert!(store.untag(id, "t").unwrap());
    assert!(!store.untag(id, "t").unwrap());
    let row = store.run(id).unwrap().unwrap();
    assert_eq!((row.name.as_str(), row.note.as_str()), ("b", "after the firmware"));
    assert_eq!(row.tags, ["u"]);
    store.delete(id).unwrap();
    assert_eq!(store.run(id).unwrap(), None);
    assert!(store.intervals(id).unwrap().is_empty());
    assert_eq!(store.add(&begin("c", &[]), &record(1)).unwrap(), id + 1, "numbers stay used");
}

#[test]
fn what_is_no_store_is_left_alone() {
    let (folder, _) = folder();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "not a database, but long enough for a header".repeat(9)).unwrap();
    assert!(matches!(Store::open(&text), Err(StoreError::Foreign { .. })));
    // SQLite would take so short a file for an empty one.
    std::fs::write(&text, "x").unwrap();
    assert!(matches!(Store::open(&text), Err(StoreError::Foreign { .. })));
    assert_eq!(std::fs::read(&text).unwrap(), b"x");
    let other = folder.path().join("other.db");
    let db = rusqlite::Connection::open(&other).unwrap();
    db.execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 7").unwrap();
    let before = std::fs::read(&other).unwrap();
    let reported = Store::open(&other).unwrap_err().to_string();
    assert!(reported.ends_with("is not a run store: it is another program's"), "{reported}");
    assert_eq!(std::fs::read(&other).unwrap(), before);
    let newer = folder.path().join("newer.db");
    drop(Store::open(&newer).unwrap());
    let db = rusqlite::Connection::open(&newer).unwrap();
    db.execute_batch("PRAGMA user_version = 9999").unwrap();
    assert!(matches!(Store::open(&newer), Err(StoreError::Newer { found: 9999, .. })));
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Open { .. })));
    assert!(Store::open_existing(&folder.path().join("none.db")).unwrap().is_none());
}

/// What a kill leaves: the figures and the intervals of one moment.
#[test]
fn figures_and_intervals_of_a_killed_run_are_of_the_same_time() {
    let (_folder, path) = folder();
    let mut live = Store::open(&path).unwrap().begin(&begin("killed", &[])).unwrap();
    let id = live.id();
    let seen = || {
        let store = Store::open_existing(&path).unwrap().unwrap();
        let elapsed_ns = store.record(id).unwrap().map(|record| record.elapsed_ns);
        (elapsed_ns, store.intervals(id).unwrap().len())
    };
    assert_eq!(seen(), (None, 0));
    live.interval(&interval(1)).unwrap();
    assert_eq!(seen().1, 0);
    live.report(&Record { elapsed_ns: 1_000_000_000, ..record(0) }).unwrap();
    assert_eq!(seen(), (Some(1_000_000_000), 1));
    live.interval(&interval(2)).unwrap();
    live.interval(&interval(3)).unwrap();
    assert_eq!(seen(), (Some(1_000_000_000), 1));
    live.report(&Record { elapsed_ns: 3_000_000_000, ..record(0) }).unwrap();
    assert_eq!(seen(), (Some(3_000_000_000), 3));
    std::mem::forget(live);
}

/// Far from the bound of 0.2 s that `benches` measure: this one only finds a list that reads every
/// record.
#[test]
fn a_list_reads_no_records() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    for _ in 0..50 {
        store.add(&begin("n", &["t"]), &record(1)).unwrap();
    }
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("UPDATE records SET record = zeroblob(4)").unwrap();
    assert_eq!(store.runs(&Filter::default()).unwrap().len(), 50);
    let reported = store.record(1).unwrap_err().to_string();
    assert!(reported.starts_with("run 1 in the store is damaged: "), "{reported}");
}

#[test]
fn a_writer_waits_for_another_one() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let busy = rusqlite::Connection::open(&path).unwrap();
    busy.execute_batch("BEGIN IMMEDIATE").unwrap();
    let writer = std::thread::spawn(move || store.add(&begin("late", &[]), &record(1)).unwrap());
    std::thread::sleep(Duration::from_millis(200));
    assert!(!writer.is_finished(), "the other one holds the store");
    busy.execute_batch("COMMIT").unwrap();
    writer.join().unwrap();
}

#[test]
fn sets_of_runs_are_found_by_name_pattern_tag_and_numbers() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let runs = [("one", &["x"][..]), ("two", &["x"]), ("one", &[]), ("once", &[]), ("a*", &[])];
    for (name, tags) in runs {
        store.add(&begin(name, tags), &record(1)).unwrap();
    }
    let find = |text: &str| {
        let Ok(several) = text.parse::<RunsSelector>();
        store.find_several(&several).map(|runs| runs.iter().map(|run| run.id).collect::<Vec<_>>())
    };
    for (text, ids) in [
        ("one", &[1, 3][..]),
        ("on*", &[1, 3, 4]),
        ("?wo", &[2]),
        ("a*", &[5]),
        ("tag:x", &[1, 2]),
        ("2..4", &[2, 3, 4]),
        ("4", &[4]),
        ("last~1", &[4]),
    ] {
        assert_eq!(find(text).unwrap(), ids, "{text}");
    }
    for (text, reported) in [
        ("onee", "no run is called `onee`, but there is `on"),
        ("z*", "no run matches `z*`"),
        ("tag:y", "no run matches `tag:y`"),
        ("7..9", "no run matches `7..9`"),
        ("9", "no run has the number 9"),
    ] {
        let found = find(text).unwrap_err().to_string();
        assert!(found.starts_with(reported), "{found}");
    }
}

#[test]
fn a_file_is_imported_once() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let (path, tool) = ("out.json".to_owned(), "fio-3.33".to_owned());
    let source = Source { path, sha256: "ab".repeat(32), tool };
    let mut import = |source: &Source| store.import(&begin("old", &["t"]), &record(1), source);
    assert_eq!(import(&source).unwrap(), Imported::Added(1));
    let moved = Source { path: "elsewhere.json".into(), ..source.clone() };
    assert_eq!(import(&moved).unwrap(), Imported::Known(1));
    let other = Source { sha256: "cd".repeat(32), ..source.clone() };
    assert_eq!(import(&other).unwrap(), Imported::Added(2));
    let row = store.run(1).unwrap().unwrap();
    assert_eq!((row.source, row.state), (Some(source), State::Complete));
    assert_eq!(store.runs(&Filter::default()).unwrap().len(), 2);
    store.delete(1).unwrap();
    assert_eq!(store.import(&begin("", &[]), &record(1), &moved).unwrap(), Imported::Added(3));
    assert_eq!(store.add(&begin("", &[]), &record(1)).unwrap(), 4);
    assert_eq!(store.run(4).unwrap().unwrap().source, None);
}

/// Without histograms, what the list shows is what the file lists, and nothing is made up.
#[test]
fn figures_of_listed_latencies() {
    let mut record = record(1);
    let listed = record::ListedLatency {
        n: 1_000,
        percentiles: vec![(99.0, 7_000_000)],
        ..record::ListedLatency::default()
    };
    let listed = record::ListedLatencies { clat: Some(listed), ..Default::default() };
    record.jobs[0].dirs.read.lat = hist::Histogram::new();
    record.jobs[0].dirs.read.listed = Some(listed);
    let totals = Totals::of(&record).figures;
    assert_eq!((totals.ns(Figure::P50), totals.ns(Figure::P99)), (None, Some(7_000_000)));
    record.jobs.push(record.jobs[0].clone());
    assert_eq!(
        Totals::of(&record).figures.ns(Figure::P99),
        None,
        "percentiles of two cannot be merged"
    );
}

#[test]
fn figures_of_a_curve_are_those_of_its_load_line() {
    let point = |load: f64, ms: u64, passed| record::CurvePointRecord {
        step_idx: 0,
        load,
        purpose: "coarse".to_owned(),
        passed,
        broken: Vec::new(),
        figures: Figures::each(|_| Some(ms as f64 * 1e6)),
        ..record::CurvePointRecord::default()
    };
    let mut record = record(1);
    record.curve = Some(record::CurveRecord {
        points: vec![point(16_000.0, 9_000, false), point(4_000.0, 8, true)],
        line: record::LoadLineRecord {
            load: Some(4_000.0),
            first_fail: Some(16_000.0),
            achieved_iops: Some(3_999.0),
            bytes_per_s: Some(3_999.0 * 4096.0),
            ..record::LoadLineRecord::default()
        },
        ..record::CurveRecord::default()
    });
    let totals = Totals::of(&record).figures;
    assert_eq!(
        (totals.get(Figure::Iops), totals.ns(Figure::P99)),
        (Some(4_000.0), Some(8_000_000))
    );
    record.curve = None;
    record.suite = Some(record::SuiteRecord::default());
    assert_eq!(Totals::of(&record).figures.get(Figure::Iops), None, "unlike things have no mean");
}

#[test]
fn latencies_of_an_open_load_are_its_response_times() {
    let mut record = record(1);
    let mut response = hist::Histogram::new();
    response.record_n(4_000_000_000, 1_000);
    record.jobs[0].dirs.read.response = Some(response);
    let p99_ns = Totals::of(&record).figures.ns(Figure::P99).unwrap();
    assert!(p99_ns > 3_900_000_000, "{p99_ns}");
}

#[test]
fn a_name_is_what_commands_take_for_one() {
    for text in ["before", "before-the-firmware", "v1.2", "last-week", "12a", "two words"] {
        assert!(is_name(text), "{text}");
    }
    for text in ["", " ", "last", "last~2", "12", "-3", "1..6", "tag:x", "night*", "a\nb", " a"] {
        assert!(!is_name(text), "{text}");
    }
}

/// Two jobs, one after the other: neither their rates nor their percentiles have a mean.
fn of_two_steps() -> Record {
    let mut two = record(1);
    let mut second = record(25).jobs.remove(0);
    second.step_idx = 1;
    second.dirs.read.n_ios = 5_100;
    second.dirs.read.io_bytes = 5_100 * 4096;
    two.jobs.push(second);
    two
}

#[test]
fn several_steps_have_figures_of_their_own_and_none_together() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let id = store.add(&begin("two", &[]), &of_two_steps()).unwrap();
    let totals = store.run(id).unwrap().unwrap().totals;
    assert_eq!(totals, Totals::of(&of_two_steps()), "it is kept as it is computed");
    assert_eq!((totals.figures, totals.n_steps), (Figures::default(), 2));
    let found: Vec<(&str, Option<f64>, u64)> = totals
        .steps
        .iter()
        .map(|step| {
            let ms = step.figures.ns(Figure::P99).unwrap() / 1_000_000;
            (step.name.as_str(), step.figures.get(Figure::Iops), ms)
        })
        .collect();
    assert_eq!(found, [("1", Some(1_000.0), 1), ("2", Some(5_100.0), 25)]);
}

#[test]
fn a_run_of_very_many_steps_is_listed_by_its_first() {
    let mut many = record(1);
    many.jobs =
        (0..500).map(|step_idx| record::JobRecord { step_idx, ..many.jobs[0].clone() }).collect();
    let totals = Totals::of(&many);
    assert_eq!((totals.n_steps, totals.steps.len()), (500, store::STEPS_MAX));
}

/// A response time counts from when an operation was due, a latency from its choice: a percentile
/// of both together is of nothing.
#[test]
fn response_times_are_not_merged_with_latencies() {
    let mut both = record(2);
    let mut other = both.jobs[0].clone();
    other.dirs.read.response = Some({
        let mut response = hist::Histogram::new();
        response.record_n(4_000_000_000, 1_000);
        response
    });
    both.jobs.push(other);
    let p99_ns = Totals::of(&both).figures.ns(Figure::P99).unwrap();
    assert!(p99_ns < 3_000_000, "the latency of both, and no response time: {p99_ns}");
    // Total latencies and service times, of a file that has only these, neither.
    let mut listed = record(1);
    let service = record::ListedLatency {
        n: 1_000,
        percentiles: vec![(99.0, 7_000_000)],
        ..record::ListedLatency::default()
    };
    let service = record::ListedLatencies { clat: Some(service), ..Default::default() };
    listed.jobs[0].dirs.read.lat = hist::Histogram::new();
    listed.jobs[0].dirs.read.listed = Some(service);
    both.jobs[1] = listed.jobs[0].clone();
    assert_eq!(Totals::of(&both).figures.ns(Figure::P99), None);
}

/// A store of before, in which a run of several steps had a mean of their rates.
#[test]
fn runs_of_an_older_store_lose_the_mean_of_their_steps() {
    let (_folder, path) = folder();
    let mut store = Store::open(&path).unwrap();
    let id = store.add(&begin("two", &[]), &of_two_steps()).unwrap();
    let one = store.add(&begin("one", &[]), &record(1)).unwrap();
    drop(store);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "ALTER TABLE runs DROP COLUMN figures;
         ALTER TABLE runs ADD COLUMN rate_iops REAL;
         ALTER TABLE runs ADD COLUMN rate_bytes_per_s REAL;
         ALTER TABLE runs ADD COLUMN latency_ns_p50 INTEGER;
         ALTER TABLE runs ADD COLUMN latency_ns_p99 INTEGER;
         UPDATE runs SET rate_iops = 3050.0, latency_ns_p99 = 7;
         ALTER TABLE runs DROP COLUMN n_steps;
         ALTER TABLE runs DROP COLUMN steps;
         ALTER TABLE runs DROP COLUMN standing;
         ALTER TABLE runs DROP COLUMN about;
         PRAGMA user_version = 2;",
    )
    .unwrap();
    drop(db);
    let store = Store::open(&path).unwrap();
    let totals = |id| store.run(id).unwrap().unwrap().totals;
    assert_eq!(totals(id), Totals::of(&of_two_steps()));
    let kept = Figures::default().with(Figure::Iops, 3050.0).with(Figure::P99, 7.0);
    assert_eq!((totals(one).figures, totals(one).n_steps), (kept, 1));
}
