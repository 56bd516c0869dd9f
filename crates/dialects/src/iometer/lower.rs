//! Runs into the steps of a plan.

use std::collections::HashMap;

use plan::job::{Part, Source};
use plan::{Diagnostic, Severity, Span, Step};

use super::config::{AccessLine, AccessSpec, Config, DataPattern, SECTOR_BYTES, TestType, Worker};
use super::read::{BAD_NAME, read_config};
use super::sequence::{JobOfRun, MeasuredRun, measured};
use crate::drafts::{JobDraft, StepDraft, fold};
use crate::sections::{self, Input, RawOption, Section};
use crate::windows::{self, NamedTarget};
use crate::{Loader, LowerOptions, Parsed, Request};

/// Most jobs of a plan, over all runs.
const JOBS_MAX: usize = 65_536;

/// Parses a configuration that is already in memory; `name` stands for its path.
pub(super) fn parse_text(
    name: &str,
    text: &str,
    request: &Request<'_>,
    loader: &dyn Loader,
) -> Parsed {
    let (config, findings) = read_config(text);
    let mut input = Input::default();
    input.sources.push(Source { name: name.to_owned(), text: text.to_owned() });
    let mut lowering = Lowering {
        config: &config,
        findings,
        refusals: Vec::new(),
        sections: Vec::new(),
        steps: Vec::new(),
        wanted: request.sections,
    };
    lowering.specs();
    lowering.hosts(request);
    lowering.time(request);
    lowering.runs();
    let Lowering { findings, mut refusals, sections, steps, .. } = lowering;
    for finding in findings {
        input.report(finding);
    }
    if sections.is_empty() && refusals.is_empty() {
        let text = "nothing runs: no worker has a target and an access specification with I/O";
        refusals.push(Diagnostic::error("no-jobs", text));
    }
    if input.has_errors() || sections.is_empty() {
        let plan = plan::Plan { sources: input.sources, ..plan::Plan::default() };
        return Parsed { plan, diagnostics: input.diagnostics, refusals };
    }
    input.parts.push(sections::Part { is_file: true, sections });
    // Sections of the text are its access specifications, of which the runs are chosen already.
    let mut parsed =
        input.lower(&LowerOptions { sections: &[], ..LowerOptions::of(request) }, loader);
    parsed.refusals.extend(refusals);
    if parsed.has_errors() {
        return parsed;
    }
    fold(&mut parsed, steps);
    let unmapped = windows::unmapped(targets_of_windows(&config), &parsed, request.is_to_run);
    parsed.refusals.extend(unmapped);
    parsed
}

/// Lists the targets that mean nothing on this host until they are mapped.
fn targets_of_windows(config: &Config) -> impl Iterator<Item = NamedTarget<'_>> {
    let workers = config.managers.iter().flat_map(|manager| &manager.workers);
    let targets = workers.flat_map(|worker| &worker.targets).filter(|it| it.is_of_windows());
    targets.map(|it| NamedTarget { name: &it.name, path: it.path(), span: &it.span })
}

struct Lowering<'a> {
    config: &'a Config,
    findings: Vec<Diagnostic>,
    refusals: Vec<Diagnostic>,
    /// One for each job, followed by one for each of its parts.
    sections: Vec<Section>,
    steps: Vec<StepDraft>,
    /// Access specifications that are run; empty is all.
    wanted: &'a [String],
}

impl<'a> Lowering<'a> {
    fn error(&mut self, code: &'static str, at: &Span, text: impl Into<String>) {
        self.findings.push(Diagnostic::error(code, text).at(at.clone()));
    }

    fn workers(&self) -> impl Iterator<Item = &'a Worker> + use<'a> {
        self.config.managers.iter().flat_map(|manager| &manager.workers)
    }

    /// Reports specifications that workers, or a user, want and that are not there, and workers
    /// without any.
    fn specs(&mut self) {
        let known: Vec<&str> = self.config.specs.iter().map(|spec| &*spec.name).collect();
        let missing = |name: &str, at: Option<&Span>| {
            let text = format!("there is no access specification `{name}`");
            let finding = Diagnostic::error("unknown-specification", text);
            let near = units::nearest(name, known.iter().copied());
            let finding = match near.first() {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding,
            };
            match at {
                Some(at) => finding.at(at.clone()),
                None => finding,
            }
        };
        let of_workers = self.workers().flat_map(|worker| &worker.specs);
        let wanted = of_workers.map(|(name, at)| (name, Some(at)));
        let wanted = wanted.chain(self.wanted.iter().map(|name| (name, None)));
        let lacking = wanted.filter(|(name, _)| self.config.spec(name).is_none());
        let findings: Vec<Diagnostic> = lacking.map(|(name, at)| missing(name, at)).collect();
        // One that has a mistake in its name may be meant.
        if self.findings.iter().all(|it| it.code != BAD_NAME) {
            self.findings.extend(findings);
        }
        for worker in self.workers().filter(|worker| !worker.is_of_network) {
            if worker.specs.is_empty() {
                let text = format!("worker `{}` has no access specification", worker.name);
                let finding = Diagnostic::error("no-specification", text).at(worker.span.clone());
                self.refusals.push(finding.help("name one below `'Assigned access specs`"));
            }
            if worker.ios_per_open > 0 {
                let text = format!(
                    "worker `{}` opens its targets anew after {} I/Os, which is left out: they \
                     stay open",
                    worker.name, worker.ios_per_open
                );
                let finding = Diagnostic::warning("connection-rate", text);
                self.findings.push(finding.at(worker.span.clone()));
            }
            if worker.targets.is_empty() {
                let text = format!("worker `{}` has no target", worker.name);
                let finding = Diagnostic::warning("no-target", text).at(worker.span.clone());
                self.findings.push(finding.help("name one below `'Target`"));
            }
        }
        if self.workers().next().is_none() {
            let text = "no worker is written, so nothing runs";
            let help = "save the configuration with its manager list";
            self.refusals.push(Diagnostic::error("no-worker", text).help(help));
        }
        for worker in self.workers().filter(|worker| worker.is_of_network) {
            let text = format!("worker `{}` is one of the network, which is not run", worker.name);
            let finding = Diagnostic::error("network-worker", text).at(worker.span.clone());
            self.refusals.push(finding.help("leave it out: only workers of type DISK are run"));
        }
    }

    /// Reports managers on other hosts.
    fn hosts(&mut self, request: &Request<'_>) {
        let others = self.config.managers.iter().filter(|manager| !manager.is_local());
        for manager in others.filter(|_| !request.all_hosts_local) {
            let text = format!("manager `{}` is on `{}`", manager.name, manager.address);
            let mut finding = Diagnostic::error("remote-hosts", text).at(manager.span.clone());
            if !request.is_to_run {
                finding.severity = Severity::Warning;
            }
            let finding = finding.help("`--all-hosts-local` runs everything on this host");
            self.refusals.push(finding.help("`--hosts` runs a configuration on other hosts"));
        }
    }

    /// Reports a test without an end.
    fn time(&mut self, request: &Request<'_>) {
        let is_set = request.overrides.set.iter().any(|(key, _)| key == "runtime");
        if self.config.test.run_time_s == 0 && !is_set {
            let text = "the run time is 0: it would run until it is stopped";
            let finding = Diagnostic::error("no-run-time", text);
            self.refusals.push(finding.help("say how long: `--set runtime=60s`"));
        }
    }

    fn runs(&mut self) {
        let mut n_jobs = 0;
        for run in measured(self.config, self.wanted) {
            n_jobs += run.jobs.len();
            if n_jobs > JOBS_MAX {
                let text = format!("the runs have more than {JOBS_MAX} jobs");
                let finding = Diagnostic::error("too-many-jobs", text);
                self.findings.push(finding.help("let the cycling have larger steps"));
                return;
            }
            let step = self.run(&run);
            self.steps.push(step);
        }
    }

    fn run(&mut self, run: &MeasuredRun) -> StepDraft {
        let config = self.config;
        let mut jobs = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        for JobOfRun { manager_idx, worker_idx, target_idx, spec: name } in &run.jobs {
            let worker = &config.managers[*manager_idx].workers[*worker_idx];
            let Some(spec) = config.spec(name) else { continue };
            if !names.contains(&&**name) {
                names.push(name);
            }
            let target = &worker.targets[*target_idx];
            let depth = run.queue_depth.unwrap_or(worker.queue_depth);
            let begins_step = jobs.is_empty() && !self.steps.is_empty();
            let at = &worker.span;
            let shared = self.shared(worker, &target.path(), (depth, begins_step), at);
            let name = if worker.targets.len() > 1 {
                format!("{}: {}", worker.name, target.name)
            } else {
                worker.name.clone()
            };
            jobs.push(self.job(name, worker, &spec, shared));
        }
        let mut name = names.join(" + ");
        if let Some(depth) = run.queue_depth {
            name.push_str(&format!(", {depth} outstanding"));
        }
        if turns_up_targets(config) {
            name.push_str(&format!(", {} targets", run.jobs.len()));
        }
        StepDraft { step: Step { name, ..Step::default() }, jobs }
    }

    /// Returns what a job has whatever its lines.
    fn shared(
        &self,
        worker: &Worker,
        path: &str,
        (depth, begins_step): (u32, bool),
        at: &Span,
    ) -> Vec<RawOption> {
        let test = &self.config.test;
        let option = |key: &str, value: String| RawOption::ours(key, Some(value), at);
        let mut options = vec![
            option("engine", "io_uring".to_owned()),
            option("file_names", plan::escape_path(path)),
            option("direct", "1".to_owned()),
            option("queue_depth", depth.to_string()),
            option("time_based", "1".to_owned()),
        ];
        if begins_step {
            options.push(RawOption::ours("barrier", None, at));
        }
        if test.run_time_s > 0 {
            options.push(option("runtime", format!("{}s", test.run_time_s)));
        }
        if test.ramp_up_s > 0 {
            options.push(option("ramp_time", format!("{}s", test.ramp_up_s)));
        }
        if worker.size_sectors > 0 {
            options.push(option("size", (worker.size_sectors * SECTOR_BYTES).to_string()));
        }
        if worker.start_sector > 0 {
            options.push(option("offset", (worker.start_sector * SECTOR_BYTES).to_string()));
        }
        options.push(match worker.seed {
            Some(seed) => option("seed", seed.to_string()),
            None => option("seed_repeats", "0".to_owned()),
        });
        match worker.data {
            DataPattern::Repeating => {
                options.push(option("pattern", format!("{REPEATED_BYTE:#x}")));
            }
            DataPattern::PseudoRandom => {}
            DataPattern::FullRandom => options.push(option("refill", "1".to_owned())),
        }
        options
    }

    fn job(
        &mut self,
        name: String,
        worker: &Worker,
        spec: &AccessSpec,
        mut shared: Vec<RawOption>,
    ) -> JobDraft {
        let span = worker.span.clone();
        let make = |name: String, options: Vec<RawOption>| Section {
            name,
            span: span.clone(),
            is_global: false,
            options,
        };
        shared.extend(self.pauses(spec));
        if let [line] = &spec.lines[..] {
            let options = shared.into_iter().chain(workload(line));
            self.sections.push(make(name, options.collect()));
            return JobDraft::default();
        }
        self.sections.push(make(name, shared.clone()));
        shared.retain(|option| option.key != "barrier");
        let mut draft = JobDraft::default();
        let mut known: HashMap<String, u32> = HashMap::new();
        for line in spec.lines.iter().filter(|line| line.share_pct > 0) {
            let AccessLine { size_bytes, read_pct, random_pct, share_pct, .. } = line;
            let mut name = format!("{size_bytes} B, {read_pct} % reads, {random_pct} % random");
            let n_before = known.entry(name.clone()).or_default();
            *n_before += 1;
            if *n_before > 1 {
                name.push_str(&format!(" ({n_before})"));
            }
            let options = shared.iter().cloned().chain(workload(line));
            self.sections.push(make(name.clone(), options.collect()));
            draft.parts.push(Part { name, weight: f64::from(*share_pct), ..Part::default() });
        }
        draft
    }

    /// Returns the pauses between bursts, which all lines of a specification must share.
    fn pauses(&mut self, spec: &AccessSpec) -> Vec<RawOption> {
        let mut pauses = spec.lines.iter().map(|line| {
            (line.delay_ms, if line.delay_ms > 0 { line.burst } else { 1 }, &line.span)
        });
        let Some((delay_ms, burst, at)) = pauses.next() else { return Vec::new() };
        if let Some((_, _, at)) = pauses.find(|it| (it.0, it.1) != (delay_ms, burst)) {
            let text = format!(
                "the lines of access specification `{}` have different delays or bursts, which is \
                 not supported",
                spec.name
            );
            let is_said = |it: &Diagnostic| it.message == text;
            if !self.findings.iter().any(is_said) {
                self.error("unsupported-delays", at, text);
            }
        }
        if delay_ms == 0 {
            return Vec::new();
        }
        vec![
            RawOption::ours("think_time", Some(format!("{delay_ms}ms")), at),
            RawOption::ours("think_every_ios", Some(burst.to_string()), at),
        ]
    }
}

/// What repeating bytes are.
pub(super) const REPEATED_BYTE: u8 = 0x55;

fn turns_up_targets(config: &Config) -> bool {
    match config.test.test_type {
        TestType::Normal | TestType::CycleQueueDepths => false,
        TestType::CycleTargets
        | TestType::CycleWorkers
        | TestType::IncrementTargetsParallel
        | TestType::IncrementTargetsSerial
        | TestType::CycleWorkersAndTargets
        | TestType::CycleQueueDepthsAndTargets => true,
    }
}

/// Returns the I/O of a line.
fn workload(line: &AccessLine) -> Vec<RawOption> {
    let at = &line.span;
    let option = |key: &str, value: String| RawOption::ours(key, Some(value), at);
    let walk = match (line.read_pct, line.random_pct) {
        (100, 0) => "read",
        (0, 0) => "write",
        (_, 0) => "rw",
        (100, _) => "randread",
        (0, _) => "randwrite",
        (_, _) => "randrw",
    };
    let mut options = vec![
        option("access", walk.to_owned()),
        option("block_size_bytes", line.size_bytes.to_string()),
        // One place to go on from, for reads and writes.
        option("one_cursor", "1".to_owned()),
    ];
    if line.read_pct > 0 && line.read_pct < 100 {
        options.push(option("read_pct", line.read_pct.to_string()));
    }
    if line.random_pct > 0 {
        let align_bytes = match line.align_bytes {
            0 => SECTOR_BYTES as u32,
            align_bytes => align_bytes,
        };
        options.push(option("repeats_allowed", "1".to_owned()));
        options.push(option("block_align_bytes", align_bytes.to_string()));
        if line.random_pct < 100 {
            options.push(option("random_pct", line.random_pct.to_string()));
        }
    }
    options
}
