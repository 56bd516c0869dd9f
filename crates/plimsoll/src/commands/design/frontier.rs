//! The front of price against headroom: the cheapest designs for more and more of it.

use ::design::{Options, Ranked, SearchInput, search};

use super::{Args, CloudAnswer, options};
use crate::exit::Failure;

/// How much more a design carries at least than the one before.
const STEP: f64 = 1.1;

/// Headroom beyond which no more is looked for: five times the need.
const HEADROOM_MAX: f64 = 4.0;

/// The front of price against headroom.
pub(super) struct Frontier {
    /// Each is the cheapest that carries a tenth more than the one before, and costs more.
    pub(super) designs: Vec<Ranked>,
    /// The least headroom that was looked for and that nothing has.
    pub(super) none_from: Option<f64>,
}

/// Searches it for one cloud.
///
/// No design of the whole search costs as little as one of these and has more headroom: of those
/// that cost the same, a search gives the one with the most.
///
/// # Errors
/// If the need is none.
pub(super) fn frontier(
    args: &Args,
    asked: &SearchInput,
    answer: &CloudAnswer<'_>,
) -> Result<Frontier, Failure> {
    let mut frontier = Frontier { designs: Vec::new(), none_from: None };
    let mut headroom = args.headroom;
    while headroom <= HEADROOM_MAX.max(args.headroom) {
        let options = Options { headroom, n_kept: 1, ..options(args) };
        let found = search(&answer.market, &asked.need, &options);
        let found = found.map_err(|error| Failure::wrong_use(error.to_string()))?;
        let Some(best) = found.designs.into_iter().next() else {
            frontier.none_from = Some(headroom);
            break;
        };
        headroom = (1.0 + best.headroom.max(headroom)) * STEP - 1.0;
        frontier.designs.push(best);
    }
    Ok(frontier)
}
