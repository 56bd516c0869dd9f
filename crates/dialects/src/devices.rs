//! Which paths name devices, by where they lie: nothing here looks at the host.

/// Where devices have their names.
const FOLDER: &str = "/dev/";

/// Where Linux mounts memory as a file system for files, among the devices.
const SHARED_MEMORY: &str = "/dev/shm/";

/// Returns whether a path is that of a device. What lies in `/dev/shm` is a file, as Vdbench takes
/// it, too; the guard of devices in `engine` looks at what is mounted there.
pub(crate) fn is_device(path: &str) -> bool {
    path.starts_with(FOLDER) && !path.starts_with(SHARED_MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_holds_files() {
        let check = |path: &str, expected: bool| assert_eq!(is_device(path), expected, "{path}");
        check("/dev/sdb", true);
        check("/dev/mapper/data", true);
        check("/dev/shm/f", false);
        check("/dev/shm/a/f", false);
        check("/dev/shmem", true);
        check("/device", false);
        check("dev/sdb", false);
        check("", false);
    }
}
