//! Names of files and disks of Windows, which mean nothing here until they are mapped.

use plan::{Diagnostic, Severity, Span};

use crate::{Overrides, Parsed};

/// A target by a name of Windows.
#[derive(Clone, Debug)]
pub(crate) struct NamedTarget<'a> {
    /// As written.
    pub(crate) name: &'a str,
    /// The path that it is until it is mapped.
    pub(crate) path: String,
    pub(crate) span: &'a Span,
}

/// Returns whether a name begins with the letter of a drive: `C:`.
pub(crate) fn has_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Returns whether a name means nothing on this host unless it is mapped: drives, shares, numbers
/// of disks, and those of targets that a profile leaves open.
pub(crate) fn is_of_windows(name: &str) -> bool {
    has_drive(name) || name.starts_with("\\\\") || name.starts_with(['#', '*'])
}

/// Returns a name as a path: with slashes, and the letter of a drive in upper case.
pub(crate) fn path(name: &str) -> String {
    let mut path = name.replace('\\', "/");
    if has_drive(&path) {
        path[..1].make_ascii_uppercase();
    }
    path
}

/// Returns the overrides of a user as they are for such paths: what is mapped may be written as on
/// Windows.
pub(crate) fn overrides(overrides: &Overrides) -> Overrides {
    let mut ours = overrides.clone();
    for (from, _) in &mut ours.remap {
        if is_of_windows(from) || from.contains('\\') {
            *from = path(from);
        }
    }
    ours
}

/// Reports targets that mean nothing here, and were not mapped: as mistakes in a plan that is to be
/// run.
pub(crate) fn unmapped<'a>(
    targets: impl Iterator<Item = NamedTarget<'a>>,
    parsed: &Parsed,
    is_to_run: bool,
) -> Vec<Diagnostic> {
    let names = || parsed.plan.jobs().flat_map(|job| &job.files.names);
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut known = Vec::new();
    for NamedTarget { name, path, span } in targets {
        if known.contains(&path) || names().all(|name| *name != path) {
            continue;
        }
        let (from, to) = prefix(name, &path);
        let text = format!("target `{name}` is nothing that this host has");
        let mut finding = Diagnostic::error("unmapped-target", text).at(span.clone());
        if !is_to_run {
            finding.severity = Severity::Warning;
        }
        findings.push(finding.help(format!("say where it is: `--remap '{from}={to}'`")));
        known.push(path);
    }
    findings
}

/// Returns what is best mapped of a path, and to what, for example: the drive of a file, the share
/// that it is on, or a disk as a whole.
fn prefix<'a>(name: &'a str, path: &'a str) -> (&'a str, &'static str) {
    if has_drive(path) && path.len() > 2 {
        return (&path[..2], "/mnt/data");
    }
    if path.starts_with('*') {
        return (name, "/mnt/data/test.dat");
    }
    let is_device = path.starts_with("//./") || path.starts_with("//?/");
    if let Some(share) = path.strip_prefix("//").filter(|_| !is_device) {
        let mut slashes = share.match_indices('/').map(|(at, _)| at + 2);
        // Name and path have the same length.
        let end = slashes.nth(1).unwrap_or(path.len());
        return (name.get(..end).unwrap_or(name), "/mnt/data");
    }
    (name, "/dev/sdX")
}
