//! `plimsoll confirm`: did a run keep what a design promises?

mod json;
mod text;

use std::path::PathBuf;

use ::provision::confirm::{Confirmation, Subject, Verdict, confirm};
use export::Run;
use record::Record;

use super::keep::StoreArgs;
use super::own_tables::CatalogArgs;
use super::{input, on, several};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Check for each promise of a design whether a run kept it, and name the cap that explains it if
/// not
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The design, as TOML; `-` is the standard input.
    #[arg(value_name = "DESIGN")]
    design: String,

    /// The run, or several; each counts as a measurement.
    #[arg(long, value_name = "RUN", default_value = "last")]
    run: String,

    /// Where a mount of the design is in the run, such as /mnt/data=/dev/md0; may be repeated.
    #[arg(long, value_name = "MOUNT=PATH", value_parser = input::pair)]
    remap: Vec<(String, String)>,

    /// Print it as JSON (`plimsoll.confirmation/1`).
    #[arg(long)]
    json: bool,

    /// Write a page: the run's charts, with the promises above.
    #[arg(short, long, value_name = "FILE", conflicts_with = "json")]
    output: Option<PathBuf>,

    #[command(flatten)]
    catalog: CatalogArgs,

    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLES: &str = "\
A promise is met from 95 % of its rate on, and its latency is a mean. Only a
load of the same volume, size and mix is compared with it; if there is none,
the loads that were run are listed. Promises of one phase that share a cap must
have been offered at the same time.

Examples:
  plimsoll provision best.toml --as job > promised.fio
  plimsoll run promised.fio && plimsoll confirm best.toml --run last
  plimsoll confirm best.toml --run night --remap /mnt/data=/dev/md/data
  plimsoll confirm best.toml --run 12..17 --json

Exit codes: 0 all promises are met, 4 one is not, 3 one cannot be decided.";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (design, written) = on::read_design(&args.design, &args.catalog.load()?)?;
    if design.promises.is_empty() {
        let message = format!("`{}` promises nothing that could be confirmed", args.design);
        return Err(Failure::wrong_use(message)
            .hint("write a [[promise]]: docs/design-files.md has its keys")
            .hint(
                "`plimsoll bench DIR --need 'iops=5000,p99<2ms'` measures a need without a design",
            ));
    }
    for (mount, _) in &args.remap {
        if design.volumes.iter().all(|volume| volume.mount != mount.trim_end_matches('/')) {
            let mounts: Vec<&str> = design.volumes.iter().map(|it| it.mount.as_str()).collect();
            return Err(Failure::wrong_use(format!("`--remap`: no volume is at `{mount}`"))
                .hint(format!("the design has {}", mounts.join(", "))));
        }
    }
    let runs = several::find(&args.run, &args.store).map_err(|failure| {
        let design = &args.design;
        failure.hint(format!(
            "`plimsoll provision {design} --as job > promised.fio` writes what measures the \
             promises, for `plimsoll run promised.fio` on the volume that was built"
        ))
    })?;
    let records: Vec<&Record> = runs.iter().map(|run| &run.record).collect();
    let design_hash = format!("{:016x}", units::fnv1a(written.bytes()));
    let subject = Subject { design: &design, design_hash: &design_hash, places: &args.remap };
    let found = confirm(&subject, &records);
    let exit = match found.verdict() {
        Verdict::Met => Exit::Fine,
        Verdict::NotMet => Exit::Missed,
        Verdict::CannotTell => Exit::Invalid,
    };
    if args.json {
        return exit.once(stream::print(&json::json(&design.name, &runs, &found)));
    }
    let page = text::text(&design.name, &runs, &found);
    let exit = exit.once(stream::print(&page))?;
    if let Some(path) = &args.output {
        super::report::write(path, &self::page(&design.name, runs, &found))?;
    }
    Ok(exit)
}

/// Returns the page: the promises, and the runs as `plimsoll report` shows them.
fn page(design: &str, runs: Vec<Run>, found: &Confirmation) -> String {
    let subject = report::Subject {
        title: format!("Promises of {design}"),
        answer: format!("{}.", text::answer(found)),
        runs: report::Runs::Parts(runs),
        written: crate::clock::local_minute(crate::clock::report_time().unix_ms),
        promises: Some(text::promises(found)),
        ..report::Subject::default()
    };
    report::page(&subject)
}

/// Returns what a run is called in a sentence.
fn called(run: &Run) -> String {
    match (run.id, run.name.as_str()) {
        (Some(id), "") => format!("run {id}"),
        (Some(id), name) => format!("run {id} (`{name}`)"),
        (None, name) => format!("`{name}`"),
    }
}
