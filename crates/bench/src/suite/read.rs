//! TOML into a suite, with every mistake.

use std::collections::BTreeSet;
use std::ops::Range;

use plan::Diagnostic;
use plan::keys::{Findings, Keys, read_toml};
use toml::de::DeValue;

use super::read_part::{self, Defaults, required, text, within};
use super::{BYTES_MAX, Layout, Prepare, Rounds, SCHEMA, Size, Source, Suite, SuitePlace, steps};

/// Most steps of a suite, repeats and rounds not counted: more are a slip of the pen.
pub(super) const STEPS_MAX: usize = 10_000;

/// Reads a suite. There is one unless a mistake is an error.
pub fn parse(text: &str) -> (Option<Suite>, Vec<Diagnostic>) {
    read_toml(text, read)
}

fn read(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Suite {
    read_schema(&mut keys, findings);
    let name = required(&mut keys, "name", findings);
    let title = keys.text("title", findings).map_or(String::new(), |(text, _)| text.to_owned());
    let about = keys.text("about", findings).map_or(String::new(), |(text, _)| text.to_owned());
    let is_indicative = keys.flag("indicative", findings);
    let sources = keys.tables("source", findings);
    let sources: Vec<Source> = sources.into_iter().map(|keys| source(keys, findings)).collect();
    let places = keys.tables("place", findings);
    let places: Vec<SuitePlace> = places.into_iter().map(|keys| place(keys, findings)).collect();
    let layout = keys.table("layout", findings).map(|keys| layout(keys, findings));
    let prepare = match keys.table("prepare", findings) {
        Some(keys) => prepare(keys, findings),
        None => Prepare::default(),
    };
    let mut defaults = Defaults::default();
    if let Some(mut keys) = keys.table("defaults", findings) {
        defaults = defaults.read(&mut keys, findings);
        keys.finish(findings);
    }
    let parts = keys.tables("part", findings);
    if parts.is_empty() {
        findings.error("missing-key", &keys.at, "a suite needs at least one [[part]]");
    }
    let mut at = Spans { whole: keys.at.clone(), ..Spans::default() };
    at.parts = parts.iter().map(|keys| keys.at.clone()).collect();
    let parts = parts.into_iter().map(|keys| read_part::part(keys, &defaults, findings)).collect();
    let curve = keys.table("curve", findings).map(|keys| {
        at.curve = keys.at.clone();
        read_part::curve(keys, findings)
    });
    let rounds = keys.table("rounds", findings).map(|keys| {
        at.rounds = keys.at.clone();
        rounds(keys, findings)
    });
    keys.finish(findings);
    let suite = Suite {
        name,
        title,
        about,
        is_indicative,
        sources,
        places,
        layout,
        prepare,
        parts,
        curve,
        rounds,
    };
    check(&suite, &at, findings);
    suite
}

/// Where tables stand.
#[derive(Default)]
struct Spans {
    whole: Range<usize>,
    parts: Vec<Range<usize>>,
    curve: Range<usize>,
    rounds: Range<usize>,
}

fn read_schema(keys: &mut Keys<'_>, findings: &mut Findings<'_>) {
    match keys.text("schema", findings) {
        Some((SCHEMA, _)) => {}
        Some((other, at)) => {
            let text = format!("`schema` is `{other}`; this version reads `{SCHEMA}`");
            findings.error("unknown-schema", &at, text);
        }
        None => {
            let text = format!("a suite begins with `schema = \"{SCHEMA}\"`");
            findings.error("missing-key", &keys.at.clone(), text);
        }
    }
}

/// Checks what refers to something else.
fn check(suite: &Suite, at: &Spans, findings: &mut Findings<'_>) {
    let mut known_place = |place: &str, at: &Range<usize>| {
        if !place.is_empty() && suite.places.iter().all(|known| known.name != place) {
            let text = format!("no [[place]] is called `{place}`");
            findings.error("unknown-place", at, text);
        }
    };
    for (part, at) in suite.parts.iter().zip(&at.parts) {
        let of_loads = part.loads.iter().map(|load| &load.place);
        let places: BTreeSet<&String> = of_loads.chain([&part.place]).collect();
        for place in places {
            known_place(place, at);
        }
    }
    if let Some(curve) = &suite.curve {
        known_place(&curve.place, &at.curve);
    }
    for (part, at) in suite.parts.iter().zip(&at.parts) {
        let published = part.published.iter().map(|it| &it.source);
        let ids: BTreeSet<&String> =
            published.chain(part.targets.iter().map(|it| &it.source)).collect();
        for id in ids.into_iter().filter(|id| !id.is_empty()) {
            if suite.sources.iter().all(|known| known.id != *id) {
                findings.error("unknown-source", at, format!("no [[source]] has the id `{id}`"));
            }
        }
    }
    let n_steps = suite.parts.iter().map(steps::n_steps).fold(0, usize::saturating_add);
    if n_steps > STEPS_MAX {
        let text = format!("the parts make {n_steps} steps, but a suite has {STEPS_MAX} at most");
        findings.error("out-of-range", &at.whole, text);
        return;
    }
    check_steps(suite, at, findings);
}

/// Checks that steps have names of their own, and that rounds watch one of them.
fn check_steps(suite: &Suite, at: &Spans, findings: &mut Findings<'_>) {
    let all = steps::steps(suite, &steps::Order::default());
    if let Some(rounds) = &suite.rounds
        && all.iter().all(|step| step.label != rounds.tracked)
    {
        let near = units::nearest(&rounds.tracked, all.iter().map(|step| step.label.as_str()));
        let mut finding = Diagnostic::error(
            "unknown-step",
            format!("`tracked`: no step is called `{}`", rounds.tracked),
        );
        if let Some(near) = near.first() {
            finding = finding.help(format!("did you mean `{near}`?"));
        }
        findings.add(finding, &at.rounds);
    }
    let mut seen = BTreeSet::new();
    let twice = all.iter().find(|step| !seen.insert(step.label.as_str()));
    if let Some(step) = twice {
        let text = format!("two steps are called `{}`: give their parts names", step.label);
        let of_part = at.parts.get(step.part_idx).unwrap_or(&at.whole);
        findings.error("same-name", of_part, text);
    }
}

fn source(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Source {
    let source = Source {
        id: required(&mut keys, "id", findings),
        document: required(&mut keys, "document", findings),
        date: text(&mut keys, "date", findings),
        section: text(&mut keys, "section", findings),
        url: text(&mut keys, "url", findings),
    };
    keys.finish(findings);
    source
}

fn place(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> SuitePlace {
    let is_cached = keys.get("cached").is_some().then(|| keys.flag("cached", findings));
    let place = SuitePlace {
        name: required(&mut keys, "name", findings),
        what: text(&mut keys, "what", findings),
        is_cached,
    };
    keys.finish(findings);
    place
}

fn layout(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Layout {
    let mut count = |name, most, expected| {
        let found = keys.count(name, findings);
        if found.is_none() && keys.get(name).is_none() {
            findings.error("missing-key", &keys.at.clone(), format!("`{name}` is missing"));
        }
        found.map_or(1, |(n, at)| within(n, 1..=most, name, expected, &at, findings) as u32)
    };
    let n_machines = count("machines", 1000, "1 to 1000");
    let n_files = count("files", 100, "1 to 100");
    let bytes = keys.bytes("file_size", findings).map(|(bytes, at)| {
        within(bytes, 4096..=BYTES_MAX, "file_size", "4 KiB to 1 EiB", &at, findings)
    });
    if bytes.is_none() && keys.get("file_size").is_none() {
        findings.error("missing-key", &keys.at.clone(), "`file_size` is missing");
    }
    keys.finish(findings);
    Layout { n_machines, n_files, file_bytes: bytes.unwrap_or(BYTES_MAX) }
}

fn prepare(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Prepare {
    let usual = Prepare::default();
    let max_bytes = keys.bytes("size_max", findings).map_or(8 << 30, |(bytes, _)| bytes);
    let is_auto = match keys.get("size").map(toml::Spanned::get_ref) {
        None => true,
        Some(DeValue::String(text)) => &**text == "auto",
        Some(_) => false,
    };
    let size = if is_auto {
        Size::Auto { max_bytes }
    } else {
        let bytes = keys.bytes("size", findings).map(|(bytes, at)| {
            within(bytes, 4096..=BYTES_MAX, "size", "4 KiB to 1 EiB", &at, findings)
        });
        Size::Bytes(bytes.unwrap_or(1 << 30))
    };
    let block = keys.bytes("fill_bs", findings).map(|(bytes, at)| {
        within(bytes, 512..=1 << 30, "fill_bs", "512 bytes to 1 GiB", &at, findings)
    });
    let depth = keys.count("fill_iodepth", findings).map(|(depth, at)| {
        within(depth, 1..=4096, "fill_iodepth", "1 to 4096", &at, findings) as u32
    });
    let n_fills = keys.count("fills", findings);
    let n_fills =
        n_fills.map(|(n, at)| within(n, 0..=10, "fills", "0 to 10", &at, findings) as u32);
    let prepare = Prepare {
        size,
        purge: keys.flag("purge", findings),
        n_fills: n_fills.unwrap_or(usual.n_fills),
        fill_block_bytes: block.unwrap_or(usual.fill_block_bytes),
        fill_depth: depth.unwrap_or(usual.fill_depth),
        fill_time_ns: keys
            .duration("fill_time", findings)
            .map(|(time, _)| units::nanoseconds(time)),
    };
    keys.finish(findings);
    prepare
}

fn rounds(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Rounds {
    let count = |keys: &mut Keys<'_>, name, usual, findings: &mut Findings<'_>| {
        let found = keys.count(name, findings);
        found.map_or(usual, |(n, at)| within(n, 2..=1000, name, "2 to 1000", &at, findings) as u32)
    };
    let rounds = Rounds {
        n_max: count(&mut keys, "max", analysis::steady::SNIA_ROUNDS_MAX as u32, findings),
        window: count(&mut keys, "window", 5, findings),
        tracked: required(&mut keys, "tracked", findings),
    };
    keys.finish(findings);
    rounds
}
