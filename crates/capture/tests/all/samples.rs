//! Real logs and constructed traces with known truth, where they lie beside the checkout.

use std::path::{Path, PathBuf};

use capture::{Captured, Collector, NS_PER_S, Options, Phases, needs_of, recognise};

use crate::common::{assert_near, volume};

/// Returns a file, or says that the test was skipped.
fn sample(name: &str) -> Option<PathBuf> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/facts/capture-samples");
    let path = folder.join(name);
    if path.is_file() {
        return Some(path);
    }
    testing::skipped!("no sample {name}");
    None
}

fn read(name: &str, keeps_first: bool) -> Option<Captured> {
    let bytes = std::fs::read(sample(name)?).expect("it is a file");
    let format = recognise(&bytes).expect("a form that is known");
    let mut collector = Collector::new();
    collector.begin(name, format.name());
    // One report alone does not tell how long it was.
    let length_ns = keeps_first.then_some(NS_PER_S);
    let options = Options { keeps_first, length_ns, ..Options::default() };
    capture::read(format, &mut &bytes[..], options, &mut |event| collector.take(event))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    Some(collector.finish(&[]))
}

#[test]
fn logs_of_sysstat() {
    // Figures of `vda` as the files print them: IOPS, KiB/s, I/Os in flight.
    for (name, keeps_first, n_samples, iops, kib, queue) in [
        ("iostat-xt.txt", false, 1, 76_684.0, 426_816.0, 2.59),
        ("iostat-xky.txt", true, 1, 81_234.0, 324_936.0, 2.04),
        ("iostat-xt.json", false, 1, 81_020.0, 324_080.0, 2.48),
        ("sadf.json", false, 2, 67_572.0, 270_284.0, 1.44),
        ("sadf-d.csv", false, 2, 67_572.0, 270_284.0, 1.44),
    ] {
        let Some(captured) = read(name, keeps_first) else { continue };
        let samples = &volume(&captured, "vda").samples;
        assert!(samples.len() >= n_samples, "{name}: {}", samples.len());
        assert_near(samples[0].n_ios(), iops);
        assert_near(samples[0].bytes(), kib * 1024.0);
        assert_near(samples[0].in_flight_ns, queue * 1e9);
    }
    // Of the whole host only: reads, and sectors read.
    if let Some(captured) = read("sadf-p.txt", false) {
        let sample = volume(&captured, "whole host").samples[0];
        assert_near(sample.n_ios(), 67_565.0);
        assert_near(sample.read.bytes, 540_520.0 * 512.0);
    }
    let Some(captured) = read("vmstat.txt", false) else { return };
    assert_near(volume(&captured, "whole host").samples[0].read.bytes, 189_352.0 * 1024.0);
}

/// Truth: 12 rows; D: mean 3,012.23 reads/s, 993.84 writes/s, 33.392 MB/s, read share .7519,
/// largest 6,452.64 IOPS, reads of 8,192 B; L: writes of 61,440 B only.
#[test]
fn counters_of_windows() {
    let Some(captured) = read("perfmon-constructed.csv", false) else { return };
    assert_eq!(volume(&captured, "D:").samples.len(), 12);
    let needs = needs_of(&captured, "x", &Phases::default()).expect("needs");
    let load = &needs.phases[0].volumes[0];
    let iops = load.iops.as_ref().expect("counted");
    assert!((iops.mean.expect("known") - 4006.07).abs() < 0.5, "{iops:?}");
    assert!((iops.max.expect("known") - 6452.64).abs() < 0.01, "{iops:?}");
    let rate = load.throughput_mb_s.as_ref().and_then(|rate| rate.mean).expect("counted");
    assert!((rate - 33.392).abs() < 0.005, "{rate}");
    let reads = load.read_percent.as_ref().and_then(|reads| reads.mean).expect("counted");
    assert!((reads - 75.19).abs() < 0.01, "{reads}");
    let log = &needs.phases[0].volumes[1];
    assert_near(log.io_size_kib.as_ref().and_then(|size| size.mean), 60.0);
    assert_near(log.read_percent.as_ref().and_then(|reads| reads.max), 0.0);
}

/// Truth: 3,276,800 bytes; 19 of 60 I/Os are sequential.
#[test]
fn a_trace_of_biosnoop() {
    let Some(captured) = read("biosnoop-constructed.txt", false) else { return };
    let (sda, sdb) = (volume(&captured, "sda"), volume(&captured, "sdb"));
    let (sda, sdb) = (sda.trace.as_ref().expect("read"), sdb.trace.as_ref().expect("read"));
    assert_eq!((sda.read.sizes.count(), sdb.write.sizes.count()), (40, 20));
    assert_eq!(sda.read.sizes.bytes() + sdb.write.sizes.bytes(), 3_276_800);
    assert_eq!((sda.read.n_sequential, sdb.write.n_sequential), (0, 19));
}

/// Truth: 18 reads, 144 KiB, mean .962 ms; 10 writes, 640 KiB, mean 1.538 ms, 9 sequential.
#[test]
fn a_trace_of_blkparse() {
    let Some(captured) = read("blkparse-constructed.txt", false) else { return };
    let facts = volume(&captured, "8,16").trace.as_ref().expect("a trace");
    assert_eq!((facts.read.sizes.count(), facts.write.sizes.count()), (18, 10));
    assert_eq!(facts.read.sizes.bytes(), 144 << 10);
    assert_eq!(facts.write.sizes.bytes(), 640 << 10);
    assert_eq!((facts.read.n_sequential, facts.write.n_sequential), (0, 9));
    let ms = |mean_ns: Option<f64>| mean_ns.expect("known") / 1e6;
    assert!((ms(facts.read.latency.mean_ns()) - 0.962).abs() < 0.001);
    assert!((ms(facts.write.latency.mean_ns()) - 1.538).abs() < 0.001);
}
