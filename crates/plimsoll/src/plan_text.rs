//! What a plan means, in words and 80 columns. Pure.

mod tree;

use std::fmt::Write as _;
use std::time::Duration;

use plan::files::{FileService, Size, SyncMode};
use plan::job::{Part, PartRegion, RateOf};
use plan::load::{Arrivals, Rate, RatePeriod, RatePeriods, ThinkCount};
use plan::workload::{Access, BlockSize, Distribution, Workload};
use plan::{Direction, Job, PerDir, Plan, Step};
use units::{format_bytes, format_duration, plural};

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
        if step.pause_ns > 0 {
            let _ = writeln!(page, "{:INDENT$}after a pause of {}", "", duration(step.pause_ns));
        }
        for job in &step.jobs {
            put_job(&mut page, job, step.rate_of);
        }
    }
    page
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
    let description = job.description.as_deref();
    let about = ("about", description.map(str::to_owned).into_iter().collect());
    let [targets, engine, access, size] = match &job.tree {
        Some(work) => [
            ("anchor", vec![work.tree.anchor.clone()]),
            ("tree", tree::structure(&work.tree)),
            ("files", tree::open(work)),
            ("does", tree::activity(work)),
        ],
        None => [
            ("targets", target_facts(job)),
            ("engine", engine_facts(job)),
            ("access", access_facts(job)),
            ("size", size_facts(job)),
        ],
    };
    let facts: [(&str, Vec<String>); 8] = [
        about,
        targets,
        engine,
        access,
        size,
        ("load", load_facts(job, rate_of)),
        ("time", time_facts(job)),
        ("besides", other_facts(job)),
    ];
    for (label, facts) in facts {
        if !facts.is_empty() {
            put_fact(page, label, &facts);
        }
    }
}

/// Appends facts behind their label, broken at commas.
fn put_fact(page: &mut String, label: &str, facts: &[String]) {
    let mut line = format!("    {label:<width$}", width = INDENT - 4);
    let mut is_empty = true;
    for (idx, fact) in facts.iter().enumerate() {
        let comma = if idx + 1 < facts.len() { "," } else { "" };
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
    let files = &job.files;
    if files.names.is_empty() && files.n_files > 1 {
        facts.push(format!("{} per worker", plural(files.n_files, "file")));
        facts.push(match files.service {
            FileService::RoundRobin => "in turn".to_owned(),
            FileService::Random => "at random".to_owned(),
            FileService::Sequential => "one after another".to_owned(),
            FileService::Zipf(theta) => format!("zipf {theta}"),
            FileService::Pareto(h) => format!("pareto {h}"),
            FileService::Normal(deviation) => format!("normal {deviation:.1} %"),
        });
    }
    if files.unlink {
        facts.push("removed at the end".to_owned());
    }
    facts
}

fn engine_facts(job: &Job) -> Vec<String> {
    let mut facts = vec![job.engine.name.clone()];
    facts.push(if job.files.direct {
        "direct".to_owned()
    } else {
        "through the page cache".to_owned()
    });
    match job.files.sync {
        SyncMode::None => {}
        SyncMode::Sync => facts.push("each write durable (O_SYNC)".to_owned()),
        SyncMode::Dsync => facts.push("each write's data durable (O_DSYNC)".to_owned()),
    }
    facts
}

fn access_facts(job: &Job) -> Vec<String> {
    if replays(job) {
        let stall = if job.logs.replay.no_stall { "without" } else { "with" };
        let records = job.logs.read_replay.join(" and ");
        return vec![format!("as recorded in {records}"), format!("{stall} its waits")];
    }
    if job.parts.is_empty() {
        return workload_facts(&job.workload);
    }
    let sharing = job.parts.iter().filter(|part| part.rate_iops.is_none());
    let total: f64 = sharing.map(|part| part.weight).sum();
    let of_part = |part: &Part| {
        let share = match part.rate_iops {
            Some(rate) => format!("{rate} I/Os per second"),
            None => format!("{} %", (1e4 * part.weight / total).round() / 100.0),
        };
        let mut facts = workload_facts(&part.workload);
        facts.extend(match part.region {
            PartRegion::Whole => None,
            PartRegion::Pct(from, to) => Some(format!("from {from} to {to} % of the target")),
            PartRegion::Bytes(from, to) => {
                Some(format!("from {} to {} of the target", format_bytes(from), format_bytes(to)))
            }
        });
        format!("{} ({share}): {}", part.name, facts.join(", "))
    };
    job.parts.iter().map(of_part).collect()
}

/// Returns what the I/O of one workload looks like.
fn workload_facts(workload: &Workload) -> Vec<String> {
    let mut facts = vec![access_words(workload.access, workload.read_pct)];
    facts.extend(block_facts(workload));
    if workload.access.random {
        if workload.access.issued().any(|dir| workload.random_pct[dir] < 100.0) {
            let shares = workload.access.issued().map(|dir| workload.random_pct[dir]);
            facts.push(format!("{} % random", shares.fold(100.0, f64::min)));
        }
        facts.extend(spread(workload));
    }
    if let Some(hits) = workload.hit_area {
        facts.push(format!(
            "{} % of the reads and {} % of the writes within the first {}",
            hits.read_pct,
            hits.write_pct,
            format_bytes(hits.len_bytes)
        ));
    }
    if let Some(zones) = workload.strided {
        let (size, skip) = (zones.zone_size_bytes, zones.zone_skip_bytes);
        facts.push(format!("zones of {}, {} left out", format_bytes(size), format_bytes(skip)));
    }
    facts
}

/// Returns the directions and the walk: `random, 70 % read and 30 % write`.
fn access_words(access: Access, read_pct: f64) -> String {
    let walk = if access.random { "random" } else { "sequential" };
    let what = if access.trim_then_write {
        "trim, then write of the same block".to_owned()
    } else if access.is_mixed() {
        // To a millionth of a percent, which is what counts.
        let write_pct = ((100.0 - read_pct) * 1e6).round() / 1e6;
        format!("{read_pct} % read and {write_pct} % write")
    } else {
        let parts = [(access.read, "read"), (access.write, "write"), (access.trim, "trim")];
        let names: Vec<&str> = parts.iter().filter(|part| part.0).map(|part| part.1).collect();
        names.join(" and ")
    };
    format!("{walk} {what}")
}

/// Returns the block sizes, once where the directions agree.
fn block_facts(workload: &Workload) -> Vec<String> {
    let sizes: Vec<(Direction, &BlockSize)> =
        workload.access.issued().map(|dir| (dir, &workload.block_size[dir])).collect();
    let is_same = sizes.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match sizes.first() {
        Some((_, size)) if is_same => vec![format!("blocks of {}", block_words(size))],
        _ => {
            let words = |(dir, size): &(Direction, &BlockSize)| {
                format!("{} blocks of {}", dir.name(), block_words(size))
            };
            sizes.iter().map(words).collect()
        }
    }
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
                format!("{} ({} %)", bytes(*size), f64::from(*weight) / sum * 100.0)
            };
            parts.iter().map(words).collect::<Vec<_>>().join(" ")
        }
        BlockSize::Stepped { min, max, step } => {
            format!("{} to {} by {}", bytes(*min), bytes(*max), bytes(*step))
        }
    }
}

/// Returns how random offsets are spread, once where the directions agree.
fn spread(workload: &Workload) -> Option<String> {
    let first = workload.access.issued().next()?;
    let words = match &workload.distribution[first] {
        Distribution::Uniform if workload.no_repeats => "every block once per pass".to_owned(),
        Distribution::Uniform => "blocks may repeat".to_owned(),
        Distribution::Zipf { theta, .. } => format!("zipf {theta}"),
        Distribution::Pareto { h, .. } => format!("pareto {h}"),
        Distribution::Normal { deviation_pct, .. } => format!("normal {deviation_pct:.1} %"),
        Distribution::Zoned(zones) => {
            format!("{} of unequal load", plural(zones.len(), "zone"))
        }
        Distribution::ZonedAbs(zones) => {
            format!("{} of unequal load", plural(zones.len(), "zone"))
        }
        Distribution::Sequence(blocks) => {
            format!("a sequence of {}", plural(blocks.len(), "block"))
        }
        Distribution::Exponential { mean } => format!("exponential {mean:.3}"),
        Distribution::Power { exponent } => format!("power {exponent}"),
    };
    Some(words)
}

fn size_facts(job: &Job) -> Vec<String> {
    if job.engine.kind.is_of_names() || replays(job) {
        return Vec::new();
    }
    let files = &job.files;
    let mut facts = Vec::new();
    match (files.size, files.file_size_bytes) {
        (_, Some((min, max))) if min == max => facts.push(format!("{} per file", exact_bytes(min))),
        (_, Some((min, max))) => {
            facts.push(format!("{} to {} per file", exact_bytes(min), exact_bytes(max)));
        }
        (Some(size), None) => facts.push(format!("{} per worker", size_words(size))),
        (None, None) => facts.push("all of the target".to_owned()),
    }
    if files.offset != Size::Bytes(0) {
        facts.push(format!("from {} on", size_words(files.offset)));
    }
    if files.offset_increment != Size::Bytes(0) {
        facts.push(format!("each worker {} further on", size_words(files.offset_increment)));
    }
    if let Some(io_size) = files.io_size {
        facts.push(format!("I/O of {}", size_words(io_size)));
    }
    facts
}

fn size_words(size: Size) -> String {
    match size {
        Size::Bytes(bytes) => exact_bytes(bytes),
        Size::Percent(percent) => format!("{percent} % of the target"),
        Size::Zones(zones) => plural(zones, "zone"),
    }
}

/// Periods of a rate that are listed at most.
const PERIODS_SHOWN: usize = 6;

/// Returns how a rate changes over time.
fn period_facts(periods: &RatePeriods, total: Option<f64>) -> String {
    let (listed, rate_max) = (&periods.periods, periods.rate_max());
    let rate = |it: &RatePeriod| it.rate / rate_max * total.unwrap_or(rate_max);
    let period = |it: &RatePeriod| {
        let rate = (rate(it) * 100.0).round() / 100.0;
        format!("{rate} for {}", duration(it.duration_ns))
    };
    let mut text = listed.iter().take(PERIODS_SHOWN).map(period).collect::<Vec<_>>().join(", ");
    if listed.len() > PERIODS_SHOWN {
        text.push_str(&format!(", and {} more", listed.len() - PERIODS_SHOWN));
    }
    let spikes = if periods.in_spikes { "; those of a second start together" } else { "" };
    format!("that is {text}, over and over{spikes}")
}

fn load_facts(job: &Job, rate_of: Option<RateOf>) -> Vec<String> {
    let load = &job.load;
    let mut facts = Vec::new();
    if job.tree.is_some() {
        facts.push(plural(job.n_workers, "thread"));
    } else if job.issues_one_at_a_time() {
        facts.push("one I/O at a time".to_owned());
    } else {
        facts.push(format!("queue depth {}", load.queue_depth));
    }
    if load.offload {
        facts.push("issued by a pool of threads".to_owned());
    }
    facts.extend(rate_facts(job, &load.rate, "at most"));
    facts.extend(rate_facts(job, &load.rate_min, "fails below"));
    let total = load.rate_total_iops;
    let noun = if job.tree.is_some() { "operations" } else { "I/Os" };
    match rate_of {
        // Of a point of a curve the plan holds shares only.
        Some(of) => {
            let pct = of.pct * total.unwrap_or(100.0) / 100.0;
            let pct = (pct * 100.0).round() / 100.0;
            facts.push(format!("{pct} % of the {noun} per second of step {}", of.step_idx + 1));
        }
        None => facts.extend(total.map(|rate| format!("at most {rate} {noun} per second in all"))),
    }
    facts.extend(load.rate_periods.as_ref().map(|periods| period_facts(periods, total)));
    let has_rate = total.is_some() || load.rate.iter().any(|(_, rate)| rate.is_some());
    if load.arrivals != Arrivals::Linear && has_rate {
        facts.push("random arrivals".to_owned());
    }
    if load.think.pause_ns > 0 {
        let count = match load.think.count {
            ThinkCount::Complete => "completed",
            ThinkCount::Issue => "issued",
        };
        let ios = plural(load.think.every_ios, "I/O");
        facts.push(format!("pause of {} after {ios} {count}", duration(load.think.pause_ns)));
    }
    if let Some(target) = load.latency_target {
        let (percentile, limit) = (target.percentile, duration(target.target_ns));
        facts.push(format!("the depth that keeps {percentile} % below {limit}"));
    }
    facts
}

fn rate_facts(job: &Job, rates: &PerDir<Option<Rate>>, verb: &str) -> Vec<String> {
    let given: Vec<(Direction, Rate)> =
        job.issued_directions().filter_map(|dir| Some((dir, rates[dir]?))).collect();
    let is_single = job.issued_directions().count() == 1;
    let words = |(dir, rate): &(Direction, Rate)| {
        let rate = match rate {
            Rate::Bytes(bytes) => format!("{}/s", exact_bytes(*bytes)),
            Rate::Iops(iops) => format!("{iops} IOPS"),
        };
        let dir = if is_single { String::new() } else { format!("{} ", dir.name()) };
        format!("{dir}{verb} {rate}")
    };
    given.iter().map(words).collect()
}

fn time_facts(job: &Job) -> Vec<String> {
    let limits = &job.limits;
    let mut facts = Vec::new();
    let (delay_min, delay_max) = limits.start_delay_ns;
    if delay_max > delay_min {
        facts.push(format!("starts after {} to {}", duration(delay_min), duration(delay_max)));
    } else if delay_min > 0 {
        facts.push(format!("starts after {}", duration(delay_min)));
    }
    if let Some(name) = &job.wait_for {
        facts.push(format!("starts when `{name}` has ended"));
    }
    if limits.ramp_ns > 0 {
        facts.push(format!("{} not counted", duration(limits.ramp_ns)));
    }
    match limits.runtime_ns {
        Some(runtime_ns) if limits.time_based => {
            facts.push(format!("runs {}", duration(runtime_ns)));
        }
        Some(runtime_ns) => facts.push(format!("runs {} at most", duration(runtime_ns))),
        None => {}
    }
    if limits.loops > 1 {
        facts.push(format!("{} passes", limits.loops));
    }
    if let Some(n_ios) = limits.n_ios_max {
        facts.push(format!("ends after {}", plural(n_ios, "I/O")));
    }
    if limits.steady.is_some() {
        facts.push("ends when steady".to_owned());
    }
    facts
}

fn other_facts(job: &Job) -> Vec<String> {
    let mut facts = Vec::new();
    if job.verify.method.is_some() {
        let when =
            if job.verify.verify_only { "what an earlier run wrote" } else { "what it wrote" };
        facts.push(format!("verifies {when}"));
    }
    let writes = job.access().write;
    if let Some(ratio) = job.buffers.compress_ratio.filter(|ratio| writes && *ratio > 1.0) {
        facts.push(format!("what is written compresses {ratio} times"));
    }
    if let Some(sets) = job.buffers.dedupe_sets.as_ref().filter(|sets| writes && sets.ratio > 1.0) {
        facts.push(format!("and deduplicates {} times", sets.ratio));
    }
    let durability = &job.durability;
    for (every, call) in
        [(durability.fsync_every, "fsync"), (durability.fdatasync_every, "fdatasync")]
    {
        if every > 0 {
            facts.push(format!("{call} after {}", plural(every, "write")));
        }
    }
    if durability.end_fsync {
        facts.push("fsync at the end".to_owned());
    }
    let logs = &job.logs;
    let names = [
        (&logs.bandwidth, "bandwidth"),
        (&logs.iops, "IOPS"),
        (&logs.latency, "latency"),
        (&logs.histogram, "histogram"),
    ];
    let written = names.iter().filter(|(prefix, _)| prefix.is_some());
    let written: Vec<&str> = written.map(|(_, name)| *name).collect();
    if !written.is_empty() {
        facts.push(format!("{} log", written.join(" and ")));
    }
    if job.reporting.group_reporting {
        facts.push("reported as a group".to_owned());
    }
    facts
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

fn duration(ns: u64) -> String {
    format_duration(Duration::from_nanos(ns))
}
