//! Samples of a running host, from the texts that its kernel shows.
//!
//! Opening files and reading clocks is the caller's: [`Live`] takes what was read, and when.

mod counter;
mod disks;
mod host;
mod nfs;

use std::collections::BTreeMap;

use crate::context::Context;
use crate::sample::{ClockKind, Event};

pub use counter::{Delta, delta};
pub use disks::is_partition;
pub(crate) use disks::repeats_others;
pub(crate) use nfs::mount_point;

/// What one look at the host showed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    /// /proc/diskstats.
    pub diskstats: &'a str,
    /// /proc/stat.
    pub stat: &'a str,
    /// /proc/meminfo.
    pub meminfo: &'a str,
    /// /proc/vmstat.
    pub vmstat: &'a str,
    /// /proc/self/mountstats, where NFS is captured.
    pub mountstats: &'a str,
    /// What the processes that are asked about did.
    pub cgroup: Option<Cgroup<'a>>,
}

/// The I/O counters of a control group.
#[derive(Clone, Copy, Debug)]
pub enum Cgroup<'a> {
    /// `io.stat` of version 2.
    V2(&'a str),
    /// `blkio.throttle.io_service_bytes` and `blkio.throttle.io_serviced` of version 1.
    V1(&'a str, &'a str),
}

/// When a look was taken.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The host's time of day, nanoseconds since 1970 as its clock reads.
    pub local_ns: i64,
    /// Of a clock that is never set, for the length of spans.
    pub monotonic_ns: u64,
}

/// What is asked about.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Names of devices; all whole disks where there is none.
    pub devices: Vec<String>,
    /// Mount points of NFS.
    pub mounts: Vec<String>,
}

/// What was seen so far.
#[derive(Debug)]
pub struct Live {
    scope: Scope,
    last: Option<Moment>,
    disks: disks::Disks,
    host: host::Host,
    mounts: nfs::Mounts,
}

impl Live {
    /// Begins.
    pub fn new(scope: Scope) -> Self {
        let disks = disks::Disks::new(scope.devices.clone());
        let mounts = nfs::Mounts::new(scope.mounts.clone());
        Live { scope, last: None, disks, host: host::Host::default(), mounts }
    }

    /// Takes a look. The first one gives no samples: counters are since the host started.
    pub fn take(&mut self, moment: Moment, texts: &Texts<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        let mut context = Context::new(sink);
        let last = self.last.replace(moment);
        if last.is_none() {
            context.put(Event::Clock(ClockKind::Local));
            if let Some(n_cpus) = host::n_cpus(texts.stat) {
                context.put(Event::Machine { n_cpus });
            }
        }
        let span = last.map(|last| Span::between(last, moment));
        if let Some(Span { stepped_ns: Some(stepped_ns), .. }) = span {
            let seconds = stepped_ns as f64 / 1e9;
            let text = format!(
                "the clock was set by {seconds:+.1} s; the lengths of the samples \
            are not affected"
            );
            context.remark(None, text);
        }
        let span = span.filter(|span| span.length_ns > 0);
        self.host.take(span, moment.local_ns, texts, &mut context);
        // With mounts alone, disks are not what was asked about.
        if self.scope.mounts.is_empty() || !self.scope.devices.is_empty() {
            self.disks.take(span, moment.local_ns, texts, &mut context);
        }
        self.mounts.take(span, moment.local_ns, texts.mountstats, &mut context);
    }

    /// Reports what is to be known of the whole of it, once at the end.
    pub fn finish(&self, sink: &mut dyn FnMut(Event<'_>)) {
        let mut context = Context::new(sink);
        self.disks.finish(&mut context);
        self.host.finish(&mut context);
        self.mounts.finish(&mut context);
    }
}

/// The time between two looks.
#[derive(Clone, Copy, Debug)]
struct Span {
    length_ns: u64,
    /// By how much the time of day was set meanwhile.
    stepped_ns: Option<i64>,
}

/// Less than this is the clock being kept right, and no step.
const STEP_NS_MIN: i64 = 500_000_000;

impl Span {
    fn between(last: Moment, now: Moment) -> Span {
        let length_ns = now.monotonic_ns.saturating_sub(last.monotonic_ns);
        let by_day_ns = now.local_ns.saturating_sub(last.local_ns);
        let stepped_ns = by_day_ns.saturating_sub_unsigned(length_ns);
        Span { length_ns, stepped_ns: Some(stepped_ns).filter(|ns| ns.abs() >= STEP_NS_MIN) }
    }
}

/// Counters by what they are of.
type Table<K, const N: usize> = BTreeMap<K, [u64; N]>;
