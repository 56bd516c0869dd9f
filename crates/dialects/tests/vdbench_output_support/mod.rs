//! Takes pages apart: the inverse of what is tested.
#![allow(dead_code, reason = "each test binary uses the part that it needs")]

use std::path::{Path, PathBuf};

use dialects::vdbench::output::{
    FileFigures, Moment, OPERATIONS, OpFigures, RawFigures, operation_name,
};
use record::CpuShares;

/// Midnight of the day on which the real pages were made.
const DAY_UNIX_MS: u64 = 1_795_219_200_000;

/// Returns the moment of a clock such as `01:15:24.273` on that day.
pub(crate) fn moment(clock: &str) -> Option<Moment> {
    let (hms, ms) = clock.split_once('.')?;
    let mut unix_ms = 0;
    for part in hms.split(':') {
        unix_ms = unix_ms * 60 + part.parse::<u64>().ok()?;
    }
    let unix_ms = DAY_UNIX_MS + unix_ms * 1000 + ms.parse::<u64>().ok()?;
    Some(Moment { unix_ms, utc_offset_s: 0, zone: "UTC".to_owned() })
}

/// Returns the folder with output of the real tool for files of our own.
pub(crate) fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vdbench-pages")
}

/// Returns the folders of real output: our own, and that of the corpus if it is there.
pub(crate) fn golden() -> impl Iterator<Item = PathBuf> {
    let corpus = testing::corpus("golden/vdbench", "out_raw/summary.html");
    std::iter::once(own()).chain(corpus)
}

/// Returns the output directories of runs on storage definitions, or on files.
pub(crate) fn outputs(is_files: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in golden() {
        for entry in std::fs::read_dir(&folder).expect("it is there").flatten() {
            let flat = std::fs::read_to_string(entry.path().join("flatfile.html"));
            let flat = flat.unwrap_or_default();
            let heading = if is_files { " Reqrate " } else { " reqrate " };
            if flat.lines().any(|line| !line.starts_with('*') && line.contains(heading)) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Returns a page of an output directory.
pub(crate) fn page(output: &Path, name: &str) -> String {
    std::fs::read_to_string(output.join(name)).expect(name)
}

/// Returns the numbers of a row behind clock and label; `None` if it has others, or `NaN`.
pub(crate) fn numbers(row: &str) -> Option<(&str, &str, Vec<f64>)> {
    let mut words = row.split_whitespace();
    let clock = words.next().filter(|word| moment(word).is_some())?;
    let label = words.next()?;
    let is_label = label.starts_with("avg_") || label.bytes().all(|byte| byte.is_ascii_digit());
    let numbers: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.iter().all(|number| number.is_finite()))?;
    (is_label && numbers.len() > 8).then_some((clock, label, numbers))
}

/// Returns processors' shares from user and kernel together, and kernel.
pub(crate) fn cpu(used_pct: f64, system_pct: f64) -> CpuShares {
    CpuShares { user_pct: used_pct - system_pct, system_pct, wait_pct: 0.0, idle_pct: 0.0 }
}

/// Returns the figures of a row of layout 507.
pub(crate) fn raw_507(numbers: &[f64]) -> RawFigures {
    let &[iops, mb_s, bytes, read_pct, resp, read, write, read_max, write_max, std, queue, ..] =
        numbers
    else {
        panic!("{numbers:?}");
    };
    RawFigures {
        rate_iops: iops,
        mb_s,
        bytes_per_io: bytes as u64,
        read_pct,
        resp_ms: resp,
        read_resp_ms: read,
        write_resp_ms: write,
        resp_ms_max: read_max.max(write_max),
        read_ms_max: read_max,
        write_ms_max: write_max,
        resp_ms_std: std,
        queue_depth: queue,
        cpu: Some(cpu(numbers[11], numbers[12])),
        ..RawFigures::default()
    }
}

/// Returns the figures of a row of layout 503.
pub(crate) fn raw_503(numbers: &[f64]) -> RawFigures {
    let &[rate_iops, mb_s, bytes, read_pct, resp, read, write, max, std, queue, ..] = numbers
    else {
        panic!("{numbers:?}");
    };
    RawFigures {
        rate_iops,
        mb_s,
        bytes_per_io: bytes as u64,
        read_pct,
        resp_ms: resp,
        read_resp_ms: read,
        write_resp_ms: write,
        resp_ms_max: max,
        resp_ms_std: std,
        queue_depth: queue,
        cpu: numbers.get(11).map(|system_pct| cpu(numbers[10], *system_pct)),
        ..RawFigures::default()
    }
}

/// Returns the figures of a row of files; `has_cpu` is false in tables of skew.
pub(crate) fn files(numbers: &[f64], has_cpu: bool) -> FileFigures {
    let op = |rate: f64, resp_ms: f64| OpFigures { rate, resp_ms, ..OpFigures::default() };
    let mut figures =
        FileFigures { requested: op(numbers[0], numbers[1]), ..FileFigures::default() };
    let mut rest = &numbers[2..];
    if has_cpu {
        figures.cpu = Some(cpu(rest[0], rest[1]));
        rest = &rest[2..];
    }
    figures.read_pct = rest[0];
    (figures.mb_read_s, figures.mb_write_s, figures.mb_s) = (rest[5], rest[6], rest[7]);
    figures.bytes_per_io = rest[8] as u64;
    figures.ops = vec![op(rest[1], rest[2]), op(rest[3], rest[4])];
    let names = ["mkdir", "rmdir", "create", "open", "close", "delete", "getattr"];
    assert!(OPERATIONS[2..9].iter().zip(names).all(|(known, name)| operation_name(*known) == name));
    figures.ops.extend(rest[9..].chunks_exact(2).map(|pair| op(pair[0], pair[1])));
    figures
}

/// A line of a flatfile, by the names of its columns.
pub(crate) struct FlatLine<'a> {
    names: Vec<&'a str>,
    words: Vec<&'a str>,
    /// The line.
    pub(crate) text: &'a str,
}

/// Returns the lines of a flatfile.
pub(crate) fn flat_lines(page: &str) -> Vec<FlatLine<'_>> {
    let mut lines = page.lines().filter(|line| !line.starts_with(['*', '<']));
    let names: Vec<&str> = lines.next().expect("a heading").split_whitespace().collect();
    let line = |text| FlatLine {
        names: names.clone(),
        words: str::split_whitespace(text).collect(),
        text,
    };
    lines.map(line).collect()
}

impl<'a> FlatLine<'a> {
    /// Returns the word in a column.
    pub(crate) fn word(&self, name: &str) -> &'a str {
        let idx = self.names.iter().position(|known| *known == name).expect(name);
        self.words[idx]
    }

    /// Returns the number in a column; `None` for `n/a`.
    pub(crate) fn known(&self, name: &str) -> Option<f64> {
        self.word(name).parse().ok()
    }

    /// Returns the number in a column that has one.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.known(name).unwrap_or_else(|| panic!("{name}: {}", self.word(name)))
    }

    /// Returns the word for user and kernel together in a line like this one.
    pub(crate) fn sum_of_cpu<'b>(&self, row: &'b str) -> &'b str {
        let idx = self.names.iter().position(|known| *known == "cpu_used").expect("a column");
        row.split_whitespace().nth(idx).expect("a word")
    }

    /// Returns whether nothing was measured.
    pub(crate) fn is_void(&self) -> bool {
        self.words.contains(&"NaN")
    }

    /// Returns processors' shares.
    pub(crate) fn cpu(&self) -> CpuShares {
        CpuShares {
            user_pct: self.number("cpu_user"),
            system_pct: self.number("cpu_kernel"),
            wait_pct: self.number("cpu_wait"),
            idle_pct: self.number("cpu_idle"),
        }
    }

    /// Returns the figures of a raw line.
    pub(crate) fn raw(&self) -> RawFigures {
        RawFigures {
            rate_iops: self.number("rate"),
            mb_s: self.number("MB/sec"),
            bytes_per_io: self.number("bytes/io") as u64,
            read_pct: self.number("read%"),
            resp_ms: self.number("resp"),
            read_resp_ms: self.number("read_resp"),
            write_resp_ms: self.number("write_resp"),
            resp_ms_max: self.number("resp_max"),
            read_ms_max: self.number("read_max"),
            write_ms_max: self.number("write_max"),
            resp_ms_std: self.number("resp_std"),
            read_ms_std: self.number("read_std"),
            write_ms_std: self.number("write_std"),
            queue_depth: self.number("queue_depth"),
            cpu: Some(self.cpu()),
        }
    }

    /// Returns the figures of a line of files.
    pub(crate) fn files(&self) -> FileFigures {
        let op = |prefix: &str| OpFigures {
            rate: self.number(&format!("{prefix}ate")),
            rate_std: self.number(&format!("{prefix}ate_std")),
            rate_max: self.number(&format!("{prefix}ate_max")),
            resp_ms: self.number(&format!("{prefix}esp")),
            resp_ms_std: self.number(&format!("{prefix}esp_std")),
            resp_ms_max: self.number(&format!("{prefix}esp_max")),
        };
        let (reads, writes) = (self.number("Read_rate"), self.number("Write_rate"));
        let operations = &OPERATIONS[..11];
        let of = |name: &str| op(&format!("{}{}_r", name[..1].to_uppercase(), &name[1..]));
        FileFigures {
            requested: op("R"),
            cpu: Some(self.cpu()),
            read_pct: if reads > 0.0 { reads * 100.0 / (reads + writes) } else { 0.0 },
            mb_s: self.number("MB/sec"),
            mb_read_s: self.number("MB_read"),
            mb_write_s: self.number("MB_write"),
            bytes_per_io: self.number("Xfersize") as u64,
            ops: operations.iter().map(|op| of(operation_name(*op))).collect(),
        }
    }
}
