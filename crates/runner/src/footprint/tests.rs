//! Figures worked out by hand.

use std::path::PathBuf;
use std::sync::Arc;

use engine::FileKind;
use plan::PerDir;
use plan::workload::Access;
use worker::FileRegion;

use super::*;
use crate::bind::BoundFile;

const MIB: u64 = 1 << 20;

fn worker(job: &Job, region: (u64, u64), moved_bytes: u64) -> (BoundWorker, Arc<Meters>) {
    let file = BoundFile {
        path: PathBuf::from("/mnt/a"),
        kind: FileKind::Regular,
        region: FileRegion { offset_bytes: region.0, len_bytes: region.1 },
        size_bytes: 1 << 40,
        read_only: false,
        rest_bytes: 0,
    };
    let job = Arc::new(job.clone());
    let meters = Meters::of(&job);
    meters.dir(Direction::Read).bytes_live.store(moved_bytes, Relaxed);
    let bound =
        BoundWorker { job, worker_idx: 0, files: vec![file], amount_bytes: region.1, seed: 1 };
    (bound, meters)
}

/// Checks what workers touch, each with its region and what it moved.
#[track_caller]
fn check(job: &Job, workers: &[((u64, u64), u64)], addressed: u64, touched: Option<u64>) {
    let workers: Vec<_> =
        workers.iter().map(|(region, moved)| worker(job, *region, *moved)).collect();
    let found = of_step(workers.iter().map(|(bound, meters)| (bound, meters.as_ref())));
    assert_eq!(found, Footprint { addressed_bytes: Some(addressed), touched_bytes: touched });
}

fn job(random: bool, no_repeats: bool) -> Job {
    let mut job = Job::default();
    job.workload.access = Access { random, ..Access::READ };
    job.workload.no_repeats = no_repeats;
    job
}

#[test]
fn what_goes_in_order_touches_what_it_moved() {
    let walk = job(false, true);
    check(&walk, &[((0, 8 * MIB), 3 * MIB)], 8 * MIB, Some(3 * MIB));
    check(&walk, &[((0, 8 * MIB), 30 * MIB)], 8 * MIB, Some(8 * MIB));
    // Two on the same region read the same; on different ones, other bytes.
    check(&walk, &[((0, 8 * MIB), 3 * MIB), ((0, 8 * MIB), 5 * MIB)], 8 * MIB, Some(5 * MIB));
    check(&walk, &[((0, MIB), MIB), ((MIB, MIB), MIB)], 2 * MIB, Some(2 * MIB));
    // Half of each lies in the other.
    check(&walk, &[((0, 2 * MIB), 2 * MIB), ((MIB, 2 * MIB), 2 * MIB)], 3 * MIB, Some(3 * MIB));
}

#[test]
fn what_is_drawn_at_random_comes_back() {
    check(&job(true, true), &[((0, 8 * MIB), 4 * MIB)], 8 * MIB, Some(4 * MIB));
    // As much as there is, drawn with repeats, leaves 1/e.
    let left = (-1.0_f64).exp();
    let touched = (8.0 * MIB as f64 * (1.0 - left)).round() as u64;
    check(&job(true, false), &[((0, 8 * MIB), 8 * MIB)], 8 * MIB, Some(touched));
    // Two that visit half of it each, every block once: three quarters.
    let half = ((0, 8 * MIB), 4 * MIB);
    check(&job(true, true), &[half, half], 8 * MIB, Some(6 * MIB));
}

#[test]
fn what_a_plan_does_not_says_is_unknown() {
    let mut zipf = job(true, false);
    zipf.workload.distribution = PerDir::all(Distribution::Zipf { theta: 1.2, centre: None });
    check(&zipf, &[((0, 8 * MIB), MIB)], 8 * MIB, None);
    // Nothing moved is nothing touched.
    check(&zipf, &[((0, 8 * MIB), 0)], 8 * MIB, Some(0));
    let mut parts = job(true, false);
    parts.parts = vec![plan::job::Part::default(); 2];
    check(&parts, &[((0, 8 * MIB), MIB)], 8 * MIB, None);
    assert_eq!(of_step(std::iter::empty()), Footprint::default());
}

#[test]
fn what_a_plan_does_not_says_is_counted() {
    let mut zipf = job(true, false);
    zipf.workload.distribution = PerDir::all(Distribution::Zipf { theta: 1.2, centre: None });
    let counts = |job: &Job| {
        let (bound, meters) = worker(job, (0, 8 * MIB), 0);
        counting(meters, &bound).touched().map(Touched::block_bytes)
    };
    assert_eq!(counts(&zipf), Some(4096));
    zipf.workload.block_align = PerDir::all(Some(512));
    assert_eq!(counts(&zipf), Some(512));
    let mut parts = job(true, false);
    parts.parts = vec![plan::job::Part::default(); 2];
    assert_eq!(counts(&parts), Some(4096));
    for no_repeats in [false, true] {
        assert_eq!(counts(&job(true, no_repeats)), None);
        assert_eq!(counts(&job(false, no_repeats)), None);
    }
}
