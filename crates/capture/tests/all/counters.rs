//! iostat, sadf, vmstat.

use std::io::{BufRead, BufReader, Read};

use capture::{ClockKind, Collector, DateOrder, Format, NS_PER_S, Options, ReadError};

use crate::common::{EVERY_SECOND, assert_near, captured, notes, try_capture, volume};

const HEADER: &str = "Linux 6.1.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n";
const COLUMNS: &str =
    "Device r/s rkB/s rrqm/s r_await w/s wkB/s wrqm/s w_await d/s f/s aqu-sz %util\n";

/// A report of `iostat -x -t`.
fn report(time: &str, sda: &str) -> String {
    format!(
        "11/21/26 {time}\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
         \x20         30.00    0.00   10.00    5.00    0.00   55.00\n\n{COLUMNS}sda {sda}\n\n\n"
    )
}

/// Returns the first and last moment of two reports of `iostat -t` below a header.
#[track_caller]
fn moments(header: &str, times: [&str; 2], dates: Option<DateOrder>) -> [String; 2] {
    let device = format!("{COLUMNS}sda 100 800 0 2 50 400 10 4 1 3 0.4 20\n\n");
    let text = format!("{header}\n\n{0}\n{device}{1}\n{device}", times[0], times[1]);
    let options = Options { keeps_first: true, dates, ..EVERY_SECOND };
    let captured = try_capture(&text, options).unwrap_or_else(|it| panic!("{text}: {it}"));
    let samples = &volume(&captured, "sda").samples;
    [0, samples.len() - 1].map(|idx| capture::iso(samples[idx].end_ns))
}

/// Headers and times as the languages of Debian's C library print them.
#[test]
fn iostat_of_other_languages_has_its_dates() {
    let header = |date: &str| format!("Linux 6.1.12 (host) \t{date} \t_x86_64_\t(2 CPU)");
    let cases = [
        // A version such as 6.1.12 is no date.
        ("11/05/26", ["Time: 10:00:00 AM", "Time: 10:00:10 AM"], ""),
        ("11/25/26", ["11/25/26 10:00:00", "11/25/26 10:00:10"], "2026-11-25"),
        ("25.11.2026", ["25.11.2026 10.00.00", "25.11.2026 10.00.10"], "2026-11-25"),
        (
            "2026年11月25日",
            ["2026年11月25日 10時00分00秒", "2026年11月25日 10時00分10秒"],
            "2026-11-25",
        ),
        (
            "2026년 11월 25일",
            ["2026년 11월 25일 10시 00분 00초", "2026년 11월 25일 10시 00분 10초"],
            "2026-11-25",
        ),
        ("2026-11-25", ["Time: 10:00:00", "Time: 10:00:10"], "2026-11-25"),
    ];
    for (date, times, day) in cases {
        let day = if day.is_empty() { "2026-11-05" } else { day };
        let expected = ["00", "10"].map(|second| format!("{day} 10:00:{second}"));
        assert_eq!(moments(&header(date), times, None), expected, "{date}");
    }
    let british = ["05/11/26 10:00:00", "06/11/26 10:00:00"];
    let expected = ["2026-11-05 10:00:00", "2026-11-06 10:00:00"];
    assert_eq!(moments(&header("05/11/26"), british, Some(DateOrder::DayFirst)), expected);
}

/// A log of two days whose dates could be either.
#[test]
fn dates_that_could_be_either_are_noted_and_contradictions_refused() {
    let rows = |dates: [&str; 2]| {
        let device = format!("{COLUMNS}sda 100 800 0 2 50 400 10 4 1 3 0.4 20\n\n");
        let of = |date: &str| format!("{date} 10:00:00\n{device}{date} 10:00:10\n{device}");
        format!(
            "Linux 6.1.0 (h) \t{} \t_x86_64_\t(2 CPU)\n\n{}{}",
            dates[0],
            of(dates[0]),
            of(dates[1])
        )
    };
    let found = notes(&captured(&rows(["05/11/26", "05/12/26"])));
    assert!(found.contains("05/11/26 is read month first, as 2026-05-11"), "{found}");
    assert_eq!(found.matches("month first").count(), 1, "{found}");
    let error = try_capture(&rows(["05/11/26", "06/11/26"]), Options::default());
    let error = error.expect_err("a jump of a month").to_string();
    assert!(error.contains("`--dates day-first` or `--dates month-first`"), "{error}");
    assert!(error.starts_with("line "), "{error}");
}

/// iostat that was started again with the same file.
#[test]
fn documents_follow_each_other() {
    let disk = "{\"disk_device\": \"sda\", \"r/s\": 9.0, \"w/s\": 1.0}";
    let report = |second: u32| {
        format!("{{\"timestamp\": \"2026-11-21T09:00:{second:02}+0000\", \"disk\": [{disk}]}}")
    };
    let document = |seconds: [u32; 3]| {
        let reports = seconds.map(report).join(",");
        format!("{{\"sysstat\": {{\"hosts\": [{{\"statistics\": [{reports}]}}]}}}}\n")
    };
    let text = document([0, 10, 20]) + &document([40, 50, 59]);
    let captured = captured(&text);
    // Of each run the first report is the average since the host started.
    assert_eq!(volume(&captured, "sda").samples.len(), 4, "{}", notes(&captured));
    assert!(!notes(&captured).contains("Unreadable"), "{}", notes(&captured));
    let broken = text + "{\"sysstat\": 5}";
    let found = notes(&try_capture(&broken, Options::default()).expect("two documents"));
    assert!(found.contains("what follows is not JSON of sysstat"), "{found}");
}

#[test]
fn iostat_drops_the_report_since_boot() {
    let text = [
        HEADER.to_owned(),
        report("09:00:00", "999 999 0 9 999 999 0 9 0 0 9 99"),
        report("09:00:10", "100 800 0 2 50 400 10 4 1 3 0.4 20"),
        report("09:00:20", "300 2400 0 1 0 0 0 0 0 0 0.3 30"),
    ]
    .concat();
    let captured = captured(&text);
    let samples = &volume(&captured, "sda").samples;
    assert_eq!(samples.len(), 2);
    // 10 s at 100 reads/s of 800 KiB/s, 2 ms each; 50 writes/s, 4 ms each.
    let first = &samples[0];
    assert_eq!(first.span_ns, 10 * NS_PER_S);
    assert_near(first.read.n_ios, 1000.0);
    assert_near(first.read.bytes, 8_192_000.0);
    assert_near(first.read.wait_ns, 2e9);
    assert_near(first.write.n_ios, 500.0);
    assert_near(first.write.wait_ns, 2e9);
    assert_near(first.write.n_merged, 100.0);
    assert_near(first.discard.n_ios, 10.0);
    assert_near(first.n_flushes, 30.0);
    // A mean queue of 0.4 for 10 s.
    assert_near(first.in_flight_ns, 4e9);
    assert_near(first.busy_ns, 2e9);
    assert_eq!(captured.n_cpus, Some(2));
    // User, nice and system: 40 %.
    assert_near(captured.host[0].cpu_share, 0.4);
}

/// Two runs of iostat, vmstat, and JSON of iostat: one note each.
#[test]
fn a_first_report_that_is_left_out_is_noted_with_what_keeps_it() {
    let busy = "100 800 0 2 50 400 0 4 0 0 0.4 20";
    let run = [HEADER, &report("09:00:00", busy), &report("09:00:10", busy)].concat();
    let disk = "{\"disk_device\": \"sda\", \"r/s\": 9.0, \"w/s\": 1.0}";
    let json = |second: u32| {
        format!("{{\"timestamp\": \"2026-11-21T09:00:{second:02}+0000\", \"disk\": [{disk}]}}")
    };
    let json = format!(
        "{{\"sysstat\": {{\"hosts\": [{{\"statistics\": [{}, {}]}}]}}}}",
        json(0),
        json(10)
    );
    for text in [&run.repeat(2), VMSTAT, &json] {
        let of = |keeps_first| {
            let options = Options { keeps_first, ..EVERY_SECOND };
            notes(&try_capture(text, options).expect("a log"))
        };
        let note = "the first report is left out: it is the average since the host started; if the \
                    tool ran with `-y`, which leaves that one out, add `--keep-first`";
        assert_eq!(of(false).matches(note).count(), 1, "{}", of(false));
        assert_eq!(of(true).matches("first report").count(), 0, "{}", of(true));
    }
}

/// Two processors that were busy all the time: what the columns are rounded to adds up to more.
#[test]
fn rounded_figures_of_busy_processors_are_all_of_them() {
    let busy = "         1.01    89.50    9.50    0.00    0.00    0.00";
    let report = |time: &str| {
        report(time, "1 4 0 1 1 4 0 1 0 0 0.1 1")
            .replace("         30.00    0.00   10.00    5.00    0.00   55.00", busy)
    };
    let text = [HEADER.to_owned(), report("09:00:00"), report("09:00:10")].concat();
    let captured = captured(&text);
    assert_eq!(captured.host[0].cpu_share, Some(1.0));
    // That of the first report, and that all processes count.
    assert_eq!(notes(&captured).lines().count(), 2, "{}", notes(&captured));
}

#[test]
fn iostat_with_y_keeps_its_first_report() {
    let text =
        [HEADER.to_owned(), report("09:00:10", "100 800 0 2 50 400 0 4 0 0 0.4 20")].concat();
    let error = try_capture(&text, Options::default()).expect_err("nothing is left");
    assert!(error.to_string().contains("--keep-first"), "{error}");
    let kept = |length_ns| {
        try_capture(&text, Options { keeps_first: true, length_ns, ..Options::default() })
    };
    let error = kept(None).expect_err("one report does not say how long it was");
    let part = "its only report does not say how long it lasted: add `--every 10s` if";
    assert!(error.to_string().starts_with(part), "{error}");
    let kept = kept(Some(10 * NS_PER_S)).expect("one report");
    let sample = volume(&kept, "sda").samples[0];
    assert_eq!(sample.span_ns, 10 * NS_PER_S);
    assert_near(sample.n_ios(), 1500.0);
    assert_eq!((kept.sources[0].clock, kept.host[0].span_ns), (ClockKind::Local, 10 * NS_PER_S));
}

/// A disk of the first report alone: its span is that of the others.
#[test]
fn a_report_lasts_as_long_as_those_behind_it() {
    let text = [
        HEADER.to_owned(),
        report("09:00:10", "100 800 0 2 50 400 0 4 0 0 0.4 20").replace("sda", "sdb"),
        report("09:00:20", "100 800 0 2 50 400 0 4 0 0 0.4 20"),
        report("09:00:30", "100 800 0 2 50 400 0 4 0 0 0.4 20"),
    ];
    let options = Options { keeps_first: true, ..Options::default() };
    let captured = try_capture(&text.concat(), options).expect("a log");
    assert_eq!(volume(&captured, "sdb").samples[0].span_ns, 10 * NS_PER_S);
}

/// A minute of basic `iostat`, a report every half a second.
fn half_seconds() -> String {
    let columns = "Device tps kB_read/s kB_wrtn/s kB_read kB_wrtn";
    let mut text = format!("{HEADER}{columns}\nsda 9.00 9.00 9.00 90000 90000\n\n");
    for kib in 0..120 {
        text.push_str(&format!("{columns}\nsda 40.00 {}.00 100.00 {kib} 50\n\n", kib * 2));
    }
    text
}

#[test]
fn kib_beside_kib_per_second_tell_how_long_a_report_lasted() {
    let captured = captured(&half_seconds());
    let samples = &volume(&captured, "sda").samples;
    assert_eq!(samples.len(), 120);
    assert!(samples.iter().all(|sample| sample.span_ns == NS_PER_S / 2), "{:?}", samples[0]);
    assert_near(samples[0].n_ios(), 20.0);
    let first_to_last_ns = samples[119].end_ns - samples[0].end_ns;
    assert_eq!(first_to_last_ns, 119 * NS_PER_S as i64 / 2);
    assert_eq!(captured.sources[0].clock, ClockKind::Relative);
    let part = "no times in it: its reports last 0.5 s, by their KiB and KiB per second";
    assert!(notes(&captured).contains(part), "{}", notes(&captured));
    let ten = Options { length_ns: Some(10 * NS_PER_S), ..Options::default() };
    let other = try_capture(&half_seconds(), ten).expect("a log");
    assert!(notes(&other).contains("per second, and not 10 s"), "{}", notes(&other));
    assert_eq!(volume(&other, "sda").samples[0].span_ns, NS_PER_S / 2);
}

/// A log that goes on must not be waited for.
struct GoesOn;

impl Read for GoesOn {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        panic!("what is missing is known by now");
    }
}

const VMSTAT: &str = "procs -----------memory---------- ---swap-- -----io----\n \
                      r b swpd free buff cache si so bi bo in cs us sy id wa st\n \
                      9 9 0 1 1 1 9 9 9999 9999 99 99 99 1 0 0 0\n \
                      1 0 0 9 9 9 0 0 200 100 10 20 20 10 60 8 2\n \
                      1 0 0 9 9 9 0 0 400 300 10 20 20 10 60 8 2\n";

#[test]
fn a_log_without_times_asks_how_far_apart_its_reports_are() {
    let extended = report("", "100 800 0 2 50 400 10 4 1 3 0.4 20").replacen("11/21/26 \n", "", 1);
    let extended = [HEADER, &extended, &extended].concat();
    for (format, text) in [(Format::Vmstat, VMSTAT), (Format::Iostat, &extended)] {
        let mut collector = Collector::new();
        collector.begin("log", format.name());
        let mut input = text.as_bytes().chain(BufReader::new(GoesOn));
        let input: &mut dyn BufRead = &mut input;
        let read =
            capture::read(format, input, Options::default(), &mut |event| collector.take(event));
        let Err(ReadError::Length { message }) = read else { panic!("{format}: {read:?}") };
        let part = "no times, and nothing in it says how far apart they are: add `--every 10s`";
        assert!(message.contains(part), "{format}: {message}");
    }
    let report = "{\"disk\": [{\"disk_device\": \"sda\", \"r/s\": 9.0, \"w/s\": 1.0}]}";
    let json = format!(
        "{{\"sysstat\": {{\"hosts\": [{{\"statistics\": [{report}, {report}, {report}]}}]}}}}"
    );
    let error = try_capture(&json, Options::default()).expect_err("no times");
    assert!(matches!(error, ReadError::Length { .. }), "{error}");
    let ten = Options { length_ns: Some(10 * NS_PER_S), ..Options::default() };
    assert_near(volume(&try_capture(&json, ten).expect("a log"), "sda").samples[1].n_ios(), 100.0);

    let captured = try_capture(VMSTAT, ten).expect("a log");
    let samples = &volume(&captured, "whole host").samples;
    assert_eq!((samples.len(), samples[1].span_ns), (2, 10 * NS_PER_S));
    assert_near(samples[1].read.bytes, 10.0 * 409_600.0);
    assert_eq!(captured.host[1].span_ns, 10 * NS_PER_S);
    assert_eq!(captured.sources[0].clock, ClockKind::Relative);
}

#[test]
fn what_a_log_says_of_its_times_counts() {
    let busy = "100 800 0 2 50 400 0 4 0 0 0.4 20";
    let text = [HEADER, &report("09:00:00", busy), &report("09:00:10", busy)].concat();
    let captured = try_capture(&text, EVERY_SECOND).expect("a log");
    assert_eq!(volume(&captured, "sda").samples[0].span_ns, 10 * NS_PER_S);
    assert!(notes(&captured).contains("`--every` is ignored"), "{}", notes(&captured));
}

/// sysstat before 11.5.7: sectors, `avgrq-sz`, `avgqu-sz`, one `await`, `svctm`; no moments.
#[test]
fn iostat_by_its_old_names() {
    let table = |sda: &str| {
        format!(
            "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
             \x20          5,00    0,00    5,00    0,00    0,00   90,00\n\n\
             Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz \
             await  svctm  %util\n{sda}\n\n"
        )
    };
    let text = [
        "Linux 2.6.32 (host) \t21.11.2026 \t_x86_64_\t(4 CPU)\n\n".to_owned(),
        table("sda 9,00 9,00 9,00 9,00 9,00 9,00 9,00 9,00 9,00 9,00 9,00"),
        table("sda 0,00 5,00 20,50 10,00 328,00 160,00 16,00 0,61 20,00 1,00 3,05"),
    ]
    .concat();
    let captured = try_capture(&text, EVERY_SECOND).expect("a log");
    let sample = volume(&captured, "sda").samples[0];
    assert_near(sample.n_ios(), 30.5);
    // 488 sectors of 512 bytes; 30.5 I/Os of 20 ms are a queue of 0.61.
    assert_near(sample.bytes(), 249_856.0);
    assert_near(sample.wait_ns(), 610e6);
    assert_near(sample.in_flight_ns, 610e6);
}

#[test]
fn basic_iostat_counts_transfers_together() {
    let table = |figures: &str| {
        format!("Device tps kB_read/s kB_wrtn/s kB_read kB_wrtn\nsda {figures}\n\n")
    };
    let text = [HEADER, &table("9 9 9 9 9"), &table("40.00 300.00 100.00 300 100")].concat();
    let sample = volume(&captured(&text), "sda").samples[0];
    assert_eq!((sample.read.n_ios, sample.write.n_ios), (None, None));
    assert_near(sample.n_ios(), 40.0);
    assert_near(sample.read.bytes, 307_200.0);
}

/// `iostat -x -h`: the name stands last, tables of reads, writes and so on are of one report, and
/// sizes have units.
fn readable(reads: &str, writes: &str, rest: &str) -> String {
    format!(
        "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
         \x20         30.0%    0.0%   10.0%    5.0%    0.0%   55.0%\n\n\
         r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device\n{reads} sda\n{reads} sdb\n\n\
         w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device\n{writes} sda\n{writes} sdb\n\n\
         d/s     dkB/s   drqm/s  %drqm d_await dareq-sz Device\n\
         0.00 0.0k 0.00 0.0% 0.00 0.0k sda\n0.00 0.0k 0.00 0.0% 0.00 0.0k sdb\n\n\
         f/s f_await  aqu-sz  %util Device\n{rest} sda\n{rest} sdb\n\n\n"
    )
}

#[test]
fn readable_iostat_is_one_report_of_several_tables() {
    let boot = readable("9 9.0M 9 9% 9 9.0k", "9 9.0G 9 9% 9 9.0k", "9 9 9 9%");
    let reads = "1279.00 20.0M 3.00 5.2% 2.00 16.0k";
    let text =
        [HEADER, &boot, &readable(reads, "50.00 400.0k 0.00 0.0% 4.00 8.0k", "3.00 0 2.76 99.2%")];
    let captured = try_capture(&text.concat(), EVERY_SECOND).expect("a log");
    for name in ["sda", "sdb"] {
        let samples = &volume(&captured, name).samples;
        assert_eq!(samples.len(), 1);
        assert_near(samples[0].read.n_ios, 1279.0);
        assert_near(samples[0].read.bytes, 20.0 * 1024.0 * 1024.0);
        assert_near(samples[0].write.bytes, 400.0 * 1024.0);
        assert_near(samples[0].write.wait_ns, 200e6);
        assert_near(samples[0].n_flushes, 3.0);
        assert_near(samples[0].in_flight_ns, 2.76e9);
        assert_near(samples[0].busy_ns, 0.992e9);
    }
    // Half of the last digit of 20.0.
    let notes = notes(&captured);
    assert!(notes.contains("`-h` rounds sizes: bytes per second are up to 0.2 % off"), "{notes}");
}

/// `--pretty` alone spreads exact figures, here with moments in place of processors.
#[test]
fn pretty_iostat_is_exact() {
    let report = |time: &str, reads: &str, writes: &str| {
        format!(
            "11/21/26 {time}\nr/s rkB/s rrqm/s %rrqm r_await rareq-sz Device\n{reads} sda\n\n\
             w/s wkB/s wrqm/s %wrqm w_await wareq-sz Device\n{writes} sda\n\n"
        )
    };
    let text = [
        HEADER.to_owned(),
        report("09:00:00", "9 9 9 9 9 9", "9 9 9 9 9 9"),
        report("09:00:10", "100 800 0 0 2 8", "50 400 0 0 4 8"),
        report("09:00:20", "10 80 0 0 2 8", "5 40 0 0 4 8"),
    ];
    let captured = captured(&text.concat());
    let samples = &volume(&captured, "sda").samples;
    assert_eq!(samples.len(), 2);
    assert_near(samples[0].read.n_ios, 1000.0);
    assert_near(samples[0].write.bytes, 4_096_000.0);
    assert_near(samples[1].write.n_ios, 50.0);
    assert!(!notes(&captured).contains("`-h`"), "{}", notes(&captured));
}

/// Two runs into one file, a gap, a clock that is set back, and a report that stands twice.
#[test]
fn odd_times_are_reported() {
    let busy = |iops: u32| format!("{iops} 800 0 2 0 0 0 0 0 0 0.1 1");
    let text = [
        HEADER.to_owned(),
        report("09:00:00", &busy(9999)),
        report("09:00:10", &busy(10)),
        report("09:00:20", &busy(20)),
        report("09:05:20", &busy(30)),
        report("09:04:00", &busy(40)),
        report("09:04:10", &busy(50)),
        report("09:04:10", &busy(50)),
        HEADER.to_owned(),
        report("09:10:00", &busy(9999)),
        report("09:10:10", &busy(60)),
    ]
    .concat();
    let captured = captured(&text);
    let rates: Vec<f64> = volume(&captured, "sda")
        .samples
        .iter()
        .map(|sample| sample.n_ios().unwrap_or(0.0) / sample.span_s())
        .collect();
    // In the order of their moments; the first reports of both runs are left out.
    assert_eq!(rates, [10.0, 20.0, 40.0, 50.0, 30.0, 60.0]);
    let notes = notes(&captured);
    assert!(
        notes.contains("no samples from 2026-11-21 09:00:20 to 2026-11-21 09:05:20"),
        "{notes}"
    );
    assert!(notes.contains("the clock goes back"), "{notes}");
    assert!(notes.contains("1 sample of sda appears twice and is counted once"), "{notes}");
}

#[test]
fn devices_come_and_go() {
    let of = |time: &str, lines: &str| format!("11/21/26 {time}\n{COLUMNS}{lines}\n");
    let line = |name: &str| format!("{name} 10 80 0 1 0 0 0 0 0 0 0.1 1\n");
    let mut text = HEADER.to_owned();
    for minute in 0..12 {
        let second = if minute < 6 { "sdb" } else { "sdc" };
        let lines = [line("sda"), line("sda1"), line(second), line("dm-0"), line("md127")].concat();
        text.push_str(&of(&format!("09:{minute:02}:00"), &lines));
    }
    let captured = captured(&text);
    let names: Vec<&str> = captured.volumes.iter().map(|volume| volume.name.as_str()).collect();
    assert_eq!(names, ["sda", "sdb", "sdc"]);
    let notes = notes(&captured);
    for part in [
        "sdb has no samples after 2026-11-21 09:05:00",
        "sdc has no samples before 2026-11-21 09:06:00: it may be sdb under another name",
        "sda1 left out: partitions",
        "dm-0, md127 left out: their members count",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

/// One report of `iostat -o JSON`, and one of `sadf -j`.
#[test]
fn json_of_both_programs() {
    let disk = "{\"disk_device\": \"sda\", \"r/s\": 10.0, \"w/s\": 5.0, \"rkB/s\": 40.0, \
                \"wkB/s\": 40.0, \"r_await\": 2.0, \"w_await\": 1.0, \"aqu-sz\": 0.03}";
    let report = |second: u32| {
        format!(
            "{{\"timestamp\": \"2026-11-21T09:00:{second:02}+0000\", \
             \"avg-cpu\": {{\"user\": 20.0, \"system\": 5.0, \"idle\": 75.0}}, \"disk\": [{disk}]}}"
        )
    };
    let hosts = |reports: &[String]| {
        let reports = reports.join(",");
        format!(
            "{{\"sysstat\": {{\"hosts\": [{{\"nodename\": \"h\", \"number-of-cpus\": 8, \
             \"statistics\": [{reports}]}}]}}}}"
        )
    };
    let text = hosts(&[report(0), report(5), report(10)]);
    let captured_whole = captured(&text);
    let samples = &volume(&captured_whole, "sda").samples;
    assert_eq!((samples.len(), captured_whole.n_cpus), (2, Some(8)));
    assert_eq!(samples[0].span_ns, 5 * NS_PER_S);
    assert_near(samples[1].read.n_ios, 50.0);
    assert_near(captured_whole.host[0].cpu_share, 0.25);
    // Cut off within the last report.
    let cut = captured(&text[..text.len() - 60]);
    assert_eq!(volume(&cut, "sda").samples.len(), 1);
    assert!(notes(&cut).contains("cut off"), "{}", notes(&cut));

    let sadf = "{\"timestamp\": {\"date\": \"2026-11-21\", \"time\": \"09:00:10\", \"utc\": 1, \
                \"interval\": 10}, \
                \"cpu-load\": [{\"cpu\": \"all\", \"user\": 30.0, \"system\": 1.0}, \
                {\"cpu\": \"0\", \"user\": 99.0}], \"memory\": {\"memused\": 1048576, \
                \"memused-percent\": 25.0}, \"disk\": [{\"disk-device\": \"sda\", \"tps\": 15.0, \
                \"rkB\": 40.0, \"wkB\": 40.0, \"await\": 2.0, \"aqu-sz\": 0.03}]}";
    // sadf has no report since boot: the first counts.
    let captured = captured(&hosts(&[sadf.to_owned()]));
    let sample = volume(&captured, "sda").samples[0];
    assert_eq!(sample.span_ns, 10 * NS_PER_S);
    assert_near(sample.n_ios(), 150.0);
    // 150 I/Os of 2 ms.
    assert_near(sample.wait_ns(), 300e6);
    let host = captured.host[0];
    assert_near(host.cpu_share, 0.31);
    assert_near(host.memory_bytes, 1_073_741_824.0);
    assert_near(host.memory_share, 0.25);
}

#[test]
fn sadf_as_a_table_and_in_pairs() {
    let table = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n\
                 h;600;2026-11-21 09:10:00 UTC;-1;10,00;1,00;4,00;0,00;0,00;85,00\n\
                 # hostname;interval;timestamp;DEV;\
                 tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n\
                 h;600;2026-11-21 09:10:00 UTC;sda;20,00;100,00;60,00;0,00;8,00;0,10;5,00;9,00\n\
                 h;-1;2026-11-21 09:15:00 UTC;LINUX-RESTART\t(2 CPU)\n\
                 h;600;2026-11-21 09:20:00 UTC;sda;10,00;50,00;30,00;0,00;8,00;0,05;5,00;4,00\n";
    let captured_table = captured(table);
    let samples = &volume(&captured_table, "sda").samples;
    assert_eq!((samples.len(), samples[0].span_ns), (2, 600 * NS_PER_S));
    assert_near(samples[0].n_ios(), 12_000.0);
    assert_near(samples[0].read.bytes, 600.0 * 102_400.0);
    assert_near(captured_table.host[0].cpu_share, 0.15);
    assert!(notes(&captured_table).contains("started again"));

    let pair = |name: &str, what: &str, value: &str| {
        format!("h\t600\t2026-11-21 09:10:00 UTC\t{name}\t{what}\t{value}\n")
    };
    let pairs = [
        pair("all", "%user", "10.00"),
        pair("all", "%system", "4.00"),
        pair("-", "rtps", "12.00"),
        pair("-", "kbmemused", "1024"),
        pair("sda", "tps", "20.00"),
        pair("sda", "rkB/s", "100.00"),
        pair("sda", "wkB/s", "60.00"),
        pair("sda", "await", "5.00"),
    ]
    .concat();
    let captured = captured(&pairs);
    let sample = volume(&captured, "sda").samples[0];
    assert_near(sample.n_ios(), 12_000.0);
    assert_near(sample.wait_ns(), 60e9);
    assert_near(captured.host[0].cpu_share, 0.14);
    assert_near(captured.host[1].memory_bytes, 1_048_576.0);
}

#[test]
fn vmstat_is_the_whole_host() {
    let text = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
                r b swpd free buff cache si so bi bo in cs us sy id wa st gu  UTC\n \
                9 9 0 1 1 1 9 9 9999 9999 99 99 99 1 0 0 0 0 2026-11-21 09:00:00\n \
                1 0 0 9 9 9 0 0 200 100 10 20 20 10 60 8 2 0 2026-11-21 09:00:05\n \
                1 0 0 9 9 9 0 0 400 300 10 20 20 10 60 8 2 0 2026-11-21 09:00:10\n";
    let captured = captured(text);
    let samples = &volume(&captured, "whole host").samples;
    assert_eq!((samples.len(), samples[0].span_ns), (2, 5 * NS_PER_S));
    assert_near(samples[0].read.bytes, 5.0 * 204_800.0);
    assert_near(samples[1].write.bytes, 5.0 * 307_200.0);
    assert_eq!(samples[0].n_ios(), None);
    // Idle, waiting and stolen take 70 %.
    assert_near(captured.host[0].cpu_share, 0.3);
}
