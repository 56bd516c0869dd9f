//! From files to runs.

use std::collections::HashSet;

use plan::Diagnostic;

use super::announce::raw_text;
use super::expand::{all_sds, expand};
use super::expansion::bare_run;
use super::findings::Findings;
use super::lines::Reader;
use super::options::Options;
use super::parsed::{FileNames, Parsed};
use super::rd::RdEntry;
use super::run::{Run, Sd, SdFormat, Work};
use super::scan::Scan;
use super::sections::{self, Sections};
use super::values::MAX_RATE;
use super::words::sections_of;
use crate::Loader;
use crate::devices::is_device;
use crate::loader::Lun;

/// Transfer size for writing files that are missing or short.
const FORMAT_XFERSIZE_BYTES: u32 = 128 * 1024;

/// Parses parameter files, which Vdbench takes as one.
pub fn parse_files<P: AsRef<str>>(paths: &[P], options: &Options, loader: &dyn Loader) -> Parsed {
    parse(options, loader, |reader, findings| {
        for path in paths {
            reader.read(path.as_ref(), findings);
        }
    })
}

/// Parses a parameter file that is already in memory; `name` stands for its path.
pub fn parse_text(name: &str, text: &str, options: &Options, loader: &dyn Loader) -> Parsed {
    parse(options, loader, |reader, findings| reader.read_text(name, text.to_owned(), 0, findings))
}

fn parse(
    options: &Options,
    loader: &dyn Loader,
    gather: impl FnOnce(&mut Reader<'_>, &mut Findings),
) -> Parsed {
    let mut findings = Findings::default();
    let mut reader = Reader::new(options, loader);
    gather(&mut reader, &mut findings);
    reader.finish(&mut findings);
    let (copied, lines) = (reader.copied, reader.lines);
    // Without a file that could be read there is nothing more to say.
    let has_nothing = lines.is_empty() && findings.n_errors > 0;
    let mut scan = Scan::new(lines, options, loader, findings, sections_of);
    let mut sections = if has_nothing { Sections::default() } else { sections::read(&mut scan) };
    let (mut findings, plain, scanned) = scan.finish();
    let runs = expand(&mut sections, options, &mut findings);
    let sds = all_sds(&sections);
    let of_fsds = sections.fsds.iter().find_map(|fsd| fsd.journal.clone());
    let journal_folder = sds.iter().find_map(|sd| sd.journal.clone()).or(of_fsds);
    let file_names = FileNames {
        fsds: sections.fsds.iter().map(|fsd| fsd.head.name.clone()).collect(),
        fwds: sections.fwds.all.iter().map(|fwd| fwd.head.name.clone()).collect(),
    };
    // Sections look ahead: a reader wants the order of the file.
    let place = |finding: &Diagnostic| {
        finding.span.as_ref().map_or((None, 0), |span| (span.source_idx, span.bytes.start))
    };
    findings.diagnostics.sort_by_key(place);
    findings.report_others();
    Parsed {
        sources: findings.sources,
        runs,
        sds,
        file_names,
        journal_folder,
        settings: sections.known.general.settings,
        hosts: sections.known.hosts.into_iter().map(|entry| entry.host).collect(),
        scanned,
        copied,
        plain,
        diagnostics: findings.diagnostics,
        refusals: findings.refusals,
    }
}

/// Returns the run that writes storage definitions which are files and missing or short; `None`
/// where nothing is to be written. It comes before all other runs. A simulation does not list it.
///
/// `look` says what is at the path of a storage definition.
pub fn sd_format(parsed: &Parsed, lun_of: &dyn Fn(&Sd) -> Lun) -> Option<Run> {
    let settings = &parsed.settings;
    if settings.format_sds == Some(false) || settings.concatenate_sds {
        return None;
    }
    let is_forced = settings.format_sds == Some(true);
    let mut sds: Vec<Sd> = Vec::new();
    let mut seen = HashSet::new();
    let raw = parsed.runs.iter().filter_map(|run| match &run.work {
        Work::Raw(work) => Some(&work.sds),
        Work::Files(_) | Work::SdFormat(_) | Work::Format(_) => None,
    });
    for sd in raw.flatten() {
        // Hosts that are all this one share their files.
        let is_local = |host: &&super::parsed::Host| host.label == sd.host && host.is_local;
        let of_host = if parsed.hosts.iter().any(|host| is_local(&host)) { "" } else { &sd.host };
        let is_known = !seen.insert((&sd.lun, of_host));
        // And the disks and shares of Windows, which Vdbench does not make either.
        let is_device = is_device(&sd.lun) || sd.lun.starts_with("\\\\");
        if is_known || (is_device && !is_forced) {
            continue;
        }
        let is_short = match (lun_of(sd), sd.size_bytes) {
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
        simulated: announced.clone(),
        announced,
        loops,
        contents: first.contents.clone(),
        ..bare_run(&rd, settings, Work::SdFormat(SdFormat { sds, xfersize_bytes }))
    })
}
