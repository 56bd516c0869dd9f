//! biosnoop, blkparse, fio's logs of I/Os.

use capture::{Options, TraceFacts};

use crate::common::{assert_near, captured, notes, try_capture, volume};

fn facts(text: &str, name: &str) -> TraceFacts {
    volume(&captured(text), name).trace.clone().expect("it is a trace")
}

const BIOSNOOP: &str =
    "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)\n";

/// Two processes read the disk in turn, each in order: per process all but the first I/O follow.
#[test]
fn streams_are_kept_apart() {
    let mut text = BIOSNOOP.to_owned();
    for idx in 0..10_u64 {
        for (pid, name, base) in [(10, "kworker/u8:2 x", 0), (20, "dd", 1 << 20)] {
            let (time, sector) = (idx * 2 + pid / 10, base + idx * 16);
            text.push_str(&format!(
                "{}.{:03}  {name}  {pid}  sda  R {sector} 8192  1.50\n",
                time / 1000,
                time % 1000
            ));
        }
    }
    let facts = facts(&text, "sda");
    assert_eq!((facts.read.sizes.count(), facts.read.n_sequential, facts.n_streams), (20, 18, 2));
    assert_eq!(facts.read.sequential_bytes, 18 * 8192);
    assert_eq!(facts.write.sizes.count(), 0);
    assert_eq!(facts.read.latency.mean_ns(), Some(1.5e6));
}

/// Completions at 1.0 s and every second after it; one I/O of 3 s, which began 3 s before.
#[test]
fn seconds_become_samples() {
    let mut text = BIOSNOOP.to_owned();
    for second in 1..=4 {
        for idx in 0..5 {
            text.push_str(&format!(
                "{second}.0{idx} a b 7 sdb W {} 4096 10.00\n",
                second * 1000 + idx * 100
            ));
        }
    }
    text.push_str("8.000000 a 7 sdb R 99 512 3000\n");
    let captured = captured(&text);
    let samples = &volume(&captured, "sdb").samples;
    let counts: Vec<f64> = samples.iter().map(|sample| sample.n_ios().expect("counted")).collect();
    // The first arrival is at 0.99 s; 5 writes in each of four seconds from there on, then the
    // read that arrived at 5 s; the trace ends at 8 s, in the eighth second.
    assert_eq!(counts, [5.0, 5.0, 5.0, 5.0, 1.0, 0.0, 0.0]);
    let total_s: f64 = samples.iter().map(capture::Sample::span_s).sum();
    assert_near(total_s, 7.01);
    let waited: f64 = samples.iter().filter_map(|sample| sample.in_flight_ns).sum();
    // 20 x 10 ms + 3 s.
    assert_near(waited, 3.2e9);
}

/// What blkparse prints of an I/O that is queued, issued and completed.
fn io(text: &mut String, us: u64, pid: u32, letters: &str, sector: u64, sectors: u64) {
    let mut line = |at_us: u64, pid: u32, action: &str, rest: &str| {
        text.push_str(&format!(
            "  8,16 1 1 {:3}.{:09}  {pid}  {action} {letters:>3} {sector} + {sectors}{rest}\n",
            at_us / 1_000_000,
            at_us % 1_000_000 * 1000
        ));
    };
    line(us, pid, "Q", " [db]");
    line(us + 1, pid, "G", " [db]");
    line(us + 10, pid, "D", " [db]");
    line(us + 210, 0, "C", " [0]");
}

#[test]
fn blkparse_pairs_issue_and_completion() {
    let mut text = String::new();
    for idx in 0..4 {
        io(&mut text, idx * 1000, 5, "R", idx * 100_000, 16);
        io(&mut text, idx * 1000 + 500, 6, "WS", 5_000 + idx * 128, 128);
    }
    text.push_str("  8,16   1   9   0.005  5  m   N a message\n");
    text.push_str("  8,16   1   9   0.006  5  Q  FN [db]\n");
    text.push_str(
        "CPU0 (8,16):\n Reads Queued:  4,  32KiB\t Writes Queued: 4, 256KiB\n\nTotal (8,16):\n",
    );
    let captured_whole = captured(&text);
    let facts = volume(&captured_whole, "8,16").trace.clone().expect("a trace");
    assert_eq!((facts.read.sizes.count(), facts.read.n_sequential), (4, 0));
    assert_eq!((facts.write.sizes.count(), facts.write.n_sequential), (4, 3));
    assert_eq!(facts.write.sizes.quantile(0.5), Some(65_536));
    // From issue 200 us, from arrival 210 us.
    assert_eq!(facts.read.latency.mean_ns(), Some(200_000.0));
    assert_eq!(facts.write.response.mean_ns(), Some(210_000.0));
    assert!(!notes(&captured_whole).contains("Unreadable"), "{}", notes(&captured_whole));
}

/// Two bios that arrive and are issued as one request count once, as the volume counts them.
#[test]
fn merged_bios_are_one_io() {
    let event = |us: u64, action: &str, sector: u64, sectors: u64| {
        format!("  8,16 1 1 0.{us:06}000 5 {action} W {sector} + {sectors} [db]\n")
    };
    let text = [
        event(0, "Q", 1000, 8),
        event(5, "Q", 1008, 8),
        event(6, "M", 1008, 8),
        event(20, "D", 1000, 16),
        event(120, "C", 1000, 16),
    ]
    .concat();
    let facts = facts(&text, "8,16");
    assert_eq!(facts.write.sizes.iter().collect::<Vec<_>>(), [(8192, 1)]);
}

/// Device mapper passes bios on and issues nothing itself.
#[test]
fn a_device_without_issue_counts_arrivals() {
    let event = |us: u64, action: &str, sector: u64| {
        format!("253,0 1 1 0.{us:06}000 5 {action} R {sector} + 8 [db]\n")
    };
    let text = [
        event(0, "Q", 1000),
        event(100, "C", 1000),
        event(200, "Q", 1008),
        event(300, "C", 1008),
        event(400, "Q", 1016),
        event(450, "C", 1016),
    ]
    .concat();
    let facts = facts(&text, "253,0");
    assert_eq!((facts.read.sizes.count(), facts.read.n_sequential), (3, 2));
    assert_eq!(facts.read.latency.max_ns(), Some(100_000));
}

#[test]
fn logs_of_fio() {
    let v3 = "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n\
              0 /dev/sda read 0 4096\n500000 /dev/sda read 4096 4096\n\
              900000 /dev/sda write 1048576 65536\n1500000 /dev/sda sync 0 0\n\
              1600000 /dev/sda read 8192 4096\n1700000 /dev/sda close\n";
    let captured_v3 = captured(v3);
    let sda = volume(&captured_v3, "/dev/sda");
    let facts = sda.trace.as_ref().expect("a trace");
    assert_eq!((facts.read.sizes.count(), facts.read.n_sequential), (3, 2));
    // Microseconds: three I/Os in the first second, one 0.6 s into the second.
    let counts: Vec<Option<f64>> = sda.samples.iter().map(capture::Sample::n_ios).collect();
    assert_eq!(counts, [Some(3.0), Some(1.0)]);

    let v2 = "fio version 2 iolog\n/a add\n/a open\n/a write 0 512\n/a wait 5\n/a write 512 512\n";
    let captured_v2 = captured(v2);
    let a = volume(&captured_v2, "/a");
    assert!(a.samples.is_empty());
    assert_eq!(a.trace.as_ref().map(|facts| facts.write.n_sequential), Some(1));
    assert!(notes(&captured_v2).contains("has no times"));
}

/// 100 I/Os in one tenth of a second of ten, then nothing, against 10 in each.
#[test]
fn bursts_are_seen() {
    let trace = |times_us: &mut dyn Iterator<Item = u64>| {
        let mut text = "fio version 3 iolog\n".to_owned();
        for (idx, us) in times_us.enumerate() {
            text.push_str(&format!("{us} f read {} 4096\n", idx * 8192));
        }
        facts(&text, "f").bursts.expect("it has moments")
    };
    // 10 slots of 10 I/Os; the last one closes the tenth.
    let even = trace(&mut (0..=100).map(|idx| idx * 10_000));
    assert_near(even.peak_to_mean, 1.0);
    assert_near(even.dispersion, 0.0);
    // 100 in the first slot, none in nine: mean 10, variance (90^2 + 9 x 10^2) / 9 = 1,000.
    let burst = trace(&mut (0..100).map(|idx| idx * 1000).chain([1_000_000]));
    assert_near(burst.peak_to_mean, 10.0);
    assert_near(burst.dispersion, 100.0);
}

/// A part of a trace, as `tail` or `split` leaves it, has no header: its lines show the columns.
#[test]
fn a_trace_without_its_header_is_read_as_with_it() {
    let rows = ["1.0 a b 7 sda R 16 8192 1.50\n", "2.0 a b 7 sda WS 99 4096 2.50\n"].concat();
    let queued = rows.replace("1.50", "0.25 1.50").replace("2.50", "0.25 2.50");
    let of_queue = BIOSNOOP.replace("LAT(ms)", "QUE(ms) LAT(ms)");
    for (header, rows) in [(BIOSNOOP, &rows), (&of_queue, &queued)] {
        let with = format!("{header}{rows}");
        assert_eq!(facts(rows, "sda"), facts(&with, "sda"), "{rows}");
    }
}

/// Seconds and latencies of lines in any order would be made up; processors that are a little out
/// of step are no such trace.
#[test]
fn a_trace_in_no_order_is_refused() {
    let mut blkparse = String::new();
    let mut biosnoop = String::new();
    let mut log = String::new();
    for idx in 0..40_u64 {
        io(&mut blkparse, idx * 1000, 5, "R", idx * 100_000, 16);
        let time = 1.0 + idx as f64 / 1000.0;
        biosnoop.push_str(&format!("{time:.6}  dd  7  sda  R {} 4096  0.50\n", idx * 800));
        log.push_str(&format!("{idx} /dev/sda read {} 4096\n", idx * 8192));
    }
    for (head, lines) in
        [("", blkparse), (BIOSNOOP, biosnoop), ("fio version 3 iolog\n0 /dev/sda add\n", log)]
    {
        let lines: Vec<&str> = lines.lines().collect();
        let whole = |lines: &[&str]| format!("{head}{}\n", lines.join("\n"));
        let captured = try_capture(&whole(&lines), Options::default());
        assert!(captured.is_ok(), "{:?}", captured.err());
        // Every fifth one comes a line late.
        let mut late = lines.clone();
        late.chunks_exact_mut(5).for_each(|five| five.swap(3, 4));
        let captured = try_capture(&whole(&late), Options::default());
        assert!(captured.is_ok(), "{:?}", captured.err());
        let mixed: Vec<&str> = (0..lines.len()).map(|idx| lines[idx * 77 % lines.len()]).collect();
        let error = try_capture(&whole(&mixed), Options::default()).expect_err("it has no order");
        assert!(error.to_string().contains("go back in time: sort them"), "{error}");
    }
}
