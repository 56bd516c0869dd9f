//! A token bucket in exact whole numbers.

/// Parts of a token. A rate of n tokens per second is n parts per nanosecond, so that neither a
/// refill nor a withdrawal ever rounds.
const PARTS: i128 = 1_000_000_000;
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
pub(crate) struct Bucket {
    /// Parts, at `at_ns`.
    level: i128,
    /// Parts that it holds at most.
    full: i128,
    /// Tokens per second: parts per nanosecond.
    per_s: u64,
    at_ns: u64,
}

impl Bucket {
    /// A bucket without credits: empty, and taking up no more than a window's worth of tokens.
    pub(crate) fn paced(per_s: u64, window_ns: u64, now_ns: u64) -> Bucket {
        let per_s = per_s.clamp(1, PER_S_MAX);
        // What a rounded-up wait brings in must find room, or the rate would fall short.
        let full = i128::from(per_s) * i128::from(window_ns.max(1));
        Bucket { level: 0, full, per_s, at_ns: now_ns }
    }

    /// A bucket of credits: full, and `tokens` large.
    pub(crate) fn of_credits(per_s: u64, tokens: u64, now_ns: u64) -> Bucket {
        let per_s = per_s.clamp(1, PER_S_MAX);
        let full = (i128::from(tokens) * PARTS).max(i128::from(per_s));
        Bucket { level: full, full, per_s, at_ns: now_ns }
    }

    /// Brings the level up to date.
    #[inline]
    fn refill(&mut self, now_ns: u64) {
        let gain = u128::from(now_ns - self.at_ns) * u128::from(self.per_s);
        self.level = (self.level + gain as i128).min(self.full);
        self.at_ns = now_ns;
    }

    /// Returns when an operation may leave: when what is owed has come in, not before the last
    /// refill.
    #[inline]
    pub(crate) fn ready_ns(&self) -> u64 {
        if self.level >= 0 {
            return self.at_ns;
        }
        match u64::try_from(self.level.unsigned_abs()) {
            // The usual case, and a fast division.
            Ok(debt) => self.at_ns.saturating_add(debt.div_ceil(self.per_s)),
            Err(_) => self.ready_late_ns(),
        }
    }

    /// Returns when an operation may leave that waits for more than 64 bits say.
    #[cold]
    fn ready_late_ns(&self) -> u64 {
        let wait_ns = self.level.unsigned_abs().div_ceil(u128::from(self.per_s));
        self.at_ns.saturating_add(u64::try_from(wait_ns).unwrap_or(u64::MAX))
    }

    /// Takes an operation's tokens out. Its turn has come: `ready_ns` is not after `now_ns`.
    #[inline]
    pub(crate) fn take(&mut self, tokens: u64, now_ns: u64) {
        self.refill(now_ns);
        self.level -= i128::from(tokens) * PARTS;
    }

    /// Returns the whole tokens in it now, none if it is below zero.
    pub(crate) fn tokens(&self, now_ns: u64) -> u64 {
        let mut now = self.clone();
        now.refill(now_ns);
        (now.level.max(0) / PARTS) as u64
    }

    /// Returns the tokens of a full bucket.
    pub(crate) fn tokens_full(&self) -> u64 {
        (self.full / PARTS) as u64
    }

    /// Counts time from `now_ns` on.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.at_ns = now_ns;
    }

    /// Takes another bucket's rate and limit from now on. What was borrowed stays borrowed, and is
    /// paid back at the new rate; what does not fit is lost.
    pub(crate) fn become_like(&mut self, other: &Bucket, now_ns: u64) {
        self.refill(now_ns);
        self.per_s = other.per_s;
        self.full = other.full;
        self.level = self.level.min(self.full);
    }
}
