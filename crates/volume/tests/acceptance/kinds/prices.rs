//! What things cost in a month, by the catalogue's own prices.

use catalog::cost::{Cost, Machine, Purchase, Storage, cost};
use catalog::{Cloud, Part};

use crate::answer::{Answer, Outcome};
use crate::table::Case;

/// What a machine of the guide costs with so many of its disks.
fn of_guide(machine: &str, disk: &str, count: u32) -> Cost {
    let edition = catalog::edition("2018").expect("the guide's edition");
    let mut order = Purchase::new(Cloud::Azure, None);
    // The guide counts a month of 31 days.
    (order.month_hours, order.machine_hours) = (744.0, 744.0);
    order.machines.push(Machine { name: machine.to_owned(), count: 1, allows_ultra: false });
    order.storage.push(Storage { name: disk.to_owned(), count, ..Storage::default() });
    cost(edition, &order).expect("the guide prints the prices")
}

/// What so many P30 cost, without a machine.
pub(crate) fn premium_disks(count: u32) -> f64 {
    let cost = of_guide("DS13", "P30", count);
    cost.lines.iter().filter(|line| &*line.price.name == "P30").map(|line| line.usd).sum()
}

fn standard() -> Cost {
    of_guide("D14", "HDD-1TB", 32)
}

fn premium() -> Cost {
    of_guide("DS13", "P30", 4)
}

/// The two designs of the guide's cost comparison.
pub(crate) fn design(case: &Case) -> Outcome {
    let cost = if case.id == "P-41" { standard() } else { premium() };
    let is_of_machine = |name: &str| name.starts_with("Standard_");
    let of = |is_wanted: &dyn Fn(&str) -> bool| -> f64 {
        let lines = cost.lines.iter().filter(|line| is_wanted(&line.price.name));
        lines.map(|line| line.usd).sum()
    };
    Outcome::said(
        Answer::new()
            .with("vm_usd", of(&is_of_machine))
            .with("disk_usd", of(&|name| !is_of_machine(name)))
            .with("total_usd", cost.usd()),
    )
}

/// How much less the one costs than the other.
pub(crate) fn saving() -> Outcome {
    let value = (1.0 - premium().usd() / standard().usd()) * 100.0;
    Outcome::said(Answer::new().with("value", value))
}

/// Pools of Azure NetApp Files, each for some hours.
pub(crate) fn netapp(case: &Case) -> Outcome {
    let edition = catalog::edition("current").expect("an edition");
    let segments = case.input["segments"].as_array().expect("segments");
    let usd: f64 = segments
        .iter()
        .map(|segment| {
            let number = |key: &str| segment[key].as_f64().expect("a number");
            let rate = number("usd_per_gib_hour");
            let mut levels = ["standard", "premium", "ultra"].into_iter();
            let name = levels.find_map(|level| {
                let name = format!("netapp-{level}");
                let is_it = |price: &catalog::Price| {
                    price.part == Part::Whole && (price.usd - rate).abs() < 1e-9
                };
                let is_priced = edition.prices_of(&name).any(is_it);
                is_priced.then_some(name)
            });
            let mut order = Purchase::new(Cloud::Azure, None);
            (order.month_hours, order.machine_hours) = (number("hours"), number("hours"));
            order.storage.push(Storage {
                name: name.expect("a level has this rate"),
                count: 1,
                capacity_gib: number("tib") * 1024.0,
                ..Storage::default()
            });
            cost(edition, &order).expect("levels have a price").usd()
        })
        .sum();
    Outcome::said(Answer::new().with("usd", usd))
}
