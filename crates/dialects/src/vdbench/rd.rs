//! Run definitions.

use super::findings::SourceRange;
use super::format::Format;
use super::fwd::{OPERATIONS, operation};
use super::general::commands;
use super::head::Head;
use super::loops::{Loop, LoopKind};
use super::number_rule::{
    ABOVE_ZERO, BYTES, COUNT, DURATION, FREE, NumberRule, PERCENT, RATE, RATE_OF_LIST, RATIO,
    SECONDS, SEEK, THREADS, XFERSIZE,
};
use super::openflags::open_flags;
use super::params::Param;
use super::run::{
    AmountMax, Arrivals, Command, CommandTime, FileOperation, OpenFlags, RatePeriod, RatePeriods,
};
use super::scan::Scan;
use super::section::Meaning::{Begin, Long, Number, Own, Same, Words};
use super::section::Name::{Any, Full, Stem};
use super::section::{self, Definition, Section};
use super::values;
use super::values::{CURVE_CODE, CURVE_RATE, MAX_CODE, MAX_RATE, NS_PER_S};

type Row = section::Row<RdEntry>;

/// Elapsed seconds of a run that lasts until its work is done.
pub(super) const NO_ELAPSED_S: i64 = 99_999_998;

/// Percentages of a curve for which none are written.
pub(super) const CURVE_PCTS: [f64; 6] = [10.0, 50.0, 70.0, 80.0, 90.0, 100.0];

with_defaults! {
    /// A run definition as written.
    #[derive(Clone, Debug)]
    pub(super) struct RdEntry {
        /// Named with what its clones add.
        pub(super) head: Head = Head::default(),
        /// Its name as written.
        pub(super) rd: String = String::new(),
        pub(super) wds: Vec<String> = Vec::new(),
        pub(super) wds_place: SourceRange = SourceRange::NONE,
        pub(super) sds: Option<Vec<String>> = None,
        pub(super) fwds: Vec<String> = Vec::new(),
        pub(super) fsds: Vec<String> = Vec::new(),
        pub(super) operations: Vec<FileOperation> = Vec::new(),
        /// The rate of `iorate=`, the first of a list; below 0 it is a percentage.
        pub(super) iorate: f64 = 0.0,
        /// The list of `iorate=`.
        pub(super) rates: Vec<f64> = Vec::new(),
        pub(super) fwdrate: f64 = 0.0,
        pub(super) curve_pcts: Option<Vec<f64>> = None,
        pub(super) stopcurve_ms: Option<f64> = None,
        pub(super) elapsed_s: i64 = 30,
        pub(super) interval_s: i64 = 1,
        pub(super) warmup_s: i64 = 0,
        pub(super) pause_s: i64 = 0,
        /// Below 100 they are multiples of the size of all storage definitions.
        pub(super) maxdata: [f64; 3] = [0.0; 3],
        pub(super) loops: Vec<Loop> = Vec::new(),
        pub(super) arrivals: Arrivals = Arrivals::Poisson,
        /// The list of `iorate=` are rates and seconds in turn.
        pub(super) is_variable: bool = false,
        /// And each second's I/Os start together.
        pub(super) in_spikes: bool = false,
        pub(super) commands: Vec<Command> = Vec::new(),
        pub(super) format: Format = Format::default(),
        pub(super) open: Option<OpenFlags> = None,
    }
}

impl RdEntry {
    /// Returns a run that lasts until its work is done.
    pub(super) fn endless(name: &str) -> Self {
        RdEntry {
            head: Head::named(name),
            rd: name.to_owned(),
            elapsed_s: NO_ELAPSED_S,
            ..RdEntry::default()
        }
    }

    /// Returns the number of runs of one point of the loops: a curve's maximum and its percentages,
    /// else one.
    pub(super) fn n_per_point(&self) -> usize {
        let is_curve = self.iorate == CURVE_RATE || self.fwdrate == CURVE_RATE;
        let n_percentages = self.curve_pcts.as_ref().map_or(CURVE_PCTS.len(), Vec::len);
        if is_curve { 1 + n_percentages } else { 1 }
    }

    /// Returns the loop over values of this kind.
    pub(super) fn loop_of(&self, kind: LoopKind) -> Option<&Loop> {
        self.loops.iter().find(|looped| looped.kind == kind)
    }

    /// Returns the largest value of the loop of this kind.
    pub(super) fn largest_of(&self, kind: LoopKind) -> Option<f64> {
        Some(self.loop_of(kind)?.values.iter().copied().fold(0.0, f64::max))
    }

    /// Returns whether a rate is written, be it one that cannot be.
    pub(super) fn has_iorate(&self) -> bool {
        self.iorate != 0.0 || self.head.has("iorate")
    }

    /// Returns how the rate changes within a run. What is below 0 are percentages: of the largest
    /// rate, and of the elapsed time in whole seconds.
    pub(super) fn rate_periods(&self) -> Option<RatePeriods> {
        if !self.is_variable || self.iorate <= 0.0 {
            return None;
        }
        let share = |value: f64, of: f64| if value < 0.0 { -value / 100.0 * of } else { value };
        let period = |pair: &[f64]| RatePeriod {
            rate: share(pair[0], self.iorate),
            duration_ns: (share(pair[1], self.elapsed_s as f64) as u64).saturating_mul(NS_PER_S),
        };
        let periods = self.rates.chunks_exact(2).map(period).collect();
        Some(RatePeriods { periods, in_spikes: self.in_spikes })
    }

    /// Returns the same on other storage definitions.
    pub(super) fn on_sds(&self, suffix: &str, sds: &[String]) -> Self {
        let name = format!("{}_{suffix}", self.head.name);
        RdEntry { sds: Some(sds.to_vec()), ..self.renamed(&name) }
    }

    /// Returns the limits on data, given the size of all storage definitions.
    pub(super) fn max_data(&self, all_bytes: u64) -> AmountMax {
        let bytes = |written: f64| match written {
            n if n <= 0.0 => 0,
            n if n < 100.0 => (n * all_bytes as f64) as u64,
            n => n as u64,
        };
        AmountMax {
            total_bytes: bytes(self.maxdata[0]),
            read_bytes: bytes(self.maxdata[1]),
            write_bytes: bytes(self.maxdata[2]),
        }
    }
}

/// What a loop takes.
const LOOP: &str = "number, (list), (first-last,step) or (first-last,d)";

/// The row of a keyword that makes a loop: what each of its runs changes, and an example.
macro_rules! looped {
    ($kind:ident, $text:literal, $example:literal) => {
        Row::new(
            Any(LoopKind::$kind.keyword()),
            Own(FREE, |it, p, s| it.looped(LoopKind::$kind, p, s)),
        )
        .set_where_written()
        .doc(LOOP, $text, $example)
    };
}

pub(super) static SECTION: Section<RdEntry> = Section {
    name: "rd",
    what: "a run definition: workloads, their rate, and for how long",
    ends: &[],
    lead: "rd=rd1,wd=wd1,iorate=max",
    rows: &[
        Row::new(Full("rd"), Begin).set_where_written().doc(
            "name or default",
            "Begins a run definition; rd=default sets what later ones have.",
            "rd=rd1,wd=wd1,iorate=max,elapsed=60,interval=1",
        ),
        Row::new(Full("wd"), Own(FREE, wds)).set_where_written().doc(
            "names or a wildcard",
            "The workloads that run, once per run definition.",
            "rd=rd1,wd=(wd1,wd2),iorate=max",
        ),
        Row::new(Full("sd"), Words(|it, names| it.sds = Some(names.to_vec())))
            .set_where_written()
            .doc(
                "names, single, range or setsofN",
                "Storage definitions, in place of those that the workloads name. single makes a \
                 run for each, setsofN one for N at a time.",
                "rd=rd1,wd=wd1,sd=single,iorate=max",
            ),
        Row::new(Full("fsd"), Words(|it, names| names.clone_into(&mut it.fsds)))
            .set_where_written()
            .doc(
                "names or a wildcard",
                "Structures, in place of those that the workloads name.",
                "rd=rd1,fsd=fsd1,operations=read,fwdrate=max",
            ),
        Row::new(Any("iorate"), Own(FREE, iorate)).doc(
            "I/Os per second, (list), max or curve; required",
            "How many I/Os are asked for per second, over everything. A list is the innermost \
             loop; curve measures the maximum, then shares of it.",
            "rd=rd1,wd=wd1,iorate=(1000,2000,max)",
        ),
        Row::new(Full("maxdata"), Own(ABOVE_ZERO, |it, p, s| it.maxdata(0, p, s))).doc(
            "bytes, or below 100 multiples of all sizes",
            "Ends the run after this much data.",
            "maxdata=1",
        ),
        Row::new(Full("maxdataread"), Own(ABOVE_ZERO, |it, p, s| it.maxdata(1, p, s))).doc(
            "as maxdata",
            "Ends the run after this much data was read.",
            "maxdataread=10g",
        ),
        Row::new(Full("maxdatawritten"), Own(ABOVE_ZERO, |it, p, s| it.maxdata(2, p, s))).doc(
            "as maxdata",
            "Ends the run after this much data was written.",
            "maxdatawritten=10g",
        ),
        Row::new(Stem("maxdata"), Own(FREE, unknown_maxdata)),
        Row::new(Any("curve"), Own(FREE, curve)).set_where_written().doc(
            "(percent,..); (10,50,70,80,90,100)",
            "Points of iorate=curve and fwdrate=curve: shares of the maximum that was measured \
             first.",
            "rd=rd1,wd=wd1,iorate=curve,curve=(10-100,10)",
        ),
        Row::new(Any("stopcurve"), Number(ABOVE_ZERO, |it, ms| it.stopcurve_ms = Some(ms))).doc(
            "milliseconds",
            "A curve ends when the mean response time of a point is above this.",
            "rd=rd1,wd=wd1,iorate=curve,stopcurve=5",
        ),
        Row::new(Any("elapsed"), Long(DURATION, |it, s| it.elapsed_s = s)).doc(
            "seconds, or such as 10m, 2h; 30",
            "How long it is measured: at least two intervals, and a whole number of them.",
            "elapsed=10m",
        ),
        Row::new(Any("interval"), Long(DURATION, |it, s| it.interval_s = s)).doc(
            "seconds; 1",
            "Time between two rows of results.",
            "elapsed=60,interval=5",
        ),
        Row::new(Any("warmup"), Long(SECONDS, |it, s| it.warmup_s = s)).doc(
            "seconds; 0",
            "Time before elapsed= that is not counted.",
            "warmup=30",
        ),
        Row::new(Full("replay"), Own(FREE, replay)).set_where_written().doc(
            "(file,..)",
            "Replays a trace of another tool, which does not run.",
            "replay=trace.bin",
        ),
        Row::new(Any("pause"), Long(SECONDS, |it, s| it.pause_s = s)).doc(
            "seconds; 0",
            "Time between this run and the one before.",
            "pause=10",
        ),
        looped!(
            Xfersize,
            "A run for each transfer size. These are sizes, and no distribution.",
            "forxfersize=(4k-64k,d)"
        ),
        looped!(
            Threads,
            "A run for each number of threads: sd.threads, fwd.threads.",
            "forthreads=(1-64,d)"
        ),
        looped!(Rdpct, "A run for each wd.rdpct.", "forrdpct=(0,50,100)"),
        looped!(Rhpct, "A run for each wd.rhpct.", "forrhpct=(0,50)"),
        looped!(Whpct, "A run for each wd.whpct.", "forwhpct=(0,50)"),
        looped!(Seekpct, "A run for each wd.seekpct, in numbers.", "forseekpct=(0,100)"),
        looped!(Hitarea, "A run for each sd.hitarea.", "forhitarea=(1m,10m)"),
        looped!(Compratio, "A run for each ratio of compression.", "forcompratio=(1,2,4)"),
        Row::new(Any("forcompression"), Own(FREE, compression)).set_where_written().doc(
            LOOP,
            "The old form of forcompratio=, in percent of the size that is left.",
            "forcompression=(50,100)",
        ),
        looped!(Depth, "A run for each fsd.depth.", "rd=rd1,fwd=fwd1,fwdrate=max,fordepth=(1-3,1)"),
        looped!(Width, "A run for each fsd.width.", "rd=rd1,fwd=fwd1,fwdrate=max,forwidth=(1,10)"),
        looped!(
            Files,
            "A run for each fsd.files.",
            "rd=rd1,fwd=fwd1,fwdrate=max,forfiles=(10,100)"
        ),
        looped!(Sizes, "A run for each fsd.sizes.", "rd=rd1,fwd=fwd1,fwdrate=max,forsizes=(4k,1m)"),
        looped!(
            TotalSize,
            "A run for each fsd.totalsize.",
            "rd=rd1,fwd=fwd1,fwdrate=max,fortotalsize=(1g,2g)"
        ),
        Row::new(Any("forwss"), Same("forworkingsetsize")),
        looped!(
            WorkingSet,
            "A run for each fsd.workingsetsize.",
            "rd=rd1,fwd=fwd1,fwdrate=max,forworkingsetsize=(1g,2g)"
        ),
        Row::new(Any("foroperations"), Own(FREE, for_operations)).set_where_written().doc(
            "(operation,..)",
            "A run for each operation.",
            "rd=rd1,fwd=fwd1,fwdrate=max,foroperations=(read,write)",
        ),
        Row::new(Any("xfersize"), Same("forxfersize")),
        Row::new(Any("threads"), Same("forthreads")),
        Row::new(Any("rdpct"), Same("forrdpct")),
        Row::new(Any("rhpct"), Same("forrhpct")),
        Row::new(Any("whpct"), Same("forwhpct")),
        Row::new(Any("seekpct"), Same("forseekpct")),
        Row::new(Any("hitarea"), Same("forhitarea")),
        Row::new(Any("compratio"), Same("forcompratio")),
        Row::new(Any("compression"), Same("forcompression")),
        Row::new(Any("depth"), Same("fordepth")),
        Row::new(Any("width"), Same("forwidth")),
        Row::new(Any("files"), Same("forfiles")),
        Row::new(Any("sizes"), Same("forsizes")),
        Row::new(Any("totalsize"), Same("fortotalsize")),
        Row::new(Any("wss"), Same("forworkingsetsize")),
        Row::new(Any("workingsetsize"), Same("forworkingsetsize")),
        Row::new(Any("distribution"), Own(FREE, distribution)).doc(
            "exponential, uniform, deterministic, variable, spike; exponential",
            "How I/Os are spaced under a rate. With variable, iorate= is a list of rates and \
             seconds in turn, over and over; with spike those of each second start together.",
            "rd=rd1,wd=wd1,iorate=(100,10,1000,5),distribution=variable",
        ),
        Row::new(Any("startcmd"), Own(FREE, |it, p, _| it.add_commands(CommandTime::Start, p)))
            .doc(
                "\"command\"",
                "A command before each run, if the command line has --allow-commands.",
                "startcmd=\"date\"",
            ),
        Row::new(Any("start_cmd"), Same("startcmd")),
        Row::new(Any("endcmd"), Own(FREE, |it, p, _| it.add_commands(CommandTime::End, p))).doc(
            "\"command\"",
            "A command behind each run, if the command line has --allow-commands.",
            "endcmd=\"date\"",
        ),
        Row::new(Any("end_cmd"), Same("endcmd")),
        Row::new(Full("fwd"), Words(|it, names| names.clone_into(&mut it.fwds)))
            .set_where_written()
            .doc(
                "names or a wildcard",
                "The workloads of files that run.",
                "rd=rd1,fwd=fwd*,fwdrate=max",
            ),
        Row::new(Any("fwdrate"), Own(FREE, fwdrate)).doc(
            "operations per second, (list), max or curve; required",
            "How many operations are asked for per second, over everything. A list is a loop at \
             its place among the others.",
            "rd=rd1,fwd=fwd1,fwdrate=(100,200,max)",
        ),
        Row::new(Any("operations"), Own(FREE, operations)).set_where_written().doc(
            "operation or (operation,..)",
            "Operations in place of fwd.operation, all in one run.",
            "rd=rd1,fsd=fsd1,fwdrate=max,operations=(read,getattr)",
        ),
        Row::new(Any("format"), Own(FREE, format)).set_where_written().doc(
            "yes, no, restart, clean, only, once, limited, directories, or a list; no",
            "What becomes of the structures before the run: yes makes them anew, restart \
             completes what is there, (clean,only) removes it.",
            "rd=rd1,fwd=fwd1,fwdrate=max,format=yes",
        ),
        Row::new(Any("openflags"), Own(FREE, |it, p, s| it.open = Some(open_flags(p, s)))).doc(
            "as sd.openflags",
            "How everything is opened in this run.",
            "openflags=o_direct",
        ),
        Row::new(Any("mount"), Own(FREE, mount)).set_where_written().doc(
            "\"options\"",
            "Mounts anew for each run. Nothing is mounted here.",
            "mount=\"-o hard\"",
        ),
    ],
};

/// Reads the run definitions.
pub(super) fn read(scan: &mut Scan<'_>) -> Vec<RdEntry> {
    let mut rds = SECTION.read(scan).all;
    // The run of a recovery from journals; others make it.
    rds.retain(|rd| rd.head.name != "journal_recovery");
    if rds.is_empty() && scan.findings.n_errors == 0 {
        scan.end_of_file("a run definition (`rd=`) at the end");
    }
    rds
}

impl Definition for RdEntry {
    fn begin(default: &Self, head: Head, _: &Param, scan: &mut Scan<'_>) -> Self {
        let mut entry = RdEntry { rd: head.name.clone(), head, ..default.clone() };
        if !entry.head.is_default() {
            if !scan.is_new("rd", &entry.rd) {
                let message = format!("duplicate RD names not allowed: {}", entry.rd);
                scan.findings.error(entry.head.place, "duplicate-name", message);
            }
            if scan.known.is_files {
                entry.format.force(scan.options.format);
            }
        }
        entry
    }

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn is_set(&mut self, row: &Row, is_files: bool) -> bool {
        let is_looped = || self.loops.iter().any(|looped| looped.kind.keyword() == row.key());
        let is_other_rate = row.key() == if is_files { "iorate" } else { "fwdrate" };
        !self.head.is_default()
            && (row.is_set(&self.head) || is_looped())
            && (!is_other_rate || self.head.has(row.key()))
    }

    fn forget(&mut self, key: &str) {
        if key == "wd" {
            self.wds.clear();
        }
    }
}

fn wds(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    if !entry.wds.is_empty() {
        let message = format!("rd={}: 'wd=' may be specified only once per RD", entry.head.name);
        let help = format!("write `rd={},wd=(w1,w2,w3)`", entry.head.name);
        scan.findings.error_help(param.key_place, "repeated-parameter", message, help);
    }
    entry.wds.clone_from(&param.values.words);
    entry.wds_place = param.place;
}

fn curve(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    if param.number(&mut scan.findings).is_some() {
        entry.curve_pcts = Some(param.values.numbers.clone());
    }
}

fn compression(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    let ratio = |pct: &f64| ((100_000.0 / pct + 0.5).floor()) / 1000.0;
    let ratios = param.values.numbers.iter().map(ratio).collect();
    entry.add_loop(LoopKind::Compratio, ratios, param, scan);
}

fn mount(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    if scan.known.hosts.iter().all(|host| host.host.mounts.is_empty()) {
        let message = format!("rd={}: 'mount=' without an 'hd=..,mount='", entry.head.name);
        scan.findings.error(param.key_place, "missing-mount", message);
    } else {
        let message = "mounting (`mount=`) is not done";
        scan.findings.refuse(param.key_place, "no-mount", message);
    }
}

/// Returns the numbers of a list that Vdbench keeps as words, as it does those of `seekpct=`
/// wherever that stands, and then misses.
///
/// Nothing is returned of a list that cannot be read, which is reported.
fn numbers_of_words(param: &Param, scan: &mut Scan<'_>) -> Option<Vec<f64>> {
    let key = format!("for{}", param.key);
    let values = match values::read(&key, &param.text, true) {
        Ok(values) => values,
        Err(wrong) => {
            scan.findings.error_help(param.place, wrong.code, wrong.message, wrong.help);
            return None;
        }
    };
    if !values.words.is_empty() || values.numbers.is_empty() {
        return Some(Vec::new());
    }
    scan.plain.rename(param, "forseekpct");
    let message = format!("Vdbench finds no numbers in a list of {}=", param.key);
    let help = format!("write {key}=, which it takes");
    scan.findings.warning(param.place, "list-of-words", message, help);
    Some(values.numbers)
}

impl RdEntry {
    /// Adds a loop over the numbers of a list.
    fn looped(&mut self, kind: LoopKind, param: &Param, scan: &mut Scan<'_>) {
        self.add_loop(kind, param.values.numbers.clone(), param, scan);
    }

    fn add_loop(&mut self, kind: LoopKind, values: Vec<f64>, param: &Param, scan: &mut Scan<'_>) {
        let values = match (values.is_empty(), kind) {
            (true, LoopKind::Seekpct) if scan.is_kind() => numbers_of_words(param, scan),
            _ => Some(values),
        };
        let Some(values) = values else { return };
        if values.is_empty() {
            let help = if kind == LoopKind::Seekpct {
                "in a run definition seeks are numbers: `forseekpct=(0,100)`"
            } else {
                "in a run definition it takes numbers only"
            };
            let message = format!(
                "rd={},{}=: the list of numeric values is empty",
                self.head.name, param.key
            );
            scan.findings.error_help(param.place, "empty-loop", message, help);
            return;
        }
        if kind == LoopKind::Xfersize && scan.is_kind() && looks_like_distribution(&values) {
            let message =
                "in a run definition these are several sizes, one run each, and no distribution";
            let help = "write the distribution into the workload definition";
            scan.findings.warning(param.place, "distribution-in-rd", message, help);
        }
        if let Some(sense) = sense_of(kind)
            && !scan.all_make_sense(param, &values, sense)
        {
            return;
        }
        self.loops.retain(|other| other.kind != kind);
        self.loops.push(Loop { kind, values, place: param.place });
    }

    fn maxdata(&mut self, idx: usize, param: &Param, scan: &mut Scan<'_>) {
        let Some(bytes) = param.number(&mut scan.findings) else { return };
        if bytes < 100.0 && scan.known.is_files {
            let message = "maxdata= (<100) only allowed for SD/WD workloads";
            let help = "multiples of the size are for storage definitions: write bytes";
            scan.findings.error_help(param.place, "wrong-value", message, help);
        }
        self.maxdata[idx] = bytes;
    }

    fn add_commands(&mut self, time: CommandTime, param: &Param) {
        self.commands.extend(commands(time, param));
    }
}

/// Returns what the values of a loop must be.
fn sense_of(kind: LoopKind) -> Option<NumberRule> {
    Some(match kind {
        LoopKind::Threads => THREADS,
        LoopKind::Depth | LoopKind::Width | LoopKind::Files => COUNT,
        LoopKind::Rdpct | LoopKind::Rhpct | LoopKind::Whpct => PERCENT,
        LoopKind::Seekpct => SEEK,
        LoopKind::Xfersize => XFERSIZE,
        LoopKind::Hitarea | LoopKind::Sizes => BYTES,
        LoopKind::Compratio => RATIO,
        LoopKind::Rate => RATE,
        LoopKind::Operation | LoopKind::TotalSize | LoopKind::WorkingSet => return None,
    })
}

fn unknown_maxdata(_: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    let message = format!("unknown parameter: {}", param.key);
    let help = "write maxdata, maxdataread or maxdatawritten";
    scan.findings.error_help(param.key_place, "unknown-keyword", message, help);
}

fn iorate(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    // Vdbench keeps the list of rates of `rd=default` beside a rate of the definition's own.
    if scan.is_kind() {
        if !entry.rates.is_empty() && !entry.head.has("iorate") {
            warn_of_default_rates(param, scan);
        }
        entry.rates.clear();
    }
    match (param.values.words.as_slice(), param.values.numbers.as_slice()) {
        ([word], _) if word == "curve" => entry.iorate = CURVE_RATE,
        ([word], _) if word.eq_ignore_ascii_case("max") => entry.iorate = MAX_RATE,
        (_, []) => scan.wrong(param, "a rate, a list of rates, max or curve"),
        (_, rates) => {
            if !scan.all_make_sense(param, rates, RATE_OF_LIST) {
                return;
            }
            let rates: Vec<f64> = rates.iter().map(|rate| rate_of(param, *rate, scan)).collect();
            if rates[0] == 0.0 && rates.len() == 1 {
                scan.makes_sense(param, 0.0, RATE);
            }
            entry.iorate = rates[0];
            if rates.len() > 1 {
                entry.rates = rates;
            }
        }
    }
}

fn warn_of_default_rates(param: &Param, scan: &mut Scan<'_>) {
    let message = "Vdbench keeps the list of rates of `rd=default` beside this one, and runs that";
    let help = "write the rates into the run definitions that are to have them";
    scan.findings.warning(param.key_place, "rates-of-default", message, help);
}

/// Returns a written rate. Two numbers are words to Vdbench.
fn rate_of(param: &Param, written: f64, scan: &mut Scan<'_>) -> f64 {
    let (word, meant) = match written {
        MAX_CODE => ("max", MAX_RATE),
        CURVE_CODE => ("curve", CURVE_RATE),
        rate => return rate,
    };
    if !scan.is_kind() {
        return meant;
    }
    let message = format!("Vdbench reads the rate {written} as the word `{word}`");
    let help = format!("write another number, or `{word}` where that is meant");
    scan.findings.warning(param.place, "rate-code", message, help);
    written
}

fn fwdrate(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    if scan.is_kind() {
        if entry.loop_of(LoopKind::Rate).is_some() && !entry.head.has("fwdrate") {
            warn_of_default_rates(param, scan);
        }
        entry.loops.retain(|looped| looped.kind != LoopKind::Rate);
    }
    if scan.is_kind() && !param.values.words.is_empty() && param.values.shown.len() > 1 {
        let word = &param.values.words[0];
        let message = format!("max and curve stand alone in fwdrate=: only {word} counts");
        let help = "write a run definition of its own for max";
        scan.findings.warning(param.place, "rate-beside-word", message, help);
    }
    match (param.values.words.as_slice(), param.values.numbers.as_slice()) {
        ([word], _) if word == "curve" => entry.fwdrate = CURVE_RATE,
        ([word, ..], _) if word.eq_ignore_ascii_case("max") => entry.fwdrate = MAX_RATE,
        (_, []) => scan.wrong(param, "a rate, a list of rates, max or curve"),
        (_, [rate]) => {
            scan.makes_sense(param, *rate, RATE);
            entry.fwdrate = rate_of(param, *rate, scan);
        }
        (_, rates) => {
            entry.fwdrate = 1.0;
            let rates = rates.iter().map(|rate| rate_of(param, *rate, scan)).collect();
            entry.add_loop(LoopKind::Rate, rates, param, scan);
        }
    }
}

fn distribution(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    for word in &param.values.words {
        let word = word.to_lowercase();
        let is = |name: &str| name.starts_with(&word);
        if is("exponential") {
            entry.arrivals = Arrivals::Poisson;
        } else if is("uniform") {
            entry.arrivals = Arrivals::Uniform;
        } else if is("deterministic") {
            entry.arrivals = Arrivals::Linear;
        } else if is("variable") || is("spike") {
            entry.is_variable = true;
            entry.in_spikes |= !is("variable");
        } else {
            scan.wrong(param, "exponential, uniform, deterministic, variable or spike");
            return;
        }
    }
}

/// Returns the operations of a list; reports names that are none.
fn operations_of(param: &Param, scan: &mut Scan<'_>) -> Vec<FileOperation> {
    let mut found = Vec::new();
    for word in &param.values.words {
        if let Some(operation) = operation(word) {
            found.push(operation);
            continue;
        }
        let message = format!("unknown operation: {word}");
        let help = "write such as read, write, mkdir, create, delete, getattr";
        scan.findings.error_help(param.place, "unknown-operation", message, help);
    }
    found
}

fn both_operations(entry: &RdEntry, param: &Param, scan: &mut Scan<'_>) {
    let message = format!(
        "rd={}: 'operations' and 'foroperations' parameters are mutually exclusive",
        entry.head.name
    );
    scan.findings.error(param.key_place, "exclusive-parameters", message);
}

fn operations(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    if entry.loop_of(LoopKind::Operation).is_some() {
        both_operations(entry, param, scan);
    }
    entry.operations = operations_of(param, scan);
}

fn for_operations(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    if !entry.operations.is_empty() {
        both_operations(entry, param, scan);
    }
    let number = |wanted: FileOperation| {
        let position = OPERATIONS.iter().position(|(_, operation)| *operation == wanted);
        position.expect("every operation has a number") as f64
    };
    let values = operations_of(param, scan).into_iter().map(number).collect();
    entry.add_loop(LoopKind::Operation, values, param, scan);
}

fn replay(_: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    let path = param.values.words.first().map_or("", String::as_str);
    if !scan.loader.is_file(path) {
        let message = format!("replay file name does not exist: {path}");
        let help = "replay needs a trace of another tool";
        scan.findings.error_help(param.place, "no-such-file", message, help);
    }
    scan.refuse_replay(param.key_place);
}

fn format(entry: &mut RdEntry, param: &Param, scan: &mut Scan<'_>) {
    if entry.head.is_default() {
        let message = "'format=' parameter is not allowed for rd=default";
        let help = "write it into each run definition";
        scan.findings.error_help(param.key_place, "not-in-default", message, help);
    } else {
        entry.format.put(param, scan);
    }
}

/// Returns whether a list of sizes is sizes and percentages that add up to 100.
fn looks_like_distribution(values: &[f64]) -> bool {
    let pcts = values.iter().skip(1).step_by(2);
    values.len() >= 2 && values.len().is_multiple_of(2) && (pcts.sum::<f64>() - 100.0).abs() < 0.5
}
