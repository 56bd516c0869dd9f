//! Random numbers by seed.

/// Returns the seeds to look at: the first `n_short`, or with `PLIMSOLL_LONG_TESTS` so many from
/// its value on.
#[expect(clippy::disallowed_methods, reason = "a long test is asked for by a variable")]
pub(crate) fn seeds(n_short: u64, n_long: u64) -> std::ops::Range<u64> {
    let Ok(first) = std::env::var("PLIMSOLL_LONG_TESTS") else { return 0..n_short };
    let first = first.parse().expect("PLIMSOLL_LONG_TESTS is the first seed");
    first..first + n_long
}

/// Looks at every seed, on all processors, and returns what came of each in their order.
pub(crate) fn check_all<T: Send>(
    seeds: std::ops::Range<u64>,
    look: impl Fn(u64) -> T + Sync,
) -> Vec<T> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicU64::new(seeds.start);
    let of_thread = || {
        let mut all = Vec::new();
        loop {
            let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if seed >= seeds.end {
                return all;
            }
            all.push((seed, look(seed)));
        }
    };
    let mut all: Vec<(u64, T)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(of_thread)).collect();
        threads.into_iter().flat_map(|it| it.join().expect("a look that ends")).collect()
    });
    all.sort_by_key(|(seed, _)| *seed);
    all.into_iter().map(|(_, it)| it).collect()
}

/// Random numbers by seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A whole number of a range.
    pub(crate) fn whole(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from + 1)
    }

    pub(crate) fn happens(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.next() % all.len() as u64) as usize]
    }
}
