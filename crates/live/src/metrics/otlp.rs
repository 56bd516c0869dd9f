//! The form that collectors of OpenTelemetry take: OTLP 1, protobuf, as
//! `opentelemetry/proto/collector/metrics/v1/metrics_service.proto` and what it includes have it.
//! Only the fields that are written stand here; each has the number that it has there.

use hist::Histogram;
use prost::Message as _;

use super::{Exponential, Labels, MetricKind, SCALE, Value, families};
use crate::model::Live;

/// What the bytes are, as HTTP names it.
pub(crate) const CONTENT_TYPE: &str = "application/x-protobuf";

/// The time of what is sent, and who sends it.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    /// Nanoseconds since 1970.
    pub unix_ns: u64,
    /// What tells this run from others of the same host.
    pub instance: &'a str,
}

/// Writes the metrics of a run as a request to a collector. All counts are since the run began.
pub fn otlp(live: &Live, moment: &Moment<'_>) -> Vec<u8> {
    let about = live.about();
    let start_time_unix_nano = about.started_unix_ms * 1_000_000;
    let of = Times { start_time_unix_nano, time_unix_nano: moment.unix_ns };
    let metrics = families(live).into_iter().map(|family| Metric {
        name: family.name.to_owned(),
        description: family.help.to_owned(),
        unit: unit(family.name).to_owned(),
        data: Some(of.data(family.kind, &family.samples)),
    });
    let attributes = [
        ("service.name", "plimsoll"),
        ("service.version", &*about.version),
        ("service.instance.id", moment.instance),
        ("host.name", &about.machine.name),
    ];
    let request = Request {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(Resource { attributes: attributes.map(attribute).into() }),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(Scope { name: "plimsoll".into(), version: about.version.clone() }),
                metrics: metrics.collect(),
            }],
        }],
    };
    request.encode_to_vec()
}

/// Returns what a collector's answer says of points that it did not take; `None` where it took all.
pub(crate) fn rejected(answer: &[u8]) -> Option<String> {
    let partial = Response::decode(answer).ok()?.partial_success?;
    let n = partial.rejected_data_points;
    (n > 0).then(|| format!("{n} figures were rejected: {}", partial.error_message))
}

/// Returns the unit that the end of a name says, in the words of UCUM.
fn unit(name: &str) -> &'static str {
    let name = name.strip_suffix("_total").unwrap_or(name);
    match name.rsplit('_').next() {
        Some("seconds") => "s",
        Some("bytes") => "By",
        Some("ratio") => "1",
        _ => "",
    }
}

fn attribute((key, value): (&str, &str)) -> KeyValue {
    let string_value = Some(value.to_owned());
    KeyValue { key: key.to_owned(), value: Some(AnyValue { string_value }) }
}

fn attributes(labels: &Labels) -> Vec<KeyValue> {
    labels.iter().map(|(name, value)| attribute((name, value))).collect()
}

/// From when and to when the points are.
struct Times {
    start_time_unix_nano: u64,
    time_unix_nano: u64,
}

impl Times {
    fn data(&self, kind: MetricKind, samples: &[(Labels, Value)]) -> Data {
        let numbers = || samples.iter().filter_map(|(labels, value)| self.number(labels, value));
        match kind {
            MetricKind::Gauge => Data::Gauge(Gauge { data_points: numbers().collect() }),
            MetricKind::Counter => Data::Sum(Sum {
                data_points: numbers().collect(),
                aggregation_temporality: CUMULATIVE,
                is_monotonic: true,
            }),
            MetricKind::Histogram => Data::Histogram(ExponentialHistogram {
                data_points: samples
                    .iter()
                    .filter_map(|(labels, value)| match value {
                        Value::Latencies(of) => Some(self.histogram(labels, of)),
                        Value::Count(_) | Value::Ratio(_) => None,
                    })
                    .collect(),
                aggregation_temporality: CUMULATIVE,
            }),
        }
    }

    fn number(&self, labels: &Labels, value: &Value) -> Option<NumberPoint> {
        let value = match value {
            Value::Count(n) => Number::AsInt(i64::try_from(*n).unwrap_or(i64::MAX)),
            Value::Ratio(share) => Number::AsDouble(*share),
            Value::Latencies(_) => return None,
        };
        Some(NumberPoint {
            start_time_unix_nano: self.start_time_unix_nano,
            time_unix_nano: self.time_unix_nano,
            value: Some(value),
            attributes: attributes(labels),
        })
    }

    fn histogram(&self, labels: &Labels, of: &Histogram) -> HistogramPoint {
        let Exponential { n_zero, by_end } = Exponential::of(of);
        let (first, last) = (by_end.keys().next(), by_end.keys().next_back());
        let positive = first.zip(last).map(|(&first, &last)| Buckets {
            // A bucket is called by the power at which it begins.
            offset: (first - 1) as i32,
            bucket_counts: (first..=last).map(|end| by_end.get(&end).map_or(0, |n| *n)).collect(),
        });
        let seconds = |ns: u64| ns as f64 / 1e9;
        HistogramPoint {
            attributes: attributes(labels),
            start_time_unix_nano: self.start_time_unix_nano,
            time_unix_nano: self.time_unix_nano,
            count: of.count(),
            sum: Some(of.sum_ns() as f64 / 1e9),
            scale: SCALE,
            zero_count: n_zero,
            positive,
            min: of.min_ns().map(seconds),
            max: of.max_ns().map(seconds),
        }
    }
}

/// Counts are since the start of each series.
const CUMULATIVE: i32 = 2;

#[derive(Clone, PartialEq, prost::Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Response {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_data_points: i64,
    #[prost(string, tag = "2")]
    error_message: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Metric {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    description: String,
    #[prost(string, tag = "3")]
    unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 10")]
    data: Option<Data>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "10")]
    Histogram(ExponentialHistogram),
}

#[derive(Clone, PartialEq, prost::Message)]
struct Gauge {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberPoint>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Sum {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    is_monotonic: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ExponentialHistogram {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<HistogramPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct NumberPoint {
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(oneof = "Number", tags = "4, 6")]
    value: Option<Number>,
    #[prost(message, repeated, tag = "7")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Number {
    #[prost(double, tag = "4")]
    AsDouble(f64),
    #[prost(sfixed64, tag = "6")]
    AsInt(i64),
}

#[derive(Clone, PartialEq, prost::Message)]
struct HistogramPoint {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    count: u64,
    #[prost(double, optional, tag = "5")]
    sum: Option<f64>,
    #[prost(sint32, tag = "6")]
    scale: i32,
    #[prost(fixed64, tag = "7")]
    zero_count: u64,
    #[prost(message, optional, tag = "8")]
    positive: Option<Buckets>,
    #[prost(double, optional, tag = "12")]
    min: Option<f64>,
    #[prost(double, optional, tag = "13")]
    max: Option<f64>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Buckets {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint64, repeated, tag = "2")]
    bucket_counts: Vec<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    string_value: Option<String>,
}

#[cfg(test)]
mod tests {
    use record::{Interval, JobRecord};

    use super::*;
    use crate::model::{About, HostSoFar};

    /// A request with a value in every field, as the published `opentelemetry-proto` 1.45 for
    /// Python writes it.
    const REQUEST: &str = "0a9b020a1c0a1a0a0c736572766963652e6e616d65120a0a08706c696d736f6c6c12fa\
        010a110a08706c696d736f6c6c1205302e312e3012480a096f70735f746f74616c1205446f6e652e1a02427\
        93a300a2a11e80300000000000019d0070000000000003107000000000000003a0d0a04686f737412050a03\
        766d311002180112250a0a627573795f726174696f1a01312a140a1219d0070000000000002100000000000\
        0d03f12740a0f6c6174656e63795f7365636f6e64731a0173525e0a5a0a0c0a026f7012060a047265616411\
        e80300000000000019d007000000000000210a0000000000000029000000000000f83f30063901000000000\
        00000420908b5021204ac02000861000000000000c03f69000000000000e03f1002";

    /// An answer of a collector, written by the same.
    const ANSWER: &str = "0a0b08031207746f6f206f6c64";

    fn bytes(hex: &str) -> Vec<u8> {
        let byte = |idx| u8::from_str_radix(&hex[idx..idx + 2], 16).expect("digits");
        (0..hex.len()).step_by(2).map(byte).collect()
    }

    #[test]
    fn fields_are_those_of_the_published_format() {
        let request = bytes(REQUEST);
        let read = Request::decode(&*request).expect("a request");
        // A field with another number, or of another kind, would be lost.
        assert_eq!(read.encode_to_vec(), request, "{read:#?}");
        let metrics = &read.resource_metrics[0].scope_metrics[0].metrics;
        let Some(Data::Histogram(latency)) = &metrics[2].data else { panic!("{metrics:?}") };
        let point = &latency.data_points[0];
        assert_eq!((point.count, point.scale, point.zero_count), (10, 3, 1));
        assert_eq!((point.sum, point.min, point.max), (Some(1.5), Some(0.125), Some(0.5)));
        let buckets = Buckets { offset: -155, bucket_counts: vec![300, 0, 8] };
        assert_eq!(point.positive, Some(buckets));
        assert_eq!(rejected(&bytes(ANSWER)).as_deref(), Some("3 figures were rejected: too old"));
        assert_eq!(rejected(&[]), None, "all were taken");
    }

    #[test]
    fn a_run_is_sent_with_every_operation() {
        let mut live = Live::new(About { started_unix_ms: 5, ..About::default() });
        live.set_hosts(vec!["vm1".to_owned()]);
        live.begin_run();
        live.begin_step(0, 1, "", 1);
        let mut job = JobRecord { name: "j".to_owned(), n_workers: 1, ..JobRecord::default() };
        let read = &mut job.dirs.read;
        read.n_ios = 121;
        for (latency_ns, n) in [(0, 1), (1500, 100), (1_000_000_000, 20)] {
            read.lat.record_n(latency_ns, n);
        }
        let jobs = [job];
        let host = HostSoFar { name: "vm1", jobs: &jobs, n_in_flight: &[], load: None, lost: None };
        let second = Interval { end_ms: 1000, length_ms: 1000, ..Interval::default() };
        live.second(&second, &[host]);
        let bytes = otlp(&live, &Moment { unix_ns: 7_000_000, instance: "5-1" });
        let request = Request::decode(&*bytes).expect("a request");
        let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
        let named = |name: &str| metrics.iter().find(|it| it.name == name).expect("the metric");
        let Some(Data::Sum(operations)) = &named("plimsoll_operations_total").data else {
            panic!("no sum")
        };
        assert!(operations.is_monotonic && operations.aggregation_temporality == 2);
        let point = &operations.data_points[0];
        assert_eq!(point.value, Some(Number::AsInt(121)));
        assert_eq!((point.start_time_unix_nano, point.time_unix_nano), (5_000_000, 7_000_000));
        let labels = ["host", "job", "op"];
        assert_eq!(point.attributes.iter().map(|it| &*it.key).collect::<Vec<_>>(), labels);
        let latency = named("plimsoll_latency_seconds");
        let Some(Data::Histogram(histogram)) = &latency.data else { panic!("no histogram") };
        let point = &histogram.data_points[0];
        assert_eq!((&*latency.unit, point.count, point.zero_count), ("s", 121, 1));
        // 1.5 us lies between 2^(-155/8) and 2^(-154/8) s; one second is the end of a bucket, which
        // is part of it, but our own bin around it reaches beyond.
        let buckets = point.positive.as_ref().expect("buckets");
        assert_eq!((buckets.offset, buckets.bucket_counts[0]), (-155, 100));
        assert_eq!(buckets.bucket_counts.iter().sum::<u64>(), 120);
        let end_of_last = buckets.offset + buckets.bucket_counts.len() as i32;
        assert!((0..=1).contains(&end_of_last), "{end_of_last}");
    }
}
