//! Metrics as clouds export them. Such files are small: they are read whole.

pub(crate) mod azure;
pub(crate) mod cloudwatch;

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use serde_json::Value;

use crate::context::{Context, Spans};
use crate::lines::ReadError;
use crate::sample::{Event, HostSample, Rates};

/// Largest export. A year of minutes of twenty metrics has 400 MiB.
const BYTES_MAX: u64 = 1 << 30;

/// Reads a document whole.
fn document(input: &mut dyn BufRead) -> Result<Value, ReadError> {
    serde_json::from_reader(input.take(BYTES_MAX)).map_err(|error| ReadError::Line {
        line: error.line() as u64,
        message: if error.is_eof() {
            "the file is cut off here".to_owned()
        } else {
            format!("it is not JSON: {error}")
        },
    })
}

/// Figures by device and moment, as metrics come one after the other.
#[derive(Default)]
struct MetricGrid {
    devices: BTreeMap<String, BTreeMap<i64, Rates>>,
    host: BTreeMap<i64, HostSample>,
}

impl MetricGrid {
    fn device(&mut self, name: &str, end_ns: i64) -> &mut Rates {
        self.devices.entry(name.to_owned()).or_default().entry(end_ns).or_default()
    }

    fn host(&mut self, end_ns: i64) -> &mut HostSample {
        self.host.entry(end_ns).or_default()
    }

    /// Hands over the samples in the order of time, all with the span of the export.
    fn put(self, span_ns: u64, context: &mut Context<'_>) {
        for (end_ns, host) in self.host {
            context.put(Event::Host(HostSample { end_ns, span_ns, ..host }));
        }
        for (name, samples) in self.devices {
            let mut spans = Spans::default();
            for (end_ns, rates) in samples {
                let (span_ns, note) = spans.next(end_ns, Some(span_ns));
                if let Some(note) = note {
                    context.remark(None, format!("{name}: {note}"));
                }
                context.put(Event::Device { name: &name, sample: rates.over(end_ns, span_ns) });
            }
        }
    }
}
