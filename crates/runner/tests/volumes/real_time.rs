//! Threads on shared volumes. How late completions are depends on the machine, that none is early
//! or lost does not.

use runner::EmulatedTime;

use crate::bench::{Bench, one_p30};

/// Runs jobs at a pace of so many wall-clock seconds per second.
fn bench(time_scale: f64) -> Bench {
    Bench { time: EmulatedTime::Real(time_scale), ..Bench::new(one_p30()) }
}

#[test]
fn workers_share_the_caps_and_lose_nothing() {
    let record = bench(1.0).run(
        "[global]\nioengine=libaio\ndirect=1\nbs=8k\nsize=8m\n\
         [deep]\nfilename=/mnt/p30/a\nrw=randwrite\niodepth=16\nnumjobs=3\nfsync=100\n\
         [one]\nfilename=/mnt/p30/b\nrw=randread\niodepth=1\nsize=1m\n\
         [sync]\nfilename=/mnt/p30/c\nrw=randread\nioengine=psync\nsize=1m\n",
    );
    let n_ios: Vec<u64> = record.jobs.iter().map(record::JobRecord::n_ios).collect();
    assert_eq!(n_ios, [1024, 1024, 1024, 128, 128]);
    for job in &record.jobs {
        assert_eq!(job.error_errno, 0, "{}", job.error_message);
        assert_eq!(job.engine_used, "volume");
        for (name, dir) in job.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
            // The histogram is exact to a hundredth.
            let least_ns = dir.lat.quantile(0.0).unwrap_or(0);
            assert!(least_ns >= 990_000, "{} {name}: {least_ns} ns", job.name);
        }
        let caps = job.caps.as_ref().expect("caps");
        assert_eq!(caps.caps.len(), 2, "{caps:?}");
    }
    // 3,328 I/Os at 5,000 per second.
    assert!(record.elapsed_ns > 600_000_000, "{}", record.elapsed_ns);
}

#[test]
fn slow_time_is_the_time_of_the_record() {
    let record = bench(4.0).run(
        "[j]\nfilename=/mnt/p30/f\nioengine=libaio\ndirect=1\nbs=8k\nsize=1m\nrw=randread\n\
         iodepth=64\nruntime=200ms\ntime_based=1\n",
    );
    let job = &record.jobs[0];
    let rate_iops = job.dirs.read.rate_iops();
    assert!((100.0..5600.0).contains(&rate_iops), "{rate_iops}");
    assert!(job.runtime_ns >= 200_000_000, "{}", job.runtime_ns);
    assert_eq!(record.emulation.expect("an emulation").time_scale.to_string(), "4");
}
