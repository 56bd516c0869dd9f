//! The layout of the file, and the way from each version to the next.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::StoreError;

/// `plim`, in the file's head: tells a store from other files of SQLite.
const APPLICATION: i64 = 0x706c_696d;

/// What brings a store from one version to the next; the first makes it from nothing. Never
/// changed, only added to.
const STEPS: [&str; 2] = [
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
];

/// Number of the layout that this version writes.
pub(crate) const NEWEST: i64 = STEPS.len() as i64;

/// Brings a file to the newest layout.
pub(crate) fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let foreign = |what: &str| StoreError::Foreign { path: path.to_owned(), what: what.to_owned() };
    let (application, version) = match head(db) {
        Ok(head) => head,
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(foreign("no file of SQLite"));
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
    step.pragma_update(None, "application_id", APPLICATION)?;
    step.pragma_update(None, "user_version", NEWEST)?;
    step.commit()?;
    Ok(())
}

fn head(db: &Connection) -> rusqlite::Result<(i64, i64)> {
    let application = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok((application, db.pragma_query_value(None, "user_version", |row| row.get(0))?))
}

fn is_empty(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}
