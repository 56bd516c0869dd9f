//! What jobs of parameter files have whatever is written, and whether a text is one.

use plan::Severity;
use plan::param::{self, Setting};

use super::super::lower::{Context, let_files_be_made, step};
use super::super::options::Options;
use super::super::read::parse_text;
use super::super::run::Rate;
use super::alone;
use crate::NO_HOST;

/// Values that every job of a parameter file has.
#[derive(Debug)]
pub(super) struct CommonValues {
    /// Of jobs on storage definitions.
    pub(super) of_storage: Vec<Setting>,
    /// Of jobs on structures of files.
    pub(super) of_trees: Vec<Setting>,
}

/// Two short files with nothing in common: what the jobs of both have, every job has.
const ON_STORAGE: [&str; 2] = [
    "sd=s,lun=/f,size=1g\nwd=w,sd=s\nrd=r,wd=w,iorate=max,elapsed=2,interval=1\n",
    "sd=t,lun=/g,size=2g,threads=3,openflags=o_direct\nwd=v,sd=t,rdpct=0,xfersize=8k,seekpct=0\n\
     rd=r,wd=v,iorate=7,elapsed=3,warmup=1,interval=1\n",
];
const ON_TREES: [&str; 2] = [
    "fsd=f,anchor=/a,depth=1,width=1,files=1,size=4k\nfwd=w,fsd=f,operation=read\n\
     rd=r,fwd=w,fwdrate=max,elapsed=2,interval=1\n",
    "fsd=g,anchor=/b,depth=2,width=2,files=2,size=8k\nfwd=v,fsd=g,operation=getattr,threads=3\n\
     rd=r,fwd=v,fwdrate=7,elapsed=3,warmup=1,interval=1\n",
];

impl CommonValues {
    pub(super) fn new() -> Self {
        CommonValues { of_storage: shared(ON_STORAGE), of_trees: shared(ON_TREES) }
    }
}

/// Returns the values that the jobs of two files share.
fn shared(files: [&str; 2]) -> Vec<Setting> {
    let [mut settings, others] = files.map(|text| {
        let parsed = parse_text("text", text, &Options::default(), &NO_HOST);
        let run = parsed.runs.first().expect("each of these files has a run");
        let mut step = step(run, context(None), &mut Vec::new());
        let_files_be_made(&mut step.jobs);
        let job = step.jobs.first().expect("each of these runs has a job");
        param::settings(&alone(job, job.parts.first()))
    });
    let is_shared = |it: &Setting| {
        others.iter().any(|other| other.param.name == it.param.name && other.value == it.value)
    };
    settings.retain(is_shared);
    settings
}

fn context(curve_step_idx: Option<u32>) -> Context<'static> {
    Context { curve_step_idx, first_group_id: 0, loader: &NO_HOST, sources: &[] }
}

/// Returns why a text is no parameter file, or none that can run; `None` where it is one.
pub(super) fn why_refused(text: &str) -> Option<String> {
    let parsed = parse_text("text", text, &Options::default(), &NO_HOST);
    let mut findings = parsed.diagnostics;
    let mut curve_step_idx = None;
    for (idx, run) in parsed.runs.iter().enumerate() {
        if run.rate == Rate::CurveMax {
            curve_step_idx = Some(idx as u32);
        }
        step(run, context(curve_step_idx), &mut findings);
    }
    let error = findings.into_iter().find(|finding| finding.severity == Severity::Error);
    error.map(|error| error.message)
}
