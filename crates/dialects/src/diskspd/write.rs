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
use plan::{Direction, EngineWork, Job, Plan, Severity, Step, job_field, job_fields};

use super::lower;
use super::script::quoted;
use crate::devices::is_device;
use crate::translation::{Translation, Values, lun_bytes, luns, n_luns};
use crate::{NO_HOST, Overrides, Request};

/// Most files of a job that are written, each as a target.
const LUNS_MAX: u64 = 4096;

/// Bytes of a buffer that random data is taken from, where blocks are not larger.
const SOURCE_BYTES: u64 = 1 << 20;

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
        if step.rate_of.is_some() {
            return self.to.lose("points of a curve are left out: measure the maximum, and use -g");
        }
        if !(step.exec_before.is_empty() && step.exec_after.is_empty()) {
            self.to.lose_fields(
                job_fields![process.exec_before, process.exec_after],
                "commands around a step: write them into the script",
            );
        }
        if step.pause_ns > 0 {
            self.to.lose("a pause before a step: write it into the script");
        }
        if step.amount_max != plan::job::AmountMax::default() {
            self.to.lose("an amount after which a step ends: a line of diskspd ends by its time");
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
        let left_out = |why: &str| format!("`{}` is left out: {why}", job.name);
        if let Some(why) = why_left_out(job) {
            self.to.lose(left_out(why));
            return None;
        }
        let luns = luns(job);
        let own = self.of_one_target(job, &luns);
        let options = options_of(&own).join(" ");
        let names: Vec<String> = luns.iter().map(|lun| quoted(&target_of(lun))).collect();
        let back = match read(&format!("diskspd {options} {}\n", names[0])) {
            Ok(back) => back,
            Err(why) => {
                self.to.lose(left_out(&format!("diskspd does not take it: {why}")));
                return None;
            }
        };
        let mut values = Values::of(&own);
        values.beside(&param::settings(&back));
        self.sizes(&own, &mut values);
        for field in without_effect(&own, &back) {
            values.answered(&[field]);
            self.to.do_without(&[field]);
        }
        if let Some(it) = values.open().find(|it| it.param.says_where())
            && job.modifies()
        {
            let key = it.param.fio.first().unwrap_or(&it.param.name);
            let why = format!("diskspd cannot say `{key}={}`, and would write elsewhere", it.text);
            self.to.lose(left_out(&why));
            return None;
        }
        for it in values.open().chain(values.others()) {
            // Other parameters may say the same field.
            self.to.do_without(it.param.field.as_slice());
        }
        for it in values.others() {
            let key = it.param.fio.first().unwrap_or(&it.param.name);
            let loss = format!("no `{key}`, {}: diskspd has {}", it.param.short, it.text);
            self.to.lose_value(it.param, loss);
        }
        values.close("diskspd has no option for it", &mut self.to);
        Some(Line { options, targets: names })
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
fn why_left_out(job: &Job) -> Option<&'static str> {
    if job.tree.is_some() {
        return Some("diskspd has no trees of files");
    }
    if job.parts.len() > 1 {
        return Some("diskspd has no workloads that are mixed on one queue");
    }
    match job.engine.kind.traits().work {
        EngineWork::Bytes | EngineWork::MappedBytes => {}
        EngineWork::Nothing | EngineWork::Space(_) | EngineWork::Names(_) => {
            return Some("its engine does no I/O on bytes, and diskspd would read and write");
        }
        EngineWork::ServerBytes => {
            return Some(
                "its engine reaches a server by itself, and diskspd works on mounted files",
            );
        }
    }
    let access = job.access();
    if !access.read && !access.write {
        return Some("diskspd has no trims");
    }
    if n_luns(job) > LUNS_MAX {
        return Some("it has too many files, each of which would be a target");
    }
    let is_sayable = |lun: &String| !lun.chars().any(char::is_control);
    (!luns(job).iter().all(is_sayable)).then_some("its paths have line ends")
}

/// Returns a path as a target: with one slash it would be an option.
fn target_of(lun: &str) -> String {
    let has_one = lun.starts_with('/') && !lun[1..].contains('/');
    if has_one { format!("/{lun}") } else { lun.to_owned() }
}

/// Reads the one job of a line back.
fn read(line: &str) -> Result<Job, String> {
    let request = Request {
        files: &[],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: false,
        is_to_run: false,
    };
    let parsed = lower::parse_text("line", line, &[], &request, &NO_HOST);
    let mut findings = parsed.diagnostics.iter().chain(&parsed.refusals);
    if let Some(error) = findings.find(|it| it.severity == Severity::Error) {
        return Err(error.message.clone());
    }
    let mut jobs = parsed.plan.steps.into_iter().flat_map(|step| step.jobs);
    match (jobs.next(), jobs.next()) {
        (Some(job), None) => Ok(job),
        (_, _) => Err("it is not one job".to_owned()),
    }
}

/// Returns the fields that differ, and without which the I/O is the same.
fn without_effect(own: &Job, back: &Job) -> Vec<Field> {
    let work = &own.workload;
    let (access, dirs) = (work.access, work.drawn());
    let is_random_only = access.random && work.random_pct.iter().all(|(_, pct)| *pct >= 100.0);
    let is_by_access = own.files.fadvise == Fadvise::ByAccess;
    let is_aligned_so = dirs.issued().all(|dir| {
        let align = work.block_align[dir].unwrap_or_else(|| work.block_size[dir].min());
        back.workload.block_align[dir] == Some(align)
    });
    let same = [
        // Completions are taken in another way.
        (job_field!(engine.name), own.engine.kind != plan::EngineKind::Mmap),
        (job_field!(engine.gives_way), true),
        (job_field!(load.spreads), true),
        (job_field!(workload.one_cursor), !access.is_mixed() || is_random_only),
        (job_field!(workload.aligned_to_length), !access.random || is_fixed(own)),
        (job_field!(workload.block_align), !access.random || is_aligned_so),
        (job_field!(files.invalidate), own.files.direct || !access.read),
        (job_field!(files.fadvise), own.files.direct || is_by_access),
        (job_field!(files.allow_create), true),
        (job_field!(description), true),
        (job_field!(workload.read_pct), !access.is_mixed()),
        (job_field!(buffers.zero), !access.write),
        (job_field!(buffers.refill), !access.write),
        (job_field!(buffers.pattern), !access.write),
        (job_field!(buffers.scramble), !access.write),
    ];
    same.into_iter().filter(|(_, is_same)| *is_same).map(|(field, _)| field).collect()
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

fn options_of(job: &Job) -> Vec<String> {
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
    places(job, &mut words);
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
    let is_mapped = job.engine.kind == plan::EngineKind::Mmap;
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

/// Which part of the target: what is no device is made so large.
fn places(job: &Job, words: &mut Vec<String>) {
    let start = match job.files.offset {
        Size::Bytes(bytes) => bytes,
        Size::Percent(_) | Size::Zones(_) => 0,
    };
    if start > 0 {
        words.push(format!("-B{}", size(start)));
    }
    if let Some(Size::Bytes(bytes)) = job.files.size {
        let is_device = job.files.names.iter().any(|name| is_device(name));
        let letter = if is_device { 'f' } else { 'c' };
        words.push(format!("-{letter}{}", size(start.saturating_add(bytes))));
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
    if !job.workload.access.write {
        return;
    }
    let buffers = &job.buffers;
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
