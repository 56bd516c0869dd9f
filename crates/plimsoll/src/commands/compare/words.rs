//! A text as the words of a command line.

/// Splits a text into words as a shell does: at blanks, but for what stands in quotes or behind a
/// backslash. Nothing else of a shell is known: no variables, no patterns.
pub(super) fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => match chars.next() {
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("a backslash ends it".to_owned()),
            },
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(quote) = quote {
        return Err(format!("a quote ({quote}) is not closed"));
    }
    words.extend(word);
    if words.is_empty() {
        return Err("it is empty".to_owned());
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &[&str]) {
        assert_eq!(split(text).unwrap(), words, "{text}");
    }

    #[test]
    fn words_are_those_of_a_shell() {
        check("job.fio", &["job.fio"]);
        check(" job.fio  --set bs=8k\t", &["job.fio", "--set", "bs=8k"]);
        check("'my job.fio' --remap '/a b=./c'", &["my job.fio", "--remap", "/a b=./c"]);
        check(r#"a\ b "c \" d" 'e \f'"#, &["a b", "c \" d", r"e \f"]);
        check("a'' ''", &["a", ""]);
    }

    #[test]
    fn what_is_cut_off_is_reported() {
        assert_eq!(split("'a b").unwrap_err(), "a quote (') is not closed");
        assert_eq!(split("a\\").unwrap_err(), "a backslash ends it");
        assert_eq!(split("  ").unwrap_err(), "it is empty");
    }
}
