//! Parameter files as a language among others.

use std::collections::HashSet;
use std::fmt::Write as _;

use plan::{Diagnostic, Plan, Severity, Step};

use super::lower::{Context, let_files_be_made, step, texts_at};
use super::options::Options;
use super::parsed::Parsed;
use super::reach::{remote_finding, unreachable_hosts};
use super::read::{parse_files, parse_text, sd_format};
use super::run::{CommandTime, Rate, Run, Sd};
use super::{luns, simulation, sniff, write};
use crate::dialect::{self, Dialect, PlainForm, ReadPlan, Request};
use crate::{Likeness, Loader, NO_HOST, Translation};

/// The language of Vdbench's parameter files.
#[derive(Clone, Copy, Debug)]
pub struct Vdbench;

impl Dialect for Vdbench {
    fn name(&self) -> &'static str {
        "vdbench"
    }

    fn about(&self) -> &'static str {
        "Parameter files of Vdbench"
    }

    fn file(&self) -> &'static str {
        "a parameter file of Vdbench"
    }

    fn signs(&self) -> &'static str {
        "a parameter file of Vdbench has `sd=` or `fsd=` and `rd=` lines"
    }

    fn comment(&self) -> char {
        '*'
    }

    fn likeness(&self, text: &str) -> Likeness {
        Likeness::of_pct(sniff(text))
    }

    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan {
        let (substitutions, files) = request.variables(loader);
        let options = Options {
            set: request.overrides.set.clone(),
            remap: request.overrides.remap.clone(),
            all_hosts_local: request.all_hosts_local,
            substitutions,
            ..Options::default()
        };
        understood(parse_files(&files, &options, loader), request.is_to_run, loader)
    }

    fn write(&self, plan: &Plan) -> Translation {
        write(plan)
    }
}

/// Findings that keep files from being run, and not from being looked at: hosts that are not
/// reached, folders, which other hosts may have, and devices, whose I/O is taken for direct.
const OF_RUNS: [&str; 3] = ["no-ssh", "missing-folder", "device-without-direct"];

/// Returns the plan of parameter files that were read.
pub(super) fn understood(parsed: Parsed, is_to_run: bool, loader: &dyn Loader) -> ReadPlan {
    let format = is_to_run.then(|| sd_format(&parsed, &|sd| loader.lun(&sd.lun))).flatten();
    let runs: Vec<Run> = format.into_iter().chain(parsed.runs.iter().cloned()).collect();
    let mut refusals = parsed.refusals.clone();
    if is_to_run {
        refusals.extend(remote_finding(&parsed));
    } else {
        refusals.extend(unreachable_hosts(&parsed));
    }
    let far: HashSet<&str> = parsed.remote_hosts().map(|host| host.label.as_str()).collect();
    let lun_of = |sd: &Sd| (!far.contains(sd.host.as_str())).then(|| loader.lun(&sd.lun));
    refusals.extend(luns::unsized_luns(&parsed, &lun_of));
    let listing = simulation(&parsed);
    let (mut plan, findings) = plan_of(&runs, &parsed, loader);
    refusals.extend(findings);
    for finding in refusals.iter_mut().filter(|it| !is_to_run && OF_RUNS.contains(&it.code)) {
        finding.severity = Severity::Warning;
    }
    if !is_to_run && parsed.settings.format_sds != Some(false) {
        let_files_be_made(plan.jobs_mut());
    }
    let losses = if is_to_run { Vec::new() } else { kinder_forms(&parsed.plain, &listing, &plan) };
    let translation = Translation { text: parsed.plain, losses, ..Translation::default() };
    let plain = PlainForm { language: Vdbench.name(), translation };
    let parsed = dialect::Parsed { plan, diagnostics: parsed.diagnostics, refusals };
    ReadPlan { parsed, listing: Some(listing), plain: Some(plain), draws_anew: true }
}

/// Returns the plan of these runs, one step each, with the commands around all of them, and what
/// stands against it.
pub fn plan_of(runs: &[Run], parsed: &Parsed, loader: &dyn Loader) -> (Plan, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let mut steps: Vec<Step> = Vec::with_capacity(runs.len());
    let mut n_groups = 0;
    let mut curve_step_idx = None;
    for (step_idx, run) in runs.iter().enumerate() {
        if run.rate == Rate::CurveMax {
            curve_step_idx = Some(step_idx as u32);
        }
        let sources = &parsed.sources;
        let context = Context { curve_step_idx, first_group_id: n_groups, loader, sources };
        let mut step = step(run, context, &mut findings);
        n_groups += step.jobs.len() as u32;
        // Runs of one definition differ in their loops only.
        for (name, value) in &run.loops {
            let _ = write!(step.name, " {name}={value}");
        }
        steps.push(step);
    }
    let commands = &parsed.settings.commands;
    if let Some(first) = steps.first_mut() {
        first.exec_before.splice(0..0, texts_at(CommandTime::Start, commands));
    }
    if let Some(last) = steps.last_mut() {
        last.exec_after.extend(texts_at(CommandTime::End, commands));
    }
    (Plan { sources: parsed.sources.clone(), steps, ..Plan::default() }, findings)
}

/// Returns what Vdbench itself does not take of a file in plain form, or takes otherwise.
fn kinder_forms(text: &str, runs: &str, plan: &Plan) -> Vec<String> {
    let theirs = parse_text("text", text, &Options::compat(), &NO_HOST);
    if theirs.has_errors() {
        let errors = theirs.diagnostics.iter().filter(|it| it.severity == Severity::Error);
        return errors.map(|it| format!("Vdbench does not take it: {}", it.message)).collect();
    }
    let mut losses = Vec::new();
    if simulation(&theirs) != runs {
        losses.push("Vdbench makes other runs of it: see the warnings".to_owned());
    }
    let of_runs = theirs.runs.iter().flat_map(|run| &run.commands);
    let known: Vec<&str> =
        of_runs.chain(&theirs.settings.commands).map(|command| command.text.as_str()).collect();
    let ours = plan.steps.iter().flat_map(|step| step.exec_before.iter().chain(&step.exec_after));
    for command in ours.filter(|command| !known.contains(&command.as_str())) {
        let loss = format!("Vdbench reads another command than `{command}`");
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    }
    losses
}
