//! `plimsoll explain`: what a parameter means, by its name in any tool.

use std::fmt::Write as _;

use dialects::vdbench;
use plan::param;

use crate::exit::{Exit, Failure};
use crate::fill::fill;
use crate::stream;

/// Explain a parameter: meaning, unit, range, default, and its name in other tools
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Our name, or that of any other tool: of Vdbench also `sd.lun`, or `sd` for all of them, of
    /// diskspd an option or an element of a profile, of Iometer what its window calls it.
    #[arg(value_name = "PARAM", required_unless_present = "all", allow_hyphen_values = true)]
    pub(super) names: Vec<String>,

    /// List all parameters, one line each.
    #[arg(long, conflicts_with = "names")]
    all: bool,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll explain bs
  plimsoll explain rate_iops rate_process
  plimsoll explain xfersize sd.lun rd
  plimsoll explain -o WriteRatio 'transfer request size'
  plimsoll explain --all | grep -i verify";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.all {
        stream::print(&list())?;
        return Ok(Exit::Fine);
    }
    let mut unknown = None;
    let mut is_first = true;
    for name in &args.names {
        // What Vdbench calls it stands below what we call it.
        let ours = param::explain(name);
        let words = vdbench::explain(name);
        let Some(text) = ours.into_iter().chain(words).reduce(|ours, words| ours + "\n" + &words)
        else {
            // What is known is explained first, so that the mistake stands last on the screen.
            unknown.get_or_insert(name);
            continue;
        };
        if !std::mem::take(&mut is_first) {
            stream::print("\n")?;
        }
        stream::print(&text)?;
    }
    unknown.map_or(Ok(Exit::Fine), |name| Err(not_found(name)))
}

fn not_found(name: &str) -> Failure {
    let failure = Failure::wrong_use(format!("unknown parameter `{name}`"));
    let near: Vec<String> =
        param::suggest(name, param::Names::Both).iter().map(|near| format!("`{near}`")).collect();
    if near.is_empty() {
        return failure.hint("`plimsoll explain --all` lists every parameter");
    }
    failure.hint(format!("did you mean {}?", near.join(" or ")))
}

/// Columns of a parameter's name in the list.
const NAME_COLUMNS: usize = 38;

/// Lists the parameters by chapter, each on one line where there is no terminal, for `grep`.
fn list() -> String {
    let columns = stream::stdout_columns().unwrap_or(usize::MAX);
    let mut text = String::new();
    let mut chapter = None;
    for param in param::all() {
        if chapter != Some(param.category()) {
            let gap = if chapter.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}{}", param.category().title());
            chapter = Some(param.category());
        }
        let fio = param.fio.first().filter(|fio| **fio != param.name);
        let name = fio.map_or(param.name.to_owned(), |fio| format!("{} ({fio})", param.name));
        text.push_str(&fill(&format!("  {name:<NAME_COLUMNS$} "), param.short, columns));
    }
    text
}
