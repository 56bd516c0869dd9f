//! Machines of which no source says whether they are large enough.

use std::collections::BTreeSet;

use crate::group::{MachineSize, SizeStanding};
use crate::market::Market;
use crate::need::{Need, NeedError};
use crate::price::Price;
use crate::rank::{Ranked, Wanted};
use crate::search::{Options, search_wanted};

/// Machines whose memory or processors are asked for and not known, so that their designs stand
/// behind all others.
#[derive(Clone, Debug, PartialEq)]
pub struct UnsizedMachines {
    /// How many there are, of those that are large enough in what is known.
    pub n_machines: usize,
    /// Of each series the best design that costs less than the best of which all is known, the
    /// cheapest first: on a machine that has enough if it has as much memory for each processor as
    /// any of its series. A series of which no memory is known has none here.
    pub designs: Vec<Ranked>,
}

/// Looks for designs that cost less than `best`, on machines of which nothing is unknown but
/// whether they are large enough; `None` where there are none, or where `best` is one that stands
/// behind such designs itself.
///
/// # Errors
/// If the need is none.
pub fn unsized_machines(
    market: &Market<'_>,
    need: &Need,
    options: &Options,
    best: Price,
) -> Result<Option<UnsizedMachines>, NeedError> {
    let all = || market.groups.iter().flat_map(|group| &group.machines);
    let machines = || all().filter(|machine| machine.standing(need) == SizeStanding::Unknown);
    if best.is_open {
        return Ok(None);
    }
    let one = Options { n_kept: 1, ..*options };
    let mut designs = Vec::new();
    for series in machines().map(MachineSize::series).collect::<BTreeSet<_>>() {
        let per_vcpu = |it: &MachineSize| Some(it.memory_gib? / it.vcpus?);
        let of_series = all().filter(|it| it.series() == series);
        let Some(most) = of_series.filter_map(per_vcpu).reduce(f64::max) else { continue };
        let vcpus = need.memory_gib.map_or(0.0, |least| least / most);
        let wanted = Wanted::SizeUnknown { below: best, series, vcpus };
        let found = search_wanted(market, need, (&one, wanted), &mut |_, _| {})?;
        designs.extend(found.designs);
    }
    designs.sort_by(|a, b| a.rank().cmp(&b.rank()));
    for design in &mut designs {
        design.machine_price.is_open = true;
        design.price.is_open = true;
    }
    let n_machines = machines().count();
    let found = UnsizedMachines { n_machines, designs };
    Ok(Some(found).filter(|found| !found.designs.is_empty()))
}

/// Returns how many machines that cost less than `below` may be large enough, of which no source
/// says it.
pub fn n_unsized_below(market: &Market<'_>, need: &Need, below: Price) -> usize {
    let all = market.groups.iter().flat_map(|group| &group.machines);
    let may_do = |it: &&MachineSize| {
        it.standing(need) == SizeStanding::Unknown
            && !it.price.is_unpriced
            && it.price.micro_usd < below.micro_usd
    };
    all.filter(may_do).count()
}
