//! Engines over other engines.

use plan::op::{Completion, Op};

use crate::{Arena, Engine, EngineError, FileTable, Usage, Wait};

/// Something done around the exchanges of another engine. All else is that engine's own, so a
/// layer cannot forget to hand a question on.
pub trait Layer: Send {
    /// Returns the engine below.
    fn below(&self) -> &dyn Engine;

    /// Returns the engine below, to use it.
    fn below_mut(&mut self) -> &mut dyn Engine;

    /// Does what [`Engine::exchange`] does, with what the layer adds.
    ///
    /// # Errors
    /// Those of the engine below.
    fn exchange_through(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError>;
}

impl<L: Layer> Engine for L {
    fn exchange(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        self.exchange_through(ops, wait, done)
    }

    fn batch_max(&self) -> u32 {
        self.below().batch_max()
    }

    fn name(&self) -> &str {
        self.below().name()
    }

    fn stands_in(&self) -> bool {
        self.below().stands_in()
    }

    fn arena(&mut self) -> &mut Arena {
        self.below_mut().arena()
    }

    fn files(&mut self) -> &mut FileTable {
        self.below_mut().files()
    }

    fn remove_files(&mut self) -> Result<(), EngineError> {
        self.below_mut().remove_files()
    }

    fn sync_file_systems(&mut self) -> Result<(), EngineError> {
        self.below_mut().sync_file_systems()
    }

    fn close_files(&mut self) -> Result<(), EngineError> {
        self.below_mut().close_files()
    }

    fn end_threads(&mut self) -> Usage {
        self.below_mut().end_threads()
    }
}
