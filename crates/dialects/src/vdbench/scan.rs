//! The parameters of a file as its sections take them, one by one; and all that was found wrong.

use std::collections::HashSet;

use super::findings::{Findings, SourceRange};
use super::head::Head;
use super::known::Known;
use super::lines::Line;
use super::number_rule::NumberRule;
use super::options::Options;
use super::params::{DEFINITIONS, Param, Params};
use super::plain::PlainForm;
use crate::Loader;
use crate::overrides::rest_below;

/// In which order definitions stand.
pub(super) const ORDER: &str =
    "definitions come in the order general parameters, hd, rg, fsd or sd, wd or fwd, rd";

/// A file that is being read.
pub(super) struct Scan<'a> {
    pub(super) options: &'a Options,
    pub(super) loader: &'a dyn Loader,
    pub(super) findings: Findings,
    pub(super) plain: PlainForm,
    pub(super) known: Known,
    params: Params,
    /// The next parameter, which ended the section before.
    ahead: Option<Param>,
    /// Names given so far, with the kind of what has them.
    names: HashSet<(&'static str, String)>,
    /// How often each of `options.set` was applied.
    n_set: Vec<usize>,
    /// How often each of `options.remap` was applied.
    n_remapped: Vec<usize>,
    /// Returns the sections that have a keyword.
    sections_of: fn(&str) -> Vec<&'static str>,
}

impl<'a> Scan<'a> {
    /// Begins with the lines of a file. `sections_of` says which sections have a keyword.
    pub(super) fn new(
        lines: Vec<Line>,
        options: &'a Options,
        loader: &'a dyn Loader,
        findings: Findings,
        sections_of: fn(&str) -> Vec<&'static str>,
    ) -> Self {
        Scan {
            options,
            loader,
            findings,
            plain: PlainForm::default(),
            known: Known::default(),
            params: Params::new(lines, &options.rd_additions, options.is_kind()),
            ahead: None,
            names: HashSet::new(),
            n_set: vec![0; options.set.len()],
            n_remapped: vec![0; options.remap.len()],
            sections_of,
        }
    }

    pub(super) fn is_kind(&self) -> bool {
        self.options.is_kind()
    }

    /// Goes on to the next parameter.
    pub(super) fn advance(&mut self) {
        self.ahead = self.params.next(&mut self.findings);
    }

    /// Returns whether there is no further parameter.
    pub(super) fn is_at_end(&self) -> bool {
        self.ahead.is_none()
    }

    /// Returns the lines from the one whose parameters are being taken.
    pub(super) fn lines_left(&self) -> &[Line] {
        self.params.lines_left()
    }

    /// Starts again with the line whose parameters are being taken, with other lines.
    pub(super) fn restart_with(&mut self, lines: Vec<Line>) {
        self.params.restart_with(lines);
        self.advance();
    }

    /// Takes the next parameter of a section; leaves it where a section of `ends` begins, and
    /// returns none at the end of the file too.
    pub(super) fn take(&mut self, ends: &[&str]) -> Option<Param> {
        let Some(param) = self.ahead.take() else {
            self.plain.end_section();
            return None;
        };
        self.params.list(&param);
        if ends.contains(&param.key.as_str()) {
            self.ahead = Some(param);
            self.plain.end_section();
            return None;
        }
        self.plain.take(&param);
        self.advance();
        Some(param)
    }

    /// Makes a parameter of one of `options.set`.
    pub(super) fn set(&mut self, idx: usize, key: &str, value: &str) -> Option<Param> {
        let param = Param::made(key, value, &mut self.findings)?;
        self.n_set[idx] += 1;
        self.plain.set(&param);
        Some(param)
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

    /// Returns the name that begins a definition.
    pub(super) fn name_of(&mut self, param: &Param) -> String {
        let n_names = param.values.words.len();
        let takes_more = matches!(param.key.as_str(), "hd" | "host" | "rg");
        if n_names > 1 && self.is_kind() && !takes_more {
            let message =
                format!("`{}=` begins one definition, and has {n_names} names", param.key);
            let help = "write a definition for each; Vdbench takes the first name alone";
            self.findings.error_help(param.place, "too-many-values", message, help);
        }
        param.word(&mut self.findings).unwrap_or("?").to_owned()
    }

    /// Reports a name that is too long for data validation.
    pub(super) fn check_length(&mut self, what: &str, head: &Head) {
        if self.known.general.settings.validate && head.name.len() > 8 {
            let message =
                format!("with data validation {what} name has at most 8 bytes: {}", head.name);
            self.findings.error(head.place, "wrong-name", message);
        }
    }

    /// Returns whether a name is new among those of a kind.
    pub(super) fn is_new(&mut self, kind: &'static str, name: &str) -> bool {
        self.names.insert((kind, name.to_owned()))
    }

    /// Returns whether a number makes sense; reports one that does not, in the kind mode, or that
    /// no mode takes.
    pub(super) fn makes_sense(&mut self, param: &Param, number: f64, sense: NumberRule) -> bool {
        let Some(instead) = sense.instead_of(number, self.is_kind()) else { return true };
        self.wrong(param, &instead);
        false
    }

    /// The same for the first number of a parameter.
    pub(super) fn first_makes_sense(&mut self, param: &Param, sense: NumberRule) -> bool {
        let first = param.values.numbers.first().copied();
        first.is_none_or(|number| self.makes_sense(param, number, sense))
    }

    /// The same for all numbers; the first that makes none is reported.
    pub(super) fn all_make_sense(
        &mut self,
        param: &Param,
        numbers: &[f64],
        sense: NumberRule,
    ) -> bool {
        numbers.iter().all(|number| self.makes_sense(param, *number, sense))
    }

    /// Reads bytes, divided by a second number.
    pub(super) fn divided(&mut self, param: &Param) -> i64 {
        let bytes = param.long(&mut self.findings).unwrap_or_default();
        match param.values.numbers.get(1).map(|divisor| *divisor as i64) {
            Some(0) => {
                self.wrong(param, "a divisor that is not 0");
                bytes
            }
            Some(divisor) => bytes.wrapping_div(divisor),
            None => bytes,
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

    /// Reports a value that cannot be.
    pub(super) fn wrong(&mut self, param: &Param, wanted: &str) {
        let value = super::values::unquoted(&param.text);
        let message = format!("`{}=` cannot be `{value}`", param.key);
        let help = format!("write {wanted}");
        self.findings.error_help(param.place, "wrong-value", message, help);
    }

    /// Reports a parameter that `concatenatesds=yes` excludes.
    pub(super) fn not_concatenated(&mut self, param: &Param) {
        if self.known.general.settings.concatenate_sds {
            let message = format!("'{}=' may not be used with concatenatesds=yes", param.key);
            self.findings.error(param.key_place, "exclusive-parameters", message);
        }
    }

    /// Reports a parameter that stands before its definition.
    pub(super) fn no_definition(&mut self, param: &Param, wanted: &str) {
        let message = format!("`{}=` stands before any `{wanted}=`", param.key);
        let help = format!("begin with `{wanted}=name`");
        self.findings.error_help(param.key_place, "no-definition", message, help);
    }

    /// Reports a keyword that its section does not have; `near` is one that it has.
    pub(super) fn unknown_keyword(&mut self, param: &Param, near: Option<&str>) {
        let message = format!("unknown keyword: {}", param.key);
        let owners = (self.sections_of)(&param.key);
        let help = if DEFINITIONS.contains(&param.key.as_str()) {
            format!("{ORDER}: move it in front of those that are later")
        } else if let Some(first) = owners.first() {
            let owner = if *first == "general" {
                "is a general parameter".to_owned()
            } else {
                format!("belongs to `{}=`", owners.join("=` or `"))
            };
            format!("`{}=` {owner}; {ORDER}", param.key)
        } else {
            match near {
                Some(near) => format!("write `{near}=`?"),
                None => "leave it out, or see which parameters this definition has".to_owned(),
            }
        };
        self.findings.error_help(param.key_place, "unknown-keyword", message, help);
    }

    /// Refuses a trace.
    pub(super) fn refuse_replay(&mut self, place: SourceRange) {
        self.known.is_replay = true;
        let message = "replay of traces (`rg=`, `replay=`) does not run: \
                       its trace format belongs to another tool";
        self.findings.refuse(place, "no-replay", message);
    }

    /// Reports that a section ended the file, where Vdbench wants another behind it.
    pub(super) fn end_of_file(&mut self, wanted: &str) {
        let message = "unexpected end of the parameter file";
        let help = format!("there must be {wanted}");
        self.findings.error_help(SourceRange::NONE, "unexpected-end", message, help);
    }

    /// Reports options that fitted nothing, once all is read.
    pub(super) fn check_options(&mut self) {
        for ((key, value), n_set) in self.options.set.iter().zip(&self.n_set) {
            if *n_set == 0 {
                let message = format!("`--set {key}={value}` fits no definition");
                let help = "write the keyword in full, such as `--set elapsed=10`";
                self.findings.error_help(SourceRange::NONE, "unused-set", message, help);
            }
        }
        for ((from, to), n_remapped) in self.options.remap.iter().zip(&self.n_remapped) {
            if *n_remapped == 0 {
                let message = format!("`--remap {from}={to}` fits no lun and no anchor");
                let help = "whole components match: `/mnt` fits `/mnt/a`, not `/mnt2`";
                self.findings.warning(SourceRange::NONE, "unused-remap", message, help);
            }
        }
    }

    /// Ends: returns what was found, the files in plain form, and what `parmscan.html` lists.
    pub(super) fn finish(mut self) -> (Findings, String, Vec<String>) {
        let plain = std::mem::take(&mut self.plain);
        let text = plain.text(|path| self.remap(path));
        (self.findings, text, self.params.scanned)
    }
}
