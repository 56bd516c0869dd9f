//! Vdbench's data validation: `-v` and `-j`, `validate=` and `journal=`.

use std::path::{Path, PathBuf};

use dialects::vdbench::output::Ending;
use dialects::vdbench::{Journaling, Parsed, used_hosts};
use fleet::wire;
use plan::Diagnostic;
use runner::{
    Control, ExistingJournal, TargetVerification, Validation, Verification, VerifyOptions,
    verify_journal,
};

use super::session::VdbenchSession;
use crate::commands::validate::{HOST, to_wire};

/// Code of what is not validated.
pub(super) const NO_VALIDATION: &str = "no-validation";

/// Name of the journal in its folder.
const JOURNAL: &str = "plimsoll.jnl";

/// The run that Vdbench lists for a recovery; it is no step of ours.
const RECOVERY: &str = "journal_recovery";

/// Lost and torn blocks that are shown one by one.
const BAD_LINES_MAX: usize = 50;

/// How data is validated.
#[derive(Clone, Debug)]
pub(super) struct Validating {
    journal: Option<PathBuf>,
    how: Journaling,
}

impl Validating {
    /// Takes over what was asked for. Each of several hosts keeps a journal of its own.
    pub(super) fn of(parsed: &mut Parsed) -> Option<Self> {
        let settings = &parsed.settings;
        if !settings.validate {
            return None;
        }
        let is_here = used_hosts(parsed).iter().all(|host| host.is_local);
        let folder = parsed.journal_folder.clone().unwrap_or_default();
        let name = if is_here { JOURNAL.to_owned() } else { format!("plimsoll-{HOST}.jnl") };
        let journal = settings.journal.then(|| Path::new(&folder).join(name));
        let how = settings.journaling;
        parsed.refusals.retain(|finding| finding.code != NO_VALIDATION);
        parsed.runs.retain(|run| run.rd != RECOVERY);
        Some(Validating { journal, how })
    }

    /// Returns how a pass is validated. The passes after the first go on with the journal.
    pub(super) fn of_pass(&self, n_before: u64) -> Validation {
        let existing = match (n_before, self.how.recovers) {
            (0, false) => ExistingJournal::Replace,
            (0, true) => ExistingJournal::ContinueSame,
            _ => ExistingJournal::Continue,
        };
        let is_ahead = !self.how.is_unflushed;
        Validation { journal: self.journal.clone(), is_ahead, existing, reads_back: true }
    }

    /// Returns how hosts validate a pass: each verifies its journal itself before the first.
    pub(super) fn on_hosts(&self, n_before: u64) -> wire::Validation {
        let verifies_first = n_before == 0 && self.is_recovery() && !self.how.skips_reading;
        wire::Validation { verifies_first, ..to_wire(&self.of_pass(n_before)) }
    }

    /// Returns why other hosts cannot do what is asked for here.
    pub(super) fn unfit_for_hosts(&self) -> Option<Diagnostic> {
        self.how.only_recovers.then(|| {
            let text = "`journal=(recover,only)` runs nothing, and the journals are on other hosts";
            Diagnostic::error(NO_VALIDATION, text)
                .help("there: plimsoll verify plimsoll-LABEL.jnl, in the folder of `journal=`")
        })
    }

    /// Returns whether a recovery is asked for.
    pub(super) fn is_recovery(&self) -> bool {
        self.journal.is_some() && self.how.recovers
    }

    /// Verifies what the journal says. Returns how everything ends, if it does.
    pub(super) fn recover(
        &self,
        session: &mut VdbenchSession,
        control: &Control,
    ) -> Option<Ending> {
        let path = self.journal.as_deref()?;
        let shown = path.display();
        if !self.how.skips_reading || self.how.only_recovers {
            session.print(&format!("Starting journal recovery from {shown}"), false);
            let found = match verify_journal(path, &VerifyOptions::default(), control) {
                Ok(found) => found,
                Err(error) => return Some(Ending::Aborted(error.to_string())),
            };
            let (n_blocks, n_bad) = found.counts();
            for line in remarks(path, &found) {
                session.print(&line, true);
            }
            for line in found.bad_lines(BAD_LINES_MAX) {
                session.print(&line, true);
            }
            if found.is_partial {
                return Some(Ending::Interrupted);
            }
            session.print(&total_line(n_blocks, n_bad), false);
            if n_bad > 0 {
                let why = format!("data validation: {n_bad} key blocks are not as {shown} says");
                return Some(Ending::Aborted(why));
            }
        }
        self.how.only_recovers.then(|| {
            let text = "'journal=(recover,only)' requested. Terminating execution.";
            session.print(text, false);
            Ending::Complete
        })
    }
}

/// Returns what is to be said besides the blocks: what cannot be read, and how the journal ends.
fn remarks(journal: &Path, found: &Verification) -> Vec<String> {
    let unread = |target: &TargetVerification| {
        let error = target.error.as_ref()?;
        Some(format!("`{}` cannot be read: {error}", target.path.display()))
    };
    let mut lines: Vec<String> = found.targets.iter().filter_map(unread).collect();
    if found.torn_bytes > 0 {
        lines.push(format!(
            "the journal `{}` ends within an entry ({} B), as a crash leaves it",
            journal.display(),
            found.torn_bytes
        ));
    }
    lines
}

/// Returns Vdbench's line of what was validated.
fn total_line(n_blocks: u64, n_bad: u64) -> String {
    format!(
        "Total amount of key blocks read and validated: {:>8}; key blocks marked in error: {:>4} ",
        with_commas(n_blocks),
        with_commas(n_bad)
    )
}

/// Groups the digits of a number by three.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a real run: `jn2.console` of the golden files.
    #[test]
    fn the_total_is_printed_as_vdbench_prints_it() {
        let expected = "Total amount of key blocks read and validated:   10,240; \
                        key blocks marked in error:    0 ";
        assert_eq!(total_line(10_240, 0), expected);
        assert_eq!((with_commas(7), with_commas(1_234_567)), ("7".into(), "1,234,567".into()));
    }
}
