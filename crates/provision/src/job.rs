//! A job file that offers what is promised: each phase is a step, its volumes at once.

use std::fmt::Write as _;

use plan::workload::HitArea;
use volume::Design;
use volume::design::{Backing, Promised, Volume};

use crate::form::{Form, Refusal};
use crate::parts::Parts;
use crate::quote;

/// I/Os per second that one worker offers, so that none of them is what limits the rate: as needs
/// of `plimsoll bench` are offered.
pub const WORKER_IOPS: f64 = 50_000.0;

/// Workers of a promise at most.
const WORKERS_MAX: f64 = 16.0;

/// I/Os that may be in flight at least, per worker.
const IN_FLIGHT_MIN: u32 = 256;

/// I/Os that may be in flight for each disk of a stripe: with 6 each, a stripe that is full does
/// 98 % of what its disks can.
const IN_FLIGHT_PER_DISK: f64 = 16.0;

/// Smallest file that the reads which the host cache answers have for themselves, bytes.
const HITS_BYTES_MIN: u64 = 1 << 20;

/// Largest file that is measured on, bytes; a quarter of the volume where that is less.
const FILE_BYTES_MAX: u64 = 16 << 30;

/// Smallest multiple that sizes of I/Os have, bytes: a sector.
pub(crate) const SECTOR_BYTES: f64 = 512.0;

/// Prints the job.
pub(crate) fn text(parts: &Parts<'_>) -> Result<String, Refusal> {
    let design = parts.design;
    if design.promises.is_empty() {
        return Err(Refusal::Nothing { what: "promise that could be measured" });
    }
    let has_hits = design.promises.iter().any(|it| shares(it).iter().any(|share| share.is_hits));
    let of_hits = if has_hits {
        "; What the host cache is to answer is read from a small file, which is soon in it.\n"
    } else {
        ""
    };
    let mut text = format!(
        "; {}\n; {}\n; Each phase is a step: what it promises of all volumes is offered at once, \
         at \
         random moments,\n; and response times count from when each I/O was due. Files are made \
         below the mounts.\n;   plimsoll run promised.fio && plimsoll confirm DESIGN --run last\n\
         {of_hits}[global]\nioengine=io_uring\ndirect=1\ntime_based=1\nramp_time=5\nruntime=60\n\
         rate_process=poisson\nnorandommap=1\n",
        quote::comment(&parts.title(Form::Job)),
        Form::Job.checked(),
    );
    for phase in phases(design) {
        let of_phase = design.promises.iter().filter(|it| it.phase == phase);
        let lasts_s = of_phase.clone().filter_map(lasts_s).max();
        for (idx, promised) in of_phase.enumerate() {
            let runtime_s = self::lasts_s(promised).or(lasts_s);
            text.push_str(&section(promised, (idx, runtime_s), design));
        }
    }
    Ok(text)
}

/// Returns the phases in the order of the design.
pub(crate) fn phases(design: &Design) -> Vec<&str> {
    let mut phases: Vec<&str> = Vec::new();
    for promised in &design.promises {
        if !phases.contains(&promised.phase.as_str()) {
            phases.push(&promised.phase);
        }
    }
    phases
}

/// Returns the size of I/Os that can be issued: whole sectors.
pub(crate) fn issued_bytes(promised: &Promised) -> u64 {
    ((promised.io_size_bytes / SECTOR_BYTES).round().max(1.0) * SECTOR_BYTES) as u64
}

/// Returns the rate that moves as many bytes with I/Os of whole sectors.
pub(crate) fn issued_iops(promised: &Promised) -> f64 {
    promised.bytes_per_s() / issued_bytes(promised) as f64
}

/// Returns a size of an I/O as job files and suites have it.
pub(crate) fn block(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) { format!("{}k", bytes >> 10) } else { bytes.to_string() }
}

/// Returns the kind of I/O, as job files and suites call it.
pub(crate) fn access(read_share: f64, is_sequential: bool) -> &'static str {
    match (read_share, is_sequential) {
        (share, true) if share >= 1.0 => "read",
        (share, false) if share >= 1.0 => "randread",
        (share, true) if share <= 0.0 => "write",
        (share, false) if share <= 0.0 => "randwrite",
        (_, true) => "rw",
        (_, false) => "randrw",
    }
}

/// A part of what is promised of a volume, as a section of its own. Sections of one name count
/// together.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    /// Share of the I/Os.
    pub(crate) of_ios: f64,
    /// Share of reads among them.
    pub(crate) read: f64,
    /// Share of them at random places.
    pub(crate) random: f64,
    /// They are what the host cache answers.
    pub(crate) is_hits: bool,
}

/// Takes apart what a host cache answers and what it does not.
pub(crate) fn shares(promised: &Promised) -> Vec<Share> {
    let (read, random) = (promised.read_share, promised.random_share);
    let hits = (read * promised.hit_share).min(random);
    if hits <= 0.0 {
        return vec![Share { of_ios: 1.0, read, random, is_hits: false }];
    }
    let rest = 1.0 - hits;
    let of_rest = |share: f64| ((share - hits) / rest).clamp(0.0, 1.0);
    let hit = Share { of_ios: hits, read: 1.0, random: 1.0, is_hits: true };
    let missed =
        Share { of_ios: rest, read: of_rest(read), random: of_rest(random), is_hits: false };
    // What is left of rounding is no load.
    if rest * issued_iops(promised) < 0.5 { vec![hit] } else { vec![hit, missed] }
}

/// Returns for how many seconds something is promised, where it is for a time only.
fn lasts_s(promised: &Promised) -> Option<u64> {
    promised.lasts_ns.map(|ns| ns.div_ceil(1_000_000_000))
}

/// Prints a promise, at its place in the phase and for so many seconds where that is not the time
/// of all.
fn section(promised: &Promised, (idx, runtime_s): (usize, Option<u64>), design: &Design) -> String {
    let shares = shares(promised);
    let parts = shares.iter().enumerate();
    let part = |(part, share): (usize, &Share)| {
        let mut text = part_text(promised, *share, (idx, part == 0), design);
        if let Some(runtime_s) = runtime_s {
            let _ = writeln!(text, "runtime={runtime_s}");
        }
        text
    };
    parts.map(part).collect()
}

/// Prints a share of a promise: the first one of the first promise of a phase begins its step.
fn part_text(
    promised: &Promised,
    share: Share,
    (idx, is_first): (usize, bool),
    design: &Design,
) -> String {
    let iops = issued_iops(promised) * share.of_ios;
    let workers = (iops / WORKER_IOPS).ceil().clamp(1.0, WORKERS_MAX);
    let rate = |share: f64| ((iops * share / workers).round() as u64).max(1);
    let is_sequential = share.random <= 0.0;
    let kind = access(share.read, is_sequential);
    let rates = match kind {
        "rw" | "randrw" => format!("{},{}", rate(share.read), rate(1.0 - share.read)),
        _ => rate(1.0).to_string(),
    };
    let phase = if promised.phase.is_empty() { "promised" } else { &promised.phase };
    let name = quote::comment(&format!("{phase} {}", promised.volume)).replace(['[', ']'], " ");
    let size = block(issued_bytes(promised));
    let mut text = format!("\n[{name} {size}]\n");
    // With a value, so that fio lists it in its result, which is then read as steps.
    text.push_str(if idx == 0 && is_first { "stonewall=1\n" } else { "" });
    let volume = design.volumes.iter().find(|volume| volume.mount == promised.volume);
    let quarter = volume.map_or(FILE_BYTES_MAX, |volume| volume.capacity_bytes / 4);
    let whole = quarter.clamp(1 << 20, FILE_BYTES_MAX);
    let bytes = if share.is_hits { hits_bytes(promised, iops).min(whole) } else { whole };
    let folder = promised.volume.trim_end_matches('/');
    let suffix = if share.is_hits { "-hits" } else { "" };
    let _ = write!(
        text,
        "filename={}\nsize={}m\nrw={kind}\nbs={size}\n",
        plan::escape_path(&quote::comment(&format!("{folder}/plimsoll-promised-{idx}{suffix}"))),
        bytes.div_ceil(1 << 20),
    );
    if matches!(kind, "rw" | "randrw") {
        let _ = writeln!(text, "rwmixread={:.0}", share.read * 100.0);
    }
    if !is_sequential && share.random < 1.0 {
        let _ = writeln!(text, "percentage_random={:.0}", share.random * 100.0);
    }
    let _ = write!(
        text,
        "iodepth={}\nnumjobs={workers:.0}\ngroup_reporting=1\nnew_group=1\n\
         rate_iops={rates}\n",
        depth(volume, workers),
    );
    text
}

/// Returns how large a file is that reads at a rate soon have in a cache, bytes.
pub(crate) fn hits_bytes(promised: &Promised, iops: f64) -> u64 {
    (HitArea::bytes_for(iops, promised.io_size_bytes) as u64).clamp(HITS_BYTES_MIN, FILE_BYTES_MAX)
}

/// Returns how many I/Os a worker may have in flight: for a wide stripe more than usual, since at
/// random places some of its disks have a longer queue than others.
fn depth(volume: Option<&Volume>, workers: f64) -> u32 {
    let n_disks = match volume.map(|volume| &volume.backing) {
        Some(Backing::Disks(stripe)) => stripe.disks.len() as f64,
        Some(Backing::Network(_)) | None => 1.0,
    };
    IN_FLIGHT_MIN.max((n_disks * IN_FLIGHT_PER_DISK / workers).ceil() as u32)
}
