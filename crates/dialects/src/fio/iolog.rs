//! Records of I/O (`write_iolog`, `read_iolog`): one operation per line.
//!
//! Read: versions 2 and 3. Written: version 3, `MICROSECONDS FILE ACTION [OFFSET LENGTH]`, with the
//! time since the start of the worker. A replay counts from the time of the first line, as with
//! fio. Format from fio's manual ("Trace file format v2", "v3") and files of fio 3.33. In version 2
//! a `wait` counts as the manual says, in microseconds.

use std::collections::HashMap;
use std::fmt::{self, Write};

use plan::Direction;
use plan::op::{OpClass, OpKind, SyncScope};
use plan::replay::{RecordedFile, RecordedOp, Recording};
use plan::report::Replay;

/// First line of a record as it is written.
pub const HEADER: &str = "fio version 3 iolog\n";

/// Longest line that is read, in bytes: the longest path of Linux (4 KiB), and room for numbers.
pub const LINE_BYTES_MAX: usize = 8 << 10;

/// Most memory that one record takes: 134 million lines. One from a pipe may have no end.
pub const MEMORY_BYTES_MAX: u64 = 4 << 30;

/// What a line is counted as, whatever it says: its operation.
const LINE_BYTES: u64 = size_of::<RecordedOp>() as u64;

/// What a file is counted as, without its name, which is kept twice.
const FILE_BYTES: u64 = 128;

/// Waits shorter than this are left out, in microseconds (version 2).
const WAIT_US_MIN: u64 = 100;

/// First bytes of a binary trace of the block layer, without its version, as one number. From
/// `blktrace_api.h` of the Linux kernel.
const BLOCK_TRACE_MAGIC: u32 = 0x6561_7400;

/// Why a record cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IologError {
    /// It does not start as a record of a known version does.
    #[error("it does not start with `fio version 2 iolog` or `fio version 3 iolog`")]
    NotARecord,
    /// It is of the version that fio gave up, too.
    #[error("it is a record of version 1, which is not read; expected version 2 or 3")]
    Version1,
    /// It is what `blktrace` writes.
    #[error("it is a binary trace of `blktrace`; these are supported later")]
    BlockTrace,
    /// A line means nothing.
    #[error("line {line} {reason}")]
    Line {
        /// Line, from 1.
        line: u64,
        /// What is wrong with it, and what was expected.
        reason: &'static str,
    },
    /// Nothing is left to do.
    #[error("it holds no operation to replay")]
    Empty,
    /// It has no end, or one that is too far away.
    #[error(
        "line {line} is beyond the {} of memory that a record may take: {} B for each line, {} B \
         and its name twice for each file",
        units::format_bytes(*.bytes_max),
        LINE_BYTES,
        FILE_BYTES
    )]
    TooLarge {
        /// Line, from 1.
        line: u64,
        /// Most memory for the record.
        bytes_max: u64,
    },
}

/// Reads a record that is in memory.
///
/// # Errors
/// When the text is no record, a line is none of one, or no operation is left to replay.
pub fn parse(text: &str, replay: &Replay) -> Result<Recording, IologError> {
    let mut reader = Reader::new(replay);
    for line in text.split_inclusive('\n') {
        reader.line(line.as_bytes())?;
    }
    reader.finish()
}

/// A record on its way in, line by line: the text itself is not kept.
#[derive(Debug)]
pub struct Reader<'a> {
    replay: &'a Replay,
    /// `None` before the first line.
    version: Option<Version>,
    n_lines: u64,
    /// Memory that its files take.
    files_bytes: u64,
    /// Most memory for all.
    bytes_max: u64,
    recording: Recording,
    files: HashMap<String, u32>,
    /// Recorded time of the last line.
    last_us: Option<u64>,
    /// Time since the first line, as replayed.
    due_ns: u64,
}

impl<'a> Reader<'a> {
    /// Starts to read a record.
    pub fn new(replay: &'a Replay) -> Self {
        Reader {
            replay,
            version: None,
            n_lines: 0,
            files_bytes: 0,
            bytes_max: MEMORY_BYTES_MAX,
            recording: Recording::default(),
            files: HashMap::new(),
            last_us: None,
            due_ns: 0,
        }
    }

    /// Takes the next line with its end, or the first [`LINE_BYTES_MAX`] of it.
    ///
    /// A line without an end is left out: the writer was stopped within it.
    ///
    /// # Errors
    /// When the first line is not that of a record, or another one none of a record; when the
    /// record takes too much memory.
    pub fn line(&mut self, bytes: &[u8]) -> Result<(), IologError> {
        self.n_lines += 1;
        let Some(version) = self.version else {
            self.version = Some(Version::of_line(bytes)?);
            return Ok(());
        };
        if self.n_lines * LINE_BYTES + self.files_bytes > self.bytes_max {
            return Err(IologError::TooLarge { line: self.n_lines, bytes_max: self.bytes_max });
        }
        let at = |reason| IologError::Line { line: self.n_lines, reason };
        if bytes.len() >= LINE_BYTES_MAX {
            return Err(at("is longer than 8 KiB"));
        }
        if !bytes.ends_with(b"\n") {
            return Ok(());
        }
        let Some(line) = parse_line(version, bytes).map_err(at)? else { return Ok(()) };
        self.take(&line).map_err(|reason| IologError::Line { line: self.n_lines, reason })
    }

    /// Returns what was recorded.
    ///
    /// # Errors
    /// When there was no first line, or no operation is left to replay.
    pub fn finish(self) -> Result<Recording, IologError> {
        match self.version {
            None => Err(IologError::NotARecord),
            Some(_) if self.recording.ops.is_empty() => Err(IologError::Empty),
            Some(_) => Ok(self.recording),
        }
    }

    fn take(&mut self, line: &Line<'_>) -> Result<(), &'static str> {
        // A name that is not text would become another file.
        let file = str::from_utf8(line.file).map_err(|_| "is not text in UTF-8")?;
        if let Some(at_us) = line.at_us {
            let passed_us = self.last_us.map_or(0, |last_us| at_us.saturating_sub(last_us));
            self.last_us = Some(at_us);
            self.pass_us(passed_us);
        }
        match line.action {
            Action::File(_) => {}
            Action::Wait { us } => self.pass_us(if us < WAIT_US_MIN { 0 } else { us }),
            Action::Io { kind, offset, len } => {
                let len = u32::try_from(len).map_err(|_| "is 4 GiB long or more; expected less")?;
                self.add(file, kind, offset, len);
            }
        }
        Ok(())
    }

    fn pass_us(&mut self, us: u64) {
        if !self.replay.no_stall {
            let percent = u128::from(self.replay.time_scale_pct.max(1));
            let ns = u128::from(us) * 1000 * 100 / percent;
            self.due_ns = self.due_ns.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX));
        }
    }

    fn add(&mut self, file: &str, kind: OpKind, offset: u64, len: u32) {
        let skip = match kind.class() {
            OpClass::Bytes(Direction::Read) => self.replay.skip[0],
            OpClass::Bytes(Direction::Write) => self.replay.skip[1],
            OpClass::Bytes(Direction::Trim) => self.replay.skip[2],
            OpClass::Sync(_) | OpClass::File => self.replay.skip[3],
        };
        if skip || (len == 0 && !kind.is_sync()) {
            return;
        }
        let name = self.replay.redirect.as_deref().unwrap_or(file);
        let files = &mut self.recording.files;
        let files_bytes = &mut self.files_bytes;
        let file_idx = *self.files.entry(name.to_owned()).or_insert_with(|| {
            *files_bytes += FILE_BYTES + 2 * name.len() as u64;
            files.push(RecordedFile { name: name.to_owned(), size_bytes: 0 });
            files.len() as u32 - 1
        });
        let mut offset = offset / u64::from(self.replay.scale.max(1));
        let align = u64::from(self.replay.align_bytes.max(1));
        offset -= offset % align;
        let len = if kind.is_sync() { 0 } else { len };
        let due_ns = self.due_ns;
        let file = &mut self.recording.files[file_idx as usize];
        file.size_bytes = file.size_bytes.max(offset.saturating_add(u64::from(len)));
        self.recording.ops.push(RecordedOp { due_ns, offset, len, file_idx, kind });
    }
}

const NO_TIME: &str = "starts with no time; expected microseconds, then file and action";
const NO_FILE: &str = "names no file; expected file, action, offset and length";
const NO_ACTION: &str = "names no action; expected file, action, offset and length";
const NO_WAIT: &str = "gives no time to wait; expected microseconds";
const UNKNOWN_ACTION: &str = "names an unknown action; expected add, open, close, read, write, \
                              trim, sync, datasync or (version 2) wait";

/// What a record is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Lines have no times; some say how long to wait.
    Two,
    /// Lines begin with their times.
    Three,
}

impl Version {
    /// Determines the version of a record from its first line.
    ///
    /// # Errors
    /// Where it is not that of a record that is read.
    pub fn of_line(bytes: &[u8]) -> Result<Version, IologError> {
        if let Some(&first) = bytes.first_chunk::<4>() {
            let is_magic = |word: u32| word & !0xff == BLOCK_TRACE_MAGIC;
            if is_magic(u32::from_le_bytes(first)) || is_magic(u32::from_be_bytes(first)) {
                return Err(IologError::BlockTrace);
            }
        }
        let text = str::from_utf8(bytes).map_err(|_| IologError::NotARecord)?.trim();
        let is_first = text.starts_with("fio version 1 ") || is_version_1(text);
        match text {
            "fio version 2 iolog" => Ok(Version::Two),
            "fio version 3 iolog" => Ok(Version::Three),
            _ if is_first => Err(IologError::Version1),
            _ => Err(IologError::NotARecord),
        }
    }
}

/// A line of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// When, in microseconds since the start of the worker; none in version 2.
    pub at_us: Option<u64>,
    /// The file's name.
    pub file: &'a [u8],
    /// What was done.
    pub action: Action,
}

/// What a line says that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Something happened to the whole file.
    File(FileAction),
    /// So long nothing was done (version 2).
    Wait {
        /// Microseconds.
        us: u64,
    },
    /// An operation: read, write, trim, fsync or fdatasync.
    Io {
        /// Which.
        kind: OpKind,
        /// Where, in bytes.
        offset: u64,
        /// How much, in bytes.
        len: u64,
    },
}

/// Reads a line after the first. `None` is one that says nothing: workers that share a record, and
/// runs that were added to it, start it anew.
///
/// # Errors
/// With what is wrong, and what was expected.
pub fn parse_line(version: Version, bytes: &[u8]) -> Result<Option<Line<'_>>, &'static str> {
    let mut words = bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return Ok(None) };
    let (at_us, file) = match version {
        _ if first == b"fio" && words.clone().next() == Some(b"version") => return Ok(None),
        Version::Two => (None, first),
        Version::Three => (Some(number(Some(first), NO_TIME)?), words.next().ok_or(NO_FILE)?),
    };
    let action = match (words.next().ok_or(NO_ACTION)?, version) {
        (b"add", _) => Action::File(FileAction::Add),
        (b"open", _) => Action::File(FileAction::Open),
        (b"close", _) => Action::File(FileAction::Close),
        (b"wait", Version::Two) => Action::Wait { us: number(words.next(), NO_WAIT)? },
        (b"wait", Version::Three) => {
            return Err("waits, which version 3 does not know: its lines have times");
        }
        (word, _) => {
            let kind = match word {
                b"read" => OpKind::Read,
                b"write" => OpKind::Write,
                b"trim" => OpKind::Trim,
                b"sync" => OpKind::Fsync,
                b"datasync" => OpKind::Fdatasync,
                _ => return Err(UNKNOWN_ACTION),
            };
            let offset = number(words.next(), "gives no offset; expected a number of bytes")?;
            let len = number(words.next(), "gives no length; expected a number of bytes")?;
            Action::Io { kind, offset, len }
        }
    };
    Ok(Some(Line { at_us, file, action }))
}

/// Version 1 had no first line of its own: direction, offset and length from the start.
fn is_version_1(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
    let is_number = |word: &str| word.parse::<u64>().is_ok();
    matches!(words[..], [dir, offset, len]
        if (is_number(dir) || dir == "read" || dir == "write")
            && is_number(offset) && is_number(len))
}

fn number(word: Option<&[u8]>, reason: &'static str) -> Result<u64, &'static str> {
    let digits = word.filter(|word| !word.is_empty()).ok_or(reason)?;
    let number = digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    });
    number.ok_or(reason)
}

/// Writes the line of an operation. `at_us` counts from the start of the worker.
///
/// File operations have no line: `Ok` without a word.
///
/// # Errors
/// Those of `to`.
pub fn write_op(
    to: &mut impl Write,
    at_us: u64,
    file: &str,
    kind: OpKind,
    offset: u64,
    len: u32,
) -> fmt::Result {
    let action = match kind.class() {
        OpClass::Bytes(dir) => dir.name(),
        OpClass::Sync(SyncScope::All) => "sync",
        OpClass::Sync(SyncScope::Data) => "datasync",
        OpClass::Sync(SyncScope::Range) | OpClass::File => return Ok(()),
    };
    writeln!(to, "{at_us} {file} {action} {offset} {len}")
}

/// What happens to a whole file in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAction {
    /// The file is one of the worker's.
    Add,
    /// It is opened.
    Open,
    /// It is closed.
    Close,
}

/// Writes the line of what happens to a whole file.
///
/// # Errors
/// Those of `to`.
pub fn write_file(to: &mut impl Write, at_us: u64, file: &str, action: FileAction) -> fmt::Result {
    let action = match action {
        FileAction::Add => "add",
        FileAction::Open => "open",
        FileAction::Close => "close",
    };
    writeln!(to, "{at_us} {file} {action}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a record that may take so much memory. Returns the number of its operations.
    fn read(text: &str, bytes_max: u64) -> Result<usize, IologError> {
        let replay = plan::report::Logs::default().replay;
        let mut reader = Reader { bytes_max, ..Reader::new(&replay) };
        for line in text.split_inclusive('\n') {
            reader.line(line.as_bytes())?;
        }
        reader.finish().map(|recording| recording.ops.len())
    }

    #[test]
    fn a_record_without_an_end_is_not_kept() {
        let too_large = |line, bytes_max| Err(IologError::TooLarge { line, bytes_max });
        let one_file = format!("{HEADER}0 /f read 0 1\n1 /f read 1 1\n2 /f read 2 1\n");
        let bytes = 4 * LINE_BYTES + FILE_BYTES + 4;
        assert_eq!(read(&one_file, bytes), Ok(3));
        assert_eq!(read(&one_file, bytes - 1), too_large(4, bytes - 1));
        // Neither lines that say nothing nor new names go on for ever.
        assert_eq!(read(&HEADER.repeat(100), 50 * LINE_BYTES), too_large(51, 50 * LINE_BYTES));
        let names: String = (0..100).map(|n| format!("0 /{n:02} read 0 1\n")).collect();
        let file_bytes = LINE_BYTES + FILE_BYTES + 6;
        assert_eq!(
            read(&format!("{HEADER}{names}"), 10 * file_bytes),
            too_large(12, 10 * file_bytes)
        );
    }

    #[test]
    fn the_limit_says_what_is_counted() {
        let error = IologError::TooLarge { line: 7, bytes_max: MEMORY_BYTES_MAX };
        assert_eq!(
            error.to_string(),
            "line 7 is beyond the 4.00 GiB of memory that a record may take: 32 B for each line, \
             128 B and its name twice for each file"
        );
    }
}
