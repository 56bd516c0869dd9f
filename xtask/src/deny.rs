//! What the product may be built from: the policy is `deny.toml`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Graph;

/// Where cargo-deny keeps the lists of advisories that it fetched, below cargo's own folder.
const ADVISORIES: &str = "advisory-dbs";

/// Checks every package of the dependency graph, on all platforms: licences by this program, and
/// the rest of the policy by cargo-deny where it is installed.
///
/// Returns what could not be checked here. Fetches nothing.
pub(crate) fn check() -> Result<Option<&'static str>> {
    check_licences()?;
    if process::output(&mut process::cargo(&["deny", "--version"])).is_err() {
        return Ok(Some("licences only: no cargo-deny (`cargo install cargo-deny --locked`)"));
    }
    let deny = |checks: &[&str]| {
        let fixed = ["deny", "--offline", "check", "--hide-inclusion-graph"];
        process::run(&mut process::cargo(&[&fixed[..], checks].concat()))
    };
    deny(&["bans", "licenses", "sources"])?;
    if !has_advisories() {
        return Ok(Some("no list of advisories here (`cargo deny fetch` brings it)"));
    }
    deny(&["advisories"])?;
    Ok(None)
}

fn has_advisories() -> bool {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let lists = home.and_then(|home| std::fs::read_dir(home.join(ADVISORIES)).ok());
    lists.is_some_and(|lists| lists.flatten().any(|entry| entry.path().is_dir()))
}

/// Checks the licence of every package.
fn check_licences() -> Result<()> {
    let allowed = allowed()?;
    let externals = Graph::read()?.externals();
    let mut n_refused = 0;
    for package in &externals {
        if !is_allowed(&package.licence, &allowed) {
            println!("{}: licence `{}` is not on the list", package.id, package.licence);
            n_refused += 1;
        }
    }
    if n_refused > 0 {
        bail!("{n_refused} packages: use another, or add the licence to deny.toml");
    }
    println!("{} packages, each under a licence of deny.toml", externals.len());
    Ok(())
}

/// Reads the licences that the policy allows.
fn allowed() -> Result<Vec<String>> {
    let path = process::root().join("deny.toml");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let policy: toml::Table = text.parse().context("deny.toml")?;
    let list = policy.get("licenses").and_then(|licences| licences.get("allow")?.as_array());
    let list = list.context("deny.toml has no list `allow` in [licenses]")?;
    list.iter()
        .map(|name| Ok(name.as_str().context("deny.toml: a licence is a text")?.to_owned()))
        .collect()
}

/// Returns whether an SPDX expression leaves us a choice that is on the list.
///
/// Reads `AND`, `OR`, `WITH` and parentheses, and the old `/` for `OR`. What it cannot read is
/// not allowed.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    matches!(any_of(&tokens, allowed), Some((true, [])))
}

/// Reads alternatives, and returns the tokens that follow.
fn any_of<'a, 'b>(tokens: &'b [&'a str], list: &[String]) -> Option<(bool, &'b [&'a str])> {
    let (mut allowed, mut rest) = all_of(tokens, list)?;
    while let ["OR", after @ ..] = rest {
        let (next, after) = all_of(after, list)?;
        (allowed, rest) = (allowed || next, after);
    }
    Some((allowed, rest))
}

/// Reads licences that hold together, and returns the tokens that follow.
fn all_of<'a, 'b>(tokens: &'b [&'a str], list: &[String]) -> Option<(bool, &'b [&'a str])> {
    let (mut allowed, mut rest) = one(tokens, list)?;
    while let ["AND", after @ ..] = rest {
        let (next, after) = one(after, list)?;
        (allowed, rest) = (allowed && next, after);
    }
    Some((allowed, rest))
}

/// Reads one licence or one expression in parentheses, and returns the tokens that follow.
fn one<'a, 'b>(tokens: &'b [&'a str], list: &[String]) -> Option<(bool, &'b [&'a str])> {
    match tokens {
        ["(", inner @ ..] => match any_of(inner, list)? {
            (allowed, [")", rest @ ..]) => Some((allowed, rest)),
            _ => None,
        },
        [name, "WITH", exception, rest @ ..] => {
            Some((list.contains(&format!("{name} WITH {exception}")), rest))
        }
        [name, rest @ ..] => Some((list.iter().any(|one| one == name), rest)),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        assert_eq!(is_allowed(expression, &allowed().unwrap()), expected, "{expression}");
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
