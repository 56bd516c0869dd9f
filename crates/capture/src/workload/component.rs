//! The workload that a trace comes to: a component for each program.

use std::collections::{BTreeMap, BTreeSet};

use dialects::MixOp;
use dialects::native::PROCESSES_MAX;
use plan::rates::{RATE_IOPS_MAX, RATE_IOPS_MIN};
use units::plural;

use super::CallTrace;
use super::files::{FileIdx, Files};
use super::program::{Program, Sizes, add_all};
use super::rate::rate_rounding;

/// Programs with less of the operations are one component together.
const SHARE_MIN: f64 = 0.01;

/// What that component is called.
const OTHERS: &str = "others";

/// Shares of a mix are hundredths of a percent.
const PARTS_OF_A_MIX: u64 = 10_000;

/// Most sizes of a list.
const SIZES_MAX: usize = 16;

/// Files that a process works on at least: those that it goes through from start to end are held.
const FILES_MIN: u64 = 4;

/// Largest file that is moved in one transfer by a composite workload.
const WHOLE_BYTES_MAX: u64 = 64 << 20;

/// A composite workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// One for each program, those with most operations first.
    pub components: Vec<Component>,
    /// How long the trace is, nanoseconds, above 0.
    pub span_ns: u64,
    /// Calls of the trace, all of them.
    pub n_calls: u64,
    /// Lines that could not be understood.
    pub n_unclear: u64,
    /// What is measured, estimated and assumed.
    pub labels: Vec<String>,
    /// What it does not show, and what was assumed in its place.
    pub notes: Vec<String>,
}

/// What the processes of one program do.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// The program's name, as a folder may have it.
    pub name: String,
    /// Its processes in the trace, over all of it.
    pub n_processes: u64,
    /// Its processes at a time, on average, at least 1.
    pub instances: u32,
    /// Operations per second of each of them, above 0.
    pub rate: f64,
    /// Operations that were counted, above 0.
    pub n_ops: u64,
    /// Each of them, as the trace has it.
    pub counted: Vec<(MixOp, u64)>,
    /// Operations with hundredths of a percent, together 10,000.
    pub mix: Vec<(MixOp, u64)>,
    /// Bytes of transfers within files, with how many there were.
    pub read_sizes: Vec<(u64, u64)>,
    /// The same of writes.
    pub write_sizes: Vec<(u64, u64)>,
    /// Files are opened with O_DIRECT.
    pub direct: bool,
    /// Files are opened with O_DSYNC.
    pub dsync: bool,
    /// Files that were written are synchronised before they are closed.
    pub fsync_on_close: bool,
    /// Folders of each process, at least 1.
    pub n_folders: u64,
    /// Files in each of them, at least 1.
    pub files_per_folder: u64,
    /// Names of further files, per 100 files.
    pub spare_pct: u64,
    /// Bytes of files, with hundredths of a percent, together 10,000.
    pub file_sizes: Vec<(u64, u64)>,
    /// What was assumed about it.
    pub notes: Vec<String>,
}

/// How sure the figures of a trace of calls are.
const LABELS: [&str; 3] = [
    "Measured: operations, sizes of transfers and files, processes, rates.",
    "Estimated: the pages of mappings that were touched, 128 KiB of each at most.",
    "Assumed: contents of files, which calls do not show: random bytes.",
];

/// The files that a program worked on.
pub(super) struct Touched {
    /// Bytes of each.
    pub(super) sizes: Vec<u64>,
    pub(super) n_folders: u64,
}

impl Touched {
    /// Finds those of a program among all, with the folder and the bytes of each.
    fn of(program: &Program, files: &BTreeMap<FileIdx, (&str, u64)>) -> Touched {
        let of_program = || program.files.iter().filter_map(|idx| files.get(idx));
        let folders: BTreeSet<&str> = of_program().map(|(folder, _)| *folder).collect();
        let mut sizes: Vec<u64> = of_program().map(|(_, bytes)| *bytes).collect();
        sizes.sort_unstable();
        Touched { sizes, n_folders: folders.len() as u64 }
    }
}

/// Makes the workload of a trace that has been read.
pub(super) fn workload(trace: CallTrace) -> Result<Workload, String> {
    let span_ns = trace.processes.span_ns.map_or(0, |(first, last)| last - first);
    let notes = notes(&trace);
    let CallTrace { processes, n_calls, n_unclear, .. } = trace;
    let mut programs = processes.programs;
    programs.retain(|program| program.n_ops() > 0);
    if programs.is_empty() {
        return Err(match processes.scope.below[..] {
            [] => "no call of it works on files outside of the system's own; `--below DIR` counts \
                   those of a folder"
                .to_owned(),
            _ => "no call of it works on files below the folders that were named; relative names \
                  need a trace with `strace -y`"
                .to_owned(),
        });
    }
    if span_ns == 0 {
        return Err("all its calls have the same time, and a rate is operations over time: trace \
                    for longer, with `strace -f -ttt`, whose times have microseconds"
            .to_owned());
    }
    let by_idx: BTreeMap<FileIdx, (&str, u64)> = processes
        .files
        .all()
        .filter(|(_, _, facts)| !facts.is_folder)
        .filter(|(_, _, facts)| facts.exists != Some(false) || facts.bytes() > 0)
        .map(|(idx, folder, facts)| (idx, (folder, facts.bytes())))
        .collect();
    let mut names = BTreeSet::new();
    let programs = together(programs).into_iter();
    let components = programs.map(|it| {
        let touched = Touched::of(&it, &by_idx);
        component(it, touched, span_ns, &mut names)
    });
    let components = components.collect();
    let labels = LABELS.map(str::to_owned).to_vec();
    Ok(Workload { components, span_ns, n_calls, n_unclear, labels, notes })
}

/// Puts programs with few operations together; returns those with most first.
fn together(programs: Vec<Program>) -> Vec<Program> {
    let n_ops: u64 = programs.iter().map(Program::n_ops).sum();
    let is_small = |it: &Program| (it.n_ops() as f64) < SHARE_MIN * n_ops as f64;
    let (small, mut large): (Vec<_>, Vec<_>) = programs.into_iter().partition(is_small);
    large.sort_by(|a, b| b.n_ops().cmp(&a.n_ops()).then_with(|| a.name.cmp(&b.name)));
    let small = small.into_iter().reduce(|mut sum, it| {
        OTHERS.clone_into(&mut sum.name);
        sum.add(it);
        sum
    });
    large.into_iter().chain(small).collect()
}

/// Returns how many processes stand for those of a trace, and the rate of each, within what a plan
/// can say of a component.
fn paced(rate: f64, n_alive: u64, notes: &mut Vec<String>) -> (u32, f64) {
    let rounding = rate_rounding();
    let (least, most) = (RATE_IOPS_MIN * (1.0 + rounding), RATE_IOPS_MAX * (1.0 - rounding));
    if rate < least {
        notes.push(format!(
            "{rate:.1e} operations per second were captured of {n_alive} at a time: one process \
             with the least rate that a plan can ask for stands for them"
        ));
        return (1, least);
    }
    if rate > most {
        notes.push(format!(
            "{rate:.1e} operations per second were captured, more than a plan can ask for"
        ));
    }
    if n_alive > PROCESSES_MAX {
        notes.push(format!(
            "{n_alive} processes were at it at a time; a plan has at most {PROCESSES_MAX}"
        ));
    }
    let n_paced = n_alive.clamp(1, PROCESSES_MAX) as u32;
    (n_paced, rate.min(most) / f64::from(n_paced))
}

/// Makes the component of a program, whose name none of `names` has.
pub(super) fn component(
    mut program: Program,
    Touched { mut sizes, n_folders }: Touched,
    span_ns: u64,
    names: &mut BTreeSet<String>,
) -> Component {
    let mut notes = Vec::new();
    let n_alive = (program.lived_ns as f64 / span_ns as f64).round().max(1.0) as u64;
    let (instances, rate) =
        paced(program.n_ops() as f64 * 1e9 / span_ns as f64, n_alive, &mut notes);
    let moved_max = moves_of_one(&program);
    if sizes.iter().all(|bytes| *bytes == 0) && moved_max > 0 {
        notes.push("sizes of files are assumed: the trace does not show them".to_owned());
        sizes = vec![moved_max; sizes.len().max(1)];
    }
    if sizes.last().is_some_and(|largest| *largest > WHOLE_BYTES_MAX) {
        in_parts(&mut program, &mut notes);
    }
    if program.ops.contains_key(&MixOp::Trunc) && program.write_sizes.is_empty() {
        notes.push("how much `trunc` cuts off is assumed: 4 KiB".to_owned());
        program.write_sizes.insert(4096, 1);
    }
    let n_ops = program.n_ops();
    let counted = program.ops.iter().map(|(op, n)| (*op, *n)).collect();
    let mix = mix(&program, &mut notes);
    let excursion = excursion(&mix);
    let n_touched = (sizes.len() as u64).div_ceil(instances.into());
    let n_files = n_touched.max(FILES_MIN + excursion);
    if n_files > n_touched {
        notes.push(format!(
            "{} of each process in the trace, {n_files} here, so that there always is one to work \
             on",
            plural(n_touched, "file")
        ));
    }
    let n_folders = n_folders.div_ceil(instances.into()).clamp(1, n_files);
    let align_bytes = if program.n_direct * 2 > program.n_moving { 512 } else { 1 };
    note_counts(&program, &mut notes);
    Component {
        name: folder_name(&program.name, names),
        n_processes: program.n_processes,
        instances,
        rate,
        n_ops,
        counted,
        mix,
        read_sizes: grouped(&program.read_sizes, align_bytes),
        write_sizes: grouped(&program.write_sizes, align_bytes),
        direct: align_bytes > 1,
        dsync: program.n_dsync * 2 > program.n_written,
        fsync_on_close: program.n_synced * 2 > program.n_written,
        n_folders,
        files_per_folder: n_files.div_ceil(n_folders),
        spare_pct: ((excursion + FILES_MIN) * 100).div_ceil(n_files).max(10),
        file_sizes: file_sizes(&sizes),
        notes,
    }
}

/// Returns the largest transfer.
fn moves_of_one(program: &Program) -> u64 {
    let of = [
        &program.read_sizes,
        &program.write_sizes,
        &program.whole_read_sizes,
        &program.whole_write_sizes,
    ];
    of.into_iter().filter_map(|sizes| sizes.keys().next_back()).copied().max().unwrap_or(0)
}

/// Makes transfers of whole files some within files, where files are too large for the other.
fn in_parts(program: &mut Program, notes: &mut Vec<String>) {
    let whole = [
        (MixOp::ReadFile, MixOp::RandomRead),
        (MixOp::WriteFile, MixOp::RandomWrite),
        (MixOp::CopyFile, MixOp::Write),
    ];
    for (from, to) in whole {
        let n = program.ops.remove(&from).unwrap_or(0);
        program.count(to, n);
        if n > 0 {
            notes.push(format!(
                "{n} `{}` are `{}` here: some files have more than 64 MiB",
                from.name(),
                to.name()
            ));
        }
    }
    add_all(&mut program.read_sizes, std::mem::take(&mut program.whole_read_sizes));
    add_all(&mut program.write_sizes, std::mem::take(&mut program.whole_write_sizes));
    if program.ops.contains_key(&MixOp::Write) && program.write_sizes.is_empty() {
        program.write_sizes.insert(1 << 20, 1);
    }
}

/// Returns the shares of operations. Files are made as often as they are removed, so that the load
/// can go on.
fn mix(program: &Program, notes: &mut Vec<String>) -> Vec<(MixOp, u64)> {
    let n = |op| program.ops.get(&op).copied().unwrap_or(0);
    let mut ops = program.ops.clone();
    let pairs = [(MixOp::Create, MixOp::Unlink, true), (MixOp::Mkdir, MixOp::Rmdir, false)];
    for (makes, removes, is_even) in pairs {
        let (n_made, n_gone) = (n(makes), n(removes));
        if n_gone > n_made || is_even && n_made > n_gone {
            let most = n_made.max(n_gone);
            ops.insert(makes, most);
            if is_even {
                ops.insert(removes, most);
            }
            notes.push(format!(
                "{n_made} `{}` and {n_gone} `{}` in the trace: as many of both here, or files run \
                 out or pile up",
                makes.name(),
                removes.name()
            ));
        }
    }
    let mut parts = parts_of(&ops);
    let rare: Vec<&str> =
        parts.iter().filter(|(_, part)| *part == 0).map(|(op, _)| op.name()).collect();
    if !rare.is_empty() {
        notes.push(format!("left out with less than 0.01 %: {}", rare.join(", ")));
    }
    parts.retain(|(_, part)| *part > 0);
    parts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    parts
}

/// Returns the shares of operations, hundredths of a percent. Whole percent are preferred, where
/// none is rare: files then come and go in shorter turns.
fn parts_of(ops: &BTreeMap<MixOp, u64>) -> Vec<(MixOp, u64)> {
    let total: u64 = ops.values().sum();
    let n_steps = if ops.values().all(|n| n * 100 >= total) { 100 } else { PARTS_OF_A_MIX };
    // Those that must stay even are cut off; the others share what is left, by what they lost.
    let is_free =
        |op: MixOp| !matches!(op, MixOp::Create | MixOp::Unlink | MixOp::Unlink2 | MixOp::Rmdir);
    let mut steps: Vec<(MixOp, u64, u64)> =
        ops.iter().map(|(op, n)| (*op, n * n_steps / total, n * n_steps % total)).collect();
    let mut left = n_steps - steps.iter().map(|(_, step, _)| step).sum::<u64>();
    let mut free: Vec<&mut (MixOp, u64, u64)> =
        steps.iter_mut().filter(|(op, ..)| is_free(*op)).collect();
    free.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(&b.0)));
    while left > 0 && !free.is_empty() {
        for (_, step, _) in free.iter_mut().take(left as usize) {
            *step += 1;
            left -= 1;
        }
    }
    steps.into_iter().map(|(op, step, _)| (op, step * (PARTS_OF_A_MIX / n_steps))).collect()
}

/// Returns how many more files than usual are made, or removed, before it evens out: operations
/// are dealt from a shuffled deck, and one deck in a million has more.
fn excursion(mix: &[(MixOp, u64)]) -> u64 {
    let gcd = mix.iter().fold(PARTS_OF_A_MIX, |gcd, (_, part)| {
        let (mut a, mut b) = (gcd, *part);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    });
    let created = mix.iter().find(|(op, _)| *op == MixOp::Create).map_or(0, |(_, part)| part / gcd);
    (4.0 * (created as f64).sqrt()).ceil() as u64
}

/// Notes what the mix has no operation for.
fn note_counts(program: &Program, notes: &mut Vec<String>) {
    if program.n_opened_only > 0 {
        notes.push(format!(
            "{} opened and closed without anything in between are left out",
            plural(program.n_opened_only, "file")
        ));
    }
    if program.n_written > 0 && program.n_synced > 0 {
        notes.push(format!(
            "{} of {} written files were synchronised before they were closed",
            program.n_synced, program.n_written
        ));
    }
}

/// Returns sizes with their numbers, aligned and within what an operation can move; many are few,
/// by their means.
fn grouped(sizes: &Sizes, align_bytes: u64) -> Vec<(u64, u64)> {
    let most = u64::from(u32::MAX) / align_bytes * align_bytes;
    let aligned = |bytes: u64| match bytes {
        0 => align_bytes,
        _ if bytes >= most => most,
        _ => bytes.next_multiple_of(align_bytes),
    };
    let mut merged = Sizes::new();
    for (bytes, n) in sizes.iter().filter(|(_, n)| **n > 0) {
        *merged.entry(aligned(*bytes)).or_default() += n;
    }
    if merged.len() <= SIZES_MAX {
        return merged.into_iter().collect();
    }
    // One for each power of two, and at most as many.
    let mut by_power: BTreeMap<u32, (u128, u64)> = BTreeMap::new();
    for (bytes, n) in merged {
        let (sum, count) = by_power.entry(bytes.ilog2()).or_default();
        *sum += u128::from(bytes) * u128::from(n);
        *count += n;
    }
    let mean = |(sum, n): (u128, u64)| (aligned((sum / u128::from(n)) as u64), n);
    by_power.into_values().map(mean).collect()
}

/// Returns the sizes of files, sorted, as few with shares: all empty ones, and the means of parts
/// of the others that have as many each.
fn file_sizes(sorted: &[u64]) -> Vec<(u64, u64)> {
    let n_empty = sorted.partition_point(|bytes| *bytes == 0);
    let (empty, full) = sorted.split_at(n_empty);
    let n_parts = full.len().clamp(1, SIZES_MAX / 2);
    let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
    if !empty.is_empty() || full.is_empty() {
        groups.insert(0, empty.len().max(1) as u64);
    }
    for part in 0..n_parts {
        let bound = |part: usize| full.len() * part / n_parts;
        let of_part = &full[bound(part)..bound(part + 1)];
        if !of_part.is_empty() {
            let sum: u128 = of_part.iter().map(|bytes| u128::from(*bytes)).sum();
            let mean = (sum / of_part.len() as u128) as u64;
            *groups.entry(mean).or_default() += of_part.len() as u64;
        }
    }
    let total: u64 = groups.values().sum();
    let mut shares: Vec<(u64, u64)> =
        groups.into_iter().map(|(bytes, n)| (bytes, n * PARTS_OF_A_MIX / total)).collect();
    let left = PARTS_OF_A_MIX - shares.iter().map(|(_, part)| part).sum::<u64>();
    if let Some((_, part)) = shares.iter_mut().max_by_key(|(_, part)| *part) {
        *part += left;
    }
    shares.retain(|(_, part)| *part > 0);
    shares
}

/// Returns a name that a folder may have, and that no other component has.
fn folder_name(program: &str, names: &mut BTreeSet<String>) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain: String = program.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let mut name = plain.clone();
    let mut n = 1;
    while !names.insert(name.clone()) {
        n += 1;
        name = format!("{plain}-{n}");
    }
    name
}

/// Says what the trace as a whole does not show.
fn notes(trace: &CallTrace) -> Vec<String> {
    let CallTrace { processes, left_out, n_unclear, first_unclear, .. } = trace;
    let mut notes = Vec::new();
    let mut note = |n: u64, text: String| {
        if n > 0 {
            notes.push(text);
        }
    };
    let Files { n_beyond, n_elsewhere, .. } = processes.files;
    let count = |n| plural(n, "call");
    let first = first_unclear.as_deref().unwrap_or_default();
    note(*n_unclear, format!("lines that could not be read: {n_unclear}; the first is {first}"));
    let n = processes.n_unknown;
    note(
        n,
        format!(
            "{} on files that were open before the trace are left out; `strace -y` shows \
             their names",
            count(n)
        ),
    );
    let n = left_out.n_hidden;
    note(
        n,
        format!(
            "{} of io_uring and native AIO are left out: strace does not show their I/O; \
             capture the device with `plimsoll capture --device`",
            count(n)
        ),
    );
    let n = left_out.n_without_op;
    note(n, format!("{} on links are left out: a mix has none", count(n)));
    note(
        n_elsewhere,
        format!(
            "{} on files elsewhere, such as the system's own, are left out; `--below DIR` \
             says what counts",
            count(n_elsewhere)
        ),
    );
    note(n_beyond, format!("{} on files beyond the first 4,194,304", count(n_beyond)));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_their_alignment() {
        for (bytes, align_bytes, expected) in [
            (4_608, 512, 4_608),
            (5_000, 512, 5_120),
            (1, 512, 512),
            (5 << 30, 512, (1 << 32) - 512),
            (u64::MAX, 512, (1 << 32) - 512),
            (5 << 30, 1, (1 << 32) - 1),
        ] {
            assert_eq!(grouped(&Sizes::from([(bytes, 3)]), align_bytes), [(expected, 3)]);
        }
    }
}
