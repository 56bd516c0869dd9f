//! Needs from text.

use analysis::limit::{Comparison, LimitMistake, Piece, pieces};

use super::super::condition::{Condition, ConditionError};
use super::{BLOCK_BYTES, Need};

/// What a need is made of.
const USAGE: &str =
    "write iops=N or mb_s=N, limits such as p99<2ms, and bs=8k, read=70, seq or random";

/// Words of a need, for those that are near one.
const WORDS: [&str; 8] = ["iops", "mb_s", "mib_s", "bs", "size", "read", "seq", "random"];

/// Reads a need such as `iops=5000,p99<2ms,bs=8k,read=70` or `mb_s=200,bs=1m,seq`. Capitals and
/// blanks are as one likes: `IOPS = 5000, P99 < 2 ms`.
///
/// Unless it says otherwise I/Os are 8 KiB (64 KiB with `seq`) anywhere, and reads.
///
/// # Errors
/// With the first mistake, where it is, and what to write instead.
pub fn parse(text: &str) -> Result<Need, String> {
    let mut said = NeedDraft::default();
    for piece in pieces(text).into_iter().filter(|piece| !piece.text.is_empty()) {
        said.take(piece)?;
    }
    let NeedDraft { rate, mut latencies, block_bytes, read_pct, is_sequential } = said;
    let is_sequential = is_sequential.unwrap_or(false);
    let usual = if is_sequential { BLOCK_BYTES.1 } else { BLOCK_BYTES.0 };
    let block_bytes = block_bytes.unwrap_or(usual);
    let (iops, rate) = match rate {
        Some(rate @ Condition::Iops(iops)) => (iops, rate),
        Some(rate @ Condition::BytesPerS(bytes)) => (bytes / block_bytes as f64, rate),
        Some(Condition::Latency { .. }) | None => {
            return Err(format!("`{text}`: how much is needed is missing; {USAGE}"));
        }
    };
    let mut conditions = vec![rate];
    conditions.append(&mut latencies);
    Ok(Need {
        // It is the name of what is measured for it, and `;` begins a comment there.
        text: text.trim().replace(';', ","),
        iops,
        conditions,
        block_bytes,
        read_pct: read_pct.unwrap_or(100.0),
        is_sequential,
    })
}

/// What was said so far.
#[derive(Default)]
struct NeedDraft {
    rate: Option<Condition>,
    latencies: Vec<Condition>,
    block_bytes: Option<u64>,
    read_pct: Option<f64>,
    is_sequential: Option<bool>,
}

impl NeedDraft {
    fn take(&mut self, piece: Piece<'_>) -> Result<(), String> {
        let Comparison { name, sign, value } = piece.comparison();
        let is_again = match (&*name.text.to_lowercase(), sign.text, value.text) {
            ("bs" | "size", "=", _) => self.block_bytes.replace(block_bytes(value)?).is_some(),
            ("read", "=", _) => self.read_pct.replace(read_pct(value)?).is_some(),
            ("bs" | "size" | "read", ..) => {
                let example = if name.text.eq_ignore_ascii_case("read") { "70" } else { "8k" };
                let name = name.text;
                return Err(at(piece, &format!("write `{name}={example}`")));
            }
            (word @ ("seq" | "sequential" | "random" | "rand"), "", "") => {
                if self.is_sequential.replace(word.starts_with("seq")).is_some() {
                    return Err(at(piece, "a need is seq or random, and says so once"));
                }
                false
            }
            ("seq" | "sequential" | "random" | "rand", ..) => {
                return Err(at(piece, &format!("`{}` has no value", name.text)));
            }
            _ => return self.take_condition(piece),
        };
        if is_again { Err(at(piece, &format!("`{}` stands twice", name.text))) } else { Ok(()) }
    }

    /// Takes a rate, or a limit of a figure that has none yet.
    fn take_condition(&mut self, piece: Piece<'_>) -> Result<(), String> {
        let condition = Condition::parse(piece).map_err(|error| match &error {
            ConditionError::Limit(limit) => match &limit.mistake {
                LimitMistake::UnknownFigure { name } => unknown(piece, name),
                LimitMistake::Empty
                | LimitMistake::Percentile { .. }
                | LimitMistake::NoComparison { .. }
                | LimitMistake::UnknownComparison { .. }
                | LimitMistake::WrongWay { .. }
                | LimitMistake::Time(_)
                | LimitMistake::ZeroTime
                | LimitMistake::Share { .. } => error.to_string(),
            },
            ConditionError::Rate { .. } | ConditionError::NoLatency { .. } => error.to_string(),
        })?;
        let name = piece.comparison().name.text;
        match (condition, self.rate) {
            (Condition::Latency { .. }, _) => {
                if self.latencies.iter().any(|other| condition.is_of_figure_of(other)) {
                    let message = format!("`{name}` has a limit already; write one of them");
                    return Err(at(piece, &message));
                }
                self.latencies.push(condition);
            }
            (_, None) => self.rate = Some(condition),
            (Condition::Iops(_), Some(Condition::Iops(_)))
            | (Condition::BytesPerS(_), Some(Condition::BytesPerS(_))) => {
                return Err(at(piece, &format!("`{name}` stands twice")));
            }
            (Condition::Iops(_) | Condition::BytesPerS(_), Some(_)) => {
                let message = "a need has one of iops= and mb_s=; give each its own --need";
                return Err(at(piece, message));
            }
        }
        Ok(())
    }
}

fn at(piece: Piece<'_>, what: &str) -> String {
    format!("column {}: {what}", piece.column())
}

/// Says of a word that it is none of a need, and which is near.
fn unknown(piece: Piece<'_>, name: &str) -> String {
    let near = units::nearest(&name.to_lowercase(), WORDS).first().copied();
    let near = near.map_or(String::new(), |near| format!(", did you mean `{near}`?"));
    at(piece, &format!("`{name}` is no word of a need{near}; {USAGE}"))
}

fn block_bytes(value: Piece<'_>) -> Result<u64, String> {
    let bytes = units::parse_bytes(value.text).map_err(|error| at(value, &error.to_string()))?;
    if !(512..=1 << 30).contains(&bytes) || !bytes.is_multiple_of(512) {
        let text = value.text;
        let message = format!("`{text}` is {bytes} B: expected a multiple of 512 up to 1g");
        return Err(at(value, &message));
    }
    Ok(bytes)
}

fn read_pct(value: Piece<'_>) -> Result<f64, String> {
    let number = value.text.trim_end_matches('%').trim_end().parse::<f64>().ok();
    let pct = number.filter(|pct| (0.0..=100.0).contains(pct));
    pct.ok_or_else(|| at(value, &format!("`{}`: expected percent, 0 to 100", value.text)))
}
