//! The samples beside a file of needs: a table that a capture writes, a line for each sample.

use std::collections::BTreeMap;

use plan::Diagnostic;

use crate::VolumeRequirement;

/// The first line of a series.
pub const SERIES_HEAD: &str = "volume,end,span_s,ios,reads,writes,read_bytes,write_bytes,in_flight";

/// Largest figure of a sample: rates made of it are numbers.
const FIGURE_MAX: f64 = 1e18;

/// Shortest sample, seconds.
const SPAN_S_MIN: f64 = 1e-6;

/// A sample of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesSample {
    /// How long it lasts, seconds; above 0.
    pub span_s: f64,
    /// I/Os in it, where they were counted.
    pub n_ios: Option<f64>,
    /// Reads among them, where they were counted apart.
    pub n_reads: Option<f64>,
    /// Bytes of reads and writes.
    pub bytes: f64,
}

impl SeriesSample {
    /// Returns I/Os per second, with the growth of the load.
    pub fn rate(&self, growth: f64) -> f64 {
        self.n_ios.unwrap_or(0.0) / self.span_s * growth
    }
}

/// What an I/O of a volume is, over all of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesLoad {
    /// Bytes per I/O, in the mean.
    pub size_bytes: f64,
    /// Reads among I/Os, 0 to 1.
    pub read_share: f64,
    /// I/Os at random places, 0 to 1; 1 where it is not stated.
    pub random_share: f64,
}

/// Returns where the series of a file of needs is, as the file names it.
pub fn series_path(needs_path: &str, file: &str) -> String {
    match needs_path.rsplit_once('/') {
        Some((folder, _)) if !file.starts_with('/') => format!("{folder}/{file}"),
        _ => file.to_owned(),
    }
}

/// Reads the samples of each volume, in the order of time.
///
/// # Errors
/// The first line that is none.
pub fn read_series(
    text: &str,
    path: &str,
) -> Result<BTreeMap<String, Vec<SeriesSample>>, Diagnostic> {
    let bad = |line: usize, why: &str| {
        Diagnostic::error("bad-series", format!("`{path}`, line {line}: {why}"))
    };
    let mut lines = text.lines().enumerate();
    if lines.next().is_none_or(|(_, head)| head != SERIES_HEAD) {
        let help = format!("a series begins with `{SERIES_HEAD}`");
        return Err(bad(1, "it is not a series of samples").help(help));
    }
    let mut volumes: BTreeMap<String, Vec<SeriesSample>> = BTreeMap::new();
    for (idx, line) in lines {
        let (volume, rest) = first_field(line).ok_or_else(|| bad(idx + 1, "a quote is open"))?;
        let fields: Vec<&str> = rest.split(',').collect();
        if fields.len() != SERIES_HEAD.split(',').count() - 1 {
            return Err(bad(idx + 1, "it has not as many columns as the first line"));
        }
        let number = |at: usize| match fields[at] {
            "" => Ok(None),
            text => text
                .parse::<f64>()
                .ok()
                .filter(|number| (0.0..=FIGURE_MAX).contains(number))
                .map(Some)
                .ok_or_else(|| bad(idx + 1, &format!("`{text}` is not a number"))),
        };
        let span_s = number(1)?.filter(|span_s| *span_s >= SPAN_S_MIN);
        let span_s = span_s.ok_or_else(|| bad(idx + 1, "a sample lasts a microsecond or more"))?;
        let bytes = number(5)?.unwrap_or(0.0) + number(6)?.unwrap_or(0.0);
        let row = SeriesSample { span_s, n_ios: number(2)?, n_reads: number(3)?, bytes };
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

/// Returns what an I/O of a volume is; none where it did no I/O.
///
/// # Errors
/// What was not counted and cannot be done without.
pub fn series_load(
    samples: &[SeriesSample],
    path: &str,
    volume: &VolumeRequirement,
) -> Result<Option<SeriesLoad>, Diagnostic> {
    let name = &volume.name;
    let sum =
        |of: &dyn Fn(&SeriesSample) -> Option<f64>| -> f64 { samples.iter().filter_map(of).sum() };
    let n_ios = sum(&|it| it.n_ios);
    let bytes = sum(&|it| Some(it.bytes));
    if samples.iter().all(|it| it.n_ios.is_none()) && bytes > 0.0 {
        let text = format!("`{path}`: I/Os of {name} were not counted, so that no rate is known");
        return Err(Diagnostic::error("not-known", text));
    }
    if n_ios <= 0.0 {
        return Ok(None);
    }
    let counted = |it: &SeriesSample| it.n_reads.and(it.n_ios);
    let read_share = sum(&|it| it.n_reads) / sum(&|it| counted(it));
    if !read_share.is_finite() {
        let text = format!("`{path}`: reads and writes of {name} were not counted apart");
        return Err(Diagnostic::error("not-known", text));
    }
    let random = volume.loads.iter().find_map(|load| load.random_share.as_ref());
    Ok(Some(SeriesLoad {
        size_bytes: bytes / n_ios,
        read_share: read_share.min(1.0),
        random_share: random.map_or(1.0, |share| share.value),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_by_volume_and_a_bad_line_is_named() {
        let rows = "\"a,\"\"b\"\"\",10:00:01,2,10,6,4,100,50,1.5\nlog,10:00:01,1,,,,,20,\n";
        let read = read_series(&format!("{SERIES_HEAD}\n{rows}"), "s.csv").expect("a series");
        let sample =
            SeriesSample { span_s: 2.0, n_ios: Some(10.0), n_reads: Some(6.0), bytes: 150.0 };
        assert_eq!((&read["a,\"b\""], sample.rate(3.0)), (&vec![sample.clone()], 15.0));
        assert_eq!((read["log"][0].n_ios, read["log"][0].bytes), (None, 20.0));
        for (row, why) in [
            ("a,1,1,1,1,0,0,0", "line 2: it has not as many columns as the first line"),
            ("a,1,0,1,1,0,0,0,0", "line 2: a sample lasts a microsecond or more"),
            ("a,1,1,x,1,0,0,0,0", "line 2: `x` is not a number"),
            ("\"a,1,1,1,1,0,0,0,0", "line 2: a quote is open"),
        ] {
            let found = read_series(&format!("{SERIES_HEAD}\n{row}\n"), "s.csv");
            let message = found.expect_err(row).message;
            assert_eq!(message, format!("`s.csv`, {why}"));
        }
    }
}
