//! How many lines of a trace one core reads in a second: at least 1 million.
//!
//! `cargo bench -p capture`. The text is made in memory, so that no disk is measured.
#![expect(clippy::print_stdout, reason = "figures for people")]

use std::io::BufReader;
use std::time::{Duration, Instant};

use capture::{Collector, Format, Options, read};

const N_IOS: u64 = 400_000;
const N_ROUNDS: usize = 5;

fn main() {
    best("blkparse", Format::Blkparse, &blkparse());
    best("biosnoop", Format::Biosnoop, &biosnoop());
    best("fio iolog v3", Format::Iolog, &iolog());
    best("iostat", Format::Iostat, &iostat());
}

/// Prints the best of several rounds.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn best(what: &str, format: Format, text: &str) {
    let n_lines = text.lines().count();
    let mut best = Duration::MAX;
    for _ in 0..N_ROUNDS {
        let mut collector = Collector::new();
        collector.begin("bench", what_form(format));
        let start = Instant::now();
        let mut input = BufReader::with_capacity(1 << 20, text.as_bytes());
        read(format, &mut input, Options::default(), &mut |event| collector.take(event))
            .expect("the text is a trace");
        best = best.min(start.elapsed());
    }
    let per_s = n_lines as f64 / best.as_secs_f64() / 1e6;
    let mb_s = text.len() as f64 / best.as_secs_f64() / 1e6;
    println!("{what:<14} {n_lines:>9} lines {per_s:>7.2} million lines/s {mb_s:>7.0} MB/s");
}

fn what_form(format: Format) -> &'static str {
    format.name()
}

/// A place that follows no order.
fn sector(idx: u64) -> u64 {
    units::mix64(idx) % (1 << 31) / 16 * 16
}

/// Five lines an I/O, as a real trace has them, 20 us apart, with 32 in flight.
fn blkparse() -> String {
    let mut text = String::new();
    let mut sequence = 0;
    let mut line = |at_ns: u64, action: &str, idx: u64| {
        sequence += 1;
        let (s, ns, place) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000, sector(idx));
        text.push_str(&format!(
            "  8,16   2 {sequence:>8} {s:>5}.{ns:09} {:>5}  {action}   R {place} + 16 [postgres]\n",
            3000 + idx % 16
        ));
    };
    for idx in 0..N_IOS {
        let at_ns = idx * 20_000;
        for (delay_ns, action) in [(0, "Q"), (1000, "G"), (2000, "I"), (3000, "D")] {
            line(at_ns + delay_ns, action, idx);
        }
        if idx >= 32 {
            line(at_ns + 5000, "C", idx - 32);
        }
    }
    text
}

fn biosnoop() -> String {
    let mut text =
        String::from("TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)\n");
    for idx in 0..N_IOS {
        let (us, place) = (idx * 20, sector(idx));
        text.push_str(&format!(
            "{}.{:06}    mysqld         {}    sda       R {place:<10} 16384   {}.{:02}\n",
            us / 1_000_000,
            us % 1_000_000,
            2000 + idx % 16,
            idx % 3,
            idx % 100
        ));
    }
    text
}

fn iolog() -> String {
    let mut text = String::from("fio version 3 iolog\n0 /dev/sda add\n");
    for idx in 0..N_IOS {
        text.push_str(&format!("{} /dev/sda read {} 8192\n", idx * 20, sector(idx) * 512));
    }
    text
}

fn iostat() -> String {
    let mut text = String::from("Linux 6.1.0 (host) \t2026-11-21 \t_x86_64_\t(2 CPU)\n\n");
    for idx in 0..20_000_u64 {
        let (minute, second) = (idx / 60 % 60, idx % 60);
        let (day, hour) = (1 + idx / 86_400, idx / 3600 % 24);
        text.push_str(&format!(
            "2026-11-{day:02}T{hour:02}:{minute:02}:{second:02}+0000\n\
             avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
             \x20         55.28    0.00   44.22    0.50    0.00    0.00\n\n\
             Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s w_await aqu-sz %util\n\
             sda 812.00 3248.00 0.00 0.00 0.03 4.00 100.00 800.00 0.20 2.04 88.00\n\n"
        ));
    }
    text
}
