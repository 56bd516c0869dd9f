//! A PostgreSQL cluster on a mounted volume, through crashes of the emulated machine.
//!
//! Long: a cluster is made on an emulated disk, at its pace.
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod common;
#[path = "common/rehearsal.rs"]
#[allow(dead_code, reason = "a part is used here")]
mod rehearsal;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::outcome;
use rehearsal::Rehearsal;
use tempfile::TempDir;

/// The variable that switches the long checks on.
const LONG: &str = "PLIMSOLL_LONG_TESTS";

/// Where Debian puts the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Programs that commit at the same time.
const N_WRITERS: u64 = 4;

/// Crashes of one cluster.
const N_CRASHES: u64 = 4;

/// Commits of all writers before a crash, at least.
const N_COMMITS: usize = 150;

/// How long a cluster may take to come up or to go. Recovery reads at the disk's pace.
const PATIENCE: Duration = Duration::from_mins(2);

/// Returns the folder of the programs, the newest of several; says so where there is none.
fn programs() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(VERSIONS)
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .filter(|bin| ["initdb", "postgres", "psql"].iter().all(|name| bin.join(name).exists()))
        .collect();
    found.sort();
    let newest = found.pop();
    if newest.is_none() {
        testing::skipped!("there is no PostgreSQL in {VERSIONS}");
    }
    newest
}

/// A user that is not root, which PostgreSQL refuses to be.
#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
    /// Whether we have to become it.
    is_other: bool,
}

impl User {
    /// Returns ourselves, or who a server runs as where we are root.
    fn find() -> Option<Self> {
        let me = fs::metadata("/proc/self").unwrap();
        if me.uid() != 0 {
            return Some(User { uid: me.uid(), gid: me.gid(), is_other: false });
        }
        let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let named = |name: &str| {
            let line = known.lines().find(|line| line.split(':').next() == Some(name))?;
            let mut ids = line.split(':').skip(2).map(str::parse);
            let (uid, gid) = (ids.next()?.ok()?, ids.next()?.ok()?);
            Some(User { uid, gid, is_other: true })
        };
        let user = named("postgres").or_else(|| named("nobody"));
        if user.is_none() || !Path::new("/usr/bin/setpriv").exists() {
            testing::skipped!("no user to run PostgreSQL as, or no setpriv");
            return None;
        }
        user
    }

    fn command(self, program: &Path) -> Command {
        if !self.is_other {
            return Command::new(program);
        }
        let mut command = Command::new("/usr/bin/setpriv");
        command.arg(format!("--reuid={}", self.uid)).arg(format!("--regid={}", self.gid));
        command.arg("--clear-groups").arg(program);
        command
    }

    /// Makes a folder of theirs.
    fn folder(self, path: &Path) {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        chown(path, Some(self.uid), Some(self.gid)).unwrap();
    }
}

/// A cluster in the mount.
struct Cluster {
    programs: PathBuf,
    user: User,
    dir: PathBuf,
    /// Has the socket's folder and the log, outside of the mount.
    outside: TempDir,
    server: Option<Child>,
}

impl Cluster {
    /// Makes a cluster with an empty table and starts it.
    fn make(rehearsal: &Rehearsal, programs: &Path, user: User) -> Self {
        // The sandbox is ours alone, and the build's folder may be.
        let everybody = fs::Permissions::from_mode(0o755);
        fs::set_permissions(rehearsal.0.path(""), everybody.clone()).unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::set_permissions(outside.path(), everybody).unwrap();
        user.folder(&outside.path().join("socket"));
        user.folder(&rehearsal.0.path("mnt/pg"));
        let dir = rehearsal.0.path("mnt/pg/cluster");
        let mut initdb = user.command(&programs.join("initdb"));
        initdb.args(["--username=admin", "--auth=trust", "--no-locale", "--encoding=UTF8"]);
        initdb.arg("--data-checksums").arg("-D").arg(&dir).current_dir("/");
        outcome(&mut initdb).success();
        let programs = programs.to_owned();
        let mut cluster = Cluster { programs, user, dir, outside, server: None };
        cluster.start();
        cluster.ask("CREATE TABLE t(writer int, n int, text text, PRIMARY KEY (writer, n))");
        cluster
    }

    /// Starts the server and waits until it has recovered.
    fn start(&mut self) {
        let mut postgres = self.user.command(&self.programs.join("postgres"));
        postgres.arg("-D").arg(&self.dir).args(["-c", "listen_addresses="]).arg("-k");
        postgres.arg(self.outside.path().join("socket")).current_dir("/").stdin(Stdio::null());
        let log = fs::File::options().create(true).append(true).open(self.log()).unwrap();
        postgres.stdout(log.try_clone().unwrap()).stderr(log);
        let mut server = postgres.spawn().unwrap();
        let n_tries = PATIENCE.as_millis() / PAUSE.as_millis();
        for _ in 0..n_tries {
            std::thread::sleep(PAUSE);
            if outcome(self.psql().args(["-c", "SELECT 1"])).code == 0 {
                self.server = Some(server);
                return;
            }
            if let Some(status) = server.try_wait().unwrap() {
                panic!("the server ended: {status}\n{}", self.said());
            }
        }
        let _ = server.kill();
        panic!("the server does not come up\n{}", self.said());
    }

    /// Ends what a crash left of the server.
    fn stop(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let pid = server.id().to_string();
        // At once, and all of its processes. It may have gone by itself.
        let _ = Command::new("kill").args(["-QUIT", &pid]).stderr(Stdio::null()).status();
        let n_tries = PATIENCE.as_millis() / PAUSE.as_millis();
        for _ in 0..n_tries {
            if server.try_wait().unwrap().is_some() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        let _ = server.kill();
        let _ = server.wait();
    }

    fn log(&self) -> PathBuf {
        self.outside.path().join("log")
    }

    fn said(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }

    fn psql(&self) -> Command {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "admin", "-h"]);
        psql.arg(self.outside.path().join("socket")).arg("postgres");
        psql
    }

    #[track_caller]
    fn ask(&self, statement: &str) -> String {
        outcome(self.psql().args(["-c", statement])).success().trim().to_owned()
    }

    /// Commits rows of one writer, one by one, until the server is gone. Tells each row whose
    /// commit had returned.
    fn commit_until_the_end(&self, writer: u64, first: u64, tell: impl Fn(u64)) {
        let mut psql = self.psql();
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
}

/// Between two looks at whether something has happened.
const PAUSE: Duration = Duration::from_millis(50);

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
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
                cluster.commit_until_the_end(writer, first, tell);
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
        let mut cluster = Cluster::make(&rehearsal, &programs, user);
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
