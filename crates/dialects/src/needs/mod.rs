//! Files of needs as workloads: a step per phase and a job per volume, each at the rate that a
//! design must carry ([`::needs::requirements`]); or, as the section `series`, the samples beside
//! the file, period after period.
//!
//! Jobs are given their meaning by the same code as those of fio. A volume's file lies in the
//! folder of its name ([`::needs::mount`]), which a design has as a mount, and `--remap` turns into
//! another one.
//!
//! Tests: `tests/needs.rs`.

mod job;
mod series;

use plan::job::Source;
use plan::{Diagnostic, Plan};

use ::needs::{Needs, PhaseName, Requirements, requirements};

use crate::sections::{Input, Part, Section};
use crate::{Dialect, Likeness, Loader, LowerOptions, Parsed, ReadPlan, Request, Translation};

/// The section that stands for the samples beside a file of needs.
pub const SERIES: &str = "series";

/// The language of files of needs.
#[derive(Clone, Copy, Debug)]
pub struct NeedsFile;

impl Dialect for NeedsFile {
    fn name(&self) -> &'static str {
        "needs"
    }

    fn about(&self) -> &'static str {
        "Files of needs: what an application asks for"
    }

    fn file(&self) -> &'static str {
        "a file of needs"
    }

    fn signs(&self) -> &'static str {
        "a file of needs begins with `schema = \"plimsoll.needs/1\"`, or has a `[[phase]]`"
    }

    fn comment(&self) -> char {
        '#'
    }

    fn likeness(&self, text: &str) -> Likeness {
        if ::needs::declares(text) { Likeness::Declared } else { Likeness::None }
    }

    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan {
        let mut all = Parsed::default();
        for path in request.files {
            all.append(parse_file(path, &LowerOptions::of(request), loader));
        }
        ReadPlan::of(all)
    }

    fn can_write(&self) -> bool {
        false
    }

    fn write(&self, _plan: &Plan) -> Translation {
        let mut translation = Translation::default();
        translation.lose(
            "a job says what is done, and not what an application needs: `plimsoll capture` writes \
             needs while it runs",
        );
        translation
    }
}

/// Reads a file of needs as a plan; the path `-` is the standard input.
pub fn parse_file(path: &str, wishes: &LowerOptions<'_>, loader: &dyn Loader) -> Parsed {
    Parsed::of_file(path, "needs", loader, |text| parse_text(path, text, wishes, loader))
}

/// Reads needs that are already in memory; `name` stands for their path.
pub fn parse_text(
    name: &str,
    text: &str,
    wishes: &LowerOptions<'_>,
    loader: &dyn Loader,
) -> Parsed {
    let (needs, findings) = ::needs::parse(text);
    let mut input = Input::default();
    input.sources.push(Source { name: name.to_owned(), text: text.to_owned() });
    for finding in findings {
        input.report(finding);
    }
    let Some(needs) = needs else {
        let plan = Plan { sources: input.sources, ..Plan::default() };
        return Parsed { plan, diagnostics: input.diagnostics, refusals: Vec::new() };
    };
    let mut workload = Workload { path: name, input, refusals: Vec::new(), steps: Vec::new() };
    workload.read(&needs, wishes.sections, loader);
    let Workload { mut input, refusals, steps, .. } = workload;
    if steps.is_empty() {
        let plan = Plan { sources: input.sources, ..Plan::default() };
        return Parsed { plan, diagnostics: input.diagnostics, refusals };
    }
    let sections = steps.iter().flat_map(|step| step.sections.iter().cloned()).collect();
    input.parts.push(Part { is_file: true, sections });
    let mut parsed = input.lower(&LowerOptions { sections: &[], ..*wishes }, loader);
    if parsed.plan.steps.len() == steps.len() {
        for (step, of) in parsed.plan.steps.iter_mut().zip(&steps) {
            step.name.clone_from(&of.name);
        }
    }
    parsed.refusals.splice(0..0, refusals);
    parsed
}

/// A step: what all volumes are asked for at one time.
struct StepDraft {
    name: String,
    sections: Vec<Section>,
}

/// Needs on their way to a plan.
struct Workload<'a> {
    path: &'a str,
    input: Input,
    refusals: Vec<Diagnostic>,
    steps: Vec<StepDraft>,
}

impl Workload<'_> {
    fn read(&mut self, needs: &Needs, wanted: &[String], loader: &dyn Loader) {
        let required = requirements(needs);
        let phases = phases(&required);
        let unknown = wanted.iter().find(|name| {
            name.as_str() != SERIES && phases.iter().all(|phase| phase.word() != name.as_str())
        });
        if let Some(unknown) = unknown {
            let known: Vec<&str> = phases.iter().map(|phase| phase.word()).collect();
            let text = format!("there is no phase `{unknown}` in `{}`", self.path);
            let help = format!("there are: {}; and `{SERIES}`", known.join(", "));
            self.refuse(Diagnostic::error("unknown-section", text).help(help));
        }
        let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|it| it == name);
        for phase in phases {
            if is_wanted(phase.word()) {
                self.phase(needs, &required, phase);
            }
        }
        if wanted.iter().any(|name| name == SERIES) {
            self.series(needs, &required, loader);
        } else if needs.series.is_some() {
            let text = "each phase runs at one rate; the samples of the capture are in a file \
                        beside the needs";
            let note = Diagnostic::note("series-beside", text);
            self.input.report(note.help(format!("`--section {SERIES}` replays them")));
        }
        if self.steps.is_empty() && self.refusals.is_empty() {
            let text = format!("`{}` asks for no I/O", self.path);
            let help = "write `[[phase]]` and `[[phase.volume]]` with `iops` and `io_size_kib`";
            self.refuse(Diagnostic::error("no-load", text).help(help));
        }
    }

    fn refuse(&mut self, refusal: Diagnostic) {
        self.refusals.push(refusal);
    }

    fn phase(&mut self, needs: &Needs, required: &Requirements, phase: PhaseName) {
        let mut sections = Vec::new();
        for volume in &required.volumes {
            let Some(load) = volume.loads.iter().find(|load| load.phase == phase) else { continue };
            match job::section(needs, volume, load) {
                Ok(job) => {
                    for note in job.notes {
                        // What holds of a volume holds in each phase.
                        if self.input.diagnostics.iter().all(|it| it.message != note.message) {
                            self.input.report(note);
                        }
                    }
                    sections.push(job.section);
                }
                Err(refusal) => self.refuse(refusal),
            }
        }
        self.push(phase.word(), sections);
    }

    fn series(&mut self, needs: &Needs, required: &Requirements, loader: &dyn Loader) {
        let Some(file) = &needs.series else {
            let text = format!("`{}` names no series of samples", self.path);
            let help = "`plimsoll capture -o` writes one beside the needs";
            self.refuse(Diagnostic::error("no-series", text).help(help));
            return;
        };
        let path = ::needs::series_path(self.path, file);
        let text = loader.read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let sections = match text {
            Ok(text) => series::sections(&text, &path, required),
            Err(error) => {
                let text = format!("cannot read the series `{path}`: {error}");
                Err(Diagnostic::error("file-unreadable", text))
            }
        };
        match sections {
            Ok(sections) => self.push(SERIES, sections),
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// Adds a step; its jobs run beside each other, after those of the step before.
    fn push(&mut self, name: &str, mut sections: Vec<Section>) {
        if sections.is_empty() {
            return;
        }
        let is_first = self.steps.is_empty();
        for (idx, section) in sections.iter_mut().enumerate() {
            let flag = if idx > 0 { "new_group" } else { "barrier" };
            if idx > 0 || !is_first {
                section.options.push(job::option(flag, None));
            }
        }
        self.steps.push(StepDraft { name: name.to_owned(), sections });
    }
}

/// Returns the phases in which anything is asked for, in the order of the first that has them.
fn phases(required: &Requirements) -> Vec<PhaseName> {
    let mut phases = Vec::new();
    for load in required.volumes.iter().flat_map(|volume| &volume.loads) {
        if !phases.contains(&load.phase) {
            phases.push(load.phase);
        }
    }
    phases.sort();
    phases
}
