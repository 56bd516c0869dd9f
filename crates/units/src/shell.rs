//! Words as a POSIX shell takes them.

/// Quotes text for a POSIX shell: nothing in it is expanded.
pub fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns a word as a POSIX shell takes it, quoted if it needs that.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-+=:,./@%^".contains(c);
    let needs_none = !word.is_empty() && word.chars().all(is_plain);
    if needs_none { word.to_owned() } else { shell_quoted(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_a_word_as_it_is() {
        assert_eq!(shell_word("nfs://10.0.0.4/vol-1"), "nfs://10.0.0.4/vol-1");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!((shell_word(""), shell_word("a b")), ("''".to_owned(), "'a b'".to_owned()));
        assert_eq!(shell_quoted("plain"), "'plain'");
    }
}
