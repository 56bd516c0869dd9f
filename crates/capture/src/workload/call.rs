//! Lines of `strace -f -ttt`: one call each, or its two halves.

use std::collections::HashMap;

/// One call, complete.
#[derive(Debug, PartialEq)]
pub(super) struct Call<'a> {
    /// The process or thread; 0 where the lines do not say it.
    pub(super) pid: u32,
    /// When it began, nanoseconds of the trace's own clock.
    pub(super) at_ns: u64,
    pub(super) name: &'a str,
    pub(super) args: Vec<&'a str>,
    pub(super) answer: Answer<'a>,
}

/// What a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// A number, and the path that `-y` shows behind a descriptor.
    Value(i64, Option<&'a str>),
    /// The name of an error, such as `ENOENT`.
    Failed(&'a str),
    /// The process ended before it was known.
    Unknown,
}

impl Answer<'_> {
    /// Returns the number, if it is none of an error.
    pub(super) fn value(self) -> Option<i64> {
        match self {
            Answer::Value(value, _) => Some(value),
            Answer::Failed(_) | Answer::Unknown => None,
        }
    }
}

/// A line that could not be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unclear {
    /// It has no time.
    NoTime,
    /// Its time is since the line before.
    RelativeTime,
    /// It is not of strace, or cut off.
    Other,
}

/// Times below are of `-r`: since 1970 it would be 1970.
const NS_OF_A_CLOCK_MIN: u64 = 100_000_000 * 1_000_000_000;

/// Puts the halves of calls together that others came between.
#[derive(Debug, Default)]
pub(super) struct Halves {
    /// By process: the first half, with its time.
    begun: HashMap<u32, (u64, String)>,
    /// The call that was put together last.
    whole: String,
}

impl Halves {
    /// Takes a line; returns a call where it completes one.
    pub(super) fn take<'a>(&'a mut self, line: &'a str) -> Result<Option<Call<'a>>, Unclear> {
        let Some((pid, at_ns, rest)) = prefix(line)? else { return Ok(None) };
        if let Some(first) = rest.strip_suffix("<unfinished ...>") {
            self.begun.insert(pid, (at_ns, first.trim_end().to_owned()));
            return Ok(None);
        }
        let Some(second) = rest.strip_prefix("<... ") else {
            return call(pid, at_ns, rest).map(Some);
        };
        // `<... read resumed>"abc", 4096) = 3`. Without its first half it began before the trace.
        let (_, second) = second.split_once(" resumed>").ok_or(Unclear::Other)?;
        let Some((at_ns, first)) = self.begun.remove(&pid) else { return Ok(None) };
        self.whole = first;
        self.whole.push_str(second);
        call(pid, at_ns, &self.whole).map(Some)
    }

    /// Returns the process that makes another one at this moment, if there is just one, and the
    /// call so far.
    pub(super) fn parent(&self) -> Option<(u32, &str)> {
        let makes = |text: &str| MAKE_PROCESSES.iter().any(|name| text.starts_with(name));
        let mut parents = self.begun.iter().filter(|(_, (_, text))| makes(text));
        let (pid, (_, text)) = parents.next().filter(|_| parents.next().is_none())?;
        Some((*pid, text))
    }

    /// Forgets the halves of a source that has ended.
    pub(super) fn clear(&mut self) {
        self.begun.clear();
    }
}

/// Calls that make processes and threads.
pub(super) const MAKE_PROCESSES: [&str; 4] = ["clone", "clone3", "fork", "vfork"];

/// Returns whether a line looks like one of strace, with or without a time.
pub(crate) fn is_line(line: &str) -> bool {
    match prefix(line) {
        Ok(Some((pid, at_ns, rest))) => call(pid, at_ns, rest).is_ok() || rest.ends_with("...>"),
        Err(Unclear::NoTime | Unclear::RelativeTime) => true,
        Ok(None) | Err(Unclear::Other) => false,
    }
}

/// Splits a line into process, time and call; none for lines that are about no call.
fn prefix(line: &str) -> Result<Option<(u32, u64, &str)>, Unclear> {
    let line = line.trim();
    if line.is_empty() || line.starts_with("strace: ") {
        return Ok(None);
    }
    let (pid, rest) = match line.strip_prefix("[pid ") {
        Some(rest) => {
            let (pid, rest) = rest.split_once(']').ok_or(Unclear::Other)?;
            (pid.trim().parse().map_err(|_| Unclear::Other)?, rest.trim_start())
        }
        None => match line.split_once(' ').map(|(word, rest)| (word.parse(), rest)) {
            Some((Ok(pid), rest)) => (pid, rest.trim_start()),
            _ => (0, line),
        },
    };
    let (word, rest) = rest.split_once(' ').ok_or(Unclear::Other)?;
    let Some(at_ns) = time_ns(word) else {
        return Err(if call(pid, 0, line_of(line)).is_ok() {
            Unclear::NoTime
        } else {
            Unclear::Other
        });
    };
    let is_of_day = word.contains(':');
    if !is_of_day && at_ns < NS_OF_A_CLOCK_MIN {
        return Err(Unclear::RelativeTime);
    }
    let rest = rest.trim_start();
    // Signals, and ends of processes.
    let is_call = !rest.starts_with("---") && !rest.starts_with("+++");
    Ok(is_call.then_some((pid, at_ns, rest)))
}

/// Returns the call of a line without a time.
fn line_of(line: &str) -> &str {
    let is_pid = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let line =
        line.strip_prefix("[pid ").and_then(|rest| rest.split_once("] ")).map_or(line, |it| it.1);
    line.split_once(' ')
        .filter(|(word, _)| is_pid(word))
        .map_or(line, |(_, rest)| rest.trim_start())
}

/// Reads `1795812569.122622` (`-ttt`), `10:09:08.122622` (`-tt`) or `10:09:08` (`-t`).
fn time_ns(word: &str) -> Option<u64> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let digits_only = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 9 || !digits_only(fraction) {
        return None;
    }
    let seconds = match whole.split(':').collect::<Vec<_>>()[..] {
        [seconds] if digits_only(seconds) && !fraction.is_empty() => seconds.parse().ok()?,
        [h, m, s] if [h, m, s].iter().all(|it| it.len() == 2 && digits_only(it)) => {
            let number = |text: &str| text.parse::<u64>().unwrap_or(0);
            (number(h) * 60 + number(m)) * 60 + number(s)
        }
        _ => return None,
    };
    let scale = 10u64.pow(9 - fraction.len() as u32);
    let fraction = if fraction.is_empty() { 0 } else { fraction.parse::<u64>().ok()? * scale };
    u64::checked_mul(seconds, 1_000_000_000)?.checked_add(fraction)
}

/// Reads `openat(AT_FDCWD, "a", O_RDONLY) = 3</a> <0.000012>`.
fn call(pid: u32, at_ns: u64, text: &str) -> Result<Call<'_>, Unclear> {
    let open = text.find('(').ok_or(Unclear::Other)?;
    let name = &text[..open];
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_name) {
        return Err(Unclear::Other);
    }
    let (args, rest) = arguments(&text[open + 1..]).ok_or(Unclear::Other)?;
    let rest = rest.trim_start().strip_prefix('=').ok_or(Unclear::Other)?.trim_start();
    Ok(Call { pid, at_ns, name, args, answer: answer(rest).ok_or(Unclear::Other)? })
}

/// Splits arguments at their commas, up to the bracket that ends them.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let bytes = text.as_bytes();
    let (mut args, mut begun, mut depth, mut at) = (Vec::new(), 0, 0_u32, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_text(bytes, at)?,
            // The path behind a descriptor, by `-y`; a smaller-than sign has spaces around it.
            b'<' if at > 0 && (bytes[at - 1].is_ascii_alphanumeric()) => {
                at += bytes[at..].iter().position(|byte| *byte == b'>')?;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text[begun..at].trim();
                if !(args.is_empty() && last.is_empty()) {
                    args.push(last);
                }
                return Some((args, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                args.push(text[begun..at].trim());
                begun = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns where the quotation mark is that ends a text.
fn end_of_text(bytes: &[u8], begun: usize) -> Option<usize> {
    let mut at = begun + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
}

fn answer(text: &str) -> Option<Answer<'_>> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    if first == "?" {
        return Some(Answer::Unknown);
    }
    let (number, path) = match first.split_once('<') {
        Some((number, _)) => {
            let path = text.split_once('<')?.1.split_once('>')?.0;
            (number, Some(path))
        }
        None => (first, None),
    };
    if number == "-1" {
        let error = words.next().filter(|word| word.starts_with('E'))?;
        return Some(Answer::Failed(error));
    }
    let value = match number.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()? as i64,
        None => number.parse().ok()?,
    };
    Some(Answer::Value(value, path))
}

/// Returns the text of an argument in quotation marks, as the program had it; none where strace
/// cut it off or it is no text.
pub(super) fn unquoted(arg: &str) -> Option<String> {
    let inner = arg.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        let n_octal =
            |rest: &[u8]| rest.iter().take(2).take_while(|it| it.is_ascii_digit()).count();
        match escape {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            b'v' => bytes.push(0x0b),
            b'f' => bytes.push(0x0c),
            b'x' => {
                let hex = std::str::from_utf8(rest.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(hex, 16).ok()?);
                rest = &rest[2..];
            }
            b'0'..=b'7' => {
                let n = n_octal(rest);
                let digits = rest[..n].iter().map(|digit| u32::from(digit - b'0'));
                let value = digits.fold(u32::from(escape - b'0'), |sum, digit| sum * 8 + digit);
                bytes.push(u8::try_from(value).ok()?);
                rest = &rest[n..];
            }
            other => bytes.push(other),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the descriptor of an argument such as `3`, `3</a>` or `AT_FDCWD`, and its path, where
/// that is shown.
pub(super) fn descriptor(arg: &str) -> (Option<i32>, Option<&str>) {
    let (number, path) = match arg.split_once('<') {
        Some((number, path)) => (number, path.strip_suffix('>')),
        None => (arg, None),
    };
    (number.parse().ok(), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, name: &str, args: &[&str], answer: Answer<'_>) {
        let mut halves = Halves::default();
        let call = halves.take(line).expect("a line of strace").expect("a call");
        assert_eq!((call.name, &call.args[..], call.answer), (name, args, answer), "{line}");
    }

    #[test]
    fn lines_are_read_as_strace_writes_them() {
        check("12 1795812569.1 close(3) = 0", "close", &["3"], Answer::Value(0, None));
        check(
            "[pid   12] 1795812569.1 openat(AT_FDCWD</a (b>, \"x, \\\")\", O_RDONLY) = 3</x y> \
             <0.1>",
            "openat",
            &["AT_FDCWD</a (b>", "\"x, \\\")\"", "O_RDONLY"],
            Answer::Value(3, Some("/x y")),
        );
        check(
            "10:09:08.5 stat(\"n\", 0x7ffd) = -1 ENOENT (No such file or directory)",
            "stat",
            &["\"n\"", "0x7ffd"],
            Answer::Failed("ENOENT"),
        );
        check("10:09:08 getpid() = 7", "getpid", &[], Answer::Value(7, None));
        check(
            "1795812569.1 execve(\"/bin/ls\", [\"ls\", \"-l\"], 0x7ffd /* 3 vars */) = 0",
            "execve",
            &["\"/bin/ls\"", "[\"ls\", \"-l\"]", "0x7ffd /* 3 vars */"],
            Answer::Value(0, None),
        );
        check("1795812569.1 exit_group(0) = ?", "exit_group", &["0"], Answer::Unknown);
        check(
            "1795812569.1 mmap(NULL, 8) = 0x7f00",
            "mmap",
            &["NULL", "8"],
            Answer::Value(0x7f00, None),
        );
    }

    #[test]
    fn halves_are_put_together() {
        let mut halves = Halves::default();
        let lines = [
            "1 1795812569.1 read(3,  <unfinished ...>",
            "2 1795812569.2 vfork( <unfinished ...>",
            "1 1795812569.3 <... read resumed>\"a\", 1) = 1",
        ];
        assert_eq!(halves.take(lines[0]), Ok(None));
        assert_eq!(halves.take(lines[1]), Ok(None));
        assert_eq!(halves.parent(), Some((2, "vfork(")));
        let call = halves.take(lines[2]).unwrap().unwrap();
        assert_eq!((call.name, call.args), ("read", vec!["3", "\"a\"", "1"]));
        assert_eq!(call.at_ns, 1_795_812_569_100_000_000);
        // Its first half was before the trace.
        assert_eq!(halves.take("9 1795812569.3 <... read resumed>\"a\", 1) = 1"), Ok(None));
    }

    #[test]
    fn other_lines_are_known_for_what_they_are() {
        let mut halves = Halves::default();
        for line in ["", "strace: Process 12 attached", "12 1795812569.1 +++ exited with 0 +++"] {
            assert_eq!(halves.take(line), Ok(None), "{line}");
        }
        assert_eq!(halves.take("12 close(3) = 0"), Err(Unclear::NoTime));
        assert_eq!(halves.take("close(3) = 0"), Err(Unclear::NoTime));
        assert_eq!(halves.take("12      0.000010 close(3) = 0"), Err(Unclear::RelativeTime));
        let cut = ["12 1795812569.1 close(3", "12 1795812569.1 close(3) = -1"];
        for line in ["hello", "sda 1 2"].into_iter().chain(cut) {
            assert_eq!(halves.take(line), Err(Unclear::Other), "{line}");
        }
    }

    #[test]
    fn texts_are_what_the_program_had() {
        assert_eq!(unquoted("\"a b\"").as_deref(), Some("a b"));
        assert_eq!(unquoted("\"\\303\\244\\\"\\n\\x41\"").as_deref(), Some("\u{e4}\"\nA"));
        assert_eq!(unquoted("\"abc\"..."), None);
        assert_eq!(unquoted("0x7f"), None);
    }
}
