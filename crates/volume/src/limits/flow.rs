//! What a volume does under what is asked of it.

use super::bound::{self, Bound};
use super::credit::Credits;
use crate::design::Design;
use crate::load::{Flow, Load};

/// Who shares a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One volume alone, by its position.
    Volume(u16),
    /// All volumes of the machine.
    Machine,
    /// The volumes of a pool, by its position.
    Pool(u16),
    /// All network volumes, which the same clients reach.
    Clients,
}

/// The I/Os that a cap counts where reads and writes have caps of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Reads alone.
    Reads,
    /// Writes alone.
    Writes,
}

/// One cap on the way of an I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct CapUse {
    /// What it is.
    pub bound: Bound,
    /// Who shares it.
    pub scope: Scope,
    /// What it is, for people: `10 x P30`, `Standard_DS14`.
    pub name: String,
    /// Which I/Os it counts; `None` counts all.
    pub side: Option<Side>,
    /// What it carries, I/Os or bytes per second.
    pub per_s: f64,
    /// What one I/O of the load costs of it, more than 0.
    pub per_io: f64,
    /// Where its figure comes from.
    pub origin: String,
    /// The credits above its sustained rate, in its own unit; none for bursts without an end.
    pub credits: Option<Credits>,
}

impl CapUse {
    /// Returns the rate that this cap alone would allow.
    pub fn rate(&self) -> f64 {
        self.per_s / self.per_io
    }

    /// Returns the name of its kind, as a table has it: `disk_iops`, of reads alone `disk_iops/r`.
    pub fn label(&self) -> String {
        let side = match self.side {
            None => "",
            Some(Side::Reads) => "/r",
            Some(Side::Writes) => "/w",
        };
        format!("{}{side}", self.bound)
    }

    /// Returns whether it is the same cap, seen by another flow.
    pub fn is_same(&self, other: &CapUse) -> bool {
        (self.bound, self.scope, &self.name) == (other.bound, other.scope, &other.name)
    }
}

impl Flow {
    /// Asserts that it is a load of a volume of the design.
    pub(super) fn check(&self, design: &Design) {
        let Load { size_bytes, align_bytes, read_share, hit_ratio, queue_depth, .. } = self.load;
        let (volume, n_volumes) = (self.volume, design.volumes.len());
        assert!(usize::from(volume) < n_volumes, "volume {volume} of {n_volumes}");
        assert!(size_bytes > 0, "an I/O has bytes");
        let has_step = align_bytes != Some(0) && self.load.step_bytes != Some(0);
        assert!(has_step, "offsets are multiples of something");
        assert!((0.0..=1.0).contains(&read_share), "{read_share} is no share of reads");
        assert!((0.0..=1.0).contains(&hit_ratio), "{hit_ratio} is no share of hits");
        assert!(queue_depth != Some(0), "none in flight is no load");
        assert!(self.demand.is_none_or(|demand| demand >= 0.0), "{:?} is no rate", self.demand);
    }
}

/// What a volume does under its load.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// Position of the volume.
    pub volume: u16,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency where the number in flight is given, seconds.
    pub latency_s: Option<f64>,
    /// What binds; [`Bound::Nothing`] if the demand is met.
    pub binds: Bound,
    /// Every cap on the way, with the rate it leaves to this volume beside the others, the smallest
    /// first.
    pub caps: Vec<(CapUse, f64)>,
}

impl Done {
    /// Returns the cap that stands first.
    pub fn first(&self) -> Option<&CapUse> {
        self.caps.first().map(|(cap, _)| cap)
    }

    /// Returns what binds, as [`CapUse::label`] has it.
    pub fn binds_label(&self) -> String {
        let first = self.first().filter(|cap| cap.bound == self.binds);
        first.map_or_else(|| self.binds.to_string(), CapUse::label)
    }

    /// Returns the next cap and how far it lies above the first: 0.25 is a quarter more.
    pub fn next(&self) -> Option<(&CapUse, f64)> {
        let (first, next) = (self.caps.first()?, self.caps.get(1)?);
        Some((&next.0, bound::headroom(next.1, first.1)))
    }
}
