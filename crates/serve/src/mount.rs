//! Mounting a machine's volumes, and what can be said about a mount point.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption, Notifier, Session, SessionACL};
use rustix::fs::{major, minor};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use units::system_text;

use crate::control::Refusal;
use crate::fuse::{Volumes, forget_cached, measure_way};
use crate::holders::{holders, named};
use crate::machine::Machine;
use crate::priority;
use crate::server::Endpoint;

/// What the source of our mounts begins with; the backing follows.
const SOURCE: &str = "plimsoll:";

/// Threads that read requests from the kernel: two, so that one large request does not hold up the
/// others, and no more than eight, as they only hand over.
const THREADS: std::ops::RangeInclusive<usize> = 2..=8;

/// How long a server may take to answer a question that costs it nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The kernel's door to file systems of programs.
const DEVICE: &str = "/dev/fuse";

/// Its numbers (`FUSE_MINOR` of the miscellaneous devices, in linux/miscdevice.h).
const DEVICE_NUMBERS: (u32, u32) = (10, 229);

/// Why a folder cannot be mounted on.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The folder does not exist.
    #[error("mount point `{}` does not exist", path.display())]
    Missing {
        /// The mount point.
        path: PathBuf,
    },
    /// It is something else.
    #[error("mount point `{}` is not a folder", path.display())]
    NotFolder {
        /// The mount point.
        path: PathBuf,
    },
    /// The folder holds files, which the mount would hide.
    #[error("mount point `{}` is not empty", path.display())]
    NotEmpty {
        /// The mount point.
        path: PathBuf,
    },
    /// Something is mounted there.
    #[error("`{}` is in use: {what} is mounted there", path.display())]
    InUse {
        /// The mount point.
        path: PathBuf,
        /// Source and kind of what is mounted.
        what: String,
    },
    /// What was mounted there has lost its server.
    #[error("`{}` is a mount whose server is gone", path.display())]
    Stale {
        /// The mount point.
        path: PathBuf,
    },
    /// The kernel has no FUSE.
    #[error("FUSE is not available: `{DEVICE}` is missing, or is something else")]
    NoFuse,
    /// The user may not use FUSE.
    #[error("`{DEVICE}` cannot be opened: {}", system_text(.0))]
    Denied(io::Error),
    /// Users other than root mount with the help of a program.
    #[error("`fusermount3` is missing, which mounts for users other than root")]
    NoHelper,
    /// The kernel or the helper refused.
    #[error("`{}` cannot be mounted on: {}", path.display(), system_text(source))]
    Refused {
        /// The mount point.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Why a mount could not be taken away.
#[derive(Debug, thiserror::Error)]
pub enum UnmountError {
    /// Files are open, or a program's working folder is there.
    #[error("`{}` is in use: a program has a file open there, or is in it", path.display())]
    Busy {
        /// The mount point.
        path: PathBuf,
    },
    /// The kernel or the helper refused.
    #[error("`{}` cannot be unmounted: {why}", path.display())]
    Refused {
        /// The mount point.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A line of the kernel's list of mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    /// Where.
    pub path: PathBuf,
    /// Kind of file system.
    pub kind: String,
    /// What is mounted.
    pub source: PathBuf,
}

impl Mounted {
    /// Returns the backing, if it is one of our mounts.
    pub fn backing(&self) -> Option<PathBuf> {
        let source = self.source.as_os_str().as_bytes().strip_prefix(SOURCE.as_bytes())?;
        self.kind.starts_with("fuse").then(|| PathBuf::from(OsString::from_vec(source.to_vec())))
    }

    /// Returns whether its server answers: waits no longer than [`PATIENCE`] for it.
    pub fn serving(&self) -> Serving {
        let (answered, answer) = mpsc::channel();
        let path = self.path.clone();
        // The kernel waits as long as the server lives. The thread then ends with the process.
        std::thread::spawn(move || answered.send(rustix::fs::statfs(&path).err()));
        match answer.recv_timeout(PATIENCE) {
            // The second where it ended while it was asked.
            Ok(Some(Errno::NOTCONN | Errno::CONNABORTED)) => Serving::Gone,
            Ok(_) => Serving::Answers,
            Err(_) => Serving::Silent,
        }
    }
}

/// Whether a process answers for a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// The server does.
    Answers,
    /// No process does any more: the server was killed.
    Gone,
    /// The server exists but does not answer: it was stopped, or hangs.
    Silent,
}

/// Returns a path without links. Does not ask the last folder itself, whose server may be gone.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            let resolved = parent.canonicalize()?.join(name);
            if fs::read_link(&resolved).is_ok() { resolved.canonicalize() } else { Ok(resolved) }
        }
        _ => Ok(path),
    }
}

/// Returns what is mounted at a resolved path: the last, which is the one that is seen.
pub fn find(path: &Path) -> io::Result<Option<Mounted>> {
    let list = fs::read("/proc/self/mountinfo")?;
    Ok(parse(&list).into_iter().rfind(|mounted| mounted.path == path))
}

/// Reads `/proc/self/mountinfo` (proc(5)).
fn parse(list: &[u8]) -> Vec<Mounted> {
    let line = |line: &[u8]| {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
        let dash = fields.iter().position(|field| *field == b"-")?;
        Some(Mounted {
            path: unescape(fields.get(4)?),
            kind: String::from_utf8_lossy(fields.get(dash + 1)?).into_owned(),
            source: unescape(fields.get(dash + 2)?),
        })
    };
    list.split(|&byte| byte == b'\n').filter_map(line).collect()
}

fn unescape(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(units::unescape_mount(field)))
}

/// Checks that a resolved path can be mounted on.
pub fn check(path: &Path) -> Result<(), MountError> {
    let refused = |source| MountError::Refused { path: path.to_owned(), source };
    if let Some(mounted) = find(path).map_err(refused)? {
        if mounted.serving() == Serving::Gone {
            return Err(MountError::Stale { path: path.to_owned() });
        }
        let what = format!("{} ({})", mounted.source.display(), mounted.kind);
        return Err(MountError::InUse { path: path.to_owned(), what });
    }
    match fs::read_dir(path) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(MountError::NotEmpty { path: path.to_owned() });
            }
        }
        Err(error) => {
            return Err(match error.kind() {
                io::ErrorKind::NotFound => MountError::Missing { path: path.to_owned() },
                io::ErrorKind::NotADirectory => MountError::NotFolder { path: path.to_owned() },
                _ => refused(error),
            });
        }
    }
    match fs::OpenOptions::new().read(true).write(true).open(DEVICE) {
        Ok(device) if !is_fuse(&device) => return Err(MountError::NoFuse),
        Ok(_) => {}
        // No device, or no driver behind it.
        Err(error) if matches!(error.raw_os_error(), Some(NO_ENTRY | NO_DEVICE | NO_DRIVER)) => {
            return Err(MountError::NoFuse);
        }
        Err(error) => return Err(MountError::Denied(error)),
    }
    let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    if !geteuid().is_root() && helper(&["--version".as_ref()]).is_err_and(|e| is_missing(&e)) {
        return Err(MountError::NoHelper);
    }
    Ok(())
}

const NO_ENTRY: i32 = Errno::NOENT.raw_os_error();
const NO_DEVICE: i32 = Errno::NODEV.raw_os_error();
const NO_DRIVER: i32 = Errno::NXIO.raw_os_error();

/// Returns whether an open file is the kernel's FUSE device. Containers put other devices in its
/// place.
fn is_fuse(device: &fs::File) -> bool {
    let numbers = |found: fs::Metadata| (major(found.rdev()), minor(found.rdev()));
    device.metadata().is_ok_and(|found| numbers(found) == DEVICE_NUMBERS)
}

fn helper(args: &[&std::ffi::OsStr]) -> io::Result<std::process::Output> {
    Command::new("fusermount3").args(args).output()
}

/// A live mount. Ends when it is unmounted.
#[derive(Debug)]
pub struct Mount {
    session: BackgroundSession,
}

/// Mounts a machine's volumes at a resolved path that was checked.
///
/// A mount by root is open to all users, subject to the files' permissions: databases run as users
/// of their own. A mount by another user is that user's alone.
pub fn mount(machine: &Arc<Machine>, path: &Path) -> Result<Mount, MountError> {
    check(path)?;
    raise_file_limit();
    let mut config = Config::default();
    let mut source = OsString::from(SOURCE);
    source.push(machine.backing().dir());
    let source = source.to_string_lossy().into_owned();
    config.mount_options = vec![MountOption::FSName(source), MountOption::DefaultPermissions];
    config.acl = if geteuid().is_root() { SessionACL::All } else { SessionACL::Owner };
    let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    config.n_threads = Some(n_cores.clamp(*THREADS.start(), *THREADS.end()));
    config.clone_fd = true;
    let volumes = Volumes::new(Arc::clone(machine));
    let session = Session::new(volumes, path, &config);
    // The threads that read requests inherit it.
    priority::go_ahead();
    let session = session.and_then(Session::spawn);
    priority::go_back();
    let session =
        session.map_err(|source| MountError::Refused { path: path.to_owned(), source })?;
    measure_way(machine, path);
    Ok(Mount { session })
}

/// Each file that the kernel has cached takes a descriptor: raises the limit as far as possible.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Without it fewer files can be remembered, which the user sees as an error of its own.
    let _ = setrlimit(Resource::Nofile, raised);
}

impl Mount {
    /// Returns what tells the kernel to forget what it remembers of a machine's files.
    pub fn forgetter(&self) -> CacheInvalidator {
        CacheInvalidator { notifier: self.session.notifier() }
    }

    /// Waits until it is unmounted.
    pub fn wait(self) -> io::Result<()> {
        // A thread that the unmounting finds between two requests sees the connection as aborted.
        match self.session.join() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => Ok(()),
            ended => ended,
        }
    }
}

/// Drops what the kernel has cached.
#[derive(Clone, Debug)]
pub struct CacheInvalidator {
    notifier: Notifier,
}

impl CacheInvalidator {
    /// Makes the kernel ask again for the contents and attributes of all files.
    pub fn forget(&self, machine: &Machine) {
        forget_cached(machine, &self.notifier);
    }
}

/// A mount point as the place of service.
#[derive(Debug)]
pub struct MountPoint {
    path: PathBuf,
    forgetter: CacheInvalidator,
}

impl MountPoint {
    /// Makes the place of a mount.
    pub fn new(path: PathBuf, mount: &Mount) -> Self {
        MountPoint { path, forgetter: mount.forgetter() }
    }
}

impl Endpoint for MountPoint {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn close(&self, is_lazy: bool) -> Result<(), Refusal> {
        unmount(&self.path, is_lazy).map_err(|error| {
            let refusal = Refusal::new(error.to_string());
            match error {
                UnmountError::Busy { path } => refusal
                    .hint(match &*holders(&path) {
                        [] => format!("see who: fuser -vm {}", path.display()),
                        found => format!("held by process {}", named(found)),
                    })
                    .hint("detach it at once with --lazy"),
                UnmountError::Refused { .. } => refusal,
            }
        })
    }

    fn forget(&self, machine: &Machine) {
        self.forgetter.forget(machine);
    }
}

/// Unmounts. With `is_lazy` it is detached at once, and ends when the last program has left it.
pub fn unmount(path: &Path, is_lazy: bool) -> Result<(), UnmountError> {
    let flags = if is_lazy { UnmountFlags::DETACH } else { UnmountFlags::empty() };
    let refused = |why: String| UnmountError::Refused { path: path.to_owned(), why };
    let busy = || UnmountError::Busy { path: path.to_owned() };
    match rustix::mount::unmount(path, flags) {
        Ok(()) => Ok(()),
        Err(Errno::BUSY) => Err(busy()),
        Err(Errno::PERM) => {
            let mut args: Vec<&std::ffi::OsStr> = vec!["-u".as_ref()];
            args.extend(is_lazy.then_some(std::ffi::OsStr::new("-z")));
            args.extend(["--".as_ref(), path.as_os_str()]);
            let output = helper(&args).map_err(|error| refused(system_text(error)))?;
            let said = String::from_utf8_lossy(&output.stderr);
            match output.status.success() {
                true => Ok(()),
                false if said.contains("busy") => Err(busy()),
                false => Err(refused(said.trim().to_owned())),
            }
        }
        Err(error) => Err(refused(system_text(error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_list_of_mounts_is_read() {
        let list = b"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
            99 22 0:50 / /mnt/a\\040b rw,nosuid - fuse plimsoll:/data/x\\134y rw,user_id=0\n\
            broken line\n";
        let mounts = parse(list);
        assert_eq!(mounts.len(), 2);
        assert_eq!(mounts[0].backing(), None);
        assert_eq!(mounts[1].path, Path::new("/mnt/a b"));
        assert_eq!(mounts[1].backing(), Some(PathBuf::from("/data/x\\y")));
    }
}
