//! What Vdbench's keywords mean, in our own words: for `explain`, and for hints.

mod files;
mod general;
mod raw;
mod runs;

use std::fmt::Write as _;

/// What one keyword means in one kind of definition.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// `general`, or what begins the definition: `hd`, `rg`, `sd`, `wd`, `fsd`, `fwd`, `rd`.
    pub section: &'static str,
    /// In full.
    pub name: &'static str,
    /// What may stand behind the sign, and what it is where nothing does.
    pub values: &'static str,
    /// One or two sentences.
    pub text: &'static str,
    /// A line of a parameter file that has it.
    pub example: &'static str,
}

const fn word(
    section: &'static str,
    name: &'static str,
    values: &'static str,
    text: &'static str,
    example: &'static str,
) -> Word {
    Word { section, name, values, text, example }
}

/// Kinds of definitions in the order of a file, and what each is.
pub const SECTIONS: [(&str, &str); 8] = [
    ("general", "what holds for everything, before the first definition"),
    ("hd", "a host definition: where work runs"),
    ("rg", "a replay group: devices of a recorded trace"),
    ("fsd", "a file system definition: a structure of folders and files"),
    ("sd", "a storage definition: a file or device"),
    ("wd", "a workload definition: what the I/O on storage definitions looks like"),
    ("fwd", "a file system workload definition: operations on a structure"),
    ("rd", "a run definition: workloads, their rate, and for how long"),
];

/// In which order definitions stand.
pub(super) const ORDER: &str =
    "definitions come in the order general parameters, hd, rg, fsd or sd, wd or fwd, rd";

/// Returns all keywords, by kind of definition.
pub fn words() -> impl Iterator<Item = &'static Word> {
    [general::WORDS, files::WORDS, raw::WORDS, runs::WORDS].into_iter().flatten()
}

/// Returns the kinds of definitions that have a keyword.
pub(super) fn sections_of(name: &str) -> Vec<&'static str> {
    words().filter(|word| word.name == name).map(|word| word.section).collect()
}

/// Explains a keyword, wherever it may stand: `lun`, `sd.lun`, `vdbench.lun`; or a kind of
/// definition with its keywords: `sd`. `None` for what is neither.
pub fn explain(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let name = name.strip_prefix("vdbench.").unwrap_or(&name).trim_end_matches('=');
    if let Some((section, what)) = SECTIONS.iter().find(|(section, _)| *section == name) {
        return Some(section_text(section, what));
    }
    let (section, key) = match name.split_once('.') {
        Some((section, key)) => (Some(section), key),
        None => (None, name),
    };
    let is_meant = |word: &&Word| word.name == key && section.is_none_or(|it| it == word.section);
    let mut text = String::new();
    for word in words().filter(is_meant) {
        let gap = if text.is_empty() { "" } else { "\n" };
        let Word { section, name, values, text: meaning, example } = word;
        let _ = write!(text, "{gap}{section}.{name} (Vdbench)\n\n");
        put(&mut text, "  ", meaning);
        text.push('\n');
        for (label, value) in [("values", values), ("example", example)] {
            let mut lines = String::new();
            put(&mut lines, &" ".repeat(12), value);
            let _ = write!(text, "  {label:<10}{}", lines.trim_start());
        }
    }
    (!text.is_empty()).then_some(text)
}

fn section_text(section: &str, what: &str) -> String {
    let mut text = format!("{section} (Vdbench): {what}\n\n");
    for word in words().filter(|word| word.section == section) {
        let first = word.text.split_once(". ").map_or(word.text, |(first, _)| first);
        let mut lines = String::new();
        put(&mut lines, &" ".repeat(22), first.trim_end_matches('.'));
        let _ = write!(text, "  {:<20}{}", word.name, lines.trim_start());
    }
    let _ = writeln!(text, "\n{ORDER}");
    text
}

/// Adds a text in lines of 80 columns.
fn put(page: &mut String, indent: &str, text: &str) {
    let mut line = String::from(indent);
    for word in text.split_whitespace() {
        let is_empty = line.len() == indent.len();
        if !is_empty && line.chars().count() + 1 + word.chars().count() > 80 {
            let _ = writeln!(page, "{line}");
            line = String::from(indent);
        } else if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(page, "{line}");
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{fsd, fwd, general, hosts, keywords, rd, sd, wd};
    use super::{explain, sections_of, words};

    /// Every keyword of a section's table is explained; other names of one are, too.
    #[test]
    fn every_keyword_is_explained() {
        let tables = [
            ("general", keywords::names(general::TABLE)),
            ("hd", keywords::names(hosts::TABLE)),
            ("sd", keywords::names(sd::TABLE)),
            ("wd", keywords::names(wd::TABLE)),
            ("fsd", keywords::names(fsd::TABLE)),
            ("fwd", keywords::names(fwd::TABLE)),
            ("rd", keywords::names(rd::TABLE)),
        ];
        for (section, names) in tables {
            for name in names {
                let is_stem = name == "dedup" || name == "maxdata";
                let is_there = words().any(|word| {
                    word.section == section
                        && (word.name == name || (is_stem && word.name.starts_with(name)))
                });
                assert!(is_there, "{section}.{name}");
            }
        }
        let mut seen = HashSet::new();
        for word in words() {
            assert!(seen.insert((word.section, word.name)), "{word:?} twice");
            assert!(word.text.ends_with('.') && word.text.len() > 20, "{word:?}");
            assert!(word.example.contains(word.name), "{word:?}");
            assert!(!word.values.is_empty(), "{word:?}");
        }
    }

    #[test]
    fn words_are_found_by_any_name() {
        for name in ["lun", "sd.lun", "vdbench.lun", "vdbench.sd.lun", "LUN", "lun="] {
            assert!(explain(name).is_some_and(|text| text.contains("sd.lun (Vdbench)")), "{name}");
        }
        let both = explain("xfersize").unwrap();
        assert!(both.contains("wd.xfersize") && both.contains("rd.xfersize"), "{both}");
        assert!(explain("sd").unwrap().contains("  lun "));
        for (section, _) in super::SECTIONS {
            assert!(explain(section).is_some_and(|text| text.contains(super::ORDER)), "{section}");
        }
        for word in words() {
            let text = explain(&format!("{}.{}", word.section, word.name)).unwrap();
            let n_columns = text.lines().map(|line| line.chars().count()).max();
            // An example is one line of a file, whatever its length.
            assert!(n_columns <= Some(80) || word.example.len() > 68, "{text}");
        }
        assert_eq!(explain("nosuch"), None);
        assert_eq!(explain("wd.lun"), None);
        assert_eq!(sections_of("anchor"), ["fsd"]);
    }
}
