//! What only this machine can say of parameter files.

use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Seek as _, SeekFrom};

use dialects::Loader;
use dialects::vdbench::output::LunSeen;
use dialects::vdbench::run::{Run, Sd, Work};
use dialects::vdbench::{self, Lun, Parsed};
use plan::{Diagnostic, Plan};

use super::remote::Remote;
use crate::loader::HostLoader;

/// Where runs are made.
pub(super) struct RunSite {
    /// Other hosts; `None` is this machine alone.
    pub(super) remote: Option<Remote>,
}

impl RunSite {
    /// Returns what is at the path of a storage definition; `None` where that is not known.
    fn lun(&self, sd: &Sd) -> Option<Lun> {
        match &self.remote {
            Some(remote) => remote.lun(sd),
            None => Some(HostLoader.lun(&sd.lun)),
        }
    }

    /// Returns the storage definitions that cannot be run as they are.
    pub(super) fn unsized_luns(&self, parsed: &Parsed) -> Vec<Diagnostic> {
        vdbench::unsized_luns(parsed, &|sd| self.lun(sd))
    }

    /// Returns the run that writes files which are missing or short.
    pub(super) fn sd_format(&self, parsed: &Parsed) -> Option<Run> {
        // What is not known is left as it is.
        let mut format = vdbench::sd_format(parsed, &|sd| self.lun(sd).unwrap_or(Lun::Device))?;
        if let Some(remote) = &self.remote {
            remote.write_once(&mut format);
        }
        Some(format)
    }

    /// Returns what is there of every storage definition that a run uses, each once.
    pub(super) fn luns_seen(&self, parsed: &Parsed, runs: &[Run]) -> Vec<LunSeen> {
        let (mut used, mut written) = (HashSet::new(), HashSet::new());
        for run in runs {
            match &run.work {
                Work::Raw(raw) => used.extend(raw.sds.iter().map(|sd| (&sd.name, &sd.host))),
                Work::SdFormat(format) => written.extend(format.sds.iter().map(|sd| &sd.lun)),
                Work::Files(_) | Work::Format(_) => {}
            }
        }
        let sds = parsed.sds.iter().filter(|sd| used.contains(&(&sd.name, &sd.host)));
        let seen = sds.map(|sd| {
            let size_bytes = match &self.remote {
                Some(remote) => size_there(remote.lun(sd)),
                None => size_of(&sd.lun),
            };
            // `formatsds=yes` writes what is long enough, too.
            let is_short = size_bytes < sd.size_bytes;
            LunSeen {
                sd: sd.name.clone(),
                lun: sd.lun.clone(),
                host: sd.host.clone(),
                size_bytes,
                is_to_be_written: is_short && written.contains(&sd.lun),
            }
        });
        seen.collect()
    }
}

/// Returns how many bytes are there on another host, as [`size_of`] does.
fn size_there(lun: Option<Lun>) -> Option<u64> {
    match lun? {
        Lun::File(bytes) => Some(bytes),
        Lun::Missing | Lun::NoFolder => Some(0),
        Lun::Device => None,
    }
}

/// Returns how many bytes are there: none of what is missing, `None` of what has no size.
fn size_of(lun: &str) -> Option<u64> {
    match std::fs::metadata(lun) {
        Ok(found) if found.is_file() => Some(found.len()),
        Ok(_) => File::open(lun).and_then(|mut device| device.seek(SeekFrom::End(0))).ok(),
        Err(error) => (error.kind() == ErrorKind::NotFound).then_some(0),
    }
}

/// Passes the output directory to all commands.
pub(super) fn pass_output(plan: &mut Plan, path: &str) {
    for step in &mut plan.steps {
        for command in step.exec_before.iter_mut().chain(&mut step.exec_after) {
            *command = command.replace("$output", path);
        }
    }
}
