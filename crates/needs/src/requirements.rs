//! What a design must carry: needs with growth and peak, one rate per volume and phase.

use serde::Serialize;

use crate::figure::BY_HAND;
use crate::{
    Amount, Figure, IoSizes, Label, NeedLoad, NeedPhase, NeedVolume, Needs, Percentile, PhaseName,
    VolumeUse,
};

/// How many times the normal load a peak is where the needs do not say. Azure's guide to premium
/// storage
/// (2018): a peak may ask for two or more times the normal load.
pub const PEAK_FACTOR: f64 = 2.0;

const KIB: f64 = 1024.0;
const MB: f64 = 1e6;

/// What a machine and its volumes must carry.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Requirements {
    /// What they are of.
    pub name: String,
    /// The percentile of rates over time that is carried.
    pub percentile: Percentile,
    /// What the machine must have.
    pub machine: MachineRequirement,
    /// The volumes, in the order of the file.
    pub volumes: Vec<VolumeRequirement>,
    /// What is not known, and what to write to make it known.
    pub notes: Vec<String>,
}

/// What the machine must have. What is not known is none: it limits nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MachineRequirement {
    /// Processors.
    pub cpus: Option<Amount>,
    /// Memory, GiB.
    pub memory_gib: Option<Amount>,
}

/// What a volume must hold and carry.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VolumeRequirement {
    /// Its name.
    pub name: String,
    /// What it is for; data where nothing is said.
    #[serde(rename = "use")]
    pub usage: VolumeUse,
    /// How much it must hold, GiB.
    pub capacity_gib: Option<Amount>,
    /// How much of it is read again and again, GiB.
    pub working_set_gib: Option<Amount>,
    /// Reads that a cache answers, 0 to 1, where it is stated in place of a working set.
    pub hit_share: Option<Amount>,
    /// Longest latency that is wanted, milliseconds.
    pub latency_ms_max: Option<Amount>,
    /// Several machines work on it.
    #[serde(rename = "shared")]
    pub is_shared: bool,
    /// By how much its load grows: what samples of it are multiplied by.
    pub load_growth: f64,
    /// What it is asked for in each phase in which anything is: stated ones in the order of the
    /// file, then a peak that was not stated. Phases are at different times.
    pub loads: Vec<LoadRequirement>,
}

/// What a volume is asked for in a phase. What is not known is none, and a note says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoadRequirement {
    /// The phase.
    pub phase: PhaseName,
    /// I/Os per second.
    pub iops: Option<Amount>,
    /// Bytes per second.
    pub throughput_bytes_per_s: Option<Amount>,
    /// Bytes per I/O, in the mean.
    pub io_size_bytes: Option<Amount>,
    /// The sizes that have that mean.
    #[serde(skip)]
    pub io_sizes: Option<IoSizes>,
    /// Reads among I/Os, 0 to 1.
    pub read_share: Option<Amount>,
    /// I/Os at random places, 0 to 1; 1 where it is not stated, which is the safer side.
    pub random_share: Option<Amount>,
    /// I/Os in flight.
    pub queue_depth: Option<Amount>,
}

impl LoadRequirement {
    /// Returns its amounts with the names of their keys.
    pub fn amounts(&self) -> [(&'static str, Option<&Amount>); 6] {
        [
            ("iops", self.iops.as_ref()),
            ("throughput_bytes_per_s", self.throughput_bytes_per_s.as_ref()),
            ("io_size_bytes", self.io_size_bytes.as_ref()),
            ("read_share", self.read_share.as_ref()),
            ("random_share", self.random_share.as_ref()),
            ("queue_depth", self.queue_depth.as_ref()),
        ]
    }
}

impl LoadRequirement {
    /// Says whether it is assumed how many I/Os are at random places: it was neither counted nor
    /// written by a person.
    pub fn is_random_assumed(&self) -> bool {
        let is_assumed =
            |it: &Amount| it.label == Label::Assumed && !it.source.starts_with(BY_HAND);
        self.random_share.as_ref().is_none_or(is_assumed)
    }
}

/// Works out what a design must carry. Every rate is monotone in each factor.
pub fn requirements(needs: &Needs) -> Requirements {
    let mut notes = Vec::new();
    let volumes = needs.volumes.iter().map(|volume| of_volume(needs, volume, &mut notes));
    Requirements {
        name: needs.name.clone(),
        percentile: needs.percentile,
        volumes: volumes.collect(),
        machine: of_machine(needs),
        notes,
    }
}

/// What a figure is multiplied by, and why.
#[derive(Clone, Debug, Default)]
struct Factors {
    steps: Vec<(f64, Label, &'static str)>,
}

impl Factors {
    /// Adds growth; none is no step.
    fn grown(mut self, factor: f64) -> Self {
        if (factor - 1.0).abs() > f64::EPSILON {
            self.steps.push((factor, Label::Estimated, "growth"));
        }
        self
    }

    /// Adds the factor of a peak that no phase states.
    fn at_peak(mut self, stated: Option<f64>) -> Self {
        self.steps.push(match stated {
            Some(factor) => (factor, Label::Assumed, "the stated peak factor"),
            None => (
                PEAK_FACTOR,
                Label::Assumed,
                "no peak phase is stated, and a peak is at least twice the normal load",
            ),
        });
        self
    }

    /// Multiplies an amount, and says so.
    fn apply(&self, amount: Amount) -> Amount {
        self.steps.iter().fold(amount, |amount, (factor, label, why)| Amount {
            value: amount.value * factor,
            label: amount.label.max(*label),
            source: format!("{}; x {}: {why}", amount.source, crate::number(*factor)),
        })
    }
}

fn of_volume(needs: &Needs, volume: &NeedVolume, notes: &mut Vec<String>) -> VolumeRequirement {
    let growth = needs.growth_of(volume);
    let larger = |amount: &Option<Amount>| {
        amount.clone().map(|amount| Factors::default().grown(growth.capacity).apply(amount))
    };
    let capacity = volume.capacity_gib.clone().or_else(|| volume.used_gib.clone());
    let grown = Factors::default().grown(growth.load);
    let stated = needs.phases.iter().filter_map(|phase| {
        let load = phase.load(&volume.name)?;
        Some((phase.name, load, grown.clone()))
    });
    let mut loads: Vec<(PhaseName, &NeedLoad, Factors)> = stated.collect();
    let without_peak = base_of_peak(needs).and_then(|phase| phase.load(&volume.name));
    if let Some(load) = without_peak {
        loads.push((PhaseName::Peak, load, grown.clone().at_peak(needs.peak_factor)));
    }
    let loads = loads.into_iter().map(|(phase, load, factors)| {
        let reader = LoadReader { needs, volume, load, factors };
        reader.requirement(phase, notes)
    });
    VolumeRequirement {
        name: volume.name.clone(),
        usage: volume.usage.unwrap_or_default(),
        capacity_gib: larger(&capacity),
        working_set_gib: larger(&volume.working_set_gib),
        hit_share: volume.hit_percent.clone().map(|amount| scaled(amount, 0.01)),
        latency_ms_max: volume.latency_ms_max.clone(),
        is_shared: volume.is_shared,
        load_growth: growth.load,
        loads: loads
            .filter(|load| load.iops.is_some() || load.throughput_bytes_per_s.is_some())
            .collect(),
    }
}

/// Returns the phase that a peak is a multiple of; none where a peak is stated.
fn base_of_peak(needs: &Needs) -> Option<&NeedPhase> {
    if needs.phase(PhaseName::Peak).is_some() {
        return None;
    }
    needs.phase(PhaseName::Normal).or_else(|| needs.phase(PhaseName::OffPeak))
}

fn scaled(amount: Amount, factor: f64) -> Amount {
    Amount { value: amount.value * factor, ..amount }
}

fn estimated(value: f64, source: impl Into<String>) -> Amount {
    Amount { value, label: Label::Estimated, source: source.into() }
}

/// Returns a share of I/Os, 0 to 1.
fn share(figure: Option<&Figure>) -> Option<Amount> {
    let figure = figure?;
    let (percent, which) = figure.usual()?;
    let source = format!("{}, {which}", figure.source);
    Some(Amount { value: (percent / 100.0).clamp(0.0, 1.0), label: figure.label, source })
}

/// Reads the load of a volume in a phase.
struct LoadReader<'a> {
    needs: &'a Needs,
    volume: &'a NeedVolume,
    load: &'a NeedLoad,
    factors: Factors,
}

impl LoadReader<'_> {
    fn requirement(&self, phase: PhaseName, notes: &mut Vec<String>) -> LoadRequirement {
        let size = self.io_size();
        let iops = self.rate(self.load.iops.as_ref(), 1.0);
        let bytes = self.rate(self.load.throughput_mb_s.as_ref(), MB);
        let of_both = |from: &Option<Amount>, what: &str, of: fn(f64, f64) -> f64| {
            let (from, size) = (from.as_ref()?, size.as_ref()?);
            let label = Label::Estimated.max(from.label).max(size.label);
            let source = format!("{what}; {}", from.source);
            Some(Amount { value: of(from.value, size.value), label, source })
        };
        let derived_iops = of_both(&bytes, "throughput / I/O size", |rate, size| rate / size);
        let derived_bytes = of_both(&iops, "IOPS x I/O size", |rate, size| rate * size);
        let (iops, bytes) = (iops.or(derived_iops), bytes.or(derived_bytes));
        self.note_gaps(size.is_some(), iops.is_some() || bytes.is_some(), notes);
        let random = share(self.load.random_percent.as_ref()).unwrap_or_else(|| Amount {
            value: 1.0,
            label: Label::Assumed,
            source: "nothing is said: random is the safer side".to_owned(),
        });
        LoadRequirement {
            phase,
            queue_depth: self.queue_depth(iops.as_ref()),
            iops,
            throughput_bytes_per_s: bytes,
            io_sizes: size
                .as_ref()
                .map(|size| IoSizes::new(self.load.io_size_kib.as_ref(), size.value)),
            io_size_bytes: size,
            read_share: share(self.load.read_percent.as_ref()),
            random_share: Some(random),
        }
    }

    /// Notes what is not known, once for all phases.
    fn note_gaps(&self, has_size: bool, has_rate: bool, notes: &mut Vec<String>) {
        let name = &self.volume.name;
        let mut note = |text: String| {
            if !notes.contains(&text) {
                notes.push(text);
            }
        };
        if !has_rate {
            note(format!("{name}: neither IOPS nor throughput is known: write `iops = ..`"));
            return;
        }
        if !has_size {
            note(format!("{name}: the size of I/Os is not known: write `io_size_kib = ..`"));
        }
        if self.load.read_percent.is_none() {
            note(format!("{name}: the share of reads is not known: write `read_percent = ..`"));
        }
    }

    /// Returns a rate at the percentile that is designed for, with its factors.
    fn rate(&self, figure: Option<&Figure>, unit: f64) -> Option<Amount> {
        let figure = figure?;
        let (value, which) = figure.at(self.needs.percentile)?;
        let source = format!("{}, {which}", figure.source);
        let amount = Amount { value: value * unit, label: figure.label, source };
        Some(self.factors.apply(amount))
    }

    /// Returns the mean size: what is stated, else throughput over IOPS where both are.
    fn io_size(&self) -> Option<Amount> {
        if let Some(figure) = &self.load.io_size_kib {
            let (kib, which) = figure.usual().filter(|(kib, _)| *kib > 0.0)?;
            let source = format!("{}, {which}", figure.source);
            return Some(Amount { value: kib * KIB, label: figure.label, source });
        }
        let (iops, throughput) =
            (self.load.iops.as_ref()?.usual()?, self.load.throughput_mb_s.as_ref()?.usual()?);
        let bytes = throughput.0 * MB / iops.0;
        let is_size = bytes.is_finite() && bytes > 0.0;
        is_size.then(|| estimated(bytes, "throughput / IOPS"))
    }

    /// Returns what is in flight: what is stated, else what IOPS and the latency wanted come to.
    fn queue_depth(&self, iops: Option<&Amount>) -> Option<Amount> {
        if let Some(depth) = self.rate(self.load.queue_depth.as_ref(), 1.0) {
            return Some(depth);
        }
        let (iops, latency) = (iops?, self.volume.latency_ms_max.as_ref()?);
        let depth = iops.value * latency.value / 1e3;
        let source = "IOPS x latency wanted";
        Some(Amount { label: Label::Estimated.max(iops.label), ..estimated(depth, source) })
    }
}

/// Returns what the machine must have: what is stated, else what the captured host used.
fn of_machine(needs: &Needs) -> MachineRequirement {
    let growth = needs.growth.unwrap_or_default();
    let largest = |of: &dyn Fn(&NeedPhase) -> Option<Amount>, peaks: bool| {
        let grown = Factors::default().grown(growth.load);
        let stated = needs.phases.iter().filter_map(of).map(|amount| grown.apply(amount));
        let assumed = base_of_peak(needs).filter(|_| peaks).and_then(of);
        let at_peak = grown.clone().at_peak(needs.peak_factor);
        let assumed = assumed.map(|amount| at_peak.apply(amount));
        let all = stated.chain(assumed);
        all.reduce(|one, other| if other.value > one.value { other } else { one })
    };
    let of_figure = |figure: &Figure, unit: f64, what: &str| {
        let (value, which) = figure.at(needs.percentile)?;
        let source = format!("{what}, {which}");
        Some(Amount { value: value * unit, label: Label::Estimated, source })
    };
    let busy = |phase: &NeedPhase| {
        let what = "busy processors of the captured host";
        of_figure(phase.cpu_percent.as_ref()?, f64::from(needs.cpus?) / 100.0, what)
    };
    let held = |phase: &NeedPhase| {
        of_figure(phase.memory_gib.as_ref()?, 1.0, "memory in use on the captured host")
    };
    let machine = &needs.machine;
    MachineRequirement {
        cpus: machine.cpus.clone().or_else(|| largest(&busy, true)),
        memory_gib: machine.memory_gib.clone().or_else(|| largest(&held, false)),
    }
}
