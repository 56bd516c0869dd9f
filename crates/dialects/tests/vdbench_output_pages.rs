//! The pages of an output directory as a whole: which there are, what they link to, and whether
//! they look as the real ones where those are present.
#![expect(clippy::print_stdout, reason = "a test that cannot run here says so")]

mod support;
mod vdbench_output_support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dialects::vdbench::output::{
    AnchorPart, Ending, Layout, LunSeen, Megabyte, Moment, Output, Report, Setup, SetupHost,
    TreeSeen, job_names, operation_name,
};
use dialects::vdbench::run::{Run, Work};
use dialects::vdbench::{Lun, Options, Parsed, parse_text, sd_format};
use record::{CpuShares, Interval, IntervalSeries, JobRecord, PerDirRecord};
use support::MapHost;
use support::vdbench::kind;
use vdbench_output_support::{moment, own};

const CPU: CpuShares = CpuShares { user_pct: 10.0, system_pct: 5.5, wait_pct: 4.5, idle_pct: 80.0 };

fn at(ms: u64) -> Moment {
    Moment { unix_ms: 1_795_219_200_000 + ms, utc_offset_s: 0, zone: "UTC".to_owned() }
}

/// What a run of these parameters would set up.
fn setup(parsed: &Parsed, folder: &str) -> Setup {
    let host = |host: &dialects::vdbench::Host| SetupHost {
        label: host.label.clone(),
        n_slaves: host.jvms,
        raised_for_sds: host.jvms_raised_for,
        system: None,
    };
    Setup {
        folder: folder.to_owned(),
        folder_path: format!("/data/{folder}"),
        layout: Layout::V507,
        megabyte: Megabyte::Binary,
        program: "Plimsoll".to_owned(),
        pid: 77,
        hosts: parsed.hosts.iter().map(host).collect(),
        file_names: parsed.file_names.clone(),
        histogram_ns: parsed.settings.histogram_ns.clone(),
        detail: parsed.settings.report,
        abort_skew_pct: parsed.settings.abort_failed_skew_pct,
        ios_per_slave_max: None,
        copied: parsed.copied.clone(),
        scanned: parsed.scanned.clone(),
    }
}

/// The pages of a run, by name.
#[derive(Default)]
struct Pages {
    all: BTreeMap<String, String>,
    abort: Option<String>,
}

impl Pages {
    fn add(&mut self, output: Output) {
        for (name, text) in output.pages {
            self.all.entry(name).or_default().push_str(&text);
        }
        self.all.extend(output.whole);
        self.abort = output.abort.or(self.abort.take());
    }

    #[track_caller]
    fn page(&self, name: &str) -> &str {
        self.all.get(name).unwrap_or_else(|| panic!("{name} of {:?}", self.all.keys()))
    }
}

/// An interval in which every job of a run reads and writes; of files it opens, too.
fn busy(run: &Run) -> Interval {
    let asked = |idx: usize| match &run.work {
        Work::Files(files) => Some(operation_name(files.fwds[idx].operation)),
        _ => None,
    };
    let parts: Vec<(String, String, bool)> = match &run.work {
        Work::Raw(raw) => {
            let of = |wd: &dialects::vdbench::run::Wd| {
                let is_of_wd = |job: &String| {
                    let (sd, place) = job.split_once('/').unwrap_or((job, ""));
                    let at = |idx: &&usize| {
                        let it = &raw.sds[**idx];
                        it.name == sd && (place.is_empty() || place.starts_with(&it.host))
                    };
                    wd.sds.iter().any(|idx| at(&idx))
                };
                let jobs = job_names(run).into_iter().filter(is_of_wd);
                jobs.map(|job| (job, wd.name.clone(), wd.rdpct == 0.0)).collect::<Vec<_>>()
            };
            raw.wds.iter().flat_map(of).collect()
        }
        _ => job_names(run).into_iter().map(|job| (job, String::new(), false)).collect(),
    };
    let ops: &[&str] = match &run.work {
        Work::Raw(_) | Work::SdFormat(_) => &["read", "write"],
        Work::Files(_) | Work::Format(_) => &["read", "write", "open"],
    };
    let series = parts.iter().enumerate().flat_map(|(idx, (job, part, is_written))| {
        let own = asked(idx).filter(|op| !ops.contains(op));
        let ops = ops.iter().copied().filter(move |op| *op != "read" || !is_written).chain(own);
        ops.map(move |op| IntervalSeries {
            job: job.clone(),
            part: part.clone(),
            op: op.to_owned(),
            n_ios: 100,
            io_bytes: 409_600,
            latency_ns_sum: 100_000_000,
            latency_ns2_sum: 1e14,
            latency_ns_max: 1_000_000,
        })
    });
    Interval {
        step_idx: 0,
        end_ms: 0,
        length_ms: 1000,
        ramp: false,
        n_hosts: None,
        dirs: PerDirRecord::default(),
        series: series.collect(),
        cpu: Some(CPU),
        host: None,
    }
}

/// Runs these for so many intervals each.
fn pages(parsed: &Parsed, folder: &str, runs: &[Run], n_intervals: &[u32], end: &Ending) -> Pages {
    let mut report = Report::new(setup(parsed, folder), runs.to_vec());
    let mut pages = Pages::default();
    pages.add(report.open(&at(0), false));
    pages.add(report.connected(&at(100)));
    for (run_idx, (run, n)) in runs.iter().zip(n_intervals).enumerate() {
        let now = at(1000 + run_idx as u64 * 100_000);
        pages.add(report.start_run(&now, run_idx, &run.announced, None, Some(80 << 20)));
        pages.add(report.tree("/data/plimsoll/vdb/fsroot", &TreeSeen::default(), true));
        let n_warmup = run.warmup_ns / run.interval_ns.max(1);
        for idx in 0..*n {
            let mut interval = busy(run);
            interval.ramp = u64::from(idx) < n_warmup;
            pages.add(report.interval(&now, &interval));
        }
        let jobs: Vec<JobRecord> = match &run.work {
            Work::SdFormat(_) | Work::Format(_) => Vec::new(),
            _ => busy(run).series.iter().map(of_series).collect(),
        };
        pages.add(report.tree("/data/plimsoll/vdb/fsroot", &TreeSeen::default(), false));
        pages.add(report.end_run(&now, &jobs.iter().collect::<Vec<_>>()));
    }
    pages.add(report.close(&at(900_000), end));
    pages
}

fn of_series(series: &IntervalSeries) -> JobRecord {
    let mut lat = hist::Histogram::new();
    lat.record_n(1_000_000, series.n_ios);
    let (part, op) = (series.part.clone(), series.op.clone());
    let series_record = record::SeriesRecord { part, op, lat, ..record::SeriesRecord::default() };
    JobRecord { name: series.job.clone(), series: vec![series_record], ..JobRecord::default() }
}

fn whole(text: &str, n_intervals: &[u32]) -> Pages {
    let parsed = kind(text);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    pages(&parsed, "out", &parsed.runs, n_intervals, &Ending::Complete)
}

/// The words between these in a text.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    text.split(from).skip(1).filter_map(|part| part.split_once(to)).map(|part| part.0).collect()
}

/// Checks all links; those to runs lead nowhere if it ended before them.
#[track_caller]
fn every_link_leads_somewhere(pages: &Pages) {
    let is_whole = pages.page("status.html").contains("Vdbench complete");
    let mut n_links = 0;
    for (name, text) in &pages.all {
        for target in between(text, "<A HREF=\"", "\"") {
            n_links += 1;
            let is_there = match target.strip_prefix('#') {
                Some(anchor) => !is_whole || text.contains(&format!("<a name=\"{anchor}\">")),
                None => pages.all.contains_key(target),
            };
            assert!(is_there, "{name} links to {target}");
        }
    }
    assert!(n_links > 20, "{n_links}");
}

/// The figures behind the last `avg_` of a page: rate and the rest.
#[track_caller]
fn last_average(page: &str) -> Vec<f64> {
    let line = page.lines().rfind(|line| line.contains(" avg_")).expect("averages");
    line.split_whitespace().skip(2).map(|word| word.parse().expect("a number")).collect()
}

const RAW: &str = "\
report=(host_detail,slave_detail)\n\
report_run_totals=yes\n\
hd=default,jvms=2\nhd=one,system=localhost\nhd=two,system=localhost,jvms=1\n\
sd=sd1,host=*,lun=/x/a,size=1m\nsd=sd2,host=one,lun=/x/b,size=1m\n\
wd=wd1,sd=sd1\nwd=wd2,sd=sd2,rdpct=0\n\
rd=rd1,wd=*,iorate=100,elapsed=3,interval=1\n";

#[test]
fn hosts_and_slaves_have_pages_and_their_parts_add_up() {
    let pages = whole(RAW, &[3]);
    every_link_leads_somewhere(&pages);
    let rate = |name: &str| last_average(pages.page(&format!("{name}.html")))[0];
    // Jobs of 200 I/Os a second: sd1 of both slaves of one and that of two; sd2 of those of one,
    // without reads.
    assert_eq!((rate("one"), rate("two"), rate("totals")), (600.0, 200.0, 800.0));
    assert_eq!((rate("one-0"), rate("one-1"), rate("two-0")), (300.0, 300.0, 200.0));
    assert_eq!((rate("one.sd1"), rate("one.sd2"), rate("two.sd1")), (400.0, 200.0, 200.0));
    assert_eq!((rate("sd1"), rate("sd2")), (600.0, 200.0));
    assert_eq!((rate("one-0.sd1"), rate("one-1.sd2"), rate("two-0.sd1")), (200.0, 100.0, 200.0));
    assert!(!pages.all.contains_key("two-1.html"));
    let link = "<A HREF=\"one.sd2.html\">sd=sd2,host=one,lun=/x/b</A>";
    assert!(pages.page("one.html").contains(link), "{}", pages.page("one.html"));
    let slaves = between(pages.page("status.html"), "\tSlave ", " ");
    assert_eq!(slaves, ["one-0", "one-1", "two-0"]);
}

/// A browser that opens a page runs nothing that a parameter file says.
#[test]
fn names_are_shown_and_not_run() {
    let text = ["sd1", "wd1", "rd1"]
        .into_iter()
        .fold(RAW.to_owned(), |text, name| text.replace(name, &format!("<script>{name}")));
    let pages = whole(&text, &[3]);
    for (name, text) in &pages.all {
        assert!(!text.contains("<script"), "{name}: {text}");
    }
    for (page, name) in [("summary.html", "rd1"), ("logfile.html", "rd1"), ("one.html", "sd1")] {
        let shown = format!("&lt;script>{name}");
        assert!(pages.page(page).contains(&shown), "{page}: {}", pages.page(page));
    }
    let link = "<A HREF=\"%3Cscript>sd1.html\">&lt;script>sd1</A>";
    assert!(pages.page("summary.html").contains(link), "{}", pages.page("summary.html"));
}

#[test]
fn pages_can_be_left_out() {
    let text = RAW.replace("(host_detail,slave_detail)", "no_sd_detail");
    let text = text.replace("report_run_totals=yes\n", "");
    let pages = whole(&text, &[3]);
    every_link_leads_somewhere(&pages);
    for name in ["sd1.html", "sd1.histogram.html", "one.sd1.html", "totals_optional.html"] {
        assert!(!pages.all.contains_key(name), "{name}");
    }
    assert!(!pages.page("skew.html").contains("SD: "));
    assert!(pages.page("one.html").contains("avg_2-3      600.0"));
}

#[test]
fn tables_of_skew_are_there_where_there_is_more_than_one() {
    let skew = whole(RAW, &[3]).page("skew.html").to_owned();
    let tables = |page: &str| -> Vec<String> {
        let words = page.lines().filter_map(|line| line.get(13..)?.split_whitespace().next());
        words.filter(|word| word.ends_with(':') && word.len() < 7).map(str::to_owned).collect()
    };
    assert_eq!(tables(&skew), ["Slave:", "Slave:", "Host:", "SD:", "WD:"], "{skew}");
    let host = skew.lines().find(|line| line.contains(" one   ")).expect("a row");
    assert!(host.ends_with(" 15.5"), "processors of a host: {host}");
    let share = skew.lines().rfind(|line| line.contains(" wd1  ")).expect("a row");
    assert!(share.contains("50.00%   75.00%"), "{share}");
    let alone = "sd=sd1,lun=/x/a,size=1m\nwd=wd1,sd=sd1\n\
                 rd=rd1,wd=wd1,iorate=100,elapsed=3,interval=1\n";
    assert_eq!(tables(whole(alone, &[3]).page("skew.html")), ["SD:"]);
}

#[test]
fn totals_of_all_runs_are_written_anew() {
    let text = RAW.replace("rd=rd1,wd=*", "rd=rd1,wd=wd1") + "rd=rd2,wd=wd2,iorate=5,elapsed=2\n";
    let pages = whole(&text, &[3, 2]);
    let page = pages.page("totals_optional.html");
    assert_eq!(page.matches("<title>").count(), 1, "{page}");
    let value = |name: &str| {
        let line = page.lines().find(|line| line.starts_with(name)).expect(name);
        line[24..].split_whitespace().next().expect("a value").to_owned()
    };
    // wd1 has three jobs of 200 I/Os a second for 3 s, wd2 two of 100 for 2 s.
    assert_eq!(value("Total reads+writes:"), "2200");
    assert_eq!(value("Total iops:"), "440.00");
    assert_eq!(value("Total readpct:"), "40.91");
    assert!(page.contains("Last interval: interval #2 of rd=rd2"), "{page}");
}

#[test]
fn shares_that_are_too_far_off_end_everything() {
    let pages = whole(&format!("abort_failed_skew=5\n{RAW}"), &[3]);
    let why = pages.abort.as_deref().expect("75 % is not 50 %");
    assert!(why.contains("abort_failed_skew=5") && why.contains("25.00%"), "{why}");
    assert_eq!(whole(&format!("abort_failed_skew=26\n{RAW}"), &[3]).abort, None);
    // A rate of its own is a share of the run's: 75 of 100 I/Os are 75 %.
    let rated = RAW.replace("wd=wd1,sd=sd1", "wd=wd1,sd=sd1,iorate=75,priority=1");
    let rated = rated.replace("wd=wd2,sd=sd2", "wd=wd2,sd=sd2,priority=2");
    let pages = whole(&format!("abort_failed_skew=5\n{rated}"), &[3]);
    assert_eq!(pages.abort, None);
    let skew = pages.page("skew.html");
    let row = skew.lines().find(|line| line.contains("wd1") && line.contains("75.00%"));
    assert!(row.is_some_and(|row| row.matches("75.00%").count() == 2), "{skew}");
}

#[test]
fn limits_of_histograms_are_those_of_the_file() {
    let pages = whole(&format!("histogram=(default,500u,1m,2m,1s)\n{RAW}"), &[3]);
    let rows: Vec<&str> =
        pages.page("wd2.histogram.html").lines().filter(|line| line.contains(" < ")).collect();
    assert_eq!(rows.len(), 1 + 5, "a heading and five rows, of writes: {rows:?}");
}

const FILES: &str = "\
fsd=fsd1,anchor=/x/one,depth=1,width=1,files=4,size=4k\n\
fsd=fsd2,anchor=/x/two,depth=1,width=1,files=4,size=4k\n\
fwd=fwd1,fsd=fsd1,operation=read,skew=60\nfwd=fwd2,fsd=fsd2,operation=write,skew=40\n\
rd=rd1,fwd=fwd*,fwdrate=100,format=yes,elapsed=3,interval=1\n";

#[test]
fn files_have_pages_of_structures_and_workloads() {
    let pages = whole(&format!("report=(host_detail,slave_detail)\n{FILES}"), &[1, 3]);
    every_link_leads_somewhere(&pages);
    for name in ["localhost.fsd1", "localhost-0.fsd2", "fsd2", "fwd1", "format", "anchors"] {
        assert!(pages.all.contains_key(&format!("{name}.html")), "{name}");
    }
    let skew = pages.page("skew.html");
    assert!(skew.contains("fwd1             100     60.00%  50.00% -10.00%"), "{skew}");
    assert!(skew.contains("fwd2             100     40.00%  50.00% +10.00%"), "{skew}");
    let log = pages.page("logfile.html");
    // All three intervals count, the first as well.
    assert!(log.contains("READ_OPENS          Files opened for read activity:"), "{log}");
    assert!(log.contains("                300        100/sec\n"), "{log}");
    let none = whole(&format!("report=no_fsd_detail\n{FILES}"), &[1, 3]);
    every_link_leads_somewhere(&none);
    assert!(!none.all.contains_key("fsd1.html"));
}

#[test]
fn anchors_says_what_is_there_before_and_after_each_run() {
    let parsed = kind(FILES);
    let mut report = Report::new(setup(&parsed, "out"), parsed.runs.clone());
    let mut pages = Pages::default();
    pages.add(report.open(&at(0), false));
    let seen =
        TreeSeen { n_files: 4, n_folders: 1, bytes: 16384, n_opened: Some(3), opened_bytes: 12288 };
    for (idx, run) in parsed.runs.iter().enumerate() {
        pages.add(report.start_run(&at(1000), idx, &run.announced, None, None));
        let before =
            if idx == 0 { TreeSeen::default() } else { TreeSeen { n_opened: None, ..seen } };
        pages.add(report.tree("/x/one", &before, true));
        pages.add(report.tree("/x/one", &seen, false));
        pages.add(report.end_run(&at(2000), &[]));
    }
    let page = pages.page("anchors.html");
    let row = |existing: &str| format!("/x/one{:26}4        1  16.0k{:44}{existing}", "", "");
    let rows: Vec<&str> = page.lines().filter(|line| line.contains("/x/one")).collect();
    let ends = |row: &str| {
        let words: Vec<&str> = row.split_whitespace().collect();
        words[words.len() - 5..].join(" ")
    };
    let found: Vec<String> = rows.iter().map(|row| ends(row)).collect();
    assert_eq!(
        found,
        ["0 0 0 n/a n/a", "4 1 16.0k 3 12.0k", "4 1 16.0k n/a n/a", "4 1 16.0k 3 12.0k"],
        "{page}{}",
        row("")
    );
    let start = page.find("Starting RD=format_for_rd1").expect("it starts");
    assert!(page.find("/x/one").expect("a row") < start, "what was there stands above: {page}");
}

#[test]
fn what_was_found_of_storage_is_reported_before_it_is_used() {
    let text = "sd=sd1,lun=/x/a,size=40m\nsd=sd2,lun=/x/b\nwd=wd1,sd=*\n\
                rd=rd1,wd=wd1,iorate=max,elapsed=3,interval=1\n";
    let parsed = kind(text);
    let report = Report::new(setup(&parsed, "out"), parsed.runs.clone());
    let connected = report.connected(&at(1000));
    let raised = "00:00:01.000 Adjusted default JVM count for host=localhost from jvms=1 to jvms=2";
    assert!(connected.console.contains(raised), "{}", connected.console);
    let slave = "Slave localhost-1 (pid     77) connected to master 77\n";
    assert!(!connected.console.contains(slave), "{}", connected.console);
    let mut pages = Pages::default();
    pages.add(connected);
    assert!(pages.page("logfile.html").contains(slave));
    let lun = |sd: &str, path: &str, size_bytes, is_to_be_written| LunSeen {
        sd: sd.to_owned(),
        lun: path.to_owned(),
        host: "localhost".to_owned(),
        size_bytes,
        is_to_be_written,
    };
    let luns = [lun("sd1", "/x/a", Some(0), true), lun("sd2", "/x/b", Some(41_943_040), false)];
    let reported = report.luns(&at(2000), &luns);
    let missing = "00:00:02.000 lun=/x/a does not exist or is too small. host=localhost: SD_format \
                   writes it first\n";
    assert_eq!(reported.console, missing);
    let log = &reported.pages[0].1;
    let sizes = "00:00:02.000 sd=sd2,lun=/x/b lun size: 41,943,040 bytes; 0.0391 GB (1024**3); \
                 0.0419 GB (1000**3)\n";
    assert!(log.contains(sizes) && log.contains("Total SD size: 41,943,040 bytes"), "{log}");
    assert!(log.contains("sd=sd1,lun=/x/a lun size: 0 bytes;"), "{log}");
    let unknown = report.luns(&at(2000), &[lun("sd1", "/x/a", None, false)]);
    assert!(unknown.pages[0].1.ends_with("lun size: n/a\n"), "{unknown:?}");
}

#[test]
fn parts_of_structures_are_reported_by_the_slave_that_made_them() {
    let parsed = kind(FILES);
    let report = Report::new(setup(&parsed, "out"), parsed.runs.clone());
    let reported = |part| report.made(&at(1000), "/x/one", part).console;
    let lines = [AnchorPart::Anchor, AnchorPart::Folders, AnchorPart::Files].map(reported);
    assert_eq!(
        lines,
        [
            "00:00:01.000 localhost-0: Created anchor directory: /x/one\n",
            "00:00:01.000 localhost-0: anchor=/x/one mkdir complete.\n",
            "00:00:01.000 localhost-0: anchor=/x/one create complete.\n",
        ]
    );
}

/// What a page is made of: title, links, headings and the kind and length of rows, each once and in
/// order where `in_order`.
fn outline(page: &str, folder: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in page.lines() {
        let line = line.replace(folder, "DIR");
        let rest = match line.get(..12).and_then(moment) {
            Some(_) => line[12..].to_owned(),
            None => line.clone(),
        };
        if let Some(part) = part_of(&rest) {
            lines.push(part);
        }
    }
    lines
}

/// Returns what a line is, if it is one that has to be there.
fn part_of(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = *words.first()?;
    // An event of status.html, without what differs from run to run.
    if let Some((_, event)) = line.split_once('\t') {
        let text: String = event.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        let text = text.split(" (pid").next().unwrap_or_default();
        return Some(text.split(": ").next().unwrap_or_default().to_owned());
    }
    let is_number = |word: &str| word.parse::<f64>().is_ok() || word == "NaN";
    if first.starts_with('*') {
        return None;
    }
    if line.starts_with("<title>") {
        return Some(line.to_owned());
    }
    if line.contains("<A HREF=") {
        let pages: Vec<&str> =
            between(line, "<A HREF=\"", "\"").into_iter().filter(|it| !it.contains('#')).collect();
        let text = line.split("<A").next().unwrap_or_default().trim();
        let names = between(line, "\">", "</A>");
        return Some(format!("{text} {pages:?} {names:?}"));
    }
    if let Some((_, announced)) =
        line.split_once(" Starting RD=").filter(|_| line.contains("<a name"))
    {
        // The rate of a curve's point is a share of what was measured.
        let shown = if announced.contains("%)") { announced.split(';').next() } else { None };
        return Some(format!("starting {}", shown.unwrap_or(announced)));
    }
    let headings = ["rate", "interval", "files     dirs", ".ReqstdOps", "min(ms)", "......Anchor"];
    if headings.iter().any(|heading| line.contains(heading)) && !line.ends_with('.') {
        return Some(words.join(" "));
    }
    let label = match first {
        label if label.starts_with("avg_") => "avg",
        label if label.starts_with("std_") => return Some("std".to_owned()),
        label if label.starts_with("max_") => return Some("max".to_owned()),
        label if is_number(label) => "n",
        name => name,
    };
    if words.get(1) == Some(&"<") {
        return Some(format!("bucket {first} {}", words[2]));
    }
    let figures = &words[1..];
    let n_pct = figures.iter().filter(|word| word.ends_with('%')).count();
    let is_row = figures.len() > 8 && figures[..8].iter().all(|word| is_number(word));
    if is_row {
        // Deviations are shown only where there are any.
        return Some(format!("row {label} {} {}", figures.len() - n_pct, n_pct.min(2)));
    }
    let titles =
        ["report", "Report", "histogram", "writes", "Reads", "Writes", "requested", "skew"];
    let is_title = titles.iter().any(|title| line.contains(title)) && !line.contains(" - ");
    is_title.then(|| line.trim().to_owned())
}

/// Lines that real pages have and ours do not, or otherwise.
const PROSE: [&str; 6] = [
    "Vdbench summary report",
    "Skew information will only",
    "(Though these rules",
    "(This report will not",
    "Tables of hosts",
    "What each one did",
];

fn comparable(page: &str, folder: &str) -> Vec<String> {
    let lines = outline(page, folder).into_iter();
    lines.filter(|line| !PROSE.iter().any(|prose| line.starts_with(prose))).collect()
}

/// Runs a parameter file as the real tool did, and compares page by page.
#[track_caller]
fn compare(golden: &Path, name: &str, n_intervals: &[u32], end: &Ending, skipped: &[&str]) {
    let folder = format!("out_{name}");
    let text = std::fs::read_to_string(golden.join(format!("{name}.parm"))).expect("it is there");
    let parsed = parse_text(name, &text, &Options::compat(), &MapHost::default());
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    // What was made by the file before is there.
    let lun = if golden == own() && name != "raw" { Lun::File(8 << 20) } else { Lun::Missing };
    let mut runs = parsed.runs.clone();
    runs.splice(0..0, sd_format(&parsed, &|_| lun));
    let ours = pages(&parsed, &folder, &runs, n_intervals, end);
    let entries = std::fs::read_dir(golden.join(&folder)).expect("the folder was found");
    let names: BTreeSet<String> =
        entries.flatten().map(|entry| entry.file_name().into_string().expect("plain")).collect();
    // Data for a program of the vendor's that is not published.
    let theirs: BTreeSet<String> =
        names.into_iter().filter(|name| !name.starts_with("swat_mon")).collect();
    assert_eq!(ours.all.keys().cloned().collect::<BTreeSet<_>>(), theirs);
    every_link_leads_somewhere(&ours);
    let (mut n_lines, mut differences) = (0, Vec::new());
    for name in theirs.iter().filter(|name| !skipped.contains(&name.as_str())) {
        let page = std::fs::read_to_string(golden.join(&folder).join(name)).expect("it is there");
        let (expected, found) = (comparable(&page, &folder), comparable(ours.page(name), &folder));
        n_lines += expected.len();
        let first =
            (0..expected.len().max(found.len())).find(|idx| expected.get(*idx) != found.get(*idx));
        if let Some(idx) = first {
            let from = idx.saturating_sub(2);
            differences.push(format!(
                "{name}, part {idx}:\ntheirs {:#?}\nours {:#?}",
                &expected[from..expected.len().min(idx + 4)],
                &found[from.min(found.len())..found.len().min(idx + 4)]
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    println!("{n_lines} of {n_lines} parts of {} pages", theirs.len());
}

/// Pages of what only Vdbench's processes know, and copies of the files.
const NOT_COMPARED: [&str; 5] = [
    "logfile.html",
    "localhost-0.stdout.html",
    "localhost-1.stdout.html",
    "parmfile.html",
    "parmscan.html",
];

#[test]
fn pages_of_our_own_files_look_as_the_real_ones() {
    let complete = |name: &str, n_intervals: &[u32], others: &[&str]| {
        let skipped = [&NOT_COMPARED[..], others].concat();
        compare(&own(), name, n_intervals, &Ending::Complete, &skipped);
    };
    // With one thread for each file the second process had nothing to do.
    complete("raw", &[1, 3, 5, 5], &["localhost-1.html"]);
    complete("detail", &[2, 2, 2, 2], &[]);
    // Of files the real page of a host has a link to a page that is not there.
    complete("fs", &[1, 3, 3, 3], &["localhost.html"]);
    complete("only", &[1, 1], &["localhost.html"]);
}

/// In the real run one of the two slaves had nothing to do in the third run.
#[test]
fn raw_pages_look_as_the_real_ones() {
    let Some(golden) = testing::corpus("golden/vdbench", "out_raw/summary.html") else { return };
    let skipped = [&NOT_COMPARED[..], &["localhost-1.html"]].concat();
    compare(&golden, "raw", &[1, 5, 6, 6], &Ending::Complete, &skipped);
}

/// The real run ended with an error behind the second one.
#[test]
fn pages_of_files_look_as_the_real_ones() {
    let Some(golden) = testing::corpus("golden/vdbench", "out_fs/summary.html") else { return };
    let skipped = [&NOT_COMPARED[..], &["localhost.html"]].concat();
    let end = Ending::Aborted("no luck".to_owned());
    compare(&golden, "fs", &[1, 4], &end, &skipped);
}
