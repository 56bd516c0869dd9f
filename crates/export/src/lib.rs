//! Records in the forms that other programs read: CSV, Parquet, Markdown.
//!
//! CSV and Parquet are one table ([`Table`]): a row per job and direction, per kind of latency, and
//! per interval. Its columns are [`COLUMNS`], each with its text; docs/export.md has them, too.
//! Markdown is for people: what a pull request needs.
//!
//! The record itself, and fio's JSON, are written by `record` and `dialects`.
//!
//! Never here: files, the store, arithmetic beyond a rate. Tests: `tests/`.

mod columns;
mod csv_text;
mod markdown;
#[cfg(test)]
mod misuse;
mod parquet;
mod table;

pub use columns::{COLUMNS, Column, ColumnKind, Value};
pub use csv_text::{csv, plain_cell};
pub use markdown::{Judge, escaped, markdown};
pub use parquet::parquet;
pub use table::{Run, Table, table};
