//! Needs as they are typed, and what measurements make of them.

use record::{GateRecord, StepValidity, Verdict};

use super::*;

#[track_caller]
fn check(text: &str, expected: (f64, u64, f64, bool), conditions: &[&str]) {
    let need = parse(text).expect(text);
    let seen = (need.iops, need.block_bytes, need.read_pct, need.is_sequential);
    assert_eq!(seen, expected, "{text}");
    let shown: Vec<String> = need.conditions.iter().map(ToString::to_string).collect();
    assert_eq!(shown, conditions, "{text}");
}

#[test]
fn what_begins_a_comment_in_a_job_file_is_not_in_its_name() {
    assert_eq!(parse("iops=5000; p99<2ms").expect("a need").text, "iops=5000, p99<2ms");
}

#[test]
fn a_need_is_a_rate_with_limits() {
    check("iops=5000,p99<2ms", (5000.0, 8192, 100.0, false), &["IOPS >= 5000", "p99 < 2ms"]);
    let all = ["IOPS >= 16000", "p99 < 2ms", "mean < 500us"];
    check("iops=16k, p99 < 2ms,mean<500us,bs=4k,read=70", (16000.0, 4096, 70.0, false), &all);
    check("mb_s=104.8576,bs=1m,seq,read=0", (100.0, 1 << 20, 0.0, true), &["MB/s >= 104.86"]);
    check("iops=0.25", (0.25, 8192, 100.0, false), &["IOPS >= 0.25"]);
    check("mib_s=16,seq", (256.0, 65536, 100.0, true), &["MB/s >= 16.78"]);
    // As people write them.
    let plain = (5000.0, 8192, 100.0, false);
    for text in [
        "IOPS=5000, P99 < 2 ms",
        "iops = 5000 , p99<2 MS",
        "Iops >= 5000 and P99 <= 2ms,",
        " IOPS > 5 K; p99\t<\t2ms",
    ] {
        check(text, plain, &["IOPS >= 5000", "p99 < 2ms"]);
    }
    let mixed = (200.0, 1 << 20, 70.0, true);
    check("MB_S = 209.7152, BS = 1 MiB, SEQ, Read = 70 %", mixed, &["MB/s >= 209.72"]);
}

#[test]
fn a_mistake_says_what_to_write() {
    for (text, part) in [
        ("p99<2ms", "how much is needed is missing"),
        ("iops=5000,mb_s=3", "its own --need"),
        ("iops=5000,p99<2", "column 15: `2` has no unit"),
        ("iops=5000,p99<2", "write `p99 < 2ms`"),
        ("iops=5000,p99=2ms", "column 14: `=` is not a comparison"),
        ("iops=5000,p999<2ms", "column 11: `p999` is not a percentile"),
        ("iops=5000, bs = 1000", "column 17: `1000` is 1000 B: expected a multiple of 512"),
        ("iops=5000,bs=8 KB", "column 14: `8 KB` is 8000 B"),
        ("iops=5000,bs 8k", "column 11: write `bs=8k`"),
        ("iops=5000,read=101", "column 16: `101`: expected percent, 0 to 100"),
        ("iops=5000,READ<70", "column 11: write `READ=70`"),
        ("iops=0", "column 6: `0`: expected a number above 0"),
        ("iops=0k", "expected a number above 0"),
        ("iops=inf", "expected a number above 0"),
        ("iops=5000x", "column 6: `x` in `5000x` is not a unit"),
        ("iops<5000", "column 1: write how much: `iops > 100`"),
        ("IOPS", "write how much"),
        ("iosp=5000", "column 1: `iosp` is no word of a need, did you mean `iops`?; write iops=N"),
        ("p99<2ms,latency<5ms", "column 9: `latency` is no word of a need; write iops=N"),
        ("iops=5,achieved>95%", "column 8: write a limit of a latency"),
        ("iops=5,iops=6", "column 8: `iops` stands twice"),
        ("iops=5,bs=4k,size=8k", "column 14: `size` stands twice"),
        ("iops=5,p99<1ms,P99<2ms", "column 16: `P99` has a limit already"),
        ("iops=5,seq,random", "column 12: a need is seq or random"),
        ("iops=5,seq=1", "column 8: `seq` has no value"),
        ("mb_s=-1", "column 6: `-1`: expected a number above 0"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn a_need_is_measured_long_enough_for_its_percentile() {
    let time_s = |text: &str| parse(text).expect(text).time_ns() / 1_000_000_000;
    assert_eq!(time_s("iops=5000,p99<2ms"), 20);
    // Ten beyond one in a thousand are 10,000 operations, and half of that again.
    assert_eq!(time_s("iops=100,p99.9<20ms"), 150);
    assert_eq!(time_s("iops=1,p99.9<20ms"), 600);
    // A rate is seen in so many operations that chance does not bring none.
    assert_eq!(time_s("iops=0.5"), 32);
    assert_eq!(time_s("iops=0.001"), 600);
}

#[test]
fn a_percentile_that_takes_too_long_is_out_of_reach() {
    let out = |text: &str| {
        let need = parse(text).expect(text);
        need.out_of_reach().map(|(condition, time)| (condition.to_string(), time.as_secs()))
    };
    assert_eq!(out("iops=5000,p99.999<2ms"), None);
    // 10 / 1e-7 operations at 5,000 a second take 20,000 s, and half of that again.
    let beyond = Some(("p99.99999 < 2ms".to_owned(), 30_000));
    assert_eq!(out("iops=5000,p99<1ms,p99.99999<2ms"), beyond);
    // The reserve is left out first.
    assert_eq!(out("iops=20,p99.9<2ms"), None);
    assert_eq!(out("iops=16,p99.9<2ms"), Some(("p99.9 < 2ms".to_owned(), 937)));
    assert_eq!(out("iops=0.001"), None);
}

/// Measures a need for so long, twice, with a job that completed so many operations in a second.
#[track_caller]
fn check_due(need: &str, time_ns: u64, n_ios: u64, expected: (&str, Option<bool>)) {
    let need = parse(need).expect(need);
    let mut record = Record::default();
    for step_idx in 0..2 {
        let mut job = record::JobRecord { step_idx, n_workers: 1, ..Default::default() };
        let read = &mut job.dirs.read;
        (read.n_ios, read.io_bytes, read.runtime_ns) = (n_ios, n_ios * 4096, 1_000_000_000);
        read.lat.record_n(100_000, n_ios);
        let mut response = Histogram::new();
        response.record_n(100_000, n_ios);
        read.response = Some(response);
        record.jobs.push(job);
    }
    let question = Question {
        text: need.text.clone(),
        label: String::new(),
        conditions: need.conditions.clone(),
        offered_iops: Some(need.least_offered_iops(time_ns)),
        source: String::new(),
    };
    let answer = question.answer(&record, &[0, 1]);
    assert_eq!(
        (answer.verdict.words(), answer.conditions[0].is_kept),
        expected,
        "{}",
        answer.reason
    );
}

#[test]
fn a_rate_of_which_nothing_may_be_due_is_not_decided() {
    for n_ios in [0, 1, 10] {
        check_due("iops=5", 100_000_000, n_ios, ("cannot tell", None));
    }
    check_due("iops=5", 20_000_000_000, 0, ("not met", None));
    check_due("iops=5", 20_000_000_000, 1, ("not met", Some(false)));
    check_due("iops=5", 20_000_000_000, 5, ("met", Some(true)));
}

fn attempts(said: &[AttemptVerdict]) -> Vec<Attempt> {
    let one = |said: &AttemptVerdict| Attempt {
        said: *said,
        reason: String::new(),
        conditions: Vec::new(),
        figures: Figures::default(),
    };
    said.iter().map(one).collect()
}

#[test]
fn a_failure_is_believed_when_it_came_twice() {
    use AttemptVerdict::{Borrowed, Failed, Passed, Spoiled, Thin};
    for (seen, expected) in [
        (&[][..], None),
        (&[Passed], Some(Passed)),
        (&[Failed], None),
        (&[Failed, Failed], Some(Failed)),
        (&[Failed, Passed], None),
        (&[Failed, Passed, Passed], Some(Passed)),
        (&[Failed, Passed, Failed], Some(Failed)),
        (&[Spoiled], None),
        (&[Spoiled, Passed], Some(Passed)),
        (&[Spoiled, Failed, Spoiled], None),
        (&[Spoiled, Spoiled, Spoiled], Some(Spoiled)),
        (&[Spoiled, Failed, Spoiled, Spoiled], Some(Spoiled)),
        (&[Thin], Some(Thin)),
        (&[Borrowed], Some(Borrowed)),
        (&[Failed, Borrowed], None),
        (&[Failed, Borrowed, Passed], Some(Borrowed)),
        (&[Failed, Borrowed, Failed], Some(Failed)),
    ] {
        assert_eq!(decide(&attempts(seen)), expected, "{seen:?}");
    }
}

/// Three measurements whose syncs take 20 ms, of which each was kept from its work or not.
#[track_caller]
fn check_spoiled(is_spoiled: bool, expected: (&str, Option<bool>, &str)) {
    let mut record = Record::default();
    for step_idx in 0..3 {
        let mut job = record::JobRecord { step_idx, n_workers: 1, ..Default::default() };
        let write = &mut job.dirs.write;
        (write.n_ios, write.io_bytes, write.runtime_ns) = (2000, 2000 * 4096, 1_000_000_000);
        write.lat.record_n(20_000, 2000);
        write.clat.record_n(20_000, 2000);
        job.sync.record_n(20_000_000, 2000);
        record.jobs.push(job);
        let verdict = if is_spoiled { Verdict::Failed } else { Verdict::Passed };
        let reason = "other programs used the processor (85 %)".to_owned();
        let name = "generator".to_owned();
        let (next_step, figures) = (None, std::collections::BTreeMap::new());
        let gates = vec![GateRecord { name, verdict, reason, next_step, figures }];
        record.validity.push(StepValidity { step_idx, gates, ..StepValidity::default() });
    }
    let question = Question {
        text: "sync p99 < 10ms".to_owned(),
        label: "log".to_owned(),
        conditions: Condition::parse_all("sync p99 < 10ms").expect("one"),
        offered_iops: None,
        source: "etcd".to_owned(),
    };
    let answer = question.answer(&record, &[0, 1, 2]);
    let kept = answer.conditions[0].is_kept;
    assert_eq!((answer.verdict.words(), kept, &*answer.measured_words()), expected);
}

#[test]
fn a_condition_of_a_spoiled_measurement_is_not_decided() {
    check_spoiled(true, ("cannot tell", None, "measured 3 times; the last is shown"));
    let broken = "measured 3 times, 3 of them broke a condition; the one that decided is shown";
    check_spoiled(false, ("not met", Some(false), broken));
}

/// One measurement that others disturbed, then one that Ctrl-C ended at once: what the first
/// showed is still shown, all of one measurement.
#[test]
fn an_interrupted_need_shows_what_was_measured_before() {
    let mut record = Record { outcome: Outcome::Interrupted, ..Record::default() };
    for (step_idx, n_ios) in [(0, 700), (1, 0)] {
        let mut job = record::JobRecord { step_idx, n_workers: 1, ..Default::default() };
        let read = &mut job.dirs.read;
        (read.n_ios, read.io_bytes, read.runtime_ns) = (n_ios, n_ios * 4096, 1_000_000_000);
        read.clat.record_n(50_000_000, n_ios);
        read.lat.record_n(50_000_000, n_ios);
        record.jobs.push(job);
        let gate = GateRecord {
            name: "generator".to_owned(),
            verdict: Verdict::Failed,
            reason: "other programs used the processor (85 %)".to_owned(),
            next_step: None,
            figures: std::collections::BTreeMap::new(),
        };
        record.validity.push(StepValidity { step_idx, gates: vec![gate], ..Default::default() });
    }
    let need = parse("iops=1000").expect("a need");
    let question = Question {
        text: need.text.clone(),
        label: String::new(),
        conditions: need.conditions.clone(),
        offered_iops: None,
        source: String::new(),
    };
    let answer = question.answer(&record, &[0, 1]);
    assert_eq!(answer.verdict, NeedVerdict::CannotTell);
    assert_eq!(answer.conditions[0].value, Some(700.0));
    assert!((answer.figures.iops() - 700.0).abs() < 1e-9, "{:?}", answer.figures);
    let p99_ms = answer.figures.get(record::Figure::P99).expect("known") / 1e6;
    assert!((49.5..=50.5).contains(&p99_ms), "{p99_ms}");
    assert!(answer.reason.starts_with("it was interrupted"), "{}", answer.reason);
}

#[test]
fn targets_may_be_of_what_makes_writes_durable() {
    let all = Condition::parse_all("Sync P99 < 10 ms, IOPS > 50").expect("two");
    let shown: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["sync p99 < 10ms", "IOPS >= 50"]);
    for text in ["p99", "sync achieved > 0.9", "p99 > 3ms", "iops > x"] {
        assert!(Condition::parse_all(text).is_err(), "{text}");
    }
}
