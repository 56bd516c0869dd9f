//! What single hosts do to a measurement that several make together.

use record::{HostShareRecord, Outcome, Record};

/// How much later or earlier than the others a host may begin although there is no ramp, before
/// anything is measured, in which it does not matter. As what is called late of a run.
const START_ERROR_NS_MAX: u64 = 5_000_000;

/// Returns why a run of one step counts for nothing, whatever it shows: a host was lost, or began
/// when the others were measured already; then less was asked of the volume than the load.
pub fn spoiled(run: &Record, ramp_ns: u64) -> Option<String> {
    lost(run).or_else(|| late(run, ramp_ns))
}

fn lost(run: &Record) -> Option<String> {
    let is_lost = |host: &&HostShareRecord| host.lost.is_some();
    let mut hosts = run.hosts.iter().filter(is_lost);
    let first = hosts.next()?;
    let reason = &first.lost.as_ref()?.reason;
    let more = match hosts.count() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Some(format!("`{}` was lost{more}: {reason}", first.name))
}

fn late(run: &Record, ramp_ns: u64) -> Option<String> {
    let limit_ns = ramp_ns.max(START_ERROR_NS_MAX);
    let error_ns = |host: &HostShareRecord| {
        host.starts.iter().map(|start| start.start_error_ns.unsigned_abs()).max()
    };
    let of_hosts = run.hosts.iter().filter_map(|host| Some((host, error_ns(host)?)));
    let (host, error_ns) = of_hosts.max_by_key(|(_, error_ns)| *error_ns)?;
    let error_ms = error_ns as f64 / 1e6;
    (error_ns > limit_ns)
        .then(|| format!("`{}` began beside the others: {error_ms:.0} ms off", host.name))
}

/// Lets a run that counts for nothing stand among those that do: that a host was lost in it says
/// nothing of them.
pub fn leave_behind(run: &mut Record) {
    if run.outcome != Outcome::Partial {
        return;
    }
    run.outcome = Outcome::Complete;
    for host in &mut run.hosts {
        host.lost = None;
        host.record.outcome = Outcome::Complete;
    }
}
