//! The figures of tables: what each is called, where it is read from, how it is shown and stored.
//!
//! Every table of jobs, loads and rows, every list and every export takes its columns from here,
//! and whatever keeps figures keeps [`Figures`]. A further column is a [`Figure`] with its row of
//! [`Figure::about`], and its place in the lists of the tables that have it.

use units::{format_iops, format_latency_ns, format_mib_s};

use crate::Latency;

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

/// What the values of a figure count, on which their widths and axes depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUnit {
    /// Operations per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds: a latency.
    Nanoseconds,
}

/// What a figure is read from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// Operations over time.
    Operations,
    /// Bytes over time.
    Bytes,
    /// A percentile of a latency, in percent.
    Percentile(f64),
    /// The mean of a latency.
    Mean,
    /// Its smallest value.
    Min,
    /// Its largest value.
    Max,
}

/// What a figure is called, and what it is.
struct About {
    head: &'static str,
    name: &'static str,
    metric: &'static str,
    origin: Origin,
    doc: &'static str,
}

impl Figure {
    /// All of them, in the order of columns.
    pub const ALL: &[Figure] = &units::all_of!(
        Figure: Iops, BytesPerS, Mean, Min, P50, P90, P95, P99, P99_9, P99_99, Max
    );

    /// Of a direction of a job.
    pub const OF_JOB: &[Figure] = &[Iops, BytesPerS, Mean, P50, P99, P99_9, Max];

    /// Of a point of a load curve.
    pub const OF_POINT: &[Figure] = &[Iops, BytesPerS, Mean, P50, P99, Max];

    /// Of a row of a suite.
    pub const OF_ROW: &[Figure] = &[Iops, BytesPerS, P50, P99];

    /// Of a step in an overview of many.
    pub const OF_STEP: &[Figure] = &[Iops, BytesPerS, Mean, P99];

    /// Of a run in a list.
    pub const OF_RUN: &[Figure] = &[Iops, BytesPerS, P99];

    /// At the top of the page of a run of one step.
    pub const OF_ANSWER: &[Figure] = &[Iops, BytesPerS, P50, P99, Max];

    /// At the top of the view of a run that goes on.
    pub const OF_LIVE: &[Figure] = &[Iops, BytesPerS, P50, P99, P99_9, Max];

    /// Of the last second of such a run, and of its jobs when it is over.
    pub const OF_LIVE_SECOND: &[Figure] = &[Iops, BytesPerS, P50, P99, Max];

    /// Of a step that goes on.
    pub const OF_LIVE_STEP: &[Figure] = &[Iops, P50, P99, Max];

    /// Of units and their components, beside the rates that are asked of them.
    pub const OF_UNITS: &[Figure] = &[BytesPerS, Mean, P99];

    /// Of a point where several curves are compared.
    pub const OF_CURVES: &[Figure] = &[Iops, P99];

    /// Latencies of a sampling period: more would make long records large.
    pub const OF_INTERVAL: &[Figure] = &[P50, P99, Max];

    /// Of what a comparison compares.
    pub const OF_COMPARISON: &[Figure] = &[Iops, BytesPerS, Mean, P50, P95, P99, P99_9];

    /// Of the seconds of a run, whose means are compared where it is the only one; each is of
    /// [`Figure::OF_INTERVAL`].
    pub const OF_SECOND: &[Figure] = &[P50, P99];

    /// Returns what it is called, and what it is.
    fn about(self) -> About {
        use Origin::{Bytes, Operations, Percentile};
        let about = |head, name, metric, origin, doc| About { head, name, metric, origin, doc };
        match self {
            Iops => about("IOPS", "iops", "iops", Operations, "Operations per second."),
            BytesPerS => about("MiB/s", "mib_per_s", "bytes_per_s", Bytes, "Bytes per second."),
            Mean => {
                about("mean", "latency_ns_mean", "mean_ns", Origin::Mean, "Mean of the latency.")
            }
            Min => about("min", "latency_ns_min", "min_ns", Origin::Min, "Smallest latency."),
            P50 => {
                let doc = "Median of the latency.";
                about("p50", "latency_ns_p50", "p50_ns", Percentile(50.0), doc)
            }
            P90 => {
                let doc = "90th percentile of the latency.";
                about("p90", "latency_ns_p90", "p90_ns", Percentile(90.0), doc)
            }
            P95 => {
                let doc = "95th percentile of the latency.";
                about("p95", "latency_ns_p95", "p95_ns", Percentile(95.0), doc)
            }
            P99 => {
                let doc = "99th percentile of the latency.";
                about("p99", "latency_ns_p99", "p99_ns", Percentile(99.0), doc)
            }
            P99_9 => {
                let doc = "99.9th percentile of the latency.";
                about("p99.9", "latency_ns_p99_9", "p99_9_ns", Percentile(99.9), doc)
            }
            P99_99 => {
                let doc = "99.99th percentile of the latency.";
                about("p99.99", "latency_ns_p99_99", "p99_99_ns", Percentile(99.99), doc)
            }
            Max => about("max", "latency_ns_max", "max_ns", Origin::Max, "Largest latency."),
        }
    }

    /// Returns the head of its column.
    pub fn head(self) -> &'static str {
        self.about().head
    }

    /// Returns what a sentence calls it, beside its unit or the kind of its latency.
    pub fn called(self) -> &'static str {
        match self {
            Iops => "rate",
            BytesPerS => "throughput",
            P50 => "median",
            Mean | Min | P90 | P95 | P99 | P99_9 | P99_99 | Max => self.head(),
        }
    }

    /// Returns its name for programs, with the unit.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// Returns its name in comparisons: `iops`, `bytes_per_s`, `mean_ns`, `p99_9_ns` and so on.
    pub fn metric(self) -> &'static str {
        self.about().metric
    }

    /// Returns its name in exports and lists, with the unit in which values are counted.
    pub fn field(self) -> &'static str {
        match self.unit() {
            FigureUnit::PerSecond => "rate_iops",
            FigureUnit::BytesPerSecond => "rate_bytes_per_s",
            FigureUnit::Nanoseconds => self.name(),
        }
    }

    /// Returns what it is, a sentence.
    pub fn doc(self) -> &'static str {
        self.about().doc
    }

    /// Returns the figure that a user means by a word, in small letters: the head of its column,
    /// one of its names, or another word for it.
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "bandwidth" | "bw" => Some(BytesPerS),
            "median" => Some(P50),
            word => Self::ALL.iter().copied().find(|it| {
                it.head().eq_ignore_ascii_case(word) || it.metric() == word || it.name() == word
            }),
        }
    }

    /// Returns the percentile that it is, in percent; none of the others.
    pub fn percentile(self) -> Option<f64> {
        match self.about().origin {
            Origin::Percentile(percentile) => Some(percentile),
            Origin::Operations | Origin::Bytes | Origin::Mean | Origin::Min | Origin::Max => None,
        }
    }

    /// Returns what its values count.
    pub fn unit(self) -> FigureUnit {
        match self.about().origin {
            Origin::Operations => FigureUnit::PerSecond,
            Origin::Bytes => FigureUnit::BytesPerSecond,
            Origin::Percentile(_) | Origin::Mean | Origin::Min | Origin::Max => {
                FigureUnit::Nanoseconds
            }
        }
    }

    /// Returns whether it is a rate; the others are latencies.
    pub fn is_rate(self) -> bool {
        self.unit() != FigureUnit::Nanoseconds
    }

    /// Returns the latencies, in the order of columns.
    pub fn latencies() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|it| !it.is_rate())
    }

    /// Says whether its values are whole: nanoseconds as they were recorded.
    pub fn is_whole(self) -> bool {
        match self.about().origin {
            Origin::Percentile(_) | Origin::Min | Origin::Max => true,
            Origin::Operations | Origin::Bytes | Origin::Mean => false,
        }
    }

    /// Prints a value as its column has it.
    pub fn shown(self, value: f64) -> String {
        match self.unit() {
            FigureUnit::PerSecond => format_iops(value),
            FigureUnit::BytesPerSecond => format_mib_s(value),
            FigureUnit::Nanoseconds => format_latency_ns(value.round() as u64),
        }
    }

    /// Returns a value in the unit of its name: MiB/s of bytes per second, whole nanoseconds.
    pub fn in_unit(self, value: f64) -> f64 {
        match self.unit() {
            FigureUnit::PerSecond => value,
            FigureUnit::BytesPerSecond => value / f64::from(1 << 20),
            FigureUnit::Nanoseconds => value.round(),
        }
    }

    /// Reads it off a latency; none where it is not known, and of rates.
    pub fn of(self, latency: &Latency<'_>) -> Option<f64> {
        let whole = |ns: Option<u64>| ns.map(|ns| ns as f64);
        match self.about().origin {
            Origin::Operations | Origin::Bytes => None,
            Origin::Mean => latency.mean_ns(),
            Origin::Min => whole(latency.min_ns()),
            Origin::Max => whole(latency.max_ns()),
            Origin::Percentile(percentile) => whole(latency.percentile_ns(percentile)),
        }
    }
}

/// The figures of a row of a table; none of what is not known, or has no meaning there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures<T = f64>([Option<T>; Figure::ALL.len()]);

impl<T> Default for Figures<T> {
    fn default() -> Self {
        Figures([const { None }; Figure::ALL.len()])
    }
}

impl<T: Copy> Figures<T> {
    /// Asks for each.
    pub fn each(mut of: impl FnMut(Figure) -> Option<T>) -> Self {
        let mut figures = Figures::default();
        for (value, figure) in figures.0.iter_mut().zip(Figure::ALL) {
            *value = of(*figure);
        }
        figures
    }

    /// Sets one.
    #[must_use]
    pub fn with(mut self, figure: Figure, value: impl Into<Option<T>>) -> Self {
        self.0[figure as usize] = value.into();
        self
    }

    /// Returns one.
    pub fn get(&self, figure: Figure) -> Option<T> {
        self.0[figure as usize]
    }

    /// Says whether none is known.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl Figures {
    /// Returns those of a latency.
    pub fn of(latency: &Latency<'_>) -> Self {
        Figures::each(|figure| figure.of(latency))
    }

    /// Returns the operations per second; 0 where they are not known.
    pub fn iops(&self) -> f64 {
        self.get(Iops).unwrap_or(0.0)
    }

    /// Returns a latency in whole nanoseconds.
    ///
    /// # Panics
    /// If it is a rate.
    pub fn ns(&self, figure: Figure) -> Option<u64> {
        assert!(!figure.is_rate(), "{figure:?} is no latency");
        self.get(figure).map(|ns| ns.round() as u64)
    }

    /// Returns one as it is shown.
    pub fn shown(&self, figure: Figure) -> Option<String> {
        self.get(figure).map(|value| figure.shown(value))
    }

    /// Returns its rates as they are shown, each with its unit: `5.12 k IOPS, 20.0 MiB/s`.
    pub fn rates_shown(&self) -> String {
        let rates = Figure::ALL.iter().filter(|figure| figure.is_rate());
        let shown = |figure: &Figure| Some(format!("{} {}", self.shown(*figure)?, figure.head()));
        rates.filter_map(shown).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_found_where_it_was_put() {
        for (idx, figure) in Figure::ALL.iter().copied().enumerate() {
            assert_eq!(figure as usize, idx, "{figure:?}");
            let figures = Figures::default().with(figure, 1500.0);
            let known: Vec<Figure> =
                Figure::ALL.iter().copied().filter(|it| figures.get(*it).is_some()).collect();
            assert_eq!(known, [figure]);
            assert_eq!(figures.shown(figure), Some(figure.shown(1500.0)));
        }
    }

    #[test]
    fn a_latency_has_all_figures_but_rates() {
        let mut hist = hist::Histogram::new();
        (1..=1000).for_each(|ns| hist.record(ns));
        let figures = Figures::of(&Latency::Measured(&hist));
        for figure in Figure::ALL.iter().copied() {
            assert_eq!(figures.get(figure).is_some(), !figure.is_rate(), "{figure:?}");
        }
        assert_eq!(figures.get(Min), Some(1.0));
        assert_eq!(figures.get(Max), Some(1000.0));
        assert!(figures.get(P50) < figures.get(P90) && figures.get(P99) < figures.get(P99_99));
    }

    #[test]
    fn a_figure_is_known_by_each_of_its_names_and_no_other() {
        for figure in Figure::ALL.iter().copied() {
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
        let lists = [
            Figure::OF_COMPARISON,
            Figure::OF_CURVES,
            Figure::OF_INTERVAL,
            Figure::OF_SECOND,
            Figure::OF_JOB,
            Figure::OF_POINT,
            Figure::OF_ROW,
            Figure::OF_STEP,
            Figure::OF_RUN,
            Figure::OF_ANSWER,
            Figure::OF_LIVE,
            Figure::OF_LIVE_SECOND,
            Figure::OF_LIVE_STEP,
        ];
        for list in lists {
            assert!(list.is_sorted_by_key(place), "{list:?}");
        }
        assert!(Figure::OF_SECOND.iter().all(|it| Figure::OF_INTERVAL.contains(it)));
    }
}
