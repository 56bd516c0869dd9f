//! A real PostgreSQL and the copy of a file, captured live and by the logs of sysstat, beside what
//! the database and the copy know of themselves.
//!
//! Data and log lie on loop devices of their own. Pages come from a cold cache and are written by
//! one checkpoint, and the log is written past the page cache: what reaches the devices is then
//! what the database's own statistics count.
#![expect(clippy::print_stderr, reason = "figures for people")]

mod common;
#[path = "common/logs.rs"]
mod logs;
#[path = "common/loop_device.rs"]
mod loop_device;
#[path = "common/postgres.rs"]
mod postgres;
#[path = "common/watch.rs"]
mod watch;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::{Sandbox, outcome};
use logs::{Load, Logs, assert_within, has_loggers};
use loop_device::LoopDevice;
use postgres::{Cluster, User, programs};

/// The variable that switches the long checks on.
const LONG: &str = "PLIMSOLL_LONG_TESTS";

const PAGE_BYTES: f64 = 8192.0;

/// Bytes of the file that is copied.
const COPY_BYTES: f64 = 48.0 * 1024.0 * 1024.0;

/// By how much the captures may differ from what the database and the copy know.
const SHARE_MAX: f64 = 0.05;

/// All pages fit into the buffers, so that each is read once and written by the checkpoint; files
/// of the log are there before they are needed, and written with `O_DIRECT`.
const SETTINGS: &str = "
shared_buffers = 512MB
wal_level = minimal
max_wal_senders = 0
wal_sync_method = open_datasync
min_wal_size = 512MB
max_wal_size = 4GB
checkpoint_timeout = 1h
autovacuum = off
";

/// A file system on a loop device, mounted at a folder of the sandbox.
struct Mounted {
    folder: PathBuf,
    device: LoopDevice,
}

impl Mounted {
    fn make(sandbox: &Sandbox, name: &str, size_bytes: u64) -> Option<Self> {
        let image = sandbox.path(&format!("{name}.img"));
        fs::File::create(&image).and_then(|it| it.set_len(size_bytes)).expect("room");
        let device = LoopDevice::direct(&image)?;
        // As disks of clouds are: else the kernel counts each flush as a write without bytes.
        let cache = format!("/sys/block/{}/queue/write_cache", device.name());
        fs::write(cache, "write through").expect("it is ours");
        let folder = sandbox.path(name);
        fs::create_dir(&folder).expect("the folder is ours");
        let options = "lazy_itable_init=0,lazy_journal_init=0";
        let mut mkfs = Command::new("mkfs.ext4");
        outcome(mkfs.args(["-q", "-E", options, device.path()])).success();
        let mounted = Mounted { folder, device };
        mounted.mount();
        Some(mounted)
    }

    fn mount(&self) {
        // Nothing is read that was not asked for.
        outcome(Command::new("blockdev").args(["--setra", "0", self.device.path()])).success();
        let mut mount = Command::new("mount");
        mount.args(["-t", "ext4", "-o", "noatime", self.device.path()]).arg(&self.folder);
        outcome(&mut mount).success();
    }

    /// Unmounts it and mounts it again: nothing of it is in the page cache then.
    fn forget(&self) {
        outcome(Command::new("umount").arg(&self.folder)).success();
        self.mount();
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.folder).status();
    }
}

/// A control group for the database, removed at the end.
struct Group(PathBuf);

impl Group {
    /// Makes one where I/O is counted; none where the host has none.
    fn make() -> Option<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let parent = [root.join("blkio"), root.to_owned()].into_iter().find(|it| it.is_dir())?;
        let folder = parent.join(format!("plimsoll-test-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let counts = ["io.stat", "blkio.throttle.io_serviced"];
        let group = Group(folder);
        counts.iter().any(|name| group.0.join(name).is_file()).then_some(group)
    }

    /// Makes version 1 count a device: newer kernels do so only where there is a limit.
    fn count(&self, device: &LoopDevice) {
        let limit = self.0.join("blkio.throttle.read_bps_device");
        if limit.is_file() {
            let path = format!("/sys/class/block/{}/dev", device.name());
            let number = fs::read_to_string(path).expect("it is a device");
            fs::write(limit, format!("{} {}", number.trim(), 1_u64 << 40)).expect("it is ours");
        }
    }

    fn take(&self, pid: u32) {
        fs::write(self.0.join("cgroup.procs"), pid.to_string()).expect("it is ours");
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Fills the database, makes files for its log, and empties every cache.
fn fill(cluster: &mut Cluster, volumes: [&Mounted; 2]) {
    let mut pgbench = cluster.client("pgbench");
    outcome(pgbench.args(["-i", "-q", "-s", "20", "postgres"])).success();
    for _ in 0..24 {
        cluster.ask("SELECT pg_logical_emit_message(false, 'x', 'x')");
        cluster.ask("SELECT pg_switch_wal()");
    }
    cluster.ask("VACUUM FREEZE ANALYZE");
    cluster.ask("CHECKPOINT");
    cluster.shut_down();
    volumes.into_iter().for_each(Mounted::forget);
    cluster.start();
}

/// Copies a file past the page cache.
fn copy(folder: &Path) -> Child {
    let mut dd = Command::new("dd");
    dd.args(["if=/dev/zero", "bs=256k", "oflag=direct", "conv=notrunc"]);
    dd.arg(format!("count={}", COPY_BYTES / 262_144.0));
    dd.arg(format!("of={}", folder.join("copy").display())).stderr(Stdio::null());
    dd.spawn().expect("dd is there")
}

/// What the database counted.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Pages read, from a file or as new ones of it.
    pages_read: f64,
    /// All pages of all files.
    pages_held: f64,
    pages_written: f64,
    log_writes: f64,
}

impl Known {
    fn ask(cluster: &Cluster) -> Known {
        let number = |statement: &str| -> f64 {
            let said = cluster.ask(statement);
            said.parse().unwrap_or_else(|_| panic!("{statement}: {said}"))
        };
        let size = |fork: &str| format!("sum(pg_relation_size(oid, '{fork}'))");
        let sizes = ["main", "fsm", "vm"].map(size).join(" + ");
        Known {
            pages_held: number(&format!("SELECT {sizes} FROM pg_class")) / PAGE_BYTES,
            pages_read: number("SELECT sum(blks_read) FROM pg_stat_database"),
            pages_written: number(
                "SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter",
            ),
            log_writes: number("SELECT wal_write FROM pg_stat_wal"),
        }
    }

    /// Returns what was done since then.
    fn since(self, before: Known) -> Known {
        Known {
            pages_held: self.pages_held - before.pages_held,
            pages_read: self.pages_read - before.pages_read,
            pages_written: self.pages_written - before.pages_written,
            log_writes: self.log_writes - before.log_writes,
        }
    }

    /// Returns what came from the device: a page that a file grows by is none of it.
    fn read_bytes(self) -> f64 {
        (self.pages_read - self.pages_held) * PAGE_BYTES
    }

    fn write_bytes(self) -> f64 {
        self.pages_written * PAGE_BYTES
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a long check is asked for")]
fn a_database_and_a_copy_are_captured_as_they_were() {
    if std::env::var_os(LONG).is_none() {
        testing::skipped!("takes a minute (set {LONG})");
        return;
    }
    let needed = ["losetup", "mkfs.ext4", "blockdev", "mount"];
    if !has_loggers() || !needed.into_iter().all(testing::has_program) {
        return;
    }
    let (Some(programs), Some(user)) = (programs(), User::find()) else { return };
    let sandbox = Sandbox::new();
    // The sandbox is ours alone, and PostgreSQL runs as somebody else.
    fs::set_permissions(sandbox.path(""), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let Some(data) = Mounted::make(&sandbox, "data", 2 << 30) else { return };
    let Some(log) = Mounted::make(&sandbox, "log", 2 << 30) else { return };
    // Made before the database, and removed after it.
    let group = Group::make();
    let places = (programs.as_path(), user);
    let mut cluster = Cluster::make(&data.folder, Some(&log.folder), SETTINGS, places);
    fill(&mut cluster, [&data, &log]);
    let names = [data.device.name(), log.device.name()];
    let before = Known::ask(&cluster);
    let mut logs = Logs::begin(&sandbox, &names);
    if let Some(group) = &group {
        group.count(&data.device);
        group.take(cluster.pid());
        let folder = group.0.to_str().expect("text");
        logs.watch("own.toml", &["--device", names[0], "--cgroup", folder]);
    }
    let mut copied = copy(&data.folder);
    let mut pgbench = cluster.client("pgbench");
    let said = outcome(pgbench.args(["-n", "-c", "4", "-T", "15", "postgres"]));
    assert!(copied.wait().expect("it ends").success());
    cluster.ask("CHECKPOINT");
    outcome(Command::new("sync").arg("-f").arg(&data.folder)).success();
    logs.end();
    let known = Known::ask(&cluster).since(before);
    eprintln!("{known:?}\n{}", said.success());
    check(&sandbox, names, known);
    check_own(&sandbox, names[0], known, group.is_some());
}

/// Holds the captures, live and from logs, against what the database and the copy know.
fn check(sandbox: &Sandbox, [data, log]: [&str; 2], known: Known) {
    let (read_bytes, write_bytes) = (known.read_bytes(), known.write_bytes() + COPY_BYTES);
    let of = |source: &str, device: &str| match source {
        "live" => Load::captured(sandbox, "live.series.csv", device),
        log => Load::from_log(sandbox, log, device),
    };
    for source in ["live", "iostat.json", "sadf.json"] {
        let found = of(source, data);
        let found_log = of(source, log);
        eprintln!("{source}: data {found:?}, log {found_log:?}");
        let within = |what: &str, found: f64, known: f64| {
            assert_within(&format!("{what}, {source}"), found, known, SHARE_MAX);
        };
        within("bytes read", found.read_bytes, read_bytes);
        within("bytes written", found.write_bytes, write_bytes);
        within("writes of the log", found_log.n_ios(), known.log_writes);
    }
    let mb = (read_bytes + write_bytes) / 1e6;
    assert_within("MB of the checklist", moved_mb(sandbox, data), mb, SHARE_MAX);
    // vmstat has the whole host: these devices, and what their images lie on.
    let host = Load::from_log(sandbox, "vmstat.txt", "whole host");
    assert!(host.bytes() >= (read_bytes + write_bytes) * (1.0 - SHARE_MAX), "{host:?}");
}

/// Returns what was moved by the checklist's mean throughput of a volume.
fn moved_mb(sandbox: &Sandbox, volume: &str) -> f64 {
    let json = sandbox.plimsoll(&["needs", "live.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(json.success()).expect("JSON");
    let lists = json["checklists"].as_array().expect("checklists");
    let list = lists.iter().find(|list| list["volume"] == volume).expect("of the volume");
    let rows = list["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["requirement"] == "mean throughput").expect("a row");
    assert_eq!((&row["label"], &row["statistic"]), (&"measured".into(), &"mean".into()));
    let text = fs::read_to_string(sandbox.path("live.toml")).expect("it was written");
    let captured = text.lines().find_map(|line| line.strip_prefix("captured_s = "));
    let seconds: f64 = captured.and_then(|it| it.parse().ok()).expect("seconds");
    row["overall"].as_f64().expect("a mean") * seconds
}

/// With the control group of the database the copy is left out. Version 1 does not know whose
/// writes the page cache holds: those of pages are in no group then.
fn check_own(sandbox: &Sandbox, data: &str, known: Known, has_group: bool) {
    if !has_group {
        testing::skipped!("no control group counts I/O here");
        return;
    }
    let own = Load::captured(sandbox, "own.series.csv", data);
    eprintln!("own: {own:?}");
    assert_within("bytes read, of the group", own.read_bytes, known.read_bytes(), SHARE_MAX);
    let most_bytes = known.write_bytes() * (1.0 + SHARE_MAX);
    assert!(own.write_bytes <= most_bytes, "the copy is in it: {own:?}");
    let text = fs::read_to_string(sandbox.path("own.toml")).expect("it was written");
    assert!(text.contains("came from other processes and are not in its figures"), "{text}");
}
