//! Processes that keep a mount busy.

use std::fs;
use std::path::{Path, PathBuf};

/// A process with an open or mapped file, its program or its working folder in a mount.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// What it is called in lists of processes.
    pub name: String,
}

/// Most processes that are named.
const NAMED_MAX: usize = 5;

/// Returns the processes that hold something below a mount point, by number: those of other users
/// only for root. Does not touch the mount, so it never waits for its server.
pub fn holders(mount: &Path) -> Vec<Holder> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<Holder> = processes
        .filter_map(|process| Some((process.file_name().to_str()?.parse().ok()?, process.path())))
        .filter(|(pid, process)| *pid != std::process::id() && holds(process, mount))
        .map(|(pid, process)| {
            let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
            Holder { pid, name: name.trim_end().to_owned() }
        })
        .collect();
    found.sort_unstable();
    found
}

/// Names processes: `1234 (sqlite3), 1300 (bash)`.
pub fn named(holders: &[Holder]) -> String {
    let one = |holder: &Holder| format!("{} ({})", holder.pid, holder.name);
    let mut names: Vec<String> = holders.iter().take(NAMED_MAX).map(one).collect();
    let n_more = holders.len().saturating_sub(NAMED_MAX);
    if n_more > 0 {
        names.push(format!("{n_more} more"));
    }
    names.join(", ")
}

fn holds(process: &Path, mount: &Path) -> bool {
    let is_below = |link: PathBuf| fs::read_link(link).is_ok_and(|to| to.starts_with(mount));
    let fds = || fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    ["cwd", "root", "exe"].into_iter().any(|link| is_below(process.join(link)))
        || fds().any(|fd| is_below(fd.path()))
        || maps(process, mount)
}

/// Returns whether a file of the mount is mapped (proc_pid_maps(5): the path is the last field).
fn maps(process: &Path, mount: &Path) -> bool {
    let maps = fs::read(process.join("maps")).unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    let path = |line: &str| line.find('/').map(|at| PathBuf::from(&line[at..]));
    maps.lines().filter_map(path).any(|path| path.starts_with(mount))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn who_is_in_a_folder_or_has_a_file_of_it_open_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().canonicalize().unwrap();
        assert_eq!(holders(&dir), []);
        let mut inside = Command::new("cat");
        let mut inside = inside.current_dir(&dir).stdin(Stdio::piped()).spawn().unwrap();
        let file = fs::File::create(dir.join("f")).unwrap();
        let mut open = Command::new("cat").stdin(Stdio::piped()).stdout(file).spawn().unwrap();
        let found = holders(&dir);
        for child in [&mut inside, &mut open] {
            assert!(found.iter().any(|holder| holder.pid == child.id()), "{found:?}");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(holders(&dir), []);
    }

    #[test]
    fn many_are_counted() {
        let holder = |pid| Holder { pid, name: "fio".to_owned() };
        assert_eq!(named(&[holder(7)]), "7 (fio)");
        let many: Vec<Holder> = (1..=7).map(holder).collect();
        assert!(named(&many).ends_with("5 (fio), 2 more"), "{}", named(&many));
    }
}
