//! Text into a [`Config`].

use plan::{Diagnostic, Span};

use super::config::{
    AccessLine, AccessSpec, Assigned, Config, DataPattern, Growth, Manager, Rows, Steps, Target,
    TestSetup, TestType, Worker,
};
use super::text::{Line, Piece, lines};

/// Code of the mistake that leaves an access specification without its name.
pub(super) const BAD_NAME: &str = "bad-name";

/// Access specifications have at most so many lines.
pub(super) const LINES_MAX: usize = 100;

/// The first version whose access specifications have names, as a number: 1998.05.21.
const NAMED_SPECS: u32 = 19_980_521;

/// Reads a configuration. All mistakes are reported, with their places; what has one is left out.
pub fn read_config(text: &str) -> (Config, Vec<Diagnostic>) {
    let lines: Vec<Line<'_>> = lines(text).collect();
    let mut reader = Reader { lines: &lines, at: 0, findings: Vec::new() };
    let config = reader.config();
    (config, reader.findings)
}

struct Reader<'l, 'a> {
    lines: &'l [Line<'a>],
    at: usize,
    findings: Vec<Diagnostic>,
}

impl<'l, 'a> Reader<'l, 'a> {
    fn error(&mut self, code: &'static str, at: &Span, text: impl Into<String>) {
        self.findings.push(Diagnostic::error(code, text).at(at.clone()));
    }

    /// Returns the next key, and goes behind it. Values before it belong to none.
    fn key(&mut self) -> Option<&'l Piece<'a>> {
        while let Some(line) = self.lines.get(self.at) {
            self.at += 1;
            if let Line::Key(key) = line {
                return Some(key);
            }
        }
        None
    }

    /// Returns the values up to the next key, without empty ones.
    fn values(&mut self) -> Vec<&'l Piece<'a>> {
        let mut values = Vec::new();
        while let Some(Line::Value(value)) = self.lines.get(self.at) {
            self.at += 1;
            if !value.text.is_empty() {
                values.push(value);
            }
        }
        values
    }

    /// Returns the value of a key, which must have one.
    fn value(&mut self, key: &Piece<'a>) -> Option<&'l Piece<'a>> {
        let value = self.values().into_iter().next();
        if value.is_none() {
            let text = format!("`'{}` has no value on the line below it", key.text);
            self.error("missing-value", &key.span, text);
        }
        value
    }

    fn config(&mut self) -> Config {
        let mut config = Config::default();
        let has_names = self.has_names();
        while let Some(key) = self.key() {
            if key.starts_with("TEST SETUP") {
                config.test = self.test_setup();
            } else if key.starts_with("ACCESS SPECIFICATIONS") {
                if has_names {
                    self.access_specs(&mut config.specs);
                } else {
                    let text = "access specifications of versions before 1998.05.21 have no \
                                names, and no worker can have them: they are left out";
                    let finding = Diagnostic::warning("unnamed-specifications", text);
                    self.findings.push(finding.at(key.span.clone()));
                    self.skip("END access specifications");
                }
            } else if key.starts_with("MANAGER LIST") {
                self.managers(&mut config.managers);
            } else if key.starts_with("RESULTS DISPLAY") {
                self.skip("END results display");
            } else {
                self.unknown(key, "no section of a test configuration");
            }
        }
        config
    }

    /// Returns whether access specifications have names: by the version in the first line, of which
    /// later ones have numbers such as 1.1.0.
    fn has_names(&mut self) -> bool {
        let Some(Line::Value(first)) = self.lines.first() else { return true };
        let Some(version) = first.text.strip_prefix("Version ") else { return true };
        let parts: Option<Vec<u32>> =
            version.trim().split('.').map(|part| part.parse().ok()).collect();
        match parts.as_deref() {
            Some([year, month, day]) if *year >= 1990 && *month <= 12 && *day <= 31 => {
                year.saturating_mul(10_000).saturating_add(month * 100 + day) >= NAMED_SPECS
            }
            Some([_, ..]) => true,
            Some([]) | None => {
                let text = format!("`{version}` is no version, such as 1.1.0 or 2006.07.27");
                self.findings
                    .push(Diagnostic::warning("unknown-version", text).at(first.span.clone()));
                true
            }
        }
    }

    /// Goes behind the end of a section that says nothing of the I/O.
    fn skip(&mut self, end: &str) {
        while let Some(key) = self.key() {
            if key.starts_with(end) {
                return;
            }
        }
    }

    fn unknown(&mut self, key: &Piece<'a>, what: &str) {
        let text = format!("`'{}` is {what}: it is left out", key.text);
        self.findings.push(Diagnostic::warning("unknown-key", text).at(key.span.clone()));
    }

    /// Reports a section that the text ends in.
    fn unended(&mut self, end: &str) {
        let at = match self.lines.last() {
            Some(Line::Key(last) | Line::Value(last)) => last.span.clone(),
            None => Span::default(),
        };
        self.error("missing-end", &at, format!("the text ends before `'{end}`: is it all of it?"));
    }

    fn test_setup(&mut self) -> TestSetup {
        const END: &str = "END test setup";
        let mut test = TestSetup::default();
        while let Some(key) = self.key() {
            if key.starts_with(END) {
                return test;
            } else if key.starts_with("Test Description") {
                let text: Vec<&str> = self.values().iter().map(|value| value.text).collect();
                test.description = text.join(" ");
            } else if key.starts_with("Run Time") {
                test.run_time_s = self.run_time(key).unwrap_or(test.run_time_s);
            } else if key.starts_with("Ramp Up Time") {
                let value = self.value(key);
                let seconds = value.and_then(|value| self.number(value, 0..=SECONDS_MAX));
                test.ramp_up_s = seconds.unwrap_or(0);
            } else if key.starts_with("Worker Cycling") {
                test.workers = self.steps(key, false);
            } else if key.starts_with("Disk Cycling") || key.starts_with("Target Cycling") {
                test.targets = self.steps(key, false);
            } else if key.starts_with("Queue Depth Cycling") {
                test.queue_depths = self.steps(key, true);
            } else if key.starts_with("Test Type") {
                test.test_type =
                    self.choice(key, &TestType::WORDS, "test type").unwrap_or_default();
            } else if key.starts_with("Record Results") {
                test.rows = self.choice(key, &Rows::WORDS, "choice of results").unwrap_or_default();
            } else if key.starts_with("Default ") {
                // Workers are those of the manager list.
                self.values();
            } else {
                self.unknown(key, "no key of the test setup");
            }
        }
        self.unended(END);
        test
    }

    fn run_time(&mut self, key: &Piece<'a>) -> Option<u64> {
        let value = self.value(key)?;
        let words = value.words();
        let [hours, minutes, seconds] = &words[..] else {
            let text = format!(
                "the run time is hours, minutes and seconds, such as `0 10 0`, and not `{}`",
                value.text
            );
            self.error("bad-value", &value.span, text);
            return None;
        };
        let mut of = |word, unit_s: u64| Some(self.number(word, 0..=SECONDS_MAX)? * unit_s);
        let parts = [of(hours, 3600), of(minutes, 60), of(seconds, 1)];
        parts.into_iter().sum()
    }

    fn steps(&mut self, key: &Piece<'a>, has_end: bool) -> Steps {
        let usual = Steps::default();
        let Some(value) = self.value(key) else { return usual };
        let words = value.words();
        let (start, end, step, growth) = match &words[..] {
            [start, end, step, growth] if has_end => (start, end, step, growth),
            [start, step, growth] if !has_end => (start, start, step, growth),
            _ => {
                let expected = if has_end { "start, end, step" } else { "start, step" };
                let text =
                    format!("`'{}` has {expected} and LINEAR or EXPONENTIAL below it", key.text);
                self.error("bad-value", &value.span, text);
                return usual;
            }
        };
        let Some((_, growth)) = Growth::WORDS.iter().find(|(word, _)| growth.is(word)) else {
            let text = format!("`{}`: write LINEAR or EXPONENTIAL", growth.text);
            self.error("bad-value", &growth.span, text);
            return usual;
        };
        let mut of = |word| self.number(word, 1..=COUNT_MAX).map(|it| it as u32);
        match (of(start), of(end), of(step)) {
            (Some(start), Some(end), Some(step)) => Steps { start, end, step, growth: *growth },
            _ => usual,
        }
    }

    /// Reads one of some words, or its number.
    fn choice<T: Copy>(
        &mut self,
        key: &Piece<'a>,
        words: &[(&'static str, T)],
        what: &str,
    ) -> Option<T> {
        let value = self.value(key)?;
        let found = chosen(value, words);
        if found.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let text = format!("`{}` is no {what}", value.text);
            let finding = Diagnostic::error("bad-value", text).at(value.span.clone());
            self.findings.push(finding.help(format!("there are {}", all.join(", "))));
        }
        found
    }

    fn access_specs(&mut self, specs: &mut Vec<AccessSpec>) {
        const END: &str = "END access specifications";
        while let Some(key) = self.key() {
            if key.starts_with(END) {
                return;
            } else if key.starts_with("Access specification name") {
                let Some(value) = self.value(key) else { continue };
                let (name, assigned) = self.spec_name(value);
                let again = specs.iter().any(|spec| spec.name == name.text);
                if again {
                    let text = format!("there is an access specification `{}` already", name.text);
                    self.error("duplicate-name", &name.span, text);
                }
                let name = name.text.to_owned();
                let lines = match self.lines.get(self.at) {
                    Some(Line::Key(columns)) if columns.starts_with("size") => {
                        self.at += 1;
                        self.access_lines(&name, &columns.span)
                    }
                    Some(Line::Key(_) | Line::Value(_)) | None => {
                        let text = format!(
                            "access specification `{name}` has no lines: `'size,% of size,..` \
                             stands before them"
                        );
                        self.error("missing-value", &key.span, text);
                        Vec::new()
                    }
                };
                specs.push(AccessSpec { name, assigned, lines });
            } else {
                self.unknown(key, "no key of the access specifications");
            }
        }
        self.unended(END);
    }

    /// Returns the name of a specification, and its default assignment, which stands behind it.
    fn spec_name(&mut self, value: &'l Piece<'a>) -> (Piece<'a>, Assigned) {
        // Results have numbers for the words.
        let of = |(name, word)| Some((name, chosen(&word, &Assigned::WORDS)?));
        let found = value.split_last().and_then(of);
        found.unwrap_or_else(|| {
            let text = format!(
                "`{}`: a name, a comma, and NONE, ALL, DISK or NET were expected",
                value.text
            );
            self.error(BAD_NAME, &value.span, text);
            (value.clone(), Assigned::None)
        })
    }

    fn access_lines(&mut self, name: &str, columns: &Span) -> Vec<AccessLine> {
        let values = self.values();
        if values.len() > LINES_MAX {
            let text = format!(
                "access specification `{name}` has {} lines, and {LINES_MAX} are the most",
                values.len()
            );
            self.error("out-of-range", columns, text);
        }
        let n_before = self.findings.len();
        let read: Vec<AccessLine> =
            values.iter().filter_map(|value| self.access_line(value)).collect();
        let total_pct: u32 = read.iter().map(|line| u32::from(line.share_pct)).sum();
        if self.findings.len() == n_before && total_pct != 100 {
            let text = format!(
                "the shares of access specification `{name}` add up to {total_pct} %, not 100 %"
            );
            self.error("bad-total", columns, text);
        }
        read
    }

    fn access_line(&mut self, value: &Piece<'a>) -> Option<AccessLine> {
        let fields = value.fields();
        // Results have a comma behind the last.
        let fields = match &fields[..] {
            [fields @ .., last] if last.text.is_empty() => fields,
            fields => fields,
        };
        let [size, share, reads, random, delay, burst, rest @ ..] = fields else {
            let text = format!(
                "`{}`: size, % of size, % reads, % random, delay, burst, align and reply were \
                 expected",
                value.text
            );
            self.error("bad-value", &value.span, text);
            return None;
        };
        let mut of = |field, least| self.number(field, least..=u64::from(u32::MAX));
        let (size, delay) = (of(size, 1), of(delay, 0));
        let burst = of(burst, 0);
        let align = rest.first().map_or(Some(0), |align| of(align, 0));
        let reply = rest.get(1).map_or(Some(0), |reply| of(reply, 0));
        let mut pct = |field| self.number(field, 0..=100).map(|pct| pct as u8);
        let (share_pct, read_pct, random_pct) = (pct(share), pct(reads), pct(random));
        if let Some((field, _)) = rest.get(1).zip(reply).filter(|(_, reply)| *reply > 0) {
            let text = "replies are for network workers, which are not run: write 0";
            self.error("unsupported-reply", &field.span, text);
        }
        Some(AccessLine {
            size_bytes: size? as u32,
            share_pct: share_pct?,
            read_pct: read_pct?,
            random_pct: random_pct?,
            delay_ms: delay? as u32,
            burst: (burst? as u32).max(1),
            align_bytes: align? as u32,
            span: value.span.clone(),
        })
    }

    fn managers(&mut self, managers: &mut Vec<Manager>) {
        const END: &str = "END manager list";
        while let Some(key) = self.key() {
            if key.starts_with(END) {
                return;
            } else if key.starts_with("Manager ID") {
                let Some(value) = self.value(key) else { continue };
                let name = value.split_first().map_or(value.clone(), |(_, name)| name);
                managers.push(Manager {
                    name: name.text.to_owned(),
                    address: String::new(),
                    span: name.span,
                    workers: Vec::new(),
                });
            } else if key.is("End manager") {
                // The next one begins with its name.
            } else if let Some(manager) = managers.last_mut() {
                if key.starts_with("Manager network address") {
                    let address = self.values().first().map_or("", |value| value.text);
                    address.clone_into(&mut manager.address);
                } else if key.is("Worker") {
                    manager.workers.extend(self.worker(key));
                } else {
                    self.unknown(key, "no key of a manager");
                }
            } else {
                self.unknown(key, "no key of the manager list before its first manager");
            }
        }
        self.unended(END);
    }

    fn worker(&mut self, key: &Piece<'a>) -> Option<Worker> {
        const END: &str = "End worker";
        let name = self.value(key)?;
        let mut worker = Worker {
            name: name.text.to_owned(),
            span: name.span.clone(),
            is_of_network: false,
            queue_depth: 1,
            seed: None,
            ios_per_open: 0,
            size_sectors: 0,
            start_sector: 0,
            data: DataPattern::PseudoRandom,
            specs: Vec::new(),
            targets: Vec::new(),
        };
        while let Some(key) = self.key() {
            if key.is(END) {
                return Some(worker);
            } else if key.is("Worker type") {
                let value = self.value(key);
                worker.is_of_network = value.is_some_and(|value| value.starts_with("NETWORK"));
            } else if key.starts_with("Number of outstanding IOs") {
                self.settings(key, &mut worker);
            } else if key.starts_with("Disk maximum size") {
                self.region(key, &mut worker);
            } else if key.starts_with("Assigned access specs") {
                let values = self.values();
                worker.specs.extend(values.iter().map(|it| (it.text.to_owned(), it.span.clone())));
            } else if key.is("Target") {
                if let Some(value) = self.value(key) {
                    let (name, span) = (value.text.to_owned(), value.span.clone());
                    worker.targets.push(Target { name, span });
                }
            } else if key.starts_with("Target type") || key.starts_with("Target manager") {
                self.values();
            } else if !is_frame(key) {
                self.unknown(key, "no key of a worker");
            }
        }
        self.unended(END);
        None
    }

    /// Reads outstanding I/Os, connection rate and seed.
    fn settings(&mut self, key: &Piece<'a>, worker: &mut Worker) {
        let Some(value) = self.value(key) else { return };
        let fields = value.fields();
        if let Some(depth) = fields.first().and_then(|it| self.number(it, 1..=DEPTH_MAX)) {
            worker.queue_depth = depth as u32;
        }
        let is_enabled = |idx: usize| fields.get(idx).is_some_and(|field| field.is("ENABLED"));
        if is_enabled(1) {
            let n_ios = fields.get(2).and_then(|it| self.number(it, 0..=COUNT_MAX));
            worker.ios_per_open = n_ios.unwrap_or(0) as u32;
        }
        if is_enabled(3) {
            worker.seed = fields.get(4).and_then(|it| self.number(it, 0..=u64::MAX));
        }
    }

    /// Reads the part of the targets that is used, and what is written there.
    fn region(&mut self, key: &Piece<'a>, worker: &mut Worker) {
        let Some(value) = self.value(key) else { return };
        let fields = value.fields();
        let mut of = |idx: usize| fields.get(idx).and_then(|it| self.number(it, 0..=SECTORS_MAX));
        worker.size_sectors = of(0).unwrap_or(0);
        worker.start_sector = of(1).unwrap_or(0);
        let Some(data) = fields.get(2) else { return };
        let found = DataPattern::WORDS.iter().find(|(number, _)| *number == data.text);
        let Some((_, pattern)) = found else {
            let text = format!(
                "`{}` is no data pattern: 0 is repeating bytes, 1 pseudo random, 2 full random",
                data.text
            );
            return self.error("bad-value", &data.span, text);
        };
        worker.data = *pattern;
    }

    fn number(&mut self, field: &Piece<'a>, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let number = field.text.parse::<u64>().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let text = format!(
                "`{}` is no whole number from {} to {}",
                field.text,
                range.start(),
                range.end()
            );
            self.error("bad-value", &field.span, text);
        }
        number
    }
}

/// Returns the choice that a word or its number names.
fn chosen<T: Copy>(value: &Piece<'_>, words: &[(&'static str, T)]) -> Option<T> {
    let by_number = value.text.parse::<usize>().ok().and_then(|idx| words.get(idx));
    let found = words.iter().find(|(word, _)| value.is(word)).or(by_number);
    found.map(|(_, choice)| *choice)
}

/// Largest time, seconds: a month.
pub(super) const SECONDS_MAX: u64 = 31 * 86_400;
/// Largest number of anything that is counted.
const COUNT_MAX: u64 = 1_000_000;
/// Most outstanding I/Os of a target.
pub(super) const DEPTH_MAX: u64 = 65_536;
/// Most sectors of a target: 8 EiB.
const SECTORS_MAX: u64 = 1 << 54;

/// Returns whether a key begins or ends a part of a worker, and says no more.
fn is_frame(key: &Piece<'_>) -> bool {
    let frames = [
        "Default target settings for worker",
        "End default target settings for worker",
        "End assigned access specs",
        "Target assignments",
        "End target assignments",
        "End target",
    ];
    frames.iter().any(|frame| key.is(frame))
}
