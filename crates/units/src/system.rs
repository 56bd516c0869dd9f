//! The words of the system for its errors, and the paths in its tables of mounts.

use std::fmt::Display;

/// Returns what the system says about an error, without the number that Rust's library puts behind
/// it: `No such file or directory`, not `No such file or directory (os error 2)`. For a
/// `std::io::Error`, an error number of the system, or an error whose text ends with one of them.
pub fn system_text(error: impl Display) -> String {
    let mut text = error.to_string();
    let is_number = |rest: &str| rest.strip_suffix(')').is_some_and(|it| it.parse::<i32>().is_ok());
    if let Some((words, rest)) = text.rsplit_once(" (os error ")
        && is_number(rest)
    {
        text.truncate(words.len());
    }
    text
}

/// Undoes the octal escapes of a field in a table of mounts: they stand for blanks, tabs, line ends
/// and backslashes.
pub fn unescape_mount(field: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = match rest {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                Some((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'))
            }
            _ => None,
        };
        path.push(code.unwrap_or(*first));
        rest = if code.is_some() { &rest[4..] } else { after };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_goes_and_all_else_stays() {
        for (text, expected) in [
            ("No such file or directory (os error 2)", "No such file or directory"),
            (
                "cannot read `a`: Unknown error 999 (os error 999)",
                "cannot read `a`: Unknown error 999",
            ),
            ("it is a folder", "it is a folder"),
            ("no file `(os error 2)`", "no file `(os error 2)`"),
            ("no file `a (os error 2)` here", "no file `a (os error 2)` here"),
            ("", ""),
        ] {
            assert_eq!(system_text(text), expected);
        }
    }
}
