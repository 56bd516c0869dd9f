//! Text in so many columns.

/// Breaks a text at blanks behind a head, with lines after the first below its start. A word that
/// is longer than a line keeps its own. Lines of the text stay lines.
pub(crate) fn fill(head: &str, text: &str, columns: usize) -> String {
    fill_below(head, head.chars().count(), text, columns)
}

/// Does the same, with lines after the first so far from the left.
pub(crate) fn fill_below(head: &str, indent: usize, text: &str, columns: usize) -> String {
    let mut filled = head.to_owned();
    let mut at = head.chars().count();
    for (line_idx, line) in text.split('\n').enumerate() {
        if line_idx > 0 {
            start_line(&mut filled, if line.is_empty() { 0 } else { indent });
            at = indent;
        }
        for (idx, word) in line.split(' ').enumerate() {
            let n_chars = word.chars().count();
            if idx > 0 && at + 1 + n_chars > columns {
                filled.truncate(filled.trim_end_matches(' ').len());
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
