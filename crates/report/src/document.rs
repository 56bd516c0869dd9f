//! A page of tables and charts about no run, in the look of a report: no request, and no script
//! unless it has charts.

use askama::Template;

use crate::html::{ChartView, TableView};
use crate::page::in_script;
use crate::script;
use crate::spec::ChartSpec;
use crate::table::Table;

/// What a page of tables shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// What it says, in one sentence.
    pub sentence: String,
    /// What it shows.
    pub sections: Vec<DocumentSection>,
    /// What is to be known, at the end.
    pub notes: Vec<String>,
}

/// A table, charts, or both, with a heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentSection {
    /// Its heading.
    pub title: String,
    /// What is to be known before it; may be empty.
    pub lead: String,
    /// The table; one without columns is left out.
    pub table: Table,
    /// Charts behind it, each with its figures.
    pub charts: Vec<ChartSpec>,
}

/// Most rows of a table: an estate has one for each server. The CSV file has all.
const ROWS_MAX: usize = 5000;

#[derive(Template)]
#[template(path = "document.html")]
struct Page<'a> {
    title: &'a str,
    sentence: &'a str,
    sections: Vec<SectionView<'a>>,
    notes: &'a [String],
    style: &'static str,
    version: &'static str,
    has_charts: bool,
    charts_json: String,
    plotly: String,
    report_js: &'static str,
}

struct SectionView<'a> {
    title: &'a str,
    lead: &'a str,
    table: TableView,
    charts: Vec<ChartView>,
}

/// Returns a page of tables and charts as one HTML file that holds all that it needs.
///
/// # Panics
/// If a row of a table has more or fewer cells than there are columns, or the parts of a chart do
/// not fit together.
pub fn document(document: &Document) -> String {
    let view = |section: &'_ DocumentSection| {
        let file = section.title.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        TableView::cut(&section.table, &file, ROWS_MAX)
    };
    let sections = document.sections.iter().map(|section| SectionView {
        title: &section.title,
        lead: &section.lead,
        table: view(section),
        charts: section.charts.iter().map(|chart| ChartView::of(chart, 3)).collect(),
    });
    let charts: Vec<&ChartSpec> = document.sections.iter().flat_map(|it| &it.charts).collect();
    for chart in &charts {
        chart.must_be_whole();
    }
    let has_charts = !charts.is_empty();
    let page = Page {
        title: &document.title,
        sentence: &document.sentence,
        sections: sections.collect(),
        notes: &document.notes,
        style: script::STYLE,
        version: env!("CARGO_PKG_VERSION"),
        has_charts,
        charts_json: in_script(&charts),
        plotly: if has_charts { script::plotly() } else { String::new() },
        report_js: script::REPORT_JS,
    };
    page.render().expect("writing to memory does not fail")
}

/// Returns the same as Markdown: a heading, the sentence, a table for each section and chart, the
/// notes.
///
/// # Panics
/// If a row of a table has more or fewer cells than there are columns.
pub fn document_markdown(document: &Document) -> String {
    let escaped = |text: &str| export::escaped(text);
    let mut parts = vec![format!("# {}\n", escaped(&document.title))];
    parts.push(format!("{}\n", escaped(&document.sentence)));
    for section in &document.sections {
        parts.push(format!("## {}\n", escaped(&section.title)));
        if !section.lead.is_empty() {
            parts.push(format!("{}\n", escaped(&section.lead)));
        }
        if !section.table.columns.is_empty() {
            parts.push(section.table.markdown());
        }
        for chart in &section.charts {
            parts.push(format!("### {}\n", escaped(&chart.title)));
            parts.push(chart.table.markdown());
        }
    }
    if !document.notes.is_empty() {
        let notes = document.notes.iter().map(|note| format!("- {}\n", escaped(note)));
        parts.push(notes.collect());
    }
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_and_nothing_is_asked_of_a_network() {
        let mut table = Table::new(&[("what", "what")]);
        table.rows.push(vec![crate::Cell::text("<script>alert(1)</script>")]);
        let section = DocumentSection { title: "a & b".to_owned(), table, ..Default::default() };
        let page = document(&Document {
            title: "<needs>".to_owned(),
            sections: vec![section],
            notes: vec!["x < y".to_owned()],
            ..Document::default()
        });
        assert!(!page.contains("<script") && !page.contains("<needs>"), "{page}");
        let links = page.matches("href=\"").count();
        let own = page.matches("href=\"data:").count();
        assert_eq!(links, own, "{page}");
        assert!(!page.contains("src=") && !page.contains("http://"), "{page}");
    }
}
