//! What lifts a design against trying every single change of it, on random small catalogues.

mod common;

use common::dice::{Dice, check_all, seeds};
use common::tables::{Case, Draw, EveryDesign};
use design::{Changed, Lift, Market, cheapest_lift, judge};
use volume::CacheMode;

/// Catalogues that an ordinary test run looks at.
const N_CASES: u64 = 80;

/// Catalogues that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 5000;

/// Small numbers, so that caps and prices are often equal.
const DRAW: Draw =
    Draw { scale: 1, chosen_percent: 15, base_percent: 0, has_mixes: true, has_refusals: false };

/// How much more must be carried: a little less, and a little more than what counts as more.
const FACTORS: [f64; 2] = [1.0005, 1.0015];

/// Returns what is found for one catalogue; nothing where no design carries its need, or what
/// differs.
fn check_seed(seed: u64) -> Result<Vec<Option<Lift>>, String> {
    let case = Case::new(&mut Dice(seed), DRAW);
    let market = Market::new(case.catalog(), case.terms()).expect("a market");
    let Some(mut best) = case.search(1).into_iter().next() else { return Ok(Vec::new()) };
    // A setting that lifts costs nothing: the best design has it. Every other one goes without.
    if seed.is_multiple_of(2) {
        for volume in &mut best.volumes {
            volume.cache = CacheMode::None;
        }
    }
    let design = design::parse(&market, &case.need, &best).expect("a design");
    let headroom = judge(&design, &case.need).headroom();
    let found = cheapest_lift(&market, &case.need, &best, &case.options);
    if !headroom.is_finite() {
        return Ok(Vec::new());
    }
    // Between both nothing is decided by rounding.
    let cheapest = FACTORS.map(|factor| {
        let more = case.times((1.0 + headroom) * factor);
        EveryDesign::single_changes(&more, &best).into_iter().map(|it| it.price).min()
    });
    let price = found.as_ref().map(|lift| lift.ranked.price);
    if cheapest.contains(&price) {
        return Ok(vec![found]);
    }
    let shown = case.shown();
    Err(format!("seed {seed}\n{shown}\nof {best:#?}\n{cheapest:?} in place of {found:#?}"))
}

#[test]
fn the_change_that_lifts_is_the_cheapest_of_all() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for looked in check_all(seeds, check_seed) {
        match looked {
            Ok(lift) => all.extend(lift),
            Err(why) => wrong.push(why),
        }
    }
    let first = wrong.first().map_or("", String::as_str);
    assert!(wrong.is_empty(), "{} of {n_cases} differ; the first:\n{first}", wrong.len());
    // Each sort of change is the cheapest now and then, and now and then none is enough.
    let count = |is_it: fn(&Option<Lift>) -> bool| all.iter().filter(|it| is_it(it)).count();
    let is = |lift: &Option<Lift>, of: fn(Changed) -> bool| {
        lift.as_ref().is_some_and(|lift| of(lift.changed))
    };
    for (name, n_such) in [
        ("none", count(Option::is_none)),
        ("a machine", all.iter().filter(|it| is(it, |of| of == Changed::Machine)).count()),
        ("disks", all.iter().filter(|it| is(it, |of| matches!(of, Changed::Disks(_)))).count()),
        (
            "a stripe unit",
            all.iter().filter(|it| is(it, |of| matches!(of, Changed::StripeUnit(_)))).count(),
        ),
        ("a cache", all.iter().filter(|it| is(it, |of| matches!(of, Changed::Cache(_)))).count()),
    ] {
        assert!(n_such > 0, "{name} is the cheapest change of none of {n_cases}");
    }
}
