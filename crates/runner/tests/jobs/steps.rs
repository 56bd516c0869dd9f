//! Steps of jobs that mix several workloads, with commands, pauses and rates around them.

use plan::job::{Part, PartRegion};
use plan::workload::{Access, BlockSize};
use plan::{PerDir, Plan};

use crate::bench::Bench;

/// Makes the plan of one job on one file of 4 MiB, which `change` may change.
fn plan(bench: &Bench, change: impl FnOnce(&mut plan::Job)) -> Plan {
    let text = "[sd1]\nfilename=@/v1\nsize=4m\nioengine=psync\nbs=4k\nrw=randread\n";
    let mut plan = bench.plan(text);
    plan.jobs_mut().for_each(|job| job.load.queue_depth = 4);
    change(&mut plan.steps[0].jobs[0]);
    plan
}

fn part(name: &str, weight: f64, access: Access, block_bytes: u32) -> Part {
    let mut part = Part { name: name.to_owned(), weight, ..Part::default() };
    part.workload.access = Access { random: true, ..access };
    part.workload.block_size = PerDir::all(BlockSize::Fixed(block_bytes));
    part
}

const WRITE: Access = Access { read: false, write: true, ..Access::READ };

#[test]
fn a_job_of_parts_reports_each_of_them() {
    let bench = Bench::new();
    let plan = plan(&bench, |job| {
        let mut low = part("low", 3.0, Access::READ, 4096);
        low.region = PartRegion::Pct(0.0, 50.0);
        job.parts = vec![low, part("all", 1.0, WRITE, 65536)];
        job.n_workers = 2;
        job.reporting.group_reporting = true;
        job.limits.n_ios_max = Some(1000);
        job.files.io_size = Some(plan::files::Size::Bytes(1 << 40));
    });
    let record = bench.run_plan(&plan, |_| {}, &mut |_| {});
    let job = &record.jobs[0];
    assert_eq!((job.error_errno, job.n_workers), (0, 2), "{}", job.error_message);
    let names: Vec<_> = job.series.iter().map(|it| (it.part.as_str(), it.op.as_str())).collect();
    assert_eq!(names, [("low", "read"), ("all", "write")]);
    let [low, all] = &job.series[..] else { panic!("two series") };
    assert_eq!(low.n_ios + all.n_ios, 2000);
    assert!(low.n_ios.abs_diff(1500) <= 8, "{}", low.n_ios);
    assert_eq!((low.io_bytes, all.io_bytes), (low.n_ios * 4096, all.n_ios * 65536));
    assert_eq!((low.n_ios, all.n_ios), (job.dirs.read.n_ios, job.dirs.write.n_ios));
    assert_eq!(
        (low.lat.clone(), all.lat.clone()),
        (job.dirs.read.lat.clone(), job.dirs.write.lat.clone())
    );
}
