//! What a job that mixes several workloads must keep to. Pure.

use std::path::Path;

use plan::job::Part;
use plan::{Diagnostic, Job};
use worker::FileRegion;

/// Returns what stands against the parts of a job, whatever its files.
pub(crate) fn check(job: &Job) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = job.parts.iter().filter_map(|it| weight(job, it)).collect();
    if !job.parts.is_empty() {
        findings.extend(mixable(job));
    }
    findings
}

/// A part's weight is a number above 0, unless its own rate stands in its place.
fn weight(job: &Job, part: &Part) -> Option<Diagnostic> {
    if part.rate_iops.is_some() || (part.weight.is_finite() && part.weight > 0.0) {
        return None;
    }
    let (job, name, weight) = (&job.name, &part.name, part.weight);
    let text = format!("part `{name}` of job `{job}` has a weight of {weight}, not above 0");
    Some(Diagnostic::error("part-weight", text).help("leave the part out, or give it a share"))
}

/// What parts cannot be combined with.
fn mixable(job: &Job) -> Option<Diagnostic> {
    let of_any = |has: fn(&plan::workload::Workload) -> bool| job.workloads().any(has);
    let problem = if job.verify.method.is_some() {
        "verifies what it wrote"
    } else if job.engine.kind.is_of_names() {
        "works on whole files"
    } else if of_any(|workload| !workload.recordings.is_empty()) {
        "replays recorded operations"
    } else if of_any(|workload| workload.access.trim_then_write) {
        "writes after each trim"
    } else {
        return None;
    };
    let text = format!("job `{}` mixes several workloads and {problem}", job.name);
    Some(Diagnostic::error("parts-cannot", text).help("make a job of its own of each workload"))
}

/// Reports that a part's region of a file holds less than one of its blocks.
pub(crate) fn too_small(job: &Job, path: &Path, file: FileRegion) -> Option<Diagnostic> {
    let room = |part: &&Part| {
        let block_bytes = part.workload.block_size_max();
        let region = file.of_part(part.region, part.workload.block_size_min());
        region.len_bytes < u64::from(block_bytes)
    };
    let part = job.parts.iter().find(room)?;
    let len_bytes = file.of_part(part.region, part.workload.block_size_min()).len_bytes;
    let (job, name, block_bytes) = (&job.name, &part.name, part.workload.block_size_max());
    let text = format!(
        "part `{name}` of job `{job}` has {len_bytes} B of `{}` to work on, less than one block of \
         {block_bytes} B",
        path.display()
    );
    Some(Diagnostic::error("part-too-small", text).help("widen its range, or the file"))
}

#[cfg(test)]
mod tests {
    use plan::job::PartRegion;
    use plan::verify::VerifyMethod;
    use plan::workload::BlockSize;
    use plan::{EngineKind, NameOp, PerDir};

    use super::*;

    fn job(change: impl FnOnce(&mut Job)) -> Job {
        let part = Part { name: "wd1".to_owned(), ..Part::default() };
        let mut job = Job { name: "sd1".to_owned(), parts: vec![part], ..Job::default() };
        change(&mut job);
        job
    }

    #[track_caller]
    fn expect(change: impl FnOnce(&mut Job), expected: &[&str]) {
        let said: Vec<String> = check(&job(change)).into_iter().map(|it| it.message).collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn what_cannot_be_mixed_is_refused() {
        expect(|_| {}, &[]);
        expect(|job| job.parts.clear(), &[]);
        let weight = "part `wd1` of job `sd1` has a weight of 0, not above 0";
        expect(|job| job.parts[0].weight = 0.0, &[weight]);
        let weight = "part `wd1` of job `sd1` has a weight of NaN, not above 0";
        expect(|job| job.parts[0].weight = f64::NAN, &[weight]);
        let verifies = "job `sd1` mixes several workloads and verifies what it wrote";
        expect(|job| job.verify.method = Some(VerifyMethod::Crc32c), &[verifies]);
        let whole = "job `sd1` mixes several workloads and works on whole files";
        expect(|job| job.engine.kind = EngineKind::Names(NameOp::FileStat), &[whole]);
        let trims = "job `sd1` mixes several workloads and writes after each trim";
        expect(|job| job.parts[0].workload.access.trim_then_write = true, &[trims]);
    }

    #[test]
    fn a_part_needs_room_for_a_block() {
        let file = FileRegion { offset_bytes: 0, len_bytes: 1 << 20 };
        let said = |region, block| {
            let job = job(|job| {
                job.parts[0].region = region;
                job.parts[0].workload.block_size = PerDir::all(BlockSize::Fixed(block));
            });
            too_small(&job, Path::new("v1"), file).map(|it| it.message)
        };
        assert_eq!(said(PartRegion::Whole, 1 << 20), None);
        assert_eq!(said(PartRegion::Pct(0.0, 10.0), 4096), None);
        let text = "part `wd1` of job `sd1` has 0 B of `v1` to work on, less than one block of \
                    131072 B";
        assert_eq!(said(PartRegion::Pct(40.0, 45.0), 131_072).as_deref(), Some(text));
        assert!(said(PartRegion::Bytes(1 << 20, 1 << 21), 4096).is_some());
    }
}
