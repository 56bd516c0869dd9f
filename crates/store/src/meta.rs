//! What a user says about runs that are there.

use rusqlite::params;

use crate::live::{must_be_name, must_be_tag};
use crate::{Store, StoreError};

impl Store {
    /// Gives a run another name; an empty one takes it away.
    ///
    /// # Panics
    /// If no command finds it by that ([`crate::can_be_found`]).
    pub fn rename(&self, id: i64, name: &str) -> Result<(), StoreError> {
        must_be_name(name);
        self.change("UPDATE runs SET name = ?2 WHERE id = ?1", params![id, name]).map(drop)
    }

    /// Puts a note in place of a run's note.
    pub fn note(&self, id: i64, note: &str) -> Result<(), StoreError> {
        self.change("UPDATE runs SET note = ?2 WHERE id = ?1", params![id, note]).map(drop)
    }

    /// Adds a tag to a run, unless it has it.
    ///
    /// # Panics
    /// If it is none ([`crate::is_name`]).
    pub fn tag(&self, id: i64, tag: &str) -> Result<(), StoreError> {
        must_be_tag(tag);
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
