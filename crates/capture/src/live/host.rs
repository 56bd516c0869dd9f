//! Processors and memory: /proc/stat, /proc/meminfo, /proc/vmstat.

use crate::context::Context;
use crate::live::counter::deltas;
use crate::live::{Span, Texts};
use crate::sample::{Event, HostSample};

/// user nice system idle iowait irq softirq steal; guests are counted with users already.
const N_STATES: usize = 8;
/// Those that are time in use.
const BUSY: [usize; 5] = [0, 1, 2, 5, 6];

/// The host.
#[derive(Debug, Default)]
pub(super) struct Host {
    last_cpu: Option<[u64; N_STATES]>,
    first_swapped: Option<u64>,
    last_swapped: u64,
}

/// Returns the number of processors.
pub(super) fn n_cpus(stat: &str) -> Option<u32> {
    let is_one = |line: &&str| {
        let number = line.strip_prefix("cpu").and_then(|rest| rest.split(' ').next());
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let n_cpus = stat.lines().filter(is_one).count() as u32;
    (n_cpus > 0).then_some(n_cpus)
}

impl Host {
    pub(super) fn take(
        &mut self,
        span: Option<Span>,
        end_ns: i64,
        texts: &Texts<'_>,
        context: &mut Context<'_>,
    ) {
        let cpu = cpu_states(texts.stat);
        let last = std::mem::replace(&mut self.last_cpu, cpu);
        if let Some(swapped) = n_swapped(texts.vmstat) {
            self.first_swapped.get_or_insert(swapped);
            self.last_swapped = swapped;
        }
        let Some(span) = span else { return };
        // Idle time has been seen to go back by a tick: such a span is left out.
        let grown = last.zip(cpu).and_then(|(last, now)| deltas(&last, &now));
        let cpu_share = grown.and_then(|grown| {
            let total: u64 = grown.by.iter().sum();
            let busy: u64 = BUSY.iter().map(|idx| grown.by[*idx]).sum();
            (total > 0).then(|| busy as f64 / total as f64)
        });
        let of = |key: &str| meminfo_bytes(texts.meminfo, key);
        let (total, free) = (of("MemTotal:"), of("MemAvailable:"));
        let memory_bytes = total.zip(free).map(|(total, free)| (total - free).max(0.0));
        let memory_share = memory_bytes.zip(total).map(|(used, total)| used / total);
        context.put(Event::Host(HostSample {
            end_ns,
            span_ns: span.length_ns,
            cpu_share,
            memory_bytes,
            memory_share,
        }));
    }

    pub(super) fn finish(&self, context: &mut Context<'_>) {
        let before = self.first_swapped.unwrap_or(self.last_swapped);
        let n_pages = self.last_swapped.saturating_sub(before);
        if n_pages > 0 {
            let text = format!(
                "the host swapped {}: it needs more memory than the figures show, and some of the \
                I/O is swapping",
                units::plural(n_pages, "page")
            );
            context.remark(None, text);
        }
    }
}

fn cpu_states(stat: &str) -> Option<[u64; N_STATES]> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let mut states = [0; N_STATES];
    for (place, word) in states.iter_mut().zip(line.split_ascii_whitespace()) {
        *place = word.parse().ok()?;
    }
    Some(states)
}

fn meminfo_bytes(meminfo: &str, key: &str) -> Option<f64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib as f64 * 1024.0)
}

/// Returns the pages that were swapped in and out since the host started.
fn n_swapped(vmstat: &str) -> Option<u64> {
    let of = |key: &str| -> Option<u64> {
        vmstat.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
    };
    Some(of("pswpin ")?.saturating_add(of("pswpout ")?))
}
