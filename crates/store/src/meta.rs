//! What a user says about runs that are there.

use rusqlite::params;

use crate::{Store, StoreError};

impl Store {
    /// Gives a run another name.
    pub fn rename(&self, id: i64, name: &str) -> Result<(), StoreError> {
        self.db.execute("UPDATE runs SET name = ?2 WHERE id = ?1", params![id, name])?;
        Ok(())
    }

    /// Puts a note in place of a run's note.
    pub fn note(&self, id: i64, note: &str) -> Result<(), StoreError> {
        self.db.execute("UPDATE runs SET note = ?2 WHERE id = ?1", params![id, note])?;
        Ok(())
    }

    /// Adds a tag to a run, unless it has it.
    pub fn tag(&self, id: i64, tag: &str) -> Result<(), StoreError> {
        let put = "INSERT OR IGNORE INTO tags (run_id, tag) VALUES (?1, ?2)";
        self.db.execute(put, params![id, tag])?;
        Ok(())
    }

    /// Takes a tag from a run. Returns whether it had it.
    pub fn untag(&self, id: i64, tag: &str) -> Result<bool, StoreError> {
        let taken =
            self.db.execute("DELETE FROM tags WHERE run_id = ?1 AND tag = ?2", params![id, tag])?;
        Ok(taken > 0)
    }

    /// Deletes a run with all that belongs to it.
    pub fn delete(&self, id: i64) -> Result<(), StoreError> {
        self.db.execute("DELETE FROM runs WHERE id = ?1", [id])?;
        Ok(())
    }
}
