//! Files of needs, and what a design must carry of them.

mod checklist;
mod file;
mod mistakes;
mod requirements;
mod strategy;

use needs::Needs;

/// Reads a file without a mistake.
#[track_caller]
fn parsed(text: &str) -> Needs {
    let (needs, findings) = needs::parse(text);
    needs.unwrap_or_else(|| panic!("{findings:?}\n{text}"))
}
