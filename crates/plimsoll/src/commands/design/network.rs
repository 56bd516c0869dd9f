//! Designs with network volumes, which several machines share.

mod page;

use std::sync::Arc;

use ::catalog::Catalog;
use ::design::netapp::{
    self, MACHINES_MAX, Machines, NetworkError, Options, Qos, Ranked, SearchResult,
};
use ::design::{Market, Price, SearchInput, Terms, judge, n_unsized_below, promises_network};
use serde_json::{Value, json};
use units::{format_count, format_percent, plural};
use volume::design::service::Service;

use super::form::Form;
use super::json::{self, SCHEMA, put_place};
use super::text::{self, COLUMNS, binds, head, price, why_text};
use super::{Args, explain, failure, form, terms};
use crate::exit::{Exit, Failure};
use crate::fill::fill;
use crate::stream;

/// What was found, and what comes nearest where nothing was.
struct NetworkAnswer<'e> {
    market: Market<'e>,
    found: SearchResult,
    nearest: Option<(f64, Ranked)>,
}

/// Searches, and prints what was found.
pub(super) fn run(
    args: &Args,
    asked: &SearchInput,
    catalog: &Arc<Catalog>,
) -> Result<Exit, Failure> {
    check(args)?;
    let wanted = terms(args, catalog)?;
    super::note_regions(args, &wanted);
    let mut answers = Vec::new();
    for terms in wanted {
        answers.push(answer(args, asked, terms, catalog)?);
    }
    let idx = usize::from(args.explain.unwrap_or(1)) - 1;
    let chosen = best(&answers, idx);
    let n_most = answers.iter().map(|answer| answer.found.designs.len()).max().unwrap_or(0);
    if let Some(number) = args.explain
        && chosen.is_none()
        && n_most > 0
    {
        return Err(super::no_such_design(number, n_most));
    }
    let written = args.output.as_deref().map(|path| (path, Form::of_file(path)));
    match (written, chosen) {
        (Some((path, Some(form))), _) => {
            form::write(path, &page::of(args, asked, &answers, form)?, form.words())?;
        }
        (Some((path, None)), Some((answer, ranked))) => {
            form::write(path, &file(answer, asked, ranked), &format!("design {}", idx + 1))?;
        }
        (Some((_, None)), None) | (None, _) => {}
    }
    let page = match (args.json, args.pareto, args.explain.and(chosen)) {
        (is_json, true, _) => page::pareto(args, asked, &answers, is_json)?,
        (true, false, explained) => as_json(args, asked, &answers, explained),
        (false, false, Some((answer, ranked))) => explained(args, asked, answer, idx, ranked),
        (false, false, None) => page::of(args, asked, &answers, args.form.unwrap_or(Form::Text))?,
    };
    let exit = if n_most == 0 { Exit::Missed } else { Exit::Fine };
    exit.once(stream::print(&page))
}

/// Returns the design at a position, of the place where it is cheapest.
fn best<'a, 'e>(
    answers: &'a [NetworkAnswer<'e>],
    idx: usize,
) -> Option<(&'a NetworkAnswer<'e>, &'a Ranked)> {
    super::cheapest(answers, |answer| one(answer, idx), |ranked| ranked.price)
}

/// Returns a design by its position.
fn one<'a>(answer: &'a NetworkAnswer<'_>, idx: usize) -> Option<&'a Ranked> {
    answer.found.designs.get(idx)
}

/// Searches one region of a cloud.
fn answer<'e>(
    args: &Args,
    asked: &SearchInput,
    terms: Terms,
    catalog: &'e Arc<Catalog>,
) -> Result<NetworkAnswer<'e>, Failure> {
    let market = Market::new(catalog, terms).map_err(|error| failure(&error))?;
    let options = options(args, asked);
    let found = netapp::search(&market, &asked.need, &options).map_err(|it| wrong(&it))?;
    let nearest = if found.designs.is_empty() {
        netapp::nearest(&market, &asked.need, &options).map_err(|it| wrong(&it))?
    } else {
        None
    };
    Ok(NetworkAnswer { market, found, nearest })
}

/// Refuses options that are about disks, where the needs and not `--network-volumes` ask for this.
fn check(args: &Args) -> Result<(), Failure> {
    let given = [("--disk", !args.disk.is_empty()), ("--write-back", args.write_back)];
    let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let text = format!("`{option}` is not for network volumes, which the needs ask for");
    Err(Failure::wrong_use(text).hint("leave it out, or `shared = true` out of the needs"))
}

fn wrong(error: &NetworkError) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match error {
        NetworkError::TooManyVolumes { .. } => {
            failure.hint("write the needs in several files, one for each group of volumes")
        }
        NetworkError::NoLevels { .. } => failure.hint("`--edition current`"),
        NetworkError::Need(_) => failure,
    }
}

/// Returns how network volumes are searched.
pub(super) fn options(args: &Args, asked: &SearchInput) -> Options {
    let open =
        if asked.need.is_shared() { Machines::AtMost(MACHINES_MAX) } else { Machines::Exactly(1) };
    Options {
        headroom: args.headroom,
        n_kept: usize::from(args.top.max(args.explain.unwrap_or(1))),
        machines: args.clients.map_or(open, Machines::Exactly),
    }
}

/// Returns the file of a design, with its promises.
fn file(answer: &NetworkAnswer<'_>, asked: &SearchInput, ranked: &Ranked) -> String {
    let terms = &answer.market.terms;
    let place = terms.region.as_deref().unwrap_or("no region");
    let name = format!("{} in {place}", made_of(ranked));
    netapp::toml(terms, &asked.need, ranked, &name) + &promises_network(&asked.need)
}

/// Prints what a design is made of, on one line.
pub(super) fn made_of(ranked: &Ranked) -> String {
    let pool = |pool: &netapp::ChosenPool| match pool.file_server {
        Some(server) => {
            let mb_s = format_count(server.throughput_mb_s);
            format!("{} of {} with {mb_s} MB/s", pool.size(), pool.title())
        }
        None => format!("{} of {}", pool.size(), pool.title()),
    };
    let pools: Vec<String> = ranked.pools.iter().map(pool).collect();
    let machine = ranked.machine.trim_start_matches("Standard_");
    format!("{} and {} x {machine}", pools.join(" and "), ranked.n_machines)
}

fn as_text(args: &Args, asked: &SearchInput, answers: &[NetworkAnswer<'_>]) -> String {
    answers.iter().fold(head(args, asked), |page, answer| page + "\n" + &of_place(asked, answer))
}

/// Returns the designs of one region of a cloud.
fn of_place(asked: &SearchInput, answer: &NetworkAnswer<'_>) -> String {
    let mut page = place(answer);
    for (idx, ranked) in answer.found.designs.iter().enumerate() {
        page.push_str(&design(asked, answer, idx, ranked));
    }
    if answer.found.designs.is_empty() {
        page.push_str(&fill("  ", &nothing(asked, answer), COLUMNS));
    }
    for note in notes(asked, answer) {
        page.push_str(&fill("  note: ", &note, COLUMNS));
    }
    page
}

fn place(answer: &NetworkAnswer<'_>) -> String {
    let SearchResult { n_machines, n_levels, .. } = &answer.found;
    let searched = format!("machine sizes: {n_machines}, service levels: {n_levels}");
    text::place(&answer.market.terms, &searched)
}

/// Returns one design.
fn design(asked: &SearchInput, answer: &NetworkAnswer<'_>, idx: usize, ranked: &Ranked) -> String {
    let machines = format!("{} x {}", ranked.n_machines, ranked.machine);
    let title = format!("{}: {machines}, nconnect={}", price(ranked.price), ranked.connections);
    let mut text = fill(&format!("{:>3}  ", idx + 1), &title, COLUMNS);
    for pool in &ranked.pools {
        let line = format!("{}: {}", pool_text(pool), price(pool.price));
        text.push_str(&fill("     ", &line, COLUMNS));
    }
    for (volume, chosen) in asked.need.volumes.iter().zip(&ranked.volumes) {
        let line = volume_text(ranked, chosen);
        text.push_str(&fill(&format!("     {}  ", volume.mount), &line, COLUMNS));
    }
    let parsed = netapp::parse(&answer.market, &asked.need, ranked);
    let binds = parsed.map(|design| binds(&judge(&design, &asked.need)));
    text.push_str(&fill("     ", &binds.unwrap_or_default(), COLUMNS));
    text
}

/// Says what a volume is.
fn volume_text(ranked: &Ranked, chosen: &netapp::ChosenVolume) -> String {
    let pool = &ranked.pools[chosen.pool];
    let kind = if chosen.is_large { "large volume" } else { "regular volume" };
    let given = chosen.throughput_mib_s.map(|mib_s| format!(", {} MiB/s", format_count(mib_s)));
    format!(
        "{} {kind} of {} GiB{}",
        pool.title(),
        format_count(chosen.quota_gib),
        given.unwrap_or_default()
    )
}

/// Says what is bought of a pool or file system.
fn pool_text(pool: &netapp::ChosenPool) -> String {
    let qos = match pool.qos {
        Qos::Auto => "throughput by quota",
        Qos::Manual => "throughput by hand",
        Qos::Shared => "shared by its volumes",
    };
    if let Some(server) = pool.file_server {
        return format!(
            "{} file system of {} SSD, {} MB/s, {} IOPS, {qos}",
            pool.title(),
            pool.size(),
            format_count(server.throughput_mb_s),
            format_count(server.iops)
        );
    }
    let bought = pool.throughput_mib_s.map(|mib_s| format!(", {} MiB/s", format_count(mib_s)));
    format!("{} pool of {}, {qos}{}", pool.title(), pool.size(), bought.unwrap_or_default())
}

fn nothing(asked: &SearchInput, answer: &NetworkAnswer<'_>) -> String {
    let Some((part, ranked)) = &answer.nearest else {
        return "nothing carries it, not even with few I/Os: no volume has the capacity or the \
                latency, or no machine the processors or memory, that are asked"
            .to_owned();
    };
    let parsed = netapp::parse(&answer.market, &asked.need, ranked);
    let why = parsed.and_then(|it| judge(&it, &asked.need).why_not(&asked.need));
    let why = why.map_or(String::new(), |why| format!("; {}", why_text(&why)));
    format!(
        "nothing carries it. Nearest, {} of all I/Os: {}, {}{why}",
        format_percent(*part),
        made_of(ranked),
        price(ranked.price)
    )
}

/// Returns the notes on the designs.
fn notes(asked: &SearchInput, answer: &NetworkAnswer<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let others: Vec<&str> = asked
        .need
        .volumes
        .iter()
        .filter(|volume| asked.need.is_shared() && !volume.is_shared)
        .map(|volume| volume.mount.as_str())
        .collect();
    if !others.is_empty() {
        notes.push(format!(
            "{} is not shared, but is put on a network volume with the others: designs with both \
             disks and network volumes are not searched",
            others.join(", ")
        ));
    }
    if answer.found.designs.iter().any(|ranked| ranked.n_machines > 1) {
        notes.push("each machine is assumed to do an equal part of the load".to_owned());
    }
    if answer.found.designs.iter().any(|ranked| ranked.price.is_open) {
        notes.push(
            "what the network card of a machine sends is published for few sizes; designs with \
             others stand last"
                .to_owned(),
        );
    }
    notes.extend(of_unsized(asked, answer));
    let service = Service::of_cloud(answer.market.terms.cloud);
    notes.extend(of_service(service).iter().map(|note| (*note).to_owned()));
    let pools = answer.found.designs.iter().flat_map(|ranked| &ranked.pools);
    let mut unpriced: Vec<String> =
        pools.filter(|pool| pool.price.is_unpriced).map(netapp::ChosenPool::title).collect();
    unpriced.sort();
    unpriced.dedup();
    if !unpriced.is_empty() && service != Service::AzureFiles {
        notes.push(format!(
            "no price is known of {}: designs with it stand last; `plimsoll catalog price` says \
             where there is one",
            unpriced.join(", ")
        ));
    }
    notes
}

/// Notes machines that would cost less than those of the best design, if they are large enough.
fn of_unsized(asked: &SearchInput, answer: &NetworkAnswer<'_>) -> Option<String> {
    let best = answer.found.designs.first().filter(|best| !best.machine_price.is_open)?;
    let micro_usd = best.machine_price.micro_usd / u64::from(best.n_machines.max(1));
    let of_one = Price { micro_usd, ..best.machine_price };
    let n_machines = n_unsized_below(&answer.market, &asked.need, of_one);
    (n_machines > 0).then(|| {
        format!(
            "memory of {} that would cost less is not known, so that designs on them stand last: \
             `--machine NAME` looks at one alone",
            plural(n_machines, "machine")
        )
    })
}

/// Returns what the catalogue cannot say of a file service.
fn of_service(service: Service) -> &'static [&'static str] {
    match service {
        Service::AzureFiles => &[],
        Service::GoogleVolumes => &[
            "how many operations a volume of NetApp Volumes carries is not published: every such \
             design is marked",
            "not searched of NetApp Volumes: Flex pools, whose prices are unknown, large volumes, \
             and pools of more than 200 TiB",
            CLIENT_NOTE,
        ],
        Service::FsxOntap => &[
            "FSx for ONTAP counts with the sustained limits of first-generation file servers of \
             2022, without bursts and their caches; the limits of 4,096 MB/s and of the second \
             generation are unknown, and these are not searched",
            "all data of FSx for ONTAP is put on SSD: what of it may lie in the capacity pool \
             tier, whose requests are billed, the needs do not say",
            CLIENT_NOTE,
        ],
    }
}

/// Where the limits of clients come from.
const CLIENT_NOTE: &str = "connections and calls in flight are limited as is published for Azure \
                           NetApp Files, whose servers run ONTAP as well";

/// Returns why a design is chosen, and why not a cheaper one.
fn explained(
    args: &Args,
    asked: &SearchInput,
    answer: &NetworkAnswer<'_>,
    idx: usize,
    ranked: &Ranked,
) -> String {
    let mut page = head(args, asked);
    page.push('\n');
    page.push_str(&design(asked, answer, idx, ranked));
    let Some(parsed) = netapp::parse(&answer.market, &asked.need, ranked) else { return page };
    let judged = judge(&parsed, &asked.need);
    let all = netapp::rejected(&answer.market, &asked.need, ranked, &options(args, asked));
    let cheaper = explain::rejections(&all, "no machine and no pool is");
    let rules = netapp::advice(&parsed, &asked.need, &judged);
    let terms = &answer.market.terms;
    let changes = explain::lifts_of_design(&parsed, &judged, terms);
    page + &explain::sections(terms, (&parsed, &judged), &cheaper, &changes, &rules)
}

fn as_json(
    args: &Args,
    asked: &SearchInput,
    answers: &[NetworkAnswer<'_>],
    explained: Option<(&NetworkAnswer<'_>, &Ranked)>,
) -> String {
    let of = |answer: &NetworkAnswer<'_>| {
        let designs = answer.found.designs.iter();
        let designs: Vec<Value> = designs.map(|it| one_as_json(asked, answer, it)).collect();
        let nearest = answer.nearest.as_ref();
        let nearest = nearest.map(|(part, it)| json!({"part": part, "design": made_of(it)}));
        let notes = notes(asked, answer);
        let mut found = json!({"designs": designs, "nearest": nearest, "notes": notes});
        put_place(&mut found, &answer.market.terms, answer.found.n_machines);
        found
    };
    let explained = explained.and_then(|(answer, ranked)| {
        let parsed = netapp::parse(&answer.market, &asked.need, ranked)?;
        let judged = judge(&parsed, &asked.need);
        let why = json::Why {
            changes: explain::lifts_of_design(&parsed, &judged, &answer.market.terms),
            cheaper: netapp::rejected(&answer.market, &asked.need, ranked, &options(args, asked)),
            rules: netapp::advice(&parsed, &asked.need, &judged),
        };
        Some(json::explained(&made_of(ranked), (&parsed, &judged), &why))
    });
    let page = json!({
        "schema": SCHEMA,
        "headroom": args.headroom,
        "notes": asked.notes,
        "clouds": answers.iter().map(of).collect::<Vec<_>>(),
        "rules": explained.as_ref().map(|it| it["rules"].clone()),
        "explained": explained,
    });
    format!("{page:#}\n")
}

fn one_as_json(asked: &SearchInput, answer: &NetworkAnswer<'_>, ranked: &Ranked) -> Value {
    let pools = ranked.pools.iter().map(|pool| {
        json!({
            "level": pool.title(),
            "qos": pool.qos.as_str(),
            "size_tib": pool.file_server.is_none().then_some(pool.size_gib / 1024),
            "size_gib": pool.size_gib,
            "file_server": pool.file_server.map(|it| {
                json!({"throughput_mb_s": it.throughput_mb_s, "iops": it.iops})
            }),
            "throughput_mib_s": pool.throughput_mib_s,
            "price": json::price(pool.price),
        })
    });
    let volumes = asked.need.volumes.iter().zip(&ranked.volumes).map(|(volume, chosen)| {
        json!({
            "mount": volume.mount,
            "pool": chosen.pool,
            "quota_gib": chosen.quota_gib,
            "is_large": chosen.is_large,
            "throughput_mib_s": chosen.throughput_mib_s,
        })
    });
    json!({
        "machine": ranked.machine,
        "n_machines": ranked.n_machines,
        "nconnect": ranked.connections,
        "machine_price": json::price(ranked.machine_price),
        "price": json::price(ranked.price),
        "headroom": json::share(ranked.headroom),
        "n_parts": ranked.n_parts,
        "pools": pools.collect::<Vec<_>>(),
        "volumes": volumes.collect::<Vec<_>>(),
        "toml": file(answer, asked, ranked),
    })
}
