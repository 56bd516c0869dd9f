//! What became of blocks, for programs (`plimsoll.verification/1`).

use std::path::Path;

use runner::{BlockFinding, SectorContent, TargetVerification, Verification};
use serde_json::{Value, json as object};

use super::run_name;

/// Returns the JSON, with a final newline.
pub(super) fn json(journal: &Path, found: &Verification) -> String {
    let value = object!({
        "schema": "plimsoll.verification/1",
        "journal": journal.display().to_string(),
        "runs": found.runs.iter().map(|run| run_name(*run)).collect::<Vec<_>>(),
        "is_good": found.is_good(),
        "is_partial": found.is_partial,
        "torn_bytes": found.torn_bytes,
        "targets": found.targets.iter().map(of_target).collect::<Vec<_>>(),
        "blocks": found.findings.iter().map(of_block).collect::<Vec<_>>(),
        "n_blocks_left_out": found.n_left_out,
    });
    let mut text = serde_json::to_string_pretty(&value)
        .expect("every map key is text, and writing to memory does not fail");
    text.push('\n');
    text
}

fn of_target(target: &TargetVerification) -> Value {
    object!({
        "path": target.path.display().to_string(),
        "block_bytes": target.block_bytes,
        "n_known": target.n_known,
        "n_new": target.n_new,
        "n_old": target.n_old,
        "n_lost": target.n_lost,
        "n_torn": target.n_torn,
        "n_torn_in_flight": target.n_torn_in_flight,
        "n_unreadable": target.n_unreadable,
        "error": target.error,
    })
}

fn of_block(block: &BlockFinding) -> Value {
    let state = block.state;
    object!({
        "target_idx": block.target,
        "offset": block.offset,
        "verdict": block.judged.verdict.word(),
        "is_in_flight": block.judged.is_in_flight,
        "is_bad": block.judged.is_bad(),
        "generation_written": state.written,
        "generation_in_flight": state.pending,
        "last_write": block.last.map(|last| object!({
            "run": run_name(last.run),
            "time_us": last.time_us,
            "is_latest": last.is_latest,
        })),
        "found": block.judged.found.map(|(sector, found)| of_found(sector, &found)),
    })
}

fn of_found(sector: u32, found: &SectorContent) -> Value {
    let (what, stamp, offset) = match found {
        SectorContent::Written(stamp) => ("written", Some(stamp), None),
        SectorContent::Misplaced(stamp, offset) => ("misplaced", Some(stamp), Some(*offset)),
        SectorContent::Plain => ("plain", None, None),
        SectorContent::Damaged => ("damaged", None, None),
    };
    object!({
        "sector": sector,
        "what": what,
        "generation": stamp.map(|it| it.generation),
        "run": stamp.map(|it| run_name(it.run)),
        "worker": stamp.map(|it| it.worker),
        "time_us": stamp.map(|it| it.time_us),
        "target_idx": stamp.map(|it| it.target),
        "offset": offset,
    })
}
