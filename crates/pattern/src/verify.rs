//! Proof that what is read is what was written.
//!
//! A [`Verifier`] makes the contents of a block before it is written ([`Verifier::stamp`]) and
//! proves them after it was read ([`Verifier::check`]). The header layouts and checksums are fio's,
//! so that each tool can check the other's blocks. [`WriteLog`] remembers what is to be read back,
//! [`WriteProgress`] and [`VerifyState`] what an interrupted run had written.
//!
//! Nothing here does I/O, reads a clock or allocates per block; failures alone allocate.
//!
//! Tests: `tests/verify.rs` (every method, every flipped bit), `tests/verify_log.rs` (against a
//! plain model), `tests/verify_state.rs`, and `tests/verify_fio.rs` (against fio itself).

mod checks;
mod checksum;
mod contents;
mod header;
mod mismatch;
mod state;
mod write_log;

pub use checks::{Checks, effective_checks};
pub use checksum::{Checksum, checksum};
pub use contents::{fill_random, write_seed};
pub use header::HeaderLayout;
pub use mismatch::{Mismatch, MismatchKind};
pub use plan::verify::BlockFacts;
pub use state::{StateError, VerifyState, WriteFate, WriteProgress, state_file_name};
pub use write_log::{WriteLog, WriteRecord};

use checksum::sha512_scratch;
pub(crate) use contents::Pattern;
use contents::PatternMiss;
use header::{Header, NotAHeader, method_code};
use plan::verify::{Verify, VerifyMethod};

/// Why blocks cannot be verified as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyConfigError {
    /// No method is set.
    #[error("no verify method is set")]
    NoMethod,
    /// The job writes blocks of no bytes.
    #[error("the smallest block has no bytes, so there is nothing to verify")]
    EmptyBlock,
    /// The header does not fit.
    #[error(
        "a verify header of {header_bytes} B at offset {header_offset_bytes} B does not fit in \
         a verify interval of {interval_bytes} B"
    )]
    HeaderTooLarge {
        /// Header with checksum.
        header_bytes: u32,
        /// Where it should lie.
        header_offset_bytes: u32,
        /// What it should lie in.
        interval_bytes: u32,
    },
    /// A pattern method without a pattern.
    #[error("the verify method compares a pattern, but no verify pattern is set")]
    PatternMissing,
}

/// What is known about a write when its block is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WriteFacts {
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Seed of the contents; see [`write_seed`].
    pub seed: u64,
    /// Position among the worker's writes, from 0.
    pub number_io: u64,
    /// Time of the write, whole seconds of any clock. Recorded, never checked.
    pub time_s: u32,
    /// Nanoseconds within that second.
    pub time_ns: u32,
    /// Number of the worker. Recorded, never checked.
    pub worker: u16,
}

/// What a block that was read must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Expected {
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Seed of the last write to the block; `None` does not check it.
    pub seed: Option<u64>,
    /// Number of the last write to the block; `None` does not check it.
    pub number_io: Option<u64>,
}

/// Makes and proves the blocks of one job.
#[derive(Clone, Debug)]
pub struct Verifier {
    method: VerifyMethod,
    layout: HeaderLayout,
    /// `None`: one header per block, whatever its length.
    interval: Option<usize>,
    header_offset: usize,
    pattern: Option<Pattern>,
}

/// One interval of a block that carries a header, taken apart.
struct Parts<'a> {
    /// From the header on.
    header: &'a [u8],
    /// Checksummed contents, in the order of the checksum, each with its position in the interval
    /// before the header was moved.
    data: [(usize, &'a [u8]); 3],
}

impl<'a> Parts<'a> {
    /// Takes apart an interval with a header and checksum of `header_bytes` at `at`.
    ///
    /// A header at an offset changes places with the contents there. fio does the same where the
    /// two do not overlap; where they do it destroys both, so there the contents just move up.
    fn of(chunk: &'a [u8], header_bytes: usize, at: usize) -> Self {
        let (front, header) = chunk.split_at(at);
        let tail = &header[header_bytes..];
        let data = match front.split_at_checked(header_bytes) {
            Some((displaced, kept)) => {
                [(header_bytes, kept), (at, displaced), (at + header_bytes, tail)]
            }
            None => [(header_bytes, front), (0, &[][..]), (header_bytes + at, tail)],
        };
        Parts { header, data }
    }

    fn slices(&self) -> [&'a [u8]; 3] {
        self.data.map(|(_, part)| part)
    }
}

impl Verifier {
    /// Builds the verifier of a job.
    pub fn new(verify: &Verify, blocks: BlockFacts) -> Result<Self, VerifyConfigError> {
        let method = verify.method.ok_or(VerifyConfigError::NoMethod)?;
        let interval_bytes = blocks.interval_bytes(verify.interval_bytes);
        if interval_bytes == 0 {
            return Err(VerifyConfigError::EmptyBlock);
        }
        let pattern = Pattern::new(&verify.pattern, verify.pattern_interval_bytes);
        let needs_pattern = matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHeader);
        if needs_pattern && pattern.is_none() {
            return Err(VerifyConfigError::PatternMissing);
        }
        let layout = HeaderLayout::default();
        let verifier = Verifier {
            method,
            layout,
            interval: (!blocks.unaligned).then_some(interval_bytes as usize),
            header_offset: verify.header_offset_bytes as usize,
            pattern,
        };
        let header_bytes = layout.stored_bytes(method);
        if header_bytes > 0 && !verifier.has_room(interval_bytes as usize, header_bytes) {
            return Err(VerifyConfigError::HeaderTooLarge {
                header_bytes: header_bytes as u32,
                header_offset_bytes: verify.header_offset_bytes,
                interval_bytes,
            });
        }
        Ok(verifier)
    }

    /// Writes headers in another layout, for blocks that an older fio is to check.
    #[must_use]
    pub fn with_layout(self, layout: HeaderLayout) -> Self {
        Verifier { layout, ..self }
    }

    /// Makes the contents of a block and its headers. See [`Verifier::fill`] and
    /// [`Verifier::seal`].
    pub fn stamp(&self, block: &mut [u8], facts: &WriteFacts) {
        self.fill(block, facts);
        self.seal(block, facts);
    }

    /// Fills a block with what its headers are made from: the pattern, or random bytes.
    ///
    /// The method that checks nothing leaves the block as it is.
    pub fn fill(&self, block: &mut [u8], facts: &WriteFacts) {
        match (&self.pattern, self.method) {
            (_, VerifyMethod::Null) => {}
            (Some(pattern), _) => pattern.fill(block, facts.offset),
            (None, _) => fill_random(facts.seed, block),
        }
    }

    /// Writes the headers into a block whose contents are made.
    ///
    /// Contents may come from elsewhere, such as a generator of compressible bytes, unless the
    /// method compares the pattern. A rest of the block that is too short for a header gets none,
    /// and is not checked.
    pub fn seal(&self, block: &mut [u8], facts: &WriteFacts) {
        let header_bytes = self.layout.stored_bytes(self.method);
        if header_bytes == 0 {
            return;
        }
        let interval = self.interval_of(block.len());
        for (idx, chunk) in block.chunks_mut(interval).enumerate() {
            if self.has_room(chunk.len(), header_bytes) {
                let offset = facts.offset.wrapping_add((idx * interval) as u64);
                self.seal_interval(chunk, header_bytes, &WriteFacts { offset, ..*facts });
            }
        }
    }

    fn seal_interval(&self, chunk: &mut [u8], header_bytes: usize, facts: &WriteFacts) {
        let header = Header {
            layout: self.layout,
            method_code: method_code(self.method),
            interval_bytes: chunk.len() as u32,
            seed: facts.seed,
            offset: facts.offset,
            time_s: facts.time_s,
            time_ns: facts.time_ns,
            number_io: facts.number_io,
            worker: facts.worker,
            crc: 0,
        };
        let sum = checksum(self.method, &[&chunk[header_bytes..]]);
        let at = self.header_offset;
        if at >= header_bytes {
            chunk.copy_within(at..at + header_bytes, 0);
        } else {
            chunk.copy_within(header_bytes..header_bytes + at, 0);
        }
        let (head, tail) = chunk[at..at + header_bytes].split_at_mut(self.layout.header_bytes());
        head.copy_from_slice(&header.to_bytes()[..head.len()]);
        tail.copy_from_slice(sum.as_bytes());
    }

    /// Checks a block that was read.
    ///
    /// Blocks are checked by the configured method; headers of both layouts are accepted. The
    /// first interval that fails is reported.
    pub fn check(&self, block: &[u8], expected: &Expected) -> Result<(), Box<Mismatch>> {
        if self.method == VerifyMethod::Null {
            return Ok(());
        }
        if self.method == VerifyMethod::Pattern {
            let whole = (expected.offset, block.len());
            return self
                .check_pattern(&[(0, block)], 0, expected.offset)
                .map_err(|kind| mismatch(kind, whole, expected.offset, block.len()));
        }
        let interval = self.interval_of(block.len());
        for (idx, chunk) in block.chunks(interval).enumerate() {
            let start = idx * interval;
            let at_offset = expected.offset.wrapping_add(start as u64);
            self.check_interval(chunk, start, expected).map_err(|kind| {
                mismatch(kind, (at_offset, chunk.len()), expected.offset, block.len())
            })?;
        }
        Ok(())
    }

    /// Checks that a trimmed block reads as zeros.
    pub fn check_trimmed(block: &[u8], offset: u64) -> Result<(), Box<Mismatch>> {
        let (words, rest) = block.as_chunks::<64>();
        let dirty = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all | byte) != 0;
        if !words.iter().any(|word| dirty(word)) && !dirty(rest) {
            return Ok(());
        }
        let at = block.iter().position(|&byte| byte != 0).unwrap_or(0) as u32;
        let kind = MismatchKind::NotZero { at };
        Err(mismatch(kind, (offset, block.len()), offset, block.len()))
    }

    /// Returns the expected bytes of the interval that failed, for a dump beside the received ones.
    ///
    /// `block` is the whole block as read. Facts come from its header as far as it can be read, as
    /// in fio; where nothing is known of the write they are zero. Contents that did not come from
    /// [`Verifier::fill`] cannot be made again.
    pub fn expected_interval(
        &self,
        block: &[u8],
        failed: &Mismatch,
        expected: &Expected,
    ) -> Vec<u8> {
        let start = failed.at_offset.saturating_sub(failed.request_offset) as usize;
        let received = block.get(start..).unwrap_or_default();
        let header = received.get(self.header_offset..).map(Header::parse);
        let read = header.and_then(Result::ok).filter(|_| !failed.is_in_header());
        let facts = WriteFacts {
            offset: expected.offset,
            seed: expected.seed.or(read.map(|header| header.seed)).unwrap_or(0),
            number_io: expected.number_io.or(read.map(|header| header.number_io)).unwrap_or(0),
            time_s: read.map_or(0, |header| header.time_s),
            time_ns: read.map_or(0, |header| header.time_ns),
            worker: read.map_or(0, |header| header.worker),
        };
        let layout = read.map_or(self.layout, |header| header.layout);
        let mut whole = vec![0; block.len()];
        if !matches!(failed.kind, MismatchKind::NotZero { .. }) {
            self.clone().with_layout(layout).stamp(&mut whole, &facts);
        }
        whole.truncate(start.saturating_add(failed.len as usize));
        whole.split_off(start.min(whole.len()))
    }

    fn interval_of(&self, block_bytes: usize) -> usize {
        self.interval.unwrap_or(block_bytes).min(block_bytes).max(1)
    }

    /// Returns whether a header and at least one byte of contents fit.
    fn has_room(&self, interval_bytes: usize, header_bytes: usize) -> bool {
        interval_bytes > header_bytes && interval_bytes - header_bytes >= self.header_offset
    }

    fn check_interval(
        &self,
        chunk: &[u8],
        start: usize,
        expected: &Expected,
    ) -> Result<(), MismatchKind> {
        if !self.has_room(chunk.len(), self.layout.stored_bytes(self.method)) {
            return Ok(());
        }
        let header = Header::parse(&chunk[self.header_offset..]).map_err(|fault| match fault {
            NotAHeader::Magic(got) => MismatchKind::Magic { got },
            NotAHeader::Version(got) => MismatchKind::Version { got },
            NotAHeader::Short => MismatchKind::Short,
        })?;
        let header_bytes = header.layout.stored_bytes(self.method);
        if !self.has_room(chunk.len(), header_bytes) {
            return Err(MismatchKind::Short);
        }
        let parts = Parts::of(chunk, header_bytes, self.header_offset);
        check_header(&header, parts.header, chunk.len(), start, expected)?;
        match self.method {
            VerifyMethod::Meta | VerifyMethod::PatternHeader => {
                self.check_pattern(&parts.data, start, expected.offset)
            }
            method => check_sum(method, &header, &parts),
        }
    }

    fn check_pattern(
        &self,
        data: &[(usize, &[u8])],
        start: usize,
        offset: u64,
    ) -> Result<(), MismatchKind> {
        let Some(pattern) = &self.pattern else { return Ok(()) };
        for (position, part) in data {
            pattern.compare(part, start + position, offset).map_err(
                |PatternMiss { at, got, want }| MismatchKind::Pattern {
                    got,
                    want,
                    at: (position + at) as u32,
                },
            )?;
        }
        Ok(())
    }
}

#[expect(clippy::unnecessary_box_returns, reason = "every caller returns it boxed")]
fn mismatch(
    kind: MismatchKind,
    (at_offset, len): (u64, usize),
    request_offset: u64,
    request_len: usize,
) -> Box<Mismatch> {
    let (len, request_len) = (len as u32, request_len as u32);
    Box::new(Mismatch { kind, at_offset, len, request_offset, request_len })
}

fn check_header(
    header: &Header,
    stored: &[u8],
    interval_bytes: usize,
    start: usize,
    expected: &Expected,
) -> Result<(), MismatchKind> {
    if header.interval_bytes as usize != interval_bytes {
        return Err(MismatchKind::Length { got: header.interval_bytes });
    }
    if let Some(want) = expected.seed
        && header.seed != want
    {
        return Err(MismatchKind::Seed { got: header.seed, want });
    }
    let want = expected.offset.wrapping_add(start as u64);
    if header.offset != want {
        return Err(MismatchKind::Offset { got: header.offset, want });
    }
    let want = expected.number_io.map(|number_io| header.layout.sequence(number_io));
    if let Some(want) = want
        && header.number_io != want
    {
        return Err(MismatchKind::Sequence { got: header.number_io, want });
    }
    let want = Header::crc_of(header.layout, stored);
    if header.crc != want {
        return Err(MismatchKind::HeaderCrc { got: header.crc, want });
    }
    Ok(())
}

fn check_sum(method: VerifyMethod, header: &Header, parts: &Parts<'_>) -> Result<(), MismatchKind> {
    let slices = parts.slices();
    let got = checksum(method, &slices);
    let want = &parts.header[header.layout.header_bytes()..header.layout.stored_bytes(method)];
    if got.as_bytes() == want {
        return Ok(());
    }
    let is_old_sha512 = method == VerifyMethod::Sha512 && header.layout == HeaderLayout::Compact;
    if is_old_sha512 && sha512_scratch(&slices).is_some_and(|old| old.as_bytes() == want) {
        return Ok(());
    }
    // fio has two numbers for CRC-32C.
    let code = method_code(method);
    let same = header.method_code == code || (code == 5 && header.method_code == 6);
    Err(MismatchKind::Checksum {
        method,
        got: Box::new(got),
        want: Box::new(Checksum::of(want)),
        methods: (!same).then_some((header.method_code, code)),
    })
}
