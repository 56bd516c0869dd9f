//! Runs in the forms that other programs read.

mod common;

use std::path::Path;
use std::process::Command;

use common::Sandbox;
use serde_json::Value;

const JOB: &str = "[a]\nioengine=null\nrw=randrw\nsize=64m\nnumber_ios=4000\nrate_iops=2k,2k\n\
                   [b]\nioengine=null\nrw=read\nsize=64m\nnumber_ios=1000\n";

#[test]
fn csv_has_the_records_figures() {
    let sandbox = Sandbox::with_runs(JOB);
    let csv = sandbox.plimsoll_keeping(&["export", "one", "--format", "csv"]).success().to_owned();
    let record = sandbox.plimsoll_keeping(&["show", "one", "--json"]).success().to_owned();
    let record: Value = serde_json::from_str(&record).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|known| *known == name).unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let summary: Vec<&Vec<&str>> =
        rows.iter().filter(|row| row[column("part")] == "summary").collect();
    assert_eq!(summary.len(), 3, "two directions and one");
    for row in summary {
        let job = usize::from(row[column("job")] != "a");
        let dir = &record["jobs"][job]["dirs"][row[column("dir")]];
        assert_eq!(row[column("n_ios")], dir["n_ios"].to_string());
        assert_eq!(row[column("latency_ns_p99")], dir["lat"]["p99_ns"].to_string());
    }
    let intervals = rows.iter().filter(|row| row[column("part")] == "interval");
    let n_ios: u64 = intervals.map(|row| row[column("n_ios")].parse::<u64>().unwrap()).sum();
    assert_eq!(n_ios, 5000, "every operation lies in an interval");
    let kinds = |job: &str| {
        let of_job = rows.iter().filter(|row| row[column("part")] == "latency");
        of_job.filter(|row| row[column("job")] == job).count()
    };
    assert!(kinds("a") >= 6, "total, service and response of two directions");
}

#[test]
fn records_go_out_and_come_in_again() {
    let sandbox = Sandbox::with_runs(JOB);
    let args = ["export", "one,two", "--format", "json", "--output", "records/"];
    sandbox.plimsoll_keeping(&args).success();
    assert!(
        sandbox.path("records/one-1.json").exists() && sandbox.path("records/two-2.json").exists()
    );
    let other = sandbox.path("other.db");
    let other = other.to_str().unwrap();
    let added = sandbox.plimsoll_keeping(&["import", "records", "--store", other]);
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "run 1: records/one-1.json, plimsoll {version}\nrun 2: records/two-2.json, plimsoll \
         {version}\n"
    );
    assert_eq!(added.success(), expected);
    let shown = |store: &[&str]| {
        let args = [&["show", "1", "--json"], store].concat();
        sandbox.plimsoll_keeping(&args).success().to_owned()
    };
    assert_eq!(shown(&["--store", other]), shown(&[]));
    let reported = sandbox.plimsoll_keeping(&["export", "one,two", "--format", "json"]).mistake();
    assert!(reported.contains("2 runs do not fit into one JSON text"), "{reported}");
    let reported = sandbox.plimsoll_keeping(&["export", "one"]).mistake();
    assert!(reported.contains("give --format csv, parquet, md, json or fio-json"), "{reported}");
}

#[test]
fn markdown_names_jobs_and_program() {
    let sandbox = Sandbox::with_runs(JOB);
    sandbox.plimsoll_keeping(&["export", "tw*", "--output", "run.md"]).success();
    let text = std::fs::read_to_string(sandbox.path("run.md")).unwrap();
    assert!(text.starts_with("### Run 2: two\n"), "{text}");
    assert!(text.contains("\n| a | read | ") && text.contains("\n| b | read | "), "{text}");
    assert!(text.contains(concat!("plimsoll ", env!("CARGO_PKG_VERSION"), "</sub>")), "{text}");
}

/// What other programs read of a Parquet file: number of rows, sum of all reads of the intervals,
/// type of a column, and a text.
const PANDAS: &str = "
import pandas, sys
t = pandas.read_parquet(sys.argv[1])
i = t[t.part == 'interval']
print(len(t), int(i.n_ios.sum()), i.rate_iops.dtype, sorted(set(t.run)), bool(i.is_ramp.any()))
print(int(t[(t.part == 'summary') & (t.dir == 'write')].latency_ns_p99.sum()))
";
const DUCKDB: &str = "
import duckdb, sys
t = \"read_parquet('\" + sys.argv[1] + \"')\"
n, = duckdb.sql('SELECT count(*) FROM ' + t).fetchall()[0]
q = \"SELECT sum(n_ios)::BIGINT, bool_or(is_ramp) FROM \" + t + \" WHERE part = 'interval'\"
s, r = duckdb.sql(q).fetchall()[0]
k = [str(row[1]) for row in duckdb.sql('DESCRIBE SELECT rate_iops FROM ' + t).fetchall()]
runs = [row[0] for row in duckdb.sql('SELECT DISTINCT run FROM ' + t + ' ORDER BY run').fetchall()]
print(n, s, k[0].replace('DOUBLE', 'float64'), runs, r)
q = \"SELECT sum(latency_ns_p99)::BIGINT FROM \" + t + \" WHERE part='summary' AND dir='write'\"
print(duckdb.sql(q).fetchall()[0][0])
";

/// Runs a script with Python, or says that the test was skipped.
#[expect(clippy::disallowed_methods, reason = "where the other programs are")]
fn python(module: &str, script: &str, file: &Path) -> Option<String> {
    let python = std::env::var("PLIMSOLL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_it = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if !has_it.is_ok_and(|result| result.status.success()) {
        testing::skipped!("{python} has no {module}; PLIMSOLL_PYTHON may name another");
        return None;
    }
    let result = Command::new(&python).args(["-c", script]).arg(file).output().unwrap();
    let errors = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{module}: {errors}");
    Some(String::from_utf8(result.stdout).unwrap())
}

#[test]
fn parquet_is_read_by_duckdb_and_pandas() {
    let sandbox = Sandbox::with_runs(JOB);
    sandbox.plimsoll_keeping(&["export", "one,two", "--output", "runs.parquet"]).success();
    let csv =
        sandbox.plimsoll_keeping(&["export", "one,two", "--format", "csv"]).success().to_owned();
    let n_rows = csv.lines().count() - 1;
    let column = |name: &str| {
        csv.lines().next().unwrap().split(',').position(|known| known == name).unwrap()
    };
    let p99s: u64 = csv
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|row| row[column("part")] == "summary" && row[column("dir")] == "write")
        .map(|row| row[column("latency_ns_p99")].parse::<u64>().unwrap())
        .sum();
    let expected = format!("{n_rows} 10000 float64 ['one', 'two'] False\n{p99s}\n");
    let file = sandbox.path("runs.parquet");
    for (module, script) in [("pandas, pyarrow", PANDAS), ("duckdb", DUCKDB)] {
        if let Some(found) = python(module, script, &file) {
            assert_eq!(found, expected, "{module}");
        }
    }
}
