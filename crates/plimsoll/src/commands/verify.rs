//! `plimsoll verify`: is what a journal says was written there?

mod json;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use runner::{Control, JournalError, VerifyOptions, verify_journal};

use super::input;
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::stream;

/// Check each block that a validated run wrote against its journal: new, old, lost or torn
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The journal of `plimsoll run --validate --journal FILE`.
    #[arg(value_name = "FILE")]
    journal: PathBuf,

    /// Where a target is now, such as /mnt/a=/mnt/b; may be repeated.
    #[arg(long, value_name = "A=B", value_parser = input::pair)]
    remap: Vec<(String, String)>,

    /// Print it as JSON (`plimsoll.verification/1`), with all blocks that are not plainly new.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
A block whose last write was acknowledged must hold that write. It is lost if it
holds another one or none, and torn if it holds parts of several. A block whose
write was in flight may be new, old or, sector by sector, partly both.
docs/journal.md has the format of the journal and of the blocks.

Examples:
  plimsoll run job.fio --validate --journal job.journal
  plimsoll verify job.journal
  plimsoll verify job.journal --remap /mnt/data=/mnt/copy --json

Exit codes: 0 all that was acknowledged is there, 4 blocks are lost or torn,
1 blocks cannot be read, 2 the file is no journal, or a damaged one,
130 interrupted.";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (exit, text) = verify(&args.journal, &args.remap, args.json)?;
    exit.once(stream::print(&text))
}

/// Verifies what a journal says. Returns how it ended, and the text.
pub(super) fn verify(
    journal: &Path,
    remap: &[(String, String)],
    is_json: bool,
) -> Result<(Exit, String), Failure> {
    let control = Arc::new(Control::new());
    let _signals = Signals::listen(&control)?;
    let options = VerifyOptions { remap: remap.to_vec() };
    let found = verify_journal(journal, &options, &control).map_err(|it| failure(&it))?;
    let n_bad: u64 = found.targets.iter().map(|it| it.n_lost + it.n_torn).sum();
    let exit = if found.is_partial {
        Exit::Interrupted
    } else if n_bad > 0 {
        Exit::Missed
    } else if found.n_unreadable() > 0 {
        Exit::RunFailed
    } else {
        Exit::Fine
    };
    let print = if is_json { json::json } else { text::text };
    Ok((exit, print(journal, &found)))
}

/// Returns why a journal says nothing, and what to do.
pub(super) fn failure(error: &JournalError) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match error {
        JournalError::Io { .. } => failure.hint("name the FILE of `plimsoll run --journal FILE`"),
        JournalError::NotJournal { .. } => {
            failure.hint("name the FILE of `plimsoll run --validate --journal FILE`")
        }
        JournalError::OtherVersion { .. } => failure.hint("use the version that wrote it"),
        JournalError::Damaged { .. } | JournalError::Contradiction { .. } => {
            failure.hint("look after the disk that holds the journal; a copy of it may be whole")
        }
    }
}

/// Returns a run as it is named.
fn run_name(run: u64) -> String {
    format!("{run:016x}")
}
