//! Values of a parameter: words and numbers, lists and ranges, as Vdbench tells them apart.

/// What `iorate=max` is kept as: just above [`MAX_CODE`], so that a rate of that number is one.
pub(super) const MAX_RATE: f64 = MAX_CODE + 0.000_001;

/// The number that Vdbench keeps for `max`, and takes for it.
pub(super) const MAX_CODE: f64 = 9_999_988.0;

/// What `iorate=curve` is kept as: just above [`CURVE_CODE`], so that a rate of that number is one.
pub(super) const CURVE_RATE: f64 = CURVE_CODE + 0.000_001;

/// The number that Vdbench keeps for `curve`, and takes for it.
pub(super) const CURVE_CODE: f64 = 9_999_977.0;

/// Nanoseconds of a second.
pub(super) const NS_PER_S: u64 = 1_000_000_000;

/// Most numbers that a list may come to.
const NUMBERS_MAX: usize = 10_240;

/// Every number is below: what signed sizes of 64 bits hold.
const NUMBER_END: f64 = 9_223_372_036_854_775_808.0;

/// Most words that a list may hold, and come to.
const WORDS_MAX: usize = 512;
const WORDS_EXPANDED_MAX: usize = 1024;

/// The values of one parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Values {
    /// As written, for parameters that are read one by one.
    pub(super) raw: Vec<String>,
    /// Those that are no numbers.
    pub(super) words: Vec<String>,
    /// Those that are.
    pub(super) numbers: Vec<f64>,
    /// What the scan lists behind `parm: `.
    pub(super) shown: Vec<String>,
    /// Whether they stand in parentheses.
    pub(super) is_list: bool,
    /// A range goes down without halving, so that only its first value is left.
    pub(super) falls: bool,
}

/// What is wrong with a value: code, message, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueError {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: String,
}

fn wrong(code: &'static str, message: String, help: &str) -> ValueError {
    ValueError { code, message, help: help.to_owned() }
}

/// Characters that stood within quotes, and what stands for them until values are taken apart.
const QUOTED: [(char, char); 4] = [(' ', '\u{1}'), (',', '\u{2}'), ('=', '\u{3}'), ('-', '\u{4}')];

/// Returns what stands for a character within quotes.
pub(super) fn quoted(c: char) -> char {
    QUOTED.iter().find(|(plain, _)| *plain == c).map_or(c, |(_, stands)| *stands)
}

/// Parentheses within quotes, which only the kind mode leaves alone.
const QUOTED_PARENTHESES: [(char, char); 2] = [('(', '\u{5}'), (')', '\u{6}')];

/// Returns what stands for a character within quotes in the kind mode.
pub(super) fn quoted_all(c: char) -> char {
    let own = QUOTED_PARENTHESES.iter().find(|(plain, _)| *plain == c);
    own.map_or_else(|| quoted(c), |(_, stands)| *stands)
}

/// Returns the text as it was within its quotes.
pub(super) fn unquoted(text: &str) -> String {
    let all = || QUOTED.iter().chain(&QUOTED_PARENTHESES);
    let plain = |c: char| all().find(|(_, stands)| *stands == c).map_or(c, |(p, _)| *p);
    text.chars().map(plain).collect()
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(f64),
    Word(String),
    /// The dash of a range.
    Dash,
    /// The `d` behind a range.
    Double,
}

/// How values are read behind a keyword as it is written: by its full name, for the most part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grammar {
    /// A list is left as it is.
    is_raw: bool,
    /// A dash within a list is that of a range.
    has_ranges: bool,
    /// Digits are text.
    is_text: bool,
    /// A number with a unit is a word.
    is_word: bool,
    /// Units are those of times.
    is_time: bool,
}

impl Grammar {
    /// Returns the grammar behind a keyword in lower case.
    pub(super) fn of(key: &str) -> Self {
        let is_misc = key.starts_with("misc");
        Grammar {
            is_raw: key == "fileselect" || "seekpct".starts_with(key) || "timeout".starts_with(key),
            has_ranges: !matches!(key, "host" | "hd" | "replay") && !is_misc,
            is_text: matches!(key, "replay" | "histogram") || is_misc,
            is_word: matches!(key, "histogram" | "host" | "hd" | "system"),
            is_time: ["el", "in", "pa", "wa", "reset"].iter().any(|time| key.starts_with(time)),
        }
    }
}

/// Reads what stands behind `key=`; `key` is in lower case.
pub(super) fn read(key: &str, text: &str, is_kind: bool) -> Result<Values, ValueError> {
    if !text.starts_with('(') {
        let mut values = Values { raw: vec![unquoted(text)], ..Values::default() };
        values.shown.push(unquoted(text));
        match value(key, &unquoted(text), false)? {
            Value::Number(number) => values.numbers.push(number),
            Value::Word(word) => values.words.push(word),
            Value::Dash | Value::Double => {}
        }
        return Ok(values);
    }
    read_list(key, text, is_kind)
}

fn read_list(key: &str, text: &str, is_kind: bool) -> Result<Values, ValueError> {
    let mut values = Values { is_list: true, ..Values::default() };
    let is_raw = Grammar::of(key).is_raw;
    let mut slots: Vec<Value> = Vec::new();
    let (mut n_numbers, mut in_range) = (0_usize, false);
    let tokens: Vec<&str> = tokens(key, text).collect();
    for (idx, token) in tokens.iter().enumerate() {
        if is_raw {
            values.raw.push(unquoted(token));
            continue;
        }
        if *token == "-" {
            n_numbers += usize::from(n_numbers > 0);
            slots.push(Value::Dash);
            in_range = true;
        } else if in_range && *token == "d" {
            slots.push(Value::Double);
            n_numbers += 1;
            in_range = false;
        } else if *token == "d" && idx == 2 && tokens.len() == 3 && n_numbers == 2 {
            // `(64,1,d)` is another way to write `(64-1,d)`.
            slots.insert(1, Value::Dash);
            slots.push(Value::Double);
        } else {
            let text = unquoted(token);
            let read = value(key, &text, n_numbers > 0)?;
            n_numbers += usize::from(matches!(read, Value::Number(_)));
            values.shown.push(text);
            slots.push(read);
        }
    }
    if n_numbers > 0 {
        values.words = words_of(&slots);
        values.numbers = expand_numbers(key, &slots)?;
        values.falls = falls(&slots);
    } else {
        values.words = expand_words(key, &slots, is_kind)?;
    }
    Ok(values)
}

/// Cuts a list at parentheses, commas and dashes; dashes stay.
fn tokens<'a>(key: &str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let has_ranges = Grammar::of(key).has_ranges;
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let is_cut = |c: char| matches!(c, '(' | ')' | ',') || (c == '-' && has_ranges);
            let first = rest.chars().next()?;
            let end = if is_cut(first) {
                first.len_utf8()
            } else {
                rest.find(is_cut).unwrap_or(rest.len())
            };
            let token = &rest[..end];
            rest = &rest[end..];
            if !matches!(token, "(" | ")" | ",") {
                return Some(token);
            }
        }
    })
}

/// Distinguishes words and numbers. A unit makes a number of a word; nothing else may stand among
/// numbers.
fn value(key: &str, text: &str, among_numbers: bool) -> Result<Value, ValueError> {
    let grammar = Grammar::of(key);
    if key == "iorate" && text == "max" {
        return Ok(Value::Number(MAX_RATE));
    }
    if !grammar.is_text
        && let Some(number) = java_number(text)
    {
        return within_bounds(key, text, number);
    }
    if grammar.is_word {
        return Ok(Value::Word(text.to_owned()));
    }
    let lower = text.to_lowercase();
    let mut front = lower.as_str();
    if front.len() > 2 && front.ends_with('b') {
        front = &front[..front.len() - 1];
    }
    let unit = front.chars().last().unwrap_or_default();
    let Some(factor) = factor(unit, grammar.is_time) else {
        if among_numbers {
            return Err(wrong(
                "mixed-values",
                format!("mix of alpha and numeric values not allowed: ({key}) {text}"),
                "write either numbers or words",
            ));
        }
        return Ok(Value::Word(text.to_owned()));
    };
    match java_number(&front[..front.len() - unit.len_utf8()]) {
        Some(number) => within_bounds(key, text, number * factor),
        None => Ok(Value::Word(text.to_owned())),
    }
}

/// Refuses what Java reads as a number and nothing can be done with: Vdbench crashes on most of it,
/// or takes the largest number there is instead.
fn within_bounds(key: &str, text: &str, number: f64) -> Result<Value, ValueError> {
    if number.abs() < NUMBER_END {
        return Ok(Value::Number(number));
    }
    let message = format!("`{key}=` cannot be `{text}`");
    let help = "write a number in digits, less than 9223372036854775808 (8 EiB)";
    Err(wrong("wrong-value", message, help))
}

fn factor(unit: char, is_time: bool) -> Option<f64> {
    Some(match unit {
        'k' => 1024.0,
        'm' if is_time => 60.0,
        'm' => 1_048_576.0,
        'g' => 1_073_741_824.0,
        't' => 1_099_511_627_776.0,
        'h' => 3600.0,
        '%' => -1.0,
        _ => return None,
    })
}

/// Reads a number as Java does: blanks around it, an exponent, and a closing `d` or `f` are fine.
pub(super) fn java_number(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    match digits {
        "NaN" => return Some(f64::NAN),
        "Infinity" if text.starts_with('-') => return Some(f64::NEG_INFINITY),
        "Infinity" => return Some(f64::INFINITY),
        _ => {}
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let plain = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let is_plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if plain.chars().all(is_plain) { plain.parse().ok() } else { None }
}

fn words_of(slots: &[Value]) -> Vec<String> {
    let words = slots.iter().filter_map(|slot| match slot {
        Value::Word(word) => Some(word.clone()),
        Value::Number(_) | Value::Dash | Value::Double => None,
    });
    words.collect()
}

/// Carries ranges of numbers out. Words before the numbers count as 0, as they do in Vdbench.
fn expand_numbers(key: &str, slots: &[Value]) -> Result<Vec<f64>, ValueError> {
    let n_words = slots.iter().filter(|slot| matches!(slot, Value::Word(_))).count();
    let slots = &slots[..slots.len().saturating_sub(n_words)];
    let number = |idx: usize| match slots.get(idx) {
        Some(Value::Number(number)) => *number,
        Some(Value::Word(_) | Value::Dash | Value::Double) | None => 0.0,
    };
    let endless = || {
        wrong(
            "endless-range",
            format!("the range of `{key}=` comes to no end"),
            "write a step behind it, such as `(1-10,1)`, or `d` to double: `(1-64,d)`",
        )
    };
    let too_many = || {
        wrong(
            "too-many-values",
            format!("`{key}=` comes to {NUMBERS_MAX} values or more, which Vdbench does not take"),
            "take larger steps, or several run definitions",
        )
    };
    let mut numbers: Vec<f64> = Vec::new();
    let (mut idx, mut in_range) = (0, false);
    while idx < slots.len() {
        match slots[idx] {
            Value::Dash => in_range = true,
            Value::Double => in_range = false,
            Value::Number(_) | Value::Word(_) if in_range && !numbers.is_empty() => {
                let start = numbers.last().copied().unwrap_or_default();
                let end = number(idx);
                let is_doubled = matches!(slots.get(idx + 1), Some(Value::Double));
                let step = number(idx + 1);
                let next = |value: f64| match (is_doubled, start < end) {
                    (true, true) => value * 2.0,
                    (true, false) => value / 2.0,
                    (false, _) => value + step,
                };
                let is_falling = is_doubled && start >= end;
                let mut value = next(start);
                while if is_falling { value >= end } else { value <= end } {
                    numbers.push(value);
                    if numbers.len() >= NUMBERS_MAX {
                        let has_end = if is_falling { end > 0.0 } else { next(value) > value };
                        return Err(if has_end { too_many() } else { endless() });
                    }
                    value = next(value);
                }
                idx += 1;
                in_range = false;
            }
            Value::Number(_) | Value::Word(_) => numbers.push(number(idx)),
        }
        idx += 1;
    }
    if numbers.len() >= NUMBERS_MAX {
        return Err(too_many());
    }
    Ok(numbers)
}

/// Returns whether a range goes down without halving: nothing comes of it but its first value.
fn falls(slots: &[Value]) -> bool {
    slots.windows(3).enumerate().any(|(idx, three)| match three {
        [Value::Number(start), Value::Dash, Value::Number(end)] => {
            start > end && !matches!(slots.get(idx + 3), Some(Value::Double))
        }
        _ => false,
    })
}

/// Carries ranges of names out: `(sd1-sd3)`.
fn expand_words(key: &str, slots: &[Value], is_kind: bool) -> Result<Vec<String>, ValueError> {
    let mut words: Vec<String> = Vec::new();
    let mut in_range = false;
    for slot in slots {
        match slot {
            Value::Dash => in_range = true,
            Value::Word(word) if in_range => {
                let Some(first) = words.last().cloned() else {
                    return Err(bad_range(key, word));
                };
                for name in name_range(key, &first, word, is_kind)? {
                    words.push(name);
                }
                in_range = false;
            }
            Value::Word(word) => words.push(word.clone()),
            Value::Number(_) | Value::Double => {}
        }
    }
    if slots.len() > WORDS_MAX || words.len() > WORDS_EXPANDED_MAX {
        return Err(wrong(
            "too-many-values",
            format!("`{key}=` has {} values, more than Vdbench takes", words.len()),
            "use a wildcard such as `sd*`",
        ));
    }
    Ok(words)
}

fn name_range(
    key: &str,
    first: &str,
    last: &str,
    is_kind: bool,
) -> Result<Vec<String>, ValueError> {
    let (Some((prefix, from)), Some((other, to))) = (numbered(first), numbered(last)) else {
        let bad = if numbered(first).is_none() { first } else { last };
        return Err(bad_range(key, bad));
    };
    if prefix != other {
        return Err(wrong(
            "bad-range",
            format!("the names of a range must begin alike: {first}/{last}"),
            "write such as `(sd1-sd9)`",
        ));
    }
    let (Ok(start), Ok(end)) = (from.parse::<i32>(), to.parse::<i32>()) else {
        return Err(bad_range(key, last));
    };
    if start >= end {
        return Err(wrong(
            "bad-range",
            format!("the numbers of a range must rise: {first}/{last}"),
            "write the lower name first",
        ));
    }
    let n_names = i64::from(end) - i64::from(start);
    if n_names > WORDS_EXPANDED_MAX as i64 {
        return Err(wrong(
            "too-many-values",
            format!("the range {first}-{last} has more than {WORDS_EXPANDED_MAX} names"),
            "use a wildcard such as `sd*`",
        ));
    }
    // Vdbench counts without leading zeros: the names it makes then belong to nothing.
    let width = if is_kind && from.len() == to.len() { from.len() } else { 0 };
    Ok((start + 1..=end).map(|number| format!("{prefix}{number:0width$}")).collect())
}

/// Cuts a name before its closing digits; one that is all digits keeps the first as its prefix.
fn numbered(name: &str) -> Option<(&str, &str)> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        return None;
    }
    Some(name.split_at((name.len() - digits).max(usize::from(digits == name.len()))))
}

fn bad_range(key: &str, word: &str) -> ValueError {
    wrong(
        "bad-range",
        format!("`{word}` of `{key}=` ends in no number, so it cannot be the end of a range"),
        "enclose a value that holds a dash in double quotes",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abbreviation_is_read_otherwise_than_the_names_that_count_in_full() {
        let is_alike = |short: &str, full: &str| Grammar::of(short) == Grammar::of(full);
        for full in ["fileselect", "host", "system", "histogram", "replay", "misc"] {
            assert!(!is_alike(&full[..3], full), "{full}");
        }
        for full in ["seekpct", "timeout", "elapsed", "interval", "pause", "warmup", "xfersize"] {
            assert!(is_alike(&full[..2], full), "{full}");
        }
    }

    #[track_caller]
    fn numbers(text: &str, expected: &[f64]) {
        assert_eq!(read("xfersize", text, false).unwrap().numbers, expected, "{text}");
    }

    #[track_caller]
    fn words(text: &str, expected: &[&str]) {
        assert_eq!(read("sd", text, false).unwrap().words, expected, "{text}");
    }

    #[track_caller]
    fn fails(text: &str, code: &str) {
        assert_eq!(read("threads", text, false).unwrap_err().code, code, "{text}");
    }

    #[test]
    fn lists_and_ranges() {
        numbers("(1-10,3)", &[1.0, 4.0, 7.0, 10.0]);
        numbers("(1-64,d)", &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        numbers("(64-10,d)", &[64.0, 32.0, 16.0]);
        numbers("(8,1,d)", &[8.0, 4.0, 2.0, 1.0]);
        numbers("(1,2,4-16,4)", &[1.0, 2.0, 4.0, 8.0, 12.0, 16.0]);
        numbers("(100-0,10)", &[100.0]);
        numbers("(512-2k,d,8k)", &[512.0, 1024.0, 2048.0, 8192.0]);
        numbers("()", &[]);
        words("(sd1-sd3,x)", &["sd1", "sd2", "sd3", "x"]);
        words("sd1-sd3", &["sd1-sd3"]);
        let falls = |text: &str| read("threads", text, true).unwrap().falls;
        let texts = ["(8-1,2)", "(8-1)", "(8-1,d)", "(8,1,d)", "(1-8,2)"];
        assert_eq!(texts.map(falls), [true, true, false, false, false]);
        fails("(1-10)", "endless-range");
        fails("(0-64,d)", "endless-range");
        fails("(64-0,d)", "endless-range");
        fails("(1-100000,0)", "endless-range");
        fails("(1-100000,1)", "too-many-values");
        fails("(1-10239,1,5)", "too-many-values");
        fails("(1,a)", "mixed-values");
        fails("(sd1-sd)", "bad-range");
        fails("(sd3-sd1)", "bad-range");
        fails("(sd1-wd3)", "bad-range");
        fails("(sd1-sd99999)", "too-many-values");
    }

    #[test]
    fn units_and_numbers_of_java() {
        for (text, expected) in [
            ("4k", 4096.0),
            ("4KB", 4096.0),
            ("1.5m", 1_572_864.0),
            ("2h", 7200.0),
            ("50%", -50.0),
            ("1e3", 1000.0),
            ("4600d", 4600.0),
            ("1f", 1.0),
            ("1\t", 1.0),
            (".5", 0.5),
        ] {
            numbers(text, &[expected]);
        }
        for text in ["4x", "0x10", "k", "1e", "inf", "nan", "-", "5\t*"] {
            assert_eq!(read("xfersize", text, false).unwrap().words, [text], "{text}");
        }
        assert_eq!(read("elapsed", "2m", false).unwrap().numbers, [120.0]);
        assert_eq!(read("hd", "5220h", false).unwrap().words, ["5220h"]);
        assert_eq!(read("iorate", "(100,max)", false).unwrap().numbers, [100.0, MAX_RATE]);
        assert_eq!(read("io", "(100,max)", false).unwrap_err().code, "mixed-values");
    }

    #[test]
    fn a_kind_range_keeps_its_zeros() {
        assert_eq!(read("sd", "(sd08-sd10)", true).unwrap().words, ["sd08", "sd09", "sd10"]);
        assert_eq!(read("sd", "(sd08-sd10)", false).unwrap().words, ["sd08", "sd9", "sd10"]);
    }
}
