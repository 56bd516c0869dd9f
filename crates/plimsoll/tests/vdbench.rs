//! The program under the name `vdbench`, and Vdbench's files under the other commands.

mod common;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Outcome, Sandbox, outcome};
use serde_json::Value;

const RAW: &str = "\
* two files
sd=default,size=1m
sd=sd1,lun=f1,threads=2
sd=sd2,lun=f2,threads=2
wd=wd1,sd=sd1,xf=4k,rdpct=70,skew=60
wd=wd2,sd=sd2,xf=(4k,50,8k,50),rdpct=0,skew=40
rd=rd1,wd=wd*,iorate=200,elapsed=3,interval=1
rd=rd2,wd=wd*,iorate=max,elapsed=2,interval=1,warmup=1,forthreads=(1,2)
";

const FILES: &str = "\
fsd=fsd1,anchor=tree,depth=2,width=2,files=4,size=8k
fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=sequential,fileselect=random,threads=2
fwd=fwd2,fsd=fsd1,operation=getattr,fileselect=random,threads=1
rd=rd1,fwd=fwd*,fwdrate=100,format=yes,elapsed=3,interval=1
";

fn vdbench(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    sandbox.plimsoll(&[&["vdbench"], args].concat())
}

/// Makes a sandbox with one small file to work on, in a run with these parameters: `a.parm`.
fn with_one_file(rd: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let text = "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,interval=1";
    sandbox.write("a.parm", format!("{text},{rd}\n"));
    sandbox
}

/// Runs it.
fn run_one_file(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    vdbench(sandbox, &[&["-f", "a.parm", "-o", "out"], more].concat())
}

/// Starts it, and returns once two intervals are in its summary.
fn begin_one_file(sandbox: &Sandbox, more: &[&str]) -> Child {
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["vdbench", "-f", "a.parm", "-o", "out"]).args(more);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_for(|| {
        let summary = std::fs::read_to_string(sandbox.path("out/summary.html"));
        summary.is_ok_and(|summary| summary.contains("           2       "))
    });
    child
}

fn page(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn record(sandbox: &Sandbox, name: &str) -> Value {
    serde_json::from_str(&page(sandbox, name)).expect("a record")
}

/// The words behind `avg_` of every average of a page.
fn averages(page: &str) -> Vec<(String, Vec<f64>)> {
    let of_line = |line: &str| {
        let mut words = line.split_once("avg_")?.1.split_whitespace();
        let label = words.next()?.to_owned();
        Some((label, words.map(|word| word.parse().expect("a number")).collect()))
    };
    page.lines().filter_map(of_line).collect()
}

/// Rate of the samples of a step, from the n-th on.
fn rate(record: &Value, step_idx: u64, first: usize) -> f64 {
    let samples = record["intervals"].as_array().expect("a list");
    let of_step = samples
        .iter()
        .filter(|sample| sample["step_idx"].as_u64() == Some(step_idx) && sample["ramp"] == false);
    let (n_ios, length_ms) = of_step.skip(first).fold((0, 0), |(n_ios, length_ms), sample| {
        let series = sample["series"].as_array().expect("a list");
        let n_here = series.iter().map(|of| of["n_ios"].as_u64().expect("a count")).sum::<u64>();
        (n_ios + n_here, length_ms + sample["length_ms"].as_u64().expect("a length"))
    });
    n_ios as f64 * 1000.0 / length_ms as f64
}

/// Operations in the first histogram of a run's part of a page.
fn n_in_histogram(page: &str, run: &str) -> u64 {
    let part = page.split_once(&format!("Starting RD={run};")).expect("the run").1;
    let block = part.split_once("Reads and writes:").expect("a histogram").1;
    let rows = block.split_once("\n\n").expect("a heading").1.lines();
    let rows = rows.take_while(|line| line.contains(" < "));
    let count = |row: &str| row.split_whitespace().nth(3)?.replace(',', "").parse().ok();
    rows.map(|row| count(row).unwrap_or(0_u64)).sum()
}

#[test]
fn a_raw_run_leaves_what_scripts_look_for() {
    let sandbox = Sandbox::new();
    sandbox.write("raw.parm", RAW);
    let outcome = vdbench(&sandbox, &["-fraw.parm", "-o", "out"]);
    let console = outcome.success();
    let end = format!(
        " Vdbench execution completed successfully. Output directory: {} \n\n",
        sandbox.path("out").canonicalize().expect("a folder").display()
    );
    assert!(console.ends_with(&end), "{console}");
    let record = record(&sandbox, "out/plimsoll.json");
    let summary = page(&sandbox, "out/summary.html");
    let found = averages(&summary);
    let labels: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
    assert!(labels[0] == "1-1" || labels[0].starts_with("2-"), "{labels:?}");
    assert_eq!(labels[1..], ["2-3", "2-3", "2-3"]);
    // Without warmup the first interval is left out, with it the ramp is.
    for (idx, first) in [(1, 1), (2, 0), (3, 0)] {
        let (ours, theirs) = (found[idx].1[0], rate(&record, idx as u64, first));
        assert!((ours - theirs).abs() < 0.06, "run {idx}: {ours} for {theirs}\n{summary}");
    }
    let names = "totals status logfile errorlog parmfile parmscan skew histogram flatfile \
                 localhost localhost-0 localhost-0.stdout sd1 sd2 wd1 wd2 sd1.histogram \
                 wd2.histogram";
    for name in names.split(' ') {
        let text = page(&sandbox, &format!("out/{name}.html"));
        assert!(text.starts_with(&format!("<title>Vdbench out/{name}.html</title><pre>\n")));
        assert!(!text.contains("NaN") && !text.contains("avg_2-1"), "{name}");
    }
    assert_eq!(averages(&page(&sandbox, "out/totals.html")), found);
    let status = page(&sandbox, "out/status.html");
    assert_eq!(status.matches("\tWorkload done\t").count(), 4, "{status}");
    assert!(status.trim_end().ends_with("\tVdbench complete"), "{status}");
    let flat = page(&sandbox, "out/flatfile.html");
    assert_eq!(flat.lines().filter(|line| line.contains(" avg_")).count(), 4, "{flat}");
    assert!(page(&sandbox, "out/parmscan.html").contains("keyw: lun=f1"));
    // The histogram has what the averages have; each of the four threads may be at one I/O.
    let samples = record["intervals"].as_array().expect("a list").iter();
    let of_rd1 = samples.filter(|sample| sample["step_idx"] == 1).skip(1);
    let series = of_rd1.flat_map(|sample| sample["series"].as_array().expect("a list"));
    let n_averaged: u64 = series.map(|of| of["n_ios"].as_u64().expect("a count")).sum();
    let n = n_in_histogram(&page(&sandbox, "out/histogram.html"), "rd1");
    assert!((1..=n_averaged + 4).contains(&n), "{n} for {n_averaged}");
}

#[test]
fn results_of_parts_add_up() {
    let sandbox = Sandbox::new();
    sandbox.write("raw.parm", RAW);
    // What is drawn is the same each time: shares of few I/Os vary.
    vdbench(&sandbox, &["-f", "raw.parm", "-o", "out", "--seed", "7"]).success();
    let last = |name: &str| averages(&page(&sandbox, name)).pop().expect("an average").1;
    let (all, sd1, sd2) = (last("out/summary.html"), last("out/sd1.html"), last("out/sd2.html"));
    assert!(all[0] > 0.0 && (all[0] - sd1[0] - sd2[0]).abs() < 0.15, "{all:?} {sd1:?} {sd2:?}");
    let (wd1, wd2) = (last("out/wd1.html"), last("out/wd2.html"));
    assert_eq!((wd1, wd2), (sd1.clone(), sd2.clone()));
    assert!((sd1[0] * 100.0 / all[0] - 60.0).abs() < 5.0, "shares: {sd1:?} of {all:?}");
    assert!(sd2[3] < 1e-9, "no reads: {sd2:?}");
    assert!((5500.0..6800.0).contains(&sd2[2]), "half 4k, half 8k: {}", sd2[2]);
}

#[test]
fn both_layouts_are_kept_apart() {
    let sandbox = with_one_file("iorate=100,elapsed=2");
    run_one_file(&sandbox, &["--vdbench-layout", "503", "-mb"]).success();
    let summary = page(&sandbox, "out/summary.html");
    assert!(summary.contains("rate  1000**2     i/o"), "{summary}");
    assert!(averages(&summary).iter().all(|(_, figures)| figures.len() == 12), "{summary}");
    assert!(!page(&sandbox, "out/flatfile.html").contains("read_max"));
}

#[test]
fn files_are_made_and_read() {
    let sandbox = Sandbox::new();
    sandbox.write("fs.parm", FILES);
    let outcome = vdbench(&sandbox, &["-f", "fs.parm", "-o", "out"]);
    let console = outcome.success();
    assert!(console.contains("Starting RD=format_for_rd1"), "{console}");
    assert!(console.contains("Miscellaneous statistics:"), "{console}");
    let (fwd1, fwd2) = (page(&sandbox, "out/fwd1.html"), page(&sandbox, "out/fwd2.html"));
    let last = |page: &str| averages(page).pop().expect("an average").1;
    let all = last(&page(&sandbox, "out/fsd1.html"));
    let (reads, stats) = (last(&fwd1), last(&fwd2));
    assert!((all[0] - reads[0] - stats[0]).abs() < 0.2, "{all:?} {reads:?} {stats:?}");
    assert!(reads[0] > 0.0 && stats[0] > 0.0);
    assert!(fwd1.contains("std_") && fwd1.contains("max_"));
    let created = page(&sandbox, "out/format.html");
    assert!(created.contains("avg_1-"), "{created}");
    assert!(page(&sandbox, "out/histogram.html").contains("Total of all requested operations"));
    assert!(page(&sandbox, "out/anchors.html").contains("tree"));
}

#[test]
fn a_simulation_lists_and_runs_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("raw.parm", RAW);
    let outcome = vdbench(&sandbox, &["-f", "raw.parm", "-s", "-o", "out"]);
    let console = outcome.success();
    for part in [
        " Simulating RD=rd1; I/O rate: 200; elapsed=3; For loops: None\n",
        " Simulating RD=rd2; I/O rate: Controlled MAX; elapsed=2 warmup=1; For loops: threads=2\n",
        " Total amount of Run Definitions: 3; total elapsed time 9 seconds, or 0.0025 hours, ",
        " Vdbench simulation completed successfully. Output directory: ",
    ] {
        assert!(console.contains(part), "{part}\n{console}");
    }
    assert!(!sandbox.path("f1").exists());
    assert!(page(&sandbox, "out/summary.html").contains("Simulating RD=rd2"));
}

#[test]
fn a_link_named_vdbench_is_vdbench() {
    let sandbox = Sandbox::new();
    let link = sandbox.path("vdbench");
    symlink(env!("CARGO_BIN_EXE_plimsoll"), &link).expect("a link");
    let help = outcome(sandbox.command(&link).arg("--help"));
    assert!(help.success().starts_with("Usage: vdbench"));
    let wrong = outcome(sandbox.command(&link).args(["-f", "none.parm"]));
    assert_eq!(wrong.code, 157, "{}{}", wrong.stdout, wrong.stderr);
    assert!(wrong.stderr.contains("none.parm"), "{}", wrong.stderr);
}

#[test]
fn only_pages_of_results_are_removed() {
    let sandbox = Sandbox::new();
    sandbox.write("raw.parm", RAW);
    std::fs::create_dir(sandbox.path("out")).expect("a folder");
    sandbox.write("out/old.html", "<title>Vdbench out/old.html</title><pre>\n");
    sandbox.write("out/mine.html", "<html>mine</html>");
    sandbox.write("out/notes.txt", "<title>Vdbench notes</title>");
    let records = ["out/plimsoll.json", "out/plimsoll-002.json"];
    let others = ["out/plimsoll-a.json", "out/plimsoll-.json", "out/plimsoll2.json", "out/b.json"];
    for name in records.iter().chain(&others) {
        sandbox.write(name, "{\n  \"schema\": 1\n}");
    }
    sandbox.write("out/plimsoll-003.json", "mine");
    std::fs::create_dir(sandbox.path("out/below")).expect("a folder");
    sandbox.write("out/below/old.html", "<title>Vdbench out/old.html</title><pre>\n");
    vdbench(&sandbox, &["-f", "raw.parm", "-s", "-o", "out"]).success();
    let is_there = |name: &&str| sandbox.path(name).exists();
    assert!(!["out/old.html"].iter().chain(&records).any(is_there));
    let kept = ["out/mine.html", "out/notes.txt", "out/below/old.html", "out/plimsoll-003.json"];
    assert!(kept.iter().chain(&others).all(is_there));
    // Nothing that looks like a record is taken from a folder that holds no results.
    std::fs::create_dir(sandbox.path("other")).expect("a folder");
    sandbox.write("other/plimsoll.json", "{}");
    vdbench(&sandbox, &["-f", "raw.parm", "-s", "-o", "other"]).success();
    assert!(is_there(&"other/plimsoll.json"));
}

#[test]
fn directories_are_numbered_or_stamped() {
    let sandbox = Sandbox::new();
    sandbox.write("raw.parm", RAW);
    for name in ["out001", "out002"] {
        vdbench(&sandbox, &["-f", "raw.parm", "-s", "-o", "out+"]).success();
        assert!(sandbox.path(name).join("summary.html").exists(), "{name}");
    }
    vdbench(&sandbox, &["-f", "raw.parm", "-s", "-oday.tod"]).success();
    let names = std::fs::read_dir(sandbox.path("")).expect("ours").flatten();
    let stamped = names.filter(|entry| entry.file_name().to_string_lossy().starts_with("day.2"));
    assert_eq!(stamped.count(), 1);
}

#[test]
fn other_hosts_need_ssh() {
    let sandbox = Sandbox::new();
    let text = "hd=default,user=root\nhd=one,system=127.0.1.1\nhd=two,system=127.0.1.2\n\
                sd=sd1,host=one,lun=f1,size=1m\nsd=sd2,host=two,lun=f2,size=1m\nwd=wd1,sd=*\n\
                rd=rd1,wd=wd1,iorate=50,elapsed=2,interval=1\n";
    sandbox.write("mh.parm", text);
    let refused = vdbench(&sandbox, &["-f", "mh.parm", "-o", "out"]);
    assert_eq!(refused.code, 157);
    assert!(refused.stderr.contains("`shell=rsh`") && refused.stderr.contains("`one`, `two`"));
    assert!(refused.stderr.contains("--all-hosts-local"), "{}", refused.stderr);
    assert!(!sandbox.path("out").exists(), "nothing was begun");
    vdbench(&sandbox, &["-f", "mh.parm", "-o", "out", "--all-hosts-local"]).success();
    let (one, two) = (page(&sandbox, "out/one.html"), page(&sandbox, "out/two-0.html"));
    assert!(!averages(&one).is_empty() && !averages(&two).is_empty());
}

#[test]
fn commands_need_a_permission() {
    let sandbox = with_one_file("iorate=50,elapsed=2,startcmd=\"touch $output/began\"");
    let refused = run_one_file(&sandbox, &[]);
    assert_eq!(refused.code, 157);
    assert!(refused.stderr.contains("--allow-commands"), "{}", refused.stderr);
    run_one_file(&sandbox, &["--allow-commands"]).success();
    assert!(sandbox.path("out/began").exists());
}

#[test]
fn a_kill_leaves_what_was_measured() {
    let sandbox = with_one_file("iorate=50,elapsed=600");
    let mut child = begin_one_file(&sandbox, &[]);
    child.kill().and_then(|()| child.wait()).expect("it is ours");
    let flat = page(&sandbox, "out/flatfile.html");
    assert!(flat.lines().any(|line| line.contains(" rd1 2 50 ")), "{flat}");
}

#[test]
fn an_interrupt_ends_with_averages() {
    let sandbox = with_one_file("iorate=50,elapsed=600\nrd=rd2,wd=wd1,iorate=50,elapsed=600");
    let child = begin_one_file(&sandbox, &[]);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("a shell's tool").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(averages(&page(&sandbox, "out/summary.html")).len(), 2, "of format and rd1");
    assert!(page(&sandbox, "out/status.html").contains("Abort requested: interrupted"));
    assert_eq!(record(&sandbox, "out/plimsoll.json")["outcome"], "interrupted");
}

#[test]
fn a_monitored_file_ends_a_run_or_all_of_them() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.parm",
        "monitor=mon\nsd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\n\
        rd=default,wd=wd1,iorate=50,elapsed=600,interval=1\nrd=rd1\nrd=rd2\nrd=rd3\n",
    );
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    let command = command.args(["vdbench", "-f", "a.parm", "-o", "out"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let events = |text: &str| {
        let status = std::fs::read_to_string(sandbox.path("out/status.html"));
        status.is_ok_and(|status| status.contains(text))
    };
    wait_for(|| events("Warmup done\trd=rd1"));
    sandbox.write("mon", "end_rd\n");
    wait_for(|| events("Warmup done\trd=rd2"));
    assert_eq!(page(&sandbox, "mon"), "", "the wish is taken");
    sandbox.write("mon", "end_vdbench\n");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let status = page(&sandbox, "out/status.html");
    for (event, n) in [("early shutdown of this run.", 1), ("early Vdbench termination.", 1)] {
        assert_eq!(status.matches(event).count(), n, "{status}");
    }
    assert!(!status.contains("rd=rd3") && status.contains("Vdbench complete"), "{status}");
    sandbox.write("mon", "something else");
    let refused = vdbench(&sandbox, &["-f", "a.parm", "-o", "out"]);
    assert_eq!((refused.code, page(&sandbox, "mon").as_str()), (157, "something else"));
}

#[test]
fn what_cannot_begin_has_no_averages_and_ends_everything() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.parm",
        "fsd=fsd1,anchor=no/such/tree,depth=1,width=1,files=2,size=4k\n\
        fwd=fwd1,fsd=fsd1,operation=read\n\
        rd=rd1,fwd=fwd1,fwdrate=10,format=yes,elapsed=2,interval=1\n",
    );
    let failed = vdbench(&sandbox, &["-f", "a.parm", "-o", "out"]);
    assert_eq!(failed.code, 157, "{}{}", failed.stdout, failed.stderr);
    assert!(failed.stdout.contains("create_anchors=yes"), "{}", failed.stdout);
    assert!(!failed.stdout.contains("avg_") && !failed.stdout.contains("Starting RD=rd1"));
    assert!(page(&sandbox, "out/status.html").contains("\tAbort requested: "));
    assert!(!page(&sandbox, "out/flatfile.html").contains(" avg_"));
}

#[test]
fn shares_that_are_off_end_everything() {
    let sandbox = Sandbox::new();
    // No few hundred operations can be shared like this.
    sandbox.write(
        "a.parm",
        "abort_failed_skew=0.0001\nsd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1,skew=33.333\n\
        wd=wd2,sd=sd1,skew=66.667\nrd=default,wd=*,iorate=100,elapsed=2,interval=1\n\
        rd=rd1\nrd=rd2\n",
    );
    let failed = vdbench(&sandbox, &["-f", "a.parm", "-o", "out"]);
    assert_eq!(failed.code, 157, "{}", failed.stdout);
    assert!(failed.stdout.contains("'abort_failed_skew=0.0001'"), "{}", failed.stdout);
    assert!(!failed.stdout.contains("Starting RD=rd2"), "{}", failed.stdout);
    assert!(page(&sandbox, "out/totals.html").contains("RD=rd1"));
}

#[test]
fn every_link_leads_to_a_page() {
    let sandbox = Sandbox::new();
    let report = "report=(host_detail,slave_detail)\nreport_run_totals=yes\nhd=localhost,jvms=3\n";
    sandbox.write("raw.parm", format!("{report}{RAW}"));
    vdbench(&sandbox, &["-f", "raw.parm", "-o", "out"]).success();
    let mut n_links = 0;
    for entry in std::fs::read_dir(sandbox.path("out")).expect("a folder").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        let text = page(&sandbox, &format!("out/{name}"));
        for part in text.split("<A HREF=\"").skip(1) {
            let target = part.split('"').next().expect("a link");
            n_links += 1;
            match target.strip_prefix('#') {
                Some(anchor) => {
                    assert!(text.contains(&format!("<a name=\"{anchor}\">")), "{name} {target}");
                }
                None => assert!(sandbox.path(&format!("out/{target}")).exists(), "{name} {target}"),
            }
        }
    }
    assert!(n_links > 100, "{n_links}");
    for name in ["localhost-2", "localhost.sd1", "localhost-1.sd2", "totals_optional"] {
        assert!(sandbox.path(&format!("out/{name}.html")).exists(), "{name}");
    }
}

#[track_caller]
fn wait_for(mut is_done: impl FnMut() -> bool) {
    for _ in 0..2400 {
        if is_done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it does not come");
}

#[test]
fn utilities() {
    let sandbox = with_one_file("iorate=(50,100),elapsed=2");
    run_one_file(&sandbox, &[]).success();
    let args = "parse -i out/flatfile.html -c run reqrate rate -a -f Run rd1 -o out.csv";
    let args: Vec<&str> = args.split(' ').collect();
    assert_eq!(vdbench(&sandbox, &args).success(), "");
    let table = page(&sandbox, "out.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!((lines[0], lines.len()), ("Run,reqrate,rate", 3), "{table}");
    assert!(lines[1].starts_with("rd1,50,") && lines[2].starts_with("rd1,100,"), "{table}");
    let wrong = vdbench(&sandbox, &["parseflat", "-i", "out/flatfile.html", "-c", "nothing"]);
    assert_eq!(wrong.code, 157);
    assert!(wrong.stderr.contains("no column `nothing`"), "{}", wrong.stderr);
    let compared = vdbench(&sandbox, &["compare", "out", "out"]);
    let table = compared.success();
    let mut lines = table.lines().skip_while(|line| !line.starts_with("rd1 reqrate=100 ")).skip(1);
    let rows: Vec<&str> = lines.by_ref().take_while(|line| line.starts_with("  ")).collect();
    // A processor that was idle has no percentage to differ by.
    let is_same = |row: &&&str| row.ends_with("+0.0%") || row.starts_with("  cpu_used");
    assert_eq!(rows.iter().filter(is_same).count(), 4, "{table}");
    assert!(table.lines().all(|line| line.len() <= 80), "{table}");
    for name in ["edit", "print", "showlba", "rsh", "jstack"] {
        let answer = vdbench(&sandbox, &[name]);
        assert_eq!(answer.code, 157, "{name}");
        assert!(answer.stderr.contains("is not part of Plimsoll"), "{}", answer.stderr);
    }
}

const FLAT: &str = "\
<title>Vdbench out/flatfile.html</title><pre>
* Columns of a flatfile.
Run Interval reqrate threads rate
rd1 1 50 1 49.0
rd1 2 50 1 50.0
rd1 avg_2-2 50 1 50.0
rd1 1 50 4 51.0
rd1 avg_1-1 50 4 51.0
RD2 1 100 4 99.0
RD2 avg_1-1 100 4 99.0
";

#[test]
fn rows_and_columns_of_a_flatfile_are_chosen() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("out")).expect("a folder");
    sandbox.write("out/flatfile.html", FLAT);
    let all = "Run,Interval,reqrate,threads,rate";
    let cases = [
        ("parse -i out -c run rate", "Run,rate|rd1,49.0|rd1,50.0|rd1,51.0|RD2,99.0"),
        ("parse -iout/flatfile.html -c rate -a", "rate|50.0|51.0|99.0"),
        ("parseflat -i out/ -c rate -f run rd1 threads 4", "rate|51.0"),
        ("parseflat -i out -f run rd1 -f threads 4 -crate -a", "rate|51.0"),
        ("parse -i out -c run,rate -t -f run RD2 reqrate 100 -q", "Run\trate|RD2\t99.0"),
        ("parse -i out -c ALL -f run RD2", &format!("{all}|RD2,1,100,4,99.0")),
        ("parse -i out -a -f run RD2", &format!("{all}|RD2,avg_1-1,100,4,99.0")),
    ];
    for (args, table) in cases {
        let args: Vec<&str> = args.split(' ').collect();
        assert_eq!(vdbench(&sandbox, &args).success().trim_end().replace('\n', "|"), table);
    }
    for (more, reported) in [("", "4 lines written to `x.csv`\n"), (" -q", "")] {
        let args = format!("parse -i out -o x.csv{more}");
        let answer = vdbench(&sandbox, &args.split(' ').collect::<Vec<_>>());
        assert_eq!((answer.success(), answer.stderr.as_str()), ("", reported));
    }
}

#[test]
fn what_fits_nothing_in_a_flatfile_is_an_error() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("out")).expect("a folder");
    std::fs::create_dir(sandbox.path("none")).expect("a folder");
    sandbox.write("out/flatfile.html", FLAT);
    sandbox.write("flat", "Run Interval rate\nrd1 1 50.0\n");
    let cases = [
        ("-i out -f run rd1 threads 8", "no row of an interval fits `run rd1` and `threads 8`"),
        ("-i out -a -f interval 1", "no row of averages fits `interval 1`"),
        ("-i flat -a", "the flatfile has no row of averages"),
        ("-i out -f run rd1 threads", "the filter `threads` has no value"),
        ("-i none", "cannot read `none/flatfile.html`"),
        ("-i out -x", "`-x` is not an option of `parse`"),
    ];
    for (args, message) in cases {
        let args: Vec<&str> = ["parse", "-o", "x.csv"].into_iter().chain(args.split(' ')).collect();
        let answer = vdbench(&sandbox, &args);
        assert_eq!((answer.code, answer.stdout.as_str()), (157, ""), "{args:?}");
        let text = answer.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(message), "{text}");
        assert!(!sandbox.path("x.csv").exists(), "{args:?}");
    }
}

/// A device has no end: it is refused before it is read.
#[test]
fn a_device_is_no_flatfile() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("out")).expect("a folder");
    symlink("/dev/zero", sandbox.path("out/flatfile.html")).expect("a link");
    for args in
        [&["parse", "-i", "/dev/zero"][..], &["parse", "-i", "out"], &["compare", "out", "out"]]
    {
        let answer = vdbench(&sandbox, args);
        assert_eq!((answer.code, answer.stdout.as_str()), (157, ""), "{args:?}");
        assert!(answer.stderr.contains("it is a device, not a file"), "{}", answer.stderr);
    }
}

#[test]
fn a_flatfile_may_come_by_standard_input() {
    let sandbox = Sandbox::new();
    sandbox.write("flat", FLAT);
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    let flat = std::fs::File::open(sandbox.path("flat")).expect("it is there");
    let command = command.args(["vdbench", "parse", "-i", "-", "-c", "run", "rate", "-a"]);
    let answer = outcome(command.stdin(flat));
    assert_eq!(answer.success(), "Run,rate\nrd1,50.0\nrd1,51.0\nRD2,99.0\n");
}

#[test]
fn other_commands_read_these_files() {
    let sandbox = Sandbox::new();
    sandbox.write("raw.parm", RAW);
    let checked = sandbox.plimsoll(&["check", "raw.parm"]);
    assert!(checked.success().contains("Simulating RD=rd2; I/O rate: Controlled MAX"));
    let checked = sandbox.plimsoll(&["check", "raw.parm", "--json"]);
    let page: Value = serde_json::from_str(checked.success()).expect("JSON");
    assert_eq!(page["steps"][2]["name"], "rd2 threads=2");
    assert!(!sandbox.path("f1").exists(), "nothing was made");
    let set = ["--set", "elapsed=2", "--remap", "f2=g2"];
    let args = [&["run", "raw.parm", "--no-progress", "--json"][..], &set].concat();
    let ran = sandbox.plimsoll(&args);
    let record: Value = serde_json::from_str(ran.success()).expect("JSON");
    assert_eq!(record["outcome"], "complete");
    assert!(sandbox.path("g2").exists() && !sandbox.path("f2").exists());
    sandbox.write("bad.parm", "sd=sd1,lun=f\nwd=wd1,sd=sd9\nrd=rd1,wd=wd1,elapsed=1\n");
    let bad = sandbox.plimsoll(&["check", "bad.parm", "--dialect", "vdbench"]);
    assert_eq!(bad.code, 2);
    assert!(bad.stderr.contains("sd9") && bad.stderr.contains("bad.parm:2:"), "{}", bad.stderr);
}

#[test]
fn demonstrations_clean_up() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("tmp")).expect("a folder");
    for (switch, word) in [("-t", "RD=rd1"), ("-tf", "format_for_rd1")] {
        let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        command.args(["vdbench", switch, "-e2", "-o", "out"]).env("TMPDIR", sandbox.path("tmp"));
        let done = outcome(&mut command);
        assert!(done.success().contains(word), "{}", done.stdout);
        let left = std::fs::read_dir(sandbox.path("tmp")).expect("ours").count();
        assert_eq!(left, 0, "{switch}");
    }
}

#[test]
fn a_full_disk_costs_pages_and_not_results() {
    let sandbox = with_one_file("iorate=50,elapsed=4");
    // Behind its first intervals there is no room for one page, and no place for the record.
    let run = |more: &[&str]| {
        let child = begin_one_file(&sandbox, more);
        symlink("/dev/full", sandbox.path("full")).expect("a link");
        std::fs::rename(sandbox.path("full"), sandbox.path("out/summary.html")).expect("a page");
        sandbox.write("out/plimsoll.json", "mine");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(157));
        assert_eq!(page(&sandbox, "out/plimsoll.json"), "mine");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (text(output.stdout), text(output.stderr))
    };
    let (stdout, stderr) = run(&[]);
    assert_eq!(stderr.matches("summary.html`: No space left").count(), 1, "{stderr}");
    assert!(stderr.contains("the record follows here"), "{stderr}");
    assert!(stdout.contains("avg_2-4") && stdout.contains("\"schema\""), "{stdout}");
    assert!(!averages(&page(&sandbox, "out/totals.html")).is_empty(), "other pages go on");
    // A record that the store has is not poured out.
    std::fs::remove_dir_all(sandbox.path("out")).expect("a folder");
    let (stdout, stderr) = run(&["--store", "kept.db"]);
    let line = "plimsoll.json`: it holds a file that no run wrote, which is left alone; the \
                record is in the run store: `plimsoll show 1 --json`\n";
    assert!(stderr.contains(line), "{stderr}");
    assert!(!stdout.contains("\"schema\""));
}
