//! A share of a stream of operations, spread evenly.

/// Picks a percentage of operations, evenly spaced: at 25 % every fourth. No random draw: a share
/// of few operations is then exact, and the choice costs an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pct: u8,
    sum: u8,
}

impl Share {
    /// Takes percent, 0..=100.
    pub(crate) fn new(pct: u8) -> Share {
        Share { pct: pct.min(100), sum: 0 }
    }

    /// Returns whether the next operation is one of the share.
    #[inline]
    pub(crate) fn take(&mut self) -> bool {
        if self.pct == 0 {
            return false;
        }
        self.sum += self.pct;
        if self.sum >= 100 {
            self.sum -= 100;
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[track_caller]
    fn check(pct: u8, expected_of_100: usize) {
        let mut share = Share::new(pct);
        assert_eq!((0..100).filter(|_| share.take()).count(), expected_of_100);
    }

    #[test]
    fn a_share_of_a_hundred_is_exact() {
        check(0, 0);
        check(1, 1);
        check(33, 33);
        check(100, 100);
        check(250, 100);
    }
}
