//! A signal ends a run that prepares, and a second one a run whose I/O never comes back.

mod common;
#[path = "common/slow_device.rs"]
mod slow_device;
#[path = "common/watch.rs"]
mod watch;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use common::Sandbox;
use record::{Outcome, Record};
use rustix::fs::inotify::WatchFlags;
use rustix::process::{Pid, Signal, kill_process};
use slow_device::SlowDevice;
use watch::Watch;

/// How far the one read has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Awaited,
    Held,
    Released,
}

static STAGE: Mutex<Stage> = Mutex::new(Stage::Awaited);
static CHANGED: Condvar = Condvar::new();

/// Longer than any step of this test takes; only a failure waits for so long.
const GIVE_UP: Duration = Duration::from_mins(2);

/// Waits for a stage and returns with it, or without it when it does not come.
fn wait_for(stage: Stage) -> MutexGuard<'static, Stage> {
    let guard = STAGE.lock().expect("no test panics with it");
    let waited = CHANGED.wait_timeout_while(guard, GIVE_UP, |it| *it != stage);
    waited.expect("no test panics with it").0
}

fn enter(stage: Stage) {
    *STAGE.lock().expect("no test panics with it") = stage;
    CHANGED.notify_all();
}

/// Holds a read until the test lets it go.
fn hold(_offset: u64) -> Duration {
    enter(Stage::Held);
    drop(wait_for(Stage::Released));
    Duration::ZERO
}

fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    kill_process(pid.expect("a process"), Signal::INT).expect("it runs");
}

/// Reads until the record is whole. The pipe stays open: the kernel does not let a process end
/// while a read of it is under way.
fn read_record(from: &mut impl Read) -> Record {
    let mut text = Vec::new();
    let mut part = [0; 4096];
    loop {
        let n_read = from.read(&mut part).expect("a pipe");
        assert!(n_read > 0, "no record: {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&part[..n_read]);
        if let Ok(record) = Record::from_json(&String::from_utf8_lossy(&text)) {
            return record;
        }
    }
}

#[test]
fn a_second_signal_does_not_wait_for_what_is_in_flight() {
    let Some(device) = SlowDevice::mount(hold) else { return };
    let sandbox = Sandbox::new();
    let file = device.file();
    sandbox.write("job.fio", format!("[a]\nfilename={}\nsize=4k\n", file.display()));
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["run", "job.fio", "--json", "--progress", "--status-interval", "100ms"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let mut progress = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut stdout = child.stdout.take().expect("a pipe");
    assert!(*wait_for(Stage::Held) == Stage::Held, "the read never came");
    interrupt(&child);
    let mut line = String::new();
    while !line.contains("a second signal stops at once") {
        line.clear();
        assert!(progress.read_line(&mut line).expect("a pipe") > 0, "it ended by one signal");
    }
    interrupt(&child);
    let record = read_record(&mut stdout);
    let is_held = *wait_for(Stage::Held) == Stage::Held;
    enter(Stage::Released);
    assert!(is_held, "it ended only with the read");
    assert_eq!((record.outcome, record.jobs[0].n_ios()), (Outcome::Interrupted, 0));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

/// Two million files take seconds to look at and to bind. Nothing of them is there when the run
/// ends, so it ended before they were bound. When it looks at its first file it listens to signals.
#[test]
fn a_signal_ends_the_preparation_of_many_files() {
    let sandbox = Sandbox::new();
    sandbox.write("first", [0; 4096]);
    let job = "[first]\nfilename=first\n[a]\nioengine=null\nsize=8g\nnrfiles=2000000\ntime_based\n\
               runtime=1h\n";
    sandbox.write("job.fio", job);
    let opened = Watch::new(&sandbox.path("first"), WatchFlags::OPEN);
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["run", "job.fio", "--json", "--no-progress"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary was built");
    assert!(opened.wait(GIVE_UP), "it never looks at its first file");
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    if String::from_utf8_lossy(&output.stderr).contains("not-enough-memory") {
        testing::skipped!("1 GiB of memory");
        return;
    }
    let record = Record::from_json(&String::from_utf8_lossy(&output.stdout)).expect("a record");
    assert_eq!((record.outcome, output.status.code()), (Outcome::Interrupted, Some(130)));
    assert_eq!(record.jobs, []);
}
