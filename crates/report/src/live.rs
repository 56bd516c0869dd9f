//! The page of a run that goes on: the look and the charts of a report, filled by events.

use askama::Template;
use export::Run;
use record::Record;

use crate::answer::of_run;
use crate::chart::over_time::Source;
use crate::chart::{heat, over_time};
use crate::script;
use crate::spec::ChartSpec;
use crate::view::results;

/// A place for a chart, which comes later.
struct ChartSlot {
    id: &'static str,
    title: &'static str,
    height_px: u32,
}

/// The charts of the page, in its order.
const PLACES: [ChartSlot; 4] = [
    ChartSlot { id: "live-iops", title: "I/O rate over time", height_px: 340 },
    ChartSlot { id: "live-latency", title: "Latency over time", height_px: 300 },
    ChartSlot { id: "live-heat", title: "Latency heat map", height_px: 340 },
    ChartSlot { id: "live-bytes", title: "Throughput over time", height_px: 240 },
];

#[derive(Template)]
#[template(path = "live.html")]
struct Page<'a> {
    command: &'a str,
    places: &'a [ChartSlot],
    style: &'static str,
    plotly: String,
    report_js: &'static str,
    live_js: &'static str,
    version: &'static str,
}

/// Returns the page of a run that goes on. It asks the server that it comes from for `events`, and
/// no other; each is an object with the texts of the page and the charts of [`live_charts`].
pub fn live_page(command: &str) -> String {
    let page = Page {
        command,
        places: &PLACES,
        style: script::STYLE,
        plotly: script::plotly(),
        report_js: script::REPORT_JS,
        live_js: script::LIVE_JS,
        version: env!("CARGO_PKG_VERSION"),
    };
    page.render().expect("writing to memory does not fail")
}

/// Returns the charts over time of a run so far, of which only the intervals and the length need
/// be known; `note` stands below each.
pub fn live_charts(record: &Record, note: Option<&str>) -> Vec<ChartSpec> {
    let steps = results(record);
    let source = Source { record, steps: &steps, id: "live", line: "" };
    let mut charts = over_time::charts(&source);
    charts.extend(heat::chart(&source));
    for chart in &mut charts {
        chart.notes.extend(note.map(str::to_owned));
        chart.must_be_whole();
    }
    charts
}

/// Returns what the page of a run answers in one sentence, and the verdict on it.
pub fn answer(record: &Record) -> (String, String) {
    let run = Run { id: None, name: String::new(), record: record.clone() };
    let answer = of_run(&run);
    (answer.sentence, answer.verdict)
}
