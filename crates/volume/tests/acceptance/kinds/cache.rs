//! The host cache, credits and bursts.

use serde_json::Value;
use volume::CapKind;
use volume::design::CacheMode;
use volume::limits::bound::least;
use volume::limits::cache::{self, WarmUp};
use volume::limits::credit::{self, Credits, Excess};
use volume::limits::{Bound, surface};

use crate::answer::Answer;
use crate::table::{Case, number};

pub(crate) fn load(case: &Case) -> Answer {
    let (reads, hit_ratio) = (case.num("read_mb_s"), case.num("hit_ratio"));
    let disk = case.num("disk_mb_s");
    let answer = Answer::new().binds(Bound::Cap(CapKind::DiskBytes));
    let Some(writes) = case.opt("write_mb_s") else {
        let room = cache::write_room(disk, reads, hit_ratio, CacheMode::ReadOnly);
        return answer.with("write_mb_s_max", room);
    };
    let load = cache::disk_load(reads, writes, hit_ratio, CacheMode::ReadOnly);
    answer
        .with("disk_load_mb_s", load)
        .with("fits", load <= disk)
        .with("disk_utilisation", surface::share_of(load, disk))
}

pub(crate) fn fit(case: &Case) -> Answer {
    let hit_ratio = cache::hit_ratio(case.num("cache_gib"), case.num("working_set_gib"));
    Answer::new().with("fits", hit_ratio >= 1.0).with("hit_ratio_steady", hit_ratio)
}

pub(crate) fn warm_up(case: &Case) -> Answer {
    let disk = case.num("disk_bytes_per_s");
    let curve = WarmUp::new(case.num("file_bytes"), disk, case.num("cached_bytes_per_s"));
    let mut answer = Answer::new()
        .with("linear_until_fraction", curve.linear_until())
        .with("linear_seconds", curve.linear_s())
        .with("tau_seconds", curve.tau_s())
        .with("target_seconds", curve.seconds_to(case.num("target_warm")));
    if let Some(seconds) = case.opt("check_at_s") {
        answer = answer.with("cold_fraction_at_check", curve.cold_at(seconds));
    }
    answer.binds(curve.binds_at(0.0)).binds(curve.binds_at(curve.linear_s()))
}

pub(crate) fn reads(case: &Case) -> Answer {
    let (disk, cached) = (case.num("disk_iops"), case.num("cached_iops"));
    let hit_ratios = case.nums("hit_ratio");
    let all: Vec<_> = hit_ratios.iter().map(|&hit| cache::rate(disk, cached, 1.0, hit)).collect();
    let answer = Answer::new().with("iops", all.iter().map(|all| all.rate).collect::<Vec<_>>());
    all.iter().fold(answer, |answer, all| answer.binds(all.binds))
}

pub(crate) fn mix(case: &Case) -> Answer {
    let read_share = 1.0 - case.num("write_fraction");
    let (disk, cached) = (case.num("disk_iops"), case.num("cached_iops"));
    let rate = cache::rate(disk, cached, read_share, case.num("hit_ratio"));
    Answer::new().with("iops", rate.rate).binds(rate.binds)
}

pub(crate) fn burst(case: &Case) -> Answer {
    let credits = Credits::azure(case.num("base_iops"), case.num("burst_iops"));
    let phases = credits.phases(case.num("demand_iops"), case.num("duration_s"));
    let last = phases.last().expect("a phase");
    Answer::new()
        .with("bucket", credits.bucket)
        .with("burst_seconds", phases[0].seconds)
        .with("iops_phases", phases.iter().map(|phase| phase.rate).collect::<Vec<_>>())
        .with("total_ios", credit::total(&phases))
        .with("idle_refill_s", credits.refill_s())
        .binds(last.binds)
}

pub(crate) fn billing(case: &Case) -> Answer {
    let optional = |phase: &Value, key: &str| phase.get(key).map_or(0.0, number);
    if case.has("excess") {
        let bill = |part: &Value| {
            let (iops, mb_s) = (number(&part["iops"]), number(&part["mb_s"]));
            Excess { iops, mb_s, seconds: number(&part["s"]) }.transactions()
        };
        let each: Vec<f64> = case.list("excess").iter().map(bill).collect();
        return Answer::new().with("transactions_each", each);
    }
    let (base_iops, base_mb_s) = (case.num("base_iops"), case.num("base_mb_s"));
    let bill = |part: &Value| {
        let (iops, mb_s) = (number(&part["iops"]), optional(part, "mb_s"));
        Excess::above(base_iops, base_mb_s, iops, mb_s, number(&part["s"])).transactions()
    };
    let transactions: f64 = case.list("phases").iter().map(bill).sum();
    let billed = credit::billed_units(transactions, case.num("unit"));
    Answer::new().with("transactions", transactions).with("billed_units", billed)
}

pub(crate) fn accrual(case: &Case) -> Answer {
    let pairs = case.nums("base_iops").into_iter().zip(case.nums("used_iops"));
    let accrual = |(base, used): (f64, f64)| Credits::azure(base, base).accrual(used);
    Answer::new().with("accrual_per_s", pairs.map(accrual).collect::<Vec<_>>())
}

pub(crate) fn vm_burst(case: &Case) -> Answer {
    let pairs = case.nums("demand_mb_s").into_iter().zip(case.nums("disk_mb_s"));
    let of_disks: Vec<_> = pairs
        .map(|(demand, disk)| least(Some(demand), &[(Bound::Cap(CapKind::DiskBytes), disk)]))
        .collect();
    let wanted: f64 = of_disks.iter().map(|disk| disk.rate).sum();
    let under =
        |key: &str| least(Some(wanted), &[(Bound::Cap(CapKind::VmUncachedBytes), case.num(key))]);
    let (with, without) = (under("vm_burst_mb_s"), under("vm_base_mb_s"));
    let most = of_disks.iter().map(|disk| disk.rate).fold(0.0, f64::max);
    let answer = Answer::new()
        .with("with_credits_mb_s", with.rate)
        .with("without_credits_mb_s", without.rate)
        .with("one_disk_burst_mb_s", most);
    // A disk that is asked for all it has is what keeps the machine from more.
    if of_disks.iter().any(|disk| disk.rate >= disk.cap) {
        return answer.binds(Bound::Cap(CapKind::DiskBytes));
    }
    answer.binds(with.binds).binds(without.binds)
}

pub(crate) fn gp2(case: &Case) -> Answer {
    let burst = case.num("burst_iops");
    let credits = |&base: &f64| Credits { base, burst, bucket: credit::GP2_BUCKET };
    let all: Vec<_> = case.nums("base_iops").iter().map(credits).collect();
    let day_s = 86_400.0;
    let last = all[0].phases(burst, day_s).pop().expect("a phase");
    Answer::new()
        .with("burst_seconds", all.iter().map(|all| all.burst_s(burst)).collect::<Vec<_>>())
        .with("refill_seconds", all.iter().map(Credits::refill_s).collect::<Vec<_>>())
        .binds(last.binds)
}

pub(crate) fn leaky(case: &Case) -> Answer {
    let (avg, max) = (case.num("avg"), case.num("max"));
    let bucket = Credits::leaky(avg, max, case.num("length_s"));
    let phases = bucket.phases(max, 1e6);
    Answer::new()
        .with("bucket", bucket.bucket)
        .with("burst_seconds", phases[0].seconds)
        .with("then", phases[1].rate)
        .binds(phases[1].binds)
}
