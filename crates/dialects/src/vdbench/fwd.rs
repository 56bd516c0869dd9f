//! File system workload definitions.

use super::findings::Place;
use super::input::Input;
use super::keywords::Name::{Any, Full};
use super::keywords::Table;
use super::params::Param;
use super::run::{FileOperation, OpenFlags, Select, SelectFilter, SelectOrder};
use super::sense;
use super::values::java_number;

/// A file system workload definition as written.
#[derive(Clone, Debug)]
pub(super) struct FwdEntry {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) fsds: Vec<String>,
    pub(super) hosts: Vec<String>,
    pub(super) target: Option<String>,
    pub(super) xfersizes: Vec<f64>,
    pub(super) select: Select,
    pub(super) is_sequential: bool,
    pub(super) is_nonzero: bool,
    pub(super) is_delete: bool,
    pub(super) is_shared: bool,
    /// Below 0 it is a percentage.
    pub(super) stopafter: Option<f64>,
    /// 0 is an equal part of what is left.
    pub(super) skew: f64,
    pub(super) threads: i64,
    pub(super) rdpct: Option<f64>,
    pub(super) open: Option<OpenFlags>,
    pub(super) operation: FileOperation,
    written: Vec<Key>,
}

impl Default for FwdEntry {
    fn default() -> Self {
        FwdEntry {
            name: "default".to_owned(),
            place: Place::NONE,
            fsds: Vec::new(),
            hosts: vec!["*".to_owned()],
            target: None,
            xfersizes: vec![4096.0],
            select: Select { order: SelectOrder::Seq, once: false, filter: SelectFilter::Any },
            is_sequential: true,
            is_nonzero: false,
            is_delete: false,
            is_shared: false,
            stopafter: None,
            skew: 0.0,
            threads: 1,
            rdpct: None,
            open: None,
            operation: FileOperation::Read,
            written: Vec::new(),
        }
    }
}

impl FwdEntry {
    /// Returns the same under another name.
    pub(super) fn renamed(&self, name: &str) -> Self {
        FwdEntry { name: name.to_owned(), ..self.clone() }
    }
}

/// What formats are done with: `fwd=format`.
#[derive(Clone, Debug)]
pub(super) struct FormatFwd {
    pub(super) threads: i64,
    pub(super) xfersize: f64,
    pub(super) open: Option<OpenFlags>,
}

impl Default for FormatFwd {
    fn default() -> Self {
        FormatFwd { threads: 8, xfersize: 131_072.0, open: None }
    }
}

/// Operations and their names, in the order in which Vdbench numbers them.
pub(super) const OPERATIONS: [(&str, FileOperation); 13] = [
    ("read", FileOperation::Read),
    ("write", FileOperation::Write),
    ("mkdir", FileOperation::Mkdir),
    ("rmdir", FileOperation::Rmdir),
    ("copy", FileOperation::Copy),
    ("move", FileOperation::Move),
    ("create", FileOperation::Create),
    ("delete", FileOperation::Delete),
    ("getattr", FileOperation::Getattr),
    ("setattr", FileOperation::Setattr),
    ("access", FileOperation::Access),
    ("open", FileOperation::Open),
    ("close", FileOperation::Close),
];

/// Returns the operation of a name.
pub(super) fn operation(name: &str) -> Option<FileOperation> {
    let name = name.to_lowercase();
    OPERATIONS.iter().find(|(known, _)| *known == name).map(|(_, operation)| *operation)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Fwd,
    Fsd,
    Rdpct,
    Stopafter,
    Operation,
    Fileselect,
    Fileio,
    Xfersizes,
    Skew,
    Threads,
    Target,
    Host,
    Openflags,
}

pub(super) const TABLE: &Table<Key> = &[
    (Full("fwd"), Key::Fwd),
    (Full("fsd"), Key::Fsd),
    (Any("readpct"), Key::Rdpct),
    (Any("rdpct"), Key::Rdpct),
    (Any("stopafter"), Key::Stopafter),
    (Any("operation"), Key::Operation),
    (Any("fileselect"), Key::Fileselect),
    (Full("fileio"), Key::Fileio),
    (Any("xfersizes"), Key::Xfersizes),
    (Any("skew"), Key::Skew),
    (Any("threads"), Key::Threads),
    (Any("target"), Key::Target),
    (Any("host"), Key::Host),
    (Full("hd"), Key::Host),
    (Any("openflags"), Key::Openflags),
    // For `--set`, which wants keywords in full.
    (Full("xfersize"), Key::Xfersizes),
];

/// `--set` changes these only where they are written.
const SET_WHERE_WRITTEN: &[Key] =
    &[Key::Fwd, Key::Fsd, Key::Rdpct, Key::Skew, Key::Target, Key::Host];

impl Input<'_> {
    pub(super) fn read_fwds(&mut self) {
        let mut current: Option<FwdEntry> = None;
        while let Some(param) = self.take(&["rd", "wd"]) {
            let Some(key) = self.keyword(TABLE, &param) else { continue };
            if key == Key::Fwd {
                self.keep_fwd(current.take());
                current = Some(self.begin_fwd(&param));
            } else if let Some(mut entry) = current.take() {
                if !param.is_broken {
                    self.fwd_value(key, &param, &mut entry);
                }
                entry.written.push(key);
                current = Some(entry);
            } else {
                self.no_definition(&param, "fwd");
            }
        }
        self.keep_fwd(current);
        for idx in 0..self.fwds.len() {
            let entry = self.fwds[idx].clone();
            self.check_fwd(&entry);
        }
    }

    fn begin_fwd(&mut self, param: &Param) -> FwdEntry {
        self.plain.begin();
        self.flags.is_files = true;
        let name = self.name_of(param);
        let is_special = matches!(name.as_str(), "default" | "format" | "journal_recovery");
        if !is_special && !self.is_new("fwd", &name.to_ascii_lowercase()) {
            let message = format!("duplicate FWD name: {name}");
            self.findings.error(param.place, "duplicate-name", message);
        }
        if operation(&name).is_some() {
            self.findings.error_help(
                param.place,
                "wrong-name",
                format!("fwd name may not match a valid operation: fwd={name}"),
                "give it another name",
            );
        }
        let mut entry = FwdEntry { place: param.place, ..self.fwd_default.clone() };
        entry.written.clear();
        if name == "format" {
            entry.xfersizes = vec![FormatFwd::default().xfersize];
        }
        entry.name = name;
        entry
    }

    fn keep_fwd(&mut self, entry: Option<FwdEntry>) {
        let Some(mut entry) = entry else { return };
        for param in self.sets(TABLE, &entry.written.clone(), SET_WHERE_WRITTEN) {
            if let Some(key) = self.keyword(TABLE, &param) {
                self.fwd_value(key, &param, &mut entry);
            }
        }
        match entry.name.as_str() {
            "default" => self.fwd_default = entry,
            "format" => {
                self.fwd_format = FormatFwd {
                    threads: entry.threads,
                    xfersize: entry.xfersizes.first().copied().unwrap_or(131_072.0),
                    open: entry.open,
                };
            }
            // The workload of a recovery from journals.
            "journal_recovery" => {}
            _ => self.fwds.push(entry),
        }
    }

    fn fwd_value(&mut self, key: Key, param: &Param, entry: &mut FwdEntry) {
        let sense = match key {
            Key::Rdpct | Key::Skew => Some(sense::PERCENT),
            Key::Xfersizes => Some(sense::XFERSIZE),
            Key::Threads => Some(sense::THREADS),
            _ => None,
        };
        if sense.is_some_and(|sense| !self.first_makes_sense(param, sense)) {
            return;
        }
        let findings = &mut self.findings;
        match key {
            Key::Fsd => entry.fsds.clone_from(&param.values.words),
            Key::Rdpct => entry.rdpct = param.number(findings),
            Key::Stopafter => entry.stopafter = param.number(findings),
            Key::Operation => self.fwd_operation(param, entry),
            Key::Fileselect => self.fileselect(param, entry),
            Key::Fileio => self.fileio(param, entry),
            Key::Xfersizes => {
                if param.number(findings).is_none() {
                    return;
                }
                let sizes = &param.values.numbers;
                let total: f64 = sizes.iter().skip(1).step_by(2).sum();
                if sizes.len() > 1 && total as i64 != 100 {
                    findings.error_help(
                        param.place,
                        "wrong-xfersize",
                        format!("xfersize distribution does not add up to 100: {total}"),
                        "write sizes and their percentages, such as (4k,70,8k,30)",
                    );
                }
                entry.xfersizes.clone_from(sizes);
            }
            Key::Skew => {
                entry.skew = param.number(findings).unwrap_or_default();
                if self.hosts.iter().any(|host| host.host.jvms > 1) {
                    self.findings.error_help(
                        param.key_place,
                        "skew-with-jvms",
                        "no multi-JVM supported for FWD skew",
                        "write several hosts, or `clients=`, instead of `jvms=`",
                    );
                }
            }
            Key::Threads => entry.threads = param.int(findings).unwrap_or(1),
            Key::Target => entry.target = param.word(findings).map(str::to_owned),
            Key::Host => self.fwd_host(param, entry),
            Key::Openflags => entry.open = Some(self.open_flags(param)),
            Key::Fwd => {}
        }
    }

    fn fwd_operation(&mut self, param: &Param, entry: &mut FwdEntry) {
        let Some(word) = param.word(&mut self.findings) else { return };
        match operation(word) {
            Some(operation) if param.values.words.len() == 1 => entry.operation = operation,
            Some(_) => self.findings.error_help(
                param.place,
                "too-many-values",
                format!("fwd={}: operation= accepts only one value", entry.name),
                "list operations in the run definition: `operations=(read,write)`",
            ),
            None => {
                let message = format!("unknown operation: {word}");
                let names: Vec<&str> = OPERATIONS.iter().map(|(name, _)| *name).collect();
                let help = format!("write one of {}", names.join(", "));
                self.findings.error_help(param.place, "unknown-operation", message, help);
            }
        }
    }

    /// Vdbench knows no wildcards here.
    fn fwd_host(&mut self, param: &Param, entry: &mut FwdEntry) {
        for name in &param.values.words {
            if self.hosts.iter().any(|host| host.host.label == *name) {
                continue;
            }
            let is_fitting =
                self.hosts.iter().any(|host| super::input::fits(name, &host.host.label));
            if self.is_kind() && is_fitting {
                self.findings.warning(
                    param.place,
                    "host-wildcard",
                    format!("Vdbench takes no wildcard here, and would end with host={name}"),
                    "list the hosts",
                );
                continue;
            }
            self.findings.error_help(
                param.place,
                "unknown-name",
                format!("unable to locate host {name} (no wildcards allowed)"),
                "define it with `hd=`, before the file system definitions",
            );
        }
        entry.hosts.clone_from(&param.values.words);
    }

    fn fileio(&mut self, param: &Param, entry: &mut FwdEntry) {
        let Some(first) = param.word(&mut self.findings) else { return };
        let second = param.values.words.get(1).map(String::as_str);
        if "random".starts_with(first) {
            entry.is_sequential = false;
            match second {
                Some(word) if "shared".starts_with(word) => {
                    entry.is_shared = true;
                    if self.settings.validate {
                        let message = "'fileio=(random,shared)' may not be used with validation";
                        self.findings.error(param.place, "exclusive-parameters", message);
                    }
                }
                Some(_) => self.wrong(param, "random or (random,shared)"),
                None => {}
            }
            return;
        }
        let is_nonzero = "sequentialnz".starts_with(first) || "seqnz".starts_with(first);
        if "sequential".starts_with(first) || is_nonzero {
            entry.is_sequential = true;
            entry.is_nonzero = !"sequential".starts_with(first);
            match second {
                Some(word) if "delete".starts_with(word) => entry.is_delete = true,
                Some(_) => self.wrong(param, "sequential or (sequential,delete)"),
                None => {}
            }
        } else {
            self.wrong(param, "random, (random,shared), sequential or sequentialnz");
        }
    }

    fn fileselect(&mut self, param: &Param, entry: &mut FwdEntry) {
        let select = &mut entry.select;
        for word in &param.values.raw {
            let is = |name: &str| name.starts_with(word.as_str());
            let midpoint = word.strip_prefix("midpoint=").unwrap_or(word);
            match (midpoint.parse::<i64>(), java_number(word)) {
                _ if is("random") => select.order = SelectOrder::Random,
                _ if is("sequential") => select.order = SelectOrder::Seq,
                _ if is("sequentialnz") || is("seqnz") => select.order = SelectOrder::SeqNz,
                _ if word == "once" => select.once = true,
                _ if word == "skewed" => select.order = SelectOrder::Skewed(3.0),
                _ if word == "poisson" => select.order = SelectOrder::Poisson(3.0),
                _ if word == "empty" => select.filter = SelectFilter::Empty,
                _ if word == "full" => select.filter = SelectFilter::Full,
                _ if word == "notfull" => select.filter = SelectFilter::NotFull,
                (Ok(number), _) if midpoint.len() < word.len() && number > 0 => {
                    select.order = SelectOrder::Skewed(number as f64);
                }
                (_, Some(number)) if number.is_finite() => {
                    select.order = match select.order {
                        SelectOrder::Skewed(_) => SelectOrder::Skewed(number),
                        _ => SelectOrder::Poisson(number),
                    };
                }
                _ => {
                    let wanted = "random, seq, seqnz, (poisson,3), (skewed,midpoint=3), empty, \
                                  full, notfull, and once beside them";
                    self.wrong(param, wanted);
                    return;
                }
            }
        }
    }

    fn check_fwd(&mut self, entry: &FwdEntry) {
        let is_copy = matches!(entry.operation, FileOperation::Copy | FileOperation::Move);
        let mistakes = [
            (
                entry.is_sequential && entry.is_delete && entry.rdpct.is_some(),
                "'rdpct=' and 'fileio=(sequential,delete)' are mutually exclusive",
                "leave one of them out",
            ),
            (
                entry.fsds.is_empty(),
                "fwd parameter requires at least one 'fsd='",
                "write `fsd=` with a name or a wildcard",
            ),
            (
                entry.target.is_some() && !is_copy,
                "'target=' may only be specified together with operation=move or copy",
                "leave it out, or write `operation=copy`",
            ),
        ];
        for (_, message, help) in mistakes.into_iter().filter(|(is_wrong, _, _)| *is_wrong) {
            let message = format!("fwd={}: {message}", entry.name);
            self.findings.error_help(entry.place, "exclusive-parameters", message, help);
        }
        if self.is_kind() && is_copy && entry.target.is_none() {
            let message = format!("fwd={}: copy and move need a target", entry.name);
            let help = "write `target=` with a file system definition of the same structure";
            self.findings.error_help(entry.place, "missing-target", message, help);
        }
    }
}
