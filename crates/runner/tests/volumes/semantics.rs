//! What a plan says holds in virtual time as on a real host.

use record::Figure;

use crate::bench::{Bench, close, iops, one_p30};

const LIBAIO: &str = "ioengine=libaio\ndirect=1\n";

#[test]
fn time_is_the_plans_and_not_the_hosts() {
    let bench = Bench::new(one_p30());
    let record = bench.run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\n{LIBAIO}iodepth=16\nramp_time=5\n\
         runtime=30\ntime_based=1\n"
    ));
    let job = &record.jobs[0];
    close("measured seconds", job.runtime_ns as f64 / 1e9, 30.0, 0.001);
    close("seconds in all", record.elapsed_ns as f64 / 1e9, 35.0, 0.001);
    assert_eq!(record.intervals.len(), 35);
    assert_eq!(record.intervals.iter().filter(|interval| interval.ramp).count(), 5);
    assert_eq!(record.clock.source, "virtual");
    let emulation = record.emulation.as_ref().unwrap();
    assert_eq!((emulation.time.as_str(), emulation.cache.as_str()), ("virtual", "cold"));
    assert_eq!(job.engine_used, "volume");
    assert_eq!((job.cpu_user_ns, job.cpu_system_ns), (0, 0));
}

/// A second that was partly ramp would be marked as the one or the other, and be wrong.
#[test]
fn an_interval_ends_where_the_ramp_does() {
    let bench = Bench::new(one_p30());
    let record = bench.run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\n{LIBAIO}iodepth=16\n\
         ramp_time=2500ms\nruntime=3\ntime_based=1\n"
    ));
    let ends: Vec<_> = record.intervals.iter().map(|it| (it.end_ms, it.ramp)).collect();
    let ramp = [500, 1500, 2500].map(|end_ms| (end_ms, true));
    let measured = [3500, 4500, 5500].map(|end_ms| (end_ms, false));
    assert_eq!(ends, [ramp, measured].concat());
    let of_intervals = record.intervals.iter().filter(|it| !it.ramp).map(|it| it.dirs.read.n_ios);
    // Those in flight at the end complete after the last interval.
    close("reads", of_intervals.sum::<u64>() as f64, record.jobs[0].dirs.read.n_ios as f64, 0.002);
}

#[test]
fn the_same_seed_gives_the_same_record() {
    let bench = Bench::new(one_p30());
    let text = format!(
        "[global]\nsize=1g\nbs=4k-64k\nrw=randrw\n{LIBAIO}iodepth=8\nrandrepeat=1\nruntime=3\n\
         time_based=1\n[a]\nfilename=/mnt/p30/a\nnumjobs=3\n[b]\nfilename=/mnt/p30/b\n\
         rate_iops=500\n"
    );
    let run = || {
        let mut record = bench.run(&text);
        record.started_unix_ms = 0;
        record.jobs.iter_mut().for_each(|job| job.started_unix_ms = 0);
        record
    };
    let (first, second) = (run(), run());
    assert!(first == second, "{}\n{}", first.to_json(), second.to_json());
}

#[test]
fn steps_follow_each_other_and_share_the_volumes() {
    let record = Bench::new(one_p30()).run(&format!(
        "[global]\nfilename=/mnt/p30/f\nsize=1g\nbs=8k\n{LIBAIO}iodepth=16\nruntime=2\n\
         time_based=1\n[first]\nrw=write\n[second]\nstonewall\nrw=randread\nstartdelay=1\n"
    ));
    assert_eq!(record.jobs.len(), 2);
    assert_eq!(record.jobs[1].step_idx, 1);
    let gap_ms = record.jobs[1].started_unix_ms - record.jobs[0].started_unix_ms;
    assert!((3000..3010).contains(&gap_ms), "{gap_ms}");
    close("writes", iops(&record.jobs[0]), 5000.0, 0.01);
}

#[test]
fn think_time_and_depth_hold() {
    let record = Bench::new(one_p30()).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\n{LIBAIO}iodepth=1\n\
         thinktime=9ms\nruntime=10\ntime_based=1\n"
    ));
    // Each I/O takes 1 ms and is followed by 9 ms of nothing.
    close("IOPS", iops(&record.jobs[0]), 100.0, 0.01);
}

#[test]
fn a_synchronous_engine_has_one_operation_in_flight() {
    let record = Bench::new(one_p30()).run(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\nioengine=psync\niodepth=8\n\
         runtime=5\ntime_based=1\n",
    );
    close("IOPS", iops(&record.jobs[0]), 1000.0, 0.01);
}

#[test]
fn a_pass_ends_by_amount_and_syncs_take_time() {
    let record = Bench::new(one_p30()).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=8m\nrw=write\nbs=8k\n{LIBAIO}iodepth=4\nfsync=16\n\
         end_fsync=1\n"
    ));
    let job = &record.jobs[0];
    assert_eq!(job.dirs.write.n_ios, 1024);
    // The one at the end is no latency of the job, as in fio.
    assert_eq!(job.sync.count(), 64);
    assert_eq!(job.error_errno, 0, "{}", job.error_message);
}

#[test]
fn a_full_volume_ends_a_job_that_fills_it() {
    let mut design = one_p30();
    design.volumes[0].capacity_bytes = 64 << 20;
    let record = Bench::new(design).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nfill_device=1\nrw=write\nbs=1m\n{LIBAIO}iodepth=4\n"
    ));
    let job = &record.jobs[0];
    assert_eq!((job.dirs.write.io_bytes, job.error_errno), (64 << 20, 0), "{}", job.error_message);
}

#[test]
fn the_first_end_can_end_all() {
    let record = Bench::new(one_p30()).run(&format!(
        "[global]\nsize=1g\nbs=8k\n{LIBAIO}rw=randread\ntime_based=1\n\
         [short]\nfilename=/mnt/p30/a\nruntime=1\nexitall=1\n[long]\nfilename=/mnt/p30/b\n\
         runtime=100\n"
    ));
    close("seconds in all", record.elapsed_ns as f64 / 1e9, 1.0, 0.01);
}

#[test]
fn a_job_waits_for_another() {
    let record = Bench::new(one_p30()).run(&format!(
        "[global]\nsize=1g\nbs=8k\n{LIBAIO}rw=randread\ntime_based=1\nruntime=1\n\
         [first]\nfilename=/mnt/p30/a\n[second]\nfilename=/mnt/p30/b\nwait_for=first\n"
    ));
    let gap_ms = record.jobs[1].started_unix_ms - record.jobs[0].started_unix_ms;
    assert!((1000..1010).contains(&gap_ms), "{gap_ms}");
}

#[test]
fn a_steady_state_ends_the_job() {
    let record = Bench::new(one_p30()).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\n{LIBAIO}iodepth=16\nruntime=1000\n\
         time_based=1\nss=iops:2%\nss_dur=10\nss_ramp=5\n"
    ));
    let steady = record.jobs[0].steady.as_ref().unwrap();
    assert!(steady.attained, "{steady:?}");
    assert!(record.elapsed_ns < 30_000_000_000, "{}", record.elapsed_ns);
}

#[test]
fn logs_count_in_virtual_time() {
    let bench = Bench::new(one_p30());
    bench.run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\n{LIBAIO}iodepth=16\nruntime=3\n\
         time_based=1\nwrite_iops_log=w\nlog_avg_msec=1000\nwrite_lat_log=l\nwrite_hist_log=h\n\
         log_hist_msec=1000\n"
    ));
    let lines = |name: &str| {
        let text = std::fs::read_to_string(bench.path(name)).expect(name);
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let iops = lines("w_iops.1.log");
    assert_eq!(iops.len(), 3, "{iops:?}");
    assert!(iops[1].starts_with("2000, 5000,"), "{iops:?}");
    // The last line holds what completed after the end.
    assert!((3..=4).contains(&lines("h_clat_hist.1.log").len()));
}

#[test]
fn every_io_is_logged_however_many_complete_together() {
    let bench = Bench::new(one_p30());
    let record = bench.run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=64m\nrw=randread\nbs=4k\n{LIBAIO}iodepth=256\n\
         iodepth_batch_complete_min=256\nwrite_lat_log=l\n"
    ));
    let text = std::fs::read_to_string(bench.path("l_lat.1.log")).expect("the log");
    assert_eq!(text.lines().count() as u64, record.jobs[0].dirs.read.n_ios);
    assert_eq!(record.jobs[0].dirs.read.n_ios, 16384);
}

#[test]
fn a_volume_that_takes_no_time_is_reported() {
    let mut design = one_p30();
    let volume = &mut design.volumes[0];
    volume.latency.mean_ns = 0;
    if let volume::design::Backing::Disks(stripe) = &mut volume.backing {
        stripe.disks[0].cap = volume::Cap::default();
    }
    let record = Bench::new(design).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\n{LIBAIO}runtime=1\ntime_based=1\n"
    ));
    assert_eq!(record.outcome, record::Outcome::Failed);
    assert!(record.notes.iter().any(|note| note.code == "virtual-stuck"), "{:?}", record.notes);
}

#[test]
fn seconds_of_an_open_load_say_how_long_a_user_waited() {
    // 6,000 I/Os per second on 5,000: what completes after t seconds has waited a sixth of them.
    let record = Bench::new(one_p30()).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\n{LIBAIO}iodepth=16\n\
         rate_iops=6000\nruntime=5\ntime_based=1\n"
    ));
    let reads: Vec<_> = record.intervals.iter().map(|it| &it.dirs.read).collect();
    assert_eq!(reads.len(), 5);
    for (second, read) in reads.iter().enumerate() {
        let response = read.response.as_ref().expect("the load is open");
        let worst_s = (second + 1) as f64 / 6.0;
        let longest_ns = response.latency.ns(Figure::Max).unwrap();
        close("longest wait", longest_ns as f64 / 1e9, worst_s, 0.05);
        assert_eq!(read.waited_ns(Figure::P99), response.latency.ns(Figure::P99));
        assert!(read.latency.ns(Figure::Max).unwrap() < 10_000_000, "the device itself is quick");
    }
    let counted: u64 = reads.iter().flat_map(|it| it.waited_counts().iter()).map(|it| it.1).sum();
    let of_job = record.jobs[0].dirs.read.response.as_ref().unwrap().count();
    close("operations in all seconds", counted as f64, of_job as f64, 0.01);
}

#[test]
fn seconds_of_a_closed_load_have_no_response_time() {
    let record = Bench::new(one_p30()).run(&format!(
        "[j]\nfilename=/mnt/p30/f\nsize=1g\nrw=randread\nbs=8k\n{LIBAIO}iodepth=16\nruntime=2\n\
         time_based=1\n"
    ));
    let read = &record.intervals[0].dirs.read;
    let (waited, total) = (read.waited_ns(Figure::P99), read.latency.ns(Figure::P99));
    assert_eq!((&read.response, waited), (&None, total));
}
