//! Disturbances: stopping a process at random, and programs that keep all processors busy.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::program::Answer;

/// Stops a process again and again while it runs, for 0.4 s each, `per_s` times a second on
/// average, and returns what it answered.
pub(crate) fn stopping(mut child: Child, per_s: f64, seed: u64) -> Result<Answer> {
    const STOPPED: Duration = Duration::from_millis(400);
    let output = collect(&mut child);
    let pid = i32::try_from(child.id()).context("a process id")?;
    let mut random = Random(seed.wrapping_mul(2).wrapping_add(1));
    let status = loop {
        // Exponential gaps: stops come at any moment, independent of each other.
        let gap = Duration::from_secs_f64(-random.share().ln() / per_s);
        if let Some(status) = wait(&mut child, gap)? {
            break status;
        }
        signal(pid, libc::SIGSTOP);
        std::thread::sleep(STOPPED);
        signal(pid, libc::SIGCONT);
    };
    Ok(Answer::of(&output.join(status)))
}

/// Stops a process once, `after` its start, for `length`.
pub(crate) fn stopped_once(mut child: Child, after: Duration, length: Duration) -> Result<Answer> {
    let output = collect(&mut child);
    let pid = i32::try_from(child.id()).context("a process id")?;
    let mut status = wait(&mut child, after)?;
    if status.is_none() {
        signal(pid, libc::SIGSTOP);
        std::thread::sleep(length);
        signal(pid, libc::SIGCONT);
        status = Some(child.wait()?);
    }
    Ok(Answer::of(&output.join(status.context("it has ended")?)))
}

/// Sends a signal to a child that was not waited for yet, so that its id is its own.
fn signal(pid: i32, signal: libc::c_int) {
    // SAFETY: the call takes two numbers and touches no memory of this process.
    let _sent = unsafe { libc::kill(pid, signal) };
}

/// Waits for a process for a time; none where it goes on.
fn wait(child: &mut Child, time: Duration) -> Result<Option<std::process::ExitStatus>> {
    const LOOK: Duration = Duration::from_millis(20);
    let mut left = time;
    while !left.is_zero() {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let nap = left.min(LOOK);
        std::thread::sleep(nap);
        left -= nap;
    }
    Ok(child.try_wait()?)
}

/// What a child prints, read while it runs: a full pipe would stop it.
struct Collected {
    stdout: std::thread::JoinHandle<Vec<u8>>,
    stderr: std::thread::JoinHandle<Vec<u8>>,
}

fn collect(child: &mut Child) -> Collected {
    fn read(from: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut all = Vec::new();
            if let Some(mut from) = from {
                // What was read before an error is what there is.
                let _end = from.read_to_end(&mut all);
            }
            all
        })
    }
    Collected { stdout: read(child.stdout.take()), stderr: read(child.stderr.take()) }
}

impl Collected {
    fn join(self, status: std::process::ExitStatus) -> std::process::Output {
        let stdout = self.stdout.join().unwrap_or_default();
        let stderr = self.stderr.join().unwrap_or_default();
        std::process::Output { status, stdout, stderr }
    }
}

/// Programs that keep all processors busy until they are dropped: two for each, as `stress-ng
/// --cpu`.
pub(crate) struct Busy(Vec<Child>);

impl Busy {
    pub(crate) fn start() -> Result<Busy> {
        let n_cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let spin = || {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            shell.spawn().context("cannot start `sh`")
        };
        Ok(Busy((0..2 * n_cpus).map(|_| spin()).collect::<Result<_>>()?))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _gone = child.kill();
            let _status = child.wait();
        }
    }
}

/// Random numbers that are the same for the same seed (xorshift64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number above 0 and up to 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn random_numbers_fill_their_range() {
        let mut random = Random(3);
        let all: Vec<f64> = (0..1000).map(|_| random.share()).collect();
        assert!(all.iter().all(|share| *share > 0.0 && *share <= 1.0));
        let mean = all.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
