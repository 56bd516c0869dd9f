//! Rates and shares of several jobs on one tree.

use plan::load::{Arrivals, Flow};
use plan::op::OpKind;
use plan::tree::{Activity, FileIo, FileSizes, TreeSpec, TreeTask};

use crate::bench::{Bench, FORMAT, fine, n_done, task};

/// Checks the shares of three jobs that ask for 60, 30 and 10 %.
#[track_caller]
fn check_shares(counts: [u64; 3]) {
    let total: u64 = counts.iter().sum();
    for (n, asked_pct) in counts.iter().zip([60.0, 30.0, 10.0]) {
        let seen_pct = *n as f64 * 100.0 / total as f64;
        assert!((seen_pct - asked_pct).abs() < 2.0, "{asked_pct} %: {seen_pct} of {counts:?}");
    }
}

#[test]
fn shares_hold_as_fast_as_it_goes() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let of = |operation: OpKind, n_workers: u32, share: u32| {
        let mut job =
            bench.job(operation.name(), n_workers, Activity::Operations(vec![task(operation)]));
        let weight = share * 100 / n_workers;
        job.load.flow = Some(Flow { id: 1, weight, sleep_ns: 0, slack_ios: 16 });
        job.limits.runtime_ns = Some(1_000_000_000);
        job
    };
    let jobs = vec![of(OpKind::Read, 3, 60), of(OpKind::Stat, 1, 30), of(OpKind::Write, 2, 10)];
    let record = bench.run(jobs);
    fine(&record);
    let kinds = [OpKind::Read, OpKind::Stat, OpKind::Write];
    check_shares(std::array::from_fn(|idx| n_done(&record.jobs[idx], kinds[idx])));
}

#[test]
fn a_rate_is_kept_and_divided() {
    let bench = Bench::new();
    fine(&bench.format(FORMAT));
    let of = |operation: OpKind, iops: f64| {
        let mut job = bench.job(operation.name(), 2, Activity::Operations(vec![task(operation)]));
        job.load.rate_total_iops = Some(iops);
        job.load.arrivals = Arrivals::Linear;
        job.limits.runtime_ns = Some(2_000_000_000);
        job
    };
    let jobs = vec![of(OpKind::Read, 600.0), of(OpKind::Stat, 300.0), of(OpKind::Write, 100.0)];
    let record = bench.run(jobs);
    fine(&record);
    let kinds = [OpKind::Read, OpKind::Stat, OpKind::Write];
    let counts = std::array::from_fn(|idx| n_done(&record.jobs[idx], kinds[idx]));
    check_shares(counts);
    let total: u64 = counts.iter().sum();
    // Due in two seconds; the last ones may be late by a busy machine's scheduling.
    assert!(total <= 2004 && total > 1800, "{counts:?}");
}

#[test]
fn a_rate_is_done_by_those_that_have_a_file() {
    let bench = Bench::new();
    let spec = TreeSpec {
        depth: 1,
        width: 1,
        files: 1,
        sizes: FileSizes::Fixed(65_536),
        ..bench.spec.clone()
    };
    let bench = Bench { spec, ..bench };
    fine(&bench.format(FORMAT));
    for io in
        [FileIo::Random { shared: false }, FileIo::Sequential { nonzero: false, delete: false }]
    {
        let read = TreeTask { io, ..task(OpKind::Read) };
        let mut job = bench.job("read", 8, Activity::Operations(vec![read]));
        job.load.rate_total_iops = Some(400.0);
        job.load.arrivals = Arrivals::Poisson;
        job.limits.runtime_ns = Some(2_000_000_000);
        let record = bench.run(vec![job]);
        let n_ios = n_done(fine(&record), OpKind::Read);
        // 800 are due, and a hundred of them by the one worker that holds the file.
        assert!(n_ios > 600 && n_ios < 1000, "{n_ios} by {io:?}");
    }
}
