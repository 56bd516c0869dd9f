//! NFS mounts: /proc/self/mountstats.

use std::collections::BTreeSet;

use crate::context::Context;
use crate::live::counter::{Grown, deltas, wrapped};
use crate::live::{Span, Table};
use crate::sample::{Event, Flow, Sample};

/// Calls, bytes from and to the server, and milliseconds from start to end, of reads and writes.
const READS: usize = 0;
const READ_BYTES: usize = 1;
const READ_MS: usize = 2;
const WRITES: usize = 3;
const WRITE_BYTES: usize = 4;
const WRITE_MS: usize = 5;
const N_COUNTERS: usize = 6;

/// The mounts that are asked about.
#[derive(Debug)]
pub(super) struct Mounts {
    wanted: Vec<String>,
    last: Table<String, N_COUNTERS>,
    gone: BTreeSet<String>,
}

impl Mounts {
    pub(super) fn new(wanted: Vec<String>) -> Self {
        Mounts { wanted, last: Table::new(), gone: BTreeSet::new() }
    }

    pub(super) fn take(
        &mut self,
        span: Option<Span>,
        end_ns: i64,
        text: &str,
        context: &mut Context<'_>,
    ) {
        let mounts = parse(text);
        for name in &self.wanted {
            let Some(now) = mounts.get(name) else {
                if self.gone.insert(name.clone()) {
                    context.remark(None, format!("`{name}` is not an NFS mount now"));
                }
                continue;
            };
            let (Some(span), Some(last)) = (span, self.last.get(name)) else { continue };
            let Some(Grown { by: grown, has_wrapped }) = deltas(last, now) else {
                let text = format!("`{name}` was mounted again: one sample is left out");
                context.remark(None, text);
                continue;
            };
            if has_wrapped {
                context.remark(None, wrapped(name));
            }
            context.put(Event::Device { name, sample: sample(&grown, end_ns, span.length_ns) });
        }
        self.last = mounts;
    }

    pub(super) fn finish(&self, context: &mut Context<'_>) {
        if !self.wanted.is_empty() {
            let text = "on NFS mounts, reads and writes that reach the server are counted; \
            latency is that of the whole call, including the wait for a slot; the I/O of other \
            processes of this host is in it";
            context.remark(None, text);
        }
    }
}

fn sample(grown: &[u64; N_COUNTERS], end_ns: i64, span_ns: u64) -> Sample {
    let flow = |ios: usize, bytes: usize, ms: usize| Flow {
        n_ios: Some(grown[ios] as f64),
        bytes: Some(grown[bytes] as f64),
        wait_ns: Some(grown[ms] as f64 * 1e6),
        n_merged: None,
    };
    let (read, write) = (flow(READS, READ_BYTES, READ_MS), flow(WRITES, WRITE_BYTES, WRITE_MS));
    let in_flight_ns = read.wait_ns.zip(write.wait_ns).map(|(read, write)| read + write);
    Sample { end_ns, span_ns, read, write, in_flight_ns, ..Sample::default() }
}

/// Reads the mounts of NFS by their mount points.
fn parse(text: &str) -> Table<String, N_COUNTERS> {
    let mut mounts = Table::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        if line.starts_with("device ") {
            open = mount_point(line);
            if let Some(name) = &open {
                mounts.insert(name.clone(), [0; N_COUNTERS]);
            }
            continue;
        }
        let Some(counters) = open.as_ref().and_then(|name| mounts.get_mut(name)) else { continue };
        let Some((key, figures)) = line.trim().split_once(':') else { continue };
        let figures: Vec<u64> =
            figures.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
        match key {
            // Those of the server are the fifth and the sixth.
            "bytes" if figures.len() >= 6 => {
                (counters[READ_BYTES], counters[WRITE_BYTES]) = (figures[4], figures[5]);
            }
            // ops, transmissions, timeouts, bytes sent and received, ms queued, on the way, in all.
            "READ" if figures.len() >= 8 => {
                (counters[READS], counters[READ_MS]) = (figures[0], figures[7]);
            }
            "WRITE" if figures.len() >= 8 => {
                (counters[WRITES], counters[WRITE_MS]) = (figures[0], figures[7]);
            }
            _ => {}
        }
    }
    mounts
}

/// Reads `device host:/export mounted on /mnt/a with fstype nfs4 statvers=1.1`.
pub(crate) fn mount_point(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(" mounted on ")?;
    let (path, kind) = rest.rsplit_once(" with fstype ")?;
    let is_nfs = matches!(kind.split(' ').next(), Some("nfs" | "nfs4"));
    is_nfs.then(|| String::from_utf8_lossy(&units::unescape_mount(path.as_bytes())).into_owned())
}
