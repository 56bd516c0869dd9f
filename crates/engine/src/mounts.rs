//! Where devices are mounted, from the kernel's tables of mounts: each mount namespace has one.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// A device number: major and minor.
pub type DeviceNumber = (u32, u32);

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The device, as the kernel counts it. File systems over several devices have numbers of
    /// their own.
    pub device: DeviceNumber,
    /// Where.
    pub at: PathBuf,
    /// What was named when it was mounted, often the path of a device.
    pub source: PathBuf,
    /// Type of the file system.
    pub file_system: String,
    /// Options of the mount and of the file system, separated by commas.
    pub options: String,
}

/// A process of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
}

impl Process {
    /// Returns the process of a folder of /proc; `None` of what is no process, or has ended.
    pub(crate) fn of_folder(folder: &Path) -> Option<Self> {
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        let name = std::fs::read_to_string(folder.join("comm")).ok()?;
        Some(Process { pid, name: name.trim().to_owned() })
    }
}

/// Where something is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountPoint {
    /// The path. `[SWAP]` stands for use as swap.
    pub at: PathBuf,
    /// A process of the mount namespace that has it; `None` in this process's own.
    pub seen_by: Option<Process>,
}

impl MountPoint {
    /// One in the mount namespace of this process.
    pub fn here(at: impl Into<PathBuf>) -> Self {
        MountPoint { at: at.into(), seen_by: None }
    }
}

impl fmt::Display for MountPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.at.display())?;
        match &self.seen_by {
            Some(Process { pid, name }) => {
                write!(f, " (in another mount namespace: process {pid}, `{name}`)")
            }
            None => Ok(()),
        }
    }
}

/// The table of mounts of a mount namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// A process that is in it; `None` of this process's own.
    pub seen_by: Option<Process>,
    /// What is mounted there.
    pub mounts: Vec<Mount>,
}

/// Returns the kernel's table of mounts as it is now; empty where there is none.
pub fn table() -> Vec<Mount> {
    read(Path::new("/proc/self")).unwrap_or_default()
}

/// Returns the tables of all mount namespaces, this process's own first. Others are those that
/// a process is in which this user may look at: root may at all. One that is only kept by a bind
/// mount or an open file is not found.
pub fn namespaces() -> Vec<Namespace> {
    let id = |folder: &Path| std::fs::read_link(folder.join("ns/mnt")).ok();
    let mut known: HashSet<PathBuf> = id(Path::new("/proc/self")).into_iter().collect();
    let mut found = vec![Namespace { seen_by: None, mounts: table() }];
    let Ok(processes) = std::fs::read_dir("/proc") else { return found };
    for folder in processes.flatten().map(|entry| entry.path()) {
        let is_new = id(&folder).is_some_and(|id| known.insert(id));
        let Some(process) = is_new.then(|| Process::of_folder(&folder)).flatten() else { continue };
        let Some(mounts) = read(&folder) else { continue };
        found.push(Namespace { seen_by: Some(process), mounts });
    }
    found
}

/// Reads the table of a process, by its folder of /proc.
fn read(folder: &Path) -> Option<Vec<Mount>> {
    std::fs::read_to_string(folder.join("mountinfo")).ok().map(|text| parse(&text))
}

/// Returns what a path is on: the mount that is deepest, and of those at the same place the last.
pub fn of_path<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.at));
    above.max_by_key(|mount| mount.at.components().count())
}

/// Reads `/proc/self/mountinfo` (proc_pid_mountinfo(5)). Lines that make no sense are left out.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    // 36 35 98:0 /root /mount/point options [optional fields] - type source options
    let (fixed, rest) = line.split_once(" - ")?;
    let mut fields = fixed.split(' ');
    let device = parse_device(fields.nth(2)?)?;
    let at = unescape(fields.nth(1)?);
    let own = fields.next().unwrap_or_default();
    let mut rest = rest.split(' ');
    let file_system = rest.next()?.to_owned();
    let source = unescape(rest.next()?);
    let mut options = own.to_owned();
    for option in rest.next().unwrap_or_default().split(',') {
        if !option.is_empty() && !options.split(',').any(|known| known == option) {
            options = format!("{options},{option}");
        }
    }
    Some(Mount { device, at, source, file_system, options })
}

/// Reads `major:minor`.
pub(crate) fn parse_device(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Undoes the octal escapes that stand for blanks, tabs, line ends and backslashes.
fn unescape(field: &str) -> PathBuf {
    let mut path = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.find('\\') {
        path.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|code| u8::from_str_radix(code, 8).ok());
        rest = if let Some(code) = code {
            path.push(char::from(code));
            &rest[at + 4..]
        } else {
            path.push('\\');
            &rest[at + 1..]
        };
    }
    path.push_str(rest);
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(DeviceNumber, &str, &str)>) {
        let mount = parse(line).pop();
        let found = mount.as_ref().map(|mount| {
            (mount.device, mount.at.to_str().unwrap(), mount.source.to_str().unwrap())
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn options_are_those_of_the_mount_and_of_the_file_system() {
        let line = "9 1 0:52 / /mnt/v rw,noatime shared:3 - nfs4 srv:/e rw,rsize=65536,hard";
        let table = parse(&format!("1 1 8:1 / / rw - ext4 /dev/sda1 rw\n{line}\n"));
        let mount = of_path(&table, Path::new("/mnt/v/a/b")).unwrap();
        assert_eq!((mount.file_system.as_str(), mount.source.to_str()), ("nfs4", Some("srv:/e")));
        assert_eq!(mount.options, "rw,noatime,rsize=65536,hard");
        let root = of_path(&table, Path::new("/mnt/vx")).unwrap();
        assert_eq!(root.file_system, "ext4");
    }

    #[test]
    fn lines_are_read_with_and_without_optional_fields() {
        check(
            "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw",
            Some(((98, 0), "/mnt2", "/dev/root")),
        );
        check("21 1 254:1 / / rw - ext4 /dev/vda1 rw", Some(((254, 1), "/", "/dev/vda1")));
        check(
            r"40 21 0:35 / /a\040b\134c rw - btrfs /dev/sdb rw",
            Some(((0, 35), r"/a b\c", "/dev/sdb")),
        );
        check(r"40 21 0:35 / /odd\ rw - tmpfs none rw", Some(((0, 35), r"/odd\", "none")));
    }

    #[test]
    fn nonsense_is_left_out() {
        check("", None);
        check("36 35 98 /mnt1 /mnt2 rw - ext3 /dev/root rw", None);
        check("36 35 98:0 /mnt1 - ext3", None);
    }
}
