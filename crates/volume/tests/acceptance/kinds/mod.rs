//! What drives the product's functions for each kind of case.

mod blocks;
mod cache;
mod lookups;
mod network;
mod rules;
mod simulated;

use crate::answer::Outcome;
use crate::table::Case;

/// What cost cases wait for.
const DESIGN_SEARCH: &str = "the design search";

/// What cases about the source's Vdbench files wait for.
const VDBENCH: &str = "ready-made jobs: the source's own files run, but nothing of ours makes them";

/// Answers a case: in closed form, and by a run in virtual time where there is something to run.
pub(crate) fn answer(case: &Case) -> Outcome {
    match in_closed_form(case) {
        Outcome::Closed(answer) => match simulated::answer(case) {
            Some(run) => Outcome::Both(answer, run),
            None => Outcome::Closed(answer),
        },
        outcome => outcome,
    }
}

fn in_closed_form(case: &Case) -> Outcome {
    match case.kind.as_str() {
        "disk_limit" => lookups::disk(case).into(),
        "vm_limit" => lookups::vm(case).into(),
        "anf_limit" => lookups::network_volume(case).into(),
        "tier_pick" => lookups::tier(case).into(),
        "cost" | "anf_cost" | "optimise" => Outcome::Waits(DESIGN_SEARCH),
        "ratio" if case.id == "P-45" => Outcome::Waits(DESIGN_SEARCH),
        "rule" => rules::rule(case),
        "ordering" => rules::ordering(case),
        "note" => rules::note(case),
        _ => of_blocks(case).or_else(|| of_cache(case)).unwrap_or_else(|| of_network(case)),
    }
}

fn of_blocks(case: &Case) -> Option<Outcome> {
    let answer = match case.kind.as_str() {
        "io_size" => blocks::io_size(case),
        "stripe" => blocks::stripe_sum(case),
        "count_disks" => blocks::count_disks(case),
        "stripe_io" => blocks::stripe_io(case),
        "stripe_busy" => blocks::stripe_busy(case),
        "stripe_qd" | "stripe_qd_range" => blocks::stripe_queue(case),
        "vm_plus_disk" => blocks::vm_plus_disk(case),
        "vm_plus_disk_series" => blocks::vm_plus_disk_series(case),
        "vm_plus_disk_io" => blocks::vm_plus_disk_io(case),
        "vm_pair" => blocks::vm_pair(case),
        "water_fill" => blocks::water_fill_case(case),
        "vm_cached_limit" => blocks::vm_cached_limit(case),
        "cached_plus_uncached" => blocks::cached_plus_uncached(case),
        "cached_plus_uncached_disks" => blocks::cached_plus_uncached_disks(case),
        "mb_unit" => blocks::mb_unit(case),
        "io_units" => blocks::io_unit(case),
        "queue_depth" => blocks::queue_depth(case),
        "queue_depth_inverse" => blocks::queue_depth_inverse(case),
        "emulator_closed_loop" => blocks::closed_loop(case),
        "fio_bench" => blocks::fio_bench(case),
        "fio_mix" => blocks::fio_mix(case),
        "headroom" => blocks::headroom_case(case),
        _ => return None,
    };
    Some(answer.into())
}

fn of_cache(case: &Case) -> Option<Outcome> {
    let answer = match case.kind.as_str() {
        "cache" => cache::load(case),
        "cache_fit" => cache::fit(case),
        "cache_warmup" => cache::warm_up(case),
        "cache_reads" => cache::reads(case),
        "cache_mix" => cache::mix(case),
        "burst_credit" => cache::burst(case),
        "burst_billing" => cache::billing(case),
        "burst_accrual" => cache::accrual(case),
        "vm_burst" => cache::vm_burst(case),
        "gp2_credits" => cache::gp2(case),
        "leaky_bucket" => cache::leaky(case),
        _ => return None,
    };
    Some(answer.into())
}

fn of_network(case: &Case) -> Outcome {
    let answer = match case.kind.as_str() {
        "anf_quota" => network::quota(case),
        "anf_volume_cap" => network::volume_cap(case),
        "anf_manual_qos" => network::manual_qos(case),
        "nfs_slots" => network::slots(case),
        "slots_needed" => network::slots_needed(case),
        "rpc_count" => network::calls(case),
        "bdp" => network::window(case),
        "nic_sum" => network::cards(case),
        "nic_direction" => network::card_direction(case),
        "iops_to_throughput" => network::iops_to_throughput(case),
        "spec_point" => network::spec_point(case),
        "measured_ceiling" => network::measured(case),
        "mix_random" => network::mix_random(case),
        "mix_ends" => network::mix_ends(case),
        "mix_seq" => network::mix_sequential(case),
        "size_model" => network::size_model(case),
        "crossing" => network::crossing(case),
        "compare" => network::compare(case),
        "ratio" => network::ratio(case),
        "ratio_pair" => network::ratio_pair(case),
        "unit" => network::unit(case),
        "fill_time" => network::fill_time(case),
        "scan_time" => network::scan_time(case),
        "fio_anf" => network::fio(case),
        "vdbench_threads" => network::outstanding(case),
        "vdbench_fill" => return Outcome::Waits(VDBENCH),
        kind => panic!("{}: no function for `{kind}`", case.id),
    };
    answer.into()
}
