//! Text of a user in the syntax of each form.

pub use units::shell_quoted as shell;

/// Quotes text for HCL, the language of Terraform: neither `${` nor `%{` begins a template.
pub fn hcl(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '$' | '%' if letters.peek() == Some(&'{') => {
                quoted.push(letter);
                quoted.push(letter);
            }
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Quotes text for Bicep: `${` begins no expression.
pub fn bicep(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => quoted.push_str("\\'"),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '$' if letters.peek() == Some(&'{') => quoted.push_str("\\$"),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}

/// Quotes text for PowerShell, which takes typographic quotes for quotes, too.
pub fn powershell(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for letter in text.chars() {
        if matches!(letter, '\'' | '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}') {
            quoted.push(letter);
        }
        quoted.push(letter);
    }
    quoted.push('\'');
    quoted
}

/// Writes a path as a field of /etc/fstab, which blanks end: they and backslashes are octal.
pub fn fstab(path: &str) -> String {
    let mut field = String::with_capacity(path.len());
    for letter in path.chars() {
        match letter {
            ' ' | '\t' | '\n' | '\\' | '#' => {
                field.push_str(&format!("\\{:03o}", u32::from(letter)));
            }
            letter => field.push(letter),
        }
    }
    field
}

/// Writes text so that it stays within the line of a comment.
pub fn comment(text: &str) -> String {
    let ends_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if ends_line(c) { ' ' } else { c }).collect()
}
