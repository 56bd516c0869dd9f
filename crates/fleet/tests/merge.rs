//! What is said of how the hosts of a run ran together.

use fleet::merge::{merge, notes_about};
use record::{HostShareRecord, JobRecord, Record, StartRecord};

fn host(name: &str, start_error_ms: f64, clock_error_ms: f64, silence_s: u64) -> HostShareRecord {
    let start_error_ns = (start_error_ms * 1e6) as i64;
    HostShareRecord {
        name: name.to_owned(),
        clock_error_ns: (clock_error_ms * 1e6) as u64,
        silence_ns_max: silence_s * 1_000_000_000,
        starts: vec![StartRecord { step_idx: 0, start_error_ns }],
        ..HostShareRecord::default()
    }
}

#[track_caller]
fn check(hosts: &[HostShareRecord], expected: &[&str]) {
    let found: Vec<String> = notes_about(hosts).into_iter().map(|note| note.message).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_is_late_or_silent_is_one_note_whatever_the_number_of_hosts() {
    check(&[host("a", 0.4, 0.2, 0), host("b", -4.5, 0.4, 0)], &[]);
    check(
        &[host("a", 0.4, 0.2, 0), host("b", -4.5, 0.6, 0)],
        &["`b` began up to 4.5 ms off the moment that all hosts were given, by clocks known to \
           0.6 ms: their seconds are not quite those of the others"],
    );
    let many: Vec<HostShareRecord> = (1..=9)
        .map(|n| host(&format!("h{n}"), f64::from(n) * 2.0, 0.1, u64::from(n > 8)))
        .collect();
    check(
        &many,
        &[
            "`h9`, `h8`, `h7` and 4 more began up to 18.0 ms off the moment that all hosts were \
             given, by clocks known to 0.1 ms: their seconds are not quite those of the others",
            "nothing came from `h9` for up to 1.0 s: they or the way to them stood still, and if \
             it was they, so did their load",
        ],
    );
}

/// A job that failed says on which host; the first reason stays.
#[test]
fn why_a_job_failed_says_where() {
    let of_host = |name: &str, error: &str| {
        let (error_errno, error_message) = (i32::from(!error.is_empty()) * 28, error.to_owned());
        let job = JobRecord { error_errno, error_message, ..JobRecord::default() };
        let plimsoll_version = "0.1.0".to_owned();
        let record = Record { jobs: vec![job], plimsoll_version, ..Record::default() };
        HostShareRecord { name: name.to_owned(), record, ..HostShareRecord::default() }
    };
    for (errors, expected) in [
        (["", "the disk is full", "no permission"], "h1: the disk is full"),
        (["no permission", "", ""], "h0: no permission"),
        (["", "", ""], ""),
    ] {
        let hosts = errors.iter().enumerate();
        let hosts = hosts.map(|(idx, error)| of_host(&format!("h{idx}"), error)).collect();
        assert_eq!(merge(hosts).jobs[0].error_message, expected);
    }
}
