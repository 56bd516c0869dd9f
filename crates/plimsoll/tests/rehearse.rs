//! `plimsoll rehearse`: volumes mounted, changed, crashed, killed and mounted again.

#[path = "common/apart.rs"]
mod apart;
mod common;
#[path = "common/loop_device.rs"]
mod loop_device;
#[path = "common/rehearsal.rs"]
mod rehearsal;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use apart::{SKIPPED, apart};
use common::{Sandbox, outcome};
use loop_device::LoopDevice;
use rehearsal::Rehearsal;

const P30: &str = "name = \"one P30\"\n[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\n\
                   cache = \"None\"\n";

#[test]
fn a_volume_is_mounted_changed_and_unmounted() {
    let Some(rehearsal) = Rehearsal::mount(P30) else { return };
    fs::write(rehearsal.0.path("mnt/f"), vec![1; 1 << 20]).unwrap();
    let status = rehearsal.rehearse(&["status", "mnt"]);
    let page = status.success();
    assert!(page.contains("one P30 at ") && page.contains("running"), "{page}");
    assert!(page.contains("1.00 TiB") && page.contains("1.00 MiB"), "{page}");
    let table =
        page.lines().filter(|line| !line.starts_with("data in ") && !line.contains(" at /"));
    assert!(page.contains("\nserved by process "), "{page}");
    assert!(table.clone().all(|line| line.chars().count() <= 80), "{page}");
    assert!(page.contains("\n  disk iops "), "{page}");

    rehearsal.rehearse(&["set", "mnt", "--disk", "P40"]).success();
    let json = rehearsal.rehearse(&["status", "mnt", "--json"]);
    let report: serde_json::Value = serde_json::from_str(json.success()).unwrap();
    assert_eq!(report["schema"], "plimsoll.rehearse/1");
    assert_eq!(report["volumes"][0]["capacity_bytes"], 2_u64 << 40);
    assert_eq!(report["caps"][0]["per_s"], 7_500);

    let wrong = rehearsal.rehearse(&["set", "mnt", "--disk", "P31"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("P30"), "{}", wrong.stderr);
    let nothing = rehearsal.rehearse(&["set", "mnt"]);
    assert!(nothing.stderr.contains("nothing to change"), "{}", nothing.stderr);

    let control = rehearsal.0.path("data/control");
    let mode = |path: &Path| {
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
    };
    assert_eq!((mode(&control), mode(&control.join("socket"))), (0o700, 0o600));

    rehearsal.rehearse(&["unmount", "mnt"]).success();
    assert!(!rehearsal.0.path("mnt/f").exists());
    let back = ["mount", "design.toml", "mnt", "--backing", "data", "--resize"];
    rehearsal.rehearse(&back).success();
    assert_eq!(fs::metadata(rehearsal.0.path("mnt/f")).unwrap().len(), 1 << 20);
}

#[test]
fn own_tables_stay_in_force_and_change() {
    let Some(rehearsal) = Rehearsal::mount(P30) else { return };
    let sandbox = &rehearsal.0;
    for (dir, iops) in [("one", 600), ("two", 700)] {
        sandbox.write("tiers.csv", format!("name,size_gib,iops,mb_s\nP31,1024,{iops},150\n"));
        let import =
            ["catalog", "import", "tiers.csv", "--write", dir, "--source", "a", "--date", "2026"];
        sandbox.plimsoll(&import).success();
    }
    let caps = |iops: u64| {
        let json = rehearsal.rehearse(&["status", "mnt", "--json"]);
        let report: serde_json::Value = serde_json::from_str(json.success()).unwrap();
        assert_eq!(report["caps"][0]["per_s"], iops);
        report["catalog_hash"].as_str().map(str::to_owned)
    };
    assert_eq!(caps(5_000), None);
    rehearsal.rehearse(&["set", "mnt", "--disk", "P31", "--catalog", "one"]).success();
    let one = caps(600);
    // What is changed next is read with the same tables.
    rehearsal.rehearse(&["set", "mnt", "--cache-mode", "None"]).success();
    assert_eq!(caps(600), one);
    rehearsal.rehearse(&["set", "mnt", "--catalog", "two"]).success();
    assert!(caps(700) != one && one.is_some());
    rehearsal.rehearse(&["unmount", "mnt"]).success();
    sandbox.write("design.toml", P30.replace("P30", "P31"));
    let again = ["mount", "design.toml", "mnt", "--backing", "data"];
    assert_eq!(rehearsal.rehearse(&again).code, 2);
    rehearsal.rehearse(&[&again[..], &["--catalog", "one"]].concat()).success();
    assert_eq!(caps(600), one);
}

#[test]
fn a_killed_server_leaves_a_stale_mount_and_all_data() {
    let Some(rehearsal) = Rehearsal::mount(P30) else { return };
    fs::write(rehearsal.0.path("mnt/f"), b"kept").unwrap();
    rehearsal.kill();
    let stale = rehearsal.rehearse(&["status", "mnt"]);
    assert!(stale.stderr.contains("whose server is gone"), "{}", stale.stderr);
    let again = rehearsal.mount_again();
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("clear it: plimsoll rehearse unmount"), "{}", again.stderr);
    rehearsal.rehearse(&["unmount", "mnt"]).success();
    rehearsal.mount_again().success();
    assert_eq!(fs::read(rehearsal.0.path("mnt/f")).unwrap(), b"kept");
}

#[test]
fn a_stopped_server_is_reported_and_can_be_left() {
    let Some(rehearsal) = Rehearsal::mount(P30) else { return };
    fs::write(rehearsal.0.path("mnt/f"), b"kept").unwrap();
    let server = rehearsal.server();
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill").arg(name).arg(&server).status();
        assert!(sent.unwrap().success());
    };
    signal("-STOP");
    let silent = ["status", "unmount"].map(|command| rehearsal.rehearse(&[command, "mnt"]));
    let lazy = rehearsal.rehearse(&["unmount", "mnt", "--lazy"]);
    signal("-CONT");
    let go_on = format!("continue it: kill -CONT {}", server.display());
    for silent in silent {
        assert_eq!(silent.code, 1, "{}", silent.stderr);
        assert!(silent.stderr.contains(&go_on), "{}", silent.stderr);
    }
    lazy.success();
    Rehearsal::wait_for_the_end_of(&server);
    rehearsal.mount_again().success();
    assert_eq!(fs::read(rehearsal.0.path("mnt/f")).unwrap(), b"kept");
}

#[track_caller]
fn check(rehearsal: &Rehearsal, args: &[&str], expected: &str) {
    let outcome = rehearsal.rehearse(args);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    let errors = outcome.stderr.lines().filter(|line| line.starts_with("error"));
    assert_eq!(errors.count(), 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
}

#[test]
fn each_mistake_is_one_clear_error() {
    let Some(rehearsal) = Rehearsal::mount(P30) else { return };
    fs::create_dir(rehearsal.0.path("full")).unwrap();
    rehearsal.0.write("full/f", b"");
    fs::create_dir(rehearsal.0.path("free")).unwrap();
    let mount = |at| ["mount", "design.toml", at, "--backing", "other"];
    check(&rehearsal, &mount("mnt"), "is in use");
    check(&rehearsal, &mount("full"), "is not empty");
    check(&rehearsal, &mount("none"), "does not exist");
    check(&rehearsal, &mount("full/f"), "is not a folder");
    let taken = ["mount", "design.toml", "free", "--backing", "data"];
    check(&rehearsal, &taken, "in use by another process");
    let foreign = ["mount", "design.toml", "free", "--backing", "full"];
    check(&rehearsal, &foreign, "holds files, but no volume");
    let inside = ["mount", "design.toml", "free", "--backing", "free/data"];
    check(&rehearsal, &inside, "is inside the mount point");
    assert!(!rehearsal.0.path("free/data").exists());
    let nested = ["mount", "design.toml", "free", "--backing", "mnt/sub/data"];
    check(&rehearsal, &nested, "which is itself the mount of a rehearsal");
    let among = ["mount", "design.toml", "free", "--backing", "data/data/sub"];
    check(&rehearsal, &among, "which holds the data of another rehearsal");
    let listen = ["export", "design.toml", "--listen", "127.0.0.1:0", "--backing", "mnt/data"];
    check(&rehearsal, &listen, "which is itself the mount of a rehearsal");
    let file = ["mount", "design.toml", "free", "--backing", "full/f"];
    check(&rehearsal, &file, "is not a folder");
    check(&rehearsal, &["unmount", "free"], "nothing to unmount");
    check(&rehearsal, &["unmount", "free"], "hint: name the mount point");
    let cannot_be = ["mount", "design.toml", "free", "--backing", "/proc/none"];
    check(&rehearsal, &cannot_be, "hint: keep the data where you may write: --backing DIR");
    fs::create_dir(rehearsal.0.path("mnt/inner")).unwrap();
    rehearsal.rehearse(&["status", "mnt/inner"]).success();
    check(&rehearsal, &["status", "free"], "no emulated volume is mounted");
    check(&rehearsal, &["restart", "mnt"], "is running");
    check(&rehearsal, &["restart", "mnt"], "hint: crash it first: plimsoll rehearse crash /");
    for key in ["--iops=9k", "--throughput=300MB/s", "--size=2TiB"] {
        check(&rehearsal, &["set", "mnt", key], "a disk that leaves it open: PremiumV2,");
    }
    let unknown = ["mount", "design.toml", "free", "--backing", "other", "--volume", "/x"];
    check(&rehearsal, &unknown, "has no volume `/x`");
}

/// The data of one design are not served as those of another.
#[test]
fn a_backing_stays_with_the_volumes_that_its_data_belong_to() {
    let Some(rehearsal) = Rehearsal::mount(P30) else { return };
    fs::write(rehearsal.0.path("mnt/f"), b"kept").unwrap();
    rehearsal.rehearse(&["unmount", "mnt"]).success();
    let mount = |design: &str, more: &[&str]| {
        rehearsal.0.write("design.toml", design);
        let args = ["mount", "design.toml", "mnt", "--backing", "data"];
        rehearsal.rehearse(&[&args[..], more].concat())
    };
    let renamed = mount(&P30.replace("/mnt/p30", "/mnt/other"), &[]);
    assert_eq!(renamed.code, 2, "{}", renamed.stderr);
    assert_eq!(renamed.stderr.matches("error").count(), 1, "{}", renamed.stderr);
    let what = "holds the data of another design, with /mnt/p30; this one has /mnt/other";
    assert!(renamed.stderr.contains(what), "{}", renamed.stderr);
    assert!(renamed.stderr.contains("hint: give this design a folder"), "{}", renamed.stderr);
    let p40 = P30.replace("disk = \"P30\"", "disk = \"P40\"");
    let larger = mount(&p40, &[]);
    assert_eq!(larger.code, 2, "{}", larger.stderr);
    let what = "of `/mnt/p30` with 1.00 TiB; this design gives it 2.00 TiB";
    assert!(larger.stderr.contains(what), "{}", larger.stderr);
    assert!(larger.stderr.contains("--resize"), "{}", larger.stderr);
    mount(&p40, &["--resize"]).success();
    assert_eq!(fs::read(rehearsal.0.path("mnt/f")).unwrap(), b"kept");
    // What `set` gave them is what they have.
    rehearsal.rehearse(&["set", "mnt", "--disk", "P30"]).success();
    rehearsal.rehearse(&["unmount", "mnt"]).success();
    mount(P30, &[]).success();
}

#[test]
fn who_is_still_there_is_named() {
    let Some(rehearsal) = Rehearsal::mount(P30) else { return };
    let mut sleep = Command::new("sleep");
    let mut inside = sleep.arg("600").current_dir(rehearsal.0.path("mnt")).spawn().unwrap();
    let process = format!("held by process {} (sleep)", inside.id());
    let busy = rehearsal.rehearse(&["unmount", "mnt"]);
    assert!(busy.code == 2 && busy.stderr.contains(&process), "{}", busy.stderr);
    let lazy = rehearsal.rehearse(&["unmount", "mnt", "--lazy"]);
    lazy.success();
    assert!(lazy.stderr.contains(&format!("note: still {process}")), "{}", lazy.stderr);
    let is_served = || rehearsal.rehearse(&["status", "data"]).code == 0;
    assert!(is_served());
    inside.kill().unwrap();
    inside.wait().unwrap();
    while is_served() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // What served lets go of the data a moment after it stopped to answer.
    let mount_when_free = || loop {
        let mounted = rehearsal.mount_again();
        if !mounted.stderr.contains("is in use by another process") {
            return mounted;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    mount_when_free().success();
    assert!(!rehearsal.rehearse(&["unmount", "mnt", "--lazy"]).stderr.contains("held"));
    mount_when_free().success();
}

/// One volume of several is mounted: the others are neither shown nor asked about.
#[test]
fn only_the_volume_that_is_mounted_is_spoken_of() {
    let volume = |mount: &str| P30.replace("name = \"one P30\"\n", "").replace("/mnt/p30", mount);
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("mnt")).unwrap();
    sandbox.write("design.toml", [volume("/mnt/data"), volume("/mnt/log")].concat());
    if !Path::new("/dev/fuse").exists() {
        testing::skipped!("there is no FUSE here");
        return;
    }
    let rehearsal = Rehearsal(sandbox);
    let args = ["--volume", "/mnt/log", "--cache", "warm"];
    let mount = ["mount", "design.toml", "mnt", "--backing", "data"];
    let said = rehearsal.rehearse(&[&mount[..], &args].concat());
    said.success();
    assert!(said.stderr.contains("`--cache warm` changes nothing"), "{}", said.stderr);
    rehearsal.rehearse(&["set", "mnt", "--disk", "P40"]).success();
    let page = rehearsal.rehearse(&["status", "mnt"]);
    let page = page.success();
    assert!(page.contains("/mnt/log") && page.contains("P40"), "{page}");
    assert!(!page.contains("/mnt/data") && page.contains("\n  disk iops  "), "{page}");
    assert!(page.contains(" 250 MB/s "), "{page}");
}

/// Each remark about a design is made once, and so is a disk that is full before the volumes are.
#[test]
fn a_mount_says_once_what_is_to_be_known() {
    let disk = "disk = { size = \"30000TiB\", iops = 500, throughput = \"60MB/s\" }";
    for (disk, has_room) in [(disk, false), (&disk.replace("30000TiB", "1MiB"), true)] {
        let design = format!("edition = \"2018\"\n[[volume]]\nmount = \"/mnt/a\"\n{disk}\n");
        let Some(rehearsal) = Rehearsal::mount(&design) else { return };
        rehearsal.rehearse(&["unmount", "mnt"]).success();
        let said = rehearsal.mount_again().stderr;
        assert_eq!(said.matches("cache-default").count(), 1, "{said}");
        let note = said.lines().find(|line| line.starts_with("note: the volumes have room for"));
        assert_eq!(note.is_none(), has_room, "{said}");
        assert!(note.is_none_or(|note| note.contains("for 29.3 PiB, and")), "{said}");
    }
}

fn machine(cache: &str) -> String {
    format!(
        "[vm]\nsize = \"DS14\"\n[[volume]]\nmount = \"/mnt/data\"\ndisk = \"P30\"\n\
         cache = \"{cache}\"\n"
    )
}

/// A disk of 32 MiB/s behind a machine that caches its writes.
const SLOW_CACHED: &str = "[vm]\nsize = \"DS14\"\n[[volume]]\nmount = \"/mnt/data\"\n\
    disk = { size = \"1GiB\", iops = 20000, throughput = \"32MiB/s\" }\ncache = \"ReadWrite\"\n";

#[test]
fn a_cache_that_is_switched_off_loses_nothing_in_a_later_crash() {
    let Some(rehearsal) = Rehearsal::mount(SLOW_CACHED) else { return };
    fs::write(rehearsal.0.path("mnt/f"), vec![7; 32 << 20]).unwrap();
    let set = rehearsal.rehearse(&["set", "mnt", "--cache-mode", "None"]);
    let said = set.success();
    assert!(said.contains("changed /mnt/data: cache ReadWrite -> None\n"), "{said}");
    assert!(said.contains(", which only the earlier cache had, is on the disks\n"), "{said}");
    assert!(set.stderr.contains("going to the disks"), "{}", set.stderr);
    let page = rehearsal.rehearse(&["status", "mnt"]);
    assert!(!page.success().contains("not on the disks"), "{}", page.stdout);
    assert!(!page.stdout.contains("host cache"), "{}", page.stdout);
    let crash = rehearsal.rehearse(&["crash", "mnt"]);
    assert_eq!(
        crash.success(),
        "crashed; nothing was lost: the disks had all that the caches held\n"
    );
    rehearsal.rehearse(&["restart", "mnt"]).success();
    assert!(fs::read(rehearsal.0.path("mnt/f")).unwrap() == vec![7; 32 << 20]);
}

#[test]
fn a_change_says_what_it_brings_and_what_a_design_may_not_change() {
    let Some(rehearsal) = Rehearsal::mount(&P30.replace("name = \"one P30\"\n", "")) else {
        return;
    };
    let set = rehearsal.rehearse(&["set", "mnt", "--disk", "P40"]);
    assert!(set.success().contains("P30 -> P40, 5,000 IOPS -> 7,500 IOPS"), "{}", set.stdout);
    let page = rehearsal.rehearse(&["status", "mnt"]);
    assert!(page.success().starts_with("design.toml at "), "{}", page.stdout);
    let again = rehearsal.rehearse(&["set", "mnt", "--disk", "P40"]);
    assert!(again.success().starts_with("nothing changed"), "{}", again.stdout);
    let gp3 = ["set", "mnt", "--disk", "gp3", "--size", "2TiB", "--iops", "5k"];
    let gp3 = rehearsal.rehearse(&gp3);
    gp3.success();
    assert!(gp3.stderr.contains("of Azure to one of AWS"), "{}", gp3.stderr);
    let back = rehearsal.rehearse(&["set", "mnt", "--disk", "P30"]);
    back.success();
    assert!(back.stderr.contains("iops, size of the earlier type"), "{}", back.stderr);
    assert!(back.stderr.contains("a provider lets disks grow"), "{}", back.stderr);
    let design = |name: &str, text: &str| rehearsal.0.write(name, text.as_bytes());
    design("moved.toml", &P30.replace("/mnt/p30", "/elsewhere"));
    check(&rehearsal, &["set", "mnt", "--design", "moved.toml"], "mount paths stay");
    design("striped.toml", &format!("{P30}count = 2\n"));
    check(
        &rehearsal,
        &["set", "mnt", "--design", "striped.toml"],
        "`/mnt/p30` is 1 disk in 1 column",
    );
    fs::write(rehearsal.0.path("mnt/f"), vec![1; 3 << 20]).unwrap();
    let own = "disk = { size = \"2MiB\", iops = 500, throughput = \"60MB/s\" }";
    design("small.toml", &P30.replace("disk = \"P30\"", own));
    check(&rehearsal, &["set", "mnt", "--design", "small.toml"], "holds 3 MiB");
}

/// Two disks behind a machine, one of which is slow.
const SLOW_AND_FAST: &str = "[vm]\nsize = \"DS14\"
[[volume]]\nmount = \"/slow\"\ndisk = { size = \"1GiB\", iops = 50, throughput = \"100MB/s\" }
latency = \"1ms\"
[[volume]]\nmount = \"/fast\"\ndisk = { size = \"1GiB\", iops = 20000, throughput = \"100MB/s\" }
latency = \"1ms\"\n";

#[test]
fn status_says_for_each_volume_what_holds_it_and_no_cap_that_nothing_meets() {
    let Some(rehearsal) = Rehearsal::mount(SLOW_AND_FAST) else { return };
    let ended = AtomicBool::new(false);
    let write = |name: &str| {
        let file = fs::File::create(rehearsal.0.path("mnt").join(name)).unwrap();
        while !ended.load(Relaxed) {
            file.write_all_at(&[1; 4096], 0).unwrap();
        }
    };
    let report = std::thread::scope(|scope| {
        // Two at a time: one would be held by nothing, with 50 of its 1 ms in a second.
        (0..2).for_each(|_| drop(scope.spawn(|| write("slow/f"))));
        scope.spawn(|| write("fast/f"));
        std::thread::sleep(Duration::from_secs(2));
        let json = rehearsal.rehearse(&["status", "mnt", "--json"]);
        ended.store(true, Relaxed);
        serde_json::from_str::<serde_json::Value>(json.success()).unwrap()
    });
    let wait = &report["volumes"][0]["recent_wait"];
    assert!(wait["cap"].as_str().unwrap().starts_with("disk /slow[0] "), "{report}");
    let (wait_ns, latency_ns) = (&wait["wait_ns_mean"], &wait["latency_ns_mean"]);
    assert!(wait_ns.as_u64().unwrap() * 2 > latency_ns.as_u64().unwrap(), "{report}");
    assert!(!report["volumes"][1]["recent_wait"].to_string().contains("/slow"), "{report}");
    let kinds: BTreeSet<&str> = report["caps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cap| cap["kind"].as_str().unwrap())
        .collect();
    let met = ["disk_bytes", "disk_iops", "vm_uncached_bytes", "vm_uncached_iops"];
    assert_eq!(kinds, BTreeSet::from(met));
}

/// Commits rows until a crash, and returns how many commits had returned.
fn commit_until_crash(rehearsal: &Rehearsal) -> Option<u64> {
    let mut sqlite = Command::new("sqlite3");
    sqlite.arg(rehearsal.0.path("mnt/db")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut sqlite) = sqlite.stderr(Stdio::null()).spawn() else {
        testing::skipped!("there is no sqlite3 here");
        return None;
    };
    let mut statements = sqlite.stdin.take().unwrap();
    let mut answers = BufReader::new(sqlite.stdout.take().unwrap()).lines();
    statements
        .write_all(b"PRAGMA synchronous=FULL; CREATE TABLE t(n INTEGER, text BLOB);\n")
        .unwrap();
    let mut n_committed = 0;
    for n in 0..12 {
        let insert = format!("INSERT INTO t VALUES({n}, randomblob(3000)); SELECT {n};\n");
        statements.write_all(insert.as_bytes()).unwrap();
        let answer = answers.next().unwrap().unwrap();
        assert_eq!(answer, n.to_string());
        n_committed += 1;
    }
    // In the middle of one: its end is open.
    statements.write_all(b"INSERT INTO t VALUES(99, randomblob(900000)); SELECT 99;\n").unwrap();
    std::thread::sleep(Duration::from_millis(15));
    rehearsal.rehearse(&["crash", "mnt"]).success();
    drop(statements);
    let _ = sqlite.wait();
    Some(n_committed)
}

#[test]
fn a_database_that_flushes_survives_in_every_mode() {
    for cache in ["None", "ReadOnly", "ReadWrite"] {
        let Some(rehearsal) = Rehearsal::mount(&machine(cache)) else { return };
        let Some(n_committed) = commit_until_crash(&rehearsal) else { return };
        rehearsal.rehearse(&["restart", "mnt"]).success();
        let ask = |statement: &str| {
            let mut sqlite = Command::new("sqlite3");
            let answer = outcome(sqlite.arg(rehearsal.0.path("mnt/db")).arg(statement));
            answer.success().trim().to_owned()
        };
        assert_eq!(ask("PRAGMA integrity_check"), "ok", "{cache}");
        let n_found: u64 = ask("SELECT count(*) FROM t").parse().unwrap();
        assert!(n_found == n_committed || n_found == n_committed + 1, "{cache}: {n_found}");
    }
}

#[test]
fn a_program_that_never_flushes_loses_data_with_read_write() {
    for (cache, is_lost) in [("None", false), ("ReadOnly", false), ("ReadWrite", true)] {
        let Some(rehearsal) = Rehearsal::mount(&machine(cache)) else { return };
        let file = rehearsal.0.path("mnt/f");
        fs::write(&file, vec![7; 256 << 10]).unwrap();
        let crashed = rehearsal.rehearse(&["crash", "mnt"]);
        assert_eq!(crashed.success().contains("lost 256 KiB in 1 file"), is_lost, "{cache}");
        assert!(fs::read(&file).is_err(), "a crashed machine answers nothing");
        rehearsal.rehearse(&["restart", "mnt"]).success();
        assert_eq!(fs::read(&file).unwrap().is_empty(), is_lost, "{cache}");
    }
}

/// Bytes of one block of a rollback.
const BLOCK: usize = 4096;

/// All reads of a device over a crashed volume fail: what it holds is not known.
#[test]
fn a_device_that_cannot_be_read_is_not_written() {
    let Some(rehearsal) = Rehearsal::mount(P30) else { return };
    let image = rehearsal.0.path("mnt/image");
    fs::write(&image, vec![7; 16 << 20]).unwrap();
    let Some(device) = LoopDevice::new(&image) else { return };
    rehearsal.rehearse(&["crash", "mnt"]).success();
    // Somebody may have looked at it when it appeared.
    let flushed = Command::new("blockdev").args(["--flushbufs", device.path()]).status();
    if !flushed.is_ok_and(|status| status.success()) {
        testing::skipped!("there is no blockdev here");
        return;
    }
    let job = format!("[a]\nfilename={}\nrw=randwrite\nsize=8m\n", device.path());
    rehearsal.0.write("job.fio", job);
    for command in ["run", "fio"] {
        let outcome = rehearsal.0.plimsoll(&[command, "job.fio"]);
        assert_ne!(outcome.code, 0, "{command}");
        let said = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("what that holds is not known: reading at byte 0"), "{said}");
    }
    rehearsal.rehearse(&["restart", "mnt"]).success();
    drop(device);
    assert!(fs::read(&image).unwrap().iter().all(|byte| *byte == 7));
}

/// Returns where the blocks lie that a rollback has to put back.
fn blocks_of(marker: &str) -> BTreeSet<usize> {
    let offset = |line: &str| line.split(' ').nth(3).unwrap().parse::<usize>().unwrap();
    marker.lines().filter(|line| line.starts_with("block ")).map(offset).collect()
}

/// Kills the server while it takes a crash back. Returns what it had to take back, or nothing if
/// it was through before.
fn kill_in_a_crash(rehearsal: &Rehearsal) -> Option<String> {
    let marker = rehearsal.0.path("data/rollback");
    let pid = rehearsal.server();
    let mut crash = rehearsal.0.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    let crash = crash.args(["rehearse", "crash", "mnt"]);
    let mut crash = crash.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !marker.exists() && crash.try_wait().unwrap().is_none() {}
    Rehearsal::kill_pid(&pid);
    let _ = crash.wait();
    fs::read_to_string(marker).ok()
}

#[test]
fn a_crash_that_was_killed_is_finished_at_the_next_mount() {
    let mut n_killed = 0;
    for _ in 0..5 {
        let Some(rehearsal) = Rehearsal::mount(&machine("ReadWrite")) else { return };
        let path = rehearsal.0.path("mnt/f");
        let file = fs::File::create(&path).unwrap();
        let n_bytes = 16 << 20;
        file.write_all_at(&vec![1; n_bytes], 0).unwrap();
        file.sync_all().unwrap();
        file.write_all_at(&vec![2; n_bytes], 0).unwrap();
        drop(file);
        let Some(left) = kill_in_a_crash(&rehearsal) else { continue };
        n_killed += 1;
        rehearsal.rehearse(&["unmount", "mnt"]).success();
        let mounted = rehearsal.mount_again();
        mounted.success();
        assert!(mounted.stderr.contains("killed in a crash"), "{}", mounted.stderr);
        assert!(!rehearsal.0.path("data/rollback").exists());
        let lost = blocks_of(&left);
        assert!(!lost.is_empty());
        let found = fs::read(&path).unwrap();
        assert_eq!(found.len(), n_bytes);
        for (idx, block) in found.chunks(BLOCK).enumerate() {
            let expected = if lost.contains(&(idx * BLOCK)) { 1 } else { 2 };
            assert!(block.iter().all(|&byte| byte == expected), "block {idx}");
        }
    }
    if n_killed == 0 {
        testing::skipped!("every rollback was through before the server was killed");
    }
}

#[test]
fn without_fuse_there_is_one_error_with_a_next_step() {
    let plimsoll = env!("CARGO_BIN_EXE_plimsoll");
    let hides = ["mount --bind /dev/null /dev/fuse", "mount -t tmpfs none /dev"];
    for hide in hides {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.path("mnt")).unwrap();
        sandbox.write("design.toml", P30);
        let script = format!(
            "{hide} || exit {SKIPPED}; {plimsoll} rehearse mount design.toml mnt --backing data"
        );
        let Some(outcome) = apart(&sandbox, &script) else { return };
        let said = outcome.mistake();
        assert_eq!(outcome.code, 2, "{said}");
        assert_eq!(said.matches("error").count(), 1, "{said}");
        assert!(said.contains("FUSE is not available") && said.contains("modprobe fuse"), "{said}");
        assert!(!sandbox.path("data").exists(), "nothing is made for a mount that cannot be");
    }
}

/// Users other than root need the helper. The user 65534 is `nobody` nearly everywhere.
#[test]
fn without_the_helper_there_is_one_error_with_a_next_step() {
    let sandbox = Sandbox::new();
    let plimsoll = env!("CARGO_BIN_EXE_plimsoll");
    let script = format!(
        "test -c /dev/fuse || exit {SKIPPED}; mount -t tmpfs none /mnt || exit {SKIPPED}
         cp {plimsoll} /mnt/plimsoll; mkdir /mnt/point /mnt/bin; chown 65534 /mnt/point
         mknod -m 666 /mnt/fuse c 10 229 || exit {SKIPPED}; mount --bind /mnt/fuse /dev/fuse
         true 3<> /dev/fuse || exit {SKIPPED}
         printf '[[volume]]\nmount = \"/a\"\ndisk = \"P30\"\n' > /mnt/design.toml
         exec env -i PATH=/mnt/bin /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups \
           /mnt/plimsoll rehearse mount /mnt/design.toml /mnt/point --backing /mnt/data"
    );
    if !Path::new("/usr/bin/setpriv").exists() {
        testing::skipped!("there is no setpriv here");
        return;
    }
    let Some(outcome) = apart(&sandbox, &script) else { return };
    let said = outcome.mistake();
    assert_eq!(outcome.code, 2, "{said}");
    assert_eq!(said.matches("error").count(), 1, "{said}");
    assert!(said.contains("`fusermount3` is missing"), "{said}");
    assert!(said.contains("apt-get install fuse3"), "{said}");
}

/// The real disk under the data is full: the writer gets the error, `status` says so, and what was
/// there stays.
#[test]
fn a_full_disk_under_the_data_is_reported_and_harms_nothing() {
    for cache in ["None", "ReadWrite"] {
        let sandbox = Sandbox::new();
        for dir in ["mnt", "disk"] {
            fs::create_dir(sandbox.path(dir)).unwrap();
        }
        sandbox.write("design.toml", machine(cache));
        let plimsoll = env!("CARGO_BIN_EXE_plimsoll");
        let script = format!(
            "test -c /dev/fuse || exit {SKIPPED}
             mount -t tmpfs -o size=8m none disk || exit {SKIPPED}
             {plimsoll} rehearse mount design.toml mnt --backing disk/data >&2 || exit 1
             head -c 1000000 /dev/urandom > source; dd if=source of=mnt/kept conv=fsync 2>&1
             dd if=/dev/zero of=mnt/big bs=64k count=256 && echo all was written || true
             cmp source mnt/kept; echo same
             {plimsoll} rehearse status mnt; rm mnt/big
             dd if=source of=mnt/more conv=fsync 2>&1; cmp source mnt/more; echo room again
             {plimsoll} rehearse unmount mnt; cmp source disk/data/data/kept; echo kept"
        );
        let Some(outcome) = apart(&sandbox, &script) else { return };
        let said = outcome.success();
        assert!(outcome.stderr.contains("No space left on device"), "{}", outcome.stderr);
        assert!(!said.contains("all was written"), "{said}");
        assert!(said.contains("the disk under the data was full"), "{said}");
        for step in ["same", "room again", "kept"] {
            assert!(said.lines().any(|line| line == step), "{cache}, {step}: {said}");
        }
    }
}
