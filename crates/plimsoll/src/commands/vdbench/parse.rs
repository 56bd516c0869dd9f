//! `vdbench parse`: chosen columns and lines of a flatfile, for spreadsheets.

use std::fmt::Write as _;
use std::path::Path;

use units::system_text;

use crate::exit::Failure;
use crate::limited::{self, RESULT_BYTES_MAX};
use crate::sink::Sink;
use crate::stream;

const USAGE: &str = "plimsoll vdbench parse -i flatfile.html|DIR [-c columns..|all] \
                     [-f column value ..] [-a] [-t] [-q] [-o file.csv]";

/// What an output directory calls its flatfile.
pub(super) const FLATFILE: &str = "flatfile.html";

/// What is chosen.
#[derive(Debug, Default)]
struct Choice {
    input: Option<String>,
    output: Option<String>,
    /// Names of columns, in the order wanted; all where there are none.
    columns: Vec<String>,
    /// Columns that must have a value.
    filters: Vec<(String, String)>,
    /// Averages of runs instead of their intervals.
    averages: bool,
    /// Tabs between values instead of commas.
    tabs: bool,
    /// What was written is not reported.
    quiet: bool,
}

/// Runs the utility.
pub(super) fn run(args: &[String]) -> Result<(), Failure> {
    let choice = Choice::parse(args)?;
    let Some(input) = &choice.input else {
        return Err(Failure::wrong_use("no flatfile is named").hint(USAGE));
    };
    let input = Path::new(input);
    let input = if input.is_dir() { input.join(FLATFILE) } else { input.to_owned() };
    let text = read(&input)?;
    let table = chosen(&text, &choice)?;
    let output = choice.output.as_deref().filter(|path| *path != "-");
    Sink::open(output)?.write(&table)?;
    if let Some(path) = output.filter(|_| !choice.quiet) {
        let n_lines = table.lines().count().saturating_sub(1);
        stream::print_message(&format!("{n_lines} lines written to `{path}`\n"));
    }
    Ok(())
}

/// Reads a flatfile, from a file, a pipe or, as `-`, the standard input.
pub(super) fn read(path: &Path) -> Result<String, Failure> {
    limited::read_text(path, RESULT_BYTES_MAX).map_err(|error| {
        Failure::wrong_use(format!("cannot read `{}`: {}", path.display(), system_text(&error)))
    })
}

impl Choice {
    fn parse(args: &[String]) -> Result<Self, Failure> {
        let mut choice = Choice::default();
        let mut rest = args.iter().map(String::as_str).peekable();
        while let Some(arg) = rest.next() {
            let value = |rest: &mut std::iter::Peekable<_>, glued: &str| match glued {
                "" => next_value(rest, arg),
                glued => Ok(glued.to_owned()),
            };
            match arg.split_at_checked(2) {
                Some(("-i", glued)) => choice.input = Some(value(&mut rest, glued)?),
                Some(("-o", glued)) => choice.output = Some(value(&mut rest, glued)?),
                Some(("-a", "")) => choice.averages = true,
                Some(("-t", "")) => choice.tabs = true,
                Some(("-q", "")) => choice.quiet = true,
                Some(("-c", glued)) => {
                    let first = value(&mut rest, glued)?;
                    choice.columns.extend(first.split(',').map(str::to_owned));
                    while let Some(name) = rest.next_if(|word| !word.starts_with('-')) {
                        choice.columns.push(name.to_owned());
                    }
                }
                Some(("-f", glued)) => {
                    let mut column = Some(value(&mut rest, glued)?);
                    while let Some(name) = column {
                        let Some(value) = rest.next() else {
                            let message = format!("the filter `{name}` has no value");
                            return Err(Failure::wrong_use(message).hint(USAGE));
                        };
                        choice.filters.push((name, value.to_owned()));
                        column = rest.next_if(|word| !word.starts_with('-')).map(str::to_owned);
                    }
                }
                _ => {
                    let message = format!("`{arg}` is not an option of `parse`");
                    return Err(Failure::wrong_use(message).hint(USAGE));
                }
            }
        }
        Ok(choice)
    }
}

fn next_value<'a>(
    rest: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    option: &str,
) -> Result<String, Failure> {
    let value = rest.next().map(str::to_owned);
    value.ok_or_else(|| Failure::wrong_use(format!("`{option}` has no value")).hint(USAGE))
}

/// Returns the lines and columns chosen, with a heading.
fn chosen(text: &str, choice: &Choice) -> Result<String, Failure> {
    let table = Table::read(text)
        .ok_or_else(|| Failure::wrong_use("this is not a flatfile: it has no heading"))?;
    let idx_of = |name: &String| {
        table.idx_of(name).ok_or_else(|| {
            let names = table.names.join(" ");
            Failure::wrong_use(format!("the flatfile has no column `{name}`"))
                .hint(format!("its columns are: {names}"))
        })
    };
    let columns: Vec<usize> = match choice.columns.as_slice() {
        [] => (0..table.names.len()).collect(),
        [all] if all.eq_ignore_ascii_case("all") => (0..table.names.len()).collect(),
        names => names.iter().map(idx_of).collect::<Result<_, _>>()?,
    };
    let filters = choice.filters.iter().map(|(name, value)| Ok((idx_of(name)?, value.as_str())));
    let filters = filters.collect::<Result<Vec<(usize, &str)>, Failure>>()?;
    let interval_idx = table.idx_of("Interval");
    let separator = if choice.tabs { "\t" } else { "," };
    let mut text = String::new();
    let mut push = |words: &[&str]| {
        let words: Vec<&str> =
            columns.iter().map(|&idx| words.get(idx).copied().unwrap_or_default()).collect();
        let _ = writeln!(text, "{}", words.join(separator));
    };
    push(&table.names);
    let mut n_rows = 0;
    for line in table.rows() {
        let word = |idx: usize| line.get(idx).copied().unwrap_or_default();
        let is_average = interval_idx.is_some_and(|idx| word(idx).starts_with("avg"));
        let is_wanted = filters.iter().all(|(idx, value)| word(*idx) == *value);
        // One or the other: a sum over both would count everything twice.
        if is_wanted && is_average == choice.averages {
            push(&line);
            n_rows += 1;
        }
    }
    if n_rows == 0 {
        return Err(nothing_fits(choice));
    }
    Ok(text)
}

/// Returns what no row of a flatfile fits.
fn nothing_fits(choice: &Choice) -> Failure {
    let rows = if choice.averages { "row of averages" } else { "row of an interval" };
    let filters: Vec<String> =
        choice.filters.iter().map(|(name, value)| format!("`{name} {value}`")).collect();
    let message = match filters.as_slice() {
        [] => format!("the flatfile has no {rows}"),
        filters => format!("no {rows} fits {}", filters.join(" and ")),
    };
    let hint = "`-a` takes the averages of runs, its absence their intervals";
    let failure = Failure::wrong_use(message).hint(hint);
    if filters.is_empty() {
        return failure;
    }
    failure.hint("a filter is the whole value as the flatfile has it: case and zeros count")
}

/// A flatfile. Its rows are taken apart one at a time: a large one has millions of words.
pub(super) struct Table<'a> {
    pub(super) names: Vec<&'a str>,
    /// Behind the heading.
    body: &'a str,
}

impl<'a> Table<'a> {
    /// Takes a flatfile apart; `None` if there is no heading.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let mut body = text;
        loop {
            let (line, rest) = body.split_once('\n').unwrap_or((body, ""));
            let names = words(line);
            if names.contains(&"Run") {
                return Some(Table { names, body: rest });
            }
            if !names.is_empty() || rest.is_empty() {
                return None;
            }
            body = rest;
        }
    }

    /// Returns the rows behind the heading, as words.
    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<&'a str>> {
        self.body.lines().map(words).filter(|words| !words.is_empty())
    }

    /// Returns the position of a column, whatever its case.
    pub(super) fn idx_of(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Returns the words of a line; none of a comment, of HTML, or of an empty one.
fn words(line: &str) -> Vec<&str> {
    let is_row = !line.starts_with(['*', '<']);
    line.split_whitespace().filter(|_| is_row).collect()
}
