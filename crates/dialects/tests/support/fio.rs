//! fio's language.

use dialects::LowerOptions;
use dialects::Parsed;
use dialects::fio::parse_text;

use super::MapHost;

/// Parses a job file on an empty host.
pub(crate) fn parse(text: &str) -> Parsed {
    parse_text("test.fio", text, &LowerOptions::default(), &MapHost::default())
}
