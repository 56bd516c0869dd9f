//! Which direction the next I/O takes.

use plan::Direction;
use plan::workload::Access;

use crate::rng::{Chance, Rng, Stream};

/// The sequence of directions of one worker.
#[derive(Clone, Debug)]
pub struct Mix {
    dirs: Directions,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum Directions {
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
        let dirs = if access.trim_then_write {
            Directions::TrimThenWrite(Direction::Trim)
        } else if access.is_mixed() {
            Directions::Mixed(Chance::from_pct(read_pct))
        } else if access.write {
            Directions::Only(Direction::Write)
        } else if access.trim {
            Directions::Only(Direction::Trim)
        } else {
            Directions::Only(Direction::Read)
        };
        Mix { dirs, rng: Rng::for_stream(seed, Stream::Mix, 0) }
    }

    /// Returns the direction when there is only one.
    #[inline]
    pub fn only(&self) -> Option<Direction> {
        match self.dirs {
            Directions::Only(dir) => Some(dir),
            Directions::Mixed(_) | Directions::TrimThenWrite(_) => None,
        }
    }

    /// Returns the direction of the next I/O.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an endless sequence, never None")]
    pub fn next(&mut self) -> Direction {
        match &mut self.dirs {
            Directions::Only(dir) => *dir,
            Directions::Mixed(chance) => {
                if self.rng.chance(*chance) {
                    Direction::Read
                } else {
                    Direction::Write
                }
            }
            Directions::TrimThenWrite(next) => {
                let dir = *next;
                *next = match dir {
                    Direction::Trim => Direction::Write,
                    Direction::Read | Direction::Write => Direction::Trim,
                };
                dir
            }
        }
    }
}
