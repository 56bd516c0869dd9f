//! `--on DESIGN`: a run on emulated volumes.

use std::sync::Arc;

use ::catalog::Catalog;
use dialects::{DIALECTS, Dialect, Likeness, Loader, likeliest};
use plan::job::Source;
use plan::{Diagnostic, Severity};
use record::{Note, NoteSeverity};
use runner::{DesignChange, EmulatedTime, Emulation};
use toml::de::DeTable;
use units::system_text;
use volume::design::{ReadAs, parse_as};

use super::foreign;
use super::own_tables::CatalogArgs;
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;
use crate::stream;

/// Emulated volumes in place of this machine's files.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Emulated volumes")]
#[command(mut_arg("catalog", |catalog| catalog.requires("on")))]
pub(super) struct OnArgs {
    /// Run on the volumes of a design instead of this machine's files: what the limits of its disks
    /// and machine make of the load. No file is touched. `-` is the standard input. A disk of the
    /// catalogue, such as P30, stands for a design with one.
    #[arg(long, value_name = "DESIGN")]
    on: Option<String>,

    #[command(flatten)]
    catalog: CatalogArgs,

    /// Run in virtual time: as fast as it can be computed, with the same result.
    #[arg(long = "virtual", requires = "on", conflicts_with = "time_scale")]
    is_virtual: bool,

    /// What the host caches hold at the start: nothing, or the files of the jobs.
    #[arg(long, value_name = "STATE", requires = "on", value_enum, default_value = "cold")]
    cache: CacheState,

    /// Change the volumes to those of another design after TIME, as when they are provisioned anew;
    /// may be given several times.
    #[arg(long = "then", value_name = "TIME=DESIGN", requires = "is_virtual", value_parser = then)]
    changes: Vec<(std::time::Duration, String)>,

    /// Let time pass K times slower, so that volumes faster than this machine can be shown.
    #[arg(long, value_name = "K", requires = "on", value_parser = scale)]
    time_scale: Option<f64>,
}

/// State of the host caches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum CacheState {
    /// Empty, as after every start of a machine.
    #[default]
    Cold,
    /// With the files of the jobs in them, as far as they fit.
    Warm,
}

/// Bounds of `--time-scale`: what a clock of nanoseconds resolves.
const SCALES: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

fn scale(text: &str) -> Result<f64, String> {
    let scale: f64 = text.parse().map_err(|_| "expected a number, such as 10".to_owned())?;
    if !SCALES.contains(&scale) {
        return Err(format!("expected {} to {}", SCALES.start(), SCALES.end()));
    }
    Ok(scale)
}

fn then(text: &str) -> Result<(std::time::Duration, String), String> {
    let (time, name) = text.split_once('=').ok_or("expected TIME=DESIGN, such as 3m=p40.toml")?;
    let time = units::parse_duration(time).map_err(|error| error.to_string())?;
    Ok((time, name.to_owned()))
}

impl OnArgs {
    /// Returns whether volumes of a design stand in for this machine's files.
    pub(super) fn is_given(&self) -> bool {
        self.on.is_some()
    }

    /// Reads the design for a command of several measurements, each of which begins at its time 0.
    pub(super) fn emulation_of_many(&self) -> Result<Option<Emulation>, Failure> {
        if !self.changes.is_empty() {
            let text = "`--then` counts its TIME in each measurement from its start: a change in \
                        the middle of the search, or of the suite, is none";
            stream::remark("note: ", text);
        }
        self.emulation()
    }

    /// Reads the design, if one is named. Mistakes in it are printed and end the command.
    pub(super) fn emulation(&self) -> Result<Option<Emulation>, Failure> {
        let Some(name) = &self.on else { return Ok(None) };
        let catalog = self.catalog.load()?;
        let Read { design, text, findings } = read(name, &catalog)?;
        warn_of_nothing_to_warm(&design, self.cache == CacheState::Warm);
        let time = match (self.is_virtual, self.time_scale) {
            (true, _) => EmulatedTime::Virtual,
            (false, scale) => EmulatedTime::Real(scale.unwrap_or(1.0)),
        };
        let mut changes = Vec::with_capacity(self.changes.len());
        for (after, name) in &self.changes {
            let at_ns = units::nanoseconds(*after);
            let Read { design, text, .. } = read(name, &catalog)?;
            let design_hash = format!("{:016x}", units::fnv1a(text.bytes()));
            changes.push(DesignChange { at_ns, design: Arc::new(design), design_hash });
        }
        changes.sort_by_key(|change| change.at_ns);
        let emulation = Emulation {
            changes,
            design: Arc::new(design),
            design_hash: format!("{:016x}", units::fnv1a(text.bytes())),
            is_warm: self.cache == CacheState::Warm,
            time,
            notes: findings.iter().filter_map(note).collect(),
        };
        emulation.check_changes().map_err(|(idx, why)| {
            let name = &emulation.changes[idx].design.name;
            let text = format!("`--then`: `{name}` cannot take over: {why}");
            Failure::wrong_use(text).hint("change tiers, sizes or levels; volumes and caps stay")
        })?;
        Ok(Some(emulation))
    }
}

/// Reports that a warm start was asked for where no disk has a host cache.
pub(super) fn warn_of_nothing_to_warm(design: &volume::Design, is_warm: bool) {
    if is_warm && !design.volumes.iter().any(is_cached) {
        let text = "`--cache warm` changes nothing: no disk of the design has a host cache; give \
                    one `cache = \"ReadOnly\"`";
        stream::remark("warning: ", text);
    }
}

fn is_cached(volume: &volume::design::Volume) -> bool {
    match &volume.backing {
        volume::design::Backing::Disks(stripe) => {
            stripe.disks.iter().any(|disk| disk.cache != volume::CacheMode::None)
        }
        volume::design::Backing::Network(_) => false,
    }
}

/// Returns what a record must say about the volumes: which of their figures are not known.
fn note(finding: &Diagnostic) -> Option<Note> {
    let severity = NoteSeverity::Warning;
    let is_warning = finding.severity == Severity::Warning;
    let (code, message) = (finding.code.to_owned(), finding.message.clone());
    is_warning.then_some(Note { severity, code, message })
}

/// A design as it was read.
pub(super) struct Read {
    pub(super) design: volume::Design,
    pub(super) text: String,
    /// Warnings and notes, which were printed already.
    pub(super) findings: Vec<Diagnostic>,
}

/// Returns what the catalogue lacks of a design, a sentence for each limit that is left out.
pub(super) fn unknown_figures(findings: &[Diagnostic]) -> Vec<String> {
    let unknown = findings.iter().filter(|finding| finding.code == "unknown-figure");
    unknown.map(|finding| finding.message.clone()).collect()
}

/// Reads a design and its text, with limits from a catalogue. Mistakes are printed and end the
/// command.
pub(super) fn read_design(
    name: &str,
    catalog: &Arc<Catalog>,
) -> Result<(volume::Design, String), Failure> {
    read(name, catalog).map(|read| (read.design, read.text))
}

/// Reads a design again, in a process that was started by one that has printed its findings.
/// Mistakes are printed and end the command.
pub(super) fn read_again(
    name: &str,
    catalog: &Arc<Catalog>,
) -> Result<(volume::Design, String), Failure> {
    let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
    let read = read_and_print(name, catalog, ReadAs::default(), is_error)?;
    Ok((read.design, read.text))
}

/// Reads a design. Mistakes are printed and end the command.
pub(super) fn read(name: &str, catalog: &Arc<Catalog>) -> Result<Read, Failure> {
    read_as(name, catalog, ReadAs::default())
}

/// Reads a design as it is said. Mistakes are printed and end the command.
pub(super) fn read_as(
    name: &str,
    catalog: &Arc<Catalog>,
    as_: ReadAs<'_>,
) -> Result<Read, Failure> {
    read_and_print(name, catalog, as_, |_| true)
}

fn read_and_print(
    name: &str,
    catalog: &Arc<Catalog>,
    as_: ReadAs<'_>,
    is_shown: impl Fn(&Diagnostic) -> bool,
) -> Result<Read, Failure> {
    if let Some((read, what)) = of_disk(name, catalog, as_)? {
        if is_shown(&Diagnostic::note("one-disk", &what)) {
            stream::remark("note: ", &what);
        }
        return Ok(read);
    }
    let bytes = HostLoader.read(name).map_err(|error| {
        Failure::wrong_use(format!("cannot read design `{name}`: {}", system_text(&error)))
            .hint("a disk of the catalogue stands for a design, too: `plimsoll catalog list disks`")
    })?;
    foreign::refuse(name, &bytes, "a design")?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let Some(text) = text else {
        return Err(Failure::wrong_use(format!("design `{name}` is not text")));
    };
    if let Some((line, part)) = single_part(&text) {
        let text = format!("line {line} of design `{name}` is `[{part}]`");
        let hint = format!("write `[[{part}]]`: a design has a list of them");
        return Err(Failure::wrong_use(text).hint(hint));
    }
    if ::needs::declares(&text) {
        let failure = Failure::wrong_use(format!("`{name}` is a file of needs, not a design"));
        let hint = format!("`plimsoll design {name} --region REGION -o best.toml` finds a design");
        return Err(failure.hint(hint));
    }
    if let Some(language) = foreign(&text) {
        let failure = Failure::wrong_use(format!("`{name}` is {language}, not a design"));
        return Err(failure.hint("`plimsoll run JOB --on DESIGN` takes the job first"));
    }
    let (design, findings) = parse_as(&text, catalog, as_);
    let sources = [Source { name: name.to_owned(), text: text.clone() }];
    let shown: Vec<&Diagnostic> = findings.iter().filter(|finding| is_shown(finding)).collect();
    diagnostics::print_all(&shown, Texts { sources: &sources, command_line: "" });
    let is_wrong = findings.iter().any(|finding| finding.severity == Severity::Error);
    match design.filter(|_| !is_wrong) {
        Some(mut design) => {
            if design.name.is_empty() {
                let shown = if name == "-" { "standard input" } else { name };
                shown.clone_into(&mut design.name);
            }
            Ok(Read { design, text, findings })
        }
        None => Err(Failure::silent(Exit::WrongUse)),
    }
}

/// Size of a disk of the catalogue that leaves it open, where none is given.
const OPEN_SIZE: &str = "1TiB";

/// Reads a name of the catalogue as a design: one such disk for every path, without a machine
/// before it, and what that is. Nothing where there is a file of that name, or no such disk.
fn of_disk(
    name: &str,
    catalog: &Arc<Catalog>,
    as_: ReadAs<'_>,
) -> Result<Option<(Read, String)>, Failure> {
    let is_file = name == "-" || name.contains('/') || HostLoader.is_file(name);
    let disk = catalog.edition(as_.edition).and_then(|edition| edition.disk(name));
    let Some(disk) = disk.filter(|_| !is_file) else { return Ok(None) };
    let mut text =
        format!("[[volume]]\nmount = \"/disk\"\ndisk = \"{}\"\ncache = \"None\"\n", disk.name);
    let mut what = format!("`{}`: one such disk, without host cache and machine", disk.name);
    if disk.is_free() {
        text.push_str(&format!("size = \"{OPEN_SIZE}\"\n"));
        what.push_str(&format!(", of {OPEN_SIZE}; a design says another size"));
    }
    let (design, findings) = parse_as(&text, catalog, as_);
    let Some(mut design) = design else {
        let why: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        let message = format!("`{}` alone is not a design: {}", disk.name, why.join("; "));
        return Err(Failure::wrong_use(message).hint(
            "write a design: docs/design-files.md shows \
            how, docs/designs has examples",
        ));
    };
    disk.name.clone_into(&mut design.name);
    for volume in &mut design.volumes {
        // Wherever the files of jobs are.
        "/".clone_into(&mut volume.mount);
    }
    Ok(Some((Read { design, text, findings }, what)))
}

/// Returns the first table that should be one of a list, with its line.
fn single_part(text: &str) -> Option<(usize, &'static str)> {
    let parts = ["volume", "pool", "client", "promise"];
    text.lines().enumerate().find_map(|(idx, line)| {
        let line = line.split('#').next().unwrap_or("").trim();
        let part = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'))?.trim();
        parts.into_iter().find(|known| *known == part).map(|part| (idx + 1, part))
    })
}

/// Returns what a text is that looks like a job and not like a design.
fn foreign(text: &str) -> Option<&'static str> {
    // A design with mistakes in its tables, or without volumes, is a design still.
    let is_part = |line: &str| line.starts_with("[[") || line == "[vm]";
    if text.lines().any(|line| is_part(line.trim())) {
        return None;
    }
    likeliest(text).map(Dialect::file)
}

/// Returns whether a text looks like a design: by the tables that only a design has. `[volume]` may
/// be a job of fio's, too, but TOML that fio would not understand is none.
pub(super) fn is_design(text: &str) -> bool {
    let heads = ["[[volume]]", "[[pool]]", "[[client]]"];
    let has_head =
        text.lines().any(|line| heads.iter().any(|head| line.trim_start().starts_with(head)));
    let is_odd = || {
        let likeness = DIALECTS.iter().map(|it| it.likeness(text)).max();
        single_part(text).is_some()
            && likeness < Some(Likeness::Share(100))
            && DeTable::parse(text).is_ok()
    };
    let is_declared = DIALECTS.iter().any(|it| it.likeness(text) == Likeness::Declared);
    !is_declared && (has_head || is_odd())
}

/// Code of the mistake that a design in the place of a job file is.
pub(super) const DESIGN_NOT_JOB: &str = "design-not-job";

/// Returns the mistake that a design in the place of a job file is; `None` of anything else. Read
/// as a job file it would give one mistake per line.
pub(super) fn design_in_place_of_a_job(name: &str, text: &str) -> Option<Diagnostic> {
    if !is_design(text) {
        return None;
    }
    let text_of = format!("`{name}` is a design, not a job");
    let mistake = Diagnostic::error(DESIGN_NOT_JOB, text_of);
    let mistake = match single_part(text) {
        Some((line, part)) => mistake.help(format!("line {line}: write `[[{part}]]`")),
        None => mistake,
    };
    let mistake =
        mistake.help(format!("`plimsoll limits {name}` checks it and says what it can do"));
    Some(mistake.help(format!("`plimsoll run JOB --on {name}` runs a job on it")))
}
