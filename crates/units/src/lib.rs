//! Bytes, rates and durations: parsed and printed as each dialect means them.
//!
//! [`fio`] reads and prints numbers exactly as fio does, oddities included, and says in warnings
//! where that is not what the text looks like. The functions at the top are our own: they take
//! `64 KiB`, `1m30s` and `200 MiB/s`, refuse what is ambiguous, and print three digits.
//!
//! Beside them stand the hash that tells bytes apart where that is stored ([`fnv1a`]), the mixer of
//! 64 bits that random numbers come from ([`mix64`]), the greatest common divisor ([`gcd`]), the
//! search for names that look alike ([`nearest`]), the system's words for its errors
//! ([`system_text`]), the paths in its tables of mounts ([`unescape_mount`]), and the list of an
//! enum's values that has them all ([`all_of!`]).
//!
//! It never decides what a number is for: ranges of options belong to `plan`'s registry, lists
//! and job files to `dialects`. No I/O, no panic on any text.
//!
//! Tests: `tests/fio_parse.rs` and `tests/fio_print.rs` (tables taken from real fio) and
//! `tests/human.rs`.

mod calendar;
mod divisor;
mod error;
pub mod fio;
mod fnv;
mod human_parse;
mod human_print;
mod listed;
#[cfg(test)]
mod misuse;
mod mix;
mod near;
mod shell;
mod system;

pub use calendar::{MONTHS, date_of, days_since_1970};
pub use divisor::gcd;
pub use error::{Parsed, UnitError, UnitWarning};
pub use fnv::fnv1a;
pub use human_parse::{nanoseconds, parse_bytes, parse_count, parse_duration, parse_rate};
pub use human_print::{
    format_bytes, format_change, format_change_short, format_change_whole, format_count,
    format_duration, format_iops, format_latency_ns, format_mib_s, format_number, format_percent,
    format_percent_exact, format_percent_whole, format_rate_mb_s, format_rate_mib_s,
    format_seconds, format_short, plural, things,
};
pub use mix::mix64;
pub use near::{letters, nearest, nearest_by, nearest_of};
pub use shell::{shell_quoted, shell_word};
pub use system::{system_text, unescape_mount};
