//! What cannot be run on emulated volumes is refused before anything runs, with the reason.

use runner::EmulatedTime;
use volume::CacheMode;

use crate::bench::{Bench, design, one_p30, p30};

/// Checks the errors of a job on one P30.
#[track_caller]
fn check(options: &str, expected: &[&str]) {
    let text = format!("[j]\nrw=randwrite\nbs=8k\nioengine=libaio\ndirect=1\n{options}");
    assert_eq!(Bench::new(one_p30()).refusal(&text), expected);
}

#[test]
fn a_path_on_no_volume_names_the_mounts() {
    check(
        "filename=/mnt/other/f\nsize=1g\n",
        &["target-on-no-volume: `/mnt/other/f` is not on a volume of the design, whose \
             mounts are `/mnt/p30`"],
    );
    check(
        "filename=/mnt/p300/f\nsize=1g\n",
        &["target-on-no-volume: `/mnt/p300/f` is not on a volume of the design, whose mounts are \
           `/mnt/p30`"],
    );
}

#[test]
fn more_than_the_volume_holds_is_refused() {
    check(
        "directory=/mnt/p30\nsize=600g\nnumjobs=2\n",
        &["volume-full: job `j` brings the files on `/mnt/p30` to 1.17 TiB, but the volume holds \
           1.00 TiB"],
    );
}

#[test]
fn what_a_volume_cannot_do_is_refused() {
    check(
        "filename=/mnt/p30/f\nsize=1g\nverify=crc32c\n",
        &["emulated-no-data: job `j` verifies what it wrote, but the volume of `--on` keeps no \
           data"],
    );
    check(
        "filename=/mnt/p30/f\nsize=1g\nexec_prerun=true\n",
        &["virtual-command: job `j` runs a command of this host (`exec_prerun`), which virtual \
           time cannot hold"],
    );
    check(
        "filename=/mnt/p30/f\nsize=1g\nioengine=null\n",
        &["emulated-engine: job `j`: engine `null` completes at once and never reaches a volume"],
    );
    check(
        "filename=/mnt/p30/f\nsize=1g\nioengine=mmap\n",
        &["emulated-engine: job `j`: engine `mmap` works on the page cache, which is not emulated"],
    );
    check(
        "filename=/mnt/p30/f\n",
        &["size-unknown: job `j` gives no size, and `/mnt/p30/f` does not exist or is empty"],
    );
}

#[test]
fn real_time_refuses_data_too() {
    let bench = Bench { time: EmulatedTime::Real(1.0), ..Bench::new(one_p30()) };
    let text = "[j]\nfilename=/mnt/p30/f\nsize=1m\nrw=write\nverify=md5\n";
    let expected = "emulated-no-data: job `j` verifies what it wrote, but the volume of `--on` \
                    keeps no data";
    assert_eq!(bench.refusal(text), [expected]);
}

#[test]
fn buffered_jobs_are_one_note() {
    let notes = |n_jobs: usize| -> Vec<String> {
        let mut text =
            "[global]\nfilename=/mnt/p30/f\nsize=1g\nrw=read\nio_size=8k\nbs=4k\n".to_owned();
        (0..n_jobs).for_each(|idx| text.push_str(&format!("[j{idx}]\n")));
        let record = Bench::new(one_p30()).run(&text);
        let notes = record.notes.into_iter().filter(|note| note.code == "emulated-page-cache");
        notes.map(|note| note.message).collect()
    };
    let rest = "buffered: the page cache is not emulated, every I/O goes to the volume as with \
                direct=1";
    assert_eq!(notes(1), [format!("job `j0` is {rest}")]);
    assert_eq!(notes(2), [format!("jobs `j0` and `j1` are {rest}")]);
    assert_eq!(notes(5), [format!("jobs `j0`, `j1`, `j2` and 2 more are {rest}")]);
}

#[test]
fn the_longest_mount_path_counts() {
    let volumes = vec![
        p30("/mnt", 1, CacheMode::None),
        p30("/mnt/fast", 2, CacheMode::None),
        p30("/dev/sdc", 1, CacheMode::None),
    ];
    let record = Bench::new(design(None, volumes)).run(
        "[global]\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\niodepth=64\nsize=1g\nruntime=10\n\
         time_based=1\n[slow]\nfilename=/mnt/fas/../f\n[fast]\nfilename=/mnt/fast/a/../f\n\
         [device]\nfilename=/dev/sdc\nsize=50%\n",
    );
    let iops: Vec<_> = record.jobs.iter().map(|job| job.dirs.read.rate_iops().round()).collect();
    let caps = |idx: usize| {
        let caps = record.jobs[idx].caps.as_ref().unwrap();
        caps.caps.iter().map(|cap| cap.mount.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(caps(0), ["/mnt", "/mnt"]);
    assert_eq!(caps(1), ["/mnt/fast", "/mnt/fast"]);
    assert_eq!(caps(2), ["/dev/sdc", "/dev/sdc"]);
    assert_eq!((iops[0], iops[2]), (5000.0, 5000.0));
    assert!(iops[1] > 9000.0, "{iops:?}");
}
