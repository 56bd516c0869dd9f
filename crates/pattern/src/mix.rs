//! Which direction the next I/O takes.

use plan::Direction;
use plan::workload::Access;

use crate::rng::{Chance, Rng, Stream};

/// The sequence of directions of one worker.
#[derive(Clone, Debug)]
pub struct Mix {
    kind: Kind,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum Kind {
    Only(Direction),
    /// Reads with this chance, else writes.
    Mixed(Chance),
    /// Trim and write in turn; the value comes next.
    TrimThenWrite(Direction),
}

impl Mix {
    /// Builds the mix of a workload. A workload without any direction reads.
    ///
    /// Reads and writes are drawn independently, one number per I/O, as fio does: after 100,000
    /// I/Os the share is within 0.5 % of `read_pct`.
    pub fn new(access: Access, read_pct: f64, seed: u64) -> Self {
        let kind = if access.trim_then_write {
            Kind::TrimThenWrite(Direction::Trim)
        } else if access.is_mixed() {
            Kind::Mixed(Chance::from_pct(read_pct))
        } else if access.write {
            Kind::Only(Direction::Write)
        } else if access.trim {
            Kind::Only(Direction::Trim)
        } else {
            Kind::Only(Direction::Read)
        };
        Mix { kind, rng: Rng::for_stream(seed, Stream::Mix, 0) }
    }

    /// Returns the direction when there is only one.
    #[inline]
    pub fn only(&self) -> Option<Direction> {
        match self.kind {
            Kind::Only(dir) => Some(dir),
            _ => None,
        }
    }

    /// Returns the direction of the next I/O.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an endless sequence, never None")]
    pub fn next(&mut self) -> Direction {
        match &mut self.kind {
            Kind::Only(dir) => *dir,
            Kind::Mixed(chance) => {
                if self.rng.chance(*chance) {
                    Direction::Read
                } else {
                    Direction::Write
                }
            }
            Kind::TrimThenWrite(next) => {
                let dir = *next;
                *next = match dir {
                    Direction::Trim => Direction::Write,
                    _ => Direction::Trim,
                };
                dir
            }
        }
    }
}
