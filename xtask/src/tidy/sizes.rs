//! Sizes that a reader can hold: lines, functions, files.

use super::{File, Violation};

/// Longest line, in characters. Two files stand side by side on one screen.
const LINE_CHARS_MAX: usize = 100;
/// Longest function, in lines from its signature to its closing brace. It fits one screen.
const FUNCTION_LINES_MAX: usize = 70;
/// Longest source file, in lines.
const FILE_LINES_MAX: usize = 800;
/// Longest test file, in lines. Tables of cases are longer than code, and easier to read.
const TEST_FILE_LINES_MAX: usize = 1200;

/// Checks one Rust source.
pub(super) fn check(file: &File) -> Vec<Violation> {
    let Some(source) = &file.source else { return Vec::new() };
    let mut violations = Vec::new();
    for (line_idx, line) in file.text.lines().enumerate() {
        let n_chars = line.chars().count();
        if n_chars > LINE_CHARS_MAX {
            let message = format!("line of {n_chars} characters: wrap it at {LINE_CHARS_MAX}");
            violations.push(file.violation(line_idx + 1, message));
        }
    }
    for function in source.functions() {
        if function.n_lines > FUNCTION_LINES_MAX {
            let message = format!(
                "function `{}` has {} lines, more than {FUNCTION_LINES_MAX}: split it where its \
                 parts have names of their own",
                function.name, function.n_lines
            );
            violations.push(file.violation(function.line, message));
        }
    }
    let n_lines = file.text.lines().count();
    let n_lines_max = if file.is_test { TEST_FILE_LINES_MAX } else { FILE_LINES_MAX };
    if n_lines > n_lines_max {
        let message =
            format!("file has {n_lines} lines, more than {n_lines_max}: split it by what it owns");
        violations.push(file.violation(n_lines_max + 1, message));
    }
    violations
}
