//! Data validation of a run, from the command line.

use std::path::{Path, PathBuf};

use fleet::wire;
use plan::Plan;
use runner::{
    Control, ExistingJournal, RunError, RunOptions, Validation, VerifyOptions, verify_journal,
};

use super::verify;
use crate::exit::{Exit, Failure};
use crate::stream;

/// How what is written is validated.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Data validation")]
pub(super) struct ValidateArgs {
    /// Stamp every sector that is written with its place, generation and writer, and compare every
    /// block that is read with what was written there.
    #[arg(long)]
    validate: bool,

    /// Write down in FILE which generation of each block is being written, and which is written:
    /// `plimsoll verify FILE` says what became of each block after a crash or on another day. With
    /// --hosts each host keeps its own, of what it writes; `$host` is its name there.
    #[arg(long, value_name = "FILE", requires = "validate")]
    journal: Option<PathBuf>,

    /// Go on with the journal FILE of an earlier run: first verify what that says, and end if a
    /// block is lost or torn.
    #[arg(long, requires = "journal")]
    journal_recover: bool,

    /// Issue a write only when the journal durably says so (`on`, unless given). With `off` a crash
    /// of the host that keeps the journal may leave writes that it does not know.
    #[arg(long, value_name = "on|off", requires = "journal", default_value = "on")]
    #[arg(hide_default_value = true)]
    journal_sync: Switch,
}

/// On or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    /// On.
    #[default]
    On,
    /// Off.
    Off,
}

impl ValidateArgs {
    /// Returns how the run validates, if it does.
    pub(super) fn validation(
        &self,
        is_split: bool,
        is_read_only: bool,
    ) -> Result<Option<Validation>, Failure> {
        if !self.validate {
            return Ok(None);
        }
        if is_split {
            let text = "`--validate` checks what one host writes, and `--split` has several write \
                        to the same blocks";
            return Err(Failure::wrong_use(text)
                .hint("leave out `--split`, and give each host files or devices of its own"));
        }
        if is_read_only {
            let text = "`--validate` compares with what the run writes, and `--readonly` forbids \
                        that";
            return Err(
                Failure::wrong_use(text).hint("what an earlier run wrote: plimsoll verify JOURNAL")
            );
        }
        let is_ahead = self.journal_sync == Switch::On;
        let existing =
            if self.journal_recover { ExistingJournal::Continue } else { ExistingJournal::Refuse };
        let journal = self.journal.clone();
        // Without a journal nothing else would look at what is only written.
        let reads_back = journal.is_none();
        Ok(Some(Validation { journal, is_ahead, existing, reads_back }))
    }

    /// Returns whether the run is to go on with an earlier journal.
    pub(super) fn is_recovery(&self) -> bool {
        self.journal_recover
    }

    /// Verifies the journal that the run is to go on with. Returns how that ended if not well.
    pub(super) fn recover(&self) -> Result<Option<Exit>, Failure> {
        let Some(journal) = self.journal.as_deref().filter(|_| self.journal_recover) else {
            return Ok(None);
        };
        let (exit, text) = verify::verify(journal, &[], false)?;
        stream::print_message(&text);
        Ok((exit != Exit::Fine).then_some(exit))
    }
}

/// Lost and torn blocks that an agent describes; `plimsoll verify` on its host has all.
const BAD_LINES_MAX: usize = 16;

/// Returns how the agents of hosts validate: each with a journal of its own.
pub(super) fn to_wire(validation: &Validation) -> wire::Validation {
    let Validation { journal, is_ahead, existing, reads_back } = validation;
    let (existing, verifies_first) = match existing {
        ExistingJournal::Refuse => (wire::ExistingJournal::Refuse, false),
        ExistingJournal::Replace => (wire::ExistingJournal::Replace, false),
        ExistingJournal::Continue => (wire::ExistingJournal::Continue, true),
        ExistingJournal::ContinueSame => (wire::ExistingJournal::ContinueSame, true),
    };
    let journal = journal.as_deref().unwrap_or(Path::new(""));
    wire::Validation {
        journal: journal.to_string_lossy().into_owned(),
        is_ahead: *is_ahead,
        existing: existing.into(),
        reads_back: *reads_back,
        verifies_first,
    }
}

/// What stands for the name of a host in the path of its journal.
pub(super) const HOST: &str = "$host";

/// Returns how this host, of this name, validates its part.
///
/// # Errors
/// When it is to do what this program does not know.
pub(super) fn from_wire(asked: &wire::Validation, host: &str) -> Result<Validation, String> {
    let existing = match asked.existing() {
        wire::ExistingJournal::Refuse if asked.existing != 0 => {
            return Err(format!("what is to become of a journal is not known: {}", asked.existing));
        }
        wire::ExistingJournal::Refuse => ExistingJournal::Refuse,
        wire::ExistingJournal::Replace => ExistingJournal::Replace,
        wire::ExistingJournal::Continue => ExistingJournal::Continue,
        wire::ExistingJournal::ContinueSame => ExistingJournal::ContinueSame,
    };
    let journal =
        (!asked.journal.is_empty()).then(|| PathBuf::from(asked.journal.replace(HOST, host)));
    let wire::Validation { is_ahead, reads_back, .. } = *asked;
    Ok(Validation { journal, is_ahead, existing, reads_back })
}

/// Verifies the journal that a run on this host goes on with. Returns what stands against the run.
pub(super) fn verified_first(plan: &Plan, options: &RunOptions, control: &Control) -> Vec<String> {
    let journal = options.validation.as_ref().and_then(|it| it.journal.as_deref());
    let Some(journal) = journal else { return Vec::new() };
    if let Err(RunError::Refused { .. }) = runner::check(plan, options) {
        // The run says why.
        return Vec::new();
    }
    let found = match verify_journal(journal, &VerifyOptions::default(), control) {
        Ok(found) => found,
        Err(error) => return vec![error.to_string()],
    };
    if found.is_partial {
        return vec!["stopped before all that its journal says was verified".to_owned()];
    }
    let (n_blocks, n_bad) = found.counts();
    if n_bad == 0 {
        return Vec::new();
    }
    let shown = journal.display();
    let text = format!("{n_bad} of {n_blocks} blocks are not as `{shown}` says; nothing was run");
    std::iter::once(text).chain(found.bad_lines(BAD_LINES_MAX)).collect()
}
