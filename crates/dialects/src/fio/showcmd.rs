//! Job files as a command line (`--showcmd`), and the usage text.

use std::fmt::Write;

use super::switches::SWITCHES;
use crate::sections::{Input, Section};

impl Input {
    /// Writes the sections as fio's command line, with variables replaced and comments cut.
    ///
    /// Unlike fio's, the line can be pasted into a shell: values are quoted where they need it, and
    /// a `[global]` below a job becomes `--name=global`, which keeps it from changing that job.
    pub fn showcmd(&self, sections: &[String]) -> String {
        let mut text = "fio".to_owned();
        let mut has_job = false;
        for section in self.parts.iter().flat_map(|part| &part.sections) {
            let is_wanted = sections.is_empty() || sections.contains(&section.name);
            if !section.is_global && !is_wanted {
                continue;
            }
            if !section.is_global || has_job {
                let name = if section.is_global { "global" } else { &section.name };
                let _ = write!(text, " --name={}", units::shell_word(name));
            }
            has_job |= !section.is_global;
            options(section, &mut text);
        }
        text.push('\n');
        text
    }
}

fn options(section: &Section, text: &mut String) {
    for option in section.options.iter().filter(|option| option.key != "name") {
        let _ = match option.value.as_deref() {
            Some(value) => write!(text, " --{}={}", option.key, units::shell_word(value)),
            None => write!(text, " --{}", option.key),
        };
    }
}

/// Returns what `--help` prints.
pub fn usage() -> String {
    let mut text = "fio [options] [job options] <job file(s)>\n".to_owned();
    for switch in SWITCHES.iter().filter(|switch| !switch.usage.is_empty()) {
        let (form, help) = switch.usage.split_once("  ").unwrap_or(("", switch.usage));
        let _ = writeln!(text, "  {:<34}{help}", format!("--{}{form}", switch.name));
    }
    text
}
