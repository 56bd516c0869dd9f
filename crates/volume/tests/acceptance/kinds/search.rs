//! The cheapest designs, as `design` searches them.

use catalog::{Catalog, Cloud};
use design::{
    Market, Need, Options, PhaseNeed, Ranked, Rejection, Terms, VolumeNeed, advice, judge, parse,
    search,
};
use volume::limits::size::{OLTP_IO_BYTES, WAREHOUSE_IO_BYTES};

use super::prices;
use super::product::KIB;
use crate::answer::{Answer, Outcome};
use crate::table::Case;

/// What the guide compares: its machines and disks, for a month of 31 days.
fn terms(machines: &[&str], disks: &[&str]) -> Terms {
    let names = |all: &[&str]| all.iter().map(|&name| name.to_owned()).collect();
    Terms {
        edition: "2018".to_owned(),
        month_hours: 744.0,
        machine_hours: 744.0,
        machines: names(machines),
        disks: names(disks),
        ..Terms::new(Cloud::Azure, None)
    }
}

/// Reads at random places on one volume.
fn need(iops: f64, size_bytes: u64, capacity_gib: f64) -> Need {
    let phase = PhaseNeed { iops, size_bytes, read_share: 1.0, ..PhaseNeed::default() };
    let mount = "/mnt/data".to_owned();
    let volume = VolumeNeed { mount, capacity_gib, phases: vec![phase], ..VolumeNeed::default() };
    Need { volumes: vec![volume], ..Need::default() }
}

/// Calls `look` with the cheapest design of several markets, and its market.
fn cheapest<T>(all: &[Terms], need: &Need, look: impl Fn(&Market<'_>, &Ranked) -> T) -> T {
    let market = |terms: &Terms| Market::new(Catalog::built_in(), terms.clone()).expect("a market");
    let best = |market: Market<'static>| {
        let found = search(&market, need, &Options::default()).expect("a need").designs;
        found.into_iter().next().map(|best| (market, best))
    };
    let found = all.iter().map(market).filter_map(best).min_by_key(|(_, best)| best.price);
    let (market, best) = found.expect("a design carries it");
    look(&market, &best)
}

/// Returns a design in the words of the guide, such as `DS13 + 4 x P30`.
fn words(ranked: &Ranked) -> String {
    let machine = ranked.machine.trim_start_matches("Standard_");
    let [chosen] = ranked.volumes.as_slice() else { panic!("one volume") };
    format!("{machine} + {} x {}", chosen.n_disks, chosen.disk.trim_end_matches("-1TB"))
}

/// The guide's cost comparison: the cheapest of its two machines, each with its own disks. It looks
/// at no D14 with P30, which that takes none of, and at no DS13 with HDD.
pub(crate) fn optimise(case: &Case) -> Outcome {
    let capacity_gib = case.opt("need_tib").unwrap_or(0.0) * 1024.0;
    let iops = case.opt("need_iops").expect("a rate");
    let wanted = need(iops, OLTP_IO_BYTES, capacity_gib);
    let both = [terms(&["D14"], &["HDD-1TB"]), terms(&["DS13"], &["P30"])];
    let chosen = cheapest(&both, &wanted, |market, ranked| {
        let design = parse(market, &wanted, ranked).expect("a design");
        let judged = judge(&design, &wanted);
        let (_, tightest) = judged.tightest().expect("something is asked");
        Answer::new()
            .with("choice", words(ranked))
            .with("usd", ranked.price.usd())
            .with("headroom_pct", ranked.headroom * 100.0)
            .binds(tightest.cap.bound)
    });
    if capacity_gib <= 0.0 {
        return Outcome::said(chosen);
    }
    // What is chosen for the rate alone is too small.
    let (rate, is_small) = cheapest(&both, &need(iops, OLTP_IO_BYTES, 0.0), |market, ranked| {
        let design = parse(market, &wanted, ranked).expect("a design");
        let why = judge(&design, &wanted).why_not(&wanted);
        (words(ranked), matches!(why, Some(Rejection::Capacity { .. })))
    });
    let rejected: Vec<String> = is_small.then_some(rate).into_iter().collect();
    let answer = Answer { binds: Vec::new(), ..chosen }
        .with("infeasible", rejected)
        .with("p30_x32_usd", prices::premium_disks(32));
    Outcome::said(if is_small { answer.named("capacity") } else { answer })
}

/// The stripe unit that the search gives to transactions and to a data warehouse.
pub(crate) fn stripe_unit() -> Outcome {
    let unit = |iops: f64, size_bytes: u64| {
        let of = |_: &Market<'_>, ranked: &Ranked| {
            assert!(ranked.volumes[0].n_disks > 1, "{ranked:?} is no stripe");
            ranked.volumes[0].chunk_bytes / KIB
        };
        cheapest(&[terms(&["DS14"], &["P30"])], &need(iops, size_bytes, 0.0), of)
    };
    Outcome::said(
        Answer::new()
            .with("oltp_kib", unit(16_000.0, OLTP_IO_BYTES))
            .with("dw_kib", unit(400.0, WAREHOUSE_IO_BYTES)),
    )
}

/// What the advice of a design says of a load that keeps as many in flight as a query has cores.
pub(crate) fn most_threads(case: &Case) -> Outcome {
    let n_threads = case.opt("maxdop").expect("a number");
    let text = "edition='2018'\n[vm]\nsize='DS14'\n[[volume]]\nmount='/mnt/data'\ndisk='P30'\n\
                cache='None'\nlatency='2ms'\n";
    let design = volume::design::parse(text).0.expect("a design");
    // So many in flight at 2 ms.
    let need = need(n_threads / 0.002, OLTP_IO_BYTES, 0.0);
    let all = advice::advice(&design, &need, &judge(&design, &need));
    let least = all.iter().find_map(|it| {
        let (_, rest) = it.rule.split_once("SQL Server: a MAXDOP of at least ")?;
        rest.split(' ').next()?.parse::<u64>().ok()
    });
    Outcome::said(Answer::new().with("threads_max", least.unwrap_or(0)))
}
