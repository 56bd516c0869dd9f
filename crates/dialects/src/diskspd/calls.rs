//! What a script asks for, call by call, or a profile: time spans that run one after another.

use plan::job::Source;
use plan::{Diagnostic, Span};

use super::command::{Command, JOBS_MAX, TimeSpan};
use super::script::{self, Use};
use super::{options, profile};
use crate::dialect::wide_text;
use crate::{Loader, Overrides, foreign, windows};

/// What a text asks for.
pub(super) struct ReadScript {
    pub(super) time_spans: Vec<TimeSpan>,
    pub(super) findings: Vec<Diagnostic>,
    /// The text, and the profiles that it names.
    pub(super) sources: Vec<Source>,
}

/// Where profiles come from that a command line names.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    pub(super) overrides: &'a Overrides,
    pub(super) loader: &'a dyn Loader,
}

/// Reads a script, or a profile; `name` stands for its path. Of the time spans only those are
/// returned that are `wanted`; none is all.
pub(super) fn read(
    name: &str,
    text: &str,
    variables: &[(String, String)],
    wanted: &[String],
    files: Files<'_>,
) -> ReadScript {
    let source = Source { name: name.to_owned(), text: text.to_owned() };
    let asked = ReadScript { time_spans: Vec::new(), findings: Vec::new(), sources: vec![source] };
    let mut reader = Reader { asked, wanted, files };
    if foreign::is_diskspd_profile(text) {
        reader.profile(text);
    } else {
        reader.script(text, variables);
    }
    reader.unwanted();
    reader.asked
}

struct Reader<'a> {
    asked: ReadScript,
    wanted: &'a [String],
    files: Files<'a>,
}

impl Reader<'_> {
    fn report(&mut self, finding: Diagnostic) {
        self.asked.findings.push(finding);
    }

    fn is_wanted(&self, name: &str, number: u32) -> bool {
        let is_it = |wanted: &String| wanted == name || *wanted == number.to_string();
        self.wanted.is_empty() || self.wanted.iter().any(is_it)
    }

    fn profile(&mut self, text: &str) {
        let read = profile::read(text, 0);
        self.asked.findings.extend(read.findings);
        let is_wanted = |it: &TimeSpan| self.is_wanted(&it.name, it.number);
        self.asked.time_spans = read.time_spans.into_iter().filter(is_wanted).collect();
    }

    fn script(&mut self, text: &str, variables: &[(String, String)]) {
        let mut n_calls = 0;
        let mut others: Vec<Span> = Vec::new();
        for found in script::commands(text, variables) {
            let span = found.words.first().map(|word| word.span.clone()).unwrap_or_default();
            match found.of_diskspd() {
                Use::Other => others.push(span),
                Use::Unread(word) => {
                    n_calls += 1;
                    let text = format!("diskspd is called by `{}`, which is not run", word.text);
                    let finding = Diagnostic::error("unread-call", text).at(span);
                    let help = "write each command line of diskspd on a line of its own";
                    self.report(finding.help(help));
                }
                Use::Call(words) => {
                    n_calls += 1;
                    if let Some(at) = found.open_quote.clone() {
                        let text = "a quote is opened and not closed";
                        self.report(Diagnostic::error("missing-quote", text).at(at));
                    }
                    self.call(words, span, found.pipe.clone());
                }
            }
        }
        if n_calls == 0 {
            let text = "no line calls diskspd";
            let finding = Diagnostic::error("no-jobs", text);
            self.report(finding.help("a line is `diskspd`, its options, and its targets"));
        }
        if let Some(first) = others.first() {
            let n = others.len();
            let text = match n {
                1 => "a command that is none of diskspd is left out".to_owned(),
                _ => format!("{n} commands that are none of diskspd are left out, from here on"),
            };
            self.report(Diagnostic::note("left-out", text).at(first.clone()));
        }
    }

    fn call(&mut self, words: &[script::Word], span: Span, pipe: Option<Span>) {
        let (command, findings) = options::read(words, span);
        let (name, number) = (command.options.clone(), command.span.line);
        let is_part = |wanted: &String| wanted.starts_with(&name_of(&name, &""));
        let is_wanted = self.is_wanted(&name, number)
            || (command.profile.is_some() && self.wanted.iter().any(is_part));
        if !is_wanted || self.asked.time_spans.len() as u64 > JOBS_MAX {
            return;
        }
        self.asked.findings.extend(findings);
        if let Some(at) = pipe {
            let text = "the program behind `|` is left out";
            self.report(Diagnostic::note("left-out", text).at(at));
        }
        if command.profile.is_some() {
            self.with_profile(&command);
        } else {
            self.asked.time_spans.push(TimeSpan { name, number, commands: vec![command] });
        }
    }

    /// Adds the time spans of the profile that a command line names.
    fn with_profile(&mut self, line: &Command) {
        let Some(given) = &line.profile else { return };
        let path = self.files.overrides.remapped(&windows::path(&given.value));
        let sources = &mut self.asked.sources;
        let known = sources.iter().skip(1).position(|it| it.name == path).map(|idx| idx + 1);
        let source_idx = match known {
            Some(source_idx) => source_idx,
            None => match wide_text(&path, self.files.loader) {
                Ok(text) => {
                    sources.push(Source { name: path, text });
                    sources.len() - 1
                }
                Err(error) => {
                    let text = format!("cannot read profile `{path}`: {error}");
                    let finding = Diagnostic::error("file-unreadable", text).at(given.span.clone());
                    return self.report(finding);
                }
            },
        };
        let text = &self.asked.sources[source_idx].text;
        let profile::Profile { mut time_spans, findings } = profile::read(text, source_idx as u32);
        for finding in findings {
            // Several lines may name it.
            if known.is_none() {
                self.report(finding);
            }
        }
        self.substitute(&mut time_spans, line);
        let n = time_spans.len();
        for mut time_span in time_spans {
            let of_profile = std::mem::replace(&mut time_span.number, line.span.line);
            time_span.name = match n {
                1 => line.options.clone(),
                _ => name_of(&line.options, &of_profile),
            };
            let is_line_wanted = self.is_wanted(&line.options, line.span.line);
            if !is_line_wanted && !self.is_wanted(&time_span.name, line.span.line) {
                continue;
            }
            for command in &mut time_span.commands {
                beside(line, command);
            }
            self.asked.time_spans.push(time_span);
        }
    }

    /// Puts the targets of a command line in the place of those that a profile numbers.
    fn substitute(&mut self, time_spans: &mut [TimeSpan], line: &Command) {
        let mut is_used = vec![false; line.targets.len()];
        let commands = time_spans.iter_mut().flat_map(|it| &mut it.commands);
        for target in commands.flat_map(|it| &mut it.targets) {
            let Some(number) = target.template().filter(|_| !is_used.is_empty()) else { continue };
            if let Some(own) = line.targets.get(number - 1) {
                is_used[number - 1] = true;
                target.name.clone_from(&own.name);
            } else {
                let text = format!("no target stands for `{}` on the command line", target.name);
                let finding = Diagnostic::error("no-target", text).at(target.span.clone());
                self.asked.findings.push(finding);
            }
        }
        let unused = line.targets.iter().zip(is_used).enumerate().filter(|(_, it)| !it.1);
        for (idx, (target, _)) in unused {
            let text = format!("no target of the profile is `*{}`", idx + 1);
            let finding = Diagnostic::error("unused-target", text).at(target.span.clone());
            self.report(finding.help("leave it out, or number the paths in the profile"));
        }
    }

    /// Reports what is wanted, and not there.
    fn unwanted(&mut self) {
        for wanted in self.wanted {
            let is_it = |it: &TimeSpan| *wanted == it.name || *wanted == it.number.to_string();
            let is_there = self.asked.time_spans.iter().any(is_it);
            let options = |it: &TimeSpan| it.whole().options == *wanted;
            if !is_there && !self.asked.time_spans.iter().any(options) {
                let text = format!("no command line or time span is `{wanted}`");
                let finding = Diagnostic::error("unknown-section", text);
                let help = "`--section` takes the number of a line, or all options as written; of \
                            a profile the number of a time span";
                self.report(finding.help(help));
            }
        }
    }
}

/// Returns the name of a time span of the profile that a command line names.
fn name_of(options: &str, number: &dyn std::fmt::Display) -> String {
    format!("{options}, time span {number}")
}

/// Puts what stands beside a profile in the place of what it says.
fn beside(line: &Command, command: &mut Command) {
    let times = [
        (&mut command.duration_s, &line.duration_s),
        (&mut command.warm_up_s, &line.warm_up_s),
        (&mut command.cool_down_s, &line.cool_down_s),
    ];
    for (own, given) in times.into_iter().filter(|(_, given)| given.is_some()) {
        own.clone_from(given);
    }
    if line.seed.is_some() {
        command.seed.clone_from(&line.seed);
    }
    command.is_xml = line.is_xml.or(command.is_xml);
    command.is_profile_only.clone_from(&line.is_profile_only);
    command.line.clone_from(&line.line);
    command.options.clone_from(&line.options);
}
