//! `plimsoll design`: the cheapest designs that carry a need, and why.

mod among;
mod estate;
mod explain;
mod form;
mod frontier;
mod json;
mod network;
mod page;
mod pictures;
mod progress;
mod series;
mod text;

use std::sync::Arc;

use ::catalog::cost::{MONTH_HOURS, find_region};
use ::catalog::{Catalog, Cloud, EDITIONS, Edition, Term};
use ::design::{
    Market, MarketError, Nearest, Need, Options, Ranked, SearchInput, SearchResult, Terms,
    UnsizedMachines, asked, nearest, parse, promises, search_watched, toml, unsized_machines,
};
use plan::job::Source;
use plan::{Diagnostic, Severity};
use volume::design::{Interface, MB_READINGS, ReadAs};

use self::progress::Progress;
use super::own_tables::CatalogArgs;
use super::regions::RegionFrom;
use crate::diagnostics::{self, Texts};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Find the cheapest machine, disks and host cache that carry a need, and show what binds and why
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What is asked for, as `plimsoll capture` writes it; several files are the needs of several
    /// machines, with a design for each and totals.
    #[arg(value_name = "NEEDS", required = true)]
    needs: Vec<String>,

    #[command(flatten)]
    catalog: CatalogArgs,

    /// Clouds: azure, aws, gcp.
    #[arg(long, value_name = "CLOUDS", value_delimiter = ',', default_value = "azure")]
    #[arg(value_parser = cloud)]
    cloud: Vec<Cloud>,

    /// Regions of the clouds, such as westeurope,eu-west-1,europe-west1; several of one cloud are
    /// shown side by side. Without it prices are those of eastus, us-east-1 and us-central1.
    #[arg(long, value_name = "REGIONS", value_delimiter = ',')]
    region: Vec<String>,

    /// How many designs to show of each cloud.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=100))]
    top: u16,

    /// How much more than is asked every cap must carry: 20%.
    #[arg(long, value_name = "PERCENT", default_value = "0", value_parser = percent)]
    headroom: f64,

    /// Show the front of price against headroom: each design is the cheapest that carries a tenth
    /// more than the one before, up to five times the need.
    #[arg(long, conflicts_with_all = ["explain", "among"])]
    pareto: bool,

    /// Explain design N: why it is chosen, why no cheaper one is, and what lifts the caps that
    /// bind.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    explain: Option<u16>,

    /// Write the best design, or the one that is explained, as a file for `limits`, `run --on` and
    /// `rehearse`; if the name ends in .html, .md, .csv or .json, as a page or table.
    #[arg(short, long, value_name = "FILE", conflicts_with = "among")]
    output: Option<String>,

    /// Print the designs in this form.
    #[arg(long = "as", value_name = "FORM", value_enum)]
    #[arg(conflicts_with_all = ["json", "explain", "pareto", "among"])]
    form: Option<form::Form>,

    /// Rank these designs instead of searching.
    #[arg(long, value_name = "DESIGN", num_args = 1..)]
    among: Vec<String>,

    /// Only these machine sizes.
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    machine: Vec<String>,

    /// Only these types of disk; `local` for those of the machine itself.
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    disk: Vec<String>,

    /// Put all volumes on network volumes (Azure NetApp Files, Amazon FSx for NetApp ONTAP, Google
    /// Cloud NetApp Volumes), as is done if a volume of the needs is `shared`.
    #[arg(long, conflicts_with_all = ["disk", "write_back", "among"])]
    network_volumes: bool,

    /// How many machines reach network volumes, each with its part of the load. Default: as few as
    /// carry a shared volume, or one if none is shared.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    clients: Option<u32>,

    /// Take machines with Arm processors, too: the application must run there.
    #[arg(long)]
    arm: bool,

    /// How machines reach their disks: SCSI or NVMe. Of Ebsv5 and Ebdsv5, which have both, limits
    /// over NVMe are higher, and the machine must be of generation 2.
    #[arg(long, value_name = "NAME", value_parser = interface, conflicts_with = "among")]
    interface: Option<Interface>,

    /// Let the host cache hold writes: a crash loses what was not flushed.
    #[arg(long)]
    write_back: bool,

    /// Edition of the catalogue; `current` unless given. With `--among`, that of designs which
    /// name none.
    #[arg(long)]
    edition: Option<String>,

    /// For how long the machine is reserved: on-demand, 1y or 3y.
    #[arg(long, value_parser = Term::from_text, default_value = "on-demand")]
    term: Term,

    /// Hours of the month.
    #[arg(long, value_name = "H", default_value_t = MONTH_HOURS)]
    hours: f64,

    /// Hours of the month in which the machine runs; all unless given.
    #[arg(long, value_name = "H")]
    running: Option<f64>,

    /// Take the discount that Google Cloud gives to machines which run all of the month.
    #[arg(long)]
    full_month: bool,

    /// Print it as JSON (`plimsoll.design/1`).
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
The search is exact: of all machines, types and numbers of disks (at most three
families of them in one design) and host cache modes, nothing cheaper carries
the need. Limits are sustained ones; burst credits of disks and machines count
where a captured series fits them. Volumes with `use = \"temp\"` may be on disks of the
machine itself. Not searched: on-demand bursting, performance plus, network
volumes beside disks. A design with an unknown price or limit comes last, and is
marked. Exit code 4 if nothing carries the need.

Examples:
  plimsoll design needs.toml --region westeurope
  plimsoll design needs.toml --cloud azure,aws --region westeurope,eu-west-1
  plimsoll design needs.toml --region westeurope,northeurope
  plimsoll design needs.toml --region westeurope --headroom 20% --explain 1
  plimsoll design needs.toml --region westeurope -o best.toml
  plimsoll design needs.toml --cloud azure,aws --region westeurope,eu-west-1 -o designs.html
  plimsoll design needs.toml --region eastus --machine DS13 --disk P30
  plimsoll design needs.toml --region westeurope --network-volumes --clients 4
  plimsoll design needs.toml --edition 2018 --hours 744 --among d14.toml ds13.toml
  plimsoll design estate/*.toml --region westeurope -o estate.html
  plimsoll design estate/*.toml --cloud azure,aws --region westeurope,eu-west-1 --as csv

Of several files of needs each gets a design. One with a mistake is left out,
the others go on, and the exit code is 2.";

fn cloud(text: &str) -> Result<Cloud, String> {
    let names = || Cloud::ALL.map(|cloud| cloud.as_str().to_lowercase()).join(", ");
    Cloud::from_text(text).ok_or_else(|| format!("unknown cloud `{text}`, expected {}", names()))
}

fn interface(text: &str) -> Result<Interface, String> {
    Interface::from_text(text).ok_or_else(|| "expected SCSI or NVMe".to_owned())
}

/// Most headroom that is asked for: ten times the need.
const HEADROOM_MAX: f64 = 1000.0;

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse();
    let number = number.ok().filter(|number| (0.0..=HEADROOM_MAX).contains(number));
    let number: f64 = number.ok_or_else(|| format!("expected 0% to {HEADROOM_MAX}%"))?;
    Ok(number / 100.0)
}

/// One cloud with what was found there.
struct CloudAnswer<'e> {
    market: Market<'e>,
    found: SearchResult,
    /// What comes nearest, where nothing carries the need.
    nearest: Option<Nearest>,
    /// The same of designs of which all is known, where of all that carry it something is not.
    nearest_known: Option<Nearest>,
    /// Machines whose memory or processors are not known, where one of them would be cheaper.
    unsized_machines: Option<UnsizedMachines>,
    /// Designs that another reading of a published MB would give, by its bytes.
    readings: Vec<(u64, Option<Ranked>)>,
}

impl CloudAnswer<'_> {
    /// Returns what the cloud and its region are called.
    fn place(&self) -> String {
        self.market.terms.place()
    }
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let [needs] = args.needs.as_slice() else {
        return estate::run(args, &args.catalog.load()?);
    };
    let asked = read_needs(needs)?;
    let catalog = args.catalog.load()?;
    if !args.among.is_empty() {
        return among::run(args, &asked, &catalog);
    }
    if args.network_volumes || args.clients.is_some() || asked.need.is_shared() {
        return network::run(args, &asked, &catalog);
    }
    let mut answers = Vec::new();
    let wanted = terms(args, &catalog)?;
    note_regions(args, &wanted);
    for terms in wanted {
        answers.push(answer(args, &asked.need, terms, &catalog)?);
    }
    let chosen = usize::from(args.explain.unwrap_or(1)) - 1;
    let best = best(&answers, chosen);
    if let Some(number) = args.explain
        && best.is_none()
        && answers.iter().any(|answer| !answer.found.designs.is_empty())
    {
        let n_designs: usize =
            answers.iter().map(|answer| answer.found.designs.len()).max().unwrap_or(0);
        return Err(no_such_design(number, n_designs));
    }
    let written = args.output.as_deref().map(|path| (path, form::Form::of_file(path)));
    match (written, best) {
        (Some((path, Some(form))), _) => {
            form::write(path, &page::of(args, &asked, &answers, form)?, form.words())?;
        }
        (Some((path, None)), Some((answer, ranked))) => {
            write((path, chosen + 1), answer, &asked.need, ranked)?;
        }
        (Some((_, None)), None) | (None, _) => {}
    }
    let page = match (args.json, args.pareto, args.explain.and(best)) {
        (true, true, _) => json::pareto(args, &asked, &answers)?,
        (true, false, _) => {
            json::page(args, &asked, &answers, best.filter(|_| args.explain.is_some()))
        }
        (false, true, _) => text::pareto(args, &asked, &answers)?,
        (false, false, Some((answer, ranked))) => explain::page(args, &asked, answer, ranked),
        (false, false, None) => {
            page::of(args, &asked, &answers, args.form.unwrap_or(form::Form::Text))?
        }
    };
    let is_carried = answers.iter().any(|answer| !answer.found.designs.is_empty());
    let exit = if is_carried { Exit::Fine } else { Exit::Missed };
    exit.once(stream::print(&page))
}

/// Returns that the search found fewer designs than the one to be explained.
fn no_such_design(number: u16, n_designs: usize) -> Failure {
    let found = units::plural(n_designs, "design");
    let text = format!("`--explain {number}`: the search found {found}");
    Failure::wrong_use(text).hint("a larger `--top` shows more")
}

/// Returns the design at a position: of the first cloud, or where several stand side by side, of
/// the cheapest.
fn best<'a, 'e>(
    answers: &'a [CloudAnswer<'e>],
    position: usize,
) -> Option<(&'a CloudAnswer<'e>, &'a Ranked)> {
    cheapest(answers, |answer| answer.found.designs.get(position), |ranked| ranked.price)
}

/// Returns the answer whose design is cheapest, and the design; the first of those that cost as
/// much.
fn cheapest<'a, A, R, P: Ord>(
    answers: &'a [A],
    design: impl Fn(&'a A) -> Option<&'a R>,
    price: impl Fn(&R) -> P,
) -> Option<(&'a A, &'a R)> {
    let of = |answer| Some((answer, design(answer)?));
    answers.iter().filter_map(of).min_by_key(|(_, ranked)| price(ranked))
}

/// Reads a file of needs. Mistakes are printed and end the command.
fn read_needs(name: &str) -> Result<SearchInput, Failure> {
    let text = super::needs::text(name)?;
    let (needs, findings) = ::needs::parse(&text);
    let sources = [Source { name: name.to_owned(), text }];
    let shown: Vec<&Diagnostic> = findings.iter().collect();
    diagnostics::print_all(&shown, Texts { sources: &sources, command_line: "" });
    let is_wrong = findings.iter().any(|finding| finding.severity == Severity::Error);
    let Some(needs) = needs.filter(|_| !is_wrong) else {
        return Err(Failure::silent(Exit::WrongUse));
    };
    let requirements = ::needs::requirements(&needs);
    let asked = asked(&requirements).map_err(|mistakes| {
        let text = format!("`{name}` lacks figures that a design needs");
        mistakes.into_iter().fold(Failure::wrong_use(text), Failure::hint)
    });
    let mut asked = asked?;
    match series::read(name, &needs, &requirements) {
        Ok(demand) => asked.need.series = demand,
        Err(why) => asked.notes.push(why),
    }
    Ok(asked)
}

/// Returns the edition that is asked for, or the usual one.
fn edition<'c>(args: &Args, catalog: &'c Catalog) -> Result<&'c Edition, Failure> {
    let name = args.edition.as_deref().unwrap_or(ReadAs::default().edition);
    catalog.edition(name).ok_or_else(|| {
        let known: Vec<&str> = EDITIONS.iter().map(|info| info.name).collect();
        let text = format!("unknown edition `{name}`");
        Failure::wrong_use(text).hint(format!("editions are {}", known.join(", ")))
    })
}

/// Returns the terms of every region that is named, cloud by cloud. Where none is named, each cloud
/// has the one that is like the others', if the edition has prices by region.
fn terms(args: &Args, catalog: &Catalog) -> Result<Vec<Terms>, Failure> {
    let edition = edition(args, catalog)?;
    check_regions(args, edition)?;
    let mut all: Vec<Terms> = Vec::new();
    for cloud in &args.cloud {
        let of_cloud = args.region.iter().filter(|it| has_region(edition, *cloud, it));
        let mut regions: Vec<Option<&str>> = of_cloud.map(|region| Some(region.as_str())).collect();
        if regions.is_empty() {
            let default = Some(cloud.region_default()).filter(|_| args.region.is_empty());
            regions.push(default.filter(|region| has_region(edition, *cloud, region)));
        }
        for region in regions {
            let terms = Terms {
                edition: edition.info.name.to_owned(),
                term: args.term,
                month_hours: args.hours,
                machine_hours: args.running.unwrap_or(args.hours),
                is_full_month: args.full_month,
                machines: args.machine.clone(),
                disks: args.disk.clone(),
                allows_arm: args.arm,
                interface: args.interface,
                ..Terms::new(*cloud, region)
            };
            // What is named twice is looked at once.
            if !all.contains(&terms) {
                all.push(terms);
            }
        }
    }
    Ok(all)
}

/// Says whose prices are taken, where no region was named.
fn note_regions(args: &Args, terms: &[Terms]) {
    let regions: Vec<&str> = terms.iter().filter_map(|terms| terms.region.as_deref()).collect();
    if args.region.is_empty() && !regions.is_empty() {
        let text = format!("prices of {}; `--region` names others", regions.join(", "));
        stream::remark("note: ", &text);
    }
}

fn has_region(edition: &Edition, cloud: Cloud, region: &str) -> bool {
    find_region(edition, cloud, region).is_ok()
}

/// Reports the first region that none of the clouds has.
fn check_regions(args: &Args, edition: &Edition) -> Result<(), Failure> {
    let is_of_none =
        |region: &&String| !args.cloud.iter().any(|cloud| has_region(edition, *cloud, region));
    let unknown = args.region.iter().find(is_of_none);
    if let (Some(region), Some(cloud)) = (unknown, args.cloud.first()) {
        let elsewhere = Cloud::ALL.into_iter().find(|it| has_region(edition, *it, region));
        if let Some(other) = elsewhere {
            let text = format!("`{region}` is a region of {}", other.title());
            let hint = format!("add it: --cloud {}", other.as_str().to_lowercase());
            return Err(Failure::wrong_use(text).hint(hint));
        }
        let error = find_region(edition, *cloud, region).err();
        let error = error.map(|error| failure(&MarketError::Cost(error)));
        return Err(error.unwrap_or_else(|| Failure::wrong_use("no such region")));
    }
    Ok(())
}

fn options(args: &Args) -> Options {
    let n_kept = args.top.max(args.explain.unwrap_or(1));
    Options {
        headroom: args.headroom,
        n_kept: usize::from(n_kept),
        allows_write_back: args.write_back,
        is_known_only: false,
    }
}

/// Searches a market, and shows how far it is.
fn found_in(market: &Market<'_>, need: &Need, options: &Options) -> Result<SearchResult, Failure> {
    let mut progress = Progress::new(format!("{}, groups of machines", market.terms.place()));
    let mut on_group = |n_done, n_all| progress.show(n_done, n_all);
    search_watched(market, need, options, &mut on_group)
        .map_err(|error| Failure::wrong_use(error.to_string()))
}

fn answer<'e>(
    args: &Args,
    need: &Need,
    terms: Terms,
    catalog: &'e Arc<Catalog>,
) -> Result<CloudAnswer<'e>, Failure> {
    let wrong = |error: ::design::NeedError| Failure::wrong_use(error.to_string());
    let options = options(args);
    let market = Market::new(catalog, terms).map_err(|error| failure(&error))?;
    let found = found_in(&market, need, &options)?;
    let near = if found.designs.is_empty() {
        Some(nearest(&market, need, &options).map_err(wrong)?)
    } else {
        None
    };
    let known = Options { is_known_only: true, ..options };
    let nearest_known = match found.designs.first() {
        Some(best) if best.price.is_open => match nearest(&market, need, &known).map_err(wrong)? {
            Nearest::Nothing { .. } => None,
            near => Some(near),
        },
        Some(_) | None => None,
    };
    let unsized_machines = match found.designs.first() {
        Some(best) => unsized_machines(&market, need, &options, best.price).map_err(wrong)?,
        None => None,
    };
    let one = Options { n_kept: 1, ..options };
    let mut readings = Vec::new();
    for mb_bytes in MB_READINGS.into_iter().filter(|bytes| *bytes != market.terms.mb_bytes) {
        let terms = Terms { mb_bytes, ..market.terms.clone() };
        let other = Market::new(catalog, terms).map_err(|error| failure(&error))?;
        let best = found_in(&other, need, &one)?.designs.into_iter().next();
        readings.push((mb_bytes, best));
    }
    let kind = |it: Option<&Ranked>| {
        it.map(|it| {
            (it.machine.clone(), it.price, it.volumes.iter().map(|v| v.n_disks).collect::<Vec<_>>())
        })
    };
    let own = kind(found.designs.first());
    readings.retain(|(_, best)| kind(best.as_ref()) != own);
    Ok(CloudAnswer { market, found, nearest: near, nearest_known, unsized_machines, readings })
}

/// Most names that an error lists.
const NAMES_MAX: usize = 6;

fn failure(error: &MarketError) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    let some = |names: &[String]| {
        let shown = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>();
        let more = names.len().saturating_sub(NAMES_MAX);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{rest}", shown.join(", "))
    };
    match error {
        MarketError::NoRegion { known, .. } => {
            let one = RegionFrom::Option.one_of(known);
            failure.hint(format!("name one for each cloud: {one}"))
        }
        MarketError::Cost(error) => RegionFrom::Option.failure(error),
        MarketError::UnknownMachine { near, .. } | MarketError::UnknownDisk { near, .. }
            if !near.is_empty() =>
        {
            failure.hint(format!("did you mean {}?", some(near)))
        }
        MarketError::UnknownMachine { .. } => failure.hint("`plimsoll catalog list vms` shows all"),
        MarketError::UnknownDisk { .. } => failure.hint("`plimsoll catalog list disks` shows all"),
        MarketError::UnknownEdition { .. } => failure,
    }
}

/// Writes a design with its promises, into a file and as which of those that were found.
fn write(
    (path, number): (&str, usize),
    answer: &CloudAnswer<'_>,
    need: &Need,
    ranked: &Ranked,
) -> Result<(), Failure> {
    let market = &answer.market;
    let place = market.terms.region.as_deref().unwrap_or("no region");
    let name = format!("{} in {place}", ranked.machine.trim_start_matches("Standard_"));
    let mut text = toml(&market.terms, need, ranked, &name);
    if let Some(design) = parse(market, need, ranked) {
        text.push_str(&promises(&design, need));
    }
    form::write(path, &text, &format!("design {number}, {}", ranked.machine))
}
