//! How steps grow with the hosts, from records that are made here.

use bench::scale_out::{Point, recorded};
use record::{
    Binds, Figure, Figures, GateRecord, HostShareRecord, JobRecord, NetworkRecord, PlaceRecord,
    Record, ScaleOutPointRecord, StartRecord, StepValidity, SuiteFigureRecord, SuiteRowRecord,
    Verdict,
};

/// What a host does of a step.
#[derive(Clone, Copy)]
struct Does {
    iops: u64,
    seconds: u64,
    is_busy: bool,
}

const fn does(iops: u64) -> Does {
    Does { iops, seconds: 10, is_busy: false }
}

/// A study: what each host does of a step, for each number of hosts.
struct Study {
    steps: Vec<Vec<Does>>,
    link_bytes_s: Option<f64>,
    rate_iops: Option<f64>,
}

impl Study {
    fn new(steps: &[&[Does]]) -> Self {
        let steps = steps.iter().map(|it| it.to_vec()).collect();
        Study { steps, link_bytes_s: None, rate_iops: None }
    }

    fn record(&self) -> Record {
        let n_hosts = self.steps.iter().map(Vec::len).max().unwrap_or(0);
        let host = |idx: usize| {
            let mut host =
                HostShareRecord { name: format!("vm{idx}"), ..HostShareRecord::default() };
            for (step_idx, of_step) in self.steps.iter().enumerate() {
                let Some(does) = of_step.get(idx) else { continue };
                host.add(step_idx as u32, *does);
            }
            let network =
                NetworkRecord { link_bytes_s: self.link_bytes_s, ..NetworkRecord::default() };
            let network = Some(network);
            host.record.places = vec![PlaceRecord { network, ..PlaceRecord::default() }];
            host
        };
        Record { hosts: (0..n_hosts).map(host).collect(), ..Record::default() }
    }

    /// Returns the points of the one step.
    fn points(&self) -> Vec<ScaleOutPointRecord> {
        let point = |of_step: &Vec<Does>| Point {
            label: "reads".to_owned(),
            n_hosts: of_step.len() as u32,
            rate_iops: self.rate_iops,
        };
        let points: Vec<Point> = self.steps.iter().map(point).collect();
        let row = |(step_idx, of_step): (usize, &Vec<Does>)| {
            let total: u64 = of_step.iter().map(|does| does.iops).sum();
            let figure = SuiteFigureRecord { median: total as f64, interval: None };
            SuiteRowRecord {
                label: points[step_idx].row(),
                preparation: false,
                steps: vec![step_idx as u32],
                figures: Figures::each(|it| (it == Figure::Iops).then_some(figure)),
                sync: Figures::each(|_| None),
                measured_ns: 0,
                verdict: "valid".to_owned(),
                reason: String::new(),
            }
        };
        let rows: Vec<SuiteRowRecord> = self.steps.iter().enumerate().map(row).collect();
        let mut of_steps = recorded(&self.record(), &rows, &points);
        assert_eq!(of_steps.len(), 1);
        of_steps.remove(0).points
    }
}

trait Add {
    fn add(&mut self, step_idx: u32, does: Does);
}

impl Add for HostShareRecord {
    fn add(&mut self, step_idx: u32, does: Does) {
        let Does { iops, seconds, is_busy } = does;
        let mut job = JobRecord { step_idx, n_workers: 1, ..JobRecord::default() };
        let read = &mut job.dirs.read;
        (read.n_ios, read.io_bytes) = (iops * seconds, 4096 * iops * seconds);
        read.runtime_ns = seconds * 1_000_000_000;
        self.record.jobs.push(job);
        self.starts.push(StartRecord { step_idx, start_error_ns: 1000 });
        let gate = GateRecord {
            name: "generator".to_owned(),
            verdict: if is_busy { Verdict::Failed } else { Verdict::Passed },
            reason: String::new(),
            next_step: None,
            figures: std::collections::BTreeMap::new(),
        };
        let gates = vec![gate];
        self.record.validity.push(StepValidity { step_idx, gates, ..StepValidity::default() });
    }
}

#[track_caller]
fn check(study: &Study, expected: &[Binds]) {
    let found: Vec<Binds> = study.points().iter().map(|it| it.binds).collect();
    assert_eq!(found, expected);
}

const ONE: [Does; 1] = [does(100)];

#[test]
fn what_grows_with_the_hosts_is_held_by_their_load() {
    let study = Study::new(&[&ONE, &[does(100); 2], &[does(95); 4]]);
    check(&study, &[Binds::Load; 3]);
    let speed_ups: Vec<Option<f64>> = study.points().iter().map(|it| it.speed_up).collect();
    assert_eq!(speed_ups, [Some(1.0), Some(2.0), Some(3.8)]);
    assert_eq!(study.points()[2].why, "4 hosts did 1.90 times what 2 hosts did");
}

#[test]
fn what_does_not_grow_is_held_by_what_all_share() {
    check(
        &Study::new(&[&ONE, &[does(100); 2], &[does(52); 4]]),
        &[Binds::Load, Binds::Load, Binds::Volume],
    );
    check(&Study::new(&[&ONE, &[does(51); 2]]), &[Binds::Volume; 2]);
    // Less than before is no growth either.
    check(&Study::new(&[&ONE, &[does(30); 2]]), &[Binds::Volume; 2]);
}

#[test]
fn hosts_without_time_left_bind_first() {
    let busy = Does { is_busy: true, ..does(60) };
    check(&Study::new(&[&ONE, &[busy; 2]]), &[Binds::Unknown, Binds::Clients]);
    let study = Study::new(&[&ONE, &[busy, does(60), does(60), does(60)]]);
    check(&study, &[Binds::Volume; 2]);
}

#[test]
fn links_that_are_full_bind() {
    let mut study = Study::new(&[&ONE, &[does(100); 2]]);
    study.link_bytes_s = Some(100.0 * 4096.0 / 0.95);
    check(&study, &[Binds::Links; 2]);
    assert_eq!(study.points()[1].why, "the links of 2 of 2 hosts were full");
    study.link_bytes_s = Some(100.0 * 4096.0 * 2.0);
    check(&study, &[Binds::Load; 2]);
}

#[test]
fn a_rate_that_is_kept_is_the_limit() {
    let mut study = Study::new(&[&ONE, &[does(50); 2]]);
    study.rate_iops = Some(100.0);
    check(&study, &[Binds::Load; 2]);
    study.rate_iops = Some(200.0);
    check(&study, &[Binds::Volume; 2]);
}

#[test]
fn one_number_of_hosts_shows_no_growth() {
    check(&Study::new(&[&ONE]), &[Binds::Unknown]);
    check(&Study::new(&[&[does(0)], &[does(0); 2]]), &[Binds::Unknown; 2]);
}

#[test]
fn hosts_are_shown_by_rate_and_by_when_they_were_done() {
    let slow = Does { seconds: 14, ..does(40) };
    let study = Study::new(&[&ONE, &[does(90), slow, does(100), does(80)]]);
    let points = study.points();
    let of_hosts = [points[1].host_iops_min, points[1].host_iops_median, points[1].host_iops_max];
    assert_eq!(of_hosts.map(|iops| iops.round() as u64), [40, 85, 100]);
    let done = [points[1].first_done_ns, points[1].last_done_ns];
    assert_eq!(done, [10_000_001_000, 14_000_001_000]);
}
