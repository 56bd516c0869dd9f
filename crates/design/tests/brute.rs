//! The search against trying every design, on random small catalogues.
//!
//! Every design is written as a file, read again, and judged by `limits`. Figures are small whole
//! numbers, so that caps and prices are often exactly met and often equal.

mod common;

use common::dice::{Dice, check_all, seeds};
use common::tables::{Case, Draw, EveryDesign};
use design::{ChosenDisks, Ranked};
use volume::CacheMode;

/// Catalogues that an ordinary test run looks at.
const N_CASES: u64 = 120;

/// Catalogues that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 10_000;

/// Designs of each catalogue that are compared.
const N_COMPARED: usize = 3;

/// Small numbers, and all that the search knows.
const DRAW: Draw =
    Draw { scale: 1, chosen_percent: 25, base_percent: 30, has_mixes: true, has_refusals: true };

/// What of interest the best design of a catalogue has.
#[derive(Clone, Copy, Debug, Default)]
struct Sort {
    is_carried: bool,
    is_cached: bool,
    is_striped: bool,
    is_provisioned: bool,
    is_open_or_unpriced: bool,
    has_two_volumes: bool,
}

impl Sort {
    fn of(best: Option<&Ranked>) -> Self {
        let Some(best) = best else { return Sort::default() };
        let any = |is_it: fn(&ChosenDisks) -> bool| best.volumes.iter().any(is_it);
        Sort {
            is_carried: true,
            is_cached: any(|it| it.cache != CacheMode::None),
            is_striped: any(|it| it.n_disks > 1),
            is_provisioned: any(|it| it.is_sized),
            is_open_or_unpriced: best.price.is_open || best.price.is_unpriced,
            has_two_volumes: best.volumes.len() > 1,
        }
    }
}

/// Looks at one catalogue; returns of which sort its best design is, or what differs.
fn check_seed(seed: u64) -> Result<Sort, String> {
    let case = Case::new(&mut Dice(seed), DRAW);
    let found = case.search(N_COMPARED);
    let every = EveryDesign::against(&case, &found, N_COMPARED).best(N_COMPARED);
    let is_alike = every.len() == found.len()
        && every.iter().zip(&found).all(|(a, b)| {
            let is_near = (a.headroom - b.headroom).abs() < 1e-6
                || (a.headroom.is_infinite() && b.headroom.is_infinite());
            a.price == b.price && is_near && a.n_parts == b.n_parts
        });
    if is_alike {
        return Ok(Sort::of(every.first()));
    }
    let case = case.shown();
    Err(format!("seed {seed}\n{case}\nevery design tried: {every:#?}\nfound: {found:#?}\n"))
}

#[test]
fn what_is_found_is_the_best_of_all_designs() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let (mut sorts, mut wrong) = (Vec::new(), Vec::new());
    for looked in check_all(seeds, check_seed) {
        match looked {
            Ok(sort) => sorts.push(sort),
            Err(why) => wrong.push(why),
        }
    }
    let first = wrong.first().map_or("", String::as_str);
    assert!(wrong.is_empty(), "{} of {n_cases} differ; the first:\n{first}", wrong.len());
    // The catalogues are of use only where all that can matter does, now and then.
    let count = |is_it: fn(&&Sort) -> bool| sorts.iter().filter(is_it).count() as u64;
    for (name, n_such) in [
        ("carried", count(|it| it.is_carried)),
        ("cached", count(|it| it.is_cached)),
        ("striped", count(|it| it.is_striped)),
        ("provisioned", count(|it| it.is_provisioned)),
        ("open or unpriced", count(|it| it.is_open_or_unpriced)),
        ("two volumes", count(|it| it.has_two_volumes)),
    ] {
        let is_fair = (n_cases / 30..n_cases * 19 / 20).contains(&n_such);
        assert!(is_fair, "{n_such} of {n_cases} best designs are {name}: too one-sided");
    }
}
