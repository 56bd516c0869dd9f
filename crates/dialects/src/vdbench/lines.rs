//! Lines of parameter files: comments, `eof`, `include=` and substitution.

use plan::job::Source;

use super::findings::{Findings, SourceRange};
use super::options::Options;
use crate::loader::FILE_BYTES_MAX;
use crate::{Foreign, LoadError, Loader};

/// Most lines of all files together: a bound for files that include one another.
const LINES_MAX: usize = 1_000_000;

/// Deepest include within an include.
const DEPTH_MAX: usize = 16;

/// A line that says something, without blanks around it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: String,
    source_idx: u32,
    pieces: Vec<Piece>,
}

/// From here on the text stands in the source, or replaces a name that stands there.
#[derive(Clone, Copy, Debug)]
struct Piece {
    at: usize,
    source_at: usize,
    is_verbatim: bool,
}

impl Line {
    fn verbatim(text: &str, source_idx: u32, source_at: usize) -> Self {
        let pieces = vec![Piece { at: 0, source_at, is_verbatim: true }];
        Line { text: text.to_owned(), source_idx, pieces }
    }

    /// Returns where a byte of the line comes from.
    pub(super) fn source_at(&self, at: usize) -> (u32, usize) {
        let piece = match self.pieces.partition_point(|piece| piece.at <= at) {
            0 => return (self.source_idx, 0),
            behind => self.pieces[behind - 1],
        };
        (self.source_idx, piece.source_at + if piece.is_verbatim { at - piece.at } else { 0 })
    }

    /// Returns whether parts of the text stand elsewhere, or nowhere, in the source.
    pub(super) fn is_patched(&self) -> bool {
        self.pieces.len() > 1
    }

    pub(super) fn place(&self, start: usize, end: usize) -> SourceRange {
        let (source_idx, from) = self.source_at(start);
        let (_, to) = self.source_at(end);
        SourceRange::new(source_idx, from, to)
    }

    /// Returns the line with every occurrence of the names replaced by the values.
    pub(super) fn replaced(&self, names: &[(&str, &str)]) -> Line {
        let mut text = String::with_capacity(self.text.len());
        let mut pieces = Vec::new();
        let mut rest = self.text.as_str();
        let mut at = 0;
        let mut is_afresh = true;
        while let Some(next) = rest.chars().next() {
            let (_, source_at) = self.source_at(at);
            if let Some((name, value)) = names.iter().find(|(name, _)| rest.starts_with(name)) {
                pieces.push(Piece { at: text.len(), source_at, is_verbatim: false });
                text.push_str(value);
                (rest, at, is_afresh) = (&rest[name.len()..], at + name.len(), true);
                continue;
            }
            if is_afresh || self.pieces.iter().any(|piece| piece.at == at) {
                pieces.push(Piece { at: text.len(), source_at, is_verbatim: true });
                is_afresh = false;
            }
            text.push(next);
            (rest, at) = (&rest[next.len_utf8()..], at + next.len_utf8());
        }
        Line { text, source_idx: self.source_idx, pieces }
    }
}

/// What some editors put in front of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns a text in which a carriage return alone, which Java takes for the end of a line, is a
/// newline: everything stays where it is.
fn with_newlines(text: String) -> String {
    if !text.contains('\r') {
        return text;
    }
    let parts: Vec<String> = text.split("\r\n").map(|part| part.replace('\r', "\n")).collect();
    parts.join("\r\n")
}

/// Returns whether bytes are text of two bytes per character.
fn is_utf_16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
        || matches!(bytes, [first, second, ..] if (*first == 0) != (*second == 0))
}

/// Returns which characters Vdbench takes off both ends of a line.
pub(super) fn is_blank(c: char) -> bool {
    c <= ' '
}

/// Reads files into one stream of lines.
pub(super) struct Reader<'a> {
    options: &'a Options,
    loader: &'a dyn Loader,
    pub(super) lines: Vec<Line>,
    /// What `parmfile.html` shows.
    pub(super) copied: Vec<String>,
    /// Names with their sign, values, and positions in `options.substitutions`; long ones first.
    names: Vec<(String, String, usize)>,
    is_used: Vec<bool>,
    /// The files that are being read, each included by the one before.
    chain: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &'a Options, loader: &'a dyn Loader) -> Self {
        let mut names: Vec<(String, String, usize)> = Vec::new();
        for (idx, (name, value)) in options.substitutions.iter().enumerate() {
            names.retain(|(known, _, _)| known.get(1..) != Some(name));
            names.push((format!("${name}"), value.clone(), idx));
            names.push((format!("!{name}"), value.clone(), idx));
        }
        names.sort_by_key(|(name, _, _)| std::cmp::Reverse(name.len()));
        let is_used = vec![false; options.substitutions.len()];
        let (lines, copied, chain) = (Vec::new(), Vec::new(), Vec::new());
        Reader { options, loader, lines, copied, names, is_used, chain }
    }

    /// Reads one file of the command line.
    pub(super) fn read(&mut self, path: &str, findings: &mut Findings) {
        match self.load(path) {
            Ok(text) => {
                self.copied.push(String::new());
                self.copied.push(format!("* Contents of parameter file: {path}"));
                self.copied.push(String::new());
                self.read_text(path, text, 0, findings);
            }
            Err(reason) => findings.error_help(
                SourceRange::NONE,
                "no-such-file",
                format!("parameter file `{path}` cannot be read: {reason}"),
                "name an existing file behind `-f`",
            ),
        }
    }

    /// Reports names that were given and are not used.
    pub(super) fn finish(&self, findings: &mut Findings) {
        for ((name, value), is_used) in self.options.substitutions.iter().zip(&self.is_used) {
            if !is_used {
                findings.error_help(
                    SourceRange::NONE,
                    "unused-substitution",
                    format!("unused parameter substitution: {name}={value}"),
                    format!("write `${name}` where the value belongs, or leave `{name}=` out"),
                );
            }
        }
    }

    fn load(&self, path: &str) -> Result<String, LoadError> {
        let bytes = self.loader.read(path)?;
        if let Some(foreign) = Foreign::recognise(&bytes).filter(|it| *it != Foreign::WideText) {
            let what = foreign.what();
            let reason = format!("it {what}; `plimsoll check FILE` says what to do with it");
            return Err(LoadError::Failed(reason));
        }
        if is_utf_16(&bytes) {
            let reason = "it is UTF-16, which Vdbench does not read either; save it as UTF-8";
            return Err(LoadError::Failed(reason.to_owned()));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(super) fn read_text(
        &mut self,
        path: &str,
        text: String,
        depth: usize,
        findings: &mut Findings,
    ) {
        // That of an include was reported where it is written.
        if depth == 0 && is_too_large(&text, path, SourceRange::NONE, findings) {
            return;
        }
        self.chain.truncate(depth);
        self.chain.push(path.to_owned());
        let source_idx = findings.sources.len() as u32;
        let text = with_newlines(text);
        let shared = text.clone();
        findings.sources.push(Source { name: path.to_owned(), text });
        let mut start = 0;
        for raw in shared.split_inclusive('\n') {
            let at = start;
            start += raw.len();
            let raw = raw.trim_end_matches(['\n', '\r']);
            let has_mark = at == 0 && raw.starts_with(BYTE_ORDER_MARK) && self.options.is_kind();
            let skipped = if has_mark { BYTE_ORDER_MARK.len_utf8() } else { 0 };
            if has_mark {
                findings.warning(
                    SourceRange::new(source_idx, 0, skipped),
                    "byte-order-mark",
                    "the file begins with a byte order mark, which Vdbench takes into its first \
                     line: it does not know the word there",
                    "save the file as UTF-8 without it",
                );
            }
            let said = raw[skipped..].trim_matches(is_blank);
            self.copied.push(raw.to_owned());
            if said.starts_with("eof") {
                break;
            }
            if said.is_empty() || said.starts_with(['/', '#', '*']) {
                continue;
            }
            if self.options.is_kind() && said.contains(char::REPLACEMENT_CHARACTER) {
                let from = at + raw.find(char::REPLACEMENT_CHARACTER).unwrap_or(0);
                findings.error_help(
                    SourceRange::new(source_idx, from, from + 1),
                    "not-utf-8",
                    "some bytes here are not UTF-8",
                    "save the file as UTF-8",
                );
                continue;
            }
            let lead = raw.len() - raw[skipped..].trim_start_matches(is_blank).len();
            let line = Line::verbatim(said, source_idx, at + lead);
            let line = self.substituted(line, findings);
            if self.lines.len() >= LINES_MAX {
                let place = line.place(0, line.text.len());
                let message = format!("more than {LINES_MAX} lines");
                findings.error(place, "too-many-lines", message);
                return;
            }
            if line.text.starts_with("include=") {
                self.include(&line, path, depth, findings);
            } else {
                self.lines.push(line);
            }
        }
    }

    fn substituted(&mut self, line: Line, findings: &mut Findings) -> Line {
        let mut line = line;
        if !self.names.is_empty() && line.text.contains(['$', '!']) {
            for (name, _, idx) in &self.names {
                self.is_used[*idx] |= line.text.contains(name.as_str());
            }
            let names: Vec<(&str, &str)> =
                self.names.iter().map(|(name, value, _)| (name.as_str(), value.as_str())).collect();
            let replaced = line.replaced(&names);
            if replaced.text != line.text {
                self.copied.push(format!("    variable substitution: {}", replaced.text));
            }
            line = replaced;
        }
        let is_host = line.text.contains("$host") || line.text.contains("!host");
        if let Some(at) = line.text.find("=$").or_else(|| line.text.find("=!"))
            && !is_host
        {
            let name: String =
                line.text[at + 2..].chars().take_while(|c| c.is_alphanumeric()).collect();
            findings.error_help(
                line.place(at + 1, at + 2 + name.len()),
                "unknown-substitution",
                format!("unknown variable substitution request: {}", &line.text[at + 1..]),
                format!("give the value on the command line: `{name}=value`"),
            );
            return Line { text: String::new(), ..line };
        }
        line
    }

    fn include(&mut self, line: &Line, path: &str, depth: usize, findings: &mut Findings) {
        let place = line.place("include=".len(), line.text.len());
        let written = &line.text["include=".len()..];
        let wanted = if self.options.is_kind() {
            written.split(is_blank).next().unwrap_or_default().trim_end_matches(',')
        } else {
            written
        };
        if depth > 0 && !self.options.is_kind() {
            let message = "`include=` within an included file is not allowed";
            findings.error_help(place, "nested-include", message, "include it from the main file");
            return;
        }
        if depth >= DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} files include one another");
            findings.error(place, "nested-include", message);
            return;
        }
        self.chain.truncate(depth + 1);
        let Some(found) = self.find_include(wanted, path, place, findings) else {
            findings.error_help(
                place,
                "no-such-file",
                format!("include file `{wanted}` is not found"),
                "Vdbench looks in the folder above the including file's and in the current one",
            );
            return;
        };
        if self.options.is_kind()
            && let Some(first) = self.chain.iter().position(|open| is_same(open, &found))
        {
            let chain = self.chain[first..].join("` includes `");
            let message = format!("a file includes itself: `{chain}` includes `{found}`");
            findings.error_help(place, "nested-include", message, "leave this line out");
            return;
        }
        if depth > 0 {
            findings.warning(
                place,
                "nested-include",
                "Vdbench refuses `include=` within an included file",
                "include it from the main file",
            );
        }
        match self.load(&found) {
            Ok(text) if is_too_large(&text, &found, place, findings) => {}
            Ok(text) => {
                for text in ["", &format!("* Contents of include file: {found}"), ""] {
                    self.copied.push(text.to_owned());
                }
                self.read_text(&found, text, depth + 1, findings);
                for text in ["", &format!("* Continuing with original file: {path}"), ""] {
                    self.copied.push(text.to_owned());
                }
            }
            Err(reason) => {
                let message = format!("include file `{found}` cannot be read: {reason}");
                findings.error(place, "no-such-file", message);
            }
        }
    }

    /// Returns the path of an include; warns where Vdbench would take another.
    fn find_include(
        &self,
        wanted: &str,
        path: &str,
        place: SourceRange,
        findings: &mut Findings,
    ) -> Option<String> {
        let folder = folder_of(path);
        let exists = |path: &&String| self.loader.is_file(path);
        let (beside, above, here) =
            (joined(&folder, wanted), joined(&parent_of(&folder), wanted), wanted.to_owned());
        let vdbench = if wanted.contains('/') { vec![&here] } else { vec![&above, &here] };
        let vdbench = vdbench.into_iter().find(exists).cloned();
        if !self.options.is_kind() {
            return vdbench;
        }
        let found = [&beside, &above, &here].into_iter().find(exists).cloned();
        // Within another it was reported that Vdbench takes none.
        if found.is_some() && found != vdbench && self.chain.len() < 2 {
            let instead = vdbench.map_or_else(
                || "would not find it".to_owned(),
                |other| format!("would read `{other}`"),
            );
            findings.warning(
                place,
                "include-order",
                format!("`{wanted}` is taken from beside the including file; Vdbench {instead}"),
                "put it into the current folder and start there",
            );
        }
        found
    }
}

/// Refuses a text that its loader may have cut off.
fn is_too_large(text: &str, path: &str, place: SourceRange, findings: &mut Findings) -> bool {
    let is_too_large = text.len() > FILE_BYTES_MAX;
    if is_too_large {
        let mib = FILE_BYTES_MAX >> 20;
        let message = format!("`{path}` holds more than a parameter file may ({mib} MiB)");
        let help = "name a parameter file; split one that is so long";
        findings.error_help(place, "file-too-large", message, help);
    }
    is_too_large
}

/// Returns whether two paths are written for the same file.
fn is_same(path: &str, other: &str) -> bool {
    let plain = |path: &str| path.trim_start_matches("./").replace("/./", "/");
    plain(path) == plain(other)
}

fn folder_of(path: &str) -> String {
    path.rfind('/').map_or_else(String::new, |at| path[..at.max(1)].to_owned())
}

fn parent_of(folder: &str) -> String {
    if folder.is_empty() || folder == "." {
        "..".to_owned()
    } else if folder.ends_with("..") {
        format!("{folder}/..")
    } else if folder == "/" {
        "/".to_owned()
    } else {
        folder_of(folder)
    }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with('/') {
        name.to_owned()
    } else {
        format!("{}/{name}", folder.trim_end_matches('/'))
    }
}
