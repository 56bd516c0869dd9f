//! The errata of the source documents.

use volume::errata::ERRATA;

use crate::fill::fill;

/// Columns of the text.
const COLUMNS: usize = 80;

/// Returns all errata as text or JSON.
pub(super) fn page(as_json: bool) -> String {
    if as_json {
        let all = ERRATA.iter().map(|erratum| {
            serde_json::json!({
                "place": erratum.place,
                "printed": erratum.printed,
                "used": erratum.used,
                "why": erratum.why,
                "cases": erratum.cases,
            })
        });
        let all: Vec<serde_json::Value> = all.collect();
        return format!(
            "{:#}\n",
            serde_json::json!({"schema": "plimsoll.errata/1", "errata": all})
        );
    }
    let mut page = "Where the source documents contradict themselves, and which figure is used.\n\
                    Cases are rows of docs/acceptance.md.\n"
        .to_owned();
    for erratum in ERRATA {
        page.push_str(&format!("\n{}\n", erratum.place));
        let parts = [
            ("printed", erratum.printed.join("; ")),
            ("used", erratum.used.to_owned()),
            ("why", erratum.why.to_owned()),
            ("cases", erratum.cases.join(", ")),
        ];
        for (name, text) in parts {
            page.push_str(&fill(&format!("  {name:<8}"), &text, COLUMNS));
        }
    }
    page
}
