//! The options of `cargo xtask rehearsal`.

use anyhow::{Context, Result, bail, ensure};

use super::forms::{FORMS, Form};

pub(crate) const USAGE: &str = "\
cargo xtask rehearsal [OPTIONS]  one emulated P30 in all forms, beside what is printed

  --seconds N        recorded length of a run, at least 10
  --forms A,B        only these: simulated, in-process, fuse, nfs
  --write            put the table into docs/rehearse.md
";

/// Shortest run that counts, seconds.
const SECONDS_MIN: u32 = 10;

/// What was asked for.
pub(crate) struct Options {
    pub(crate) seconds: u32,
    pub(crate) write: bool,
    forms: Vec<String>,
}

impl Options {
    /// Reads the arguments.
    pub(crate) fn parse(args: &[&str]) -> Result<Options> {
        let mut options = Options { seconds: SECONDS_MIN, write: false, forms: Vec::new() };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("`{arg}` needs a value"));
            match *arg {
                "--seconds" => options.seconds = value()?.parse().context("`--seconds`")?,
                "--forms" => options.forms = value()?.split(',').map(str::to_owned).collect(),
                "--write" => options.write = true,
                _ => bail!("no such option: `{arg}`\n\n{USAGE}"),
            }
        }
        ensure!(options.seconds >= SECONDS_MIN, "a run of less than {SECONDS_MIN} s proves little");
        let unknown =
            options.forms.iter().find(|name| FORMS.iter().all(|form| form.name != **name));
        if let Some(unknown) = unknown {
            bail!("no such form: `{unknown}`\n\n{USAGE}");
        }
        let is_partial = !options.forms.is_empty();
        ensure!(!(options.write && is_partial), "the document has all forms: no `--forms` then");
        Ok(options)
    }

    /// Returns whether a form is asked for.
    pub(crate) fn takes(&self, form: &Form) -> bool {
        self.forms.is_empty() || self.forms.iter().any(|name| name == form.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_an_error() {
        assert!(Options::parse(&["--forms", "fuse,nfs", "--seconds", "30"]).is_ok());
        assert!(Options::parse(&["--forms", "fuze"]).is_err());
        assert!(Options::parse(&["--seconds", "5"]).is_err());
        assert!(Options::parse(&["--forms", "fuse", "--write"]).is_err());
        assert!(Options::parse(&["--form", "fuse"]).is_err());
    }
}
