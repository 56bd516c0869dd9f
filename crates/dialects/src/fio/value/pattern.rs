//! Fill patterns: `0xdeadface`, `-12`, `"text"`, `'file'` and `%o`, one after another.

use plan::verify::PatternPart;

use super::Reading;

/// Longest pattern, in bytes: as long as fio's since 3.34.
const PATTERN_BYTES_MAX: usize = 128 << 20;

impl Reading<'_> {
    /// Reads a pattern. Hexadecimal digits are bytes in the written order; a decimal number is
    /// little-endian, without its leading zero bytes unless it is negative.
    pub(super) fn pattern(&mut self, text: &str, offset: bool) -> Result<Vec<PatternPart>, String> {
        let mut parts: Vec<PatternPart> = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (bytes, behind) = match first {
                '"' => quoted(rest, '"').map(|(inner, rest)| (inner.as_bytes().to_vec(), rest))?,
                '\'' => {
                    let (path, rest) = quoted(rest, '\'')?;
                    (self.file(path)?, rest)
                }
                '%' if rest.starts_with("%o") && offset => {
                    parts.push(PatternPart::Offset);
                    rest = &rest[2..];
                    continue;
                }
                '%' if rest.starts_with("%o") => {
                    return Err("holds `%o`, which only verify_pattern may".to_owned());
                }
                _ if rest.starts_with("0x") || rest.starts_with("0X") => hex(&rest[2..])?,
                _ => decimal(rest)?,
            };
            if bytes.is_empty() {
                return Err("holds an empty part".to_owned());
            }
            rest = behind;
            match parts.last_mut() {
                Some(PatternPart::Bytes(before)) => before.extend(bytes),
                _ => parts.push(PatternPart::Bytes(bytes)),
            }
        }
        let count = |part: &PatternPart| match part {
            PatternPart::Bytes(bytes) => bytes.len(),
            PatternPart::Offset => 8,
        };
        let size_bytes: usize = parts.iter().map(count).sum();
        if size_bytes > PATTERN_BYTES_MAX {
            return Err(format!("is {size_bytes} B long; the most is {PATTERN_BYTES_MAX} B"));
        }
        Ok(parts)
    }

    fn file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        let bytes = self.loader.read(path);
        let mut bytes = bytes.map_err(|error| format!("names the file `{path}`: {error}"))?;
        if bytes.len() > PATTERN_BYTES_MAX {
            let warning = format!("takes the first {PATTERN_BYTES_MAX} B of `{path}`");
            self.warnings.push(warning);
            bytes.truncate(PATTERN_BYTES_MAX);
        }
        Ok(bytes)
    }
}

fn quoted(text: &str, quote: char) -> Result<(&str, &str), String> {
    text[1..].split_once(quote).ok_or_else(|| format!("lacks a closing {quote}"))
}

fn hex(text: &str) -> Result<(Vec<u8>, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Err("has no hexadecimal digits behind `0x`".to_owned());
    }
    let digits: Vec<u8> = digits.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    let (head, pairs) = digits.split_at(digits.len() % 2);
    let mut bytes = head.to_vec();
    bytes.extend(pairs.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    Ok((bytes, rest))
}

fn decimal(text: &str) -> Result<(Vec<u8>, &str), String> {
    let digits_at = usize::from(text.starts_with(['-', '+']));
    let n_digits = text[digits_at..].find(|c: char| !c.is_ascii_digit());
    // In `-120xdead` fio reads -12 and then 0xdead.
    let mut end = n_digits.map_or(text.len(), |n_digits| digits_at + n_digits);
    if text[..end].ends_with('0') && text[end..].starts_with(['x', 'X']) {
        end -= 1;
    }
    let number = &text[..end];
    if end <= digits_at {
        return Err(format!(
            "is not a pattern at `{text}`; write bytes as `0xdead`, `-12`, `\"text\"` or `'file'`"
        ));
    }
    let value: i32 = number.parse().map_err(|_| format!("holds `{number}`, beyond 32 bits"))?;
    let mut bytes = value.to_le_bytes().to_vec();
    while value >= 0 && bytes.len() > 1 && bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok((bytes, &text[end..]))
}
