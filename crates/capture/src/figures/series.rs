//! Every sample as a table, for replays.

use crate::collect::Captured;
use crate::time;

/// Prints the samples of all volumes as CSV, a line each, in the order of volume and time.
///
/// Counts and bytes are those of the span; `in_flight` is the mean of it. What a source does not
/// tell is empty.
pub fn series_csv(captured: &Captured) -> String {
    let mut text = format!("{}\n", needs::SERIES_HEAD);
    for volume in &captured.volumes {
        let name = field(&volume.name);
        for sample in &volume.samples {
            let end = if volume.has_times_of_day {
                time::iso(sample.end_ns)
            } else {
                format!("{:.3}", sample.end_ns as f64 / 1e9)
            };
            let in_flight = sample.in_flight_ns.map(|ns| ns / sample.span_ns.max(1) as f64);
            let figures = [
                Some(sample.span_s()),
                sample.n_ios(),
                sample.read.n_ios,
                sample.write.n_ios,
                sample.read.bytes,
                sample.write.bytes,
                in_flight,
            ];
            text.push_str(&format!("{name},{end}"));
            for figure in figures {
                text.push(',');
                if let Some(figure) = figure {
                    text.push_str(&needs::number(figure));
                }
            }
            text.push('\n');
        }
    }
    text
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
