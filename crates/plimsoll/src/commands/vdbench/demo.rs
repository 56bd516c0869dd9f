//! `vdbench -t` and its like: short runs on scratch files in a folder that is made and removed.

use std::path::PathBuf;

use units::system_text;

use crate::env;
use crate::exit::Failure;
use crate::loader::ReadOnce;

/// Arguments that ask for a demonstration.
const SWITCHES: [&str; 5] = ["-t", "-t1", "-t2", "-td", "-tf"];
/// What the name of the scratch folder starts with; the number of the process follows.
const FOLDER_PREFIX: &str = "plimsoll-vdbench-";

/// A scratch folder, removed in the end with everything in it.
#[derive(Debug)]
pub(super) struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// Makes the folder if the arguments ask for a demonstration.
    pub(super) fn wanted(args: &[String]) -> Result<Option<Self>, Failure> {
        if !args.iter().any(|arg| SWITCHES.contains(&arg.as_str())) {
            return Ok(None);
        }
        let tmp = env::TMPDIR.get().unwrap_or_else(|| "/tmp".to_owned());
        let dir = PathBuf::from(tmp).join(format!("{FOLDER_PREFIX}{}", std::process::id()));
        match std::fs::create_dir(&dir) {
            Ok(()) => Ok(Some(Scratch { dir })),
            Err(error) => {
                let message =
                    format!("cannot make the folder `{}`: {}", dir.display(), system_text(&error));
                Err(Failure::wrong_use(message).hint("name another place in TMPDIR"))
            }
        }
    }

    /// Returns this host, with the folder as its place for temporary files.
    pub(super) fn loader(&self) -> ReadOnce {
        let dir = self.dir.to_string_lossy().into_owned();
        let mut loader = ReadOnce::default();
        loader.env.push(("TMPDIR".to_owned(), dir));
        loader
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The folder was made by this run, and so was all in it.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}
