//! Results that were taken elsewhere join the store.

mod common;

use std::process::Command;

use common::Sandbox;
use serde_json::{Value, json};

/// A result as fio prints it, cut down to what is read.
fn result(iops: u64, percentiles: &Value) -> String {
    let n_ios = iops * 10;
    let clat = json!({"min": 90_000, "max": 9_000_000, "mean": 200_000.0, "stddev": 10_000.0,
        "N": n_ios, "percentile": percentiles});
    let lat = json!({"min": 91_000, "max": 9_001_000, "mean": 201_000.0, "stddev": 10_000.0,
        "N": n_ios});
    let read = json!({"io_bytes": n_ios * 4096, "total_ios": n_ios, "runtime": 10_000,
        "clat_ns": clat, "lat_ns": lat});
    let job = json!({"jobname": "db", "groupid": 0, "error": 0, "elapsed": 11,
        "job options": {"rw": "randread", "bs": "4k", "size": "1g", "filename": "/dev/sdx"},
        "read": read, "write": {}, "trim": {}, "job_runtime": 10_000, "usr_cpu": 5.0,
        "sys_cpu": 10.0, "ctx": 5, "iodepth_level": {"1": 100.0}, "latency_depth": 1});
    json!({"fio version": "fio-3.33", "timestamp_ms": 1_700_000_011_000_u64, "jobs": [job]})
        .to_string()
}

fn listed(iops: u64) -> String {
    result(iops, &json!({"50.000000": 190_000, "99.000000": 400_000}))
}

#[test]
fn a_result_of_fio_is_listed_shown_and_exported() {
    let sandbox = Sandbox::new();
    sandbox.write("old.json", listed(1000));
    let added = sandbox.plimsoll_keeping(&["import", "old.json", "--tag", "fio"]);
    assert_eq!(added.success(), "run 1: old.json, fio-3.33\n");
    let again = sandbox.plimsoll_keeping(&["import", "old.json"]);
    assert_eq!(again.success(), "run 1 already: old.json, nothing was added\n");
    let runs = sandbox.plimsoll_keeping(&["runs"]);
    let line = runs.success().lines().nth(1).unwrap().to_owned();
    for part in ["imported", "1.00 k", "400 µs", "old #fio"] {
        assert!(line.contains(part), "{line}");
    }
    let listed: Value =
        serde_json::from_str(sandbox.plimsoll_keeping(&["runs", "--json"]).success()).unwrap();
    assert_eq!(listed[0]["source"]["tool"], "fio-3.33");
    assert_eq!(listed[0]["source"]["sha256"].as_str().map(str::len), Some(64));
    let shown = sandbox.plimsoll_keeping(&["show"]).success().to_owned();
    assert!(
        shown.starts_with("run 1, complete, 2023-11-14 22:13, imported from old.json (fio-3.33)")
    );
    assert!(shown.contains("the file has no bins, so only the percentiles"), "{shown}");
    // Of what fio did not list there is nothing.
    let row = shown.lines().find(|line| line.contains("read clat")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..6], ["read", "clat", "1.00", "k", "3.91", "200"], "{row}");
    assert!(row.contains(" 400 µs         - "), "{row}");
    let csv = sandbox.plimsoll_keeping(&["export", "old", "--format", "csv"]).success().to_owned();
    assert!(
        csv.lines()
            .nth(1)
            .unwrap()
            .starts_with("1,old,1700000000000,summary,0,,db,1,read,service,")
    );
    let fio =
        sandbox.plimsoll_keeping(&["export", "old", "--format", "fio-json"]).success().to_owned();
    let fio: Value = serde_json::from_str(&fio).unwrap();
    let clat = &fio["jobs"][0]["read"]["clat_ns"];
    assert_eq!(clat["percentile"], json!({"50.000000": 190_000, "99.000000": 400_000}));
    let plan = sandbox.plimsoll_keeping(&["show", "old", "--plan"]).success().to_owned();
    assert!(plan.starts_with("# Made from the options that fio-3.33 lists."), "{plan}");
    assert!(plan.contains("/dev/sdx"), "{plan}");
}

#[test]
fn results_of_fio_are_compared_as_far_as_they_go() {
    let sandbox = Sandbox::new();
    for (idx, iops) in [1000, 1010, 990, 1005, 800, 810, 790, 805].into_iter().enumerate() {
        sandbox.write(&format!("{idx}.json"), listed(iops));
        let name = if idx < 4 { "before" } else { "after" };
        sandbox.plimsoll_keeping(&["import", &format!("{idx}.json"), "--name", name]).success();
    }
    let found = sandbox.plimsoll_keeping(&["compare", "before", "after", "--fail-if-worse", "5%"]);
    assert_eq!(found.code, 4, "{}{}", found.stdout, found.stderr);
    assert!(found.stdout.contains("p99 "), "{}", found.stdout);
    assert!(!found.stdout.contains("p95"), "it is not listed: {}", found.stdout);
    let one = sandbox.plimsoll_keeping(&["compare", "1", "5"]);
    assert!(one.stdout.contains("take at least 4 of"), "no seconds: {}", one.stdout);
}

/// Commands take these for other runs: as names nothing would find them.
#[test]
fn a_file_whose_name_means_other_runs_has_none() {
    let sandbox = Sandbox::new();
    for (idx, file) in ["last.json", "12.json", "1..6.json", "old.json"].into_iter().enumerate() {
        sandbox.write(file, listed(1000 + idx as u64));
        sandbox.plimsoll_keeping(&["import", file]).success();
    }
    let runs = sandbox.plimsoll_keeping(&["runs", "--json"]);
    let runs: Value = serde_json::from_str(runs.success()).unwrap();
    let names: Vec<&str> =
        runs.as_array().unwrap().iter().filter_map(|run| run["name"].as_str()).collect();
    assert_eq!(names, ["old", "", "", ""]);
    let sure = sandbox.plimsoll_keeping(&["compare", "1", "2", "--confidence", "0%"]);
    assert_eq!(sure.code, 2);
    assert!(sure.stderr.contains("above 0 and below 100"), "{}", sure.stderr);
}

#[test]
fn what_cannot_be_read_adds_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("good.json", listed(1000));
    sandbox.write("other.json", "{\"a\": 1}");
    let reported = sandbox.plimsoll_keeping(&["import", "good.json", "other.json"]).mistake();
    assert!(reported.starts_with("error: cannot read other.json: not a record"), "{reported}");
    assert!(
        reported.contains("hint: records of ours (`--json`), fio's JSON and Vdbench's"),
        "{reported}"
    );
    assert!(!sandbox.path("runs.db").exists(), "nothing was added");
    let reported = sandbox.plimsoll_keeping(&["import", "none.json"]).mistake();
    assert!(reported.contains("cannot read none.json: No such file"), "{reported}");
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let reported = sandbox.plimsoll_keeping(&["import", "empty"]).mistake();
    assert!(reported.contains("no file in empty ends in .json"), "{reported}");
}

/// A flatfile as Vdbench writes it, cut down to what is read: 400 a second for two intervals.
fn flatfile(rate: &str) -> String {
    let row = |clock: &str, label: &str| {
        format!(
            "{clock}.100 11/26/2026-{clock}-UTC mixed {label} 400 {rate} 3.1 8192 70 0.3 0.25 0.5 \
             9.5 7.25 9.5 1.1 1.0 1.25 8192 4 100\n"
        )
    };
    format!(
        "<title>Vdbench out/flatfile.html</title><pre>\n* Run : name of the run\n\
         tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp \
         resp_max read_max write_max resp_std read_std write_std xfersize threads seekpct\n\
         {}{}{}{}",
        row("14:58:36", "1"),
        row("14:58:37", "2"),
        row("14:58:38", "3"),
        row("14:58:38", " avg_2-3")
    )
}

const PARMFILE: &str = "<title>Vdbench out/parmfile.html</title><pre>\n\n\
                        * Contents of parameter file: a.parm\n\n\
                        sd=sd1,lun=/mnt/data/file,size=64m,threads=4\n\
                        wd=wd1,sd=sd1,xfersize=8k,rdpct=70\n\
                        rd=mixed,wd=wd1,iorate=400,elapsed=3,interval=1\n";

#[test]
fn a_result_of_vdbench_is_imported_and_holds_against_promises() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("night")).unwrap();
    sandbox.write("night/flatfile.html", flatfile("400"));
    sandbox.write("night/parmfile.html", PARMFILE);
    let added = sandbox.plimsoll_keeping(&["import", "night"]);
    assert_eq!(added.success(), "run 1: night/flatfile.html, Vdbench\n");
    let shown = sandbox.plimsoll_keeping(&["show", "night"]).success().to_owned();
    assert!(shown.contains("imported from night/flatfile.html (Vdbench), night"), "{shown}");
    assert!(shown.contains("/mnt/data/file") && shown.contains("250 µs"), "{shown}");
    let plan = sandbox.plimsoll_keeping(&["show", "night", "--plan"]).success().to_owned();
    assert!(plan.starts_with("# Made from the parmfile.html beside"), "{plan}");
    assert!(plan.contains("/mnt/data/file"), "{plan}");
    let promise = |iops: u64, latency_ms: f64| {
        format!(
            "name = \"d\"\nedition = \"2018\"\n[[volume]]\nmount = \"/mnt/data\"\ndisk = \"P30\"\n\
             [[promise]]\nvolume = \"/mnt/data\"\nphase = \"day\"\niops = {iops}\n\
             io_size_kib = 8\nread_percent = 70\nlatency_ms = {latency_ms}\n"
        )
    };
    // A mean of 0.325 ms: 70 % of 0.25, and 30 % of 0.5.
    for (iops, latency_ms, code) in [(395, 0.5, 0), (395, 0.3, 4), (600, 0.5, 3)] {
        sandbox.write("d.toml", promise(iops, latency_ms));
        for run in ["night", "night/flatfile.html"] {
            let said = sandbox.plimsoll_keeping(&["confirm", "d.toml", "--run", run]);
            assert_eq!(said.code, code, "{iops} {latency_ms}\n{}{}", said.stdout, said.stderr);
        }
    }
    sandbox.write("night/flatfile.html", flatfile("fast"));
    let reported = sandbox.plimsoll_keeping(&["import", "night"]).mistake();
    assert!(reported.contains("flatfile.html: line 4: `rate` is `fast`"), "{reported}");
}

/// Where fio is installed, its own output goes the whole way.
#[test]
fn what_fio_prints_here_is_imported() {
    let sandbox = Sandbox::new();
    let mut fio = Command::new("fio");
    fio.current_dir(sandbox.path("")).args([
        "--name=j",
        "--rw=randrw",
        "--ioengine=psync",
        "--size=2m",
        "--bs=4k",
        "--numjobs=2",
        "--group_reporting",
        "--output-format=json+",
        "--output=fio.json",
        "--eta=never",
    ]);
    if fio.output().is_err() {
        testing::skipped!("fio is not installed");
        return;
    }
    sandbox.plimsoll_keeping(&["import", "fio.json"]).success();
    let text = std::fs::read_to_string(sandbox.path("fio.json")).unwrap();
    let theirs: Value = serde_json::from_str(&text[text.find("{\n").unwrap()..]).unwrap();
    let shown = sandbox.plimsoll_keeping(&["show", "--json"]).success().to_owned();
    let ours: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(ours["jobs"][0]["n_workers"], 2);
    for dir in ["read", "write"] {
        let (ours, theirs) = (&ours["jobs"][0]["dirs"][dir], &theirs["jobs"][0][dir]);
        assert_eq!(ours["n_ios"], theirs["total_ios"]);
        assert_eq!(ours["io_bytes"], theirs["io_bytes"]);
        let clat = (&ours["clat"], &theirs["clat_ns"]);
        assert_eq!((&clat.0["n"], &clat.0["max_ns"]), (&clat.1["N"], &clat.1["max"]));
        let p99 = |value: &Value| value.as_f64().unwrap();
        let (ours, theirs) = (p99(&clat.0["p99_ns"]), p99(&clat.1["percentile"]["99.000000"]));
        // Within one of fio's bins, and never beyond the extremes.
        assert!((ours - theirs).abs() <= theirs / 64.0 + 1.0, "{ours} {theirs}");
    }
}
