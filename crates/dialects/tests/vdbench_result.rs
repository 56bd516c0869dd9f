//! Results of Vdbench, read back: what a flatfile says is in the record, and nothing else.

mod vdbench_output_support;

use dialects::vdbench::result::{ResultError, VdbenchResult, is_result, read_result};
use record::{NoteSeverity, Outcome, PerDirRecord};
use vdbench_output_support::{flat_lines, outputs, page};

const HEADING: &str = "tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp \
                       read_resp write_resp resp_max read_max write_max resp_std read_std \
                       write_std xfersize threads seekpct cpu_user cpu_kernel cpu_wait cpu_idle";

/// A row of a run of 8 KiB blocks at random places.
fn row(clock: &str, run: &str, label: &str, rate: f64, read_pct: f64) -> String {
    format!(
        "{clock} 11/26/2026-{}-UTC {run} {label} 400 {rate} 1.5 8192 {read_pct} 0.3 0.25 0.5 9.5 \
         7.25 9.5 1.1 1.0 1.25 8192 4 100 20 10 5 65",
        &clock[..8]
    )
}

/// Two runs: the first has a ramp of one interval, the second was stopped.
fn rows() -> Vec<String> {
    vec![
        row("14:58:36.334", "mixed", "1", 372.0, 72.0),
        row("14:58:38.047", "mixed", "2", 340.5, 50.0),
        row("14:58:40.063", "mixed", "3", 399.5, 75.0),
        row("14:58:40.132", "mixed", " avg_2-3", 370.0, 62.5),
        row("14:58:44.001", "later", "1", 100.0, 100.0),
    ]
}

fn flatfile(rows: &[String]) -> String {
    let title = "<title>Vdbench out/flatfile.html</title><pre>\n*\n* Run : name of the run\n*\n";
    format!("{title}{HEADING}\n{}\n", rows.join(" \n"))
}

#[track_caller]
fn readable(text: &str, parameters: Option<&str>) -> VdbenchResult {
    assert!(is_result(text));
    read_result(text, parameters).unwrap_or_else(|error| panic!("{error}"))
}

fn codes(result: &VdbenchResult, severity: NoteSeverity) -> Vec<&str> {
    let notes = result.record.notes.iter().filter(|note| note.severity == severity);
    notes.map(|note| note.code.as_str()).collect()
}

#[test]
fn averages_are_jobs_and_intervals_the_run_over_time() {
    let result = readable(&flatfile(&rows()), None);
    let record = &result.record;
    // The first interval of two seconds ended at 14:58:36.
    assert_eq!(record.started_unix_ms, 1_795_705_114_000);
    assert_eq!((record.jobs.len(), record.outcome), (1, Outcome::Interrupted));
    let job = &record.jobs[0];
    assert_eq!((job.name.as_str(), job.queue_depth, job.runtime_ns), ("mixed", 4, 4_000_000_000));
    assert!(job.lacks_cpu, "the processors are of the whole host");
    let PerDirRecord { read, write, .. } = &job.dirs;
    // 370 a second for two intervals of two seconds, of which 62.5 % read.
    assert_eq!((read.n_ios, write.n_ios), (925, 555));
    assert_eq!((read.io_bytes, write.io_bytes), (925 * 8192, 555 * 8192));
    let latency = read.service_latency();
    let figures = (latency.mean_ns(), latency.max_ns(), latency.stdev_ns());
    assert_eq!(figures, (Some(250_000.0), Some(7_250_000), Some(1_000_000.0)));
    assert_eq!((latency.min_ns(), latency.percentile_ns(99.0)), (None, None));
    assert!(read.response.is_none() && read.total_latency().is_empty());
    let ramps: Vec<bool> = record.intervals.iter().map(|it| it.ramp).collect();
    assert_eq!(ramps, [true, false, false]);
    let second = &record.intervals[1];
    assert_eq!((second.length_ms, second.dirs.read.n_ios), (2000, 341));
    assert_eq!(second.cpu.map(|cpu| cpu.idle_pct), Some(65.0));
    assert_eq!((record.steps[0].name.as_str(), record.steps[0].step_idx), ("mixed", 0));
    assert_eq!(codes(&result, NoteSeverity::Warning), ["left_out"]);
}

#[test]
fn columns_say_what_was_asked_for() {
    let option = |result: &VdbenchResult, name: &str| {
        let mut options = result.record.jobs[0].options.clone().into_iter();
        options.find(|(known, _)| known == name).map(|(_, value)| value)
    };
    let result = readable(&flatfile(&rows()), None);
    assert_eq!(option(&result, "rw").as_deref(), Some("randrw"));
    assert_eq!(option(&result, "rate_iops").as_deref(), Some("250,150"));
    assert_eq!(option(&result, "bs").as_deref(), Some("8192"));
    let max = flatfile(&rows()).replace(" 400 ", " 9999988 ");
    assert_eq!(option(&readable(&max, None), "rate_iops"), None);
    let several = flatfile(&rows()).replace(" 8192 4 100 ", " n/a -1 n/a ");
    let result = readable(&several, None);
    assert_eq!((option(&result, "rw"), option(&result, "bs")), (None, None));
    assert!(codes(&result, NoteSeverity::Warning).contains(&"mixed_sizes"));
}

#[test]
fn the_parameter_file_says_what_was_worked_on() {
    let parameters = "<title>Vdbench out/parmfile.html</title><pre>\n\n\
                      * Contents of parameter file: a.parm\n\n\
                      sd=default,threads=6,size=64m\n\
                      sd=sd1,lun=/mnt/data/one\nsd=sd2,lun=/mnt/data/two\n\
                      wd=wd1,sd=sd*,xfersize=8k,rdpct=70\n\
                      rd=mixed,wd=wd1,iorate=400,elapsed=4,interval=2\n";
    let result = readable(&flatfile(&rows()), Some(parameters));
    let job = &result.record.jobs[0];
    assert_eq!(job.targets, ["/mnt/data/one", "/mnt/data/two"]);
    assert_eq!(job.queue_depth, 12);
    let plan = result.plan.as_ref().expect("a plan");
    assert_eq!((plan.steps.len(), plan.steps[0].name.as_str()), (1, "mixed"));
    let broken = parameters.replace("/mnt/data/two", "$lun");
    let result = readable(&flatfile(&rows()), Some(&broken));
    assert!(result.record.jobs[0].targets.is_empty() && result.plan.is_none());
    assert!(codes(&result, NoteSeverity::Info).contains(&"no_targets"));
}

/// Version 5.03 has no moments, and no largest values of reads and writes apart.
#[test]
fn older_pages_have_fewer_columns() {
    let text = "tod Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp \
                resp_max resp_std xfersize threads\n\
                23:59:59.100 rd1 1 999988 10.0 0.1 4096 100.0 2.0 2.0 0.0 9.0 1.0 4096 8\n\
                00:00:00.090 rd1 2 999988 20.0 0.1 4096 100.0 2.0 2.0 0.0 9.0 1.0 4096 8\n\
                00:00:00.100 rd1 avg_2-2 999988 20.0 0.1 4096 100.0 2.0 2.0 0.0 9.0 1.0 4096 8\n";
    let result = readable(text, None);
    let record = &result.record;
    assert_eq!((record.started_unix_ms, record.elapsed_ns), (0, 1_990_000_000));
    let latency = record.jobs[0].dirs.read.service_latency();
    assert_eq!((latency.count(), latency.max_ns()), (20, Some(9_000_000)));
    assert!(codes(&result, NoteSeverity::Info).contains(&"no_date"));
    let mixed = readable(&text.replace(" 100.0 ", " 50.0 "), None);
    let latency = mixed.record.jobs[0].dirs.read.service_latency();
    assert_eq!((latency.mean_ns(), latency.max_ns()), (Some(2_000_000.0), None));
}

#[test]
fn files_have_columns_for_each_operation() {
    let heading = "tod timestamp Run Interval Xfersize Threads Reqrate Rate Resp Resp_std Resp_max \
                   MB_read MB_write Read_rate Read_resp Read_resp_std Read_resp_max Write_rate \
                   Write_resp Write_resp_std Write_resp_max Open_rate";
    let row = |clock: &str, label: &str| {
        format!(
            "{clock} 11/26/2026-{}-GMT+01:00 rd1 {label} 4096 n/a 200 120 0.5 0.1 2 0.3125 0.15625 \
             80 0.25 0.5 1 40 1 2 3 9",
            &clock[..8]
        )
    };
    let rows = [row("01:16:33.041", "1"), row("01:16:34.026", "2"), row("01:16:34.3", "avg_2-2")];
    let text = format!("{heading}\n{}\n", rows.join("\n").replace("34.3 ", "34.300 "));
    let result = readable(&text, None);
    let job = &result.record.jobs[0];
    // An hour ahead of UTC.
    assert_eq!(result.record.started_unix_ms, 1_795_652_192_000);
    let PerDirRecord { read, write, .. } = &job.dirs;
    assert_eq!((read.n_ios, write.n_ios), (80, 40));
    assert_eq!((read.io_bytes, write.io_bytes), (80 * 4096, 40 * 4096));
    assert_eq!(write.service_latency().mean_ns(), Some(1e6));
    let opened = (job.series[0].op.as_str(), job.series[0].n_ios);
    assert_eq!(opened, ("open", 9));
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let error = read_result(text, None).expect_err("it is no result");
    assert!(error.to_string().contains(message), "{error}");
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let good = flatfile(&rows());
    refused("", "no line names the columns");
    refused("<title>Vdbench out/flatfile.html</title><pre>\n*\n* Run : name\n", "no line names");
    refused(
        &good[..good.find("\n14:58:38").expect("a row") - 30],
        "line 6 has 17 values, and line 5 names 25",
    );
    refused(
        &good.replace(" bytes/io ", " bytes "),
        "line 5 names the columns, and `bytes/io` is not",
    );
    refused(
        &good.replace(" 340.5 ", " fast "),
        "line 7: `rate` is `fast`, expected a number from 0",
    );
    refused(&good.replace(" 50 ", " 150 "), "line 7: `read%` is `150`, expected a percentage");
    refused(&good.replace("14:58:40.063", "14.58"), "line 8: `tod` is `14.58`, expected a time");
    refused(&good.replace("11/26", "26/11"), "line 6: `timestamp` is `26/11/2026-");
    refused(&good.replace(" avg_2-3", "average"), "line 9: `Interval` is `average`, expected");
    refused(&good.replace(" avg_2-3", " avg_2-1"), "no run has a row of averages");
    let cut = good.split_once("14:58:40.132").expect("the average").0;
    assert!(matches!(read_result(cut, None), Err(ResultError::NoAverage)));
    assert!(!is_result("{\"a\": 1}") && is_result(&good));
}

/// A damaged page ends in a message or in a record, and never in a panic.
#[test]
fn numbers_at_their_ends_are_read_or_refused() {
    let good = flatfile(&rows());
    for (from, to) in [
        (" avg_2-3", " avg_2-4294967295"),
        (" avg_2-3", " avg_2-18446744073709551615"),
        (" 372 ", " 1e308 "),
        (" 8192 72 ", " 1e308 72 "),
        ("11/26/2026", "01/01/1970"),
        ("-UTC", "-GMT+255:255"),
        ("-UTC", "-GMT-99999999999999999999:00"),
        (" 4 100 20", " 4294967295 100 20"),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good, "{from}");
        let _either = read_result(&text, Some("sd=sd1,lun=a,threads=4000000000\n"));
    }
}

/// What the real tool printed: every average comes to the same figures as its row.
#[test]
fn real_pages_are_read_as_they_stand() {
    let mut n_averages = 0;
    for output in outputs(false) {
        let flat = page(&output, "flatfile.html");
        let averages = flat_lines(&flat)
            .into_iter()
            .filter(|line| line.word("Interval").starts_with("avg_") && !line.is_void());
        let parameters = page(&output, "parmfile.html");
        let Ok(result) = read_result(&flat, Some(&parameters)) else { continue };
        let averages: Vec<_> = averages.collect();
        assert_eq!(result.record.jobs.len(), averages.len(), "{}", output.display());
        for (job, line) in result.record.jobs.iter().zip(&averages) {
            n_averages += 1;
            let iops = job.dirs.read.rate_iops() + job.dirs.write.rate_iops();
            assert!((iops - line.number("rate")).abs() <= 0.5, "{iops}: {}", line.text);
            let share = job.dirs.read.rate_iops() / iops * 100.0;
            assert!((share - line.number("read%")).abs() < 0.5, "{share}: {}", line.text);
            let mib = (job.dirs.read.rate_bytes() + job.dirs.write.rate_bytes()) / 1_048_576.0;
            let apart = (mib / line.number("MB/sec") - 1.0).abs();
            assert!(apart < 0.002, "{mib}: {}", line.text);
            let mean_ns = job.dirs.write.service_latency().mean_ns().unwrap_or(0.0);
            assert!((mean_ns / 1e6 - line.number("write_resp")).abs() < 1e-9, "{}", line.text);
            // Pages of our own are without their parameter file.
            let has_runs = parameters.contains("rd=") && !job.name.starts_with("SD_format");
            assert_eq!(!job.targets.is_empty(), has_runs, "{}", line.text);
        }
    }
    assert!(n_averages > 0, "no page");
}
