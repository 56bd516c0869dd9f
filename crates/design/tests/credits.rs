//! The search against trying every design, where disks and machines burst on credits and a series
//! was captured.

mod common;

use common::dice::{Dice, check_all, seeds};
use common::tables::{Case, Draw, EveryDesign};
use design::Price;

/// Catalogues that an ordinary test run looks at.
const N_CASES: u64 = 120;

/// Catalogues that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 10_000;

/// Designs of each catalogue that are compared.
const N_COMPARED: usize = 3;

const DRAW: Draw =
    Draw { scale: 1, chosen_percent: 10, base_percent: 0, has_mixes: true, has_refusals: false };

/// What the best design of a catalogue owes to a series.
#[derive(Clone, Copy, Debug)]
struct Sort {
    /// Credits of disks or machines make it cheaper.
    is_on_credits: bool,
    /// Those of machines do.
    is_on_credits_of_machine: bool,
    /// The series asks for more than the phases, so that it is dearer than without.
    is_of_series: bool,
}

/// Looks at one catalogue; returns of which sort its best design is, or what differs.
fn check_seed(seed: u64) -> Result<Sort, String> {
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
    let price = |case: &Case| case.search(1).first().map(|it| it.price);
    let is_dearer = |than: Option<Price>, other: Option<Price>| {
        than.is_some_and(|than| other.is_none_or(|other| other > than))
    };
    let best = found.first().map(|it| it.price);
    let of_plain_machines = price(&case.clone().without_bursts_of_machines());
    case.need.series = None;
    let of_phases = price(&case);
    Ok(Sort {
        is_on_credits: is_dearer(best, of_phases),
        is_on_credits_of_machine: is_dearer(best, of_plain_machines),
        is_of_series: is_dearer(of_phases, best),
    })
}

#[test]
fn what_is_found_on_credits_is_the_best_of_all_designs() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let looked: Vec<Result<Sort, String>> = check_all(seeds, check_seed);
    let wrong: Vec<&String> = looked.iter().filter_map(|it| it.as_ref().err()).collect();
    let first = wrong.first().map_or("", |it| it.as_str());
    assert!(wrong.is_empty(), "{} of {n_cases} differ; the first:\n{first}", wrong.len());
    // They are of use only where credits and series matter, now and then.
    let count = |is_it: fn(&Sort) -> bool| {
        looked.iter().flatten().filter(|sort| is_it(sort)).count() as u64
    };
    for (what, n_such, least) in [
        ("on credits", count(|it| it.is_on_credits), n_cases / 20),
        ("on credits of a machine", count(|it| it.is_on_credits_of_machine), n_cases / 60),
        ("dearer for their series", count(|it| it.is_of_series), n_cases / 60),
    ] {
        assert!(n_such >= least, "{n_such} of {n_cases} best designs are {what}: too few");
    }
}
