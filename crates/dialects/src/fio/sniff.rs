//! Telling fio job files from others by their content.

use plan::param::find_fio;

use super::scan::{Line, lines};
use crate::likeness::{LINES_MAX, pct};

/// Returns how much a text looks like a fio job file, 0..=100 on the scale of all dialects.
///
/// It counts the lines that fio would know: `[section]` headers, includes and known options. A text
/// without a section is none.
pub fn sniff(text: &str) -> u8 {
    let (mut n_sections, mut n_known, mut n_lines) = (0_usize, 0_usize, 0_usize);
    for scanned in lines(0, text).take(LINES_MAX) {
        n_lines += 1;
        let is_known = match &scanned.line {
            Line::Section(_) => {
                n_sections += 1;
                !scanned.unclosed
            }
            Line::Include(_) => true,
            Line::Option(key, _) => find_fio(key.text).is_some(),
        };
        n_known += usize::from(is_known);
    }
    if n_sections == 0 { 0 } else { pct(n_known, n_lines) }
}
