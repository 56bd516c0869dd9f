//! io_uring: one system call hands a batch over and waits for completions.
//!
//! A ring is bound to the thread that first calls [`Engine::exchange`]: only that thread may
//! submit, which spares the kernel locks and lets it finish requests inside our own calls
//! (`SINGLE_ISSUER`, `DEFER_TASKRUN`, Linux 6.1). On older kernels the ring does without.

mod encode;
mod ring;

pub use ring::refusal;

use plan::job::EngineSpec;
use plan::op::{Completion, Op};

use crate::engine::still_in_flight;
use crate::{Arena, BuildOptions, Engine, EngineError, FileTable, Wait};
use encode::{Encoded, Encoder};
use ring::Ring;

/// Files registered with a ring: the kernel's own limit.
const REGISTERED_FILES_MAX: usize = 1 << 15;

/// Rounds in which an ending engine waits for what is in flight. Beyond half a minute the device
/// has to be taken for dead.
const DRAIN_ROUNDS: u32 = 300;

/// Length of such a round, a tenth of a second.
const DRAIN_ROUND_NS: u64 = 100_000_000;

/// Submissions that the kernel refuses in a row before the engine gives up. Each gives the kernel
/// time to free memory, so that this is a matter of seconds, not of bad luck.
const REFUSALS_MAX: u32 = 1 << 20;

/// Operations through an io_uring.
pub(crate) struct Uring {
    ring: Ring,
    encoder: Encoder,
    in_flight: u32,
    is_bound: bool,
    wants_registered_files: bool,
    files_generation: u64,
    batch_max: u32,
    name: String,
}

/// Why there is no ring, and the parts to build another engine from.
pub(crate) struct Refused {
    pub(crate) error: EngineError,
    pub(crate) files: FileTable,
    pub(crate) arena: Arena,
}

impl Uring {
    pub(crate) fn new(
        spec: &EngineSpec,
        files: FileTable,
        arena: Arena,
        options: &BuildOptions,
    ) -> Result<Uring, Box<Refused>> {
        let ring = match Ring::new(spec, options.queue_depth) {
            Ok(ring) => ring,
            Err(error) => return Err(Box::new(Refused { error, files, arena })),
        };
        let region_bytes = match spec.fixed_buffers {
            Some(false) => None,
            _ => ring.register_buffers(&arena),
        };
        let mut encoder = Encoder::new(spec, files, arena, options);
        encoder.region_bytes = region_bytes;
        Ok(Uring {
            ring,
            encoder,
            in_flight: 0,
            is_bound: false,
            wants_registered_files: spec.registered_files != Some(false),
            files_generation: u64::MAX,
            batch_max: options.queue_depth.max(1),
            name: spec.name.clone(),
        })
    }

    /// Binds the ring to this thread and finds out what it can do with the files.
    #[cold]
    fn bind(&mut self) -> Result<(), EngineError> {
        self.ring.enable()?;
        self.is_bound = true;
        if let Some(fd) = self.encoder.files.first_writable_device() {
            self.encoder.discard_command = self.ring.can_discard(fd)?;
        }
        Ok(())
    }

    /// Registers the files again after descriptors have changed.
    #[cold]
    fn register_files(&mut self) {
        let files = &self.encoder.files;
        self.files_generation = files.generation();
        let fits = files.is_complete() && (1..=REGISTERED_FILES_MAX).contains(&files.len());
        self.encoder.fixed_files =
            self.wants_registered_files && fits && self.ring.register_files(&files.raw_fds());
    }

    /// Puts operations into the submission queue. What cannot go through the ring is carried out
    /// here and now.
    #[inline]
    fn prepare(&mut self, ops: &[Op], done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let mut n_taken = self.prepare_some(ops, done);
        while n_taken < ops.len() {
            self.hand_over(done)?;
            let n_more = self.prepare_some(&ops[n_taken..], done);
            assert!(n_more > 0, "an empty submission queue takes an operation");
            n_taken += n_more;
        }
        Ok(())
    }

    /// Prepares operations as long as the queue has room, and returns how many.
    #[inline]
    fn prepare_some(&mut self, ops: &[Op], done: &mut Vec<Completion>) -> usize {
        let mut queue = self.ring.queue();
        let mut n_pushed = 0;
        let mut n_taken = 0;
        for op in ops {
            // Entries in the queue name descriptors: none may be closed under them.
            if queue.is_full() || (!queue.is_empty() && self.encoder.files.would_evict(op.file)) {
                break;
            }
            match self.encoder.encode(op) {
                Encoded::Entry(entry) => {
                    // SAFETY: the entry names memory of the arena and descriptors of the file
                    // table. Both outlive the operation: `drop` waits for all of them, and the
                    // table closes nothing that the queue still names.
                    if unsafe { queue.push(&entry) }.is_err() {
                        // Not in flight: it goes over with the next.
                        break;
                    }
                    n_pushed += 1;
                }
                Encoded::Done(result) => done.push(Completion { slot: op.slot, result }),
            }
            n_taken += 1;
        }
        drop(queue);
        self.ring.n_unsubmitted += n_pushed;
        self.in_flight += n_pushed;
        n_taken
    }

    /// Empties the submission queue without waiting for completions.
    #[cold]
    fn hand_over(&mut self, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let mut n_refused = 0;
        while !self.ring.is_submitted() {
            let entered = self.ring.enter(0, None)?;
            n_refused = self.check_refusals(n_refused, entered)?;
            self.reap(done);
        }
        Ok(())
    }

    /// Counts submissions that the kernel refused in a row.
    #[inline]
    fn check_refusals(&self, n_refused: u32, n_submitted: u32) -> Result<u32, EngineError> {
        if n_submitted > 0 || self.ring.n_unsubmitted == 0 {
            return Ok(0);
        }
        if n_refused >= REFUSALS_MAX {
            let source = std::io::Error::from_raw_os_error(libc::EAGAIN);
            return Err(EngineError::System { call: "io_uring_enter", source });
        }
        Ok(n_refused + 1)
    }

    /// Takes what has completed.
    #[inline]
    fn reap(&mut self, done: &mut Vec<Completion>) {
        let n_before = done.len();
        done.extend(self.ring.completions().map(|entry| {
            let (slot, len) = encode::from_user_data(entry.user_data());
            // Calls that move no bytes return zero: a trim then counts in full.
            let result = if entry.result() == 0 { len } else { entry.result() };
            Completion { slot, result }
        }));
        let n_done = (done.len() - n_before) as u32;
        self.in_flight = still_in_flight(self.in_flight, n_done);
    }
}

impl Engine for Uring {
    fn exchange(
        &mut self,
        ops: &[Op],
        wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        if !self.is_bound {
            self.bind()?;
        }
        if self.files_generation != self.encoder.files.generation() {
            self.register_files();
        }
        assert!(
            ops.len() as u64 + u64::from(self.in_flight) <= u64::from(self.batch_max),
            "no more is in flight than the queue is deep"
        );
        let n_before = done.len();
        self.prepare(ops, done)?;
        let mut n_refused = 0;
        loop {
            let n_done = (done.len() - n_before) as u32;
            // More than what is in flight can never complete.
            let want = wait.min.saturating_sub(n_done).min(self.in_flight);
            let n_ready = self.ring.n_ready();
            if self.ring.n_unsubmitted == 0 && n_ready >= want && n_ready + n_done > 0 {
                self.reap(done);
                return Ok(());
            }
            if self.in_flight == 0 {
                return Ok(());
            }
            let n_submitted = self.ring.enter(want, wait.timeout_ns)?;
            self.reap(done);
            n_refused = self.check_refusals(n_refused, n_submitted)?;
            if self.ring.n_unsubmitted > 0 {
                // The kernel took a part, and then it does not wait.
                continue;
            }
            let n_done = (done.len() - n_before) as u32;
            if n_done >= wait.min || self.in_flight == 0 || wait.timeout_ns.is_some() {
                return Ok(());
            }
        }
    }

    fn batch_max(&self) -> u32 {
        self.batch_max
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.encoder.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.encoder.files
    }
}

impl Drop for Uring {
    /// Waits until the kernel is done with the memory, which it may write into even after the
    /// ring is closed. Where it does not get done, the memory is given up.
    fn drop(&mut self) {
        let mut done = Vec::with_capacity(self.in_flight as usize);
        let mut n_rounds = 0;
        while self.in_flight > 0 && n_rounds < DRAIN_ROUNDS {
            if self.ring.enter(self.in_flight, Some(DRAIN_ROUND_NS)).is_err() {
                break;
            }
            self.reap(&mut done);
            n_rounds += 1;
        }
        if self.in_flight > 0 {
            self.encoder.arena.leak();
        }
        self.ring.release();
    }
}
