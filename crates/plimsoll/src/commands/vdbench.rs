//! `plimsoll vdbench`, and the program under the name `vdbench`: Vdbench's command line, console,
//! output directory and exit codes.

mod compare;
mod demo;
mod errors;
mod folder;
mod lower;
mod monitor;
mod parse;
mod remote;
mod session;
mod validation;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use analysis::Rules;
use dialects::vdbench::output::{Ending, Layout, Megabyte, Report, Setup, SetupHost, Words};
use dialects::vdbench::run::Run;
use dialects::vdbench::{self, CommandLine, Host, Parsed, Repeat, Utility};
use plan::{Diagnostic, Plan, Severity};
use record::{Outcome, Record};
use runner::{Control, DetailedIntervals, RunError, RunEvent, RunOptions};

use super::execute;
use super::hosts::HostsArgs;
use super::judge::judge;
use super::keep::{KeepArgs, Keeper};
use super::seed;
use crate::clock::{self, Stopwatch};
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::loader::HostLoader;
use crate::signals::Signals;
use crate::stream;

use demo::Scratch;
use folder::{Folder, FolderUse};
use lower::RunSite;
use monitor::Monitor;
use remote::{Remote, await_files};
use session::VdbenchSession;
use validation::Validating;

/// Behave as Vdbench: its command line, its output directory, its exit codes
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, after_help = EXAMPLES)]
pub(super) struct Args {
    /// Vdbench's arguments; `--help` lists them.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) args: Vec<OsString>,
}

const EXAMPLES: &str = "\
A link named `vdbench` to this program does the same. The exit code is 0, or
157 for any failure, as Vdbench's; 130 after a signal.

Examples:
  plimsoll vdbench -f parmfile -o out
  plimsoll vdbench -f parmfile -s
  plimsoll vdbench -f vnet1-RndRead-workload --remap /mnt/vdb1=./v1 --all-hosts-local
  plimsoll vdbench parse -i out/flatfile.html -c Run rate resp -a -o out.csv";

const HELP: &str = "\
Usage: vdbench [-f FILE..] [-o DIR] [OPTIONS] [NAME=VALUE..] [+ RD_PARAMETERS]

Vdbench's options; values may be glued to them:
  -f FILE..   parameter files
  -o DIR      output directory (`output`); `DIR+` numbers it, `DIR.tod` adds the
              time
  -e N        elapsed time of every run, seconds
  -i N        interval, seconds
  -w N        warmup, seconds
  -s          list the runs, run nothing
  -m N        processes per host (they are threads here)
  -mb         show 1000**2 bytes
  -c[o|y|n]   formats: clean first, only format, always, never
  -l [N|Ns|Nm|Nh]   repeat all runs until stopped, or for so long; N is seconds
  -r RD       begin at this run definition
  -v          data validation: what is read is compared with what was written
  -j[r|o|n|s] the same with a journal; `r` goes on with an earlier one, `o` ends
              then, `n` does not flush it before writes
  -t -t1 -t2 -tf    demonstrations on scratch files
  NAME=VALUE  what $NAME stands for; + TEXT is added to every run definition

And those of this program:
  --compat 5.04.07        accept, reject and expand exactly as that version
  --remap A=B             replace the path prefix A by B
  --set KEY=VALUE         as if written last in every definition that has the
                          key
  --all-hosts-local       every host is this one
  --ssh COMMAND           the ssh client for other hosts (hd= with system= and
                          shell=ssh), with arguments of its own; ssh unless given
  --on-loss WHAT          when a host is lost: continue with the others (unless
                          given), abort, or the least number of hosts
  --seed N                seed of all draws, to repeat a run; else each run and
                          each pass of `-l` draws one, which logfile.html and
                          the record show
  --allow-commands        run the commands of startcmd= and endcmd=
  --vdbench-layout 503|507   columns of 5.03 to 5.04.06, or of 5.04.07 (default)
  --allow-mounted-write   write to block devices that are mounted
  --overwrite-filesystem  write to block devices that hold a file system
  --readonly              refuse what changes anything: writes, formats,
                          commands, earlier results in the output directory
  --json                  print the record, as `plimsoll run --json` does; what
                          Vdbench's console shows goes to standard error
  --store FILE, --no-store, --name NAME, --tag TAG
                          where the run is kept, or that it is not; what to find
                          it by

Utilities:
  vdbench parse -i FLATFILE|DIR [-c COLUMN..] [-f COLUMN VALUE ..] [-a] [-t]
                [-q] [-o CSV]
              rows of intervals, with `-a` those of averages instead; `-c all`,
              or no `-c`: all columns; `-t` puts tabs between values; `-q`
              prints no remarks. `parseflat` is the same
  vdbench compare OLD_DIR NEW_DIR

Examples:
  vdbench -f workload.parm -o out
  vdbench -f workload.parm -s
  vdbench -f workload.parm -o out lun=/dev/sdx + elapsed=60,warmup=10
  vdbench parse -i out/flatfile.html -c Run rate resp -a -o averages.csv
";

/// Vdbench's code of every failure.
const FAILED: Exit = Exit::Vdbench(157);
/// Length of the samples that intervals are made of: those of Vdbench are whole seconds.
const SAMPLE_NS: u64 = 1_000_000_000;
/// What a signal ends with.
const SIGNALLED: Exit = Exit::Vdbench(130);
/// What is said then.
const STOPPING: &str = "CTRL-C or SIGTERM: shutting down; results are kept";

/// How all runs ended, once.
enum Pass {
    /// With what was measured.
    Done(Box<Record>),
    /// Nothing ran: what stands against it.
    Refused(Vec<Diagnostic>),
    /// The user ended it before it began.
    Stopped,
}

/// What this program adds to Vdbench's command line.
#[derive(Clone, Debug, Default)]
struct OwnOptions {
    help: bool,
    version: bool,
    layout: Layout,
    allow_commands: bool,
    allow_mounted_write: bool,
    overwrite_filesystem: bool,
    readonly: bool,
    seed: Option<u64>,
    /// The records go to the standard output, the console to where messages go.
    json: bool,
    keep: KeepArgs,
    /// How other hosts are called.
    hosts: HostsArgs,
}

/// Runs Vdbench's command line, without the program's name.
pub(super) fn run(args: &[OsString]) -> Result<Exit, Failure> {
    let args: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    vdbench(&args).map_err(|failure| failure.with(FAILED))
}

fn vdbench(args: &[String]) -> Result<Exit, Failure> {
    let (ours, args) = OwnOptions::take(args)?;
    if ours.help || args.is_empty() && !ours.version {
        stream::print(HELP)?;
        return Ok(if ours.help { Exit::Fine } else { FAILED });
    }
    if ours.version {
        stream::print(&format!("{}\n", program()))?;
        return Ok(Exit::Fine);
    }
    let scratch = Scratch::wanted(&args)?;
    let loader = scratch.as_ref().map(Scratch::loader).unwrap_or_default();
    let mut line = vdbench::parse_args(&args, &loader);
    if let Some((utility, rest)) = &line.utility {
        return run_utility(*utility, rest);
    }
    if let Some(other) = line.other.first() {
        return Err(Failure::wrong_use(format!("`{other}` is not an option"))
            .hint("`plimsoll vdbench --help` lists them"));
    }
    let joined = args.join(" ");
    let texts = Texts { sources: &line.parsed.sources, command_line: &joined };
    diagnostics::print_all(&line.parsed.diagnostics.iter().collect::<Vec<_>>(), texts);
    if line.parsed.has_errors() {
        return Ok(FAILED);
    }
    if line.is_simulation && ours.json {
        return Err(Failure::wrong_use("a simulation has no record that `--json` could print")
            .hint("`plimsoll check FILE --json` prints the runs"));
    }
    if line.is_simulation {
        if ours.readonly {
            let (plan, _) = vdbench::plan_of(&line.parsed.runs, &line.parsed, &HostLoader);
            refuse_in_target(&line.output_dir, &plan)?;
        }
        return simulate(&line, &ours);
    }
    let validating = Validating::of(&mut line.parsed);
    let texts = Texts { sources: &line.parsed.sources, command_line: &joined };
    start(&line, &ours, texts, validating)
}

/// Runs what was read, unless something stands against it.
fn start(
    line: &CommandLine,
    ours: &OwnOptions,
    texts: Texts<'_>,
    validating: Option<Validating>,
) -> Result<Exit, Failure> {
    let parsed = &line.parsed;
    let mut refusals = parsed.refusals.clone();
    let unreachable = vdbench::unreachable_hosts(parsed);
    let is_reached = unreachable.is_empty();
    refusals.extend(unreachable);
    let control = Arc::new(Control::new());
    let signals = Signals::listen(&control).map_err(|failure| failure.with(FAILED))?;
    let heard = Heard { control, signals };
    let mut remote = if is_reached { Remote::of(parsed, &ours.hosts)? } else { None };
    refusals.extend(unwanted_command(parsed, ours.allow_commands, remote.is_some()));
    if let Some(remote) = remote.as_mut().filter(|_| !has_errors(&refusals)) {
        remote.look(parsed, &heard.control)?;
    }
    let place = RunSite { remote };
    let format = place.sd_format(parsed);
    let runs: Vec<Run> = format.into_iter().chain(parsed.runs.iter().cloned()).collect();
    if let (Some(remote), Some(validating)) = (&place.remote, &validating) {
        refusals.extend(remote.not_validated(&runs));
        refusals.extend(validating.unfit_for_hosts());
    }
    let (mut plan, findings) = vdbench::plan_of(&runs, parsed, &HostLoader);
    refusals.extend(place.unsized_luns(parsed));
    refusals.extend(findings);
    diagnostics::print_all(&refusals.iter().collect::<Vec<_>>(), texts);
    if has_errors(&refusals) {
        return Ok(FAILED);
    }
    if ours.readonly {
        refuse_in_target(&line.output_dir, &plan)?;
    }
    if place.remote.is_some() {
        await_files(&mut plan, &runs);
    }
    let measured = Measured { line, ours, place: &place, heard: &heard, validating };
    measured.measure(&runs, plan)
}

fn has_errors(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// What may end a run from outside.
struct Heard {
    control: Arc<Control>,
    signals: Signals,
}

/// Refuses pages of results in a folder that the plan measures in.
fn refuse_in_target(output_dir: &str, plan: &Plan) -> Result<(), Failure> {
    if !runner::is_in_target(plan, Path::new(output_dir)) {
        return Ok(());
    }
    let message = format!(
        "the output directory `{output_dir}` would lie in a target, and `--readonly` writes \
         nothing there"
    );
    Err(Failure::wrong_use(message).hint("name another one: -o DIR"))
}

impl OwnOptions {
    /// Takes the options of this program out of a command line.
    fn take(args: &[String]) -> Result<(Self, Vec<String>), Failure> {
        let mut ours = OwnOptions::default();
        let mut rest = Vec::new();
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let (name, glued) = word
                .split_once('=')
                .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
            match name {
                "--help" | "-h" => ours.help = true,
                "--version" => ours.version = true,
                "--allow-commands" => ours.allow_commands = true,
                "--allow-mounted-write" => ours.allow_mounted_write = true,
                "--overwrite-filesystem" => ours.overwrite_filesystem = true,
                "--readonly" => ours.readonly = true,
                "--json" => ours.json = true,
                "--seed" => {
                    let value = glued.or_else(|| words.next().map(String::as_str));
                    let seed = value.and_then(|value| value.parse().ok());
                    let message = "`--seed` is a whole number, 0 or more";
                    ours.seed = Some(seed.ok_or_else(|| Failure::wrong_use(message))?);
                }
                "--vdbench-layout" => {
                    let value = glued.or_else(|| words.next().map(String::as_str));
                    ours.layout = match value {
                        Some("503") => Layout::V503,
                        Some("507") => Layout::V507,
                        _ => {
                            let message = "`--vdbench-layout` is 503 or 507";
                            return Err(Failure::wrong_use(message));
                        }
                    };
                }
                _ => {
                    let mut value = || {
                        let value = glued.or_else(|| words.next().map(String::as_str));
                        value
                            .map(str::to_owned)
                            .ok_or_else(|| Failure::wrong_use(format!("`{name}` has no value")))
                    };
                    if !ours.keep.take(name, &mut value)? && !ours.hosts.take(name, &mut value)? {
                        rest.push(word.clone());
                    }
                }
            }
        }
        if ours.readonly && (ours.allow_mounted_write || ours.overwrite_filesystem) {
            let other = if ours.allow_mounted_write {
                "--allow-mounted-write"
            } else {
                "--overwrite-filesystem"
            };
            let message = format!("`--readonly` cannot be used with `{other}`");
            return Err(Failure::wrong_use(message));
        }
        Ok((ours, rest))
    }
}

fn program() -> String {
    format!("Plimsoll {}, in the layout of Vdbench 5.04.07", env!("CARGO_PKG_VERSION"))
}

fn run_utility(utility: Utility, args: &[String]) -> Result<Exit, Failure> {
    let (name, instead) = match utility {
        Utility::ParseFlat => return parse::run(args).map(|()| Exit::Fine),
        Utility::Compare => return compare::run(args).map(|()| Exit::Fine),
        Utility::Edit => ("edit", "use your own editor"),
        Utility::Csim => ("csim", "it only simulates compression of files"),
        Utility::Dsim => ("dsim", "it only simulates deduplication of files"),
        Utility::Jstack => ("jstack", "there is no Java here"),
        Utility::Print => ("print", "`dd if=FILE bs=512 skip=N count=1 | xxd` shows a block"),
        Utility::PrintJournal => {
            ("printjournal", "`plimsoll verify JOURNAL --json` says what became of the blocks")
        }
        Utility::Rsh => ("rsh", "no port is opened; hosts are reached by ssh"),
        Utility::Sds => ("sds", "`lsblk -p` lists the devices"),
        Utility::ShowLba => ("showlba", "`plimsoll fio --write_iolog=FILE` records addresses"),
        Utility::DvPost => {
            ("dvpost", "`plimsoll verify JOURNAL` lists the blocks that are lost or torn")
        }
    };
    Err(Failure::wrong_use(format!("Vdbench's `{name}` is not part of Plimsoll")).hint(instead))
}

/// Names the first command that the files want to run, unless that is allowed.
fn unwanted_command(parsed: &Parsed, is_allowed: bool, is_remote: bool) -> Option<Diagnostic> {
    if is_allowed && !is_remote {
        return None;
    }
    let of_runs = parsed.runs.iter().flat_map(|run| &run.commands);
    let first = of_runs.chain(&parsed.settings.commands).next()?;
    if is_remote {
        let message = format!("no command runs where the load is on other hosts: {}", first.text);
        let help = "leave startcmd= and endcmd= out, and run the commands yourself";
        return Some(Diagnostic::error("commands", message).help(help));
    }
    let message = format!("the file wants to run a command: {}", first.text);
    let help = "`--allow-commands` allows what startcmd= and endcmd= say";
    Some(Diagnostic::error("commands", message).help(help))
}

fn session(line: &CommandLine, ours: &OwnOptions, runs: &[Run]) -> Result<VdbenchSession, Failure> {
    let now = clock::moment();
    let (has_record, keeps_results) = (!line.is_simulation, ours.readonly);
    let folder = Folder::make(&line.output_dir, &now, FolderUse { has_record, keeps_results })?;
    let settings = &line.parsed.settings;
    let setup = Setup {
        folder: folder.name.clone(),
        folder_path: folder.full_path(),
        layout: ours.layout,
        megabyte: if line.decimal_megabytes { Megabyte::Decimal } else { Megabyte::Binary },
        program: program(),
        pid: std::process::id(),
        hosts: line.parsed.hosts.iter().map(setup_host).collect(),
        file_names: line.parsed.file_names.clone(),
        histogram_ns: settings.histogram_ns.clone(),
        detail: settings.report,
        abort_skew_pct: settings.abort_failed_skew_pct,
        ios_per_slave_max: Some(settings.ios_per_jvm),
        copied: line.parsed.copied.clone(),
        scanned: line.parsed.scanned.clone(),
    };
    let report = Report::new(setup, runs.to_vec());
    let words = Words::new(runs, &line.parsed.sources);
    let created =
        folder.is_new.then(|| format!("Created output directory '{}'", folder.full_path()));
    let mut session = VdbenchSession::new(report, folder, runs.to_vec(), words);
    session.print_records(ours.json);
    session.open(line.is_simulation);
    session.print(&format!("{}\n", program()), false);
    if let Some(created) = created {
        session.print(&created, false);
    }
    for argument in &line.arguments {
        session.print(&format!("input argument scanned: '{argument}'\n"), false);
    }
    Ok(session)
}

fn setup_host(host: &Host) -> SetupHost {
    SetupHost {
        label: host.label.clone(),
        n_slaves: host.jvms,
        raised_for_sds: host.jvms_raised_for,
        system: (!host.is_local).then(|| host.system.clone()),
    }
}

/// Lists the runs.
fn simulate(line: &CommandLine, ours: &OwnOptions) -> Result<Exit, Failure> {
    let mut session = session(line, ours, &[])?;
    session.simulation(&vdbench::simulation(&line.parsed));
    let ending = session.unless_broken(Ending::Simulated);
    session.close(&ending);
    Ok(if session.broken().is_none() { Exit::Fine } else { FAILED })
}

/// What is measured, and how.
struct Measured<'a> {
    line: &'a CommandLine,
    ours: &'a OwnOptions,
    place: &'a RunSite,
    heard: &'a Heard,
    /// Data is validated.
    validating: Option<Validating>,
}

impl Measured<'_> {
    /// Runs everything, as often as asked for.
    fn measure(&self, runs: &[Run], plan: Plan) -> Result<Exit, Failure> {
        let Measured { line, ours, place, heard, .. } = self;
        let control = &heard.control;
        let watch = |path| Monitor::watch(path, ours.readonly);
        let monitor = line.parsed.settings.monitor.as_deref().map(watch).transpose()?;
        let mut session = session(line, ours, runs)?;
        session.obey(monitor, Arc::clone(control));
        session.set_remote(place.remote.is_some());
        session.connected();
        for finding in &line.parsed.diagnostics {
            session.log(&format!("warning: {}", finding.message));
        }
        session.luns(&place.luns_seen(&line.parsed, runs));
        let (ending, is_kept) = match self.recover(&plan, &mut session) {
            Some(ending) => (ending, true),
            None => self.passes(runs, plan, &mut session)?,
        };
        let ending = session.unless_broken(ending);
        session.close(&ending);
        Ok(match ending {
            Ending::Interrupted => SIGNALLED,
            Ending::Aborted(_) => FAILED,
            _ if !is_kept || session.broken().is_some() => FAILED,
            Ending::Complete | Ending::Simulated => Exit::Fine,
        })
    }

    /// Verifies the journal that the runs go on with, where they do and it is theirs. Returns how
    /// everything ends, if it does.
    fn recover(&self, plan: &Plan, session: &mut VdbenchSession) -> Option<Ending> {
        // Other hosts verify theirs themselves.
        let is_here = self.place.remote.is_none();
        let validating = self.validating.as_ref().filter(|it| is_here && it.is_recovery())?;
        let validation = Some(validating.of_pass(0));
        let options = RunOptions { validation, ..run_options(self.ours) };
        match runner::check(plan, &options) {
            Ok(()) => validating.recover(session, &self.heard.control),
            Err(RunError::Refused { findings, .. }) => Some(refused(session, &findings)),
        }
    }

    /// Makes all runs, as often as asked for. Returns how that ended, and whether all was kept that
    /// was to be.
    fn passes(
        &self,
        runs: &[Run],
        mut plan: Plan,
        session: &mut VdbenchSession,
    ) -> Result<(Ending, bool), Failure> {
        let Measured { line, ours, place, heard, .. } = self;
        let n_formats = runs.len() - line.parsed.runs.len();
        let mut options = run_options(ours);
        let stopwatch = Stopwatch::start();
        let (mut n_passes, mut is_kept) = (0, true);
        let first_seed = ours.seed.unwrap_or_else(seed::drawn);
        loop {
            let seed = first_seed.wrapping_add(n_passes);
            seed::set(&mut plan, seed);
            session.log(&format!("seed {seed}: `--seed {seed}` repeats the draws of this pass"));
            let first = if n_passes == 0 { 0 } else { n_formats };
            lower::pass_output(&mut plan, &session.folder_path());
            session.begin(first, n_passes);
            options.validation = self.validating.as_ref().map(|it| it.of_pass(n_passes));
            let mut kept = Keeper::begin(&ours.keep, &options, &plan, "");
            let pass = match &place.remote {
                None => pass_here(&plan, &options, heard, (session, &mut kept)),
                Some(remote) => {
                    let outputs = (&mut *session, &mut kept);
                    let on_hosts = self.validating.as_ref().map(|it| it.on_hosts(n_passes));
                    remote.run(&plan, &runs[first..], (&options, on_hosts), heard, outputs)
                }
            };
            let stored = if let Pass::Done(record) = &pass {
                let stored = kept.finish(record);
                is_kept &= stored.is_as_asked;
                stored.number
            } else {
                kept.forget();
                None
            };
            n_passes += 1;
            let ending = ended(session, pass, stored)?;
            let again = ending == Ending::Complete
                && !session.is_ended_by_user()
                && is_due(&line.parsed.settings.repeat, n_passes, stopwatch.elapsed());
            if !again {
                return Ok((ending, is_kept));
            }
            (plan, _) = vdbench::plan_of(&runs[n_formats..], &line.parsed, &HostLoader);
            if place.remote.is_some() {
                await_files(&mut plan, runs);
            }
        }
    }
}

/// Runs a plan on this host.
fn pass_here(
    plan: &Plan,
    options: &RunOptions,
    heard: &Heard,
    (session, kept): (&mut VdbenchSession, &mut Keeper),
) -> Pass {
    let mut is_reported = false;
    let outcome = runner::run(plan, options, &heard.control, &mut |event: RunEvent<'_>| {
        if heard.signals.last().is_some() && !is_reported {
            is_reported = true;
            session.print(STOPPING, false);
        }
        session.event(&event);
        kept.event(&event);
    });
    match outcome {
        Ok(mut record) => {
            judge(&mut record, &Rules::default());
            Pass::Done(Box::new(record))
        }
        Err(RunError::Refused { findings, .. }) => Pass::Refused(findings),
    }
}

fn run_options(ours: &OwnOptions) -> RunOptions {
    RunOptions {
        command: execute::command(),
        allow_mounted: ours.allow_mounted_write,
        overwrite_filesystem: ours.overwrite_filesystem,
        read_only: ours.readonly,
        forbid_uring: execute::forbids_uring(),
        allow_commands: ours.allow_commands,
        detailed_intervals: Some(DetailedIntervals { interval_ns: SAMPLE_NS, cpu: true }),
        report_interval_ms: ours.keep.report_interval_ms(None),
        ..RunOptions::default()
    }
}

/// Keeps the record of a pass, which the store has under a number, and says how it ended.
fn ended(session: &mut VdbenchSession, pass: Pass, stored: Option<i64>) -> Result<Ending, Failure> {
    let record = match pass {
        Pass::Done(record) => record,
        Pass::Refused(findings) => return Ok(refused(session, &findings)),
        Pass::Stopped => return Ok(Ending::Interrupted),
    };
    session.keep(&record, stored)?;
    if let Some(why) = session.abort_reason() {
        session.log_error(&why);
        return Ok(Ending::Aborted(why));
    }
    Ok(match record.outcome {
        Outcome::Interrupted if session.is_ended_by_user() => Ending::Complete,
        Outcome::Complete => Ending::Complete,
        Outcome::Interrupted => Ending::Interrupted,
        Outcome::Failed | Outcome::Partial => {
            let why = session.failure_of(&record);
            session.log_error(&why);
            Ending::Aborted(why)
        }
    })
}

/// Returns why nothing can run here.
fn refused(session: &mut VdbenchSession, findings: &[Diagnostic]) -> Ending {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let mut lines = Vec::new();
    let mut why = None;
    for finding in errors {
        let message = session.in_its_words(&finding.message);
        lines.push(message.clone());
        lines.extend(finding.help.iter().map(|help| format!("  {}", session.in_its_words(help))));
        why.get_or_insert(message);
    }
    session.print(&lines.join("\n"), true);
    Ending::Aborted(why.unwrap_or_default())
}

/// Returns whether all runs are to be made once more.
fn is_due(repeat: &Repeat, n_passes: u64, elapsed: Duration) -> bool {
    match repeat {
        Repeat::Once => false,
        Repeat::Times(n) => n_passes < *n,
        Repeat::For(ns) => elapsed < Duration::from_nanos(*ns),
        Repeat::Forever => true,
    }
}
