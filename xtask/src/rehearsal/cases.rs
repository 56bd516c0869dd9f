//! What is run: reads of one P30, and what the source documents print for them.

/// A load, and the figure that must come out.
pub(crate) struct Case {
    block_kib: u32,
    depth: u32,
    /// I/Os per second, as printed.
    pub(crate) printed_iops: f64,
}

const fn case(block_kib: u32, depth: u32, printed_iops: f64) -> Case {
    Case { block_kib, depth, printed_iops }
}

/// By size with requests enough, then by depth.
pub(crate) static CASES: [Case; 8] = [
    case(8, 32, 5000.0),
    case(32, 32, 5000.0),
    case(64, 32, 3200.0),
    case(1024, 32, 200.0),
    case(8, 1, 1000.0),
    case(8, 4, 4000.0),
    case(8, 5, 5000.0),
    case(8, 128, 5000.0),
];

/// What is not recorded of a run, seconds: caps and depth have settled by then.
const RAMP_S: u32 = 2;

impl Case {
    /// Returns what tables call it.
    pub(crate) fn name(&self) -> String {
        format!("{} KiB at depth {}", self.block_kib, self.depth)
    }

    /// Returns a job file for fio and us. `place` says where its file is, and how to reach it.
    pub(crate) fn job(&self, seconds: u32, place: &str) -> String {
        let Case { block_kib, depth, .. } = self;
        format!(
            "[p30]\nrw=randread\nbs={block_kib}k\niodepth={depth}\nsize=64m\ndirect=1\n\
             time_based\nramp_time={RAMP_S}\nruntime={seconds}\nfilename=t\n{place}"
        )
    }
}
