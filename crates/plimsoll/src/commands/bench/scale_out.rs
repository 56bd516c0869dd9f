//! `plimsoll bench --hosts`: a suite from the first N of several hosts, for each N.
//!
//! The hosts divide each step as `run --split` does, over one file or device that they share; the
//! depth is each host's own. The first host fills it once.

use bench::append;
use bench::scale_out::{self, Point};
use bench::suite::jobs::{self, Site};
use bench::suite::rows::Running;
use bench::suite::{Step, StepLoad, Suite};
use fleet::hosts::Host;
use fleet::launch::Launcher;
use fleet::launch::ssh::Ssh;
use fleet::run::Fleet;
use plan::Plan;
use record::{JobRecord, Outcome, Record, StepPurpose, SuiteRecord};
use runner::RunOptions;

use super::super::execute::Session;
use super::super::existing::{self, ReadOnly};
use super::super::hosts::HostsScratch;
use super::super::scratch::Scratch;
use super::sites::{self, SiteKind};
use super::{Args, driver, page};
use crate::exit::{Exit, Failure};
use crate::sink::Sink;

/// Runs the suite.
pub(super) fn run(
    args: &Args,
    options: &RunOptions,
    ssh: &Ssh,
    hosts: &[Host],
) -> Result<Exit, Failure> {
    let mut running = super::running(args)?;
    let counts = counts(args, hosts.len())?;
    let target = target(args, &running.suite)?;
    let (site, kind) = sites::on_hosts(&running.suite, target)?;
    let is_ours = kind != SiteKind::Device;
    if args.safety.readonly && is_ours {
        return Err(Scratch::refused());
    }
    if !existing::may_write(is_ours, args.overwrite) {
        let why = if args.safety.readonly { ReadOnly::Asked } else { ReadOnly::Kept };
        running.steps = driver::reading(running.steps);
        super::refuse_nothing(&running, why)?;
        running.suite.prepare.n_fills = 0;
    }
    // Those of a machine that was published are of other numbers of hosts.
    running.questions.clear();
    let steps = std::mem::take(&mut running.steps);
    let points: Vec<Point> = (steps.iter().filter(|step| !step.is_preparation))
        .flat_map(|step| counts.iter().map(|n| point(step, *n)))
        .collect();
    let mut sink = Sink::open_of_run(args.result.output.as_deref(), args.safety.readonly)?;
    page::check(args.report.as_deref(), args.safety.readonly)?;
    let plan = driver::plan_of(&steps, std::slice::from_ref(&site), 0)?;
    let about = format!("{target}: {}, {} hosts", running.suite.name, hosts.len());
    let session = Session::begin_series(&plan, options, &args.result, &about)?;
    let measures = Measures { args, options, ssh, hosts };
    let mut study = Study { session, measures, site, running, points, whole: None };
    let scratch = study.fill(is_ours);
    let ran = match &scratch {
        Ok(_) => study.measure(&steps, &counts),
        Err(_) => Ok(()),
    };
    let record = study.record();
    drop(scratch?);
    super::report(super::finish(study.session, record, ran)?, args, &mut sink)
}

/// Returns the numbers of hosts, the fewest first.
fn counts(args: &Args, n_hosts: usize) -> Result<Vec<u32>, Failure> {
    let mut counts = args.scale_out.clone();
    if counts.is_empty() {
        counts.push(n_hosts as u32);
    }
    counts.sort_unstable();
    counts.dedup();
    match counts.last() {
        Some(most) if *most as usize > n_hosts => {
            let text = format!("`--scale-out {most}` wants more hosts than the {n_hosts} named");
            Err(Failure::wrong_use(text))
        }
        Some(_) | None => Ok(counts),
    }
}

/// Returns the target, where the suite can be measured by several hosts.
pub(super) fn target<'a>(args: &'a Args, suite: &Suite) -> Result<&'a str, Failure> {
    if suite.rounds.is_some() {
        let text = format!("suite `{}` measures rounds until they are steady", suite.name);
        return Err(Failure::wrong_use(text).hint("with --hosts, name a suite without rounds"));
    }
    match &args.target[..] {
        [target] if suite.places.len() < 2 => Ok(target),
        [_] => {
            let text = format!("suite `{}` has several places", suite.name);
            Err(Failure::wrong_use(text).hint("with --hosts, name a suite of one place"))
        }
        [] | [_, ..] => {
            let text = "with `--hosts` one target is measured, which the hosts share";
            Err(Failure::wrong_use(text).hint("name it: plimsoll bench DIR --hosts vm[1-8]"))
        }
    }
}

/// Returns the plan that removes a file of ours from the hosts.
pub(super) fn removal(site: &Site) -> Result<Plan, Failure> {
    let path = plan::escape_path(&site.file);
    let place = match &site.export {
        Some(url) => format!("ioengine=nfs\nnfs_url={url}\n"),
        None => String::new(),
    };
    // A host that finds it gone makes a small one, so that none fails.
    driver::parse(&format!("[remove]\n{place}filename={path}\nrw=read\nbs=4k\nsize=4k\nunlink=1\n"))
}

fn point(step: &Step, n_hosts: u32) -> Point {
    let rate = |load: &StepLoad| Some(load.rate_iops? as f64 * f64::from(load.workers));
    let rates: Option<Vec<f64>> = step.loads.iter().map(rate).collect();
    let rate_iops = rates.map(|rates| rates.iter().sum());
    Point { label: step.label.clone(), n_hosts, rate_iops }
}

/// What runs a plan on hosts.
struct Measures<'a> {
    args: &'a Args,
    options: &'a RunOptions,
    ssh: &'a Ssh,
    hosts: &'a [Host],
}

impl Measures<'_> {
    /// Makes what the first of the hosts are to run, divided or each the whole.
    fn fleet(&self, n_hosts: usize, plan: &Plan, is_split: bool) -> Result<Fleet, Failure> {
        let Measures { args, options, ssh, hosts } = self;
        let launcher = Launcher::Ssh((*ssh).clone(), hosts[..n_hosts].to_vec());
        args.hosts.fleet_of(launcher, n_hosts, plan, options, is_split)
    }
}

/// A suite at work.
struct Study<'a> {
    session: Session,
    measures: Measures<'a>,
    site: Site,
    running: Running,
    points: Vec<Point>,
    whole: Option<Record>,
}

impl Study<'_> {
    /// Writes everything once from the first host. Returns what removes a file of ours in the end.
    fn fill(&mut self, is_ours: bool) -> Result<Option<HostsScratch>, Failure> {
        let prepare = self.running.suite.prepare.clone();
        if prepare.n_fills > 0 {
            let plan = driver::parse(&jobs::fill(&prepare, &self.site))?;
            self.stage(&plan, 1, &[("fill".to_owned(), 0)], StepPurpose::Prepare)?;
        }
        if !is_ours {
            return Ok(None);
        }
        // All see the same one.
        let n_hosts = if self.site.export.is_some() { 1 } else { self.measures.hosts.len() };
        let removal = self.measures.fleet(n_hosts, &removal(&self.site)?, false)?;
        Ok(Some(HostsScratch::new(removal, self.site.file.clone())))
    }

    /// Measures all steps with each number of hosts.
    fn measure(&mut self, steps: &[Step], counts: &[u32]) -> Result<(), Failure> {
        for (idx, n_hosts) in counts.iter().enumerate() {
            let is_cut = |whole: &Record| whole.outcome != Outcome::Complete;
            if self.whole.as_ref().is_some_and(is_cut) || self.session.is_stopped() {
                break;
            }
            let sites = std::slice::from_ref(&self.site);
            let plan = driver::plan_of(steps, sites, idx as u32)?;
            let name = |step: &Step| (point(step, *n_hosts).row(), step.repeat_idx);
            let names: Vec<(String, u32)> = steps.iter().map(name).collect();
            for (step, (label, repeat_idx)) in steps.iter().zip(&names) {
                let (label, repeat_idx) = (label.clone(), *repeat_idx);
                self.running.steps.push(Step { label, repeat_idx, ..step.clone() });
            }
            self.stage(&plan, *n_hosts as usize, &names, StepPurpose::Measure)?;
        }
        Ok(())
    }

    /// Runs a plan on the first hosts, and joins what came out.
    fn stage(
        &mut self,
        plan: &Plan,
        n_hosts: usize,
        names: &[(String, u32)],
        purpose: StepPurpose,
    ) -> Result<(), Failure> {
        let fleet = self.measures.fleet(n_hosts, plan, true)?;
        let record = self.session.measure_on(&fleet, plan)?;
        for (step_idx, (label, _)) in names.iter().enumerate() {
            let jobs = record.jobs.iter().filter(|job| job.step_idx as usize == step_idx);
            let jobs: Vec<JobRecord> = jobs.cloned().collect();
            self.session.print_progress(&driver::line(label, &jobs, 0));
        }
        let labels: Vec<String> = names.iter().map(|(label, _)| label.clone()).collect();
        let first = append(&mut self.whole, record, &labels);
        let n_steps = self.whole.as_ref().map_or(0, |whole| whole.steps.len() as u32);
        for (step_idx, (label, repeat_idx)) in (first..n_steps).zip(names) {
            let is_preparation = |step: &&Step| step.label == *label && step.is_preparation;
            let is_ready = self.running.steps.iter().any(|step| is_preparation(&step));
            let purpose = if is_ready { StepPurpose::Prepare } else { purpose };
            self.running.took(step_idx, label, purpose, *repeat_idx);
        }
        if self.session.is_due()
            && let Some(record) = self.record()
        {
            self.session.keep(&record);
        }
        Ok(())
    }

    /// Returns what there is, with what the suite makes of it.
    fn record(&self) -> Option<Record> {
        let mut record = self.whole.clone()?;
        if self.session.is_stopped() && record.outcome == Outcome::Complete {
            record.outcome = Outcome::Interrupted;
        }
        let suite = self.running.recorded(&record);
        let scale_out = scale_out::recorded(&record, &suite.rows, &self.points);
        record.suite = Some(SuiteRecord { scale_out, published: Vec::new(), ..suite });
        record.validity.retain(|judged| self.running.is_result(judged.step_idx));
        Some(record)
    }
}
