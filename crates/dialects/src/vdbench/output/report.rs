//! The output directory and the console of a whole run, told event by event.
//!
//! A [`Report`] knows no file: each event comes back as an [`Output`], text for the console and
//! for the ends of pages. Whatever was handed out is final, so a run that is killed leaves all
//! that was measured until then.

use record::{Interval, JobRecord};

use super::asked::asked;
use super::files::{
    FileFigures, file_columns, file_header, file_row, file_skew_header, file_skew_row,
    file_spread_rows, miscellaneous,
};
use super::flatfile::{
    Asked, file_flatfile_head, file_flatfile_row, raw_flatfile_head, raw_flatfile_row,
};
use super::histogram::{HISTOGRAM_LIMITS_US, file_histogram, raw_histograms};
use super::members::{Kind, Member, Members, is_files, operations};
use super::page::{anchor, boxed, link_line, link_lines, run_links, status_line, title};
use super::raw::{
    Layout, Megabyte, RawFigures, Skew, TOTAL, raw_header, raw_row, raw_skew_header, raw_skew_row,
};
use super::samples;
use super::stats::{RowStats, Totals};
use super::time::Moment;
use crate::vdbench::run::{FileOperation, Rate, Run, Work};

/// Intervals between headings.
const ROWS_PER_HEADING: u32 = 30;
const NS_PER_MS: u64 = 1_000_000;
/// Processors in use above this are warned of, percent.
const CPU_PCT_MAX: f64 = 80.0;
/// Shares of workloads that are off by more are warned of, percent.
const SKEW_PCT_MAX: f64 = 1.0;

/// What the outputs depend on besides the runs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Name of the output directory as given.
    pub folder: String,
    /// Its full path.
    pub folder_path: String,
    /// Columns.
    pub layout: Layout,
    /// What a megabyte is.
    pub megabyte: Megabyte,
    /// Name and version of the program, for the head of summary.html.
    pub program: String,
    /// Number of the process.
    pub pid: u32,
    /// Labels of hosts.
    pub hosts: Vec<String>,
    /// Upper limits of the histogram's buckets, nanoseconds; empty is [`HISTOGRAM_LIMITS_US`].
    pub histogram_ns: Vec<u64>,
    /// A page per storage definition.
    pub sd_detail: bool,
    /// A page per file system definition.
    pub fsd_detail: bool,
    /// What parmfile.html lists.
    pub copied: Vec<String>,
    /// What parmscan.html lists.
    pub scanned: Vec<String>,
}

/// What is to be written now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// For the console.
    pub console: String,
    /// Name of a page and the text that goes to its end, in order.
    pub pages: Vec<(String, String)>,
}

impl Output {
    fn page(&mut self, name: &str, text: &str) {
        match self.pages.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.push_str(text),
            None => self.pages.push((name.to_owned(), text.to_owned())),
        }
    }

    /// Adds to the console, the log and the summary.
    fn summary(&mut self, text: &str) {
        self.console.push_str(text);
        self.page(SUMMARY, text);
        self.page(LOG, text);
    }

    /// Adds to the console and the log.
    fn log(&mut self, text: &str) {
        self.console.push_str(text);
        self.page(LOG, text);
    }
}

const SUMMARY: &str = "summary.html";
const LOG: &str = "logfile.html";
const TOTALS: &str = "totals.html";
const FLATFILE: &str = "flatfile.html";
const STATUS: &str = "status.html";
const SKEW: &str = "skew.html";
const ERRORS: &str = "errorlog.html";
const ANCHORS: &str = "anchors.html";
const HISTOGRAM: &str = "histogram.html";
const PARMFILE: &str = "parmfile.html";
const PARMSCAN: &str = "parmscan.html";

/// How a run of the program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All was done.
    Complete,
    /// All was simulated.
    Simulated,
    /// The user stopped it.
    Interrupted,
    /// It failed.
    Aborted(
        /// Why.
        String,
    ),
}

/// What is printed, and where.
#[derive(Debug)]
pub struct Report {
    setup: Setup,
    runs: Vec<Run>,
    members: Members,
    /// The run that goes on.
    current: Option<Current>,
    is_files: bool,
    limits_us: Vec<u64>,
    /// Operations with columns in totals.html so far.
    totals_columns: Option<Vec<FileOperation>>,
    has_flatfile_head: bool,
}

/// A run that goes on.
#[derive(Debug)]
struct Current {
    run_idx: usize,
    columns: Vec<FileOperation>,
    asked: Asked,
    n_warmup: u32,
    /// Samples since the last row.
    gathered: Option<Interval>,
}

impl Report {
    /// Makes the report of these runs.
    pub fn new(setup: Setup, runs: Vec<Run>) -> Self {
        let limits_us = match setup.histogram_ns.as_slice() {
            [] => HISTOGRAM_LIMITS_US.to_vec(),
            limits_ns => limits_ns.iter().map(|ns| ns / 1000).collect(),
        };
        Report {
            members: Members::of(&runs, &setup.hosts),
            is_files: runs.iter().any(is_files),
            setup,
            runs,
            current: None,
            limits_us,
            totals_columns: None,
            has_flatfile_head: false,
        }
    }

    /// Returns the head of every page, for a run or a simulation of it.
    pub fn open(&self, now: &Moment, is_simulation: bool) -> Output {
        let mut output = Output::default();
        for page in [SUMMARY, LOG, TOTALS, STATUS, PARMFILE, PARMSCAN, FLATFILE] {
            output.page(page, &title(&self.setup.folder, page));
        }
        output.page(SUMMARY, &self.summary_head(now));
        output.page(LOG, &format!("{}\n\n", self.setup.program));
        output.page(TOTALS, "Run totals\n\n");
        output.page(STATUS, STATUS_HEAD);
        output.page(PARMFILE, &lines(&self.setup.copied));
        let clock = now.clock();
        let scanned: Vec<String> =
            self.setup.scanned.iter().map(|line| format!("{clock} {line}")).collect();
        output.page(PARMSCAN, &lines(&scanned));
        if !is_simulation {
            self.open_details(now, &mut output);
        }
        output
    }

    fn summary_head(&self, now: &Moment) -> String {
        let mut text = format!(
            "{}\nVdbench summary report, created {} ({})\n\n",
            self.setup.program,
            now.long(),
            now.long_utc()
        );
        for (line, page, name) in [
            ("Link to logfile:", LOG, "logfile"),
            ("Run totals:", TOTALS, "totals"),
            ("Vdbench status:", STATUS, "status"),
            ("Copy of input parameter files:", PARMFILE, "parmfile"),
            ("Copy of parameter scan detail:", PARMSCAN, "parmscan"),
        ] {
            text.push_str(&link_line(line, page, name));
        }
        text
    }

    /// Opens the pages of a run that is not simulated.
    fn open_details(&self, now: &Moment, output: &mut Output) {
        let links = run_links(&self.runs);
        output.page(SUMMARY, &self.summary_links());
        output.page(TOTALS, &links);
        output.page(LOG, &links);
        let created = format!(
            "Vdbench error log, created {} \nError log. If there are no error messages beyond \
             this line then there were no Data Validation or I/O errors.\n\n",
            now.long()
        );
        self.open_page(output, ERRORS, &created);
        self.open_page(output, SKEW, &format!("Workload skew report\n\n{links}"));
        self.open_page(output, HISTOGRAM, &format!("Total response time histogram.\n\n{links}"));
        if self.is_files {
            self.open_page(output, ANCHORS, &self.anchors_head(&links));
        }
        for host in self.members.names(Kind::Host) {
            let (worker, stdout) = (format!("{host}-0"), format!("{host}-0.stdout.html"));
            let head = format!(
                "Host summary report(s) for host={host}\n\nLink to slave summary report:    <A \
                 HREF=\"{worker}.html\">{worker} summary</A>   <A HREF=\"{stdout}\">{worker} \
                 stdout</A>\n{links}"
            );
            self.open_page(output, &format!("{host}.html"), &head);
            let console = link_line("Console log:", &stdout, "Slave stdout/stderr");
            let head = format!("Slave summary report for slave={worker}\n\n{console}{links}");
            self.open_page(output, &format!("{worker}.html"), &head);
            self.open_page(output, &stdout, &format!("stdout/stderr for slave={worker}\n{links}"));
        }
        for member in &self.members.all {
            self.open_member(output, member, &links);
        }
    }

    fn open_page(&self, output: &mut Output, page: &str, head: &str) {
        output.page(page, &title(&self.setup.folder, page));
        output.page(page, head);
    }

    fn open_member(&self, output: &mut Output, member: &Member, links: &str) {
        let name = &member.name;
        let (page, histogram, kind) = match member.kind {
            _ if !self.has_page(member) => return,
            Kind::Sd => {
                (format!("SD report for sd={name}"), "SD response time histogram.".into(), "")
            }
            Kind::Wd => (
                format!("Workload Report for wd={name}"),
                "WD response time histogram.".to_owned(),
                "",
            ),
            Kind::Fsd => (
                format!("Report for fsd {name}"),
                format!("Performance histogram for FSD={name}"),
                "fs",
            ),
            Kind::Fwd => (
                format!("Report for fwd {name}"),
                format!("Performance histogram for FWD={name}"),
                "fs",
            ),
            Kind::Total | Kind::Host => return,
        };
        let to_histogram = match kind {
            "fs" => "Link to Performance histogram:",
            _ => "Link to response time histogram:",
        };
        let link = link_line(to_histogram, &format!("{name}.histogram.html"), "histogram");
        self.open_page(output, &format!("{name}.html"), &format!("{page}\n\n{link}{links}"));
        let head = format!("{histogram}\n\n{links}");
        self.open_page(output, &format!("{name}.histogram.html"), &head);
    }

    /// Says whether a member of storage or workload has pages of its own.
    fn has_page(&self, member: &Member) -> bool {
        match member.kind {
            Kind::Total | Kind::Host => false,
            Kind::Sd => self.setup.sd_detail,
            Kind::Fsd => self.setup.fsd_detail,
            Kind::Wd | Kind::Fwd => true,
        }
    }

    fn summary_links(&self) -> String {
        let mut text = link_line("Link to errorlog:", ERRORS, "errorlog");
        text.push_str(&link_line("Link to flatfile:", FLATFILE, "flatfile"));
        if self.is_files {
            text.push_str(&link_line("Link to anchor status:", ANCHORS, "anchors"));
        }
        text.push('\n');
        let names = |kind| self.members.names(kind);
        text.push_str(&link_lines("Link to HOST reports:", &names(Kind::Host)));
        if self.is_files {
            if self.setup.fsd_detail {
                text.push_str(&link_lines("Link to FSD reports:", &names(Kind::Fsd)));
            }
            text.push_str(&link_lines("Link to FWD reports:", &names(Kind::Fwd)));
        }
        text.push_str(&link_line("Link to response time histogram:", HISTOGRAM, "histogram"));
        text.push_str(&link_line("Link to workload skew report:", SKEW, "skew"));
        if !self.is_files {
            if self.setup.sd_detail {
                text.push_str(&link_lines("Link to SD reports:", &names(Kind::Sd)));
            }
            text.push('\n');
            for name in names(Kind::Wd) {
                let page = format!("{name}.html");
                text.push_str(&link_line("Link to workload report:", &page, &name));
            }
        }
        text.push_str(&run_links(&self.runs));
        text
    }

    fn anchors_head(&self, links: &str) -> String {
        let mut text = format!("Anchor status report\n\n{ANCHORS_HEAD}\n{links}");
        let mut known: Vec<&str> = Vec::new();
        for run in &self.runs {
            let fsds = match &run.work {
                Work::Files(files) => &files.fsds,
                Work::Format(format) => &format.fsds,
                _ => continue,
            };
            for fsd in fsds {
                if !known.contains(&fsd.anchor.as_str()) {
                    known.push(&fsd.anchor);
                    text.push_str(&super::anchors::row(fsd));
                }
            }
        }
        text
    }

    /// Returns what is printed once everything is ready to run.
    pub fn connected(&self, now: &Moment) -> Output {
        let mut output = Output::default();
        let pid = self.setup.pid;
        let mut events = vec!["Starting slaves".to_owned()];
        for host in self.members.names(Kind::Host) {
            events.push(format!("Slave {host}-0 (pid {pid:>6}) connected to master {pid}"));
        }
        events.push("Slaves connected".to_owned());
        events.push("Query host configuration started".to_owned());
        events.push("Query host configuration completed".to_owned());
        for event in events {
            output.page(STATUS, &status_line(now, &event, None));
        }
        output.log(&format!("{} All slaves are now connected\n", now.clock()));
        output
    }

    /// Returns a message for console and log; of an error, for the log of errors, too.
    pub fn message(&self, now: &Moment, text: &str, is_error: bool) -> Output {
        let mut output = Output::default();
        let text: String = text.lines().map(|line| format!("{} {line}\n", now.clock())).collect();
        output.log(&text);
        if is_error {
            output.page(ERRORS, &text);
        }
        output
    }

    /// Returns the list of a simulation.
    pub fn simulation(&self, now: &Moment, list: &str) -> Output {
        let mut output = Output::default();
        for line in list.lines() {
            let text = format!("{} {line}\n", now.clock());
            output.log(&text);
            if line.starts_with("Simulating ") {
                output.page(SUMMARY, &text);
            }
        }
        output
    }
}

impl Report {
    /// Begins a run, with what is announced behind `Starting `. `rate_iops` is the rate of a
    /// curve's point, which is known only now; `lun_bytes` the size of all storage definitions.
    pub fn start_run(
        &mut self,
        now: &Moment,
        run_idx: usize,
        announced: &str,
        rate_iops: Option<f64>,
        lun_bytes: Option<u64>,
    ) -> Output {
        let mut output = Output::default();
        let Some(run) = self.runs.get(run_idx) else { return output };
        self.members.start(run);
        let interval_ns = run.interval_ns.max(1);
        let current = Current {
            run_idx,
            columns: file_columns(&operations(run)),
            asked: asked(run, self.setup.layout, rate_iops, lun_bytes),
            n_warmup: u32::try_from(run.warmup_ns.div_ceil(interval_ns)).unwrap_or(u32::MAX),
            gathered: None,
        };
        let starting = format!("{} Starting {announced}", now.clock());
        output.page(STATUS, &status_line(now, "Starting", Some(run)));
        output.console.push_str(&format!("{starting}\n"));
        let anchor = anchor(run_idx, &starting);
        for page in self.anchored_pages() {
            output.page(&page, &anchor);
        }
        if !self.has_flatfile_head {
            self.has_flatfile_head = true;
            let head = if self.is_files {
                file_flatfile_head()
            } else {
                raw_flatfile_head(self.setup.layout)
            };
            output.page(FLATFILE, &head);
        }
        if self.totals_columns.as_ref() != Some(&current.columns) {
            output.page(TOTALS, &self.header(now, &current.columns));
            self.totals_columns = Some(current.columns.clone());
        }
        self.current = Some(current);
        output
    }

    /// Returns the pages in which runs can be jumped to.
    fn anchored_pages(&self) -> Vec<String> {
        let mut pages = [SUMMARY, LOG, TOTALS, SKEW, HISTOGRAM].map(str::to_owned).to_vec();
        if self.is_files {
            pages.push(ANCHORS.to_owned());
        }
        for member in &self.members.all {
            pages.extend(self.row_pages(member));
            if member.kind == Kind::Host {
                pages.push(format!("{}-0.stdout.html", member.name));
            } else if self.has_page(member) {
                pages.push(format!("{}.histogram.html", member.name));
            }
        }
        pages
    }

    /// Returns the pages that have the rows of a member.
    fn row_pages(&self, member: &Member) -> Vec<String> {
        match member.kind {
            Kind::Total => Vec::new(),
            Kind::Host => vec![format!("{}.html", member.name), format!("{}-0.html", member.name)],
            _ if self.has_page(member) => vec![format!("{}.html", member.name)],
            _ => Vec::new(),
        }
    }

    fn header(&self, now: &Moment, columns: &[FileOperation]) -> String {
        let date = now.date();
        let header = if self.is_files {
            file_header(&date, columns)
        } else {
            raw_header(self.setup.layout, &date, self.setup.megabyte)
        };
        format!("\n{header}")
    }

    /// Takes in a sample. Rows come once samples add up to the run's interval.
    pub fn interval(&mut self, now: &Moment, sample: &Interval) -> Output {
        let Some(current) = &mut self.current else { return Output::default() };
        let interval_ns = self.runs[current.run_idx].interval_ns;
        let is_first = current.gathered.is_none();
        let gathered = current.gathered.get_or_insert_with(|| sample.clone());
        if !is_first {
            samples::append(gathered, sample);
        }
        // A sample is not exactly as long as asked for: less than half of one may be missing.
        let length_ns = gathered.length_ms.saturating_mul(NS_PER_MS);
        let half_ns = sample.length_ms.saturating_mul(NS_PER_MS) / 2;
        if length_ns.saturating_add(half_ns) < interval_ns {
            return Output::default();
        }
        self.gathered(now)
    }

    /// Prints what was gathered.
    ///
    /// What is left of the run's time behind the last whole interval is too short for a row that
    /// means anything; it counts in the averages.
    fn gathered(&mut self, now: &Moment) -> Output {
        let mut output = Output::default();
        let gathered = self.current.as_mut().and_then(|current| current.gathered.take());
        let (Some(interval), Some(current)) = (gathered, &self.current) else { return output };
        let run = &self.runs[current.run_idx];
        self.members.take(&interval);
        let n_before = self.members.all[0].totals.n_intervals();
        let is_rest = interval.length_ms.saturating_mul(NS_PER_MS) < run.interval_ns / 4;
        if is_rest && n_before > 0 {
            for member in &mut self.members.all {
                member.totals.add_rest(&member.row);
            }
            return output;
        }
        let number = n_before + 1;
        for member in &mut self.members.all {
            member.totals.add(&member.row, interval.ramp);
        }
        let label = number.to_string();
        let header = match n_before % ROWS_PER_HEADING {
            0 => self.header(now, &current.columns),
            _ => String::new(),
        };
        for member in self.members.active() {
            let text = format!("{header}{}", self.row(now, &label, &member.row, current));
            if member.kind == Kind::Total {
                output.summary(&text);
            }
            for page in self.row_pages(member) {
                output.page(&page, &text);
            }
        }
        let flat = self.flat_row(now, &label, &self.members.all[0].row, None, &current.asked);
        output.page(FLATFILE, &flat);
        if number == current.n_warmup.max(1) {
            output.page(STATUS, &status_line(now, "Warmup done", Some(run)));
        }
        output
    }

    fn row(&self, now: &Moment, label: &str, row: &RowStats, current: &Current) -> String {
        let (clock, megabyte) = (now.clock(), self.setup.megabyte);
        if self.is_files {
            file_row(&clock, label, &FileFigures::of(row, megabyte), &current.columns)
        } else {
            raw_row(self.setup.layout, &clock, label, &RawFigures::of(row, megabyte))
        }
    }

    fn flat_row(
        &self,
        now: &Moment,
        label: &str,
        row: &RowStats,
        totals: Option<&Totals>,
        asked: &Asked,
    ) -> String {
        let megabyte = self.setup.megabyte;
        if !self.is_files {
            let figures = RawFigures::of(row, megabyte);
            return raw_flatfile_row(self.setup.layout, now, label, asked, &figures);
        }
        let figures = match totals {
            Some(totals) => FileFigures::of_run(totals, megabyte),
            None => FileFigures::of(row, megabyte),
        };
        file_flatfile_row(now, label, asked, &figures)
    }

    /// Ends a run, with the results of its jobs.
    pub fn end_run(&mut self, now: &Moment, jobs: &[&JobRecord]) -> Output {
        let mut output = self.gathered(now);
        let Some(current) = self.current.take() else { return output };
        for member in &mut self.members.all {
            member.totals.finish();
        }
        for job in jobs {
            self.members.take_job(job);
        }
        let run = &self.runs[current.run_idx];
        output.page(STATUS, &status_line(now, "Workload done", Some(run)));
        for member in self.members.active() {
            let text = self.averages(now, member, &current);
            if member.kind == Kind::Total {
                output.summary(&text);
            }
            for page in self.row_pages(member) {
                output.page(&page, &text);
            }
            self.end_histogram(&mut output, member);
        }
        self.end_totals(now, &current, &mut output);
        self.end_skew(now, run, &current, &mut output);
        self.warn(now, run, &mut output);
        output.page(STATUS, &status_line(now, "Slaves done", Some(run)));
        output
    }

    /// Returns the average row of a member, and below it how the rates of files spread.
    fn averages(&self, now: &Moment, member: &Member, current: &Current) -> String {
        let Some(intervals) = member.totals.label() else { return String::new() };
        let label = format!("avg_{intervals}");
        let mut text = self.row(now, &label, member.totals.sums(), current);
        if self.is_files {
            let figures = FileFigures::of_run(&member.totals, self.setup.megabyte);
            let rows = file_spread_rows(&now.clock(), &intervals, &figures, &current.columns);
            text.push_str(&rows.concat());
        }
        text
    }

    fn end_totals(&self, now: &Moment, current: &Current, output: &mut Output) {
        let total = &self.members.all[0];
        let Some(intervals) = total.totals.label() else { return };
        let label = format!("avg_{intervals}");
        let sums = total.totals.sums();
        output.page(TOTALS, &self.row(now, &label, sums, current));
        let flat = self.flat_row(now, &label, sums, Some(&total.totals), &current.asked);
        output.page(FLATFILE, &flat);
        let lines = miscellaneous(sums);
        if self.is_files && !lines.is_empty() {
            let clock = now.clock();
            let head = [String::new(), "Miscellaneous statistics:".to_owned()];
            let all = head.iter().chain(&lines).map(|line| format!("{clock} {line}\n"));
            output.log(&all.collect::<String>());
            output.log(&format!("{clock} \n"));
        }
    }

    fn end_histogram(&self, output: &mut Output, member: &Member) {
        let page = match member.kind {
            Kind::Total => HISTOGRAM.to_owned(),
            Kind::Host => return,
            _ if !self.has_page(member) => return,
            _ => format!("{}.histogram.html", member.name),
        };
        let text = if self.is_files {
            file_histogram(&member.requested, &self.limits_us)
        } else {
            raw_histograms(&member.reads, &member.writes, &self.limits_us)
        };
        output.page(&page, &text);
    }

    /// Adds the tables of who did how much.
    fn end_skew(&self, now: &Moment, run: &Run, current: &Current, output: &mut Output) {
        let kinds: &[(Kind, &str)] = if self.is_files {
            &[(Kind::Host, "Host:"), (Kind::Fsd, "FSD:"), (Kind::Fwd, "FWD:")]
        } else {
            &[(Kind::Host, "Slave:"), (Kind::Sd, "SD:"), (Kind::Wd, "WD:")]
        };
        let total = &self.members.all[0];
        if total.totals.label().is_none() {
            return;
        }
        let mut lines = Vec::new();
        for &(kind, what) in kinds {
            let members = self.members.active_of(kind);
            if members.is_empty() {
                continue;
            }
            lines.push(String::new());
            let shares = if kind == Kind::Wd { self.shares(run) } else { Vec::new() };
            if self.is_files {
                lines.extend(file_skew_header(what, &current.columns));
            } else {
                lines.extend(raw_skew_header(what, self.setup.megabyte, !shares.is_empty()));
            }
            for member in &members {
                let share = shares.iter().find(|(name, _)| *name == member.name);
                let name = match kind {
                    Kind::Host if !self.is_files => format!("{}-0", member.name),
                    _ => member.name.clone(),
                };
                lines.push(self.skew_row(&name, member, share.map(|share| share.1), current));
            }
            let all = Skew { requested_pct: 100.0, observed_pct: 100.0 };
            if members.len() > 1 || !self.is_files {
                let all = (!shares.is_empty()).then_some(all);
                lines.push(self.skew_row(TOTAL, total, all, current));
            }
        }
        let clock = now.clock();
        let text: String = lines.iter().map(|line| format!("{clock} {line}\n")).collect();
        output.page(SKEW, &text);
    }

    fn skew_row(
        &self,
        name: &str,
        member: &Member,
        skew: Option<Skew>,
        current: &Current,
    ) -> String {
        let (sums, megabyte) = (member.totals.sums(), self.setup.megabyte);
        if self.is_files {
            file_skew_row(name, &FileFigures::of(sums, megabyte), &current.columns)
        } else {
            raw_skew_row(name, &RawFigures::of(sums, megabyte), skew)
        }
    }

    /// Returns the shares of workloads, where they were to be kept.
    fn shares(&self, run: &Run) -> Vec<(String, Skew)> {
        let Work::Raw(raw) = &run.work else { return Vec::new() };
        let total = self.members.all[0].totals.sums().all().n as f64;
        if total == 0.0 {
            return Vec::new();
        }
        let members = self.members.active_of(Kind::Wd);
        let share = |member: &&Member| {
            let wd = raw.wds.iter().find(|wd| wd.name == member.name)?;
            let observed_pct = member.totals.sums().all().n as f64 * 100.0 / total;
            Some((wd.name.clone(), Skew { requested_pct: wd.skew_pct, observed_pct }))
        };
        members.iter().filter_map(share).collect()
    }

    /// Warns of shares that were not kept, and of processors without rest.
    fn warn(&self, now: &Moment, run: &Run, output: &mut Output) {
        let clock = now.clock();
        let mut warnings: Vec<Vec<String>> = Vec::new();
        let is_shared = run.controlled || matches!(run.rate, Rate::Iops(_));
        if is_shared
            && let Some((name, skew)) =
                self.shares(run).into_iter().find(|(_, skew)| skew.delta_pct().abs() > SKEW_PCT_MAX)
        {
            let delta = super::number::fixed(skew.delta_pct(), 2);
            warnings.push(vec![format!(
                "Observed Workload skew for wd={name} delta greater than 1% ({delta}). See \
                 skew.html for details"
            )]);
        }
        let cpu = self.members.all[0].totals.sums().cpu.unwrap_or_default();
        let used_pct = cpu.user_pct + cpu.system_pct;
        if used_pct > CPU_PCT_MAX {
            let used = super::number::fixed(used_pct, 1);
            warnings.push(vec![
                format!("Warning: average processor utilization {used}%"),
                "Above 80% this host may be what limits the rate.".to_owned(),
            ]);
        }
        for warning in warnings {
            let lines = boxed(&warning);
            output
                .summary(&lines.iter().map(|line| format!("{clock} {line}\n")).collect::<String>());
        }
    }

    /// Ends everything.
    pub fn close(&self, now: &Moment, ending: &Ending) -> Output {
        let mut output = Output::default();
        let clock = now.clock();
        if *ending != Ending::Simulated {
            output.page(STATUS, &status_line(now, "Shutting down slaves", None));
        }
        let (sentence, event) = match ending {
            Ending::Complete => (
                "Vdbench execution completed successfully".to_owned(),
                "Vdbench complete".to_owned(),
            ),
            Ending::Simulated => {
                ("Vdbench simulation completed successfully".to_owned(), String::new())
            }
            Ending::Interrupted => (
                "Vdbench was interrupted; what was measured until then is kept".to_owned(),
                "Abort requested: interrupted".to_owned(),
            ),
            Ending::Aborted(why) => {
                (format!("Vdbench terminated: {why}"), format!("Abort requested: {why}"))
            }
        };
        if !event.is_empty() {
            output.page(STATUS, &status_line(now, &event, None));
        }
        output.page(SUMMARY, &format!("{clock} {sentence}\n"));
        let path = &self.setup.folder_path;
        output.log(&format!("{clock} {sentence}. Output directory: {path} \n\n"));
        output
    }
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

const STATUS_HEAD: &str = "\
* Vdbench status

* One line per event, written at once: time, event and, of a run, its name and its loops.
* A tab stands between the columns. Programs may rely on this page.

";

const ANCHORS_HEAD: &str = "\
                             ......Anchor size....    ......Total size.....    ......Workingset.....
                             files     dirs  bytes    files     dirs  bytes    files     dirs  bytes
";
