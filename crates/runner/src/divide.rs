//! What one of several hosts does of a load.
//!
//! Where the load is divided, each host has the whole sequence of operations, which follows from
//! plan and seeds, and issues every nth of them ([`plan::load::Share`]): every operation is
//! issued by one host. Rates are divided; queue depths are each host's own, since there are several
//! to keep a volume busy.
//!
//! Pure: nothing of the host is asked for.

use pattern::{Stream, derive};
use plan::load::{Load, Rate, Share};
use plan::{Diagnostic, Direction, Job, Plan};

/// Returns a host's part of a plan.
///
/// # Errors
/// What cannot be divided, and what to do instead: trees and records to replay, whose workers share
/// what they do already, rates of parts, and rates below one operation per host.
pub fn divide(plan: &Plan, share: Share) -> Result<Plan, Vec<Diagnostic>> {
    assert!(share.idx < share.n, "host {} of {}", share.idx, share.n);
    let mut plan = plan.clone();
    let mut findings = Vec::new();
    for job in plan.jobs_mut() {
        if let Err(why) = divide_job(job, share) {
            findings.push(
                Diagnostic::error("divided", format!("job `{}` {why}", job.name))
                    .help("leave out --split: each host then runs the whole job"),
            );
        }
    }
    if findings.is_empty() { Ok(plan) } else { Err(findings) }
}

/// Lets a host that runs the whole plan draw numbers of its own, so that several do not ask for the
/// same blocks at the same time. Those of the first host are the plan's.
pub fn draw_apart(plan: &mut Plan, host_idx: u32) {
    for job in plan.jobs_mut().filter(|_| host_idx > 0) {
        job.workload.seed = derive(job.workload.seed, Stream::Host, u64::from(host_idx));
    }
}

/// Makes the load of a job a host's part of it, or says why there is none.
fn divide_job(job: &mut Job, host: Share) -> Result<(), String> {
    if job.tree.is_some() {
        return Err("works on a tree of files, which is not divided among hosts".to_owned());
    }
    if !job.logs.read_replay.is_empty() {
        return Err("replays a record, which is not divided among hosts".to_owned());
    }
    if job.parts.iter().any(|part| part.rate_iops.is_some()) {
        return Err("has parts with rates of their own, which are not divided".to_owned());
    }
    let Load {
        share,
        spreads,
        rate,
        rate_min,
        rate_total_iops,
        // In proportion to the total.
        rate_periods: _,
        // Each host's own. Every field is named, so that a new one is decided.
        queue_depth: _,
        spread_workers_max: _,
        n_deeper: _,
        walks_together: _,
        submit_batch: _,
        complete_min: _,
        complete_max: _,
        queue_depth_low: _,
        rate_cycle_ns: _,
        arrivals: _,
        rate_closed: _,
        rate_ignores_think_time: _,
        think: _,
        latency_target: _,
        latency_max_ns: _,
        flow: _,
        offload: _,
        serialize_overlap: _,
        last_io_waits: _,
    } = &mut job.load;
    *share = host;
    // Hosts with more processors would have another sequence.
    *spreads = false;
    for dir in Direction::ALL {
        rate[dir] = rate[dir].map(|it| of_rate(it, host)).transpose()?;
        rate_min[dir] = rate_min[dir].map(|it| of_rate(it, host)).transpose()?;
    }
    *rate_total_iops = rate_total_iops.map(|iops| iops / f64::from(host.n));
    Ok(())
}

fn of_rate(rate: Rate, share: Share) -> Result<Rate, String> {
    let (total, part) = match rate {
        Rate::Bytes(bytes_per_s) => (bytes_per_s, Rate::Bytes(share.of(bytes_per_s))),
        Rate::Iops(iops) => (iops, Rate::Iops(share.of(iops))),
    };
    if total < u64::from(share.n) {
        return Err(format!("has a rate of {total}, too low for {} hosts", share.n));
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use plan::job::Part;
    use plan::{PerDir, Step};

    use super::*;

    fn plan_of(change: impl FnOnce(&mut Job)) -> Plan {
        let mut job = Job { name: "a".to_owned(), ..Job::default() };
        change(&mut job);
        Plan { steps: vec![Step { jobs: vec![job], ..Step::default() }], ..Plan::default() }
    }

    #[test]
    fn rates_of_all_hosts_are_the_rate() {
        let plan = plan_of(|job| {
            job.load.rate =
                PerDir { read: Some(Rate::Iops(1000)), write: Some(Rate::Bytes(7)), trim: None };
        });
        let of = |idx| {
            let part = divide(&plan, Share { idx, n: 3 }).expect("it can be divided");
            part.steps[0].jobs[0].load.rate
        };
        let rates: Vec<(Option<Rate>, Option<Rate>)> =
            (0..3).map(|idx| (of(idx).read, of(idx).write)).collect();
        let expected = |iops, bytes| (Some(Rate::Iops(iops)), Some(Rate::Bytes(bytes)));
        assert_eq!(rates, [expected(334, 3), expected(333, 2), expected(333, 2)]);
    }

    #[test]
    fn what_cannot_be_divided_says_why() {
        let refused = |change: fn(&mut Job)| {
            let findings = divide(&plan_of(change), Share { idx: 0, n: 3 }).expect_err("refused");
            findings[0].message.clone()
        };
        assert_eq!(
            refused(|job| job.load.rate.read = Some(Rate::Iops(2))),
            "job `a` has a rate of 2, too low for 3 hosts"
        );
        let message = refused(|job| {
            let part = Part { rate_iops: Some(10.0), ..Part::default() };
            job.parts = vec![part.clone(), part];
        });
        assert!(message.contains("parts with rates"), "{message}");
    }
}
