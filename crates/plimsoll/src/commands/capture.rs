//! `plimsoll capture`: what an application asks of its storage, live or from logs and traces.

mod files;
mod live;
mod shown;
mod text;
mod workload;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::capture::{
    Captured, Collector, DateOrder, NoIo, NoteKind, Phases, check_phases, needs_of, series_csv,
};
use ::needs::{Needs, PhaseRule};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::clock;
use crate::exit::{Exit, Failure};
use crate::result_file::{ResultFile, not_written};
use crate::sink::Sink;
use crate::stream;

/// Capture what an application asks of its storage: live, or from logs, traces and exports
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("source").args(["for", "from"]).required(true))]
pub(super) struct Args {
    /// A log, a trace or an export, recognised by its content; `-` is the standard input. May be
    /// repeated.
    #[arg(long, value_name = "FILE", conflicts_with = "for")]
    from: Vec<String>,

    /// Capture on this host for this long, such as `1h`. Ctrl-C ends it and keeps what was
    /// captured.
    #[arg(long = "for", value_name = "TIME", value_parser = span)]
    r#for: Option<Duration>,

    /// Time between two samples, 1s unless given. With `--from`: between two reports of a log
    /// without times, such as one of vmstat without `-t`.
    #[arg(long, value_name = "TIME", value_parser = interval)]
    every: Option<Duration>,

    /// A device, as sda; all disks that do any I/O unless given. May be repeated.
    #[arg(long, value_name = "NAME")]
    device: Vec<String>,

    /// A mounted folder: its device, or its NFS mount. May be repeated.
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    mount: Vec<PathBuf>,

    /// Count only what the processes of this control group do: a folder below /sys/fs/cgroup.
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    cgroup: Option<PathBuf>,

    /// What to make of it: needs, or a composite workload from a trace of calls (strace).
    #[arg(long = "as", value_name = "WHAT", value_enum, default_value_t, conflicts_with = "for")]
    r#as: Product,

    /// With `--as workload`: count only files in and below this folder. Without it, all but the
    /// system's own. May be repeated.
    #[arg(long, value_name = "DIR", conflicts_with = "for")]
    below: Vec<PathBuf>,

    /// A part of the day with needs of its own: normal, peak or off-peak, as `peak=09:00-17:00`.
    /// May be repeated; the rest of the day is another phase.
    #[arg(long, value_name = "NAME=HOURS", value_parser = PhaseRule::parse)]
    phase: Vec<PhaseRule>,

    /// Count the first report of iostat too: it was run with `-y`.
    #[arg(long, conflicts_with = "for")]
    keep_first: bool,

    /// Which of day and month stands first in the dates of logs, as in 05/11/26. Without it, dates
    /// after the 12th show it; else the month does, and a note says so.
    #[arg(long, value_name = "ORDER", value_parser = dates(), conflicts_with = "for")]
    dates: Option<DateOrder>,

    /// The file of needs (TOML). All samples go into a file beside it, with the same name and the
    /// ending .series.csv. Without it, needs go to standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    /// Print needs as JSON (`plimsoll.needs/1`).
    #[arg(long)]
    json: bool,

    /// Show no progress.
    #[arg(long)]
    no_progress: bool,
}

/// What becomes of what was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Product {
    /// What a design must carry
    #[default]
    Needs,
    /// A mix of operations on files, to be run
    Workload,
}

const EXAMPLES: &str = "\
Read: iostat (text, JSON), sadf -j, -d and -p, vmstat, PerfMon CSV, biosnoop,
blkparse, I/O logs of fio, metrics of Azure Monitor and CloudWatch as JSON;
for a workload, strace, and /proc/self/mountstats twice.
Each figure says whether it was measured, estimated or assumed, and from what.
The exit code is 3 if a part of the input could not be read, 130 after Ctrl-C.

Examples:
  plimsoll capture --for 1h --device sda -o needs.toml
  plimsoll capture --for 10m --mount /mnt/nfs
  plimsoll capture --for 10m --device sda --cgroup system.slice/db.service
  plimsoll capture --from iostat.log --phase peak=09:00-17:00 -o needs.toml
  plimsoll capture --from sa.json --from trace.txt -o needs.toml
  blkparse -i sda | plimsoll capture --from - -o needs.toml
  strace -f -ttt -y -o app.strace make -j8
  plimsoll capture --from app.strace --as workload --below /mnt/vol -o mine.toml";

fn dates() -> impl TypedValueParser<Value = DateOrder> {
    let of = |word: String| DateOrder::ALL.into_iter().find(|order| order.word() == word);
    PossibleValuesParser::new(DateOrder::ALL.map(DateOrder::word))
        .try_map(move |word| of(word).ok_or("a word of the list"))
}

fn span(text: &str) -> Result<Duration, String> {
    let span = units::parse_duration(text).map_err(|error| error.to_string())?;
    if span.is_zero() { Err("expected a time such as 1h".to_owned()) } else { Ok(span) }
}

/// Shortest time between two looks: each costs about a millisecond.
const INTERVAL_MIN: Duration = Duration::from_millis(100);

fn interval(text: &str) -> Result<Duration, String> {
    let interval = span(text)?;
    if interval < INTERVAL_MIN { Err("expected 100ms or more".to_owned()) } else { Ok(interval) }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    match args.r#as {
        Product::Needs => needs(args),
        Product::Workload => workload::run(args),
    }
}

fn needs(args: &Args) -> Result<Exit, Failure> {
    if !args.below.is_empty() {
        let text = "`--below` says which files of a trace of calls count";
        return Err(Failure::wrong_use(text).hint("add `--as workload`"));
    }
    // Before the capture, which may last hours.
    let phases = Phases::new(&args.phase).map_err(|message| {
        Failure::wrong_use(message).hint("give each minute of the day to one `--phase`")
    })?;
    if let Some(length) = args.r#for {
        let hint = "start it in those hours, or let `--for` reach them";
        phases
            .check_watch(clock::local_ns(), length)
            .map_err(|error| Failure::wrong_use(error.to_string()).hint(hint))?;
    }
    let mut outputs = Outputs::open(args)?;
    let mut collector = Collector::new();
    let (wanted, is_stopped) = match args.r#for {
        Some(length) => {
            let scope = live::Scope::find(&args.device, &args.mount, args.cgroup.as_deref())?;
            let is_stopped = live::watch(&scope, length, args, &mut collector)?;
            (scope.names(), is_stopped)
        }
        None => (args.device.clone(), files::read_all(args, &mut collector)?),
    };
    let captured = collector.finish(&wanted);
    check_names(&captured, &wanted)?;
    let name = args.output.as_deref().map_or("needs", stem);
    // Notes may say why nothing is left.
    let notes = || {
        for note in &captured.notes {
            stream::remark("note: ", &note.to_string());
        }
    };
    let needs = needs_of(&captured, name, &phases).map_err(|error: NoIo| {
        notes();
        let is_whole = captured.notes.iter().all(|note| note.note.kind != NoteKind::Unreadable);
        nothing(error, Watch { is_live: args.r#for.is_some(), is_stopped, is_whole })
    })?;
    // A watch cannot be had again, nor can what was read before Ctrl-C: a note says what they lack.
    if args.r#for.is_none() && !is_stopped {
        let hint = "give the phase hours in which there are samples, or leave `--phase` out";
        check_phases(&captured, &needs, &phases).map_err(|error| {
            notes();
            Failure::wrong_use(error.to_string()).hint(hint)
        })?;
    }
    let (needs, is_whole) = outputs.write(args, needs, &captured)?;
    // Needs that are printed hold their notes.
    let are_shown = args.output.is_none() && stream::are_one_place();
    for note in needs.notes.iter().filter(|_| !are_shown) {
        stream::remark("note: ", note);
    }
    let is_partial = captured.notes.iter().any(|note| note.note.kind == NoteKind::Unreadable);
    Ok(match (is_stopped, is_partial) {
        _ if !is_whole => Exit::RunFailed,
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Invalid,
        (false, false) => Exit::Fine,
    })
}

/// How something was captured.
#[derive(Clone, Copy, Debug)]
struct Watch {
    /// From this host, and not from files.
    is_live: bool,
    /// It was ended before its time.
    is_stopped: bool,
    /// No note says that something could not be counted.
    is_whole: bool,
}

/// Says that no I/O was captured. A watch has measured, and its figures are not known; files are a
/// mistake of what was asked.
fn nothing(error: NoIo, Watch { is_live, is_stopped, is_whole }: Watch) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match (is_live, is_whole) {
        (true, _) if is_stopped => failure.with(Exit::Interrupted),
        (true, false) => failure.with(Exit::Invalid).hint(
            "do what the note says, or leave `--cgroup` out: the figures then include the I/O of \
             other processes",
        ),
        (true, true) => failure.with(Exit::Invalid).hint("capture while the application runs"),
        (false, _) => failure.hint("capture while the application runs"),
    }
}

/// Makes sure that each device that was named is there.
fn check_names(captured: &Captured, wanted: &[String]) -> Result<(), Failure> {
    let missing = wanted.iter().find(|name| !captured.all_names.contains(*name));
    let Some(missing) = missing else { return Ok(()) };
    let names: Vec<&str> = captured.all_names.iter().map(String::as_str).collect();
    let hint = match names[..] {
        [] => "no device was seen".to_owned(),
        _ => format!("devices found: {}", names.join(", ")),
    };
    Err(Failure::wrong_use(format!("no device is called `{missing}`")).hint(hint))
}

fn stem(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or(path)
}

/// Where needs and samples go. Files are opened first: a mistyped name costs no capture.
struct Outputs {
    needs: Sink,
    series: Option<ResultFile>,
}

impl Outputs {
    fn open(args: &Args) -> Result<Outputs, Failure> {
        let Some(output) = &args.output else {
            return Ok(Outputs { needs: Sink::Stdout, series: None });
        };
        let real = |path: &str| std::fs::canonicalize(path).ok();
        let series = Path::new(output).with_extension("series.csv");
        for path in [Path::new(output), &series] {
            let place = std::fs::canonicalize(path).ok();
            if place.is_some() && args.from.iter().any(|from| real(from) == place) {
                let text = format!("`{}` is an input: the needs would replace it", path.display());
                return Err(Failure::wrong_use(text).hint("name another file with `--output`"));
            }
        }
        let needs = Sink::open(Some(output))?;
        // What is no ordinary place (a device, a pipe) has no file beside it.
        let is_plain = std::fs::metadata(output).map_or(true, |facts| facts.is_file());
        let open = |path: &Path| ResultFile::open(path).map_err(|error| not_written(path, &error));
        let series = if is_plain { Some(open(&series)?) } else { None };
        Ok(Outputs { needs, series })
    }

    /// Writes the samples, then the needs that name their file. What was captured cannot be had
    /// again: where one of the two cannot be written, the other still is. Returns false then.
    fn write(
        &mut self,
        args: &Args,
        mut needs: Needs,
        captured: &Captured,
    ) -> Result<(Needs, bool), Failure> {
        let mut is_whole = true;
        if let Some(file) = &mut self.series {
            match file.write(series_csv(captured).as_bytes()) {
                Ok(()) => {
                    let name = file.path().file_name();
                    needs.series = name.map(|name| name.to_string_lossy().into_owned());
                }
                Err(error) => {
                    is_whole = false;
                    let text = "the needs follow, without the samples";
                    let _its_exit_code = not_written(file.path(), &error).hint(text).report();
                }
            }
        }
        let text = if args.json { text::json(&needs) } else { needs.to_toml() };
        if self.needs.is_stdout() {
            Exit::Fine.once(self.needs.write(&text))?;
            return Ok((needs, is_whole));
        }
        self.needs.write(&needs.to_toml())?;
        let shown = if args.json { text } else { text::table_of(&needs) };
        Exit::Fine.once(stream::print(&shown))?;
        Ok((needs, is_whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_nothing((is_live, is_stopped, is_whole): (bool, bool, bool), exit: u8, hint: &str) {
        let failure = nothing(NoIo, Watch { is_live, is_stopped, is_whole });
        assert_eq!(failure.message(), "no I/O was captured");
        let shown = format!("{failure:?}");
        assert!(shown.contains(hint), "{hint}: {shown}");
        assert_eq!(failure.exit_number(), exit, "{shown}");
    }

    #[test]
    fn a_watch_of_which_nothing_is_known_is_invalid_and_files_are_wrong_use() {
        check_nothing((false, false, true), 2, "while the application runs");
        check_nothing((true, false, true), 3, "while the application runs");
        check_nothing((true, false, false), 3, "leave `--cgroup` out");
        check_nothing((true, true, true), 130, "");
    }
}
