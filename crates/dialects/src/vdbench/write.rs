//! A plan as a Vdbench parameter file.

mod align;
mod left_out;
mod places;
mod processes;
mod read_back;
mod run_words;
mod same;
mod shares;
mod structures;
mod trees;
mod words;
mod writer;

use std::fmt::Write;

use plan::files::Size;
use plan::job::{PartRegion, RateOf};
use plan::load::{Rate, RatePeriod, RatePeriods};
use plan::workload::{BlockSize, Distribution, Workload};
use plan::{Job, Plan, Step};

use self::align::written_direction;
use self::places::{hit_area_bytes, lun_bytes, luns};
use self::run_words::RunWords;
use self::shares::{compress_ratio, flow_weight, own_rates, rate_iops, rate_periods, skews};
use self::words::{
    comment, curve_words, distribution_words, open_flags, rate_words, rounded, size_words, value,
};
use self::writer::{JobPosition, LeftOut, Writer};
use super::values::NS_PER_S;
use crate::translation::Translation;

/// Writes a plan as a Vdbench parameter file: each step becomes a run definition, each job storage
/// and workload definitions. What Vdbench has no word for is listed: the file is read back, and
/// what does not come back is lost.
pub fn write(plan: &Plan) -> Translation {
    let mut left_out = LeftOut::new();
    loop {
        let (writer, mut to) = write_without(plan, &left_out);
        let harming = read_back::check(plan, &writer, &mut to);
        // Each turn leaves out at least one job more.
        if harming.is_empty() {
            return to;
        }
        left_out.extend(harming);
    }
}

/// Writes a plan, but for these jobs. Returns what was written where, too.
fn write_without<'a>(plan: &Plan, left_out: &'a LeftOut) -> (Writer<'a>, Translation) {
    let mut writer = Writer::new(left_out);
    for (idx, step) in plan.steps.iter().enumerate() {
        // Points of a curve belong to the step that looks for its maximum.
        if step.rate_of.is_none() {
            let points = plan.steps.iter().filter_map(|step| step.rate_of);
            let points = points.filter(|of| of.step_idx as usize == idx).collect::<Vec<_>>();
            writer.step(idx, step, &points);
        }
    }
    writer.lone_format();
    if writer.n_processes > 1 {
        let _ = writeln!(writer.general, "hd=localhost,jvms={}", writer.n_processes);
    }
    let mut to = std::mem::take(&mut writer.to);
    let sections = [&writer.general, &writer.targets, &writer.workloads, &writer.runs];
    to.text = sections.into_iter().map(String::as_str).collect();
    (writer, to)
}

/// Elapsed time of a step that ends by amount, seconds: Vdbench always needs one.
const ELAPSED_S: u64 = 3600;

/// Parameters that say how large I/Os are.
const SIZES: [&str; 5] = [
    "block_size_bytes",
    "block_size_range",
    "block_size_split",
    "block_size_step_bytes",
    "block_size_weights",
];

impl Writer<'_> {
    fn step(&mut self, step_idx: usize, step: &Step, points: &[RateOf]) {
        let (jobs, n_processes) = processes::joined(&step.jobs);
        self.n_processes = self.n_processes.max(n_processes);
        let positions = (0..jobs.len()).map(|job_idx| (step_idx, job_idx));
        let mut kept: Vec<(JobPosition, Job)> = positions.zip(jobs).collect();
        kept.retain(|(position, job)| !self.leaves_out(*position, job));
        let (positions, jobs): (Vec<JobPosition>, Vec<Job>) = kept.into_iter().unzip();
        let step = &Step { jobs, ..step.clone() };
        let mut words = RunWords { rate_iops: Some(0.0), ..RunWords::default() };
        let n_rates = step.jobs.iter().filter_map(rate_iops).count();
        words.is_rate_of_some = (1..step.jobs.len()).contains(&n_rates)
            && step.jobs.iter().all(|job| job.parts.is_empty());
        self.noted.clear();
        self.compression(step);
        let noted_of_all = std::mem::take(&mut self.noted);
        for (position, job) in positions.into_iter().zip(&step.jobs) {
            words.is_shared |= job.load.flow.is_some();
            match &job.tree {
                Some(work) => self.tree_job(position, job, work, &mut words),
                None => self.raw_job(position, job, &mut words),
            }
            words.rate_iops = words.rate_iops.zip(rate_iops(job)).map(|(sum, own)| sum + own);
        }
        if words.workloads.is_empty() {
            return;
        }
        self.define_workloads(&mut words);
        self.noted = noted_of_all;
        let rd = self.run(step, &words, points);
        self.run_names.insert(step_idx, rd);
        for (mut written, workloads) in words.written {
            written.noted.extend(&self.noted);
            written.workloads =
                workloads.into_iter().map(|idx| words.workloads[idx].name.clone()).collect();
            self.written.push(written);
        }
    }

    /// Writes the workload definitions of a run, with their shares where these are not equal, or
    /// with the rates that only some of them have.
    fn define_workloads(&mut self, words: &mut RunWords) {
        let controls = if words.is_rate_of_some && !words.is_tree {
            if words.shares.iter().filter(|rate| **rate == 0.0).count() > 1 {
                self.to.lose("jobs without a rate beside one with: Vdbench puts them in an order");
            }
            own_rates(&words.shares)
        } else {
            skews(words)
        };
        for (workload, control) in words.workloads.iter_mut().zip(controls) {
            workload.body.push_str(&control);
            let kind = if words.is_tree { "fwd" } else { "wd" };
            let (name, is_new) = self.named(kind, &workload.title, &workload.body);
            if is_new {
                let _ = writeln!(self.workloads, "{kind}={name},{}", workload.body);
            }
            workload.name = name;
        }
    }

    fn raw_job(&mut self, position: JobPosition, job: &Job, words: &mut RunWords) {
        self.noted.clear();
        let access = job.workload.access;
        if job.n_workers > 1 && !access.random && !job.files.names.is_empty() {
            self.note(
                &["n_workers"],
                format!(
                    "a pass of its own for each of {} workers (`{}`): threads share one pass",
                    job.n_workers, job.name
                ),
            );
        }
        if job.files.invalidate && !job.files.direct && access.read {
            self.to.lose_values(
                &["invalidate"],
                "pages of the files are dropped from the cache first: Vdbench keeps them",
            );
        }
        let targets = self.storage(job);
        let mut workloads = Vec::new();
        for part in &job.parts {
            let mut body = self.raw_workload(&part.workload, part.region);
            if let Some(rate) = part.rate_iops {
                let _ = write!(body, ",iorate={}", rate_words(rate));
            }
            if part.priority > 0 {
                let _ = write!(body, ",priority={}", part.priority);
            }
            workloads.push(words.add(&part.name, body, &targets, part.weight));
        }
        if job.parts.is_empty() {
            let mut workload = job.workload.clone();
            workload.read_pct = self.read_pct(job);
            let body = self.raw_workload(&workload, PartRegion::Whole);
            let weight = flow_weight(job).unwrap_or(1.0);
            let without = if words.is_rate_of_some { 0.0 } else { weight };
            let share = rate_iops(job).unwrap_or(without);
            workloads.push(words.add(&job.name, body, &targets, share));
        }
        let is_near = |dir| {
            let is_fixed = matches!(job.workload.block_size[dir], BlockSize::Fixed(_));
            matches!(job.load.rate[dir], Some(Rate::Bytes(_))) && !is_fixed
        };
        if job.issued_directions().any(is_near) {
            self.note(
                &["rate"],
                "a rate in bytes where sizes differ: I/Os per second at their mean size",
            );
        }
        let written = self.written_job(position, job, targets);
        words.written.push((written, workloads));
    }

    /// Says how written data compresses: all of it alike, in Vdbench.
    fn compression(&mut self, step: &Step) {
        let writers = || step.jobs.iter().filter(|job| job.access().write);
        let Some(ratio) = writers().find_map(compress_ratio) else { return };
        let line = format!("compratio={}\n", rounded(ratio));
        let is_alike = writers().all(|job| compress_ratio(job) == Some(ratio));
        let is_other = |other: &str| other.starts_with("compratio=") && other != line.trim_end();
        if !is_alike || self.general.lines().any(is_other) {
            self.note(
                &["compress_pct", "compress_ratio"],
                "compression that differs between jobs: `compratio` counts for all",
            );
        }
        if !self.general.contains("compratio=") {
            self.general.push_str(&line);
        }
    }

    /// Returns what a workload definition says, but its name and what it works on.
    fn raw_workload(&mut self, workload: &Workload, region: PartRegion) -> String {
        let mut body = String::new();
        self.workload(workload, &mut body);
        body.push_str(&places::region_words(workload, region));
        body
    }

    /// Writes the storage definitions of a job and returns their names.
    fn storage(&mut self, job: &Job) -> Vec<String> {
        let luns = luns(job);
        // A thread has one I/O in flight, and so has a worker with an engine that waits for each.
        let depth = if job.issues_one_at_a_time() { 1 } else { job.load.queue_depth };
        let threads = depth.saturating_mul(job.n_workers).max(1);
        // A job's depth is shared by its files; the threads of a definition are its own.
        let each = (threads / luns.len().max(1) as u32).max(1);
        if each.saturating_mul(luns.len() as u32) != threads {
            self.note(
                &["queue_depth", "n_workers"],
                format!(
                    "{threads} I/Os in flight over {} files (`{}`): threads={each} is for each of \
                     them",
                    luns.len(),
                    job.name
                ),
            );
        }
        let align = self.alignment(job);
        let mut names = Vec::new();
        if let Some(text) = &job.description {
            let _ = writeln!(self.targets, "* {}: {}", comment(&job.name), comment(text));
        }
        for lun in &luns {
            let mut line = format!("lun={},threads={each}", value(lun));
            let offset_bytes = match job.files.offset {
                Size::Bytes(bytes) => bytes,
                Size::Percent(_) | Size::Zones(_) => 0,
            };
            if let Some(bytes) = lun_bytes(job) {
                // What lies before the offset is part of a definition's size.
                let _ = write!(line, ",size={}", bytes.saturating_add(offset_bytes));
            }
            if let Some((from, to)) = places::range_pct(job) {
                let _ = write!(line, ",range=({from},{to})");
            }
            if offset_bytes > 0 {
                let _ = write!(line, ",offset={offset_bytes}");
            }
            if let Some(bytes) = align {
                let _ = write!(line, ",align={bytes}");
            }
            if let Some(bytes) = hit_area_bytes(job) {
                let _ = write!(line, ",hitarea={bytes}");
            }
            let files = &job.files;
            let is_direct = files.direct || lun.starts_with("/dev/");
            if is_direct != files.direct {
                self.note(
                    &["direct", "buffered"],
                    format!("the page cache: Vdbench takes `{lun}` with direct I/O only"),
                );
            }
            line.push_str(&open_flags(is_direct, files.sync, files.fsync_on_close));
            let wanted = if luns.len() == 1 { job.name.as_str() } else { "" };
            let (name, is_new) = self.named("sd", wanted, &line);
            if is_new {
                let _ = writeln!(self.targets, "sd={name},{line}");
            }
            names.push(name);
        }
        names
    }

    fn workload(&mut self, workload: &Workload, line: &mut String) {
        let access = workload.access;
        if access.trim {
            self.note(&["access"], "trims: Vdbench has none");
        }
        let read_pct = match (access.read, access.write) {
            (true, true) => workload.read_pct,
            (_, true) => 0.0,
            _ => 100.0,
        };
        let dir = written_direction(workload);
        if access.is_mixed() && workload.block_size.read != workload.block_size.write {
            self.note(
                &SIZES,
                "sizes that differ between reads and writes: those of reads are taken",
            );
        }
        let size = size_words(&workload.block_size[dir]);
        let _ = write!(line, ",rdpct={read_pct},xfersize={size}");
        let is_even = workload.distribution[dir] == Distribution::Uniform;
        if access.random && is_even && workload.no_repeats && !workload.ends_with_region {
            self.to.lose_values(
                &["repeats_allowed"],
                "every random block once per pass: Vdbench draws places again and again",
            );
        }
        let seek = self.seek_words(workload, dir);
        let _ = write!(line, ",seekpct={seek}");
        if let Some((min, max)) = workload.skip_bytes {
            let _ = write!(line, ",stride=({min},{max})");
        }
        if workload.n_streams > 1 {
            let _ = write!(line, ",streams={}", workload.n_streams);
        }
        if let Some(hits) = workload.hit_area {
            let (read, write) = (rounded(hits.read_pct), rounded(hits.write_pct));
            let _ = write!(line, ",rhpct={read},whpct={write}");
        }
    }

    /// Writes the definition of a run and returns its name.
    fn run(&mut self, step: &Step, words: &RunWords, points: &[RateOf]) -> String {
        // A format of other structures, or before storage definitions, is a run of its own.
        let format = match &self.format {
            Some((text, _)) if words.is_tree && !text.contains("only") => Some(*text),
            _ => None,
        };
        if format.is_some() {
            self.format = None;
        }
        self.lone_format();
        self.n_runs += 1;
        let title = step.name.split(' ').next().unwrap_or_default();
        let (name, _) = self.named("rd", title, &format!("{}", self.n_runs));
        if !step.name.is_empty() && step.name != name {
            let _ = writeln!(self.runs, "* {}", comment(&step.name));
        }
        let (kind, rate_key) = if words.is_tree { ("fwd", "fwdrate") } else { ("wd", "iorate") };
        let rate = match words.rate_iops {
            _ if !points.is_empty() => curve_words(points),
            Some(rate) if rate > 0.0 => match rate_periods(step) {
                Some(periods) => self.period_words(periods, rate),
                None => rate_words(rate),
            },
            _ => "max".to_owned(),
        };
        let list: Vec<&str> = words.workloads.iter().map(|wd| wd.name.as_str()).collect();
        let list = list.join(",");
        let mut line = format!("rd={name},{kind}=({list}),{rate_key}={rate}");
        self.times(step, &mut line);
        if let Some(job) = step.jobs.first() {
            let has_rate = words.rate_iops.is_some_and(|rate| rate > 0.0);
            line.push_str(distribution_words(job.load.arrivals, has_rate, rate_periods(step)));
        }
        if let Some(format) = format {
            let _ = write!(line, ",format={format}");
        }
        let limits = [
            ("maxdata", step.amount_max.total_bytes),
            ("maxdataread", step.amount_max.read_bytes),
            ("maxdatawritten", step.amount_max.write_bytes),
        ];
        for (key, bytes) in limits.into_iter().filter(|(_, bytes)| *bytes > 0) {
            let _ = write!(line, ",{key}={bytes}");
        }
        let _ = writeln!(self.runs, "{line}");
        name
    }

    /// Returns the rates and seconds of a rate that changes, `rate_iops` at most.
    fn period_words(&mut self, periods: &RatePeriods, rate_iops: f64) -> String {
        if periods.periods.iter().any(|it| !it.duration_ns.is_multiple_of(NS_PER_S)) {
            self.note(
                &["rate_periods"],
                "periods of a rate that are not whole seconds: rounded up",
            );
        }
        let largest = periods.rate_max();
        let pair = |it: &RatePeriod| {
            let rate = rounded(it.rate / largest * rate_iops);
            format!("{rate},{}", it.duration_ns.div_ceil(NS_PER_S))
        };
        format!("({})", periods.periods.iter().map(pair).collect::<Vec<_>>().join(","))
    }

    fn times(&mut self, step: &Step, line: &mut String) {
        let seconds = |ns: u64| ns.div_ceil(1_000_000_000);
        let elapsed = step.jobs.iter().filter_map(|job| job.limits.runtime_ns).max().map(seconds);
        // Operations on files go on until something ends them.
        let ends = |job: &Job| {
            job.limits.runtime_ns.is_none() || (!job.limits.time_based && job.tree.is_none())
        };
        if step.jobs.iter().any(ends) {
            self.note(
                &["runtime", "time_based"],
                "an end by amount: Vdbench runs for its elapsed time, over and over; seekpct=eof \
                 ends a sequential workload at the end of its lun",
            );
        }
        self.times_that_differ(step);
        // At least two intervals, and a whole number of them.
        let elapsed = elapsed.unwrap_or(ELAPSED_S).max(2);
        let _ = write!(line, ",elapsed={elapsed},interval=1");
        let warmup = step.jobs.iter().map(|job| job.limits.ramp_ns).max().map_or(0, seconds);
        if warmup > 0 {
            let _ = write!(line, ",warmup={warmup}");
        }
        if step.pause_ns > 0 {
            let _ = write!(line, ",pause={}", seconds(step.pause_ns));
        }
        let of_jobs = |pick: fn(&Job) -> &Option<String>| step.jobs.iter().flat_map(pick).cloned();
        let before = step.exec_before.iter().cloned();
        let before = before.chain(of_jobs(|job| &job.process.exec_before));
        let after = of_jobs(|job| &job.process.exec_after).chain(step.exec_after.iter().cloned());
        let commands: [(&str, Vec<String>); 2] =
            [("startcmd", before.collect()), ("endcmd", after.collect())];
        for (key, command) in commands {
            let command = command.join("; ");
            if command.contains('"') {
                let name = if key == "startcmd" { "exec_before" } else { "exec_after" };
                self.note(&[name], format!("`{key}={command}`: quotes within a command"));
            } else if !command.is_empty() {
                let _ = write!(line, ",{key}=\"{command}\"");
            }
        }
    }

    /// Notes times of jobs that the one elapsed time and the one warm-up of a run do not say.
    fn times_that_differ(&mut self, step: &Step) {
        let runtimes = || step.jobs.iter().filter_map(|job| job.limits.runtime_ns);
        let ramps = || step.jobs.iter().map(|job| job.limits.ramp_ns);
        let is_uneven = runtimes().any(|it| Some(it) != runtimes().next())
            || ramps().any(|it| Some(it) != ramps().next());
        if is_uneven {
            self.note(
                &["runtime", "ramp_time"],
                "times that differ between jobs: the longest is that of the run",
            );
        }
        let is_whole = |ns: u64| ns.is_multiple_of(NS_PER_S);
        if !runtimes().all(|ns| is_whole(ns) && ns >= 2 * NS_PER_S) || !ramps().all(is_whole) {
            self.note(
                &["runtime", "ramp_time"],
                "times that are not whole seconds, or below two: rounded up",
            );
        }
        let arrivals = || step.jobs.iter().map(|job| job.load.arrivals);
        if arrivals().any(|it| Some(it) != arrivals().next()) {
            self.note(
                &["arrivals", "even_gaps"],
                "arrivals that differ between jobs: those of the first are taken",
            );
        }
    }
}
