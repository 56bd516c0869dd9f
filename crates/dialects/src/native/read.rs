//! TOML into the sections that fio's lowering knows, and then what only our plans have.

use std::ops::Range;

use plan::Step;
use plan::job::{Part, PartRegion, Source};
use plan::keys::{Findings, Keys, read_toml};
use plan::param::{self, Category};
use toml::de::DeValue;

use super::unit::{self, Component, LAYOUT_BYTES, Unit};
use super::{SCHEMA, steps, tree_read};
use crate::drafts::{JobDraft, StepDraft, fold};
use crate::sections::{Input, RawOption, Section};
use crate::{Loader, LowerOptions, Overrides, Parsed};

/// Parses plans of ours that run one after another.
pub fn parse_files<P: AsRef<str>>(
    paths: &[P],
    wishes: &LowerOptions<'_>,
    loader: &dyn Loader,
) -> Parsed {
    let mut all = Parsed::default();
    for path in paths {
        all.append(parse_file(path.as_ref(), wishes, loader));
    }
    all
}

/// Parses a plan of ours; the path `-` is the standard input.
pub fn parse_file(path: &str, wishes: &LowerOptions<'_>, loader: &dyn Loader) -> Parsed {
    Parsed::of_file(path, "plan", loader, |text| parse_text(path, text, wishes, loader))
}

/// Parses a plan that is already in memory; `name` stands for its path.
pub fn parse_text(
    name: &str,
    text: &str,
    wishes: &LowerOptions<'_>,
    loader: &dyn Loader,
) -> Parsed {
    let (read, found) = read_toml(text, |keys, findings| {
        let overrides = wishes.overrides;
        let mut reader = Reader { findings, overrides, sections: Vec::new(), steps: Vec::new() };
        reader.root(keys);
        (reader.sections, reader.steps)
    });
    let mut input = Input::default();
    input.sources.push(Source { name: name.to_owned(), text: text.to_owned() });
    for finding in found {
        input.report(finding);
    }
    let Some((sections, steps)) = read else {
        // What is wrong with the form would be reported again as missing parameters.
        let plan = plan::Plan { sources: input.sources, ..plan::Plan::default() };
        return Parsed { plan, diagnostics: input.diagnostics, refusals: Vec::new() };
    };
    input.parts.push(crate::sections::Part { is_file: true, sections });
    let mut parsed = input.lower(wishes, loader);
    if !parsed.has_errors() && wishes.sections.is_empty() {
        fold(&mut parsed, steps);
    }
    parsed
}

struct Reader<'a, 'text> {
    findings: &'a mut Findings<'text>,
    overrides: Option<&'a Overrides>,
    /// One for each job, followed by one for each of its parts.
    sections: Vec<Section>,
    steps: Vec<StepDraft>,
}

impl Reader<'_, '_> {
    fn root(&mut self, mut keys: Keys<'_>) {
        match keys.text("schema", self.findings) {
            Some((SCHEMA, _)) => {}
            Some((other, at)) => {
                let text = format!("`schema` is `{other}`; this version reads `{SCHEMA}`");
                self.findings.error("unknown-schema", &at, text);
            }
            None => {
                let text = format!("a plan begins with `schema = \"{SCHEMA}\"`");
                self.findings.error("missing-key", &keys.at.clone(), text);
            }
        }
        for step in keys.tables("step", self.findings) {
            self.step(step);
        }
        match keys.table("unit", self.findings) {
            Some(unit) => self.unit(unit),
            None if self.overrides.is_some_and(|overrides| overrides.load.is_some()) => {
                let text = "`--load` counts units, and this plan has no [unit]";
                self.findings.error("no-unit", &keys.at, text);
            }
            None => {}
        }
        keys.finish(self.findings);
    }

    fn step(&mut self, mut keys: Keys<'_>) {
        let step_idx = self.steps.len() as u32;
        let step = steps::read(&mut keys, step_idx, self.findings);
        let jobs = keys.tables("job", self.findings);
        if jobs.is_empty() {
            let text = "a step needs at least one [[step.job]]";
            self.findings.error("missing-key", &keys.at, text);
        }
        keys.finish(self.findings);
        self.steps.push(StepDraft { step, jobs: Vec::new() });
        for (idx, job) in jobs.into_iter().enumerate() {
            let begins_step = idx == 0 && step_idx > 0;
            let draft = self.job(job, begins_step);
            if let Some(step) = self.steps.last_mut() {
                step.jobs.push(draft);
            }
        }
    }

    /// Reads a composite workload: a step that lays out its files, and one that is measured.
    fn unit(&mut self, keys: Keys<'_>) {
        let mut options = |keys: &Keys<'_>, findings: &mut Findings<'_>| options(keys, findings);
        let unit = unit::read(keys, self.overrides, self.findings, &mut options);
        for is_layout in [true, false] {
            let begins_step = !self.steps.is_empty();
            let of_unit = unit.components.iter().enumerate();
            let jobs = of_unit.map(|(idx, component)| {
                let begins_step = begins_step && idx == 0;
                self.sections.push(section(
                    &unit,
                    component,
                    self.findings,
                    is_layout,
                    begins_step,
                ));
                let tree = if is_layout { component.layout() } else { component.measured() };
                JobDraft { tree: Some(tree), is_layout, is_of_unit: true, ..JobDraft::default() }
            });
            let jobs: Vec<JobDraft> = jobs.collect();
            let name = if is_layout { "layout".to_owned() } else { format!("load {}", unit.load) };
            self.steps.push(StepDraft { step: Step { name, ..Step::default() }, jobs });
        }
    }

    fn job(&mut self, mut keys: Keys<'_>, begins_step: bool) -> JobDraft {
        let at = keys.at.clone();
        let (name, name_at) = self.name(&mut keys);
        let parts = keys.tables("part", self.findings);
        let tree = keys.table("tree", self.findings);
        let mut section = Section {
            name,
            span: self.findings.span(&name_at),
            is_global: false,
            options: self.options(&keys),
        };
        let mut shared = section.options.clone();
        shared.retain(|option| option.key != "new_group" && !is_of_workload(&option.key));
        if begins_step {
            section.options.push(self.flag("barrier", &at));
        }
        let tree = tree.and_then(|keys| tree_read::work(keys, self.findings));
        self.sections.push(section);
        let parts = parts.into_iter().map(|keys| self.part(keys, &shared)).collect();
        JobDraft { parts, tree, ..JobDraft::default() }
    }

    /// Reads a part: a section with what its job says besides the workload, and its own.
    fn part(&mut self, mut keys: Keys<'_>, shared: &[RawOption]) -> Part {
        let (name, name_at) = self.name(&mut keys);
        let weight = keys.number("weight", self.findings).filter(|(weight, at)| {
            let is_fine = *weight > 0.0;
            if !is_fine {
                let text = "`weight` is above 0";
                self.findings.error("out-of-range", at, text);
            }
            is_fine
        });
        let rate_iops = keys.number("rate_iops", self.findings);
        let priority = keys.count("priority", self.findings);
        let region = self.region(&mut keys);
        let mut options = shared.to_vec();
        options.extend(self.options(&keys));
        let span = self.findings.span(&name_at);
        self.sections.push(Section { name: name.clone(), span, is_global: false, options });
        Part {
            name,
            weight: weight.map_or(1.0, |(weight, _)| weight),
            rate_iops: rate_iops.map(|(rate, _)| rate),
            priority: priority.map_or(0, |(priority, _)| priority.min(u32::MAX.into()) as u32),
            region,
            ..Part::default()
        }
    }

    fn region(&mut self, keys: &mut Keys<'_>) -> PartRegion {
        let pair = |keys: &mut Keys<'_>, name, findings: &mut Findings<'_>| {
            let at = keys.get(name)?.span();
            let numbers = keys.numbers(name, findings)?;
            match numbers[..] {
                [from, to] if from >= 0.0 && from < to => Some((from, to)),
                _ => {
                    let text = format!("`{name}` is two numbers, the second above the first");
                    findings.error("out-of-range", &at, text);
                    None
                }
            }
        };
        let of_pct = pair(keys, "region_pct", self.findings);
        let of_bytes = pair(keys, "region_bytes", self.findings);
        match (of_pct, of_bytes) {
            (Some((from, to)), _) => PartRegion::Pct(from, to.min(200.0)),
            (None, Some((from, to))) => PartRegion::Bytes(from as u64, to as u64),
            (None, None) => PartRegion::Whole,
        }
    }

    fn name(&mut self, keys: &mut Keys<'_>) -> (String, Range<usize>) {
        if let Some((name, at)) = keys.text("name", self.findings) {
            return (name.to_owned(), at);
        }
        if keys.get("name").is_none() {
            let text = "`name` is missing";
            self.findings.error("missing-key", &keys.at, text);
        }
        (String::new(), keys.at.clone())
    }

    /// Returns the parameters of a table.
    fn options(&mut self, keys: &Keys<'_>) -> Vec<RawOption> {
        options(keys, self.findings)
    }

    fn flag(&self, key: &str, at: &Range<usize>) -> RawOption {
        RawOption::ours(key, None, &self.findings.span(at))
    }
}

/// Returns the parameters of a table: the keys that were not asked for.
fn options(keys: &Keys<'_>, findings: &mut Findings<'_>) -> Vec<RawOption> {
    let mut options = Vec::new();
    for ((key, key_at), value) in keys.rest() {
        let at = value.span();
        let Some(text) = value_text(value.get_ref()) else {
            let text = format!("`{key}` takes text, a number, true or false, or a list of them");
            findings.error("wrong-type", &at, text);
            continue;
        };
        let option = RawOption::ours(key, Some(text), &findings.span(&at));
        options.push(RawOption { key_span: findings.span(&key_at), ..option });
    }
    options
}

/// Returns the section of a component of a unit: in the step that lays out its files, or in the
/// measured one.
fn section(
    unit: &Unit,
    component: &Component,
    findings: &Findings<'_>,
    is_layout: bool,
    begins_step: bool,
) -> Section {
    let at = findings.span(&component.name_at);
    let of_unit = findings.span(&unit.at);
    let ours = |key, value: String| RawOption::ours(key, Some(value), &at);
    let mut options = component.keys.clone();
    // Files are laid out with the data that they are to have, and by no other rule of the load.
    let is_of_data =
        |key: &str| param::find(key).is_some_and(|param| param.category() == Category::Buffers);
    options.retain(|option| !is_layout || is_of_data(&option.key));
    // What changes paths changes this one, too; it becomes the anchor.
    let anchor = plan::escape_path(&component.work.tree.anchor);
    options.push(ours("directories", anchor));
    options.push(ours("access", "randrw".to_owned()));
    let block_bytes = if is_layout { LAYOUT_BYTES } else { component.block_bytes };
    options.push(ours("block_size_bytes", block_bytes.to_string()));
    options.push(ours("n_workers", component.n_processes.to_string()));
    if !is_layout {
        let rate = component.rate.map(|rate| rate * f64::from(component.n_processes));
        options.extend(rate.map(|rate| ours("rate_total_iops", rate.to_string())));
        if component.is_closed && component.rate.is_some() {
            options.push(ours("rate_closed", "1".to_owned()));
        }
        let of_time = unit.options.iter();
        let of_time = of_time.map(|(key, time)| RawOption::ours(key, Some(time.clone()), &of_unit));
        options.extend(of_time);
        options.push(RawOption::ours("time_based", None, &of_unit));
    }
    if begins_step {
        options.push(RawOption::ours("barrier", None, &of_unit));
    }
    let name =
        if is_layout { format!("layout-{}", component.name) } else { component.name.clone() };
    Section { name, span: at, is_global: false, options }
}

/// Returns whether a parameter describes the I/O itself, of which each part has its own.
fn is_of_workload(key: &str) -> bool {
    param::find(key).is_some_and(|param| param.category() == Category::Workload)
}

/// Returns a value as a parameter's text; `None` for what no parameter takes.
fn value_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(digits) if digits.radix() == 10 => Some(digits.as_str().to_owned()),
        DeValue::Integer(digits) => {
            u64::from_str_radix(digits.as_str(), digits.radix()).ok().map(|n| n.to_string())
        }
        DeValue::Float(digits) => Some(digits.as_str().to_owned()),
        DeValue::Boolean(on) => Some(u8::from(*on).to_string()),
        DeValue::Array(values) => {
            let texts: Option<Vec<String>> = values
                .iter()
                .map(|value| value_text(value.get_ref()).map(|text| plan::escape_path(&text)))
                .collect();
            texts.map(|texts| texts.join(":"))
        }
        _ => None,
    }
}
