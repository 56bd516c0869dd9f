//! The search against trying every design, where disks burst on credits and a series was captured.

mod common;

use common::dice::{Dice, check_all, seeds};
use common::tables::{Case, Draw, EveryDesign};

/// Catalogues that an ordinary test run looks at.
const N_CASES: u64 = 120;

/// Catalogues that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 10_000;

/// Designs of each catalogue that are compared.
const N_COMPARED: usize = 3;

const DRAW: Draw = Draw { scale: 1, chosen_percent: 10, has_mixes: true };

/// Looks at one catalogue; returns whether credits make its best design cheaper, or what differs.
fn check_seed(seed: u64) -> Result<bool, String> {
    let dice = &mut Dice(seed ^ 0xc4ed);
    let mut case = Case::new(dice, DRAW).with_credits(dice);
    let found = case.search(N_COMPARED);
    let every = EveryDesign::against(&case, &found, N_COMPARED).best(N_COMPARED);
    let is_alike = every.len() == found.len()
        && every.iter().zip(&found).all(|(a, b)| {
            let is_near = (a.headroom - b.headroom).abs() < 1e-6
                || (a.headroom.is_infinite() && b.headroom.is_infinite());
            a.price == b.price && is_near && a.n_parts == b.n_parts
        });
    if !is_alike {
        let case = case.shown();
        return Err(format!("seed {seed}\n{case}\nevery design tried: {every:#?}\n{found:#?}\n"));
    }
    case.need.series = None;
    let sustained = case.search(1);
    let best = found.first().map(|it| it.price);
    Ok(best.is_some_and(|best| sustained.first().is_none_or(|it| best < it.price)))
}

#[test]
fn what_is_found_on_credits_is_the_best_of_all_designs() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let looked: Vec<Result<bool, String>> = check_all(seeds, check_seed);
    let wrong: Vec<&String> = looked.iter().filter_map(|it| it.as_ref().err()).collect();
    let first = wrong.first().map_or("", |it| it.as_str());
    assert!(wrong.is_empty(), "{} of {n_cases} differ; the first:\n{first}", wrong.len());
    // They are of use only where credits matter, now and then.
    let n_cheaper = looked.iter().filter(|it| matches!(it, Ok(true))).count() as u64;
    assert!(n_cheaper >= n_cases / 20, "credits are of use in {n_cheaper} of {n_cases} alone");
}
