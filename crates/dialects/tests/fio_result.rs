//! Results of fio, read back: what fio printed comes out again, and nothing that it did not.

use std::process::Command;

use dialects::LowerOptions;
use dialects::NO_HOST;
use dialects::fio::output::{self, JsonOptions, ReportTime};
use dialects::fio::parse_text;
use dialects::fio::result::{FioResult, ResultError, is_result, read_result};
use record::{Latency, Outcome};
use serde_json::{Value, json};

/// An entry as fio 3.33 prints it, cut down to what is read.
fn entry(name: &str, read: &Value) -> Value {
    json!({
        "jobname": name, "groupid": 0, "error": 0, "elapsed": 3,
        "job options": {"name": name, "rw": "randread", "bs": "4k", "numjobs": "2"},
        "read": read, "write": {}, "trim": {},
        "job_runtime": 4000, "usr_cpu": 25.0, "sys_cpu": 12.5, "ctx": 7,
        "iodepth_level": {"1": 25.0, "2": 75.0}, "latency_depth": 2,
    })
}

fn read(clat: &Value) -> Value {
    json!({
        "io_bytes": 4_096_000, "total_ios": 1000, "runtime": 2000, "clat_ns": clat,
        "lat_ns": {"min": 110, "max": 900, "mean": 300.5, "stddev": 20.0, "N": 1000},
    })
}

fn listed() -> Value {
    json!({"min": 100, "max": 800, "mean": 290.5, "stddev": 10.0, "N": 1000,
        "percentile": {"99.000000": 700, "50.000000": 290, "99.900000": 790}})
}

fn file(version: &str, jobs: &Value) -> String {
    let top = json!({"fio version": version, "timestamp_ms": 1_700_000_003_000_u64,
        "global options": {"ioengine": "libaio", "filename": "/dev/sdx"}, "jobs": jobs});
    top.to_string()
}

#[track_caller]
fn readable(text: &str) -> FioResult {
    assert!(is_result(text));
    read_result(text).unwrap()
}

#[test]
fn what_the_file_says_is_in_the_record() {
    let result = readable(&file("fio-3.33", &json!([entry("a", &read(&listed()))])));
    let record = &result.record;
    assert_eq!((result.version.as_str(), record.outcome), ("fio-3.33", Outcome::Complete));
    assert_eq!((record.plimsoll_version.as_str(), record.elapsed_ns), ("fio-3.33", 3_000_000_000));
    assert_eq!(record.started_unix_ms, 1_700_000_000_000);
    let job = &record.jobs[0];
    assert_eq!((job.name.as_str(), job.n_workers, job.queue_depth), ("a", 2, 2));
    assert_eq!((job.engine.as_str(), job.targets[0].as_str()), ("libaio", "/dev/sdx"));
    assert_eq!((job.cpu_user_ns, job.cpu_system_ns), (1_000_000_000, 500_000_000));
    assert_eq!(job.depth_levels[..3], [250, 750, 0]);
    let dir = &job.dirs.read;
    assert_eq!((dir.rate_iops(), dir.rate_bytes()), (500.0, 2_048_000.0));
    assert_eq!(job.dirs.write.n_ios, 0);
    let text = "[global]\nfilename=/dev/sdx\nioengine=libaio\n[a]\nbs=4k\nnumjobs=2\nrw=randread\n";
    assert_eq!(result.job_file, text);
    let parsed = parse_text("imported", &result.job_file, &LowerOptions::default(), &NO_HOST);
    assert_eq!(parsed.plan.steps.len(), 1);
}

#[test]
fn without_bins_only_what_is_listed_is_known() {
    let result = readable(&file("fio-3.33", &json!([entry("a", &read(&listed()))])));
    let dir = &result.record.jobs[0].dirs.read;
    let clat = dir.service_latency();
    assert!(matches!(clat, Latency::Listed(_)));
    assert_eq!((clat.percentile_ns(99.0), clat.percentile_ns(95.0)), (Some(700), None));
    let (is_total, shown) = dir.shown_latency();
    assert_eq!((is_total, shown.percentile_ns(50.0)), (false, Some(290)));
    assert_eq!(dir.total_latency().mean_ns(), Some(300.5));
    assert!(result.record.notes.iter().any(|note| note.code == "no_histogram"));
}

#[test]
fn bins_become_a_histogram() {
    // The middles of fio's bins of 100, 290 and 800 ns.
    let mut clat = listed();
    clat["bins"] = json!({"100": 1, "290": 998, "804": 1});
    let result = readable(&file("fio-3.41", &json!([entry("a", &read(&clat))])));
    let Latency::Measured(hist) = result.record.jobs[0].dirs.read.service_latency() else {
        panic!("there were bins");
    };
    assert_eq!((hist.min_ns(), hist.max_ns(), hist.count()), (Some(100), Some(800), 1000));
    assert_eq!(hist.fio_percentiles(&[50.0, 99.95]), [290, 804]);
    assert!(result.record.notes.iter().all(|note| note.code != "no_histogram"));
    let lie = json!({"100": 1, "290": 3});
    clat["bins"] = lie;
    let reported = read_result(&file("fio-3.41", &json!([entry("a", &read(&clat))]))).unwrap_err();
    assert_eq!(
        reported.to_string(),
        "`jobs[0].read.clat_ns.N` is 1000, expected as many values as the bins hold, 4"
    );
}

#[test]
fn copies_of_a_job_are_one_worker_each() {
    let one = entry("a", &read(&listed()));
    let result = readable(&file("fio-3.33", &json!([one, one])));
    assert!(result.record.jobs.iter().all(|job| job.n_workers == 1));
    assert_eq!(result.job_file.matches("[a]").count(), 1);
}

/// Reads jobs of 2 s, each in a group of its own, and returns which step each is of.
#[track_caller]
fn steps_of(elapsed_s: u64, change: impl Fn(usize, &mut Value)) -> (Vec<u32>, FioResult) {
    let jobs = (0..3).map(|idx| {
        let mut job = entry(&format!("j{idx}"), &read(&listed()));
        job["groupid"] = json!(idx);
        job["elapsed"] = json!(elapsed_s);
        change(idx, &mut job);
        job
    });
    let result = readable(&file("fio-3.33", &json!(jobs.collect::<Vec<Value>>())));
    (result.record.jobs.iter().map(|job| job.step_idx).collect(), result)
}

/// A bare `stonewall` is not among the options that fio lists.
#[test]
fn groups_that_ran_one_after_another_are_steps() {
    let nothing = |_: usize, _: &mut Value| {};
    let (steps, result) = steps_of(7, nothing);
    assert_eq!(steps, [0, 1, 2]);
    let parsed = parse_text("imported", &result.job_file, &LowerOptions::default(), &NO_HOST);
    assert_eq!(parsed.plan.steps.len(), 3, "{}", result.job_file);
    // No more time than one of them takes: they ran together.
    assert_eq!(steps_of(3, nothing).0, [0, 0, 0]);
    // What the options say comes first, then when each began.
    let listed =
        |name: &'static str| move |_: usize, job: &mut Value| job["job options"][name] = json!("1");
    assert_eq!(steps_of(3, listed("stonewall")).0, [0, 1, 2]);
    // A bare `stonewall` may stand beside `new_group`, which has a value.
    assert_eq!(steps_of(3, listed("new_group")).0, [0, 0, 0]);
    assert_eq!(steps_of(7, listed("new_group")).0, [0, 1, 2]);
    // A ramp of 4 s each, which no group's own time includes: 18 s one after another, 6 s together.
    let ramp = |_: usize, job: &mut Value| job["job options"]["ramp_time"] = json!("4s");
    assert_eq!(steps_of(7, ramp).0, [0, 0, 0]);
    assert_eq!(steps_of(18, ramp).0, [0, 1, 2]);
    let starts = [1_700_000_000_000_u64, 1_700_000_000_004, 1_700_000_002_010];
    let started = move |idx: usize, job: &mut Value| job["job_start"] = json!(starts[idx]);
    assert_eq!(steps_of(7, started).0, [0, 0, 1]);
}

/// Results of a real fio 3.33 on a file, as it printed them but for white space.
const RAMP: &str = include_str!("data/fio-results/ramp.json");
const STEPS: &str = include_str!("data/fio-results/steps.json");
const TOGETHER: &str = include_str!("data/fio-results/together.json");

/// Reads of 8 KiB at a depth of 256 after a ramp: `total_ios` is 61,744, `io_bytes` 507,904,000.
#[test]
fn what_was_in_flight_at_the_end_of_a_ramp_counts_as_ios_too() {
    let result = readable(RAMP);
    let dir = &result.record.jobs[0].dirs.read;
    assert_eq!((dir.n_ios, dir.io_bytes), (61_999, 507_904_000));
    let bytes_per_io = dir.io_bytes as f64 / dir.n_ios as f64;
    assert!((bytes_per_io - 8192.0).abs() < 1.0, "{bytes_per_io}");
    // What failed is in `total_ios` alone, and stays counted.
    let mut failed = read(&listed());
    failed["total_ios"] = json!(1200);
    let record = readable(&file("fio-3.33", &json!([entry("a", &failed)]))).record;
    assert_eq!(record.jobs[0].dirs.read.n_ios, 1200);
}

/// `new_group=1` and a bare `stonewall` in each of two jobs of 300 and 600 IOPS, and without it.
#[test]
fn a_new_group_behind_a_stonewall_is_a_step_and_without_one_it_is_none() {
    let of = |text| readable(text).record.jobs.iter().map(|job| job.step_idx).collect::<Vec<_>>();
    assert_eq!(of(STEPS), [0, 1]);
    assert_eq!(of(TOGETHER), [0, 0]);
}

#[test]
fn a_failed_job_fails_the_run() {
    let mut failed = entry("a", &json!({}));
    failed["error"] = json!(5);
    let result = readable(&file("fio-3.33", &json!([failed])));
    assert_eq!((result.record.outcome, result.record.jobs[0].error_errno), (Outcome::Failed, 5));
}

#[test]
fn reads_and_writes_as_one_are_read_only_where_it_is_clear() {
    let mut mixed = entry("a", &Value::Null);
    mixed["mixed"] = read(&listed());
    let result = readable(&file("fio-3.33", &json!([mixed])));
    assert_eq!(result.record.jobs[0].dirs.read.n_ios, 1000);
    mixed["job options"]["rw"] = json!("randrw");
    let reported = read_result(&file("fio-3.33", &json!([mixed]))).unwrap_err();
    assert!(matches!(reported, ResultError::Mixed { job } if job == "a"));
}

#[test]
fn text_around_the_report_is_passed_over_and_the_last_report_counts() {
    let early = file("fio-3.33", &json!([entry("early", &read(&listed()))]));
    let late = file("fio-3.33", &json!([entry("late", &read(&listed()))]));
    let text = format!("fio: a warning {{\n{early}\n{late}\n\na: (groupid=0, jobs=1): err= 0\n");
    assert_eq!(readable(&text).record.jobs[0].name, "late");
    let clients = late.replace("\"jobs\":", "\"client_stats\":");
    assert_eq!(readable(&clients).record.jobs.len(), 1);
    let zero = late.replace("\"stddev\":10.0", "\"stddev\" : -nan");
    assert_eq!(readable(&zero).record.jobs.len(), 1);
}

#[test]
fn what_is_not_a_result_is_reported_as_such() {
    let jobs = json!([entry("a", &read(&listed()))]);
    for (text, reported) in [
        ("", "not fio's output: expected an object with `fio version` and `jobs`"),
        ("{}", "not fio's output: expected an object with `fio version` and `jobs`"),
        ("{\"fio version\": \"fio-3.33\", \"jobs\": []}", "fio-3.33 wrote it, but no job is in it"),
        (&file("fio-2.21", &jobs), "written by fio-2.21, but only results of fio 3 are read"),
    ] {
        assert_eq!(read_result(text).unwrap_err().to_string(), reported);
    }
    let whole = file("fio-3.33", &jobs);
    for end in (1..whole.len()).step_by(37) {
        assert!(read_result(&whole[..end]).is_err(), "cut off at {end}");
    }
}

/// Puts a value at a place such as `read.clat_ns.N` of the only job, and returns the error.
#[track_caller]
fn reported_of(place: &str, value: Value) -> String {
    let mut job = entry("a", &read(&listed()));
    job["steadystate"] = json!({"ss": "iops:1%", "duration": 2, "data": {"iops": [1, 2]}});
    let pointer = format!("/{}", place.replacen('.', "/", 2));
    let (at, key) = pointer.rsplit_once('/').unwrap();
    job.pointer_mut(at).unwrap()[key] = value;
    read_result(&file("fio-3.33", &json!([job]))).unwrap_err().to_string()
}

#[test]
fn a_field_of_another_kind_is_reported_with_its_place() {
    let count = "expected a whole number from 0 up";
    for (place, value, found, wanted) in [
        ("read.total_ios", json!(-5), "-5", count),
        ("read.total_ios", json!(12.5), "12.5", count),
        ("read.total_ios", json!("1000"), "\"1000\"", count),
        ("read.total_ios", json!(1e30), "1e+30", count),
        ("read.io_bytes", Value::Null, "missing or not a number", "expected a number"),
        ("read.runtime", json!(-1), "-1", count),
        ("read.iops_min", json!(-1), "-1", count),
        ("read.bw_mean", json!(-1.5), "-1.5", "expected a number from 0 up"),
        ("read.clat_ns.N", json!([1]), "a list", count),
        ("read.clat_ns.max", json!(-800), "-800", count),
        ("read.clat_ns.max", json!(50), "50", "expected at least the least value, 100"),
        ("read.clat_ns.mean", Value::Null, "missing or not a number", "expected a number"),
        ("read.clat_ns.percentile", json!([1]), "a list", "expected an object"),
        (
            "read.clat_ns.percentile",
            json!({"50.0": 9, "99.0": 8}),
            "an object",
            "expected values that rise, but after 9 comes 8",
        ),
        ("read.clat_ns", json!(7), "7", "expected an object"),
        ("groupid", json!(-1), "-1", count),
        ("latency_depth", json!(5_000_000_000_u64), "5000000000", count),
        ("elapsed", json!(2.5), "2.5", count),
        ("usr_cpu", json!("25%"), "\"25%\"", "expected a number"),
        ("jobname", json!(3), "3", "expected a text"),
        (
            "steadystate.data",
            json!({"iops": [1, -2]}),
            "a list",
            "expected whole numbers from 0 up",
        ),
    ] {
        let reported = reported_of(place, value);
        let place = if place == "steadystate.data" { "steadystate.data.iops" } else { place };
        assert_eq!(reported, format!("`jobs[0].{place}` is {found}, {wanted}"));
    }
    for (percentile, value, reported) in [
        ("99.000000", Value::Null, "missing or not a number, expected a number"),
        ("99.000000", json!(7.5), "7.5, expected a whole number from 0 up"),
        ("101", json!(900), "900, expected a value under a number from 0 to 100"),
        ("most", json!(900), "900, expected a value under a number from 0 to 100"),
    ] {
        let mut clat = listed();
        clat["percentile"][percentile] = value;
        let found = read_result(&file("fio-3.33", &json!([entry("a", &read(&clat))])));
        let reported = format!("`jobs[0].read.clat_ns.percentile.{percentile}` is {reported}");
        assert_eq!(found.unwrap_err().to_string(), reported);
    }
    // Whole all the same.
    let mut job = entry("a", &read(&listed()));
    job["read"]["total_ios"] = json!(1000.0);
    let result = readable(&file("fio-3.33", &json!([job])));
    assert_eq!(result.record.jobs[0].dirs.read.n_ios, 1000);
}

#[test]
fn counters_of_a_disk_that_wrapped_around_leave_the_disk_out() {
    let text = file("fio-3.33", &json!([entry("a", &read(&listed()))]));
    let mut top: Value = serde_json::from_str(&text).unwrap();
    top["disk_util"] = json!([{"name": "sda", "in_queue": -12}, {"name": "sdb", "in_queue": 12}]);
    let record = readable(&top.to_string()).record;
    assert_eq!(record.disks.iter().map(|disk| disk.name.as_str()).collect::<Vec<_>>(), ["sdb"]);
    let note = record.notes.iter().find(|note| note.code == "imported_disk").unwrap();
    assert_eq!(
        note.message,
        "`disk_util[0].in_queue` is -12, expected a whole number from 0 up; this disk is left out"
    );
}

#[test]
fn results_of_early_versions_have_latencies_too() {
    // fio 3.1 to 3.16 say neither how many values there were nor how long a job ran, and fill the
    // list of percentiles up.
    let mut old = read(&listed());
    for kind in ["clat_ns", "lat_ns"] {
        old[kind].as_object_mut().unwrap().remove("N");
    }
    old["slat_ns"] = json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0});
    old["clat_ns"]["percentile"]["0.00"] = json!(0);
    let mut job = entry("a", &old);
    job.as_object_mut().unwrap().remove("job_runtime");
    let record = readable(&file("fio-3.1", &json!([job]))).record;
    let (job, dir) = (&record.jobs[0], &record.jobs[0].dirs.read);
    assert_eq!((job.runtime_ns, job.cpu_user_ns), (2_000_000_000, 500_000_000));
    assert_eq!(dir.service_latency().percentile_ns(99.0), Some(700));
    assert_eq!(dir.service_latency().percentile_ns(0.0), None);
    let listed = dir.listed.as_ref().unwrap();
    let counts = [&listed.slat, &listed.clat, &listed.lat].map(|it| it.as_ref().map(|it| it.n));
    assert_eq!(counts, [None, Some(1000), Some(1000)]);
    assert_eq!(job.print.percentiles, [50.0, 99.0, 99.9]);
}

/// Runs fio, or says that the test was skipped.
fn fio(format: &str, arguments: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("fio");
    command.current_dir(folder.path()).args(["--eta=never", &format!("--output-format={format}")]);
    let Ok(result) = command.args(arguments).output() else {
        testing::skipped!("fio is not installed");
        return None;
    };
    Some(String::from_utf8(result.stdout).unwrap())
}

const JOBS: [&str; 8] = [
    "--name=mixed",
    "--rw=randrw",
    "--ioengine=sync",
    "--size=1m",
    "--bs=4k",
    "--fsync=32",
    "--name=reads",
    "--rw=randread",
];

/// Reads a result of fio, prints it in fio's format, and compares every latency and counter.
#[track_caller]
fn check_round_trip(format: &str) {
    let Some(text) = fio(format, &JOBS) else { return };
    let record = read_result(&text).unwrap().record;
    let now = ReportTime { unix_ms: 0, utc_offset_s: 0 };
    let options = JsonOptions { plus: format == "json+", version: "fio-3.33", now };
    let printed: Value = serde_json::from_str(&output::json(&record, options)).unwrap();
    let start = text.find("{\n").unwrap();
    let theirs = text[start..].replace(": -nan", ": 0").replace(": nan", ": 0");
    let theirs: Value = serde_json::from_str(&theirs).unwrap();
    let n_jobs = theirs["jobs"].as_array().unwrap().len();
    assert_eq!(n_jobs, 2);
    for idx in 0..n_jobs {
        let (ours, theirs) = (&printed["jobs"][idx], &theirs["jobs"][idx]);
        for key in ["jobname", "groupid", "error", "job options", "job_runtime", "ctx"] {
            assert_eq!(ours[key], theirs[key], "{key}");
        }
        for dir in ["read", "write", "trim"] {
            for key in ["io_bytes", "bw_bytes", "iops", "runtime", "total_ios", "bw_samples"] {
                assert_eq!(ours[dir][key], theirs[dir][key], "{dir} {key}");
            }
            for kind in ["slat_ns", "clat_ns", "lat_ns"] {
                let (ours, theirs) = (&ours[dir][kind], &theirs[dir][kind]);
                for key in ["min", "max", "N", "percentile", "bins"] {
                    assert_eq!(ours[key], theirs[key], "{dir} {kind} {key}");
                }
                let mean = |of: &Value| of["mean"].as_f64().unwrap();
                assert!((mean(ours) - mean(theirs)).abs() <= mean(theirs) * 1e-6 + 0.01);
            }
        }
        assert_eq!(ours["sync"]["total_ios"], theirs["sync"]["total_ios"]);
    }
}

#[test]
fn what_fio_printed_with_bins_comes_out_again() {
    check_round_trip("json+");
}

#[test]
fn what_fio_printed_without_bins_comes_out_again() {
    check_round_trip("json");
}
