//! Licences of what the product is built from.

use anyhow::{Result, bail};

use crate::workspace::Graph;

/// Licences whose conditions a binary under MIT or Apache-2.0 can meet: a notice at most.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Checks every package of the dependency graph, on all platforms.
pub(crate) fn check() -> Result<()> {
    let externals = Graph::read()?.externals();
    let mut n_refused = 0;
    for package in &externals {
        if !is_allowed(&package.licence) {
            println!("{}: licence `{}` is not on the list", package.id, package.licence);
            n_refused += 1;
        }
    }
    if n_refused > 0 {
        bail!("{n_refused} packages: use another, or add the licence to xtask/src/licences.rs");
    }
    println!("{} packages, each under a licence of the list", externals.len());
    Ok(())
}

/// Returns whether an SPDX expression leaves us a choice that is on the list.
///
/// Reads `AND`, `OR`, `WITH` and parentheses, and the old `/` for `OR`. What it cannot read is
/// not allowed.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    matches!(any_of(&tokens), Some((true, [])))
}

/// Reads alternatives, and returns the tokens that follow.
fn any_of<'a, 'b>(tokens: &'b [&'a str]) -> Option<(bool, &'b [&'a str])> {
    let (mut allowed, mut rest) = all_of(tokens)?;
    while let ["OR", after @ ..] = rest {
        let (next, after) = all_of(after)?;
        (allowed, rest) = (allowed || next, after);
    }
    Some((allowed, rest))
}

/// Reads licences that hold together, and returns the tokens that follow.
fn all_of<'a, 'b>(tokens: &'b [&'a str]) -> Option<(bool, &'b [&'a str])> {
    let (mut allowed, mut rest) = one(tokens)?;
    while let ["AND", after @ ..] = rest {
        let (next, after) = one(after)?;
        (allowed, rest) = (allowed && next, after);
    }
    Some((allowed, rest))
}

/// Reads one licence or one expression in parentheses, and returns the tokens that follow.
fn one<'a, 'b>(tokens: &'b [&'a str]) -> Option<(bool, &'b [&'a str])> {
    match tokens {
        ["(", inner @ ..] => match any_of(inner)? {
            (allowed, [")", rest @ ..]) => Some((allowed, rest)),
            _ => None,
        },
        [name, "WITH", exception, rest @ ..] => {
            Some((ALLOWED.contains(&format!("{name} WITH {exception}").as_str()), rest))
        }
        [name, rest @ ..] => Some((ALLOWED.contains(name), rest)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        assert_eq!(is_allowed(expression), expected, "{expression}");
    }

    #[test]
    fn one_good_alternative_is_enough() {
        check("MIT", true);
        check("MIT OR Apache-2.0", true);
        check("MIT/Apache-2.0", true);
        check("MIT OR Apache-2.0 OR LGPL-2.1-or-later", true);
        check("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true);
    }

    #[test]
    fn all_parts_of_a_conjunction_count() {
        check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
        check("MIT AND GPL-3.0-only", false);
        check("(MIT OR GPL-2.0) AND (GPL-2.0 OR LGPL-2.1)", false);
    }

    #[test]
    fn copyleft_and_unknown_are_refused() {
        check("GPL-2.0-only", false);
        check("MPL-2.0", false);
        check("GPL-2.0 WITH Classpath-exception-2.0", false);
        check("", false);
        check("MIT OR", false);
        check("(MIT", false);
    }
}
