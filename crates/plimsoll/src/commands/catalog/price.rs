//! `plimsoll catalog price`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ::catalog::cost::{self, Cost, CostError, MONTH_HOURS, Purchase};
use ::catalog::{Part, Term};
use ::design::bill;
use serde_json::json;
use volume::Design;

use super::super::regions::RegionFrom;
use super::prices::mark;
use super::text;
use crate::commands::explained::cents;
use crate::commands::on;
use crate::commands::own_tables::CatalogArgs;
use crate::exit::{Exit, Failure};
use crate::stream;

/// Say what a design costs in a month, at list prices with source and date
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The design, as TOML; `-` is the standard input.
    #[arg(value_name = "DESIGN")]
    design: String,

    #[command(flatten)]
    catalog: CatalogArgs,

    /// Region, such as eastus, us-east-1 or us-central1; the design's own unless given. Without
    /// either only prices count that state no region, as those of edition 2018.
    #[arg(long)]
    region: Option<String>,

    /// For how long the machine is reserved: on-demand, 1y or 3y.
    #[arg(long, value_parser = Term::from_text, default_value = "on-demand")]
    term: Term,

    /// Hours of the month.
    #[arg(long, value_name = "H", default_value_t = MONTH_HOURS)]
    hours: f64,

    /// Hours of the month in which the machine runs; all unless given. Disks are paid for all of
    /// it.
    #[arg(long, value_name = "H")]
    running: Option<f64>,

    /// Take the discount that Google Cloud gives to machines which run all of the month.
    #[arg(long)]
    full_month: bool,

    /// Operations of each disk in the month, which Standard SSD and Standard HDD bill: counted in
    /// pieces of 256 KiB, of HDD 16 KiB.
    #[arg(long, value_name = "N", default_value_t = 0)]
    operations: u64,

    /// Print it as JSON (`plimsoll.price/1`).
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
List prices in US dollars for Linux, without tax, traffic and discounts of a
contract. A price that is not known is an error, never zero. `~` marks an
approximate price, `=` a derived one.

Examples:
  plimsoll catalog price p30x4.toml --region eastus
  plimsoll catalog price gp3.toml --region us-east-1 --term 3y
  plimsoll catalog price n2.toml --region us-central1 --full-month";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let catalog = args.catalog.load()?;
    let (design, _) = on::read_design(&args.design, &catalog)?;
    let edition = design.rows().ok_or_else(|| Failure::wrong_use("the design has no edition"))?;
    let order = order(&design, args)?;
    let cost = cost::cost(edition, &order).map_err(|error| failure(&error))?;
    let page = if args.json { as_json(&order, &cost) } else { as_text(&design, &order, &cost) };
    stream::print(&page)?;
    Ok(Exit::Fine)
}

/// Returns what a design is made of, on the terms that were asked for.
fn order(design: &Design, args: &Args) -> Result<Purchase, Failure> {
    let region = args.region.as_deref().or(design.region.as_deref());
    let order = bill::order(design, region, args.operations as f64);
    let mut order = order.map_err(|error| Failure::wrong_use(error.to_string()))?;
    // The design's own counts where prices state one.
    let has_regions = design.rows().is_some_and(|it| !it.regions(order.cloud).is_empty());
    order.region = order.region.filter(|_| args.region.is_some() || has_regions);
    Ok(Purchase {
        term: args.term,
        month_hours: args.hours,
        machine_hours: args.running.unwrap_or(args.hours),
        is_full_month: args.full_month,
        ..order
    })
}

fn failure(error: &CostError) -> Failure {
    let failure = RegionFrom::Option.failure(error);
    match error {
        CostError::NoPrice { region: None, known_in, .. } if !known_in.is_empty() => {
            failure.hint(format!("name a region: {}", RegionFrom::Option.one_of(known_in)))
        }
        CostError::NoPrice { known_terms, .. } if !known_terms.is_empty() => {
            let terms: Vec<&str> = known_terms.iter().map(|term| term.as_str()).collect();
            failure.hint(format!("it has one there for --term {}", terms.join(" or ")))
        }
        CostError::NoPrice { known_in, .. } if !known_in.is_empty() => {
            failure.hint(format!("it has one with {}", RegionFrom::Option.one_of(known_in)))
        }
        CostError::NoPrice { .. } => {
            failure.hint("no source gives one; `plimsoll catalog import` takes a table of your own")
        }
        CostError::UnknownRegion { .. }
        | CostError::UnknownPer { .. }
        | CostError::UnknownVcpus { .. }
        | CostError::Hours { .. }
        | CostError::NotFullMonth { .. } => failure,
    }
}

/// Columns before an amount, and of it.
const WIDTHS: (usize, usize) = (64, 14);

fn as_text(design: &Design, order: &Purchase, cost: &Cost) -> String {
    let place = order.region.as_deref().unwrap_or("no region");
    let head = format!(
        "{} (edition {}, {place}, {}, {} h a month, machines run {} h)\n\n",
        design.name,
        design.edition,
        order.term.as_str(),
        order.month_hours,
        order.machine_hours,
    );
    let mut page = text::wrapped("", head.trim_end());
    page.push('\n');
    let (name_width, usd_width) = WIDTHS;
    for line in &cost.lines {
        let price = &line.price;
        let part = match price.part {
            Part::Whole => String::new(),
            part => format!(", {}{}", part.as_str(), price.band),
        };
        let what = format!("{} x {}{part}", line.count, price.name);
        let _ = writeln!(page, "  {what:<name_width$}{:>usd_width$.2}", in_cents(line.usd));
        let times = match (line.count, line.quantity) {
            (count, 1.0) => count.to_string(),
            (1, quantity) => quantity.to_string(),
            (count, quantity) => format!("{count} x {quantity}"),
        };
        let mut how = format!("{times} x {}{} per {}", mark(price), price.usd, price.per);
        let hours = if price.per.ends_with("hour") {
            format!(" x {} h", line.times)
        } else {
            String::new()
        };
        how.push_str(&hours);
        if line.factor < 1.0 {
            let _ = write!(how, " x {} for a full month", line.factor);
        }
        let region = if price.region.is_none() { "region not stated, " } else { "" };
        let how = format!("{how} ({region}{}, {})", price.source.key, price.source.date);
        page.push_str(&text::wrapped("      ", &how));
        if !price.note.is_empty() {
            page.push_str(&text::wrapped("      ", &price.note));
        }
    }
    let _ = writeln!(
        page,
        "\n  {:<name_width$}{:>usd_width$.2}\n",
        "USD a month",
        in_cents(cost.usd())
    );
    let sources: BTreeMap<&str, &str> = cost
        .lines
        .iter()
        .map(|line| (line.price.source.key.as_str(), line.price.source.title.as_str()))
        .collect();
    for (key, title) in sources {
        page.push_str(&text::wrapped(&format!("  {key}: "), title));
    }
    page
}

fn as_json(order: &Purchase, cost: &Cost) -> String {
    let line = |line: &cost::Line| {
        let price = &line.price;
        json!({
            "name": &*price.name,
            "count": line.count,
            "part": price.part.as_str(),
            "quantity": line.quantity,
            "usd_per": price.usd,
            "per": &*price.per,
            "times": line.times,
            "factor": line.factor,
            "usd": line.usd,
            "region": price.region.as_deref(),
            "source": price.source.title,
            "date": price.source.date,
            "note": &*price.note,
        })
    };
    let page = json!({
        "schema": "plimsoll.price/1",
        "cloud": order.cloud.as_str(),
        "region": order.region,
        "term": order.term.as_str(),
        "month_hours": order.month_hours,
        "machine_hours": order.machine_hours,
        "full_month": order.is_full_month,
        "usd": (cost.usd() * 100.0).round() / 100.0,
        "lines": cost.lines.iter().map(line).collect::<Vec<_>>(),
    });
    format!("{page:#}\n")
}

/// Rounds an amount to cents as every other page does.
fn in_cents(usd: f64) -> f64 {
    cents(usd) as f64 / 100.0
}
