//! What fio's formats look like for records that fio itself is hard to be brought to.

use std::collections::BTreeMap;

use dialects::fio::output::{
    COMPAT_VERSION, JsonOptions, ReportTime, TerseVersion, json, normal, terse,
};
use hist::Histogram;
use record::{
    DirRecord, DiskRecord, JobRecord, LatencyTargetRecord, PerDirRecord, PrintRecord, Record,
    Samples,
};
use serde_json::Value;

const NOW: ReportTime = ReportTime { unix_ms: 1_795_232_389_463, utc_offset_s: 3600 };

fn histogram(values: &[u64]) -> Histogram {
    let mut hist = Histogram::new();
    for value in values {
        hist.record(*value);
    }
    hist
}

fn reads() -> DirRecord {
    DirRecord {
        io_bytes: 8_192_000,
        n_ios: 2000,
        short_ios: 1,
        runtime_ns: 1_000_100_000,
        slat: histogram(&[20, 40]),
        clat: histogram(&[5_000, 60_000, 219_000, 90_000]),
        lat: histogram(&[5_020, 60_020, 219_020, 90_040]),
        bandwidth_kib_s: Samples { n: 2, min: 7_900, max: 8_100, mean: 8_000.0, stdev: 141.42 },
        iops: Samples { n: 2, min: 1_975, max: 2_025, mean: 2_000.0, stdev: 35.36 },
        errors: BTreeMap::from([(5, 1)]),
        ..DirRecord::default()
    }
}

fn job() -> JobRecord {
    JobRecord {
        name: "oltp".to_owned(),
        n_workers: 2,
        pid: 26_103,
        started_unix_ms: 1_795_232_388_000,
        options: vec![("name".to_owned(), "oltp".to_owned()), ("rw".to_owned(), "read".to_owned())],
        queue_depth: 4,
        runtime_ns: 2_000_000_000,
        cpu_user_ns: 5_400_000,
        cpu_system_ns: 3_600_000,
        context_switches: 12_072,
        minor_faults: 21,
        dirs: PerDirRecord { read: reads(), ..PerDirRecord::default() },
        sync: histogram(&[900]),
        depth_levels: [1, 2, 1997, 0, 0, 0, 0],
        submit_batches: [0, 2000, 0, 0, 0, 0, 0],
        complete_batches: [0, 2000, 0, 0, 0, 0, 0],
        ..JobRecord::default()
    }
}

fn record(jobs: Vec<JobRecord>) -> Record {
    Record {
        plimsoll_version: "0.1.0".to_owned(),
        elapsed_ns: 1_200_000_000,
        jobs,
        ..Record::default()
    }
}

fn striped_disk() -> DiskRecord {
    let member = |name: &str, read_ios, util_pct| DiskRecord {
        name: name.to_owned(),
        read_ios,
        write_merges: 6,
        util_pct,
        ..DiskRecord::default()
    };
    DiskRecord {
        name: "md0".to_owned(),
        read_ios: 300,
        util_pct: 50.0,
        members: vec![member("sda", 100, 40.0), member("sdb", 200, 60.0)],
        ..DiskRecord::default()
    }
}

fn to_json(record: &Record) -> (String, Value) {
    let options = JsonOptions { plus: false, version: COMPAT_VERSION, now: NOW };
    let text = json(record, options);
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

#[test]
fn the_normal_report() {
    let mut job = job();
    job.description = Some("one table".to_owned());
    let expected = "
oltp: (groupid=0, jobs=2): err= 0: pid=26103: Sat Nov 21 04:39:49 2026
  Description  : [one table]
  read: IOPS=1998, BW=7992KiB/s (8184kB/s)(8000KiB/1001msec)
    slat (nsec): min=20, max=40, avg=30.00, stdev=14.14
    clat (usec): min=5, max=219, avg=93.50, stdev=90.77
     lat (usec): min=5, max=219, avg=93.53, stdev=90.77
    clat percentiles (usec):
     |  1.00th=[    6],  5.00th=[    6], 10.00th=[    6], 20.00th=[    6],
     | 30.00th=[   61], 40.00th=[   61], 50.00th=[   61], 60.00th=[   90],
     | 70.00th=[   90], 80.00th=[  219], 90.00th=[  219], 95.00th=[  219],
     | 99.00th=[  219], 99.50th=[  219], 99.90th=[  219], 99.95th=[  219],
     | 99.99th=[  219]
   bw (  KiB/s): min= 7900, max= 8100, per=100.00%, avg=8000.00, stdev=141.42, samples=2
   iops        : min= 1975, max= 2025, avg=2000.00, stdev=35.36, samples=2
  lat (usec)   : 10=0.05%, 100=0.10%, 250=0.05%
  fsync/fdatasync/sync_file_range/syncfs:
    sync (nsec): min=900, max=900, avg=900.00, stdev= 0.00
    sync percentiles (nsec):
     |  1.00th=[  900],  5.00th=[  900], 10.00th=[  900], 20.00th=[  900],
     | 30.00th=[  900], 40.00th=[  900], 50.00th=[  900], 60.00th=[  900],
     | 70.00th=[  900], 80.00th=[  900], 90.00th=[  900], 95.00th=[  900],
     | 99.00th=[  900], 99.50th=[  900], 99.90th=[  900], 99.95th=[  900],
     | 99.99th=[  900]
  cpu          : usr=0.27%, sys=0.18%, ctx=12072, majf=0, minf=21
  IO depths    : 1=0.1%, 2=0.1%, 4=99.8%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwts: total=2000,0,0,1 short=1,0,0,0 dropped=0,0,0,0
     latency   : target=0.00ns, window=0.00ns, percentile=100.00%, depth=4

Run status group 0 (all jobs):
   READ: bw=7992KiB/s (8184kB/s), 7992KiB/s-7992KiB/s (8184kB/s-8184kB/s), io=8000KiB (8192kB), \
                    run=1001-1001msec
";
    assert_eq!(normal(&record(vec![job]), NOW), expected);
}

#[test]
fn errors_and_targets_in_the_normal_report() {
    let mut job = job();
    job.error_errno = 5;
    job.error_message = "Input/output error".to_owned();
    job.n_errors = 3;
    job.print.continue_on_error = true;
    job.latency_target = Some(LatencyTargetRecord {
        target_ns: 2_500_000,
        window_ns: 5_000_000_000,
        percentile: 99.9,
        queue_depth: 7,
        met: true,
    });
    let text = normal(&record(vec![job]), NOW);
    for line in [
        "oltp: (groupid=0, jobs=2): err= 5 (Input/output error): pid=26103: Sat Nov 21",
        "     errors    : total=3, first_error=5/<Input/output error>\n",
        "     latency   : target=2.50ms, window=5.00s, percentile=99.90%, depth=7\n",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn a_group_has_the_extremes_and_the_sum_of_its_entries() {
    let mut slow = job();
    slow.dirs.read.io_bytes = 4_096_000;
    slow.dirs.read.runtime_ns = 2_000_000_000;
    let mut other_group = job();
    other_group.group_id = 1;
    let record = record(vec![job(), slow, other_group]);
    let text = normal(&record, NOW);
    assert!(text.contains(
        "Run status group 0 (all jobs):\n   READ: bw=6000KiB/s (6144kB/s), \
         2000KiB/s-7992KiB/s (2048kB/s-8184kB/s), io=11.7MiB (12.3MB), run=1001-2000msec\n\n\
         Run status group 1 (all jobs):\n"
    ));
    let (_, json) = to_json(&record);
    // 8000 KiB/s of the group's 6000 KiB/s, and of its own 7992 KiB/s.
    assert_eq!(json["jobs"][0]["read"]["bw_agg"], 100.0);
    assert_eq!(json["jobs"][2]["read"]["bw_agg"], 100.0);
}

#[test]
fn an_entry_without_io_is_in_json_only() {
    let idle = JobRecord { name: "idle".to_owned(), ..JobRecord::default() };
    let record = record(vec![idle]);
    assert_eq!(normal(&record, NOW), "\n\nRun status group 0 (all jobs):\n");
    let (text, json) = to_json(&record);
    assert_eq!(json["jobs"][0]["write"]["lat_ns"]["N"], 0);
    assert!(text.contains("\"iops\" : 0.000000,"));
    assert!(!text.contains("job options"));
}

#[test]
fn the_head_of_the_json() {
    let mut record = record(vec![job()]);
    record.global_options = vec![("direct".to_owned(), "1".to_owned())];
    let (text, _) = to_json(&record);
    let expected = r#"{
  "fio version" : "fio-3.42",
  "timestamp" : 1795232389,
  "timestamp_ms" : 1795232389463,
  "time" : "Sat Nov 21 04:39:49 2026",
  "global options" : {
    "direct" : "1"
  },
  "jobs" : [
    {
      "jobname" : "oltp",
      "groupid" : 0,
      "job_start" : 1795232388000,
      "error" : 0,
      "eta" : 2147483647,
      "elapsed" : 2,
      "job options" : {
        "name" : "oltp",
        "rw" : "read"
      },
      "read" : {
        "io_bytes" : 8192000,
        "io_kbytes" : 8000,
        "bw_bytes" : 8183816,
        "bw" : 7992,
        "iops" : 1998.001998,
        "runtime" : 1001,
        "total_ios" : 2000,
        "short_ios" : 1,
        "drop_ios" : 0,
        "slat_ns" : {
          "min" : 20,
          "max" : 40,
          "mean" : 30.000000,
"#;
    assert!(text.starts_with(expected), "{text}");
    assert!(text.ends_with("\n    }\n  ]\n}\n"), "{text}");
}

#[test]
fn the_json_is_valid_whatever_the_names_and_numbers() {
    let mut job = job();
    job.name = "a \"b\" \\ \u{1}\n\t\u{e9}".to_owned();
    job.dirs.read.iops.mean = f64::NAN;
    job.print.percentiles = vec![f64::INFINITY, 50.0];
    job.options.push(("rw".to_owned(), "write".to_owned()));
    let name = job.name.clone();
    let (text, json) = to_json(&record(vec![job]));
    assert_eq!(json["jobs"][0]["jobname"], name);
    assert_eq!(json["jobs"][0]["read"]["iops_mean"], 0.0);
    assert_eq!(json["jobs"][0]["job options"]["rw"], "write");
    assert_eq!(text.matches("\"rw\" :").count(), 1);
}

#[test]
fn all_directions_and_their_sum() {
    let mut job = job();
    job.dirs.write = reads();
    job.print.unified = "both".to_owned();
    let record = record(vec![job]);
    let (_, json) = to_json(&record);
    let entry = &json["jobs"][0];
    assert_eq!(entry["read"]["total_ios"], 2000);
    assert_eq!(entry["trim"]["total_ios"], 0);
    assert_eq!(entry["mixed"]["total_ios"], 4000);
    assert_eq!(entry["mixed"]["iops_max"], 4050);
    let text = normal(&record, NOW);
    assert!(text.contains("\n  mixed: IOPS=3996, BW=15.6MiB/s (16.4MB/s)(15.6MiB/1001msec)\n"));
    assert!(text.contains("\n  MIXED: bw=15.6MiB/s (16.4MB/s), "));
}

#[test]
fn bandwidth_in_larger_units_and_in_bits() {
    let with = |mean: f64, kb_base, unit_base| {
        let mut job = job();
        job.dirs.read.bandwidth_kib_s.mean = mean;
        job.print = PrintRecord { kb_base, unit_base, ..PrintRecord::default() };
        normal(&record(vec![job]), NOW)
    };
    assert!(with(1024.0 * 1024.0, 1024, 0).contains("   bw (  KiB/s): min= 7900, max= 8100, "));
    assert!(with(1024.0 * 1025.0, 1024, 0).contains("   bw (  MiB/s): min=    7, max=    7, "));
    assert!(with(10.0, 1024, 1).contains("   bw (Kibit/s): min=63200, max=64800, "));
    assert!(with(10.0, 1000, 0).contains("   bw (   kB/s): min= 7900, max= 8100, "));
    assert!(with(10.0, 1000, 0).contains("BW=8184kB/s (7992KiB/s)(8192kB/1001msec)"));
}

#[test]
fn a_device_with_members_has_their_means() {
    let mut record = record(vec![job()]);
    record.disks = vec![striped_disk()];
    let (_, json) = to_json(&record);
    let disk = &json["disk_util"][0];
    assert_eq!(disk["write_merges"], 0);
    assert_eq!(disk["aggr_read_ios"], 150);
    assert_eq!(disk["aggr_write_merge"], 6);
    assert_eq!(disk["aggr_util"], 60.0);
    let expected = "\nDisk stats (read/write):\n    md0: ios=300/0, sectors=0/0, merge=0/0, \
                    ticks=0/0, in_queue=0, util=50.00%, aggrios=150/0, aggsectors=0/0, \
                    aggrmerge=0/6, aggrticks=0/0, aggrin_queue=0, aggrutil=60.00%\n";
    assert!(normal(&record, NOW).ends_with(expected));
    let line = terse(&record, TerseVersion::V3, COMPAT_VERSION);
    assert!(line.ends_with(";md0;300;0;0;0;0;0;0;50.00%;slaves;150;0;0;6;0;0;0;60.00%\n"));
    record.jobs[0].print.disabled.disk_util = true;
    assert!(to_json(&record).1.get("disk_util").is_none());
    assert!(!normal(&record, NOW).contains("Disk stats"));
}

#[track_caller]
fn check_terse(version: u32, n_fields: usize, record: &Record) -> Vec<String> {
    let version = TerseVersion::from_number(version).unwrap();
    let text = terse(record, version, COMPAT_VERSION);
    let fields: Vec<String> = text.trim_end().split(';').map(str::to_owned).collect();
    assert_eq!(fields.len(), n_fields, "{text}");
    fields
}

#[test]
fn terse_lines_have_the_fields_of_their_version() {
    let mut record = record(vec![job()]);
    check_terse(2, 161, &record);
    check_terse(4, 162, &record);
    check_terse(5, 180, &record);
    let fields = check_terse(3, 121, &record);
    // Positions count from 1 in fio's manual.
    let at = |position: usize| fields[position - 1].as_str();
    assert_eq!((at(1), at(2), at(3), at(4), at(5)), ("3", "fio-3.42", "oltp", "0", "0"));
    assert_eq!((at(6), at(7), at(8), at(9)), ("8000", "7992", "1998", "1001"));
    assert_eq!((at(14), at(15), at(16)), ("5", "219", "93.500000"));
    assert_eq!((at(18), at(34), at(35)), ("1.000000%=5", "99.990000%=218", "0%=0"));
    assert_eq!((at(42), at(44), at(47)), ("7900", "100.000000%", "0"));
    assert_eq!((at(88), at(90), at(93)), ("0.270000%", "12072", "0.1%"));
    assert_eq!((at(100), at(102), at(121)), ("0.00%", "0.05%", "0.00%"));

    record.disks = vec![DiskRecord { name: "vda".to_owned(), ..DiskRecord::default() }];
    record.jobs[0].description = Some("why".to_owned());
    record.jobs[0].print.continue_on_error = true;
    let fields = check_terse(3, 121 + 9 + 2 + 1, &record);
    assert_eq!(fields[121], "vda");
    assert_eq!(fields[132], "why");
    let text = terse(&record, TerseVersion::V2, COMPAT_VERSION);
    assert!(text.ends_with(";0;0\n;why\n"), "{text}");
}

#[test]
fn a_name_cannot_add_terse_fields() {
    let mut record = record(vec![job()]);
    record.jobs[0].name = "a;b\nc".to_owned();
    assert_eq!(check_terse(3, 121, &record)[2], "a b c");
}

#[test]
fn terse_versions_have_numbers() {
    for number in 0..8 {
        let version = TerseVersion::from_number(number);
        assert_eq!(version.map(TerseVersion::number), (2..=5).contains(&number).then_some(number));
    }
}

/// A record that was read from a file can hold any numbers.
#[test]
fn numbers_at_their_limits() {
    let mut job = job();
    job.dirs.read.io_bytes = u64::MAX;
    job.dirs.read.n_ios = u64::MAX;
    job.dirs.read.runtime_ns = u64::MAX;
    job.dirs.read.clat.record_n(u64::MAX, u64::MAX);
    job.dirs.write = DirRecord { runtime_ns: 1, ..job.dirs.read.clone() };
    job.dirs.read.bandwidth_kib_s.mean = f64::INFINITY;
    job.runtime_ns = 1;
    job.cpu_user_ns = u64::MAX;
    job.depth_levels = [u64::MAX; 7];
    job.print.percentiles = vec![-1.0, 1e300, f64::NAN, 50.0];
    job.print.significant_figures = 0;
    job.print.kb_base = 0;
    job.print.unified = "both".to_owned();
    let mut record = record(vec![job.clone(), job]);
    record.elapsed_ns = u64::MAX;
    record.disks = vec![DiskRecord { util_pct: f64::NAN, ..striped_disk() }];
    to_json(&record);
    assert!(normal(&record, ReportTime { unix_ms: u64::MAX, utc_offset_s: i32::MIN }).len() > 100);
    for version in 2..=5 {
        let version = TerseVersion::from_number(version).unwrap();
        assert_eq!(terse(&record, version, COMPAT_VERSION).lines().count(), 2);
    }
}
