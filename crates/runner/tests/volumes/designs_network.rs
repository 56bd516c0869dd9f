//! Network volumes that a search found, and the cheaper designs that it rejected, in runs.
//!
//! Catalogues and needs are drawn at random. The chosen design must carry every phase of the need
//! in a run, and every cheaper one of the same machines and levels must miss one: by what the run
//! does, not by what the search counts.

#[path = "../../../design/tests/common/shared.rs"]
mod shared;

use design::{Need, PhaseNeed};
use volume::Design;

use crate::bench::{Bench, iops};
use crate::designs::small as common;
use common::dice::{Dice, seeds};
use shared::{EveryDesign, Shared};

/// Searches that an ordinary test run looks at.
const N_CASES: u64 = 8;

/// Searches that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 500;

/// Most cheaper designs of one search that are run: evenly taken where there are more.
const N_CHEAPER_MAX: usize = 40;

/// Part of a need that a run may miss: what a job of some seconds has under way at its end.
const SHORT_MAX: f64 = 0.005;

/// How far from the need both sides are asked.
const CORNER: f64 = 0.01;

/// How a run goes: seconds before and while it is counted, and what is in flight beyond the rate.
const TRIALS: [(u64, u64, u64); 2] = [(3, 4, 64), (40, 40, 512)];

/// Returns whether runs carry so many times each phase of the need, in the trials until one says
/// what is expected. Where whole rates ask for more than the need, a run that misses them says
/// nothing.
fn carries(design: &Design, need: &Need, factor: f64, expected: bool) -> bool {
    need.phases().iter().all(|phase| {
        for trial in TRIALS {
            let Some(job) = job_file((design, need), phase, factor, trial) else {
                return true;
            };
            let record = Bench::new(design.clone()).run(&job.text);
            let mut pairs = record.jobs.iter().map(iops).zip(&job.asked);
            let is_carried = pairs.all(|(rate, asked)| rate >= asked * (1.0 - SHORT_MAX));
            if is_carried == expected || (expected && job.asks_more) {
                return expected;
            }
        }
        !expected
    })
}

/// Returns the directions and walk of a phase, as options of fio.
fn walk(phase: &PhaseNeed) -> String {
    let is_random = phase.random_share > 0.0;
    let access = match (is_random, phase.read_share) {
        (true, share) if share >= 1.0 => "randread",
        (true, share) if share <= 0.0 => "randwrite",
        (true, _) => "randrw",
        (false, share) if share >= 1.0 => "read",
        (false, share) if share <= 0.0 => "write",
        (false, _) => "rw",
    };
    let mut text = format!("rw={access}\nrwmixread={:.0}\n", phase.read_share * 100.0);
    if is_random && phase.random_share < 1.0 {
        text.push_str(&format!("percentage_random={:.0}\n", phase.random_share * 100.0));
    }
    text
}

/// What runs a phase.
struct JobFile {
    text: String,
    /// What each job is to achieve, I/Os per second.
    asked: Vec<f64>,
    /// It asks for more than the need: the rates of a worker are whole.
    asks_more: bool,
}

/// Returns a job for each volume with a worker on each machine, and what each is to achieve;
/// `None` where nothing is asked.
fn job_file(
    (design, need): (&Design, &Need),
    phase: &str,
    factor: f64,
    (ramp_s, time_s, depth): (u64, u64, u64),
) -> Option<JobFile> {
    let n_machines = design.clients.len().max(1);
    let mut text = format!(
        "[global]\nioengine=libaio\ndirect=1\ntime_based=1\nramp_time={ramp_s}\n\
         runtime={time_s}\nnumjobs={n_machines}\ngroup_reporting=1\nsize=1g\n"
    );
    let (mut asked, mut asks_more) = (Vec::new(), false);
    for (idx, volume) in need.volumes.iter().enumerate() {
        let of_phase = |it: &&PhaseNeed| it.phase == phase && it.iops > 0.0;
        for phase in volume.phases.iter().filter(of_phase) {
            // The rates of a worker are whole, each direction's own.
            let rate = phase.iops * factor / n_machines as f64;
            let of_share =
                |share: f64| if share > 0.0 { (rate * share).round().max(1.0) } else { 0.0 };
            let (reads, writes) = (of_share(phase.read_share), of_share(1.0 - phase.read_share));
            let depth = depth + (rate * 0.01) as u64;
            text.push_str(&format!(
                "[j{idx}]\nnew_group=1\niodepth={depth}\nfilename={}/f\nbs={}\n{}\
                 rate_iops={:.0},{:.0}\n",
                volume.mount,
                phase.size_bytes,
                walk(phase),
                reads.max(1.0),
                writes.max(1.0)
            ));
            let whole = (reads + writes) * n_machines as f64;
            asks_more |= whole > phase.iops;
            asked.push(whole);
        }
    }
    (!asked.is_empty()).then_some(JobFile { text, asked, asks_more })
}

/// What runs of one search's designs came to.
struct Ran {
    has_several_machines: bool,
    has_two_volumes: bool,
    n_cheaper: usize,
}

/// Runs one search's design and the cheaper ones; says what differs.
fn check_seed(seed: u64) -> Result<Option<Ran>, String> {
    let case = Shared::of_runs(&mut Dice(seed));
    let Some(best) = case.search() else { return Ok(None) };
    let read = |text: &str| {
        let (design, findings) = volume::design::parse_with(text, case.catalog());
        design.unwrap_or_else(|| panic!("seed {seed}: {findings:?}\n{text}"))
    };
    let text = design::netapp::toml(&case.terms(), &case.need, &best, "chosen");
    if !carries(&read(&text), &case.need, 1.0 - CORNER, true) {
        return Err(format!(
            "seed {seed}: the run does not carry what was chosen\n{text}\n{case:?}"
        ));
    }
    let cheaper = EveryDesign::of(&case).cheaper_than(&best);
    let step = cheaper.len().div_ceil(N_CHEAPER_MAX).max(1);
    let mut n_cheaper = 0;
    for text in cheaper.iter().step_by(step) {
        n_cheaper += 1;
        if carries(&read(text), &case.need, 1.0 + CORNER, false) {
            let why = "a run carries it on a cheaper design";
            return Err(format!("seed {seed}: {why}\n{text}\nchosen: {best:?}\n{case:?}"));
        }
    }
    Ok(Some(Ran {
        has_several_machines: best.n_machines > 1,
        has_two_volumes: best.volumes.len() > 1,
        n_cheaper,
    }))
}

#[test]
fn network_volumes_that_were_chosen_carry_the_need_and_nothing_cheaper_does() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let (mut ran, mut wrong) = (Vec::new(), Vec::new());
    for seed in seeds {
        match check_seed(seed) {
            Ok(it) => ran.extend(it),
            Err(why) => wrong.push(why),
        }
    }
    let first = wrong.first().map_or("", String::as_str);
    assert!(wrong.is_empty(), "{} of {n_cases} differ; the first:\n{first}", wrong.len());
    let n_cheaper: usize = ran.iter().map(|it| it.n_cheaper).sum();
    assert!(ran.len() as u64 * 4 > n_cases, "only {} of {n_cases} have a design", ran.len());
    assert!(n_cheaper > ran.len(), "only {n_cheaper} cheaper designs were run");
    assert!(ran.iter().any(|it| it.has_several_machines), "no design has several machines");
    assert!(ran.iter().any(|it| it.has_two_volumes), "no design has two volumes");
}
