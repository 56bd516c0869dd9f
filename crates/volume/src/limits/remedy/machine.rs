//! Larger machines.

use catalog::{Cloud, Edition, Vm as Size};

use super::{Change, Tries, n_all_disks};
use crate::cap::CapKind;
use crate::design::{Backing, CacheMode, Design, Limit, Vm, local, machine_of};

/// Edition that knows the shape of machines which an older one has without it.
const SHAPES: &str = "current";

impl Tries<'_> {
    /// Tries larger machines of the catalogue: of the same family first, then by cores. Of one with
    /// figures of its own it says which figure it takes.
    pub(super) fn machine(&mut self, kind: CapKind) {
        let Some(vm) = self.design.vm.as_ref() else { return };
        if self.design.rows().is_none_or(|edition| edition.vm(&vm.size).is_none()) {
            return self.own_machine(kind);
        }
        let larger = larger_machines(self.design, vm);
        let edition = self.design.rows();
        let change = |larger: &Vm| -> Option<Change> {
            let mut design = self.design.clone();
            design.vm = Some(larger.clone());
            let size = edition?.vm(&larger.size)?;
            let has_local = local::replace(&mut design, size);
            has_local.then(|| (format!("a larger machine: {}", larger.size), design))
        };
        let changes: Vec<Change> = larger.iter().filter_map(change).collect();
        let n_before = self.found.len();
        if let Some(price) = self.price {
            let priced = changes.iter().map(|change| (price(&change.1), change));
            let mut priced: Vec<(Option<f64>, &Change)> = priced.collect();
            priced.retain(|(price, _)| price.is_some());
            priced.sort_by(|(a, _), (b, _)| a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)));
            self.keep_least(priced.into_iter().map(|(_, change)| change.clone()));
        }
        self.keep_least(changes);
        // The nearest may be the cheapest.
        let (own, others) = self.found.split_at(n_before);
        let is_twice = others.len() > 1 && others[0].change == others[1].change;
        let n_kept = own.len() + if is_twice { 1 } else { others.len() };
        self.found.truncate(n_kept);
    }
}

/// How many times as much of a machine's own figure is tried at most.
const TIMES_MAX: u64 = 1024;

impl Tries<'_> {
    fn own_machine(&mut self, kind: CapKind) {
        let Some((key, limit)) = self.design.vm.as_ref().and_then(|vm| figure(vm, kind)) else {
            return;
        };
        // Bytes as a design writes them: whole MB/s, and of a network card Mb/s.
        let (unit_bytes, unit) = if kind.counts_operations() {
            (1, "")
        } else if kind == CapKind::VmEgress {
            (125_000, "Mb/s")
        } else {
            (1_000_000, "MB/s")
        };
        let now = limit.per_s / unit_bytes;
        let range = (now, now.max(1).saturating_mul(TIMES_MAX));
        self.keep_least_number(range, self.wanted(), |tries, number| {
            let mut design = tries.design.clone();
            let (_, limit) = figure_mut(design.vm.as_mut()?, kind)?;
            limit.per_s = number * unit_bytes;
            limit.burst = None;
            let value = match unit {
                "" => number.to_string(),
                _ => format!("\"{number}{unit}\""),
            };
            let change = format!("a larger machine: `[vm] {}`", key.replace('_', &value));
            Some((change, design, tries.flows.to_vec()))
        });
    }
}

/// Returns a machine's figure of a kind, and the key of a design with `_` for its value.
fn figure(vm: &Vm, kind: CapKind) -> Option<(&'static str, Limit)> {
    let mut vm = vm.clone();
    figure_mut(&mut vm, kind).map(|(key, limit)| (key, limit.clone()))
}

fn figure_mut(vm: &mut Vm, kind: CapKind) -> Option<(&'static str, &mut Limit)> {
    let (key, limit) = match kind {
        CapKind::VmUncachedIops => ("uncached = { iops = _ }", &mut vm.uncached.iops),
        CapKind::VmUncachedBytes => ("uncached = { throughput = _ }", &mut vm.uncached.bytes),
        CapKind::VmCachedIops => ("cached = { iops = _ }", &mut vm.cached.iops),
        CapKind::VmCachedBytes => ("cached = { throughput = _ }", &mut vm.cached.bytes),
        CapKind::VmEgress => ("egress = _", &mut vm.egress),
        CapKind::DiskIops
        | CapKind::DiskBytes
        | CapKind::VolumeQuota
        | CapKind::VolumeIops
        | CapKind::VolumeCeiling
        | CapKind::Pool
        | CapKind::PoolIops
        | CapKind::NfsSlots => return None,
    };
    limit.as_mut().map(|limit| (key, limit))
}

/// What a size's name says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    /// Sizes that differ in cores only: `Ds_v3` of `Standard_D8s_v3`, `m5` of `m5.large`.
    family: String,
    /// Letters it begins with: `D`, `DS`, `m`.
    series: String,
    generation: u32,
    /// Fewer cores are switched on than the size has: `DS14-4_v2`.
    is_constrained: bool,
}

impl Name {
    fn read(size: &Size) -> Self {
        match size.cloud() {
            Some(Cloud::Aws) => Name::of_aws(&size.name),
            Some(Cloud::Gcp) => Name::of_gcp(&size.name),
            Some(Cloud::Azure) | None => Name::of_azure(&size.name),
        }
    }

    /// Reads series, kind and suffix around the cores: `c3-standard-88-lssd`.
    fn of_gcp(name: &str) -> Self {
        let is_cores = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let family: Vec<&str> = name.split('-').filter(|part| !is_cores(part)).collect();
        let (series, rest) = letters(name);
        Name {
            family: family.join("-"),
            series: series.to_owned(),
            generation: digits(rest).0.parse().unwrap_or(1),
            is_constrained: false,
        }
    }

    /// Reads letters, generation and features before the point: `m5dn.xlarge`.
    fn of_aws(name: &str) -> Self {
        let family = name.split('.').next().unwrap_or(name);
        let (series, rest) = letters(family);
        Name {
            family: family.to_owned(),
            series: series.to_owned(),
            generation: digits(rest).0.parse().unwrap_or(1),
            is_constrained: false,
        }
    }

    /// Reads letters, cores, features and version: `Standard_D16plds_v5`.
    fn of_azure(name: &str) -> Self {
        let name = name.strip_prefix("Standard_").unwrap_or(name);
        let (series, rest) = letters(name);
        let (_, rest) = digits(rest);
        let (is_constrained, rest) = match rest.strip_prefix('-') {
            Some(rest) => (true, digits(rest).1),
            None => (false, rest),
        };
        let version = rest.rsplit('_').next().and_then(|part| part.strip_prefix('v'));
        Name {
            family: format!("{series}{rest}"),
            series: series.to_owned(),
            generation: version.and_then(|version| version.parse().ok()).unwrap_or(1),
            is_constrained,
        }
    }
}

fn letters(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len()))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// Cores and memory of a size, where the edition or the newest one says.
fn shape(design: &Design, edition: &Edition, size: &Size) -> (Option<u64>, Option<u64>) {
    let newest = design.catalog.edition(SHAPES).and_then(|edition| edition.vm(&size.name));
    let known = |of: fn(&Size) -> Option<&catalog::Figure>| {
        let own = edition.vm(&size.name).and_then(of);
        own.or_else(|| newest.and_then(of)).map(|figure| figure.per_s)
    };
    (known(Size::vcpus), known(Size::memory))
}

/// Returns the catalogue's machines that are no smaller in cores and memory, no older and of the
/// same architecture: those of the same family first, then of the same series, then by cores.
fn larger_machines(design: &Design, vm: &Vm) -> Vec<Vm> {
    let Some(edition) = design.rows() else { return Vec::new() };
    let Some(own) = edition.vm(&vm.size) else { return Vec::new() };
    let own_name = Name::read(own);
    let (own_cores, own_memory) = shape(design, edition, own);
    let n_disks = n_all_disks(design) as u64;
    let mut larger = Vec::new();
    for other in edition.vms() {
        let name = Name::read(other);
        let (cores, memory) = shape(design, edition, other);
        let is_family = name.family == own_name.family;
        // In a family memory grows with the cores; elsewhere what is unknown may be less.
        let is_no_smaller = cores.is_some()
            && cores >= own_cores
            && (memory.is_some() || is_family)
            && match (memory, own_memory) {
                (Some(memory), Some(own)) => memory >= own,
                _ => is_family,
            };
        let is_alike = other.cloud() == own.cloud()
            && other.name != own.name
            && other.arch() == own.arch()
            && name.generation >= own_name.generation
            && !name.is_constrained;
        if is_alike && is_no_smaller && takes(design, own, other, n_disks) {
            let rank = (!is_family, name.series != own_name.series, cores, &other.name);
            larger.push((rank, other));
        }
    }
    larger.sort_by(|a, b| a.0.cmp(&b.0));
    larger.into_iter().map(|(_, other)| replaced(design, vm, other)).collect()
}

/// Returns whether a machine takes what is attached to another one.
fn takes(design: &Design, own: &Size, other: &Size, n_disks: u64) -> bool {
    let is_cached = design.volumes.iter().any(|volume| match &volume.backing {
        Backing::Disks(stripe) => stripe.disks.iter().any(|disk| disk.cache != CacheMode::None),
        Backing::Network(_) => false,
    });
    let has_cache = other.cache().is_some()
        && (other.cached_iops().is_some() || other.cached_throughput().is_some());
    let attaches = |volume: &crate::design::Volume| match &volume.backing {
        Backing::Disks(stripe) if !stripe.is_local => stripe.disks.first().is_none_or(|disk| {
            let sku = design.rows().and_then(|edition| edition.disk(&disk.sku));
            let iops = disk.cap.iops.as_ref().map_or(0, |limit| limit.per_s);
            sku.is_none_or(|sku| {
                other.attaches(sku.class()) != Some(false)
                    && other.iops_max_of(sku).is_none_or(|most| iops <= most)
            })
        }),
        Backing::Disks(_) | Backing::Network(_) => true,
    };
    (own.takes_premium() != Some(true) || other.takes_premium() == Some(true))
        && design.volumes.iter().all(attaches)
        && other.max_data_disks().is_none_or(|most| most.per_s >= n_disks)
        && (!is_cached || has_cache)
}

/// Returns a machine with the figures of another size. What it does not say does not
/// lift anything.
fn replaced(design: &Design, vm: &Vm, other: &Size) -> Vm {
    let mut larger = machine_of(design, vm, other).unwrap_or_else(|| vm.clone());
    larger.size.clone_from(&other.name);
    larger.uncached.iops = larger.uncached.iops.or_else(|| vm.uncached.iops.clone());
    larger.uncached.bytes = larger.uncached.bytes.or_else(|| vm.uncached.bytes.clone());
    larger.cached.iops = larger.cached.iops.or_else(|| vm.cached.iops.clone());
    larger.cached.bytes = larger.cached.bytes.or_else(|| vm.cached.bytes.clone());
    larger.egress = larger.egress.or_else(|| vm.egress.clone());
    larger.max_data_disks = larger.max_data_disks.or(vm.max_data_disks);
    larger
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &Name, family: &str, generation: u32, is_constrained: bool) {
        assert_eq!(name.family, family, "{name:?}");
        assert_eq!(name.generation, generation, "{name:?}");
        assert_eq!(name.is_constrained, is_constrained, "{name:?}");
    }

    #[test]
    fn names_say_family_and_generation() {
        check(&Name::of_aws("m5.large"), "m5", 5, false);
        check(&Name::of_aws("m6gd.large"), "m6gd", 6, false);
        check(&Name::of_aws("g4dn.xlarge"), "g4dn", 4, false);
        check(&Name::of_azure("Standard_DS14"), "DS", 1, false);
        check(&Name::of_azure("Standard_DS14-4_v2"), "DS_v2", 2, true);
        check(&Name::of_azure("Standard_D16plds_v5"), "Dplds_v5", 5, false);
        check(&Name::of_azure("Standard_D8s_v3"), "Ds_v3", 3, false);
        check(&Name::of_azure("Standard_NC16as_T4_v3"), "NCas_T4_v3", 3, false);
        check(&Name::of_gcp("n2-standard-16"), "n2-standard", 2, false);
        check(&Name::of_gcp("c3-standard-88-lssd"), "c3-standard-lssd", 3, false);
        check(&Name::of_gcp("n2d-highmem-8"), "n2d-highmem", 2, false);
    }
}
