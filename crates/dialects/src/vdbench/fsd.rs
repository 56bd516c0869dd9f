//! File system definitions.

use std::collections::{HashMap, HashSet};

use super::findings::Place;
use super::input::{DEFINITIONS_MAX, Input};
use super::keywords::Name::{Any, Full, Stem};
use super::keywords::Table;
use super::params::Param;
use super::run::OpenFlags;
use super::sense;

/// Most files of one folder.
const FILES_PER_FOLDER_MAX: i64 = 10_000_000;

/// A file system definition as written.
#[derive(Clone, Debug)]
pub(super) struct FsdEntry {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) anchor: String,
    pub(super) depth: i64,
    pub(super) width: i64,
    pub(super) files: i64,
    pub(super) bottom_only: bool,
    /// One size; sizes and percentages; or an average and 0.
    pub(super) sizes: Vec<f64>,
    /// `None` is all.
    pub(super) total_bytes: Option<i64>,
    /// 0 is all.
    pub(super) working_set_bytes: i64,
    pub(super) is_shared: bool,
    pub(super) mask: Option<(String, String)>,
    pub(super) open: OpenFlags,
    count: Option<(i64, i64)>,
    written: Vec<Key>,
}

impl Default for FsdEntry {
    fn default() -> Self {
        FsdEntry {
            name: "default".to_owned(),
            place: Place::NONE,
            anchor: String::new(),
            depth: 1,
            width: 1,
            files: 10,
            bottom_only: true,
            sizes: vec![4096.0],
            total_bytes: None,
            working_set_bytes: 0,
            is_shared: false,
            mask: None,
            open: OpenFlags::default(),
            count: None,
            written: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Fsd,
    Anchor,
    Ignored,
    Host,
    Width,
    Depth,
    Sizes,
    Shared,
    WorkingSet,
    TotalSize,
    Files,
    Distribution,
    Cleanup,
    Openflags,
    Count,
    Dedup,
    Mask,
}

pub(super) const TABLE: &Table<Key> = &[
    (Full("fsd"), Key::Fsd),
    (Any("anchor"), Key::Anchor),
    (Any("journal"), Key::Ignored),
    (Any("host"), Key::Host),
    (Full("hd"), Key::Host),
    (Any("width"), Key::Width),
    (Any("depth"), Key::Depth),
    (Any("sizes"), Key::Sizes),
    (Any("shared"), Key::Shared),
    (Any("wss"), Key::WorkingSet),
    (Any("workingsetsize"), Key::WorkingSet),
    (Any("total_size"), Key::TotalSize),
    (Any("totalsize"), Key::TotalSize),
    (Any("files"), Key::Files),
    (Any("distribution"), Key::Distribution),
    (Any("cleanup"), Key::Cleanup),
    (Any("openflags"), Key::Openflags),
    (Full("log"), Key::Ignored),
    (Any("count"), Key::Count),
    (Stem("dedup"), Key::Dedup),
    (Full("mask"), Key::Mask),
    // For `--set`, which wants keywords in full.
    (Full("size"), Key::Sizes),
];

/// `--set` changes these only where they are written.
const SET_WHERE_WRITTEN: &[Key] =
    &[Key::Fsd, Key::Anchor, Key::Host, Key::WorkingSet, Key::TotalSize, Key::Count, Key::Dedup];

impl Input<'_> {
    pub(super) fn read_fsds(&mut self) {
        let mut default = FsdEntry::default();
        let mut current: Option<FsdEntry> = None;
        while let Some(param) = self.take(&["rd", "wd", "fwd", "sd"]) {
            let Some(key) = self.keyword(TABLE, &param) else { continue };
            if key == Key::Fsd {
                self.keep_fsd(current.take(), &mut default);
                current = Some(self.begin_fsd(&param, &default));
            } else if let Some(mut entry) = current.take() {
                if !param.is_broken {
                    self.fsd_value(key, &param, &mut entry);
                }
                entry.written.push(key);
                current = Some(entry);
            } else {
                self.no_definition(&param, "fsd");
            }
        }
        self.keep_fsd(current, &mut default);
        for idx in 0..self.fsds.len() {
            let entry = self.fsds[idx].clone();
            self.check_fsd(&entry);
        }
        self.check_anchors();
        self.repeat_fsds();
    }

    fn begin_fsd(&mut self, param: &Param, default: &FsdEntry) -> FsdEntry {
        self.plain.begin();
        self.flags.is_files = true;
        let name = self.name_of(param);
        if self.settings.validate && name.len() > 8 && name != "default" {
            let message = format!("with data validation an FSD name has at most 8 bytes: {name}");
            self.findings.error(param.place, "wrong-name", message);
        }
        FsdEntry { name, place: param.place, written: Vec::new(), ..default.clone() }
    }

    fn keep_fsd(&mut self, entry: Option<FsdEntry>, default: &mut FsdEntry) {
        let Some(mut entry) = entry else { return };
        for param in self.sets(TABLE, &entry.written.clone(), SET_WHERE_WRITTEN) {
            if let Some(key) = self.keyword(TABLE, &param) {
                self.fsd_value(key, &param, &mut entry);
            }
        }
        if entry.name == "default" {
            *default = entry;
        } else {
            self.fsds.push(entry);
        }
    }

    fn fsd_value(&mut self, key: Key, param: &Param, entry: &mut FsdEntry) {
        let sense = match key {
            Key::Width | Key::Depth | Key::Files => Some(sense::COUNT),
            Key::Sizes | Key::WorkingSet => Some(sense::BYTES),
            _ => None,
        };
        if sense.is_some_and(|sense| !self.first_makes_sense(param, sense)) {
            return;
        }
        let findings = &mut self.findings;
        let second = param.values.numbers.get(1).map(|second| *second as i64);
        match key {
            Key::Anchor => {
                let anchor = param.word(findings).unwrap_or_default().to_owned();
                entry.anchor = self.remap(&anchor);
            }
            Key::Width => entry.width = param.int(findings).unwrap_or(1),
            Key::Depth => entry.depth = param.int(findings).unwrap_or(1),
            Key::Files => entry.files = param.int(findings).unwrap_or(1),
            Key::Sizes => {
                if param.number(findings).is_some() {
                    entry.sizes.clone_from(&param.values.numbers);
                }
            }
            Key::Shared => {
                let word = param.word(findings).unwrap_or("no");
                entry.is_shared = word.to_lowercase().starts_with('y');
            }
            Key::WorkingSet => {
                let size = param.long(findings).unwrap_or_default();
                entry.working_set_bytes = self.divided(param, size, second);
            }
            Key::TotalSize => {
                let size = param.long(findings).unwrap_or_default();
                let size = self.divided(param, size, second);
                if size < 0 {
                    self.wrong(param, "bytes: a percentage is only for run definitions");
                }
                entry.total_bytes = Some(size);
            }
            Key::Distribution => match param.word(findings) {
                Some("bottom") => entry.bottom_only = true,
                Some("all") => entry.bottom_only = false,
                _ => self.wrong(param, "bottom or all"),
            },
            Key::Openflags => entry.open = self.open_flags(param),
            Key::Count => entry.count = self.count(param),
            Key::Mask => self.fsd_mask(param, entry),
            Key::Host | Key::Cleanup | Key::Dedup => self.not_for_fsd(key, param),
            Key::Fsd | Key::Ignored => {}
        }
    }

    fn not_for_fsd(&mut self, key: Key, param: &Param) {
        let (message, help) = match key {
            Key::Host => (
                "no 'host=' parameter is allowed for a file system definition",
                "write `host=` into the workload definition (`fwd=`)",
            ),
            Key::Cleanup => ("'cleanup=' parameter is obsolete", "use `format=` of the run"),
            _ => (
                "file system definitions have no dedup parameters of their own",
                "write them before the first definition, for everything",
            ),
        };
        self.findings.error_help(param.key_place, "not-in-fsd", message, help);
    }

    fn fsd_mask(&mut self, param: &Param, entry: &mut FsdEntry) {
        let mask = match param.values.words.as_slice() {
            [file] => Some((file.clone(), "vdb.%d_%d.dir".to_owned())),
            [file, folder] => Some((file.clone(), folder.clone())),
            _ => None,
        };
        let is_fine = |(file, folder): &(String, String)| {
            file.starts_with("vdb")
                && folder.starts_with("vdb")
                && file.strip_suffix(".file").is_some()
                && folder.strip_suffix(".dir").is_some()
        };
        entry.mask = mask.filter(is_fine);
        if entry.mask.is_none() {
            self.wrong(param, "masks that begin with `vdb` and end in `.file` and `.dir`");
        }
    }

    fn check_fsd(&mut self, entry: &FsdEntry) {
        if entry.anchor.is_empty() {
            self.findings.error_help(
                entry.place,
                "missing-anchor",
                format!("directory name required for fsd={}", entry.name),
                "write `anchor=` with a folder",
            );
        }
        if self.is_kind() && (entry.depth < 1 || entry.width < 1) {
            let message = format!("fsd={}: depth= and width= are at least 1", entry.name);
            self.findings.error(entry.place, "wrong-value", message);
        }
        if entry.sizes.len() == 2 && entry.sizes[1] == 0.0 {
            return;
        }
        if entry.files <= 0 {
            let message = format!("fsd={}: 'files=' must be greater than zero", entry.name);
            self.findings.error(entry.place, "wrong-value", message);
        }
        if entry.files > FILES_PER_FOLDER_MAX {
            let message =
                format!("fsd={}: more than 10 million files in a single folder", entry.name);
            self.findings.error_help(entry.place, "too-many-files", message, "add folders");
        }
        if entry.sizes.len() == 1 {
            return;
        }
        let total: f64 = entry.sizes.iter().skip(1).step_by(2).sum();
        if !entry.sizes.len().is_multiple_of(2) || total as i64 != 100 {
            self.findings.error_help(
                entry.place,
                "wrong-sizes",
                format!("fsd={}: percentages of 'sizes=' must add up to 100", entry.name),
                "write one size, or pairs such as (4k,70,8k,30)",
            );
        }
    }

    /// Writes an anchor in one way wherever several definitions name it.
    fn unite_anchors(&mut self) {
        let mut first_ways: HashMap<String, String> = HashMap::new();
        for entry in self.fsds.iter_mut().filter(|entry| !entry.anchor.is_empty()) {
            let real = self.loader.real_path(&entry.anchor);
            let first = first_ways.entry(real).or_insert_with(|| entry.anchor.clone());
            entry.anchor.clone_from(first);
        }
    }

    /// An anchor may not lie within another.
    fn check_anchors(&mut self) {
        if self.is_kind() {
            self.unite_anchors();
        }
        let is_kind = self.is_kind();
        let folder = |anchor: &str| {
            let real = is_kind.then(|| self.loader.real_path(anchor));
            format!("{}/", real.as_deref().unwrap_or(anchor))
        };
        let mut anchors: Vec<(String, usize)> = (self.fsds.iter().enumerate())
            .filter(|(_, entry)| !entry.anchor.is_empty())
            .map(|(idx, entry)| (folder(&entry.anchor), idx))
            .collect();
        anchors.sort();
        for pair in anchors.windows(2) {
            if pair[0].0 != pair[1].0 && pair[1].0.starts_with(&pair[0].0) {
                let (outer, inner) = (&self.fsds[pair[0].1], &self.fsds[pair[1].1]);
                let message = format!(
                    "anchors may not be parents or children of each other: fsd={} and fsd={}",
                    outer.name, inner.name
                );
                let place = inner.place;
                let help = "give each file system definition a folder of its own";
                self.findings.error_help(place, "nested-anchors", message, help);
            }
        }
    }

    /// Carries `count=` out, in the order in which Vdbench does, and looks for equal names.
    fn repeat_fsds(&mut self) {
        let (mut plain, mut doubles) = (HashSet::new(), Vec::new());
        for entry in &self.fsds {
            let name = entry.name.to_ascii_lowercase();
            if plain.contains(&name) {
                doubles.push((entry.name.clone(), entry.place));
            }
            if entry.count.is_none() {
                plain.insert(name);
            }
        }
        loop {
            let (mut is_found, mut idx) = (false, 0);
            while idx < self.fsds.len() {
                if let Some((start, count)) = self.fsds[idx].count {
                    is_found = true;
                    let entry = self.fsds.remove(idx);
                    if self.fsds.len() + count as usize > DEFINITIONS_MAX {
                        self.too_many(entry.place, "file system definitions", DEFINITIONS_MAX);
                        continue;
                    }
                    for number in start..start.saturating_add(count) {
                        self.fsds.push(FsdEntry {
                            count: None,
                            name: format!("{}{number}", entry.name),
                            anchor: format!("{}{number}", entry.anchor),
                            ..entry.clone()
                        });
                    }
                }
                idx += 1;
            }
            if !is_found {
                break;
            }
        }
        let mut names = HashSet::new();
        for entry in &self.fsds {
            if !names.insert(&entry.name) && doubles.iter().all(|(name, _)| *name != entry.name) {
                doubles.push((entry.name.clone(), entry.place));
            }
        }
        for (name, place) in doubles {
            let message = format!("duplicate FSD names not allowed: {name}");
            let help = "give each file system definition a name of its own";
            self.findings.error_help(place, "duplicate-name", message, help);
        }
    }
}
