//! A plan as a fio job file.

use std::collections::BTreeMap;
use std::fmt::Write;

use plan::job::{ErrorPolicy, Part, PartRegion};
use plan::load::{Arrivals, Rate};
use plan::param::{self, Field};
use plan::verify::Buffers;
use plan::workload::{BlockSize, Distribution, Workload};
use plan::{Direction, Job, Plan, Step, job_field, job_fields};

use crate::translation::{Translation, Values};

/// Writes a plan as a fio job file. Reading it gives the same plan, but for what is listed as lost.
pub fn write(plan: &Plan) -> Translation {
    let mut writer = Writer::default();
    for (idx, step) in plan.steps.iter().enumerate() {
        writer.step_idx = idx;
        writer.step(step, idx > 0);
    }
    writer.to
}

/// Largest `flow=` that fio takes.
const FLOW_WEIGHT_MAX: u32 = 1000;

/// Fields that fio has no option for, and what it does instead; `None` where the I/O is the same,
/// for the reason above the entry.
const WITHOUT_OPTION: [(Field, Option<&str>); 14] = [
    (
        job_field!(buffers.pattern_source_bytes),
        Some("parts of the pattern from random places: fio begins each write with its start"),
    ),
    (
        job_field!(workload.aligned_to_length),
        Some(
            "random places that are multiples of each I/O's own length: fio's are multiples of \
             the smallest block size, or of blockalign",
        ),
    ),
    (
        job_field!(files.concatenate),
        Some(
            "files that are walked as one: fio walks each by itself; file_service_type=sequential \
             comes near",
        ),
    ),
    (
        job_field!(workload.ends_with_region),
        Some("a sequential walk that is over at the end of its region: fio starts again there"),
    ),
    // Which of the kernel's queues carries the I/O: fio's is the one that is written.
    (job_field!(engine.gives_way), None),
    // What a step with errors comes to when all its I/O is done.
    (job_field!(errors.fails_in_the_end), None),
    (
        job_field!(errors.quiet_ns),
        Some("an end of everything some time after the last error: fio goes on"),
    ),
    // The same I/Os, of which the last begins a little later.
    (job_field!(load.last_io_waits), None),
    (
        job_field!(errors.n_errors_max),
        Some("an end after so many errors: fio counts them and goes on"),
    ),
    (job_field!(files.open_flag_bits), Some("further flags of open(2): fio has direct and sync")),
    // A check of ours before the run: fio has none, and writes.
    (job_field!(safety.overwrite_filesystem), None),
    (
        job_field!(files.spares_first_block),
        Some("the first block of a device is left alone: fio uses it unless offset= leaves it out"),
    ),
    // Which workers issue what is in flight, and not how much that is.
    (job_field!(load.spreads), None),
    (job_field!(load.spread_workers_max), None),
];

#[derive(Default)]
struct Writer {
    to: Translation,
    /// Values of the section that is written.
    values: Values,
    /// Flows by the step and the id that they have here: the id that they are written with.
    flow_ids: BTreeMap<(usize, u32), u32>,
    step_idx: usize,
    /// Largest share of progress of the step.
    flow_weight_max: u32,
    /// Reporting group that the next section belongs to unless it says otherwise.
    group_id: u32,
}

impl Writer {
    fn step(&mut self, step: &Step, is_further: bool) {
        if !step.name.is_empty() {
            let _ = writeln!(self.to.text, "# {}", step.name);
        }
        if let Some(of) = step.rate_of {
            self.to.lose(format!(
                "points of a curve, such as {} % of what step {} achieved: they are left out; \
                 measure the maximum, and write rate_iops",
                of.pct,
                of.step_idx + 1
            ));
            return;
        }
        let weights = step.jobs.iter().filter_map(|job| Some(job.load.flow?.weight));
        self.flow_weight_max = weights.max().unwrap_or(0);
        if step.amount_max != plan::job::AmountMax::default() {
            self.to.lose("an amount after which all jobs of a step end: fio ends each by io_size");
        }
        let mut is_first = true;
        for job in &step.jobs {
            for (part_idx, (mut job, share)) in self.separate(job).into_iter().enumerate() {
                if is_first {
                    commands(step, &mut job);
                }
                let (min, max) = job.limits.start_delay_ns;
                job.limits.start_delay_ns = (min + step.pause_ns, max + step.pause_ns);
                if let Some(flow) = &mut job.load.flow {
                    flow.id = self.flow_id(flow.id);
                }
                let starts_step = is_first && is_further;
                self.section(&job, share, starts_step, part_idx > 0);
                is_first = false;
            }
        }
    }

    /// Notes what cannot be said of these fields, once.
    fn lose(&mut self, fields: &[Field], loss: impl Into<String>) {
        self.values.answered(fields);
        self.to.lose_fields(fields, loss);
    }

    /// Returns the jobs of fio that come nearest to one of a plan: one for each part, with its
    /// share of what all of them do.
    fn separate(&mut self, job: &Job) -> Vec<(Job, f64)> {
        if job.tree.is_some() {
            self.to.lose(format!(
                "work on a structure of files (`{}`): fio has filecreate, filestat and filedelete \
                 for one folder",
                job.name
            ));
            return Vec::new();
        }
        let total: f64 = job.parts.iter().map(|part| part.weight).sum();
        let mut jobs = Vec::new();
        for part in &job.parts {
            let share = part.weight / total;
            let said = self.of_part(job, part, share);
            jobs.push((said, part.rate_iops.map_or(share, |_| 1.0)));
        }
        if jobs.len() > 1 {
            self.to.lose(format!(
                "{} workloads mixed on one queue (`{}`): they become jobs with queues of their own",
                jobs.len(),
                job.name
            ));
        }
        if jobs.is_empty() {
            jobs.push((job.clone(), 1.0));
        }
        jobs
    }

    /// Returns a job that does what one part does.
    fn of_part(&mut self, job: &Job, part: &Part, share: f64) -> Job {
        let mut said = Job { workload: part.workload.clone(), parts: Vec::new(), ..job.clone() };
        if job.parts.len() > 1 {
            said.name = format!("{}-{}", job.name, part.name);
            let depth = (f64::from(job.load.queue_depth) * share).round();
            said.load.queue_depth = (depth as u32).max(1);
        }
        said.load.rate_total_iops = part.rate_iops.or(job.load.rate_total_iops);
        if part.priority > 0 {
            self.to.lose("priorities of workloads: fio has none among jobs");
        }
        match part.region {
            PartRegion::Whole => {}
            PartRegion::Pct(from, to) if to <= 100.0 && from.fract() + to.fract() == 0.0 => {
                said.files.offset = plan::files::Size::Percent(from as u8);
                said.files.size = Some(plan::files::Size::Percent((to - from) as u8));
            }
            PartRegion::Bytes(from, to) => {
                said.files.offset = plan::files::Size::Bytes(from);
                said.files.size = Some(plan::files::Size::Bytes(to - from));
            }
            PartRegion::Pct(..) => {
                self.to.lose("a region that begins or ends at a fraction of a percent, or wraps");
            }
        }
        said
    }

    /// Replaces what fio has no option for by what comes nearest.
    fn plain(&mut self, workload: &mut Workload) {
        let usual = Workload::default();
        if std::mem::replace(&mut workload.skip_bytes, usual.skip_bytes) != usual.skip_bytes {
            self.lose(
                job_fields![workload.skip_bytes],
                "a random distance between I/Os: rw=read:4k leaves a fixed one",
            );
        }
        if std::mem::replace(&mut workload.hit_area, usual.hit_area) != usual.hit_area {
            self.lose(
                job_fields![workload.hit_area],
                "shares of hits: random_distribution=zoned is similar",
            );
        }
        if workload.n_streams > 1 {
            self.lose(
                job_fields![workload.n_streams],
                "several streams on one queue: numjobs and offset_increment come near",
            );
        }
        let goes_on = !workload.access.random
            || workload.ios_per_draw > 1
            || workload.random_pct.iter().any(|(_, pct)| *pct < 100.0);
        if std::mem::take(&mut workload.one_cursor) && workload.access.is_mixed() && goes_on {
            self.lose(
                job_fields![workload.one_cursor],
                "one place for reads and writes to go on from: fio has one for each",
            );
        }
        let has_one_size = |size: &BlockSize| matches!(size, BlockSize::Fixed(_));
        let is_aligned_so = workload.block_size.iter().all(|(_, size)| has_one_size(size));
        if std::mem::take(&mut workload.aligned_to_length)
            && (is_aligned_so || !workload.access.random)
        {
            self.is_the_same(job_field!(workload.aligned_to_length));
        }
        if std::mem::take(&mut workload.starts_anywhere) {
            self.lose(
                job_fields![workload.starts_anywhere],
                "a sequential start at a random place: write offset=",
            );
        }
        // One direction has one place, what is drawn has none, and one stream is none.
        self.is_the_same(job_field!(workload.one_cursor));
        self.values.answered(job_fields![workload.n_streams]);
        self.plain_shares(workload);
    }

    /// Replaces shares, spreads and sizes that are finer than fio's.
    fn plain_shares(&mut self, workload: &mut Workload) {
        let mut round = |pct: &mut f64, field: Field| {
            if pct.fract() != 0.0 {
                // Not none and not all: a mix stays one.
                *pct = pct.round().clamp(1.0, 99.0);
                self.lose(&[field], "fractions of a percent in a mix: whole percents");
            }
        };
        round(&mut workload.read_pct, job_field!(workload.read_pct));
        let random_pct = workload.random_pct.iter_mut();
        random_pct.for_each(|pct| round(pct, job_field!(workload.random_pct)));
        for spread in workload.distribution.iter_mut() {
            let text = match spread {
                Distribution::Exponential { .. } => "exponentially",
                Distribution::Power { .. } => "by a power",
                Distribution::Uniform
                | Distribution::Zipf { .. }
                | Distribution::Pareto { .. }
                | Distribution::Normal { .. }
                | Distribution::Zoned(_)
                | Distribution::ZonedAbs(_)
                | Distribution::Sequence(_) => continue,
            };
            *spread = Distribution::Uniform;
            self.lose(
                job_fields![workload.distribution],
                format!("places spread {text}: zipf or zoned come near"),
            );
        }
        for size in workload.block_size.iter_mut() {
            match size {
                BlockSize::Stepped { min, max, .. } => {
                    *size = BlockSize::Range { min: *min, max: *max };
                    self.lose(
                        job_fields![workload.block_size],
                        "sizes in steps that are not their smallest: a range of them",
                    );
                }
                BlockSize::Weighted(parts) => {
                    *size = BlockSize::Split(percents(parts));
                    self.lose(
                        job_fields![workload.block_size],
                        "shares of sizes finer than a percent: whole percents",
                    );
                }
                BlockSize::Fixed(_) | BlockSize::Range { .. } | BlockSize::Split(_) => {}
            }
        }
    }

    /// Says a rate over all directions by a rate for each.
    fn rate_total(&mut self, job: &mut Job, share: f64) {
        let Some(mut total) = job.load.rate_total_iops.take() else { return };
        // Rates of the directions say it.
        self.values.answered(job_fields![load.rate_total_iops]);
        if let Some(periods) = job.load.rate_periods.take() {
            total *= periods.mean_share();
            self.lose(
                job_fields![load.rate_periods],
                "a rate that changes within a step: its mean is written",
            );
        }
        if std::mem::take(&mut job.load.rate_closed) {
            self.lose(
                job_fields![load.rate_closed],
                "what is late is not made up: fio makes it up",
            );
        }
        let own = total * share / f64::from(job.n_workers.max(1));
        let access = job.workload.access;
        let unused = std::mem::take(&mut job.load.rate);
        if unused.iter().any(|(_, rate)| rate.is_some()) {
            self.lose(
                job_fields![load.rate],
                "rates of single directions beside one over all of them, which alone holds: it is \
                 written",
            );
        }
        for dir in Direction::ALL {
            let of_dir = match (dir, access.is_mixed()) {
                (Direction::Read, true) => own * job.workload.read_pct / 100.0,
                (Direction::Write, true) => own * (1.0 - job.workload.read_pct / 100.0),
                (Direction::Trim, true) | (_, false) => own,
            };
            let is_issued = job.issued_directions().any(|issued| issued == dir);
            if is_issued && of_dir > 0.0 {
                // Without a rate it would go as fast as it can.
                let whole = of_dir.round().max(1.0);
                if (whole - of_dir).abs() > 1e-3 * of_dir {
                    let loss = format!("a rate of {of_dir:.3} I/Os per second: {whole} is written");
                    self.lose(job_fields![load.rate_total_iops, load.rate], loss);
                }
                job.load.rate[dir] = Some(Rate::Iops(whole as u64));
            }
        }
        if access.is_mixed() {
            self.lose(
                job_fields![load.rate_total_iops],
                "one rate for reads and writes together: each has its share as its own",
            );
        }
    }

    fn section(&mut self, job: &Job, share: f64, starts_step: bool, is_further_part: bool) {
        self.values = Values::of(job);
        let mut job = job.clone();
        self.plain(&mut job.workload);
        self.rate_total(&mut job, share);
        self.contents(&mut job.buffers);
        self.errors(&mut job.errors);
        if job.load.arrivals == Arrivals::Uniform {
            job.load.arrivals = Arrivals::Poisson;
            self.lose(
                job_fields![load.arrivals],
                "gaps spread evenly between none and twice the mean: written as poisson",
            );
        }
        if let Some(flow) = &mut job.load.flow
            && self.flow_weight_max > FLOW_WEIGHT_MAX
        {
            let exact = f64::from(flow.weight) * f64::from(FLOW_WEIGHT_MAX);
            let exact = exact / f64::from(self.flow_weight_max);
            flow.weight = exact.round().max(1.0) as u32;
            self.values.answered(job_fields![load.flow?.weight]);
            if (f64::from(flow.weight) - exact).abs() > 1e-2 * exact {
                self.lose(
                    job_fields![load.flow?.weight],
                    "shares of progress below a thousandth of the largest: `flow` is 1",
                );
            }
        }
        if job.load.flow.is_some_and(|flow| flow.slack_ios > 1) {
            self.lose(
                job_fields![load.flow?.slack_ios],
                "how far a job may be ahead of its share: fio lets it be one I/O",
            );
        }
        let _ = writeln!(self.to.text, "[{}]", job.name);
        if starts_step {
            let _ = writeln!(self.to.text, "stonewall");
            self.group_id += 1;
        }
        if job.group_id > self.group_id && !is_further_part {
            let _ = writeln!(self.to.text, "new_group");
            self.group_id = job.group_id;
        }
        for setting in param::settings(&job) {
            if let Some(name) = setting.param.fio.first() {
                let _ = writeln!(self.to.text, "{name}={}", setting.text);
                self.values.written(&setting);
            }
        }
        self.without_option();
        let _ = writeln!(self.to.text);
    }

    /// Answers for the values that no option says.
    fn without_option(&mut self) {
        for (field, loss) in WITHOUT_OPTION {
            match loss {
                Some(loss) if self.values.is_open(field) => self.lose(&[field], loss),
                Some(_) => {}
                None => self.is_the_same(field),
            }
        }
        std::mem::take(&mut self.values).close("fio has no option for it", &mut self.to);
    }

    /// Writes how many failed I/Os a job survives with the options that fio has.
    fn errors(&mut self, errors: &mut ErrorPolicy) {
        let Some(n_max) = errors.n_errors_max else { return };
        let goes_on = n_max > 1;
        (errors.continue_read, errors.continue_write) = (goes_on, goes_on);
        // The number alone decides.
        let decided = job_fields![errors.continue_read];
        self.values.answered(decided);
        self.to.do_without(decided);
        if !goes_on {
            self.is_the_same(job_field!(errors.n_errors_max));
        }
    }

    /// Notes that the I/O is the same without this field.
    fn is_the_same(&mut self, field: Field) {
        if self.values.is_open(field) {
            self.values.answered(&[field]);
            self.to.do_without(&[field]);
        }
    }

    /// Returns the id that a flow of this step is written with. fio has its jobs wait for those of
    /// an earlier step that had the same, for ever.
    fn flow_id(&mut self, id: u32) -> u32 {
        let place = (self.step_idx, id);
        if let Some(known) = self.flow_ids.get(&place) {
            return *known;
        }
        let is_free = |id: &u32| self.flow_ids.values().all(|used| used != id);
        // Of so many one is free.
        let others = 1..=self.flow_ids.len() as u32 + 1;
        let free = std::iter::once(id).chain(others).find(is_free).unwrap_or(id);
        self.flow_ids.insert(place, free);
        free
    }

    /// Says ratios of written data as the shares that fio has for them.
    fn contents(&mut self, buffers: &mut Buffers) {
        let pct = |ratio: f64| (100.0 - 100.0 / ratio.max(1.0)).round() as u8;
        if let Some(ratio) = buffers.compress_ratio.take() {
            buffers.compress_pct = Some(pct(ratio));
            self.lose(
                job_fields![buffers.compress_ratio, buffers.compress_pct],
                format!(
                    "data made to compress {ratio}:1 by common programs: \
                     buffer_compress_percentage={} makes this share of it zeros",
                    pct(ratio)
                ),
            );
        }
        if let Some(sets) = buffers.dedupe_sets.take() {
            let compressed = buffers.compress_pct.unwrap_or(0);
            buffers.dedupe_pct = pct(sets.ratio).min(100_u8.saturating_sub(compressed));
            self.lose(
                job_fields![buffers.dedupe_sets, buffers.dedupe_pct],
                format!(
                    "duplicates by place, {} blocks for each different one: dedupe_percentage={} \
                     repeats earlier blocks",
                    sets.ratio, buffers.dedupe_pct
                ),
            );
        }
    }
}

/// Rounds shares to whole percents that add up to 100; the largest takes what is left.
fn percents(parts: &[(u32, u32)]) -> Vec<(u32, u8)> {
    let total: u64 = parts.iter().map(|part| u64::from(part.1)).sum();
    let pct = |weight: u32| (u64::from(weight) * 100 / total.max(1)) as u8;
    let mut split: Vec<(u32, u8)> = parts.iter().map(|part| (part.0, pct(part.1))).collect();
    let given: u32 = split.iter().map(|part| u32::from(part.1)).sum();
    if let Some(largest) = split.iter_mut().max_by_key(|part| part.1) {
        largest.1 += 100_u32.saturating_sub(given) as u8;
    }
    split
}

/// Commands around a step belong to its first job in fio.
fn commands(step: &Step, job: &mut Job) {
    let joined = |commands: &[String]| (!commands.is_empty()).then(|| commands.join("; "));
    if let Some(before) = joined(&step.exec_before) {
        job.process.exec_before = Some(match job.process.exec_before.take() {
            Some(own) => format!("{before}; {own}"),
            None => before,
        });
    }
    if let Some(after) = joined(&step.exec_after) {
        job.process.exec_after = Some(match job.process.exec_after.take() {
            Some(own) => format!("{own}; {after}"),
            None => after,
        });
    }
}
