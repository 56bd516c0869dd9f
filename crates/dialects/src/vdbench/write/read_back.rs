//! What a written parameter file says of the jobs it was made of: it is read back, and each value
//! that does not come back is listed as lost. Nothing counts as said for its name alone.

use std::collections::{BTreeMap, BTreeSet};

use plan::job::Part;
use plan::param::{self, Category, Param, Setting};
use plan::tree::{Activity, TreeWork};
use plan::{Job, Plan, Severity, Step};

use super::super::dialect::let_files_be_made;
use super::super::lower::{Context, step};
use super::super::options::Options;
use super::super::read::parse_text;
use super::super::run::{Rate, Run, Work};
use super::same::{self, InStep};
use super::writer::{LeftOut, Writer, WrittenJob};
use super::{processes, trees};
use crate::NO_HOST;
use crate::translation::Translation;

/// What was read back.
pub(super) struct ReadBack {
    /// Run and step of each run definition, by its name; of a curve the one that looks for the
    /// maximum.
    of_rd: BTreeMap<String, (Run, Step)>,
    /// All formats.
    formats: Vec<Job>,
    /// Values that jobs of parameter files have whatever is written.
    usual: Values,
    usual_of_trees: Values,
}

/// Values by our names of their parameters.
type Values = BTreeMap<&'static str, Setting>;

/// Two short files with nothing in common: what the jobs of both have, every job has.
const USUAL: [&str; 2] = [
    "sd=s,lun=/f,size=1g\nwd=w,sd=s\nrd=r,wd=w,iorate=max,elapsed=2,interval=1\n",
    "sd=t,lun=/g,size=2g,threads=3,openflags=o_direct\nwd=v,sd=t,rdpct=0,xfersize=8k,seekpct=0\n\
     rd=r,wd=v,iorate=7,elapsed=3,warmup=1,interval=1\n",
];
const USUAL_OF_TREES: [&str; 2] = [
    "fsd=f,anchor=/a,depth=1,width=1,files=1,size=4k\nfwd=w,fsd=f,operation=read\n\
     rd=r,fwd=w,fwdrate=max,elapsed=2,interval=1\n",
    "fsd=g,anchor=/b,depth=2,width=2,files=2,size=8k\nfwd=v,fsd=g,operation=getattr,threads=3\n\
     rd=r,fwd=v,fwdrate=7,elapsed=3,warmup=1,interval=1\n",
];

impl ReadBack {
    /// Reads a parameter file.
    fn of(text: &str) -> Result<Self, String> {
        let mut back = ReadBack {
            of_rd: BTreeMap::new(),
            formats: Vec::new(),
            usual: usual(USUAL),
            usual_of_trees: usual(USUAL_OF_TREES),
        };
        for (run, step) in steps_of(text)? {
            if matches!(run.work, Work::Format(_)) {
                back.formats.extend(step.jobs);
            } else {
                back.of_rd.entry(run.rd.clone()).or_insert((run, step));
            }
        }
        Ok(back)
    }

    /// Returns the step of a run definition, with the jobs of processes joined.
    fn step(&self, rd: &str) -> Option<(&Run, Step)> {
        let (run, step) = self.of_rd.get(rd)?;
        let jobs = processes::joined(&step.jobs).0;
        Some((run, Step { jobs, ..step.clone() }))
    }
}

fn steps_of(text: &str) -> Result<Vec<(Run, Step)>, String> {
    let parsed = parse_text("text", text, &Options::default(), &NO_HOST);
    let mut findings = parsed.diagnostics;
    let mut curve_step_idx = None;
    let mut steps = Vec::new();
    for (idx, run) in parsed.runs.into_iter().enumerate() {
        if run.rate == Rate::CurveMax {
            curve_step_idx = Some(idx as u32);
        }
        let context = Context { curve_step_idx, first_group_id: 0, loader: &NO_HOST, sources: &[] };
        let mut step = step(&run, context, &mut findings);
        let_files_be_made(&mut step.jobs);
        steps.push((run, step));
    }
    match findings.into_iter().find(|finding| finding.severity == Severity::Error) {
        Some(error) => Err(error.message),
        None => Ok(steps),
    }
}

/// Returns the values that the jobs of two files share.
fn usual(files: [&str; 2]) -> Values {
    let [mut values, others] = files.map(|text| {
        let steps = steps_of(text).expect("these files are right");
        let job = steps.first().and_then(|(_, step)| step.jobs.first());
        let job = job.expect("each of these files has a run of one job");
        settings(&alone(job, job.parts.first()))
    });
    values.retain(|name, it| others.get(name).is_some_and(|other| other.value == it.value));
    values
}

/// Returns a job that does what one part of it does.
pub(super) fn alone(job: &Job, part: Option<&Part>) -> Job {
    let workload = part.map_or(&job.workload, |part| &part.workload).clone();
    Job { workload, parts: Vec::new(), tree: None, options: Vec::new(), ..job.clone() }
}

fn settings(job: &Job) -> Values {
    param::settings(job).into_iter().map(|it| (it.param.name, it)).collect()
}

/// A value that did not come back.
struct Unsaid {
    param: &'static Param,
    /// The value that was to be said; `None` where it is the usual one, and another came back.
    was: Option<String>,
    is: Option<String>,
}

impl Unsaid {
    fn loss(&self) -> String {
        let Param { name, short, .. } = self.param;
        let key = self.param.fio.first().unwrap_or(name);
        match (&self.was, &self.is) {
            (Some(text), _) => format!("{short} (`{key}={text}`)"),
            (None, Some(text)) if *name == "flow_slack_ios" => {
                format!("how far a job may be ahead of its share: Vdbench lets it be {text} I/Os")
            }
            (None, Some(_)) if name.starts_with("flow_") => {
                "a pace of its own that each job has: Vdbench keeps them in step".to_owned()
            }
            (None, Some(text)) => format!("{short}: `{key}={text}` is what Vdbench does instead"),
            (None, None) => format!("{short} (`{key}`)"),
        }
    }
}

/// Reads the text of a writer back, and lists in it what did not come back. Returns jobs that must
/// be left out, because they would write elsewhere: then the text is to be written without them.
pub(super) fn check(plan: &Plan, writer: &Writer<'_>, to: &mut Translation) -> LeftOut {
    let mut left_out = LeftOut::new();
    if writer.written.is_empty() && writer.formats.is_empty() {
        to.text.clear();
        return left_out;
    }
    let back = match ReadBack::of(&to.text) {
        Ok(back) => back,
        Err(error) => {
            // Nothing says what else of it is lost.
            to.text.clear();
            to.lose(format!("Vdbench does not take it: {error}"));
            return left_out;
        }
    };
    let text = to.text.clone();
    for format in &writer.formats {
        trees::format_losses(format, &back.formats, to);
    }
    for (step_idx, rd) in &writer.run_names {
        let written: Vec<&WrittenJob> =
            writer.written.iter().filter(|it| it.position.0 == *step_idx).collect();
        let Some((run, is_step)) = back.step(rd) else {
            to.lose(format!("run `{rd}` does not come back"));
            continue;
        };
        of_step(&plan.steps[*step_idx], &is_step, to);
        for job in &written {
            let in_step = InStep { written: &written, is_step: &is_step, run, text: &text };
            let harm = match &job.job.tree {
                Some(work) => {
                    of_tree(job, work, &in_step, &back, to);
                    None
                }
                None => of_storage(job, &in_step, &back, to),
            };
            left_out.extend(harm.map(|why| (job.position, why)));
        }
    }
    left_out
}

/// Notes what a run does not say of its step as a whole.
fn of_step(was: &Step, is: &Step, to: &mut Translation) {
    if was.pause_ns != is.pause_ns {
        to.lose("a pause that is not whole seconds: rounded up");
    }
    if was.amount_max != is.amount_max {
        to.lose("an amount after which all jobs of a step end");
    }
    for (key, was, is) in [
        ("startcmd", &was.exec_before, &is.exec_before),
        ("endcmd", &was.exec_after, &is.exec_after),
    ] {
        let is = is.join("; ");
        // Quotes within it were noted.
        for command in was.iter().filter(|it| !is.contains(*it) && !it.contains('"')) {
            to.lose(format!("`{key}={command}`"));
        }
    }
}

/// Notes what is lost of a job on storage definitions. Returns why it must be left out, if so.
fn of_storage(
    written: &WrittenJob,
    in_step: &InStep<'_>,
    back: &ReadBack,
    to: &mut Translation,
) -> Option<String> {
    let job = &written.job;
    let is_jobs = in_step.jobs_of(&written.storage);
    if is_jobs.len() != written.storage.len() {
        to.lose(format!("`{}`: {} of its files are used", job.name, is_jobs.len()));
    }
    let parts: Vec<Option<&Part>> = match job.parts.as_slice() {
        [] => vec![None],
        parts => parts.iter().map(Some).collect(),
    };
    let mut unsaid = Vec::new();
    for (idx, (part, workload)) in parts.into_iter().zip(&written.workloads).enumerate() {
        let was = alone(job, part);
        let mut known: Vec<Job> = Vec::new();
        for is_job in &is_jobs {
            let Some(is_part) = is_job.parts.iter().find(|it| it.name == *workload) else {
                to.lose(format!("`{workload}` does not use all files of `{}`", job.name));
                continue;
            };
            if let Some(part) = part {
                same::part_losses(part, is_part, to);
            }
            let is = alone(is_job, Some(is_part));
            // Files that are used alike need one look.
            let plain = same::without_file(&is);
            if known.contains(&plain) {
                continue;
            }
            known.push(plain);
            let pair = same::Pair { was: &was, is: &is, written, is_part, in_step };
            unsaid.extend(differing(&pair, &back.usual, idx > 0));
        }
    }
    let harms = |it: &&Unsaid| job.modifies() && same::writes_elsewhere(job, it.param);
    if let Some(it) = unsaid.iter().find(harms) {
        let key = it.param.fio.first().unwrap_or(&it.param.name);
        let text = it.was.as_deref().or(it.is.as_deref()).unwrap_or_default();
        return Some(format!(
            "`{}` is left out: Vdbench cannot say `{key}={text}`, and would write elsewhere than \
             the job",
            job.name
        ));
    }
    for it in &unsaid {
        to.lose_values(&[it.param.name], it.loss());
    }
    None
}

/// Notes what is lost of a job on structures of files.
fn of_tree(
    written: &WrittenJob,
    work: &TreeWork,
    in_step: &InStep<'_>,
    back: &ReadBack,
    to: &mut Translation,
) {
    let Activity::Operations(tasks) = &work.activity else { return };
    let is_jobs: Vec<&Job> =
        written.workloads.iter().filter_map(|name| in_step.job_of_fwd(name)).collect();
    if is_jobs.len() != tasks.len() {
        to.lose(format!("`{}`: {} of its operations are said", written.job.name, is_jobs.len()));
        return;
    }
    for (idx, (task, is_job)) in tasks.iter().zip(&is_jobs).enumerate() {
        trees::losses(work, task, is_job, &written.noted, to);
        let (was, is) = (alone(&written.job, None), alone(is_job, None));
        let is_part = Part::default();
        let pair = same::Pair { was: &was, is: &is, written, is_part: &is_part, in_step };
        for it in differing(&pair, &back.usual_of_trees, idx > 0) {
            // What the job as a whole says of its I/O is a summary of its tasks.
            if it.param.category != Category::Workload && it.param.name != "engine" {
                to.lose_values(&[it.param.name], it.loss());
            }
        }
    }
}

/// Returns the values that did not come back and were not noted; of further parts those of their
/// own alone.
fn differing(pair: &same::Pair<'_>, usual: &Values, is_further: bool) -> Vec<Unsaid> {
    let (was, is) = (settings(pair.was), settings(pair.is));
    let names: BTreeSet<&'static str> = was.keys().chain(is.keys()).copied().collect();
    let mut unsaid = Vec::new();
    for name in names {
        let (was, is) = (was.get(name), is.get(name));
        let Some(param) = was.or(is).map(|it| it.param) else { continue };
        let value = |it: Option<&Setting>| it.map(|it| it.value.clone());
        let is_said = value(was) == value(is)
            || (is_further && param.category != Category::Workload)
            || pair.written.noted.contains(name)
            || (was.is_none() && value(is) == value(usual.get(name)))
            || same::means_the_same(name, pair);
        if !is_said {
            let text = |it: Option<&Setting>| it.map(|it| it.text.clone());
            unsaid.push(Unsaid { param, was: text(was), is: text(is) });
        }
    }
    unsaid
}
