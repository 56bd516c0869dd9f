//! From runs to a plan.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Seek as _, SeekFrom};
use std::path::Path;

use dialects::fio;
use dialects::vdbench::lower::{Context, step, texts_at};
use dialects::vdbench::output::LunSeen;
use dialects::vdbench::run::{Command, CommandTime, Rate, Run, Sd, Work};
use dialects::vdbench::{self, Lun, Options, Parsed};
use plan::{Diagnostic, Plan, Severity, Step};

use crate::loader::HostLoader;

/// Parameter files for the commands that all languages share, and what changes them.
#[derive(Debug)]
pub(in crate::commands) struct Wanted<'a> {
    pub(in crate::commands) files: &'a [String],
    pub(in crate::commands) set: &'a [(String, String)],
    pub(in crate::commands) remap: &'a [(String, String)],
    pub(in crate::commands) all_hosts_local: bool,
    /// What stands for `$name`.
    pub(in crate::commands) variables: &'a [(String, String)],
    /// Files that are missing are written first.
    pub(in crate::commands) is_to_run: bool,
}

/// What parameter files come to.
#[derive(Debug)]
pub(in crate::commands) struct Understood {
    /// The plan, and what was found.
    pub(in crate::commands) parsed: fio::Parsed,
    /// The runs as a simulation lists them.
    pub(in crate::commands) runs: String,
    /// The files in plain form.
    pub(in crate::commands) plain: String,
}

/// Parses parameter files, and lists their runs as a simulation does.
pub(in crate::commands) fn input(wanted: &Wanted<'_>) -> Understood {
    let options = Options {
        set: wanted.set.to_vec(),
        remap: wanted.remap.to_vec(),
        all_hosts_local: wanted.all_hosts_local,
        substitutions: wanted.variables.to_vec(),
        ..Options::default()
    };
    let parsed = vdbench::parse_files(wanted.files, &options, &HostLoader);
    let format = if wanted.is_to_run { sd_format(&parsed) } else { None };
    let runs: Vec<Run> = format.into_iter().chain(parsed.runs.iter().cloned()).collect();
    let mut refusals = parsed.refusals.clone();
    refusals.extend(parsed.remote_finding().map(|finding| {
        if wanted.is_to_run {
            return finding;
        }
        // Their runs are there to be looked at.
        Diagnostic { severity: Severity::Warning, ..finding }
    }));
    refusals.extend(unsized_luns(&parsed).into_iter().map(|finding| {
        let is_elsewhere = finding.code == "missing-folder" && !wanted.is_to_run;
        // Another machine may have it.
        let severity = if is_elsewhere { Severity::Warning } else { finding.severity };
        Diagnostic { severity, ..finding }
    }));
    let list = vdbench::simulation(&parsed);
    let (mut plan, findings) = plan_of(&runs, &parsed);
    refusals.extend(findings);
    if !wanted.is_to_run && parsed.settings.format_sds != Some(false) {
        let_files_be_made(&mut plan);
    }
    let plain = parsed.plain;
    let parsed = fio::Parsed { plan, diagnostics: parsed.diagnostics, refusals };
    Understood { parsed, runs: list, plain }
}

/// Lets jobs make the files that a run writes first (`SD_format`), which others have no word for.
fn let_files_be_made(plan: &mut Plan) {
    for job in plan.jobs_mut() {
        let files = &mut job.files;
        let has_device = files.names.iter().any(|name| name.starts_with("/dev/"));
        files.allow_create |= files.size.is_some() && !files.concatenate && !has_device;
    }
}

/// Returns the storage definitions that this machine cannot run as they are.
pub(super) fn unsized_luns(parsed: &Parsed) -> Vec<Diagnostic> {
    vdbench::unsized_luns(parsed, &look)
}

/// Returns the plan of these runs, one step each, and what stands against it.
pub(super) fn plan_of(runs: &[Run], parsed: &Parsed) -> (Plan, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let mut steps: Vec<Step> = Vec::with_capacity(runs.len());
    let mut n_groups = 0;
    let mut curve_step_idx = None;
    for (step_idx, run) in runs.iter().enumerate() {
        if run.rate == Rate::CurveMax {
            curve_step_idx = Some(step_idx as u32);
        }
        let context = Context {
            curve_step_idx,
            first_group_id: n_groups,
            loader: &HostLoader,
            sources: &parsed.sources,
        };
        let mut step = step(run, context, &mut findings);
        n_groups += step.jobs.len() as u32;
        // Runs of one definition differ in their loops only.
        for (name, value) in &run.loops {
            let _ = write!(step.name, " {name}={value}");
        }
        steps.push(step);
    }
    (Plan { sources: parsed.sources.clone(), steps, ..Plan::default() }, findings)
}

/// Returns the run that writes files which are missing or short.
pub(super) fn sd_format(parsed: &Parsed) -> Option<Run> {
    vdbench::sd_format(parsed, &look)
}

/// Returns what is there of every storage definition that a run uses, each once.
pub(super) fn luns_seen(parsed: &Parsed, runs: &[Run]) -> Vec<LunSeen> {
    let (mut used, mut written) = (HashSet::new(), HashSet::new());
    for run in runs {
        match &run.work {
            Work::Raw(raw) => used.extend(raw.sds.iter().map(|sd| (&sd.name, &sd.host))),
            Work::SdFormat(format) => written.extend(format.sds.iter().map(|sd| &sd.lun)),
            Work::Files(_) | Work::Format(_) => {}
        }
    }
    let sds = parsed.sds.iter().filter(|sd| used.contains(&(&sd.name, &sd.host)));
    let seen = sds.map(|sd| {
        let size_bytes = size_of(&sd.lun);
        // `formatsds=yes` writes what is long enough, too.
        let is_short = size_bytes < sd.size_bytes;
        LunSeen {
            sd: sd.name.clone(),
            lun: sd.lun.clone(),
            host: sd.host.clone(),
            size_bytes,
            is_to_be_written: is_short && written.contains(&sd.lun),
        }
    });
    seen.collect()
}

/// Returns how many bytes are there: none of what is missing, `None` of what has no size.
fn size_of(lun: &str) -> Option<u64> {
    match std::fs::metadata(lun) {
        Ok(found) if found.is_file() => Some(found.len()),
        Ok(_) => File::open(lun).and_then(|mut device| device.seek(SeekFrom::End(0))).ok(),
        Err(error) => (error.kind() == ErrorKind::NotFound).then_some(0),
    }
}

fn look(sd: &Sd) -> Lun {
    match std::fs::metadata(&sd.lun) {
        Ok(found) if found.is_file() => Lun::File(found.len()),
        Ok(_) => Lun::Device,
        Err(_) => {
            let folder = Path::new(&sd.lun).parent().filter(|it| !it.as_os_str().is_empty());
            if folder.is_none_or(Path::exists) { Lun::Missing } else { Lun::NoFolder }
        }
    }
}

/// Adds the commands around everything, and tells all commands where the output directory is.
pub(super) fn add_commands(plan: &mut Plan, commands: &[Command], path: &str) {
    if let Some(first) = plan.steps.first_mut() {
        first.exec_before.splice(0..0, texts_at(CommandTime::Start, commands));
    }
    if let Some(last) = plan.steps.last_mut() {
        last.exec_after.extend(texts_at(CommandTime::End, commands));
    }
    for step in &mut plan.steps {
        for command in step.exec_before.iter_mut().chain(&mut step.exec_after) {
            *command = command.replace("$output", path);
        }
    }
}
