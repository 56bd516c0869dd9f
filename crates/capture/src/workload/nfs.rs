//! A composite workload from what an NFS client counts: /proc/self/mountstats, twice.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _};

use dialects::MixOp;

use super::component::{Touched, Workload, component};
use super::program::Program;
use crate::context::printable;
use crate::lines::ReadError;
use crate::live::mount_point;

/// Longest text of both: mounts have some 4 KiB each.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// From so many bytes per transfer on, files are gone through in order: a client joins what is
/// adjacent, up to its largest transfer.
const IN_ORDER_BYTES_MIN: u64 = 512 << 10;

/// Counters beyond these are damaged: seconds and milliseconds of 270 years, bytes, calls. Sums and
/// products of them stay within 64 bits.
const AGE_S_MAX: u64 = 1 << 33;
const TIME_MS_MAX: u64 = 1 << 43;
const BYTES_MAX: u64 = 1 << 60;
const CALLS_MAX: u64 = 1 << 40;

/// The files that are assumed: a client does not count them.
const ASSUMED_FILES: usize = 100;
const ASSUMED_BYTES: u64 = 4 << 20;

/// What a mount has counted since it was mounted.
#[derive(Clone, Debug, Default)]
struct Counts {
    age_s: u64,
    read_bytes: u64,
    write_bytes: u64,
    /// By call: how many, milliseconds from start to end, and errors.
    calls: BTreeMap<String, [u64; 3]>,
}

/// Two looks at what the mounts of a host have counted.
#[derive(Debug, Default)]
pub struct MountCounts {
    /// By folder: the first and the last look.
    mounts: BTreeMap<String, (Counts, Counts)>,
    n_looks: u64,
}

impl MountCounts {
    /// Reads a source: one look or several, one after the other.
    ///
    /// # Errors
    /// Where the system fails.
    pub fn read(&mut self, input: &mut dyn BufRead) -> Result<(), ReadError> {
        let mut bytes = Vec::new();
        input.take(TEXT_BYTES_MAX).read_to_end(&mut bytes)?;
        let mut open: Option<String> = None;
        let mut seen = BTreeSet::new();
        for line in String::from_utf8_lossy(&bytes).lines() {
            if line.starts_with("device ") {
                open = mount_point(line);
                if let Some(name) = &open {
                    if seen.is_empty() || !seen.insert(name.clone()) {
                        self.n_looks += 1;
                        seen = BTreeSet::from([name.clone()]);
                    }
                    let (_, last) = self.mounts.entry(name.clone()).or_default();
                    *last = Counts::default();
                }
                continue;
            }
            let Some((first, last)) = open.as_ref().and_then(|name| self.mounts.get_mut(name))
            else {
                continue;
            };
            last.note(line.trim());
            if self.n_looks == 1 {
                *first = last.clone();
            }
        }
        Ok(())
    }

    /// Returns whether there was none.
    pub fn is_empty(&self) -> bool {
        self.n_looks == 0
    }

    /// Returns what they come to, for the mounts below some folders, or all.
    ///
    /// # Errors
    /// Says why there is none.
    pub fn finish(self, below: &[String]) -> Result<Workload, String> {
        if self.n_looks < 2 {
            return Err("this is one reading of the NFS counters, and a workload needs two, such \
                as `cat /proc/self/mountstats` before and after, each \
                        with a `--from`"
                .to_owned());
        }
        let scope = super::Scope { below: below.to_vec() };
        let is_wanted = |name: &str| below.is_empty() || scope.holds(name);
        let wanted: Vec<_> = self.mounts.iter().filter(|(name, _)| is_wanted(name)).collect();
        let mut names = BTreeSet::new();
        let mut notes = Vec::new();
        let mut components = Vec::new();
        let mut span_ns = 1;
        for (name, (first, last)) in wanted {
            let name = &*printable(name);
            if !first.is_sound() || !last.is_sound() {
                notes.push(format!("`{name}` has counters that no client reaches: left out"));
                continue;
            }
            let Some(span_s) = last.age_s.checked_sub(first.age_s).filter(|span_s| *span_s > 0)
            else {
                notes.push(format!("`{name}` was mounted anew, or no second went by: left out"));
                continue;
            };
            let program = program(name, first, last, &mut notes);
            if program.n_ops() == 0 {
                notes.push(format!("`{name}` was not worked on: left out"));
                continue;
            }
            span_ns = span_ns.max(span_s * 1_000_000_000);
            let sizes = vec![ASSUMED_BYTES; ASSUMED_FILES];
            let touched = Touched { sizes, n_folders: 1 };
            components.push(component(program, touched, span_s * 1_000_000_000, &mut names));
        }
        if components.is_empty() {
            let why = notes.pop().unwrap_or_else(|| "no mount of NFS is in it".to_owned());
            return Err(why);
        }
        let labels = [
            "Measured: calls that reached the server, bytes, and how many were under way.",
            "Estimated: sizes of transfers, all as their mean; their order, from that size.",
            "Assumed: 100 files of 4 MiB for each process, and random bytes in them.",
        ];
        let labels = labels.map(str::to_owned).to_vec();
        let (n_calls, n_unclear) =
            (components.iter().map(|it| it.n_ops).fold(0, u64::saturating_add), 0);
        Ok(Workload { components, span_ns, n_calls, n_unclear, labels, notes })
    }
}

impl Counts {
    /// Returns whether a client can have counted so.
    fn is_sound(&self) -> bool {
        let are_calls = |[n, ms, n_errors]: &[u64; 3]| {
            *n <= CALLS_MAX && *ms <= TIME_MS_MAX && *n_errors <= CALLS_MAX
        };
        self.age_s <= AGE_S_MAX
            && self.read_bytes.max(self.write_bytes) <= BYTES_MAX
            && self.calls.values().all(are_calls)
    }

    /// Takes a line of a mount.
    fn note(&mut self, line: &str) {
        let Some((key, figures)) = line.split_once(':') else { return };
        let figures: Vec<u64> =
            figures.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
        match (key, &figures[..]) {
            ("age", [age_s, ..]) => self.age_s = *age_s,
            // Those of the server are the fifth and the sixth.
            ("bytes", [_, _, _, _, read, write, ..]) => {
                (self.read_bytes, self.write_bytes) = (*read, *write);
            }
            // ops, transmissions, timeouts, bytes sent and received, ms queued, on the way, in all.
            (call, [n, _, _, _, _, _, _, ms, errors @ ..]) => {
                let n_errors = errors.first().copied().unwrap_or(0);
                self.calls.insert(call.to_owned(), [*n, *ms, n_errors]);
            }
            _ => {}
        }
    }
}

/// Returns what a mount did between two looks, as one program.
fn program(name: &str, first: &Counts, last: &Counts, notes: &mut Vec<String>) -> Program {
    let is_version_4 = last.calls.contains_key("OPEN");
    let shown = name.rsplit('/').next().filter(|it| !it.is_empty()).unwrap_or("root");
    let mut program = Program { name: shown.to_owned(), ..Program::default() };
    let (mut lived_ms, mut n_others) = (0, 0);
    let mut n_moved = [0, 0];
    for (call, now) in &last.calls {
        let before = first.calls.get(call).copied().unwrap_or_default();
        let [n, ms, n_errors] = [0, 1, 2].map(|it| now[it].saturating_sub(before[it]));
        lived_ms = u64::saturating_add(lived_ms, ms);
        match call.as_str() {
            "READ" => n_moved[0] = n,
            "WRITE" => n_moved[1] = n,
            // What is looked for in vain is an error; all others are found by it.
            "LOOKUP" => {
                program.count(MixOp::NegStat, n_errors.min(n));
                program.count(MixOp::Stat, n.saturating_sub(n_errors));
            }
            "GETATTR" => program.count(MixOp::Stat, n),
            "ACCESS" => program.count(MixOp::Access, n),
            "SETATTR" => program.count(MixOp::Chmod, n),
            // Version 4 makes files as it opens them, and only folders and the like by this.
            "CREATE" if is_version_4 => program.count(MixOp::Mkdir, n),
            "CREATE" => program.count(MixOp::Create, n),
            "MKDIR" => program.count(MixOp::Mkdir, n),
            "REMOVE" => program.count(MixOp::Unlink, n),
            "RMDIR" => program.count(MixOp::Rmdir, n),
            "RENAME" => program.count(MixOp::Rename, n),
            "READDIR" | "READDIRPLUS" => program.count(MixOp::Readdir, n),
            "LOCK" => program.count(MixOp::Lock, n),
            "FSSTAT" | "STATFS" => program.count(MixOp::Statfs, n),
            "PATHCONF" => program.count(MixOp::Pathconf, n),
            // Parts of operations, such as OPEN, CLOSE and COMMIT, and the client's own.
            _ => n_others += n,
        }
    }
    let bytes = [
        last.read_bytes - first.read_bytes.min(last.read_bytes),
        last.write_bytes - first.write_bytes.min(last.write_bytes),
    ];
    let ops = [[MixOp::Read, MixOp::RandomRead], [MixOp::Write, MixOp::RandomWrite]];
    for (way, sizes) in [&mut program.read_sizes, &mut program.write_sizes].into_iter().enumerate()
    {
        let n = n_moved[way];
        if let Some(mean) = bytes[way].checked_div(n) {
            let mean = mean.next_multiple_of(512).max(512);
            sizes.insert(mean, n);
            let op = ops[way][usize::from(mean < IN_ORDER_BYTES_MIN)];
            *program.ops.entry(op).or_default() += n;
        }
    }
    if n_others > 0 {
        notes.push(format!(
            "{n_others} calls of `{name}` are left out: parts of others, such as OPEN and COMMIT"
        ));
    }
    program.live(lived_ms.saturating_mul(1_000_000));
    program
}
