//! Linux native AIO by raw system calls, without libaio.
//!
//! One call hands a batch over. Completions are taken from the ring that the kernel shares with
//! the process, so that a second call is made only when there is something to wait for.

mod context;

use plan::job::EngineSpec;
use plan::op::{Completion, Op, OpClass, SyncScope};
use plan::{Direction, IoPriority};

use crate::engine::still_in_flight;
use crate::without_data::without_data;
use crate::{Arena, BuildOptions, Engine, EngineError, FileTable, Wait, call, rwf_flags};
pub(crate) use context::Context;
use context::{ControlBlock, Event};

/// Opcodes of `linux/aio_abi.h`.
const COMMAND_READ: u16 = 0;
const COMMAND_WRITE: u16 = 1;
const COMMAND_FSYNC: u16 = 2;
const COMMAND_FDATASYNC: u16 = 3;

/// The priority field of a control block counts.
const FLAG_PRIORITY: u32 = 1 << 1;

/// Operations through native AIO.
pub(crate) struct Aio {
    /// Dropped first: the kernel must be done with the memory before it goes.
    context: Context,
    /// One per slot.
    blocks: Vec<ControlBlock>,
    /// Those of the batch at hand.
    batch: Vec<*mut ControlBlock>,
    arena: Arena,
    files: FileTable,
    in_flight: u32,
    options: BuildOptions,
    read_flags: i32,
    write_flags: i32,
    name: String,
    /// It runs because io_uring is refused.
    pub(crate) stands_in: bool,
}

// SAFETY: the pointers of the batch point into the engine's own control blocks, and a context of
// native AIO belongs to the process, not to a thread.
unsafe impl Send for Aio {}

impl Aio {
    pub(crate) fn new(
        spec: &EngineSpec,
        name: String,
        files: FileTable,
        arena: Arena,
        options: &BuildOptions,
    ) -> Result<Aio, EngineError> {
        let context = Context::new(options.queue_depth)?;
        Ok(Aio::in_context(context, spec, name, files, arena, options))
    }

    /// Makes the engine of a context with room for all that is in flight.
    pub(crate) fn in_context(
        context: Context,
        spec: &EngineSpec,
        name: String,
        files: FileTable,
        arena: Arena,
        options: &BuildOptions,
    ) -> Aio {
        let (read_flags, write_flags) = rwf_flags(spec, options);
        Aio {
            context,
            blocks: vec![ControlBlock::default(); options.queue_depth as usize],
            batch: Vec::with_capacity(options.queue_depth as usize),
            arena,
            files,
            in_flight: 0,
            options: *options,
            read_flags,
            write_flags,
            name,
            stands_in: false,
        }
    }

    /// Fills the control block of the operation's slot and adds it to the batch.
    ///
    /// Returns the result of an operation that does not go through the context.
    #[inline]
    fn prepare(&mut self, op: &Op) -> Option<i32> {
        let (opcode, rw_flags) = match op.kind.class() {
            OpClass::Bytes(Direction::Read) => (COMMAND_READ, self.read_flags),
            OpClass::Bytes(Direction::Write) => (COMMAND_WRITE, self.write_flags),
            OpClass::Sync(SyncScope::All) => (COMMAND_FSYNC, 0),
            OpClass::Sync(SyncScope::Data) => (COMMAND_FDATASYNC, 0),
            OpClass::Bytes(Direction::Trim) | OpClass::Sync(SyncScope::Range) | OpClass::File => {
                let flags = self.options.sync_file_range_flags;
                return Some(without_data(&mut self.files, op, flags));
            }
        };
        let fd = match self.files.fd(op.file) {
            Ok(fd) => fd,
            Err(result) => return Some(result),
        };
        let is_sync = op.kind.is_sync();
        let mut block = ControlBlock {
            slot: u64::from(op.slot),
            rw_flags,
            opcode,
            fd: fd as u32,
            ..ControlBlock::default()
        };
        if !is_sync {
            block.memory = self.arena.memory(op) as u64;
            block.len = u64::from(op.len);
            block.offset = op.offset as i64;
            if op.priority != IoPriority::NONE {
                block.priority = op.priority.bits() as i16;
                block.flags = FLAG_PRIORITY;
            }
        }
        let place = &mut self.blocks[op.slot as usize];
        *place = block;
        self.batch.push(&raw mut *place);
        None
    }

    /// Hands the batch over. A block that the kernel refuses completes with its error.
    #[inline]
    fn submit(&mut self, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let mut n_handed = 0;
        while n_handed < self.batch.len() {
            let result = self.context.submit(&self.batch[n_handed..]);
            if result > 0 {
                n_handed += result as usize;
                self.in_flight += result as u32;
                continue;
            }
            if result == -libc::EAGAIN && self.in_flight > 0 {
                // The context is full, or the kernel short of memory.
                self.wait(1, None, done)?;
                continue;
            }
            let refused = self.batch[n_handed];
            n_handed += 1;
            // SAFETY: the pointer was taken from `blocks`, which is still in place.
            let slot = unsafe { (*refused).slot } as u32;
            done.push(Completion { slot, result: self.refused(slot, result) });
        }
        self.batch.clear();
        Ok(())
    }

    /// Returns the result of a refused block. A sync that the file system takes only as a plain
    /// system call is carried out as one.
    #[cold]
    fn refused(&self, slot: u32, result: i32) -> i32 {
        let block = &self.blocks[slot as usize];
        let fd = block.fd as i32;
        match block.opcode {
            // SAFETY: these calls take no memory.
            COMMAND_FSYNC if result == -libc::EINVAL => {
                call::retry(|| unsafe { libc::fsync(fd) as isize })
            }
            // SAFETY: as above.
            COMMAND_FDATASYNC if result == -libc::EINVAL => {
                call::retry(|| unsafe { libc::fdatasync(fd) as isize })
            }
            _ => result,
        }
    }

    /// Takes what has completed without a system call.
    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) {
        let n_before = done.len();
        self.context.take_ready(|event| done.push(completion(event)));
        self.have_completed((done.len() - n_before) as u32);
    }

    /// Takes operations out of those in flight.
    #[inline]
    fn have_completed(&mut self, n_done: u32) {
        self.in_flight = still_in_flight(self.in_flight, n_done);
    }

    fn wait(
        &mut self,
        min: u32,
        timeout_ns: Option<u64>,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        let n_before = done.len();
        let result = self.context.wait(min, timeout_ns, |event| done.push(completion(event)));
        self.have_completed((done.len() - n_before) as u32);
        result
    }
}

#[inline]
fn completion(event: Event) -> Completion {
    Completion { slot: event.slot as u32, result: event.result as i32 }
}

impl Engine for Aio {
    fn exchange(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        assert!(
            ops.len() as u64 + u64::from(self.in_flight) <= u64::from(self.options.queue_depth),
            "no more is in flight than the queue is deep"
        );
        let n_before = done.len();
        for op in ops {
            if self.files.would_evict(op.file) {
                // Blocks of the batch name descriptors: none may be closed under them.
                self.submit(done)?;
            }
            if let Some(result) = self.prepare(op) {
                done.push(Completion { slot: op.slot, result });
            }
        }
        self.submit(done)?;
        self.reap(done);
        loop {
            let n_done = (done.len() - n_before) as u32;
            let want = wait.min.saturating_sub(n_done).min(self.in_flight);
            let must_ask = !self.context.is_readable() && n_done == 0 && self.in_flight > 0;
            if want == 0 && !must_ask {
                return Ok(());
            }
            let timeout_ns = if want == 0 { Some(0) } else { wait.timeout_ns };
            self.wait(want, timeout_ns, done)?;
            if timeout_ns.is_some() {
                return Ok(());
            }
        }
    }

    fn batch_max(&self) -> u32 {
        self.options.queue_depth.max(1)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn stands_in(&self) -> bool {
        self.stands_in
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.files
    }
}
