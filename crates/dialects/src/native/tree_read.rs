//! `[step.job.tree]`: work on a tree of folders and files.

use std::ops::Range;
use std::str::FromStr;

use plan::keys::{Findings, Keys};
use plan::op::OpKind;
use plan::tree::{
    Activity, FileSizes, Format, Locality, Mixing, OwnTrees, Select, SelectOrder, StopAfter,
    TreeOpen, TreeSpec, TreeTask, TreeWork,
};
use plan::workload::BlockSize;

use super::text::value;
use super::tree_words::{BEFORE, FILTERS, IO, ORDERS};

/// Reads what a job does in a tree; `None` after a mistake.
pub(super) fn work(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Option<TreeWork> {
    let at = keys.at.clone();
    let target = keys.table("target", findings);
    let tasks = keys.tables("task", findings);
    let format = keys.table("format", findings);
    let open = TreeOpen {
        direct: keys.flag("direct", findings),
        dsync: keys.flag("dsync", findings),
        fsync_on_close: keys.flag("fsync_on_close", findings),
        raw_bits: count(&mut keys, "open_flag_bits", findings).unwrap_or(0),
    };
    let is_dealt = keys.flag("dealt", findings);
    let mixing = if is_dealt { Mixing::Dealt } else { Mixing::Drawn };
    let tree = spec(keys, findings)?;
    let target = match target {
        Some(keys) => Some(spec(keys, findings)?),
        None => None,
    };
    let is_format = format.is_some();
    let activity = match format {
        Some(keys) => Activity::Format(read_format(keys, findings)),
        None => Activity::Operations(tasks.into_iter().map(|keys| task(keys, findings)).collect()),
    };
    if let Activity::Operations(tasks) = &activity
        && tasks.is_empty()
        && !is_format
    {
        let text = "a tree needs [[step.job.tree.task]], or [step.job.tree.format]";
        findings.error("missing-key", &at, text);
        return None;
    }
    Some(TreeWork { tree, target, open, activity, mixing })
}

fn spec(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Option<TreeSpec> {
    let at = keys.at.clone();
    let usual = TreeSpec::default();
    let anchor = value(keys.text("anchor", findings));
    if anchor.is_none() && keys.get("anchor").is_none() {
        findings.error("missing-key", &at, "a tree needs `anchor`, the folder that holds it");
    }
    let text = |keys: &mut Keys<'_>, name, usual: &str, findings: &mut Findings<'_>| {
        keys.text(name, findings).map_or(usual, |(text, _)| text).to_owned()
    };
    let name = text(&mut keys, "name", "", findings);
    let file_mask = text(&mut keys, "file_mask", &usual.file_mask, findings);
    let folder_mask = text(&mut keys, "folder_mask", &usual.folder_mask, findings);
    let sizes = sizes(&mut keys, findings);
    let spread = keys.flag("files_in_all_folders", findings);
    let share = keys.numbers("share", findings);
    let own = keys.table("own", findings).map(|keys| own(keys, findings));
    let spec = TreeSpec {
        name,
        anchor: anchor.unwrap_or_default().to_owned(),
        create_parents: keys.flag("create_parents", findings),
        depth: count_from_1(&mut keys, "depth", findings).unwrap_or(usual.depth),
        width: count_from_1(&mut keys, "width", findings).unwrap_or(usual.width),
        files: value(keys.count("files", findings)).unwrap_or(usual.files),
        bottom_only: !spread,
        bare_folders: count(&mut keys, "bare_folders", findings).unwrap_or(0),
        sizes: sizes.unwrap_or(usual.sizes),
        file_mask,
        folder_mask,
        used_files: value(keys.count("used_files", findings)).unwrap_or(0),
        total_bytes: value(keys.bytes("total", findings)).unwrap_or(0),
        working_set_bytes: value(keys.bytes("working_set", findings)).unwrap_or(0),
        share: match share.as_deref() {
            Some([idx, n]) if is_position(*idx, *n) => (*idx as u32, *n as u32),
            Some(_) => {
                findings.error("out-of-range", &at, "`share` is [position from 0, hosts]");
                usual.share
            }
            None => usual.share,
        },
        seed: value(keys.count("seed", findings)).unwrap_or(usual.seed),
        own,
    };
    keys.finish(findings);
    anchor.is_some().then_some(spec)
}

/// Reads whose tree each worker has for its own.
fn own(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> OwnTrees {
    let mut name = |name| {
        let text = keys.text(name, findings).map_or("", |(text, _)| text);
        text.to_owned()
    };
    let (unit, component) = (name("unit"), name("component"));
    let n_per_unit = count_from_1(&mut keys, "per_unit", findings).unwrap_or(1);
    keys.finish(findings);
    OwnTrees { unit, component, n_per_unit }
}

/// Reads `sizes`: one size, `average SIZE`, or sizes with shares such as `4KiB/60 64KiB/40`.
pub(super) fn sizes(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<FileSizes> {
    let (text, at) = keys.text("sizes", findings)?;
    let bytes = |text: &str| units::parse_bytes(text).map_err(|error| error.to_string());
    let sizes = if let Some(mean) = text.strip_prefix("average ") {
        bytes(mean).map(FileSizes::Average)
    } else if text.contains('/') {
        shares(text, bytes).and_then(percentages).map(FileSizes::Split)
    } else {
        bytes(text).map(FileSizes::Fixed)
    };
    or_report("sizes", sizes, &at, findings)
}

/// Returns whether this is a position, from 0, among so many.
fn is_position(idx: f64, n: f64) -> bool {
    let is_count = |it: f64| it.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&it);
    is_count(idx) && is_count(n) && idx < n
}

/// Checks that shares in percent are all there is.
fn percentages(parts: Vec<(u64, f64)>) -> Result<Vec<(u64, f64)>, String> {
    if let Some((_, pct)) = parts.iter().find(|(_, pct)| !(0.0..=100.0).contains(pct)) {
        return Err(format!("`{pct}` is not a share from 0 to 100 percent"));
    }
    let sum: f64 = parts.iter().map(|(_, pct)| pct).sum();
    // Decimals beyond 100 count for nothing, as in Vdbench.
    if !(99.999..101.0).contains(&sum) {
        return Err(format!("the shares add up to {sum} percent, expected 100"));
    }
    Ok(parts)
}

/// Reads sizes with their shares or weights.
fn shares<S, W: FromStr>(
    text: &str,
    bytes: impl Fn(&str) -> Result<S, String>,
) -> Result<Vec<(S, W)>, String> {
    let part = |part: &str| {
        let (size, share) = part
            .split_once('/')
            .ok_or_else(|| format!("`{part}` has no share, as in `4KiB/60`"))?;
        let share = share.parse().map_err(|_| format!("`{share}` is not a number"))?;
        Ok((bytes(size)?, share))
    };
    text.split_whitespace().map(part).collect()
}

fn or_report<T>(
    name: &str,
    read: Result<T, String>,
    at: &Range<usize>,
    findings: &mut Findings<'_>,
) -> Option<T> {
    read.map_err(|why| findings.error("bad-value", at, format!("`{name}`: {why}"))).ok()
}

fn task(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> TreeTask {
    let usual = TreeTask::default();
    let operations = OpKind::ALL.map(|kind| (kind.name(), kind));
    let operation = word(&mut keys, "operation", &operations, findings);
    let task = TreeTask {
        name: keys.text("name", findings).map_or("", |(name, _)| name).to_owned(),
        weight: above_0(&mut keys, "weight", findings).unwrap_or(1.0),
        operation: operation.unwrap_or(usual.operation),
        read_pct: percent(&mut keys, "read_pct", findings),
        io: word(&mut keys, "io", &IO, findings).unwrap_or(usual.io),
        select: Select {
            order: order(&mut keys, findings).unwrap_or(usual.select.order),
            once: keys.flag("once", findings),
            filter: word(&mut keys, "filter", &FILTERS, findings).unwrap_or(usual.select.filter),
        },
        hot_places: locality(&mut keys, "hot_places", findings),
        block_size: block_size(&mut keys, findings).unwrap_or(usual.block_size),
        stop_after: match (
            value(keys.count("stop_after_ios", findings)),
            above_0(&mut keys, "stop_after_pct", findings),
        ) {
            (Some(n), _) => Some(StopAfter::Ios(n)),
            (None, Some(pct)) => Some(StopAfter::Pct(pct)),
            (None, None) => None,
        },
        before: word(&mut keys, "before", &BEFORE, findings).unwrap_or(usual.before),
        recycles: keys.flag("recycles", findings),
    };
    keys.finish(findings);
    task
}

fn read_format(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Format {
    let format = Format {
        clean: keys.flag("clean", findings),
        create: keys.flag("create", findings),
        folders_only: keys.flag("folders_only", findings),
        block_bytes: value(keys.bytes("block_size", findings))
            .map_or(128 << 10, |bytes| bytes.min(1 << 30) as u32),
    };
    keys.finish(findings);
    format
}

/// Reads `block_size`: one size, `4KiB-64KiB step 4KiB`, or sizes with weights, `4KiB/3 64KiB/1`.
fn block_size(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<BlockSize> {
    transfer_sizes(keys, "block_size", findings)
}

/// Reads bytes per I/O from a key of this name.
pub(super) fn transfer_sizes(
    keys: &mut Keys<'_>,
    name: &'static str,
    findings: &mut Findings<'_>,
) -> Option<BlockSize> {
    let (text, at) = keys.text(name, findings)?;
    let bytes = |text: &str| {
        let bytes = units::parse_bytes(text).map_err(|error| error.to_string())?;
        let fits = u32::try_from(bytes).ok().filter(|bytes| *bytes > 0);
        fits.ok_or_else(|| format!("`{text}` is not between 1 B and 4 GiB"))
    };
    let range = |range: &str, step: &str| {
        let (min, max) = range.split_once('-').ok_or("write `4KiB-64KiB step 4KiB`")?;
        Ok(BlockSize::Stepped { min: bytes(min)?, max: bytes(max)?, step: bytes(step)? })
    };
    let size = match text.split_once(" step ") {
        Some((sizes, step)) => range(sizes, step),
        None if text.contains('/') => shares(text, bytes).map(BlockSize::Weighted),
        None => bytes(text).map(BlockSize::Fixed),
    };
    or_report(name, size, &at, findings)
}

/// Reads a key with one of few words.
fn word<T: Copy>(
    keys: &mut Keys<'_>,
    name: &'static str,
    words: &[(&'static str, T)],
    findings: &mut Findings<'_>,
) -> Option<T> {
    let (text, at) = keys.text(name, findings)?;
    meaning(name, text, words, &at, findings)
}

/// Returns what a word stands for, or reports it.
fn meaning<T: Copy>(
    name: &str,
    text: &str,
    words: &[(&'static str, T)],
    at: &Range<usize>,
    findings: &mut Findings<'_>,
) -> Option<T> {
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, it)| *it);
    if found.is_none() {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let text = format!("`{name}`: unknown word `{text}`; expected one of {}", known.join(", "));
        findings.error("bad-value", at, text);
    }
    found
}

/// Reads `select`: a word, perhaps with the midpoint of its distribution, `poisson 3`.
pub(super) fn order(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<SelectOrder> {
    let (text, at) = keys.text("select", findings)?;
    let (word, given) = text.split_once(' ').map_or((text, None), |(word, it)| (word, Some(it)));
    let order = meaning("select", word, &ORDERS, &at, findings)?;
    let Some(given) = given else { return Some(order) };
    if let SelectOrder::Hot(_) = order {
        return or_report("select", locality_of(given), &at, findings).map(SelectOrder::Hot);
    }
    let midpoint = given.parse().ok().filter(|it: &f64| *it > 0.0 && it.is_finite());
    match (order, midpoint) {
        (SelectOrder::Poisson(_), Some(midpoint)) => Some(SelectOrder::Poisson(midpoint)),
        (SelectOrder::Skewed(_), Some(midpoint)) => Some(SelectOrder::Skewed(midpoint)),
        (SelectOrder::Random | SelectOrder::Seq | SelectOrder::SeqNz | SelectOrder::Hot(_), _)
        | (_, None) => {
            let text = format!(
                "`select`: `{text}` is not an order with a midpoint above 0, such as `poisson 3`"
            );
            findings.error("bad-value", &at, text);
            None
        }
    }
}

/// Reads a share of operations and what it goes to, `90/10`.
pub(super) fn locality(
    keys: &mut Keys<'_>,
    name: &'static str,
    findings: &mut Findings<'_>,
) -> Option<Locality> {
    let (text, at) = keys.text(name, findings)?;
    or_report(name, locality_of(text), &at, findings)
}

fn locality_of(text: &str) -> Result<Locality, String> {
    let share = |text: &str| text.parse().ok().filter(|pct: &f64| *pct > 0.0 && *pct <= 100.0);
    let shares = text.split_once('/').and_then(|(ops, of)| Some((share(ops)?, share(of)?)));
    let (ops_pct, of_pct) = shares.ok_or_else(|| {
        format!(
            "`{text}` is not two shares in percent, as in `90/10`: 90 % of the operations go to \
             10 % of what they are for"
        )
    })?;
    Ok(Locality { ops_pct, of_pct })
}

/// Reads a number above 0.
pub(super) fn above_0(
    keys: &mut Keys<'_>,
    name: &'static str,
    findings: &mut Findings<'_>,
) -> Option<f64> {
    let (number, at) = keys.number(name, findings)?;
    if number <= 0.0 {
        findings.error("out-of-range", &at, format!("`{name}` is {number}, expected above 0"));
    }
    (number > 0.0).then_some(number)
}

/// Reads a share in percent.
pub(super) fn percent(
    keys: &mut Keys<'_>,
    name: &'static str,
    findings: &mut Findings<'_>,
) -> Option<f64> {
    let (pct, at) = keys.number(name, findings)?;
    let is_share = (0.0..=100.0).contains(&pct);
    if !is_share {
        findings.error("out-of-range", &at, format!("`{name}` is {pct}, expected 0 to 100"));
    }
    is_share.then_some(pct)
}

/// Reads a whole number above 0.
pub(super) fn count_from_1(
    keys: &mut Keys<'_>,
    name: &'static str,
    findings: &mut Findings<'_>,
) -> Option<u32> {
    let at = keys.get(name)?.span();
    let found = count(keys, name, findings);
    if found == Some(0) {
        findings.error("out-of-range", &at, format!("`{name}` is 0, expected 1 or more"));
    }
    found.filter(|it| *it > 0)
}

fn count(keys: &mut Keys<'_>, name: &'static str, findings: &mut Findings<'_>) -> Option<u32> {
    let (count, at) = keys.count(name, findings)?;
    let fits = u32::try_from(count).ok();
    if fits.is_none() {
        findings.error("out-of-range", &at, format!("`{name}` is at most {}", u32::MAX));
    }
    fits
}
