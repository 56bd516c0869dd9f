//! Data validation of a run, from the command line.

use std::path::PathBuf;

use runner::{ExistingJournal, Validation};

use super::verify;
use crate::exit::{Exit, Failure};
use crate::stream;

/// How what is written is validated.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct ValidateArgs {
    /// Stamp every sector that is written with its place, generation and writer, and compare every
    /// block that is read with what was written there.
    #[arg(long)]
    validate: bool,

    /// Write down in FILE which generation of each block is being written, and which is written:
    /// `plimsoll verify FILE` says what became of each block after a crash or on another day.
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
        is_elsewhere: bool,
        is_read_only: bool,
    ) -> Result<Option<Validation>, Failure> {
        if !self.validate {
            return Ok(None);
        }
        if is_elsewhere {
            let text = "`--validate` checks what this host writes, and the load is on others";
            return Err(Failure::wrong_use(text)
                .hint("run it on each of them, on files or devices of its own"));
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
