//! Bytes and text of a histogram, versioned.
//!
//! Version 1: the version byte, then variable-length integers (seven bits a byte, least first):
//! number of non-empty buckets; per bucket the empty ones skipped before it and its count; then
//! minimum and maximum as offsets from the start of their buckets, sum, and sum of squares.
//! An empty histogram ends after the number 0. One histogram has exactly one encoding.

use crate::bucket::{N_BUCKETS, bucket_bounds};
use crate::histogram::{Histogram, MomentBounds, Moments};

/// The version this code writes and the only one it reads.
const VERSION: u8 = 1;

/// Digits of the text form: base64url (RFC 4648 section 5), without padding.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Why bytes or text are not a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The version byte is missing or unknown, as from a newer program.
    #[error("histogram version {found:?} is not {VERSION}")]
    Version {
        /// The first byte, if there is one.
        found: Option<u8>,
    },
    /// The input ends within a number.
    #[error("histogram ends early")]
    Truncated,
    /// Bytes follow the end.
    #[error("histogram has {n_bytes} bytes after its end")]
    Trailing {
        /// Number of bytes left over.
        n_bytes: usize,
    },
    /// A number is too large or longer than needed.
    #[error("histogram has a malformed number at byte {offset}")]
    Number {
        /// Position of the number's first byte.
        offset: usize,
    },
    /// Numbers contradict each other, such as a sum that the buckets do not allow.
    #[error("histogram contradicts itself: {what}")]
    Inconsistent {
        /// What does not fit.
        what: &'static str,
    },
    /// A character of the text form is not a digit, or the text has an impossible length.
    #[error("histogram text has no meaning at character {offset}")]
    Text {
        /// Position of the character.
        offset: usize,
    },
}

impl Histogram {
    /// Returns the versioned bytes: about two to three per non-empty bucket.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put(&mut out, self.nonempty_indexed().count() as u128);
        if self.is_empty() {
            return out;
        }
        let mut next_idx = 0;
        for (index, count) in self.nonempty_indexed() {
            put(&mut out, (index - next_idx) as u128);
            put(&mut out, u128::from(count));
            next_idx = index + 1;
        }
        put(&mut out, u128::from(self.min_ns - bucket_bounds(self.first_idx).0));
        put(&mut out, u128::from(self.max_ns - bucket_bounds(self.last_idx()).0));
        put(&mut out, self.sum_ns);
        put(&mut out, self.sum_squares);
        out
    }

    /// Reads what [`Histogram::encode`] wrote.
    ///
    /// Total: any other input is an error. Allocates at most 58 KiB, whatever the input says.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        match bytes.first() {
            Some(&VERSION) => {}
            found => return Err(DecodeError::Version { found: found.copied() }),
        }
        let mut reader = Reader { bytes, offset: 1 };
        let hist = read_body(&mut reader)?;
        match bytes.len() - reader.offset {
            0 => Ok(hist),
            n_bytes => Err(DecodeError::Trailing { n_bytes }),
        }
    }

    /// Returns the bytes of [`Histogram::encode`] as base64url text, for use inside JSON.
    pub fn encode_text(&self) -> String {
        let mut text = String::new();
        for chunk in self.encode().chunks(3) {
            let mut group = 0_u32;
            for idx in 0..3 {
                group = group << 8 | u32::from(chunk.get(idx).copied().unwrap_or(0));
            }
            for idx in 0..=chunk.len() {
                text.push(DIGITS[(group >> (18 - 6 * idx) & 63) as usize] as char);
            }
        }
        text
    }

    /// Reads what [`Histogram::encode_text`] wrote.
    pub fn decode_text(text: &str) -> Result<Self, DecodeError> {
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
        for (group_idx, chunk) in text.as_bytes().chunks(4).enumerate() {
            let mut group = 0_u32;
            for (idx, character) in chunk.iter().enumerate() {
                let offset = group_idx * 4 + idx;
                let digit = digit_value(*character).ok_or(DecodeError::Text { offset })?;
                group |= digit << (18 - 6 * idx);
            }
            let n_bytes = chunk.len() - 1;
            let [_, group_bytes @ ..] = group.to_be_bytes();
            if n_bytes == 0 || group_bytes[n_bytes..].iter().any(|&byte| byte != 0) {
                return Err(DecodeError::Text { offset: group_idx * 4 + n_bytes });
            }
            bytes.extend_from_slice(&group_bytes[..n_bytes]);
        }
        Self::decode(&bytes)
    }
}

fn read_body(reader: &mut Reader<'_>) -> Result<Histogram, DecodeError> {
    let n_nonempty = reader.index("more buckets than there are")?;
    if n_nonempty == 0 {
        return Ok(Histogram::new());
    }
    let mut counts = Vec::new();
    let mut first_idx = 0;
    let mut total = 0_u64;
    for bucket in 0..n_nonempty {
        let n_skipped = reader.index("a bucket beyond the last")?;
        if bucket == 0 {
            first_idx = n_skipped;
        } else {
            counts.resize((counts.len() + n_skipped).min(N_BUCKETS), 0);
        }
        if first_idx + counts.len() >= N_BUCKETS {
            return Err(DecodeError::Inconsistent { what: "a bucket beyond the last" });
        }
        let count = reader.u64()?;
        if count == 0 {
            return Err(DecodeError::Inconsistent { what: "an empty bucket" });
        }
        let sum = total.checked_add(count);
        total = sum.ok_or(DecodeError::Inconsistent { what: "more values than 64 bits count" })?;
        counts.push(count);
    }
    let min_offset = reader.u64()?;
    let max_offset = reader.u64()?;
    let last_idx = first_idx + counts.len() - 1;
    let moments = Moments {
        min_ns: bucket_bounds(first_idx).0.saturating_add(min_offset),
        max_ns: bucket_bounds(last_idx).0.saturating_add(max_offset),
        sum_ns: reader.u128()?,
        sum_squares: reader.u128()?,
    };
    let hist = Histogram::from_counts(first_idx, counts, &moments);
    check_moments(&hist, &moments)?;
    Ok(hist)
}

/// Checks that building the histogram did not have to move any moment.
fn check_moments(hist: &Histogram, moments: &Moments) -> Result<(), DecodeError> {
    let bounds = MomentBounds::of(hist);
    let rules = [
        (hist.min_ns == moments.min_ns, "the minimum is not in the first bucket"),
        (hist.max_ns == moments.max_ns, "the maximum is not in the last bucket"),
        (
            (bounds.sum_lo..=bounds.sum_hi).contains(&moments.sum_ns),
            "the buckets do not allow the sum",
        ),
        (
            (bounds.squares_lo..=bounds.squares_hi).contains(&moments.sum_squares),
            "the buckets do not allow the sum of squares",
        ),
    ];
    match rules.into_iter().find(|(holds, _)| !holds) {
        Some((_, what)) => Err(DecodeError::Inconsistent { what }),
        None => Ok(()),
    }
}

fn digit_value(character: u8) -> Option<u32> {
    DIGITS.iter().position(|&digit| digit == character).map(|value| value as u32)
}

fn put(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Reader<'_> {
    fn u128(&mut self) -> Result<u128, DecodeError> {
        let malformed = DecodeError::Number { offset: self.offset };
        let mut value = 0_u128;
        let mut shift = 0;
        loop {
            let byte = *self.bytes.get(self.offset).ok_or(DecodeError::Truncated)?;
            self.offset += 1;
            let digit = u128::from(byte & 0x7f);
            if shift >= u128::BITS || digit << shift >> shift != digit {
                return Err(malformed);
            }
            value |= digit << shift;
            if byte & 0x80 == 0 {
                // A last byte of zero adds nothing: the number has a shorter form.
                return if byte == 0 && shift > 0 { Err(malformed) } else { Ok(value) };
            }
            shift += 7;
        }
    }

    fn u64(&mut self) -> Result<u64, DecodeError> {
        let offset = self.offset;
        u64::try_from(self.u128()?).map_err(|_| DecodeError::Number { offset })
    }

    fn index(&mut self, what: &'static str) -> Result<usize, DecodeError> {
        match self.u128()? {
            value if value <= N_BUCKETS as u128 => Ok(value as usize),
            _ => Err(DecodeError::Inconsistent { what }),
        }
    }
}
