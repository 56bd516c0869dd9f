//! What this host's processors spend their time on.

use record::CpuShares;

/// Takes differences of the kernel's counters from period to period.
#[derive(Debug)]
pub(crate) struct CpuSampler {
    seen: Option<Ticks>,
}

/// Time of all processors since the system started, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    user: u64,
    system: u64,
    wait: u64,
    idle: u64,
    /// What hypervisors gave to others.
    steal: u64,
}

/// How busy this host was over a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HostLoad {
    /// Share of the processors' time that was not idle, without what was stolen; 0 to 1.
    pub(crate) busy_share: f64,
    /// Share of all time that hypervisors gave to others, 0 to 1.
    pub(crate) steal_share: f64,
}

impl CpuSampler {
    /// Begins the first period.
    pub(crate) fn start() -> Self {
        CpuSampler { seen: Ticks::now() }
    }

    /// Returns how busy the host has been since the last period began; `None` where the kernel does
    /// not say.
    pub(crate) fn load(&self) -> Option<HostLoad> {
        Ticks::now()?.load_since(self.seen?)
    }

    /// Ends a period. `None` where the kernel does not say.
    pub(crate) fn sample(&mut self) -> Option<CpuShares> {
        let now = Ticks::now();
        let before = std::mem::replace(&mut self.seen, now);
        now?.shares_since(before?)
    }
}

impl Ticks {
    fn now() -> Option<Self> {
        Ticks::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads the first line of `/proc/stat` (proc(5)): user, nice, system, idle, iowait, irq,
    /// softirq, steal; what follows is part of user already. What hypervisors took is nobody's.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let mut ticks = [0_u64; 8];
        let mut words = line.split_ascii_whitespace();
        for (n_read, tick) in ticks.iter_mut().enumerate() {
            *tick = match words.next() {
                Some(word) => word.parse().ok()?,
                // Kernels before 2.6 have four.
                None if n_read >= 4 => 0,
                None => return None,
            };
        }
        let [user, nice, system, idle, wait, irq, softirq, steal] = ticks;
        Some(Ticks { user: user + nice, system: system + irq + softirq, wait, idle, steal })
    }

    fn load_since(self, before: Ticks) -> Option<HostLoad> {
        let shares = self.shares_since(before)?;
        let steal = self.steal.saturating_sub(before.steal) as f64;
        let own = [self.user, self.system, self.wait, self.idle];
        let own_before = [before.user, before.system, before.wait, before.idle];
        let passed = own.iter().zip(own_before).map(|(now, then)| now.saturating_sub(then));
        let passed = passed.sum::<u64>() as f64;
        Some(HostLoad {
            busy_share: (shares.user_pct + shares.system_pct) / 100.0,
            steal_share: steal / (steal + passed),
        })
    }

    /// Returns shares of the time since `before`; `None` if none has passed.
    fn shares_since(self, before: Ticks) -> Option<CpuShares> {
        // The kernel's count of waiting may go back.
        let user = self.user.saturating_sub(before.user);
        let system = self.system.saturating_sub(before.system);
        let wait = self.wait.saturating_sub(before.wait);
        let idle = self.idle.saturating_sub(before.idle);
        let total = user + system + wait + idle;
        if total == 0 {
            return None;
        }
        let pct = |ticks: u64| 100.0 * ticks as f64 / total as f64;
        Some(CpuShares {
            user_pct: pct(user),
            system_pct: pct(system),
            wait_pct: pct(wait),
            idle_pct: pct(idle),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expected: Option<[f64; 4]>) {
        let ticks = |text: &str| Ticks::parse(text).expect("a line of processors");
        let shares = ticks(after).shares_since(ticks(before));
        let found = shares.map(|it| [it.user_pct, it.system_pct, it.wait_pct, it.idle_pct]);
        assert_eq!(found, expected);
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let before = "cpu  100 10 200 1000 50 5 5 7 0 0\ncpu0 100 10 200 1000 50 5 5 7 0 0\n";
        check(before, before, None);
        let after = "cpu  115 15 220 1040 60 10 10 99 0 0\n";
        check(before, after, Some([20.0, 30.0, 10.0, 40.0]));
        check("cpu  0 0 0 0\n", "cpu  1 0 1 2\n", Some([25.0, 25.0, 0.0, 50.0]));
        // Waiting went back by 10.
        check(before, "cpu  101 10 200 1001 40 5 5 7 0 0\n", Some([50.0, 0.0, 0.0, 50.0]));
    }

    #[test]
    fn what_hypervisors_took_is_told_apart() {
        let ticks = |text: &str| Ticks::parse(text).expect("a line of processors");
        let before = ticks("cpu  100 10 200 1000 50 5 5 7 0 0\n");
        let after = ticks("cpu  115 15 220 1040 60 10 10 32 0 0\n");
        let load = after.load_since(before).expect("time has passed");
        assert!((load.busy_share - 0.5).abs() < 1e-9, "{load:?}");
        assert!((load.steal_share - 0.2).abs() < 1e-9, "{load:?}");
        assert_eq!(after.load_since(after), None);
    }

    #[test]
    fn what_is_no_line_of_processors_is_not_one() {
        for text in ["", "cpu0 1 2 3 4\n", "cpu  1 2 3\n", "cpu  a b c d\n", "intr 1\n"] {
            assert_eq!(Ticks::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn this_host_says_what_its_processors_do() {
        let mut sampler = CpuSampler::start();
        std::thread::sleep(std::time::Duration::from_millis(50));
        if let Some(shares) = sampler.sample() {
            let sum = shares.user_pct + shares.system_pct + shares.wait_pct + shares.idle_pct;
            assert!((sum - 100.0).abs() < 1e-6, "{shares:?}");
        }
    }
}
