//! The engine over shared volumes.

use plan::op::{Completion, Op};

use crate::{Arena, Engine, EngineError, FileTable, Wait};

use super::Member;

/// Carries operations out on emulated volumes. Reads leave buffers as they are, writes go nowhere.
pub struct VolumeEngine {
    member: Member,
    arena: Arena,
    files: FileTable,
    batch_max: u32,
    /// One operation at a time, as a synchronous engine does.
    one_by_one: bool,
}

impl VolumeEngine {
    /// Makes the engine of a member. `files` is empty: what the volumes hold is nowhere.
    ///
    /// # Panics
    /// If there are files, or fewer buffers than operations in flight.
    pub fn new(
        member: Member,
        files: FileTable,
        arena: Arena,
        queue_depth: u32,
        one_by_one: bool,
    ) -> Self {
        assert!(files.is_empty(), "volumes hold nothing of {} files", files.len());
        let n_buffers = arena.n_buffers();
        assert!(queue_depth <= n_buffers, "{queue_depth} in flight have {n_buffers} buffers");
        VolumeEngine { member, arena, files, batch_max: queue_depth, one_by_one }
    }
}

impl Engine for VolumeEngine {
    fn exchange(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        if self.one_by_one {
            for op in ops {
                self.member.exchange(
                    std::slice::from_ref(op),
                    Wait { min: 1, timeout_ns: None },
                    done,
                );
            }
        } else {
            self.member.exchange(ops, wait, done);
        }
        Ok(())
    }

    fn batch_max(&self) -> u32 {
        self.batch_max
    }

    fn name(&self) -> &'static str {
        "volume"
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.files
    }
}
