//! A plan as a Vdbench parameter file.

mod align;
mod answers;
mod places;
mod processes;
mod words;

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use plan::files::{Size, SyncMode};
use plan::job::{PartRegion, RateOf};
use plan::load::{Rate, RatePeriod, RatePeriods};
use plan::tree::{
    Activity, DEFAULT_MASKS, FileIo, FileSizes, Format, StopAfter, TreeTask, TreeWork,
};
use plan::workload::{BlockSize, Distribution, Workload};
use plan::{Job, Plan, Step};

use self::align::written_direction;
use self::words::{
    comment, curve_words, distribution_words, io_word, open_flags, operation_word, rounded,
    select_words, size_words, value,
};
use super::values::NS_PER_S;
use crate::translation::Translation;

/// Writes a plan as a Vdbench parameter file: each step becomes a run definition, each job storage
/// and workload definitions. What Vdbench has no word for is listed.
pub fn write(plan: &Plan) -> Translation {
    let mut writer = Writer::default();
    for (idx, step) in plan.steps.iter().enumerate() {
        // Points of a curve belong to the step that looks for its maximum.
        if step.rate_of.is_none() {
            let points = plan.steps.iter().filter_map(|step| step.rate_of);
            writer.step(step, &points.filter(|of| of.step_idx as usize == idx).collect::<Vec<_>>());
        }
    }
    writer.lone_format();
    if writer.n_processes > 1 {
        let _ = writeln!(writer.general, "hd=localhost,jvms={}", writer.n_processes);
    }
    let mut to = writer.to;
    let sections = [writer.general, writer.targets, writer.workloads, writer.runs];
    to.text = sections.into_iter().filter(|section| !section.is_empty()).collect();
    to
}

/// Elapsed time of a step that ends by amount, seconds: Vdbench always needs one.
const ELAPSED_S: u64 = 3600;

/// Threads and bytes per write of a format that says neither.
const FORMAT_USUAL: (u32, u32) = (8, 131_072);

#[derive(Default)]
struct Writer {
    to: Translation,
    general: String,
    targets: String,
    workloads: String,
    runs: String,
    n_runs: usize,
    /// Names that are taken.
    names: HashSet<String>,
    /// Definitions by what stands behind their names: one that is said again has the same name.
    known: HashMap<String, String>,
    /// A format that the next run is to say, and its structures.
    format: Option<(&'static str, Vec<String>)>,
    /// Most processes that a storage definition is divided among.
    n_processes: usize,
    /// What all formats are done with.
    format_workload: Option<String>,
}

/// A workload definition.
#[derive(Default)]
struct Defined {
    title: String,
    /// Without what it works on.
    said: String,
    targets: Vec<String>,
    /// All behind its name.
    body: String,
    name: String,
}

/// What a run definition names.
#[derive(Default)]
struct RunWords {
    workloads: Vec<Defined>,
    /// Of all workloads together, I/Os per second; `None` is as fast as it goes.
    rate_iops: Option<f64>,
    /// Shares of the workloads in the run, and whether they differ or are kept.
    shares: Vec<f64>,
    is_shared: bool,
    is_tree: bool,
    /// Some jobs have a rate and others none: shares are rates, and 0 is none.
    is_rate_of_some: bool,
}

impl Writer {
    fn step(&mut self, step: &Step, points: &[RateOf]) {
        let (jobs, n_processes) = processes::joined(&step.jobs);
        self.n_processes = self.n_processes.max(n_processes);
        let jobs = jobs.into_iter().filter(|job| !self.leaves_out(job)).collect();
        let step = &Step { jobs, ..step.clone() };
        let mut words = RunWords { rate_iops: Some(0.0), ..RunWords::default() };
        let n_rates = step.jobs.iter().filter_map(rate_iops).count();
        words.is_rate_of_some = (1..step.jobs.len()).contains(&n_rates)
            && step.jobs.iter().all(|job| job.parts.is_empty());
        self.compression(step);
        for job in &step.jobs {
            words.is_shared |= job.load.flow.is_some();
            match &job.tree {
                Some(work) => self.tree_job(job, work, &mut words),
                None => self.raw_job(job, &mut words),
            }
            words.rate_iops = words.rate_iops.zip(rate_iops(job)).map(|(sum, own)| sum + own);
        }
        if words.workloads.is_empty() {
            return;
        }
        self.define_workloads(&mut words);
        self.run(step, &words, points);
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

    /// Returns the name of a definition, which is the wanted one if it can be, and whether it must
    /// be written.
    fn named(&mut self, kind: &str, wanted: &str, body: &str) -> (String, bool) {
        let key = format!("{kind}={wanted},{body}");
        if let Some(name) = self.known.get(&key) {
            return (name.clone(), false);
        }
        let is_word = wanted.starts_with(|c: char| c.is_ascii_alphabetic())
            && wanted.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !matches!(wanted, "default" | "format" | "concat" | "single" | "range")
            && super::fwd::operation(wanted).is_none();
        let plain = is_word.then(|| wanted.to_owned());
        let taken = |name: &String| self.names.contains(&format!("{kind}={name}").to_lowercase());
        let name = plain.filter(|name| !taken(name)).or_else(|| {
            (1..=u32::MAX).map(|number| format!("{kind}{number}")).find(|name| !taken(name))
        });
        let name = name.unwrap_or_default();
        self.names.insert(format!("{kind}={name}").to_lowercase());
        self.known.insert(key, name.clone());
        (name, true)
    }

    fn raw_job(&mut self, job: &Job, words: &mut RunWords) {
        let access = job.workload.access;
        if job.n_workers > 1 && !access.random && !job.files.names.is_empty() {
            self.to.lose(format!(
                "a pass of its own for each of {} workers (`{}`): threads share one pass",
                job.n_workers, job.name
            ));
        }
        let targets = self.storage(job);
        for part in &job.parts {
            let mut body = self.raw_workload(&part.workload, part.region);
            if let Some(rate) = part.rate_iops {
                let _ = write!(body, ",iorate={}", rounded(rate));
            }
            if part.priority > 0 {
                let _ = write!(body, ",priority={}", part.priority);
            }
            words.add(&part.name, body, &targets, part.weight);
        }
        if job.parts.is_empty() {
            let mut workload = job.workload.clone();
            workload.read_pct = self.read_pct(job);
            let body = self.raw_workload(&workload, PartRegion::Whole);
            let without = if words.is_rate_of_some { 0.0 } else { 1.0 };
            words.add(&job.name, body, &targets, rate_iops(job).unwrap_or(without));
        }
        let is_near = |dir| {
            let is_fixed = matches!(job.workload.block_size[dir], BlockSize::Fixed(_));
            matches!(job.load.rate[dir], Some(Rate::Bytes(_))) && !is_fixed
        };
        if job.issued_directions().any(is_near) {
            self.to.lose("a rate in bytes where sizes differ: I/Os per second at their mean size");
        }
        self.rest(job);
    }

    /// Says how written data compresses: all of it alike, in Vdbench.
    fn compression(&mut self, step: &Step) {
        let writers = || step.jobs.iter().filter(|job| job.access().write);
        let Some(ratio) = writers().find_map(compress_ratio) else { return };
        let line = format!("compratio={}\n", rounded(ratio));
        let is_alike = writers().all(|job| compress_ratio(job) == Some(ratio));
        let other = self.general.lines().find(|line| line.starts_with("compratio="));
        if !is_alike || other.is_some_and(|other| other != line.trim_end()) {
            self.to.lose("compression that differs between jobs: `compratio` counts for all");
        }
        if other.is_none() {
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
            self.to.lose(format!(
                "{threads} I/Os in flight over {} files (`{}`): threads={each} is for each of them",
                luns.len(),
                job.name
            ));
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
                _ => 0,
            };
            if let Some(bytes) = lun_bytes(job, luns.len() as u64) {
                // What lies before the offset is part of a definition's size.
                let _ = write!(line, ",size={}", bytes.saturating_add(offset_bytes));
            }
            if let Some((from, to)) = answers::range_pct(job) {
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
            line.push_str(&open_flags(files.direct, files.sync, files.fsync_on_close));
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
            self.to.lose("trims: Vdbench has none");
        }
        let read_pct = match (access.read, access.write) {
            (true, true) => workload.read_pct,
            (_, true) => 0.0,
            _ => 100.0,
        };
        let dir = written_direction(workload);
        if access.is_mixed() && workload.block_size.read != workload.block_size.write {
            self.to.lose("sizes that differ between reads and writes: those of reads are taken");
        }
        let size = size_words(&workload.block_size[dir]);
        let _ = write!(line, ",rdpct={read_pct},xfersize={size}");
        let is_even = workload.distribution[dir] == Distribution::Uniform;
        if access.random && is_even && workload.no_repeats && !workload.ends_with_region {
            self.to.lose("every random block once per pass: Vdbench draws places again and again");
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

    fn tree_job(&mut self, job: &Job, work: &TreeWork, words: &mut RunWords) {
        words.is_tree = true;
        let tasks = match &work.activity {
            Activity::Operations(tasks) => tasks,
            Activity::Format(format) => {
                self.format_workload(job.n_workers, *format);
                let fsd = self.structure(work);
                self.add_format(*format, fsd);
                return;
            }
        };
        let fsd = self.structure(work);
        let target = work.target.as_ref().map(|target| {
            self.structure(&TreeWork { tree: target.clone(), target: None, ..work.clone() })
        });
        let flow = job.load.flow.map(|flow| f64::from(flow.weight) * f64::from(job.n_workers));
        if words.is_rate_of_some {
            self.to.lose("rates of some jobs on structures of files: `fwdrate` counts for all");
        }
        let own = rate_iops(job).filter(|_| !words.is_rate_of_some).or(flow).unwrap_or(1.0);
        let total: f64 = tasks.iter().map(|task| task.weight).sum();
        // What is one job here is one workload with several operations there: equal threads each.
        let n_threads = (job.n_workers / tasks.len().max(1) as u32).max(1);
        for task in tasks {
            let mut body = format!("fsd={fsd},threads={n_threads}");
            if let Some(target) = &target {
                let _ = write!(body, ",target={target}");
            }
            self.task(task, &mut body);
            let title = if task.name.is_empty() { &job.name } else { &task.name };
            words.add(title, body, &[], own * task.weight / total);
        }
        let what = job.name.as_str();
        self.rest(job);
        if tasks.len() > 1 {
            self.to
                .lose(format!("operations mixed by the same threads (`{what}`): each has its own"));
        }
    }

    fn task(&mut self, task: &TreeTask, body: &mut String) {
        let is_sequential = matches!(task.io, FileIo::Sequential { .. });
        match task.read_pct {
            Some(pct) if is_sequential => {
                let is_mixed = pct > 0.0 && pct < 100.0;
                if is_mixed {
                    self.to.lose("a mix of reads and writes from start to end of a file");
                }
                let operation = if pct >= 50.0 { "read" } else { "write" };
                let _ = write!(body, ",operation={operation}");
            }
            Some(pct) => {
                let _ = write!(body, ",rdpct={}", rounded(pct));
            }
            None => {
                let _ = write!(body, ",operation={}", operation_word(task.operation));
            }
        }
        if task.moves_bytes() {
            let size = size_words(&task.block_size);
            let _ = write!(body, ",xfersize={size},fileio={}", io_word(task.io));
        }
        let _ = write!(body, ",fileselect={}", select_words(&task.select));
        match task.stop_after {
            Some(StopAfter::Ios(n)) => {
                let _ = write!(body, ",stopafter={n}");
            }
            Some(StopAfter::Pct(pct)) => {
                let _ = write!(body, ",stopafter={}%", rounded(pct));
            }
            None => {}
        }
    }

    /// Says with how many threads and bytes per write formats are done: all alike, in Vdbench.
    fn format_workload(&mut self, n_threads: u32, format: Format) {
        let bytes = format.block_bytes;
        let line = format!("fwd=format,threads={n_threads},xfersize={bytes}\n");
        match &self.format_workload {
            Some(other) if *other != line => {
                self.to.lose("threads or sizes that differ between formats: `fwd=format` is one");
            }
            Some(_) => {}
            None => {
                if (n_threads, bytes) != FORMAT_USUAL {
                    self.workloads.insert_str(0, &line);
                }
                self.format_workload = Some(line);
            }
        }
    }

    /// Keeps a format for the run behind it.
    fn add_format(&mut self, format: Format, fsd: String) {
        let words = match (format.clean, format.create, format.folders_only) {
            (true, true, false) => "yes",
            (true, true, true) => "directories",
            (false, _, false) => "restart",
            (false, _, true) => "(restart,directories)",
            (true, false, _) => "(clean,only)",
        };
        // What was removed alone is not part of another format.
        if self.format.as_ref().is_some_and(|(other, _)| *other != words) {
            self.lone_format();
        }
        let (_, fsds) = self.format.get_or_insert((words, Vec::new()));
        if !fsds.contains(&fsd) {
            fsds.push(fsd);
        }
    }

    /// Writes a run that is nothing but a format.
    fn lone_format(&mut self) {
        let Some((words, fsds)) = self.format.take() else { return };
        self.n_runs += 1;
        let inner = words.trim_matches(['(', ')']);
        let words =
            if inner.contains("only") { words.to_owned() } else { format!("({inner},only)") };
        let _ = writeln!(
            self.runs,
            "rd=rd{},fsd=({}),operations=read,fwdrate=max,elapsed=30,interval=1,format={words}",
            self.n_runs,
            fsds.join(",")
        );
    }

    /// Writes the definition of a tree and returns its name.
    fn structure(&mut self, work: &TreeWork) -> String {
        let tree = &work.tree;
        let sizes = match &tree.sizes {
            FileSizes::Fixed(bytes) => bytes.to_string(),
            FileSizes::Average(bytes) => format!("({bytes},0)"),
            FileSizes::Split(parts) => {
                let words: Vec<String> =
                    parts.iter().map(|(bytes, pct)| format!("{bytes},{}", rounded(*pct))).collect();
                format!("({})", words.join(","))
            }
        };
        let (depth, width, files) = (tree.depth, tree.width, tree.files);
        let mut line = format!(
            "anchor={},depth={depth},width={width},files={files},sizes={sizes}",
            value(&tree.anchor)
        );
        if !tree.bottom_only {
            line.push_str(",distribution=all");
        }
        for (key, bytes) in
            [("totalsize", tree.total_bytes), ("workingsetsize", tree.working_set_bytes)]
        {
            if bytes > 0 {
                let _ = write!(line, ",{key}={bytes}");
            }
        }
        if tree.share.1 > 1 {
            line.push_str(",shared=yes");
        }
        let open = &work.open;
        let sync = if open.dsync { SyncMode::Dsync } else { SyncMode::None };
        line.push_str(&open_flags(open.direct, sync, open.fsync_on_close));
        if (tree.file_mask.as_str(), tree.folder_mask.as_str()) != DEFAULT_MASKS {
            let (file, folder) = (&tree.file_mask, &tree.folder_mask);
            let is_fine = file.starts_with("vdb")
                && file.strip_suffix(".file").is_some()
                && folder.starts_with("vdb")
                && folder.strip_suffix(".dir").is_some();
            if is_fine {
                let _ = write!(line, ",mask=({file},{folder})");
            } else {
                self.to.lose("names of files that do not begin with vdb and end in .file");
            }
        }
        if tree.create_parents && !self.general.contains("create_anchors") {
            self.general.push_str("create_anchors=yes\n");
        }
        let (name, is_new) = self.named("fsd", &tree.name, &line);
        if is_new {
            let _ = writeln!(self.targets, "fsd={name},{line}");
        }
        name
    }

    fn run(&mut self, step: &Step, words: &RunWords, points: &[RateOf]) {
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
                None => rounded(rate),
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
    }

    /// Returns the rates and seconds of a rate that changes, `rate_iops` at most.
    fn period_words(&mut self, periods: &RatePeriods, rate_iops: f64) -> String {
        if periods.periods.iter().any(|it| !it.duration_ns.is_multiple_of(NS_PER_S)) {
            self.to.lose("periods of a rate that are not whole seconds: rounded up");
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
            self.to.lose(
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
                self.to.lose(format!("`{key}={command}`: quotes within a command"));
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
            self.to.lose("times that differ between jobs: the longest is that of the run");
        }
        let is_whole = |ns: u64| ns.is_multiple_of(NS_PER_S);
        if !runtimes().all(|ns| is_whole(ns) && ns >= 2 * NS_PER_S) || !ramps().all(is_whole) {
            self.to.lose("times that are not whole seconds, or below two: rounded up");
        }
        let arrivals = || step.jobs.iter().map(|job| job.load.arrivals);
        if arrivals().any(|it| Some(it) != arrivals().next()) {
            self.to.lose("arrivals that differ between jobs: those of the first are taken");
        }
    }
}

impl RunWords {
    /// Adds a workload; one that several jobs share works on the targets of all of them.
    fn add(&mut self, title: &str, body: String, targets: &[String], share: f64) {
        let position =
            self.workloads.iter().position(|other| other.title == title && other.said == body);
        let idx = position.filter(|_| !targets.is_empty()).unwrap_or_else(|| {
            self.shares.push(0.0);
            self.workloads.push(Defined {
                title: title.to_owned(),
                said: body,
                ..Default::default()
            });
            self.workloads.len() - 1
        });
        self.shares[idx] += share;
        let workload = &mut self.workloads[idx];
        workload.targets.extend_from_slice(targets);
        workload.body = match workload.targets.as_slice() {
            [] => workload.said.clone(),
            targets => format!("sd=({}){}", targets.join(","), workload.said),
        };
    }
}

/// Returns the share of each workload in percent, behind a comma, where there is one to be said.
fn skews(words: &RunWords) -> Vec<String> {
    let total: f64 = words.shares.iter().sum();
    let pcts: Vec<f64> =
        words.shares.iter().map(|share| (1e4 * share / total).round() / 100.0).collect();
    let is_equal = pcts.windows(2).all(|pair| (pair[0] - pair[1]).abs() <= 0.011);
    if pcts.len() < 2 || (is_equal && !words.is_shared) {
        return vec![String::new(); pcts.len()];
    }
    let mut left = 100.0;
    let skew = |(idx, pct): (usize, &f64)| {
        // The last has what rounding leaves.
        let pct = if idx + 1 == pcts.len() { left } else { *pct };
        left -= pct;
        format!(",skew={}", rounded(pct))
    };
    pcts.iter().enumerate().map(skew).collect()
}

/// Returns the rate of each workload that has one, behind a comma. With rates go priorities: all
/// differ, and those without a rate come last.
fn own_rates(rates_iops: &[f64]) -> Vec<String> {
    let n_rates = rates_iops.iter().filter(|rate| **rate > 0.0).count();
    let (mut n_rated, mut n_ranked) = (0, n_rates);
    let words = |rate: &f64| {
        if *rate > 0.0 {
            n_rated += 1;
            format!(",iorate={},priority={n_rated}", rounded(*rate))
        } else {
            n_ranked += 1;
            format!(",priority={n_ranked}")
        }
    };
    rates_iops.iter().map(words).collect()
}

/// Returns how the rate of a step changes, if it does.
fn rate_periods(step: &Step) -> Option<&RatePeriods> {
    step.jobs.first()?.load.rate_periods.as_ref()
}

/// Returns the files of a job, as named or as generated for each worker.
fn luns(job: &Job) -> Vec<String> {
    let folder = job.files.directories.first().map(|folder| folder.trim_end_matches('/'));
    let below = |name: &str| match folder {
        Some(folder) if !name.starts_with('/') => format!("{folder}/{name}"),
        _ => name.to_owned(),
    };
    if !job.files.names.is_empty() {
        return job.files.names.iter().map(|name| below(name)).collect();
    }
    let workers = 0..job.n_workers.max(1);
    let files = 0..job.files.n_files.max(1);
    let names = workers.flat_map(|worker| files.clone().map(move |file| (worker, file)));
    names.map(|(worker, file)| below(&format!("{}.{worker}.{file}", job.name))).collect()
}

/// Returns the size of each of a job's files, where the job says it in bytes.
fn lun_bytes(job: &Job, n_luns: u64) -> Option<u64> {
    if let Some((_, max)) = job.files.file_size_bytes {
        return Some(max);
    }
    let Some(Size::Bytes(bytes)) = job.files.size else { return None };
    let per_worker = if job.files.names.is_empty() { u64::from(job.files.n_files) } else { n_luns };
    Some(bytes / per_worker.max(1))
}

/// Returns the size of the part that hits go to, of the first workload that has one.
fn hit_area_bytes(job: &Job) -> Option<u64> {
    let of_parts = job.parts.iter().map(|part| &part.workload);
    let mut workloads = of_parts.chain([&job.workload]);
    workloads.find_map(|workload| Some(workload.hit_area?.len_bytes))
}

/// Returns how many times the written data of a job compresses, if it says so.
fn compress_ratio(job: &Job) -> Option<f64> {
    let pct = job.buffers.compress_pct.filter(|pct| *pct > 0).map(f64::from);
    job.buffers.compress_ratio.or(pct.map(|pct| 100.0 / (100.0 - pct).max(4.0)))
}

/// Returns the rate of a job over all directions and workers; `None` without one.
fn rate_iops(job: &Job) -> Option<f64> {
    if let Some(total) = job.load.rate_total_iops {
        return Some(total);
    }
    let rates = job.issued_directions().map(|dir| places::rate_of(job, dir));
    let sum: Option<f64> = rates.sum();
    Some(sum? * f64::from(job.n_workers))
}
