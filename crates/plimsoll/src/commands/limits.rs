//! `plimsoll limits`: what a design can do, and which cap binds where. Nothing is run.

mod answer;
mod demand;
mod errata;
mod json;
mod notes;
mod text;

use ::catalog::cost::find_region;
use ::design::Terms;
use ::design::explain::terms_of;
use volume::Design;
use volume::design::{MB_READINGS, parse_in_mb};
use volume::limits::Load;
use volume::limits::cache::WorkingSet;
use volume::limits::size::{OLTP_IO_BYTES, WAREHOUSE_IO_BYTES};

use super::on;
use super::own_tables::CatalogArgs;
use super::regions::RegionFrom;
use crate::exit::{Exit, Failure};
use crate::stream;

use demand::{Demand, Question};

/// Show what a design can do per I/O size and mix, which cap binds, and what lifts it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The design, as TOML; `-` is the standard input.
    #[arg(value_name = "DESIGN", required_unless_present = "errata")]
    design: Option<String>,

    #[command(flatten)]
    catalog: CatalogArgs,

    /// I/O sizes; 8k, 64k and 1m unless given.
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = size)]
    #[arg(conflicts_with = "demand")]
    size: Vec<u64>,

    /// Percent of reads.
    #[arg(long, value_name = "PERCENTS", value_delimiter = ',', value_parser = percent)]
    #[arg(conflicts_with = "demand")]
    #[arg(default_value = "0,70,100")]
    read: Vec<f64>,

    /// Shares of reads that hit the host cache, 0 to 1. Cached volumes are shown cold and warm
    /// unless given.
    #[arg(long, value_name = "SHARES", value_delimiter = ',', value_parser = share)]
    #[arg(conflicts_with = "demand")]
    #[arg(default_value = "0,1")]
    hit: Vec<f64>,

    /// How much is read at random places. Gives, in place of --hit, the share that the host cache
    /// holds once it is warm, and how long that takes.
    #[arg(long, value_name = "SIZE", value_parser = working_set)]
    #[arg(conflicts_with_all = ["hit", "demand"])]
    working_set: Option<u64>,

    /// I/Os in flight on each volume; as many as it takes unless given.
    #[arg(long, value_name = "N", value_parser = queue_depth)]
    queue_depth: Option<u32>,

    /// I/Os that follow each other: disks that merge them, as those of Amazon EBS do, count them
    /// together. At random places unless given.
    #[arg(long)]
    sequential: bool,

    /// Take the rates of bursts, as they hold while credits last.
    #[arg(long)]
    burst: bool,

    /// Answer for a need instead: `iops=16000,bs=8k,read=70` or `mb_s=250,bs=64k`, with `hit=` and
    /// `on=MOUNT`; `mib_s=` and `rate=200MiB/s` are other units, `size=` is the same as `bs=`.
    /// May be repeated: all needs apply at the same time. Exit code 4 if one is not met.
    #[arg(long, value_name = "NEED", value_parser = demand::parse)]
    demand: Vec<Demand>,

    /// Region whose prices the changes for a need have, such as eastus; that of the design unless
    /// given.
    #[arg(long, requires = "demand")]
    region: Option<String>,

    /// How MB/s are printed.
    #[arg(long, value_enum, default_value = "decimal")]
    mb: Mb,

    /// Print it as JSON (`plimsoll.limits/1`), with every cap and where its figure comes from.
    #[arg(long)]
    json: bool,

    /// List where the source documents contradict themselves, and which figure is used.
    #[arg(long)]
    errata: bool,
}

/// A way to print megabytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Mb {
    /// 10^6 bytes.
    Decimal,
    /// 2^20 bytes.
    Binary,
    /// 1,024,000 bytes, as tables of older machines.
    Kib1000,
    /// As the tables of the clouds print: KB / 1,000 where I/Os bind, MB x 1,024 KB where bytes do.
    Published,
}

const EXAMPLES: &str = "\
A design names a machine and volumes; docs/designs has some. Limits are
sustained ones; --burst uses those that hold while credits last. Each change
that lifts a cap was tried on the design: settings first, then more of the
same. With --demand each change has its price, the cheapest first; also what
throttling does, by queue depth, and the exit code is 4 if a need is not met.

Examples:
  plimsoll limits p30x4.toml
  plimsoll limits p30x4.toml --size 8k,256k --read 100 --queue-depth 32
  plimsoll limits ds14.toml --working-set 200g --read 100
  plimsoll limits ds14.toml --demand iops=50000,read=0,on=/mnt/nocache \\
      --demand iops=64000,read=100,hit=1,on=/mnt/readcache
  plimsoll limits p30.toml --mb published
  plimsoll limits new-size.toml --catalog my-tables
  plimsoll limits --errata";

/// Smallest and largest I/O.
const SIZES: std::ops::RangeInclusive<u64> = 512..=1 << 30;

fn size(text: &str) -> Result<u64, String> {
    let bytes = units::parse_bytes(text).map_err(|error| error.to_string())?;
    if SIZES.contains(&bytes) { Ok(bytes) } else { Err("expected 512 to 1g".to_owned()) }
}

fn working_set(text: &str) -> Result<u64, String> {
    let bytes = units::parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes > 0 { Ok(bytes) } else { Err("expected a size such as 200g".to_owned()) }
}

/// Most I/Os in flight on a volume: as many as a job file may ask for, nearly.
const QUEUE_DEPTHS: std::ops::RangeInclusive<u64> = 1..=1_000_000;

fn queue_depth(text: &str) -> Result<u32, String> {
    let count = units::parse_count(text).ok().filter(|count| QUEUE_DEPTHS.contains(count));
    let count = count.and_then(|count| u32::try_from(count).ok());
    count.ok_or_else(|| "expected 1 to 1000000 I/Os in flight".to_owned())
}

fn percent(text: &str) -> Result<f64, String> {
    number(text.trim_end_matches('%'), 100.0)
}

fn share(text: &str) -> Result<f64, String> {
    number(text, 1.0)
}

fn number(text: &str, most: f64) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|number| (0.0..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from 0 to {most}"))
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.errata {
        stream::print(&errata::page(args.json))?;
        return Ok(Exit::Fine);
    }
    let Some(name) = &args.design else {
        return Err(Failure::wrong_use("no design is named"));
    };
    let on::Read { design, text, findings } = on::read(name, &args.catalog.load()?)?;
    let sizes = [OLTP_IO_BYTES, 64 << 10, WAREHOUSE_IO_BYTES];
    let question = Question {
        sizes: if args.size.is_empty() { sizes.to_vec() } else { args.size.clone() },
        read_shares: args.read.iter().map(|pct| pct / 100.0).collect(),
        hit_ratios: hit_ratios(args, &design)?,
        working_set: args.working_set,
        queue_depth: args.queue_depth,
        with_credits: args.burst,
        is_sequential: args.sequential,
        demands: args.demand.clone(),
        terms: terms(args, &design)?,
        readings: if args.demand.is_empty() { Vec::new() } else { readings(&text, &design) },
    };
    let answer = answer::answer(&design, &question, on::unknown_figures(&findings))?;
    let page = if args.json {
        json::page(&design, &answer, &findings)
    } else {
        text::page(&design, &answer, args.mb)
    };
    let is_met = answer.demands.iter().all(answer::DemandAnswer::is_met);
    let exit = if is_met { Exit::Fine } else { Exit::Missed };
    exit.once(stream::print(&page))
}

/// Returns the terms on which changes are priced.
fn terms(args: &Args, design: &Design) -> Result<Terms, Failure> {
    let terms = terms_of(design, args.region.as_deref());
    let (Some(region), Some(edition)) = (&args.region, design.rows()) else { return Ok(terms) };
    let found = find_region(edition, terms.cloud, region);
    found.map(|_| terms).map_err(|error| RegionFrom::Option.failure(&error))
}

/// Returns the shares of hits to ask for.
fn hit_ratios(args: &Args, design: &Design) -> Result<Vec<f64>, Failure> {
    let Some(bytes) = args.working_set else { return Ok(args.hit.clone()) };
    let load = Load::new(OLTP_IO_BYTES, 1.0);
    let of = |volume| WorkingSet::new(design, volume, &load, bytes as f64);
    let found = (0..design.volumes.len() as u16).find_map(of);
    let found = found.ok_or_else(|| {
        let text = "`--working-set` is about a host cache, and no volume of the design has one";
        Failure::wrong_use(text).hint("leave it out, or set `cache = \"ReadOnly\"` on a volume")
    })?;
    Ok(vec![found.hit_ratio])
}

/// Returns a design by every reading of a published MB whose bytes the source does not state.
fn readings(text: &str, design: &Design) -> Vec<Design> {
    let of = |mb_bytes| parse_in_mb(text, &design.catalog, mb_bytes);
    MB_READINGS.into_iter().filter_map(of).collect()
}
