//! The samples beside a file of needs, as jobs whose rates change period after period.

use ::needs::{IoSizes, Requirements, SeriesSample, VolumeRequirement, read_series, series_load};
use plan::Diagnostic;

use super::job::{make_section, region, sizes_options, walk};
use crate::sections::Section;

/// Most periods of a job, an hour of seconds: what `rate_periods` takes.
const PERIODS_MAX: usize = 3600;

/// I/Os in flight at most: the rates are the limit.
const DEPTH: u32 = 1024;

/// Makes a job of each volume that did any I/O.
///
/// # Errors
/// What of the series cannot be read or run.
pub(super) fn sections(
    text: &str,
    path: &str,
    required: &Requirements,
) -> Result<Vec<Section>, Diagnostic> {
    let rows = read_series(text, path)?;
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

/// Makes the job of a volume; none where it did no I/O.
fn section(
    samples: &[SeriesSample],
    path: &str,
    volume: &VolumeRequirement,
) -> Result<Option<Section>, Diagnostic> {
    let name = &volume.name;
    let Some(load) = series_load(samples, path, volume)? else { return Ok(None) };
    if samples.len() > PERIODS_MAX {
        let text = format!(
            "`{path}` has {} samples of {name}: a job takes {PERIODS_MAX} periods",
            samples.len()
        );
        let help = "capture an hour of seconds, or with a larger `--every`; or run the phases";
        return Err(Diagnostic::error("series-too-long", text).help(help));
    }
    let periods = samples.iter().map(|it| {
        let rate = it.rate(volume.load_growth);
        format!("{}:{}", ::needs::number(rate), ::needs::number(it.span_s))
    });
    let (mut options, _) = region(volume);
    let length_s: f64 = samples.iter().map(|it| it.span_s).sum();
    let n_ios: f64 = samples.iter().map(|it| it.rate(volume.load_growth) * it.span_s).sum();
    let sizes = IoSizes::new(None, load.size_bytes);
    let shares = (load.read_share, load.random_share);
    options.extend(walk(volume, shares, (n_ios / length_s, &sizes)));
    options.extend(sizes_options(&sizes));
    options.push(("queue_depth", DEPTH.to_string()));
    options.push(("rate_periods", periods.collect::<Vec<_>>().join(",")));
    options.push(("runtime", format!("{}us", (length_s * 1e6).round() as u64)));
    Ok(Some(make_section(format!("series {name}"), options)))
}
