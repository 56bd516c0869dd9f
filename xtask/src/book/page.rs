//! A page for a task as the book has it: without the comments that steer its test, and with what
//! its commands print.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use testing::pages::{Block, Place, Ran, blocks};

/// A page whose commands were run.
pub(super) struct Page {
    /// The page with pictures.
    pub(super) text: String,
    /// The pages of charts that it shows, as its commands named them.
    pub(super) pictures: Vec<String>,
    /// Commands that were run.
    pub(super) n_run: usize,
    /// Commands that were not.
    pub(super) n_left: usize,
}

impl Page {
    /// Runs the commands of a page in an empty folder and puts what came of them below.
    pub(super) fn go_through(text: &str, program: &Path, folder: &Path) -> Result<Page> {
        let found = blocks(text).map_err(|mistake| anyhow!("{mistake}"))?;
        let place = Place::new(folder, program)?;
        let mut page = Page { text: String::new(), pictures: Vec::new(), n_run: 0, n_left: 0 };
        let mut below = Vec::new();
        for block in &found {
            let ran = place.go_through(block)?;
            page.n_run += ran.len();
            page.n_left += block.commands().len() - ran.len();
            if let Some(fault) = ran.iter().find_map(|ran| block.fault(ran)) {
                bail!("line {}: {fault}", block.line);
            }
            below.push(pictures(block, &ran));
            let pages = block.pictures.iter().filter(|picture| *picture != "terminal");
            page.pictures.extend(pages.cloned());
        }
        page.text = with_pictures(text, &below);
        Ok(page)
    }
}

/// Returns what the book shows below a block.
fn pictures(block: &Block, ran: &[Ran]) -> String {
    let mut text = String::new();
    for picture in &block.pictures {
        if picture == "terminal" {
            text.push_str(&terminal(ran));
        } else {
            let png = Path::new(picture).with_extension("png");
            let _ = write!(
                text,
                "\n[![the page {picture}, which the last command has written]({})]({picture})\n",
                png.display()
            );
        }
    }
    text
}

/// Returns what commands print as a terminal shows it.
fn terminal(ran: &[Ran]) -> String {
    let mut text = "\n<pre class=\"terminal\" tabindex=\"0\">".to_owned();
    for ran in ran {
        let output = if ran.stdout.is_empty() { &ran.stderr } else { &ran.stdout };
        let _ =
            write!(text, "<b>$ {}</b>\n{}\n", escaped(&ran.command), escaped(output.trim_end()));
    }
    text.push_str("</pre>\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Leaves out the comments of a page, and puts a text below each block.
fn with_pictures(page: &str, below: &[String]) -> String {
    let mut below = below.iter();
    let (mut text, mut is_block) = (String::new(), false);
    for line in page.lines() {
        if !is_block && line.starts_with("<!-- ") {
            continue;
        }
        text.push_str(line);
        text.push('\n');
        if line.starts_with("```") {
            is_block = !is_block;
            if !is_block {
                text.push_str(below.next().map_or("", String::as_str));
            }
        }
    }
    text
}

/// Leaves the text of links that lead out of the documentation, which the book does not have.
pub(super) fn without_links_out(page: &str, depth: usize) -> String {
    let out = format!("]({}", "../".repeat(depth + 1));
    let mut rest = page;
    let mut text = String::new();
    while let Some(at) = rest.find(&out) {
        let Some(open) = rest[..at].rfind('[') else { break };
        let Some(end) = rest[at..].find(')') else { break };
        text.push_str(&rest[..open]);
        text.push_str(&rest[open + 1..at]);
        rest = &rest[at + end + 1..];
    }
    text + rest
}

/// Puts a sentence in the place of each picture that was not taken.
pub(super) fn leave_out_pictures(pages: &[PathBuf]) -> Result<()> {
    let folder = pages.first().and_then(|page| page.parent());
    for path in super::markdown(folder.context("the pages for tasks show some")?)? {
        let text = fs::read_to_string(&path)?;
        let lines = text.lines().map(|line| match line.strip_prefix("[![the page ") {
            Some(rest) => {
                let name = rest.split(',').next().unwrap_or_default();
                format!("[The page {name}]({name}); the book was built without a browser.\n")
            }
            None => format!("{line}\n"),
        });
        fs::write(&path, lines.collect::<String>())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Page

<!-- picture: terminal -->
<!-- picture: a.html -->
```sh
echo '<a>' > a.html; cat a.html
```

After.
";

    #[test]
    fn a_page_shows_what_its_commands_print() {
        let dir = tempfile::tempdir().expect("a folder");
        let page = Page::go_through(PAGE, Path::new("/bin/true"), dir.path()).expect("a page");
        let expected = "\
# Page

```sh
echo '<a>' > a.html; cat a.html
```

<pre class=\"terminal\" tabindex=\"0\"><b>$ echo '&lt;a&gt;' &gt; a.html; cat a.html</b>
&lt;a&gt;
</pre>

[![the page a.html, which the last command has written](a.png)](a.html)

After.
";
        assert_eq!(page.text, expected);
        assert_eq!((page.pictures, page.n_run, page.n_left), (vec!["a.html".to_owned()], 1, 0));
        let wrong = PAGE.replace("cat a.html", "exit 1");
        let dir = tempfile::tempdir().expect("a folder");
        assert!(Page::go_through(&wrong, Path::new("/bin/true"), dir.path()).is_err());
    }

    #[test]
    fn a_picture_that_was_not_taken_is_a_sentence() {
        let dir = tempfile::tempdir().expect("a folder");
        let page = dir.path().join("p.md");
        fs::write(&page, "One.\n[![the page a.html, made](a.png)](a.html)\nTwo.\n").expect("it");
        leave_out_pictures(&[dir.path().join("a.html")]).expect("it is there");
        let expected =
            "One.\n[The page a.html](a.html); the book was built without a browser.\nTwo.\n";
        assert_eq!(fs::read_to_string(&page).expect("it"), expected);
    }

    #[test]
    fn links_out_of_the_book_keep_their_words() {
        let page = "See [data](../crates/x.md), [a](b.md) and [c](https://x.test).\n";
        let expected = "See data, [a](b.md) and [c](https://x.test).\n";
        assert_eq!(without_links_out(page, 0), expected);
        assert_eq!(without_links_out("[a](../bench.md)", 1), "[a](../bench.md)");
    }
}
