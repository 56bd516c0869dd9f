//! The checklist of an application's performance requirements: 15 rows at the 50th, 90th and 99th
//! percentile, per phase, of each volume and of all together. Source: Azure's guide to premium
//! storage (2018), "Application performance requirements checklist".

use serde::Serialize;

use crate::{Figure, Label, NeedLoad, NeedPhase, Needs, PhaseName};

/// The 15 rows of a volume, or of all of them, in a phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checklist {
    /// The phase.
    pub phase: PhaseName,
    /// When it is; empty: whenever no other phase is.
    pub hours: Vec<String>,
    /// The volume; none for all together.
    pub volume: Option<String>,
    /// The rows, in the order of the source.
    pub rows: [ChecklistRow; 15],
}

/// What the last column of a row is of all samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The smallest.
    Min,
    /// The mean.
    Mean,
    /// The largest.
    Max,
}

impl Statistic {
    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            Statistic::Min => "min",
            Statistic::Mean => "mean",
            Statistic::Max => "max",
        }
    }
}

/// A row. What is not known is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChecklistRow {
    /// What is asked.
    pub requirement: &'static str,
    /// Unit of its figures; empty for counts.
    pub unit: &'static str,
    /// 50th percentile.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// What `overall` is.
    pub statistic: Statistic,
    /// That of all samples.
    pub overall: Option<f64>,
    /// How sure the figures are; none where there are none.
    pub label: Option<Label>,
    /// Where they come from.
    pub source: String,
}

/// Makes the checklists of needs: phase by phase, volume by volume, then all together where there
/// are several.
pub fn checklists(needs: &Needs) -> Vec<Checklist> {
    let mut lists = Vec::new();
    for phase in &needs.phases {
        let loads: Vec<NeedLoad> = phase.volumes.iter().map(with_throughput).collect();
        for load in &loads {
            lists.push(checklist(phase, Some(load.name.clone()), load));
        }
        if loads.len() > 1 {
            lists.push(checklist(phase, None, &together(&loads)));
        }
    }
    lists
}

/// Returns a load whose throughput follows from its I/Os and their size, where it is not stated.
fn with_throughput(load: &NeedLoad) -> NeedLoad {
    let mut load = load.clone();
    let (Some(iops), Some(size)) = (&load.iops, &load.io_size_kib) else { return load };
    let Some((size_kib, _)) = size.usual() else { return load };
    if load.throughput_mb_s.is_none() {
        let mb = |iops: Option<f64>| iops.map(|iops| iops * size_kib * 1024.0 / 1e6);
        load.throughput_mb_s = Some(Figure {
            p50: mb(iops.p50),
            p90: mb(iops.p90),
            p99: mb(iops.p99),
            mean: mb(iops.mean),
            min: mb(iops.min),
            max: mb(iops.max),
            label: Label::Estimated.max(iops.label).max(size.label),
            source: "IOPS x mean size".to_owned(),
            ..Figure::default()
        });
    }
    load
}

fn checklist(phase: &NeedPhase, volume: Option<String>, load: &NeedLoad) -> Checklist {
    use Statistic::{Max, Mean, Min};
    let (read, random) = (load.read_percent.as_ref(), load.random_percent.as_ref());
    let (write, sequential) = (read.map(complement), random.map(complement));
    let (write, sequential) = (write.as_ref(), sequential.as_ref());
    let (throughput, latency) = (load.throughput_mb_s.as_ref(), load.latency_ms.as_ref());
    let cpu = phase.cpu_percent.as_ref();
    let (memory, memory_unit) = match (&phase.memory_gib, &phase.memory_percent) {
        (None, Some(share)) => (Some(share), "%"),
        (held, _) => (held.as_ref(), "GiB"),
    };
    let rows = [
        row("max. transactions per second", "", load.iops.as_ref(), Max),
        row("reads", "%", read, Mean),
        row("writes", "%", write, Mean),
        row("random", "%", random, Mean),
        row("sequential", "%", sequential, Mean),
        row("I/O size", "KiB", load.io_size_kib.as_ref(), Mean),
        row("mean throughput", "MB/s", throughput, Mean),
        row("max. throughput", "MB/s", throughput, Max),
        row("min. latency", "ms", latency, Min),
        row("mean latency", "ms", latency, Mean),
        row("max. processors", "%", cpu, Max),
        row("mean processors", "%", cpu, Mean),
        row("max. memory", memory_unit, memory, Max),
        row("mean memory", memory_unit, memory, Mean),
        row("queue depth", "", load.queue_depth.as_ref(), Mean),
    ];
    Checklist { phase: phase.name, hours: phase.hours.clone(), volume, rows }
}

fn row(
    requirement: &'static str,
    unit: &'static str,
    figure: Option<&Figure>,
    statistic: Statistic,
) -> ChecklistRow {
    let of = |of: fn(&Figure) -> Option<f64>| figure.and_then(of);
    ChecklistRow {
        requirement,
        unit,
        p50: of(|figure| figure.p50),
        p90: of(|figure| figure.p90),
        p99: of(|figure| figure.p99),
        statistic,
        overall: match statistic {
            Statistic::Min => of(|figure| figure.min),
            Statistic::Mean => of(|figure| figure.mean),
            Statistic::Max => of(|figure| figure.max),
        },
        label: figure.map(|figure| figure.label),
        source: figure.map_or(String::new(), |figure| figure.source.clone()),
    }
}

/// Returns what is left of 100 %. Percentiles turn around: the 90th of one is what the 10th of the
/// other leaves. Where that is not known, it follows if the share is the same all the time.
fn complement(figure: &Figure) -> Figure {
    let rest = |value: Option<f64>| value.map(|value| 100.0 - value);
    let constant = rest(figure.constant());
    Figure {
        p1: rest(figure.p99),
        p10: rest(figure.p90),
        p50: rest(figure.p50),
        p90: rest(figure.p10).or(constant),
        p99: rest(figure.p1).or(constant),
        mean: rest(figure.mean),
        min: rest(figure.max),
        max: rest(figure.min),
        label: figure.label,
        source: figure.source.clone(),
    }
}

/// Adds volumes up. Means add up; percentiles and peaks may be at different times, so that their
/// sums are at least as large as what ever meets.
fn together(loads: &[NeedLoad]) -> NeedLoad {
    let sum = |of: fn(&NeedLoad) -> Option<&Figure>| summed(loads.iter().map(of));
    let weighed = |of: fn(&NeedLoad) -> Option<&Figure>| {
        let parts = loads.iter().map(|load| (load.iops.as_ref(), of(load)));
        weighed_mean(parts)
    };
    let iops = sum(|load| load.iops.as_ref());
    let throughput = sum(|load| load.throughput_mb_s.as_ref());
    let mut latency = weighed(|load| load.latency_ms.as_ref());
    if let Some(latency) = &mut latency {
        let least = loads.iter().map(|load| load.latency_ms.as_ref().and_then(|it| it.min));
        latency.min = least
            .collect::<Option<Vec<f64>>>()
            .map(|all| all.into_iter().fold(f64::INFINITY, f64::min));
    }
    NeedLoad {
        iops,
        throughput_mb_s: throughput,
        io_size_kib: weighed(|load| load.io_size_kib.as_ref()),
        read_percent: weighed(|load| load.read_percent.as_ref()),
        random_percent: weighed(|load| load.random_percent.as_ref()),
        latency_ms: latency,
        queue_depth: sum(|load| load.queue_depth.as_ref()),
        ..NeedLoad::default()
    }
}

/// Adds figures up; none unless all are known.
fn summed<'a>(figures: impl Iterator<Item = Option<&'a Figure>>) -> Option<Figure> {
    let all: Vec<&Figure> = figures.collect::<Option<_>>()?;
    let sum = |of: fn(&Figure) -> Option<f64>| all.iter().map(|figure| of(figure)).sum();
    let label = all.iter().map(|figure| figure.label).max()?;
    Some(Figure {
        p50: sum(|figure| figure.p50),
        p90: sum(|figure| figure.p90),
        p99: sum(|figure| figure.p99),
        mean: sum(|figure| figure.mean),
        min: sum(|figure| figure.min),
        max: sum(|figure| figure.max),
        label: label.max(Label::Estimated),
        source: "sum of the volumes: at most, since peaks may be at different times".to_owned(),
        ..Figure::default()
    })
}

/// Returns the mean over the I/Os of all volumes; none unless all are known.
fn weighed_mean<'a>(
    parts: impl Iterator<Item = (Option<&'a Figure>, Option<&'a Figure>)>,
) -> Option<Figure> {
    let mut label = Label::Estimated;
    let (mut sum, mut weight) = (0.0, 0.0);
    for (iops, figure) in parts {
        let (iops, figure) = (iops?, figure?);
        let (n_ios, value) = (iops.usual()?.0, figure.usual()?.0);
        label = label.max(figure.label).max(iops.label);
        sum += n_ios * value;
        weight += n_ios;
    }
    let mean = (weight > 0.0).then(|| sum / weight)?;
    let source = "mean over the I/Os of the volumes".to_owned();
    Some(Figure { mean: Some(mean), label, source, ..Figure::default() })
}
