//! The cheapest designs for several amounts of headroom.

use ::design::{Options, Ranked, SearchInput, search};

use super::{Args, CloudAnswer, options};
use crate::exit::Failure;

/// Amounts of headroom that are looked at, percent.
const HEADROOMS_PCT: [f64; 7] = [0.0, 10.0, 25.0, 50.0, 100.0, 200.0, 400.0];

/// The front of price against headroom.
pub(super) struct Frontier {
    /// Each is the cheapest that has as much headroom; more costs more.
    pub(super) designs: Vec<Ranked>,
    /// The least headroom looked at that nothing has.
    pub(super) none_from_pct: Option<f64>,
}

/// Searches it for one cloud.
///
/// # Errors
/// If the need is none.
pub(super) fn frontier(
    args: &Args,
    asked: &SearchInput,
    answer: &CloudAnswer<'_>,
) -> Result<Frontier, Failure> {
    let mut frontier = Frontier { designs: Vec::new(), none_from_pct: None };
    for headroom_pct in HEADROOMS_PCT {
        let options = Options { headroom: headroom_pct / 100.0, n_kept: 1, ..options(args) };
        let found = search(&answer.market, &asked.need, &options);
        let found = found.map_err(|error| Failure::wrong_use(error.to_string()))?;
        let Some(best) = found.designs.into_iter().next() else {
            frontier.none_from_pct = Some(headroom_pct);
            break;
        };
        let last = frontier.designs.last();
        if last.is_none_or(|last| last.headroom * 100.0 < headroom_pct) {
            frontier.designs.push(best);
        }
    }
    Ok(frontier)
}
