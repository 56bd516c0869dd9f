//! Logs, traces and exports from files and the standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use ::capture::{
    CallTrace, Collector, Format, MountCounts, Options, ReadError, Watched, read, recognise,
};
use runner::Control;

use super::Args;
use super::shown::Shown;
use crate::clock::Stopwatch;
use crate::exit::Failure;
use crate::signals::Signals;

/// Bytes that are read at a time; more than tell the form of a file.
const BUFFER_BYTES: usize = 1 << 20;

/// Reads all files for needs. Returns whether a signal ended it.
pub(super) fn read_all(args: &Args, collector: &mut Collector) -> Result<bool, Failure> {
    let length_ns = args.every.map(|every| u64::try_from(every.as_nanos()).unwrap_or(u64::MAX));
    let options = Options { keeps_first: args.keep_first, length_ns, dates: args.dates };
    each(args, &mut |name, format, input| {
        collector.begin(name, format.name());
        read(format, input, options, &mut |event| collector.take(event))
    })
}

/// Reads all files for a workload. Returns whether a signal ended it.
pub(super) fn read_calls(
    args: &Args,
    trace: &mut CallTrace,
    mounts: &mut MountCounts,
) -> Result<bool, Failure> {
    each(args, &mut |name, format, input| match format {
        Format::Strace => trace.read(name, input),
        Format::Mountstats => mounts.read(input),
        Format::Iostat
        | Format::SysstatJson
        | Format::SadfTable
        | Format::SadfPairs
        | Format::Vmstat
        | Format::Perfmon
        | Format::Biosnoop
        | Format::Blkparse
        | Format::Iolog
        | Format::AzureMonitor
        | Format::CloudWatch => Err(ReadError::Whole {
            message: format!(
                "it is of {format}, which shows a disk and no files: a workload comes from calls, \
                 as `strace -f -ttt -y -o FILE PROGRAM` writes them, or from /proc/self/mountstats"
            ),
        }),
    })
}

/// What is done with each file: its name, its form, and all of it.
type Take<'a> = dyn FnMut(&str, Format, &mut dyn BufRead) -> Result<(), ReadError> + 'a;

/// Opens all files, one after the other. Returns whether a signal ended it.
fn each(args: &Args, take: &mut Take<'_>) -> Result<bool, Failure> {
    let control = Arc::new(Control::new());
    let signals = Signals::listen(&control)?;
    let mut shown = Shown::new(args.no_progress);
    for name in &args.from {
        let (file, size_bytes): (Box<dyn Read>, _) = if name == "-" {
            (Box::new(io::stdin().lock()), None)
        } else {
            let file =
                File::open(name).map_err(|error| not_read(name, &units::system_text(error)))?;
            let facts =
                file.metadata().map_err(|error| not_read(name, &units::system_text(error)))?;
            if facts.is_dir() {
                return Err(not_read(name, "it is a folder"));
            }
            (Box::new(file), Some(facts.len()).filter(|_| facts.is_file()))
        };
        let begun = Stopwatch::start();
        let mut tell = |n_bytes| shown.file(name, n_bytes, size_bytes, &begun);
        // After Ctrl-C the rest of the file is not there: what was read counts.
        let file = Stoppable { inner: file, control: &control };
        let watched = Watched::new(file, &mut tell);
        let mut input = BufReader::with_capacity(BUFFER_BYTES, watched);
        let head = input.fill_buf().map_err(|error| not_read(name, &units::system_text(error)))?;
        let format = recognise(head).map_err(|error| not_read(name, &units::system_text(error)))?;
        let read = take(name, format, &mut input);
        let is_known = !matches!(read, Err(ReadError::Length { .. }));
        if control.is_stopped() && is_known {
            break;
        }
        read.map_err(|error| not_read(name, &units::system_text(error)))?;
    }
    Ok(signals.last().is_some())
}

fn not_read(name: &str, why: &str) -> Failure {
    Failure::wrong_use(format!("`{name}`: {why}"))
}

/// A stream that ends when it is asked to.
struct Stoppable<'a> {
    inner: Box<dyn Read>,
    control: &'a Control,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.control.is_stopped() { Ok(0) } else { self.inner.read(buffer) }
    }
}
