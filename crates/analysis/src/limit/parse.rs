//! Limits from text.

use std::str::FromStr;

use units::UnitError;

use super::{LatencyFigure, Limit, Limits};

/// A mistake in the text of limits.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("column {column}: {mistake}; write `{write}`")]
pub struct LimitError {
    /// First column of the place, from 1, in characters.
    pub column: usize,
    /// Columns that it covers, at least 1.
    pub width: usize,
    /// What is wrong.
    pub mistake: LimitMistake,
    /// What to write instead of the whole limit.
    pub write: String,
}

/// What is wrong with a limit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LimitMistake {
    /// There is nothing where a limit should be.
    #[error("a limit is missing")]
    Empty,
    /// The figure is unknown.
    #[error("`{name}` is not a figure of a load; use a percentile, median, mean, max or achieved")]
    UnknownFigure {
        /// The name as written.
        name: String,
    },
    /// The percentile is not between 0 and 100.
    #[error("`{name}` is not a percentile: it lies above 0 and below 100")]
    Percentile {
        /// The name as written.
        name: String,
    },
    /// There is no comparison after the figure.
    #[error("`{name}` needs a comparison and a value")]
    NoComparison {
        /// The figure as written.
        name: String,
    },
    /// The comparison is not one.
    #[error("`{sign}` is not a comparison; use `<` or `>`")]
    UnknownComparison {
        /// As written.
        sign: String,
    },
    /// A latency from below, or a rate from above.
    #[error("`{sign}` would ask for {asked}")]
    WrongWay {
        /// As written.
        sign: String,
        /// What it would mean.
        asked: &'static str,
    },
    /// The time is none.
    #[error("{0}")]
    Time(#[from] UnitError),
    /// A time of zero, which nothing keeps.
    #[error("no latency is below 0")]
    ZeroTime,
    /// The share is none.
    #[error("`{text}` is not a share: write `95%` or `0.95`")]
    Share {
        /// As written.
        text: String,
    },
}

impl FromStr for Limits {
    type Err = Vec<LimitError>;

    /// Reads limits; all mistakes at once.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        for piece in pieces(text) {
            match Limit::read(piece) {
                Ok(limit) => all.push(limit),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(Limits { all }) } else { Err(errors) }
    }
}

/// A piece of a text, which knows where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The piece.
    pub text: &'a str,
    /// Characters before it.
    n_before: usize,
}

/// A comparison that was taken apart, without blanks around its pieces.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// What is compared. Without a sign it is the first word.
    pub name: Piece<'a>,
    /// Such as `<`; empty where there is none.
    pub sign: Piece<'a>,
    /// What it is compared with.
    pub value: Piece<'a>,
}

impl<'a> Piece<'a> {
    /// Returns its first column, from 1, in characters.
    pub fn column(self) -> usize {
        self.n_before + 1
    }

    /// Takes it apart at the first sign of a comparison.
    pub fn comparison(self) -> Comparison<'a> {
        let is_sign = |c: char| matches!(c, '<' | '>' | '=' | '≤' | '≥' | '!' | '~');
        let sign_at = self.text.find(is_sign).or_else(|| self.text.find(char::is_whitespace));
        let (name, rest) = self.split(sign_at.unwrap_or(self.text.len()));
        let rest = rest.trim();
        let sign_end = rest.text.find(|c: char| !is_sign(c)).unwrap_or(rest.text.len());
        let (sign, value) = rest.split(sign_end);
        Comparison { name: name.trim(), sign, value: value.trim() }
    }

    /// Returns what stands behind a word that it begins with, in capitals or not.
    pub fn behind(self, word: &str) -> Option<Self> {
        let first = self.text.split_whitespace().next()?;
        first.eq_ignore_ascii_case(word).then(|| self.after(first.len()).trim())
    }

    /// Returns the piece without space around it.
    fn trim(self) -> Self {
        let start = self.text.trim_start();
        self.after(self.text.len() - start.len()).up_to(start.trim_end().len())
    }

    /// Splits at a byte offset.
    fn split(self, at: usize) -> (Self, Self) {
        (self.up_to(at), self.after(at))
    }

    fn up_to(self, at: usize) -> Self {
        Piece { text: &self.text[..at], ..self }
    }

    fn after(self, at: usize) -> Self {
        let n_more = self.text[..at].chars().count();
        Piece { text: &self.text[at..], n_before: self.n_before + n_more }
    }

    fn error(self, mistake: LimitMistake, write: impl Into<String>) -> LimitError {
        let width = self.text.chars().count().max(1);
        LimitError { column: self.column(), width, mistake, write: write.into() }
    }

    fn owned(self) -> String {
        self.text.to_owned()
    }
}

/// Splits at `and`, `&&`, commas and semicolons. There is one piece at least; any may be empty.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut rest = Piece { text, n_before: 0 };
    let mut pieces = Vec::new();
    loop {
        let joint = joint(rest.text);
        let (start, end) = joint.unwrap_or((rest.text.len(), rest.text.len()));
        pieces.push(rest.up_to(start).trim());
        rest = rest.after(end);
        if joint.is_none() {
            return pieces;
        }
    }
}

/// Finds the first joint: where it starts and ends.
fn joint(text: &str) -> Option<(usize, usize)> {
    let sign = text.find([',', ';', '&']).map(|at| {
        let len = if text[at..].starts_with("&&") { 2 } else { 1 };
        (at, at + len)
    });
    let is_free = |at: usize| {
        text[..at].ends_with(char::is_whitespace) && text[at + 3..].starts_with(char::is_whitespace)
    };
    let lower = text.to_ascii_lowercase();
    let word = lower.match_indices("and").find(|(at, _)| is_free(*at)).map(|(at, _)| (at, at + 3));
    [sign, word].into_iter().flatten().min()
}

/// An example that fits any mistake.
const EXAMPLE: &str = "p99 < 2ms";

impl Limit {
    /// Reads one limit, in capitals or not.
    ///
    /// # Errors
    /// Returns what is wrong with it, and where.
    pub fn read(piece: Piece<'_>) -> Result<Limit, LimitError> {
        if piece.text.is_empty() {
            return Err(piece.error(LimitMistake::Empty, EXAMPLE));
        }
        let Comparison { name, sign, value } = piece.comparison();
        let figure = figure(name)?;
        if sign.text.is_empty() || value.text.is_empty() {
            let mistake = LimitMistake::NoComparison { name: name.owned() };
            return Err(piece.error(mistake, example(figure)));
        }
        match figure {
            Some(figure) => latency(figure, sign, value),
            None => achieved(sign, value),
        }
    }
}

/// Reads a figure; none means the achieved share.
fn figure(name: Piece<'_>) -> Result<Option<LatencyFigure>, LimitError> {
    let lower = name.text.to_lowercase();
    match lower.as_str() {
        "median" => return Ok(Some(LatencyFigure::Percentile(50.0))),
        "mean" | "avg" | "average" => return Ok(Some(LatencyFigure::Mean)),
        "max" => return Ok(Some(LatencyFigure::Max)),
        "achieved" => return Ok(None),
        _ => {}
    }
    let digits =
        lower.strip_prefix('p').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let Some(number) = digits.and_then(|digits| digits.parse::<f64>().ok()) else {
        let known = ["median", "mean", "max", "achieved"];
        let near = units::nearest(&lower, known).first().copied();
        let write = match near {
            Some("achieved") => "achieved > 95%".to_owned(),
            Some(near) => format!("{near} < 2ms"),
            None => EXAMPLE.to_owned(),
        };
        return Err(name.error(LimitMistake::UnknownFigure { name: name.owned() }, write));
    };
    if number > 0.0 && number < 100.0 {
        return Ok(Some(LatencyFigure::Percentile(number)));
    }
    // Tools that cannot print a point write 99.9 as 999.
    let write = match digits {
        Some(digits) if digits.starts_with("99") && digits.bytes().all(|b| b == b'9') => {
            format!("p99.{} < 2ms", &digits[2..])
        }
        Some("100") => "max < 2ms".to_owned(),
        _ => EXAMPLE.to_owned(),
    };
    Err(name.error(LimitMistake::Percentile { name: name.owned() }, write))
}

fn example(figure: Option<LatencyFigure>) -> String {
    figure.map_or_else(|| "achieved > 95%".to_owned(), |figure| format!("{figure} < 2ms"))
}

/// Returns whether a comparison asks for at most (`Some(true)`) or at least a value.
fn is_at_most(sign: Piece<'_>, write: &str) -> Result<bool, LimitError> {
    match sign.text {
        "<" | "<=" | "=<" | "≤" => Ok(true),
        ">" | ">=" | "=>" | "≥" => Ok(false),
        _ => Err(sign.error(LimitMistake::UnknownComparison { sign: sign.owned() }, write)),
    }
}

fn latency(figure: LatencyFigure, sign: Piece<'_>, value: Piece<'_>) -> Result<Limit, LimitError> {
    let write = format!("{figure} < {}", value.text);
    if !is_at_most(sign, &write)? {
        let mistake =
            LimitMistake::WrongWay { sign: sign.owned(), asked: "a latency above a value" };
        return Err(sign.error(mistake, write));
    }
    let time = units::parse_duration(value.text).map_err(|error| {
        // A bare number: milliseconds are what people mean, but they must say so.
        let is_bare = matches!(error, UnitError::MissingUnit { .. });
        let write = if is_bare { format!("{write}ms") } else { format!("{figure} < 2ms") };
        value.error(error.into(), write)
    })?;
    match u64::try_from(time.as_nanos()) {
        Ok(ns_max) if ns_max > 0 => Ok(Limit::Latency { figure, ns_max }),
        _ => Err(value.error(LimitMistake::ZeroTime, format!("{figure} < 2ms"))),
    }
}

fn achieved(sign: Piece<'_>, value: Piece<'_>) -> Result<Limit, LimitError> {
    let write = format!("achieved > {}", value.text);
    let share = match value.text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().map(|percent| percent / 100.0),
        None => value.text.parse::<f64>(),
    };
    let share = share.ok().filter(|share| *share > 0.0 && *share <= 1.0);
    let Some(share_min) = share else {
        let mistake = LimitMistake::Share { text: value.owned() };
        return Err(value.error(mistake, "achieved > 95%"));
    };
    if is_at_most(sign, &write)? {
        let mistake = LimitMistake::WrongWay { sign: sign.owned(), asked: "less than was offered" };
        return Err(sign.error(mistake, write));
    }
    Ok(Limit::Achieved { share_min })
}
