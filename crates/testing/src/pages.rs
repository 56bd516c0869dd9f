//! The documentation's pages for tasks as scripts: their command lines, and what comes of them.
//!
//! A page is Markdown. Each line of its ` ```sh ` blocks is a command. A comment right above a
//! block says what a reader need not see:
//!
//! | comment | meaning |
//! |---|---|
//! | `<!-- not run: REASON -->` | the commands need what a test has not |
//! | `<!-- with: ARGS -->` | what is added to each command, to make it short |
//! | `<!-- ends with: 0, 4 -->` | the exit codes; 0 or 3 unless said, as a host may be busy |
//! | `<!-- file: NAME -->` | the block is no command, but a file of this name |
//! | `<!-- picture: terminal -->` | the book shows below the block what the commands print |
//! | `<!-- picture: FILE.html -->` | the book shows this page, which the commands have made |
//! | `<!-- setup: COMMAND -->` | a command before all of the block |
//!
//! Commands run in an empty folder with `plimsoll` on the path. [`VOLUME`] stands for a reader's
//! own folder, and becomes one in there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder that pages measure, which no command has to make.
pub const VOLUME: &str = "/mnt/volume";

/// The folder of the pages: `$PAGES` of their commands.
pub const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tasks");

/// A block of a page, with what the comments above it say.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Block {
    /// Line of its first command, from 1.
    pub line: usize,
    /// What stands behind its opening fence.
    pub language: String,
    /// What is in it.
    pub text: String,
    /// Why its commands are not run.
    pub not_run: Option<String>,
    /// What is added to its commands.
    pub with: String,
    /// The exit codes of its commands; 0 and 3 where it is empty.
    pub ends_with: Vec<i32>,
    /// The name of the file that it is.
    pub file: Option<String>,
    /// What the book shows below it.
    pub pictures: Vec<String>,
    /// Commands before it.
    pub setup: Vec<String>,
}

/// What came of a command.
#[derive(Debug)]
pub struct Ran {
    /// As it stands in the page.
    pub command: String,
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// Its messages.
    pub stderr: String,
}

/// A folder in which the commands of a page run.
#[derive(Debug)]
pub struct Place {
    dir: PathBuf,
}

/// Reads the blocks of a page.
///
/// # Errors
/// Names the line of a comment that is none of ours, and of a block without an end.
pub fn blocks(page: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut next = Block::default();
    let mut lines = page.lines().enumerate();
    while let Some((line_idx, line)) = lines.next() {
        if let Some(comment) = line.strip_prefix("<!-- ") {
            let comment = comment.strip_suffix(" -->");
            let known = comment.and_then(|comment| note(&mut next, comment));
            known.ok_or_else(|| format!("line {}: what is `{line}`?", line_idx + 1))?;
        } else if let Some(language) = line.strip_prefix("```") {
            next.line = line_idx + 2;
            language.clone_into(&mut next.language);
            loop {
                let (_, line) = lines.next().ok_or("a block without an end")?;
                if line == "```" {
                    break;
                }
                next.text.push_str(line);
                next.text.push('\n');
            }
            blocks.push(std::mem::take(&mut next));
        } else if next != Block::default() {
            return Err(format!("line {}: a comment without a block below it", line_idx + 1));
        }
    }
    Ok(blocks)
}

/// Takes what a comment says of the block below it; none where it is none of ours.
fn note(block: &mut Block, comment: &str) -> Option<()> {
    let (key, value) = comment.split_once(": ")?;
    match key {
        "not run" => block.not_run = Some(value.to_owned()),
        "with" => value.clone_into(&mut block.with),
        "ends with" => {
            let codes = value.split(", ").map(str::parse);
            block.ends_with = codes.collect::<Result<_, _>>().ok()?;
        }
        "file" => block.file = Some(value.to_owned()),
        "picture" => block.pictures.push(value.to_owned()),
        "setup" => block.setup.push(value.to_owned()),
        _ => return None,
    }
    Some(())
}

impl Block {
    /// Returns its commands, each as one line; none where it is a file or no shell.
    pub fn commands(&self) -> Vec<String> {
        if self.file.is_some() || self.language != "sh" {
            return Vec::new();
        }
        let joined: Vec<&str> = self.text.split("\\\n").map(str::trim_start).collect();
        let joined = joined.join("");
        let lines = joined.lines().map(|line| line.split(" # ").next().unwrap_or(line).trim());
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
    }

    /// Returns what is wrong with a command's end, in words; none where it is as it should be.
    pub fn fault(&self, ran: &Ran) -> Option<String> {
        let expected = if self.ends_with.is_empty() { &[0, 3][..] } else { &self.ends_with };
        let is_right = ran.code.is_some_and(|code| expected.contains(&code));
        let Ran { command, code, stdout, stderr } = ran;
        (!is_right).then(|| format!("`{command}` ended with {code:?}:\n{stdout}{stderr}"))
    }
}

impl Place {
    /// Makes a place in an empty folder, with this program.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn new(dir: &Path, program: &Path) -> std::io::Result<Self> {
        let place = Place { dir: dir.to_owned() };
        std::fs::create_dir(dir.join("bin"))?;
        std::fs::create_dir_all(place.folder().join("volume"))?;
        std::os::unix::fs::symlink(program, dir.join("bin/plimsoll"))?;
        Ok(place)
    }

    /// Returns the folder in which commands run.
    pub fn folder(&self) -> PathBuf {
        self.dir.join("here")
    }

    fn volume(&self) -> String {
        self.folder().join("volume").to_string_lossy().into_owned()
    }

    /// Does what a block says: writes the file that it is, or runs its commands in turn.
    ///
    /// # Errors
    /// Where a file cannot be written or no shell starts.
    pub fn go_through(&self, block: &Block) -> std::io::Result<Vec<Ran>> {
        if let Some(name) = &block.file {
            let text = block.text.replace(VOLUME, &self.volume());
            std::fs::write(self.folder().join(name), text)?;
        }
        if block.not_run.is_some() {
            return Ok(Vec::new());
        }
        for command in &block.setup {
            self.run(command, "")?;
        }
        block.commands().iter().map(|command| self.run(command, &block.with)).collect()
    }

    fn run(&self, command: &str, with: &str) -> std::io::Result<Ran> {
        let volume = self.volume();
        let line = format!("{command} {with}").replace(VOLUME, &volume);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("PATH={}:$PATH; {line}", self.dir.join("bin").display())]);
        shell.current_dir(self.folder()).stdin(Stdio::null());
        shell.env("HOME", &self.dir).env("TZ", "UTC").env("PAGES", PAGES);
        shell.env("PLIMSOLL_STORE", self.dir.join("runs.db"));
        let output = shell.output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&volume, VOLUME);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Ok(Ran { command: command.to_owned(), code: output.status.code(), stdout, stderr })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Title

<!-- file: a.txt -->
```text
one
```

<!-- with: ; exit 4 -->
<!-- ends with: 4 -->
<!-- picture: terminal -->
```sh
# why
cat a.txt   # what it is
cat \\
  a.txt

```

<!-- not run: no second host -->
```sh
ssh there
```
";

    #[test]
    fn a_page_is_blocks_with_notes() {
        let found = blocks(PAGE).expect("a page");
        let lines: Vec<usize> = found.iter().map(|block| block.line).collect();
        assert_eq!(lines, [5, 12, 21]);
        assert_eq!(found[0].file.as_deref(), Some("a.txt"));
        assert_eq!(found[1].commands(), ["cat a.txt", "cat a.txt"]);
        assert_eq!(found[1].pictures, ["terminal"]);
        assert_eq!(found[2].not_run.as_deref(), Some("no second host"));
        let typo = blocks("<!-- not ran: why -->\n```sh\n```\n");
        assert_eq!(typo, Err("line 1: what is `<!-- not ran: why -->`?".to_owned()));
        let lost = blocks("<!-- with: x -->\n\n```sh\n```\n");
        assert_eq!(lost, Err("line 2: a comment without a block below it".to_owned()));
    }

    #[test]
    fn commands_run_in_turn_and_are_judged() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = Place::new(dir.path(), Path::new("/bin/true")).expect("it is empty");
        let blocks = blocks(PAGE).expect("a page");
        assert!(place.go_through(&blocks[0]).expect("a file").is_empty());
        let ran = place.go_through(&blocks[1]).expect("a shell");
        assert_eq!((ran.len(), ran[0].code, ran[0].stdout.as_str()), (2, Some(4), "one\n"));
        assert_eq!(blocks[1].fault(&ran[0]), None);
        let strict = Block { ends_with: Vec::new(), ..blocks[1].clone() };
        let fault = strict.fault(&ran[0]);
        assert_eq!(fault.as_deref(), Some("`cat a.txt` ended with Some(4):\none\n"));
        assert!(place.go_through(&blocks[2]).expect("nothing").is_empty());
    }
}
