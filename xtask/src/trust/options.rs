//! The options of `cargo xtask trust`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::GROUPS;

pub(crate) const USAGE: &str = "\
cargo xtask trust --folder DIR [OPTIONS]   is the answer on a real host right, or \"cannot tell\"?

  --folder DIR       a folder on the disk to use (2 GiB free): not one in memory
  --device DEV       a device that is fast and holds nothing, such as /dev/zram0; only read
  --memory DIR       a folder in memory, /dev/shm unless given
  --program FILE     the program to try; target/release/plimsoll, built first, unless given
  --only A,B         only these groups
  --seed N           of the random stops, 1 unless given

Groups (all of them take about 12 minutes; the host must have nothing else to do):
";

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) folder: Option<PathBuf>,
    pub(crate) device: Option<PathBuf>,
    pub(crate) memory: PathBuf,
    pub(crate) program: Option<PathBuf>,
    pub(crate) seed: u64,
    only: Vec<String>,
}

impl Options {
    /// Reads the arguments.
    pub(crate) fn parse(args: &[&str]) -> Result<Options> {
        let mut options = Options {
            folder: None,
            device: None,
            memory: PathBuf::from("/dev/shm"),
            program: None,
            seed: 1,
            only: Vec::new(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("`{arg}` needs a value"));
            match *arg {
                "--folder" => options.folder = Some(value()?.into()),
                "--device" => options.device = Some(value()?.into()),
                "--memory" => options.memory = value()?.into(),
                "--program" => options.program = Some(value()?.into()),
                "--seed" => options.seed = value()?.parse().context("`--seed`")?,
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                _ => bail!("no such option: `{arg}`\n\n{USAGE}"),
            }
        }
        let is_known = |name: &&String| GROUPS.iter().any(|group| group.name == **name);
        if let Some(unknown) = options.only.iter().find(|name| !is_known(name)) {
            bail!("no such group: `{unknown}`; `cargo xtask trust --help` lists them");
        }
        Ok(options)
    }

    /// Returns whether a group is asked for.
    pub(crate) fn takes(&self, group: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == group)
    }

    /// Returns the folder on a disk.
    pub(crate) fn folder(&self) -> Result<&PathBuf> {
        let folder = self.folder.as_ref().context("`--folder DIR` names a folder on a disk")?;
        ensure!(folder.is_dir(), "`{}` is not a folder", folder.display());
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_an_error() {
        let options = Options::parse(&["--only", "stopped,spoiled", "--seed", "7"]).unwrap();
        assert!(options.takes("stopped") && !options.takes("device") && options.seed == 7);
        assert!(Options::parse(&[]).unwrap().takes("device"));
        assert!(options.folder().unwrap_err().to_string().contains("--folder"));
        for wrong in [&["--only", "stoped"][..], &["--seed", "x"], &["--folder"], &["--fast"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
