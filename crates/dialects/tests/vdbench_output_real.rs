//! Reprints pages that Vdbench 5.04.07 made, from the figures in them, where they are present.
#![expect(clippy::print_stdout, reason = "a test that cannot run here says so")]

mod vdbench_output_support;

use std::path::Path;

use dialects::vdbench::output::{
    Asked, FileFigures, HISTOGRAM_LIMITS_US, LABEL_COLUMNS, Layout, Megabyte, Moment, OpStats,
    RowStats, Skew, Totals, block, file_columns, file_flatfile_head, file_flatfile_row,
    file_header, file_row, file_skew_header, file_skew_row, file_spread_rows, misc_line,
    raw_flatfile_head, raw_flatfile_row, raw_header, raw_row, raw_skew_header, raw_skew_row,
};
use dialects::vdbench::run::FileOperation;
use hist::Histogram;
use vdbench_output_support::{
    FlatLine, files, flat_lines, golden, moment, numbers, raw_503, raw_507,
};

/// Calls `check` with each page of a folder.
fn pages(folder: &Path, mut check: impl FnMut(&str, &str)) {
    let entries = std::fs::read_dir(folder).expect("the folder was found");
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        check(&name, &text);
    }
}

#[test]
fn every_raw_row_is_printed_again() {
    let Some(golden) = golden() else { return };
    let (mut n_rows, mut n_headers) = (0, 0);
    for folder in ["out_raw", "out_dv", "out_jn2"] {
        pages(&golden.join(folder), |name, text| {
            if name.starts_with("flatfile") || name.starts_with("skew") || name.contains("stdout") {
                return;
            }
            let lines: Vec<&str> = text.lines().collect();
            for (idx, line) in lines.iter().enumerate() {
                if line.starts_with("Nov 21, 2026") {
                    n_headers += 1;
                    let header = raw_header(Layout::V507, "Nov 21, 2026", Megabyte::Binary);
                    assert_eq!(header, format!("{line}\n{}\n", lines[idx + 1]), "{name}");
                }
                let Some((clock, label, figures)) = numbers(line) else { continue };
                n_rows += 1;
                let row = raw_row(Layout::V507, clock, label, &raw_507(&figures));
                assert_eq!(row, format!("{line}\n"), "{folder}/{name}");
            }
        });
    }
    println!("{n_rows} of {n_rows} raw rows, {n_headers} headers");
    assert!(n_rows > 150 && n_headers > 40, "{n_rows} rows, {n_headers} headers");
}

#[test]
fn every_file_row_is_printed_again() {
    let Some(golden) = golden() else { return };
    let columns = file_columns(&[FileOperation::Getattr]);
    let mut n_rows = 0;
    let mut check = |name: &str, text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        for (idx, line) in lines.iter().enumerate() {
            if line.starts_with("Nov 21, 2026") {
                let header = file_header("Nov 21, 2026", &columns);
                assert_eq!(header, format!("{line}\n{}\n", lines[idx + 1]), "{name}");
            }
            let Some((clock, label, figures)) = numbers(line) else { continue };
            n_rows += 1;
            let row = file_row(clock, label, &files(&figures, true), &columns);
            assert_eq!(row, format!("{line}\n"), "{name}");
        }
    };
    pages(&golden.join("out_fs"), |name, text| {
        if !name.starts_with("flatfile") && !name.starts_with("skew") && !name.contains("stdout") {
            check(name, text);
        }
    });
    check("fs.console", &std::fs::read_to_string(golden.join("fs.console")).expect("it is there"));
    println!("{n_rows} of {n_rows} file rows");
    assert!(n_rows > 40, "{n_rows} rows");
}

#[test]
fn standard_deviations_and_maxima_are_printed_again() {
    let Some(golden) = golden() else { return };
    let flat = std::fs::read_to_string(golden.join("out_fs/flatfile.html")).expect("it is there");
    let lines = flat_lines(&flat);
    let averages = lines.iter().filter(|line| line.word("Interval").starts_with("avg_"));
    let averages: Vec<FileFigures> =
        averages.filter(|line| !line.is_void()).map(FlatLine::files).collect();
    let summary = std::fs::read_to_string(golden.join("out_fs/summary.html")).expect("also");
    let rows: Vec<&str> =
        summary.lines().filter(|line| line.contains("_2-4") && !line.contains("avg_")).collect();
    let clock = &rows[0][..12];
    let printed =
        file_spread_rows(clock, "2-4", &averages[0], &file_columns(&[FileOperation::Getattr]));
    assert_eq!(printed.concat(), format!("{}\n{}\n", rows[0], rows[1]));
}

fn asked(line: &FlatLine<'_>) -> Asked {
    Asked {
        run: line.word("Run").to_owned(),
        reqrate: line.number("reqrate"),
        xfersize: line.known("xfersize").map(|size| size as u64),
        threads: line.known("threads").map(|threads| threads as i64),
        rdpct: line.known("rdpct"),
        rhpct: line.known("rhpct"),
        whpct: line.known("whpct"),
        seekpct: line.known("seekpct"),
        lun_bytes: line.known("lunsize").map(|gib| (gib * 1024.0 * 1024.0 * 1024.0) as u64),
        compratio: line.known("compratio"),
        dedupratio: line.known("dedupratio"),
    }
}

fn time_of(line: &FlatLine<'_>) -> Moment {
    moment(line.word("tod")).expect("a clock")
}

/// Leaves out what is the sum of two others, each of them rounded in the page.
fn without_sums(line: &FlatLine<'_>, row: &str) -> String {
    row.trim_end_matches('\n').replace(&format!(" {} ", line.sum_of_cpu(row)), " SUM ")
}

#[test]
fn every_line_of_flatfiles_is_printed_again() {
    let Some(golden) = golden() else { return };
    let mut n_lines = 0;
    for folder in ["out_raw", "out_dv", "out_jn2"] {
        let page = golden.join(folder).join("flatfile.html");
        let page = std::fs::read_to_string(page).expect("it is there");
        let head = raw_flatfile_head(Layout::V507);
        assert_eq!(page.lines().find(|line| line.contains(" tod ")), head.lines().last());
        for line in flat_lines(&page).iter().filter(|line| !line.is_void()) {
            n_lines += 1;
            let (now, label) = (time_of(line), line.word("Interval"));
            let row = raw_flatfile_row(Layout::V507, &now, label, &asked(line), &line.raw());
            assert_eq!(without_sums(line, &row), without_sums(line, line.text));
        }
    }
    let page = std::fs::read_to_string(golden.join("out_fs/flatfile.html")).expect("it is there");
    let head = file_flatfile_head();
    assert_eq!(page.lines().find(|line| line.contains(" tod ")), head.lines().last());
    for line in flat_lines(&page).iter().filter(|line| !line.is_void()) {
        n_lines += 1;
        let asked = Asked {
            run: line.word("Run").to_owned(),
            reqrate: line.number("Reqrate"),
            compratio: line.known("Compratio"),
            ..Asked::default()
        };
        let row = file_flatfile_row(&time_of(line), line.word("Interval"), &asked, &line.files());
        assert_eq!(without_sums(line, &row), without_sums(line, line.text));
    }
    println!("{n_lines} of {n_lines} flatfile lines");
    assert!(n_lines > 35, "{n_lines} lines");
}

/// The flatfile has more digits than the summary: from them its rows follow, but for a last digit
/// that was rounded twice.
#[test]
fn summaries_follow_from_flatfiles() {
    let Some(golden) = golden() else { return };
    let flat = std::fs::read_to_string(golden.join("out_raw/flatfile.html")).expect("it is there");
    let summary = std::fs::read_to_string(golden.join("out_raw/summary.html")).expect("also");
    let rows: Vec<_> = summary.lines().filter_map(numbers).collect();
    let lines = flat_lines(&flat);
    let lines: Vec<_> = lines.iter().filter(|line| !line.is_void()).collect();
    assert_eq!(rows.len(), lines.len());
    let mut n_figures = 0;
    for (&(clock, label, ref expected), line) in rows.iter().zip(&lines) {
        let row = raw_row(Layout::V507, clock, label, &line.raw());
        let (_, printed_label, printed) = numbers(&row).expect("a row");
        assert_eq!(printed_label, label);
        for (printed, expected) in printed.iter().zip(expected) {
            n_figures += 1;
            let last_digit = if *expected > 1000.0 { 0.1001 } else { 0.0100_1 };
            assert!((printed - expected).abs() <= last_digit, "{row} for {expected}");
        }
    }
    assert!(n_figures > 250, "{n_figures}");
}

/// Rebuilds the sums of an interval of one second from its figures.
fn sums(n: f64, bytes: f64, resp_ms: f64, std_ms: f64, max_ms: f64) -> OpStats {
    let (mean, std) = (resp_ms * 1e6, std_ms * 1e6);
    OpStats {
        n: n.round() as u64,
        bytes: bytes as u64,
        latency_ns_sum: mean * n,
        latency_ns2_sum: std * std * (n - 1.0).max(0.0) + mean * mean * n,
        latency_ns_max: (max_ms * 1e6) as u64,
    }
}

/// Rebuilds the sums of a raw interval of one second.
fn raw_sums(line: &FlatLine<'_>) -> RowStats {
    let figures = line.raw();
    let n_reads = (figures.rate_iops * figures.read_pct / 100.0).round();
    let n_writes = figures.rate_iops - n_reads;
    let bytes = figures.mb_s * 1_048_576.0;
    let (read_ms, write_ms) = (figures.read_resp_ms, figures.write_resp_ms);
    let reads = sums(n_reads, bytes, read_ms, figures.read_ms_std, figures.read_ms_max);
    let writes = sums(n_writes, 0.0, write_ms, figures.write_ms_std, figures.write_ms_max);
    let mut row = RowStats::new(1_000_000_000, Some(line.cpu()));
    row.add(FileOperation::Read, &reads);
    row.add(FileOperation::Write, &writes);
    row
}

/// Averages are made of intervals by the definitions here, and come out as Vdbench's.
#[test]
fn averages_are_those_of_the_intervals() {
    let Some(golden) = golden() else { return };
    let flat = std::fs::read_to_string(golden.join("out_raw/flatfile.html")).expect("it is there");
    let mut n_averages = 0;
    let mut totals = Totals::new(false);
    for line in flat_lines(&flat) {
        let label = line.word("Interval");
        let n_warmup = if line.word("Run") == "rd2" { 2 } else { 0 };
        if !label.starts_with("avg_") {
            if label == "1" {
                totals = Totals::new(n_warmup > 0);
            }
            let number: u32 = label.parse().expect("a number");
            totals.add(&raw_sums(&line), number <= n_warmup);
            continue;
        }
        totals.finish();
        if line.is_void() {
            assert_eq!(totals.label().as_deref(), Some("1-1"), "Vdbench has avg_2-1 and NaN here");
            continue;
        }
        n_averages += 1;
        assert_eq!(
            Some(format!("avg_{}", totals.label().expect("a label"))),
            Some(label.to_owned())
        );
        let (ours, theirs) = (
            dialects::vdbench::output::RawFigures::of(totals.sums(), Megabyte::Binary),
            line.raw(),
        );
        let pairs = [
            (ours.rate_iops, theirs.rate_iops, 0.01),
            (ours.mb_s, theirs.mb_s, 0.001),
            (ours.read_pct, theirs.read_pct, 0.001),
            (ours.resp_ms, theirs.resp_ms, 0.000_2),
            (ours.read_resp_ms, theirs.read_resp_ms, 0.000_2),
            (ours.write_resp_ms, theirs.write_resp_ms, 0.000_2),
            (ours.resp_ms_max, theirs.resp_ms_max, 1e-6),
            (ours.resp_ms_std, theirs.resp_ms_std, 0.000_2),
            (ours.read_ms_std, theirs.read_ms_std, 0.000_2),
            (ours.write_ms_std, theirs.write_ms_std, 0.000_2),
            (ours.queue_depth, theirs.queue_depth, theirs.queue_depth * 0.01),
        ];
        for (idx, (ours, theirs, tolerance)) in pairs.into_iter().enumerate() {
            assert!((ours - theirs).abs() <= tolerance, "{label} {idx}: {ours} for {theirs}");
        }
    }
    assert_eq!(n_averages, 3);
}

#[test]
fn spreads_of_file_operations_are_those_of_the_intervals() {
    let Some(golden) = golden() else { return };
    let flat = std::fs::read_to_string(golden.join("out_fs/flatfile.html")).expect("it is there");
    let lines = flat_lines(&flat);
    let mut totals = Totals::new(false);
    let of_rd1 = lines.iter().filter(|line| line.word("Run") == "rd1");
    let (averages, intervals): (Vec<_>, Vec<_>) =
        of_rd1.partition(|line| line.word("Interval").starts_with("avg_"));
    for line in &intervals {
        let figures = line.files();
        let mut row = RowStats::new(1_000_000_000, None);
        for operation in [FileOperation::Read, FileOperation::Write, FileOperation::Open] {
            let op = figures.op(operation);
            row.add(operation, &sums(op.rate, 0.0, op.resp_ms, op.resp_ms_std, op.resp_ms_max));
        }
        totals.add(&row, false);
    }
    totals.finish();
    let ours = FileFigures::of_run(&totals, Megabyte::Binary);
    let theirs = averages[0].files();
    for operation in [FileOperation::Read, FileOperation::Write, FileOperation::Open] {
        let (ours, theirs) = (ours.op(operation), theirs.op(operation));
        let pairs = [
            (ours.rate, theirs.rate, 0.001),
            (ours.rate_std, theirs.rate_std, 0.001),
            (ours.rate_max, theirs.rate_max, 1e-9),
            (ours.resp_ms, theirs.resp_ms, 0.000_1),
            (ours.resp_ms_std, theirs.resp_ms_std, 0.003),
            (ours.resp_ms_max, theirs.resp_ms_max, 1e-9),
        ];
        for (idx, (ours, theirs, tolerance)) in pairs.into_iter().enumerate() {
            assert!((ours - theirs).abs() <= tolerance, "{operation:?} {idx}: {ours} {theirs}");
        }
    }
}

#[test]
fn tables_of_skew_are_printed_again() {
    let Some(golden) = golden() else { return };
    let mut n_lines = 0;
    let page = std::fs::read_to_string(golden.join("out_raw/skew.html")).expect("it is there");
    for line in page.lines().filter_map(|line| line.get(13..)) {
        let what = line.split_whitespace().next().unwrap_or_default();
        if ["Slave:", "SD:", "WD:"].contains(&what) {
            n_lines += 1;
            assert_eq!(
                raw_skew_header(what, LABEL_COLUMNS, Megabyte::Binary, what == "WD:")[1],
                line
            );
        } else if line.starts_with("                     i/o") {
            n_lines += 1;
            let has_skew = line.contains("skew");
            assert_eq!(raw_skew_header("", LABEL_COLUMNS, Megabyte::Binary, has_skew)[0], line);
        }
        let figures: Vec<&str> = line.split_whitespace().skip(1).collect();
        let figures: Option<Vec<f64>> =
            figures.iter().map(|word| word.trim_end_matches('%').parse().ok()).collect();
        let Some(figures) = figures.filter(|figures| figures.len() >= 10) else { continue };
        n_lines += 1;
        let skew =
            figures.get(10).map(|&requested_pct| Skew { requested_pct, observed_pct: figures[11] });
        assert_eq!(raw_skew_row(what, LABEL_COLUMNS, &raw_503(&figures), skew), line);
    }
    assert!(n_lines > 40, "{n_lines}");
    let page = std::fs::read_to_string(golden.join("out_fs/skew.html")).expect("it is there");
    let columns = file_columns(&[FileOperation::Getattr]);
    for line in page.lines().filter_map(|line| line.get(13..)) {
        let what = line.split_whitespace().next().unwrap_or_default();
        if ["Host:", "FSD:", "FWD:"].contains(&what) {
            n_lines += 1;
            assert_eq!(file_skew_header(what, &columns)[1], line);
        } else if line.trim_start().starts_with(".ReqstdOps") {
            n_lines += 1;
            assert_eq!(file_skew_header(what, &columns)[0], line);
        }
        let figures: Option<Vec<f64>> =
            line.split_whitespace().skip(1).map(|word| word.parse().ok()).collect();
        let Some(figures) = figures.filter(|figures| figures.len() > 12) else { continue };
        if figures.iter().all(|figure| figure.is_finite()) {
            n_lines += 1;
            assert_eq!(file_skew_row(what, &files(&figures, false), &columns), line);
        }
    }
    println!("{n_lines} of {n_lines} lines of skew");
}

#[test]
fn every_histogram_is_printed_again() {
    let Some(golden) = golden() else { return };
    let mut n_blocks = 0;
    for (folder, end) in [("out_raw", "eads"), ("out_fs", "perations since warmup: ")] {
        pages(&golden.join(folder), |name, text| {
            if !name.ends_with("histogram.html") {
                return;
            }
            for part in text.split("\n\n").collect::<Vec<_>>().windows(2) {
                let title = part[0].lines().find(|line| {
                    line.ends_with(':') || line.ends_with(end) && line.starts_with("Total of")
                });
                let Some(title) = title.filter(|_| part[0].contains("min(ms) <")) else { continue };
                let mut histogram = Histogram::new();
                for row in part[1].lines() {
                    let words: Vec<&str> = row.split_whitespace().collect();
                    let from_ms: f64 = words[0].parse().expect("a limit");
                    let n = words[3].replace(',', "").parse().expect("a count");
                    histogram.record_n((from_ms * 1.1e6) as u64 + 5_000, n);
                }
                n_blocks += 1;
                let expected = format!(
                    "{title}\n{}\n\n{}\n\n",
                    part[0].lines().last().expect("a heading"),
                    part[1]
                );
                assert_eq!(block(title, &histogram, &HISTOGRAM_LIMITS_US), expected, "{name}");
            }
        });
    }
    println!("{n_blocks} of {n_blocks} histograms");
    assert!(n_blocks > 25, "{n_blocks}");
}

#[test]
fn statistics_below_a_run_are_printed_again() {
    let Some(golden) = golden() else { return };
    let page = std::fs::read_to_string(golden.join("fs.console")).expect("it is there");
    let mut n_lines = 0;
    for line in page.lines().filter(|line| line.ends_with("/sec")) {
        let line = &line[13..];
        let (name, rest) = line.split_at(20);
        let (text, figures) = rest.split_at(40);
        let mut figures = figures.split_whitespace();
        let n = figures.next().and_then(|n| n.parse().ok()).expect("a count");
        let per_s = figures.next().and_then(|rate| rate.strip_suffix("/sec"));
        let per_s: f64 = per_s.and_then(|rate| rate.parse().ok()).expect("a rate");
        assert_eq!(misc_line(name.trim_end(), text.trim_end(), n, per_s), line);
        n_lines += 1;
    }
    assert_eq!(n_lines, 9);
}
