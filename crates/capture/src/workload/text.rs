//! A workload as `[unit]` of a plan.

use std::fmt::Write as _;

use units::{format_count, format_duration, plural};

use super::component::{Component, Workload};
use super::rate::rate_text;
use crate::context::printable;

impl Workload {
    /// Writes it as a plan, for people to read and change. `name` is that of the unit, and of its
    /// folder; `source` is what it was captured from.
    pub fn to_toml(&self, name: &str, source: &str) -> String {
        let mut text = String::from("schema = \"plimsoll.plan/1\"\n\n");
        let span = format_duration(std::time::Duration::from_nanos(self.span_ns));
        let mut comment = |line: &str| put_comment(&mut text, line);
        let n_calls = plural(self.n_calls, "call");
        comment(&format!("Captured from {source}: {n_calls} in {span}."));
        self.labels.iter().for_each(|label| comment(label));
        for note in &self.notes {
            comment(&format!("- {note}"));
        }
        let anchor = format!("/mnt/vol/{name}");
        let _ = write!(
            text,
            "\n[unit]\nname = \"{name}\"\n# The folder that its own files are made in: name one of \
             the volume.\nanchor = \"{anchor}\"\nramp_time = \"10s\"\nruntime = \"60s\"\n"
        );
        for component in &self.components {
            component.write(&mut text);
        }
        text
    }
}

impl Component {
    fn write(&self, text: &mut String) {
        let Component { name, n_processes, instances, rate, n_ops, notes, .. } = self;
        let _ = writeln!(text, "\n[[unit.component]]");
        let n_ops = plural(*n_ops, "operation");
        let processes = match n_processes {
            0 => "as many processes as calls were under way".to_owned(),
            n => format!("processes in all of the trace: {}", format_count(*n)),
        };
        put_comment(text, &format!("{n_ops}; {processes}."));
        for note in notes {
            put_comment(text, &format!("- {note}"));
        }
        let _ = writeln!(text, "name = \"{name}\"\ninstances = {instances}");
        let _ = writeln!(text, "rate = {}", rate_text(*rate));
        for (key, sizes) in [("read_sizes", &self.read_sizes), ("write_sizes", &self.write_sizes)] {
            if !sizes.is_empty() {
                let _ = writeln!(text, "{key} = \"{}\"", weighted(sizes));
            }
        }
        let flags = [
            ("direct", self.direct),
            ("dsync", self.dsync),
            ("fsync_on_close", self.fsync_on_close),
        ];
        for (key, _) in flags.into_iter().filter(|(_, is_set)| *is_set) {
            let _ = writeln!(text, "{key} = true");
        }
        let _ = writeln!(text, "\n[unit.component.mix]");
        for (op, part) in &self.mix {
            let _ = writeln!(text, "{} = {}", op.name(), percent(*part));
        }
        let Component { n_folders, files_per_folder, spare_pct, .. } = self;
        let _ = writeln!(text, "\n[unit.component.files]\nfolders = {n_folders}");
        let _ = writeln!(text, "files_per_folder = {files_per_folder}\nspare_pct = {spare_pct}");
        let _ = writeln!(text, "sizes = \"{}\"", shares(&self.file_sizes));
    }
}

/// Adds a line of comment. Files and mounts may have names with control characters, which TOML has
/// not in comments.
fn put_comment(text: &mut String, line: &str) {
    let _ = writeln!(text, "# {}", printable(line));
}

/// Prints hundredths of a percent as percent.
fn percent(part: u64) -> String {
    let (whole, hundredths) = (part / 100, part % 100);
    if hundredths == 0 { whole.to_string() } else { format!("{whole}.{hundredths:02}") }
}

/// Prints bytes as they are usually written.
fn bytes(bytes: u64) -> String {
    match bytes {
        0 => "0B".to_owned(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}KiB", bytes >> 10),
        _ => format!("{bytes}B"),
    }
}

/// Prints sizes with weights.
fn weighted(sizes: &[(u64, u64)]) -> String {
    if let [(size, _)] = sizes {
        return bytes(*size);
    }
    // Weights have 32 bits; their ratios are what counts.
    let most = sizes.iter().map(|(_, n)| *n).max().unwrap_or(1);
    let scale = most.div_ceil(1_000_000).max(1);
    let parts = sizes.iter().map(|(size, n)| format!("{}/{}", bytes(*size), n.div_ceil(scale)));
    parts.collect::<Vec<_>>().join(" ")
}

/// Prints sizes with shares in percent.
fn shares(sizes: &[(u64, u64)]) -> String {
    if let [(size, _)] = sizes {
        return bytes(*size);
    }
    let parts = sizes.iter().map(|(size, part)| format!("{}/{}", bytes(*size), percent(*part)));
    parts.collect::<Vec<_>>().join(" ")
}
