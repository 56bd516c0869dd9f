//! Meters that follow when they are asked for say what those say that follow every batch.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plan::op::OpKind;
use plan::{Direction, Job};
use worker::{Meters, NoData};

use crate::common::{Sim, job, worker_of};

/// Runs a job; returns its meters, and the samples of bandwidth and IOPS. Meters gather for so
/// long.
fn run(job: Job, gathers_ns: u64) -> (Arc<Meters>, String) {
    let (mut worker, meters) = worker_of(job, 64 << 20, 32);
    worker.gather_meters(gathers_ns);
    let mut sim = Sim::new(70_000);
    sim.stall = Some((3_000_000, 9_000_000));
    sim.run(&mut worker, &mut NoData);
    if gathers_ns == u64::MAX {
        worker.publish();
    }
    (meters, format!("{:?}", worker.samples()))
}

#[track_caller]
fn check(change: impl Fn(&mut Job)) {
    let make = || {
        let mut job = job(OpKind::Read, true, 16);
        job.workload.access.write = true;
        job.reporting.bandwidth_sample_ms = 2;
        change(&mut job);
        job
    };
    for gathers_ns in [1_000, 200_000, 1_000_000_000, u64::MAX] {
        is_the_same(run(make(), 0), run(make(), gathers_ns));
    }
}

#[track_caller]
fn is_the_same(now: (Arc<Meters>, String), later: (Arc<Meters>, String)) {
    let ((now, now_samples), (later, later_samples)) = (now, later);
    assert_eq!(now_samples, later_samples);
    for dir in Direction::ALL {
        let (now, later) = (now.dir(dir), later.dir(dir));
        for (a, b) in [
            (&now.n_ios, &later.n_ios),
            (&now.bytes, &later.bytes),
            (&now.n_ios_live, &later.n_ios_live),
            (&now.bytes_live, &later.bytes_live),
            (&now.runtime_ns, &later.runtime_ns),
        ] {
            assert_eq!(a.load(Relaxed), b.load(Relaxed));
        }
        assert_eq!(now.slat.snapshot(), later.slat.snapshot());
        assert_eq!(now.clat.snapshot(), later.clat.snapshot());
        assert_eq!(now.lat.snapshot(), later.lat.snapshot());
        assert_eq!(now.response.snapshot(), later.response.snapshot());
    }
    assert!(later.dir(Direction::Read).n_ios.load(Relaxed) > 100, "there is something to count");
}

#[test]
fn meters_that_follow_later_say_the_same() {
    check(|_| {});
    check(|job| job.limits.ramp_ns = 5_000_000);
    check(|job| job.limits.ramp_bytes = 3 << 20);
    check(|job| job.load.rate.read = Some(plan::load::Rate::Iops(50_000)));
    check(|job| job.reporting.disable_clat = true);
}
