//! Published figures with what was measured: for reference, and never a mark to pass.

use record::{Figure, PublishedRecord, SuiteRowRecord};

use super::{Bound, Published, PublishedFigure, Step, Suite};

/// Returns the figures that were published for a suite's steps, in their order; beside each what
/// was measured here, where it was.
pub fn recorded(suite: &Suite, steps: &[Step], rows: &[SuiteRowRecord]) -> Vec<PublishedRecord> {
    let mut all = Vec::new();
    for step in steps.iter().filter(|step| step.repeat_idx == 0) {
        let Some(part) = suite.parts.get(step.part_idx) else { continue };
        for published in part.published.iter().filter(|published| is_of(published, step)) {
            let row = rows.iter().find(|row| row.label == step.label);
            all.push(PublishedRecord {
                label: step.label.clone(),
                unit: published.figure.unit(),
                value: published.value,
                above: published.bound == Bound::Above,
                here: row.map(|row| here(published.figure, row)),
                on: published.on.clone(),
                source: published.source.clone(),
            });
        }
    }
    all
}

/// Returns whether a figure was published for a step: what it does not say is any.
fn is_of(published: &Published, step: &Step) -> bool {
    let Published { block_bytes, read_pct, depth, connections, .. } = published;
    let at = &step.at;
    block_bytes.is_none_or(|bytes| bytes == at.block_bytes)
        && read_pct.is_none_or(|pct| (pct - at.read_pct).abs() < 1e-9)
        && depth.is_none_or(|depth| depth == at.depth)
        && connections.is_none_or(|n| Some(n) == at.connections)
}

fn here(figure: PublishedFigure, row: &SuiteRowRecord) -> f64 {
    let of = |figure: Figure| row.figures.get(figure).map_or(0.0, |it| it.median);
    let (iops, bytes_per_s) = (of(Figure::Iops), of(Figure::BytesPerS));
    match figure {
        PublishedFigure::Iops => iops,
        PublishedFigure::MibPerS => bytes_per_s / f64::from(1 << 20),
        PublishedFigure::MbPerS => bytes_per_s / 1e6,
    }
}
