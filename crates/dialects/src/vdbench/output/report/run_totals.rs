//! totals_optional.html (`report_run_totals=yes`): what all runs did together, as of now.

use super::super::number::fixed;
use super::super::page::{shown, title};
use super::super::stats::RowStats;
use super::{RUN_TOTALS, Report};
use crate::vdbench::output::Moment;
use crate::vdbench::run::FileOperation::{Read, Write};

const GIB: f64 = (1_u64 << 30) as f64;

/// What all runs did together, warmup included.
#[derive(Debug, Default)]
pub(super) struct RunTotals {
    pub(super) sums: RowStats,
    /// Failed I/Os.
    pub(super) n_errors: u64,
    /// Run and number of the last interval.
    pub(super) last: Option<(String, u32)>,
}

impl Report {
    /// Returns the page as a whole: it is written anew after every interval.
    pub(super) fn run_totals_page(&self, now: &Moment) -> String {
        let RunTotals { sums, n_errors, last } = &self.run_totals;
        let (reads, writes, data) = (sums.op(Read), sums.op(Write), sums.data());
        let gib = |bytes: u64| fixed(bytes as f64 / GIB, 2);
        let errors_per_gb =
            if data.bytes == 0 { 0.0 } else { *n_errors as f64 * GIB / data.bytes as f64 };
        let last = match last {
            Some((run, number)) => {
                format!("interval #{number} of rd={}, {}", shown(run), now.long())
            }
            None => "none yet".to_owned(),
        };
        let lines = [
            ("Total iops:", fixed(sums.per_s(data.n as f64), 2)),
            ("Total reads+writes:", data.n.to_string()),
            ("Total gigabytes:", gib(data.bytes)),
            ("Total gigabytes read:", gib(reads.bytes)),
            ("Total gigabytes write:", gib(writes.bytes)),
            ("Total reads:", reads.n.to_string()),
            ("Total writes:", writes.n.to_string()),
            ("Total readpct:", fixed(sums.read_pct(), 2)),
            ("Total I/O or DV errors:", n_errors.to_string()),
        ];
        let mut text = title(&self.setup.folder, RUN_TOTALS);
        text.push_str(&format!(
            "\nWhat all runs did together, warmup included; written anew after every interval.\n\
             Last interval: {last}\n\n\nOverall execution totals logical i/o: \n"
        ));
        for (name, value) in lines {
            text.push_str(&format!("{name:<23} {value:>12}\n"));
        }
        let per_gb = fixed(errors_per_gb, 12);
        text.truncate(text.trim_end().len());
        text.push_str(&format!(" ({per_gb} errors per GB)\n\n"));
        text
    }
}
