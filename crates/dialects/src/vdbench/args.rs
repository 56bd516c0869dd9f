//! Vdbench's command line.

use plan::Diagnostic;

use super::findings::{Findings, SourceRange};
use super::general::repeat;
use super::number_rule::TIME_MAX_S;
use super::options::{FormatOverride, Mode, Options};
use super::parsed::{Parsed, Repeat};
use super::read::{parse_files, parse_text};
use crate::Loader;

/// Nanoseconds of a second.
const NS_PER_S: u64 = 1_000_000_000;

/// Largest number of an option without a range of its own.
const INT_MAX: u64 = i32::MAX as u64;

/// The version that `--compat` takes.
const COMPAT_VERSION: &str = "5.04.07";

/// A program beside the runs, which the first argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utility {
    /// Compares two output directories.
    Compare,
    /// Simulates compression of files.
    Csim,
    /// Simulates deduplication of files.
    Dsim,
    /// Edits a file.
    Edit,
    /// Shows threads of Java programs.
    Jstack,
    /// Takes columns out of flatfiles.
    ParseFlat,
    /// Prints a block of a device.
    Print,
    /// Prints a journal.
    PrintJournal,
    /// Waits for runs of other hosts.
    Rsh,
    /// Makes storage definitions for all devices.
    Sds,
    /// Shows which addresses were used.
    ShowLba,
    /// Looks at the errors of data validation.
    DvPost,
}

impl Utility {
    fn of(word: &str) -> Option<Utility> {
        let lower = word.to_lowercase();
        Some(match lower.as_str() {
            "compare" => Utility::Compare,
            "csim" => Utility::Csim,
            "dsim" => Utility::Dsim,
            "edit" => Utility::Edit,
            "jstack" => Utility::Jstack,
            "print" | "-print" => Utility::Print,
            "printjournal" => Utility::PrintJournal,
            "rsh" => Utility::Rsh,
            "sds" => Utility::Sds,
            "showlba" => Utility::ShowLba,
            "dvpost" => Utility::DvPost,
            word if word.starts_with("parse") => Utility::ParseFlat,
            _ => return None,
        })
    }
}

/// A command line, parsed in full.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// A program beside the runs, and its arguments; then nothing else is read.
    pub utility: Option<(Utility, Vec<String>)>,
    /// Parameter files (`-f`).
    pub files: Vec<String>,
    /// Output directory (`-o`), as written; `output` where it is not.
    pub output_dir: String,
    /// Lists the runs only (`-s`).
    pub is_simulation: bool,
    /// Rows show 1000**2 bytes per second (`-mb`).
    pub decimal_megabytes: bool,
    /// Kernel statistics (`-k`), which only Solaris has.
    pub kstat: bool,
    /// Debugging numbers (`-d`).
    pub debug: Vec<i64>,
    /// How often all runs are repeated (`-l`).
    pub repeat: Option<Repeat>,
    /// Port for other hosts (`-p`).
    pub port: Option<u16>,
    /// Arguments as Vdbench scans them, with values glued to their options.
    pub arguments: Vec<String>,
    /// Options with two dashes that are not known here, as written.
    pub other: Vec<String>,
    /// How the files were read.
    pub options: Options,
    /// What they come to; mistakes in the arguments are among its diagnostics.
    pub parsed: Parsed,
}

/// Parses Vdbench's arguments, without the program's name, and the parameter files they name.
///
/// Besides Vdbench's own there are `--compat [5.04.07]`, `--remap A=B`, `--set KEY=VALUE` and
/// `--all-hosts-local`; others that begin with two dashes are left to the caller.
pub fn parse_args(args: &[String], loader: &dyn Loader) -> CommandLine {
    let mut line = CommandLine { output_dir: "output".to_owned(), ..CommandLine::default() };
    if let Some(utility) = args.first().and_then(|word| Utility::of(word)) {
        line.utility = Some((utility, args[1..].to_vec()));
        return line;
    }
    let mut findings = Findings::default();
    let rest = line.take_ours(args, &mut findings);
    line.glue(&rest, &mut findings);
    let demo = line.scan(&mut findings);
    if line.files.is_empty() && demo.is_none() {
        let message = "no input parameters specified";
        findings.error_help(
            SourceRange::NONE,
            "no-file",
            message,
            "name a parameter file: `-f file`",
        );
    }
    let is_fine = findings.n_errors == 0;
    let mut parsed = match demo {
        _ if !is_fine => Parsed::default(),
        Some(demo) => {
            let folder = loader.env("TMPDIR").unwrap_or_else(|| "/tmp".to_owned());
            let text = demo_text(&demo, folder.trim_end_matches('/'));
            parse_text("parmfile", &text, &line.options, loader)
        }
        None => parse_files(&line.files, &line.options, loader),
    };
    if let Some(repeat) = line.repeat {
        parsed.settings.repeat = repeat;
    }
    if let Some(port) = line.port {
        parsed.settings.port = port;
    }
    let found: Vec<Diagnostic> = findings.diagnostics;
    parsed.diagnostics.splice(0..0, found);
    line.parsed = parsed;
    line
}

impl CommandLine {
    /// Takes the options with two dashes out.
    fn take_ours(&mut self, args: &[String], findings: &mut Findings) -> Vec<String> {
        let mut rest = Vec::new();
        let mut args = args.iter().peekable();
        while let Some(arg) = args.next() {
            let (name, glued) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            match name {
                "--compat" => {
                    let is_of_version = |c: char| c.is_ascii_digit() || c == '.';
                    let is_version =
                        |next: &&String| next.contains('.') && next.chars().all(is_of_version);
                    let version = glued.or_else(|| args.next_if(is_version).cloned());
                    if version.as_ref().is_some_and(|version| version != COMPAT_VERSION) {
                        let message = format!("`--compat` knows version {COMPAT_VERSION} only");
                        findings.error(SourceRange::NONE, "wrong-value", message);
                    }
                    self.options.mode = Mode::Compat;
                }
                "--all-hosts-local" if glued.is_none() => self.options.all_hosts_local = true,
                "--remap" | "--set" => {
                    let value = glued.or_else(|| args.next().cloned()).unwrap_or_default();
                    let Some((from, to)) = value.split_once('=') else {
                        let message = format!("`{name}` needs `A=B`, not `{value}`");
                        findings.error(SourceRange::NONE, "wrong-value", message);
                        continue;
                    };
                    let pair = (from.to_owned(), to.to_owned());
                    let list = if name == "--set" {
                        &mut self.options.set
                    } else {
                        &mut self.options.remap
                    };
                    list.push(pair);
                }
                _ if arg.starts_with("--") => self.other.push(arg.clone()),
                _ => rest.push(arg.clone()),
            }
        }
        rest
    }

    /// Glues values to the options before them, as Vdbench does.
    fn glue(&mut self, args: &[String], findings: &mut Findings) {
        let mut was_glued = false;
        for (idx, arg) in args.iter().enumerate() {
            if let Some(first) = arg.strip_prefix('+') {
                let mut words = vec![first.trim()];
                words.extend(args[idx + 1..].iter().map(|word| word.trim()));
                let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
                self.options.rd_additions = words.join(" ");
                if self.options.rd_additions.contains(' ') {
                    let message = format!("embedded blanks not acceptable: '{}'", words.join(" "));
                    findings.error(SourceRange::NONE, "wrong-value", message);
                }
                break;
            }
            let last = self.arguments.last_mut().filter(|last| {
                let is_complete =
                    (last.starts_with("-f") || last.starts_with("-o")) && last.len() != 2;
                last.starts_with('-') && !is_complete && !was_glued
            });
            match last {
                Some(last) if !arg.starts_with('-') && !arg.contains('=') => {
                    last.push_str(arg);
                    was_glued = true;
                }
                _ => {
                    self.arguments.push(arg.clone());
                    was_glued = false;
                }
            }
        }
    }

    /// Gives arguments their meaning; returns the demonstration that is asked for.
    fn scan(&mut self, findings: &mut Findings) -> Option<String> {
        let mut demo = None;
        let mut is_file = false;
        for arg in self.arguments.clone() {
            if let Some((name, value)) = arg.split_once('=').filter(|_| !arg.starts_with('-')) {
                self.options.substitutions.push((name.to_owned(), value.to_owned()));
                is_file = true;
                continue;
            }
            if let Some(path) = arg.strip_prefix("-f") {
                self.files.push(path.to_owned());
                is_file = true;
                continue;
            }
            if is_file && !arg.starts_with('-') {
                self.files.push(arg);
                continue;
            }
            is_file = false;
            if arg.starts_with("-t") {
                demo = Some(arg);
            } else if !self.switch(&arg, findings) {
                let message = format!("invalid execution parameter: '{arg}'");
                let help = "parameter files come behind `-f`; see `plimsoll vdbench --help`";
                findings.error_help(SourceRange::NONE, "unknown-option", message, help);
            }
        }
        demo
    }

    fn switch(&mut self, arg: &str, findings: &mut Findings) -> bool {
        let mut between = |text: &str, min: u64, max: u64| {
            let number = text.parse::<u64>().ok().filter(|number| (min..=max).contains(number));
            if number.is_none() {
                let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let range = if is_whole { format!(" from {min} to {max}") } else { String::new() };
                let message = format!("'{arg}' needs a whole number{range}");
                findings.error(SourceRange::NONE, "wrong-value", message);
            }
            number
        };
        let options = &mut self.options;
        // Vdbench goes on with the times of the file, and with one process.
        let least = u64::from(options.is_kind());
        match arg {
            "-s" => self.is_simulation = true,
            "-k" => self.kstat = true,
            "-l" => self.repeat = Some(Repeat::Forever),
            "-mb" => self.decimal_megabytes = true,
            _ => {
                let Some((name, value)) = arg.split_at_checked(2) else { return false };
                match name {
                    "-o" => value.clone_into(&mut self.output_dir),
                    "-e" => options.elapsed_s = between(value, least, TIME_MAX_S),
                    "-i" => options.interval_s = between(value, least, TIME_MAX_S),
                    "-w" => options.warmup_s = between(value, 0, TIME_MAX_S),
                    "-m" => {
                        let jvms = between(value, least, INT_MAX);
                        options.jvms = jvms.map(|jvms| jvms.max(1) as u32);
                    }
                    "-p" => {
                        self.port = between(value, 0, INT_MAX).map(|port| port.min(65535) as u16);
                    }
                    "-d" => {
                        self.debug.extend(between(value, 0, INT_MAX).map(|number| number as i64));
                    }
                    "-r" => options.restart_rd = Some(value.to_owned()),
                    "-v" => options.validate = Some(value.to_owned()),
                    "-j" => options.journal = Some(value.to_owned()),
                    "-c" if value.contains('o') => options.format = Some(FormatOverride::Only),
                    "-c" if value.contains('y') => options.format = Some(FormatOverride::Yes),
                    "-c" if value.contains('n') => options.format = Some(FormatOverride::No),
                    "-c" => options.clean_first = true,
                    "-l" => {
                        self.repeat = match repeat(value) {
                            // Without a unit it is seconds here, and runs in `loop=`.
                            Some(Repeat::Times(s)) => Some(Repeat::For(s.saturating_mul(NS_PER_S))),
                            Some(other) => Some(other),
                            None => between(value, 0, INT_MAX).map(Repeat::Times),
                        }
                    }
                    _ => return false,
                }
            }
        }
        true
    }
}

/// Returns the parameter file of a demonstration.
fn demo_text(demo: &str, folder: &str) -> String {
    if demo == "-tf" {
        return format!(
            "* Random reads and writes of randomly chosen files.\n\
             fsd=fsd1,anchor={folder}/fsd1,depth=1,width=1,files=100,size=128k\n\
             fwd=default,xfersize=4k,fileio=random,fileselect=random,threads=8,stopafter=100\n\
             fwd=fwd1,fsd=fsd1,operation=read\n\
             fwd=fwd2,fsd=fsd1,operation=write\n\
             rd=rd1,fwd=fwd*,fwdrate=100,format=yes,elapsed=5,interval=1\n"
        );
    }
    let (flags, rdpct, iorate) = match demo {
        "-t1" => (",openflags=o_sync", 50, "100"),
        "-t2" => ("", 0, "max"),
        _ => ("", 50, "100"),
    };
    format!(
        "* Five seconds of small reads and writes on a file, which is made first.\n\
         sd=sd1,lun={folder}/quick_vdbench_test,size=40m{flags}\n\
         wd=wd1,sd=sd1,xf=1k,rdpct={rdpct}\n\
         rd=rd1,wd=wd1,iorate={iorate},elapsed=5,interval=1\n"
    )
}
