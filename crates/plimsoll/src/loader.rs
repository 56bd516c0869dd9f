//! Files, environment and facts about this machine, for the parsers.

use std::fs::{self, File};
use std::io::{self, Read};
use std::net::ToSocketAddrs as _;
use std::path::Path;

use dialects::loader::{FILE_BYTES_MAX, Lun, Overlay};
use dialects::{LoadError, Loader};
use units::system_text;

use crate::{env, inputs};

/// Most bytes that are read of a job file, one more than the largest that a parser takes: a device
/// named by mistake has no end.
const READ_BYTES_MAX: u64 = FILE_BYTES_MAX as u64 + 1;

/// The real loader.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostLoader;

/// The real loader, which reads each file once, however often it is asked about it.
pub(crate) type ReadOnce = Overlay<HostLoader>;

impl Loader for HostLoader {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        if path == "-" {
            return read_up_to(&mut io::stdin().lock());
        }
        let facts = fs::metadata(path).map_err(|error| load_error(&error))?;
        if facts.is_dir() {
            return Err(LoadError::IsDirectory);
        }
        inputs::note(Path::new(path));
        read_up_to(&mut File::open(path).map_err(|error| load_error(&error))?)
    }

    fn is_file(&self, path: &str) -> bool {
        fs::metadata(path).is_ok_and(|facts| facts.is_file())
    }

    fn lun(&self, path: &str) -> Lun {
        match fs::metadata(path) {
            Ok(found) if found.is_file() => Lun::File(found.len()),
            Ok(_) => Lun::Device,
            Err(_) => {
                let folder = Path::new(path).parent().filter(|it| !it.as_os_str().is_empty());
                if folder.is_none_or(Path::exists) { Lun::Missing } else { Lun::NoFolder }
            }
        }
    }

    fn real_path(&self, path: &str) -> String {
        runner::real_path(Path::new(path)).to_string_lossy().into_owned()
    }

    /// Asks the system's resolver, as Vdbench does: without an answer that may take seconds.
    fn host_exists(&self, name: &str) -> bool {
        (name, 0).to_socket_addrs().is_ok_and(|mut found| found.next().is_some())
    }

    fn env(&self, name: &str) -> Option<String> {
        env::of_job_file(name)
    }

    fn page_size_bytes(&self) -> u64 {
        rustix::param::page_size() as u64
    }

    fn memory_mib(&self) -> u64 {
        let info = rustix::system::sysinfo();
        let total_bytes = u128::from(info.totalram) * u128::from(info.mem_unit);
        u64::try_from(total_bytes >> 20).unwrap_or(u64::MAX)
    }

    fn n_cpus(&self) -> u32 {
        let online = fs::read_to_string("/sys/devices/system/cpu/online").ok();
        let listed = online.and_then(|list| count_listed(list.trim()));
        listed.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get() as u32))
    }
}

fn read_up_to(from: &mut dyn Read) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    from.take(READ_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| load_error(&error))?;
    Ok(bytes)
}

fn load_error(error: &io::Error) -> LoadError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => LoadError::NotFound,
        io::ErrorKind::PermissionDenied => LoadError::PermissionDenied,
        io::ErrorKind::IsADirectory => LoadError::IsDirectory,
        _ => LoadError::Failed(system_text(error)),
    }
}

/// Counts the CPUs of a list such as `0-3,8`.
fn count_listed(list: &str) -> Option<u32> {
    let mut count: u32 = 0;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_cpus_of_a_list() {
        assert_eq!(count_listed("0-3,8"), Some(5));
        assert_eq!(count_listed("0"), Some(1));
        assert_eq!(count_listed("3-1"), None);
        assert_eq!(count_listed(""), None);
    }

    #[test]
    fn hosts_are_those_that_resolve() {
        for name in ["localhost", "127.0.0.2", "::1"] {
            assert!(HostLoader.host_exists(name), "{name}");
        }
        // No label of a name has more than 63 characters: no resolver is asked.
        assert!(!HostLoader.host_exists(&"x".repeat(64)));
    }

    #[test]
    fn a_pipe_gives_the_same_each_time() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"[a]\n").expect("it has room");
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let loader = ReadOnce::default();
        for _ in 0..3 {
            assert_eq!(loader.read(&path), Ok(b"[a]\n".to_vec()));
        }
    }

    #[test]
    fn a_folder_is_no_job_file() {
        assert_eq!(HostLoader.read("/"), Err(LoadError::IsDirectory));
        assert_eq!(HostLoader.read("/dev/null/x"), Err(LoadError::NotFound));
    }
}
