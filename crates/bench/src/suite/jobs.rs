//! Steps as a job file of fio: what `bench` runs, and what `suite show --fio` prints.

use std::fmt::Write as _;

use super::labels::block;
use super::{Durable, End, Prepare, Step, StepLoad};

/// Where a place of a suite is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Name of the place; empty for the only one.
    pub place: String,
    /// File or device; below an export, the file's name.
    pub file: String,
    /// Address of an NFS export that the file lies on.
    pub export: Option<String>,
    /// Bytes to work on; 0 is all there is.
    pub size_bytes: u64,
    /// The file takes direct I/O.
    pub takes_direct: bool,
}

/// Shortest and finest window of a steady rate: its samples are a second long.
const WINDOW_S_MIN: u64 = 3;

/// Returns the fill of a place as a job file.
pub fn fill(prepare: &Prepare, site: &Site) -> String {
    let mut text = format!("[fill]\n{}", place(site));
    let _ = write!(
        text,
        "rw=write\nbs={}\niodepth={}\ndirect={}\nsize={}\nfallocate=none\nloops={}\n",
        block(prepare.fill_block_bytes),
        prepare.fill_depth,
        u8::from(site.takes_direct),
        site.size_bytes,
        prepare.n_fills,
    );
    if let Some(ns) = prepare.fill_time_ns {
        let _ = writeln!(text, "runtime={}us", ns / 1000);
    }
    text.push_str("end_fsync=1\n");
    text
}

/// Returns what discards a place as a job file.
pub fn purge(site: &Site) -> String {
    let bytes = site.size_bytes;
    format!("[purge]\n{}rw=trim\nbs=16m\niodepth=1\ndirect=1\nsize={bytes}\n", place(site))
}

/// Returns the steps as a job file. A step is a section, or several with all but the first beside
/// it; the name of a load that has none is its step's.
pub fn job_file(steps: &[Step], sites: &[Site]) -> String {
    let mut text = "[global]\ngroup_reporting=1\nrandrepeat=1\n".to_owned();
    for step in steps {
        for (idx, load) in step.loads.iter().enumerate() {
            let site = sites.iter().find(|site| site.place == load.place);
            let Some(site) = site.or(sites.first()) else { continue };
            let name = if load.name.is_empty() { &step.label } else { &load.name };
            let name = name.replace(['[', ']', '\n'], " ");
            let _ = write!(text, "\n[{name}]\n");
            text.push_str(if idx == 0 { "stonewall\n" } else { "new_group=1\n" });
            text.push_str(&place(site));
            text.push_str(&section(step, load, site));
        }
    }
    text
}

/// Returns the lines that say where.
fn place(site: &Site) -> String {
    let file = plan::escape_path(&site.file);
    match &site.export {
        None => format!("ioengine=io_uring\nfilename={file}\n"),
        Some(url) => format!("ioengine=nfs\nnfs_url={url}\nfilename={file}\n"),
    }
}

fn section(step: &Step, load: &StepLoad, site: &Site) -> String {
    let mut text = format!(
        "rw={}\nbs={}\niodepth={}\nnumjobs={}\ndirect={}\n",
        load.access.as_str(),
        block(load.block_bytes),
        load.depth,
        load.workers,
        u8::from(load.is_direct && site.takes_direct),
    );
    if load.access.is_mixed() {
        let _ = writeln!(text, "rwmixread={}", load.read_pct);
    }
    let _ = match load.durable {
        Durable::Whenever => Ok(()),
        Durable::Fsync(n) => writeln!(text, "fsync={n}"),
        Durable::Fdatasync(n) => writeln!(text, "fdatasync={n}"),
        Durable::EachWhole => writeln!(text, "sync=sync"),
        Durable::Each => writeln!(text, "sync=dsync"),
    };
    text.push_str(&region(load, worked_on(load, site)));
    if let Some(rate) = load.rate_iops {
        let _ = writeln!(text, "rate_iops={}", rates(load, rate));
    }
    if let (Some(n), Some(_)) = (load.connections, &site.export) {
        let _ = writeln!(text, "nfs_nconnect={n}");
    }
    if step.ramp_ns > 0 {
        let _ = writeln!(text, "ramp_time={}us", step.ramp_ns / 1000);
    }
    let _ = writeln!(text, "runtime={}us", step.time_ns / 1000);
    match step.end {
        End::Time => text.push_str("time_based=1\n"),
        End::Pass => {}
        End::Steady { window_ns, excursion_pct } => {
            let window_s = window_ns.div_ceil(1_000_000_000).max(WINDOW_S_MIN);
            let slope_pct = excursion_pct / (window_s - 1) as f64;
            let _ = write!(
                text,
                "time_based=1\nnorandommap=1\nsteadystate=iops_slope:{slope_pct:.6}%\n\
                 steadystate_duration={window_s}\n"
            );
        }
    }
    text
}

/// Returns how many bytes of its place a load works on; 0 is all there is.
fn worked_on(load: &StepLoad, site: &Site) -> u64 {
    match (load.size_bytes, site.size_bytes) {
        (Some(of_load), 0) => of_load,
        (Some(of_load), of_site) => of_load.min(of_site),
        (None, of_site) => of_site,
    }
}

/// Returns a rate as a job has it: of a mix, each direction has its part.
fn rates(load: &StepLoad, rate: u64) -> String {
    if !load.access.is_mixed() {
        return rate.to_string();
    }
    let reads = (rate as f64 * load.read_pct / 100.0).round() as u64;
    format!("{},{}", reads.max(1), rate.saturating_sub(reads).max(1))
}

/// Returns what each worker works on: of a walk each has a part of its own, or all would read what
/// the first has just brought into a cache.
fn region(load: &StepLoad, size_bytes: u64) -> String {
    let workers = u64::from(load.workers.max(1));
    if size_bytes == 0 {
        return String::new();
    }
    let share = size_bytes / workers / load.block_bytes * load.block_bytes;
    if !load.access.is_sequential() || workers == 1 || share == 0 {
        return format!("size={size_bytes}\n");
    }
    format!("size={share}\noffset_increment={share}\n")
}
