//! Reprints pages that Vdbench 5.04.07 made, from the figures in them: of files of our own, and of
//! the corpus where it is present.
#![expect(clippy::print_stdout, reason = "a test that cannot run here says so")]

mod vdbench_output_support;

use std::path::Path;

use dialects::vdbench::output::{
    FileFigures, HISTOGRAM_LIMITS_US, Layout, Megabyte, Moment, OpStats, RowStats, RunSettings,
    Skew, Totals, block, file_columns, file_flatfile_head, file_flatfile_row, file_header,
    file_row, file_skew_header, file_skew_row, file_spread_rows, misc_line, raw_flatfile_head,
    raw_flatfile_row, raw_header, raw_row, raw_skew_header, raw_skew_row,
};
use dialects::vdbench::run::FileOperation;
use hist::Histogram;
use vdbench_output_support::{
    FlatLine, files, flat_lines, golden, moment, numbers, outputs, page, raw_503, raw_507,
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
    let (mut n_rows, mut n_headers) = (0, 0);
    for output in outputs(false) {
        pages(&output, |name, text| {
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
                assert_eq!(row, format!("{line}\n"), "{}/{name}", output.display());
            }
        });
    }
    println!("{n_rows} of {n_rows} raw rows, {n_headers} headers");
    assert!(n_rows > 150 && n_headers > 40, "{n_rows} rows, {n_headers} headers");
}

/// Returns the columns that the heading of a page of files has.
fn columns_of(text: &str) -> Vec<FileOperation> {
    let has_getattr = text.contains("..getattr...");
    file_columns(if has_getattr { &[FileOperation::Getattr] } else { &[] })
}

#[test]
fn every_file_row_is_printed_again() {
    let mut n_rows = 0;
    let mut check = |name: &str, text: &str| {
        let columns = columns_of(text);
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
    for output in outputs(true) {
        pages(&output, |name, text| {
            let is_other = ["flatfile", "skew"].iter().any(|other| name.starts_with(other));
            if !is_other && !name.contains("stdout") {
                check(name, text);
            }
        });
    }
    for console in golden().filter_map(|it| std::fs::read_to_string(it.join("fs.console")).ok()) {
        check("fs.console", &console);
    }
    println!("{n_rows} of {n_rows} file rows");
    assert!(n_rows > 40, "{n_rows} rows");
}

#[test]
fn standard_deviations_and_maxima_are_printed_again() {
    let mut n_runs = 0;
    for output in outputs(true) {
        let flat = page(&output, "flatfile.html");
        let lines = flat_lines(&flat);
        let averages = lines.iter().filter(|line| line.word("Interval").starts_with("avg_"));
        let summary = page(&output, "summary.html");
        let spreads: Vec<&str> = summary
            .lines()
            .filter(|line| ["std_", "max_"].iter().any(|label| line.contains(label)))
            .collect();
        for (average, rows) in averages.zip(spreads.chunks(2)) {
            if average.is_void() {
                continue;
            }
            let intervals = average.word("Interval").trim_start_matches("avg_");
            let columns = columns_of(&summary);
            let clock = &rows[0][..12];
            let printed = file_spread_rows(clock, intervals, &average.files(), &columns);
            assert_eq!(printed.concat(), format!("{}\n{}\n", rows[0], rows[1]));
            n_runs += 1;
        }
    }
    assert!(n_runs >= 3, "{n_runs}");
}

fn asked(line: &FlatLine<'_>) -> RunSettings {
    RunSettings {
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
    let mut n_lines = 0;
    for output in outputs(false) {
        let flat = page(&output, "flatfile.html");
        let head = raw_flatfile_head(Layout::V507);
        assert_eq!(flat.lines().find(|line| line.contains(" tod ")), head.lines().last());
        for line in flat_lines(&flat).iter().filter(|line| !line.is_void()) {
            n_lines += 1;
            let (now, label) = (time_of(line), line.word("Interval"));
            let row = raw_flatfile_row(Layout::V507, &now, label, &asked(line), &line.raw());
            assert_eq!(without_sums(line, &row), without_sums(line, line.text));
        }
    }
    for output in outputs(true) {
        let flat = page(&output, "flatfile.html");
        let head = file_flatfile_head();
        assert_eq!(flat.lines().find(|line| line.contains(" tod ")), head.lines().last());
        for line in flat_lines(&flat).iter().filter(|line| !line.is_void()) {
            n_lines += 1;
            let asked = RunSettings {
                run: line.word("Run").to_owned(),
                reqrate: line.number("Reqrate"),
                threads: line.known("Threads").map(|threads| threads as i64),
                compratio: line.known("Compratio"),
                ..RunSettings::default()
            };
            let label = line.word("Interval");
            let row = file_flatfile_row(&time_of(line), label, &asked, &line.files());
            assert_eq!(without_sums(line, &row), without_sums(line, line.text));
        }
    }
    println!("{n_lines} of {n_lines} flatfile lines");
    assert!(n_lines > 35, "{n_lines} lines");
}

/// The flatfile has more digits than the summary: from them its rows follow, but for a last digit
/// that was rounded twice.
#[test]
fn summaries_follow_from_flatfiles() {
    let mut n_figures = 0;
    for output in outputs(false).iter().filter(|output| output.ends_with("out_raw")) {
        let flat = page(output, "flatfile.html");
        let summary = page(output, "summary.html");
        let rows: Vec<_> = summary.lines().filter_map(numbers).collect();
        let lines = flat_lines(&flat);
        let lines: Vec<_> = lines.iter().filter(|line| !line.is_void()).collect();
        assert_eq!(rows.len(), lines.len(), "{}", output.display());
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
    }
    assert!(n_figures > 200, "{n_figures} figures");
}

/// Rebuilds the sums of an interval of one second from its figures.
fn sums(n: f64, bytes: f64, resp_ms: f64, std_ms: f64, max_ms: f64) -> OpStats {
    let (mean, std) = (resp_ms * 1e6, std_ms * 1e6);
    OpStats {
        n: n.round() as u64,
        bytes: bytes as u64,
        latency_ns_sum: mean * n,
        latency_ns2_sum: std * std * (n - 1.0).max(0.0) + mean * mean * n,
        latency_ns_max: (max_ms * 1e6).round() as u64,
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

/// Returns the lines of each run of a flatfile, its average the last, with the length of its warmup
/// in intervals.
fn runs_of(flat: &str) -> Vec<(Vec<FlatLine<'_>>, u32)> {
    let mut runs: Vec<(Vec<FlatLine<'_>>, u32)> = Vec::new();
    let mut lines = Vec::new();
    for line in flat_lines(flat) {
        let average = line.word("Interval").strip_prefix("avg_");
        let first = average.map(|label| label.split('-').next().and_then(|it| it.parse().ok()));
        lines.push(line);
        if let Some(first) = first {
            // Without a warmup the averages begin with the second interval.
            let n_warmup = first.filter(|first| *first > 2).map_or(0, |first: u32| first - 1);
            runs.push((std::mem::take(&mut lines), n_warmup));
        }
    }
    runs
}

/// Averages are made of intervals by the definitions here, and come out as Vdbench's.
#[test]
fn averages_are_those_of_the_intervals() {
    let mut n_averages = 0;
    for output in outputs(false).iter().filter(|output| output.ends_with("out_raw")) {
        for (lines, n_warmup) in runs_of(&page(output, "flatfile.html")) {
            n_averages += usize::from(check_average(&lines, n_warmup));
        }
    }
    assert!(n_averages >= 3, "{n_averages}");
}

/// Returns whether there was an average.
fn check_average(lines: &[FlatLine<'_>], n_warmup: u32) -> bool {
    let (line, intervals) = lines.split_last().expect("a run has lines");
    let mut totals = Totals::new(n_warmup > 0);
    for (interval, number) in intervals.iter().zip(1..) {
        totals.add(&raw_sums(interval), number <= n_warmup);
    }
    totals.finish();
    let label = line.word("Interval");
    if line.is_void() {
        assert_eq!(totals.label().as_deref(), Some("1-1"), "Vdbench has avg_2-1 and NaN here");
        return false;
    }
    assert_eq!(Some(format!("avg_{}", totals.label().expect("a label"))), Some(label.to_owned()));
    let (ours, theirs) =
        (dialects::vdbench::output::RawFigures::of(totals.sums(), Megabyte::Binary), line.raw());
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
    true
}

#[test]
fn spreads_of_file_operations_are_those_of_the_intervals() {
    let mut n_runs = 0;
    for output in outputs(true) {
        for (lines, _) in runs_of(&page(&output, "flatfile.html")) {
            let (average, intervals) = lines.split_last().expect("a run has lines");
            if !average.is_void() {
                check_spread(average, intervals);
                n_runs += 1;
            }
        }
    }
    assert!(n_runs >= 3, "{n_runs}");
}

fn check_spread(average: &FlatLine<'_>, intervals: &[FlatLine<'_>]) {
    let mut totals = Totals::new(false);
    for line in intervals {
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
    let theirs = average.files();
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
    let raw = outputs(false).iter().map(|it| raw_skew_lines(&page(it, "skew.html"))).sum::<usize>();
    let files = outputs(true).into_iter().map(|it| file_skew_lines(&page(&it, "skew.html")));
    let files = files.sum::<usize>();
    println!("{raw} and {files} lines of skew");
    assert!(raw > 40 && files > 20, "{raw} {files}");
}

/// Prints the tables of a page again, and returns of how many lines.
fn raw_skew_lines(page: &str) -> usize {
    let (mut n_lines, mut width) = (0, 0);
    for line in page.lines().filter_map(|line| line.get(13..)) {
        let what = line.split_whitespace().next().unwrap_or_default();
        if ["Slave:", "SD:", "WD:"].contains(&what) {
            n_lines += 1;
            assert_eq!(raw_skew_header(what, width, Megabyte::Binary, what == "WD:")[1], line);
        } else if line.trim_start().starts_with("i/o   MB/sec") {
            n_lines += 1;
            width = line.find("i/o").expect("it is there") - 8;
            let has_skew = line.contains("skew");
            assert_eq!(raw_skew_header("", width, Megabyte::Binary, has_skew)[0], line);
        }
        let figures: Vec<&str> = line.split_whitespace().skip(1).collect();
        let figures: Option<Vec<f64>> =
            figures.iter().map(|word| word.trim_end_matches('%').parse().ok()).collect();
        let Some(figures) = figures.filter(|figures| figures.len() >= 10) else { continue };
        n_lines += 1;
        let skew =
            figures.get(10).map(|&requested_pct| Skew { requested_pct, observed_pct: figures[11] });
        let row = raw_skew_row(what, width, &raw_503(&figures), skew);
        match figures.get(12).zip(skew) {
            // The deviation was rounded once, and here from what was rounded before.
            Some((delta_pct, skew)) => {
                assert!((skew.delta_pct() - delta_pct).abs() < 0.011, "{line}");
                let end = line.len() - 7;
                assert_eq!(row[..end], line[..end]);
            }
            None => assert_eq!(row, line),
        }
    }
    n_lines
}

/// The same of files.
fn file_skew_lines(page: &str) -> usize {
    let mut n_lines = 0;
    let columns = columns_of(page);
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
    n_lines
}

#[test]
fn every_histogram_is_printed_again() {
    let mut n_blocks = 0;
    let raw = outputs(false).into_iter().map(|output| (output, "eads"));
    let files = outputs(true).into_iter().map(|output| (output, "perations since warmup: "));
    for (output, end) in raw.chain(files) {
        pages(&output, |name, text| {
            if !name.ends_with("histogram.html") {
                return;
            }
            for part in text.split("\n\n").collect::<Vec<_>>().windows(2) {
                let title = part[0].lines().find(|line| {
                    line.ends_with(':') || line.ends_with(end) && line.starts_with("Total of")
                });
                let Some(title) = title.filter(|_| part[0].contains("min(ms) <")) else { continue };
                let mut histogram = Histogram::new();
                let mut limits_us = Vec::new();
                for row in part[1].lines() {
                    let words: Vec<&str> = row.split_whitespace().collect();
                    let from_ms: f64 = words[0].parse().expect("a limit");
                    limits_us.extend((from_ms > 0.0).then_some((from_ms * 1000.0).round() as u64));
                    let n = words[3].replace(',', "").parse().expect("a count");
                    histogram.record_n((from_ms * 1.1e6) as u64 + 5_000, n);
                }
                n_blocks += 1;
                let expected = format!(
                    "{title}\n{}\n\n{}\n\n",
                    part[0].lines().last().expect("a heading"),
                    part[1].trim_end()
                );
                assert_eq!(block(title, &histogram, &limits_us), expected, "{name}");
                let has_default = limits_us == HISTOGRAM_LIMITS_US;
                assert!(has_default || limits_us == [100, 1000, 10_000, 1_000_000], "{name}");
            }
        });
    }
    println!("{n_blocks} of {n_blocks} histograms");
    assert!(n_blocks > 25, "{n_blocks}");
}

#[test]
fn statistics_below_a_run_are_printed_again() {
    let consoles = ["statistics.txt", "fs.console"];
    let files = golden().flat_map(|folder| consoles.map(|name| folder.join(name)));
    let mut n_lines = 0;
    for text in files.filter_map(|path| std::fs::read_to_string(path).ok()) {
        for line in text.lines().filter(|line| line.ends_with("/sec")) {
            let line = &line[13..];
            let (name, rest) = line.split_at(20);
            let (text, figures) = rest.split_at(40);
            let figures = figures.replace(',', "");
            let mut figures = figures.split_whitespace();
            let n = figures.next().and_then(|n| n.parse().ok()).expect("a count");
            let per_s = figures.next().and_then(|rate| rate.strip_suffix("/sec"));
            let per_s: f64 = per_s.and_then(|rate| rate.parse().ok()).expect("a rate");
            assert_eq!(misc_line(name.trim_end(), text.trim_end(), n, per_s), line);
            n_lines += 1;
        }
    }
    assert!(n_lines >= 17, "{n_lines}");
}
