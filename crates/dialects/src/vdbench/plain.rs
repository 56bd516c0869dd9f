//! Parameter files in plain form: one definition per line and keywords in full, with nothing to be
//! included, substituted, repeated for hosts, remapped or set any more.

use super::findings::SourceRange;
use super::params::Param;
use super::values::{Grammar, unquoted};

/// What was taken, in the order of the sections.
#[derive(Debug, Default)]
pub(super) struct PlainForm {
    params: Vec<SeenKeys>,
    /// Positions of those that begin a definition.
    starts: Vec<usize>,
    /// The section that is being read has ended.
    is_section_over: bool,
}

#[derive(Debug)]
struct SeenKeys {
    key: String,
    key_place: SourceRange,
    value: String,
}

impl SeenKeys {
    fn of(param: &Param) -> Self {
        SeenKeys { key: param.key.clone(), key_place: param.key_place, value: param.text.clone() }
    }
}

impl PlainForm {
    /// Takes a parameter of a section.
    pub(super) fn take(&mut self, param: &Param) {
        self.is_section_over = false;
        self.params.push(SeenKeys::of(param));
    }

    /// Notes that what was taken last begins a definition.
    pub(super) fn begin(&mut self) {
        self.starts.push(self.params.len().saturating_sub(1));
    }

    /// Notes that the section has no further parameter.
    pub(super) fn end_section(&mut self) {
        self.is_section_over = true;
    }

    /// Adds a parameter to the definition that is complete now: the next may have begun.
    pub(super) fn set(&mut self, param: &Param) {
        let n_begun = usize::from(!self.is_section_over).min(self.params.len());
        self.params.insert(self.params.len() - n_begun, SeenKeys::of(param));
    }

    /// Writes what was taken last with its keyword in full, if it has one. An abbreviation stays
    /// where the value would be read otherwise behind the full name.
    pub(super) fn name(&mut self, param: &Param, name: Option<&str>) {
        let Some(taken) = self.params.last_mut() else { return };
        if taken.key_place != param.key_place || taken.key != param.key {
            return;
        }
        let is_alike = |name: &&str| Grammar::of(name) == Grammar::of(&taken.key);
        if let Some(name) = name.filter(is_alike) {
            name.clone_into(&mut taken.key);
        }
    }

    /// Writes what was taken last with another keyword.
    pub(super) fn rename(&mut self, param: &Param, key: &str) {
        let last = self.params.last_mut().filter(|taken| taken.key_place == param.key_place);
        if let Some(taken) = last {
            key.clone_into(&mut taken.key);
        }
    }

    /// Returns the text. `path` says what stands for the path of a `lun=` or `anchor=`.
    pub(super) fn text(&self, mut path: impl FnMut(&str) -> String) -> String {
        let mut text = String::new();
        let n_general = self.starts.first().copied().unwrap_or(self.params.len());
        for (idx, SeenKeys { key, value, .. }) in self.params.iter().enumerate() {
            let begins = self.starts.binary_search(&idx).is_ok();
            if idx > 0 {
                text.push(if begins || idx < n_general { '\n' } else { ',' });
            }
            let is_path = matches!(key.as_str(), "lun" | "anchor") && !value.starts_with('(');
            let value = if is_path { path(&unquoted(value)) } else { unquoted_but(value) };
            let is_bare = !is_path || !value.contains([' ', ',', '=', '-', '(', ')']);
            text.push_str(key);
            text.push('=');
            if is_bare {
                text.push_str(&value);
            } else {
                text.extend(["\"", &value, "\""]);
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// Returns a value with quotes around those of its words that need them.
fn unquoted_but(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for word in value.split_inclusive(['(', ')', ',', '-']) {
        let end = word.trim_end_matches(['(', ')', ',', '-']).len();
        let (said, cut) = word.split_at(end);
        let plain = unquoted(said);
        if plain != said || said.chars().any(|c| c <= ' ') {
            text.extend(["\"", &plain, "\""]);
        } else {
            text.push_str(said);
        }
        text.push_str(cut);
    }
    text
}
