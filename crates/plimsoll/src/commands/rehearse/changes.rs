//! What tells two designs apart, in words.

use catalog::Cloud;
use units::{format_bytes, format_count, format_latency_ns};
use volume::design::{Backing, Disk, NetworkVolume, Stripe, Vm, Volume};
use volume::{Cap, Design, Limit};

use super::rate_as_published;

/// A line for each part that changed: `/mnt/p30: P30 -> P40: 5,000 -> 7,500 IOPS`. Both designs
/// have the same volumes.
pub(super) fn changes(old: &Design, new: &Design) -> Vec<String> {
    let mut lines = Vec::new();
    let (machine, before) = (Vm::default(), Vm::default());
    let (old_vm, new_vm) =
        (old.vm.as_ref().unwrap_or(&before), new.vm.as_ref().unwrap_or(&machine));
    let mut parts = Vec::new();
    from_to(&mut parts, "", name(&old_vm.size), name(&new_vm.size));
    of_cap(&mut parts, "", &old_vm.uncached, &new_vm.uncached);
    of_cap(&mut parts, "cached ", &old_vm.cached, &new_vm.cached);
    let cache = |vm: &Vm| vm.cache_bytes.map_or("none".to_owned(), format_bytes);
    from_to(&mut parts, "host cache ", cache(old_vm), cache(new_vm));
    add_line(&mut lines, "machine", &parts);
    for (old, new) in old.volumes.iter().zip(&new.volumes) {
        add_line(&mut lines, &new.mount, &of_volume(old, new));
    }
    if lines.is_empty() && is_other(old, new) {
        lines.push("what no cap shows, such as clients and pools".to_owned());
    }
    lines
}

/// Returns whether more differs than what a design is called.
fn is_other(old: &Design, new: &Design) -> bool {
    *old != Design { name: old.name.clone(), ..new.clone() }
}

/// What a real provider would not do as simply as a rehearsal does it.
pub(super) fn warnings(old: &Design, new: &Design) -> Vec<String> {
    let mut warnings = Vec::new();
    for (was, is) in old.volumes.iter().zip(&new.volumes) {
        let (Backing::Disks(before), Backing::Disks(after)) = (&was.backing, &is.backing) else {
            continue;
        };
        let (Some(before), Some(after)) = (before.disks.first(), after.disks.first()) else {
            continue;
        };
        if after.size_bytes < before.size_bytes {
            let (small, large) = (format_bytes(after.size_bytes), format_bytes(before.size_bytes));
            warnings.push(format!(
                "`{}` goes from {large} to {small}: a provider lets disks grow and not shrink; \
                 for the real one, make a new disk and copy",
                is.mount
            ));
        }
        let clouds = (cloud(old, before), cloud(new, after));
        if let (Some(from), Some(to)) = clouds
            && from != to
        {
            warnings.push(format!(
                "`{}` goes from a disk of {from} to one of {to}: the data would have to be copied",
                is.mount
            ));
        }
    }
    warnings
}

/// The provider of a disk, where the catalogue has it.
fn cloud(design: &Design, disk: &Disk) -> Option<Cloud> {
    design.rows()?.disk(&disk.sku)?.cloud()
}

fn name(size: &str) -> String {
    if size.is_empty() { "none".to_owned() } else { size.replacen("Standard_", "", 1) }
}

fn add_line(lines: &mut Vec<String>, what: &str, parts: &[String]) {
    if !parts.is_empty() {
        lines.push(format!("{what}: {}", parts.join(", ")));
    }
}

fn from_to(parts: &mut Vec<String>, what: &str, old: impl AsRef<str>, new: impl AsRef<str>) {
    let (old, new) = (old.as_ref(), new.as_ref());
    if old != new {
        parts.push(format!("{what}{old} -> {new}"));
    }
}

fn of_volume(old: &Volume, new: &Volume) -> Vec<String> {
    let mut parts = Vec::new();
    match (&old.backing, &new.backing) {
        (Backing::Disks(old), Backing::Disks(new)) => of_disks(&mut parts, old, new),
        (Backing::Network(old), Backing::Network(new)) => of_network(&mut parts, old, new),
        (Backing::Disks(_), Backing::Network(_)) | (Backing::Network(_), Backing::Disks(_)) => {}
    }
    let size = |volume: &Volume| format_bytes(volume.capacity_bytes);
    from_to(&mut parts, "size ", size(old), size(new));
    let latency = |volume: &Volume| format_latency_ns(volume.latency.mean_ns);
    from_to(&mut parts, "latency ", latency(old), latency(new));
    parts
}

fn of_disks(parts: &mut Vec<String>, old: &Stripe, new: &Stripe) {
    let n_disks = new.disks.len();
    let (Some(old), Some(new)) = (old.disks.first(), new.disks.first()) else { return };
    from_to(parts, "", old.sku.clone(), new.sku.clone());
    // A stripe is one of equal disks, and stays one.
    let each = if n_disks > 1 { "each " } else { "" };
    of_cap(parts, each, &old.cap, &new.cap);
    from_to(parts, "cache ", format!("{:?}", old.cache), format!("{:?}", new.cache));
    if let Some(first) = parts.first_mut().filter(|_| n_disks > 1) {
        first.insert_str(0, &format!("all {n_disks} disks "));
    }
}

fn of_network(parts: &mut Vec<String>, old: &NetworkVolume, new: &NetworkVolume) {
    from_to(parts, "", old.level.clone(), new.level.clone());
    from_to(parts, "", rate(old.quota.as_ref()), rate(new.quota.as_ref()));
}

fn of_cap(parts: &mut Vec<String>, what: &str, old: &Cap, new: &Cap) {
    from_to(parts, what, iops(old.iops.as_ref()), iops(new.iops.as_ref()));
    from_to(parts, what, rate(old.bytes.as_ref()), rate(new.bytes.as_ref()));
}

fn iops(limit: Option<&Limit>) -> String {
    limit.map_or("unlimited".to_owned(), |limit| format!("{} IOPS", format_count(limit.per_s)))
}

fn rate(limit: Option<&Limit>) -> String {
    limit.map_or("unlimited".to_owned(), |limit| {
        rate_as_published(limit.per_s as f64, &limit.origin)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &[&str], warned: &[&str]) {
        let parse = |text: &str| {
            let (design, findings) = volume::design::parse(text);
            design.unwrap_or_else(|| panic!("{findings:?}"))
        };
        let (old, new) = (parse(old), parse(new));
        assert_eq!(changes(&old, &new), expected);
        let warnings = warnings(&old, &new);
        assert_eq!(warnings.len(), warned.len(), "{warnings:?}");
        for (warning, part) in warnings.iter().zip(warned) {
            assert!(warning.contains(part), "{warning}");
        }
    }

    const P30: &str = "[[volume]]\nmount = \"/a\"\ndisk = \"P30\"\n";

    #[test]
    fn a_tier_says_what_it_brings() {
        let p40 = P30.replace("P30", "P40");
        let up = "/a: P30 -> P40, 5,000 IOPS -> 7,500 IOPS, 200 MB/s -> 250 MB/s, \
                  size 1.00 TiB -> 2.00 TiB";
        check(P30, &p40, &[up], &[]);
        let down = "/a: P40 -> P30, 7,500 IOPS -> 5,000 IOPS, 250 MB/s -> 200 MB/s, \
                    size 2.00 TiB -> 1.00 TiB";
        check(&p40, P30, &[down], &["grow and not shrink"]);
        // As the design takes what the catalogue publishes.
        let binary = |text: &str| format!("mb_bytes = 1048576\n{text}");
        let up = up.replace("MB/s", "MiB/s");
        check(&binary(P30), &binary(&p40), &[&up], &[]);
    }

    #[test]
    fn all_disks_of_a_stripe_change_at_once() {
        let stripe = format!("{P30}count = 4\n");
        let line = "/a: all 4 disks P30 -> P40, each 5,000 IOPS -> 7,500 IOPS, \
                    each 200 MB/s -> 250 MB/s, size 4.00 TiB -> 8.00 TiB";
        check(&stripe, &stripe.replace("P30", "P40"), &[line], &[]);
    }

    #[test]
    fn another_provider_is_warned_of_and_nothing_is_nothing() {
        check(P30, P30, &[], &[]);
        let gp3 = "[[volume]]\nmount = \"/a\"\ndisk = \"gp3\"\nsize = \"2TiB\"\n";
        let line = "/a: P30 -> gp3, 5,000 IOPS -> 3,000 IOPS, 200 MB/s -> 125 MiB/s, \
                    size 1.00 TiB -> 2.00 TiB, latency 2.00 ms -> 1.00 ms";
        let (old, new) = (volume::design::parse(P30).0, volume::design::parse(gp3).0);
        let (old, new) = (old.expect("a design"), new.expect("a design"));
        let said = changes(&old, &new);
        assert!(said[0].starts_with(&line[..60]), "{said:?}");
        assert!(warnings(&old, &new)[0].contains("AWS"), "{:?}", warnings(&old, &new));
    }

    #[test]
    fn a_machine_and_a_cache_mode_are_named() {
        let on =
            |vm: &str, cache: &str| format!("[vm]\nsize = \"{vm}\"\n{P30}cache = \"{cache}\"\n");
        let line = "/a: cache ReadWrite -> None";
        check(&on("DS14", "ReadWrite"), &on("DS14", "None"), &[line], &[]);
        let machine = "machine: DS14 -> DS13, 51,200 IOPS -> 25,600 IOPS";
        let parse = |text: &str| volume::design::parse(text).0.expect("a design");
        let said = changes(&parse(&on("DS14", "None")), &parse(&on("DS13", "None")));
        assert!(said[0].starts_with(machine), "{said:?}");
    }
}
