//! Loads that hosts carry one after another, by agents that stay connected.

use fleet::controller::LossPolicy;
use fleet::launch::Launcher;
use fleet::run::{FleetError, FleetEvent, Series, Who};
use fleet::stops::Stops;
use plan::Plan;
use record::{Outcome, Record};
use runner::RunOptions;

use super::execute::Session;
use super::hosts::{self, HostsArgs};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Hosts that carry one load after another together.
#[derive(Debug)]
pub(super) struct HostsLoad<'a> {
    series: Series<'a>,
    launcher: &'a Launcher,
    options: &'a RunOptions,
    /// The first loss ends all.
    ends_at_loss: bool,
    /// Which that was.
    lost: Option<String>,
}

/// Why a load was not carried.
#[derive(Debug)]
pub(super) enum NotCarried {
    /// It cannot be divided, or given to hosts.
    Plan(Failure),
    /// No host ran anything.
    Hosts(FleetError),
    /// A host was lost before, which was to end all.
    Lost(String),
}

impl NotCarried {
    /// Returns it as what ends a command that has measured nothing.
    pub(super) fn failure(self) -> Failure {
        match self {
            NotCarried::Plan(failure) => failure,
            NotCarried::Hosts(error) => hosts::failure(error),
            NotCarried::Lost(words) => Failure::wrong_use(words).with(Exit::Invalid),
        }
    }

    /// Returns why nothing more is measured, in one line.
    pub(super) fn words(&self) -> String {
        match self {
            NotCarried::Plan(failure) => failure.message().to_owned(),
            NotCarried::Hosts(FleetError::Refused(hosts)) => {
                let words = hosts.iter().flat_map(|(host, findings)| {
                    findings.iter().map(move |finding| format!("`{host}`: {finding}"))
                });
                words.collect::<Vec<_>>().join("; ")
            }
            NotCarried::Hosts(error) => error.to_string(),
            NotCarried::Lost(words) => words.clone(),
        }
    }
}

impl<'a> HostsLoad<'a> {
    /// Begins with no load. A host that is lost ends the load that is carried, and is called again
    /// for the next one.
    pub(super) fn new(
        args: &HostsArgs,
        launcher: &'a Launcher,
        options: &'a RunOptions,
    ) -> Result<Self, Failure> {
        let series = Series::new(launcher, LossPolicy::Abort).map_err(hosts::failure)?;
        let ends_at_loss = args.on_loss == LossPolicy::Abort;
        Ok(HostsLoad { series, launcher, options, ends_at_loss, lost: None })
    }

    /// Does the same where a host that is lost ends all, once the others have ended what they do.
    pub(super) fn of_study(
        args: &HostsArgs,
        launcher: &'a Launcher,
        options: &'a RunOptions,
    ) -> Result<Self, Failure> {
        let series = Series::new(launcher, args.on_loss).map_err(hosts::failure)?;
        Ok(HostsLoad { series, launcher, options, ends_at_loss: false, lost: None })
    }

    /// Returns how many hosts there are.
    pub(super) fn n_hosts(&self) -> usize {
        self.launcher.n_agents()
    }

    /// Has the hosts carry a load together, and judges what came out.
    pub(super) fn measure(
        &mut self,
        session: &mut Session,
        plan: &Plan,
    ) -> Result<Record, NotCarried> {
        if let Some(words) = &self.lost {
            return Err(NotCarried::Lost(words.clone()));
        }
        let record = self.measure_by(session, plan, self.n_hosts())?;
        if self.ends_at_loss && record.outcome == Outcome::Partial {
            self.lost = Some(record.losses_text());
        }
        Ok(record)
    }

    /// Has the first hosts carry a load together, up to so many. The others stay, and rest.
    pub(super) fn measure_by(
        &mut self,
        session: &mut Session,
        plan: &Plan,
        n_hosts: usize,
    ) -> Result<Record, NotCarried> {
        let assignment =
            hosts::assignment_of(n_hosts, plan, self.options, true).map_err(NotCarried::Plan)?;
        let series = &mut self.series;
        let mut names = self.launcher.names();
        names.truncate(n_hosts);
        let mut run = |stops: &Stops, on_event: &mut dyn FnMut(FleetEvent<'_>)| {
            series.run_by(Who::First(n_hosts), &assignment, stops, on_event)
        };
        session.measure_by(names, plan, &mut run).map_err(NotCarried::Hosts)
    }

    /// Removes the file of a plan from all hosts that are left.
    pub(super) fn remove(&mut self, plan: &Plan) {
        let assignment = hosts::assignment_of(self.n_hosts(), plan, self.options, false);
        let mut remove = |assignment| {
            self.series.run_by(Who::Left, &assignment, &Stops::new(), &mut |_| {}).ok()
        };
        let removed = assignment.ok().and_then(&mut remove);
        if removed.is_none() {
            let path = plan.jobs().flat_map(|job| &job.files.names).next().map_or("", |it| it);
            stream::print_message(&format!("warning: `{path}` is left on the hosts\n"));
        }
    }
}

/// Refuses to go on with fewer hosts than there are.
pub(super) fn refuse_fewer(args: &HostsArgs) -> Result<(), Failure> {
    let LossPolicy::AtLeast(n) = args.on_loss else { return Ok(()) };
    let text = format!("`--on-loss {n}` goes on with fewer hosts, and this asks for all");
    Err(Failure::wrong_use(text)
        .hint("write `continue`: a host that is lost is called again, or `abort`"))
}
