//! The sections of a parameter file, in their order.
//!
//! General, hosts, replay groups, file system definitions, storage definitions, workloads of both
//! kinds, runs. Each section takes parameters until a keyword of a later one; a keyword of an
//! earlier one is unknown to it.

use std::collections::HashSet;

use plan::verify::{DedupeSets, FlipFlop};

use super::findings::{Findings, Place};
use super::fsd::FsdEntry;
use super::fwd::{FormatFwd, FwdEntry};
use super::hosts::HostEntry;
use super::keywords::{self, Table};
use super::lines::Reader;
use super::loops::LoopKind;
use super::options::Options;
use super::params::{Param, Params};
use super::parsed::Settings;
use super::plain::Plain;
use super::rd::RdEntry;
use super::run::SetCount;
use super::sd::SdEntry;
use super::sense::THREADS_MAX;
use super::structures::Structures;
use super::wd::WdEntry;
use super::words;
use super::written;
use crate::Loader;
use crate::fio::overrides::rest_below;

/// Most hosts, and most definitions of a kind, that `clients=` and `count=` may make; and most
/// pairs of storage definitions and hosts. Real clusters have a thousandth.
pub(super) const HOSTS_MAX: usize = 10_000;
pub(super) const DEFINITIONS_MAX: usize = 200_000;
pub(super) const LUNS_MAX: usize = 1_000_000;

/// Most definitions in all runs together: more would fill the memory before the first run.
const ENTRIES_MAX: usize = 10_000_000;

/// All that was written, section by section.
pub(super) struct Input<'a> {
    pub(super) options: &'a Options,
    pub(super) loader: &'a dyn Loader,
    pub(super) findings: Findings,
    pub(super) params: Params,
    pub(super) plain: Plain,
    /// The next parameter, which ended the section before.
    pub(super) ahead: Option<Param>,
    pub(super) settings: Settings,
    pub(super) flags: Flags,
    pub(super) hosts: Vec<HostEntry>,
    /// Names and addresses of hosts that cannot be resolved, in the kind mode.
    pub(super) unknown_hosts: Vec<(String, Place)>,
    pub(super) sds: Vec<SdEntry>,
    pub(super) wds: Vec<WdEntry>,
    /// What workloads of runs without `wd=` are.
    pub(super) wd_default: WdEntry,
    pub(super) fsds: Vec<FsdEntry>,
    pub(super) fwds: Vec<FwdEntry>,
    pub(super) fwd_default: FwdEntry,
    pub(super) fwd_format: FormatFwd,
    pub(super) rds: Vec<RdEntry>,
    /// What the runs so far have made.
    pub(super) structures: Structures,
    /// Names given so far, with the kind of what has them.
    names: HashSet<(&'static str, String)>,
    /// Definitions in all runs so far.
    n_entries: usize,
    pub(super) n_luns: usize,
    /// How often each of `options.set` was applied.
    pub(super) n_set: Vec<usize>,
    /// How often each of `options.remap` was applied.
    pub(super) n_remapped: Vec<usize>,
}

/// What sections must know of others.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags {
    /// File system definitions are in use.
    pub(super) is_files: bool,
    /// A trace is replayed.
    pub(super) is_replay: bool,
    /// Journal recovery was asked for.
    pub(super) is_recovery: bool,
    pub(super) dedup: Dedup,
    /// `compratio=` or `compression=` was written.
    pub(super) has_compratio: bool,
    /// `fwd_thread_adjust=no`.
    pub(super) no_thread_adjust: bool,
}

/// Deduplication as asked for in general or by a storage definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Dedup {
    pub(super) is_on: bool,
    pub(super) ratio: Option<f64>,
    pub(super) unit_bytes: u64,
    pub(super) sets: Option<SetCount>,
    pub(super) flip_flop: Option<FlipFlop>,
    pub(super) hot_sets: Vec<(u32, u32)>,
    pub(super) place: Option<Place>,
}

impl Dedup {
    /// Returns what is asked for, once it is checked.
    pub(super) fn sets(&self) -> DedupeSets {
        DedupeSets {
            ratio: self.ratio.unwrap_or(1.0),
            unit_bytes: written::unit_bytes(self.unit_bytes),
            sets: self.sets.unwrap_or(SetCount::Pct(5.0)),
            flip_flop: self.flip_flop.unwrap_or(FlipFlop::None),
            hot_sets: self.hot_sets.clone(),
        }
    }
}

impl<'a> Input<'a> {
    pub(super) fn new(options: &'a Options, loader: &'a dyn Loader) -> Self {
        Input {
            options,
            loader,
            findings: Findings::default(),
            params: Params::new(Vec::new(), "", false),
            plain: Plain::default(),
            ahead: None,
            settings: Settings::default(),
            flags: Flags::default(),
            hosts: Vec::new(),
            unknown_hosts: Vec::new(),
            sds: Vec::new(),
            wds: Vec::new(),
            wd_default: WdEntry::default(),
            fsds: Vec::new(),
            fwds: Vec::new(),
            fwd_default: FwdEntry::default(),
            fwd_format: FormatFwd::default(),
            rds: Vec::new(),
            structures: Structures::default(),
            names: HashSet::new(),
            n_entries: 0,
            n_luns: 0,
            n_set: vec![0; options.set.len()],
            n_remapped: vec![0; options.remap.len()],
        }
    }

    /// Reads all sections of what a reader has gathered.
    pub(super) fn read(&mut self, reader: Reader<'a>) {
        self.params = Params::new(reader.lines, &self.options.rd_additions, self.is_kind());
        self.apply_switches();
        self.advance();
        if self.ahead.is_none() {
            let message = "there is no parameter: nothing but comments and empty lines";
            self.findings.error(Place::NONE, "empty-file", message);
            return;
        }
        self.read_general();
        self.read_hosts();
        self.replicate_hosts();
        self.read_replay_groups();
        self.read_fsds();
        self.read_sds();
        self.read_wds();
        self.read_fwds();
        self.read_rds();
        if self.is_kind() {
            self.check_names();
        }
        self.check_sets();
    }

    pub(super) fn is_kind(&self) -> bool {
        self.options.is_kind()
    }

    /// Takes the next parameter.
    pub(super) fn advance(&mut self) {
        self.ahead = self.params.next(&mut self.findings);
    }

    /// Takes the next parameter of a section; leaves it where a section of `ends` begins, and
    /// returns none at the end of the file too.
    pub(super) fn take(&mut self, ends: &[&str]) -> Option<Param> {
        let Some(param) = self.ahead.take() else {
            self.plain.end_section();
            return None;
        };
        self.params.look(&param);
        if ends.contains(&param.key.as_str()) {
            self.ahead = Some(param);
            self.plain.end_section();
            return None;
        }
        self.plain.take(&param);
        self.advance();
        Some(param)
    }

    /// Returns what a keyword stands for; reports one that is unknown.
    pub(super) fn keyword<K: Copy>(&mut self, table: &Table<K>, param: &Param) -> Option<K> {
        let found = keywords::find(table, &param.key);
        self.plain.name(table, param);
        if found.is_none() {
            let message = format!("unknown keyword: {}", param.key);
            let owners = words::sections_of(&param.key);
            let help = if words::SECTIONS.iter().any(|(section, _)| *section == param.key) {
                format!("{}: move it in front of those that are later", words::ORDER)
            } else if let Some(first) = owners.first() {
                let owner = if *first == "general" {
                    "is a general parameter".to_owned()
                } else {
                    format!("belongs to `{}=`", owners.join("=` or `"))
                };
                format!("`{}=` {owner}; {}", param.key, words::ORDER)
            } else {
                match keywords::nearest(table, &param.key) {
                    Some(near) => format!("write `{near}=`?"),
                    None => "leave it out, or see which parameters this definition has".to_owned(),
                }
            };
            self.findings.error_help(param.key_place, "unknown-keyword", message, help);
        }
        found
    }

    /// Returns the name that begins a definition.
    pub(super) fn name_of(&mut self, param: &Param) -> String {
        let n_names = param.values.words.len();
        if n_names > 1 && self.is_kind() {
            let message =
                format!("`{}=` begins one definition, and has {n_names} names", param.key);
            let help = "write a definition for each; Vdbench takes the first name alone";
            self.findings.error_help(param.place, "too-many-values", message, help);
        }
        param.word(&mut self.findings).unwrap_or("?").to_owned()
    }

    /// Says whether a name is new among those of a kind.
    pub(super) fn is_new(&mut self, kind: &'static str, name: &str) -> bool {
        self.names.insert((kind, name.to_owned()))
    }

    /// Reports that there is too much of something, once.
    pub(super) fn too_many(&mut self, place: Place, what: &str, max: usize) {
        if self.is_new("too many", what) {
            let message = format!("more than {max} {what}");
            self.findings.error_help(place, "too-many", message, "write fewer, or split the file");
        }
    }

    /// Says whether so many runs with so many definitions each are not too much.
    pub(super) fn has_room(&mut self, place: Place, n_runs: usize, n_each: usize) -> bool {
        self.n_entries = self.n_entries.saturating_add(n_runs.saturating_mul(n_each));
        if self.n_entries > ENTRIES_MAX {
            self.too_many(place, "definitions in all runs together", ENTRIES_MAX);
        }
        self.n_entries <= ENTRIES_MAX
    }

    /// Says whether all threads of a run together are not too many.
    pub(super) fn has_threads(&mut self, rd: &RdEntry, n_threads: impl Iterator<Item = i64>) {
        let sum = n_threads.fold(0_u64, |sum, n| sum.saturating_add(n.max(1) as u64));
        if sum <= THREADS_MAX {
            return;
        }
        let looped = rd.loops.iter().find(|looped| looped.kind == LoopKind::Threads);
        let message =
            format!("rd={}: all threads of a run come to {sum}, more than {THREADS_MAX}", rd.name);
        let help = "lower `threads=` or `forthreads=`, or use fewer definitions in one run";
        let place = looped.map_or(rd.place, |looped| looped.place);
        self.findings.error_help(place, "too-many-threads", message, help);
    }

    /// Returns the `--set` overrides that fit a section, as parameters.
    pub(super) fn sets<K: Copy + PartialEq>(
        &mut self,
        table: &Table<K>,
        written: &[K],
        only_where_written: &[K],
    ) -> Vec<Param> {
        let mut params = Vec::new();
        for (idx, (key, value)) in self.options.set.iter().enumerate() {
            let Some(found) = keywords::find_full(table, key) else { continue };
            if only_where_written.contains(&found) && !written.contains(&found) {
                continue;
            }
            if let Some(param) = Param::made(key, value, &mut self.findings) {
                self.n_set[idx] += 1;
                self.plain.set(&param);
                params.push(param);
            }
        }
        params
    }

    fn check_sets(&mut self) {
        for ((key, value), n_set) in self.options.set.iter().zip(&self.n_set) {
            if *n_set == 0 {
                self.findings.error_help(
                    Place::NONE,
                    "unused-set",
                    format!("`--set {key}={value}` fits no definition"),
                    "write the keyword in full, such as `--set elapsed=10`",
                );
            }
        }
        for ((from, to), n_remapped) in self.options.remap.iter().zip(&self.n_remapped) {
            if *n_remapped == 0 {
                self.findings.warning(
                    Place::NONE,
                    "unused-remap",
                    format!("`--remap {from}={to}` fits no lun and no anchor"),
                    "whole components match: `/mnt` fits `/mnt/a`, not `/mnt2`",
                );
            }
        }
    }

    /// Returns the files in plain form.
    pub(super) fn plain_text(&mut self) -> String {
        let plain = std::mem::take(&mut self.plain);
        plain.text(|path| self.remap(path))
    }

    /// Replaces the prefix of a path as `--remap` says.
    pub(super) fn remap(&mut self, path: &str) -> String {
        for (idx, (from, to)) in self.options.remap.iter().enumerate() {
            let Some(rest) = rest_below(path, from) else { continue };
            self.n_remapped[idx] += 1;
            let to = if rest.is_empty() { to.as_str() } else { to.trim_end_matches('/') };
            return format!("{to}{rest}");
        }
        path.to_owned()
    }

    /// Reports that a section ended the file, where Vdbench wants another behind it.
    pub(super) fn end_of_file(&mut self, wanted: &str) {
        let message = "unexpected end of the parameter file";
        let help = format!("there must be {wanted}");
        self.findings.error_help(Place::NONE, "unexpected-end", message, help);
    }
}

/// Says whether a pattern that may end in `*` fits a name.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(stem) => name.starts_with(stem),
        None => pattern == name,
    }
}
