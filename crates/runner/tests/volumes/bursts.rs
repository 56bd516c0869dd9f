//! A demand that changes over time against credits, as the recursion has it, and as a run does.
//!
//! Disks and demands are drawn at random. A run carries a demand if no I/O waits; both must say the
//! same, but within 3 % of a corner: where so much more or less of all demand changes what the
//! recursion says.

use plan::load::{RatePeriod, RatePeriods};
use volume::CacheMode;
use volume::design::{Backing, Burst, Design};

use design::series::over_time;
use design::{Demand, Need, Period, PhaseNeed, VolumeNeed};

use crate::bench::{Bench, design as design_of, p30, plan};
use crate::demands::{Dice, seeds};

/// Demands that an ordinary test run looks at.
const N_CASES: u64 = 40;

/// Demands that are looked at with `PLIMSOLL_LONG_TESTS=1`.
const N_CASES_LONG: u64 = 1000;

/// How far from a corner both must say the same.
const CORNER: f64 = 0.03;

/// Longest response of a demand that is carried, nanoseconds: the disk takes 1 ms. A second that
/// lacks 3 % ends 30 ms late.
const RESPONSE_NS_MAX: u64 = 20_000_000;

/// A whole stripe unit, one after the other: each disk of a stripe has the same share at any time.
/// At random places some have 6 % more for a second, which no recursion over the volume shows.
const SIZE_BYTES: u64 = 64 << 10;

/// Returns a volume whose disks have 100 to 400 IOPS, more while credits last.
fn disks(dice: &mut Dice) -> Design {
    let mut volume = p30("/v", dice.one_of(&[1, 1, 2, 4]), CacheMode::None);
    let base = dice.size(100.0, 400.0) as u64;
    let burst = dice.size(1.2, 4.0);
    let seconds = dice.size(2.0, 20.0);
    if let Backing::Disks(stripe) = &mut volume.backing {
        for disk in &mut stripe.disks {
            let limit = disk.cap.iops.as_mut().expect("a disk has a cap");
            limit.per_s = base;
            let per_s = (base as f64 * burst) as u64;
            let bucket = Some(((per_s - base) as f64 * seconds) as u64);
            limit.burst = Some(Burst { per_s, bucket });
        }
    }
    design_of(None, vec![volume])
}

fn periods(dice: &mut Dice, design: &Design) -> Vec<(f64, u64)> {
    let Backing::Disks(stripe) = &design.volumes[0].backing else { unreachable!("disks") };
    let n_disks = stripe.disks.len() as f64;
    let base = stripe.disks[0].cap.iops.as_ref().map_or(0, |limit| limit.per_s) as f64 * n_disks;
    let n_periods = dice.one_of(&[3, 6, 12]);
    let one = |_| {
        let rate = base * dice.size(0.3, 3.0);
        (rate.round().max(1.0), dice.one_of(&[1, 2, 5]))
    };
    (0..n_periods).map(one).collect()
}

/// Returns whether the recursion carries so many times a demand.
fn is_carried(design: &Design, periods: &[(f64, u64)], factor: f64) -> bool {
    let load = PhaseNeed {
        size_bytes: SIZE_BYTES,
        read_share: 1.0,
        random_share: 0.0,
        ..PhaseNeed::default()
    };
    let volume = VolumeNeed { mount: "/v".to_owned(), ..VolumeNeed::default() };
    let need = Need { volumes: vec![volume], ..Need::default() };
    let period =
        |(rate, span_s): &(f64, u64)| Period { span_s: *span_s as f64, iops: vec![rate * factor] };
    let periods = periods.iter().map(period).collect();
    let demand = Demand { loads: vec![Some(load)], periods, ..Demand::default() };
    over_time(design, &need, &demand).iter().all(|cap| cap.short_at.is_none())
}

/// Returns the longest response of a run, nanoseconds.
fn longest_ns(design: &Design, periods: &[(f64, u64)]) -> u64 {
    let length_s: u64 = periods.iter().map(|(_, span_s)| span_s).sum();
    let most = periods.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
    let mut plan = plan(&format!(
        "[j]\nioengine=libaio\ndirect=1\nfilename=/v/f\nrw=read\nbs={SIZE_BYTES}\nsize=10g\n\
         iodepth=512\ntime_based=1\nruntime={length_s}\n"
    ));
    let of = |(rate, span_s): &(f64, u64)| RatePeriod {
        rate: *rate,
        duration_ns: span_s * 1_000_000_000,
    };
    let periods = RatePeriods { periods: periods.iter().map(of).collect(), in_spikes: false };
    let load = &mut plan.steps[0].jobs[0].load;
    (load.rate_total_iops, load.rate_periods) = (Some(most), Some(periods));
    let record = Bench::new(design.clone()).try_plan(&plan, |_| {}).expect("it runs");
    let response = record.jobs[0].dirs.read.response.as_ref().expect("the load is open");
    response.max_ns().unwrap_or(0)
}

#[test]
fn credits_carry_a_demand_where_a_run_does() {
    let (mut n_carried, mut n_short, mut wrong) = (0, 0, Vec::new());
    for seed in seeds(N_CASES, N_CASES_LONG) {
        let mut dice = Dice(seed ^ 0xb0_25_75);
        let design = disks(&mut dice);
        let periods = periods(&mut dice, &design);
        let expected = is_carried(&design, &periods, 1.0);
        let is_near = [1.0 - CORNER, 1.0 + CORNER]
            .into_iter()
            .any(|factor| is_carried(&design, &periods, factor) != expected);
        if is_near {
            continue;
        }
        let longest_ns = longest_ns(&design, &periods);
        *(if expected { &mut n_carried } else { &mut n_short }) += 1;
        if (longest_ns <= RESPONSE_NS_MAX) != expected {
            wrong.push(format!("seed {seed}: carried {expected}, longest {longest_ns} ns\n"));
        }
    }
    assert!(wrong.is_empty(), "{} of the demands differ:\n{}", wrong.len(), wrong.concat());
    assert!(n_carried >= 5 && n_short >= 5, "{n_carried} carried, {n_short} not");
}
