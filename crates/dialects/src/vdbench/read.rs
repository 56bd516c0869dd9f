//! From files to runs.

use std::collections::HashSet;

use plan::Diagnostic;

use super::announce::raw_text;
use super::findings::Place;
use super::input::{Input, fits};
use super::lines::Reader;
use super::options::Options;
use super::parsed::Parsed;
use super::rd::RdEntry;
use super::run::{Rate, RawWork, Run, Sd, SdFormat, Work};
use super::values::MAX_RATE;
use crate::Loader;

/// Most runs that files may come to: more would fill the memory before the first one starts.
const RUNS_MAX: usize = 250_000;

/// Transfer size for writing files that are missing or short.
const FORMAT_XFERSIZE_BYTES: u32 = 128 * 1024;

/// Vdbench starts a process for so many I/Os per second.
const IOS_PER_JVM: f64 = 100_000.0;

/// And by itself no more than this.
const JVMS_MAX: f64 = 8.0;

/// Parses parameter files, which Vdbench takes as one.
pub fn parse_files<P: AsRef<str>>(paths: &[P], options: &Options, loader: &dyn Loader) -> Parsed {
    let mut input = Input::new(options, loader);
    let mut reader = Reader::new(options, loader);
    for path in paths {
        reader.read(path.as_ref(), &mut input.findings);
    }
    parse(input, reader)
}

/// Parses a parameter file that is already in memory; `name` stands for its path.
pub fn parse_text(name: &str, text: &str, options: &Options, loader: &dyn Loader) -> Parsed {
    let mut input = Input::new(options, loader);
    let mut reader = Reader::new(options, loader);
    reader.read_text(name, text.to_owned(), 0, &mut input.findings);
    parse(input, reader)
}

fn parse<'a>(mut input: Input<'a>, mut reader: Reader<'a>) -> Parsed {
    reader.finish(&mut input.findings);
    let copied = std::mem::take(&mut reader.copied);
    // Without a file that could be read there is nothing more to say.
    if !(reader.lines.is_empty() && input.findings.n_errors > 0) {
        input.read(reader);
    }
    let mut runs = Vec::new();
    let n_known = input.findings.diagnostics.len();
    if input.findings.n_errors == 0 {
        let rds = input.finish_rds();
        input.expand(&rds, &mut runs);
    } else if input.can_look_on() {
        let rds = input.finish_rds();
        input.expand(&rds, &mut runs);
        input.findings.drop_consequences(n_known);
    }
    if input.findings.n_errors > 0 {
        runs.clear();
    }
    let sds = input.all_sds();
    let plain = input.plain_text();
    // Sections look ahead: a reader wants the order of the file.
    let place = |finding: &Diagnostic| {
        finding.span.as_ref().map_or((None, 0), |span| (span.source_idx, span.bytes.start))
    };
    input.findings.diagnostics.sort_by_key(place);
    input.findings.tell_of_others();
    Parsed {
        sources: input.findings.sources,
        runs,
        sds,
        settings: input.settings,
        hosts: input.hosts.into_iter().map(|entry| entry.host).collect(),
        scanned: input.params.scanned,
        copied,
        plain,
        diagnostics: input.findings.diagnostics,
        refusals: input.findings.refusals,
    }
}

impl Input<'_> {
    /// Says whether runs are looked at beside the mistakes that were found: so are those of each
    /// run definition that has none itself, of which what follows would be said.
    fn can_look_on(&mut self) -> bool {
        let is_too_much = self.findings.diagnostics.iter().any(|it| it.code.starts_with("too-"));
        if !self.is_kind() || is_too_much || self.options.restart_rd.is_some() {
            return false;
        }
        let places: Vec<Place> = self.rds.iter().map(|rd| rd.place).collect();
        let findings = &self.findings;
        let is_sound = |rd: &RdEntry| {
            let end = places.iter().copied().filter(|other| other.is_behind(rd.place));
            !findings.has_error_within(rd.place, end.filter(|other| *other != rd.place).min())
        };
        let (sound, wrong) = std::mem::take(&mut self.rds).into_iter().partition(is_sound);
        self.rds = sound;
        self.check_names_of(wrong);
        true
    }

    /// Looks for what run definitions name that are not expanded, since they have mistakes.
    fn check_names_of(&mut self, wrong: Vec<RdEntry>) {
        if self.flags.is_files || wrong.is_empty() {
            return;
        }
        for rd in wrong {
            for name in &rd.wds {
                if !self.wds.iter().any(|wd| fits(name, &wd.name)) {
                    self.unknown_wd(&rd, name);
                }
            }
        }
        self.check_sd_names();
    }

    fn expand(&mut self, rds: &[RdEntry], runs: &mut Vec<Run>) {
        let n_runs = rds.iter().fold(0_usize, |sum, rd| {
            sum.saturating_add(super::loops::n_points(&rd.loops).saturating_mul(rd.n_per_point()))
        });
        if n_runs > RUNS_MAX {
            let place = rds.first().map_or(Place::NONE, |rd| rd.place);
            let message = format!("the loops come to {n_runs} runs, more than {RUNS_MAX}");
            self.findings.error_help(place, "too-many-runs", message, "shorten the lists");
            return;
        }
        if self.flags.is_recovery {
            runs.push(self.recovery_run());
        }
        self.raise_jvms(rds);
        for rd in rds {
            if self.flags.is_files {
                self.file_runs(rd, runs);
            } else {
                self.raw_runs(rd, runs);
            }
            if self.findings.is_hopeless() {
                return;
            }
        }
    }

    fn all_sds(&self) -> Vec<Sd> {
        let mut sds = Vec::new();
        for entry in &self.sds {
            for (host, lun) in &entry.luns {
                sds.push(entry.on_host(&self.hosts[*host].host, lun));
            }
        }
        sds
    }

    /// The run that a recovery from journals puts before all others. It is listed, not run.
    fn recovery_run(&self) -> Run {
        let rd = RdEntry::endless("journal_recovery");
        let work = Work::Raw(RawWork { sds: self.all_sds(), wds: Vec::new() });
        let point = super::loops::Point::default();
        let mut run = self.bare_run(&rd, &point, work);
        run.announced = if self.flags.is_files {
            super::announce::files_text(&rd.name, MAX_RATE, &rd, &[])
        } else {
            raw_text(&rd.name, MAX_RATE, false, &rd, &[])
        };
        run.simulated.clone_from(&run.announced);
        run
    }

    /// Vdbench starts a process for each 100,000 I/Os per second that a host is asked for, and no
    /// more than the host has storage definitions, or 8: for the largest rate of all runs, and
    /// where nobody wrote a number.
    fn raise_jvms(&mut self, rds: &[RdEntry]) {
        let has_jvms = self.hosts.iter().any(|entry| entry.has_jvms);
        if self.flags.is_files || has_jvms {
            return;
        }
        let rates = rds.iter().flat_map(|rd| rd.rates.iter().copied().chain([rd.iorate]));
        let rate = rates.fold(0.0, f64::max) / self.hosts.len().max(1) as f64;
        let n_asked = (rate / IOS_PER_JVM).ceil().min(JVMS_MAX) as usize;
        for (idx, entry) in self.hosts.iter_mut().enumerate() {
            let has_lun = |sd: &&super::sd::SdEntry| sd.luns.iter().any(|(host, _)| *host == idx);
            let n_luns = self.sds.iter().filter(has_lun).count();
            let n_jvms = n_luns.min(n_asked) as u32;
            if n_jvms > entry.host.jvms {
                entry.host.jvms = n_jvms;
                entry.host.jvms_raised_for = Some(n_luns);
            }
        }
    }
}

/// What is at the path of a storage definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lun {
    /// Nothing.
    Missing,
    /// Not even the folder that it would be in.
    NoFolder,
    /// A file of so many bytes.
    File(u64),
    /// Something that cannot be made or made longer: a device.
    Device,
}

/// Returns the run that writes storage definitions which are files and missing or short; `None`
/// where nothing is to be written. It comes before all other runs. A simulation does not list it.
///
/// `look` says what is at the path of a storage definition.
pub fn sd_format(parsed: &Parsed, look: &dyn Fn(&Sd) -> Lun) -> Option<Run> {
    let settings = &parsed.settings;
    if settings.format_sds == Some(false) || settings.concatenate_sds {
        return None;
    }
    let is_forced = settings.format_sds == Some(true);
    let mut sds: Vec<Sd> = Vec::new();
    let mut seen = HashSet::new();
    let raw = parsed.runs.iter().filter_map(|run| match &run.work {
        Work::Raw(work) => Some(&work.sds),
        _ => None,
    });
    for sd in raw.flatten() {
        // Hosts that are all this one share their files.
        let is_local = |host: &&super::parsed::Host| host.label == sd.host && host.is_local;
        let of_host = if parsed.hosts.iter().any(|host| is_local(&host)) { "" } else { &sd.host };
        let is_known = !seen.insert((&sd.lun, of_host));
        let is_device = sd.lun.starts_with("/dev/") || sd.lun.starts_with("\\\\");
        if is_known || (is_device && !is_forced) {
            continue;
        }
        let is_short = match (look(sd), sd.size_bytes) {
            (Lun::Device, _) | (Lun::Missing | Lun::NoFolder, None) => false,
            (Lun::Missing | Lun::NoFolder, Some(_)) => true,
            (Lun::File(bytes), wanted) => is_forced || wanted.is_some_and(|size| bytes < size),
        };
        if is_short {
            sds.push(Sd { threads: 2, ..sd.clone() });
        }
    }
    let smallest = sds.iter().filter_map(|sd| sd.size_bytes).min()?;
    let usual =
        if smallest < u64::from(FORMAT_XFERSIZE_BYTES) { 512 } else { FORMAT_XFERSIZE_BYTES };
    let xfersize_bytes = settings.format_xfersize_bytes.unwrap_or(usual);
    let first = parsed.runs.first()?;
    let loops =
        vec![("threads".to_owned(), "2".to_owned()), ("iorate".to_owned(), "max".to_owned())];
    let rd = RdEntry::endless("SD_format");
    let announced = raw_text("SD_format", MAX_RATE, false, &rd, &loops);
    Some(Run {
        name: "SD_format".to_owned(),
        rd: "SD_format".to_owned(),
        simulated: announced.clone(),
        announced,
        loops,
        rate: Rate::Max,
        controlled: false,
        elapsed_ns: None,
        warmup_ns: 0,
        interval_ns: super::values::NS_PER_S,
        pause_ns: 0,
        maxdata: super::run::AmountMax::default(),
        arrivals: super::run::Arrivals::Poisson,
        rate_periods: None,
        commands: Vec::new(),
        contents: first.contents.clone(),
        data_errors: settings.data_errors,
        work: Work::SdFormat(SdFormat { sds, xfersize_bytes }),
    })
}
