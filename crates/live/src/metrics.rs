//! A run as metrics, in the two forms that Prometheus and its relatives read, text with classic
//! histograms (version 0.0.4) and protobuf, which has native ones beside them; and as a collector
//! of OpenTelemetry takes them.

mod otlp;
mod proto;
mod text;

use std::collections::BTreeMap;

use hist::Histogram;

use crate::counts::{Counts, OpName};
use crate::model::{HostNow, Live};

pub(crate) use otlp::{CONTENT_TYPE as OTLP_TYPE, rejected};
pub use otlp::{Moment, otlp};
pub use proto::{CONTENT_TYPE as PROTO_TYPE, is_wanted as wants_proto, proto};
pub use text::{CONTENT_TYPE as TEXT_TYPE, text};

/// Samples of one name.
#[derive(Clone, Debug)]
pub struct Family {
    name: &'static str,
    kind: MetricKind,
    help: &'static str,
    samples: Vec<(Labels, Value)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// Names and values.
type Labels = Vec<(&'static str, String)>;

#[derive(Clone, Debug)]
enum Value {
    Count(u64),
    Ratio(f64),
    Latencies(Histogram),
}

/// Bounds of the buckets of classic histograms: two per doubling from 1 us to 26 s, as powers of
/// two in nanoseconds and one and a half times these. Our own buckets begin there, so each count is
/// exact; it is of the values below the bound.
fn bounds_ns() -> impl Iterator<Item = u64> {
    (10..=34).flat_map(|power| [1_u64 << power, (1 << power) + (1 << (power - 1))])
}

/// Buckets of native and exponential histograms per doubling, as a power of two: each ends 9 %
/// above where it begins.
const SCALE: i32 = 3;

/// The counts of a histogram in buckets of equal ratios.
struct Exponential {
    n_zero: u64,
    /// By the power of 2^(1/8) s up to which each reaches, which is part of it.
    by_end: BTreeMap<i64, u64>,
}

impl Exponential {
    fn of(histogram: &Histogram) -> Exponential {
        let mut exponential = Exponential { n_zero: 0, by_end: BTreeMap::new() };
        for (low_ns, high_ns, n) in histogram.iter_nonempty() {
            if high_ns == 0 {
                exponential.n_zero += n;
                continue;
            }
            let middle_s = (low_ns as f64 + high_ns as f64) / 2e9;
            let end = (middle_s.log2() * f64::from(1 << SCALE)).ceil() as i64;
            *exponential.by_end.entry(end).or_default() += n;
        }
        exponential
    }
}

/// What one host did.
struct OfHost<'a> {
    host: &'a HostNow,
    labels: Labels,
    totals: BTreeMap<(String, OpName), Counts>,
}

/// Returns all metrics.
pub fn families(live: &Live) -> Vec<Family> {
    let machine = &live.about().machine.name;
    let hosts = live.hosts().iter().map(|host| {
        let name = if host.name.is_empty() { machine } else { &host.name };
        OfHost { host, labels: vec![("host", name.clone())], totals: host.totals() }
    });
    let hosts: Vec<OfHost<'_>> = hosts.collect();
    let mut families = of_operations(&hosts);
    families.extend(of_jobs(&hosts));
    families.extend(of_run(live));
    families.retain(|family| !family.samples.is_empty());
    families
}

fn family(
    name: &'static str,
    kind: MetricKind,
    help: &'static str,
    samples: impl Iterator<Item = (Labels, Value)>,
) -> Family {
    Family { name, kind, help, samples: samples.collect() }
}

fn with(labels: &Labels, name: &'static str, value: &str) -> Labels {
    labels.iter().cloned().chain([(name, value.to_owned())]).collect()
}

fn of_operations(hosts: &[OfHost<'_>]) -> Vec<Family> {
    let each = |value: fn(&Counts) -> Option<Value>| {
        hosts.iter().flat_map(move |of| {
            of.totals.iter().filter_map(move |((job, op), counts)| {
                let mut labels = with(&with(&of.labels, "job", job), "op", &op.op);
                if !op.part.is_empty() {
                    labels.push(("part", op.part.clone()));
                }
                Some((labels, value(counts)?))
            })
        })
    };
    vec![
        family(
            "plimsoll_operations_total",
            MetricKind::Counter,
            "Operations completed, without the ramp.",
            each(|it| Some(Value::Count(it.n_ios))),
        ),
        family(
            "plimsoll_bytes_total",
            MetricKind::Counter,
            "Bytes moved, without the ramp.",
            each(|it| Some(Value::Count(it.io_bytes))),
        ),
        family(
            "plimsoll_latency_seconds",
            MetricKind::Histogram,
            "From the choice of an operation to its completion.",
            each(|it| Some(Value::Latencies(it.latency.clone()))),
        ),
        family(
            "plimsoll_response_seconds",
            MetricKind::Histogram,
            "Of jobs with a rate: from when an operation was due to its completion.",
            each(|it| (!it.response.is_empty()).then(|| Value::Latencies(it.response.clone()))),
        ),
    ]
}

fn of_jobs(hosts: &[OfHost<'_>]) -> Vec<Family> {
    let errors = hosts.iter().flat_map(|of| {
        let errors = of.host.errors().into_iter();
        errors.map(|(job, n)| (with(&of.labels, "job", &job), Value::Count(n)))
    });
    let in_flight = hosts.iter().flat_map(|of| {
        let jobs = of.host.jobs.iter();
        jobs.filter_map(|(job, now)| {
            Some((with(&of.labels, "job", job), Value::Count(now.n_in_flight?)))
        })
    });
    let up = hosts.iter().map(|of| {
        let is_up = of.host.lost.is_none();
        (of.labels.clone(), Value::Count(u64::from(is_up)))
    });
    let loads = || hosts.iter().filter_map(|of| Some((of.labels.clone(), of.host.load?)));
    vec![
        family(
            "plimsoll_errors_total",
            MetricKind::Counter,
            "Operations that failed and ended no job.",
            errors,
        ),
        family("plimsoll_in_flight", MetricKind::Gauge, "Operations in flight.", in_flight),
        family(
            "plimsoll_host_up",
            MetricKind::Gauge,
            "1 while the host takes part, 0 once it is lost.",
            up,
        ),
        family(
            "plimsoll_cpu_busy_ratio",
            MetricKind::Gauge,
            "Share of the time of all processors of the host that was not idle.",
            loads().map(|(labels, load)| (labels, Value::Ratio(load.busy_share))),
        ),
        family(
            "plimsoll_cpu_own_ratio",
            MetricKind::Gauge,
            "Part of it that this program used.",
            loads().map(|(labels, load)| (labels, Value::Ratio(load.own_share))),
        ),
    ]
}

fn of_run(live: &Live) -> Vec<Family> {
    let step = live.step();
    let count = |n: u32| [(Labels::new(), Value::Count(u64::from(n)))].into_iter();
    let labels = vec![("version", live.about().version.clone()), ("step", step.name.clone())];
    vec![
        family(
            "plimsoll_step",
            MetricKind::Gauge,
            "Number of the step that runs, from 0.",
            count(step.step_idx),
        ),
        family("plimsoll_steps", MetricKind::Gauge, "Number of steps.", count(step.n_steps)),
        family(
            "plimsoll_run_info",
            MetricKind::Gauge,
            "1; its labels say what runs.",
            [(labels, Value::Count(1))].into_iter(),
        ),
    ]
}
