//! Units of load of a composite workload: what each component achieved, and a curve over them.

use std::fmt::Write as _;

use record::{
    ComponentRecord, CurvePointRecord, CurveRecord, Figure, Figures, Record, UnitsRecord,
    load_words,
};
use units::{format_percent, plural};

use super::COLUMNS;
use super::table::Columns;
use super::words::wrap;

/// Columns of a component's name.
const NAME_COLUMNS: usize = 12;

/// Columns of a component's figures.
const OF_COMPONENT: Columns = Columns { figures: Figure::OF_UNITS, iops: 0, mib_s: 9, latency: 9 };

/// Those of a point of a curve.
const OF_POINT: Columns = Columns { figures: Figure::OF_UNITS, iops: 0, mib_s: 11, latency: 11 };

/// Puts what each component of a step achieved of what was asked of it, and whether the gates hold.
pub(super) fn put_components(text: &mut String, units: &UnitsRecord) {
    let UnitsRecord { unit, n_units, all, components, .. } = units;
    let n_processes = u64::from(all.n_processes);
    let of_unit = plural(u64::from(*n_units), "unit");
    let processes = if n_processes == 1 { "process" } else { "processes" };
    let _ = writeln!(text, "{of_unit} of {unit}, {n_processes} {processes}");
    let heads = OF_COMPONENT.heads();
    let _ = writeln!(
        text,
        "  {:NAME_COLUMNS$}{:>6}{:>8}{:>8}{heads}{:>8}{:>8}",
        "component", "procs", "asked/s", "done/s", "done", "least"
    );
    for component in components {
        put_component(text, component);
    }
    if components.len() > 1 {
        put_component(text, all);
    }
    let line = match units.holds() {
        Some(true) => {
            let balance = units.balance_off_share.map_or(String::new(), |off| {
                format!(
                    "; parts of the operations within {} of those asked for",
                    format_percent(off)
                )
            });
            format!(
                "rates: achieved (95 % in all and of each component, 75 % of each process)\
                {balance}"
            )
        }
        Some(false) => format!("rates: not achieved: {}", units.broken.join("; ")),
        None => format!("rates: not judged: {}", units.broken.join("; ")),
    };
    text.push_str(&wrap(&format!("  {line}"), 4, COLUMNS));
}

fn put_component(text: &mut String, component: &ComponentRecord) {
    let ComponentRecord { name, figures, .. } = component;
    let name = if name.is_empty() { "all" } else { name };
    let name = super::fit(name, NAME_COLUMNS - 1);
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), format_percent);
    let done = OF_COMPONENT.row(figures, "-");
    let _ = writeln!(
        text,
        "  {name:NAME_COLUMNS$}{:>6}{:>8}{:>8}{done}{:>8}{:>8}",
        component.n_processes,
        component.asked_iops.map_or_else(|| "-".to_owned(), load_words),
        load_words(figures.iops()),
        share(component.achieved_share),
        share(component.process_share_min),
    );
}

/// Puts the answer of a curve over units, and its table.
pub(super) fn put_units_curve(text: &mut String, record: &Record, curve: &CurveRecord) {
    for line in std::iter::once(curve.headline()).chain(curve.sentences()) {
        text.push_str(&wrap(&line, 2, COLUMNS));
    }
    text.push('\n');
    let heads = OF_POINT.heads();
    let _ = writeln!(text, "{:>7} {:>9} {:>9}{heads}  valid", "units", "asked/s", "done/s");
    let mut points: Vec<&CurvePointRecord> = curve.points.iter().collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load).then(a.step_idx.cmp(&b.step_idx)));
    for point in points {
        let of_point = record.units.iter().find(|units| units.step_idx == point.step_idx);
        let verdict = match (&point.void, point.passed) {
            (Some(_), _) => "cannot tell",
            (None, true) => "yes",
            (None, false) => "no",
        };
        let row = row(of_point, &point.figures);
        let _ = writeln!(text, "{:>7} {row}  {verdict}", load_words(point.load));
        for reason in point.void.iter().chain(&point.broken) {
            text.push_str(&wrap(&format!("        {reason}"), 10, COLUMNS));
        }
    }
}

/// Returns the cells of a point.
fn row(units: Option<&UnitsRecord>, figures: &Figures) -> String {
    let asked = units.and_then(|units| units.all.asked_iops).map(load_words);
    let done = if figures.iops() > 0.0 { load_words(figures.iops()) } else { "-".to_owned() };
    format!(
        "{:>9} {done:>9}{}",
        asked.unwrap_or_else(|| "-".to_owned()),
        OF_POINT.row(figures, "-"),
    )
}

/// Returns the line about a point as it is measured.
pub(crate) fn units_line(point: &CurvePointRecord) -> String {
    let figures = &point.figures;
    let head = format!("{:>7} units  ", load_words(point.load));
    let (Some(mean), true) = (figures.shown(Figure::Mean), figures.iops() > 0.0) else {
        return format!("{head}{}\n", point.outcome_words());
    };
    let done = load_words(figures.iops());
    format!("{head}{done:>8} op/s  mean {mean:>8}  {}\n", point.outcome_words())
}
