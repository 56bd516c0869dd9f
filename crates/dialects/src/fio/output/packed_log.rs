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
        at_bytes: u64,
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
pub fn unpack(mut packed: &[u8]) -> Result<String, UnpackError> {
    let mut lines = String::new();
    let mut read = |piece: &mut [u8]| {
        let (now, rest) = packed.split_at(packed.len().min(piece.len()));
        piece[..now.len()].copy_from_slice(now);
        packed = rest;
        now.len()
    };
    unpack_to(&mut read, &mut |piece| {
        lines.push_str(piece);
        true
    })?;
    Ok(lines)
}

/// Unpacks the lines of all streams piece by piece, in constant memory, until `take` returns false.
///
/// `read` fills a buffer with what comes next and returns how many bytes that is; 0 at the end.
///
/// # Errors
/// When a stream is damaged, or holds something else than lines; what came before was handed over.
pub fn unpack_to(
    read: &mut dyn FnMut(&mut [u8]) -> usize,
    take: &mut dyn FnMut(&str) -> bool,
) -> Result<(), UnpackError> {
    let (mut packed, mut piece) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
    let mut rest = 0..read(&mut packed);
    let mut at_bytes = 0;
    while !rest.is_empty() {
        let damaged = UnpackError::Damaged { at_bytes };
        let mut state = InflateState::new_boxed(DataFormat::Zlib);
        let mut is_cut = false;
        loop {
            let step = inflate(&mut state, &packed[rest.clone()], &mut piece, MZFlush::None);
            rest.start += step.bytes_consumed;
            at_bytes += step.bytes_consumed as u64;
            if rest.is_empty() && !is_cut {
                rest = 0..read(&mut packed);
            }
            if !take(text(&piece[..step.bytes_written])?) {
                return Ok(());
            }
            match step.status {
                Ok(MZStatus::StreamEnd) => break,
                Ok(_) if step.bytes_consumed + step.bytes_written > 0 => {}
                // Nothing goes on: the stream was cut.
                Ok(_) | Err(MZError::Buf) if rest.is_empty() && is_cut => break,
                Ok(_) | Err(MZError::Buf) if rest.is_empty() => is_cut = true,
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
