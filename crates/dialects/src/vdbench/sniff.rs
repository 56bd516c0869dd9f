//! Telling parameter files from others by their content.

use super::general;
use super::lines::is_blank;
use super::params::DEFINITIONS;
use crate::likeness::{LINES_MAX, pct};

/// Returns how much a text looks like a parameter file, 0..=100 on the scale of all dialects.
///
/// It counts the lines that begin as Vdbench's do: a definition, a general parameter, or the
/// continuation of one. A text without a definition is none.
pub fn sniff(text: &str) -> u8 {
    let (mut n_definitions, mut n_known, mut n_lines) = (0_usize, 0_usize, 0_usize);
    let mut is_open = false;
    let lines = text.split(['\n', '\r']).map(|line| line.trim_matches(is_blank));
    let said = lines.filter(|line| !line.is_empty() && !line.starts_with(['/', '#', '*']));
    for line in said.take(LINES_MAX) {
        n_lines += 1;
        let written = line.split(is_blank).next().unwrap_or_default();
        let key = written.split('=').next().unwrap_or_default().to_lowercase();
        let has_value = key.len() < written.len();
        let is_definition = has_value && DEFINITIONS.contains(&key.as_str());
        let is_general = has_value && n_definitions == 0 && general::knows(&key);
        n_definitions += usize::from(is_definition);
        let is_continued = (is_open || n_definitions > 0) && has_value && is_word(&key);
        n_known += usize::from(is_definition || is_general || is_continued || written == "eof");
        is_open = written.ends_with(',');
    }
    if n_definitions == 0 { 0 } else { pct(n_known, n_lines) }
}

fn is_word(key: &str) -> bool {
    key.len() >= 2 && key.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
}
