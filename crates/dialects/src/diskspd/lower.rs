//! Time spans into the steps of a plan.

use std::collections::BTreeSet;

use plan::{Diagnostic, Severity, Span, Step};

use super::calls::{self, Files, ReadScript};
use super::command::{
    CacheMode, Command, Completion, Contents, Given, JOBS_MAX, Rate, Spread, Target, TimeSpan,
    conflict,
};
use super::sites::{Site, sites};
use crate::drafts::{JobDraft, StepDraft, fold};
use crate::sections::{self, Input, RawOption, Section};
use crate::windows::{self, NamedTarget};
use crate::{Loader, LowerOptions, Parsed, Request};

/// Parses a script or a profile that is already in memory; `name` stands for its path.
pub(super) fn parse_text(
    name: &str,
    text: &str,
    variables: &[(String, String)],
    request: &Request<'_>,
    loader: &dyn Loader,
) -> Parsed {
    let files = Files { overrides: request.overrides, loader };
    let asked = calls::read(name, text, variables, request.sections, files);
    let ReadScript { time_spans, findings, sources } = asked;
    let mut input = Input { sources, ..Input::default() };
    let mut overrides = windows::overrides(request.overrides);
    let files = Files { overrides: &overrides, loader };
    let mut lowering = Lowering {
        files,
        sections: Vec::new(),
        steps: Vec::new(),
        refusals: Vec::new(),
        notes: Vec::new(),
        unreadable: BTreeSet::new(),
    };
    for finding in findings {
        input.report(finding);
    }
    if !input.has_errors() {
        for time_span in &time_spans {
            lowering.time_span(time_span, request);
        }
    }
    let Lowering { sections, steps, refusals, notes, files: _, unreadable: _ } = lowering;
    for note in notes {
        input.report(note);
    }
    if input.has_errors() || sections.is_empty() {
        let plan = plan::Plan { sources: input.sources, ..plan::Plan::default() };
        return Parsed { plan, diagnostics: input.diagnostics, refusals };
    }
    input.parts.push(sections::Part { is_file: true, sections });
    let commands = || time_spans.iter().flat_map(|it| &it.commands);
    let sources: Vec<String> = commands().filter_map(Command::source_file).collect();
    let targets: Vec<String> = commands().flat_map(|it| &it.targets).map(Target::path).collect();
    overrides.forget_unless(&targets, &sources);
    // Which time spans are wanted is known already.
    let wishes = LowerOptions { sections: &[], readonly: false, overrides: Some(&overrides) };
    let mut parsed = input.lower(&wishes, loader);
    parsed.refusals.extend(refusals);
    if parsed.has_errors() {
        return parsed;
    }
    fold(&mut parsed, steps);
    let targets = commands().flat_map(|command| &command.targets);
    let targets = targets.filter(|target| windows::is_of_windows(&target.name));
    let targets = targets.map(|target| NamedTarget {
        name: &target.name,
        path: target.path(),
        span: &target.span,
    });
    let unmapped = windows::unmapped(targets, &parsed, request.is_to_run);
    parsed.refusals.extend(unmapped);
    parsed
}

struct Lowering<'a> {
    files: Files<'a>,
    sections: Vec<Section>,
    steps: Vec<StepDraft>,
    refusals: Vec<Diagnostic>,
    notes: Vec<Diagnostic>,
    /// Files that what is written cannot come from.
    unreadable: BTreeSet<String>,
}

impl Lowering<'_> {
    fn time_span(&mut self, time_span: &TimeSpan, request: &Request<'_>) {
        for command in &time_span.commands {
            self.limits(command, request);
            self.check_source(command, request);
        }
        let mut jobs = Vec::new();
        for site in sites(time_span) {
            if self.sections.len() as u64 >= JOBS_MAX {
                let text = format!("the time spans have more than {JOBS_MAX} jobs");
                self.refuse(Diagnostic::error("too-many-jobs", text));
                return;
            }
            let begins_step = jobs.is_empty() && !self.steps.is_empty();
            let mut options = options_of(&site);
            if let Some(path) = self.source_file(site.command)
                && !self.unreadable.contains(&path)
            {
                let at = place(site.command.contents.as_ref(), site.command);
                options.push(option("pattern", &format!("'{path}'"), at));
            }
            let at = &site.command.span;
            if begins_step {
                options.push(RawOption::ours("barrier", None, at));
            }
            let span = at.clone();
            self.sections.push(Section { name: site.name, span, is_global: false, options });
            jobs.push(JobDraft::default());
        }
        let name = time_span.step_name().to_owned();
        self.steps.push(StepDraft { step: Step { name, ..Step::default() }, jobs });
    }

    /// Reports why it does not run.
    fn refuse(&mut self, finding: Diagnostic) {
        push_new(&mut self.refusals, finding);
    }

    /// Reports what is read and not run, or otherwise than by the tool.
    fn limits(&mut self, command: &Command, request: &Request<'_>) {
        let mut refuse = |finding: Diagnostic| self.refuse(as_asked(finding, request));
        let is_set = request.overrides.set.iter().any(|(key, _)| key == "runtime");
        if let Some(given) = command.duration_s.as_ref().filter(|it| it.value == 0)
            && !is_set
        {
            let text = "`-d0` measures nothing";
            let finding = Diagnostic::error("no-run-time", text).at(given.span.clone());
            refuse(finding.help("say how long: `-d60`, or `--set runtime=60s`"));
        }
        if let Some(at) = &command.is_profile_only {
            let text = "`-Rp` prints the options, and runs nothing";
            let finding = Diagnostic::error("profile-only", text).at(at.clone());
            refuse(
                finding.help("`plimsoll check` shows what would be run; leave `-Rp` out to run"),
            );
        }
        if let Some(flush) = &command.flush {
            let text = "`-N` flushes as only Windows does";
            let finding = Diagnostic::error("only-on-windows", text).at(flush.span.clone());
            refuse(finding.help("leave it out, or write `-Sw` in place of `-Sm -N`"));
        }
        if let (Some(at), Some(_)) = (&command.caching.is_mapped, &command.caching.write_through) {
            let text = "memory-mapped I/O, `-Sm`, is not written through, `-w`";
            refuse(conflict(text, at).help("leave one of them out"));
        }
        if let Some(Given { value: spread, span }) = &command.spread
            && parts_of(command, spread).is_none()
        {
            let text = "the parts of `-rdabs` go beyond the target, or its size is not known";
            let finding = Diagnostic::error("unknown-size", text).at(span.clone());
            refuse(finding.help("`-c` or `-f` says how large it is; `-rdpct` needs no size"));
        }
        self.notes(command);
    }

    /// Returns the file that what is written comes from, as it is mapped.
    fn source_file(&self, command: &Command) -> Option<String> {
        Some(self.files.overrides.remapped(&command.source_file()?))
    }

    /// Refuses a file that what is written cannot come from, once.
    fn check_source(&mut self, command: &Command, request: &Request<'_>) {
        let Some(path) = self.source_file(command) else { return };
        let why = match self.files.loader.read(&path) {
            _ if path.contains('\'') => "a name with a single quote is not read".to_owned(),
            Ok(bytes) if !bytes.is_empty() => return,
            Ok(_) => "it is empty".to_owned(),
            Err(error) => error.to_string(),
        };
        let text = format!("cannot take what is written from `{path}`: {why}");
        if self.unreadable.insert(path) {
            let at = place(command.contents.as_ref(), command).clone();
            let finding = Diagnostic::error("file-unreadable", text).at(at);
            let finding = finding.help("`-Z<size>` alone writes random bytes");
            self.refuse(as_asked(finding, request));
        }
    }

    /// Notes what is done otherwise than by the tool, with the same I/O.
    fn notes(&mut self, command: &Command) {
        let mut note = |text: &str, at: &Span| {
            let note = Diagnostic::note("left-out", text).at(at.clone());
            push_new(&mut self.notes, note);
        };
        if let Some(given) = command.cool_down_s.as_ref().filter(|it| it.value > 0) {
            note(
                "the cool-down, `-C`, is left out: a step ends with its measured time",
                &given.span,
            );
        }
        if let Some(Given { value: CacheMode::Remote, span }) = &command.caching.mode {
            note("`-Sr` bypasses this host's cache; the cache of the server is not changed", span);
        }
        match &command.completion {
            Some(Given { value: Completion::Routines, span }) => {
                note("`-x` is left out: completions are taken by io_uring", span);
            }
            Some(Given { value: Completion::PosixAio, span }) => {
                note("`-xp` is left out: io_uring does what POSIX aio has threads for", span);
            }
            Some(Given { value: Completion::KernelAio, .. }) | None => {}
        }
    }
}

/// Returns a finding that stands in the way of a run as what it is where none is asked for.
fn as_asked(mut finding: Diagnostic, request: &Request<'_>) -> Diagnostic {
    if !request.is_to_run {
        finding.severity = Severity::Warning;
    }
    finding
}

/// Most findings about one target.
const OF_TARGET_MAX: usize = 16;

/// Adds a finding; what holds for several targets of a time span once.
fn push_new(findings: &mut Vec<Diagnostic>, finding: Diagnostic) {
    if !findings.iter().rev().take(OF_TARGET_MAX).any(|it| *it == finding) {
        findings.push(finding);
    }
}

/// An option by one of our names, and where diskspd's is written.
fn option(key: &str, value: &dyn ToString, at: &Span) -> RawOption {
    RawOption::ours(key, Some(value.to_string()), at)
}

/// Returns the place of an option; where it is not written, that of the command line.
fn place<'a, T>(given: Option<&'a Given<T>>, command: &'a Command) -> &'a Span {
    given.map_or(&command.span, |it| &it.span)
}

fn options_of(site: &Site<'_>) -> Vec<RawOption> {
    let command = site.command;
    let mut options = Vec::new();
    engine(command, &mut options);
    places(site, &mut options);
    threads(site, &mut options);
    access(command, &mut options);
    random(command, &mut options);
    pace(site, &mut options);
    time(command, &mut options);
    buffers(command, &mut options);
    options
}

/// How I/O is issued, and what caches do.
fn engine(command: &Command, options: &mut Vec<RawOption>) {
    let caching = &command.caching;
    let kernel_aio = command.completion.as_ref().filter(|it| it.value == Completion::KernelAio);
    if let Some(at) = &caching.is_mapped {
        options.push(option("engine", &"mmap", at));
    } else if let Some(given) = kernel_aio {
        options.push(option("engine", &"libaio", &given.span));
    } else {
        options.push(option("engine", &"io_uring", &command.span));
    }
    let at = place(caching.mode.as_ref(), command);
    if command.is_uncached() {
        options.push(option("direct", &1, at));
    } else {
        // The tool leaves the cache as it is, and says nothing of what it will read.
        options.push(option("invalidate", &0, at));
        let hint = command.hint_is_random.as_ref();
        let advice = match hint.map(|it| it.value) {
            Some(true) => "random",
            Some(false) => "sequential",
            None => "0",
        };
        options.push(option("fadvise", &advice, place(hint, command)));
    }
    if let Some(at) = &caching.write_through {
        // Windows writes data through; on Linux the tool opens with O_SYNC.
        let sync = if command.is_of_linux { "sync" } else { "dsync" };
        options.push(option("sync", &sync, at));
    }
    if let Some(given) = &command.priority {
        let (class, level) = match given.value {
            1 => (3, 0),
            2 => (2, 7),
            _ => return,
        };
        options.push(option("io_priority_class", &class, &given.span));
        options.push(option("io_priority", &level, &given.span));
    }
}

/// Where in which targets.
fn places(site: &Site<'_>, options: &mut Vec<RawOption>) {
    let command = site.command;
    let n_targets = site.targets.len().max(1) as u64;
    for target in site.targets {
        let path = plan::escape_path(&target.path());
        options.push(option("file_names", &path, &target.span));
    }
    if n_targets > 1 {
        let at = place(command.queue_depth_of_all.as_ref(), command);
        options.push(option("file_service", &"random", at));
    }
    if site.start_bytes > 0 {
        let base = place(command.base.as_ref(), command);
        let at = command.thread_stride.as_ref().map_or(base, |it| &it.span);
        options.push(option("offset", &site.start_bytes, at));
    }
    if let Some(end) = command.end_bytes() {
        let size = end.saturating_sub(site.start_bytes).saturating_mul(n_targets);
        let end = place(command.end.as_ref(), command);
        let at = command.file_size.as_ref().map_or(end, |it| &it.span);
        options.push(option("size", &size, at));
    }
    if let Some(given) = command.file_size.as_ref().filter(|_| command.write_pct() == 100) {
        // It is made in full before, as it is for reads.
        options.push(option("overwrite", &1, &given.span));
    }
}

/// How many threads, each with how much in flight, on which processors.
fn threads(site: &Site<'_>, options: &mut Vec<RawOption>) {
    let command = site.command;
    let each = place(command.n_threads_each.as_ref(), command);
    let at = command.n_threads.as_ref().map_or(each, |it| &it.span);
    let depth_at = place(command.queue_depth.as_ref(), command);
    let (n_threads, depth) = (site.n_threads, site.queue_depth);
    if command.is_interlocked() && n_threads > 1 {
        // One walk, which as many workers do as there are threads.
        options.push(option("queue_depth", &depth.saturating_mul(n_threads), depth_at));
        options.push(option("spread_workers", &1, at));
        options.push(option("spread_workers_max", &n_threads, at));
    } else if let Some(parallel) = &command.is_parallel {
        // Each I/O in flight has a walk of its own.
        options.push(option("n_workers", &depth.saturating_mul(n_threads), parallel));
        options.push(option("queue_depth", &1, depth_at));
    } else {
        options.push(option("n_workers", &n_threads, at));
        options.push(option("queue_depth", &depth, depth_at));
    }
    let Some(first) = command.cpus.first() else { return };
    let n_cpus = command.cpus.len() as u64;
    let own = (site.thread_idx..).take(n_threads.min(n_cpus) as usize);
    let own = own.map(|idx| command.cpus[(idx % n_cpus) as usize].value.to_string());
    options.push(option("cpus", &own.collect::<Vec<_>>().join(","), &first.span));
    options.push(option("cpu_policy", &"split", &first.span));
}

/// Reads and writes, in which steps.
fn access(command: &Command, options: &mut Vec<RawOption>) {
    let block = command.block_bytes();
    let write_pct = command.write_pct();
    let at = place(command.write_pct.as_ref(), command);
    let walk = match (write_pct, command.is_random()) {
        (0, false) => "read",
        (100, false) => "write",
        (_, false) => "rw",
        (0, true) => "randread",
        (100, true) => "randwrite",
        (_, true) => "randrw",
    };
    let gap = i128::from(command.step_bytes()) - i128::from(block);
    if command.is_random() || gap == 0 {
        options.push(option("access", &walk, at));
    } else {
        let at = place(command.stride.as_ref(), command);
        options.push(option("access", &format!("{walk}:{gap}"), at));
    }
    options.push(option("block_size_bytes", &block, place(command.block.as_ref(), command)));
    // One place to go on from, for reads and writes.
    options.push(option("one_cursor", &1, at));
    if write_pct > 0 && write_pct < 100 {
        options.push(option("read_pct", &(100 - write_pct), at));
    }
}

/// Where random I/O goes.
fn random(command: &Command, options: &mut Vec<RawOption>) {
    let seed_at = place(command.seed.as_ref(), command);
    match command.seed.as_ref().map_or(Some(0), |it| it.value) {
        Some(seed) => options.push(option("seed", &seed, seed_at)),
        None => options.push(option("seed_repeats", &0, seed_at)),
    }
    if !command.is_random() {
        return;
    }
    let at = place(command.random.as_ref(), command);
    options.push(option("repeats_allowed", &1, at));
    options.push(option("block_align_bytes", &command.step_bytes(), at));
    let pct = command.random_pct();
    if pct < 100 {
        options.push(option("random_pct", &pct, place(command.random_pct.as_ref(), command)));
    }
    if let Some(given) = &command.spread
        && let Some(parts) = parts_of(command, &given.value)
    {
        let word = if given.value.is_absolute { "zoned_abs" } else { "zoned" };
        let parts: Vec<String> =
            parts.iter().map(|(share, part)| format!("{share}/{part}")).collect();
        options.push(option("distribution", &format!("{word}:{}", parts.join(":")), &given.span));
    }
}

/// Returns the parts of the target, which take all I/O; none where that is not known, or where the
/// target ends before they do.
fn parts_of(command: &Command, spread: &Spread) -> Option<Vec<(u64, u64)>> {
    let mut parts = spread.parts.clone();
    let share: u64 = parts.iter().map(|(share, _)| share).sum();
    let of_target: u64 = parts.iter().map(|(_, part)| part).sum();
    let whole = if spread.is_absolute {
        command.end_bytes().map(|end| end.saturating_sub(command.base_bytes()))
    } else {
        Some(100)
    };
    if share < 100 {
        parts.push((100 - share, whole?.checked_sub(of_target)?));
    }
    whole.is_none_or(|whole| of_target <= whole).then_some(parts)
}

/// Rates and pauses.
fn pace(site: &Site<'_>, options: &mut Vec<RawOption>) {
    let command = site.command;
    if let Some(given) = &command.rate {
        let iops = match given.value {
            Rate::Iops(iops) => iops as f64,
            Rate::BytesPerMs(bytes) => bytes as f64 * 1000.0 / command.block_bytes() as f64,
        };
        // Of all threads of the job, which share it equally.
        options.push(option("rate_total_iops", &(iops * site.n_threads as f64), &given.span));
    }
    if let (Some(burst), Some(pause)) = (&command.burst, &command.pause_ms) {
        options.push(option("think_time", &format!("{}ms", pause.value), &pause.span));
        options.push(option("think_every_ios", &burst.value, &burst.span));
        options.push(option("think_count", &"issue", &burst.span));
    }
}

fn time(command: &Command, options: &mut Vec<RawOption>) {
    let duration = place(command.duration_s.as_ref(), command);
    options.push(option("time_based", &1, duration));
    if command.duration_s() > 0 {
        options.push(option("runtime", &format!("{}s", command.duration_s()), duration));
    }
    if command.warm_up_s() > 0 {
        let at = place(command.warm_up_s.as_ref(), command);
        options.push(option("ramp_time", &format!("{}s", command.warm_up_s()), at));
    }
    if let Some(given) = &command.sample_ms {
        options.push(option("iops_sample_ms", &given.value, &given.span));
    }
}

/// What is written, and which memory it is in.
fn buffers(command: &Command, options: &mut Vec<RawOption>) {
    if let Some(at) = &command.has_large_pages {
        options.push(option("memory", &"mmaphuge", at));
    }
    let is_read_alone = command.write_pct() == 0;
    if is_read_alone && command.file_size.is_none() {
        return;
    }
    let given = command.contents.as_ref();
    let at = place(given, command);
    // A file that is made for reads has zeros, or counted bytes.
    let contents = given.map(|it| &it.value);
    match contents.filter(|it| !is_read_alone || matches!(it, Contents::Zeros)) {
        Some(Contents::Zeros) => options.push(option("zero", &1, at)),
        Some(Contents::Random) if !command.is_of_linux => options.push(option("refill", &1, at)),
        // Random, and no two blocks the same.
        Some(Contents::Random | Contents::Source { file: None, .. }) => {}
        // Which file that is depends on what is mapped.
        Some(Contents::Source { bytes, file: Some(_) }) => {
            options.push(option("pattern_source_bytes", bytes, at));
        }
        Some(Contents::Counted) | None => {
            let bytes: String = (0..=u8::MAX).map(|byte| format!("{byte:02x}")).collect();
            options.push(option("pattern", &format!("0x{bytes}"), at));
        }
    }
}
