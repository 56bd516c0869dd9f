//! The JSON form of a record: what is written is read back, and anything else is a clear error.

use std::collections::BTreeMap;

use hist::Histogram;
use proptest::prelude::*;
use record::{
    ArrivalsRecord, CarriedState, ConditionUnit, CpuShares, CurvePointRecord, DirRecord,
    DiskRecord, EngineQueueRecord, EngineRecord, Figure, Figures, GateRecord, HostSecond, Interval,
    IntervalDir, IntervalLatency, IntervalSeries, IoErrorRecord, JobRecord, LoadShares,
    NeedVerdict, Note, NoteSeverity, PerDirRecord, PlaceRecord, PublishedUnit, Record, Samples,
    SearchEnd, SteadyRecord, StepConditions, StepPurpose, StepRecord, StepValidity, SuiteRowRecord,
    Verdict,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn histogram(values: &[u64]) -> Histogram {
    let mut hist = Histogram::new();
    for value in values {
        hist.record(*value);
    }
    hist
}

fn step() -> StepRecord {
    StepRecord {
        step_idx: 1,
        name: "run_(50%)".to_owned(),
        started_ms: 1500,
        ended_ms: 3500,
        rate_iops: Some(1200.0),
        skipped: Some("no maximum".to_owned()),
        io_errors: vec![IoErrorRecord {
            job: "sd1".to_owned(),
            target: "/dev/sdb".to_owned(),
            op: "read".to_owned(),
            offset: 4096,
            len: 512,
            errno: 5,
            at_ms: 1700,
        }],
    }
}

fn interval() -> Interval {
    let latency = IntervalLatency::each(|figure| (figure == Figure::P50).then_some(2_000));
    let interval_dir = IntervalDir { n_ios: 3, latency, ..Default::default() };
    Interval {
        step_idx: 0,
        end_ms: 1000,
        length_ms: 1000,
        ramp: false,
        n_hosts: Some(2),
        dirs: PerDirRecord { read: interval_dir, ..PerDirRecord::default() },
        series: vec![IntervalSeries {
            job: "sd1".to_owned(),
            part: "wd1".to_owned(),
            op: "read".to_owned(),
            n_ios: 3,
            io_bytes: 12_288,
            latency_ns_sum: 300_000,
            latency_ns2_sum: 3.5e10,
            latency_ns_max: 150_000,
        }],
        cpu: Some(CpuShares { user_pct: 12.5, ..CpuShares::default() }),
        host: Some(HostSecond {
            n_in_flight: [("sd1".to_owned(), 7)].into(),
            load: Some(LoadShares { busy_share: 0.5, own_share: 0.25, steal_share: 0.125 }),
        }),
    }
}

fn sample() -> Record {
    let read = DirRecord {
        io_bytes: 12_288,
        n_ios: 3,
        runtime_ns: 1_000_000_000,
        clat: histogram(&[1_000, 2_000, 900_000]),
        lat: histogram(&[1_100, 2_100, 900_100]),
        response: Some(histogram(&[1_200, 2_200, 1_900_100])),
        iops: Samples { n: 2, min: 1, max: 2, mean: 1.5, stdev: 0.7 },
        errors: BTreeMap::from([(5, 2)]),
        ..DirRecord::default()
    };
    let job = JobRecord {
        name: "a \"quoted\" name".to_owned(),
        n_workers: 1,
        options: vec![("rw".to_owned(), "randread".to_owned())],
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        in_flight_mean: Some(31.5),
        arrivals: Some(ArrivalsRecord { offered_iops: 1e3, n_late: 7, ..Default::default() }),
        is_direct: Some(true),
        polls: true,
        pauses: true,
        engine: "posixaio".to_owned(),
        engine_traits: Some(EngineRecord { is_idle: false, queue: EngineQueueRecord::Kernel }),
        steady: Some(SteadyRecord {
            criterion_text: "iops:1%".to_owned(),
            window_ns: 1,
            attained: false,
            criterion: 0.5,
            deviation_max: 0.0,
            slope: 0.0,
            iops: vec![1],
            bandwidth_kib_s: vec![4],
            latency_ns: Vec::new(),
        }),
        ..JobRecord::default()
    };
    Record {
        plimsoll_version: "0.1.0".to_owned(),
        started_unix_ms: 1_700_000_000_000,
        elapsed_ns: 1_000_000_123,
        command: vec!["plimsoll".to_owned(), "run".to_owned()],
        jobs: vec![job],
        steps: vec![step()],
        conditions: vec![StepConditions { touched_bytes: Some(9), ..StepConditions::default() }],
        validity: vec![validity()],
        places: vec![PlaceRecord { path: "/mnt".to_owned(), ..PlaceRecord::default() }],
        intervals: vec![interval()],
        disks: vec![DiskRecord {
            name: "dm-0".to_owned(),
            util_pct: 12.5,
            members: vec![DiskRecord { name: "sda".to_owned(), ..DiskRecord::default() }],
            ..DiskRecord::default()
        }],
        notes: vec![Note {
            severity: NoteSeverity::Warning,
            code: "short_run".to_owned(),
            message: "one second".to_owned(),
        }],
        ..Record::default()
    }
}

fn validity() -> StepValidity {
    let gate = GateRecord {
        name: "steady".to_owned(),
        verdict: Verdict::NotAssessed,
        reason: "4 samples do not make 5 rounds".to_owned(),
        next_step: Some("run longer".to_owned()),
        figures: BTreeMap::from([("iops_range_pct".to_owned(), 1.5)]),
    };
    StepValidity { window_ms: Some((1, 2)), gates: vec![gate], ..StepValidity::default() }
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let error = Record::from_json(text).expect_err("not a record").to_string();
    assert_eq!(error, expected);
}

#[test]
fn what_is_written_is_read_back() {
    let record = sample();
    assert_eq!(Record::from_json(&record.to_json()).unwrap(), record);
}

#[test]
fn latencies_carry_figures_for_people() {
    let json: serde_json::Value = serde_json::from_str(&sample().to_json()).unwrap();
    let clat = &json["jobs"][0]["dirs"]["read"]["clat"];
    assert_eq!(clat["n"], 3);
    assert_eq!(clat["min_ns"], 1_000);
    assert_eq!(clat["max_ns"], 900_000);
    assert_eq!(clat["mean_ns"], 301_000.0);
    for key in ["stdev_ns", "p50_ns", "p90_ns", "p95_ns", "p99_ns", "p99_9_ns", "p99_99_ns"] {
        assert!(clat[key].is_number(), "{key} of {clat}");
    }
    let slat = &json["jobs"][0]["dirs"]["read"]["slat"];
    assert_eq!(slat["n"], 0);
    assert!(slat["p50_ns"].is_null());
}

#[test]
fn figures_for_people_are_ignored_on_reading() {
    let record = sample();
    let text = record.to_json().replace("\"p50_ns\": 2000", "\"p50_ns\": \"whatever\"");
    assert_eq!(Record::from_json(&text).unwrap(), record);
}

/// A point of a curve, a row of a suite and a second, as versions wrote them that kept each figure
/// in a field of its own: the names are the same since.
#[test]
fn figures_have_the_names_that_they_had() {
    let point = r#"{"step_idx":3,"load":100.0,"purpose":"coarse","passed":true,"broken":[],
        "achieved_iops":99.5,"bytes_per_s":4096.0,"latency_mean_ns":1500.25,
        "latency_p50_ns":1000,"latency_p99_ns":2000,"latency_max_ns":3000}"#;
    check_names::<CurvePointRecord>(point, |it| {
        let known = |figure| it.figures.get(figure);
        assert_eq!(Figure::OF_POINT.iter().filter_map(|it| known(*it)).count(), 6);
        assert_eq!((known(Figure::Mean), known(Figure::P95)), (Some(1500.25), None));
    });
    let row = r#"{"label":"a","steps":[1],"iops":{"median":5.0},"bytes_per_s":{"median":6.0},
        "latency_p50_ns":{"median":7.0},"latency_p99_ns":{"median":8.0},
        "sync_p50_ns":{"median":9.0},"sync_p99_ns":{"median":10.0},"measured_ns":11,
        "verdict":"valid"}"#;
    check_names::<SuiteRowRecord>(row, |it| {
        let medians = |of: Figures| Figure::ALL.iter().filter_map(|it| of.get(*it)).collect();
        let found: [Vec<f64>; 2] = [medians(it.medians()), medians(it.sync_figures().unwrap())];
        assert_eq!(found, [vec![5.0, 6.0, 7.0, 8.0], vec![9.0, 10.0]]);
    });
    let second = r#"{"n_ios":1,"io_bytes":2,"latency_ns_p50":3,"latency_ns_p99":null,
        "latency_ns_max":5,"response":{"latency_ns_p50":6,"latency_ns_p99":7,"latency_ns_max":8,
        "latency_counts":""}}"#;
    check_names::<IntervalDir>(second, |it| {
        assert_eq!((it.latency.ns(Figure::P50), it.latency.ns(Figure::P99)), (Some(3), None));
        assert_eq!((it.latency.ns(Figure::P95), it.waited_ns(Figure::P99)), (None, Some(7)));
    });
}

/// Checks what is read, and that it is written with the same names and values.
#[track_caller]
fn check_names<T: Serialize + DeserializeOwned>(text: &str, check: impl FnOnce(&T)) {
    let before: serde_json::Value = serde_json::from_str(text).unwrap();
    let read: T = serde_json::from_str(text).unwrap();
    check(&read);
    assert_eq!(serde_json::to_value(&read).unwrap(), before);
}

/// Checks the words that a record has for something, which are those that earlier versions wrote;
/// any other word is an error, and not taken for one of them.
#[track_caller]
fn check_words<T: Serialize + DeserializeOwned>(values: &[T], expected: &[&str]) {
    assert_eq!(serde_json::to_value(values).unwrap(), serde_json::to_value(expected).unwrap());
    let again: Vec<T> = serde_json::from_value(serde_json::to_value(expected).unwrap()).unwrap();
    assert_eq!(again.len(), values.len());
    for other in ["", "later", "MET"] {
        let Err(error) = serde_json::from_value::<T>(other.into()) else {
            panic!("`{other}` is read")
        };
        let begin = format!("unknown variant `{other}`, expected one of `{}`", expected[0]);
        assert!(error.to_string().starts_with(&begin), "{error}");
    }
}

#[test]
fn words_are_those_of_earlier_versions_and_others_are_errors() {
    use {CarriedState as State, SearchEnd as End, StepPurpose as Purpose};
    let ends =
        [End::Bracketed, End::NothingFailed, End::NothingPassed, End::CannotTell, End::Unfinished];
    let words = ["bracketed", "nothing_failed", "nothing_passed", "cannot_tell", "unfinished"];
    check_words(&ends, &words);
    let states = [State::Reached, State::Above, State::Below, State::Unknown];
    check_words(&states, &["reached", "above", "below", "unknown"]);
    let verdicts = [Verdict::Passed, Verdict::Failed, Verdict::NotAssessed];
    check_words(&verdicts, &["passed", "failed", "not_assessed"]);
    let needs = [NeedVerdict::Met, NeedVerdict::NotMet, NeedVerdict::CannotTell];
    check_words(&needs, &needs.map(NeedVerdict::words));
    check_words(&needs, &["met", "not met", "cannot tell"]);
    let purposes = [Purpose::Prepare, Purpose::Measure, Purpose::Workers, Purpose::Curve];
    check_words(&purposes, &["prepare", "measure", "workers", "curve"]);
    let units = [ConditionUnit::Nanoseconds, ConditionUnit::Iops, ConditionUnit::BytesPerS];
    check_words(&units, &["ns", "IOPS", "B/s"]);
    let units = [PublishedUnit::Iops, PublishedUnit::MibPerS, PublishedUnit::MbPerS];
    check_words(&units, &units.map(PublishedUnit::words));
    check_words(&units, &["IOPS", "MiB/s", "MB/s"]);
}

#[test]
fn unknown_fields_are_ignored() {
    let text = sample().to_json().replacen('{', "{\n  \"later\": [1],", 1);
    assert_eq!(Record::from_json(&text).unwrap(), sample());
}

/// Earlier versions knew nothing of validity: what they wrote has none of these fields.
#[test]
fn records_without_validity_are_read() {
    let mut old: serde_json::Value = serde_json::from_str(&sample().to_json()).unwrap();
    let top = old.as_object_mut().unwrap();
    for name in ["conditions", "validity", "places"] {
        assert!(top.remove(name).is_some(), "{name}");
    }
    assert!(old["host"].as_object_mut().unwrap().remove("cpu_cache_bytes").is_some());
    for name in ["in_flight_mean", "arrivals", "is_direct", "polls", "engine_traits"] {
        assert!(old["jobs"][0].as_object_mut().unwrap().remove(name).is_some(), "{name}");
    }
    let mut expected = sample();
    (expected.conditions, expected.validity, expected.places) = (vec![], vec![], vec![]);
    let job = &mut expected.jobs[0];
    (job.in_flight_mean, job.arrivals, job.is_direct, job.polls) = (None, None, None, false);
    let traits = job.engine_traits.take();
    assert_eq!(Some(job.engine_traits()), traits, "the engine's name says as much");
    assert_eq!(Record::from_json(&old.to_string()).unwrap(), expected);
}

#[test]
fn a_number_that_is_not_finite_does_not_lose_the_record() {
    let mut record = sample();
    record.jobs[0].steady.as_mut().unwrap().criterion = f64::INFINITY;
    let read = Record::from_json(&record.to_json()).unwrap();
    assert!(read.jobs[0].steady.as_ref().unwrap().criterion.is_nan());
}

#[test]
fn other_texts_are_clear_errors() {
    check_error("", "not JSON: EOF while parsing a value at line 1 column 0");
    check_error("{\"a\": ", "not JSON: EOF while parsing a value at line 1 column 6");
    let not_a_record = "not a record: expected an object whose `schema` is `plimsoll.record/1`";
    check_error("[1]", not_a_record);
    check_error("{\"fio version\": \"fio-3.33\"}", not_a_record);
    check_error("{\"schema\": 1}", not_a_record);
    check_error(
        "{\"schema\": \"plimsoll.record/2\"}",
        "record has schema `plimsoll.record/2`, but this program reads `plimsoll.record/1`",
    );
    check_error(
        "{\"schema\": \"plimsoll.record/1\"}",
        "record of schema `plimsoll.record/1` is damaged: \
         missing field `plimsoll_version` at line 1 column 31",
    );
}

#[test]
fn a_damaged_histogram_is_an_error() {
    let record = sample();
    let text = record.jobs[0].dirs.read.clat.encode_text();
    let damaged = record.to_json().replace(&text, &text[..text.len() - 4]);
    let error = Record::from_json(&damaged).unwrap_err().to_string();
    assert!(error.contains("damaged: histogram"), "{error}");
}

proptest! {
    #[test]
    fn any_text_gives_a_record_or_an_error(text in "\\PC*") {
        let _ = Record::from_json(&text);
    }

    #[test]
    fn any_cut_of_a_record_is_an_error(share in 0.0..1.0) {
        let text = sample().to_json();
        let end = (text.trim_end().len() as f64 * share) as usize;
        prop_assert!(Record::from_json(&text[..end]).is_err());
    }

    #[test]
    fn any_latencies_survive(values in prop::collection::vec(any::<u64>(), 0..50)) {
        let mut record = sample();
        record.jobs[0].dirs.write.lat = histogram(&values);
        prop_assert_eq!(Record::from_json(&record.to_json()).unwrap(), record);
    }
}
