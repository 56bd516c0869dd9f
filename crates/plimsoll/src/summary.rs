//! The summary that `plimsoll run` prints: what came out, in 80 columns and without colour.
//!
//! What makes numbers untrustworthy comes first. Then a block per entry: rates and latency in each
//! direction, what the load generator itself spent, and what went wrong; a total where a step has
//! several entries; and the devices underneath. Latency here is the total one, from the choice
//! of an operation to its completion. `response` is counted from the intended start.
//!
//! Pure: a [`Record`] in, text out. Tests: `summary/tests.rs`.

mod checks;
mod composite;
mod curve;
mod hosts;
mod scale_out;
mod suite;
mod table;
mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use analysis::sampled::{self, Sampled};
use record::{
    ArrivalsRecord, CapCountRecord, CapRecord, DiskRecord, EmulationRecord, JobRecord, Lever, Note,
    NoteSeverity, Outcome, Record,
};
use units::{
    format_bytes, format_duration, format_iops, format_latency_ns, format_percent,
    format_rate_mb_s, format_rate_mib_s, plural,
};

use self::checks::put_checks;
pub(crate) use self::composite::units_line;
use self::composite::{put_components, put_units_curve};
pub(crate) use self::curve::point_line;
use self::curve::put_curve;
use self::hosts::put_hosts;
use self::suite::put_suite;
pub(crate) use self::table::Columns;
use self::table::{direction_rows, header};
use self::words::{block_size, count, count_of, error_words, in_flight, unbroken};
pub(crate) use self::words::{fit, step_title, wrap};

/// Columns that every line keeps to.
const COLUMNS: usize = 80;

/// Entries of a step that are shown in full. More are for a machine to read: the record has all.
const ENTRIES_MAX: usize = 12;

/// Columns of an entry's name.
const NAME_COLUMNS: usize = 24;

/// Devices that are shown.
const DISKS_MAX: usize = 8;

/// Returns the summary of a run. Ends in a newline.
pub(crate) fn summary(record: &Record) -> String {
    let text = details(record);
    let Some(answer) = suite::answer(record) else { return text };
    let gap = if text.starts_with('\n') { "" } else { "\n" };
    format!("{answer}{gap}{text}")
}

/// Returns all but the answer of a suite.
fn details(record: &Record) -> String {
    let mut text = String::new();
    put_notes(&mut text, record);
    put_checks(&mut text, record);
    if let Some(emulation) = &record.emulation {
        put_emulation(&mut text, emulation, record.elapsed_ns);
    }
    if let Some(suite) = &record.suite {
        // The steps are its measurements, each with a row, and the points of its curve.
        put_suite(&mut text, suite, record);
        if let Some(curve) = &record.curve {
            text.push('\n');
            put_curve(&mut text, record, curve);
        }
        return text;
    }
    if let Some(curve) = &record.curve {
        // The steps are its points, each with a row.
        put_failures(&mut text, record);
        match curve.lever {
            Lever::Units => put_units_curve(&mut text, record, curve),
            Lever::Rate | Lever::QueueDepth | Lever::Workers => {
                put_curve(&mut text, record, curve);
            }
        }
        return text;
    }
    let mut steps: BTreeMap<u32, Vec<&JobRecord>> = BTreeMap::new();
    for job in &record.jobs {
        steps.entry(job.step_idx).or_default().push(job);
    }
    for (step_idx, jobs) in &steps {
        if steps.len() > 1 {
            let known = record.steps.iter().find(|step| step.step_idx == *step_idx);
            let name = known.map_or("", |step| step.name.as_str());
            let _ = writeln!(text, "{}", step_title(u64::from(*step_idx) + 1, name));
        }
        put_step(&mut text, record, *step_idx, jobs);
        put_hosts(&mut text, record, *step_idx);
    }
    put_disks(&mut text, &record.disks);
    if text.is_empty() {
        text.push_str("nothing was measured\n");
    }
    text
}

/// Puts how the run ended, unless well, and all notes, the weightiest first.
fn put_notes(text: &mut String, record: &Record) {
    let after = format_duration(Duration::from_nanos(record.elapsed_ns));
    match record.outcome {
        Outcome::Complete => {}
        Outcome::Interrupted => {
            let _ = if record.has_measured() {
                writeln!(text, "interrupted after {after}: this is what was measured until then")
            } else {
                writeln!(text, "interrupted after {after}, before anything was measured")
            };
        }
        Outcome::Failed => {
            let n_failed = record.jobs.iter().filter(|job| is_failed(job)).count();
            let _ = match n_failed {
                // What failed stands below: a tree that is not there has no job that broke off.
                0 => writeln!(text, "failed after {after}"),
                n => writeln!(text, "failed after {after}: {}", plural(n as u64, "failed job")),
            };
        }
        Outcome::Partial => {
            let _ = writeln!(text, "partial: {}", record.losses_text());
        }
    }
    let mut notes: Vec<&Note> = record.notes.iter().collect();
    notes.sort_by_key(|note| match note.severity {
        NoteSeverity::Error => 0,
        NoteSeverity::Warning => 1,
        NoteSeverity::Info => 2,
    });
    for note in notes {
        let severity = match note.severity {
            NoteSeverity::Error => "error",
            NoteSeverity::Warning => "warning",
            NoteSeverity::Info => "note",
        };
        text.push_str(&wrap(&format!("{severity}: {}", note.message), 2, COLUMNS));
    }
    if !text.is_empty() {
        text.push('\n');
    }
}

/// Puts that nothing real was measured, and what instead.
fn put_emulation(text: &mut String, emulation: &EmulationRecord, elapsed_ns: u64) {
    let after = unbroken(&format_duration(Duration::from_nanos(elapsed_ns)));
    let time = match emulation.time.as_str() {
        "virtual" => format!("{after} of virtual time"),
        _ if (emulation.time_scale - 1.0).abs() < f64::EPSILON => "in real time".to_owned(),
        _ => format!("in time slowed {} times", emulation.time_scale),
    };
    let EmulationRecord { edition, cache, catalog_hash, .. } = emulation;
    let own = if catalog_hash.is_empty() { "" } else { " with own tables" };
    let designs = emulation.designs();
    let line = format!("simulated on `{designs}`, edition {edition}{own}, cache {cache}, {time}");
    text.push_str(&wrap(&line, 2, COLUMNS));
    if let Some(constant) = emulation.constant_latency() {
        text.push_str(&wrap(&constant, 2, COLUMNS));
    }
    text.push('\n');
}

fn put_step(text: &mut String, record: &Record, step_idx: u32, jobs: &[&JobRecord]) {
    let units = record.units.iter().find(|units| units.step_idx == step_idx);
    let merged = units.map_or(Vec::new(), |_| by_name(jobs));
    let of_components: Vec<&JobRecord> = merged.iter().collect();
    let jobs = if units.is_some() { &of_components } else { jobs };
    if let Some(units) = units {
        put_components(text, units);
        text.push('\n');
    }
    text.push_str(&header());
    for job in jobs.iter().take(ENTRIES_MAX) {
        put_job(text, job, record);
    }
    if jobs.len() > ENTRIES_MAX {
        let n_more = plural((jobs.len() - ENTRIES_MAX) as u64, "more entry");
        let _ = writeln!(text, "... and {n_more}, in the total below and in the record");
    }
    if jobs.len() > 1 {
        let mut total = jobs[0].clone();
        for job in &jobs[1..] {
            total.merge(job);
        }
        let _ = writeln!(text, "total of {}", plural(u64::from(total.n_workers), "worker"));
        text.push_str(&direction_rows(&total));
    }
    put_spread(text, record, step_idx);
    text.push('\n');
}

/// Merges entries of the same name: processes of a component, of which there may be hundreds.
fn by_name(jobs: &[&JobRecord]) -> Vec<JobRecord> {
    let mut merged: Vec<JobRecord> = Vec::new();
    for job in jobs {
        match merged.iter_mut().find(|known| known.name == job.name) {
            Some(known) => known.merge(job),
            None => merged.push((*job).clone()),
        }
    }
    merged
}

fn put_job(text: &mut String, job: &JobRecord, record: &Record) {
    text.push_str(&title(job, record));
    text.push_str(&direction_rows(job));
    if !job.engine_used.is_empty() && job.engine_used.len() > SHORT_ENGINE {
        put_line(text, "engine", &job.engine_used);
    }
    // On a slow clock more of the host's time passes per second.
    let time_scale = record.emulation.as_ref().map_or(1.0, |emulation| emulation.time_scale);
    put_load(text, job, time_scale);
    put_caps(text, job);
    put_outcome(text, job);
}

/// Puts which cap held a job and how far the next one is.
fn put_caps(text: &mut String, job: &JobRecord) {
    let Some(caps) = &job.caps else { return };
    let mut line = match caps.binding_cap() {
        Some(cap) => {
            let share = unbroken(&format_percent(caps.binding_held_share()));
            let mut words = cap_words(cap);
            for cap in caps.binding_too() {
                let _ = write!(words, " and {}", cap_words(cap));
            }
            let both = if caps.binding_too().is_empty() { "" } else { ", all at their limit," };
            let slots = if caps.counts_slots() { ", with the slots it fills," } else { "" };
            format!("{words}{both}{slots} {share} of the I/O time")
        }
        None if job.arrivals.as_ref().is_some_and(is_kept_up_with) => {
            "no cap: the rate is the one that was asked for".to_owned()
        }
        None => "no cap: queue depth and latency limit the rate".to_owned(),
    };
    for (idx, cap) in caps.binding_at_times().iter().enumerate() {
        let words = if idx == 0 { "; at times:" } else { "," };
        let share = unbroken(&format_percent(cap.held_share));
        let _ = write!(line, "{words} {}, {share}", cap_words(cap));
    }
    if let (Some(cap), Some(away_share)) = (caps.next_cap(), caps.next_away_share) {
        let away = unbroken(&format_percent(away_share));
        let _ = write!(line, "; next: {}, {away} away", cap_words(cap));
    }
    put_line(text, "held by", &line);
    if let Some(lasts) = job.rates_last() {
        put_line(text, "lasts", &lasts);
    }
}

/// Returns whether no more was due and not submitted in the end than in the beginning.
fn is_kept_up_with(arrivals: &ArrivalsRecord) -> bool {
    arrivals.backlog_end <= arrivals.backlog_start
}

/// Returns a cap with its limit: `disk_iops /mnt/a (5,000/s)`. Where the disks of a stripe are not
/// equally loaded, the busiest one is the limit.
fn cap_words(cap: &CapRecord) -> String {
    let is_uneven = cap.n_disks > 1 && cap.busiest_used_share > UNEVEN * cap.used_share;
    let n_parts = if is_uneven { u64::from(cap.n_disks) } else { 1 };
    let rate = |per_s: u64| match cap.traits().counts {
        CapCountRecord::Slots => format!("{per_s} calls"),
        CapCountRecord::Operations => format!("{}/s", count(per_s)),
        CapCountRecord::Bytes if cap.is_in_mb => format_rate_mb_s(per_s as f64),
        CapCountRecord::Bytes => format_rate_mib_s(per_s as f64),
    };
    let mut limit = unbroken(&rate(cap.per_s / n_parts));
    // More than it sustains was carried: what it carries then is the limit to compare with.
    if cap.burst_per_s > 0 && cap.fullest_share() > BURSTING {
        let burst = unbroken(&rate(cap.burst_per_s / n_parts));
        limit = format!("{limit} sustained, {burst} in bursts");
    }
    match cap.n_disks {
        n if is_uneven => format!("{}, the busiest of {n} disks ({limit} each)", cap.name),
        _ => format!("{} ({limit})", cap.name),
    }
}

/// The busiest disk of a stripe over the mean, from which on it is named.
const UNEVEN: f64 = 1.1;

/// Share of what a cap sustains that was used, from which on it has burst.
const BURSTING: f64 = 1.01;

/// Longest name of an engine that is put beside the user's name for it.
const SHORT_ENGINE: usize = 12;

/// Returns the line above an entry's rows: who did what to which target.
fn title(job: &JobRecord, record: &Record) -> String {
    let workers = plural(u64::from(job.n_workers), "worker");
    let engine = match job.engine_used.as_str() {
        // `libaio` is aio: nothing to add.
        used if job.engine.contains(used) || used.len() > SHORT_ENGINE => job.engine.clone(),
        used => format!("{} ({used})", job.engine),
    };
    // Of an option that is written twice the later one counts.
    let mut options = job.options.iter().rev().chain(record.global_options.iter().rev());
    let access = options.find(|(name, _)| name == "rw");
    let access = access.map_or("", |(_, value)| value.as_str());
    let mut parts = vec![format!("{workers} x depth {}", job.queue_depth), engine];
    parts.push(format!("{access} {}", block_size(job)).trim().to_owned());
    parts.push(match job.targets.as_slice() {
        [] => String::new(),
        [target] => target.clone(),
        [target, ..] => format!("{target}, ..."),
    });
    parts.retain(|part| !part.is_empty());
    let name = fit(&job.name, NAME_COLUMNS);
    // What does not fit is left out from the end: the target first.
    while parts.len() > 1 && name.chars().count() + 2 + width(&parts) > COLUMNS {
        parts.pop();
    }
    format!("{name}: {}\n", parts.join(", "))
}

fn width(parts: &[String]) -> usize {
    parts.iter().map(|part| part.chars().count() + 2).sum::<usize>().saturating_sub(2)
}

/// Puts how much was moved, how full the queue was kept, and what the load generator spent of the
/// host's time, of which `time_scale` seconds passed per second of the run's.
fn put_load(text: &mut String, job: &JobRecord, time_scale: f64) {
    let dir_runtime_ns = job.dirs.iter().map(|(_, dir)| dir.runtime_ns).max().unwrap_or(0);
    if job.n_ios() == 0 || job.runtime_ns == 0 || dir_runtime_ns == 0 {
        text.push_str("  no I/O\n");
        return;
    }
    let moved = format_bytes(job.io_bytes());
    let runtime = format_duration(Duration::from_millis(shown_ms(dir_runtime_ns)));
    let mut line = format!("{moved} in {runtime}");
    if let Some(in_flight) = in_flight(job, dir_runtime_ns) {
        let depth = u64::from(job.queue_depth) * u64::from(job.n_workers);
        let _ = write!(line, ", with {in_flight} of {depth} I/Os in flight on average");
    }
    put_line(text, "moved", &line);
    if job.lacks_cpu {
        return;
    }
    let share = |cpu_ns: u64| format_percent(cpu_ns as f64 / (job.runtime_ns as f64 * time_scale));
    let mut line = format!("{} user, {} system", share(job.cpu_user_ns), share(job.cpu_system_ns));
    let n_ios = job.n_ios();
    let cpu_ns = job.cpu_user_ns.saturating_add(job.cpu_system_ns).checked_div(n_ios);
    // The kernel counts CPU time by its tick: a run of a few milliseconds may show none.
    if let Some(cpu_ns) = cpu_ns.filter(|cpu_ns| *cpu_ns > 0) {
        let _ = write!(line, ", {} per I/O", format_latency_ns(cpu_ns));
    }
    let _ = write!(line, "; {} context switches", count(job.context_switches));
    put_line(text, "cpu", &line);
}

/// Returns a runtime in milliseconds, from a second on to the nearest hundredth of one.
fn shown_ms(runtime_ns: u64) -> u64 {
    match runtime_ns.div_ceil(1_000_000) {
        ms @ ..1000 => ms,
        ms => (ms + 5) / 10 * 10,
    }
}

/// Puts what was searched for, and what went wrong.
fn put_outcome(text: &mut String, job: &JobRecord) {
    if let Some(target) = &job.latency_target {
        let goal =
            format!("{} % within {}", target.percentile, format_latency_ns(target.target_ns));
        let depth = target.queue_depth;
        let found = if target.met { "up to" } else { "missed even at" };
        put_line(text, "target", &format!("{goal} {found} depth {depth}"));
    }
    if let Some(steady) = &job.steady {
        let attained = if steady.attained { "attained" } else { "not attained" };
        let last = if steady.criterion_text.ends_with('%') { " %" } else { "" };
        let line = format!("{} {attained}: {:.3}{last}", steady.criterion_text, steady.criterion);
        put_line(text, "steady", &line);
    }
    for (dir, result) in job.dirs.iter() {
        for (errno, n) in &result.errors {
            put_line(text, "errors", &format!("{n} x {} on {dir}", error_words(*errno)));
        }
    }
    if is_failed(job) {
        put_line(text, "failed", &error(job));
    }
}

/// Returns why a job failed.
fn error(job: &JobRecord) -> String {
    match job.error_message.as_str() {
        "" => error_words(job.error_errno),
        message => message.to_owned(),
    }
}

/// Failed jobs of a suite or a curve that are named.
const FAILURES_MAX: usize = 6;

/// Puts why jobs of a suite or a curve failed, whose steps are no entries of the summary.
fn put_failures(text: &mut String, record: &Record) {
    for job in record.jobs.iter().filter(|job| job.error_errno != 0).take(FAILURES_MAX) {
        let step = record.steps.iter().find(|step| step.step_idx == job.step_idx);
        let name = step.map_or(job.name.as_str(), |step| step.name.as_str());
        text.push_str(&wrap(&format!("{name} failed: {}", error(job)), 2, COLUMNS));
    }
}

/// Returns whether a job ended with an error, and did not just count it.
fn is_failed(job: &JobRecord) -> bool {
    job.error_errno != 0 && !job.print.continue_on_error
}

/// Puts how far the seconds of a step lie apart, without those of the ramp and a last, cut one. A
/// longer one counts for as long as it was.
fn put_spread(text: &mut String, record: &Record, step_idx: u32) {
    let seconds = sampled::measured(record, step_idx);
    let rate = |it: &&record::Interval| {
        let n_ios = it.dirs.iter().map(|(_, dir)| dir.n_ios).sum();
        (it.length_ms, sampled::per_s(it, n_ios))
    };
    let mut rates = hist::Stats::new();
    let sampled = Sampled::of(&seconds.iter().map(rate).collect::<Vec<_>>());
    for rate in &sampled.samples {
        rates.record(rate.round() as u64);
    }
    if rates.n_samples() >= 3 && rates.mean() > 0.0 {
        // A sampler is late by a few milliseconds.
        let period = match sampled::usual_ms(seconds.iter().map(|it| it.length_ms)) {
            ms if ms.saturating_add(25) / 50 * 50 == 1000 => "second".to_owned(),
            ms => format_duration(Duration::from_millis(ms.saturating_add(25) / 50 * 50)),
        };
        let _ = writeln!(
            text,
            "per {period}: {} to {} IOPS, standard deviation {}",
            format_iops(rates.min() as f64),
            format_iops(rates.max() as f64),
            format_percent(rates.stdev() / rates.mean()),
        );
    }
}

fn put_disks(text: &mut String, disks: &[DiskRecord]) {
    for disk in disks.iter().take(DISKS_MAX) {
        let mut line = format!("{} busy", format_percent(disk.util_pct / 100.0));
        let kinds = [
            ("read", disk.read_ios, disk.read_merges, disk.read_ticks_ms),
            ("write", disk.write_ios, disk.write_merges, disk.write_ticks_ms),
        ];
        for (name, n_ios, n_merged, ticks_ms) in kinds {
            if n_ios > 0 {
                let mean_ns = u128::from(ticks_ms) * 1_000_000 / u128::from(n_ios);
                let mean = unbroken(&format_latency_ns(mean_ns as u64));
                let _ = write!(line, ", {} at {mean}", unbroken(&count_of(n_ios, name)));
                if n_merged > 0 {
                    let _ = write!(line, " (+{} merged)", unbroken(&count(n_merged)));
                }
            }
        }
        text.push_str(&wrap(&format!("disk {}: {line}", disk.name), 2, COLUMNS));
    }
    if disks.len() > DISKS_MAX {
        let _ = writeln!(text, "... and {}", plural((disks.len() - DISKS_MAX) as u64, "more disk"));
    }
}

/// Puts a line under an entry, its name in the column of the directions.
fn put_line(text: &mut String, name: &str, line: &str) {
    text.push_str(&wrap(&format!("  {name:<9} {line}"), table::LABEL_WIDTH + 1, COLUMNS));
}
