//! What steps are called: the name of their part, and what tells them apart in it.

use super::{Durable, Part, Settings};

/// Returns the label of a step: unique in its suite, and fit for a column.
pub fn label(part: &Part, at: &Settings) -> String {
    let mut words = vec![part.name.clone()];
    if part.block_bytes.len() > 1 {
        words.push(block(at.block_bytes));
    }
    if part.read_pct.len() > 1 {
        words.push(format!("{}% read", at.read_pct));
    }
    match (part.workers.len() > 1, part.depths.len() > 1) {
        (true, true) => words.push(format!("{} x {}", at.workers, at.depth)),
        (true, false) if at.workers == 1 => words.push("1 job".to_owned()),
        (true, false) => words.push(format!("{} jobs", at.workers)),
        (false, true) => words.push(format!("depth {}", at.depth)),
        (false, false) => {}
    }
    if part.connections.len() > 1 {
        words.push(format!("{} conn", at.connections.unwrap_or(1)));
    }
    words.join(", ")
}

/// Returns a block size as job files have it: `512`, `8k`, `1m`.
pub fn block(bytes: u64) -> String {
    for (unit, name) in [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")] {
        if bytes >= unit && bytes.is_multiple_of(unit) {
            return format!("{}{name}", bytes / unit);
        }
    }
    bytes.to_string()
}

/// Returns when what is written is made durable; none where the system decides.
pub fn durable(durable: Durable) -> Option<String> {
    Some(match durable {
        Durable::Whenever => return None,
        Durable::Fsync(1) => "fsync after each write".to_owned(),
        Durable::Fsync(n) => format!("fsync after {n} writes"),
        Durable::Fdatasync(1) => "fdatasync after each write".to_owned(),
        Durable::Fdatasync(n) => format!("fdatasync after {n} writes"),
        Durable::EachWhole => "O_SYNC".to_owned(),
        Durable::Each => "O_DSYNC".to_owned(),
    })
}
