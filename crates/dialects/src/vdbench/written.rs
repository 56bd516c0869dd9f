//! What jobs write, and how many failed operations they survive: the same for storage definitions
//! and file structures.

use plan::Diagnostic;
use plan::job::ErrorPolicy;
use plan::verify::{Buffers, DedupeSets, FlipFlop, PatternPart};

use super::run::{Contents, Run, Work};
use crate::Loader;

/// Failed operations after which everything ends, unless `data_errors=` says otherwise.
pub(super) const DATA_ERRORS_MAX: u64 = 50;

const NS_PER_S: u64 = 1_000_000_000;

/// Returns what becomes of failed operations: `data_errors=`. A run that has met any ends all.
pub(super) fn errors(run: &Run) -> ErrorPolicy {
    let (n_errors_max, quiet_s) = run.data_errors.unwrap_or((DATA_ERRORS_MAX, None));
    ErrorPolicy {
        continue_read: true,
        continue_write: true,
        n_errors_max: Some(n_errors_max.max(1)),
        fails_in_the_end: true,
        quiet_ns: quiet_s.filter(|s| *s > 0).map(|s| s.saturating_mul(NS_PER_S)),
        exit_all_on_error: true,
        ..ErrorPolicy::default()
    }
}

/// Returns what written data holds. `own` are the duplicates of one definition, in place of those
/// of all.
pub(super) fn buffers(
    run: &Run,
    own: Option<&DedupeSets>,
    loader: &dyn Loader,
    findings: &mut Vec<Diagnostic>,
) -> Buffers {
    let contents = &run.contents;
    let mut buffers = Buffers::default();
    if contents.compratio > 1.0 {
        buffers.compress_ratio = Some(contents.compratio);
    }
    buffers.dedupe_sets = own.cloned().or_else(|| of_all(contents));
    // What is made first is one version of each set.
    if let (Work::SdFormat(_) | Work::Format(_), Some(sets)) = (&run.work, &mut buffers.dedupe_sets)
    {
        sets.flip_flop = FlipFlop::None;
    }
    let Some(path) = &contents.pattern_file else { return buffers };
    match loader.read(path) {
        Ok(bytes) if !bytes.is_empty() => {
            buffers.pattern = vec![PatternPart::Bytes(bytes)];
            // A read leaves something else in the buffer that the next write has.
            buffers.refill = Some(true);
        }
        read => {
            let why =
                read.err().map_or_else(|| "it is empty".to_owned(), |error| error.to_string());
            let message = format!("`pattern={path}` cannot be used: {why}");
            let finding = Diagnostic::error("pattern-unreadable", message)
                .help("name a file that holds at least one byte");
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    buffers
}

fn of_all(contents: &Contents) -> Option<DedupeSets> {
    (contents.dedupratio > 1.0).then(|| DedupeSets {
        ratio: contents.dedupratio,
        unit_bytes: unit_bytes(contents.dedupunit_bytes),
        sets: contents.dedupsets,
        flip_flop: contents.dedupflipflop,
        hot_sets: contents.deduphotsets.clone(),
    })
}

/// Returns the size of blocks of which some are equal.
pub(super) fn unit_bytes(asked_bytes: u64) -> u32 {
    asked_bytes.clamp(512, 1 << 30) as u32
}
