//! From sections to runs.

use super::announce::{files_text, raw_text};
use super::expansion::Expansion;
use super::findings::{Findings, SourceRange};
use super::known::fits;
use super::loops::{Point, n_points};
use super::options::Options;
use super::rd::RdEntry;
use super::run::{RawWork, Run, Sd, Work};
use super::sd::SdEntry;
use super::sections::Sections;
use super::select;
use super::values::MAX_RATE;

/// Most runs that files may come to: more would fill the memory before the first one starts.
const RUNS_MAX: usize = 250_000;

/// Vdbench starts a process for so many I/Os per second.
const IOS_PER_JVM: f64 = 100_000.0;

/// And by itself no more than this.
const JVMS_MAX: f64 = 8.0;

/// Returns all runs; none where a mistake was found, in the sections or here.
///
/// Beside mistakes of the sections the kind mode looks on: at each run definition that has none
/// itself, of which what follows would be said.
pub(super) fn expand(
    sections: &mut Sections,
    options: &Options,
    findings: &mut Findings,
) -> Vec<Run> {
    let (n_known, has_mistakes) = (findings.diagnostics.len(), findings.n_errors > 0);
    if has_mistakes && !may_look_on(options, findings) {
        return Vec::new();
    }
    let wrong = if has_mistakes { take_wrong(&mut sections.rds, findings) } else { Vec::new() };
    let rds = select::run_definitions(sections, options, findings);
    raise_jvms(sections, &rds);
    let mut expansion = Expansion::new(sections, options, findings);
    expansion.check_names_of(&wrong);
    let mut runs = expansion.runs(&rds);
    if has_mistakes {
        findings.drop_consequences(n_known);
    }
    if findings.n_errors > 0 {
        runs.clear();
    }
    runs
}

/// Returns whether runs are looked at beside the mistakes that were found.
fn may_look_on(options: &Options, findings: &Findings) -> bool {
    let is_too_much = findings.diagnostics.iter().any(|it| it.code.starts_with("too-"));
    options.is_kind() && !is_too_much && options.restart_rd.is_none()
}

/// Takes the run definitions out in which mistakes were found.
fn take_wrong(rds: &mut Vec<RdEntry>, findings: &Findings) -> Vec<RdEntry> {
    let places: Vec<SourceRange> = rds.iter().map(|rd| rd.head.place).collect();
    let is_sound = |rd: &RdEntry| {
        let end = places.iter().copied().filter(|other| other.is_behind(rd.head.place));
        !findings.has_error_within(rd.head.place, end.filter(|other| *other != rd.head.place).min())
    };
    let (sound, wrong) = std::mem::take(rds).into_iter().partition(is_sound);
    *rds = sound;
    wrong
}

/// Vdbench starts a process for each 100,000 I/Os per second that a host is asked for, and no more
/// than the host has storage definitions, or 8: for the largest rate of all runs, and where no
/// number is written.
fn raise_jvms(sections: &mut Sections, rds: &[RdEntry]) {
    let known = &mut sections.known;
    if known.is_files || known.hosts.iter().any(|entry| entry.has_jvms) {
        return;
    }
    let rates = rds.iter().flat_map(|rd| rd.rates.iter().copied().chain([rd.iorate]));
    let rate = rates.fold(0.0, f64::max) / known.hosts.len().max(1) as f64;
    let n_asked = (rate / IOS_PER_JVM).ceil().min(JVMS_MAX) as usize;
    for (idx, entry) in known.hosts.iter_mut().enumerate() {
        let has_lun = |sd: &&SdEntry| sd.luns.iter().any(|(host, _)| *host == idx);
        let n_luns = sections.sds.iter().filter(has_lun).count();
        let n_jvms = n_luns.min(n_asked) as u32;
        if n_jvms > entry.host.jvms {
            entry.host.jvms = n_jvms;
            entry.host.jvms_raised_for = Some(n_luns);
        }
    }
}

/// Returns every storage definition, once per host that has it.
pub(super) fn all_sds(sections: &Sections) -> Vec<Sd> {
    let hosts = &sections.known.hosts;
    let of_entry = |entry: &SdEntry| {
        let on_host = |(host, lun): &(usize, String)| entry.on_host(&hosts[*host].host, lun);
        entry.luns.iter().map(on_host).collect::<Vec<Sd>>()
    };
    sections.sds.iter().flat_map(of_entry).collect()
}

impl Expansion<'_> {
    /// Looks for what run definitions name that are not expanded, since they have mistakes.
    fn check_names_of(&mut self, wrong: &[RdEntry]) {
        if self.known().is_files || wrong.is_empty() {
            return;
        }
        for rd in wrong {
            for name in &rd.wds {
                if !self.sections.wds.all.iter().any(|wd| fits(name, &wd.head.name)) {
                    self.unknown_wd(rd, name);
                }
            }
        }
        self.check_sd_names();
    }

    fn runs(&mut self, rds: &[RdEntry]) -> Vec<Run> {
        let mut runs = Vec::new();
        let n_runs = rds.iter().fold(0_usize, |sum, rd| {
            sum.saturating_add(n_points(&rd.loops).saturating_mul(rd.n_per_point()))
        });
        if n_runs > RUNS_MAX {
            let place = rds.first().map_or(SourceRange::NONE, |rd| rd.head.place);
            let message = format!("the loops come to {n_runs} runs, more than {RUNS_MAX}");
            self.findings.error_help(place, "too-many-runs", message, "shorten the lists");
            return runs;
        }
        if self.known().general.is_recovery {
            runs.push(self.recovery_run());
        }
        for rd in rds {
            if self.known().is_files {
                self.file_runs(rd, &mut runs);
            } else {
                self.raw_runs(rd, &mut runs);
            }
            if self.findings.is_hopeless() {
                break;
            }
        }
        runs
    }

    /// The run that a recovery from journals puts before all others. It is listed, not run.
    fn recovery_run(&self) -> Run {
        let rd = RdEntry::endless("journal_recovery");
        let work = Work::Raw(RawWork { sds: all_sds(self.sections), wds: Vec::new() });
        let mut run = self.bare_run(&rd, &Point::default(), work);
        run.announced = if self.known().is_files {
            files_text(&rd.head.name, MAX_RATE, &rd, &[])
        } else {
            raw_text(&rd.head.name, MAX_RATE, false, &rd, &[])
        };
        run.simulated.clone_from(&run.announced);
        run
    }
}
