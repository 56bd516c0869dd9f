//! Runs as a page to look at.

mod common;

use common::Sandbox;
use serde_json::Value;

const JOB: &str = "[a]\nioengine=null\nrw=randrw\nsize=64m\nnumber_ios=4000\nrate_iops=2k\n";

#[test]
fn a_run_becomes_a_page_and_its_data() {
    let sandbox = Sandbox::with_runs(JOB);
    sandbox.plimsoll_keeping(&["report", "one"]).success();
    let page = std::fs::read_to_string(sandbox.path("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("plotly.js (cartesian"));
    assert!(page.contains("<dt>name</dt><dd>one</dd>"));
    let data = sandbox.plimsoll_keeping(&["report", "one", "--json"]).success().to_owned();
    let data: Value = serde_json::from_str(&data).unwrap();
    let record = sandbox.plimsoll_keeping(&["show", "one", "--json"]).success().to_owned();
    let record: Value = serde_json::from_str(&record).unwrap();
    let percentiles = &data["charts"].as_array().unwrap().iter();
    let percentiles = percentiles.clone().find(|chart| chart["id"] == "r1-percentiles-0").unwrap();
    let reads = &percentiles["series"][0];
    let slowest = reads["y"].as_array().unwrap().last().unwrap().as_f64();
    let dir = &record["jobs"][0]["dirs"]["read"];
    let kind = if dir["clat"]["n"] == 0 { "lat" } else { "clat" };
    assert_eq!(slowest, dir[kind]["max_ns"].as_f64());
    let counted: u64 = ["read", "write"]
        .into_iter()
        .flat_map(|dir| {
            let intervals = record["intervals"].as_array().unwrap().iter();
            intervals.map(move |it| it["dirs"][dir]["latency_counts"].as_str().unwrap_or_default())
        })
        .filter_map(|text| text.split_once(':'))
        .flat_map(|(_, counts)| counts.split(',').map(|count| count.parse::<u64>().unwrap()))
        .sum();
    let intervals = record["intervals"].as_array().unwrap().iter();
    let of_intervals: u64 = intervals
        .flat_map(|it| ["read", "write"].map(|dir| it["dirs"][dir]["n_ios"].as_u64().unwrap()))
        .sum();
    assert!(of_intervals > 3000, "{of_intervals}");
    assert_eq!(counted, of_intervals, "every latency is counted in its second");
}

#[test]
fn several_runs_are_compared_or_stand_on_one_page() {
    let sandbox = Sandbox::with_runs(JOB);
    let data = |runs: &[&str]| -> Value {
        let args = [&["report", "--json"], runs].concat();
        serde_json::from_str(sandbox.plimsoll_keeping(&args).success()).unwrap()
    };
    let ids = |data: &Value| -> Vec<String> {
        let charts = data["charts"].as_array().unwrap().iter();
        charts.map(|chart| chart["id"].as_str().unwrap().to_owned()).collect()
    };
    let compared = data(&["one", "two"]);
    assert_eq!(compared["title"], "one and two");
    assert!(ids(&compared).contains(&"ratios".to_owned()));
    let together = data(&["one,two"]);
    assert_eq!(together["title"], "2 runs");
    assert!(!ids(&together).contains(&"ratios".to_owned()));
    assert!(ids(&together).contains(&"r2-percentiles-0".to_owned()));
}

#[test]
fn a_page_goes_where_it_is_wanted() {
    let sandbox = Sandbox::with_runs(JOB);
    let page = sandbox.plimsoll_keeping(&["report", "last", "-o", "-"]).success().to_owned();
    assert!(page.starts_with("<!doctype html>"));
    let refused = sandbox.plimsoll_keeping(&["report", "last", "-o", "no/such/folder.html"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("cannot write to `no/such/folder.html`"), "{}", refused.stderr);
    assert_eq!(sandbox.plimsoll_keeping(&["report", "nothing-of-this-name"]).code, 2);
}
