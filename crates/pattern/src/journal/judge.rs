//! What became of a block.

use super::{BlockState, SECTOR_BYTES, Sector, Stamp, read_sector};

/// What became of a block of which a journal knows something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It holds what was written last.
    New,
    /// What was in flight has not come: it holds what was acknowledged before.
    Old,
    /// It does not hold what was acknowledged.
    Lost,
    /// It holds parts of different writes, or of one that is not whole.
    Torn,
}

impl Verdict {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::New => "new",
            Verdict::Old => "old",
            Verdict::Lost => "lost",
            Verdict::Torn => "torn",
        }
    }
}

/// What a block that is not as it must be holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorContent {
    /// A write of this block, from another time.
    Written(Stamp),
    /// A write of another place: its stamp, and the byte of its target that it belongs to.
    Misplaced(Stamp, u64),
    /// Nothing that was written with a journal.
    Plain,
    /// A sector that begins as a written one, and is not whole.
    Damaged,
}

/// What a block is judged to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What became of it.
    pub verdict: Verdict,
    /// A write of it was in flight or had failed: what was not acknowledged breaks no promise.
    pub is_in_flight: bool,
    /// The first sector that is not of the last write, from 0, and what it holds.
    pub found: Option<(u32, SectorContent)>,
}

impl Judged {
    /// Returns whether the block breaks a promise: what was acknowledged is not there. A write that
    /// was in flight may be there in part, as devices write no more than a sector as a whole.
    pub fn is_bad(&self) -> bool {
        match self.verdict {
            Verdict::New | Verdict::Old => false,
            Verdict::Lost => true,
            Verdict::Torn => !self.is_in_flight,
        }
    }
}

/// Where a block belongs, and what must be there.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedBlock {
    /// Number of the target.
    pub target: u32,
    /// First byte of the block.
    pub offset: u64,
    /// What must be there.
    pub state: BlockState,
}

/// What one sector is to its block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Of the last write, or of one in flight.
    New(u16),
    /// Of the acknowledged write before those in flight.
    Old,
    /// Neither.
    Other(SectorContent),
}

/// Says what became of a block. `is_own` says whether a run wrote with this journal.
pub fn judge(block: &[u8], place: &ExpectedBlock, is_own: &dyn Fn(u64) -> bool) -> Judged {
    let state = place.state;
    let class_of = |idx: usize, sector: &[u8]| {
        let at = place.offset + (idx * SECTOR_BYTES) as u64;
        match read_sector(sector) {
            Sector::Stamped(stamp, offset)
                if offset == at && stamp.target == place.target && is_own(stamp.run) =>
            {
                let generation = stamp.generation;
                match state.pending {
                    None if generation == state.written => Class::New(generation),
                    Some(_) if state.is_pending(generation) => Class::New(generation),
                    Some(_) if generation == state.written => Class::Old,
                    _ => Class::Other(SectorContent::Written(stamp)),
                }
            }
            Sector::Damaged => Class::Other(SectorContent::Damaged),
            // What was there before the first write is not known.
            Sector::Stamped(..) | Sector::Plain if state.written == 0 => Class::Old,
            Sector::Stamped(stamp, offset) => Class::Other(SectorContent::Misplaced(stamp, offset)),
            Sector::Plain => Class::Other(SectorContent::Plain),
        }
    };
    let mut sectors = block.chunks_exact(SECTOR_BYTES).enumerate();
    let first = sectors.next().map_or(Class::Old, |(idx, sector)| class_of(idx, sector));
    let mut odd = None;
    let mut found = found_in(first).map(|it| (0, it));
    for (idx, sector) in sectors {
        let class = class_of(idx, sector);
        odd = odd.or((!is_alike(class, first)).then_some((idx as u32, class)));
        found = found.or(found_in(class).map(|it| (idx as u32, it)));
    }
    let verdict = match (odd, first) {
        (None, Class::New(_)) => Verdict::New,
        (None, Class::Old) => Verdict::Old,
        (None, Class::Other(SectorContent::Damaged)) | (Some(_), _) => Verdict::Torn,
        (None, Class::Other(_)) => Verdict::Lost,
    };
    // Of what was in flight, parts may be there, and nothing else.
    let is_in_flight = state.pending.is_some()
        && (verdict != Verdict::Torn || matches!(found, None | Some((_, SectorContent::Damaged))));
    Judged { verdict, is_in_flight, found }
}

fn found_in(class: Class) -> Option<SectorContent> {
    match class {
        Class::New(_) | Class::Old => None,
        Class::Other(found) => Some(found),
    }
}

/// Returns whether two sectors are of the same write, or both of none.
fn is_alike(one: Class, other: Class) -> bool {
    match (one, other) {
        (
            Class::Other(SectorContent::Misplaced(one, _)),
            Class::Other(SectorContent::Misplaced(other, _)),
        ) => one == other,
        _ => one == other,
    }
}
