//! `cargo xtask proto`: the fleet's messages as Rust, from their description.
//!
//! The generator is a workspace of its own, so that nothing else needs it, and takes a minute to
//! build. What it makes therefore says in its header what it was made from and what was made, as
//! checksums: `tidy` compares those in no time, and finds a description that was changed alone as
//! well as a file that was changed by hand. `--check` has the generator make it again.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::{process, workspace};

/// What is made, relative to the workspace root.
pub(crate) const MADE: &str = "crates/fleet/src/wire.rs";

/// What it is made from: the description, the generator, and the versions of the generator's parts.
pub(crate) const FROM: [&str; 3] = [
    "crates/fleet/proto/fleet.proto",
    "crates/fleet/codegen/src/main.rs",
    "crates/fleet/codegen/Cargo.lock",
];

/// What the generator calls its file.
const FILE: &str = "plimsoll.fleet.v1.rs";

/// What repairs a difference.
const REMEDY: &str = "run `cargo xtask proto`";

/// Runs the command: writes the file, or with `--check` compares it with what the generator makes.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    let path = process::root().join(MADE);
    match args {
        [] => std::fs::write(&path, generate()?).with_context(|| format!("cannot write {MADE}")),
        ["--check"] => {
            let is_current = read(MADE)? == generate()?;
            ensure!(is_current, "{MADE} is not what the generator makes: {REMEDY}");
            Ok(())
        }
        _ => bail!("`cargo xtask proto` takes nothing, or `--check`"),
    }
}

/// Has the generator make the file, and puts the header on it.
fn generate() -> Result<String> {
    let dir = workspace::target_dir()?.join("fleet-codegen");
    let manifest = process::root().join("crates/fleet/codegen/Cargo.toml");
    let manifest = manifest.to_string_lossy();
    let args = ["run", "-q", "--locked", "--manifest-path", &manifest, "--"];
    process::run(process::cargo(&args).arg(&dir))?;
    let path = dir.join(FILE);
    let body = std::fs::read_to_string(&path)
        .with_context(|| format!("the generator made no `{}`", path.display()))?;
    let from = FROM.map(read);
    let from = from.into_iter().collect::<Result<Vec<String>>>()?;
    Ok(format!("{}{body}", header(&from, &body)))
}

/// Returns what is said above a file that was made from these.
fn header(from: &[String], body: &str) -> String {
    let (from, body) = (checksum(from.iter()), checksum([body]));
    format!(
        "//! The messages of `proto/fleet.proto`, as `cargo xtask proto` writes them.\n\
         //! From {from:016x}, and below {body:016x}: `cargo xtask tidy` finds what was changed \
         alone.\n\n"
    )
}

/// Checks the file against what its header says. Returns what is wrong, and what to do.
pub(crate) fn check(from: &[String], made: &str) -> Option<String> {
    let body_at = made.match_indices('\n').nth(2).map_or(made.len(), |(at, _)| at + 1);
    let (head, body) = made.split_at(body_at);
    if head == header(from, body) {
        return None;
    }
    let is_body_own = head.contains(&format!("below {:016x}:", checksum([body])));
    Some(if is_body_own {
        format!("it was not made from {} as they are: {REMEDY}", FROM.join(", "))
    } else {
        format!("it was changed by hand: change {} and {REMEDY}", FROM[0])
    })
}

/// Checks the file of the tree, without building anything.
pub(crate) fn check_tree() -> Result<Option<String>> {
    let from = FROM.map(read).into_iter().collect::<Result<Vec<String>>>()?;
    Ok(check(&from, &read(MADE)?))
}

/// Reads a file of the tree.
fn read(name: &str) -> Result<String> {
    let path: &Path = &process::root().join(name);
    std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))
}

/// Returns the 64-bit FNV-1a of texts, their lengths among them. It finds accidents, not intent.
fn checksum<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> u64 {
    let add = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    texts.into_iter().fold(0xcbf2_9ce4_8422_2325, |sum, text| {
        let text = text.as_ref().as_bytes();
        let length = (text.len() as u64).to_le_bytes();
        length.iter().chain(text).fold(sum, |sum, byte| add(sum, *byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file as it is made from a description and a generator.
    fn made() -> (Vec<String>, String) {
        let from = vec!["message A {}\n".to_owned(), "generator\n".to_owned()];
        let body = "pub struct A {}\n";
        let made = format!("{}{body}", header(&from, body));
        (from, made)
    }

    #[track_caller]
    fn check_says(from: &[String], made: &str, expected: Option<&str>) {
        let said = check(from, made);
        let is_as_expected = match (&said, expected) {
            (Some(said), Some(expected)) => said.contains(expected),
            (said, expected) => said.is_none() && expected.is_none(),
        };
        assert!(is_as_expected, "{said:?}");
    }

    #[test]
    fn what_was_made_from_what_is_there_is_right() {
        let (from, made) = made();
        check_says(&from, &made, None);
    }

    #[test]
    fn a_change_on_one_side_is_found() {
        let (from, made) = made();
        let other = |idx: usize, text: &str| {
            let mut from = from.clone();
            from[idx] = text.to_owned();
            from
        };
        check_says(&other(0, "message A { uint32 b = 1; }\n"), &made, Some("not made from"));
        check_says(&other(1, "another\n"), &made, Some("not made from"));
        // What moves from one file to the next is a change, too.
        let moved = vec!["message A {}\ngen".to_owned(), "erator\n".to_owned()];
        check_says(&moved, &made, Some("not made from"));
        check_says(&from, &made.replace("struct A", "struct B"), Some("by hand"));
        check_says(&from, &format!("{made}// more\n"), Some("by hand"));
        check_says(&from, "", Some("by hand"));
        check_says(&from, "//! Nothing.\n\npub struct A {}\n", Some("by hand"));
    }

    #[test]
    fn a_wrong_option_is_refused() {
        let error = run(&["--verify"]).expect_err("there is none").to_string();
        assert!(error.contains("--check"), "{error}");
    }
}
