//! TOML into needs, with every mistake and its place.

use std::ops::Range;

use plan::keys::{Findings, Keys, read_toml};
use plan::{Diagnostic, Severity};
use toml::Spanned;
use toml::de::DeValue;

use crate::check::{check_amount, check_figure, check_load};
use crate::figure::BY_HAND;
use crate::needs::Schema;
use crate::phase::check_hours;
use crate::{
    Amount, FACTOR_MAX, Figure, Growth, Label, MachineNeed, NeedLoad, NeedPhase, NeedSource,
    NeedVolume, Needs, Percentile, PhaseName, PhaseRule, SCHEMA, VolumeUse, Window,
};

/// Most volumes and phases: more are no file of a person or a capture.
const PARTS_MAX: usize = 10_000;

/// Returns whether a text is a file of needs: by its schema, or by a phase, which nothing else has.
pub fn declares(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let has_phase = lines.any(|line| line.starts_with("[[phase]]"));
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let has_schema = |line: &str| line.starts_with("schema") && line.contains("plimsoll.needs");
    has_phase || first.is_some_and(has_schema)
}

/// Reads a file of needs. There are some unless a finding is an error.
///
/// Findings are all there are, each with its place in the text, source 0.
pub fn parse(text: &str) -> (Option<Needs>, Vec<Diagnostic>) {
    let (needs, mut findings) =
        read_toml(text, |keys, findings| Reader { findings, volumes: Vec::new() }.root(keys));
    if findings.iter().any(|it| it.code == "syntax") {
        // A volume that seems to be missing may stand in the line that cannot be read.
        findings.retain(|it| it.code == "syntax" || it.severity != Severity::Error);
    }
    (needs, findings)
}

/// The parts of the day of a phase, each with its place.
type Hours = Vec<(Window, Range<usize>)>;

struct Reader<'a, 'text> {
    findings: &'a mut Findings<'text>,
    /// Names of the volumes that there are.
    volumes: Vec<String>,
}

impl Reader<'_, '_> {
    fn root(&mut self, mut keys: Keys<'_>) -> Needs {
        if let Some((schema, at)) = keys.text("schema", self.findings)
            && schema != SCHEMA
        {
            let text = format!("`schema` is `{schema}`; this version reads `{SCHEMA}`");
            self.findings.error("unknown-schema", &at, text);
        }
        let mut needs = Needs {
            schema: Schema,
            name: self.text(&mut keys, "name").unwrap_or_default(),
            series: self.text(&mut keys, "series"),
            percentile: self.percentile(&mut keys),
            growth: self.growth(&mut keys),
            peak_factor: keys
                .number("peak_factor", self.findings)
                .map(|(factor, at)| self.factor("peak_factor", factor, 1.0, &at)),
            cpus: keys
                .count("cpus", self.findings)
                .map(|(n, _)| u32::try_from(n).unwrap_or(u32::MAX)),
            machine: self.machine(&mut keys),
            ..Needs::default()
        };
        let notes = keys.texts("notes", self.findings);
        needs.notes = notes.into_iter().map(|(text, _)| text.to_owned()).collect();
        let sources = keys.tables("source", self.findings);
        needs.sources = sources.into_iter().map(|keys| self.source(keys)).collect();
        let volumes = keys.tables("volume", self.findings);
        let phases = keys.tables("phase", self.findings);
        self.check_count(&keys.at, volumes.len() + phases.len());
        if volumes.is_empty() {
            let text = "there is no volume: write `[[volume]]` with its `name`";
            self.findings.error("missing-key", &keys.at, text);
        }
        needs.volumes = volumes.into_iter().map(|keys| self.volume(keys)).collect();
        let at: Vec<Range<usize>> = phases.iter().map(|keys| keys.at.clone()).collect();
        let read = phases.into_iter().map(|keys| self.phase(keys));
        let (phases, hours): (Vec<NeedPhase>, Vec<Hours>) = read.unzip();
        needs.phases = phases;
        self.check_phases(&needs.phases, &at, &hours);
        keys.finish(self.findings);
        needs
    }

    fn check_count(&mut self, at: &Range<usize>, n_parts: usize) {
        if n_parts > PARTS_MAX {
            let text = format!(
                "there are {n_parts} volumes and phases, but a file has {PARTS_MAX} at most"
            );
            self.findings.error("out-of-range", at, text);
        }
    }

    fn text(&mut self, keys: &mut Keys<'_>, name: &'static str) -> Option<String> {
        keys.text(name, self.findings).map(|(text, _)| text.to_owned())
    }

    /// Reads a key that must be there.
    fn required(&mut self, keys: &mut Keys<'_>, name: &'static str) -> (String, Range<usize>) {
        let found = keys.text(name, self.findings);
        if keys.get(name).is_none() {
            let text = format!("`{name}` is missing");
            self.findings.error("missing-key", &keys.at.clone(), text);
        }
        found.map_or((String::new(), keys.at.clone()), |(text, at)| (text.to_owned(), at))
    }

    fn percentile(&mut self, keys: &mut Keys<'_>) -> Percentile {
        let Some((word, at)) = keys.text("percentile", self.findings) else {
            return Percentile::default();
        };
        let known = Percentile::ALL.into_iter().find(|percentile| percentile.word() == word);
        known.unwrap_or_else(|| {
            let words = Percentile::ALL.map(Percentile::word).join(", ");
            let text = format!("`percentile` is `{word}`: write one of {words}");
            self.findings.error("bad-value", &at, text);
            Percentile::default()
        })
    }

    /// Reads a factor for all, or one each for capacity and load.
    fn growth(&mut self, keys: &mut Keys<'_>) -> Option<Growth> {
        const LEAST: f64 = 0.01;
        let value = keys.get("growth")?;
        if !matches!(value.get_ref(), DeValue::Table(_)) {
            let (factor, at) = keys.number("growth", self.findings)?;
            let factor = self.factor("growth", factor, LEAST, &at);
            return Some(Growth { capacity: factor, load: factor });
        }
        let mut keys = keys.table("growth", self.findings)?;
        let mut factor = |name| {
            let found = keys.number(name, self.findings);
            found.map_or(1.0, |(factor, at)| self.factor(name, factor, LEAST, &at))
        };
        let growth = Growth { capacity: factor("capacity"), load: factor("load") };
        keys.finish(self.findings);
        Some(growth)
    }

    fn factor(&mut self, name: &str, factor: f64, least: f64, at: &Range<usize>) -> f64 {
        if !(least..=FACTOR_MAX).contains(&factor) {
            let text = format!(
                "`{name}` is {}: a factor of {least} to {FACTOR_MAX} is expected, such as 1.5 for \
                 half as much again",
                crate::number(factor)
            );
            self.findings.error("out-of-range", at, text);
        }
        factor.clamp(least, FACTOR_MAX)
    }

    fn machine(&mut self, keys: &mut Keys<'_>) -> MachineNeed {
        let Some(mut keys) = keys.table("machine", self.findings) else {
            return MachineNeed::default();
        };
        let machine = MachineNeed {
            cpus: self.amount(&mut keys, "cpus"),
            memory_gib: self.amount(&mut keys, "memory_gib"),
        };
        keys.finish(self.findings);
        machine
    }

    fn source(&mut self, mut keys: Keys<'_>) -> NeedSource {
        let source = NeedSource {
            name: self.required(&mut keys, "name").0,
            form: self.text(&mut keys, "form").unwrap_or_default(),
            clock: self.text(&mut keys, "clock").unwrap_or_default(),
        };
        keys.finish(self.findings);
        source
    }

    fn volume(&mut self, mut keys: Keys<'_>) -> NeedVolume {
        let (name, name_at) = self.required(&mut keys, "name");
        if let Some(c) = name.chars().find(|c| c.is_control()) {
            let text = format!(
                "`name` holds {c:?}, a control character: write letters, digits and punctuation"
            );
            self.findings.error("bad-value", &name_at, text);
        }
        if self.volumes.contains(&name) && !name.is_empty() {
            let text = format!("there are two volumes `{name}`: give one another name");
            self.findings.error("same-name", &name_at, text);
        }
        self.volumes.push(name.clone());
        let volume = NeedVolume {
            name,
            usage: self.usage(&mut keys),
            capacity_gib: self.amount(&mut keys, "capacity_gib"),
            used_gib: self.amount(&mut keys, "used_gib"),
            working_set_gib: self.amount(&mut keys, "working_set_gib"),
            hit_percent: self.amount(&mut keys, "hit_percent"),
            latency_ms_max: self.amount(&mut keys, "latency_ms_max"),
            is_shared: keys.flag("shared", self.findings),
            growth: self.growth(&mut keys),
        };
        if let Err((key, text)) = check_volume(&volume) {
            let at = keys.get(key).map_or(keys.at.clone(), Spanned::span);
            self.findings.error("contradiction", &at, text);
        }
        keys.finish(self.findings);
        volume
    }

    fn usage(&mut self, keys: &mut Keys<'_>) -> Option<VolumeUse> {
        let (word, at) = keys.text("use", self.findings)?;
        let known = VolumeUse::ALL.into_iter().find(|usage| usage.word() == word);
        if known.is_none() {
            let text = format!("`use` is `{word}`: write data, log or temp");
            self.findings.error("bad-value", &at, text);
        }
        known
    }

    /// Reads a phase, and its parts of the day with their places.
    fn phase(&mut self, mut keys: Keys<'_>) -> (NeedPhase, Hours) {
        let (name, name_at) = self.required(&mut keys, "name");
        let parsed = PhaseName::parse(&name);
        if let Err(text) = parsed.as_ref().map_err(Clone::clone)
            && !name.is_empty()
        {
            self.findings.error("bad-value", &name_at, text);
        }
        let (mut hours, mut windows) = (Vec::new(), Vec::new());
        for (text, at) in keys.texts("hours", self.findings) {
            match Window::parse(text) {
                Ok(window) => windows.push((window, at)),
                Err(text) => self.findings.error("bad-value", &at, text),
            }
            hours.push(text.to_owned());
        }
        let mut phase = NeedPhase {
            name: parsed.unwrap_or_default(),
            hours,
            captured_s: keys.number("captured_s", self.findings).map(|(value, _)| value),
            cpu_percent: self.figure(&mut keys, "cpu_percent"),
            memory_gib: self.figure(&mut keys, "memory_gib"),
            memory_percent: self.figure(&mut keys, "memory_percent"),
            volumes: Vec::new(),
        };
        for keys in keys.tables("volume", self.findings) {
            let at = keys.at.clone();
            let load = self.load(keys);
            if phase.load(&load.name).is_some() {
                let text = format!("volume `{}` stands twice in phase {name}", load.name);
                self.findings.error("same-name", &at, text);
            }
            phase.volumes.push(load);
        }
        keys.finish(self.findings);
        (phase, windows)
    }

    fn load(&mut self, mut keys: Keys<'_>) -> NeedLoad {
        let (name, name_at) = self.required(&mut keys, "name");
        if !name.is_empty() && !self.volumes.contains(&name) {
            let text = format!("no `[[volume]]` is called `{name}`");
            let mut mistake = Diagnostic::error("unknown-volume", text);
            let near = units::nearest(&name, self.volumes.iter().map(String::as_str));
            if let Some(near) = near.first() {
                mistake = mistake.help(format!("did you mean `{near}`?"));
            }
            self.findings.add(mistake, &name_at);
        }
        let load = NeedLoad {
            name,
            iops: self.figure(&mut keys, "iops"),
            throughput_mb_s: self.figure(&mut keys, "throughput_mb_s"),
            io_size_kib: self.figure(&mut keys, "io_size_kib"),
            read_percent: self.figure(&mut keys, "read_percent"),
            random_percent: self.figure(&mut keys, "random_percent"),
            latency_ms: self.figure(&mut keys, "latency_ms"),
            queue_depth: self.figure(&mut keys, "queue_depth"),
            burst_peak_to_mean: self.amount(&mut keys, "burst_peak_to_mean"),
            burst_dispersion: self.amount(&mut keys, "burst_dispersion"),
        };
        for (key, text) in check_load(&load) {
            let at = keys.get(key).map_or(keys.at.clone(), toml::Spanned::span);
            self.findings.error("contradiction", &at, text);
        }
        keys.finish(self.findings);
        load
    }

    /// Reads a figure: one number, or a table of percentiles.
    fn figure(&mut self, keys: &mut Keys<'_>, name: &'static str) -> Option<Figure> {
        let value = keys.get(name)?;
        let at = value.span();
        let figure = match value.get_ref() {
            DeValue::Table(table) => {
                let mut keys = Keys::new(table, at.clone());
                let (label, source) = self.origin(&mut keys);
                let number = |name| keys.number(name, self.findings).map(|(value, _)| value);
                let figure = Figure::of_keys(number, label, source);
                keys.finish(self.findings);
                figure
            }
            DeValue::Integer(_) | DeValue::Float(_) => {
                Figure::by_hand(keys.number(name, self.findings)?.0)
            }
            other => {
                let kind = other.type_str();
                let text = format!(
                    "`{name}` is of type {kind}, expected a number, or {{ p50 = .., p99 = .. }}"
                );
                self.findings.error("wrong-type", &at, text);
                return None;
            }
        };
        match check_figure(name, &figure) {
            Ok(()) => Some(figure),
            Err(text) => {
                self.findings.error("contradiction", &at, text);
                None
            }
        }
    }

    /// Reads an amount: one number, or a table with its label and source.
    fn amount(&mut self, keys: &mut Keys<'_>, name: &'static str) -> Option<Amount> {
        let value = keys.get(name)?;
        let at = value.span();
        let amount = match value.get_ref() {
            DeValue::Table(table) => {
                let mut keys = Keys::new(table, at.clone());
                if keys.get("value").is_none() {
                    let text = format!("`{name}` has no `value`");
                    self.findings.error("missing-key", &at, text);
                }
                let value = keys.number("value", self.findings);
                let (label, source) = self.origin(&mut keys);
                keys.finish(self.findings);
                Amount { value: value?.0, label, source }
            }
            DeValue::Integer(_) | DeValue::Float(_) => {
                Amount::by_hand(keys.number(name, self.findings)?.0)
            }
            other => {
                let kind = other.type_str();
                let text = format!("`{name}` is of type {kind}, expected a number");
                self.findings.error("wrong-type", &at, text);
                return None;
            }
        };
        match check_amount(name, &amount) {
            Ok(()) => Some(amount),
            Err(text) => {
                self.findings.error("out-of-range", &at, text);
                None
            }
        }
    }

    fn origin(&mut self, keys: &mut Keys<'_>) -> (Label, String) {
        let source = self.text(keys, "source").unwrap_or_else(|| BY_HAND.to_owned());
        let Some((word, at)) = keys.text("label", self.findings) else {
            return (Label::default(), source);
        };
        let known = Label::ALL.into_iter().find(|label| label.word() == word);
        if known.is_none() {
            let text = format!("`label` is `{word}`: write measured, estimated or assumed");
            self.findings.error("bad-value", &at, text);
        }
        (known.unwrap_or_default(), source)
    }

    /// Makes sure that phases have names and hours of their own.
    fn check_phases(&mut self, phases: &[NeedPhase], at: &[Range<usize>], hours: &[Hours]) {
        for (idx, phase) in phases.iter().enumerate() {
            if phases[..idx].iter().any(|other| other.name == phase.name) {
                let text = format!("there are two phases {}: write one of each", phase.name);
                self.findings.error("same-name", &at[idx], text);
            }
        }
        let rule = |(phase, hours): (&NeedPhase, &Hours)| PhaseRule {
            name: phase.name,
            windows: hours.iter().map(|(window, _)| *window).collect(),
        };
        let rules: Vec<PhaseRule> = phases.iter().zip(hours).map(rule).collect();
        for clash in check_hours(&rules) {
            // The part of the day of the later phase, which is the one that may not be there.
            let mut own = hours[clash.other_idx].iter();
            if let Some((_, at)) = own.find(|(window, _)| window.holds(clash.minute)) {
                self.findings.error("contradiction", at, clash.to_string());
            }
        }
    }
}

/// Checks what is said of a volume against itself.
///
/// # Errors
/// Returns the key that is wrong, and why.
fn check_volume(volume: &NeedVolume) -> Result<(), (&'static str, String)> {
    let value = |amount: &Option<Amount>| amount.as_ref().map(|amount| amount.value);
    let (capacity, used) = (value(&volume.capacity_gib), value(&volume.used_gib));
    let working_set = value(&volume.working_set_gib);
    let name = &volume.name;
    let number = crate::number;
    if capacity == Some(0.0) {
        let text = format!("volume `{name}`: `capacity_gib` is 0: leave it out where any will do");
        return Err(("capacity_gib", text));
    }
    let parts =
        [("used_gib", "in use", used), ("working_set_gib", "read again and again", working_set)];
    for (key, what, part) in parts {
        if let Some((part, capacity)) = part.zip(capacity)
            && part > capacity
        {
            let (part, capacity) = (number(part), number(capacity));
            let text = format!("volume `{name}`: {part} GiB are {what}, but it holds {capacity}");
            return Err((key, text));
        }
    }
    if volume.hit_percent.is_some() && volume.working_set_gib.is_some() {
        let text =
            format!("volume `{name}` has `hit_percent` and `working_set_gib`: write one of them");
        return Err(("hit_percent", text));
    }
    if value(&volume.latency_ms_max) == Some(0.0) {
        let text = format!("volume `{name}`: `latency_ms_max` is 0, which nothing can meet");
        return Err(("latency_ms_max", text));
    }
    Ok(())
}
