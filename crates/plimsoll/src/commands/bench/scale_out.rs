//! `plimsoll bench --hosts` and `--agents`: a suite from the first N of several hosts, for each N.
//!
//! The hosts divide each step as `run --split` does, over one file or device that they share; the
//! depth is each host's own. The first host fills it once. All are there from the start: their
//! agents stay, and rest while fewer measure.

use bench::append;
use bench::scale_out::{self, Point};
use bench::suite::jobs::{self, Site};
use bench::suite::rows::Running;
use bench::suite::{Step, StepLoad, Suite};
use plan::Plan;
use record::{JobRecord, Outcome, Record, StepPurpose, SuiteRecord};
use runner::RunOptions;

use super::super::dial_in::Source;
use super::super::execute::Session;
use super::super::existing::{self, ReadOnly};
use super::super::hosts_load::{HostsLoad, NotCarried, refuse_fewer};
use super::super::scratch::Scratch;
use super::sites::{self, SiteKind};
use super::{Args, driver, page};
use crate::exit::{Exit, Failure};
use crate::sink::Sink;

/// Runs the suite.
pub(super) fn run(args: &Args, options: &RunOptions, source: Source<'_>) -> Result<Exit, Failure> {
    let mut running = super::running(args)?;
    let n_hosts = source.n_hosts();
    let counts = counts(args, n_hosts)?;
    let target = target(args, &running.suite, source.option())?;
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
    let removal = is_ours.then(|| removal(&site)).transpose()?;
    let about = format!("{target}: {}, {n_hosts} hosts", running.suite.name);
    if let Source::Agents(..) = source {
        // Who does not come in time is missing for good.
        refuse_fewer(&args.hosts)?;
    }
    let launcher = source.open()?;
    let hosts = HostsLoad::of_study(&args.hosts, &launcher, options)?;
    let session = Session::begin_series(&plan, options, &args.result, &about)?;
    let mut study = Study { session, hosts, site, running, points, whole: None };
    let ran = study.fill().and_then(|()| study.measure(&steps, &counts));
    let record = study.record();
    // Where no host began, there is nothing to remove.
    if let (Some(plan), true) = (&removal, record.is_some()) {
        study.hosts.remove(plan);
    }
    let Study { session, hosts, .. } = study;
    drop(hosts);
    super::report(&super::finish(session, record, ran)?, args, &mut sink)
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
pub(super) fn target<'a>(args: &'a Args, suite: &Suite, option: &str) -> Result<&'a str, Failure> {
    if suite.rounds.is_some() {
        let text = format!("suite `{}` measures rounds until they are steady", suite.name);
        return Err(
            Failure::wrong_use(text).hint(format!("with {option}, name a suite without rounds"))
        );
    }
    match &args.target[..] {
        [target] if suite.places.len() < 2 => Ok(target),
        [_] => {
            let text = format!("suite `{}` has several places", suite.name);
            Err(Failure::wrong_use(text).hint(format!("with {option}, name a suite of one place")))
        }
        [] | [_, ..] => {
            let text = format!("with `{option}` one target is measured, which the hosts share");
            let value = if option == "--hosts" { "vm[1-8]" } else { "8" };
            Err(Failure::wrong_use(text)
                .hint(format!("name it: plimsoll bench DIR {option} {value}")))
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

/// A suite at work.
struct Study<'a> {
    session: Session,
    hosts: HostsLoad<'a>,
    site: Site,
    running: Running,
    points: Vec<Point>,
    whole: Option<Record>,
}

impl Study<'_> {
    /// Writes everything once from the first host.
    fn fill(&mut self) -> Result<(), Failure> {
        let prepare = self.running.suite.prepare.clone();
        if prepare.n_fills == 0 {
            return Ok(());
        }
        let plan = driver::parse(&jobs::fill(&prepare, &self.site))?;
        self.stage(&plan, 1, &[("fill".to_owned(), 0)], StepPurpose::Prepare)
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
        let record = self.hosts.measure_by(&mut self.session, plan, n_hosts);
        let record = record.map_err(NotCarried::failure)?;
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
