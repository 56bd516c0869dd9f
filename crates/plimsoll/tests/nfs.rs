//! `rehearse export` and the engine `nfs` together, as a user would use them.

mod common;
#[path = "common/export.rs"]
mod export;

use common::Sandbox;
use export::Export;
use serde_json::Value;

/// The variable that switches the long check on.
const LONG: &str = "PLIMSOLL_LONG_TESTS";

const NETWORK: &str = "\
[[volume]]
mount = \"/mnt/anf\"
service = \"Premium\"
quota = \"2TiB\"
";

const P30: &str = "\
[[volume]]
mount = \"/mnt/p30\"
disk = \"P30\"
cache = \"None\"
";

/// What a cache is said to hold, it answers.
#[test]
fn an_export_starts_with_a_cold_or_a_warm_cache() {
    for state in ["cold", "warm"] {
        let sandbox = Sandbox::new();
        let design = "[vm]\nsize = \"DS14\"\n[[volume]]\nmount = \"/mnt/data\"\n\
                      disk = \"P30\"\ncache = \"ReadOnly\"\n";
        drop(Export::start(&sandbox, design));
        sandbox.write("backing/data/f", vec![7; 1 << 20]);
        let export = Export::start_with(&sandbox, design, &["--cache", state]);
        let url = export.url("/mnt/data");
        let read = ["--name=r", "--rw=read", "--bs=64k", "--size=1m", "--filename=f"];
        let read = sandbox.fio(&[&["--ioengine=nfs", &url], &read[..]].concat());
        read.success();
        let status = sandbox.plimsoll(&["rehearse", "status", "backing", "--json"]);
        let report: Value = serde_json::from_str(status.success()).expect("JSON");
        let cache = &report["cache"];
        let counts = (cache["n_hits"].as_u64(), cache["n_misses"].as_u64());
        let expected = if state == "warm" { (Some(16), Some(0)) } else { (Some(0), Some(16)) };
        assert_eq!(counts, expected, "{state}: {report}");
    }
}

/// A suite on an export, without a mount: over one connection and over eight. Nothing is left.
#[test]
fn a_suite_is_measured_over_an_export() {
    let sandbox = Sandbox::new();
    let export = Export::start(&sandbox, NETWORK);
    sandbox.write(
        "mine.toml",
        "schema = \"plimsoll.suite/1\"\nname = \"mine\"\n[prepare]\nsize = \"4m\"\n\
         [defaults]\ntime = \"200ms\"\nramp = \"0s\"\nconnections = [1, 8]\n\
         [[part]]\nname = \"reads\"\nrw = \"randread\"\n",
    );
    let url = format!("nfs://127.0.0.1:{}/mnt/anf", export.port);
    let args = ["bench", &url, "--suite", "mine.toml", "--no-progress", "--json"];
    let done = sandbox.plimsoll(&args);
    assert!(matches!(done.code, 0 | 3), "{}{}", done.stdout, done.stderr);
    let record = record::Record::from_json(&done.stdout).expect("a record");
    let rows = record.suite.expect("a suite").rows;
    let labels: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["fill", "reads, 1 conn", "reads, 8 conn"]);
    assert!(rows.iter().all(|row| row.medians().iops() > 0.0), "{rows:?}");
    let left = std::fs::read_dir(sandbox.path("backing/data")).expect("the data").count();
    assert_eq!(left, 0, "the file is removed");
}

#[test]
fn a_job_writes_verifies_and_reads_through_an_export() {
    let sandbox = Sandbox::new();
    let export = Export::start(&sandbox, NETWORK);
    let url = export.url("/mnt/anf");
    let common = ["--ioengine=nfs", &url, "--nfs_nconnect=4", "--iodepth=8", "--size=4m"];
    let job = |extra: &[&str]| sandbox.fio(&[&common[..], extra].concat());
    let verified = job(&["--name=v", "--rw=randwrite", "--bs=64k", "--verify=crc32c"]);
    verified.success();
    // What it reads is made first.
    let read =
        job(&["--name=r", "--rw=randread", "--bs=8k", "--nfs_rsize=4k", "--output-format=json"]);
    read.success();
    let text = &read.stdout[read.stdout.find('{').expect("JSON")..];
    let report: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(report["jobs"][0]["read"]["total_ios"], 512);
    assert_eq!(report["jobs"][0]["read"]["io_bytes"], 4 << 20);
    let made = sandbox.path("backing/data");
    let mut names: Vec<String> = std::fs::read_dir(made)
        .expect("the data")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["r.0.0", "v.0.0"]);
    // A second export cannot have the data, or the port.
    let again = sandbox.plimsoll(&[
        "rehearse",
        "export",
        "--foreground",
        "--backing",
        "backing",
        "--listen",
        "127.0.0.1:0",
        "design.toml",
    ]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("is in use by another process"), "{}", again.stderr);
    let place = format!("127.0.0.1:{}", export.port);
    let again = sandbox.plimsoll(&[
        "rehearse",
        "export",
        "--foreground",
        "--backing",
        "other",
        "--listen",
        &place,
        "design.toml",
    ]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("another server has the port"), "{}", again.stderr);
    // Nothing else is said, and the folder was not taken.
    assert_eq!(again.stderr.matches("error: ").count(), 1, "{}", again.stderr);
    assert!(
        !again.stderr.contains("note") && !again.stderr.contains("warning"),
        "{}",
        again.stderr
    );
    assert!(!sandbox.path("other").exists());
}

#[test]
fn status_says_where_an_export_is_and_who_is_there() {
    let sandbox = Sandbox::new();
    let design = format!("{NETWORK}[[client]]\nname = \"near\"\n");
    let export = Export::start(&sandbox, &design);
    let status = |args: &[&str]| {
        let outcome = sandbox.plimsoll(&[&["rehearse", "status", "backing"], args].concat());
        outcome.success().to_owned()
    };
    let place = format!("127.0.0.1:{}", export.port);
    let page = status(&[]);
    assert!(page.contains(&format!("\nexported  at {place}, no client is connected\n")), "{page}");
    let connection = std::net::TcpStream::connect(&place).expect("a connection");
    // It is there once the server has taken it.
    let client = (0..1000).find_map(|_| {
        let report: Value = serde_json::from_str(&status(&["--json"])).expect("JSON");
        Some(report["export"]["clients"][0].clone()).filter(|client| !client.is_null())
    });
    let client = client.expect("a client");
    assert_eq!(client["address"], "127.0.0.1");
    assert_eq!(
        (client["name"].as_str(), client["n_connections"].as_u64()),
        (Some("near"), Some(1))
    );
    drop(connection);
}

#[test]
fn an_export_that_is_not_there_is_a_clear_refusal() {
    let sandbox = Sandbox::new();
    let job = ["--name=j", "--ioengine=nfs", "--rw=read", "--size=1m"];
    let absent = sandbox.fio(&[&job[..], &["--nfs_url=nfs://127.0.0.1:1/mnt/x"]].concat());
    assert_ne!(absent.code, 0);
    assert!(absent.stderr.contains("cannot mount `nfs://127.0.0.1:1/mnt/x`"), "{}", absent.stderr);
    let unnamed = sandbox.fio(&job);
    assert_ne!(unnamed.code, 0);
    assert!(unnamed.stderr.contains("names no export"), "{}", unnamed.stderr);
    let bad = sandbox.fio(&[&job[..], &["--nfs_url=nfs://h/e?version=4"]].concat());
    assert_ne!(bad.code, 0);
    assert!(bad.stderr.contains("asks for version `4`"), "{}", bad.stderr);
}

/// The P30 of the source documents, through our client and our export: within 5 %, over 10 s.
#[test]
#[expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a long check is asked for")]
fn a_p30_carries_what_it_should() {
    if std::env::var_os(LONG).is_none() {
        testing::skipped!("takes a minute; set {LONG}=1");
        return;
    }
    let sandbox = Sandbox::new();
    let export = Export::start(&sandbox, P30);
    let url = export.url("/mnt/p30");
    for (block_kib, expected) in [(8, 5000.0), (32, 5000.0), (64, 200e6 / 65_536.0), (1024, 190.7)]
    {
        let block = format!("--bs={block_kib}k");
        let outcome = sandbox.fio(&[
            "--name=p30",
            "--ioengine=nfs",
            &url,
            "--nfs_nconnect=4",
            "--rw=randread",
            &block,
            "--iodepth=32",
            "--size=256m",
            "--time_based",
            "--ramp_time=2",
            "--runtime=10",
            "--output-format=json",
        ]);
        outcome.success();
        let text = &outcome.stdout[outcome.stdout.find('{').expect("JSON")..];
        let report: Value = serde_json::from_str(text).expect("JSON");
        let found = report["jobs"][0]["read"]["iops"].as_f64().expect("a rate");
        eprintln!("{block_kib} KiB: {found:.1} IOPS, expected {expected:.1}");
        assert!((found / expected - 1.0).abs() < 0.05, "{block_kib} KiB: {found} IOPS");
    }
}
