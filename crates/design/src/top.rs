//! The best designs so far.

use crate::price::Price;
use crate::search::Ranked;

/// The best designs so far, in order; of each machine and types of disk the best.
#[derive(Debug)]
pub(crate) struct TopDesigns {
    n_kept: usize,
    designs: Vec<Ranked>,
}

impl TopDesigns {
    pub(crate) fn new(n_kept: usize) -> Self {
        TopDesigns { n_kept, designs: Vec::new() }
    }

    /// Returns whether no design of this price, or a higher one, is among the best any more.
    pub(crate) fn is_beyond(&self, price: Price) -> bool {
        self.designs.len() >= self.n_kept
            && self.designs.last().is_some_and(|worst| price > worst.price)
    }

    /// Takes a design in if it is among the best.
    pub(crate) fn offer(&mut self, design: Ranked) {
        let of_kind = self.designs.iter().position(|known| known.is_of_same_kind(&design));
        if let Some(idx) = of_kind {
            if self.designs[idx].rank() <= design.rank() {
                return;
            }
            self.designs.remove(idx);
        }
        let at = self.designs.partition_point(|known| known.rank() <= design.rank());
        self.designs.insert(at, design);
        self.designs.truncate(self.n_kept);
    }

    pub(crate) fn take(self) -> Vec<Ranked> {
        self.designs
    }
}
