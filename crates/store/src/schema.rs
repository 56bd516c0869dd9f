//! The layout of the file, and the way from each version to the next.

use std::path::Path;

use record::Record;
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};

use crate::StoreError;
use crate::live::{figures_text, steps_text};
use crate::runs::Totals;
use crate::series::unpack;

/// `plim`, in the file's head: tells a store from other files of SQLite.
const APPLICATION: i64 = 0x706c_696d;

/// What brings a store from one version to the next; the first makes it from nothing. Never
/// changed, only added to.
const STEPS: [&str; 7] = [
    // 1. Figures that a list shows stand in columns of their own; the rest is in the record.
    "CREATE TABLE runs (
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
    ) STRICT, WITHOUT ROWID;",
    // 2. What is long lies apart, so that a list of thousands of runs reads short rows only.
    // Imported runs know the file that they came from.
    "CREATE TABLE records (
        run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
        plan TEXT NOT NULL,
        record BLOB NOT NULL
    ) STRICT;
    INSERT INTO records (run_id, plan, record) SELECT id, plan, record FROM runs;
    ALTER TABLE runs DROP COLUMN plan;
    ALTER TABLE runs DROP COLUMN record;
    ALTER TABLE runs ADD COLUMN source_path TEXT;
    ALTER TABLE runs ADD COLUMN source_sha256 TEXT;
    ALTER TABLE runs ADD COLUMN source_tool TEXT;
    CREATE UNIQUE INDEX runs_by_source ON runs (source_sha256) WHERE source_sha256 IS NOT NULL;
    CREATE INDEX runs_by_name ON runs (name);
    CREATE INDEX tags_by_tag ON tags (tag);",
    // 3. A run of several steps has figures for each, and none for all.
    "ALTER TABLE runs ADD COLUMN n_steps INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE runs ADD COLUMN steps TEXT NOT NULL DEFAULT '';",
    // 4. The verdict on a run: empty of those before, of which warnings are known.
    "ALTER TABLE runs ADD COLUMN standing TEXT NOT NULL DEFAULT '';
    UPDATE runs SET standing = 'caution' WHERE n_warnings > 0;",
    // 5. What a run measures that its command does not say.
    "ALTER TABLE runs ADD COLUMN about TEXT NOT NULL DEFAULT '';",
    // 6. Figures stand together, as those of steps do, so that a further one needs no column.
    "ALTER TABLE runs ADD COLUMN figures TEXT NOT NULL DEFAULT '';
    UPDATE runs SET figures = json_object('rate_iops', rate_iops,
        'rate_bytes_per_s', rate_bytes_per_s, 'latency_ns_p50', latency_ns_p50,
        'latency_ns_p99', latency_ns_p99);
    ALTER TABLE runs DROP COLUMN rate_iops;
    ALTER TABLE runs DROP COLUMN rate_bytes_per_s;
    ALTER TABLE runs DROP COLUMN latency_ns_p50;
    ALTER TABLE runs DROP COLUMN latency_ns_p99;",
    // 7. Runs over several hosts may be partial. A check of a column cannot be changed.
    "ALTER TABLE runs ADD COLUMN new_state TEXT NOT NULL DEFAULT 'running' CHECK (
        new_state IN ('running', 'complete', 'interrupted', 'failed', 'partial'));
    UPDATE runs SET new_state = state;
    ALTER TABLE runs DROP COLUMN state;
    ALTER TABLE runs RENAME COLUMN new_state TO state;",
];

/// Layout from which on the figures of several steps stand apart.
const WITH_STEPS: i64 = 3;

/// Number of the layout that this version writes.
pub(crate) const NEWEST: i64 = STEPS.len() as i64;

/// Returns the error of a file that SQLite did not write.
pub(crate) fn no_sqlite(path: &Path) -> StoreError {
    StoreError::Foreign { path: path.to_owned(), what: "no file of SQLite".to_owned() }
}

/// Brings a file to the newest layout.
pub(crate) fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let foreign = |what: &str| StoreError::Foreign { path: path.to_owned(), what: what.to_owned() };
    let (application, version) = match head(db) {
        Ok(head) => head,
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(no_sqlite(path));
        }
        Err(error) => return Err(error.into()),
    };
    if version > NEWEST && application == APPLICATION {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: NEWEST });
    }
    if application != APPLICATION && !is_empty(db)? {
        return Err(foreign("another program's"));
    }
    db.pragma_update(None, "foreign_keys", true)?;
    if version == NEWEST {
        return Ok(());
    }
    // The log is the file's own mode from then on.
    db.pragma_update(None, "journal_mode", "wal")?;
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another program may have come first.
    let (_, version) = head(&step)?;
    for sql in STEPS.iter().skip(usize::try_from(version).unwrap_or(0)) {
        step.execute_batch(sql)?;
    }
    if (1..WITH_STEPS).contains(&version) {
        part_steps(&step)?;
    }
    step.pragma_update(None, "application_id", APPLICATION)?;
    step.pragma_update(None, "user_version", NEWEST)?;
    step.commit()?;
    Ok(())
}

/// Computes the figures of runs anew that may have several steps: those of several jobs. What
/// cannot be read keeps what it has; `show` says what is wrong with it.
fn part_steps(db: &Connection) -> rusqlite::Result<()> {
    let mut ask = db.prepare("SELECT id FROM runs WHERE n_jobs > 1")?;
    let ids: Vec<i64> = ask.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for id in ids {
        let get = "SELECT record FROM records WHERE run_id = ?1";
        let packed: Vec<u8> = db.query_row(get, [id], |row| row.get(0))?;
        let json = unpack(&packed).ok().and_then(|json| String::from_utf8(json).ok());
        let Some(record) = json.and_then(|json| Record::from_json(&json).ok()) else { continue };
        let totals = Totals::of(&record);
        let (figures, steps) = (figures_text(&totals), steps_text(&totals));
        db.execute(
            "UPDATE runs SET figures = ?2, n_steps = ?3, steps = ?4, standing = ?5 WHERE id = ?1",
            params![id, figures, totals.n_steps, steps, totals.standing],
        )?;
    }
    Ok(())
}

fn head(db: &Connection) -> rusqlite::Result<(i64, i64)> {
    let application = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok((application, db.pragma_query_value(None, "user_version", |row| row.get(0))?))
}

fn is_empty(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}
