//! The checks of a run: each passes, fails where it must, and says what it could not judge.

mod common;

use analysis::gates::{
    Backlog, Behind, BurstKnowledge, CacheSize, CreditInputs, CreditUnit, ErrorInputs,
    FlightInputs, FootprintInputs, GeneratorInputs, HostShares, IS_TRANSIENT, LateCount,
    OfferedInputs, PageCacheInputs, PauseInputs, SocketInputs, SteadyInputs, WaitInputs, credits,
    culprit, errors, footprint, generator, little, offered, page_cache, queue_depth, shared_disk,
    socket_buffers, steadiness,
};
use analysis::steady::SteadyRule;
use analysis::{Gate, GateName, GateVerdict};
use common::Noise;
use record::{DiskUseDir, DiskUseRecord};

use GateVerdict::{Failed, Passed, Unknown};

#[track_caller]
fn check(gate: &Gate, name: GateName, verdict: GateVerdict, reason: &str) {
    assert_eq!((gate.name, gate.verdict), (name, verdict), "{gate:?}");
    assert!(gate.reason.contains(reason), "{}", gate.reason);
    assert!(gate.figures.iter().all(|figure| figure.value.is_finite()), "{gate:?}");
}

const MIB: f64 = 1_048_576.0;

#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = GateName::ALL.iter().map(|name| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), GateName::ALL.len());
}

/// A series of levels, each for so many seconds, with noise of 1 % that resembles its neighbours.
fn levels(levels: &[(usize, f64)]) -> Vec<f64> {
    let n = levels.iter().map(|(n, _)| n).sum();
    let level = levels.iter().flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
    let noise = Noise::new(5).correlated(n, 0.5);
    level.zip(noise).map(|(level, part)| level * (1.0 + 0.01 * part)).collect()
}

#[track_caller]
fn check_steady(iops: &[f64], p99_ns: &[f64], verdict: GateVerdict, reason: &str) -> Gate {
    let rule = SteadyRule::default();
    let p99_ns = &[p99_ns][..];
    let gate = steadiness(&SteadyInputs { iops, p99_ns, is_response: false, sample_s: 1.0, rule });
    check(&gate, GateName::Steady, verdict, reason);
    gate
}

#[test]
fn a_run_is_steady_or_says_what_moved() {
    let flat = levels(&[(300, 5_000.0)]);
    let p99_ns = levels(&[(300, 2e6)]);
    check_steady(&flat, &p99_ns, Passed, "5 rounds");
    let rising: Vec<f64> =
        flat.iter().enumerate().map(|(s, iops)| iops * (1.0 + 0.0006 * s as f64)).collect();
    check_steady(&rising, &p99_ns, Failed, "IOPS rose by");
    let worse: Vec<f64> =
        p99_ns.iter().enumerate().map(|(s, ns)| ns * (1.0 + 0.001 * s as f64)).collect();
    check_steady(&flat, &worse, Failed, "p99 varied by");
    check_steady(&[0.0; 300], &p99_ns, Failed, "IOPS stood still");
    check_steady(&flat[..4], &p99_ns, Unknown, "4 samples do not make 5 rounds");
    let mut gap = p99_ns.clone();
    gap[200] = f64::NAN;
    check_steady(&flat, &gap, Unknown, "gaps");
}

/// Programs read the figure that a limit is held against, and not that of the last direction.
#[test]
fn of_several_directions_the_figures_of_the_least_steady_are_shown() {
    let flat = levels(&[(300, 2e6)]);
    let worse: Vec<f64> =
        flat.iter().enumerate().map(|(s, ns)| ns * (1.0 + 0.001 * s as f64)).collect();
    let range_of = |p99_ns: &[&[f64]]| {
        let (iops, is_response, sample_s, rule) = (&flat[..], false, 1.0, SteadyRule::default());
        let gate = steadiness(&SteadyInputs { iops, p99_ns, is_response, sample_s, rule });
        let n_named = gate.figures.iter().filter(|it| it.name == "p99_range_pct").count();
        (n_named, gate.figure("p99_range_pct").unwrap())
    };
    let alone = range_of(&[&worse]);
    assert!(alone.1 > 20.0, "{alone:?}");
    assert_eq!(range_of(&[&worse, &flat]), alone);
    assert_eq!(range_of(&[&flat, &worse]), alone);
}

#[test]
fn a_limit_that_changes_in_the_middle_is_not_steady() {
    let p99_ns = levels(&[(300, 2e6)]);
    let gate =
        check_steady(&levels(&[(180, 5_000.0), (120, 3_500.0)]), &p99_ns, Failed, "IOPS went");
    let at_s = gate.figure("change_at_s").unwrap();
    assert!((175.0..=185.0).contains(&at_s), "{at_s}");
    // There and back: the first and the last round agree.
    check_steady(
        &levels(&[(100, 5_000.0), (60, 4_300.0), (140, 5_000.0)]),
        &p99_ns,
        Failed,
        "went",
    );
}

/// Judges operations of seconds, each of which counts as one.
fn judge_credits(iops: &[f64], knowledge: BurstKnowledge) -> Gate {
    credits(&CreditInputs {
        unit: CreditUnit::Iops,
        iops,
        sample_s: 1.0,
        counted_per_s: None,
        place: None,
        knowledge,
        follows_rate: false,
    })
}

/// A rate that fell because less was asked for is no end of credits; what was drawn in the mean is
/// what counts. 1,000 seconds at 2,000 and as many at 100 draw 550 a second more than 500.
#[test]
fn a_rate_that_follows_what_is_asked_for_shows_no_end_of_credits() {
    let asked = [[2_000.0; 1_000], [100.0; 1_000]].concat();
    let judge = |baseline_iops: f64, follows_rate| {
        credits(&CreditInputs {
            unit: CreditUnit::Iops,
            iops: &asked,
            sample_s: 1.0,
            counted_per_s: None,
            place: None,
            knowledge: BurstKnowledge::Known { baseline_iops, credit_ios: 3_300_000.0 },
            follows_rate,
        })
    };
    check(&judge(500.0, false), GateName::Credits, Failed, "fell from 2000 to 100");
    let gate = judge(500.0, true);
    check(&gate, GateName::Credits, Unknown, "1050 IOPS are above the baseline of 500");
    assert_eq!(gate.figure("lasts_s"), Some(6_000.0));
    check(&judge(1_100.0, true), GateName::Credits, Passed, "within the baseline");
}

#[test]
fn a_level_that_lives_on_another_account_is_reported() {
    let judge_known = |iops: &[f64]| {
        let knowledge = BurstKnowledge::Known { baseline_iops: 500.0, credit_ios: 5_400_000.0 };
        judge_credits(iops, knowledge)
    };
    // A fall that another account's end brings about leaves a level that lives on this one: 200 s
    // of it are left.
    let other = levels(&[(1_800, 2_500.0), (1_600, 1_500.0)]);
    let gate = judge_known(&other);
    check(&gate, GateName::Credits, Unknown, "credits possible: 150");
    check(&gate, GateName::Credits, Unknown, "at the end are above the baseline of 500");
    let lasts_s = gate.figure("lasts_s").unwrap();
    assert!((3_590.0..=3_610.0).contains(&lasts_s), "{lasts_s}");
    // The second in which the credits end is of both levels, and is none.
    let mut ended = levels(&[(1_800, 2_500.0), (1_600, 1_500.0)]);
    ended.push(900.0);
    ended.extend(levels(&[(200, 500.0)]));
    let gate = judge_known(&ended);
    check(&gate, GateName::Credits, Failed, "IOPS fell from 1");
    let before = gate.figure("before_iops").unwrap();
    assert!((1_490.0..=1_510.0).contains(&before), "{before}");
    let at_s = gate.figure("fell_at_s").unwrap();
    assert!((3_398.0..=3_402.0).contains(&at_s), "{at_s}");
}

#[test]
fn credits_that_run_out_or_might() {
    let burst = levels(&[(1_805, 3_500.0), (1_795, 500.0)]);
    let judge = judge_credits;
    let unknown = BurstKnowledge::Unknown { lasts_s_max: 3_600.0 };
    let gate = judge(&burst, unknown);
    check(&gate, GateName::Credits, Failed, "burst credits run out");
    let at_s = gate.figure("fell_at_s").unwrap();
    assert!((1_800.0..=1_810.0).contains(&at_s), "{at_s}");
    check(&judge(&burst[..600], unknown), GateName::Credits, Unknown, "credits possible");
    let flat = levels(&[(3_600, 500.0)]);
    check(&judge(&flat, unknown), GateName::Credits, Passed, "did not fall");
    let known = BurstKnowledge::Known { baseline_iops: 500.0, credit_ios: 5_400_000.0 };
    check(&judge(&burst[..600], known), GateName::Credits, Unknown, "full credits last 30m");
    check(&judge(&flat[..60], known), GateName::Credits, Passed, "within the baseline");
    // 1 MiB each: four units of 256 KiB.
    let large = levels(&[(60, 200.0)]);
    let inputs = CreditInputs {
        unit: CreditUnit::Iops,
        iops: &large,
        sample_s: 1.0,
        counted_per_s: Some(800.0),
        place: None,
        knowledge: known,
        follows_rate: false,
    };
    let gate = credits(&inputs);
    check(&gate, GateName::Credits, Unknown, "200 IOPS, which count as 800, are above");
    assert_eq!(gate.figure("lasts_s"), Some(18_000.0));
    // Of all that was done, one disk took 3,500: a tenth of it is no fall onto its baseline.
    let beside = levels(&[(1_500, 10_500.0)]);
    let of_one = |iops, counted_per_s| {
        let place = Some("/c");
        credits(&CreditInputs { iops, counted_per_s: Some(counted_per_s), place, ..inputs })
    };
    let gate = of_one(&beside, 3_500.0);
    check(&gate, GateName::Credits, Unknown, "3500 IOPS on /c are above the baseline of 500");
    assert_eq!(gate.figure("lasts_s"), Some(1_800.0));
    check(&of_one(&beside, 500.0), GateName::Credits, Passed, "within the baseline");
    let to_the_end = levels(&[(3_600, 10_500.0)]);
    check(&of_one(&to_the_end, 2_000.0), GateName::Credits, Failed, "spent full credits");
    // A rate 8 % above the baseline lives on credits, too.
    let slow = levels(&[(10_800, 2_500.0), (9_200, 2_300.0)]);
    let known = BurstKnowledge::Known { baseline_iops: 2_300.0, credit_ios: 2_160_000.0 };
    let gate = judge(&slow, known);
    check(&gate, GateName::Credits, Failed, "fell from 2500 to 230");
    let at_s = gate.figure("fell_at_s").unwrap();
    assert!((10_795.0..=10_805.0).contains(&at_s), "{at_s}");
    // A load that falls by as much, and not onto the baseline, is one that was asked for.
    let lower = levels(&[(600, 2_700.0), (600, 2_500.0)]);
    check(&judge(&lower, known), GateName::Credits, Unknown, "credits possible");
    check(&judge(&slow, unknown), GateName::Credits, Passed, "did not fall");
    check(&judge(&burst[..600], BurstKnowledge::None), GateName::Credits, Passed, "no burst");
    check(&judge(&[], unknown), GateName::Credits, Unknown, "no samples");
}

const FLIGHT: FlightInputs = FlightInputs {
    in_flight: Some(32.0),
    completed_iops: 16_000.0,
    service_ns: Some(2e6),
    window_s: 60.0,
    latency_ns_max: 0,
};

#[test]
fn littles_law() {
    // Depth 8 of 4 workers.
    check(&little(&FLIGHT), GateName::Little, Passed, "32.00 in flight");
    let off = FlightInputs { service_ns: Some(1.95e6), ..FLIGHT };
    check(&little(&off), GateName::Little, Failed, "off by 2.5 %");
    let near = FlightInputs { service_ns: Some(1.97e6), ..FLIGHT };
    check(&little(&near), GateName::Little, Passed, "off by 1.5 %");
    let unsampled = FlightInputs { in_flight: None, ..FLIGHT };
    check(&little(&unsampled), GateName::Little, Unknown, "not sampled");
    let short = FlightInputs { window_s: 0.1, ..FLIGHT };
    check(&little(&short), GateName::Little, Unknown, "too short");
    let idle = FlightInputs { in_flight: Some(0.0), ..FLIGHT };
    check(&little(&idle), GateName::Little, Failed, "0.00 in flight");
    // A thousand I/Os of 40 us in 5 s, and one of 40 ms that crossed the start.
    let few = FlightInputs {
        in_flight: Some(0.008),
        completed_iops: 200.0,
        service_ns: Some(80e3),
        window_s: 5.0,
        latency_ns_max: 40_000_000,
    };
    check(&little(&few), GateName::Little, Passed, "off by 100.0 %");
    let unexplained = FlightInputs { latency_ns_max: 4_000_000, ..few };
    check(&little(&unexplained), GateName::Little, Failed, "off by 100.0 %");
    let many = FlightInputs { service_ns: Some(1.9e6), latency_ns_max: 90_000_000, ..FLIGHT };
    check(&little(&many), GateName::Little, Failed, "off by 5.0 %");
}

#[test]
fn the_depth_asked_for() {
    check(&queue_depth(32.0, 1, &FLIGHT), GateName::QueueDepth, Passed, "32.0 kept");
    check(&queue_depth(33.5, 1, &FLIGHT), GateName::QueueDepth, Passed, "32.0 kept");
    check(&queue_depth(34.0, 1, &FLIGHT), GateName::QueueDepth, Failed, "32.0 kept");
    let one = FlightInputs { in_flight: Some(0.92), ..FLIGHT };
    check(&queue_depth(1.0, 1, &one), GateName::QueueDepth, Passed, "0.92 kept");
    check(&queue_depth(2.0, 1, &one), GateName::QueueDepth, Failed, "0.92 kept");
    check(
        &queue_depth(64.0, 1, &FLIGHT),
        GateName::QueueDepth,
        Failed,
        "64 was asked for, and 32.0",
    );
    // Without samples, rate x service time tells it.
    let unsampled = FlightInputs { in_flight: None, ..FLIGHT };
    check(&queue_depth(32.0, 1, &unsampled), GateName::QueueDepth, Passed, "32.0 kept");
    let empty = FlightInputs { in_flight: None, service_ns: None, ..FLIGHT };
    check(&queue_depth(32.0, 1, &empty), GateName::QueueDepth, Unknown, "no operations");
    check(&queue_depth(0.0, 1, &FLIGHT), GateName::QueueDepth, Unknown, "no queue depth");
}

const OFFERED: OfferedInputs = OfferedInputs {
    offered_iops: 1_000.0,
    achieved_iops: 964.8,
    worker_share_min: Some(0.9),
    backlog_start: 0,
    backlog_end: 0,
    window_s: 60.0,
    behind: None,
};

/// All of it was done in the end, and none when it was asked for.
#[test]
fn a_rate_that_was_not_followed_for_a_time_was_not_carried() {
    let behind = Some(Behind { since_s: 3_960.0, delay_s_max: 2_689.0 });
    let gate = offered(&OfferedInputs { achieved_iops: 1_000.0, behind, ..OFFERED });
    check(&gate, GateName::Offered, Failed, "not carried from 3960 s on: operations waited up to");
    assert_eq!(gate.figure("behind_since_s"), Some(3_960.0));
}

#[test]
fn the_rate_asked_for() {
    check(&offered(&OFFERED), GateName::Offered, Passed, "96.5 %");
    let less = OfferedInputs { offered_iops: 67_500.0, achieved_iops: 48_731.0, ..OFFERED };
    check(&offered(&less), GateName::Offered, Failed, "72.2 %");
    let uneven = OfferedInputs { worker_share_min: Some(0.74), ..OFFERED };
    check(&offered(&uneven), GateName::Offered, Failed, "one worker achieved 74.0 %");
    let growing = OfferedInputs { backlog_end: 700, ..OFFERED };
    check(&offered(&growing), GateName::Offered, Failed, "from 0 to 700");
    let steady_backlog = OfferedInputs { backlog_start: 700, backlog_end: 700, ..OFFERED };
    check(&offered(&steady_backlog), GateName::Offered, Passed, "");
    let unasked = OfferedInputs { offered_iops: 0.0, ..OFFERED };
    check(&offered(&unasked), GateName::Offered, Unknown, "no rate");
    let nothing = OfferedInputs { achieved_iops: f64::NAN, ..OFFERED };
    check(&offered(&nothing), GateName::Offered, Failed, "");
}

/// A generator and a host with capacity left, over five seconds.
const EASY: GeneratorInputs = GeneratorInputs {
    is_open: true,
    is_null: false,
    window_s: Some(5.0),
    worker_cpu_share_max: Some(0.4),
    filled_share: Some(0.2),
    host: Some(HostShares { busy: 0.3, own: Some(0.2), others_user: Some(0.01), steal: 0.0 }),
    late: Some(LateCount { n_late: 4, n_due: 5000 }),
    waits: Some(WaitInputs {
        share_max: 0.01,
        per_io_ns: 5e3,
        latency_ns_mean: 1e6,
        wait_ns_mean: 5e3,
        long_share: None,
    }),
    pauses: Some(PauseInputs { share: 0.002, n_moments: 1000, longest_ns: 3_000_000 }),
};

fn host(busy: f64, own: f64, others: f64, steal: f64) -> HostShares {
    HostShares { busy, own: Some(own), others_user: Some(others), steal }
}

fn waits(share_max: f64, per_io_ns: f64) -> WaitInputs {
    WaitInputs {
        share_max,
        per_io_ns,
        latency_ns_mean: 1e6,
        wait_ns_mean: per_io_ns,
        long_share: None,
    }
}

fn still(share: f64, longest_ns: u64) -> PauseInputs {
    PauseInputs { share, n_moments: 1000, longest_ns }
}

fn late(n_late: u64, n_due: u64) -> LateCount {
    LateCount { n_late, n_due }
}

/// Checks what fails, and what is advised.
#[track_caller]
fn trips(inputs: GeneratorInputs, reason: &str, advice: &str) {
    let gate = generator(&inputs);
    check(&gate, GateName::Generator, Failed, reason);
    assert!(gate.advice.is_some_and(|it| it.contains(advice)), "{gate:?}");
}

#[test]
fn a_generator_with_room_to_spare() {
    check(&generator(&EASY), GateName::Generator, Passed, "capacity left");
    check(&generator(&GeneratorInputs::default()), GateName::Generator, Unknown, "not known");
    // What others do to it counts, not what they do.
    let calm = [
        GeneratorInputs { host: Some(host(0.9, 0.1, 0.75, 0.0)), ..EASY },
        GeneratorInputs { host: Some(host(0.3, 0.2, 0.0, 0.024)), ..EASY },
        // One hiccup in a second is not a percent.
        GeneratorInputs { late: Some(late(9, 100)), window_s: Some(1.0), ..EASY },
        GeneratorInputs {
            pauses: Some(PauseInputs { share: 0.02, n_moments: 100, longest_ns: 8_000_000 }),
            ..EASY
        },
        // In a closed load few are in flight meanwhile.
        GeneratorInputs { pauses: Some(still(0.015, 30_000_000)), is_open: false, ..EASY },
        // Waits are short against the latency.
        GeneratorInputs { waits: Some(waits(0.04, 190_000.0)), ..EASY },
    ];
    for inputs in calm {
        check(&generator(&inputs), GateName::Generator, Passed, "");
    }
}

#[test]
fn a_generator_at_its_limit() {
    let busy = GeneratorInputs { worker_cpu_share_max: Some(0.99), ..EASY };
    trips(busy, "a worker was busy for 99.0 %", "more workers");
    let full = GeneratorInputs { host: Some(host(0.99, 0.95, 0.01, 0.0)), ..EASY };
    trips(full, "this job itself used 95.0 % of all processors", "more processors");
    trips(
        GeneratorInputs {
            waits: Some(waits(0.3, 9e5)),
            host: Some(host(0.9, 0.88, 0.0, 0.0)),
            ..EASY
        },
        "waited for a processor for 30.0 % of their time, which costs up to 30.0 % of the \
         throughput (limit 5.0 %)",
        "more processors",
    );
    let calls = GeneratorInputs { late: Some(late(1000, 5000)), ..EASY };
    trips(calls, "20.0 % of the operations were submitted late", "calls that submit");
}

#[test]
fn a_generator_that_others_disturb() {
    // 500 IOPS with 3.4 % CPU, beside others.
    let beside = GeneratorInputs {
        worker_cpu_share_max: Some(0.034),
        host: Some(host(0.999, 0.02, 0.9, 0.0)),
        waits: Some(waits(0.2, 4e5)),
        ..EASY
    };
    trips(beside, "other programs used the processor (90.0 %)", "end the other programs");
    let stolen = GeneratorInputs {
        host: Some(host(0.3, 0.2, 0.0, 0.09)),
        pauses: Some(still(0.06, 9)),
        ..EASY
    };
    trips(stolen, "the hypervisor took the processor (steal 9.0 %)", "dedicated processors");
    trips(
        GeneratorInputs { host: Some(host(0.3, 0.2, 0.0, 0.2)), ..EASY },
        "20.0 %",
        "dedicated processors",
    );
    let stopped = GeneratorInputs { pauses: Some(still(0.12, 400_000_000)), ..EASY };
    trips(stopped, "was paused for 12.0 % of the time, for up to 400 ms at once", "was stopped");
    trips(GeneratorInputs { is_open: false, ..stopped }, "the process was stopped", "repeat");
    let gate = generator(&stopped);
    assert_eq!(gate.figure(IS_TRANSIENT), Some(1.0));
    let busy = GeneratorInputs { worker_cpu_share_max: Some(0.99), ..EASY };
    assert_eq!(generator(&busy).figure(IS_TRANSIENT), Some(0.0), "it stays so");
}

/// Two workers with eight in flight each beside which a little else runs: waits of 31 us in a
/// latency of 215 us keep one completion in eight waiting, and move rates by less than 2 %.
#[test]
fn waits_that_are_short_against_the_latency_spoil_nothing() {
    let short = WaitInputs {
        share_max: 0.07,
        per_io_ns: 1_900.0,
        latency_ns_mean: 215_000.0,
        wait_ns_mean: 31_000.0,
        long_share: Some(0.003),
    };
    let of = |waits| GeneratorInputs { is_open: false, waits: Some(waits), ..EASY };
    check(&generator(&of(short)), GateName::Generator, Passed, "");
    let advice = "dedicated processors";
    trips(of(WaitInputs { long_share: Some(0.05), ..short }), "for 7.0 %", advice);
    trips(of(WaitInputs { long_share: None, ..short }), "on a host that was 30.0 % busy", advice);
    // One in flight: it is the one that waits.
    trips(of(WaitInputs { per_io_ns: 15_000.0, ..short }), "for 7.0 %", advice);
}

/// A closed load of `depth` whose latency is about 300 us, on a processor that others take for
/// `hog_us` at a time, so much of the time, and on which each wake-up takes `wake_us`. Returns what
/// is known of the waits, and by how much throughput is lower for them.
fn waiting(depth: usize, wake_us: f64, hog_us: f64, hog_share: f64) -> (WaitInputs, f64) {
    const LATENCY_US: f64 = 300.0;
    let run = |wake_us: f64, hog_share: f64| {
        let mut noise = Noise::new(11);
        let mut latency = move || LATENCY_US * (0.5 + noise.unit());
        let mut hogs = Noise::new(12);
        let (mut now, mut hog) = (0.0_f64, (0.0_f64, 0.0_f64));
        let mut flying: Vec<f64> = (0..depth).map(|_| latency()).collect();
        let (mut n_ios, mut n_waits, mut waited) = (0_u64, 0_u64, 0.0);
        while now < 3e6 {
            let first = flying.iter().copied().fold(f64::INFINITY, f64::min).max(now);
            while hog_share > 0.0 && hog.1 <= first {
                let from = hog.1 + hogs.exponential() * hog_us * (1.0 - hog_share) / hog_share;
                hog = (from, from + hogs.exponential() * hog_us);
            }
            let wait = wake_us + if hog.0 <= first { (hog.1 - first).max(0.0) } else { 0.0 };
            (now, n_waits, waited) = (first + wait, n_waits + 1, waited + wait);
            for due in flying.iter_mut().filter(|due| **due <= now) {
                (n_ios, *due) = (n_ios + 1, now + latency());
            }
        }
        (n_ios as f64 / now, waited / now, waited / n_ios as f64, waited / n_waits as f64)
    };
    let (undisturbed, ..) = run(0.0, 0.0);
    let (rate, share_max, per_io_us, wait_us) = run(wake_us, hog_share);
    let latency_us = depth as f64 / rate;
    let waits = WaitInputs {
        share_max,
        per_io_ns: per_io_us * 1e3,
        latency_ns_mean: latency_us * 1e3,
        wait_ns_mean: wait_us * 1e3,
        long_share: Some(hog_share * (-latency_us / 2.0 / hog_us).exp()),
    };
    (waits, 1.0 - rate / undisturbed)
}

/// The limit is one on what waits change, and not on how much there is of them.
#[test]
fn waits_are_reported_where_they_cost_throughput() {
    let (mut n_reported, mut n_not) = (0, 0);
    for depth in [1, 4, 8, 32] {
        for (wake_us, hog_us, hog_share) in [
            (3.0, 1.0, 0.0),
            (10.0, 1.0, 0.0),
            (40.0, 1.0, 0.0),
            (1.0, 3_000.0, 0.02),
            (1.0, 3_000.0, 0.1),
            (1.0, 3_000.0, 0.4),
            (5.0, 100.0, 0.1),
            (5.0, 500.0, 0.1),
        ] {
            let (waits, lost) = waiting(depth, wake_us, hog_us, hog_share);
            let inputs = GeneratorInputs { is_open: false, waits: Some(waits), ..EASY };
            let has_failed = generator(&inputs).verdict == Failed;
            let case = format!("{depth} in flight, {wake_us} us, {hog_us} us for {hog_share}");
            assert!(has_failed || lost < 0.06, "{case}: {lost:.3} lost, {waits:?}");
            assert!(!has_failed || lost > 0.025, "{case}: {lost:.3} lost, {waits:?}");
            n_reported += u32::from(has_failed);
            n_not += u32::from(!has_failed && waits.share_max > 0.05);
        }
    }
    assert!(
        n_reported > 5 && n_not > 3,
        "{n_reported} reported, {n_not} with many waits that cost little"
    );
}

#[test]
fn a_short_time_is_judged_where_the_evidence_is_overwhelming() {
    let short = GeneratorInputs { window_s: Some(0.4), ..EASY };
    check(&generator(&short), GateName::Generator, Unknown, "too short");
    let little = GeneratorInputs { pauses: Some(still(0.05, 20_000_000)), ..short };
    check(&generator(&little), GateName::Generator, Unknown, "too short");
    trips(GeneratorInputs { pauses: Some(still(0.5, 200_000_000)), ..short }, "50.0 %", "stopped");
    trips(GeneratorInputs { late: Some(late(300, 1000)), ..short }, "30.0 %", "");
    // A run of a millisecond may have waited once.
    let waited = GeneratorInputs { waits: Some(waits(0.9, 9e5)), ..short };
    trips(waited, "90.0 %", "");
    let tiny = GeneratorInputs { window_s: Some(0.001), ..waited };
    check(&generator(&tiny), GateName::Generator, Unknown, "too short");
    trips(GeneratorInputs { host: Some(host(1.0, 0.1, 0.8, 0.0)), ..short }, "100.0 %", "other");
}

#[test]
fn the_null_engine_is_judged_by_what_others_do_to_it() {
    let null = GeneratorInputs {
        is_null: true,
        worker_cpu_share_max: Some(1.0),
        host: Some(host(1.0, 0.99, 0.0, 0.0)),
        late: Some(late(4000, 5000)),
        waits: Some(waits(0.5, 1e4)),
        ..EASY
    };
    check(&generator(&null), GateName::Generator, Passed, "");
    trips(
        GeneratorInputs { pauses: Some(still(0.12, 400_000_000)), ..null },
        "was paused",
        "stopped",
    );
    trips(
        GeneratorInputs { host: Some(host(1.0, 0.4, 0.6, 0.0)), ..null },
        "other programs",
        "other",
    );
}

/// What looks for pauses waits for a processor, too, where this job uses all of them.
#[test]
fn a_job_that_uses_all_processors_was_not_stopped() {
    let full = GeneratorInputs {
        worker_cpu_share_max: Some(0.97),
        host: Some(host(1.0, 0.95, 0.03, 0.0)),
        pauses: Some(still(0.03, 5_000_000)),
        late: Some(late(4000, 5000)),
        ..EASY
    };
    trips(full, "itself used 95.0 %", "more processors");
    // Short pauses beside others who have all processors are waits for one; long ones are not.
    let others = GeneratorInputs { host: Some(host(1.0, 0.4, 0.55, 0.008)), ..full };
    trips(others, "was paused", "end the other programs");
    let long = GeneratorInputs { pauses: Some(still(0.03, 400_000_000)), ..others };
    trips(
        GeneratorInputs { host: Some(host(1.0, 0.4, 0.55, 0.0)), ..long },
        "was paused",
        "stopped",
    );
    // Two of sixteen processors, or nearly all of them.
    for (filled, share) in [(0.97, host(0.14, 0.12, 0.01, 0.0)), (0.9, host(0.93, 0.9, 0.01, 0.0))]
    {
        let bound = GeneratorInputs { filled_share: Some(filled), host: Some(share), ..full };
        let gate = generator(&bound);
        trips(bound, "of the processors that it may use", "more processors");
        assert_eq!(gate.figure(IS_TRANSIENT), Some(0.0), "it stays so");
        let taken = GeneratorInputs { filled_share: Some(0.6), ..bound };
        trips(taken, "was paused", "stopped");
    }
}

#[test]
fn a_long_pause_is_reported_in_a_valid_run() {
    let once =
        GeneratorInputs { pauses: Some(still(0.005, 1_500_000_000)), is_open: false, ..EASY };
    let gate = generator(&once);
    check(&gate, GateName::Generator, Passed, "was paused once for 1.5s");
    assert_eq!(gate.figure("n_remarks"), Some(1.0));
}

const GIB: u64 = 1 << 30;

#[test]
fn more_is_touched_than_caches_hold() {
    let judge = |touched: Option<u64>, host: Option<u64>| {
        let caches = [
            CacheSize { name: "controller", bytes: Some(GIB) },
            CacheSize { name: "host cache", bytes: host },
        ];
        footprint(&FootprintInputs { touched_bytes: touched, caches: &caches })
    };
    check(
        &judge(Some(64 * GIB), Some(32 * GIB)),
        GateName::Footprint,
        Passed,
        "more than the host",
    );
    check(
        &judge(Some(8 * GIB), Some(32 * GIB)),
        GateName::Footprint,
        Failed,
        "the host cache holds 32.0 GiB",
    );
    check(&judge(Some(8 * GIB), None), GateName::Footprint, Unknown, "host cache is unknown");
    check(&judge(Some(GIB / 2), None), GateName::Footprint, Failed, "the controller holds");
    check(&judge(None, None), GateName::Footprint, Unknown, "not known");
    let none = FootprintInputs { touched_bytes: Some(1), caches: &[] };
    check(&footprint(&none), GateName::Footprint, Passed, "no cache");
}

#[test]
fn the_page_cache_of_this_host() {
    let judge = |is_direct, touched_bytes| {
        page_cache(&PageCacheInputs { is_direct, touched_bytes, memory_bytes: 8 * GIB })
    };
    let name = GateName::PageCache;
    check(&judge(Some(true), None), name, Passed, "direct");
    check(&judge(Some(false), Some(4 * GIB)), name, Failed, "speed of memory");
    check(&judge(Some(false), Some(32 * GIB)), name, Passed, "was used, but");
    check(&judge(Some(false), None), name, Unknown, "up to 8.00 GiB");
    check(&judge(None, None), name, Unknown, "not known");
}

#[test]
fn operations_that_fail() {
    let judge = |n_ios, n_errors, share_max| errors(&ErrorInputs { n_ios, n_errors, share_max });
    check(&judge(1_000, 0, 0.0), GateName::Errors, Passed, "no operation failed");
    check(&judge(1_000, 1, 0.0), GateName::Errors, Failed, "1 of 1001");
    check(&judge(999, 1, 0.01), GateName::Errors, Passed, "1 of 1000");
    check(&judge(0, 5, 1.0), GateName::Errors, Failed, "5 of 5");
    check(&judge(0, 0, 0.0), GateName::Errors, Unknown, "no operation");
}

/// Linux's defaults, and 4,500 MiB/s at 1 ms over one connection: 4,608 KiB under way.
const SOCKETS: SocketInputs = SocketInputs {
    bandwidth_bytes_s: 4_500.0 * MIB,
    round_trip_ns: 1e6,
    n_connections: 1,
    tcp_rmem: Some([4_096, 131_072, 6_291_456]),
    tcp_wmem: Some([4_096, 16_384, 4_194_304]),
    rmem_max: Some(212_992),
    wmem_max: Some(212_992),
    is_set_by_program: false,
};

#[test]
fn socket_buffers_hold_what_is_under_way() {
    let name = GateName::SocketBuffers;
    let gate = socket_buffers(&SOCKETS);
    check(&gate, name, Failed, "net.ipv4.tcp_wmem allows 4.00 MiB per connection");
    check(&gate, name, Failed, "so 1 connection carries 2000 MiB/s at 1.00 ms");
    check(&gate, name, Failed, "set it to 9437184 or more");
    assert!((gate.figure("flight_bytes").unwrap() - 4_500.0 * 1_048.576).abs() < 1.0);
    // What is asked for would do, and so would three connections.
    let enough = Some([4_096, 131_072, 9_437_184]);
    check(
        &socket_buffers(&SocketInputs { tcp_rmem: enough, tcp_wmem: enough, ..SOCKETS }),
        name,
        Passed,
        "4.50 MiB are under way",
    );
    check(&socket_buffers(&SocketInputs { n_connections: 3, ..SOCKETS }), name, Passed, "");
    let by_program = SocketInputs { is_set_by_program: true, n_connections: 3, ..SOCKETS };
    check(&socket_buffers(&by_program), name, Failed, "net.core.rmem_max allows 208 KiB");
    let unknown = SocketInputs { tcp_rmem: None, tcp_wmem: None, ..SOCKETS };
    check(&socket_buffers(&unknown), name, Unknown, "not known");
    let no_path = SocketInputs { round_trip_ns: 0.0, ..SOCKETS };
    check(&socket_buffers(&no_path), name, Unknown, "round trip");
}

/// Of 26,300 due a percent is 263; of random ones 2 sqrt(26,300) = 324 may wait by chance; of few
/// due a bunch of 16, or at random 2 sqrt(150) = 24.5.
#[test]
fn a_backlog_grows_when_more_waits_than_chance_leaves() {
    let pressure = |n_due, is_random, end| Backlog { start: 10, end, n_due, is_random }.pressure();
    assert!(pressure(26_300.0, false, 10 + 263) <= 1.0);
    assert!(pressure(26_300.0, false, 10 + 264) > 1.0);
    assert!(pressure(26_300.0, true, 10 + 324) <= 1.0);
    assert!(pressure(26_300.0, true, 10 + 325) > 1.0);
    assert!(pressure(150.0, false, 10 + 16) <= 1.0);
    assert!(pressure(150.0, true, 10 + 24) <= 1.0);
    assert!(pressure(150.0, true, 10 + 25) > 1.0);
    assert!(pressure(150.0, true, 3).abs() < f64::EPSILON, "it shrank");
}

#[test]
fn who_was_at_fault_is_the_last_clause() {
    let reason = "client-bound: 30.0 % of the operations were submitted late (limit 1 %); \
                  other programs used the processor (92.0 %)";
    assert_eq!(culprit(reason), "other programs used the processor (92.0 %)");
    assert_eq!(culprit("client-bound: a worker was busy"), "a worker was busy");
    let of_hosts = format!("`vm1`: {reason}");
    let said = "on `vm1` other programs used the processor (92.0 %)";
    assert_eq!(culprit(&of_hosts), said);
}

/// Five seconds of a disk that was always busy with 100,000 reads of 4 KiB, all of this process.
fn alone() -> DiskUseRecord {
    let bytes = 100_000 * 4096;
    DiskUseRecord {
        disks: vec!["sda".to_owned()],
        length_ms: 5000,
        busy_share: 1.0,
        read: DiskUseDir { n_ios: 100_000, bytes, own_bytes: bytes },
        write: DiskUseDir::default(),
        knows_own_writes: true,
    }
}

#[test]
fn what_others_take_of_a_disk_spoils_a_run() {
    let check = |change: fn(&mut DiskUseRecord), verdict, reason: &str| {
        let mut disk_use = alone();
        change(&mut disk_use);
        check(&shared_disk(&disk_use), GateName::SharedDisk, verdict, reason);
    };
    let mib = 1 << 20;
    check(|_| {}, Passed, "others took 0.0 % of the time of sda");
    // A log and a journal.
    let few = |it: &mut DiskUseRecord| {
        it.write = DiskUseDir { n_ios: 60, bytes: 700_000, own_bytes: 150_000 };
    };
    check(few, Passed, "0.1 %");
    // A third as many reads as ours: a quarter of all.
    let readers = |it: &mut DiskUseRecord| {
        it.read.own_bytes = it.read.bytes;
        it.read.bytes += it.read.bytes / 3;
        it.read.n_ios += it.read.n_ios / 3;
    };
    check(readers, Failed, "25.0 % of the time of sda went to others (limit 10.0 %)");
    // Few long writes beside many short reads: by their bytes.
    let copy = |it: &mut DiskUseRecord| {
        it.write = DiskUseDir { n_ios: 500, bytes: 500 << 20, own_bytes: 0 };
    };
    check(copy, Failed, "others used the disk (wrote 100 MiB/s)");
    let with_a_read = |it: &mut DiskUseRecord| {
        it.read.bytes += 4096;
        it.write = DiskUseDir { n_ios: 500, bytes: 500 << 20, own_bytes: 0 };
    };
    check(with_a_read, Failed, "others used the disk (wrote 100 MiB/s)");
    // Many short writes beside long reads: by their number.
    let commits = |it: &mut DiskUseRecord| {
        it.read = DiskUseDir { n_ios: 5000, bytes: 5000 << 20, own_bytes: 5000 << 20 };
        it.write = DiskUseDir { n_ios: 5000, bytes: 5000 * 4096, own_bytes: 0 };
    };
    check(commits, Failed, "50.0 % of the time");
    // A disk that is idle as a rule has time for both.
    let idle = |it: &mut DiskUseRecord| {
        it.busy_share = 0.05;
        it.write = DiskUseDir { n_ios: 100_000, bytes: 400 << 20, own_bytes: 0 };
    };
    check(idle, Passed, "2.5 %");
    // Commits: a journal writes more than it is asked for, and somebody's 27 reads are no load.
    let commits = |it: &mut DiskUseRecord| {
        it.read = DiskUseDir { n_ios: 27, bytes: 27 * 16384, own_bytes: 0 };
        it.write = DiskUseDir { n_ios: 20_000, bytes: 200 << 20, own_bytes: 60 << 20 };
        it.knows_own_writes = false;
    };
    check(commits, Passed, "others' reads took 0.2 % of the time of sda; whose writes they are");
    let reads_beside_commits = |it: &mut DiskUseRecord| {
        it.read = DiskUseDir { n_ios: 20_000, bytes: 80 << 20, own_bytes: 0 };
        it.write = DiskUseDir { n_ios: 20_000, bytes: 80 << 20, own_bytes: 40 << 20 };
        it.knows_own_writes = false;
    };
    check(reads_beside_commits, Failed, "others used the disk (read 16.0 MiB/s)");
    check(|it| it.length_ms = 500, Unknown, "1 s");
    // A journal of logs on another disk, say: more of our own than the disk did.
    check(|it| it.read.own_bytes *= 2, Passed, "0.0 %");
    let gate = shared_disk(&DiskUseRecord {
        write: DiskUseDir { n_ios: 100, bytes: 500 * mib, own_bytes: 0 },
        ..alone()
    });
    assert_eq!(gate.figure(IS_TRANSIENT), Some(1.0), "it may be gone the next time");
    assert_eq!(gate.figure("others_write_bytes_s"), Some(100.0 * MIB));
    assert_eq!(culprit(&gate.reason), "others used the disk (wrote 100 MiB/s)");
    let nothing = DiskUseRecord { length_ms: 5000, ..DiskUseRecord::default() };
    assert_eq!(shared_disk(&nothing).verdict, Passed);
}
