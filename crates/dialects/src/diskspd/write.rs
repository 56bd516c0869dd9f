//! A plan as command lines of diskspd: one for the targets of a step that are worked on alike.
//!
//! Each line is read back as it is written: a value of a job that does not come back is lost, and
//! so is one that comes with it, unless the I/O is the same.

use std::fmt::Write as _;

use plan::files::{Fadvise, Size, SyncMode};
use plan::load::Rate;
use plan::param::{self, Field};
use plan::report::Reporting;
use plan::verify::{Memory, PatternPart};
use plan::workload::{BlockSize, Distribution};
use plan::{Direction, Job, Plan, Step, job_field, job_fields};

use super::lower;
use super::script::quoted;
use crate::NO_HOST;
use crate::devices::is_device;
use crate::read_back::{
    StepLosses, around_step, lose_others, narrow, one_job, same, settle, why_elsewhere,
    why_no_bytes, without_effect,
};
use crate::translation::{Translation, Values, lun_bytes, luns, n_luns};

/// Most files of a job that are written, each as a target.
const LUNS_MAX: u64 = 4096;

/// Bytes of a buffer that random data is taken from, where blocks are not larger.
const SOURCE_BYTES: u64 = 1 << 20;

const STEP_LOSSES: StepLosses = StepLosses {
    curve: "points of a curve are left out: measure the maximum, and use -g",
    commands: "commands around a step: write them into the script",
    pause: "a pause before a step: write it into the script",
    amount: "an amount after which a step ends: a line of diskspd ends by its time",
};

/// Writes a plan as a script.
pub(super) fn write(plan: &Plan) -> Translation {
    let mut writer = Writer::default();
    for step in &plan.steps {
        writer.step(step);
    }
    writer.to
}

#[derive(Default)]
struct Writer {
    to: Translation,
}

/// Options, and the targets that they are for.
struct Line {
    options: String,
    targets: Vec<String>,
}

impl Writer {
    fn step(&mut self, step: &Step) {
        if !around_step(step, &STEP_LOSSES, &mut self.to) {
            return;
        }
        let mut lines: Vec<Line> = Vec::new();
        for job in &step.jobs {
            let Some(line) = self.line(job) else { continue };
            match lines.iter_mut().find(|it| it.options == line.options) {
                Some(alike) => alike.targets.extend(line.targets),
                None => lines.push(line),
            }
        }
        if lines.len() > 1 {
            self.to.lose(format!(
                "{} ways to work on targets at the same time: a line for each, which run one after \
                 another",
                lines.len()
            ));
        }
        if !step.name.is_empty() && !lines.is_empty() {
            let _ = writeln!(self.to.text, "# {}", step.name.replace(char::is_control, " "));
        }
        for Line { options, targets } in lines {
            let _ = writeln!(self.to.text, "diskspd {options} {}", targets.join(" "));
        }
    }

    /// Returns the line that comes nearest to a job; none where it is left out, which is noted.
    fn line(&mut self, job: &Job) -> Option<Line> {
        let made = match why_left_out(job) {
            Some(why) => Err(why),
            None => self.try_line(job),
        };
        let left_out = |why: String| self.to.lose(format!("`{}` is left out: {why}", job.name));
        made.map_err(left_out).ok()
    }

    fn try_line(&mut self, job: &Job) -> Result<Line, String> {
        let luns = luns(job);
        let mut own = self.of_one_target(job, &luns);
        let end_bytes = end_bytes(&own);
        narrow(job, &mut own, "diskspd", &mut self.to)?;
        let options = options_of(&own, end_bytes).join(" ");
        let targets: Vec<String> = luns.iter().map(|lun| quoted(&target_of(lun))).collect();
        let text = format!("diskspd {options} {}\n", targets[0]);
        let mut back =
            one_job("diskspd", |request| lower::parse_text("line", &text, &[], request, &NO_HOST))?;
        if own.files.names.first().map(|lun| target_of(lun)) == back.files.names.first().cloned() {
            // With another slash before it, it is the same file.
            back.files.names.clone_from(&own.files.names);
        }
        let mut values = Values::of(&own);
        values.beside(&param::settings(&back));
        self.sizes(&own, &mut values);
        settle(&same_without(&own, &back), &mut values, &mut self.to);
        if let Some(why) = why_elsewhere(job, &values, "diskspd") {
            return Err(why);
        }
        lose_others(&values, "diskspd", &mut self.to);
        values.close("diskspd has no option for it", &mut self.to);
        Ok(Line { options, targets })
    }

    /// Notes that sizes are not one.
    fn sizes(&mut self, own: &Job, values: &mut Values) {
        let sizes = || own.issued_directions().map(|dir| &own.workload.block_size[dir]);
        let first = sizes().next();
        let is_one = |size: &BlockSize| matches!(size, BlockSize::Fixed(_)) && Some(size) == first;
        let fields = job_fields![workload.block_size];
        values.answered(fields);
        if !sizes().all(is_one) {
            let loss = format!("sizes that differ (`{}`): diskspd has one, the largest", own.name);
            self.to.lose_fields(fields, loss);
        }
    }

    /// Returns a job that does to the first of several files what this one does to each of them.
    fn of_one_target(&mut self, job: &Job, luns: &[String]) -> Job {
        let n_luns = luns.len().max(1) as u32;
        let mut own = Job { parts: Vec::new(), options: Vec::new(), ..job.clone() };
        if let [part] = &job.parts[..] {
            own.workload = part.workload.clone();
            own.load.rate_total_iops = part.rate_iops.or(own.load.rate_total_iops);
        }
        // A mix that has one direction alone writes nothing, or reads nothing.
        own.workload.access = own.workload.drawn();
        if let Some(bytes) = lun_bytes(job) {
            own.files.size = Some(Size::Bytes(bytes));
            own.files.file_size_bytes = own.files.file_size_bytes.filter(|(min, max)| min != max);
        }
        // Files with names are shared by all workers, others are their own.
        let depth = if job.issues_one_at_a_time() { 1 } else { job.load.queue_depth };
        let n_of_worker =
            if job.files.names.is_empty() { job.files.n_files } else { n_luns }.max(1);
        if job.files.names.is_empty() {
            own.n_workers = 1;
        }
        own.load.queue_depth = (depth / n_of_worker).max(1);
        if own.load.queue_depth * n_of_worker != depth {
            self.to.lose_fields(
                job_fields![load.queue_depth, n_workers],
                format!(
                    "{depth} I/Os in flight over {n_of_worker} files (`{}`): -o{} is for each",
                    job.name, own.load.queue_depth
                ),
            );
        }
        own.files.names = luns.iter().take(1).cloned().collect();
        if own.files.directories.len() <= 1 {
            own.files.directories.clear();
        }
        own.files.n_files = 1;
        self.rate(&mut own, job.n_workers, n_luns);
        own
    }

    /// Says rates of workers and directions as one of all threads of a target.
    fn rate(&mut self, own: &mut Job, n_workers: u32, n_luns: u32) {
        let of_dir = |dir| match own.load.rate[dir]? {
            Rate::Iops(iops) => Some(iops as f64),
            Rate::Bytes(bytes) => Some(bytes as f64 / own.workload.block_size[dir].mean()),
        };
        let dirs: Vec<Direction> = own.issued_directions().collect();
        let rates: Vec<Option<f64>> = dirs.iter().map(|dir| of_dir(*dir)).collect();
        let n_given = rates.iter().flatten().count();
        if n_given > 0 && (n_given < dirs.len() || n_given > 1) {
            self.to.lose_fields(
                job_fields![load.rate, workload.read_pct],
                "rates of reads and of writes: diskspd has one for both",
            );
        }
        let sum: f64 = rates.iter().flatten().sum();
        let total =
            own.load.rate_total_iops.or((n_given > 0).then_some(sum * f64::from(n_workers)));
        own.load.rate = plan::PerDir::all(None);
        own.load.rate_total_iops = total.map(|total| total / f64::from(n_luns));
    }
}

/// Returns why a job is left out whatever its values.
fn why_left_out(job: &Job) -> Option<String> {
    if job.tree.is_some() {
        return Some("diskspd has no trees of files".to_owned());
    }
    if job.parts.len() > 1 {
        return Some("diskspd has no workloads that are mixed on one queue".to_owned());
    }
    if let Some(why) = why_no_bytes(job.engine.kind, "diskspd") {
        return Some(why);
    }
    let access = job.access();
    if !access.read && !access.write {
        return Some("diskspd has no trims".to_owned());
    }
    if n_luns(job) > LUNS_MAX {
        return Some("it has too many files, each of which would be a target".to_owned());
    }
    let is_sayable = |lun: &String| !lun.chars().any(char::is_control);
    (!luns(job).iter().all(is_sayable)).then(|| "its paths have line ends".to_owned())
}

/// Returns a path as a target: with one slash it would be an option.
fn target_of(lun: &str) -> String {
    let has_one = lun.starts_with('/') && !lun[1..].contains('/');
    if has_one { format!("/{lun}") } else { lun.to_owned() }
}

/// Returns the fields that differ, and without which the I/O is the same.
fn same_without(own: &Job, back: &Job) -> Vec<Field> {
    let work = &own.workload;
    let is_aligned_so = work.drawn().issued().all(|dir| {
        let align = work.block_align[dir].unwrap_or_else(|| work.block_size[dir].min());
        back.workload.block_align[dir] == Some(align)
    });
    let is_random = work.access.random;
    let own_fields = same(&[
        (job_field!(workload.aligned_to_length), !is_random || is_fixed(own)),
        (job_field!(workload.block_align), !is_random || is_aligned_so),
        (
            job_field!(files.overwrite),
            work.access.read || own.files.names.iter().any(|it| is_device(it)),
        ),
    ]);
    [without_effect(own), own_fields].concat()
}

fn is_fixed(job: &Job) -> bool {
    job.workload.block_size.iter().all(|(_, size)| matches!(size, BlockSize::Fixed(_)))
}

/// Returns a size with the largest unit that it is a multiple of.
fn size(bytes: u64) -> String {
    let units = [(40, "T"), (30, "G"), (20, "M"), (10, "K")];
    let fits = units.iter().find(|(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    fits.map_or_else(|| bytes.to_string(), |(shift, unit)| format!("{}{unit}", bytes >> shift))
}

const NS_PER_S: u64 = 1_000_000_000;

/// Returns where I/O of a job ends, as far as that is written.
fn end_bytes(job: &Job) -> Option<u64> {
    match (job.files.offset, job.files.size?) {
        (Size::Bytes(start), Size::Bytes(size)) => Some(start.saturating_add(size)),
        (Size::Bytes(_) | Size::Percent(_) | Size::Zones(_), _) => None,
    }
}

/// Returns the options of a job, of which the file ends at `file_bytes`.
fn options_of(job: &Job, file_bytes: Option<u64>) -> Vec<String> {
    let access = job.workload.access;
    let dir = if access.read { Direction::Read } else { Direction::Write };
    let sizes = job.issued_directions().map(|dir| job.workload.block_size[dir].max());
    let block = u64::from(sizes.max().unwrap_or(1));
    let mut words = vec![format!("-b{}", size(block))];
    if let Some(ns) = job.limits.runtime_ns {
        words.push(format!("-d{}", ns.div_ceil(NS_PER_S).max(1)));
    }
    words.push(format!("-W{}", job.limits.ramp_ns.div_ceil(NS_PER_S)));
    words.push(format!("-t{}", job.n_workers));
    words.push(format!("-o{}", job.load.queue_depth));
    let write_pct = match (access.read, access.write) {
        (true, true) => (100.0 - job.workload.read_pct).round().clamp(1.0, 99.0),
        (_, true) => 100.0,
        (_, false) => 0.0,
    };
    words.push(format!("-w{write_pct}"));
    walk(job, dir, block, &mut words);
    caches(job, &mut words);
    places(job, file_bytes, &mut words);
    pace(job, &mut words);
    contents(job, block, &mut words);
    surroundings(job, &mut words);
    words
}

/// Where I/O goes on.
fn walk(job: &Job, dir: Direction, block: u64, words: &mut Vec<String>) {
    let work = &job.workload;
    if !work.access.random {
        let stride = i128::from(block) + i128::from(work.sequential_step_bytes);
        if work.sequential_step_bytes != 0 && stride >= 0 {
            words.push(format!("-s{}", size(stride as u64)));
        }
        return;
    }
    let align = work.block_align[dir].map_or(u64::from(work.block_size[dir].min()), u64::from);
    words.push(if align == block { "-r".to_owned() } else { format!("-r{}", size(align)) });
    let pct = (work.random_pct[dir] / f64::from(work.ios_per_draw.max(1))).round();
    if pct < 100.0 {
        words.push(format!("-rs{}", pct.max(1.0)));
    }
    let list = |parts: &[(u64, u64)], part: fn(u64) -> String| {
        let parts = parts.iter().map(|(share, of)| format!("{share}/{}", part(*of)));
        parts.collect::<Vec<_>>().join(":")
    };
    match &work.distribution[dir] {
        Distribution::Zoned(parts) => {
            let parts: Vec<_> = parts.iter().map(|it| (u64::from(it.0), u64::from(it.1))).collect();
            words.push(format!("-rdpct{}", list(&parts, |it| it.to_string())));
        }
        Distribution::ZonedAbs(parts) => {
            let parts: Vec<_> = parts.iter().map(|it| (u64::from(it.0), it.1)).collect();
            words.push(format!("-rdabs{}", list(&parts, size)));
        }
        Distribution::Uniform
        | Distribution::Zipf { .. }
        | Distribution::Pareto { .. }
        | Distribution::Normal { .. }
        | Distribution::Exponential { .. }
        | Distribution::Power { .. }
        | Distribution::Sequence(_) => {}
    }
}

/// What caches do, and how the target is opened.
fn caches(job: &Job, words: &mut Vec<String>) {
    let is_mapped = job.engine.kind.is_mapped();
    let is_through = job.files.sync != SyncMode::None && !is_mapped;
    let word = match (is_mapped, job.files.direct, is_through) {
        (true, _, _) => "-Sm",
        (false, true, true) => "-Sh",
        (false, true, false) => "-Su",
        (false, false, true) => "-Sw",
        (false, false, false) => "",
    };
    let random = job.workload.access.random;
    let hint = match job.files.fadvise {
        _ if job.files.direct => "",
        Fadvise::ByAccess if random => "-fr",
        Fadvise::Random => "-fr",
        Fadvise::ByAccess | Fadvise::Sequential => "-fs",
        Fadvise::None | Fadvise::NoReuse => "",
    };
    words.extend([word, hint].into_iter().filter(|it| !it.is_empty()).map(str::to_owned));
}

/// Which part of the target: what is no device is made so large, and no smaller than it was to be.
fn places(job: &Job, file_bytes: Option<u64>, words: &mut Vec<String>) {
    let start = match job.files.offset {
        Size::Bytes(bytes) => bytes,
        Size::Percent(_) | Size::Zones(_) => 0,
    };
    if start > 0 {
        words.push(format!("-B{}", size(start)));
    }
    let is_device = job.files.names.iter().any(|name| is_device(name));
    let file_bytes = file_bytes.filter(|_| !is_device);
    if let Some(bytes) = file_bytes {
        words.push(format!("-c{}", size(bytes)));
    }
    let end = match job.files.size {
        Some(Size::Bytes(bytes)) => Some(start.saturating_add(bytes)),
        Some(Size::Percent(_) | Size::Zones(_)) | None => None,
    };
    if let Some(end) = end.filter(|end| file_bytes != Some(*end)) {
        words.push(format!("-f{}", size(end)));
    }
}

fn pace(job: &Job, words: &mut Vec<String>) {
    if let Some(total) = job.load.rate_total_iops {
        let own = (total / f64::from(job.n_workers.max(1))).round().max(1.0);
        words.push(format!("-g{own}i"));
    }
    let think = &job.load.think;
    if think.pause_ns > 0 {
        words.push(format!("-i{}", think.every_ios.max(1)));
        words.push(format!("-j{}", think.pause_ns.div_ceil(1_000_000)));
    }
}

/// What is written, and from which seed.
fn contents(job: &Job, block: u64, words: &mut Vec<String>) {
    if job.workload.seed_varies {
        words.push("-z".to_owned());
    } else if job.workload.seed > 0 {
        words.push(format!("-z{}", job.workload.seed.min(u64::from(u32::MAX))));
    }
    let buffers = &job.buffers;
    if !job.workload.access.write {
        words.extend(buffers.zero.then(|| "-Z".to_owned()));
        return;
    }
    let counted = || PatternPart::Bytes((0..=u8::MAX).collect());
    if buffers.zero {
        words.push("-Z".to_owned());
    } else if buffers.refill == Some(true) {
        words.push("-Zr".to_owned());
    } else if buffers.pattern != [counted()] {
        words.push(format!("-Z{}", size(SOURCE_BYTES.max(block))));
    }
}

fn surroundings(job: &Job, words: &mut Vec<String>) {
    if !job.process.cpus.is_empty() {
        let cpus: Vec<String> = job.process.cpus.iter().map(ToString::to_string).collect();
        words.push(format!("-a{}", cpus.join(",")));
    }
    if let Memory::Mmap { huge: true, .. } = job.buffers.memory {
        words.push("-l".to_owned());
    }
    match (job.process.io_priority_class, job.process.io_priority) {
        (3, _) => words.push("-I1".to_owned()),
        (2, 7) => words.push("-I2".to_owned()),
        (_, _) => {}
    }
    let sample_ms = job.reporting.iops_sample_ms;
    if sample_ms != Reporting::default().iops_sample_ms {
        words.push(format!("-D{sample_ms}"));
    }
    words.push("-L".to_owned());
}
