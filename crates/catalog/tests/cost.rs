//! A month's price of twenty designs, to the cent: from price calculators, published tests, and the
//! tables' own figures multiplied by hand (the column `by`).

use catalog::cost::{Cost, CostError, Machine, Purchase, Storage, cost};
use catalog::{Cloud, Edition, Term};

fn current() -> &'static Edition {
    catalog::edition("current").expect("an edition")
}

/// `CLOUD REGION: ITEM + ITEM ... [full month] [HOURS h] [TERM]`; an item is `N x NAME`, perhaps
/// with `(SIZE GiB, N IOPS, N MB/s or MiB/s, N ops)`.
fn order(text: &str) -> Purchase {
    let (place, rest) = text.split_once(": ").expect("a place");
    let (cloud, region) = place.split_once(' ').unwrap_or((place, ""));
    let cloud = Cloud::from_text(cloud).expect("a cloud");
    let mut order = Purchase::new(cloud, Some(region).filter(|region| !region.is_empty()));
    let mut rest = rest;
    while let Some((before, word)) = rest.strip_suffix(']').and_then(|it| it.rsplit_once(" [")) {
        match word {
            "full month" => order.is_full_month = true,
            "3y" | "1y" => order.term = Term::from_text(word).expect("a term"),
            hours => {
                let hours = hours.strip_suffix(" h").and_then(|it| it.parse().ok());
                order.month_hours = hours.expect("hours");
                order.machine_hours = order.month_hours;
            }
        }
        rest = before;
    }
    for item in rest.split(" + ") {
        let (count, item) = item.split_once(" x ").unwrap_or(("1", item));
        let count = count.parse().expect("a number");
        let (name, of) = item.split_once(" (").unwrap_or((item, ")"));
        if catalog::edition("current").is_some_and(|edition| edition.vm(name).is_some()) {
            let (name, allows_ultra) = (name.to_owned(), of.starts_with("Ultra"));
            order.machines.push(Machine { name, count, allows_ultra });
            continue;
        }
        let mut storage = Storage { name: name.to_owned(), count, ..Storage::default() };
        for part in of.trim_end_matches(')').split(", ").filter(|part| !part.is_empty()) {
            let (number, unit) = part.split_once(' ').expect("a quantity with a unit");
            let number: f64 = number.parse().expect("a number");
            match unit {
                "GiB" => storage.capacity_gib = number,
                "IOPS" => storage.iops = number,
                "MB/s" => storage.throughput_bytes = number * 1e6,
                "MiB/s" => storage.throughput_bytes = number * f64::from(1 << 20),
                "ops" => storage.operations = number,
                _ => panic!("unknown unit {unit}"),
            }
        }
        order.storage.push(storage);
    }
    order
}

fn price(text: &str) -> Result<Cost, CostError> {
    cost(current(), &order(text))
}

#[track_caller]
fn check(text: &str, usd: &str) {
    let cost = price(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let lines: Vec<_> =
        cost.lines.iter().map(|line| (&line.price.name, line.price.part, line.usd)).collect();
    assert_eq!(format!("{:.2}", cost.usd()), usd, "{text}: {lines:#?}");
}

#[test]
fn designs_cost_what_was_published_or_worked_out() {
    let table = include_str!("data/cost.csv");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let mut n_cases = 0;
    for record in reader.records() {
        let record = record.expect("a line");
        check(&record[0], &record[1]);
        n_cases += 1;
    }
    assert_eq!(n_cases, 26);
}

#[track_caller]
fn refused(text: &str, expected: &str) -> CostError {
    let error = price(text).expect_err("no price");
    assert_eq!(error.to_string(), expected);
    error
}

#[test]
fn a_missing_price_is_named_and_never_free() {
    let text = "gcp europe-west1: hyperdisk-extreme (100 GiB, 5000 IOPS)";
    let error = refused(text, "no price of `hyperdisk-extreme` (iops) in europe-west1");
    let CostError::NoPrice { known_in, .. } = error else { panic!("{error:?}") };
    assert_eq!(known_in, ["us-central1"]);
    let error = refused(
        "aws eu-west-1: m5.large [3y]",
        "no price of `m5.large` in eu-west-1, reserved for 3 years",
    );
    let CostError::NoPrice { known_in, known_terms, .. } = error else { panic!("{error:?}") };
    assert_eq!((known_in, known_terms), (vec!["us-east-1".to_owned()], vec![Term::OnDemand]));
    refused(
        "azure eastus: D8s_v3 [1y]",
        "no price of `Standard_D8s_v3` in eastus, reserved for 1 year",
    );
    refused("azure japaneast: P30", "no price of `P30` in japaneast");
    refused("azure uksouth: PremiumV2 (8 GiB)", "no price of `PremiumV2` in uksouth");
    refused("azure: P30", "no price of `P30` without a region");
    refused("azure eastus: P99", "no price of `P99` in eastus");
    // What is above the free part is billed; at what price is not published.
    let flexible = "azure southcentralus: netapp-flexible (1024 GiB, 200 MiB/s)";
    refused(flexible, "no price of `netapp-flexible` (throughput above 128) in southcentralus");
    check("azure southcentralus: netapp-flexible (1024 GiB, 128 MiB/s)", "135.30");
    // Operations of a Standard SSD have a price in East US only.
    check("azure westeurope: E4", "2.40");
    let text = "azure westeurope: E4 (10000 ops)";
    refused(text, "no price of `Standard SSD` (operations) in westeurope");
}

#[test]
fn an_unknown_region_brings_the_nearest() {
    let error = refused("azure eastsu: P30", "no prices of region `eastsu` of Microsoft Azure");
    let CostError::UnknownRegion { near, known, .. } = error else { panic!("{error:?}") };
    assert!(near.contains(&"eastus".to_owned()), "{near:?}");
    assert!(known.contains(&"westeurope".to_owned()), "{known:?}");
    // Another cloud's region is none of this one, and looks like none.
    let error =
        refused("azure us-east-1: P30", "no prices of region `us-east-1` of Microsoft Azure");
    let CostError::UnknownRegion { near, .. } = error else { panic!("{error:?}") };
    assert!(!near.contains(&"westeurope".to_owned()), "{near:?}");
    check("azure EastUS: P30", "135.17");
}

#[test]
fn hours_are_those_of_a_month() {
    let mut order = order("azure eastus: D8s_v3 + PremiumV2 (1 GiB, 4000 IOPS, 125 MB/s)");
    // The disk runs on while the machine is stopped.
    order.machine_hours = 100.0;
    let usd = |order: &Purchase| cost(current(), order).map(|cost| format!("{:.4}", cost.usd()));
    assert_eq!(usd(&order), Ok("43.5903".to_owned()));
    order.machine_hours = 731.0;
    let error = usd(&order).expect_err("more than the month has").to_string();
    assert_eq!(error, "731 hours: a month has 1 to 730");
    order.month_hours = f64::NAN;
    assert!(usd(&order).is_err());
    (order.month_hours, order.machine_hours, order.is_full_month) = (744.0, 700.0, true);
    let error = usd(&order).expect_err("not a full month").to_string();
    assert_eq!(error, "the discount for a full month needs all 744 hours, not 700");
}

#[test]
fn every_line_has_source_and_date_and_the_lines_add_up() {
    let cost = price("aws us-east-1: io2 (500 GiB, 100000 IOPS)").expect("a price");
    let lines: Vec<_> = cost
        .lines
        .iter()
        .map(|line| {
            let price = &line.price;
            assert!(!price.source.title.is_empty() && !price.source.date.is_empty());
            let part = format!("{}{}", price.part.as_str(), price.band);
            (part, line.quantity, price.usd, (line.usd * 100.0).round())
        })
        .collect();
    let part = |text: &str| text.to_owned();
    assert_eq!(
        lines,
        [
            (part("capacity"), 500.0, 0.125, 6_250.0),
            (part("iops up to 32000"), 32_000.0, 0.065, 208_000.0),
            (part("iops 32000 to 64000"), 32_000.0, 0.0455, 145_600.0),
            (part("iops above 64000"), 36_000.0, 0.03185, 114_660.0),
        ]
    );
}

/// Four volumes pay for none of what one volume of the same sum pays for.
#[test]
fn what_is_free_is_free_for_each_volume() {
    check("aws us-east-1: 4 x gp3 (25 GiB, 3000 IOPS, 125 MiB/s)", "8.00");
    check("aws us-east-1: gp3 (100 GiB, 12000 IOPS, 500 MiB/s)", "68.00");
}
