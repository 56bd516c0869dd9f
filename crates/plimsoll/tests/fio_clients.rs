//! `fio --server` and `--client`: real processes over the loopback.

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use common::{Outcome, Sandbox};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Two jobs that end with an amount: 512 and 256 operations.
const TWO: &str = "[global]\nioengine=null\nbs=4k\n[one]\nrw=randread\nsize=2m\n\
                   [two]\nrw=write\nsize=1m\n";

/// One job of 128 operations.
const SOLO: &str = "[global]\nioengine=null\nbs=8k\n[solo]\nrw=randread\nsize=1m\n";

/// A server in a folder of its own, ended with the test.
struct Server {
    process: Child,
    stdout: BufReader<ChildStdout>,
    /// Where it is, as clients name it.
    place: String,
}

impl Server {
    fn start(sandbox: &Sandbox, place: &str) -> Self {
        let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        command.args(["fio", &format!("--server={place}"), "--token-file=t"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the binary was built");
        let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("text");
        let Some(place) = line.trim_end().strip_prefix("fio: server listening on ") else {
            let mut said = String::new();
            let _read = process.stderr.take().expect("a pipe").read_to_string(&mut said);
            panic!("it does not listen: {line}{said}");
        };
        Server { place: place.to_owned(), process, stdout }
    }

    fn port(&self) -> u16 {
        self.place.rsplit(',').next().and_then(|port| port.parse().ok()).expect("a port")
    }

    /// Ends it as a user would. Returns what it said, and the exit code.
    fn end(mut self) -> (i32, String) {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, Signal::TERM).expect("it runs");
        let mut said = String::new();
        self.stdout.read_to_string(&mut said).expect("text");
        let mut stderr = self.process.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut said).expect("text");
        (self.process.wait().expect("it ends").code().expect("by itself"), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _ended = self.process.wait();
    }
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.plimsoll(&["fleet", "token", "-o", "t"]).success();
    sandbox.write("two.fio", TWO);
    sandbox.write("solo.fio", SOLO);
    sandbox
}

fn client(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    sandbox.plimsoll(&[&["fio", "--token-file=t"], args].concat())
}

/// Runs a client whose reports are JSON.
#[track_caller]
fn json(sandbox: &Sandbox, args: &[&str]) -> Value {
    let outcome = client(sandbox, &[&["--output-format=json"], args].concat());
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{}", outcome.stdout);
    serde_json::from_str(&outcome.stdout).expect("JSON and nothing else")
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns each entry as `jobname host port reads writes`.
fn entries(report: &Value) -> Vec<String> {
    let entries = report["client_stats"].as_array().expect("a list").iter();
    let entry = |it: &Value| {
        let (reads, writes) = (&it["read"]["total_ios"], &it["write"]["total_ios"]);
        let name = it["jobname"].as_str().expect("a name");
        let host = it["hostname"].as_str().expect("a name");
        format!("{name} {host} {} {reads} {writes}", it["port"])
    };
    entries.map(entry).collect()
}

#[test]
fn a_server_runs_the_jobs_of_a_client() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "127.0.0.1,0");
    let outcome = client(&sandbox, &[&format!("--client={}", server.place), "two.fio"]);
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{}", outcome.stdout);
    let (vm, text) = (host_name(), &outcome.stdout);
    assert!(text.starts_with(&format!("hostname={vm}, os=Linux, fio=fio-")), "{text}");
    for line in [
        format!("<{vm}> one: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, "),
        format!("<{vm}> Starting 2 processes\n<{vm}> \none: (groupid=0, jobs=1): err= 0: pid="),
        "\ntwo: (groupid=0, jobs=1): err= 0: pid=".to_owned(),
        "\nRun status group 0 (all jobs):\n".to_owned(),
        "\nAll clients: (groupid=0, jobs=2): err= 0: pid=0: ".to_owned(),
        "     issued rwts: total=512,256,0,0 ".to_owned(),
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }
    // A client that has one entry has no sum.
    let outcome = client(&sandbox, &[&format!("--client={}", server.place), "solo.fio"]);
    assert!(!outcome.stdout.contains("All clients"), "{}", outcome.stdout);
    let (code, said) = server.end();
    assert_eq!((code, &*said), (0, ""));
}

#[test]
fn clients_have_job_files_of_their_own_or_those_of_all() {
    let sandbox = sandbox();
    let [a, _b] = ["127.0.0.1,0", "sock:s"].map(|place| Server::start(&sandbox, place));
    let port = a.port();
    let both = [&format!("--client=ip:{}", a.place), "two.fio", "--client=sock:s", "solo.fio"];
    let report = json(&sandbox, &both);
    let of_a = [format!("one 127.0.0.1 {port} 512 0"), format!("two 127.0.0.1 {port} 0 256")];
    let of_b = ["solo s 0 128 0".to_owned(), "All clients s 0 640 256".to_owned()];
    assert_eq!(entries(&report), [of_a.clone(), of_b].concat());
    let sum = &report["client_stats"][3];
    assert_eq!(sum["read"]["clat_ns"]["N"], 640, "histograms add up");
    let own = &report["client_stats"][0]["job options"];
    assert_eq!(own, &json!({"rw": "randread", "size": "2m"}), "and no global ones");
    assert!(sum.get("job options").is_none() && sum.get("latency_depth").is_none());
    assert!(report["fio version"].as_str().expect("text").starts_with("fio-3."));
    // Of each server its own; of one alone, all there are.
    let global = report["global options"].as_array().expect("a list");
    let global: Vec<_> = global.iter().map(|it| (&it["hostname"], &it["bs"])).collect();
    assert_eq!(global, [(&json!("127.0.0.1"), &json!("4k")), (&json!("s"), &json!("8k"))]);
    let report = json(&sandbox, &["--client=sock:s", "solo.fio"]);
    assert_eq!(report["global options"], json!({"ioengine": "null", "bs": "8k"}));
    let report = json(&sandbox, &both);
    assert_eq!(report["disk_util"], Value::Array(Vec::new()));

    // One that has none of its own runs what all do; a file lists hosts.
    sandbox.write("hosts", format!("{}\nsock:s\n", a.place));
    let of_b = |n: u32, m: u32| format!("All clients s 0 {n} {m}");
    let report = json(&sandbox, &["--client=hosts", "two.fio"]);
    assert_eq!(entries(&report).last(), Some(&of_b(1024, 512)));
    let listed = format!("--client={}", a.place);
    let report = json(&sandbox, &[&listed, "solo.fio", "--client=sock:s", "--", "two.fio"]);
    assert_eq!(entries(&report).last(), Some(&of_b(128 + 512, 256)));
    let on_line = ["--name=x", "--ioengine=null", "--rw=read", "--size=1m", &listed];
    assert_eq!(entries(&json(&sandbox, &on_line)), [format!("x 127.0.0.1 {port} 256 0")]);
}

/// Checks what a client says that nothing came of.
#[track_caller]
fn check_refused(sandbox: &Sandbox, args: &[&str], parts: &[&str]) {
    let outcome = client(sandbox, args);
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    assert!(!outcome.stdout.contains("err="), "{}", outcome.stdout);
    for part in parts {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
}

#[test]
fn who_has_no_token_or_another_one_gets_nothing() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "127.0.0.1,0");
    let at = format!("--client={}", server.place);
    let plain = sandbox.plimsoll(&["fio", &at, "two.fio"]);
    assert_eq!(plain.code, 1);
    for part in ["--token-file=FILE", "PLIMSOLL_TOKEN_FILE", "plimsoll fleet token -o FILE"] {
        assert!(plain.stderr.contains(part), "{}", plain.stderr);
    }
    assert_eq!(sandbox.plimsoll(&["fio", "--server"]).code, 1, "nor does a server listen");
    sandbox.plimsoll(&["fleet", "token", "-o", "other"]).success();
    let outcome = sandbox.plimsoll(&["fio", "--token-file=other", &at, "two.fio"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("has another token"), "{}", outcome.stderr);
    // The variable does as well.
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.env("PLIMSOLL_TOKEN_FILE", "t").args(["fio", &at, "two.fio"]);
    assert_eq!(common::outcome(&mut command).code, 0);
}

#[test]
fn strangers_hear_that_this_is_not_fio() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "127.0.0.1,0");
    // Nothing listens there; then what does is no server of ours.
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = free.local_addr().expect("it is bound").port();
    drop(free);
    let at = format!("--client=127.0.0.1,{port}");
    let refused = format!("failed to connect to 127.0.0.1:{port}: Connection refused");
    check_refused(&sandbox, &[&at, "two.fio"], &[&refused]);
    // One that is not there keeps the others from running.
    let both = [&format!("--client={}", server.place), "two.fio", &at, "two.fio"];
    check_refused(&sandbox, &both, &[&refused]);
    let stranger = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = stranger.local_addr().expect("it is bound").port();
    let hanging_up = std::thread::spawn(move || {
        let (mut stream, _) = stranger.accept().expect("a client calls");
        let _read = stream.read(&mut [0; 24]);
    });
    let at = format!("--client=127.0.0.1,{port}");
    let parts = ["is no server of plimsoll", "fio's own servers", "`plimsoll fio --server`"];
    check_refused(&sandbox, &[&at, "two.fio"], &parts);
    hanging_up.join().expect("no panic");
    let mut stranger = TcpStream::connect(server.place.replace(',', ":")).expect("it listens");
    stranger.write_all(&PROBE).expect("the pipe takes it");
    stranger.shutdown(Shutdown::Write).expect("it is open");
    let mut answer = Vec::new();
    let _reset = stranger.read_to_end(&mut answer);
    let words = "fio's network format is not spoken here";
    assert!(String::from_utf8_lossy(&answer).contains(words), "{answer:?}");
    let (code, said) = server.end();
    assert_eq!(code, 0);
    assert!(said.contains(words), "{said}");
}

/// What a client of fio 3.33 says first: it asks for the version.
const PROBE: [u8; 24] =
    *b"\x61\0\x0a\0\0\0\0\0\x50\x8a\x23\x0b\xb3\x55\0\0\x88\0\0\0\x38\xe8\x9a\xec";

/// Where fio is installed: its own programs at either end.
#[test]
fn fio_itself_hears_so_and_is_told_apart() {
    let sandbox = sandbox();
    let fio = |args: &[&str]| {
        let mut command = sandbox.command(Path::new("fio"));
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn()
    };
    let server = Server::start(&sandbox, "127.0.0.1,0");
    let Ok(client_of_fio) = fio(&[&format!("--client={}", server.place), "two.fio"]) else {
        testing::skipped!("fio is not installed");
        return;
    };
    let output = client_of_fio.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("fio's network format is not spoken here"), "{text}");
    assert_eq!(output.status.code(), Some(1));
    let mut server_of_fio = fio(&["--server=sock:theirs"]).expect("it is installed");
    while !sandbox.path("theirs").exists() {
        std::thread::yield_now();
    }
    let parts = ["is no server of plimsoll", "fio's own servers"];
    let mut outcome = client(&sandbox, &["--client=sock:theirs", "two.fio"]);
    while outcome.stderr.contains("Connection refused") {
        // It has made its socket, and does not listen yet.
        outcome = client(&sandbox, &["--client=sock:theirs", "two.fio"]);
    }
    assert_eq!(outcome.code, 1);
    assert!(parts.iter().all(|part| outcome.stderr.contains(part)), "{}", outcome.stderr);
    server_of_fio.kill().expect("it runs");
    server_of_fio.wait().expect("it ends");
}

#[test]
fn a_server_in_the_background_runs_files_of_its_own() {
    let sandbox = sandbox();
    let server = ["fio", "--server=sock:s", "--daemonize=pid", "--token-file=t"];
    let started = sandbox.plimsoll(&server);
    assert_eq!((started.code, &*started.stdout, &*started.stderr), (0, "", ""));
    let pid = std::fs::read_to_string(sandbox.path("pid")).expect("it was written");
    let pid = Pid::from_raw(pid.trim().parse().expect("a number")).expect("a process");
    let report = json(&sandbox, &["--client=sock:s", "--remote-config=two.fio"]);
    assert_eq!(entries(&report), ["one s 0 512 0", "two s 0 0 256", "All clients s 0 512 256"]);
    let missing = ["--client=sock:s", "--remote-config=none.fio"];
    check_refused(&sandbox, &missing, &["<s>", "`none.fio`"]);
    // A second one finds the place taken.
    let second = sandbox.plimsoll(&["fio", "--server=sock:s", "--daemonize=p2", "--token-file=t"]);
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains("cannot listen at s: Address already in use"));
    assert!(!sandbox.path("p2").exists());
    kill_process(pid, Signal::TERM).expect("it runs");
}

#[test]
fn mistakes_are_told_before_anything_is_called() {
    let sandbox = sandbox();
    sandbox.write("bad.fio", "[a]\nioengine=null\nbs=huge\nsize=1m\n");
    check_refused(&sandbox, &["--client=nowhere", "bad.fio"], &["bad.fio:3:"]);
    check_refused(&sandbox, &["--client=nowhere", "none.fio"], &["none.fio"]);
    check_refused(&sandbox, &["--client=nowhere"], &["no job"]);
    check_refused(&sandbox, &["--client=nowhere,99999", "two.fio"], &["`99999` is no port"]);
    check_refused(&sandbox, &["--client=a", "--server"], &["give one"]);
    check_refused(&sandbox, &["--daemonize=p", "two.fio"], &["write `--server` beside it"]);
}

/// A job that runs for long.
const LONG: &str = "[long]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\ntime_based\n\
                    runtime=600\nrate_iops=100\n";

/// Starts a client of a long job, and waits until it has reported something of it.
fn started(sandbox: &Sandbox, server: &Server) -> Child {
    sandbox.write("long.fio", LONG);
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["fio", "--token-file=t", "--status-interval=1", "long.fio"]);
    command.arg(format!("--client={}", server.place));
    let mut client = command.stdout(Stdio::piped()).spawn().expect("the binary was built");
    let stdout = BufReader::new(client.stdout.as_mut().expect("a pipe"));
    let mut lines = stdout.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("issued rwts")), "it reports");
    client
}

#[test]
fn a_client_that_is_gone_ends_its_jobs_and_not_the_server() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "127.0.0.1,0");
    let mut killed = started(&sandbox, &server);
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    // One that is asked to end tells the server, which has nothing to say.
    let mut asked = started(&sandbox, &server);
    kill_process(Pid::from_child(&asked), Signal::INT).expect("it runs");
    let mut rest = String::new();
    asked.stdout.take().expect("a pipe").read_to_string(&mut rest).expect("text");
    assert_eq!(asked.wait().expect("it ends").code(), Some(128), "as fio itself: {rest}");
    assert!(rest.contains("fio: terminating on signal 2"), "{rest}");
    let port = server.port();
    let report = json(&sandbox, &[&format!("--client={}", server.place), "solo.fio"]);
    assert_eq!(entries(&report), [format!("solo 127.0.0.1 {port} 128 0")]);
    let (code, said) = server.end();
    assert_eq!((code, &*said), (0, "fio: the client is gone: its jobs were ended\n"));
}

#[test]
fn what_a_server_has_to_say_goes_to_its_client() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "127.0.0.1,0");
    let (at, host) = (format!("--client={}", server.place), host_name());
    // Where no folder can be made: the job fails where it runs.
    sandbox.write("fails.fio", "[fails]\nrw=write\nbs=4k\nsize=64k\nfilename=/proc/nope/x\n");
    let failed = client(&sandbox, &[&at, "fails.fio"]);
    assert_eq!(failed.code, 1, "{}{}", failed.stdout, failed.stderr);
    let why = format!("<{host}> fio: fails: cannot create `/proc/nope/");
    assert!(failed.stderr.starts_with(&why), "{}", failed.stderr);
    assert_eq!(failed.stderr.lines().count(), 1, "once: {}", failed.stderr);
    let line = "client <127.0.0.1>: exited with error 1\n";
    assert_eq!(failed.stdout.matches(line).count(), 1, "{}", failed.stdout);
    // The line about files that are laid out is that of the run, before its results.
    let job = "[made]\nrw=read\nbs=4k\nsize=2m\nnrfiles=2\ndirectory=files\n";
    sandbox.write("made.fio", job);
    std::fs::create_dir(sandbox.path("files")).expect("it is new");
    let made = client(&sandbox, &[&at, "made.fio"]);
    let line = format!("<{host}> made: Laying out IO files (2 files / total 2MiB)\n");
    let (before, _) = made.success().split_once("made: (groupid=0").expect("its results");
    assert_eq!(before.matches(&line).count(), 1, "{before}");
    // As on fio's servers, names that are generated in a folder begin with the client's address.
    let names = testing::names_in(&sandbox.path("files"));
    assert_eq!(names, ["127.0.0.1.made.0.0", "127.0.0.1.made.0.1"]);
    sandbox.write("plainly.fio", job.to_owned() + "unique_filename=0\n");
    client(&sandbox, &[&at, "plainly.fio"]).success();
    let names = testing::names_in(&sandbox.path("files"));
    assert_eq!(names[2..], ["made.0.0", "made.0.1"]);
}

#[test]
fn the_time_left_is_that_of_all_servers() {
    let sandbox = sandbox();
    let servers = ["127.0.0.1,0", "sock:s"].map(|place| Server::start(&sandbox, place));
    sandbox.write("timed.fio", LONG.replace("runtime=600", "runtime=4"));
    let at = format!("--client={}", servers[0].place);
    let both = [&*at, "timed.fio", "--client=sock:s", "timed.fio"];
    let outcome = client(&sandbox, &[&["--eta=always"], &both[..]].concat());
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{}", outcome.stdout);
    let lines: Vec<&str> = outcome.stdout.split(['\r', '\n']).collect();
    let of_both = |line: &&&str| line.starts_with("Jobs: 2 (f=2), 0-200 IOPS: [r(2)]");
    let shown: Vec<&&str> = lines.iter().filter(of_both).collect();
    assert!(!shown.is_empty(), "{}", outcome.stdout);
    assert!(shown.iter().all(|line| line.contains("%]") && line.contains("[eta 00m:0")));
    assert!(shown.iter().any(|line| line.contains("[r=")), "{shown:?}");
    let quiet = client(&sandbox, &[&at, "solo.fio", "--eta=never"]);
    assert!(!quiet.stdout.contains("Jobs:"), "{}", quiet.stdout);
}

#[test]
fn what_a_host_refuses_is_told_with_its_name() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "127.0.0.1,0");
    let job = "[a]\nioengine=null\nsize=1m\nexec_prerun=touch here\n";
    sandbox.write("command.fio", job);
    let at = format!("--client={}", server.place);
    check_refused(
        &sandbox,
        &[&at, "command.fio"],
        &["<127.0.0.1> job `a` runs a command: `touch here`\n"],
    );
    assert!(!sandbox.path("here").exists(), "no client runs commands on a server");
}
