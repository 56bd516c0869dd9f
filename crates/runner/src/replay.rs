//! Reads the records that jobs replay, before the plan is bound.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;

use dialects::fio::iolog::{self, IologError};
use plan::op::OpKind;
use plan::replay::Recording;
use plan::report::Replay;
use plan::workload::{Access, BlockSize};
use plan::{Diagnostic, Job, Plan};
use units::system_text;

use crate::control::Control;

/// Block size of trims: they need no buffer, however long they are.
const TRIM_BLOCK_BYTES: u32 = 4096;

/// The name that stands for standard input.
const STDIN: &str = "-";

/// Why there is nothing to replay.
#[derive(Debug, thiserror::Error)]
enum ReplayError {
    /// The file cannot be read.
    #[error("{}", system_text(.0))]
    Io(#[from] io::Error),
    /// It is no record.
    #[error("{0}")]
    Invalid(#[from] IologError),
    /// Only reads are allowed and it has none.
    #[error("it holds nothing but writes, and writing is forbidden here")]
    OnlyWrites,
}

/// Returns the plan with the records that its jobs replay. All records that cannot be read are
/// reported, with the position of the job; one that is read when an end is asked for ends there.
/// With `read_only` the writes and trims in them are left out, as fio does.
pub(crate) fn load<'a>(
    plan: &'a Plan,
    read_only: bool,
    control: &Control,
) -> (Cow<'a, Plan>, Vec<(usize, Diagnostic)>) {
    if plan.jobs().all(|job| job.logs.read_replay.is_empty()) {
        return (Cow::Borrowed(plan), Vec::new());
    }
    let mut plan = plan.clone();
    let mut findings = Vec::new();
    let jobs = plan.jobs_mut().enumerate();
    for (job_idx, job) in jobs.filter(|(_, job)| !job.logs.read_replay.is_empty()) {
        let mut add = |finding| findings.push((job_idx, finding));
        if let Some(record) = job.logs.write_replay.take() {
            let message =
                format!("job `{}` replays, so nothing is recorded in `{record}`", job.name);
            add(Diagnostic::warning("record-unused", message));
        }
        let mut recordings = Vec::new();
        for path in &job.logs.read_replay {
            let recording = read(path, &job.logs.replay, control);
            let recording = recording.and_then(|mut recording| {
                if read_only {
                    leave_out_writes(&mut recording, job, path).into_iter().for_each(&mut add);
                    if recording.ops.is_empty() {
                        return Err(ReplayError::OnlyWrites);
                    }
                }
                Ok(recording)
            });
            // An empty recording keeps the job from being taken for one that makes its own I/O.
            recordings.push(Arc::new(recording.unwrap_or_else(|error| {
                add(refusal(job, path, &error));
                Recording::default()
            })));
        }
        take(job, recordings);
    }
    (Cow::Owned(plan), findings)
}

fn read(path: &str, replay: &Replay, control: &Control) -> Result<Recording, ReplayError> {
    if path == STDIN {
        return read_lines(io::stdin().lock(), replay, control);
    }
    let kind = fs::metadata(path)?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::other("it is a device, not a file").into());
    }
    read_lines(BufReader::new(File::open(path)?), replay, control)
}

/// Reads line by line, so that a record takes 32 B per operation however long its lines are.
fn read_lines(
    mut from: impl BufRead,
    replay: &Replay,
    control: &Control,
) -> Result<Recording, ReplayError> {
    let mut reader = iolog::Reader::new(replay);
    let mut line = Vec::new();
    loop {
        line.clear();
        let n_bytes =
            from.by_ref().take(iolog::LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
        if n_bytes == 0 || control.is_stopped() {
            return Ok(reader.finish()?);
        }
        reader.line(&line)?;
    }
}

/// Leaves out what changes a target, and returns how much that is.
fn leave_out_writes(recording: &mut Recording, job: &Job, path: &str) -> Option<Diagnostic> {
    let n_before = recording.ops.len();
    recording.ops.retain(|op| !op.kind.modifies());
    let n_left_out = n_before - recording.ops.len();
    let name = &job.name;
    (n_left_out > 0).then(|| {
        let message = format!(
            "job `{name}` leaves out {n_left_out} writes and trims of `{path}`: writing is \
             forbidden here"
        );
        Diagnostic::warning("replay-read-only", message)
    })
}

fn refusal(job: &Job, path: &str, error: &ReplayError) -> Diagnostic {
    let shown = if path == STDIN { "standard input" } else { path };
    let message = format!("job `{}` cannot replay `{shown}`: {error}", job.name);
    let (code, help) = match error {
        ReplayError::Io(_) => ("replay-unreadable", "check the name and the permissions"),
        ReplayError::OnlyWrites => ("replay-read-only", "leave out `--readonly`"),
        ReplayError::Invalid(IologError::BlockTrace) => (
            "replay-invalid",
            "print it with `blkparse`, and write what it lists as a record of version 3: \
             `MICROSECONDS FILE ACTION OFFSET LENGTH`, offset and length in bytes",
        ),
        ReplayError::Invalid(IologError::Version1) => {
            ("replay-invalid", "record the I/O again with `write_iolog` of fio 2 or later")
        }
        ReplayError::Invalid(IologError::Empty) => (
            "replay-invalid",
            "name a record with reads, writes or trims, or shorten `replay_skip`",
        ),
        ReplayError::Invalid(IologError::TooLarge { .. }) => {
            ("replay-too-large", "replay the record in parts, one job for each, with `stonewall`")
        }
        ReplayError::Invalid(_) => {
            ("replay-invalid", "name a file that `write_iolog` wrote, or correct the line")
        }
    };
    Diagnostic::error(code, message).help(help)
}

/// Makes a job issue recorded operations and nothing else.
fn take(job: &mut Job, recordings: Vec<Arc<Recording>>) {
    let mut lens: HashMap<OpKind, (u32, u32)> = HashMap::new();
    for op in recordings.iter().flat_map(|recording| &recording.ops) {
        let range = lens.entry(op.kind).or_insert((op.len, op.len));
        *range = (range.0.min(op.len), range.1.max(op.len));
    }
    let workload = &mut job.workload;
    workload.access = Access {
        read: lens.contains_key(&OpKind::Read),
        write: lens.contains_key(&OpKind::Write),
        trim: lens.contains_key(&OpKind::Trim),
        random: true,
        trim_then_write: false,
    };
    let sizes = &mut workload.block_size;
    for (kind, size) in [(OpKind::Read, &mut sizes.read), (OpKind::Write, &mut sizes.write)] {
        if let Some(&(min, max)) = lens.get(&kind) {
            *size = BlockSize::Range { min, max };
        }
    }
    sizes.trim = BlockSize::Fixed(TRIM_BLOCK_BYTES);
    workload.recordings = recordings;
}

#[cfg(test)]
mod tests;
