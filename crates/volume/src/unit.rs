//! What one operation counts for.

/// Returns how many operations one of `len_bytes` counts for: one for each begun piece of
/// `unit_bytes`, at least one.
///
/// Azure's premium and standard SSD disks count pieces of 256 KiB: 1,100 KB are five.
#[inline]
pub(crate) fn units(len_bytes: u32, unit_bytes: Option<u64>) -> u32 {
    match unit_bytes {
        Some(unit) if u64::from(len_bytes) > unit => u64::from(len_bytes).div_ceil(unit) as u32,
        _ => 1,
    }
}
