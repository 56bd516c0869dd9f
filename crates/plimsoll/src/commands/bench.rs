//! `plimsoll bench`: how much does it carry? A suite from start to answer.

mod driver;
mod needs;
mod next;
mod page;
mod scale_out;
mod sites;

use std::path::Path;
use std::time::Duration;

use bench::suite::need::{self, Need};
use bench::suite::rows::Running;
use bench::suite::steps;
use record::{NoteSeverity, Record};
use runner::{Control, RunOptions};

use self::driver::{Driven, Driver};
use self::sites::{SiteKind, Sites};
use super::dial_in::DialInArgs;
use super::execute::{self, ResultArgs, SafetyArgs, Session};
use super::existing::ReadOnly;
use super::hosts::{ELSEWHERE, HostsArgs};
use super::on::OnArgs;
use super::subject;
use super::suite::{self, ChangeArgs, ChosenSuite};
use crate::exit::{Exit, Failure};
use crate::inputs;
use crate::sink::Sink;
use crate::stream;

/// Find out how much a volume carries: patterns, verdicts, a load line; three minutes
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A folder (a scratch file is made in it and removed), a device, a file, or an NFS export
    /// (nfs://SERVER/PATH). Suites with several places take one each, in their order or as
    /// PLACE=TARGET. With --on, a path on one of the design's volumes, if it has several.
    #[arg(value_name = "TARGET")]
    target: Vec<String>,

    /// The suite: a name that `plimsoll suite list` has, or a file.
    #[arg(long, value_name = "SUITE", default_value = bench::suite::DEFAULT)]
    #[arg(conflicts_with = "need")]
    suite: String,

    /// Answer whether the volume is good enough, in place of a suite: a rate (iops=N or mb_s=N),
    /// and what must hold while it is offered (p99<2ms, p99.9<10ms, mean<1ms). Case and blanks do
    /// not matter. I/Os are reads of 8 KiB anywhere unless given: bs=16k, read=70 (percent), seq
    /// (64 KiB unless bs= says). Each need is measured by itself, for 20 s or as long as its
    /// percentile takes; may be repeated.
    #[arg(long, value_name = "NEED", value_parser = need::parse)]
    need: Vec<Need>,

    #[command(flatten)]
    changes: ChangeArgs,

    /// Write to an existing file or device. Its contents are lost. Without this option, only reads
    /// are measured there.
    #[arg(long, conflicts_with = "readonly")]
    overwrite: bool,

    /// Discard a device's contents before a suite that asks for it.
    #[arg(long, requires = "overwrite")]
    discard: bool,

    /// Write the page of charts to FILE, or `none`. Unless given, it is
    /// plimsoll-SUITE-DATE-TIME.html in the current folder; with --json there is none.
    #[arg(long, value_name = "FILE")]
    report: Option<String>,

    /// With --hosts or --agents: measure with the first N of them, for each N; all of them unless
    /// given.
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', requires = ELSEWHERE)]
    #[arg(conflicts_with = "need")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    scale_out: Vec<u32>,

    #[command(flatten)]
    on: OnArgs,
    #[command(flatten)]
    hosts: HostsArgs,
    #[command(flatten)]
    dial_in: DialInArgs,
    #[command(flatten)]
    result: ResultArgs,
    #[command(flatten)]
    safety: SafetyArgs,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll bench /mnt/volume
  plimsoll bench /mnt/volume --need 'iops=5000,p99<2ms'
  plimsoll bench /mnt/volume --need 'iops=5000,p99<2ms,bs=8k,read=70' --need 'mb_s=200,bs=1m,seq'
  plimsoll bench /mnt/volume --suite postgresql
  plimsoll bench /mnt/volume --suite anf-linux-regular --scale 0.1
  plimsoll bench /mnt/volume --suite io-size --repeat 6 --set time=10s,size=20g
  plimsoll bench /dev/nvme1n1 --overwrite --suite snia-iops --discard
  plimsoll bench --on p30.toml --virtual
  plimsoll bench uncached=/mnt/a cached=/mnt/b --suite premium-storage
  plimsoll bench /mnt/vol --hosts vm[1-8] --scale-out 1,2,4,8
  plimsoll bench /mnt/vol --hosts vm[1-8] --need 'iops=80000,p99<2ms'
  plimsoll bench /mnt/vol --agents 24 --listen 10.0.0.5:7420 --token-file t

With needs, or a suite with published targets, the exit code is 0 if all are
met, 4 if one is not, else 3 if one cannot be decided.

`plimsoll suite show NAME` prints what a suite would do, `plimsoll suite new`
creates one of your own.";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let options = execute::options(args.on.emulation_of_many()?, &args.result, args.safety);
    match args.dial_in.source(&args.hosts, &options)? {
        Some(source) if args.need.is_empty() => scale_out::run(args, &options, source),
        Some(source) => needs::run(args, &options, source),
        None => on_one_host(args, &options),
    }
}

/// Measures from this host, or on an emulated volume.
fn on_one_host(args: &Args, options: &RunOptions) -> Result<Exit, Failure> {
    let mut running = running(args)?;
    let mut sites = Sites::find(&running.suite, args, options.emulation.as_ref())?;
    note_targets(&args.target);
    let mut sink = Sink::open_of_run(args.result.output.as_deref(), args.safety.readonly)?;
    page::check(args.report.as_deref(), args.safety.readonly)?;
    let has_connections = running.suite.parts.iter().any(|part| part.connections.len() > 1);
    let is_export = sites.kinds.contains(&SiteKind::Export);
    if !is_export && running.changes.set.iter().any(|(name, _)| name == "connections") {
        let message = "`--set connections=` is for NFS exports, and the target is none";
        return Err(Failure::wrong_use(message).hint(
            "name an export: nfs://SERVER/PATH; a mount has the connections it was made with",
        ));
    }
    if !is_export {
        // A mount has the connections that it was made with.
        running.suite.parts.iter_mut().for_each(|part| part.connections.clear());
        running.steps = steps(&running.suite, &running.order);
    }
    let n_all = running.steps.len();
    if let Some(why) = sites.read_only {
        refuse_writes(&args.need, why)?;
        running.steps = driver::reading(running.steps);
        refuse_nothing(&running, why)?;
        running.suite.curve = running.suite.curve.filter(|curve| {
            let name = curve.access.as_str();
            name == "read" || name == "randread"
        });
    }
    let n_left_out = n_all - running.steps.len();
    let plan = driver::plan_of(&running.steps, &sites.list, 0)?;
    if sites.read_only.is_some() || sites.kinds.iter().all(|kind| *kind == SiteKind::Emulated) {
        // Nothing is written ahead.
        running.suite.prepare.n_fills = 0;
    }
    let left_ns = running.suite.time_max_ns(&running.steps);
    stream::remark("", &headline(&running, &sites, ""));
    let about = about(&running.suite.name, &args.target, &sites);
    let mut driver = Driver {
        session: Session::begin_series(&plan, options, &args.result, &about)?,
        options,
        sites: &mut sites,
        running,
        needs: &args.need,
        hosts: None,
        may_discard: args.discard,
        whole: None,
        notes: Vec::new(),
        left_ns,
    };
    if let Some(why) = driver.sites.read_only.filter(|_| n_left_out > 0) {
        note_left_out(&mut driver, n_left_out, why);
    }
    if has_connections && !is_export {
        let message = "connections are those of the mount; nfs://SERVER/PATH varies them";
        driver.note(NoteSeverity::Info, "connections", message.to_owned());
    }
    let Driven { session, record, ran, .. } = driver.driven();
    remove_exports(&sites, options);
    let found = finish(session, record, ran)?;
    let reported = report(&found, args, &mut sink);
    // An emulated volume has more of a command line than is repeated here.
    if let ([target], false, false) = (&args.target[..], args.on.is_given(), args.result.json) {
        stream::print_message(&next::next(&found.0, target).unwrap_or_default());
    }
    reported
}

/// Prints the record and writes the page. Neither is lost because the other cannot be written.
fn report(
    (record, is_kept): &(Record, bool),
    args: &Args,
    sink: &mut Sink,
) -> Result<Exit, Failure> {
    let printed = execute::print(record, &args.result, sink);
    page::write(record, args.report.as_deref(), args.result.json)?;
    printed.map(|exit| exit.if_kept(*is_kept))
}

/// Notes what is measured as an input, which no result replaces: as TARGET, and as PLACE=TARGET.
fn note_targets(targets: &[String]) {
    for target in targets {
        inputs::note(Path::new(target));
        inputs::note(Path::new(target.split_once('=').map_or(&**target, |(_, target)| target)));
    }
}

/// Prints how many steps are left out because they write.
fn note_left_out(driver: &mut Driver<'_>, n_left_out: usize, why: ReadOnly) {
    let steps = if n_left_out == 1 { "step that writes is" } else { "steps that write are" };
    let message = format!("{n_left_out} {steps} left out: {}", why.words());
    driver.add_note(NoteSeverity::Info, "reads-only", message);
    driver.session.print(&format!("hint: {}\n", why.remedy()));
}

/// Returns what is measured: a suite, or needs.
fn running(args: &Args) -> Result<Running, Failure> {
    if args.need.is_empty() {
        let ChosenSuite { suite, changes, order, .. } = suite::choose(&args.suite, &args.changes)?;
        return Ok(Running::new(suite, changes, order));
    }
    let (changes, order) = args.changes.parts();
    if order.n_repeats > 1 {
        return Err(Failure::wrong_use("`--repeat` is for suites")
            .hint("a need is measured again automatically where one measurement does not decide"));
    }
    if let Some((name, _)) = changes.set.iter().find(|it| !NEED_PARAMETERS.contains(&&*it.0)) {
        return Err(Failure::wrong_use(format!("`--set {name}=` does not go with `--need`"))
            .hint("a need states its own load; size, time, ramp and fill_time may be set"));
    }
    if changes.set.iter().all(|(name, _)| name != "time") {
        args.need.iter().try_for_each(refuse_out_of_reach)?;
    }
    Running::for_needs(&args.need, changes, order)
        .map_err(|error| Failure::wrong_use(error.to_string()))
}

/// What may be set where needs say the load.
const NEED_PARAMETERS: [&str; 5] = ["size", "time", "ramp", "fill_time", "fills"];

/// Refuses a need that no measurement of the usual length can decide.
fn refuse_out_of_reach(need: &Need) -> Result<(), Failure> {
    let Some((condition, time)) = need.out_of_reach() else { return Ok(()) };
    let time = units::format_duration(time);
    let longest = units::format_duration(Duration::from_nanos(need::TIME_NS_MAX));
    let message = format!(
        "`{}`: enough operations for `{condition}` take {time}, and a need is measured for \
         {longest} at most",
        need.text
    );
    Err(Failure::wrong_use(message)
        .hint(format!("limit a lower percentile, or measure so long: `--set time={time}`")))
}

/// Refuses needs that write to what may only be read.
fn refuse_writes(needs: &[Need], why: ReadOnly) -> Result<(), Failure> {
    match needs.iter().find(|need| need.writes()) {
        None => Ok(()),
        Some(need) => Err(why.refusal(&format!("`{}` writes", need.text))),
    }
}

/// Refuses a suite of which nothing is left on what may only be read.
fn refuse_nothing(running: &Running, why: ReadOnly) -> Result<(), Failure> {
    if !running.steps.iter().all(|step| step.is_preparation) {
        return Ok(());
    }
    Err(why.refusal(&format!("suite `{}` only writes", running.suite.name)))
}

/// Keeps what there is, also where a later stage was refused. Returns it, and whether it was kept
/// as asked.
fn finish(
    session: Session,
    record: Option<Record>,
    ran: Result<(), Failure>,
) -> Result<(Record, bool), Failure> {
    match (record, ran) {
        (Some(record), ran) => {
            let is_kept = session.finish(&record);
            ran.map(|()| (record, is_kept))
        }
        (None, Err(failure)) => Err(failure),
        (None, Ok(())) => Err(Failure::wrong_use("nothing was measured").with(Exit::RunFailed)),
    }
}

/// Returns what will be done, how long it takes, and what becomes of the places.
fn headline(running: &Running, sites: &Sites, from: &str) -> String {
    let once = steps(&running.suite, &running.order).len().min(running.steps.len());
    let time = running.suite.time_words(&running.steps, !running.questions.is_empty());
    let limit = running.suite.curve.as_ref().and_then(|curve| curve.limits.all.first());
    let curve = limit
        .map_or_else(String::new, |limit| format!(" and a load line (the most I/O with {limit})"));
    let mut text =
        format!("{}: {}{curve}{from}; {time}\n", running.suite.name, units::plural(once, "step"));
    for (site, kind) in sites.list.iter().zip(&sites.kinds) {
        let becomes = fate(*kind, sites.read_only.is_some());
        let size = units::format_bytes(site.size_bytes);
        text += &format!("on {}: {becomes} {size}\n", site.file);
    }
    text + "Ctrl-C ends it early and keeps what was measured\n"
}

/// Returns what becomes of a place that is measured; its size follows.
fn fate(kind: SiteKind, is_read_only: bool) -> &'static str {
    match (kind, is_read_only) {
        (SiteKind::Scratch | SiteKind::Export, _) => {
            "a scratch file, which is removed at the end; up to"
        }
        (SiteKind::File | SiteKind::Device, true) => "which is only read;",
        (SiteKind::File | SiteKind::Device, false) => "whose contents are lost;",
        (SiteKind::Emulated, _) => "emulated, so that no file is touched;",
    }
}

/// Returns what is measured, for a list of runs.
fn about(suite: &str, targets: &[String], sites: &Sites) -> String {
    let mut all: Vec<String> = targets.iter().map(|target| subject::shown(target)).collect();
    if all.is_empty() {
        all = sites.list.iter().map(|site| site.file.clone()).collect();
    }
    format!("{}: {suite}", all.join(", "))
}

/// Removes our files from exports. It is done also after a signal.
fn remove_exports(sites: &Sites, options: &RunOptions) {
    let exports = sites.list.iter().filter(|site| site.export.is_some());
    for site in exports {
        let Some(url) = &site.export else { continue };
        let text = format!(
            "[remove]\nioengine=nfs\nnfs_url={url}\nfilename={}\nrw=read\nbs=4k\nsize=4k\n\
             unlink=1\n",
            site.file
        );
        let removed = driver::parse(&text).ok().and_then(|plan| {
            runner::run(&plan, options, &std::sync::Arc::new(Control::new()), &mut |_| {}).ok()
        });
        if removed.is_none() {
            let file = &site.file;
            let line = format!(
                "warning: `{file}` could not be removed from {url}: remove it by \
                hand\n"
            );
            stream::print_message(&line);
        }
    }
}
