//! Records of runs, joined into one.

use record::{
    HostShareRecord, JobRecord, Outcome, Record, StepConditions, StepRecord, StepValidity,
    UnitsRecord,
};

/// Joins the record of one more run: its jobs, intervals and notes become those of the next steps,
/// which have these names; of each the one at its place. Times count from the start of the first
/// run. Returns the number of the first of its steps.
///
/// Steps of a run that was cut short before they began are not there, nor are their names used.
pub fn append(whole: &mut Option<Record>, mut run: Record, names: &[String]) -> u32 {
    let n_steps = n_steps(&run).max(1);
    let steps: Vec<StepRecord> = (0..n_steps)
        .map(|idx| step(&run, idx, names.get(idx as usize).map_or("", |it| it)))
        .collect();
    let Some(whole) = whole else {
        run.steps = steps;
        for host in &mut run.hosts {
            host.record.steps = own_steps(&host.record);
        }
        *whole = Some(run);
        return 0;
    };
    let first_idx = whole.steps.len() as u32;
    add_run(whole, run, steps, first_idx);
    first_idx
}

/// Adds a run to a record as its steps from this number on.
fn add_run(whole: &mut Record, run: Record, steps: Vec<StepRecord>, first_idx: u32) {
    // Wall clocks are labels; what was measured counts from the start of each run.
    let after_ms = match &run.emulation {
        Some(_) => whole.elapsed_ns / 1_000_000,
        None => run.started_unix_ms.saturating_sub(whole.started_unix_ms),
    };
    whole.steps.extend(steps.into_iter().map(|step| StepRecord {
        step_idx: step.step_idx + first_idx,
        started_ms: step.started_ms.saturating_add(after_ms),
        ended_ms: step.ended_ms.saturating_add(after_ms),
        ..step
    }));
    let elapsed_ns = run.elapsed_ns.saturating_add(after_ms.saturating_mul(1_000_000));
    whole.elapsed_ns = whole.elapsed_ns.max(elapsed_ns);
    whole.outcome = worse(whole.outcome, run.outcome);
    let jobs = run.jobs.into_iter();
    whole.jobs.extend(jobs.map(|job| JobRecord { step_idx: job.step_idx + first_idx, ..job }));
    for mut interval in run.intervals {
        interval.step_idx += first_idx;
        interval.end_ms = interval.end_ms.saturating_add(after_ms);
        whole.intervals.push(interval);
    }
    let units = run.units.into_iter();
    whole.units.extend(units.map(|of_step| {
        let step_idx = of_step.step_idx + first_idx;
        UnitsRecord { step_idx, ..of_step }
    }));
    let conditions = run.conditions.into_iter();
    whole.conditions.extend(conditions.map(|of_step| {
        let step_idx = of_step.step_idx + first_idx;
        StepConditions { step_idx, ..of_step }
    }));
    whole.validity.extend(run.validity.into_iter().map(|of_step| {
        let later = |ms: u64| ms.saturating_add(after_ms);
        let window_ms = of_step.window_ms.map(|(from, to)| (later(from), later(to)));
        let step_idx = of_step.step_idx + first_idx;
        StepValidity { step_idx, window_ms, ..of_step }
    }));
    for place in run.places {
        if whole.places.iter().all(|known| known.path != place.path) {
            whole.places.push(place);
        }
    }
    for note in run.notes {
        if !whole.notes.contains(&note) {
            whole.notes.push(note);
        }
    }
    for disk in run.disks {
        match whole.disks.iter_mut().find(|known| known.name == disk.name) {
            // Counters are the sums of the runs; the share of time busy is the last's.
            Some(known) => add(known, &disk),
            None => whole.disks.push(disk),
        }
    }
    for host in run.hosts {
        add_host(&mut whole.hosts, host, first_idx);
    }
}

/// Adds what a host did to that of the hosts before.
fn add_host(hosts: &mut Vec<HostShareRecord>, mut host: HostShareRecord, first_idx: u32) {
    let steps = own_steps(&host.record);
    for start in &mut host.starts {
        start.step_idx += first_idx;
    }
    let Some(known) = hosts.iter_mut().find(|known| known.name == host.name) else {
        let run = std::mem::take(&mut host.record);
        // What the run says of the host, without what was done.
        host.record = Record {
            schema: run.schema.clone(),
            plimsoll_version: run.plimsoll_version.clone(),
            started_unix_ms: run.started_unix_ms,
            host: run.host.clone(),
            clock: run.clock.clone(),
            ..Record::default()
        };
        add_run(&mut host.record, run, steps, first_idx);
        hosts.push(host);
        return;
    };
    known.clock_offset_ns = host.clock_offset_ns;
    known.clock_error_ns = known.clock_error_ns.max(host.clock_error_ns);
    known.silence_ns_max = known.silence_ns_max.max(host.silence_ns_max);
    known.starts.extend(host.starts);
    known.lost = known.lost.take().or(host.lost);
    add_run(&mut known.record, host.record, steps, first_idx);
}

/// Joins the record of one more point of a sweep, which is one step.
pub(crate) fn join(whole: &mut Option<Record>, mut point: Record, name: String) -> u32 {
    for job in &mut point.jobs {
        job.step_idx = 0;
    }
    for interval in &mut point.intervals {
        interval.step_idx = 0;
    }
    for of_step in &mut point.conditions {
        of_step.step_idx = 0;
    }
    for of_step in &mut point.validity {
        of_step.step_idx = 0;
    }
    point.steps.truncate(1);
    append(whole, point, &[name])
}

/// Returns how many steps a run came to.
fn n_steps(run: &Record) -> u32 {
    let of_jobs = run.jobs.iter().map(|job| job.step_idx + 1).max().unwrap_or(0);
    let named = run.steps.iter().map(|step| step.step_idx + 1).max().unwrap_or(0);
    of_jobs.max(named)
}

/// Returns the steps of a run under its own names.
fn own_steps(run: &Record) -> Vec<StepRecord> {
    (0..n_steps(run)).map(|idx| step(run, idx, "")).collect()
}

/// Returns a step of a run under a name; without a name of ours it keeps its own.
fn step(run: &Record, step_idx: u32, name: &str) -> StepRecord {
    let known = run.steps.iter().find(|step| step.step_idx == step_idx);
    let ended_ms = run.elapsed_ns / 1_000_000;
    let mut step =
        known.cloned().unwrap_or(StepRecord { step_idx, ended_ms, ..StepRecord::default() });
    if !name.is_empty() {
        name.clone_into(&mut step.name);
    }
    step
}
fn worse(first: Outcome, second: Outcome) -> Outcome {
    let rank = |outcome| match outcome {
        Outcome::Complete => 0,
        Outcome::Interrupted => 1,
        Outcome::Partial => 2,
        Outcome::Failed => 3,
    };
    if rank(second) > rank(first) { second } else { first }
}

fn add(known: &mut record::DiskRecord, disk: &record::DiskRecord) {
    known.read_ios += disk.read_ios;
    known.write_ios += disk.write_ios;
    known.read_sectors += disk.read_sectors;
    known.write_sectors += disk.write_sectors;
    known.read_merges += disk.read_merges;
    known.write_merges += disk.write_merges;
    known.read_ticks_ms += disk.read_ticks_ms;
    known.write_ticks_ms += disk.write_ticks_ms;
    known.in_queue_ms += disk.in_queue_ms;
    known.util_pct = disk.util_pct;
}
