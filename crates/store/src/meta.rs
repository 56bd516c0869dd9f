//! What a user says about runs that are there.

use rusqlite::params;

use crate::{Store, StoreError};

impl Store {
    /// Gives a run another name.
    pub fn rename(&self, id: i64, name: &str) -> Result<(), StoreError> {
        self.change("UPDATE runs SET name = ?2 WHERE id = ?1", params![id, name]).map(drop)
    }

    /// Puts a note in place of a run's note.
    pub fn note(&self, id: i64, note: &str) -> Result<(), StoreError> {
        self.change("UPDATE runs SET note = ?2 WHERE id = ?1", params![id, note]).map(drop)
    }

    /// Adds a tag to a run, unless it has it.
    pub fn tag(&self, id: i64, tag: &str) -> Result<(), StoreError> {
        let put = "INSERT OR IGNORE INTO tags (run_id, tag) VALUES (?1, ?2)";
        self.change(put, params![id, tag]).map(drop)
    }

    /// Takes a tag from a run. Returns whether it had it.
    pub fn untag(&self, id: i64, tag: &str) -> Result<bool, StoreError> {
        let take = "DELETE FROM tags WHERE run_id = ?1 AND tag = ?2";
        Ok(self.change(take, params![id, tag])? > 0)
    }

    /// Deletes a run with all that belongs to it.
    pub fn delete(&self, id: i64) -> Result<(), StoreError> {
        self.change("DELETE FROM runs WHERE id = ?1", [id]).map(drop)
    }

    /// Changes rows, and returns how many.
    fn change(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize, StoreError> {
        let changed = self.db.execute(sql, params).map_err(StoreError::from);
        changed.map_err(|error| error.at(&self.path))
    }
}
