//! What to know beside the figures: credits, unknown caps, streams over fewer disks.

use catalog::Figure;
use volume::Design;
use volume::design::{Backing, CacheMode, Disk, Limit, Merging, Stripe, Vm};
use volume::limits::credit::Credits;

use super::answer::meets;
use super::text::grouped;

/// Returns what is to be said about a volume.
pub(super) fn of_volume(design: &Design, volume: u16) -> Vec<String> {
    let mut notes = Vec::new();
    if let Backing::Disks(stripe) = &design.volumes[usize::from(volume)].backing {
        of_stripe(stripe, &mut notes);
        of_cache(design, stripe, &mut notes);
        // What goes to a network volume does not pass the machine's disk caps.
        if let Some(vm) = &design.vm {
            let whose = format!("{} uncached", vm.size);
            of_burst(&whose, "IOPS", 1.0, vm.uncached.iops.as_ref(), &mut notes);
            of_burst(&whose, "MB/s", 1e6, vm.uncached.bytes.as_ref(), &mut notes);
            of_aws(design, vm, &mut notes);
        }
    }
    notes
}

/// Says on which bytes of a published MB a verdict hangs.
pub(super) fn of_readings(need: f64, readings: &[(u64, f64)]) -> Option<String> {
    if readings.is_empty() {
        return None;
    }
    let one = |(mb_bytes, iops): &(u64, f64)| {
        let verdict = if meets(*iops, need) { "met" } else { "not met" };
        format!("{} bytes: {verdict}, {} IOPS", grouped(*mb_bytes as f64), grouped(*iops))
    };
    let all: Vec<String> = readings.iter().map(one).collect();
    Some(format!(
        "the verdict hangs on what a published MB means, which is not stated. Of {}; `mb_bytes` in \
         the design says which",
        all.join("; of ")
    ))
}

/// A burst of which nobody says how long it lasts cannot be counted.
fn of_aws(design: &Design, vm: &Vm, notes: &mut Vec<String>) {
    let edition = design.rows();
    let Some(size) = edition.and_then(|edition| edition.vm(&vm.size)) else { return };
    let has_own = vm.uncached.iops.as_ref().is_some_and(|limit| limit.burst.is_some())
        || vm.uncached.bytes.as_ref().is_some_and(|limit| limit.burst.is_some());
    if size.cloud() != "AWS" || has_own {
        return;
    }
    let part = |figure: Option<&Figure>, unit: &str, scale: f64| {
        figure.map(|figure| format!("{} {unit}", grouped(figure.per_s as f64 / scale)))
    };
    let parts = [
        part(size.uncached_burst_iops(), "IOPS", 1.0),
        part(size.uncached_burst_throughput(), "MB/s", 1e6),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        notes.push(format!(
            "{} bursts to {}; for how long is not published, so no burst of it is counted, with \
             `--burst` neither",
            vm.size,
            parts.join(" and ")
        ));
    }
}

fn of_stripe(stripe: &Stripe, notes: &mut Vec<String>) {
    let Some(disk) = stripe.disks.first() else { return };
    let whose = if stripe.disks.len() > 1 { "each disk" } else { "the disk" };
    of_burst(whose, "IOPS", 1.0, disk.cap.iops.as_ref(), notes);
    of_burst(whose, "MB/s", 1e6, disk.cap.bytes.as_ref(), notes);
    of_columns(stripe, notes);
    of_merging(disk, notes);
}

/// With fewer columns than disks the figures hold for loads over all of the volume only.
fn of_columns(stripe: &Stripe, notes: &mut Vec<String>) {
    let (columns, n_disks) = (stripe.columns as usize, stripe.disks.len());
    if columns >= n_disks {
        return;
    }
    let set_bytes: u64 = stripe.disks.iter().take(columns).map(|disk| disk.size_bytes).sum();
    notes.push(format!(
        "{columns} columns of {n_disks} disks: the first {} GiB lie on {columns} disks, the next \
         on the next; a file within them, and a sequential stream, gets {columns} disks' share",
        grouped((set_bytes >> 30) as f64)
    ));
}

fn of_merging(disk: &Disk, notes: &mut Vec<String>) {
    let Some(unit_bytes) = disk.io_unit_bytes else { return };
    let unit = grouped((unit_bytes >> 10) as f64);
    let sku = &disk.sku;
    match disk.merging {
        Merging::None => {}
        Merging::Operations => notes.push(format!(
            "{sku} merges I/Os that follow each other, up to {unit} KiB: they count together with \
             --sequential"
        )),
        Merging::Units => notes.push(format!(
            "{sku} counts its throughput in {unit} KiB: a smaller I/O at a random place takes as \
             much, those that follow each other (--sequential) share it"
        )),
    }
}

fn of_cache(design: &Design, stripe: &Stripe, notes: &mut Vec<String>) {
    if stripe.disks.iter().all(|disk| disk.cache == CacheMode::None) {
        return;
    }
    let Some(vm) = &design.vm else { return };
    if vm.cache_bytes.unwrap_or(0) == 0 {
        notes.push(format!("{} has no host cache, or its size is unknown: none is used", vm.size));
    } else if vm.cached.iops.is_none() && vm.cached.bytes.is_none() {
        notes.push(format!(
            "the cached cap of {} is unknown: what is read from the cache is not limited here",
            vm.size
        ));
    }
}

fn of_burst(whose: &str, unit: &str, scale: f64, limit: Option<&Limit>, notes: &mut Vec<String>) {
    let Some(limit) = limit else { return };
    let Some(burst) = limit.burst else { return };
    let per_s = burst.per_s as f64;
    let rate = format!("{whose} bursts to {} {unit}", grouped(per_s / scale));
    let Some(bucket) = burst.bucket else {
        notes.push(format!("{rate} for as long as is paid for, which is counted above"));
        return;
    };
    let credits = Credits { base: limit.per_s as f64, burst: per_s, bucket: bucket as f64 };
    let span = |seconds: f64| {
        units::format_duration(std::time::Duration::from_secs(seconds.min(1e12).round() as u64))
    };
    notes.push(format!(
        "{rate} for {} from full credits, which idle time fills in {}",
        span(credits.burst_s(per_s)),
        span(credits.refill_s())
    ));
}
