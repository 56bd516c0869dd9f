//! What is read: a zram device as new and filled, another device as it is, or a file.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The device that is taken when none is named.
const ZRAM: &str = "/dev/zram0";

/// Size of the file that stands in for a device.
const FILE_BYTES: u64 = 1 << 30;

/// In which state the target is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// As it was found.
    Found,
    /// A zram device that nothing was written to: the kernel fills the reader's memory with zeros.
    New,
    /// A zram device full of random data, which it stores as it is: the kernel copies it.
    Filled,
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Found => "as found",
            State::New => "new",
            State::Filled => "filled",
        }
    }
}

/// Returns the zram device if it has a size, else a file of random data, made if need be.
pub(crate) fn default_target(folder: &Path) -> Result<PathBuf> {
    let disksize = sysfs(Path::new(ZRAM), "disksize");
    if fs::read_to_string(disksize).is_ok_and(|bytes| bytes.trim() != "0") {
        return Ok(PathBuf::from(ZRAM));
    }
    let path = folder.join("data");
    if !fs::metadata(&path).is_ok_and(|found| found.len() == FILE_BYTES) {
        println!("filling {} with random data", path.display());
        fill(&path, FILE_BYTES)?;
    }
    Ok(path)
}

/// Returns the states to measure the target in.
pub(crate) fn states(target: &Path, zram_bytes: Option<u64>) -> Vec<State> {
    match zram_bytes {
        Some(_) => vec![State::New, State::Filled],
        None if is_new_zram(target) => vec![State::New],
        None => vec![State::Found],
    }
}

/// Brings the target into a state.
pub(crate) fn prepare(target: &Path, state: State, zram_bytes: Option<u64>) -> Result<()> {
    let Some(bytes) = zram_bytes else { return Ok(()) };
    let is_zram = sysfs(target, "disksize").exists();
    ensure!(is_zram, "`--setup-zram`: {} is no zram device", target.display());
    match state {
        State::New => {
            set(&sysfs(target, "reset"), "1")?;
            set(&sysfs(target, "disksize"), &bytes.to_string())
        }
        State::Filled => fill(target, bytes),
        State::Found => Ok(()),
    }
}

/// Returns whether a zram device holds no data.
fn is_new_zram(target: &Path) -> bool {
    fs::read_to_string(sysfs(target, "mm_stat"))
        .is_ok_and(|text| text.split_whitespace().next() == Some("0"))
}

fn sysfs(device: &Path, name: &str) -> PathBuf {
    Path::new("/sys/block").join(device.file_name().unwrap_or_default()).join(name)
}

fn set(path: &Path, value: &str) -> Result<()> {
    fs::write(path, value).with_context(|| format!("cannot write {value} to {}", path.display()))
}

/// Writes data that no compression makes smaller.
fn fill(path: &Path, n_bytes: u64) -> Result<()> {
    let mut options = OpenOptions::new();
    let mut file: File = options.write(true).create(true).truncate(false).open(path)?;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut chunk = vec![0_u8; 1 << 20];
    let mut n_left = n_bytes as usize;
    while n_left > 0 {
        for word in chunk.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        let n_now = n_left.min(chunk.len());
        file.write_all(&chunk[..n_now]).with_context(|| format!("filling {}", path.display()))?;
        n_left -= n_now;
    }
    Ok(file.sync_all()?)
}
