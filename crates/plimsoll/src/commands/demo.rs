//! `plimsoll demo`: the main job on a scratch file that is made and removed.

use std::fs;
use std::path::{Path, PathBuf};

use dialects::fio::{self, Overrides, Wishes};
use rustix::fs::{Mode, OFlags};

use super::execute::{self, ResultArgs, SafetyArgs};
use super::input;
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;
use crate::{env, stream};

/// Run four short jobs on a scratch file that is made and removed; about 30 seconds
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Folder for the scratch file; the current one unless given, or $TMPDIR where that cannot be
    /// written to.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Size of the scratch file.
    #[arg(long, value_name = "SIZE", default_value = "512m", value_parser = units::parse_bytes)]
    size: u64,

    /// Time for each of the four jobs.
    #[arg(long, value_name = "TIME", default_value = "6s", value_parser = units::parse_duration)]
    runtime: std::time::Duration,

    /// Print the job file instead of running it.
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    result: ResultArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll demo
  plimsoll demo --dir /mnt/volume --size 8g
  plimsoll demo --print > mine.fio";

/// The job file.
const JOB_FILE: &str = include_str!("../demo.fio");
/// Jobs in it, one after another.
const N_JOBS: u32 = 4;
/// Name of the scratch file in it.
const SCRATCH_NAME: &str = "plimsoll-demo.scratch";
/// What the name of the scratch folder starts with; the number of the process follows.
const FOLDER_PREFIX: &str = "plimsoll-demo-";
/// Space that must stay free: a demo must not fill a disk that others use.
const FREE_BYTES_MIN: u64 = 256 << 20;

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.print {
        stream::print(JOB_FILE)?;
        return Ok(Exit::Fine);
    }
    let scratch = Scratch::make(args.dir.as_deref())?;
    scratch.check_space(args.size)?;
    let mut set = vec![
        ("directory".to_owned(), scratch.dir.to_string_lossy().replace(':', "\\:")),
        ("size".to_owned(), args.size.to_string()),
        ("runtime".to_owned(), format!("{}us", args.runtime.as_micros())),
    ];
    if !scratch.takes_direct() {
        stream::tell(
            "note: the file system refuses direct I/O: these numbers are those of the page cache\n\
             hint: name a folder on a disk: plimsoll demo --dir DIR\n",
        );
        set.push(("direct".to_owned(), "0".to_owned()));
    }
    let total = units::format_duration(args.runtime * N_JOBS);
    stream::tell(&format!(
        "demo: {N_JOBS} jobs on a scratch file of {} in {}, {total} in all\n",
        units::format_bytes(args.size),
        scratch.dir.display()
    ));
    let overrides = Overrides { set, remap: Vec::new() };
    let wishes = Wishes { overrides: Some(&overrides), ..Wishes::default() };
    let parsed = fio::parse_text("demo.fio", JOB_FILE, &wishes, &HostLoader);
    input::tell(&parsed)?;
    execute::run(&parsed.plan, None, &args.result, SafetyArgs::default())
}

/// A folder of our own, removed with the scratch file in it.
#[derive(Debug)]
struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// Makes the folder where the user says, or else where one can be made.
    fn make(wanted: Option<&Path>) -> Result<Self, Failure> {
        let name = format!("{FOLDER_PREFIX}{}", std::process::id());
        let tmp = || env::TMPDIR.get().unwrap_or_else(|| "/tmp".to_owned());
        let places = wanted.map_or_else(
            || vec![PathBuf::from("."), PathBuf::from(tmp())],
            |dir| vec![dir.to_owned()],
        );
        places.iter().flat_map(|place| leftovers(place)).for_each(|dir| tell_leftover(&dir));
        let mut problem = String::new();
        for place in &places {
            let dir = place.join(&name);
            match fs::create_dir(&dir) {
                Ok(()) => return Ok(Scratch { dir }),
                Err(error) => problem = format!("cannot write to `{}`: {error}", place.display()),
            }
        }
        Err(Failure::wrong_use(problem).hint("name a folder to write to: plimsoll demo --dir DIR"))
    }

    fn check_space(&self, size_bytes: u64) -> Result<(), Failure> {
        // Where free space cannot be told, the run finds out.
        let Ok(stat) = rustix::fs::statvfs(&self.dir) else { return Ok(()) };
        let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
        let needed_bytes = size_bytes.saturating_add(FREE_BYTES_MIN);
        if free_bytes >= needed_bytes {
            return Ok(());
        }
        let (needed, free) = (units::format_bytes(needed_bytes), units::format_bytes(free_bytes));
        let place = self.dir.parent().unwrap_or(&self.dir).display();
        Err(Failure::wrong_use(format!(
            "the demo needs {needed} in `{place}`, but {free} are free"
        ))
        .hint("name another folder: plimsoll demo --dir DIR")
        .hint("or take a smaller file: plimsoll demo --size 64m"))
    }

    /// Says whether a file here can be opened for direct I/O.
    fn takes_direct(&self) -> bool {
        let path = self.dir.join(SCRATCH_NAME);
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::DIRECT;
        rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).is_ok()
    }
}

/// Returns the scratch folders here whose demo has ended without removing them.
fn leftovers(place: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place) else { return Vec::new() };
    let is_left = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(FOLDER_PREFIX));
        let pid = pid.and_then(|pid| pid.parse::<u32>().ok());
        pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
    };
    entries.flatten().filter(is_left).map(|entry| entry.path()).collect()
}

/// Says how to remove what a killed demo left. It is never removed unasked: the number of a process
/// on another host tells nothing here.
fn tell_leftover(dir: &Path) {
    let dir = dir.display();
    stream::tell(&format!(
        "note: `{dir}` is left from a demo that was killed\nhint: remove it: rm -r '{dir}'\n"
    ));
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Only what the demo makes: the file, and the folder if nothing else is in it.
        let _ = fs::remove_file(self.dir.join(SCRATCH_NAME));
        let _ = fs::remove_dir(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_demos_that_have_ended_are_left() {
        let place = tempfile::tempdir().expect("a folder");
        // No process has the largest number.
        let left = place.path().join(format!("{FOLDER_PREFIX}{}", u32::MAX));
        let running = place.path().join(format!("{FOLDER_PREFIX}{}", std::process::id()));
        for dir in [&left, &running, &place.path().join("plimsoll-demo-notes")] {
            fs::create_dir(dir).expect("it is ours");
        }
        assert_eq!(leftovers(place.path()), std::slice::from_ref(&left));
        tell_leftover(&left);
        assert!(left.exists(), "nothing is removed unasked");
    }
}
