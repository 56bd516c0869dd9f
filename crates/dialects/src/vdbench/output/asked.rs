//! What a run asked for, as far as a flatfile tells.

use super::flatfile::{Asked, reqrate};
use super::raw::Layout;
use crate::vdbench::run::{Rate, RawWork, Run, Seek, Work, Xfersize};

/// Returns what a run asked for, as far as a flatfile tells.
pub(super) fn asked(
    run: &Run,
    layout: Layout,
    rate_iops: Option<f64>,
    lun_bytes: Option<u64>,
) -> Asked {
    let rate = match (run.rate, rate_iops) {
        (Rate::Iops(rate), _) | (Rate::CurvePoint { .. }, Some(rate)) => rate,
        (Rate::CurveMax | Rate::CurvePoint { .. }, _) => reqrate(layout, true),
        (Rate::Max, _) => reqrate(layout, false),
    };
    let asked = Asked {
        run: run.name.clone(),
        reqrate: rate,
        lun_bytes,
        compratio: Some(run.contents.compratio),
        dedupratio: Some(run.contents.dedupratio).filter(|ratio| *ratio > 1.0),
        ..Asked::default()
    };
    match &run.work {
        Work::Raw(raw) => asked_raw(raw, asked),
        Work::SdFormat(format) => Asked {
            xfersize: Some(format.xfersize_bytes.into()),
            threads: same(format.sds.iter().map(|sd| u64::from(sd.threads))),
            rdpct: Some(0.0),
            rhpct: Some(0.0),
            whpct: Some(0.0),
            ..asked
        },
        Work::Files(_) | Work::Format(_) => asked,
    }
}

fn asked_raw(raw: &RawWork, asked: Asked) -> Asked {
    let xfersize = |size: &Xfersize| match size {
        Xfersize::Fixed(bytes) => Some(u64::from(*bytes)),
        Xfersize::Split(_) | Xfersize::Range { .. } => None,
    };
    let seekpct = |seek: Seek| match seek {
        Seek::Pct(pct) => Some(pct),
        Seek::Seq | Seek::SeqNz => Some(0.0),
        Seek::Eof | Seek::Poisson(_) => None,
    };
    Asked {
        // Vdbench names the one size of the others where some workloads mix sizes.
        xfersize: same(raw.wds.iter().filter_map(|wd| xfersize(&wd.xfersize))),
        threads: same(raw.sds.iter().map(|sd| u64::from(sd.threads))),
        rdpct: same(raw.wds.iter().map(|wd| wd.rdpct)),
        rhpct: same(raw.wds.iter().map(|wd| wd.rhpct)),
        whpct: same(raw.wds.iter().map(|wd| wd.whpct)),
        seekpct: same(raw.wds.iter().map(|wd| seekpct(wd.seek))).flatten(),
        ..asked
    }
}

/// Returns the value that all have.
fn same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}
