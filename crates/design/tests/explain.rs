//! Changes with their prices, against the price lists they come from.

use design::explain::{Change, NoPrice, changes, explain, terms_of, usd_more};
use volume::Design;
use volume::design::parse;
use volume::limits::{Bound, Flow, Load};

fn design(text: &str) -> Design {
    let (design, findings) = parse(text);
    design.unwrap_or_else(|| panic!("{findings:?}"))
}

fn flow(iops: f64, size_kib: u64) -> Flow {
    Flow { volume: 0, load: Load::new(size_kib << 10, 1.0), demand: Some(iops) }
}

const P30: &str = "edition='current'\n[[volume]]\nmount='/a'\ndisk='P30'\ncache='None'\n";

fn cents(change: &Change) -> i64 {
    (change.usd_more.clone().expect("a price") * 100.0).round() as i64
}

/// A P30 is USD 135.17 a month in East US, a P40 259.05, and a P50, which carries no more, 495.57.
#[test]
fn the_cheapest_change_stands_first() {
    let one = design(P30);
    let terms = terms_of(&one, Some("eastus"));
    let found = changes(&one, &[flow(6000.0, 8)], 0, &terms);
    let reported: Vec<(&str, i64)> =
        found.iter().map(|change| (change.remedy.change.as_str(), cents(change))).collect();
    assert_eq!(reported, [("P40", 12_388), ("one more P30", 13_517), ("P50", 36_040)]);
    // Of a price that is known nothing else hangs on one that is not: the machine has none here.
    let own = format!("{P30}[vm]\nuncached={{ iops=50000 }}\ncached={{ iops=50000 }}\n");
    let found = changes(&design(&own), &[flow(6000.0, 8)], 0, &terms);
    assert_eq!(cents(&found[0]), 12_388, "{found:?}");
}

#[test]
fn a_setting_costs_nothing_and_stands_before_what_is_bought() {
    let text = "[[volume]]\nmount='/a'\ndisk='P30'\ncount=4\ncache='None'\n\
                chunk='4KiB'\n";
    let striped = design(text);
    let found = changes(&striped, &[flow(12_000.0, 16)], 0, &terms_of(&striped, Some("eastus")));
    let first = &found[0];
    assert!(first.remedy.change.starts_with("chunks of"), "{found:?}");
    assert_eq!((cents(first), first.remedy.is_enough), (0, Some(true)));
    assert!(found[1..].iter().all(|change| cents(change) > 0), "{found:?}");
}

#[test]
fn an_unknown_price_says_why() {
    // Prices of today are by region.
    let today = design(P30);
    let found = changes(&today, &[flow(6000.0, 8)], 0, &terms_of(&today, None));
    assert!(!found.is_empty());
    for change in &found {
        let why = change.usd_more.as_ref().expect_err("no region is named");
        assert_eq!(why.hint().as_deref(), Some("prices are by region: name one"), "{why}");
    }
    let priced = changes(&today, &[flow(6000.0, 8)], 0, &terms_of(&today, Some("eastus")));
    assert!(priced.iter().all(|change| change.usd_more.is_ok()), "{priced:?}");
    // Figures of one's own are no product, and neither are clients.
    let own = |iops: u64| {
        design(&format!("{P30}[vm]\nuncached={{ iops={iops} }}\ncached={{ iops=9000 }}\n"))
    };
    let terms = terms_of(&own(1000), None);
    assert_eq!(usd_more(&own(1000), &own(2000), &terms), Err(NoPrice::OwnMachine));
    let mut more = today.clone();
    more.clients.push(volume::design::Client::default());
    assert_eq!(usd_more(&today, &more, &terms), Err(NoPrice::Clients));
}

/// Checks the first change for 8 KiB reads on a network volume, and what it costs more.
#[track_caller]
fn check_pool(text: &str, iops: f64, expected: (&str, i64)) {
    let before = design(text);
    let found = changes(&before, &[flow(iops, 8)], 0, &terms_of(&before, Some("westeurope")));
    let first = found.first().unwrap_or_else(|| panic!("{text}: nothing lifts it"));
    assert_eq!((first.remedy.change.as_str(), cents(first)), expected, "{text}");
}

/// A TiB of Ultra is USD 402.17 a month and has 128 MiB/s, one of Standard 151.00 and 16.
#[test]
fn more_of_a_pool_costs_whole_tib() {
    let volume = "[[volume]]\nmount='/a'\nquota='1TiB'\n";
    let pool = "[[pool]]\nname='p'\nsize=";
    let ultra = format!("{pool}'1TiB'\nservice='Ultra'\n{volume}pool='p'\n");
    check_pool(&ultra, 16_000.0, ("a pool of 2 TiB with a quota of 2048GiB", 40_217));
    check_pool(&ultra, 20_000.0, ("a pool of 2 TiB with a quota of 1250GiB", 40_217));
    check_pool(&ultra, 40_000.0, ("a pool of 3 TiB with a quota of 2500GiB", 80_433));
    let has_room = ultra.replace("size='1TiB'", "size='2TiB'");
    check_pool(&has_room, 20_000.0, ("a quota of 1250GiB", 0));
    let manual = format!("{pool}'4TiB'\nservice='Standard'\nqos='manual'\n{volume}pool='p'\n");
    let manual = manual + "throughput='64MiB/s'\n";
    let expected = "a pool of 7 TiB with 100 MiB/s assigned to the volume";
    check_pool(&manual, 12_800.0, (expected, 45_300));
    // Without a pool it is alone in the least that it fits in.
    let alone = format!("{volume}service='Ultra'\n");
    check_pool(&alone, 20_000.0, ("a quota of 1250GiB", 40_217));
    check_pool(&alone, 16_000.0, ("a quota of 2048GiB", 40_217));
    check_pool(&alone.replace("1TiB", "500GiB"), 12_000.0, ("a quota of 750GiB", 0));
}

/// Of all machines that are enough, the cheapest is named, and beside it the nearest of the family.
#[test]
fn of_larger_machines_the_cheapest_is_named() {
    let text = "[vm]\nsize='D4s_v3'\n[[volume]]\nmount='/a'\ndisk='P60'\ncache='None'\n";
    let small = design(text);
    let terms = terms_of(&small, Some("eastus"));
    let load = [flow(12_000.0, 8)];
    let found = changes(&small, &load, 0, &terms);
    let machines: Vec<&Change> = found
        .iter()
        .filter(|change| change.remedy.change.starts_with("a larger machine"))
        .collect();
    assert!(machines.len() == 2, "{found:?}");
    let usd_of = |change: &Change| change.usd_more.clone().expect("a price");
    assert!(usd_of(machines[0]) < usd_of(machines[1]));
    assert!(machines[1].remedy.change.ends_with("Standard_D8s_v3"), "{found:?}");
    // No other machine of the catalogue with as many cores and as much memory is cheaper.
    let edition = catalog::edition("current").expect("an edition");
    let own = edition.vm("D4s_v3").expect("a size");
    let figure = |figure: Option<&catalog::Figure>| figure.map_or(0, |figure| figure.per_s);
    for other in edition.vms() {
        let is_larger = other.cloud() == Some(catalog::Cloud::Azure)
            && other.arch() == own.arch()
            && figure(other.vcpus()) >= figure(own.vcpus())
            && figure(other.memory()) >= figure(own.memory())
            && other.takes_premium() == Some(true)
            && figure(other.uncached_iops()) >= 12_000
            && figure(other.uncached_throughput()) >= 12_000 * 8192
            && !other.name.contains('-');
        let (design, _) = parse(&text.replace("D4s_v3", &other.name));
        let Some(design) = design.filter(|_| is_larger) else { continue };
        // Older generations are not offered.
        let is_old = other.name.ends_with("_v2") || !other.name.contains("_v");
        let Ok(usd) = usd_more(&small, &design, &terms) else { continue };
        let least = usd_of(machines[0]);
        assert!(is_old || usd >= least - 1e-6, "{} costs {usd}, less than {least}", other.name);
    }
}

#[test]
fn what_holds_a_load_stands_with_its_rate_by_depth() {
    let one = design(P30);
    let explained = explain(&one, &[flow(6000.0, 8)], 0);
    assert!((explained.done.iops - 5000.0).abs() < 1e-6, "{explained:?}");
    assert!((explained.latency_s - 1e-3).abs() < 1e-12, "{explained:?}");
    let rows: Vec<(u32, f64, Bound)> =
        explained.by_depth.iter().map(|row| (row.queue_depth, row.iops, row.binds)).collect();
    let disk = Bound::Cap(volume::CapKind::DiskIops);
    assert_eq!(rows[2..4], [(4, 4000.0, Bound::QueueDepth), (8, 5000.0, disk)]);
    // Beside another load there is less.
    let two = [Flow { demand: Some(2000.0), ..flow(0.0, 8) }, flow(6000.0, 8)];
    let rows = explain(&one, &two, 1).by_depth;
    let most = rows.iter().map(|row| row.iops).fold(0.0, f64::max);
    assert!((most - 3000.0).abs() < 1e-6, "{rows:?}");
}
