//! What a plan means, in 80 columns: its targets, and the parameters that are not as usual, which
//! follow from the registry. Pure.

mod tree;

use std::fmt::Write as _;
use std::time::Duration;

use plan::job::{Part, PartRegion, RateOf};
use plan::param::{self, Category, Setting, Value};
use plan::workload::BlockSize;
use plan::{Job, Plan, Step};
use units::{format_bytes, format_duration, format_percent, format_percent_exact, plural};

use crate::summary::step_title;

/// Columns that every line keeps to, unless a single word is longer.
const COLUMNS: usize = 80;
/// Column at which facts start.
const INDENT: usize = 14;
/// Targets that are named: enough to recognise them.
const TARGETS_MAX: usize = 4;

/// Returns the plan: steps, jobs, and what each job does.
pub(crate) fn page(plan: &Plan) -> String {
    let n_jobs = plan.jobs().count();
    let n_workers: u64 = plan.jobs().map(|job| u64::from(job.n_workers)).sum();
    let mut groups: Vec<u32> = plan.jobs().map(|job| job.group_id).collect();
    groups.dedup();
    let counts = [
        plural(plan.steps.len(), "step"),
        plural(groups.len(), "group"),
        plural(n_jobs, "job"),
        plural(n_workers, "worker"),
    ];
    let mut page = format!("{}\n", counts.join(", "));
    for (step_idx, step) in plan.steps.iter().enumerate() {
        if plan.steps.len() > 1 {
            let title = step_title(step_idx as u64 + 1, &step.name);
            let _ = write!(page, "\n{}", folded(&title));
        }
        put_step(&mut page, step);
        for job in &step.jobs {
            put_job(&mut page, job, step.rate_of);
        }
    }
    page.push_str("\nAll else is as usual: `plimsoll explain PARAMETER` says what that is.\n");
    page
}

/// Puts what a step says besides its jobs.
fn put_step(page: &mut String, step: &Step) {
    if step.pause_ns > 0 {
        let pause = format_duration(Duration::from_nanos(step.pause_ns));
        put_fact(page, "begins", &[format!("after a pause of {pause}")], ",");
    }
    put_fact(page, "load", &tree::units(&step.jobs), ",");
    put_fact(page, "before", &step.exec_before, ";");
    put_fact(page, "after", &step.exec_after, ";");
    let most = &step.amount_max;
    let most =
        [(most.total_bytes, "moved"), (most.read_bytes, "read"), (most.write_bytes, "written")];
    let most = most.iter().filter(|(bytes, _)| *bytes > 0);
    let ends = most.map(|(bytes, done)| format!("when {} are {done}", exact_bytes(*bytes)));
    put_fact(page, "ends", &ends.collect::<Vec<_>>(), ",");
}

/// Names the targets of a job; of generated files the first, which the others resemble. The files
/// of a record are known once it is read.
pub(crate) fn targets(job: &Job) -> Vec<String> {
    if replays(job) {
        return job.logs.replay.redirect.iter().cloned().collect();
    }
    let mut first = job.clone();
    first.n_workers = 1;
    first.files.n_files = 1;
    let plan =
        Plan { steps: vec![Step { jobs: vec![first], ..Step::default() }], ..Plan::default() };
    runner::target_paths(&plan).map(|path| path.display().to_string()).collect()
}

/// Counts the files that a job generates; 0 where it names its targets.
pub(crate) fn n_generated(job: &Job) -> u64 {
    let is_named = !job.files.names.is_empty() || replays(job);
    if is_named { 0 } else { u64::from(job.n_workers) * u64::from(job.files.n_files) }
}

/// Returns whether a job issues recorded operations.
fn replays(job: &Job) -> bool {
    !job.logs.read_replay.is_empty()
}

fn put_job(page: &mut String, job: &Job, rate_of: Option<RateOf>) {
    let _ = write!(page, "\n  {}", job.name);
    let mut remarks = Vec::new();
    if job.n_workers > 1 {
        remarks.push(plural(job.n_workers, "worker"));
    }
    remarks.push(format!("group {}", job.group_id));
    let _ = writeln!(page, " ({})", remarks.join(", "));
    if let Some(work) = &job.tree {
        put_fact(page, "anchor", std::slice::from_ref(&work.tree.anchor), ",");
        if let Some(own) = &work.tree.own {
            put_fact(page, "processes", &tree::processes(job, own), ",");
        }
        put_fact(page, "tree", &tree::structure(&work.tree), ",");
        put_fact(page, "files", &tree::open(work), ",");
        put_fact(page, "does", &tree::activity(work), ",");
    } else {
        put_fact(page, "targets", &target_facts(job), ",");
    }
    let mut settings = param::settings(job);
    // Parts have their own I/O.
    settings.retain(|it| job.parts.is_empty() || it.param.category() != Category::Workload);
    settings.sort_by_key(|it| it.param.category());
    for of_chapter in settings.chunk_by(|a, b| a.param.category() == b.param.category()) {
        put_settings(page, of_chapter[0].param.category().word(), of_chapter);
    }
    for part in &job.parts {
        put_part(page, job, part);
    }
    // Of a point of a curve the plan holds shares only.
    if let Some(of) = rate_of {
        let pct = of.pct * job.load.rate_total_iops.unwrap_or(100.0) / 100.0;
        let noun = if job.tree.is_some() { "operations" } else { "I/Os" };
        let share = format_percent_exact(pct / 100.0, 2);
        let fact = format!("{share} of the {noun} per second of step {}", of.step_idx + 1);
        put_fact(page, "rate", &[fact], ",");
    }
}

/// Puts parameters that are not as usual, as one would write them on a command line.
fn put_settings(page: &mut String, label: &str, settings: &[Setting]) {
    let fact = |Setting { param, value, text }: &Setting| match value {
        Value::Bool(true) | Value::Absent => param.name.to_owned(),
        _ if text.contains(char::is_whitespace) => {
            format!("{}=\"{}\"", param.name, plan::shortened(text))
        }
        _ => format!("{}={}", param.name, plan::shortened(text)),
    };
    put_fact(page, label, &settings.iter().map(fact).collect::<Vec<_>>(), "");
}

/// Puts one of several workloads that a job mixes.
fn put_part(page: &mut String, job: &Job, part: &Part) {
    let sharing = job.parts.iter().filter(|part| part.rate_iops.is_none());
    let total: f64 = sharing.map(|part| part.weight).sum();
    let share = match part.rate_iops {
        Some(rate) => format!("{rate} I/Os per second"),
        None => format_percent_exact(part.weight / total, 2),
    };
    let mut facts = vec![part.name.clone(), share];
    facts.extend(match part.region {
        PartRegion::Whole => None,
        PartRegion::Pct(from, to) => Some(format!("from {from} to {to} % of the target")),
        PartRegion::Bytes(from, to) => {
            Some(format!("from {} to {} of the target", format_bytes(from), format_bytes(to)))
        }
    });
    put_fact(page, "part", &facts, ",");
    let own = Job { workload: part.workload.clone(), parts: Vec::new(), ..job.clone() };
    let is_own = |it: &Setting| it.param.category() == Category::Workload;
    let settings: Vec<Setting> = param::settings(&own).into_iter().filter(is_own).collect();
    put_settings(page, "", &settings);
}

/// Appends facts behind their label, with something between them at which lines break; nothing
/// where there are none.
fn put_fact(page: &mut String, label: &str, facts: &[String], between: &str) {
    if facts.is_empty() {
        return;
    }
    let mut line = format!("    {label:<width$}", width = INDENT - 4);
    let mut is_empty = true;
    for (idx, fact) in facts.iter().enumerate() {
        let comma = if idx + 1 < facts.len() { between } else { "" };
        let fits = |line: &str, text: &str| line.chars().count() + text.chars().count() < COLUMNS;
        // A fact stays on one line if it fits there; else it goes on at its blanks.
        let fact = format!("{fact}{comma}");
        if !is_empty && !fits(&line, &fact) {
            let _ = writeln!(page, "{}", line.trim_end());
            line = " ".repeat(INDENT);
            is_empty = true;
        }
        for word in unbroken(&fact) {
            if !is_empty && !fits(&line, word) {
                let _ = writeln!(page, "{}", line.trim_end());
                line = " ".repeat(INDENT);
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
    }
    let _ = writeln!(page, "{line}");
}

/// Takes a text apart at its blanks, but for those between a number and its unit.
fn unbroken(text: &str) -> impl Iterator<Item = &str> {
    let is_unit = |text: &str| text.starts_with(['%', 'B', 'K', 'M', 'G', 'T']);
    let is_number = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let is_break = |at: &usize| !(is_number(&text[..*at]) && is_unit(&text[at + 1..]));
    let breaks = text.match_indices(' ').map(|(at, _)| at).filter(is_break);
    let ends = breaks.chain([text.len()]).collect::<Vec<_>>();
    let starts = [0].into_iter().chain(ends.clone().into_iter().map(|end| end + 1));
    starts.zip(ends).map(|(start, end)| &text[start..end])
}

/// Returns lines that are broken at blanks to fit, each with what follows set back below it.
pub(crate) fn folded(lines: &str) -> String {
    let mut text = String::with_capacity(lines.len());
    for line in lines.lines() {
        let mut n_columns = 0;
        for word in unbroken(line) {
            let n_more = word.chars().count();
            if n_columns > 0 && n_columns + 1 + n_more > COLUMNS {
                text.push_str("\n   ");
                n_columns = 3;
            }
            if n_columns > 0 {
                text.push(' ');
                n_columns += 1;
            }
            text.push_str(word);
            n_columns += n_more;
        }
        text.push('\n');
    }
    text
}

fn target_facts(job: &Job) -> Vec<String> {
    let all = targets(job);
    let shown = |target: &String| plan::shortened(target).into_owned();
    let mut facts: Vec<String> = all.iter().take(TARGETS_MAX).map(shown).collect();
    if replays(job) && all.is_empty() {
        facts.push("the files that the record names".to_owned());
    }
    if all.len() > TARGETS_MAX {
        facts.push(format!("{} more", all.len() - TARGETS_MAX));
    }
    if n_generated(job) > 1 {
        facts.push(format!("{} more like it", n_generated(job) - 1));
    }
    facts
}

fn block_words(size: &BlockSize) -> String {
    let bytes = |bytes: u32| exact_bytes(u64::from(bytes));
    match size {
        BlockSize::Fixed(size) => bytes(*size),
        BlockSize::Range { min, max } => format!("{} to {}", bytes(*min), bytes(*max)),
        BlockSize::Split(parts) => {
            let words = |(size, pct): &(u32, u8)| format!("{} ({pct} %)", bytes(*size));
            parts.iter().map(words).collect::<Vec<_>>().join(" ")
        }
        BlockSize::Weighted(parts) => {
            let sum: f64 = parts.iter().map(|part| f64::from(part.1)).sum();
            let words = |(size, weight): &(u32, u32)| {
                format!("{} ({})", bytes(*size), format_percent(f64::from(*weight) / sum))
            };
            parts.iter().map(words).collect::<Vec<_>>().join(" ")
        }
        BlockSize::Stepped { min, max, step } => {
            format!("{} to {} by {}", bytes(*min), bytes(*max), bytes(*step))
        }
    }
}

/// Prints bytes in the largest unit that loses nothing: `4 KiB`, `1536 MiB`, `1000 B`.
fn exact_bytes(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = |&&(shift, _): &&(u32, &str)| bytes >> shift > 0 && bytes.trailing_zeros() >= shift;
    match units.iter().find(fits) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} B"),
    }
}
