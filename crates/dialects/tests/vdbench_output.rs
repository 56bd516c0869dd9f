//! What a run prints from its events, and what readers find in it.

use dialects::vdbench::output::{
    Ending, Layout, Megabyte, Moment, Output, Report, RowStats, Setup, SetupHost, Totals, TreeSeen,
    block, raw_header,
};
use dialects::vdbench::run::{
    AmountMax, Arrivals, Contents, FileIo, FileOperation, FileSizes, FileWork, Fsd, Fwd, OpenFlags,
    Rate, RawWork, Run, Sd, Seek, Select, SelectFilter, SelectOrder, SourceRange, Wd, Work,
    Xfersize,
};
use hist::Histogram;
use record::{CpuShares, Interval, IntervalSeries, JobRecord, PerDirRecord, SeriesRecord};

const S: u64 = 1_000_000_000;

fn at(ms: u64) -> Moment {
    Moment { unix_ms: 1_795_219_200_000 + ms, utc_offset_s: 0, zone: "UTC".to_owned() }
}

fn setup(layout: Layout) -> Setup {
    Setup {
        folder: "out".to_owned(),
        folder_path: "/data/out".to_owned(),
        layout,
        megabyte: Megabyte::Binary,
        program: "Plimsoll".to_owned(),
        pid: 77,
        hosts: vec![SetupHost {
            label: "localhost".to_owned(),
            n_slaves: 1,
            raised_for_sds: None,
            system: None,
        }],
        file_names: dialects::vdbench::FileNames::default(),
        histogram_ns: Vec::new(),
        detail: dialects::vdbench::ReportFiles::default(),
        abort_skew_pct: None,
        ios_per_slave_max: None,
        copied: vec!["* a file".to_owned()],
        scanned: vec!["line: sd=sd1".to_owned()],
    }
}

fn sd(name: &str) -> Sd {
    Sd {
        name: name.to_owned(),
        host: "localhost".to_owned(),
        lun: format!("/x/{name}"),
        size_bytes: Some(1 << 30),
        threads: 8,
        n_slaves: 1,
        is_shared: false,
        range: None,
        hitarea_bytes: 1 << 20,
        offset_bytes: 0,
        align_bytes: 0,
        dedup: None,
        open: OpenFlags::default(),
        journal: None,
        place: SourceRange::default(),
    }
}

fn wd(name: &str, sd_idx: usize, skew_pct: f64) -> Wd {
    Wd {
        name: name.to_owned(),
        sds: vec![sd_idx],
        rdpct: 70.0,
        xfersize: Xfersize::Fixed(4096),
        seek: Seek::Pct(100.0),
        rhpct: 0.0,
        whpct: 0.0,
        range: None,
        hotband_pct: None,
        stride_bytes: None,
        skew_pct,
        iorate_iops: None,
        priority: None,
        streams: None,
        threads: None,
        concatenate: false,
    }
}

fn run(name: &str, warmup_s: u64, work: Work) -> Run {
    Run {
        name: name.to_owned(),
        rd: name.to_owned(),
        announced: format!("RD={name}; I/O rate: 500; elapsed=3; For loops: threads=8"),
        simulated: format!("RD={name}; I/O rate: 500; elapsed=3; For loops: threads=8"),
        loops: vec![("threads".to_owned(), "8".to_owned())],
        rate: Rate::Iops(500.0),
        controlled: true,
        elapsed_ns: Some(3 * S),
        warmup_ns: warmup_s * S,
        interval_ns: S,
        pause_ns: 0,
        maxdata: AmountMax::default(),
        arrivals: Arrivals::Poisson,
        rate_periods: None,
        commands: Vec::new(),
        contents: Contents::default(),
        data_errors: None,
        work,
    }
}

fn raw() -> Work {
    let wds = vec![wd("wd1", 0, 60.0), wd("wd2", 1, 40.0)];
    Work::Raw(RawWork { sds: vec![sd("sd1"), sd("sd2")], wds })
}

fn series(job: &str, part: &str, op: &str, n_ios: u64, each_ns: u64) -> IntervalSeries {
    IntervalSeries {
        job: job.to_owned(),
        part: part.to_owned(),
        op: op.to_owned(),
        n_ios,
        io_bytes: n_ios * 4096,
        latency_ns_sum: n_ios * each_ns,
        latency_ns2_sum: n_ios as f64 * (each_ns as f64).powi(2),
        latency_ns_max: if n_ios > 0 { each_ns } else { 0 },
    }
}

fn interval(ramp: bool, length_ms: u64, series: Vec<IntervalSeries>) -> Interval {
    Interval {
        step_idx: 0,
        end_ms: 0,
        length_ms,
        ramp,
        n_hosts: None,
        dirs: PerDirRecord::default(),
        series,
        cpu: Some(CpuShares { user_pct: 10.0, system_pct: 5.5, wait_pct: 4.5, idle_pct: 80.0 }),
        host: None,
    }
}

/// An interval of the two storage definitions: `n` reads of 1 ms, and half as many writes of 2 ms.
fn raw_interval(ramp: bool, n: u64) -> Interval {
    let series = vec![
        series("sd1", "wd1", "read", n, 1_000_000),
        series("sd2", "wd2", "write", n / 2, 2_000_000),
    ];
    interval(ramp, 1000, series)
}

fn job(name: &str, part: &str, op: &str, n: u64, each_ns: u64) -> JobRecord {
    let mut lat = Histogram::new();
    lat.record_n(each_ns, n);
    let (part, op) = (part.to_owned(), op.to_owned());
    let series = vec![SeriesRecord { part, op, n_ios: n, lat, ..SeriesRecord::default() }];
    JobRecord { name: name.to_owned(), series, ..JobRecord::default() }
}

/// Pages and console of a whole run.
#[derive(Default)]
struct Written {
    all: Output,
}

impl Written {
    fn add(&mut self, output: Output) {
        self.all.console.push_str(&output.console);
        for (page, text) in output.pages {
            match self.all.pages.iter_mut().find(|(known, _)| *known == page) {
                Some((_, known)) => known.push_str(&text),
                None => self.all.pages.push((page, text)),
            }
        }
    }

    #[track_caller]
    fn page(&self, name: &str) -> &str {
        let page = self.all.pages.iter().find(|(known, _)| known == name);
        &page.unwrap_or_else(|| panic!("{name}")).1
    }
}

/// What the jobs did in intervals, each operation as long as the longest.
fn so_far(intervals: &[Interval]) -> Vec<(String, SeriesRecord)> {
    let all = intervals.iter().flat_map(|interval| &interval.series);
    let of = |it: &IntervalSeries| job(&it.job, &it.part, &it.op, it.n_ios, it.latency_ns_max);
    let records = all.map(of).flat_map(|job| {
        let name = job.name;
        job.series.into_iter().map(move |series| (name.clone(), series))
    });
    records.collect()
}

fn measured(layout: Layout, warmup_s: u64, intervals: &[Interval]) -> Written {
    let runs = vec![run("rd1", warmup_s, raw())];
    let mut report = Report::new(setup(layout), runs.clone());
    let mut written = Written::default();
    written.add(report.open(&at(0), false));
    written.add(report.connected(&at(100)));
    written.add(report.start_run(&at(1000), 0, &runs[0].announced, None, Some(2 << 30)));
    for (idx, interval) in intervals.iter().enumerate() {
        if report.leaves_out_this() {
            report.leave_out(so_far(&intervals[..=idx]));
        }
        written.add(report.interval(&at(2000 + idx as u64 * 1000), interval));
    }
    let jobs =
        [job("sd1", "wd1", "read", 300, 1_000_000), job("sd2", "wd2", "write", 150, 2_000_000)];
    written.add(report.end_run(&at(9000), &jobs.iter().collect::<Vec<_>>()));
    written.add(report.close(&at(9500), &Ending::Complete));
    written
}

#[test]
fn a_run_without_warmup_leaves_out_its_first_interval() {
    let rows = [raw_interval(false, 1000), raw_interval(false, 100), raw_interval(false, 200)];
    let written = measured(Layout::V507, 0, &rows);
    let starting = "00:00:01.000 Starting RD=rd1; I/O rate: 500; elapsed=3; For loops: threads=8\n";
    let header = raw_header(Layout::V507, "Nov 21, 2026", Megabyte::Binary);
    let rows = [
        "00:00:02.000           1     1500.0     5.86    4096  66.67    1.333    1.000    2.000",
        "     1.00     2.00    0.472    2.0  15.5   5.5\n",
        "00:00:03.000           2      150.0     0.59    4096  66.67    1.333    1.000    2.000",
        "     1.00     2.00    0.473    0.2  15.5   5.5\n",
        "00:00:04.000           3      300.0     1.17    4096  66.67    1.333    1.000    2.000",
        "     1.00     2.00    0.472    0.4  15.5   5.5\n",
        "00:00:09.000     avg_2-3      225.0     0.88    4096  66.67    1.333    1.000    2.000",
        "     1.00     2.00    0.472    0.3  15.5   5.5\n",
        "00:00:09.000 *\n",
    ];
    let expected = format!("{starting}\n{header}{}", rows.concat());
    let from = written.all.console.find("00:00:01.000").expect("it starts");
    let console = &written.all.console[from..];
    assert!(console.starts_with(&expected), "{console}");
    assert!(written.page("summary.html").contains("(6.67)"), "skew is warned of");
    let end = "00:00:09.500 Vdbench execution completed successfully. Output directory: \
               /data/out \n";
    assert!(written.all.console.contains(end), "{}", written.all.console);
}

/// Histograms are of what the averages count.
#[test]
fn a_question_how_the_run_stands_is_answered_beside_the_pages() {
    let runs = vec![run("rd1", 0, raw())];
    let mut report = Report::new(setup(Layout::V507), runs.clone());
    assert_eq!(report.so_far(&at(0)), Output::default());
    let _ = report.start_run(&at(1000), 0, &runs[0].announced, None, None);
    let _ = report.interval(&at(2000), &raw_interval(false, 100));
    let none = report.so_far(&at(2100));
    let text = "00:00:02.100 rd=rd1 has no averages yet: none of its intervals so far (1) counts\n";
    assert_eq!(none.console, text);
    for (idx, n) in [200, 400].into_iter().enumerate() {
        let _ = report.interval(&at(3000 + idx as u64 * 1000), &raw_interval(false, n));
    }
    let asked = report.so_far(&at(4500));
    // 300 reads and 150 writes a second on average over the second and the third interval.
    let words: Vec<&str> = asked.console.split_whitespace().take(3).collect();
    assert_eq!(words, ["00:00:04.500", "so_far_2-3", "450.0"]);
    assert_eq!(asked.pages, [("logfile.html".to_owned(), asked.console.clone())]);
    let end = report.end_run(&at(5000), &[]);
    assert!(end.console.contains("avg_2-3"), "{}", end.console);
}

#[test]
fn histograms_leave_out_the_first_interval_as_averages_do() {
    let half = |n| Interval { length_ms: 500, ..raw_interval(false, n) };
    // The first interval is of two samples; the jobs did 300 reads and 150 writes in all.
    let rows = [half(60), half(40), raw_interval(false, 120), raw_interval(false, 80)];
    let written = measured(Layout::V507, 0, &rows);
    assert!(written.page("sd1.html").contains("avg_2-3      100.0"));
    for page in ["histogram.html", "sd1.histogram.html", "wd1.histogram.html"] {
        let histogram = written.page(page);
        assert!(histogram.contains("    1.000 <       2.000           200"), "{histogram}");
    }
    for page in ["histogram.html", "sd2.histogram.html", "wd2.histogram.html"] {
        let histogram = written.page(page);
        assert!(histogram.contains("    2.000 <       4.000           100"), "{histogram}");
    }
    // A single interval is its own average, and a warmup is left out by those who measure.
    for (warmup_s, rows) in [(0, &rows[..2]), (1, &rows)] {
        let histogram = measured(Layout::V507, warmup_s, rows);
        let histogram = histogram.page("sd1.histogram.html");
        assert!(histogram.contains("    1.000 <       2.000           300"), "{histogram}");
    }
}

#[test]
fn warmup_is_left_out_of_averages_and_histograms_are_those_of_the_jobs() {
    let rows = [raw_interval(true, 1000), raw_interval(false, 100), raw_interval(false, 200)];
    let written = measured(Layout::V507, 1, &rows);
    assert!(written.page("totals.html").contains("avg_2-3      225.0"));
    assert!(written.page("sd2.html").contains("avg_2-3       75.0"));
    assert!(written.page("wd1.html").contains("avg_2-3      150.0"));
    assert!(written.page("localhost-0.html").contains("avg_2-3      225.0"));
    let histogram = written.page("histogram.html");
    assert!(histogram.contains("    1.000 <       2.000           300"), "{histogram}");
    assert!(!written.page("sd1.histogram.html").contains("Writes:"));
    let status = written.page("status.html");
    let order = [
        "Starting\trd=rd1\tFor loops: threads=8",
        "Warmup done",
        "Workload done",
        "Slaves done",
        "Shutting down slaves",
        "Vdbench complete",
    ];
    let places: Vec<_> = order.iter().map(|event| status.find(event)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{status}");
}

#[test]
fn a_single_interval_is_its_own_average() {
    let written = measured(Layout::V507, 0, &[raw_interval(false, 100)]);
    assert!(written.page("totals.html").contains("avg_1-1      150.0"));
    let empty = measured(Layout::V507, 0, &[interval(false, 1000, Vec::new())]);
    assert!(empty.page("totals.html").contains("avg_1-1        0.0"));
    for (name, text) in empty.all.pages.iter().chain(&written.all.pages) {
        assert!(
            !text.contains("NaN") && !text.contains("avg_2-1") && !text.contains("inf"),
            "{name}"
        );
    }
}

#[test]
fn a_run_without_results_says_so() {
    let runs = vec![run("rd1", 0, raw())];
    let mut report = Report::new(setup(Layout::V507), runs.clone());
    let mut written = Written::default();
    written.add(report.start_run(&at(0), 0, &runs[0].announced, None, None));
    written.add(report.end_run(&at(1000), &[]));
    written.add(report.close(&at(2000), &Ending::Aborted("no luck".to_owned())));
    assert!(written.page("histogram.html").contains("No statistics generated for this run."));
    assert!(!written.page("summary.html").contains("avg_"));
    assert!(written.page("status.html").ends_with("\tAbort requested: no luck\n"));
    assert!(!written.all.console.contains("successfully"));
}

#[test]
fn a_rest_of_an_interval_has_no_row_but_counts() {
    let rest = interval(false, 50, vec![series("sd1", "wd1", "read", 30, 1_000_000)]);
    let rows = [raw_interval(false, 100), raw_interval(false, 100), rest];
    let written = measured(Layout::V507, 0, &rows);
    let average = "avg_2-2      171.4";
    assert!(written.page("totals.html").contains(average), "{}", written.page("totals.html"));
    assert!(!written.page("summary.html").contains("           3  "));
}

#[test]
fn intervals_are_as_long_as_asked_for() {
    let mut runs = vec![run("rd1", 4, raw())];
    runs[0].interval_ns = 2 * S;
    let mut report = Report::new(setup(Layout::V507), runs.clone());
    let mut written = Written::default();
    written.add(report.start_run(&at(0), 0, &runs[0].announced, None, None));
    for idx in 0..10 {
        written.add(report.interval(&at(2000), &raw_interval(idx < 4, 100 + idx)));
    }
    written.add(report.end_run(&at(9000), &[]));
    let summary = written.page("summary.html");
    assert!(summary.contains("           5      162.5"), "{summary}");
    assert!(!summary.contains("           6  "));
    // Seconds 5 to 10 are the intervals 3 to 5.
    assert!(summary.contains("     avg_3-5      159.5"), "{summary}");
}

#[test]
fn headings_come_every_thirty_rows() {
    let rows: Vec<Interval> = (0..61).map(|_| raw_interval(false, 10)).collect();
    let written = measured(Layout::V507, 0, &rows);
    assert_eq!(written.page("summary.html").matches("Nov 21, 2026    interval").count(), 3);
    assert_eq!(written.page("totals.html").matches("Nov 21, 2026    interval").count(), 1);
}

/// The text after `avg_`, split at blanks: how scripts find figures by position.
fn by_position(page: &str) -> Vec<f64> {
    let (_, rest) = page.split_once("avg_").expect("averages");
    let line = rest.lines().next().expect("a line");
    line.split_whitespace().skip(1).map(|word| word.parse().expect("a number")).collect()
}

#[test]
fn readers_find_figures_by_position() {
    let rows = [raw_interval(false, 7), raw_interval(false, 100)];
    let written = measured(Layout::V507, 0, &rows);
    let figures = by_position(written.page("summary.html"));
    assert_eq!(&figures[..4], [150.0, 0.59, 4096.0, 66.67]);
    assert_eq!(&figures[4..7], [1.333, 1.0, 2.0]);
    assert_eq!((figures[7], figures[8], figures.len()), (1.0, 2.0, 13));
    let written = measured(Layout::V503, 0, &rows);
    let figures = by_position(written.page("summary.html"));
    assert_eq!(&figures[..4], [150.0, 0.59, 4096.0, 66.67]);
    assert_eq!(&figures[4..8], [1.333, 1.0, 2.0, 2.0]);
    assert_eq!((figures[9], figures.len()), (0.2, 12), "queue depth");
}

#[test]
fn readers_find_figures_by_name() {
    let rows = [raw_interval(false, 7), raw_interval(false, 100)];
    for layout in [Layout::V503, Layout::V507] {
        let written = measured(layout, 0, &rows);
        let lines = written.page("flatfile.html").lines();
        let mut lines = lines.filter(|line| !line.starts_with(['*', '<']));
        let names: Vec<&str> = lines.next().expect("a heading").split_whitespace().collect();
        let last: Vec<&str> = lines.next_back().expect("averages").split_whitespace().collect();
        assert_eq!(names.len(), last.len(), "{layout:?}");
        let word = |name: &str| last[names.iter().position(|known| *known == name).expect(name)];
        let number = |name: &str| word(name).parse::<f64>().expect(name);
        assert_eq!((word("Run"), word("Interval")), ("rd1", "avg_2-2"));
        assert_eq!((number("reqrate"), number("rate"), number("bytes/io")), (500.0, 150.0, 4096.0));
        assert!((number("resp") - 1.3333).abs() < 1e-9 && (number("resp_max") - 2.0).abs() < 1e-9);
        assert_eq!((number("lunsize"), number("rdpct"), number("threads")), (2.0, 70.0, 8.0));
        assert_eq!((number("cpu_used"), number("cpu_idle")), (15.5, 80.0));
        assert_eq!(word("version"), "n/a");
        assert_eq!(names.contains(&"read_max"), layout == Layout::V507);
    }
}

#[test]
fn of_sizes_by_shares_the_first_counts() {
    let mix = || Xfersize::Split(vec![(4096, 50.0), (8192, 50.0)]);
    let check = |sizes: [Xfersize; 2], expected: &str| {
        let mut wds = vec![wd("wd1", 0, 60.0), wd("wd2", 1, 40.0)];
        wds.iter_mut().zip(sizes).for_each(|(wd, size)| wd.xfersize = size);
        let work = Work::Raw(RawWork { sds: vec![sd("sd1"), sd("sd2")], wds });
        let runs = vec![run("rd1", 0, work)];
        let mut report = Report::new(setup(Layout::V507), runs.clone());
        let mut written = Written::default();
        written.add(report.start_run(&at(0), 0, &runs[0].announced, None, None));
        written.add(report.interval(&at(1000), &raw_interval(false, 10)));
        written.add(report.end_run(&at(1500), &[]));
        let lines = written.page("flatfile.html").lines();
        let mut lines = lines.filter(|line| !line.starts_with(['*', '<']));
        let names = lines.next().expect("a heading").split_whitespace();
        let last = lines.next_back().expect("averages").split_whitespace();
        let found = names.zip(last).find(|(name, _)| *name == "xfersize");
        assert_eq!(found, Some(("xfersize", expected)));
    };
    check([Xfersize::Fixed(4096), mix()], "4096");
    check([mix(), Xfersize::Fixed(8192)], "n/a");
    check([Xfersize::Fixed(4096), Xfersize::Fixed(8192)], "n/a");
    check([mix(), mix()], "4096");
}

fn fsd() -> Fsd {
    Fsd {
        name: "fsd1".to_owned(),
        anchor: "/x/tree".to_owned(),
        create_parents: false,
        depth: 2,
        width: 2,
        files: 8,
        bottom_only: true,
        sizes: FileSizes::Split(vec![(32 << 10, 50.0), (64 << 10, 50.0)]),
        total_bytes: 0,
        working_set_bytes: 0,
        shared: false,
        mask: None,
        open: OpenFlags::default(),
    }
}

fn fwd(name: &str, operation: FileOperation) -> Fwd {
    Fwd {
        name: name.to_owned(),
        fsd: 0,
        host: "localhost".to_owned(),
        n_slaves: 1,
        target: None,
        operation,
        rdpct: None,
        fileio: FileIo::Random { shared: false },
        fileselect: Select { order: SelectOrder::Random, once: false, filter: SelectFilter::Any },
        xfersize: Xfersize::Fixed(4096),
        threads: 2,
        stopafter: None,
        skew_pct: 50.0,
        open: OpenFlags::default(),
    }
}

#[test]
fn operations_asked_for_are_separated_from_those_that_come_with_them() {
    let fwds = vec![fwd("fwd1", FileOperation::Read), fwd("fwd2", FileOperation::Setattr)];
    let runs = vec![run("rd1", 0, Work::Files(FileWork { fsds: vec![fsd()], fwds }))];
    let mut report = Report::new(setup(Layout::V507), runs.clone());
    let mut written = Written::default();
    written.add(report.open(&at(0), false));
    written.add(report.start_run(&at(1000), 0, &runs[0].announced, None, None));
    for n in [5, 100, 200] {
        let all = vec![
            series("fwd1", "", "read", n, 1_000_000),
            series("fwd1", "", "open", n / 10, 3_000_000),
            series("fwd2", "", "setattr", n, 2_000_000),
        ];
        written.add(report.interval(&at(2000), &interval(false, 1000, all)));
    }
    written.add(report.end_run(&at(9000), &[&job("fwd1", "", "read", 300, 1_000_000)]));
    let page = written.page("fsd1.html");
    let line = |label: &str| page.lines().find(|line| line.contains(label)).expect("a row");
    let words = |label: &str| {
        let line = line(label);
        assert_eq!(
            line.len(),
            page.lines().find(|row| row.contains("avg_2-3")).map_or(0, str::len)
        );
        line.split_whitespace().skip(2).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        words("avg_2-3"),
        "300.0 1.500 15.5 5.50 100.0 150.0 1.000 0.0 0.000 0.59 0.00 0.59 4096 0.0 0.000 0.0 \
         0.000 0.0 0.000 15.0 3.000 0.0 0.000 0.0 0.000 150.0 2.000"
    );
    assert_eq!(words("std_2-3"), "70.7 0.000 7.1 0.000 70.7 0.000");
    assert_eq!(words("max_2-3"), "200.0 1.000 20.0 3.000 200.0 2.000");
    assert!(page.contains("..setattr..."), "columns of what is used");
    assert!(!page.contains("...access..."), "and of nothing else");
    assert!(written.page("fwd1.html").contains("avg_2-3  150.0  1.000"));
    assert!(written.page("histogram.html").contains("Total of all requested operations"));
    assert!(written.all.console.contains("READ_OPENS"));
    let anchors = written.page("anchors.html");
    assert!(anchors.contains("/x/tree                         32        6   1.5m"), "{anchors}");
}

#[test]
fn events_out_of_order_are_reported() {
    let report = || Report::new(setup(Layout::V507), vec![run("rd1", 0, raw())]);
    let started = || {
        let mut report = report();
        let _ = report.start_run(&at(0), 0, "", None, None);
        report
    };
    let hurried = || {
        let runs = vec![Run { interval_ns: 0, ..run("rd1", 0, raw()) }];
        Report::new(setup(Layout::V507), runs)
    };
    let mut latencies = Histogram::new();
    latencies.record(1);
    testing::check_wrong_calls(&[
        ("a run that there is not", "run 1 of 1 starts", &|| {
            let _ = report().start_run(&at(0), 1, "", None, None);
        }),
        ("a run within a run", "run 0 starts before run Some(0) has ended", &|| {
            let _ = started().start_run(&at(0), 0, "", None, None);
        }),
        ("rows without end", "rd=rd1 reports every 0 ns", &|| {
            let _ = hurried().start_run(&at(0), 0, "", None, None);
        }),
        ("a tree of no run", "anchor=/x is seen, and no run goes on", &|| {
            let _ = report().tree("/x", &TreeSeen::default(), true);
        }),
        ("a sample of no run", "a sample until 0 ms comes, and no run goes on", &|| {
            let _ = report().interval(&at(0), &raw_interval(false, 1));
        }),
        ("the end of no run", "a run of 0 jobs ends, and none goes on", &|| {
            let _ = report().end_run(&at(0), &[]);
        }),
        ("a second interval left out", "what 0 jobs did is left out of all averages", &|| {
            let mut report = started();
            let _ = report.interval(&at(1000), &raw_interval(false, 1));
            report.leave_out(Vec::new());
        }),
        ("a rest of nothing", "7 ns are what is left after 0 intervals", &|| {
            Totals::new(true).add_rest(&RowStats::new(7, None));
        }),
        ("limits that fall", "limits of a histogram do not rise: [20, 10]", &|| {
            let _ = block("", &latencies, &[20, 10]);
        }),
    ]);
}
