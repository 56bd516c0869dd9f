//! The samples beside a file of needs, as jobs whose rates change period after period.

use std::collections::BTreeMap;

use ::needs::{Requirements, VolumeRequirement};
use plan::Diagnostic;

use super::job::{make_section, mix, region, sizes, sizes_option};
use crate::fio::input::Section;

/// The first line of a series.
const HEAD: &str = "volume,end,span_s,ios,reads,writes,read_bytes,write_bytes,in_flight";

/// Most periods of a job, an hour of seconds: what `rate_periods` takes.
const PERIODS_MAX: usize = 3600;

/// I/Os in flight at most: the rates are the limit.
const DEPTH: u32 = 1024;

/// A sample of a volume.
struct Row {
    span_s: f64,
    n_ios: Option<f64>,
    n_reads: Option<f64>,
    bytes: f64,
}

/// Makes a job of each volume that did any I/O.
///
/// # Errors
/// What of the series cannot be read or run.
pub(super) fn sections(
    text: &str,
    path: &str,
    required: &Requirements,
) -> Result<Vec<Section>, Diagnostic> {
    let rows = read(text, path)?;
    let mut sections = Vec::new();
    for volume in &required.volumes {
        let Some(rows) = rows.get(&volume.name) else { continue };
        sections.extend(section(rows, path, volume)?);
    }
    if sections.is_empty() {
        let text = format!("`{path}` has no I/O of a volume of the needs");
        return Err(Diagnostic::error("no-load", text));
    }
    Ok(sections)
}

/// Reads the rows of each volume.
fn read(text: &str, path: &str) -> Result<BTreeMap<String, Vec<Row>>, Diagnostic> {
    let bad = |line: usize, why: &str| {
        Diagnostic::error("bad-series", format!("`{path}`, line {line}: {why}"))
    };
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, head)| head != HEAD) {
        let help = format!("a series begins with `{HEAD}`");
        return Err(bad(1, "it is no series of samples").help(help));
    }
    let mut volumes: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for (idx, line) in lines {
        let (volume, rest) = first_field(line).ok_or_else(|| bad(idx + 1, "a quote is open"))?;
        let fields: Vec<&str> = rest.split(',').collect();
        if fields.len() != HEAD.split(',').count() - 1 {
            return Err(bad(idx + 1, "it has not as many columns as the first line"));
        }
        let number = |at: usize| match fields[at] {
            "" => Ok(None),
            text => text
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite() && *number >= 0.0)
                .map(Some)
                .ok_or_else(|| bad(idx + 1, &format!("`{text}` is no figure"))),
        };
        let span_s = number(1)?.filter(|span_s| *span_s > 0.0);
        let span_s = span_s.ok_or_else(|| bad(idx + 1, "a sample lasts longer than 0 s"))?;
        let bytes = number(5)?.unwrap_or(0.0) + number(6)?.unwrap_or(0.0);
        let row = Row { span_s, n_ios: number(2)?, n_reads: number(3)?, bytes };
        volumes.entry(volume).or_default().push(row);
    }
    Ok(volumes)
}

/// Splits the first field off, which may stand in quotes.
fn first_field(line: &str) -> Option<(String, &str)> {
    let Some(quoted) = line.strip_prefix('"') else {
        return Some(
            line.split_once(',')
                .map_or((line.to_owned(), ""), |(name, rest)| (name.to_owned(), rest)),
        );
    };
    let end = quoted.find("\",")?;
    Some((quoted[..end].replace("\"\"", "\""), &quoted[end + 2..]))
}

/// Makes the job of a volume; none where it did no I/O.
fn section(
    rows: &[Row],
    path: &str,
    volume: &VolumeRequirement,
) -> Result<Option<Section>, Diagnostic> {
    let name = &volume.name;
    let sum = |of: &dyn Fn(&Row) -> Option<f64>| -> f64 { rows.iter().filter_map(of).sum() };
    let n_ios = sum(&|row| row.n_ios);
    let bytes = sum(&|row| Some(row.bytes));
    if rows.iter().all(|row| row.n_ios.is_none()) && bytes > 0.0 {
        let text = format!("`{path}`: I/Os of {name} were not counted, so that no rate is known");
        return Err(Diagnostic::error("not-known", text));
    }
    if n_ios <= 0.0 {
        return Ok(None);
    }
    if rows.len() > PERIODS_MAX {
        let text = format!(
            "`{path}` has {} samples of {name}: a job takes {PERIODS_MAX} periods",
            rows.len()
        );
        let help = "capture an hour of seconds, or with a larger `--every`; or run the phases";
        return Err(Diagnostic::error("series-too-long", text).help(help));
    }
    let counted = |row: &Row| row.n_reads.and(row.n_ios);
    let read_share = sum(&|row| row.n_reads) / sum(&|row| counted(row));
    if !read_share.is_finite() {
        let text = format!("`{path}`: reads and writes of {name} were not counted apart");
        return Err(Diagnostic::error("not-known", text));
    }
    let random = volume.loads.iter().find_map(|load| load.random_share.as_ref());
    let periods = rows.iter().map(|row| {
        let rate = row.n_ios.unwrap_or(0.0) / row.span_s * volume.load_growth;
        format!("{}:{}", ::needs::number(rate), ::needs::number(row.span_s))
    });
    let (mut options, _) = region(volume);
    options.extend(mix(read_share.min(1.0), random.map_or(1.0, |share| share.value)));
    options.push(sizes_option(&sizes(None, bytes / n_ios)));
    options.push(("queue_depth", DEPTH.to_string()));
    options.push(("rate_periods", periods.collect::<Vec<_>>().join(",")));
    let length_s: f64 = rows.iter().map(|row| row.span_s).sum();
    options.push(("runtime", format!("{}us", (length_s * 1e6).round() as u64)));
    Ok(Some(make_section(format!("series {name}"), options)))
}
