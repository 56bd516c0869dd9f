//! The forms of logs, traces and exports.

use std::fmt;

/// A form of logs, traces and exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// `iostat` as text.
    Iostat,
    /// `iostat -o JSON` and `sadf -j`: what names a disk tells them apart.
    SysstatJson,
    /// `sadf -d`.
    SadfTable,
    /// `sadf -p`.
    SadfPairs,
    /// `vmstat`.
    Vmstat,
    /// Counters of Windows, as `relog -f csv` and PerfMon write them.
    Perfmon,
    /// `biosnoop` of bcc.
    Biosnoop,
    /// `blkparse` as text.
    Blkparse,
    /// A log of I/Os by fio, version 2 or 3.
    Iolog,
    /// Answer of Azure Monitor's metrics.
    AzureMonitor,
    /// Answer of `aws cloudwatch get-metric-data`.
    CloudWatch,
    /// Calls of programs by `strace`: it becomes a workload, not needs.
    Strace,
    /// Counters of NFS mounts, /proc/self/mountstats: they become a workload, too.
    Mountstats,
}

impl Format {
    /// All of them, in the order of messages.
    pub const ALL: [Format; 13] = units::all_of!(
        Format:
        Iostat, SysstatJson, SadfTable, SadfPairs, Vmstat, Perfmon, Biosnoop, Blkparse, Iolog,
        AzureMonitor, CloudWatch, Strace, Mountstats,
    );

    /// Returns its name, as users know it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Iostat => "iostat",
            Format::SysstatJson => "JSON of iostat or sadf",
            Format::SadfTable => "sadf -d",
            Format::SadfPairs => "sadf -p",
            Format::Vmstat => "vmstat",
            Format::Perfmon => "PerfMon CSV",
            Format::Biosnoop => "biosnoop",
            Format::Blkparse => "blkparse",
            Format::Iolog => "fio iolog",
            Format::AzureMonitor => "Azure Monitor JSON",
            Format::CloudWatch => "CloudWatch JSON",
            Format::Strace => "strace",
            Format::Mountstats => "mountstats of NFS",
        }
    }

    /// Returns whether its first report is the average since the host started, unless an option
    /// left it out.
    pub(crate) fn begins_with_average(self) -> bool {
        match self {
            Format::Iostat | Format::SysstatJson | Format::Vmstat => true,
            Format::SadfTable
            | Format::SadfPairs
            | Format::Perfmon
            | Format::Biosnoop
            | Format::Blkparse
            | Format::Iolog
            | Format::AzureMonitor
            | Format::CloudWatch
            | Format::Strace
            | Format::Mountstats => false,
        }
    }
}

impl Format {
    /// Says whose I/O its figures include, where it counts what all processes of a host ask of a
    /// disk and does not tell them apart.
    pub(crate) fn of_all_processes(self) -> Option<&'static str> {
        match self {
            Format::Biosnoop => Some(
                "the figures include the I/O of all processes in it; the lines of one alone, such \
                 as `grep -w postgres` leaves them, can be captured by themselves",
            ),
            Format::Blkparse => Some(
                "the figures include the I/O of all processes in it: completions do not name the \
                 one that asked",
            ),
            Format::Iostat
            | Format::SysstatJson
            | Format::SadfTable
            | Format::SadfPairs
            | Format::Vmstat
            | Format::Perfmon
            | Format::AzureMonitor
            | Format::CloudWatch => {
                Some("the figures include the I/O of other processes: it does not tell them apart")
            }
            // Of one job, of the calls of one program, of a mount.
            Format::Iolog | Format::Strace | Format::Mountstats => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
