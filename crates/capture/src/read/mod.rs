//! Readers of counters: each takes a stream and gives samples one at a time. Which one a source
//! needs, `recognise.rs` finds out.

mod iostat;
mod perfmon;
mod perfmon_names;
mod recognise;
mod sadf;
mod sysstat_json;
mod sysstat_names;
mod vmstat;

use std::io::BufRead;

pub use recognise::{UnknownFormat, recognise};

use crate::context::Context;
use crate::format::Format;
use crate::lines::ReadError;
use crate::sample::Event;
use crate::time::{DateOrder, Stamps};
use crate::{cloud, trace};

/// What a source does not say of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The first report of `iostat` and `vmstat` is a sample as the others, and not the average
    /// since the host started: `iostat -y`.
    pub keeps_first: bool,
    /// How long a report lasts, nanoseconds above 0, of a source that does not say it.
    pub length_ns: Option<u64>,
    /// Which of day and month stands first in dates without the year in front, where that is
    /// known. Without it the dates show it, or it is the month, and a note says so.
    pub dates: Option<DateOrder>,
}

/// Reads a source to its end.
///
/// What cannot be read of it is in notes of [`NoteKind::Unreadable`](crate::NoteKind).
///
/// # Errors
/// Where nothing could be read, the system fails to, or nothing tells how long samples last.
pub fn read(
    format: Format,
    input: &mut dyn BufRead,
    options: Options,
    sink: &mut dyn FnMut(Event<'_>),
) -> Result<(), ReadError> {
    let mut context = Context::new(sink);
    context.state_length(options.length_ns);
    let leaves_out_first = format.begins_with_average() && !options.keeps_first;
    let stamps = Stamps::new(options.dates);
    match format {
        Format::Iostat => iostat::read(input, leaves_out_first, stamps, &mut context)?,
        Format::SysstatJson => sysstat_json::read(input, leaves_out_first, stamps, &mut context)?,
        Format::SadfTable => sadf::read_table(input, &mut context)?,
        Format::SadfPairs => sadf::read_pairs(input, &mut context)?,
        Format::Vmstat => vmstat::read(input, leaves_out_first, &mut context)?,
        Format::Perfmon => perfmon::read(input, stamps, &mut context)?,
        Format::Biosnoop => trace::biosnoop::read(input, &mut context)?,
        Format::Blkparse => trace::blkparse::read(input, &mut context)?,
        Format::Iolog => trace::iolog::read(input, &mut context)?,
        Format::AzureMonitor => cloud::azure::read(input, &mut context)?,
        Format::CloudWatch => cloud::cloudwatch::read(input, &mut context)?,
        Format::Strace => return Err(ReadError::whole(CALLS)),
        Format::Mountstats => return Err(ReadError::whole(MOUNTS)),
    }
    context.finish();
    if context.n_samples() == 0 {
        return Err(ReadError::whole(nothing_in(leaves_out_first)));
    }
    if let Some(whose) = format.of_all_processes().filter(|_| context.has_ios()) {
        context.remark(None, whose);
    }
    context.finish_length()
}

/// Why a trace of calls gives no needs.
const CALLS: &str = "calls do not show what reaches a disk: add `--as workload` for a composite \
                     workload of them, or capture the disk with `--for 10m --device sda`";

/// Why counters of NFS give no needs by themselves.
const MOUNTS: &str = "two looks at counters show no percentiles: add `--as workload` for a \
                      composite workload of them, or capture with `--for 10m --mount DIR`";

/// Returns why a source may have no sample.
fn nothing_in(leaves_out_first: bool) -> &'static str {
    if leaves_out_first {
        "there is no sample in it: the first report is the average since the host started, and \
         is left out. If it is from `iostat -y`, which does not print that report, add \
         `--keep-first`; else run iostat with an interval, such as `iostat -xt 10`"
    } else {
        "there is no sample in it: it has headings alone, or is cut off within its first sample; \
         let the tool run for two intervals at least"
    }
}
