//! What each kind of case asks the product, and what stays arithmetic.

mod arithmetic;
mod cache;
mod disks;
mod lookups;
mod machines;
mod network;
mod prices;
mod product;
mod ready_made;
mod rules;
mod search;

use crate::answer::Outcome;
use crate::table::Case;

/// Answers a case: by the catalogue, by a design under `limits` and in a run, or by arithmetic.
pub(crate) fn answer(case: &Case) -> Outcome {
    let outcome = of_disks(case).or_else(|| of_machines(case)).or_else(|| of_cache(case));
    let outcome = outcome.or_else(|| of_network(case)).or_else(|| arithmetic::answer(case));
    outcome.unwrap_or_else(|| panic!("{}: no function for `{}`", case.id, case.kind))
}

fn of_disks(case: &Case) -> Option<Outcome> {
    Some(match case.kind.as_str() {
        "disk_limit" => lookups::disk(case),
        "tier_pick" => lookups::tier(case),
        "io_size" => disks::io_size(case),
        "stripe" => disks::stripe_sum(case),
        "count_disks" => disks::count_disks(case),
        "stripe_io" => disks::stripe_io(case),
        "stripe_busy" => disks::stripe_busy(case),
        "stripe_qd" => disks::stripe_queue(case),
        "queue_depth" => disks::queue_depth(case),
        "io_units" => disks::io_units(case),
        "emulator_closed_loop" => disks::closed_loop(case),
        "burst_credit" => disks::burst(case),
        "burst_accrual" => disks::accrual(case),
        "gp2_credits" => disks::gp2(case),
        "scan_time" => disks::scan_time(case),
        _ => return None,
    })
}

fn of_machines(case: &Case) -> Option<Outcome> {
    Some(match case.kind.as_str() {
        "vm_limit" => lookups::vm(case),
        "vm_plus_disk" => machines::vm_plus_disk(case),
        "vm_plus_disk_series" => machines::vm_plus_disk_series(case),
        "vm_plus_disk_io" => machines::vm_plus_disk_io(case),
        "vm_pair" => machines::vm_pair(case),
        "water_fill" => machines::first_and_second(case),
        "vm_burst" => machines::vm_burst(case),
        "headroom" => machines::headroom(case),
        _ => return None,
    })
}

fn of_cache(case: &Case) -> Option<Outcome> {
    Some(match case.kind.as_str() {
        "vm_cached_limit" => cache::vm_cached_limit(case),
        "cached_plus_uncached" => cache::cached_plus_uncached(case),
        "cached_plus_uncached_disks" => cache::cached_plus_uncached_disks(case),
        "mb_unit" => cache::in_megabytes(case),
        "fio_bench" => cache::fio_bench(case),
        "fio_mix" => cache::fio_mix(case),
        "cache" => cache::load(case),
        "cache_fit" => cache::fit(case),
        "cache_warmup" => cache::warm_up(case),
        "cache_reads" => cache::misses(case),
        "cache_mix" => cache::mix(case),
        _ => return None,
    })
}

fn of_network(case: &Case) -> Option<Outcome> {
    Some(match case.kind.as_str() {
        "anf_limit" => lookups::network_volume(case),
        "anf_quota" => network::quota(case),
        "anf_volume_cap" => network::volume_cap(case),
        "anf_manual_qos" => network::manual_qos(case),
        "queue_depth_inverse" => network::farther(case),
        "nfs_slots" => network::slots(case),
        "slots_needed" => network::slots_needed(case),
        "rpc_count" => network::calls(case),
        "nic_sum" => network::cards(case),
        "nic_direction" => network::card_direction(case),
        "iops_to_throughput" => network::iops_to_throughput(case),
        "measured_ceiling" => network::measured(case),
        "mix_random" => network::mix_random(case),
        "mix_ends" => network::mix_ends(case),
        "mix_seq" => network::mix_sequential(case),
        "fill_time" => network::fill_time(case),
        "fio_anf" => network::fio(case),
        "cost" => prices::design(case),
        "anf_cost" => prices::netapp(case),
        "optimise" => search::optimise(case),
        "ratio" if case.id == "P-45" => prices::saving(),
        "vdbench_fill" => ready_made::fill(case),
        "rule" => rules::rule(case),
        "ordering" => rules::ordering(case),
        "note" => rules::note(case),
        _ => return None,
    })
}
