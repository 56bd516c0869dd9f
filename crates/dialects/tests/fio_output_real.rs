//! Our fio output against that of fio itself, where it is installed.
//!
//! fio prints one run in all its formats at once. A record is made from its JSON, printed by us,
//! and compared: JSON line by line with keys, order, types and almost all values; the terse and
//! normal formats by their shape. What newer versions of fio added is left out on both sides.

use std::collections::BTreeMap;
use std::process::Command;

use dialects::NO_HOST;
use dialects::fio::output::log::{LogColumns, LogKind, LogLine, file_name, histogram_line, line};
use dialects::fio::output::{self, JsonOptions, ReportTime, TerseVersion};
use hist::Histogram;
use plan::Direction;
use record::{
    DirRecord, DiskRecord, IoPriorityRecord, JobRecord, PerDirRecord, PrintRecord, PriorityRecord,
    Record, Samples, SteadyRecord,
};
use serde_json::Value;

/// What fio printed for one run.
struct FioRun {
    /// From the first job's line to the number of processes.
    start: String,
    terse: Vec<String>,
    json_text: String,
    json: Value,
    normal: String,
}

/// Runs fio, or says that the test was skipped.
fn fio(arguments: &[&str]) -> Option<FioRun> {
    let mut command = Command::new("fio");
    command.args(["--output-format=normal,terse,json+", "--eta=never"]).args(arguments);
    let Ok(result) = command.output() else {
        testing::skipped!("fio is not installed");
        return None;
    };
    let text = String::from_utf8(result.stdout).unwrap();
    // What fio prints where it divides by zero, which is not JSON.
    let text = text.replace("-nan", "0.000000").replace("nan", "0.000000");
    let start = text.find("\n{\n").expect("a JSON document") + 1;
    let end = start + text[start..].find("\n}\n").expect("the end of it") + 3;
    let is_terse = |line: &&str| line.split(';').count() > 60;
    let first_line = text.lines().find(|line| line.contains(": (g=")).expect("a job");
    let first = text.find(first_line).expect("it was found");
    let started = text.find("\nStarting ").expect("the number of processes") + 1;
    let started = started + text[started..].find('\n').unwrap() + 1;
    Some(FioRun {
        start: text[first..started].to_owned(),
        terse: text[..start].lines().filter(is_terse).map(str::to_owned).collect(),
        json: serde_json::from_str(&text[start..end]).unwrap(),
        json_text: text[start..end].to_owned(),
        normal: text[end..].to_owned(),
    })
}

fn int(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

fn float(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_default()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Makes a histogram with fio's smallest and largest value and, if it printed them, its bins.
fn histogram(latency: &Value) -> Histogram {
    let mut hist = Histogram::new();
    let (min, max, n) = (int(latency, "min"), int(latency, "max"), int(latency, "N"));
    if n == 0 {
        return hist;
    }
    let bins = latency["bins"].as_object();
    let mut bins: Vec<(u64, u64)> = match bins {
        Some(bins) => {
            bins.iter().map(|(key, n)| (key.parse().unwrap(), n.as_u64().unwrap())).collect()
        }
        None => vec![(min, 1), (float(latency, "mean") as u64, n.saturating_sub(2)), (max, 1)],
    };
    bins.sort_unstable();
    let last = bins.len() - 1;
    for (idx, (value, n)) in bins.into_iter().enumerate() {
        // One value of the first and of the last bin is known exactly.
        let (exact, rest) = match idx {
            0 => (Some(min), n - 1),
            _ if idx == last => (Some(max), n - 1),
            _ => (None, n),
        };
        if let Some(value) = exact {
            hist.record(value);
        }
        // fio names a bin by its middle, which may lie beyond the exact extremes.
        hist.record_n(value.clamp(min, max), rest);
    }
    hist
}

fn samples(dir: &Value, kind: &str, deviation: &str) -> Samples {
    Samples {
        n: int(dir, &format!("{kind}_samples")),
        min: int(dir, &format!("{kind}_min")),
        max: int(dir, &format!("{kind}_max")),
        mean: float(dir, &format!("{kind}_mean")),
        stdev: float(dir, &format!("{kind}_{deviation}")),
    }
}

fn priorities(dir: &Value) -> Vec<PriorityRecord> {
    let all = dir.get("prios").and_then(Value::as_array);
    let record = |of: &Value| PriorityRecord {
        priority: IoPriorityRecord {
            class: int(of, "prioclass") as u8,
            level: int(of, "prio") as u8,
            hint: of["priohint"].as_u64().unwrap_or(0) as u16,
        },
        clat: histogram(&of["clat_ns"]),
        lat: histogram(&of["lat_ns"]),
    };
    all.map_or(Vec::new(), |all| all.iter().map(record).collect())
}

fn dir_record(dir: &Value) -> DirRecord {
    DirRecord {
        io_bytes: int(dir, "io_bytes"),
        n_ios: int(dir, "total_ios"),
        short_ios: int(dir, "short_ios"),
        dropped_ios: int(dir, "drop_ios"),
        runtime_ns: int(dir, "runtime") * 1_000_000,
        slat: histogram(&dir["slat_ns"]),
        clat: histogram(&dir["clat_ns"]),
        lat: histogram(&dir["lat_ns"]),
        response: None,
        listed: None,
        priorities: priorities(dir),
        bandwidth_kib_s: samples(dir, "bw", "dev"),
        iops: samples(dir, "iops", "stddev"),
        errors: BTreeMap::new(),
    }
}

/// Makes counts whose shares are those of a table of percentages.
fn levels(table: &Value, keys: [&str; 7]) -> [u64; 7] {
    keys.map(|key| (float(table, key) * 1e6).round() as u64)
}

fn options(object: &Value) -> Vec<(String, String)> {
    let Some(object) = object.as_object() else { return Vec::new() };
    let pairs = object.iter().map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned()));
    pairs.collect()
}

fn steady_record(job: &Value) -> Option<SteadyRecord> {
    let steady = job.get("steadystate")?;
    let list = |key: &str| -> Vec<u64> {
        let values = steady["data"][key].as_array();
        values.map_or(Vec::new(), |values| values.iter().filter_map(Value::as_u64).collect())
    };
    Some(SteadyRecord {
        criterion_text: text(steady, "ss"),
        window_ns: int(steady, "duration") * 1_000_000_000,
        attained: int(steady, "attained") == 1,
        criterion: text(steady, "criterion").trim_end_matches('%').parse().unwrap(),
        deviation_max: float(steady, "max_deviation"),
        slope: float(steady, "slope"),
        iops: list("iops"),
        bandwidth_kib_s: list("bw").iter().map(|bytes| bytes / 1024).collect(),
        latency_ns: list("lat_ns"),
    })
}

fn job_record(job: &Value, global: &Value) -> JobRecord {
    let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    let option = |name: &str| job["job options"][name].as_str().or(global[name].as_str());
    let unified = match option("unified_rw_reporting") {
        Some("1") => "mixed",
        Some("2") => "both",
        _ => "none",
    };
    let read = if unified == "mixed" { &job["mixed"] } else { &job["read"] };
    let runtime_ns = int(job, "job_runtime") * 1_000_000;
    let cpu_ns = |key: &str| (float(job, key) / 100.0 * runtime_ns as f64).round() as u64;
    JobRecord {
        name: text(job, "jobname"),
        description: job["desc"].as_str().map(str::to_owned),
        group_id: int(job, "groupid") as u32,
        n_workers: 1,
        pid: 1,
        started_unix_ms: int(job, "job_start"),
        error_errno: int(job, "error") as i32,
        options: options(&job["job options"]),
        queue_depth: int(job, "latency_depth") as u32,
        runtime_ns,
        cpu_user_ns: cpu_ns("usr_cpu"),
        cpu_system_ns: cpu_ns("sys_cpu"),
        context_switches: int(job, "ctx"),
        major_faults: int(job, "majf"),
        minor_faults: int(job, "minf"),
        dirs: PerDirRecord {
            read: dir_record(read),
            write: dir_record(&job["write"]),
            trim: dir_record(&job["trim"]),
        },
        sync: histogram(&job["sync"]["lat_ns"]),
        depth_levels: levels(&job["iodepth_level"], depths),
        submit_batches: levels(&job["iodepth_submit"], batches),
        complete_batches: levels(&job["iodepth_complete"], batches),
        n_errors: int(job, "total_err"),
        steady: steady_record(job),
        print: PrintRecord {
            clat_percentiles: option("clat_percentiles") != Some("0"),
            lat_percentiles: option("lat_percentiles") == Some("1"),
            slat_percentiles: option("slat_percentiles") == Some("1"),
            percentiles: match option("percentile_list") {
                Some(list) => list.split(':').map(|text| text.parse().unwrap()).collect(),
                None => PrintRecord::default().percentiles,
            },
            unified: unified.to_owned(),
            kb_base: option("kb_base").map_or(1024, |text| text.parse().unwrap()),
            unit_base: option("unit_base").map_or(0, |text| text.parse().unwrap()),
            continue_on_error: job.get("total_err").is_some(),
            ..PrintRecord::default()
        },
        ..JobRecord::default()
    }
}

fn disk_record(disk: &Value) -> DiskRecord {
    DiskRecord {
        name: text(disk, "name"),
        read_ios: int(disk, "read_ios"),
        write_ios: int(disk, "write_ios"),
        read_merges: int(disk, "read_merges"),
        write_merges: int(disk, "write_merges"),
        read_ticks_ms: int(disk, "read_ticks"),
        write_ticks_ms: int(disk, "write_ticks"),
        in_queue_ms: int(disk, "in_queue"),
        util_pct: float(disk, "util"),
        ..DiskRecord::default()
    }
}

fn record_of(json: &Value) -> Record {
    let list = |key: &str| json[key].as_array().cloned().unwrap_or_default();
    Record {
        plimsoll_version: String::new(),
        elapsed_ns: int(&json["jobs"][0], "elapsed") * 1_000_000_000,
        global_options: options(&json["global options"]),
        jobs: list("jobs").iter().map(|job| job_record(job, &json["global options"])).collect(),
        disks: list("disk_util").iter().map(disk_record).collect(),
        ..Record::default()
    }
}

fn print_json(run: &FioRun) -> String {
    let options = JsonOptions {
        plus: true,
        version: run.json["fio version"].as_str().unwrap(),
        now: ReportTime { unix_ms: int(&run.json, "timestamp_ms"), utc_offset_s: 0 },
    };
    output::json(&record_of(&run.json), options)
}

/// Keys that only versions after 3.33 print.
const NEWER_KEYS: [&str; 6] = [
    "job_start",
    "latency_target_ns",
    "latency_window_us",
    "priohint",
    "read_sectors",
    "write_sectors",
];

/// Values that a record made from bins and rounded percentages cannot have exactly.
const INEXACT_KEYS: [&str; 5] = ["mean", "stddev", "usr_cpu", "sys_cpu", "time"];

/// Returns the lines of fio's JSON, with only the type of what cannot be compared.
fn json_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut section = String::new();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(" : ") else {
            let is_coarse =
                section == "bw" && line.trim().starts_with(|c: char| c.is_ascii_digit());
            lines.push(if is_coarse {
                String::new()
            } else {
                line.trim_end_matches(',').to_owned()
            });
            continue;
        };
        let name = key.trim().trim_matches('"');
        if value.starts_with(['{', '[']) {
            name.clone_into(&mut section);
        }
        if NEWER_KEYS.contains(&name) || section.ends_with(" options") && !value.starts_with('{') {
            continue;
        }
        let in_table = section.starts_with("latency_") || section.starts_with("iodepth_");
        let in_slat = section == "slat_ns" && !value.starts_with('{');
        // A record keeps these in whole KiB/s.
        let is_coarse = name == "bw_mean" && section == "data";
        let value = value.trim_end_matches(',');
        if INEXACT_KEYS.contains(&name) || in_table && value != "{" || in_slat || is_coarse {
            let kind = match value.split_once('.') {
                Some((_, decimals)) if decimals.len() == 6 => "float",
                None if value.parse::<u64>().is_ok() => "int",
                _ => "text",
            };
            lines.push(format!("{key} : {kind}"));
        } else {
            lines.push(format!("{key} : {value}"));
        }
    }
    lines
}

/// Replaces numbers by `#` and units by `U`, and takes out what differs between versions of fio.
fn shape(text: &str) -> Vec<String> {
    let text = text.replace("; 0 zone resets", "").replace("/syncfs", "");
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut shape = String::new();
        let mut characters = line.chars().peekable();
        while let Some(character) = characters.next() {
            if !character.is_ascii_digit() {
                shape.push(character);
                continue;
            }
            while characters.next_if(|next| next.is_ascii_digit() || *next == '.').is_some() {}
            while shape.ends_with(' ') && !shape.ends_with(": ") {
                shape.pop();
            }
            shape.push('#');
            for unit in ["KiB", "MiB", "GiB", "kB", "MB", "GB", "B", "k", "M", "Kibit", "Mibit"] {
                if characters.clone().take(unit.len()).collect::<String>() == unit {
                    characters.nth(unit.len() - 1);
                    break;
                }
            }
        }
        for unit in ["nsec", "usec", "msec"] {
            shape = shape.replace(&format!("({unit})"), "(U)");
        }
        // Which entries a distribution has may hang on one value at a limit.
        if let Some((head, _)) = shape.split_once("   : #=").filter(|_| line.contains("  lat (")) {
            shape = String::from(head);
        }
        // The hint of a priority came later.
        shape = shape.replace(" prio#/#/#", " prio#/#");
        let is_date = shape.contains(": pid=#:");
        if is_date {
            shape.truncate(shape.find(": pid=#:").unwrap());
        }
        if shape.contains("latency   :") {
            shape = String::from("latency");
        }
        if let Some(at) = shape.find(", sectors=#/#") {
            shape.replace_range(at..at + ", sectors=#/#".len(), "");
        }
        if lines.last() != Some(&shape) {
            lines.push(shape);
        }
    }
    lines
}

#[track_caller]
fn check(arguments: &[&str]) {
    let Some(run) = fio(arguments) else { return };
    let ours = print_json(&run);
    assert!(serde_json::from_str::<Value>(&ours).is_ok());
    let (ours, theirs) = (json_lines(&ours), json_lines(&run.json_text));
    for (line, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(ours, theirs, "JSON line {line}");
    }
    assert_eq!(ours.len(), theirs.len());

    let version = run.json["fio version"].as_str().unwrap();
    assert_eq!(output::start_lines(&plan_of(arguments), version), run.start);

    let record = record_of(&run.json);
    let normal = output::normal(&record, ReportTime::default());
    assert_eq!(shape(&normal), shape(&run.normal), "{normal}\n{}", run.normal);

    let number = run.terse[0].split(';').next().unwrap().parse().unwrap();
    let version = TerseVersion::from_number(number).unwrap();
    let terse = output::terse(&record, version, "fio");
    let theirs = run.terse.join("\n");
    assert_eq!(
        terse_kinds(terse.lines().next().unwrap()),
        terse_kinds(theirs.lines().next().unwrap()),
        "\n{terse}\n{theirs}"
    );
}

/// Reads the arguments as we do ourselves.
fn plan_of(arguments: &[&str]) -> plan::Plan {
    let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
    dialects::fio::parse_args(&arguments, &NO_HOST).parsed.plan
}

/// Returns what kind of value each field of a terse line has.
fn terse_kinds(line: &str) -> Vec<String> {
    let kind = |field: &str| {
        let mut kind = String::new();
        for character in field.chars() {
            let class = if character.is_ascii_digit() { '#' } else { character };
            if !(class == '#' && kind.ends_with('#')) {
                kind.push(class);
            }
        }
        kind
    };
    line.split(';').enumerate().filter(|(idx, _)| *idx != 1).map(|(_, field)| kind(field)).collect()
}

#[test]
fn a_read_job() {
    check(&["--name=a", "--ioengine=null", "--rw=read", "--size=1m", "--terse-version=3"]);
}

#[test]
fn a_mixed_job_with_everything() {
    check(&[
        "--name=a",
        "--description=one of each",
        "--ioengine=null",
        "--rw=randrw",
        "--bs=4k,8k",
        "--size=64m",
        "--iodepth=16",
        "--fsync=32",
        "--rate_iops=4000",
        "--runtime=1",
        "--time_based",
        "--lat_percentiles=1",
        "--slat_percentiles=1",
        "--percentile_list=1:50:99.999",
        "--continue_on_error=io",
        "--terse-version=5",
    ]);
}

#[test]
fn two_jobs_with_global_options_and_a_trim() {
    check(&[
        "--ioengine=null",
        "--size=2m",
        "--clat_percentiles=0",
        "--name=a",
        "--rw=write",
        "--name=b",
        "--rw=trim",
        "--unit_base=1",
        "--stonewall",
        "--thread",
        "--terse-version=4",
    ]);
}

#[test]
fn all_directions_as_one() {
    let common = ["--name=a", "--ioengine=null", "--rw=randrw", "--size=4m"];
    check(&[&common[..], &["--unified_rw_reporting=1", "--terse-version=4"]].concat());
}

#[test]
fn a_steady_state() {
    check(&[
        "--name=a",
        "--ioengine=null",
        "--rw=read",
        "--size=1m",
        "--rate_iops=1000",
        "--steadystate=iops_slope:50%",
        "--ss_dur=1",
        "--runtime=3",
        "--time_based",
        "--terse-version=2",
    ]);
}

#[test]
fn a_file_on_a_disk() {
    let directory = temporary_directory("file");
    let place = format!("--directory={}", directory.display());
    check(&["--name=a", &place, "--rw=randrw", "--kb_base=1000", "--size=4m", "--bs=64k"]);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Class and level as fio 3.33 knows them; which I/Os get them is each program's own matter.
#[test]
fn latencies_by_priority() {
    let directory = temporary_directory("priority");
    let place = format!("--directory={}", directory.display());
    let common = ["--name=a", place.as_str(), "--ioengine=libaio", "--size=4m", "--iodepth=4"];
    let run = |options: &[&str]| check(&[&common[..], options].concat());
    run(&["--rw=randrw", "--cmdprio_percentage=50", "--cmdprio_class=2", "--cmdprio=3"]);
    run(&["--rw=randread", "--prioclass=2", "--prio=5", "--cmdprio_bssplit=4k/30/2/1:4k/30/3/2"]);
    let mixed = ["--rw=randrw", "--unified_rw_reporting=1", "--lat_percentiles=1"];
    run(&[&mixed[..], &["--cmdprio_percentage=20,0", "--cmdprio_class=3"]].concat());
    run(&["--rw=read", "--clat_percentiles=0", "--cmdprio_percentage=30", "--cmdprio_class=2"]);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Reads a line of fio's logs as what we would write.
fn log_line(fields: &[u64], has_offset: bool) -> LogLine {
    LogLine {
        time_ms: fields[0],
        value: fields[1],
        value_max: 0,
        dir: Direction::ALL[fields[2] as usize],
        block_bytes: fields[3],
        offset_bytes: if has_offset { fields[4] } else { 0 },
        priority: 0,
        issue_time_ns: 0,
    }
}

/// Runs a job that writes all logs, and writes each line of them again.
#[track_caller]
fn check_logs(extra: &[&str], columns: LogColumns) {
    let directory = temporary_directory("logs");
    let prefix = directory.join("x").display().to_string();
    let logs = ["bw", "iops", "lat", "hist"].map(|kind| format!("--write_{kind}_log={prefix}"));
    let mut arguments =
        vec!["--name=a", "--ioengine=null", "--rw=randrw", "--size=256k", "--iodepth=2"];
    arguments.extend(["--rate_iops=100", "--runtime=1", "--time_based", "--log_hist_msec=300"]);
    arguments.extend(logs.iter().map(String::as_str).chain(extra.iter().copied()));
    if fio(&arguments).is_some() {
        use LogKind::{Bandwidth, Clat, ClatHistogram, Iops, Lat, Slat};
        for kind in [Bandwidth, Iops, Lat, Clat, Slat, ClatHistogram] {
            let theirs = std::fs::read_to_string(file_name(&prefix, kind, Some(1))).unwrap();
            let mut ours = String::new();
            for row in theirs.lines() {
                let fields: Vec<u64> = row.split(", ").map(|text| text.parse().unwrap()).collect();
                if kind == ClatHistogram {
                    let dir = Direction::ALL[fields[1] as usize];
                    assert_eq!(fields.len(), 3 + hist::FIO_N_BINS);
                    histogram_line(&mut ours, fields[0], dir, fields[2], &fields[3..]).unwrap();
                } else {
                    line(&mut ours, &log_line(&fields, columns.offset), columns).unwrap();
                }
            }
            assert!(!ours.is_empty());
            assert_eq!(ours, theirs);
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

fn temporary_directory(name: &str) -> std::path::PathBuf {
    let name = format!("fio-output-{name}-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn logs_of_every_operation_and_of_windows() {
    check_logs(&["--log_offset=1"], LogColumns { offset: true, ..LogColumns::default() });
    check_logs(&["--log_avg_msec=250"], LogColumns::default());
}
