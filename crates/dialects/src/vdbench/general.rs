//! General parameters.

use plan::verify::FlipFlop;

use super::findings::Place;
use super::input::{Dedup, Input};
use super::keywords::Name::{Any, Full, Stem};
use super::keywords::Table;
use super::params::Param;
use super::parsed::Repeat;
use super::run::{Command, CommandTime, SetCount};
use super::sense;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Compression,
    Compratio,
    CompressionSeed,
    Dedup,
    Port,
    Pattern,
    DataErrors,
    Swat,
    Validate,
    Journal,
    StartCmd,
    EndCmd,
    Ignored,
    Debug,
    FormatXfersize,
    CreateAnchors,
    FormatSds,
    Report,
    RunTotals,
    Histogram,
    Psrset,
    Monitor,
    Concatenate,
    MessageScan,
    AbortSkew,
    Loop,
    Timeout,
    ThreadAdjust,
    IosPerJvm,
}

pub(super) const TABLE: &Table<Key> = &[
    (Full("compression"), Key::Compression),
    (Any("compratio"), Key::Compratio),
    (Any("compressionseed"), Key::CompressionSeed),
    (Stem("dedup"), Key::Dedup),
    (Any("port"), Key::Port),
    (Any("pattern"), Key::Pattern),
    (Any("data_errors"), Key::DataErrors),
    (Any("dataerrors"), Key::DataErrors),
    (Any("swat"), Key::Swat),
    (Any("validate"), Key::Validate),
    (Full("journal"), Key::Journal),
    (Full("startcmd"), Key::StartCmd),
    (Full("start_cmd"), Key::StartCmd),
    (Full("endcmd"), Key::EndCmd),
    (Full("end_cmd"), Key::EndCmd),
    (Full("heartbeat_error"), Key::Ignored),
    (Full("debug"), Key::Debug),
    (Any("unix2windows"), Key::Ignored),
    (Any("formatxfersize"), Key::FormatXfersize),
    (Any("create_anchors"), Key::CreateAnchors),
    (Any("formatsds"), Key::FormatSds),
    (Any("report"), Key::Report),
    (Any("report_run_totals"), Key::RunTotals),
    (Any("histogram"), Key::Histogram),
    (Any("psrset"), Key::Psrset),
    (Any("auxreport"), Key::Ignored),
    (Any("monitor"), Key::Monitor),
    (Any("concatenatesds"), Key::Concatenate),
    (Any("messagescan"), Key::MessageScan),
    (Any("abort_failed_skew"), Key::AbortSkew),
    (Any("misc"), Key::Ignored),
    (Full("pattern_buffer"), Key::Ignored),
    (Full("showlba"), Key::Ignored),
    (Full("loop"), Key::Loop),
    (Any("timeout"), Key::Timeout),
    (Any("fwd_thread_adjust"), Key::ThreadAdjust),
    (Any("ios_per_jvm"), Key::IosPerJvm),
];

/// Keywords that end the section.
const ENDS: &[&str] = &["rg", "sd", "fsd", "wd", "fwd", "rd", "hd", "host"];

/// Most limits of a histogram.
const BUCKETS_MAX: usize = 64;

/// Nanoseconds of a microsecond.
const NS_PER_US: u64 = 1000;

impl Input<'_> {
    /// Takes over what the command line switches on.
    pub(super) fn apply_switches(&mut self) {
        if self.options.validate.is_some() || self.options.journal.is_some() {
            self.settings.validate = true;
            self.settings.journal = self.options.journal.is_some();
            self.flags.is_recovery =
                self.options.journal.as_ref().is_some_and(|letters| letters.contains('r'));
            self.refuse_validation(Place::NONE);
        }
    }

    pub(super) fn read_general(&mut self) {
        while let Some(param) = self.take(ENDS) {
            let Some(key) = self.keyword(TABLE, &param) else { continue };
            if !param.is_broken {
                self.general(key, &param);
            } else if param.key == "dedupratio" {
                // That it is missing because of that is no mistake of its own.
                self.flags.dedup.ratio = Some(1.0);
            }
        }
        for param in self.sets(TABLE, &[], &[Key::Dedup, Key::Validate, Key::Journal]) {
            if let Some(key) = self.keyword(TABLE, &param) {
                self.general(key, &param);
            }
        }
        self.check_general();
    }

    fn general(&mut self, key: Key, param: &Param) {
        match key {
            Key::Compression if !self.first_makes_sense(param, sense::COMPRESSION) => return,
            Key::Compratio if !self.first_makes_sense(param, sense::RATIO) => return,
            Key::FormatXfersize if !self.first_makes_sense(param, sense::SECTORS) => return,
            _ => {}
        }
        let findings = &mut self.findings;
        let settings = &mut self.settings;
        match key {
            Key::Compression => {
                let Some(pct) = param.number(findings) else { return };
                settings.contents.compratio = 100.0 / pct;
                self.flags.has_compratio = true;
            }
            Key::Compratio => {
                let Some(ratio) = param.number(findings) else { return };
                settings.contents.compratio = ratio;
                self.flags.has_compratio = true;
            }
            Key::CompressionSeed | Key::Ignored => {
                self.has_no_effect(param, "is without effect here");
            }
            Key::Dedup => {
                let mut dedup = std::mem::take(&mut self.flags.dedup);
                self.dedup(&mut dedup, param, true);
                self.flags.dedup = dedup;
            }
            Key::Port => {
                let Some(port) = param.int(findings) else { return };
                settings.port = port.clamp(0, 65535) as u16;
            }
            Key::FormatXfersize => {
                let size = param.int(findings).filter(|size| *size > 0);
                settings.format_xfersize_bytes = size.map(|size| size as u32);
            }
            Key::AbortSkew => settings.abort_failed_skew_pct = param.number(findings),
            Key::IosPerJvm => {
                let Some(ios) = param.long(findings) else { return };
                settings.ios_per_jvm = ios.max(1) as u64;
            }
            Key::Timeout => {
                settings.timeout.clone_from(&param.values.raw);
                self.has_no_effect(param, "is without effect: nobody watches for idle storage");
            }
            Key::Monitor => settings.monitor = param.word(findings).map(str::to_owned),
            _ => self.general_word(key, param),
        }
    }

    /// Warns of what is read and changes nothing.
    fn has_no_effect(&mut self, param: &Param, what: &str) {
        let message = format!("`{}=` {what}", param.key);
        self.findings.warning(param.key_place, "without-effect", message, "it may be left out");
    }

    /// Reads the parameters whose values are words, or of several kinds.
    fn general_word(&mut self, key: Key, param: &Param) {
        match key {
            Key::Pattern => self.pattern(param),
            Key::DataErrors => self.data_errors(param),
            Key::Swat => self.findings.error_help(
                param.key_place,
                "removed-parameter",
                "the 'swat=' parameter is no longer supported",
                "leave it out: Vdbench 5.04 draws no charts any more",
            ),
            Key::Validate => self.validate(param),
            Key::Journal => self.journal(param),
            Key::StartCmd => {
                let commands = commands(CommandTime::Start, param);
                self.settings.commands.extend(commands);
            }
            Key::EndCmd => self.settings.commands.extend(commands(CommandTime::End, param)),
            Key::Debug => {
                param.number(&mut self.findings);
            }
            Key::Report => self.report(param),
            Key::Histogram => self.histogram(param),
            Key::Psrset => {
                let message = "'psrset=' option is only supported on Solaris";
                self.findings.error_help(param.key_place, "not-here", message, "leave it out");
            }
            Key::MessageScan => self.message_scan(param),
            Key::Loop => {
                let written = param.values.raw.first().map_or("", String::as_str);
                match repeat(written) {
                    Some(repeat) => self.settings.repeat = repeat,
                    None => self.wrong(param, "a number, or a time such as 10m"),
                }
            }
            Key::CreateAnchors | Key::RunTotals | Key::ThreadAdjust => self.yes_or_no(key, param),
            Key::FormatSds | Key::Concatenate => self.strict_yes_or_no(key, param),
            _ => {}
        }
    }

    /// Yes is whatever begins with `y`.
    fn yes_or_no(&mut self, key: Key, param: &Param) {
        let Some(word) = param.word(&mut self.findings) else { return };
        let is_yes = word.to_lowercase().starts_with('y');
        match key {
            Key::CreateAnchors => self.settings.create_anchors = is_yes,
            Key::RunTotals => self.settings.report.run_totals = is_yes,
            _ => self.flags.no_thread_adjust = !is_yes,
        }
    }

    fn strict_yes_or_no(&mut self, key: Key, param: &Param) {
        let Some(word) = param.word(&mut self.findings) else { return };
        let word = word.to_lowercase();
        if !word.starts_with(['y', 'n']) {
            self.wrong(param, "yes or no");
        } else if key == Key::FormatSds {
            self.settings.format_sds = Some(word.starts_with('y'));
        } else if word.starts_with('y') {
            self.settings.concatenate_sds = true;
        }
    }

    pub(super) fn wrong(&mut self, param: &Param, wanted: &str) {
        let value = super::values::unquoted(&param.text);
        let message = format!("`{}=` cannot be `{value}`", param.key);
        let help = format!("write {wanted}");
        self.findings.error_help(param.place, "wrong-value", message, help);
    }

    fn pattern(&mut self, param: &Param) {
        let is_again = self.settings.contents.pattern_file.is_some();
        if is_again || param.values.words.len() > 1 {
            let message = "only one pattern= parameter value may be coded, once";
            self.findings.error(param.key_place, "repeated-parameter", message);
        } else if let Some(word) = param.word(&mut self.findings) {
            self.settings.contents.pattern_file = Some(word.to_owned());
        }
    }

    fn data_errors(&mut self, param: &Param) {
        let count = |number: &f64| number.max(0.0) as u64;
        if let Some(n_errors) = param.values.numbers.first() {
            let seconds = param.values.numbers.get(1).map(count);
            self.settings.data_errors = Some((count(n_errors), seconds));
        } else if let Some(word) = param.word(&mut self.findings) {
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
                self.findings.warning(param.place, "data-errors-command", message, help);
            }
            self.settings.data_errors_command = Some(command);
        }
    }

    fn message_scan(&mut self, param: &Param) {
        if !self.settings.messagescan.is_empty() {
            let message = "duplicate keyword not allowed: 'messagescan'";
            self.findings.error(param.key_place, "repeated-parameter", message);
        }
        let numbers = param.values.numbers.iter().map(ToString::to_string);
        self.settings.messagescan = param.values.words.iter().cloned().chain(numbers).collect();
        if self.settings.messagescan != ["no"] {
            self.has_no_effect(param, "is without effect: the system's log is not read");
        }
    }

    fn validate(&mut self, param: &Param) {
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
                self.wrong(param, "yes, read_after_write, no_preread, time or no");
                return;
            }
            self.settings.validate = true;
        }
        if self.settings.validate {
            self.refuse_validation(param.key_place);
        }
    }

    fn journal(&mut self, param: &Param) {
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
                self.wrong(param, "yes, recover, only, noflush, maponly, max=size or no");
                return;
            }
            self.flags.is_recovery |= "recover".starts_with(word.as_str());
            self.settings.validate = true;
            self.settings.journal = true;
        }
        if self.settings.journal {
            self.refuse_validation(param.key_place);
        }
    }

    fn refuse_validation(&mut self, place: Place) {
        self.findings.refuse(
            place,
            "no-validation",
            "data validation and journaling (`validate=`, `journal=`, -v, -j) do not run yet",
        );
    }

    fn report(&mut self, param: &Param) {
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
                self.wrong(param, "host_detail, slave_detail, no_sd_detail or no_fsd_detail");
                return;
            }
        }
    }

    fn histogram(&mut self, param: &Param) {
        let words = &param.values.words;
        let Some(name) = words.first() else { return self.wrong(param, "(default,20,40,..)") };
        if words.len() == 2 && "suppress".starts_with(words[1].as_str()) && name == "default" {
            return;
        }
        let limits: Vec<&str> = words[1..]
            .iter()
            .map(String::as_str)
            .filter(|word| !"suppress".starts_with(word))
            .collect();
        let is_limit = |word: &str| buckets_us(&[word]).is_some();
        if self.is_kind() && (name != "default" && is_limit(name)) {
            let message = "the first word of histogram= is its name, not a limit: without \
                           `default` Vdbench keeps its own limits";
            let help = "write histogram=(default,100u,1m,..)";
            self.findings.warning(param.place, "unnamed-histogram", message, help);
        }
        if self.is_kind() && limits.last().is_some_and(|last| falls_back(&limits, last)) {
            let message = "histogram= ends below its largest limit: the last number is no limit";
            let help = "let limits rise; a smaller number between two is the step from one to the \
                        other";
            self.findings.warning(param.place, "falling-limits", message, help);
        }
        match buckets_us(&limits) {
            Some(limits) if name == "default" => {
                self.settings.histogram_ns = limits.iter().map(|us| us * NS_PER_US).collect();
            }
            Some(_) => {}
            None => self.wrong(param, "at most 63 rising limits, such as (default,20,40,1m,1s)"),
        }
    }

    /// Reads a `dedup..=` parameter, general or of one definition.
    pub(super) fn dedup(&mut self, dedup: &mut Dedup, param: &Param, is_general: bool) {
        dedup.is_on = true;
        dedup.place.get_or_insert(param.key_place);
        let numbers = &param.values.numbers;
        let is_bad = match param.key.as_str() {
            "dedupratio" => {
                dedup.ratio = param.number(&mut self.findings);
                dedup.ratio.is_some_and(|ratio| ratio < 1.0)
            }
            "dedupunit" if !is_general => true,
            "dedupunit" => {
                let unit = param.int(&mut self.findings).unwrap_or_default();
                dedup.unit_bytes = unit.max(0) as u64;
                false
            }
            "dedupsets" => {
                match numbers.as_slice() {
                    [sets] if *sets < 0.0 => dedup.sets = Some(SetCount::Pct(-sets)),
                    [sets] => dedup.sets = Some(SetCount::Count(*sets as u64)),
                    _ => {}
                }
                numbers.as_slice() == [0.0]
            }
            "deduphotsets" => {
                let pairs = numbers.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1] as u32));
                dedup.hot_sets = pairs.collect();
                !numbers.len().is_multiple_of(2) || numbers.contains(&0.0)
            }
            "dedupflipflop" => param.word(&mut self.findings).is_some_and(|word| {
                dedup.flip_flop = match word {
                    word if word.starts_with("hot") => Some(FlipFlop::Hot),
                    word if word.starts_with('y') => Some(FlipFlop::All),
                    word if word.starts_with('n') => Some(FlipFlop::None),
                    _ => None,
                };
                dedup.flip_flop.is_none()
            }),
            "dedupacross" | "dedupmaxkey" => false,
            _ => true,
        };
        if is_bad {
            let message = format!("`{}=` is not allowed here, or not with this value", param.key);
            let help = "dedupratio is at least 1; dedupsets and deduphotsets have no zeros; \
                        dedupunit is a general parameter";
            self.findings.error_help(param.place, "wrong-value", message, help);
        }
    }

    /// Checks deduplication once it is complete.
    pub(super) fn check_dedup(&mut self, dedup: &Dedup) {
        if !dedup.is_on {
            return;
        }
        let message = if self.flags.dedup.unit_bytes == 0 {
            "requesting dedup without specifying dedupunit=nnn"
        } else if !self.flags.dedup.unit_bytes.is_multiple_of(512) {
            "dedupunit= value must be a multiple of 512"
        } else if dedup.ratio.is_none() {
            "dedupratio= parameter is required"
        } else {
            return;
        };
        let place = dedup.place.unwrap_or(Place::NONE);
        let help = "write such as `dedupratio=2,dedupunit=4k`";
        self.findings.error_help(place, "incomplete-dedup", message, help);
    }

    fn check_general(&mut self) {
        let dedup = self.flags.dedup.clone();
        self.check_dedup(&dedup);
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
            (self.flags.has_compratio && self.settings.contents.compratio > 1.0, "compratio="),
        ];
        for (_, name) in other.iter().filter(|(is_on, _)| *is_on && has_pattern) {
            let message = format!("{name} and pattern= are mutually exclusive");
            self.findings.error(Place::NONE, "exclusive-parameters", message);
        }
        if self.settings.concatenate_sds {
            let other = [
                (self.settings.format_sds == Some(true), "formatsds=yes"),
                (self.settings.validate, "data validation"),
            ];
            for (_, name) in other.iter().filter(|(is_on, _)| *is_on) {
                let message = format!("{name} and concatenatesds=yes are mutually exclusive");
                self.findings.error(Place::NONE, "exclusive-parameters", message);
            }
        }
    }
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

/// Says whether the last number of a list is behind a larger one, and so the step to nothing.
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

/// Says whether a keyword stands for a general parameter.
pub(super) fn knows(key: &str) -> bool {
    key.len() >= 2 && super::keywords::find(TABLE, key).is_some()
}
