//! The protobuf form (`io.prometheus.client.MetricFamily`, each behind its length). Only it has
//! native histograms. So few fields are written that they need no generated code.

use hist::Histogram;

use super::{Exponential, Family, Labels, MetricKind, SCALE, Value, bounds_ns};

/// What the bytes are, as HTTP names it.
pub const CONTENT_TYPE: &str = "application/vnd.google.protobuf; \
                                proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// Returns whether a reader asks for this form: it names it, and no other form before it.
pub fn is_wanted(accept: &str) -> bool {
    let first = accept.split(',').next().unwrap_or_default();
    first.trim().starts_with("application/vnd.google.protobuf") && first.contains("delimited")
}

/// Writes metrics.
pub fn proto(families: &[Family]) -> Vec<u8> {
    let mut out = Vec::new();
    for family in families {
        let message = Message::default().text(1, family.name).text(2, family.help).number(
            3,
            match family.kind {
                MetricKind::Counter => 0,
                MetricKind::Gauge => 1,
                MetricKind::Histogram => 4,
            },
        );
        let message = family.samples.iter().fold(message, |message, (labels, value)| {
            message.message(4, &metric(labels, value, family.kind))
        });
        put_varint(&mut out, message.0.len() as u64);
        out.extend(message.0);
    }
    out
}

fn metric(labels: &Labels, value: &Value, kind: MetricKind) -> Message {
    let metric = labels.iter().fold(Message::default(), |metric, (name, value)| {
        metric.message(1, &Message::default().text(1, name).text(2, value))
    });
    let number = |value: f64| Message::default().double(1, value);
    let value = match value {
        Value::Latencies(of) => return metric.message(7, &histogram(of)),
        Value::Count(n) => *n as f64,
        Value::Ratio(ratio) => *ratio,
    };
    metric.message(if kind == MetricKind::Counter { 3 } else { 2 }, &number(value))
}

/// Writes a histogram with classic and native buckets.
fn histogram(of: &Histogram) -> Message {
    let mut message = Message::default().number(1, of.count()).double(2, of.sum_ns() as f64 / 1e9);
    for bound_ns in bounds_ns() {
        let bucket =
            Message::default().number(1, of.count_below(bound_ns)).double(2, bound_ns as f64 / 1e9);
        message = message.message(3, &bucket);
    }
    let Exponential { n_zero, by_end } = Exponential::of(of);
    message = message.signed(5, i64::from(SCALE)).double(6, f64::MIN_POSITIVE).number(7, n_zero);
    let mut spans: Vec<(i64, u64)> = Vec::new();
    let mut end = 0;
    for index in by_end.keys() {
        match spans.last_mut() {
            Some((_, length)) if *index == end => *length += 1,
            _ => spans.push((index - end, 1)),
        }
        end = index + 1;
    }
    for (offset, length) in spans {
        message = message.message(12, &Message::default().signed(1, offset).number(2, length));
    }
    let mut before = 0;
    for n in by_end.values() {
        let n = n.cast_signed();
        message = message.signed(13, n - before);
        before = n;
    }
    message
}

/// A message: fields one after the other.
#[derive(Clone, Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn tag(mut self, field: u64, kind: u64) -> Self {
        put_varint(&mut self.0, field << 3 | kind);
        self
    }

    fn number(self, field: u64, value: u64) -> Self {
        let mut message = self.tag(field, 0);
        put_varint(&mut message.0, value);
        message
    }

    /// Small numbers of both signs are short.
    fn signed(self, field: u64, value: i64) -> Self {
        self.number(field, (value << 1 ^ value >> 63).cast_unsigned())
    }

    fn double(self, field: u64, value: f64) -> Self {
        let mut message = self.tag(field, 1);
        message.0.extend(value.to_le_bytes());
        message
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, of: &Message) -> Self {
        self.bytes(field, &of.0)
    }

    fn bytes(self, field: u64, bytes: &[u8]) -> Self {
        let mut message = self.tag(field, 2);
        put_varint(&mut message.0, bytes.len() as u64);
        message.0.extend(bytes);
        message
    }
}

fn put_varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
