//! What becomes of each value of a job in a parameter file: nothing is left out in silence, because
//! what has no answer here is listed as lost.

use plan::files::{Size, SyncMode};
use plan::param::{self, Category};
use plan::{EngineKind, EngineWork, Job};

use super::Writer;

/// What becomes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// A definition says it, notes what it says otherwise, or Vdbench has nothing that it could
    /// mean there.
    Said,
    /// It is left out.
    Lost,
    /// Without it other bytes would be written than the job writes.
    Harms,
}

impl Writer {
    /// Says whether a job is left out, and notes why: what Vdbench would do instead touches what
    /// the job does not.
    pub(super) fn leaves_out(&mut self, job: &Job) -> bool {
        let name = &job.name;
        if job.tree.is_some() {
            return false;
        }
        if let Some(instead) = not_real(job.engine.kind) {
            let engine = &job.engine.name;
            self.to.lose(format!("`{name}` is left out: engine `{engine}` {instead}"));
            return true;
        }
        let access = job.access();
        if access.trim && !access.read && !access.write {
            self.to.lose(format!("trims: Vdbench has none, and `{name}` is left out"));
            return true;
        }
        let values = param::written(job);
        let harming = values.iter().find(|(param, _)| answer(job, param.name) == Answer::Harms);
        let Some((param, text)) = harming.filter(|_| job.modifies()) else { return false };
        let key = param.fio.first().unwrap_or(&param.name);
        self.to.lose(format!(
            "`{name}` is left out: Vdbench cannot say `{key}={text}`, and would write elsewhere \
             than the job"
        ));
        true
    }

    /// Notes the values of a job that no definition says, those of its parts among them.
    pub(super) fn rest(&mut self, job: &Job) {
        let mut unsaid = |job: &Job, of_part: bool| {
            for (param, text) in param::written(job) {
                let is_asked = !of_part || param.category == Category::Workload;
                if is_asked && answer(job, param.name) != Answer::Said {
                    self.to.lose(format!("`{}={text}`", param.name));
                }
            }
        };
        unsaid(job, false);
        for part in &job.parts {
            let own = Job { workload: part.workload.clone(), parts: Vec::new(), ..job.clone() };
            unsaid(&own, true);
        }
    }
}

/// Says what an engine does that is no I/O on files and devices as Vdbench does it; `None` for
/// those that read and write.
fn not_real(kind: EngineKind) -> Option<&'static str> {
    match kind.traits().work {
        EngineWork::Bytes | EngineWork::MappedBytes => None,
        EngineWork::Nothing => Some("moves nothing, and Vdbench would read and write"),
        EngineWork::ServerBytes => {
            Some("reaches a server by itself, and Vdbench works on mounted files")
        }
        EngineWork::Space(_) => {
            Some("changes sizes of files alone, and Vdbench would read and write")
        }
        EngineWork::Names(_) => Some("works on names, and Vdbench would read and write"),
    }
}

/// Returns what becomes of a value of a job, by our name of its parameter.
fn answer(job: &Job, name: &str) -> Answer {
    let said_if = |is_said: bool| if is_said { Answer::Said } else { Answer::Lost };
    match name {
        // A mapping is written to as a file is, but read and written otherwise.
        "engine" => said_if(job.engine.kind.traits().work != EngineWork::MappedBytes),
        "offset" | "size" => place(job),
        "file_size_bytes" => said_if(job.files.file_size_bytes.is_none_or(|(min, max)| min == max)),
        // Only names below the first folder are written.
        "directories" if job.files.directories.len() > 1 => Answer::Harms,
        "offset_increment" | "zone_mode" | "zone_size_bytes" | "zone_range_bytes"
        | "zone_skip_bytes" | "file_name_format" | "open_directory" | "append" | "verify_only"
        | "create_only" | "read_replay" | "fill_device" => Answer::Harms,
        "flow_id" | "flow_weight" => said_if(job.load.flow.is_some()),
        "sync" => {
            said_if(matches!(job.files.sync, SyncMode::None | SyncMode::Dsync | SyncMode::Sync))
        }
        _ => said_if(is_said(name)),
    }
}

/// Parameters that the definitions say, or note where they say it otherwise; and those of what
/// Vdbench does anyway, or that say nothing of the load: reports and processes.
const SAID: &[&str] = &[
    "access",
    "aligned_to_length",
    "arrivals",
    "block_align_bytes",
    "block_size_bytes",
    "block_size_range",
    "block_size_split",
    "block_size_step_bytes",
    "block_size_weights",
    "clat_percentiles",
    "compress_pct",
    "compress_ratio",
    "description",
    "direct",
    "directories",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "distribution",
    "ends_with_region",
    "even_gaps",
    "exec_after",
    "exec_before",
    "exponential_mean",
    "fadvise",
    "file_names",
    "fsync_on_close",
    "group_reporting",
    "hit_area_bytes",
    "hit_area_read_pct",
    "hit_area_write_pct",
    "invalidate",
    "last_io_waits",
    "lat_percentiles",
    "n_files",
    "n_streams",
    "n_workers",
    "one_cursor",
    "percentiles",
    "power_exponent",
    "queue_depth",
    "ramp_time",
    "random_pct",
    "random_share_pct",
    "rate",
    "rate_iops",
    "rate_periods",
    "rate_spikes",
    "rate_total_iops",
    "read_pct",
    "read_share_pct",
    "refill",
    "repeats_allowed",
    "runtime",
    "scramble",
    "seed_repeats",
    "skip_bytes",
    "slat_percentiles",
    "spread_workers",
    "starts_anywhere",
    "thread",
    "time_based",
];

/// Says whether a parameter is among them, whatever its value.
fn is_said(name: &str) -> bool {
    SAID.contains(&name)
}

/// Says whether a storage definition can say where in its file a job works: by bytes, or by
/// percent, but not by a mix of both nor by zones.
fn place(job: &Job) -> Answer {
    let files = &job.files;
    let is_said = match (files.offset, files.size) {
        (Size::Bytes(from), Some(Size::Percent(_))) => from == 0,
        // With sizes of their own, a job's size is how much it moves.
        (Size::Bytes(_), Some(Size::Bytes(_))) if files.file_size_bytes.is_some() => {
            return Answer::Lost;
        }
        (Size::Bytes(_), None | Some(Size::Bytes(_)))
        | (Size::Percent(_), None | Some(Size::Percent(_))) => true,
        (Size::Percent(_), Some(Size::Bytes(_)))
        | (Size::Zones(_), _)
        | (_, Some(Size::Zones(_))) => false,
    };
    if is_said { Answer::Said } else { Answer::Harms }
}

/// Returns the part of its file that a job's storage definition is limited to, percent.
pub(super) fn range_pct(job: &Job) -> Option<(u8, u8)> {
    let pct_of = |size: Option<Size>| match size {
        Some(Size::Percent(pct)) => Some(pct),
        _ => None,
    };
    let from = pct_of(Some(job.files.offset));
    match (from, job.files.size) {
        (Some(from), None) => Some((from, 100)),
        (Some(from), Some(Size::Percent(pct))) => Some((from, from.saturating_add(pct).min(100))),
        (None, Some(Size::Percent(pct))) if job.files.offset == Size::Bytes(0) => Some((0, pct)),
        _ => None,
    }
}
