//! Several files of needs at once: a design for each, totals, and which stand out.

mod page;
mod text;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use ::catalog::Catalog;
use ::design::estate::{CloudResult, Outliers, Totals, outliers, place, place_network};
use ::design::{Market, SearchInput, Terms};
use ::provision::quote;
use volume::design::MB_READINGS;

use super::{Args, failure, network, options, read_needs, terms};
use crate::exit::{Exit, Failure};
use crate::stream;

use super::form::Form;
use super::progress::Progress;

/// Most of the dearest that are named.
const DEAREST_MAX: usize = 5;

/// One file of needs with what each cloud has for it.
pub(super) struct Server {
    /// Name of the file without folder and ending; the whole where two have the same.
    name: String,
    file: String,
    asked: SearchInput,
    /// By cloud, in the order in which they were named.
    places: Vec<CloudResult>,
}

/// All of them.
pub(super) struct Estate<'a, 'e> {
    args: &'a Args,
    markets: Vec<Market<'e>>,
    servers: Vec<Server>,
    /// Files with a mistake, which were left out.
    wrong: Vec<String>,
    outliers: Outliers,
    /// By cloud.
    totals: Vec<Totals>,
    /// Of the servers that every cloud carries, by cloud.
    common: Vec<Totals>,
    /// Of the cheapest cloud for each server.
    cheapest: Totals,
}

/// Runs the command for several files.
pub(super) fn run(args: &Args, catalog: &Arc<Catalog>) -> Result<Exit, Failure> {
    let form = Form::of(args)?;
    let wanted = terms(args, catalog)?;
    super::note_regions(args, &wanted);
    let market = |terms: Terms| Market::new(catalog, terms).map_err(|error| failure(&error));
    let markets = wanted.iter().cloned().map(market).collect::<Result<Vec<_>, _>>()?;
    let other = |mb_bytes: u64, terms: &Terms| market(Terms { mb_bytes, ..terms.clone() });
    let mut others = Vec::new();
    for terms in &wanted {
        let bytes = MB_READINGS.into_iter().filter(|bytes| *bytes != terms.mb_bytes);
        others.push(bytes.map(|bytes| other(bytes, terms)).collect::<Result<Vec<_>, _>>()?);
    }
    let mut asked = Vec::new();
    let mut wrong = Vec::new();
    for file in &args.needs {
        match read_needs(file) {
            Ok(of_file) => asked.push((file.clone(), of_file)),
            Err(failure) => {
                failure.report();
                wrong.push(file.clone());
            }
        }
    }
    let places = {
        let needs: Vec<&SearchInput> = asked.iter().map(|(_, asked)| asked).collect();
        search_all(args, &needs, &markets, &others)
    };
    let mut servers = Vec::new();
    for ((file, asked), places) in asked.into_iter().zip(places) {
        match places {
            Ok(places) => {
                let name = name_of(&file, &args.needs);
                servers.push(Server { name, file, asked, places });
            }
            Err(error) => {
                Failure::wrong_use(format!("`{file}`: {error}")).report();
                wrong.push(file);
            }
        }
    }
    let estate = Estate::new(args, markets, servers, wrong);
    let exit = estate.exit();
    if estate.servers.is_empty() {
        return Err(Failure::silent(exit));
    }
    let page = page::of(&estate, form.printed, || text::page(&estate));
    let printed = exit.once(stream::print(&page));
    if let Some((path, form)) = form.written {
        super::form::write(&path, &page::of(&estate, form, || text::page(&estate)), form.words())?;
    }
    printed
}

/// Searches the designs of many needs, on all processors. Of a need that cannot be searched the
/// error says why.
fn search_all(
    args: &Args,
    needs: &[&SearchInput],
    markets: &[Market<'_>],
    others: &[Vec<Market<'_>>],
) -> Vec<Result<Vec<CloudResult>, String>> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from).min(needs.len());
    let next = AtomicUsize::new(0);
    let (send, received) = mpsc::channel();
    let search = |idx: usize| {
        let of = |(market, others): (&Market<'_>, &Vec<Market<'_>>)| {
            let asked = needs[idx];
            if !is_network(args, asked) {
                let placed = place(market, others, &asked.need, &options(args));
                return placed.map_err(|error| error.to_string());
            }
            let placed = place_network(market, others, &asked.need, &network::options(args, asked));
            placed.map_err(|error| error.to_string())
        };
        markets.iter().zip(others).map(of).collect::<Result<Vec<CloudResult>, String>>()
    };
    let mut progress = Progress::new("designs");
    let mut n_done = 0;
    let mut all: Vec<Option<Result<Vec<CloudResult>, String>>> = vec![None; needs.len()];
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            let (send, next, search) = (send.clone(), &next, &search);
            scope.spawn(move || {
                loop {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    if idx >= needs.len() || send.send((idx, search(idx))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (idx, places) in received {
            all[idx] = Some(places);
            n_done += 1;
            progress.show(n_done, needs.len());
        }
    });
    all.into_iter().map(|it| it.expect("each position was taken by one thread")).collect()
}

/// Returns whether needs are put on network volumes.
fn is_network(args: &Args, asked: &SearchInput) -> bool {
    args.network_volumes || args.clients.is_some() || asked.need.is_shared()
}

/// Returns what a server is called.
fn name_of(file: &str, all: &[String]) -> String {
    fn stem(file: &str) -> Option<&str> {
        Path::new(file).file_stem()?.to_str()
    }
    let n_same = all.iter().filter(|other| stem(other) == stem(file)).count();
    stem(file).filter(|_| n_same == 1).unwrap_or(file).to_owned()
}

/// Adds designs up. What is not known of one is not known of the sum.
fn totals(places: &[&CloudResult]) -> Totals {
    let mut totals = Totals::of(places.iter().filter_map(|place| place.design()));
    totals.n_open = places.iter().filter(|place| place.is_open()).count();
    totals.price.is_open = totals.n_open > 0;
    totals
}

impl<'a, 'e> Estate<'a, 'e> {
    fn new(
        args: &'a Args,
        markets: Vec<Market<'e>>,
        servers: Vec<Server>,
        wrong: Vec<String>,
    ) -> Self {
        let n_clouds = markets.len();
        let places: Vec<Vec<CloudResult>> = servers.iter().map(|it| it.places.clone()).collect();
        let of = |cloud: usize, is_common: bool| {
            let is_in = |places: &&Vec<CloudResult>| {
                !is_common || places.iter().all(|place| place.known().is_some())
            };
            totals(&places.iter().filter(is_in).map(|it| &it[cloud]).collect::<Vec<_>>())
        };
        let best = servers.iter().filter_map(|it| it.best().map(|cloud| &it.places[cloud]));
        let cheapest = totals(&best.collect::<Vec<_>>());
        Estate {
            args,
            outliers: outliers(&places, DEAREST_MAX),
            totals: (0..n_clouds).map(|cloud| of(cloud, false)).collect(),
            common: (0..n_clouds).map(|cloud| of(cloud, true)).collect(),
            cheapest,
            markets,
            servers,
            wrong,
        }
    }

    fn exit(&self) -> Exit {
        match (self.wrong.is_empty(), self.outliers.missed.is_empty()) {
            (false, _) => Exit::WrongUse,
            (true, false) => Exit::Missed,
            (true, true) => Exit::Fine,
        }
    }

    /// Returns the command that explains the design of a server.
    fn look_into(&self, server: &Server) -> String {
        let args = self.args;
        let mut words = vec!["plimsoll design".to_owned(), quote::shell(&server.file)];
        let cloud = &self.markets[server.best().unwrap_or(0)].terms;
        words.push(format!("--cloud {}", cloud.cloud.as_str().to_lowercase()));
        words.extend(cloud.region.as_ref().map(|region| format!("--region {region}")));
        if args.headroom > 0.0 {
            words.push(format!("--headroom {}%", ::needs::number(args.headroom * 100.0)));
        }
        if args.term != ::catalog::Term::OnDemand {
            words.push(format!("--term {}", args.term.as_str()));
        }
        words.extend(args.edition.iter().map(|it| format!("--edition {}", quote::shell(it))));
        for (option, names) in [("--machine", &args.machine), ("--disk", &args.disk)] {
            words.extend((!names.is_empty()).then(|| format!("{option} {}", names.join(","))));
        }
        let flags = [
            ("--arm", args.arm),
            ("--write-back", args.write_back),
            ("--network-volumes", args.network_volumes),
        ];
        words.extend(flags.into_iter().filter(|(_, is_on)| *is_on).map(|(it, _)| it.to_owned()));
        words.extend(args.clients.map(|number| format!("--clients {number}")));
        if server.best().is_some() {
            words.push("--explain 1".to_owned());
        }
        words.join(" ")
    }
}

impl Server {
    /// Returns the cloud with the cheapest design, by position.
    fn best(&self) -> Option<usize> {
        ::design::estate::cheapest(&self.places)
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_server_is_called_as_its_file_unless_two_are() {
        let files = ["a/db.toml", "b/db.toml", "a/web.toml", "-"].map(str::to_owned);
        let names: Vec<String> = files.iter().map(|file| name_of(file, &files)).collect();
        assert_eq!(names, ["a/db.toml", "b/db.toml", "web", "-"]);
    }
}
