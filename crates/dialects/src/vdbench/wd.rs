//! Workload definitions.

use super::findings::Place;
use super::input::Input;
use super::keywords::Name::{Any, Full};
use super::keywords::Table;
use super::params::Param;
use super::run::{OpenFlags, Seek};
use super::sense;
use super::values::java_number;

/// A workload definition as written.
#[derive(Clone, Debug)]
pub(super) struct WdEntry {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) sds: Vec<String>,
    pub(super) sds_place: Place,
    pub(super) hosts: Vec<String>,
    pub(super) threads: i64,
    pub(super) streams: i64,
    pub(super) priority: Option<i64>,
    /// 0 is none.
    pub(super) iorate: f64,
    /// 0 is an equal part of what is left.
    pub(super) skew: f64,
    pub(super) is_hotband: bool,
    pub(super) range: Option<(f64, f64)>,
    pub(super) seek: Seek,
    pub(super) stride: Option<(i64, i64)>,
    pub(super) rhpct: f64,
    pub(super) whpct: f64,
    /// One size; sizes and percentages; or smallest, largest, alignment.
    pub(super) xfersizes: Vec<f64>,
    pub(super) rdpct: f64,
    pub(super) open: Option<OpenFlags>,
    pub(super) has_user: bool,
    written: Vec<Key>,
}

impl Default for WdEntry {
    fn default() -> Self {
        WdEntry {
            name: "default".to_owned(),
            place: Place::NONE,
            sds: Vec::new(),
            sds_place: Place::NONE,
            hosts: vec!["*".to_owned()],
            threads: 0,
            streams: 0,
            priority: None,
            iorate: 0.0,
            skew: 0.0,
            is_hotband: false,
            range: None,
            seek: Seek::Pct(100.0),
            stride: None,
            rhpct: 0.0,
            whpct: 0.0,
            xfersizes: vec![4096.0],
            rdpct: 100.0,
            open: None,
            has_user: false,
            written: Vec::new(),
        }
    }
}

impl WdEntry {
    /// Returns the same under another name.
    pub(super) fn renamed(&self, name: &str) -> Self {
        WdEntry { name: name.to_owned(), ..self.clone() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Wd,
    Sd,
    Skew,
    Xfersize,
    Rdpct,
    Wrpct,
    Range,
    Hotband,
    Seekpct,
    Stride,
    Priority,
    Iorate,
    Rhpct,
    Whpct,
    Host,
    Openflags,
    User,
    Threads,
    Streams,
}

pub(super) const TABLE: &Table<Key> = &[
    (Full("wd"), Key::Wd),
    (Full("sd"), Key::Sd),
    (Any("skew"), Key::Skew),
    (Any("xfersize"), Key::Xfersize),
    (Any("readpct"), Key::Rdpct),
    (Any("rdpct"), Key::Rdpct),
    (Any("writepct"), Key::Wrpct),
    (Any("wrpct"), Key::Wrpct),
    (Any("range"), Key::Range),
    (Any("hotband"), Key::Hotband),
    (Any("seekpct"), Key::Seekpct),
    (Any("stride"), Key::Stride),
    (Any("priority"), Key::Priority),
    (Any("iorate"), Key::Iorate),
    (Any("rhpct"), Key::Rhpct),
    (Any("whpct"), Key::Whpct),
    (Any("host"), Key::Host),
    (Full("hd"), Key::Host),
    (Any("openflags"), Key::Openflags),
    (Full("user"), Key::User),
    (Any("threads"), Key::Threads),
    (Any("streams"), Key::Streams),
];

/// `--set` changes these only where they are written.
const SET_WHERE_WRITTEN: &[Key] = &[
    Key::Wd,
    Key::Sd,
    Key::Skew,
    Key::Priority,
    Key::Iorate,
    Key::Host,
    Key::User,
    Key::Threads,
    Key::Streams,
];

impl Input<'_> {
    pub(super) fn read_wds(&mut self) {
        let mut current: Option<WdEntry> = None;
        while let Some(param) = self.take(&["fwd", "rd"]) {
            let Some(key) = self.keyword(TABLE, &param) else { continue };
            if key == Key::Wd {
                self.keep_wd(current.take());
                current = Some(self.begin_wd(&param));
            } else if let Some(mut entry) = current.take() {
                if !param.is_broken {
                    self.wd_value(key, &param, &mut entry);
                }
                self.warn_of_rivals(key, &param, &entry);
                entry.written.push(key);
                current = Some(entry);
            } else {
                self.no_definition(&param, "wd");
            }
        }
        self.keep_wd(current);
    }

    fn begin_wd(&mut self, param: &Param) -> WdEntry {
        self.plain.begin();
        let name = self.name_of(param);
        if name != "default" && !self.is_new("wd", &name) {
            let message = format!("duplicate WD names not allowed: {name}");
            self.findings.error(param.place, "duplicate-name", message);
        }
        let written = Vec::new();
        WdEntry { name, place: param.place, written, ..self.wd_default.clone() }
    }

    /// Says that a parameter takes the place of another one that the definition has as well.
    fn warn_of_rivals(&mut self, key: Key, param: &Param, entry: &WdEntry) {
        let (rival, name) = match key {
            Key::Rdpct => (Key::Wrpct, "wrpct"),
            Key::Wrpct => (Key::Rdpct, "rdpct"),
            Key::Range => (Key::Hotband, "hotband"),
            Key::Hotband => (Key::Range, "range"),
            _ => return,
        };
        if entry.written.contains(&rival) {
            let message = format!(
                "wd={}: `{}=` takes the place of the `{name}=` before it",
                entry.name, param.key
            );
            self.findings.warning(param.key_place, "overridden", message, "write one of them");
        }
    }

    fn keep_wd(&mut self, entry: Option<WdEntry>) {
        let Some(mut entry) = entry else { return };
        for param in self.sets(TABLE, &entry.written.clone(), SET_WHERE_WRITTEN) {
            if let Some(key) = self.keyword(TABLE, &param) {
                self.wd_value(key, &param, &mut entry);
            }
        }
        if entry.skew != 0.0 && entry.iorate != 0.0 && entry.name != "default" {
            let message =
                format!("wd={}: 'iorate=' and 'skew=' are mutually exclusive", entry.name);
            self.findings.error(entry.place, "exclusive-parameters", message);
        }
        if entry.name == "default" {
            self.wd_default = entry;
        } else {
            self.wds.push(entry);
        }
    }

    fn wd_value(&mut self, key: Key, param: &Param, entry: &mut WdEntry) {
        let sense = sense_of(key);
        if sense.is_some_and(|sense| !self.first_makes_sense(param, sense)) {
            return;
        }
        let findings = &mut self.findings;
        match key {
            Key::Sd => {
                if param.word(findings).is_some() {
                    entry.sds.clone_from(&param.values.words);
                    entry.sds_place = param.place;
                }
            }
            Key::Skew => entry.skew = param.number(findings).unwrap_or_default(),
            Key::Xfersize => self.wd_xfersize(param, entry),
            Key::Rdpct => entry.rdpct = param.int(findings).unwrap_or_default() as f64,
            Key::Wrpct => entry.rdpct = 100.0 - param.int(findings).unwrap_or_default() as f64,
            Key::Range | Key::Hotband => {
                entry.range = self.range(param);
                entry.is_hotband |= key == Key::Hotband;
            }
            Key::Seekpct => self.wd_seekpct(param, entry),
            Key::Stride => match param.values.numbers.as_slice() {
                [min, max] if max >= min => entry.stride = Some((*min as i64, *max as i64)),
                _ => self.wrong(param, "a smallest and a largest number: stride=(min,max)"),
            },
            Key::Priority => {
                let priority = param.int(findings).unwrap_or(1);
                if priority == 0 {
                    self.wrong(param, "1 for the highest priority, and so on");
                }
                entry.priority = Some(priority);
            }
            Key::Iorate => {
                entry.iorate = param.number(findings).unwrap_or_default();
                if param.values.numbers.len() > 1 {
                    self.wrong(param, "one rate: a workload definition takes no list");
                }
            }
            Key::Rhpct => entry.rhpct = self.hit_pct(param),
            Key::Whpct => entry.whpct = self.hit_pct(param),
            Key::Host => entry.hosts.clone_from(&param.values.words),
            Key::Openflags => entry.open = Some(self.open_flags(param)),
            Key::User => {
                entry.has_user = true;
                let message = "classes of the user (`user=`) do not run";
                findings.refuse(param.key_place, "no-user-class", message);
            }
            Key::Threads => {
                entry.threads = param.int(findings).unwrap_or_default();
                if !self.settings.concatenate_sds {
                    self.findings.error_help(
                        param.key_place,
                        "wd-threads",
                        "workload definition (WD) level thread= parameter may only be used \
                         together with 'concatenatesds=yes'",
                        "write `threads=` into the storage or the run definition",
                    );
                }
            }
            Key::Streams => {
                entry.streams = param.int(findings).unwrap_or(2);
                if entry.streams < 2 {
                    self.wrong(param, "at least two streams");
                }
            }
            Key::Wd => {}
        }
    }

    fn hit_pct(&mut self, param: &Param) -> f64 {
        if self.settings.concatenate_sds {
            let message = format!("'{}=' may not be used with concatenatesds=yes", param.key);
            self.findings.error(param.key_place, "exclusive-parameters", message);
        }
        param.number(&mut self.findings).unwrap_or_default()
    }

    /// Reads a size, a distribution, or a range with its alignment.
    fn wd_xfersize(&mut self, param: &Param, entry: &mut WdEntry) {
        let sizes = &param.values.numbers;
        let help = "write one size, sizes and their percentages such as (4k,70,8k,30), or \
                    smallest, largest and alignment";
        let message = match sizes.as_slice() {
            [] => {
                param.number(&mut self.findings);
                return;
            }
            [min, max, _] if min >= max => {
                Some("xfersize=(min,max,align): min must be below max".to_owned())
            }
            [_, _, align] if *align == 0.0 || align % 512.0 != 0.0 => {
                Some("xfersize=(min,max,align): align must be a multiple of 512".to_owned())
            }
            [_] | [_, _, _] => None,
            _ if !sizes.len().is_multiple_of(2) => {
                Some("xfersize distribution list must be in pairs".to_owned())
            }
            _ => distribution_mistake(sizes),
        };
        if let Some(message) = message {
            self.findings.error_help(param.place, "wrong-xfersize", message, help);
        } else if let [size] = sizes.as_slice() {
            self.makes_sense(param, *size, sense::SECTORS);
        }
        entry.xfersizes.clone_from(sizes);
    }

    fn wd_seekpct(&mut self, param: &Param, entry: &mut WdEntry) {
        for word in &param.values.raw {
            let is = |name: &str| name.starts_with(word.as_str());
            entry.seek = if is("sequential") {
                Seek::Seq
            } else if is("sequentialnz") || is("seqnz") {
                Seek::SeqNz
            } else if word.eq_ignore_ascii_case("eof") {
                Seek::Eof
            } else if is("random") {
                Seek::Pct(100.0)
            } else if is("poisson") {
                Seek::Poisson(3.0)
            } else {
                match (java_number(word), entry.seek) {
                    (Some(midpoint), Seek::Poisson(_)) if midpoint.is_finite() => {
                        Seek::Poisson(midpoint)
                    }
                    (Some(pct), _) => {
                        self.makes_sense(param, pct, sense::SEEK);
                        seek_of(pct)
                    }
                    (None, _) => {
                        self.wrong(param, "0 to 100, seq, seqnz, eof, random or (poisson,3)");
                        return;
                    }
                }
            };
        }
    }
}

/// Returns what the number of a parameter must be.
fn sense_of(key: Key) -> Option<sense::Sense> {
    Some(match key {
        Key::Skew | Key::Rdpct | Key::Wrpct | Key::Rhpct | Key::Whpct => sense::PERCENT,
        Key::Iorate => sense::RATE,
        Key::Threads => sense::THREADS,
        _ => return None,
    })
}

/// Says what a percentage of seeks means.
pub(super) fn seek_of(pct: f64) -> Seek {
    if pct < 0.0 {
        Seek::Eof
    } else if pct == 0.0 {
        Seek::Seq
    } else {
        Seek::Pct(pct)
    }
}

/// Returns what is wrong with sizes and percentages.
fn distribution_mistake(sizes: &[f64]) -> Option<String> {
    for size in sizes.iter().step_by(2) {
        if size % 512.0 != 0.0 {
            return Some(format!("data transfer size not multiple of 512 bytes: {}", *size as i32));
        }
    }
    let total = (sizes.iter().skip(1).step_by(2).sum::<f64>() + 0.5).floor() as i64;
    (total != 100).then(|| format!("xfersize distribution does not add up to 100: {total}"))
}
