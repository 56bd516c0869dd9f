//! Checks of options against one another, as fio makes them when a run starts.

use plan::files::Size;
use plan::load::Rate;
use plan::verify::{BlockFacts, DedupeMode, VerifyMethod};
use plan::workload::BlockSize;
use plan::{Diagnostic, Direction, Job, PriorityShare, Span};

/// Where a job and its options were written.
#[derive(Clone, Debug, Default)]
pub(super) struct OptionSites {
    pub(super) section: Span,
    /// `none` or `strided`, where given.
    pub(super) zone_mode: Option<&'static str>,
    /// Parameters by our name; the last place counts.
    options: Vec<(&'static str, Span)>,
}

impl OptionSites {
    /// Remembers where a parameter was given.
    pub(super) fn note(&mut self, name: &'static str, span: &Span) {
        match self.options.iter_mut().find(|(noted, _)| *noted == name) {
            Some((_, place)) => place.clone_from(span),
            None => self.options.push((name, span.clone())),
        }
    }

    /// Returns whether the parameter was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(noted, _)| *noted == name)
    }

    /// Returns where the parameter was given, or else where the job is.
    pub(super) fn place(&self, name: &str) -> Span {
        let found = self.options.iter().find(|(noted, _)| *noted == name);
        found.map_or(&self.section, |(_, span)| span).clone()
    }
}

/// Finds contradictions; errors stop a run, warnings do not.
pub(super) fn check(job: &Job, site: &OptionSites, findings: &mut Vec<Diagnostic>) {
    let mut report = |finding: Diagnostic, name: &str| findings.push(finding.at(site.place(name)));
    targets(job, &mut report);
    depth(job, site, &mut report);
    rates(job, site, &mut report);
    sizes(job, site, &mut report);
    zones(job, site, &mut report);
    verification(job, site, &mut report);
    issue_times(job, &mut report);
    contents(job, &mut report);
    timing(job, &mut report);
    priorities(job, site, &mut report);
}

type Report<'a> = dyn FnMut(Diagnostic, &str) + 'a;

/// Checks that `wait_for` names exactly one earlier job.
pub(super) fn wait_for(
    job: &Job,
    earlier: &str,
    names: &[String],
    site: &OptionSites,
) -> Option<Diagnostic> {
    let problem = if job.name == earlier {
        "itself".to_owned()
    } else {
        match names.iter().filter(|name| *name == earlier).count() {
            1 => return None,
            0 => format!("`{earlier}`, but no job above has that name"),
            count => format!("`{earlier}`, but {count} jobs above have that name"),
        }
    };
    let text = format!("job `{}` waits for {problem}", job.name);
    let finding = Diagnostic::error("bad-wait-for", text).at(site.place("wait_for"));
    Some(finding.help("name one job that stands above, and give it a name of its own"))
}

/// fio takes the name `-` for its standard input and output, unless the engine opens files itself.
fn targets(job: &Job, report: &mut Report<'_>) {
    let opens = job.engine.kind.opens_files_here();
    let is_stream = job.files.directories.is_empty() && job.files.names.iter().any(|it| it == "-");
    if opens && is_stream {
        let text = format!(
            "job `{}` works on `-`, the standard input or output, which is not supported",
            job.name
        );
        let finding = Diagnostic::error("target-is-stream", text);
        report(finding.help("for a file of that name write `filename=./-`"), "file_names");
    }
}

/// Says that an engine does not keep the queue depth that was given, as fio does.
fn depth(job: &Job, site: &OptionSites, report: &mut Report<'_>) {
    let depth = job.load.queue_depth;
    if site.has("queue_depth") && depth > 1 && job.engine.kind.is_synchronous() {
        let text = format!(
            "job `{}` has iodepth={depth}, and `{}` ends an operation before it begins the next: \
             one is in flight",
            job.name, job.engine.name
        );
        let finding = Diagnostic::note("depth-not-kept", text);
        report(
            finding.help("use ioengine=io_uring with direct=1, or more workers (numjobs)"),
            "queue_depth",
        );
    }
}

fn rates(job: &Job, site: &OptionSites, report: &mut Report<'_>) {
    let load = &job.load;
    if site.has("rate") && site.has("rate_iops") {
        let text = format!("job `{}` has both `rate` and `rate_iops`", job.name);
        let finding = Diagnostic::error("rate-twice", text);
        report(
            finding.help("keep one: `rate` counts bytes per second, `rate_iops` I/Os"),
            "rate_iops",
        );
    }
    if load.rate_total_iops.is_some() && load.rate.iter().any(|(_, rate)| rate.is_some()) {
        let name = if site.has("rate_iops") { "rate_iops" } else { "rate" };
        let text = format!(
            "job `{}` has a rate over all directions, which alone holds: `{name}` is not used",
            job.name
        );
        report(Diagnostic::warning("rate-unused", text).help(format!("leave out `{name}`")), name);
    }
    for dir in Direction::ALL {
        let number = |rate: Option<Rate>| match rate {
            Some(Rate::Bytes(rate) | Rate::Iops(rate)) => rate,
            None => 0,
        };
        let same_unit = matches!(
            (load.rate[dir], load.rate_min[dir]),
            (Some(Rate::Bytes(_)), Some(Rate::Bytes(_)))
                | (Some(Rate::Iops(_)), Some(Rate::Iops(_)))
        );
        let (most, least) = (number(load.rate[dir]), number(load.rate_min[dir]));
        if same_unit && most > 0 && least > most {
            let text = format!(
                "job `{}` must reach a {} rate of {least}/s, but is limited to {most}/s",
                job.name,
                dir.name()
            );
            let name = if site.has("rate_iops_min") { "rate_iops_min" } else { "rate_min" };
            report(Diagnostic::error("rate-min-above-rate", text), name);
            return;
        }
    }
}

fn sizes(job: &Job, site: &OptionSites, report: &mut Report<'_>) {
    let block_bytes = job.block_size_min();
    if let Some(Size::Bytes(size_bytes)) = job.files.size
        && size_bytes > 0
        && size_bytes < u64::from(block_bytes)
        && !job.engine.kind.is_of_names()
    {
        let text = format!(
            "job `{}` has a size of {size_bytes} B, less than its smallest block of \
             {block_bytes} B",
            job.name
        );
        report(
            Diagnostic::error("size-too-small", text).help("raise `size` or lower `bs`"),
            "size",
        );
    }
    let unaligned = job.files.direct
        && job.issued_directions().any(|dir| {
            let is_odd = |bytes: &u32| !bytes.is_multiple_of(512);
            match &job.workload.block_size[dir] {
                BlockSize::Fixed(bytes) => is_odd(bytes),
                BlockSize::Range { min, max } => is_odd(min) || is_odd(max),
                BlockSize::Stepped { min, max, step } => [min, max, step].into_iter().any(is_odd),
                BlockSize::Split(parts) => parts.iter().any(|(bytes, _)| is_odd(bytes)),
                BlockSize::Weighted(parts) => parts.iter().any(|(bytes, _)| is_odd(bytes)),
            }
        });
    if unaligned && !job.engine.kind.is_of_names() {
        let text = format!(
            "job `{}` has direct=1 and a block size that is not a multiple of 512 B, which \
             devices refuse",
            job.name
        );
        report(Diagnostic::warning("block-size-unaligned", text), block_size_name(site));
    }
}

/// Reports that a size may not count zones here.
pub(super) fn zones_not_supported(option: &str) -> Diagnostic {
    let text = format!("option `{option}` counts zones, but the job's target has none");
    let finding = Diagnostic::error("no-zones", text);
    finding.help("write bytes; zoned devices are not supported yet")
}

fn zones(job: &Job, site: &OptionSites, report: &mut Report<'_>) {
    let files = &job.files;
    let counted = [
        ("size", files.size),
        ("io_size", files.io_size),
        ("offset", Some(files.offset)),
        ("offset_increment", Some(files.offset_increment)),
    ];
    for (name, size) in counted {
        if job.workload.strided.is_none() && matches!(size, Some(Size::Zones(_))) {
            report(zones_not_supported(name), name);
        }
    }
    let finding = match (site.zone_mode, site.has("zone_size_bytes")) {
        (Some("none"), true) => {
            let text = format!("job `{}` has a `zonesize`, but `zonemode=none`", job.name);
            let finding = Diagnostic::error("zones-off", text);
            finding.help("write `zonemode=strided`, or leave `zonesize` out")
        }
        (Some("strided"), false) => {
            let text = format!("job `{}` has `zonemode=strided` but no `zonesize`", job.name);
            let finding = Diagnostic::error("zones-without-size", text);
            finding.help("give `zonesize`, the bytes worked in a zone")
        }
        _ => return,
    };
    report(finding, "zone_mode");
}

/// Issue times stand in a log of latencies with offsets; fio asks for the latter, too.
fn issue_times(job: &Job, report: &mut Report<'_>) {
    let logs = &job.logs;
    if logs.issue_time && !logs.offset {
        let text = format!("job `{}` has log_issue_time without log_offset", job.name);
        let finding = Diagnostic::error("issue-time-without-offset", text);
        report(finding.help("write log_offset=1, too"), "log_issue_time");
    }
}

fn verification(job: &Job, site: &OptionSites, report: &mut Report<'_>) {
    let verify = &job.verify;
    let Some(method) = verify.method else { return };
    header(job, method, site, report);
    if verify.verify_only && job.limits.time_based {
        let text = format!("job `{}` has both `verify_only` and `time_based`", job.name);
        report(Diagnostic::error("verify-only-time-based", text), "verify_only");
    }
    if job.never_reads_back() {
        let text = format!(
            "job `{}` never verifies: its engine has one I/O in flight, and writes until the time \
             is over",
            job.name
        );
        let help = "use ioengine=io_uring or libaio, which read each pass back before the next \
                    one, or set verify_backlog";
        report(Diagnostic::warning("verify-never", text).help(help), "verify");
    }
}

/// Checks that the header and at least one byte of contents fit; fio asks for the same.
fn header(job: &Job, method: VerifyMethod, site: &OptionSites, report: &mut Report<'_>) {
    let header_bytes = method.header_bytes();
    if header_bytes == 0 {
        return;
    }
    let verify = &job.verify;
    let block_bytes = job.block_size_min();
    let interval_bytes =
        BlockFacts::of(&job.workload).interval_bytes(verify.interval_bytes).min(block_bytes);
    if interval_bytes <= header_bytes {
        let (parts, name) = if interval_bytes < block_bytes && site.has("verify_interval_bytes") {
            ("intervals", "verify_interval_bytes")
        } else {
            ("blocks", block_size_name(site))
        };
        let text = format!(
            "job `{}` verifies {parts} of {interval_bytes} B, too small for a header of \
             {header_bytes} B and contents",
            job.name
        );
        let finding = Diagnostic::error("verify-header-too-large", text);
        report(
            finding.help("raise the size, or use `verify=pattern`, which writes no header"),
            name,
        );
    } else if verify.header_offset_bytes > interval_bytes - header_bytes {
        let text = format!(
            "job `{}` puts the header of {header_bytes} B at {} B, where it does not fit an \
             interval of {interval_bytes} B",
            job.name, verify.header_offset_bytes
        );
        report(Diagnostic::error("verify-offset", text), "verify_header_offset_bytes");
    }
}

/// Returns the parameter that gave the block sizes.
fn block_size_name(site: &OptionSites) -> &'static str {
    let name = ["block_size_split", "block_size_range"].into_iter().find(|name| site.has(name));
    name.unwrap_or("block_size_bytes")
}

fn contents(job: &Job, report: &mut Report<'_>) {
    let buffers = &job.buffers;
    if let DedupeMode::WorkingSet { pct, .. } = buffers.dedupe_mode
        && buffers.dedupe_pct > 0
    {
        if u32::from(pct) + u32::from(buffers.dedupe_pct) > 100 {
            let text = format!(
                "job `{}` wants {} % duplicates, but {pct} % of its size is a working set of \
                 unique blocks",
                job.name, buffers.dedupe_pct
            );
            report(Diagnostic::error("dedupe-above-100", text), "dedupe_pct");
        }
        if job.files.size.is_none() {
            let text = format!("job `{}` has a deduplication working set but no `size`", job.name);
            report(Diagnostic::error("dedupe-without-size", text), "dedupe_mode");
        }
    }
}

fn priorities(job: &Job, site: &OptionSites, report: &mut Report<'_>) {
    let engine = &job.engine;
    let dirs = [Direction::Read, Direction::Write];
    let has_pct = dirs.iter().any(|dir| engine.priority_pct[*dir] > 0);
    if has_pct && site.has("priority_split") {
        let text =
            format!("job `{}` has both `cmdprio_percentage` and `cmdprio_bssplit`", job.name);
        let finding = Diagnostic::error("priority-twice", text);
        report(finding.help("keep one: both say which I/Os get the priority"), "priority_split");
        return;
    }
    for dir in dirs {
        let shares = job.priority_shares(dir);
        let sum_of = |share: &PriorityShare| -> u32 {
            let of_size = shares.iter().filter(|other| other.block_bytes == share.block_bytes);
            of_size.map(|other| u32::from(other.pct)).sum()
        };
        let over = shares.iter().find(|share| sum_of(share) > 100);
        if let Some((block_bytes, share)) = over.and_then(|it| Some((it.block_bytes?, it))) {
            let text = format!(
                "job `{}` gives priorities to {} % of its {}s of {block_bytes} B",
                job.name,
                sum_of(share),
                dir.name()
            );
            let finding = Diagnostic::error("priority-above-100", text);
            report(
                finding.help("shares of one block size add up to 100 at most"),
                "priority_split",
            );
            return;
        }
    }
}

fn timing(job: &Job, report: &mut Report<'_>) {
    let limits = &job.limits;
    if limits.time_based && limits.runtime_ns.is_none() {
        let text =
            format!("job `{}` is time_based without a runtime; time_based is dropped", job.name);
        report(Diagnostic::warning("time-based-without-runtime", text), "time_based");
    }
    let Some(steady) = limits.steady else { return };
    let interval_ns = steady.check_interval_ns;
    if interval_ns < 1_000_000_000 {
        let text =
            format!("job `{}` checks for the steady state more often than every second", job.name);
        report(Diagnostic::error("steady-interval", text), "steady_check_interval");
    } else if steady.window_ns <= interval_ns || steady.window_ns % interval_ns != 0 {
        let text = format!(
            "job `{}` has a steadystate_duration that is no multiple of, and greater than, the \
             check interval",
            job.name
        );
        report(Diagnostic::error("steady-window", text), "steady_window");
    }
    let window = steady.window_ns.saturating_add(steady.ramp_ns);
    if limits.runtime_ns.is_some_and(|runtime_ns| runtime_ns < window) {
        let text = format!("job `{}` ends before the steady state can be judged", job.name);
        report(Diagnostic::warning("steady-beyond-runtime", text), "steady_window");
    }
}
