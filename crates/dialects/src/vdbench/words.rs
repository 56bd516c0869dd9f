//! What Vdbench's keywords mean, in our own words: for `explain`, and for hints.

use std::fmt::Write as _;

use super::scan::ORDER;
use super::section::{Section, Word};
use super::{fsd, fwd, general, hosts, rd, sd, wd};

/// A section, and what its keywords mean.
struct Words {
    name: &'static str,
    what: &'static str,
    keywords: Vec<Word>,
}

/// Returns all sections in the order of a file.
fn sections() -> [Words; 8] {
    fn of<T>(section: &'static Section<T>) -> Words {
        Words { name: section.name, what: section.what, keywords: section.words() }
    }
    [
        of(&general::SECTION),
        of(&hosts::SECTION),
        of(&hosts::GROUPS),
        of(&fsd::SECTION),
        of(&sd::SECTION),
        of(&wd::SECTION),
        of(&fwd::SECTION),
        of(&rd::SECTION),
    ]
}

/// Returns the sections that have a keyword, written in full.
pub(super) fn sections_of(name: &str) -> Vec<&'static str> {
    let has = |section: &&Words| section.keywords.iter().any(|word| word.name == name);
    sections().iter().filter(has).map(|section| section.name).collect()
}

/// Explains a keyword, wherever it may stand: `lun`, `sd.lun`, `vdbench.lun`; or a kind of
/// definition with its keywords: `sd`. `None` for what is neither.
pub fn explain(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let name = name.strip_prefix("vdbench.").unwrap_or(&name).trim_end_matches('=');
    let all = sections();
    if let Some(section) = all.iter().find(|section| section.name == name) {
        return Some(section_text(section));
    }
    let (section, key) = match name.split_once('.') {
        Some((section, key)) => (Some(section), key),
        None => (None, name),
    };
    let is_meant = |word: &&Word| word.name == key && section.is_none_or(|it| it == word.section);
    let mut text = String::new();
    for word in all.iter().flat_map(|section| &section.keywords).filter(is_meant) {
        let gap = if text.is_empty() { "" } else { "\n" };
        let Word { section, name, values, text: meaning, example } = word;
        let _ = write!(text, "{gap}{section}.{name} (Vdbench)\n\n");
        put(&mut text, "  ", meaning);
        text.push('\n');
        for (label, value) in [("values", *values), ("example", example.as_str())] {
            let mut lines = String::new();
            put(&mut lines, &" ".repeat(12), value);
            let _ = write!(text, "  {label:<10}{}", lines.trim_start());
        }
    }
    (!text.is_empty()).then_some(text)
}

fn section_text(section: &Words) -> String {
    let mut text = format!("{} (Vdbench): {}\n\n", section.name, section.what);
    for word in &section.keywords {
        let first = word.text.split_once(". ").map_or(word.text.as_str(), |(first, _)| first);
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

    use super::*;

    fn words() -> Vec<Word> {
        sections().into_iter().flat_map(|section| section.keywords).collect()
    }

    #[test]
    fn every_keyword_is_explained() {
        let mut seen = HashSet::new();
        for word in words() {
            assert!(seen.insert((word.section, word.name)), "{word:?} twice");
            assert!(word.text.ends_with('.') && word.text.len() > 20, "{word:?}");
            assert!(word.example.contains(&format!("{}=", word.name)), "{word:?}");
            assert!(!word.values.is_empty(), "{word:?}");
        }
    }

    /// Keywords have no meaning but that of their rows: each is explained, and each other name is
    /// that of a row.
    #[test]
    fn every_row_is_whole() {
        fn check<T>(section: &Section<T>) {
            assert_eq!(section.mistakes(), [""; 0], "{}", section.name);
        }
        check(&general::SECTION);
        check(&hosts::SECTION);
        check(&hosts::GROUPS);
        check(&fsd::SECTION);
        check(&sd::SECTION);
        check(&wd::SECTION);
        check(&fwd::SECTION);
        check(&rd::SECTION);
    }

    /// The kinds of definitions stand in three places: here, in what begins one, and in what ends
    /// the one before. A section ends where any later one begins.
    #[test]
    fn every_section_begins_somewhere_and_ends_the_ones_before() {
        use crate::vdbench::params::DEFINITIONS;
        let names: Vec<&str> = sections().iter().map(|section| section.name).collect();
        assert_eq!(names[0], general::SECTION.name);
        assert_eq!(names[1..], DEFINITIONS);
        let check = |name: &str, ends: &[&str], others: &[&str]| {
            let at = names.iter().position(|it| *it == name).expect("it is listed");
            let expected: HashSet<&str> = names[at + 1..].iter().chain(others).copied().collect();
            assert_eq!(ends.iter().copied().collect::<HashSet<&str>>(), expected, "{name}");
            assert_eq!(ends.len(), expected.len(), "{name}: {ends:?}");
        };
        // Another name of `hd=`.
        check("general", general::SECTION.ends, &["host"]);
        check("hd", hosts::SECTION.ends, &[]);
        check("rg", hosts::GROUPS.ends, &[]);
        check("fsd", fsd::SECTION.ends, &[]);
        check("sd", sd::SECTION.ends, &[]);
        check("wd", wd::SECTION.ends, &[]);
        // Of the two kinds of workloads a file has one, or the other one first.
        check("fwd", fwd::SECTION.ends, &["wd"]);
        check("rd", rd::SECTION.ends, &[]);
    }

    #[test]
    fn words_are_found_by_any_name() {
        for name in ["lun", "sd.lun", "vdbench.lun", "vdbench.sd.lun", "LUN", "lun="] {
            assert!(explain(name).is_some_and(|text| text.contains("sd.lun (Vdbench)")), "{name}");
        }
        let both = explain("xfersize").unwrap();
        assert!(both.contains("wd.xfersize") && both.contains("rd.xfersize"), "{both}");
        assert!(explain("sd").unwrap().contains("  lun "));
        for section in sections() {
            let text = explain(section.name);
            assert!(text.is_some_and(|text| text.contains(super::ORDER)), "{}", section.name);
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
