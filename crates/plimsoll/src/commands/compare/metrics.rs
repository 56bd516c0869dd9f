//! Which figures are compared.

use std::str::FromStr;

use analysis::metric::Compared;
use analysis::sets::Row;
use record::Figure;

/// A figure by the user's word for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MetricChoice {
    dir: String,
    figure: Compared,
}

impl FromStr for MetricChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<MetricChoice, String> {
        let lower = text.to_ascii_lowercase();
        let (dir, word) = lower.split_once(':').unwrap_or(("", &lower));
        if !matches!(dir, "" | "read" | "write" | "trim") {
            return Err(format!("`{dir}` is not a direction: write read, write or trim"));
        }
        let of_run = || Figure::of_word(word).map(Compared::OfRun);
        let is_it =
            |it: &Compared| it.title() == word || it.name() == word || Some(*it) == of_run();
        let figure = Compared::all().find(is_it).ok_or_else(|| {
            let words: Vec<String> = Compared::all().map(|it| it.title().to_lowercase()).collect();
            format!("`{word}` is not a figure; there are {}", words.join(", "))
        })?;
        Ok(MetricChoice { dir: dir.to_owned(), figure })
    }
}

impl MetricChoice {
    /// Returns whether a row is meant. Of one run on each side, the percentile of a second comes
    /// with that of the run.
    pub(super) fn is(&self, row: &Row) -> bool {
        let is_figure =
            row.figure == self.figure || self.figure == Compared::OfRun(row.figure.figure());
        is_figure && (self.dir.is_empty() || self.dir == row.dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        assert_eq!(
            word.parse::<MetricChoice>().map(|it| it.figure.name()),
            Ok(expected.to_owned())
        );
    }

    #[test]
    fn figures_are_known_by_the_words_of_their_columns_and_a_few_more() {
        for (word, expected) in [
            ("IOPS", "iops"),
            ("mib/s", "bytes_per_s"),
            ("bw", "bytes_per_s"),
            ("bandwidth", "bytes_per_s"),
            ("bytes_per_s", "bytes_per_s"),
            ("mean", "mean_ns"),
            ("read:median", "p50_ns"),
            ("p95", "p95_ns"),
            ("write:p99.9", "p99_9_ns"),
            ("p99_ns", "p99_ns"),
            ("p50/second", "second_p50_ns"),
            ("second_p99_ns", "second_p99_ns"),
        ] {
            check(word, expected);
        }
        let unknown = "max".parse::<MetricChoice>().unwrap_err();
        let expected = "`max` is not a figure; there are iops, mib/s, mean, p50, p95, p99, p99.9, \
                        p50/second, p99/second";
        assert_eq!(unknown, expected);
    }
}
