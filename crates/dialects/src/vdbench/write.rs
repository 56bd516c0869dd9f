//! A plan as a Vdbench parameter file.

mod align;
mod common_values;
mod compression;
mod left_out;
mod of_run;
mod places;
mod processes;
mod run_words;
mod shares;
mod structures;
mod times;
mod words;
mod writer;

use std::fmt::Write;

use plan::files::{Fadvise, Fileset, Size};
use plan::job::{Part, PartRegion, RateOf};
use plan::load::Rate;
use plan::param::Field;
use plan::workload::{BlockSize, Distribution, HitArea, Workload};
use plan::{Direction, Job, Plan, Step, job_fields};

use self::align::written_direction;
use self::left_out::luns_are_devices;
use self::places::{NAMES, REGION, are_names_said, hit_area_bytes, is_region_said};
use self::run_words::{RunWords, WrittenJob};
use self::shares::{flow_weight, own_rates, rate_iops, skews};
use self::words::{comment, is_exact, open_flags, rate_words, rounded, size_words, value};
use self::writer::Writer;
use super::lower_raw::seed_of;
use crate::devices::is_device;
use crate::translation::{Translation, lun_bytes, luns};

/// Writes a plan as a Vdbench parameter file: each step becomes a run definition, each job storage
/// and workload definitions. Each value is answered for where it is written; what has no answer in
/// the end is lost.
pub fn write(plan: &Plan) -> Translation {
    let mut writer = Writer::new(plan);
    for (idx, step) in plan.steps.iter().enumerate() {
        // Points of a curve belong to the step that looks for its maximum.
        if step.rate_of.is_none() {
            let points = plan.steps.iter().filter_map(|step| step.rate_of);
            let points = points.filter(|of| of.step_idx as usize == idx).collect::<Vec<_>>();
            writer.step(step, &points);
        }
    }
    writer.lone_format();
    writer.close_compression();
    writer.close_errors();
    if writer.n_processes > 1 {
        let _ = writeln!(writer.general, "hd=localhost,jvms={}", writer.n_processes);
    }
    let mut to = writer.to;
    if writer.n_runs > 0 {
        let sections = [writer.general, writer.targets, writer.workloads, writer.runs];
        to.text = sections.concat();
        if let Some(why) = common_values::why_refused(&to.text) {
            to.text.clear();
            to.lose(format!("Vdbench does not take it: {why}"));
        }
    }
    to
}

/// Returns the fields that words say where they say them wholly; else none, and what differs is
/// lost.
fn said_if(is_whole: bool, fields: &[Field]) -> &[Field] {
    if is_whole { fields } else { &[] }
}

/// Returns the part of its file that a storage definition has.
fn lun_region_words(job: &Job) -> String {
    let mut words = String::new();
    let offset_bytes = match job.files.offset {
        Size::Bytes(bytes) => bytes,
        Size::Percent(_) | Size::Zones(_) => 0,
    };
    if let Some(bytes) = lun_bytes(job) {
        // What lies before the offset is part of a definition's size.
        let _ = write!(words, ",size={}", bytes.saturating_add(offset_bytes));
    }
    if let Some((from, to)) = places::range_pct(job) {
        let _ = write!(words, ",range=({from},{to})");
    }
    if offset_bytes > 0 {
        let _ = write!(words, ",offset={offset_bytes}");
    }
    words
}

/// Returns a job that does what one part of it does.
fn alone(job: &Job, part: Option<&Part>) -> Job {
    let workload = part.map_or(&job.workload, |part| &part.workload).clone();
    Job { workload, parts: Vec::new(), tree: None, options: Vec::new(), ..job.clone() }
}

impl Writer {
    fn step(&mut self, step: &Step, points: &[RateOf]) {
        let (mut jobs, n_processes) = processes::joined(&step.jobs);
        self.n_processes = self.n_processes.max(n_processes);
        let mut ranges = Vec::new();
        jobs.retain(|job| {
            let Some(values) = self.values_of(job) else { return false };
            let first = self.values.len();
            self.values.extend(values);
            ranges.push(first..self.values.len());
            true
        });
        let step = &Step { jobs, ..step.clone() };
        let mut words = RunWords { rate_iops: Some(0.0), n_processes, ..RunWords::default() };
        let n_rates = step.jobs.iter().filter_map(rate_iops).count();
        words.is_rate_of_some = (1..step.jobs.len()).contains(&n_rates)
            && step.jobs.iter().all(|job| job.parts.is_empty());
        self.compression(step, &ranges);
        for (job, range) in step.jobs.iter().zip(ranges) {
            self.at = range;
            words.is_shared |= job.load.flow.is_some();
            self.errors(job);
            match &job.tree {
                Some(work) => self.tree_job(job, work, &mut words),
                None => self.raw_job(job, &mut words),
            }
            words.rate_iops = words.rate_iops.zip(rate_iops(job)).map(|(sum, own)| sum + own);
        }
        if !words.workloads.is_empty() {
            self.define_workloads(&mut words);
            self.at = 0..self.values.len();
            self.run(step, &words, points);
            self.of_run(step, &words, points);
        }
        self.close();
    }

    /// Writes the workload definitions of a run, with their shares where these are not equal, or
    /// with the rates that only some of them have.
    fn define_workloads(&mut self, words: &mut RunWords<'_>) {
        let controls = if words.is_rate_of_some && !words.is_tree {
            if words.shares.iter().filter(|rate| **rate == 0.0).count() > 1 {
                self.to.lose("jobs without a rate beside one with: Vdbench puts them in an order");
            }
            words.is_controlled = true;
            own_rates(&words.shares)
        } else {
            let (pcts, is_said) = skews(words);
            words.pcts = pcts;
            words.is_controlled |= is_said;
            let skew = |pct: &f64| format!(",skew={}", rounded(*pct));
            words.pcts.iter().map(|pct| if is_said { skew(pct) } else { String::new() }).collect()
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

    fn raw_job<'a>(&mut self, job: &'a Job, words: &mut RunWords<'a>) {
        let at = self.at.clone();
        let access = job.workload.access;
        if job.n_workers > 1 && !access.random && !job.files.names.is_empty() {
            self.lose(
                job_fields![n_workers],
                format!(
                    "a pass of its own for each of {} workers (`{}`): threads share one pass",
                    job.n_workers, job.name
                ),
            );
        }
        if !job.files.direct && access.read {
            self.cached_reads(&job.files);
        }
        let targets = self.storage(job);
        let mut workloads = Vec::new();
        for (part, part_at) in job.parts.iter().zip(at.clone()) {
            self.at = part_at..part_at + 1;
            workloads.push(self.part(job, part, &targets, words));
        }
        if job.parts.is_empty() {
            let mut workload = job.workload.clone();
            workload.read_pct = self.read_pct(job);
            let body = self.raw_workload(job, &workload, PartRegion::Whole);
            let weight = flow_weight(job).unwrap_or(1.0);
            let without = if words.is_rate_of_some { 0.0 } else { weight };
            let share = rate_iops(job).unwrap_or(without);
            workloads.push(words.add(&job.name, body, &targets, share));
        }
        self.at = at.clone();
        let is_near = |dir| {
            let is_fixed = matches!(job.workload.block_size[dir], BlockSize::Fixed(_));
            matches!(job.load.rate[dir], Some(Rate::Bytes(_))) && !is_fixed
        };
        if job.issued_directions().any(is_near) {
            self.lose(
                job_fields![load.rate],
                "a rate in bytes where sizes differ: I/Os per second at their mean size",
            );
        }
        words.written.push(WrittenJob { job, at, storage: targets, workloads });
    }

    /// Notes what is done for reads by way of the page cache, and is not in Vdbench.
    fn cached_reads(&mut self, files: &Fileset) {
        if files.invalidate {
            self.lose(
                job_fields![files.invalidate],
                "pages of the files are dropped from the cache first: Vdbench keeps them",
            );
        }
        if files.fadvise == Fadvise::ByAccess {
            self.lose(
                job_fields![files.fadvise],
                "advice to the kernel whether buffered reads are sequential or random: Vdbench \
                 gives none",
            );
        }
    }

    /// Adds the workload definition of a part and returns its position.
    fn part(
        &mut self,
        job: &Job,
        part: &Part,
        targets: &[String],
        words: &mut RunWords<'_>,
    ) -> usize {
        let mut body = self.raw_workload(job, &part.workload, part.region);
        if let Some(rate) = part.rate_iops {
            let _ = write!(body, ",iorate={}", rate_words(rate));
        }
        if part.priority > 0 {
            let _ = write!(body, ",priority={}", part.priority);
        }
        words.is_controlled |= part.rate_iops.is_some() || part.priority > 0;
        // What is above 200 are bytes, and a walk that ends does not go on at the start.
        let is_region_said = match part.region {
            PartRegion::Whole => true,
            PartRegion::Pct(_, to) => to <= 100.0 || !part.workload.ends_with_region,
            PartRegion::Bytes(_, to) => to > 200,
        };
        if !is_region_said {
            self.to.lose(format!("where on its target `{}` works: {:?}", part.name, part.region));
        }
        words.add(&part.name, body, targets, part.weight)
    }

    /// Returns what a workload definition says, but its name and what it works on.
    fn raw_workload(&mut self, job: &Job, workload: &Workload, region: PartRegion) -> String {
        let mut body = String::new();
        self.workload(workload, &mut body);
        if let Some(hits) = workload.hit_area {
            self.hits(hits, job, &mut body);
        }
        body.push_str(&places::region_words(workload, region));
        body
    }

    fn hits(&mut self, hits: HitArea, job: &Job, body: &mut String) {
        // A storage definition has one area, and without a share there is none.
        let has_share = hits.read_pct > 0.0 || hits.write_pct > 0.0;
        let is_its_area = hit_area_bytes(job) == Some(hits.len_bytes);
        let is_exact = is_exact(hits.read_pct) && is_exact(hits.write_pct);
        let said = said_if(has_share && is_its_area && is_exact, job_fields![workload.hit_area]);
        let (read, write) = (rounded(hits.read_pct), rounded(hits.write_pct));
        self.say(body, said, format_args!(",rhpct={read},whpct={write}"));
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
            self.lose(
                job_fields![load.queue_depth, n_workers],
                format!(
                    "{threads} I/Os in flight over {} files (`{}`): threads={each} is for each of \
                     them",
                    luns.len(),
                    job.name
                ),
            );
        }
        // A comment, which changes nothing.
        self.is_the_same(job_fields![description]);
        self.of_files(job, &luns);
        let mut names = Vec::new();
        if let Some(text) = &job.description {
            let _ = writeln!(self.targets, "* {}: {}", comment(&job.name), comment(text));
        }
        for lun in &luns {
            let mut line = String::new();
            let names_said = said_if(are_names_said(job), NAMES);
            self.say(&mut line, names_said, format_args!("lun={}", value(lun)));
            let _ = write!(line, ",threads={each}");
            let region_said = said_if(is_region_said(job), REGION);
            self.say(&mut line, region_said, lun_region_words(job));
            self.alignment(job, &mut line);
            if let Some(bytes) = hit_area_bytes(job) {
                let _ = write!(line, ",hitarea={bytes}");
            }
            let files = &job.files;
            let flags =
                open_flags(files.direct || is_device(lun), files.sync, files.fsync_on_close);
            let flags_said = job_fields![files.direct, files.sync, files.fsync_on_close];
            self.say(&mut line, flags_said, flags);
            let wanted = if luns.len() == 1 { job.name.as_str() } else { "" };
            let (name, is_new) = self.named("sd", wanted, &line);
            if is_new {
                let _ = writeln!(self.targets, "sd={name},{line}");
            }
            names.push(name);
        }
        // Seeds follow from the names of what is worked on.
        let has_seeds = job.workloads().all(|it| names.iter().all(|name| seed_of(name) == it.seed));
        self.works_out(job_fields![workload.seed], has_seeds);
        names
    }

    /// Returns a share of reads as Vdbench takes it: whole percents, and a mix stays one.
    fn whole_pct(&mut self, pct: f64) -> f64 {
        let whole = if pct > 0.0 && pct < 100.0 { pct.round().clamp(1.0, 99.0) } else { pct };
        if (pct - whole).abs() > 0.011 {
            self.lose(
                job_fields![workload.read_pct],
                "a share of reads finer than a percent: Vdbench takes whole percents",
            );
        }
        whole
    }

    /// Answers for how files are made, and for what Vdbench does with devices.
    fn of_files(&mut self, job: &Job, luns: &[String]) {
        let files = &job.files;
        if let Some(lun) = luns.iter().find(|lun| is_device(lun)) {
            if !files.direct {
                self.lose(
                    job_fields![files.direct],
                    format!("the page cache: Vdbench takes `{lun}` with direct I/O only"),
                );
            }
            if !files.spares_first_block {
                self.lose(
                    job_fields![files.spares_first_block],
                    "the first block of a device: Vdbench leaves it alone",
                );
            }
        }
        // Files are made where they have a size.
        let makes_files = !luns.iter().any(|lun| is_device(lun)) && lun_bytes(job).is_some();
        self.works_out(job_fields![files.allow_create], files.allow_create == makes_files);
        // It leaves the first block of every device alone, and has no word for it.
        self.works_out(job_fields![files.spares_first_block], luns_are_devices(job));
    }

    fn workload(&mut self, workload: &Workload, line: &mut String) {
        let access = workload.access;
        if access.trim {
            self.lose(job_fields![workload.access], "trims: Vdbench has none");
        }
        let read_pct = match (access.read, access.write) {
            (true, true) => self.whole_pct(workload.read_pct),
            (_, true) => 0.0,
            _ => 100.0,
        };
        self.say(line, job_fields![workload.read_pct], format_args!(",rdpct={read_pct}"));
        let dir = written_direction(workload);
        let is_other = |dir: Direction, other: Direction| {
            size_words(&workload.block_size[dir]) != size_words(&workload.block_size[other])
        };
        if access.is_mixed() && is_other(Direction::Read, Direction::Write) {
            self.lose(
                job_fields![workload.block_size],
                "sizes that differ between reads and writes: those of reads are taken",
            );
        }
        let is_one_size = workload.drawn().issued().all(|issued| !is_other(dir, issued));
        let size_said = said_if(is_one_size, job_fields![workload.block_size]);
        let size = size_words(&workload.block_size[dir]);
        self.say(line, size_said, format_args!(",xfersize={size}"));
        let is_even = workload.distribution[dir] == Distribution::Uniform;
        if access.random && is_even && workload.no_repeats && !workload.ends_with_region {
            self.lose(
                job_fields![workload.no_repeats],
                "every random block once per pass: Vdbench draws places again and again",
            );
        }
        self.seek(workload, dir, line);
        if let Some((min, max)) = workload.skip_bytes {
            let stride = format_args!(",stride=({min},{max})");
            self.say(line, job_fields![workload.skip_bytes], stride);
        }
        if workload.n_streams > 1 {
            let streams = format_args!(",streams={}", workload.n_streams);
            self.say(line, job_fields![workload.n_streams], streams);
        }
        // Vdbench draws anew in each run, and has no word for it.
        self.is_the_same(job_fields![workload.seed_varies]);
    }
}
