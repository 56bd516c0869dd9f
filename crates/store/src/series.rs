//! Intervals in chunks: what comes every second is appended without writing the rest again.

use record::{Interval, Record};
use rusqlite::params;

use crate::{Store, StoreError};

/// Intervals of one chunk.
const CHUNK_LEN: usize = 60;

/// Packs what serde can write: JSON, compressed.
pub(crate) fn pack<T: serde::Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let json = serde_json::to_vec(value).expect("every map key is text, and memory takes it");
    miniz_oxide::deflate::compress_to_vec_zlib(&json, 6)
}

/// Largest record that is unpacked, bytes: far above what the longest run makes.
const UNPACKED_BYTES_MAX: usize = 4 << 30;

/// Unpacks what [`pack`] made.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, UNPACKED_BYTES_MAX)
        .map_err(|error| error.to_string())
}

/// The chunk that a run's next interval goes into.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    chunk_no: i64,
    intervals: Vec<Interval>,
}

impl Tail {
    /// Appends an interval to a run, and writes the chunk that it makes full.
    pub(crate) fn push(
        &mut self,
        store: &Store,
        id: i64,
        interval: &Interval,
    ) -> Result<(), StoreError> {
        let (end_ms, length_ms) = (interval.end_ms, interval.length_ms);
        assert!(length_ms <= end_ms, "an interval of {length_ms} ms ends after {end_ms} ms");
        let last_ms = self.intervals.last().map_or(0, |last| last.end_ms);
        assert!(last_ms <= end_ms, "an interval ends at {end_ms} ms, and the last at {last_ms} ms");
        if self.intervals.len() == CHUNK_LEN {
            self.intervals.clear();
            self.chunk_no += 1;
        }
        self.intervals.push(interval.clone());
        if self.intervals.len() < CHUNK_LEN { Ok(()) } else { self.write(store, id) }
    }

    /// Writes the chunk as it stands.
    pub(crate) fn write(&self, store: &Store, id: i64) -> Result<(), StoreError> {
        if self.intervals.is_empty() {
            return Ok(());
        }
        store.put_chunk(id, self.chunk_no, &self.intervals)
    }
}

impl Store {
    /// Puts the intervals of a whole record in place of what is there.
    pub(crate) fn replace_intervals(&self, id: i64, record: &Record) -> Result<(), StoreError> {
        self.db.execute("DELETE FROM series WHERE run_id = ?1", [id])?;
        for (chunk_no, chunk) in record.intervals.chunks(CHUNK_LEN).enumerate() {
            self.put_chunk(id, chunk_no as i64, chunk)?;
        }
        Ok(())
    }

    fn put_chunk(&self, id: i64, chunk_no: i64, chunk: &[Interval]) -> Result<(), StoreError> {
        self.db.execute(
            "INSERT OR REPLACE INTO series (run_id, chunk_no, intervals) VALUES (?1, ?2, ?3)",
            params![id, chunk_no, pack(chunk)],
        )?;
        Ok(())
    }

    /// Returns a run's intervals, in order.
    pub fn intervals(&self, id: i64) -> Result<Vec<Interval>, StoreError> {
        let mut all = Vec::new();
        let mut ask =
            self.db.prepare("SELECT intervals FROM series WHERE run_id = ?1 ORDER BY chunk_no")?;
        let mut rows = ask.query([id])?;
        while let Some(row) = rows.next()? {
            let damaged = |what| StoreError::Damaged { id, what };
            let json = unpack(row.get_ref(0)?.as_blob().unwrap_or_default()).map_err(damaged)?;
            let chunk: Vec<Interval> = serde_json::from_slice(&json)
                .map_err(|error| StoreError::Damaged { id, what: error.to_string() })?;
            all.extend(chunk);
        }
        Ok(all)
    }
}
