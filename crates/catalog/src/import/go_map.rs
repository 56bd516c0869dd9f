//! The maps of azuredisk-csi-driver: Go literals of `NodeInfo` and `DiskSkuInfo`.

use std::collections::BTreeMap;

use super::{ReadTable, RejectedRow, TableForm, TableKind, TableRow};

/// Field of the map, column of the catalogue. Burst fields of machines equal the base in every row
/// and say nothing.
const NODE: [(&str, &str); 4] = [
    ("MaxDataDiskCount", "max_data_disks"),
    ("VCpus", "vcpus"),
    ("MaxIops", "uncached_iops"),
    ("MaxBwMbps", "uncached_mib_s_floor"),
];

const DISK: [(&str, &str); 6] = [
    ("MaxSizeGiB", "size_gib"),
    ("MaxAllowedShares", "max_shares"),
    ("MaxIops", "iops"),
    ("MaxBwMbps", "mb_s"),
    ("MaxBurstIops", "burst_iops"),
    ("MaxBurstBwMbps", "burst_mb_s"),
];

/// Returns whether a text has such literals.
pub(super) fn fits(text: &str) -> bool {
    ["SkuName", "DiskSize"].iter().any(|field| {
        text.match_indices(field)
            .any(|(at, _)| text[at + field.len()..].trim_start().starts_with(':'))
    })
}

/// Reads every literal.
pub(super) fn read(text: &str) -> ReadTable {
    let mut read = ReadTable::empty(TableForm::GoMap);
    for (at, literal) in literals(text) {
        let line = text[..at].matches('\n').count() as u64 + 1;
        let fields = fields(literal);
        let field = |name: &str| fields.get(name).map(|value| value.trim_matches('"'));
        let (kind, name, columns) = if let Some(name) = field("SkuName") {
            (TableKind::Vms, name, &NODE[..])
        } else if let Some(name) = field("DiskSize") {
            (TableKind::Disks, name, &DISK[..])
        } else {
            continue;
        };
        let account = field("StorageAccountType").unwrap_or("");
        if name.is_empty() {
            continue;
        }
        if is_chosen(account) {
            read.left_out.push(chosen(line, account, name));
            continue;
        }
        match cells(columns, &fields) {
            Ok(mut cells) => {
                if let Some(vcpus) = constrained(name).filter(|_| kind == TableKind::Vms) {
                    cells.insert("vcpus", format!("={vcpus}"));
                }
                read.rows.push(TableRow { line, kind, name: name.to_owned(), cells });
            }
            Err(why) => read.rejected.push(RejectedRow { line, name: name.to_owned(), why }),
        }
    }
    read.ignored = vec!["MaxBurstIops and MaxBurstBwMbps of machines".to_owned()];
    read
}

/// Returns whether disks of an account type have limits that are chosen.
pub(super) fn is_chosen(account: &str) -> bool {
    account.contains("V2") || account.contains("Ultra")
}

/// Returns why a row of such a type is left out: it has rules instead of tiers.
pub(super) fn chosen(line: u64, account: &str, tier: &str) -> RejectedRow {
    let why = "its size and limits are chosen freely: the catalogue has its rules, not \
               tiers"
        .to_owned();
    RejectedRow { line, name: format!("{account} {tier}"), why }
}

/// Returns the processors of a size that has some of them switched off: 4 of `DS14-4_v2`, which the
/// map gives the 16 of DS14_v2.
pub(super) fn constrained(name: &str) -> Option<u32> {
    let short = name.strip_prefix("Standard_").unwrap_or(name);
    let (size, rest) = short.split_once('-')?;
    let cores = size.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_size = !cores.is_empty() && cores.bytes().all(|c| c.is_ascii_digit());
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok().filter(|_| is_size)
}

/// Returns the innermost brace groups that name a size, with their offsets.
fn literals(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('{').filter_map(|(at, _)| {
        let inner = &text[at + 1..];
        let end = inner.find(['{', '}'])?;
        inner[end..].starts_with('}').then(|| (at, &inner[..end]))
    })
}

fn fields(literal: &str) -> BTreeMap<&str, &str> {
    let pairs = literal.split([',', '\n']).filter_map(|pair| pair.split_once(':'));
    pairs.map(|(name, value)| (name.trim(), value.trim())).collect()
}

fn cells(
    columns: &[(&'static str, &'static str)],
    fields: &BTreeMap<&str, &str>,
) -> Result<BTreeMap<&'static str, String>, String> {
    let mut cells = BTreeMap::new();
    for (field, column) in columns {
        let Some(value) = fields.get(field) else { continue };
        let number: u64 = value.parse().map_err(|_| format!("{field} `{value}` is no number"))?;
        if number > 0 {
            cells.insert(*column, number.to_string());
        }
    }
    for (burst, base) in [("burst_iops", "iops"), ("burst_mb_s", "mb_s")] {
        if cells.get(burst).is_some_and(|burst: &String| cells.get(base) == Some(burst)) {
            cells.remove(burst);
        }
    }
    if cells.is_empty() { Err("no figures".to_owned()) } else { Ok(cells) }
}
