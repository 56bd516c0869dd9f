//! The options of `cargo xtask peers`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::rows::ROWS;

pub(crate) const USAGE: &str = "\
cargo xtask peers [OPTIONS]      fio and bare loops beside our release build, and Vdbench's files
                                 beside job files that ask for the same

  --device PATH      read this block device (default: /dev/zram0 where it has a size, else a file)
  --file PATH        read this file
  --setup-zram SIZE  empty the zram device, give it so many bytes (2G), measure it as new, fill it
                     with random data, measure again; WIPES the device
  --files DIR        where rows make files of their own, in a folder there (default: target/peers)
  --mdtest PROGRAM   mdtest of hpc/ior, for the rows beside it
  --rows A,B         only these rows
  --pairs N          runs of either side per row, 5
  --seconds N        length of a run, 5
  --core N           the core everything is pinned to, the last one
  --long             memory also after 60 s
  --write            put the table into docs/performance.md
  --plot             instead: let fio-plot draw our JSON and logs
";

/// What was asked for.
pub(crate) struct Options {
    pub(crate) target: Option<PathBuf>,
    pub(crate) zram_bytes: Option<u64>,
    pub(crate) files: Option<PathBuf>,
    pub(crate) mdtest: Option<PathBuf>,
    pub(crate) rows: Vec<String>,
    pub(crate) n_pairs: usize,
    pub(crate) seconds: u32,
    pub(crate) core: u32,
    pub(crate) long: bool,
    pub(crate) write: bool,
    pub(crate) plot: bool,
    /// The options as typed, for the document.
    pub(crate) line: String,
}

impl Options {
    /// Reads the arguments. An unknown one is an error with the whole list.
    pub(crate) fn parse(args: &[&str]) -> Result<Options> {
        let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let mut options = Options {
            target: None,
            zram_bytes: None,
            files: None,
            mdtest: None,
            rows: Vec::new(),
            n_pairs: 5,
            seconds: 5,
            core: n_cores as u32 - 1,
            long: false,
            write: false,
            plot: false,
            line: args
                .iter()
                .filter(|arg| **arg != "--write")
                .copied()
                .collect::<Vec<_>>()
                .join(" "),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("`{arg}` needs a value"));
            match *arg {
                "--device" | "--file" => options.target = Some(PathBuf::from(value()?)),
                "--setup-zram" => options.zram_bytes = Some(bytes(value()?)?),
                "--files" => options.files = Some(PathBuf::from(value()?)),
                "--mdtest" => options.mdtest = Some(PathBuf::from(value()?)),
                "--rows" => options.rows = value()?.split(',').map(str::to_owned).collect(),
                "--pairs" => options.n_pairs = value()?.parse().context("`--pairs`")?,
                "--seconds" => options.seconds = value()?.parse().context("`--seconds`")?,
                "--core" => options.core = value()?.parse().context("`--core`")?,
                "--long" => options.long = true,
                "--write" => options.write = true,
                "--plot" => options.plot = true,
                _ => bail!("no such option: `{arg}`\n\n{USAGE}"),
            }
        }
        ensure!(options.n_pairs > 0 && options.seconds > 0, "at least one pair of one second");
        let unknown = options.rows.iter().find(|name| ROWS.iter().all(|row| row.name != *name));
        if let Some(unknown) = unknown {
            let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
            bail!("no such row: `{unknown}`; there are {}", names.join(", "));
        }
        Ok(options)
    }
}

/// Reads a size such as `2G` or `512M`.
fn bytes(text: &str) -> Result<u64> {
    let (digits, shift) = match text.strip_suffix(['G', 'M']) {
        Some(digits) if text.ends_with('G') => (digits, 30),
        Some(digits) => (digits, 20),
        None => (text, 0),
    };
    let number: u64 = digits.parse().with_context(|| format!("no size: `{text}`"))?;
    number.checked_mul(1 << shift).with_context(|| format!("too large: `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(bytes("2G").ok(), Some(2 << 30));
        assert_eq!(bytes("512M").ok(), Some(512 << 20));
        assert_eq!(bytes("4096").ok(), Some(4096));
        assert!(bytes("2T").is_err());
        assert!(bytes("99999999999G").is_err());
    }

    #[test]
    fn unknown_words_are_errors() {
        assert!(Options::parse(&["--rows", "libaio,null"]).is_ok());
        assert!(Options::parse(&["--rows", "libaoi"]).is_err());
        assert!(Options::parse(&["--pears", "3"]).is_err());
        assert!(Options::parse(&["--pairs"]).is_err());
        assert!(Options::parse(&["--pairs", "0"]).is_err());
    }
}
