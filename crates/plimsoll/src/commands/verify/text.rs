//! What became of blocks, for people.

use std::path::Path;

use runner::{BlockFinding, SectorContent, TargetVerification, Verification};

use super::run_name;
use crate::clock::utc_millisecond;

/// Targets that are shown one by one: of more, only those with blocks that are lost.
const TARGETS_SHOWN_MAX: usize = 16;

/// Blocks that are shown one by one; JSON has all.
const SHOWN_MAX: usize = 20;

/// Returns the text.
pub(super) fn text(journal: &Path, found: &Verification) -> String {
    let mut text = String::new();
    let are_few = found.targets.len() <= TARGETS_SHOWN_MAX;
    if !are_few {
        text.push_str(&of_all(&found.targets));
    }
    // Of many, those that break a promise.
    let is_bad = |it: &&TargetVerification| it.n_lost + it.n_torn + it.n_unreadable > 0;
    let shown = found.targets.iter().filter(|it| are_few || is_bad(it));
    for target in shown.take(SHOWN_MAX) {
        text.push_str(&of_target(target));
    }
    let bad: Vec<&BlockFinding> = found.findings.iter().filter(|it| it.judged.is_bad()).collect();
    for block in bad.iter().take(SHOWN_MAX) {
        let path = found.targets.get(block.target as usize).map(|it| it.path.display().to_string());
        text.push_str(&of_block(path.as_deref().unwrap_or_default(), block));
    }
    let n_more = (bad.len().saturating_sub(SHOWN_MAX)) as u64 + found.n_left_out;
    if n_more > 0 {
        text.push_str(&format!("and {n_more} more: `plimsoll verify --json` has them\n"));
    }
    if found.torn_bytes > 0 {
        let (journal, n) = (journal.display(), found.torn_bytes);
        text.push_str(&format!(
            "the journal `{journal}` ends within an entry ({n} B), as a crash leaves it: the write \
             had not begun, or was not acknowledged\n"
        ));
    }
    if found.is_partial {
        text.push_str("stopped before all blocks were read\n");
    }
    text
}

/// Returns the line of all targets together.
fn of_all(targets: &[TargetVerification]) -> String {
    let mut all = TargetVerification::default();
    for target in targets {
        all.n_known += target.n_known;
        all.n_new += target.n_new;
        all.n_old += target.n_old;
        all.n_torn_in_flight += target.n_torn_in_flight;
        all.n_lost += target.n_lost;
        all.n_torn += target.n_torn;
        all.n_unreadable += target.n_unreadable;
    }
    let (n_targets, n_known) = (targets.len(), all.n_known);
    format!("{n_targets} files: {n_known} blocks were written: {}\n", counts(&all))
}

fn of_target(target: &TargetVerification) -> String {
    let TargetVerification { path, block_bytes, n_known, .. } = target;
    let (path, counts) = (path.display(), counts(target));
    let mut text = format!("{path}: {n_known} blocks of {block_bytes} B were written: {counts}\n");
    if let Some(error) = &target.error {
        text.push_str(&format!("  cannot be read: {error}\n"));
    }
    text
}

/// Returns how many blocks are what.
fn counts(target: &TargetVerification) -> String {
    let mut text = format!("{} new", target.n_new);
    let counts = [
        (target.n_old, "old (in flight)"),
        (target.n_torn_in_flight, "partly new (in flight)"),
        (target.n_lost, "LOST"),
        (target.n_torn, "TORN"),
        (target.n_unreadable, "unreadable"),
    ];
    for (n, word) in counts.into_iter().filter(|(n, _)| *n > 0) {
        text.push_str(&format!(", {n} {word}"));
    }
    text
}

fn of_block(path: &str, block: &BlockFinding) -> String {
    let BlockFinding { offset, state, judged, last, .. } = block;
    let word = judged.verdict.word();
    let mut text = format!("{word}: `{path}` at offset {offset}: expected generation");
    text.push_str(&match (state.written, state.pending) {
        (0, Some(pending)) => format!(" {pending}, in flight"),
        (written, Some(pending)) => format!(" {written}, or {pending} in flight"),
        (written, None) => format!(" {written}"),
    });
    if let Some(last) = last {
        let when = utc_millisecond(last.time_us / 1000);
        let by = if last.is_latest { "by" } else { "at" };
        text.push_str(&format!(", written {by} {when} by run {}", run_name(last.run)));
    }
    if let Some((sector, found)) = judged.found {
        text.push_str(&format!("; found in sector {sector} {}", of_found(&found)));
    }
    text.push('\n');
    text
}

fn of_found(found: &SectorContent) -> String {
    let written = |stamp: &runner::Stamp| {
        let when = utc_millisecond(stamp.time_us / 1000);
        let (run, worker) = (run_name(stamp.run), stamp.worker);
        format!(
            "generation {}, written at {when} by worker {worker} of run {run}",
            stamp.generation
        )
    };
    match found {
        SectorContent::Written(stamp) => written(stamp),
        SectorContent::Misplaced(stamp, offset) => {
            let target = stamp.target;
            format!("what belongs to offset {offset} of target {target}: {}", written(stamp))
        }
        SectorContent::Plain => "nothing that was written with a journal".to_owned(),
        SectorContent::Damaged => "part of a write".to_owned(),
    }
}
