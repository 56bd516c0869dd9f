//! The inspection of hosts over their connections.

use std::time::Duration;

use tokio::sync::mpsc::channel;

use super::facts::ClockReading;
use super::state::{HostReport, Inspection};
use crate::controller::{Action, Event, News};
use crate::crew::{Crew, Reach};
use crate::hosts::Host;
use crate::launch::ssh::Ssh;
use crate::monotonic_ns;
use crate::net::controller::serve;
use crate::run::{EVENTS, FleetError, JOIN_NS, LEAVE, allow_open_files};
use crate::stops::Stops;
use crate::wire::Inspect;

/// What is to be looked at.
#[derive(Debug)]
pub struct Checkup {
    /// How hosts are called.
    pub ssh: Ssh,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// What each is asked.
    pub request: Inspect,
}

/// Looks at all hosts at once, until all have answered, or `stops` asks for the end.
///
/// # Errors
/// Where this host cannot call so many.
pub fn inspect(
    checkup: &Checkup,
    stops: &Stops,
    on_news: &mut dyn FnMut(&News, &[String]),
) -> Result<Vec<HostReport>, FleetError> {
    allow_open_files(checkup.hosts.len())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(FleetError::Wait)?;
    let reports = runtime.block_on(drive(checkup, stops, on_news));
    runtime.shutdown_background();
    Ok(reports)
}

async fn drive(
    checkup: &Checkup,
    stops: &Stops,
    on_news: &mut dyn FnMut(&News, &[String]),
) -> Vec<HostReport> {
    let (net, events) = channel(EVENTS);
    let (connections, incoming) = channel(EVENTS);
    let serving = tokio::spawn(serve(incoming, net));
    let mut crew = Crew::call(Reach::Ssh(&checkup.ssh, &checkup.hosts), connections, events);
    let n_hosts = checkup.hosts.len();
    let request = checkup.request.clone();
    let mut inspection = Inspection::new(n_hosts, request, monotonic_ns(), JOIN_NS);
    'look: loop {
        let wait_ns = inspection.due_ns().saturating_sub(monotonic_ns());
        let event = tokio::select! {
            () = stops.beyond(0) => Event::Stop,
            event = crew.next(Duration::from_nanos(wait_ns)) => event.unwrap_or(Event::Due),
        };
        for action in inspection.take(event, monotonic_ns()) {
            match action {
                Action::Send(idx, kind) => crew.send(idx, kind),
                Action::Tell(news) => on_news(&news, &crew.names),
                Action::Finish => break 'look,
            }
        }
    }
    let reports = inspection.reports(&crew.names, ClockReading::now());
    crew.leave(&serving, LEAVE).await;
    reports
}
