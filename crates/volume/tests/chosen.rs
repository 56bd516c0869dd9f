//! What is advised for disks whose size or limits are chosen: one choice of number, size and
//! limits, which carries the need as a design file has it, while no smaller one does.

use std::fmt::Write as _;

use catalog::{Disk as Sku, Edition};
use proptest::prelude::*;
use volume::CapKind;
use volume::design::{Design, MB_BYTES_DEFAULT, Provisioned, parse};
use volume::limits::{Bound, Flow, Load, Remedy, remedies_among, together};

const KIB: u64 = 1024;
const GIB: u64 = 1 << 30;

/// A volume of such disks, as a design has it.
#[derive(Clone, Debug)]
struct Disks {
    edition: &'static str,
    sku: String,
    count: u64,
    size_bytes: u64,
    iops: Option<u64>,
    bytes_per_s: Option<u64>,
    /// Disks that the machine takes, where there is a machine.
    slots: Option<u64>,
}

impl Disks {
    fn toml(&self) -> String {
        let mut text = format!("edition = '{}'\n", self.edition);
        if let Some(slots) = self.slots {
            let far = "{ iops = 1000000000 }";
            write!(text, "[vm]\nuncached = {far}\ncached = {far}\nmax_data_disks = {slots}\n")
                .expect("text");
        }
        write!(
            text,
            "[[volume]]\nmount = '/a'\ncache = 'None'\ndisk = '{}'\ncount = {}\nsize = '{}B'\n",
            self.sku, self.count, self.size_bytes
        )
        .expect("text");
        if let Some(iops) = self.iops {
            writeln!(text, "iops = {iops}").expect("text");
        }
        if let Some(bytes) = self.bytes_per_s {
            writeln!(text, "throughput = '{bytes}B/s'").expect("text");
        }
        text
    }

    fn design(&self) -> Design {
        let (design, findings) = parse(&self.toml());
        design.unwrap_or_else(|| panic!("{}: {findings:?}", self.toml()))
    }

    fn sku(&self) -> (&'static Edition, &'static Sku) {
        let edition = catalog::edition(self.edition).expect("an edition");
        (edition, edition.disk(&self.sku).expect("a type"))
    }

    fn kit(&self) -> Provisioned<'static> {
        let (edition, sku) = self.sku();
        Provisioned::of(edition, MB_BYTES_DEFAULT, sku).expect("a type that is chosen")
    }

    /// Returns the same with all that can be chosen at its most, but for what is held. Throughput
    /// is sold in whole units.
    fn at_most(&self, size_bytes: Option<u64>, iops: Option<u64>) -> Disks {
        let kit = self.kit();
        let size_bytes = size_bytes.unwrap_or(kit.size_max());
        let iops = iops.or_else(|| kit.iops_range(size_bytes).map(|range| *range.end()));
        let range = kit.throughput_range(size_bytes, iops);
        let unit = kit.throughput_unit();
        let bytes_per_s = range.map(|range| (*range.end()).min(1 << 40) / unit * unit);
        Disks { size_bytes, iops, bytes_per_s, ..self.clone() }
    }

    /// Returns the same with a change as it is advised: keys of a design.
    fn changed(&self, change: &str) -> Disks {
        let mut disks = self.clone();
        for key in change.split('`').skip(1).step_by(2) {
            let (name, value) = key.split_once(" = ").expect("a key with its value");
            let value = value.trim_matches('"');
            match name {
                "count" => disks.count = value.parse().expect("a number"),
                "iops" => disks.iops = Some(value.parse().expect("a number")),
                "size" => {
                    disks.size_bytes = units::parse_bytes(value).expect("a size");
                }
                "throughput" => {
                    let rate = value.strip_suffix("/s").expect("a rate");
                    let (number, unit) = rate.split_at(
                        rate.len() - rate.trim_start_matches(|c: char| c.is_ascii_digit()).len(),
                    );
                    let unit = match unit {
                        "MB" => 1_000_000,
                        "MiB" => 1 << 20,
                        "KiB" => 1 << 10,
                        other => panic!("`{other}` in `{change}`"),
                    };
                    disks.bytes_per_s = Some(number.parse::<u64>().expect("a number") * unit);
                }
                other => panic!("`{other}` in `{change}`"),
            }
        }
        disks
    }

    fn carries(&self, load: Load, need: f64) -> bool {
        let flow = Flow { volume: 0, load, demand: Some(need) };
        together(&self.design(), &[flow])[0].iops >= need * (1.0 - 1e-9)
    }
}

fn remedies(disks: &Disks, load: Load, need: f64) -> Vec<Remedy> {
    remedies_among(&disks.design(), &[Flow { volume: 0, load, demand: Some(need) }], 0)
}

/// Returns the first change for a need of reads at random places.
#[track_caller]
fn first(volume: &str, size_kib: u64, need: f64) -> (String, Option<bool>) {
    let (design, findings) = parse(&format!("[[volume]]\nmount = '/a'\n{volume}"));
    let design = design.unwrap_or_else(|| panic!("{findings:?}"));
    let flow = Flow { volume: 0, load: Load::new(size_kib * KIB, 1.0), demand: Some(need) };
    let found = remedies_among(&design, &[flow], 0);
    found.first().map_or_else(Default::default, |it| (it.change.clone(), it.is_enough))
}

#[track_caller]
fn check(volume: &str, size_kib: u64, need: f64, expected: &str) {
    assert_eq!(first(volume, size_kib, need), (expected.to_owned(), Some(true)));
}

/// 500 operations for each GiB, 80,000 at most; 8 KiB x 30,000 are 234.4 MiB/s.
#[test]
fn a_need_beyond_the_size_takes_a_larger_one() {
    check(
        "disk='gp3'\nsize='20GiB'\n",
        8,
        30_000.0,
        "`size = \"60GiB\"`, `iops = 30000` and `throughput = \"235MiB/s\"`",
    );
    check(
        "disk='gp3'\nsize='20GiB'\n",
        8,
        200_000.0,
        "`count = 3`, `size = \"134GiB\"`, `iops = 66667` and `throughput = \"521MiB/s\"`",
    );
}

#[test]
fn every_rule_of_a_type_is_kept() {
    // 1,000 for each GiB.
    check(
        "disk='io2'\nsize='10GiB'\niops=1000\n",
        8,
        50_000.0,
        "`size = \"50GiB\"` and `iops = 50000`",
    );
    // A quarter of a MB/s for each operation: 1,500 MB/s take 6,000.
    check(
        "disk='PremiumV2'\nsize='1TiB'\n",
        1024,
        1430.0,
        "`iops = 6000` and `throughput = \"1500MB/s\"`",
    );
    // Throughput follows from the operations: 250 MiB/s for each 1,000.
    check("disk='hyperdisk-extreme'\nsize='1TiB'\niops=2000\n", 1024, 1000.0, "`iops = 4000`");
    // And operations from the throughput: 16 for each MiB/s.
    check(
        "disk='hyperdisk-ml'\nsize='1TiB'\nthroughput='400MiB/s'\n",
        4,
        8000.0,
        "`throughput = \"500MiB/s\"`",
    );
    // All from the size.
    check("disk='pd-ssd'\nsize='100GiB'\n", 4, 6000.0, "`size = \"200GiB\"`");
    check(
        "disk='Ultra'\nsize='10GiB'\niops=1000\nthroughput='100MB/s'\n",
        8,
        20_000.0,
        "`size = \"20GiB\"`, `iops = 20000` and `throughput = \"164MB/s\"`",
    );
}

#[test]
fn no_more_disks_are_advised_than_a_machine_takes() {
    let volume = "disk='gp3'\nsize='1TiB'\n";
    let (change, is_enough) = first(volume, 8, 100e6);
    assert_eq!(is_enough, Some(false));
    let count = change.split_once("`count = ").expect("a number").1;
    let count: u64 = count.split_once('`').expect("a number").0.parse().expect("a number");
    let machines = catalog::edition("current").expect("an edition").vms();
    let aws = machines.iter().filter(|machine| machine.cloud() == Some(catalog::Cloud::Aws));
    let most = aws.filter_map(|machine| Some(machine.max_data_disks()?.per_s)).max();
    assert_eq!(Some(count), most);
    let disks = Disks {
        edition: "current",
        sku: "gp3".to_owned(),
        count: 2,
        size_bytes: 100 * GIB,
        iops: None,
        bytes_per_s: None,
        slots: Some(4),
    };
    let found = remedies(&disks, Load::new(8 * KIB, 1.0), 1e6);
    let change = "`count = 4`, `size = \"160GiB\"`, `iops = 80000` and `throughput = \"625MiB/s\"`";
    assert_eq!((found[0].change.as_str(), found[0].iops), (change, 320_000.0));
}

/// A machine behind the disks is named with them, and they have no more than the need takes.
#[test]
fn another_cap_behind_is_lifted_with_the_disks() {
    let text = "[vm]\nsize='m5.large'\n[[volume]]\nmount='/a'\ndisk='gp3'\nsize='20GiB'\n";
    let (design, _) = parse(text);
    let flow = Flow { volume: 0, load: Load::new(8 * KIB, 1.0), demand: Some(30_000.0) };
    let found = remedies_among(&design.expect("a design"), &[flow], 0);
    let both = found.iter().find(|remedy| remedy.is_enough == Some(true)).expect("a pair");
    let disks =
        "both `size = \"60GiB\"`, `iops = 30000` and `throughput = \"235MiB/s\"` and a larger";
    assert!(both.change.starts_with(disks), "{}", both.change);
}

/// Every type of every edition whose size is chosen.
fn types() -> Vec<(&'static str, String)> {
    let of = |name: &'static str| {
        let edition = catalog::edition(name).expect("an edition");
        let free = edition.disks().iter().filter(|sku| sku.is_free());
        free.map(move |sku| (name, sku.name.clone())).collect::<Vec<_>>()
    };
    catalog::EDITIONS.iter().flat_map(|info| of(info.name)).collect()
}

/// What is drawn of a volume, as parts of what can be.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    size_gib: u64,
    iops_part: f64,
    bytes_part: f64,
    count: u64,
    slots: Option<u64>,
}

fn disks(edition: &'static str, sku: &str, drawn: Drawn) -> Disks {
    let mut disks = Disks {
        edition,
        sku: sku.to_owned(),
        count: drawn.count,
        size_bytes: 0,
        iops: None,
        bytes_per_s: None,
        slots: drawn.slots,
    };
    let kit = disks.kit();
    let part = |range: std::ops::RangeInclusive<u64>, part: f64| {
        let (low, high) = (*range.start(), (*range.end()).min(20_000_000_000));
        low + ((high - low) as f64 * part * part) as u64
    };
    disks.size_bytes = (drawn.size_gib * GIB).clamp(kit.size_min(), kit.size_max());
    disks.iops = kit.iops_range(disks.size_bytes).map(|range| part(range, drawn.iops_part));
    let range = kit.throughput_range(disks.size_bytes, disks.iops);
    disks.bytes_per_s = range.map(|range| {
        let unit = kit.throughput_unit();
        (part(range.clone(), drawn.bytes_part) / unit * unit).max(*range.start())
    });
    disks
}

/// Checks the advice for one volume, and returns whether there was one that is enough.
fn look(disks: &Disks, load: Load, times: f64) -> bool {
    let before = together(&disks.design(), &[Flow { volume: 0, load, demand: None }]).remove(0);
    let is_disks = matches!(before.binds, Bound::Cap(CapKind::DiskIops | CapKind::DiskBytes));
    assert!(is_disks, "{disks:?}: {before:?}");
    let need = (before.iops * times).ceil();
    let found = remedies(disks, load, need);
    let Some(advice) = found.iter().find(|remedy| remedy.change.starts_with('`')) else {
        return false;
    };
    let change = &advice.change;
    let applied = disks.changed(change);
    let fits = disks.slots.is_none_or(|slots| applied.count <= slots);
    assert!(fits, "{change} on a machine of {disks:?}");
    if advice.is_enough != Some(true) {
        let most = Disks { count: disks.slots.unwrap_or(applied.count), ..disks.clone() };
        assert!(!most.at_most(None, None).carries(load, need), "{change} is not all: {disks:?}");
        return false;
    }
    assert!(applied.carries(load, need), "{need} {load:?}: {change} of {disks:?}");
    let too_few = |less: Disks| {
        let text = less.toml();
        assert!(!less.carries(load, need), "{need} {load:?}: {change} of {disks:?}, and\n{text}");
    };
    if applied.count > disks.count {
        too_few(Disks { count: applied.count - 1, ..applied.at_most(None, None) });
    }
    if applied.size_bytes > disks.size_bytes {
        too_few(applied.at_most(Some(applied.size_bytes - GIB), None));
    }
    if applied.iops > disks.iops {
        let less = applied.iops.map(|iops| iops - 1);
        too_few(applied.at_most(Some(applied.size_bytes), less));
    }
    if applied.bytes_per_s > disks.bytes_per_s {
        let unit = disks.kit().throughput_unit();
        let less = applied.bytes_per_s.map(|bytes| bytes - unit);
        too_few(Disks { bytes_per_s: less.max(disks.bytes_per_s), ..applied });
    }
    true
}

#[test]
fn types_with_every_rule_are_looked_at() {
    let names: Vec<String> = types().into_iter().map(|(_, name)| name).collect();
    for name in ["gp3", "gp2", "io2", "st1", "PremiumV2", "Ultra", "pd-ssd", "pd-extreme"] {
        assert!(names.iter().any(|known| known == name), "{name} of {names:?}");
    }
}

proptest! {
    /// Of every type of the catalogue: what is advised carries the need, and a disk, a GiB, an
    /// operation or a unit of throughput less does not, whatever else is chosen.
    #[test]
    fn what_is_advised_carries_and_no_less_does(
        (edition, sku) in prop::sample::select(types()),
        size_gib in 1_u64..4000,
        (iops_part, bytes_part) in (0.0..1.0_f64, 0.0..1.0_f64),
        count in 1_u64..4,
        slots in prop::option::of(4_u64..20),
        size_kib in prop::sample::select(vec![4_u64, 8, 16, 64, 256, 1024]),
        read_share in prop::sample::select(vec![0.0, 0.7, 1.0]),
        times in 1.01..40.0_f64,
    ) {
        let drawn = Drawn { size_gib, iops_part, bytes_part, count, slots };
        let disks = disks(edition, &sku, drawn);
        look(&disks, Load::new(size_kib * KIB, read_share), times);
    }
}

/// The property needs advice for each type: each has some.
#[test]
fn every_type_has_advice_that_is_enough() {
    for (edition, sku) in types() {
        let drawn =
            Drawn { size_gib: 200, iops_part: 0.0, bytes_part: 0.0, count: 1, slots: Some(8) };
        let disks = disks(edition, &sku, drawn);
        assert!(look(&disks, Load::new(16 * KIB, 1.0), 3.0), "{edition} {sku}");
    }
}
