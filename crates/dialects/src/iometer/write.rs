//! A plan as a test configuration: a worker for each worker of a job, with one access specification
//! after another, those of the steps.
//!
//! What each job becomes is read back as it is written: a value that does not come back is lost,
//! and so is one that comes with it, unless the I/O is the same.

use std::collections::HashMap;

use plan::files::Size;
use plan::param::{self, Field};
use plan::verify::PatternPart;
use plan::workload::Workload;
use plan::{Job, Plan, Span, Step, job_field, job_fields};

use super::config::{
    AccessLine, AccessSpec, Assigned, Config, DataPattern, Manager, SECTOR_BYTES, Target,
    TestSetup, Worker,
};
use super::file::{cut, text_of, worker_text};
use super::lines::{self, Piece, Pieces};
use super::lower::{REPEATED_BYTE, parse_text};
use super::places::{Extents, Places};
use super::read::{DEPTH_MAX, LINES_MAX, SECONDS_MAX};
use crate::NO_HOST;
use crate::read_back::{
    StepLosses, around_step, lose_others, one_job, same, settle, why_elsewhere, why_no_bytes,
    without_effect,
};
use crate::translation::{Translation, Values};

/// Most access specifications that workers have, all together.
const ASSIGNED_MAX: usize = 1 << 20;

/// How long a run is where no job says it, seconds.
const RUN_TIME_S: u64 = 60;

const NS_PER_S: u64 = 1_000_000_000;

/// Name of the specification, known to the tool, of a worker that does nothing.
const IDLE: &str = "Idle";

/// Longest name of an access specification or a worker, bytes.
const NAME_BYTES_MAX: usize = 127;

/// Most bytes of the number behind the name of a worker.
const SUFFIX_BYTES: usize = 11;

/// Longest description of a test, bytes.
const DESCRIPTION_BYTES_MAX: usize = 160;

const STEP_LOSSES: StepLosses = StepLosses {
    curve: "points of a curve are left out: Iometer has no rates",
    commands: "commands around a step: Iometer runs none",
    pause: "a pause before a step: in Iometer each follows the one before at once",
    amount: "an amount after which a step ends: Iometer ends it by its time",
};

/// Writes a plan as a configuration.
pub(super) fn write(plan: &Plan) -> Translation {
    let mut writer = Writer {
        to: Translation::default(),
        test: test_of(plan),
        specs: Vec::new(),
        spec_by_name: HashMap::new(),
        workers: Vec::new(),
        worker_by_text: HashMap::new(),
        n_steps: 0,
        extents: Extents::default(),
    };
    for step in &plan.steps {
        writer.step(step);
    }
    writer.done()
}

struct Writer {
    to: Translation,
    test: TestSetup,
    specs: Vec<AccessSpec>,
    spec_by_name: HashMap<String, usize>,
    workers: Vec<Worker>,
    /// Workers by all that they have, but for names and specifications, and by which of those
    /// alike in a step it is.
    worker_by_text: HashMap<(String, u32), usize>,
    n_steps: usize,
    /// Where the files of the jobs lie.
    extents: Extents,
}

/// What a job becomes.
struct Entry {
    worker: Worker,
    n_workers: u32,
    lines: Vec<AccessLine>,
}

/// Returns how long all runs are: as the longest, in whole seconds.
fn test_of(plan: &Plan) -> TestSetup {
    let seconds = |ns: u64| ns.div_ceil(NS_PER_S).min(SECONDS_MAX);
    let longest = |times: &mut dyn Iterator<Item = u64>| times.max().map(seconds);
    let run_time_s = longest(&mut plan.jobs().filter_map(|job| job.limits.runtime_ns));
    let ramp_up_s = longest(&mut plan.jobs().map(|job| job.limits.ramp_ns));
    let description = plan.jobs().find_map(|job| job.description.as_deref());
    TestSetup {
        description: on_one_line(description.unwrap_or_default(), DESCRIPTION_BYTES_MAX),
        run_time_s: run_time_s.filter(|s| *s > 0).unwrap_or(RUN_TIME_S),
        ramp_up_s: ramp_up_s.unwrap_or(0),
        ..TestSetup::default()
    }
}

impl Writer {
    fn step(&mut self, step: &Step) {
        if !around_step(step, &STEP_LOSSES, &mut self.to) {
            return;
        }
        let jobs = step.jobs.iter();
        let entries: Vec<(&Job, Entry)> =
            jobs.filter_map(|job| Some((job, self.entry(job)?))).collect();
        let n_new: usize = entries.iter().map(|(_, entry)| entry.n_workers as usize).sum();
        if entries.is_empty() {
            return;
        }
        if (self.workers.len() + n_new).saturating_mul(self.n_steps + 1) > ASSIGNED_MAX {
            let loss = format!("steps after the first {} are left out: too many", self.n_steps);
            return self.to.lose(loss);
        }
        let names = spec_names(step, &entries);
        let mut seen: HashMap<String, u32> = HashMap::new();
        for ((_, entry), name) in entries.into_iter().zip(names) {
            let Entry { worker, n_workers, lines } = entry;
            let spec = self.spec(&name, lines);
            let text = worker_text(&Worker { name: String::new(), ..worker.clone() });
            for copy in 1..=n_workers {
                let nth = seen.entry(text.clone()).or_default();
                *nth += 1;
                let suffix = if copy > 1 { format!(" {copy}") } else { String::new() };
                let name = worker.name.clone() + &suffix;
                self.assign((text.clone(), *nth), Worker { name, ..worker.clone() }, &spec);
            }
        }
        self.n_steps += 1;
    }

    /// Gives a specification to a worker, which idles in the steps before that it is not part of.
    fn assign(&mut self, key: (String, u32), like: Worker, spec: &str) {
        let idx = *self.worker_by_text.entry(key).or_insert(self.workers.len());
        if idx == self.workers.len() {
            self.workers.push(like);
        } else if self.workers[idx].name != like.name {
            // It is that of several jobs.
            self.workers[idx].name = format!("Worker {}", idx + 1);
        }
        let specs = &mut self.workers[idx].specs;
        specs.resize(self.n_steps, (IDLE.to_owned(), Span::default()));
        specs.push((spec.to_owned(), Span::default()));
    }

    /// Returns the name of an access specification, which is this or, where that has other lines,
    /// like it.
    fn spec(&mut self, name: &str, lines: Vec<AccessLine>) -> String {
        let name = on_one_line(name, NAME_BYTES_MAX).replace(',', ";");
        let name = if name.is_empty() { "I/O".to_owned() } else { name };
        for nth in 1_u32.. {
            let suffix = if nth > 1 { format!(" ({nth})") } else { String::new() };
            let head = cut(&name, NAME_BYTES_MAX - suffix.len());
            let own = head.trim_end().to_owned() + &suffix;
            match self.spec_by_name.get(&own) {
                Some(idx) if self.specs[*idx].lines == lines => return own,
                None if AccessSpec::built_in(&own).is_none_or(|it| it.lines == lines) => {
                    self.spec_by_name.insert(own.clone(), self.specs.len());
                    self.specs.push(AccessSpec {
                        name: own.clone(),
                        assigned: Assigned::None,
                        lines,
                    });
                    return own;
                }
                Some(_) | None => {}
            }
        }
        name
    }

    /// Returns what comes nearest to a job; none where it is left out, which is noted.
    fn entry(&mut self, job: &Job) -> Option<Entry> {
        let made = match why_left_out(job) {
            Some(why) => Err(why),
            None => self.try_entry(job),
        };
        let left_out = |why: String| self.to.lose(format!("`{}` is left out: {why}", job.name));
        made.map_err(left_out).ok()
    }

    fn try_entry(&mut self, job: &Job) -> Result<Entry, String> {
        let places = Places::of(job)?;
        let own = places.of_first(job, &mut self.extents, &mut self.to)?;
        let pieces = Pieces::of(&own);
        let n_lines = pieces.all.len();
        if n_lines > LINES_MAX {
            return Err(format!("it mixes {n_lines} kinds of I/O, and {LINES_MAX} are the most"));
        }
        let (shares, is_same) = lines::whole_shares(&pieces.all);
        let all = pieces.all.iter().zip(shares);
        let lines: Vec<AccessLine> =
            all.map(|(piece, share_pct)| lines::line(piece, share_pct, &own.load.think)).collect();
        let worker = worker_of(&own, &places.targets);
        let back = read(&self.test, &worker, &lines)?;
        let works: Vec<&Workload> = back.workloads().collect();
        if works.len() != n_lines {
            return Err(format!("{} of its {n_lines} kinds of I/O come back", works.len()));
        }
        self.lines(&own, &pieces, is_same);
        for (piece, work) in pieces.all.iter().zip(works) {
            self.values(&own, piece, &alone(&back, work))?;
        }
        Ok(Entry { worker, n_workers: job.n_workers.max(1), lines })
    }

    /// Lists what lines say otherwise than the workloads that they are of.
    fn lines(&mut self, own: &Job, pieces: &Pieces, is_same: bool) {
        let name = &own.name;
        if pieces.is_cut {
            let loss = format!(
                "sizes (`{name}`): {} stand for all, since there are {LINES_MAX} lines at most",
                pieces.all.len()
            );
            self.to.lose_fields(job_fields![workload.block_size], loss);
        }
        if !is_same {
            self.to.lose_fields(
                job_fields![workload.block_size, workload.read_pct],
                format!("shares of I/O (`{name}`): Iometer has whole percents"),
            );
        }
        let is_drawn = |work: &Workload| work.access.random && work.random_pct.read >= 100.0;
        if pieces.all.len() > 1 && !pieces.all.iter().all(|it| is_drawn(&it.workload)) {
            self.to.lose_fields(
                job_fields![workload.one_cursor],
                format!(
                    "where sequential I/O of several lines goes on (`{name}`): from one place for \
                     all in Iometer, and from one for each here"
                ),
            );
        }
        let runs = |work: &Workload| work.access.random && work.ios_per_draw > 1;
        if own.workloads().any(runs) {
            self.to.lose_fields(
                job_fields![workload.access],
                format!("runs of I/Os between draws (`{name}`): Iometer draws a share of all"),
            );
        }
        // What they come to is said, line by line.
        self.to.do_without(job_fields![workload.block_align, workload.aligned_to_length]);
        if own.parts.iter().any(|part| part.rate_iops.is_some()) {
            self.to.lose_fields(
                job_fields![load.rate_total_iops],
                format!("rates of workloads (`{name}`): Iometer has no rates"),
            );
        }
        if own.parts.iter().any(|part| part.priority > 0) {
            self.to.lose("priorities of workloads: lines of Iometer have none");
        }
    }

    /// Lists the values of a share of a job's I/O that do not come back.
    fn values(&mut self, own: &Job, piece: &Piece, back: &Job) -> Result<(), String> {
        let was = alone(own, &piece.workload);
        let backs = param::settings(back);
        let mut values = Values::of(&was);
        values.beside(&backs);
        settle(&same_without(&was, back), &mut values, &mut self.to);
        if let Some(why) = why_elsewhere(own, &values, "Iometer") {
            return Err(why);
        }
        for it in values.open() {
            let has = match backs.iter().find(|back| back.param.name == it.param.name) {
                Some(back) => format!("Iometer has {}", back.text),
                None => "Iometer has no word for it".to_owned(),
            };
            let key = it.param.fio_name();
            self.to
                .lose_value(it.param, format!("{} (`{key}={}`): {has}", it.param.short, it.text));
        }
        lose_others(&values, "Iometer", &mut self.to);
        Ok(())
    }

    /// Returns the text, where a worker is in it.
    fn done(self) -> Translation {
        let Writer { mut to, test, specs, workers, .. } = self;
        if !workers.is_empty() {
            to.text = text_of(&config_of(test, specs, workers));
        }
        to
    }
}

/// Returns what the access specification of each job is called: as the step, where that has names
/// for as many as there are, else as the job.
fn spec_names(step: &Step, entries: &[(&Job, Entry)]) -> Vec<String> {
    let mut kinds: Vec<&[AccessLine]> = Vec::new();
    for (_, entry) in entries {
        if !kinds.contains(&&*entry.lines) {
            kinds.push(&entry.lines);
        }
    }
    let names: Vec<&str> = match kinds.len() {
        1 => vec![&step.name],
        _ => step.name.split(" + ").collect(),
    };
    let is_named = !step.name.is_empty() && names.len() == kinds.len();
    let name = |(job, entry): &(&Job, Entry)| {
        let kind_idx = kinds.iter().position(|kind| *kind == entry.lines);
        let of_step = kind_idx.and_then(|idx| names.get(idx)).filter(|_| is_named);
        of_step.map_or_else(|| job.name.clone(), |name| (*name).to_owned())
    };
    entries.iter().map(name).collect()
}

/// Returns a job that has one workload, and the seed of all.
fn alone(job: &Job, work: &Workload) -> Job {
    let Workload { seed, seed_varies, .. } = job.workload;
    let workload = Workload { seed, seed_varies, ..work.clone() };
    Job { workload, parts: Vec::new(), options: Vec::new(), ..job.clone() }
}

/// Returns the start of a text without line ends, and without what begins a key.
fn on_one_line(text: &str, n_bytes_max: usize) -> String {
    let text = text.replace(char::is_control, " ");
    let text = text.trim_start_matches(|c: char| c == '\'' || c.is_whitespace());
    cut(text, n_bytes_max).trim_end().to_owned()
}

/// Returns a configuration of workers on this host.
fn config_of(test: TestSetup, specs: Vec<AccessSpec>, workers: Vec<Worker>) -> Config {
    let host = || "localhost".to_owned();
    let manager = Manager { name: host(), address: host(), span: Span::default(), workers };
    Config { test, specs, managers: vec![manager] }
}

fn worker_of(own: &Job, targets: &[Target]) -> Worker {
    let sectors = |size: Option<Size>| match size {
        Some(Size::Bytes(bytes)) => bytes / SECTOR_BYTES,
        Some(Size::Percent(_) | Size::Zones(_)) | None => 0,
    };
    let name = on_one_line(&own.name, NAME_BYTES_MAX - SUFFIX_BYTES);
    let repeated = [PatternPart::Bytes(vec![REPEATED_BYTE])];
    Worker {
        name: if name.is_empty() { "Worker".to_owned() } else { name },
        span: Span::default(),
        is_of_network: false,
        queue_depth: own.load.queue_depth.min(DEPTH_MAX as u32),
        seed: (!own.workload.seed_varies).then_some(own.workload.seed),
        ios_per_open: 0,
        size_sectors: sectors(own.files.size),
        start_sector: sectors(Some(own.files.offset)),
        data: match own.buffers.refill {
            _ if own.buffers.pattern == repeated => DataPattern::Repeating,
            Some(true) => DataPattern::FullRandom,
            Some(false) | None => DataPattern::PseudoRandom,
        },
        specs: Vec::new(),
        targets: targets.to_vec(),
    }
}

/// Reads back what a worker does to its first target.
fn read(test: &TestSetup, worker: &Worker, lines: &[AccessLine]) -> Result<Job, String> {
    let name = "I/O".to_owned();
    let own = Worker {
        specs: vec![(name.clone(), Span::default())],
        targets: worker.targets.iter().take(1).cloned().collect(),
        ..worker.clone()
    };
    let spec = AccessSpec { name, assigned: Assigned::None, lines: lines.to_vec() };
    let text = text_of(&config_of(test.clone(), vec![spec], vec![own]));
    one_job("Iometer", |request| parse_text("configuration", &text, request, &NO_HOST))
}

/// Returns why a job is left out whatever its values.
fn why_left_out(job: &Job) -> Option<String> {
    if job.tree.is_some() {
        return Some("Iometer has no trees of files".to_owned());
    }
    if let Some(why) = why_no_bytes(job.engine.kind, "Iometer") {
        return Some(why);
    }
    let has_bytes = |work: &Workload| work.access.read || work.access.write;
    (!job.workloads().all(has_bytes)).then(|| "Iometer has no trims".to_owned())
}

/// Returns the fields that differ, and without which the I/O is the same.
fn same_without(own: &Job, back: &Job) -> Vec<Field> {
    let work = &own.workload;
    let access = work.access;
    let is_aligned_so = back.workload.block_align.read == work.block_align.read;
    let draws = access.random || access.is_mixed() || access.write;
    let own_fields = same(&[
        (job_field!(workload.block_align), !access.random || is_aligned_so),
        (job_field!(workload.no_repeats), !access.random),
        (job_field!(workload.seed), !draws),
        (job_field!(workload.seed_varies), !draws),
    ]);
    [without_effect(own), own_fields].concat()
}
