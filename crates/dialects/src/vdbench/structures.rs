//! Which structures lie in which anchors while runs follow each other, as far as files say.

use std::collections::HashMap;

use super::lower_files::tree_spec;
use super::run::{FileSizes, FormatWork, Fsd};

/// What formats of the runs so far have made. Of what was there before nothing is known.
#[derive(Debug, Default)]
pub(super) struct Structures {
    /// By anchor: the structure, and the run definition that has made it.
    made: HashMap<String, (Fsd, String)>,
}

impl Structures {
    /// Takes the next format of a run definition, and returns why it cannot be done.
    pub(super) fn format(&mut self, rd: &str, work: &FormatWork) -> Option<String> {
        let completes = work.create && !work.clean;
        for fsd in &work.fsds {
            if completes && let Some(message) = self.mistake(rd, fsd) {
                return Some(message);
            }
            if work.create {
                self.made.insert(anchor_of(fsd), (fsd.clone(), rd.to_owned()));
            } else {
                self.made.remove(&anchor_of(fsd));
            }
        }
        None
    }

    /// Returns why a run definition cannot work on these structures.
    pub(super) fn work(&self, rd: &str, fsds: &[Fsd]) -> Option<String> {
        fsds.iter().find_map(|fsd| self.mistake(rd, fsd))
    }

    fn mistake(&self, rd: &str, fsd: &Fsd) -> Option<String> {
        let (made, by) = self.made.get(&anchor_of(fsd))?;
        if is_same(made, fsd) {
            return None;
        }
        let (asked, there) = (described(fsd), described(made));
        let whose = if by == rd { "its format".to_owned() } else { format!("rd={by}") };
        Some(format!(
            "rd={rd}: fsd={} is {asked}, but {whose} leaves another structure in `{}`: {there}",
            fsd.name, fsd.anchor
        ))
    }
}

/// Of structures in one anchor, which are alike, one is formatted: with the most of it that any of
/// them uses. Returns them with how many of the last ones are targets.
pub(super) fn once_each(fsds: &[Fsd], n_targets: usize) -> (Vec<Fsd>, usize) {
    let first_target = fsds.len() - n_targets.min(fsds.len());
    let mut once: Vec<Fsd> = Vec::with_capacity(fsds.len());
    let mut n_targets = 0;
    for (idx, fsd) in fsds.iter().enumerate() {
        let is_like = |other: &&mut Fsd| anchor_of(other) == anchor_of(fsd) && is_same(other, fsd);
        match once.iter_mut().find(is_like) {
            Some(other) if other.total_bytes == 0 || fsd.total_bytes == 0 => other.total_bytes = 0,
            Some(other) => other.total_bytes = other.total_bytes.max(fsd.total_bytes),
            None => {
                once.push(fsd.clone());
                n_targets += usize::from(idx >= first_target);
            }
        }
    }
    (once, n_targets)
}

fn anchor_of(fsd: &Fsd) -> String {
    fsd.anchor.trim_end_matches('/').to_owned()
}

/// Returns whether two definitions name the same folders and files of the same sizes.
fn is_same(one: &Fsd, other: &Fsd) -> bool {
    let (one, other) = (tree_spec(one), tree_spec(other));
    (one.depth, one.width, one.files, one.bottom_only)
        == (other.depth, other.width, other.files, other.bottom_only)
        && one.sizes == other.sizes
        && (one.file_mask, one.folder_mask) == (other.file_mask, other.folder_mask)
}

fn described(fsd: &Fsd) -> String {
    let Fsd { depth, width, files, .. } = fsd;
    let sizes = match &fsd.sizes {
        FileSizes::Fixed(bytes) => short(*bytes),
        FileSizes::Average(bytes) => format!("({},0)", short(*bytes)),
        FileSizes::Split(pairs) => {
            let pairs = pairs.iter().map(|(bytes, pct)| format!("{},{pct}", short(*bytes)));
            format!("({})", pairs.collect::<Vec<_>>().join(","))
        }
    };
    let all = if fsd.bottom_only { "" } else { ",distribution=all" };
    format!("depth={depth},width={width},files={files},sizes={sizes}{all}")
}

fn short(bytes: u64) -> String {
    super::loops::short_size(bytes as f64)
}
