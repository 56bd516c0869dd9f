//! Vdbench's language.

use dialects::vdbench::{Options, Parsed, parse_text, simulation};
use plan::Severity;

use super::{MapHost, headline};

/// Parses a parameter file on an empty host, in the kind mode.
pub(crate) fn kind(text: &str) -> Parsed {
    parse_text("test.parm", text, &Options::default(), &MapHost::default())
}

/// Parses it as 5.04.07 does.
pub(crate) fn compat(text: &str) -> Parsed {
    parse_text("test.parm", text, &Options::compat(), &MapHost::default())
}

/// Writes the run list, without its prefix and its last line; or the mistakes.
pub(crate) fn runs(parsed: &Parsed) -> String {
    if parsed.has_errors() {
        let errors = parsed.diagnostics.iter().filter(|f| f.severity == Severity::Error);
        return errors.map(headline).collect::<Vec<_>>().join("\n");
    }
    let text = simulation(parsed);
    let lines = text.lines().filter_map(|line| line.strip_prefix("Simulating RD="));
    lines.collect::<Vec<_>>().join("\n")
}
