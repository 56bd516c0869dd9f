//! A run while it goes on: lines of JSON, the page, metrics, a collector.

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::Sandbox;
use record::{Figures, Latency, Record};
use serde_json::Value;

/// Jobs with a ramp, several workers, an open load, and a second step.
const JOB: &str = "[global]\nioengine=null\nbs=4k\nsize=1g\ntime_based\n\
                   [open]\nrw=randrw\nrate_iops=300\nruntime=2\nramp_time=1\nnumjobs=2\n\
                   [closed]\nrw=write\nrate_iops=2000\nruntime=1\ngroup_reporting\nnumjobs=3\n\
                   [later]\nstonewall\nrw=read\nrate_iops=500\nruntime=1\n";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

/// What was done, by host, step, job and kind of operation: operations and bytes.
type Done = BTreeMap<(String, u64, String, String), (u64, u64)>;

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Adds up what the seconds say.
fn of_seconds(lines: &[Value]) -> Done {
    let mut done = Done::new();
    for second in of_kind(lines, "second") {
        for host in array(&second["hosts"]) {
            for job in array(&host["jobs"]) {
                for op in array(&job["ops"]) {
                    let step = number(&second["step_idx"]);
                    let key = (text(&host["host"]), step, text(&job["job"]), text(&op["op"]));
                    let sum = done.entry(key).or_default();
                    sum.0 += number(&op["n_ios"]);
                    sum.1 += number(&op["io_bytes"]);
                }
            }
        }
    }
    done.retain(|_, (n_ios, _)| *n_ios > 0);
    done
}

fn of_record(host: &str, record: &Record, done: &mut Done) {
    for job in &record.jobs {
        for (op, dir) in job.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
            let step = u64::from(job.step_idx);
            let key = (host.to_owned(), step, job.name.clone(), op.to_owned());
            let sum = done.entry(key).or_default();
            sum.0 += dir.n_ios;
            sum.1 += dir.io_bytes;
        }
    }
}

#[test]
fn the_lines_of_a_run_add_up_to_its_record() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let args = ["run", "job.fio", "--json", "--json-stream=lines.json", "--no-progress"];
    let outcome = sandbox.plimsoll(&args);
    let record = Record::from_json(outcome.success()).expect("a record");
    let lines = lines(&std::fs::read_to_string(sandbox.path("lines.json")).expect("lines"));
    let mut expected = Done::new();
    of_record("", &record, &mut expected);
    assert_eq!(of_seconds(&lines), expected);
    assert_eq!(expected.len(), 4, "two directions, and one of two jobs: {expected:?}");

    let begin = &lines[0];
    assert_eq!(begin["kind"], "begin");
    assert_eq!(begin["schema"], "plimsoll.stream/1");
    assert!(text(&begin["plan"]).contains("closed"), "{begin}");
    assert_eq!(begin["command"][1], "run");
    assert_eq!(of_kind(&lines, "step").len(), 2);
    let end = lines.last().expect("a last line");
    assert_eq!((&end["kind"], &end["outcome"]), (&"end".into(), &"complete".into()));
    assert_eq!(end["n_lines_lost"], 0);

    // The last state of a job of one entry is that of the record, to the last digit.
    let job = record.jobs.iter().find(|job| job.name == "later").expect("the job");
    let read = &job.dirs.read;
    let figures = Figures::of(&Latency::Measured(&read.lat)).with_rates(read);
    let of_end = array(&end["jobs"]).iter().find(|it| it["job"] == "later").expect("the job");
    let of_end: Figures = serde_json::from_value(of_end["ops"][0].clone()).expect("figures");
    assert_eq!(of_end, figures);
}

/// A run goes on without its lines, and its exit code says that they are not all there.
#[test]
fn lines_that_cannot_be_written_reach_the_exit_code() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[quick]\nioengine=null\nrw=read\nsize=1m\n");
    let args = ["run", "job.fio", "--json-stream=/dev/full", "--no-progress"];
    let outcome = sandbox.plimsoll(&args);
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    let expected = "error: the run goes on without lines: cannot write to `/dev/full`: no space";
    assert!(outcome.stderr.to_lowercase().contains(expected), "{}", outcome.stderr);
    let stdout = &outcome.stdout;
    assert!(stdout.contains("quick: 1 worker") && !stdout.contains("\"kind\""), "{stdout}");
}

#[test]
fn seconds_have_what_is_in_flight_and_how_late_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--json-stream", "--no-progress"]);
    let lines = lines(outcome.success());
    assert!(outcome.stderr.contains("closed: 3 workers"), "the table: {}", outcome.stderr);
    let seconds = of_kind(&lines, "second");
    let ramps: Vec<&&Value> = seconds.iter().filter(|it| it["is_ramp"] == true).collect();
    assert!(ramps.iter().all(|it| it["dirs"]["read"]["n_ios"] != 0), "rates are known in a ramp");
    let jobs: Vec<&Value> = seconds
        .iter()
        .flat_map(|it| array(&it["hosts"]))
        .flat_map(|host| array(&host["jobs"]))
        .collect();
    assert!(jobs.iter().all(|job| job["n_errors"] == 0));
    assert!(jobs.iter().any(|job| job["n_in_flight"].as_u64() > Some(0)), "{jobs:?}");
    let open = jobs.iter().filter(|job| job["job"] == "open").flat_map(|job| array(&job["ops"]));
    let is_late = |op: &Value| {
        op["start_delay_ns_mean"].is_number() && op["response"]["latency_ns_p99"].is_number()
    };
    // What completes as a second is cut may have its response in the next one.
    let mut many = open.filter(|op| op["n_ios"].as_u64() > Some(8)).peekable();
    assert!(many.peek().is_some());
    assert!(many.all(is_late));
}

#[test]
fn a_curve_is_many_runs_in_one_stream() {
    let sandbox = Sandbox::new();
    let p30 = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/designs/p30.toml");
    let args = ["curve", "/mnt/p30", "--on", p30, "--virtual", "--limit", "p99 < 5ms"];
    let more = [
        "--time",
        "10s",
        "--probes-max",
        "6",
        "--points",
        "2",
        "--repeat",
        "1",
        "--json-stream=lines.json",
    ];
    let outcome = sandbox.plimsoll(&[&args[..], &more, &["--no-progress"]].concat());
    assert!([0, 3].contains(&outcome.code), "{}", outcome.stderr);
    let lines = lines(&std::fs::read_to_string(sandbox.path("lines.json")).expect("lines"));
    let steps = of_kind(&lines, "step");
    let runs: Vec<u64> = steps.iter().map(|step| number(&step["run_idx"])).collect();
    assert_eq!(runs, (0..runs.len() as u64).collect::<Vec<_>>(), "each point is a run");
    assert!(runs.len() > 1);
    assert_eq!(of_kind(&lines, "begin").len(), 1);
    assert_eq!(of_kind(&lines, "end").len(), 1);
    // Time goes on from run to run.
    let ends: Vec<u64> =
        of_kind(&lines, "second").iter().filter_map(|it| it["end_ms"].as_u64()).collect();
    assert!(ends.is_sorted(), "{ends:?}");
}

#[test]
fn two_results_are_not_mixed_on_standard_output() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--json", "--json-stream"]);
    assert_eq!(outcome.code, 2);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("--json-stream=FILE"), "{}", outcome.stderr);
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--watch", "example.org:80"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("such as :7421"), "{}", outcome.stderr);
}

/// A run that is served, and where.
struct Served {
    child: Child,
    /// Of `--watch`, with the token.
    link: String,
    /// Address of each.
    page: String,
    metrics: String,
}

impl Served {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        command.args(["run", "job.fio", "--json", "--no-progress"]);
        command.args(["--watch", ":0", "--metrics", ":0"]).args(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary was built");
        let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut after = |head: &str| {
            let mut line = String::new();
            stderr.read_line(&mut line).expect("a line");
            let rest = line.trim_end().strip_prefix(head);
            rest.unwrap_or_else(|| panic!("no `{head}`: {line}")).to_owned()
        };
        let link = after("watch: http://");
        let metrics = after("metrics: http://");
        let (page, rest) = link.split_once('/').expect("an address and a token");
        let metrics = metrics.strip_suffix("/metrics").expect("its path").to_owned();
        let (page, link) = (page.to_owned(), format!("/{rest}"));
        // What else it says is not read; it is little.
        child.stderr = Some(stderr.into_inner());
        Served { child, link, page, metrics }
    }

    fn end(self) -> Record {
        let output = self.child.wait_with_output().expect("it ends by itself");
        let text = String::from_utf8(output.stdout).expect("text");
        Record::from_json(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

/// Sends bytes, and returns all that comes back.
fn exchange(address: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    // It may answer, and close, before it has read all.
    let _refused = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _reset = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(address: &str, path: &str) -> String {
    exchange(
        address,
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes(),
    )
}

/// Returns the events of a page until it ends.
fn events(served: &Served) -> Vec<Value> {
    let text = get(&served.page, &format!("{}events", served.link));
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
    // The pieces of the transfer stand between, on lines of their own.
    let body: String = unchunked(body);
    let found = body.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    found.map(|event| serde_json::from_str(event).expect("an object")).collect()
}

fn unchunked(body: &str) -> String {
    let mut whole = String::new();
    let mut rest = body;
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).expect("a size");
        if size == 0 {
            break;
        }
        whole.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    whole
}

#[test]
fn the_page_is_for_those_who_know_the_token_and_ends_with_the_record() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let served = Served::start(&sandbox, &[]);
    // A token of the same length.
    let wrong = served.link.replace(|c: char| c.is_ascii_hexdigit(), "0");
    for path in ["/", "/events", "/metrics", "//", &wrong, &format!("{wrong}events")] {
        let refusal = get(&served.page, path);
        assert!(refusal.starts_with("HTTP/1.1 403"), "{path}: {refusal}");
        assert!(refusal.ends_with("\r\n\r\n"), "nothing in it: {refusal}");
    }
    let page = get(&served.page, &served.link);
    let (head, html) = page.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    for header in ["referrer-policy: no-referrer", "cache-control: no-store"] {
        assert!(head.contains(header), "{head}");
    }
    assert!(html.starts_with("<!doctype html>") && html.contains("default-src 'none'"));
    assert!(!html.contains(served.link.trim_matches('/')), "the token is in the link alone");

    let events = events(&served);
    let record = served.end();
    let last = events.last().expect("an event");
    assert_eq!(last["is_over"], true);
    assert!(events.len() > 2, "one a second: {}", events.len());
    let rows: Vec<(String, String, u64)> = array(&last["jobs"]["rows"])
        .iter()
        .map(|row| (text(&row[0]), text(&row[1]), text(&row[2]).parse().expect("a count")))
        .collect();
    let mut expected = Done::new();
    of_record("", &record, &mut expected);
    let expected: Vec<(String, String, u64)> =
        expected.into_iter().map(|((_, _, job, op), (n_ios, _))| (job, op, n_ios)).collect();
    assert_eq!(rows, expected);
    let charts: Vec<String> = array(&last["charts"]).iter().map(|it| text(&it["id"])).collect();
    assert_eq!(charts, ["live-iops", "live-bytes", "live-latency", "live-heat"]);
}

#[test]
fn what_is_no_request_gets_nothing_and_stops_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let served = Served::start(&sandbox, &[]);
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: a\r\n".repeat(1000));
    let requests: [&[u8]; 6] = [
        b"\0\0\0\0\xff\xff\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        long.as_bytes(),
        many.as_bytes(),
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\nx",
    ];
    for address in [&served.page, &served.metrics] {
        for request in requests {
            let mut stream = TcpStream::connect(address.as_str()).expect("it listens");
            let _refused = stream.write_all(request);
            let _closed = stream.shutdown(std::net::Shutdown::Write);
            let mut answer = Vec::new();
            let _reset = stream.read_to_end(&mut answer);
            let answer = String::from_utf8_lossy(&answer);
            assert!(!answer.contains("200 OK"), "{answer}");
        }
    }
    // More connections than there is room for, which say nothing.
    let idle: Vec<TcpStream> =
        (0..100).filter_map(|_| TcpStream::connect(&served.page).ok()).collect();
    let record = served.end();
    assert_eq!(record.outcome, record::Outcome::Complete);
    drop(idle);
}

fn samples(text: &str, name: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name));
    let sample = |line: &str| {
        let (labels, value) = line.rsplit_once(' ')?;
        Some((labels.to_owned(), value.parse().ok()?))
    };
    lines.filter_map(sample).collect()
}

#[test]
fn metrics_are_what_promtool_accepts() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    let served = Served::start(&sandbox, &[]);
    let mut page = String::new();
    // What is measured comes with the first second after the ramp.
    while samples(&page, "plimsoll_operations_total").is_empty() {
        page = get(&served.metrics, "/metrics");
    }
    assert!(get(&served.metrics, "/").starts_with("HTTP/1.1 404"));
    let (head, page) = page.split_once("\r\n\r\n").expect("a head");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    let counts = samples(page, "plimsoll_latency_seconds_count");
    let operations = samples(page, "plimsoll_operations_total");
    assert_eq!(counts.keys().collect::<Vec<_>>(), operations.keys().collect::<Vec<_>>());
    let record = served.end();
    let n_ios: u64 = record.jobs.iter().map(record::JobRecord::n_ios).sum();
    assert!(operations.values().sum::<f64>() <= n_ios as f64);
    if testing::has_program("promtool") {
        let mut command = Command::new("promtool");
        command.args(["check", "metrics"]).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut promtool = command.spawn().expect("it is installed");
        let mut stdin = promtool.stdin.take().expect("a pipe");
        stdin.write_all(page.as_bytes()).expect("it reads");
        drop(stdin);
        let output = promtool.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && said.is_empty(), "{said}");
    }
}

/// Returns an address at which nothing listens.
fn free_address() -> String {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("its address").to_string()
}

/// A Prometheus that looks at a run every second; it ends with what holds it.
struct Prometheus {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    fn start(target: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = format!(
            "scrape_configs:\n- job_name: plimsoll\n  honor_labels: true\n  scrape_interval: 1s\n  \
             static_configs:\n  - targets: ['{target}']\n"
        );
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, config).expect("the folder is ours");
        let address = free_address();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--log.level=error")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        Prometheus { child, address, _folder: folder }
    }

    /// Asks for the values of an expression, by their labels.
    fn ask(&self, expression: &str) -> Vec<(Value, f64)> {
        let Ok(mut stream) = TcpStream::connect(&self.address) else { return Vec::new() };
        let escaped: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let path = format!("/api/v1/query?query={escaped}");
        let request = format!("GET {path} HTTP/1.0\r\nHost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let body = answer.split_once("\r\n\r\n").map_or("", |it| it.1);
        let Ok(answer) = serde_json::from_str::<Value>(body) else { return Vec::new() };
        let value =
            |it: &Value| (it["metric"].clone(), text(&it["value"][1]).parse().expect("a number"));
        array(&answer["data"]["result"]).iter().map(value).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

#[test]
fn a_real_prometheus_reads_a_run() {
    if !testing::has_program("prometheus") {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write(
        "job.fio",
        "[a]\nioengine=null\nbs=4k\nsize=1g\nrw=randread\nrate_iops=1000\ntime_based\nruntime=60\n",
    );
    let served = Served::start(&sandbox, &[]);
    let prometheus = Prometheus::start(&served.metrics);
    // Three looks at it make a rate.
    let rate = "rate(plimsoll_operations_total[10s])";
    let mut tries = (0..600).map(|_| {
        // Not while it waits, but for it to come to its next look.
        std::thread::park_timeout(std::time::Duration::from_millis(100));
        prometheus.ask(rate).first().cloned()
    });
    // The first looks give less: the run began between two of them.
    let is_it = |found: &Option<(Value, f64)>| {
        found.as_ref().is_some_and(|(_, rate)| (500.0..1500.0).contains(rate))
    };
    let found = tries.find(is_it).flatten();
    let (labels, _) = found.expect("the rate of the job within a minute");
    assert_eq!((&labels["job"], &labels["op"]), (&"a".into(), &"read".into()), "{labels}");
    let counted = prometheus
        .ask("plimsoll_operations_total - on (host, job, op) plimsoll_latency_seconds_count");
    assert_eq!(counted.first().map(|it| it.1), Some(0.0), "both are of one moment");
    let median =
        prometheus.ask("histogram_quantile(0.5, rate(plimsoll_latency_seconds_bucket[10s]))");
    let median = median.first().expect("a median").1;
    assert!((1e-7..1.0).contains(&median), "{median}");
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let record = served.end();
    let n_ios = record.jobs[0].n_ios() as f64;
    let seen = prometheus.ask("max_over_time(plimsoll_operations_total[1m])");
    assert!(seen.first().expect("a count").1 <= n_ios, "{seen:?} {n_ios}");
}

/// What a collector was sent: the head and the body of each request.
type Sent = Vec<(String, Vec<u8>)>;

/// Takes requests until one has all; the second one finds it out of order, once.
fn collect(listener: &TcpListener) -> Sent {
    let mut sent = Sent::new();
    // The first connection only looks whether it is there.
    for stream in listener.incoming().skip(1) {
        let mut stream = BufReader::new(stream.expect("a connection"));
        let mut line = String::new();
        let mut head = String::new();
        while stream.read_line(&mut line).is_ok_and(|n| n > 0) {
            head.push_str(&line);
            if line == "\r\n" {
                let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
                let mut body = vec![0; length.expect("a length").parse().expect("a number")];
                stream.read_exact(&mut body).expect("a body");
                let answer: &[u8] = match sent.len() {
                    1 => b"HTTP/1.1 503 Out\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                    _ => b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
                };
                sent.push((std::mem::take(&mut head), body));
                stream.get_mut().write_all(answer).expect("it reads");
            }
            line.clear();
        }
        if sent.last().is_some_and(|(_, body)| counted(body) == COLLECTED) {
            break;
        }
    }
    sent
}

/// Operations of the run that is sent.
const COLLECTED: u64 = 1500;

/// Returns the operations that a request to a collector counts.
fn counted(request: &[u8]) -> u64 {
    let inner = |message: &[u8], number: u64| -> Vec<Vec<u8>> {
        let fields = testing::protobuf_fields(message).into_iter();
        fields.filter(|it| it.0 == number).map(|it| it.1).collect()
    };
    let resources = inner(request, 1);
    let scopes = resources.iter().flat_map(|it| inner(it, 2));
    let metrics = scopes.flat_map(|it| inner(&it, 2));
    let sums = metrics.filter(|it| inner(it, 1) == [b"plimsoll_operations_total"]);
    let points = sums.flat_map(|it| inner(&it, 7)).flat_map(|it| inner(&it, 1));
    let values = points.flat_map(|it| inner(&it, 6));
    values.map(|it| u64::from_le_bytes(it.try_into().expect("eight bytes"))).sum()
}

#[test]
fn a_collector_is_sent_what_the_record_has() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "job.fio",
        format!(
            "[a]\nioengine=null\nbs=4k\nsize=1g\nrw=read\nrate_iops=500\nnumber_ios={COLLECTED}\n"
        ),
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    let collector = std::thread::spawn(move || collect(&listener));
    let run = ["run", "job.fio", "--otlp", &url];
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b");
    let outcome = common::outcome(command.args(run).env(headers.0, headers.1));
    outcome.success();
    let said = outcome.stderr;
    let sent = collector.join().expect("it read all");
    let (head, last) = sent.last().expect("requests");
    assert_eq!(counted(last), COLLECTED, "{} requests", sent.len());
    for part in
        ["POST /v1/metrics HTTP/1.1", "content-type: application/x-protobuf", "api-key: a b"]
    {
        assert!(head.lines().any(|line| line == part), "{part}\n{head}");
    }
    let trouble: Vec<&str> = said.lines().filter(|line| line.starts_with("otlp: ")).collect();
    let [lost, again] = &trouble[..] else { panic!("{said}") };
    assert!(lost.ends_with("does not take the figures: HTTP 503 Service Unavailable"), "{lost}");
    assert!(again.ends_with("takes the figures again") && !said.contains("a b"), "{said}");
}

#[test]
fn a_collector_that_is_not_there_is_found_before_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nioengine=null\nrw=read\nbs=4k\nsize=1m\n");
    let url = format!("http://{}", free_address());
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--otlp", &url]);
    assert_eq!((outcome.code, &*outcome.stdout), (1, ""), "{}", outcome.stderr);
    for part in [&*format!("cannot reach the collector at {url}/v1/metrics"), "refused", "4318"] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
    let refused = sandbox.plimsoll(&["run", "job.fio", "--otlp", "https://collector"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("only http:// is spoken"), "{}", refused.stderr);
}

/// The real collector, where the machine has one, takes all and understands it.
#[test]
fn a_real_collector_takes_a_run() {
    if !testing::has_program("otelcol") {
        return;
    }
    let sandbox = Sandbox::new();
    let address = free_address();
    sandbox.write(
        "otel.yaml",
        format!(
            "receivers: {{otlp: {{protocols: {{http: {{endpoint: '{address}'}}}}}}}}\n\
             exporters: {{debug: {{verbosity: detailed}}}}\n\
             service:\n  telemetry: {{metrics: {{level: none}}}}\n  \
             pipelines: {{metrics: {{receivers: [otlp], exporters: [debug]}}}}\n"
        ),
    );
    sandbox.write(
        "job.fio",
        "[a]\nioengine=null\nbs=4k\nsize=1g\nrw=read\nrate_iops=500\nnumber_ios=1234\n",
    );
    let mut collector = sandbox.command(Path::new("otelcol"));
    collector.args(["--config", "otel.yaml"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut collector = collector.spawn().expect("it is installed");
    let stderr = collector.stderr.take().expect("a pipe");
    let said = std::thread::spawn(move || {
        let mut said = String::new();
        let _whole = BufReader::new(stderr).read_to_string(&mut said);
        said
    });
    while TcpStream::connect(&address).is_err() {
        std::thread::park_timeout(std::time::Duration::from_millis(50));
    }
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--otlp", &format!("http://{address}")]);
    let pid = rustix::process::Pid::from_child(&collector);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    collector.wait().expect("it ends");
    let said = said.join().expect("text");
    assert_eq!(outcome.code, 0, "{}\n{said}", outcome.stderr);
    assert!(!outcome.stderr.contains("otlp:"), "{}", outcome.stderr);
    for part in
        ["-> Name: plimsoll_operations_total", "Value: 1234", "Count: 1234", "IsMonotonic: true"]
    {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

#[test]
fn what_is_no_terminal_is_not_taken() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nioengine=null\nrw=read\nbs=4k\nsize=1m\n");
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--tui"]);
    assert_eq!((outcome.code, &*outcome.stdout), (2, ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`--tui` needs a terminal"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains('\x1b'), "nothing was drawn: {}", outcome.stderr);
}
