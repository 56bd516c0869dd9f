//! Run definitions.

use super::findings::Place;
use super::fwd::{OPERATIONS, operation};
use super::general::commands;
use super::input::Input;
use super::keywords::Name::{Any, Full, Stem};
use super::keywords::{self, Table};
use super::loops::{Loop, LoopKind};
use super::options::FormatOverride;
use super::params::Param;
use super::run::{
    AmountMax, Arrivals, Command, CommandTime, FileOperation, OpenFlags, RatePeriod, RatePeriods,
};
use super::sense;
use super::values;
use super::values::{CURVE_CODE, CURVE_RATE, MAX_CODE, MAX_RATE, NS_PER_S};

/// Elapsed seconds of a run that lasts until its work is done.
pub(super) const NO_ELAPSED_S: i64 = 99_999_998;

/// Percentages of a curve for which none are written.
pub(super) const CURVE_PCTS: [f64; 6] = [10.0, 50.0, 70.0, 80.0, 90.0, 100.0];

/// A run definition as written.
#[derive(Clone, Debug)]
pub(super) struct RdEntry {
    /// With what its clones add.
    pub(super) name: String,
    /// As written.
    pub(super) rd: String,
    pub(super) place: Place,
    pub(super) wds: Vec<String>,
    pub(super) wds_place: Place,
    pub(super) sds: Option<Vec<String>>,
    pub(super) fwds: Vec<String>,
    pub(super) fsds: Vec<String>,
    pub(super) operations: Vec<FileOperation>,
    /// The rate of `iorate=`, the first of a list; below 0 it is a percentage.
    pub(super) iorate: f64,
    /// The list of `iorate=`.
    pub(super) rates: Vec<f64>,
    pub(super) fwdrate: f64,
    pub(super) curve_pcts: Option<Vec<f64>>,
    pub(super) stopcurve_ms: Option<f64>,
    pub(super) elapsed_s: i64,
    pub(super) interval_s: i64,
    pub(super) warmup_s: i64,
    pub(super) pause_s: i64,
    /// Below 100 they are multiples of the size of all storage definitions.
    pub(super) maxdata: [f64; 3],
    pub(super) loops: Vec<Loop>,
    pub(super) arrivals: Arrivals,
    /// The list of `iorate=` are rates and seconds in turn.
    pub(super) is_variable: bool,
    /// And each second's I/Os start together.
    pub(super) in_spikes: bool,
    pub(super) commands: Vec<Command>,
    pub(super) format: Format,
    pub(super) open: Option<OpenFlags>,
    written: Vec<Key>,
}

impl Default for RdEntry {
    fn default() -> Self {
        RdEntry {
            name: String::new(),
            rd: String::new(),
            place: Place::NONE,
            wds: Vec::new(),
            wds_place: Place::NONE,
            sds: None,
            fwds: Vec::new(),
            fsds: Vec::new(),
            operations: Vec::new(),
            iorate: 0.0,
            rates: Vec::new(),
            fwdrate: 0.0,
            curve_pcts: None,
            stopcurve_ms: None,
            elapsed_s: 30,
            interval_s: 1,
            warmup_s: 0,
            pause_s: 0,
            maxdata: [0.0; 3],
            loops: Vec::new(),
            arrivals: Arrivals::Poisson,
            is_variable: false,
            in_spikes: false,
            commands: Vec::new(),
            format: Format::default(),
            open: None,
            written: Vec::new(),
        }
    }
}

impl RdEntry {
    /// Returns a run that lasts until its work is done.
    pub(super) fn endless(name: &str) -> Self {
        RdEntry {
            name: name.to_owned(),
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

    /// Says whether a rate is written, be it one that cannot be.
    pub(super) fn has_iorate(&self) -> bool {
        self.iorate != 0.0 || self.written.contains(&Key::Iorate)
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
        RdEntry { name: format!("{}_{suffix}", self.name), sds: Some(sds.to_vec()), ..self.clone() }
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

/// What `format=` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) is_requested: bool,
    pub(super) is_restart: bool,
    pub(super) is_clean: bool,
    pub(super) is_only: bool,
    pub(super) is_folders: bool,
    pub(super) is_once: bool,
    pub(super) is_limited: bool,
    is_complete: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Rd,
    Wd,
    Sd,
    Fsd,
    Iorate,
    Maxdata,
    Curve,
    Stopcurve,
    Elapsed,
    Interval,
    Warmup,
    Replay,
    Pause,
    Loop(LoopKind),
    Compression,
    ForOperations,
    Distribution,
    StartCmd,
    EndCmd,
    Fwd,
    Fwdrate,
    Operations,
    Format,
    Openflags,
    Mount,
}

pub(super) const TABLE: &Table<Key> = &[
    (Full("rd"), Key::Rd),
    (Full("wd"), Key::Wd),
    (Full("sd"), Key::Sd),
    (Full("fsd"), Key::Fsd),
    (Any("iorate"), Key::Iorate),
    (Stem("maxdata"), Key::Maxdata),
    (Any("curve"), Key::Curve),
    (Any("stopcurve"), Key::Stopcurve),
    (Any("elapsed"), Key::Elapsed),
    (Any("interval"), Key::Interval),
    (Any("warmup"), Key::Warmup),
    (Full("replay"), Key::Replay),
    (Any("pause"), Key::Pause),
    (Any("forxfersize"), Key::Loop(LoopKind::Xfersize)),
    (Any("forthreads"), Key::Loop(LoopKind::Threads)),
    (Any("forrdpct"), Key::Loop(LoopKind::Rdpct)),
    (Any("forrhpct"), Key::Loop(LoopKind::Rhpct)),
    (Any("forwhpct"), Key::Loop(LoopKind::Whpct)),
    (Any("forseekpct"), Key::Loop(LoopKind::Seekpct)),
    (Any("forhitarea"), Key::Loop(LoopKind::Hitarea)),
    (Any("forcompratio"), Key::Loop(LoopKind::Compratio)),
    (Any("forcompression"), Key::Compression),
    (Any("fordepth"), Key::Loop(LoopKind::Depth)),
    (Any("forwidth"), Key::Loop(LoopKind::Width)),
    (Any("forfiles"), Key::Loop(LoopKind::Files)),
    (Any("forsizes"), Key::Loop(LoopKind::Sizes)),
    (Any("fortotalsize"), Key::Loop(LoopKind::TotalSize)),
    (Any("forwss"), Key::Loop(LoopKind::WorkingSet)),
    (Any("forworkingsetsize"), Key::Loop(LoopKind::WorkingSet)),
    (Any("foroperations"), Key::ForOperations),
    (Any("xfersize"), Key::Loop(LoopKind::Xfersize)),
    (Any("threads"), Key::Loop(LoopKind::Threads)),
    (Any("rdpct"), Key::Loop(LoopKind::Rdpct)),
    (Any("rhpct"), Key::Loop(LoopKind::Rhpct)),
    (Any("whpct"), Key::Loop(LoopKind::Whpct)),
    (Any("seekpct"), Key::Loop(LoopKind::Seekpct)),
    (Any("hitarea"), Key::Loop(LoopKind::Hitarea)),
    (Any("compratio"), Key::Loop(LoopKind::Compratio)),
    (Any("compression"), Key::Compression),
    (Any("depth"), Key::Loop(LoopKind::Depth)),
    (Any("width"), Key::Loop(LoopKind::Width)),
    (Any("files"), Key::Loop(LoopKind::Files)),
    (Any("sizes"), Key::Loop(LoopKind::Sizes)),
    (Any("totalsize"), Key::Loop(LoopKind::TotalSize)),
    (Any("wss"), Key::Loop(LoopKind::WorkingSet)),
    (Any("workingsetsize"), Key::Loop(LoopKind::WorkingSet)),
    (Any("distribution"), Key::Distribution),
    (Any("startcmd"), Key::StartCmd),
    (Any("start_cmd"), Key::StartCmd),
    (Any("endcmd"), Key::EndCmd),
    (Any("end_cmd"), Key::EndCmd),
    (Full("fwd"), Key::Fwd),
    (Any("fwdrate"), Key::Fwdrate),
    (Any("operations"), Key::Operations),
    (Any("format"), Key::Format),
    (Any("openflags"), Key::Openflags),
    (Any("mount"), Key::Mount),
];

impl Input<'_> {
    pub(super) fn read_rds(&mut self) {
        let mut default = RdEntry::default();
        let mut current: Option<RdEntry> = None;
        let mut is_default = false;
        while let Some(param) = self.take(&[]) {
            let Some(key) = self.keyword(TABLE, &param) else { continue };
            if key == Key::Rd {
                self.keep_rd(current.take(), is_default, &mut default);
                let begun = self.begin_rd(&param, &default);
                is_default = begun.name == "default";
                current = Some(begun);
            } else if let Some(mut entry) = current.take() {
                if !param.is_broken {
                    self.rd_value(key, &param, &mut entry);
                }
                entry.written.push(key);
                current = Some(entry);
            } else {
                self.no_definition(&param, "rd");
            }
        }
        self.keep_rd(current, is_default, &mut default);
        if self.rds.is_empty() && self.findings.n_errors == 0 {
            self.end_of_file("a run definition (`rd=`) at the end");
        }
    }

    fn begin_rd(&mut self, param: &Param, default: &RdEntry) -> RdEntry {
        self.plain.begin();
        let name = self.name_of(param);
        let mut entry = RdEntry { place: param.place, ..default.clone() };
        entry.written.clear();
        if name != "default" {
            if !self.is_new("rd", &name) {
                let message = format!("duplicate RD names not allowed: {name}");
                self.findings.error(param.place, "duplicate-name", message);
            }
            if self.flags.is_files {
                self.force_format(&mut entry.format);
            }
        }
        entry.rd.clone_from(&name);
        entry.name = name;
        entry
    }

    fn keep_rd(&mut self, entry: Option<RdEntry>, is_default: bool, default: &mut RdEntry) {
        let Some(mut entry) = entry else { return };
        if is_default {
            *default = entry;
            return;
        }
        // The run of a recovery from journals; others make it.
        if entry.name == "journal_recovery" {
            return;
        }
        let loops: Vec<Key> = entry.loops.iter().map(|looped| Key::Loop(looped.kind)).collect();
        let other_rate = if self.flags.is_files { Key::Iorate } else { Key::Fwdrate };
        let all_loops = TABLE.iter().map(|(_, key)| *key).filter(|key| {
            matches!(key, Key::Loop(_) | Key::Compression | Key::ForOperations | Key::Operations)
        });
        let where_written: Vec<Key> = [
            Key::Rd,
            Key::Wd,
            Key::Sd,
            Key::Fsd,
            Key::Fwd,
            Key::Format,
            Key::Curve,
            Key::Replay,
            Key::Mount,
            other_rate,
        ]
        .into_iter()
        .chain(all_loops)
        .collect();
        let written: Vec<Key> = entry.written.iter().copied().chain(loops).collect();
        for param in self.sets(TABLE, &written, &where_written) {
            let Some(key) = keywords::find(TABLE, &param.key) else { continue };
            if matches!(key, Key::Wd) {
                entry.wds.clear();
            }
            self.rd_value(key, &param, &mut entry);
        }
        self.rds.push(entry);
    }

    fn rd_value(&mut self, key: Key, param: &Param, entry: &mut RdEntry) {
        let sense = match key {
            Key::Elapsed | Key::Interval => Some(sense::DURATION),
            Key::Warmup | Key::Pause => Some(sense::SECONDS),
            Key::Stopcurve | Key::Maxdata => Some(sense::ABOVE_ZERO),
            _ => None,
        };
        if sense.is_some_and(|sense| !self.first_makes_sense(param, sense)) {
            return;
        }
        let findings = &mut self.findings;
        match key {
            Key::Sd => entry.sds = Some(param.values.words.clone()),
            Key::Fsd => entry.fsds.clone_from(&param.values.words),
            Key::Fwd => entry.fwds.clone_from(&param.values.words),
            Key::Curve => {
                if param.number(findings).is_some() {
                    entry.curve_pcts = Some(param.values.numbers.clone());
                }
            }
            Key::Stopcurve => entry.stopcurve_ms = param.number(findings),
            Key::Elapsed => entry.elapsed_s = param.long(findings).unwrap_or(30),
            Key::Interval => entry.interval_s = param.long(findings).unwrap_or(1),
            Key::Warmup => entry.warmup_s = param.long(findings).unwrap_or_default(),
            Key::Pause => entry.pause_s = param.long(findings).unwrap_or_default(),
            Key::Loop(kind) => self.rd_loop(kind, param, param.values.numbers.clone(), entry),
            Key::Compression => {
                let ratio = |pct: &f64| ((100_000.0 / pct + 0.5).floor()) / 1000.0;
                let ratios = param.values.numbers.iter().map(ratio).collect();
                self.rd_loop(LoopKind::Compratio, param, ratios, entry);
            }
            Key::StartCmd => entry.commands.extend(commands(CommandTime::Start, param)),
            Key::EndCmd => entry.commands.extend(commands(CommandTime::End, param)),
            Key::Openflags => entry.open = Some(self.open_flags(param)),
            Key::Replay => self.rd_replay(param),
            _ => self.rd_word(key, param, entry),
        }
    }

    fn rd_word(&mut self, key: Key, param: &Param, entry: &mut RdEntry) {
        match key {
            Key::Wd => {
                if !entry.wds.is_empty() {
                    let message =
                        format!("rd={}: 'wd=' may be specified only once per RD", entry.name);
                    let help = format!("write `rd={},wd=(w1,w2,w3)`", entry.name);
                    self.findings.error_help(param.key_place, "repeated-parameter", message, help);
                }
                entry.wds.clone_from(&param.values.words);
                entry.wds_place = param.place;
            }
            Key::Iorate => self.iorate(param, entry),
            Key::Fwdrate => self.fwdrate(param, entry),
            Key::Maxdata => self.maxdata(param, entry),
            Key::Distribution => self.distribution(param, entry),
            Key::Format => {
                if entry.name == "default" {
                    let message = "'format=' parameter is not allowed for rd=default";
                    let help = "write it into each run definition";
                    self.findings.error_help(param.key_place, "not-in-default", message, help);
                } else {
                    self.format(param, &mut entry.format);
                }
            }
            Key::Operations | Key::ForOperations => self.operations(key, param, entry),
            Key::Mount => {
                if self.hosts.iter().all(|host| host.host.mounts.is_empty()) {
                    let message = format!("rd={}: 'mount=' without an 'hd=..,mount='", entry.name);
                    self.findings.error(param.key_place, "missing-mount", message);
                } else {
                    let message = "mounting (`mount=`) is not done";
                    self.findings.refuse(param.key_place, "no-mount", message);
                }
            }
            _ => {}
        }
    }

    /// Returns the numbers of a list that Vdbench keeps as words, as it does those of `seekpct=`
    /// wherever that stands, and then misses.
    ///
    /// Nothing is returned of a list that cannot be read, which is reported.
    fn numbers_of_words(&mut self, param: &Param) -> Option<Vec<f64>> {
        let key = format!("for{}", param.key);
        let values = match values::read(&key, &param.text, true) {
            Ok(values) => values,
            Err(wrong) => {
                self.findings.error_help(param.place, wrong.code, wrong.message, wrong.help);
                return None;
            }
        };
        if !values.words.is_empty() || values.numbers.is_empty() {
            return Some(Vec::new());
        }
        self.plain.rename(param, "forseekpct");
        let message = format!("Vdbench finds no numbers in a list of {}=", param.key);
        let help = format!("write {key}=, which it takes");
        self.findings.warning(param.place, "list-of-words", message, help);
        Some(values.numbers)
    }

    fn rd_loop(&mut self, kind: LoopKind, param: &Param, values: Vec<f64>, entry: &mut RdEntry) {
        let values = match (values.is_empty(), kind) {
            (true, LoopKind::Seekpct) if self.is_kind() => self.numbers_of_words(param),
            _ => Some(values),
        };
        let Some(values) = values else { return };
        if values.is_empty() {
            let help = if kind == LoopKind::Seekpct {
                "in a run definition seeks are numbers: `forseekpct=(0,100)`"
            } else {
                "in a run definition it takes numbers only"
            };
            self.findings.error_help(
                param.place,
                "empty-loop",
                format!("rd={},{}=: the list of numeric values is empty", entry.name, param.key),
                help,
            );
            return;
        }
        if kind == LoopKind::Xfersize && self.is_kind() && looks_like_distribution(&values) {
            self.findings.warning(
                param.place,
                "distribution-in-rd",
                "in a run definition these are several sizes, one run each, and no distribution",
                "write the distribution into the workload definition",
            );
        }
        if let Some(sense) = sense::of_loop(kind)
            && !self.all_make_sense(param, &values, sense)
        {
            return;
        }
        entry.loops.retain(|other| other.kind != kind);
        entry.loops.push(Loop { kind, values, place: param.place });
    }

    fn iorate(&mut self, param: &Param, entry: &mut RdEntry) {
        // Vdbench keeps the list of rates of `rd=default` beside a rate of the definition's own.
        if self.is_kind() {
            if !entry.rates.is_empty() && !entry.written.contains(&Key::Iorate) {
                self.warn_of_default_rates(param);
            }
            entry.rates.clear();
        }
        match (param.values.words.as_slice(), param.values.numbers.as_slice()) {
            ([word], _) if word == "curve" => entry.iorate = CURVE_RATE,
            ([word], _) if word.eq_ignore_ascii_case("max") => entry.iorate = MAX_RATE,
            (_, []) => self.wrong(param, "a rate, a list of rates, max or curve"),
            (_, rates) => {
                if !self.all_make_sense(param, rates, sense::RATE_OF_LIST) {
                    return;
                }
                let rates: Vec<f64> = rates.iter().map(|rate| self.rate(param, *rate)).collect();
                if rates[0] == 0.0 && rates.len() == 1 {
                    self.makes_sense(param, 0.0, sense::RATE);
                }
                entry.iorate = rates[0];
                if rates.len() > 1 {
                    entry.rates = rates;
                }
            }
        }
    }

    fn warn_of_default_rates(&mut self, param: &Param) {
        self.findings.warning(
            param.key_place,
            "rates-of-default",
            "Vdbench keeps the list of rates of `rd=default` beside this one, and runs that",
            "write the rates into the run definitions that are to have them",
        );
    }

    /// Returns a written rate. Two numbers are words to Vdbench.
    fn rate(&mut self, param: &Param, written: f64) -> f64 {
        let (word, meant) = match written {
            MAX_CODE => ("max", MAX_RATE),
            CURVE_CODE => ("curve", CURVE_RATE),
            rate => return rate,
        };
        if !self.is_kind() {
            return meant;
        }
        self.findings.warning(
            param.place,
            "rate-code",
            format!("Vdbench takes the rate {written} for the word `{word}`"),
            format!("write another number, or `{word}` where that is meant"),
        );
        written
    }

    fn fwdrate(&mut self, param: &Param, entry: &mut RdEntry) {
        if self.is_kind() {
            let has_rates = entry.loops.iter().any(|looped| looped.kind == LoopKind::Rate);
            if has_rates && !entry.written.contains(&Key::Fwdrate) {
                self.warn_of_default_rates(param);
            }
            entry.loops.retain(|looped| looped.kind != LoopKind::Rate);
        }
        if self.is_kind() && !param.values.words.is_empty() && param.values.shown.len() > 1 {
            let word = &param.values.words[0];
            let message = format!("max and curve stand alone in fwdrate=: only {word} counts");
            let help = "write a run definition of its own for max";
            self.findings.warning(param.place, "rate-beside-word", message, help);
        }
        match (param.values.words.as_slice(), param.values.numbers.as_slice()) {
            ([word], _) if word == "curve" => entry.fwdrate = CURVE_RATE,
            ([word, ..], _) if word.eq_ignore_ascii_case("max") => entry.fwdrate = MAX_RATE,
            (_, []) => self.wrong(param, "a rate, a list of rates, max or curve"),
            (_, [rate]) => {
                self.makes_sense(param, *rate, sense::RATE);
                entry.fwdrate = self.rate(param, *rate);
            }
            (_, rates) => {
                entry.fwdrate = 1.0;
                let rates = rates.iter().map(|rate| self.rate(param, *rate)).collect();
                self.rd_loop(LoopKind::Rate, param, rates, entry);
            }
        }
    }

    fn maxdata(&mut self, param: &Param, entry: &mut RdEntry) {
        let Some(bytes) = param.number(&mut self.findings) else { return };
        let idx = match param.key.as_str() {
            "maxdata" => 0,
            "maxdataread" => 1,
            "maxdatawritten" => 2,
            _ => {
                let message = format!("unknown parameter: {}", param.key);
                let help = "write maxdata, maxdataread or maxdatawritten";
                self.findings.error_help(param.key_place, "unknown-keyword", message, help);
                return;
            }
        };
        if bytes < 100.0 && self.flags.is_files {
            let message = "maxdata= (<100) only allowed for SD/WD workloads";
            let help = "multiples of the size are for storage definitions: write bytes";
            self.findings.error_help(param.place, "wrong-value", message, help);
        }
        entry.maxdata[idx] = bytes;
    }

    fn distribution(&mut self, param: &Param, entry: &mut RdEntry) {
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
                self.wrong(param, "exponential, uniform, deterministic, variable or spike");
                return;
            }
        }
    }

    fn operations(&mut self, key: Key, param: &Param, entry: &mut RdEntry) {
        let is_loop = key == Key::ForOperations;
        let has_loop = entry.loops.iter().any(|looped| looped.kind == LoopKind::Operation);
        if (is_loop && !entry.operations.is_empty()) || (!is_loop && has_loop) {
            let message = format!(
                "rd={}: 'operations' and 'foroperations' parameters are mutually exclusive",
                entry.name
            );
            self.findings.error(param.key_place, "exclusive-parameters", message);
        }
        let mut found = Vec::new();
        for word in &param.values.words {
            let Some(operation) = operation(word) else {
                let message = format!("unknown operation: {word}");
                let help = "write such as read, write, mkdir, create, delete, getattr";
                self.findings.error_help(param.place, "unknown-operation", message, help);
                continue;
            };
            found.push(operation);
        }
        if !is_loop {
            entry.operations = found;
            return;
        }
        let number = |wanted: FileOperation| {
            OPERATIONS.iter().position(|(_, operation)| *operation == wanted).unwrap_or(0) as f64
        };
        let values = found.into_iter().map(number).collect();
        self.rd_loop(LoopKind::Operation, param, values, entry);
    }

    fn rd_replay(&mut self, param: &Param) {
        let path = param.values.words.first().map_or("", String::as_str);
        if !self.loader.is_file(path) {
            self.findings.error_help(
                param.place,
                "no-such-file",
                format!("replay file name does not exist: {path}"),
                "replay needs a trace of another tool",
            );
        }
        self.set_replay(param.key_place);
    }

    fn format(&mut self, param: &Param, format: &mut Format) {
        let words = &param.values.words;
        format.is_complete |= words.iter().any(|word| word == "complete");
        let is_no = words.iter().any(|word| "no".starts_with(word.as_str()));
        if is_no {
            format.is_requested = false;
        } else {
            for word in words {
                match word.as_str() {
                    word if "directories".starts_with(word) => format.is_folders = true,
                    "restart" => format.is_restart = true,
                    "only" => format.is_only = true,
                    "once" => format.is_once = true,
                    "clean" => (format.is_only, format.is_clean) = (true, true),
                    "limited" => format.is_limited = true,
                    "complete" => {}
                    word if "yes".starts_with(word) => {}
                    _ => {
                        let wanted = "yes, no, only, restart, clean, once, limited, directories \
                                      or complete";
                        return self.wrong(param, wanted);
                    }
                }
                format.is_requested = true;
            }
        }
        self.force_format(format);
        let mistakes = [
            (
                format.is_requested && format.is_complete,
                "'format=yes' and 'format=complete' are mutually exclusive",
                "write `format=(no,complete)`",
            ),
            (
                !is_no && format.is_limited && !format.is_only,
                "the use of 'format=limited' requires the use of 'format=(only,limited)'",
                "write `format=(only,limited)`",
            ),
            (
                !is_no && format.is_requested && self.flags.is_recovery,
                "'format=yes' and journal recovery are mutually exclusive",
                "write `format=no`",
            ),
        ];
        for (_, message, help) in mistakes.into_iter().filter(|(is_wrong, _, _)| *is_wrong) {
            self.findings.error_help(param.place, "wrong-format", message, help);
        }
    }

    /// What `-c` says goes.
    fn force_format(&self, format: &mut Format) {
        match self.options.format {
            Some(FormatOverride::No) => format.is_requested = false,
            Some(FormatOverride::Yes) => format.is_requested = true,
            Some(FormatOverride::Only) => (format.is_requested, format.is_only) = (true, true),
            None => {}
        }
    }
}

/// Says whether a list of sizes is sizes and percentages that add up to 100.
fn looks_like_distribution(values: &[f64]) -> bool {
    let pcts = values.iter().skip(1).step_by(2);
    values.len() >= 2 && values.len().is_multiple_of(2) && (pcts.sum::<f64>() - 100.0).abs() < 0.5
}
