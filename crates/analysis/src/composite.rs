//! Units of load of a composite workload: what each component achieved of what was asked of it.
//!
//! Sources of the gates: the field's practice for composite loads accepts a point where every
//! process achieves 75 % of its rate and all together 95 %, and where operations are evenly
//! balanced between components. How even is not public: 5 % is ours.

use hist::Histogram;
use record::{ComponentRecord, Figure, Figures, JobRecord, Latency, Record, UnitsRecord, Verdict};
use units::format_percent;

use crate::limit::Limits;

/// Least share of its rate that each process achieves.
pub const PROCESS_SHARE_MIN: f64 = 0.75;

/// Furthest that a component's part in the operations may be from the part asked for, as a share of
/// it.
pub const BALANCE_OFF_MAX: f64 = 0.05;

/// Operations from which on the rate of a process is judged: of fewer, one more or less is much.
const N_DUE_MIN: f64 = 20.0;

/// Standard deviations that operations due at random may be fewer than the rate says.
const CHANCE_SIGMA: f64 = 3.0;

/// Returns what came of the units of load of each measured step; nothing of other workloads.
pub fn units(record: &Record) -> Vec<UnitsRecord> {
    let mut steps: Vec<u32> = record.jobs.iter().map(|job| job.step_idx).collect();
    steps.dedup();
    steps.into_iter().filter_map(|step_idx| of_step(record, step_idx)).collect()
}

fn of_step(record: &Record, step_idx: u32) -> Option<UnitsRecord> {
    let jobs = record.jobs.iter().filter(|job| job.step_idx == step_idx && job.of_unit.is_some());
    let jobs: Vec<&JobRecord> = jobs.collect();
    let of_unit = jobs.first()?.of_unit.as_ref()?;
    let mut names: Vec<&str> = Vec::new();
    for job in &jobs {
        if !names.contains(&&*job.name) {
            names.push(&job.name);
        }
    }
    let mut all = component("", &jobs);
    let mut components: Vec<ComponentRecord> = Vec::new();
    for name in names {
        let own: Vec<&JobRecord> = jobs.iter().copied().filter(|job| job.name == name).collect();
        let mut component = component(name, &own);
        let part = |own: f64, all: f64| if all > 0.0 { own / all } else { 0.0 };
        component.done_part = part(component.figures.iops(), all.figures.iops());
        component.asked_part = component.asked_iops.zip(all.asked_iops).map(|(a, b)| part(a, b));
        components.push(component);
    }
    all.done_part = if all.figures.iops() > 0.0 { 1.0 } else { 0.0 };
    let is_random = jobs.iter().any(|job| job.arrivals.as_ref().is_some_and(is_spaced_at_random));
    let mut units = UnitsRecord {
        step_idx,
        unit: of_unit.unit.clone(),
        n_units: of_unit.n_units,
        balance_off_share: balance_off(&components),
        all,
        components,
        gates: Verdict::NotAssessed,
        broken: Vec::new(),
    };
    let n_due_min = jobs.iter().filter_map(|job| n_due(job)).reduce(f64::min);
    judge(&mut units, n_due_min, is_random);
    Some(units)
}

fn is_spaced_at_random(arrivals: &record::ArrivalsRecord) -> bool {
    arrivals.spacing != "even"
}

/// Returns the measured time of each of a job's workers, seconds.
fn time_s(job: &JobRecord) -> f64 {
    job.runtime_ns as f64 / f64::from(job.n_workers.max(1)) / 1e9
}

/// Returns the operations per second that were asked of a job.
fn asked_iops(job: &JobRecord) -> Option<f64> {
    let of_unit = job.of_unit.as_ref()?;
    let open = job.arrivals.as_ref().map(|arrivals| arrivals.offered_iops);
    open.or(of_unit.rate.map(|rate| rate * f64::from(job.n_workers)))
}

/// Returns the operations that were asked of each of its processes.
fn n_due(job: &JobRecord) -> Option<f64> {
    Some(asked_iops(job)? * time_s(job) / f64::from(job.n_workers.max(1)))
}

/// Adds up what processes did.
fn component(name: &str, jobs: &[&JobRecord]) -> ComponentRecord {
    let mut latency = Histogram::new();
    let (mut iops, mut bytes_per_s) = (0.0, 0.0);
    let mut asked = Some(0.0);
    let mut share_min = Some(f64::INFINITY);
    for job in jobs {
        let own_s = time_s(job);
        let own_iops = if own_s > 0.0 { job.n_ios() as f64 / own_s } else { 0.0 };
        iops += own_iops;
        bytes_per_s += if own_s > 0.0 { job.io_bytes() as f64 / own_s } else { 0.0 };
        let own_asked = asked_iops(job);
        asked = asked.zip(own_asked).map(|(sum, own)| sum + own);
        let own_share = own_asked.filter(|own| *own > 0.0 && job.n_workers == 1);
        let own_share = own_share.map(|own| own_iops / own);
        share_min = share_min.zip(own_share).map(|(least, own)| least.min(own));
        for (_, dir) in job.dirs.iter() {
            latency.merge(dir.response.as_ref().unwrap_or(&dir.lat));
        }
    }
    let figures = Figures::of(&Latency::Measured(&latency))
        .with(Figure::Iops, iops)
        .with(Figure::BytesPerS, bytes_per_s);
    ComponentRecord {
        name: name.to_owned(),
        n_processes: jobs.iter().map(|job| job.n_workers).fold(0, u32::saturating_add),
        asked_iops: asked,
        achieved_share: asked.filter(|asked| *asked > 0.0).map(|asked| iops / asked),
        process_share_min: share_min.filter(|share| share.is_finite()),
        asked_part: asked.map(|_| 1.0),
        done_part: 0.0,
        figures,
    }
}

/// Returns the furthest that a component's part is from the one asked for.
fn balance_off(components: &[ComponentRecord]) -> Option<f64> {
    if components.len() < 2 {
        return None;
    }
    let off = |it: &ComponentRecord| {
        let asked = it.asked_part.filter(|asked| *asked > 0.0)?;
        Some((it.done_part / asked - 1.0).abs())
    };
    let off: Option<Vec<f64>> = components.iter().map(off).collect();
    off?.into_iter().reduce(f64::max)
}

/// Says whether the rates asked for were achieved. `n_due_min` are the operations asked of the
/// process that was asked for fewest.
fn judge(units: &mut UnitsRecord, n_due_min: Option<f64>, is_random: bool) {
    let mut broken = Vec::new();
    for component in std::iter::once(&units.all).chain(&units.components) {
        // Of one component the whole says it.
        let is_said = units.components.len() == 1 && !component.name.is_empty();
        if !is_said {
            broken.extend(missed(component, n_due_min, is_random));
        }
    }
    if let Some(off) = units.balance_off_share.filter(|off| *off > BALANCE_OFF_MAX) {
        let furthest = units.components.iter().max_by(|a, b| part_off(a).total_cmp(&part_off(b)));
        broken.extend(furthest.map(|it| {
            format!(
                "`{}` did {} of all operations, {} were asked for: {} apart (limit 5 %)",
                it.name,
                format_percent(it.done_part),
                format_percent(it.asked_part.unwrap_or(0.0)),
                format_percent(off)
            )
        }));
    }
    let (gates, broken) = match (n_due_min, broken.is_empty()) {
        _ if units.all.asked_iops.is_none() => {
            (Verdict::NotAssessed, vec!["no rate is asked for".to_owned()])
        }
        (_, false) => (Verdict::Failed, broken),
        (Some(n_due), true) if n_due < N_DUE_MIN => {
            let text = format!("only {n_due:.0} operations were due of a process");
            (Verdict::NotAssessed, vec![text])
        }
        (_, true) => (Verdict::Passed, broken),
    };
    units.gates = gates;
    units.broken = broken;
}

fn part_off(component: &ComponentRecord) -> f64 {
    let asked = component.asked_part.filter(|asked| *asked > 0.0);
    asked.map_or(0.0, |asked| (component.done_part / asked - 1.0).abs())
}

/// Returns what a component, or all of them, did not achieve.
fn missed(component: &ComponentRecord, n_due_min: Option<f64>, is_random: bool) -> Vec<String> {
    let who = match component.name.as_str() {
        "" => String::new(),
        name => format!("`{name}`: "),
    };
    let mut missed = Vec::new();
    let n_due = n_due_min.unwrap_or(0.0);
    let chance = |n: f64| if is_random && n > 0.0 { CHANCE_SIGMA / n.sqrt() } else { 0.0 };
    let least = Limits::ACHIEVED_SHARE_MIN - chance(n_due * f64::from(component.n_processes));
    if let Some(share) = component.achieved_share.filter(|share| *share < least) {
        let asked = component.asked_iops.unwrap_or(0.0);
        let share = format_percent(share);
        missed.push(format!("{who}{share} of {asked:.0} operations/s were achieved (limit 95 %)"));
    }
    let least = PROCESS_SHARE_MIN - chance(n_due);
    let is_short = |share: &f64| *share < least && n_due >= N_DUE_MIN;
    // All together have no process that no component has.
    let of_processes = component.process_share_min.filter(|_| !component.name.is_empty());
    if let Some(share) = of_processes.filter(is_short) {
        missed.push(format!(
            "{who}one process achieved {} of its rate (limit 75 %)",
            format_percent(share)
        ));
    }
    missed
}
