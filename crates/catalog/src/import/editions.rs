//! Tables that have rows of several editions, of which one is that of the catalogue.

use super::diff::TableDiff;
use super::{EDITION, RejectedRow, TableRow};
use crate::edition::Edition;
use crate::packed::EDITIONS;

/// Keeps the rows that are of the edition asked for, and says why the others are not.
///
/// A cell may name one of our editions. Tables have names of their own (`older`, `2025-09`): of
/// several rows of one name with such editions the one is meant that says what is known, by
/// `is_known`. Where none does, all are rejected.
pub(super) fn choose(
    mut rows: Vec<TableRow>,
    edition: &Edition,
    diff: &mut TableDiff,
    is_known: impl Fn(&TableRow) -> bool,
) -> Vec<TableRow> {
    let own: Vec<Option<String>> = rows.iter_mut().map(|row| row.cells.remove(EDITION)).collect();
    let is_ours = |name: &str| EDITIONS.iter().find(|info| info.is_called(name));
    let is_of = |a: usize, b: usize| rows[a].kind == rows[b].kind && rows[a].name == rows[b].name;
    let verdict = |idx: usize| -> Result<(), (bool, String)> {
        let Some(name) = &own[idx] else { return Ok(()) };
        if let Some(info) = is_ours(name) {
            let why = format!("of edition {}, not {}", info.name, edition.info.name);
            return if info.name == edition.info.name { Ok(()) } else { Err((true, why)) };
        }
        let others = |at: &usize| {
            is_of(*at, idx) && own[*at].as_ref().is_some_and(|name| is_ours(name).is_none())
        };
        let all: Vec<usize> = (0..rows.len()).filter(others).collect();
        let meant = all.iter().copied().find(|at| is_known(&rows[*at]));
        match meant {
            _ if all.len() == 1 => Ok(()),
            Some(meant) if meant == idx => Ok(()),
            Some(meant) => {
                let known = own[meant].as_deref().unwrap_or_default();
                let is = edition.info.name;
                Err((true, format!("of `{name}`; what edition {is} has is that of `{known}`")))
            }
            None => Err((false, several(&all, &own, edition))),
        }
    };
    let verdicts: Vec<_> = (0..rows.len()).map(verdict).collect();
    let mut kept = Vec::new();
    for (row, verdict) in rows.into_iter().zip(verdicts) {
        match verdict {
            Ok(()) => kept.push(row),
            Err((is_other, why)) => {
                let reported = RejectedRow { line: row.line, name: row.name, why };
                if is_other { diff.left_out.push(reported) } else { diff.rejected.push(reported) }
            }
        }
    }
    kept
}

fn several(all: &[usize], own: &[Option<String>], edition: &Edition) -> String {
    let names: Vec<String> =
        all.iter().filter_map(|at| own[*at].as_ref()).map(|name| format!("`{name}`")).collect();
    format!(
        "the table has it of {}, and none is what edition {} has: keep only the right one",
        names.join(" and "),
        edition.info.name
    )
}
