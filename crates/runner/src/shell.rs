//! Shell commands around steps and jobs: run to their end, or ended with all their children when
//! the run is to stop.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// How often a command that runs is looked at.
const TICK: Duration = Duration::from_millis(10);

/// Time that a command has to end after SIGTERM, before SIGKILL: half a second.
const N_TICKS_OF_GRACE: u32 = 50;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Itself(ExitStatus),
    /// It was ended, with all its children, because the run is to stop.
    Stopped,
}

/// Starts a command of the shell in a group of its own, so that a terminal's signal reaches it
/// through us, and its children can be ended with it.
pub(crate) fn start(command: &str, stdout: Stdio, stderr: Stdio) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0)
        .spawn()
}

/// Waits for a command until its outputs are closed, too, which what it has left in the background
/// may keep open; or ends all of it as soon as `stops` says so.
pub(crate) fn wait(
    child: &mut Child,
    is_closed: &dyn Fn() -> bool,
    stops: &dyn Fn() -> bool,
) -> io::Result<Ended> {
    loop {
        // In this order: until its status is taken, no other process gets its number.
        if is_closed()
            && let Some(status) = child.try_wait()?
        {
            return Ok(Ended::Itself(status));
        }
        if stops() {
            end(child)?;
            // What has left the group of the command may keep the outputs open for ever.
            for _ in 0..N_TICKS_OF_GRACE {
                if is_closed() {
                    break;
                }
                std::thread::sleep(TICK);
            }
            return Ok(Ended::Stopped);
        }
        std::thread::sleep(TICK);
    }
}

/// Ends a command and all that it has started in its group.
fn end(child: &mut Child) -> io::Result<()> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let tell = |signal| group.map(|group| kill_process_group(group, signal));
    tell(Signal::TERM);
    for _ in 0..N_TICKS_OF_GRACE {
        if child.try_wait()?.is_some() {
            break;
        }
        std::thread::sleep(TICK);
    }
    // The shell may have gone and left its children.
    tell(Signal::KILL);
    child.wait().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn a_command_ends_by_itself() {
        let mut child = start("exit 3", Stdio::null(), Stdio::null()).unwrap();
        let ended = wait(&mut child, &|| true, &|| false).unwrap();
        assert!(matches!(ended, Ended::Itself(status) if status.code() == Some(3)));
    }

    #[test]
    fn a_command_is_ended_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let command =
            format!("sleep 1000 & echo $! > {0}/pid.new; mv {0}/pid.new {0}/pid; wait", {
                dir.path().display()
            });
        let mut child = start(&command, Stdio::null(), Stdio::null()).unwrap();
        let n_asked = AtomicU32::new(0);
        let pid = dir.path().join("pid");
        let stops = || {
            n_asked.fetch_add(1, Relaxed);
            pid.exists()
        };
        assert_eq!(wait(&mut child, &|| true, &stops).unwrap(), Ended::Stopped);
        assert!(n_asked.load(Relaxed) > 0);
        let pid = std::fs::read_to_string(&pid).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        // Whoever inherits it may not have taken leave of it yet.
        let is_gone = || std::fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z"));
        assert!((0..1000).any(|_| {
            std::thread::sleep(TICK);
            is_gone()
        }));
    }
}
