//! Rules of thumb that apply to a design, each with its reason and where it stands.

mod disks;

use volume::Design;
use volume::design::{Backing, CacheMode};

use crate::judge::Judged;
use crate::need::Need;
use disks::DiskAdvisor;

/// One rule that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to do.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Who says so.
    pub source: &'static str,
}

const GUIDE: &str = "Azure Premium Storage: design for high performance, 2018";
const GUIDE_2021: &str = "Azure documentation, premium storage performance, 2021-06-29";
const LITTLE: &str = "Little's law: in flight = rate x latency";
const EBS: &str = "Amazon EC2 user guide, EBS volumes";

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

struct List(Vec<Advice>);

impl List {
    fn put(&mut self, rule: impl Into<String>, reason: impl Into<String>, source: &'static str) {
        let (rule, reason) = (rule.into(), reason.into());
        self.0.push(Advice { rule, reason, source });
    }
}
