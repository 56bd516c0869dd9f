//! Records of the points, joined into the record of the sweep.

use record::{JobRecord, Outcome, Record, StepConditions, StepRecord, StepValidity};

/// Joins the record of one more point: its jobs, intervals and notes become those of the next step.
/// Times count from the start of the first.
pub(crate) fn join(whole: &mut Option<Record>, mut point: Record, name: String) -> u32 {
    let Some(whole) = whole else {
        point.steps = vec![step(&point, 0, 0, name)];
        *whole = Some(point);
        return 0;
    };
    let step_idx = whole.steps.len() as u32;
    // Wall clocks are labels; what was measured counts from the start of each point.
    let after_ms = match &point.emulation {
        Some(_) => whole.elapsed_ns / 1_000_000,
        None => point.started_unix_ms.saturating_sub(whole.started_unix_ms),
    };
    whole.steps.push(step(&point, step_idx, after_ms, name));
    let elapsed_ns = point.elapsed_ns.saturating_add(after_ms.saturating_mul(1_000_000));
    whole.elapsed_ns = whole.elapsed_ns.max(elapsed_ns);
    whole.outcome = worse(whole.outcome, point.outcome);
    whole.jobs.extend(point.jobs.into_iter().map(|job| JobRecord { step_idx, ..job }));
    for mut interval in point.intervals {
        interval.step_idx = step_idx;
        interval.end_ms = interval.end_ms.saturating_add(after_ms);
        whole.intervals.push(interval);
    }
    let conditions = point.conditions.into_iter();
    whole.conditions.extend(conditions.map(|of_step| StepConditions { step_idx, ..of_step }));
    whole.validity.extend(point.validity.into_iter().map(|of_step| {
        let later = |ms: u64| ms.saturating_add(after_ms);
        let window_ms = of_step.window_ms.map(|(from, to)| (later(from), later(to)));
        StepValidity { step_idx, window_ms, ..of_step }
    }));
    for place in point.places {
        if whole.places.iter().all(|known| known.path != place.path) {
            whole.places.push(place);
        }
    }
    for note in point.notes {
        if !whole.notes.contains(&note) {
            whole.notes.push(note);
        }
    }
    for disk in point.disks {
        match whole.disks.iter_mut().find(|known| known.name == disk.name) {
            // Counters of a sweep are the sums of its points; the share of time busy is the last's.
            Some(known) => add(known, &disk),
            None => whole.disks.push(disk),
        }
    }
    step_idx
}

fn step(point: &Record, step_idx: u32, after_ms: u64, name: String) -> StepRecord {
    let first = point.steps.first();
    let started_ms = first.map_or(0, |step| step.started_ms);
    let ended_ms = first.map_or(point.elapsed_ns / 1_000_000, |step| step.ended_ms);
    StepRecord {
        step_idx,
        name,
        started_ms: started_ms.saturating_add(after_ms),
        ended_ms: ended_ms.saturating_add(after_ms),
        ..StepRecord::default()
    }
}

fn worse(first: Outcome, second: Outcome) -> Outcome {
    let rank = |outcome| match outcome {
        Outcome::Complete => 0,
        Outcome::Interrupted => 1,
        Outcome::Failed => 2,
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
