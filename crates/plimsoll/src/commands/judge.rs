//! What runs are judged by, as the command line says it.

use std::time::Duration;

use analysis::Rules;
use analysis::steady::SteadyRule;
use plan::Plan;
use record::Record;
use runner::UntilSteady;

/// What a run is judged by (docs/validity.md).
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Validity")]
pub(super) struct JudgeArgs {
    /// Run until IOPS and p99 are steady, at most for MAXTIME (30m unless given), whatever the
    /// file's time or amount says.
    #[arg(long, value_name = "MAXTIME", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "30m", value_parser = units::parse_duration)]
    until_steady: Option<Duration>,

    /// Length of the period at the end that must be steady. Default: all after the warm-up, or 1m
    /// with --until-steady.
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    steady_window: Option<Duration>,

    /// Rounds that the window is cut into.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1000))]
    steady_rounds: u32,

    /// Largest difference of two rounds, percent of their mean.
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, value_parser = percent)]
    steady_range: f64,

    /// Largest rise or fall over the window, percent of the mean.
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0, value_parser = percent)]
    steady_slope: f64,

    /// Length of the warm-up that steadiness leaves out; found in the series unless given.
    #[arg(long, value_name = "TIME", value_parser = units::parse_duration)]
    warm_up: Option<Duration>,

    /// Size of the caches between this host and the media.
    #[arg(long, value_name = "SIZE", value_parser = units::parse_bytes)]
    cache_size: Option<u64>,
}

/// Window in which a run that goes on until it is steady must be so.
const UNTIL_WINDOW: Duration = Duration::from_mins(1);

fn percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text
        .trim()
        .trim_end_matches('%')
        .parse()
        .map_err(|_| "expected percent, such as 20".to_owned())?;
    if percent > 0.0 && percent <= 1000.0 {
        return Ok(percent);
    }
    Err("expected more than 0 and at most 1000 percent".to_owned())
}

impl JudgeArgs {
    /// Returns what the record is judged by.
    pub(super) fn rules(&self) -> Rules {
        let window = self.steady_window.or(self.until_steady.map(|_| UNTIL_WINDOW));
        Rules {
            steady: SteadyRule {
                n_rounds: self.steady_rounds as usize,
                range_pct: self.steady_range,
                slope_pct: self.steady_slope,
            },
            window_s: window.map(|window| window.as_secs_f64()),
            warm_up_s: self.warm_up.map(|warm_up| warm_up.as_secs_f64()),
            error_share_max: 0.0,
            cache_bytes: self.cache_size,
        }
    }

    /// Lets the plan run until it is steady, if it is to. Returns when a step of it ends.
    pub(super) fn apply(&self, plan: &mut Plan) -> Option<UntilSteady> {
        let limit_ns = units::nanoseconds(self.until_steady?);
        for job in plan.jobs_mut() {
            job.limits.runtime_ns = Some(limit_ns);
            job.limits.time_based = true;
            job.limits.n_ios_max = None;
        }
        let window_ns = units::nanoseconds(self.steady_window.unwrap_or(UNTIL_WINDOW));
        Some(UntilSteady { rule: self.rules().steady, window_ns, limit_ns })
    }
}

/// Judges a run that has ended: what its checks say becomes part of its record.
pub(super) fn judge(record: &mut Record, rules: &Rules) {
    record.validity = analysis::assess(record, rules);
    record.units = analysis::composite::units(record);
}
