//! How long a search takes: one need against all of a cloud and region, many needs, and the same
//! small catalogue by trying every design.
//!
//! `cargo bench -p design`. One need must take less than 2 s on one core and 200 MiB, 1,000 less
//! than 60 s on two cores.
#![expect(clippy::print_stdout, reason = "figures for people")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use catalog::{Catalog, Cloud};
use common::dice::Dice;
use common::tables::{Case, Draw, EveryDesign};
use design::{
    Demand, Market, Need, Options, Period, PhaseNeed, Terms, VolumeNeed, VolumeUse, search,
};

const PLACES: [(Cloud, &str); 3] =
    [(Cloud::Azure, "westeurope"), (Cloud::Aws, "us-east-1"), (Cloud::Gcp, "us-central1")];

const N_NEEDS: usize = 1000;

/// Processors that many needs are searched on.
const N_CORES: usize = 2;

fn main() {
    for (cloud, region) in PLACES {
        let (market, market_time) = timed(|| {
            let terms = Terms::new(cloud, Some(region));
            Market::new(Catalog::built_in(), terms).expect("a market")
        });
        let mut dice = Dice(1);
        let (found, one_time) =
            timed(|| search(&market, &need(&mut dice), &Options::default()).expect("a need"));
        let captured = with_series(need(&mut dice), &mut dice);
        let (_, captured_time) =
            timed(|| search(&market, &captured, &Options::default()).expect("a need"));
        let needs: Vec<Need> = (0..N_NEEDS).map(|_| need(&mut dice)).collect();
        let carried = |needs: &[Need]| {
            let found = |need: &Need| search(&market, need, &Options::default()).expect("a need");
            needs.iter().filter(|need| !found(need).designs.is_empty()).count()
        };
        let (n_carried, many_time) = timed(|| {
            std::thread::scope(|scope| {
                let parts = needs.chunks(needs.len() / N_CORES);
                let threads: Vec<_> =
                    parts.map(|part| scope.spawn(move || carried(part))).collect();
                threads.into_iter().map(|it| it.join().expect("a search")).sum::<usize>()
            })
        });
        println!(
            "{region:<12} {:>5} machines: {market_time:.2?} to look up, {one_time:.2?} one need \
             on one core, {captured_time:.2?} one with an hour of samples, {many_time:.2?} \
             {N_NEEDS} needs on {N_CORES} ({n_carried} carried), best {:?}, {} MiB at most so far",
            market.n_machines(),
            found.designs.first().map(|best| best.price.usd()),
            testing::status_kib("VmHWM") >> 10
        );
    }
    let draw = Draw {
        scale: 1,
        chosen_percent: 25,
        base_percent: 0,
        has_mixes: true,
        has_refusals: false,
    };
    let cases: Vec<Case> = (0..20).map(|seed| Case::new(&mut Dice(seed), draw)).collect();
    let (n_tried, every) =
        timed(|| cases.iter().map(|case| EveryDesign::of(case).n_tried).sum::<usize>());
    let (_, found) = timed(|| cases.iter().map(|case| case.search(1).len()).sum::<usize>());
    println!(
        "20 small catalogues: {every:.2?} for {n_tried} designs one by one, {found:.2?} searched"
    );
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

/// Gives a need samples of an hour, each with part of the load and some with all of it.
fn with_series(need: Need, dice: &mut Dice) -> Need {
    let first = |volume: &VolumeNeed| volume.phases.first().cloned();
    let loads: Vec<Option<PhaseNeed>> = need.volumes.iter().map(first).collect();
    let part = |dice: &mut Dice, load: &Option<PhaseNeed>| {
        load.as_ref().map_or(0.0, |load| load.iops * dice.whole(0, 10) as f64 / 10.0)
    };
    let period = |dice: &mut Dice| Period {
        span_s: 1.0,
        iops: loads.iter().map(|load| part(dice, load)).collect(),
    };
    let periods = (0..3600).map(|_| period(dice)).collect();
    Need { series: Some(Demand { loads, periods, short_s_max: 36.0, n_again: 0 }), ..need }
}

/// Returns a need of one to three volumes.
fn need(dice: &mut Dice) -> Need {
    let n_volumes = dice.whole(1, 3);
    let volume = |dice: &mut Dice, idx: u64| VolumeNeed {
        mount: format!("/mnt/v{idx}"),
        capacity_gib: dice.whole(10, 4000) as f64,
        usage: if dice.happens(20) { VolumeUse::Temp } else { VolumeUse::Data },
        working_set_gib: dice.happens(40).then(|| dice.whole(10, 500) as f64),
        phases: ["normal", "peak"].map(|name| phase(dice, name)).to_vec(),
        ..VolumeNeed::default()
    };
    let volumes = (0..n_volumes).map(|idx| volume(dice, idx)).collect();
    let vcpus = dice.happens(50).then(|| dice.one_of(&[4.0, 8.0, 16.0]));
    Need { volumes, vcpus, memory_gib: None, series: None }
}

fn phase(dice: &mut Dice, name: &str) -> PhaseNeed {
    PhaseNeed {
        phase: name.to_owned(),
        iops: dice.whole(100, 12_000) as f64,
        size_bytes: dice.one_of(&[4, 8, 16, 64]) << 10,
        step_bytes: None,
        read_share: dice.one_of(&[0.0, 0.5, 0.7, 1.0]),
        random_share: 1.0,
        queue_depth: None,
    }
}
