//! A record that is sent in frames is the record that was measured.

use fleet::frame::{FrameError, FrameMaker, FrameSum};
use proptest::prelude::*;
use record::{DirRecord, Interval, JobRecord, Record, SeriesRecord};

/// What a job does between two frames.
#[derive(Clone, Debug)]
struct Turn {
    /// Jobs there are; never fewer than before.
    n_jobs: usize,
    job: usize,
    latencies_ns: Vec<u64>,
    has_response: bool,
    n_intervals: usize,
    /// A worker's counts are taken anew, as when a step ends.
    is_reset: bool,
}

fn turn() -> impl Strategy<Value = Turn> {
    let latencies = proptest::collection::vec(1_u64..1 << 40, 0..20);
    (1..5_usize, 0..5_usize, latencies, any::<bool>(), 0..3_usize, proptest::bool::weighted(0.1))
        .prop_map(|(n_jobs, job, latencies_ns, has_response, n_intervals, is_reset)| Turn {
            n_jobs,
            job,
            latencies_ns,
            has_response,
            n_intervals,
            is_reset,
        })
}

fn apply(record: &mut Record, turn: &Turn) {
    while record.jobs.len() < turn.n_jobs {
        let name = format!("job{}", record.jobs.len());
        record.jobs.push(JobRecord { name, ..JobRecord::default() });
    }
    let n_jobs = record.jobs.len();
    let job = &mut record.jobs[turn.job % n_jobs];
    if turn.is_reset {
        job.dirs.read = DirRecord::default();
    }
    if job.series.is_empty() && turn.has_response {
        job.series.push(SeriesRecord { op: "stat".to_owned(), ..SeriesRecord::default() });
    }
    for latency_ns in &turn.latencies_ns {
        job.dirs.read.n_ios += 1;
        job.dirs.read.lat.record(*latency_ns);
        job.sync.record(latency_ns / 2);
        if turn.has_response {
            job.dirs.read.response.get_or_insert_default().record(latency_ns * 2);
        }
        if let Some(series) = job.series.first_mut() {
            series.lat.record(*latency_ns);
        }
    }
    for _ in 0..turn.n_intervals {
        let end_ms = record.intervals.len() as u64 * 1000;
        record.intervals.push(Interval { end_ms, ..Interval::default() });
    }
}

proptest! {
    #[test]
    fn frames_add_up_to_the_record(turns in proptest::collection::vec(turn(), 1..30)) {
        let mut record = Record::default();
        let mut maker = FrameMaker::default();
        let mut sum = FrameSum::default();
        for turn in &turns {
            apply(&mut record, turn);
            let frame = maker.frame(record.clone());
            prop_assert_eq!(sum.add(&frame).expect("a whole frame"), true);
            prop_assert_eq!(&sum.record(), &record);
            // The same once more, and one from later, change nothing.
            prop_assert_eq!(sum.add(&frame).expect("a whole frame"), false);
            let mut later = frame;
            later.seq += 2;
            let is_gap = matches!(sum.add(&later), Err(FrameError::Gap { .. }));
            prop_assert!(is_gap);
            prop_assert_eq!(&sum.record(), &record);
        }
    }

    /// Bytes changed on the way are a mistake or another record, never a panic or a half of it.
    #[test]
    fn a_damaged_frame_changes_nothing_or_is_whole(
        turns in proptest::collection::vec(turn(), 2..5),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        in_histogram in any::<bool>(),
    ) {
        let mut record = Record::default();
        let mut maker = FrameMaker::default();
        let mut sum = FrameSum::default();
        for (seq, turn) in turns.iter().enumerate() {
            apply(&mut record, turn);
            let mut frame = maker.frame(record.clone());
            if seq + 1 == turns.len() {
                let before = sum.record();
                let changed = if let Some(delta) =
                    frame.histograms.first_mut().filter(|_| in_histogram)
                {
                    &mut delta.values
                } else {
                    &mut frame.facts_json
                };
                let len = changed.len();
                changed[at.index(len)] = byte;
                if sum.add(&frame).is_err() {
                    prop_assert_eq!(sum.record(), before);
                }
            } else {
                sum.add(&frame).expect("a whole frame");
            }
        }
    }
}

#[test]
fn a_frame_may_not_promise_jobs_that_never_come() {
    let json = |text: &str| {
        let head = serde_json::to_string(&Record::default()).expect("a record");
        text.replace("HEAD", &head).into_bytes()
    };
    let refused = [
        r#"{"head":HEAD,"n_jobs":4000000000,"jobs":[],"n_intervals_kept":0,"intervals":[]}"#,
        r#"{"head":HEAD,"n_jobs":2,"jobs":[],"n_intervals_kept":0,"intervals":[]}"#,
        r#"{"head":HEAD,"n_jobs":0,"jobs":[],"n_intervals_kept":7,"intervals":[]}"#,
    ];
    for text in refused {
        let frame = fleet::wire::Frame { facts_json: json(text), ..Default::default() };
        let error = FrameSum::default().add(&frame).expect_err(text);
        assert!(matches!(error, FrameError::Inconsistent { .. }), "{error}");
    }
}
