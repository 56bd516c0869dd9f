//! The figures of tables: what each is called, where it is read from, how it is shown.
//!
//! Every table of jobs, loads and rows takes its columns from here: on the terminal, in Markdown,
//! on a page and in lists. A further column is a [`Figure`], what it is read from, and its place in
//! the lists of the tables that have it.

use units::{format_iops, format_latency_ns, format_mib_s};

use crate::{CurvePointRecord, DirRecord, JobRecord, Latency, SuiteRowRecord};

/// A figure that tables have as a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Operations per second.
    Iops,
    /// Bytes per second, shown in MiB/s.
    BytesPerS,
    /// Mean latency, nanoseconds.
    Mean,
    /// Smallest latency.
    Min,
    /// Median latency.
    P50,
    /// 90th percentile of the latency.
    P90,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P99_9,
    /// 99.99th percentile.
    P99_99,
    /// Largest latency.
    Max,
}

use Figure::{BytesPerS, Iops, Max, Mean, Min, P50, P90, P95, P99, P99_9, P99_99};

impl Figure {
    /// All of them, in the order of columns.
    pub const ALL: [Figure; 11] =
        [Iops, BytesPerS, Mean, Min, P50, P90, P95, P99, P99_9, P99_99, Max];

    /// Of a direction of a job.
    pub const OF_JOB: [Figure; 7] = [Iops, BytesPerS, Mean, P50, P99, P99_9, Max];

    /// Of a point of a load curve: its record lists no more.
    pub const OF_POINT: [Figure; 6] = [Iops, BytesPerS, Mean, P50, P99, Max];

    /// Of a row of a suite.
    pub const OF_ROW: [Figure; 4] = [Iops, BytesPerS, P50, P99];

    /// Of a step in an overview of many.
    pub const OF_STEP: [Figure; 4] = [Iops, BytesPerS, Mean, P99];

    /// Of a run in a list.
    pub const OF_RUN: [Figure; 3] = [Iops, BytesPerS, P99];

    /// Of what a comparison compares.
    pub const OF_COMPARISON: [Figure; 7] = [Iops, BytesPerS, Mean, P50, P95, P99, P99_9];

    /// Of the seconds of a run, whose means are compared where it is the only one.
    pub const OF_SECOND: [Figure; 2] = [P50, P99];

    /// Returns what it is called, and what it is.
    fn names(self) -> Names {
        let (head, name, metric, doc) = match self {
            Iops => ("IOPS", "iops", "iops", "Operations per second."),
            BytesPerS => ("MiB/s", "mib_per_s", "bytes_per_s", "Bytes per second."),
            Mean => ("mean", "latency_ns_mean", "mean_ns", "Mean of the latency."),
            Min => ("min", "latency_ns_min", "min_ns", "Smallest latency."),
            P50 => ("p50", "latency_ns_p50", "p50_ns", "Median of the latency."),
            P90 => ("p90", "latency_ns_p90", "p90_ns", "90th percentile of the latency."),
            P95 => ("p95", "latency_ns_p95", "p95_ns", "95th percentile of the latency."),
            P99 => ("p99", "latency_ns_p99", "p99_ns", "99th percentile of the latency."),
            P99_9 => ("p99.9", "latency_ns_p99_9", "p99_9_ns", "99.9th percentile of the latency."),
            P99_99 => {
                ("p99.99", "latency_ns_p99_99", "p99_99_ns", "99.99th percentile of the latency.")
            }
            Max => ("max", "latency_ns_max", "max_ns", "Largest latency."),
        };
        Names { head, name, metric, doc }
    }

    /// Returns the head of its column.
    pub fn head(self) -> &'static str {
        self.names().head
    }

    /// Returns its name for programs, with the unit.
    pub fn name(self) -> &'static str {
        self.names().name
    }

    /// Returns its name in comparisons: `iops`, `bytes_per_s`, `mean_ns`, `p99_9_ns` and so on.
    pub fn metric(self) -> &'static str {
        self.names().metric
    }

    /// Returns what it is, a sentence.
    pub fn doc(self) -> &'static str {
        self.names().doc
    }

    /// Returns the figure that a user means by a word, in small letters: the head of its column,
    /// one of its names, or another word for it.
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "bandwidth" | "bw" => Some(BytesPerS),
            "median" => Some(P50),
            word => Self::ALL.into_iter().find(|it| {
                it.head().eq_ignore_ascii_case(word) || it.metric() == word || it.name() == word
            }),
        }
    }

    /// Returns the percentile that it is, in percent; none of the others.
    pub fn percentile(self) -> Option<f64> {
        match self {
            P50 => Some(50.0),
            P90 => Some(90.0),
            P95 => Some(95.0),
            P99 => Some(99.0),
            P99_9 => Some(99.9),
            P99_99 => Some(99.99),
            Iops | BytesPerS | Mean | Min | Max => None,
        }
    }

    /// Returns whether it is a rate; the others are latencies.
    pub fn is_rate(self) -> bool {
        matches!(self, Iops | BytesPerS)
    }

    /// Prints a value as its column has it.
    pub fn shown(self, value: f64) -> String {
        match self {
            Iops => format_iops(value),
            BytesPerS => format_mib_s(value),
            Mean | Min | P50 | P90 | P95 | P99 | P99_9 | P99_99 | Max => {
                format_latency_ns(value.round() as u64)
            }
        }
    }

    /// Returns a value in the unit of its name: MiB/s of bytes per second, whole nanoseconds.
    pub fn in_unit(self, value: f64) -> f64 {
        match self {
            Iops => value,
            BytesPerS => value / f64::from(1 << 20),
            Mean | Min | P50 | P90 | P95 | P99 | P99_9 | P99_99 | Max => value.round(),
        }
    }

    /// Reads it off a latency; none where it is not known, and of rates.
    pub fn of(self, latency: &Latency<'_>) -> Option<f64> {
        match self {
            Iops | BytesPerS => None,
            Mean => latency.mean_ns(),
            Min => latency.min_ns().map(|ns| ns as f64),
            Max => latency.max_ns().map(|ns| ns as f64),
            P50 | P90 | P95 | P99 | P99_9 | P99_99 => {
                latency.percentile_ns(self.percentile()?).map(|ns| ns as f64)
            }
        }
    }
}

/// What a figure is called.
struct Names {
    head: &'static str,
    name: &'static str,
    metric: &'static str,
    doc: &'static str,
}

/// The figures of a row of a table; none of what is not known, or has no meaning there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures([Option<f64>; Figure::ALL.len()]);

impl Figures {
    /// Returns those of a latency.
    pub fn of(latency: &Latency<'_>) -> Self {
        Figures(Figure::ALL.map(|figure| figure.of(latency)))
    }

    /// Adds the rates of a direction.
    #[must_use]
    pub fn with_rates(self, dir: &DirRecord) -> Self {
        self.with(Iops, dir.rate_iops()).with(BytesPerS, dir.rate_bytes())
    }

    /// Sets one.
    #[must_use]
    pub fn with(mut self, figure: Figure, value: impl Into<Option<f64>>) -> Self {
        self.0[figure as usize] = value.into();
        self
    }

    /// Returns one.
    pub fn get(&self, figure: Figure) -> Option<f64> {
        self.0[figure as usize]
    }

    /// Returns one as it is shown.
    pub fn shown(&self, figure: Figure) -> Option<String> {
        self.get(figure).map(|value| figure.shown(value))
    }
}

impl From<&CurvePointRecord> for Figures {
    fn from(point: &CurvePointRecord) -> Self {
        Figures::default()
            .with(Iops, point.achieved_iops)
            .with(BytesPerS, point.bytes_per_s)
            .with(Mean, point.latency_mean_ns)
            .with(P50, point.latency_p50_ns as f64)
            .with(P99, point.latency_p99_ns as f64)
            .with(Max, point.latency_max_ns as f64)
    }
}

impl From<&SuiteRowRecord> for Figures {
    fn from(row: &SuiteRowRecord) -> Self {
        Figures::default()
            .with(Iops, row.iops.median)
            .with(BytesPerS, row.bytes_per_s.median)
            .with(P50, row.latency_p50_ns.median)
            .with(P99, row.latency_p99_ns.median)
    }
}

impl JobRecord {
    /// Returns the calls per second of fsync and its like, and their latencies; none where there
    /// were none.
    pub fn sync_figures(&self) -> Option<Figures> {
        let sync = self.sync_latency();
        let runtime_ns = self.dirs.iter().map(|(_, dir)| dir.runtime_ns).max().unwrap_or(0);
        let calls = DirRecord { n_ios: sync.count(), runtime_ns, ..DirRecord::default() };
        (!sync.is_empty()).then(|| Figures::of(&sync).with(Figure::Iops, calls.rate_iops()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_found_where_it_was_put() {
        for (idx, figure) in Figure::ALL.into_iter().enumerate() {
            assert_eq!(figure as usize, idx, "{figure:?}");
            let figures = Figures::default().with(figure, 1500.0);
            let known: Vec<Figure> =
                Figure::ALL.into_iter().filter(|it| figures.get(*it).is_some()).collect();
            assert_eq!(known, [figure]);
            assert_eq!(figures.shown(figure), Some(figure.shown(1500.0)));
        }
    }

    #[test]
    fn a_latency_has_all_figures_but_rates() {
        let mut hist = hist::Histogram::new();
        (1..=1000).for_each(|ns| hist.record(ns));
        let figures = Figures::of(&Latency::Measured(&hist));
        for figure in Figure::ALL {
            assert_eq!(figures.get(figure).is_some(), !figure.is_rate(), "{figure:?}");
        }
        assert_eq!(figures.get(Min), Some(1.0));
        assert_eq!(figures.get(Max), Some(1000.0));
        assert!(figures.get(P50) < figures.get(P90) && figures.get(P99) < figures.get(P99_99));
    }

    #[test]
    fn a_figure_is_known_by_each_of_its_names_and_no_other() {
        for figure in Figure::ALL {
            for word in
                [figure.head().to_ascii_lowercase().as_str(), figure.name(), figure.metric()]
            {
                assert_eq!(Figure::of_word(word), Some(figure), "{word}");
            }
        }
        assert_eq!(Figure::of_word("bw"), Some(BytesPerS));
        assert_eq!(Figure::of_word("p98"), None);
    }

    #[test]
    fn columns_stand_in_one_order() {
        let place = |figure: &Figure| Figure::ALL.iter().position(|it| it == figure);
        let lists: [&[Figure]; 7] = [
            &Figure::OF_COMPARISON,
            &Figure::OF_SECOND,
            &Figure::OF_JOB,
            &Figure::OF_POINT,
            &Figure::OF_ROW,
            &Figure::OF_STEP,
            &Figure::OF_RUN,
        ];
        for list in lists {
            assert!(list.is_sorted_by_key(place), "{list:?}");
        }
    }
}
