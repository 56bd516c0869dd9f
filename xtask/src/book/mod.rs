//! The documentation as a site: `docs/` through mdBook, with pictures of what its commands print.
//!
//! The pages for tasks are gone through as their test does it (`testing::pages`), with this build.
//! What they print, and the pages of charts that they make, become pictures below the commands. The
//! site is one folder that is read without a server or a network; its search, too.

mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{e2e, process, workspace};
use page::Page;

/// What is said where mdBook is missing.
const MISSING: &str = "no `mdbook` on PATH: `cargo install mdbook --locked` installs it (0.5 was \
                       tried); then repeat `cargo xtask book`";

/// Builds the site.
pub(crate) fn run() -> Result<()> {
    ensure!(process::on_path("mdbook"), MISSING);
    workspace::build_program()?;
    let folder = workspace::target_dir()?.join("book");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let source = folder.join("src");
    copy(&process::root().join("docs"), &source)?;
    for name in ["book.toml", "book.css"] {
        fs::rename(source.join(name), folder.join(name)).with_context(|| name.to_owned())?;
    }
    let pages = write_pages(&source, &folder)?;
    take_pictures(&pages, &folder)?;
    process::run(Command::new("mdbook").arg("build").arg(&folder))?;
    let site = folder.join("html");
    check_offline(&site)?;
    println!("the book is {}", site.join("index.html").display());
    Ok(())
}

/// Writes each page as the book has it, and returns the pages of charts that it shows.
fn write_pages(source: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let program = workspace::program()?;
    let (mut shown, mut n_run, mut n_left) = (Vec::new(), 0, 0);
    for path in markdown(source)? {
        let text = fs::read_to_string(&path)?;
        let relative = path.strip_prefix(source).context("a page of the book")?;
        let depth = relative.components().count() - 1;
        let mut text = page::without_links_out(&text, depth);
        if relative.starts_with("tasks") {
            let scratch = folder.join("scratch").join(relative.file_stem().context("a name")?);
            fs::create_dir_all(&scratch)?;
            let made = Page::go_through(&text, &program, &scratch)
                .with_context(|| format!("docs/{}", relative.display()))?;
            n_run += made.n_run;
            n_left += made.n_left;
            for picture in &made.pictures {
                let to = path.with_file_name(picture);
                fs::copy(scratch.join("here").join(picture), &to)
                    .with_context(|| format!("`{picture}` of docs/{}", relative.display()))?;
                shown.push(to);
            }
            text = made.text;
        }
        fs::write(&path, text)?;
    }
    println!("{n_run} commands of the pages for tasks were run, {n_left} were not");
    let _ = fs::remove_dir_all(folder.join("scratch"));
    Ok(shown)
}

/// Takes a picture of each page of charts, beside it. Where there is no browser, a sentence of the
/// page says so in its place.
fn take_pictures(pages: &[PathBuf], folder: &Path) -> Result<()> {
    if let Some(missing) = e2e::missing() {
        println!("pages without pictures: {missing}");
        return page::leave_out_pictures(pages);
    }
    e2e::photograph(pages, &folder.join("profile"))?;
    let _ = fs::remove_dir_all(folder.join("profile"));
    Ok(())
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Returns the pages of a folder, in order.
fn markdown(folder: &Path) -> Result<Vec<PathBuf>> {
    files(folder, "md")
}

/// Returns the files with an extension in a folder and below, in order.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Fails where a page or a style sheet of the site names what a browser would fetch elsewhere.
fn check_offline(site: &Path) -> Result<()> {
    for (extension, marks) in [
        ("html", &["src=\"http", "src=\"//", "rel=\"stylesheet\" href=\"http"][..]),
        ("css", &["url(http", "url(\"http", "url('http"]),
    ] {
        for path in files(site, extension)? {
            let text = fs::read_to_string(&path)?;
            if let Some(mark) = marks.iter().find(|mark| text.contains(**mark)) {
                bail!("{} fetches something: it has `{mark}`", path.display());
            }
        }
    }
    Ok(())
}
