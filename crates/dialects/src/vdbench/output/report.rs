//! The output directory and the console of a whole run, written event by event.
//!
//! A [`Report`] opens no file: each event comes back as an [`Output`], text for the console and
//! for the ends of pages. Whatever was handed out is final, so a run that is killed leaves all
//! that was measured until then.

use record::{Interval, JobRecord, SeriesRecord};

mod found;
mod head;
mod run_totals;
mod skew;

use super::anchors;
use super::asked::asked;
use super::files::{FileFigures, file_columns, file_header, file_row, file_spread_rows};
use super::flatfile::{
    RunSettings, file_flatfile_head, file_flatfile_row, raw_flatfile_head, raw_flatfile_row,
};
use super::histogram::{HISTOGRAM_LIMITS_US, file_histogram, raw_histograms};
use super::jobs::{MemberKind, is_files, operations};
use super::members::{Latencies, Member, Members};
use super::page::{anchor, link_line, shown, status_line, title};
use super::raw::{Layout, RawFigures, raw_header, raw_row};
use super::samples;
use super::setup::{Setup, SetupHost};
use super::stats::{RowStats, Totals};
use super::time::Moment;
use crate::vdbench::run::{FileOperation, Fsd, Run, Work};
use run_totals::RunTotals;

pub use super::anchors::TreeSeen;
pub use found::{AnchorPart, LunSeen};

/// Intervals between headings.
const ROWS_PER_HEADING: u32 = 30;
const NS_PER_MS: u64 = 1_000_000;

/// What is to be written now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// For the console.
    pub console: String,
    /// Name of a page and the text that goes to its end, in order.
    pub pages: Vec<(String, String)>,
    /// Name of a page and the text that replaces all of it.
    pub whole: Vec<(String, String)>,
    /// Everything ends after this run, and why.
    pub abort: Option<String>,
}

impl Output {
    /// Adds text to a page.
    fn page(&mut self, name: &str, text: &str) {
        self.markup(name, &shown(text));
    }

    /// Adds what has links and the like in it to a page.
    fn markup(&mut self, name: &str, text: &str) {
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
const RUN_TOTALS: &str = "totals_optional.html";

/// Pages that every run writes.
pub const PAGES: [&str; 10] =
    [SUMMARY, LOG, TOTALS, FLATFILE, STATUS, SKEW, ERRORS, HISTOGRAM, PARMFILE, PARMSCAN];
/// Pages beside them that are not named after a definition; Vdbench has the last two.
pub(in crate::vdbench) const OTHER_PAGES: [&str; 4] =
    [ANCHORS, RUN_TOTALS, "config.html", "messages.html"];

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
    /// skew.html says what it counts.
    has_skew_note: bool,
    run_totals: RunTotals,
}

/// A run that goes on.
#[derive(Debug)]
struct Current {
    run_idx: usize,
    columns: Vec<FileOperation>,
    asked: RunSettings,
    n_warmup: u32,
    /// Samples since the last row.
    gathered: Option<Interval>,
    /// What each job did in the first interval, where that is left out of averages.
    first: Vec<(String, SeriesRecord)>,
    /// The line of anchors.html where the run begins: below what was there before.
    anchors_start: Option<String>,
}

impl Report {
    /// Makes the report of these runs.
    pub fn new(setup: Setup, runs: Vec<Run>) -> Self {
        let limits_us = match setup.histogram_ns.as_slice() {
            [] => HISTOGRAM_LIMITS_US.to_vec(),
            limits_ns => limits_ns.iter().map(|ns| ns / 1000).collect(),
        };
        Report {
            members: Members::of(&runs, &setup),
            is_files: runs.iter().any(is_files),
            setup,
            runs,
            current: None,
            limits_us,
            totals_columns: None,
            has_flatfile_head: false,
            has_skew_note: false,
            run_totals: RunTotals::default(),
        }
    }

    /// Returns the head of every page, for a run or a simulation of it.
    pub fn open(&self, now: &Moment, is_simulation: bool) -> Output {
        let mut output = Output::default();
        for page in [SUMMARY, LOG, TOTALS, STATUS, PARMFILE, PARMSCAN, FLATFILE] {
            output.markup(page, &title(&self.setup.folder, page));
        }
        output.markup(SUMMARY, &self.summary_head(now));
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
            shown(&self.setup.program),
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

    /// Returns what is printed once everything is ready to run.
    pub fn connected(&self, now: &Moment) -> Output {
        let mut output = Output::default();
        let pid = self.setup.pid;
        let mut events = vec!["Starting slaves".to_owned()];
        for slave in self.members.names(MemberKind::Slave) {
            events.push(connected(&slave, pid));
        }
        events.push("Slaves connected".to_owned());
        events.push("Query host configuration started".to_owned());
        events.push("Query host configuration completed".to_owned());
        for event in events {
            output.page(STATUS, &status_line(now, &event, None));
        }
        let clock = now.clock();
        let mut lines: Vec<String> = Vec::new();
        for line in self.runs.iter().flat_map(structures).map(anchors::console_line) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let slaves = self.members.names(MemberKind::Slave);
        lines.extend(self.setup.hosts.iter().filter_map(SetupHost::raised_line));
        let starting = |slave: &String| {
            let host = self.setup.hosts.iter().find(|host| host.has_slave(slave));
            match host.and_then(|host| host.system.as_ref()) {
                Some(system) => format!("Starting slave: {slave}, on {system} by ssh"),
                None => format!("Starting slave: {slave}, in this process"),
            }
        };
        lines.extend(slaves.iter().map(starting));
        output.log(&lines.iter().map(|line| format!("{clock} {line}\n")).collect::<String>());
        for slave in &slaves {
            output.page(LOG, &format!("{clock} {}\n", connected(slave, pid)));
        }
        output.log(&format!("{clock} All slaves are now connected\n"));
        output
    }

    /// Counts a failed I/O.
    pub fn count_error(&mut self) {
        self.run_totals.n_errors += 1;
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

    /// Returns a line for the log of errors alone.
    pub fn error_line(&self, now: &Moment, text: &str) -> Output {
        let mut output = Output::default();
        output.page(ERRORS, &format!("{} {text}\n", now.clock()));
        output
    }

    /// Returns what says that the user asked for an end.
    pub fn requested(&self, now: &Moment, text: &str) -> Output {
        let mut output = self.message(now, text, false);
        output.page(STATUS, &status_line(now, text, None));
        output
    }

    /// Returns the list of a simulation.
    pub fn simulation(&self, now: &Moment, list: &str) -> Output {
        let clock = now.clock();
        let (mut all, mut runs) = (String::with_capacity(2 * list.len()), String::new());
        for line in list.lines() {
            all.extend([&clock, " ", line, "\n"]);
            if line.starts_with("Simulating ") {
                runs.extend([&clock, " ", line, "\n"]);
            }
        }
        let mut output = Output::default();
        output.log(&all);
        output.page(SUMMARY, &runs);
        output
    }
}

impl Report {
    /// Begins a run, with what is announced behind `Starting `. `rate_iops` is the rate of a
    /// curve's point, which is known only now; `lun_bytes` the size of all storage definitions.
    ///
    /// # Panics
    /// If there is no such run, or another one goes on.
    pub fn start_run(
        &mut self,
        now: &Moment,
        run_idx: usize,
        announced: &str,
        rate_iops: Option<f64>,
        lun_bytes: Option<u64>,
    ) -> Output {
        let mut output = Output::default();
        let other = self.current.as_ref().map(|current| current.run_idx);
        assert!(other.is_none(), "run {run_idx} starts before run {other:?} has ended");
        assert!(run_idx < self.runs.len(), "run {run_idx} of {} starts", self.runs.len());
        let run = &self.runs[run_idx];
        let interval_ns = run.interval_ns;
        assert!(interval_ns > 0, "rd={} reports every {interval_ns} ns", run.rd);
        self.members.start(run);
        let mut current = Current {
            run_idx,
            // As in Vdbench, those of all runs together.
            columns: file_columns(&self.runs.iter().flat_map(operations).collect::<Vec<_>>()),
            asked: asked(run, self.setup.layout, rate_iops, lun_bytes),
            n_warmup: u32::try_from(run.warmup_ns.div_ceil(interval_ns)).unwrap_or(u32::MAX),
            gathered: None,
            first: Vec::new(),
            anchors_start: None,
        };
        let starting = format!("{} Starting {announced}", now.clock());
        output.page(STATUS, &status_line(now, "Starting", Some(run)));
        output.console.push_str(&format!("{starting}\n"));
        let anchor = anchor(run_idx, &starting);
        for page in self.anchored_pages() {
            output.markup(&page, &anchor);
        }
        current.anchors_start = self.is_files.then_some(anchor);
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

    /// Returns the pages in which runs can be jumped to, but anchors.html.
    fn anchored_pages(&self) -> Vec<String> {
        let mut pages = [SUMMARY, LOG, TOTALS, SKEW, HISTOGRAM].map(str::to_owned).to_vec();
        for member in self.members.all.iter().filter(|member| self.has_page(member)) {
            pages.push(format!("{}.html", member.name));
            if member.kind == MemberKind::Slave {
                pages.push(format!("{}.stdout.html", member.name));
            }
            if self.has_histogram(member) {
                pages.push(histogram_page(member));
            }
        }
        pages
    }

    /// Takes in what is there of the structure in an anchor, at the start of a run or at its end.
    ///
    /// # Panics
    /// If no run goes on.
    pub fn tree(&mut self, anchor: &str, seen: &TreeSeen, is_start: bool) -> Output {
        let mut output = Output::default();
        assert!(self.current.is_some(), "anchor={anchor} is seen, and no run goes on");
        let Some(current) = &mut self.current else { return output };
        let run = &self.runs[current.run_idx];
        let Some(fsd) = structures(run).iter().find(|fsd| fsd.anchor == anchor) else {
            return output;
        };
        let row = anchors::row(fsd, Some(seen));
        if !is_start && let Some(start) = current.anchors_start.take() {
            output.markup(ANCHORS, &start);
        }
        output.page(ANCHORS, &row);
        output
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

    /// Returns whether what happens now belongs to an interval that averages leave out: the first
    /// of a run without a warmup. Then [`Report::leave_out`] is to be called before each sample.
    pub fn leaves_out_this(&self) -> bool {
        let is_first = self.members.all[0].totals.n_intervals() == 0;
        self.current.as_ref().is_some_and(|current| current.n_warmup == 0) && is_first
    }

    /// Takes in what each job did from the start of the run to the end of the next sample.
    ///
    /// # Panics
    /// If averages leave nothing out of that ([`Report::leaves_out_this`]).
    pub fn leave_out(&mut self, so_far: Vec<(String, SeriesRecord)>) {
        let n = so_far.len();
        assert!(self.leaves_out_this(), "what {n} jobs did is left out of all averages");
        if let Some(current) = &mut self.current {
            current.first = so_far;
        }
    }

    /// Takes in a sample. Rows come once samples add up to the run's interval.
    ///
    /// # Panics
    /// If no run goes on, or a sample is older than the one before it.
    pub fn interval(&mut self, now: &Moment, sample: &Interval) -> Output {
        let end_ms = sample.end_ms;
        assert!(self.current.is_some(), "a sample until {end_ms} ms comes, and no run goes on");
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
        self.gathered(now, false)
    }

    /// Prints what was gathered; a moment without any operation only if it may be empty.
    ///
    /// What is left of the run's time behind the last whole interval is too short for a row that
    /// means anything; it counts in the averages.
    fn gathered(&mut self, now: &Moment, may_be_empty: bool) -> Output {
        let mut output = Output::default();
        let gathered = self.current.as_mut().and_then(|current| current.gathered.take());
        let (Some(interval), Some(current)) = (gathered, &self.current) else { return output };
        let run = &self.runs[current.run_idx];
        self.members.take(&interval);
        let n_before = self.members.all[0].totals.n_intervals();
        let is_rest = interval.length_ms.saturating_mul(NS_PER_MS) < run.interval_ns / 4;
        let is_nothing = n_before == 0 && self.members.all[0].row.all().n == 0;
        if is_rest && is_nothing && !may_be_empty {
            // Nothing could begin: a row of zeros would look like a result.
            return output;
        }
        if is_rest && n_before > 0 {
            for member in &mut self.members.all {
                member.totals.add_rest(&member.row);
            }
            self.run_totals.sums.append(&self.members.all[0].row);
            return output;
        }
        let number = n_before + 1;
        self.run_totals.sums.append(&self.members.all[0].row);
        self.run_totals.last = Some((run.name.clone(), number));
        for member in &mut self.members.all {
            member.totals.add(&member.row, interval.ramp);
        }
        let label = number.to_string();
        let header = match n_before % ROWS_PER_HEADING {
            0 => self.header(now, &current.columns),
            _ => String::new(),
        };
        for member in self.members.shown() {
            let text = format!("{header}{}", self.row(now, &label, &member.row, current));
            if member.kind == MemberKind::Total {
                output.summary(&text);
            } else if self.has_page(member) {
                output.page(&format!("{}.html", member.name), &text);
            }
        }
        let flat = self.flat_row(now, &label, &self.members.all[0].row, None, &current.asked);
        output.page(FLATFILE, &flat);
        if number == current.n_warmup.max(1) {
            output.page(STATUS, &status_line(now, "Warmup done", Some(run)));
        }
        if self.setup.detail.run_totals {
            output.whole.push((RUN_TOTALS.to_owned(), self.run_totals_page(now)));
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
        asked: &RunSettings,
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

    /// Returns how the run stands: the averages until now, on the console and in the log alone.
    /// Pages of results stay as they would be without the question.
    pub fn so_far(&self, now: &Moment) -> Output {
        let mut output = Output::default();
        let Some(current) = &self.current else { return output };
        let total = &self.members.all[0];
        let text = match total.totals.label() {
            Some(intervals) => {
                let label = format!("so_far_{intervals}");
                self.row(now, &label, total.totals.sums(), current)
            }
            None => format!(
                "{} rd={} has no averages yet: none of its intervals so far ({}) counts\n",
                now.clock(),
                self.runs[current.run_idx].rd,
                total.totals.n_intervals()
            ),
        };
        output.log(&text);
        output
    }

    /// Ends a run, with the results of its jobs.
    ///
    /// # Panics
    /// If none goes on.
    pub fn end_run(&mut self, now: &Moment, jobs: &[&JobRecord]) -> Output {
        assert!(self.current.is_some(), "a run of {} jobs ends, and none goes on", jobs.len());
        // A format that found nothing to do has a row of zeros.
        let run = self.current.as_ref().map(|current| &self.runs[current.run_idx]);
        let is_format = run.is_some_and(|run| matches!(run.work, Work::Format(_)));
        let is_fine = jobs.iter().all(|job| job.error_errno == 0);
        let mut output = self.gathered(now, is_format && is_fine);
        let Some(current) = self.current.take() else { return output };
        for member in &mut self.members.all {
            member.totals.finish();
        }
        for job in jobs {
            self.members.take_job(job);
        }
        if self.members.all[0].totals.leaves_first_out() {
            self.members.leave_out(&current.first);
        }
        let run = &self.runs[current.run_idx].clone();
        output.page(STATUS, &status_line(now, "Workload done", Some(run)));
        for member in self.members.shown() {
            let text = self.averages(now, member, &current);
            if member.kind == MemberKind::Total {
                output.summary(&text);
            } else if self.has_page(member) {
                output.page(&format!("{}.html", member.name), &text);
            }
            self.end_histogram(&mut output, member);
        }
        self.end_totals(now, &current, &mut output);
        let total = &self.members.all[0].totals;
        if total.label().is_none() && total.n_intervals() > 0 {
            output.summary(&format!(
                "{} warning: rd={} ended within its warmup: nothing counts, and there are no \
                 averages. Write a shorter warmup=\n",
                now.clock(),
                run.rd
            ));
        }
        if let Some(start) = &current.anchors_start {
            output.markup(ANCHORS, start);
            for fsd in structures(run) {
                output.page(ANCHORS, &anchors::row(fsd, None));
            }
        }
        self.end_skew(now, run, &current, &mut output);
        let off = self.warn(now, run, &current, &mut output);
        output.abort = jobs.iter().find_map(|job| failure(job)).or(off);
        output.page(STATUS, &status_line(now, "Slaves done", Some(run)));
        output
    }

    /// Returns the average row of a member, and below it how the rates of files spread.
    fn averages(&self, now: &Moment, member: &Member, current: &Current) -> String {
        let Some(intervals) = member.totals.label() else { return String::new() };
        let label = format!("avg_{intervals}");
        let mut text = self.row(now, &label, member.totals.sums(), current);
        if self.is_files && self.setup.layout == Layout::V507 {
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
        let lines = self.members.counters.lines();
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
            MemberKind::Total => HISTOGRAM.to_owned(),
            MemberKind::Host
            | MemberKind::Slave
            | MemberKind::Part
            | MemberKind::Sd
            | MemberKind::Wd
            | MemberKind::Fsd
            | MemberKind::Fwd => {
                if !self.has_histogram(member) {
                    return;
                }
                histogram_page(member)
            }
        };
        let text = if self.is_files {
            file_histogram(&member.latencies.requested, &self.limits_us)
        } else {
            let Latencies { reads, writes, .. } = &member.latencies;
            raw_histograms(reads, writes, &self.limits_us)
        };
        output.page(&page, &text);
    }
}

impl Report {
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
                "Vdbench was interrupted; all rows until then are kept".to_owned(),
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

/// Returns the name of the page of a member's histograms.
fn histogram_page(member: &Member) -> String {
    format!("{}.histogram.html", member.name)
}

/// Returns why a job did nothing, if it could not begin.
fn failure(job: &JobRecord) -> Option<String> {
    let dirs = [&job.dirs.read, &job.dirs.write, &job.dirs.trim];
    let has_done =
        dirs.iter().any(|dir| dir.n_ios > 0) || job.series.iter().any(|series| series.n_ios > 0);
    (job.error_errno != 0 && !has_done).then(|| job.error_message.clone())
}

/// Returns the structures of files that a run works on.
fn structures(run: &Run) -> &[Fsd] {
    match &run.work {
        Work::Files(files) => &files.fsds,
        Work::Format(format) => &format.fsds,
        Work::Raw(_) | Work::SdFormat(_) => &[],
    }
}

fn connected(slave: &str, pid: u32) -> String {
    format!("Slave {slave} (pid {pid:>6}) connected to master {pid}")
}

fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

const STATUS_HEAD: &str = "\
* Vdbench status

* One line per event, written at once: time, event and, of a run, its name and its loops.
* A tab stands between the columns. Programs may rely on this page.

";
