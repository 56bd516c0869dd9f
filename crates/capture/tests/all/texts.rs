//! Texts of any length in forms that may be large, as functions of the number of an I/O.

use std::fmt::Write as _;

use capture::Format;

/// A text in a form that is read.
pub(crate) struct Text {
    pub(crate) name: &'static str,
    pub(crate) format: Format,
    pub(crate) head: &'static str,
    /// Appends all lines of an I/O, or a report, by its number.
    pub(crate) part: fn(u64, &mut String),
}

/// Those that may be large.
pub(crate) const TEXTS: [Text; 4] = [
    Text { name: "blkparse", format: Format::Blkparse, head: "", part: blkparse },
    Text {
        name: "biosnoop",
        format: Format::Biosnoop,
        head: "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)\n",
        part: biosnoop,
    },
    Text {
        name: "iolog",
        format: Format::Iolog,
        head: "fio version 3 iolog\n0 /dev/sda add\n",
        part: iolog,
    },
    Text {
        name: "iostat",
        format: Format::Iostat,
        head: "Linux 6.1.0 (host) \t2026-11-21 \t_x86_64_\t(2 CPU)\n\n",
        part: iostat,
    },
];

/// A place that follows no order.
fn sector(idx: u64) -> u64 {
    units::mix64(idx) % (1 << 31) / 16 * 16
}

/// Five lines an I/O, as a real trace has them, 20 us apart, with 32 in flight.
fn blkparse(idx: u64, text: &mut String) {
    let mut line = |number: u64, at_ns: u64, action: &str, idx: u64| {
        let (s, ns, place) = (at_ns / 1_000_000_000, at_ns % 1_000_000_000, sector(idx));
        let sequence = number + 1;
        let _ = writeln!(
            text,
            "  8,16   2 {sequence:>8} {s:>5}.{ns:09} {:>5}  {action}   R {place} + 16 [postgres]",
            3000 + idx % 16
        );
    };
    let at_ns = idx * 20_000;
    for (step, action) in [(0, "Q"), (1, "G"), (2, "I"), (3, "D")] {
        line(idx * 5 + step, at_ns + step * 1000, action, idx);
    }
    if idx >= 32 {
        line(idx * 5 + 4, at_ns + 5000, "C", idx - 32);
    }
}

fn biosnoop(idx: u64, text: &mut String) {
    let (us, place) = (idx * 20, sector(idx));
    let _ = writeln!(
        text,
        "{}.{:06}    mysqld         {}    sda       R {place:<10} 16384   {}.{:02}",
        us / 1_000_000,
        us % 1_000_000,
        2000 + idx % 16,
        idx % 3,
        idx % 100
    );
}

fn iolog(idx: u64, text: &mut String) {
    let _ = writeln!(text, "{} /dev/sda read {} 8192", idx * 20, sector(idx) * 512);
}

/// A report a second, of any number of days.
fn iostat(idx: u64, text: &mut String) {
    let (minute, second) = (idx / 60 % 60, idx % 60);
    let (day, hour) = (idx / 86_400, idx / 3600 % 24);
    let (year, month, day) = (2026 + day / 336, 1 + day / 28 % 12, 1 + day % 28);
    let _ = write!(
        text,
        "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}+0000\n\
         avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n\
         \x20         55.28    0.00   44.22    0.50    0.00    0.00\n\n\
         Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s w_await aqu-sz %util\n\
         sda 812.00 3248.00 0.00 0.00 0.03 4.00 100.00 800.00 0.20 2.04 88.00\n\n"
    );
}
