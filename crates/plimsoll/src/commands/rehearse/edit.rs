//! Changes to the text of a design.

use std::sync::Arc;

use toml::{Table, Value};
use volume::design::{Catalog, parse_with};

use crate::exit::Failure;

/// What to change; the rest stays as it is.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Edit {
    /// Disk tier or type, such as `P40`.
    #[arg(long, value_name = "NAME")]
    disk: Option<String>,

    /// Size of each disk, where the type leaves it open, such as `2TiB`.
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,

    /// Operations per second that are provisioned, where the type leaves them open, such as `5k`.
    #[arg(long, value_name = "N", value_parser = count)]
    iops: Option<u64>,

    /// Throughput that is provisioned or assigned, such as `300MB/s`.
    #[arg(long, value_name = "RATE")]
    throughput: Option<String>,

    /// Host cache of the disks: None, ReadOnly or ReadWrite.
    #[arg(long, value_name = "MODE")]
    cache_mode: Option<String>,

    /// Service level of a network volume, or of the pool that it is in: Standard, Premium or Ultra.
    #[arg(long, value_name = "NAME")]
    level: Option<String>,

    /// Quota of a network volume, such as `4TiB`.
    #[arg(long, value_name = "SIZE")]
    quota: Option<String>,

    /// Size of the virtual machine, such as `D32s_v3`.
    #[arg(long, value_name = "SIZE")]
    vm: Option<String>,
}

impl Edit {
    /// Names of the arguments, as clap knows them.
    pub(super) const NAMES: [&'static str; 8] =
        ["disk", "size", "iops", "throughput", "cache_mode", "level", "quota", "vm"];

    /// Returns whether nothing is to be changed.
    pub(super) fn is_empty(&self) -> bool {
        self.vm.is_none() && self.of_volume().is_empty()
    }

    /// Returns the keys of a volume with their new values.
    fn of_volume(&self) -> Vec<(&'static str, Value)> {
        let texts = [
            ("disk", &self.disk),
            ("size", &self.size),
            ("throughput", &self.throughput),
            ("cache", &self.cache_mode),
            ("service", &self.level),
            ("quota", &self.quota),
        ];
        let text = |(key, value): (&'static str, &Option<String>)| {
            value.clone().map(|value| (key, Value::String(value)))
        };
        let mut keys: Vec<_> = texts.into_iter().filter_map(text).collect();
        let iops = self.iops.and_then(|iops| i64::try_from(iops).ok());
        keys.extend(iops.map(|iops| ("iops", Value::Integer(iops))));
        keys
    }
}

/// Reads a number of operations as a demand's are read: `16000`, `16k`.
fn count(text: &str) -> Result<u64, String> {
    match units::parse_count(text) {
        Ok(0) => Err("at least 1, such as `5000` or `5k`".to_owned()),
        Ok(count) => Ok(count),
        Err(error) => Err(format!("{error}; write it as `5000` or `5k`")),
    }
}

/// A changed design.
#[derive(Debug)]
pub(super) struct Edited {
    /// Its text.
    pub(super) text: String,
    /// What of the volume was left out, since the new type of disk does not have it.
    pub(super) dropped: Vec<&'static str>,
}

/// What a type of disk may leave open; another type may not.
const PROVISIONED: [&str; 5] = ["performance_plus", "burst", "throughput", "iops", "size"];

/// Changes one volume of a design, and its machine. What the text says besides, comments and
/// order, is not kept.
pub(super) fn apply(
    edit: &Edit,
    volume: Option<&str>,
    text: &str,
    catalog: &Arc<Catalog>,
) -> Result<Edited, Failure> {
    let mut design: Table = text
        .parse()
        .map_err(|error| Failure::wrong_use(format!("the design in force is not read: {error}")))?;
    if let Some(size) = &edit.vm {
        let machine = design.entry("vm").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(machine) = machine {
            machine.insert("size".to_owned(), Value::String(size.clone()));
        }
    }
    let keys = edit.of_volume();
    let mut dropped = Vec::new();
    if !keys.is_empty() {
        let named: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        let chosen = chosen(&mut design, volume)?;
        fits(edit, chosen)?;
        if edit.disk.is_some()
            && let Some(Value::Array(listed)) = chosen.remove("disks")
        {
            let n_disks = i64::try_from(listed.len()).unwrap_or(i64::MAX);
            chosen.insert("count".to_owned(), Value::Integer(n_disks));
        }
        let pool = chosen.get("pool").and_then(Value::as_str).map(str::to_owned);
        let mut level = None;
        for (key, value) in keys {
            if key == "service" && pool.is_some() {
                // A pool has one level for all its volumes.
                chosen.remove(key);
                level = Some(value);
            } else {
                chosen.insert(key.to_owned(), value);
            }
        }
        if let (Some(pool), Some(level)) = (pool, level) {
            set_level(&mut design, &pool, &level);
        }
        if edit.disk.is_some() {
            dropped = drop_unfit(&mut design, volume, &named, catalog)?;
        }
    }
    Ok(Edited { text: design.to_string(), dropped })
}

/// Gives a pool another service level. Volumes that repeat the pool's say the new one.
fn set_level(design: &mut Table, pool: &str, level: &Value) {
    let of_pool = |table: &Table, key: &str| table.get(key).and_then(Value::as_str) == Some(pool);
    for (list, key) in [("volume", "pool"), ("pool", "name")] {
        let tables = design.get_mut(list).and_then(Value::as_array_mut);
        for table in tables.into_iter().flatten().filter_map(Value::as_table_mut) {
            if of_pool(table, key) && (list == "pool" || table.contains_key("service")) {
                table.insert("service".to_owned(), level.clone());
            }
        }
    }
}

/// Finds the volume to change in a design.
fn chosen<'d>(design: &'d mut Table, volume: Option<&str>) -> Result<&'d mut Table, Failure> {
    let volumes = design.get_mut("volume").and_then(Value::as_array_mut);
    choose(volumes.map_or(&mut [], |volumes| volumes.as_mut_slice()), volume)
}

/// Takes out what was provisioned for another type of disk and is a mistake with this one.
fn drop_unfit(
    design: &mut Table,
    volume: Option<&str>,
    named: &[&str],
    catalog: &Arc<Catalog>,
) -> Result<Vec<&'static str>, Failure> {
    let mut dropped = Vec::new();
    for key in PROVISIONED.into_iter().filter(|key| !named.contains(key)) {
        let n_before = n_errors(design, catalog);
        if n_before == 0 {
            break;
        }
        let Some(value) = chosen(design, volume)?.remove(key) else { continue };
        if n_errors(design, catalog) < n_before {
            dropped.push(key);
        } else {
            chosen(design, volume)?.insert(key.to_owned(), value);
        }
    }
    Ok(dropped)
}

fn n_errors(design: &Table, catalog: &Arc<Catalog>) -> usize {
    let (_, findings) = parse_with(&design.to_string(), catalog);
    findings.iter().filter(|finding| finding.severity == plan::Severity::Error).count()
}

/// Refuses what only the other kind of volume has.
fn fits(edit: &Edit, volume: &Table) -> Result<(), Failure> {
    let of_disks = [
        ("--disk", edit.disk.is_some()),
        ("--iops", edit.iops.is_some()),
        ("--size", edit.size.is_some()),
        ("--cache-mode", edit.cache_mode.is_some()),
    ];
    let of_network = [("--level", edit.level.is_some()), ("--quota", edit.quota.is_some())];
    let is_network = ["service", "quota", "pool"].iter().any(|key| volume.contains_key(*key));
    let (wrong, is, hint) = if is_network {
        (&of_disks[..], "a volume of a network service", "change --level, --quota or --throughput")
    } else {
        (&of_network[..], "made of disks", "change --disk, --size or --cache-mode")
    };
    match wrong.iter().find(|(_, is_asked)| *is_asked) {
        None => Ok(()),
        Some((option, _)) => {
            let mount = volume.get("mount").and_then(Value::as_str).unwrap_or_default();
            Err(Failure::wrong_use(format!("`{option}` does not fit `{mount}`, which is {is}"))
                .hint(hint))
        }
    }
}

fn mount(volume: &Value) -> Option<&str> {
    volume.get("mount").and_then(Value::as_str)
}

/// Finds the volume to change.
fn choose<'v>(volumes: &'v mut [Value], name: Option<&str>) -> Result<&'v mut Table, Failure> {
    let known: Vec<String> = volumes.iter().filter_map(mount).map(str::to_owned).collect();
    let known = known.join(", ");
    let chosen = match name {
        Some(name) => volumes.iter_mut().find(|volume| mount(volume) == Some(name)),
        None if volumes.len() == 1 => volumes.first_mut(),
        None => {
            return Err(Failure::wrong_use("the design has several volumes")
                .hint(format!("name one with --volume: {known}")));
        }
    };
    let unknown = || {
        let name = name.unwrap_or_default();
        Failure::wrong_use(format!("the design has no volume `{name}`"))
            .hint(format!("it has {known}"))
    };
    chosen.and_then(Value::as_table_mut).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(edit: &Edit, volume: Option<&str>, text: &str) -> Result<Edited, Failure> {
        apply(edit, volume, text, Catalog::built_in())
    }

    const TWO: &str = "[vm]\nsize = \"DS14\"\n\
        [[volume]]\nmount = \"/a\"\ndisk = \"P30\"\n[[volume]]\nmount = \"/b\"\ndisk = \"P20\"\n";

    #[track_caller]
    fn check(edit: &Edit, volume: Option<&str>, expected: &[&str]) {
        let text = applied(edit, volume, TWO).expect("an edit").text;
        for part in expected {
            assert!(text.contains(part), "{text}");
        }
        let (design, findings) = volume::design::parse(&text);
        assert!(design.is_some(), "{findings:?}");
    }

    #[test]
    fn what_the_other_kind_of_volume_has_is_refused() {
        let quota = Edit { quota: Some("4TiB".to_owned()), ..Edit::default() };
        assert!(applied(&quota, Some("/a"), TWO).is_err());
        let network = "[[volume]]\nmount = \"/n\"\nservice = \"Ultra\"\nquota = \"4TiB\"\n";
        let disk = Edit { disk: Some("P40".to_owned()), ..Edit::default() };
        assert!(applied(&disk, None, network).is_err());
        assert!(applied(&quota, None, network).is_ok());
    }

    #[test]
    fn one_volume_changes_and_the_others_stay() {
        let disk = Edit { disk: Some("P40".to_owned()), ..Edit::default() };
        check(&disk, Some("/a"), &["\"P40\"", "\"P20\"", "\"DS14\""]);
        let vm = Edit { vm: Some("DS13".to_owned()), ..Edit::default() };
        check(&vm, None, &["\"DS13\"", "\"P30\"", "\"P20\""]);
        let cache = Edit { cache_mode: Some("ReadOnly".to_owned()), ..Edit::default() };
        check(&cache, Some("/b"), &["cache = \"ReadOnly\""]);
    }

    #[test]
    fn what_another_type_does_not_have_is_dropped_and_what_it_has_is_kept() {
        let gp3 = "[[volume]]\nmount = \"/a\"\ndisk = \"gp3\"\nsize = \"1TiB\"\n\
            iops = 5000\nthroughput = \"300MB/s\"\n";
        let p30 = Edit { disk: Some("P30".to_owned()), ..Edit::default() };
        let Edited { text, dropped } = applied(&p30, None, gp3).expect("an edit");
        assert_eq!(dropped, ["throughput", "iops", "size"]);
        assert!(volume::design::parse(&text).0.is_some(), "{text}");
        // What the user names is the user's mistake.
        let named = Edit { iops: Some(7_000), ..p30 };
        let Edited { text, dropped } = applied(&named, None, gp3).expect("an edit");
        assert!(text.contains("iops = 7000") && !dropped.contains(&"iops"), "{text}");
        let listed = "[[volume]]\nmount = \"/a\"\ndisks = [\"P30\", \"P30\"]\n";
        let p40 = Edit { disk: Some("P40".to_owned()), ..Edit::default() };
        let Edited { text, .. } = applied(&p40, None, listed).expect("an edit");
        assert!(volume::design::parse(&text).0.is_some() && text.contains("count = 2"), "{text}");
    }

    #[test]
    fn operations_are_counted_as_in_a_demand() {
        assert_eq!((count("5k"), count("16000")), (Ok(5_000), Ok(16_000)));
        assert!(count("0").is_err());
        assert!(count("many").is_err_and(|error| error.contains("`5k`")));
    }

    #[test]
    fn a_volume_must_be_named_where_there_are_several() {
        let edit = Edit { size: Some("2TiB".to_owned()), ..Edit::default() };
        assert!(applied(&edit, None, TWO).is_err());
        assert!(applied(&edit, Some("/c"), TWO).is_err());
    }

    #[test]
    fn a_volume_of_a_pool_changes_by_quota_and_its_pool_by_level() {
        let pool = "[[pool]]\nname = \"p\"\nservice = \"Ultra\"\nsize = \"4TiB\"\nqos = \"auto\"\n\
                    [[volume]]\nmount = \"/a\"\npool = \"p\"\nquota = \"2TiB\"\n\
                    [[volume]]\nmount = \"/b\"\npool = \"p\"\nquota = \"2TiB\"\n";
        let carries = |text: &str| -> Vec<u64> {
            let (design, findings) = volume::design::parse(text);
            let design = design.unwrap_or_else(|| panic!("{findings:?}"));
            let quota = |volume: &volume::design::Volume| match &volume.backing {
                volume::design::Backing::Network(volume) => {
                    volume.quota.as_ref().map_or(0, |quota| quota.per_s >> 20)
                }
                volume::design::Backing::Disks(_) => 0,
            };
            design.volumes.iter().map(quota).collect()
        };
        assert_eq!(carries(pool), [256, 256]);
        let quota = Edit { quota: Some("1TiB".to_owned()), ..Edit::default() };
        let text = applied(&quota, Some("/b"), pool).expect("an edit").text;
        assert_eq!(carries(&text), [256, 128]);
        let level = Edit { level: Some("Premium".to_owned()), ..Edit::default() };
        let text = applied(&level, Some("/b"), &text).expect("an edit").text;
        assert_eq!(carries(&text), [128, 64]);
        let disk = Edit { disk: Some("P30".to_owned()), ..Edit::default() };
        let refused = applied(&disk, Some("/a"), pool).expect_err("no disk");
        assert!(format!("{refused:?}").contains("a volume of a network service"), "{refused:?}");
    }
}
