//! What a design must carry: growth, peaks, and what is worked out or not known.

use needs::{
    Amount, Label, LoadRequirement, Needs, PEAK_FACTOR, Percentile, PhaseName, Requirements,
    requirements,
};
use proptest::prelude::*;

use crate::parsed;
use crate::strategy::needs;

/// A volume with a load in one phase.
fn of(head: &str, volume: &str, phase: &str, load: &str) -> Requirements {
    requirements(&parsed(&format!(
        "{head}\n[[volume]]\nname = 'data'\n{volume}\n[[phase]]\nname = '{phase}'\n\
         [[phase.volume]]\nname = 'data'\n{load}\n"
    )))
}

#[track_caller]
fn load(found: &Requirements, phase: PhaseName) -> &LoadRequirement {
    let load = found.volumes[0].loads.iter().find(|load| load.phase == phase);
    load.unwrap_or_else(|| panic!("no {phase} in {found:?}"))
}

#[track_caller]
fn check(amount: Option<&Amount>, value: f64, label: Label, reason: &str) {
    let amount = amount.expect("it is known");
    assert!((amount.value - value).abs() <= value.abs() * 1e-9, "{amount:?} instead of {value}");
    assert_eq!((amount.label, amount.source.as_str()), (label, reason));
}

#[test]
fn a_peak_that_is_not_stated_is_twice_the_normal_load() {
    let counted = "iops = { p50 = 800, p99 = 1000, label = 'measured', source = 'iostat.log' }";
    let found = of("", "", "normal", counted);
    check(
        load(&found, PhaseName::Normal).iops.as_ref(),
        1000.0,
        Label::Measured,
        "iostat.log, p99",
    );
    check(
        load(&found, PhaseName::Peak).iops.as_ref(),
        2000.0,
        Label::Assumed,
        "iostat.log, p99; x 2: no peak phase is stated, and a peak is at least twice the normal \
         load",
    );
    let found = of("peak_factor = 3", "", "normal", counted);
    let why = "iostat.log, p99; x 3: the stated peak factor";
    check(load(&found, PhaseName::Peak).iops.as_ref(), 3000.0, Label::Assumed, why);
    // One that is stated is what it is.
    let found = of("", "", "peak", counted);
    check(load(&found, PhaseName::Peak).iops.as_ref(), 1000.0, Label::Measured, "iostat.log, p99");
    assert_eq!(found.volumes[0].loads.len(), 1);
}

#[test]
fn growth_is_of_capacity_and_of_load() {
    let volume = "capacity_gib = 400\nworking_set_gib = 50\nlatency_ms_max = 5";
    let head = "growth = { capacity = 2, load = 1.5 }\npercentile = 'p50'";
    let found = of(head, volume, "peak", "iops = { p50 = 100, p99 = 900 }\nqueue_depth = 4");
    let volume = &found.volumes[0];
    check(volume.capacity_gib.as_ref(), 800.0, Label::Assumed, "by hand; x 2: growth");
    check(volume.working_set_gib.as_ref(), 100.0, Label::Assumed, "by hand; x 2: growth");
    check(volume.latency_ms_max.as_ref(), 5.0, Label::Assumed, "by hand");
    assert_eq!((volume.load_growth, found.percentile), (1.5, Percentile::P50));
    let load = load(&found, PhaseName::Peak);
    check(load.iops.as_ref(), 150.0, Label::Assumed, "by hand, p50; x 1.5: growth");
    check(load.queue_depth.as_ref(), 6.0, Label::Assumed, "by hand, p50; x 1.5: growth");
    // A volume of its own factor; space in use stands for a capacity that is not written.
    let found = of(head, "used_gib = 100\ngrowth = 3", "peak", "iops = 100");
    check(found.volumes[0].capacity_gib.as_ref(), 300.0, Label::Assumed, "by hand; x 3: growth");
}

#[test]
fn a_size_is_worked_out_or_said_to_be_missing() {
    let counted = "label = 'measured', source = 'log'";
    let both = format!(
        "iops = {{ mean = 1000, p99 = 2000, {counted} }}\n\
         throughput_mb_s = {{ mean = 16, p99 = 20, {counted} }}"
    );
    let found = of("", "", "peak", &both);
    let load_of = |found: &Requirements| load(found, PhaseName::Peak).clone();
    check(load_of(&found).io_size_bytes.as_ref(), 16_000.0, Label::Estimated, "throughput / IOPS");
    assert_eq!(found.notes, ["data: the share of reads is not known: write `read_percent = ..`"]);
    // Sizes and one of the two rates give the other.
    let found = of("", "", "peak", "iops = 1000\nio_size_kib = 8\nread_percent = 70");
    let bytes = load_of(&found).throughput_bytes_per_s;
    check(bytes.as_ref(), 8_192_000.0, Label::Assumed, "IOPS x I/O size; by hand, p99");
    let found = of("", "", "peak", "throughput_mb_s = 8.192\nio_size_kib = 8\nread_percent = 70");
    let iops = load_of(&found).iops;
    check(iops.as_ref(), 1000.0, Label::Assumed, "throughput / I/O size; by hand, p99");
    assert_eq!(found.notes, [""; 0]);
    // One of them alone gives neither.
    let found = of("", "", "peak", "iops = 1000\nread_percent = 0");
    assert_eq!(found.notes, ["data: the size of I/Os is not known: write `io_size_kib = ..`"]);
    assert_eq!(
        (load_of(&found).io_size_bytes, load_of(&found).throughput_bytes_per_s),
        (None, None)
    );
    let found = of("", "", "peak", "io_size_kib = 8");
    assert_eq!(found.notes, ["data: neither IOPS nor throughput is known: write `iops = ..`"]);
    assert_eq!(found.volumes[0].loads, []);
}

#[test]
fn shares_and_depths() {
    let text = "iops = 1000\nio_size_kib = 8\nread_percent = 70\nrandom_percent = 25";
    let found = of("", "latency_ms_max = 5\nhit_percent = 90", "peak", text);
    let peak = load(&found, PhaseName::Peak);
    check(peak.read_share.as_ref(), 0.7, Label::Assumed, "by hand, mean");
    check(peak.random_share.as_ref(), 0.25, Label::Assumed, "by hand, mean");
    check(peak.queue_depth.as_ref(), 5.0, Label::Assumed, "IOPS x latency wanted");
    check(found.volumes[0].hit_share.as_ref(), 0.9, Label::Assumed, "by hand");
    let found = of("", "", "peak", "iops = 1000");
    let peak = load(&found, PhaseName::Peak);
    let why = "nothing is said: random is the safer side";
    check(peak.random_share.as_ref(), 1.0, Label::Assumed, why);
    assert_eq!((&peak.read_share, &peak.queue_depth), (&None, &None));
}

#[test]
fn a_machine_is_stated_or_as_busy_as_the_captured_one() {
    let counted = "label = 'measured', source = 'x'";
    let host = format!(
        "cpus = 8\ngrowth = {{ load = 1.5 }}\n[[volume]]\nname = 'data'\n[[phase]]\n\
         name = 'normal'\ncpu_percent = {{ p99 = 50, {counted} }}\n\
         memory_gib = {{ p99 = 20, {counted} }}\n"
    );
    let machine = requirements(&parsed(&host)).machine;
    // 8 x 50 % x 1.5 x 2; memory has no peak.
    let why = "busy processors of the captured host, p99; x 1.5: growth; x 2: no peak phase is \
               stated, and a peak is at least twice the normal load";
    check(machine.cpus.as_ref(), 12.0, Label::Assumed, why);
    let why = "memory in use on the captured host, p99; x 1.5: growth";
    check(machine.memory_gib.as_ref(), 30.0, Label::Estimated, why);
    let stated = host.replace("[[volume]]", "[machine]\ncpus = 4\n[[volume]]");
    check(requirements(&parsed(&stated)).machine.cpus.as_ref(), 4.0, Label::Assumed, "by hand");
}

/// Returns the amounts that grow with a factor, by name.
fn rates(needs: &Needs) -> Vec<(String, f64)> {
    let found = requirements(needs);
    let mut all = Vec::new();
    let mut put = |name: String, amount: Option<&Amount>| {
        all.extend(amount.map(|amount| (name, amount.value)));
    };
    put("cpus".to_owned(), found.machine.cpus.as_ref());
    put("memory".to_owned(), found.machine.memory_gib.as_ref());
    for volume in &found.volumes {
        put(format!("{} capacity", volume.name), volume.capacity_gib.as_ref());
        for load in &volume.loads {
            let name = |what: &str| format!("{} {} {what}", volume.name, load.phase);
            put(name("iops"), load.iops.as_ref());
            put(name("bytes"), load.throughput_bytes_per_s.as_ref());
            put(name("depth"), load.queue_depth.as_ref());
        }
    }
    all
}

#[track_caller]
fn assert_no_less(before: &[(String, f64)], after: &[(String, f64)]) {
    let names = |all: &[(String, f64)]| all.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(before), names(after));
    for ((name, before), (_, after)) in before.iter().zip(after) {
        assert!(*after >= before * (1.0 - 1e-12), "{name}: {after} after {before}");
    }
}

proptest! {
    /// A larger factor asks for no less of anything.
    #[test]
    fn requirements_are_monotone_in_factors(needs in needs(), by in 1.0..5.0_f64) {
        let before = rates(&needs);
        let mut larger = needs.clone();
        let grow = |growth: &mut needs::Growth| {
            growth.capacity *= by;
            growth.load *= by;
        };
        larger.volumes.iter_mut().filter_map(|it| it.growth.as_mut()).for_each(grow);
        grow(larger.growth.get_or_insert_default());
        assert_no_less(&before, &rates(&larger));
        let mut larger = needs.clone();
        larger.peak_factor = Some(needs.peak_factor.unwrap_or(PEAK_FACTOR) * by);
        assert_no_less(&before, &rates(&larger));
    }
}
