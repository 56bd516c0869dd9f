//! The scripts and the style sheet of the page.

/// plotly.js (`vendor/plotly.js`), packed by the build script.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plotly.js.z"));

/// Our own script: from chart data to plotly.
pub(crate) const REPORT_JS: &str = include_str!("../templates/report.js");

/// What fills the page of a run that goes on.
pub(crate) const LIVE_JS: &str = include_str!("../templates/live.js");

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("../templates/style.css");

/// Returns the text of plotly.js (MIT, its notice at the top).
pub(crate) fn plotly() -> String {
    let bytes = miniz_oxide::inflate::decompress_to_vec(PACKED).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_whole_has_its_notice_and_ends_no_script_element() {
        let script = plotly();
        assert!(script.len() > 1_000_000, "{} bytes", script.len());
        let notice = &script[..400];
        assert!(notice.contains("plotly.js (cartesian") && notice.contains("MIT"), "{notice}");
        assert!(!script.contains("</script"));
        assert!(!script.contains("MathJax-script"));
    }
}
