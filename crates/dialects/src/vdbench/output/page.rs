//! What pages consist of besides rows: titles, links, anchors, boxes, lines of status. What comes
//! from a parameter file never becomes a part of the page's own language ([`shown`]).

use std::borrow::Cow;

use super::time::Moment;
use crate::vdbench::run::Run;

/// Most runs that are linked at the top of a page: with more, they are of no use there.
const LINKS_MAX: usize = 1000;
/// Columns before a link.
const LINK_COLUMN: usize = 33;
/// Links in one line.
const LINKS_PER_LINE: usize = 8;

/// Returns text as a page shows it. A browser takes a `<` for the begin of a tag if a letter or one
/// of three signs follows; others stay, so that headings and rows are Vdbench's own to the letter.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    let begins_tag = |at: usize| {
        let next = text.as_bytes().get(at + 1);
        next.is_some_and(|next| next.is_ascii_alphabetic() || b"/!?".contains(next))
    };
    if !text.match_indices('<').any(|(at, _)| begins_tag(at)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut start = 0;
    for (at, _) in text.match_indices('<').filter(|(at, _)| begins_tag(*at)) {
        shown.push_str(&text[start..at]);
        shown.push_str("&lt;");
        start = at + 1;
    }
    shown.push_str(&text[start..]);
    Cow::Owned(shown)
}

/// Returns the name of a page as a link holds it.
fn address(page: &str) -> String {
    page.replace('"', "%22").replace('<', "%3C")
}

/// Returns a link.
pub(super) fn link(page: &str, text: &str) -> String {
    format!("<A HREF=\"{}\">{}</A>", address(page), shown(text))
}

/// Returns the first line of a page.
pub(super) fn title(folder: &str, page: &str) -> String {
    format!("<title>Vdbench {}/{}</title><pre>\n", shown(folder), shown(page))
}

/// Returns a line with a link, such as `Link to logfile:`.
pub(super) fn link_line(text: &str, page: &str, name: &str) -> String {
    format!("{text:<LINK_COLUMN$}{}\n", link(page, name))
}

/// Returns lines with links to the pages of these names.
pub(super) fn link_lines(text: &str, names: &[String]) -> String {
    let mut lines = String::new();
    for (idx, chunk) in names.chunks(LINKS_PER_LINE).enumerate() {
        let text = if idx == 0 { text } else { "" };
        let padded = |name: &String| {
            let pad = 8_usize.saturating_sub(name.chars().count());
            format!("{}{:pad$}", link(&format!("{name}.html"), name), "")
        };
        let links: Vec<String> = chunk.iter().map(padded).collect();
        lines.push_str(&format!("{text:<LINK_COLUMN$}{}\n", links.join(" ")));
    }
    lines
}

/// Returns the loops of a run as `For loops:` lists them.
pub(super) fn loops(run: &Run) -> String {
    if run.loops.is_empty() {
        return "None".to_owned();
    }
    let loops: Vec<String> =
        run.loops.iter().map(|(name, value)| format!("{name}={value}")).collect();
    loops.join(" ")
}

/// Returns the links to the runs, which every page begins with.
pub(super) fn run_links(runs: &[Run]) -> String {
    let mut text = "\n".to_owned();
    let mut before = None;
    for (idx, run) in runs.iter().take(LINKS_MAX).enumerate() {
        let head = if idx == 0 { "Link to Run Definitions:" } else { "" };
        let name = format!("{} For loops: ", run.name);
        // Further runs of the same definition show only what differs.
        let (indent, name) = match before {
            Some(known) if known == run.name => (LINK_COLUMN + name.len(), String::new()),
            _ => (LINK_COLUMN, name),
        };
        before = Some(run.name.clone());
        let link = link(&format!("#_{}", idx + 1), &format!("{name}{}", loops(run)));
        text.push_str(&format!("{head:<indent$}{link}\n"));
    }
    if runs.len() > LINKS_MAX {
        text.push_str(&format!("{:LINK_COLUMN$}and {} more\n", "", runs.len() - LINKS_MAX));
    }
    text.push('\n');
    text
}

/// Returns the line where a run begins in a page, with what links jump to.
pub(super) fn anchor(run_idx: usize, starting: &str) -> String {
    let starting = shown(starting);
    format!("\n<a name=\"_{}\"></a><i><b>{starting}</b></i>\n\n", run_idx + 1)
}

/// Returns lines in a box of stars.
pub(super) fn boxed(lines: &[String]) -> Vec<String> {
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let border = "*".repeat(width + 4);
    let mut boxed = vec!["*".to_owned(), border.clone()];
    boxed.extend(lines.iter().map(|line| format!("* {line:<width$} *")));
    boxed.extend([border, "*".to_owned()]);
    boxed
}

/// Returns a line of status.html.
pub(super) fn status_line(now: &Moment, event: &str, run: Option<&Run>) -> String {
    let mut line = format!("{} \t{event}", now.stamp());
    if let Some(run) = run {
        line.push_str(&format!("\trd={}\tFor loops: {}", run.name, loops(run)));
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_become_markup() {
        for (text, expected) in [
            ("sd1", "sd1"),
            ("<script>x</script>", "&lt;script>x&lt;/script>"),
            ("<!--", "&lt;!--"),
            ("<?x", "&lt;?x"),
            ("min(ms) < max(ms)", "min(ms) < max(ms)"),
            ("a<", "a<"),
            ("<<b", "<&lt;b"),
            ("\u{e9}<\u{e9}<i", "\u{e9}<\u{e9}&lt;i"),
        ] {
            assert_eq!(shown(text), expected);
        }
        let tag = "\" onclick=\"x";
        assert_eq!(link(tag, "<b>"), "<A HREF=\"%22 onclick=%22x\">&lt;b></A>");
        assert_eq!(link_line("", "a.html", "a").trim_start(), "<A HREF=\"a.html\">a</A>\n");
    }
}
