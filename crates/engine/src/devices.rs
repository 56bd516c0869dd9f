//! The folder of devices: what is made there lies in memory, under a name that a device may get.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::mounts::DeviceNumber;

/// Where devices have their names.
pub const FOLDER: &str = "/dev";

/// Returns the number of the file system that is mounted there, if one is: it is in memory, and
/// what is made below `/dev/disk` or `/dev/mapper` lies on it, too.
pub fn file_system() -> Option<DeviceNumber> {
    let number = |path: &str| Some(rustix::fs::stat(path).ok()?.st_dev);
    let dev = number(FOLDER).filter(|dev| number("/") != Some(*dev))?;
    Some((rustix::fs::major(dev), rustix::fs::minor(dev)))
}

/// Returns whether a file or folder that is made at a path would lie among the devices. What is
/// mounted below `/dev`, as `/dev/shm` is, holds files. Folders that are missing are made first.
pub fn would_hold(path: &Path) -> bool {
    let Ok(whole) = std::path::absolute(path) else { return false };
    let folder = whole.ancestors().skip(1).find_map(|folder| fs::canonicalize(folder).ok());
    let number = |path: &Path| fs::metadata(path).map(|facts| facts.dev()).ok();
    let Some((folder, dev)) = folder.zip(number(Path::new(FOLDER))) else { return false };
    let is_there = number(&folder) == Some(dev);
    is_there && (folder.starts_with(FOLDER) || file_system().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: bool) {
        assert_eq!(would_hold(Path::new(path)), expected, "{path}");
    }

    #[test]
    fn a_file_is_among_devices_by_where_it_would_lie() {
        check("/dev/no-such-device", true);
        check("/dev/no-such-folder/a/file", true);
        check("/dev/../dev/no-such-device", true);
        check("/proc/self/root/dev/no-such-device", true);
        check("/tmp/no-such-file", false);
        check("no-such-file", false);
        check("", false);
        // Where an open file has its name.
        check("/dev/fd/1", false);
    }

    #[test]
    fn what_is_mounted_below_holds_files() {
        let number = |path: &str| fs::metadata(path).map(|facts| facts.dev()).ok();
        if number("/dev/shm").is_none_or(|shm| Some(shm) == number(FOLDER)) {
            testing::skipped!("nothing is mounted at /dev/shm");
            return;
        }
        check("/dev/shm/file", false);
        check("/dev/shm/no-such-folder/file", false);
        check("/dev/shm/../file", true);
    }
}
