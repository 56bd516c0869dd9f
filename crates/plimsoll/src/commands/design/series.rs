//! The samples of a file of needs, compared with the caps of a design.

use std::path::Path;

use ::design::series::{CapOverTime, REPEATS_MAX, demand, over_time};
use ::design::{Demand, Ranked, SearchInput, parse};
use ::needs::{
    MINUTES_PER_DAY, NeedPhase, Needs, Requirements, Window, read_series, series_load, series_path,
};
use report::{
    Axis, Cell, ChartSpec, Colour, DashStyle, Rule, Series, Table, Thinned, sentence_case,
};
use serde_json::{Value, json};
use units::{
    format_count, format_percent, format_percent_exact, format_percent_whole, format_seconds,
    system_text,
};

use super::CloudAnswer;
use crate::limited::{self, TABLE_BYTES_MAX};

/// Reads the samples; none where the file names none.
///
/// # Errors
/// Why there is no demand, for a note: a design can be found without.
pub(super) fn read(
    name: &str,
    needs: &Needs,
    requirements: &Requirements,
) -> Result<Option<Demand>, String> {
    let Some(file) = &needs.series else { return Ok(None) };
    let path = series_path(name, file);
    let text = limited::read_text(Path::new(&path), TABLE_BYTES_MAX);
    let because = |why: &str| {
        format!(
            "the samples are ignored: {why}; designs are checked against the phases alone, and \
             no burst credits count"
        )
    };
    let unknown = needs.sources.iter().find(|source| source.has_unknown_lengths());
    if let Some(unknown) = unknown {
        return Err(because(&format!(
            "`{}` has no times, and nothing says how long its reports were; capture it again, with \
             `--every 10s` if that was 10 s",
            unknown.name
        )));
    }
    let text =
        text.map_err(|error| because(&format!("cannot read `{path}`: {}", system_text(&error))))?;
    let because = |found: plan::Diagnostic| because(&found.message);
    let samples = read_series(&text, &path).map_err(because)?;
    let mut loads = Vec::new();
    for volume in &requirements.volumes {
        let of = samples.get(&volume.name).map(|of| series_load(of, &path, volume));
        loads.push(of.transpose().map_err(because)?.flatten());
    }
    let demand = demand(requirements, &samples, &loads);
    let n_times = times_in_phases(needs, demand.span_s());
    let demand = demand.repeated(n_times);
    Ok(Some(demand).filter(|demand| !demand.periods.is_empty()))
}

/// Returns how many times what was captured follows itself in the phase of which the least part was
/// captured: credits that carry half an hour do not carry the eight hours it stands for.
fn times_in_phases(needs: &Needs, span_s: f64) -> u32 {
    let times = |phase: &NeedPhase| {
        let minutes = phase.hours.iter().filter_map(|text| Window::parse(text).ok());
        let lasts_s = f64::from(minutes.map(Window::minutes).sum::<u32>()) * 60.0;
        phase.captured_s.filter(|it| *it > 0.0).map_or(1.0, |captured_s| lasts_s / captured_s)
    };
    let most = needs.phases.iter().map(times).fold(1.0, f64::max);
    // No phase is longer than a day. A last sample that is cut off makes none longer.
    let of_day = f64::from(MINUTES_PER_DAY) * 60.0 / span_s.max(1.0);
    (most.min(of_day) - CUT_OFF).ceil().max(1.0) as u32
}

/// Part of what was captured that may be missing of a phase which counts as captured once.
const CUT_OFF: f64 = 0.05;

/// Returns every cap of a design over time; none without samples.
fn caps(
    answer: &CloudAnswer<'_>,
    asked: &SearchInput,
    ranked: &Ranked,
) -> Option<Vec<CapOverTime>> {
    let demand = asked.need.series.as_ref()?;
    let design = parse(&answer.market, &asked.need, ranked)?;
    // Several volumes may be one there.
    (design.volumes.len() == demand.loads.len()).then(|| over_time(&design, &asked.need, demand))
}

/// Returns when a period begins, seconds after the first.
fn start_s(demand: &Demand, period: usize) -> f64 {
    demand.periods[..period].iter().map(|it| it.span_s).sum()
}

/// Returns the cap that decides: one that does not carry the samples, else one that is short for
/// some of the time; of several the one that is short first.
fn first_short(caps: &[CapOverTime]) -> Option<(&CapOverTime, usize)> {
    let short = caps.iter().filter_map(|cap| Some((cap, cap.short_at?)));
    short.min_by_key(|(cap, at)| (cap.is_carried, *at))
}

/// Says from when on, and by what, samples are held back.
fn held_back((cap, at): (&CapOverTime, usize), demand: &Demand) -> String {
    let (what, at_s) = (what(cap), start_s(demand, at));
    match cap.cap.credits {
        None => format!("from {} on {what} holds it back", format_seconds(at_s)),
        Some(_) if cap.left[at] <= 0.0 => {
            format!("the credits of {what} run out {} after its start", format_seconds(at_s))
        }
        Some(credits) => format!(
            "from {} on the load on {what} is more than its burst of {}",
            format_seconds(at_s),
            format_count(credits.burst.round() as u64)
        ),
    }
}

fn what(cap: &CapOverTime) -> String {
    format!("{} of {}", cap.cap.bound, cap.cap.name)
}

/// Returns what a design does with the samples; none where there are none.
pub(super) fn words(
    answer: &CloudAnswer<'_>,
    asked: &SearchInput,
    ranked: &Ranked,
) -> Option<String> {
    let demand = asked.need.series.as_ref()?;
    let caps = caps(answer, asked, ranked)?;
    let what = match demand.n_again {
        0 => "what was captured, with growth".to_owned(),
        // It stands for all of its phase.
        _ => format!("what was captured, for the {} of its phase, with growth", lasts(demand)),
    };
    if let Some((cap, at)) = first_short(&caps) {
        let total_s = demand.span_s();
        let share = cap.short_s / total_s;
        let short = held_back((cap, at), demand);
        let verdict = if cap.is_carried {
            let rest = format_percent_whole(demand.short_s_max / total_s);
            let share = format_percent_exact(share, 2);
            format!("carried but for {share} of the time, of {rest} that the needs allow")
        } else {
            format!("not carried for {} of the time", format_percent(share))
        };
        return Some(format!("{what}: {verdict}: {short}"));
    }
    Some(match spent(&caps, demand) {
        None => format!("{what}: carried all the time, without credits"),
        Some(spent) => format!("{what}: carried on full credits: {spent}"),
    })
}

/// Says in few words which credits a design spends on the samples, for a cell of a table: of each
/// disk or machine the cap that has the least left. None without samples.
pub(super) fn credits(
    answer: &CloudAnswer<'_>,
    asked: &SearchInput,
    ranked: &Ranked,
) -> Option<String> {
    let mut caps = caps(answer, asked, ranked)?;
    caps.retain(CapOverTime::spends);
    caps.sort_by(|a, b| left_share(a).total_cmp(&left_share(b)));
    let mut names: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    for cap in &caps {
        if !names.contains(&&*cap.cap.name) {
            names.push(&cap.cap.name);
            let left = format_percent_whole(left_share(cap));
            parts.push(format!("{}: {left} left", cap.cap.name));
        }
    }
    Some(if parts.is_empty() { "none needed".to_owned() } else { parts.join("; ") })
}

/// Says of each cap that spends credits how much of them is left and how long they last; none where
/// no cap spends any.
fn spent(caps: &[CapOverTime], demand: &Demand) -> Option<String> {
    let of_cap = |cap: &CapOverTime| {
        let (name, left) = (what(cap), format_percent_whole(left_share(cap)));
        let most = cap.asked.iter().copied().fold(0.0, f64::max);
        let lasts_s = cap.cap.credits.map_or(f64::INFINITY, |credits| credits.burst_s(most));
        format!(
            "{name}, {left} left at least (full credits last {} at the highest load), {}",
            format_seconds(lasts_s),
            in_a_row(cap.n_repeats, demand)
        )
    };
    let spent: Vec<String> = caps.iter().filter(|cap| cap.spends()).map(of_cap).collect();
    (!spent.is_empty()).then(|| spent.join("; "))
}

/// Says for how long credits carry what was captured, again and again without a rest.
fn in_a_row(n_repeats: u32, demand: &Demand) -> String {
    match n_repeats {
        1 => "not twice in a row".to_owned(),
        REPEATS_MAX.. => "however long it goes on".to_owned(),
        n => format!("for {n} times its {} in a row, and not more", lasts(demand)),
    }
}

/// Returns how long a demand lasts, in words.
fn lasts(demand: &Demand) -> String {
    format_seconds(demand.span_s())
}

/// Returns the least credits that were left, as a share of a full bucket.
fn left_share(cap: &CapOverTime) -> f64 {
    let full = cap.cap.credits.map_or(1.0, |credits| credits.bucket);
    cap.left.iter().copied().fold(full, f64::min) / full
}

/// Returns the same for programs.
pub(super) fn json(answer: &CloudAnswer<'_>, asked: &SearchInput, ranked: &Ranked) -> Value {
    let Some((demand, caps)) = asked.need.series.as_ref().zip(caps(answer, asked, ranked)) else {
        return Value::Null;
    };
    let cap = |it: &CapOverTime| {
        json!({
            "cap": it.cap.bound.name(),
            "name": it.cap.name,
            "per_s": it.cap.per_s,
            "asked_per_s_max": it.asked.iter().copied().fold(0.0, f64::max),
            "credits_left_pct_min": it.cap.credits.map(|_| left_share(it) * 100.0),
            "is_carried": it.is_carried,
            "short_at_s": it.short_at.map(|at| start_s(demand, at)),
            "short_s": it.short_s,
            "times_in_a_row": it.n_repeats,
            "is_carried_for_ever": it.n_repeats == REPEATS_MAX,
        })
    };
    json!({
        "is_carried": caps.iter().all(|cap| cap.is_carried),
        "short_s_allowed": demand.short_s_max,
        "needs_credits": caps.iter().any(CapOverTime::spends),
        "caps": caps.iter().map(cap).collect::<Vec<_>>(),
    })
}

/// Caps in one chart: those that are asked most of.
const CAPS_MAX: usize = 3;

/// Points of a line at most: of several periods the largest demand and the least credits stand.
const POINTS_MAX: usize = 600;

/// Draws the caps that are asked most of, and the credits of those that have some.
pub(super) fn chart(
    idx: usize,
    answer: &CloudAnswer<'_>,
    asked: &SearchInput,
    ranked: &Ranked,
) -> Option<ChartSpec> {
    let demand = asked.need.series.as_ref()?;
    let mut caps = caps(answer, asked, ranked)?;
    caps.truncate(CAPS_MAX);
    let n_periods = demand.periods.len();
    let step = n_periods.div_ceil(POINTS_MAX).max(1);
    let mut starts = Vec::new();
    let mut now_s = 0.0;
    for (at, period) in demand.periods.iter().enumerate() {
        if at % step == 0 {
            starts.push(now_s);
        }
        now_s += period.span_s;
    }
    let mut series = Vec::new();
    for (at, cap) in caps.iter().enumerate() {
        let colour = Colour::Of(at as u8);
        let name = format!("{} of {}", cap.cap.bound, cap.cap.name);
        let most = |part: &[f64]| part.iter().copied().fold(0.0, f64::max) / cap.cap.per_s * 100.0;
        series.push(line(
            &name,
            colour,
            DashStyle::Solid,
            &starts,
            cap.asked.chunks(step).map(most),
        ));
        let Some(credits) = cap.cap.credits else { continue };
        let least = |part: &[f64]| {
            part.iter().copied().fold(f64::INFINITY, f64::min) / credits.bucket * 100.0
        };
        let name = format!("{name}: credits left");
        series.push(line(&name, colour, DashStyle::Dot, &starts, cap.left.chunks(step).map(least)));
    }
    let has_credits = caps.iter().any(|cap| cap.cap.credits.is_some());
    let credits =
        has_credits.then_some("Credits are in percent of a full bucket, with which all begins.");
    let machine = ranked.machine.trim_start_matches("Standard_");
    Some(ChartSpec {
        id: format!("captured-{idx}"),
        title: format!("{}: {machine}", answer.place()),
        about: words(answer, asked, ranked).map_or(String::new(), |it| sentence_case(&it)),
        height_px: 360,
        x: Axis { title: "time since the first sample".to_owned(), ..Axis::time(0.0, now_s) },
        y: Axis { title: "of the sustained rate, %".to_owned(), ..Axis::default() },
        table: table(&series, &starts),
        series,
        spans: Vec::new(),
        rules: vec![Rule {
            is_across: true,
            at: 100.0,
            text: "sustained".to_owned(),
            colour: Colour::Bad,
            dash: DashStyle::Dash,
        }],
        cells: None,
        notes: credits.map(str::to_owned).into_iter().collect(),
        source: String::new(),
        thinned: (step > 1).then_some(Thinned { n_samples: n_periods, n_points: starts.len() }),
    })
}

fn line(
    name: &str,
    colour: Colour,
    dash: DashStyle,
    starts: &[f64],
    values: impl Iterator<Item = f64>,
) -> Series {
    Series {
        name: name.to_owned(),
        colour,
        dash,
        is_line: true,
        x: starts.to_vec(),
        y: values.map(Some).collect(),
        ..Series::default()
    }
}

fn table(series: &[Series], starts: &[f64]) -> Table {
    let mut table = Table::new(&[("time, s", "time_s")]);
    for one in series {
        table.add_column(format!("{}, %", one.name), format!("{}_pct", one.name));
    }
    for (at, start_s) in starts.iter().enumerate() {
        let mut row = vec![Cell::number(*start_s, 0)];
        row.extend(series.iter().map(|one| Cell::number(one.y[at], 1)));
        table.rows.push(row);
    }
    table
}
