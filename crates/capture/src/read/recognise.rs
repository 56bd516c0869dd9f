//! Which form a source has, recognised by its content.

use super::iostat;
use crate::format::Format;
use crate::time::Stamps;
use crate::trace::{biosnoop, blkparse};
use crate::workload;

/// Bytes from the beginning of a source that tell its form.
const HEAD_BYTES: usize = 64 << 10;

/// Why the form of a source is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownFormat {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is known, and must be changed first.
    #[error("{what}: {instead}")]
    Packed {
        /// What it is.
        what: &'static str,
        /// What to run first.
        instead: &'static str,
    },
    /// It is none of the forms.
    #[error("its content is of no known form: {}", names())]
    Unknown,
}

fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

/// Beginnings of files that another tool must unpack first.
const PACKED: [(&[u8], &str, &str); 6] = [
    (b"\x1f\x8b", "it is compressed", "unpack it with `gunzip`"),
    (b"\x28\xb5\x2f\xfd", "it is compressed", "unpack it with `unzstd`"),
    (b"\xfd7zXZ", "it is compressed", "unpack it with `unxz`"),
    (b"\x96\xd5", "it is a binary file of sar", "print it with `sadf -j FILE -- -A`"),
    (b"\xff\xfe", "it is UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "it is UTF-16", "save it as UTF-8"),
];

/// Determines the form of a source from its beginning; 64 KiB are enough.
pub fn recognise(head: &[u8]) -> Result<Format, UnknownFormat> {
    let head = &head[..head.len().min(HEAD_BYTES)];
    for (magic, what, instead) in PACKED {
        if head.starts_with(magic) {
            return Err(UnknownFormat::Packed { what, instead });
        }
    }
    // The magic number of blktrace stands in either order of bytes, with the version behind it.
    if head.starts_with(b"\x07aTe") || (head.len() > 4 && &head[1..4] == b"Tae") {
        let instead = "print it with `blkparse -i FILE`";
        return Err(UnknownFormat::Packed { what: "it is a binary trace of blktrace", instead });
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.is_empty() {
        return Err(UnknownFormat::Empty);
    }
    if text.starts_with('{') {
        return json_format(text);
    }
    if text.starts_with("\"(PDH-CSV") {
        return Ok(Format::Perfmon);
    }
    if text.starts_with("fio version ") {
        return Ok(Format::Iolog);
    }
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(40);
    lines.map(line_format).find_map(|found| found).ok_or(UnknownFormat::Unknown)
}

fn json_format(text: &str) -> Result<Format, UnknownFormat> {
    let forms = [
        ("\"sysstat\"", Format::SysstatJson),
        ("\"MetricDataResults\"", Format::CloudWatch),
        ("\"timeseries\"", Format::AzureMonitor),
        // An answer with no metric in it.
        ("\"timespan\"", Format::AzureMonitor),
    ];
    let found = forms.into_iter().find(|(key, _)| text.contains(key));
    found.map(|(_, format)| format).ok_or(UnknownFormat::Unknown)
}

/// Determines the form from one line, if it says.
fn line_format(line: &str) -> Option<Format> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    if line.starts_with("# hostname;interval;") {
        return Some(Format::SadfTable);
    }
    if is_pair_of_sadf(line) {
        return Some(Format::SadfPairs);
    }
    if has("TIME(s)") && has("COMM") && has("SECTOR") {
        return Some(Format::Biosnoop);
    }
    if has("swpd") && has("bi") && has("bo") {
        return Some(Format::Vmstat);
    }
    if words.first() == Some(&"avg-cpu:") || iostat::is_header(&words) {
        return Some(Format::Iostat);
    }
    if blkparse::is_line(line.as_bytes()) {
        return Some(Format::Blkparse);
    }
    if line.starts_with("device ") && has("mounted") && has("fstype") {
        return Some(Format::Mountstats);
    }
    // Before calls: both begin with a time.
    if biosnoop::is_line(line) {
        return Some(Format::Biosnoop);
    }
    if workload::is_line(line) {
        return Some(Format::Strace);
    }
    None
}

/// `host TAB interval TAB moment TAB device TAB figure TAB value`.
fn is_pair_of_sadf(line: &str) -> bool {
    let parts: Vec<&str> = line.split('\t').collect();
    parts.len() == 6
        && parts[1].parse::<i64>().is_ok()
        && Stamps::default().stamp(parts[2]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expected: Format) {
        assert_eq!(recognise(head.as_bytes()), Ok(expected), "{head}");
    }

    #[test]
    fn content_tells() {
        check("Linux 6.1 (h) \t11/21/26 \t_x86_64_\t(2 CPU)\n\navg-cpu:  %user\n", Format::Iostat);
        check("\nDevice:         tps   kB_read/s   kB_wrtn/s\n", Format::Iostat);
        check("\u{feff}{\"sysstat\": {", Format::SysstatJson);
        check("# hostname;interval;timestamp;DEV;tps\n", Format::SadfTable);
        check("h\t1\t2026-11-21 01:20:28 UTC\t-\ttps\t67566.00\n", Format::SadfPairs);
        check(
            "procs ---\n r  b   swpd   free   buff  cache   si   so    bi    bo\n",
            Format::Vmstat,
        );
        check("\"(PDH-CSV 4.0) (x)(0)\",\"\\\\H\\Memory\\x\"\r\n", Format::Perfmon);
        check(
            "Tracing... Hit Ctrl-C to end.\nTIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n",
            Format::Biosnoop,
        );
        check(
            "  8,16   2        1     0.000961904  3321  Q   R 150278752 + 16 [x]\n",
            Format::Blkparse,
        );
        check("0.000435 mysqld 2114 sda R 162038592 16384 1.07\n", Format::Biosnoop);
        check("12.5 kworker/0:1 H 9 sda WS 8 4096 0.01 1.07\n", Format::Biosnoop);
        check("1700000000.000435 read(3, \"\", 8) = 0\n", Format::Strace);
        check("fio version 2 iolog\n", Format::Iolog);
        check("{\"cost\":0,\"timespan\":\"x\",\"value\":[]}", Format::AzureMonitor);
        check("{\"MetricDataResults\": []}", Format::CloudWatch);
    }

    #[test]
    fn what_is_not_known_says_what_to_do() {
        for (head, part) in [
            (&b""[..], "empty"),
            (b" \n\n", "empty"),
            (b"\x1f\x8b\x08", "gunzip"),
            (b"\x96\xd5\x75\x21", "sadf -j"),
            (b"\xff\xfeL\0", "UTF-8"),
            (b"\x07aTe....", "blkparse"),
            (b"{\"a\": 1}", "no known form"),
            (b"hello world\n", "no known form"),
        ] {
            let error = recognise(head).expect_err("it is of no known form").to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
