//! Sections into jobs: defaults, precedence, groups and steps.

use plan::files::Size;
use plan::param::{self, Names, Param, Support, Value, apply_rank, find_fio};
use plan::{Diagnostic, EngineKind, Job, Plan, Severity, Span, Step};

use super::cross::{self, OptionSites};
use super::engines::{Engine, engine};
use super::switches::find_switch;
use super::value::Reading;
use crate::sections::{DIAGNOSTICS_MAX, Input, RawOption, Section};
use crate::{Loader, LowerOptions, Overrides, Parsed};

/// Most jobs of a plan, clones not counted: each takes some KiB, and a file of brackets must not
/// fill the memory. fio itself stops at 4096.
const JOBS_MAX: usize = 65_536;

/// Options of fio's built-in profiles, which fio takes in any job.
const PROFILE_OPTIONS: &[&str] = &[
    "block",
    "device-names",
    "dir",
    "large-block-op-kbytes",
    "load",
    "numruns",
    "prep",
    "read-req-num-512-blocks",
    "test-duration",
    "threads",
    "threads-per-queue",
];

impl Input {
    /// Gives the sections their meaning.
    pub fn lower(mut self, wishes: &LowerOptions<'_>, loader: &dyn Loader) -> Parsed {
        let parts = std::mem::take(&mut self.parts);
        let plan = Plan { sources: std::mem::take(&mut self.sources), ..Plan::default() };
        let mut lowering = Lowering {
            wishes,
            loader,
            input: self,
            plan,
            refusals: Vec::new(),
            is_command_line: false,
            group_id: 0,
            n_jobs: 0,
            names: Vec::new(),
            n_remapped: vec![0; wishes.overrides.map_or(0, |overrides| overrides.remap.len())],
        };
        let mut defaults = Draft::default();
        let mut n_files = 0;
        for part in &parts {
            if part.is_file {
                n_files += 1;
            }
            // The first job file has the command line's defaults, each further one fio's own.
            let is_further = n_files > 1;
            if is_further {
                defaults = Draft::default();
            }
            lowering.sections(&part.sections, &mut defaults, part.is_file, is_further);
        }
        lowering.finish()
    }
}

/// A job on its way, with what shapes the plan around it.
#[derive(Clone, Default)]
struct Draft {
    job: Job,
    stonewall: bool,
    new_group: bool,
    site: OptionSites,
}

struct Lowering<'a> {
    wishes: &'a LowerOptions<'a>,
    loader: &'a dyn Loader,
    input: Input,
    plan: Plan,
    refusals: Vec<Diagnostic>,
    /// The sections at hand stand on the command line, not in a file.
    is_command_line: bool,
    group_id: u32,
    n_jobs: usize,
    /// Names of the jobs so far, for `wait_for`.
    names: Vec<String>,
    /// How many paths each remap changed.
    n_remapped: Vec<usize>,
}

impl Lowering<'_> {
    fn sections(
        &mut self,
        sections: &[Section],
        defaults: &mut Draft,
        is_file: bool,
        is_further: bool,
    ) {
        let mut is_first = true;
        self.is_command_line = !is_file;
        for section in sections {
            if self.input.is_hopeless() {
                return;
            }
            if section.is_global {
                let written = self.options(section, defaults);
                self.plan.global_options.extend(written);
                continue;
            }
            let wanted = self.wishes.sections;
            if is_file && !wanted.is_empty() && !wanted.contains(&section.name) {
                continue;
            }
            if self.n_jobs == JOBS_MAX {
                let text =
                    format!("more than {JOBS_MAX} jobs; one job with numjobs may stand for many");
                self.input
                    .report(Diagnostic::error("too-many-jobs", text).at(section.span.clone()));
                return;
            }
            let mut draft = defaults.clone();
            draft.job.name.clone_from(&section.name);
            draft.job.options = self.options(section, &mut draft);
            draft.stonewall |= is_further && is_first;
            is_first = false;
            self.override_options(&mut draft);
            name_files_after(&section.name, &mut draft.job);
            self.push(draft, section);
        }
    }

    /// Applies a section's options and returns them as written, by fio's first name for each.
    fn options(&mut self, section: &Section, draft: &mut Draft) -> Vec<(String, String)> {
        let named = section.options.iter().rev().find(|option| names_engine(&option.key));
        let engine_name = named.and_then(|option| option.value.as_deref());
        let engine_name = engine_name.unwrap_or(&draft.job.engine.name).to_owned();
        let mut known = Vec::with_capacity(section.options.len());
        for option in &section.options {
            if self.input.is_hopeless() {
                break;
            }
            if let Some(param) = self.resolve(option, &engine_name) {
                known.push((param, option));
            }
        }
        let mut written = Vec::with_capacity(known.len());
        for (param, option) in &known {
            let name = param.fio_name();
            written.push((name.to_owned(), option.value.clone().unwrap_or_default()));
        }
        known.sort_by_key(|(param, _)| apply_rank(param));
        for (param, option) in known {
            if self.input.is_hopeless() {
                break;
            }
            self.apply(param, option, draft);
        }
        written
    }

    /// Finds the parameter of an option, if it may stand with this engine.
    fn resolve(&mut self, option: &RawOption, engine_name: &str) -> Option<&'static Param> {
        let written = option.key.as_str();
        let found = if option.is_ours { param::find(written) } else { find_fio(written) };
        let found = found.filter(|param| param.name != "include");
        let key = found.and_then(|param| param.fio.first().copied()).unwrap_or(written);
        let engines = found.map_or(&[][..], |param| param.engines);
        let is_of_engine = !engines.is_empty();
        let belongs = !is_of_engine || engines.contains(&engine_name);
        let (code, text) = match (found, engine(engine_name)) {
            (found, Engine::Unknown(_)) if is_of_engine || found.is_none() => {
                let text = format!(
                    "option `{key}` may belong to engine `{engine_name}`, which is not built in"
                );
                ("engine-not-available", text)
            }
            (Some(param), _) if belongs => return Some(param),
            (None, _) if PROFILE_OPTIONS.contains(&key) => {
                self.input.report(profile_option(key).at(option.key_span.clone()));
                return None;
            }
            (None, _) if !is_of_engine => {
                let finding = unknown_option(key, accepted(option));
                self.input.report(finding.at(option.key_span.clone()));
                return None;
            }
            _ => {
                let engines = join_or(engines);
                let text = format!(
                    "option `{key}` belongs to engine {engines}; this section's engine is \
                     `{engine_name}`"
                );
                ("option-of-other-engine", text)
            }
        };
        let finding = Diagnostic::error(code, text).at(option.key_span.clone());
        self.input.report(if code == "option-of-other-engine" {
            finding.help("an engine and its options stand together, in `[global]` too")
        } else if found.is_none() && !is_of_engine {
            with_near_names(finding, key, accepted(option))
        } else {
            finding
        });
        None
    }

    fn apply(&mut self, param: &'static Param, option: &RawOption, draft: &mut Draft) {
        let key = option.key.as_str();
        let text = option.value.as_deref();
        let span = &option.value_span;
        if let Support::Removed(instead) = param.support {
            let finding =
                Diagnostic::error("removed-option", format!("option `{key}` was removed from fio"));
            self.input.report(finding.at(option.key_span.clone()).help(instead));
            return;
        }
        let mut reading = Reading::new(draft.job.reporting.kb_base, self.loader);
        let value = reading.value(param.kind, text);
        for warning in &reading.warnings {
            let shown = text.unwrap_or_default();
            let text = format!("value `{shown}` of `{key}`: {warning}");
            self.input.report(Diagnostic::warning("odd-value", text).at(span.clone()));
        }
        let lowered = match value {
            Ok(value) => self.lower(param, option, &value, draft),
            Err(problem) => Err(problem),
        };
        if let Err(problem) = lowered {
            self.bad_value(option, &problem, param);
        } else {
            draft.site.note(param.name, span);
        }
    }

    fn lower(
        &mut self,
        param: &'static Param,
        option: &RawOption,
        value: &Value,
        draft: &mut Draft,
    ) -> Result<(), String> {
        match (param.name, value) {
            ("barrier", Value::Bool(on)) => draft.stonewall = *on,
            ("new_group", Value::Bool(on)) => draft.new_group = *on,
            // As written: quotes are part of a text that names nothing on the host, as in fio.
            ("name", Value::Str(name)) => {
                option.value.as_ref().unwrap_or(name).clone_into(&mut draft.job.name);
            }
            ("description", Value::Str(_)) => draft.job.description.clone_from(&option.value),
            // Each adds to those before, also to those of `[global]`.
            ("file_names", Value::Paths(paths)) => draft.job.files.names.extend_from_slice(paths),
            ("zone_mode", Value::Choice("zbd")) => {
                draft.site.zone_mode = None;
                let finding =
                    Diagnostic::error("not-supported-yet", "zoned devices are not supported yet");
                let finding =
                    finding.help("`zonemode=strided` works zone by zone on other devices");
                self.refuse(finding.at(option.value_span.clone()));
            }
            ("zone_skip_bytes", Value::Size(Size::Zones(_))) => {
                let finding = cross::zones_not_supported(&option.key);
                self.refuse(finding.at(option.value_span.clone()));
            }
            ("engine", Value::Str(name)) => self.engine(name, option, draft)?,
            _ => {
                if let ("zone_mode", Value::Choice(mode)) = (param.name, value) {
                    draft.site.zone_mode = Some(mode);
                }
                self.support(param, option);
                return (param.lower)(&mut draft.job, value).map_err(|error| error.to_string());
            }
        }
        Ok(())
    }

    /// Reports what does not work, or not yet.
    fn support(&mut self, param: &'static Param, option: &RawOption) {
        let key = option.key.as_str();
        let is_default = option.value.as_deref() == Some(param.default);
        match param.support {
            Support::NoEffect(why) => {
                let finding =
                    Diagnostic::note("no-effect", format!("option `{key}` has no effect: {why}"));
                self.input.report(finding.at(option.key_span.clone()));
            }
            Support::Hint(why) if !is_default => {
                let text = format!("option `{key}` is not supported yet, and left out");
                let finding = Diagnostic::warning("not-supported-yet", text).help(why);
                self.input.report(finding.at(option.key_span.clone()));
            }
            Support::Later(why) if !is_default => {
                let text = format!("option `{key}` is not supported yet");
                let finding = Diagnostic::error("not-supported-yet", text).help(why);
                self.refuse(finding.at(option.key_span.clone()));
            }
            // What was removed, or belongs to another engine, was reported before.
            Support::Full
            | Support::Later(_)
            | Support::Hint(_)
            | Support::NeedsEngine
            | Support::Removed(_) => {}
        }
    }

    fn engine(&mut self, name: &str, option: &RawOption, draft: &mut Draft) -> Result<(), String> {
        // Alone of all engines, fio looks for the file of this one while it parses.
        if let Some(path) = name.strip_prefix("external:")
            && !self.loader.is_file(path.trim_start())
        {
            return Err("names no file with an engine".to_owned());
        }
        let engine = engine(name);
        let finding = match engine {
            Engine::Ours => {
                set_engine(&mut draft.job, name);
                if let Some(note) = param::engine_note(name) {
                    let finding = Diagnostic::note("engine-alias", note);
                    self.input.report(finding.at(option.value_span.clone()));
                }
                return Ok(());
            }
            Engine::Missing(found) | Engine::Unknown(Some(found)) => {
                found.name.clone_into(&mut draft.job.engine.name);
                let text = format!("engine `{name}` ({}) is not built in", found.doc);
                Diagnostic::error("engine-not-available", text).help(found.note)
            }
            Engine::Unknown(None) => {
                name.clone_into(&mut draft.job.engine.name);
                let finding =
                    Diagnostic::error("unknown-engine", format!("unknown engine `{name}`"));
                let near = param::find("engine").map(|param| param::suggest_value(param, name));
                let finding = did_you_mean(finding, &near.unwrap_or_default());
                finding.help(format!("built in are {}", built_in()))
            }
        };
        draft.job.engine.kind = EngineKind::Null;
        let finding = finding.at(option.value_span.clone());
        // In a job file fio does not even look for an engine without options of its own while it
        // parses; on its command line it does, because the options that follow may be that
        // engine's.
        if self.is_command_line && matches!(engine, Engine::Unknown(_)) {
            self.input.report(finding);
        } else {
            self.refuse(finding);
        }
        Ok(())
    }

    fn bad_value(&mut self, option: &RawOption, problem: &str, param: &'static Param) {
        let key = &option.key;
        let text = match option.value.as_deref() {
            None | Some("") => format!("value of `{key}` {problem}"),
            Some(value) => format!("value `{value}` of `{key}` {problem}"),
        };
        let mut finding = Diagnostic::error("bad-value", text).at(option.value_span.clone());
        for name in &option.undefined {
            finding = finding.help(format!("environment variable `{name}` is not set"));
        }
        let word =
            option.value.as_deref().map_or("", |value| value.split(':').next().unwrap_or(""));
        finding = did_you_mean(finding, &param::suggest_value(param, word));
        if !param.default.is_empty() {
            finding = finding.help(format!("the default is `{key}={}`", param.default));
        }
        self.input.report(finding);
    }

    /// Keeps a reason against running, up to the same limit as mistakes.
    fn refuse(&mut self, finding: Diagnostic) {
        if self.refusals.len() < DIAGNOSTICS_MAX && !self.refusals.contains(&finding) {
            self.refusals.push(finding);
        }
    }

    /// Applies overrides as if they were written last in the section.
    fn override_options(&mut self, draft: &mut Draft) {
        let Some(overrides) = self.wishes.overrides else { return };
        let is_first = self.n_jobs == 0;
        for (key, value) in &overrides.set {
            let (n_before, found_before) = (self.input.diagnostics.len(), self.input.found);
            let option = Overrides::option(key, value);
            let engine_name =
                if names_engine(key) { value } else { &draft.job.engine.name }.clone();
            let found = param::find(key).filter(|_| find_fio(key).is_none());
            let param = found.or_else(|| self.resolve(&option, &engine_name));
            if let Some(param) = param {
                if param.name == "file_names" {
                    // What is asked for here is meant instead of what is written.
                    draft.job.files.names.clear();
                }
                self.apply(param, &option, draft);
                let name = param.fio_name();
                draft.job.options.retain(|(written, _)| written != name);
                draft.job.options.push((name.to_owned(), value.clone()));
            }
            if !is_first {
                // What is wrong with an override was said at the first job.
                self.input.diagnostics.truncate(n_before);
                self.input.found = found_before;
            }
            for finding in &mut self.input.diagnostics[n_before..] {
                finding.span = None;
                finding.message = format!("`--set {key}={value}`: {}", finding.message);
            }
        }
        overrides.remap(&mut draft.job.files, &mut self.n_remapped);
    }

    fn push(&mut self, mut draft: Draft, section: &Section) {
        draft.site.section = section.span.clone();
        param::finish(&mut draft.job);
        let job = &mut draft.job;
        if let Some(min) = job.load.complete_min.filter(|min| *min > 0) {
            // fio takes no more than it waits for, unless another number is asked for.
            job.load.complete_max = Some(job.load.complete_max.unwrap_or(min).max(min));
        }
        if self.wishes.readonly && job.modifies() {
            let text = format!("job `{}` writes or trims, but `--readonly` is given", job.name);
            let finding = Diagnostic::error("readonly", text).at(draft.site.place("access"));
            self.input.report(finding.help("leave `--readonly` out, or make the job read"));
        }
        if let Some(earlier) = &job.wait_for
            && let Some(finding) = cross::wait_for(job, earlier, &self.names, &draft.site)
        {
            self.refuse(finding);
        }
        let mut findings = Vec::new();
        cross::check(job, &draft.site, &mut findings);
        for finding in findings {
            match finding.severity {
                Severity::Error => self.refuse(finding),
                Severity::Note | Severity::Warning => self.input.report(finding),
            }
        }
        // A job without an end would never stop; fio drops the switch and says so.
        job.limits.time_based &= job.limits.runtime_ns.is_some();
        if self.n_jobs > 0 && (draft.stonewall || draft.new_group) {
            self.group_id += 1;
        }
        job.group_id = self.group_id;
        self.names.push(job.name.clone());
        if draft.stonewall || self.plan.steps.is_empty() {
            self.plan.steps.push(Step::default());
        }
        if let Some(step) = self.plan.steps.last_mut() {
            step.jobs.push(draft.job);
        }
        self.n_jobs += 1;
    }

    /// Reports which remaps found nothing to change: a mistyped one would leave the real target in.
    fn unused_remaps(&mut self) {
        let pairs = self.wishes.overrides.map_or(&[][..], |overrides| &overrides.remap);
        for ((from, to), _) in pairs.iter().zip(&self.n_remapped).filter(|(_, count)| **count == 0)
        {
            let text = format!("`--remap {from}={to}` matches no filename, directory or opendir");
            self.input.report(Diagnostic::error("unused-remap", text));
        }
    }

    fn finish(mut self) -> Parsed {
        self.unused_remaps();
        if self.n_jobs == 0 && !self.input.has_errors() {
            let mut finding = Diagnostic::error("no-jobs", "no job is defined");
            finding = if self.wishes.sections.is_empty() {
                finding.help("a job file defines one by `[name]`, a command line by `--name=NAME`")
            } else {
                finding.help(format!("no section is named {}", self.wishes.sections.join(" or ")))
            };
            self.refuse(finding);
        }
        let mut diagnostics = std::mem::take(&mut self.input.diagnostics);
        diagnostics.sort_by_key(place_of);
        if self.input.is_hopeless() {
            let text = "too many mistakes; the rest of the text was not looked at";
            diagnostics.push(Diagnostic::error("too-many-mistakes", text));
        }
        let n_more = self.input.found.n_others.saturating_sub(DIAGNOSTICS_MAX);
        if n_more > 0 {
            let text = format!("{n_more} more warnings are not shown");
            diagnostics.push(Diagnostic::warning("more-warnings", text));
        }
        self.refusals.sort_by_key(place_of);
        for finding in &mut self.refusals {
            finding.span = finding.span.take().filter(|span| span.line > 0);
        }
        Parsed { plan: self.plan, diagnostics, refusals: self.refusals }
    }
}

/// Orders findings as a reader meets them: the command line, the texts, then what has no place.
fn place_of(finding: &Diagnostic) -> (bool, Option<u32>, usize) {
    let span: Option<&Span> = finding.span.as_ref();
    (span.is_none(), span.and_then(|span| span.source_idx), span.map_or(0, |span| span.bytes.start))
}

fn set_engine(job: &mut Job, name: &str) {
    if let Some(found) = param::find_engine(name)
        && let Some(kind) = found.kind
    {
        job.engine.kind = kind;
        found.name.clone_into(&mut job.engine.name);
    }
}

fn built_in() -> String {
    let names = param::ENGINES.iter().filter(|engine| engine.kind.is_some());
    names.map(|engine| engine.name).collect::<Vec<_>>().join(", ")
}

fn profile_option(key: &str) -> Diagnostic {
    let text = format!("option `{key}` belongs to fio's profiles and has no effect in a job");
    let finding = Diagnostic::warning("no-effect", text);
    if key == "threads" { finding.help("did you mean `thread`?") } else { finding }
}

/// Returns whose names may stand where an option does.
fn accepted(option: &RawOption) -> Names {
    if option.is_ours { Names::Ours } else { Names::Fio }
}

fn unknown_option(key: &str, accepted: Names) -> Diagnostic {
    let finding = Diagnostic::error("unknown-option", format!("unknown option `{key}`"));
    // The same thing by the name that another reader takes.
    let known = if accepted == Names::Ours { find_fio(key) } else { param::find(key) };
    if let Some(known) = known {
        return finding.help(match (accepted, known.fio.first()) {
            (Names::Ours, _) => format!("fio's `{key}` is `{}` here", known.name),
            (_, Some(name)) => format!("it is `{name}` in fio's language"),
            (_, None) => "fio has no option for it; plans in TOML do".to_owned(),
        });
    }
    if let Some(switch) = find_switch(key) {
        let text =
            format!("`--{}` is a switch of the command line, not a job's option", switch.name);
        return finding.help(text);
    }
    if key.contains(char::is_whitespace) {
        return finding.help("write `option=value`, one per line");
    }
    with_near_names(finding, key, accepted)
}

/// Adds the options with a name much like `key`, if there are any.
fn with_near_names(finding: Diagnostic, key: &str, accepted: Names) -> Diagnostic {
    let mut near = param::suggest(key, accepted);
    if near.first().is_some_and(|first| first.eq_ignore_ascii_case(key)) {
        near.truncate(1);
    }
    did_you_mean(finding, &near)
}

fn did_you_mean(finding: Diagnostic, near: &[&str]) -> Diagnostic {
    if near.is_empty() { finding } else { finding.help(format!("did you mean {}?", join_or(near))) }
}

fn join_or(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}

/// Returns whether an option says which engine: fio's name for it, or ours.
fn names_engine(key: &str) -> bool {
    find_fio(key).or_else(|| param::find(key)).is_some_and(|param| param.name == "engine")
}

/// Has generated names begin with the section's name, as fio does, where `name=` says another one.
fn name_files_after(section: &str, job: &mut Job) {
    const WORD: &str = "$jobname";
    if job.name == section || !job.files.names.is_empty() {
        return;
    }
    let format = job.files.name_format.as_deref().unwrap_or("$jobname.$jobnum.$filenum");
    let section = section.replace('/', "_");
    // The word counts whatever its case; lower case of ASCII keeps the places.
    let lower = format.to_ascii_lowercase();
    let (mut named, mut done) = (String::new(), 0);
    for (at, _) in lower.match_indices(WORD) {
        named.push_str(&format[done..at]);
        named.push_str(&section);
        done = at + WORD.len();
    }
    named.push_str(&format[done..]);
    job.files.name_format = Some(named);
}
