//! The bucket layout, shared by every histogram.

/// Bits of a value that select its bucket below the leading one: 2^7 = 128 buckets per octave.
///
/// Seven bits keep the midpoint within 1/256 (0.39 %) of any value in the bucket. fio uses six.
pub const SUB_BUCKET_BITS: u32 = 7;

/// Number of buckets that cover all of `u64`: 57 groups of 128, the first with one value each.
pub const N_BUCKETS: usize = ((64 - SUB_BUCKET_BITS as usize) + 1) << SUB_BUCKET_BITS as usize;

/// Returns the bucket of a value, below [`N_BUCKETS`].
///
/// Values below 256 have a bucket of their own. Without a branch: the shift is zero for them.
#[inline]
pub const fn bucket_index(value: u64) -> usize {
    let lowest_top = 1 << SUB_BUCKET_BITS;
    let shift = u64::BITS - 1 - SUB_BUCKET_BITS - (value | lowest_top).leading_zeros();
    ((shift as usize) << SUB_BUCKET_BITS) + (value >> shift) as usize
}

/// Returns the lowest and the highest value of a bucket, both included.
///
/// # Panics
/// If there is no such bucket: the index is [`N_BUCKETS`] or more.
#[inline]
pub fn bucket_bounds(index: usize) -> (u64, u64) {
    let (lo, shift) = bucket_start(index);
    (lo, lo + ((1 << shift) - 1))
}

/// Returns the value that stands for a bucket: its lowest value plus half its width.
///
/// # Panics
/// If there is no such bucket: the index is [`N_BUCKETS`] or more.
#[inline]
pub fn bucket_mid_ns(index: usize) -> u64 {
    let (lo, shift) = bucket_start(index);
    lo + ((1 << shift) >> 1)
}

/// Returns the lowest value of a bucket and the logarithm of its width.
fn bucket_start(index: usize) -> (u64, u32) {
    assert!(index < N_BUCKETS, "bucket {index} of {N_BUCKETS}");
    let index = index as u64;
    let group = index >> SUB_BUCKET_BITS;
    if group == 0 {
        return (index, 0);
    }
    let shift = group - 1;
    let top = index - (shift << SUB_BUCKET_BITS);
    (top << shift, shift as u32)
}
