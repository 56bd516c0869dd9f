//! Machines of equal limits.

use catalog::{Edition, Vm as Size};
use volume::design::{Cap, Interface, Limit, Vm, lacks_limits, machine_with};
use volume::limits::credit::Credits;
use volume::limits::path;

use crate::need::Need;
use crate::price::Price;
use crate::uses::{MachineCaps, N_MACHINE, ROUNDING};

/// Most classes of disks in one design: machines may have limits by class, which are looked up for
/// every set of them.
pub(crate) const CLASSES_MAX: usize = 3;

/// A set of classes of disks, a bit for each.
pub(crate) type Classes = u32;

/// What a machine carries with some sets of classes of disks attached.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Caps {
    pub(crate) per_s: MachineCaps,
    /// Credits of those that have some.
    pub(crate) credits: [Option<Credits>; N_MACHINE],
    /// The uncached path has a limit that is not known.
    pub(crate) is_open: bool,
    /// The cached path is known, with the size of the cache.
    pub(crate) cache_bytes: Option<u64>,
    /// The cached path has limits, which local disks without some of their own share.
    pub(crate) has_cached_path: bool,
    /// The sets for which it holds.
    pub(crate) sets: Vec<Classes>,
}

/// What machines have in common that the search looks at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limits {
    pub(crate) caps: Vec<Caps>,
    /// Places for disks; `None` is not known.
    pub(crate) n_disks_max: Option<u32>,
    /// It takes premium disks, as far as a source says.
    pub(crate) takes_premium: bool,
    /// It is built on Nitro, or of a cloud without, as far as a source says.
    pub(crate) is_nitro: bool,
}

/// One machine size.
#[derive(Clone, Debug)]
pub(crate) struct MachineSize {
    pub(crate) name: String,
    pub(crate) price: Price,
    pub(crate) vcpus: Option<f64>,
    pub(crate) memory_gib: Option<f64>,
    /// How it reaches its disks, where it is not its usual way.
    pub(crate) interface: Option<Interface>,
    /// Position of its local disks in the market's list; `None` where none are known.
    pub(crate) local: Option<usize>,
}

/// Whether a machine is large enough for a need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeStanding {
    /// It has the processors and the memory that are asked for.
    Enough,
    /// It has too few of what is known.
    TooSmall,
    /// Something that is asked for is not known of it, and what is known is enough.
    Unknown,
}

impl MachineSize {
    /// Returns the letters that its name begins with: E of `Standard_E8as_v6`.
    pub(crate) fn series(&self) -> &str {
        let name = self.name.trim_start_matches("Standard_").trim_start_matches("Basic_");
        let n_letters = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
        &name[..n_letters]
    }

    /// Returns whether it has so many processors, as far as is known.
    pub(crate) fn has_vcpus(&self, least: f64) -> bool {
        self.vcpus.is_none_or(|has| has >= least * (1.0 - ROUNDING))
    }

    /// Says whether it has the processors and the memory that are asked for.
    pub(crate) fn standing(&self, need: &Need) -> SizeStanding {
        let asked = [(need.vcpus, self.vcpus), (need.memory_gib, self.memory_gib)];
        let asked = asked.into_iter().filter_map(|(least, has)| Some((least?, has)));
        asked.fold(SizeStanding::Enough, |standing, (least, has)| match has {
            Some(has) if has < least * (1.0 - ROUNDING) => SizeStanding::TooSmall,
            None if standing == SizeStanding::Enough => SizeStanding::Unknown,
            Some(_) | None => standing,
        })
    }
}

/// Machines of equal limits, the cheapest first.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) limits: Limits,
    pub(crate) machines: Vec<MachineSize>,
}

impl Limits {
    /// Looks the limits of a size up, with every set of the classes of disks that it takes; of each
    /// class `types` has one. `over` is the interface where it is not the size's usual one.
    pub(crate) fn of(
        edition: &Edition,
        (mb_bytes, over): (u64, Option<Interface>),
        size: &Size,
        types: &[&str],
    ) -> Self {
        let mut caps: Vec<Caps> = Vec::new();
        let is_refused = |idx: &usize| {
            let class = edition.disk(types[*idx]).map(catalog::Disk::class);
            class.is_some_and(|class| size.attaches(class) == Some(false))
        };
        let refused: Classes =
            (0..types.len()).filter(is_refused).fold(0, |all, idx| all | 1 << idx);
        for set in sets(types.len()).filter(|set| set & refused == 0) {
            let is_in = |idx: &usize| set & (1 << idx) != 0;
            let names: Vec<&str> = (0..types.len()).filter(is_in).map(|idx| types[idx]).collect();
            let vm = machine_with(edition, mb_bytes, size, &names, true, over);
            let mut found = Caps::of(&vm);
            found.is_open |= names.iter().any(|disk| lacks_limits(size, disk));
            // Without remote disks no limit of theirs can be missing.
            found.is_open &= set != 0;
            if let Some(known) = caps.iter_mut().find(|known| known.is_like(&found)) {
                known.sets.push(set);
            } else {
                found.sets.push(set);
                caps.push(found);
            }
        }
        Limits {
            caps,
            n_disks_max: size.max_data_disks().map(|most| most.per_s as u32),
            takes_premium: size.takes_premium() != Some(false),
            is_nitro: size.is_nitro() != Some(false),
        }
    }
}

impl Caps {
    fn of(vm: &Vm) -> Self {
        fn both(cap: &Cap) -> [Option<&Limit>; 2] {
            [cap.iops.as_ref(), cap.bytes.as_ref()]
        }
        let none = [None; 2];
        let (cached, reads, writes) = match &vm.cached_write {
            Some(writes) => (none, both(&vm.cached), both(writes)),
            None => (both(&vm.cached), none, none),
        };
        let all = [both(&vm.uncached), cached, reads, writes];
        let all: [Option<&Limit>; N_MACHINE] = std::array::from_fn(|idx| all[idx / 2][idx % 2]);
        let is_known = vm.cached.iops.is_some() && vm.cached.bytes.is_some();
        Caps {
            per_s: all.map(|limit| limit.map_or(f64::INFINITY, |it| it.per_s as f64)),
            credits: all.map(|limit| path::credits(1.0, limit?)),
            is_open: vm.uncached.iops.is_none() || vm.uncached.bytes.is_none(),
            cache_bytes: vm.cache_bytes.filter(|bytes| is_known && *bytes > 0),
            has_cached_path: is_known,
            sets: Vec::new(),
        }
    }

    fn is_like(&self, other: &Caps) -> bool {
        (self.per_s, self.credits, self.is_open, self.cache_bytes)
            == (other.per_s, other.credits, other.is_open, other.cache_bytes)
    }
}

/// Returns every set of at most [`CLASSES_MAX`] of so many classes: none is that of designs with
/// local disks alone.
fn sets(n_classes: usize) -> impl Iterator<Item = Classes> {
    let is_small = |set: &Classes| set.count_ones() <= CLASSES_MAX as u32;
    (0..(1 << n_classes)).filter(is_small)
}
