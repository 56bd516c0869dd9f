//! Text in so many columns.

/// Breaks a text at blanks behind a head, with lines after the first below its start. A word that
/// is longer than a line keeps its own. Lines of the text stay lines.
pub(crate) fn fill(head: &str, text: &str, columns: usize) -> String {
    let indent = head.chars().count();
    let mut filled = head.to_owned();
    for (line_idx, line) in text.split('\n').enumerate() {
        let mut at = indent;
        if line_idx > 0 {
            start_line(&mut filled, if line.is_empty() { 0 } else { indent });
        }
        for (idx, word) in line.split(' ').enumerate() {
            let n_chars = word.chars().count();
            if idx > 0 && at + 1 + n_chars > columns {
                start_line(&mut filled, indent);
                at = indent;
            } else if idx > 0 {
                filled.push(' ');
                at += 1;
            }
            filled.push_str(word);
            at += n_chars;
        }
    }
    filled.push('\n');
    filled
}

fn start_line(text: &mut String, indent: usize) {
    text.push('\n');
    text.push_str(&" ".repeat(indent));
}
