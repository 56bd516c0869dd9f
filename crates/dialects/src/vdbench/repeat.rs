//! `count=`: one definition that stands for many.

use std::ops::Range;

use super::params::Param;
use super::scan::Scan;

/// Most definitions of a kind that `count=` may make. Real files have a thousandth.
pub(super) const DEFINITIONS_MAX: usize = 200_000;

/// Most copies of one definition.
const COPIES_MAX: i64 = 100_000;

/// Reads `count=(start,count)`.
pub(super) fn count(param: &Param, scan: &mut Scan<'_>) -> Option<(i64, i64)> {
    match param.values.numbers.as_slice() {
        [start, count] if *count as i32 > 0 => {
            Some((i64::from(*start as i32), i64::from(*count as i32).min(COPIES_MAX)))
        }
        _ => {
            scan.wrong(param, "the first number and how many, such as count=(1,5)");
            None
        }
    }
}

/// Puts copies in the place of all definitions with a count, in the order in which Vdbench does.
/// `copies` makes those of one definition; it is given how many others there are.
pub(super) fn carry_out<T>(
    definitions: &mut Vec<T>,
    count_of: impl Fn(&T) -> Option<(i64, i64)>,
    mut copies: impl FnMut(&T, Range<i64>, usize) -> Vec<T>,
) {
    loop {
        let (mut is_found, mut idx) = (false, 0);
        while idx < definitions.len() {
            if let Some((start, count)) = count_of(&definitions[idx]) {
                is_found = true;
                let counted = definitions.remove(idx);
                let numbers = start..start.saturating_add(count);
                definitions.extend(copies(&counted, numbers, definitions.len()));
            }
            idx += 1;
        }
        if !is_found {
            return;
        }
    }
}
