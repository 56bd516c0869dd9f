//! A workload definition as a part of a job.

use plan::job::{Part, PartRegion};
use plan::workload::{Access, BlockSize, Distribution, HitArea, Workload};
use plan::{Diagnostic, PerDir};

use super::super::run::{Seek, Span, Wd, Xfersize};
use super::WorkloadOnTarget;
use super::target::{Target, add};

/// How much a hot band leans to its low end: its first tenth gets 46 % of the I/Os, its first
/// hundredth 22 %. Vdbench's own table, which counts from 16 MB up, gives a band of 100 GB 50 %
/// and 37 %.
pub(in crate::vdbench) const HOT_BAND_EXPONENT: f64 = 3.0;

/// Returns what a workload definition does on a target.
pub(super) fn part(
    it: &WorkloadOnTarget<'_>,
    target: &Target,
    findings: &mut Vec<Diagnostic>,
) -> Part {
    let wd = it.wd;
    Part {
        name: wd.name.clone(),
        weight: it.share.max(f64::MIN_POSITIVE),
        rate_iops: it.rate_iops,
        priority: wd.priority.unwrap_or(0),
        workload: workload(wd, target, findings),
        region: region(wd, target),
    }
}

fn workload(wd: &Wd, target: &Target, findings: &mut Vec<Diagnostic>) -> Workload {
    let seek_pct = match wd.seek {
        Seek::Pct(pct) => pct.clamp(0.0, 100.0),
        Seek::Poisson(_) => 100.0,
        Seek::Seq | Seek::SeqNz | Seek::Eof => 0.0,
    };
    let is_random = seek_pct > 0.0;
    if wd.stride_bytes.is_some() && !is_random {
        let message = format!("wd={}: stride= is without effect where nothing seeks", wd.name);
        let help = "write `seekpct=100`: each I/O then goes forward by the stride";
        add(findings, Diagnostic::warning("stride-without-seeks", message).help(help));
    }
    let distribution = match (wd.seek, wd.hotband_pct) {
        (_, Some(_)) => Distribution::Power { exponent: HOT_BAND_EXPONENT },
        (Seek::Poisson(midpoint), _) => {
            Distribution::Exponential { mean: 1.0 / midpoint.max(f64::MIN_POSITIVE) }
        }
        (Seek::Pct(_) | Seek::Seq | Seek::SeqNz | Seek::Eof, None) => Distribution::Uniform,
    };
    let align_bytes = match wd.xfersize {
        Xfersize::Range { align, .. } if target.align_bytes == 0 => u64::from(align),
        Xfersize::Fixed(_) | Xfersize::Split(_) | Xfersize::Range { .. } => target.align_bytes,
    };
    let align = u32::try_from(align_bytes).ok().filter(|bytes| *bytes > 0);
    Workload {
        access: Access {
            read: wd.rdpct > 0.0,
            write: wd.rdpct < 100.0,
            random: is_random,
            ..Access::READ
        },
        read_pct: wd.rdpct.clamp(0.0, 100.0),
        block_size: PerDir::all(block_size(&wd.xfersize)),
        block_align: PerDir::all(align),
        random_pct: PerDir::all(if is_random { seek_pct } else { 100.0 }),
        no_repeats: false,
        distribution: PerDir::all(distribution),
        one_cursor: true,
        aligned_to_length: true,
        skip_bytes: wd.stride_bytes,
        starts_anywhere: wd.seek == Seek::SeqNz,
        ends_with_region: wd.seek == Seek::Eof,
        n_streams: wd.streams.unwrap_or(0),
        hit_area: (wd.rhpct > 0.0 || wd.whpct > 0.0).then_some(HitArea {
            len_bytes: target.hitarea_bytes,
            read_pct: wd.rhpct.clamp(0.0, 100.0),
            write_pct: wd.whpct.clamp(0.0, 100.0),
        }),
        seed: target.seed,
        ..Workload::default()
    }
}

/// Returns the part of the target that is used: the workload's own, or the target's.
fn region(wd: &Wd, target: &Target) -> PartRegion {
    let of_pair = |(from, to): (f64, f64)| {
        // What is above 200 are bytes, as in Vdbench.
        if to > 200.0 {
            PartRegion::Bytes(from as u64, to as u64)
        } else {
            PartRegion::Pct(from, to)
        }
    };
    let of_span = |span| match span {
        Span::Pct(from, to) => PartRegion::Pct(from, to),
        Span::Bytes(from, to) => PartRegion::Bytes(from, to),
    };
    let own = wd.hotband_pct.map(of_pair).or(wd.range.or(target.range).map(of_span));
    match own {
        // A walk that ends cannot go on at the start.
        Some(PartRegion::Pct(from, to)) if wd.seek == Seek::Eof => {
            PartRegion::Pct(from, to.min(100.0))
        }
        Some(region) => region,
        None => PartRegion::Whole,
    }
}

fn block_size(xfersize: &Xfersize) -> BlockSize {
    match xfersize {
        Xfersize::Fixed(bytes) => BlockSize::Fixed(*bytes),
        Xfersize::Range { min, max, align } => {
            BlockSize::Stepped { min: *min, max: *max, step: (*align).max(1) }
        }
        Xfersize::Split(parts) if parts.iter().all(|(_, pct)| pct.fract() == 0.0) => {
            BlockSize::Split(parts.iter().map(|(bytes, pct)| (*bytes, *pct as u8)).collect())
        }
        // To a ten-thousandth of a percent.
        Xfersize::Split(parts) => BlockSize::Weighted(
            parts.iter().map(|(bytes, pct)| (*bytes, (pct * 1e4).round() as u32)).collect(),
        ),
    }
}
