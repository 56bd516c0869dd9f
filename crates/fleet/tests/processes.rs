//! A controller and agents as processes that speak over pipes. The agents are this test's own
//! program again: in the place of ssh, a shell starts them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fleet::agent::{Agent, Event};
use fleet::controller::{LossPolicy, News};
use fleet::hosts;
use fleet::inspect::{Checkup, HostFacts, inspect};
use fleet::launch::Launcher;
use fleet::launch::ssh::{Program, Ssh};
use fleet::run::{Fleet, FleetError, FleetEvent, Series};
use fleet::serve::{Runs, serve};
use fleet::stops::Stops;
use fleet::wire::{Assignment, Inspect};
use record::{JobRecord, Outcome, Record};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt as _;

/// What stands in ssh's place, without its first line. `mute` has a program that does not come up,
/// `still` says nothing until its input ends.
const SSH: &str = r#"
while [ "$1" != -- ]; do shift; done
case "$2" in
    mute) echo plimsoll-have; echo "sh: 1: plimsoll: Exec format error" >&2; exit 126;;
    still) exec cat >/dev/null;;
esac
export FLEET_AGENT="$2"
exec "$0" --exact the_agent_of_a_host --nocapture 2>/dev/null
"#;

/// A run of so many operations, once its step is started.
struct OneStep {
    n_ios: u64,
    start: Mutex<Option<Sender<Option<u64>>>>,
    /// When to start; none where it is to end.
    started: Mutex<Receiver<Option<u64>>>,
}

impl OneStep {
    fn tell(&self, start_ns: Option<u64>) {
        if let Some(start) = &*self.start.lock().expect("no test panics with it") {
            let _ended = start.send(start_ns);
        }
    }
}

impl Runs for OneStep {
    fn begin(&self) {}

    fn run(&self, _: &Assignment, tell: &dyn Fn(Event)) {
        tell(Event::Ready(0));
        let start_ns = self.started.lock().expect("one run").recv().expect("a start or an end");
        let mut job = JobRecord::default();
        let mut record = Record { plimsoll_version: "0".to_owned(), ..Record::default() };
        record.host.name = std::process::id().to_string();
        if let Some(start_ns) = start_ns {
            let wait_ns = start_ns.saturating_sub(fleet::monotonic_ns());
            std::thread::sleep(Duration::from_nanos(wait_ns));
            job.dirs.read.n_ios = self.n_ios;
            job.dirs.read.lat.record_n(1000, self.n_ios);
        } else {
            record.outcome = Outcome::Interrupted;
        }
        record.jobs.push(job);
        tell(Event::Report(Box::new(record.clone())));
        tell(Event::Ended(Box::new(record)));
    }

    fn lay_out(&self, _: u32) {}

    fn start_step(&self, _: u32, at_ns: u64) {
        self.tell(Some(at_ns));
    }

    fn stop(&self, _: bool) {
        self.tell(None);
    }

    fn inspect(&self, _: &Inspect) -> Vec<u8> {
        let facts = HostFacts { program_version: "0".to_owned(), ..HostFacts::default() };
        serde_json::to_vec(&facts).expect("facts are JSON")
    }
}

/// Is the agent of a host where a controller below asks for one, and nothing else.
#[test]
#[expect(clippy::disallowed_methods, reason = "how the shell tells this program what it is")]
fn the_agent_of_a_host() {
    let Ok(name) = std::env::var("FLEET_AGENT") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (start, started) = channel();
    let (start, started) = (Mutex::new(Some(start)), Mutex::new(started));
    let runs = Arc::new(OneStep { n_ios: 100, start, started });
    let agent = Agent::new(name, "0".to_owned(), 1, fleet::monotonic_ns());
    let served = runtime.block_on(async {
        let mut output = tokio::io::stdout();
        // What libtest prints before this is a greeting.
        output.write_all(b"\nplimsoll-have\n").await.expect("a pipe");
        output.flush().await.expect("a pipe");
        serve(tokio::io::join(tokio::io::stdin(), output), agent, runs).await
    });
    runtime.shutdown_background();
    // Its words have no one who reads them; a controller that ended early is one of the cases.
    drop(served);
}

fn fleet(list: &str, policy: LossPolicy) -> Fleet {
    fleet_by(&shell(), list, policy)
}

/// The command of the shell that stands in ssh's place.
fn shell() -> [String; 4] {
    let program = std::env::current_exe().expect("it runs");
    ["sh", "-c", SSH, &program.to_string_lossy()].map(str::to_owned)
}

/// What calls hosts by this command.
fn ssh(command: &[String]) -> Ssh {
    let program = std::env::current_exe().expect("it runs");
    let program = Program::read(&program).expect("it is there");
    Ssh { command: command.to_vec(), program }
}

/// A fleet whose hosts are called by this command.
fn fleet_by(command: &[String], list: &str, policy: LossPolicy) -> Fleet {
    Fleet {
        launcher: Launcher::Ssh(ssh(command), hosts::parse(list).expect("a list")),
        assignment: Assignment::default(),
        policy,
        plans: Vec::new(),
        ledger: None,
    }
}

#[test]
fn agents_come_run_and_leave() {
    let mut starts = Vec::new();
    let record = fleet("a,b", LossPolicy::Abort).run(&Stops::new(), &mut |event| {
        if let FleetEvent::News(News::Starts(step_idx, n_hosts), _) = event {
            starts.push((*step_idx, *n_hosts));
        }
    });
    let record = record.expect("a record");
    assert_eq!(starts, [(0, 2)]);
    assert_eq!(record.outcome, Outcome::Complete);
    assert_eq!(record.jobs.iter().map(JobRecord::n_ios).sum::<u64>(), 200);
}

/// The processes of a record's hosts.
fn processes(record: &Record) -> Vec<String> {
    record.hosts.iter().map(|host| host.record.host.name.clone()).collect()
}

#[test]
fn agents_stay_for_one_run_after_another_and_who_is_lost_is_called_again() {
    let launcher = Launcher::Ssh(ssh(&shell()), hosts::parse("a,b").expect("a list"));
    let mut series = Series::new(&launcher, LossPolicy::Abort).expect("a series");
    let mut run = || {
        let record = series.run(&Assignment::default(), &Stops::new(), &mut |_| {});
        record.expect("a record")
    };
    let (first, second) = (run(), run());
    for record in [&first, &second] {
        assert_eq!(record.outcome, Outcome::Complete);
        let n_ios = record.jobs.iter().map(JobRecord::n_ios).sum::<u64>();
        assert_eq!(n_ios, 200, "of this run alone");
    }
    assert_eq!(processes(&first), processes(&second), "the same agents");
    let b = processes(&second)[1].parse().expect("a number");
    kill_process(Pid::from_raw(b).expect("not 0"), Signal::KILL).expect("it is ours");
    // Where its end is heard only in the next run, that one lacks it.
    let third = Some(run()).filter(|it| it.outcome == Outcome::Complete).unwrap_or_else(run);
    assert_eq!(third.outcome, Outcome::Complete);
    assert_eq!(third.jobs.iter().map(JobRecord::n_ios).sum::<u64>(), 200);
    assert_eq!(processes(&third)[0], processes(&first)[0], "the other one has stayed");
    assert_ne!(processes(&third)[1], processes(&first)[1], "it was called again");
}

#[test]
fn an_agent_that_does_not_come_up_is_told_of_in_its_own_words() {
    let refused = fleet("a,mute", LossPolicy::Continue).run(&Stops::new(), &mut |_| {});
    let Err(FleetError::Refused(hosts)) = refused else { panic!("{refused:?}") };
    let said = vec!["sh: 1: plimsoll: Exec format error".to_owned()];
    assert_eq!(hosts, [("mute".to_owned(), said)]);
    let record = fleet("a,mute", LossPolicy::AtLeast(1)).run(&Stops::new(), &mut |_| {});
    assert_eq!(record.expect("of one of them").outcome, Outcome::Partial);
}

#[test]
fn a_stop_before_all_have_come_is_one() {
    let stops = Stops::new();
    stops.ask();
    let stopped = fleet("a,still", LossPolicy::Abort).run(&stops, &mut |_| {});
    assert!(matches!(stopped, Err(FleetError::Stopped)), "{stopped:?}");
}

#[test]
fn a_client_that_is_not_there_is_named() {
    let fleet = fleet_by(&["/nowhere/ssh".to_owned()], "a", LossPolicy::Continue);
    let refused = fleet.run(&Stops::new(), &mut |_| {});
    let Err(FleetError::Refused(hosts)) = refused else { panic!("{refused:?}") };
    assert_eq!(hosts[0].1, ["cannot start `/nowhere/ssh`: No such file or directory"]);
}

#[test]
fn hosts_say_what_they_are() {
    let hosts = hosts::parse("a,mute,b").expect("a list");
    let checkup = Checkup { ssh: ssh(&shell()), hosts, request: Inspect::default() };
    let reports = inspect(&checkup, &Stops::new(), &mut |_, _| {}).expect("they were called");
    let [a, mute, b] = &reports[..] else { panic!("three hosts: {reports:?}") };
    for report in [a, b] {
        let facts = report.facts.as_ref().expect("it answered");
        assert_eq!(facts.program_version, "0", "{report:?}");
        let offset = report.offset.expect("it said its time");
        // Both read the clock of this host.
        assert!(offset.offset_ns.unsigned_abs() <= offset.error_ns, "{report:?}");
        assert!(report.transfer.is_some_and(|it| it.n_bytes > 0), "{report:?}");
    }
    assert_eq!(mute.facts, Err("sh: 1: plimsoll: Exec format error".to_owned()));
}
