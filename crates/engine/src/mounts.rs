//! Where devices are mounted, from the kernel's table of mounts.

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

/// Returns the kernel's table of mounts as it is now; empty where there is none.
pub fn table() -> Vec<Mount> {
    parse(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
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
