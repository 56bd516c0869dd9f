//! Records as one page to look at: a self-contained HTML file, and the data of its charts.
//!
//! [`page`] makes the page of a [`Subject`]: one run, several that belong together, or sets of runs
//! to compare. Its first screen answers the question in one sentence and one picture; the rest is
//! what the answer rests on. [`charts`] returns what is drawn as data ([`ChartSpec`]), each chart
//! with its table.
//!
//! A page is a function of its subject: the same records give the same bytes, but for
//! [`Subject::written`]. It makes no request to anywhere; its own security policy forbids it.
//!
//! [`live_page`] is the page of a run that goes on, with the same charts ([`live_charts`]).
//!
//! The way of a chart: `chart/` (record to [`ChartSpec`]) → `html` (its table) and, as JSON in the
//! page, `templates/report.js`, which hands it to plotly.js. That script is embedded once; see
//! `vendor/plotly.js`. Charts decide nothing and compute nothing but what a picture needs: what
//! measurements mean is `analysis`.
//!
//! Never here: files, a clock, judging, averaging what cannot be averaged. Tests: `tests/`, and
//! `cargo xtask e2e`, which opens pages in a browser.

mod answer;
mod axis;
mod chart;
mod document;
mod html;
mod live;
#[cfg(test)]
mod misuse;
mod page;
mod provenance;
mod scale_out;
mod script;
mod sections;
mod spec;
mod subject;
mod suite;
mod table;
mod thin;
mod validity;
mod view;
mod words;

pub use document::{Document, DocumentSection, document, document_markdown};
pub use live::{answer, live_charts, live_page};
pub use page::{charts, json, page};
pub use spec::{
    Axis, Cells, ChartSpec, Colour, DashStyle, Marker, Quantity, Rule, Scale, Series, Span,
    SpanKind, Thinned, Tick,
};
pub use subject::{Reference, Runs, Set, Subject};
pub use table::{Cell, Column, Table};
pub use words::sentence_case;
