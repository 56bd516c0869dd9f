//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use super::belief::Belief;
use super::{Answer, ProbeResult, Search, SearchOptions};

#[test]
fn a_search_of_an_empty_range_panics() {
    let options = SearchOptions::rate(100.0);
    let belief = || Belief::new(&options);
    let result = ProbeResult { answer: Answer::Failed, achieved: None, pressure: None };
    let ended = || {
        let mut search = Search::new(options).expect("options that fit");
        while search.next_probe().is_some() {
            search.take(result);
        }
        search
    };
    testing::check_wrong_calls(&[
        ("an answer to no probe", "Failed of no probe: the search ended after", &|| {
            ended().take(result);
        }),
        ("a load below the smallest", "a load of 0.5, between 1 and 1000000000", &|| {
            ended().also(0.5);
        }),
        ("a load that is no number", "a load of NaN, between", &|| ended().also(f64::NAN)),
        ("a bracket turned round", "a bracket from 9 to 5", &|| _ = options.is_close(9, 5)),
        ("a bracket of one load", "a bracket from 5 to 5", &|| _ = options.is_close(5, 5)),
        ("a probe of no load", "a load of 0 was probed", &|| belief().take(0.0, true)),
        ("a rate of nothing", "a rate of -5 was achieved", &|| belief().hint(-5.0)),
        ("more than sure", "the line lies below it with 1.5", &|| _ = belief().quantile(1.5)),
    ]);
}
