//! What a run of many agents costs its controller: `cargo bench -p fleet`, or `-- 1000 30` for
//! 1,000 agents and 30 seconds.
//!
//! The controller is the real one, in this process, and so are the connections: TCP, TLS, gRPC. The
//! agents are real, too, all in one process of their own; only their load is made up. Each has two
//! kinds of operation of 200 a second, whose latencies spread over two decades. Printed are the
//! processor time of the controller as part of one core, its memory, and how long after a second
//! has ended it stands in the whole, all of its frames added.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use fleet::agent::{Agent, Event};
use fleet::controller::{LossPolicy, News};
use fleet::launch::Launcher;
use fleet::launch::dial_in::DialIn;
use fleet::monotonic_ns;
use fleet::net::dial::{Ways, dial};
use fleet::run::{Fleet, FleetEvent};
use fleet::serve::{Runs, serve_session};
use fleet::stops::Stops;
use fleet::token::Token;
use fleet::wire::{Assignment, Inspect};
use record::{Interval, JobRecord, Outcome, Record};
use rustix::time::{ClockId, clock_gettime};

const SECOND_NS: u64 = 1_000_000_000;

/// Operations of a kind that an agent does in a second.
const OPS_PER_S: u64 = 200;

/// Files of the folder that both processes have.
const TOKEN: &str = "token";
const START: &str = "start";

/// How long agents may take to come.
const WAIT: Duration = Duration::from_mins(2);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().expect("a number");
    match args[..] {
        ["agents", address, folder, n_agents, n_seconds] => {
            be_agents(address, Path::new(folder), number(n_agents), number(n_seconds));
        }
        [n_agents, n_seconds] => measure(number(n_agents), number(n_seconds)),
        [] => [100, 1000].into_iter().for_each(|n_agents| measure(n_agents, 30)),
        _ => println!("usage: cargo bench -p fleet [-- AGENTS SECONDS]"),
    }
}

/// Runs the controller, and prints what it cost.
fn measure(n_agents: u64, n_seconds: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let token = Token::create(&folder.path().join(TOKEN)).expect("the folder is ours");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    listener.set_nonblocking(true).expect("it is a socket");
    let agents = Agents::start(&address, folder.path(), n_agents, n_seconds);
    let n = usize::try_from(n_agents).expect("a number of hosts");
    let fleet = Fleet {
        launcher: Launcher::DialIn(DialIn { listener, token, n_agents: n, wait: WAIT }),
        assignment: Assignment::default(),
        policy: LossPolicy::Continue,
        plans: Vec::new(),
        ledger: None,
    };
    let mut seen = Seen::begin(folder.path());
    let record = fleet.run(&Stops::new(), &mut |event| seen.take(&event)).expect("a run");
    drop(agents);
    let n_ios: u64 = record.jobs.iter().map(JobRecord::n_ios).sum();
    assert_eq!(n_ios, 2 * OPS_PER_S * n_agents * n_seconds, "every operation is counted once");
    assert_eq!(record.outcome, Outcome::Complete);
    seen.print(n_agents);
}

/// The processor time of this process.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
}

/// What was seen of a run: times, and the processor time at each.
struct Seen<'a> {
    folder: &'a Path,
    begun_ns: u64,
    /// When all were ready, and what it had cost until then.
    ready_ns: u64,
    ready_cpu_ns: u64,
    /// When the load begins, as an agent says; they have the clock of this host.
    start_ns: Option<u64>,
    last_ns: u64,
    last_cpu_ns: u64,
    /// How late each second was whole.
    late_ns: Vec<u64>,
}

impl Seen<'_> {
    fn begin(folder: &Path) -> Seen<'_> {
        let begun_ns = monotonic_ns();
        let (ready_ns, ready_cpu_ns, last_ns, last_cpu_ns) = (0, 0, 0, 0);
        let (start_ns, late_ns) = (None, Vec::new());
        Seen { folder, begun_ns, ready_ns, ready_cpu_ns, start_ns, last_ns, last_cpu_ns, late_ns }
    }

    fn take(&mut self, event: &FleetEvent<'_>) {
        let now_ns = monotonic_ns();
        match event {
            FleetEvent::News(News::Starts(..), _) => {
                (self.ready_ns, self.ready_cpu_ns) = (now_ns, cpu_ns());
            }
            FleetEvent::Interval(interval) => {
                let start_ns = *self.start_ns.get_or_insert_with(|| {
                    let start = std::fs::read_to_string(self.folder.join(START));
                    start.expect("an agent has begun").parse().expect("a number")
                });
                let ended_ns = start_ns + interval.end_ms * 1_000_000;
                self.late_ns.push(now_ns.saturating_sub(ended_ns));
                (self.last_ns, self.last_cpu_ns) = (now_ns, cpu_ns());
            }
            FleetEvent::Lobby(_)
            | FleetEvent::News(..)
            | FleetEvent::TakenBack(..)
            | FleetEvent::LedgerFailed(_)
            | FleetEvent::Report(..) => {}
        }
    }

    fn print(mut self, n_agents: u64) {
        self.late_ns.sort_unstable();
        let late_ns = |share: f64| {
            let idx = (self.late_ns.len() - 1) as f64 * share;
            self.late_ns[idx as usize] as f64 / 1e6
        };
        let share =
            (self.last_cpu_ns - self.ready_cpu_ns) as f64 / (self.last_ns - self.ready_ns) as f64;
        println!(
            "{n_agents:>5} agents: all ready after {:.1} s; {:.1} % of a core, at most {} MiB; a \
             second is whole after {:.0} ms (median), {:.0} ms at most; {:.1} s of processor",
            (self.ready_ns - self.begun_ns) as f64 / 1e9,
            100.0 * share,
            testing::status_kib("VmHWM") >> 10,
            late_ns(0.5),
            late_ns(1.0),
            cpu_ns() as f64 / 1e9,
        );
    }
}

/// The process of the agents; it ends with what holds it.
struct Agents(Child);

impl Agents {
    fn start(address: &str, folder: &Path, n_agents: u64, n_seconds: u64) -> Agents {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args(["agents", address])
            .arg(folder)
            .args([n_agents, n_seconds].map(|n| n.to_string()));
        Agents(command.stdin(Stdio::null()).spawn().expect("this program"))
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

fn be_agents(address: &str, folder: &Path, n_agents: u64, n_seconds: u64) {
    let token = Token::read(&folder.join(TOKEN)).expect("the token of the controller");
    let token = Arc::new(token);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let all = tokio::task::LocalSet::new();
    all.block_on(&runtime.expect("a runtime"), async {
        let agents = (0..n_agents).map(|idx| {
            let (address, token) = (address.to_owned(), Arc::clone(&token));
            let start = (idx == 0).then(|| folder.join(START));
            tokio::task::spawn_local(async move {
                let ways = Ways::new(vec![address]);
                let session = dial(&ways, &token, WAIT, &|_| {}).await.expect("a controller");
                let agent = Agent::new(format!("h{idx}"), "0".to_owned(), idx, monotonic_ns());
                let load = Arc::new(MadeUp { idx, n_seconds, start, ..MadeUp::default() });
                serve_session(session, agent, load).await.expect("a whole run");
            })
        });
        for agent in agents.collect::<Vec<_>>() {
            agent.await.expect("it does not panic");
        }
    });
}

/// A load that is made up.
#[derive(Default)]
struct MadeUp {
    idx: u64,
    n_seconds: u64,
    /// Where it says when it began.
    start: Option<PathBuf>,
    start_ns: Mutex<Option<u64>>,
    has_start: Condvar,
}

impl MadeUp {
    /// Waits for the start, which may be put off until it has come.
    fn await_start(&self) -> u64 {
        let mut start_ns = self.start_ns.lock().expect("no panic");
        loop {
            let left_ns = start_ns.map(|at_ns| at_ns.saturating_sub(monotonic_ns()));
            let wait = match left_ns {
                Some(0) => return start_ns.expect("it is there"),
                Some(left_ns) => Duration::from_nanos(left_ns),
                None => WAIT,
            };
            start_ns = self.has_start.wait_timeout(start_ns, wait).expect("no panic").0;
        }
    }

    /// Adds what was done in a second.
    fn add(&self, record: &mut Record, second: u64) {
        let dirs = &mut record.jobs[0].dirs;
        let mut interval = Interval { length_ms: 1000, ..Interval::default() };
        interval.end_ms = (second + 1) * 1000;
        for (dir, of_second) in
            [(&mut dirs.read, &mut interval.dirs.read), (&mut dirs.write, &mut interval.dirs.write)]
        {
            dir.n_ios += OPS_PER_S;
            dir.io_bytes += 4096 * OPS_PER_S;
            of_second.n_ios = OPS_PER_S;
            of_second.io_bytes = 4096 * OPS_PER_S;
            for op in 0..OPS_PER_S {
                // From 100 us to 10 ms, another sequence for each host and second.
                let mixed = (op + 7 * self.idx + 13 * second) * 0x9e37_79b9 % 1000;
                let latency_ns = (1e5 * 100_f64.powf(mixed as f64 / 1000.0)) as u64;
                dir.lat.record_n(latency_ns, 1);
                dir.clat.record_n(latency_ns - 5000, 1);
            }
        }
        record.intervals.push(interval);
    }
}

impl Runs for MadeUp {
    fn begin(&self) {}

    fn run(&self, _: &Assignment, tell: &dyn Fn(Event)) {
        tell(Event::Ready(0));
        let start_ns = self.await_start();
        if let Some(path) = &self.start {
            std::fs::write(path, start_ns.to_string()).expect("the folder is ours");
        }
        let job = JobRecord { name: "load".to_owned(), n_workers: 1, ..JobRecord::default() };
        let plimsoll_version = "0".to_owned();
        let mut record = Record { plimsoll_version, jobs: vec![job], ..Record::default() };
        for second in 0..self.n_seconds {
            let end_ns = start_ns + (second + 1) * SECOND_NS;
            std::thread::sleep(Duration::from_nanos(end_ns.saturating_sub(monotonic_ns())));
            self.add(&mut record, second);
            if second + 1 < self.n_seconds {
                tell(Event::Report(Box::new(record.clone())));
            }
        }
        record.outcome = Outcome::Complete;
        tell(Event::Ended(Box::new(record)));
    }

    fn lay_out(&self, _: u32) {}

    fn start_step(&self, _: u32, at_ns: u64) {
        *self.start_ns.lock().expect("no panic") = Some(at_ns);
        self.has_start.notify_all();
    }

    fn stop(&self, _: bool) {}

    fn inspect(&self, _: &Inspect) -> Vec<u8> {
        Vec::new()
    }
}
