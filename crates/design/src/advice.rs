//! Rules of thumb that apply to a design, each with its reason and where it stands.

mod disks;
mod list;

use volume::Design;
use volume::design::{Backing, CacheMode, needs_premium};

use crate::judge::Judged;
use crate::need::Need;
use disks::DiskAdvisor;
use list::{GUIDE, List};

pub use list::Advice;

/// Returns the rules that apply to a design under a need.
///
/// # Panics
/// If it has not as many volumes.
pub fn advice(design: &Design, need: &Need, judged: &Judged) -> Vec<Advice> {
    assert_eq!(design.volumes.len(), need.volumes.len(), "a need of other volumes");
    let mut list = List(Vec::new());
    for (idx, (volume, asked)) in design.volumes.iter().zip(&need.volumes).enumerate() {
        let Backing::Disks(stripe) = &volume.backing else { continue };
        let Some(disk) = stripe.disks.first() else { continue };
        DiskAdvisor { design, judged, idx, stripe, disk, asked }.all(&mut list);
    }
    if needs_drivers(design) {
        list.put(
            "Linux: install the newest storage drivers that the distribution has for the cloud \
             before anything is measured",
            "old ones do not reach what premium disks carry",
            GUIDE,
        );
    }
    let is_cached = |volume: &volume::design::Volume| match &volume.backing {
        Backing::Disks(stripe) => stripe.disks.iter().any(|disk| disk.cache != CacheMode::None),
        Backing::Network(_) => false,
    };
    if design.volumes.iter().any(is_cached) {
        list.put(
            "stop what uses a disk before its cache mode is changed",
            "a change detaches and attaches the disk; of the system's disk it restarts the machine",
            GUIDE,
        );
    }
    list.0
}

/// Returns whether premium disks of Azure are attached, for which the guide names drivers.
fn needs_drivers(design: &Design) -> bool {
    let Some(edition) = design.rows() else { return false };
    design.volumes.iter().any(|volume| match &volume.backing {
        Backing::Disks(stripe) => {
            let sku = stripe.disks.first().and_then(|disk| edition.disk(&disk.sku));
            sku.is_some_and(|sku| needs_premium(sku.family()))
        }
        Backing::Network(_) => false,
    })
}
