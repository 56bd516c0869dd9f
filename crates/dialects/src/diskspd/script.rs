//! The commands of a script, as the shells of Windows and Linux split them: words, quotes,
//! variables, continued lines, and what is only for a shell.

use plan::Span;

use crate::foreign;

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Word {
    /// Without its quotes; variables that are set are replaced.
    pub(super) text: String,
    /// Where it is written.
    pub(super) span: Span,
    /// Variables that are not set, and what else only a shell works out, as written.
    pub(super) unknown: Vec<String>,
}

/// A command of a script: the words up to the end of a line, or to what joins two commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// A quote that is opened and not closed.
    pub(super) open_quote: Option<Span>,
    /// Its output goes to another program.
    pub(super) pipe: Option<Span>,
}

/// What a command has to do with diskspd.
pub(super) enum Use<'a> {
    /// It calls it with these words.
    Call(&'a [Word]),
    /// It calls it in a way that is not read: by this word.
    Unread(&'a Word),
    /// Nothing.
    Other,
}

/// Words that may stand before the program: the command is the same without them.
const CARRIERS: [&str; 10] =
    ["", "@", "call", "sudo", "time", "nohup", "start", "/wait", "/b", "/min"];

/// Words that print the rest of the line, or speak of it.
const SPEAKERS: [&str; 4] = ["echo", "@echo", "write-host", "write-output"];

impl Command {
    /// Returns what it has to do with diskspd.
    pub(super) fn of_diskspd(&self) -> Use<'_> {
        let is_program = |word: &Word| foreign::is_diskspd(word.text.trim_start_matches('@'));
        let is_carrier = |word: &Word| CARRIERS.iter().any(|it| word.text.eq_ignore_ascii_case(it));
        let n_carriers = self.words.iter().take_while(|word| is_carrier(word)).count();
        let Some(first) = self.words.get(n_carriers) else { return Use::Other };
        if is_program(first) {
            return Use::Call(&self.words[n_carriers + 1..]);
        }
        let speaks = SPEAKERS.iter().any(|it| first.text.eq_ignore_ascii_case(it));
        let is_option = |word: &Word| word.text.len() > 1 && word.text.starts_with('-');
        let calls = |pair: &[Word]| is_program(&pair[0]) && is_option(&pair[1]);
        if !speaks && self.words.windows(2).any(calls) {
            return Use::Unread(first);
        }
        Use::Other
    }
}

/// Returns the commands of a script, without those that hold nothing.
pub(super) fn commands(text: &str, variables: &[(String, String)]) -> Vec<Command> {
    let mut cursor = Cursor { text, at: 0, line: 1, column: 1, variables };
    let mut found = Vec::new();
    while !cursor.rest().is_empty() {
        let command = cursor.command();
        if !command.words.is_empty() {
            found.push(command);
        }
    }
    found
}

struct Cursor<'a> {
    text: &'a str,
    /// Bytes that are read.
    at: usize,
    line: u32,
    column: u32,
    variables: &'a [(String, String)],
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the rest of the line, without its end; nothing at the end of the text.
    fn rest_of_line(&self) -> &'a str {
        self.rest().lines().next().unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes behind the next character, and returns it.
    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        if next == '\n' {
            (self.line, self.column) = (self.line + 1, 1);
        } else {
            self.column += 1;
        }
        Some(next)
    }

    fn bump_bytes(&mut self, n_bytes: usize) {
        let end = self.at + n_bytes;
        while self.at < end && self.bump().is_some() {}
    }

    /// Returns the place from an earlier one up to here.
    fn span_from(&self, start: &Span) -> Span {
        Span { bytes: start.bytes.start..self.at, ..start.clone() }
    }

    fn here(&self) -> Span {
        let (line, column) = (self.line, self.column);
        Span { source_idx: Some(0), line, column, bytes: self.at..self.at }
    }

    /// Returns the length of a mark that continues the line on the next one.
    fn continuation(&self) -> Option<usize> {
        let rest = self.rest();
        let behind = rest.strip_prefix(['^', '`', '\\'])?;
        let is_continued = behind.starts_with('\n') || behind.starts_with("\r\n");
        is_continued.then(|| rest.len() - behind.len() + behind.find('\n').map_or(0, |at| at + 1))
    }

    fn skip_blanks(&mut self) {
        loop {
            if let Some(n_bytes) = self.continuation() {
                self.bump_bytes(n_bytes);
            } else if self.peek().is_some_and(|c| c != '\n' && (c.is_whitespace() || c == BOM)) {
                self.bump();
            } else {
                return;
            }
        }
    }

    fn skip_line(&mut self) {
        let n_bytes = self.rest().find('\n').unwrap_or(self.rest().len());
        self.bump_bytes(n_bytes);
    }

    /// Skips what a terminal shows before a command: `PS C:\>`, `C:\tools>`, `$`, `>`.
    fn skip_prompt(&mut self) {
        let line = self.rest_of_line();
        let is_mark = |mark: &str| line.starts_with(&format!("{mark} "));
        if let Some((prompt, behind)) = line.split_once('>')
            && !prompt.contains(" -")
            && prompt.contains(':')
            && !prompt.to_ascii_lowercase().contains(".exe")
            && behind.split_whitespace().next().is_some_and(foreign::is_diskspd)
        {
            self.bump_bytes(prompt.len() + 1);
        } else if is_mark("$") || is_mark(">") {
            self.bump_bytes(1);
        }
        self.skip_blanks();
    }

    /// Returns whether a comment begins here, which takes the rest of the line.
    fn is_at_comment(&self) -> bool {
        let line = self.rest_of_line();
        let word = line.split(char::is_whitespace).next().unwrap_or_default();
        let is_remark = ["rem", "@rem"].iter().any(|it| word.eq_ignore_ascii_case(it));
        is_remark || line.starts_with("::")
    }

    fn command(&mut self) -> Command {
        let mut command = Command::default();
        self.skip_blanks();
        self.skip_prompt();
        if self.is_at_comment() {
            self.skip_line();
        }
        loop {
            self.skip_blanks();
            let rest = self.rest();
            let Some(next) = self.peek() else { return command };
            match next {
                '\n' | ';' | '&' => {
                    self.bump();
                    return command;
                }
                '|' if rest.starts_with("||") => {
                    self.bump_bytes(2);
                    return command;
                }
                '|' => {
                    command.pipe = Some(self.here());
                    self.skip_line();
                }
                // A physical disk is a number: `#1`.
                '#' if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.skip_line(),
                '<' => match placeholder(rest) {
                    Some(n_bytes) => command.words.push(self.unknown_word(n_bytes)),
                    None => self.redirection(&mut command),
                },
                '>' => self.redirection(&mut command),
                '(' => {
                    let n_bytes = closed(rest).unwrap_or(1);
                    command.words.push(self.unknown_word(n_bytes));
                }
                _ if is_redirected_number(rest) => {
                    self.bump();
                    self.redirection(&mut command);
                }
                _ => {
                    let word = self.word(&mut command.open_quote);
                    command.words.push(word);
                }
            }
        }
    }

    /// Skips where output goes, or input comes from.
    fn redirection(&mut self, command: &mut Command) {
        while self.peek().is_some_and(|c| matches!(c, '>' | '<')) {
            self.bump();
        }
        if self.peek() == Some('&') {
            self.bump();
        }
        self.skip_blanks();
        let is_word = |c: char| !matches!(c, '\n' | ';' | '&' | '|' | '>' | '<');
        if self.peek().is_some_and(is_word) {
            self.word(&mut command.open_quote);
        }
    }

    /// Takes so many bytes as a word that only a shell works out.
    fn unknown_word(&mut self, n_bytes: usize) -> Word {
        let start = self.here();
        self.bump_bytes(n_bytes);
        let span = self.span_from(&start);
        let text = self.text[span.bytes.clone()].to_owned();
        Word { unknown: vec![text.clone()], text, span }
    }

    fn word(&mut self, open_quote: &mut Option<Span>) -> Word {
        let start = self.here();
        let mut word = Word::default();
        let mut quote: Option<(char, Span)> = None;
        while let Some(next) = self.peek() {
            let is_quoted = quote.is_some();
            if next == '\n' || (!is_quoted && ends_word(next)) {
                break;
            }
            if quote.as_ref().is_some_and(|(mark, _)| *mark == next) {
                quote = None;
                self.bump();
            } else if !is_quoted && self.opens_quote(next) {
                quote = Some((next, self.here()));
                self.bump();
            } else if quote.as_ref().is_some_and(|(mark, _)| *mark == '\'') {
                // Nothing has a meaning of its own there.
                word.text.extend(self.bump());
            } else if let Some(n_bytes) = self.continuation().filter(|_| next != '\\') {
                self.bump_bytes(n_bytes);
            } else if self.escapes(next) {
                self.bump();
                word.text.extend(self.bump());
            } else if let Some((n_bytes, name)) = variable(self.rest()) {
                self.substitute(n_bytes, name, &mut word);
            } else {
                word.text.extend(self.bump().filter(|c| *c != '\r'));
            }
        }
        if let Some((_, at)) = quote {
            open_quote.get_or_insert(at);
        }
        word.span = self.span_from(&start);
        word
    }

    /// Returns whether a quote begins here. An apostrophe alone is one.
    fn opens_quote(&self, next: char) -> bool {
        let line = self.rest_of_line();
        next == '"' || (next == '\'' && line[1..].contains('\''))
    }

    /// Returns whether the character takes its meaning from the one behind it.
    fn escapes(&self, next: char) -> bool {
        let behind = self.rest().chars().nth(1);
        match next {
            '`' => behind.is_some_and(|c| c != '\n' && c != '\r'),
            '^' => behind.is_some_and(|c| "&|<>^".contains(c)),
            _ => false,
        }
    }

    fn substitute(&mut self, n_bytes: usize, name: Option<&str>, word: &mut Word) {
        let written = &self.rest()[..n_bytes];
        let known = |name: &str| {
            let is_it = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
            self.variables.iter().find(is_it).map(|(_, value)| value.as_str())
        };
        if let Some(value) = name.and_then(known) {
            word.text.push_str(value);
        } else {
            word.text.push_str(written);
            word.unknown.push(written.to_owned());
        }
        self.bump_bytes(n_bytes);
    }
}

/// Returns a word as a script has it, so that it is read as it is.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,\\".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) && !word.ends_with('\\') {
        return word.to_owned();
    }
    // An apostrophe stands in quotes of the other kind.
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

/// What some programs begin text with.
const BOM: char = '\u{feff}';

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>')
}

/// Returns the length of a word such as `<file>`, which stands for one that a reader puts there.
fn placeholder(rest: &str) -> Option<usize> {
    let end = rest.find('>')?;
    let inner = &rest[1..end];
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.');
    let has_edges = inner.starts_with(char::is_alphanumeric) && !inner.ends_with(' ');
    (has_edges && inner.chars().all(is_word)).then_some(end + 1)
}

/// Returns whether the number of a stream stands before the mark of a redirection: `2>`.
fn is_redirected_number(rest: &str) -> bool {
    matches!(rest.as_bytes(), [b'0'..=b'9' | b'*', b'>', ..])
}

/// Returns the length of what parentheses hold, with them, on one line.
fn closed(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '\n' => return None,
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the length of a variable that begins here, and its name; none where it is more than
/// that.
fn variable(rest: &str) -> Option<(usize, Option<&str>)> {
    match rest.as_bytes().first()? {
        b'$' => dollar(rest),
        b'%' => percent(rest),
        _ => None,
    }
}

/// `$name`, `${name}`, `$env:NAME`, `$(...)`.
fn dollar(rest: &str) -> Option<(usize, Option<&str>)> {
    let behind = &rest[1..];
    if behind.starts_with('(') {
        let n_bytes = closed(behind)?;
        let inner = behind[1..n_bytes - 1].trim();
        let name = inner.strip_prefix('$').unwrap_or(inner);
        return Some((1 + n_bytes, (name_bytes(name) == name.len()).then_some(name)));
    }
    if let Some(braced) = behind.strip_prefix('{') {
        let end = braced.find(['}', '\n']).filter(|end| braced[*end..].starts_with('}'))?;
        let name = &braced[..end];
        return Some((end + 3, Some(name.strip_prefix("env:").unwrap_or(name))));
    }
    let skipped = if behind.starts_with("env:") { 4 } else { 0 };
    let n_bytes = name_bytes(&behind[skipped..]);
    let name = &behind[skipped..skipped + n_bytes];
    (n_bytes > 0).then_some((1 + skipped + n_bytes, Some(name)))
}

/// `%NAME%`, `%1`, `%*`, `%%i`, `%~dp0`.
fn percent(rest: &str) -> Option<(usize, Option<&str>)> {
    let behind = &rest[1..];
    if behind.starts_with('*') {
        return Some((2, None));
    }
    if behind.starts_with(|c: char| c.is_ascii_digit()) {
        return Some((2, Some(&behind[..1])));
    }
    if let Some(name) = behind.strip_prefix('%') {
        let has_letter = name.starts_with(|c: char| c.is_ascii_alphabetic());
        return has_letter.then(|| (3, Some(&name[..1])));
    }
    if let Some(path) = behind.strip_prefix('~') {
        let n_letters = path.bytes().take_while(u8::is_ascii_alphabetic).count();
        let is_numbered = path[n_letters..].starts_with(|c: char| c.is_ascii_digit());
        return is_numbered.then(|| (n_letters + 3, Some(&path[..=n_letters])));
    }
    let n_bytes = name_bytes(behind);
    let is_closed = n_bytes > 0 && behind[n_bytes..].starts_with('%');
    is_closed.then(|| (n_bytes + 2, Some(&behind[..n_bytes])))
}

fn name_bytes(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}
