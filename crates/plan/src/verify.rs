//! Checking that what is read is what was written.

use crate::workload::Workload;

/// Bytes of the header that is written into verified blocks, without the method's checksum: the
/// layout of fio from 3.41 on.
pub const HEADER_BYTES: u32 = 48;

/// How a block proves its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyMethod {
    /// MD5 in the header.
    Md5,
    /// CRC-64 in the header.
    Crc64,
    /// CRC-32C in the header.
    Crc32c,
    /// CRC-32 in the header.
    Crc32,
    /// CRC-16 in the header.
    Crc16,
    /// CRC-7 in the header.
    Crc7,
    /// xxHash32 in the header.
    XxHash,
    /// SHA-1 in the header.
    Sha1,
    /// SHA-256 in the header.
    Sha256,
    /// SHA-512 in the header.
    Sha512,
    /// SHA3-224 in the header.
    Sha3_224,
    /// SHA3-256 in the header.
    Sha3_256,
    /// SHA3-384 in the header.
    Sha3_384,
    /// SHA3-512 in the header.
    Sha3_512,
    /// The header alone (offset, time, number of the I/O).
    Meta,
    /// The whole block is the pattern, without header.
    Pattern,
    /// A header, then the pattern.
    PatternHeader,
    /// Goes through the motions without checking; for measuring the cost.
    Null,
}

impl VerifyMethod {
    /// All methods.
    pub const ALL: [VerifyMethod; 18] = units::all_of!(
        VerifyMethod:
        Md5, Crc64, Crc32c, Crc32, Crc16, Crc7, XxHash, Sha1, Sha256, Sha512, Sha3_224, Sha3_256,
        Sha3_384, Sha3_512, Meta, Pattern, PatternHeader, Null,
    );

    /// Returns whether blocks carry a header.
    pub fn has_header(self) -> bool {
        !matches!(self, VerifyMethod::Pattern | VerifyMethod::Null)
    }

    /// Returns how many bytes the method stores behind the header, as fio does.
    pub fn checksum_bytes(self) -> u32 {
        match self {
            VerifyMethod::Md5 => 16,
            VerifyMethod::Crc64 => 8,
            VerifyMethod::Crc32c | VerifyMethod::Crc32 | VerifyMethod::XxHash => 4,
            VerifyMethod::Crc16 => 2,
            VerifyMethod::Crc7 => 1,
            VerifyMethod::Sha1 => 20,
            VerifyMethod::Sha256 | VerifyMethod::Sha3_512 => 64,
            VerifyMethod::Sha512 => 128,
            VerifyMethod::Sha3_224 => 28,
            VerifyMethod::Sha3_256 => 32,
            VerifyMethod::Sha3_384 => 48,
            VerifyMethod::Meta
            | VerifyMethod::Pattern
            | VerifyMethod::PatternHeader
            | VerifyMethod::Null => 0,
        }
    }

    /// Returns the bytes that a header and its checksum take of each interval; 0 for the methods
    /// that write none.
    pub fn header_bytes(self) -> u32 {
        if self.has_header() { HEADER_BYTES + self.checksum_bytes() } else { 0 }
    }
}

/// Block sizes that decide how blocks are divided into intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFacts {
    /// Smallest write, bytes.
    pub write_min_bytes: u32,
    /// Largest write, bytes.
    pub write_max_bytes: u32,
    /// Smallest read, bytes; `None` for jobs that do not read.
    pub read_min_bytes: Option<u32>,
    /// Sizes are not multiples of the smallest: each block has one header.
    pub unaligned: bool,
}

impl BlockFacts {
    /// Returns the facts of a job's workload.
    pub fn of(workload: &Workload) -> Self {
        BlockFacts {
            write_min_bytes: workload.block_size.write.min(),
            write_max_bytes: workload.block_size.write.max(),
            read_min_bytes: workload.access.read.then(|| workload.block_size.read.min()),
            unaligned: workload.block_unaligned,
        }
    }

    /// Returns the distance between headers for the one asked for (0: not set), as fio adjusts it:
    /// not above the smallest write nor the smallest read, and a divisor of all writes.
    ///
    /// 0 when the smallest write has no bytes.
    pub fn interval_bytes(&self, asked_bytes: u32) -> u32 {
        let (min, max) = (self.write_min_bytes, self.write_max_bytes);
        let mut interval = if asked_bytes == 0 && min != max { min } else { asked_bytes };
        if interval > min {
            interval = min;
        } else if let Some(read_min) = self.read_min_bytes {
            interval = interval.min(read_min);
        }
        if interval == 0 || !min.is_multiple_of(interval) || !max.is_multiple_of(interval) {
            return if min == 0 { 0 } else { units::gcd(u64::from(min), u64::from(max)) as u32 };
        }
        interval
    }
}

/// A piece of a fill pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternPart {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The offset of the block, 8 bytes little-endian (`%o`).
    Offset,
}

/// Which written blocks a saved state expects on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyPolicy {
    /// All writes that completed.
    Completed,
    /// Only writes completed before the last successful fsync.
    Fsynced,
}

/// What is verified, how and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    /// Method; `None` is off.
    pub method: Option<VerifyMethod>,
    /// Read back after writing.
    pub do_verify: bool,
    /// Write nothing, only verify what an earlier run wrote.
    pub verify_only: bool,
    /// A header every this many bytes; 0 is one per block.
    pub interval_bytes: u32,
    /// Where the header lies within its interval, in bytes.
    pub header_offset_bytes: u32,
    /// Pattern of the contents; empty is random.
    pub pattern: Vec<PatternPart>,
    /// The pattern restarts every this many bytes; 0 is the block.
    pub pattern_interval_bytes: u32,
    /// Verify after this many blocks written; 0 is at the end.
    pub backlog: u32,
    /// Blocks verified per batch; 0 is the backlog.
    pub backlog_batch: u32,
    /// Verifying threads; 0 verifies in the worker.
    pub n_threads: u32,
    /// CPUs of the verifying threads; empty is any.
    pub thread_cpus: Vec<u32>,
    /// Stop at the first bad block.
    pub fatal: bool,
    /// Write expected and received block to files.
    pub dump: bool,
    /// Save what was written when a run ends early.
    pub state_save: bool,
    /// Verify only what the saved state says was written.
    pub state_load: bool,
    /// Which writes a state counts as written.
    pub policy: VerifyPolicy,
    /// Check the seed in the header; `None` decides by the workload.
    pub check_header_seed: Option<bool>,
    /// Check the sequence number in the header; `None` decides by the workload.
    pub check_write_sequence: Option<bool>,
    /// Generate the expected order again instead of remembering it.
    pub regenerate: bool,
    /// Trimmed blocks must read as zeros.
    pub trimmed_is_zero: bool,
}

impl Default for Verify {
    fn default() -> Self {
        Verify {
            method: None,
            do_verify: true,
            verify_only: false,
            interval_bytes: 0,
            header_offset_bytes: 0,
            pattern: Vec::new(),
            pattern_interval_bytes: 0,
            backlog: 0,
            backlog_batch: 0,
            n_threads: 0,
            thread_cpus: Vec::new(),
            fatal: false,
            dump: false,
            state_save: true,
            state_load: false,
            policy: VerifyPolicy::Completed,
            check_header_seed: None,
            check_write_sequence: None,
            regenerate: false,
            trimmed_is_zero: true,
        }
    }
}

/// How duplicate blocks are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DedupeMode {
    /// Repeat the block before.
    Repeat,
    /// Draw from a working set of this share of the file, percent.
    WorkingSet {
        /// Size of the set, percent of `size`.
        pct: u8,
        /// One set for all files of the job.
        global: bool,
    },
}

/// How many sets of equal blocks there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetCount {
    /// So many.
    Count(u64),
    /// Percent of all blocks.
    Pct(f64),
}

/// Which duplicates change when they are written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlipFlop {
    /// None: a duplicate is written as it was.
    None,
    /// All: each set has two versions, and a write of a block has the other one than the write
    /// before it. What a worker has not written yet counts as the first.
    All,
    /// Those of hot sets.
    Hot,
}

/// Duplicates by place: each block of a target is always unique, or always of the same set.
#[derive(Clone, Debug, PartialEq)]
pub struct DedupeSets {
    /// Blocks over different blocks once everything is written, at least 1.
    pub ratio: f64,
    /// Bytes of a block, at least 1; blocks lie at multiples of it.
    pub unit_bytes: u32,
    /// Sets of equal blocks.
    pub sets: SetCount,
    /// Duplicates that change.
    pub flip_flop: FlipFlop,
    /// Sets of known size at the target's start: how many, and how many blocks each has.
    pub hot_sets: Vec<(u32, u32)>,
}

/// What write buffers hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffers {
    /// New contents for each write; `None` decides by the other settings.
    pub refill: Option<bool>,
    /// All zeros.
    pub zero: bool,
    /// Change a few bytes per block so that no two are equal.
    pub scramble: bool,
    /// Pattern; empty is random.
    pub pattern: Vec<PatternPart>,
    /// Bytes of the pattern, over and over, of which each write takes a random part; 0: each write
    /// begins where the pattern does.
    pub pattern_source_bytes: u64,
    /// Share that compresses away, percent; `None` is not asked for.
    pub compress_pct: Option<u8>,
    /// Granularity of the compressible mix, bytes.
    pub compress_chunk_bytes: u32,
    /// Written data compresses so many times by common programs, from 1 up; overrides
    /// `compress_pct` and `pattern`.
    pub compress_ratio: Option<f64>,
    /// Duplicates by place; overrides `dedupe_pct` and `pattern`.
    pub dedupe_sets: Option<DedupeSets>,
    /// Share of duplicate blocks, percent.
    pub dedupe_pct: u8,
    /// How duplicates are chosen.
    pub dedupe_mode: DedupeMode,
    /// Memory of the buffers.
    pub memory: Memory,
    /// Extra alignment of the buffers, bytes; 0 is the page.
    pub align_bytes: u32,
    /// Memory to lock away from the page cache, bytes.
    pub lock_memory_bytes: u64,
}

/// Kind of memory for buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Anonymous pages.
    Malloc,
    /// System V shared memory, optionally of huge pages.
    Shm {
        /// Huge pages.
        huge: bool,
    },
    /// Mapped, optionally of huge pages, shared, or backed by a file.
    Mmap {
        /// Huge pages.
        huge: bool,
        /// `MAP_SHARED`.
        shared: bool,
        /// Backing file.
        file: Option<String>,
    },
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            refill: None,
            zero: false,
            scramble: true,
            pattern: Vec::new(),
            pattern_source_bytes: 0,
            compress_pct: None,
            compress_chunk_bytes: 512,
            compress_ratio: None,
            dedupe_sets: None,
            dedupe_pct: 0,
            dedupe_mode: DedupeMode::Repeat,
            memory: Memory::Malloc,
            align_bytes: 0,
            lock_memory_bytes: 0,
        }
    }
}
