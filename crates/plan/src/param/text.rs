//! Texts made from the table: explanations, the reference page, fio's `--cmdhelp`, completion.

use std::fmt::Write as _;

use units::letters;

use super::engines::{ENGINES, find_engine};
use super::entry::{Category, Choice, Param, Support, TimeUnit, ValueKind};
use super::index;
use super::index::{Names, all, find, find_fio};
use super::workload::ACCESS_WORDS;

/// Width of explanations, in columns.
const WIDTH: usize = 80;

/// Explains a parameter, named in any dialect, as plain text of at most 80 columns: names, values,
/// unit, default, meaning, and an example line of a fio job file. `None` when there is none.
pub fn explain(name: &str) -> Option<String> {
    let param = find_any(name)?;
    let mut text = format!("{}: {}\n\n", param.name, param.short);
    for (label, value) in facts(param) {
        field(&mut text, label, &value);
    }
    let words = words(param);
    if !words.is_empty() {
        text.push_str("\n  values\n");
        for (names, help) in words {
            wrap(&mut text, &format!("    {:<14} ", names.join(", ")), help, 19);
        }
    }
    text.push('\n');
    wrap(&mut text, "", &param.long.replace('`', ""), 0);
    if let Some(fio) = param.fio.first().filter(|_| is_usable(param)) {
        let _ = writeln!(text, "\nExample (fio job file):\n    {}", example(fio, param));
    }
    Some(text)
}

/// Makes the reference of all parameters as Markdown, by chapter.
pub fn reference_markdown() -> String {
    let mut page = String::from(
        "# Parameters\n\nGenerated from the registry. Each parameter is listed by our name; files \
         of other tools use\nthe names given for them. Parameters of engines that are not built in \
         stand at the end.\n",
    );
    let mut chapter = None;
    let (foreign, here): (Vec<_>, Vec<_>) =
        all().partition(|param| matches!(param.support, Support::NeedsEngine));
    for param in here {
        if chapter != Some(param.category()) {
            chapter = Some(param.category());
            let _ = write!(page, "\n## {}\n", param.category().title());
        }
        entry_markdown(&mut page, param);
    }
    page.push_str("\n## Engines that are not built in\n\n| parameter | fio | engine | meaning |\n");
    page.push_str("|---|---|---|---|\n");
    for param in foreign {
        let engine = param.missing_engines();
        let (name, fio, short) = (param.name, code_list(param.fio), cell(param.short));
        let _ = writeln!(page, "| `{name}` | {fio} | {engine} | {short} |");
    }
    page
}

/// Returns every word that a shell may complete: our names and fio's with their aliases, sorted.
pub fn completion_words() -> Vec<&'static str> {
    let mut words: Vec<&'static str> = all().flat_map(|param| Names::Both.of(param)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Describes an option of fio in the layout of `fio --cmdhelp=NAME`, or all of them, one line each,
/// for `all`. An unknown name gives fio's line for it and what is near.
pub fn cmdhelp(name: &str) -> String {
    if name == "all" {
        return cmdhelp_all();
    }
    let Some(param) = find_fio(name) else {
        let mut text = format!("No such command: {name}\n");
        let near = index::suggest(name, Names::Fio);
        if !near.is_empty() {
            let _ = writeln!(text, "Did you mean: {}", near.join(", "));
        }
        return text;
    };
    let canonical = param.fio_name();
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:>20}: {value}");
    };
    line(canonical, param.short);
    for alias in param.fio.iter().skip(1) {
        line("alias", alias);
    }
    let (form, examples) = param.kind.form();
    let examples = if examples.is_empty() { String::new() } else { format!(" (opt={examples})") };
    line("type", &format!("{form}{examples}"));
    line("default", if param.default.is_empty() { "no default" } else { param.default });
    for (idx, (names, help)) in words(param).into_iter().enumerate() {
        let label = if idx == 0 { "valid values" } else { "" };
        line(label, &format!("{:<10} {help}", names[0]));
    }
    if let Some((min, max)) = range(param.kind) {
        line("range", &format!("min={min}, max={max}"));
    }
    if let Some(status) = support_text(param) {
        line("support", &status);
    }
    text.push('\n');
    text
}

fn cmdhelp_all() -> String {
    let mut text = String::new();
    for param in all().filter(|param| !matches!(param.support, Support::NeedsEngine)) {
        if let Some(name) = param.fio.first() {
            let _ = writeln!(text, "{name:<24}: {}", param.short);
        }
    }
    text
}

impl Category {
    /// Returns the chapter's title in the reference.
    pub fn title(self) -> &'static str {
        self.names().0
    }

    /// Returns the word for it where there is no room for more.
    pub fn word(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Category::General => ("Jobs", "job"),
            Category::Target => ("Targets", "files"),
            Category::Workload => ("Workload", "access"),
            Category::Engine => ("Engines", "engine"),
            Category::Load => ("Load", "load"),
            Category::Time => ("Start, stop and order", "time"),
            Category::Buffers => ("Buffers", "buffers"),
            Category::Verify => ("Verification", "verify"),
            Category::Zones => ("Zones and placement", "zones"),
            Category::Process => ("Workers' surroundings", "workers"),
            Category::Report => ("Results", "results"),
            Category::Logs => ("Logs", "logs"),
            Category::Errors => ("Errors and safety", "errors"),
            Category::Replay => ("Recording and replay", "replay"),
        }
    }
}

impl Param {
    /// Returns the engines that know it and are not built in, in words.
    fn missing_engines(&self) -> String {
        let is_missing = |name: &&str| find_engine(name).is_none_or(|engine| engine.kind.is_none());
        let missing: Vec<&str> = self.engines.iter().copied().filter(is_missing).collect();
        match missing.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            _ => missing.concat(),
        }
    }

    /// Returns the unit of a value without suffix (`bytes`, `ms`, `%`), or an empty text.
    pub fn unit(&self) -> &'static str {
        match self.kind {
            ValueKind::Time(unit) | ValueKind::TimeRange(unit) | ValueKind::TimePerDir(unit) => {
                match unit {
                    TimeUnit::Seconds => "s",
                    TimeUnit::Milliseconds => "ms",
                    TimeUnit::Microseconds => "us",
                }
            }
            ValueKind::Size { .. }
            | ValueKind::SizeRange
            | ValueKind::BlockRange
            | ValueKind::BlockSplit => "bytes",
            ValueKind::Flag
            | ValueKind::Bool
            | ValueKind::Int { .. }
            | ValueKind::IntPerDir { .. }
            | ValueKind::Float { .. }
            | ValueKind::FloatList { .. }
            | ValueKind::Enum(_)
            | ValueKind::Str
            | ValueKind::OptionalStr
            | ValueKind::PathList
            | ValueKind::NumberList
            | ValueKind::Access
            | ValueKind::PrioritySplit
            | ValueKind::Distribution
            | ValueKind::Pattern { .. }
            | ValueKind::Words => {
                let suffix = self.name.rsplit('_').next().unwrap_or_default();
                let units = [
                    ("bytes", "bytes"),
                    ("mib", "MiB"),
                    ("pct", "%"),
                    ("s", "s"),
                    ("ms", "ms"),
                    ("us", "us"),
                    ("rate", "bytes/s"),
                    ("iops", "I/Os per s"),
                ];
                let known = units.iter().find(|(end, _)| *end == suffix);
                known.filter(|_| !is_word(self.kind)).map_or("", |(_, unit)| unit)
            }
        }
    }
}

fn find_any(name: &str) -> Option<&'static Param> {
    let by_name = find(name).or_else(|| find_fio(name));
    // Vdbench's names stand below a definition: `xfersize` of `wd=` is `wd.xfersize` here.
    let is_vdbench = |full: &str| full.rsplit('.').next() == Some(name) || full == name;
    let by_vdbench = || all().find(|param| !name.is_empty() && is_vdbench(param.vdbench));
    let by_diskspd = || all().find(|param| param.diskspd.contains(&name));
    // Those are words, in which case and marks tell nothing.
    let by_iometer =
        || all().find(|param| param.iometer.iter().any(|word| letters(word) == letters(name)));
    by_name.or_else(by_vdbench).or_else(by_diskspd).or_else(by_iometer)
}

fn is_word(kind: ValueKind) -> bool {
    matches!(
        kind,
        ValueKind::Flag | ValueKind::Bool | ValueKind::Enum(_) | ValueKind::Str | ValueKind::Words
    )
}

fn is_usable(param: &Param) -> bool {
    matches!(param.support, Support::Full | Support::NoEffect(_))
}

/// Returns the labelled facts of a parameter, in the order in which every page shows them.
fn facts(param: &Param) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if !param.fio.is_empty() {
        facts.push(("fio", param.fio.join(", ")));
    }
    if !param.vdbench.is_empty() {
        facts.push(("Vdbench", param.vdbench.to_owned()));
    }
    if !param.diskspd.is_empty() {
        facts.push(("diskspd", param.diskspd.join(", ")));
    }
    if !param.iometer.is_empty() {
        facts.push(("Iometer", param.iometer.join(", ")));
    }
    facts.push((
        "type",
        match param.kind.form() {
            (form, "") => form.to_owned(),
            (form, examples) => format!("{form}, such as {examples}"),
        },
    ));
    if !param.unit().is_empty() {
        facts.push(("unit", param.unit().to_owned()));
    }
    if !param.default.is_empty() {
        facts.push(("default", param.default.to_owned()));
    }
    if let Some((min, max)) = range(param.kind) {
        facts.push(("range", format!("{min} to {max}")));
    }
    if let Some(status) = support_text(param) {
        facts.push(("support", status));
    }
    facts
}

fn entry_markdown(page: &mut String, param: &Param) {
    let _ = write!(page, "\n### `{}`\n\n", param.name);
    for (label, value) in facts(param) {
        let value = match label {
            "fio" => code_list(param.fio),
            "diskspd" => code_list(param.diskspd),
            "default" | "Vdbench" => format!("`{value}`"),
            _ => value,
        };
        let _ = writeln!(page, "- {label}: {value}");
    }
    let words = words(param);
    if !words.is_empty() {
        page.push_str("- values:\n");
        for (names, help) in words {
            let _ = writeln!(page, "  - {}: {help}", code_list(&names));
        }
    }
    let _ = write!(page, "\n{}\n", param.long);
}

fn code_list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Returns the words that a parameter takes, each with its other spellings and what it means.
fn words(param: &Param) -> Vec<(Vec<&'static str>, &'static str)> {
    match param.kind {
        ValueKind::Enum(choices) => choices.iter().map(spellings).collect(),
        ValueKind::Access => ACCESS_WORDS.iter().map(spellings).collect(),
        _ if param.name == "engine" => {
            let built_in = ENGINES.iter().filter(|engine| engine.kind.is_some());
            built_in.map(|engine| (vec![engine.name], engine.doc)).collect()
        }
        ValueKind::Flag
        | ValueKind::Bool
        | ValueKind::Int { .. }
        | ValueKind::IntPerDir { .. }
        | ValueKind::Size { .. }
        | ValueKind::SizeRange
        | ValueKind::Time(_)
        | ValueKind::TimeRange(_)
        | ValueKind::TimePerDir(_)
        | ValueKind::Float { .. }
        | ValueKind::FloatList { .. }
        | ValueKind::Str
        | ValueKind::OptionalStr
        | ValueKind::PathList
        | ValueKind::NumberList
        | ValueKind::BlockRange
        | ValueKind::BlockSplit
        | ValueKind::PrioritySplit
        | ValueKind::Distribution
        | ValueKind::Pattern { .. }
        | ValueKind::Words => Vec::new(),
    }
}

/// Returns the words that a parameter takes and that look most like `value`, nearest first; none
/// when nothing is near.
pub fn suggest_value(param: &Param, value: &str) -> Vec<&'static str> {
    let words = words(param).into_iter().flat_map(|(names, _)| names);
    units::nearest(value, words)
}

fn spellings(choice: &Choice) -> (Vec<&'static str>, &'static str) {
    let mut names = vec![choice.name];
    names.extend(choice.aliases);
    (names, choice.help)
}

impl ValueKind {
    /// Returns what a value looks like, to be read behind "write" or "takes", and gives an example
    /// where there is one.
    pub fn form(self) -> (&'static str, &'static str) {
        match self {
            ValueKind::Flag => ("nothing, 1 or 0", ""),
            ValueKind::Bool => ("1 or 0", ""),
            ValueKind::Int { .. } => ("a whole number", ""),
            ValueKind::IntPerDir { .. } => {
                ("a whole number, or one each for reads, writes and trims", "4k,64k,4k")
            }
            ValueKind::Size { percent: true, zones: true } => {
                ("bytes, a percentage or zones", "1g, 50%, 4z")
            }
            ValueKind::Size { percent: true, zones: false } => ("bytes or a percentage", "1g, 50%"),
            ValueKind::Size { percent: false, .. } => ("bytes", "1g"),
            ValueKind::SizeRange => ("bytes, or a range", "1m-4m"),
            ValueKind::Time(TimeUnit::Seconds) => ("a time with its unit", "30s"),
            ValueKind::Time(TimeUnit::Milliseconds | TimeUnit::Microseconds) => {
                ("a time with its unit", "500us")
            }
            ValueKind::TimeRange(_) => ("a time with its unit, or a range", "5s-30s"),
            ValueKind::TimePerDir(_) => {
                ("a time with its unit, or one each for reads, writes and trims", "20ms,10ms,1s")
            }
            ValueKind::Float { .. } => ("a number", ""),
            ValueKind::FloatList { .. } => ("numbers separated by colons", "50:99:99.9"),
            ValueKind::Enum(_) => ("one of the values", ""),
            ValueKind::Str => ("text", ""),
            ValueKind::OptionalStr => ("text, or nothing", ""),
            ValueKind::PathList => ("paths separated by colons", "/mnt/a/file:/mnt/b/file"),
            ValueKind::NumberList => ("numbers and ranges separated by commas", "0,2,4-7"),
            ValueKind::Access => ("directions, with an optional number", "randread:8"),
            ValueKind::BlockRange => ("the smallest and the largest size, per direction", "4k-64k"),
            ValueKind::BlockSplit => ("sizes with shares, per direction", "4k/60:64k/40"),
            ValueKind::PrioritySplit => {
                ("sizes with shares and priorities, for reads and writes", "64k/25/1/1:4k/10")
            }
            ValueKind::Distribution => ("a distribution with parameters", "zipf:1.2"),
            ValueKind::Pattern { offset: true } => ("bytes, text in quotes, %o", "0xdeadbeef%o"),
            ValueKind::Pattern { offset: false } => ("bytes or text in quotes", "0xdeadbeef"),
            ValueKind::Words => ("a word, perhaps with a number behind a colon", ""),
        }
    }
}

fn range(kind: ValueKind) -> Option<(String, String)> {
    let whole = |end: i64| if end == i64::MAX { "no limit".to_owned() } else { end.to_string() };
    match kind {
        ValueKind::Int { min, max } | ValueKind::IntPerDir { min, max } => {
            Some((min.to_string(), whole(max)))
        }
        ValueKind::Float { min, max } | ValueKind::FloatList { min, max, .. } => {
            Some((min.to_string(), max.to_string()))
        }
        ValueKind::Flag
        | ValueKind::Bool
        | ValueKind::Size { .. }
        | ValueKind::SizeRange
        | ValueKind::Time(_)
        | ValueKind::TimeRange(_)
        | ValueKind::TimePerDir(_)
        | ValueKind::Enum(_)
        | ValueKind::Str
        | ValueKind::OptionalStr
        | ValueKind::PathList
        | ValueKind::NumberList
        | ValueKind::Access
        | ValueKind::BlockRange
        | ValueKind::BlockSplit
        | ValueKind::PrioritySplit
        | ValueKind::Distribution
        | ValueKind::Pattern { .. }
        | ValueKind::Words => None,
    }
}

fn support_text(param: &Param) -> Option<String> {
    match param.support {
        Support::Full => None,
        Support::NoEffect(why) => Some(format!("accepted without effect: {why}")),
        Support::Later(why) | Support::Hint(why) => Some(format!("later: {why}")),
        Support::NeedsEngine => {
            Some(format!("needs the engine {}, not built in", param.missing_engines()))
        }
        Support::Removed(instead) => Some(format!("removed from fio: {instead}")),
    }
}

/// Returns a line for a job file with a value that the kind accepts.
fn example(fio: &str, param: &Param) -> String {
    let value = match param.kind {
        ValueKind::Flag | ValueKind::OptionalStr => return fio.to_owned(),
        ValueKind::Bool if param.default == "1" => "0",
        ValueKind::Bool => "1",
        ValueKind::Int { min, max } | ValueKind::IntPerDir { min, max } => match param.unit() {
            "bytes" | "bytes/s" if max > i64::from(u16::MAX) => "64k",
            "ms" | "I/Os per s" if max > 1000 => "1000",
            _ => return format!("{fio}={}", 8_i64.clamp(min, max)),
        },
        ValueKind::Float { min, max } => return format!("{fio}={}", 0.5_f64.clamp(min, max)),
        ValueKind::Enum(choices) => choices.get(1).map_or("", |choice| choice.name),
        ValueKind::Str => example_text(fio),
        ValueKind::Words => example_words(fio),
        kind => kind.form().1.split(", ").next().unwrap_or_default(),
    };
    format!("{fio}={value}")
}

fn example_text(fio: &str) -> &'static str {
    match fio {
        "ioengine" => "io_uring",
        "filename_format" => "$jobname/$filenum",
        "ignore_error" => "EAGAIN,ENOSPC:ENOSPC",
        "numa_mem_policy" => "bind:0",
        "ioscheduler" => "none",
        "opendir" => "/mnt/tree",
        "exec_prerun" | "exec_postrun" => "sync",
        "include" => "common.fio",
        _ => "some-name",
    }
}

fn example_words(fio: &str) -> &'static str {
    match fio {
        "file_service_type" => "roundrobin:8",
        "sync_file_range" => "write:32",
        "mem" => "mmaphuge",
        _ => "iops_slope:1%",
    }
}

fn field(text: &mut String, label: &str, value: &str) {
    wrap(text, &format!("  {label:<8} "), value, 11);
}

/// Appends words after `first`, broken at the page's width, further lines indented.
fn wrap(text: &mut String, first: &str, words: &str, indent: usize) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in words.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(indent);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    text.push_str(line.trim_end());
    text.push('\n');
}
