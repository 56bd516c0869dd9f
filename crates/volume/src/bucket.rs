//! A token bucket in exact whole numbers.

/// Parts of a token. A rate of n tokens per second is n parts per nanosecond, so that neither a
/// refill nor a withdrawal ever rounds.
const PARTS: u64 = 1_000_000_000;
/// Highest rate: with it, what any period brings in stays within 127 bits.
const PER_S_MAX: u64 = 1 << 61;

/// Tokens that come in at a constant rate, up to a limit, and go out with I/O.
///
/// An operation may leave while the level is not below zero, and takes its tokens then, which may
/// bring the level below zero by no more than the operation itself. So an operation larger than
/// the bucket passes too, and over any period of t seconds no more than `per_s` × t tokens, the
/// allowance and one operation pass. What a rounded-up waiting time brings in too much stays in the
/// bucket: there is no drift, however long it runs.
#[derive(Clone, Debug)]
pub(crate) enum Bucket {
    /// Where all that it holds and is owed fits into 64 bits: nearly always, and half as costly.
    Narrow(NarrowBucket),
    /// Elsewhere.
    Wide(WideBucket),
}

impl Bucket {
    /// A bucket without credits: empty, and taking up no more than a window's worth of tokens.
    pub(crate) fn paced(per_s: u64, window_ns: u64, now_ns: u64) -> Bucket {
        let per_s = per_s.clamp(1, PER_S_MAX);
        // What a rounded-up wait brings in must find room, or the rate would fall short.
        let full = i128::from(per_s) * i128::from(window_ns.max(1));
        Bucket::new(WideBucket { level: 0, full, per_s, at_ns: now_ns })
    }

    /// A bucket of credits: full, and `tokens` large.
    pub(crate) fn of_credits(per_s: u64, tokens: u64, now_ns: u64) -> Bucket {
        let per_s = per_s.clamp(1, PER_S_MAX);
        let full = (i128::from(tokens) * i128::from(PARTS)).max(i128::from(per_s));
        Bucket::new(WideBucket { level: full, full, per_s, at_ns: now_ns })
    }

    fn new(wide: WideBucket) -> Bucket {
        NarrowBucket::of(&wide).map_or(Bucket::Wide(wide), Bucket::Narrow)
    }

    fn to_wide(&self) -> WideBucket {
        match self {
            Bucket::Narrow(narrow) => narrow.to_wide(),
            Bucket::Wide(wide) => wide.clone(),
        }
    }

    /// Returns what it is at a time that is not before its last one.
    fn refilled(&self, now_ns: u64) -> WideBucket {
        let mut wide = self.to_wide();
        let at_ns = wide.at_ns;
        assert!(now_ns >= at_ns, "a bucket of {at_ns} ns is asked what it held at {now_ns} ns");
        wide.refill(now_ns);
        wide
    }

    /// Returns when an operation may leave: when what is owed has come in, not before the last
    /// refill.
    pub(crate) fn ready_ns(&self) -> u64 {
        match self {
            Bucket::Narrow(narrow) => narrow.ready_ns(),
            Bucket::Wide(wide) => wide.ready_ns(),
        }
    }

    /// Takes an operation's tokens out. Its turn has come: `ready_ns` is not after `now_ns`.
    /// Returns when the next operation may leave.
    #[inline]
    pub(crate) fn take(&mut self, tokens: u64, now_ns: u64) -> u64 {
        if let Bucket::Narrow(narrow) = self
            && narrow.take(tokens, now_ns)
        {
            return narrow.ready_ns();
        }
        self.take_wide(tokens, now_ns)
    }

    #[cold]
    fn take_wide(&mut self, tokens: u64, now_ns: u64) -> u64 {
        let mut wide = self.to_wide();
        wide.take(tokens, now_ns);
        let ready_ns = wide.ready_ns();
        *self = Bucket::new(wide);
        ready_ns
    }

    /// Returns the whole tokens in it now, none if it is below zero.
    pub(crate) fn tokens(&self, now_ns: u64) -> u64 {
        let now = self.refilled(now_ns);
        (now.level.max(0) / i128::from(PARTS)) as u64
    }

    /// Returns the tokens of a full bucket.
    pub(crate) fn tokens_full(&self) -> u64 {
        (self.to_wide().full / i128::from(PARTS)) as u64
    }

    /// Counts time from `now_ns` on.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        match self {
            Bucket::Narrow(narrow) => narrow.at_ns = now_ns,
            Bucket::Wide(wide) => wide.at_ns = now_ns,
        }
    }

    /// Takes another bucket's rate and limit from now on. What was borrowed stays borrowed, and is
    /// paid back at the new rate; what does not fit is lost.
    pub(crate) fn become_like(&mut self, other: &Bucket, now_ns: u64) {
        let (mut wide, other) = (self.refilled(now_ns), other.to_wide());
        wide.per_s = other.per_s;
        wide.full = other.full;
        wide.level = wide.level.min(wide.full);
        *self = Bucket::new(wide);
    }
}

/// A bucket of any size.
#[derive(Clone, Debug)]
pub(crate) struct WideBucket {
    /// Parts, at `at_ns`.
    level: i128,
    /// Parts that it holds at most.
    full: i128,
    /// Tokens per second: parts per nanosecond.
    per_s: u64,
    at_ns: u64,
}

impl WideBucket {
    /// Brings the level up to date.
    fn refill(&mut self, now_ns: u64) {
        let gain = u128::from(now_ns - self.at_ns) * u128::from(self.per_s);
        self.level = (self.level + gain as i128).min(self.full);
        self.at_ns = now_ns;
    }

    fn ready_ns(&self) -> u64 {
        if self.level >= 0 {
            return self.at_ns;
        }
        let wait_ns = self.level.unsigned_abs().div_ceil(u128::from(self.per_s));
        self.at_ns.saturating_add(u64::try_from(wait_ns).unwrap_or(u64::MAX))
    }

    fn take(&mut self, tokens: u64, now_ns: u64) {
        self.refill(now_ns);
        self.level -= i128::from(tokens) * i128::from(PARTS);
    }
}

/// A bucket in 64 bits: level and limit stay within twice [`NarrowBucket::BOUND`], so that what
/// lies between them fits as well.
#[derive(Clone, Debug)]
pub(crate) struct NarrowBucket {
    level: i64,
    full: i64,
    per_s: u64,
    at_ns: u64,
}

impl NarrowBucket {
    /// Of the limit, and of the level, below zero as well, before anything is taken out.
    const BOUND: i64 = 1 << 61;
    /// So many tokens take the level no lower than twice the bound.
    const TOKENS_MAX: u64 = NarrowBucket::BOUND as u64 / PARTS;

    /// Returns the same bucket in 64 bits; `None` if it does not fit.
    fn of(wide: &WideBucket) -> Option<NarrowBucket> {
        let fits = wide.level >= -i128::from(NarrowBucket::BOUND)
            && wide.full <= NarrowBucket::BOUND.into();
        fits.then_some(NarrowBucket {
            level: wide.level as i64,
            full: wide.full as i64,
            per_s: wide.per_s,
            at_ns: wide.at_ns,
        })
    }

    fn to_wide(&self) -> WideBucket {
        let NarrowBucket { level, full, per_s, at_ns } = *self;
        WideBucket { level: level.into(), full: full.into(), per_s, at_ns }
    }

    #[inline]
    fn ready_ns(&self) -> u64 {
        if self.level >= 0 {
            return self.at_ns;
        }
        self.at_ns.saturating_add(self.level.unsigned_abs().div_ceil(self.per_s))
    }

    /// Takes tokens out. Returns false, and changes nothing, where the result may not fit.
    #[inline]
    fn take(&mut self, tokens: u64, now_ns: u64) -> bool {
        if tokens > NarrowBucket::TOKENS_MAX || self.level < -NarrowBucket::BOUND {
            return false;
        }
        // What comes in beyond 64 bits is more than there ever is room for.
        let gain = (now_ns - self.at_ns).saturating_mul(self.per_s);
        let room = (self.full - self.level) as u64;
        self.level += gain.min(room) as i64 - (tokens * PARTS) as i64;
        self.at_ns = now_ns;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A rate, a limit, a level or a time: small, usual, and at the end of its range.
    fn any_size(bits: u32) -> impl Strategy<Value = u64> {
        (0..=bits, any::<u64>()).prop_map(|(bits, value)| match bits {
            0 => 0,
            bits => value >> (64 - bits),
        })
    }

    proptest! {
        #[test]
        fn a_narrow_bucket_is_a_wide_one(
            per_s in any_size(62),
            window_ns in any_size(40),
            credits in proptest::option::of(any_size(64)),
            steps in proptest::collection::vec((any_size(40), any_size(36), any::<bool>()), 1..60),
        ) {
            let mut bucket = match credits {
                Some(tokens) => Bucket::of_credits(per_s, tokens, 5),
                None => Bucket::paced(per_s, window_ns, 5),
            };
            let mut wide = bucket.to_wide();
            let mut now_ns = 5_u64;
            for (wait_ns, tokens, is_punctual) in steps {
                // As soon as it is ready, at any time after, and now and then long before.
                now_ns = if is_punctual { now_ns.max(wide.ready_ns()) } else { now_ns + wait_ns };
                if now_ns > 1 << 62 {
                    break;
                }
                wide.take(tokens, now_ns);
                prop_assert_eq!(bucket.take(tokens, now_ns), wide.ready_ns());
                let is = bucket.to_wide();
                prop_assert_eq!((is.level, is.at_ns), (wide.level, wide.at_ns));
                prop_assert_eq!(bucket.tokens_full(), (wide.full / i128::from(PARTS)) as u64);
            }
        }
    }

    #[test]
    fn time_does_not_go_back() {
        let mut bucket = Bucket::of_credits(100, 1000, 0);
        bucket.take(1, 5_000);
        let other = Bucket::of_credits(200, 1000, 0);
        testing::check_wrong_calls(&[
            ("tokens before now", "of 5000 ns is asked what it held at 4999 ns", &|| {
                _ = bucket.tokens(4_999);
            }),
            ("another rate before now", "of 5000 ns is asked what it held at 0 ns", &|| {
                bucket.clone().become_like(&other, 0);
            }),
        ]);
    }

    #[test]
    fn a_usual_bucket_is_narrow() {
        let bucket = Bucket::paced(50_000_000_000, 4_000_000, 0);
        assert!(matches!(bucket, Bucket::Narrow(_)), "{bucket:?}");
    }
}
