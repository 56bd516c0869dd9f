//! `[step.job.tree]`: work on a tree of folders and files.

use plan::keys::{Findings, Keys};
use plan::op::OpKind;
use plan::tree::{
    Activity, FileIo, FileSizes, Format, Select, SelectFilter, SelectOrder, StopAfter, TreeOpen,
    TreeSpec, TreeTask, TreeWork,
};
use plan::workload::BlockSize;

use super::text::value;

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
    let tree = spec(keys, findings)?;
    let target = match target {
        Some(keys) => Some(spec(keys, findings)?),
        None => None,
    };
    let is_format = format.is_some();
    let activity = match format {
        Some(keys) => Activity::Format(read_format(keys, findings)),
        None => Activity::Operations(
            tasks.into_iter().filter_map(|keys| task(keys, findings)).collect(),
        ),
    };
    if let Activity::Operations(tasks) = &activity
        && tasks.is_empty()
        && !is_format
    {
        let text = "a tree needs [[step.job.tree.task]], or [step.job.tree.format]";
        findings.error("missing-key", &at, text);
        return None;
    }
    Some(TreeWork { tree, target, open, activity })
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
    let spec = TreeSpec {
        name,
        anchor: anchor.unwrap_or_default().to_owned(),
        create_parents: keys.flag("create_parents", findings),
        depth: count(&mut keys, "depth", findings).unwrap_or(usual.depth),
        width: count(&mut keys, "width", findings).unwrap_or(usual.width),
        files: value(keys.count("files", findings)).unwrap_or(usual.files),
        bottom_only: !spread,
        sizes: sizes.unwrap_or(usual.sizes),
        file_mask,
        folder_mask,
        total_bytes: value(keys.bytes("total", findings)).unwrap_or(0),
        working_set_bytes: value(keys.bytes("working_set", findings)).unwrap_or(0),
        share: match share.as_deref() {
            Some([idx, n]) if idx < n => (*idx as u32, *n as u32),
            Some(_) => {
                findings.error("out-of-range", &at, "`share` is [position from 0, hosts]");
                usual.share
            }
            None => usual.share,
        },
        seed: value(keys.count("seed", findings)).unwrap_or(usual.seed),
    };
    keys.finish(findings);
    anchor.is_some().then_some(spec)
}

/// Reads `sizes`: one size, `average SIZE`, or sizes with shares such as `4KiB/60 64KiB/40`.
fn sizes(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<FileSizes> {
    let (text, at) = keys.text("sizes", findings)?;
    let bytes = |text: &str| units::parse_bytes(text).map_err(|error| error.to_string());
    let read = || -> Result<FileSizes, String> {
        if let Some(mean) = text.strip_prefix("average ") {
            return Ok(FileSizes::Average(bytes(mean)?));
        }
        if !text.contains('/') {
            return Ok(FileSizes::Fixed(bytes(text)?));
        }
        let part = |part: &str| {
            let (size, pct) =
                part.split_once('/').ok_or_else(|| format!("`{part}` has no share"))?;
            let pct: f64 = pct.parse().map_err(|_| format!("`{pct}` is not a number"))?;
            Ok((bytes(size)?, pct))
        };
        text.split_whitespace().map(part).collect::<Result<_, String>>().map(FileSizes::Split)
    };
    match read() {
        Ok(sizes) => Some(sizes),
        Err(why) => {
            findings.error("bad-value", &at, format!("`sizes`: {why}"));
            None
        }
    }
}

fn task(mut keys: Keys<'_>, findings: &mut Findings<'_>) -> Option<TreeTask> {
    let usual = TreeTask::default();
    let operation = word(&mut keys, "operation", findings, |word| {
        OpKind::ALL.into_iter().find(|kind| kind.name() == word)
    });
    let task = TreeTask {
        name: keys.text("name", findings).map_or("", |(name, _)| name).to_owned(),
        weight: value(keys.number("weight", findings)).unwrap_or(1.0),
        operation: operation.unwrap_or(usual.operation),
        read_pct: value(keys.number("read_pct", findings)),
        io: word(&mut keys, "io", findings, io_of).unwrap_or(usual.io),
        select: Select {
            order: word(&mut keys, "select", findings, order_of).unwrap_or(usual.select.order),
            once: keys.flag("once", findings),
            filter: word(&mut keys, "filter", findings, filter_of).unwrap_or(usual.select.filter),
        },
        block_size: block_size(&mut keys, findings).unwrap_or(usual.block_size),
        stop_after: match (
            value(keys.count("stop_after_ios", findings)),
            value(keys.number("stop_after_pct", findings)),
        ) {
            (Some(n), _) => Some(StopAfter::Ios(n)),
            (None, Some(pct)) => Some(StopAfter::Pct(pct)),
            (None, None) => None,
        },
    };
    keys.finish(findings);
    (task.weight > 0.0).then_some(task)
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
    let (text, at) = keys.text("block_size", findings)?;
    let bytes = |text: &str| {
        let bytes = units::parse_bytes(text).map_err(|error| error.to_string())?;
        let fits = u32::try_from(bytes).ok().filter(|bytes| *bytes > 0);
        fits.ok_or_else(|| format!("`{text}` is not between 1 B and 4 GiB"))
    };
    let read = || -> Result<BlockSize, String> {
        if let Some((range, step)) = text.split_once(" step ") {
            let (min, max) = range.split_once('-').ok_or("write `4KiB-64KiB step 4KiB`")?;
            let (min, max, step) = (bytes(min)?, bytes(max)?, bytes(step)?);
            return Ok(BlockSize::Stepped { min, max, step });
        }
        if !text.contains('/') {
            return Ok(BlockSize::Fixed(bytes(text)?));
        }
        let part = |part: &str| {
            let (size, weight) =
                part.split_once('/').ok_or_else(|| format!("`{part}` has no weight"))?;
            let weight = weight.parse().map_err(|_| format!("`{weight}` is not a number"))?;
            Ok((bytes(size)?, weight))
        };
        text.split_whitespace().map(part).collect::<Result<_, String>>().map(BlockSize::Weighted)
    };
    match read() {
        Ok(size) => Some(size),
        Err(why) => {
            findings.error("bad-value", &at, format!("`block_size`: {why}"));
            None
        }
    }
}

/// Reads a key with one of few words.
fn word<T>(
    keys: &mut Keys<'_>,
    name: &'static str,
    findings: &mut Findings<'_>,
    of: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let (text, at) = keys.text(name, findings)?;
    let found = of(text);
    if found.is_none() {
        findings.error("bad-value", &at, format!("`{name}`: unknown word `{text}`"));
    }
    found
}

fn io_of(word: &str) -> Option<FileIo> {
    Some(match word {
        "random" => FileIo::Random { shared: false },
        "random_shared" => FileIo::Random { shared: true },
        "sequential" => FileIo::Sequential { nonzero: false, delete: false },
        "sequential_nonzero" => FileIo::Sequential { nonzero: true, delete: false },
        "sequential_delete" => FileIo::Sequential { nonzero: false, delete: true },
        _ => return None,
    })
}

fn order_of(word: &str) -> Option<SelectOrder> {
    let (word, midpoint) = match word.split_once(' ') {
        Some((word, midpoint)) => (word, midpoint.parse().ok()?),
        None => (word, 3.0),
    };
    Some(match word {
        "random" => SelectOrder::Random,
        "sequential" => SelectOrder::Seq,
        "sequential_nonzero" => SelectOrder::SeqNz,
        "poisson" => SelectOrder::Poisson(midpoint),
        "skewed" => SelectOrder::Skewed(midpoint),
        _ => return None,
    })
}

fn filter_of(word: &str) -> Option<SelectFilter> {
    Some(match word {
        "any" => SelectFilter::Any,
        "empty" => SelectFilter::Empty,
        "full" => SelectFilter::Full,
        "not_full" => SelectFilter::NotFull,
        _ => return None,
    })
}

fn count(keys: &mut Keys<'_>, name: &'static str, findings: &mut Findings<'_>) -> Option<u32> {
    let (count, at) = keys.count(name, findings)?;
    let fits = u32::try_from(count).ok();
    if fits.is_none() {
        findings.error("out-of-range", &at, format!("`{name}` is at most {}", u32::MAX));
    }
    fits
}
