//! What a run asked for, as far as a flatfile tells.

use super::flatfile::{RunSettings, THREADS_DIFFER, reqrate};
use super::raw::Layout;
use crate::vdbench::run::{Rate, RawWork, Run, Seek, Work, Xfersize};

/// Returns what a run asked for, as far as a flatfile tells.
pub(super) fn asked(
    run: &Run,
    layout: Layout,
    rate_iops: Option<f64>,
    lun_bytes: Option<u64>,
) -> RunSettings {
    let rate = match (run.rate, rate_iops) {
        (Rate::Iops(rate), _) | (Rate::CurvePoint { .. }, Some(rate)) => rate,
        (Rate::CurveMax | Rate::CurvePoint { .. }, _) => reqrate(layout, true),
        (Rate::Max, _) => reqrate(layout, false),
    };
    let asked = RunSettings {
        run: run.name.clone(),
        reqrate: rate,
        lun_bytes,
        compratio: Some(run.contents.compratio),
        dedupratio: Some(run.contents.dedupratio).filter(|ratio| *ratio > 1.0),
        ..RunSettings::default()
    };
    match &run.work {
        Work::Raw(raw) => asked_raw(raw, asked),
        Work::SdFormat(format) => RunSettings {
            xfersize: Some(format.xfersize_bytes.into()),
            threads: threads(format.sds.iter().map(|sd| sd.threads)),
            rdpct: Some(0.0),
            rhpct: Some(0.0),
            whpct: Some(0.0),
            ..asked
        },
        // Known where a loop (forthreads=) sets them, as in Vdbench.
        Work::Files(_) | Work::Format(_) => {
            let of_loop = run.loops.iter().find(|(name, _)| name == "threads");
            RunSettings { threads: of_loop.and_then(|(_, value)| value.parse().ok()), ..asked }
        }
    }
}

fn asked_raw(raw: &RawWork, asked: RunSettings) -> RunSettings {
    let xfersize = |size: &Xfersize| match size {
        Xfersize::Fixed(bytes) => Some(u64::from(*bytes)),
        Xfersize::Split(sizes) => sizes.first().map(|size| u64::from(size.0)),
        Xfersize::Range { .. } => None,
    };
    let seekpct = |seek: Seek| match seek {
        Seek::Pct(pct) => Some(pct),
        Seek::Seq | Seek::SeqNz => Some(0.0),
        Seek::Eof | Seek::Poisson(_) => None,
    };
    RunSettings {
        // Of sizes by shares Vdbench takes the first.
        xfersize: same(raw.wds.iter().filter_map(|wd| xfersize(&wd.xfersize))),
        threads: threads(raw.sds.iter().map(|sd| sd.threads)),
        rdpct: same(raw.wds.iter().map(|wd| wd.rdpct)),
        rhpct: same(raw.wds.iter().map(|wd| wd.rhpct)),
        whpct: same(raw.wds.iter().map(|wd| wd.whpct)),
        seekpct: same(raw.wds.iter().map(|wd| seekpct(wd.seek))).flatten(),
        ..asked
    }
}

/// Returns the threads that all storage definitions have.
fn threads(mut of_sds: impl Iterator<Item = u32>) -> Option<i64> {
    let first = of_sds.next()?;
    Some(if of_sds.all(|threads| threads == first) { first.into() } else { THREADS_DIFFER })
}

/// Returns the value that all have.
fn same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}
