//! Broken input is reported with its place, and never causes a panic.

use capture::{Collector, Format, Options, Phases};
use proptest::prelude::*;

use crate::common::{EVERY_SECOND, captured, notes, try_capture, volume};

#[test]
fn lines_that_make_no_sense_are_reported_with_their_number() {
    let text = "Linux 6.1.0 (h) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n\
                Device tps kB_read/s kB_wrtn/s\nsda 1.0 1.0 1.0\n\n\
                Device tps kB_read/s kB_wrtn/s\nsda 5.0 x 1.0\nsdb 5.0 1.0\nsdc 5.0 8.0 1.0\n\n";
    let captured = try_capture(text, EVERY_SECOND).expect("a log");
    assert_eq!(captured.volumes.len(), 1);
    assert!(!volume(&captured, "sdc").samples.is_empty());
    let notes = notes(&captured);
    assert!(notes.contains("Unreadable Some(7) `x` is not a number"), "{notes}");
    assert!(notes.contains("Unreadable Some(8) 3 columns where the table has 4"), "{notes}");
}

#[test]
fn a_last_line_that_is_cut_off_is_left_out() {
    let text = "Linux 6.1.0 (h) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n\
                Device tps kB_read/s kB_wrtn/s\nsda 1.0 1.0 1.0\n\n\
                Device tps kB_read/s kB_wrtn/s\nsda 5.0 8.0 1.0\nsdb 5.0";
    let found = notes(&try_capture(text, EVERY_SECOND).expect("a log"));
    assert!(found.contains("Remark Some(8) the last line is cut off"), "{found}");
    assert!(!found.contains("Unreadable"), "{found}");
}

/// A number without an end of its line may be the first part of a larger one.
#[test]
fn a_last_number_that_may_be_cut_off_is_left_out() {
    let iostat = "Linux 6.1.0 (h) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n\
                  Device tps kB_read/s kB_wrtn/s\nsda 1.0 1.0 1.0\n\n\
                  Device tps kB_read/s kB_wrtn/s\nsda 5.0 8.0 1.0\nsdb 5.0 8.0 12";
    let pairs = "host\t10\t2026-11-21 09:00:10 UTC\tsda\ttps\t7.00\n\
                 host\t10\t2026-11-21 09:00:10 UTC\tsda\trkB/s\t8.00\n\
                 host\t10\t2026-11-21 09:00:10 UTC\tsdb\ttps\t12";
    let iolog = "fio version 3 iolog\n1 /dev/a add\n1 /dev/a open\n2000 /dev/a read 0 4096\n\
                 4000 /dev/b read 8192 40";
    let biosnoop = "TIME(s)     COMM   PID    DISK    T SECTOR     BYTES  LAT(ms)\n\
                    0.000000    a      1      sda     R 8          4096   0.50\n\
                    1.000000    a      1      sdb     R 16         4096   0";
    for text in [iostat, pairs, iolog, biosnoop] {
        let captured = try_capture(text, EVERY_SECOND).unwrap_or_else(|it| panic!("{text}: {it}"));
        let found = notes(&captured);
        assert!(found.contains("the last line is cut off and left out"), "{text}: {found}");
        assert_eq!(captured.volumes.len(), 1, "{text}");
        let whole = try_capture(&format!("{text}0\n"), EVERY_SECOND).expect("a log");
        assert_eq!(whole.volumes.len(), 2, "{text}");
    }
}

#[test]
fn figures_for_people_are_refused() {
    let text = "Device tps kB_read/s kB_wrtn/s\nsda 1.0 1.0 1.0\n\n\
                Device tps kB_read/s kB_wrtn/s\nsda 1.2k 1.0 1.0\n";
    let error = try_capture(text, Options::default()).expect_err("nothing was read");
    assert!(error.to_string().contains("no sample"), "{error}");
}

#[test]
fn a_name_does_not_steer_the_terminal() {
    let text = "Device tps kB_read/s kB_wrtn/s\nsda\u{1b}[31m 1.0 1.0 1.0\n\n\
                Device tps kB_read/s kB_wrtn/s\nsda\u{1b}[31m 1.2 1.0 1.0\n\n\
                Device tps kB_read/s kB_wrtn/s\nsda\u{1b}[31m 1.4 1.0 1.0\n";
    let captured = try_capture(text, EVERY_SECOND).expect("a log");
    assert_eq!(volume(&captured, "sda?[31m").samples.len(), 2);
}

/// Two runs in one file, of which one was recorded with `-t`.
#[test]
fn reports_with_and_without_times_have_no_common_order() {
    let head = "Linux 6.1.0 (h) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n";
    let run = |times: [&str; 2]| {
        let columns = "Device tps kB_read/s kB_wrtn/s kB_read kB_wrtn\nsda 2.0 8.0 0.0 80 0\n\n";
        format!("{head}{}{columns}{}{columns}", times[0], times[1])
    };
    let without = run(["", ""]);
    let with = run(["11/21/26 09:00:00\n", "11/21/26 09:00:10\n"]);
    for (text, what) in [
        (format!("{without}{with}"), "a report with a time in a log without times"),
        (format!("{with}{without}"), "a report without a time in a log with times"),
    ] {
        let captured = captured(&text);
        assert_eq!(volume(&captured, "sda").samples.len(), 1, "{what}");
        let found = notes(&captured);
        assert!(
            found.contains(&format!("{what}: capture each run as a file of its own")),
            "{found}"
        );
        assert!(found.contains("Unreadable"), "{found}");
    }
}

#[test]
fn a_document_that_is_cut_off_before_its_first_sample_says_what_to_do() {
    let text =
        "{\"sysstat\": {\"hosts\": [{\"nodename\": \"h\",\n\"statistics\": [{\"disk\": [{\"di";
    let error = try_capture(text, Options::default()).expect_err("nothing was read");
    let text = error.to_string();
    assert!(text.starts_with("line 2: it is cut off here, before its first sample"), "{text}");
    let text = text.replace("sysstat", "x");
    assert!(text.contains("let the tool run") && !text.contains("EOF"), "{text}");
}

#[test]
fn a_log_in_the_wrong_order_keeps_its_spans_and_is_noted_three_times() {
    let mut text = "\"(PDH-CSV 4.0)\",\"\\\\H\\LogicalDisk(D:)\\Disk Reads/sec\",\
                    \"\\\\H\\LogicalDisk(D:)\\Disk Writes/sec\"\n"
        .to_owned();
    for second in (10..60).step_by(10).rev() {
        text.push_str(&format!("\"11/21/2018 09:00:{second}.000\",\"100\",\"50\"\n"));
    }
    let captured = captured(&text);
    let spans = volume(&captured, "D:").samples.iter().map(capture::Sample::span_s);
    assert_eq!(spans.collect::<Vec<_>>(), [10.0; 5]);
    let notes = notes(&captured);
    assert_eq!(notes.matches("the clock goes back").count(), 3, "{notes}");
    assert!(notes.contains("more of these are not noted"), "{notes}");
}

/// The first row is blank, as PerfMon writes it, and the last one stands next: the leap of a minute
/// between both is how long no row lasted.
#[test]
fn rows_behind_a_leap_last_as_long_as_the_time_between_them() {
    let mut text = "\"(PDH-CSV 4.0)\",\"\\\\H\\LogicalDisk(D:)\\Disk Reads/sec\",\
                    \"\\\\H\\LogicalDisk(D:)\\Disk Writes/sec\"\n\
                    \"11/21/2018 09:00:00.000\",\" \",\" \"\n"
        .to_owned();
    // The row of 09:00:20 is missing.
    for second in [55, 50, 45, 40, 35, 30, 25, 15, 10, 5] {
        text.push_str(&format!("\"11/21/2018 09:00:{second:02}.000\",\"100\",\"50\"\n"));
    }
    let captured = captured(&text);
    let samples = &volume(&captured, "D:").samples;
    let spans: Vec<f64> = samples.iter().map(capture::Sample::span_s).collect();
    assert_eq!(spans, [5.0; 10]);
    assert!(samples.iter().all(|sample| sample.read.n_ios == Some(500.0)), "{samples:?}");
    let notes = notes(&captured);
    let gap = "no samples from 2018-11-21 09:00:15 to 2018-11-21 09:00:25: that time is left out";
    assert!(notes.contains(gap), "{notes}");
}

/// Of reports a second apart two are missing.
#[test]
fn a_gap_of_less_than_three_spans_is_noted() {
    let columns = "Device tps kB_read/s kB_wrtn/s kB_read kB_wrtn";
    let report =
        |second: u32| format!("11/21/26 09:00:{second:02}\n{columns}\nsda 100.0 8.0 0.0 8 0\n\n");
    let head = "Linux 6.1.0 (h)\t11/21/26\t_x86_64_\t(2 CPU)\n\n";
    let text = head.to_owned() + &[0, 1, 2, 5, 6].map(report).concat();
    let captured = captured(&text);
    let spans = volume(&captured, "sda").samples.iter().map(capture::Sample::span_s);
    assert_eq!(spans.collect::<Vec<_>>(), [1.0, 1.0, 3.0, 1.0]);
    let notes = notes(&captured);
    let gap = "no samples from 2026-11-21 09:00:02 to 2026-11-21 09:00:05: the one that ends there \
               is taken for all of that time";
    assert!(notes.contains(gap), "{notes}");
}

/// The fifth report stands third: in the file it ends two spans behind the one before it.
#[test]
fn a_report_that_stands_too_early_does_not_last_longer() {
    let columns = "Device tps kB_read/s kB_wrtn/s kB_read kB_wrtn";
    let report = |second: u32| {
        format!("11/21/26 09:00:{second:02}\n{columns}\nsda {second}.0 8.0 0.0 8 0\n\n")
    };
    let reports: String = [0, 10, 20, 40, 30, 50].map(report).concat();
    let text = format!("Linux 6.1.0 (h) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n{reports}");
    let captured = captured(&text);
    let samples = &volume(&captured, "sda").samples;
    let figures = samples.iter().map(|sample| (sample.span_s(), sample.n_ios().unwrap_or(0.0)));
    assert_eq!(
        figures.collect::<Vec<_>>(),
        [10.0, 20.0, 30.0, 40.0, 50.0].map(|iops| (10.0, iops * 10.0))
    );
}

proptest! {
    /// No bytes make a reader panic, whatever form they are taken for.
    #[test]
    fn no_bytes_make_a_reader_panic(
        format in prop::sample::select(Format::ALL.to_vec()),
        start in prop::sample::select(vec![
            "",
            "fio version 3 iolog\n",
            "\"(PDH-CSV 4.0)\",\"\\\\H\\LogicalDisk(C:)\\Disk Reads/sec\"\n",
            "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n", "Device tps kB_read/s kB_wrtn/s\n",
            "# hostname;interval;timestamp;DEV;tps\n", "procs\n r b swpd bi bo id\n",
        ]),
        text in "[ 0-9a-zA-Z,;:/.+\"\\\\\n\t\\[\\]{}-]{0,300}",
    ) {
        let bytes = [start.as_bytes(), text.as_bytes()].concat();
        let mut collector = Collector::new();
        collector.begin("x", format.name());
        let options = Options { keeps_first: true, ..EVERY_SECOND };
        let read =
            capture::read(format, &mut &bytes[..], options, &mut |event| collector.take(event));
        let captured = collector.finish(&[]);
        if let (Ok(()), Ok(needs)) = (read, capture::needs_of(&captured, "x", &Phases::default())) {
            prop_assert!(needs::parse(&needs.to_toml()).0.is_some(), "{}", needs.to_toml());
        }
    }
}
