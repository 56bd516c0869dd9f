//! `plimsoll bench --need` with `--hosts` or `--agents`: is the volume good enough for several
//! hosts together?
//!
//! The hosts offer the rate of a need together, each its part of it, over one file or device that
//! they share.

use bench::suite::rows::Running;
use runner::RunOptions;

use super::super::dial_in::Source;
use super::super::execute::Session;
use super::super::existing::{self, ReadOnly};
use super::super::hosts_load::{HostsLoad, refuse_fewer};
use super::super::scratch::Scratch;
use super::driver::{self, Driven, Driver};
use super::sites::{self, SiteKind, Sites};
use super::{Args, page, scale_out};
use crate::exit::{Exit, Failure};
use crate::sink::Sink;
use crate::stream;

/// Answers the needs.
pub(super) fn run(args: &Args, options: &RunOptions, source: Source<'_>) -> Result<Exit, Failure> {
    let mut running = super::running(args)?;
    let target = scale_out::target(args, &running.suite, source.option())?;
    let (mut sites, is_ours) = sites(args, &mut running, target)?;
    let mut sink = Sink::open_of_run(args.result.output.as_deref(), args.safety.readonly)?;
    page::check(args.report.as_deref(), args.safety.readonly)?;
    refuse_fewer(&args.hosts)?;
    let launcher = source.open()?;
    let hosts = HostsLoad::new(&args.hosts, &launcher, options)?;
    let n_hosts = hosts.n_hosts();
    let plan = driver::plan_of(&running.steps, &sites.list, 0)?;
    let left_ns = running.suite.time_max_ns(&running.steps);
    let from = format!(" from {n_hosts} hosts");
    stream::remark("", &super::headline(&running, &sites, &from));
    let about = format!("{target}: {}, {n_hosts} hosts", running.suite.name);
    let removal = is_ours.then(|| scale_out::removal(&sites.list[0])).transpose()?;
    let driver = Driver {
        session: Session::begin_series(&plan, options, &args.result, &about)?,
        options,
        sites: &mut sites,
        running,
        needs: &args.need,
        hosts: Some(hosts),
        may_discard: false,
        whole: None,
        notes: Vec::new(),
        left_ns,
    };
    let Driven { session, record, ran, hosts } = driver.driven();
    // Where no host began, there is nothing to remove.
    if let (Some(mut hosts), Some(plan), true) = (hosts, removal, record.is_some()) {
        hosts.remove(&plan);
    }
    super::report(&super::finish(session, record, ran)?, args, &mut sink)
}

/// Returns what the hosts share, and whether it is a file of ours. What may not be written to is
/// not filled.
fn sites(args: &Args, running: &mut Running, target: &str) -> Result<(Sites, bool), Failure> {
    let (site, kind) = sites::on_hosts(&running.suite, target)?;
    let is_ours = kind != SiteKind::Device;
    if args.safety.readonly && is_ours {
        return Err(Scratch::refused());
    }
    let mut read_only = None;
    if !existing::may_write(is_ours, args.overwrite) {
        let why = if args.safety.readonly { ReadOnly::Asked } else { ReadOnly::Kept };
        super::refuse_writes(&args.need, why)?;
        running.suite.prepare.n_fills = 0;
        read_only = Some(why);
    }
    let sites = Sites { list: vec![site], kinds: vec![kind], scratch: Vec::new(), read_only };
    Ok((sites, is_ours))
}
