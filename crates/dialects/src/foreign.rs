//! Files of other tools in the place of one that is read, known by their content: so that one
//! message says what a file is, in place of a mistake for each of its lines.

use std::borrow::Cow;

use plan::Diagnostic;

/// Lines at the beginning that are looked at: scripts and configurations tell in their first ones.
const LINES_MAX: usize = 200;

/// A file of a tool in the place of another one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// A test configuration of Iometer (`.icf`).
    IometerConfiguration,
    /// What Iometer measured.
    IometerResult,
    /// Command lines of diskspd.
    DiskspdCommands,
    /// A profile of diskspd, in XML.
    DiskspdProfile,
    /// Other text in UTF-16, as programs of Windows write it.
    WideText,
}

impl Foreign {
    /// Returns whether these are the contents of such a file, in UTF-8 or, with its mark, in
    /// UTF-16.
    pub fn recognise(bytes: &[u8]) -> Option<Foreign> {
        let of_text = Self::of_text(&text(bytes));
        of_text.or_else(|| wide_text(bytes).map(|_| Foreign::WideText))
    }

    fn of_text(text: &str) -> Option<Foreign> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let lines = || text.lines().take(LINES_MAX).map(str::trim);
        let has = |start: &str| lines().any(|line| line.starts_with(start));
        if has("'TEST SETUP") || has("'ACCESS SPECIFICATIONS") {
            return Some(Foreign::IometerConfiguration);
        }
        if has("'Test Type,Test Description") {
            return Some(Foreign::IometerResult);
        }
        if is_diskspd_profile(text) {
            return Some(Foreign::DiskspdProfile);
        }
        calls_diskspd(text).then_some(Foreign::DiskspdCommands)
    }

    /// Returns whether it is in a language of [`crate::DIALECTS`]: then it is foreign only where
    /// another one is asked for.
    pub fn is_dialect(self) -> bool {
        match self {
            Foreign::IometerConfiguration | Foreign::DiskspdCommands | Foreign::DiskspdProfile => {
                true
            }
            Foreign::IometerResult | Foreign::WideText => false,
        }
    }

    /// Returns what such a file is or holds, behind its name.
    pub fn what(self) -> &'static str {
        match self {
            Foreign::IometerConfiguration => "is a test configuration of Iometer",
            Foreign::IometerResult => "is a result of Iometer",
            Foreign::DiskspdCommands => "holds command lines of diskspd",
            Foreign::DiskspdProfile => "is a profile of diskspd",
            Foreign::WideText => "is text in UTF-16, not in UTF-8",
        }
    }

    /// Returns the mistake that such a file of this name is, and what to do instead.
    pub fn mistake(self, name: &str) -> Diagnostic {
        let which = if self.is_dialect() { "" } else { ", which is not supported yet" };
        let message = format!("`{name}` {}{which}", self.what());
        let mistake = Diagnostic::error("foreign-file", message);
        self.instead().iter().fold(mistake, |mistake, help| mistake.help(*help))
    }

    fn instead(self) -> &'static [&'static str] {
        match self {
            Foreign::IometerConfiguration | Foreign::DiskspdCommands | Foreign::DiskspdProfile => {
                &["`plimsoll run` runs it, `plimsoll translate --to fio` writes it as a job file"]
            }
            Foreign::IometerResult => {
                &["`plimsoll import` reads results of fio, and none of Iometer yet"]
            }
            Foreign::WideText => &["save it as UTF-8: `iconv -f UTF-16 -t UTF-8 OLD >NEW`"],
        }
    }
}

/// What some programs begin text with.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns what bytes say that are text in UTF-8 or, with its mark, in UTF-16.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    wide_text(bytes).map_or_else(|| String::from_utf8_lossy(bytes), Cow::from)
}

/// Returns text that begins with the mark of UTF-16, in either order of bytes.
fn wide_text(bytes: &[u8]) -> Option<String> {
    let (is_big_endian, rest) = match bytes {
        [0xff, 0xfe, rest @ ..] => (false, rest),
        [0xfe, 0xff, rest @ ..] => (true, rest),
        _ => return None,
    };
    let units = rest.chunks_exact(2).map(|pair| {
        let unit = u16::from_le_bytes([pair[0], pair[1]]);
        if is_big_endian { unit.swap_bytes() } else { unit }
    });
    Some(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Returns whether one of the first lines calls diskspd with an option.
pub(crate) fn calls_diskspd(text: &str) -> bool {
    text.lines().take(LINES_MAX).map(str::trim).any(is_diskspd_command)
}

/// Returns whether it is a profile of diskspd, alone or with the results of it.
pub(crate) fn is_diskspd_profile(text: &str) -> bool {
    let text = text.trim_start_matches(BYTE_ORDER_MARK).trim_start();
    let has = |start: &str| text.lines().take(LINES_MAX).any(|line| line.contains(start));
    text.starts_with('<') && has("<Profile") && has("<TimeSpan")
}

/// Returns whether a word names the program, by whatever path.
pub(crate) fn is_diskspd(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).to_ascii_lowercase();
    name == "diskspd" || name == "diskspd.exe"
}

/// Returns whether a line calls diskspd with an option, by whatever path.
fn is_diskspd_command(line: &str) -> bool {
    let line = line.trim_start_matches(['&', '@', '>', '$', ' ']);
    let (program, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => line.split_once(char::is_whitespace).unwrap_or((line, "")),
    };
    is_diskspd(program) && rest.trim_start().starts_with(['-', '/'])
}
