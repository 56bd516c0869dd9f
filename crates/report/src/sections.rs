//! What stands on the page, and in which order.

use std::collections::BTreeSet;

use analysis::sets::SetOptions;
use analysis::whole::compare_records;
use export::Run;
use hist::Histogram;
use record::{
    CarriedState, DIRECTIONS, Figure, Figures, Interval, IntervalLatency, Latency, Record,
    load_words,
};

use units::{format_percent, plural};

use crate::answer::{self, Answer};
use crate::chart::comparison::{self, CandidateSide};
use crate::chart::over_time::Source;
use crate::chart::{convergence, curve, heat, loads, operations, over_time, percentiles, sweep};
use crate::html::Download;
use crate::provenance::{self, Facts};
use crate::scale_out;
use crate::spec::ChartSpec;
use crate::subject::{Runs, Set, Subject, called};
use crate::suite;
use crate::table::{Cell, Table};
use crate::thin::end_s;
use crate::validity::{self, ValidityView};
use crate::view::{results, steps};
use crate::words::{round_latency, sentence_case};

/// All of a page.
pub(crate) struct Contents {
    pub(crate) title: String,
    pub(crate) answer: Answer,
    /// The picture of the first screen.
    pub(crate) first: Option<ChartSpec>,
    pub(crate) sections: Vec<Section>,
    pub(crate) validity: Vec<ValidityView>,
    /// Facts by run.
    pub(crate) provenance: Vec<(String, Vec<Facts>)>,
}

/// A section.
#[derive(Default)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) lead: String,
    pub(crate) tables: Vec<(String, Table)>,
    pub(crate) charts: Vec<ChartSpec>,
    pub(crate) downloads: Vec<(String, Download)>,
}

impl Section {
    fn new(id: &str, title: &str) -> Self {
        Section { id: id.to_owned(), title: title.to_owned(), ..Section::default() }
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.charts.is_empty() && self.downloads.is_empty()
    }
}

/// Steps that get a percentile plot of their own.
const PLOTTED_STEPS_MAX: usize = 6;

/// Runs that get charts of their own.
const PLOTTED_RUNS_MAX: usize = 6;

/// Caps of a job that are listed: those that held it longest, then by use.
const CAPS_MAX: usize = 4;

/// Longest run whose every second is in the page, in seconds: two hours are 0.7 MB.
const SECONDS_MAX: usize = 7200;

impl Contents {
    pub(crate) fn of(subject: &Subject) -> Self {
        let mut contents = match &subject.runs {
            Runs::Parts(runs) => of_parts(runs),
            Runs::Sets(sets) => match sets.as_slice() {
                [only] => of_parts(&only.runs),
                sets => of_sets(sets),
            },
        };
        if !subject.title.is_empty() {
            contents.title.clone_from(&subject.title);
        }
        if !subject.answer.is_empty() {
            contents.answer.sentence.clone_from(&subject.answer);
        }
        if let Some(table) = &subject.promises {
            let mut section = Section::new("promises", "What the design promises");
            section.tables.push(("Promises".to_owned(), table.clone()));
            contents.sections.insert(0, section);
        }
        contents.must_be_whole();
        contents
    }

    /// Checks that the page can show it all: links and scripts find sections and charts by their
    /// ids.
    pub(crate) fn must_be_whole(&self) {
        let mut ids = BTreeSet::new();
        for section in &self.sections {
            assert!(ids.insert(&section.id), "two sections are `{}`", section.id);
            section.tables.iter().for_each(|(title, table)| table.must_be_whole(title));
        }
        for chart in self.first.iter().chain(self.sections.iter().flat_map(|it| &it.charts)) {
            assert!(
                ids.insert(&chart.id),
                "two charts, or a section and a chart, are `{}`",
                chart.id
            );
            chart.must_be_whole();
        }
    }
}

fn of_parts(runs: &[Run]) -> Contents {
    let head = runs.iter().find(|run| run.record.curve.is_some()).or(runs.first());
    let answer = head.map_or_else(|| answer::of_comparison(&[], ""), answer::of_run);
    let title = match runs {
        [] => "Nothing to report".to_owned(),
        [only] => sentence_case(&called(only)),
        many => plural(many.len(), "run"),
    };
    let mut sections = Vec::new();
    let line = head.map(provenance::line).unwrap_or_default();
    let mut spanned = Section::new("steps-together", "Steps together");
    spanned.charts.extend(loads::chart(runs, &line));
    spanned.charts.extend(sweep::charts(runs, &line));
    spanned.tables.extend(sweep::long_table(runs).map(|table| {
        let title = format!("All {} steps", table.rows.len());
        (title, table)
    }));
    for (idx, run) in runs.iter().take(PLOTTED_RUNS_MAX).enumerate() {
        sections.extend(of_run(run, idx, runs.len() > 1));
    }
    let mut first = take(&mut sections, |chart| chart.id.ends_with("-curve"));
    if first.is_none() && runs.iter().all(|run| run.record.suite.is_none()) {
        // All steps, or the first of what many of them span.
        first = take(std::slice::from_mut(&mut spanned), |_| true);
    }
    let first = first
        .or_else(|| take(&mut sections, |chart| chart.id.ends_with("-suite")))
        .or_else(|| take(&mut sections, |chart| chart.id.ends_with("-iops")))
        .or_else(|| take(&mut sections, |_| true));
    // Below the answer of a suite, which is its table.
    let has_suite = runs.first().is_some_and(|run| run.record.suite.is_some());
    sections.insert(usize::from(has_suite).min(sections.len()), spanned);
    sections.retain(|section| !section.is_empty());
    Contents { title, answer, first, sections, validity: validities(runs), provenance: facts(runs) }
}

/// Takes the first chart that fits out of its section.
fn take(sections: &mut [Section], fits: impl Fn(&ChartSpec) -> bool) -> Option<ChartSpec> {
    for section in sections {
        if let Some(at) = section.charts.iter().position(&fits) {
            return Some(section.charts.remove(at));
        }
    }
    None
}

fn of_run(run: &Run, idx: usize, is_one_of_many: bool) -> Vec<Section> {
    let record = &run.record;
    let steps = results(record);
    let (id, line) = (format!("r{}", idx + 1), provenance::line(run));
    let source = Source { record, steps: &steps, id: &id, line: &line };
    let prefix = if is_one_of_many { format!("{}: ", called(run)) } else { String::new() };
    let section = |name: &str, title: &str| {
        Section::new(&format!("{id}-{name}"), &format!("{prefix}{title}"))
    };
    let mut results = section("results", "Results");
    if let Some(suite) = &record.suite {
        results.lead = suite::lead(suite);
        if let Some(needs) = suite::needs(suite) {
            results.tables.push(("Is it good enough?".to_owned(), needs));
        }
        results.tables.push(("Measurements".to_owned(), suite::table(suite)));
        results.charts.extend(suite::charts(suite, &id, &line));
        results.charts.extend(scale_out::chart(suite, &id, &line));
        let growth = scale_out::table(suite);
        results.tables.extend(growth.map(|table| ("Growth with the hosts".to_owned(), table)));
    } else if record.curve.is_none() {
        results.tables.push(("Jobs and directions".to_owned(), results_table(record)));
        results.tables.extend(held_by(record));
        results.tables.extend(rates_last(record));
    }
    let mut mix = section("operations", "Operations");
    let of_steps = steps.iter().filter_map(|step| operations::chart(&source, step));
    mix.charts = of_steps.take(PLOTTED_STEPS_MAX).collect();
    mix.tables.extend(operations::by_job(record));
    let mut load = section("load", "The load line in figures");
    load.charts = curve::charts(&source);
    load.charts.extend(curve_percentiles(&source));
    load.tables.extend(carried(record));
    let mut time = section("time", "Over time");
    time.charts = over_time::charts(&source);
    time.charts.extend(heat::chart(&source));
    time.downloads.extend(every_second(record, &id));
    let mut shape = section("latency-shape", "Distribution of latency");
    if record.curve.is_none() && steps.len() <= PLOTTED_STEPS_MAX {
        let plots = steps.iter().filter_map(|step| percentiles::of_step(&source, step));
        shape.charts = plots.collect();
    }
    let mut steady = section("steadiness", "Steady state");
    if record.curve.is_none() {
        steady.charts.extend(convergence::chart(&source));
    }
    if record.suite.is_some() {
        return vec![results, mix, load, time, shape, steady];
    }
    vec![load, results, mix, time, shape, steady]
}

/// Draws the distributions at some loads of a curve: the lowest, the load line, and around it.
fn curve_percentiles(source: &Source<'_>) -> Option<ChartSpec> {
    let curve = source.record.curve.as_ref()?;
    let mut points: Vec<_> = curve.points.iter().filter(|it| it.figures.iops() > 0.0).collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    points.dedup_by(|next, kept| (next.load - kept.load).abs() < 1e-9 * kept.load);
    let near = |wanted: f64| {
        let distance = |idx: &usize| (points[*idx].load - wanted).abs();
        (0..points.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    };
    let last = points.len().checked_sub(1)?;
    let mut shown = vec![0, last];
    let line = curve.line.load.unwrap_or(points[last].load);
    shown.extend([line / 2.0, line].into_iter().filter_map(near));
    shown.extend(curve.line.first_fail.and_then(near));
    shown.sort_unstable();
    shown.dedup();
    let named = |idx: usize| -> Option<(String, Histogram)> {
        let step = source.steps.iter().find(|step| step.idx == points[idx].step_idx)?;
        let name = format!("{} {}", load_words(points[idx].load), curve.lever.unit());
        let measured = step.latencies().measured;
        (!measured.is_empty()).then_some((name, measured))
    };
    let named: Vec<_> = shown.into_iter().filter_map(named).collect();
    let mut chart = percentiles::overlay(&named)?;
    chart.id = format!("{}-load-percentiles", source.id);
    chart.title = "Percentiles at some loads".into();
    source.line.clone_into(&mut chart.source);
    Some(chart)
}

/// What a curve carries at round latencies, and the line itself.
fn carried(record: &Record) -> Option<(String, Table)> {
    let curve = record.curve.as_ref()?;
    let rates = [Figure::Iops, Figure::BytesPerS];
    let mut table = Table::new(&[("mean latency", "latency_ns_mean")])
        .figures(&rates)
        .and(&[("note", "state")]);
    for carried in &curve.carried {
        let (is_known, state) = match carried.state {
            CarriedState::Reached => (true, ""),
            CarriedState::Above => (true, "or more: all that was measured is faster"),
            CarriedState::Below => (false, "nothing measured is as fast"),
            CarriedState::Unknown => (false, "not known"),
        };
        let ns = carried.latency_mean_ns as f64;
        table.rows.push(vec![
            Cell::Number(ns, round_latency(ns)),
            Cell::iops(carried.rate_iops.filter(|_| is_known)),
            Cell::mib_per_s(carried.bytes_per_s.filter(|_| is_known)),
            Cell::text(state),
        ]);
    }
    (!table.rows.is_empty()).then(|| ("Carried at a mean latency".to_owned(), table))
}

/// A row per job, direction and kind of latency.
fn results_table(record: &Record) -> Table {
    let mut table = Table::new(&[("step", "step"), ("job", "job"), ("direction", "dir")])
        .figures(Figure::OF_JOB)
        .and(&[("latency is", "latency")]);
    for step in steps(record) {
        for job in &step.jobs {
            for (dir, result) in job.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
                let (is_total, latency) = result.shown_latency();
                let response = result.response.as_ref().filter(|it| !it.is_empty());
                let kinds = [
                    response.map(|it| ("response", Latency::Measured(it))),
                    Some((if is_total { "total" } else { "service" }, latency)),
                ];
                for (kind, latency) in kinds.into_iter().flatten() {
                    let figures = Figures::of(&latency).with_rates(result);
                    let mut row =
                        [step.name.as_str(), job.name.as_str(), dir].map(Cell::text).to_vec();
                    row.extend(Cell::figures(&figures, Figure::OF_JOB));
                    row.push(Cell::text(kind));
                    table.rows.push(row);
                }
            }
            if let Some(figures) = job.sync_figures() {
                let place = [step.name.as_str(), job.name.as_str(), "sync"].map(Cell::text);
                let figures = Cell::figures(&figures, Figure::OF_JOB);
                let row = place.into_iter().chain(figures).chain([Cell::text("total")]);
                table.rows.push(row.collect());
            }
        }
    }
    table
}

/// Which caps of emulated volumes held the jobs.
fn held_by(record: &Record) -> Option<(String, Table)> {
    let mut table = Table::new(&[
        ("step", "step"),
        ("job", "job"),
        ("cap", "cap"),
        ("per second", "per_s"),
        ("held the I/Os", "held_share"),
        ("used", "used_share"),
    ]);
    for step in steps(record) {
        for job in &step.jobs {
            for cap in job.caps.iter().flat_map(|caps| &caps.caps).take(CAPS_MAX) {
                let share = |share: f64| Cell::Number(share, format_percent(share));
                table.rows.push(vec![
                    Cell::text(step.name.as_str()),
                    Cell::text(job.name.as_str()),
                    Cell::text(cap.name.as_str()),
                    Cell::count(cap.per_s),
                    share(cap.held_share),
                    Cell::Number(cap.used_share, cap.used_words(format_percent)),
                ]);
            }
        }
    }
    (!table.rows.is_empty()).then(|| ("Caps that the I/Os met".to_owned(), table))
}

/// For how long rates hold that last only until a write-back cache is dirty.
fn rates_last(record: &Record) -> Option<(String, Table)> {
    let mut table = Table::new(&[("step", "step"), ("job", "job"), ("the rates last", "lasts")]);
    for step in steps(record) {
        for job in step.jobs.iter().take(CAPS_MAX) {
            if let Some(lasts) = job.rates_last() {
                table.rows.push(vec![
                    Cell::text(step.name.as_str()),
                    Cell::text(job.name.as_str()),
                    Cell::text(lasts),
                ]);
            }
        }
    }
    (!table.rows.is_empty()).then(|| ("How long the rates last".to_owned(), table))
}

/// Every second of a run as a file.
fn every_second(record: &Record, id: &str) -> Option<(String, Download)> {
    let intervals = &record.intervals;
    if intervals.is_empty() || intervals.len() > SECONDS_MAX {
        return None;
    }
    let warm_ups = record.warm_up_ends_ms();
    let mut table = Table::new(&[("", "end_s"), ("", "step_idx"), ("", "is_ramp")]);
    if !warm_ups.is_empty() {
        table.add_column("", "is_warm_up");
    }
    let used = |idx: usize| {
        let of = |it: &Interval| it.dirs.iter().nth(idx).map_or(0, |(_, dir)| dir.n_ios);
        intervals.iter().any(|it| of(it) > 0)
    };
    let dirs: Vec<(usize, &str)> =
        DIRECTIONS.into_iter().enumerate().filter(|(idx, _)| used(*idx)).collect();
    let has_response =
        intervals.iter().any(|it| it.dirs.iter().any(|(_, dir)| dir.response.is_some()));
    for (_, dir) in &dirs {
        let latencies = || Figure::OF_INTERVAL.iter().map(|it| it.name());
        for column in ["n_ios", "io_bytes"].into_iter().chain(latencies()) {
            table.add_column("", format!("{dir}_{column}"));
        }
        for column in latencies().filter(|_| has_response) {
            table.add_column("", format!("{dir}_{}", column.replace("latency", "response")));
        }
    }
    for interval in intervals {
        let mut row = vec![
            Cell::number(end_s(interval), 3),
            Cell::count(u64::from(interval.step_idx)),
            Cell::count(u64::from(interval.ramp)),
        ];
        if !warm_ups.is_empty() {
            let start_ms = interval.end_ms.saturating_sub(interval.length_ms);
            let end_ms = warm_ups.get(&interval.step_idx).filter(|_| !interval.ramp);
            let is_warm_up = end_ms.is_some_and(|end_ms| start_ms < *end_ms);
            row.push(Cell::count(u64::from(is_warm_up)));
        }
        for (_, dir) in dirs.iter().filter_map(|(idx, _)| interval.dirs.iter().nth(*idx)) {
            row.extend([Cell::count(dir.n_ios), Cell::count(dir.io_bytes)]);
            let cells = |of: Option<&IntervalLatency>| {
                let ns = |figure: &Figure| Cell::latency_ns(of.and_then(|it| it.ns(*figure)));
                Figure::OF_INTERVAL.iter().map(ns).collect::<Vec<_>>()
            };
            row.extend(cells(Some(&dir.latency)));
            if has_response {
                row.extend(cells(dir.response.as_ref().map(|it| &it.latency)));
            }
        }
        table.rows.push(row);
    }
    let text = format!("Every second as CSV, {} rows", intervals.len());
    Some((text, Download::csv(&table, &format!("{id}-seconds"))))
}

/// Returns the records of a set.
fn records(set: &Set) -> Vec<&Record> {
    set.runs.iter().map(|run| &run.record).collect()
}

fn of_sets(sets: &[Set]) -> Contents {
    let (baseline, candidates) = match sets.split_first() {
        Some((baseline, candidates)) => (baseline.clone(), candidates),
        None => (Set::default(), [].as_slice()),
    };
    let before = records(&baseline);
    let against = |candidate| CandidateSide {
        candidate,
        found: compare_records(&before, &records(candidate), &SetOptions::default()),
    };
    let against: Vec<CandidateSide<'_>> = candidates.iter().map(against).collect();
    let answer = answer::of_comparison(&against, &baseline.name);
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let title = names.join(" and ");
    let mut pictures = Section::new("compared", "Side by side");
    pictures.charts.extend(comparison::curves(sets));
    pictures.charts.extend(comparison::ratios(&against));
    pictures.charts.extend(comparison::distributions(sets));
    pictures.charts.extend(comparison::rates(sets));
    let first = take(std::slice::from_mut(&mut pictures), |_| true);
    let mut differences = Section::new("differences", "What differs");
    differences.lead = "Besides the figures: other I/O makes a comparison of the storage \
                        meaningless, other surroundings may be what is compared."
        .into();
    differences.tables.extend(differences_table(&against));
    let mut lines = Section::new("load-lines", "Load lines");
    lines.tables.extend(load_lines(sets));
    let mut sections = vec![lines, pictures, differences];
    sections.retain(|section| !section.is_empty());
    let runs: Vec<Run> = sets.iter().filter_map(|set| set.runs.first().cloned()).collect();
    let validity = sets.iter().flat_map(validities_of_set).collect();
    Contents { title, answer, first, sections, validity, provenance: facts(&runs) }
}

/// Runs of a set whose checks are shown one by one; of the others only what is wrong with them.
const CHECKED_RUNS_MAX: usize = 4;

/// Says of a set how many of its runs are valid, then of each what was checked: of a large set only
/// of those that are not valid, and of one that stands for the others.
fn validities_of_set(set: &Set) -> Vec<ValidityView> {
    let all = validities(&set.runs);
    if all.len() < 2 {
        return all;
    }
    let with =
        |state: validity::State| all.iter().filter(|view| view.class == state.class()).count();
    let (n_bad, n_unknown) = (with(validity::State::Bad), with(validity::State::Unknown));
    let n = all.len();
    let (state, verdict) = match (n_bad, n_unknown) {
        (0, 0) => (validity::State::Good, format!("All {n} runs are valid.")),
        (0, some) => (
            validity::State::Unknown,
            format!("{some} of {n} runs are to be read with caution, none is invalid."),
        ),
        (bad, _) => (
            validity::State::Bad,
            format!(
                "{bad} of {n} runs are invalid or failed: what they measured is compared all \
                     the same."
            ),
        ),
    };
    let whole = ValidityView {
        name: format!("{}, {}", set.name, plural(n, "run")),
        verdict,
        class: state.class(),
        sign: state.sign(),
        checks: Vec::new(),
        remarks: Vec::new(),
    };
    let mut shown = all;
    if n > CHECKED_RUNS_MAX {
        let is_bad = |view: &ValidityView| view.class == validity::State::Bad.class();
        if shown.iter().any(is_bad) {
            shown.retain(is_bad);
        }
        shown.truncate(CHECKED_RUNS_MAX);
    }
    std::iter::once(whole).chain(shown).collect()
}

fn differences_table(against: &[CandidateSide<'_>]) -> Option<(String, Table)> {
    let mut table = Table::new(&[
        ("candidate", "candidate"),
        ("what", "what"),
        ("baseline", "baseline"),
        ("now", "now"),
        ("of", "kind"),
    ]);
    for one in against {
        for difference in &one.found.differences {
            let kind = match difference.kind {
                analysis::alike::DifferenceKind::Workload => "the I/O itself",
                analysis::alike::DifferenceKind::Surroundings => "the surroundings",
            };
            table.rows.push(vec![
                Cell::text(one.candidate.name.as_str()),
                Cell::text(difference.what.as_str()),
                Cell::text(difference.baseline.as_str()),
                Cell::text(difference.candidate.as_str()),
                Cell::text(kind),
            ]);
        }
        for remark in &one.found.remarks {
            table.rows.push(vec![
                Cell::text(one.candidate.name.as_str()),
                Cell::text(remark.as_str()),
                Cell::Nothing,
                Cell::Nothing,
                Cell::text("which runs count"),
            ]);
        }
    }
    (!table.rows.is_empty()).then(|| ("Differences".to_owned(), table))
}

fn load_lines(sets: &[Set]) -> Option<(String, Table)> {
    let mut table = Table::new(&[
        ("set", "set"),
        ("limits", "limits"),
        (&format!("load line, {}", Figure::Iops.head()), Figure::Iops.name()),
        ("from", "load_low"),
        ("to", "load_high"),
    ])
    .figures(&[Figure::BytesPerS]);
    for set in sets {
        let Some(curve) = set.runs.iter().find_map(|run| run.record.curve.as_ref()) else {
            continue;
        };
        let end = |of: fn(&record::IntervalRecord) -> f64| {
            let value = curve.line.interval.as_ref().map(of);
            value.map_or(Cell::Nothing, |load| Cell::Number(load, load_words(load)))
        };
        let iops = curve.line_iops().zip(curve.rate_words());
        table.rows.push(vec![
            Cell::text(set.name.as_str()),
            Cell::text(curve.limits.as_str()),
            iops.map_or(Cell::Nothing, |(iops, shown)| Cell::Number(iops, shown)),
            end(|it| it.low),
            end(|it| it.high),
            Cell::mib_per_s(curve.line.bytes_per_s),
        ]);
    }
    (!table.rows.is_empty()).then(|| ("Load lines".to_owned(), table))
}

fn validities(runs: &[Run]) -> Vec<ValidityView> {
    let view = |run: &Run| {
        let found = validity::of(&run.record);
        let remark = |(state, text): (validity::State, String)| (state.class(), state.sign(), text);
        ValidityView {
            name: called(run),
            verdict: found.verdict,
            class: found.state.class(),
            sign: found.state.sign(),
            checks: found.checks,
            remarks: found.remarks.into_iter().map(remark).collect(),
        }
    };
    runs.iter().map(view).collect()
}

fn facts(runs: &[Run]) -> Vec<(String, Vec<Facts>)> {
    runs.iter().map(|run| (called(run), provenance::of(run))).collect()
}
