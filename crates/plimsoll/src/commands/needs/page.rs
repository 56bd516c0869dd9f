//! The checklist as a page in the look of reports.

use ::needs::{Checklist, Needs, requirements};
use report::{Cell, Document, DocumentSection, Table};

use super::text;

/// Returns the page.
pub(super) fn html(needs: &Needs, lists: &[Checklist]) -> String {
    let required = requirements(needs);
    let mut sections: Vec<DocumentSection> = lists.iter().map(section).collect();
    let rows = text::required_rows(&required);
    let heads: Vec<(&str, &str)> =
        rows[0].iter().map(|head| (head.as_str(), head.as_str())).collect();
    let mut table = Table::new(&heads);
    let cell = |text: &String| match text.trim_end_matches('%').parse::<f64>() {
        Ok(value) => Cell::Number(value, text.clone()),
        Err(_) => Cell::Text(text.clone()),
    };
    table.rows = rows[1..].iter().map(|row| row.iter().map(cell).collect()).collect();
    // Where no rate is known, notes say what to write.
    if !table.rows.is_empty() {
        sections.push(DocumentSection {
            title: format!("To be carried, at {} of the time", required.percentile.word()),
            table,
            ..DocumentSection::default()
        });
    }
    let title = if needs.name.is_empty() { "Needs" } else { &needs.name };
    let n_volumes = units::plural(needs.volumes.len(), "volume");
    let n_phases = units::plural(needs.phases.len(), "phase");
    let notes = text::all_notes(needs, &required);
    report::document(&Document {
        title: title.to_owned(),
        sentence: format!("What the application asks of its storage: {n_volumes}, {n_phases}."),
        sections,
        notes,
    })
}

fn section(list: &Checklist) -> DocumentSection {
    let columns = [
        ("requirement", "requirement"),
        ("p50", "p50"),
        ("p90", "p90"),
        ("p99", "p99"),
        ("all", "all"),
        ("", "statistic"),
        ("how sure", "label"),
        ("source", "source"),
    ];
    let mut table = Table::new(&columns);
    for row in &list.rows {
        let cells = text::cells(row, "");
        let values = [None, row.p50, row.p90, row.p99, row.overall, None, None];
        let mut line: Vec<Cell> = cells
            .into_iter()
            .zip(values)
            .map(|(shown, value)| match value {
                Some(value) => Cell::Number(value, shown),
                None if shown.is_empty() => Cell::Nothing,
                None => Cell::Text(shown),
            })
            .collect();
        line.push(Cell::Text(row.source.clone()));
        table.rows.push(line);
    }
    DocumentSection { title: text::title(list), table, ..DocumentSection::default() }
}
