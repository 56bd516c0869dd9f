//! A PostgreSQL cluster for tests.
#![allow(dead_code, reason = "each test binary uses the part that it needs")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::common::outcome;

/// Where Debian puts the programs of each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// How long a cluster may take to come up or to go. Recovery reads at the disk's pace.
const PATIENCE: Duration = Duration::from_mins(2);

/// Returns the folder of the programs, the newest of several; says so where there is none.
pub(crate) fn programs() -> Option<PathBuf> {
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
pub(crate) struct User {
    uid: u32,
    gid: u32,
    /// Whether we have to become it.
    is_other: bool,
}

impl User {
    /// Returns ourselves, or who a server runs as where we are root.
    pub(crate) fn find() -> Option<Self> {
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
    pub(crate) fn folder(self, path: &Path) {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        chown(path, Some(self.uid), Some(self.gid)).unwrap();
    }
}

/// A cluster.
pub(crate) struct Cluster {
    programs: PathBuf,
    user: User,
    dir: PathBuf,
    /// Has the socket's folder and the log, outside of its volume.
    outside: TempDir,
    server: Option<Child>,
}

impl Cluster {
    /// Makes a cluster in a folder `pg` of this folder and starts it. Its settings are lines of
    /// postgresql.conf; its log of changes lies in its folder, or where `log_folder` says.
    pub(crate) fn make(
        folder: &Path,
        log_folder: Option<&Path>,
        settings: &str,
        (programs, user): (&Path, User),
    ) -> Self {
        let outside = tempfile::tempdir().unwrap();
        fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o755)).unwrap();
        user.folder(&outside.path().join("socket"));
        user.folder(&folder.join("pg"));
        let dir = folder.join("pg/cluster");
        let mut initdb = user.command(&programs.join("initdb"));
        initdb.args(["--username=admin", "--auth=trust", "--no-locale", "--encoding=UTF8"]);
        initdb.arg("--data-checksums").arg("-D").arg(&dir).current_dir("/");
        if let Some(log_folder) = log_folder {
            user.folder(&log_folder.join("pg"));
            initdb.arg("--waldir").arg(log_folder.join("pg/wal"));
        }
        outcome(&mut initdb).success();
        let mut file = fs::File::options().append(true).open(dir.join("postgresql.conf")).unwrap();
        file.write_all(settings.as_bytes()).unwrap();
        let programs = programs.to_owned();
        let mut cluster = Cluster { programs, user, dir, outside, server: None };
        cluster.start();
        cluster
    }

    /// Starts the server and waits until it has recovered.
    pub(crate) fn start(&mut self) {
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

    /// Ends the server at once, or what a crash left of it.
    pub(crate) fn stop(&mut self) {
        self.end("-QUIT");
    }

    /// Ends the server in order, with a checkpoint.
    pub(crate) fn shut_down(&mut self) {
        self.end("-INT");
    }

    fn end(&mut self, signal: &str) {
        let Some(mut server) = self.server.take() else { return };
        let pid = server.id().to_string();
        // It may have gone by itself.
        let _ = Command::new("kill").args([signal, &pid]).stderr(Stdio::null()).status();
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

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.log()).unwrap_or_default()
    }

    /// Returns the number of the server's first process.
    pub(crate) fn pid(&self) -> u32 {
        self.server.as_ref().expect("it runs").id()
    }

    /// Returns one of its programs, which connects to it.
    pub(crate) fn client(&self, program: &str) -> Command {
        let mut client = Command::new(self.programs.join(program));
        client.args(["-U", "admin", "-h"]).arg(self.outside.path().join("socket"));
        client
    }

    pub(crate) fn psql(&self) -> Command {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "admin", "-h"]);
        psql.arg(self.outside.path().join("socket")).arg("postgres");
        psql
    }

    #[track_caller]
    pub(crate) fn ask(&self, statement: &str) -> String {
        outcome(self.psql().args(["-c", statement])).success().trim().to_owned()
    }
}

/// Between two looks at whether something has happened.
const PAUSE: Duration = Duration::from_millis(50);

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}
