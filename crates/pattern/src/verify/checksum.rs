//! The checksums of the verify methods, as fio stores them.
//!
//! The parameters were found by comparing with files that fio wrote. Two of fio's methods are not
//! what their names say, and the stored bytes must be the same for the two tools to read each
//! other's blocks:
//! - `sha256` appends the length in bits as little-endian, and stores the last padded 64-byte block
//!   with its first 8 bytes replaced by the low byte of each state word.
//! - `sha512` stores the digest, then bytes 64..128 of the last padded block. Up to fio 3.38 it
//!   stored a scratch buffer and no digest ([`sha512_scratch`]).

use crc::{Algorithm, CRC_7_MMC, CRC_16_ARC, Crc, Table};
use md5::Md5;
use plan::verify::VerifyMethod;
use sha1::Sha1;
use sha2::digest::generic_array::GenericArray;
use sha2::{Digest as _, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use xxhash_rust::xxh32::Xxh32;

/// The longest stored checksum, in bytes (`sha512`).
pub(crate) const CHECKSUM_BYTES_MAX: usize = 128;

/// CRC-32 as fio computes it: POSIX `cksum` without the length and without the final inversion.
const CRC_32_FIO: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};

/// CRC-64 as fio computes it: the polynomial of Jones, reflected, started at zero.
const CRC_64_FIO: Algorithm<u64> = Algorithm {
    width: 64,
    poly: 0xad93_d235_94c9_35a9,
    init: 0,
    refin: true,
    refout: true,
    xorout: 0,
    check: 0xe9c6_d914_c4b8_d9ca,
    residue: 0,
};

static CRC_7: Crc<u8, Table<16>> = Crc::<u8, Table<16>>::new(&CRC_7_MMC);
static CRC_16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
static CRC_32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_FIO);
static CRC_64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_FIO);

/// The digests of `crc` have no trait in common, so the loop over the parts is a macro.
macro_rules! crc_of {
    ($crc:ident, $parts:expr) => {{
        let mut digest = $crc.digest();
        for part in $parts {
            digest.update(part);
        }
        Checksum::of(&digest.finalize().to_le_bytes())
    }};
}

/// A checksum as it is stored behind a header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Checksum {
    bytes: [u8; CHECKSUM_BYTES_MAX],
    len: u8,
}

impl Checksum {
    pub(crate) fn of(stored: &[u8]) -> Self {
        let mut bytes = [0; CHECKSUM_BYTES_MAX];
        bytes[..stored.len()].copy_from_slice(stored);
        Checksum { bytes, len: stored.len() as u8 }
    }

    /// Returns the stored bytes: 0 to 128 of them, by the method.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl std::fmt::Debug for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Checksum({self})")
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns the checksum over the concatenation of `parts`, as the method stores it.
///
/// Methods without a checksum give an empty one.
pub fn checksum(method: VerifyMethod, parts: &[&[u8]]) -> Checksum {
    match method {
        VerifyMethod::Crc32c => Checksum::of(&crc32c_of(parts).to_le_bytes()),
        VerifyMethod::Crc64 => crc_of!(CRC_64, parts),
        VerifyMethod::Crc32 => crc_of!(CRC_32, parts),
        VerifyMethod::Crc16 => crc_of!(CRC_16, parts),
        VerifyMethod::Crc7 => crc_of!(CRC_7, parts),
        VerifyMethod::XxHash => {
            let mut hash = Xxh32::new(1);
            for part in parts {
                hash.update(part);
            }
            Checksum::of(&hash.digest().to_le_bytes())
        }
        VerifyMethod::Md5 => hash_of::<Md5>(parts),
        VerifyMethod::Sha1 => sha1_of(parts),
        VerifyMethod::Sha256 => sha256_of(parts),
        VerifyMethod::Sha512 => sha512_of(parts),
        VerifyMethod::Sha3_224 => hash_of::<Sha3_224>(parts),
        VerifyMethod::Sha3_256 => hash_of::<Sha3_256>(parts),
        VerifyMethod::Sha3_384 => hash_of::<Sha3_384>(parts),
        VerifyMethod::Sha3_512 => hash_of::<Sha3_512>(parts),
        VerifyMethod::Meta
        | VerifyMethod::Pattern
        | VerifyMethod::PatternHeader
        | VerifyMethod::Null => Checksum::of(&[]),
    }
}

/// Returns fio's CRC-32C: the usual one without the final inversion.
pub(crate) fn crc32c_of(parts: &[&[u8]]) -> u32 {
    !parts.iter().fold(0, |crc, part| crc32c::crc32c_append(crc, part))
}

/// Returns what fio up to 3.38 stores as `sha512`: a scratch buffer that holds the first 128 bytes
/// of the data, overlaid with what remains behind its last whole 128 bytes.
///
/// Such a block proves only those bytes. `None` for data of less than 128 bytes, for which fio
/// stores bytes that cannot be predicted.
pub(crate) fn sha512_scratch(parts: &[&[u8]]) -> Option<Checksum> {
    let data = parts.concat();
    let mut scratch = *data.first_chunk::<128>()?;
    let (_, rest) = data.as_chunks::<128>();
    scratch[..rest.len()].copy_from_slice(rest);
    Some(Checksum::of(&scratch))
}

fn hash_of<D: sha2::Digest>(parts: &[&[u8]]) -> Checksum {
    let mut hash = D::new();
    for part in parts {
        hash.update(part);
    }
    Checksum::of(&hash.finalize())
}

/// SHA-1 with each word stored little-endian.
fn sha1_of(parts: &[&[u8]]) -> Checksum {
    let mut stored = hash_of::<Sha1>(parts);
    for word in stored.bytes[..20].as_chunks_mut::<4>().0 {
        word.reverse();
    }
    stored
}

/// Data cut into the blocks of a hash function: what does not fill a block yet.
struct Blocks<const N: usize> {
    block: [u8; N],
    used: usize,
    data_bytes: u64,
}

impl<const N: usize> Blocks<N> {
    /// Cuts `parts` into whole blocks for `whole`; keeps what remains.
    fn cut(parts: &[&[u8]], mut whole: impl FnMut(&[u8; N])) -> Self {
        let mut this = Blocks { block: [0; N], used: 0, data_bytes: 0 };
        for part in parts {
            let mut part = *part;
            this.data_bytes += part.len() as u64;
            while !part.is_empty() {
                if this.used == 0
                    && let Some((block, rest)) = part.split_first_chunk::<N>()
                {
                    whole(block);
                    part = rest;
                    continue;
                }
                let n = part.len().min(N - this.used);
                this.block[this.used..this.used + n].copy_from_slice(&part[..n]);
                this.used += n;
                part = &part[n..];
                if this.used == N {
                    whole(&this.block);
                    this.used = 0;
                }
            }
        }
        this
    }

    /// Pads with one bit and zeros, and ends with `length`; returns the last block.
    fn pad<const L: usize>(mut self, length: [u8; L], mut whole: impl FnMut(&[u8; N])) -> [u8; N] {
        self.block[self.used..].fill(0);
        self.block[self.used] = 0x80;
        if self.used >= N - L {
            whole(&self.block);
            self.block.fill(0);
        }
        self.block[N - L..].copy_from_slice(&length);
        whole(&self.block);
        self.block
    }
}

fn sha256_of(parts: &[&[u8]]) -> Checksum {
    let mut state: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let mut whole = |block: &[u8; 64]| {
        sha2::compress256(&mut state, std::slice::from_ref(GenericArray::from_slice(block)));
    };
    let rest = Blocks::<64>::cut(parts, &mut whole);
    let length = (rest.data_bytes * 8).to_le_bytes();
    let mut stored = rest.pad(length, &mut whole);
    for (byte, word) in stored.iter_mut().zip(state) {
        *byte = word as u8;
    }
    Checksum::of(&stored)
}

fn sha512_of(parts: &[&[u8]]) -> Checksum {
    let mut hash = Sha512::new();
    for part in parts {
        hash.update(part);
    }
    let rest = Blocks::<128>::cut(parts, |_| ());
    let length = u128::from(rest.data_bytes * 8).to_be_bytes();
    let mut stored = rest.pad(length, |_| ());
    stored[..64].copy_from_slice(&hash.finalize());
    Checksum::of(&stored)
}
