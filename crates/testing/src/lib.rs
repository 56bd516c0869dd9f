//! What the tests of several crates need of the host: programs, files of other tools, and a way
//! to say that something is missing. A table of wrong callers, each with its panic. And
//! the commands that pages of the documentation show, run as they stand there.
//!
//! A development dependency only; nothing of it is in the product. Its own tests are below.

pub mod pages;

use std::fmt::Arguments;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Names the file to which each skipped test adds a line. `cargo xtask ci` sets it, and counts.
pub const SKIPPED_LIST: &str = "PLIMSOLL_SKIPPED_LIST";

/// Names a folder of real files of other tools. Without it, `../shared/corpus` beside the
/// checkout counts where it exists.
pub const CORPUS: &str = "PLIMSOLL_CORPUS";

/// Names a folder of the documents that examples are taken from. Without it, `../shared/sources`
/// beside the checkout counts where it exists.
pub const SOURCES: &str = "PLIMSOLL_SOURCES";

/// Reports that a test, or a part of it, cannot run here, and why. Takes what `format!` takes.
#[macro_export]
macro_rules! skipped {
    ($($words:tt)*) => { $crate::note_skipped(format_args!($($words)*)) };
}

/// Prints the reason with the test's name, and adds it to the list that [`SKIPPED_LIST`] names.
///
/// Writes to standard error itself: what `eprintln!` prints in a test that passes is never seen.
pub fn note_skipped(reason: Arguments<'_>) {
    let line = skipped_line(reason);
    // Where standard error is closed nothing can be said.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(list) = variable(SKIPPED_LIST) {
        let file = OpenOptions::new().append(true).create(true).open(&list);
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    }
}

/// Returns the line of a skipped test, in one piece, so that lines of two tests never mix.
fn skipped_line(reason: Arguments<'_>) -> String {
    let thread = std::thread::current();
    let reason = reason.to_string().trim_end().replace('\n', " ");
    format!("skipped: {}: {reason}\n", thread.name().unwrap_or("a thread without a name"))
}

/// Returns a folder of the corpus if it holds this; says that the test was skipped if not.
pub fn corpus(folder: &str, name: &str) -> Option<PathBuf> {
    let path = beside(CORPUS, "corpus").join(folder);
    if path.join(name).exists() {
        return Some(path);
    }
    skipped!("no {folder}/{name} (set {CORPUS})");
    None
}

/// Returns the folder of documents; says that the test was skipped if there is none.
pub fn sources() -> Option<PathBuf> {
    let path = beside(SOURCES, "sources");
    if path.is_dir() {
        return Some(path);
    }
    skipped!("no folder of documents (set {SOURCES})");
    None
}

/// Returns the folder that a variable names, or the one of this name beside the checkout.
fn beside(name: &str, folder: &str) -> PathBuf {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    variable(name).unwrap_or_else(|| shared.join(folder))
}

/// Returns the names of what is in a folder, in order.
///
/// # Panics
/// If the folder cannot be read.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder of the test");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("a folder of the test").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// Returns whether a program of this name lies on `PATH`; says that the test was skipped if not.
pub fn has_program(name: &str) -> bool {
    let path = variable("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !is_there {
        skipped!("`{name}` is not installed");
    }
    is_there
}

#[expect(clippy::disallowed_methods, reason = "what the host has is named by its environment")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// Reads the fields of a message of protobuf: number, and its bytes; eight of them, the lowest
/// first, where it is a number.
pub fn protobuf_fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let varint = |bytes: &mut &[u8]| {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().expect("a number");
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    };
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let n = match tag & 7 {
            0 => {
                found.push((tag >> 3, varint(&mut bytes).to_le_bytes().to_vec()));
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes) as usize,
            other => panic!("the kind {other}"),
        };
        found.push((tag >> 3, bytes[..n].to_vec()));
        bytes = &bytes[n..];
    }
    found
}

/// Returns a line of `/proc/self/status` in KiB, such as `VmHWM`, the most memory that this process
/// has had.
///
/// # Panics
/// Where there is no such line.
pub fn status_kib(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no number of `{key}`"))
}

/// A wrong caller: what it does wrong, words that the panic must say, and the call.
pub type WrongCall<'a> = (&'a str, &'a str, &'a dyn Fn());

/// Checks that each of these calls panics, and says these words: an assertion that stays on in
/// release is tested by a row of such a table. All rows are tried before it fails.
///
/// ```
/// fn share(part: f64) -> f64 {
///     assert!(part <= 1.0, "a part of {part} is more than all");
///     part
/// }
/// testing::check_wrong_calls(&[("more than all", "a part of 2 is", &|| _ = share(2.0))]);
/// ```
///
/// # Panics
/// If a call does not panic, or with other words; with the names of these rows.
#[track_caller]
pub fn check_wrong_calls(rows: &[WrongCall<'_>]) {
    let mut wrong = String::new();
    for (name, expected, call) in rows {
        let found = match panic_of(call) {
            None => "it is accepted".to_owned(),
            Some(text) if text.contains(expected) => continue,
            Some(text) => format!("it says `{text}`"),
        };
        wrong.push_str(&format!("\n{name}: {found}, not `{expected}`"));
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns the words of the panic that a call ends with; none where it returns.
pub fn panic_of<T>(call: impl FnOnce() -> T) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(call)).err()?;
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Some(text.unwrap_or_else(|| "a panic without words".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_test_and_reason() {
        let line = skipped_line(format_args!("no FUSE:\n{}\n", 7));
        assert_eq!(line, "skipped: tests::a_line_names_test_and_reason: no FUSE: 7\n");
    }

    #[test]
    fn a_shell_is_everywhere() {
        assert!(has_program("sh"));
    }

    fn checked(part: f64) {
        assert!(part <= 1.0, "a part of {part} is more than all");
    }

    #[test]
    fn a_wrong_call_is_one_that_panics_with_the_words_of_its_row() {
        let more: WrongCall<'_> = ("more than all", "2 is more than all", &|| checked(2.0));
        let right: WrongCall<'_> = ("right", "more", &|| checked(1.0));
        let other: WrongCall<'_> = ("other words", "less", &|| checked(3.0));
        check_wrong_calls(&[more]);
        let text = panic_of(|| check_wrong_calls(&[more, right, other])).expect("two are wrong");
        let expected = "\nright: it is accepted, not `more`\
                        \nother words: it says `a part of 3 is more than all`, not `less`";
        assert_eq!(text, expected);
    }
}
