//! One rate for all jobs of a step, some parts of which have rates of their own.

use crate::Job;
use crate::job::Part;

/// The rate of a job that has none left, I/Os per second: its first I/O is due in about 30 years.
/// A job without a rate would go as fast as it can.
pub const IDLE_RATE_IOPS: f64 = 1e-9;

/// The least rate that a plan can ask for, I/Os per second: an I/O in 17 minutes.
pub const RATE_IOPS_MIN: f64 = 0.001;

/// The largest.
pub const RATE_IOPS_MAX: f64 = 1e9;

/// Divides a rate among the jobs of a step. Parts with rates of their own come first, by their
/// priority, and get no more than what is left; the others share the rest by their weights.
///
/// # Panics
/// If there is no rate to divide, or a part's rate or weight is below 0.
pub fn divide(jobs: &mut [Job], rate_iops: f64) {
    assert!(rate_iops >= 0.0 && rate_iops.is_finite(), "{rate_iops} I/Os per second are divided");
    for Part { name, weight, rate_iops, .. } in jobs.iter().flat_map(|job| &job.parts) {
        assert!(*weight >= 0.0, "the part `{name}` has the weight {weight}");
        assert!(
            rate_iops.is_none_or(|own| own >= 0.0),
            "the part `{name}` has the rate {rate_iops:?}"
        );
    }
    let own = |part: &&Part| part.rate_iops.is_some();
    let parts = || jobs.iter().flat_map(|job| &job.parts);
    let mut priorities: Vec<u32> = parts().filter(own).map(|part| part.priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    let weight_sum: f64 = parts().filter(|part| !own(part)).map(|part| part.weight).sum();
    let mut left_iops = rate_iops;
    let factors: Vec<(u32, f64)> = priorities
        .into_iter()
        .map(|priority| {
            let asked = parts().filter(|part| part.priority == priority);
            let asked: f64 = asked.filter_map(|part| part.rate_iops).sum();
            let given = asked.min(left_iops);
            left_iops -= given;
            (priority, if asked > 0.0 { given / asked } else { 0.0 })
        })
        .collect();
    for job in jobs {
        let mut of_job = 0.0;
        for part in &mut job.parts {
            let factor = factors.iter().find(|(priority, _)| *priority == part.priority);
            of_job += match (&mut part.rate_iops, factor) {
                (Some(own), Some((_, factor))) => {
                    *own *= factor;
                    *own
                }
                _ if weight_sum > 0.0 => left_iops * part.weight / weight_sum,
                _ => 0.0,
            };
            part.rate_iops = part.rate_iops.filter(|own| *own > 0.0);
        }
        job.load.rate_total_iops = Some(of_job.max(IDLE_RATE_IOPS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rate_iops: Option<f64>, priority: u32, weight: f64) -> Part {
        Part { weight, rate_iops, priority, ..Part::default() }
    }

    /// Two jobs: one with a part at 300 and one that shares, one with a part at 100.
    fn check(rate_iops: f64, totals: [f64; 2], own: [Option<f64>; 2]) {
        let rated = part(Some(300.0), 1, 1.0);
        let first = Job { parts: vec![rated, part(None, 3, 0.5)], ..Job::default() };
        let second = Job { parts: vec![part(Some(100.0), 2, 1.0)], ..Job::default() };
        let mut jobs = [first, second];
        divide(&mut jobs, rate_iops);
        let found = jobs.each_ref().map(|job| job.load.rate_total_iops);
        assert_eq!(found, totals.map(Some), "{rate_iops}");
        assert_eq!(jobs.map(|job| job.parts[0].rate_iops), own, "{rate_iops}");
    }

    #[test]
    fn a_rate_bounds_those_of_parts_the_least_urgent_first() {
        check(1000.0, [900.0, 100.0], [Some(300.0), Some(100.0)]);
        check(400.0, [300.0, 100.0], [Some(300.0), Some(100.0)]);
        check(350.0, [300.0, 50.0], [Some(300.0), Some(50.0)]);
        check(200.0, [200.0, IDLE_RATE_IOPS], [Some(200.0), None]);
    }
}
