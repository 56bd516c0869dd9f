//! Checks blocks that were read and says in words what is wrong with the bad ones.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use pattern::verify::{Expected, Mismatch, Verifier};
use plan::op::Op;
use units::system_text;
use worker::ReadFacts;

/// Illegal byte sequence: a block fails verification.
pub(crate) const EILSEQ: i32 = 84;

/// Bad blocks described in full; the rest are only counted.
const N_BAD_BLOCKS_MAX: usize = 16;

/// Proves the blocks of one worker. Shared by its verifying threads.
#[derive(Debug)]
pub(crate) struct Checker {
    verifier: Verifier,
    targets: Vec<PathBuf>,
    /// How expected and received blocks are written, if they are.
    dumps: Option<Dumps>,
}

/// How bad blocks are dumped.
#[derive(Clone, Debug)]
pub(crate) struct Dumps {
    /// The folder of their files.
    pub(crate) dir: PathBuf,
    /// A file that is there is replaced.
    pub(crate) replaces: bool,
}

impl Dumps {
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = File::options();
        options.write(true).create(true).truncate(self.replaces).create_new(!self.replaces);
        options.open(path)?.write_all(bytes)
    }
}

/// Bad blocks in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BadBlocks {
    lines: Vec<String>,
    n_blocks: u64,
}

impl BadBlocks {
    /// Returns how many blocks were bad.
    pub(crate) fn n_blocks(&self) -> u64 {
        self.n_blocks
    }

    /// Adds a block, described in a line.
    pub(crate) fn add(&mut self, line: &str) {
        self.n_blocks += 1;
        if self.lines.len() < N_BAD_BLOCKS_MAX {
            self.lines.push(line.to_owned());
        }
    }

    /// Adds what another thread found.
    pub(crate) fn append(&mut self, mut other: BadBlocks) {
        self.n_blocks += other.n_blocks;
        self.lines.append(&mut other.lines);
        self.lines.truncate(N_BAD_BLOCKS_MAX);
    }

    /// Returns the description of the first ones, and how many there are more.
    pub(crate) fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        let n_more = self.n_blocks - self.lines.len() as u64;
        if n_more > 0 {
            let _ = write!(text, "\nand {n_more} more bad blocks");
        }
        text
    }
}

impl Checker {
    /// Makes the checker of a worker. `targets` names its files; without `dumps` nothing is dumped.
    pub(crate) fn new(verifier: Verifier, targets: Vec<PathBuf>, dumps: Option<Dumps>) -> Self {
        Checker { verifier, targets, dumps }
    }

    /// Returns what makes the blocks.
    pub(crate) fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// Checks a block; a bad one is described in `bad`. Says whether it is good.
    pub(crate) fn check(
        &self,
        block: &[u8],
        op: &Op,
        facts: ReadFacts,
        bad: &mut BadBlocks,
    ) -> bool {
        let expected = Expected { offset: op.offset, seed: facts.seed, number_io: facts.number };
        let result = if facts.trimmed {
            Verifier::check_trimmed(block, op.offset)
        } else {
            self.verifier.check(block, &expected)
        };
        match result {
            Ok(()) => true,
            Err(mismatch) => {
                self.describe(block, op, &expected, &mismatch, bad);
                false
            }
        }
    }

    #[cold]
    fn describe(
        &self,
        block: &[u8],
        op: &Op,
        expected: &Expected,
        mismatch: &Mismatch,
        bad: &mut BadBlocks,
    ) {
        let unnamed = PathBuf::new();
        let target = self.targets.get(op.file.0 as usize).unwrap_or(&unnamed);
        let mut text = mismatch.of_file(&target.display().to_string()).to_string();
        if let Some(dumps) = &self.dumps {
            let start = (mismatch.at_offset - mismatch.request_offset) as usize;
            let received = block.get(start..).unwrap_or_default();
            let received = &received[..received.len().min(mismatch.len as usize)];
            let wanted = self.verifier.expected_interval(block, mismatch, expected);
            for (what, bytes) in [("received", received), ("expected", &wanted)] {
                let path = dump_path(&dumps.dir, target, mismatch.at_offset, what);
                let _ = match dumps.write(&path, bytes) {
                    Ok(()) => write!(text, "\n       {what} data dumped as {}", path.display()),
                    Err(error) => {
                        write!(
                            text,
                            "\n       cannot dump {what} data as {}: {}",
                            path.display(),
                            system_text(&error)
                        )
                    }
                };
            }
        }
        bad.add(&text);
    }
}

/// Returns where an interval is dumped: fio's `FILE.OFFSET.received` and `FILE.OFFSET.expected`.
fn dump_path(dir: &Path, target: &Path, offset: u64, what: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    dir.join(format!("{name}.{offset}.{what}"))
}
