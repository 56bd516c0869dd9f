//! `plimsoll catalog`: what clouds offer, each figure with its source and date.

mod import;
mod json;
mod list;
mod price;
mod prices;
mod show;
mod text;

use std::sync::Arc;

use ::catalog::{Catalog, EDITIONS, Edition};
use clap::Subcommand;

use super::own_tables::CatalogArgs;
use crate::exit::{Exit, Failure};

pub(super) use text::table;

/// Show disks, machine sizes, network volumes and prices, with source and date; price designs;
/// import tables
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll catalog list disks
  plimsoll catalog list vms --edition 2018
  plimsoll catalog show P30
  plimsoll catalog price p30x4.toml --region eastus";

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Price(price::Args),
    Import(import::Args),
}

/// What to do about a machine that the catalogue does not have.
const OWN_MACHINE: &str = "a design accepts figures of your own, such as `[vm] uncached = { \
     iops = 15000, throughput = \"240MB/s\" }`; `plimsoll catalog import` takes a table of them";

/// Which catalogue is asked.
#[derive(Debug, clap::Args)]
struct CatalogChoice {
    /// Edition: current, 2018, 2019, 2023 or 2024.
    #[arg(long, default_value = "current")]
    edition: String,

    #[command(flatten)]
    catalog: CatalogArgs,
}

impl CatalogChoice {
    /// Reads the catalogue.
    fn load(&self) -> Result<Arc<Catalog>, Failure> {
        self.catalog.load()
    }

    /// Finds the edition in it.
    fn edition<'c>(&self, catalog: &'c Catalog) -> Result<&'c Edition, Failure> {
        catalog.edition(&self.edition).ok_or_else(|| {
            let mut failure = Failure::wrong_use(format!("unknown edition `{}`", self.edition));
            for info in EDITIONS {
                failure = failure.hint(format!("{}: {}", info.name, info.title));
            }
            failure
        })
    }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Price(args) => price::run(args),
        Command::Import(args) => import::run(args),
    }
}
