//! Which files of a tree are worked on: all, a part that holds a total, a part of those, or every
//! n-th.

use std::sync::Arc;

use plan::tree::TreeSpec;

use super::java::JavaRandom;
use super::{Tree, TreeError};

/// The files in use, by position.
#[derive(Clone, Debug)]
pub struct InUse {
    /// How many.
    n: u64,
    /// First file, and the step from one to the next.
    first: u64,
    step: u64,
    /// Which ones, ascending, where they are a drawn part.
    drawn: Option<Arc<[u32]>>,
}

impl InUse {
    /// Finds the files in use. A part is drawn as Vdbench 5.04.07 draws it: any file that was not
    /// drawn yet, until they hold enough; the part takes four bytes of memory per file.
    ///
    /// # Errors
    /// When more is asked for than all files hold.
    ///
    /// # Panics
    /// If the specification is of no host that shares the tree.
    pub fn new(tree: &Tree, spec: &TreeSpec) -> Result<InUse, TreeError> {
        let all = u64::from(tree.n_files());
        let (position, n_hosts) = spec.share;
        assert!(position < n_hosts, "host {position} of {n_hosts} that share a tree");
        let (first, step) = (u64::from(position), u64::from(n_hosts));
        let n = all.saturating_sub(first).div_ceil(step);
        let mut in_use = InUse { n, first, step, drawn: None };
        if (1..n).contains(&spec.used_files) {
            in_use.spread(spec.used_files);
        }
        if spec.total_bytes > 0 {
            let expected_bytes = tree.total_bytes();
            if spec.total_bytes > expected_bytes {
                return Err(TreeError::TotalTooLarge {
                    tree: spec.name.clone(),
                    asked_bytes: spec.total_bytes,
                    expected_bytes,
                });
            }
            // Each host has its part of the files, and of the total.
            in_use.draw(tree, spec.total_bytes / step, spec.seed);
        }
        if spec.working_set_bytes > 0 {
            // A working set larger than the files is all files.
            in_use.draw(tree, spec.working_set_bytes / step, spec.seed);
        }
        Ok(in_use)
    }

    /// Keeps so many, evenly spread: fewer than there are.
    fn spread(&mut self, n_kept: u64) {
        let kept = (0..n_kept).map(|idx| self.file((idx * self.n / n_kept) as u32));
        let kept: Arc<[u32]> = kept.collect();
        self.n = n_kept;
        self.drawn = Some(kept);
    }

    /// Keeps a part that holds so many bytes; all, where they hold no more.
    fn draw(&mut self, tree: &Tree, bytes: u64, seed: u64) {
        let size_at = |position: u64| tree.size_bytes(self.file(position as u32));
        let mut random = JavaRandom::new(seed);
        let mut is_drawn = vec![false; self.n as usize];
        let (mut sum_bytes, mut n_drawn) = (0_u64, 0);
        while sum_bytes < bytes && n_drawn < self.n {
            let position = (random.unit() * self.n as f64) as usize;
            if !std::mem::replace(&mut is_drawn[position], true) {
                sum_bytes = sum_bytes.saturating_add(size_at(position as u64));
                n_drawn += 1;
            }
        }
        let kept = (0..self.n as u32).filter(|position| is_drawn[*position as usize]);
        let drawn: Arc<[u32]> = kept.map(|position| self.file(position)).collect();
        self.n = drawn.len() as u64;
        self.drawn = Some(drawn);
    }

    /// Returns how many files are in use.
    pub fn len(&self) -> u32 {
        self.n as u32
    }

    /// Returns whether no file is in use.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Returns the file at a position below [`InUse::len`].
    #[inline]
    pub fn file(&self, position: u32) -> u32 {
        match &self.drawn {
            Some(drawn) => drawn[position as usize],
            None => (self.first + u64::from(position) * self.step) as u32,
        }
    }
}
