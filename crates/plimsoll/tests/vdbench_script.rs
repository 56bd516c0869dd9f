//! Shell scripts that write Vdbench workloads for many machines, as they stand, on small files of
//! this host: one of our own, and that of the Azure NetApp Files benchmarks with seven workloads
//! for 24 machines, where the document that prints it is present. One workload of each runs on
//! hosts of a network of their own, over real ssh.

#[expect(dead_code, reason = "the other tests with namespaces use the rest")]
#[path = "common/apart.rs"]
mod apart;
mod common;
#[path = "common/lab.rs"]
mod lab;

use std::process::Command;

use common::Sandbox;
use lab::in_lab;
use record::{JobRecord, Record};
use serde_json::Value;

/// A script, and what it writes.
struct Script<'a> {
    text: &'a str,
    /// Where volumes are mounted: so many numbers stand behind it.
    volumes: (&'a str, u32),
    /// Files of workloads, with their runs.
    workloads: &'a [(&'a str, &'a [&'a str])],
    /// The one that runs to the end of its files.
    fill: &'a str,
}

const OF_OURS: Script<'_> = Script {
    text: include_str!("data/cluster-workloads.sh"),
    volumes: ("/mnt/vol", 2),
    workloads: &[
        ("fill.parm", &["fill_all"]),
        ("write.parm", &["write_4", "write_8"]),
        ("mix.parm", &["mix_12"]),
    ],
    fill: "fill.parm",
};

const OF_THE_DOCUMENT: [(&str, &[&str]); 7] = [
    ("vnet1-FillWrite-workload", &["Initialize-LUNs-Full"]),
    ("vnet1-SeqRead-workload", &["SeqRead-4"]),
    ("vnet1-SeqWrite-workload", &["SeqWrite-26", "SeqWrite-32", "SeqWrite-40"]),
    ("vnet1-RndRead-workload", &["RndRead"]),
    ("vnet1-RndWrite-workload", &["RndWrite"]),
    ("vnet1-SeqMix-workload", &["SeqMix-6", "SeqMix-7"]),
    ("vnet1-RndMix-workload", &["RndMix"]),
];

/// Returns the document, if it is there.
fn document() -> Option<String> {
    let sources = std::fs::read_dir(testing::sources()?).ok()?;
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
fn every_workload_of_our_script_runs() {
    run(&OF_OURS);
}

#[test]
fn every_workload_of_the_document_runs() {
    let Some(document) = document() else { return };
    run(&Script {
        text: &script(&document),
        volumes: ("/mnt/vdb", 6),
        workloads: &OF_THE_DOCUMENT,
        fill: OF_THE_DOCUMENT[0].0,
    });
}

#[test]
fn a_mix_of_our_script_runs_on_three_hosts_over_ssh() {
    // The user of the script is none here.
    let text = OF_OURS.text.replace("user=bench", "user=root");
    let hosts: Vec<String> =
        (1..=3).map(|machine| format!("bench-{machine}.example.com")).collect();
    let workload = ("mix.parm", &["mix_12"][..]);
    run_on_hosts(&Script { text: &text, ..OF_OURS }, workload, "m", &hosts);
}

#[test]
fn the_mix_of_the_document_runs_on_six_hosts_over_ssh() {
    let Some(document) = document() else { return };
    // Six of its 24 machines, with six volumes each.
    let text = script(&document).replace("{1..24}", "{1..6}");
    let hosts: Vec<String> = (1..=6).map(|vm| format!("vdbench-vnet1-{vm}")).collect();
    let script = Script {
        text: &text,
        volumes: ("/mnt/vdb", 6),
        workloads: &OF_THE_DOCUMENT,
        fill: OF_THE_DOCUMENT[0].0,
    };
    run_on_hosts(&script, OF_THE_DOCUMENT[5], "vm", &hosts);
}

/// Runs a workload of a script on its hosts, which the script calls by `label` and a number.
#[track_caller]
fn run_on_hosts(script: &Script<'_>, (file, runs): (&str, &[&str]), label: &str, hosts: &[String]) {
    let (sandbox, remaps) = written(script);
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let remaps: String = remaps.iter().map(|remap| format!(" --remap '{remap}'")).collect();
    let command = format!(
        "'{program}' vdbench -f {file} -o out --ssh '{}'{remaps} --set size=1m --set elapsed=3 \
         --set warmup=1 -i 1\n[ -z \"$(ls /tmp)\" ] || {{ ls /tmp >&2; exit 1; }}\n",
        lab::client(&sandbox)
    );
    let Some(outcome) = in_lab(&sandbox, hosts, &command) else { return };
    outcome.success();
    compare(&sandbox, "out", runs);
    let page = |name: &str| std::fs::read_to_string(sandbox.path(&format!("out/{name}")));
    let record = page("plimsoll.json").expect("a record");
    let record = Record::from_json(&record).expect("a record");
    // Each host says what it is called itself: the namespace in which the agent ran.
    let found: Vec<&str> = record.hosts.iter().map(|it| &*it.record.host.name).collect();
    assert_eq!(found, hosts);
    let n_ios = |record: &Record| record.jobs.iter().map(JobRecord::n_ios).sum::<u64>();
    let of_hosts: Vec<u64> = record.hosts.iter().map(|host| n_ios(&host.record)).collect();
    assert_eq!(n_ios(&record), of_hosts.iter().sum::<u64>());
    for number in 1..=hosts.len() {
        let page = page(&format!("{label}{number}.html")).expect("a page of each host");
        let n_averages = page.lines().filter(|line| line.contains("avg_")).count();
        assert!(n_averages >= runs.len(), "{label}{number}: {page}");
    }
    let volumes = (1..=script.volumes.1).map(|volume| sandbox.path(&format!("v{volume}")));
    for volume in volumes {
        assert_eq!(testing::names_in(&volume).len(), hosts.len(), "a file of each host");
    }
}

/// Writes the workloads of a script. Returns what its volumes are to be in the place of.
#[track_caller]
fn written(script: &Script<'_>) -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::new();
    sandbox.write("write-workloads", script.text);
    let status = Command::new("bash")
        .arg("write-workloads")
        .current_dir(sandbox.path(""))
        .status()
        .expect("bash");
    assert!(status.success());
    let (mount, n_volumes) = script.volumes;
    let remap = |volume: u32| {
        let folder = sandbox.path(&format!("v{volume}"));
        std::fs::create_dir(&folder).expect("it is new");
        format!("{mount}{volume}={}", folder.display())
    };
    let remaps = (1..=n_volumes).map(remap).collect();
    (sandbox, remaps)
}

/// Runs the script, and every workload that it writes.
#[track_caller]
fn run(script: &Script<'_>) {
    let (sandbox, remaps) = written(script);
    for (file, runs) in script.workloads {
        let out = format!("out-{file}");
        let mut args = vec!["vdbench", "-f", file, "-o", &out, "--all-hosts-local"];
        for remap in &remaps {
            args.extend(["--remap", remap]);
        }
        args.extend(["--set", "size=1m", "--set", "elapsed=2"]);
        if *file != script.fill {
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
        assert!(figures[0] > 0.0, "{run}: {line}");
        // Seconds of hosts that stood still are joined: the first of them is then no warm-up alone.
        let Some(expected) = figures_of(&record, (n_formats + idx) as u64, first - 1) else {
            continue;
        };
        for (idx, (ours, theirs)) in figures.iter().zip(expected).enumerate() {
            let tolerance = [0.06, 0.006, 1.0, 0.006][idx];
            assert!((ours - theirs).abs() <= tolerance, "{run}: {line} for {expected:?}");
        }
    }
    let totals = read("totals.html").expect("a page");
    assert!(runs.iter().all(|run| totals.contains(&format!(" Starting RD={run}; I/O rate: "))));
}

/// Returns I/Os and MiB per second, bytes per I/O and the percentage of reads of a step, from its
/// n-th sample on; none where samples before it are longer than a second and a half.
fn figures_of(record: &Value, step_idx: u64, first: usize) -> Option<[f64; 4]> {
    let samples = record["intervals"].as_array().expect("a list");
    let of_step = samples.iter().filter(|sample| sample["step_idx"].as_u64() == Some(step_idx));
    let length_ms = |sample: &Value| sample["length_ms"].as_u64().expect("a length");
    if of_step.clone().take(first).any(|sample| length_ms(sample) > 1500) {
        return None;
    }
    let (mut reads, mut writes, mut bytes, mut lasted_ms) = (0, 0, 0, 0);
    for sample in of_step.skip(first) {
        for series in sample["series"].as_array().expect("a list") {
            let of = |what: &str| series[what].as_u64().expect("a count");
            let count = if series["op"] == "read" { &mut reads } else { &mut writes };
            *count += of("n_ios");
            bytes += of("io_bytes");
        }
        lasted_ms += length_ms(sample);
    }
    let (n_ios, length_s) = ((reads + writes) as f64, lasted_ms as f64 / 1000.0);
    Some([
        n_ios / length_s,
        bytes as f64 / length_s / 1_048_576.0,
        bytes as f64 / n_ios,
        reads as f64 * 100.0 / n_ios,
    ])
}
