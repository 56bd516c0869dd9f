//! A volume's load in a phase as a job.

use ::needs::{
    Amount, Figure, IoSizes, LoadRequirement, Needs, PhaseName, VolumeRequirement, mount,
};
use plan::workload::HitArea;
use plan::{Diagnostic, Span};

use crate::sections::{RawOption, Section};

/// How long a phase is run, unless `--set runtime=` says: as long as ten windows of a cap and
/// most credits of a machine's start need.
const PHASE_S: u64 = 60;

/// What a volume holds where nothing says it, bytes.
const SIZE_BYTES: u64 = 8 << 30;

/// I/Os that fit into flight at least where their number is not written: what was in flight on
/// the captured host was at its latency, and a slower volume has more of them.
const DEPTH_MIN: f64 = 32.0;
/// I/Os that fit into flight beyond what the rate needs: 16 for each disk of the widest stripe. At
/// random places some disks have a longer queue than others, and with 6 each a stripe that is full
/// does 98 % of what its disks can.
const DEPTH_OF_STRIPE: f64 = 1024.0;
/// Memory that these may take, bytes: large I/Os are spread over several disks each.
const IN_FLIGHT_BYTES: f64 = 268_435_456.0;
/// Latency that there is room for then, milliseconds: clouds promise single digits.
const LATENCY_MS: f64 = 10.0;
/// Most I/Os in flight of a job.
const DEPTH_MAX: f64 = 65_536.0;

/// One percent of what weights of sizes add up to.
const PERCENT: u32 = 10_000;

/// Throughput that exceeds IOPS x size by more than this is noted.
const TOLERANCE: f64 = 0.05;

/// A job, and what is to be known of it.
pub(super) struct Job {
    pub(super) section: Section,
    pub(super) notes: Vec<Diagnostic>,
}

/// Makes an option by one of our names.
pub(super) fn option(key: &str, value: Option<String>) -> RawOption {
    let start = Span { source_idx: Some(0), line: 1, column: 1, bytes: 0..0 };
    RawOption::ours(key, value, &start)
}

/// Makes the section of a job.
pub(super) fn make_section(name: String, options: Vec<(&str, String)>) -> Section {
    let span = Span { source_idx: Some(0), line: 1, column: 1, bytes: 0..0 };
    let options = options.into_iter().map(|(key, value)| option(key, Some(value)));
    Section { name, span, is_global: false, options: options.collect() }
}

/// Makes the job of a volume in a phase.
///
/// # Errors
/// What is not known, and cannot be run therefore.
pub(super) fn section(
    needs: &Needs,
    volume: &VolumeRequirement,
    load: &LoadRequirement,
) -> Result<Job, Diagnostic> {
    let mut notes = Vec::new();
    let at = format!("{}, {}", volume.name, load.phase);
    let missing = |what: &str, help: &str| {
        Diagnostic::error("not-known", format!("{at}: {what} is not known")).help(help)
    };
    let size = load.io_size_bytes.as_ref().ok_or_else(|| {
        missing("the size of I/Os", "write `io_size_kib = ..`, or both `iops` and throughput")
    })?;
    let iops = load.iops.as_ref().ok_or_else(|| missing("IOPS", "write `iops = ..`"))?;
    let read = load
        .read_share
        .as_ref()
        .ok_or_else(|| missing("the share of reads", "write `read_percent = ..`"))?;
    if iops.value <= 0.0 {
        return Err(missing("IOPS above 0", "leave the volume out of the phase"));
    }
    let written = written(needs, &volume.name, load.phase);
    let sizes = load.io_sizes.clone().unwrap_or_else(|| IoSizes::new(None, size.value));
    let (options, is_assumed) = region(volume);
    let mut options: Vec<(&str, String)> = options;
    if is_assumed {
        let name = &volume.name;
        let text = format!(
            "{name}: `capacity_gib` is not given: 8 GiB are assumed; write \
            `capacity_gib = ..`"
        );
        notes.push(Diagnostic::note("capacity-assumed", text));
    }
    let stated = written.and_then(|load| load.queue_depth.as_ref());
    let random = load.random_share.as_ref().map_or(1.0, |share| share.value);
    options.extend(walk(volume, (read.value, random), (iops.value, &sizes)));
    options.extend(sizes_options(&sizes));
    let depth = depth(load.queue_depth.as_ref(), stated, iops.value, size.value);
    options.push(("queue_depth", depth.to_string()));
    options.push(("rate_total_iops", rate_text(iops.value)));
    options.push(("runtime", format!("{PHASE_S}s")));
    if let Some(bytes) = &load.throughput_bytes_per_s
        && bytes.value > iops.value * size.value * (1.0 + TOLERANCE)
    {
        let (asked, reached) = (
            units::format_rate_mb_s(bytes.value),
            units::format_rate_mb_s(iops.value * size.value),
        );
        let text = format!(
            "{at}: IOPS and throughput have their peaks at different times: {reached} is run, \
             which is IOPS x size, and {asked} is asked for"
        );
        notes.push(Diagnostic::warning("throughput-not-run", text));
    }
    let name = format!("{} {}", load.phase, volume.name);
    Ok(Job { section: make_section(name, options), notes })
}

/// Returns the entry of the file for a volume in a phase, or in the one that a peak was made of.
fn written<'a>(needs: &'a Needs, volume: &str, phase: PhaseName) -> Option<&'a ::needs::NeedLoad> {
    let phases = [phase, PhaseName::Normal, PhaseName::OffPeak];
    let found = phases.into_iter().find_map(|name| needs.phase(name));
    found.and_then(|phase| phase.load(volume))
}

/// Returns whether the size of what a volume's job works on is assumed, and the size, bytes.
fn region_bytes(volume: &VolumeRequirement) -> (bool, f64) {
    let size_gib = volume.working_set_gib.as_ref().or(volume.capacity_gib.as_ref());
    let size_gib = size_gib.map(|size| size.value).filter(|size| *size > 0.0);
    let bytes = size_gib.map_or(SIZE_BYTES, |gib| (gib * (1_u64 << 30) as f64) as u64);
    // Whole megabytes, and room for the largest I/O.
    (size_gib.is_none(), (bytes >> 20 << 20).max(1 << 20) as f64)
}

/// Returns where a volume's job works, and whether its size is assumed.
pub(super) fn region(volume: &VolumeRequirement) -> (Vec<(&'static str, String)>, bool) {
    let (is_assumed, bytes) = region_bytes(volume);
    let folder = mount(&volume.name);
    let file = plan::escape_path(&format!("{folder}/plimsoll.load"));
    let options = vec![
        ("engine", "io_uring".to_owned()),
        ("file_names", file),
        ("size", bytes.to_string()),
        ("direct", "1".to_owned()),
        ("repeats_allowed", "1".to_owned()),
        ("time_based", "1".to_owned()),
    ];
    (options, is_assumed)
}

/// Returns the directions and walk of shares of reads and of random I/Os, 0 to 1.
fn mix(read_share: f64, random_share: f64) -> Vec<(&'static str, String)> {
    let is_random = random_share > 0.0;
    let access = match (is_random, read_share) {
        (true, share) if share >= 1.0 => "randread",
        (true, share) if share <= 0.0 => "randwrite",
        (true, _) => "randrw",
        (false, share) if share >= 1.0 => "read",
        (false, share) if share <= 0.0 => "write",
        (false, _) => "rw",
    };
    let mut options = vec![("access", access.to_owned())];
    if access.ends_with("rw") {
        options.push(percent("read_pct", "read_share_pct", read_share));
    }
    if is_random && random_share < 1.0 {
        options.push(percent("random_pct", "random_share_pct", random_share));
    }
    options
}

/// Returns the option of a share: by the first name in whole percents, which other tools know too,
/// by the second where it is finer.
fn percent(whole: &'static str, fine: &'static str, share: f64) -> (&'static str, String) {
    let text = ::needs::number(share * 100.0);
    (if text.contains('.') { fine } else { whole }, text)
}

/// Returns the options of a volume's mix, as [`mix`] does; where it is stated which share of reads
/// at random places a cache answers, that share goes to a small area at the start, which is soon in
/// any cache, and the rest to places behind it.
pub(super) fn walk(
    volume: &VolumeRequirement,
    (read_share, random_share): (f64, f64),
    (iops, sizes): (f64, &IoSizes),
) -> Vec<(&'static str, String)> {
    let hits = volume.hit_share.as_ref().map_or(0.0, |share| share.value.clamp(0.0, 1.0));
    let share = hits * random_share;
    if share <= 0.0 || read_share <= 0.0 {
        return mix(read_share, random_share);
    }
    // What follows one another misses, so that it is a larger part of what is left.
    let left = if share < 1.0 { (random_share - share) / (1.0 - share) } else { random_share };
    let mut options = mix(read_share, 1.0);
    if random_share < 1.0 {
        let shares = [left, random_share].map(|share| format!("{:.0}", share * 100.0));
        options.push(("random_pct", shares.join(",")));
    }
    let sizes = || sizes.weighted.iter().map(|(bytes, weight)| (f64::from(*bytes), *weight));
    let weight: f64 = sizes().map(|(_, weight)| f64::from(weight)).sum();
    let bytes: f64 = sizes().map(|(bytes, weight)| bytes * f64::from(weight)).sum();
    let largest = sizes().map(|(bytes, _)| bytes).fold(1.0, f64::max);
    let area = HitArea::bytes_for(iops * read_share * share, bytes / weight.max(1.0));
    let (_, of_region) = region_bytes(volume);
    // Whole blocks of the largest I/O, and most of the region is left for what misses.
    let n_blocks = (area / largest).ceil().clamp(1.0, (of_region / 4.0 / largest).max(1.0));
    options.push(("hit_area_bytes", format!("{:.0}", n_blocks * largest)));
    options.push(("hit_area_read_pct", ::needs::number(share * 100.0)));
    options
}

/// Returns the parameters that say sizes with their weights, and where I/Os begin.
pub(super) fn sizes_options(sizes: &IoSizes) -> Vec<(&'static str, String)> {
    let weighted = &sizes.weighted;
    if let [(bytes, _)] = weighted[..] {
        return vec![("block_size_bytes", bytes.to_string())];
    }
    let joined = |mark: char, unit: u32| {
        let words =
            weighted.iter().map(|(bytes, weight)| format!("{bytes}{mark}{}", weight / unit));
        words.collect::<Vec<_>>()
    };
    // Other tools know whole percents.
    let mut options = vec![if weighted.iter().all(|(_, weight)| weight % PERCENT == 0) {
        ("block_size_split", joined('/', PERCENT).join(":"))
    } else {
        ("block_size_weights", joined(':', 1).join(","))
    }];
    // The smallest size is what places are multiples of unless something else is written.
    let smallest = weighted.first().map(|(bytes, _)| *bytes);
    if smallest != Some(sizes.step_bytes()) {
        options.push(("block_align_bytes", sizes.step_bytes().to_string()));
    }
    options
}

/// Returns how many I/Os may be in flight: as many as a person wrote, else room for a slower
/// volume, since the rate is the limit.
fn depth(required: Option<&Amount>, stated: Option<&Figure>, iops: f64, size_bytes: f64) -> u64 {
    let depth = required.map_or(0.0, |depth| depth.value);
    let is_by_hand = stated.is_some_and(|figure| figure.label == ::needs::Label::Assumed);
    let of_rate = iops * LATENCY_MS / 1e3;
    let of_stripe = (DEPTH_OF_STRIPE + of_rate).min(IN_FLIGHT_BYTES / size_bytes.max(1.0));
    let depth = if is_by_hand { depth } else { depth.max(DEPTH_MIN).max(of_rate).max(of_stripe) };
    depth.ceil().clamp(1.0, DEPTH_MAX) as u64
}

fn rate_text(iops: f64) -> String {
    ::needs::number(iops.max(0.001))
}
