//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use crate::advice::advice;
use crate::series::over_time;
use crate::{Demand, Need, VolumeNeed, judge};

#[test]
fn a_need_and_a_demand_are_of_the_volumes_of_the_design() {
    let text = "[[volume]]\nmount = \"/a\"\ncache = \"None\"\ndisk = \"P30\"\n";
    let design = volume::design::parse(text).0.expect("a design");
    let need =
        |n_volumes| Need { volumes: vec![VolumeNeed::default(); n_volumes], ..Need::default() };
    let demand = |n_volumes| Demand { loads: vec![None; n_volumes], ..Demand::default() };
    let judged = judge(&design, &need(1));
    assert!(judged.is_met());
    over_time(&design, &need(1), &demand(1));
    testing::check_wrong_calls(&[
        ("a need of two", "2 volumes are asked, the design has 1", &|| {
            judge(&design, &need(2));
        }),
        ("advice for a need of none", "a need of other volumes", &|| {
            advice(&design, &need(0), &judged);
        }),
        ("a demand on two", "1 volumes, and loads of 2", &|| {
            over_time(&design, &need(1), &demand(2));
        }),
    ]);
}
