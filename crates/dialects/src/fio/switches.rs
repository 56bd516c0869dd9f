//! fio's switches: what the command line says besides jobs.

/// Report formats of `--output-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Normal,
    /// JSON.
    Json,
    /// JSON with latency bins.
    JsonPlus,
    /// Fields separated by semicolons.
    Terse,
}

/// When the line with the time left is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Eta {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A job file of some clients alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFile {
    /// One of this host, which they are sent.
    Sent(String),
    /// One of their own (`--remote-config`).
    Theirs(String),
}

/// Hosts of one `--client`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientArg {
    /// The hosts, or a file that lists them, as it was typed.
    pub hosts: String,
    /// What they run; the job files of all where there are none.
    pub files: Vec<ClientFile>,
}

/// Switches of fio's command line, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switches {
    /// Reports go to this file.
    pub output: Option<String>,
    /// Formats asked for, at least one, without repetition.
    pub formats: Vec<Format>,
    /// Terse follows the other format.
    pub append_terse: bool,
    /// Version of the terse format, 2..=5.
    pub terse_version: u8,
    /// When the time left is shown.
    pub eta: Eta,
    /// Interval of the line with the time left, at least 250.
    pub eta_interval_ms: u64,
    /// A new line after this much time; 0 is off.
    pub eta_newline_ms: u64,
    /// Whole reports at this interval.
    pub status_interval_ms: Option<u64>,
    /// Sections to run; empty is all.
    pub sections: Vec<String>,
    /// Any write or trim job is refused.
    pub readonly: bool,
    /// Devices that are mounted or held are written (ours, not fio's).
    pub allow_mounted_write: bool,
    /// Devices that hold something are written (ours, not fio's).
    pub overwrite_filesystem: bool,
    /// Parse, then stop.
    pub parse_only: bool,
    /// Print the job files as a command line, then stop.
    pub showcmd: bool,
    /// Describe this option (empty: list them), then stop.
    pub cmdhelp: Option<String>,
    /// Describe this engine or `engine,option` (empty: list them), then stop.
    pub enghelp: Option<String>,
    /// Print the version, then stop.
    pub version: bool,
    /// Print the usage, then stop.
    pub help: bool,
    /// Write aggregate bandwidth logs with this prefix (empty: `agg`).
    pub bandwidth_log: Option<String>,
    /// Folder for files that a run leaves.
    pub aux_path: Option<String>,
    /// Kinds of debug output asked for.
    pub debug: Vec<String>,
    /// Print this compressed log, then stop.
    pub inflate_log: Option<String>,
    /// Warnings are errors.
    pub warnings_fatal: bool,
    /// Measure idle CPU time: `system`, `percpu` or `calibrate`.
    pub idle_prof: Option<String>,
    /// Wait for clients here (empty: at every address), in place of a run.
    pub server: Option<String>,
    /// The server goes to the background, and writes the number of its process to this file.
    pub daemonize: Option<String>,
    /// Run on these hosts, where servers wait.
    pub clients: Vec<ClientArg>,
    /// What servers and their clients know each other by (ours, not fio's).
    pub token_file: Option<String>,
}

impl Default for Switches {
    fn default() -> Self {
        Switches {
            output: None,
            formats: vec![Format::Normal],
            append_terse: false,
            terse_version: 3,
            eta: Eta::Auto,
            eta_interval_ms: 1000,
            eta_newline_ms: 0,
            status_interval_ms: None,
            sections: Vec::new(),
            readonly: false,
            allow_mounted_write: false,
            overwrite_filesystem: false,
            parse_only: false,
            showcmd: false,
            cmdhelp: None,
            enghelp: None,
            version: false,
            help: false,
            bandwidth_log: None,
            aux_path: None,
            debug: Vec::new(),
            inflate_log: None,
            warnings_fatal: false,
            idle_prof: None,
            server: None,
            daemonize: None,
            clients: Vec::new(),
            token_file: None,
        }
    }
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arity {
    /// Never.
    None,
    /// Only behind `=`.
    Optional,
    /// Always; the next argument if there is no `=`.
    Required,
}

/// One switch: its name, whether it takes a value, and its line in the usage.
pub(super) struct Switch {
    pub(super) name: &'static str,
    pub(super) arity: Arity,
    pub(super) usage: &'static str,
    set: Setter,
}

enum Setter {
    /// Keeps the value as it is.
    Keep(fn(&mut Switches, String)),
    /// Reads the value, or says what is wrong with it.
    Read(fn(&mut Switches, &str) -> Result<(), String>),
    /// Taken and without effect.
    Ignored,
    /// Refused with this reason.
    Refused(&'static str),
}

use Arity::{None as Bare, Optional, Required};
use Setter::{Ignored, Keep, Read, Refused};

const fn switch(name: &'static str, arity: Arity, usage: &'static str, set: Setter) -> Switch {
    Switch { name, arity, usage, set }
}

const NO_TRIGGER: &str = "comes in a later version; send SIGINT to end the run with a report";
const NO_SELF_TEST: &str = "is a self-test of fio, which has no counterpart here";

/// All switches, in the order of the usage.
pub(super) static SWITCHES: &[Switch] = &[
    switch(
        "output",
        Required,
        "=FILE  write reports to FILE",
        Keep(|to, value| to.output = Some(value)),
    ),
    switch(
        "output-format",
        Required,
        "=LIST  normal, json, json+, terse; several by comma",
        Read(output_format),
    ),
    switch("minimal", Bare, "  terse output", Keep(|to, _| to.formats = vec![Format::Terse])),
    switch(
        "append-terse",
        Optional,
        "  terse output after the other format",
        Keep(|to, _| to.append_terse = true),
    ),
    switch(
        "terse-version",
        Required,
        "=N  version of terse output, 2 to 5 (3)",
        Read(terse_version),
    ),
    switch(
        "bandwidth-log",
        Optional,
        "[=PREFIX]  aggregate bandwidth logs",
        Keep(|to, value| to.bandwidth_log = Some(value)),
    ),
    switch("parse-only", Bare, "  parse, then stop", Keep(|to, _| to.parse_only = true)),
    switch(
        "showcmd",
        Bare,
        "  print job files as a command line, then stop",
        Keep(|to, _| to.showcmd = true),
    ),
    switch(
        "cmdhelp",
        Optional,
        "[=OPTION|all]  describe options, then stop",
        Keep(|to, value| to.cmdhelp = Some(value)),
    ),
    switch(
        "enghelp",
        Optional,
        "[=ENGINE[,OPTION]]  describe engines, then stop",
        Keep(|to, value| to.enghelp = Some(value)),
    ),
    switch("readonly", Bare, "  refuse jobs that write or trim", Keep(|to, _| to.readonly = true)),
    switch(
        "allow-mounted-write",
        Bare,
        "  write to devices that are mounted",
        Keep(|to, _| to.allow_mounted_write = true),
    ),
    switch(
        "overwrite-filesystem",
        Bare,
        "  write to devices that hold a file system",
        Keep(|to, _| to.overwrite_filesystem = true),
    ),
    switch("section", Required, "=NAME  run this section only; may be repeated", Read(section)),
    switch("eta", Required, "=WHEN  show the time left: always, never, auto", Read(eta)),
    switch("eta-interval", Required, "=TIME  how often, at least 250 ms (1 s)", Read(eta_interval)),
    switch("eta-newline", Required, "=TIME  new line after this time", Read(eta_newline)),
    switch(
        "status-interval",
        Required,
        "=TIME  whole reports at this interval",
        Read(status_interval),
    ),
    switch(
        "aux-path",
        Required,
        "=DIR  folder for state files",
        Keep(|to, value| to.aux_path = Some(value)),
    ),
    switch("warnings-fatal", Bare, "  warnings are errors", Keep(|to, _| to.warnings_fatal = true)),
    switch("debug", Required, "=LIST  debug output: random, io, all", Read(debug)),
    switch(
        "inflate-log",
        Required,
        "=FILE  print a compressed log, then stop",
        Keep(|to, value| to.inflate_log = Some(value)),
    ),
    switch(
        "idle-prof",
        Required,
        "=HOW  idle CPU time: system, percpu, calibrate",
        Read(idle_prof),
    ),
    switch(
        "server",
        Optional,
        "[=WHERE]  wait for clients: [ip:|ip4:|ip6:]HOST[,PORT], sock:PATH; port 8765",
        Keep(|to, value| to.server = Some(value)),
    ),
    switch(
        "daemonize",
        Required,
        "=FILE  the server goes to the background, its process number to FILE",
        Keep(|to, value| to.daemonize = Some(value)),
    ),
    switch(
        "client",
        Required,
        "=WHERE  run on this server, or on those that the file WHERE lists; may be repeated",
        Keep(|to, hosts| to.clients.push(ClientArg { hosts, files: Vec::new() })),
    ),
    switch(
        "remote-config",
        Required,
        "=FILE  the client before runs this file of its own",
        Read(remote_config),
    ),
    switch(
        "token-file",
        Required,
        "=FILE the token that servers and clients share",
        Keep(|to, value| to.token_file = Some(value)),
    ),
    switch("max-jobs", Required, "=N  no effect: there is no limit", Ignored),
    switch("alloc-size", Required, "=KIB  no effect: memory is not pooled", Ignored),
    switch("version", Bare, "  print the version", Keep(|to, _| to.version = true)),
    switch("help", Bare, "  print this text", Keep(|to, _| to.help = true)),
    switch(
        "latency-log",
        Required,
        "",
        Refused("was removed from fio; write `write_lat_log=NAME` in the job"),
    ),
    switch("trigger-file", Required, "", Refused(NO_TRIGGER)),
    switch("trigger-timeout", Required, "", Refused(NO_TRIGGER)),
    switch("trigger", Required, "", Refused(NO_TRIGGER)),
    switch("trigger-remote", Required, "", Refused(NO_TRIGGER)),
    switch("profile", Required, "", Refused("comes in a later version; write the jobs out")),
    switch("merge-blktrace-only", Bare, "", Refused("comes in a later version")),
    switch("cpuclock-test", Bare, "", Refused(NO_SELF_TEST)),
    switch("crctest", Optional, "", Refused(NO_SELF_TEST)),
    switch("memcpytest", Optional, "", Refused(NO_SELF_TEST)),
];

/// Finds a switch by its full name.
pub(super) fn find_switch(name: &str) -> Option<&'static Switch> {
    SWITCHES.iter().find(|switch| switch.name == name)
}

impl Switch {
    /// Applies the switch, or says what is wrong with its value.
    pub(super) fn apply(&self, switches: &mut Switches, value: &str) -> Result<(), String> {
        match self.set {
            Keep(set) => {
                set(switches, value.to_owned());
                Ok(())
            }
            Read(set) => set(switches, value)
                .map_err(|problem| format!("value `{value}` of `--{}` {problem}", self.name)),
            Ignored => Ok(()),
            Refused(why) => Err(format!("`--{}` {why}", self.name)),
        }
    }
}

fn output_format(to: &mut Switches, value: &str) -> Result<(), String> {
    let mut formats = Vec::new();
    for word in value.split(',').map(str::trim) {
        let format = match word {
            "normal" => Format::Normal,
            "json" => Format::Json,
            "json+" => Format::JsonPlus,
            "terse" | "minimal" | "csv" => Format::Terse,
            _ => return Err("is not a format; write normal, json, json+ or terse".to_owned()),
        };
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    if formats.contains(&Format::JsonPlus) {
        formats.retain(|format| *format != Format::Json);
    }
    to.formats = formats;
    Ok(())
}

fn terse_version(to: &mut Switches, value: &str) -> Result<(), String> {
    to.terse_version = match value {
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "5" => 5,
        _ => return Err("is not a terse version; write 2, 3, 4 or 5".to_owned()),
    };
    Ok(())
}

fn section(to: &mut Switches, value: &str) -> Result<(), String> {
    if value.starts_with("global") {
        return Err("is a global section, which cannot run alone; name a job's section".to_owned());
    }
    to.sections.push(value.to_owned());
    Ok(())
}

fn eta(to: &mut Switches, value: &str) -> Result<(), String> {
    to.eta = match value {
        "always" => Eta::Always,
        "never" => Eta::Never,
        "auto" => Eta::Auto,
        _ => return Err("is not known; write always, never or auto".to_owned()),
    };
    Ok(())
}

/// Reads a duration whose bare number counts seconds.
fn time_ms(value: &str) -> Result<u64, String> {
    let ns = super::value::duration_ns(value, plan::param::TimeUnit::Seconds)?;
    Ok(ns / 1_000_000)
}

fn eta_interval(to: &mut Switches, value: &str) -> Result<(), String> {
    to.eta_interval_ms = time_ms(value)?;
    if to.eta_interval_ms < 250 {
        return Err("is too short; the smallest is 250ms".to_owned());
    }
    Ok(())
}

fn eta_newline(to: &mut Switches, value: &str) -> Result<(), String> {
    to.eta_newline_ms = time_ms(value)?;
    Ok(())
}

fn status_interval(to: &mut Switches, value: &str) -> Result<(), String> {
    let interval_ms = time_ms(value)?;
    if interval_ms == 0 {
        return Err("is too short; the smallest is 1ms".to_owned());
    }
    to.status_interval_ms = Some(interval_ms);
    Ok(())
}

/// Kinds of debug output that fio has.
const DEBUG_KINDS: &[&str] = &[
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
    "sprandom",
    "all",
    "help",
];

fn debug(to: &mut Switches, value: &str) -> Result<(), String> {
    for kind in value.split(',').map(str::trim) {
        // `job:N` and `process:N` limit the output to one job.
        let word = kind.split(':').next().unwrap_or_default();
        if !DEBUG_KINDS.contains(&word) {
            return Err(format!(
                "names no kind of debug output; known are {}",
                DEBUG_KINDS.join(", ")
            ));
        }
        to.debug.push(kind.to_owned());
    }
    Ok(())
}

fn remote_config(to: &mut Switches, value: &str) -> Result<(), String> {
    let Some(client) = to.clients.last_mut() else {
        return Err("is of no client: write it behind the `--client` that has the file".to_owned());
    };
    client.files.push(ClientFile::Theirs(value.to_owned()));
    Ok(())
}

fn idle_prof(to: &mut Switches, value: &str) -> Result<(), String> {
    if !["system", "percpu", "calibrate"].contains(&value) {
        return Err("is not known; write system, percpu or calibrate".to_owned());
    }
    to.idle_prof = Some(value.to_owned());
    Ok(())
}
