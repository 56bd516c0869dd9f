//! The search of network volumes against trying every design, on random small catalogues.
//!
//! Every design that costs no more than what was found is written as a file, read again and judged
//! by `limits`. Figures are small whole numbers, so that caps and prices are often exactly met and
//! often equal. Quotas are tried in steps of 256 GiB, of which shares of a pool are whole numbers:
//! what two volumes ask for stands in quarters.

mod common;
#[path = "common/shared.rs"]
mod shared;

use common::dice::{Dice, seeds};
use shared::{EveryDesign, Shared};
use volume::design::service::Service;

/// Catalogues that an ordinary test run looks at.
const N_CASES: u64 = 240;

/// Catalogues that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 2_000;

/// What of interest the best design of a catalogue has.
#[derive(Clone, Copy, Debug, Default)]
struct Sort {
    is_carried: bool,
    is_manual: bool,
    is_large: bool,
    is_flexible: bool,
    has_several_machines: bool,
    has_two_volumes: bool,
    is_open_or_unpriced: bool,
    is_of_files: bool,
    has_more_iops: bool,
    is_of_google: bool,
}

/// Looks at one catalogue; returns of which sort its best design is, or what differs.
fn check_seed(seed: u64) -> Result<Sort, String> {
    let case = Shared::new(&mut Dice(seed));
    let found = case.search();
    if let Some(better) = EveryDesign::of(&case).better_than(found.as_ref())? {
        return Err(format!("seed {seed}\n{case:#?}\nfound: {found:#?}\nbetter: {better}"));
    }
    let Some(best) = found else { return Ok(Sort::default()) };
    Ok(Sort {
        is_carried: true,
        is_manual: best.pools.iter().any(|it| it.qos == design::netapp::Qos::Manual),
        is_large: best.volumes.iter().any(|it| it.is_large),
        is_flexible: best.pools.iter().any(|it| it.level == "flexible"),
        has_several_machines: best.n_machines > 1,
        has_two_volumes: best.volumes.len() > 1,
        is_open_or_unpriced: best.price.is_open || best.price.is_unpriced,
        is_of_files: case.service == Service::FsxOntap,
        has_more_iops: best.pools.iter().any(|it| {
            it.file_server.is_some_and(|server| server.iops > case.included_iops(it.size_gib))
        }),
        is_of_google: case.service == Service::GoogleVolumes,
    })
}

#[test]
fn what_is_found_is_the_best_of_all_designs() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let (mut sorts, mut wrong) = (Vec::new(), Vec::new());
    for seed in seeds {
        match check_seed(seed) {
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
        ("with throughput by hand", count(|it| it.is_manual)),
        ("with a large volume", count(|it| it.is_large)),
        ("of the flexible level", count(|it| it.is_flexible)),
        ("with several machines", count(|it| it.has_several_machines)),
        ("with two volumes", count(|it| it.has_two_volumes)),
        ("open or unpriced", count(|it| it.is_open_or_unpriced)),
        ("of Amazon FSx", count(|it| it.is_of_files)),
        ("with more operations than come with the capacity", count(|it| it.has_more_iops)),
        ("of Google Cloud", count(|it| it.is_of_google)),
    ] {
        let is_fair = (n_cases / 60..n_cases * 19 / 20).contains(&n_such);
        assert!(is_fair, "{n_such} of {n_cases} best designs are {name}: too one-sided");
    }
}
