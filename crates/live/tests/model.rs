//! The model of a run, fed as hosts and steps feed it.

use live::{About, Counts, HostSoFar, Live, line, metrics};
use record::{Figure, Interval, JobRecord, Record};
use testing::protobuf_fields as fields;

/// A job that has done so many reads in a step, each of this latency.
fn job(name: &str, step_idx: u32, n_ios: u64, latency_ns: u64) -> JobRecord {
    let mut job =
        JobRecord { name: name.to_owned(), step_idx, n_workers: 1, ..JobRecord::default() };
    let read = &mut job.dirs.read;
    read.n_ios = n_ios;
    read.io_bytes = 4096 * n_ios;
    read.runtime_ns = 1_000_000_000;
    for latencies in [&mut read.lat, &mut read.clat] {
        latencies.record_n(latency_ns, n_ios);
    }
    job
}

fn second(step_idx: u32, end_ms: u64) -> Interval {
    Interval { step_idx, end_ms, length_ms: 1000, ..Interval::default() }
}

fn host<'a>(name: &'a str, jobs: &'a [JobRecord]) -> HostSoFar<'a> {
    HostSoFar { name, jobs, n_in_flight: &[], load: None, lost: None }
}

fn two_hosts() -> Live {
    let mut live = Live::new(About::default());
    live.set_hosts(vec!["a".to_owned(), "b".to_owned()]);
    live.begin_run();
    live.begin_step(0, 2, "first", 2);
    live
}

#[test]
fn a_second_is_the_difference_of_two_states() {
    let mut live = two_hosts();
    let (one, two) = ([job("j", 0, 100, 1000)], [job("j", 0, 50, 2000)]);
    live.second(&second(0, 1000), &[host("a", &one), host("b", &two)]);
    let more = [job("j", 0, 400, 1000)];
    live.second(&second(0, 2000), &[host("a", &more), host("b", &two)]);
    let jobs = live.jobs();
    let op = jobs["j"].ops.values().next().expect("reads");
    assert_eq!((op.last.n_ios, op.so_far.n_ios), (300, 450));
    assert_eq!(op.last.latency.count(), 300);
    assert_eq!(op.last.figures().get(Figure::Iops), Some(300.0), "in one second");
    let of_b: Counts = live.hosts()[1].last();
    assert_eq!(of_b.n_ios, 0, "it did nothing");
}

#[test]
fn a_host_that_says_nothing_is_part_of_the_next_second() {
    let mut live = two_hosts();
    let one = [job("j", 0, 100, 1000)];
    live.second(&second(0, 1000), &[host("a", &one)]);
    live.second(&second(0, 2000), &[]);
    assert!(!live.has_hosts());
    assert!(!line::second(&live, false).contains("\"hosts\""));
    let more = [job("j", 0, 300, 1000)];
    live.second(&second(0, 3000), &[host("a", &more)]);
    let jobs = live.jobs();
    let op = jobs["j"].ops.values().next().expect("reads");
    assert_eq!(op.last.figures().get(Figure::Iops), Some(100.0), "200 in two seconds");
}

#[test]
fn totals_go_on_over_steps_and_runs() {
    let mut live = two_hosts();
    let one = [job("j", 0, 100, 1000)];
    live.second(&second(0, 1000), &[host("a", &one)]);
    live.end_step(&[host("a", &one)]);
    live.begin_step(1, 2, "second", 1);
    assert!(live.jobs().is_empty(), "a step begins with nothing");
    // The first step is in the record still.
    let both = [job("j", 0, 100, 1000), job("j", 1, 7, 3000)];
    live.second(&second(1, 9000), &[host("a", &both)]);
    live.begin_run();
    live.begin_step(0, 1, "", 1);
    let again = [job("j", 0, 10, 1000)];
    live.second(&second(0, 1000), &[host("a", &again)]);
    assert_eq!(live.last().map(|it| it.end_ms), Some(10_000), "time goes on");
    let totals = live.hosts()[0].totals();
    assert_eq!(totals.values().map(|it| it.n_ios).sum::<u64>(), 117);
}

#[test]
fn metrics_say_what_was_counted() {
    let mut live = two_hosts();
    let odd = [job("a \"b\"\\\n", 0, 100, 1500), job("a \"b\"\\\n", 0, 20, 3_000_000)];
    live.second(
        &second(0, 1000),
        &[host("a", &odd), HostSoFar { lost: Some("cut off"), ..host("b", &[]) }],
    );
    let families = metrics::families(&live);
    let text = metrics::text(&families);
    let labels = r#"host="a",job="a \"b\"\\\n",op="read""#;
    for line in [
        format!("plimsoll_operations_total{{{labels}}} 120"),
        format!("plimsoll_bytes_total{{{labels}}} 491520"),
        format!("plimsoll_latency_seconds_bucket{{{labels},le=\"0.000001024\"}} 0"),
        format!("plimsoll_latency_seconds_bucket{{{labels},le=\"0.000001536\"}} 100"),
        format!("plimsoll_latency_seconds_bucket{{{labels},le=\"+Inf\"}} 120"),
        format!("plimsoll_latency_seconds_sum{{{labels}}} 0.06015"),
        format!("plimsoll_latency_seconds_count{{{labels}}} 120"),
        "plimsoll_host_up{host=\"a\"} 1".to_owned(),
        "plimsoll_host_up{host=\"b\"} 0".to_owned(),
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
}

#[test]
fn native_histograms_hold_every_operation() {
    let mut live = two_hosts();
    let jobs = [job("j", 0, 100, 1500), job("j", 0, 20, 3_000_000)];
    live.second(&second(0, 1000), &[host("a", &jobs)]);
    // A stream of messages behind their lengths is a message of one repeated field, but for tags.
    let mut bytes = metrics::proto(&metrics::families(&live));
    let mut families = Vec::new();
    while !bytes.is_empty() {
        bytes.insert(0, 1 << 3 | 2);
        let all = fields_prefix(&bytes);
        families.push(fields(&all.0));
        bytes = all.1;
    }
    let of = |name: &str| {
        let is_it = |it: &&Vec<(u64, Vec<u8>)>| it[0] == (1, name.as_bytes().to_vec());
        families.iter().find(is_it).expect("the family").clone()
    };
    let latency = of("plimsoll_latency_seconds");
    let metric = fields(&latency.iter().find(|it| it.0 == 4).expect("a metric").1);
    let histogram = fields(&metric.iter().find(|it| it.0 == 7).expect("a histogram").1);
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let signed = |bytes: &[u8]| {
        let value = number(bytes);
        (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
    };
    let of_field = |field: u64| histogram.iter().filter(move |it| it.0 == field);
    assert_eq!(of_field(1).map(|it| number(&it.1)).collect::<Vec<_>>(), [120]);
    assert_eq!(of_field(5).map(|it| signed(&it.1)).collect::<Vec<_>>(), [3]);
    // 1.5 us lies between 2^(-155/8) and 2^(-154/8) s, 3 ms between 2^(-68/8) and 2^(-67/8) s.
    let spans: Vec<(i64, u64)> = of_field(12)
        .map(|it| fields(&it.1))
        .map(|span| (signed(&span[0].1), number(&span[1].1)))
        .collect();
    assert_eq!(spans, [(-154, 1), (86, 1)]);
    assert_eq!(of_field(13).map(|it| signed(&it.1)).collect::<Vec<_>>(), [100, -80]);
    assert_eq!(of_field(3).count(), 50, "classic buckets, too");
}

/// Takes the first field of bytes, and what follows it.
fn fields_prefix(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut at, mut n, mut shift) = (1, 0_usize, 0);
    loop {
        n |= usize::from(bytes[at] & 0x7f) << shift;
        at += 1;
        shift += 7;
        if bytes[at - 1] & 0x80 == 0 {
            break;
        }
    }
    (bytes[at..at + n].to_vec(), bytes[at + n..].to_vec())
}

#[test]
fn the_last_line_is_the_record() {
    let record = Record { jobs: vec![job("j", 0, 5, 1000)], ..Record::default() };
    let line: serde_json::Value = serde_json::from_str(&line::end(&record, 3)).expect("an object");
    assert_eq!(line["jobs"][0]["ops"][0]["n_ios"], 5);
    assert_eq!((&line["outcome"], &line["n_lines_lost"]), (&"complete".into(), &3.into()));
}
