//! General parameters.

use plan::verify::FlipFlop;

use super::findings::SourceRange;
use super::head::Head;
use super::known::{Dedup, General};
use super::number_rule::{COMPRESSION, FREE, RATIO, SECTORS};
use super::params::Param;
use super::parsed::{Journaling, Repeat};
use super::run::{Command, CommandTime, SetCount};
use super::scan::Scan;
use super::section::Meaning::{Int, Long, Nothing, Number, Own, Same, Word};
use super::section::Name::{Any, Full, Line, Stem};
use super::section::Section;

type Row = super::section::Row<General>;

pub(super) static SECTION: Section<General> = Section {
    name: "general",
    what: "what holds for everything, before the first definition",
    ends: &["rg", "sd", "fsd", "wd", "fwd", "rd", "hd", "host"],
    lead: "",
    rows: &[
        Row::new(Full("compression"), Number(COMPRESSION, |it, pct| it.compress(100.0 / pct))).doc(
            "percent of the size that is left",
            "The old form of compratio=: 100 divided by it.",
            "compression=50",
        ),
        Row::new(Any("compratio"), Number(RATIO, General::compress)).doc(
            "ratio, 1 or more; 1",
            "How many times smaller the written data gets when it is compressed. rd.forcompratio \
             tries several.",
            "compratio=2",
        ),
        Row::new(Any("compressionseed"), Own(FREE, without_effect)).doc(
            "number",
            "Seed of Vdbench's data; without effect here, where contents follow from names.",
            "compressionseed=1",
        ),
        Row::new(Full("dedupratio"), Own(FREE, |it, p, s| it.dedup.put(Dedup::ratio, p, s)))
            .never_set()
            .doc(
                "ratio, 1 or more; 1",
                "How many times smaller the written data gets when equal blocks are kept once. \
                 Needs dedupunit=.",
                "dedupratio=2,dedupunit=4k",
            ),
        Row::new(Full("dedupunit"), Own(FREE, |it, p, s| it.dedup.put(Dedup::unit, p, s)))
            .never_set()
            .doc(
                "bytes, a multiple of 512",
                "Size of the blocks of which some are equal.",
                "dedupratio=2,dedupunit=4k",
            ),
        Row::new(Full("dedupsets"), Own(FREE, |it, p, s| it.dedup.put(Dedup::n_sets, p, s)))
            .never_set()
            .doc(
                "count, or percent such as 5%; 5%",
                "How many different contents the duplicates have.",
                "dedupratio=2,dedupunit=4k,dedupsets=100",
            ),
        Row::new(Full("deduphotsets"), Own(FREE, |it, p, s| it.dedup.put(Dedup::hot_sets, p, s)))
            .never_set()
            .doc(
                "(sets,blocks,..)",
                "Sets of known size at the start of each target.",
                "dedupratio=2,dedupunit=4k,deduphotsets=(2,1000)",
            ),
        Row::new(Full("dedupflipflop"), Own(FREE, |it, p, s| it.dedup.put(Dedup::flip_flop, p, s)))
            .never_set()
            .doc(
                "yes, no or hot; no",
                "A duplicate that is written again has the other version of its set.",
                "dedupratio=2,dedupunit=4k,dedupflipflop=yes",
            ),
        Row::new(Full("dedupacross"), Own(FREE, |it, p, s| it.dedup.put(Dedup::nothing, p, s)))
            .never_set()
            .doc(
                "yes or no",
                "Undocumented; without effect here.",
                "dedupratio=2,dedupunit=4k,dedupacross=yes",
            ),
        Row::new(Full("dedupmaxkey"), Own(FREE, |it, p, s| it.dedup.put(Dedup::nothing, p, s)))
            .never_set()
            .doc(
                "number",
                "Undocumented; without effect here.",
                "dedupratio=2,dedupunit=4k,dedupmaxkey=1",
            ),
        Row::new(Stem("dedup"), Own(FREE, |it, p, s| it.dedup.put(Dedup::unknown, p, s)))
            .never_set(),
        Row::new(Any("port"), Int(FREE, |it, port| it.settings.port = port.clamp(0, 65535) as u16))
            .doc("number; 5570", "Port at which other hosts would report.", "port=5571"),
        Row::new(Any("pattern"), Own(FREE, General::pattern)).doc(
            "file",
            "The bytes of this file are written over and over.",
            "pattern=/tmp/data",
        ),
        Row::new(Any("data_errors"), Own(FREE, General::data_errors)).doc(
            "count, or (count,seconds); 50",
            "After this many failed I/Os everything ends; with seconds, also when this many \
                seconds have passed since the last failed I/O. Commands are not run.",
            "data_errors=1",
        ),
        Row::new(Any("dataerrors"), Same("data_errors")),
        Row::new(Any("swat"), Own(FREE, removed)).doc(
            "any",
            "No parameter any more since 5.04, and a mistake.",
            "swat=x",
        ),
        Row::new(Any("validate"), Own(FREE, General::validate)).never_set().doc(
            "yes, read_after_write, no_preread, time or no; no",
            "Checks what is read against what was written, in `plimsoll vdbench`.",
            "validate=yes",
        ),
        Row::new(Full("journal"), Own(FREE, General::journal)).never_set().doc(
            "yes, recover, noflush, maponly or no; no",
            "Keeps a journal of what was written, to check it after a crash, in `plimsoll \
             vdbench`; each host has its own.",
            "journal=yes",
        ),
        Row::new(
            Full("startcmd"),
            Own(FREE, |it, p, _| it.settings.commands.extend(commands(CommandTime::Start, p))),
        )
        .doc(
            "\"command\", and cons, sum or log",
            "A command before all runs, if the command line has --allow-commands. $output is the \
             output directory.",
            "startcmd=\"date\"",
        ),
        Row::new(Full("start_cmd"), Same("startcmd")),
        Row::new(
            Full("endcmd"),
            Own(FREE, |it, p, _| it.settings.commands.extend(commands(CommandTime::End, p))),
        )
        .doc(
            "\"command\", and cons, sum or log",
            "A command behind all runs, if the command line has --allow-commands.",
            "endcmd=\"iostat -x\"",
        ),
        Row::new(Full("end_cmd"), Same("endcmd")),
        Row::new(Full("heartbeat_error"), Own(FREE, without_effect)).doc(
            "any",
            "Of Vdbench's processes; without effect here.",
            "heartbeat_error=x",
        ),
        Row::new(Full("debug"), Number(FREE, |_, _| {})).doc(
            "numbers",
            "Vdbench's debugging; without effect here.",
            "debug=1",
        ),
        Row::new(Any("unix2windows"), Own(FREE, without_effect)).doc(
            "(unix,windows)",
            "Replaces paths for Windows; without effect here. --remap A=B replaces any prefix.",
            "unix2windows=(/mnt,c:)",
        ),
        Row::new(Any("formatxfersize"), Int(SECTORS, General::format_xfersize)).doc(
            "bytes; 128k",
            "Transfer size of that writing.",
            "formatxfersize=1m",
        ),
        Row::new(
            Any("create_anchors"),
            Word(|it, word| it.settings.create_anchors = begins_with_y(word)),
        )
        .doc(
            "yes or no; no",
            "Makes missing folders above anchors; without it only the last folder is made.",
            "create_anchors=yes",
        ),
        Row::new(Any("formatsds"), Own(FREE, General::format_sds)).doc(
            "yes or no; files that are missing or short",
            "yes writes every file of a storage definition before the first run, no writes none.",
            "formatsds=yes",
        ),
        Row::new(Any("report"), Own(FREE, General::report)).doc(
            "host_detail, slave_detail, no_sd_detail, no_fsd_detail",
            "Which pages the output directory has.",
            "report=(host_detail,no_sd_detail)",
        ),
        Row::new(
            Any("report_run_totals"),
            Word(|it, word| it.settings.report.run_totals = begins_with_y(word)),
        )
        .doc(
            "yes or no; no",
            "Writes totals_optional.html, with what the runs so far come to.",
            "report_run_totals=yes",
        ),
        Row::new(Any("histogram"), Own(FREE, General::histogram)).doc(
            "(default,limit,..); limits in u, m or s",
            "Limits of the buckets in the histogram pages, at most 64. The record has all \
             latencies, whatever is said here.",
            "histogram=(default,100,1m,10m,1s)",
        ),
        Row::new(Any("psrset"), Own(FREE, not_here)).doc(
            "number",
            "Processor sets of Solaris, and a mistake here.",
            "psrset=1",
        ),
        Row::new(Any("auxreport"), Own(FREE, without_effect)).doc(
            "any",
            "Of another tool; read, and without effect here.",
            "auxreport=x",
        ),
        Row::new(Any("monitor"), Word(|it, path| it.settings.monitor = Some(path.to_owned()))).doc(
            "file",
            "A file that is watched: end_rd in it ends the run, end_vdbench everything.",
            "monitor=/tmp/stop.txt",
        ),
        Row::new(Any("concatenatesds"), Own(FREE, General::concatenate_sds)).doc(
            "yes or no; no",
            "The storage definitions of a workload form one volume, addressed from end to end; \
             threads then belong to the workload.",
            "concatenatesds=yes",
        ),
        Row::new(Any("messagescan"), Own(FREE, General::message_scan)).doc(
            "yes, no, nodisplay or count",
            "Scanning of the system's log; without effect here.",
            "messagescan=no",
        ),
        Row::new(
            Any("abort_failed_skew"),
            Number(FREE, |it, pct| it.settings.abort_failed_skew_pct = Some(pct)),
        )
        .doc(
            "percent",
            "Ends everything when the share of a workload is off its skew= by more than this.",
            "abort_failed_skew=5",
        ),
        Row::new(Any("misc"), Own(FREE, without_effect)).doc(
            "words",
            "Undocumented switches; without effect here.",
            "misc=x",
        ),
        Row::new(Full("pattern_buffer"), Own(FREE, without_effect)).doc(
            "bytes",
            "Undocumented; without effect here.",
            "pattern_buffer=1m",
        ),
        Row::new(Full("showlba"), Own(FREE, without_effect)).doc(
            "yes or no",
            "Records addresses for another program; without effect here.",
            "showlba=yes",
        ),
        Row::new(Full("loop"), Own(FREE, General::repeat)).doc(
            "count, or a time such as 10m; 1",
            "How often all runs are repeated.",
            "loop=3",
        ),
        Row::new(Any("timeout"), Own(FREE, General::timeout)).doc(
            "seconds, report or script",
            "Watches for idle storage; without effect here.",
            "timeout=60",
        ),
        Row::new(
            Any("fwd_thread_adjust"),
            Word(|it, word| it.no_thread_adjust = !begins_with_y(word)),
        )
        .doc(
            "yes or no; yes",
            "With no, threads of an fwd that cannot be divided evenly are a mistake and no \
             warning.",
            "fwd_thread_adjust=no",
        ),
        Row::new(
            Any("ios_per_jvm"),
            Long(FREE, |it, ios| it.settings.ios_per_jvm = ios.max(1) as u64),
        )
        .doc(
            "I/Os per second; 100000",
            "Above this rate per process a warning is due.",
            "ios_per_jvm=200000",
        ),
        Row::new(Line("include"), Nothing).never_set().doc(
            "file",
            "Reads another file here. It is looked for beside this one, then where Vdbench looks: \
             in the folder above, then in the current one.",
            "include=luns.txt",
        ),
    ],
};

/// Most limits of a histogram.
const BUCKETS_MAX: usize = 64;

/// Nanoseconds of a microsecond.
const NS_PER_US: u64 = 1000;

/// Reads the general parameters.
pub(super) fn read(scan: &mut Scan<'_>) -> General {
    let mut general = General::default();
    general.apply_switches(scan);
    while let Some(param) = scan.take(SECTION.ends) {
        let Some(row) = SECTION.row_of(&param, scan) else { continue };
        if !param.is_broken {
            row.put(&mut general, &param, scan);
        } else if row.key() == "dedupratio" {
            // That it is missing because of that is no mistake of its own.
            general.dedup.ratio = Some(1.0);
        }
    }
    for (row, param) in SECTION.sets(|row| row.is_set(&Head::default()), scan) {
        row.put(&mut general, &param, scan);
    }
    general.check(scan);
    general
}

/// Returns whether a keyword stands for a general parameter.
pub(super) fn knows(key: &str) -> bool {
    key.len() >= 2 && (SECTION.find(key).is_some() || SECTION.has(key))
}

impl General {
    /// Takes over what the command line switches on.
    fn apply_switches(&mut self, scan: &mut Scan<'_>) {
        let options = scan.options;
        if options.validate.is_some() || options.journal.is_some() {
            self.settings.validate = true;
            self.settings.journal = options.journal.is_some();
            let letters = options.journal.as_deref().unwrap_or_default();
            self.settings.journaling = Journaling::of_letters(letters);
            self.is_recovery = self.settings.journaling.recovers;
            refuse_validation(SourceRange::NONE, scan);
        }
    }

    fn compress(&mut self, ratio: f64) {
        self.settings.contents.compratio = ratio;
        self.has_compratio = true;
    }

    fn format_xfersize(&mut self, bytes: i64) {
        self.settings.format_xfersize_bytes = (bytes > 0).then_some(bytes as u32);
    }

    fn format_sds(&mut self, param: &Param, scan: &mut Scan<'_>) {
        if let Some(is_yes) = yes_or_no(param, scan) {
            self.settings.format_sds = Some(is_yes);
        }
    }

    fn concatenate_sds(&mut self, param: &Param, scan: &mut Scan<'_>) {
        self.settings.concatenate_sds |= yes_or_no(param, scan) == Some(true);
    }

    fn repeat(&mut self, param: &Param, scan: &mut Scan<'_>) {
        match repeat(param.values.raw.first().map_or("", String::as_str)) {
            Some(repeat) => self.settings.repeat = repeat,
            None => scan.wrong(param, "a number, or a time such as 10m"),
        }
    }

    fn timeout(&mut self, param: &Param, scan: &mut Scan<'_>) {
        self.settings.timeout.clone_from(&param.values.raw);
        has_no_effect(param, "is without effect: idle storage is not looked for", scan);
    }

    fn pattern(&mut self, param: &Param, scan: &mut Scan<'_>) {
        let is_again = self.settings.contents.pattern_file.is_some();
        if is_again || param.values.words.len() > 1 {
            let message = "only one pattern= parameter value may be coded, once";
            scan.findings.error(param.key_place, "repeated-parameter", message);
        } else if let Some(word) = param.word(&mut scan.findings) {
            self.settings.contents.pattern_file = Some(word.to_owned());
        }
    }

    fn data_errors(&mut self, param: &Param, scan: &mut Scan<'_>) {
        let count = |number: &f64| number.max(0.0) as u64;
        if let Some(n_errors) = param.values.numbers.first() {
            let seconds = param.values.numbers.get(1).map(count);
            self.settings.data_errors = Some((count(n_errors), seconds));
        } else if let Some(word) = param.word(&mut scan.findings) {
            let is_remove = "remove_device".starts_with(word);
            self.settings.data_errors = Some((if is_remove { 10_000 } else { 0 }, None));
            let command = if is_remove { "remove_device" } else { word };
            let instead = match command {
                "remove_device" => Some("a storage definition with errors stays in use"),
                command if command.starts_with("stop") => None,
                _ => Some("the command is not run; the first failed I/O ends everything"),
            };
            let command = command.to_owned();
            if let Some(instead) = instead {
                let message = format!("`data_errors={command}`: {instead}");
                let help = "write `data_errors=n` to go on until n I/Os have failed";
                scan.findings.warning(param.place, "data-errors-command", message, help);
            }
            self.settings.data_errors_command = Some(command);
        }
    }

    fn message_scan(&mut self, param: &Param, scan: &mut Scan<'_>) {
        if !self.settings.messagescan.is_empty() {
            let message = "duplicate keyword not allowed: 'messagescan'";
            scan.findings.error(param.key_place, "repeated-parameter", message);
        }
        let numbers = param.values.numbers.iter().map(ToString::to_string);
        self.settings.messagescan = param.values.words.iter().cloned().chain(numbers).collect();
        if self.settings.messagescan != ["no"] {
            has_no_effect(param, "is without effect: the system's log is not read", scan);
        }
    }

    fn validate(&mut self, param: &Param, scan: &mut Scan<'_>) {
        if param.values.words.iter().any(|word| "no".starts_with(word.as_str())) {
            self.settings.validate = false;
            return;
        }
        let known = ["yes", "read_after_write", "no_preread", "ignore_zero_reads"];
        for word in &param.values.words {
            let is_known = known.iter().any(|name| name.starts_with(word.as_str()))
                || "reportdedupsets".starts_with(word.as_str())
                || word == "time"
                || word.starts_with("xfersize");
            if !is_known {
                scan.wrong(param, "yes, read_after_write, no_preread, time or no");
                return;
            }
            self.settings.validate = true;
        }
        if self.settings.validate {
            refuse_validation(param.key_place, scan);
        }
    }

    fn journal(&mut self, param: &Param, scan: &mut Scan<'_>) {
        let known = ["yes", "recover", "noflush", "skip_read_all", "ignore_pending"];
        for word in &param.values.words {
            if word == "no" {
                self.settings.journal = false;
                return;
            }
            let is_known = known.iter().any(|name| name.starts_with(word.as_str()))
                || word == "maponly"
                || word == "only"
                || word.starts_with("max=");
            if !is_known {
                scan.wrong(param, "yes, recover, only, noflush, maponly, max=size or no");
                return;
            }
            self.settings.journaling.take(word);
            self.is_recovery = self.settings.journaling.recovers;
            self.settings.validate = true;
            self.settings.journal = true;
        }
        if self.settings.journal {
            refuse_validation(param.key_place, scan);
        }
    }

    fn report(&mut self, param: &Param, scan: &mut Scan<'_>) {
        for word in &param.values.words {
            let report = &mut self.settings.report;
            if "slave_detail".starts_with(word.as_str()) {
                report.slave_detail = true;
            } else if "host_detail".starts_with(word.as_str()) {
                report.host_detail = true;
            } else if "no_sd_detail".starts_with(word.as_str()) {
                report.sd_detail = false;
            } else if "no_fsd_detail".starts_with(word.as_str()) {
                report.fsd_detail = false;
            } else {
                scan.wrong(param, "host_detail, slave_detail, no_sd_detail or no_fsd_detail");
                return;
            }
        }
    }

    fn histogram(&mut self, param: &Param, scan: &mut Scan<'_>) {
        let words = &param.values.words;
        let Some(name) = words.first() else { return scan.wrong(param, "(default,20,40,..)") };
        if words.len() == 2 && "suppress".starts_with(words[1].as_str()) && name == "default" {
            return;
        }
        let limits: Vec<&str> = words[1..]
            .iter()
            .map(String::as_str)
            .filter(|word| !"suppress".starts_with(word))
            .collect();
        let is_limit = |word: &str| buckets_us(&[word]).is_some();
        if scan.is_kind() && (name != "default" && is_limit(name)) {
            let message = "the first word of histogram= is its name, not a limit: without \
                           `default` Vdbench keeps its own limits";
            let help = "write histogram=(default,100u,1m,..)";
            scan.findings.warning(param.place, "unnamed-histogram", message, help);
        }
        if scan.is_kind() && limits.last().is_some_and(|last| falls_back(&limits, last)) {
            let message = "histogram= ends below its largest limit: the last number is not a limit";
            let help = "let limits rise; a smaller number between two is the step from one to the \
                        other";
            scan.findings.warning(param.place, "falling-limits", message, help);
        }
        match buckets_us(&limits) {
            Some(limits) if name == "default" => {
                self.settings.histogram_ns = limits.iter().map(|us| us * NS_PER_US).collect();
            }
            Some(_) => {}
            None => scan.wrong(param, "at most 63 rising limits, such as (default,20,40,1m,1s)"),
        }
    }

    fn check(&mut self, scan: &mut Scan<'_>) {
        let dedup = self.dedup.clone();
        dedup.check(dedup.unit_bytes, &mut scan.findings);
        let contents = &mut self.settings.contents;
        if dedup.is_on {
            contents.dedupratio = dedup.ratio.unwrap_or(1.0);
            contents.dedupunit_bytes = dedup.unit_bytes;
            contents.dedupsets = dedup.sets.unwrap_or(SetCount::Pct(5.0));
            contents.dedupflipflop = dedup.flip_flop.unwrap_or(FlipFlop::None);
            contents.deduphotsets = dedup.hot_sets;
        }
        let has_pattern = contents.pattern_file.is_some();
        let other = [
            (dedup.is_on, "dedupratio="),
            (self.settings.validate, "validate=yes"),
            (self.has_compratio && self.settings.contents.compratio > 1.0, "compratio="),
        ];
        for (_, name) in other.iter().filter(|(is_on, _)| *is_on && has_pattern) {
            let message = format!("{name} and pattern= are mutually exclusive");
            scan.findings.error(SourceRange::NONE, "exclusive-parameters", message);
        }
        if self.settings.concatenate_sds {
            let other = [
                (self.settings.format_sds == Some(true), "formatsds=yes"),
                (self.settings.validate, "data validation"),
            ];
            for (_, name) in other.iter().filter(|(is_on, _)| *is_on) {
                let message = format!("{name} and concatenatesds=yes are mutually exclusive");
                scan.findings.error(SourceRange::NONE, "exclusive-parameters", message);
            }
        }
    }
}

/// Warns of what is read and changes nothing.
fn has_no_effect(param: &Param, what: &str, scan: &mut Scan<'_>) {
    let message = format!("`{}=` {what}", param.key);
    scan.findings.warning(param.key_place, "without-effect", message, "it may be left out");
}

fn without_effect(_: &mut General, param: &Param, scan: &mut Scan<'_>) {
    has_no_effect(param, "is without effect here", scan);
}

fn removed(_: &mut General, param: &Param, scan: &mut Scan<'_>) {
    let message = "the 'swat=' parameter is no longer supported";
    let help = "leave it out: Vdbench 5.04 draws no charts any more";
    scan.findings.error_help(param.key_place, "removed-parameter", message, help);
}

fn not_here(_: &mut General, param: &Param, scan: &mut Scan<'_>) {
    let message = "'psrset=' option is only supported on Solaris";
    scan.findings.error_help(param.key_place, "not-here", message, "leave it out");
}

fn refuse_validation(place: SourceRange, scan: &mut Scan<'_>) {
    scan.findings.refuse(
        place,
        "no-validation",
        "data validation and journaling (`validate=`, `journal=`, -v, -j) run in `plimsoll \
         vdbench`",
    );
}

/// Yes is whatever begins with `y`.
pub(super) fn begins_with_y(word: &str) -> bool {
    word.to_lowercase().starts_with('y')
}

/// Reads yes or no, where nothing else is taken.
fn yes_or_no(param: &Param, scan: &mut Scan<'_>) -> Option<bool> {
    let is_yes = begins_with_y(param.word(&mut scan.findings)?);
    if !is_yes && !param.values.words[0].to_lowercase().starts_with('n') {
        scan.wrong(param, "yes or no");
        return None;
    }
    Some(is_yes)
}

/// Reads commands and where their output goes.
pub(super) fn commands(time: CommandTime, param: &Param) -> Vec<Command> {
    let words = &param.values.words;
    let is_target =
        |word: &&String| ["cons", "sum", "log"].iter().any(|target| word.starts_with(target));
    let output = words.iter().rfind(is_target).map_or("", String::as_str);
    let is_command = |word: &&String| {
        !is_target(word)
            && !word.eq_ignore_ascii_case("master")
            && !word.eq_ignore_ascii_case("slave")
    };
    let commands = words.iter().filter(is_command).map(|text| {
        let output = ["cons", "sum", "log"].iter().find(|target| output.starts_with(**target));
        Command { time, text: text.clone(), output: output.map_or("", |o| *o).to_owned() }
    });
    commands.collect()
}

/// Reads how often runs are repeated: a number, or a time with `s`, `m` or `h`.
pub(super) fn repeat(written: &str) -> Option<Repeat> {
    for (unit, seconds) in [('s', 1_u64), ('m', 60), ('h', 3600)] {
        if let Some(number) = written.strip_suffix(unit) {
            let time_s = number.parse::<u64>().ok()?.checked_mul(seconds)?;
            return Some(Repeat::For(time_s.checked_mul(1_000_000_000)?));
        }
    }
    written.parse().ok().map(Repeat::Times)
}

/// Returns whether the last number of a list is behind a larger one, and so the step to nothing.
fn falls_back(words: &[&str], last: &str) -> bool {
    let largest = words.iter().filter_map(|word| limit_us(word)).max();
    limit_us(last) < largest
}

/// Reads a limit: microseconds, or with a unit.
fn limit_us(word: &str) -> Option<u64> {
    let (number, factor) = match word.chars().last()? {
        'u' => (&word[..word.len() - 1], 1),
        'm' => (&word[..word.len() - 1], 1000),
        's' => (&word[..word.len() - 1], 1_000_000),
        _ => (word, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Reads the limits of a histogram: rising numbers; one that falls is the step to the next.
fn buckets_us(words: &[&str]) -> Option<Vec<u64>> {
    let mut limits: Vec<u64> = Vec::new();
    let mut step = 0;
    for word in words {
        let number = limit_us(word)?;
        let last = limits.last().copied();
        if last.is_some_and(|last| number <= last) {
            step = number;
            continue;
        }
        if let Some(last) = last.filter(|_| step > 0) {
            let mut next = last.checked_add(step)?;
            while next < number {
                limits.push(next);
                if limits.len() >= BUCKETS_MAX {
                    return None;
                }
                next = next.checked_add(step)?;
            }
            step = 0;
        }
        limits.push(number);
    }
    let is_fine = limits.first().is_some_and(|first| *first > 0) && limits.len() < BUCKETS_MAX;
    is_fine.then_some(limits)
}
