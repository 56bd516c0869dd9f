//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use hist::Histogram;

use crate::change::{ChangeRule, changes};
use crate::compare::{
    BetterWhen, CompareOptions, Comparison, compare, compare_intervals, compare_series,
};
use crate::curve::knees;
use crate::gate::{Gate, GateName};
use crate::gates::{
    CacheSize, ErrorInputs, FootprintInputs, SteadyInputs, errors, footprint, steadiness,
};
use crate::limit::LatencyFigure;
use crate::sampled::Sampled;
use crate::stats::{BatchMeans, Interval, mean_interval, median_ranks, paired_interval};
use crate::steady::{SteadyRule, assess};
use crate::thin::{ThinPercentile, n_beyond, n_ios_for};

const SIX: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

#[test]
fn an_impossible_comparison_panics() {
    let usual = CompareOptions::new(BetterWhen::Higher);
    let sure = CompareOptions { coverage: 1.0, ..usual };
    let odd = CompareOptions { effect_min: f64::NAN, ..usual };
    let line = (5.0, Interval { low: 4.0, high: 6.0, coverage: 0.95 });
    let series = Sampled::from(&SIX[..]);
    let enough = ThinPercentile { n_ios: 1000, n_ios_needed: 1000 };
    let holds = "an interval that holds with";
    testing::check_wrong_calls(&[
        ("an interval for sure", "holds with 1", &|| _ = compare(&SIX, &SIX, &sure)),
        ("two lines for sure", "holds with 1", &|| _ = compare_intervals(line, line, &sure)),
        ("two series for sure", "holds with 1", &|| _ = compare_series(&series, &series, &sure)),
        ("an effect that is none", "a difference of NaN matters", &|| {
            _ = compare(&SIX, &SIX, &odd);
        }),
        ("a mean with nothing", holds, &|| _ = mean_interval(&SIX, 0.0)),
        ("a median below nothing", holds, &|| _ = median_ranks(6, -0.5)),
        ("batches beyond all", holds, &|| _ = BatchMeans::of(&SIX, 1.5)),
        ("a coverage that is no number", holds, &|| _ = mean_interval(&SIX, f64::NAN)),
        ("pairs of one", "6 and 5 runs are no pairs", &|| {
            _ = paired_interval(&SIX, &SIX[1..], 0.95);
        }),
        ("enough that is too few", "1000 operations are too few, and 1000 enough", &|| {
            _ = Comparison::of_thin(1, 1, enough);
        }),
        ("figures that are known", "2 and 3 figures are unknown", &|| {
            _ = Comparison::of_unknown(2, 3);
        }),
    ]);
}

#[test]
fn an_unknown_figure_panics() {
    let latency = Histogram::new();
    let of = |percentile| _ = LatencyFigure::Percentile(percentile).of(&latency);
    let points = [(1.0, 1.0), (2.0, 2.0), (3.0, 9.0)];
    let changed = |segment_len_min, size_pct_min| {
        _ = changes(&SIX, &ChangeRule { segment_len_min, size_pct_min });
    };
    testing::check_wrong_calls(&[
        ("the percentile 0", "the percentile 0 of a latency", &|| of(0.0)),
        ("the percentile 100", "the percentile 100 of a latency", &|| of(100.0)),
        ("beyond the last", "beyond the percentile 100", &|| _ = n_beyond(5, 100.0)),
        ("as many as nothing takes", "beyond the percentile -1", &|| _ = n_ios_for(-1.0)),
        ("too few for nothing", "beyond the percentile NaN", &|| {
            _ = ThinPercentile::of(5, f64::NAN);
        }),
        ("knees everywhere", "with the sensitivity 0", &|| _ = knees(&points, 0.0)),
        ("levels of a sample", "a level of 1 samples", &|| changed(1, 5.0)),
        ("jumps of less than nothing", "a jump of -5 % matters", &|| changed(5, -5.0)),
    ]);
    // Neither one operation too many, nor one too few, whatever a binary fraction leaves.
    for (percentile, n_ios) in [(50.0, 20), (99.0, 1000), (99.9, 10_000), (99.99, 100_000)] {
        assert_eq!(n_ios_for(percentile), n_ios);
        assert_eq!(ThinPercentile::of(n_ios, percentile), None);
        let thin = ThinPercentile { n_ios: n_ios - 1, n_ios_needed: n_ios };
        assert_eq!(ThinPercentile::of(n_ios - 1, percentile), Some(thin));
    }
}

#[test]
fn a_check_without_a_reason_panics() {
    let passed = |reason: &str| Gate::passed(GateName::Errors, reason);
    let usual = SteadyRule::default();
    let steady = |rule| {
        let (iops, p99_ns, is_response, sample_s) = (&SIX[..], &[][..], false, 1.0);
        _ = steadiness(&SteadyInputs { iops, p99_ns, is_response, sample_s, rule });
    };
    let accept = |share_max| _ = errors(&ErrorInputs { n_ios: 1, n_errors: 0, share_max });
    let cache = |name| {
        let caches = &[CacheSize { name, bytes: Some(1) }];
        _ = footprint(&FootprintInputs { touched_bytes: Some(2), caches });
    };
    testing::check_wrong_calls(&[
        ("no reason", "the check `errors` is Passed without a reason", &|| _ = passed("")),
        ("a figure twice", "the check `errors` has two figures `share`", &|| {
            _ = passed("fine").with(&[("share", 0.1), ("share", 0.2)]);
        }),
        ("a window of one round", "a window of 1 rounds", &|| {
            steady(SteadyRule { n_rounds: 1, ..usual });
        }),
        ("rounds that are all the same", "rounds within 0 %", &|| {
            _ = assess(&[&SIX], &SteadyRule { range_pct: 0.0, ..usual });
        }),
        ("a level that never moves", "a level within NaN %", &|| {
            steady(SteadyRule { slope_pct: f64::NAN, ..usual });
        }),
        ("rounds of unlike runs", "series of [6, 5] rounds", &|| {
            _ = assess(&[&SIX, &SIX[1..]], &usual);
        }),
        ("more than all may fail", "1.5 of the operations may fail", &|| accept(1.5)),
        ("fewer than none may fail", "-0.5 of the operations", &|| accept(-0.5)),
        ("a cache without a name", "a cache has no name", &|| cache("")),
    ]);
    steady(usual);
    accept(1.0);
}
