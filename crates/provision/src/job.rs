//! A job file that offers what is promised: each phase is a step, its volumes at once.

use std::fmt::Write as _;

use volume::Design;
use volume::design::Promised;

use crate::form::{Form, Refusal};
use crate::parts::Parts;
use crate::quote;

/// I/Os per second that one worker offers, so that none of them is what limits the rate: as needs
/// of `plimsoll bench` are offered.
pub const WORKER_IOPS: f64 = 50_000.0;

/// Workers of a promise at most.
const WORKERS_MAX: f64 = 16.0;

/// I/Os in flight at most, per worker.
const IN_FLIGHT_MAX: u32 = 256;

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
    let mut text = format!(
        "; {}\n; {}\n; Each phase is a step: what it promises of all volumes is offered at once, \
         at \
         random moments,\n; and response times count from when each I/O was due. Files are made \
         below the mounts.\n;   plimsoll run promised.fio && plimsoll confirm DESIGN --run last\n\
         [global]\nioengine=io_uring\ndirect=1\ntime_based=1\nramp_time=5\nruntime=60\n\
         rate_process=poisson\nnorandommap=1\n",
        quote::comment(&parts.title(Form::Job)),
        Form::Job.checked(),
    );
    for phase in phases(design) {
        let of_phase = design.promises.iter().filter(|it| it.phase == phase);
        for (idx, promised) in of_phase.enumerate() {
            text.push_str(&section(promised, idx, design));
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
pub(crate) fn access(promised: &Promised, is_sequential: bool) -> &'static str {
    match (promised.read_share, is_sequential) {
        (share, true) if share >= 1.0 => "read",
        (share, false) if share >= 1.0 => "randread",
        (share, true) if share <= 0.0 => "write",
        (share, false) if share <= 0.0 => "randwrite",
        (_, true) => "rw",
        (_, false) => "randrw",
    }
}

fn section(promised: &Promised, idx: usize, design: &Design) -> String {
    let iops = issued_iops(promised);
    let workers = (iops / WORKER_IOPS).ceil().clamp(1.0, WORKERS_MAX);
    let rate = |share: f64| ((iops * share / workers).round() as u64).max(1);
    let (reads, writes) = (promised.read_share, 1.0 - promised.read_share);
    let is_sequential = promised.random_share <= 0.0;
    let kind = access(promised, is_sequential);
    let rates = match kind {
        "rw" | "randrw" => format!("{},{}", rate(reads), rate(writes)),
        _ => rate(1.0).to_string(),
    };
    let phase = if promised.phase.is_empty() { "promised" } else { &promised.phase };
    let name = quote::comment(&format!("{phase} {}", promised.volume)).replace(['[', ']'], " ");
    let size = block(issued_bytes(promised));
    let mut text = format!("\n[{name} {size}]\n");
    // With a value, so that fio lists it in its result, which is then read as steps.
    text.push_str(if idx == 0 { "stonewall=1\n" } else { "" });
    let capacity = design.volumes.iter().find(|volume| volume.mount == promised.volume);
    let quarter = capacity.map_or(FILE_BYTES_MAX, |volume| volume.capacity_bytes / 4);
    let bytes = quarter.clamp(1 << 20, FILE_BYTES_MAX) >> 20;
    let folder = promised.volume.trim_end_matches('/');
    let _ = write!(
        text,
        "filename={}\nsize={bytes}m\nrw={kind}\nbs={size}\n",
        plan::escape_path(&quote::comment(&format!("{folder}/plimsoll-promised-{idx}"))),
    );
    if matches!(kind, "rw" | "randrw") {
        let _ = writeln!(text, "rwmixread={:.0}", reads * 100.0);
    }
    if !is_sequential && promised.random_share < 1.0 {
        let _ = writeln!(text, "percentage_random={:.0}", promised.random_share * 100.0);
    }
    let _ = write!(
        text,
        "iodepth={IN_FLIGHT_MAX}\nnumjobs={workers:.0}\ngroup_reporting=1\nnew_group=1\n\
         rate_iops={rates}\n"
    );
    text
}
