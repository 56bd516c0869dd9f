//! A suite over many machines as a parameter file of Vdbench: the machines, files and threads of
//! the document that it is from, which a plan has no words for.

use std::fmt::Write as _;

use super::labels::block;
use super::{Layout, Prepare, Step, StepLoad};

/// Returns the whole set-up as one parameter file: machines, files, the fill, and a run per step.
///
/// Its machines are named `vm1` and on; their files lie in `/mnt/vdb1` and on. Steps of several
/// loads, and syncs, are not said: suites with a layout have none.
pub fn parameter_file(layout: &Layout, prepare: &Prepare, steps: &[Step]) -> String {
    let mut text = "hd=default,jvms=1,shell=ssh,user=root\n".to_owned();
    for machine in 1..=layout.n_machines {
        let _ = writeln!(text, "hd=vm{machine},system=vm{machine}");
    }
    let size = block(layout.file_bytes);
    let _ = writeln!(text, "\nsd=default,size={size},openflags=o_direct");
    for machine in 1..=layout.n_machines {
        for file in 1..=layout.n_files {
            let _ = writeln!(
                text,
                "sd=sd-{machine}-{file},host=vm{machine},lun=/mnt/vdb{file}/file-{machine}-{file}"
            );
        }
    }
    text.push('\n');
    let loads = steps.iter().flat_map(|step| step.loads.iter().map(move |load| (step, load)));
    if prepare.n_fills > 0 {
        let bytes = block(prepare.fill_block_bytes);
        let _ = writeln!(text, "wd=Fill,sd=sd*,rdpct=0,seekpct=eof,xfersize={bytes}");
    }
    for (step, load) in loads.clone() {
        let _ = writeln!(text, "wd={},sd=sd*,{}", name(&step.label), workload(load));
    }
    text.push('\n');
    if prepare.n_fills > 0 {
        let threads = (prepare.fill_depth / layout.n_files.max(1)).max(1);
        let most_s = prepare.fill_time_ns.map_or(FILL_S_MAX, |ns| ns.div_ceil(NS_PER_S));
        let _ = writeln!(
            text,
            "rd=Fill,wd=Fill,sd=sd*,iorate=max,interval=1,threads={threads},elapsed={most_s}"
        );
    }
    for (step, load) in loads {
        let name = name(&step.label);
        let rate = load.rate_iops.map_or("max".to_owned(), |rate| rate.to_string());
        let (warmup_s, elapsed_s) = (step.ramp_ns / NS_PER_S, step.time_ns.div_ceil(NS_PER_S));
        let _ = write!(text, "rd={name},wd={name},sd=sd*,iorate={rate},threads={}", load.depth);
        if warmup_s > 0 {
            let _ = write!(text, ",warmup={warmup_s}");
        }
        let _ = writeln!(text, ",elapsed={elapsed_s},interval=1");
    }
    text
}

const NS_PER_S: u64 = 1_000_000_000;

/// Longest fill where the suite names no time, seconds: a month: Vdbench needs an elapsed time.
const FILL_S_MAX: u64 = 30 * 86_400;

fn workload(load: &StepLoad) -> String {
    let seek_pct = if load.access.is_sequential() { 0 } else { 100 };
    let size = block(load.block_bytes);
    format!("rdpct={},seekpct={seek_pct},xfersize={size}", load.read_share_pct())
}

/// Returns a label as a name that Vdbench takes.
fn name(label: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = label.replace(", ", "-").chars().map(plain).collect();
    name
}
