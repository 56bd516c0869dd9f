//! Runs as a page to look at.

mod common;

use std::path::Path;

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

/// Whatever writes a result: it is whole or not there, what had its name stays, and the exit code
/// says that the command failed after it had measured.
#[test]
fn a_full_disk_leaves_no_part_of_a_result() {
    let sandbox = Sandbox::with_runs(JOB);
    sandbox.write("table.csv", "name,iops,mb_s\nown-disk,15000,240\n");
    std::fs::create_dir(sandbox.path("disk")).unwrap();
    let script = r#"
        mount -t tmpfs -o size=200k none disk || exit 77
        for name in page run fio curve table job; do echo before >disk/$name; done
        head -c 1m /dev/zero >disk/rest 2>/dev/null
        program=$0; top=$PWD
        refuse() { echo "$*"; cat "$top/out" "$top/err"; exit 1; }
        fails() { "$program" "$@" >"$top/out" 2>"$top/err"; code=$?
            test $code = 1 || refuse "$code: $*"
            grep -q "No space left on device" "$top/err" || refuse "$*"; }
        hinted() { fails "$@"; grep -q "hint: make room there" "$top/err" || refuse "$*"; }
        hinted report one -o disk/page
        hinted report one -o disk/new
        hinted export one --format csv --output disk/table
        hinted export one two --format json --output disk/
        hinted bench --on P30 --virtual --suite io-size --scale 0.01 --no-progress \
            --report disk/page
        hinted catalog import table.csv --write disk/tables --source own --date 2026-01-02
        fails run --no-progress --json --output disk/run job.fio
        grep -q plimsoll.record/1 out || refuse run
        fails fio --output=disk/fio job.fio
        grep -q IOPS= out || refuse fio
        fails curve --on P30 --virtual --no-progress --probes-max 3 --json --output disk/curve
        fails translate job.fio --to toml --output disk/job
        grep -q randrw out || refuse translate
        cd disk; hinted suite new nightly; cd ..
        for name in page run fio curve table job; do
            test "$(cat disk/$name)" = before || refuse "$name"
        done
        rm -r disk/tables; ls -A disk"#;
    let mut unshare = sandbox.command(Path::new("unshare"));
    unshare.env("PLIMSOLL_STORE", sandbox.path("runs.db"));
    unshare.args(["--mount", "--map-root-user", "--propagation", "private", "sh", "-c"]);
    let run = match unshare.args([script, env!("CARGO_BIN_EXE_plimsoll")]).output() {
        Ok(run) if run.stderr.starts_with(b"unshare") || run.status.code() == Some(77) => {
            return testing::skipped!("{}", String::from_utf8_lossy(&run.stderr));
        }
        Err(error) => return testing::skipped!("no unshare here: {error}"),
        Ok(run) => run,
    };
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(said, "curve\nfio\njob\npage\nrest\nrun\ntable\n");
}

#[test]
fn a_result_goes_through_links_and_pipes() {
    let sandbox = Sandbox::with_runs(JOB);
    std::os::unix::fs::symlink("there.csv", sandbox.path("link")).unwrap();
    let export = ["export", "one", "--format", "csv", "--output"];
    sandbox.plimsoll_keeping(&[&export[..], &["link"]].concat()).success();
    let through = std::fs::read_to_string(sandbox.path("there.csv")).unwrap();
    assert!(sandbox.path("link").is_symlink() && through.starts_with("run_id,run,"));
    let printed = sandbox.plimsoll_keeping(&[&export[..], &["/dev/stdout"]].concat());
    assert_eq!(printed.success(), through);
}
