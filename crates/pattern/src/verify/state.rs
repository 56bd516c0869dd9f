//! What an interrupted run had written, for a later run to verify.
//!
//! The file has fio's name and role but not its contents: fio's state describes a sequence of
//! offsets by the state of its own generator, which ours cannot follow, so neither tool can use
//! the other's. Each says so, because the first field differs.
//!
//! All fields are little-endian:
//!
//! | bytes | field |
//! |---|---|
//! | 0..8 | [`FORMAT`] |
//! | 8..16 | bytes of the body |
//! | 16..24 | CRC-32C of the body, which follows |
//! | 24..56 | worker, seed, issued, covered: 8 each |
//! | 56..64 | bytes of the name, number of unfinished writes: 4 each |
//! | 64.. | the name; the unfinished writes, ascending: 8 each |

use plan::verify::VerifyPolicy;

/// First field of the file: `PLVS` and version 1. fio has small version numbers there.
const FORMAT: u64 = 0x0001_5356_4c50;

/// The version numbers that fio has used up to now, with room for more.
const FIO_VERSIONS: std::ops::Range<u64> = 0..256;

/// Failed writes that are remembered: 2 MiB of numbers. A job that fails more often is of no use;
/// its state then covers less, and stays right.
const UNFINISHED_MAX: usize = 1 << 18;

const PREFIX_BYTES: usize = 24;
const FIXED_BODY_BYTES: usize = 40;

/// Why bytes are not a verify state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// fio wrote it.
    #[error(
        "the verify state was written by fio (version {version}); its order of writes cannot be \
         repeated here, so verify without a state or write again"
    )]
    Fio {
        /// fio's version of the format.
        version: u64,
    },
    /// Something else.
    #[error("not a verify state, or of a later version")]
    Unknown,
    /// It ends early, or holds more than it says.
    #[error("the verify state is {got_bytes} B long instead of {want_bytes} B")]
    Size {
        /// As read.
        got_bytes: u64,
        /// As its header says.
        want_bytes: u64,
    },
    /// Its checksum is wrong.
    #[error("the verify state is damaged: its checksum does not match")]
    Checksum,
    /// Its checksum is right but its contents cannot be.
    #[error("the verify state contradicts itself")]
    Contradiction,
}

/// What became of a write, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFate {
    /// It completed; its block must hold it, unless a later one replaced it.
    Written,
    /// It may have happened, in part or not at all; its block may hold anything.
    Unknown,
    /// It was never issued, nor was any later one.
    Never,
}

/// What one worker had written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct VerifyState {
    /// Name of the job.
    pub job_name: String,
    /// Position of the worker among all workers of the run.
    pub worker_idx: u64,
    /// Seed of the worker's sequence, so that a run with a drawn seed can be repeated.
    pub seed: u64,
    /// Writes issued.
    pub n_issued: u64,
    /// Writes with lower numbers were completed, but for the unfinished ones.
    pub n_covered: u64,
    /// Numbers below `n_covered` of writes that had not completed or had failed; ascending.
    pub unfinished: Vec<u64>,
}

/// Returns the name of the state file of a worker: fio's.
///
/// `worker_idx` counts over all workers of the run. The file lies in the current directory or in
/// the one given by `--aux-path`.
pub fn state_file_name(job_name: &str, worker_idx: u64) -> String {
    format!("local-{}-{worker_idx}-verify.state", job_name.replace('/', "."))
}

impl VerifyState {
    /// Reports what became of a write.
    ///
    /// A later run repeats the sequence of writes, puts those that are `Written` and `Unknown` into
    /// the [`WriteLog`](super::WriteLog), forgets the `Unknown` ones again, and stops at `Never`.
    pub fn fate(&self, number_io: u64) -> WriteFate {
        if number_io >= self.n_issued {
            WriteFate::Never
        } else if number_io >= self.n_covered || self.unfinished.binary_search(&number_io).is_ok() {
            WriteFate::Unknown
        } else {
            WriteFate::Written
        }
    }

    /// Returns the contents of the state file.
    ///
    /// # Panics
    /// If the numbers contradict each other: such a file could not be read again.
    pub fn encode(&self) -> Vec<u8> {
        let Self { n_covered, n_issued, unfinished, .. } = self;
        assert!(
            n_covered <= n_issued,
            "{n_covered} writes are covered, and {n_issued} were issued"
        );
        let ascends = unfinished.is_sorted_by(|a, b| a < b);
        assert!(ascends, "unfinished writes are not in order: {unfinished:?}");
        let last = unfinished.last().filter(|last| *last >= n_covered);
        assert!(last.is_none(), "write {last:?} is unfinished, and {n_covered} are covered");
        let mut body = Vec::with_capacity(FIXED_BODY_BYTES + self.job_name.len());
        for field in [self.worker_idx, self.seed, self.n_issued, self.n_covered] {
            body.extend_from_slice(&field.to_le_bytes());
        }
        for len in [self.job_name.len(), self.unfinished.len()] {
            body.extend_from_slice(&(len as u32).to_le_bytes());
        }
        body.extend_from_slice(self.job_name.as_bytes());
        for number_io in &self.unfinished {
            body.extend_from_slice(&number_io.to_le_bytes());
        }
        let mut file = Vec::with_capacity(PREFIX_BYTES + body.len());
        for field in [FORMAT, body.len() as u64, u64::from(crc32c::crc32c(&body))] {
            file.extend_from_slice(&field.to_le_bytes());
        }
        file.extend_from_slice(&body);
        file
    }

    /// Reads the contents of a state file.
    pub fn decode(file: &[u8]) -> Result<Self, StateError> {
        let mut rest = file;
        let format = take_u64(&mut rest).ok_or(StateError::Unknown)?;
        if FIO_VERSIONS.contains(&format) && file.len() >= PREFIX_BYTES {
            return Err(StateError::Fio { version: format });
        }
        if format != FORMAT {
            return Err(StateError::Unknown);
        }
        let (Some(body_bytes), Some(crc)) = (take_u64(&mut rest), take_u64(&mut rest)) else {
            let (got_bytes, want_bytes) = (file.len() as u64, PREFIX_BYTES as u64);
            return Err(StateError::Size { got_bytes, want_bytes });
        };
        if rest.len() as u64 != body_bytes {
            let want_bytes = body_bytes.saturating_add(PREFIX_BYTES as u64);
            return Err(StateError::Size { got_bytes: file.len() as u64, want_bytes });
        }
        if u64::from(crc32c::crc32c(rest)) != crc {
            return Err(StateError::Checksum);
        }
        VerifyState::decode_body(rest).ok_or(StateError::Contradiction)
    }

    /// Reads the body; `None` when it cannot be one.
    fn decode_body(mut rest: &[u8]) -> Option<Self> {
        let worker_idx = take_u64(&mut rest)?;
        let seed = take_u64(&mut rest)?;
        let n_issued = take_u64(&mut rest)?;
        let n_covered = take_u64(&mut rest)?;
        let lens = take_u64(&mut rest)?;
        let (name_len, n_unfinished) = ((lens & 0xffff_ffff) as usize, (lens >> 32) as usize);
        let (name, numbers) = rest.split_at_checked(name_len)?;
        let job_name = std::str::from_utf8(name).ok()?.to_owned();
        let (numbers, left) = numbers.as_chunks::<8>();
        let unfinished: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let fits = left.is_empty() && unfinished.len() == n_unfinished && n_covered <= n_issued;
        let ascends = unfinished.is_sorted_by(|a, b| a < b);
        let below = unfinished.last().is_none_or(|last| *last < n_covered);
        (fits && ascends && below).then_some(VerifyState {
            job_name,
            worker_idx,
            seed,
            n_issued,
            n_covered,
            unfinished,
        })
    }
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (bytes, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    Some(u64::from_le_bytes(*bytes))
}

/// Follows a worker's writes, so that at any moment its state can be saved.
///
/// Costs a few nanoseconds per write; allocates only for writes that fail.
#[derive(Clone, Debug)]
pub struct WriteProgress {
    n_issued: u64,
    /// Unordered; never more than the queue is deep.
    in_flight: Vec<u64>,
    /// In the order of failing; at most `UNFINISHED_MAX`.
    failed: Vec<u64>,
    /// Writes from here on are not covered, because too many failed.
    covered_max: u64,
    durable: Snapshot,
    /// Taken when the sync in flight was issued.
    syncing: Snapshot,
    is_syncing: bool,
}

#[derive(Clone, Debug, Default)]
struct Snapshot {
    n_covered: u64,
    unfinished: Vec<u64>,
}

impl WriteProgress {
    /// Starts with nothing written. `queue_depth` is the number of writes in flight at most.
    ///
    /// # Panics
    /// If none may be in flight.
    pub fn new(queue_depth: u32) -> Self {
        assert!(queue_depth > 0, "{queue_depth} writes in flight at most");
        let room = || Vec::with_capacity((queue_depth as usize).min(UNFINISHED_MAX));
        WriteProgress {
            n_issued: 0,
            in_flight: room(),
            failed: Vec::new(),
            covered_max: u64::MAX,
            durable: Snapshot { n_covered: 0, unfinished: room() },
            syncing: Snapshot { n_covered: 0, unfinished: room() },
            is_syncing: false,
        }
    }

    /// Notes that the next write is issued and returns its number.
    pub fn issue(&mut self) -> u64 {
        let number_io = self.n_issued;
        self.n_issued += 1;
        self.in_flight.push(number_io);
        number_io
    }

    /// Notes the end of a write; `ok` when all its bytes were written.
    pub fn complete(&mut self, number_io: u64, ok: bool) {
        let Some(idx) = self.in_flight.iter().position(|&other| other == number_io) else {
            return;
        };
        self.in_flight.swap_remove(idx);
        if ok {
            return;
        }
        if self.failed.len() < UNFINISHED_MAX {
            self.failed.push(number_io);
        } else {
            self.covered_max = self.covered_max.min(number_io);
        }
    }

    /// Notes that an `fsync` or `fdatasync` is issued. Of several in flight the first one counts.
    pub fn sync_issued(&mut self) {
        if self.is_syncing {
            return;
        }
        self.is_syncing = true;
        self.syncing.n_covered = self.n_issued.min(self.covered_max);
        self.syncing.unfinished.clear();
        self.syncing.unfinished.extend(self.in_flight.iter().chain(&self.failed));
    }

    /// Notes the end of the sync that counts.
    pub fn sync_completed(&mut self, ok: bool) {
        if std::mem::take(&mut self.is_syncing) && ok {
            std::mem::swap(&mut self.durable, &mut self.syncing);
        }
    }

    /// Returns the state to be saved, of a worker of this job with this seed.
    pub fn state(
        &self,
        policy: VerifyPolicy,
        job_name: &str,
        worker_idx: u64,
        seed: u64,
    ) -> VerifyState {
        let (n_covered, mut unfinished) = match policy {
            VerifyPolicy::Completed => {
                let unfinished = self.in_flight.iter().chain(&self.failed).copied().collect();
                (self.n_issued.min(self.covered_max), unfinished)
            }
            VerifyPolicy::Fsynced => (self.durable.n_covered, self.durable.unfinished.clone()),
        };
        unfinished.retain(|&number_io| number_io < n_covered);
        unfinished.sort_unstable();
        VerifyState {
            job_name: job_name.to_owned(),
            worker_idx,
            seed,
            n_issued: self.n_issued,
            n_covered,
            unfinished,
        }
    }
}
