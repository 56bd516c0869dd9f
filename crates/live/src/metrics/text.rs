//! The text form.

use hist::Histogram;

use super::{Family, Labels, MetricKind, Value, bounds_ns};

/// What the text is, as HTTP names it.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes metrics as text.
pub fn text(families: &[Family]) -> String {
    let mut text = String::new();
    for Family { name, kind, help, samples } in families {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        for (labels, value) in samples {
            match value {
                Value::Count(n) => sample(&mut text, name, labels, None, &n.to_string()),
                Value::Ratio(share) => sample(&mut text, name, labels, None, &short(*share)),
                Value::Latencies(of) => histogram(&mut text, name, labels, of),
            }
        }
    }
    text
}

/// Returns a share with four digits.
fn short(share: f64) -> String {
    format!("{share:.4}")
}

fn histogram(text: &mut String, name: &str, labels: &Labels, of: &Histogram) {
    let bucket = format!("{name}_bucket");
    for bound_ns in bounds_ns() {
        let n = of.count_below(bound_ns).to_string();
        sample(text, &bucket, labels, Some(&seconds(u128::from(bound_ns))), &n);
    }
    let n = of.count().to_string();
    sample(text, &bucket, labels, Some("+Inf"), &n);
    sample(text, &format!("{name}_sum"), labels, None, &seconds(of.sum_ns()));
    sample(text, &format!("{name}_count"), labels, None, &n);
}

fn sample(text: &mut String, name: &str, labels: &Labels, le: Option<&str>, value: &str) {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut all: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    all.extend(le.map(|le| format!("le=\"{le}\"")));
    let labels = if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) };
    text.push_str(&format!("{name}{labels} {value}\n"));
}

/// Returns a time in seconds, exact.
fn seconds(ns: u128) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    let text = text.trim_end_matches('0');
    text.strip_suffix('.').unwrap_or(text).to_owned()
}
