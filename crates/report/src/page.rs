//! The page.

use askama::Template;
use serde_json::{Value, json as object};

use crate::answer::{Answer, Figure};
use crate::html::{ChartView, TableView};
use crate::provenance::Facts;
use crate::script;
use crate::sections::{Contents, Section};
use crate::spec::ChartSpec;
use crate::subject::{Reference, Runs, Subject};
use crate::validity::ValidityView;
use crate::words::unbroken;

/// The template's fields.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: &'a str,
    written: &'a str,
    sentence: &'a str,
    verdict: &'a str,
    class: &'static str,
    sign: &'static str,
    figures: &'a [Figure],
    /// Where the verdict is explained.
    why: &'static str,
    first: Option<ChartView>,
    sections: Vec<SectionView<'a>>,
    validity: &'a [ValidityView],
    references: &'a [Reference],
    provenance: &'a [(String, Vec<Facts>)],
    version: &'static str,
    style: &'static str,
    charts_json: String,
    plotly: String,
    report_js: &'static str,
}

/// A section of the page.
struct SectionView<'a> {
    id: &'a str,
    title: &'a str,
    lead: &'a str,
    tables: Vec<(String, TableView)>,
    charts: Vec<ChartView>,
    downloads: &'a [(String, crate::html::Download)],
}

/// Returns the page of a subject as one HTML file of about 2 MB: it holds all that it needs.
pub fn page(subject: &Subject) -> String {
    let contents = Contents::of(subject);
    let Answer { sentence, figures, state, verdict } = &contents.answer;
    let mut specs: Vec<&ChartSpec> = contents.first.iter().collect();
    specs.extend(contents.sections.iter().flat_map(|section| &section.charts));
    let has_differences = contents.sections.iter().any(|section| section.id == "differences");
    let sentence = unbroken(sentence);
    let page = Page {
        title: &contents.title,
        written: &subject.written,
        sentence: &sentence,
        verdict,
        class: state.class(),
        sign: state.sign(),
        figures,
        why: if matches!(subject.runs, Runs::Sets(_)) && has_differences {
            "differences"
        } else {
            "validity"
        },
        first: contents.first.as_ref().map(|chart| ChartView::of(chart, 2)),
        sections: contents.sections.iter().map(view).collect(),
        validity: &contents.validity,
        references: &subject.references,
        provenance: &contents.provenance,
        version: env!("CARGO_PKG_VERSION"),
        style: script::STYLE,
        charts_json: in_script(&specs),
        plotly: script::plotly(),
        report_js: script::REPORT_JS,
    };
    page.render().expect("writing to memory does not fail")
}

/// Returns the charts of a subject's page, in its order.
pub fn charts(subject: &Subject) -> Vec<ChartSpec> {
    let contents = Contents::of(subject);
    let others = contents.sections.into_iter().flat_map(|section| section.charts);
    contents.first.into_iter().chain(others).collect()
}

/// Returns the answer and the charts of a subject with their tables (`plimsoll.report/1`), as
/// pretty JSON with a final newline.
pub fn json(subject: &Subject) -> String {
    let contents = Contents::of(subject);
    let others = contents.sections.iter().flat_map(|section| &section.charts);
    let charts: Vec<Value> = contents.first.iter().chain(others).map(with_table).collect();
    let report = object!({
        "schema": "plimsoll.report/1",
        "title": contents.title,
        "answer": contents.answer.sentence,
        "verdict": contents.answer.verdict,
        "charts": charts,
    });
    let mut text = serde_json::to_string_pretty(&report)
        .expect("every map key is text, and writing to memory does not fail");
    text.push('\n');
    text
}

fn with_table(chart: &ChartSpec) -> Value {
    let mut value = serde_json::to_value(chart).unwrap_or_default();
    value["table"] = chart.table.json();
    value
}

fn view(section: &Section) -> SectionView<'_> {
    let table = |(title, table): &(String, crate::table::Table)| {
        let file = title.to_lowercase().replace(' ', "-");
        (title.clone(), TableView::of(table, &file))
    };
    SectionView {
        id: &section.id,
        title: &section.title,
        lead: &section.lead,
        tables: section.tables.iter().map(table).collect(),
        charts: section.charts.iter().map(|chart| ChartView::of(chart, 3)).collect(),
        downloads: &section.downloads,
    }
}

/// Writes charts as JSON that no name in them can break out of.
pub(crate) fn in_script(charts: &[&ChartSpec]) -> String {
    let json = serde_json::to_string(charts)
        .expect("every map key is text, and writing to memory does not fail");
    json.replace('<', "\\u003c")
}
