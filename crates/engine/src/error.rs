//! Why an engine cannot start or go on.

use std::io;
use std::path::{Path, PathBuf};

use units::system_text;

/// Why an engine cannot start or go on. Failed operations are results, not errors.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The kernel refuses the interface.
    #[error("{interface} is not available: {reason}")]
    Unavailable {
        /// The interface, such as `io_uring`.
        interface: &'static str,
        /// The other queue of the kernel's, by its name in job files.
        instead: &'static str,
        /// The likely cause, from the error number.
        reason: String,
    },
    /// A system call of the engine itself failed.
    #[error("{call} failed: {}", system_text(source))]
    System {
        /// The call.
        call: &'static str,
        /// The error.
        source: io::Error,
    },
    /// A file could not be opened or prepared.
    #[error("cannot {action} `{path}`: {}", system_text(source))]
    File {
        /// What was tried, such as `open` or `truncate`.
        action: &'static str,
        /// The file.
        path: String,
        /// The error.
        source: io::Error,
    },
    /// The file system of the file has no direct I/O.
    #[error("cannot open `{path}` for direct I/O: its file system refuses O_DIRECT")]
    DirectRefused {
        /// The file.
        path: String,
    },
    /// The file system cannot hold the file.
    #[error("`{path}` needs {needed_bytes} B more, but its file system has {free_bytes} B free")]
    NoSpace {
        /// The file.
        path: String,
        /// Bytes that are not reserved yet.
        needed_bytes: u64,
        /// Bytes free to this user.
        free_bytes: u64,
    },
    /// A path holds a NUL byte, which no system call takes.
    #[error("`{path}` is not a file name: it holds a NUL byte")]
    BadPath {
        /// The path, with the byte replaced.
        path: String,
    },
    /// The buffers do not fit into memory.
    #[error("cannot reserve {size_bytes} B for buffers: {}", system_text(source))]
    Memory {
        /// Bytes asked for.
        size_bytes: usize,
        /// The error.
        source: io::Error,
    },
    /// A thread that issues I/O for a worker ended by a mistake of ours.
    #[error("a thread that issues I/O ended unexpectedly")]
    ThreadLost,
    /// A server cannot be used, or is lost.
    #[error("cannot {action} `{server}`: {reason}")]
    Remote {
        /// What was tried, such as `mount`.
        action: &'static str,
        /// The server or export.
        server: String,
        /// The error number that says it best.
        errno: i32,
        /// What stands in the way.
        reason: String,
    },
    /// What was to be written has come into use, or was given contents, since it was opened.
    #[error("{why}")]
    Taken {
        /// What is in the way, with the target, and what to do.
        why: String,
    },
    /// A number is outside of what the engine takes.
    #[error("{what} is {value}, but must be {expected}")]
    OutOfRange {
        /// The name of the number.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The values that are taken.
        expected: &'static str,
    },
}

impl EngineError {
    /// Returns what the user can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            EngineError::Unavailable { instead, .. } => {
                Some(format!("use the engine `{instead}` or `psync`"))
            }
            EngineError::DirectRefused { .. } => {
                Some("set `direct=0`, or name a directory on a disk (tmpfs is memory)".into())
            }
            EngineError::System { call: "starting a thread", .. } => {
                Some("lower `iodepth` or `numjobs`, or raise `ulimit -u`".into())
            }
            EngineError::NoSpace { .. } => Some("lower `size`, or free some space".into()),
            EngineError::File { path, source, .. } => file_hint(path, source),
            EngineError::Memory { source, .. } => memory_hint(source),
            EngineError::Remote { errno, .. } => remote_hint(*errno),
            EngineError::System { .. }
            | EngineError::BadPath { .. }
            | EngineError::ThreadLost
            | EngineError::Taken { .. }
            | EngineError::OutOfRange { .. } => None,
        }
    }

    /// Returns the error number behind it, where there is one.
    pub fn errno(&self) -> Option<i32> {
        match self {
            EngineError::System { source, .. }
            | EngineError::File { source, .. }
            | EngineError::Memory { source, .. } => source.raw_os_error(),
            EngineError::Remote { errno, .. } => Some(*errno),
            EngineError::DirectRefused { .. } => Some(libc::EINVAL),
            EngineError::NoSpace { .. } => Some(libc::ENOSPC),
            EngineError::Taken { .. } => Some(libc::EBUSY),
            EngineError::Unavailable { .. }
            | EngineError::BadPath { .. }
            | EngineError::ThreadLost
            | EngineError::OutOfRange { .. } => None,
        }
    }

    pub(crate) fn file(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        EngineError::File { action, path: path.display().to_string(), source: source.into() }
    }
}

fn file_hint(path: &str, source: &io::Error) -> Option<String> {
    let parent = PathBuf::from(path).parent().map(Path::to_path_buf).unwrap_or_default();
    let parent = if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent };
    Some(match source.raw_os_error()? {
        libc::ENOENT if !parent.exists() => {
            format!("the directory `{}` does not exist: create it", parent.display())
        }
        libc::ENOENT => "check the name, or let the file be created".into(),
        libc::EACCES | libc::EPERM => {
            "this user may not do that: change the permissions, or run as another user".into()
        }
        libc::EROFS => "the file system is mounted read-only: name another directory".into(),
        libc::EBUSY => "another program or a mount holds the device: release it first".into(),
        libc::EMFILE | libc::ENFILE => {
            "raise the limit (`ulimit -n`), or set `openfiles` to keep fewer files open".into()
        }
        libc::ENOSPC | libc::EDQUOT => "free some space, or lower `size`".into(),
        libc::EISDIR => "name a file in the directory, or use `directory=`".into(),
        libc::ETXTBSY => "the file is a running program: name another".into(),
        libc::ENXIO | libc::ENODEV | libc::ENOMEDIUM => {
            "the device is gone or holds no medium".into()
        }
        _ => return None,
    })
}

fn remote_hint(errno: i32) -> Option<String> {
    Some(match errno {
        libc::ECONNREFUSED => {
            "check host and port; `nfs://HOST:PORT/PATH?mountport=PORT` names the ports of a \
             server without portmapper"
                .into()
        }
        libc::EACCES | libc::EPERM => {
            "let the server's export list name this host; many servers take calls from privileged \
             ports only, which need root"
                .into()
        }
        libc::ENOENT | libc::ENOTDIR => "check the path; `showmount -e HOST` lists exports".into(),
        libc::EOPNOTSUPP | libc::EPROTONOSUPPORT => "let the server offer NFS version 3".into(),
        _ => return None,
    })
}

fn memory_hint(source: &io::Error) -> Option<String> {
    match source.raw_os_error()? {
        libc::ENOMEM => Some(
            "lower `iodepth` or `bs`; huge pages must be reserved first (vm.nr_hugepages)".into(),
        ),
        libc::EPERM | libc::EAGAIN => Some("raise the limit on locked memory (`ulimit -l`)".into()),
        _ => None,
    }
}
