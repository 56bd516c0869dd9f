//! What a wrong caller within the crate meets: each check that stays on in release, failed on
//! purpose, unless the module has tests of its own.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;

use engine::FileKind;
use plan::files::LockFile;
use plan::job::AmountMax;
use plan::load::{SteadyMetric, SteadyState};
use plan::{Direction, Job, Plan, Step};
use worker::{ErrorBudget, FileRegion, Meters, SharedWalks};

use crate::amount::AmountWatch;
use crate::bind::{BoundFile, BoundPlan, BoundStep, BoundWorker};
use crate::claims::Claims;
use crate::clock::Clock;
use crate::context::StepContext;
use crate::control::Control;
use crate::emulation::Placement;
use crate::file_locks::FileLocks;
use crate::logs::LogSetup;
use crate::options::RunOptions;
use crate::overlaps::Overlaps;
use crate::prepare::WaitsForOthers;
use crate::run::check_whole;
use crate::running::Running;
use crate::seat::{Seat, SeatState, Shared};
use crate::series::SeriesSampler;
use crate::so_far::RunSoFar;
use crate::spread;
use crate::status::IntervalSampler;
use crate::steady::SteadyWatch;
use crate::worker_event::WorkerEvent;

/// A worker of a job on the file `/a/f`.
fn bound(change: impl FnOnce(&mut Job)) -> BoundWorker {
    let mut job = Job { name: "j".to_owned(), ..Job::default() };
    change(&mut job);
    let region = FileRegion { offset_bytes: 0, len_bytes: 4096 };
    let (path, kind) = ("/a/f".into(), FileKind::Regular);
    let file = BoundFile { path, kind, region, size_bytes: 4096, read_only: false, rest_bytes: 0 };
    let (job, files) = (Arc::new(job), vec![file]);
    BoundWorker { job, worker_idx: 0, files, amount_bytes: 4096, seed: 1 }
}

#[test]
fn what_is_shared_by_path_knows_the_file() {
    let locking = bound(|job| job.files.lock = LockFile::Exclusive);
    let serial = bound(|job| (job.load.offload, job.load.serialize_overlap) = (true, true));
    let step = BoundStep { workers: vec![locking.clone(), serial.clone()] };
    assert!(FileLocks::new(&step).of(&locking).is_some());
    assert!(Overlaps::new(&step).of(&serial).is_some());
    let other = BoundStep::default();
    testing::check_wrong_calls(&[
        ("a lock", "`/a/f` is locked in another step", &|| {
            drop(FileLocks::new(&other).of(&locking));
        }),
        ("ranges", "I/O on `/a/f` waits for that of another step", &|| {
            drop(Overlaps::new(&other).of(&serial));
        }),
        ("a place", "`/a/f` was placed on no volume", &|| {
            drop(Placement::default().of(&serial));
        }),
    ]);
}

#[test]
fn a_plan_is_bound_whole_and_divided_as_far_as_it_goes() {
    let plan = |n_workers| {
        let job = Job { n_workers, ..Job::default() };
        Plan { steps: vec![Step { jobs: vec![job], ..Step::default() }], ..Plan::default() }
    };
    let one = BoundPlan { steps: vec![Arc::new(BoundStep { workers: vec![bound(|_| {})] })] };
    let divide = |n| {
        let mut job = Job::default();
        job.load.queue_depth = 4;
        spread::divide(&mut job, n);
        job
    };
    testing::check_wrong_calls(&[
        ("a step is left out", "0 steps are bound of a plan of 1", &|| {
            check_whole(&plan(1), &BoundPlan::default());
        }),
        ("a worker is left out", "1 workers are bound of a plan of 2", &|| {
            check_whole(&plan(2), &one);
        }),
        ("a worker without I/O", "a queue of 4 is divided among 5 workers", &|| _ = divide(5)),
        ("no worker", "a queue of 4 is divided among 0 workers", &|| _ = divide(0)),
        ("divided twice", "a queue is divided once", &|| spread::divide(&mut divide(3), 1)),
    ]);
    check_whole(&plan(1), &one);
}

#[test]
fn time_and_counters_go_forward() {
    let meters = Meters::new();
    let reads = |n_ios: u64| {
        let reads = meters.dir(Direction::Read);
        for counter in [&reads.n_ios_live, &reads.n_ios, &reads.bytes_live, &reads.bytes] {
            counter.store(n_ios, Relaxed);
        }
    };
    let sampler = |now_ns| IntervalSampler::new(vec![Arc::clone(&meters)], [false; 3], now_ns);
    let (detailed, amount_max) =
        (bound(|_| {}), AmountMax { read_bytes: 1 << 40, ..AmountMax::default() });
    let spec = SteadyState {
        metric: SteadyMetric::Iops,
        by_slope: false,
        limit: 1.0,
        limit_is_pct: true,
        window_ns: 4_000,
        ramp_ns: 0,
        check_interval_ns: 1_000,
    };
    testing::check_wrong_calls(&[
        ("an interval that ends first", "an interval from 9 ns on ends at 8 ns", &|| {
            sampler(9).sample(8, 0, 0);
        }),
        ("an interval of no run", "ends at 9 ns, and the run began at 10 ns", &|| {
            sampler(8).sample(9, 10, 0);
        }),
        ("fewer I/Os", "(5, 5) I/Os and bytes were done, and now (4, 4)", &|| {
            let mut sampler = sampler(0);
            reads(5);
            sampler.sample(1_000_000, 0, 0);
            reads(4);
            sampler.sample(2_000_000, 0, 0);
        }),
        ("fewer I/Os of a series", "a job had done Totals { n_ios: 5", &|| {
            let mut seat = Seat::new(&detailed);
            seat.count_by_series();
            let mut sampler = SeriesSampler::new([seat.counters()].into_iter());
            for n_ios in [5, 4] {
                let (_, first) =
                    seat.meters.series().expect("it counts").iter().next().expect("one");
                first.n_ios_live.store(n_ios, Relaxed);
                sampler.sample();
            }
        }),
        ("fewer I/Os of a group", "a group had done Totals { n_ios: 5", &|| {
            meters.measured_since_ns.store(1, Relaxed);
            let mut watch = SteadyWatch::new(spec, vec![Arc::clone(&meters)]);
            for (now_ns, n_ios) in [(10, 5), (2_000, 4)] {
                reads(n_ios);
                watch.tick(now_ns);
            }
        }),
        ("fewer bytes", "5 B were moved, and now 4 B", &|| {
            let members = vec![Arc::clone(&meters)];
            let mut watch = AmountWatch::new(amount_max, members, 0).expect("a limit");
            for n_bytes in [5, 4] {
                reads(n_bytes);
                watch.is_reached(watch.next_ns());
            }
        }),
        ("a watch of no job", "no job is watched for a steady state", &|| {
            drop(SteadyWatch::new(spec, Vec::new()));
        }),
    ]);
}

#[test]
fn a_control_is_of_one_step() {
    let control = Control::new();
    drop(control.listen(channel().0));
    let _listening = control.listen(channel().0);
    testing::check_wrong_calls(&[("a second step", "two steps listen to one control", &|| {
        drop(control.listen(channel().0));
    })]);
}

#[test]
fn what_a_worker_is_made_of_comes_before_it() {
    let bound = bound(|_| {});
    let clock = Clock::start_monotonic();
    let mut logs = LogSetup::new(clock, 0, Path::new(""), 1);
    assert!(logs.add(&bound.job, 1, &Meters::new(), &[]).is_ok());
    testing::check_wrong_calls(&[
        ("counters in use", "counters of `j` are changed that 1 others use", &|| {
            let mut seat = Seat::new(&bound);
            let _worker = Arc::clone(&seat.meters);
            seat.count_by_series();
        }),
        ("logs from 0 on", "workers of `j` have logs from 1 on", &|| {
            let mut logs = LogSetup::new(clock, 0, Path::new(""), 1);
            _ = logs.add(&bound.job, 0, &Meters::new(), &[]);
        }),
        ("a clock that stands", "a second of a slowed clock takes 0 s", &|| {
            _ = clock.slowed(0.0);
        }),
        ("a clock of no pace", "a second of a slowed clock takes NaN s", &|| {
            _ = clock.slowed(f64::NAN);
        }),
    ]);
}

/// A seat is empty, or its worker is built, gets ready, goes and ends, in this order.
#[test]
fn a_seat_has_one_worker_which_lives_once() {
    let bound = bound(|_| {});
    let (plan, options, control) = (Plan::default(), RunOptions::default(), Control::new());
    let clock = Clock::start_monotonic();
    let so_far = RunSoFar {
        journal: None,
        plan: &plan,
        options: &options,
        control: &control,
        clock,
        zero_unix_ms: 0,
        disks: None,
        steps: Vec::new(),
        jobs: Vec::new(),
        intervals: Vec::new(),
        conditions: Vec::new(),
        places: Vec::new(),
        notes: Vec::new(),
        failed: false,
        reported_ns: Cell::new(0),
    };
    let context = StepContext {
        journal: None,
        step_idx: 0,
        n_steps: 1,
        clock,
        zero_unix_ms: 0,
        options: &options,
        control: &control,
        n_workers_before: 0,
        errors: ErrorBudget::default(),
        amount_max: AmountMax::default(),
        volumes: None,
        so_far: &so_far,
    };
    let seat = |state| Seat { state, ..Seat::new(&bound) };
    let take = |state, event| Running::new(&context, vec![seat(state)], 0).take(event);
    let ready = || WorkerEvent::Ready { idx: 0, error: None };
    let ended = || WorkerEvent::Ended { idx: 0, result: Box::default() };
    let spawn = |mut seat: Seat<'_>| {
        let mut logs = LogSetup::new(clock, 0, Path::new(""), 1);
        let (mut walks, waits) = (SharedWalks::default(), WaitsForOthers::default());
        let claims = Arc::new(Claims::new(&options));
        let shared =
            Shared { walks: &mut walks, flow: None, waits, tree: None, amount: None, claims };
        _ = seat.spawn(&context, 0, shared, &mut logs, channel().0).is_ok();
    };
    take(SeatState::Building, ready());
    take(SeatState::Running, ended());
    testing::check_wrong_calls(&[
        ("a second worker", "a seat has one worker", &|| spawn(seat(SeatState::Waiting))),
        ("ready twice", "a worker gets ready once", &|| take(SeatState::Waiting, ready())),
        ("an end before", "was ready, and ends once", &|| take(SeatState::Building, ended())),
        ("two ends", "was ready, and ends once", &|| take(SeatState::Ended, ended())),
        ("goes before", "a worker goes once, when it is ready", &|| {
            seat(SeatState::Building).go();
        }),
        ("goes twice", "a worker goes once, when it is ready", &|| seat(SeatState::Running).go()),
    ]);
}
