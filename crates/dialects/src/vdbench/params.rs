//! Parameters: lines joined where they end in a comma, cut at blanks, taken apart at commas.

use std::collections::VecDeque;

use super::findings::{Findings, SourceRange};
use super::lines::{Line, is_blank};
use super::values::{self, Values};

/// Keywords that begin definitions, in the order of a file.
pub(super) const DEFINITIONS: [&str; 7] = ["hd", "rg", "fsd", "sd", "wd", "fwd", "rd"];

/// One `key=value`.
#[derive(Clone, Debug)]
pub(super) struct Param {
    /// In lower case, as abbreviated.
    pub(super) key: String,
    pub(super) values: Values,
    pub(super) key_place: SourceRange,
    pub(super) place: SourceRange,
    /// The value as written, with what stands for quoted characters.
    pub(super) text: String,
    /// As the scan lists it behind `keyw: `.
    shown: String,
    /// A mistake in it was reported: its value means nothing.
    pub(super) is_broken: bool,
}

impl Param {
    /// Makes one that stands in no file.
    pub(super) fn made(key: &str, value: &str, findings: &mut Findings) -> Option<Param> {
        let text = format!("{key}={value}");
        let statement = Statement { text, pieces: Vec::new(), is_kind: true };
        statement.param(0, statement.text.len(), findings)
    }

    /// Returns the first word; a number is a mistake.
    pub(super) fn word<'a>(&'a self, findings: &mut Findings) -> Option<&'a str> {
        let word = self.values.words.first().map(String::as_str);
        if word.is_none() {
            self.complain(findings, "a name", "begin it with a letter");
        }
        word
    }

    /// Returns the first number; a word is a mistake.
    pub(super) fn number(&self, findings: &mut Findings) -> Option<f64> {
        let number = self.values.numbers.first().copied();
        if number.is_none() {
            self.complain(findings, "a number", number_help(&self.key));
        }
        number
    }

    /// Returns the first number as Vdbench narrows it: fractions are cut off.
    pub(super) fn int(&self, findings: &mut Findings) -> Option<i64> {
        self.number(findings).map(|number| i64::from(number as i32))
    }

    /// The same for sizes.
    pub(super) fn long(&self, findings: &mut Findings) -> Option<i64> {
        self.number(findings).map(|number| number as i64)
    }

    fn complain(&self, findings: &mut Findings, wanted: &str, help: &str) {
        if !self.is_broken {
            let value = self.shown.split_once('=').map_or("", |(_, value)| value);
            let message = format!("`{}=` needs {wanted}, not `{value}`", self.key);
            findings.error_help(self.place, "wrong-value", message, help);
        }
    }
}

/// Returns what the number of a keyword, which may be abbreviated, is.
fn number_help(key: &str) -> &'static str {
    let is = |names: &[&str]| names.iter().any(|name| name.starts_with(key));
    let is_time = ["el", "in", "wa", "pa"].iter().any(|time| key.starts_with(time));
    if is_time {
        "it is seconds; `m` behind it makes them minutes, `h` hours"
    } else if key.contains("pct") || is(&["skew"]) {
        "it is a percentage: a number from 0 to 100"
    } else if is(&["threads", "streams", "priority", "depth", "width", "files", "jvms", "clients"])
    {
        "it is a whole number"
    } else if is(&["stopcurve"]) {
        "it is milliseconds"
    } else {
        "units are k, m, g and t, behind the number"
    }
}

/// Takes parameters off a stream of lines.
#[derive(Debug)]
pub(super) struct Params {
    lines: Vec<Line>,
    next_line: usize,
    /// First line of the parameters that are in `queue`.
    statement_line: usize,
    queue: VecDeque<Param>,
    additions: String,
    is_kind: bool,
    /// `line: `, `keyw: ` and `parm: ` lines.
    pub(super) scanned: Vec<String>,
}

impl Params {
    pub(super) fn new(lines: Vec<Line>, additions: &str, is_kind: bool) -> Self {
        Params {
            lines,
            next_line: 0,
            statement_line: 0,
            queue: VecDeque::new(),
            additions: additions.to_owned(),
            is_kind,
            scanned: Vec::new(),
        }
    }

    /// Returns the next parameter; `None` behind the last.
    pub(super) fn next(&mut self, findings: &mut Findings) -> Option<Param> {
        while self.queue.is_empty() && self.next_line < self.lines.len() {
            self.statement_line = self.next_line;
            let statement = self.statement(findings);
            statement.params(&mut self.queue, findings);
        }
        self.queue.pop_front()
    }

    /// Lists a parameter as scanned: each section does so that looks at it.
    pub(super) fn list(&mut self, param: &Param) {
        self.scanned.push(format!("keyw: {}", param.shown));
        self.scanned.extend(param.values.shown.iter().map(|value| format!("parm: {value}")));
    }

    /// Returns the lines from the one whose parameters are being taken.
    pub(super) fn lines_left(&self) -> &[Line] {
        &self.lines[self.statement_line.min(self.lines.len())..]
    }

    /// Starts again with the line whose parameters are being taken, with other lines.
    pub(super) fn restart_with(&mut self, lines: Vec<Line>) {
        self.lines = lines;
        self.next_line = 0;
        self.queue.clear();
    }

    fn statement(&mut self, findings: &mut Findings) -> Statement {
        let mut statement =
            Statement { text: String::new(), pieces: Vec::new(), is_kind: self.is_kind };
        let line = &self.lines[self.next_line];
        self.next_line += 1;
        self.scanned.push(format!("line: {}", line.text));
        let is_added =
            line.text.starts_with("rd") && !line.text.ends_with(',') && !self.additions.is_empty();
        let mut depth = statement.add(line, 0, findings);
        if is_added {
            statement.add_made(&format!(",{}", self.additions));
            let whole = values::unquoted(&statement.text);
            self.scanned.push(format!("Added: {}", self.additions));
            self.scanned.push(format!("Extra: {whole}"));
        }
        while statement.text.ends_with(',') && self.next_line < self.lines.len() {
            let line = &self.lines[self.next_line];
            if self.is_kind && depth == 0 && starts_definition(&line.text) {
                let end = line.text.find('=').unwrap_or(0);
                let message =
                    "the line before ends in a comma, so that this definition continues it";
                let help = "leave the comma out at the end of a definition";
                findings.warning(line.place(0, end + 1), "joined-definitions", message, help);
            }
            depth = statement.add(line, depth, findings);
            self.next_line += 1;
        }
        statement
    }
}

fn starts_definition(text: &str) -> bool {
    let key = text.split('=').next().unwrap_or_default().to_lowercase();
    DEFINITIONS.contains(&key.as_str())
}

/// Lines joined, with their places.
struct Statement {
    text: String,
    /// From which byte of `text` on it stands where.
    pieces: Vec<(usize, SourceRange, usize)>,
    is_kind: bool,
}

impl Statement {
    /// Adds what a line says before its first blank. Returns how many parentheses are open.
    fn add(&mut self, line: &Line, depth: usize, findings: &mut Findings) -> usize {
        let (mut depth, mut in_quotes, mut is_afresh) = (depth, None, true);
        let (mut is_warned, mut is_reported, mut chars) = (false, false, line.text.char_indices());
        while let Some((at, c)) = chars.next() {
            if c == '"' {
                in_quotes = if in_quotes.is_some() { None } else { Some(at) };
                is_afresh = true;
                continue;
            }
            if in_quotes.is_none() && (c == ' ' || (self.is_kind && is_blank(c))) {
                let Some(skipped) = self.continues(&line.text[at..], depth) else {
                    if c == '\t' {
                        let message = "Vdbench ends a line at blanks only: it takes this tab into \
                             the value, and crashes";
                        let help = "write a blank in front of what is a comment";
                        findings.warning(line.place(at, at + 1), "tab-in-line", message, help);
                    }
                    return depth;
                };
                if !std::mem::replace(&mut is_warned, true) {
                    let message =
                        "Vdbench ends the line at this blank, and would lose what follows";
                    let help = "leave the blanks out";
                    findings.warning(line.place(at, at + skipped), "blank-in-line", message, help);
                }
                for _ in 1..skipped {
                    chars.next();
                }
                is_afresh = true;
                continue;
            }
            let is_quoted = in_quotes.is_some() && self.is_kind;
            match c {
                '(' | ')' if is_quoted && depth > 0 && !is_reported => {
                    is_reported = true;
                    warn_of_quoted(line.place(at, at + 1), findings);
                }
                _ if is_quoted => {}
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            let stands = match in_quotes {
                Some(_) if self.is_kind => values::quoted_all(c),
                Some(_) => values::quoted(c),
                None => c,
            };
            if is_afresh || line.is_patched() {
                let (source_idx, source_at) = line.source_at(at);
                let place = SourceRange::new(source_idx, source_at, source_at);
                self.pieces.push((self.text.len(), place, source_at));
                is_afresh = false;
            }
            self.text.push(stands);
        }
        if let (Some(at), true) = (in_quotes, self.is_kind) {
            let message =
                "a double quote is not closed: all up to the end of the line belongs to the value";
            let help = "close it";
            findings.warning(line.place(at, at + 1), "unclosed-quotes", message, help);
        }
        depth
    }

    /// Adds text that stands in no file.
    fn add_made(&mut self, text: &str) {
        self.pieces.push((self.text.len(), SourceRange::NONE, 0));
        self.text.push_str(text);
    }

    /// Decides whether a line goes on behind blanks; returns how many characters to skip.
    fn continues(&self, text: &str, depth: usize) -> Option<usize> {
        if !self.is_kind {
            return None;
        }
        let rest = text.trim_start_matches(is_blank);
        let is_joined = if depth > 0 {
            !rest.is_empty()
        } else if self.text.ends_with(',') {
            starts_param(rest)
        } else {
            rest.strip_prefix(',')
                .is_some_and(|rest| starts_param(rest.trim_start_matches(is_blank)))
        };
        is_joined.then_some(text.len() - rest.len())
    }

    /// Takes the parameters apart.
    fn params(&self, queue: &mut VecDeque<Param>, findings: &mut Findings) {
        let (mut depth, mut start) = (0_usize, 0);
        for (at, c) in self.text.char_indices() {
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => {
                    let message = "a parenthesis is closed that was not opened";
                    findings.error(self.place(at, at + 1), "unmatched-parenthesis", message);
                }
                ')' => depth -= 1,
                ',' if depth == 0 => {
                    queue.extend(self.param(start, at, findings));
                    start = at + 1;
                }
                _ => {}
            }
        }
        if depth > 0 && self.is_kind {
            let message =
                "a parenthesis is not closed: Vdbench takes all up to the end of the line";
            let help = "close it";
            findings.warning(
                self.place(start, self.text.len()),
                "unclosed-parenthesis",
                message,
                help,
            );
        }
        if start < self.text.len() {
            queue.extend(self.param(start, self.text.len(), findings));
        }
    }

    /// Reads one parameter.
    fn param(&self, start: usize, end: usize, findings: &mut Findings) -> Option<Param> {
        let text = &self.text[start..end];
        let shown = values::unquoted(text);
        let place = self.place(start, end);
        let equals = text.find('=').filter(|at| !text[*at..].trim_start_matches('=').is_empty());
        let Some(equals) = equals else {
            let message = format!("expecting 'keyword=' in parameter: {shown}");
            let help = "write `keyword=value`, or begin a comment line with `*`";
            let empty = shown.strip_suffix('=').filter(|key| self.is_kind && !key.is_empty());
            match empty {
                Some(key) => findings.error_help(
                    place,
                    "no-keyword",
                    format!("`{key}=` has no value"),
                    "write one behind the sign, without a blank, or leave the keyword out",
                ),
                None => findings.error_help(place, "no-keyword", message, help),
            }
            return None;
        };
        let key = text[..equals].to_lowercase();
        if key.chars().count() < 2 {
            let message = format!("keyword must contain a minimum of 2 characters: {shown}");
            let help = "write the keyword in full";
            findings.error_help(place, "short-keyword", message, help);
            return None;
        }
        let value_place = self.place(start + equals + 1, end);
        let read = values::read(&key, &text[equals + 1..], self.is_kind);
        let is_broken = read.is_err();
        let values = read.unwrap_or_else(|wrong| {
            findings.error_help(value_place, wrong.code, wrong.message, wrong.help);
            Values::default()
        });
        let stray = stray_in_list(&text[equals + 1..]).filter(|_| self.is_kind && !is_broken);
        if let Some((at, stray)) = stray {
            let at = start + equals + 1 + at;
            let message = format!("{stray} of `{key}=`, which Vdbench reads as one list");
            let help = format!("write one list: `{key}={}`", flat(&text[equals + 1..]));
            findings.error_help(self.place(at, at + 1), "nested-list", message, help);
        }
        if values.falls && self.is_kind {
            let message = format!("a range of `{key}=` goes down: only its first value counts");
            let help = "list the values, or begin with the smallest; `d` alone goes down: (64-1,d)";
            findings.warning(value_place, "falling-range", message, help);
        }
        let key_place = self.place(start, start + equals);
        let mut text = text[equals + 1..].to_owned();
        if self.is_kind && !is_broken && warn_of_zeros(&key, &text, &values, value_place, findings)
        {
            // Name by name, as every reader takes them.
            let stands = |word: &String| word.chars().map(values::quoted_all).collect::<String>();
            let words: Vec<String> = values.words.iter().map(stands).collect();
            text = format!("({})", words.join(","));
        }
        Some(Param { key, values, key_place, place: value_place, text, shown, is_broken })
    }

    fn place(&self, start: usize, end: usize) -> SourceRange {
        let piece = |at: usize| match self.pieces.partition_point(|piece| piece.0 <= at) {
            0 => None,
            behind => Some(self.pieces[behind - 1]),
        };
        let (Some((from, place, source_at)), Some(last)) = (piece(start), piece(end.max(1) - 1))
        else {
            return SourceRange::NONE;
        };
        let end_at = if last.0 == from || last.1.is_behind(place) {
            last.2 + (end - last.0)
        } else {
            source_at + 1
        };
        place.bytes(source_at + (start - from), end_at)
    }
}

fn warn_of_quoted(place: SourceRange, findings: &mut Findings) {
    let message = "Vdbench treats a parenthesis within a list as its own, quoted or not";
    let help = "leave the parentheses out for Vdbench to read the same";
    findings.warning(place, "quoted-parenthesis", message, help);
}

/// Returns where a list is more than one of plain values, and what is there.
fn stray_in_list(text: &str) -> Option<(usize, &'static str)> {
    let list = text.strip_prefix('(')?;
    let at = list.find(['(', ')'])?;
    match list.as_bytes()[at] {
        b'(' => Some((at + 1, "a list stands within the list")),
        _ => (at + 1 < list.len()).then_some((at + 2, "something stands behind the list")),
    }
}

/// Returns a value as the one list that it is read as.
fn flat(text: &str) -> String {
    let values = text.split(['(', ')', ',']).filter(|value| !value.is_empty());
    format!("({})", values::unquoted(&values.collect::<Vec<_>>().join(",")))
}

/// Returns whether a text begins with a keyword and its sign.
fn starts_param(text: &str) -> bool {
    let key = text.split('=').next().unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    key.len() >= 2 && key.len() < text.len() && key.chars().all(is_word)
}

/// Warns of a range whose names keep their zeros.
fn warn_of_zeros(
    key: &str,
    text: &str,
    ours: &Values,
    place: SourceRange,
    findings: &mut Findings,
) -> bool {
    if ours.words.is_empty() || !text.contains('-') {
        return false;
    }
    let Ok(theirs) = values::read(key, text, false) else { return false };
    let mut pairs = theirs.words.iter().zip(&ours.words);
    let other = pairs.find(|(theirs, ours)| theirs != ours);
    if let Some((theirs, ours)) = other {
        let message =
            format!("Vdbench counts without leading zeros: `{theirs}` where this is `{ours}`");
        let help = "name them one by one, or with `*`";
        findings.warning(place, "leading-zeros", message, help);
    }
    other.is_some()
}
