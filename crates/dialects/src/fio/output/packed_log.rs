//! Compressed log files (`log_store_compressed`, `--inflate-log`): zlib streams (RFC 1950), one
//! after another, which hold the lines of the log.
//!
//! fio packs its samples in memory layout instead, which differs between its versions and machines;
//! here `zlib-flate -uncompress` reads a log as well as `--inflate-log`.

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

/// What is added to the name of a compressed log.
pub const SUFFIX: &str = ".fz";

/// Compression level, 0 to 10: the fastest that compresses.
const LEVEL: u8 = 1;

/// Bytes unpacked at once.
const PIECE_BYTES: usize = 64 << 10;

/// Why a compressed log cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    /// A stream is damaged, or there is none.
    #[error("is not a compressed log, or it is damaged at byte {at_bytes}")]
    Damaged {
        /// Where the damaged stream starts.
        at_bytes: usize,
    },
    /// What was packed is no text: fio itself wrote the log.
    #[error("holds no text: fio itself wrote it, and only that version of fio can read it")]
    NotText,
}

/// Packs lines as a stream of their own.
pub fn pack(lines: &[u8]) -> Vec<u8> {
    compress_to_vec_zlib(lines, LEVEL)
}

/// Unpacks the lines of all streams. What is whole of a last stream that was cut is returned, too.
///
/// # Errors
/// When a stream is damaged, or holds something else than lines.
pub fn unpack(packed: &[u8]) -> Result<String, UnpackError> {
    let mut lines = String::new();
    unpack_to(packed, &mut |piece| {
        lines.push_str(piece);
        true
    })?;
    Ok(lines)
}

/// Unpacks the lines of all streams piece by piece, in constant memory, until `take` returns false.
///
/// # Errors
/// When a stream is damaged, or holds something else than lines; what came before was handed over.
pub fn unpack_to(packed: &[u8], take: &mut dyn FnMut(&str) -> bool) -> Result<(), UnpackError> {
    let mut rest = packed;
    let mut piece = vec![0; PIECE_BYTES];
    while !rest.is_empty() {
        let damaged = UnpackError::Damaged { at_bytes: packed.len() - rest.len() };
        let mut state = InflateState::new_boxed(DataFormat::Zlib);
        loop {
            let step = inflate(&mut state, rest, &mut piece, MZFlush::None);
            rest = &rest[step.bytes_consumed..];
            if !take(text(&piece[..step.bytes_written])?) {
                return Ok(());
            }
            match step.status {
                Ok(MZStatus::StreamEnd) => break,
                // Nothing goes on: the stream was cut.
                Ok(_) if step.bytes_consumed + step.bytes_written > 0 => {}
                Ok(_) | Err(MZError::Buf) if rest.is_empty() => break,
                Ok(_) | Err(_) => return Err(damaged),
            }
        }
    }
    Ok(())
}

/// Takes bytes for lines of a log, which are numbers, commas and blanks.
fn text(piece: &[u8]) -> Result<&str, UnpackError> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let text = std::str::from_utf8(piece).ok().filter(|_| piece.iter().all(is_plain));
    text.ok_or(UnpackError::NotText)
}
