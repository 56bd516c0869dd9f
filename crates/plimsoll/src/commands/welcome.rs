//! No arguments: what this is, and what to try first.

use crate::exit::{Exit, Failure};
use crate::stream;

const TEXT: &str = "\
Plimsoll finds out how much I/O a disk, array or cloud volume carries.
It runs the files of fio, Vdbench, Iometer and diskspd as they are, and says how
far its figures can be trusted.

Four commands to try first:

  plimsoll bench DIR        how much a folder's volume carries, in three minutes
  plimsoll curve DIR        the most I/O it carries with p99 < 10ms
  plimsoll check FILE.fio   what a job file means, and every mistake in it
  plimsoll run FILE.fio     run it: live progress, then a table of results

plimsoll --help lists all commands; plimsoll explain bs explains a parameter.
";

/// Prints the text.
pub(super) fn run() -> Result<Exit, Failure> {
    stream::print(TEXT)?;
    Ok(Exit::Fine)
}
