//! Agents that dial in: real processes over the loopback, and strangers beside them.

mod common;

use std::io::{BufRead, BufReader, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Outcome, Sandbox};
use record::Record;

/// A job of 100 operations a second and worker.
const JOB: &str = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\ntime_based\nruntime=2\n\
                   rate_iops=100\nnumjobs=2\ngroup_reporting\n";

/// A controller that listens.
struct Controller {
    child: Child,
    said: BufReader<ChildStderr>,
    address: SocketAddr,
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", JOB);
    sandbox
}

fn command(sandbox: &Sandbox, args: &[&str]) -> Command {
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(args);
    command
}

/// Reads where a controller says that it listens.
fn address_in(said: &mut impl BufRead) -> SocketAddr {
    let mut text = String::new();
    while !text.contains("--join ") {
        assert!(said.read_line(&mut text).expect("text") > 0, "it ended: {text}");
    }
    let (_, rest) = text.split_once("--join ").expect("it is there");
    rest.split_whitespace().next().and_then(|it| it.parse().ok()).expect("an address")
}

impl Controller {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let run = ["run", "job.fio", "--json", "--token-file", "t", "--listen", "127.0.0.1:0"];
        Self::begin(command(sandbox, &run).args(args))
    }

    /// Starts it, and reads where it listens.
    fn begin(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary was built");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let address = address_in(&mut said);
        Controller { child, said, address }
    }

    /// Reads what it says up to a line with this in it.
    #[track_caller]
    fn hears(&mut self, part: &str) {
        let mut said = String::new();
        while !said.lines().last().is_some_and(|line| line.contains(part)) {
            let n = self.said.read_line(&mut said).expect("text");
            assert!(n > 0, "it did not say `{part}`: {said}");
        }
    }

    fn outcome(mut self) -> Outcome {
        // Both pipes are read at once: a record fills its own.
        let mut stderr = self.said.buffer().to_vec();
        self.child.stderr = Some(self.said.into_inner());
        let output = self.child.wait_with_output().expect("it ends");
        stderr.extend(output.stderr);
        let stderr = String::from_utf8(stderr).expect("text");
        let stdout = String::from_utf8(output.stdout).expect("text");
        Outcome { code: output.status.code().expect("it ends by itself"), stdout, stderr }
    }
}

fn agent_command(sandbox: &Sandbox, address: SocketAddr, args: &[&str]) -> Command {
    let address = address.to_string();
    let mut agent = command(sandbox, &["agent", "--join", &address]);
    agent.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    agent
}

fn agent(sandbox: &Sandbox, address: SocketAddr, args: &[&str]) -> Child {
    let mut agent = agent_command(sandbox, address, args);
    agent.args(["--token-file", "t"]).spawn().expect("the binary was built")
}

fn ended(agent: Child) -> Outcome {
    let output = agent.wait_with_output().expect("it ends");
    Outcome {
        code: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Checks that two hosts with two workers of 100 operations a second did their part.
#[track_caller]
fn check_two(controller: Controller, names: [&str; 2]) {
    let outcome = controller.outcome();
    let record = Record::from_json(outcome.success()).expect("a record");
    let found: Vec<&str> = record.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(found, names);
    let of_host: Vec<u64> = record.hosts.iter().map(|host| host.record.jobs[0].n_ios()).collect();
    assert!(of_host.iter().all(|n| (300..=400).contains(n)), "{of_host:?}");
    assert_eq!(record.outcome, record::Outcome::Complete);
    assert_eq!(record.jobs[0].n_ios(), of_host.iter().sum::<u64>());
    assert_eq!(record.jobs[0].dirs.read.lat.count(), record.jobs[0].n_ios());
}

#[test]
fn two_agents_dial_in_and_run() {
    let sandbox = sandbox();
    let mut controller = Controller::start(&sandbox, &["--agents", "2"]);
    let mode = std::fs::metadata(sandbox.path("t")).expect("it was made").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let one = agent(&sandbox, controller.address, &["--name", "vm"]);
    controller.hears("`vm` has come: 1 of 2");
    let other = agent(&sandbox, controller.address, &["--name", "vm"]);
    controller.hears("`vm#2` has come: 2 of 2");
    check_two(controller, ["vm", "vm#2"]);
    for agent in [one, other] {
        let outcome = ended(agent);
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""));
    }
}

#[test]
fn agents_wait_for_their_controller_and_have_the_hosts_name() {
    let sandbox = sandbox();
    sandbox.plimsoll(&["fleet", "token", "-o", "t"]).success();
    let port = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = port.local_addr().expect("it is bound");
    drop(port);
    let mut agents = [agent(&sandbox, address, &[]), agent(&sandbox, address, &[])];
    for agent in &mut agents {
        let mut said = BufReader::new(agent.stderr.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("text");
        let waits = format!("waiting for the controller at {address}: Connection refused");
        assert!(line.starts_with(&waits), "{line}");
        line.clear();
        said.read_line(&mut line).expect("text");
        let next = format!(
            "trying for 5m (--join-limit); there, start `plimsoll run` with `--agents N --listen \
             {address}` and the same token file\n"
        );
        assert_eq!(line, next);
    }
    let listen = address.to_string();
    let run = ["run", "job.fio", "--json", "--token-file", "t", "--agents", "2"];
    let controller = Controller::begin(command(&sandbox, &run).args(["--listen", &listen]));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    check_two(controller, [&host, &format!("{host}#2")]);
    for agent in agents {
        assert_eq!(ended(agent).code, 0);
    }
}

/// A suite of one step of reads of a file that all share.
fn suite_of(time: &str) -> String {
    format!(
        "schema = \"plimsoll.suite/1\"\nname = \"mine\"\ntitle = \"mine\"\n\
         [prepare]\nsize = \"4m\"\n\
         [[part]]\nname = \"reads\"\nrw = \"randread\"\ntime = \"{time}\"\nramp = \"0s\"\n"
    )
}

/// Begins a bench on the folder `shared`, and so many agents for it.
fn bench(sandbox: &Sandbox, n_agents: usize, args: &[&str]) -> (Controller, Vec<Child>) {
    std::fs::create_dir(sandbox.path("shared")).expect("it is ours");
    let n = n_agents.to_string();
    let what = ["bench", "shared", "--json", "--report", "none", "--token-file", "t"];
    let from = ["--listen", "127.0.0.1:0", "--agents", &n];
    let controller = Controller::begin(command(sandbox, &what).args(from).args(args));
    let names = ["a", "b", "c"].iter().take(n_agents);
    let agents = names.map(|name| agent(sandbox, controller.address, &["--name", name]));
    let agents = agents.collect();
    (controller, agents)
}

/// Nothing of a bench is left in the folder.
#[track_caller]
fn is_clean(sandbox: &Sandbox) {
    assert_eq!(testing::names_in(&sandbox.path("shared")), Vec::<String>::new());
}

#[test]
fn a_suite_is_measured_by_the_first_agents_while_the_others_stay() {
    let sandbox = sandbox();
    sandbox.write("mine.toml", suite_of("500ms"));
    let args = ["--suite", "mine.toml", "--scale-out", "3,1"];
    let (controller, agents) = bench(&sandbox, 3, &args);
    let outcome = controller.outcome();
    // So short a step is not always steady.
    assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let suite = record.suite.as_ref().expect("a suite");
    let labels: Vec<&str> = suite.rows.iter().map(|row| &*row.label).collect();
    assert_eq!(labels, ["fill", "reads, 1 host", "reads, 3 hosts"]);
    let n_ios = |step_idx: u32| {
        let of_host = |host: &record::HostShareRecord| -> u64 {
            let jobs = host.record.jobs.iter().filter(|job| job.step_idx == step_idx);
            jobs.map(record::JobRecord::n_ios).sum()
        };
        record.hosts.iter().map(of_host).filter(|n| *n > 0).count()
    };
    assert_eq!([n_ios(0), n_ios(1), n_ios(2)], [1, 1, 3], "who did something in each step");
    for agent in agents {
        let outcome = ended(agent);
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "it came once, and stayed");
    }
    is_clean(&sandbox);
}

#[test]
fn a_need_is_one_of_all_agents() {
    let sandbox = sandbox();
    let args = ["--need", "iops=100,p50<5s", "--set", "size=4m,time=1s,ramp=500ms"];
    let (controller, agents) = bench(&sandbox, 2, &args);
    let outcome = controller.outcome();
    assert!(matches!(outcome.code, 0 | 3), "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    let names: Vec<&str> = record.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let suite = record.suite.as_ref().expect("a suite");
    let [need] = &suite.needs[..] else { panic!("one need: {:?}", suite.needs) };
    let verdict = need.verdict.words();
    assert_eq!(verdict, if outcome.code == 0 { "met" } else { "cannot tell" }, "{need:?}");
    for agent in agents {
        assert_eq!(ended(agent).code, 0);
    }
    is_clean(&sandbox);
}

#[test]
fn an_agent_that_is_lost_ends_a_suite_and_the_others_remove_its_file() {
    let sandbox = sandbox();
    sandbox.write("mine.toml", suite_of("60s"));
    let shown = ["--progress", "--status-interval", "100ms"];
    let args = ["--suite", "mine.toml", "--on-loss", "abort"];
    let (mut controller, mut agents) = bench(&sandbox, 2, &[&args[..], &shown].concat());
    controller.hears("fill ");
    controller.hears("IOPS");
    let mut lost = agents.remove(1);
    lost.kill().expect("it is ours");
    lost.wait().expect("it is ours");
    let outcome = controller.outcome();
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    assert_eq!(record.outcome, record::Outcome::Partial, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("is left on the hosts"), "{}", outcome.stderr);
    for agent in agents {
        assert_eq!(ended(agent).code, 0);
    }
    is_clean(&sandbox);
}

#[test]
fn what_stands_against_a_bench_is_said_before_agents_are_asked_for() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("shared")).expect("it is ours");
    let what = ["bench", "shared", "--agents", "3", "--token-file", "t"];
    for (args, said) in [
        (&["--scale-out", "2,4"][..], "`--scale-out 4` wants more hosts than the 3 named"),
        (&["--on-loss", "4"], "`--on-loss 4` wants more hosts than the 3 named"),
        (&["--on-loss", "2"], "`--on-loss 2` goes on with fewer hosts"),
        (&["--on-loss", "2", "--need", "iops=5"], "`--on-loss 2` goes on with fewer hosts"),
        (&["more"], "with `--agents` one target is measured"),
        (&["--hosts", "a,b"], "cannot be used with"),
        (&["--on", "p30.toml", "--virtual"], ""),
    ] {
        let outcome = sandbox.plimsoll(&[&what[..], args].concat());
        assert_eq!(outcome.code, 2, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{args:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("waiting for"), "{args:?}: {}", outcome.stderr);
    }
    assert!(!sandbox.path("t").exists(), "nothing was asked for");
}

#[test]
fn one_too_many_hears_so_and_ends() {
    let sandbox = sandbox();
    let mut controller = Controller::start(&sandbox, &["--agents", "2"]);
    let agents = ["a", "b"].map(|name| agent(&sandbox, controller.address, &["--name", name]));
    controller.hears("2 of 2");
    let surplus = ended(agent(&sandbox, controller.address, &["--name", "c"]));
    assert_eq!(surplus.code, 1, "{}", surplus.stderr);
    let said = "the run has its 2 agents: this one is too many";
    assert!(surplus.stderr.contains(said), "{}", surplus.stderr);
    check_two(controller, ["a", "b"]);
    for agent in agents {
        assert_eq!(ended(agent).code, 0);
    }
}

#[test]
fn too_few_in_time_are_named() {
    let sandbox = sandbox();
    let controller = Controller::start(&sandbox, &["--agents", "3", "--wait", "5s"]);
    let agents = ["b", "a"].map(|name| agent(&sandbox, controller.address, &["--name", name]));
    let outcome = controller.outcome();
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let said = "of 3 agents 2 came within 5 s: a, b";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    for agent in agents {
        let outcome = ended(agent);
        assert_eq!(outcome.code, 1);
        assert!(outcome.stderr.contains("the run does not begin"), "{}", outcome.stderr);
    }
}

#[test]
fn enough_begin_without_those_who_do_not_come() {
    let sandbox = sandbox();
    let args = ["--agents", "2", "--wait", "5s", "--on-loss", "1"];
    let controller = Controller::start(&sandbox, &args);
    let only = agent(&sandbox, controller.address, &["--name", "a"]);
    let outcome = controller.outcome();
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    assert_eq!(record.outcome, record::Outcome::Partial);
    let [there, absent] = &record.hosts[..] else { panic!("two places") };
    assert_eq!((&*there.name, &*absent.name), ("a", "agent-2-of-2"));
    let reason = &absent.lost.as_ref().expect("it did not come").reason;
    assert_eq!(reason, "it did not come within 5 s");
    assert_eq!(ended(only).code, 0);
}

#[test]
fn the_wait_can_be_interrupted_on_both_sides() {
    let sandbox = sandbox();
    let mut controller = Controller::start(&sandbox, &["--agents", "2"]);
    let waiting = agent(&sandbox, controller.address, &["--name", "a"]);
    controller.hears("`a` has come: 1 of 2");
    interrupt(&waiting);
    assert_eq!(ended(waiting).code, 130);
    controller.hears("`a` is gone again: 0 of 2");
    let waiting = agent(&sandbox, controller.address, &["--name", "a"]);
    controller.hears("`a` has come: 1 of 2");
    interrupt(&controller.child);
    assert_eq!(controller.outcome().code, 130);
    assert!(ended(waiting).stderr.contains("the run does not begin"));
}

fn interrupt(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is ours");
}

#[test]
fn a_token_that_others_can_use_is_refused_on_both_sides() {
    let sandbox = sandbox();
    sandbox.plimsoll(&["fleet", "token", "-o", "t"]).success();
    let again = sandbox.plimsoll(&["fleet", "token", "-o", "t"]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("`t` exists already"), "{}", again.stderr);
    let mode = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(sandbox.path("t"), mode).expect("it is ours");
    for args in [
        &["run", "job.fio", "--agents", "1", "--token-file", "t"][..],
        &["agent", "--join", "127.0.0.1:9", "--token-file", "t"],
    ] {
        let outcome = sandbox.plimsoll(args);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("hint: type `chmod 600 t`"), "{}", outcome.stderr);
    }
}

#[test]
fn no_controller_in_time_is_an_error_that_says_why() {
    let sandbox = sandbox();
    sandbox.plimsoll(&["fleet", "token", "-o", "t"]).success();
    let port = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = port.local_addr().expect("it is bound");
    drop(port);
    let outcome = ended(agent(&sandbox, address, &["--join-limit", "300ms"]));
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let said = format!("no controller answers at {address} for 300 ms: Connection refused");
    assert!(outcome.stderr.contains(&said), "{}", outcome.stderr);
}

/// Carries connections to a controller, until it breaks them.
struct Carrier {
    address: SocketAddr,
    carried: Arc<Mutex<Vec<TcpStream>>>,
}

impl Carrier {
    fn to(controller: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let carried = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&carried);
        // It ends with the process.
        std::thread::spawn(move || {
            for agent in listener.incoming().flatten() {
                let Ok(there) = TcpStream::connect(controller) else { continue };
                for (from, to) in [(&agent, &there), (&there, &agent)] {
                    let (mut from, mut to) = (twin(from), twin(to));
                    std::thread::spawn(move || {
                        let _broken = std::io::copy(&mut from, &mut to);
                        let _gone = to.shutdown(Shutdown::Write);
                    });
                }
                list.lock().expect("no panic").extend([agent, there]);
            }
        });
        Carrier { address, carried }
    }

    /// Breaks all that it carries. Returns how many connections those were.
    fn break_all(&self) -> usize {
        let broken = std::mem::take(&mut *self.carried.lock().expect("no panic"));
        for stream in &broken {
            let _gone = stream.shutdown(Shutdown::Both);
        }
        broken.len() / 2
    }
}

fn twin(stream: &TcpStream) -> TcpStream {
    stream.try_clone().expect("a descriptor")
}

#[test]
fn an_agent_whose_connection_breaks_calls_again_and_goes_on() {
    let sandbox = sandbox();
    // 300 operations of each host, however often it is heard of.
    let job = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\nnumber_ios=300\nrate_iops=100\n";
    sandbox.write("job.fio", job);
    let shown = ["--agents", "2", "--on-loss", "abort", "--progress", "--status-interval", "100ms"];
    let mut controller = Controller::start(&sandbox, &shown);
    let carrier = Carrier::to(controller.address);
    let one = agent(&sandbox, controller.address, &["--name", "a"]);
    let other = agent(&sandbox, carrier.address, &["--name", "b"]);
    controller.hears("IOPS");
    for _ in 0..2 {
        assert_eq!(carrier.break_all(), 1);
        controller.hears("it has 10 s to call again");
        controller.hears("`b` is back after 0.");
    }
    let outcome = controller.outcome();
    let record = Record::from_json(outcome.success()).expect("a record");
    assert_eq!(record.outcome, record::Outcome::Complete);
    let of_host: Vec<u64> = record.hosts.iter().map(|host| host.record.jobs[0].n_ios()).collect();
    assert_eq!(of_host, [300, 300]);
    assert_eq!(record.jobs[0].dirs.read.lat.count(), 600);
    let by_second: u64 = record.intervals.iter().map(|it| it.dirs.read.n_ios).sum();
    assert_eq!(by_second, 600);
    let (one, other) = (ended(one), ended(other));
    assert_eq!((one.code, &*one.stderr, other.code), (0, "", 0));
    let lost = format!("the connection to {} ended: calling again, for 30 s", carrier.address);
    let back = format!("connected to {} again after 0.", carrier.address);
    let lines: Vec<&str> = other.stderr.lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for pair in lines.chunks(2) {
        assert!(pair[0] == lost && pair[1].starts_with(&back), "{pair:?}");
    }
}

/// A relay between agents and the controller at this address.
fn relay(sandbox: &Sandbox, address: SocketAddr) -> Controller {
    let relay = ["agent", "--token-file", "t", "--relay", "127.0.0.1:0", "--join"];
    Controller::begin(command(sandbox, &relay).arg(address.to_string()))
}

/// Connections that stand to this port of the loopback.
fn n_connections(address: SocketAddr) -> usize {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("a table");
    let is_there = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.get(3) == Some(&"01") && words[1].ends_with(&format!(":{:04X}", address.port()))
    };
    table.lines().skip(1).filter(|line| is_there(line)).count()
}

#[test]
fn agents_of_a_relay_that_is_killed_go_on_by_another() {
    let sandbox = sandbox();
    let job = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\nnumber_ios=300\nrate_iops=100\n";
    sandbox.write("job.fio", job);
    let shown = ["--agents", "3", "--on-loss", "abort", "--progress", "--status-interval", "100ms"];
    let mut controller = Controller::start(&sandbox, &shown);
    let mut relays = [0; 2].map(|_| relay(&sandbox, controller.address));
    for relay in &mut relays {
        relay.hears("connected to");
    }
    let ways = format!("{},{}", relays[0].address, relays[1].address);
    let agents = ["a", "b", "c"].map(|name| {
        let args = ["agent", "--token-file", "t", "--join", &ways, "--name", name];
        let mut agent = command(&sandbox, &args);
        agent.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built")
    });
    relays[0].hears("3 agents here");
    controller.hears("IOPS");
    assert_eq!(n_connections(controller.address), 2, "those of the relays");
    relays[0].child.kill().expect("it is ours");
    relays[1].hears("3 agents here");
    let outcome = controller.outcome();
    let record = Record::from_json(outcome.success()).expect("a record");
    assert_eq!(record.outcome, record::Outcome::Complete);
    let of_host: Vec<u64> = record.hosts.iter().map(|host| host.record.jobs[0].n_ios()).collect();
    assert_eq!(of_host, [300, 300, 300]);
    assert_eq!(record.jobs[0].dirs.read.lat.count(), 900);
    for agent in agents {
        let outcome = ended(agent);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let back = format!("connected to {} again after 0.", ways.replace(',', ", "));
        assert!(outcome.stderr.contains(&back), "{}", outcome.stderr);
    }
    relays[1].hears("the connection to");
    for relay in &mut relays {
        let _ended_before = relay.child.kill();
        relay.child.wait().expect("it is ours");
    }
}

#[test]
fn a_relay_without_a_controller_says_so_and_takes_no_agent() {
    let sandbox = sandbox();
    assert_eq!(
        command(&sandbox, &["fleet", "token", "-o", "t"]).status().expect("it runs").code(),
        Some(0)
    );
    // A port on which nothing listens any more.
    let nothing = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its own");
    let mut relay = relay(&sandbox, nothing);
    relay.hears("waiting for the controller at");
    let agent = agent(&sandbox, relay.address, &["--name", "a", "--join-limit", "1s"]);
    let outcome = ended(agent);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("no room, or no controller"), "{}", outcome.stderr);
    interrupt(&relay.child);
    assert_eq!(relay.child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn an_agent_of_a_controller_that_was_killed_has_no_part_in_the_run_of_the_next() {
    let sandbox = sandbox();
    sandbox.write("job.fio", JOB.replace("runtime=2", "runtime=600"));
    let shown = ["--agents", "1", "--progress", "--status-interval", "100ms"];
    let mut controller = Controller::start(&sandbox, &shown);
    let address = controller.address;
    let agent_of_first = agent(&sandbox, address, &["--name", "a"]);
    controller.hears("IOPS");
    controller.child.kill().expect("it is ours");
    controller.child.wait().expect("it is ours");
    sandbox.write("job.fio", JOB);
    let run = ["run", "job.fio", "--json", "--token-file", "t", "--agents", "2"];
    let next = Controller::begin(command(&sandbox, &run).args(["--listen", &address.to_string()]));
    let outcome = ended(agent_of_first);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    let said = "the controller says: it is in a run of another controller, which is gone";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    let agents = ["a", "b"].map(|name| agent(&sandbox, address, &["--name", name]));
    check_two(next, ["a", "b"]);
    for agent in agents {
        assert_eq!(ended(agent).code, 0);
    }
}

#[test]
fn a_controller_that_was_killed_takes_its_run_back() {
    let sandbox = sandbox();
    let job = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\nnumber_ios=500\nrate_iops=100\n";
    sandbox.write("job.fio", job);
    let run = ["run", "job.fio", "--json", "--token-file", "t", "--agents", "2", "--on-loss"];
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its own").to_string();
    drop(listener);
    let rest = ["abort", "--resume", "l", "--listen", &address, "--progress"];
    let often = ["--status-interval", "100ms"];
    let begin = || Controller::begin(command(&sandbox, &run).args(rest).args(often));
    let mut controller = begin();
    let agents = ["a", "b"].map(|name| agent(&sandbox, controller.address, &["--name", name]));
    controller.hears("IOPS");
    std::thread::sleep(Duration::from_secs(1));
    controller.child.kill().expect("it is ours");
    controller.child.wait().expect("it is ours");
    std::thread::sleep(Duration::from_secs(1));
    let mut controller = begin();
    controller.hears("took back a run of 2 agents, ");
    controller.hears("IOPS");
    let outcome = controller.outcome();
    let record = Record::from_json(outcome.success()).expect("a record");
    assert_eq!(record.outcome, record::Outcome::Complete);
    let of_host: Vec<u64> = record.hosts.iter().map(|host| host.record.jobs[0].n_ios()).collect();
    assert_eq!(of_host, [500, 500]);
    assert_eq!(record.jobs[0].dirs.read.lat.count(), 1000);
    let by_second: u64 = record.intervals.iter().map(|it| it.dirs.read.n_ios).sum();
    assert_eq!(by_second, 1000);
    for agent in agents {
        let outcome = ended(agent);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(" again after "), "{}", outcome.stderr);
    }
    assert!(!sandbox.path("l").exists(), "nothing is left to be taken back");
}

#[test]
fn a_run_of_another_command_is_not_taken_back() {
    let sandbox = sandbox();
    let run = ["run", "--json", "--token-file", "t", "--agents", "1", "--resume", "l", "--listen"];
    let mut begun = Controller::begin(command(&sandbox, &run).args(["127.0.0.1:0", "job.fio"]));
    let mut agent = agent(&sandbox, begun.address, &["--name", "a"]);
    begun.hears("`a` has come: 1 of 1");
    let in_use = command(&sandbox, &run).args(["127.0.0.1:0", "job.fio"]).output();
    let in_use = in_use.expect("it runs");
    let said = String::from_utf8_lossy(&in_use.stderr);
    assert!(said.contains("`l` is in use by another controller"), "{said}");
    while std::fs::metadata(sandbox.path("l")).expect("it is there").len() < 200 {
        std::thread::sleep(Duration::from_millis(10));
    }
    begun.child.kill().expect("it is ours");
    begun.child.wait().expect("it is ours");
    let other = command(&sandbox, &run).args(["127.0.0.1:0", "job.fio", "--split"]).output();
    let other = other.expect("it runs");
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(said.contains("`l` has the run of another command"), "{said}");
    agent.kill().expect("it is ours");
    agent.wait().expect("it is ours");
}

/// A stranger's connection with these bytes on it, held open.
fn knock(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("anyone may knock");
    stream.set_write_timeout(Some(Duration::from_secs(10))).expect("it is set");
    // The door may be shut by then.
    let _ = stream.write_all(bytes);
    stream
}

/// A message of 1 GiB, as far as its head says, in gRPC over HTTP/2.
fn huge_message() -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/plimsoll.fleet.v1.Fleet/Session"),
        (":authority", "controller"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ] {
        headers.push(0);
        for text in [name, value] {
            headers.push(text.len() as u8);
            headers.extend(text.as_bytes());
        }
    }
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let n_bytes = (payload.len() as u32).to_be_bytes();
        [&n_bytes[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
    };
    let mut message = vec![0, 0x40, 0, 0, 0];
    message.extend([0; 1000]);
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
        frame(1, 4, 1, &headers),
        frame(0, 0, 1, &message),
    ]
    .concat()
}

/// Sends bytes as an agent that has the token, and reads until the controller ends the session.
async fn send_as_agent(sandbox: &Sandbox, address: SocketAddr, bytes: &[u8]) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let token = fleet::token::Token::read(&sandbox.path("t")).expect("the token");
    let stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
    let connector = fleet::net::tls::connector(&token);
    let name = fleet::net::tls::peer_name();
    let mut stream = connector.connect(name, stream).await.expect("it has the token");
    stream.write_all(bytes).await.expect("it is let in");
    stream.flush().await.expect("it is let in");
    let ending = async {
        loop {
            let mut head = [0; 9];
            if stream.read_exact(&mut head).await.is_err() {
                return;
            }
            let n_bytes = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let mut payload = vec![0; n_bytes as usize];
            stream.read_exact(&mut payload).await.expect("a whole frame");
            // The end of the stream, or its reset.
            if (head[3] == 1 && head[4] & 1 == 1) || head[3] == 3 {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_mins(1), ending).await.expect("it is ended");
}

#[test]
fn strangers_get_nothing_and_stop_nothing() {
    let sandbox = sandbox();
    let mut controller = Controller::start(&sandbox, &["--agents", "2"]);
    let address = controller.address;
    let one = agent(&sandbox, address, &["--name", "a"]);
    controller.hears("1 of 2");
    // More than may stand at the door, each with nothing or a part of a handshake.
    let idle: Vec<TcpStream> =
        (0..600).map(|n| knock(address, &b"\x16\x03\x01"[..n % 4])).collect();
    let http2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let others = [knock(address, http2), knock(address, &vec![0xa5; 1 << 20])];
    sandbox.plimsoll(&["fleet", "token", "-o", "other"]).success();
    let mut stranger = agent_command(&sandbox, address, &["--token-file", "other"]);
    let stranger = ended(stranger.spawn().expect("the binary was built"));
    assert_eq!(stranger.code, 1, "{}", stranger.stderr);
    let said = format!("error: the controller at {address} has another token");
    assert!(stranger.stderr.starts_with(&said), "{}", stranger.stderr);
    // Those who have the token and misuse it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(send_as_agent(&sandbox, address, &huge_message()));
    let other = agent(&sandbox, address, &["--name", "b"]);
    controller.hears("2 of 2");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(send_as_agent(&sandbox, address, &huge_message()));
    check_two(controller, ["a", "b"]);
    for agent in [one, other] {
        assert_eq!(ended(agent).code, 0);
    }
    drop((idle, others));
}

#[test]
fn a_controller_without_descriptors_goes_on_when_it_has_some() {
    let sandbox = sandbox();
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let script = format!(
        "ulimit -n 64; exec '{program}' run job.fio --json --token-file t --agents 2 \
         --listen 127.0.0.1:0"
    );
    let mut shell = sandbox.command(Path::new("sh"));
    let mut controller = Controller::begin(shell.args(["-c", &script]));
    let idle: Vec<TcpStream> = (0..200).map(|_| knock(controller.address, b"")).collect();
    let agents = ["a", "b"].map(|name| agent(&sandbox, controller.address, &["--name", name]));
    controller.hears("2 of 2");
    check_two(controller, ["a", "b"]);
    for agent in agents {
        assert_eq!(ended(agent).code, 0);
    }
    drop(idle);
}
