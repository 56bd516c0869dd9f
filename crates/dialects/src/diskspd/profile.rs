//! Profiles of diskspd in XML: time spans, and in each the targets with what is done to them.
//!
//! An element says what an option of a command line says, of a time span or of a target. So a
//! target, with what its time span says, is a [`Command`] of its own. Names, and what may stand
//! where, are those of the schema of diskspd 2.2.

use std::ops::RangeInclusive;

use plan::keys::Findings;
use plan::{Diagnostic, Span};
use roxmltree::{Document, Node, ParsingOptions};

use super::command::{
    BYTES_MAX, COUNT_MAX, CPU_MAX, CacheMode, Command, Completion, Contents, Flush, Given, Rate,
    SECONDS_MAX, Spread, Stride, Target, TimeSpan,
};
use super::xml;

/// Largest profile that is read, in bytes.
pub(super) const PROFILE_BYTES_MAX: usize = 4 << 20;

/// Most elements, attributes and texts of a profile.
const NODES_MAX: u32 = 200_000;

/// A profile as read.
pub(super) struct Profile {
    pub(super) time_spans: Vec<TimeSpan>,
    pub(super) findings: Vec<Diagnostic>,
}

/// An element: its name, and what is read of it.
struct Element {
    name: &'static str,
    /// How a command line says it; empty where it cannot.
    option: &'static str,
    attributes: &'static [&'static str],
    read: fn(&mut Reader<'_>, &Item<'_, '_>),
}

const fn element(
    name: &'static str,
    option: &'static str,
    read: fn(&mut Reader<'_>, &Item<'_, '_>),
) -> Element {
    Element { name, option, attributes: &[], read }
}

/// An element as written.
struct Item<'a, 'input> {
    node: Node<'a, 'input>,
    name: &'static str,
    /// Where its tag is.
    span: Span,
}

/// What a profile as a whole says.
#[expect(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime")]
static PROFILE: &[Element] = &[
    element("TimeSpans", "", |reader, item| reader.time_spans(item)),
    element("Verbose", "-v", |reader, item| {
        let _ = reader.flag(item);
    }),
    element("VerboseStats", "-vs", |reader, item| {
        let _ = reader.flag(item);
    }),
    element("Progress", "-P", |reader, item| {
        let _ = reader.number(item, 0..=COUNT_MAX);
    }),
    element("ExperimentFlags", "-:", |reader, item| {
        reader.leave_out(item, "flags for experiments");
    }),
    element("ResultFormat", "-R", |reader, item| {
        reader.is_xml = reader.word(item, &["text", "xml"]).map(|word| word == "xml");
    }),
    element("ETW", "-e", |reader, item| reader.leave_out(item, "event tracing of Windows")),
    element("PrecreateFiles", "", |reader, item| {
        let words = [
            "UseMaxSize",
            "CreateOnlyFilesWithConstantSizes",
            "CreateOnlyFilesWithConstantOrZeroSizes",
        ];
        if reader.word(item, &words).is_some() {
            reader.leave_out(item, "files are made before the time span that needs them");
        }
    }),
];

/// What a time span says, for all of its targets.
#[expect(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime")]
static TIME_SPAN: &[Element] = &[
    // Read behind all others.
    element("Targets", "", |_, _| {}),
    element("Duration", "-d", |reader, item| {
        reader.command.duration_s = reader.number(item, 0..=SECONDS_MAX);
    }),
    element("Warmup", "-W", |reader, item| {
        reader.command.warm_up_s = reader.number(item, 0..=SECONDS_MAX);
    }),
    element("Cooldown", "-C", |reader, item| {
        reader.command.cool_down_s = reader.number(item, 0..=SECONDS_MAX);
    }),
    element("RandSeed", "-z", |reader, item| {
        let seed = reader.number(item, 0..=u64::from(u32::MAX));
        reader.command.seed = seed.map(|it| Given { value: Some(it.value), span: it.span });
    }),
    element("RandomWriteData", "-Zr", |reader, item| {
        reader.command.contents = reader.set(item).map(|()| item.given(Contents::Random));
    }),
    element("ThreadCount", "-F", |reader, item| {
        reader.command.n_threads = reader.count(item);
    }),
    element("RequestCount", "-O", |reader, item| {
        reader.command.queue_depth_of_all = reader.count(item);
    }),
    element("GroupAffinity", "-ag", |reader, item| {
        let _ = reader.flag(item);
    }),
    element("Affinity", "-a", |reader, item| reader.affinity(item)),
    element("DisableAffinity", "-n", |reader, item| {
        reader.command.is_unbound = reader.set(item).map(|()| item.span.clone());
    }),
    element("CompletionRoutines", "-x", |reader, item| {
        reader.command.completion = reader.set(item).map(|()| item.given(Completion::Routines));
    }),
    element("MeasureLatency", "-L", |reader, item| {
        reader.command.has_latency = reader.set(item).map(|()| item.span.clone());
    }),
    element("CalculateIopsStdDev", "-D", |reader, item| {
        reader.has_deviation = reader.set(item).map(|()| item.span.clone());
    }),
    element("IoBucketDuration", "-D", |reader, item| {
        reader.sample_ms = reader.number(item, 1..=3_600_000);
    }),
];

/// What is said of one target.
#[expect(clippy::redundant_closure_for_method_calls, reason = "a method is for one lifetime")]
static TARGET: &[Element] = &[
    element("Path", "", |reader, item| reader.path(item)),
    element("BlockSize", "-b", |reader, item| {
        reader.command.block = reader.number(item, 1..=COUNT_MAX);
    }),
    element("StrideSize", "-s", |reader, item| {
        reader.stride = reader.number(item, 0..=BYTES_MAX);
    }),
    element("InterlockedSequential", "-si", |reader, item| {
        reader.interlocked = reader.set(item).map(|()| item.span.clone());
    }),
    element("BaseFileOffset", "-B", |reader, item| {
        reader.command.base = reader.number(item, 0..=BYTES_MAX);
    }),
    element("SequentialScan", "-fs", |reader, item| reader.hint(item, false)),
    element("RandomAccess", "-fr", |reader, item| reader.hint(item, true)),
    element("TemporaryFile", "-ft", |reader, item| {
        if reader.set(item).is_some() {
            reader.leave_out(item, "only Windows has temporary files of that kind");
        }
    }),
    element("UseLargePages", "-l", |reader, item| {
        reader.command.has_large_pages = reader.set(item).map(|()| item.span.clone());
    }),
    element("RequestCount", "-o", |reader, item| {
        reader.command.queue_depth = reader.number(item, 1..=COUNT_MAX);
    }),
    element("Random", "-r", |reader, item| {
        let align = reader.number(item, 0..=BYTES_MAX);
        // Without one it is the block size.
        let value = |it: &Given<u64>| (it.value > 0).then_some(it.value);
        reader.command.random = align.map(|it| Given { value: value(&it), span: it.span });
    }),
    element("RandomRatio", "-rs", |reader, item| {
        reader.command.random_pct = reader.number(item, 1..=99);
    }),
    element("Distribution", "-rd", |reader, item| reader.distribution(item)),
    element("DisableOSCache", "-Su", |reader, item| reader.cache(item, CacheMode::Uncached)),
    element("DisableAllCache", "-Sh", |reader, item| {
        reader.cache(item, CacheMode::Uncached);
        reader.write_through(item);
    }),
    element("DisableLocalCache", "-Sr", |reader, item| reader.cache(item, CacheMode::Remote)),
    element("WriteThrough", "-Sw", |reader, item| reader.write_through(item)),
    element("MemoryMappedIo", "-Sm", |reader, item| {
        reader.command.caching.is_mapped = reader.set(item).map(|()| item.span.clone());
    }),
    element("FlushType", "-N", |reader, item| {
        let words = Flush::ALL.map(Flush::element);
        let word = reader.word(item, &words);
        let flush = word.and_then(|word| Flush::ALL.into_iter().find(|it| it.element() == word));
        reader.command.flush = flush.map(|it| item.given(it));
    }),
    element("WriteBufferContent", "-Z", |reader, item| reader.contents(item)),
    element("BurstSize", "-i", |reader, item| reader.command.burst = reader.count(item)),
    element("ThinkTime", "-j", |reader, item| reader.command.pause_ms = reader.count(item)),
    Element {
        attributes: &["unit"],
        ..element("Throughput", "-g", |reader, item| reader.throughput(item))
    },
    element("ThreadsPerFile", "-t", |reader, item| {
        reader.command.n_threads_each = reader.number(item, 1..=COUNT_MAX);
    }),
    element("FileSize", "-c", |reader, item| {
        reader.command.file_size = reader.number(item, 1..=BYTES_MAX);
    }),
    element("MaxFileSize", "-f", |reader, item| {
        reader.command.end = reader.above_0(item, BYTES_MAX);
    }),
    element("WriteRatio", "-w", |reader, item| {
        reader.command.write_pct = reader.number(item, 0..=100);
    }),
    element("ParallelAsyncIO", "-p", |reader, item| {
        reader.command.is_parallel = reader.set(item).map(|()| item.span.clone());
    }),
    element("ThreadStride", "-T", |reader, item| {
        reader.command.thread_stride = reader.above_0(item, BYTES_MAX);
    }),
    element("IOPriority", "-I", |reader, item| {
        // 0 is none.
        let priority = reader.number(item, 0..=3);
        reader.command.priority = priority.filter(|it| it.value > 0);
    }),
    element("Weight", "", |reader, item| reader.weight = reader.number(item, 0..=COUNT_MAX)),
    element("ThreadTargets", "", |reader, item| {
        let text = "targets of single threads, `<ThreadTargets>`, are not supported yet";
        let finding = Diagnostic::error("not-supported-yet", text).at(item.span.clone());
        reader.report(finding.help("leave it out: then each thread works on all targets"));
    }),
];

/// The contents of `WriteBufferContent`.
static CONTENTS: &[Element] = &[
    element("Pattern", "", |reader, item| {
        reader.pattern = reader.word(item, &["sequential", "zero", "random"]);
    }),
    element("RandomDataSource", "", |reader, item| {
        reader.children(item, SOURCE, &["SizeInBytes"]);
    }),
];

static SOURCE: &[Element] = &[
    element("SizeInBytes", "", |reader, item| {
        reader.source_bytes = reader.number(item, 1..=BYTES_MAX);
    }),
    element("FilePath", "", |reader, item| {
        reader.source_file = Some(item.text()).filter(|path| !path.is_empty());
    }),
];

/// Returns the element that says what an option says.
pub(super) fn element_of(option: &str) -> Option<&'static str> {
    let letter = option.get(..2)?;
    let all = || TIME_SPAN.iter().chain(TARGET).chain(PROFILE);
    let exact = all().find(|it| it.option == option);
    exact.or_else(|| all().find(|it| it.option.starts_with(letter))).map(|it| it.name)
}

impl Item<'_, '_> {
    /// Returns the text within, without blanks around it.
    fn text(&self) -> String {
        let parts = self.node.children().filter(Node::is_text).filter_map(|it| it.text());
        parts.collect::<String>().trim().to_owned()
    }

    fn given<T>(&self, value: T) -> Given<T> {
        Given { value, span: self.span.clone() }
    }
}

/// What is read so far.
struct Reader<'a> {
    places: Findings<'a>,
    /// What of a time span, and then of a target, a command line says.
    command: Command,
    /// `-R`.
    is_xml: Option<bool>,
    time_spans: Vec<TimeSpan>,
    // Elements that say something together.
    has_deviation: Option<Span>,
    sample_ms: Option<Given<u64>>,
    stride: Option<Given<u64>>,
    interlocked: Option<Span>,
    pattern: Option<&'static str>,
    source_bytes: Option<Given<u64>>,
    source_file: Option<String>,
    weight: Option<Given<u64>>,
}

/// Reads a profile, text `source_idx` of its plan.
pub(super) fn read(text: &str, source_idx: u32) -> Profile {
    let mut reader = Reader {
        places: Findings::of(text, source_idx),
        command: Command::default(),
        is_xml: None,
        time_spans: Vec::new(),
        has_deviation: None,
        sample_ms: None,
        stride: None,
        interlocked: None,
        pattern: None,
        source_bytes: None,
        source_file: None,
        weight: None,
    };
    reader.document(text);
    let Reader { is_xml, mut time_spans, places, .. } = reader;
    for command in time_spans.iter_mut().flat_map(|it| &mut it.commands) {
        command.is_xml = is_xml;
    }
    Profile { time_spans, findings: places.finish().0 }
}

impl Reader<'_> {
    fn document(&mut self, text: &str) {
        if text.len() > PROFILE_BYTES_MAX {
            let message = format!("a profile is not larger than {} MiB", PROFILE_BYTES_MAX >> 20);
            return self.places.add(Diagnostic::error("too-large", message), &(0..0));
        }
        let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        let document = match Document::parse_with_options(text, options) {
            Ok(document) => document,
            Err(error) => return self.damaged(text, &error),
        };
        let root = document.root_element();
        // Results begin with the profile that they are of.
        let is_profile = |node: &Node<'_, '_>| node.tag_name().name() == "Profile";
        let profile = std::iter::once(root).chain(root.children()).find(is_profile);
        let Some(profile) = profile else {
            let item = self.item(root, "Profile");
            let message = format!("`<{}>` is no profile of diskspd", root.tag_name().name());
            let finding = Diagnostic::error("not-a-profile", message).at(item.span);
            return self.report(finding.help("it is one element, `<Profile>`"));
        };
        let item = self.item(profile, "Profile");
        self.children(&item, PROFILE, &["TimeSpans"]);
    }

    /// Reports what keeps the text from being XML.
    fn damaged(&mut self, text: &str, error: &roxmltree::Error) {
        let at = error.pos();
        let line_start = match at.row {
            0 | 1 => 0,
            row => text.match_indices('\n').nth(row as usize - 2).map_or(0, |(at, _)| at + 1),
        };
        let columns = text[line_start..].char_indices().map(|(at, _)| at);
        let start = line_start + columns.take(at.col.max(1) as usize).last().unwrap_or(0);
        let message = error.to_string();
        let message = message.strip_suffix(&format!(" at {at}")).unwrap_or(&message);
        let finding = Diagnostic::error("bad-xml", format!("this is no XML: {message}"));
        self.places.add(finding, &(start..start));
    }

    /// Adds a finding that has a place; what a time span says is looked at for each target.
    fn report(&mut self, finding: Diagnostic) {
        let bytes = finding.span.as_ref().map_or(0..0, |span| span.bytes.clone());
        if !self.places.has(&finding) {
            self.places.add(finding, &bytes);
        }
    }

    fn bad(&mut self, item: &Item<'_, '_>, problem: &str) {
        let text = format!("`<{}>`: {problem}", item.name);
        self.report(Diagnostic::error("bad-value", text).at(item.span.clone()));
    }

    fn missing(&mut self, name: &str, at: &Span) {
        let text = format!("`<{name}>` is missing here");
        self.report(Diagnostic::error("missing-element", text).at(at.clone()));
    }

    fn leave_out(&mut self, item: &Item<'_, '_>, what: &str) {
        let text = format!("`<{}>` is left out: {what}", item.name);
        self.report(Diagnostic::note("left-out", text).at(item.span.clone()));
    }

    fn unknown(&mut self, item: &Item<'_, '_>, parent: &str, known: &[&'static str]) {
        let name = item.node.tag_name().name();
        let text = format!("`<{parent}>` has no element `<{name}>`");
        let finding = Diagnostic::error("unknown-element", text).at(item.span.clone());
        let levels = [("Profile", PROFILE), ("TimeSpan", TIME_SPAN), ("Target", TARGET)];
        let level = levels.iter().find(|(_, list)| list.iter().any(|it| it.name == name));
        self.report(match (level, units::nearest(name, known.iter().copied()).first()) {
            (Some((level, _)), _) => finding.help(format!("`<{level}>` has it")),
            (None, Some(near)) => finding.help(format!("did you mean `<{near}>`?")),
            (None, None) => finding.help("what diskspd 2.2 does not know it refuses, too"),
        });
    }

    /// Returns the elements within one; what else stands there is a mistake.
    fn elements<'a, 'i>(&mut self, parent: &Item<'a, 'i>) -> Vec<Node<'a, 'i>> {
        for node in parent.node.children().filter(Node::is_text) {
            let text = node.text().unwrap_or_default().trim();
            if !text.is_empty() {
                self.bad(parent, &format!("`{text}` is no element"));
            }
        }
        parent.node.children().filter(Node::is_element).collect()
    }

    /// Reads the elements within one, each of which may be there once; some must be.
    fn children(&mut self, parent: &Item<'_, '_>, known: &[Element], required: &[&'static str]) {
        let mut seen: Vec<&'static str> = Vec::new();
        for node in self.elements(parent) {
            let name = node.tag_name().name();
            let Some(element) = known.iter().find(|it| it.name == name) else {
                let names: Vec<&'static str> = known.iter().map(|it| it.name).collect();
                let item = self.item(node, "");
                self.unknown(&item, parent.name, &names);
                continue;
            };
            let item = self.item(node, element.name);
            if seen.contains(&element.name) {
                self.bad(&item, "it is given twice");
                continue;
            }
            seen.push(element.name);
            self.attributes(&item, element.attributes);
            (element.read)(self, &item);
        }
        for name in required.iter().filter(|name| !seen.contains(name)) {
            self.missing(name, &parent.span);
        }
    }

    /// Returns the elements within one, all of the same name; there is one at least.
    fn list<'a, 'i>(&mut self, parent: &Item<'a, 'i>, name: &'static str) -> Vec<Item<'a, 'i>> {
        let mut found = Vec::new();
        for node in self.elements(parent) {
            let item = self.item(node, name);
            if node.tag_name().name() == name {
                found.push(item);
            } else {
                self.unknown(&item, parent.name, &[name]);
            }
        }
        if found.is_empty() {
            self.missing(name, &parent.span);
        }
        found
    }

    fn attributes(&mut self, item: &Item<'_, '_>, known: &[&str]) {
        let is_own = |it: &roxmltree::Attribute<'_, '_>| it.namespace().is_none();
        for attribute in item.node.attributes().filter(is_own) {
            if !known.contains(&attribute.name()) {
                self.bad(item, &format!("it has no attribute `{}`", attribute.name()));
            }
        }
    }

    fn parsed(
        &mut self,
        item: &Item<'_, '_>,
        text: &str,
        limits: RangeInclusive<u64>,
    ) -> Option<u64> {
        let text = text.trim();
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse::<u64>().ok().filter(|number| limits.contains(number));
        if !is_number {
            self.bad(item, &format!("`{text}` is no whole number"));
        } else if number.is_none() {
            let (low, high) = (limits.start(), limits.end());
            self.bad(item, &format!("`{text}` is not from {low} to {high}"));
        }
        number.filter(|_| is_number)
    }

    fn number(&mut self, item: &Item<'_, '_>, limits: RangeInclusive<u64>) -> Option<Given<u64>> {
        let text = item.text();
        self.parsed(item, &text, limits).map(|value| item.given(value))
    }

    /// Returns a number of which 0 says nothing.
    fn above_0(&mut self, item: &Item<'_, '_>, most: u64) -> Option<Given<u64>> {
        self.number(item, 0..=most).filter(|it| it.value > 0)
    }

    fn count(&mut self, item: &Item<'_, '_>) -> Option<Given<u64>> {
        self.above_0(item, COUNT_MAX)
    }

    fn attribute(
        &mut self,
        item: &Item<'_, '_>,
        name: &'static str,
        limits: RangeInclusive<u64>,
    ) -> Option<u64> {
        let Some(text) = item.node.attribute(name) else {
            self.bad(item, &format!("the attribute `{name}` is missing"));
            return None;
        };
        self.parsed(item, text, limits)
    }

    fn flag(&mut self, item: &Item<'_, '_>) -> Option<bool> {
        let text = item.text();
        let value = match text.as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        if value.is_none() {
            self.bad(item, &format!("`{text}` is neither `true` nor `false`"));
        }
        value
    }

    /// Returns something where it is true.
    fn set(&mut self, item: &Item<'_, '_>) -> Option<()> {
        self.flag(item).filter(|is_set| *is_set).map(|_| ())
    }

    fn word(&mut self, item: &Item<'_, '_>, words: &[&'static str]) -> Option<&'static str> {
        let text = item.text();
        let found = words.iter().copied().find(|word| *word == text);
        if found.is_none() {
            let list = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>();
            self.bad(item, &format!("`{text}` is none of {}", list.join(", ")));
        }
        found
    }

    fn time_spans(&mut self, item: &Item<'_, '_>) {
        for (idx, span) in self.list(item, "TimeSpan").iter().enumerate() {
            self.command = Command { span: span.span.clone(), ..Command::default() };
            (self.has_deviation, self.sample_ms) = (None, None);
            self.attributes(span, &[]);
            self.children(span, TIME_SPAN, &["Targets"]);
            if let Some(at) = self.has_deviation.take() {
                let usual = Given { value: 1000, span: at };
                self.command.sample_ms = Some(self.sample_ms.take().unwrap_or(usual));
            }
            let is_targets = |node: &Node<'_, '_>| node.tag_name().name() == "Targets";
            let Some(targets) = span.node.children().find(is_targets) else { continue };
            let targets = self.item(targets, "Targets");
            let commands = self.targets(&targets);
            if !commands.is_empty() {
                let number = idx as u32 + 1;
                let name = format!("time span {number}");
                self.time_spans.push(TimeSpan { name, number, commands });
            }
        }
    }

    /// Reads the targets of a time span, each a command.
    fn targets(&mut self, targets: &Item<'_, '_>) -> Vec<Command> {
        let whole = std::mem::take(&mut self.command);
        let mut commands = Vec::new();
        let mut weights = Vec::new();
        for target in self.list(targets, "Target") {
            self.command = Command { span: target.span.clone(), ..whole.clone() };
            (self.stride, self.interlocked, self.weight) = (None, None, None);
            self.attributes(&target, &[]);
            self.children(&target, TARGET, &["Path"]);
            self.walk();
            let conflicts = self.command.conflicts();
            for mut finding in conflicts {
                finding.message = in_elements(&finding.message);
                finding.help = finding.help.iter().map(|help| in_elements(help)).collect();
                self.report(finding);
            }
            commands.push(std::mem::take(&mut self.command));
            let weight = self.weight.take();
            weights.push(weight.unwrap_or(Given { value: 1, span: target.span.clone() }));
        }
        self.pooled(commands, &weights)
    }

    /// Says what two elements say of a walk together.
    fn walk(&mut self) {
        let (stride, interlocked) = (self.stride.take(), self.interlocked.take());
        let at = interlocked.clone().or_else(|| stride.as_ref().map(|it| it.span.clone()));
        let bytes = stride.map(|it| it.value).filter(|bytes| *bytes > 0);
        let value = Stride { is_interlocked: interlocked.is_some(), bytes };
        self.command.stride = at.map(|span| Given { value, span });
    }

    /// Makes one command of targets that threads have their I/O in flight on together: all of them
    /// are worked on alike, or that is a mistake.
    fn pooled(&mut self, commands: Vec<Command>, weights: &[Given<u64>]) -> Vec<Command> {
        let [first, others @ ..] = &commands[..] else { return commands };
        if first.shared_depth().is_none() {
            return commands;
        }
        let said = xml::said_of_target(first);
        for other in others.iter().filter(|other| xml::said_of_target(other) != said) {
            let text = "targets of one `<RequestCount>` that differ are not supported yet";
            let finding = Diagnostic::error("not-supported-yet", text).at(other.span.clone());
            self.report(finding.help("say the same of all targets of the time span but `<Path>`"));
        }
        let weight = weights.first().map(|it| it.value);
        for other in weights.iter().filter(|it| it.value == 0 || Some(it.value) != weight) {
            let text = "targets with weights that differ are not supported yet";
            let finding = Diagnostic::error("not-supported-yet", text).at(other.span.clone());
            self.report(finding.help("give all targets of the time span the same `<Weight>`"));
        }
        let targets = commands.iter().flat_map(|it| it.targets.iter().cloned()).collect();
        vec![Command { targets, ..first.clone() }]
    }

    fn path(&mut self, item: &Item<'_, '_>) {
        let target = Target { name: item.text(), span: item.span.clone() };
        if target.name.is_empty() {
            self.bad(item, "there is no path");
        } else if target.name.starts_with('*') && target.template().is_none() {
            self.bad(item, "behind `*` is the number of a target, from 1 on");
        }
        self.command.targets.push(target);
    }

    fn hint(&mut self, item: &Item<'_, '_>, is_random: bool) {
        if self.set(item).is_some() {
            self.command.hint_is_random = Some(item.given(is_random));
        }
    }

    /// The cache of this host alone goes before all caches, as in the tool.
    fn cache(&mut self, item: &Item<'_, '_>, mode: CacheMode) {
        let caching = &self.command.caching.mode;
        let is_remote = caching.as_ref().is_some_and(|it| it.value == CacheMode::Remote);
        if self.set(item).is_some() && !is_remote {
            self.command.caching.mode = Some(item.given(mode));
        }
    }

    fn write_through(&mut self, item: &Item<'_, '_>) {
        if self.set(item).is_some() {
            self.command.caching.write_through = Some(item.span.clone());
        }
    }

    fn contents(&mut self, item: &Item<'_, '_>) {
        (self.pattern, self.source_bytes, self.source_file) = (None, None, None);
        self.children(item, CONTENTS, &["Pattern"]);
        let source = self.source_bytes.take().map(|it| it.value);
        let contents = match (self.pattern, source) {
            (Some("zero"), _) => Contents::Zeros,
            (Some("random"), Some(bytes)) => {
                Contents::Source { bytes, file: self.source_file.take() }
            }
            (Some("random"), None) => {
                let text = "`random` has no effect without `<RandomDataSource>`";
                return self.report(Diagnostic::warning("no-effect", text).at(item.span.clone()));
            }
            (Some(_) | None, _) => return,
        };
        self.command.contents = Some(item.given(contents));
    }

    fn throughput(&mut self, item: &Item<'_, '_>) {
        let rate = match item.node.attribute("unit") {
            Some("IOPS") => Rate::Iops,
            Some("BPMS") | None => Rate::BytesPerMs,
            Some(other) => {
                return self.bad(item, &format!("the unit `{other}` is neither `IOPS` nor `BPMS`"));
            }
        };
        self.command.rate =
            self.count(item).map(|it| Given { value: rate(it.value), span: it.span });
    }

    fn distribution(&mut self, item: &Item<'_, '_>) {
        let mut spread: Option<Spread> = None;
        for node in self.elements(item) {
            let is_absolute = match node.tag_name().name() {
                "Absolute" => true,
                "Percent" => false,
                _ => {
                    let other = self.item(node, "");
                    self.unknown(&other, item.name, &["Absolute", "Percent"]);
                    continue;
                }
            };
            let kind = self.item(node, if is_absolute { "Absolute" } else { "Percent" });
            if spread.is_some() {
                self.bad(item, "it has one of `<Absolute>` and `<Percent>`, once");
            }
            let parts = self.ranges(&kind, is_absolute);
            spread = Some(Spread { is_absolute, parts });
        }
        match spread {
            Some(spread) => self.command.spread = Some(item.given(spread)),
            None => self.missing("Percent", &item.span),
        }
    }

    fn ranges(&mut self, kind: &Item<'_, '_>, is_absolute: bool) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        for range in self.list(kind, "Range") {
            self.attributes(&range, &["IO"]);
            let share = self.attribute(&range, "IO", 0..=100);
            let most = if is_absolute { BYTES_MAX } else { 100 };
            let part = self.number(&range, 1..=most);
            parts.extend(share.zip(part.map(|it| it.value)));
        }
        parts
    }

    /// Processors, by groups of which there is one here, or as older versions wrote them.
    fn affinity(&mut self, item: &Item<'_, '_>) {
        for node in self.elements(item) {
            let cpu = match node.tag_name().name() {
                "AffinityAssignment" => {
                    let item = self.item(node, "AffinityAssignment");
                    self.number(&item, 0..=CPU_MAX)
                }
                "AffinityGroupAssignment" => {
                    let item = self.item(node, "AffinityGroupAssignment");
                    self.attributes(&item, &["Group", "Processor"]);
                    if self.attribute(&item, "Group", 0..=CPU_MAX).is_some_and(|it| it > 0) {
                        let text = "there are no groups of processors on Linux, only group 0";
                        self.bad(&item, text);
                    }
                    let cpu = self.attribute(&item, "Processor", 0..=CPU_MAX);
                    cpu.map(|cpu| item.given(cpu))
                }
                _ => {
                    let other = self.item(node, "");
                    self.unknown(&other, item.name, &["AffinityGroupAssignment"]);
                    None
                }
            };
            self.command.cpus.extend(cpu.map(|it| Given { value: it.value as u32, span: it.span }));
        }
    }

    fn item<'a, 'i>(&self, node: Node<'a, 'i>, name: &'static str) -> Item<'a, 'i> {
        let range = node.range();
        let written = &node.document().input_text()[range.clone()];
        let ends_tag = |c: char| c.is_whitespace() || matches!(c, '>' | '/');
        let n_bytes = written.find(ends_tag).unwrap_or(written.len());
        let span = self.places.span(&(range.start..range.start + n_bytes));
        Item { node, name, span }
    }
}

/// Puts elements in the place of the options that a text quotes.
fn in_elements(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(idx, part)| match element_of(part) {
        Some(name) if idx % 2 == 1 => format!("<{name}>"),
        Some(_) | None => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}
