//! Screens of runs that are fed here, at several sizes.

use insta::assert_snapshot;
use record::{Interval, JobRecord, Note, NoteSeverity};

use super::*;
use crate::model::{About, HostSoFar, LoadNow};

/// A job that has done so many reads in a step, each of this latency.
fn job(name: &str, n_ios: u64, latency_ns: u64) -> JobRecord {
    let mut job = JobRecord { name: name.to_owned(), n_workers: 1, ..JobRecord::default() };
    let read = &mut job.dirs.read;
    (read.n_ios, read.io_bytes, read.runtime_ns) = (n_ios, 8192 * n_ios, 1_000_000_000);
    for latencies in [&mut read.lat, &mut read.clat] {
        latencies.record_n(latency_ns, n_ios);
    }
    job
}

/// A second in which all hosts together did so many reads.
fn second(end_ms: u64, n_ios: u64) -> Interval {
    let mut second = Interval { end_ms, length_ms: 1000, ..Interval::default() };
    (second.dirs.read.n_ios, second.dirs.read.io_bytes) = (n_ios, 8192 * n_ios);
    second
}

/// Three seconds of a run of so many hosts. The second one reads a tenth of what the others do; of
/// the fourth nothing comes in the third.
fn run_of(n_hosts: usize) -> Live {
    let command = ["plimsoll", "run", "nfs.fio", "--hosts", "vm[1-4]", "--tui"];
    let command = command.map(str::to_owned).to_vec();
    let mut live = Live::new(About { command, ..About::default() });
    let names: Vec<String> = (1..=n_hosts).map(|n| format!("vm{n}")).collect();
    live.set_hosts(names.clone());
    live.begin_run();
    live.begin_step(0, 1, "", 4);
    for s in 1..=3 {
        let jobs_of = |idx: usize| {
            let share = if idx == 1 { 1 } else { 10 };
            let s = if idx == 3 { s.min(2) } else { s };
            [job("data", 100 * share * s, 700_000), job("log", 10 * share * s, 3_000_000)]
        };
        let jobs: Vec<[JobRecord; 2]> = (0..n_hosts).map(jobs_of).collect();
        let hosts = names.iter().zip(&jobs).enumerate().map(|(idx, (name, jobs))| HostSoFar {
            name,
            jobs,
            n_in_flight: &[],
            load: Some(LoadNow { busy_share: 0.25, own_share: 0.125, steal_share: 0.0 }),
            lost: (idx == 3 && s == 3).then_some("nothing came from it for 10 s"),
        });
        live.second(&second(1000 * s, 1000 * s), &hosts.collect::<Vec<_>>());
    }
    live
}

/// Returns the lines as they are seen: what only sets colours is left out.
fn seen(live: &Live, columns: usize, rows: usize, keys: &[u8]) -> Vec<String> {
    let mut state = State::default();
    for key in keys {
        state.take(*key);
    }
    let lines = Screen::of(live).lines(columns, rows, state);
    let plain = |line: &String| {
        [BOLD, DIM, "\x1b[0m"].iter().fold(line.clone(), |line, style| line.replace(style, ""))
    };
    let lines: Vec<String> = lines.iter().map(plain).collect();
    assert!(lines.len() <= rows, "{} lines in {rows} rows", lines.len());
    for line in &lines {
        assert!(line.chars().count() <= columns, "longer than {columns}: {line}");
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    lines
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn a_narrow_terminal_shows_the_last_second() {
    assert_snapshot!(text(&seen(&run_of(4), 80, 24, &[])));
}

#[test]
fn a_wide_terminal_shows_the_step_so_far_too() {
    assert_snapshot!(text(&seen(&run_of(4), 200, 24, &[])));
}

/// Returns the names in the table of hosts, from the top.
fn hosts(lines: &[String]) -> Vec<&str> {
    let names = lines.iter().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.starts_with("vm")).collect()
}

#[test]
fn hosts_stand_with_the_worst_first() {
    let of_many = seen(&run_of(4), 80, 40, &[]);
    assert_eq!(hosts(&of_many), ["vm4", "vm2", "vm1", "vm3"], "the lost one, then the slow one");
    let of_one = seen(&run_of(1), 80, 40, &[]);
    assert_eq!(hosts(&of_one), [""; 0], "one host has no table of its own");
}

#[test]
fn jobs_stand_with_the_slowest_first() {
    let lines = seen(&run_of(1), 80, 40, &[]);
    let is_job = |line: &&String| line.starts_with("log") || line.starts_with("data");
    let first = lines.iter().find(is_job).expect("the jobs are there");
    assert!(first.starts_with("log"), "{first}");
}

#[test]
fn every_size_has_its_lines_and_the_keys_below() {
    let mut live = run_of(24);
    let message = "the page cache answers reads: their rate is that of memory".to_owned();
    let (severity, code) = (NoteSeverity::Warning, "page-cache".to_owned());
    live.note(&Note { severity, code, message: message.clone() });
    for (columns, rows) in [(80, 24), (200, 50), (40, 12), (20, 8), (8, 4), (1, 1), (400, 200)] {
        let lines = seen(&live, columns, rows, &[]);
        assert_eq!(lines.len(), rows, "{columns} x {rows}");
        if rows >= 8 {
            let cut = |text: &str| text.chars().take(columns).collect::<String>();
            assert_eq!(lines[rows - 1], cut(KEYS), "{columns} x {rows}");
            assert_eq!(lines[rows - 2], cut(&message), "{columns} x {rows}");
        }
    }
    // What does not fit is counted.
    let lines = seen(&live, 80, 24, &[]);
    let more = lines.iter().find(|line| line.starts_with("and ")).expect("hosts that do not fit");
    let n_more: usize =
        more.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    assert_eq!(hosts(&lines).len() + n_more, 24);
    let all = seen(&live, 80, 60, &[]);
    assert_eq!(hosts(&all).len(), 24);
}

#[test]
fn keys_pause_help_and_end() {
    let mut state = State::default();
    assert!(!state.take(b'p'));
    assert!(state.is_paused);
    assert!(!state.take(b' '));
    assert_eq!(state, State::default(), "the second one goes on");
    assert!(!state.take(b'x'));
    assert_eq!(state, State::default());
    assert!(state.take(b'q') && state.take(INTERRUPT), "each asks for the end");
    let live = run_of(2);
    let head = |keys: &[u8]| seen(&live, 80, 24, keys)[1].clone();
    assert_eq!(head(b""), "running for 3s");
    assert_eq!(head(b"p"), "running for 3s  PAUSED: the run goes on, p shows it");
    assert_eq!(head(b"pq"), "running for 3s  STOPPING: q again stops at once");
    let help = seen(&live, 80, 24, b"h");
    assert!(HELP.iter().all(|line| help.iter().any(|it| it == line)), "{help:?}");
    let without = seen(&live, 80, 24, b"hh");
    assert!(HELP.iter().all(|line| without.iter().all(|it| it != line)), "{without:?}");
}

#[test]
fn names_cannot_move_the_cursor() {
    let mut live = Live::new(About::default());
    live.begin_run();
    live.begin_step(0, 1, "", 1);
    let jobs = [job("\x1b[2Jdata\n", 100, 1000)];
    let host = HostSoFar { name: "", jobs: &jobs, n_in_flight: &[], load: None, lost: None };
    live.second(&second(1000, 100), &[host]);
    // Each line is looked at for control characters.
    let lines = seen(&live, 80, 24, &[]);
    assert!(lines.iter().any(|line| line.contains("[2Jdata")), "{lines:?}");
}
