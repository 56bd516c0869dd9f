//! What is asked for, as the search takes it.

use volume::limits::{Flow, Load};

use crate::uses::ROUNDING;

/// Most volumes of one need: the search tries every set of them that the host cache could serve.
pub(crate) const VOLUMES_MAX: usize = 16;

/// What an application asks of a machine and its volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Need {
    /// The volumes, at least one.
    pub volumes: Vec<VolumeNeed>,
    /// Fewest processors.
    pub vcpus: Option<f64>,
    /// Least memory, GiB.
    pub memory_gib: Option<f64>,
    /// What was captured over time: a design carries it, too, and where credits of bursts carry all
    /// of it, they count.
    pub series: Option<Demand>,
}

/// What a volume holds, which says what its host cache may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VolumeUse {
    /// Data that are read and written.
    #[default]
    Data,
    /// A log: written one after the other, and read when something broke.
    Log,
    /// What may be lost with the machine.
    Temp,
}

/// The load of one volume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeNeed {
    /// Folder it is mounted at.
    pub mount: String,
    /// What it holds.
    pub usage: VolumeUse,
    /// Least capacity, GiB; 0 where it is not known.
    pub capacity_gib: f64,
    /// How much of it is read at random places, GiB. Without it nothing is expected of a cache.
    pub working_set_gib: Option<f64>,
    /// Share of reads at random places that a host cache answers, where that is known in place of a
    /// working set.
    pub hit_share: Option<f64>,
    /// Mean latency without load that is still good enough, milliseconds.
    pub latency_ms_max: Option<f64>,
    /// Several machines work on it: only a network volume can hold it.
    pub is_shared: bool,
    /// What is asked in each phase.
    pub phases: Vec<PhaseNeed>,
}

/// The load of a volume in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseNeed {
    /// Name of the phase; volumes are at work together in phases of one name.
    pub phase: String,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per I/O in the mean, at least 1.
    pub size_bytes: u64,
    /// What the sizes of which that is the mean are multiples of, and the places where they begin;
    /// without it all I/Os are of that size, and begin at multiples of it.
    pub step_bytes: Option<u64>,
    /// Share of reads, 0 to 1.
    pub read_share: f64,
    /// Share of I/Os at random places, 0 to 1; the others follow one another.
    pub random_share: f64,
    /// I/Os in flight as they were counted: a figure of the system that was measured.
    pub queue_depth: Option<f64>,
}

impl Default for PhaseNeed {
    fn default() -> Self {
        PhaseNeed {
            phase: String::new(),
            iops: 0.0,
            size_bytes: 8 << 10,
            step_bytes: None,
            read_share: 0.0,
            random_share: 1.0,
            queue_depth: None,
        }
    }
}

impl VolumeNeed {
    /// Returns whether something is known of what a host cache would do for it, and it may have
    /// one.
    pub(crate) fn may_cache(&self) -> bool {
        let is_known = |figure: Option<f64>| figure.is_some_and(|figure| figure > 0.0);
        let is_of_use = is_known(self.working_set_gib) || is_known(self.hit_share);
        self.usage != VolumeUse::Log && is_of_use
    }

    /// Returns how much of a host cache it takes, GiB; nothing where its hits are stated.
    pub(crate) fn cached_gib(&self) -> f64 {
        if self.hit_share.is_some() { 0.0 } else { self.working_set_gib.unwrap_or(0.0) }
    }
}

impl PhaseNeed {
    /// Returns bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.iops * self.size_bytes as f64
    }

    /// Returns its I/Os as a load of which none hit.
    pub(crate) fn load(&self) -> Load {
        Load { step_bytes: self.step_bytes, ..Load::new(self.size_bytes, self.read_share) }
    }

    /// Returns the loads that it is made of: I/Os at random places, of which reads may hit the
    /// cache, and those that follow one another, which are counted as misses.
    pub(crate) fn flows(&self, volume: u16, hit_ratio: f64) -> Vec<Flow> {
        let load = self.load();
        let parts = [
            (self.random_share, Load { hit_ratio, ..load }),
            (1.0 - self.random_share, Load { is_sequential: true, ..load }),
        ];
        let is_asked = |(share, _): &(f64, Load)| *share > 0.0 && self.iops > 0.0;
        let flow = |(share, load)| Flow { volume, load, demand: Some(self.iops * share) };
        parts.into_iter().filter(is_asked).map(flow).collect()
    }
}

/// The load of a need's volumes over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// What an I/O of each volume is; its rate is that of the periods. None where nothing is asked.
    pub loads: Vec<Option<PhaseNeed>>,
    /// One after the other.
    pub periods: Vec<Period>,
    /// For so many seconds of them a cap may be short: the rest of the percentile that needs ask
    /// for.
    pub short_s_max: f64,
    /// How many times more than once the periods are what was captured: a phase lasts longer than
    /// what was captured of it.
    pub n_again: u32,
}

/// A time in which demand is even.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Period {
    /// How long it lasts, seconds.
    pub span_s: f64,
    /// I/Os per second by volume.
    pub iops: Vec<f64>,
}

/// Part by which a phase may be above all of a series and still be in it, and a sample above what
/// is sustained: figures of needs are written with fewer digits than samples.
pub(crate) const COVERED: f64 = 0.01;

/// Name of what was captured, where it stands among phases.
pub const SERIES_PHASE: &str = "series";

impl Demand {
    /// Returns it so many times, one after the other.
    #[must_use]
    pub fn repeated(mut self, n_times: u32) -> Self {
        let n_times = n_times.max(1);
        let of_time = |_| self.periods.iter().cloned();
        self.periods = (0..n_times).flat_map(of_time).collect();
        self.short_s_max *= f64::from(n_times);
        self.n_again = n_times - 1;
        self
    }

    /// Returns how long it lasts, seconds.
    pub fn span_s(&self) -> f64 {
        self.periods.iter().map(|period| period.span_s).sum()
    }

    /// Returns what volumes ask of a cap in each period, for what an I/O of each takes of it.
    pub(crate) fn asked<'a>(
        &'a self,
        per_io: &'a [(usize, f64)],
    ) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.periods.iter().map(|period| {
            let of = |(volume, per_io): &(usize, f64)| per_io * period.iops[*volume];
            (per_io.iter().map(of).sum(), period.span_s)
        })
    }

    /// Returns the most that is asked of a cap, for what an I/O of each volume takes of it, but for
    /// the seconds for which it may be short.
    pub(crate) fn most(&self, per_io: &[(usize, f64)]) -> f64 {
        let mut asked: Vec<(f64, f64)> = self.asked(per_io).collect();
        asked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut above_s = 0.0;
        let most = asked.into_iter().find(|(_, span_s)| {
            above_s += span_s;
            !self.may_be_short(above_s)
        });
        most.map_or(0.0, |(most, _)| most)
    }

    /// Returns the rate that a cap without credits must have for that.
    pub(crate) fn sustained(&self, per_io: &[(usize, f64)]) -> f64 {
        self.most(per_io) / (1.0 + COVERED)
    }

    /// Returns whether a cap without credits carries a rate of it.
    pub(crate) fn is_sustained(asked: f64, per_s: f64) -> bool {
        asked <= per_s * (1.0 + COVERED) * (1.0 + ROUNDING)
    }

    /// Returns whether a cap may be short for so many seconds of it.
    pub(crate) fn may_be_short(&self, short_s: f64) -> bool {
        short_s <= self.short_s_max * (1.0 + ROUNDING)
    }

    /// Returns whether the series knows when a volume asks for so many I/Os per second: it does so
    /// itself at some time.
    fn covers(&self, volume: usize, iops: f64) -> bool {
        let most = self.periods.iter().map(|period| period.iops[volume]).fold(0.0, f64::max);
        iops <= most * (1.0 + COVERED)
    }
}

/// Returns the share of reads at random places that a cache serves in the end; volumes share it by
/// the size of their working sets.
pub(crate) fn hit_ratio(cache_bytes: Option<u64>, working_sets_gib: f64) -> f64 {
    let Some(cache_bytes) = cache_bytes.filter(|_| working_sets_gib > 0.0) else { return 0.0 };
    (cache_bytes as f64 / (working_sets_gib * f64::from(1 << 30))).min(1.0)
}

/// Why a need is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NeedError {
    /// There is nothing to carry.
    #[error("a need has at least one volume")]
    NoVolume,
    /// More volumes than are searched.
    #[error("{n_volumes} volumes: at most {VOLUMES_MAX} on one machine")]
    TooManyVolumes {
        /// As asked.
        n_volumes: usize,
    },
    /// Two volumes at one place.
    #[error("two volumes are mounted at `{mount}`")]
    SameMount {
        /// The place.
        mount: String,
    },
    /// A figure that cannot be.
    #[error("`{what}` of `{mount}` is {value}, expected {expected}")]
    Figure {
        /// The figure.
        what: &'static str,
        /// Whose it is.
        mount: String,
        /// As asked.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
}

impl Need {
    /// Returns whether several machines work on one of its volumes.
    pub fn is_shared(&self) -> bool {
        self.volumes.iter().any(|volume| volume.is_shared)
    }

    /// Returns the names of all phases, each once, in the order in which they first stand.
    pub fn phases(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for phase in self.volumes.iter().flat_map(|volume| &volume.phases) {
            if !names.contains(&phase.phase.as_str()) {
                names.push(&phase.phase);
            }
        }
        names
    }

    /// Returns the loads of a phase on all volumes, for hit ratios by volume.
    pub(crate) fn flows(&self, phase: &str, hit_ratios: &[f64]) -> Vec<Flow> {
        let of_volume = |(idx, volume): (usize, &VolumeNeed)| {
            let asked = volume.phases.iter().filter(|asked| asked.phase == phase);
            let flows = asked.flat_map(|asked| asked.flows(idx as u16, hit_ratios[idx]));
            flows.collect::<Vec<Flow>>()
        };
        self.volumes.iter().enumerate().flat_map(of_volume).collect()
    }

    /// Returns whether the series knows when a volume asks for its load of a phase.
    pub(crate) fn is_covered(&self, phase: &str, volume: usize) -> bool {
        let Some(series) = &self.series else { return false };
        let mut loads = self.volumes[volume].phases.iter().filter(|it| it.phase == phase);
        loads.all(|it| series.covers(volume, it.iops))
    }

    /// Returns the same need with so many times the I/Os.
    pub(crate) fn times(&self, factor: f64) -> Need {
        let mut need = self.clone();
        for phase in need.volumes.iter_mut().flat_map(|volume| &mut volume.phases) {
            phase.iops *= factor;
        }
        let periods = need.series.iter_mut().flat_map(|series| &mut series.periods);
        periods.flat_map(|it| &mut it.iops).for_each(|iops| *iops *= factor);
        need
    }

    /// Checks that every figure is one.
    pub fn check(&self) -> Result<(), NeedError> {
        let n_volumes = self.volumes.len();
        if n_volumes == 0 {
            return Err(NeedError::NoVolume);
        }
        if n_volumes > VOLUMES_MAX {
            return Err(NeedError::TooManyVolumes { n_volumes });
        }
        for (idx, volume) in self.volumes.iter().enumerate() {
            if self.volumes[..idx].iter().any(|other| other.mount == volume.mount) {
                return Err(NeedError::SameMount { mount: volume.mount.clone() });
            }
            volume.check()?;
        }
        Ok(())
    }
}

/// Most of any figure: far beyond what is sold, and whole numbers stay exact.
const FIGURE_MAX: f64 = 1e12;

impl VolumeNeed {
    fn check(&self) -> Result<(), NeedError> {
        let figure = |what, value: f64, most: f64, expected| {
            let is_good = (0.0..=most).contains(&value);
            let mount = self.mount.clone();
            if is_good { Ok(()) } else { Err(NeedError::Figure { what, mount, value, expected }) }
        };
        let least = "a number from 0 to 10^12";
        figure("capacity", self.capacity_gib, FIGURE_MAX, least)?;
        figure("working set", self.working_set_gib.unwrap_or(0.0), FIGURE_MAX, least)?;
        figure("hit share", self.hit_share.unwrap_or(0.0), 1.0, "a share from 0 to 1")?;
        figure("latency", self.latency_ms_max.unwrap_or(0.0), FIGURE_MAX, least)?;
        for phase in &self.phases {
            figure("iops", phase.iops, FIGURE_MAX, least)?;
            figure("read share", phase.read_share, 1.0, "a share from 0 to 1")?;
            figure("random share", phase.random_share, 1.0, "a share from 0 to 1")?;
            // A size of nothing or beyond a GiB is none of an I/O.
            let size = phase.size_bytes as f64;
            let is_size = (1..=1 << 30).contains(&phase.size_bytes);
            figure("I/O size", if is_size { size } else { -size }, FIGURE_MAX, "1 B to 1 GiB")?;
        }
        Ok(())
    }
}
