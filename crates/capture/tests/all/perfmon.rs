//! Counters of Windows.

use capture::{NS_PER_S, Options, Phases, needs_of};
use needs::Label;

use crate::common::{assert_near, captured, notes, try_capture, volume};

/// Rows of 15 s behind a header of these counters.
fn text(counters: &[&str], separator: char, rows: &[&[&str]]) -> String {
    let line = |first: &str, fields: &[&str]| {
        let mut line = format!("\"{first}\"");
        for field in fields {
            line.push_str(&format!("{separator}\"{field}\""));
        }
        line + "\r\n"
    };
    let mut text = line("(PDH-CSV 4.0) (W. Europe Standard Time)(-60)", counters);
    for (idx, row) in rows.iter().enumerate() {
        let second = idx * 15;
        let moment = format!("11/21/2018 09:{:02}:{:02}.041", second / 60, second % 60);
        text.push_str(&line(&moment, row));
    }
    text
}

const DISK: [&str; 8] = [
    r"\\SQL01\LogicalDisk(D:)\Disk Reads/sec",
    r"\\SQL01\LogicalDisk(D:)\Disk Writes/sec",
    r"\\SQL01\LogicalDisk(D:)\Disk Read Bytes/sec",
    r"\\SQL01\LogicalDisk(D:)\Disk Write Bytes/sec",
    r"\\SQL01\LogicalDisk(D:)\Avg. Disk sec/Read",
    r"\\SQL01\LogicalDisk(D:)\Avg. Disk sec/Write",
    r"\\SQL01\Memory\% Committed Bytes In Use",
    r"\\SQL01\Processor(_Total)\% Processor Time",
];

#[test]
fn rows_become_samples_and_blank_ones_nothing() {
    let rows: [&[&str]; 4] = [
        &[" "; 8],
        &["100", "50", "819200", "409600", "0.002", "0.004", "60.5", "25"],
        &["200", " ", "1638400", " ", "0.001", " ", "60.5", "35"],
        &["100", "0", "819200", "0", "0.002", "0", "60.5", "25"],
    ];
    let captured = captured(&text(&DISK, ',', &rows));
    let samples = &volume(&captured, "D:").samples;
    assert_eq!(samples.len(), 3);
    assert!(samples.iter().all(|sample| sample.span_ns == 15 * NS_PER_S));
    // 15 s of 100 reads/s, 2 ms each.
    assert_near(samples[0].read.n_ios, 1500.0);
    assert_near(samples[0].read.wait_ns, 3e9);
    assert_near(samples[0].wait_ns(), 6e9);
    assert_eq!(samples[1].write.n_ios, None);
    assert_near(captured.host[0].cpu_share, 0.25);
    assert_near(captured.host[0].memory_share, 0.605);
}

/// Decimal commas, `;` between fields, and the Swedish names of the Premium Storage guide.
#[test]
fn a_swedish_windows() {
    let counters = [
        "\\\\SQL01\\Logisk disk(E:)\\Diskläsningar/sek",
        "\\\\SQL01\\Logisk disk(E:)\\Diskskrivningar/sek",
        "\\\\SQL01\\Logisk disk(E:)\\Disk – lästa byte/sek",
        "\\\\SQL01\\Logisk disk(E:)\\Disk – skrivna byte/sek",
        "\\\\SQL01\\Logisk disk(E:)\\Aktuell diskkölängd",
    ];
    let rows: [&[&str]; 2] = [&[" "; 5], &["10,5", "4,5", "86016", "36864", "3"]];
    let sample = volume(&captured(&text(&counters, ';', &rows)), "E:").samples[0];
    assert_near(sample.n_ios(), 225.0);
    // 122,880 bytes a second.
    assert_near(sample.bytes(), 1_843_200.0);
    assert_near(sample.in_flight_ns, 45e9);
}

/// Counters of reads alone, and of writes alone: the other kind is not known, and not none.
#[test]
fn one_kind_of_ios_alone_has_figures_and_a_note() {
    for (kind, at) in [("reads", [0, 2, 4]), ("writes", [1, 3, 5])] {
        let counters = at.map(|idx| DISK[idx]);
        let row = &["100", "819200", "0.002"][..];
        let captured = captured(&text(&counters, ',', &[&[" "; 3], row, row]));
        let note = format!("D:: {kind} alone are counted in it: IOPS and bytes are at least those");
        assert!(notes(&captured).contains(&note), "{}", notes(&captured));
        let needs = needs_of(&captured, "x", &Phases::default()).expect("needs");
        let load = &needs.phases[0].volumes[0];
        let iops = load.iops.as_ref().expect("one kind is counted");
        assert_eq!((iops.p50, iops.label), (Some(100.0), Label::Estimated), "{kind}");
        assert_eq!(iops.source, format!("log: samples of 15 s, {kind} alone"));
        assert_near(load.throughput_mb_s.as_ref().and_then(|rate| rate.p99), 0.8192);
        assert_near(load.io_size_kib.as_ref().and_then(|size| size.mean), 8.0);
        assert_near(load.latency_ms.as_ref().and_then(|latency| latency.mean), 2.0);
        assert_eq!(load.read_percent, None, "{kind}");
    }
}

/// Names of a German Windows, which are not read, and English ones beside which no disk is known.
#[test]
fn counters_in_another_language_are_named() {
    let german = "\\\\SQL01\\Logischer Datenträger(D:)\\Lesevorgänge/s";
    let processor = r"\\SQL01\Processor(_Total)\% Processor Time";
    let of_disk = "\\\\SQL01\\LogicalDisk(D:)\\Lesevorgänge/s";
    let row = |n_fields: usize| vec!["5"; n_fields];
    for (counters, named) in [
        (&[german, "\\\\SQL01\\Prozessor(_Total)\\Prozessorzeit (%)"][..], german),
        (&[processor, of_disk], of_disk),
        (&[r"\\SQL01\LogicalDisk(D:)\% Disk Time"], r"\\SQL01\LogicalDisk(D:)\% Disk Time"),
    ] {
        let text = text(counters, ',', &[&row(counters.len())]);
        let error = try_capture(&text, Options::default()).expect_err("no disk is known");
        let error = error.to_string();
        for part in ["line 1: ", &format!("the first of the others is `{named}`"), "in English"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
    let threads = r"\\SQL01\System\Threads";
    let row = row(2);
    let beside = captured(&text(&[processor, threads], ',', &[&row, &row, &row]));
    assert_eq!((beside.volumes.len(), beside.host.len()), (0, 3));
    let note = format!(
        "Remark Some(1) no column is the I/O of a disk under a name that is known; the \
                        first of the others is `{threads}`"
    );
    assert!(notes(&beside).contains(&note), "{}", notes(&beside));
    let alone = captured(&text(&[processor], ',', &[&["5"], &["5"]]));
    assert_eq!((alone.host.len(), notes(&alone).as_str()), (2, ""));
}

#[test]
fn nothing_is_counted_twice() {
    let counters = [
        r"\\H\LogicalDisk(C:)\Disk Transfers/sec",
        r"\\H\LogicalDisk(_Total)\Disk Transfers/sec",
        r"\\H\PhysicalDisk(0 C:)\Disk Transfers/sec",
        r"\\H\LogicalDisk(C:)\% Free Space",
        r"\\H\LogicalDisk(C:)\Free Megabytes",
        r"\\H\LogicalDisk(C:)\Unheard Of/sec",
        r"\\H\LogicalDisk(C:)\% Disk Read Time",
    ];
    let rows: [&[&str]; 2] = [&[" "; 7], &["10", "10", "10", "25", "1024", "1", "250"]];
    let captured = captured(&text(&counters, ',', &rows));
    assert_eq!(captured.volumes.len(), 1);
    let volume = volume(&captured, "C:");
    assert_near(volume.samples[0].n_ios(), 150.0);
    // 1 GiB free is a quarter: 4 GiB in all, 3 GiB in use.
    let capacity = volume.capacity.expect("space was counted");
    assert_near(capacity.size_bytes, 4_294_967_296.0);
    assert_near(capacity.used_bytes, 3_221_225_472.0);
    let notes = notes(&captured);
    assert!(notes.contains("PhysicalDisk is left out"), "{notes}");
    assert!(notes.contains("counters that are not read: `unheard of/sec`"), "{notes}");
}

/// A file of needs has four digits behind the point: a size that would be 0 there is none.
#[test]
fn a_size_of_next_to_nothing_is_no_capacity() {
    let counters = [
        r"\\H\LogicalDisk(C:)\Disk Transfers/sec",
        r"\\H\LogicalDisk(C:)\% Free Space",
        r"\\H\LogicalDisk(C:)\Free Megabytes",
    ];
    for (free_mib, capacity_gib) in [("0.05", None), ("512", Some(0.5))] {
        let rows: [&[&str]; 3] = [&[" "; 3], &["10", "100", free_mib], &["10", "100", free_mib]];
        let captured = captured(&text(&counters, ',', &rows));
        let needs = needs_of(&captured, "x", &Phases::default()).expect("a disk was counted");
        let read = needs::parse(&needs.to_toml()).0.expect("it is a file of needs");
        let size = read.volumes[0].capacity_gib.as_ref().map(|it| it.value);
        assert_eq!(size, capacity_gib, "{}", needs.to_toml());
    }
}

#[test]
fn more_than_all_of_a_disk_is_not_free() {
    let counters = [r"\\H\LogicalDisk(C:)\Disk Transfers/sec", r"\\H\LogicalDisk(C:)\% Free Space"];
    let rows: [&[&str]; 3] = [&[" "; 2], &["10", "50"], &["10", "1024"]];
    let captured = captured(&text(&counters, ',', &rows));
    let notes = notes(&captured);
    assert!(notes.contains("`1024` is no percentage of a disk"), "{notes}");
}
