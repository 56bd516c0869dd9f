//! The seconds of several hosts as seconds of all.

use fleet::intervals::{Joiner, join};
use hist::Histogram;
use proptest::prelude::*;
use record::{Interval, IntervalDir, IntervalLatency, LatencyCounts, PerDirRecord};

/// An interval of step 0 from and to these milliseconds, with so many reads of 1 ms.
fn interval(from_ms: u64, to_ms: u64, n_ios: u64) -> Interval {
    of_step(0, from_ms, to_ms, n_ios)
}

fn of_step(step_idx: u32, from_ms: u64, to_ms: u64, n_ios: u64) -> Interval {
    let mut latencies = Histogram::new();
    latencies.record_n(1_000_000, n_ios);
    Interval {
        step_idx,
        end_ms: to_ms,
        length_ms: to_ms - from_ms,
        dirs: PerDirRecord {
            read: IntervalDir {
                n_ios,
                io_bytes: n_ios * 4096,
                latency: IntervalLatency::of(&latencies),
                latency_counts: LatencyCounts::of(&latencies),
                response: None,
            },
            ..PerDirRecord::default()
        },
        ..Interval::default()
    }
}

/// End, length, hosts and reads of each.
fn shape(intervals: &[Interval]) -> Vec<(u64, u64, u32, u64)> {
    let of = |it: &Interval| (it.end_ms, it.length_ms, it.n_hosts.unwrap_or(0), it.dirs.read.n_ios);
    intervals.iter().map(of).collect()
}

fn seconds(n: u64, n_ios: u64) -> Vec<Interval> {
    (0..n).map(|at| interval(at * 1000, (at + 1) * 1000, n_ios)).collect()
}

#[test]
fn equal_seconds_add_up_whatever_their_hosts_did_before() {
    let usual = seconds(3, 10);
    // It laid out files for five seconds longer before it began, and its thread is a little late.
    let late: Vec<Interval> = [(5000, 6004), (6004, 7001), (7001, 8003)]
        .map(|(from_ms, to_ms)| interval(from_ms, to_ms, 5))
        .to_vec();
    let joined = join(&[&usual, &late]);
    assert_eq!(shape(&joined), [(6004, 1004, 2, 15), (7001, 997, 2, 15), (8003, 1002, 2, 15)],);
}

#[test]
fn a_host_that_stood_still_is_behind_no_other_afterwards() {
    let usual = seconds(8, 10);
    // Still from 2.5 to 5.3 s.
    let frozen: Vec<Interval> = [(0, 1000, 4), (1000, 2000, 4), (2000, 5300, 3)]
        .into_iter()
        .chain([(5300, 6000, 2), (6000, 7000, 4), (7000, 8000, 4)])
        .map(|(from_ms, to_ms, n_ios)| interval(from_ms, to_ms, n_ios))
        .collect();
    assert_eq!(
        shape(&join(&[&usual, &frozen])),
        [
            (1000, 1000, 2, 14),
            (2000, 1000, 2, 14),
            (5300, 3300, 2, 33),
            (6000, 700, 2, 12),
            (7000, 1000, 2, 14),
            (8000, 1000, 2, 14),
        ]
    );
}

#[test]
fn seconds_without_a_host_say_so() {
    let usual = seconds(3, 10);
    let lost = seconds(1, 10);
    assert_eq!(
        shape(&join(&[&usual, &lost])),
        [(1000, 1000, 2, 20), (2000, 1000, 1, 10), (3000, 1000, 1, 10)]
    );
}

#[test]
fn steps_are_joined_each_by_itself() {
    let one = [of_step(0, 0, 1000, 1), of_step(1, 1500, 2500, 1)];
    let other = [of_step(0, 0, 1000, 2), of_step(0, 1000, 1400, 2), of_step(1, 1700, 2700, 2)];
    let joined = join(&[&one, &other]);
    assert_eq!(shape(&joined), [(1000, 1000, 2, 3), (1400, 400, 1, 2), (2700, 1000, 2, 3)]);
    assert_eq!(joined.iter().map(|it| it.step_idx).collect::<Vec<_>>(), [0, 0, 1]);
}

#[test]
fn what_is_shown_waits_for_those_that_are_heard() {
    let mut joiner = Joiner::new(2);
    let usual = seconds(4, 10);
    joiner.push(0, &usual[0]);
    assert_eq!(shape(&joiner.take(|_| true)), []);
    joiner.push(1, &usual[0]);
    joiner.push(0, &usual[1]);
    assert_eq!(shape(&joiner.take(|_| true)), [(1000, 1000, 2, 20)]);
    // The other is silent: what it did comes with it.
    joiner.push(0, &usual[2]);
    let shown = joiner.take(|idx| idx == 0);
    assert_eq!(shape(&shown), [(2000, 1000, 1, 10), (3000, 1000, 1, 10)]);
    joiner.push(1, &interval(1000, 3300, 7));
    joiner.push(1, &interval(3300, 4000, 6));
    joiner.push(0, &usual[3]);
    let shown = joiner.take(|_| true);
    assert_eq!(shape(&shown), [(3300, 300, 1, 7), (4000, 700, 2, 16)]);
}

/// Intervals of a host: lengths in milliseconds, of a second but for pauses.
fn host() -> impl Strategy<Value = Vec<Interval>> {
    let second = prop_oneof![9 => 1_u64..=1, 1 => 2_u64..=12];
    let seconds = proptest::collection::vec((second, 0_u64..20, 0_u64..100), 0..30);
    (seconds, 0_u64..5000).prop_map(|(seconds, began_ms)| {
        let (mut at_s, mut from_ms) = (0, 0);
        let mut intervals = Vec::new();
        for (length_s, late_ms, n_ios) in seconds {
            at_s += length_s;
            let to_ms = at_s * 1000 + late_ms;
            intervals.push(interval(began_ms + from_ms, began_ms + to_ms, n_ios));
            from_ms = to_ms;
        }
        intervals
    })
}

proptest! {
    #[test]
    fn nothing_is_lost_and_no_time_counts_twice(
        hosts in proptest::collection::vec(host(), 1..6),
    ) {
        let hosts: Vec<&[Interval]> = hosts.iter().map(Vec::as_slice).collect();
        let joined = join(&hosts);
        let n_ios = |intervals: &[Interval]| -> u64 {
            intervals.iter().map(|it| it.dirs.read.n_ios).sum()
        };
        prop_assert_eq!(n_ios(&joined), hosts.iter().map(|it| n_ios(it)).sum::<u64>());
        let longest = |intervals: &&[Interval]| -> u64 {
            intervals.iter().map(|it| it.length_ms).sum()
        };
        let length_ms: u64 = joined.iter().map(|it| it.length_ms).sum();
        prop_assert_eq!(length_ms, hosts.iter().map(longest).max().unwrap_or(0));
        for it in &joined {
            prop_assert_eq!(it.dirs.read.latency_counts.iter().map(|(_, n)| n).sum::<u64>(),
                it.dirs.read.n_ios);
            prop_assert!(it.n_hosts.is_some_and(|n| n >= 1 && n as usize <= hosts.len()));
        }
    }
}
