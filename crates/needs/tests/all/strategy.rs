//! Needs at random, with figures that fit each other.

use needs::{
    Amount, Figure, Growth, Label, MachineNeed, NeedLoad, NeedPhase, NeedSource, NeedVolume, Needs,
    Percentile, PhaseName, VolumeUse,
};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// A number with the digits that the file has.
fn number(most: u32) -> impl Strategy<Value = f64> {
    between(0, most)
}

fn between(least: u32, most: u32) -> impl Strategy<Value = f64> {
    let with_digits = (least * 10_000..=most * 10_000).prop_map(|n| f64::from(n) / 1e4);
    prop_oneof![(least..=most).prop_map(f64::from), with_digits]
}

fn label() -> impl Strategy<Value = Label> {
    select(Label::ALL.to_vec())
}

fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 :;\"'\\\\\u{7f}\u{e9}\t.-]{0,12}"
}

/// A figure of which some percentiles are known, at least one, from one number on.
fn figure(least: f64, most: u32) -> impl Strategy<Value = Figure> {
    let numbers = proptest::collection::vec(number(most), 8);
    let known = proptest::collection::vec(any::<bool>(), 8);
    (numbers, known, label(), words()).prop_map(move |(mut numbers, known, label, source)| {
        for number in &mut numbers {
            *number = number.max(least);
        }
        numbers.sort_by(f64::total_cmp);
        let of = |idx: usize| known[idx].then_some(numbers[idx]);
        let max = of(7).or((!known.contains(&true)).then_some(numbers[7]));
        let (min, p1, p10, p50, mean, p90, p99) = (of(0), of(1), of(2), of(3), of(4), of(5), of(6));
        Figure { p1, p10, p50, p90, p99, mean, min, max, label, source }
    })
}

fn amount(least: u32, most: u32) -> impl Strategy<Value = Amount> {
    (between(least, most), label(), words()).prop_map(|(value, label, source)| Amount {
        value,
        label,
        source,
    })
}

fn growth() -> impl Strategy<Value = Growth> {
    (between(1, 10), between(1, 10)).prop_map(|(capacity, load)| Growth { capacity, load })
}

fn volume(name: &'static str) -> impl Strategy<Value = NeedVolume> {
    let usage = option::of(select(VolumeUse::ALL.to_vec()));
    let latency = option::of(amount(1, 20));
    let cache = (option::of(amount(0, 50)), option::of(amount(0, 50)));
    let space = (option::of(amount(100, 900)), option::of(amount(0, 99)));
    let usage = (usage, any::<bool>());
    (usage, latency, cache, space, option::of(growth())).prop_map(
        move |(usage, latency_ms_max, (working_set_gib, hit_percent), (capacity, used), growth)| {
            let (usage, is_shared) = usage;
            let hit_percent = hit_percent.filter(|_| working_set_gib.is_none());
            NeedVolume {
                name: name.to_owned(),
                usage,
                capacity_gib: capacity,
                used_gib: used,
                working_set_gib,
                hit_percent,
                latency_ms_max,
                is_shared,
                growth,
            }
        },
    )
}

fn load(name: &'static str) -> impl Strategy<Value = NeedLoad> {
    let of = |most: u32| option::of(figure(0.0, most));
    // What a person writes of IOPS, size and throughput must fit; so one of the three is left out.
    let rates = (of(9000), of(900), option::of(figure(0.5, 512)), 0..3_usize);
    let shares = (of(100), of(100));
    let rest = (of(50), of(64), option::of(amount(1, 9)), option::of(amount(1, 9)));
    (rates, shares, rest).prop_map(move |(rates, (read_percent, random_percent), rest)| {
        let (iops, throughput, size, without) = rates;
        let (latency_ms, queue_depth, burst_peak_to_mean, burst_dispersion) = rest;
        NeedLoad {
            name: name.to_owned(),
            iops: iops.filter(|_| without != 0),
            throughput_mb_s: throughput.filter(|_| without != 1),
            io_size_kib: size.filter(|_| without != 2),
            read_percent,
            random_percent,
            latency_ms,
            queue_depth,
            burst_peak_to_mean,
            burst_dispersion,
        }
    })
}

fn phase(name: PhaseName, hours: &'static [&'static str]) -> impl Strategy<Value = NeedPhase> {
    let hours = prop_oneof![Just(Vec::new()), Just(hours.to_vec())];
    let volumes = (option::of(load("data")), option::of(load("log \"1\"")));
    let host = (option::of(figure(0.0, 100)), option::of(figure(0.0, 64)), option::of(number(9)));
    (hours, volumes, host).prop_map(move |(hours, (data, log), host)| NeedPhase {
        name,
        hours: hours.into_iter().map(str::to_owned).collect(),
        captured_s: host.2,
        cpu_percent: host.0,
        memory_gib: host.1,
        memory_percent: None,
        volumes: data.into_iter().chain(log).collect(),
    })
}

/// Needs of two volumes and up to three phases.
pub(crate) fn needs() -> impl Strategy<Value = Needs> {
    let head = (words(), option::of(words()), select(Percentile::ALL.to_vec()));
    let factors = (option::of(growth()), option::of(between(1, 10)), option::of(0..256_u32));
    let machine = (option::of(amount(1, 64)), option::of(amount(1, 512)));
    let sources = proptest::collection::vec((words(), words(), words()), 0..2);
    let notes = proptest::collection::vec(words(), 0..2);
    let volumes = (volume("data"), volume("log \"1\""));
    let phases = (
        option::of(phase(PhaseName::Normal, &["06:00-09:00"])),
        option::of(phase(PhaseName::OffPeak, &["22:00-06:00"])),
        option::of(phase(PhaseName::Peak, &["09:00-12:00", "13:00-17:00"])),
    );
    (head, factors, machine, (sources, notes), volumes, phases).prop_map(
        |((name, series, percentile), factors, machine, (sources, notes), volumes, phases)| {
            let source = |(name, form, clock)| NeedSource { name, form, clock };
            Needs {
                name,
                series,
                percentile,
                growth: factors.0,
                peak_factor: factors.1,
                cpus: factors.2,
                machine: MachineNeed { cpus: machine.0, memory_gib: machine.1 },
                sources: sources.into_iter().map(source).collect(),
                notes,
                volumes: vec![volumes.0, volumes.1],
                phases: [phases.0, phases.1, phases.2].into_iter().flatten().collect(),
                ..Needs::default()
            }
        },
    )
}
