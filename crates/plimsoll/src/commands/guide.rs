//! Options that a command does not have, answered with what does what they mean.
//!
//! Who comes from fio types `--iodepth=32`, and who comes from another command types its options.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::Failure;

/// Returns the answer to an option that is unknown to a command; nothing where there is none that
/// is better than clap's own.
pub(super) fn unknown_option(error: &clap::Error, args: &[String]) -> Option<Failure> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let name = typed.strip_prefix("--")?.split('=').next()?;
    let command = args.get(1)?;
    let value = value_of(name, args);
    let hint = match command.as_str() {
        "run" | "check" | "translate" => of_jobs(name, value.as_deref())?,
        "bench" | "suite" => of_suite(name, value.as_deref())?,
        "curve" => of_curve(name, value.as_deref())?,
        _ => return None,
    };
    Some(Failure::wrong_use(format!("`plimsoll {command}` has no option `--{name}`")).hint(hint))
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
            return Some("`--closed` turns the queue depth up in place of the rate".to_owned());
        }
        _ => return None,
    };
    let value = value.map_or("VALUE".to_owned(), |value| with_unit(word, value));
    Some(format!("it is `--{word} {value}` here"))
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
