//! Loops of a run definition: which values each run has, and how they are shown.

use super::findings::SourceRange;
use super::fwd::OPERATIONS;
use super::values::{CURVE_RATE, MAX_RATE};

/// What a loop changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
    Xfersize,
    Seekpct,
    Hitarea,
    Threads,
    Rdpct,
    Rhpct,
    Whpct,
    Rate,
    Compratio,
    Depth,
    Width,
    Files,
    Operation,
    Sizes,
    TotalSize,
    WorkingSet,
}

/// Number of kinds.
const N_KINDS: usize = LoopKind::WorkingSet as usize + 1;

impl LoopKind {
    /// Returns whether it changes structures of files, or how much of them is used.
    pub(super) fn is_of_structures(self) -> bool {
        matches!(
            self,
            LoopKind::Depth
                | LoopKind::Width
                | LoopKind::Files
                | LoopKind::Sizes
                | LoopKind::TotalSize
                | LoopKind::WorkingSet
        )
    }

    /// Returns the keyword of a run definition that makes the loop; none for rates, whose list
    /// makes it.
    pub(super) const fn keyword(self) -> &'static str {
        match self {
            LoopKind::Xfersize => "forxfersize",
            LoopKind::Seekpct => "forseekpct",
            LoopKind::Hitarea => "forhitarea",
            LoopKind::Threads => "forthreads",
            LoopKind::Rdpct => "forrdpct",
            LoopKind::Rhpct => "forrhpct",
            LoopKind::Whpct => "forwhpct",
            LoopKind::Rate => "",
            LoopKind::Compratio => "forcompratio",
            LoopKind::Depth => "fordepth",
            LoopKind::Width => "forwidth",
            LoopKind::Files => "forfiles",
            LoopKind::Operation => "foroperations",
            LoopKind::Sizes => "forsizes",
            LoopKind::TotalSize => "fortotalsize",
            LoopKind::WorkingSet => "forworkingsetsize",
        }
    }

    /// Returns its name in announcements: the keyword without `for`, but for a few.
    fn label(self, is_files: bool) -> &'static str {
        match self {
            LoopKind::Rate if is_files => "fwdrate",
            LoopKind::Rate => "iorate",
            LoopKind::Compratio => "comp",
            LoopKind::Operation => "operation",
            LoopKind::WorkingSet => "wss",
            other => other.keyword().trim_start_matches("for"),
        }
    }
}

/// One loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) values: Vec<f64>,
    pub(super) place: SourceRange,
}

/// The values of one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    values: [Option<f64>; N_KINDS],
    /// As printed, in nesting order.
    pub(super) shown: Vec<(String, String)>,
}

impl Point {
    pub(super) fn get(&self, kind: LoopKind) -> Option<f64> {
        self.values[kind as usize]
    }
}

/// Returns how many runs loops come to.
pub(super) fn n_points(loops: &[Loop]) -> usize {
    loops.iter().fold(1_usize, |product, looped| product.saturating_mul(looped.values.len()))
}

/// Iterates over the runs of loops; the last loop is the fastest.
pub(super) fn points(loops: &[Loop], is_files: bool) -> impl Iterator<Item = Point> {
    assert!(loops.iter().all(|looped| !looped.values.is_empty()), "no run would be left");
    // Printed once for each value: there may be 100,000 points.
    let shown_of = |looped: &Loop| -> Vec<(String, String)> {
        looped.values.iter().map(|value| shown(looped.kind, *value, is_files)).collect()
    };
    let texts: Vec<Vec<(String, String)>> = loops.iter().map(shown_of).collect();
    (0..n_points(loops)).map(move |idx| {
        let mut point = Point { shown: Vec::with_capacity(loops.len()), ..Point::default() };
        let mut left = idx;
        for (looped, texts) in loops.iter().zip(&texts).rev() {
            let n_values = looped.values.len();
            point.values[looped.kind as usize] = Some(looped.values[left % n_values]);
            point.shown.push(texts[left % n_values].clone());
            left /= n_values;
        }
        point.shown.reverse();
        point
    })
}

/// Returns the name and value of a loop as printed.
fn shown(kind: LoopKind, value: f64, is_files: bool) -> (String, String) {
    let text = match kind {
        LoopKind::Operation => {
            OPERATIONS.get(value as usize).map_or("n/a", |(name, _)| *name).into()
        }
        _ if value < 0.0 => return (kind.label(false).to_owned(), format!("{}%", -value as i32)),
        LoopKind::Rate if value == MAX_RATE => "max".to_owned(),
        LoopKind::Rate if value == CURVE_RATE => "curve".to_owned(),
        LoopKind::Rate => (value as i32).to_string(),
        LoopKind::Xfersize
        | LoopKind::Seekpct
        | LoopKind::Hitarea
        | LoopKind::Threads
        | LoopKind::Rdpct
        | LoopKind::Rhpct
        | LoopKind::Whpct
        | LoopKind::Compratio
        | LoopKind::Depth
        | LoopKind::Width
        | LoopKind::Files
        | LoopKind::Sizes
        | LoopKind::TotalSize
        | LoopKind::WorkingSet => short_size(value),
    };
    (kind.label(is_files).to_owned(), text)
}

/// Returns a size as Vdbench prints it: `4k`, `1.500m`; whole numbers below 1024.
pub(super) fn short_size(size: f64) -> String {
    const KIB: f64 = 1024.0;
    let units = ['k', 'm', 'g', 't', 'p'];
    if size < KIB {
        return (size as i32).to_string();
    }
    let mut scaled = size / KIB;
    let mut unit = 0;
    while scaled >= KIB && unit + 1 < units.len() {
        scaled /= KIB;
        unit += 1;
    }
    // Java rounds halves up.
    let thousandths = (scaled * 1000.0 + 0.5).floor();
    let (whole, rest) = ((thousandths / 1000.0).trunc(), thousandths % 1000.0);
    if rest == 0.0 {
        format!("{whole}{}", units[unit])
    } else {
        format!("{whole}.{rest:03}{}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_has_values() {
        let of = |values: &[f64]| Loop {
            kind: LoopKind::Threads,
            values: values.to_vec(),
            place: SourceRange::default(),
        };
        assert_eq!(points(&[of(&[1.0, 2.0]), of(&[3.0])], false).count(), 2);
        testing::check_wrong_calls(&[("none", "no run would be left", &|| {
            drop(points(&[of(&[1.0]), of(&[])], false));
        })]);
    }
}
