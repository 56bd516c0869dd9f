//! Where on its volume a file lies.
//!
//! The model sees a volume as one range of addresses, the backing as files. Each file has regions
//! of its own, handed out when it is first touched, so that no two files share a cached block.

use std::collections::HashMap;

use crate::extent::Ino;

/// Bytes of one region: few files need two, and the 64 bits of an address hold 2^28 of them.
pub(crate) const REGION_BYTES: u64 = 1 << 36;

/// The regions of one volume.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    /// Regions of a file: position in the file, number of the region. Nearly always one.
    regions: HashMap<Ino, Vec<(u64, u64)>>,
    /// File and position within it, by region; `None` once the file is gone.
    owners: Vec<Option<(Ino, u64)>>,
    /// Regions to use again.
    free: Vec<u64>,
}

impl Addresses {
    /// Returns the address of a byte of a file.
    pub(crate) fn of(&mut self, ino: Ino, offset: u64) -> u64 {
        let (position, within) = (offset / REGION_BYTES, offset % REGION_BYTES);
        let regions = self.regions.entry(ino).or_default();
        let known = regions.iter().find(|region| region.0 == position).map(|region| region.1);
        let region = known.unwrap_or_else(|| {
            let region = self.free.pop().unwrap_or_else(|| {
                self.owners.push(None);
                self.owners.len() as u64 - 1
            });
            self.owners[region as usize] = Some((ino, position));
            regions.push((position, region));
            region
        });
        region * REGION_BYTES + within
    }

    /// Returns the file that an address belongs to, and the offset in it.
    pub(crate) fn owner(&self, address: u64) -> Option<(Ino, u64)> {
        let region = usize::try_from(address / REGION_BYTES).ok()?;
        let (ino, position) = (*self.owners.get(region)?)?;
        Some((ino, position * REGION_BYTES + address % REGION_BYTES))
    }

    /// Forgets a file and returns where its regions began.
    pub(crate) fn remove(&mut self, ino: Ino) -> Vec<u64> {
        let regions = self.regions.remove(&ino).unwrap_or_default();
        let free = |&(_, region): &(u64, u64)| {
            self.owners[region as usize] = None;
            self.free.push(region);
            region * REGION_BYTES
        };
        regions.iter().map(free).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_apart_and_are_found_again() {
        let mut addresses = Addresses::default();
        let a = addresses.of(7, 4096);
        let b = addresses.of(8, 4096);
        let far = addresses.of(7, 3 * REGION_BYTES + 5);
        assert_eq!([a, b, far], [4096, REGION_BYTES + 4096, 2 * REGION_BYTES + 5]);
        assert_eq!(addresses.of(7, 0), 0);
        assert_eq!(addresses.owner(far), Some((7, 3 * REGION_BYTES + 5)));
        assert_eq!(addresses.owner(99 * REGION_BYTES), None);
    }

    #[test]
    fn the_place_of_a_deleted_file_is_used_again() {
        let mut addresses = Addresses::default();
        addresses.of(7, 0);
        addresses.of(7, REGION_BYTES);
        assert_eq!(addresses.remove(7), [0, REGION_BYTES]);
        assert_eq!(addresses.owner(0), None);
        assert_eq!(addresses.of(9, 0), REGION_BYTES);
        assert_eq!(addresses.owner(REGION_BYTES), Some((9, 0)));
    }
}
