//! From files to runs.

use std::collections::HashSet;

use plan::Diagnostic;

use super::announce::raw_text;
use super::input::Input;
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
    if input.findings.n_errors == 0 {
        let rds = input.finish_rds();
        input.expand(&rds, &mut runs);
    }
    if input.findings.n_errors > 0 {
        runs.clear();
    }
    let sds = input.all_sds();
    let plain = input.plain_text();
    let sd_places = input.sds.iter().map(|sd| (sd.name.clone(), sd.place)).collect();
    // Sections look ahead: a reader wants the order of the file.
    let place = |finding: &Diagnostic| {
        finding.span.as_ref().map_or((None, 0), |span| (span.source_idx, span.bytes.start))
    };
    input.findings.diagnostics.sort_by_key(place);
    Parsed {
        sources: input.findings.sources,
        runs,
        sds,
        sd_places,
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
    fn expand(&mut self, rds: &[RdEntry], runs: &mut Vec<Run>) {
        let n_runs = rds.iter().fold(0_usize, |sum, rd| {
            sum.saturating_add(super::loops::n_points(&rd.loops).saturating_mul(rd.n_per_point()))
        });
        if n_runs > RUNS_MAX {
            let place = rds.first().map_or(super::findings::Place::NONE, |rd| rd.place);
            let message = format!("the loops come to {n_runs} runs, more than {RUNS_MAX}");
            self.findings.error_help(place, "too-many-runs", message, "shorten the lists");
            return;
        }
        if self.flags.is_recovery {
            runs.push(self.recovery_run());
        }
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
        self.raise_jvms();
    }

    fn all_sds(&self) -> Vec<Sd> {
        let mut sds = Vec::new();
        for entry in &self.sds {
            for (host, lun) in &entry.luns {
                sds.push(entry.on_host(&self.hosts[*host].host.label, lun));
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

    /// Vdbench starts as many processes as there are storage definitions, at most 8, for runs at
    /// the maximum rate.
    fn raise_jvms(&mut self) {
        let is_max = |rd: &RdEntry| rd.iorate >= super::rd::CURVE_RATE;
        if self.flags.is_files || !self.rds.iter().any(is_max) {
            return;
        }
        for (idx, entry) in self.hosts.iter_mut().enumerate() {
            let has_lun = |sd: &&super::sd::SdEntry| sd.luns.iter().any(|(host, _)| *host == idx);
            let n_luns = self.sds.iter().filter(has_lun).count();
            if !entry.has_jvms {
                entry.host.jvms = entry.host.jvms.max(n_luns.min(8) as u32);
            }
        }
    }
}

/// What is at the path of a storage definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lun {
    /// Nothing.
    Missing,
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
            (Lun::Device, _) | (Lun::Missing, None) => false,
            (Lun::Missing, Some(_)) => true,
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
        interval_ns: super::announce::NS_PER_S,
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
