//! What must hold across the volumes of a design.

use std::collections::HashSet;
use std::ops::Range;

use catalog::Cloud;
use plan::Diagnostic;
use plan::keys::Located;

use super::Backing;
use super::network::ParsedPool;
use super::parser::{DiskUse, ParsedVolume, Parser};
use super::service::Service;

/// Checks one mount path and returns it without needless slashes.
pub(super) fn mount(
    (text, at): Located<&str>,
    parser: &mut Parser<'_, '_>,
) -> Option<(String, Range<usize>)> {
    let is_bad = |part: &str| matches!(part, "." | "..") || part.contains('\0');
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
    if !text.starts_with('/') || parts.is_empty() || parts.iter().any(|part| is_bad(part)) {
        let drive = text.strip_suffix(['/', '\\']).unwrap_or(text).strip_suffix(':');
        let letter = drive.filter(|it| it.len() == 1 && it.starts_with(char::is_alphabetic));
        let mut finding = Diagnostic::error(
            "bad-mount",
            format!("mount `{text}` is not an absolute path below /"),
        );
        if let Some(letter) = letter {
            let path = format!("/{}", letter.to_lowercase());
            finding = finding.help(format!(
                "a drive is a path here: write mount = \"{path}\", and give jobs files below it"
            ));
        }
        parser.findings.add(finding, &at);
        return None;
    }
    Some((format!("/{}", parts.join("/")), at))
}

/// Two volumes cannot be at one place. One below another is fine: the longer path wins.
pub(super) fn mounts(volumes: &[ParsedVolume], parser: &mut Parser<'_, '_>) {
    let mut seen = HashSet::new();
    for volume in volumes {
        let mount = volume.volume.mount.as_str();
        if !seen.insert(mount) {
            let text = format!("two volumes are mounted at `{mount}`");
            parser.findings.error("duplicate-mount", &volume.mount_at, text);
        }
    }
}

/// Two volumes cannot have one name: their disks would, too.
pub(super) fn names(volumes: &[ParsedVolume], parser: &mut Parser<'_, '_>) {
    let mut seen = HashSet::new();
    for volume in volumes {
        let name = volume.volume.build.name.as_str();
        if !name.is_empty() && !seen.insert(name) {
            let text = format!("two volumes are named `{name}`");
            parser.findings.error("duplicate-name", &volume.at, text);
        }
    }
}

/// Most disks of a design: positions of its caps, up to six per disk, have 16 bits.
const DISKS_MAX: usize = 8192;

/// Refuses more disks than a system can number.
pub(super) fn disks(volumes: &[ParsedVolume], parser: &mut Parser<'_, '_>) {
    let mut n_disks = 0;
    for volume in volumes {
        if let Backing::Disks(stripe) = &volume.volume.backing {
            n_disks += stripe.disks.len();
        }
        if n_disks > DISKS_MAX {
            let text = format!("more than {DISKS_MAX} disks in one design");
            let finding = Diagnostic::error("out-of-range", text);
            let help = "write several designs, or several of its machines one by one";
            parser.findings.add(finding.help(help), &volume.mount_at);
            return;
        }
    }
}

/// A host cache is a machine's: without one there is nothing that could hold a block.
pub(super) fn no_cache(uses: &[&DiskUse], parser: &mut Parser<'_, '_>) {
    for at in uses.iter().filter_map(|disks| disks.cache_at.as_ref()) {
        let text = "a host cache needs the machine that has it, and there is no [vm]";
        let help = "name its size under [vm], or use cache = \"None\"";
        parser.findings.add(Diagnostic::error("no-machine", text).help(help), at);
    }
}

/// What is behind one machine is of its cloud. Without a machine of the catalogue, volumes of
/// several clouds can only be meant to stand beside each other. `machine` is what network volumes
/// are reached from, too, unless clients of their own do that.
pub(super) fn clouds(
    volumes: &[ParsedVolume],
    has_clients: bool,
    machine: Option<&catalog::Vm>,
    parser: &mut Parser<'_, '_>,
) {
    let found = volumes.iter().filter_map(|volume| match &volume.disks {
        Some(disks) => disks.cloud.map(|cloud| (disks.name.clone(), cloud, &disks.at)),
        None if has_clients => None,
        None => volume.service.map(|service| {
            let name = format!("{}, for `{}`,", service.title(), volume.volume.mount);
            (name, service.cloud(), &volume.at)
        }),
    });
    let found: Vec<_> = found.collect();
    let Some(machine) = machine else {
        let Some((first, first_cloud, _)) = found.first() else { return };
        if let Some((name, cloud, at)) = found.iter().find(|(_, cloud, _)| cloud != first_cloud) {
            let text =
                format!("{name} is of {cloud} and {first} of {first_cloud}: no machine has both");
            parser.findings.warn("other-cloud", at, text);
        }
        return;
    };
    let Some(own) = machine.cloud() else { return };
    for (name, cloud, at) in found.iter().filter(|(_, cloud, _)| *cloud != own) {
        let short = machine.name.strip_prefix("Standard_").unwrap_or(&machine.name);
        let text = format!("{name} is of {cloud}, and the machine {short} of {own}");
        parser.findings.error("other-cloud", at, text);
    }
}

/// Machines that reach network volumes are of the cloud that has them.
pub(super) fn clients(
    machines: &[Located<&catalog::Vm>],
    volumes: &[ParsedVolume],
    parser: &mut Parser<'_, '_>,
) {
    for (machine, at) in machines {
        let Some(own) = machine.cloud() else { continue };
        let is_other = |service: &Service| service.cloud() != own;
        let other = volumes.iter().filter_map(|volume| volume.service).find(is_other);
        if let Some(service) = other {
            let text = format!(
                "network volumes are those of {}, and the machine {} is of {}",
                service.title(),
                machine.name,
                own
            );
            parser.findings.error("other-cloud", at, text);
        }
    }
}

/// What a design has is of the cloud that it is to be built in.
pub(super) fn cloud(
    (cloud, at): (Cloud, &Range<usize>),
    volumes: &[ParsedVolume],
    machine: Option<&catalog::Vm>,
    parser: &mut Parser<'_, '_>,
) {
    let mut parts = volumes.iter().filter_map(|volume| match &volume.disks {
        Some(disks) => Some((disks.name.as_str(), disks.cloud?)),
        None => volume.service.map(|service| (service.title(), service.cloud())),
    });
    let machine = machine.and_then(|machine| Some((machine.name.as_str(), machine.cloud()?)));
    let is_other = |(_, of): &(&str, Cloud)| *of != cloud;
    let other = machine.filter(is_other).or_else(|| parts.find(is_other));
    if let Some((name, of)) = other {
        let text = format!("`cloud` is {cloud}, and {name} is of {of}");
        parser.findings.error("other-cloud", at, text);
    }
}

/// The quotas of a pool's volumes fit into it, and so does what is assigned by hand.
pub(super) fn pools(volumes: &[ParsedVolume], pools: &[ParsedPool], parser: &mut Parser<'_, '_>) {
    for (idx, pool) in pools.iter().enumerate() {
        let mut quota = 0_u128;
        let mut assigned = 0_u128;
        for volume in volumes {
            let Some((pool_idx, bytes, by_hand)) = volume.pool else { continue };
            if usize::from(pool_idx) != idx {
                continue;
            }
            let (quota_before, assigned_before) = (quota, assigned);
            quota += u128::from(bytes);
            assigned += u128::from(by_hand.unwrap_or(0));
            let name = &pool.pool.name;
            let size = u128::from(pool.size_bytes);
            if quota > size && quota_before <= size {
                let text = format!("the quotas of pool `{name}` are larger than the pool");
                let help = format!("{} of {} GiB", quota >> 30, size >> 30);
                let finding = Diagnostic::error("pool-full", text).help(help);
                parser.findings.add(finding, &volume.at);
            }
            let throughput = u128::from(pool.pool.throughput.per_s);
            if assigned > throughput && assigned_before <= throughput {
                let text = format!("more throughput is assigned than pool `{name}` has");
                let help = format!("{} of {} MiB/s", assigned >> 20, throughput >> 20);
                let finding = Diagnostic::error("pool-full", text).help(help);
                parser.findings.add(finding, &volume.at);
            }
        }
    }
}
