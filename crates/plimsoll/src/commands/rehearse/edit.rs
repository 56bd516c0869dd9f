//! Changes to the text of a design.

use toml::{Table, Value};

use crate::exit::Failure;

/// What to change; the rest stays as it is.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Edit {
    /// Disk tier or type, such as `P40`.
    #[arg(long, value_name = "NAME")]
    disk: Option<String>,

    /// Number of disks in the stripe.
    #[arg(long, value_name = "N")]
    count: Option<u32>,

    /// Size of each disk, where the type leaves it open, such as `2TiB`.
    #[arg(long, value_name = "SIZE")]
    size: Option<String>,

    /// Operations per second that are provisioned, where the type leaves them open.
    #[arg(long, value_name = "N")]
    iops: Option<u64>,

    /// Throughput that is provisioned or assigned, such as `300MB/s`.
    #[arg(long, value_name = "RATE")]
    throughput: Option<String>,

    /// Host cache of the disks: None, ReadOnly or ReadWrite.
    #[arg(long, value_name = "MODE")]
    cache_mode: Option<String>,

    /// Service level of a network volume: Standard, Premium or Ultra.
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
    pub(super) const NAMES: [&'static str; 9] =
        ["disk", "count", "size", "iops", "throughput", "cache_mode", "level", "quota", "vm"];

    /// Says whether nothing is to be changed.
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
        keys.extend(self.count.map(|count| ("count", Value::Integer(i64::from(count)))));
        let iops = self.iops.and_then(|iops| i64::try_from(iops).ok());
        keys.extend(iops.map(|iops| ("iops", Value::Integer(iops))));
        keys
    }
}

/// Changes one volume of a design, and its machine. What the text says besides, comments and
/// order, is not kept.
pub(super) fn apply(edit: &Edit, volume: Option<&str>, text: &str) -> Result<String, Failure> {
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
    if !keys.is_empty() {
        let volumes = design.get_mut("volume").and_then(Value::as_array_mut);
        let chosen = choose(volumes.map_or(&mut [], |volumes| volumes.as_mut_slice()), volume)?;
        fits(edit, chosen)?;
        for (key, value) in keys {
            chosen.insert(key.to_owned(), value);
        }
    }
    Ok(design.to_string())
}

/// Refuses what only the other kind of volume has.
fn fits(edit: &Edit, volume: &Table) -> Result<(), Failure> {
    let of_disks = [
        ("--disk", edit.disk.is_some()),
        ("--count", edit.count.is_some()),
        ("--iops", edit.iops.is_some()),
        ("--size", edit.size.is_some()),
        ("--cache-mode", edit.cache_mode.is_some()),
    ];
    let of_network = [("--level", edit.level.is_some()), ("--quota", edit.quota.is_some())];
    let is_network = volume.contains_key("service");
    let (wrong, is, hint) = if is_network {
        (&of_disks[..], "a volume of a network service", "change --level, --quota or --throughput")
    } else {
        (&of_network[..], "made of disks", "change --disk, --count, --size or --cache-mode")
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

    const TWO: &str = "[vm]\nsize = \"DS14\"\n\
        [[volume]]\nmount = \"/a\"\ndisk = \"P30\"\n[[volume]]\nmount = \"/b\"\ndisk = \"P20\"\n";

    #[track_caller]
    fn check(edit: &Edit, volume: Option<&str>, expected: &[&str]) {
        let text = apply(edit, volume, TWO).expect("an edit");
        for part in expected {
            assert!(text.contains(part), "{text}");
        }
        let (design, findings) = volume::design::parse(&text);
        assert!(design.is_some(), "{findings:?}");
    }

    #[test]
    fn what_the_other_kind_of_volume_has_is_refused() {
        let quota = Edit { quota: Some("4TiB".to_owned()), ..Edit::default() };
        assert!(apply(&quota, Some("/a"), TWO).is_err());
        let network = "[[volume]]\nmount = \"/n\"\nservice = \"Ultra\"\nquota = \"4TiB\"\n";
        let disk = Edit { disk: Some("P40".to_owned()), ..Edit::default() };
        assert!(apply(&disk, None, network).is_err());
        assert!(apply(&quota, None, network).is_ok());
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
    fn a_volume_must_be_named_where_there_are_several() {
        let edit = Edit { count: Some(2), ..Edit::default() };
        assert!(apply(&edit, None, TWO).is_err());
        assert!(apply(&edit, Some("/c"), TWO).is_err());
    }
}
