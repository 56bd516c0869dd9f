//! Which figures are compared.

use std::str::FromStr;

use analysis::sets::Row;

/// A figure by the user's word for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    dir: String,
    figure: &'static str,
}

/// Words for figures; the first of each is the one that help names.
const WORDS: [(&str, &str); 13] = [
    ("iops", "iops"),
    ("mib/s", "bytes_per_s"),
    ("bandwidth", "bytes_per_s"),
    ("bw", "bytes_per_s"),
    ("bytes_per_s", "bytes_per_s"),
    ("mean", "mean_ns"),
    ("p50", "p50_ns"),
    ("median", "p50_ns"),
    ("p95", "p95_ns"),
    ("p99", "p99_ns"),
    ("p99.9", "p99_9_ns"),
    ("p50/second", "second_p50_ns"),
    ("p99/second", "second_p99_ns"),
];

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Wanted, String> {
        let lower = text.to_ascii_lowercase();
        let (dir, word) = lower.split_once(':').unwrap_or(("", &lower));
        if !matches!(dir, "" | "read" | "write" | "trim") {
            return Err(format!("`{dir}` is no direction: read, write or trim"));
        }
        let known = WORDS.iter().find(|(known, figure)| *known == word || *figure == word);
        let Some((_, figure)) = known else {
            let words = "iops, mib/s, mean, p50, p95, p99, p99.9, p50/second, p99/second";
            return Err(format!("`{word}` is no figure; there are {words}"));
        };
        Ok(Wanted { dir: dir.to_owned(), figure })
    }
}

impl Wanted {
    /// Says whether a row is meant. Of one run on each side, the percentile of a second comes with
    /// that of the run.
    pub(super) fn is(&self, row: &Row) -> bool {
        let is_figure = row.figure == self.figure
            || row.figure.strip_prefix("second_").is_some_and(|of| of == self.figure);
        is_figure && (self.dir.is_empty() || self.dir == row.dir)
    }
}
