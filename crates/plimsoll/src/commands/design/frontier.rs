//! The front of price against headroom: the cheapest designs for more and more of it.

use ::design::{Options, Ranked, SearchInput};

use super::{Args, CloudAnswer, found_in, options};
use crate::exit::Failure;

/// How much more a design carries at least than the one before.
const STEP: f64 = 1.1;

/// Headroom beyond which no more is looked for: five times the need.
const HEADROOM_MAX: f64 = 4.0;

/// The front of price against headroom.
pub(super) struct Frontier<D> {
    /// Each is the cheapest that carries a tenth more than the one before, and costs more.
    pub(super) designs: Vec<D>,
    /// The least headroom that was looked for and that nothing has.
    pub(super) none_from: Option<f64>,
}

/// Searches the front of a cloud's disks.
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
) -> Result<Frontier<Ranked>, Failure> {
    let best = |headroom| {
        let options = Options { headroom, n_kept: 1, ..options(args) };
        Ok(found_in(&answer.market, &asked.need, &options)?.designs.into_iter().next())
    };
    follow(args.headroom, best, |design| design.headroom)
}

/// Follows the front from a headroom on; `best` searches the cheapest design with so much.
pub(super) fn follow<D>(
    from: f64,
    mut best: impl FnMut(f64) -> Result<Option<D>, Failure>,
    headroom_of: impl Fn(&D) -> f64,
) -> Result<Frontier<D>, Failure> {
    let mut frontier = Frontier { designs: Vec::new(), none_from: None };
    let mut headroom = from;
    while headroom <= HEADROOM_MAX.max(from) {
        let Some(design) = best(headroom)? else {
            frontier.none_from = Some(headroom);
            break;
        };
        headroom = (1.0 + headroom_of(&design).max(headroom)) * STEP - 1.0;
        frontier.designs.push(design);
    }
    Ok(frontier)
}
