//! Sectors that say what they are.

use super::{crc, number};

/// Bytes of a sector: what every device writes as a whole.
pub const SECTOR_BYTES: usize = 512;

/// What a stamped sector begins with.
const MAGIC: [u8; 4] = *b"PLB1";

/// Bytes at its start that are not the job's.
const HEADER_BYTES: usize = 48;

/// Who wrote a block, when, and which generation it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Run that wrote it.
    pub run: u64,
    /// Worker of that run.
    pub worker: u32,
    /// When it was written, microseconds since 1970.
    pub time_us: u64,
    /// Number of the target in the journal.
    pub target: u32,
    /// Generation, from 1.
    pub generation: u16,
    /// Bytes of a block of the target.
    pub block_bytes: u32,
}

/// What a sector turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// A whole sector, which belongs to this byte of its target.
    Stamped(Stamp, u64),
    /// Begins as one, and has another checksum: part of a write, or changed later.
    Damaged,
    /// Nothing that was written with a journal.
    Plain,
}

/// Stamps all sectors of a block that goes to `offset` of its target. Behind the header of each
/// sector the contents stay.
pub fn stamp(block: &mut [u8], offset: u64, facts: &Stamp) {
    let sectors = block.chunks_exact_mut(SECTOR_BYTES);
    for (idx, sector) in sectors.enumerate() {
        let at = offset + (idx * SECTOR_BYTES) as u64;
        sector[..4].copy_from_slice(&MAGIC);
        sector[8..16].copy_from_slice(&at.to_le_bytes());
        sector[16..24].copy_from_slice(&facts.run.to_le_bytes());
        sector[24..32].copy_from_slice(&facts.time_us.to_le_bytes());
        sector[32..36].copy_from_slice(&facts.target.to_le_bytes());
        sector[36..38].copy_from_slice(&facts.generation.to_le_bytes());
        sector[38..40].fill(0);
        sector[40..44].copy_from_slice(&facts.worker.to_le_bytes());
        sector[44..HEADER_BYTES].copy_from_slice(&facts.block_bytes.to_le_bytes());
        let crc = crc(&[&sector[8..]]);
        sector[4..8].copy_from_slice(&crc.to_le_bytes());
    }
}

/// Says what a sector is.
pub fn read_sector(sector: &[u8]) -> Sector {
    if sector.len() < SECTOR_BYTES || sector[..4] != MAGIC {
        return Sector::Plain;
    }
    if number(sector, 4, 4) != u64::from(crc(&[&sector[8..SECTOR_BYTES]])) {
        return Sector::Damaged;
    }
    let facts = Stamp {
        run: number(sector, 16, 8),
        worker: number(sector, 40, 4) as u32,
        time_us: number(sector, 24, 8),
        target: number(sector, 32, 4) as u32,
        generation: number(sector, 36, 2) as u16,
        block_bytes: number(sector, 44, 4) as u32,
    };
    Sector::Stamped(facts, number(sector, 8, 8))
}
