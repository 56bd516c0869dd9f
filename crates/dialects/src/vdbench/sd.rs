//! Storage definitions.

use super::findings::Place;
use super::input::{DEFINITIONS_MAX, Dedup, Input, LUNS_MAX};
use super::keywords::Name::{Any, Full, Stem};
use super::keywords::Table;
use super::params::Param;
use super::parsed::Host;
use super::run::{OpenFlags, Sd, Span};
use super::sense;

/// A storage definition as written.
#[derive(Clone, Debug)]
pub(super) struct SdEntry {
    pub(super) name: String,
    pub(super) place: Place,
    /// Positions of the hosts that have it, and its path there.
    pub(super) luns: Vec<(usize, String)>,
    pub(super) size_bytes: i64,
    pub(super) threads: i64,
    pub(super) range: Option<(f64, f64)>,
    pub(super) hitarea_bytes: i64,
    offset_bytes: i64,
    pub(super) align_bytes: i64,
    pub(super) open: OpenFlags,
    dedup: Option<Dedup>,
    hosts: Vec<String>,
    count: Option<(i64, i64)>,
    /// `lun=` and `host=` of this definition, until both are known.
    pending: Vec<String>,
    written: Vec<Key>,
}

impl Default for SdEntry {
    fn default() -> Self {
        SdEntry {
            name: "default".to_owned(),
            place: Place::NONE,
            luns: Vec::new(),
            size_bytes: 0,
            threads: 8,
            range: None,
            hitarea_bytes: 1024 * 1024,
            offset_bytes: 0,
            align_bytes: 0,
            open: OpenFlags::default(),
            dedup: None,
            hosts: vec!["*".to_owned()],
            count: None,
            pending: Vec::new(),
            written: Vec::new(),
        }
    }
}

impl SdEntry {
    /// Returns the definition as one host has it.
    pub(super) fn on_host(&self, host: &Host, lun: &str) -> Sd {
        Sd {
            name: self.name.clone(),
            host: host.label.clone(),
            n_slaves: host.jvms,
            is_shared: false,
            lun: lun.to_owned(),
            size_bytes: (self.size_bytes > 0).then_some(self.size_bytes as u64),
            threads: self.threads.clamp(1, i64::from(u32::MAX)) as u32,
            range: self.range.map(span),
            hitarea_bytes: self.hitarea_bytes.max(0) as u64,
            offset_bytes: self.offset_bytes.max(0) as u64,
            align_bytes: self.align_bytes.max(0) as u64,
            dedup: self.dedup.as_ref().map(Dedup::sets),
            open: self.open,
            place: self.place,
        }
    }
}

/// Reads a range: up to 200 percent, else bytes.
pub(super) fn span((low, high): (f64, f64)) -> Span {
    if high > 200.0 { Span::Bytes(low.max(0.0) as u64, high as u64) } else { Span::Pct(low, high) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Sd,
    Host,
    Lun,
    Count,
    Size,
    Threads,
    Hitarea,
    Offset,
    Align,
    Ignored,
    Replay,
    Reset,
    Openflags,
    Range,
    Dedup,
    Streams,
}

pub(super) const TABLE: &Table<Key> = &[
    (Full("sd"), Key::Sd),
    (Any("host"), Key::Host),
    (Full("hd"), Key::Host),
    (Any("lun"), Key::Lun),
    (Any("count"), Key::Count),
    (Any("size"), Key::Size),
    (Any("threads"), Key::Threads),
    (Any("hitarea"), Key::Hitarea),
    (Any("offset"), Key::Offset),
    (Any("align"), Key::Align),
    (Any("kstat"), Key::Ignored),
    (Any("instance"), Key::Ignored),
    (Any("replay"), Key::Replay),
    (Any("journal"), Key::Ignored),
    (Any("resetlun"), Key::Reset),
    (Any("resetbus"), Key::Reset),
    (Any("openflags"), Key::Openflags),
    (Any("range"), Key::Range),
    (Stem("dedup"), Key::Dedup),
    (Any("streams"), Key::Streams),
];

/// `--set` changes these only where they are written.
const SET_WHERE_WRITTEN: &[Key] =
    &[Key::Sd, Key::Host, Key::Lun, Key::Count, Key::Replay, Key::Dedup, Key::Streams];

/// `host=` lists that wait for their `lun=`; Vdbench keeps those of `sd=default` for the next.
type PendingHosts = Vec<Vec<String>>;

impl Input<'_> {
    pub(super) fn read_sds(&mut self) {
        let mut default = SdEntry::default();
        let mut current: Option<SdEntry> = None;
        let mut hosts = PendingHosts::new();
        while let Some(param) = self.take(&["wd", "rd", "fwd"]) {
            let Some(key) = self.keyword(TABLE, &param) else { continue };
            if key == Key::Sd {
                self.keep_sd(current.take(), &mut default, &mut hosts);
                current = Some(self.begin_sd(&param, &default));
            } else if param.is_broken {
                // What is missing because of it is no mistake of its own.
                if let (Key::Lun, Some(entry)) = (key, &mut current) {
                    entry.pending.push(String::new());
                }
            } else {
                match current.take() {
                    Some(mut entry) => {
                        self.sd_value(key, &param, &mut entry, &mut hosts);
                        entry.written.push(key);
                        current = Some(entry);
                    }
                    None => self.no_definition(&param, "sd"),
                }
            }
        }
        self.keep_sd(current, &mut default, &mut hosts);
        self.repeat_sds();
        for idx in 0..self.sds.len() {
            if let Some(dedup) = self.sds[idx].dedup.clone() {
                self.check_dedup(&dedup);
            }
        }
    }

    /// Reports a parameter that stands before its definition.
    pub(super) fn no_definition(&mut self, param: &Param, wanted: &str) {
        let message = format!("`{}=` stands before any `{wanted}=`", param.key);
        let help = format!("begin with `{wanted}=name`");
        self.findings.error_help(param.key_place, "no-definition", message, help);
    }

    fn begin_sd(&mut self, param: &Param, default: &SdEntry) -> SdEntry {
        self.plain.begin();
        let name = self.name_of(param);
        if name == "default" {
            return SdEntry { pending: Vec::new(), written: Vec::new(), ..default.clone() };
        }
        if name.eq_ignore_ascii_case("concat") {
            let message = "creating an SD named 'concat' is not allowed";
            self.findings.error(param.place, "wrong-name", message);
        }
        if self.settings.validate && name.len() > 8 {
            let message = format!("with data validation an SD name has at most 8 bytes: {name}");
            self.findings.error(param.place, "wrong-name", message);
        }
        let place = param.place;
        SdEntry { name, place, written: Vec::new(), ..default.clone() }
    }

    fn keep_sd(&mut self, entry: Option<SdEntry>, default: &mut SdEntry, hosts: &mut PendingHosts) {
        let Some(mut entry) = entry else { return };
        if entry.name == "default" {
            if let Some(first) = hosts.first() {
                entry.hosts.clone_from(first);
            }
            *default = entry;
            return;
        }
        for param in self.sets(TABLE, &entry.written.clone(), SET_WHERE_WRITTEN) {
            if let Some(key) = self.keyword(TABLE, &param) {
                self.sd_value(key, &param, &mut entry, hosts);
            }
        }
        self.finish_sd(&mut entry, hosts);
        self.sds.push(entry);
    }

    fn sd_value(&mut self, key: Key, param: &Param, entry: &mut SdEntry, hosts: &mut PendingHosts) {
        let sense = match key {
            Key::Size => Some(sense::SIZE),
            Key::Threads => Some(sense::THREADS),
            Key::Hitarea | Key::Offset | Key::Align => Some(sense::BYTES),
            _ => None,
        };
        if sense.is_some_and(|sense| !self.first_makes_sense(param, sense)) {
            return;
        }
        let findings = &mut self.findings;
        let second = param.values.numbers.get(1).map(|second| *second as i64);
        match key {
            Key::Host => hosts.push(param.values.words.clone()),
            Key::Lun if entry.name == "default" => {
                let message = "you may not specify the 'lun=' parameter for sd=default";
                findings.error_help(
                    param.key_place,
                    "not-in-default",
                    message,
                    "write it into each storage definition",
                );
            }
            Key::Lun => {
                let lun = param.word(findings).unwrap_or_default().to_owned();
                let lun = self.remap(&lun);
                entry.pending.push(lun);
            }
            Key::Count => entry.count = self.count(param),
            Key::Size => {
                let size = param.long(findings).unwrap_or_default();
                entry.size_bytes = self.divided(param, size, second);
            }
            Key::Threads => {
                let threads = param.int(findings).unwrap_or(1);
                entry.threads = threads / second.unwrap_or(1).max(1);
            }
            Key::Hitarea => {
                entry.hitarea_bytes = param.long(findings).unwrap_or_default();
                self.not_concatenated(param);
            }
            Key::Offset => entry.offset_bytes = self.sectors(param),
            Key::Align => entry.align_bytes = self.sectors(param),
            Key::Openflags => entry.open = self.open_flags(param),
            Key::Range => {
                entry.range = self.range(param);
                self.not_concatenated(param);
            }
            Key::Dedup => {
                let mut dedup = entry.dedup.take().unwrap_or_else(|| self.flags.dedup.clone());
                self.dedup(&mut dedup, param, false);
                entry.dedup = Some(dedup);
            }
            Key::Streams => findings.error_help(
                param.key_place,
                "moved-parameter",
                "'streams=' is no storage definition parameter any more",
                "write it into the workload definition: `wd=wd1,streams=4`",
            ),
            Key::Replay => self.set_replay(param.key_place),
            Key::Reset => {
                let message = format!("resets of devices (`{}=`) are not done", param.key);
                findings.refuse(param.key_place, "no-reset", message);
            }
            Key::Sd | Key::Ignored => {}
        }
    }

    /// Reads `count=(start,count)`.
    pub(super) fn count(&mut self, param: &Param) -> Option<(i64, i64)> {
        match param.values.numbers.as_slice() {
            [start, count] if *count as i32 > 0 => {
                Some((i64::from(*start as i32), i64::from((*count as i32).min(100_000))))
            }
            _ => {
                self.wrong(param, "the first number and how many, such as count=(1,5)");
                None
            }
        }
    }

    /// Divides a size by the second value of its parameter.
    pub(super) fn divided(&mut self, param: &Param, size: i64, divisor: Option<i64>) -> i64 {
        match divisor {
            Some(0) => {
                self.wrong(param, "a divisor that is not 0");
                size
            }
            Some(divisor) => size.wrapping_div(divisor),
            None => size,
        }
    }

    /// Reads `range=(low,high)`.
    pub(super) fn range(&mut self, param: &Param) -> Option<(f64, f64)> {
        let [low, high, ..] = param.values.numbers.as_slice() else {
            let wanted = format!("a beginning and an end, such as {}=(10,20)", param.key);
            self.wrong(param, &wanted);
            return None;
        };
        Some((*low, *high))
    }

    fn not_concatenated(&mut self, param: &Param) {
        if self.settings.concatenate_sds {
            let message = format!("'{}=' may not be used with concatenatesds=yes", param.key);
            self.findings.error(param.key_place, "exclusive-parameters", message);
        }
    }

    /// Reads an offset or alignment.
    fn sectors(&mut self, param: &Param) -> i64 {
        self.not_concatenated(param);
        let bytes = param.long(&mut self.findings).unwrap_or_default();
        if bytes % 512 != 0 {
            let message = format!("SD {}= parameter must be multiple of 512 bytes", param.key);
            self.findings.error(param.place, "wrong-value", message);
        }
        if self.settings.validate {
            let message = format!("data validation and {}= are mutually exclusive", param.key);
            self.findings.error(param.key_place, "exclusive-parameters", message);
        }
        bytes
    }

    /// Brings `lun=` and `host=` together.
    fn finish_sd(&mut self, entry: &mut SdEntry, hosts: &mut PendingHosts) {
        let luns = std::mem::take(&mut entry.pending);
        if luns.is_empty() {
            self.findings.error_help(
                entry.place,
                "missing-lun",
                format!("no lun name specified for sd={}", entry.name),
                "write `lun=` with a file or device, and no blank behind a comma",
            );
            hosts.clear();
            return;
        }
        if luns.len() == 1 && hosts.is_empty() {
            hosts.push(entry.hosts.clone());
        }
        if luns.len() == hosts.len() {
            self.pair(entry, &luns, hosts);
        } else {
            self.findings.error_help(
                entry.place,
                "unpaired-lun",
                format!("'host=' and 'lun=' must be defined in pairs for sd={}", entry.name),
                format!("there are {} lun= and {} host=", luns.len(), hosts.len()),
            );
        }
        hosts.clear();
    }

    fn pair(&mut self, entry: &mut SdEntry, luns: &[String], hosts: &PendingHosts) {
        for (lun, names) in luns.iter().zip(hosts) {
            let found = self.select_hosts(names, entry.place);
            self.n_luns += found.len();
            if self.n_luns > LUNS_MAX {
                self.too_many(entry.place, "storage definitions at hosts", LUNS_MAX);
                return;
            }
            entry.luns.extend(found.into_iter().map(|host| (host, lun.clone())));
        }
    }

    /// Carries `count=` out, in the order in which Vdbench does, and looks for equal names.
    fn repeat_sds(&mut self) {
        loop {
            let (mut is_found, mut idx) = (false, 0);
            while idx < self.sds.len() {
                if let Some((start, count)) = self.sds[idx].count {
                    is_found = true;
                    let entry = self.sds.remove(idx);
                    let count = self.room_for(&entry, count);
                    for number in start..start.saturating_add(count) {
                        let copy = self.counted(&entry, number);
                        self.sds.push(copy);
                    }
                }
                idx += 1;
            }
            if !is_found {
                break;
            }
        }
        let mut names = std::collections::HashSet::new();
        for entry in &self.sds {
            let mut hosts = std::collections::HashSet::new();
            let is_double = !names.insert(&entry.name)
                || !entry.luns.iter().all(|(host, _)| hosts.insert(*host));
            if is_double {
                let message = format!("duplicate SD names not allowed: {}", entry.name);
                self.findings.error_help(
                    entry.place,
                    "duplicate-name",
                    message,
                    "give each storage definition a name of its own, and each of its hosts once",
                );
            }
        }
    }

    /// Returns how many copies there is room for: all, or none.
    fn room_for(&mut self, entry: &SdEntry, count: i64) -> i64 {
        self.n_luns = self.n_luns.saturating_add(entry.luns.len().saturating_mul(count as usize));
        if self.n_luns > LUNS_MAX || self.sds.len() + count as usize > DEFINITIONS_MAX {
            self.too_many(entry.place, "storage definitions at hosts", LUNS_MAX);
            return 0;
        }
        count
    }

    fn counted(&mut self, entry: &SdEntry, number: i64) -> SdEntry {
        let mut copy = SdEntry { count: None, ..entry.clone() };
        let name = counted_name(&entry.name, number);
        let luns: Option<Vec<(usize, String)>> = (entry.luns.iter())
            .map(|(host, lun)| Some((*host, counted_name(lun, number)?)))
            .collect();
        match (name, luns) {
            (Some(name), Some(luns)) => (copy.name, copy.luns) = (name, luns),
            _ => self.findings.error_help(
                entry.place,
                "wrong-mask",
                format!("the mask of sd={} takes no number", entry.name),
                "write one such as `%d` or `%04d`",
            ),
        }
        copy
    }
}

/// Puts a number into a name: at a `printf` mask, at `*`, or at the end.
fn counted_name(name: &str, number: i64) -> Option<String> {
    if !name.contains('%') {
        return Some(if name.contains('*') {
            name.replace('*', &number.to_string())
        } else {
            format!("{name}{number}")
        });
    }
    let mut made = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        made.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (width, kind) = rest.split_at(digits);
        let wide = width.parse::<usize>().unwrap_or(0).min(100);
        match (kind.chars().next()?, width.starts_with('0')) {
            ('%', _) => made.push('%'),
            ('d', true) => made.push_str(&format!("{number:0wide$}")),
            ('d', false) => made.push_str(&format!("{number:wide$}")),
            ('x', true) => made.push_str(&format!("{number:0wide$x}")),
            ('x', false) => made.push_str(&format!("{number:wide$x}")),
            _ => return None,
        }
        rest = &kind[1..];
    }
    made.push_str(rest);
    Some(made)
}
