//! Reads the targets of a journal, and says what became of each block.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use pattern::journal::frame::Body;
use pattern::journal::judge::ExpectedBlock;
use pattern::journal::{
    BlockMap, BlockState, ChangeKind, Judged, Sector, SectorContent, Target, Verdict, judge,
    read_sector,
};

use super::replayed::{JournalError, Replayed, replay};
use crate::control::{Control, Stop};

/// Bytes that are read at once, or a block where that is longer.
const READ_BYTES: u64 = 1 << 20;

/// Memory is aligned to this for direct I/O: no device has longer blocks.
const ALIGN_BYTES: usize = 4096;

/// Blocks that are described one by one. Each takes some 100 bytes.
const FINDINGS_MAX: usize = 1_000_000;

/// What `plimsoll verify` is asked besides its journal.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Path prefixes of targets, and what is in their place now.
    pub remap: Vec<(String, String)>,
}

/// What a journal and its targets say.
#[derive(Debug, Default)]
pub struct Verification {
    /// Runs that wrote, in order.
    pub runs: Vec<u64>,
    /// Targets in order.
    pub targets: Vec<TargetVerification>,
    /// Blocks that are not plainly new: lost, torn, and those that were in flight; in order.
    pub findings: Vec<BlockFinding>,
    /// Such blocks that there was no memory to describe.
    pub n_left_out: u64,
    /// Bytes at the end of the journal that are no whole entry, as a crash leaves them.
    pub torn_bytes: u64,
    /// It was stopped before all was read.
    pub is_partial: bool,
}

/// What became of the blocks of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetVerification {
    /// Where it was looked for.
    pub path: PathBuf,
    /// Bytes of a block.
    pub block_bytes: u32,
    /// Blocks that were written, or being written.
    pub n_known: u64,
    /// As they were written last.
    pub n_new: u64,
    /// Of those that were in flight: not written.
    pub n_old: u64,
    /// What was acknowledged is not there.
    pub n_lost: u64,
    /// Parts of different writes.
    pub n_torn: u64,
    /// Of a write that was in flight there are parts, which breaks no promise. Not among `n_torn`.
    pub n_torn_in_flight: u64,
    /// Cannot be read.
    pub n_unreadable: u64,
    /// Why, of the first.
    pub error: Option<String>,
}

/// A block that is not plainly new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFinding {
    /// Position of its target.
    pub target: u32,
    /// Its first byte.
    pub offset: u64,
    /// What must be there.
    pub state: BlockState,
    /// What it is.
    pub judged: Judged,
    /// When what must be there was written.
    pub last: Option<LastWrite>,
}

/// When a block was written last, as its journal says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastWrite {
    /// The run.
    pub run: u64,
    /// When it was acknowledged, or, where it was not, begun; microseconds since 1970.
    pub time_us: u64,
    /// It was that or earlier: the journal was written anew since.
    pub is_latest: bool,
}

impl Verification {
    /// Returns whether all that was acknowledged is there.
    pub fn is_good(&self) -> bool {
        self.targets.iter().all(|it| it.n_lost + it.n_torn + it.n_unreadable == 0)
    }

    /// Returns how many blocks were judged, and how many of them are lost, torn or unreadable.
    pub fn counts(&self) -> (u64, u64) {
        let n_known = self.targets.iter().map(|it| it.n_known).sum();
        (n_known, self.targets.iter().map(|it| it.n_lost + it.n_torn + it.n_unreadable).sum())
    }

    /// Describes the first blocks that are lost or torn, a line each.
    pub fn bad_lines(&self, n_max: usize) -> Vec<String> {
        let bad = self.findings.iter().filter(|it| it.judged.is_bad()).take(n_max);
        let line = |it: &BlockFinding| {
            let path = self.targets.get(it.target as usize).map(|it| it.path.display().to_string());
            block_line(&path.unwrap_or_default(), it.offset, it.state, &it.judged)
        };
        bad.map(line).collect()
    }

    /// Returns how many blocks could not be read.
    pub fn n_unreadable(&self) -> u64 {
        self.targets.iter().map(|it| it.n_unreadable).sum()
    }
}

/// Says what became of the blocks that a journal knows of. `control` ends it early.
///
/// # Errors
/// When the journal says nothing. What cannot be read of targets is a result.
pub fn verify_journal(
    path: &Path,
    options: &VerifyOptions,
    control: &Control,
) -> Result<Verification, JournalError> {
    let replayed = replay(path, &mut |_| {})?;
    let mut found = verify(&replayed, options, control);
    note_last_writes(path, &replayed, &mut found.findings)?;
    Ok(found)
}

/// Settles what was in flight when a journal ended, by what is there. What cannot be read, or is
/// there in part, stays unsure until it is written again.
///
/// # Errors
/// A block that is not as it must be, in words.
pub(super) fn settle(replayed: &mut Replayed) -> Result<(), String> {
    let Replayed { header, maps, .. } = replayed;
    for (number, (target, map)) in (0..).zip(header.targets.iter().zip(maps)) {
        let pending = map.pending();
        let path = Path::new(&target.path);
        if pending.is_empty() {
            continue;
        }
        let mut files = match Files::open(path) {
            Ok(files) => files,
            Err(error) if is_gone(target, &error) => Files::gone(),
            Err(_) => continue,
        };
        let mut memory = vec![0; target.block_bytes as usize + ALIGN_BYTES];
        let skip = memory.as_ptr().align_offset(ALIGN_BYTES).min(ALIGN_BYTES);
        let bytes = &mut memory[skip..skip + target.block_bytes as usize];
        for (block, _) in pending {
            let offset = block * u64::from(target.block_bytes);
            if files.read(bytes, offset).is_err() {
                continue;
            }
            let state = map.state(block);
            let place = ExpectedBlock { target: number, offset, state };
            let judged = judge(bytes, &place, &|run| header.runs.contains(&run));
            match judged.verdict {
                Verdict::New => {
                    if let Sector::Stamped(stamp, _) = read_sector(bytes) {
                        map.settled(block, stamp.generation);
                    }
                }
                Verdict::Old => map.settled(block, state.written),
                Verdict::Torn if !judged.is_bad() => {}
                Verdict::Lost | Verdict::Torn => {
                    return Err(block_line(&target.path, offset, state, &judged));
                }
            }
        }
    }
    Ok(())
}

/// Does the same with a journal that was read.
pub(super) fn verify(
    replayed: &Replayed,
    options: &VerifyOptions,
    control: &Control,
) -> Verification {
    let Replayed { header, maps, torn_bytes, .. } = replayed;
    let mut found = Verification {
        runs: header.runs.clone(),
        torn_bytes: *torn_bytes,
        ..Verification::default()
    };
    for (number, (target, map)) in (0..).zip(header.targets.iter().zip(maps)) {
        let path = remapped(&target.path, &options.remap);
        let mut reader = Reader {
            target: (number, target),
            map,
            runs: &header.runs,
            result: TargetVerification {
                path,
                block_bytes: target.block_bytes,
                ..TargetVerification::default()
            },
            findings: &mut found.findings,
            n_left_out: 0,
        };
        found.is_partial |= !reader.read(control);
        let (result, n_left_out) = (reader.result, reader.n_left_out);
        found.n_left_out += n_left_out;
        found.targets.push(result);
    }
    found
}

fn remapped(path: &str, remap: &[(String, String)]) -> PathBuf {
    let prefixes = remap.iter().filter_map(|(from, to)| Some((path.strip_prefix(from)?, to)));
    let whole = prefixes.into_iter().find(|(rest, _)| rest.is_empty() || rest.starts_with('/'));
    whole.map_or_else(|| path.into(), |(rest, to)| format!("{to}{rest}").into())
}

/// Reads one target.
struct Reader<'a> {
    target: (u32, &'a Target),
    map: &'a BlockMap,
    runs: &'a [u64],
    result: TargetVerification,
    findings: &'a mut Vec<BlockFinding>,
    n_left_out: u64,
}

impl Reader<'_> {
    /// Reads all that is known; says whether it came to the end.
    fn read(&mut self, control: &Control) -> bool {
        let known = self.map.known();
        self.result.n_known = known.iter().map(|(first, end)| end - first).sum();
        if known.is_empty() {
            return true;
        }
        let mut files = match Files::open(&self.result.path) {
            Ok(files) => files,
            // All that was acknowledged is lost.
            Err(error) if is_gone(self.target.1, &error) => {
                self.result.error = Some(units::system_text(&error));
                Files::gone()
            }
            Err(error) => {
                self.result.n_unreadable = self.result.n_known;
                self.result.error = Some(units::system_text(&error));
                return true;
            }
        };
        let unit = u64::from(self.target.1.block_bytes);
        let n_at_once = (READ_BYTES / unit).max(1);
        let mut memory = vec![0; (n_at_once * unit) as usize + ALIGN_BYTES];
        let skip = memory.as_ptr().align_offset(ALIGN_BYTES).min(ALIGN_BYTES);
        for (first, end) in known {
            let mut block = first;
            while block < end {
                if control.stop() != Stop::No {
                    return false;
                }
                let n_blocks = n_at_once.min(end - block);
                let bytes = &mut memory[skip..skip + (n_blocks * unit) as usize];
                self.read_blocks(&mut files, block, bytes);
                block += n_blocks;
            }
        }
        // A file that was not there yet is no error.
        if self.result.n_unreadable + self.result.n_lost == 0 {
            self.result.error = None;
        }
        true
    }

    fn read_blocks(&mut self, files: &mut Files, first: u64, bytes: &mut [u8]) {
        let unit = self.target.1.block_bytes as usize;
        if let Err(error) = files.read(bytes, first * unit as u64) {
            let n_blocks = bytes.len() / unit;
            if n_blocks > 1 {
                // One of them may be bad.
                for (block, bytes) in (first..).zip(bytes.chunks_exact_mut(unit)) {
                    self.read_blocks(files, block, bytes);
                }
                return;
            }
            self.result.n_unreadable += 1;
            self.result.error.get_or_insert_with(|| {
                let text = units::system_text(&error);
                format!("at offset {}: {text}", first * unit as u64)
            });
            return;
        }
        for (block, bytes) in (first..).zip(bytes.chunks_exact(unit)) {
            self.judge(block, bytes);
        }
    }

    fn judge(&mut self, block: u64, bytes: &[u8]) {
        let (number, target) = self.target;
        let offset = block * u64::from(target.block_bytes);
        let state = self.map.state(block);
        let place = ExpectedBlock { target: number, offset, state };
        let judged = judge(bytes, &place, &|run| self.runs.contains(&run));
        let result = &mut self.result;
        *match judged.verdict {
            Verdict::New => &mut result.n_new,
            Verdict::Old => &mut result.n_old,
            Verdict::Lost => &mut result.n_lost,
            Verdict::Torn if judged.is_bad() => &mut result.n_torn,
            Verdict::Torn => &mut result.n_torn_in_flight,
        } += 1;
        if judged.verdict == Verdict::New && state.pending.is_none() {
            return;
        }
        if self.findings.len() == FINDINGS_MAX {
            self.n_left_out += 1;
            return;
        }
        self.findings.push(BlockFinding { target: number, offset, state, judged, last: None });
    }
}

/// A target, open past the page cache where that can be, and through it.
struct Files {
    direct: Option<File>,
    /// None where there is no such file.
    cached: Option<File>,
}

/// Returns whether an error is that of a file of a tree that is not there.
fn is_gone(target: &Target, error: &io::Error) -> bool {
    target.is_of_tree && error.kind() == io::ErrorKind::NotFound
}

impl Files {
    fn open(path: &Path) -> io::Result<Self> {
        let cached = File::open(path)?;
        let direct = File::options().read(true).custom_flags(libc::O_DIRECT).open(path).ok();
        Ok(Files { direct, cached: Some(cached) })
    }

    fn gone() -> Self {
        Files { direct: None, cached: None }
    }

    /// Fills `bytes`. What is behind the end of the file is zeros.
    fn read(&mut self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        if let Some(direct) = &self.direct {
            match read_whole(direct, bytes, offset) {
                // Its blocks are longer than ours.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.direct = None,
                read => return read,
            }
        }
        let Some(cached) = &self.cached else {
            bytes.fill(0);
            return Ok(());
        };
        read_whole(cached, bytes, offset)
    }
}

fn read_whole(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.read_at(bytes, offset) {
            Ok(0) => bytes.fill(0),
            Ok(n) => {
                bytes = &mut bytes[n..];
                offset += n as u64;
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        return Ok(());
    }
    Ok(())
}

/// Notes when what must be in the blocks was written: reads the journal once more, instead of
/// keeping that of every block.
fn note_last_writes(
    path: &Path,
    replayed: &Replayed,
    findings: &mut [BlockFinding],
) -> Result<(), JournalError> {
    let mut wanted: HashMap<(u32, u64), usize> = HashMap::new();
    for (idx, finding) in findings.iter_mut().enumerate() {
        let target = replayed.header.targets.get(finding.target as usize);
        let block = target.map_or(0, |it| finding.offset / u64::from(it.block_bytes));
        wanted.insert((finding.target, block), idx);
        let run = replayed.header.runs.last().copied().unwrap_or(0);
        finding.last = Some(LastWrite { run, time_us: replayed.since_us, is_latest: true });
    }
    if wanted.is_empty() {
        return Ok(());
    }
    replay(path, &mut |frame| {
        let Body::Changes(changes) = &frame.body else { return };
        for change in changes {
            for block in change.first..change.first + u64::from(change.n_blocks) {
                let Some(idx) = wanted.get(&(change.target, block)) else { continue };
                let Some(finding) = findings.get_mut(*idx) else { continue };
                let is_of = change.kind == ChangeKind::Written || finding.state.written == 0;
                if is_of {
                    let (run, time_us) = (frame.run, frame.time_us);
                    finding.last = Some(LastWrite { run, time_us, is_latest: false });
                }
            }
        }
    })?;
    Ok(())
}

/// Describes a block that is not as it must be.
pub(super) fn block_line(path: &str, offset: u64, state: BlockState, judged: &Judged) -> String {
    let (verdict, written) = (judged.verdict.word(), state.written);
    let found = judged.found.map_or_else(String::new, |(sector, found)| {
        let at = match found {
            SectorContent::Damaged => format!("sector {sector}: "),
            SectorContent::Written(_) | SectorContent::Misplaced(..) | SectorContent::Plain => {
                String::new()
            }
        };
        format!(", found {at}{}", found_words(&found))
    });
    format!(
        "`{path}`: the block at offset {offset} is {verdict}: expected generation {written}{found}"
    )
}

/// Says what a block holds.
fn found_words(found: &SectorContent) -> String {
    match found {
        SectorContent::Written(stamp) => format!("generation {}", stamp.generation),
        SectorContent::Misplaced(stamp, offset) => format!(
            "generation {} of offset {offset} of target {} of run {:016x}",
            stamp.generation, stamp.target, stamp.run
        ),
        SectorContent::Plain => "nothing that was written with a journal".to_owned(),
        SectorContent::Damaged => "part of a write".to_owned(),
    }
}
