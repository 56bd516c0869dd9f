//! What to type where a region is missing or not known: in the same words for every command.

use ::catalog::cost::CostError;

use crate::exit::Failure;

/// Most regions that a hint names.
const REGIONS_MAX: usize = 6;

/// Where a command takes a region from.
#[derive(Clone, Copy, Debug)]
pub(super) enum RegionFrom {
    /// The option `--region`.
    Option,
    /// The key `region` of a design.
    Design,
}

impl RegionFrom {
    /// Returns what to type to have one of these regions.
    pub(super) fn one_of(self, regions: &[String]) -> String {
        let Some((first, others)) = regions.split_first() else { return String::new() };
        let first = match self {
            RegionFrom::Option => format!("`--region {first}`"),
            RegionFrom::Design => format!("`region = \"{first}\"`"),
        };
        match others {
            [] => return first,
            [second] => return format!("{first} or {second}"),
            [_, ..] => {}
        }
        let shown = &others[..others.len().min(REGIONS_MAX - 1)];
        let n_more = others.len() - shown.len();
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        format!("{first}, or one of {}{more}", shown.join(", "))
    }

    /// Returns the failure of an order, with what to type where its region is not known.
    pub(super) fn failure(self, error: &CostError) -> Failure {
        let failure = Failure::wrong_use(error.to_string());
        let CostError::UnknownRegion { near, known, .. } = error else { return failure };
        if known.is_empty() {
            return failure.hint(match self {
                RegionFrom::Option => "prices of this edition state no region: leave --region out",
                RegionFrom::Design => "prices of this edition state no region: leave `region` out",
            });
        }
        if near.is_empty() {
            return failure.hint(format!("there are prices with {}", self.one_of(known)));
        }
        failure.hint(format!("did you mean {}?", self.one_of(near)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_named_as_it_is_typed() {
        let regions = |n: usize| (1..=n).map(|k| format!("r{k}")).collect::<Vec<_>>();
        let check = |n: usize, from: RegionFrom, expected: &str| {
            assert_eq!(from.one_of(&regions(n)), expected);
        };
        check(1, RegionFrom::Option, "`--region r1`");
        check(2, RegionFrom::Design, "`region = \"r1\"` or r2");
        check(6, RegionFrom::Option, "`--region r1`, or one of r2, r3, r4, r5, r6");
        check(8, RegionFrom::Option, "`--region r1`, or one of r2, r3, r4, r5, r6 and 2 more");
    }
}
