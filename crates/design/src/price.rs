//! A month's price in the order in which designs rank.

use std::ops::Add;

/// A month's price, with what is not known of it. Compared part by part, in the order of the
/// fields: what is known stands before what is not, less of it that has no price before more, and
/// then what costs less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price {
    /// A limit, or a machine's memory or processors that are asked for, is not known.
    pub is_open: bool,
    /// A part has no price there.
    pub is_unpriced: bool,
    /// Capacity without a price, GiB.
    pub unpriced_gib: u64,
    /// Processors without a price.
    pub unpriced_vcpus: u64,
    /// What is priced, millionths of a US dollar.
    pub micro_usd: u64,
}

impl Price {
    /// Makes one of a sum in US dollars.
    pub(crate) fn of_usd(usd: f64) -> Self {
        Price { micro_usd: (usd * 1e6).round() as u64, ..Price::default() }
    }

    /// Returns what is priced, US dollars.
    pub fn usd(self) -> f64 {
        self.micro_usd as f64 / 1e6
    }

    /// Returns the least of each part: no price made of any of both is lower.
    pub(crate) fn floor(self, other: Price) -> Price {
        Price {
            is_open: self.is_open && other.is_open,
            is_unpriced: self.is_unpriced && other.is_unpriced,
            micro_usd: self.micro_usd.min(other.micro_usd),
            unpriced_vcpus: self.unpriced_vcpus.min(other.unpriced_vcpus),
            unpriced_gib: self.unpriced_gib.min(other.unpriced_gib),
        }
    }
}

impl Add for Price {
    type Output = Price;

    fn add(self, other: Price) -> Price {
        Price {
            is_open: self.is_open || other.is_open,
            is_unpriced: self.is_unpriced || other.is_unpriced,
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
            unpriced_vcpus: self.unpriced_vcpus.saturating_add(other.unpriced_vcpus),
            unpriced_gib: self.unpriced_gib.saturating_add(other.unpriced_gib),
        }
    }
}
