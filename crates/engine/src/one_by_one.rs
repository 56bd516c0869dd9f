//! What the engines have in common that carry out one operation at a time, each in its own call.

use plan::op::{Completion, Op};

use crate::{Arena, Engine, EngineError, FileTable, Wait};

/// How one operation is carried out.
pub(crate) trait ExecuteOne: Send {
    /// Carries it out and returns what its completion holds: bytes, or the negated `errno`.
    fn carry_out(&mut self, op: &Op, files: &mut FileTable, arena: &Arena) -> i32;
}

/// The engine of a [`ExecuteOne`].
pub(crate) struct SerialEngine<C> {
    how: C,
    arena: Arena,
    files: FileTable,
    name: String,
}

impl<C: ExecuteOne> SerialEngine<C> {
    pub(crate) fn new(how: C, name: &str, files: FileTable, arena: Arena) -> Self {
        SerialEngine { how, arena, files, name: name.to_owned() }
    }
}

impl<C: ExecuteOne> Engine for SerialEngine<C> {
    fn exchange(
        &mut self,
        ops: &[Op],
        _wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        for op in ops {
            let result = self.how.carry_out(op, &mut self.files, &self.arena);
            done.push(Completion { slot: op.slot, result });
        }
        Ok(())
    }

    fn batch_max(&self) -> u32 {
        1
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
