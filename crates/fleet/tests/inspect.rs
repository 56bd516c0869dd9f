//! Hosts before a run: what is said of what was found, and how hosts are asked.

use fleet::clock::Offset;
use fleet::controller::{Action, Event};
use fleet::inspect::{
    ClockReading, Finding, HostFacts, HostReport, Inspection, LinkFacts, Severity, TargetFacts,
    Transfer, judge,
};
use fleet::wire::from_agent::Kind as From;
use fleet::wire::to_agent::Kind as To;
use fleet::wire::{Hello, Inspect, Inspected, Piece, Pong};
use fleet::{PROTOCOL_MAJOR, PROTOCOL_MINOR};
use record::{HostRecord, PlaceRecord};

use Severity::{Caution, Doubt, Unfit, Unreachable};

const MS: u64 = 1_000_000;

/// A host on which nothing stands against a run: an NFS mount of 1 TiB.
fn fine(name: &str) -> HostReport {
    let host = HostRecord {
        kernel: "Linux 6.1.0".to_owned(),
        n_cpus: 8,
        memory_bytes: 32 << 30,
        ..HostRecord::default()
    };
    let program_version = "0.1.0".to_owned();
    let mut facts = HostFacts { program_version, host, ..HostFacts::default() };
    facts.boot_id = format!("boot of {name}");
    facts.limits.open_files = Some(1 << 16);
    facts.link = Some(LinkFacts { interface: "eth0".to_owned(), bytes_s: Some(1.25e9) });
    facts.targets = vec![nfs("rw,hard,nconnect=8,clientaddr=10.0.0.1")];
    HostReport {
        name: name.to_owned(),
        facts: Ok(Box::new(facts)),
        offset: Some(Offset { offset_ns: 7, error_ns: 100_000 }),
        wall_offset_ns: Some(2_000_000),
        transfer: Some(Transfer { n_bytes: 8 << 20, took_ns: 20 * MS }),
    }
}

fn nfs(mount_options: &str) -> TargetFacts {
    let place = PlaceRecord {
        path: "/mnt/vol".to_owned(),
        file_system: "nfs4".to_owned(),
        source: "10.0.0.9:/vol".to_owned(),
        mount_options: mount_options.to_owned(),
        ..PlaceRecord::default()
    };
    let path = "/mnt/vol".to_owned();
    TargetFacts { path, place, free_bytes: Some(1 << 40), ..TargetFacts::default() }
}

/// Judges the hosts a, b and c after a change of the last.
#[track_caller]
fn check(change: impl FnOnce(&mut HostFacts, &mut Host), expected: &[(Severity, &str, &[&str])]) {
    let mut reports = vec![fine("a"), fine("b"), fine("c")];
    let last = reports.last_mut().expect("three");
    let mut host = Host { offset: last.offset, wall_offset_ns: 0, took_ns: 20 * MS };
    let mut facts = last.facts.clone().expect("it answered");
    change(&mut facts, &mut host);
    last.facts = Ok(facts);
    last.offset = host.offset;
    last.wall_offset_ns = Some(host.wall_offset_ns);
    last.transfer = Some(Transfer { n_bytes: 8 << 20, took_ns: host.took_ns });
    said(&judge(&reports), expected);
}

/// What else is known of a host.
struct Host {
    offset: Option<Offset>,
    wall_offset_ns: i64,
    took_ns: u64,
}

#[track_caller]
fn said(findings: &[Finding], expected: &[(Severity, &str, &[&str])]) {
    let found: Vec<(Severity, &str, Vec<&str>)> = findings
        .iter()
        .map(|it| (it.severity, it.code, it.hosts.iter().map(String::as_str).collect()))
        .collect();
    let expected: Vec<(Severity, &str, Vec<&str>)> =
        expected.iter().map(|(severity, code, hosts)| (*severity, *code, hosts.to_vec())).collect();
    assert_eq!(found, expected, "{findings:#?}");
    assert!(findings.iter().all(|it| !it.message.is_empty() && !it.remedy.is_empty()));
}

#[test]
fn of_hosts_alike_nothing_is_said() {
    check(|_, _| {}, &[]);
    // Each client has an address of its own, and part of the memory is the kernel's.
    check(|it, _| it.targets = vec![nfs("rw,hard,nconnect=8,clientaddr=10.0.0.7")], &[]);
    check(|it, _| it.host.memory_bytes -= 300 << 20, &[]);
}

#[test]
fn what_keeps_a_run_from_beginning_is_unfit() {
    let c: &[&str] = &["c"];
    let refusal = "job `a` writes to `/dev/sdb`, which is mounted at `/data`";
    check(|it, _| it.refusals = vec![refusal.to_owned()], &[(Unfit, "refused", c)]);
    check(
        |it, _| it.targets[0].problem = "`/mnt/vol` does not exist".to_owned(),
        &[(Unfit, "target", c)],
    );
    check(|it, _| it.targets[0].layout_bytes = (1 << 40) + 1, &[(Unfit, "space", c)]);
    check(|it, _| it.targets[0].layout_bytes = 1 << 40, &[]);
}

#[test]
fn what_makes_a_result_doubtful_is_said() {
    let c: &[&str] = &["c"];
    let known_to = |error_ns| Some(Offset { offset_ns: 0, error_ns });
    check(|_, host| host.offset = known_to(5_000_001), &[(Doubt, "clock", c)]);
    check(|_, host| host.offset = known_to(5_000_000), &[]);
    check(|_, host| host.offset = None, &[(Doubt, "clock", c)]);
    // The volume is not mounted there: its place is a folder of the disk below.
    let not_mounted = |facts: &mut HostFacts| {
        let place = &mut facts.targets[0].place;
        (place.path, place.file_system) = ("/".to_owned(), "ext4".to_owned());
        (place.source, place.mount_options) = ("/dev/sda1".to_owned(), "rw".to_owned());
    };
    let expected: &[(Severity, &str, &[&str])] =
        &[(Doubt, "not-shared", &[]), (Caution, "root", c), (Caution, "mount-options", &[])];
    check(|it, _| not_mounted(it), expected);
}

#[test]
fn what_differs_is_a_caution() {
    let (all, c): (&[&str], &[&str]) = (&[], &["c"]);
    check(|it, _| it.host.kernel = "Linux 5.14.0".to_owned(), &[(Caution, "kernel", all)]);
    check(|it, _| it.host.n_cpus = 4, &[(Caution, "cores", all)]);
    check(|it, _| it.host.memory_bytes = 16 << 30, &[(Caution, "memory", all)]);
    check(|it, _| it.program_version = "0.2.0".to_owned(), &[(Caution, "version", all)]);
    let rmem = ("net.core.rmem_max".to_owned(), "212992".to_owned());
    check(|it, _| it.host.sysctls.extend([rmem]), &[(Caution, "sysctl", all)]);
    check(|it, _| it.targets = vec![nfs("rw,hard,nconnect=1")], &[(Caution, "mount-options", all)]);
    let other = |it: &mut HostFacts| it.targets[0].place.source = "10.0.0.8:/old".to_owned();
    check(|it, _| other(it), &[(Caution, "place", all)]);
    check(|it, _| it.limits.open_files = Some(4096), &[(Caution, "limits", all)]);
    check(
        |it, _| it.limits.open_files = Some(256),
        &[(Caution, "open-files", c), (Caution, "limits", all)],
    );
    check(|it, _| it.limits.locked_bytes = Some(65536), &[(Caution, "limits", all)]);
    check(|it, _| it.limits.uring_refusal = "EPERM".to_owned(), &[(Caution, "io_uring", c)]);
    let slow = Some(LinkFacts { interface: "eth0".to_owned(), bytes_s: Some(1.25e8) });
    check(|it, _| it.link = slow, &[(Caution, "link", all)]);
    check(|_, host| host.took_ns = 81 * MS, &[(Caution, "slow-transfer", c)]);
    check(|_, host| host.took_ns = 79 * MS, &[]);
    check(|it, _| it.load.busy_share = Some(0.11), &[(Caution, "busy", c)]);
    check(|it, _| it.load.steal_share = Some(0.03), &[(Caution, "steal", c)]);
    check(|_, host| host.wall_offset_ns = -1_000_000_001, &[(Caution, "time-of-day", c)]);
    check(|it, _| it.boot_id = "boot of a".to_owned(), &[(Caution, "same-machine", &["a", "c"])]);
    let old = |it: &mut HostFacts| {
        (it.was_sent, it.installed) = (true, "plimsoll 0.0.9".to_owned());
    };
    check(|it, _| old(it), &[(Caution, "version", c)]);
}

#[test]
fn hosts_that_are_busy_are_named_in_one_finding() {
    let mut reports = vec![fine("a"), fine("b"), fine("c")];
    for (report, share) in reports.iter_mut().zip([0.05, 0.2, 0.95]) {
        if let Ok(facts) = &mut report.facts {
            facts.load.busy_share = Some(share);
        }
    }
    let findings = judge(&reports);
    said(&findings, &[(Caution, "busy", &["b", "c"])]);
    assert_eq!(findings[0].message, "other programs use 20 to 95 % of the processors");
}

#[test]
fn the_worst_comes_first() {
    let mut reports = vec![fine("a"), fine("b"), fine("c")];
    reports[0].facts = Err("Connection refused".to_owned());
    if let Ok(facts) = &mut reports[1].facts {
        facts.load.busy_share = Some(0.5);
        facts.refusals = vec!["it may not".to_owned()];
    }
    reports[2].offset = None;
    let expected: &[(Severity, &str, &[&str])] = &[
        (Unreachable, "unreachable", &["a"]),
        (Unfit, "refused", &["b"]),
        (Doubt, "clock", &["c"]),
        (Caution, "busy", &["b"]),
    ];
    said(&judge(&reports), expected);
}

/// Hosts that answer at once, whose monotonic clock reads 5 s more and whose time of day an hour
/// more, and whose bytes come 1 MiB a millisecond.
struct World {
    inspection: Inspection,
    now_ns: u64,
    /// Hosts that do not answer when they are to look at themselves.
    hangs: Vec<usize>,
    /// Those that sent bytes, in order.
    sent: Vec<usize>,
}

const START_NS: u64 = 1_000_000 * MS;
const AHEAD_NS: u64 = 5_000 * MS;
const WALL_NS: i64 = 3_600_000_000_000;

impl World {
    fn new(n_hosts: usize) -> Self {
        let now_ns = START_NS;
        let inspection = Inspection::new(n_hosts, Inspect::default(), now_ns, 60_000 * MS);
        World { inspection, now_ns, hangs: Vec::new(), sent: Vec::new() }
    }

    /// Runs it until its end, and returns what came of the hosts `a`, `b` and so on.
    fn run(mut self, n_hosts: usize) -> (Vec<HostReport>, Vec<usize>) {
        let mut waiting: Vec<Action> = Vec::new();
        let hello = |idx: usize| {
            From::Hello(Hello {
                protocol_major: PROTOCOL_MAJOR,
                protocol_minor: PROTOCOL_MINOR,
                program_version: "0.1.0".to_owned(),
                agent: idx.to_string(),
                incarnation: 1,
                calls_again: false,
                has_run: false,
                run_idx: 0,
            })
        };
        for idx in 0..n_hosts {
            waiting.extend(self.inspection.take(Event::Message(idx, hello(idx)), self.now_ns));
        }
        for _ in 0..10_000 {
            if waiting.contains(&Action::Finish) {
                let names: Vec<String> = ["a", "b", "c"].map(str::to_owned)[..n_hosts].to_vec();
                let unix_ns = (self.now_ns - START_NS).cast_signed();
                let own = ClockReading { monotonic_ns: self.now_ns, unix_ns };
                return (self.inspection.reports(&names, own), self.sent);
            }
            let mut next = Vec::new();
            for action in std::mem::take(&mut waiting) {
                if let Action::Send(idx, message) = action {
                    next.extend(self.answer(idx, &message));
                }
            }
            if next.is_empty() {
                self.now_ns += 250 * MS;
                next = self.inspection.take(Event::Due, self.now_ns);
            }
            waiting = next;
        }
        panic!("it does not end");
    }

    fn answer(&mut self, idx: usize, message: &To) -> Vec<Action> {
        let there_ns = self.now_ns + AHEAD_NS;
        match message {
            To::Ping(ping) => {
                let pong = Pong { id: ping.id, received_ns: there_ns, sent_ns: there_ns };
                self.inspection.take(Event::Message(idx, From::Pong(pong)), self.now_ns)
            }
            To::Inspect(_) if self.hangs.contains(&idx) => Vec::new(),
            To::Inspect(_) => {
                let unix_ns = (self.now_ns - START_NS).cast_signed() + WALL_NS;
                let clock = ClockReading { monotonic_ns: there_ns, unix_ns };
                let facts = HostFacts { clock, ..HostFacts::default() };
                let facts_json = serde_json::to_vec(&facts).expect("JSON");
                let found = From::Inspected(Inspected { facts_json });
                self.inspection.take(Event::Message(idx, found), self.now_ns)
            }
            To::Fetch(fetch) => {
                self.sent.push(idx);
                let mut actions = Vec::new();
                for piece_idx in 0..=1 {
                    self.now_ns += fetch.n_bytes / 2 * MS / (1 << 20);
                    let content = vec![0; fetch.n_bytes as usize / 2];
                    let piece = From::Piece(Piece { content, is_last: piece_idx == 1 });
                    actions.extend(self.inspection.take(Event::Message(idx, piece), self.now_ns));
                }
                actions
            }
            _ => Vec::new(),
        }
    }
}

#[test]
fn clocks_and_transfers_are_measured() {
    let (reports, sent) = World::new(2).run(2);
    // A short one and a long one, one host after the other.
    assert_eq!(sent, [0, 0, 1, 1]);
    for report in &reports {
        let offset = report.offset.expect("sixteen exchanges");
        assert_eq!(offset.offset_ns, AHEAD_NS.cast_signed(), "{report:?}");
        assert!(offset.error_ns < MS, "an exchange took no time: {offset:?}");
        assert_eq!(report.wall_offset_ns, Some(WALL_NS));
        let transfer = report.transfer.expect("bytes came");
        assert_eq!(transfer, Transfer { n_bytes: 4 << 20, took_ns: 4 * MS });
    }
}

#[test]
fn a_host_that_hangs_is_given_up_and_leaves_the_others() {
    let mut world = World::new(3);
    world.hangs = vec![1];
    let (reports, sent) = world.run(3);
    assert_eq!(sent, [0, 0, 2, 2]);
    let said = reports[1].facts.clone().expect_err("it never answered");
    assert!(said.contains("does a mount hang?"), "{said}");
    assert!(reports[0].facts.is_ok() && reports[2].facts.is_ok());
}

#[test]
fn hosts_that_are_gone_are_named_with_the_reason() {
    let now_ns = 1_000_000 * MS;
    let mut inspection = Inspection::new(2, Inspect::default(), now_ns, 60_000 * MS);
    inspection.take(Event::Gone(0, "Connection refused".to_owned()), now_ns);
    let last = inspection.take(Event::Due, now_ns + 60_000 * MS);
    assert!(last.contains(&Action::Finish), "{last:?}");
    let names = ["a", "b"].map(str::to_owned);
    let own = ClockReading { monotonic_ns: now_ns, unix_ns: 0 };
    let reports = inspection.reports(&names, own);
    let said: Vec<String> =
        reports.into_iter().map(|it| it.facts.expect_err("none came")).collect();
    assert_eq!(said, ["Connection refused", "it did not come within 60 s"]);
}
