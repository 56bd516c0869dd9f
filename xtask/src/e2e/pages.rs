//! The pages to check: runs on an emulated disk in virtual time, and what must hold between a
//! report's data and the records it was made from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Page;
use crate::{process, workspace};

/// The emulated disks.
const DESIGN: &str = "docs/designs/p30.toml";

/// An hour that a bursting disk does not keep up, with a mix of reads and writes.
const HOUR: &str = "\
[oltp]
ioengine=io_uring
direct=1
filename=/mnt/p30/file
size=100g
time_based=1
runtime=3600
ramp_time=30
rw=randrw
rwmixread=70
bs=8k
iodepth=64
rate_iops=450,190
rate_process=poisson
";

/// A minute of as much as goes.
const MINUTE: &str = "\
[oltp]
ioengine=io_uring
direct=1
filename=/mnt/p30/file
size=20g
time_based=1
runtime=60
rw=randread
bs=16k
";

/// What a shop asks for, of two volumes.
const NEEDS: &str = "\
name = 'shop'
growth = { capacity = 1.5, load = 1.2 }

[[volume]]
name = 'data'
use = 'data'
capacity_gib = 400
latency_ms_max = 5

[[volume]]
name = 'log'
use = 'log'
capacity_gib = 50

[[phase]]
name = 'normal'

[[phase.volume]]
name = 'data'
iops = { p50 = 600, p90 = 1000, p99 = 1500 }
io_size_kib = 8
read_percent = 70

[[phase.volume]]
name = 'log'
iops = 200
throughput_mb_s = 3.2768
read_percent = 0
random_percent = 0
";

/// Steps that span block sizes, mixes, depths and workers.
fn matrix() -> String {
    let mut text = "[global]\nioengine=io_uring\ndirect=1\nfilename=/mnt/p30/file\nsize=20g\n\
                    time_based=1\nruntime=5\nrw=randrw\ngroup_reporting=1\n"
        .to_owned();
    for bs in ["4k", "16k", "64k"] {
        for mix in [0, 70, 100] {
            text.push_str(&format!(
                "[{bs}, {mix} % reads]\nstonewall=1\nbs={bs}\nrwmixread={mix}\niodepth=16\n"
            ));
        }
    }
    for (depth, jobs) in [(1, 1), (1, 4), (4, 1), (4, 4)] {
        text.push_str(&format!(
            "[depth {depth} x {jobs}]\nstonewall=1\nbs=8k\nrwmixread=100\niodepth={depth}\n\
             numjobs={jobs}\n"
        ));
    }
    text
}

/// Makes all pages in a folder.
pub(super) fn make(folder: &Path) -> Result<Vec<Page>> {
    let design = process::root().join(DESIGN);
    let design = design.to_str().context("the folder has a plain name")?.to_owned();
    let emulated = ["--on", design.as_str(), "--virtual"];
    let make = Maker { folder };
    let job = |name: &str, text: &str| -> Result<PathBuf> {
        let path = folder.join(name);
        fs::write(&path, text)?;
        Ok(path)
    };
    let sweep = ["curve", "/mnt/p30", "--time", "5s", "--repeat", "2"];
    let curve = make.record("curve", &[&sweep[..], &emulated].concat())?;
    let file = job("hour.fio", HOUR)?;
    let hour = make.record("hour", &[&["run", text(&file)?][..], &emulated].concat())?;
    let file = job("matrix.fio", &matrix())?;
    let steps = make.record("matrix", &[&["run", text(&file)?][..], &emulated].concat())?;
    let mut compared = Vec::new();
    for (name, depth) in [("before", 8), ("after", 4)] {
        let file = job(&format!("{name}.fio"), &format!("{MINUTE}iodepth={depth}\n"))?;
        compared.push(make.record(name, &[&["run", text(&file)?][..], &emulated].concat())?);
    }
    let mut pages = vec![
        make.page("curve", &[&curve], of_curve)?,
        make.page("hour", &[&hour], of_hour)?,
        make.page("matrix", &[&steps], of_matrix)?,
    ];
    pages.push(make.page("comparison", &[&compared[0], &compared[1]], of_comparison)?);
    let bench = ["bench", "/mnt/p30", "--scale", "0.2", "--report", "none"];
    let bench = make.record("bench", &[&bench[..], &emulated].concat())?;
    pages.push(make.page("bench", &[&bench], of_any)?);
    pages.extend(of_needs(&make, &job)?);
    Ok(pages)
}

/// Makes the pages of a checklist, of designs, of an estate and of what was promised.
fn of_needs(make: &Maker, file: &dyn Fn(&str, &str) -> Result<PathBuf>) -> Result<Vec<Page>> {
    let needs = file("needs.toml", NEEDS)?;
    let more = file("more.toml", &NEEDS.replace("'shop'", "'store'").replace("600", "900"))?;
    let (needs, more) = (text(&needs)?, text(&more)?);
    let mut pages = vec![make.written("needs", &["needs", needs, "--as", "html"])?];
    let clouds = ["--cloud", "azure,aws,gcp"];
    pages.push(make.written("designs", &[&["design", needs][..], &clouds].concat())?);
    pages.push(make.written("estate", &[&["design", needs, more][..], &clouds].concat())?);
    let best = make.folder.join("best.toml");
    let best = text(&best)?;
    process::output(plimsoll()?.args(["design", needs, "--output", best]))?;
    let promised = process::output(plimsoll()?.args(["provision", best, "--as", "job"]))?;
    let promised = file("promised.fio", &promised)?;
    let run = ["run", text(&promised)?, "--on", best, "--virtual"];
    let run = make.record("promised", &run)?;
    pages.push(make.written("confirmed", &["confirm", best, "--run", text(&run)?])?);
    Ok(pages)
}

/// What must hold, as (what, by the record, by the chart).
type Facts = Vec<(String, f64, f64)>;

struct Maker<'a> {
    folder: &'a Path,
}

impl Maker<'_> {
    /// Measures something and returns the file of its record.
    fn record(&self, name: &str, args: &[&str]) -> Result<PathBuf> {
        let path = self.folder.join(format!("{name}.json"));
        let mut command = plimsoll()?;
        command.args(args).args(["--no-store", "--no-progress", "--json", "--output"]).arg(&path);
        process::output(&mut command)?;
        Ok(path)
    }

    fn page(
        &self,
        name: &'static str,
        records: &[&PathBuf],
        facts: fn(&[Value], &Value) -> Facts,
    ) -> Result<Page> {
        let html = self.folder.join(format!("{name}.html"));
        process::output(plimsoll()?.arg("report").args(records).arg("--output").arg(&html))?;
        let report = process::output(plimsoll()?.arg("report").args(records).arg("--json"))?;
        let report: Value = serde_json::from_str(&report)?;
        let read = |path: &&PathBuf| -> Result<Value> {
            Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
        };
        let records: Vec<Value> = records.iter().map(read).collect::<Result<_>>()?;
        Ok(Page { name, html, against_record: facts(&records, &report), report })
    }

    /// Has a command write a page, which no record says the charts of.
    fn written(&self, name: &'static str, args: &[&str]) -> Result<Page> {
        let html = self.folder.join(format!("{name}.html"));
        process::output(plimsoll()?.args(args).arg("--output").arg(&html))?;
        let report = serde_json::json!({ "charts": [] });
        Ok(Page { name, html, against_record: Facts::new(), report })
    }
}

fn plimsoll() -> Result<Command> {
    Ok(Command::new(workspace::program()?))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the folder has a plain name")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn sum<'a>(values: impl IntoIterator<Item = &'a Value>) -> f64 {
    values.into_iter().filter_map(Value::as_f64).sum()
}

fn chart<'a>(report: &'a Value, id: &str) -> &'a Value {
    list(&report["charts"]).iter().find(|chart| chart["id"] == id).unwrap_or(&Value::Null)
}

fn series<'a>(chart: &'a Value, name: &str) -> &'a Value {
    list(&chart["series"]).iter().find(|series| series["name"] == name).unwrap_or(&Value::Null)
}

/// What a chart of such a page shows is compared with what was drawn, and with nothing else.
fn of_any(_: &[Value], report: &Value) -> Facts {
    vec![("charts".to_owned(), 1.0, f64::from(u8::from(!list(&report["charts"]).is_empty())))]
}

/// Each point of the curve is drawn with its own figures, and the failing ones are hollow.
fn of_curve(records: &[Value], report: &Value) -> Facts {
    let points = list(&records[0]["curve"]["points"]);
    let drawn = chart(report, "r1-curve");
    let count = |n: usize| n as f64;
    let mut facts = Vec::new();
    for (name, field) in [
        ("mean", "latency_mean_ns"),
        ("p50", "latency_p50_ns"),
        ("p99", "latency_p99_ns"),
        ("max", "latency_max_ns"),
    ] {
        let line = series(drawn, name);
        let figures = list(&line["y"]);
        facts.push((format!("points of {name}"), count(points.len()), count(figures.len())));
        let expected = sum(points.iter().map(|point| &point[field]));
        facts.push((format!("sum of {name}"), expected, sum(figures)));
        let failing = points.iter().filter(|point| point["passed"] == false).count();
        facts.push((
            format!("hollow of {name}"),
            count(failing),
            count(list(&line["hollow"]).len()),
        ));
    }
    // Of an open load the rate that was offered, as its bracket counts.
    let is_open = records[0]["curve"]["lever"] == "rate";
    let of_line = if is_open { "load" } else { "achieved_iops" };
    let line = records[0]["curve"]["line"][of_line].as_f64().unwrap_or(0.0);
    let upright = list(&drawn["rules"]).iter().find(|rule| rule["colour"] == "good");
    let at = upright.and_then(|rule| rule["at"].as_f64()).unwrap_or(f64::NAN);
    facts.push(("load line".to_owned(), (line * 1000.0).round() / 1000.0, at));
    facts
}

/// Every second and every operation of the hour is in the charts, however few points they have.
fn of_hour(records: &[Value], report: &Value) -> Facts {
    let intervals = list(&records[0]["intervals"]);
    let of = |dir: &str, field: &str| sum(intervals.iter().map(|it| &it["dirs"][dir][field]));
    let iops = chart(report, "r1-iops");
    let rows = list(&iops["table"]);
    let mut facts = vec![(
        "seconds".to_owned(),
        intervals.len() as f64,
        sum(rows.iter().map(|row| &row["n_intervals"])),
    )];
    for dir in ["read", "write"] {
        // Every interval is a second: points weigh as much as they stand for.
        let n = rows.iter().map(|row| {
            let iops = row[format!("{dir}_iops")].as_f64().unwrap_or(0.0);
            iops * row["n_intervals"].as_f64().unwrap_or(0.0)
        });
        // Rates are drawn to a thousandth, and a second is one to a millisecond.
        let drawn = n.sum::<f64>();
        let expected = of(dir, "n_ios");
        let is_near = (drawn / expected - 1.0).abs() < 1e-3;
        facts.push((format!("{dir}s"), expected, if is_near { expected } else { drawn }));
        let largest = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
        // The load is open: what counts is the response time.
        let slowest = intervals
            .iter()
            .filter_map(|it| it["dirs"][dir]["response"]["latency_ns_max"].as_f64());
        let line = series(chart(report, "r1-latency"), &format!("{dir} max"));
        let drawn = list(&line["y"]).iter().filter_map(Value::as_f64);
        let (slowest, drawn) = (largest(slowest.collect()), largest(drawn.collect()));
        facts.push((format!("slowest {dir}"), slowest, drawn));
    }
    let cells = list(&chart(report, "r1-heat")["cells"]["values"]);
    let drawn = sum(cells.iter().flat_map(list));
    facts.push(("heat map".to_owned(), counted(intervals), drawn));
    facts
}

/// Adds up the operations in the bins of all seconds: all but those of the ramp.
fn counted(intervals: &[Value]) -> f64 {
    let texts = intervals
        .iter()
        .flat_map(|it| ["read", "write"].map(|dir| &it["dirs"][dir]["response"]["latency_counts"]));
    let counts =
        texts.filter_map(|text| text.as_str()?.split_once(':')).flat_map(|(_, all)| all.split(','));
    counts.filter_map(|count| count.parse::<f64>().ok()).sum()
}

/// Each step is in the matrix of its kind, with its own rate.
fn of_matrix(records: &[Value], report: &Value) -> Facts {
    let rate = |job: &Value| -> f64 {
        let of = |dir: &str| {
            let dir = &job["dirs"][dir];
            let seconds = dir["runtime_ns"].as_f64().unwrap_or(0.0) / 1e9;
            if seconds > 0.0 { dir["n_ios"].as_f64().unwrap_or(0.0) / seconds } else { 0.0 }
        };
        of("read") + of("write")
    };
    let jobs = list(&records[0]["jobs"]);
    let all: f64 = jobs.iter().map(rate).sum();
    let drawn = sum(list(&series(chart(report, "steps"), "IOPS")["x"]));
    let near = |expected: f64, drawn: f64| {
        if (drawn / expected - 1.0).abs() < 1e-3 { expected } else { drawn }
    };
    let of_sizes: f64 = jobs.iter().take(9).map(rate).sum();
    let cells = list(&chart(report, "size-mix-random")["cells"]["values"]);
    // The steps of other depths are not in it.
    let in_matrix: f64 = cells.iter().map(|row| sum(list(row))).sum();
    vec![
        ("rates of all steps".to_owned(), all, near(all, drawn)),
        ("rates by size and mix".to_owned(), of_sizes, near(of_sizes, in_matrix)),
    ]
}

/// The ratio that is drawn is that of the records.
fn of_comparison(records: &[Value], report: &Value) -> Facts {
    let n_ios = |record: &Value| {
        let read = &record["jobs"][0]["dirs"]["read"];
        read["n_ios"].as_f64().unwrap_or(0.0) / read["runtime_ns"].as_f64().unwrap_or(1.0)
    };
    let expected = n_ios(&records[1]) / n_ios(&records[0]);
    let rows = list(&chart(report, "ratios")["table"]);
    let row = rows.iter().find(|row| row["figure"] == "read IOPS").unwrap_or(&Value::Null);
    let ratio = row["ratio"].as_f64().unwrap_or(f64::NAN);
    // The table's ratio comes from seconds, the record's from the whole run.
    let is_near = (ratio / expected - 1.0).abs() < 0.01;
    vec![("ratio of IOPS".to_owned(), expected, if is_near { expected } else { ratio })]
}
