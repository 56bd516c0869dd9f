//! Designs that a search found, and the cheaper ones that it rejected, in runs.
//!
//! Catalogues and needs are drawn at random. The chosen design must carry the need in a run, and
//! every cheaper one of the same machines and disks must not: by what the run does, not by what the
//! search counts.

// The tables that are drawn are its.
use catalog as _;
#[path = "../../../design/tests/common/mod.rs"]
pub(crate) mod small;

use design::{ChosenDisks, Need, VolumeUse, judge};
use small::dice::{Dice, seeds};
use small::tables::{Case, Draw, EveryDesign};
use volume::Design;

use crate::bench::{Bench, iops};

/// Searches that an ordinary test run looks at.
const N_CASES: u64 = 80;

/// Searches that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 1000;

/// Rates high enough for a run of some seconds to show them. What is chosen in steps has too many.
const DRAW: Draw =
    Draw { scale: 60, chosen_percent: 0, base_percent: 0, has_mixes: false, has_refusals: false };

/// Part of a need that a run may miss: what a job of some seconds has under way at its end.
const SHORT_MAX: f64 = 0.005;

/// How far from the need both sides are asked.
const CORNER: f64 = 0.01;

/// How a run goes: seconds before and while it is counted, and what is in flight beyond the rate.
const TRIALS: [(u64, u64, u64); 3] = [(3, 4, 32), (40, 40, 256), (100, 100, 1024)];

/// What is added to rates that are to be high: half of the most that is drawn.
const HIGH_IOPS: f64 = 360.0;

/// What is read at random places, where that is known: GiB, less than the smallest cache.
const WORKING_SET_GIB: f64 = 1.0 / 16.0;

/// Returns whether a run carries so many times the need, in the trials until one says what is
/// expected.
fn carries(design: &Design, need: &Need, factor: f64, expected: bool) -> bool {
    let hit_ratios = judge(design, need).hit_ratios;
    for trial in TRIALS {
        let Some((text, asked)) = job_file(need, factor, trial) else { return true };
        let is_warm = hit_ratios.iter().any(|ratio| *ratio > 0.0);
        let bench = Bench { is_warm, ..Bench::new(design.clone()) };
        let record = bench.run(&text);
        let mut pairs = record.jobs.iter().map(iops).zip(&asked);
        let is_carried = pairs.all(|(rate, asked)| rate >= asked * (1.0 - SHORT_MAX));
        if is_carried == expected {
            return is_carried;
        }
    }
    !expected
}

/// Returns a job for each volume, and what each is to achieve; `None` where nothing is asked.
fn job_file(
    need: &Need,
    factor: f64,
    (ramp_s, time_s, depth): (u64, u64, u64),
) -> Option<(String, Vec<f64>)> {
    let mut text = format!(
        "[global]\nioengine=libaio\ndirect=1\ntime_based=1\nramp_time={ramp_s}\nruntime={time_s}\n"
    );
    let mut asked = Vec::new();
    for (idx, volume) in need.volumes.iter().enumerate() {
        for phase in volume.phases.iter().filter(|phase| phase.iops > 0.0) {
            let rate = phase.iops * factor;
            // A job's rates are whole, each direction's own.
            let reads = (rate * phase.read_share).round();
            let writes = (rate * (1.0 - phase.read_share)).round();
            let rw = match phase.read_share {
                share if share >= 1.0 => "randread",
                share if share <= 0.0 => "randwrite",
                _ => "randrw",
            };
            let size_mib = volume.working_set_gib.unwrap_or(1.0) * 1024.0;
            let depth = depth + (rate * 0.01) as u64;
            text.push_str(&format!(
                "[j{idx}]\niodepth={depth}\nfilename={}/f\nrw={rw}\nbs={}\nsize={size_mib:.0}m\n\
                 rwmixread={:.0}\nrate_iops={:.0},{:.0}\n",
                volume.mount,
                phase.size_bytes,
                phase.read_share * 100.0,
                reads.max(1.0),
                writes.max(1.0)
            ));
            asked.push(reads + writes);
        }
    }
    (!asked.is_empty()).then_some((text, asked))
}

/// What is asked in small enough numbers, without what no run shows: whether limits are known, the
/// latency that is wanted, caches that hold a part, logs.
///
/// Disks of the machine itself cost nothing, so that nothing cheaper than a design on them is left
/// to run: volumes may be on them in every other draw. In the others the rates are high, which the
/// cheapest machine and disks often do not carry.
fn case(seed: u64) -> Case {
    let mut case = Case::new(&mut Dice(seed), DRAW);
    let may_be_on_local = seed.is_multiple_of(2);
    case.options.allows_write_back = false;
    for volume in &mut case.need.volumes {
        if !may_be_on_local {
            if volume.usage == VolumeUse::Temp {
                volume.usage = VolumeUse::Data;
            }
            for phase in &mut volume.phases {
                phase.iops += HIGH_IOPS;
            }
        }
        volume.latency_ms_max = None;
        volume.hit_share = None;
        // What is far smaller than every cache always hits.
        volume.working_set_gib = volume.working_set_gib.map(|_| WORKING_SET_GIB);
        volume.capacity_gib = volume.capacity_gib.max(1.0);
    }
    case
}

/// What was run of one search.
struct Looked {
    /// The chosen design is, in part, on disks of the machine itself.
    is_on_local: bool,
    /// Cheaper designs that were run.
    n_cheaper: u64,
}

/// Runs one search's design and the cheaper ones; returns what was run, or what differs.
fn check_seed(seed: u64) -> Result<Option<Looked>, String> {
    let case = case(seed);
    let found = case.search(1);
    let Some(best) = found.first() else { return Ok(None) };
    let text = design::toml(&case.terms(), &case.need, best, "chosen");
    let (chosen, _) = volume::design::parse_with(&text, case.catalog());
    let chosen = chosen.expect("what is found is a design");
    // What is to be carried, with the headroom that is asked for.
    let asked = 1.0 + case.options.headroom;
    if !carries(&chosen, &case.need, asked * (1.0 - CORNER), true) {
        return Err(format!(
            "seed {seed}: the run does not carry what was chosen\n{text}\n{case:?}"
        ));
    }
    let every = EveryDesign::of(&case);
    let mut n_cheaper = 0;
    for (price, design) in every.rejected.iter().filter(|(price, _)| *price < best.price) {
        n_cheaper += 1;
        if carries(design, &case.need, asked * (1.0 + CORNER), false) {
            return Err(format!(
                "seed {seed}: a run carries it on a cheaper design, {price:?}\n{design:?}\n{case:?}"
            ));
        }
    }
    let is_on_local = best.volumes.iter().any(ChosenDisks::is_local);
    Ok(Some(Looked { is_on_local, n_cheaper }))
}

#[test]
fn what_was_chosen_carries_the_need_and_nothing_cheaper_does() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for seed in seeds {
        match check_seed(seed) {
            Ok(looked) => all.extend(looked),
            Err(why) => wrong.push(why),
        }
    }
    let first = wrong.first().map_or("", String::as_str);
    assert!(wrong.is_empty(), "{} of {n_cases} differ; the first:\n{first}", wrong.len());
    let n_chosen = all.len() as u64;
    assert!(n_chosen * 4 > n_cases, "only {n_chosen} of {n_cases} have a design");
    let n_cheaper: u64 = all.iter().map(|looked| looked.n_cheaper).sum();
    assert!(n_cheaper > n_chosen, "only {n_cheaper} cheaper than {n_chosen} designs were run");
    let n_on_local = all.iter().filter(|looked| looked.is_on_local).count() as u64;
    let is_common = n_on_local * 12 > n_chosen;
    assert!(is_common, "only {n_on_local} of {n_chosen} designs are on disks of the machine");
}
