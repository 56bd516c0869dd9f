//! Links between documents: each leads to a file of the tree and to a heading in it, and each page
//! of docs/ stands in its table of contents.

use std::path::{Component, Path, PathBuf};

use crate::process;

use super::{File, Violation};

/// The table of contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Checks all links of all documents.
pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let is_page = |file: &&File| file.path.extension().is_some_and(|it| it == "md");
    let mut violations = Vec::new();
    for file in files.iter().filter(is_page) {
        violations.extend(check_file(file, files));
    }
    let Some(summary) = files.iter().find(|file| file.path == Path::new(SUMMARY)) else {
        let message = "missing: it is the table of contents of the book".to_owned();
        violations.push(Violation { path: SUMMARY.into(), line: 1, message });
        return violations;
    };
    let listed: Vec<PathBuf> =
        links(&summary.text).map(|(_, link)| normal(&summary.path.with_file_name(link))).collect();
    for file in files.iter().filter(is_page) {
        let is_in_book = file.path.starts_with("docs") && file.path != summary.path;
        if is_in_book && !listed.contains(&file.path) {
            violations.push(file.violation(1, format!("not in {SUMMARY}: add the page there")));
        }
    }
    violations
}

/// Every link to the tree leads to a file, and behind a `#` to a heading.
fn check_file(file: &File, files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (line, link) in links(&file.text) {
        if link.contains(':') {
            continue; // another site
        }
        let (path, anchor) = link.split_once('#').map_or((link, None), |(p, a)| (p, Some(a)));
        let is_here = path.is_empty();
        let target =
            if is_here { file.path.clone() } else { normal(&file.path.with_file_name(path)) };
        if !is_here && !process::root().join(&target).exists() {
            let message = format!("link to `{path}`, which does not exist");
            violations.push(file.violation(line, message));
            continue;
        }
        let Some(anchor) = anchor else { continue };
        let page = files.iter().find(|file| file.path == target);
        if !page.is_some_and(|page| anchors(&page.text).any(|it| it == anchor)) {
            let message = format!("link to `{link}`: {} has no such heading", target.display());
            violations.push(file.violation(line, message));
        }
    }
    violations
}

/// Returns the lines that are no part of a fenced block, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(line_idx, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((line_idx + 1, line))
    })
}

/// Returns where links of a text lead, with their lines.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(line, text)| {
        text.match_indices("](").filter_map(move |(at, open)| {
            let rest = &text[at + open.len()..];
            let link = rest.split([')', ' ']).next()?;
            (!link.is_empty()).then_some((line, link))
        })
    })
}

/// Returns the anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let mut seen: Vec<String> = Vec::new();
    prose(text).filter_map(|(_, line)| line.strip_prefix('#')).map(move |heading| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let n_before = seen.iter().filter(|it| **it == slug).count();
        seen.push(slug.clone());
        if n_before == 0 { slug } else { format!("{slug}-{n_before}") }
    })
}

/// Returns a path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_heading() {
        let page = |path: &str, text: &str| File::new(Path::new(path), text.to_owned(), &[]);
        let files = [
            page("docs/a.md", "# A\n## What `x` *is*, in 2\n## Twice\n## Twice\n```\n# no\n```\n"),
            page(
                "README.md",
                "[1](docs/a.md#what-x-is-in-2) [2](docs/a.md#twice-1) [3](docs/a.md#no)\n\
                 [4](#here) [5](https://x.test/#y)\n```\n[6](gone.md)\n```\n",
            ),
        ];
        let found = check_file(&files[1], &files);
        // No file `docs/a.md` lies in the tree: the first three name that.
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        let missing = "link to `docs/a.md`, which does not exist";
        assert_eq!(
            messages,
            [missing, missing, missing, "link to `#here`: README.md has no such heading"]
        );
        let headings: Vec<String> = anchors(&files[0].text).collect();
        assert_eq!(headings, ["a", "what-x-is-in-2", "twice", "twice-1"]);
    }

    #[test]
    fn every_page_stands_in_the_table_of_contents() {
        let page = |path: &str, text: &str| File::new(Path::new(path), text.to_owned(), &[]);
        let files =
            [page(SUMMARY, "- [A](bench.md)\n"), page("docs/bench.md", ""), page("docs/b.md", "")];
        let found = check(&files);
        let paths: Vec<&Path> = found.iter().map(|it| it.path.as_path()).collect();
        assert_eq!(paths, [Path::new("docs/b.md")], "{found:?}");
    }
}
