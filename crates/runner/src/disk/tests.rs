//! Counters from text, devices below files, and differences over a run.

use std::io::Write;
use std::sync::Arc;

use plan::EngineKind;
use worker::FileRegion;

use super::*;
use crate::bind::{BoundFile, BoundPlan, BoundStep, BoundWorker};

const STAT: &str = "  358001  37045 20876250   394956    47180    75692 24000432   127964        0 \
                    39168   528964    23412      108  8204600     5907     1792      137\n";

#[track_caller]
fn check(text: &str, expected: Option<(u64, u64, u64)>) {
    let stat = BlockStat::parse(text);
    assert_eq!(stat.map(|stat| (stat.write_sectors, stat.busy_ms, stat.in_queue_ms)), expected);
}

#[test]
fn counters_of_all_kernels() {
    check(STAT, Some((24_000_432, 39168, 528_964)));
    // Before Linux 4.18 there were eleven fields.
    check("1 2 3 4 5 6 7 8 9 10 11", Some((7, 10, 11)));
    check("1 2 3 4 5 6 7 8 9 10", None);
    check("1 2 x 4 5 6 7 8 9 10 11", None);
    check("", None);
}

#[test]
fn differences_and_utilisation() {
    let earlier = BlockStat::parse("10 1 80 5 20 2 160 6 0 100 11").unwrap();
    let later = BlockStat::parse("15 1 120 9 20 3 160 6 3 350 20").unwrap();
    let record = later.since(&earlier).record("sda", 1000, Vec::new());
    assert_eq!((record.read_ios, record.read_sectors, record.read_ticks_ms), (5, 40, 4));
    assert_eq!((record.write_ios, record.write_merges, record.in_queue_ms), (0, 1, 9));
    assert!((record.util_pct - 25.0).abs() < 1e-9);
    // A device that came anew counts from zero; that is not a difference.
    assert_eq!(earlier.since(&later).read_ios, 0);
    assert!((later.record("sda", 0, Vec::new()).util_pct - 100.0).abs() < 1e-9);
}

#[test]
fn partitions_count_as_their_disk() {
    let sys = tempfile::tempdir().unwrap();
    let disk = sys.path().join("vda");
    let part = disk.join("vda1");
    fs::create_dir_all(&part).unwrap();
    fs::write(part.join("partition"), "1\n").unwrap();
    assert_eq!(whole_disk(part), disk);
    assert_eq!(whole_disk(disk.clone()), disk);
}

#[test]
fn devices_carry_their_members_and_may_vanish() {
    let sys = tempfile::tempdir().unwrap();
    for name in ["md0/slaves", "sda", "sdb/sdb1"] {
        fs::create_dir_all(sys.path().join(name)).unwrap();
    }
    for name in ["md0", "sda", "sdb", "sdb/sdb1"] {
        fs::write(sys.path().join(name).join("stat"), STAT).unwrap();
    }
    fs::write(sys.path().join("sdb/sdb1/partition"), "1\n").unwrap();
    let slaves = sys.path().join("md0/slaves");
    std::os::unix::fs::symlink(sys.path().join("sda"), slaves.join("sda")).unwrap();
    std::os::unix::fs::symlink(sys.path().join("sdb/sdb1"), slaves.join("sdb1")).unwrap();
    let md = Disk::open(sys.path().join("md0"), DEPTH_MAX).unwrap();
    let names = |record: &DiskRecord| -> Vec<String> {
        record.members.iter().map(|member| member.name.clone()).collect()
    };
    assert_eq!(names(&md.record(10).unwrap()), ["sda", "sdb"]);
    fs::remove_dir_all(sys.path().join("sda")).unwrap();
    assert_eq!(names(&md.record(10).unwrap()), ["sdb"]);
    fs::remove_dir_all(sys.path().join("md0")).unwrap();
    assert_eq!(md.record(10), None);
}

fn bound_to(path: &Path, disk_util: bool) -> BoundPlan {
    let mut job = Job::default();
    job.engine.kind = EngineKind::Sync;
    job.reporting.disk_util = disk_util;
    let file = BoundFile {
        path: path.to_owned(),
        kind: engine::FileKind::Regular,
        region: FileRegion { offset_bytes: 0, len_bytes: 4096 },
        size_bytes: 4096,
        read_only: false,
        rest_bytes: 0,
    };
    let worker = BoundWorker {
        job: Arc::new(job),
        worker_idx: 0,
        files: vec![file.clone(), file],
        amount_bytes: 4096,
        seed: 1,
    };
    BoundPlan { steps: vec![Arc::new(BoundStep { workers: vec![worker] })] }
}

#[test]
fn a_file_counts_on_the_disk_below_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let sampler = DiskSampler::start(bound_to(&path, true).workers());
    if sampler.disks.is_empty() {
        // A file system without a device of its own, as in a container.
        return;
    }
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(&vec![7; 1 << 20]).unwrap();
    file.sync_all().unwrap();
    let disks = sampler.finish();
    assert_eq!(disks.len(), 1, "one device, however many files are on it");
    assert!(disks[0].write_sectors >= 2048, "{:?}", disks[0]);
    assert!((0.0..=100.0).contains(&disks[0].util_pct));
}

#[test]
fn nothing_is_read_unless_wanted() {
    let folder = tempfile::tempdir().unwrap();
    assert!(DiskSampler::start(bound_to(folder.path(), false).workers()).finish().is_empty());
    assert!(
        DiskSampler::start(bound_to(Path::new("/proc/stat"), true).workers()).finish().is_empty()
    );
    assert!(
        DiskSampler::start(bound_to(Path::new("/no/such/file"), true).workers())
            .finish()
            .is_empty()
    );
}
