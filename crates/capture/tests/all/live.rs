//! A running host, from texts of /proc.

use capture::live::{Cgroup, Delta, Live, Moment, Scope, Texts, delta, is_partition};
use capture::{Captured, Collector};
use proptest::prelude::*;

use crate::common::{assert_near, notes, volume};

const S: u64 = 1_000_000_000;
/// 2026-11-21 09:00:00 as the host's clock reads.
const NINE: i64 = 1_795_251_600_000_000_000;

/// Takes looks, one a second.
struct Watch {
    live: Live,
    collector: Collector,
    n_looks: u64,
    /// By how much the time of day was set.
    stepped_s: i64,
}

impl Watch {
    fn new(scope: Scope) -> Self {
        let mut collector = Collector::new();
        collector.begin("live", "live");
        Watch { live: Live::new(scope), collector, n_looks: 0, stepped_s: 0 }
    }

    fn look(&mut self, texts: &Texts<'_>) {
        let monotonic_ns = self.n_looks * S;
        let local_ns = NINE + self.n_looks as i64 * S as i64 + self.stepped_s * S as i64;
        let moment = Moment { local_ns, monotonic_ns };
        self.live.take(moment, texts, &mut |event| self.collector.take(event));
        self.n_looks += 1;
    }

    fn disks(&mut self, diskstats: &str) {
        self.look(&Texts { diskstats, ..Texts::default() });
    }

    fn end(self) -> Captured {
        self.end_with(&[])
    }

    /// Ends, with these devices as volumes.
    fn end_with(mut self, wanted: &[String]) -> Captured {
        self.live.finish(&mut |event| self.collector.take(event));
        self.collector.finish(wanted)
    }
}

/// A line of diskstats with these reads, sectors read, ms reading and writes.
fn line(number: &str, name: &str, [reads, sectors, ms, writes]: [u64; 4]) -> String {
    format!(" {number} {name} {reads} 0 {sectors} {ms} {writes} 3 80 7 5 900 {ms} 2 0 16 1 4 9\n")
}

#[test]
fn differences_of_diskstats() {
    let mut watch = Watch::new(Scope::default());
    // sda1 is a part of sda, dm-0 lies on it.
    let look = |n: u64| {
        let figures = [1000 + n * 100, 8000 + n * 1600, 500 + n * 200, 10 + n * 50];
        ["8 0 sda", "8 1 sda1", "253 0 dm-0"]
            .map(|id| {
                let (number, name) = id.rsplit_once(' ').expect("two parts");
                line(number, name, figures)
            })
            .concat()
    };
    (0..4).for_each(|n| watch.disks(&look(n)));
    let captured = watch.end();
    let names: Vec<&str> = captured.volumes.iter().map(|volume| volume.name.as_str()).collect();
    assert_eq!(names, ["sda"]);
    let samples = &volume(&captured, "sda").samples;
    assert_eq!(samples.len(), 3);
    let sample = samples[0];
    assert_near(sample.n_ios(), 150.0);
    // 1,600 sectors; 100 reads that waited 200 ms in all.
    assert_near(sample.read.bytes, 819_200.0);
    assert_near(sample.read.wait_ns, 200e6);
    assert_near(sample.in_flight_ns, 200e6);
    assert_eq!(capture::iso(sample.end_ns), "2026-11-21 09:00:01");
    let notes = notes(&captured);
    assert!(notes.contains("dm-0 left out"), "{notes}");
    assert!(notes.contains("the figures include the I/O of other processes"), "{notes}");
}

#[test]
fn renames_restarts_and_devices_that_go() {
    let mut watch = Watch::new(Scope::default());
    watch.disks(&[line("8 0", "sda", [100, 0, 0, 0]), line("8 16", "sdb", [5, 0, 0, 0])].concat());
    watch.disks(&[line("8 0", "sda", [200, 0, 0, 0]), line("8 16", "sdb", [9, 0, 0, 0])].concat());
    // sda is called sdz, sdb is gone, sdc is new.
    let third = [line("8 0", "sdz", [300, 0, 0, 0]), line("8 32", "sdc", [7, 0, 0, 0])].concat();
    watch.disks(&third);
    // The counters of sdz begin anew; the clock is set by an hour.
    watch.stepped_s = 3600;
    watch.disks(&[line("8 0", "sdz", [5, 0, 0, 0]), line("8 32", "sdc", [8, 0, 0, 0])].concat());
    watch.disks(&[line("8 0", "sdz", [15, 0, 0, 0]), line("8 32", "sdc", [8, 0, 0, 0])].concat());
    let captured = watch.end();
    let counts: Vec<Option<f64>> =
        volume(&captured, "sda").samples.iter().map(capture::Sample::n_ios).collect();
    assert_eq!(counts, [Some(100.0), Some(100.0), Some(10.0)]);
    let notes = notes(&captured);
    for part in [
        "sda (8:0) is called sdz now",
        "sdb is no longer there",
        "sdc was not there at the start",
        "the counters of sdz restarted",
        "the clock was set by +3600.0 s",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

/// A loop device that is removed and added again: its counters begin anew. The seconds without it,
/// and the one in which it came back, have no sample.
#[test]
fn a_device_that_comes_back_is_noted_with_both_times() {
    let mut watch = Watch::new(Scope::default());
    let sda = line("8 0", "sda", [1, 0, 0, 0]);
    let with = |n: u64| sda.clone() + &line("7 20", "loop20", [n, 0, 0, 0]);
    for text in [with(100), with(200), sda.clone(), sda.clone(), with(5), with(15)] {
        watch.disks(&text);
    }
    let captured = watch.end();
    let counts: Vec<Option<f64>> =
        volume(&captured, "loop20").samples.iter().map(capture::Sample::n_ios).collect();
    assert_eq!(counts, [Some(100.0), Some(10.0)]);
    let notes = notes(&captured);
    for part in [
        "loop20 is no longer there at 2026-11-21 09:00:02",
        "loop20 is there again at 2026-11-21 09:00:04: the time without it is left out",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    assert_eq!(notes.matches("loop20").count(), 2, "{notes}");
}

/// 40 of the 100 I/Os of a second are of the control group.
#[test]
fn others_are_kept_apart_by_their_control_group() {
    let v2 = [
        "8:0 rbytes=0 wbytes=0 rios=0 wios=0 dbytes=0 dios=0\n",
        "8:0 rbytes=122880 wbytes=40960 rios=30 wios=10 dbytes=0 dios=0\n",
    ];
    let v1 = [
        ("8:0 Read 0\n8:0 Write 0\n8:0 Total 0\n", "8:0 Read 0\n8:0 Write 0\nTotal 0\n"),
        (
            "8:0 Read 122880\n8:0 Write 40960\nTotal 163840\n",
            "8:0 Read 30\n8:0 Write 10\nTotal 40\n",
        ),
    ];
    let ways: [[Cgroup<'_>; 2]; 2] =
        [v2.map(Cgroup::V2), v1.map(|(bytes, ios)| Cgroup::V1(bytes, ios))];
    for cgroups in ways {
        let mut watch = Watch::new(Scope { devices: vec!["sda".to_owned()], mounts: Vec::new() });
        let figures = [[0, 0, 0, 0], [60, 960, 120, 40]];
        for (cgroup, figures) in cgroups.into_iter().zip(figures) {
            let diskstats = line("8 0", "sda", figures);
            watch.look(&Texts { diskstats: &diskstats, cgroup: Some(cgroup), ..Texts::default() });
        }
        let captured = watch.end();
        let sample = volume(&captured, "sda").samples[0];
        assert_near(sample.read.n_ios, 30.0);
        assert_near(sample.write.bytes, 40_960.0);
        // Half of the reads, which waited 120 ms.
        assert_near(sample.read.wait_ns, 60e6);
        let notes = notes(&captured);
        assert!(notes.contains("60.0 % of the I/Os of sda came from other processes"), "{notes}");
        let is_v1 = matches!(cgroups[0], Cgroup::V1(..));
        assert_eq!(notes.contains("of version 1 do not own"), is_v1, "{notes}");
    }
}

/// Newer kernels count for groups of version 1 only devices that have a limit.
#[test]
fn a_group_of_version_1_that_counts_nothing_is_noted() {
    for wanted in [vec!["sda".to_owned()], Vec::new()] {
        let mut watch = Watch::new(Scope { devices: wanted.clone(), mounts: Vec::new() });
        for figures in [[0, 0, 0, 0], [60, 960, 120, 40]] {
            let (diskstats, cgroup) = (line("8 0", "sda", figures), Some(Cgroup::V1("", "")));
            watch.look(&Texts { diskstats: &diskstats, cgroup, ..Texts::default() });
        }
        let captured = watch.end_with(&wanted);
        // Whose they were is not known: there are no figures, and the exit code is not 0.
        assert!(captured.volumes.is_empty(), "{:?}", captured.volumes);
        assert!(captured.all_names.contains("sda"), "{:?}", captured.all_names);
        let notes = notes(&captured);
        let text = "Unreadable None the group counted no I/O of sda, which did some";
        assert!(notes.contains(text) && !notes.contains("came from other processes"), "{notes}");
        assert!(notes.contains("give it a large one for the device"), "{notes}");
        assert!(!notes.contains("left out: no I/O"), "{notes}");
    }
}

/// The figures of a device that has them stay where those of another are not known.
#[test]
fn a_group_of_version_1_that_counts_on_one_device_alone() {
    let mut watch = Watch::new(Scope::default());
    let groups = [("8:0 Read 0\n", "8:0 Read 0\n"), ("8:0 Read 40960\n", "8:0 Read 10\n")];
    for (figures, (bytes, ios)) in [[0, 0, 0, 0], [60, 960, 120, 40]].into_iter().zip(groups) {
        let diskstats = [line("8 0", "sda", figures), line("8 16", "sdb", figures)].concat();
        let cgroup = Some(Cgroup::V1(bytes, ios));
        watch.look(&Texts { diskstats: &diskstats, cgroup, ..Texts::default() });
    }
    let captured = watch.end();
    let names: Vec<&str> = captured.volumes.iter().map(|volume| volume.name.as_str()).collect();
    assert_eq!(names, ["sda"]);
    assert_near(volume(&captured, "sda").samples[0].read.n_ios, 10.0);
    assert!(notes(&captured).contains("the group counted no I/O of sdb"), "{}", notes(&captured));
}

#[test]
fn processors_memory_and_swapping() {
    let mut watch = Watch::new(Scope::default());
    let looks = [("cpu  100 0 100 800 0 0 0 0 50 0", 7), ("cpu  160 0 120 900 20 0 0 0 90 0", 47)];
    for (stat, n_pages) in looks {
        let stat = format!("{stat}\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 5\n");
        let meminfo = "MemTotal:       1048576 kB\nMemFree: 1 kB\nMemAvailable:    786432 kB\n";
        let vmstat = format!("pgpgin 5\npswpin {n_pages}\npswpout 3\n");
        watch.look(&Texts { stat: &stat, meminfo, vmstat: &vmstat, ..Texts::default() });
    }
    let captured = watch.end();
    assert_eq!(captured.n_cpus, Some(2));
    // 60 + 20 of 200 ticks: guests are counted with users, waiting for I/O is not use.
    assert_near(captured.host[0].cpu_share, 0.4);
    assert_near(captured.host[0].memory_bytes, 268_435_456.0);
    assert_near(captured.host[0].memory_share, 0.25);
    assert!(notes(&captured).contains("the host swapped 40 pages"), "{}", notes(&captured));
}

#[test]
fn nfs_mounts() {
    let text = |reads: u64, bytes: u64, ms: u64| {
        format!(
            "device /dev/sda1 mounted on / with fstype ext4\n\
             device nas:/vol mounted on /mnt/my\\040data\\134a with fstype nfs statvers=1.1\n\
             \topts:\trw,vers=3\n\tbytes:\t1 2 3 4 {bytes} 4096 7 8\n\tper-op statistics\n\
             \t        READ: {reads} {reads} 0 9 9 1 2 {ms} 0\n\
             \t       WRITE: 5 5 0 9 9 1 2 10\n"
        )
    };
    let mounts = vec!["/mnt/my data\\a".to_owned(), "/gone".to_owned()];
    let mut watch = Watch::new(Scope { devices: Vec::new(), mounts });
    let diskstats = line("8 0", "sda", [1, 2, 3, 4]);
    for mountstats in [text(100, 0, 50), text(300, 1_638_400, 250)] {
        let texts = Texts { diskstats: &diskstats, mountstats: &mountstats, ..Texts::default() };
        watch.look(&texts);
    }
    let captured = watch.end();
    // Disks are not what was asked about.
    assert_eq!(captured.volumes.len(), 1);
    let sample = volume(&captured, "/mnt/my data\\a").samples[0];
    assert_near(sample.n_ios(), 200.0);
    assert_near(sample.bytes(), 1_638_400.0);
    assert_near(sample.wait_ns(), 200e6);
    assert!(notes(&captured).contains("`/gone` is not an NFS mount now"), "{}", notes(&captured));
}

#[test]
fn parts_of_disks() {
    let all =
        ["sda", "sda1", "nvme0n1", "nvme0n1p2", "mmcblk0", "mmcblk0p1", "dm-0", "md127", "sdaa"];
    let parts: Vec<&str> =
        all.into_iter().filter(|name| is_partition(name, all.into_iter())).collect();
    assert_eq!(parts, ["sda1", "nvme0n1p2", "mmcblk0p1"]);
}

proptest! {
    /// A counter of 32 or 64 bits that is looked at at random times, never less than four times
    /// per round: what it grew by adds up to what was counted, wraps included.
    #[test]
    fn counters_add_up_over_wraps(
        is_32_bits: bool,
        below in 0_u64..1 << 31,
        steps in prop::collection::vec(0_u64..1 << 29, 1..40),
    ) {
        let range = if is_32_bits { u64::from(u32::MAX) } else { u64::MAX };
        let mut counter = range - below;
        let mut total = 0_u64;
        for step in &steps {
            let next = if is_32_bits {
                u64::from((counter as u32).wrapping_add(*step as u32))
            } else {
                counter.wrapping_add(*step)
            };
            match delta(counter, next) {
                Delta::By(by) | Delta::Wrapped(by) => total += by,
                Delta::Restarted => prop_assert!(false, "{counter} to {next}"),
            }
            counter = next;
        }
        prop_assert_eq!(total, steps.iter().sum::<u64>());
    }

    /// A load that is looked at at any times comes to the same totals: spans, I/Os, bytes, waits.
    #[test]
    fn cuts_change_no_totals(cuts in prop::collection::btree_set(1_usize..60, 0..40)) {
        let at = |second: usize| {
            let n = second as u64;
            line("8 0", "sda", [n * n, n * 800, n * 7, n * 3])
        };
        let mut live = Live::new(Scope::default());
        let mut collector = Collector::new();
        collector.begin("live", "live");
        for second in [0].into_iter().chain(cuts).chain([60]) {
            let moment = Moment {
                local_ns: NINE + second as i64 * S as i64,
                monotonic_ns: second as u64 * S,
            };
            let texts = at(second);
            let texts = Texts { diskstats: &texts, ..Texts::default() };
            live.take(moment, &texts, &mut |event| collector.take(event));
        }
        let captured = collector.finish(&[]);
        let mut samples = volume(&captured, "sda").samples.iter();
        let mut sum = *samples.next().expect("there are two looks at least");
        samples.for_each(|sample| sum.add(sample));
        prop_assert_eq!(sum.span_ns, 60 * S);
        // 60 x 60 reads, 60 x 3 writes; 60 x 800 sectors; 60 x 7 ms.
        prop_assert_eq!((sum.read.n_ios, sum.write.n_ios), (Some(3600.0), Some(180.0)));
        prop_assert_eq!(sum.read.bytes, Some(24_576_000.0));
        prop_assert_eq!(sum.read.wait_ns, Some(420e6));
    }
}
