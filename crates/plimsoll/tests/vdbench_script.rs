//! The shell script of the Azure NetApp Files benchmarks, which writes seven Vdbench workloads for
//! 24 machines: as it stands, on small files of this host. Skipped where the document is absent.

mod common;

use std::process::Command;

use common::Sandbox;
use serde_json::Value;

/// The workloads, with their runs.
const WORKLOADS: [(&str, &[&str]); 7] = [
    ("FillWrite", &["Initialize-LUNs-Full"]),
    ("SeqRead", &["SeqRead-4"]),
    ("SeqWrite", &["SeqWrite-26", "SeqWrite-32", "SeqWrite-40"]),
    ("RndRead", &["RndRead"]),
    ("RndWrite", &["RndWrite"]),
    ("SeqMix", &["SeqMix-6", "SeqMix-7"]),
    ("RndMix", &["RndMix"]),
];

/// Returns the document, if it is there.
fn document() -> Option<String> {
    let sources = std::fs::read_dir(testing::corpus("../sources", ".")?).ok()?;
    let documents =
        sources.flatten().filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    documents
        .into_iter()
        .find(|text| text.contains("#VDBENCH WORK SCRIPTS") && text.contains("Example scripts\n"))
}

/// Returns the script: the indented lines behind its heading.
fn script(document: &str) -> String {
    let (_, rest) = document.split_once("## Example scripts").expect("the heading");
    let lines = rest.lines().filter(|line| line.starts_with("    "));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn every_workload_of_the_script_runs() {
    let Some(document) = document() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("write-workloads", script(&document));
    let status = Command::new("bash")
        .arg("write-workloads")
        .current_dir(sandbox.path(""))
        .status()
        .expect("bash");
    assert!(status.success());
    let remaps: Vec<String> = (1..=6)
        .map(|volume| {
            let folder = sandbox.path(&format!("v{volume}"));
            std::fs::create_dir(&folder).expect("it is new");
            format!("/mnt/vdb{volume}={}", folder.display())
        })
        .collect();
    for (name, runs) in WORKLOADS {
        let file = format!("vnet1-{name}-workload");
        let out = format!("out-{name}");
        let mut args = vec!["vdbench", "-f", &file, "-o", &out, "--all-hosts-local"];
        for remap in &remaps {
            args.extend(["--remap", remap]);
        }
        args.extend(["--set", "size=1m", "--set", "elapsed=2"]);
        if name != "FillWrite" {
            args.extend(["--set", "warmup=1", "-i", "1"]);
        }
        sandbox.plimsoll(&args).success();
        compare(&sandbox, &out, runs);
    }
}

/// Compares what `grep avg` finds with the record, run by run.
fn compare(sandbox: &Sandbox, out: &str, runs: &[&str]) {
    let read = |name: &str| std::fs::read_to_string(sandbox.path(&format!("{out}/{name}")));
    let record: Value =
        serde_json::from_str(&read("plimsoll.json").expect("a record")).expect("JSON");
    let grepped = Command::new("grep")
        .args(["avg", &format!("{out}/summary.html")])
        .current_dir(sandbox.path(""))
        .output()
        .expect("grep");
    let lines = String::from_utf8(grepped.stdout).expect("text");
    let lines: Vec<&str> = lines.lines().collect();
    let n_formats = lines.len() - runs.len();
    assert!(n_formats <= 1, "{lines:?}");
    for (idx, run) in runs.iter().enumerate() {
        let line = lines[n_formats + idx];
        let words: Vec<&str> = line.split_whitespace().collect();
        let figures: Vec<f64> = words[2..].iter().map(|word| word.parse().expect("one")).collect();
        let first: usize = words[1]
            .strip_prefix("avg_")
            .and_then(|label| label.split('-').next())
            .and_then(|first| first.parse().ok())
            .expect("avg_F-L");
        let expected = figures_of(&record, (n_formats + idx) as u64, first - 1);
        for (idx, (ours, theirs)) in figures.iter().zip(expected).enumerate() {
            let tolerance = [0.06, 0.006, 1.0, 0.006][idx];
            assert!((ours - theirs).abs() <= tolerance, "{run}: {line} for {expected:?}");
        }
        assert!(figures[0] > 0.0, "{run}: {line}");
    }
    let totals = read("totals.html").expect("a page");
    assert!(runs.iter().all(|run| totals.contains(&format!(" Starting RD={run}; I/O rate: "))));
}

/// Returns I/Os and MiB per second, bytes per I/O and the percentage of reads of a step, from its
/// n-th sample on.
fn figures_of(record: &Value, step_idx: u64, first: usize) -> [f64; 4] {
    let samples = record["intervals"].as_array().expect("a list");
    let of_step = samples.iter().filter(|sample| sample["step_idx"].as_u64() == Some(step_idx));
    let (mut reads, mut writes, mut bytes, mut length_ms) = (0, 0, 0, 0);
    for sample in of_step.skip(first) {
        for series in sample["series"].as_array().expect("a list") {
            let of = |what: &str| series[what].as_u64().expect("a count");
            let count = if series["op"] == "read" { &mut reads } else { &mut writes };
            *count += of("n_ios");
            bytes += of("io_bytes");
        }
        length_ms += sample["length_ms"].as_u64().expect("a length");
    }
    let (n_ios, length_s) = ((reads + writes) as f64, length_ms as f64 / 1000.0);
    [
        n_ios / length_s,
        bytes as f64 / length_s / 1_048_576.0,
        bytes as f64 / n_ios,
        reads as f64 * 100.0 / n_ios,
    ]
}
