//! What a job measures, reports and logs.

/// How directions are put together in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unified {
    /// Each direction for itself.
    Separate,
    /// One entry for all.
    Mixed,
    /// Both.
    Both,
}

/// What is measured and shown of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Reporting {
    /// One result per group instead of one per worker.
    pub group_reporting: bool,
    /// Left out of the results.
    pub stats: bool,
    /// Percentiles to print, 0..=100, ascending; at most [`PERCENTILES_MAX`].
    pub percentiles: Vec<f64>,
    /// Percentiles of the time from submission to completion.
    pub clat_percentiles: bool,
    /// Percentiles of the total latency.
    pub lat_percentiles: bool,
    /// Percentiles of the submission latency.
    pub slat_percentiles: bool,
    /// Total latency is not measured.
    pub disable_lat: bool,
    /// Completion latency is not measured.
    pub disable_clat: bool,
    /// Submission latency is not measured.
    pub disable_slat: bool,
    /// Bandwidth and IOPS are not sampled.
    pub disable_bandwidth: bool,
    /// The clock is read as rarely as possible; implies the three switches above.
    pub reduce_clock: bool,
    /// Interval of bandwidth samples.
    pub bandwidth_sample_ms: u32,
    /// Interval of IOPS samples.
    pub iops_sample_ms: u32,
    /// Directions together or apart.
    pub unified: Unified,
    /// Digits of printed values, 1..=10.
    pub significant_figures: u8,
    /// Base of printed prefixes and parsed sizes, 1024 or 1000.
    pub kb_base: u32,
    /// 0 chooses, 8 bytes, 1 bits.
    pub unit_base: u8,
    /// Statistics of the block devices below.
    pub disk_util: bool,
    /// Percentiles of the blocks that failed (trim workloads).
    pub block_error_percentiles: bool,
}

/// Most percentiles a job may ask for: a limit of fio's output formats.
pub const PERCENTILES_MAX: usize = 20;

/// The percentiles that fio prints by default.
pub const DEFAULT_PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

impl Default for Reporting {
    fn default() -> Self {
        Reporting {
            group_reporting: false,
            stats: true,
            percentiles: DEFAULT_PERCENTILES.to_vec(),
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            disable_lat: false,
            disable_clat: false,
            disable_slat: false,
            disable_bandwidth: false,
            reduce_clock: false,
            bandwidth_sample_ms: SAMPLE_MS,
            iops_sample_ms: SAMPLE_MS,
            unified: Unified::Separate,
            significant_figures: 4,
            kb_base: 1024,
            unit_base: 0,
            disk_util: true,
            block_error_percentiles: false,
        }
    }
}

/// Interval of bandwidth and I/O rate samples that is not set, in milliseconds; fio's.
const SAMPLE_MS: u32 = 500;

impl Reporting {
    /// Returns the intervals at which bandwidth and I/O rate are sampled, in milliseconds.
    ///
    /// As in fio, a log of one of them brings its window along where no interval is set, so that
    /// the report and the log show the same minimum, maximum and deviation.
    pub fn sample_intervals_ms(&self, logs: &Logs) -> [u32; 2] {
        let interval = |set_ms: u32, log: &Option<String>| match log {
            Some(_) if logs.window_ms > 0 && set_ms == SAMPLE_MS => logs.window_ms,
            _ => set_ms,
        };
        [
            interval(self.bandwidth_sample_ms, &logs.bandwidth),
            interval(self.iops_sample_ms, &logs.iops),
        ]
    }
}

/// What a windowed latency log line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogValue {
    /// The mean of the window.
    Average,
    /// The largest value.
    Max,
    /// Both.
    Both,
}

/// Log files, in fio's formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logs {
    /// Prefix of the bandwidth log.
    pub bandwidth: Option<String>,
    /// Prefix of the IOPS log.
    pub iops: Option<String>,
    /// Prefix of the three latency logs.
    pub latency: Option<String>,
    /// Prefix of the completion latency histogram log.
    pub histogram: Option<String>,
    /// Window of all but the histogram log; 0 logs every I/O.
    pub window_ms: u32,
    /// What a window's latency line holds.
    pub value: LogValue,
    /// Window of the histogram log.
    pub histogram_window_ms: u32,
    /// Columns of the histogram log are 1856 / 2^this, 0..=6.
    pub histogram_coarseness: u8,
    /// An offset column.
    pub offset: bool,
    /// A priority column.
    pub priority: bool,
    /// An issue time column.
    pub issue_time: bool,
    /// Times count from the Unix epoch.
    pub unix_epoch: bool,
    /// Workers have a file each.
    pub per_worker: bool,
    /// Log files are compressed (`.fz`).
    pub compressed: bool,
    /// Record the I/O to this file, to be replayed.
    pub write_replay: Option<String>,
    /// Replay the I/O of these files.
    pub read_replay: Vec<String>,
    /// Replay details.
    pub replay: Replay,
}

/// How a recorded run is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Issue without the recorded waits.
    pub no_stall: bool,
    /// Recorded waits in percent.
    pub time_scale_pct: u32,
    /// All I/O goes to this target.
    pub redirect: Option<String>,
    /// Align offsets, bytes; 0 is off.
    pub align_bytes: u32,
    /// Divide offsets by this, at least 1.
    pub scale: u32,
    /// Leave out reads, writes, trims, syncs.
    pub skip: [bool; 4],
}

impl Default for Logs {
    fn default() -> Self {
        Logs {
            bandwidth: None,
            iops: None,
            latency: None,
            histogram: None,
            window_ms: 0,
            value: LogValue::Average,
            histogram_window_ms: 0,
            histogram_coarseness: 0,
            offset: false,
            priority: false,
            issue_time: false,
            unix_epoch: false,
            per_worker: true,
            compressed: false,
            write_replay: None,
            read_replay: Vec::new(),
            replay: Replay {
                no_stall: false,
                time_scale_pct: 100,
                redirect: None,
                align_bytes: 0,
                scale: 1,
                skip: [false; 4],
            },
        }
    }
}
