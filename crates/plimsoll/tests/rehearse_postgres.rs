//! A PostgreSQL cluster on a mounted volume, through crashes of the emulated machine.
//!
//! Long: a cluster is made on an emulated disk, at its pace.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod common;
#[path = "common/postgres.rs"]
mod postgres;
#[path = "common/rehearsal.rs"]
#[allow(dead_code, reason = "a part is used here")]
mod rehearsal;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use postgres::{Cluster, User, programs};
use rehearsal::Rehearsal;

/// The variable that switches the long checks on.
const LONG: &str = "PLIMSOLL_LONG_TESTS";

/// Programs that commit at the same time.
const N_WRITERS: u64 = 4;

/// Crashes of one cluster.
const N_CRASHES: u64 = 4;

/// Commits of all writers before a crash, at least.
const N_COMMITS: usize = 150;

/// Commits rows of one writer, one by one, until the server is gone. Tells each row whose
/// commit had returned.
fn commit_until_the_end(cluster: &Cluster, writer: u64, first: u64, tell: impl Fn(u64)) {
    let mut psql = cluster.psql();
    psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut psql = psql.spawn().unwrap();
    let mut statements = psql.stdin.take().unwrap();
    let mut answers = BufReader::new(psql.stdout.take().unwrap()).lines();
    for n in first.. {
        // A transaction of its own, and an answer after its commit: the server says that a
        // command is complete when its transaction is.
        let insert =
            format!("INSERT INTO t VALUES({writer}, {n}, repeat('x', 900)) RETURNING n;\n");
        if statements.write_all(insert.as_bytes()).is_err() {
            break;
        }
        let Some(Ok(answer)) = answers.next() else { break };
        assert_eq!(answer, n.to_string());
        tell(n);
    }
    drop(statements);
    let _ = psql.wait();
}

/// Commits from several writers until the machine crashes. Returns the rows whose commit had
/// returned.
fn commit_until_crash(rehearsal: &Rehearsal, cluster: &Cluster, first: u64) -> Vec<(u64, u64)> {
    let (sender, committed) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for writer in 0..N_WRITERS {
            let sender = sender.clone();
            scope.spawn(move || {
                let tell = |n| sender.send((writer, n)).expect("the receiver listens");
                commit_until_the_end(cluster, writer, first, tell);
            });
        }
        drop(sender);
        let mut rows: Vec<_> = committed.iter().take(N_COMMITS).collect();
        assert_eq!(rows.len(), N_COMMITS, "the server ended by itself\n{}", cluster.said());
        rehearsal.rehearse(&["crash", "mnt"]).success();
        rows.extend(committed.iter());
        rows
    })
}

/// Every row whose commit had returned is there, and nothing that was never asked for: of each
/// writer at most the one that was on its way when the machine died.
#[test]
#[expect(clippy::disallowed_methods, reason = "a long check is asked for")]
fn a_cluster_keeps_every_commit_through_crashes() {
    if std::env::var_os(LONG).is_none() {
        testing::skipped!("takes minutes (set {LONG})");
        return;
    }
    let (Some(programs), Some(user)) = (programs(), User::find()) else { return };
    for cache in ["None", "ReadOnly"] {
        let design = format!(
            "[vm]\nsize = \"DS14\"\n[[volume]]\nmount = \"/mnt/data\"\ndisk = \"P30\"\n\
             cache = \"{cache}\"\n"
        );
        let Some(rehearsal) = Rehearsal::mount(&design) else { return };
        // The sandbox is ours alone, and PostgreSQL runs as somebody else.
        let everybody = fs::Permissions::from_mode(0o755);
        fs::set_permissions(rehearsal.0.path(""), everybody).unwrap();
        let mount = rehearsal.0.path("mnt");
        let mut cluster = Cluster::make(&mount, None, "", (&programs, user));
        cluster.ask("CREATE TABLE t(writer int, n int, text text, PRIMARY KEY (writer, n))");
        let mut committed = BTreeSet::new();
        for crash in 0..N_CRASHES {
            let rows = commit_until_crash(&rehearsal, &cluster, crash * 1_000_000);
            committed.extend(rows);
            cluster.stop();
            rehearsal.rehearse(&["restart", "mnt"]).success();
            cluster.start();
            let found = cluster.ask("SELECT writer, n FROM t WHERE length(text) = 900");
            let row = |line: &str| {
                let (writer, n) = line.split_once('|').expect("two columns");
                (writer.parse().expect("a writer"), n.parse().expect("a number"))
            };
            let found: BTreeSet<(u64, u64)> = found.lines().map(row).collect();
            let lost: Vec<_> = committed.difference(&found).collect();
            assert!(lost.is_empty(), "{cache}, crash {crash}: lost {lost:?}\n{}", cluster.said());
            let n_open = found.difference(&committed).count() as u64;
            assert!(n_open <= N_WRITERS * (crash + 1), "{cache}: {n_open} rows of no writer");
        }
        eprintln!("{cache}: {} commits, {N_CRASHES} crashes, none lost", committed.len());
    }
}
