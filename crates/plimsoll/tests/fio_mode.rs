//! The program under the name `fio`.

mod common;

use std::path::Path;
use std::process::Child;
use std::time::Duration;

use common::{Outcome, Sandbox};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const JOB: [&str; 6] =
    ["--name=a", "--size=256k", "--rw=randrw", "--bs=4k", "--filename=f", "--numjobs=2"];

#[track_caller]
fn json(outcome: &Outcome) -> Value {
    assert_eq!(outcome.stderr, "", "scripts treat any text here as a failure");
    serde_json::from_str(outcome.success()).expect("JSON and nothing else")
}

/// Runs the job with these switches before it.
fn with(sandbox: &Sandbox, switches: &[&str]) -> Outcome {
    sandbox.fio(&[switches, &JOB].concat())
}

#[test]
fn json_is_json_and_nothing_else() {
    let page = json(&with(&Sandbox::new(), &["--output-format=json"]));
    let keys: Vec<&str> = page.as_object().expect("an object").keys().map(String::as_str).collect();
    for key in ["fio version", "timestamp", "timestamp_ms", "time", "jobs", "disk_util"] {
        assert!(keys.contains(&key), "{key} is missing in {keys:?}");
    }
    let jobs = page["jobs"].as_array().expect("a list");
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        let n_ios = job["read"]["total_ios"].as_u64().zip(job["write"]["total_ios"].as_u64());
        assert_eq!(n_ios.map(|(reads, writes)| reads + writes), Some(64));
        assert!(job["read"]["clat_ns"]["percentile"]["99.000000"].is_number());
        assert_eq!(job["job options"]["rw"], "randrw");
        assert_eq!(job["error"], 0);
    }
}

#[test]
fn warnings_do_not_touch_json() {
    let args = ["--output-format=json", "--name=a", "--size=64k", "--runtime=2sec"];
    json(&Sandbox::new().fio(&args));
}

#[test]
fn json_plus_has_bins() {
    let page = json(&with(&Sandbox::new(), &["--output-format=json+", "--group_reporting"]));
    assert_eq!(page["jobs"].as_array().map(Vec::len), Some(1));
    assert!(page["jobs"][0]["read"]["clat_ns"]["bins"].is_object());
}

#[test]
fn the_normal_report_has_the_lines_that_scripts_look_for() {
    let outcome = with(&Sandbox::new(), &["--group_reporting"]);
    let report = outcome.success();
    assert_eq!(outcome.stderr, "");
    for part in [
        "a: (g=0): rw=randrw, bs=(R) 4096B-4096B, ",
        "\nfio-3.",
        "\nStarting 2 processes\n",
        "a: (groupid=0, jobs=2): err= 0: pid=",
        "\n  read: IOPS=",
        "\n     lat (",
        "\n  IO depths    : 1=100.0%",
        "\nRun status group 0 (all jobs):\n   READ: bw=",
    ] {
        assert!(report.contains(part), "`{part}` is missing in\n{report}");
    }
}

#[test]
fn terse_has_fios_fields() {
    let sandbox = Sandbox::new();
    for (version, n_fields) in [("3", 121), ("4", 162), ("5", 180)] {
        let version_switch = format!("--terse-version={version}");
        // Without the device statistics, whose number is the machine's own.
        let outcome = with(&sandbox, &["--minimal", &version_switch, "--disk_util=0"]);
        let line = outcome.success().lines().next().unwrap_or_default();
        assert!(line.starts_with(&format!("{version};fio-")), "{line}");
        assert_eq!(line.split(';').count(), n_fields, "{line}");
    }
}

#[test]
fn several_formats_come_in_fios_order() {
    let outcome = with(&Sandbox::new(), &["--output-format=json,terse,normal"]);
    let text = outcome.success();
    let places: Vec<Option<usize>> = ["Starting ", "\n3;fio-", "\n{\n", "a: (groupid="]
        .iter()
        .map(|part| text.find(part))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{text}");
}

#[test]
fn the_report_goes_to_the_file() {
    let sandbox = Sandbox::new();
    let outcome = with(&sandbox, &["--output=out.json", "--output-format=json", "--max-jobs=16"]);
    assert_eq!(outcome.success(), "");
    let text = std::fs::read_to_string(sandbox.path("out.json")).expect("the report");
    serde_json::from_str::<Value>(&text).expect("JSON");
}

#[test]
fn a_status_interval_prints_whole_reports() {
    let args = ["--output-format=json", "--status-interval=200ms", "--name=a", "--ioengine=null"];
    let rest = ["--size=1m", "--time_based", "--runtime=500ms", "--bs=4k"];
    let outcome = Sandbox::new().fio(&[args, rest].concat());
    let reports = serde_json::Deserializer::from_str(outcome.success()).into_iter::<Value>();
    let n_ios: Vec<u64> = reports
        .map(|page| page.expect("JSON")["jobs"][0]["read"]["total_ios"].as_u64().expect("a count"))
        .collect();
    assert!(n_ios.len() >= 2 && n_ios.is_sorted() && n_ios[0] > 0, "{n_ios:?}");
}

#[test]
fn missing_folders_above_a_file_are_made_but_not_the_jobs_directory() {
    let sandbox = Sandbox::new();
    sandbox.fio(&["--name=a", "--size=64k", "--filename=new/folder/f"]).success();
    assert!(sandbox.path("new/folder/f").exists());
    let outcome = sandbox.fio(&["--name=a", "--size=64k", "--directory=nosuch"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("the directory `nosuch` does not exist"), "{}", outcome.stderr);
}

/// Neither for what may not be made, nor for one name per operation.
#[test]
fn missing_folders_are_made_only_with_a_file() {
    let sandbox = Sandbox::new();
    for last in ["--allow_file_create=0", "--ioengine=filecreate"] {
        let outcome = sandbox.fio(&["--name=a", "--size=64k", "--filename=new/folder/f", last]);
        assert_eq!(outcome.code, 1, "{last}: {}", outcome.stderr);
        let expected = "the directory `new/folder` does not exist: create it";
        assert!(outcome.stderr.contains(expected), "{last}: {}", outcome.stderr);
        assert!(!sandbox.path("new").exists(), "{last}");
    }
}

#[test]
fn debug_output_says_the_seeds() {
    let sandbox = Sandbox::new();
    let seeds = |seed: &str| {
        let job = ["--debug=random", "--name=a", "--ioengine=null", "--size=64k"];
        let outcome = sandbox.fio(&job.into_iter().chain(seed.split(' ')).collect::<Vec<_>>());
        let line = outcome.success().lines().find(|line| line.contains("rand_seeds[0]="));
        line.and_then(|line| line.split('=').next_back()).map(str::to_owned).expect("a seed")
    };
    assert_eq!(seeds("--randseed=1"), seeds("--randseed=1"));
    assert_ne!(seeds("--randseed=1"), seeds("--randseed=2"));
    assert_ne!(seeds("--randrepeat=0"), seeds("--randrepeat=0"));
    // A seed that is given wins wherever it stands.
    assert_eq!(seeds("--randseed=1 --randrepeat=0"), seeds("--randrepeat=0 --randseed=1"));
}

#[test]
fn questions_are_answered_without_a_run() {
    let sandbox = Sandbox::new();
    assert!(sandbox.fio(&["--version"]).success().starts_with("fio-3."));
    assert!(sandbox.fio(&["--help"]).success().contains("--output-format"));
    assert!(sandbox.fio(&["--cmdhelp=bs"]).success().contains("type"));
    assert!(sandbox.fio(&["--cmdhelp=nosuch"]).success().contains("No such command"));
    assert!(sandbox.fio(&["--enghelp"]).success().contains("io_uring"));
    assert_eq!(sandbox.fio(&["--enghelp=nosuch"]).code, 1);
}

#[test]
fn parse_only_and_showcmd_run_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("j.fio", "[a]\nsize=64k ; small\nfilename=untouched\n");
    assert_eq!(sandbox.fio(&["--parse-only", "j.fio"]).success(), "");
    let line = sandbox.fio(&["--showcmd", "j.fio"]);
    assert_eq!(line.success(), "fio --name=a --size=64k --filename=untouched\n");
    assert!(!sandbox.path("untouched").exists());
}

#[test]
fn no_job_prints_the_usage() {
    let outcome = Sandbox::new().fio(&["--bs=4k"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stdout.contains("[job options] <job file(s)>"), "{}", outcome.stdout);
    assert_eq!(outcome.stderr, "No job(s) defined\n");
}

#[test]
fn plimsoll_fio_is_the_same() {
    let sandbox = Sandbox::new();
    let linked = sandbox.fio(&["--cmdhelp=rw"]);
    let named = sandbox.plimsoll(&["fio", "--cmdhelp=rw"]);
    assert_eq!(linked.success(), named.success());
}

#[test]
fn parse_only_looks_for_the_file_of_an_external_engine() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.so", "");
    let code = |engine: &str| {
        sandbox.write("j.fio", format!("[a]\nioengine={engine}\nsize=64k\n"));
        sandbox.fio(&["--parse-only", "j.fio"]).code
    };
    assert_eq!(code("external:/x/y.so"), 1);
    assert_eq!(code("external:."), 1);
    assert_eq!(code("external:mine.so"), 0);
}

#[test]
fn a_file_may_have_the_name_of_a_stream() {
    let sandbox = Sandbox::new();
    let job = ["--name=a", "--size=64k", "--rw=write", "--filename=./-"];
    sandbox.fio(&job).success();
    let size = std::fs::metadata(sandbox.path("-")).map(|facts| facts.len());
    assert_eq!(size.ok(), Some(64 << 10));
}

/// Starts a command whose output goes to the file `out`, and waits until it has made the file `f`:
/// signals are heard from before then.
fn started(sandbox: &Sandbox, args: &[&str]) -> Child {
    let out = std::fs::File::create(sandbox.path("out")).expect("the folder is ours");
    let err = std::fs::File::create(sandbox.path("err")).expect("the folder is ours");
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.env("TMPDIR", sandbox.path("")).args(args).stdout(out).stderr(err);
    let child = command.spawn().expect("it starts");
    wait_until(|| sandbox.path("f").exists());
    child
}

fn text(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path(name)).expect("it was made")
}

/// Waits as long as a busy host may take.
#[track_caller]
fn wait_until(is_there: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is_there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it does not come within a minute");
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().expect("a process"));
    kill_process(pid.expect("it runs"), signal).expect("it is ours");
}

const ENDLESS: [&str; 7] = [
    "--name=a",
    "--filename=f",
    "--size=64k",
    "--rw=randread",
    "--rate_iops=100",
    "--time_based",
    "--runtime=1000",
];

#[test]
fn a_question_how_it_goes_is_answered_and_the_run_goes_on() {
    let sandbox = Sandbox::new();
    let n_reports = || text(&sandbox, "out").matches("\"fio version\"").count();
    let mut child = started(&sandbox, &[&["fio", "--output-format=json"], &ENDLESS[..]].concat());
    signal(&child, Signal::USR1);
    wait_until(|| n_reports() == 1);
    sandbox.write("fio-dump-status", "");
    wait_until(|| n_reports() == 2);
    assert!(!sandbox.path("fio-dump-status").exists(), "it asks once");
    signal(&child, Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(128));
    assert_eq!((n_reports(), text(&sandbox, "err").as_str()), (3, ""));
}

#[test]
fn run_answers_how_it_goes_beside_its_result() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "j.fio",
        "[a]\nfilename=f\nsize=64k\nrw=randread\nrate_iops=100\ntime_based\nruntime=1000\n",
    );
    let mut child = started(&sandbox, &["run", "--json", "--no-progress", "j.fio"]);
    signal(&child, Signal::USR1);
    wait_until(|| text(&sandbox, "err").contains("IOPS"));
    assert_eq!(text(&sandbox, "out"), "");
    signal(&child, Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    serde_json::from_str::<Value>(&text(&sandbox, "out")).expect("the record and nothing else");
}

#[test]
fn each_failed_clone_counts_in_the_exit_status_of_a_group() {
    let sandbox = Sandbox::new();
    sandbox.write("f", vec![0; 64 << 10]);
    let job = ["--name=a", "--filename=f", "--rw=read", "--verify=crc32c", "--numjobs=3"];
    assert_eq!(sandbox.fio(&job).code, 3);
    assert_eq!(sandbox.fio(&[&job[..], &["--group_reporting"]].concat()).code, 3);
}

/// As many as could not start, whether they are of one group or not; nothing is run.
#[test]
fn each_job_that_cannot_start_counts_in_the_exit_status() {
    let sandbox = Sandbox::new();
    sandbox.write("f", vec![0; 64 << 10]);
    let check = |text: &str, expected: i32| {
        sandbox.write("job.fio", text);
        for switch in ["--group_reporting=0", "--group_reporting"] {
            let outcome = sandbox.fio(&[switch, "job.fio"]);
            assert_eq!(outcome.code, expected, "{text} {switch}: {}", outcome.stderr);
        }
    };
    let missing = "allow_file_create=0\nfilename=n\n";
    let global = "[global]\nsize=64k\nrw=write\n";
    check(&format!("{global}[a]\n{missing}[b]\nfilename=f\n[c]\nfilename=f\n"), 1);
    check(&format!("{global}[a]\n{missing}[b]\n{missing}[c]\nfilename=f\n"), 2);
    check(&format!("{global}[a]\n{missing}[b]\n{missing}[c]\n{missing}"), 3);
    check(&format!("{global}[a]\nnumjobs=2\n{missing}[b]\n{missing}"), 3);
    check(&format!("{global}[a]\nfilename=f/x\n[b]\nstonewall\nfilename=f/x\n"), 2);
    check("[global]\nioengine=null\n[a]\n[b]\n[c]\nsize=4k\n", 2);
    // A mistake of the file, as in fio.
    check(&format!("{global}[a]\ndirectory=x\n[b]\ndirectory=y\n"), 1);
}

/// A record from a pipe can be read once: what is refused is counted by what was found then.
#[test]
fn what_is_refused_is_looked_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write("f", vec![0; 64 << 10]);
    sandbox.write("record", "fio version 2 iolog\nf read 0 4096\n");
    let missing = "filename=n\nsize=4k\nallow_file_create=0\n";
    sandbox.write("job.fio", format!("[a]\nread_iolog=-\n[b]\nnumjobs=2\n{missing}"));
    let record = std::fs::File::open(sandbox.path("record")).expect("it is there");
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    let output = command.args(["fio", "job.fio"]).stdin(record).output().expect("it was built");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("job `b` needs `n`, which does not exist"), "{said}");
}

#[test]
fn files_have_the_size_asked_for_and_what_is_left_of_them_is_left() {
    let sandbox = Sandbox::new();
    let size = |name: &str| std::fs::metadata(sandbox.path(name)).ok().map(|facts| facts.len());
    sandbox.fio(&["--name=a", "--filename=f", "--size=5000k", "--bs=12k"]).success();
    assert_eq!(size("f"), Some(5000 << 10), "not 416 blocks");
    let looped = ["--name=a", "--size=64k", "--rw=write", "--loops=3", "--unlink_each_loop=1"];
    sandbox.fio(&[&looped[..], &["--filename=g"]].concat()).success();
    assert_eq!(size("g"), Some(64 << 10), "the file of the last loop stays");
    let aux = ["--aux-path=aux", "--name=a", "--filename=f", "--size=64k", "--write_lat_log=x"];
    std::fs::create_dir(sandbox.path("aux")).expect("ours");
    sandbox.fio(&aux).success();
    assert!(size("x_lat.1.log").is_some() && size("aux/x_lat.1.log").is_none());
}

#[test]
fn files_made_as_they_are_opened_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let mode = |more: &str| {
        let name = format!("--filename={}", more.trim_start_matches('-'));
        sandbox.fio(&["--name=a", &name, "--size=64k", "--rw=write", more]).success();
        let path = sandbox.path(more.trim_start_matches('-'));
        std::fs::metadata(path).expect("it was written").permissions().mode() & 0o777
    };
    assert_eq!(mode("--create_on_open=1"), 0o600);
    assert_eq!(mode("--create_on_open=0") & 0o600, 0o600);
}

#[test]
fn what_moves_nothing_without_an_end_is_refused() {
    let outcome = Sandbox::new().fio(&["--name=a", "--ioengine=null", "--size=0"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("you need to specify size="), "{}", outcome.stderr);
}
