//! The options of diskspd: one table of them, and how each is read.

use plan::{Diagnostic, Span};

use super::command::{
    BYTES_MAX, COUNT_MAX, CPU_MAX, CacheMode, Command, Completion, Contents, Flush, Given, Rate,
    SECONDS_MAX, Spread, Stride, Target, conflict,
};
use super::profile;
use super::script::Word;

/// An option: a letter, and what stands behind it without a blank.
struct Spelling {
    letter: char,
    /// How it is written.
    form: &'static str,
    read: fn(&mut Reader, &Arg<'_>),
}

const fn spelling(letter: char, form: &'static str, read: fn(&mut Reader, &Arg<'_>)) -> Spelling {
    Spelling { letter, form, read }
}

/// All options of diskspd 2.2 and of diskspd for Linux.
static OPTIONS: &[Spelling] = &[
    spelling('?', "-?", |reader, arg| {
        let text = "`-?` prints the tool's help, and runs nothing";
        reader.report(conflict(text, &arg.word.span).help("docs/diskspd.md has the options"));
    }),
    spelling(':', "-:<flags>", |reader, arg| reader.leave_out(arg, "flags for experiments")),
    spelling('a', "-a[g<group>,]<cpu>[,<cpu>...]", Reader::cpus),
    spelling('b', "-b<size>", |reader, arg| {
        // Read before all others, which count in blocks of it.
        let block = reader.size(arg, arg.rest, 1);
        if block.is_some_and(|bytes| bytes > COUNT_MAX) {
            return reader.bad(arg, "a block is smaller than 4 GiB");
        }
        put(&mut reader.command.block, block, arg, &mut reader.findings);
    }),
    spelling('B', "-B<start>[:<length>]", Reader::base),
    spelling('c', "-c<size>", |reader, arg| {
        let size = reader.size(arg, arg.rest, 1);
        put(&mut reader.command.file_size, size, arg, &mut reader.findings);
    }),
    spelling('C', "-C<seconds>", |reader, arg| {
        let seconds = reader.number(arg, arg.rest, 0..=SECONDS_MAX);
        put(&mut reader.command.cool_down_s, seconds, arg, &mut reader.findings);
    }),
    spelling('d', "-d<seconds>", |reader, arg| {
        let seconds = reader.number(arg, arg.rest, 0..=SECONDS_MAX);
        put(&mut reader.command.duration_s, seconds, arg, &mut reader.findings);
    }),
    spelling('D', "-D[<milliseconds>]", |reader, arg| {
        let ms = if arg.rest.is_empty() { "1000" } else { arg.rest };
        let ms = reader.number(arg, ms, 1..=3_600_000);
        put(&mut reader.command.sample_ms, ms, arg, &mut reader.findings);
    }),
    spelling('e', "-e<event>", |reader, arg| reader.leave_out(arg, "event tracing of Windows")),
    spelling('f', "-f<size> or -f[r][s][t]", Reader::end_or_hints),
    spelling('F', "-F<threads>", |reader, arg| {
        let n = reader.number(arg, arg.rest, 1..=COUNT_MAX);
        put(&mut reader.command.n_threads, n, arg, &mut reader.findings);
    }),
    spelling('g', "-g<bytes per millisecond> or -g<I/Os per second>i", Reader::rate),
    spelling('h', "-h", |reader, arg| {
        reader.nothing_behind(arg);
        reader.caching('h', arg);
    }),
    spelling('i', "-i<I/Os>", |reader, arg| {
        let n = reader.number(arg, arg.rest, 1..=COUNT_MAX);
        put(&mut reader.command.burst, n, arg, &mut reader.findings);
    }),
    spelling('I', "-I<1, 2 or 3>", |reader, arg| {
        let priority = reader.number(arg, arg.rest, 1..=3);
        put(&mut reader.command.priority, priority, arg, &mut reader.findings);
    }),
    spelling('j', "-j<milliseconds>", |reader, arg| {
        let ms = reader.number(arg, arg.rest, 1..=COUNT_MAX);
        put(&mut reader.command.pause_ms, ms, arg, &mut reader.findings);
    }),
    spelling('l', "-l", |reader, arg| {
        reader.nothing_behind(arg);
        reader.command.has_large_pages = Some(arg.word.span.clone());
    }),
    spelling('L', "-L", |reader, arg| {
        reader.nothing_behind(arg);
        reader.command.has_latency = Some(arg.word.span.clone());
    }),
    spelling('n', "-n", |reader, arg| {
        reader.nothing_behind(arg);
        reader.command.is_unbound = Some(arg.word.span.clone());
    }),
    spelling('N', "-N<v, n or i>", |reader, arg| {
        let flush = Flush::ALL.into_iter().find(|it| it.letter() == arg.rest);
        if flush.is_none() {
            reader.bad(arg, &format!("`{}` is not known", arg.rest));
        }
        put(&mut reader.command.flush, flush, arg, &mut reader.findings);
    }),
    spelling('o', "-o<I/Os>", |reader, arg| {
        let n = reader.number(arg, arg.rest, 1..=COUNT_MAX);
        put(&mut reader.command.queue_depth, n, arg, &mut reader.findings);
    }),
    spelling('O', "-O<I/Os>", |reader, arg| {
        let n = reader.number(arg, arg.rest, 1..=COUNT_MAX);
        put(&mut reader.command.queue_depth_of_all, n, arg, &mut reader.findings);
    }),
    spelling('p', "-p", |reader, arg| {
        reader.nothing_behind(arg);
        reader.command.is_parallel = Some(arg.word.span.clone());
    }),
    // How progress and results are printed changes no I/O.
    spelling('P', "-P[<I/Os>]", |reader, arg| {
        if !arg.rest.is_empty() {
            reader.number(arg, arg.rest, 0..=COUNT_MAX);
        }
    }),
    spelling('r', "-r[<align>], -rs<percent> or -rd<distribution>", Reader::random),
    spelling('R', "-R[p]text or -R[p]xml", Reader::results),
    spelling('s', "-s[i][<stride>]", Reader::stride),
    spelling('S', "-S[b][h][m][r][u][w]", |reader, arg| {
        let letters = if arg.rest.is_empty() { "u" } else { arg.rest };
        for letter in letters.chars() {
            reader.caching(letter, arg);
        }
    }),
    spelling('t', "-t<threads>", |reader, arg| {
        let n = reader.number(arg, arg.rest, 1..=COUNT_MAX);
        put(&mut reader.command.n_threads_each, n, arg, &mut reader.findings);
    }),
    spelling('T', "-T<size>", |reader, arg| {
        let size = reader.size(arg, arg.rest, 1);
        put(&mut reader.command.thread_stride, size, arg, &mut reader.findings);
    }),
    spelling('v', "-v[s]", |reader, arg| reader.one_of(arg, &["", "s"])),
    spelling('w', "-w<percent>", |reader, arg| {
        let pct = if arg.rest.is_empty() { "0" } else { arg.rest };
        let pct = reader.number(arg, pct, 0..=100);
        put(&mut reader.command.write_pct, pct, arg, &mut reader.findings);
    }),
    spelling('W', "-W<seconds>", |reader, arg| {
        let seconds = reader.number(arg, arg.rest, 0..=SECONDS_MAX);
        put(&mut reader.command.warm_up_s, seconds, arg, &mut reader.findings);
    }),
    spelling('x', "-x, -xk or -xp", Reader::completion),
    spelling('X', "-X<profile>", |reader, arg| {
        if arg.rest.is_empty() {
            return reader.bad(arg, "the path of a profile is missing");
        }
        if reader.command.profile.is_some() {
            return reader.bad(arg, "a profile is given twice");
        }
        let path = Some(arg.rest.to_owned());
        put(&mut reader.command.profile, path, arg, &mut reader.findings);
    }),
    spelling('y', "-y<s, f, r, p or e><event>", |reader, arg| {
        let text = format!("`{}` waits for an event of Windows, or sets one", arg.word.text);
        let finding = Diagnostic::error("only-on-windows", text).at(arg.word.span.clone());
        reader.report(finding.help("leave it out, and start the programs from one script"));
    }),
    spelling('z', "-z[<seed>]", |reader, arg| {
        let seed = if arg.rest.is_empty() {
            Some(None)
        } else {
            reader.number(arg, arg.rest, 0..=u64::from(u32::MAX)).map(Some)
        };
        put(&mut reader.command.seed, seed, arg, &mut reader.findings);
    }),
    spelling('Z', "-Z, -Zr or -Z<size>[,<file>]", Reader::contents),
];

/// Options that stand beside a profile, and go before what it says.
const BESIDE_PROFILE: [char; 9] = ['?', ':', 'C', 'd', 'R', 'v', 'W', 'X', 'z'];

/// What a word with one slash is.
const SLASH: &str =
    "`/` begins an option, too: write a target in the root folder with two, `//file`";

/// An option as written.
struct Arg<'a> {
    word: &'a Word,
    /// What stands behind the letter.
    rest: &'a str,
}

struct Reader {
    command: Command,
    findings: Vec<Diagnostic>,
}

/// Reads the words behind the program's name; `span` is the place of all.
pub(super) fn read(words: &[Word], span: Span) -> (Command, Vec<Diagnostic>) {
    let mut reader = Reader { command: Command { span, ..Command::default() }, findings: vec![] };
    for word in words.iter().filter(|word| !word.unknown.is_empty()) {
        reader.unknown(word);
    }
    let known = || words.iter().filter(|word| word.unknown.is_empty());
    let is_block = |word: &&Word| option_letter(word) == Some('b');
    for word in known().filter(is_block) {
        reader.option(word);
    }
    let mut options: Vec<&str> = Vec::new();
    let mut late = None;
    for word in known() {
        if option_letter(word).is_none() {
            let (name, span) = (word.text.clone(), word.span.clone());
            reader.command.targets.push(Target { name, span });
            continue;
        }
        options.push(&word.text);
        if !reader.command.targets.is_empty() {
            late.get_or_insert(word);
        }
        if !is_block(&word) {
            reader.option(word);
        }
    }
    reader.command.options = options.join(" ");
    let line = words.iter().map(|word| &*word.text);
    reader.command.line = ["diskspd"].into_iter().chain(line).collect::<Vec<_>>().join(" ");
    if let Some(word) = late.filter(|_| !reader.command.is_of_linux) {
        let text = format!("`{}` stands behind a target", word.text);
        let finding = Diagnostic::warning("option-behind-target", text).at(word.span.clone());
        reader.report(finding.help("diskspd for Windows refuses that: write options first"));
    }
    if reader.command.profile.is_some() {
        reader.beside_profile(known());
    } else {
        reader.targets(words);
        reader.slips();
        let conflicts = reader.command.conflicts();
        reader.findings.extend(conflicts);
    }
    (reader.command, reader.findings)
}

/// Returns the letter of an option. A path begins with a slash, too, and has another one.
fn option_letter(word: &Word) -> Option<char> {
    let text = word.text.as_str();
    let is_option = text.starts_with('-') || (text.starts_with('/') && !text[1..].contains('/'));
    is_option.then(|| text.chars().nth(1).unwrap_or(' '))
}

/// Stores a value. Of several, the last counts.
fn put<T: PartialEq>(
    place: &mut Option<Given<T>>,
    value: Option<T>,
    arg: &Arg<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let Some(value) = value else { return };
    if place.as_ref().is_some_and(|before| before.value != value) {
        let letter = arg.word.text.chars().nth(1).unwrap_or(' ');
        let text = format!("`-{letter}` is given twice: the last one, `{}`, counts", arg.word.text);
        findings.push(Diagnostic::warning("given-twice", text).at(arg.word.span.clone()));
    }
    *place = Some(Given { value, span: arg.word.span.clone() });
}

impl Reader {
    fn report(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    fn bad(&mut self, arg: &Arg<'_>, problem: &str) {
        let text = format!("`{}`: {problem}", arg.word.text);
        let letter = option_letter(arg.word);
        let form = OPTIONS.iter().find(|it| Some(it.letter) == letter).map(|it| it.form);
        let mut finding = Diagnostic::error("bad-value", text).at(arg.word.span.clone());
        if let Some(form) = form {
            finding = finding.help(format!("write it as {form}"));
        }
        if arg.word.text.starts_with('/') {
            finding = finding.help(SLASH);
        }
        self.report(finding);
    }

    /// Notes that an option is read and changes nothing here.
    fn leave_out(&mut self, arg: &Arg<'_>, what: &str) {
        let text = format!("`{}` is left out: {what}", arg.word.text);
        self.report(Diagnostic::note("left-out", text).at(arg.word.span.clone()));
    }

    /// Reports what only a shell knows.
    fn unknown(&mut self, word: &Word) {
        for written in &word.unknown {
            let is_of_shell = written.starts_with(['$', '%']);
            let name = written.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
            let finding = if is_of_shell {
                let finding = Diagnostic::error(
                    "unset-variable",
                    format!("`{written}` is not set: only the script knows it"),
                );
                let name = name.strip_prefix("env:").unwrap_or(name);
                let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                if is_name && !name.is_empty() {
                    finding.help(format!("set it behind the file: `{name}=VALUE`"))
                } else {
                    finding.help("write its value in its place")
                }
            } else if written.starts_with('<') {
                let text = format!("`{written}` stands for something that is to be filled in");
                Diagnostic::error("placeholder", text).help("write the value in its place")
            } else {
                let text = format!("`{written}` is worked out by a shell, and no shell runs here");
                Diagnostic::error("shell-expression", text).help("write what it comes to")
            };
            self.report(finding.at(word.span.clone()));
        }
    }

    fn option(&mut self, word: &Word) {
        let letter = option_letter(word).unwrap_or(' ');
        let Some(spelling) = OPTIONS.iter().find(|it| it.letter == letter) else {
            return self.unknown_option(word, letter);
        };
        let rest = &word.text[1 + letter.len_utf8()..];
        (spelling.read)(self, &Arg { word, rest });
    }

    fn unknown_option(&mut self, word: &Word, letter: char) {
        let text = format!("diskspd has no option `{}`", word.text);
        let finding = Diagnostic::error("unknown-option", text).at(word.span.clone());
        let other_case = |it: &&Spelling| it.letter.eq_ignore_ascii_case(&letter);
        let finding = if word.text.starts_with('/') {
            finding.help(SLASH)
        } else if letter.is_ascii_digit() {
            let number = &word.text[1..];
            finding.help(format!("`-o{number}` has so many I/Os in flight, `-t{number}` threads"))
        } else if let Some(near) = OPTIONS.iter().find(other_case) {
            finding.help(format!("upper and lower case differ: did you mean {}?", near.form))
        } else if word.text.starts_with("--") {
            finding.help("its options have one dash and one letter, such as -b8K")
        } else {
            finding.help("docs/diskspd.md has the options")
        };
        self.report(finding);
    }

    /// Reports the options that do not stand beside a profile.
    fn beside_profile<'a>(&mut self, words: impl Iterator<Item = &'a Word>) {
        let is_other = |word: &&Word| {
            let letter = option_letter(word);
            letter.is_some_and(|letter| !BESIDE_PROFILE.contains(&letter))
        };
        for word in words.filter(is_other) {
            let text = format!("`{}` does not stand beside a profile, `-X`", word.text);
            let finding = conflict(text, &word.span);
            self.findings.push(match profile::element_of(&word.text) {
                Some(name) => finding.help(format!("a profile says it by `<{name}>`")),
                None => finding.help("leave it out"),
            });
        }
    }

    /// Reports that there is no target, or one that stands for another.
    fn targets(&mut self, words: &[Word]) {
        let may_be_target = |word: &Word| !word.unknown.is_empty() && option_letter(word).is_none();
        if self.command.targets.is_empty() && !words.iter().any(may_be_target) {
            let text = "no target is named";
            let finding = Diagnostic::error("no-target", text).at(self.command.span.clone());
            self.report(finding.help("write files or devices behind the options"));
        }
        for Target { name, span } in &self.command.targets {
            if name.starts_with('*') {
                let text = format!("`{name}` stands for a target of a profile");
                let finding = Diagnostic::error("placeholder", text).at(span.clone());
                self.findings.push(finding.help("write the path in its place"));
            }
        }
    }

    /// Hints at what is easily confused.
    fn slips(&mut self) {
        let no_warm_up = self.command.warm_up_s.as_ref().filter(|it| it.value == 0);
        if let (Some(given), None) = (no_warm_up, &self.command.write_pct) {
            let text = "`-W0` is no warm-up, and says nothing of writes";
            let finding = Diagnostic::warning("likely-slip", text).at(given.span.clone());
            self.findings.push(finding.help("`-w0` is a share of 0 % writes, as without it"));
        }
    }

    /// Returns a whole number within limits.
    fn number(
        &mut self,
        arg: &Arg<'_>,
        text: &str,
        limits: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let (low, high) = (limits.start(), limits.end());
        if text.is_empty() {
            self.bad(arg, "a number is missing");
            return None;
        }
        let is_number = text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse::<u64>().ok().filter(|number| limits.contains(number));
        if number.is_none() && !is_number {
            self.bad(arg, &format!("`{text}` is no whole number"));
        } else if number.is_none() {
            self.bad(arg, &format!("`{text}` is not from {low} to {high}"));
        }
        number.filter(|_| is_number)
    }

    /// Returns a size in bytes: a whole number, perhaps with K, M, G, T or b behind it.
    fn size(&mut self, arg: &Arg<'_>, text: &str, least: u64) -> Option<u64> {
        let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, unit) = text.split_at(n_digits);
        let unit_bytes = match unit {
            "" => Some(1),
            "k" | "K" => Some(1 << 10),
            "m" | "M" => Some(1 << 20),
            "g" | "G" => Some(1 << 30),
            "t" | "T" => Some(1 << 40),
            "b" | "B" => Some(self.command.block_bytes()),
            _ => None,
        };
        let bytes = unit_bytes.and_then(|unit| digits.parse::<u64>().ok()?.checked_mul(unit));
        match bytes {
            Some(bytes) if bytes >= least && bytes <= BYTES_MAX => Some(bytes),
            Some(bytes) if bytes < least => {
                self.bad(arg, "a size of 0 is none");
                None
            }
            Some(_) => {
                self.bad(arg, "the size is too large");
                None
            }
            None => {
                let problem = if n_digits == 0 {
                    format!("`{text}` is no size")
                } else if unit_bytes.is_some() {
                    "the size is too large".to_owned()
                } else {
                    format!("`{unit}` is no unit: K, M, G and T are, and b, which is a block")
                };
                self.bad(arg, &problem);
                None
            }
        }
    }

    fn nothing_behind(&mut self, arg: &Arg<'_>) {
        if !arg.rest.is_empty() {
            self.bad(arg, &format!("nothing stands behind it, and not `{}`", arg.rest));
        }
    }

    fn one_of(&mut self, arg: &Arg<'_>, words: &[&str]) {
        if !words.contains(&arg.rest) {
            self.bad(arg, &format!("`{}` is not known", arg.rest));
        }
    }

    /// `-a0,1`, `-ag0,0,1`: groups are those of Windows, of which there is one here.
    fn cpus(&mut self, arg: &Arg<'_>) {
        if matches!(arg.rest, "" | "g") {
            return;
        }
        for part in arg.rest.split(',') {
            if let Some(group) = part.strip_prefix('g') {
                if self.number(arg, group, 0..=u64::from(u16::MAX)).is_some_and(|it| it > 0) {
                    self.bad(arg, "there are no groups of processors on Linux, only `g0`");
                }
            } else if let Some(cpu) = self.number(arg, part, 0..=CPU_MAX) {
                let cpu = Given { value: cpu as u32, span: arg.word.span.clone() };
                self.command.cpus.push(cpu);
            }
        }
    }

    fn base(&mut self, arg: &Arg<'_>) {
        let (base, length) = match arg.rest.split_once(':') {
            Some((base, length)) => (base, Some(length)),
            None => (arg.rest, None),
        };
        if self.command.base.is_some() {
            return self.bad(arg, "the start is given twice");
        }
        let base = self.size(arg, base, 0);
        put(&mut self.command.base, base, arg, &mut self.findings);
        let length = length.and_then(|length| self.size(arg, length, 1));
        if let (Some(base), Some(length)) = (base, length) {
            self.end(arg, base.saturating_add(length));
        }
    }

    fn end(&mut self, arg: &Arg<'_>, end: u64) {
        if self.command.end.is_some() {
            return self.bad(arg, "the end is given twice, by `-B` with a length or by `-f`");
        }
        self.command.end = Some(Given { value: end, span: arg.word.span.clone() });
    }

    /// `-f1G` is where I/O ends, `-frs` what the files are opened with.
    fn end_or_hints(&mut self, arg: &Arg<'_>) {
        if arg.rest.is_empty() || arg.rest.starts_with(|c: char| c.is_ascii_digit()) {
            if let Some(end) = self.size(arg, arg.rest, 1) {
                self.end(arg, end);
            }
            return;
        }
        for letter in arg.rest.chars() {
            match letter {
                'r' | 's' => {
                    let hint = Some(letter == 'r');
                    put(&mut self.command.hint_is_random, hint, arg, &mut self.findings);
                }
                't' => self.leave_out(arg, "only Windows has temporary files of that kind"),
                _ => self.bad(arg, &format!("`{letter}` is no hint")),
            }
        }
    }

    fn rate(&mut self, arg: &Arg<'_>) {
        let rate = match arg.rest.strip_suffix('i') {
            Some(iops) => self.number(arg, iops, 1..=COUNT_MAX).map(Rate::Iops),
            None => self.number(arg, arg.rest, 1..=COUNT_MAX).map(Rate::BytesPerMs),
        };
        put(&mut self.command.rate, rate, arg, &mut self.findings);
    }

    fn random(&mut self, arg: &Arg<'_>) {
        if let Some(pct) = arg.rest.strip_prefix('s') {
            let pct = self.number(arg, pct, 1..=100);
            put(&mut self.command.random_pct, pct, arg, &mut self.findings);
        } else if let Some(spread) = arg.rest.strip_prefix('d') {
            let spread = self.spread(arg, spread);
            put(&mut self.command.spread, spread, arg, &mut self.findings);
        } else {
            let align = match arg.rest {
                "" => Some(None),
                align => self.size(arg, align, 1).map(Some),
            };
            put(&mut self.command.random, align, arg, &mut self.findings);
        }
    }

    /// `pct90/10:5/20`, `abs90/10G:5/20G`.
    fn spread(&mut self, arg: &Arg<'_>, text: &str) -> Option<Spread> {
        let (is_absolute, list) = match (text.strip_prefix("pct"), text.strip_prefix("abs")) {
            (Some(list), _) => (false, list),
            (None, Some(list)) => (true, list),
            (None, None) => {
                self.bad(arg, "`pct` or `abs` is missing behind `-rd`");
                return None;
            }
        };
        let mut parts = Vec::new();
        for part in list.split(':') {
            let Some((share, of_target)) = part.split_once('/') else {
                self.bad(arg, &format!("`{part}` is no share of I/O, a slash, and a part"));
                return None;
            };
            let share = self.number(arg, share, 0..=100)?;
            let of_target = if is_absolute {
                self.size(arg, of_target, 1)?
            } else {
                self.number(arg, of_target, 1..=100)?
            };
            parts.push((share, of_target));
        }
        Some(Spread { is_absolute, parts })
    }

    fn results(&mut self, arg: &Arg<'_>) {
        let form = arg.rest.strip_prefix('p');
        if form.is_some() {
            self.command.is_profile_only = Some(arg.word.span.clone());
        }
        match (form.unwrap_or(arg.rest), form) {
            ("xml", _) => self.command.is_xml = Some(true),
            ("text", _) => self.command.is_xml = Some(false),
            // As a profile has it, or in text.
            ("", Some(_)) => {}
            (_, _) => self.bad(arg, &format!("`{}` is no form of results", arg.rest)),
        }
    }

    fn stride(&mut self, arg: &Arg<'_>) {
        let interlocked = arg.rest.strip_prefix('i');
        let bytes = match interlocked.unwrap_or(arg.rest) {
            "" => Some(None),
            bytes => self.size(arg, bytes, 0).map(Some),
        };
        let is_interlocked = interlocked.is_some();
        let stride = bytes.map(|bytes| Stride { is_interlocked, bytes });
        put(&mut self.command.stride, stride, arg, &mut self.findings);
    }

    /// Reads a letter of `-S`.
    fn caching(&mut self, letter: char, arg: &Arg<'_>) {
        let at = || arg.word.span.clone();
        let (mode, writes_through) = match letter {
            'b' => (Some(CacheMode::Cached), false),
            'u' | 'd' => (Some(CacheMode::Uncached), false),
            'h' => (Some(CacheMode::Uncached), true),
            'r' => (Some(CacheMode::Remote), false),
            'w' | 's' => (None, true),
            'm' => (None, false),
            _ => return self.bad(arg, &format!("`{letter}` says nothing of caching")),
        };
        self.command.is_of_linux |= matches!(letter, 'd' | 's');
        let caching = &mut self.command.caching;
        if letter == 'm' {
            caching.is_mapped = Some(at());
        }
        let is_repeated = (mode.is_some() && caching.mode.is_some())
            || (writes_through && caching.write_through.is_some());
        if let Some(mode) = mode {
            caching.mode = Some(Given { value: mode, span: at() });
        }
        if writes_through {
            caching.write_through = Some(at());
        }
        if is_repeated {
            let text = format!("`{}` says what another option says of caching", arg.word.text);
            self.report(conflict(text, &at()).help("`-h` is `-Sh`, which is `-Suw`; write one"));
        }
    }

    fn completion(&mut self, arg: &Arg<'_>) {
        let completion = match arg.rest {
            "" => Completion::Routines,
            "k" => Completion::KernelAio,
            "p" => Completion::PosixAio,
            other => return self.bad(arg, &format!("`{other}` is no way to take completions")),
        };
        self.command.is_of_linux |= completion != Completion::Routines;
        put(&mut self.command.completion, Some(completion), arg, &mut self.findings);
    }

    fn contents(&mut self, arg: &Arg<'_>) {
        let contents = match arg.rest {
            "" => Some(Contents::Zeros),
            "r" => Some(Contents::Random),
            // Letters of Linux: zeros, random bytes, and buffers of writes apart from those of
            // reads, as they always are here.
            letters if letters.chars().all(|c| matches!(c, 'z' | 'r' | 's')) => {
                self.command.is_of_linux = true;
                match (letters.contains('z'), letters.contains('r')) {
                    (true, true) => {
                        return self.bad(arg, "written data is zeros or random, not both");
                    }
                    (true, false) => Some(Contents::Zeros),
                    (false, true) => Some(Contents::Random),
                    (false, false) => Some(Contents::Counted),
                }
            }
            source => {
                let (bytes, file) = match source.split_once(',') {
                    Some((bytes, file)) => (bytes, Some(file.to_owned())),
                    None => (source, None),
                };
                self.size(arg, bytes, 1).map(|bytes| Contents::Source { bytes, file })
            }
        };
        put(&mut self.command.contents, contents, arg, &mut self.findings);
    }
}
