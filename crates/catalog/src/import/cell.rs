//! Numbers as pages print them.

/// Reads a published number: `51,200`, `12500+`, `2000<sup>1</sup>`. `None` is unknown or none.
pub(super) fn number(text: &str) -> Result<Option<String>, String> {
    let plain = without_tags(text);
    let plain = plain.trim().trim_matches(|c: char| matches!(c, '*' | '`')).trim();
    let lower = plain.to_lowercase();
    let is_unknown =
        matches!(lower.as_str(), "" | "-" | "--" | "n/a" | "na" | "none" | "unlimited")
            || lower.contains("remote storage only")
            || lower.contains("not supported");
    if is_unknown {
        return Ok(None);
    }
    let digits: String = plain
        .trim_end_matches('+')
        .chars()
        .filter(|c| !matches!(c, ',' | ' ' | '\u{a0}'))
        .collect();
    let is_number = digits.parse::<f64>().is_ok_and(|value| (0.0..=1e15).contains(&value));
    let starts_well = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !is_number || !starts_well {
        return Err(format!("`{plain}` is not a number"));
    }
    // A limit of nothing is how maps say that they do not know.
    Ok(Some(digits).filter(|digits| digits.parse::<f64>() != Ok(0.0)))
}

/// Removes HTML tags, and what stands in `<sup>`: a footnote mark, which would look like a digit.
pub(super) fn without_tags(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        plain.push_str(&rest[..start]);
        let tag = &rest[start..];
        let Some(end) = tag.find('>') else {
            return plain + tag;
        };
        let is_mark = tag[..end].eq_ignore_ascii_case("<sup");
        let close = is_mark.then(|| tag.to_ascii_lowercase().find("</sup>")).flatten();
        rest = match close {
            Some(close) => &tag[close + "</sup>".len()..],
            None => &tag[end + 1..],
        };
    }
    plain + rest
}

/// Splits the old form `16000/128 (200)`: operations, MB/s, and the size of the cache.
pub(super) fn pair(text: &str) -> [&str; 3] {
    // `N/A` is not a pair.
    if number(text) == Ok(None) {
        return [""; 3];
    }
    let (numbers, cache) = match text.split_once('(') {
        Some((numbers, cache)) => (numbers, cache.split(')').next().unwrap_or("")),
        None => (text, ""),
    };
    let (iops, bytes) = numbers.split_once('/').unwrap_or((numbers, ""));
    [iops, bytes, cache]
}
