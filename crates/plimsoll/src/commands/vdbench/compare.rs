//! `vdbench compare`: the averages of two output directories, run by run.

use std::fmt::Write as _;
use std::path::Path;

use crate::exit::Failure;
use crate::stream;

use super::parse::{self, FLATFILE, Table};

const USAGE: &str = "plimsoll vdbench compare OLD_DIRECTORY NEW_DIRECTORY";

/// Columns that are compared, with how many decimals; those that a flatfile has.
const COLUMNS: [(&str, usize); 4] = [("rate", 1), ("MB/sec", 2), ("resp", 3), ("cpu_used", 1)];
/// Columns that say which run it was, beside its name.
const KEYS: [&str; 6] = ["reqrate", "xfersize", "threads", "rdpct", "seekpct", "rhpct"];
/// Rates of maxima and curves differ in their codes only.
const RATE_CODE_MIN: f64 = 999_977.0;

/// The averages of one run.
#[derive(Debug, PartialEq)]
struct Average {
    /// Name and what was asked for.
    key: Vec<String>,
    /// Position among runs with the same key.
    nth: usize,
    figures: Vec<Option<f64>>,
}

/// Runs the utility.
pub(super) fn run(args: &[String]) -> Result<(), Failure> {
    let [old, new] = args else {
        return Err(Failure::wrong_use("name two output directories").hint(USAGE));
    };
    let table = table(&averages(old)?, &averages(new)?);
    stream::print(&table)?;
    Ok(())
}

fn averages(folder: &str) -> Result<Vec<Average>, Failure> {
    let path = Path::new(folder).join(FLATFILE);
    let text = parse::read(&path).map_err(|failure| failure.hint(USAGE))?;
    let table = Table::read(&text)
        .ok_or_else(|| Failure::wrong_use(format!("`{}` has no results", path.display())))?;
    Ok(averages_of(&table))
}

fn averages_of(table: &Table<'_>) -> Vec<Average> {
    let mut averages: Vec<Average> = Vec::new();
    for line in table.rows() {
        let word = |name: &str| {
            let idx = table.idx_of(name)?;
            line.get(idx).copied()
        };
        if !word("Interval").is_some_and(|label| label.starts_with("avg")) {
            continue;
        }
        let mut key = vec![word("Run").unwrap_or_default().to_owned()];
        key.extend(KEYS.iter().filter_map(|name| key_of(name, word(name)?)));
        let nth = averages.iter().filter(|known| known.key == key).count();
        let figure = |(name, _): &(&str, usize)| {
            word(name)?.parse().ok().filter(|value: &f64| value.is_finite())
        };
        averages.push(Average { key, nth, figures: COLUMNS.iter().map(figure).collect() });
    }
    averages
}

/// Returns `name=value`, with one word for rates without a number.
fn key_of(name: &str, value: &str) -> Option<String> {
    if value == "n/a" {
        return None;
    }
    let number: f64 = value.parse().unwrap_or(0.0);
    if name != "reqrate" || number < RATE_CODE_MIN {
        return Some(format!("{name}={value}"));
    }
    let is_curve = number.to_string().ends_with("77");
    Some(format!("{name}={}", if is_curve { "curve" } else { "max" }))
}

fn table(old: &[Average], new: &[Average]) -> String {
    let mut text = format!("{:<12} {:>14} {:>14} {:>9}\n", "run", "old", "new", "delta");
    for before in old {
        let after = new.iter().find(|other| (&other.key, other.nth) == (&before.key, before.nth));
        match after {
            Some(after) => row(&mut text, before, &after.figures),
            None => row(&mut text, before, &[]),
        }
    }
    let is_new = |after: &&Average| {
        !old.iter().any(|before| (&before.key, before.nth) == (&after.key, after.nth))
    };
    for after in new.iter().filter(is_new) {
        let nothing = Average { key: after.key.clone(), nth: 0, figures: Vec::new() };
        row(&mut text, &nothing, &after.figures);
    }
    text
}

/// Adds a run: a line that says which, and one for each figure.
fn row(text: &mut String, before: &Average, after: &[Option<f64>]) {
    let _ = writeln!(text, "{}", before.key.join(" "));
    for (idx, (name, n_decimals)) in COLUMNS.iter().enumerate() {
        let old = before.figures.get(idx).copied().flatten();
        let new = after.get(idx).copied().flatten();
        let number = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.n_decimals$}"))
        };
        let delta = match (old, new) {
            (Some(old), Some(new)) if old != 0.0 => format!("{:+.1}%", (new - old) * 100.0 / old),
            _ => "-".to_owned(),
        };
        let (old, new) = (number(old), number(new));
        let _ = writeln!(text, "  {name:<10} {old:>14} {new:>14} {delta:>9}");
    }
}
