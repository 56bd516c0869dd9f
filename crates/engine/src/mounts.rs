//! Where devices are mounted, from the kernel's tables of mounts: each mount namespace has one.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStringExt;
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
        let name = std::fs::read(folder.join("comm")).ok()?;
        Some(Process { pid, name: String::from_utf8_lossy(&name).trim().to_owned() })
    }
}

/// What the kernel has a device or a file in use for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelUse {
    /// The file system on it is mounted there.
    Mounted(MountPoint),
    /// Pages are swapped out to this path.
    Swap(PathBuf),
}

impl fmt::Display for KernelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelUse::Mounted(mount_point) => write!(f, "mounted at {mount_point}"),
            KernelUse::Swap(_) => f.write_str("in use as swap"),
        }
    }
}

/// Where something is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountPoint {
    /// The path.
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

/// A table of the kernel that could not be read: what is mounted, or used as swap, is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadTable {
    /// The file or folder of it.
    pub path: PathBuf,
    /// Why.
    pub errno: i32,
}

impl UnreadTable {
    fn new(path: &Path, error: &io::Error) -> Self {
        UnreadTable { path: path.to_owned(), errno: error.raw_os_error().unwrap_or(libc::EIO) }
    }
}

/// Returns the kernel's table of mounts as it is now; empty where there is none. For labels: who
/// guards a target asks [`namespaces`].
pub fn table() -> Vec<Mount> {
    std::fs::read("/proc/self/mountinfo").map(|text| parse(&text)).unwrap_or_default()
}

/// Returns the tables of all mount namespaces, this process's own first. Others are those that
/// a process is in which this user may look at: root may at all. One that is only kept by a bind
/// mount or an open file is not found.
///
/// `proc` is the folder where the kernel shows its processes.
///
/// # Errors
/// When the own table, the list of processes, or the table of a process that is there and that
/// this user may look at cannot be read.
pub(crate) fn namespaces(proc: &Path) -> Result<Vec<Namespace>, UnreadTable> {
    let own = proc.join("self");
    let own_table = own.join("mountinfo");
    let mounts = std::fs::read(&own_table).map_err(|error| UnreadTable::new(&own_table, &error))?;
    let mut known: HashSet<PathBuf> = id_of(&own)?.into_iter().collect();
    let mut found = vec![Namespace { seen_by: None, mounts: parse(&mounts) }];
    let of_list = |error: io::Error| UnreadTable::new(proc, &error);
    for entry in std::fs::read_dir(proc).map_err(of_list)? {
        let folder = entry.map_err(of_list)?.path();
        let name = folder.file_name().and_then(|name| name.to_str());
        let Some(pid) = name.and_then(|name| name.parse().ok()) else { continue };
        let Some(id) = id_of(&folder)?.filter(|id| !known.contains(id)) else { continue };
        // The process may end at any moment: then the next one of its namespace is asked.
        let path = folder.join("mountinfo");
        let Some(text) = of_process(std::fs::read(&path), &path)? else { continue };
        known.insert(id);
        let process = Process::of_folder(&folder);
        let process = process.unwrap_or_else(|| Process { pid, name: "has ended".to_owned() });
        found.push(Namespace { seen_by: Some(process), mounts: parse(&text) });
    }
    Ok(found)
}

/// Returns what names the mount namespace of a process, by its folder of /proc.
fn id_of(folder: &Path) -> Result<Option<PathBuf>, UnreadTable> {
    let path = folder.join("ns/mnt");
    of_process(std::fs::read_link(&path), &path)
}

/// Distinguishes a process that has ended, or that this user may not look at, from a file that
/// cannot be read.
fn of_process<T>(result: io::Result<T>, path: &Path) -> Result<Option<T>, UnreadTable> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.raw_os_error() {
            // The kernel says EINVAL of one that is ending.
            Some(libc::ENOENT | libc::ESRCH | libc::EINVAL | libc::EACCES | libc::EPERM) => {
                Ok(None)
            }
            _ => Err(UnreadTable::new(path, &error)),
        },
    }
}

/// Returns the paths that are used as swap.
///
/// # Errors
/// When the table is there and cannot be read. A kernel without swap has none.
pub(crate) fn swaps(proc: &Path) -> Result<Vec<PathBuf>, UnreadTable> {
    let path = proc.join("swaps");
    let text = match std::fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| UnreadTable::new(&path, &error))?,
    };
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    let first = lines.filter_map(|line| line.split(u8::is_ascii_whitespace).next());
    Ok(first.filter(|name| !name.is_empty()).map(unescape).collect())
}

/// Returns what a path is on: the mount that is deepest, and of those at the same place the last.
pub fn of_path<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.at));
    above.max_by_key(|mount| mount.at.components().count())
}

/// Reads `/proc/self/mountinfo` (proc_pid_mountinfo(5)). Paths may be any bytes. Lines that make no
/// sense are left out.
pub(crate) fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    // 36 35 98:0 /root /mount/point options [optional fields] - type source options
    let mut fields = line.split(|byte| *byte == b' ');
    let device = parse_device(std::str::from_utf8(fields.nth(2)?).ok()?)?;
    let at = unescape(fields.nth(1)?);
    let own = fields.next()?;
    if own != b"-" {
        fields.find(|field| *field == b"-")?;
    }
    let own = if own == b"-" { &[] } else { own };
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let file_system = text(fields.next()?);
    let source = unescape(fields.next()?);
    let mut options = text(own);
    for option in text(fields.next().unwrap_or_default()).split(',') {
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

fn unescape(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(units::unescape_mount(field)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(DeviceNumber, &str, &str)>) {
        let mount = parse(line.as_bytes()).pop();
        let found = mount.as_ref().map(|mount| {
            (mount.device, mount.at.to_str().unwrap(), mount.source.to_str().unwrap())
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn options_are_those_of_the_mount_and_of_the_file_system() {
        let line = "9 1 0:52 / /mnt/v rw,noatime shared:3 - nfs4 srv:/e rw,rsize=65536,hard";
        let table = parse(format!("1 1 8:1 / / rw - ext4 /dev/sda1 rw\n{line}\n").as_bytes());
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

    /// A folder like /proc: of each process its number, the name of its mount namespace, and its
    /// table, `None` of a process that has just ended.
    fn proc(processes: &[(&str, &str, Option<&[u8]>)]) -> tempfile::TempDir {
        let proc = tempfile::tempdir().unwrap();
        for (pid, namespace, table) in processes {
            let folder = proc.path().join(pid);
            std::fs::create_dir_all(folder.join("ns")).unwrap();
            std::os::unix::fs::symlink(namespace, folder.join("ns/mnt")).unwrap();
            std::fs::write(folder.join("comm"), b"odd\xff\n").unwrap();
            if let Some(table) = table {
                std::fs::write(folder.join("mountinfo"), table).unwrap();
            }
        }
        proc
    }

    const ROOT: &[u8] = b"21 1 254:1 / / rw - ext4 /dev/vda1 rw\n";
    const DATA: &[u8] = b"36 21 8:16 / /data\xe9 rw - xfs /dev/sd\xe9 rw\n";

    #[test]
    fn a_namespace_is_known_once_its_table_was_read() {
        // Whatever the order of the folder, one of the two has ended before it was asked.
        for (ended, alive) in [("7", "8"), ("8", "7")] {
            let tables = [
                ("self", "mnt:[1]", Some(ROOT)),
                (ended, "mnt:[2]", None),
                (alive, "mnt:[2]", Some(DATA)),
                ("9", "mnt:[1]", Some(ROOT)),
            ];
            let found = namespaces(proc(&tables).path()).unwrap();
            let seen = |it: &Namespace| it.seen_by.as_ref().map(|process| process.pid.to_string());
            let seen: Vec<_> = found.iter().map(seen).collect();
            assert_eq!(seen, [None, Some(alive.to_owned())]);
            assert_eq!(found[1].mounts[0].device, (8, 16));
        }
    }

    #[test]
    fn names_are_any_bytes() {
        let [mount] = &parse(DATA)[..] else { panic!("one mount") };
        assert_eq!(mount.at.as_os_str().as_encoded_bytes(), b"/data\xe9");
        assert_eq!(mount.source.as_os_str().as_encoded_bytes(), b"/dev/sd\xe9");
        let folder = proc(&[("self", "mnt:[1]", Some(DATA))]);
        std::fs::write(folder.path().join("swaps"), b"Filename Type\n/s\xe9\\040a file 8 0 -2\n")
            .unwrap();
        let swaps = swaps(folder.path()).unwrap();
        assert_eq!(swaps[0].as_os_str().as_encoded_bytes(), b"/s\xe9 a");
    }

    #[test]
    fn what_cannot_be_read_is_not_empty() {
        let nothing = tempfile::tempdir().unwrap();
        let table = nothing.path().join("self/mountinfo");
        let missing = UnreadTable { path: table, errno: libc::ENOENT };
        assert_eq!(namespaces(nothing.path()), Err(missing));
        // A folder in the place of a table stands for one that fails.
        let folder = proc(&[("self", "mnt:[1]", Some(ROOT)), ("7", "mnt:[2]", None)]);
        let table = folder.path().join("7/mountinfo");
        std::fs::create_dir(&table).unwrap();
        let failing = UnreadTable { path: table, errno: libc::EISDIR };
        assert_eq!(namespaces(folder.path()), Err(failing));
        assert_eq!(swaps(folder.path()), Ok(Vec::new()));
        std::fs::create_dir(folder.path().join("swaps")).unwrap();
        assert_eq!(swaps(folder.path()).unwrap_err().errno, libc::EISDIR);
    }
}
