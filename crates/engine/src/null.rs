//! The engine that does nothing, for measuring the generator itself.

use plan::EngineKind;
use plan::op::{Completion, Op};

use crate::{Arena, Engine, EngineError, FileTable, Wait};

/// Completes every operation at once, in full. No data moves.
pub(crate) struct Null {
    arena: Arena,
    files: FileTable,
    name: String,
    batch_max: u32,
}

impl Null {
    pub(crate) fn new(name: String, files: FileTable, arena: Arena, queue_depth: u32) -> Null {
        let batch_max = crate::batch_max(EngineKind::Null, queue_depth);
        Null { arena, files, name, batch_max }
    }
}

impl Engine for Null {
    fn exchange(
        &mut self,
        ops: &[Op],
        _wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        done.extend(ops.iter().map(Completion::whole));
        Ok(())
    }

    fn batch_max(&self) -> u32 {
        self.batch_max
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.files
    }
}
