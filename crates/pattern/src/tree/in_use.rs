//! Which files of a tree are worked on: all, as many as hold a total, a random part of those, or
//! every n-th.

use plan::tree::TreeSpec;

use super::{Tree, TreeError};
use crate::Permutation;
use crate::rng::{Stream, derive};

/// The files in use, by position.
#[derive(Clone, Debug)]
pub struct InUse {
    /// How many.
    n: u64,
    /// First file, and the step from one to the next.
    first: u64,
    step: u64,
    /// Order that a random part is the beginning of.
    order: Option<Permutation>,
}

impl InUse {
    /// Finds the files in use. Adds up sizes where the specification limits them.
    ///
    /// # Errors
    /// When more is asked for than all files hold.
    pub fn new(tree: &Tree, spec: &TreeSpec) -> Result<InUse, TreeError> {
        let all = u64::from(tree.n_files());
        let of_total = match spec.total_bytes {
            0 => all,
            asked_bytes => n_holding(asked_bytes, all, |idx| tree.size_bytes(idx as u32))
                .ok_or_else(|| TreeError::TotalTooLarge {
                    tree: spec.name.clone(),
                    asked_bytes,
                    expected_bytes: tree.total_bytes(),
                })?,
        };
        let (position, n_hosts) = spec.share;
        let (first, step) = (u64::from(position), u64::from(n_hosts.max(1)));
        let mut n = of_total.saturating_sub(first).div_ceil(step);
        let mut order = None;
        if spec.working_set_bytes > 0 && n > 0 {
            let permutation = Permutation::new(n, derive(spec.seed, Stream::File, 0));
            let size_at = |idx| tree.size_bytes((first + permutation.get(idx) * step) as u32);
            // A working set larger than the files is all files.
            n = n_holding(spec.working_set_bytes, n, size_at).unwrap_or(n);
            order = Some(permutation);
        }
        Ok(InUse { n, first, step, order })
    }

    /// Returns how many files are in use.
    pub fn len(&self) -> u32 {
        self.n as u32
    }

    /// Says whether no file is in use.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Returns the file at a position below [`InUse::len`].
    #[inline]
    pub fn file(&self, position: u32) -> u32 {
        let position = u64::from(position);
        let place = self.order.as_ref().map_or(position, |order| order.get(position));
        (self.first + place * self.step) as u32
    }
}

/// Returns how many files, from the first, hold so much; `None` when all of them do not.
fn n_holding(bytes: u64, n_files: u64, size_at: impl Fn(u64) -> u64) -> Option<u64> {
    let mut sum = 0_u64;
    for idx in 0..n_files {
        sum = sum.saturating_add(size_at(idx));
        if sum >= bytes {
            return Some(idx + 1);
        }
    }
    None
}
