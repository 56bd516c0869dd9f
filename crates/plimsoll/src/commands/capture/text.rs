//! Needs as a table for people, and as JSON.

use ::needs::{Figure, NeedPhase, Needs};
use units::format_short;

use crate::commands::catalog::table;

/// Prints needs as JSON.
pub(super) fn json(needs: &Needs) -> String {
    let mut text = serde_json::to_string_pretty(needs).expect("needs are plain data");
    text.push('\n');
    text
}

/// Columns of the table.
const COLUMNS: [&str; 8] = ["", "p50", "p90", "p99", "mean", "min", "max", ""];
const IS_NUMBER: [bool; 8] = [false, true, true, true, true, true, true, false];

/// Prints a table per phase: what the file holds, without its sources.
pub(super) fn table_of(needs: &Needs) -> String {
    let mut text = String::new();
    for phase in &needs.phases {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&heading(phase));
        let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
        for load in &phase.volumes {
            rows.push(heading_row(&load.name));
            let figures = load.figures();
            rows.extend(figures.into_iter().filter_map(|(key, figure)| row(key, figure)));
        }
        let host: Vec<_> =
            phase.figures().into_iter().filter_map(|(key, figure)| row(key, figure)).collect();
        if !host.is_empty() {
            rows.push(heading_row("host"));
            rows.extend(host);
        }
        for line in table(&rows, &IS_NUMBER) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

fn heading(phase: &NeedPhase) -> String {
    let mut parts = phase.hours.clone();
    if let Some(captured_s) = phase.captured_s {
        let length = std::time::Duration::from_secs_f64(captured_s.clamp(0.0, 1e12));
        parts.push(format!("{} captured", units::format_duration(length)));
    }
    match parts[..] {
        [] => format!("{}\n", phase.name),
        _ => format!("{} ({})\n", phase.name, parts.join(", ")),
    }
}

fn heading_row(name: &str) -> Vec<String> {
    let mut row = vec![String::new(); COLUMNS.len()];
    name.clone_into(&mut row[0]);
    row
}

/// Returns a row of the table; none for what is not known.
fn row(key: &str, figure: Option<&Figure>) -> Option<Vec<String>> {
    let figure = figure?;
    let values = [figure.p50, figure.p90, figure.p99, figure.mean, figure.min, figure.max];
    let mut row = vec![format!("  {}", words(key))];
    row.extend(values.map(|value| value.map_or("-".to_owned(), format_short)));
    row.push(figure.label.word().to_owned());
    Some(row)
}

/// Says a key of the file in words.
fn words(key: &str) -> &str {
    match key {
        "iops" => "IOPS",
        "throughput_mb_s" => "throughput, MB/s",
        "io_size_kib" => "I/O size, KiB",
        "read_percent" => "reads, %",
        "random_percent" => "random, %",
        "latency_ms" => "latency, ms",
        "queue_depth" => "queue depth",
        "cpu_percent" => "processors, %",
        "memory_gib" => "memory, GiB",
        "memory_percent" => "memory, %",
        other => other,
    }
}
