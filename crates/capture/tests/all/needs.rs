//! From what was captured to figures with labels, and the file of them.

use capture::{Capacity, Collector, Event, Phases, Sample, needs_of, series_csv};
use needs::{Label, NeedLoad, Needs, PhaseRule, checklists};

use crate::common::{EVERY_SECOND, assert_near, captured, try_capture};

const HEADER: &str = "Linux 6.1.0 (host) \t2026-11-21 \t_x86_64_\t(2 CPU)\n\n";

/// A log of `iostat -x -t` every minute, from a first report on that is left out: IOPS by minute,
/// three reads to a write, 8 KiB each, 1 ms, half an I/O in flight per 500 IOPS.
fn log(start_hour: u32, iops: &[f64]) -> String {
    let mut text = HEADER.to_owned();
    for (minute, iops) in [0.0].iter().chain(iops).enumerate() {
        let (reads, writes) = (iops * 0.75, iops * 0.25);
        let (hour, minute) = (start_hour as usize + minute / 60, minute % 60);
        text.push_str(&format!(
            "2026-11-21T{hour:02}:{minute:02}:00+0000\n\
             avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 10.00 0 5.00 0 0 85.00\n\
             Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz\n\
             sda {reads} {} 1.00 {writes} {} 1.00 {}\n\n",
            reads * 8.0,
            writes * 8.0,
            iops / 1000.0
        ));
    }
    text
}

fn needs_in(text: &str, phases: &[&str]) -> Needs {
    let rules: Vec<PhaseRule> =
        phases.iter().map(|text| PhaseRule::parse(text).expect("a phase")).collect();
    let phases = Phases::new(&rules).expect("they fit each other");
    needs_of(&captured(text), "test", &phases).expect("needs")
}

/// Returns the load of the only volume of a phase.
#[track_caller]
fn load<'a>(needs: &'a Needs, phase: &str) -> &'a NeedLoad {
    let phase =
        needs.phases.iter().find(|found| found.name.word() == phase).expect("the phase is there");
    &phase.volumes[0]
}

/// 98 minutes of 100 IOPS, one of 500 and one of 1,000.
#[test]
fn percentiles_are_over_time() {
    let iops: Vec<f64> = (0..98).map(|_| 100.0).chain([500.0, 1000.0]).collect();
    let needs = needs_in(&log(9, &iops), &[]);
    let load = load(&needs, "normal");
    let found = load.iops.as_ref().expect("counted");
    assert_eq!((found.p50, found.p90, found.p99), (Some(100.0), Some(100.0), Some(500.0)));
    assert_near(found.max, 1000.0);
    // (98 x 100 + 500 + 1,000) / 100
    assert_near(found.mean, 113.0);
    assert_eq!((found.label, found.source.as_str()), (Label::Measured, "log: samples of 60 s"));
    // 1,000 x 8 KiB = 8.192 MB/s.
    assert_near(load.throughput_mb_s.as_ref().and_then(|figure| figure.max), 8.192);
    let size = load.io_size_kib.as_ref().expect("both are counted");
    assert_near(size.mean, 8.0);
    assert_eq!((size.p50, size.p99, size.label), (None, None, Label::Estimated));
    assert_near(load.read_percent.as_ref().and_then(|figure| figure.p50), 75.0);
    let random = load.random_percent.as_ref().expect("assumed");
    assert_eq!((random.mean, random.label), (Some(100.0), Label::Assumed));
    assert_near(load.latency_ms.as_ref().and_then(|figure| figure.mean), 1.0);
    assert_eq!(load.latency_ms.as_ref().map(|figure| figure.label), Some(Label::Estimated));
    assert_near(load.queue_depth.as_ref().and_then(|figure| figure.max), 1.0);
    assert_near(needs.phases[0].cpu_percent.as_ref().and_then(|figure| figure.mean), 15.0);
    assert_near(needs.phases[0].captured_s, 6000.0);
}

/// A hundred minutes of 100 I/Os a second each: in the first all are writes, in nine more 60 of
/// them, in the others 20.
#[test]
fn the_checklist_has_the_percentiles_of_writes() {
    let mut text = HEADER.to_owned();
    for minute in 0..=100 {
        let writes = match minute {
            0..=1 => 100,
            2..=10 => 60,
            _ => 20,
        };
        text.push_str(&format!(
            "2026-11-21T{:02}:{:02}:00+0000\nDevice r/s rkB/s r_await w/s wkB/s w_await aqu-sz\n\
             sda {} 800 1.00 {writes} 800 1.00 0.1\n\n",
            9 + minute / 60,
            minute % 60,
            100 - writes
        ));
    }
    let needs = needs_in(&text, &[]);
    let reads = load(&needs, "normal").read_percent.clone().expect("counted");
    assert_eq!([reads.p1, reads.p10, reads.p50], [Some(0.0), Some(40.0), Some(80.0)]);
    // The file holds them.
    let (read, findings) = needs::parse(&needs.to_toml());
    let lists = checklists(&read.unwrap_or_else(|| panic!("{findings:?}")));
    let row = lists[0].rows.iter().find(|row| row.requirement == "writes").expect("a row");
    assert_eq!([row.p50, row.p90, row.p99], [Some(20.0), Some(60.0), Some(100.0)]);
    // (100 + 9 x 60 + 90 x 20) / 100
    assert_near(row.overall, 24.4);
}

/// Checks the space in use that is needed, GiB, of what is seen of it at several moments.
#[track_caller]
fn check_used(seen_gib: &[Option<f64>], expected: Option<f64>) {
    let mut collector = Collector::new();
    collector.begin("live", "live");
    let sample = Sample { span_ns: 1_000_000_000, ..Sample::default() };
    collector.take(Event::Device { name: "sda", sample });
    for used in seen_gib {
        let used_bytes = used.map(|gib| gib * 1024.0 * 1024.0 * 1024.0);
        let capacity = Capacity { size_bytes: Some(1e12), used_bytes };
        collector.take(Event::Capacity { name: "sda", capacity });
    }
    let captured = collector.finish(&["sda".to_owned()]);
    let needs = needs_of(&captured, "test", &Phases::default()).expect("needs");
    let used = needs.volumes[0].used_gib.as_ref().map(|amount| amount.value);
    assert_eq!(used, expected, "{seen_gib:?}");
}

#[test]
fn the_space_in_use_is_the_most_that_was_seen() {
    check_used(&[Some(10.0), Some(25.0)], Some(25.0));
    check_used(&[Some(25.0), Some(10.0)], Some(25.0));
    check_used(&[Some(10.0), Some(30.0), Some(20.0)], Some(30.0));
    check_used(&[Some(10.0), None], Some(10.0));
    check_used(&[None, Some(10.0)], Some(10.0));
    check_used(&[None], None);
}

/// Two hours from 08:00 on, with a peak from 09:00 on. A sample belongs to where its middle is.
#[test]
fn phases_have_figures_of_their_own() {
    let iops: Vec<f64> = (0..120).map(|minute| if minute < 60 { 50.0 } else { 400.0 }).collect();
    let needs = needs_in(&log(8, &iops), &["peak=09:00-17:00"]);
    let names: Vec<&str> = needs.phases.iter().map(|phase| phase.name.word()).collect();
    assert_eq!(names, ["peak", "normal"]);
    assert_eq!(needs.phases[0].hours, ["09:00-17:00"]);
    let iops = |phase: &str| load(&needs, phase).iops.clone().expect("counted");
    assert_eq!((iops("peak").min, iops("normal").max), (Some(400.0), Some(50.0)));
    assert!(
        needs.notes.iter().any(|note| note.contains("I/Os per second stay within 1 %")),
        "{needs:?}"
    );
}

/// A log of fio has the moments of I/Os, and not when they ended: 10 of 4 KiB in each of two
/// seconds with an idle one between them.
#[test]
fn a_log_without_completions_has_no_latency() {
    let mut text = "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n".to_owned();
    for us in (0..10).chain(20..30).map(|idx| idx * 100_000) {
        text.push_str(&format!("{us} /dev/sda read {} 4096\n", us * 64));
    }
    let found = needs_in(&text, &[]);
    let load = load(&found, "normal");
    assert_eq!((&load.latency_ms, &load.queue_depth), (&None, &None));
    assert_eq!(load.io_size_kib.as_ref().and_then(|figure| figure.p50), Some(4.0));

    // Version 2 has no moments either.
    let v2 = "fio version 2 iolog\n/a add\n/a open\n/a write 0 512\n/a write 512 512\n";
    let notes = needs_in(v2, &[]).notes.join("\n");
    assert!(!notes.contains("NaN"), "{notes}");
}

#[test]
fn what_counters_do_not_says_is_labelled() {
    // sadf: no reads and writes apart; large requests.
    let text = "# hostname;interval;timestamp;DEV;\
                tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n\
                h;60;2026-11-21 09:10:00 UTC;sda;10.00;7680.00;2560.00;0.00;1024;0.20;5.00;9.00\n";
    let found = needs_in(text, &[]);
    let load = load(&found, "normal");
    let read = load.read_percent.as_ref().expect("by bytes");
    // 7,680 of 10,240 KiB.
    assert_eq!((read.p50, read.label), (Some(75.0), Label::Estimated));
    let random = load.random_percent.as_ref().expect("by size");
    assert_eq!((random.mean, random.label), (Some(0.0), Label::Estimated));
    // A queue of 0.2, but 10 I/Os of 5 ms are 0.05.
    assert!(found.notes.iter().any(|note| note.contains("the mean queue is 0.20")), "{found:?}");

    // vmstat: no I/Os at all, so no size.
    let text = "procs --\n r b swpd free buff cache si so bi bo in cs us sy id wa st\n \
                0 0 0 0 0 0 0 0 9 9 0 0 0 0 100 0 0\n 0 0 0 0 0 0 0 0 100 0 0 0 0 0 100 0 0\n";
    let captured = try_capture(text, EVERY_SECOND).expect("a log");
    let found = needs_of(&captured, "test", &Phases::default()).expect("needs");
    let load = &found.phases[0].volumes[0];
    assert_eq!((&load.iops, &load.io_size_kib), (&None, &None));
    let note = "the size of I/Os is not known: write `io_size_kib = ..`";
    assert!(found.notes.iter().any(|text| text.contains(note)), "{found:?}");
}

/// A trace tells sizes, places and latencies of single I/Os.
#[test]
fn traces_measure() {
    let mut text = "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n".to_owned();
    for idx in 0..100_u64 {
        let bytes = if idx < 70 { 8192 } else { 65_536 };
        let (ms, latency_us) = (10 + idx * 20, if idx < 95 { "0.500" } else { "8.000" });
        text.push_str(&format!(
            "{}.{:03} db 7 sda R {} {bytes} {latency_us}\n",
            ms / 1000,
            ms % 1000,
            (idx * 7919) % 100_003 * 1000
        ));
    }
    let found = needs_in(&text, &["peak=09:00-17:00"]);
    let load = load(&found, "normal");
    let size = load.io_size_kib.as_ref().expect("a trace tells");
    assert_eq!((size.p50, size.p90, size.label), (Some(8.0), Some(64.0), Label::Measured));
    // 70 x 8 + 30 x 64 over 100.
    assert_near(size.mean, 24.8);
    let random = load.random_percent.as_ref().expect("a trace tells");
    assert_eq!((random.mean, random.label), (Some(100.0), Label::Measured));
    let latency = load.latency_ms.as_ref().expect("a trace tells");
    assert!((latency.p50.expect("known") - 0.5).abs() < 0.005, "{latency:?}");
    assert!((latency.p99.expect("known") - 8.0).abs() < 0.05, "{latency:?}");
    assert!(found.notes.iter().any(|note| note.contains("no times of day")), "{found:?}");
}

#[test]
fn a_file_reads_as_it_was_written() {
    let mut found = needs_in(&log(8, &[100.0, 200.0, 300.0]), &["peak=08:02-12:00"]);
    found.series = Some("a \"b\".csv".to_owned());
    let text = found.to_toml();
    let (read, findings) = needs::parse(&text);
    let read = read.unwrap_or_else(|| panic!("{findings:?}\n{text}"));
    // Numbers lose what stands behind the fourth digit.
    assert_eq!(read.to_toml(), text);
    assert_eq!((read.phases.len(), read.volumes.len()), (2, 1));
    assert_eq!(read.series, found.series);
}

/// What cannot be is left out with a note, and the file reads again.
#[test]
fn a_figure_that_cannot_be_is_left_out() {
    let found = needs_in(&log(9, &[1e16, 1e16]), &[]);
    assert_eq!(load(&found, "normal").iops, None);
    let note = "sda: left out: `iops`, p50 is 1e16, expected 0 to 1e15";
    assert!(found.notes.iter().any(|text| text == note), "{:?}", found.notes);
    assert!(needs::parse(&found.to_toml()).0.is_some());
}

#[test]
fn the_series_holds_every_sample() {
    let csv = series_csv(&captured(&log(9, &[100.0, 200.0])));
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "volume,end,span_s,ios,reads,writes,read_bytes,write_bytes,in_flight");
    // A minute of 100 IOPS: 6,000 I/Os of 8 KiB, three reads to a write.
    assert_eq!(lines[1], "sda,2026-11-21 09:01:00,60,6000,4500,1500,36864000,12288000,0.1");
    assert_eq!(lines.len(), 3);
}
