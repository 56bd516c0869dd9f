//! The files that tell a later run what an interrupted one had written.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use engine::PartFile;
use pattern::verify::{StateError, VerifyState, state_file_name};
use plan::Job;
use units::system_text;

/// A state file is read up to this size; one with every unfinished write is 2 MiB long.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Why a verify state was not saved or loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateFileError {
    /// There is none.
    #[error(
        "no verify state `{}`: write first with `verify_state_save=1` and the same job name, name \
         its folder with `--aux-path`, or drop `verify_state_load`",
        path.display()
    )]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("cannot {action} the verify state `{}`: {}", path.display(), system_text(source))]
    Io {
        /// What failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Its contents are of no use.
    #[error("`{}`: {source}; drop `verify_state_load` to verify all", path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: StateError,
    },
}

impl StateFileError {
    /// Returns the error number that says it best.
    pub(crate) fn errno(&self) -> i32 {
        match self {
            StateFileError::Missing { .. } => libc::ENOENT,
            StateFileError::Io { source, .. } => source.raw_os_error().unwrap_or(libc::EIO),
            StateFileError::Contents { .. } => libc::EINVAL,
        }
    }
}

/// Returns whether a job verifies only what its state says was written. A job that writes itself
/// knows better.
pub(crate) fn is_wanted(job: &Job) -> bool {
    let verify = &job.verify;
    let verifies_earlier_run = verify.verify_only || !job.workload.access.write;
    verify.state_load && verify.method.is_some() && verifies_earlier_run
}

/// Loads the state of a worker from a folder. `worker_number` counts over the whole run.
pub(crate) fn load(
    dir: &Path,
    job_name: &str,
    worker_number: u64,
) -> Result<VerifyState, StateFileError> {
    let path = dir.join(state_file_name(job_name, worker_number));
    let fail = |source| StateFileError::Io { action: "read", path: path.clone(), source };
    let bytes = match std::fs::File::open(&path) {
        Ok(file) => {
            let mut bytes = Vec::new();
            let mut limited = io::Read::take(file, FILE_BYTES_MAX);
            io::Read::read_to_end(&mut limited, &mut bytes).map_err(fail)?;
            bytes
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(StateFileError::Missing { path });
        }
        Err(error) => return Err(fail(error)),
    };
    VerifyState::decode(&bytes).map_err(|source| StateFileError::Contents { path, source })
}

/// Saves the state of a worker in a folder. A crash leaves the old file or the new one.
pub(crate) fn save(dir: &Path, state: &VerifyState) -> Result<(), StateFileError> {
    let name = state_file_name(&state.job_name, state.worker_idx);
    let path = dir.join(&name);
    let written = PartFile::replace(&path, &format!("{name}.part"), 0o666, &state.encode());
    written.map_err(|source| StateFileError::Io { action: "write", path, source })
}
