//! Names of definitions, which become those of pages.

use std::collections::HashMap;

use super::findings::{Findings, SourceRange};
use super::output::{OTHER_PAGES, PAGES};

/// Longest name, bytes: a page may be named after a slave and a storage definition, and a file's
/// name may have 255.
const NAME_BYTES_MAX: usize = 100;

/// Looks at all names that become those of pages, with their kind and place. Vdbench finds what
/// cannot be one when it writes there, or writes into another page.
pub(super) fn check<'a>(
    names: impl Iterator<Item = (&'static str, &'a str, SourceRange)>,
    findings: &mut Findings,
) {
    let mut known: HashMap<&str, &str> = HashMap::new();
    for (kind, name, place) in names {
        let help = "its pages are named after it; write another name";
        let is_bad = |c: char| c == '/' || c.is_control();
        if name.contains(is_bad) {
            let message = format!("`{kind}={name}` cannot be the name of a file");
            findings.error_help(place, "wrong-name", message, help);
        } else if name.len() > NAME_BYTES_MAX {
            let message =
                format!("a name of `{kind}=` has {} bytes, more than {NAME_BYTES_MAX}", name.len());
            findings.error_help(place, "wrong-name", message, help);
        } else if is_other_page(name) {
            let message = format!("`{kind}={name}` has the name of the page `{name}.html`");
            findings.error_help(place, "wrong-name", message, help);
        } else if let Some(other) = known.insert(name, kind).filter(|it| *it != kind) {
            let message = format!(
                "`{other}={name}` and `{kind}={name}` have one page, `{name}.html`, for both"
            );
            findings.warning(place, "shared-page", message, "give them names of their own");
        }
    }
}

/// Returns whether a definition of this name would write into a page that is not its own.
fn is_other_page(name: &str) -> bool {
    PAGES.iter().chain(&OTHER_PAGES).any(|page| page.strip_suffix(".html") == Some(name))
}
