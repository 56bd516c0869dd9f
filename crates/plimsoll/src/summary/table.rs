//! The rows of rates and latencies.

use record::{Figure, FigureUnit, Figures, JobRecord, Latency};

/// Width of the first column with its indentation.
pub(super) const LABEL_WIDTH: usize = 11;

/// Figures of a table on the terminal, and how wide their columns are.
pub(crate) struct Columns {
    pub(crate) figures: &'static [Figure],
    pub(crate) iops: usize,
    pub(crate) mib_s: usize,
    pub(crate) latency: usize,
}

/// Those of a job.
const OF_JOB: Columns = Columns { figures: Figure::OF_JOB, iops: 8, mib_s: 9, latency: 10 };

impl Columns {
    fn cell(&self, figure: Figure, text: &str) -> String {
        let width = match figure.unit() {
            FigureUnit::PerSecond => self.iops,
            FigureUnit::BytesPerSecond => self.mib_s,
            FigureUnit::Nanoseconds => self.latency,
        };
        format!("{text:>width$}")
    }

    /// Returns the names of the columns.
    pub(crate) fn heads(&self) -> String {
        self.figures.iter().map(|figure| self.cell(*figure, figure.head())).collect()
    }

    /// Returns a row; `no_rate` stands where a rate is not known.
    pub(crate) fn row(&self, figures: &Figures, no_rate: &str) -> String {
        let cell = |figure: &Figure| match figures.shown(*figure) {
            Some(shown) => self.cell(*figure, &shown),
            None => self.cell(*figure, if figure.is_rate() { no_rate } else { "-" }),
        };
        self.figures.iter().map(cell).collect()
    }
}

/// Returns the names of the columns of a job's rows.
pub(super) fn header() -> String {
    format!("{:LABEL_WIDTH$}{}\n", "", OF_JOB.heads())
}

/// Returns a row per direction with I/O, its response time under a rate, and the syncs.
pub(super) fn direction_rows(job: &JobRecord) -> String {
    let mut text = String::new();
    for (name, dir) in job.dirs.iter() {
        if dir.n_ios == 0 {
            continue;
        }
        let (is_total, latency) = dir.shown_latency();
        // Without the total latency the rest is shown for what it is.
        let label = if is_total || latency.is_empty() { name } else { &format!("{name} clat") };
        let mut figures = Figures::of(&latency).with_rates(dir);
        if dir.io_bytes == 0 {
            figures = figures.with(Figure::BytesPerS, None);
        }
        put_row(&mut text, label, &figures);
        if let Some(response) = dir.response.as_ref().filter(|response| !response.is_empty()) {
            put_row(&mut text, " response", &Figures::of(&Latency::Measured(response)));
        }
    }
    if let Some(figures) = job.sync_figures() {
        put_row(&mut text, "sync", &figures);
    }
    text
}

fn put_row(text: &mut String, label: &str, figures: &Figures) {
    let row = format!("  {label:<9}{}", OF_JOB.row(figures, ""));
    text.push_str(row.trim_end());
    text.push('\n');
}
