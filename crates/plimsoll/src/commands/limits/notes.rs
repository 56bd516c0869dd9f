//! Notes on the figures: credits, unknown caps, streams over fewer disks.

use catalog::{Cloud, Figure};
use units::{format_number, format_seconds};
use volume::Design;
use volume::design::{Backing, CacheMode, Disk, Latency, Limit, Merging, Stripe, Vm};
use volume::limits::Load;
use volume::limits::cache::WorkingSet;
use volume::limits::credit::Credits;
use volume::limits::stripe::{DIALOG_COLUMNS_MAX, busy_expected, busy_max};

use super::demand::{Question, meets};

/// Returns what is to be said about a volume.
pub(super) fn of_volume(design: &Design, volume: u16) -> Vec<String> {
    let mut notes = Vec::new();
    if let Backing::Disks(stripe) = &design.volumes[usize::from(volume)].backing {
        of_stripe(design, stripe, &mut notes);
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

/// Returns what the host cache makes of a working set.
pub(super) fn of_working_set(design: &Design, volume: u16, question: &Question) -> Option<String> {
    let bytes = question.working_set?;
    let size_bytes = question.sizes.iter().copied().max()?;
    let load = Load { queue_depth: question.queue_depth, ..Load::new(size_bytes, 1.0) };
    let set = WorkingSet::new(design, volume, &load, bytes as f64)?;
    let what = units::format_bytes(bytes);
    let holds = if set.hit_ratio < 1.0 {
        let held = units::format_percent_whole(set.hit_ratio);
        format!("the host cache holds {held} of {what} in the end")
    } else {
        format!("the host cache holds all of {what} in the end")
    };
    let part = if set.hit_ratio < 1.0 { "that" } else { "99 % of it" };
    Some(format!(
        "{holds}; from cold, reads of {} at random places bring in {part} in {}",
        units::format_bytes(size_bytes),
        format_seconds(set.warm_s())
    ))
}

/// Returns what a queue depth means: the latency it is reckoned with, and the disks that it keeps
/// busy.
pub(super) fn of_depth(design: &Design, volume: u16, queue_depth: Option<u32>) -> Vec<String> {
    let Some(queue_depth) = queue_depth else { return Vec::new() };
    let of = &design.volumes[usize::from(volume)];
    let mut notes = Vec::new();
    if let Some(latency) = constant(of.latency) {
        notes.push(format!(
            "the latency without load is assumed constant, {latency}: rates at a depth are only \
             as accurate as it; `latency` in the design changes it"
        ));
    }
    if let Backing::Disks(stripe) = &of.backing {
        let n_disks = stripe.disks.len() as u32;
        let busy = busy_max(n_disks, queue_depth);
        if busy < n_disks {
            notes.push(format!(
                "a depth of {queue_depth} keeps {busy} of {n_disks} disks busy at most, at random \
                 places {} on average",
                format_number(busy_expected(n_disks, queue_depth))
            ));
        }
    }
    notes
}

/// Returns a latency that does not spread, as it is printed.
fn constant(latency: Latency) -> Option<String> {
    (latency.spread <= 0.0).then(|| units::format_latency_ns(latency.mean_ns))
}

/// Says on which bytes of a published MB a verdict hangs.
pub(super) fn of_readings(need: f64, readings: &[(u64, f64)]) -> Option<String> {
    if readings.is_empty() {
        return None;
    }
    let one = |(mb_bytes, iops): &(u64, f64)| {
        let verdict = if meets(*iops, need) { "met" } else { "not met" };
        format!(
            "{} bytes: {verdict}, {} IOPS",
            format_number(*mb_bytes as f64),
            format_number(*iops)
        )
    };
    let all: Vec<String> = readings.iter().map(one).collect();
    Some(format!(
        "the verdict depends on how many bytes a published MB has, which is not stated. Of {}; \
         `mb_bytes` in \
         the design says which",
        all.join("; of ")
    ))
}

/// A burst without a stated length cannot be counted.
fn of_aws(design: &Design, vm: &Vm, notes: &mut Vec<String>) {
    let edition = design.rows();
    let Some(size) = edition.and_then(|edition| edition.vm(&vm.size)) else { return };
    let has_own = vm.uncached.iops.as_ref().is_some_and(|limit| limit.burst.is_some())
        || vm.uncached.bytes.as_ref().is_some_and(|limit| limit.burst.is_some());
    if size.cloud() != Some(Cloud::Aws) || has_own {
        return;
    }
    let part = |figure: Option<&Figure>, unit: &str, scale: f64| {
        figure.map(|figure| format!("{} {unit}", format_number(figure.per_s as f64 / scale)))
    };
    let parts = [
        part(size.uncached_burst_iops(), "IOPS", 1.0),
        part(size.uncached_burst_throughput(), "MB/s", 1e6),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        notes.push(format!(
            "{} bursts to {}; the duration is not published, so this burst is not counted, not \
             even with `--burst`",
            vm.size,
            parts.join(" and ")
        ));
    }
}

fn of_stripe(design: &Design, stripe: &Stripe, notes: &mut Vec<String>) {
    let Some(disk) = stripe.disks.first() else { return };
    of_window(design, stripe, notes);
    let whose = if stripe.disks.len() > 1 { "each disk" } else { "the disk" };
    of_burst(whose, "IOPS", 1.0, disk.cap.iops.as_ref(), notes);
    of_burst(whose, "MB/s", 1e6, disk.cap.bytes.as_ref(), notes);
    of_columns(design, stripe, notes);
    of_merging(disk, notes);
    of_machine_base(design, stripe, disk, notes);
}

/// Notes what a machine gives once to all its disks of a type, where these do not have it.
fn of_machine_base(design: &Design, stripe: &Stripe, disk: &Disk, notes: &mut Vec<String>) {
    if stripe.has_machine_base {
        return;
    }
    let Some(sku) = design.rows().and_then(|edition| edition.disk(&disk.sku)) else { return };
    let part = |property: &str, unit: &str, scale: f64| {
        let figure = sku.figure(property)?;
        Some(format!("{} {unit}", format_number(figure.per_s as f64 / scale)))
    };
    let parts = [
        part("iops_base_per_machine", "IOPS", 1.0),
        part("throughput_base_per_machine", "MiB/s", f64::from(1 << 20)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return;
    }
    let parts = parts.join(" and ");
    notes.push(match design.vm {
        Some(_) => format!(
            "not counted here: {parts} that the machine has once for all its disks of type {}; \
             the first volume of them has it",
            disk.sku
        ),
        None => format!(
            "not counted: {parts} more that a machine has once for all its disks of type {}, as \
             the design has no [vm]",
            disk.sku
        ),
    });
}

/// Notes that a stripe's figures hold for a load that is spread evenly over its disks. A load at
/// random places is so only over a longer time.
fn of_window(design: &Design, stripe: &Stripe, notes: &mut Vec<String>) {
    if stripe.disks.len() > 1 {
        let window = units::format_latency_ns(design.bucket_window_ns);
        notes.push(format!(
            "counted with a load spread evenly over {} disks; a run at random places evens out \
             within {window} (`bucket_window_ms`), and carries less with a shorter window",
            stripe.disks.len()
        ));
    }
}

/// With fewer columns than disks the figures hold for loads over all of the volume only.
fn of_columns(design: &Design, stripe: &Stripe, notes: &mut Vec<String>) {
    let (columns, n_disks) = (stripe.columns as usize, stripe.disks.len());
    if columns >= n_disks {
        let sku = stripe.disks.first().and_then(|disk| design.rows()?.disk(&disk.sku));
        let dialog = DIALOG_COLUMNS_MAX as usize;
        if columns > dialog && sku.is_some_and(|sku| sku.cloud() == Some(Cloud::Azure)) {
            notes.push(format!(
                "{columns} columns: the dialog of Windows Server makes {dialog} at most, and a \
                 stream then gets {dialog} disks' share; PowerShell makes them all"
            ));
        }
        return;
    }
    let set_bytes: u64 = stripe.disks.iter().take(columns).map(|disk| disk.size_bytes).sum();
    notes.push(format!(
        "{columns} columns of {n_disks} disks: the first {} GiB lie on {columns} disks, the next \
         on the next; a file within them, and a sequential stream, gets {columns} disks' share",
        format_number((set_bytes >> 30) as f64)
    ));
}

fn of_merging(disk: &Disk, notes: &mut Vec<String>) {
    let Some(unit_bytes) = disk.io_unit_bytes else { return };
    let unit = format_number((unit_bytes >> 10) as f64);
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
    let rate = format!("{whose} bursts to {} {unit}", format_number(per_s / scale));
    let Some(bucket) = burst.bucket else {
        notes.push(format!("{rate} for as long as it is paid for; counted above"));
        return;
    };
    let credits = Credits { base: limit.per_s as f64, burst: per_s, bucket: bucket as f64 };
    notes.push(format!(
        "{rate}: full credits last {} at that load, and idle time fills them in {}",
        format_seconds(credits.burst_s(per_s)),
        format_seconds(credits.refill_s())
    ));
}
