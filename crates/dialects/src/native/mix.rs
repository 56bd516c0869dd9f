//! `[unit.component.mix]`: operations with their shares in percent.

use std::ops::Range;

use plan::Diagnostic;
use plan::keys::{Findings, Keys};
use plan::op::OpKind;
use plan::tree::{
    Before, FileIo, Locality, Select, SelectFilter, SelectOrder, StopAfter, TreeTask,
};
use plan::workload::BlockSize;

use super::tree_read::{locality, order, transfer_sizes};
use crate::mix_op::{Manner, MixOp};

/// Operations of published mixes whose meaning is not published. Their share can be 0.
const UNPUBLISHED: [&str; 2] = ["custom1", "custom2"];

/// What a component does.
#[derive(Default)]
pub(super) struct Mix {
    pub(super) tasks: Vec<TreeTask>,
    /// Files come and go, or names without one are needed.
    pub(super) makes_files: bool,
    /// Folders come and go.
    pub(super) makes_folders: bool,
    /// Where an operation on whole files stands.
    pub(super) whole_at: Option<Range<usize>>,
}

/// Sizes of transfers and the order of files, for all operations of a component.
struct Common {
    read_sizes: Option<BlockSize>,
    write_sizes: Option<BlockSize>,
    select: Select,
    hot_places: Option<Locality>,
}

/// Reads the mix of a component, and what its operations have in common.
pub(super) fn read(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Mix {
    let at = keys.at.clone();
    let common = Common {
        read_sizes: transfer_sizes(keys, "read_sizes", findings),
        write_sizes: transfer_sizes(keys, "write_sizes", findings),
        select: Select {
            order: files_order(keys, findings).unwrap_or(Select::default().order),
            ..Select::default()
        },
        hot_places: locality(keys, "locality_in_files", findings),
    };
    let hot_at = common.hot_places.and_then(|_| Some(keys.get("locality_in_files")?.span()));
    let has = [keys.get("read_sizes").is_some(), keys.get("write_sizes").is_some()];
    let Some(table) = keys.table("mix", findings) else {
        if keys.get("mix").is_none() {
            let text = "a component needs [unit.component.mix], operations with their percent";
            findings.error("missing-key", &at, text);
        }
        return Mix::default();
    };
    let mut mix = Mix::default();
    let mut sum_pct = 0.0;
    for ((name, name_at), share) in table.rest() {
        let found = MixOp::of_name(name);
        let pct = share_pct(name, share, findings);
        sum_pct += pct.unwrap_or(0.0);
        let is_unpublished = UNPUBLISHED.contains(&name);
        let Some((operation, manner)) = found.map(MixOp::work) else {
            if !is_unpublished {
                findings.add(unknown(name), &name_at);
            } else if pct.is_some_and(|pct| pct > 0.0) {
                let text = format!(
                    "what `{name}` does is not public: its share can only be 0, expected one of \
                     the other operations instead"
                );
                findings.error("unknown-operation", &name_at, text);
            }
            continue;
        };
        let Some(pct) = pct.filter(|pct| *pct > 0.0) else { continue };
        if matches!(manner, Manner::Whole | Manner::Copy) {
            mix.whole_at.get_or_insert(name_at.clone());
        }
        let sizes = match (operation, manner) {
            (_, Manner::Name | Manner::Whole | Manner::Copy) => None,
            (OpKind::Read | OpKind::MapRead, _) => Some(("read_sizes", &common.read_sizes, has[0])),
            (
                _,
                Manner::Random | Manner::ReadFirst | Manner::Mapped | Manner::End | Manner::Next,
            ) => Some(("write_sizes", &common.write_sizes, has[1])),
        };
        if let Some((key, None, false)) = sizes {
            let text = format!("`{name}` needs `{key}` of its component, such as \"4KiB\"");
            findings.error("missing-key", &name_at, text);
        }
        let block_size = sizes.and_then(|(_, sizes, _)| sizes.clone());
        mix.tasks.push(task(name, pct, (operation, manner), block_size, &common));
    }
    if (sum_pct - 100.0).abs() > 0.001 {
        let text = format!("the shares of the mix add up to {sum_pct} percent, expected 100");
        findings.error("out-of-range", &table.at, text);
    }
    mix.check_balance(&table.at, findings);
    if let Some(at) = hot_at.filter(|_| mix.tasks.iter().all(|task| task.hot_places.is_none())) {
        let text = "`locality_in_files` has no effect: nothing in the mix is at random places";
        findings.error("no-effect", &at, text);
    }
    mix
}

/// Reads which file is next: by `select`, or by `locality`.
fn files_order(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<SelectOrder> {
    let select = order(keys, findings);
    let at = keys.get("locality").map(toml::Spanned::span);
    let hot = locality(keys, "locality", findings).map(SelectOrder::Hot);
    if let (Some(at), Some(_)) = (at, select) {
        let text = "`select` and `locality` both say which file is next; leave one of them out";
        findings.error("conflict", &at, text);
    }
    hot.or(select)
}

/// Reads the share of an operation: percent with at most two decimals.
fn share_pct(
    name: &str,
    share: &toml::Spanned<toml::de::DeValue<'_>>,
    findings: &mut Findings<'_>,
) -> Option<f64> {
    use toml::de::DeValue;
    let digits = match share.get_ref() {
        DeValue::Float(digits) => digits.as_str(),
        DeValue::Integer(digits) => digits.as_str(),
        _ => "",
    };
    let pct = digits.parse::<f64>().ok().filter(|pct| {
        let is_fine = (pct * 100.0 - (pct * 100.0).round()).abs() < 1e-6;
        (0.0..=100.0).contains(pct) && is_fine
    });
    if pct.is_none() {
        let text = format!("`{name}` is a share from 0 to 100 percent, with at most two decimals");
        findings.error("out-of-range", &share.span(), text);
    }
    pct
}

fn unknown(name: &str) -> Diagnostic {
    let known = MixOp::ALL.map(MixOp::name);
    let finding = Diagnostic::error("unknown-operation", format!("unknown operation `{name}`"));
    match units::nearest(name, known.iter().copied()).first() {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help(format!("known here: {}", known.join(", "))),
    }
}

fn task(
    name: &str,
    weight: f64,
    (operation, manner): (OpKind, Manner),
    block_size: Option<BlockSize>,
    common: &Common,
) -> TreeTask {
    let sequential = FileIo::Sequential { nonzero: false, delete: false };
    let usual = TreeTask::default();
    let (io, stop_after) = match manner {
        Manner::Name => (usual.io, None),
        Manner::Whole | Manner::Copy | Manner::Next => (sequential, None),
        Manner::Random | Manner::ReadFirst | Manner::Mapped | Manner::End => {
            (FileIo::Random { shared: false }, Some(StopAfter::Ios(1)))
        }
    };
    // A file that was created is written in full, and never made: so the number of files stays.
    let usual_filter =
        if operation == OpKind::Write { SelectFilter::Present } else { SelectFilter::Any };
    let filter = match manner {
        Manner::ReadFirst | Manner::End => SelectFilter::Full,
        Manner::Name
        | Manner::Whole
        | Manner::Random
        | Manner::Mapped
        | Manner::Copy
        | Manner::Next => usual_filter,
    };
    TreeTask {
        name: name.to_owned(),
        weight,
        operation,
        read_pct: None,
        io,
        select: Select { filter, ..common.select },
        // Those that are at random places of a file.
        hot_places: common.hot_places.filter(|_| stop_after.is_some() && manner != Manner::End),
        block_size: block_size.unwrap_or(usual.block_size),
        stop_after,
        before: match (operation, manner) {
            (_, Manner::ReadFirst) => Before::ReadsPlace,
            (_, Manner::Copy) => Before::ReadsOther,
            (OpKind::Write, Manner::End) => Before::CutsEnd,
            (
                _,
                Manner::Name
                | Manner::Whole
                | Manner::Random
                | Manner::Mapped
                | Manner::End
                | Manner::Next,
            ) => Before::Nothing,
        },
        recycles: operation == OpKind::Mkdir,
    }
}

/// Returns whether a task of a mix moves files in one transfer.
pub(super) fn moves_whole_files(task: &TreeTask) -> bool {
    let manner = MixOp::of_name(&task.name).map(|op| op.work().1);
    matches!(manner, Some(Manner::Whole | Manner::Copy))
}

/// Gives operations on whole files a transfer as large as the largest file.
pub(super) fn with_whole_files(task: TreeTask, largest: u64) -> TreeTask {
    if !moves_whole_files(&task) {
        return task;
    }
    let bytes = u32::try_from(largest).unwrap_or(u32::MAX).max(1);
    TreeTask { block_size: BlockSize::Fixed(bytes), ..task }
}

impl Mix {
    /// Checks that files and folders neither run out nor pile up.
    fn check_balance(&mut self, at: &Range<usize>, findings: &mut Findings<'_>) {
        let pct = |kind| {
            let of_kind = self.tasks.iter().filter(|task| task.operation == kind);
            // A sum of nothing would be a negative zero.
            of_kind.fold(0.0, |sum, task| sum + task.weight)
        };
        let (created, removed) = (pct(OpKind::Create), pct(OpKind::Delete));
        let (made, gone) = (pct(OpKind::Mkdir), pct(OpKind::Rmdir));
        let needs_names = [OpKind::NegStat, OpKind::Rename].iter().any(|kind| pct(*kind) > 0.0);
        self.makes_files = created > 0.0 || removed > 0.0 || needs_names;
        self.makes_folders = made > 0.0 || gone > 0.0;
        if (created - removed).abs() > 0.001 {
            let text = format!(
                "`create` is {created} percent, `unlink` and `unlink2` are {removed}: they must be \
                 equal, or the files run out or pile up"
            );
            findings.error("out-of-balance", at, text);
        }
        // Where more are made than removed, those that are there are removed and made anew.
        if gone > made + 0.001 {
            let text = format!(
                "`rmdir` is {gone} percent, `mkdir` {made}: folders would run out; lower `rmdir`"
            );
            findings.error("out-of-balance", at, text);
        }
    }
}
