//! Stores of every version before open with all that is in them.

use std::path::Path;

use record::{Figure, Figures, Record};
use rusqlite::{Connection, params};
use store::{Filter, RunsSelector, State, Store};

/// The layout of version 1, as it was shipped. Never changed.
const VERSION_1: &str = "
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        note TEXT NOT NULL DEFAULT '',
        started_unix_ms INTEGER NOT NULL,
        elapsed_ns INTEGER NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('running', 'complete', 'interrupted', 'failed')),
        owner TEXT NOT NULL,
        command TEXT NOT NULL,
        plan TEXT NOT NULL,
        n_jobs INTEGER NOT NULL,
        rate_iops REAL,
        rate_bytes_per_s REAL,
        latency_ns_p50 INTEGER,
        latency_ns_p99 INTEGER,
        n_warnings INTEGER NOT NULL,
        record BLOB NOT NULL
    ) STRICT;
    CREATE TABLE tags (
        run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (run_id, tag)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE series (
        run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        chunk_no INTEGER NOT NULL,
        intervals BLOB NOT NULL,
        PRIMARY KEY (run_id, chunk_no)
    ) STRICT, WITHOUT ROWID;
    PRAGMA application_id = 1886153069;
    PRAGMA user_version = 1;
    PRAGMA journal_mode = wal;";

/// A record and an interval as version 1 wrote them.
const RECORD: &str = r#"{"schema":"plimsoll.record/1","plimsoll_version":"0.1.0",
    "started_unix_ms":7,"elapsed_ns":9,"outcome":"complete","command":[],"host":{"name":"h",
    "kernel":"","architecture":"","cpu_model":"","n_cpus":1,"memory_bytes":1},"clock":{
    "source":"tsc","stamping":"per_batch","read_cost_ns":1},"global_options":[],"jobs":[],
    "intervals":[],"disks":[],"notes":[]}"#;
const INTERVALS: &str = r#"[{"step_idx":0,"end_ms":1000,"length_ms":1000,"ramp":false,"dirs":{
    "read":{"n_ios":5,"io_bytes":20480,"latency_ns_p50":1,"latency_ns_p99":2,"latency_ns_max":3},
    "write":{"n_ios":0,"io_bytes":0,"latency_ns_p50":null,"latency_ns_p99":null,
    "latency_ns_max":null},"trim":{"n_ios":0,"io_bytes":0,"latency_ns_p50":null,
    "latency_ns_p99":null,"latency_ns_max":null}}}]"#;

fn packed(json: &str) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(json.as_bytes(), 6)
}

fn store_of_version_1(path: &Path) {
    let db = Connection::open(path).unwrap();
    db.execute_batch(VERSION_1).unwrap();
    for (id, state, record) in
        [(1, "complete", packed(RECORD)), (2, "failed", packed(RECORD)), (4, "running", vec![])]
    {
        db.execute(
            "INSERT INTO runs (id, name, note, started_unix_ms, elapsed_ns, state, owner, command,
                plan, n_jobs, rate_iops, n_warnings, record)
             VALUES (?1, 'old', 'a note', 7, 9, ?2, 'long gone', '[\"plimsoll\"]', 'the plan', 1,
                5.5, 2, ?3)",
            params![id, state, record],
        )
        .unwrap();
    }
    db.execute("INSERT INTO tags VALUES (1, 'kept')", []).unwrap();
    db.execute("INSERT INTO series VALUES (1, 0, ?1)", [packed(INTERVALS)]).unwrap();
}

#[test]
fn version_1_opens_with_all_that_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    store_of_version_1(&path);
    let mut store = Store::open(&path).unwrap();
    let runs = store.runs(&Filter::default()).unwrap();
    let states = runs.iter().map(|run| (run.id, run.state)).collect::<Vec<_>>();
    assert_eq!(states, [(4, State::Interrupted), (2, State::Failed), (1, State::Complete)]);
    let run = &runs[2];
    assert_eq!((run.name.as_str(), run.note.as_str()), ("old", "a note"));
    assert_eq!(
        (run.tags.as_slice(), run.totals.figures.get(Figure::Iops)),
        (&["kept".to_owned()][..], Some(5.5))
    );
    assert_eq!((run.command[0].as_str(), &run.source), ("plimsoll", &None));
    assert_eq!(run.totals.standing, "caution");
    assert_eq!(store.plan(1).unwrap(), "the plan");
    let record = store.record(1).unwrap().unwrap();
    assert_eq!((record.host.name.as_str(), record.intervals[0].dirs.read.n_ios), ("h", 5));
    assert_eq!(store.record(4).unwrap(), None);
    let Ok(named) = "old".parse::<RunsSelector>();
    assert_eq!(store.find_several(&named).unwrap().len(), 3);
    // What belongs to a run still goes with it, and numbers stay used.
    store.delete(1).unwrap();
    assert!(store.intervals(1).unwrap().is_empty());
    assert!(store.plan(1).is_err());
    assert_eq!(store.add(&store::Begin::default(), &record).unwrap(), 5);
    drop(store);
    assert_eq!(Store::open(&path).unwrap().runs(&Filter::default()).unwrap().len(), 3);
}

/// In version 5 each figure of a run had a column of its own.
#[test]
fn figures_of_version_5_are_those_of_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("five.db");
    let id = Store::open(&path).unwrap().add(&store::Begin::default(), &Record::default()).unwrap();
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "ALTER TABLE runs DROP COLUMN figures;
         ALTER TABLE runs ADD COLUMN rate_iops REAL;
         ALTER TABLE runs ADD COLUMN rate_bytes_per_s REAL;
         ALTER TABLE runs ADD COLUMN latency_ns_p50 INTEGER;
         ALTER TABLE runs ADD COLUMN latency_ns_p99 INTEGER;
         UPDATE runs SET rate_iops = 5.5, latency_ns_p50 = 1000, latency_ns_p99 = 9007199254740991;
         PRAGMA user_version = 5;",
    )
    .unwrap();
    drop(db);
    let figures = Store::open(&path).unwrap().run(id).unwrap().unwrap().totals.figures;
    let expected = Figures::default()
        .with(Figure::Iops, 5.5)
        .with(Figure::P50, 1000.0)
        .with(Figure::P99, 9_007_199_254_740_991.0);
    assert_eq!(figures, expected);
}
