//! A design that was chosen for a file of needs, under the load that is made of the same file.
//!
//! Sizes of I/Os are any: what a stripe cuts of them counts in the search as in the run.

use catalog::{Catalog, Cloud};
use design::{Market, Options, Terms, search};
use dialects::{LowerOptions, NO_HOST};
use plan::Plan;
use volume::Design;

use crate::bench::{Bench, iops};
use crate::designs::small::dice::{Dice, check_all, seeds};

/// Needs that an ordinary test run looks at.
const N_CASES: u64 = 60;

/// Needs that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 2000;

/// What a P10 of 2018 carries: IOPS and bytes per second.
const P10: (f64, f64) = (500.0, 100e6);

/// Part of what was asked for that is run: chance has some disks busier than others.
const CORNER: f64 = 0.98;

/// How a run goes: I/Os in flight at most, and seconds that are counted. What one misses is looked
/// at in the next: I/Os that follow one another keep one disk busy for a while.
const TRIALS: [(u32, u64); 2] = [(256, 10), (4096, 240)];

/// Part of that which a run may miss: what is under way at its end.
const SHORT_MAX: f64 = 0.005;

/// Returns a size of I/Os as needs have it: hundredths of a KiB, sectors, or percentiles.
fn size(dice: &mut Dice) -> String {
    let mut hundredths = |most| dice.whole(51, most) as f64 / 100.0;
    let (small, large) = (hundredths(1000), hundredths(20_000));
    // Sizes that are cut, of a mean that would not be.
    let (least, most) = dice.one_of(&[(4.0, 12.0), (4.0, 28.0), (4.0, 60.0), (8.0, 24.0)]);
    match dice.whole(0, 4) {
        0 => format!("{small}"),
        1 => format!("{large}"),
        2 => format!("{}", dice.whole(1, 300) as f64 / 2.0),
        3 => {
            let mean = f64::midpoint(least, most);
            format!("{{ p50 = {least}, p90 = {most}, mean = {mean}, min = {least}, max = {most} }}")
        }
        _ => {
            let (p50, p90) = (dice.one_of(&[4.0, 8.0, small]), dice.one_of(&[16.0, 64.0, 100.3]));
            format!("{{ p50 = {p50}, p90 = {}, p99 = 200 }}", f64::max(p50, p90))
        }
    }
}

fn needs(dice: &mut Dice) -> String {
    let (size, reads) = (size(dice), dice.one_of(&[0, 70, 100]));
    let random = dice.one_of(&[100, 100, 100, 50, 0]);
    let of = |iops: f64| {
        format!(
            "schema = 'plimsoll.needs/1'\nname = 'any'\n[[volume]]\nname = '/mnt/v'\n\
             capacity_gib = 200\n[[phase]]\nname = 'peak'\n[[phase.volume]]\nname = '/mnt/v'\n\
             iops = {iops}\nio_size_kib = {size}\nread_percent = {reads}\n\
             random_percent = {random}\n"
        )
    };
    let (read, _) = ::needs::parse(&of(1.0));
    let asked = ::needs::requirements(&read.expect("needs"));
    let mean = asked.volumes[0].loads[0].io_size_bytes.as_ref().expect("a size").value;
    // Nearly all that so many disks carry of I/Os that nothing cuts.
    let n_disks = dice.whole(2, 5) as f64;
    of((n_disks * P10.0.min(P10.1 / mean) * 0.995).floor())
}

/// Returns the design that is chosen for needs; `None` where nothing carries them.
fn chosen(text: &str) -> Option<Design> {
    let (needs, _) = ::needs::parse(text);
    let asked = design::asked(&::needs::requirements(&needs.expect("needs"))).expect("a need");
    let terms = Terms {
        edition: "2018".to_owned(),
        machines: vec!["Standard_DS14".to_owned()],
        disks: vec!["P10".to_owned()],
        ..Terms::new(Cloud::Azure, None)
    };
    let market = Market::new(Catalog::built_in(), terms).expect("a market");
    let found = search(&market, &asked.need, &Options::default()).expect("a search");
    design::parse(&market, &asked.need, found.designs.first()?)
}

/// Returns the load of needs for some seconds.
fn load(text: &str, (queue_depth, time_s): (u32, u64)) -> Plan {
    let parsed = dialects::needs::parse_text("any", text, &LowerOptions::default(), &NO_HOST);
    assert!(!parsed.has_errors() && parsed.refusals.is_empty(), "{:?}", parsed.refusals);
    let mut plan = parsed.plan;
    for job in plan.jobs_mut() {
        job.load.rate_total_iops = job.load.rate_total_iops.map(|rate| rate * CORNER);
        job.load.queue_depth = queue_depth;
        job.limits.ramp_ns = 3_000_000_000;
        job.limits.runtime_ns = Some(time_s * 1_000_000_000);
    }
    plan
}

/// Runs one load; returns whether a design was chosen, or what is not carried.
fn check_seed(seed: u64) -> Result<bool, String> {
    let text = needs(&mut Dice(seed));
    let Some(design) = chosen(&text) else { return Ok(false) };
    let mut missed = String::new();
    for trial in TRIALS {
        let plan = load(&text, trial);
        let asked = plan.jobs().next().and_then(|job| job.load.rate_total_iops).expect("a rate");
        let record = Bench::new(design.clone()).try_plan(&plan, |_| {}).expect("it can run");
        let rate = iops(&record.jobs[0]);
        if rate >= asked * (1.0 - SHORT_MAX) {
            return Ok(true);
        }
        missed = format!("seed {seed}: {rate:.1} of {asked:.1} IOPS\n{text}\n{:?}", design.volumes);
    }
    Err(missed)
}

#[test]
fn a_design_carries_the_needs_that_it_was_chosen_for() {
    let (mut n_chosen, mut wrong) = (0, Vec::new());
    for looked in check_all(seeds(N_CASES, N_CASES_LONG), check_seed) {
        match looked {
            Ok(is_chosen) => n_chosen += u64::from(is_chosen),
            Err(why) => wrong.push(why),
        }
    }
    let first = wrong.first().map_or("", String::as_str);
    assert!(wrong.is_empty(), "{} are not carried; the first:\n{first}", wrong.len());
    assert!(n_chosen * 4 > N_CASES * 3, "only {n_chosen} of {N_CASES} have a design");
}
