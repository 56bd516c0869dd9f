//! What this host's processors spend their time on.

use record::CpuShares;

/// Length of a tick of `/proc/stat`, nanoseconds: `USER_HZ` is 100 wherever Linux runs this.
const TICK_NS: u64 = 10_000_000;

/// Takes differences of the kernel's counters from period to period.
#[derive(Debug)]
pub(crate) struct CpuSampler {
    seen: Option<Ticks>,
    /// What this process had used when it began.
    own: OwnTime,
}

/// Processor time of this process, all threads together, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OwnTime {
    user_ns: u64,
    system_ns: u64,
}

impl OwnTime {
    fn now() -> Self {
        let usage = engine::Usage::of_process();
        OwnTime { user_ns: usage.user_ns, system_ns: usage.system_ns }
    }
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
pub struct HostLoad {
    /// Share of the processors' time that was not idle, without what was stolen; 0 to 1.
    pub busy_share: f64,
    /// Part of it in user mode.
    pub user_share: f64,
    /// Share of all time that hypervisors gave to others, 0 to 1.
    pub steal_share: f64,
    /// Part of `busy_share` that was this process's own.
    pub own_share: f64,
    /// Part of `user_share` that was other programs'.
    pub others_user_share: f64,
}

/// Returns how busy this host is while something is done; `None` where the kernel does not say.
pub fn load_while(work: impl FnOnce()) -> Option<HostLoad> {
    let sampler = CpuSampler::start();
    work();
    sampler.load()
}

impl CpuSampler {
    /// Begins the first period.
    pub(crate) fn start() -> Self {
        CpuSampler { seen: Ticks::now(), own: OwnTime::now() }
    }

    /// Returns how busy the host has been since the last period began; `None` where the kernel does
    /// not say.
    pub(crate) fn load(&self) -> Option<HostLoad> {
        let (now, seen) = (Ticks::now()?, self.seen?);
        let all_ns = now.passed_since(seen).saturating_mul(TICK_NS) as f64;
        let (own, before) = (OwnTime::now(), self.own);
        let share = |now_ns: u64, before_ns: u64| now_ns.saturating_sub(before_ns) as f64 / all_ns;
        let user_share = share(own.user_ns, before.user_ns);
        let system_share = share(own.system_ns, before.system_ns);
        Some(now.load_since(seen)?.beside(user_share, system_share))
    }

    /// Ends a period. `None` where the kernel does not say.
    pub(crate) fn sample(&mut self) -> Option<CpuShares> {
        let now = Ticks::now();
        let before = std::mem::replace(&mut self.seen, now);
        now?.shares_since(before?)
    }
}

impl HostLoad {
    /// Separates this process's own shares in user mode and in the kernel from those of others. The
    /// kernel counts both in its own ways, so that they may differ by a little.
    fn beside(self, user_share: f64, system_share: f64) -> Self {
        HostLoad {
            own_share: (user_share + system_share).min(self.busy_share),
            others_user_share: (self.user_share - user_share).max(0.0),
            ..self
        }
    }
}

impl Ticks {
    fn now() -> Option<Self> {
        Ticks::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads the first line of `/proc/stat` (proc(5)): user, nice, system, idle, iowait, irq,
    /// softirq, steal; what follows is part of user already. What hypervisors took counts as
    /// neither.
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

    /// Returns the ticks of all processors since `before`, with what was stolen.
    fn passed_since(self, before: Ticks) -> u64 {
        let all = [self.user, self.system, self.wait, self.idle, self.steal];
        let all_before = [before.user, before.system, before.wait, before.idle, before.steal];
        all.iter().zip(all_before).map(|(now, then)| now.saturating_sub(then)).sum()
    }

    fn load_since(self, before: Ticks) -> Option<HostLoad> {
        let shares = self.shares_since(before)?;
        let steal = self.steal.saturating_sub(before.steal) as f64;
        Some(HostLoad {
            busy_share: (shares.user_pct + shares.system_pct) / 100.0,
            user_share: shares.user_pct / 100.0,
            steal_share: steal / self.passed_since(before) as f64,
            own_share: 0.0,
            others_user_share: 0.0,
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
    fn what_hypervisors_took_is_kept_apart() {
        let ticks = |text: &str| Ticks::parse(text).expect("a line of processors");
        let before = ticks("cpu  100 10 200 1000 50 5 5 7 0 0\n");
        let after = ticks("cpu  115 15 220 1040 60 10 10 32 0 0\n");
        let load = after.load_since(before).expect("time has passed");
        assert!((load.busy_share - 0.5).abs() < 1e-9, "{load:?}");
        assert!((load.steal_share - 0.2).abs() < 1e-9, "{load:?}");
        assert_eq!(after.load_since(after), None);
    }

    #[test]
    fn our_processor_time_is_separated_from_that_of_others() {
        let (busy_share, user_share) = (0.9, 0.6);
        let (steal_share, own_share, others_user_share) = (0.0, 0.0, 0.0);
        let load = HostLoad { busy_share, user_share, steal_share, own_share, others_user_share };
        let beside = load.beside(0.1, 0.2);
        assert!((beside.own_share - 0.3).abs() < 1e-9, "{beside:?}");
        assert!((beside.others_user_share - 0.5).abs() < 1e-9, "{beside:?}");
        // Counted finer than the kernel's ticks.
        let alone = load.beside(0.61, 0.4);
        assert_eq!((alone.own_share, alone.others_user_share), (0.9, 0.0));
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
