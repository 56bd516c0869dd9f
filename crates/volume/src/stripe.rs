//! Which disk of a stripe holds which bytes.

use crate::design::Stripe;

/// The map of a stripe (RAID 0).
#[derive(Clone, Debug)]
pub(crate) struct StripeMap {
    chunk_shift: u32,
    columns: u64,
    /// Sets of `columns` disks; the first fills before the second is used.
    n_sets: u64,
    /// Bytes of one set.
    set_bytes: u64,
    /// There is one disk, which nothing is split over.
    is_single: bool,
}

impl StripeMap {
    /// Makes the map of a stripe whose disks fill its columns.
    pub(crate) fn new(stripe: &Stripe) -> StripeMap {
        let columns = u64::from(stripe.columns);
        let chunk_bytes = stripe.chunk_bytes;
        let disk_bytes = stripe.disks.iter().map(|disk| disk.size_bytes).min().unwrap_or(0);
        let set_bytes = disk_bytes.saturating_mul(columns).max(chunk_bytes);
        let n_sets = stripe.disks.len() as u64 / columns;
        StripeMap {
            chunk_shift: chunk_bytes.trailing_zeros(),
            columns,
            n_sets,
            set_bytes,
            is_single: columns == 1 && n_sets == 1,
        }
    }

    /// Returns the position of the disk that holds a byte. Addresses beyond the end start over.
    #[inline]
    pub(crate) fn disk(&self, offset_bytes: u64) -> u64 {
        if self.is_single {
            return 0;
        }
        let column = (offset_bytes >> self.chunk_shift) % self.columns;
        if self.n_sets == 1 {
            return column;
        }
        let set = offset_bytes / self.set_bytes % self.n_sets;
        set * self.columns + column
    }

    /// Returns where on its disk a byte lies.
    pub(crate) fn on_disk(&self, offset_bytes: u64) -> u64 {
        if self.is_single {
            return offset_bytes;
        }
        let within = offset_bytes % self.set_bytes;
        let row = (within >> self.chunk_shift) / self.columns;
        (row << self.chunk_shift) | (within & ((1 << self.chunk_shift) - 1))
    }

    pub(crate) fn n_disks(&self) -> usize {
        (self.columns * self.n_sets) as usize
    }

    /// Returns how many disks a long run of bytes goes over before the first one's turn again.
    pub(crate) fn n_columns(&self) -> u32 {
        self.columns as u32
    }

    /// Returns how many bytes from `offset_bytes` on lie in one piece, at most `len_bytes`.
    #[inline]
    pub(crate) fn piece_bytes(&self, offset_bytes: u64, len_bytes: u32) -> u32 {
        if self.is_single {
            return len_bytes;
        }
        let chunk_bytes = 1_u64 << self.chunk_shift;
        let left = chunk_bytes - (offset_bytes & (chunk_bytes - 1));
        left.min(u64::from(len_bytes)) as u32
    }

    /// Returns how many pieces an I/O of `len_bytes` falls into at most.
    pub(crate) fn n_pieces_max(&self, len_bytes: u32) -> usize {
        if self.is_single {
            return 1;
        }
        (len_bytes as usize >> self.chunk_shift) + 2
    }
}
