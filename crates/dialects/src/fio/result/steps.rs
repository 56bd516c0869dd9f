//! Which groups of a result ran one after another: their rates must not be added up.
//!
//! A new group begins with `stonewall`, which waits for what is before, or with `new_group`, which
//! does not. Neither is listed where the job file gave it no value, as usual, so that a listed
//! `new_group` does not say that no `stonewall` stands beside it; when groups ran tells then.

use record::JobRecord;
use units::fio::{TimeUnit, parse_time};

/// Share of a group's time after which what begins counts as behind it.
const BEHIND: f64 = 0.9;

/// fio's `elapsed` is in whole seconds.
const ELAPSED_STEP_MS: f64 = 1000.0;

/// Gives each job its step. `globals` hold for all jobs unless they say otherwise; `elapsed_s` is
/// how long fio ran.
pub(super) fn set_steps(jobs: &mut [JobRecord], globals: &[(String, String)], elapsed_s: u64) {
    let mut groups: Vec<u32> = jobs.iter().map(|job| job.group_id).collect();
    groups.sort_unstable();
    groups.dedup();
    let all_ms: f64 =
        groups.iter().map(|id| time_ms(jobs, *id) + ramp_ms(jobs, globals, *id)).sum();
    // Groups that ran together need no more time than the longest of them.
    let took_all = elapsed_s as f64 * 1000.0 + ELAPSED_STEP_MS >= all_ms;
    let mut step_idx = 0;
    let mut steps = Vec::with_capacity(groups.len());
    for (idx, id) in groups.iter().enumerate() {
        let before = idx.checked_sub(1).and_then(|before| groups.get(before));
        if before.is_some_and(|before| waits(jobs, globals, *before, *id).unwrap_or(took_all)) {
            step_idx += 1;
        }
        steps.push((*id, step_idx));
    }
    for job in jobs {
        let own = steps.binary_search_by_key(&job.group_id, |(id, _)| *id);
        job.step_idx = own.map_or(0, |at| steps[at].1);
    }
}

/// Returns whether a group waited for the one before; none where neither options nor starts tell.
fn waits(
    jobs: &[JobRecord],
    globals: &[(String, String)],
    before: u32,
    group: u32,
) -> Option<bool> {
    let first = jobs.iter().find(|job| job.group_id == group)?;
    let stonewall = option(first, globals, &["stonewall", "wait_for_previous"]);
    if stonewall.is_some_and(|value| value != "0") {
        return Some(true);
    }
    let start = |id: u32| {
        let of_group = jobs.iter().filter(|job| job.group_id == id);
        of_group.map(|job| job.started_unix_ms).min().filter(|ms| *ms > 0)
    };
    let apart_ms = start(group)?.saturating_sub(start(before)?) as f64;
    Some(apart_ms >= BEHIND * (time_ms(jobs, before) + ramp_ms(jobs, globals, before)))
}

/// Returns the value that a job gives to an option, or else the one that holds for all.
fn option<'a>(
    job: &'a JobRecord,
    globals: &'a [(String, String)],
    names: &[&str],
) -> Option<&'a str> {
    let mut listed = job.options.iter().rev().chain(globals.iter().rev());
    listed.find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value.as_str())
}

/// Returns the longest ramp of a group, milliseconds: a worker's time is counted from its end.
fn ramp_ms(jobs: &[JobRecord], globals: &[(String, String)], group: u32) -> f64 {
    let of_group = jobs.iter().filter(|job| job.group_id == group);
    let ns = of_group.filter_map(|job| {
        parse_time(option(job, globals, &["ramp_time"])?, TimeUnit::Seconds).ok()
    });
    ns.map(|ramp| ramp.value).max().unwrap_or(0) as f64 / 1e3
}

/// Returns how long the longest worker of a group ran, milliseconds.
fn time_ms(jobs: &[JobRecord], group: u32) -> f64 {
    let of_group = jobs.iter().filter(|job| job.group_id == group);
    let ns = of_group.map(|job| {
        let of_dirs = job.dirs.iter().map(|(_, dir)| dir.runtime_ns).max().unwrap_or(0);
        of_dirs.max(job.runtime_ns / u64::from(job.n_workers.max(1)))
    });
    ns.max().unwrap_or(0) as f64 / 1e6
}
