//! Options and commands that do not exist: names those that do what the user meant.
//!
//! Users of fio type `--iodepth=32`, and users of another command type its options.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::Failure;

/// Returns the message for a surplus argument, an unknown option or an unknown command; nothing
/// where clap's own message is enough.
pub(super) fn answer(error: &clap::Error, args: &[String], all: &clap::Command) -> Option<Failure> {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let near = of(ContextKind::SuggestedArg);
            Some(unknown_argument(of(ContextKind::InvalidArg)?, near, args, all))
        }
        ErrorKind::InvalidSubcommand => {
            Some(unknown_command(of(ContextKind::InvalidSubcommand)?, args, all))
        }
        _ => None,
    }
}

fn unknown_argument(
    typed: &str,
    near: Option<&str>,
    args: &[String],
    all: &clap::Command,
) -> Failure {
    let (command, path) = command_of(args, all);
    let help = format!("`plimsoll help{path}` lists its options");
    let option = typed.split('=').next().unwrap_or(typed);
    let Some(name) = option.strip_prefix("--").filter(|name| !name.is_empty()) else {
        let what = if typed.starts_with('-') { "has no option" } else { "takes no further" };
        return Failure::wrong_use(format!("`plimsoll{path}` {what} `{typed}`")).hint(help);
    };
    let value = value_of(name, args);
    let value = value.as_deref();
    let hint = match command {
        "run" | "check" | "translate" => of_jobs(name, value),
        "bench" | "suite" => of_suite(name, value),
        "curve" => of_curve(name, value),
        "catalog" if args.iter().any(|arg| arg == "list") => {
            let word = value.unwrap_or("WORD").to_lowercase();
            Some(format!("words narrow the list: plimsoll catalog list vms {word}"))
        }
        _ => None,
    };
    let hint = hint.or_else(|| of_another_command(name, value, all));
    let hint = hint.or_else(|| near.map(|near| format!("did you mean `{near}`?")));
    Failure::wrong_use(format!("`plimsoll{path}` has no option `--{name}`"))
        .hint(hint.unwrap_or(help))
}

/// Returns the command that was named, and the words that name it and what is below it, each with a
/// blank before it.
fn command_of<'a>(args: &'a [String], all: &clap::Command) -> (&'a str, String) {
    let (mut command, mut path) = (all, String::new());
    for arg in args.iter().skip(1) {
        let Some(below) = command.find_subcommand(arg) else { break };
        command = below;
        path = format!("{path} {arg}");
    }
    (args.get(1).map_or("", String::as_str), path)
}

fn unknown_command(typed: &str, args: &[String], all: &clap::Command) -> Failure {
    let (_, path) = command_of(args, all);
    let failure = Failure::wrong_use(format!("`plimsoll{path}` has no command `{typed}`"));
    let command = all.find_subcommand(path.trim()).unwrap_or(all);
    let names = command.get_subcommands().map(clap::Command::get_name);
    match units::nearest(typed, names).first() {
        _ if path.is_empty() && std::path::Path::new(typed).exists() => {
            failure.hint(format!("to run a job file: plimsoll run {typed}"))
        }
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("`plimsoll help{path}` lists them")),
    }
}

/// Returns the value that was typed behind an option, or after its `=`.
fn value_of(name: &str, args: &[String]) -> Option<String> {
    let mut args = args.iter();
    let option = format!("--{name}");
    while let Some(arg) = args.next() {
        if let Some(rest) = arg.strip_prefix(&option) {
            if let Some(value) = rest.strip_prefix('=') {
                return Some(value.to_owned());
            }
            if rest.is_empty() {
                return args.next().filter(|next| !next.starts_with('-')).cloned();
            }
        }
    }
    None
}

/// Parameters of jobs are set by `--set`.
fn of_jobs(name: &str, value: Option<&str>) -> Option<String> {
    let param = plan::param::find_fio(name).or_else(|| plan::param::find(name))?;
    let name = if plan::param::find_fio(name).is_some() { name } else { param.name };
    Some(format!("`--set {}` sets it in every job", setting(name, value)))
}

/// Those of a suite, too, by its own words.
fn of_suite(name: &str, value: Option<&str>) -> Option<String> {
    let word = match name {
        "size" | "filesize" => "size",
        "time" | "runtime" => "time",
        "ramp" | "ramp_time" => "ramp",
        "bs" | "blocksize" | "block_size" => "bs",
        "iodepth" | "depth" | "queue_depth" => "iodepth",
        "jobs" | "numjobs" | "workers" => "jobs",
        "read_pct" | "rwmixread" => "read_pct",
        "limit" => "limit",
        _ => return None,
    };
    Some(format!("`--set {}` sets it in every step", setting(word, value)))
}

fn of_curve(name: &str, value: Option<&str>) -> Option<String> {
    let word = match name {
        "runtime" => "time",
        "ramp_time" => "ramp",
        "blocksize" => "bs",
        "numjobs" | "jobs" => "workers",
        "rwmixread" => "read-pct",
        "iodepth" | "queue_depth" => {
            return Some("`--closed` raises the queue depth instead of the rate".to_owned());
        }
        _ => return None,
    };
    let value = value.map_or("VALUE".to_owned(), |value| with_unit(word, value));
    Some(format!("write `--{word} {value}`"))
}

/// What another command does, or takes by this name.
fn of_another_command(name: &str, value: Option<&str>, all: &clap::Command) -> Option<String> {
    if matches!(name, "report" | "html") {
        let file = value.unwrap_or("report.html");
        return Some(format!("after the run, `plimsoll report last -o {file}` draws its page"));
    }
    let has_it = |it: &&clap::Command| it.get_arguments().any(|arg| arg.get_long() == Some(name));
    let command = all.get_subcommands().filter(|it| !it.is_hide_set()).find(has_it)?.get_name();
    Some(format!("`plimsoll {command}` has it: `plimsoll help {command}`"))
}

/// Returns `name=value` as `--set` takes it.
fn setting(name: &str, value: Option<&str>) -> String {
    format!("{name}={}", value.map_or("VALUE".to_owned(), |value| with_unit(name, value)))
}

/// Times without a unit are seconds in fio; here they have one.
fn with_unit(name: &str, value: &str) -> String {
    let is_time = matches!(name, "time" | "runtime" | "ramp" | "ramp_time");
    let is_bare = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    if is_time && is_bare { format!("{value}s") } else { value.to_owned() }
}
