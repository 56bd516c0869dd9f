//! The process that writes a run, distinct from a later one with the same number.

use std::fs;

/// Returns this process's name: of the machine's start, the process, and its start.
pub(crate) fn this() -> String {
    let pid = std::process::id();
    format!("{} {pid} {}", boot(), start(pid).unwrap_or_default())
}

/// Returns whether a process that [`this`] named is still there.
pub(crate) fn is_alive(owner: &str) -> bool {
    let mut words = owner.split(' ');
    let (Some(booted), Some(pid), Some(started)) = (words.next(), words.next(), words.next())
    else {
        return false;
    };
    let started_now = pid.parse().ok().and_then(start);
    booted == boot() && started_now.is_some_and(|now| now == started)
}

/// A name that each start of the machine has of its own.
fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// When a process started, in ticks since the machine did. `None` if there is none, or only what
/// its parent has not waited for.
fn start(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let is_dead = matches!(fields.next()?, "Z" | "X");
    // The 22nd field of all.
    fields.nth(18).filter(|_| !is_dead).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alive_until_it_ends() {
        assert!(is_alive(&this()));
        assert!(!is_alive(""));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = format!("{} {} {}", boot(), child.id(), start(child.id()).unwrap());
        assert!(is_alive(&owner));
        assert!(!is_alive(&owner.replace(&boot(), "another-start")));
        child.kill().unwrap();
        while start(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert!(!is_alive(&owner), "dead, and not yet waited for");
        child.wait().unwrap();
        assert!(!is_alive(&owner));
    }
}
