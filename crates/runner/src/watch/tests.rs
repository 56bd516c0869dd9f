//! A worker whose engine has a fault, in either phase of a step; requests from outside.

use dialects::LowerOptions;
use dialects::NO_HOST;
use dialects::fio::parse_text;
use engine::{Arena, Engine, EngineError, FileTable, Wait};
use plan::Job;
use plan::op::{Completion, Op};
use record::{JobRecord, Outcome, Record};

use crate::{Control, DetailedIntervals, RunEvent, RunOptions, run};

/// Completes every operation at once, and panics at one of its calls.
struct TestEngine {
    arena: Arena,
    files: FileTable,
    /// Calls until then; `u32::MAX` for none.
    n_calls_left: u32,
}

impl Engine for TestEngine {
    fn exchange(
        &mut self,
        ops: &[Op],
        _: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        self.n_calls_left = match self.n_calls_left {
            0 => panic!("the engine has a fault"),
            u32::MAX => u32::MAX,
            n => n - 1,
        };
        done.extend(ops.iter().map(Completion::whole));
        Ok(())
    }

    fn batch_max(&self) -> u32 {
        1
    }

    fn name(&self) -> &'static str {
        "double"
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.files
    }
}

/// Makes an engine that does what the job's name says.
fn double(job: &Job, files: FileTable, arena: Arena) -> Box<dyn Engine> {
    let n_calls_left = match job.name.as_str() {
        "made" => panic!("the engine has a fault"),
        "bound" => 0,
        "measured" => 1_000,
        _ => u32::MAX,
    };
    Box::new(TestEngine { arena, files, n_calls_left })
}

/// Runs a job of a name beside one that would go on for an hour, and before a second step.
fn run_beside_an_endless_one(name: &str) -> Record {
    let endless = "ioengine=null\nsize=1g\nruntime=3600\ntime_based\nthinktime=100us\n";
    let text = format!("[{name}]\n{endless}[fine]\n{endless}[after]\nstonewall\n{endless}");
    let parsed = parse_text("test.fio", &text, &LowerOptions::default(), &NO_HOST);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    let options = RunOptions { double: Some(double), ..RunOptions::default() };
    run(&parsed.plan, &options, &Control::new(), &mut |_| {}).expect("it can run")
}

/// Nothing is due within the hour but what is asked for, so a request that wakes nothing hangs.
#[test]
fn requests_are_events_of_their_own() {
    let text = "[j]\nioengine=null\nsize=1g\nruntime=3600\ntime_based\nthinktime=1s\n";
    let parsed = parse_text("test.fio", text, &LowerOptions::default(), &NO_HOST);
    let hour_ms = 3_600_000;
    let detailed = DetailedIntervals { interval_ns: hour_ms * 1_000_000, cpu: false };
    let options = RunOptions {
        status_interval_ms: hour_ms,
        detailed_intervals: Some(detailed),
        ..RunOptions::default()
    };
    let control = Control::new();
    let mut n_asked = 0;
    let record = std::thread::scope(|scope| {
        run(&parsed.plan, &options, &control, &mut |event| match event {
            RunEvent::StepStarted { .. } => {
                scope.spawn(|| control.request_status());
            }
            RunEvent::StatusAsked(_) if n_asked == 0 => {
                n_asked += 1;
                // By the thread that takes the events.
                control.request_status();
            }
            RunEvent::StatusAsked(_) => {
                n_asked += 1;
                scope.spawn(|| control.request_step_end());
            }
            _ => {}
        })
    });
    let record = record.expect("it can run");
    assert_eq!((n_asked, record.outcome), (2, Outcome::Complete));
    control.request_stop();
    let stopped = run(&parsed.plan, &options, &control, &mut |_| {}).expect("it can run");
    assert_eq!(stopped.outcome, Outcome::Interrupted, "asked for before the run");
}

fn n_ios(job: &JobRecord) -> u64 {
    job.dirs.read.n_ios
}

#[test]
fn a_panic_of_a_worker_ends_the_run_in_every_phase() {
    for name in ["made", "bound", "measured"] {
        let record = run_beside_an_endless_one(name);
        assert_eq!(record.outcome, Outcome::Failed, "{name}");
        // The second step never began.
        let [bad, fine] = &record.jobs[..] else { panic!("{name}: {} jobs", record.jobs.len()) };
        assert_eq!((bad.error_errno, fine.error_errno), (libc::EIO, 0), "{name}");
        let message = &bad.error_message;
        assert!(message.contains("the engine has a fault"), "{message}");
        assert!(message.contains("please report"), "{message}");
    }
}

#[test]
fn what_was_measured_until_a_panic_is_kept() {
    let record = run_beside_an_endless_one("measured");
    let [bad, fine] = &record.jobs[..] else { panic!("two jobs") };
    // The first call carries nothing: the engine is bound to its thread.
    assert_eq!(n_ios(bad), 999);
    assert!(n_ios(fine) > 0 && fine.runtime_ns > 0);
    assert_eq!(bad.dirs.read.clat.count(), 999);
    assert!(bad.runtime_ns > 0 && bad.dirs.read.runtime_ns > 0);
}

/// Runs a job before a second one, and lets `double` take the place of the first layout.
fn run_prepared_by(
    double: fn(),
    control: &Control,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> Record {
    let job = "ioengine=null\nsize=1g\nruntime=3600\ntime_based\n";
    let text = format!("[j]\n{job}[after]\nstonewall\n{job}");
    let parsed = parse_text("test.fio", &text, &LowerOptions::default(), &NO_HOST);
    let options = RunOptions { prepare_double: Some(double), ..RunOptions::default() };
    run(&parsed.plan, &options, control, on_event).expect("it can run")
}

#[test]
fn a_panic_before_there_are_workers_ends_the_run_with_a_record() {
    let panics: fn() = || panic!("the layout has a fault");
    let record = run_prepared_by(panics, &Control::new(), &mut |_| {});
    assert_eq!((record.outcome, record.jobs.len()), (Outcome::Failed, 1));
    let JobRecord { error_errno, error_message, .. } = &record.jobs[0];
    assert_eq!(*error_errno, libc::EIO);
    assert!(error_message.contains("the layout has a fault"), "{error_message}");
    assert!(error_message.contains("please report"), "{error_message}");
}

/// As one that the kernel holds: it hears of nothing.
#[test]
fn a_second_request_leaves_a_layout_that_does_not_end() {
    let hangs: fn() = || loop {
        std::thread::park();
    };
    let control = Control::new();
    let record = std::thread::scope(|scope| {
        run_prepared_by(hangs, &control, &mut |event| {
            if let RunEvent::StepStarted { .. } = event {
                scope.spawn(|| {
                    control.request_stop();
                    control.request_stop();
                });
            }
        })
    });
    assert_eq!((record.outcome, record.jobs.len()), (Outcome::Interrupted, 1));
    assert_eq!(n_ios(&record.jobs[0]), 0);
}
