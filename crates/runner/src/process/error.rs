//! Why a worker's surroundings cannot be as its job asks.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use units::system_text;

use crate::setup_error::SetupError;

/// Why a worker's surroundings cannot be as its job asks.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("cannot run on the CPUs {cpus:?}: {}", system_text(source))]
    Cpus { cpus: Vec<u32>, source: io::Error },
    #[error("there is no memory node {node}: {}", system_text(source))]
    NoNode { node: u32, source: io::Error },
    #[error("`{text}` is not a memory policy")]
    PolicyText { text: String },
    #[error("cannot take memory by the policy `{text}`: {}", system_text(source))]
    Policy { text: String, source: io::Error },
    #[error("cannot set the nice value {nice}: {}", system_text(source))]
    Nice { nice: i8, source: io::Error },
    #[error(
        "cannot set the I/O priority to class {class}, level {level}, hint {hint}: {}",
        system_text(source)
    )]
    Priority { class: u8, level: u8, hint: u16, source: io::Error },
    #[error("cannot lock {size_bytes} B of memory: {}", system_text(source))]
    LockMemory { size_bytes: u64, source: io::Error },
    #[error("cannot become {what} {id}: {}", system_text(source))]
    Identity { what: &'static str, id: u32, source: io::Error },
    #[error("cannot set the I/O scheduler `{name}` for `{path}`: {}", system_text(source))]
    Scheduler { name: String, path: String, known: String, source: io::Error },
    #[error("cannot run `{command}`: {}", system_text(source))]
    Start { command: String, source: io::Error },
    #[error("`{command}` failed: {status}")]
    Failed { command: String, output: PathBuf, status: ExitStatus },
    #[error("`{command}` was ended, as the run was")]
    Stopped { command: String },
}

impl ProcessError {
    fn hint(&self) -> String {
        match self {
            ProcessError::Cpus { .. } => {
                "name CPUs that are online (`lscpu -e`) and allowed here (`taskset -p $$`)".into()
            }
            ProcessError::NoNode { .. } => "`numactl -H` lists the nodes".into(),
            ProcessError::PolicyText { .. } => {
                "write `default`, `local`, `prefer:0`, `bind:0-1` or `interleave:0,1`".into()
            }
            ProcessError::Policy { .. } => {
                "name nodes that have memory (`numactl -H`); some kernels have none".into()
            }
            ProcessError::Nice { .. } => "only root may go below the present value".into(),
            ProcessError::Priority { .. } => {
                "class 1 (real time) is for root, 2 and 3 are for everyone; hints need Linux 6.5"
                    .into()
            }
            ProcessError::LockMemory { .. } => {
                "lower `lockmem`, or raise the limit (`ulimit -l`)".into()
            }
            ProcessError::Identity { .. } => "only root may: run as root, or leave it out".into(),
            ProcessError::Scheduler { known, .. } if known.is_empty() => {
                "name a block device or a file on one; only root may set it".into()
            }
            ProcessError::Scheduler { known, .. } => format!("the device has: {known}"),
            ProcessError::Start { .. } => "check the command and the folder of its output".into(),
            ProcessError::Failed { output, .. } => {
                format!("its output is in `{}`", output.display())
            }
            ProcessError::Stopped { .. } => "nothing of the job was run".into(),
        }
    }

    fn errno(&self) -> i32 {
        let source = match self {
            ProcessError::PolicyText { .. } => return libc::EINVAL,
            ProcessError::Failed { .. } | ProcessError::Stopped { .. } => return libc::ECANCELED,
            ProcessError::Cpus { source, .. }
            | ProcessError::NoNode { source, .. }
            | ProcessError::Policy { source, .. }
            | ProcessError::Nice { source, .. }
            | ProcessError::Priority { source, .. }
            | ProcessError::LockMemory { source, .. }
            | ProcessError::Identity { source, .. }
            | ProcessError::Scheduler { source, .. }
            | ProcessError::Start { source, .. } => source,
        };
        source.raw_os_error().unwrap_or(libc::EIO)
    }
}

impl From<ProcessError> for SetupError {
    fn from(error: ProcessError) -> Self {
        SetupError { errno: error.errno(), message: format!("{error}; {}", error.hint()) }
    }
}
