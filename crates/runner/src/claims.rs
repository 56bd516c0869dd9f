//! The block devices that a step writes to: checked again when the first worker opens one, and held
//! until the step ends.
//!
//! Between the start of a run and the start of a step another program may have made a file system
//! on a device, or mounted it. While it is held (`O_EXCL`), no other program can. A device is held
//! once, not once per worker; commands around the step find it free. Where programs share devices,
//! as several of fio on purpose do, it is checked and released, and checked once more before the
//! first write of a worker that waited in between.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use plan::{Diagnostic, Job};

use crate::options::RunOptions;
use crate::setup_error::SetupError;
use crate::targets;

/// What came of asking for a device.
type Claim = Result<Option<OwnedFd>, SetupError>;

/// The devices of one step.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    allow_mounted: bool,
    overwrite_filesystem: bool,
    shares: bool,
    /// By number, since several paths may lead to one. What may be written although others hold it
    /// has no descriptor.
    devices: Mutex<HashMap<u64, Claim>>,
}

impl Claims {
    pub(crate) fn new(options: &RunOptions) -> Self {
        Claims {
            allow_mounted: options.allow_mounted,
            overwrite_filesystem: options.overwrite_filesystem,
            shares: options.shares_devices,
            devices: Mutex::default(),
        }
    }

    /// Holds a device that the job is about to open for writing.
    ///
    /// # Errors
    /// When it is in use, holds something, or cannot be looked at, and the user did not allow that.
    pub(crate) fn claim(&self, job: &Job, path: &Path) -> Result<(), SetupError> {
        // One that is not there any more is reported when it is opened.
        let Ok(facts) = std::fs::metadata(path) else { return Ok(()) };
        let mut devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        let claim = devices.entry(facts.rdev()).or_insert_with(|| self.check(job, path));
        claim.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// Looks again at a device that was opened some time ago, unless it is held since then.
    ///
    /// # Errors
    /// As [`Claims::claim`].
    pub(crate) fn check_again(&self, job: &Job, path: &Path) -> Result<(), SetupError> {
        let Ok(facts) = std::fs::metadata(path) else { return Ok(()) };
        let devices = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        match devices.get(&facts.rdev()) {
            Some(Ok(Some(_held))) => Ok(()),
            // One worker at a time: each holds the device for the moment of its look.
            Some(Ok(None) | Err(_)) | None => self.check(job, path).map(|_released| ()),
        }
    }

    fn check(&self, job: &Job, path: &Path) -> Claim {
        let (facts, held) = engine::claim(path).map_err(|error| SetupError::from(&error))?;
        let options = RunOptions {
            allow_mounted: self.allow_mounted,
            overwrite_filesystem: self.overwrite_filesystem,
            ..RunOptions::default()
        };
        match targets::check_risk(job, &facts, &options) {
            None => Ok(held.filter(|_| !self.shares)),
            Some(Diagnostic { message, help, .. }) => {
                let help = help.first().map_or("", String::as_str);
                Err(SetupError { errno: libc::EBUSY, message: format!("{message}; {help}") })
            }
        }
    }
}
