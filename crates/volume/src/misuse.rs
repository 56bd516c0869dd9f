//! What one module of this crate must not ask of another; what a caller of the crate must not is in
//! `tests/system/contracts.rs`.

use crate::design::{self, Backing, Design};
use crate::lanes::Lanes;
use crate::layout::Layout;
use crate::system::Start;
use crate::system::host::Host;

/// Returns a design of one volume of disks.
fn of_disks(text: &str) -> Design {
    let (design, findings) = design::parse(text);
    design.unwrap_or_else(|| panic!("{findings:?}"))
}

const TWO_VOLUMES: &str = "[[volume]]\nmount = \"/a\"\ndisk = \"P30\"\n\
                           [[volume]]\nmount = \"/b\"\ndisk = \"P30\"\n";

#[test]
fn a_design_of_another_shape_is_not_applied() {
    let two = of_disks(TWO_VOLUMES);
    let mut fewer_volumes = two.clone();
    fewer_volumes.volumes.pop();
    let mut more_disks = two.clone();
    let Backing::Disks(stripe) = &mut more_disks.volumes[0].backing else { unreachable!() };
    stripe.disks.push(stripe.disks[0].clone());
    let mut more_clients = two.clone();
    more_clients.clients = vec![design::Client::default(); 2];
    let with_machine = of_disks(&format!("[vm]\nsize = \"D8s_v3\"\n{TWO_VOLUMES}"));
    let apply = |other: &Design| {
        let mut lanes = Lanes::new(0);
        let mut layout = Layout::new(&two, &mut lanes);
        layout.apply(other, &mut lanes, 0);
    };
    apply(&two);
    testing::check_wrong_calls(&[
        ("a volume less", "2 volumes were laid out for a design with 1", &|| apply(&fewer_volumes)),
        ("a disk more", "2 disks were laid out for a design with 3", &|| apply(&more_disks)),
        ("a client more", "1 clients were laid out for a design with 2", &|| apply(&more_clients)),
        ("a cap more than 16 bits can name", "65535 caps are more than can be numbered", &|| {
            let mut lanes = Lanes::new(0);
            let mut layout = Layout::new(&two, &mut lanes);
            layout.infos = vec![layout.infos[0].clone(); usize::from(u16::MAX)];
            layout.apply(&with_machine, &mut lanes, 0);
        }),
    ]);
}

#[test]
fn a_cache_is_one_of_the_same_volumes_and_caps() {
    let two = of_disks(TWO_VOLUMES);
    let mut one = two.clone();
    one.volumes.pop();
    let host = |design| Host::new(design, Start::Cold);
    let mut known = host(&two);
    known.reserve_caps(4);
    known.let_all_leave(1, 7);
    testing::check_wrong_calls(&[
        ("of other volumes", "a cache of 2 volumes takes over one of 1", &|| {
            host(&two).adopt(host(&one), true);
        }),
        ("of fewer caps", "of 4 caps 3 are left", &|| known.clone().reserve_caps(3)),
        ("what came earlier", "writes before 7 were let go, now those before 6", &|| {
            known.clone().let_all_leave(1, 6);
        }),
    ]);
}
